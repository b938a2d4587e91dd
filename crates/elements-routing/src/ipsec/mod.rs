//! An IPsec gateway: associations and policies (RFC 4301) around the encapsulating security payload (RFC 4303).
//!
//! [`ipsec`] is the element, [`leave`] and [`enter`] are its two directions. [`table`] has what workers read and control threads change, by a [`transaction`]; [`associations`] and [`policies`] are what is in it. [`outbound`] and [`inbound`] are what
//! is done with a packet, and [`early`] has those that come too soon; [`side_by_side`] is for a batch in large tables; the crate `ciphers` is below them and below ESPEncap and ESPDecap.

mod associations;
mod cut;
mod early;
#[cfg(test)]
mod early_tests;
mod enter;
mod flow;
mod inbound;
#[allow(clippy::module_inception, reason = "each element has a file of its name")]
mod ipsec;
mod kinds;
mod leave;
mod left;
#[cfg(test)]
mod many_tests;
mod outbound;
mod policies;
#[cfg(test)]
mod renewal_tests;
mod replay;
mod rules;
mod side_by_side;
mod table;
mod text;
mod too_big;
mod transaction;
mod usage;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[&ipsec::CLASS];
