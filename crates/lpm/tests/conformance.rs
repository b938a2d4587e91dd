//! The fast table against the golden one: the same operations, the same answers.

use lpm::{Key, MAX_ID, NONE, Naive, Prefix, Table, TableError};
use proptest::prelude::*;
use rcu::Domain;

/// Both tables, changed together.
struct Pair<K: Key> {
    fast: Table<K>,
    naive: Naive<K>,
}

impl<K: Key> Pair<K> {
    fn new() -> Self {
        Self { fast: Table::new(Domain::global()), naive: Naive::new() }
    }

    fn change(&mut self, prefix: Prefix<K>, id: Option<u32>) {
        let (fast, naive) = match id {
            Some(id) => (self.fast.insert(prefix, id), self.naive.insert(prefix, id)),
            None => (self.fast.remove(prefix), self.naive.remove(prefix)),
        };
        assert_eq!(fast, Ok(naive), "what {prefix} had");
    }

    fn apply(&mut self, changes: &[(Prefix<K>, Option<u32>)]) {
        self.fast.apply(changes.iter().copied()).unwrap();
        self.apply_naive(changes);
    }

    fn apply_naive(&mut self, changes: &[(Prefix<K>, Option<u32>)]) {
        for &(prefix, id) in changes {
            match id {
                Some(id) => self.naive.insert(prefix, id),
                None => self.naive.remove(prefix),
            };
        }
    }

    /// Compares the edges of a prefix, and the addresses beside them.
    fn check_around(&self, prefix: Prefix<K>) {
        let (first, last) = (prefix.addr().to_left(), prefix.last().to_left());
        let one = 1u128 << (128 - K::BITS);
        let around = [first, last, first.wrapping_sub(one), last.wrapping_add(one)];
        self.check(&around.map(K::from_left));
    }

    fn check(&self, addrs: &[K]) {
        let guard = Domain::global().guard();
        let mut out = vec![0; addrs.len()];
        self.fast.lookup_batch(addrs, &mut out, guard.turn());
        for (&addr, &batch) in addrs.iter().zip(&out) {
            let want = self.naive.longest(addr);
            let id = want.map(|(_, id)| id);
            assert_eq!(self.fast.lookup(addr, guard.turn()), id, "lookup of {:?}", Prefix::host(addr));
            assert_eq!(batch, id.unwrap_or(NONE), "batch lookup of {:?}", Prefix::host(addr));
            assert_eq!(self.fast.longest(addr), want);
        }
    }

    fn check_all(&self) {
        let sorted = self.naive.sorted();
        let mut seen = Vec::new();
        self.fast.for_each(|prefix, id| seen.push((prefix, id)));
        assert_eq!(seen, sorted);
        assert_eq!(self.fast.len(), sorted.len());
        for (prefix, id) in sorted {
            assert_eq!(self.fast.get(prefix), Some(id));
            self.check_around(prefix);
        }
    }
}

/// Prefixes that nest and collide: few distinct bit patterns, all lengths.
fn prefix<K: Key>(pattern: u8, low: u64, len: u32) -> Prefix<K> {
    let bits = match pattern % 6 {
        0 => 0,
        1 => u128::MAX,
        2 => 0x0a01_0203_0405_0607_u128 << 64,
        3 => (0x0a01_0203_0405_0607_u128 << 64) ^ (u128::from(low) << (128 - K::BITS)),
        4 => (0x2001_0db8_u128 << 96) ^ (u128::from(low & 0xff) << 90),
        _ => u128::from(low) << 64 | u128::from(low),
    };
    Prefix::new(K::from_left(bits), (len % (K::BITS + 1)) as u8).unwrap()
}

type Raw = (u8, u64, u32, Option<u32>);

fn raw() -> impl Strategy<Value = Raw> {
    // Few ids, so that neighbours are often equal and nodes collapse.
    (any::<u8>(), any::<u64>(), any::<u32>(), prop::option::weighted(0.6, 0u32..4))
}

fn one_by_one<K: Key>(steps: &[Raw]) {
    let mut pair = Pair::<K>::new();
    for &(pattern, low, len, id) in steps {
        let prefix = prefix(pattern, low, len);
        pair.change(prefix, id);
        pair.check_around(prefix);
    }
    pair.check_all();
    // Taking everything out again leaves an empty table.
    for (prefix, _) in pair.naive.sorted() {
        pair.change(prefix, None);
    }
    let stats = pair.fast.stats();
    assert_eq!((stats.prefixes, stats.block_bytes), (0, 0));
}

fn in_batches<K: Key>(steps: &[Raw]) {
    let mut pair = Pair::<K>::new();
    for steps in steps.chunks(40) {
        let changes: Vec<_> =
            steps.iter().map(|&(pattern, low, len, id)| (prefix(pattern, low, len), id)).collect();
        pair.apply(&changes);
        pair.check_all();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn ipv4_one_by_one(steps in prop::collection::vec(raw(), 1..300)) {
        one_by_one::<u32>(&steps);
    }

    #[test]
    fn ipv6_one_by_one(steps in prop::collection::vec(raw(), 1..300)) {
        one_by_one::<u128>(&steps);
    }

    #[test]
    fn ipv4_in_batches(steps in prop::collection::vec(raw(), 1..300)) {
        in_batches::<u32>(&steps);
    }

    #[test]
    fn ipv6_in_batches(steps in prop::collection::vec(raw(), 1..300)) {
        in_batches::<u128>(&steps);
    }
}

/// A long churn over one table, so that blocks are freed, split and reused many times.
fn churn<K: Key>(seed: u64, steps: usize) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut pair = Pair::<K>::new();
    for step in 0..steps {
        let prefix = prefix(rng.u8(..), rng.u64(..) & 0x0fff, rng.u32(..));
        pair.change(prefix, (rng.u8(..) < 150).then(|| rng.u32(..8)));
        if step % 8 == 0 {
            pair.check_around(prefix);
        }
    }
    pair.check_all();
}

#[test]
fn ipv4_long_churn() {
    churn::<u32>(1, 60_000);
}

#[test]
fn ipv6_long_churn() {
    churn::<u128>(2, 60_000);
}

#[test]
fn too_great_ids_are_refused_and_the_greatest_works() {
    let table = Table::<u32>::new(Domain::global());
    let all = Prefix::new(0, 0).unwrap();
    assert_eq!(table.insert(all, MAX_ID + 1), Err(TableError::IdTooLarge(MAX_ID + 1)));
    assert_eq!(table.apply([(all, Some(7)), (all, Some(NONE))]), Err(TableError::IdTooLarge(NONE)));
    assert!(table.is_empty());
    table.insert(all, MAX_ID).unwrap();
    assert_eq!(table.lookup(1, Domain::global().guard().turn()), Some(MAX_ID));
}

/// A full table refuses a change as a whole, stays as it was, and works on.
#[test]
fn a_change_that_does_not_fit_changes_nothing() {
    let mut rng = fastrand::Rng::with_seed(3);
    let mut pair = Pair::<u32> { fast: Table::with_limit(Domain::global(), 1), naive: Naive::new() };
    let mut refused = 0;
    for round in 0..4_000 {
        let changes: Vec<_> = (0..rng.usize(1..20))
            .map(|_| {
                let prefix = Prefix::new(rng.u32(..), rng.u8(16..=32)).unwrap();
                (prefix, Some(rng.u32(..1000)))
            })
            .collect();
        match pair.fast.apply(changes.iter().copied()) {
            Ok(()) => pair.apply_naive(&changes),
            Err(error) => {
                assert_eq!(error, TableError::Full { limit: 512 << 10 });
                refused += 1;
            }
        }
        if round % 500 == 0 {
            pair.check_all();
        }
    }
    assert!(refused > 10, "the limit was never reached");
    pair.check_all();
    pair.fast.clear().unwrap();
    assert_eq!(pair.fast.stats().block_bytes, 0);
}

#[test]
fn replacing_all_leaves_only_the_new() {
    let mut pair = Pair::<u32>::new();
    for (low, len) in [(1, 8), (2, 16), (3, 24), (4, 32)] {
        pair.change(Prefix::new(low << 24 | low, len).unwrap(), Some(low));
    }
    let new = [(Prefix::new(0x0200_0000, 16).unwrap(), 9), (Prefix::new(0x0500_0000, 12).unwrap(), 8)];
    pair.fast.replace_all(new).unwrap();
    pair.naive = Naive::new();
    pair.apply_naive(&new.map(|(prefix, id)| (prefix, Some(id))));
    pair.check_all();
    pair.check(&[0x0300_0003, 0x0400_0004, 0]);
}

/// The shipped table, against the golden one at the edges of a sample of its prefixes.
#[test]
fn the_full_table_looks_up_right() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/internet-prefixes.txt.xz");
    let list = lpm::import::read_file(path.as_ref(), Default::default()).unwrap();
    assert_eq!((list.v4.len(), list.v6.len()), (901_899, 160_147));
    full(list.v4.iter().map(|&(prefix, _)| prefix));
    full(list.v6.iter().map(|&(prefix, _)| prefix));
}

fn full<K: Key>(prefixes: impl Iterator<Item = Prefix<K>>) {
    let mut pair = Pair::new();
    let changes: Vec<_> = (0..).zip(prefixes).map(|(id, prefix)| (prefix, Some(id % 5000))).collect();
    pair.apply(&changes);
    for &(prefix, _) in changes.iter().step_by(29) {
        pair.check_around(prefix);
    }
    // A session reset: everything out, and in again from another neighbour.
    pair.apply(&changes.iter().map(|&(prefix, _)| (prefix, None)).collect::<Vec<_>>());
    assert_eq!(pair.fast.stats().block_bytes, 0);
    pair.apply(&changes.iter().rev().map(|&(prefix, id)| (prefix, id.map(|id| id / 2))).collect::<Vec<_>>());
    for &(prefix, _) in changes.iter().step_by(97) {
        pair.check_around(prefix);
    }
}
