//! Data structures whose readers hold no locks, over any [`Flavour`](crate::Flavour).
//!
//! They serve to test and compare the flavours. Clique's tables are built for their own purposes, on the interface of
//! `rcu`.

mod hash_table;
mod route_table;
mod vector;

pub use hash_table::{HashSession, HashTable};
pub use route_table::{RouteSession, RouteTable};
