//! Answers TCP packets as a server might.
//!
//! ```click
//! TCPReflector([KEYWORDS])
//! ```
//!
//! Each TCP packet with a marked IP header becomes an answer to itself: addresses and ports change places, and it acknowledges what the packet brought. A SYN is
//! answered by SYN and ACK, a FIN by FIN and ACK, anything else by ACK. The answer carries the data that the packet had, or DATA instead; it has no TCP
//! options, a TTL of 64, and right checksums. Nothing is remembered of connections.
//!
//! Packets with RST need no answer and are dropped, and so are those without whole headers, fragments, and those whose answer has no room.
//!
//! Let it answer only what is meant for it: two of them that reach each other go on for ever. It is Click's element.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `DATA` (string, default empty): what is sent in answer to data; if empty, the data comes back.
//! - `STRIP_PAYLOAD` (boolean, default false): whether answers have no data.
//! - `RAND_SEQ` (boolean, default true): whether an answer to a packet without an ACK has a random sequence number, or 0.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> Strip(14) -> CheckIPHeader -> IPFilter(allow dst tcp port 80) -> TCPReflector -> IPPrint -> Discard
//! ```
//!
//! # Differences from Click
//! The three arguments are FastClick's.
//!
//! # See also
//! TCPIPSend, IPMirror, FastTCPFlows

use crate::ip::header::header;
use packet::Packet;
use router::{Bytes, Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use wire::tcp::{self, flag};
use wire::{ip_proto, ipv4};

/// The class.
pub(crate) const CLASS: Class = Class::new("TCPReflector", create).doc(include_str!("tcp_reflector.rs"));

const TTL: u8 = 64;

struct TcpReflector {
    data: Vec<u8>,
    strips: bool,
    is_random: bool,
}

/// What counts of a packet, and what its answer says.
struct Exchange {
    /// Bytes of the IP header, and of both headers.
    ip_header: usize,
    headers: usize,
    /// Bytes of data.
    data: usize,
    sequence: u32,
    acknowledgement: u32,
    flags: u8,
}

impl Exchange {
    /// None if there is nothing to answer; `initial` is the number of an answer to a packet that acknowledges nothing.
    fn of(packet: &Packet, initial: u32) -> Option<Exchange> {
        let ip = header(packet)?;
        let is_whole = ip.protocol() == ip_proto::TCP && !ip.is_fragment();
        let tcp = tcp::Header::new_checked(packet.transport().filter(|_| is_whole)?).ok()?;
        let (flags, len) = (tcp.flags(), usize::from(ip.total_len()));
        let headers = ip.header_len() + tcp.header_len();
        let has_headers = ip.header_len() >= ipv4::HEADER_LEN && tcp.header_len() >= tcp::HEADER_LEN;
        let is_there = has_headers && packet.network()?.len() >= len;
        let data = len.checked_sub(headers).filter(|_| is_there && flags & flag::RST == 0)?;
        let ends = u32::from(flags & flag::SYN != 0) + u32::from(flags & flag::FIN != 0);
        Some(Exchange {
            ip_header: ip.header_len(),
            headers,
            data,
            sequence: if flags & flag::ACK != 0 { tcp.acknowledgement() } else { initial },
            acknowledgement: tcp.sequence().wrapping_add(data as u32 + ends),
            flags: flags & (flag::SYN | flag::FIN) | flag::ACK,
        })
    }
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut data, mut strips, mut is_random) = (Bytes::default(), false, true);
    config
        .args()
        .keyword("DATA", &mut data)
        .keyword("STRIP_PAYLOAD", &mut strips)
        .keyword("RAND_SEQ", &mut is_random)
        .finish()?;
    Ok(Box::new(PerPacket(TcpReflector { data: data.0, strips, is_random })))
}

/// Makes a packet end so many bytes behind the beginning of its IP header, if there is room.
fn resize(packet: &mut Packet, len: usize) -> Option<()> {
    let now = packet.network()?.len();
    (packet.take(now.saturating_sub(len)) && packet.put(len.saturating_sub(now))).then_some(())
}

impl TcpReflector {
    /// Puts the answer's data behind a TCP header without options: how long that is.
    fn fill(&self, packet: &mut Packet, exchange: &Exchange) -> Option<usize> {
        let start = exchange.ip_header + tcp::HEADER_LEN;
        let len = match exchange.data {
            data if data == 0 || self.strips => 0,
            data if self.data.is_empty() => {
                let bytes = packet.network_mut()?;
                bytes.copy_within(exchange.headers..exchange.headers + data, start);
                data
            }
            _ => self.data.len(),
        };
        let end = u16::try_from(start + len).ok()?;
        resize(packet, usize::from(end))?;
        if len > 0 && !self.data.is_empty() {
            packet.network_mut()?.get_mut(start..)?.copy_from_slice(&self.data);
        }
        Some(usize::from(end))
    }

    fn answer(&self, packet: &mut Packet, exchange: &Exchange) -> Option<()> {
        let end = self.fill(packet, exchange)?;
        let bytes = packet.network_mut()?;
        let mut ip = ipv4::Header::new_checked_mut(&mut *bytes).ok()?;
        ip.set_total_len(end as u16);
        ip.set_ttl(TTL);
        ip.swap_addresses();
        let (src, dst) = (ip.src(), ip.dst());
        ipv4::fill_checksum(bytes).ok()?;
        let segment = bytes.get_mut(exchange.ip_header..)?;
        let mut header = tcp::Header::new_checked_mut(&mut *segment).ok()?;
        let (sport, dport) = (header.src_port(), header.dst_port());
        header.set_src_port(dport);
        header.set_dst_port(sport);
        header.set_sequence(exchange.sequence);
        header.set_acknowledgement(exchange.acknowledgement);
        header.set_header_len(tcp::HEADER_LEN);
        header.set_flags(exchange.flags);
        header.set_urgent_pointer(0);
        tcp::fill_checksum_v4(src, dst, segment).ok()?;
        packet.set_dst_ip(dst);
        Some(())
    }
}

impl Simple for TcpReflector {
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let initial = if self.is_random { cx.rng().u32(..) } else { 0 };
        let Some(exchange) = Exchange::of(packet, initial) else { return Verdict::Drop("nothing to answer") };
        match self.answer(packet, &exchange) {
            Some(()) => Verdict::Pass,
            None => Verdict::Drop("no room for the answer"),
        }
    }
}
