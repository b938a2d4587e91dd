//! A cable with a queue in it: queues, shapers and schedulers between two hosts.
//!
//! What `a` sends waits in a queue, and leaves as fast as a shaper lets it; the answers of `b` have the way back for themselves.
//! Nothing may overtake, nothing may come twice, and what is missing must be counted by the queue.

use super::contract::Family;
use crate::host::{Address, Host};
use crate::ledger::{Ledger, Sent};
use crate::link::{Link, Station};
use crate::machine::Machine;
use crate::model::{Fate, Model, Verdict};
use crate::story::{FlowStep, Knob, Knobs, Step, Story};
use crate::world::{ECHO_PORT, Kind, Network};
use fastrand::Rng;
use std::net::{IpAddr, Ipv4Addr};

/// The family.
pub(super) struct Queues;

const TAPS: [&str; 3] = ["", "seen :: Counter ->", "seen :: RoundRobinSwitch ->"];
const CLASSES: [&str; 3] = ["Queue", "ThreadSafeQueue", "FrontDropQueue"];
/// Packets that the queue holds. The first holds all that a story sends.
const CAPACITIES: [usize; 3] = [4_000, 50, 5];
/// What packets pass behind the queue. All are fast enough to be done when [`Queues::held_ns`] is over.
const SHAPERS: [&str; 8] = [
    "",
    "Unqueue ->",
    "rate :: BandwidthShaper(4MBps) ->",
    "rate :: Shaper(5000) ->",
    "rate :: RatedUnqueue(5000) ->",
    "rate :: BandwidthRatedUnqueue(4MBps) ->",
    "rate :: DelayUnqueue(3ms) ->",
    "rate :: DelayShaper(2ms) ->",
];

/// Work that several workers share, between the queue and the shaper. The first has room for all that a story sends; the second drops and counts what it
/// has no room for, since Unqueue does not wait.
const WORKS: [&str; 3] = [
    "",
    "Unqueue -> spray :: Spray(4096); spray[1] -> work :: Counter -> [1]spray; spray ->",
    "Unqueue -> spray :: Spray; spray[1] -> work :: Counter -> [1]spray; spray ->",
];

const KNOBS: &[Knob] = &[
    Knob { name: "tap", positions: TAPS.len() as u32, live: true },
    Knob { name: "class", positions: CLASSES.len() as u32, live: true },
    Knob { name: "capacity", positions: CAPACITIES.len() as u32, live: true },
    Knob { name: "shaper", positions: SHAPERS.len() as u32, live: true },
    // What is on its way through the work has no place where there is none.
    Knob { name: "work", positions: WORKS.len() as u32, live: false },
];

const HOSTS: [(&str, IpAddr); 2] =
    [("a", IpAddr::V4(Ipv4Addr::new(10, 0, 0, 10))), ("b", IpAddr::V4(Ipv4Addr::new(10, 0, 0, 20)))];

impl Family for Queues {
    fn name(&self) -> &'static str {
        "queues"
    }

    fn knobs(&self) -> &'static [Knob] {
        KNOBS
    }

    fn network(&self, _: &Knobs) -> Network {
        let host = |number: usize| {
            let (name, ip) = HOSTS[number];
            Host::new(name, [2, 0, 0, 1, 0, number as u8], vec![Address { ip, prefix: 24, gateway: None }])
        };
        let link = |number: usize| {
            Link::new(&format!("lan{number}"), vec![Station::Host(number), Station::Port(0, number)])
        };
        Network {
            hosts: (0..2).map(host).collect(),
            links: (0..2).map(link).collect(),
            machines: vec![("cable".to_owned(), 2)],
        }
    }

    fn config(&self, _: usize, knobs: &Knobs) -> String {
        let (tap, shaper) = (TAPS[knobs.get("tap") as usize], SHAPERS[knobs.get("shaper") as usize]);
        let (class, capacity) = (CLASSES[knobs.get("class") as usize], capacity(knobs));
        let work = WORKS[knobs.get("work") as usize];
        // Spray has to be pulled from.
        let shaper = if work.is_empty() || !shaper.is_empty() { shaper } else { SHAPERS[1] };
        format!(
            "FromMemory(eth0) -> {tap} q :: {class}({capacity}) -> {work} {shaper} ToMemory(eth1);
             FromMemory(eth1) -> back :: Counter -> ToMemory(eth0);"
        )
    }

    fn model(&self, knobs: &Knobs) -> Box<dyn Model> {
        Box::new(Cable { capacity: capacity(knobs), is_roomy: knobs.get("work") != 2, swapped: false })
    }

    fn step(&self, _: &Story, rng: &mut Rng) -> Step {
        let from = usize::from(rng.u32(..5) == 0);
        Step::Flow(FlowStep {
            from: HOSTS[from].0.to_owned(),
            to: HOSTS[1 - from].1,
            kind: [Kind::Udp, Kind::Tcp, Kind::Ping][rng.usize(..3)],
            count: rng.u32(1..=80),
            size: [16, 64, 500, 1400][rng.usize(..4)],
            gap_ns: [0, 0, 1_000, 50_000, 500_000][rng.usize(..5)],
            ttl: 64,
            ecn: 0,
            ports: [rng.u16(1024..), if rng.bool() { ECHO_PORT } else { rng.u16(1..1024) }],
            whole: rng.bool(),
            spread: false,
        })
    }

    fn held_ns(&self) -> i64 {
        250_000_000
    }
}

fn capacity(knobs: &Knobs) -> usize {
    CAPACITIES[knobs.get("capacity") as usize]
}

#[derive(Clone)]
struct Cable {
    capacity: usize,
    /// Whether the work, if there is some, has room for all.
    is_roomy: bool,
    swapped: bool,
}

impl Model for Cable {
    fn fate(&self, sent: &Sent) -> Fate {
        // What comes from `b` does not wait, but `b` may have to be told by way of the queue where `a` is.
        let roomy = self.capacity == CAPACITIES[0] && self.is_roomy;
        if !roomy { Fate::Open } else { Fate::arrives(1 - sent.host, 0, true) }
    }

    fn write(&mut self, _: usize, _: &str, _: &str) -> Verdict {
        Verdict::Either
    }

    fn swap(&mut self, _: usize, _: &Knobs, new: &Knobs) -> Verdict {
        (self.capacity, self.swapped) = (capacity(new), true);
        Verdict::Succeeds
    }

    /// What was counted is forgotten.
    fn restart(&mut self, _: usize) {
        self.swapped = true;
    }

    /// What was sent and is not there was dropped, and counted.
    fn at_end(&self, machines: &mut [Machine], ledger: &Ledger, calm: bool) -> Vec<String> {
        if !calm || self.swapped {
            return Vec::new();
        }
        let missing =
            ledger.all().filter(|(_, entry)| entry.sent.is_some() && entry.arrived.is_empty()).count();
        let dropped: u64 = machines.iter().flat_map(Machine::drops).map(|(_, _, count)| count).sum();
        // A question for a neighbour may be among what was dropped.
        match dropped < missing as u64 && self.capacity == CAPACITIES[0] {
            true => vec![format!("{missing} messages are missing, and {dropped} were dropped")],
            false => Vec::new(),
        }
    }

    fn kept(&self, _: usize, old: &Knobs, new: &Knobs) -> Vec<String> {
        let roomier = capacity(old) <= capacity(new);
        let paths: &[&str] = if same(old, new, "class") && roomier { &["q.length"] } else { &[] };
        paths.iter().map(|&path| path.to_owned()).collect()
    }

    fn copy(&self) -> Box<dyn Model> {
        Box::new(self.clone())
    }
}

fn same(old: &Knobs, new: &Knobs, name: &str) -> bool {
    old.get(name) == new.get(name)
}
