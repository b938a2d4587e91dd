//! The index that a made-up frame carries in its payload.

use crate::capture::LinkType;
use wire::{ip_proto, udp};

/// Tells a payload with an index from others.
const MARK: [u8; 4] = [0xc1, 0x1c, 0x5e, 0xed];
/// Bytes of mark and index.
pub(super) const LEN: usize = 8;

/// What stands at the start of the payload.
pub(super) fn mark(index: u32) -> [u8; LEN] {
    let mut bytes = [0; LEN];
    bytes[..4].copy_from_slice(&MARK);
    bytes[4..].copy_from_slice(&index.to_be_bytes());
    bytes
}

/// The index, in the set it came from, of an Ethernet frame made with [`Traffic::sequence`](super::Traffic).
///
/// `None` for frames that carry none: other traffic, fragments but the first, and messages about such frames.
/// Also finds it behind VLAN tags and IPv4 options. Never panics.
pub fn sequence_of(frame: &[u8]) -> Option<u32> {
    let ip = frame.get(LinkType::Ethernet.ip_offset(frame)?..)?;
    let (header_len, protocol) = if ip.first()? >> 4 == 4 {
        let fragment = u16::from_be_bytes([*ip.get(6)?, *ip.get(7)?]) & 0x1fff;
        if fragment != 0 {
            return None;
        }
        (usize::from(ip[0] & 0xf) * 4, *ip.get(9)?)
    } else {
        (40, *ip.get(6)?)
    };
    if protocol != ip_proto::UDP {
        return None;
    }
    let payload = ip.get(header_len + udp::HEADER_LEN..)?.first_chunk::<LEN>()?;
    let [mark @ .., a, b, c, d] = *payload;
    (mark == MARK).then_some(u32::from_be_bytes([a, b, c, d]))
}
