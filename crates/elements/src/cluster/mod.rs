//! Elements that make a node of a cluster.

mod flow;

pub use flow::flow_hash;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[];
