//! Tests of the flow table: against a naive one, and with threads.

use super::counts::{InputCounts, Totals};
use super::flow_events::{Event, WAITING, What};
use super::flow_set::{Entered, FlowSet};
use super::policy::{Policy, Timeouts};
use super::record::NewFlow;
use super::sync::LANES;
use elements_shared::flow_id::{FlowId, Key};
use proptest::prelude::*;
use rcu::Domain;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Time passes in steps of this; idle times have different remainders, so that no two flows are due at once.
const STEP_MS: u64 = 8;

const POLICIES: [Policy; 2] = [
    Policy { guarantee_ms: 5000, timeouts: Timeouts::Tcp { nodata: 20_001, data: 60_002, done: 3003 } },
    Policy { guarantee_ms: 0, timeouts: Timeouts::Plain(8004) },
];

/// A flow of map `map` that turns host `host`'s address into 1.0.0.0 and its port into `port`.
fn flow(map: u32, host: u8, port: u16) -> NewFlow {
    let id = FlowId { saddr: 0x0a00_0000 + u32::from(host), daddr: 0x0506_0708, sport: 1, dport: 80 };
    NewFlow {
        map,
        protocol: 6,
        id,
        rewritten: FlowId { saddr: 0x0100_0000, sport: port, ..id },
        outputs: [0, 1],
        input: 0,
        ip_change: 0xffff,
        transport_change: 0xffff,
        reply_anno: 0,
        mapped: false,
    }
}

fn keys(new: &NewFlow) -> [Key; 2] {
    [new.id, new.rewritten.reversed()].map(|id| Key::new(new.map, id))
}

/// What is there by what events say alone.
#[derive(Default)]
pub(super) struct Told {
    list: Vec<Event>,
    /// The events that have made what is there.
    pub(super) live: Vec<Event>,
}

impl Told {
    /// Takes what has happened. Each end is that of what was made before, in the same lane.
    pub(super) fn hear(&mut self, set: &FlowSet) {
        self.list.reserve(WAITING);
        for lane in 0..LANES {
            assert_eq!(set.take_events(lane, None, &mut self.list), 0);
            for event in self.list.drain(..) {
                let is_end = match event.what {
                    What::SessionMade | What::MappingMade => None,
                    What::SessionEnded => Some(What::SessionMade),
                    What::MappingEnded => Some(What::MappingMade),
                    _ => continue,
                };
                let Some(what) = is_end else {
                    self.live.push(event);
                    continue;
                };
                let is = |made: &Event| Event { what, at_ms: made.at_ms, ..event } == *made;
                let at = self.live.iter().position(is).expect("it was made");
                self.live.swap_remove(at);
            }
        }
    }
}

struct Naive {
    new: NewFlow,
    last_ms: u64,
    flags: u16,
}

impl Naive {
    fn times(&self) -> (u64, u64) {
        let policy = POLICIES[self.new.map as usize];
        let over_ms = self.last_ms + policy.timeout_ms(self.flags);
        let (has_ended, is_open) = (self.flags & 3 == 3, self.flags & 12 == 12 || self.flags & 0x200 != 0);
        let is_assured = matches!(policy.timeouts, Timeouts::Tcp { .. }) && is_open && !has_ended;
        (if is_assured { over_ms } else { self.last_ms + policy.guarantee_ms }, over_ms)
    }
}

/// Flags of flows: of a side that has ended, of data, of a handshake, and of several of them.
const FLAGS: [u16; 12] = [0, 1, 2, 3, 4, 8, 12, 15, 0x100, 0x300, 0x303, 0x30c];

#[derive(Clone, Debug)]
enum Op {
    /// A packet of a host; the port is for the flow that it makes if it has none.
    Packet(u32, u8, u16, u16),
    Pass(u64),
    Shrink(usize),
    Capacity(i32),
    Remove(usize),
    Clear,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        20 => (0u32..2, 0u8..12, 0u16..10, prop::sample::select(FLAGS.to_vec())).prop_map(|(m, h, p, f)| Op::Packet(m, h, p, f)),
        6 => (1u64..800).prop_map(|steps| Op::Pass(steps * STEP_MS)),
        2 => (1usize..4).prop_map(Op::Shrink),
        1 => (-1i32..12).prop_map(Op::Capacity),
        1 => (0usize..12).prop_map(Op::Remove),
        1 => Just(Op::Clear),
    ];
    prop::collection::vec(op, 0..150)
}

proptest! {
    /// Whatever happens, the table holds the flows that a list would hold, and its events say so.
    #[test]
    fn as_a_list(ops in ops()) {
        let mut reader = Domain::global().register("test");
        let set = FlowSet::new(1, 8);
        let counts: Arc<[InputCounts]> = [InputCounts::default()].into();
        for (map, policy) in POLICIES.into_iter().enumerate() {
            set.edit(reader.turn()).register(map as u32, policy, counts.clone());
        }
        let mut model: Vec<Naive> = Vec::new();
        let mut now = 1_000_000;
        let mut told = Told::default();
        set.want_events(true);
        for op in ops {
            now += STEP_MS;
            match op {
                Op::Packet(map, host, port, flags) => packet(&set, &reader, &mut model, (map, host, port), flags, now),
                Op::Pass(ms) => now += ms,
                Op::Shrink(most) => {
                    while set.edit(reader.turn()).shrink(now, most) {}
                    model.retain(|flow| flow.times().0.max(flow.times().1) > now);
                    trim(&mut model, set.capacity(), now);
                }
                Op::Capacity(capacity) => {
                    set.set_capacity(capacity);
                    while set.edit(reader.turn()).shrink(now, 2) {}
                    model.retain(|flow| flow.times().0.max(flow.times().1) > now);
                    trim(&mut model, capacity, now);
                }
                Op::Remove(at) if at < model.len() => {
                    let gone = model.remove(at);
                    let found = set.find(reader.turn(), keys(&gone.new)[1]);
                    set.edit(reader.turn()).remove(found.unwrap().record);
                }
                Op::Remove(_) => {}
                Op::Clear => {
                    set.edit(reader.turn()).clear();
                    model.clear();
                }
            }
            prop_assert_eq!(set.size(), model.len());
            prop_assert_eq!(counts[0].flows() as usize, model.len());
            for naive in &model {
                for (direction, key) in keys(&naive.new).into_iter().enumerate() {
                    let found = set.find(reader.turn(), key);
                    prop_assert!(found.is_some_and(|found| found.direction == direction), "{:?}", key);
                }
            }
            let listed: usize = (0..2).map(|map| set.flows(reader.turn(), map).count()).sum();
            prop_assert_eq!(listed, model.len());
            told.hear(&set);
            prop_assert_eq!(told.live.len(), model.len());
            for naive in &model {
                let made = Event { at_ms: 0, ..naive.new.event(true).unwrap() };
                prop_assert!(told.live.iter().any(|event| Event { at_ms: 0, ..*event } == made), "{:?}", made);
            }
            reader.quiescent(); // removed records can be used again
        }
    }
}

/// A packet finds its flow, or makes it.
fn packet(
    set: &FlowSet,
    reader: &rcu::Reader,
    model: &mut Vec<Naive>,
    (map, host, port): (u32, u8, u16),
    flags: u16,
    now: u64,
) {
    let new = flow(map, host, port);
    let turn = reader.turn();
    let known = model.iter_mut().find(|naive| (naive.new.map, naive.new.id) == (map, new.id));
    let found = set.find(turn, keys(&new)[0]);
    assert_eq!(found.is_some(), known.is_some());
    if let (Some(found), Some(naive)) = (found, known) {
        assert_eq!(found.rewritten(), naive.new.rewritten);
        let policy = POLICIES[map as usize];
        found.flow.touch(now);
        found.flow.change_flags(naive.flags, flags);
        if policy.timeout_ms(flags) < policy.timeout_ms(naive.flags)
            || policy.stay_ms(flags) < policy.stay_ms(naive.flags)
        {
            set.edit(turn).replace(found.record);
        }
        (naive.last_ms, naive.flags) = (now, flags);
        return;
    }
    // Whichever worker does it.
    let made = matches!(set.enter(turn, usize::from(host % 3), &new, false, now), Entered::Made(_));
    model.retain(|naive| (naive.new.map, naive.new.rewritten) != (map, new.rewritten));
    model.push(Naive { new, last_ms: now, flags: 0 });
    if model.len() as i64 > i64::from(set.capacity()) {
        let victim = victim(model, now).unwrap_or(model.len() - 1);
        assert_eq!(made, victim + 1 != model.len());
        model.remove(victim);
    } else {
        assert!(made);
    }
}

/// The flow that has to go first, of those that are not guaranteed to stay.
fn victim(model: &[Naive], now: u64) -> Option<usize> {
    let free = (0..model.len()).filter(|&at| {
        let flow = &model[at];
        flow.times().0 <= now || flow.times().0 == flow.last_ms
    });
    free.min_by_key(|&at| model[at].times().1)
}

/// Removes flows while there are too many.
fn trim(model: &mut Vec<Naive>, capacity: i32, now: u64) {
    while model.len() > capacity.max(0) as usize {
        let first = |model: &[Naive]| (0..model.len()).min_by_key(|&at| model[at].times().0);
        let at = victim(model, now).or_else(|| first(model)).unwrap();
        model.remove(at);
    }
}

/// While two threads make and remove flows, look-ups never find a wrong one, nor miss one that stays.
#[test]
fn look_ups_are_right_while_flows_change() {
    let set = FlowSet::new(7, 2000);
    let policy = Policy { guarantee_ms: 0, timeouts: Timeouts::Plain(1_000_000) };
    let counts: Arc<[InputCounts]> = [InputCounts::default()].into();
    {
        let reader = Domain::global().register("setup");
        let mut editor = set.edit(reader.turn());
        (0..3).for_each(|map| editor.register(map, policy, counts.clone()));
        (0..100).for_each(|host| assert!(editor.insert(&flow(2, host, u16::from(host)), 1, 1).is_some()));
    }
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..2)
            .map(|map| {
                let set = &set;
                scope.spawn(move || {
                    let mut reader = Domain::global().register("writer");
                    for round in 0..20_000u32 {
                        let host = (round * 7 % 251) as u8;
                        let new = flow(map, host, u16::from(host));
                        let turn = reader.turn();
                        match set.find(turn, keys(&new)[0]) {
                            None => drop(set.enter(turn, map as usize, &new, false, 2)),
                            Some(found) => set.edit(turn).remove(found.record),
                        }
                        reader.quiescent();
                    }
                })
            })
            .collect();
        scope.spawn(|| {
            let mut reader = Domain::global().register("reader");
            while !done.load(Relaxed) {
                for map in 0..3 {
                    for host in 0..100 {
                        let new = flow(map, host, u16::from(host));
                        let [forward, reply] = keys(&new).map(|key| set.find(reader.turn(), key));
                        assert!(map < 2 || forward.is_some() && reply.is_some());
                        // What was found stays what it is until the turn ends, also if it was removed.
                        assert!(forward.is_none_or(|found| found.rewritten() == new.rewritten));
                        assert!(reply.is_none_or(|found| found.rewritten() == new.id.reversed()));
                    }
                    reader.quiescent();
                }
            }
        });
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        done.store(true, Relaxed);
    });
    let reader = Domain::global().register("check");
    let left: usize = (0..3).map(|map| set.flows(reader.turn(), map).count()).sum();
    assert_eq!(left, set.size());
}

/// Two workers that enter the same flows at the same time make each of them once, and of flows that would become the same one.
#[test]
fn side_by_side() {
    const FLOWS: u32 = 5_000;
    let set = FlowSet::new(7, i32::MAX);
    let policy = Policy { guarantee_ms: 5, timeouts: Timeouts::Plain(1_000_000) };
    let counts: Arc<[InputCounts]> = [InputCounts::default()].into();
    {
        let reader = Domain::global().register("setup");
        let mut editor = set.edit(reader.turn());
        (0..2).for_each(|map| editor.register(map, policy, counts.clone()));
    }
    let barrier = std::sync::Barrier::new(2);
    let tallies = std::thread::scope(|scope| {
        let enter = |worker: usize| {
            let (set, barrier) = (&set, &barrier);
            scope.spawn(move || {
                let mut reader = Domain::global().register("worker");
                let mut tally = [0; 4];
                barrier.wait();
                for number in 0..FLOWS {
                    // In map 0 the same flows as the other's; in map 1 other hosts' flows to the same ports.
                    for map in 0..2 {
                        let mut new = flow(map, 0, number as u16);
                        new.id.saddr += number * 2 + map * worker as u32;
                        let entered = set.enter(reader.turn(), worker, &new, true, u64::from(number / 100));
                        tally[match entered {
                            Entered::Made(found) => {
                                assert_eq!(found.rewritten(), new.rewritten);
                                map as usize
                            }
                            Entered::Known(found) => {
                                assert_eq!((map, found.rewritten()), (0, new.rewritten));
                                2
                            }
                            Entered::Taken => {
                                assert_eq!(map, 1);
                                3
                            }
                            Entered::Refused => panic!("there is room"),
                        }] += 1;
                    }
                    reader.quiescent();
                }
                tally
            })
        };
        [enter(0), enter(1)].map(|thread| thread.join().expect("no panic"))
    });
    let sum = |at: usize| tallies[0][at] + tallies[1][at];
    assert_eq!([0, 1, 2, 3].map(sum), [FLOWS; 4]);
    assert_eq!((set.size(), counts[0].flows()), (2 * FLOWS as usize, 2 * FLOWS));
    let reader = Domain::global().register("check");
    for number in 0..FLOWS {
        for map in 0..2 {
            let reply = keys(&flow(map, 0, number as u16))[1];
            let found = set.find(reader.turn(), reply).expect("one has made it");
            assert!(set.find(reader.turn(), Key::new(map, found.rewritten().reversed())).is_some());
        }
    }
    set.edit(reader.turn()).clear();
    assert_eq!((set.size(), counts[0].flows()), (0, 0));
}

/// What happens to a table whose flows stay until there is no room for them.
#[derive(Clone, Debug)]
enum Step {
    /// A worker has so many new flows.
    Enter(usize, u32),
    Remove(usize),
    Capacity(i32),
    Clear,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => (0usize..10, 1u32..80).prop_map(|(worker, flows)| Step::Enter(worker, flows)),
        4 => (0usize..300).prop_map(Step::Remove),
        2 => (-1i32..400).prop_map(Step::Capacity),
        1 => Just(Step::Clear),
    ];
    prop::collection::vec(step, 0..60)
}

proptest! {
    /// Whichever workers add flows, there are as many as there is room for, none more, and each is counted once.
    #[test]
    fn all_room_is_used(steps in steps()) {
        let mut reader = Domain::global().register("test");
        let set = FlowSet::new(1, 300);
        let counts: Arc<[InputCounts]> = [InputCounts::default()].into();
        let policy = Policy { guarantee_ms: 0, timeouts: Timeouts::Plain(1_000_000) };
        set.edit(reader.turn()).register(0, policy, counts.clone());
        let (mut model, mut now) = (0, 0);
        for step in steps {
            let most = set.capacity().max(0) as usize;
            match step {
                Step::Enter(worker, flows) => {
                    for _ in 0..flows {
                        now += 1;
                        let mut new = flow(0, 0, now as u16);
                        new.id.saddr += now as u32;
                        let made = matches!(set.enter(reader.turn(), worker, &new, true, now), Entered::Made(_));
                        prop_assert_eq!(made, most > 0);
                        model = most.min(model + 1);
                    }
                }
                Step::Remove(at) => {
                    let found = set.numbered(reader.turn(), 0).nth(at).map(|(record, _)| record);
                    found.iter().for_each(|&record| set.edit(reader.turn()).remove(record));
                    model -= usize::from(found.is_some());
                }
                Step::Capacity(capacity) => {
                    set.set_capacity(capacity);
                    while set.edit(reader.turn()).shrink(now, 7) {}
                    model = model.min(capacity.max(0) as usize);
                }
                Step::Clear => {
                    set.edit(reader.turn()).clear();
                    model = 0;
                }
            }
            prop_assert_eq!([set.size(), counts[0].flows() as usize], [model; 2]);
            prop_assert_eq!(set.flows(reader.turn(), 0).count(), model);
            prop_assert!((model..=set.capacity().max(0) as usize).contains(&set.room.0.taken()));
            reader.quiescent();
        }
    }
}

/// Two workers fill a table and go on: it stays full, and all that is there is counted once.
#[test]
fn a_full_table_of_two_workers() {
    const FLOWS: u32 = 5_000;
    let set = FlowSet::new(7, 1000);
    let policy = Policy { guarantee_ms: 0, timeouts: Timeouts::Plain(1_000_000) };
    let counts: Arc<[InputCounts]> = [InputCounts::default()].into();
    set.edit(Domain::global().register("setup").turn()).register(0, policy, counts.clone());
    std::thread::scope(|scope| {
        for worker in 0..2 {
            let set = &set;
            scope.spawn(move || {
                let mut reader = Domain::global().register("worker");
                for number in 0..FLOWS {
                    let mut new = flow(0, 0, (number * 2 + worker) as u16);
                    new.id.saddr += number * 2 + worker;
                    set.enter(reader.turn(), worker as usize, &new, true, u64::from(number));
                    reader.quiescent();
                }
            });
        }
    });
    let reader = Domain::global().register("check");
    let listed = set.flows(reader.turn(), 0).count();
    assert_eq!([listed, set.size(), counts[0].flows() as usize, set.room.0.taken()], [1000; 4]);
}

/// However often flows come and go, records are used again.
#[test]
fn records_are_reused() {
    let mut reader = Domain::global().register("test");
    let set = FlowSet::new(7, 100);
    let policy = Policy { guarantee_ms: 0, timeouts: Timeouts::Plain(1000) };
    set.edit(reader.turn()).register(0, policy, [InputCounts::default()].into());
    let mut largest = 0;
    for round in 0..20_000u64 {
        let new = flow(0, (round % 256) as u8, (round % 60_000) as u16);
        if set.find(reader.turn(), keys(&new)[0]).is_none() {
            let made = set.enter(reader.turn(), round as usize % 2, &new, false, round);
            if let Entered::Made(found) = made {
                largest = largest.max(found.record);
            }
        }
        reader.quiescent();
        if round % 1000 == 0 {
            reader.synchronize(); // other tests of the process have readers, too
        }
    }
    assert_eq!(set.size(), 100);
    assert!(largest < 5000, "{largest}: grace periods are not that long");
}

/// Whatever flows come and go, each counts once for its source's prefix, by whichever way it was entered and ended.
#[test]
fn a_quota_counts_what_is_there() {
    let mut reader = Domain::global().register("test");
    let limit = crate::quota::Limit::of(1000);
    let set = FlowSet::new(7, 100).with_quota(limit, 7);
    let policy = Policy { guarantee_ms: 0, timeouts: Timeouts::Plain(1000) };
    let counts: Arc<[InputCounts]> = [InputCounts::default()].into();
    set.edit(reader.turn()).register(0, policy, counts.clone());
    for round in 0..3000u64 {
        let chance = (round + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let new = flow(0, (chance % 131) as u8, (chance / 131 % 300) as u16);
        match set.find(reader.turn(), keys(&new)[0]) {
            Some(found) if round % 9 == 0 => set.edit(reader.turn()).remove(found.record),
            Some(_) => {}
            None => drop(set.enter(reader.turn(), round as usize % 2, &new, round % 2 == 0, round)),
        }
        if round % 500 == 0 {
            set.edit(reader.turn()).shrink(round + 900, 50);
        }
        assert_eq!(set.quota.sum(), 2 * set.size() as u64);
        reader.quiescent();
    }
    let mut totals = Totals::default();
    counts[0].add_to(&mut totals);
    assert!(totals.ended.iter().all(|&ended| ended > 0), "{totals:?}");
    assert_eq!(totals.made - totals.ended.iter().sum::<u64>(), set.size() as u64);
    set.edit(reader.turn()).clear();
    assert_eq!((set.size(), set.quota.sum()), (0, 0));
}
