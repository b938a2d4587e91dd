//! The structures, in every interleaving (within a preemption bound) of small programs over some of the flavours.
//!
//! Values are loom cells that are read when found and written when dropped, so that a value that is dropped while, or
//! before, a thread reads it is reported as a race.
//!
//! What `mutants.sh` takes away, what is broken then, and which test notices:
//!
//! | mutant | what is broken | killed by |
//! |---|---|---|
//! | `hash_publish` | an item is found before it is initialised | `flavours::neighbours_go::qsbr` |
//! | `hash_read` | as before, from the other end | `flavours::found_by_who_only_looks::qsbr` |
//! | `trie_publish` | a node is found before it is initialised | `flavours::a_route_is_replaced::qsbr` |
//! | `trie_read` | as before, from the other end | `flavours::a_route_is_replaced::qsbr` |
//! | `vector_publish` | a route is found before it is initialised | `flavours::a_route_is_replaced::qsbr` |
//! | `vector_read` | as before, from the other end | `flavours::a_route_is_replaced::qsbr` |
//!
//! | mutant | what is broken | killed by |
//! |---|---|---|
//! | `vector_reuse_at_once` | a route's place is used again while readers may have its index | `flavours::a_route_is_replaced::qsbr` |
//! | `trie_publish` | who finds a key need not find its route | `flavours::a_route_is_replaced::qsbr` |
#![cfg(loom)]
// Whether the cells are accessed one at a time is what the models check.
#![allow(clippy::arc_with_non_send_sync)]

use loom::{cell::UnsafeCell, model::Builder, thread};
use rcu::Config;
use rcu_flavours::{
    ClickEpoch, Flavour, Qrcu, Qsbr,
    structures::{HashSession, HashTable, RouteTable},
};

/// A number where loom sees each access.
struct Value(UnsafeCell<u64>);

// SAFETY: access is what the models check.
unsafe impl Send for Value {}
// SAFETY: as above.
unsafe impl Sync for Value {}

impl Value {
    /// Loom does not take making a cell for a write to it, so this writes.
    fn new(value: u64) -> Self {
        let this = Self(UnsafeCell::new(0));
        // SAFETY: no other thread has it yet.
        this.0.with_mut(|at| unsafe { *at = value });
        this
    }

    fn get(&self) -> u64 {
        // SAFETY: checked by the model.
        self.0.with(|value| unsafe { *value })
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        // SAFETY: checked by the model.
        self.0.with_mut(|value| unsafe { *value = u64::MAX });
    }
}

fn check(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(model);
}

/// Runs a model over flavours of each kind.
macro_rules! over_flavours {
    ($($name:ident)*) => { $(
        mod $name {
            use super::*;

            #[test]
            fn qsbr() {
                check(|| super::super::models::$name(Qsbr::with_config(Config::manual())));
            }

            #[test]
            fn click_epoch() {
                check(|| super::super::models::$name(ClickEpoch::new()));
            }

            #[test]
            fn qrcu() {
                check(|| super::super::models::$name(Qrcu::new()));
            }
        }
    )* };
}

mod flavours {
    use super::*;

    over_flavours! {
        one_insert_wins
        one_removal_wins
        found_by_who_only_looks
        neighbours_go
        a_route_is_replaced
        a_node_goes
    }
}

mod models {
    use super::*;

    fn session<F: Flavour>(table: &HashTable<Value, F>) -> HashSession<Value, F> {
        table.session()
    }

    /// Two threads insert one key: one succeeds, and both find it.
    pub(super) fn one_insert_wins<F: Flavour>(flavour: F) {
        let table = HashTable::new(1, flavour);
        let insert = |mut session: HashSession<Value, F>, value| {
            let won = session.insert(1, Value::new(value)).is_ok();
            let found = session.get(1, Value::get).expect("one of the two inserted it");
            assert!(if won { found == value } else { found != value });
            won
        };
        let theirs = session(&table);
        let other = thread::spawn(move || insert(theirs, 10));
        let mine = insert(session(&table), 20);
        assert!(mine != other.join().unwrap(), "one of two");
    }

    /// Two threads remove one key, which a third would add again: one removal succeeds for each time it was there.
    pub(super) fn one_removal_wins<F: Flavour>(flavour: F) {
        let table = HashTable::new(1, flavour);
        session(&table).insert(1, Value::new(10)).ok().expect("it is empty");
        let mut theirs = session(&table);
        let other = thread::spawn(move || {
            let removed = theirs.remove(1);
            let _ = theirs.get(1, |_| unreachable!("no thread adds it again"));
            removed
        });
        let mut mine = session(&table);
        _ = mine.get(1, |value| assert_eq!(value.get(), 10));
        let removed = mine.remove(1);
        mine.barrier();
        drop(mine);
        assert!(removed != other.join().unwrap(), "one of two");
    }

    /// A thread that does nothing but look finds a key complete, or not at all, while another adds it.
    ///
    /// It looks once before it is a thread: a fence on its way online, which the model would order with all of the other's
    /// fences, could do the work of the acquire that is wanted here.
    pub(super) fn found_by_who_only_looks<F: Flavour>(flavour: F) {
        let table = HashTable::new(1, flavour);
        let mut theirs = session(&table);
        assert_eq!(theirs.get(1, Value::get), None);
        let looking = thread::spawn(move || {
            let found = theirs.get(1, Value::get);
            assert!([None, Some(10)].contains(&found), "{found:?}");
        });
        session(&table).insert(1, Value::new(10)).ok().expect("it is empty");
        looking.join().unwrap();
    }

    /// Two neighbours in a chain are removed at once, and a third is appended.
    pub(super) fn neighbours_go<F: Flavour>(flavour: F) {
        let table = HashTable::new(1, flavour);
        let mut mine = session(&table);
        mine.insert(1, Value::new(10)).ok().expect("it is empty");
        mine.insert(2, Value::new(20)).ok().expect("it is another");
        mine.offline();
        let mut theirs = session(&table);
        let other = thread::spawn(move || assert!(theirs.remove(2)));
        assert!(mine.remove(1));
        mine.insert(3, Value::new(30)).ok().expect("it is new");
        mine.offline();
        other.join().unwrap();
        let mut last = session(&table);
        assert_eq!([1, 2, 3].map(|key| last.get(key, Value::get)), [None, None, Some(30)]);
    }

    const A: u32 = 0;
    const B: u32 = 1 << 31;

    /// The route to A is replaced and removed, and its place used for B, whose route readers of A must not find. The vector grows
    /// meanwhile.
    pub(super) fn a_route_is_replaced<F: Flavour>(flavour: F) {
        let table = RouteTable::with_capacity(flavour, 1);
        let mut mine = table.session();
        mine.insert(A, 1, 10);
        mine.offline();
        let mut theirs = table.session();
        let reading = thread::spawn(move || {
            let found = theirs.lookup(A);
            assert!([None, Some(10), Some(11)].contains(&found), "{found:?} was never the route");
        });
        assert_eq!(mine.insert(A, 1, 11), Some(10));
        assert_eq!(mine.remove(A, 1), Some(11));
        // Must not get a place that readers may still have the index of; after the barrier, it may.
        mine.insert(B, 1, 77);
        mine.barrier();
        mine.insert(B, 2, 78);
        mine.offline();
        reading.join().unwrap();
    }

    /// A node of the trie goes while a reader walks through it.
    pub(super) fn a_node_goes<F: Flavour>(flavour: F) {
        let table = RouteTable::with_capacity(flavour, 4);
        let mut mine = table.session();
        mine.insert(A, 1, 1);
        mine.insert(A, 2, 2);
        mine.offline();
        let mut theirs = table.session();
        let reading = thread::spawn(move || {
            let found = theirs.lookup(A);
            assert!([Some(1), Some(2)].contains(&found), "{found:?} was never the route");
        });
        assert_eq!(mine.remove(A, 2), Some(2));
        mine.barrier();
        drop(mine);
        reading.join().unwrap();
    }
}
