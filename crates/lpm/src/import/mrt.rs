//! MRT files (RFC 6396, with the additional paths of RFC 8050): what route collectors store.
//!
//! It reads the unicast routes of table dumps (`TABLE_DUMP`, `TABLE_DUMP_V2`) and of BGP updates (`BGP4MP`,
//! `BGP4MP_ET`). Of a route's attributes it uses only the next hop and the length of the AS path. It skips other
//! records, and messages other than updates. The reader is total: any bytes are either a file or an error.
//! `docs/src/design/mrt.md` says why this is not the crate bgpkit-parser; the tests compare the two.
//!
//! ```
//! # let file = include_bytes!("../../tests/data/updates.mrt");
//! let mut announced = 0;
//! lpm::import::mrt::read(file, &mut |event| announced += u32::from(event.path.is_some()))?;
//! assert_eq!(announced, 3);
//! # Ok::<(), lpm::import::ImportError>(())
//! ```

mod best;
mod bytes;
mod event;

use super::error::ImportError;
use super::list::{AnyPrefix, List};
use best::Best;
use bytes::{Bytes, prefix};
use std::net::IpAddr;

pub use super::error::RecordError;
pub use event::{Event, Path, Peer};

/// Whether bytes look like the first record of an MRT file rather than text.
pub fn is_mrt(bytes: &[u8]) -> bool {
    let Some(header) = Header::of(bytes) else { return false };
    matches!(header.kind, 11..=13 | 16 | 17 | 32 | 33 | 48 | 49)
        && header.subtype < 64
        && header.len < 1 << 24
}

/// Reads a file, calling `visit` with each route in it.
///
/// # Errors
/// [`ImportError::Record`] for the first record that is wrong; `visit` has seen those before it.
pub fn read(bytes: &[u8], visit: &mut dyn FnMut(Event)) -> Result<(), ImportError> {
    let mut peers = Vec::new();
    let mut rest = Bytes(bytes);
    for number in 1.. {
        let offset = (bytes.len() - rest.0.len()) as u64;
        if rest.0.is_empty() {
            break;
        }
        record(&mut rest, &mut peers, visit).map_err(|error| ImportError::Record {
            number,
            offset,
            error,
        })?;
    }
    Ok(())
}

/// The best route for each prefix: of the peers' routes that are in force at the end of the file, the one with the shortest path;
/// of several, the first.
///
/// # Errors
/// [`ImportError::Record`].
pub fn list(bytes: &[u8]) -> Result<List, ImportError> {
    let mut best = Best::default();
    read(bytes, &mut |event| best.enter(event))?;
    Ok(best.list())
}

/// The common beginning of all records.
struct Header {
    time: u32,
    kind: u16,
    subtype: u16,
    len: u32,
}

impl Header {
    fn of(bytes: &[u8]) -> Option<Header> {
        let mut bytes = Bytes(bytes);
        Some(Header { time: bytes.u32()?, kind: bytes.u16()?, subtype: bytes.u16()?, len: bytes.u32()? })
    }
}

/// What the routes of a record have in common.
#[derive(Clone, Copy)]
struct Origin {
    time: u32,
    dump: bool,
    peer: Peer,
    /// Whether autonomous systems have 32 bits.
    wide: bool,
    /// Whether prefixes come with ids.
    ids: bool,
}

impl Origin {
    fn event(self, id: u32, prefix: AnyPrefix, path: Option<Path>) -> Event {
        Event { time: self.time, dump: self.dump, peer: self.peer, id, prefix, path }
    }
}

type Visit<'a> = &'a mut dyn FnMut(Event);

fn record(rest: &mut Bytes<'_>, peers: &mut Vec<Peer>, visit: Visit<'_>) -> Result<(), RecordError> {
    let short = RecordError::Short("a record");
    let header = Header::of(rest.0).ok_or(short)?;
    rest.take(12).ok_or(short)?;
    let (old, len) = (*rest, header.len as usize);
    let mut body = rest.take(len).ok_or(short)?;
    if header.kind == 12 && table_dump_entries(body, header.subtype == 2).is_none() {
        // The oldest dumps do not count the view and sequence numbers in the length.
        let longer = old.0.get(..len + 4).map(Bytes).ok_or(short)?;
        if table_dump_entries(longer, header.subtype == 2).is_some() {
            (body, *rest) = (longer, Bytes(&old.0[len + 4..]));
        }
    }
    match (header.kind, header.subtype) {
        (12, 1 | 2) => table_dump(body, header.subtype == 2, visit),
        (13, 1) => {
            *peers = peer_index(body).ok_or(RecordError::Short("the index of peers"))?;
            Ok(())
        }
        (13, 2 | 4) => rib(body, header.time, header.subtype == 4, false, peers, visit),
        (13, 8 | 10) => rib(body, header.time, header.subtype == 10, true, peers, visit),
        (16, _) => bgp4mp(body, &header, visit),
        // Microseconds before the rest.
        (17, _) => {
            body.u32().ok_or(short)?;
            bgp4mp(body, &header, visit)
        }
        _ => Ok(()),
    }
}

/// The number of routes in a record of a table dump, version 1: one, but many in the oldest dumps. `None` if they do not
/// end where the record ends.
fn table_dump_entries(mut body: Bytes<'_>, v6: bool) -> Option<u32> {
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
fn table_dump(mut body: Bytes<'_>, v6: bool, visit: Visit<'_>) -> Result<(), RecordError> {
    let short = RecordError::Short("a route");
    body.take(4).ok_or(short)?;
    while !body.0.is_empty() {
        let address = body.take(if v6 { 16 } else { 4 }).ok_or(short)?.0;
        let len = body.u8().ok_or(short)?;
        body.u8().ok_or(short)?;
        let time = body.u32().ok_or(short)?;
        let address_of_peer = body.address(v6).ok_or(short)?;
        let asn = body.asn(false).ok_or(short)?;
        let attributes = body.counted().ok_or(short)?;
        let peer = Peer { address: address_of_peer, asn };
        let origin = Origin { time, dump: true, peer, wide: false, ids: false };
        let found = Attributes::read(attributes, origin, v6, visit)?;
        visit(origin.event(0, prefix(address, len, v6)?, Some(found.path)));
    }
    Ok(())
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

/// The routes for a prefix of a table dump, version 2.
fn rib(
    mut body: Bytes<'_>,
    time: u32,
    v6: bool,
    ids: bool,
    peers: &[Peer],
    visit: Visit<'_>,
) -> Result<(), RecordError> {
    let short = RecordError::Short("a route");
    body.u32().ok_or(short)?;
    let prefix = body.prefix(v6)?;
    for _ in 0..body.u16().ok_or(short)? {
        let index = body.u16().ok_or(short)?;
        body.u32().ok_or(short)?;
        let id = if ids { body.u32().ok_or(short)? } else { 0 };
        let attributes = body.counted().ok_or(short)?;
        let peer = *peers.get(usize::from(index)).ok_or(RecordError::Peer(index))?;
        let origin = Origin { time, dump: true, peer, wide: true, ids: false };
        let found = Attributes::read(attributes, origin, v6, visit)?;
        visit(origin.event(id, prefix, Some(found.path)));
    }
    Ok(())
}

/// A message between a peer and the collector.
fn bgp4mp(mut body: Bytes<'_>, header: &Header, visit: Visit<'_>) -> Result<(), RecordError> {
    let short = RecordError::Short("a BGP message");
    let (wide, ids) = match header.subtype {
        1 | 6 => (false, false),
        4 | 7 => (true, false),
        8 | 10 => (false, true),
        9 | 11 => (true, true),
        _ => return Ok(()),
    };
    let asn = body.asn(wide).ok_or(short)?;
    body.asn(wide).ok_or(short)?;
    body.u16().ok_or(short)?;
    let v6 = body.u16().ok_or(short)? == 2;
    let address = body.address(v6).ok_or(short)?;
    body.address(v6).ok_or(short)?;
    if body.array::<16>().ok_or(short)? != [0xff; 16] {
        return Err(RecordError::Marker);
    }
    let len = body.u16().ok_or(short)?;
    let kind = body.u8().ok_or(short)?;
    let mut message = body.take(usize::from(len).saturating_sub(19)).ok_or(short)?;
    if kind != 2 {
        return Ok(());
    }
    let origin = Origin { time: header.time, dump: false, peer: Peer { address, asn }, wide, ids };
    let withdrawn = message.counted().ok_or(short)?;
    let attributes = message.counted().ok_or(short)?;
    each(withdrawn, origin, false, None, visit)?;
    let found = Attributes::read(attributes, origin, false, visit)?;
    each(message, origin, false, Some(found.path), visit)
}

/// Each prefix of a field of an update.
fn each(
    mut field: Bytes<'_>,
    origin: Origin,
    v6: bool,
    path: Option<Path>,
    visit: Visit<'_>,
) -> Result<(), RecordError> {
    while !field.0.is_empty() {
        let id = if origin.ids { field.u32().ok_or(RecordError::Short("a prefix"))? } else { 0 };
        visit(origin.event(id, field.prefix(v6)?, path));
    }
    Ok(())
}

/// What is looked at of a route's attributes.
struct Attributes {
    path: Path,
}

impl Attributes {
    /// Reads attributes; prefixes among them (RFC 4760) are visited at once, when the others are known.
    fn read(mut field: Bytes<'_>, origin: Origin, v6: bool, visit: Visit<'_>) -> Result<Self, RecordError> {
        let short = RecordError::Short("an attribute");
        let mut path = Path { gateway: None, length: 0 };
        let (mut reached, mut gone) = (None, None);
        while !field.0.is_empty() {
            let flags = field.u8().ok_or(short)?;
            let kind = field.u8().ok_or(short)?;
            let len = if flags & 0x10 != 0 { field.u16() } else { field.u8().map(u16::from) };
            let mut value = len.and_then(|len| field.take(len.into())).ok_or(short)?;
            match kind {
                2 => path.length = path_length(value, origin.wide).ok_or(short)?,
                3 => path.gateway = Some(value.address(false).ok_or(short)?),
                14 => reached = Some(value),
                15 => gone = Some(value),
                _ => {}
            }
        }
        match reached {
            Some(value) if origin.dump => path.gateway = dumped_next_hop(value, v6).or(path.gateway),
            Some(value) => reach(value, origin, path, visit)?,
            None => {}
        }
        if let Some(mut value) = gone.filter(|_| !origin.dump) {
            let family = (value.u16().ok_or(short)?, value.u8().ok_or(short)?);
            if let Some(v6) = unicast(family) {
                each(value, origin, v6, None, visit)?;
            }
        }
        Ok(Attributes { path })
    }
}

/// Whether a family is IPv6 unicast (true), IPv4 unicast (false), or none that is read.
fn unicast(family: (u16, u8)) -> Option<bool> {
    match family {
        (1, 1) => Some(false),
        (2, 1) => Some(true),
        _ => None,
    }
}

/// The prefixes that an attribute announces.
fn reach(mut value: Bytes<'_>, origin: Origin, path: Path, visit: Visit<'_>) -> Result<(), RecordError> {
    let short = RecordError::Short("an attribute");
    let family = (value.u16().ok_or(short)?, value.u8().ok_or(short)?);
    let Some(v6) = unicast(family) else { return Ok(()) };
    let len = value.u8().ok_or(short)?;
    let next_hop = value.take(len.into()).ok_or(short)?;
    // Once the number of attachment points, always 0 now.
    value.u8().ok_or(short)?;
    each(value, origin, v6, Some(Path { gateway: next_hop_of(next_hop), ..path }), visit)
}

/// The next hop in a table dump, which leaves out the rest of the attribute, though some writers do not.
fn dumped_next_hop(value: Bytes<'_>, v6: bool) -> Option<IpAddr> {
    let mut short = value;
    if let Some(len) = short.u8()
        && usize::from(len) == short.0.len()
    {
        return next_hop_of(short);
    }
    let mut whole = value;
    let family = (whole.u16()?, whole.u8()?);
    let len = whole.u8()?;
    unicast(family).filter(|&found| found == v6)?;
    next_hop_of(whole.take(len.into())?)
}

/// A next hop; IPv6 may have a link-local address behind it.
fn next_hop_of(mut bytes: Bytes<'_>) -> Option<IpAddr> {
    match bytes.0.len() {
        4 => bytes.address(false),
        16 | 32 => bytes.address(true),
        _ => None,
    }
}

/// The number of autonomous systems on a path.
fn path_length(mut value: Bytes<'_>, wide: bool) -> Option<u32> {
    let mut length = 0;
    while !value.0.is_empty() {
        let kind = value.u8()?;
        let count = value.u8()?;
        value.take(usize::from(count) * if wide { 4 } else { 2 })?;
        length += match kind {
            1 => 1,
            2 => u32::from(count),
            // Within a confederation.
            _ => 0,
        };
    }
    Some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record_of(kind: u16, subtype: u16, body: &[u8]) -> Vec<u8> {
        let mut record = 1_000u32.to_be_bytes().to_vec();
        record.extend(kind.to_be_bytes());
        record.extend(subtype.to_be_bytes());
        record.extend((body.len() as u32).to_be_bytes());
        record.extend(body);
        record
    }

    fn counted(bytes: &[u8]) -> Vec<u8> {
        [&(bytes.len() as u16).to_be_bytes()[..], bytes].concat()
    }

    /// ORIGIN, an AS path of this many wide hops, and a next hop.
    fn attributes(hops: u8, gateway: [u8; 4]) -> Vec<u8> {
        let mut path = vec![2, hops];
        path.extend(std::iter::repeat_n([0, 0, 1, 1], hops.into()).flatten());
        [&[0x40, 1, 1, 0][..], &[0x40, 2, path.len() as u8], &path, &[0x40, 3, 4], &gateway].concat()
    }

    fn update(withdrawn: &[u8], attributes: &[u8], announced: &[u8]) -> Vec<u8> {
        let message = [counted(withdrawn), counted(attributes), announced.to_vec()].concat();
        let mut body = [0, 0, 0, 9, 0, 0, 0, 8, 0, 0, 0, 1, 10, 0, 0, 9, 10, 0, 0, 8].to_vec();
        body.extend([0xff; 16]);
        body.extend((19 + message.len() as u16).to_be_bytes());
        body.push(2);
        body.extend(message);
        record_of(16, 4, &body)
    }

    /// An index of two peers and three prefixes, one of IPv6.
    fn dump() -> Vec<u8> {
        let peers = [
            &[1, 1, 1, 1, 0, 0, 0, 2][..],
            &[2, 1, 1, 1, 1, 192, 0, 2, 1, 0, 0, 0, 5],
            &[1, 1, 1, 1, 1],
            &[0x20; 16],
            &[0, 6],
        ];
        let entry = |peer: u8, attributes: &[u8]| [&[0, peer, 0, 0, 0, 0][..], &counted(attributes)].concat();
        let both = [
            &[0, 0, 0, 0, 8, 10, 0, 2][..],
            &entry(0, &attributes(3, [1, 1, 1, 1])),
            &entry(1, &attributes(2, [2, 2, 2, 2])),
        ];
        let one = [&[0, 0, 0, 1, 24, 192, 0, 2, 0, 1][..], &entry(0, &attributes(1, [3, 3, 3, 3]))];
        // The next hop alone, as in the RFC.
        let reach = [&[0x80, 14, 17, 16][..], &[0x20; 16]].concat();
        let six = [&[0, 0, 0, 2, 16, 0x20, 0x01, 0, 1][..], &entry(1, &reach)];
        [
            record_of(13, 1, &peers.concat()),
            record_of(13, 2, &both.concat()),
            record_of(13, 2, &one.concat()),
            record_of(13, 4, &six.concat()),
        ]
        .concat()
    }

    fn lines(bytes: &[u8]) -> Vec<String> {
        let list = list(bytes).unwrap();
        let v4 = list.v4.iter().map(|&(prefix, way)| (AnyPrefix::V4(prefix), way));
        let all = v4.chain(list.v6.iter().map(|&(prefix, way)| (AnyPrefix::V6(prefix), way)));
        all.map(|(prefix, way)| {
            let gateway = list.hops(way)[0].0.gateway;
            format!("{prefix} {}", gateway.map_or("-".to_owned(), |gateway| gateway.to_string()))
        })
        .collect()
    }

    #[test]
    fn a_dump_gives_the_shortest_paths() {
        assert!(is_mrt(&dump()));
        let six = "2001::/16 2020:2020:2020:2020:2020:2020:2020:2020";
        assert_eq!(lines(&dump()), ["10.0.0.0/8 2.2.2.2", "192.0.2.0/24 3.3.3.3", six]);
    }

    /// One route a record, or many, with a length that is right or, in the oldest files, 4 too small.
    #[test]
    fn old_dumps_are_read_with_one_route_a_record_or_many() {
        let route = |net: u8, hops: u8| {
            let path = [&[2, hops][..], &vec![1; 2 * usize::from(hops)]].concat();
            let attributes = [&[0x40, 2, path.len() as u8][..], &path, &[0x40, 3, 4, 1, 1, 1, hops]].concat();
            [&[net, 0, 0, 0, 8, 1, 0, 0, 0, 7, 10, 0, 0, 1, 0, 9][..], &counted(&attributes)].concat()
        };
        let one = record_of(12, 1, &[vec![0; 4], route(10, 2)].concat());
        let mut many = record_of(12, 1, &[vec![0; 4], route(11, 1), route(10, 1), route(12, 3)].concat());
        let expected = ["10.0.0.0/8 1.1.1.1", "11.0.0.0/8 1.1.1.1", "12.0.0.0/8 1.1.1.3"];
        assert_eq!(lines(&[one.clone(), many.clone()].concat()), expected);
        many[11] -= 4;
        assert_eq!(lines(&[one.clone(), many, one].concat()), expected);
    }

    #[test]
    fn updates_after_a_dump_have_the_last_word() {
        let mut bytes = dump();
        bytes.extend(update(&[24, 192, 0, 2], &attributes(1, [7, 7, 7, 7]), &[8, 10, 16, 172, 16]));
        bytes.extend(update(&[16, 172, 16], &[], &[]));
        bytes.extend(update(&[], &attributes(1, [8, 8, 8, 8]), &[20, 172, 31, 0]));
        // Announced and withdrawn in the attributes of IPv6.
        let reach =
            [&[0x90, 14, 0, 26, 0, 2, 1, 16][..], &[0xfe; 16], &[0, 32, 0x20, 0x01, 0x0d, 0xb8]].concat();
        bytes.extend(update(&[], &reach, &[]));
        bytes.extend(update(&[], &[0x80, 15, 6, 0, 2, 1, 16, 0x20, 0x01], &[]));
        let six = "2001:db8::/32 fefe:fefe:fefe:fefe:fefe:fefe:fefe:fefe";
        assert_eq!(lines(&bytes), ["10.0.0.0/8 7.7.7.7", "172.31.0.0/20 8.8.8.8", six]);
    }

    #[test]
    fn truncated_and_damaged_files_are_errors() {
        let mut bytes = dump();
        bytes.extend(update(&[24, 192, 0, 2], &attributes(1, [7, 7, 7, 7]), &[8, 10]));
        let whole: Vec<usize> = {
            let (mut at, mut ends) = (0, vec![0]);
            while at < bytes.len() {
                at += 12 + Header::of(&bytes[at..]).unwrap().len as usize;
                ends.push(at);
            }
            ends
        };
        for cut in 0..bytes.len() {
            assert_eq!(list(&bytes[..cut]).is_err(), !whole.contains(&cut), "{cut}");
        }
        let error = list(&bytes[..40]).unwrap_err().to_string();
        assert_eq!(error, "MRT record 1 (byte 0): ends within a record; is the file complete?");
        let alone = record_of(13, 2, &[0, 0, 0, 0, 8, 10, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0]);
        let error = list(&alone).unwrap_err().to_string();
        assert!(error.contains("peer 9 is not in the index"), "{error}");
        assert!(list(&update(&[33, 1, 1, 1, 1, 1], &[], &[])).unwrap_err().to_string().contains("length 33"));
    }

    proptest::proptest! {
        /// Any change of a few bytes gives a list or an error.
        #[test]
        fn no_damage_panics(changes in proptest::collection::vec((0usize..400, 0u8..=255), 1..6)) {
            let mut bytes = dump();
            bytes.extend(update(&[24, 192, 0, 2], &attributes(1, [7, 7, 7, 7]), &[8, 10]));
            for (at, byte) in changes {
                let at = at % bytes.len();
                bytes[at] = byte;
            }
            let _ = list(&bytes);
        }
    }
}
