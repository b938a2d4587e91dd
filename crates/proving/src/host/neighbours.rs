//! Which Ethernet addresses a host's neighbours have: ARP (RFC 826) and neighbour discovery (RFC 4861), as little as will do.

use super::Host;
use crate::datagram::{BROADCAST, Datagram, Frame, Mac, Segment, ether_type, protocol};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Time between two questions.
const AGAIN_NS: i64 = 1_000_000_000;
/// Questions before a host gives a neighbour up.
const QUESTIONS: u32 = 5;

#[derive(Default)]
pub(super) struct Neighbours {
    by_address: BTreeMap<IpAddr, Neighbour>,
    /// Packets that waited in vain.
    pub(super) given_up: Vec<Datagram>,
}

enum Neighbour {
    Known(Mac),
    Asked { questions: u32, next_ns: i64, waiting: Vec<Datagram> },
}

impl Neighbours {
    /// The Ethernet address of a neighbour. If it is not known, the packet waits, and the neighbour is due to be asked.
    pub(super) fn find(&mut self, now_ns: i64, ip: IpAddr, packet: &Datagram) -> Option<Mac> {
        let asked = Neighbour::Asked { questions: 0, next_ns: now_ns, waiting: Vec::new() };
        match self.by_address.entry(ip).or_insert(asked) {
            Neighbour::Known(mac) => Some(*mac),
            Neighbour::Asked { waiting, .. } => {
                waiting.push(packet.clone());
                None
            }
        }
    }

    /// Those that are to be asked now. Who has been asked too often is forgotten, with the packets that wait for it.
    pub(super) fn due(&mut self, now_ns: i64) -> Vec<IpAddr> {
        let mut due = Vec::new();
        self.by_address.retain(|&ip, neighbour| {
            let Neighbour::Asked { questions, next_ns, waiting } = neighbour else { return true };
            if *next_ns > now_ns {
                return true;
            }
            (*questions, *next_ns) = (*questions + 1, now_ns + AGAIN_NS);
            due.push(ip);
            if *questions > QUESTIONS {
                self.given_up.append(waiting);
            }
            *questions <= QUESTIONS
        });
        due.retain(|ip| self.by_address.contains_key(ip));
        due
    }

    pub(super) fn next_ns(&self) -> Option<i64> {
        let next = |neighbour: &Neighbour| match neighbour {
            Neighbour::Asked { next_ns, .. } => Some(*next_ns),
            Neighbour::Known(_) => None,
        };
        self.by_address.values().filter_map(next).min()
    }

    /// Whether a neighbour is known, or asked for.
    fn knows(&self, ip: IpAddr) -> bool {
        self.by_address.contains_key(&ip)
    }

    /// Learns an address; returns the packets that waited for it.
    fn learn(&mut self, ip: IpAddr, mac: Mac) -> Vec<Datagram> {
        match self.by_address.insert(ip, Neighbour::Known(mac)) {
            Some(Neighbour::Asked { waiting, .. }) => waiting,
            _ => Vec::new(),
        }
    }
}

impl Host {
    /// The question who has an address.
    pub(super) fn question(&self, ip: IpAddr) -> Option<Frame> {
        match (self.address_for(ip)?.ip, ip) {
            (IpAddr::V4(own), IpAddr::V4(ip)) => Some(self.arp(1, BROADCAST, own, [0; 6], ip)),
            (IpAddr::V6(own), IpAddr::V6(ip)) => {
                let [.., a, b, c] = ip.octets();
                let group =
                    Ipv6Addr::new(0xff02, 0, 0, 0, 0, 1, 0xff00 | u16::from(a), u16::from_be_bytes([b, c]));
                Some(self.nd(135, own, group, 0, ip, 1))
            }
            _ => None,
        }
    }

    /// Tells all hosts of the link the Ethernet address of an address.
    pub(super) fn announcement(&self, ip: IpAddr) -> Option<Frame> {
        match ip {
            IpAddr::V4(ip) => Some(self.arp(1, BROADCAST, ip, [0; 6], ip)),
            IpAddr::V6(ip) => Some(self.nd(136, ip, Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1), 0x20, ip, 2)),
        }
    }

    pub(super) fn receive_arp(&mut self, bytes: &[u8], out: &mut Vec<Frame>) {
        let Some(fields) = bytes.get(..28) else { return };
        let mac = |at: usize| -> Mac { fields[at..at + 6].try_into().unwrap_or_default() };
        let ip = |at: usize| Ipv4Addr::new(fields[at], fields[at + 1], fields[at + 2], fields[at + 3]);
        let (operation, sender, target) = (fields[7], ip(14), ip(24));
        let is_mine = self.has(target.into());
        if is_mine || self.neighbours.knows(sender.into()) {
            self.learn(sender.into(), mac(8), out);
        }
        if operation == 1 && is_mine {
            out.push(self.arp(2, mac(8), target, mac(8), sender));
        }
    }

    /// Deals with a packet of neighbour discovery; false if it is something else.
    pub(super) fn receive_nd(&mut self, packet: &Datagram, out: &mut Vec<Frame>) -> bool {
        let Ok(Segment::Icmp { kind: kind @ (135 | 136), rest, .. }) = Segment::parse(packet) else {
            return false;
        };
        let octets = rest.get(4..20).and_then(|octets| <[u8; 16]>::try_from(octets).ok());
        let mac = rest.get(22..28).and_then(|mac| Mac::try_from(mac).ok());
        let (Some(target), Some(mac), 255) = (octets.map(Ipv6Addr::from), mac, packet.ttl) else {
            return true;
        };
        match (kind, packet.src) {
            (136, _) => self.learn(target.into(), mac, out),
            (_, IpAddr::V6(asker)) if self.has(target.into()) => {
                self.learn(asker.into(), mac, out);
                let mut frame = self.nd(136, target, asker, 0x60, target, 2);
                frame.dst = mac;
                out.push(frame);
            }
            _ => {}
        }
        true
    }

    fn learn(&mut self, ip: IpAddr, mac: Mac, out: &mut Vec<Frame>) {
        let waited = self.neighbours.learn(ip, mac);
        out.extend(waited.into_iter().map(|packet| self.frame(mac, packet)));
    }

    fn arp(&self, operation: u8, dst: Mac, own: Ipv4Addr, target_mac: Mac, target: Ipv4Addr) -> Frame {
        let mut payload = vec![0, 1, 8, 0, 6, 4, 0, operation];
        payload.extend(self.mac);
        payload.extend(own.octets());
        payload.extend(target_mac);
        payload.extend(target.octets());
        Frame { dst, src: self.mac, vlan: self.vlan, ether_type: ether_type::ARP, payload }
    }

    /// A solicitation or advertisement, with this host's Ethernet address as its option; to the group's Ethernet address.
    fn nd(&self, kind: u8, src: Ipv6Addr, dst: Ipv6Addr, flags: u8, target: Ipv6Addr, option: u8) -> Frame {
        let mut rest = vec![flags, 0, 0, 0];
        rest.extend(target.octets());
        rest.extend([option, 1]);
        rest.extend(self.mac);
        let [.., a, b, c, d] = dst.octets();
        let (src, dst) = (src.into(), dst.into());
        let payload = Segment::Icmp { kind, code: 0, rest }.to_bytes(src, dst);
        let packet = Datagram {
            src,
            dst,
            ttl: 255,
            ecn: 0,
            protocol: protocol::ICMP6,
            id: 0,
            fragment: None,
            whole: true,
            payload,
        };
        self.frame([0x33, 0x33, a, b, c, d], packet)
    }
}
