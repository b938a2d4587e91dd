//! Finding flows by addresses and ports.

use super::apply::split;
use super::flow_id::FlowId;
use packet::Packet;

/// Bytes of a transport header that have to be there.
const MIN_TRANSPORT: usize = 8;

/// The flow identifier of a packet with ports, and its IP protocol. `None` for later fragments, which have no ports, and
/// where the header is cut off.
#[inline]
pub(super) fn flow_of(packet: &Packet) -> Option<(FlowId, u8)> {
    let (ip, transport) = split(packet.network()?)?;
    let ports: &[u8; MIN_TRANSPORT] = transport.first_chunk()?;
    if !ip.is_first_fragment() {
        return None;
    }
    let [a, b, c, d, ..] = *ports;
    let id = FlowId {
        saddr: ip.src().to_bits(),
        daddr: ip.dst().to_bits(),
        sport: u16::from_be_bytes([a, b]),
        dport: u16::from_be_bytes([c, d]),
    };
    Some((id, ip.protocol()))
}
