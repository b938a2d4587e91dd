//! DPDK's rte_fib as an element of the router, and what it takes to measure it beside the product's own tables.
//!
//! `RteFibLookup` does to each packet what the product's lookup elements do, and asks another table. `NoLookup` does the same and asks
//! none. `RingSource` sends packets out of memory, and `Sink` takes them and notes where they came out.

pub mod fib;
mod hops;
mod no_lookup;
mod ring_source;
mod rte_fib_lookup;
mod sink;

pub use hops::Hop;
pub use ring_source::{Ring, Traffic};
use router::Class;

/// The classes of this package.
pub static CLASSES: &[&Class] =
    &[&no_lookup::CLASS, &ring_source::CLASS, &rte_fib_lookup::CLASS, &sink::CLASS];
