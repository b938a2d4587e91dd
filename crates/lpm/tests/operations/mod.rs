//! Bytes as operations on a table, each followed by a comparison with the golden one. Shared by the fuzz target
//! `route_tables` and the test that replays its corpus.

use lpm::faithful::{LinearTable, RadixTable, RangeTable};
use lpm::{Key, LongestMatch, Naive, Prefix, Table, TableError};
use rcu::Domain;

/// Bytes of an operation.
const STEP: usize = 8;

/// The first byte chooses the table, all others are operations. Panics if an answer is wrong. Returns how many were made.
pub(crate) fn run(data: &[u8]) -> usize {
    let Some((&table, steps)) = data.split_first() else { return 0 };
    match table % 5 {
        0 => steps_on::<u32, Table<u32>>(steps),
        1 => steps_on::<u128, Table<u128>>(steps),
        2 => steps_on::<u32, RadixTable>(steps),
        3 => steps_on::<u32, RangeTable>(steps),
        _ => steps_on::<u32, LinearTable>(steps),
    }
}

/// Bytes of nodes that so few operations need at most; an address sanitizer takes long over the usual reservation.
const NODES: usize = 8 << 20;

/// A table that is made for few routes.
trait Small<K: Key>: LongestMatch<K> + Sized {
    fn small() -> Self {
        Self::new(Domain::global())
    }
}

impl<K: Key> Small<K> for Table<K> {
    fn small() -> Self {
        Table::with_limit(Domain::global(), NODES)
    }
}

impl Small<u32> for RadixTable {}
impl Small<u32> for RangeTable {}
impl Small<u32> for LinearTable {}

/// A change that the golden table makes when the other one has.
type Step<K> = (Prefix<K>, Option<u32>);

fn steps_on<K: Key, T: Small<K>>(data: &[u8]) -> usize {
    let (table, mut naive) = (T::small(), Naive::new());
    let mut gathered = Vec::new();
    let (steps, _) = data.as_chunks::<STEP>();
    for &[kind, len, id, shift, a, b, c, d] in steps {
        // IPv6 gets the same four bytes anywhere in its 128 bits.
        let left = u128::from(u32::from_be_bytes([a, b, c, d])) << 96 >> (u32::from(shift) % (K::BITS - 31));
        let prefix = Prefix::new(K::from_left(left), (u32::from(len) % (K::BITS + 1)) as u8);
        let Ok(prefix) = prefix else { unreachable!("the length is in range") };
        let step = (prefix, (kind & 1 == 0).then_some(id.into()));
        match kind >> 1 & 7 {
            0 => gathered.push(step),
            1 => publish(&table, &mut naive, std::mem::take(&mut gathered)),
            2 if kind > 250 => {
                patiently(|| table.clear());
                naive = Naive::new();
            }
            _ => {
                let had = patiently(|| table.change(prefix, step.1));
                assert_eq!(had, enter(&mut naive, step), "what {prefix} had");
            }
        }
        check(&table, &naive, prefix);
    }
    publish(&table, &mut naive, gathered);
    let mut all = Vec::new();
    table.for_each(&mut |prefix, id| all.push((prefix, id)));
    assert_eq!(all, naive.sorted());
    for (prefix, _) in all {
        check(&table, &naive, prefix);
    }
    steps.len()
}

fn publish<K: Key, T: LongestMatch<K>>(table: &T, naive: &mut Naive<K>, steps: Vec<Step<K>>) {
    patiently(|| table.apply(&steps));
    for step in steps {
        enter(naive, step);
    }
}

fn enter<K: Key>(naive: &mut Naive<K>, (prefix, id): Step<K>) -> Option<u32> {
    match id {
        Some(id) => naive.insert(prefix, id),
        None => naive.remove(prefix),
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

/// Compares the edges of a prefix, and the addresses beside them.
fn check<K: Key, T: LongestMatch<K>>(table: &T, naive: &Naive<K>, prefix: Prefix<K>) {
    let (first, last) = (prefix.addr().to_left(), prefix.last().to_left());
    let one = 1u128 << (128 - K::BITS);
    let guard = Domain::global().guard();
    for left in [first, last, first.wrapping_sub(one), last.wrapping_add(one)] {
        let addr = K::from_left(left);
        assert_eq!(table.lookup(addr, guard.turn()), naive.lookup(addr), "{:?}", Prefix::host(addr));
    }
}
