//! What associations carry is counted; who brought one hears of the limits that it reaches.

use super::associations::{Limit, Sa};
use super::table::Tables;
use elements_shared::ipsec_port::Notice;
use router::Cx;

/// Packets of an association, and their octets, are counted.
#[inline]
pub(super) fn account(tables: &Tables, sa: &Sa, packets: u64, bytes: u64, cx: &Cx<'_>) {
    if let Some(limit) = sa.account(packets, bytes, cx.now_ns()) {
        expired(tables, sa, limit == Limit::Hard, cx);
    }
}

/// An association has reached a limit.
#[cold]
pub(super) fn expired(tables: &Tables, sa: &Sa, hard: bool, cx: &Cx<'_>) {
    tables.notice(Notice::Expired { destination: sa.destination, spi: sa.spi, hard });
    let limit = if hard { "hard" } else { "soft" };
    let (name, spi) = (cx.name(), sa.spi);
    cx.info().events.publish(&format!("ipsec {name} expired {limit} {} 0x{spi:08x}", sa.destination));
}
