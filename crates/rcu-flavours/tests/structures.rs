//! The structures: against naive ones, and under threads that contend for few keys.
#![cfg(not(loom))]

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::*},
    },
    thread,
};

use proptest::prelude::*;
use rcu_flavours::{
    ApRcu, BrLock, ClickEpoch, Divisible, Drcu, Flavour, Lock, Qrcu, Qsbr, RwLock,
    structures::{HashTable, RouteTable},
};

/// A value that knows whether it is alive, and tells how many were dropped.
struct Item {
    key: u64,
    pattern: [AtomicUsize; 4],
    dropped: Arc<AtomicUsize>,
}

const ALIVE: usize = 0xA11E;

impl Item {
    fn new(key: u64, dropped: &Arc<AtomicUsize>) -> Self {
        Self { key, pattern: [const { AtomicUsize::new(ALIVE) }; 4], dropped: dropped.clone() }
    }

    fn check(&self, key: u64) {
        assert_eq!(self.key, key);
        for word in &self.pattern {
            assert_eq!(word.load(Relaxed), ALIVE, "read after it was reclaimed");
        }
    }
}

impl Drop for Item {
    fn drop(&mut self) {
        for word in &self.pattern {
            assert_eq!(word.swap(0, Relaxed), ALIVE, "reclaimed twice");
        }
        self.dropped.fetch_add(1, Relaxed);
    }
}

/// Threads insert, remove and look up the same few keys. Each success changes a balance per key; in the end the
/// balance must be what the table holds, and every item must have been dropped once.
fn contend<F: Flavour>(table: HashTable<Item, F>) {
    const THREADS: u64 = 4;
    const KEYS: u64 = 6;
    let dropped = Arc::new(AtomicUsize::new(0));
    let made = AtomicUsize::new(0);
    let balance: [AtomicUsize; KEYS as usize] = Default::default();
    thread::scope(|scope| {
        for seed in 0..THREADS {
            let (table, dropped, made, balance) = (&table, &dropped, &made, &balance);
            scope.spawn(move || {
                let mut session = table.session();
                let mut random = seed + 1;
                for _ in 0..2000 {
                    random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    let key = (random >> 40) % KEYS;
                    match (random >> 33) % 4 {
                        0 => {
                            made.fetch_add(1, Relaxed);
                            if session.insert(key, Item::new(key, dropped)).is_ok() {
                                balance[key as usize].fetch_add(1, Relaxed);
                            }
                        }
                        1 if session.remove(key) => _ = balance[key as usize].fetch_sub(1, Relaxed),
                        _ => _ = session.get(key, |item| item.check(key)),
                    }
                    session.quiescent();
                }
                session.barrier();
            });
        }
    });
    let mut session = table.session();
    for key in 0..KEYS {
        let held = usize::from(session.get(key, |item| item.check(key)).is_some());
        assert_eq!(held, balance[key as usize].load(Relaxed), "key {key}: one insert and one removal win");
    }
    session.barrier();
    drop((session, table));
    assert_eq!(dropped.load(Relaxed), made.load(Relaxed), "each item is dropped once");
}

#[test]
fn of_concurrent_changes_of_a_key_one_succeeds() {
    // One or two buckets, so that chains have neighbours that go at the same time.
    contend(HashTable::new(2, Qsbr::new()));
    contend(HashTable::new(2, ApRcu::new()));
    contend(HashTable::new(2, ClickEpoch::new()));
    contend(HashTable::new(2, Qrcu::new()));
    contend(HashTable::new(1, Drcu::new()));
    contend(HashTable::new(2, Lock::new()));
    contend(HashTable::new(1, RwLock::new()));
    contend(HashTable::new(2, BrLock::with_locks(2)));
}

#[test]
fn of_concurrent_changes_of_a_key_one_succeeds_with_an_instance_per_bucket() {
    fn per_bucket<F: Divisible>() {
        contend(HashTable::<_, F>::per_bucket(4));
    }
    per_bucket::<Qrcu>();
    per_bucket::<Drcu>();
    per_bucket::<Lock>();
}

#[derive(Clone, Copy, Debug)]
enum HashOp {
    Insert(u64, u32),
    Remove(u64),
    Get(u64),
}

fn hash_op() -> impl Strategy<Value = HashOp> {
    let key = 0_u64..12;
    prop_oneof![
        (key.clone(), any::<u32>()).prop_map(|(key, value)| HashOp::Insert(key, value)),
        key.clone().prop_map(HashOp::Remove),
        key.prop_map(HashOp::Get),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_hash_table_is_a_map(ops in prop::collection::vec(hash_op(), 0..100)) {
        let table = HashTable::new(4, Qsbr::new());
        let mut session = table.session();
        let mut model = HashMap::new();
        for op in ops {
            match op {
                HashOp::Insert(key, value) => {
                    let known = model.contains_key(&key);
                    model.entry(key).or_insert(value);
                    prop_assert_eq!(session.insert(key, value), if known { Err(value) } else { Ok(()) });
                }
                HashOp::Remove(key) => prop_assert_eq!(session.remove(key), model.remove(&key).is_some()),
                HashOp::Get(key) => prop_assert_eq!(session.get(key, |v| *v), model.get(&key).copied()),
            }
        }
    }
}

/// The same prefixes in the simplest way: the longest that covers an address wins.
#[derive(Default)]
struct NaiveRoutes(HashMap<(u32, u32), u32>);

fn masked(prefix: u32, len: u32) -> u32 {
    prefix & !u32::MAX.checked_shr(len).unwrap_or(0)
}

impl NaiveRoutes {
    fn lookup(&self, address: u32) -> Option<u32> {
        (0..=32).rev().find_map(|len| self.0.get(&(masked(address, len), len)).copied())
    }
}

/// Prefixes that overlap: few bits differ, at the boundaries of the trie's levels and elsewhere.
fn prefix() -> impl Strategy<Value = (u32, u32)> {
    let address = prop::collection::vec(prop::sample::select(vec![31_u32, 24, 23, 20, 16, 12, 3, 0]), 0..3);
    let len = prop_oneof![Just(0), Just(8), Just(9), Just(12), Just(13), Just(31), Just(32), 0_u32..=32];
    (address.prop_map(|bits| bits.iter().fold(0, |address, bit| address | 1 << bit)), len)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_route_table_finds_the_longest_prefix(
        ops in prop::collection::vec((prefix(), prop::option::weighted(0.7, 0_u32..5)), 1..60),
        // Prefixes need not be masked.
        noise in any::<u32>(),
    ) {
        let table = RouteTable::with_capacity(Qsbr::new(), 1);
        let mut session = table.session();
        let mut model = NaiveRoutes::default();
        for ((bits, len), route) in &ops {
            let dirty = masked(*bits, *len) | noise & !masked(u32::MAX, *len);
            let place = (masked(*bits, *len), *len);
            let (former, expected) = match route {
                Some(route) => (session.insert(dirty, *len, *route), model.0.insert(place, *route)),
                None => (session.remove(dirty, *len), model.0.remove(&place)),
            };
            prop_assert_eq!(former, expected);
            prop_assert_eq!(session.exact(dirty, *len), *route);
            session.quiescent();
        }
        for ((bits, len), _) in &ops {
            for address in [*bits, bits ^ 1, bits ^ (1 << 20), bits | noise & !masked(u32::MAX, *len)] {
                prop_assert_eq!(session.lookup(address), model.lookup(address));
            }
        }
    }
}

/// Readers look addresses up while updaters replace, add and remove, so that places in the vector are used again, the vector
/// grows, and nodes come and go. Each route says which prefix it is for.
fn route_under_change<F: Flavour>(flavour: F) {
    let table = RouteTable::with_capacity(flavour, 1);
    table.session().insert(0, 0, 0);
    let prefixes: Vec<(u32, u32)> =
        (0..8).flat_map(|i| [(i << 28, 4), (i << 28, 14), (i << 28, 30)]).collect();
    let done = AtomicUsize::new(0);
    thread::scope(|scope| {
        for updater in 0..2 {
            let (table, prefixes, done) = (&table, &prefixes, &done);
            scope.spawn(move || {
                let mut session = table.session();
                for round in 0..200_u32 {
                    let (prefix, len) = prefixes[(round * 7 + updater * 3) as usize % prefixes.len()];
                    // The former is a route of this prefix, if any.
                    let former = match round % 5 {
                        0..3 => session.insert(prefix, len, prefix | len),
                        _ => session.remove(prefix, len),
                    };
                    assert!(former.is_none_or(|route| route == prefix | len));
                    session.quiescent();
                }
                session.barrier();
                done.fetch_add(1, Relaxed);
            });
        }
        let mut session = table.session();
        while done.load(Relaxed) < 2 {
            for (prefix, _) in &prefixes {
                let route = session.lookup(*prefix).expect("there is a default route");
                assert!(route == 0 || route >> 28 == prefix >> 28, "{route:#x} is no route for {prefix:#x}");
            }
            session.quiescent();
        }
    });
}

#[test]
fn look_ups_during_changes_find_routes_for_their_address() {
    route_under_change(Qsbr::new());
    route_under_change(ApRcu::new());
    route_under_change(ClickEpoch::new());
    route_under_change(Qrcu::new());
    route_under_change(Drcu::new());
    route_under_change(Lock::new());
    route_under_change(RwLock::new());
    route_under_change(BrLock::with_locks(2));
}
