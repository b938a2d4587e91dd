//! Elements that make packets.

mod contents;
mod fast_udp_source;
mod infinite_source;
mod rated_source;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[&fast_udp_source::CLASS, &infinite_source::CLASS, &rated_source::CLASS];
