//! What a packet says by itself: which connection it belongs to, and what it does there.

use super::state::Signal;
use packet::Packet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use wire::tcp::{self, flag};
use wire::{icmpv4, icmpv6, ip_proto, ipv4, ipv6};

use elements_shared::keyed_hash::HashKey;

/// UDP-Lite, whose header begins like UDP's.
const UDP_LITE: u8 = 136;

/// What a connection is found by: its two ends, whichever sends, the lower one first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    /// Addresses; those of IPv4 are in the last 32 bits.
    pub(super) low: u128,
    pub(super) high: u128,
    /// The ports, the lower end's in the upper half; of ICMP, the identifier in both.
    pub(super) ports: u32,
    /// The protocol, the version of IP from bit 8 on, and of ICMP, from bit 16 on, what kind of question it is and who asks.
    pub(super) kind: u32,
}

impl Key {
    /// The key of packets from one end to another, and whether the higher one of the two sends them.
    #[inline]
    pub(super) fn new(kind: u32, from: (u128, u16), to: (u128, u16)) -> (Key, bool) {
        let from_high = from > to;
        let (low, high) = if from_high { (to, from) } else { (from, to) };
        let ports = u32::from(low.1) << 16 | u32::from(high.1);
        (Key { low: low.0, high: high.0, ports, kind }, from_high)
    }

    /// The protocol.
    #[inline]
    pub(super) fn protocol(self) -> u8 {
        self.kind as u8
    }

    /// The version of IP.
    pub(super) fn version(self) -> u8 {
        (self.kind >> 8) as u8
    }

    /// Address and port of the higher end, or of the lower one.
    pub(super) fn end(self, high: bool) -> (IpAddr, u16) {
        let (address, port) =
            if high { (self.high, self.ports as u16) } else { (self.low, (self.ports >> 16) as u16) };
        let address = match self.version() {
            4 => IpAddr::V4(Ipv4Addr::from_bits(address as u32)),
            _ => IpAddr::V6(Ipv6Addr::from_bits(address)),
        };
        (address, port)
    }

    /// A hash of which strangers cannot tell which connections meet.
    #[inline]
    pub(super) fn hash(self, key: &HashKey) -> u64 {
        let rest = u64::from(self.kind) << 32 | u64::from(self.ports);
        if self.version() == 4 {
            return key.hash([(self.low as u64) << 32 | self.high as u64, rest]);
        }
        let [low, high] = [self.low, self.high].map(|address| [(address >> 64) as u64, address as u64]);
        key.hash([low[0], low[1], high[0], high[1], rest])
    }
}

/// What of a TCP segment moves a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) sequence: u32,
    pub(super) acknowledgement: u32,
    /// Bytes of data.
    pub(super) len: u32,
    pub(super) window: u16,
    pub(super) flags: u8,
    /// The window scale that a SYN offers.
    pub(super) scale: Option<u8>,
    /// Whether it goes on in later fragments, so that it has more data than is seen here.
    pub(super) is_cut: bool,
}

impl Segment {
    #[inline]
    pub(super) fn is_syn(&self) -> bool {
        self.flags & flag::SYN != 0
    }

    #[inline]
    pub(super) fn is_reset(&self) -> bool {
        self.flags & flag::RST != 0
    }

    #[inline]
    pub(super) fn has_ack(&self) -> bool {
        self.flags & flag::ACK != 0
    }

    /// The number behind it, or behind the part of it that is seen: SYN and FIN take one each.
    #[inline]
    pub(super) fn end(&self) -> u32 {
        let marks = u32::from(self.is_syn()) + u32::from(self.flags & flag::FIN != 0);
        self.sequence.wrapping_add(self.len).wrapping_add(marks)
    }
}

/// What a packet does in its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Tcp(Signal, Segment),
    /// An answer of ICMP, which begins nothing.
    Answer,
    /// A question of ICMP.
    Question,
    /// A packet of another protocol.
    Datagram,
}

/// Why a packet cannot belong to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum Fault {
    /// It ends within a header, or a header says the impossible.
    Malformed,
    /// Its TCP flags contradict each other.
    Flags,
    /// It belongs to no known connection, and begins none.
    Unknown,
    /// Its TCP flags do not fit the connection's state.
    State,
    /// Its TCP numbers are outside the window.
    Window,
    /// It is an ICMP error about a packet that no known connection has sent.
    Error,
}

impl Fault {
    pub(super) const ALL: [Fault; 6] =
        [Fault::Malformed, Fault::Flags, Fault::Unknown, Fault::State, Fault::Window, Fault::Error];

    /// How it is counted.
    pub(super) fn name(self) -> &'static str {
        match self {
            Fault::Malformed => "invalid: malformed",
            Fault::Flags => "invalid: impossible TCP flags",
            Fault::Unknown => "invalid: no such connection",
            Fault::State => "invalid: TCP state",
            Fault::Window => "invalid: outside the TCP window",
            Fault::Error => "invalid: error about an unknown connection",
        }
    }
}

/// What a packet says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sight {
    /// It belongs to this connection; whether its higher end sends it, and what it does.
    Of(Key, bool, Act),
    /// It is an ICMP error to the sender of a packet of this connection.
    Error(Key),
    /// It is of a kind that has no connections.
    Untracked,
    Invalid(Fault),
}

/// An IP packet, as far as it matters here.
struct Ip<'p> {
    version: u8,
    protocol: u8,
    source: u128,
    destination: u128,
    /// False for later fragments, which do not begin with a transport header.
    is_first: bool,
    /// Whether fragments follow.
    is_cut: bool,
    transport: &'p [u8],
    /// Bytes from there on, as the IP header says.
    len: u32,
}

impl<'p> Ip<'p> {
    #[inline]
    fn new(network: &'p [u8]) -> Option<Ip<'p>> {
        match network.first()? >> 4 {
            4 => {
                let ip = ipv4::Header::new_checked(network).ok()?;
                let header_len = ip.header_len();
                let transport = network.get(header_len..).filter(|_| header_len >= ipv4::HEADER_LEN)?;
                Some(Ip {
                    version: 4,
                    protocol: ip.protocol(),
                    source: ip.src().to_bits().into(),
                    destination: ip.dst().to_bits().into(),
                    is_first: ip.is_first_fragment(),
                    is_cut: ip.more_fragments(),
                    transport,
                    len: u32::from(ip.total_len()).saturating_sub(header_len as u32),
                })
            }
            6 => {
                let ip = ipv6::Header::new_checked(network).ok()?;
                let upper = ipv6::upper_layer(network).ok()?;
                let payload = u32::from(ip.payload_len()) + ipv6::HEADER_LEN as u32;
                let fragment = upper.fragment.and_then(|at| ipv6::Fragment::new_checked(&network[at..]).ok());
                Some(Ip {
                    version: 6,
                    protocol: upper.protocol,
                    source: ip.src().to_bits(),
                    destination: ip.dst().to_bits(),
                    is_first: upper.first_fragment,
                    is_cut: fragment.is_some_and(|fragment| fragment.more_fragments()),
                    transport: network.get(upper.offset..)?,
                    len: payload.saturating_sub(upper.offset as u32),
                })
            }
            _ => None,
        }
    }

    #[inline]
    fn key(&self, class: u32, ports: [u16; 2]) -> (Key, bool) {
        let kind = u32::from(self.protocol) | u32::from(self.version) << 8 | class << 16;
        Key::new(kind, (self.source, ports[0]), (self.destination, ports[1]))
    }

    /// Source and destination port.
    #[inline]
    fn ports(&self) -> Option<[u16; 2]> {
        self.transport
            .first_chunk()
            .map(|&[a, b, c, d]| [u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])])
    }

    /// The class of a question of ICMP, from 1 on, its identifier, and whether it is an answer.
    fn question(&self) -> Option<(u32, u16, bool)> {
        let icmp = icmpv4::Header::new_checked(self.transport).ok()?;
        let (class, is_answer) = if self.version == 4 {
            match icmp.kind() {
                icmpv4::kind::ECHO => (1, false),
                icmpv4::kind::ECHO_REPLY => (1, true),
                icmpv4::kind::TIMESTAMP => (2, false),
                icmpv4::kind::TIMESTAMP_REPLY => (2, true),
                icmpv4::kind::INFORMATION_REQUEST => (3, false),
                icmpv4::kind::INFORMATION_REPLY => (3, true),
                icmpv4::kind::MASK_REQUEST => (4, false),
                icmpv4::kind::MASK_REPLY => (4, true),
                _ => return None,
            }
        } else {
            match icmp.kind() {
                icmpv6::kind::ECHO => (1, false),
                icmpv6::kind::ECHO_REPLY => (1, true),
                _ => return None,
            }
        };
        Some((class, icmp.id(), is_answer))
    }

    /// Who asks makes a difference: two hosts may ask each other with the same identifier.
    fn question_key(&self, class: u32, id: u16, is_answer: bool) -> (Key, bool) {
        let (key, from_high) = self.key(class, [id; 2]);
        let asked_by_high = from_high != is_answer;
        (Key { kind: key.kind | u32::from(asked_by_high) << 24, ..key }, from_high)
    }

    fn is_icmp(&self) -> bool {
        matches!((self.version, self.protocol), (4, ip_proto::ICMP) | (6, ip_proto::ICMPV6))
    }

    /// What an ICMP error says, if this is one.
    fn error(&self) -> Option<Sight> {
        let kind = *self.transport.first()?;
        let is_error = match self.version {
            4 => icmpv4::is_error(kind),
            _ => kind < icmpv6::kind::ECHO,
        };
        let quoted = || {
            let inner = Ip::new(self.transport.get(icmpv4::HEADER_LEN..)?)?;
            // The error goes to who has sent the packet that it is about.
            let is_to_sender = inner.version == self.version && inner.source == self.destination;
            let key = inner.quoted_key().filter(|_| is_to_sender && inner.is_first)?;
            Some(Sight::Error(key))
        };
        is_error.then(|| quoted().unwrap_or(Sight::Invalid(Fault::Error)))
    }

    /// The connection of a packet that may be cut off behind its first eight bytes of transport.
    fn quoted_key(&self) -> Option<Key> {
        let key = match self.protocol {
            _ if self.is_icmp() => {
                let (class, id, is_answer) = self.question()?;
                self.question_key(class, id, is_answer)
            }
            protocol if has_ports(protocol) => self.key(0, self.ports()?),
            _ => self.key(0, [0; 2]),
        };
        Some(key.0)
    }

    #[inline]
    fn sight(&self) -> Sight {
        if !self.is_first {
            return Sight::Untracked;
        }
        if self.protocol == ip_proto::TCP {
            return self.segment();
        }
        if self.is_icmp() {
            return self.icmp();
        }
        let ports = if has_ports(self.protocol) { self.ports() } else { Some([0; 2]) };
        let Some(ports) = ports else { return Sight::Invalid(Fault::Malformed) };
        let (key, from_high) = self.key(0, ports);
        Sight::Of(key, from_high, Act::Datagram)
    }

    fn icmp(&self) -> Sight {
        if self.transport.len() < icmpv4::HEADER_LEN {
            return Sight::Invalid(Fault::Malformed);
        }
        if let Some(error) = self.error() {
            return error;
        }
        // Neighbours, routers and groups have no connections.
        let Some((class, id, is_answer)) = self.question() else { return Sight::Untracked };
        let (key, from_high) = self.question_key(class, id, is_answer);
        Sight::Of(key, from_high, if is_answer { Act::Answer } else { Act::Question })
    }

    #[inline]
    fn segment(&self) -> Sight {
        let Ok(tcp) = tcp::Header::new_checked(self.transport) else {
            return Sight::Invalid(Fault::Malformed);
        };
        let header_len = tcp.header_len();
        if header_len < tcp::HEADER_LEN || header_len as u32 > self.len {
            return Sight::Invalid(Fault::Malformed);
        }
        let flags = tcp.flags();
        let Some(signal) = Signal::of(flags) else { return Sight::Invalid(Fault::Flags) };
        let scale = if flags & flag::SYN != 0 { window_scale(self.transport) } else { None };
        let segment = Segment {
            sequence: tcp.sequence(),
            acknowledgement: tcp.acknowledgement(),
            len: self.len - header_len as u32,
            window: tcp.window(),
            flags,
            scale,
            is_cut: self.is_cut,
        };
        let (key, from_high) = self.key(0, [tcp.src_port(), tcp.dst_port()]);
        Sight::Of(key, from_high, Act::Tcp(signal, segment))
    }
}

/// Reads what most packets are, with a single look at their length: IPv4 without options and no fragment, with UDP, or with TCP without
/// options that begins no connection.
#[inline]
fn usual(packet: &Packet) -> Option<Sight> {
    const TCP: usize = ipv4::HEADER_LEN;
    const ENDS: usize = TCP + tcp::HEADER_LEN;
    let (bytes, len) = packet.wide_network::<ENDS>(TCP as u32 + 4)?;
    let ip = ipv4::Header::new_checked(&bytes[..]).ok()?;
    if bytes[0] != 0x45 || ip.is_fragment() {
        return None;
    }
    let tcp = tcp::Header::new_checked(&bytes[TCP..]).ok()?;
    let act = match ip.protocol() {
        ip_proto::UDP => Act::Datagram,
        ip_proto::TCP => {
            let data = u32::from(ip.total_len()).checked_sub(ENDS as u32);
            let flags = tcp.flags();
            let is_usual = len >= ENDS && tcp.header_len() == tcp::HEADER_LEN && flags & flag::SYN == 0;
            let segment = Segment {
                sequence: tcp.sequence(),
                acknowledgement: tcp.acknowledgement(),
                len: data.filter(|_| is_usual)?,
                window: tcp.window(),
                flags,
                scale: None,
                is_cut: false,
            };
            Act::Tcp(Signal::of(flags)?, segment)
        }
        _ => return None,
    };
    // UDP's ports lie where TCP's do.
    let kind = u32::from(ip.protocol()) | 4 << 8;
    let from = (u128::from(ip.src().to_bits()), tcp.src_port());
    let (key, from_high) = Key::new(kind, from, (ip.dst().to_bits().into(), tcp.dst_port()));
    Some(Sight::Of(key, from_high, act))
}

fn has_ports(protocol: u8) -> bool {
    matches!(protocol, ip_proto::TCP | ip_proto::UDP | ip_proto::DCCP | ip_proto::SCTP | UDP_LITE)
}

/// The window scale option.
fn window_scale(transport: &[u8]) -> Option<u8> {
    let mut options = tcp::options(transport).ok()?.flatten();
    options
        .find(|option| option.kind == tcp::option::WINDOW_SCALE)
        .and_then(|option| option.data.first().copied())
}

impl Sight {
    /// Whether it is a segment of TCP.
    #[inline]
    pub(super) fn is_tcp(&self) -> bool {
        matches!(self, Sight::Of(_, _, Act::Tcp(..)))
    }

    /// What a packet with a marked network header says.
    #[inline]
    pub(super) fn of(packet: &Packet) -> Sight {
        usual(packet).unwrap_or_else(|| Sight::of_any(packet))
    }

    /// The same field by field.
    #[inline(never)]
    fn of_any(packet: &Packet) -> Sight {
        let ip = packet.network().and_then(Ip::new);
        ip.map_or(Sight::Invalid(Fault::Malformed), |ip| ip.sight())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elements_testing::ip6_samples;
    use packet::Pool;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        /// What is read in one look is what a look at each field reads, however short a packet is and whatever its buffer has behind it.
        #[test]
        fn as_field_by_field(
            mut data in prop::collection::vec(any::<u8>(), 20..70), protocol in 0usize..4, total in 18u16..60, flags in 0u8..32, offset: bool,
            fragment in prop::sample::select(vec![0u16, 0, 0, 0x4000, 0x2000, 1]), v6 in ip6_samples::hostile(),
        ) {
            data[0] = 0x45;
            data[2..4].copy_from_slice(&total.to_be_bytes());
            data[6..8].copy_from_slice(&fragment.to_be_bytes());
            data[9] = [6, 6, 17, data[9]][protocol];
            if let Some(place) = data.get_mut(32).filter(|_| offset) {
                *place = 0x50;
            }
            if let Some(place) = data.get_mut(33) {
                *place = flags;
            }
            for bytes in v6.into_iter().chain([data]).filter(|bytes| !bytes.is_empty()) {
                let mut packet = Pool::new().packet(&[&bytes[..], &[0xff; 80]].concat()).unwrap();
                prop_assert!(packet.take(80));
                packet.set_network_alone(0);
                prop_assert_eq!(Sight::of(&packet), Sight::of_any(&packet));
            }
        }

        /// Most packets are usual.
        #[test]
        fn usual_packets(ends: [u8; 8], ports: [u8; 4], numbers: [u8; 8]) {
            let ip = [&[0x45, 0, 0, 60, 0, 0, 0x40, 0, 64, 6, 0, 0][..], &ends, &ports, &numbers, &[0x50, 0x10], &[1; 26]].concat();
            for protocol in [6, 17] {
                let mut packet = Pool::new().packet(&ip).unwrap();
                packet.data_mut()[9] = protocol;
                packet.set_network_alone(0);
                prop_assert!(usual(&packet).is_some());
            }
        }
    }
}
