//! Data structures whose readers hold no locks, over any [flavour](crate::flavour).
//!
//! They are what the flavours are tested and compared with; the product's tables are built for their purpose, on
//! the crate's own interface.

mod hash_table;
mod route_table;
mod vector;

pub use hash_table::{HashSession, HashTable};
pub use route_table::{RouteSession, RouteTable};
