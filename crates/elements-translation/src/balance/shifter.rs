//! Adds offsets to packets' addresses and ports.
//!
//! ```click
//! Shifter([IP_OFFSET, PORT_OFFSET, IP_OFFSET_DST, PORT_OFFSET_DST])
//! ```
//!
//! Expects packets with a marked IP header. Adds the given numbers to the addresses and ports of TCP and UDP packets;
//! sums wrap around. Other packets pass unchanged, and so do the ports of later fragments. Checksums are updated. It
//! is FastClick's element.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `IP_OFFSET`, `PORT_OFFSET` (integer, default 0): added to the source address and port.
//! - `IP_OFFSET_DST`, `PORT_OFFSET_DST` (integer, default 0): added to the destination address and port.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> Shifter(1, 1, 1, 1) -> Discard
//! ```
//!
//! # See also
//! IPRewriter, SetIPAddress

use elements_shared::ip_header::{header, header_mut};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use std::net::Ipv4Addr;
use wire::checksum::{update_u16, update_u32};
use wire::ip_proto;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("Shifter", create).processing("h/h").doc(router::manual!("shifter.rs"));

/// Whose address and port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Source,
    Destination,
}

struct Shifter {
    /// Address and port: of the source, and of the destination.
    offsets: [(i32, i32); 2],
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut ip, mut port, mut ip_dst, mut port_dst) = (0i32, 0i32, 0i32, 0i32);
    config
        .args()
        .positional("IP_OFFSET", &mut ip)
        .positional("PORT_OFFSET", &mut port)
        .positional("IP_OFFSET_DST", &mut ip_dst)
        .positional("PORT_OFFSET_DST", &mut port_dst)
        .finish()?;
    Ok(Box::new(PerPacket(Shifter { offsets: [(ip, port), (ip_dst, port_dst)] })))
}

/// Where the checksum is in a TCP and in a UDP header.
const TCP_CHECKSUM: usize = 16;
const UDP_CHECKSUM: usize = 6;

/// Changes the address of a side, and the port if there is one, with all checksums. None if there is no IP header.
pub(crate) fn change(
    packet: &mut Packet,
    side: Side,
    address: impl FnOnce(Ipv4Addr) -> Ipv4Addr,
    port: impl FnOnce(u16) -> u16,
) -> Option<()> {
    let mut ip = header_mut(packet)?;
    let old = if side == Side::Source { ip.src() } else { ip.dst() };
    let new = address(old);
    match side {
        Side::Source => ip.update_src(new),
        Side::Destination => ip.update_dst(new),
    }
    let (protocol, first) = (ip.protocol(), ip.is_first_fragment());
    let checksum_at = match protocol {
        ip_proto::TCP => TCP_CHECKSUM,
        ip_proto::UDP => UDP_CHECKSUM,
        _ => return Some(()),
    };
    if let Some(transport) = packet.transport_mut().filter(|_| first) {
        change_transport(transport, side, (old, new), port, checksum_at);
    }
    Some(())
}

/// The same behind the IP header, as far as what has to be there is there.
fn change_transport(
    transport: &mut [u8],
    side: Side,
    (old, new): (Ipv4Addr, Ipv4Addr),
    port: impl FnOnce(u16) -> u16,
    checksum_at: usize,
) {
    let port_at = if side == Side::Source { 0 } else { 2 };
    let word = |bytes: &[u8], at: usize| bytes.get(at..)?.first_chunk().map(|word| u16::from_be_bytes(*word));
    let (Some(old_port), Some(checksum)) = (word(transport, port_at), word(transport, checksum_at)) else {
        return;
    };
    let new_port = port(old_port);
    transport[port_at..port_at + 2].copy_from_slice(&new_port.to_be_bytes());
    let udp = checksum_at == UDP_CHECKSUM;
    if udp && checksum == 0 {
        return; // there is none
    }
    let changed = update_u16(update_u32(checksum, old.to_bits(), new.to_bits()), old_port, new_port);
    let changed = if udp && changed == 0 { 0xffff } else { changed };
    transport[checksum_at..checksum_at + 2].copy_from_slice(&changed.to_be_bytes());
}

impl Simple for Shifter {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let protocol = header(packet).map(|ip| ip.protocol());
        if matches!(protocol, Some(ip_proto::TCP | ip_proto::UDP)) {
            for (side, (ip, port)) in [Side::Source, Side::Destination].into_iter().zip(self.offsets) {
                let address = |old: Ipv4Addr| Ipv4Addr::from_bits(old.to_bits().wrapping_add_signed(ip));
                let _ = change(packet, side, address, |old| old.wrapping_add_signed(port as i16));
            }
        }
        Verdict::Pass
    }
}
