//! Samples packets at random, and reports them by sFlow version 5; on request also packets that are dropped.
//!
//! ```click
//! SFlowAgent(N, AGENT [, KEYWORDS])
//! ```
//!
//! Each packet leaves by output 0. One in N, by chance, is sampled: its first bytes, its length, and how many packets it
//! stands for. Output 1 emits datagrams with samples for a collector: the payload of UDP. A ToSocket behind a Queue sends
//! them. A sample waits half a second at most.
//!
//! Packets whose network header is where their data begins are reported as IPv4 or IPv6 packets, all others as Ethernet
//! frames. Interfaces are not known but by IFINDEX. There are no samples of counters.
//!
//! With DROPS, output 1 also emits notifications of packets that any element of the worker drops, each with its reason as a code of
//! sFlow's `drop_reason` and the packet's first bytes; how many more were dropped is told with them. They are in datagrams of their own, so that a
//! collector that does not know them loses no samples. One SFlowAgent of a router can have DROPS: of two, each would get some of them.
//!
//! Each worker samples its own packets, and is a sub-agent of its own. When the configuration is replaced, samples and
//! counts move to an SFlowAgent of the same name.
//!
//! Ports: 1 input, 2 outputs. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `N` (integer, at least 1): one packet in so many is sampled.
//! - `AGENT` (IP address): the address by which the collector knows this router.
//! - `HEADER` (integer from 14 to 1024, default 128): the maximum number of bytes of a packet that a sample has.
//! - `IFINDEX` (integer, default 0): the number of the interface where packets come from; 0 if unknown.
//! - `SUB_AGENT` (integer, default 0): the number of worker 0's sub-agent; others have the numbers that follow. Elements with the
//!   same AGENT need numbers that differ.
//! - `LENGTH` (integer from 1200 to 8192, default 1400): the maximum number of bytes of a datagram.
//! - `DROPS` (integer up to 1000, default 0): how many dropped packets each worker reports in a second, at most.
//!
//! # Handlers
//! - `count` (read): packets that passed.
//! - `samples` (read): packets that were sampled.
//! - `discards` (read): packets that were dropped and reported.
//! - `datagrams` (read): datagrams that were emitted.
//! - `dropped` (read): samples and reports of dropped packets that were not emitted, because there was no buffer.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> s :: SFlowAgent(1000, 192.0.2.1) -> Discard;
//! s[1] -> Queue -> ToSocket(UDP, 192.0.2.9, 6343);
//! ```
//!
//! # Differences from Click
//! Click has no class of this name.
//!
//! # See also
//! FlowExporter, RandomSample, ToSocket

use super::discards::{self, Head};
use super::numbers::{Known, Number, Numbers};
use packet::{Batch, Packet};
use router::{
    Class, Config, ConfigError, Cx, Decision, Element, Handlers, Look, Merge, Then, Verdict, metric,
};
use std::any::Any;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("SFlowAgent", create)
    .ports("1/2")
    .processing("h/h")
    .flow("x/xy")
    .makes("datagrams with samples")
    .doc(router::manual!("sflow_agent.rs"));

/// How long a sample waits for others, at most.
const WAIT: Duration = Duration::from_millis(500);
/// How often dropped packets are looked at.
const LOOK: Duration = Duration::from_millis(500);
/// Timers: samples have waited; dropped packets are looked at.
const WAITED: u32 = 0;
const DISCARDS: u32 = 1;
const VERSION: u32 = 5;
/// Kinds of samples, of their records, and of the headers in those: `flow_sample`, `sampled_header`, `header_protocol` of the specification
/// (sflow.org, sflow_version_5.txt).
const FLOW_SAMPLE: u32 = 1;
const DISCARDED_PACKET: u32 = 5;
const SAMPLED_HEADER: u32 = 1;
const ETHERNET: u32 = 1;
const IPV4: u32 = 11;
const IPV6: u32 = 12;
/// Octets of a sample but for the packet's bytes.
const SAMPLE: usize = 64;
/// Octets of a datagram's header with an IPv6 address.
const HEADER: usize = 40;
const OUTPUT: usize = 1;

/// What of an instance goes on in a new configuration.
#[derive(Clone, Default)]
struct Course {
    boot_ms: i64,
    packets: u64,
    samples: u64,
    /// Dropped packets that were reported.
    discards: u64,
    /// Dropped packets that were not.
    untold: u64,
    /// Samples and reports that were lost.
    lost: u64,
    datagrams: u64,
    /// Datagrams with their numbers, those that were lost among them.
    sequence: u32,
}

struct SFlowAgent {
    n: u32,
    agent: IpAddr,
    sub_agent: u32,
    interface: u32,
    /// Bytes of a packet in a sample, at most.
    header: usize,
    longest: usize,
    /// Dropped packets that are reported at a time, at most.
    drops: usize,
    /// Packets that the worker had dropped when it was asked last.
    dropped: u64,
    /// Packets up to the next sample, this one included.
    skip: u32,
    course: Course,
    numbers: Arc<Numbers>,
    /// Samples that wait.
    waiting: Vec<u8>,
    waiting_count: u32,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut n, mut agent, mut header, mut longest) = (0u32, String::new(), 128usize, 1400usize);
    let (mut interface, mut sub_agent, mut drops) = (0u32, 0u32, 0usize);
    config
        .args()
        .required("N", &mut n)
        .required("AGENT", &mut agent)
        .keyword("HEADER", &mut header)
        .keyword("IFINDEX", &mut interface)
        .keyword("SUB_AGENT", &mut sub_agent)
        .keyword("LENGTH", &mut longest)
        .keyword("DROPS", &mut drops)
        .finish()?;
    let scope = config.scope();
    let v4 = <Ipv4Addr as router::FromArg>::from_arg(&agent, scope).map(IpAddr::V4);
    let agent = v4.or_else(|_| <Ipv6Addr as router::FromArg>::from_arg(&agent, scope).map(IpAddr::V6));
    let agent = agent.map_err(|_| "AGENT: expected an IP address")?;
    if n == 0 || n > 1 << 30 {
        return Err("N is from 1 to 1073741824".into());
    }
    if !(14..=1024).contains(&header) {
        return Err("HEADER is from 14 to 1024".into());
    }
    if !(1200..=8192).contains(&longest) {
        return Err("LENGTH is from 1200 to 8192".into());
    }
    if drops > 1000 {
        return Err("DROPS is at most 1000".into());
    }
    let sub_agent = sub_agent.wrapping_add(config.worker() as u32);
    let (course, waiting) = (Course::default(), Vec::with_capacity(longest));
    let skip = 1;
    Ok(Box::new(SFlowAgent {
        n,
        agent,
        sub_agent,
        interface,
        header,
        longest,
        drops: drops.div_ceil(2),
        dropped: 0,
        skip,
        course,
        numbers: config.shared(|| Ok(Numbers::default()))?,
        waiting,
        waiting_count: 0,
    }))
}

impl SFlowAgent {
    /// Wants to see what the worker drops from now on.
    fn watch_drops(&mut self, cx: &mut Cx<'_>) {
        if self.drops > 0 {
            (_, self.dropped) = cx.take_drops(self.drops);
            cx.timers().after(DISCARDS, LOOK);
        }
    }

    /// How many packets until the next sample: N on average, so that no pattern of packets hides from the samples.
    fn draw(&mut self, cx: &mut Cx<'_>) {
        self.skip = cx.rng().u32(1..2 * self.n);
    }

    /// Passes so many packets over; false if one of them is to be sampled.
    #[inline]
    fn passes_over(&mut self, packets: u32) -> bool {
        let all = self.skip > packets;
        if all {
            self.skip -= packets;
            self.course.packets += u64::from(packets);
        }
        all
    }

    #[cold]
    fn sample<'p>(&mut self, cx: &mut Cx<'_>, packets: impl Iterator<Item = &'p Packet>) {
        for packet in packets {
            if self.passes_over(1) {
                continue;
            }
            self.course.packets += 1;
            self.course.samples += 1;
            self.draw(cx);
            self.report(cx, packet);
        }
    }

    /// Puts a sample behind those that wait.
    fn report(&mut self, cx: &mut Cx<'_>, packet: &Packet) {
        let head = Head::of(packet);
        self.make_room(cx, &head);
        let Course { samples, packets, lost, .. } = self.course;
        let source = self.interface & 0xff_ffff;
        // Where it leaves is not known yet.
        let about = [samples as u32, source, self.n, packets as u32, lost as u32, self.interface, 0];
        self.write(FLOW_SAMPLE, about, &head);
    }

    /// Sends what the worker has dropped, in datagrams of its own: a collector that does not know such reports may lose what else is in a datagram, as
    /// pmacct 1.7.7 does.
    fn report_discards(&mut self, cx: &mut Cx<'_>) {
        let (seen, all) = cx.take_drops(self.drops);
        self.course.untold += all.saturating_sub(self.dropped).saturating_sub(seen.len() as u64);
        self.dropped = all;
        if seen.is_empty() {
            return;
        }
        self.send(cx);
        for (reason, view) in &seen {
            let head = Head::seen(view);
            self.make_room(cx, &head);
            self.course.discards += 1;
            let Course { discards, untold, lost, .. } = self.course;
            let (sources, source) = (0, self.interface); // interfaces
            let (unreported, code) = (untold + lost, discards::code(reason));
            let about = [discards as u32, sources, source, unreported as u32, self.interface, 0, code];
            self.write(DISCARDED_PACKET, about, &head);
        }
        self.send(cx);
    }

    /// How many bytes of a packet are reported.
    fn cut(&self, head: &Head<'_>) -> usize {
        head.bytes.len().min(self.header)
    }

    /// Sends what waits if a report of this packet does not fit behind it.
    fn make_room(&mut self, cx: &mut Cx<'_>, head: &Head<'_>) {
        if HEADER + self.waiting.len() + SAMPLE + self.cut(head).next_multiple_of(4) > self.longest {
            self.send(cx);
        }
        if self.waiting.is_empty() {
            cx.timers().after(WAITED, WAIT);
        }
    }

    /// Puts a report of a kind, and what it says about the packet, behind those that wait.
    fn write(&mut self, kind: u32, about: [u32; 7], head: &Head<'_>) {
        let bytes = &head.bytes[..self.cut(head)];
        let padded = bytes.len().next_multiple_of(4);
        let protocol = match (head.is_network, bytes.first().map(|first| first >> 4)) {
            (true, Some(4)) => IPV4,
            (true, Some(6)) => IPV6,
            _ => ETHERNET,
        };
        let record = 16 + padded as u32;
        let (records, stripped) = (1, 0);
        let before = [kind, 32 + 8 + record];
        let behind =
            [records, SAMPLED_HEADER, record, protocol, head.len as u32, stripped, bytes.len() as u32];
        let words = before.iter().chain(&about).chain(&behind);
        self.waiting.extend(words.flat_map(|word| word.to_be_bytes()));
        self.waiting.extend(bytes);
        self.waiting.resize(self.waiting.len() + padded - bytes.len(), 0);
        self.waiting_count += 1;
    }

    /// Numbers datagrams as the sub-agent's instance in a configuration before would.
    fn go_on(&mut self) {
        if let Some(Number { sequence, boot_ms }) = self.numbers.take(self.sub_agent) {
            (self.course.sequence, self.course.boot_ms) = (sequence, boot_ms);
        }
    }

    /// Emits what waits.
    fn send(&mut self, cx: &mut Cx<'_>) {
        if self.waiting.is_empty() {
            return;
        }
        let count = std::mem::take(&mut self.waiting_count);
        self.go_on();
        self.course.sequence = self.course.sequence.wrapping_add(1);
        let (mut head, mut at) = ([0; HEADER], 0);
        let mut put = |bytes: &[u8]| {
            head[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        };
        put(&VERSION.to_be_bytes());
        match self.agent {
            IpAddr::V4(address) => {
                [&1u32.to_be_bytes()[..], &address.octets()].iter().for_each(|part| put(part))
            }
            IpAddr::V6(address) => {
                [&2u32.to_be_bytes()[..], &address.octets()].iter().for_each(|part| put(part))
            }
        }
        let uptime_ms = cx.now_ns() / 1_000_000 - self.course.boot_ms;
        for word in [self.sub_agent, self.course.sequence, uptime_ms as u32, count] {
            put(&word.to_be_bytes());
        }
        match cx.pool().alloc(packet::DEFAULT_HEADROOM, at + self.waiting.len()) {
            Some(mut packet) => {
                let (front, rest) = packet.data_mut().split_at_mut(at);
                front.copy_from_slice(&head[..at]);
                rest.copy_from_slice(&self.waiting);
                packet.set_timestamp_ns(cx.now_ns());
                self.course.datagrams += 1;
                cx.emit_packet(OUTPUT, packet);
            }
            None => self.course.lost += u64::from(count),
        }
        self.waiting.clear();
    }
}

impl Element for SFlowAgent {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.course.boot_ms = cx.now_ns() / 1_000_000;
        self.draw(cx);
        self.watch_drops(cx);
        Ok(())
    }

    #[inline]
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        if !self.passes_over(batch.len() as u32) {
            self.sample(cx, batch.iter());
        }
        cx.emit(0, batch);
    }

    #[inline]
    fn push_one(&mut self, cx: &mut Cx<'_>, _port: usize, packet: &mut Packet) -> Option<Verdict> {
        if !self.passes_over(1) {
            self.sample(cx, std::iter::once(&*packet));
        }
        Some(Verdict::Pass)
    }

    fn timer(&mut self, cx: &mut Cx<'_>, key: u32) {
        if key == DISCARDS {
            self.report_discards(cx);
            cx.timers().after(DISCARDS, LOOK);
        } else {
            self.send(cx);
        }
    }

    fn explain(&self, _look: &Look<'_>, _port: usize, _packet: &mut Packet) -> Option<Decision> {
        Some(Decision::new(Then::Output(0), ""))
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        self.go_on();
        let Course { sequence, boot_ms, .. } = self.course;
        let numbers = self.numbers.with(self.sub_agent, Number { sequence, boot_ms });
        let waiting = std::mem::take(&mut self.waiting);
        Some(Box::new((self.sub_agent, self.course.clone(), numbers, waiting, self.waiting_count)))
    }

    /// Samples of a worker that has no instance any more would be another sub-agent's: they are lost, and so are those that are too long now.
    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        let Ok(state) = state.downcast::<(u32, Course, Known, Vec<u8>, u32)>() else { return };
        let (sub_agent, old, numbers, waiting, count) = *state;
        self.numbers.adopt(numbers);
        let course = &mut self.course;
        course.packets += old.packets;
        course.samples += old.samples;
        course.datagrams += old.datagrams;
        course.discards += old.discards;
        course.untold += old.untold;
        course.lost += old.lost;
        if sub_agent == self.sub_agent && HEADER + waiting.len() <= self.longest {
            self.waiting.extend(waiting);
            self.waiting_count = count;
            cx.timers().after(WAITED, WAIT);
        } else {
            course.lost += u64::from(count);
        }
    }

    /// Elements have taken over what they had dropped.
    fn taken_over(&mut self, cx: &mut Cx<'_>) {
        self.watch_drops(cx);
    }

    fn handlers(&self, h: &mut Handlers) {
        type S = SFlowAgent;
        h.read("count", |e: &mut S, _| e.course.packets).merged(Merge::Sum).measures(&metric::PACKETS);
        h.read("samples", |e: &mut S, _| e.course.samples).merged(Merge::Sum);
        h.read("discards", |e: &mut S, _| e.course.discards).merged(Merge::Sum);
        h.read("datagrams", |e: &mut S, _| e.course.datagrams).merged(Merge::Sum);
        h.read("dropped", |e: &mut S, _| e.course.lost).merged(Merge::Sum);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{build_at, errors};
    use elements_testing::flow_samples::udp;
    use router::{Call, Clock, Resources, Router};

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn run(config: &str, vector: usize) -> Router {
        let mut router = build_at(config, 1, vector, Clock::simulated(), Resources::default()).unwrap();
        elements_testing::run_to_end(&mut router);
        router
    }

    /// The words of the datagrams that were printed.
    fn datagrams(router: &Router) -> Vec<Vec<u32>> {
        let text = router.info().log.text();
        let lines = text.lines().filter_map(|line| line.strip_prefix("m:")?.split_once('|'));
        let words = |digits: &str| {
            let digits: String = digits.split_whitespace().collect();
            assert_eq!(digits.len() % 8, 0);
            (0..digits.len())
                .step_by(8)
                .map(|at| u32::from_str_radix(&digits[at..at + 8], 16).unwrap())
                .collect()
        };
        lines.map(|(_, digits)| words(digits)).collect()
    }

    /// Of a sample: its number, rate, pool, what kind of packet it is, its length and its bytes, by the specification's words.
    fn samples(datagram: &[u32]) -> Vec<(u32, u32, u32, u32, u32, Vec<u8>)> {
        let (mut rest, mut found) = (&datagram[7..], Vec::new());
        for _ in 0..datagram[6] {
            assert_eq!((rest[0], rest[9], rest[10]), (1, 1, 1));
            let (sample, behind) = rest.split_at(2 + rest[1] as usize / 4);
            assert_eq!(sample[11] as usize, 4 * (sample.len() - 12));
            let mut bytes: Vec<u8> = sample[16..].iter().flat_map(|word| word.to_be_bytes()).collect();
            assert_eq!(bytes.len(), sample[15].next_multiple_of(4) as usize);
            bytes.truncate(sample[15] as usize);
            found.push((sample[2], sample[4], sample[5], sample[12], sample[13], bytes));
            rest = behind;
        }
        assert!(rest.is_empty());
        found
    }

    #[test]
    fn every_packet_where_n_is_one() {
        let packet = udp(([10, 0, 0, 1], 5), ([192, 0, 2, 1], 6), &[7; 90]);
        let config = format!(
            "RatedSource(DATA \\<{}>, RATE 10, LIMIT 12) -> s :: SFlowAgent(1, 192.0.2.9, HEADER 33, SUB_AGENT 4, IFINDEX 3) -> out :: Discard;
             s[1] -> Print(m, -1) -> Discard; Script(wait 3, stop)",
            hex(&packet)
        );
        for (marked, kind) in
            [(config.clone(), 1), (config.replace("-> s ::", "-> MarkIPHeader -> s ::"), 11)]
        {
            let mut router = run(&marked, 32);
            let datagrams = datagrams(&router);
            let numbers: Vec<_> = datagrams.iter().map(|words| (words[..4].to_vec(), words[4])).collect();
            let expected: Vec<_> =
                (1..=datagrams.len() as u32).map(|at| (vec![5, 1, 0xc000_0209, 4], at)).collect();
            assert_eq!(numbers, expected);
            let all: Vec<_> = datagrams.iter().flat_map(|words| samples(words)).collect();
            let sample = |at| (at, 1, at, kind, packet.len() as u32, packet[..33].to_vec());
            assert_eq!(all, (1..=12).map(sample).collect::<Vec<_>>());
            let mut read = |path: &str| router.call(Call::read(path, "")).unwrap();
            assert_eq!(
                ["out.count", "s.count", "s.samples", "s.dropped"].map(&mut read),
                ["12", "12", "12", "0"]
            );
        }
    }

    /// What any element drops is reported with the reason's code, not more than DROPS in a second, and the rest is counted.
    #[test]
    fn dropped_packets_are_reported() {
        let packet = udp(([10, 0, 0, 1], 5), ([192, 0, 2, 1], 6), &[7; 90]);
        let config = format!(
            "RatedSource(DATA \\<{}>, RATE 100, LIMIT 300) -> MarkIPHeader -> q :: Queue(5) -> Unqueue(ACTIVE false) -> Discard;
             Idle -> s :: SFlowAgent(1, 192.0.2.9, HEADER 33, IFINDEX 3, DROPS 10) -> Discard;
             s[1] -> Print(m, -1) -> Discard; Script(wait 5, stop)",
            hex(&packet)
        );
        let mut router = run(&config, 32);
        let (mut told, mut last) = (0, 0);
        for words in &datagrams(&router) {
            let mut rest = &words[7..];
            for _ in 0..words[6] {
                let (one, behind) = rest.split_at(2 + rest[1] as usize / 4);
                told += 1;
                // Kind, number, source, interfaces, reason, records; then the header's kind, length, and bytes.
                assert_eq!([one[0], one[2], one[3], one[4]], [5, told, 0, 3]);
                assert_eq!(one[6..12], [3, 0, 259, 1, 1, 16 + 36]);
                assert_eq!(one[12..16], [11, packet.len() as u32, 0, 33]);
                assert_eq!(one[16].to_be_bytes(), packet[..4]);
                (rest, last) = (behind, one[5]);
            }
        }
        let mut read = |path: &str| router.call(Call::read(path, "")).unwrap();
        assert_eq!((read("q.drops"), read("s.discards")), ("295".to_owned(), told.to_string()));
        // Seven looks of half a second, five packets each; the last tells of all before the seventh.
        assert!((30..=35).contains(&told), "{told}");
        assert!(last + told <= 295 && last > 200, "{last} + {told}");
    }

    /// About one in N, whatever the batches; the pool says how many packets there were; datagrams are not too long.
    #[test]
    fn about_one_in_n() {
        let config = "InfiniteSource(LENGTH 100, LIMIT 20000, BURST 32) -> s :: SFlowAgent(50, 2001:db8::1) -> out :: Discard;
             s[1] -> CheckLength(1400) -> Print(m, -1) -> Discard; Script(wait 3, stop)";
        for vector in [1, 32] {
            let mut router = run(config, vector);
            let datagrams = datagrams(&router);
            assert_eq!(datagrams[0][..6], [5, 2, 0x2001_0db8, 0, 0, 1]);
            let v4 = |words: &Vec<u32>| [&words[..1], &[1, 0], &words[6..]].concat();
            let all: Vec<_> = datagrams.iter().flat_map(|words| samples(&v4(words))).collect();
            assert!((320..480).contains(&all.len()), "{}", all.len());
            assert!(all.is_sorted_by_key(|sample| sample.2) && all.last().unwrap().2 > 19_000);
            let mut read = |path: &str| router.call(Call::read(path, "")).unwrap();
            assert_eq!(read("s.samples"), all.len().to_string());
            assert_eq!((read("s.count"), read("out.count")), ("20000".to_owned(), "20000".to_owned()));
        }
    }

    /// Samples that wait, and numbers, go on in another configuration.
    #[test]
    fn samples_survive_a_hot_swap() {
        let clock = Clock::simulated();
        let config =
            "TimedSource(0.1, twenty-one-bytes-long, LIMIT 8) -> s :: SFlowAgent(1, 192.0.2.9) -> Discard;
             s[1] -> Print(m, -1) -> Discard; Script(wait 1000, stop)";
        let make = |config: &str| build_at(config, 1, 32, clock.clone(), Resources::default()).unwrap();
        let mut router = make(config);
        let run_for = |router: &mut Router, ms: i64| {
            for _ in 0..ms / 50 {
                router.run_rounds(100);
                clock.jump(clock.now_ns() + 50_000_000);
            }
        };
        // The first five or six have left by then.
        run_for(&mut router, 850);
        let first = datagrams(&router);
        assert_eq!((first.len(), first[0][4]), (1, 1));
        router.handle().interrupt();
        router.replace(make(&config.replace("LIMIT 8", "LIMIT 2"))).unwrap().finish();
        run_for(&mut router, 1000);
        let later = datagrams(&router);
        assert_eq!(later[0][4], 2);
        let numbers: Vec<u32> =
            first.iter().chain(&later).flat_map(|words| samples(words)).map(|sample| sample.0).collect();
        assert_eq!(numbers, (1..=10).collect::<Vec<_>>());
    }

    #[test]
    fn bad_arguments_are_refused() {
        for (arguments, error) in [
            ("0, 192.0.2.1", "N is from 1"),
            ("10", "AGENT: required argument missing"),
            ("10, nowhere", "AGENT: expected an IP address"),
            ("10, 192.0.2.1, HEADER 5000", "HEADER is from 14 to 1024"),
            ("10, 192.0.2.1, LENGTH 100", "LENGTH is from 1200 to 8192"),
            ("10, 192.0.2.1, DROPS 1001", "DROPS is at most 1000"),
        ] {
            let said = errors(&format!("Idle -> s :: SFlowAgent({arguments}) -> Discard; s[1] -> Discard"));
            assert!(said.contains(error), "{said}");
        }
    }
}
