//! A meter in a cable: what it tells collectors of flows and samples is what went through.
//!
//! The model counts the frames that the meter has taken, and reads what leaves it for the collectors with code of its own. No direction of a
//! flow may have more packets than went through, and none is missing but for what the meter says it did not count, and for what a restart or an
//! interface that vanished took away.

use super::contract::Family;
use crate::collector::{Collector, FLOWS, SAMPLES, count};
use crate::host::{Address, Host};
use crate::ledger::{Ledger, Sent};
use crate::link::{Link, Station};
use crate::machine::Machine;
use crate::model::{Fate, Model, Verdict};
use crate::story::{FlowStep, Knob, Knobs, Step, Story};
use crate::world::{ECHO_PORT, Kind, Network, ROUNDS};
use fastrand::Rng;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The family.
pub(super) struct Accounting;

const TAPS: [&str; 3] = ["", "seen :: Counter ->", "seen :: RoundRobinSwitch ->"];
const EXITS: [&str; 2] = ["", "Queue(4000) ->"];
const FORMATS: [&str; 4] =
    ["VERSION 10", "VERSION 10, BIFLOW false", "VERSION 9", "VERSION 9, STATISTICS true"];
const TIMES: [&str; 4] = [
    "",
    "IDLE_TIMEOUT 0.02",
    "ACTIVE_TIMEOUT 0.001",
    "IDLE_TIMEOUT 0.005, ACTIVE_TIMEOUT 0.01, TEMPLATE_INTERVAL 0.02",
];
/// With 3 flows there is not room for all.
const CAPACITIES: [u32; 3] = [65_536, 8_192, 3];
/// One packet in so many is sampled.
const RATES: [u32; 2] = [1, 7];

const KNOBS: &[Knob] = &[
    Knob { name: "tap", positions: TAPS.len() as u32, live: true },
    Knob { name: "exit", positions: EXITS.len() as u32, live: true },
    Knob { name: "times", positions: TIMES.len() as u32, live: true },
    Knob { name: "capacity", positions: CAPACITIES.len() as u32, live: true },
    Knob { name: "format", positions: FORMATS.len() as u32, live: false },
    Knob { name: "rate", positions: RATES.len() as u32, live: false },
];

const HOSTS: [(&str, [IpAddr; 2]); 2] = [("a", addresses(10)), ("b", addresses(20))];

const fn addresses(last: u8) -> [IpAddr; 2] {
    [
        IpAddr::V4(Ipv4Addr::new(10, 0, 0, last)),
        IpAddr::V6(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, last as u16)),
    ]
}

impl Family for Accounting {
    fn name(&self) -> &'static str {
        "accounting"
    }

    fn knobs(&self) -> &'static [Knob] {
        KNOBS
    }

    fn network(&self, _: &Knobs) -> Network {
        let host = |number: usize| {
            let (name, addresses) = HOSTS[number];
            let prefix = |ip: IpAddr| if ip.is_ipv4() { 24 } else { 64 };
            let addresses = addresses.map(|ip| Address { ip, prefix: prefix(ip), gateway: None }).to_vec();
            Host::new(name, [2, 0, 0, 1, 0, number as u8], addresses)
        };
        let link = |number: usize| {
            Link::new(&format!("lan{number}"), vec![Station::Host(number), Station::Port(0, number)])
        };
        let mut collectors = Link::new("collectors", vec![Station::Port(0, 2)]);
        collectors.is_read = true;
        Network {
            hosts: (0..2).map(host).collect(),
            links: (0..2).map(link).chain([collectors]).collect(),
            machines: vec![("meter".to_owned(), 3)],
        }
    }

    fn config(&self, _: usize, knobs: &Knobs) -> String {
        let (tap, exit) = (TAPS[knobs.get("tap") as usize], EXITS[knobs.get("exit") as usize]);
        let (format, times) = (FORMATS[knobs.get("format") as usize], TIMES[knobs.get("times") as usize]);
        let times = if times.is_empty() { String::new() } else { format!(", {times}") };
        let (capacity, rate) =
            (CAPACITIES[knobs.get("capacity") as usize], RATES[knobs.get("rate") as usize]);
        let direction = |from: usize, tap: &str| {
            let (v4, v6, to) = (2 * from, 2 * from + 1, 1 - from);
            format!(
                "FromMemory(eth{from}) -> {tap} s{from} :: SFlowAgent({rate}, 10.9.9.1, SUB_AGENT {}, HEADER 64)
                 -> kind{from} :: Classifier(12/0800, 12/86dd, -);
                 kind{from}[0] -> CheckIPHeader(14) -> [{v4}]fx[{v4}] -> out{to};
                 kind{from}[1] -> CheckIP6Header(OFFSET 14) -> [{v6}]fx[{v6}] -> out{to}; kind{from}[2] -> out{to};
                 s{from}[1] -> UDPIPEncap(10.9.9.1, {SAMPLES}, 10.9.9.9, {SAMPLES}) -> tell;
                 out{from} -> {exit} ToMemory(eth{from});",
                100 * from
            )
        };
        format!(
            "fx :: FlowExporter({format}, CAPACITY {capacity}{times}); out0 :: Null; out1 :: Null;
             tell :: EtherEncap(0x0800, 2:0:0:2:0:1, 2:0:0:2:0:9); {} {}
             fx[4] -> UDPIPEncap(10.9.9.1, {FLOWS}, 10.9.9.9, {FLOWS}) -> tell -> Queue(4000) -> ToMemory(eth2);",
            direction(0, tap),
            direction(1, "")
        )
    }

    fn model(&self, knobs: &Knobs) -> Box<dyn Model> {
        Box::new(Meter { samples_all: knobs.get("rate") == 0, restarted: false })
    }

    fn step(&self, _: &Story, rng: &mut Rng) -> Step {
        let from = rng.usize(..2);
        let family = rng.usize(..2);
        if rng.u32(..8) == 0 {
            return Step::Write {
                machine: "meter".to_owned(),
                path: "fx.flush".to_owned(),
                value: String::new(),
            };
        }
        Step::Flow(FlowStep {
            from: HOSTS[from].0.to_owned(),
            to: HOSTS[1 - from].1[family],
            kind: [Kind::Udp, Kind::Tcp, Kind::Ping][rng.usize(..3)],
            count: rng.u32(1..=60),
            size: [16, 64, 1400, 3000][rng.usize(..4)],
            gap_ns: [0, 1_000, 50_000, 500_000][rng.usize(..4)],
            ttl: 64,
            ecn: 0,
            ports: [rng.u16(2_000..2_004), [ECHO_PORT, 53, 80][rng.usize(..3)]],
            whole: rng.bool(),
            spread: rng.bool(),
        })
    }
}

#[derive(Clone)]
struct Meter {
    samples_all: bool,
    restarted: bool,
}

impl Model for Meter {
    fn fate(&self, sent: &Sent) -> Fate {
        Fate::arrives(1 - sent.host, 0, true)
    }

    fn write(&mut self, _: usize, _: &str, _: &str) -> Verdict {
        Verdict::Either
    }

    /// Nothing of it goes on.
    fn upgrade(&mut self, machine: usize, _: &Knobs) -> bool {
        self.restart(machine);
        false
    }

    fn restart(&mut self, _: usize) {
        self.restarted = true;
    }

    /// What was told is what went through.
    fn at_end(&self, machines: &mut [Machine], ledger: &Ledger, _: bool) -> Vec<String> {
        let Some(meter) = machines.first_mut() else { return Vec::new() };
        let mut told: Vec<Vec<u8>> = ledger.read().to_vec();
        let mut wrong: Vec<String> = meter.write("fx.flush", "").err().into_iter().collect();
        for _ in 0..FLUSH_ROUNDS {
            meter.pass(FLUSH_NS, ROUNDS);
            meter.sent(|port, frame| told.extend((port == 2).then_some(frame)));
        }
        let mut collector = Collector::default();
        told.iter().for_each(|frame| collector.receive(frame));
        wrong.append(&mut collector.faults);
        let passed = count(meter.frames().map(|(_, frame)| frame));
        for (way, &[packets, octets]) in &collector.flows {
            let [sent, sent_octets] = passed.get(way).copied().unwrap_or_default();
            if packets > sent || packets == sent && octets != sent_octets {
                wrong.push(format!(
                    "{way:?}: {packets} packets, {octets} octets told; {sent}, {sent_octets} passed"
                ));
            }
        }
        // What is in a router that ends is lost, and what goes to an interface that is not there.
        if self.restarted || meter.was_pulled_out() {
            return wrong;
        }
        if collector.misses && meter.lost() == 0 {
            wrong.push("messages to a collector are missing".to_owned());
        }
        let mut number = |path: &str| meter.read(path).ok().and_then(|text| text.trim().parse::<u64>().ok());
        let all = |tally: &crate::collector::Tally| tally.values().map(|[packets, _]| packets).sum::<u64>();
        let (uncounted, dropped) = (number("fx.uncounted"), number("fx.dropped"));
        let samples = ["s0.samples", "s1.samples"].map(&mut number);
        let lost = ["s0.dropped", "s1.dropped"].map(&mut number);
        let seen = ["s0.count", "s1.count"].map(&mut number);
        let missing = all(&passed) as i64 - all(&collector.flows) as i64 - uncounted.unwrap_or(0) as i64;
        if !(0..=meter.lost() as i64).contains(&missing) && dropped == Some(0) {
            wrong.push(format!("{missing} packets are in no record, and {uncounted:?} were not counted"));
        }
        let sum = |numbers: [Option<u64>; 2]| numbers.iter().flatten().sum::<u64>();
        let untold = sum(samples) as i64 - collector.samples as i64 - sum(lost) as i64;
        if !(0..=meter.lost() as i64 * 16).contains(&untold) {
            wrong.push(format!("{untold} samples were not told, beside {} that were dropped", sum(lost)));
        }
        if self.samples_all && sum(samples) != sum(seen) {
            wrong.push(format!("{} of {} packets are samples", sum(samples), sum(seen)));
        }
        wrong
    }

    fn copy(&self) -> Box<dyn Model> {
        Box::new(self.clone())
    }
}

/// How often the meter gets time for its last messages, and how much.
const FLUSH_ROUNDS: usize = 160;
const FLUSH_NS: i64 = 5_000_000;
