//! The tables that are compared.

use flows::{HashKey, Key, Limits, Pairs, Table, V4Tuple};
use packet::{prefetch, roomy_vec};
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};

/// Packets that are worked on together.
const BATCH: usize = 32;
const SEED: u64 = 11;
/// What is remembered of a flow.
type Value = [u64; 4];

/// A table.
pub(super) trait Subject {
    const NAME: &'static str;

    /// Room for so many flows.
    fn new(capacity: usize) -> Self;
    /// A flow's first packet and its second one.
    fn establish(&mut self, flow: u32);
    /// Looks packets up, in batches; something that depends on what was found.
    fn find_all(&mut self, flows: &[u32]) -> u64;
    /// So many packets, each the first of a flow, from this flow on.
    fn flood(&mut self, first: u32, packets: usize);
    /// Whether it has a flow.
    fn knows(&mut self, flow: u32) -> bool;
    /// Bytes, if they are known.
    fn bytes(&self) -> Option<usize> {
        None
    }
}

/// The tuple of a flow: of 1,024 ports of a host, to one of 64 servers.
#[inline]
fn tuple(flow: u32) -> V4Tuple {
    let ends = ((0x0a00_0000 + (flow >> 10)).into(), (0xc633_6400 + (flow & 63)).into());
    V4Tuple::new(ends, (1024 + (flow & 1023) as u16, 53), 17, 0)
}

/// Now; no flow's time is over.
const NOW: i64 = 1;

/// The product's table.
macro_rules! ours {
    ($subject:ident, $name:literal, $table:ty, $second:expr) => {
        pub(super) struct $subject($table);

        impl $subject {
            fn begin(&mut self, hash: u64, key: V4Tuple, flow: u32) -> Option<flows::Slot> {
                let second: fn(&$table, V4Tuple) -> Option<(u64, V4Tuple)> = $second;
                let second = second(&self.0, key);
                let value = [u64::from(flow), 0, 0, 0];
                self.0.insert_with((hash, key), second, value, NOW, &mut |_, _| ()).ok()
            }
        }

        impl Subject for $subject {
            const NAME: &'static str = $name;

            fn new(capacity: usize) -> Self {
                // As a configuration that expects strangers: few unconfirmed flows, which stay in the caches.
                let limits =
                    Limits { unconfirmed: (capacity / 4).min(16_384), earned: true, ..Limits::new(capacity) };
                $subject(Table::new(limits, HashKey::new(SEED)))
            }

            fn establish(&mut self, flow: u32) {
                let key = tuple(flow);
                let hash = self.0.hash(&key);
                if self.0.find(hash, &key).is_none()
                    && let Some(slot) = self.begin(hash, key, flow)
                {
                    self.0.confirm(slot, NOW);
                }
            }

            fn find_all(&mut self, flows: &[u32]) -> u64 {
                let (mut wanted, mut found) = ([(0, V4Tuple::default()); BATCH], [None; BATCH]);
                let mut sum = 0u64;
                for batch in flows.chunks(BATCH) {
                    for (wanted, &flow) in wanted.iter_mut().zip(batch) {
                        let key = tuple(flow);
                        *wanted = (self.0.hash(&key), key);
                    }
                    self.0.find_batch(&wanted[..batch.len()], &mut found);
                    for slot in found[..batch.len()].iter().flatten() {
                        sum += self.0.meet(*slot, NOW).map_or(0, |value| value[0]);
                    }
                }
                sum
            }

            fn flood(&mut self, first: u32, packets: usize) {
                let mut wanted = [(0, V4Tuple::default()); BATCH];
                for batch in (0..packets as u32).step_by(BATCH) {
                    for (at, wanted) in wanted.iter_mut().enumerate() {
                        let key = tuple(first + batch + at as u32);
                        *wanted = (self.0.hash(&key), key);
                        self.0.prefetch(wanted.0);
                    }
                    self.0.expire(NOW, BATCH, &mut |_, _| ());
                    for (at, &(hash, key)) in wanted.iter().enumerate() {
                        if self.0.find(hash, &key).is_none() {
                            self.begin(hash, key, first + batch + at as u32);
                        }
                    }
                }
            }

            fn knows(&mut self, flow: u32) -> bool {
                let key = tuple(flow);
                self.0.peek(self.0.hash(&key), &key).is_some()
            }

            fn bytes(&self) -> Option<usize> {
                Some(self.0.bytes())
            }
        }
    };
}

ours!(Ours, "flows", Table<V4Tuple, Value>, |_, _| None);
ours!(OursPairs, "flows-pairs", Pairs<V4Tuple, Value>, |table, key| Some((table.hash(&key.reversed()), key.reversed())));

/// The standard library's map, which is hashbrown, with the same hash.
pub(super) struct Map {
    map: HashMap<V4Tuple, Value, Keyed>,
    capacity: usize,
}

/// Makes hashers with the product's hash.
#[derive(Clone)]
struct Keyed(HashKey);

struct Words {
    key: HashKey,
    words: [u64; 2],
    count: usize,
}

impl BuildHasher for Keyed {
    type Hasher = Words;

    fn build_hasher(&self) -> Words {
        Words { key: self.0, words: [0; 2], count: 0 }
    }
}

impl Hasher for Words {
    fn write(&mut self, _: &[u8]) {}

    fn write_u64(&mut self, word: u64) {
        self.words[self.count % 2] = word;
        self.count += 1;
    }

    fn finish(&self) -> u64 {
        self.key.hash(self.words)
    }
}

impl Subject for Map {
    const NAME: &'static str = "hashbrown";

    fn new(capacity: usize) -> Self {
        Map { map: HashMap::with_capacity_and_hasher(capacity, Keyed(HashKey::new(SEED))), capacity }
    }

    fn establish(&mut self, flow: u32) {
        self.map.entry(tuple(flow)).or_insert([u64::from(flow), 0, 0, 0]);
    }

    fn find_all(&mut self, flows: &[u32]) -> u64 {
        flows.iter().filter_map(|&flow| self.map.get(&tuple(flow))).map(|value| value[0]).sum()
    }

    /// It has no way to make room: what is new is remembered as long as there is room, and looked up in vain after that.
    fn flood(&mut self, first: u32, packets: usize) {
        for flow in (0..packets as u32).map(|at| first + at) {
            if self.map.len() < self.capacity {
                self.establish(flow);
            } else {
                std::hint::black_box(self.map.get(&tuple(flow)));
            }
        }
    }

    fn knows(&mut self, flow: u32) -> bool {
        self.map.contains_key(&tuple(flow))
    }
}

/// FlowIPManager's index: cells of a hash and a place, half of them empty, and the records in their places.
pub(super) struct Cells {
    cells: Vec<(u32, u32)>,
    records: Vec<(V4Tuple, Value)>,
    capacity: usize,
    key: HashKey,
}

const EMPTY: u32 = u32::MAX;

impl Cells {
    #[inline]
    fn find(&self, hash: u64, key: &V4Tuple) -> Option<&Value> {
        let (hash, mask) = (hash as u32, self.cells.len() - 1);
        let mut at = hash as usize & mask;
        loop {
            let (known, place) = self.cells[at];
            if place == EMPTY {
                return None;
            }
            if known == hash
                && let Some((_, value)) = self.records.get(place as usize).filter(|(known, _)| known == key)
            {
                return Some(value);
            }
            at = (at + 1) & mask;
        }
    }
}

impl Subject for Cells {
    const NAME: &'static str = "cells";

    fn new(capacity: usize) -> Self {
        let number = (2 * capacity).next_power_of_two();
        let mut cells = roomy_vec(number);
        cells.resize(number, (0, EMPTY));
        Cells { cells, records: roomy_vec(capacity), capacity, key: HashKey::new(SEED) }
    }

    fn establish(&mut self, flow: u32) {
        let key = tuple(flow);
        let hash = key.hash(&self.key);
        if self.records.len() == self.capacity || self.find(hash, &key).is_some() {
            return;
        }
        let mask = self.cells.len() - 1;
        let mut at = hash as u32 as usize & mask;
        while self.cells[at].1 != EMPTY {
            at = (at + 1) & mask;
        }
        self.cells[at] = (hash as u32, self.records.len() as u32);
        self.records.push((key, [u64::from(flow), 0, 0, 0]));
    }

    fn find_all(&mut self, flows: &[u32]) -> u64 {
        let (mut wanted, mask) = ([(0, V4Tuple::default()); BATCH], self.cells.len() - 1);
        let mut sum = 0u64;
        for batch in flows.chunks(BATCH) {
            for (wanted, &flow) in wanted.iter_mut().zip(batch) {
                let key = tuple(flow);
                *wanted = (key.hash(&self.key), key);
                prefetch(&self.cells[wanted.0 as u32 as usize & mask]);
            }
            for (hash, _) in &wanted[..batch.len()] {
                let (_, place) = self.cells[*hash as u32 as usize & mask];
                if let Some(record) = self.records.get(place as usize) {
                    prefetch(record);
                }
            }
            let found = wanted[..batch.len()].iter().filter_map(|(hash, key)| self.find(*hash, key));
            sum += found.map(|value| value[0]).sum::<u64>();
        }
        sum
    }

    /// When it is full, new flows are looked up in vain.
    fn flood(&mut self, first: u32, packets: usize) {
        (0..packets as u32).for_each(|at| self.establish(first + at));
    }

    fn knows(&mut self, flow: u32) -> bool {
        let key = tuple(flow);
        self.find(key.hash(&self.key), &key).is_some()
    }

    fn bytes(&self) -> Option<usize> {
        Some(self.cells.capacity() * 8 + self.capacity * size_of::<(V4Tuple, Value)>())
    }
}

/// No table: what the tuple and its hash cost.
pub(super) struct Off(HashKey);

impl Subject for Off {
    const NAME: &'static str = "off";

    fn new(_: usize) -> Self {
        Off(HashKey::new(SEED))
    }

    fn establish(&mut self, flow: u32) {
        std::hint::black_box(tuple(flow).hash(&self.0));
    }

    fn find_all(&mut self, flows: &[u32]) -> u64 {
        flows.iter().fold(0, |sum, &flow| sum ^ tuple(flow).hash(&self.0))
    }

    fn flood(&mut self, first: u32, packets: usize) {
        let sum = (0..packets as u32).fold(0, |sum, at| sum ^ tuple(first + at).hash(&self.0));
        std::hint::black_box(sum);
    }

    fn knows(&mut self, _: u32) -> bool {
        true
    }
}
