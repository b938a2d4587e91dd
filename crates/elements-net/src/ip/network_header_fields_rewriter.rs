//! Changes fields of Ethernet, IPv4, TCP and UDP headers.
//!
//! ```click
//! NetworkHeaderFieldsRewriter([KEYWORDS])
//! ```
//!
//! Expects Ethernet frames, and sets the fields given as arguments. Fields of the IP and transport headers are set
//! only if the frame's EtherType, possibly after VLAN tags, is IP, the IP header is marked, and the header is
//! present; ports are also set in IPv6 packets. Checksums are not updated. It is FastClick's element.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `ETH_SRC`, `ETH_DST` (Ethernet address), `ETH_TYPE` (integer): fields of the Ethernet header; if there are VLAN
//!   tags, the type after them.
//! - `IPV4_SRC`, `IPV4_DST` (IP address), `IPV4_PROTO`, `IPV4_TTL`, `IPV4_DSCP` (integer, 0 to 63), `IPV4_ECN`
//!   (integer, 0 to 3): fields of the IP header.
//! - `TCP_SRC`, `TCP_DST`, `UDP_SRC`, `UDP_DST` (integer): ports.
//!
//! # Handlers
//! - `eth_src`, `eth_dst`, `eth_type`, `ipv4_src`, `ipv4_dst`, `ipv4_proto`, `ipv4_ttl`, `ipv4_dscp`, `ipv4_ecn`,
//!   `tcp_src`, `tcp_dst`, `udp_src`, `udp_dst` (read, write): the arguments; empty if not set.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> NetworkHeaderFieldsRewriter(ETH_DST 0:1:2:3:4:5, UDP_DST 53) -> Discard
//! ```
//!
//! # See also
//! EtherRewrite, SetIPAddress, SetIPDSCP, SetIPChecksum, IPRewriter

use elements_shared::ether_header::behind_tags;
use elements_shared::ip_header::header_mut;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, FromArg, Handlers, PerPacket, Scope, Simple, Verdict};
use std::fmt::Display;
use std::net::Ipv4Addr;
use wire::ethernet::{HEADER_LEN, Header, ether_type};
use wire::{MacAddr, ip_proto, ipv6};

/// The class.
pub(crate) const CLASS: Class = Class::new("NetworkHeaderFieldsRewriter", create)
    .live()
    .doc(router::manual!("network_header_fields_rewriter.rs"));

/// A number of few bits.
#[derive(Clone, Copy)]
struct Bits<const MAX: u8>(u8);

impl<const MAX: u8> FromArg for Bits<MAX> {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        let what = if MAX == 3 { "ECN" } else { "diffserv code point" };
        Some(u32::from_arg(text, scope)?)
            .filter(|&bits| bits <= MAX.into())
            .map(|bits| Bits(bits as u8))
            .ok_or_else(|| format!("{what} out of range"))
    }
}

impl<const MAX: u8> Display for Bits<MAX> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// Source and destination ports.
type Ports = [Option<u16>; 2];

#[derive(Default)]
struct NetworkHeaderFieldsRewriter {
    eth_src: Option<MacAddr>,
    eth_dst: Option<MacAddr>,
    eth_type: Option<u16>,
    src: Option<Ipv4Addr>,
    dst: Option<Ipv4Addr>,
    protocol: Option<u8>,
    ttl: Option<u8>,
    dscp: Option<Bits<63>>,
    ecn: Option<Bits<3>>,
    tcp: Ports,
    udp: Ports,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = NetworkHeaderFieldsRewriter::default();
    let ([tcp_src, tcp_dst], [udp_src, udp_dst]) = (&mut e.tcp, &mut e.udp);
    config
        .args()
        .keyword("ETH_SRC", &mut e.eth_src)
        .keyword("ETH_DST", &mut e.eth_dst)
        .keyword("ETH_TYPE", &mut e.eth_type)
        .keyword("IPV4_PROTO", &mut e.protocol)
        .keyword("IPV4_SRC", &mut e.src)
        .keyword("IPV4_DST", &mut e.dst)
        .keyword("IPV4_DSCP", &mut e.dscp)
        .keyword("IPV4_TTL", &mut e.ttl)
        .keyword("IPV4_ECN", &mut e.ecn)
        .keyword("TCP_SRC", tcp_src)
        .keyword("TCP_DST", tcp_dst)
        .keyword("UDP_SRC", udp_src)
        .keyword("UDP_DST", udp_dst)
        .finish()?;
    Ok(Box::new(PerPacket(e)))
}

/// Where the type of an Ethernet frame's payload is.
fn type_at(frame: &[u8]) -> usize {
    behind_tags(frame, HEADER_LEN) - size_of::<u16>()
}

impl NetworkHeaderFieldsRewriter {
    /// Changes the Ethernet header; the type of its payload.
    fn change_ether(&self, frame: &mut [u8]) -> Option<u16> {
        let type_at = type_at(frame);
        let mut header = Header::new_checked_mut(frame).ok()?;
        if let Some(src) = self.eth_src {
            header.set_src(src);
        }
        if let Some(dst) = self.eth_dst {
            header.set_dst(dst);
        }
        let kind = frame.get_mut(type_at..)?.first_chunk_mut()?;
        if let Some(eth_type) = self.eth_type {
            *kind = eth_type.to_be_bytes();
        }
        Some(u16::from_be_bytes(*kind))
    }

    /// Changes the IPv4 header; the protocol of a packet that has the header of it.
    fn change_ipv4(&self, packet: &mut Packet) -> Option<u8> {
        let mut ip = header_mut(packet)?;
        if let Some(protocol) = self.protocol {
            ip.set_protocol(protocol);
        }
        if let Some(ttl) = self.ttl {
            ip.set_ttl(ttl);
        }
        let dscp = self.dscp.map_or(ip.tos() >> 2, |dscp| dscp.0);
        let ecn = self.ecn.map_or(ip.tos() & 3, |ecn| ecn.0);
        ip.set_tos(dscp << 2 | ecn);
        if let Some(src) = self.src {
            ip.set_src(src);
        }
        if let Some(dst) = self.dst {
            ip.set_dst(dst);
        }
        ip.is_first_fragment().then(|| ip.protocol())
    }

    /// Changes the ports of a packet of a protocol.
    fn change_ports(&self, packet: &mut Packet, protocol: u8) {
        let ports = match protocol {
            ip_proto::TCP => self.tcp,
            ip_proto::UDP => self.udp,
            _ => return,
        };
        // As much of the header as both have.
        let Some(header) = packet.transport_mut().and_then(|transport| transport.first_chunk_mut::<8>())
        else {
            return;
        };
        for (field, port) in header.as_chunks_mut::<2>().0.iter_mut().zip(ports) {
            *field = port.map_or(*field, u16::to_be_bytes);
        }
    }
}

/// Handlers to read and write a field.
fn field<T: FromArg + Display + Copy + 'static>(
    h: &mut Handlers,
    keyword: &'static str,
    of: fn(&mut NetworkHeaderFieldsRewriter) -> &mut Option<T>,
) {
    let name = keyword.to_ascii_lowercase();
    h.read(&name, move |e: &mut NetworkHeaderFieldsRewriter, _| {
        of(e).map_or(String::new(), |value| value.to_string())
    });
    h.write(&name, move |e: &mut NetworkHeaderFieldsRewriter, cx, text| {
        *of(e) = Some(router::keyword_value(cx, keyword, text)?);
        Ok(())
    });
}

impl Simple for NetworkHeaderFieldsRewriter {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let protocol = match self.change_ether(packet.data_mut()) {
            Some(ether_type::IPV4) => self.change_ipv4(packet),
            Some(ether_type::IPV6) => {
                let ip = packet.network().and_then(|ip| ipv6::Header::new_checked(ip).ok());
                ip.map(|ip| ip.next_header())
            }
            _ => None,
        };
        if let Some(protocol) = protocol {
            self.change_ports(packet, protocol);
        }
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        field(h, "ETH_SRC", |e| &mut e.eth_src);
        field(h, "ETH_DST", |e| &mut e.eth_dst);
        field(h, "ETH_TYPE", |e| &mut e.eth_type);
        field(h, "IPV4_PROTO", |e| &mut e.protocol);
        field(h, "IPV4_TTL", |e| &mut e.ttl);
        field(h, "IPV4_DSCP", |e| &mut e.dscp);
        field(h, "IPV4_ECN", |e| &mut e.ecn);
        field(h, "IPV4_SRC", |e| &mut e.src);
        field(h, "IPV4_DST", |e| &mut e.dst);
        field(h, "TCP_SRC", |e| &mut e.tcp[0]);
        field(h, "TCP_DST", |e| &mut e.tcp[1]);
        field(h, "UDP_SRC", |e| &mut e.udp[0]);
        field(h, "UDP_DST", |e| &mut e.udp[1]);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;
    use elements_testing::samples::udp;

    const FIELDS: &str = "NetworkHeaderFieldsRewriter(UDP_SRC 772, UDP_DST 7, ETH_SRC 1:1:1:1:1:1)";

    #[test]
    fn ports_behind_ipv6() {
        let v6 = [&[0; 12][..], &[0x86, 0xdd, 0x60, 0, 0, 0, 0, 8, 17], &[0; 33], &[0, 1, 0, 2, 0, 8, 0, 0]]
            .concat();
        let flow = send(&format!("Inject -> MarkIP6Header(14) -> {FIELDS} -> Collect(0)"), [v6]);
        let frame = flow.only(0).data();
        assert_eq!((&frame[6..12], &frame[54..59]), (&[1; 6][..], &[3, 4, 0, 7, 0][..]));
    }

    #[test]
    fn behind_several_tags() {
        let tagged = [&[0; 12][..], &[0x88, 0xa8, 0, 1, 0x81, 0, 0, 2, 8, 0], &udp(8)].concat();
        let flow = send(&format!("Inject -> MarkIPHeader(22) -> {FIELDS} -> Collect(0)"), [tagged]);
        assert_eq!(flow.only(0).data()[42..46], [3, 4, 0, 7]);
    }

    /// Frames that are too short for anything, or without a marked header, pass.
    #[test]
    fn short_frames() {
        let unmarked = [&[1; 12][..], &[8, 0, 0x45]].concat();
        let frames = [vec![7; 13], vec![7], unmarked];
        let flow = send(&format!("Inject -> {FIELDS} -> Collect(0)"), frames.clone());
        assert_eq!(flow.data(0), frames);
    }
}
