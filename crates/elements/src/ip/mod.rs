//! IPv4 and ICMP.

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[];
