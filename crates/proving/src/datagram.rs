//! Frames, IP packets and what is in them, as hosts write and read them.
//!
//! This is a second reading of the RFCs on purpose: an oracle that used the router's own `wire` would share its mistakes.
//! Everything that is read is checked, lengths and checksums included.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An Ethernet address.
pub type Mac = [u8; 6];

/// The broadcast address of Ethernet.
pub const BROADCAST: Mac = [0xff; 6];

/// The mark of a packet that met congestion (RFC 3168, section 5).
pub const CE: u8 = 3;

/// Ethernet types (IEEE 802).
pub mod ether_type {
    /// IPv4.
    pub const IPV4: u16 = 0x0800;
    /// ARP.
    pub const ARP: u16 = 0x0806;
    /// A VLAN tag (IEEE 802.1Q).
    pub const VLAN: u16 = 0x8100;
    /// IPv6.
    pub const IPV6: u16 = 0x86dd;
}

/// IP protocols (RFC 790 and its successors).
pub mod protocol {
    /// ICMP for IPv4.
    pub const ICMP: u8 = 1;
    /// TCP.
    pub const TCP: u8 = 6;
    /// UDP.
    pub const UDP: u8 = 17;
    /// The fragment header of IPv6.
    pub const FRAGMENT: u8 = 44;
    /// ICMP for IPv6.
    pub const ICMP6: u8 = 58;
}

/// An Ethernet frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// To whom.
    pub dst: Mac,
    /// From whom.
    pub src: Mac,
    /// The VLAN that its tag names, if it has one.
    pub vlan: Option<u16>,
    /// What is in it, see [`ether_type`].
    pub ether_type: u16,
    /// What is in it.
    pub payload: Vec<u8>,
}

impl Frame {
    /// The frame as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = [self.dst, self.src].concat();
        if let Some(vlan) = self.vlan {
            bytes.extend(ether_type::VLAN.to_be_bytes());
            bytes.extend(vlan.to_be_bytes());
        }
        bytes.extend(self.ether_type.to_be_bytes());
        bytes.extend(&self.payload);
        bytes
    }

    /// Reads a frame.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(bytes: &[u8]) -> Result<Frame, String> {
        let mac = |at: usize| bytes.get(at..at + 6).and_then(|mac| mac.try_into().ok());
        let (Some(dst), Some(src)) = (mac(0), mac(6)) else { return Err("a frame without a header".into()) };
        let (mut at, mut vlan) = (12, None);
        let mut ether_type = word(bytes, at)?;
        if ether_type == ether_type::VLAN {
            vlan = Some(word(bytes, 14)? & 0x0fff);
            at = 16;
            ether_type = word(bytes, at)?;
        }
        Ok(Frame { dst, src, vlan, ether_type, payload: bytes[at + 2..].to_vec() })
    }
}

/// Which part of a packet a fragment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// What the fragments of a packet have in common.
    pub id: u32,
    /// Where the part begins, in bytes.
    pub offset: usize,
    /// Whether more parts follow.
    pub more: bool,
}

/// An IPv4 or IPv6 packet without options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// The source.
    pub src: IpAddr,
    /// The destination, of the same family.
    pub dst: IpAddr,
    /// TTL, or hop limit.
    pub ttl: u8,
    /// The two bits of explicit congestion notification (RFC 3168, section 5).
    pub ecn: u8,
    /// What is in it, see [`protocol`].
    pub protocol: u8,
    /// The identification of an IPv4 packet that is no fragment yet (RFC 6864: routers may still cut it); 0 in IPv6.
    pub id: u16,
    /// Which part it is, if it is a fragment.
    pub fragment: Option<Fragment>,
    /// Whether routers may not cut it. Always so in IPv6.
    pub whole: bool,
    /// What is in it.
    pub payload: Vec<u8>,
}

impl Datagram {
    /// The packet as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        match (self.src, self.dst) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => self.to_bytes_v4(src, dst),
            (IpAddr::V6(src), IpAddr::V6(dst)) => self.to_bytes_v6(src, dst),
            _ => Vec::new(), // a packet has one family
        }
    }

    fn to_bytes_v4(&self, src: Ipv4Addr, dst: Ipv4Addr) -> Vec<u8> {
        let mut bytes = vec![0x45, self.ecn];
        bytes.extend((20 + self.payload.len() as u16).to_be_bytes());
        let (id, field) = match self.fragment {
            Some(part) => (part.id as u16, (part.offset / 8) as u16 | u16::from(part.more) << 13),
            None => (self.id, 0),
        };
        bytes.extend(id.to_be_bytes());
        bytes.extend((field | u16::from(self.whole) << 14).to_be_bytes());
        bytes.extend([self.ttl, self.protocol, 0, 0]);
        bytes.extend(src.octets());
        bytes.extend(dst.octets());
        let sum = checksum(&bytes);
        bytes[10..12].copy_from_slice(&sum.to_be_bytes());
        bytes.extend(&self.payload);
        bytes
    }

    fn to_bytes_v6(&self, src: Ipv6Addr, dst: Ipv6Addr) -> Vec<u8> {
        let mut rest = Vec::new();
        if let Some(part) = self.fragment {
            rest.extend([self.protocol, 0]);
            rest.extend((part.offset as u16 | u16::from(part.more)).to_be_bytes());
            rest.extend(part.id.to_be_bytes());
        }
        rest.extend(&self.payload);
        let next = if self.fragment.is_some() { protocol::FRAGMENT } else { self.protocol };
        let mut bytes = vec![0x60, self.ecn << 4, 0, 0];
        bytes.extend((rest.len() as u16).to_be_bytes());
        bytes.extend([next, self.ttl]);
        bytes.extend(src.octets());
        bytes.extend(dst.octets());
        bytes.extend(rest);
        bytes
    }

    /// Reads a packet. Bytes behind its end are padding.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(bytes: &[u8]) -> Result<Datagram, String> {
        match bytes.first().map(|first| first >> 4) {
            Some(4) => Datagram::parse_v4(bytes, true),
            Some(6) => Datagram::parse_v6(bytes, true),
            _ => Err("an IP packet of no known version".into()),
        }
    }

    /// Reads the packet that an ICMP error quotes: it may end before its end.
    ///
    /// # Errors
    /// What is wrong with its header.
    pub fn parse_quoted(bytes: &[u8]) -> Result<Datagram, String> {
        match bytes.first().map(|first| first >> 4) {
            Some(4) => Datagram::parse_v4(bytes, false),
            _ => Datagram::parse_v6(bytes, false),
        }
    }

    fn parse_v4(bytes: &[u8], all: bool) -> Result<Datagram, String> {
        let header_len = usize::from(bytes[0] & 15) * 4;
        let header = bytes.get(..header_len.max(20)).ok_or("an IPv4 packet without a whole header")?;
        if checksum(header) != 0 {
            return Err("an IPv4 header with a wrong checksum".into());
        }
        let end = usize::from(word(bytes, 2)?);
        if end < header_len || all && end > bytes.len() {
            return Err(format!("an IPv4 packet of {} bytes that claims {end}", bytes.len()));
        }
        let (id, field) = (u32::from(word(bytes, 4)?), word(bytes, 6)?);
        let part = Fragment { id, offset: usize::from(field & 0x1fff) * 8, more: field & 0x2000 != 0 };
        let address =
            |at: usize| Ipv4Addr::new(header[at], header[at + 1], header[at + 2], header[at + 3]).into();
        Ok(Datagram {
            src: address(12),
            dst: address(16),
            ttl: header[8],
            ecn: header[1] & 3,
            protocol: header[9],
            id: if part.offset > 0 || part.more { 0 } else { part.id as u16 },
            fragment: (part.offset > 0 || part.more).then_some(part),
            whole: field & 0x4000 != 0,
            payload: bytes[header_len..end.min(bytes.len())].to_vec(),
        })
    }

    fn parse_v6(bytes: &[u8], all: bool) -> Result<Datagram, String> {
        let header = bytes.get(..40).ok_or("an IPv6 packet without a whole header")?;
        let end = 40 + usize::from(word(bytes, 4)?);
        if all && end > bytes.len() {
            return Err(format!("an IPv6 packet of {} bytes that claims {end}", bytes.len()));
        }
        let address = |at: usize| {
            let octets: [u8; 16] = header[at..at + 16].try_into().unwrap_or_default();
            Ipv6Addr::from(octets).into()
        };
        let (mut protocol, mut fragment, mut at) = (header[6], None, 40);
        if protocol == protocol::FRAGMENT {
            let field = word(bytes, 42)?;
            let id = u32::from(word(bytes, 44)?) << 16 | u32::from(word(bytes, 46)?);
            fragment = Some(Fragment { id, offset: usize::from(field & 0xfff8), more: field & 1 != 0 });
            (protocol, at) = (bytes[40], 48);
        }
        let payload = bytes[at..end.clamp(at, bytes.len().max(at))].to_vec();
        Ok(Datagram {
            src: address(8),
            dst: address(24),
            ttl: header[7],
            ecn: header[1] >> 4 & 3,
            protocol,
            id: 0,
            fragment,
            whole: true,
            payload,
        })
    }

    /// The packet in parts that fit into so many bytes each; itself if it fits. The identification is the sender's next.
    pub fn cut(mut self, mtu: usize, id: u32) -> Vec<Datagram> {
        let header = if self.src.is_ipv4() { 20 } else { 40 };
        if header + self.payload.len() <= mtu {
            self.id = if self.src.is_ipv4() { id as u16 } else { 0 };
            return vec![self];
        }
        let header = if self.src.is_ipv4() { 20 } else { 48 };
        let each = (mtu - header) / 8 * 8;
        let parts = self.payload.chunks(each).enumerate().map(|(number, payload)| {
            let offset = number * each;
            let fragment = Some(Fragment { id, offset, more: offset + payload.len() < self.payload.len() });
            Datagram { fragment, id: 0, payload: payload.to_vec(), ..self }
        });
        parts.collect()
    }
}

/// What an IP packet carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    /// A UDP datagram.
    Udp {
        /// Source and destination port.
        ports: [u16; 2],
        /// What it carries.
        data: Vec<u8>,
    },
    /// A TCP segment.
    Tcp {
        /// Source and destination port.
        ports: [u16; 2],
        /// The sequence number of its first byte.
        sequence: u32,
        /// The next byte that its sender expects.
        acknowledges: u32,
        /// The flags, see [`tcp_flags`].
        flags: u8,
        /// What it carries.
        data: Vec<u8>,
    },
    /// An ICMP echo request or reply.
    Echo {
        /// Whether it is a reply.
        reply: bool,
        /// The identifier.
        id: u16,
        /// The sequence number.
        sequence: u16,
        /// What it carries.
        data: Vec<u8>,
    },
    /// Any other ICMP message.
    Icmp {
        /// The type.
        kind: u8,
        /// The code.
        code: u8,
        /// What follows the checksum: four bytes that depend on the type, and the rest.
        rest: Vec<u8>,
    },
}

/// Flags of TCP (RFC 9293, section 3.1).
pub mod tcp_flags {
    /// No more data.
    pub const FIN: u8 = 1;
    /// Synchronize.
    pub const SYN: u8 = 2;
    /// The acknowledgement number counts.
    pub const ACK: u8 = 16;
}

impl Segment {
    /// The IP protocol that carries it, between addresses of the same family as this one.
    pub fn protocol(&self, address: IpAddr) -> u8 {
        match self {
            Segment::Udp { .. } => protocol::UDP,
            Segment::Tcp { .. } => protocol::TCP,
            _ if address.is_ipv4() => protocol::ICMP,
            _ => protocol::ICMP6,
        }
    }

    /// The segment as bytes, between two addresses.
    pub fn to_bytes(&self, src: IpAddr, dst: IpAddr) -> Vec<u8> {
        let mut bytes = Vec::new();
        let at = match self {
            Segment::Udp { ports, data } => {
                ports.iter().for_each(|port| bytes.extend(port.to_be_bytes()));
                bytes.extend((8 + data.len() as u16).to_be_bytes());
                bytes.extend([0, 0]);
                bytes.extend(data);
                6
            }
            Segment::Tcp { ports, sequence, acknowledges, flags, data } => {
                ports.iter().for_each(|port| bytes.extend(port.to_be_bytes()));
                bytes.extend(sequence.to_be_bytes());
                bytes.extend(acknowledges.to_be_bytes());
                bytes.extend([0x50, *flags, 0xff, 0xff, 0, 0, 0, 0]);
                bytes.extend(data);
                16
            }
            Segment::Echo { reply, id, sequence, data } => {
                bytes.extend([echo_kind(src, *reply), 0, 0, 0]);
                bytes.extend(id.to_be_bytes());
                bytes.extend(sequence.to_be_bytes());
                bytes.extend(data);
                2
            }
            Segment::Icmp { kind, code, rest } => {
                bytes.extend([*kind, *code, 0, 0]);
                bytes.extend(rest);
                2
            }
        };
        let sum = match checksum(&[pseudo(src, dst, self.protocol(src), bytes.len()), bytes.clone()].concat())
        {
            0 if matches!(self, Segment::Udp { .. }) => 0xffff,
            sum => sum,
        };
        bytes[at..at + 2].copy_from_slice(&sum.to_be_bytes());
        bytes
    }

    /// Reads what a whole packet carries, and checks its checksum.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(packet: &Datagram) -> Result<Segment, String> {
        let bytes = &packet.payload;
        let sum =
            checksum(&[pseudo(packet.src, packet.dst, packet.protocol, bytes.len()), bytes.clone()].concat());
        let unsummed = packet.protocol == protocol::UDP && packet.src.is_ipv4() && word(bytes, 6)? == 0;
        if sum != 0 && !unsummed {
            return Err(format!("a wrong checksum in protocol {}", packet.protocol));
        }
        if packet.protocol == protocol::UDP && usize::from(word(bytes, 4)?) != bytes.len() {
            return Err("a UDP datagram of another length than its packet".into());
        }
        Segment::parse_quoted(packet)
    }

    /// Reads what a packet carries that an ICMP error quotes.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse_quoted(packet: &Datagram) -> Result<Segment, String> {
        let bytes = &packet.payload;
        let long = |at: usize| {
            Ok::<u32, String>(u32::from(word(bytes, at)?) << 16 | u32::from(word(bytes, at + 2)?))
        };
        match packet.protocol {
            protocol::UDP => {
                let ports = [word(bytes, 0)?, word(bytes, 2)?];
                Ok(Segment::Udp { ports, data: bytes.get(8..).unwrap_or_default().to_vec() })
            }
            protocol::TCP => Ok(Segment::Tcp {
                ports: [word(bytes, 0)?, word(bytes, 2)?],
                sequence: long(4)?,
                acknowledges: long(8)?,
                flags: (word(bytes, 12)? & 0xff) as u8,
                data: bytes.get(usize::from(bytes[12] >> 4) * 4..).unwrap_or_default().to_vec(),
            }),
            protocol::ICMP | protocol::ICMP6 => {
                let [kind, code] = word(bytes, 0)?.to_be_bytes();
                let reply = kind == echo_kind(packet.src, true);
                if !reply && kind != echo_kind(packet.src, false) {
                    return Ok(Segment::Icmp {
                        kind,
                        code,
                        rest: bytes.get(4..).unwrap_or_default().to_vec(),
                    });
                }
                let data = bytes.get(8..).unwrap_or_default().to_vec();
                Ok(Segment::Echo { reply, id: word(bytes, 4)?, sequence: word(bytes, 6)?, data })
            }
            other => Err(format!("a packet of protocol {other}")),
        }
    }

    /// What it carries for the layer above; empty for other ICMP messages.
    pub fn data(&self) -> &[u8] {
        match self {
            Segment::Udp { data, .. } | Segment::Tcp { data, .. } | Segment::Echo { data, .. } => data,
            Segment::Icmp { .. } => &[],
        }
    }

    /// Its ports; an echo has its identifier in the place of both.
    pub fn ports(&self) -> [u16; 2] {
        match self {
            Segment::Udp { ports, .. } | Segment::Tcp { ports, .. } => *ports,
            Segment::Echo { id, .. } => [*id; 2],
            Segment::Icmp { .. } => [0; 2],
        }
    }
}

fn echo_kind(address: IpAddr, reply: bool) -> u8 {
    match (address.is_ipv4(), reply) {
        (true, false) => 8,
        (true, true) => 0,
        (false, false) => 128,
        (false, true) => 129,
    }
}

/// The big-endian word at an offset.
///
/// # Errors
/// That the bytes end before.
pub fn word(bytes: &[u8], at: usize) -> Result<u16, String> {
    let found = bytes.get(at..at + 2).and_then(|word| word.try_into().ok());
    found.map(u16::from_be_bytes).ok_or_else(|| format!("{} bytes end within a header", bytes.len()))
}

/// The pseudo-header of RFC 793 and RFC 8200, section 8.1; nothing for ICMP, which has none.
fn pseudo(src: IpAddr, dst: IpAddr, protocol: u8, len: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    match (src, dst) {
        _ if protocol == protocol::ICMP => return bytes,
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            bytes.extend([src.octets(), dst.octets()].concat());
            bytes.extend([0, protocol]);
            bytes.extend((len as u16).to_be_bytes());
        }
        (IpAddr::V6(src), IpAddr::V6(dst)) => {
            bytes.extend([src.octets(), dst.octets()].concat());
            bytes.extend((len as u32).to_be_bytes());
            bytes.extend([0, 0, 0, protocol]);
        }
        _ => {}
    }
    bytes
}

/// The Internet checksum (RFC 1071), word by word; 0 over bytes that include a right one.
pub fn checksum(bytes: &[u8]) -> u16 {
    let words =
        bytes.chunks(2).map(|pair| u64::from(pair[0]) << 8 | pair.get(1).map_or(0, |&low| u64::from(low)));
    let mut sum: u64 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packets() -> Vec<Datagram> {
        let pairs: [[IpAddr; 2]; 2] = [
            ["10.0.1.2", "10.0.2.2"].map(|text| text.parse().unwrap()),
            ["2001:db8:1::2", "2001:db8:2::2"].map(|text| text.parse().unwrap()),
        ];
        let data = (0..=200).collect::<Vec<u8>>();
        let segments = [
            Segment::Udp { ports: [1000, 53], data: data.clone() },
            Segment::Tcp {
                ports: [1, 2],
                sequence: 7,
                acknowledges: 1 << 31,
                flags: tcp_flags::SYN,
                data: data.clone(),
            },
            Segment::Echo { reply: true, id: 3, sequence: 4, data },
        ];
        let packet = |[src, dst]: [IpAddr; 2], segment: &Segment| {
            let (protocol, payload) = (segment.protocol(src), segment.to_bytes(src, dst));
            Datagram {
                src,
                dst,
                ttl: 9,
                ecn: 2,
                protocol,
                id: 0,
                fragment: None,
                whole: src.is_ipv6(),
                payload,
            }
        };
        pairs.iter().flat_map(|&pair| segments.iter().map(move |segment| packet(pair, segment))).collect()
    }

    #[test]
    fn packets_come_back() {
        for packet in packets() {
            let bytes = packet.to_bytes();
            assert_eq!(Datagram::parse(&bytes), Ok(packet.clone()));
            let segment = Segment::parse(&packet).unwrap();
            assert_eq!(segment.to_bytes(packet.src, packet.dst), packet.payload);
        }
    }

    #[test]
    fn any_changed_byte_shows() {
        for packet in packets() {
            let bytes = packet.to_bytes();
            // Of IPv6's header nothing but addresses and lengths is under a checksum; TTL is not, on purpose.
            let first = if packet.src.is_ipv4() { 0 } else { 8 };
            for at in first..bytes.len() {
                let mut bytes = bytes.clone();
                bytes[at] ^= 0x10;
                let found = Datagram::parse(&bytes).and_then(|packet| Segment::parse(&packet));
                assert!(found.is_err(), "byte {at} of {packet:?}");
            }
        }
    }

    #[test]
    fn parts_fit_and_are_the_whole() {
        for packet in packets() {
            let parts = packet.clone().cut(100, 5);
            assert!(parts.len() > 2 && parts.iter().all(|part| part.to_bytes().len() <= 100));
            let all: Vec<u8> = parts.iter().flat_map(|part| part.payload.clone()).collect();
            assert_eq!(all, packet.payload);
            for part in parts {
                assert_eq!(Datagram::parse(&part.to_bytes()), Ok(part));
            }
        }
    }
}
