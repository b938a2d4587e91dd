//! The races of Click's route table, as the thesis describes them (§3.2, §3.3), in every interleaving
//! within a preemption bound.
//!
//! The table is one of relaxed atomics, so that what would corrupt memory can be looked at instead. "Allocated" are arrays
//! and nodes of a pool, and "freed" is a mark. Each race is shown to occur without protection, and never with it:
//! a lock around updates for the races of updaters with each other, a flavour for those of readers with updaters.
#![cfg(loom)]

use std::sync::{Arc as StdArc, atomic as uncounted};

use loom::{
    model::Builder,
    sync::{
        Arc, Mutex,
        atomic::{AtomicI32, AtomicU32, AtomicUsize, Ordering::*},
    },
    thread,
};
use rcu::Config;
use rcu_flavours::{ApRcu, ApRcuConfig, ClickEpoch, Flavour, Garbage, Lock, Qrcu, Qsbr, Thread, Unprotected};

/// No place: the end of the list of free ones.
const NONE: i32 = -1;

/// An array of the pool: the route at each place, and the next free place after it.
struct Array {
    capacity: usize,
    routes: [AtomicU32; 3],
    extra: [AtomicI32; 3],
    frees: AtomicU32,
}

impl Array {
    fn new(capacity: usize) -> Self {
        let extra = [(); 3].map(|()| AtomicI32::new(NONE));
        Self { capacity, routes: [(); 3].map(|()| AtomicU32::new(0)), extra, frees: AtomicU32::new(0) }
    }

    /// What memory says that was given back.
    fn free(&self) {
        self.frees.fetch_add(1, Relaxed);
        self.routes.iter().for_each(|route| route.store(FREED, Relaxed));
    }
}

const FREED: u32 = 999;

/// Click's vector with its free list, and a trie of one child.
struct Table {
    arrays: [Array; 3],
    /// The array in use, and the next of the pool.
    array: AtomicUsize,
    unused: AtomicUsize,
    len: AtomicUsize,
    first_free: AtomicI32,
    /// The key of address A in the trie, one more than an index.
    key: AtomicU32,
    /// A trie's node below, and the next of the pool.
    child: AtomicUsize,
    unused_node: AtomicUsize,
    updating: Option<Mutex<()>>,
}

impl Table {
    /// A table of so many routes (10, 11, ...) in an array of that capacity.
    fn new(len: usize, capacity: usize, locked: bool) -> Arc<Self> {
        let table = Self {
            arrays: [Array::new(capacity), Array::new(3), Array::new(3)],
            array: AtomicUsize::new(0),
            unused: AtomicUsize::new(1),
            len: AtomicUsize::new(len),
            first_free: AtomicI32::new(NONE),
            key: AtomicU32::new(0),
            child: AtomicUsize::new(0),
            unused_node: AtomicUsize::new(1),
            updating: locked.then(|| Mutex::new(())),
        };
        (0..len).for_each(|at| table.arrays[0].routes[at].store(10 + at as u32, Relaxed));
        Arc::new(table)
    }

    fn array(&self) -> &Array {
        &self.arrays[self.array.load(Relaxed)]
    }

    /// An update, under the lock if there is one.
    fn update<R>(&self, change: impl FnOnce(&Self) -> R) -> R {
        let _alone = self.updating.as_ref().map(|lock| lock.lock().unwrap());
        change(self)
    }

    /// Takes a place from the free list, or adds one (Listing 4). Returns it.
    fn add(&self, route: u32) -> usize {
        let found = self.first_free.load(Relaxed);
        if found == NONE {
            return self.push_back(route);
        }
        let array = self.array();
        self.first_free.store(array.extra[found as usize].load(Relaxed), Relaxed);
        array.routes[found as usize].store(route, Relaxed);
        array.extra[found as usize].store(NONE, Relaxed);
        found as usize
    }

    /// Puts a place on the free list (Listing 9).
    fn remove(&self, place: usize) {
        self.array().extra[place].store(self.first_free.load(Relaxed), Relaxed);
        self.first_free.store(place as i32, Relaxed);
    }

    /// Listing 5.
    fn push_back(&self, route: u32) -> usize {
        let len = self.len.load(Relaxed);
        if len == self.array().capacity {
            let old = self.grow();
            self.arrays[old].free();
        }
        self.array().routes[len].store(route, Relaxed);
        self.len.store(len + 1, Relaxed);
        len
    }

    /// A larger array with the same routes (Listing 6). Returns the former, which is to be freed.
    fn grow(&self) -> usize {
        let old = self.array.load(Relaxed);
        let new = self.unused.fetch_add(1, Relaxed);
        for place in 0..self.len.load(Relaxed) {
            let route = self.arrays[old].routes[place].load(Relaxed);
            self.arrays[new].routes[place].store(route, Relaxed);
        }
        // Release: readers that get the array get its routes. (The thesis has a barrier here.)
        self.array.store(new, Release);
        old
    }

    /// Makes the node below, if there is none (Listing 3). Returns the one that the caller changes.
    fn make_child(&self) -> usize {
        if self.child.load(Relaxed) == 0 {
            self.child.store(self.unused_node.fetch_add(1, Relaxed), Relaxed);
        }
        self.child.load(Relaxed)
    }
}

/// In how many interleavings `race` says that it went wrong.
fn count(race: impl Fn() -> bool + Send + Sync + 'static) -> usize {
    let wrong = StdArc::new(uncounted::AtomicUsize::new(0));
    let counted = wrong.clone();
    let mut builder = Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(move || _ = counted.fetch_add(usize::from(race()), Relaxed));
    wrong.load(Relaxed)
}

/// Runs an update on two threads at once, and says what they returned.
fn twice<R: Send + 'static>(table: &Arc<Table>, update: fn(&Table, u32) -> R) -> [R; 2] {
    let theirs = table.clone();
    let other = thread::spawn(move || theirs.update(|table| update(table, 101)));
    let mine = table.update(|table| update(table, 102));
    [mine, other.join().unwrap()]
}

/// A race of two updaters: occurs without the lock, and never with it.
fn between_updaters(race: fn(locked: bool) -> bool) {
    assert!(count(move || race(false)) > 0, "the race must be shown");
    assert_eq!(count(move || race(true)), 0, "under the lock");
}

#[test]
fn the_free_list_hands_a_place_out_twice() {
    between_updaters(|locked| {
        let table = Table::new(2, 3, locked);
        (0..2).for_each(|place| table.remove(place));
        let [a, b] = twice(&table, Table::add);
        a == b
    });
}

#[test]
fn a_push_back_is_lost() {
    between_updaters(|locked| {
        let table = Table::new(0, 3, locked);
        twice(&table, Table::push_back);
        let held = [0, 1].map(|place| table.array().routes[place].load(Relaxed));
        table.len.load(Relaxed) != 2 || !held.contains(&101) || !held.contains(&102)
    });
}

#[test]
fn an_array_is_grown_and_freed_twice() {
    between_updaters(|locked| {
        let table = Table::new(1, 1, locked);
        twice(&table, Table::push_back);
        table.arrays[0].frees.load(Relaxed) > 1
    });
}

#[test]
fn an_array_is_leaked() {
    between_updaters(|locked| {
        let table = Table::new(1, 1, locked);
        twice(&table, Table::push_back);
        let in_use = table.array.load(Relaxed);
        let allocated = 0..table.unused.load(Relaxed);
        allocated.into_iter().any(|at| at != in_use && table.arrays[at].frees.load(Relaxed) == 0)
    });
}

#[test]
fn a_child_of_the_trie_is_orphaned() {
    between_updaters(|locked| {
        let table = Table::new(0, 1, locked);
        twice(&table, |table, _| table.make_child());
        table.unused_node.load(Relaxed) - 1 > 1
    });
}

/// Looks address A up.
fn look_up<F: Flavour>(table: &Table, thread: &mut F::Thread) -> u32 {
    let section = thread.read();
    let key = table.key.load(Acquire);
    let route = match key {
        0 => 0,
        key => table.arrays[table.array.load(Acquire)].routes[key as usize - 1].load(Relaxed),
    };
    drop(section);
    route
}

/// A reader looks A up while `update` changes the table. Says what it found.
fn against_reader<F: Flavour>(
    table: &Arc<Table>,
    flavour: &F,
    update: impl FnOnce(&Arc<Table>, &mut F::Thread),
) -> u32 {
    let (theirs, mut reader) = (table.clone(), flavour.register());
    let reading = thread::spawn(move || look_up::<F>(&theirs, &mut reader));
    let mut updater = flavour.register();
    update(table, &mut updater);
    updater.offline();
    drop(updater);
    reading.join().unwrap()
}

/// The route to A, 10, is removed, and the place used for the route to another address, 77. May a reader of A find that?
fn reused_index<F: Flavour>(flavour: &F) -> bool {
    let table = Table::new(1, 1, false);
    table.key.store(1, Relaxed);
    let found = against_reader::<F>(&table, flavour, |table, thread| {
        let section = thread.update();
        table.key.store(0, Release);
        drop(section);
        let theirs = table.clone();
        thread.retire(Garbage::from_fn(0, move || theirs.remove(0)));
        thread.barrier();
        let section = thread.update();
        table.add(77);
        drop(section);
    });
    assert_ne!(found, FREED);
    found == 77
}

/// The array is replaced by a larger one, and freed. May a reader of A be looking at it?
fn read_during_resize<F: Flavour>(flavour: &F) -> bool {
    let table = Table::new(1, 1, false);
    table.key.store(1, Relaxed);
    let found = against_reader::<F>(&table, flavour, |table, thread| {
        let section = thread.update();
        let old = table.grow();
        drop(section);
        let theirs = table.clone();
        thread.retire(Garbage::from_fn(0, move || theirs.arrays[old].free()));
        thread.barrier();
    });
    found == FREED
}

/// A race of a reader with an updater: occurs without protection, and never under any flavour.
macro_rules! against_readers {
    ($race:ident) => {
        // SAFETY: what is "freed" are marks on atomics.
        assert!(count(|| $race(&unsafe { Unprotected::new() })) > 0, "the race must be shown");
        assert_eq!(count(|| $race(&Qsbr::with_config(Config::manual()))), 0, "qsbr");
        assert_eq!(count(|| $race(&ClickEpoch::new())), 0, "click-epoch");
        assert_eq!(count(|| $race(&ApRcu::with_config(ApRcuConfig::manual()))), 0, "ap-rcu");
        assert_eq!(count(|| $race(&Qrcu::new())), 0, "qrcu");
        assert_eq!(count(|| $race(&Lock::new())), 0, "lock");
    };
}

#[test]
fn an_index_is_used_again_under_a_reader() {
    against_readers!(reused_index);
}

#[test]
fn an_array_is_freed_under_a_reader() {
    against_readers!(read_during_resize);
}
