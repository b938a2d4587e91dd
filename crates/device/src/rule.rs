//! Which frames are meant, said in the terms of their headers.
//!
//! Programs that run in the kernel are made of rules: for XDP ([`crate::xdp`]), and for packet sockets ([`crate::packet_socket`]).

use std::net::IpAddr;

pub(crate) const IPV4: u16 = 0x0800;
pub(crate) const IPV6: u16 = 0x86dd;

/// Frames for which all that is said holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pub(crate) ether_type: u16,
    /// The first 4-byte words of the destination address with their masks.
    pub(crate) destination: Vec<(u32, u32)>,
    /// What the IP header says comes next.
    pub(crate) protocol: Option<u8>,
    /// Whether the TTL or hop limit is that of a packet from a neighbour, or for one.
    pub(crate) near: bool,
    /// The source or the destination port of TCP and UDP.
    pub(crate) port: Option<u16>,
}

/// The TTL of packets that a router does not forward, and the one that only a neighbour's packets have (RFC 5082).
pub(crate) const NEAR: [u8; 2] = [1, 255];

impl Rule {
    /// All frames of an EtherType.
    pub fn ether_type(ether_type: u16) -> Rule {
        Rule { ether_type, destination: Vec::new(), protocol: None, near: false, port: None }
    }

    /// All IPv4 packets.
    pub fn ipv4() -> Rule {
        Rule::ether_type(IPV4)
    }

    /// All IPv6 packets.
    pub fn ipv6() -> Rule {
        Rule::ether_type(IPV6)
    }

    /// IP packets to a prefix.
    pub fn destination(address: IpAddr, prefix_len: u8) -> Rule {
        let (mut rule, bytes) = match address {
            IpAddr::V4(address) => (Rule::ipv4(), address.octets().to_vec()),
            IpAddr::V6(address) => (Rule::ipv6(), address.octets().to_vec()),
        };
        let words = bytes.chunks_exact(4).enumerate().map(|(i, word)| {
            let bits = u32::from(prefix_len).saturating_sub(32 * i as u32).min(32);
            let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
            (u32::from_be_bytes([word[0], word[1], word[2], word[3]]) & mask, mask)
        });
        rule.destination = words.filter(|&(_, mask)| mask != 0).collect();
        rule
    }

    /// Only those of this protocol, right behind the IP header.
    pub fn protocol(self, protocol: u8) -> Rule {
        Rule { protocol: Some(protocol), ..self }
    }

    /// Only those of a TTL or hop limit of 1 or 255: for this link's hosts, or from one of them.
    pub fn near(self) -> Rule {
        Rule { near: true, ..self }
    }

    /// Only those from or to this port, which are no later fragments.
    pub fn port(self, port: u16) -> Rule {
        Rule { port: Some(port), ..self }
    }

    /// Whether it holds for a frame, which begins with an Ethernet header. Programs in the kernel mean the same.
    pub(crate) fn holds(&self, frame: &[u8]) -> bool {
        let word = |at: usize| u16::from_be_bytes([frame[at], frame[at + 1]]);
        let (ttl, protocol, to, end) = match self.ether_type {
            IPV4 => (22, 23, 30, 34),
            IPV6 => (21, 20, 38, 54),
            _ => (0, 0, 0, 14),
        };
        if frame.len() < end || word(12) != self.ether_type {
            return false;
        }
        let address = frame[to..].chunks_exact(4).zip(&self.destination);
        let mut address = address.map(|(bytes, (value, mask))| {
            u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) & mask == *value
        });
        let ports = match self.ether_type {
            IPV4 if word(20) & 0x1fff != 0 => frame.len(), // a later fragment has none
            IPV4 => 14 + usize::from(frame[14] & 0xf) * 4,
            _ => 54,
        };
        let has_port = |port| ports + 4 <= frame.len() && (word(ports) == port || word(ports + 2) == port);
        address.all(|matches| matches)
            && self.protocol.is_none_or(|wanted| frame[protocol] == wanted)
            && (!self.near || NEAR.contains(&frame[ttl]))
            && self.port.is_none_or(has_port)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// What the rules mean, said plainly.
    pub(crate) fn is_left(rules: &[Rule], frame: &[u8]) -> bool {
        rules.iter().any(|rule| rule.holds(frame))
    }

    /// Frames made of few values, so that rules match often.
    pub(crate) fn frame(rng: &mut fastrand::Rng) -> Vec<u8> {
        // The kernel tries no frame of a header alone.
        let mut frame: Vec<u8> = (0..rng.usize(15..90)).map(|_| rng.u8(0..3)).collect();
        let ether_type = rng.choice([IPV4, IPV4, IPV6, IPV6, 0x0806, 0x88cc]).unwrap_or(IPV4);
        let mut put = |at: usize, bytes: &[u8]| {
            if let Some(place) = frame.get_mut(at..at + bytes.len()) {
                place.copy_from_slice(bytes);
            }
        };
        put(12, &ether_type.to_be_bytes());
        let (header, protocol) = if ether_type == IPV4 { (rng.u8(0..16), 23) } else { (10, 20) };
        put(14, &[header]);
        if rng.u8(0..4) > 0 {
            put(20, &[0x40, 0]);
        }
        put(protocol, &[rng.choice([1, 6, 17, 58, 89]).unwrap_or(6)]);
        if rng.bool() {
            put(if ether_type == IPV4 { 22 } else { 21 }, &[rng.choice(NEAR).unwrap_or(1)]);
        }
        let ports = if ether_type == IPV4 { 14 + usize::from(header) * 4 } else { 54 };
        put(ports + rng.usize(0..2) * 2, &rng.choice([179u16, 22, 9, 3784]).unwrap_or(9).to_be_bytes());
        put(
            30,
            &rng.choice([[10, 0, 0, 1], [10, 0, 0, 2], [10, 0, 0, 3], [224, 0, 0, 5]])
                .unwrap_or([10, 0, 0, 0]),
        );
        if rng.u8(0..8) == 0 {
            put(38, &[0xff, 2]);
        }
        frame
    }

    /// Some rules, and those that the product has.
    pub(crate) fn sets() -> Vec<Vec<Rule>> {
        let net = |text: &str, len| Rule::destination(text.parse().unwrap(), len);
        vec![
            vec![],
            vec![Rule::ether_type(0x0806)],
            vec![net("10.0.0.2", 32), net("2::", 9), net("::", 0), net("0.0.0.0", 0).protocol(89)],
            vec![net("10.0.0.0", 31).protocol(1), Rule::ipv6().protocol(58), Rule::ether_type(0x88cc)],
            vec![Rule::ipv4().protocol(6).port(179), Rule::ipv6().protocol(6).port(179)],
            vec![net("10.0.0.0", 30).protocol(17).port(22), net("100:1:200::", 41).port(9)],
            crate::control::rules(),
        ]
    }
}
