//! Data structures whose readers hold no locks, over any [flavour](crate::flavour).
//!
//! They serve to test and compare the flavours. Clique's tables are built for their own purposes, on the crate's own
//! interface.

mod hash_table;
mod route_table;
mod vector;

pub use hash_table::{HashSession, HashTable};
pub use route_table::{RouteSession, RouteTable};
