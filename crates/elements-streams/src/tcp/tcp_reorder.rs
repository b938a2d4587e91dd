//! Puts the packets of TCP flows in order.
//!
//! ```click
//! TCPReorder([MERGESORT, NOTIMEOUT, VERBOSE, KEYWORDS])
//! ```
//!
//! Packets of a flow leave by output 0 in the order of their sequence numbers, without gaps. A packet that arrives
//! too early waits for those before it. A packet that starts before the next expected byte is a duplicate, and leaves
//! by output 1, or is dropped if there is none. If it also contains new data, its sender will retransmit that. A flow
//! manager upstream identifies flows, each direction of a connection separately.
//!
//! A flow begins with a SYN, and begins anew with each later SYN that is not a retransmission; other packets of a
//! flow that has not begun are dropped. A RST passes immediately and ends the flow, unless it is the next expected
//! packet: then it passes like any other. Packets waiting when a flow begins anew or ends are dropped, and so are
//! packets without a TCP header or a flow.
//!
//! When the configuration is replaced while the router runs, an element of the same name takes over the flows and the
//! waiting packets.
//!
//! SimpleTCPReorder, which takes VERBOSE and CAPACITY only, is another name. They are FastClick's elements.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: push. Workers: replicated, each with its own flows.
//!
//! # Arguments
//! - `NOTIMEOUT` (boolean, default false): whether packets wait without limit. If not, waiting packets are dropped
//!   when nothing has arrived of their flow for two seconds.
//! - `CAPACITY` (integer, default 4096): the maximum number of waiting packets on each worker. FastClick has no
//!   limit.
//! - `MERGESORT`, `VERBOSE` (booleans), `FLOWDIRECTION` (integer): FastClick's; accepted.
//!
//! # Handlers
//! - `waiting` (read): packets waiting. `parked` (read): those of flows that wait for a worker themselves, since the
//!   configuration was replaced. FastClick has no such handlers.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> FlowIPManager(TIMEOUT 60) -> TCPReorder -> FlowCounter -> Discard
//! ```
//!
//! # Differences from FastClick
//! Every duplicate leaves by output 1; in some versions of FastClick only the latest. If a waiting packet turns out
//! to start too early, FastClick also drops all packets waiting after it. In FastClick, SimpleTCPReorder lets a flow
//! begin with any packet, and a flow is forgotten when nothing has arrived for two seconds, whether packets wait or
//! not.
//!
//! # See also
//! FlowIPManager, CTXManager, TCPFragmenter

use super::segment::{NO_TCP, Segment};
use super::waiting::{List, Refusal, Span, Waiting, before};
use elements_shared::flow_space::{Given, NO_FLOW, Space};
use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Merge, TableSize, Verdict};
use std::any::Any;
use std::time::Duration;
use wire::tcp::flag;

/// The class.
pub(crate) const CLASS: Class = Class::new("TCPReorder", create)
    .ports("1/1-2")
    .processing("h/h")
    .holds("packets that came too early")
    .keeps("packets that wait", "CAPACITY", 4096, 2240)
    .doc(router::manual!("tcp_reorder.rs"));
/// FastClick's name for one with fewer arguments.
pub(crate) const SIMPLE: Class = Class { name: "SimpleTCPReorder", create: create_simple, ..CLASS };

/// Why packets are dropped.
const NO_SYN: &str = "flow without SYN";
const SEEN: &str = "retransmission";
const FULL: &str = "no room to wait";
const ENDED: &str = "flow ended";
const LATE: &str = "waited too long";

/// How long nothing may come of a flow while packets of it wait.
const PATIENCE_NS: i64 = 2_000_000_000;
/// How often to look for such flows.
const INTERVAL: Duration = Duration::from_secs(1);

/// What is known of a flow.
#[derive(Default)]
struct Flow {
    has_begun: bool,
    /// The sequence number that comes next.
    next: u32,
    waiting: List,
    /// Packets that wait, of a flow that itself waits for a worker since a hot swap.
    parked: Option<Box<[(Span, Packet)]>>,
    /// When the last packet came.
    seen_ns: i64,
}

struct TcpReorder {
    flows: Space<Flow>,
    waiting: Waiting,
    has_timeout: bool,
    /// Where packets go that have been there.
    again: Option<usize>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut mergesort, mut no_timeout, mut verbose) = (false, false, false);
    let (mut direction, mut capacity) = (0u32, TableSize(4096));
    config
        .args()
        .positional("MERGESORT", &mut mergesort)
        .positional("NOTIMEOUT", &mut no_timeout)
        .positional("VERBOSE", &mut verbose)
        .keyword("FLOWDIRECTION", &mut direction)
        .keyword("CAPACITY", &mut capacity)
        .finish()?;
    Ok(Box::new(TcpReorder::new(config, capacity, !no_timeout)))
}

fn create_simple(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut verbose, mut capacity) = (false, TableSize(4096));
    config.args().positional("VERBOSE", &mut verbose).keyword("CAPACITY", &mut capacity).finish()?;
    Ok(Box::new(TcpReorder::new(config, capacity, true)))
}

/// What becomes of a packet.
enum Decision {
    Settled(Verdict),
    Waits,
}

/// Batches on their way.
struct Leaving {
    in_order: Batch,
    again: Batch,
}

impl TcpReorder {
    fn new(config: &Config<'_>, capacity: TableSize, has_timeout: bool) -> TcpReorder {
        let again = (config.outputs() > 1).then_some(1);
        TcpReorder { flows: Space::default(), waiting: Waiting::new(capacity.0), has_timeout, again }
    }

    /// What becomes of the packet, if that is clear without a look at those that wait.
    #[inline]
    fn judge(&mut self, cx: &mut Cx<'_>, packet: &Packet) -> Decision {
        let Some(segment) = Segment::of(packet) else { return Decision::Settled(Verdict::Drop(NO_TCP)) };
        let waiting = &mut self.waiting;
        let known = self.flows.of(packet.flow(), |mut old| drop_all(cx, waiting, &mut old, ENDED));
        let Some((flow, _)) = known else { return Decision::Settled(Verdict::Drop(NO_FLOW)) };
        flow.seen_ns = cx.now_ns();
        if flow.parked.is_some() {
            resume(cx, waiting, flow);
        }
        let Span { start, end } = segment.span();
        let was_there = flow.has_begun && before(start, flow.next);
        if segment.has(flag::SYN) && !was_there {
            drop_all(cx, waiting, flow, ENDED);
            (flow.has_begun, flow.next) = (true, start);
        }
        if !flow.has_begun {
            return Decision::Settled(if segment.has(flag::RST) {
                Verdict::Pass
            } else {
                Verdict::Drop(NO_SYN)
            });
        }
        if flow.next == start && flow.waiting.is_empty() {
            flow.next = end;
            return Decision::Settled(Verdict::Pass);
        }
        if segment.has(flag::RST) {
            drop_all(cx, waiting, flow, ENDED);
            flow.has_begun = false;
            return Decision::Settled(Verdict::Pass);
        }
        if was_there {
            return Decision::Settled(self.again.map_or(Verdict::Drop(SEEN), Verdict::Output));
        }
        Decision::Waits
    }

    /// Has a packet wait, and sends on what waits no longer.
    fn wait(&mut self, cx: &mut Cx<'_>, packet: Packet, leaving: &mut Leaving) {
        let tag = packet.flow();
        let (Some(segment), Some((flow, _))) = (Segment::of(&packet), self.flows.of(tag, drop)) else {
            return cx.drop(packet, NO_FLOW);
        };
        match self.waiting.insert(&mut flow.waiting, segment.span(), packet) {
            Ok(()) if self.waiting.len() == 1 => cx.timers().after(0, INTERVAL),
            Ok(()) => {}
            Err((packet, Refusal::Known)) => return cx.drop(packet, SEEN),
            // One that waits for nothing needs no room.
            Err((packet, Refusal::Full)) if segment.span().start == flow.next => {
                flow.next = segment.span().end;
                push(cx, 0, &mut leaving.in_order, packet);
            }
            Err((packet, Refusal::Full)) => return cx.drop(packet, FULL),
        }
        while let Some(start) = self.waiting.start(&flow.waiting).filter(|&start| !before(flow.next, start)) {
            let Some((span, packet)) = self.waiting.take(&mut flow.waiting) else { return };
            if start == flow.next {
                flow.next = span.end;
                push(cx, 0, &mut leaving.in_order, packet);
            } else {
                cx.drop(packet, SEEN);
            }
        }
    }
}

/// Drops what waits of a flow.
fn drop_all(cx: &mut Cx<'_>, waiting: &mut Waiting, flow: &mut Flow, reason: &'static str) {
    while let Some((_, packet)) = waiting.take(&mut flow.waiting) {
        cx.drop(packet, reason);
    }
    let parked = flow.parked.take().map(Vec::from).unwrap_or_default();
    parked.into_iter().for_each(|(_, packet)| cx.drop(packet, reason));
}

/// This worker has a flow from now on: what waits of it waits here.
#[cold]
fn resume(cx: &mut Cx<'_>, waiting: &mut Waiting, flow: &mut Flow) {
    let parked = flow.parked.take().map(Vec::from).unwrap_or_default();
    for (span, packet) in parked {
        if let Err((packet, _)) = waiting.insert(&mut flow.waiting, span, packet) {
            cx.drop(packet, FULL);
        }
    }
    if waiting.len() > 0 && !cx.timers().is_set(0) {
        cx.timers().after(0, INTERVAL);
    }
}

/// Adds a packet to those that leave, in batches that are not too large.
fn push(cx: &mut Cx<'_>, output: usize, out: &mut Batch, packet: Packet) {
    if out.len() >= cx.vector() || out.is_full() {
        let next = cx.batch();
        cx.emit(output, std::mem::replace(out, next));
    }
    out.push(packet);
}

impl Element for TcpReorder {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.flows.connect(cx)
    }

    #[inline]
    fn push_one(&mut self, cx: &mut Cx<'_>, _port: usize, packet: &mut Packet) -> Option<Verdict> {
        match self.judge(cx, packet) {
            Decision::Settled(verdict) => Some(verdict),
            Decision::Waits => None,
        }
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) {
        let mut leaving = Leaving { in_order: cx.batch(), again: cx.batch() };
        batch.drain(|packet| match self.judge(cx, &packet) {
            Decision::Settled(Verdict::Pass) => push(cx, 0, &mut leaving.in_order, packet),
            Decision::Settled(Verdict::Output(output)) => push(cx, output, &mut leaving.again, packet),
            Decision::Settled(Verdict::Drop(reason)) => cx.drop(packet, reason),
            Decision::Waits => self.wait(cx, packet, &mut leaving),
        });
        cx.consume(batch);
        cx.emit(0, leaving.in_order);
        if leaving.again.is_empty() {
            return cx.consume(leaving.again);
        }
        cx.emit(1, leaving.again);
    }

    /// Drops what has waited too long, and what flows have left that are over.
    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        let (waiting, now_ns) = (&mut self.waiting, cx.now_ns());
        self.flows.sweep(|mut old| drop_all(cx, waiting, &mut old, ENDED));
        if self.has_timeout {
            self.flows.each(|flow| {
                if now_ns - flow.seen_ns >= PATIENCE_NS {
                    drop_all(cx, waiting, flow, LATE);
                }
            });
        }
        if self.waiting.len() + self.held_together() > 0 {
            cx.timers().after(0, INTERVAL);
        }
    }

    fn held(&self) -> usize {
        self.waiting.len()
    }

    fn held_together(&self) -> usize {
        let mut held = 0;
        self.flows.each_parked(|flow| held += flow.parked.as_ref().map_or(0, |parked| parked.len()));
        held
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        let waiting = std::mem::replace(&mut self.waiting, Waiting::new(0));
        Some(Box::new((self.flows.give(), waiting)))
    }

    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(state) = state.downcast::<(Given<Flow>, Waiting)>() {
            let (flows, mut old) = *state;
            self.flows.adopt(cx, flows, |mut flow| {
                let mut list = std::mem::take(&mut flow.waiting);
                let parked: Vec<_> = std::iter::from_fn(|| old.take(&mut list)).collect();
                let parked = if parked.is_empty() { flow.parked.take() } else { Some(parked.into()) };
                Some(Flow { parked, ..flow })
            });
            cx.count_drops(ENDED, old.len() as u64);
            self.flows.each_own(|flow| resume(cx, &mut self.waiting, flow));
        }
    }

    fn taken_over(&mut self, cx: &mut Cx<'_>) {
        if self.held_together() > 0 {
            cx.timers().after(0, INTERVAL);
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("waiting", |e: &mut TcpReorder, _| e.waiting.len()).merged(Merge::Sum);
        h.read("parked", |e: &mut TcpReorder, _| e.held_together());
    }

    fn target(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::send;
    use elements_testing::samples::{edited, with_options};
    use proptest::prelude::*;
    use wire::{ip_proto, tcp};

    /// Bytes of headers in the packets here.
    const HEADERS: usize = 40;

    /// A TCP packet of the flow with this source port.
    fn packet(port: u16, sequence: u32, flags: u8, data: &[u8]) -> Vec<u8> {
        let mut bytes = with_options(&[], 0);
        bytes.truncate(20);
        bytes.extend([0; 20]);
        let mut tcp = tcp::Header::new_checked_mut(&mut bytes[20..]).unwrap();
        tcp.set_sequence(sequence);
        tcp.set_flags(flags);
        bytes[20..22].copy_from_slice(&port.to_be_bytes());
        bytes[32] = 0x50;
        bytes.extend(data);
        let len = bytes.len() as u16;
        edited(bytes, |ip| {
            ip.set_protocol(ip_proto::TCP);
            ip.set_total_len(len);
        })
    }

    /// What the element is to do with a flow, by looking through everything that waits.
    #[derive(Default)]
    struct Naive {
        next: usize,
        waiting: Vec<(usize, usize)>,
        in_order: Vec<(usize, usize)>,
        again: Vec<(usize, usize)>,
    }

    impl Naive {
        fn take(&mut self, start: usize, end: usize) {
            if start < self.next {
                return self.again.push((start, end));
            }
            if self.waiting.iter().any(|&(known, _)| known == start) {
                return;
            }
            self.waiting.push((start, end));
            while let Some(at) = self.waiting.iter().position(|&(start, _)| start == self.next) {
                let (start, end) = self.waiting.remove(at);
                self.next = end;
                self.in_order.push((start, end));
                self.waiting.retain(|&(start, _)| start >= end);
            }
        }
    }

    /// The streams of two flows in segments of one's choice: early, late, several times and overlapping.
    fn segments() -> impl Strategy<Value = Vec<(usize, usize, usize)>> {
        let anywhere = prop::collection::vec((0usize..2, 0usize..40, 1usize..12), 0..40);
        let aligned =
            prop::collection::vec((0usize..2, (0usize..10).prop_map(|n| n * 4), Just(4usize)), 0..60);
        (anywhere, aligned).prop_flat_map(|(mut all, aligned)| {
            all.extend(aligned);
            Just(all).prop_shuffle()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        /// What leaves in order are the first bytes of each stream, without gaps and once; all packets go where they do in the model.
        #[test]
        fn streams_leave_in_order_as_in_the_model(origins in any::<[u32; 2]>(), segments in segments()) {
            let stream = |flow: usize| (0..64).map(|at| (at * 3 + flow * 100) as u8).collect::<Vec<u8>>();
            let streams = [stream(0), stream(1)];
            let first = |flow: usize| origins[flow].wrapping_add(1);
            let mut packets = [0, 1].map(|flow| packet(flow as u16, origins[flow], flag::SYN, &[])).to_vec();
            let mut models = [Naive::default(), Naive::default()];
            for &(flow, start, len) in &segments {
                models[flow].take(start, start + len);
                let sequence = first(flow).wrapping_add(start as u32);
                packets.push(packet(flow as u16, sequence, flag::ACK, &streams[flow][start..start + len]));
            }
            let config = "Inject -> MarkIPHeader -> FlowIPManager -> r :: TCPReorder(NOTIMEOUT true) -> Collect(0); r[1] -> Collect(1)";
            let mut sent = send(config, packets);
            let spans = |at: usize, flow: usize| sent.data(at).iter().filter(|p| p[21] == flow as u8 && p[33] & flag::SYN == 0).map(|p| {
                let sequence = tcp::Header::new_checked(&p[20..]).unwrap().sequence();
                let start = sequence.wrapping_sub(first(flow)) as usize;
                assert_eq!(&p[HEADERS..], &streams[flow][start..start + p.len() - HEADERS]);
                (start, start + p.len() - HEADERS)
            }).collect::<Vec<_>>();
            for (flow, model) in models.iter().enumerate() {
                let in_order = spans(0, flow);
                prop_assert_eq!(&in_order, &model.in_order);
                prop_assert_eq!(in_order.iter().fold(0, |at, &(start, end)| { assert_eq!(at, start); end }), model.next);
                prop_assert_eq!(spans(1, flow), model.again.clone());
            }
            let waiting = models.iter().map(|model| model.waiting.len()).sum::<usize>();
            prop_assert_eq!(sent.read("r.waiting"), waiting.to_string());
        }

        #[test]
        fn whatever_comes(packets in elements_testing::samples::hostile()) {
            let n = packets.len() as u64;
            let flow = send("Inject -> MarkIPHeader -> FlowIPManager -> TCPReorder(CAPACITY 2) -> Collect(0)", packets);
            let dropped = flow.drops().iter().map(|(_, n)| n).sum::<u64>();
            prop_assert!(flow.seen.len() as u64 + dropped <= n);
        }
    }

    /// Without room only what waits for nothing passes.
    #[test]
    fn without_room() {
        let at = |start, data: &[u8]| packet(1, start, flag::ACK, data);
        let packets = [packet(1, 0, flag::SYN, &[]), at(3, b"cd"), at(5, b"ef"), at(1, b"ab"), at(5, b"ef")];
        let config =
            "Inject -> MarkIPHeader -> FlowIPManager -> TCPReorder(CAPACITY 1) -> Strip(40) -> Collect(0)";
        let sent = send(config, packets);
        assert_eq!(sent.data(0).concat(), b"abcdef");
        assert_eq!(sent.drops(), [(FULL, 1)]);
    }
}
