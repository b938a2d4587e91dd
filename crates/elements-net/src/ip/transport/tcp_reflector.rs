//! Answers TCP packets as a server might.
//!
//! ```click
//! TCPReflector([KEYWORDS])
//! ```
//!
//! Each TCP packet that a server would answer is turned into the answer, with addresses and ports swapped. A SYN is
//! answered by SYN and ACK, with a random sequence number; a FIN by FIN and ACK; data by ACK. The answer carries the
//! packet's own options and data, or DATA instead; it has a TTL of 250, a window of 61,440, and correct checksums. No
//! connection state is kept.
//!
//! Packets that need no answer are dropped: acknowledgements without data, SYN with flags other than PSH, and RST.
//! Packets without complete headers, fragments, and packets whose answer has no room are dropped too. If the IP
//! header is not marked, packets must start with it.
//!
//! Send it only packets that are meant for it: two TCPReflectors that reach each other exchange data forever.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `DATA` (string, default empty): the data to send in answer to data; if empty, the data is echoed.
//! - `STRIP_PAYLOAD` (boolean, default false): whether to answer without data.
//! - `RAND_SEQ` (boolean, default true): whether the answer to a SYN has a random sequence number, rather than 0.
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

use elements_shared::ip_header::header;
use packet::Packet;
use router::{Bytes, Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use wire::tcp::{self, flag};
use wire::{ip_proto, ipv4};

/// The class.
pub(crate) const CLASS: Class = Class::new("TCPReflector", create).doc(router::manual!("tcp_reflector.rs"));

const TTL: u8 = 250;
const WINDOW: u16 = 60 * 1024;

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
    /// None if there is nothing to answer; `initial` is the number of an answer to a SYN.
    fn of(packet: &Packet, initial: u32) -> Option<Exchange> {
        let ip = header(packet)?;
        let is_whole = ip.protocol() == ip_proto::TCP && !ip.is_fragment();
        let tcp = tcp::Header::new_checked(packet.transport().filter(|_| is_whole)?).ok()?;
        let headers = ip.header_len() + tcp.header_len();
        let has_headers = ip.header_len() >= ipv4::HEADER_LEN && tcp.header_len() >= tcp::HEADER_LEN;
        let len = usize::from(ip.total_len());
        let is_there = has_headers && packet.network()?.len() >= len;
        let data = len.checked_sub(headers).filter(|_| is_there)?;
        let received = tcp.sequence().wrapping_add(data as u32);
        let (flags, sequence, acknowledgement) = match tcp.flags() & !flag::PSH {
            flag::SYN => (flag::SYN | flag::ACK, initial, tcp.sequence().wrapping_add(1)),
            flags if flags & (flag::SYN | flag::RST) != 0 => return None,
            flags if flags & flag::FIN != 0 => {
                (flag::FIN | flag::ACK, tcp.acknowledgement(), received.wrapping_add(1))
            }
            _ if data > 0 => (flag::ACK, tcp.acknowledgement(), received),
            _ => return None,
        };
        Some(Exchange { ip_header: ip.header_len(), headers, data, sequence, acknowledgement, flags })
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

/// Marks the IP header of a packet that has no mark at its start.
fn mark(packet: &mut Packet) {
    if packet.network_offset().is_none() {
        let len = packet.data().first().map_or(0, |byte| usize::from(byte & 0x0f) * 4);
        packet.set_network(0, len);
    }
}

impl TcpReflector {
    /// Has a packet carry the answer's data: where it ends, from the IP header on.
    fn fill(&self, packet: &mut Packet, exchange: &Exchange) -> Option<usize> {
        let replaces = exchange.data > 0 && !self.strips && !self.data.is_empty();
        let len = match exchange.data {
            _ if self.strips => 0,
            _ if replaces => self.data.len(),
            data => data,
        };
        let end = usize::from(u16::try_from(exchange.headers + len).ok()?);
        resize(packet, end)?;
        if replaces {
            packet.network_mut()?.get_mut(exchange.headers..)?.copy_from_slice(&self.data);
        }
        Some(end)
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
        header.set_flags(exchange.flags);
        header.set_window(WINDOW);
        tcp::fill_checksum_v4(src, dst, segment).ok()?;
        packet.set_dst_ip(dst);
        Some(())
    }
}

impl Simple for TcpReflector {
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let initial = if self.is_random { cx.unguessable().u32() } else { 0 };
        mark(packet);
        let Some(exchange) = Exchange::of(packet, initial) else { return Verdict::Drop("nothing to answer") };
        match self.answer(packet, &exchange) {
            Some(()) => Verdict::Pass,
            None => Verdict::Drop("no room for the answer"),
        }
    }
}
