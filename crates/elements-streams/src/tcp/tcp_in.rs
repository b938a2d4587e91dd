//! Start of a path that can modify TCP streams.
//!
//! ```click
//! TCPIn([RETURNNAME, KEYWORDS])
//! ```
//!
//! Elements between a TCPIn and its TCPOut may change, remove and insert data of TCP packets. The TCPOut then
//! translates sequence numbers for the receiver, and the TCPIn of the other direction, RETURNNAME, translates the
//! receiver's acknowledgements. If an element drops a packet, its data counts as removed.
//!
//! Packets of each direction leave in order; packets that arrive too early wait. Retransmitted data has already been
//! modified, so elements do not see it again. With a second output, it leaves there, in the form in which it left the
//! TCPOut; with only one output, its headers pass through the elements in between and the TCPOut adds the data. For
//! this, sent data is kept until it is acknowledged. New data is dropped while there is no room for it; its sender
//! retransmits it later.
//!
//! A connection begins with a SYN; other packets of unknown connections are dropped, except RST. Selective
//! acknowledgements are disabled, by changing the option in SYNs. An element in between ends a connection by sending
//! a RST in place of a packet: afterwards only headers pass.
//!
//! A connection is half open until the host that opened it has acknowledged the other one's SYN. When there are CAPACITY
//! connections, a new one takes the place of the oldest half-open one, or of one that is closed; open connections stay, and
//! if all are open, the SYN is dropped. Memory for data is taken when there is some, and given back when it is
//! acknowledged. A connection takes about 1 KB, and no more than BUFFER in each direction.
//!
//! All four elements of both directions must be on one worker. It is FastClick's element; it needs no flow manager.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: push. Workers: one.
//!
//! # Arguments
//! - `RETURNNAME` (element): the TCPIn of the other direction. It may be left out if there is only one other TCPIn,
//!   so that `~tcp>` can be used for both; FastClick requires it.
//! - `OUTNAME` (element): the TCPOut of this direction. It may be left out if there is only one downstream.
//! - `FLOWDIRECTION` (0 or 1): accepted; the other direction has the other value.
//! - `REORDER` (boolean, default true): whether packets that arrive too early wait. If not, they are dropped.
//! - `CAPACITY` (integer, default 16384): the maximum number of connections. For this and the following arguments,
//!   the first TCPIn of the two counts; FastClick has none of them.
//! - `BUFFER` (integer, default 262144): the maximum number of bytes kept for each direction of a connection, at least
//!   16384.
//! - `MEMORY` (integer, default 268435456): the maximum number of bytes kept for all connections together, at least
//!   BUFFER.
//! - `WAITING` (integer, default 4096): the maximum number of waiting packets; elements in between can hold as many
//!   again.
//! - `TIMEOUT` (seconds, default 600): idle time after which a connection is forgotten; 0 for never. A closed
//!   connection is forgotten after 30 seconds.
//! - `SYN_TIMEOUT` (seconds, default 30): the same for a connection that is half open; 0 for TIMEOUT.
//! - `VERBOSE`, `PROACK`, `RETRANSMIT_PT`: FastClick's; accepted.
//!
//! # Handlers
//! - `connections`, `half_open` (read): known connections, and those of them that are half open. FastClick has no such
//!   handlers.
//! - `displaced` (read): half-open connections whose places others took.
//! - `memory` (read): bytes kept for data that is not acknowledged.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> c :: IPClassifier(dst tcp port 80, src tcp port 80);
//! c[0] -> in :: TCPIn(RETURNNAME back) -> TCPOut -> Discard;
//! c[1] -> back :: TCPIn(RETURNNAME in) -> TCPOut -> Discard;
//! ```
//!
//! # Differences from FastClick
//! If there is one output and no TCPRetransmitter, FastClick prints a warning, and loses retransmitted data. It
//! treats connections as modified only if an element in between says that it changes lengths. Connections are not
//! kept when the configuration is replaced.
//!
//! # See also
//! TCPOut, WordMatcher, HTTPIn, CTXIDSMatcher, TCPReorder, IPIn, UDPIn

use super::connections::{Connections, ENDED, Entry, Inlet, Limits, Path, hide};
use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element, ElementName, Handlers, Residency, TableSize};
use std::any::Any;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("TCPIn", create)
    .ports("1/1-2")
    .processing("h/h")
    .residency(Residency::Exclusive)
    .holds_jointly("packets of TCP streams")
    .keeps("connections", "CAPACITY", 16_384, 1024)
    .doc(router::manual!("tcp_in.rs"));

/// Why packets are dropped.
const EARLY: &str = "too early";
/// How often to look for connections that are over.
const INTERVAL: Duration = Duration::from_secs(10);
/// Bytes that have to be kept at least.
const LEAST: usize = 16384;

struct TcpIn {
    /// Set by `initialize`.
    path: Option<Path>,
    reorders: bool,
    /// Whether what comes again has an output of its own.
    second: bool,
    /// Whether it is looked for connections that are over.
    looks: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut back, mut out) = (ElementName::default(), ElementName::default());
    let (mut direction, mut reorders, mut proack, mut pass) = (-1i32, true, false, false);
    let (mut capacity, mut buffer, mut waiting) = (TableSize(16384), 262_144usize, TableSize(4096));
    let (mut timeout, mut syn_timeout, mut verbose) = (600u32, 30u32, String::new());
    let mut memory = 256usize << 20;
    config
        .args()
        .positional("RETURNNAME", &mut back)
        .keyword("FLOWDIRECTION", &mut direction)
        .keyword("REORDER", &mut reorders)
        .keyword("OUTNAME", &mut out)
        .keyword("VERBOSE", &mut verbose)
        .keyword("PROACK", &mut proack)
        .keyword("RETRANSMIT_PT", &mut pass)
        .keyword("CAPACITY", &mut capacity)
        .keyword("BUFFER", &mut buffer)
        .keyword("WAITING", &mut waiting)
        .keyword("MEMORY", &mut memory)
        .keyword("TIMEOUT", &mut timeout)
        .keyword("SYN_TIMEOUT", &mut syn_timeout)
        .finish()?;
    if !(-1..=1).contains(&direction) {
        return Err(format!("FLOWDIRECTION {direction} is not valid.").into());
    }
    if !(LEAST..=1 << 30).contains(&buffer) {
        return Err(format!("BUFFER: {LEAST} to {} bytes", 1 << 30).into());
    }
    if memory < buffer {
        return Err("MEMORY: at least BUFFER".into());
    }
    let limits = Limits {
        connections: capacity.0,
        buffer,
        memory,
        waiting: waiting.0,
        timeout_s: timeout,
        syn_timeout_s: syn_timeout,
    };
    config
        .shared(|| {
            Ok(Inlet {
                back: back.name.clone(),
                out: Some(out.name.clone()).filter(|name| !name.is_empty()),
                direction: usize::try_from(direction).ok(),
                connections: Mutex::new(Connections::new(limits)),
            })
        })
        .map(|_: Arc<Inlet>| ())?;
    Ok(Box::new(TcpIn { path: None, reorders, second: config.outputs() > 1, looks: false }))
}

/// Batches on their way.
struct Leaving {
    next: Batch,
    again: Batch,
}

/// Adds a packet to those that leave, in batches that are not too large.
pub(super) fn add(cx: &mut Cx<'_>, output: usize, out: &mut Batch, packet: Packet) {
    if out.len() >= cx.vector() || out.is_full() {
        let next = cx.batch();
        cx.emit(output, std::mem::replace(out, next));
    }
    out.push(packet);
}

impl TcpIn {
    /// Takes a packet, and those that have waited for it.
    fn enter(
        &self,
        cx: &mut Cx<'_>,
        connections: &mut Connections,
        direction: usize,
        first: Packet,
        leaving: &mut Leaving,
    ) {
        let mut ahead = Some(first);
        while let Some(mut packet) = ahead.take() {
            match connections.enter(direction, &mut packet, cx.now_ns()) {
                Entry::Pass => {
                    ahead = connections.next(direction, &packet);
                    add(cx, 0, &mut leaving.next, packet);
                }
                Entry::Again if self.second => match connections.repeat(direction, &mut packet) {
                    Some(()) => add(cx, 1, &mut leaving.again, packet),
                    None => cx.drop(packet, ENDED),
                },
                Entry::Again => {
                    hide(&mut packet);
                    add(cx, 0, &mut leaving.next, packet);
                }
                Entry::Early if self.reorders => {
                    if let Err((packet, reason)) = connections.wait(direction, packet) {
                        cx.drop(packet, reason);
                    }
                }
                Entry::Early => cx.drop(packet, EARLY),
                Entry::Drop(reason) => {
                    ahead = connections.next(direction, &packet);
                    cx.drop(packet, reason);
                }
            }
        }
    }
}

impl Element for TcpIn {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.path = Some(Path::of_in(cx.info(), cx.index())?);
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) {
        let Some(path) = &self.path else { return cx.consume(batch) };
        let mut leaving = Leaving { next: cx.batch(), again: cx.batch() };
        let mut connections = path.lock();
        batch.drain(|packet| self.enter(cx, &mut connections, path.direction, packet, &mut leaving));
        cx.count_drops(ENDED, connections.take_lost());
        drop(connections);
        cx.consume(batch);
        for (output, batch) in [(0, leaving.next), (1, leaving.again)] {
            if batch.is_empty() { cx.consume(batch) } else { cx.emit(output, batch) }
        }
        if !std::mem::replace(&mut self.looks, true) {
            cx.timers().after(0, INTERVAL);
        }
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        let Some(path) = &self.path else { return };
        let mut connections = path.lock();
        connections.sweep(cx.now_ns());
        self.looks = connections.len() > 0;
        cx.count_drops(ENDED, connections.take_lost());
        drop(connections);
        if self.looks {
            cx.timers().after(0, INTERVAL);
        }
    }

    fn held(&self) -> usize {
        // Of the two TCPIn of a pair one says it for both, and for the elements between.
        let path = self.path.as_ref().filter(|path| path.direction == 0);
        path.map_or(0, |path| path.lock().held())
    }

    fn handlers(&self, h: &mut Handlers) {
        let mut count = |name, count: fn(&Connections) -> u64| {
            h.read(name, move |e: &mut TcpIn, _| e.path.as_ref().map_or(0, |path| count(&path.lock())));
        };
        count("connections", |connections| connections.len() as u64);
        count("half_open", |connections| connections.half_open() as u64);
        count("displaced", Connections::displaced);
        count("memory", |connections| connections.memory() as u64);
    }

    fn target(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send_singly;
    use elements_testing::Sent;
    use packet::Anno;
    use std::net::Ipv4Addr;
    use wire::tcp::{self, flag};
    use wire::{ip_proto, ipv4};

    const SERVER: (Ipv4Addr, u16) = (Ipv4Addr::new(198, 51, 100, 9), 80);

    fn host(number: u32) -> (Ipv4Addr, u16) {
        (Ipv4Addr::from_bits(0x0a00_0000 + number / 1000), 1000 + (number % 1000) as u16)
    }

    type End = (Ipv4Addr, u16);

    /// A segment; what comes from the server is painted 1.
    fn segment(from: End, to: End, (number, acknowledgement): (u32, u32), flags: u8, data: &[u8]) -> Sent {
        let mut bytes = [&[0; ipv4::HEADER_LEN + tcp::HEADER_LEN], data].concat();
        let len = bytes.len() as u16;
        let mut ip = ipv4::Header::new_checked_mut(&mut bytes).expect("long enough");
        ip.set_version_and_header_len(ipv4::HEADER_LEN);
        ip.set_total_len(len);
        ip.set_ttl(64);
        ip.set_protocol(ip_proto::TCP);
        ip.set_src(from.0);
        ip.set_dst(to.0);
        ip.fill_checksum();
        let rest = &mut bytes[ipv4::HEADER_LEN..];
        rest[12] = 0x50;
        let mut header = tcp::Header::new_checked_mut(&mut *rest).expect("long enough");
        header.set_src_port(from.1);
        header.set_dst_port(to.1);
        header.set_sequence(number);
        header.set_acknowledgement(acknowledgement);
        header.set_flags(flags);
        tcp::fill_checksum_v4(from.0, to.0, rest).expect("long enough");
        let annotations = vec![(Anno::PAINT, u64::from(from == SERVER))];
        Sent { data: bytes, annotations, ..Sent::default() }
    }

    fn syn(number: u32) -> Sent {
        segment(host(number), SERVER, (99, 0), flag::SYN, b"")
    }

    /// The rest of a handshake.
    fn answers(number: u32) -> [Sent; 2] {
        [
            segment(SERVER, host(number), (499, 100), flag::SYN | flag::ACK, b""),
            segment(host(number), SERVER, (100, 500), flag::ACK, b""),
        ]
    }

    fn data(number: u32, at: u32, data: &[u8]) -> Sent {
        segment(host(number), SERVER, (100 + at, 500), flag::ACK, data)
    }

    fn pair(arguments: &str) -> String {
        format!(
            "Inject -> MarkIPHeader -> p :: PaintSwitch;
             p[0] -> in :: TCPIn(back, {arguments}) -> TCPOut -> up :: Counter -> Discard;
             p[1] -> back :: TCPIn(in, {arguments}) -> TCPOut -> down :: Counter -> Discard"
        )
    }

    /// A hundred thousand SYNs, which the server answers and no host acknowledges, take each other's places; connections go on.
    #[test]
    fn open_connections_survive_a_flood_of_syns() {
        const FLOOD: u32 = 100_000;
        let mut packets = vec![syn(0)];
        packets.extend(answers(0));
        for n in 1..=FLOOD {
            packets.push(syn(n));
            if n % 10 == 0 {
                packets.push(answers(n)[0].clone());
            }
            if n % 1000 == 0 {
                packets.push(data(0, n / 1000 * 10 - 10, b"0123456789"));
                packets.push(segment(SERVER, host(0), (500, 100 + n / 100), flag::ACK, b""));
            }
        }
        let mut flow = send_singly(&pair("CAPACITY 1000"), packets);
        let read = ["in.connections", "in.half_open", "in.displaced", "up.count", "down.count"];
        let read = read.map(|handler| flow.read(handler).parse::<u32>().expect("a number"));
        assert_eq!(read, [1000, 999, FLOOD - 999, FLOOD + 2 + 100, 1 + FLOOD / 10 + 100]);
        assert_eq!(flow.drops(), []);
    }

    /// Where all connections are open, SYNs are dropped and counted, until one is closed.
    #[test]
    fn open_connections_are_not_displaced() {
        let mut packets = Vec::new();
        for n in 0..2 {
            packets.push(syn(n));
            packets.extend(answers(n));
        }
        packets.extend((2..102).map(syn));
        let mut flow = send_singly(&pair("CAPACITY 2"), packets.clone());
        assert_eq!(flow.drops(), [("no room for connections", 100)]);
        assert_eq!([flow.read("in.connections"), flow.read("in.half_open")], ["2", "0"]);
        packets.insert(6, segment(host(1), SERVER, (100, 500), flag::RST, b""));
        let mut flow = send_singly(&pair("CAPACITY 2"), packets);
        assert_eq!(flow.drops(), []);
        assert_eq!([flow.read("in.connections"), flow.read("in.displaced")], ["2", "99"]);
    }

    /// Data that no host acknowledges takes no more memory than there may be, and an open connection without any takes none.
    #[test]
    fn unacknowledged_data_is_bounded() {
        let mut packets = Vec::new();
        let block = [7; 1000];
        for n in 0..100 {
            packets.push(syn(n));
            packets.extend(answers(n));
        }
        let idle = send_singly(&pair("MEMORY 1000000"), packets.clone()).read("in.memory");
        assert_eq!(idle, "0");
        for at in 0..100 {
            packets.extend((0..100).map(|n| data(n, at * 1000, &block)));
        }
        let mut flow = send_singly(&pair("MEMORY 1000000"), packets.clone());
        let memory: usize = flow.read("in.memory").parse().expect("a number");
        assert!((500_000..=1_000_000).contains(&memory), "{memory}");
        // Behind a segment that finds no room others come too early, and wait as far as they may.
        let drops = flow.drops();
        assert_eq!(
            drops.iter().map(|drop| drop.0).collect::<Vec<_>>(),
            ["no room to wait", "too much not acknowledged"]
        );
        assert!(drops.iter().all(|drop| drop.1 >= 100), "{drops:?}");
        // What is acknowledged is given back.
        let acknowledge = |n| segment(SERVER, host(n), (500, 100_100), flag::ACK, b"");
        packets.extend((0..100).map(acknowledge));
        let mut flow = send_singly(&pair("MEMORY 100000000"), packets);
        let memory: usize = flow.read("in.memory").parse().expect("a number");
        assert!(memory <= 100 * 16384, "{memory}");
        assert_eq!(flow.drops(), []);
    }
}
