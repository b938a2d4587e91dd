//! A packet as a summary sees it: its headers, as far as they are there.

use packet::{Anno, Packet};
use wire::{ethernet, ip_proto, ipv4, tcp};

/// Why a field has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// The packet is none that has it: no fault.
    Other,
    Ethernet,
    Ip,
    /// A transport header of this protocol with so many bytes.
    Transport(Protocol, usize),
}

/// Transport protocols that fields belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    Tcp,
    Udp,
    Icmp,
    TcpOrUdp,
}

impl Protocol {
    fn name(self) -> &'static str {
        match self {
            Protocol::Tcp => "TCP",
            Protocol::Udp => "UDP",
            Protocol::Icmp => "ICMP",
            Protocol::TcpOrUdp => "TCP/UDP",
        }
    }

    fn has(self, number: u8) -> bool {
        match self {
            Protocol::Tcp => number == ip_proto::TCP,
            Protocol::Udp => number == ip_proto::UDP,
            Protocol::Icmp => number == ip_proto::ICMP,
            Protocol::TcpOrUdp => matches!(number, ip_proto::TCP | ip_proto::UDP),
        }
    }
}

/// What the summary may take for other than the packet says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamp {
    pub(super) time_ns: i64,
    pub(super) extra_length: u64,
    pub(super) count: u64,
    /// The worker that writes.
    pub(super) worker: usize,
}

impl Stamp {
    pub(super) fn of(packet: &Packet, worker: usize) -> Stamp {
        Stamp {
            worker,
            time_ns: packet.timestamp_ns(),
            extra_length: packet.anno(Anno::EXTRA_LENGTH),
            count: 1 + packet.anno(Anno::EXTRA_PACKETS),
        }
    }
}

/// How to look at packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct ViewOptions {
    /// Whether a packet that is shorter than its header says is a bad one.
    pub(super) careful_trunc: bool,
    /// Whether lengths count what the annotation says was cut off.
    pub(super) extra_length: bool,
}

/// A packet's parts.
pub(super) struct View<'a> {
    pub(super) packet: &'a Packet,
    pub(super) stamp: Stamp,
    pub(super) options: ViewOptions,
    /// From the IPv4 header on, without what follows the IP packet. Missing if the header is no good.
    pub(super) ip: Option<&'a [u8]>,
    /// From the transport header on, likewise.
    transport: &'a [u8],
    bad_tcp: bool,
    /// Bytes that follow the IP packet.
    padding: usize,
    /// The first fault that was met.
    pub(super) fault: Option<String>,
}

impl<'a> View<'a> {
    pub(super) fn new(packet: &'a Packet, stamp: Stamp, options: ViewOptions) -> View<'a> {
        let mut view = View {
            packet,
            stamp,
            options,
            ip: None,
            transport: &[],
            bad_tcp: false,
            padding: 0,
            fault: None,
        };
        if let Some(network) = packet.network() {
            match view.find_ip(network) {
                Ok(ip) => view.find_transport(ip),
                Err(fault) => view.fault = Some(fault),
            }
        }
        view
    }

    /// Checks the IP header, and cuts off what follows the packet.
    fn find_ip(&mut self, network: &'a [u8]) -> Result<&'a [u8], String> {
        let [first, _, len_high, len_low, ..] = *network else {
            return Err("truncated IP header".to_owned());
        };
        let (header_words, len) = (first & 15, u16::from_be_bytes([len_high, len_low]));
        if first >> 4 != 4 {
            return Err(format!("IP version {}", first >> 4));
        }
        if header_words < 5 {
            return Err(format!("IP header length {header_words}"));
        }
        if len < u16::from(header_words) * 4 {
            return Err(format!("IP length {len}"));
        }
        let (have, whole) = (network.len(), usize::from(len));
        self.padding = have.saturating_sub(whole);
        let full = have as u64 + self.stamp.extra_length;
        if self.options.careful_trunc && full < whole as u64 {
            self.fault = Some(format!("truncated IP missing {}", whole as u64 - full));
        }
        // Lengths are those of the IP header from here on; only what it cannot say is extra.
        self.stamp.extra_length = if len == u16::MAX { full.saturating_sub(0xffff) } else { 0 };
        let ip = &network[..have - self.padding];
        self.ip = Some(ip);
        Ok(ip)
    }

    fn find_transport(&mut self, ip: &'a [u8]) {
        let header_len = usize::from(ip[0] & 15) * 4;
        self.transport = ip.get(header_len..).unwrap_or_default();
        let words = self.transport.get(12).map(|byte| byte >> 4);
        if let (Some(words @ 0..5), Some(ip_proto::TCP), true) = (words, self.protocol(), self.is_first()) {
            self.fault.get_or_insert(format!("TCP header length {words}"));
            self.bad_tcp = true;
        }
    }

    /// The protocol, if that much of the header is there.
    pub(super) fn protocol(&self) -> Option<u8> {
        self.ip?.get(9).copied()
    }

    /// Whether the packet is no later fragment.
    pub(super) fn is_first(&self) -> bool {
        self.ip.is_some_and(|ip| ip.get(6..8).is_some_and(|field| field[0] & 0x1f == 0 && field[1] == 0))
    }

    /// Bytes of data without what follows the IP packet.
    pub(super) fn len(&self) -> usize {
        self.packet.len() - self.padding.min(self.packet.len())
    }

    /// Some bytes of the IP header.
    pub(super) fn ip_bytes<const N: usize>(&self, at: usize) -> Result<[u8; N], Missing> {
        let bytes = self.ip.and_then(|ip| ip.get(at..)?.first_chunk());
        bytes.copied().ok_or(Missing::Ip)
    }

    /// The IP options.
    pub(super) fn ip_options(&self) -> Result<&'a [u8], Missing> {
        let ip = self.ip.ok_or(Missing::Ip)?;
        match usize::from(ip[0] & 15) * 4 {
            ipv4::HEADER_LEN => Ok(&[]),
            header_len => ip.get(ipv4::HEADER_LEN..header_len).ok_or(Missing::Ip),
        }
    }

    /// The transport header of a protocol.
    fn transport_of(&self, protocol: Protocol) -> Option<&'a [u8]> {
        let bad = protocol == Protocol::Tcp && self.bad_tcp;
        let has = self.protocol().is_some_and(|number| protocol.has(number)) && self.is_first();
        (has && !bad).then_some(self.transport)
    }

    /// Some bytes of a transport header.
    pub(super) fn transport_bytes<const N: usize>(
        &self,
        protocol: Protocol,
        at: usize,
    ) -> Result<[u8; N], Missing> {
        let bytes = self.transport_of(protocol).and_then(|transport| transport.get(at..)?.first_chunk());
        bytes.copied().ok_or(Missing::Transport(protocol, at + N))
    }

    /// TCP options. Where `common` says so, timestamps alone count as none.
    pub(super) fn tcp_options(&self, common: bool) -> Result<&'a [u8], Missing> {
        let missing = Missing::Transport(Protocol::Tcp, self.transport.len() + 1);
        let segment = self.transport_of(Protocol::Tcp).filter(|tcp| tcp.len() > 12).ok_or(missing)?;
        let header_len = usize::from(segment[12] >> 4) * 4;
        if header_len == tcp::HEADER_LEN
            || (common && header_len == 32 && segment.get(20..24) == Some(&[1, 1, 8, 10]))
        {
            return Ok(&[]);
        }
        segment.get(tcp::HEADER_LEN..header_len).ok_or(missing)
    }

    /// Ports: UDP-Lite and DCCP have them too.
    pub(super) fn port(&self, at: usize) -> Result<[u8; 2], Missing> {
        let has = matches!(self.protocol(), Some(ip_proto::TCP | ip_proto::UDP | ip_proto::DCCP | 136));
        let bytes = (has && self.is_first()).then(|| self.transport.get(at..)?.first_chunk()).flatten();
        bytes.copied().ok_or(Missing::Transport(Protocol::TcpOrUdp, at + 2))
    }

    /// The payload: as much as there is, and its whole length by the headers.
    pub(super) fn payload(&self) -> (&'a [u8], u64) {
        let Some(ip) = self.ip else { return (self.packet.data(), self.len() as u64) };
        let header_len = usize::from(ip[0] & 15) * 4;
        let transport = match self.protocol() {
            Some(ip_proto::TCP) if self.is_first() => {
                match self.transport.get(12).map(|byte| usize::from(byte >> 4) * 4) {
                    Some(words @ tcp::HEADER_LEN..) => words,
                    _ => tcp::HEADER_LEN,
                }
            }
            Some(ip_proto::UDP | 136) if self.is_first() => 8,
            _ => 0,
        };
        let whole = u64::from(u16::from_be_bytes([ip[2], ip[3]]));
        let len = whole.saturating_sub((header_len + transport) as u64);
        (self.transport.get(transport..).unwrap_or_default(), len)
    }

    /// The Ethernet header in front of the network header.
    pub(super) fn ethernet(&self) -> Result<&'a [u8; ethernet::HEADER_LEN], Missing> {
        let network = self.packet.network_offset();
        let mac = self.packet.mac_offset().or_else(|| network.is_none_or(|at| at > 0).then_some(0));
        let bytes =
            if self.packet.mac_offset().is_some() { self.packet.mac() } else { Some(self.packet.data()) };
        let end = network.unwrap_or(self.packet.len() as isize);
        let right = mac.is_some_and(|mac| mac + ethernet::HEADER_LEN as isize == end);
        bytes.filter(|_| right).and_then(<[u8]>::first_chunk).ok_or(Missing::Ethernet)
    }

    /// Notes the fault that a missing field is, unless another was met before.
    pub(super) fn miss(&mut self, missing: Missing) {
        if self.fault.is_none() {
            self.fault = self.fault_of(missing);
        }
    }

    fn fault_of(&self, missing: Missing) -> Option<String> {
        let (protocol, wanted) = match missing {
            Missing::Other => return None,
            Missing::Ethernet => return Some("Ethernet header".to_owned()),
            _ if self.ip.is_none() => return Some("no IP header".to_owned()),
            Missing::Ip => return Some("truncated IP header capture".to_owned()),
            Missing::Transport(protocol, wanted) => (protocol, wanted),
        };
        let name = protocol.name();
        if self.protocol().is_some_and(|number| !protocol.has(number)) {
            return None; // another protocol is no fault
        }
        Some(match self.transport.len() as u64 + self.stamp.extra_length >= wanted as u64 {
            _ if !self.is_first() => format!("fragmented {name} header"),
            true => format!("truncated {name} header capture"),
            false => format!("truncated {name} header"),
        })
    }
}
