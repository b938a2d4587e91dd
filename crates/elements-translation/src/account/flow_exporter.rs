//! Counts packets and octets by flow, and exports the flows by IPFIX or NetFlow version 9.
//!
//! ```click
//! FlowExporter([KEYWORDS])
//! ```
//!
//! Each packet leaves by the output that has the number of the input it came by. The last output, one more than there are
//! inputs, emits messages for a collector: the payload of UDP datagrams. A ToSocket behind a Queue sends them, or a
//! UDPIPEncap makes packets of them for the router itself.
//!
//! A flow consists of the packets with the same addresses, protocol and ports, and of those that go the other way. Both
//! directions are counted apart; the flow's source is who sends the first packet. Packets need network header annotations
//! (CheckIPHeader, CheckIP6Header); others pass uncounted. TCP, UDP, UDP-Lite, SCTP and DCCP have ports. Later fragments,
//! whose ports are unknown, are a flow of their own, as are all ICMP messages between two hosts. Octets are those of IP
//! packets, headers included.
//!
//! A flow is exported when no packet has come for IDLE_TIMEOUT; two seconds after TCP has closed it; when a packet comes
//! ACTIVE_TIMEOUT after the first packet that was not exported yet; and when a new flow takes its place. Counts are of
//! the time since the last export. Times are those of the router's clock.
//!
//! IPFIX (RFC 7011) exports both directions of a flow in one record (RFC 5103), or in two with BIFLOW false; NetFlow
//! version 9 (RFC 3954) always in two. Records have addresses, ports, protocol, type and code of the first ICMP message,
//! octets, packets, TCP flags, times of the first and the last packet; those of IPFIX also the reason why they are sent.
//! A collector should know the templates after TEMPLATE_INTERVAL at the latest: they are at the head of the first message
//! and again in the next message after that time.
//!
//! Workers have flows of their own, without locks; if packets of a flow, or those that go the other way, arrive on
//! several workers, each exports what it has seen. Each worker is an observation domain (in version 9, a source ID).
//!
//! With ESTIMATES, each flow of TCP is measured, too: the round trips of its handshake, from here to the server (SYN to SYN/ACK)
//! and from here to the client (SYN/ACK to ACK), each of them unknown if one of the two packets came twice; and the segments of each
//! direction that were sent again, which are those that end at or below the highest number that was seen before. Segments that others
//! overtake count as well, questions whether the other side is still there do not. A flow then takes 36 bytes more. Collectors get ntop's
//! elements (enterprise 35632, in version 9 field types from 57472 on), since IANA has none: CLIENT_NW_LATENCY_MS (123)
//! and SERVER_NW_LATENCY_MS (124), half of a round trip in milliseconds; RETRANSMITTED_IN_PKTS (109) from the source, and in records of
//! both directions RETRANSMITTED_OUT_PKTS (110) to it. What is unknown is 0. `talkers_json` has the round trips in microseconds.
//!
//! With EVENTS, what happens to the flows of rewriters and ConnTracks is exported as well, by one of the workers: when a
//! rewriter translates a flow, or with endpoint-independent mapping another endpoint, and when that ends (natEvent 4, 5,
//! 8 and 9 of RFC 8158: addresses and ports before and after; of NAT64 6, 7, 10 and 11); when it finds no port, no address, or no room for a flow
//! (12, 3 and 13: once a second and worker at most; the address is the one whose ports are used up, or the first one of
//! the range); when a ConnTrack remembers a connection, forgets it, or drops the packet of one because its table is full
//! (firewallEvent 1, 2 and 3). Instead of ICMP's ports there are identifiers. The time is when it happened; that of an
//! end that a user or another configuration brings may be 0.1 seconds earlier. A worker keeps 8192 events at most until
//! they are exported, every 20 milliseconds while there are some; others are counted. Packets of known flows cost
//! nothing. Flows that a new configuration has no rewriter for end untold.
//!
//! Memory is bounded. When the table is full, or half of it has flows with a single packet, a new flow takes the place of
//! the oldest one with a single packet, which is exported early. If there is none, packets of new flows pass uncounted.
//!
//! When the configuration is replaced, flows and counts move to a FlowExporter of the same name. Flows that have not been
//! exported when the router ends are lost; write `flush` and wait a moment if that matters.
//!
//! Ports: 1 or more inputs, one more output. Processing: push. Workers: replicated.
//!
//! # Arguments
//! Keywords:
//! - `VERSION` (integer, default 10): 10 for IPFIX, 9 for NetFlow version 9.
//! - `BIFLOW` (boolean, default true): whether IPFIX exports both directions in one record.
//! - `CAPACITY` (integer, default 65536): the maximum number of IPv4 flows, and of IPv6 flows, divided equally among the
//!   workers.
//! - `IDLE_TIMEOUT` (seconds, default 15), `ACTIVE_TIMEOUT` (seconds, default 300): when flows are exported.
//! - `TEMPLATE_INTERVAL` (seconds, default 60): when templates are sent again.
//! - `DOMAIN` (integer, default 1): the observation domain of worker 0; others have the numbers that follow.
//! - `EVENTS` (names of elements, separated by spaces): the rewriters (IPRewriter, TCPRewriter, UDPRewriter,
//!   ICMPPingRewriter, IPAddrRewriter, IPAddrPairRewriter, NAT64) and ConnTracks whose events are exported. Of rewriters that
//!   share a table one is named.
//! - `STATISTICS` (boolean, default false): whether the templates come with a record of options (RFC 7011, section 4):
//!   the messages, records and octets that were exported, packets of which nothing is exported, and records that were not
//!   emitted. The scope is the observation domain.
//! - `ESTIMATES` (boolean, default false): whether round trips and retransmissions of TCP are estimated.
//! - `LENGTH` (integer from 1024 to 8192, default 1400): the maximum number of bytes of a message. A datagram must not need
//!   fragments (RFC 7011, section 10.3.3).
//!
//! # Handlers
//! - `count` (read): flows in the tables.
//! - `capacity` (read): the maximum number of flows of each family, of all workers.
//! - `exported` (read): records that were emitted.
//! - `messages` (read): messages that were emitted.
//! - `dropped` (read): records that were not emitted, because there was no buffer for a message, or flows were displaced
//!   or events came faster than they could be exported.
//! - `uncounted` (read): packets of which nothing is exported: without IP header, or of flows without room.
//! - `talkers` (read, a number from 1 to 1000, default 10): so many of the largest flows of each worker since they were
//!   exported last: octets of both directions, a tab, protocol, source, port, destination and port. A read looks at 2048 flows of
//!   each family at most, so that packets do not wait for it. If there are more, the walk goes on, as many each millisecond, and
//!   until it ends the answer is that of the walk before, or of the flows that the first one has seen so far.
//! - `talkers_json` (read, a number from 1 to 1000, default 10): the same as a line with an object for each flow, those of each worker
//!   apart; with ESTIMATES also `rtt_server_us`, `rtt_client_us` (null if unknown) and `retransmitted`, of both directions.
//! - `largest` (read, a filter as ConnTrack's `flows` takes): those of the 1000 largest flows of each worker that the filter asks for, a line
//!   for each, as `clique ctl flows` shows them: protocol, source, port, destination, port, and octets; with ESTIMATES also the round trips
//!   that are known, to the `server` and to the `client`, and how many segments of each direction were sent `again`, if there were any. A flow's state is not known. `largest_json`: the same
//!   as `talkers_json` says it.
//! - `counters` (read): lines of a number, a tab and what it counts.
//! - `flush` (write, button): exports all flows soon.
//!
//! # Example
//! ```click
//! fx :: FlowExporter(ACTIVE_TIMEOUT 60);
//! in -> fx -> out; fx[1] -> Queue -> ToSocket(UDP, 192.0.2.9, 4739);
//! ```
//!
//! # Differences from Click
//! Click has no class of this name.
//!
//! # See also
//! AggregateIPFlows, ToIPFlowDumps, ConnTrack, FlowIPManager, ToSocket, UDPIPEncap

use super::estimate::{Estimate, Tcp, Told};
use super::events::{self, Events};
use super::format::Format;
use super::messages::{Counts, Course, LONGEST, Messages, Plan, SHORTEST};
use super::meter::{Meter, Parts, Timeouts};
use super::numbers::{Known, Numbers};
use super::record::{Record, Why};
use super::sight::{self, Tuple};
use super::talkers::{self, Talkers};
use crate::rewrite::flow_events::Event;
use elements_shared::flow_filter::Filter;
use flows::{V4Tuple, V6Tuple};
use packet::{Batch, Packet};
use router::{
    Class, Config, ConfigError, Cx, Decision, Element, Handlers, Look, Merge, Metric, Raw, TableSize, Then,
    Verdict, metric,
};
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("FlowExporter", create)
    .ports("1-/=+")
    .processing("h/h")
    .flow("#/#")
    .makes("messages with flow records")
    .keeps("flows of each family", "CAPACITY", 65_536, 384)
    .doc(router::manual!("flow_exporter.rs"));

static EXPORTED: Metric =
    Metric::counter("clique_flow_records_exported_total", "Flow records that the element has emitted.");
static DROPPED: Metric =
    Metric::counter("clique_flow_records_dropped_total", "Flow records that the element could not emit.");

/// How often it is looked which flows are to be exported.
const TICK: Duration = Duration::from_millis(250);
/// Flows of a family that are exported in a row.
const AT_ONCE: usize = 256;
/// Until the next ones are.
const BREATH: Duration = Duration::from_micros(100);
const NS_PER_MS: i64 = 1_000_000;

/// Between two steps of a walk over the flows.
const PAUSE: Duration = Duration::from_millis(1);

/// The timers: of flows, of events, and of the walk for the largest flows.
const FLOWS: u32 = 0;
const EVENTS: u32 = 1;
const TALKERS: u32 = 2;

/// What an instance has counted of packets.
#[derive(Clone, Copy, Default)]
struct Seen {
    packets: u64,
    /// Packets without an IP header.
    strange: u64,
    /// Packets of flows for which there was no room.
    refused: u64,
}

struct FlowExporter<E: Estimate> {
    v4: Meter<V4Tuple, E>,
    v6: Meter<V6Tuple, E>,
    messages: Messages,
    domain: u32,
    numbers: Arc<Numbers>,
    /// What others tell of their flows: by one of the workers.
    events: Events,
    seen: Seen,
    /// The walk for the largest flows.
    talkers: Talkers,
    /// Whether the timer of flows is set.
    is_ticking: bool,
    /// Where messages leave.
    output: usize,
    capacity: usize,
    /// Whether round trips and retransmissions are estimated.
    with_estimates: bool,
}

/// What goes to a new configuration.
struct Handover<E: Estimate> {
    v4: Meter<V4Tuple, E>,
    v6: Meter<V6Tuple, E>,
    course: Course,
    events: (Vec<Event>, events::Counts),
    seen: Seen,
    numbers: Known,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut version, mut both, mut capacity) = (10u16, true, TableSize(65_536));
    let seconds = Duration::from_secs;
    let (mut idle, mut active, mut refresh) = (seconds(15), seconds(300), seconds(60));
    let (mut domain, mut longest) = (1u32, 1400usize);
    let (mut events, mut with_statistics, mut with_estimates) = (Raw::default(), false, false);
    config
        .args()
        .keyword("VERSION", &mut version)
        .keyword("BIFLOW", &mut both)
        .keyword("CAPACITY", &mut capacity)
        .keyword("IDLE_TIMEOUT", &mut idle)
        .keyword("ACTIVE_TIMEOUT", &mut active)
        .keyword("TEMPLATE_INTERVAL", &mut refresh)
        .keyword("DOMAIN", &mut domain)
        .keyword("LENGTH", &mut longest)
        .keyword("EVENTS", &mut events)
        .keyword("STATISTICS", &mut with_statistics)
        .keyword("ESTIMATES", &mut with_estimates)
        .finish()?;
    let format = match version {
        10 => Format::Ipfix { both },
        9 => Format::NetFlow9,
        _ => return Err("VERSION is 9 or 10".into()),
    };
    if idle.is_zero() || active.is_zero() {
        return Err("IDLE_TIMEOUT and ACTIVE_TIMEOUT must not be 0".into());
    }
    if !(SHORTEST..=LONGEST).contains(&longest) {
        return Err(format!("LENGTH is from {SHORTEST} to {LONGEST}").into());
    }
    if config.outputs() == config.inputs() {
        return Err("the last output, for messages, is not connected".into());
    }
    let ms = |time: Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    let workers = config.workers();
    let timeouts = Timeouts { idle, active_ms: ms(active) };
    let per_worker = capacity.0.div_ceil(workers.len().max(1)).max(1);
    let domain = domain.wrapping_add(config.worker() as u32);
    let is_first = workers.first() == Some(&config.worker());
    let events = Events::new(&events.0, is_first);
    let plan = Plan {
        format,
        domain,
        longest,
        refresh_ms: ms(refresh),
        with_events: events.are_wanted,
        with_statistics,
        with_estimates,
    };
    let plans = Plans { plan, timeouts, per_worker, capacity: capacity.0, events };
    if with_estimates { make::<Tcp>(config, plans) } else { make::<()>(config, plans) }
}

/// What the arguments say.
struct Plans {
    plan: Plan,
    timeouts: Timeouts,
    /// Flows of each family.
    per_worker: usize,
    capacity: usize,
    events: Events,
}

fn make<E: Estimate>(config: &mut Config<'_>, plans: Plans) -> Result<Box<dyn Element>, ConfigError> {
    let Plans { plan, timeouts, per_worker, capacity, events } = plans;
    Ok(Box::new(FlowExporter::<E> {
        v4: Meter::new(per_worker, timeouts, config.seed()),
        v6: Meter::new(per_worker, timeouts, config.seed()),
        messages: Messages::new(plan),
        domain: plan.domain,
        numbers: config.shared(|| Ok(Numbers::default()))?,
        events,
        seen: Seen::default(),
        talkers: Talkers::default(),
        is_ticking: false,
        output: config.inputs(),
        capacity,
        with_estimates: plan.with_estimates,
    }))
}

fn now_ms(cx: &Cx<'_>) -> i64 {
    cx.now_ns() / NS_PER_MS
}

impl<E: Estimate> FlowExporter<E> {
    /// Counts packets. First asks for the memory of all of them.
    #[inline]
    fn account<'p>(&mut self, cx: &mut Cx<'_>, packets: impl ExactSizeIterator<Item = &'p Packet>) {
        self.seen.packets += packets.len() as u64;
        for packet in packets {
            match sight::usual_v4(packet) {
                Some((key, facts)) => self.v4.add(packet, key, facts),
                None => self.add_other(packet),
            }
        }
        let (now_ns, now_ms) = (cx.now_ns(), now_ms(cx));
        self.seen.refused += self.v4.count(now_ns, now_ms) + self.v6.count(now_ns, now_ms);
        if self.v4.is_pressed() || self.v6.is_pressed() {
            self.is_ticking = true;
            cx.timers().at_once(FLOWS);
        } else if !self.is_ticking {
            self.is_ticking = true;
            cx.timers().after(FLOWS, TICK);
        }
    }

    #[inline(never)]
    fn add_other(&mut self, packet: &Packet) {
        match sight::but_usual_v4(packet) {
            Some((Tuple::V4(key), facts)) => self.v4.add(packet, key, facts),
            Some((Tuple::V6(key), facts)) => self.v6.add(packet, key, facts),
            None => self.seen.strange += 1,
        }
    }

    /// Goes on with the walk for the largest flows, if there is one.
    fn walk(&mut self, cx: &mut Cx<'_>) {
        if self.talkers.step(&self.v4, &self.v6) {
            cx.timers().after(TALKERS, PAUSE);
        }
    }

    /// Emits messages with what `write` puts into them.
    fn emit<T>(
        &mut self,
        cx: &mut Cx<'_>,
        write: impl FnOnce(&mut Self, &mut dyn FnMut(&[u8]) -> bool) -> T,
    ) -> T {
        let (now_ns, now_ms, output) = (cx.now_ns(), now_ms(cx), self.output);
        self.go_on();
        self.messages.ignored = self.seen.strange + self.seen.refused;
        self.messages.not_told = self.v4.lost + self.v6.lost + self.events.counts.lost;
        let mut batch = cx.batch();
        let mut send = |message: &[u8]| {
            let Some(mut packet) = cx.pool().packet(message) else { return false };
            packet.set_timestamp_ns(now_ns);
            if batch.is_full() {
                let full = std::mem::replace(&mut batch, cx.batch());
                cx.emit(output, full);
            }
            batch.push(packet);
            true
        };
        let written = write(self, &mut send);
        self.messages.finish(now_ms, &mut send);
        if batch.is_empty() {
            cx.consume(batch);
        } else {
            cx.emit(output, batch);
        }
        written
    }

    /// Exports the flows that are to be exported now, or a part of them; whether there are more.
    fn export(&mut self, cx: &mut Cx<'_>) -> bool {
        let (now_ns, now_ms) = (cx.now_ns(), now_ms(cx));
        self.emit(cx, |e, mut send| {
            let FlowExporter { v4, v6, messages, .. } = e;
            let mut tell = |parts: Parts, record: &Record, told: Told, why: Why| {
                messages.add(now_ms, (&parts, record, told, why), &mut send);
            };
            let more_v4 = v4.report(now_ns, AT_ONCE, &mut tell);
            v6.report(now_ns, AT_ONCE, &mut tell) || more_v4
        })
    }

    /// Exports events. How long until there may be more.
    fn export_events(&mut self, cx: &mut Cx<'_>) -> Duration {
        let now_ms = now_ms(cx);
        self.emit(cx, |e, mut send| {
            let FlowExporter { events, messages, .. } = e;
            events.tell(now_ms.max(0) as u64, AT_ONCE, |template, event| {
                messages.add_record(now_ms, template, event, &mut send);
            })
        })
    }

    /// Numbers messages as the domain's instance in a configuration before would.
    fn go_on(&mut self) {
        if let Some(number) = self.numbers.take(self.domain) {
            self.messages.go_on(number);
        }
    }

    fn is_empty(&self) -> bool {
        self.v4.is_empty() && self.v6.is_empty()
    }

    /// Records that were not emitted.
    fn dropped(&self) -> u64 {
        self.messages.course.counts.lost + self.v4.lost + self.v6.lost + self.events.counts.lost
    }

    fn counters(&self) -> String {
        let Counts { messages, records, lost, .. } = self.messages.course.counts;
        let lines = [
            (self.seen.packets, "packets"),
            (self.seen.strange, "packets without IP header"),
            (self.seen.refused, "packets of flows without room"),
            (self.v4.len() as u64, "IPv4 flows"),
            (self.v6.len() as u64, "IPv6 flows"),
            (records, "records exported"),
            (lost, "records dropped: no buffer"),
            (self.v4.lost + self.v6.lost, "records dropped: displaced too fast"),
            (messages, "messages"),
            (self.events.counts.told, "events"),
            (self.events.counts.lost, "events dropped: too fast"),
        ];
        lines.iter().map(|(number, what)| format!("{number}\t{what}\n")).collect()
    }
}

impl<E: Estimate> Element for FlowExporter<E> {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.messages.boot(now_ms(cx));
        if self.events.are_wanted {
            self.events.listen(cx)?;
            cx.timers().after(EVENTS, TICK);
        }
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, port: usize, batch: Batch) {
        self.account(cx, batch.iter());
        cx.emit(port, batch);
    }

    #[inline]
    fn push_one(&mut self, cx: &mut Cx<'_>, port: usize, packet: &mut Packet) -> Option<Verdict> {
        self.account(cx, std::iter::once(&*packet));
        Some(Verdict::Output(port))
    }

    fn timer(&mut self, cx: &mut Cx<'_>, key: u32) {
        match key {
            EVENTS => {
                let pause = self.export_events(cx);
                cx.timers().after(EVENTS, pause);
            }
            TALKERS => self.walk(cx),
            _ => {
                let pause = if self.export(cx) { BREATH } else { TICK };
                self.is_ticking = pause == BREATH || !self.is_empty();
                if self.is_ticking {
                    cx.timers().after(FLOWS, pause);
                }
            }
        }
    }

    fn explain(&self, _look: &Look<'_>, port: usize, _packet: &mut Packet) -> Option<Decision> {
        Some(Decision::new(Then::Output(port), ""))
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        self.go_on();
        let (v4, v6) = (self.v4.give(), self.v6.give());
        let (course, seen) = (self.messages.course, self.seen);
        let numbers = self.numbers.with(self.domain, self.messages.number());
        let events = self.events.give();
        Some(Box::new(Handover { v4, v6, course, events, seen, numbers }))
    }

    /// Flows of a worker that has no instance any more come to another one, in whose domain they are exported.
    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        let now_ns = cx.now_ns();
        let (course, events, seen, numbers) = match state.downcast::<Handover<E>>() {
            Ok(state) => {
                let Handover { v4, v6, course, events, seen, numbers } = *state;
                self.v4.adopt(v4, now_ns);
                self.v6.adopt(v6, now_ns);
                (course, events, seen, numbers)
            }
            Err(state) => {
                let Ok(state) = state.downcast::<Handover<E::Other>>() else { return };
                let Handover { v4, v6, course, events, seen, numbers } = *state;
                self.v4.adopt_other(v4, now_ns);
                self.v6.adopt_other(v6, now_ns);
                (course, events, seen, numbers)
            }
        };
        self.numbers.adopt(numbers);
        self.events.adopt(events);
        self.messages.adopt(course);
        self.seen.packets += seen.packets;
        self.seen.strange += seen.strange;
        self.seen.refused += seen.refused;
        if !self.is_empty() {
            self.is_ticking = true;
            cx.timers().after(FLOWS, TICK);
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        type X<E> = FlowExporter<E>;
        h.read("count", |e: &mut X<E>, _| e.v4.len() + e.v6.len())
            .merged(Merge::Sum)
            .measures(&metric::FLOWS);
        h.read("capacity", |e: &mut X<E>, _| e.capacity);
        h.read("exported", |e: &mut X<E>, _| e.messages.course.counts.records)
            .merged(Merge::Sum)
            .measures(&EXPORTED);
        h.read("messages", |e: &mut X<E>, _| e.messages.course.counts.messages).merged(Merge::Sum);
        h.read("dropped", |e: &mut X<E>, _| e.dropped()).merged(Merge::Sum).measures(&DROPPED);
        h.read("uncounted", |e: &mut X<E>, _| e.seen.strange + e.seen.refused).merged(Merge::Sum);
        h.read("counters", |e: &mut X<E>, _| e.counters()).merged(Merge::Tally);
        h.read_with("talkers", |e: &mut X<E>, cx, text| {
            let most = talkers::asked(text)?;
            if e.talkers.begin() {
                e.walk(cx);
            }
            Ok(e.talkers.lines(most))
        })
        .merged(Merge::Tally);
        h.read_with("talkers_json", |e: &mut X<E>, cx, text| {
            let most = talkers::asked(text)?;
            if e.talkers.begin() {
                e.walk(cx);
            }
            Ok(e.talkers.json(most, e.with_estimates))
        })
        .merged(Merge::Concatenate);
        h.read_with("largest", |e: &mut X<E>, cx, text| {
            let filter = Filter::parse(text)?;
            if e.talkers.begin() {
                e.walk(cx);
            }
            Ok(e.talkers.lines_of(&filter))
        })
        .merged(Merge::Concatenate);
        h.read_with("largest_json", |e: &mut X<E>, cx, text| {
            let filter = Filter::parse(text)?;
            if e.talkers.begin() {
                e.walk(cx);
            }
            Ok(e.talkers.json_of(&filter, e.with_estimates))
        })
        .merged(Merge::Concatenate);
        h.write("flush", |e: &mut X<E>, cx, _| {
            e.v4.force(cx.now_ns());
            e.v6.force(cx.now_ns());
            e.is_ticking = true;
            cx.timers().at_once(FLOWS);
            Ok(())
        })
        .as_button();
    }
}

#[cfg(test)]
#[path = "flow_exporter_tests.rs"]
mod tests;
