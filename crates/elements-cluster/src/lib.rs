//! Elements that make a node of a cluster: many servers as one router.

#![forbid(unsafe_code)]

mod handover;
mod node;
mod settings;
mod shared;
mod succession;
mod vlb_decap;
mod vlb_encap;
mod vlb_fly;
mod vlb_gate;
mod vlb_node;
mod vlb_state;
mod witness;

#[cfg(test)]
mod testing;

use router::Class;

pub use elements_shared::flow_hash;
pub use elements_shared::keyed_hash::HashKey;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &vlb_decap::CLASS,
    &vlb_encap::CLASS,
    &vlb_fly::CLASS,
    &vlb_gate::CLASS,
    &vlb_node::CLASS,
    &vlb_state::CLASS,
];

/// The classes, by family.
pub static FAMILIES: &[&[&Class]] = &[CLASSES];
