//! Printers for configurations.

mod flat;

pub use flat::flatten;
