//! Finding flows by addresses and ports.

use super::apply::split;
use elements_shared::flow_id::Key;
use packet::Packet;
use wire::ipv4::{HEADER_LEN, Header};

/// Bytes of a transport header that have to be there.
const MIN_TRANSPORT: usize = 8;

/// What the flow of a packet with ports is found by, and its IP protocol, which tells the `map`. `None` for later fragments, which have no
/// ports, where the header is cut off, and where there is no map.
#[inline]
pub(super) fn key_of(packet: &Packet, map: impl Fn(u8) -> Option<u32>) -> Option<(Key, u8)> {
    // A header without options, as nearly all are: all that is asked for lies in one place.
    if let Some(front) = packet.network_array::<{ HEADER_LEN + MIN_TRANSPORT }>()
        && let Some((header, ports)) = front.split_first_chunk()
        && let ip = Header::new(header)
        && ip.has_no_options()
        && let Some(ports) = ports.first_chunk()
    {
        return key(ip, ports, map);
    }
    any_key_of(packet, map)
}

/// The same for whatever header.
#[inline(never)]
fn any_key_of(packet: &Packet, map: impl Fn(u8) -> Option<u32>) -> Option<(Key, u8)> {
    let (ip, transport) = split(packet.network()?)?;
    key(ip, transport.first_chunk()?, map)
}

#[inline(always)]
fn key(
    ip: Header<&[u8; HEADER_LEN]>,
    ports: &[u8; MIN_TRANSPORT],
    map: impl Fn(u8) -> Option<u32>,
) -> Option<(Key, u8)> {
    let (protocol, [a, b, c, d, ..]) = (ip.protocol(), *ports);
    let map = map(protocol)?;
    let key = Key::of_words(map, ip.addresses(), u32::from_be_bytes([a, b, c, d]));
    ip.is_first_fragment().then_some((key, protocol))
}
