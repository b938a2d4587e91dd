//! Packets of ESP that a link on their way over IPv6 does not carry whole: who has made them cuts them (RFC 4301, section 8; RFC 8200, section 4.5).

use packet::{DEFAULT_HEADROOM, Packet};
use router::Cx;
use wire::ip_proto::{ESP, FRAGMENT, UDP};
use wire::ipv6::{FRAGMENT_HEADER_LEN, Fragment, HEADER_LEN, Header};

/// Octets in front of what a fragment carries.
const FRONT: usize = HEADER_LEN + FRAGMENT_HEADER_LEN;

/// Cuts a packet of ESP over IPv6 to parts of at most `mtu` octets. All but the last leave at output 0, and that takes the place of the packet. Packets that are
/// short enough, or have extension headers in front of ESP, stay as they are. Otherwise the reason why there are not all parts.
#[cold]
pub(crate) fn cut(cx: &mut Cx<'_>, packet: &mut Packet, mtu: usize) -> Result<(), &'static str> {
    let Some(&header) = packet.data().first_chunk::<HEADER_LEN>() else { return Ok(()) };
    let protocol = Header::new(&header).next_header();
    let (body, room) = (packet.len() - HEADER_LEN, mtu.saturating_sub(FRONT) & !7);
    if packet.len() <= mtu || room == 0 || !matches!(protocol, ESP | UDP) {
        return Ok(());
    }
    let id = cx.unguessable().u32();
    let front = |at: usize, len: usize| {
        let (mut header, mut fragment) = (header, [0; FRAGMENT_HEADER_LEN]);
        let mut ip = Header::new(&mut header);
        ip.set_next_header(FRAGMENT);
        ip.set_payload_len((FRAGMENT_HEADER_LEN + len) as u16);
        let mut of = Fragment::new(&mut fragment);
        of.set_next_header(protocol);
        of.set_offset(at as u16, at + len < body);
        of.set_id(id);
        (header, fragment)
    };
    let write = |part: &mut Packet, (header, fragment): ([u8; HEADER_LEN], [u8; FRAGMENT_HEADER_LEN])| {
        let data = part.data_mut();
        data[..HEADER_LEN].copy_from_slice(&header);
        data[HEADER_LEN..FRONT].copy_from_slice(&fragment);
        part.set_network(0, HEADER_LEN);
    };
    let last = (body - 1) / room * room;
    for at in (0..last).step_by(room) {
        let Some(mut part) = cx.pool().alloc(DEFAULT_HEADROOM, FRONT + room) else {
            return Err("no buffer for a fragment");
        };
        part.copy_annotations(packet);
        part.data_mut()[FRONT..].copy_from_slice(&packet.data()[HEADER_LEN + at..][..room]);
        write(&mut part, front(at, room));
        cx.emit_packet(0, part);
    }
    // The front of the last part stands where the part before it ends.
    if !packet.pull(last - FRAGMENT_HEADER_LEN) {
        return Err("too short");
    }
    write(packet, front(last, body - last));
    Ok(())
}
