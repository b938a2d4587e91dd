//! Overwrites the payloads of IP packets with zeros.
//!
//! ```click
//! EraseIPPayload
//! ```
//!
//! Zeroes all bytes after the TCP or UDP header, and that header's checksum; of later fragments all after the IP header. ICMP packets pass unchanged. Packets of
//! other protocols are dropped.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true, FORCE_IP true) -> EraseIPPayload -> ToDump(erased.pcap)
//! ```
//!
//! # See also
//! AnonymizeIPAddr, TruncateIPPayload

use elements_shared::ip_header::{NO_HEADER, header};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use wire::{ip_proto, tcp, udp};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("EraseIPPayload", create).doc(router::manual!("erase_ip_payload.rs"));

/// Where the checksums of TCP and UDP are.
const TCP_CHECKSUM: usize = 16;
const UDP_CHECKSUM: usize = 6;

struct EraseIpPayload;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(EraseIpPayload)))
}

impl Simple for EraseIpPayload {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Some(ip) = header(packet) else { return Verdict::Drop(NO_HEADER) };
        let (protocol, is_first) = (ip.protocol(), ip.is_first_fragment());
        let Some(transport) = packet.transport_mut() else { return Verdict::Pass };
        let (payload, checksum) = match protocol {
            ip_proto::TCP | ip_proto::UDP if !is_first => {
                transport.fill(0); // all of it is payload
                return Verdict::Pass;
            }
            ip_proto::TCP => {
                let len = tcp::Header::new_checked(&*transport).map_or(0, |header| header.header_len());
                (len.max(tcp::HEADER_LEN), TCP_CHECKSUM)
            }
            ip_proto::UDP => (udp::HEADER_LEN, UDP_CHECKSUM),
            ip_proto::ICMP => return Verdict::Pass,
            _ => return Verdict::Drop("neither TCP nor UDP"),
        };
        transport.get_mut(payload..).unwrap_or_default().fill(0);
        transport.get_mut(checksum..checksum + 2).unwrap_or_default().fill(0);
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Flow, send_one};
    use elements_testing::samples::{edited, udp};

    fn erase(packet: Vec<u8>) -> Flow {
        send_one("Inject -> MarkIPHeader(0) -> EraseIPPayload -> Collect(0)", packet)
    }

    #[test]
    fn what_follows_the_transport_header_is_erased() {
        let packet = udp(20);
        let erased = erase(packet.clone()).only(0).data().to_vec();
        assert_eq!((&erased[..26], &erased[26..]), (&packet[..26], &[0; 22][..]));
        let tcp = edited(udp(40), |ip| ip.set_protocol(6));
        let erased = erase(tcp.clone()).only(0).data().to_vec();
        assert_eq!((&erased[..36], &erased[36..38], &erased[40..]), (&tcp[..36], &[0; 2][..], &[0; 28][..]));
        let later = edited(packet.clone(), |ip| ip.set_fragment_field(1));
        assert_eq!(erase(later.clone()).only(0).data(), [&later[..20], &[0; 28]].concat());
        let icmp = edited(udp(20), |ip| ip.set_protocol(1));
        assert_eq!(erase(icmp.clone()).data(0), [icmp]);
    }

    #[test]
    fn other_protocols_are_dropped_and_short_packets_stay() {
        assert_eq!(erase(edited(udp(20), |ip| ip.set_protocol(99))).drops(), [("neither TCP nor UDP", 1)]);
        assert_eq!(erase(vec![0x45]).drops(), [("no IP header", 1)]);
        assert_eq!(erase(udp(0)[..23].to_vec()).data(0)[0].len(), 23);
    }
}
