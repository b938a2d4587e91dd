//! The table against a map under random operations.

use flows::{Destination4, Guess, HashKey, Limits, Pairs, Recent, Refused, Slot, Table, V4Tuple};
use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// A step of time in the table.
const STEP: i64 = 1 << 20;

#[derive(Clone, Copy, Debug)]
enum Step {
    /// A packet of a flow, in one direction or the other.
    Packet(u16, bool),
    Remove(u16),
    State(u16, u8),
    Expire,
    Grow(u16),
    Wait(u16),
    /// So many new flows in a row.
    Flood(u8),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0u16..80, any::<bool>()).prop_map(|(flow, back)| Step::Packet(flow, back)),
        1 => (0u16..80).prop_map(Step::Remove),
        1 => (0u16..80, 0u8..3).prop_map(|(flow, state)| Step::State(flow, state)),
        1 => Just(Step::Expire),
        2 => (0u16..150).prop_map(Step::Grow),
        2 => (0u16..2000).prop_map(Step::Wait),
        1 => (1u8..40).prop_map(Step::Flood),
    ]
}

fn tuple(flow: u32) -> V4Tuple {
    let ends = ((0x0a00_0000 | flow >> 6 << 8).into(), 0xc000_0201.into());
    V4Tuple::new(ends, ((flow % 64) as u16 + 1, 80), 17, 0)
}

/// What is known of a flow.
#[derive(Clone, Copy)]
struct Known {
    seen: i64,
    /// When its state changed.
    changed: i64,
    state: u8,
    confirmed: bool,
    value: u32,
}

/// The table as one would have it who does not mind how long it takes.
struct Model {
    limits: Limits,
    flows: BTreeMap<u32, Known>,
    /// Unconfirmed ones, the one that came first in front.
    queue: VecDeque<u32>,
}

impl Model {
    fn prefix(&self, flow: u32) -> usize {
        let same = |other: &&u32| **other >> 6 == flow >> 6;
        self.queue.iter().filter(same).count()
    }

    fn insert(&mut self, flow: u32, now: i64) -> Result<Option<u32>, Refused> {
        if self.limits.quota > 0 && self.prefix(flow) >= usize::from(self.limits.quota) {
            return Err(Refused::Quota);
        }
        let mut gone = None;
        if self.queue.len() >= self.limits.unconfirmed || self.flows.len() >= self.limits.capacity {
            let first = self.queue.pop_front().ok_or(Refused::Full)?;
            self.flows.remove(&first);
            gone = Some(first);
        }
        self.flows
            .insert(flow, Known { seen: now, changed: now, state: 0, confirmed: false, value: flow * 7 });
        self.queue.push_back(flow);
        Ok(gone)
    }

    fn meet(&mut self, flow: u32, now: i64) {
        let known = self.flows.get_mut(&flow).expect("a flow that is known");
        known.seen = now;
        known.confirmed = true;
        self.queue.retain(|other| *other != flow);
    }

    fn timeout(&self, known: &Known) -> i64 {
        let timeout = if known.confirmed {
            self.limits.timeouts[usize::from(known.state)]
        } else {
            self.limits.unconfirmed_timeout
        };
        timeout.as_nanos() as i64
    }

    fn is_over(&self, known: &Known, now: i64) -> bool {
        let timeout = self.timeout(known);
        timeout > 0 && now - known.seen > timeout
    }

    fn remove(&mut self, flow: u32) {
        self.flows.remove(&flow);
        self.queue.retain(|other| *other != flow);
    }
}

struct Both {
    table: Pairs<V4Tuple, u32>,
    model: Model,
    now: i64,
    /// What the index said of flows and directions when they had their last packets, however long ago, and how many records had been made.
    guesses: BTreeMap<(u32, bool), (Guess, u64)>,
    /// Where flows were found, however long ago.
    recent: Recent,
}

impl Both {
    /// Meets a flow by its guess of old, and by a fresh one.
    fn meet(&mut self, flow: u32, back: bool) {
        let key = if back { tuple(flow).reversed() } else { tuple(flow) };
        let (hash, expected) = (self.table.hash(&key), self.model.flows.get(&flow).map(|known| known.value));
        let (fresh, made) = (self.table.guessed(hash), self.table.stats().inserted);
        let (old, made_then) =
            self.guesses.insert((flow, back), (fresh, made)).unwrap_or((Guess::NONE, made));
        for (guess, made) in [(old, made_then), (fresh, made)] {
            let found = self.table.find_guessed(guess, made, hash, &key);
            assert_eq!(found, self.table.peek(hash, &key), "flow {flow}");
        }
        let known = self.model.flows.get(&flow).copied();
        let alive = known.filter(|known| known.confirmed && !self.model.is_over(known, self.now));
        for guess in [old, fresh] {
            let met = self.table.meet_alive(guess, &key, self.now).copied();
            assert!(met.is_none() || met == alive.map(|known| known.value), "flow {flow}");
        }
        let noted = self.recent.guess(self.recent.hash(&key)).unwrap_or(Guess::NONE);
        let confirmed = known.filter(|known| known.confirmed).map(|known| (back, known.value));
        for guess in [old, fresh, noted] {
            let is_known = self.table.is_known(guess, &key);
            let met = self.table.meet_known(guess, &key, self.now);
            let met = met.map(|met| (met.slot.is_reverse(), *met.value));
            assert_eq!(met, confirmed.filter(|_| is_known), "flow {flow}");
        }
        if let Some(slot) = self.table.peek(hash, &key) {
            self.recent.note(self.recent.hash(&key), slot.into());
            let met = self.table.meet_known(slot.into(), &key, self.now).map(|met| (met.slot, *met.value));
            assert_eq!(met, confirmed.map(|(_, value)| (slot, value)), "flow {flow}");
        }
        for guess in [old, fresh] {
            let met = self.table.meet_guessed(guess, hash, &key, self.now);
            assert_eq!(
                met.map(|met| (met.slot.is_reverse(), *met.value)),
                expected.map(|value| (back, value))
            );
        }
    }

    fn find(&mut self, flow: u32, back: bool) -> Option<Slot> {
        let key = if back { tuple(flow).reversed() } else { tuple(flow) };
        let slot = self.table.find(self.table.hash(&key), &key);
        assert!(slot.is_none_or(|slot| slot.is_reverse() == back), "the direction");
        assert_eq!(slot.is_some(), self.model.flows.contains_key(&flow), "flow {flow}");
        slot
    }

    fn packet(&mut self, flow: u32, back: bool) {
        self.meet(flow, back);
        if let Some(slot) = self.find(flow, back) {
            assert_eq!(self.table.meet(slot, self.now).copied(), Some(self.model.flows[&flow].value));
            return self.model.meet(flow, self.now);
        }
        let (a, b, mut gone) = (tuple(flow), tuple(flow).reversed(), None);
        let (first, second) = ((self.table.hash(&a), a), (self.table.hash(&b), b));
        let done = self
            .table
            .insert_with(first, Some(second), flow * 7, self.now, &mut |_, value| gone = Some(value / 7));
        let expected = self.model.insert(flow, self.now);
        assert_eq!(done.map(|_| gone), expected);
        if done.is_ok() {
            let again = self.table.insert_pair(first.0, a, second.0, b, 0, self.now);
            assert_eq!(again, Err(Refused::Taken));
        }
    }

    /// Everything that is over ends, but for what is in a list that is not due yet.
    fn expire(&mut self) {
        let mut ended = Vec::new();
        while self.table.expire(self.now, 3, &mut |key, value| ended.push((key, value))) {}
        for (key, value) in ended {
            let known = self.model.flows[&(value / 7)];
            assert!(
                key == tuple(value / 7) && self.model.is_over(&known, self.now),
                "flow {} ended early",
                value / 7
            );
            self.model.remove(value / 7);
        }
        let then = self.now - 512 * STEP;
        let late = |known: &&Known| known.changed < then && self.model.is_over(known, then);
        assert_eq!(self.model.flows.values().filter(late).count(), 0, "half a second late");
    }

    fn check(&self) {
        let listed: BTreeMap<u32, (bool, u8, i64)> = self
            .table
            .iter(self.now)
            .map(|(_, flow)| (*flow.value / 7, (flow.confirmed, flow.state, flow.idle.as_nanos() as i64)))
            .collect();
        let expected = self
            .model
            .flows
            .iter()
            .map(|(flow, known)| (*flow, (known.confirmed, known.state, self.now - known.seen)));
        assert_eq!(listed, expected.collect());
        assert_eq!(self.table.len(), self.model.flows.len());
        let (mut walked, mut from) = (Vec::new(), Some(0));
        while let Some(at) = from {
            let before = walked.len();
            from = self.table.walk(at, 7, |key, value| walked.push((*value / 7, key)));
            assert!(walked.len() - before <= 7, "places bound the work");
        }
        walked.sort_unstable();
        assert!(walked.into_iter().eq(self.model.flows.keys().map(|flow| (*flow, tuple(*flow)))));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 128 } else { 2048 }))]

    #[test]
    fn as_a_map(
        steps in prop::collection::vec(step(), 1..300),
        capacity in 1usize..60,
        share in 1usize..=4,
        quota in prop_oneof![Just(0u16), 3u16..10],
    ) {
        let second = |seconds: u64| Duration::from_nanos(seconds * 1000 * STEP as u64);
        let mut limits = Limits { unconfirmed: capacity.div_ceil(share), quota, ..Limits::new(capacity) };
        limits.unconfirmed_timeout = second(5);
        limits.timeouts = [second(10), second(3), Duration::ZERO, second(2000), second(0), second(0), second(0), second(0)];
        let model = Model { limits, flows: BTreeMap::new(), queue: VecDeque::new() };
        let table = Table::new(limits, HashKey::new(3));
        let (mut both, mut fresh) = (Both { table, model, now: 1 << 40, guesses: BTreeMap::new(), recent: Recent::new(HashKey::new(4)) }, 0);
        for step in steps {
            match step {
                Step::Packet(flow, back) => both.packet(flow.into(), back),
                Step::Remove(flow) => {
                    if let Some(slot) = both.find(flow.into(), false) {
                        prop_assert_eq!(both.table.remove(slot), Some((tuple(flow.into()), u32::from(flow) * 7)));
                        both.model.remove(flow.into());
                        prop_assert_eq!(both.table.value(slot), None);
                    }
                }
                Step::State(flow, state) => {
                    if let Some(slot) = both.find(flow.into(), true) {
                        both.table.set_state(slot, state, both.now);
                        let known = both.model.flows.get_mut(&u32::from(flow)).expect("known");
                        (known.state, known.changed) = (state, both.now);
                    }
                }
                Step::Expire => both.expire(),
                Step::Grow(to) => {
                    both.table.grow(to.into());
                    // The table says when it has become larger.
                    both.model.limits = *both.table.limits();
                }
                Step::Wait(steps) => both.now += i64::from(steps) * STEP,
                Step::Flood(count) => {
                    for _ in 0..count {
                        both.packet(1000 + fresh % 256, false);
                        fresh += 1;
                    }
                }
            }
            both.check();
        }
        let stats = both.table.stats();
        let gone = stats.evicted + stats.expired + stats.removed;
        prop_assert_eq!(stats.inserted - gone, both.table.len() as u64, "what came is there or went");
    }
}

/// A guess leads to flows that are confirmed and whose time is not over.
#[test]
fn what_is_guessed_is_alive() {
    let timeout = Duration::from_secs(10);
    let mut table: Table<V4Tuple, u32> = Table::new(Limits::new(10).with_timeout(timeout), HashKey::new(1));
    let (key, later) = (tuple(1), timeout.as_nanos() as i64 * 2);
    let hash = table.hash(&key);
    let slot = table.insert(hash, key, 7, 0).unwrap();
    let guess = table.guessed(hash);
    assert_eq!(table.meet_alive(guess, &key, 0), None, "it has had one packet");
    table.meet(slot, 0);
    assert_eq!(table.meet_alive(guess, &key, 0), Some(&mut 7));
    assert_eq!(table.meet_alive(guess, &tuple(2), 0), None, "another flow");
    assert_eq!(table.meet_alive(guess, &key, later), None, "its time is over");
    table.remove(slot);
    assert_eq!(table.meet_alive(guess, &key, 0), None, "it has gone");
}

/// A batch finds what single look-ups find, and counts it.
#[test]
fn batches_find_the_same() {
    let mut table: Table<Destination4, u32> =
        Table::new(Limits { unconfirmed: 500, ..Limits::new(500) }, HashKey::new(9));
    for number in 0..1000 {
        let key = Destination4(number * 3);
        let hash = table.hash(&key);
        assert!(table.insert(hash, key, number, 0).is_ok());
    }
    let wanted: Vec<_> = (0..4000).map(Destination4).map(|key| (table.hash(&key), key)).collect();
    let mut found = vec![None; wanted.len()];
    for _ in 0..2 {
        // It is enlarged meanwhile: at last names are in two places.
        table.grow(600);
    }
    table.find_batch(&wanted, &mut found);
    let stats = table.stats();
    assert_eq!((stats.hits, stats.misses, stats.evicted), (500, 3500, 500));
    for ((hash, key), found) in wanted.iter().zip(found) {
        assert_eq!(found, table.peek(*hash, key));
        let expected = (key.0 % 3 == 0 && (1500..3000).contains(&key.0)).then_some(key.0 / 3);
        assert_eq!(found.and_then(|slot| table.value(slot)).copied(), expected);
    }
}

/// Under a flood of new flows each confirmed one stays, and finds its value; the flood is counted.
#[test]
fn a_flood_displaces_no_confirmed_flow() {
    const CONFIRMED: u32 = 700;
    let limits = Limits { unconfirmed: 256, ..Limits::new(1000) };
    let mut table: Table<V4Tuple, u32> = Table::new(limits, HashKey::new(5));
    let mut packet = |flow: u32| {
        let key = tuple(flow);
        let hash = table.hash(&key);
        match table.find(hash, &key) {
            Some(slot) => {
                table.meet(slot, 0);
                Ok(())
            }
            None => table.insert(hash, key, flow, 0).map(drop),
        }
    };
    for flow in 0..CONFIRMED {
        assert_eq!((packet(flow), packet(flow)), (Ok(()), Ok(())));
    }
    let flood = if cfg!(debug_assertions) { 100_000 } else { 10_000_000 };
    (CONFIRMED..flood).for_each(|flow| assert_eq!(packet(flow), Ok(())));
    for flow in 0..CONFIRMED {
        let key = tuple(flow);
        let slot = table.find(table.hash(&key), &key).expect("a confirmed flow");
        assert_eq!(table.value(slot), Some(&flow));
    }
    assert_eq!((table.len(), table.unconfirmed()), (CONFIRMED as usize + 256, 256));
    assert_eq!(table.stats().evicted, u64::from(flood - CONFIRMED) - 256);
}

/// Flows go on in another table, with their age and state.
#[test]
fn flows_move_to_another_table() {
    let limits = Limits::new(100).with_timeout(Duration::from_secs(10));
    let mut old: Pairs<V4Tuple, u32> = Table::new(limits, HashKey::new(1));
    for flow in 0..40u32 {
        let (a, b) = (tuple(flow), tuple(flow).reversed());
        let slot = old.insert_pair(old.hash(&a), a, old.hash(&b), b, flow, 0);
        if flow % 2 == 0 {
            old.confirm(slot.expect("room"), 0);
        }
    }
    let seconds = |seconds: i64| seconds * 1_000_000_000;
    let listed = old.drain(seconds(6));
    // The last 25 of the unconfirmed ones were there.
    assert_eq!((listed.len(), old.len()), (40, 0));
    let mut new: Pairs<V4Tuple, u32> = Table::new(limits, HashKey::new(2));
    for flow in listed {
        new.restore(flow, seconds(106)).expect("room");
    }
    let back = tuple(8).reversed();
    let slot = new.find(new.hash(&back), &back).expect("there");
    assert!(slot.is_reverse() && new.is_confirmed(slot) && new.value(slot) == Some(&8));
    while new.expire(seconds(109), 7, &mut |_, _| ()) {}
    assert_eq!(new.len(), 40, "their time is not over");
    while new.expire(seconds(111), 7, &mut |_, _| ()) {}
    assert_eq!(new.len(), 0);
}

/// What is promised of memory.
#[test]
fn memory_is_bounded() {
    let limits = Limits { quota: 0, ..Limits::new(1 << 16) };
    let ipv4: Pairs<V4Tuple, [u64; 4]> = Table::new(limits, HashKey::new(1));
    let ipv6: Pairs<flows::V6Tuple, [u64; 4]> = Table::new(limits, HashKey::new(1));
    assert!(ipv4.bytes() <= 96 << 16, "{}", ipv4.bytes());
    assert!(ipv6.bytes() <= 160 << 16, "{}", ipv6.bytes());
}

/// Where records are earned, a flood of first packets displaces nothing at all, and a flow that sends on gets its record.
#[test]
fn records_are_earned_when_there_are_many_new_flows() {
    let limits = Limits { unconfirmed: 64, earned: true, ..Limits::new(256) };
    let mut table: Table<V4Tuple, u32> = Table::new(limits, HashKey::new(5));
    let insert = |table: &mut Table<V4Tuple, u32>, flow: u32| {
        let key = tuple(flow);
        let hash = table.hash(&key);
        table.find(hash, &key).map_or_else(|| table.insert(hash, key, flow, 0), Ok)
    };
    for flow in 0..64 {
        assert!(insert(&mut table, flow).is_ok(), "there is room");
    }
    let let_in = (64..10_064).filter(|&flow| insert(&mut table, flow).is_ok()).count();
    assert!(let_in < 5, "{let_in} of 10,000 first packets");
    assert!(table.stats().evicted == let_in as u64 && table.stats().refused_first == 10_000 - let_in as u64);
    let first = insert(&mut table, 20_000);
    let slot = insert(&mut table, 20_000).expect("its second packet");
    assert_eq!((first, table.value(slot)), (Err(Refused::First), Some(&20_000)));
}

/// A flow that was confirmed in another table needs none of the room for new ones, and has earned its record there.
#[test]
fn confirmed_flows_of_another_table_are_not_new() {
    let limits = Limits { unconfirmed: 4, earned: true, quota: 4, ..Limits::new(16) };
    let (mut old, mut new) = [(); 2].map(|()| Table::<V4Tuple, u32>::new(limits, HashKey::new(3))).into();
    for flow in 0..6 {
        let slot = old.insert(old.hash(&tuple(flow)), tuple(flow), flow, 0).expect("room");
        old.meet(slot, 0);
    }
    for flow in 10..14 {
        new.insert(new.hash(&tuple(flow)), tuple(flow), flow, 0).expect("room");
    }
    old.drain(0).into_iter().for_each(|flow| assert!(new.restore(flow, 0).is_ok(), "it is not new"));
    assert_eq!((new.len(), new.unconfirmed(), new.stats().evicted), (10, 4, 0));
}
