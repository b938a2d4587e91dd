//! Table dumps: `TABLE_DUMP` and `TABLE_DUMP_V2`.

use super::attributes::{Attributes, Session};
use super::bytes::{Bytes, prefix, unicast};
use super::event::{Event, Path, Peer, Route};
use super::records::Content;
use crate::import::fault::RecordError;
use crate::import::list::AnyPrefix;

/// The number of routes in a record of a table dump, version 1: one, but many in the oldest dumps. `None` if they do not
/// end where the record ends.
pub(super) fn first_entries(mut body: Bytes<'_>, v6: bool) -> Option<u32> {
    body.take(4)?;
    let mut count = 0;
    while !body.0.is_empty() {
        let width = if v6 { 16 } else { 4 };
        body.take(width + 6 + width + 2)?;
        body.counted()?;
        count += 1;
    }
    Some(count)
}

/// The routes of a table dump, version 1.
pub(super) fn first(content: &Content<'_>, events: &mut Vec<Event>) -> Result<(), RecordError> {
    let v6 = match content.subtype {
        1 => false,
        2 => true,
        _ => return Ok(()),
    };
    let (mut body, short) = (content.body, RecordError::Short("a route"));
    body.take(4).ok_or(short)?;
    let mut fault = Ok(());
    while !body.0.is_empty() {
        let address = body.take(if v6 { 16 } else { 4 }).ok_or(short)?.0;
        let len = body.u8().ok_or(short)?;
        body.u8().ok_or(short)?;
        let time = body.u32().ok_or(short)?;
        let address_of_peer = body.address(v6).ok_or(short)?;
        let asn = body.asn(false).ok_or(short)?;
        let attributes = body.counted().ok_or(short)?;
        let peer = Peer { address: address_of_peer, asn };
        let prefix = prefix(address, len, v6)?;
        let entry = Entry { time, peer, id: 0, wide: false };
        fault = fault.and(entry.read(prefix, attributes, events));
    }
    fault
}

/// The records of a table dump, version 2: peers, and the routes for a prefix.
pub(super) fn second(
    content: &Content<'_>,
    peers: &mut Vec<Peer>,
    events: &mut Vec<Event>,
) -> Result<(), RecordError> {
    match content.subtype {
        1 => {
            *peers = peer_index(content.body).ok_or(RecordError::Short("the index of peers"))?;
            Ok(())
        }
        2 | 4 => rib(content, Some(content.subtype == 4), false, peers, events),
        8 | 10 => rib(content, Some(content.subtype == 10), true, peers, events),
        6 => rib(content, None, false, peers, events),
        12 => rib(content, None, true, peers, events),
        // Multicast routes; where peers are.
        _ => Ok(()),
    }
}

/// The peers that later records refer to.
fn peer_index(mut body: Bytes<'_>) -> Option<Vec<Peer>> {
    body.u32()?;
    body.counted()?;
    let count = body.u16()?;
    let peer = |_| {
        let kind = body.u8()?;
        body.u32()?;
        Some(Peer { address: body.address(kind & 1 != 0)?, asn: body.asn(kind & 2 != 0)? })
    };
    (0..count).map(peer).collect()
}

/// The routes for a prefix of a table dump, version 2; those of the generic records say which family they are of.
fn rib(
    content: &Content<'_>,
    v6: Option<bool>,
    ids: bool,
    peers: &[Peer],
    events: &mut Vec<Event>,
) -> Result<(), RecordError> {
    let (mut body, short) = (content.body, RecordError::Short("a route"));
    body.u32().ok_or(short)?;
    let v6 = match v6 {
        Some(v6) => v6,
        None => match unicast((body.u16().ok_or(short)?, body.u8().ok_or(short)?)) {
            Some(v6) => v6,
            None => return Ok(()),
        },
    };
    let prefix = body.prefix(v6)?;
    let mut fault = Ok(());
    for _ in 0..body.u16().ok_or(short)? {
        let index = body.u16().ok_or(short)?;
        let time = body.u32().ok_or(short)?;
        let id = if ids { body.u32().ok_or(short)? } else { 0 };
        let attributes = body.counted().ok_or(short)?;
        let peer = *peers.get(usize::from(index)).ok_or(RecordError::Peer(index))?;
        let entry = Entry { time, peer, id, wide: true };
        fault = fault.and(entry.read(prefix, attributes, events));
    }
    fault
}

/// What is known of a route of a dump beside its attributes.
struct Entry {
    time: u32,
    peer: Peer,
    id: u32,
    wide: bool,
}

impl Entry {
    /// Reads the attributes of a route. Those of a dump were accepted once, and so may lack some or have others' flags, but not be
    /// malformed: then the route is left out.
    fn read(
        self,
        prefix: AnyPrefix,
        attributes: Bytes<'_>,
        events: &mut Vec<Event>,
    ) -> Result<(), RecordError> {
        let Entry { time, peer, id, wide } = self;
        let session = Session { wide, internal: false, dump: true };
        let found = Attributes::read(attributes, session).map_err(|_| RecordError::Attribute(14))?;
        if let Some(kind) = found.malformed {
            return Err(RecordError::Attribute(kind));
        }
        let v6 = matches!(prefix, AnyPrefix::V6(_));
        let reached = found.reach.and_then(|value| next_hop(value, v6));
        let gateway = if v6 { reached.or(found.next_hop) } else { found.next_hop.or(reached) };
        let gateway = gateway.filter(|gateway| !gateway.is_unspecified());
        let path = Some(Path { gateway, length: found.length });
        events.push(Event::Route(Route { time, dump: true, peer, id, prefix, path }));
        Ok(())
    }
}

/// The next hop of attribute 14 in a table dump, which leaves out the rest of the attribute, though some writers do not.
fn next_hop(value: Bytes<'_>, v6: bool) -> Option<std::net::IpAddr> {
    let mut short = value;
    if let Some(len) = short.u8()
        && usize::from(len) == short.0.len()
    {
        return short.next_hop();
    }
    let mut whole = value;
    let family = (whole.u16()?, whole.u8()?);
    let len = whole.u8()?;
    unicast(family).filter(|&found| found == v6)?;
    whole.take(len.into())?.next_hop()
}
