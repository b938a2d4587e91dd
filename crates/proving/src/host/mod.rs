//! A host: it finds its neighbours, sends packets in parts if it must, and puts together what arrives.

mod neighbours;
mod parts;

use crate::datagram::{BROADCAST, Datagram, Frame, Mac, Segment, ether_type};
use neighbours::Neighbours;
use parts::Parts;
use std::net::IpAddr;

/// An address of a host, with the network around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The address.
    pub ip: IpAddr,
    /// The bits of the network's prefix.
    pub prefix: u8,
    /// The router for everything outside of it.
    pub gateway: Option<IpAddr>,
}

impl Address {
    /// Whether another address is in the same network.
    fn reaches(&self, ip: IpAddr) -> bool {
        let shift = |bits: u32| bits - u32::from(self.prefix).min(bits);
        match (self.ip, ip) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                (own.to_bits() ^ other.to_bits()).checked_shr(shift(32)).unwrap_or(0) == 0
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                (own.to_bits() ^ other.to_bits()).checked_shr(shift(128)).unwrap_or(0) == 0
            }
            _ => false,
        }
    }
}

/// A host.
pub struct Host {
    /// What stories call it.
    pub name: String,
    /// Its Ethernet address.
    pub mac: Mac,
    /// Its addresses.
    pub addresses: Vec<Address>,
    /// The VLAN that its frames are tagged with, if any.
    pub vlan: Option<u16>,
    /// The longest packet that it sends, in bytes.
    pub mtu: usize,
    neighbours: Neighbours,
    parts: Parts,
    next_id: u32,
    /// Ethernet addresses that it had, and until when.
    former: Vec<(Mac, i64)>,
}

/// What came of a frame that a host received.
pub enum Received {
    /// Nothing that matters to others.
    Nothing,
    /// A packet for this host, put together if it came in parts.
    Packet(Datagram, Segment),
    /// A part of a packet that was here before, and which.
    Again(String),
    /// Something that no router may send.
    Damaged(String),
}

impl Host {
    /// A host that knows no neighbour yet.
    pub fn new(name: &str, mac: Mac, addresses: Vec<Address>) -> Host {
        Host {
            name: name.to_owned(),
            mac,
            addresses,
            vlan: None,
            mtu: 1500,
            neighbours: Neighbours::default(),
            parts: Parts::default(),
            next_id: 1,
            former: Vec::new(),
        }
    }

    /// Whether this is one of its addresses.
    pub fn has(&self, ip: IpAddr) -> bool {
        self.addresses.iter().any(|address| address.ip == ip)
    }

    /// Its address of the same family as another.
    pub fn address_for(&self, ip: IpAddr) -> Option<Address> {
        self.addresses.iter().copied().find(|address| address.ip.is_ipv4() == ip.is_ipv4())
    }

    /// Sends a packet: at once if the next hop's Ethernet address is known, otherwise when it has answered.
    pub fn send(&mut self, now_ns: i64, packet: Datagram, out: &mut Vec<Frame>) {
        let Some(address) = self.address_for(packet.dst) else { return };
        let next_hop =
            if address.reaches(packet.dst) { packet.dst } else { address.gateway.unwrap_or(packet.dst) };
        self.next_id += 1;
        for part in packet.cut(self.mtu, self.next_id) {
            let known = self.neighbours.find(now_ns, next_hop, &part);
            let frame = match known {
                Some(mac) => self.frame(mac, part),
                None => continue,
            };
            out.push(frame);
        }
        self.tick(now_ns, out);
    }

    /// Receives a frame.
    pub fn receive(&mut self, now_ns: i64, frame: &Frame, out: &mut Vec<Frame>) -> Received {
        let is_mine = frame.dst == self.mac || frame.dst[0] & 1 == 1;
        if !is_mine || frame.vlan != self.vlan {
            return Received::Nothing;
        }
        if frame.ether_type == ether_type::ARP {
            self.receive_arp(&frame.payload, out);
            return Received::Nothing;
        }
        let packet = match Datagram::parse(&frame.payload) {
            Ok(packet) => packet,
            Err(error) => return Received::Damaged(error),
        };
        if packet.protocol == crate::datagram::protocol::ICMP6 && self.receive_nd(&packet, out) {
            return Received::Nothing;
        }
        if frame.dst == BROADCAST || !self.has(packet.dst) {
            return Received::Damaged(format!("'{}' gets a packet for {}", self.name, packet.dst));
        }
        let whole = match self.parts.add(now_ns, packet) {
            Ok(Some(whole)) => whole,
            Ok(None) => return Received::Nothing,
            Err(error) => return Received::Again(error),
        };
        match Segment::parse(&whole) {
            Ok(segment) => Received::Packet(whole, segment),
            Err(error) => Received::Damaged(error),
        }
    }

    /// Asks again for neighbours that have not answered.
    pub fn tick(&mut self, now_ns: i64, out: &mut Vec<Frame>) {
        for asked in self.neighbours.due(now_ns) {
            out.extend(self.question(asked));
        }
    }

    /// When it wants to act next.
    pub fn next_ns(&self) -> Option<i64> {
        self.neighbours.next_ns()
    }

    /// Gets another Ethernet address, and tells all hosts of the link (RFC 5227, section 2.3; RFC 4861, section 7.2.6).
    pub fn change_mac(&mut self, now_ns: i64, mac: Mac, out: &mut Vec<Frame>) {
        self.former.push((self.mac, now_ns));
        self.mac = mac;
        for address in self.addresses.clone() {
            out.extend(self.announcement(address.ip));
        }
    }

    /// Until when it had an Ethernet address.
    pub fn had_until_ns(&self, mac: Mac) -> Option<i64> {
        self.former.iter().find(|(former, _)| *former == mac).map(|&(_, until_ns)| until_ns)
    }

    /// Packets that waited for neighbours that never answered, since the last call.
    pub fn given_up(&mut self) -> Vec<Datagram> {
        std::mem::take(&mut self.neighbours.given_up)
    }

    fn frame(&self, dst: Mac, packet: Datagram) -> Frame {
        let ether_type = if packet.src.is_ipv4() { ether_type::IPV4 } else { ether_type::IPV6 };
        Frame { dst, src: self.mac, vlan: self.vlan, ether_type, payload: packet.to_bytes() }
    }
}
