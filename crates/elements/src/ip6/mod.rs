//! IPv6 and ICMPv6.

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[];
