//! Routes as texts, for elements of other families that have tables of their own.

use super::family::{Family, V4};
use super::target::{Hop, Route, Target};
use lpm::Prefix;
use router::Scope;
use std::net::Ipv4Addr;

/// Reads `ADDR/MASK`.
pub(crate) fn prefix(text: &str, scope: Scope<'_>) -> Option<Prefix<u32>> {
    V4::prefix(text, scope)
}

fn route(prefix: Prefix<u32>, hop: Option<(Ipv4Addr, u32)>) -> Route<V4> {
    let to = hop.map_or(Target::Nowhere, |(gateway, port)| Target::One(Hop { gateway, port }));
    Route { prefix, to }
}

/// `ADDR/MASK GATEWAY OUTPUT`, as messages show a route.
pub(crate) fn words(prefix: Prefix<u32>, hop: Option<(Ipv4Addr, u32)>) -> String {
    route(prefix, hop).words()
}

/// The same in columns, as tables show it, with something behind it.
pub(crate) fn line(prefix: Prefix<u32>, hop: (Ipv4Addr, u32), rest: &str) -> String {
    let (gateway, port) = hop;
    route(prefix, Some(hop)).line(Some(&Hop { gateway, port }), rest)
}
