//! Elements that make a node of a cluster: many servers as one router.

#![forbid(unsafe_code)]

mod flow;
mod node;
mod settings;
mod vlb_decap;
mod vlb_encap;
mod vlb_fly;
mod vlb_node;
mod witness;

pub use flow::flow_hash;

#[cfg(test)]
mod testing;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[&vlb_decap::CLASS, &vlb_encap::CLASS, &vlb_fly::CLASS, &vlb_node::CLASS];

/// The classes, by family.
pub static FAMILIES: &[&[&Class]] = &[CLASSES];
