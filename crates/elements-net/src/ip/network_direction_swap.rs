//! Swaps source and destination, layer by layer.
//!
//! ```click
//! NetworkDirectionSwap([KEYWORDS])
//! ```
//!
//! Expects Ethernet frames. The layers after the Ethernet header are processed if a network header is marked and the
//! EtherType, possibly after VLAN tags, is IPv4 or IPv6. Checksums stay valid, since swapping does not change them.
//! It is FastClick's element.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `ETHERNET`, `IPV4`, `IPV6` (boolean, default false): whether to swap the addresses of this layer.
//! - `TCP`, `UDP` (boolean, default false): whether to swap the ports of this protocol.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> NetworkDirectionSwap(ETHERNET true, IPV4 true, UDP true) -> Discard
//! ```
//!
//! # See also
//! EtherMirror, IPMirror, IP6Mirror

use elements_shared::ether_header::{behind_tags, type_before};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use wire::ethernet::{HEADER_LEN, ether_type};
use wire::ip_proto;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("NetworkDirectionSwap", create).live().doc(router::manual!("network_direction_swap.rs"));

#[derive(Default)]
struct NetworkDirectionSwap {
    ethernet: bool,
    ipv4: bool,
    ipv6: bool,
    tcp: bool,
    udp: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = NetworkDirectionSwap::default();
    config
        .args()
        .keyword("ETHERNET", &mut e.ethernet)
        .keyword("IPV4", &mut e.ipv4)
        .keyword("IPV6", &mut e.ipv6)
        .keyword("TCP", &mut e.tcp)
        .keyword("UDP", &mut e.udp)
        .finish()?;
    Ok(Box::new(PerPacket(e)))
}

/// Swaps two fields of `SIZE` bytes, if both are there.
#[inline]
fn swap<const FIRST: usize, const SECOND: usize, const SIZE: usize>(bytes: Option<&mut [u8]>) {
    if let Some(bytes) = bytes.and_then(|bytes| bytes.get_mut(FIRST..))
        && let Some((front, back)) = bytes.split_at_mut_checked(SECOND - FIRST)
        && let (Some(first), Some(second)) = (front.first_chunk_mut::<SIZE>(), back.first_chunk_mut())
    {
        std::mem::swap(first, second);
    }
}

fn swap_ethernet_addresses(frame: &mut [u8]) {
    swap::<0, 6, 6>(Some(frame));
}

fn swap_ipv4_addresses(header: Option<&mut [u8]>) {
    swap::<12, 16, 4>(header);
}

fn swap_ipv6_addresses(header: Option<&mut [u8]>) {
    swap::<8, 24, 16>(header);
}

fn swap_ports(header: Option<&mut [u8]>) {
    swap::<0, 2, 2>(header);
}

/// The Ethernet type, behind the VLAN tags if there are some.
#[inline]
fn kind(frame: &[u8]) -> Option<u16> {
    type_before(frame, behind_tags(frame, HEADER_LEN))
}

impl NetworkDirectionSwap {
    #[inline]
    fn swap_ports(&self, packet: &mut Packet, protocol: u8) {
        if protocol == ip_proto::TCP && self.tcp || protocol == ip_proto::UDP && self.udp {
            swap_ports(packet.transport_mut().filter(|transport| transport.len() >= 8));
        }
    }
}

impl Simple for NetworkDirectionSwap {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if self.ethernet {
            swap_ethernet_addresses(packet.data_mut());
        }
        match kind(packet.data()) {
            Some(ether_type::IPV4) => {
                let ip = packet.network().and_then(|ip| wire::ipv4::Header::new_checked(ip).ok());
                let Some((protocol, first)) = ip.map(|ip| (ip.protocol(), ip.is_first_fragment())) else {
                    return Verdict::Pass;
                };
                if self.ipv4 {
                    swap_ipv4_addresses(packet.network_mut());
                }
                if first {
                    self.swap_ports(packet, protocol);
                }
            }
            Some(ether_type::IPV6) => {
                const NEXT_HEADER: usize = 6;
                let Some(&next) = packet.network().and_then(|ip| ip.get(NEXT_HEADER)) else {
                    return Verdict::Pass;
                };
                if self.ipv6 {
                    swap_ipv6_addresses(packet.network_mut());
                }
                self.swap_ports(packet, next);
            }
            _ => {}
        }
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;
    use elements_testing::samples::{DST, SRC, udp, with_addresses};

    /// All layers are swapped or none, whatever tags there are.
    #[test]
    fn behind_vlan_tags() {
        for tags in [&[][..], &[0x81, 0, 0, 1], &[0x88, 0xa8, 0, 1], &[0x88, 0xa8, 0, 1, 0x81, 0, 0, 2]] {
            let frame = |ethernet: [u8; 2], ip: Vec<u8>| {
                [&[ethernet[0]; 6][..], &[ethernet[1]; 6], tags, &[8, 0], &ip].concat()
            };
            let config = format!(
                "Inject -> MarkIPHeader({}) -> NetworkDirectionSwap(ETHERNET true, IPV4 true) -> Collect(0)",
                14 + tags.len()
            );
            let flow = send(&config, [frame([1, 2], udp(4))]);
            assert_eq!(flow.data(0), [frame([2, 1], with_addresses(udp(4), DST, SRC))], "{tags:x?}");
        }
    }
}
