//! Lookups while the table changes: each must return the longest match of a version that was current meanwhile.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread;

use lpm::faithful::{DirectTable, LinearTable, RadixTable, RangeTable};
use lpm::{Key, LongestMatch, NONE, Naive, Prefix, Table, TableError};
use rcu::{Domain, Turn};

/// Versions of the table; the id of each route says which version set it.
const VERSIONS: u64 = if cfg!(debug_assertions) { 3_000 } else { 30_000 };
/// Rounds of each updater where several race.
const ROUNDS: u32 = if cfg!(debug_assertions) { 15 } else { 300 };
/// Prefixes that change: a /16 and /24s and /32s inside it, so that blocks on two levels are replaced all the time.
const NETS: u32 = 48;

/// The prefixes of address `net`, from the longest.
fn nest<K: Key>(net: u32) -> [Prefix<K>; 3] {
    let left = u128::from(10 << 24 | 1 << 16 | net << 8 | net) << 96;
    // In IPv6, the longest is far below the others.
    let (lens, left) =
        if K::BITS == 32 { ([32, 24, 16], left) } else { ([128, 40, 16], left | u128::from(net)) };
    lens.map(|len| Prefix::new(K::from_left(left), len).unwrap())
}

/// The longest match of `net` in `version`. Version `v` re-announces the /16 with id `v`, and cycles each /24 and /32
/// in and out with ids that name the version in which they came.
fn id_at(net: u32, depth: usize, version: u64) -> Option<u32> {
    let version = version as u32;
    match depth {
        2 => Some(version),
        _ => {
            // Present for `period` versions, absent for `period`.
            let period = 1 + net % 5 + depth as u32;
            let phase = version / period;
            (phase % 2 == 1).then_some(phase * period)
        }
    }
}

fn longest_at(net: u32, version: u64) -> u32 {
    (0..3).find_map(|depth| id_at(net, depth, version)).unwrap_or(NONE)
}

/// What leads from the version before to `version`.
fn changes<K: Key>(version: u64) -> impl Iterator<Item = (Prefix<K>, Option<u32>)> {
    let all = (0..NETS).flat_map(|net| (0..3).map(move |depth| (net, depth)));
    all.filter(move |&(net, depth)| id_at(net, depth, version) != id_at(net, depth, version - 1))
        .map(move |(net, depth)| (nest::<K>(net)[depth], id_at(net, depth, version)))
}

/// The versions of a table that may be current: all from the one that was finished last to the one that was started last.
#[derive(Default)]
struct Window {
    started: AtomicU64,
    finished: AtomicU64,
    over: AtomicBool,
}

impl Window {
    /// Makes the next version.
    fn step(&self, change: impl FnOnce()) {
        self.started.fetch_add(1, SeqCst);
        change();
        self.finished.fetch_add(1, SeqCst);
    }
}

/// Looks `addrs` up until it is over; `want` says what a version has for each.
fn check<K: Key>(
    table: &dyn LongestMatch<K>,
    addrs: &[K],
    want: &(dyn Fn(usize, u64) -> u32 + Sync),
    window: &Window,
) {
    let mut reader = Domain::global().register("checker");
    let mut out = vec![0; addrs.len()];
    let mut rounds = 0u64;
    while !window.over.load(SeqCst) || rounds == 0 {
        let turn = reader.turn();
        let oldest = window.finished.load(SeqCst);
        if rounds.is_multiple_of(2) {
            table.lookup_batch(addrs, &mut out, turn);
        } else {
            for (&addr, out) in addrs.iter().zip(&mut out) {
                *out = table.lookup(addr, turn).unwrap_or(NONE);
            }
        }
        let newest = window.started.load(SeqCst);
        for (at, &id) in out.iter().enumerate() {
            let valid = (oldest..=newest).any(|version| want(at, version) == id);
            assert!(valid, "{:?}: id {id} is of no version of {oldest}..={newest}", Prefix::host(addrs[at]));
        }
        rounds += 1;
        reader.quiescent();
    }
}

/// A change, again after a barrier if too much memory waits to be reclaimed.
fn patiently<R>(mut change: impl FnMut() -> Result<R, TableError>) -> R {
    loop {
        match change() {
            Ok(done) => return done,
            Err(TableError::Backpressure) => Domain::global().barrier(),
            Err(error) => panic!("{error}"),
        }
    }
}

fn every_lookup_is_of_some_current_version<K: Key>(table: &dyn LongestMatch<K>) {
    let window = Window::default();
    let addrs: Vec<K> = (0..NETS).map(|net| nest(net)[0].addr()).collect();
    table.change(nest(0)[2], Some(0)).unwrap();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| check(table, &addrs, &|net, version| longest_at(net as u32, version), &window));
        }
        for version in 1..VERSIONS {
            // One application a version: then every address goes from version to version in one step.
            let changes: Vec<_> = changes(version).collect();
            window.step(|| patiently(|| table.apply(&changes)));
        }
        window.over.store(true, SeqCst);
    });
    // Quiet again, lookups return the newest.
    let guard = Domain::global().guard();
    for (net, &addr) in (0..).zip(&addrs) {
        let found = table.lookup(addr, guard.turn()).unwrap_or(NONE);
        assert_eq!(found, longest_at(net, VERSIONS - 1));
    }
}

/// A session reset: all routes of the shipped table withdrawn, then announced by another neighbour, then back again. Every lookup
/// meanwhile is of the table before, of none, or of the table after. A debug build takes every `thinned` prefix.
fn a_session_reset_is_absorbed<K: Key>(prefixes: impl Iterator<Item = Prefix<K>>, thinned: usize) {
    let prefixes: Vec<_> = prefixes.step_by(if cfg!(debug_assertions) { thinned } else { 1 }).collect();
    let id = |at: usize, neighbour: u32| 2 * (at as u32 % 5000) + neighbour;
    let announced =
        |neighbour| prefixes.iter().enumerate().map(move |(at, &prefix)| (prefix, Some(id(at, neighbour))));
    let withdrawn = || prefixes.iter().map(|&prefix| (prefix, None));
    let addrs: Vec<K> = prefixes.iter().step_by(prefixes.len() / 1000).map(|prefix| prefix.last()).collect();
    let wants = [0, 1].map(|neighbour| {
        let mut naive = Naive::new();
        for (prefix, id) in announced(neighbour) {
            naive.insert(prefix, id.unwrap_or(NONE));
        }
        addrs.iter().map(|&addr| naive.lookup(addr).unwrap_or(NONE)).collect::<Vec<u32>>()
    });
    // Versions: one neighbour's, none, the other's, none, and so on.
    let want = |at: usize, version: u64| match version % 4 {
        0 => wants[0][at],
        2 => wants[1][at],
        _ => NONE,
    };
    let (table, window) = (Table::<K>::new(Domain::global()), Window::default());
    table.apply(announced(0)).unwrap();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| check(&table, &addrs, &want, &window));
        }
        for neighbour in [1, 0] {
            window.step(|| table.apply(withdrawn()).unwrap());
            window.step(|| table.apply(announced(neighbour)).unwrap());
        }
        window.over.store(true, SeqCst);
    });
    let guard = Domain::global().guard();
    for (at, &addr) in addrs.iter().enumerate() {
        assert_eq!(table.lookup(addr, guard.turn()).unwrap_or(NONE), wants[0][at]);
    }
}

#[test]
fn session_resets_are_absorbed() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/internet-prefixes.txt.xz");
    let list = lpm::import::read_file(path.as_ref(), Default::default()).unwrap();
    a_session_reset_is_absorbed(list.v4.iter().map(|&(prefix, _)| prefix), 20);
    a_session_reset_is_absorbed(list.v6.iter().map(|&(prefix, _)| prefix), 10);
}

/// Updaters that race end in some serial order: what they all agree on is there, and counts are right.
fn concurrent_updaters_end_in_some_serial_order<K: Key>(table: &dyn LongestMatch<K>) {
    // The same four bytes for both families.
    let key = |addr: u32| K::from_left(u128::from(addr) << 96);
    thread::scope(|scope| {
        for writer in 0..3 {
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    for low in 0..64u32 {
                        let prefix = Prefix::new(key(20 << 24 | low << 10), 24).unwrap();
                        let id = (!(round + low + writer).is_multiple_of(3)).then_some(writer);
                        patiently(|| table.change(prefix, id));
                    }
                }
                for low in 0..64u32 {
                    let own = Prefix::new(key(21 << 24 | writer << 16 | low), 32).unwrap();
                    patiently(|| table.change(own, Some(low)));
                }
            });
        }
    });
    let guard = Domain::global().guard();
    let mut count = 0;
    table.for_each(&mut |prefix, id| {
        count += 1;
        assert_eq!(table.lookup(prefix.addr(), guard.turn()), Some(id), "{prefix}");
    });
    assert_eq!(count, table.len());
    for (writer, low) in (0..3).flat_map(|writer| (0..64).map(move |low| (writer, low))) {
        assert_eq!(table.lookup(key(21 << 24 | writer << 16 | low), guard.turn()), Some(low));
    }
}

/// Both tests for one table.
macro_rules! suite {
    ($name:ident, $table:expr) => {
        mod $name {
            use super::*;

            #[test]
            fn every_lookup_is_of_some_current_version() {
                super::every_lookup_is_of_some_current_version(&$table);
            }

            #[test]
            fn concurrent_updaters_end_in_some_serial_order() {
                super::concurrent_updaters_end_in_some_serial_order(&$table);
            }
        }
    };
}

suite!(best4, Table::<u32>::new(Domain::global()));
suite!(best6, Table::<u128>::new(Domain::global()));
suite!(radix, RadixTable::new(Domain::global()));
suite!(direct, DirectTable::new(Domain::global()));
suite!(range, RangeTable::new(Domain::global()));
suite!(linear, LinearTable::new(Domain::global()));

/// An IPv6 table with the prefixes of an IPv4 table, without their first 8 bits: so that the longest are in pages of the
/// lookup structure, which come and go with them.
struct Wide(Table<u128>);

impl Wide {
    fn addr(addr: u32) -> u128 {
        u128::from(addr << 8) << 96
    }

    fn prefix(prefix: Prefix<u32>) -> Prefix<u128> {
        Prefix::new(Self::addr(prefix.addr()), prefix.len() - 8).unwrap()
    }

    fn back(prefix: Prefix<u128>) -> Prefix<u32> {
        Prefix::new(10 << 24 | (prefix.addr() >> 104) as u32, prefix.len() + 8).unwrap()
    }
}

impl LongestMatch<u32> for Wide {
    fn new(domain: &'static Domain) -> Self {
        Self(Table::new(domain))
    }

    fn lookup(&self, addr: u32, turn: Turn<'_>) -> Option<u32> {
        self.0.lookup(Self::addr(addr), turn)
    }

    fn lookup_batch(&self, addrs: &[u32], out: &mut [u32], turn: Turn<'_>) {
        let addrs: Vec<u128> = addrs.iter().map(|&addr| Self::addr(addr)).collect();
        self.0.lookup_batch(&addrs, out, turn);
    }

    fn change(&self, prefix: Prefix<u32>, id: Option<u32>) -> Result<Option<u32>, TableError> {
        LongestMatch::change(&self.0, Self::prefix(prefix), id)
    }

    fn exchange(&self, changes: &[(Prefix<u32>, Option<u32>)]) -> Result<Vec<Option<u32>>, TableError> {
        self.0.exchange(changes.iter().map(|&(prefix, id)| (Self::prefix(prefix), id)))
    }

    fn clear(&self) -> Result<(), TableError> {
        self.0.clear()
    }

    fn get(&self, prefix: Prefix<u32>) -> Option<u32> {
        self.0.get(Self::prefix(prefix))
    }

    fn longest(&self, addr: u32) -> Option<(Prefix<u32>, u32)> {
        self.0.longest(Self::addr(addr)).map(|(prefix, id)| (Self::back(prefix), id))
    }

    fn for_each(&self, visit: &mut dyn FnMut(Prefix<u32>, u32)) {
        self.0.for_each(|prefix, id| visit(Self::back(prefix), id));
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

#[test]
fn pages_come_and_go_under_readers() {
    every_lookup_is_of_some_current_version(&Wide::new(Domain::global()));
}
