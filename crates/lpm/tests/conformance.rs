//! All tables against the golden one: the same operations, the same answers.

use std::collections::HashMap;
use std::marker::PhantomData;

use lpm::faithful::{DirectTable, LinearTable, RadixTable, RangeTable};
use lpm::import::{self, AnyPrefix};
use lpm::{Key, LongestMatch, MAX_ID, NONE, Naive, Prefix, Table, TableError};
use proptest::prelude::*;
use rcu::Domain;

/// A table and the golden one, changed together.
struct Pair<K: Key, T> {
    fast: T,
    naive: Naive<K>,
}

/// A change, again after a barrier if too much memory waits to be reclaimed: these tests outrun the reclaimer.
fn patiently<R>(mut change: impl FnMut() -> Result<R, TableError>) -> Result<R, TableError> {
    match change() {
        Err(TableError::Backpressure) => {
            Domain::global().barrier();
            change()
        }
        done => done,
    }
}

impl<K: Key, T: LongestMatch<K>> Pair<K, T> {
    fn new(fast: T) -> Self {
        Self { fast, naive: Naive::new() }
    }

    fn change(&mut self, prefix: Prefix<K>, id: Option<u32>) {
        let naive = match id {
            Some(id) => self.naive.insert(prefix, id),
            None => self.naive.remove(prefix),
        };
        assert_eq!(patiently(|| self.fast.change(prefix, id)), Ok(naive), "what {prefix} had");
    }

    fn apply(&mut self, changes: &[(Prefix<K>, Option<u32>)]) {
        patiently(|| self.fast.apply(changes)).unwrap();
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
        self.fast.for_each(&mut |prefix, id| seen.push((prefix, id)));
        assert_eq!(seen, sorted);
        assert_eq!(self.fast.len(), sorted.len());
        for (prefix, id) in sorted {
            assert_eq!(self.fast.get(prefix), Some(id));
            self.check_around(prefix);
        }
    }
}

/// How a table is made, and how much it is asked to do.
struct Kind<K, T> {
    make: fn() -> T,
    /// Steps of a churn; a hundredth of it in a debug build.
    steps: usize,
    /// Prefixes shorter than this are made rare, where they cost a table millions of stores.
    usual: u32,
    key: PhantomData<K>,
}

impl<K: Key, T: LongestMatch<K>> Kind<K, T> {
    const fn new(make: fn() -> T, steps: usize, usual: u32) -> Self {
        Self { make, steps, usual, key: PhantomData }
    }

    /// Prefixes that nest and collide: few distinct bit patterns, all lengths.
    fn prefix(&self, pattern: u8, low: u64, len: u32) -> Prefix<K> {
        let bits = match pattern % 6 {
            0 => 0,
            1 => u128::MAX,
            2 => 0x0a01_0203_0405_0607_u128 << 64,
            3 => (0x0a01_0203_0405_0607_u128 << 64) ^ (u128::from(low) << (128 - K::BITS)),
            4 => (0x2001_0db8_u128 << 96) ^ (u128::from(low & 0xff) << 90),
            _ => u128::from(low) << 64 | u128::from(low),
        };
        let rare = (len >> 16).is_multiple_of(64);
        let len = len % (K::BITS + 1);
        let len = if len < self.usual && !rare { K::BITS - len } else { len };
        Prefix::new(K::from_left(bits), len as u8).unwrap()
    }

    fn one_by_one(&self, steps: &[Raw]) {
        let mut pair = Pair::new((self.make)());
        for &(pattern, low, len, id) in steps {
            let prefix = self.prefix(pattern, low, len);
            pair.change(prefix, id);
            pair.check_around(prefix);
        }
        pair.check_all();
        // Taking everything out again leaves an empty table.
        for (prefix, _) in pair.naive.sorted() {
            pair.change(prefix, None);
            pair.check_around(prefix);
        }
        assert!(pair.fast.is_empty());
    }

    fn in_batches(&self, steps: &[Raw]) {
        let mut pair = Pair::new((self.make)());
        for steps in steps.chunks(40) {
            let changes: Vec<_> =
                steps.iter().map(|&(pattern, low, len, id)| (self.prefix(pattern, low, len), id)).collect();
            pair.apply(&changes);
            pair.check_all();
        }
        patiently(|| pair.fast.clear()).unwrap();
        pair.naive = Naive::new();
        pair.check(&[K::from_left(0), K::from_left(u128::MAX)]);
        assert!(pair.fast.is_empty());
    }

    /// A long churn over one table, so that nodes are freed, split and reused many times.
    fn churn(&self, seed: u64) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut pair = Pair::new((self.make)());
        let steps = if cfg!(debug_assertions) { self.steps / 100 } else { self.steps };
        for step in 0..steps {
            let prefix = self.prefix(rng.u8(..), rng.u64(..) & 0x0fff, rng.u32(..));
            pair.change(prefix, (rng.u8(..) < 150).then(|| rng.u32(..8)));
            if step % 8 == 0 {
                pair.check_around(prefix);
            }
        }
        pair.check_all();
    }

    fn cases(&self, cases: u32, test: fn(&Self, &[Raw])) {
        let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
            cases,
            source_file: Some(file!()),
            ..ProptestConfig::default()
        });
        let steps = prop::collection::vec(raw(), 1..300);
        runner
            .run(&steps, |steps| {
                test(self, &steps);
                Ok(())
            })
            .unwrap_or_else(|failure| panic!("{failure}"));
    }

    fn limits(&self) {
        let table = (self.make)();
        let all = Prefix::new(K::from_left(0), 0).unwrap();
        assert_eq!(table.change(all, Some(MAX_ID + 1)), Err(TableError::IdTooLarge(MAX_ID + 1)));
        assert_eq!(table.apply(&[(all, Some(7)), (all, Some(NONE))]), Err(TableError::IdTooLarge(NONE)));
        assert!(table.is_empty());
        table.change(all, Some(MAX_ID)).unwrap();
        assert_eq!(table.lookup(K::from_left(1 << 100), Domain::global().guard().turn()), Some(MAX_ID));
    }

    /// The shipped table, against the golden one at the edges of a sample of its prefixes; a debug build takes every
    /// `thinned` prefix.
    fn full(&self, prefixes: impl Iterator<Item = Prefix<K>>, thinned: usize) {
        let mut pair = Pair::new((self.make)());
        let prefixes = prefixes.step_by(if cfg!(debug_assertions) { thinned } else { 1 });
        let changes: Vec<_> = (0..).zip(prefixes).map(|(id, prefix)| (prefix, Some(id % 5000))).collect();
        pair.apply(&changes);
        for &(prefix, _) in changes.iter().step_by(29) {
            pair.check_around(prefix);
        }
        // A session reset: everything out, and in again from another neighbour.
        pair.apply(&changes.iter().map(|&(prefix, _)| (prefix, None)).collect::<Vec<_>>());
        assert!(pair.fast.is_empty());
        for &(prefix, _) in changes.iter().step_by(997) {
            pair.check_around(prefix);
        }
        pair.apply(
            &changes.iter().rev().map(|&(prefix, id)| (prefix, id.map(|id| id / 2))).collect::<Vec<_>>(),
        );
        for &(prefix, _) in changes.iter().step_by(97) {
            pair.check_around(prefix);
        }
    }
}

type Raw = (u8, u64, u32, Option<u32>);

fn raw() -> impl Strategy<Value = Raw> {
    // Few ids, so that neighbours are often equal and nodes collapse.
    (any::<u8>(), any::<u64>(), any::<u32>(), prop::option::weighted(0.6, 0u32..4))
}

const BEST4: Kind<u32, Table<u32>> = Kind::new(|| Table::new(Domain::global()), 4_000_000, 0);
const BEST6: Kind<u128, Table<u128>> = Kind::new(|| Table::new(Domain::global()), 4_000_000, 0);
const RADIX: Kind<u32, RadixTable> = Kind::new(|| RadixTable::new(Domain::global()), 4_000_000, 0);
const DIRECT: Kind<u32, DirectTable> = Kind::new(|| DirectTable::new(Domain::global()), 400_000, 14);
const RANGE: Kind<u32, RangeTable> = Kind::new(|| RangeTable::new(Domain::global()), 100_000, 6);
const LINEAR: Kind<u32, LinearTable> = Kind::new(|| LinearTable::new(Domain::global()), 100_000, 0);

/// The suite for one table: a test of each kind.
macro_rules! suite {
    ($name:ident, $kind:expr, $cases:expr) => {
        mod $name {
            use super::*;

            #[test]
            fn lookups_one_by_one_agree_with_the_golden_table() {
                $kind.cases($cases, Kind::one_by_one);
            }

            #[test]
            fn lookups_in_batches_agree_with_the_golden_table() {
                $kind.cases($cases, Kind::in_batches);
            }

            #[test]
            fn random_changes_agree_with_the_golden_table() {
                $kind.churn(1);
            }

            #[test]
            fn ids_beyond_the_limit_are_refused() {
                $kind.limits();
            }
        }
    };
}

suite!(best4, BEST4, 48);
suite!(best6, BEST6, 48);
suite!(radix, RADIX, 48);
suite!(direct, DIRECT, 2);
suite!(range, RANGE, 8);
suite!(linear, LINEAR, 16);

#[test]
fn the_full_table_looks_up_right() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/internet-prefixes.txt.xz");
    let list = lpm::import::read_file(path.as_ref(), Default::default()).unwrap();
    assert_eq!((list.v4.len(), list.v6.len()), (901_899, 160_147));
    let v4 = || list.v4.iter().map(|&(prefix, _)| prefix);
    BEST4.full(v4(), 1);
    BEST6.full(list.v6.iter().map(|&(prefix, _)| prefix), 1);
    RADIX.full(v4(), 20);
    DIRECT.full(v4(), 20);
    RANGE.full(v4(), 20);
}

/// Real updates of a route collector, one after the other.
fn replay<T: LongestMatch<u32>>(kind: &Kind<u32, T>) {
    let packed = &include_bytes!("data/rrc15-20100227.1610.gz")[..];
    let bytes = import::unpack(packed, &mut import::Options::default()).unwrap();
    let (changes, faults) = import::changes(&bytes);
    assert!(faults.is_empty(), "{faults:?}");
    let withdrawn = changes.iter().filter(|(_, gateway)| gateway.is_none()).count();
    assert!(changes.len() > 300 && withdrawn > 50, "{} changes, {withdrawn} withdrawals", changes.len());
    let (mut pair, mut ids) = (Pair::new((kind.make)()), HashMap::new());
    for (prefix, gateway) in changes {
        let AnyPrefix::V4(prefix) = prefix else { continue };
        let fresh = ids.len() as u32;
        pair.change(prefix, gateway.map(|gateway| *ids.entry(gateway).or_insert(fresh)));
        pair.check_around(prefix);
    }
    pair.check_all();
}

#[test]
fn real_updates_agree_with_the_golden_table() {
    replay(&BEST4);
    replay(&RADIX);
    replay(&DIRECT);
    replay(&RANGE);
    replay(&LINEAR);
}

#[test]
fn an_emptied_table_holds_no_blocks() {
    let mut pair = Pair::new((BEST4.make)());
    for low in 0..2000u32 {
        pair.change(BEST4.prefix(low as u8, low.into(), low), Some(low % 7));
    }
    for (prefix, _) in pair.naive.sorted() {
        pair.change(prefix, None);
    }
    let stats = pair.fast.stats();
    assert_eq!((stats.prefixes, stats.block_bytes), (0, 0));
}

/// A full table refuses a change as a whole, stays as it was, and works on.
#[test]
fn a_change_that_does_not_fit_changes_nothing() {
    let mut rng = fastrand::Rng::with_seed(3);
    let mut pair =
        Pair::<u32, Table<u32>> { fast: Table::with_limit(Domain::global(), 1), naive: Naive::new() };
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
    let mut pair = Pair::new(Table::<u32>::new(Domain::global()));
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
