//! The hash of everything that strangers can fill a table with, or choose a path by. The flow table's is the only one.

pub use flows::HashKey;
