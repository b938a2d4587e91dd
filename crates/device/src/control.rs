//! Control frames: those by which neighbours find each other, and notice that one is gone.
//!
//! A data path that is overloaded loses frames. If it lost these, too, neighbours would be forgotten and adjacencies would flap, and then
//! nothing flows at all. So they have a queue of their own and go first, as in the control-plane policing of other routers (RFC 6192).
//!
//! What goes first can be abused from afar. So nearly all of it is what no router forwards: frames without an IP header, packets to
//! link-local groups, and packets with a TTL of 1 or 255 (RFC 5082). What a host of the link sends too much of, ARP and neighbour
//! discovery, is limited ([`crate::packet_socket`]).

use crate::rule::Rule;
use std::net::{Ipv4Addr, Ipv6Addr};

/// ARP (RFC 826).
const ARP: u16 = 0x0806;
/// LACP and other slow protocols (IEEE 802.3), LLDP, and the hellos of clusters (an experimental number).
const OTHERS: [u16; 3] = [0x8809, 0x88cc, 0x88b5];
const ICMPV6: u8 = 58;
const TCP: u8 = 6;
const UDP: u8 = 17;
const OSPF: u8 = 89;
const BGP_PORT: u16 = 179;
/// BFD: control, echo, and over several hops.
const BFD_PORTS: [u16; 3] = [3784, 3785, 4784];

/// The rules that control frames fulfil.
pub fn rules() -> Vec<Rule> {
    let ethernet = [ARP].into_iter().chain(OTHERS).map(Rule::ether_type);
    let groups = [
        Rule::destination(Ipv4Addr::new(224, 0, 0, 0).into(), 24),
        Rule::destination(Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 0).into(), 16),
    ];
    let to_hosts = |ip: &Rule| {
        let near = |protocol| ip.clone().protocol(protocol).near();
        let bfd = BFD_PORTS.map(|port| near(UDP).port(port));
        [near(OSPF), near(TCP).port(BGP_PORT)].into_iter().chain(bfd)
    };
    let mut rules: Vec<Rule> = ethernet.collect();
    for (ip, group) in [Rule::ipv4(), Rule::ipv6()].iter().zip(groups) {
        rules.push(group);
        rules.extend(to_hosts(ip));
    }
    rules.push(Rule::ipv6().protocol(ICMPV6).near());
    rules
}

/// Tells control frames from others that this program is about to send. Frames that are received the kernel tells apart, by the same rules.
pub struct ControlFrames(Vec<Rule>);

impl ControlFrames {
    /// What tells them by [`rules`].
    pub fn new() -> ControlFrames {
        ControlFrames(rules())
    }

    /// Whether a frame, which begins with an Ethernet header, is one. It costs some tens of nanoseconds.
    pub fn has(&self, frame: &[u8]) -> bool {
        self.0.iter().any(|rule| rule.holds(frame))
    }
}

impl Default for ControlFrames {
    fn default() -> ControlFrames {
        ControlFrames::new()
    }
}

/// Whether a control frame is about neighbours' addresses: ARP, or neighbour discovery with what else ICMPv6 says on a link.
#[inline]
pub(crate) fn is_about_neighbours(frame: &[u8]) -> bool {
    match frame.get(12..14) {
        Some([0x08, 0x06]) => true,
        Some([0x86, 0xdd]) => frame.get(20) == Some(&ICMPV6),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::tests::is_left;

    /// A frame with an IP header, for a host or a group.
    fn ip(protocol: u8, ttl: u8, destination: std::net::IpAddr, port: u16) -> Vec<u8> {
        let mut frame = vec![0; 80];
        let (ether_type, ports) = match destination {
            std::net::IpAddr::V4(to) => {
                (frame[14], frame[22], frame[23]) = (0x45, ttl, protocol);
                frame[30..34].copy_from_slice(&to.octets());
                (0x0800_u16, 34)
            }
            std::net::IpAddr::V6(to) => {
                (frame[14], frame[20], frame[21]) = (0x60, protocol, ttl);
                frame[38..54].copy_from_slice(&to.octets());
                (0x86dd, 54)
            }
        };
        frame[12..14].copy_from_slice(&ether_type.to_be_bytes());
        frame[ports + 2..ports + 4].copy_from_slice(&port.to_be_bytes());
        frame
    }

    /// What neighbours say goes first; what is forwarded, and what can be sent from afar, does not.
    #[test]
    fn what_neighbours_say_is_control() {
        let rules = rules();
        let to = |text: &str| text.parse().expect("an address");
        let first = [
            ip(OSPF, 1, to("224.0.0.5"), 0),
            ip(OSPF, 1, to("10.0.0.1"), 0),
            ip(OSPF, 1, to("ff02::5"), 0),
            ip(UDP, 255, to("10.0.0.1"), 3784),
            ip(UDP, 255, to("fe80::1"), 3784),
            ip(TCP, 1, to("10.0.0.1"), 179),
            ip(TCP, 255, to("2001:db8::1"), 179),
            ip(ICMPV6, 255, to("ff02::1:ff00:1"), 0),
            ip(ICMPV6, 255, to("2001:db8::1"), 0),
            ip(112, 255, to("224.0.0.18"), 0),
        ];
        for frame in first {
            assert!(is_left(&rules, &frame), "{frame:02x?}");
        }
        let later = [
            ip(OSPF, 64, to("10.0.0.1"), 0),
            ip(UDP, 64, to("10.0.0.1"), 3784),
            ip(TCP, 64, to("10.0.0.1"), 179),
            ip(TCP, 255, to("10.0.0.1"), 80),
            ip(TCP, 64, to("2001:db8::1"), 179),
            ip(ICMPV6, 64, to("2001:db8::1"), 0),
            ip(1, 255, to("10.0.0.1"), 0),
            ip(UDP, 4, to("239.0.0.1"), 5004),
        ];
        for frame in later {
            assert!(!is_left(&rules, &frame), "{frame:02x?}");
        }
        let mut arp = vec![0; 60];
        arp[12..14].copy_from_slice(&ARP.to_be_bytes());
        assert!(is_left(&rules, &arp) && is_about_neighbours(&arp));
        assert!(is_about_neighbours(&ip(ICMPV6, 255, to("2001:db8::1"), 0)));
        assert!(!is_about_neighbours(&ip(OSPF, 1, to("ff02::5"), 0)));
    }
}
