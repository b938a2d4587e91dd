//! Translation between IPv6 hosts and IPv4 hosts, with state (RFC 6146): the flows are those of rewriters.

mod ahead;
mod element;
mod hosts;
mod left;
mod prefix;
mod six;

pub(super) use element::CLASS;
pub(super) use prefix::Prefix;
pub(super) use six::Six;
