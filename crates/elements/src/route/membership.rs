//! Which addresses have a route, for elements that have nothing else to do with routes.

use super::family::V4;
use super::table::RouteTable;
use lpm::LongestMatch;
use lpm::Table4;
use lpm::faithful::{DirectTable, LinearTable, RadixTable, RangeTable};
use router::Cx;
use std::net::Ipv4Addr;
use std::sync::Arc;

/// Whether a table has a route for an address.
type Has = dyn Fn(&Cx<'_>, Ipv4Addr) -> bool + Send;

/// The addresses that an IPv4 lookup element has a route for.
pub(crate) struct Membership(Box<Has>);

impl Membership {
    /// Those of the element with a name, seen from the element that asks.
    ///
    /// # Errors
    /// There is no such element, or it has no routes.
    pub(crate) fn of(cx: &Cx<'_>, name: &str) -> Result<Membership, String> {
        in_table::<RadixTable>(cx, name)
            .or_else(|_| in_table::<LinearTable>(cx, name))
            .or_else(|_| in_table::<DirectTable>(cx, name))
            .or_else(|_| in_table::<RangeTable>(cx, name))
            .or_else(|_| in_table::<Table4>(cx, name))
            .map_err(|error| match cx.info().find(name, Some(cx.index())) {
                Some(_) => format!("{name} is not an IPRouteTable"),
                None => error,
            })
    }

    pub(crate) fn has(&self, cx: &Cx<'_>, address: Ipv4Addr) -> bool {
        (self.0)(cx, address)
    }
}

fn in_table<T: LongestMatch<u32> + 'static>(cx: &Cx<'_>, name: &str) -> Result<Membership, String> {
    let table: Arc<RouteTable<V4, T>> = cx.shared_of(name, "IPRouteTable")?;
    Ok(Membership(Box::new(move |cx, address| table.lookup_one(address.into(), cx.turn()) != lpm::NONE)))
}
