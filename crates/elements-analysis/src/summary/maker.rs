//! Builds packets from the values of a summary.

use super::form::Value;
use packet::{Anno, Packet};
use router::Cx;
use std::net::Ipv4Addr;
use wire::{ethernet, icmpv4, ip_proto, ipv4, tcp, udp};

/// A flow that packets belong to unless the summary says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FlowId {
    pub(super) src: Ipv4Addr,
    pub(super) dst: Ipv4Addr,
    pub(super) ports: (u16, u16),
}

impl FlowId {
    /// Reads source, port, destination and port; `-` stands for 0.
    pub(super) fn parse(words: [&str; 4]) -> Option<FlowId> {
        let address = |word: &str| if word == "-" { Some(Ipv4Addr::UNSPECIFIED) } else { word.parse().ok() };
        let number = |word: &str| router::parse_integer(word).and_then(|port| port.try_into().ok());
        let port = |word: &str| if word == "-" { Some(0) } else { number(word) };
        let [src, sport, dst, dport] = words;
        Some(FlowId { src: address(src)?, dst: address(dst)?, ports: (port(sport)?, port(dport)?) })
    }

    /// The other direction.
    pub(super) fn reversed(self) -> FlowId {
        FlowId { src: self.dst, dst: self.src, ports: (self.ports.1, self.ports.0) }
    }
}

/// What packets have that the summary does not say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Defaults {
    pub(super) protocol: u8,
    pub(super) flow: Option<FlowId>,
    pub(super) aggregate: Option<u32>,
    pub(super) checksum: bool,
}

/// Annotations of the packet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Notes {
    pub(super) time_ns: i64,
    pub(super) first_time_ns: i64,
    pub(super) extra_packets: u64,
    pub(super) paint: u8,
    pub(super) aggregate: u64,
    pub(super) extra_length: u64,
    /// Packet number and sequence number, in the place of the first time.
    pub(super) numbers: Option<(u32, u32)>,
}

/// How long the packet is to be by its summary.
#[derive(Clone, Copy, Debug)]
enum Wanted {
    /// From the IP header on.
    Ip(u64),
    /// All of it.
    Wire(u64),
}

/// A packet that is being built.
#[derive(Clone, Debug)]
pub(super) struct Maker {
    pub(super) defaults: Defaults,
    pub(super) notes: Notes,
    ethernet: Option<[u8; ethernet::HEADER_LEN]>,
    /// From the IP header on.
    data: Vec<u8>,
    is_ip: bool,
    /// Whether only TCP and UDP packets get a transport header.
    pub(super) bare: bool,
    pub(super) icmp_type: Option<u8>,
    icmp_code: Option<u8>,
    /// Whether the summary tells how long the IP header is.
    knows_ip_header: bool,
    has_tcp_options: bool,
    wanted: Option<Wanted>,
}

const TTL: u8 = 100;
const UDP_LITE: u8 = 136;
/// Bytes of ICMP's messages about time.
const TIMESTAMP_LEN: usize = 20;
/// Bytes of options in a header, at most.
const OPTIONS_MAX: usize = 40;
/// No packet is made longer.
const LENGTH_MAX: usize = 0xffff;

impl Maker {
    pub(super) fn new(defaults: Defaults) -> Maker {
        let notes = Notes { aggregate: defaults.aggregate.map_or(0, u64::from), ..Notes::default() };
        Maker {
            defaults,
            notes,
            ethernet: None,
            data: Vec::new(),
            is_ip: true,
            bare: false,
            icmp_type: None,
            icmp_code: None,
            knows_ip_header: false,
            has_tcp_options: false,
            wanted: None,
        }
    }

    /// The flow that the packet belongs to unless the summary says otherwise, as it is in the packet's direction.
    fn flow(&self) -> Option<FlowId> {
        let flow = self.defaults.flow?;
        Some(if self.notes.paint & 1 == 1 { flow.reversed() } else { flow })
    }

    /// Makes sure that there is an IP header; false if there cannot be one, or if it is of another protocol.
    fn make_ip(&mut self, protocol: u8) -> bool {
        if !self.is_ip {
            return false;
        }
        if self.data.len() < ipv4::HEADER_LEN {
            let flow = self.flow();
            self.data.resize(ipv4::HEADER_LEN, 0);
            let Ok(mut ip) = ipv4::Header::new_checked_mut(&mut self.data) else { return false };
            ip.set_version_and_header_len(ipv4::HEADER_LEN);
            ip.set_protocol(self.defaults.protocol);
            ip.set_ttl(TTL);
            if let Some(flow) = flow {
                ip.set_src(flow.src);
                ip.set_dst(flow.dst);
            }
        }
        protocol == 0 || self.protocol() == 0 || self.protocol() == protocol
    }

    /// Makes sure that there is a transport header, if the packet can have one.
    fn make_transport(&mut self) -> bool {
        if !self.is_first() {
            return false;
        }
        let (at, len) = match self.protocol() {
            _ if self.data.len() >= self.header_len() + udp::HEADER_LEN => return true,
            ip_proto::TCP => (self.header_len(), tcp::HEADER_LEN),
            ip_proto::UDP => (self.header_len(), udp::HEADER_LEN),
            _ if self.bare => return true,
            UDP_LITE => (self.header_len(), udp::HEADER_LEN),
            ip_proto::DCCP => (self.header_len(), 12),
            ip_proto::ICMP => (self.header_len(), icmpv4::HEADER_LEN),
            _ => return true,
        };
        // A packet that is shorter by its summary has a part of the header.
        let len = match self.wanted {
            Some(Wanted::Ip(wanted)) if wanted > 0 => (wanted as usize).saturating_sub(at).min(len),
            Some(Wanted::Wire(wanted)) if wanted > 0 => {
                let link = self.ethernet.map_or(0, |header| header.len());
                (wanted as usize).saturating_sub(link + at).min(len)
            }
            _ => len,
        };
        if self.data.len() >= at + len {
            return true;
        }
        self.data.resize(at + len, 0);
        if self.protocol() == ip_proto::TCP {
            self.put(at + 12, &[0x50]);
        }
        if let Some(FlowId { ports, .. }) = self.flow() {
            self.put(at, &ports.0.to_be_bytes());
            self.put(at + 2, &ports.1.to_be_bytes());
        }
        true
    }

    /// Overwrites bytes, as far as they are there.
    fn put(&mut self, at: usize, bytes: &[u8]) {
        self.data.iter_mut().skip(at).zip(bytes).for_each(|(to, from)| *to = *from);
    }

    fn byte(&self, at: usize) -> u8 {
        self.data.get(at).copied().unwrap_or(0)
    }

    fn link_len(&self) -> u64 {
        self.ethernet.map_or(0, |header| header.len() as u64)
    }

    fn protocol(&self) -> u8 {
        self.byte(9)
    }

    fn header_len(&self) -> usize {
        usize::from(self.byte(0) & 15) * 4
    }

    fn is_first(&self) -> bool {
        self.byte(6) & 0x1f == 0 && self.byte(7) == 0
    }

    fn tcp_header_len(&self) -> usize {
        usize::from(self.byte(self.header_len() + 12) >> 4) * 4
    }

    /// Sets bytes of the IP header.
    pub(super) fn set_ip(&mut self, at: usize, bytes: &[u8]) {
        if self.make_ip(0) {
            self.put(at, bytes);
        }
    }

    /// Sets some bits of the type of service.
    pub(super) fn set_tos_bits(&mut self, mask: u8, bits: u8) {
        if self.make_ip(0) {
            let tos = self.byte(1) & !mask | bits & mask;
            self.put(1, &[tos]);
        }
    }

    pub(super) fn set_ip_header_len(&mut self, len: u64) {
        self.knows_ip_header = true;
        self.grow_ip_header(len);
    }

    /// Makes room for IP options, which are zeros at first.
    fn grow_ip_header(&mut self, len: u64) {
        let len = (len as usize).next_multiple_of(4).min(ipv4::HEADER_LEN + OPTIONS_MAX);
        if self.make_ip(0) && len > self.header_len() {
            let at = self.header_len();
            self.data.splice(at..at, std::iter::repeat_n(0, len - at));
            self.put(0, &[0x40 | (len / 4) as u8]);
        }
    }

    pub(super) fn set_ip_options(&mut self, options: &[u8]) {
        self.set_ip_header_len((ipv4::HEADER_LEN + options.len()) as u64);
        self.set_ip(ipv4::HEADER_LEN, &options[..options.len().min(OPTIONS_MAX)]);
    }

    /// Sets bytes of the transport header of a protocol; 0 means one with ports.
    pub(super) fn set_transport(&mut self, protocol: u8, at: usize, bytes: &[u8]) {
        let has_ports =
            |number| matches!(number, 0 | ip_proto::TCP | ip_proto::UDP | ip_proto::DCCP | UDP_LITE);
        if !self.make_ip(protocol) || !self.make_transport() || (protocol == 0 && !has_ports(self.protocol()))
        {
            return;
        }
        self.put(self.header_len() + at, bytes);
    }

    pub(super) fn set_tcp_flags(&mut self, flags: u64) {
        self.set_transport(ip_proto::TCP, 13, &[flags as u8]);
        let at = self.header_len() + 12;
        if self.protocol() == ip_proto::TCP && self.is_first() && self.data.len() > at {
            let byte = self.byte(at) & 0xf0 | (flags >> 8) as u8 & 0x0f;
            self.put(at, &[byte]);
        }
    }

    /// Makes room for TCP options, which are zeros at first.
    pub(super) fn grow_tcp_header(&mut self, len: u64) {
        let len = (len as usize).next_multiple_of(4).min(tcp::HEADER_LEN + OPTIONS_MAX);
        if !self.make_ip(ip_proto::TCP) || !self.make_transport() || self.protocol() != ip_proto::TCP {
            return;
        }
        let (at, old) = (self.header_len(), self.tcp_header_len());
        if old >= tcp::HEADER_LEN && len > old && self.data.len() >= at + old {
            self.data.splice(at + old..at + old, std::iter::repeat_n(0, len - old));
            let low = self.byte(at + 12) & 0x0f;
            self.put(at + 12, &[((len / 4) as u8 * 16) | low]);
        }
    }

    pub(super) fn set_tcp_options(&mut self, options: &[u8]) {
        self.has_tcp_options = true;
        if !options.is_empty() {
            self.grow_tcp_header((tcp::HEADER_LEN + options.len()) as u64);
            self.set_transport(ip_proto::TCP, tcp::HEADER_LEN, &options[..options.len().min(OPTIONS_MAX)]);
        }
    }

    pub(super) fn set_icmp_type(&mut self, kind: u8) {
        self.set_transport(ip_proto::ICMP, 0, &[kind]);
        self.icmp_type = Some(kind);
        let end = self.header_len() + TIMESTAMP_LEN;
        let is_timestamp = matches!(kind, icmpv4::kind::TIMESTAMP | icmpv4::kind::TIMESTAMP_REPLY);
        if is_timestamp
            && self.is_ip
            && self.protocol() == ip_proto::ICMP
            && self.is_first()
            && self.data.len() < end
        {
            self.data.resize(end, 0);
        }
    }

    pub(super) fn set_icmp_code(&mut self, code: u8) {
        self.set_transport(ip_proto::ICMP, 1, &[code]);
        self.icmp_code = Some(code);
    }

    /// Sets the second half of an ICMP header, if messages of this type and code have that field.
    pub(super) fn set_icmp_rest(&mut self, at: usize, value: u16, suits: impl Fn(u8, Option<u8>) -> bool) {
        if self.icmp_type.is_none_or(|kind| suits(kind, self.icmp_code)) {
            self.set_transport(ip_proto::ICMP, at, &value.to_be_bytes());
        }
    }

    pub(super) fn set_ethernet(&mut self, at: usize, bytes: &[u8]) {
        let default = ethernet::header(Default::default(), Default::default(), ethernet::ether_type::IPV4);
        let header = self.ethernet.get_or_insert(default);
        header.iter_mut().skip(at).zip(bytes).for_each(|(to, from)| *to = *from);
        self.is_ip = header[12..] == ethernet::ether_type::IPV4.to_be_bytes();
    }

    /// Says how long the IP packet is.
    pub(super) fn want_ip(&mut self, len: u64) {
        self.make_ip(0);
        self.wanted = Some(Wanted::Ip(len));
    }

    /// Says how long the whole packet is.
    pub(super) fn want_wire(&mut self, len: u64) {
        self.wanted = Some(Wanted::Wire(len));
    }

    /// Where the payload starts.
    fn payload_at(&self) -> usize {
        let at = self.header_len();
        match self.protocol() {
            _ if !self.is_ip => 0,
            ip_proto::TCP if self.is_first() => at + self.tcp_header_len().max(tcp::HEADER_LEN),
            ip_proto::UDP | UDP_LITE if self.is_first() => at + udp::HEADER_LEN,
            _ => at,
        }
    }

    /// Says how long the payload is. If the packet is longer than its headers and the payload, the headers have options that
    /// the summary does not tell.
    pub(super) fn want_payload(&mut self, len: u64) {
        if self.make_ip(0) {
            self.make_transport();
        }
        let whole = self.payload_at() as u64 + len;
        let wanted = match self.wanted {
            Some(Wanted::Ip(wanted)) if self.is_ip && wanted > 0 => wanted,
            Some(Wanted::Wire(wanted)) if self.is_ip && wanted > 0 => wanted.saturating_sub(self.link_len()),
            _ => return self.wanted = Some(Wanted::Ip(whole)),
        };
        let mut rest = wanted.saturating_sub(whole) / 4 * 4;
        let plain_tcp = self.protocol() == ip_proto::TCP && self.is_first() && !self.has_tcp_options;
        if rest > 0 && plain_tcp && self.tcp_header_len() == tcp::HEADER_LEN {
            let more = rest.min(OPTIONS_MAX as u64);
            self.grow_tcp_header(tcp::HEADER_LEN as u64 + more);
            rest -= more;
        }
        if rest > 0 && !self.knows_ip_header && self.header_len() == ipv4::HEADER_LEN {
            self.grow_ip_header(ipv4::HEADER_LEN as u64 + rest.min(OPTIONS_MAX as u64));
        }
    }

    pub(super) fn set_payload(&mut self, payload: &[u8]) {
        if payload.is_empty() {
            return;
        }
        self.want_payload(payload.len() as u64);
        let at = self.payload_at();
        if at + payload.len() <= LENGTH_MAX {
            self.data.resize(self.data.len().max(at + payload.len()), 0);
            self.put(at, payload);
        }
    }

    /// Puts a value that is bytes.
    pub(super) fn bytes(value: &Value) -> &[u8] {
        if let Value::Bytes(bytes) = value { bytes } else { &[] }
    }

    /// Completes the headers: lengths and checksums.
    pub(super) fn finish(&mut self) {
        if self.is_ip && (self.defaults.flow.is_some() || !self.data.is_empty()) && self.make_ip(0) {
            self.make_transport();
            self.finish_ip();
        }
        let link = self.link_len();
        let wanted = match self.wanted {
            Some(Wanted::Ip(len)) => len + link,
            Some(Wanted::Wire(len)) => len,
            None => 0,
        };
        self.notes.extra_length = wanted.saturating_sub(self.data.len() as u64 + link);
    }

    fn finish_ip(&mut self) {
        let link = self.link_len();
        let wanted = match self.wanted {
            Some(Wanted::Ip(len)) => len,
            Some(Wanted::Wire(len)) => len.saturating_sub(link),
            None => 0,
        };
        let len = if wanted == 0 { self.data.len() } else { wanted as usize }.min(LENGTH_MAX);
        self.set_length(len);
        if self.defaults.checksum {
            self.data.resize(self.data.len().max(len), 0);
            self.fill_checksums();
        }
    }

    /// Sets the length in the IP header, and in a UDP header that has none.
    fn set_length(&mut self, len: usize) {
        self.put(2, &(len as u16).to_be_bytes());
        let at = self.header_len();
        if self.protocol() == ip_proto::UDP
            && self.is_first()
            && self.byte(at + 4) == 0
            && self.byte(at + 5) == 0
        {
            self.put(at + 4, &(len.saturating_sub(at) as u16).to_be_bytes());
        }
    }

    fn fill_checksums(&mut self) {
        let (at, first) = (self.header_len(), self.is_first() && self.byte(6) & 0x20 == 0);
        let Ok(ip) = ipv4::Header::new_checked(&self.data) else { return };
        let (src, dst, protocol) = (ip.src(), ip.dst(), ip.protocol());
        // A header that is cut off keeps the checksum that it has.
        let _ = ipv4::fill_checksum(&mut self.data);
        let Some(transport) = self.data.get_mut(at..).filter(|_| first) else { return };
        let _ = match protocol {
            ip_proto::TCP => tcp::fill_checksum_v4(src, dst, transport),
            ip_proto::UDP => udp::fill_checksum_v4(src, dst, transport),
            ip_proto::ICMP => icmpv4::fill_checksum(transport),
            _ => Ok(()),
        };
    }

    /// Bytes of the packet, those beyond its data included.
    pub(super) fn total(&self) -> u64 {
        let link = self.link_len();
        self.data.len() as u64 + link + self.notes.extra_length
    }

    #[cfg(test)]
    pub(super) fn ip_tos(&self) -> u8 {
        self.byte(1)
    }

    /// Gives the packet another length, as one of several that a record stands for.
    pub(super) fn set_total(&mut self, total: u64) {
        let link = self.link_len();
        let len = total.saturating_sub(link);
        self.notes.extra_length = len.saturating_sub(self.data.len() as u64);
        if self.is_ip && self.data.len() >= ipv4::HEADER_LEN {
            let at = self.header_len();
            if self.protocol() == ip_proto::UDP && self.is_first() {
                self.put(at + 4, &[0, 0]);
            }
            self.set_length((len as usize).min(LENGTH_MAX));
        }
    }

    /// The packet; `None` if memory is short.
    pub(super) fn packet(&self, cx: &mut Cx<'_>) -> Option<Packet> {
        let link = self.ethernet.map_or(0, |header| header.len());
        let mut packet = cx.pool().packet(&self.data)?;
        if let Some(header) = &self.ethernet {
            if !packet.prepend(header.len()) {
                return None;
            }
            packet.data_mut()[..header.len()].copy_from_slice(header);
            packet.set_mac_offset(0);
        }
        if self.is_ip
            && let Ok(ip) = ipv4::Header::new_checked(&self.data)
        {
            packet.set_network(link as isize, ip.header_len());
            packet.set_dst_ip(ip.dst());
        }
        packet.set_timestamp_ns(self.notes.time_ns);
        packet.set_anno(Anno::FIRST_TIMESTAMP, self.notes.first_time_ns as u64);
        if let Some((packet_number, sequence_number)) = self.notes.numbers {
            packet.set_anno(Anno::PACKET_NUMBER, packet_number.into());
            packet.set_anno(Anno::SEQUENCE_NUMBER, sequence_number.into());
        }
        packet.set_paint(self.notes.paint);
        packet.set_anno(Anno::AGGREGATE, self.notes.aggregate);
        packet.set_anno(Anno::EXTRA_PACKETS, self.notes.extra_packets);
        packet.set_anno(Anno::EXTRA_LENGTH, self.notes.extra_length);
        Some(packet)
    }
}
