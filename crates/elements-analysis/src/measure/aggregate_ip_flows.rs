//! Sets the aggregate annotation to the number of the packet's TCP or UDP flow.
//!
//! ```click
//! AggregateIPFlows([KEYWORDS])
//! ```
//!
//! Numbers flows, from 1 on; both directions of a flow have the same number. The paint annotation is set to the
//! direction: 0 for that of the flow's first packet, 1 for the other, and 2 and 3 for ICMP errors about packets in
//! those directions. Packets must have a marked IP header and should have timestamps, which are used to age the
//! flows. Packets of other protocols leave by output 1 or, if there is none, are dropped.
//!
//! If fragments are handled, a fragment, and everything between the same hosts after it, waits up to the fragment
//! timeout, so that all fragments of a packet get the flow's number. At most 1,024 packets wait; beyond that, those
//! that have waited longest between these hosts leave early. A fragment whose flow cannot be determined leaves by
//! output 1, or is dropped.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic, output 1 push. Workers: exclusive.
//!
//! # Arguments
//! - `TCP_TIMEOUT` (seconds, default 24 hours), `TCP_DONE_TIMEOUT` (default 30 seconds), `UDP_TIMEOUT` (default 1
//!   minute): idle timeout of a TCP flow, of a TCP flow that both sides have closed, and of a UDP flow.
//! - `FRAGMENT_TIMEOUT` (seconds, default 30): how long fragments wait.
//! - `REAP` (seconds, default 20 minutes): how often expired flows are removed.
//! - `ICMP` (boolean, default false): whether ICMP errors belong to the flow of the packet that they quote.
//! - `SYMETRIC` (boolean, default true): FastClick's; whether both directions form one flow. If not, each is a
//!   separate flow, and paint is 0, or 2 for ICMP errors.
//! - `FRAGMENTS` (boolean): whether to handle fragments. The default is true on a push input; it cannot be true on a
//!   pull input.
//! - `TRACEINFO` (file name): a file for an XML summary of each flow, `-` for standard output (which gets no end tag,
//!   as in Click).
//! - `SOURCE` (element): the element that packets come from: its handler `filename` provides the file name for the
//!   summary. With a FromDump, the position in the file at which each flow begins is recorded too (packets are then
//!   read one by one).
//! - `CAPACITY` (integer, default 1000000): the maximum number of flows; packets of any more are treated like those
//!   of other protocols. Click has no limit.
//!
//! # Handlers
//! - `flows` (read): current number of flows.
//! - `clear` (write, button): emits the waiting packets, and forgets all flows.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true, FORCE_IP true) -> AggregateIPFlows -> c :: AggregateCounter -> Discard
//! ```
//!
//! # See also
//! AggregateIP, AggregateCounter

use super::flows::{Flow, Flows, Hosts, Key, Seen, Timeouts};
use super::notifier::Notifier;
use elements_shared::encap::Encap;
use packet::{Anno, Batch, Packet};
use router::{
    Answer, Call, Class, Config, ConfigError, Cx, Element, ElementName, FileName, Handlers, Pull, Residency,
    Response, Step, Verdict,
};
use std::any::Any;
use std::collections::{HashMap, VecDeque};
use std::io::{self, BufWriter, Write};
use std::sync::Arc;
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("AggregateIPFlows", create)
    .ports("1/1-2")
    .processing("a/ah")
    .residency(Residency::Exclusive)
    .holds("fragments, and packets behind them")
    .keeps("flows", "CAPACITY", 1_000_000, 256)
    .doc(router::manual!("aggregate_ip_flows.rs"));

const NS_PER_S: i64 = 1_000_000_000;
/// Packets that wait, at most.
const WAITING_MAX: usize = 1024;
const NO_FLOW: &str = "packet of no flow";

/// A packet that waits.
struct Waiting {
    packet: Packet,
    seen: Seen,
    key: Option<Key>,
}

struct AggregateIpFlows {
    flows: Flows,
    notifier: Arc<Notifier>,
    fragment_timeout: i64,
    reap_interval: i64,
    /// The time of the packets, in seconds.
    now_s: i64,
    next_reap_s: Option<i64>,
    icmp_errors: bool,
    symmetric: bool,
    fragments: bool,
    waiting: HashMap<Hosts, VecDeque<Waiting>>,
    waiting_count: usize,
    warned: bool,
    trace_name: String,
    trace: Option<Trace>,
    source_name: Option<String>,
    source: Option<Arc<Encap>>,
    outputs: usize,
}

/// The summary of flows.
struct Trace {
    name: String,
    file: Box<dyn Write + Send>,
    /// Whether its head is written.
    headed: bool,
}

impl Trace {
    /// Writes the head, unless it is there, with the name of the file that packets come from.
    fn head(&mut self, source: &str) -> io::Result<()> {
        if std::mem::replace(&mut self.headed, true) {
            return Ok(());
        }
        let source = if source.is_empty() { String::new() } else { format!(" file='{source}'") };
        writeln!(self.file, "<?xml version='1.0' standalone='yes'?>\n<trace{source}>")
    }

    /// Writes the end.
    fn end(&mut self, cx: &Cx<'_>) {
        let _ = self.head("");
        let end: &[u8] = if self.name == "-" { b"" } else { b"</trace>\n" };
        // What could not be written before is tried again here.
        if let Err(error) = self.file.write_all(end).and_then(|()| self.file.flush()) {
            cx.log(format_args!(
                "{} :: AggregateIPFlows: {}: {}",
                cx.name(),
                self.name,
                device::plain(&error)
            ));
        }
    }
}

/// What goes to a new configuration.
struct Handover {
    flows: Flows,
    waiting: HashMap<Hosts, VecDeque<Waiting>>,
    waiting_count: usize,
    now_s: i64,
    next_reap_s: Option<i64>,
    trace: Option<Trace>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let seconds = Duration::from_secs;
    let (mut tcp, mut tcp_done, mut udp) = (seconds(86_400), seconds(30), seconds(60));
    let (mut fragment_timeout, mut reap) = (seconds(30), seconds(1200));
    let (mut icmp_errors, mut symmetric, mut fragments) = (false, true, None::<bool>);
    let mut capacity = 1_000_000usize;
    let (mut trace_name, mut source) = (FileName::default(), None::<ElementName>);
    config
        .args()
        .keyword("TCP_TIMEOUT", &mut tcp)
        .keyword("TCP_DONE_TIMEOUT", &mut tcp_done)
        .keyword("UDP_TIMEOUT", &mut udp)
        .keyword("FRAGMENT_TIMEOUT", &mut fragment_timeout)
        .keyword("REAP", &mut reap)
        .keyword("ICMP", &mut icmp_errors)
        .keyword("SYMETRIC", &mut symmetric)
        .keyword("FRAGMENTS", &mut fragments)
        .keyword("TRACEINFO", &mut trace_name)
        .keyword("SOURCE", &mut source)
        .keyword("CAPACITY", &mut capacity)
        .finish()?;
    let push = config.input_is_push(0);
    if fragments == Some(true) && !push {
        let message = "'FRAGMENTS true' is incompatible with pull; run this element in a push context";
        return Err(message.into());
    }
    let whole = |time: Duration| i64::try_from(time.as_secs()).unwrap_or(i64::MAX / NS_PER_S);
    let timeouts = Timeouts { tcp: whole(tcp), tcp_done: whole(tcp_done), udp: whole(udp) };
    Ok(Box::new(AggregateIpFlows {
        flows: Flows::new(timeouts, capacity),
        notifier: config.shared(|| Ok(Notifier::default()))?,
        fragment_timeout: whole(fragment_timeout),
        reap_interval: whole(reap),
        now_s: 0,
        next_reap_s: None,
        icmp_errors,
        symmetric,
        fragments: fragments.unwrap_or(push),
        waiting: HashMap::new(),
        waiting_count: 0,
        warned: false,
        trace_name: trace_name.0,
        trace: None,
        source_name: source.map(|element| element.name),
        source: None,
        outputs: config.outputs(),
    }))
}

/// What becomes of a packet.
enum Decision {
    Emit,
    Fail(&'static str),
    /// It waits with others between the same hosts.
    Wait(Seen),
}

impl AggregateIpFlows {
    fn stamp(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) {
        if packet.timestamp_ns() != 0 {
            return;
        }
        if !self.warned {
            cx.warn("packet received without timestamp");
            self.warned = true;
        }
        packet.set_timestamp_ns(cx.now_ns());
    }

    fn handle(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Decision {
        self.stamp(cx, packet);
        let Some(seen) = Seen::of(packet, self.icmp_errors, self.symmetric) else {
            return Decision::Fail(NO_FLOW);
        };
        let time_ns = packet.timestamp_ns();
        let mut paint = u8::from(seen.error) * 2 + u8::from(seen.flipped);
        let mut aggregate = 0;
        if let Some(key) = seen.key() {
            let position = self.source.as_ref().map_or(0, |source| source.position());
            let Some(found) = self.flows.find(key, &seen, time_ns, position) else {
                return Decision::Fail("too many flows");
            };
            let (reverse, ended) = (found.flow.reverse, found.ended);
            aggregate = found.flow.aggregate;
            if let Some(ended) = ended {
                self.tell(&key, &ended);
            }
            paint ^= u8::from(reverse);
        }
        packet.set_anno(Anno::AGGREGATE, u64::from(aggregate));
        packet.set_paint(paint);
        self.now_s = time_ns / NS_PER_S;
        if self.fragments && (seen.fragment || self.waiting.contains_key(&seen.hosts)) {
            return Decision::Wait(seen);
        }
        let Some(key) = seen.key() else { return Decision::Fail(NO_FLOW) };
        self.flows.leaves(&key, paint, seen.tcp_flags, time_ns);
        Decision::Emit
    }

    /// Keeps a packet back, and lets those go that need not wait any longer.
    fn wait(&mut self, cx: &mut Cx<'_>, packet: Packet, seen: Seen, out: &mut Batch) {
        let queue = self.waiting.entry(seen.hosts).or_default();
        queue.push_back(Waiting { packet, seen, key: seen.key() });
        self.waiting_count += 1;
        self.release(cx, seen.hosts, out);
    }

    fn release(&mut self, cx: &mut Cx<'_>, hosts: Hosts, out: &mut Batch) {
        let oldest_s = self.now_s - self.fragment_timeout;
        while let Some(head) = self.waiting.get(&hosts).and_then(VecDeque::front) {
            let late = head.packet.timestamp_ns() / NS_PER_S < oldest_s || self.waiting_count > WAITING_MAX;
            if head.seen.fragment && !late {
                return;
            }
            self.release_head(cx, hosts, out);
        }
        self.waiting.remove(&hosts);
    }

    /// Lets the first one go. Fragments learn their flow from any other fragment of the same packet.
    fn release_head(&mut self, cx: &mut Cx<'_>, hosts: Hosts, out: &mut Batch) {
        let Some(queue) = self.waiting.get_mut(&hosts) else { return };
        let Some(mut head) = queue.pop_front() else { return };
        self.waiting_count -= 1;
        let same = |other: &Waiting| other.seen.id == head.seen.id && other.seen.fragment;
        if head.key.is_none()
            && let Some(first) = queue.iter().find(|other| same(other) && other.key.is_some())
        {
            head.key = first.key;
            head.packet.set_anno(Anno::AGGREGATE, first.packet.anno(Anno::AGGREGATE));
            head.packet.set_paint(first.packet.paint());
        }
        let Some(key) = head.key else { return self.fail(cx, head.packet, "fragment of an unknown flow") };
        if head.seen.fragment {
            for other in queue.iter_mut().filter(|other| other.seen.id == head.seen.id && other.key.is_none())
            {
                other.key = Some(key);
                other.packet.set_anno(Anno::AGGREGATE, head.packet.anno(Anno::AGGREGATE));
                other.packet.set_paint(head.packet.paint());
            }
        }
        self.flows.leaves(&key, head.packet.paint(), head.seen.tcp_flags, head.packet.timestamp_ns());
        if out.len() == packet::BATCH_MAX {
            let full = std::mem::replace(out, cx.batch());
            cx.emit(0, full);
        }
        out.push(head.packet);
    }

    /// Clears away what is over, once in a while.
    fn reap(&mut self, cx: &mut Cx<'_>, out: &mut Batch) {
        if self.next_reap_s.is_some_and(|at| self.now_s < at) {
            return;
        }
        if self.next_reap_s.is_some() {
            let hosts: Vec<Hosts> = self.waiting.keys().copied().collect();
            hosts.into_iter().for_each(|hosts| self.release(cx, hosts, out));
            let waiting = &self.waiting;
            let over = self.flows.reap(self.now_s, |hosts| waiting.contains_key(hosts));
            over.iter().for_each(|(key, flow)| self.tell(key, flow));
        }
        self.next_reap_s = Some(self.now_s + self.reap_interval);
    }

    /// Tells of a flow's end, and writes its summary.
    fn tell(&mut self, key: &Key, flow: &Flow) {
        self.notifier.over(flow.aggregate);
        let Some(trace) = &mut self.trace else { return };
        let ends = [(key.hosts.low, key.ports.0), (key.hosts.high, key.ports.1)];
        let [(src, sport), (dst, dport)] = if flow.reverse { [ends[1], ends[0]] } else { ends };
        let time = |ns: i64| {
            let (sign, ns) = (if ns < 0 { "-" } else { "" }, ns.unsigned_abs());
            format!("{sign}{}.{:09}", ns / NS_PER_S as u64, ns % NS_PER_S as u64)
        };
        let (begin, duration) = (time(flow.first_ns), time((flow.last_ns - flow.first_ns).max(0)));
        let [forth, back] = flow.packets;
        let position =
            if flow.position == 0 { String::new() } else { format!(" filepos='{}'", flow.position) };
        // A full disk must not stop the packets; what is missing shows in the file's end.
        let _ = trace.head("");
        let _ = write!(
            trace.file,
            "<flow aggregate='{}' src='{src}' sport='{sport}' dst='{dst}' dport='{dport}' begin='{begin}' \
             duration='{duration}'{position}>\n  <stream dir='0' packets='{forth}' /><stream dir='1' packets='{back}' />\n\
             </flow>\n",
            flow.aggregate
        );
    }

    /// Emits everything that waits: those hosts' packets first of which the first is oldest.
    fn release_all(&mut self, cx: &mut Cx<'_>) {
        let age = |(hosts, queue): (&Hosts, &VecDeque<Waiting>)| {
            Some((queue.front()?.packet.timestamp_ns(), *hosts, queue.len()))
        };
        let mut waiting: Vec<_> = self.waiting.iter().filter_map(age).collect();
        waiting.sort_unstable();
        let mut out = cx.batch();
        for (_, hosts, count) in waiting {
            (0..count).for_each(|_| self.release_head(cx, hosts, &mut out));
        }
        self.waiting.clear();
        cx.emit(0, out);
    }

    fn end_flows(&mut self) {
        let all = self.flows.clear();
        all.iter().for_each(|(key, flow)| self.tell(key, flow));
    }

    fn fail(&self, cx: &mut Cx<'_>, packet: Packet, reason: &'static str) {
        if self.outputs > 1 { cx.emit_packet(1, packet) } else { cx.drop(packet, reason) }
    }
}

impl Element for AggregateIpFlows {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if self.trace_name.is_empty() {
            return Ok(());
        }
        let opened: io::Result<Box<dyn Write + Send>> = match self.trace_name.as_str() {
            "-" => Ok(Box::new(io::stdout())),
            name => device::files::reserve(name).map(|file| Box::new(BufWriter::new(file)) as _),
        };
        let failed = |error: io::Error| format!("{}: {}", self.trace_name, device::plain(&error));
        let file = opened.map_err(failed)?;
        if let Some(name) = &self.source_name {
            if let Ok(source) = cx.shared_of::<Encap>(name, "FromDump") {
                source.watch();
                self.source = Some(source);
            }
            cx.handlers().start(Box::new(())); // what the file is called
        }
        self.trace = Some(Trace { name: self.trace_name.clone(), file, headed: false });
        Ok(())
    }

    /// Asks where packets come from, and writes that into the summary's head.
    fn resume(&mut self, cx: &mut Cx<'_>, _state: &mut Box<dyn Any + Send>, answer: Answer) -> Step {
        match (answer, &self.source_name) {
            (Answer::Start, Some(name)) => {
                return Step::Call(Call::read(format!("{name}.filename"), "").within(cx.index()));
            }
            (Answer::Response(Response { result: name, .. }), _) => {
                let name = name.unwrap_or_default();
                let _ = self.trace.as_mut().map(|trace| trace.head(name.trim()));
            }
            _ => {}
        }
        Step::Done(Ok(String::new()))
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) {
        let mut out = cx.batch();
        batch.drain(|mut packet| {
            match self.handle(cx, &mut packet) {
                Decision::Emit if out.len() < packet::BATCH_MAX => out.push(packet),
                Decision::Emit => {
                    let full = std::mem::replace(&mut out, cx.batch());
                    cx.emit(0, full);
                    out.push(packet);
                }
                Decision::Fail(reason) => self.fail(cx, packet, reason),
                Decision::Wait(seen) => self.wait(cx, packet, seen, &mut out),
            }
            self.reap(cx, &mut out);
        });
        cx.consume(batch);
        cx.emit(0, out);
    }

    fn pull(&mut self, _cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        Pull::Ask { input: 0, want }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        let given = cx.sift(batch, |cx, packet| match self.handle(cx, packet) {
            Decision::Emit => Verdict::Pass,
            Decision::Fail(reason) => elements_shared::verdict::fail(self.outputs, reason),
            Decision::Wait(_) => Verdict::Drop("fragment in a pull path"),
        });
        let mut late = cx.batch(); // nothing waits in a pull path, unless it was handed over by one that pushes
        self.reap(cx, &mut late);
        cx.drop_batch(late, "fragment in a pull path");
        Pull::Give(given)
    }

    fn finish(&mut self, cx: &mut Cx<'_>) {
        self.end_flows();
        if let Some(trace) = self.trace.as_mut().filter(|_| cx.has_run()) {
            trace.end(cx);
        }
    }

    fn held(&self) -> usize {
        self.waiting.values().map(VecDeque::len).sum()
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(Handover {
            flows: self.flows.give(),
            waiting: std::mem::take(&mut self.waiting),
            waiting_count: std::mem::take(&mut self.waiting_count),
            now_s: self.now_s,
            next_reap_s: self.next_reap_s,
            trace: self.trace.take(),
        }))
    }

    /// Flows keep their numbers, and the summary goes on in the same file.
    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(state) = state.downcast::<Handover>() {
            let Handover { flows, waiting, waiting_count, now_s, next_reap_s, trace } = *state;
            self.flows.adopt(flows);
            (self.waiting, self.waiting_count) = (waiting, waiting_count);
            (self.now_s, self.next_reap_s) = (now_s, next_reap_s);
            match trace {
                Some(trace) if trace.name == self.trace_name => self.trace = Some(trace),
                other => other.into_iter().for_each(|mut trace| trace.end(cx)),
            }
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("flows", |e: &mut AggregateIpFlows, _| e.flows.table.len());
        h.write("clear", |e: &mut AggregateIpFlows, cx, _| {
            e.release_all(cx);
            e.end_flows();
            Ok(())
        })
        .as_button();
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;
    use crate::testing::{Flow, send};
    use elements_testing::flow_samples::{tcp, udp};
    use packet::Anno;

    const A: [u8; 4] = [10, 0, 0, 1];
    const B: [u8; 4] = [10, 0, 0, 2];

    fn flow(packets: Vec<Vec<u8>>, keywords: &str) -> Flow {
        let config = format!(
            "Inject -> MarkIPHeader(0) -> f :: AggregateIPFlows({keywords}) -> Collect(0); f[1] -> Collect(1)"
        );
        send(&config, packets)
    }

    fn marks(flow: &Flow) -> Vec<(u64, u8)> {
        flow.seen.iter().map(|(_, packet)| (packet.anno(Anno::AGGREGATE), packet.paint())).collect()
    }

    /// Both directions are one flow; TCP and UDP between the same ports are two; a new SYN after both FINs starts anew.
    #[test]
    fn flows_and_directions() {
        let (a, b) = ((A, 1000), (B, 80));
        let packets = vec![
            tcp(b, a, 0x02, &[], b""),
            tcp(a, b, 0x12, &[], b""),
            udp(a, b, b""),
            tcp((A, 1001), b, 0x02, &[], b""),
            tcp(b, a, 0x11, &[], b""),
            tcp(a, b, 0x11, &[], b""),
            tcp(a, b, 0x10, &[], b""),
            tcp(a, b, 0x02, &[], b""),
        ];
        let mut flow = flow(packets, "");
        assert_eq!(marks(&flow), [(1, 0), (1, 1), (2, 0), (3, 0), (1, 0), (1, 1), (1, 1), (4, 0)]);
        assert_eq!(flow.read("f.flows"), "3");
        assert_eq!(flow.write("f.clear", "") + &flow.read("f.flows"), "0");
        assert!(flow.log().contains("packet received without timestamp"));
    }

    #[test]
    fn capacity_and_other_protocols() {
        let packets: Vec<_> = (0..4).map(|port| udp((A, port), (B, 1), b"")).collect();
        let full = flow(packets, "CAPACITY 3");
        assert_eq!((full.data(0).len(), full.data(1).len()), (3, 1));
        let mut other = udp((A, 1), (B, 1), b"");
        other[9] = 99;
        assert_eq!(flow(vec![other, vec![0x45; 12]], "").data(1).len(), 2);
    }

    /// An error about a packet belongs to that packet's flow and direction.
    #[test]
    fn icmp_errors() {
        let inner = udp((A, 5), (B, 6), b"");
        let mut error = elements_testing::flow_samples::echo(B, A, 0, 0);
        error[20] = 3;
        error.extend(&inner);
        let packets = vec![inner, error];
        assert_eq!(marks(&flow(packets.clone(), "ICMP true")), [(1, 0), (1, 2)]);
        assert_eq!(flow(packets, "").data(1).len(), 1);
    }

    /// Fragments wait until they are too many, and then all have the first one's flow.
    #[test]
    fn waiting_fragments_get_the_flow_of_the_first_one() {
        let mut rest = udp((A, 5), (B, 6), b"12345678");
        rest[7] = 2;
        let mut first = udp((A, 5), (B, 6), b"12345678");
        first[6] = 0x20;
        let mut packets = vec![rest, first];
        packets.extend((0..1024).map(|_| udp((A, 7), (B, 8), b"")));
        let flow = flow(packets, "");
        assert_eq!(marks(&flow)[..3], [(1, 0), (1, 0), (2, 0)]);
        assert_eq!(flow.seen.len(), 1026);
    }

    #[test]
    fn summary_of_flows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace").to_str().unwrap().to_owned();
        let config = format!(
            "FastUDPSource(0, 3, 60, 0:0:0:0:0:1, 1.0.0.1, 7, 1:1:1:1:1:2, 2.0.0.2, 80)
             -> f :: AggregateIPFlows(TRACEINFO {path}) -> Discard; RatedSource(LIMIT 4, STOP true) -> Discard"
        );
        let mut router = crate::testing::build(&config, 1, 1).unwrap();
        router.run();
        router.finish();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with(
            "<?xml version='1.0' standalone='yes'?>\n<trace>\n<flow aggregate='1' src='1.0.0.1' "
        ));
        assert!(text.contains("sport='7' dst='2.0.0.2' dport='80' begin='1000000000."), "{text}");
        let end = "  <stream dir='0' packets='3' /><stream dir='1' packets='0' />\n</flow>\n</trace>\n";
        assert!(text.ends_with(end), "{text}");
    }

    /// What could not be written is told at the end.
    #[test]
    fn summary_on_a_full_disk() {
        let config = "FastUDPSource(0, 3, 60, 0:0:0:0:0:1, 1.0.0.1, 7, 1:1:1:1:1:2, 2.0.0.2, 80)
             -> f :: AggregateIPFlows(TRACEINFO /dev/full) -> Discard; RatedSource(LIMIT 4, STOP true) -> Discard";
        let mut router = crate::testing::build(config, 1, 1).unwrap();
        router.run();
        router.finish();
        let said = router.info().log.text();
        assert!(said.ends_with("\nf :: AggregateIPFlows: /dev/full: No space left on device\n"), "{said}");
    }

    #[test]
    fn pull_has_no_fragments() {
        let text = errors("Idle -> Queue -> AggregateIPFlows(FRAGMENTS true) -> Discard");
        assert!(text.contains("incompatible with pull"), "{text}");
    }
}
