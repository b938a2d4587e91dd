//! Memory that waits to be reclaimed stays below its limit, whatever updaters and readers do.
//!
//! Not the domain's own count is believed, but that of the values themselves.
//!
//! | mutant | what is broken | killed by |
//! |---|---|---|
//! | `no_limit` | whatever is queued is accepted | `updaters_at_full_speed_against_a_slow_reader` |
//! | `weigh_old` | a replaced value counts without what it owns | `what_a_value_owns_counts_by_whatever_way_it_goes` |
//! | `deep_on_credit` | room taken in advance lets any value through | `one_callback_above_the_limit_comes_alone` |
#![cfg(not(loom))]

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    thread,
};

use rcu::{Cell, Chains, Config, Domain, List, Slots, Weigh};

const LIMIT: usize = 256 << 10;
const UPDATERS: usize = 3;
/// Updates that each updater tries while one turn lasts: several times what the limit allows.
const TRIES: usize = 2000;
const TURNS: usize = 5;

/// Values that exist now, and that ever existed at once.
#[derive(Default)]
struct Census {
    now: AtomicUsize,
    peak: AtomicUsize,
}

/// A value of a kilobyte that is counted.
struct Kilobyte(Arc<Census>, [u8; 1016]);

impl Kilobyte {
    fn new(census: &Arc<Census>) -> Self {
        census.peak.fetch_max(census.now.fetch_add(1, SeqCst) + 1, SeqCst);
        Self(census.clone(), [0; 1016])
    }
}

impl rcu::Weigh for Kilobyte {
    fn heap_bytes(&self) -> usize {
        0
    }
}

impl Drop for Kilobyte {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, SeqCst);
    }
}

/// Tries so many updates, without waiting; says how many were refused.
fn update(domain: &Domain, cell: &Cell<Kilobyte>, census: &Arc<Census>) -> usize {
    let updater = domain.updater();
    let refused = (0..TRIES).filter(|_| cell.replace(Box::new(Kilobyte::new(census)), &updater).is_err());
    refused.count()
}

#[test]
fn updaters_at_full_speed_against_a_slow_reader() {
    let mut config = Config::default();
    config.limit_bytes = LIMIT;
    // SAFETY: one domain, one cell.
    let domain = unsafe { Domain::isolated(config) };
    domain.on_stall(|_| ());
    let census = Arc::new(Census::default());
    let cell = Cell::new(Kilobyte::new(&census));
    let mut reader = domain.register("slow");
    for _ in 0..TURNS {
        // A turn that ends only when every updater has tried everything.
        let held = cell.read(reader.turn());
        let refused: usize = thread::scope(|scope| {
            let updaters = [(); UPDATERS].map(|()| scope.spawn(|| update(&domain, &cell, &census)));
            updaters.into_iter().map(|updater| updater.join().unwrap()).sum()
        });
        assert!(held.1.iter().all(|byte| *byte == 0));
        assert!(refused >= UPDATERS * TRIES - LIMIT / size_of::<Kilobyte>(), "{refused} were refused");
        let stats = domain.stats();
        assert!(stats.bytes_waiting <= LIMIT, "{}", stats.bytes_waiting);
        assert!(stats.bytes_waiting > LIMIT / 2, "the limit is there to be used: {}", stats.bytes_waiting);
        reader.offline();
        domain.barrier();
        assert_eq!(census.now.load(SeqCst), 1, "all but the present value are gone");
    }
    // Besides what waits: the present value, and one in each updater's hands.
    let peak = census.peak.load(SeqCst) * size_of::<Kilobyte>();
    println!("peak {peak} bytes, limit {LIMIT}");
    assert!(peak <= LIMIT + (1 + UPDATERS) * size_of::<Kilobyte>(), "{peak}");
}

#[test]
fn readers_that_keep_up_are_never_felt() {
    let mut config = Config::default();
    config.limit_bytes = LIMIT;
    // SAFETY: one domain, one cell.
    let domain = unsafe { Domain::isolated(config) };
    let census = Arc::new(Census::default());
    let cell = Cell::new(Kilobyte::new(&census));
    thread::scope(|scope| {
        let (stop, stopped) = mpsc::channel::<()>();
        let mut reader = domain.register("quick");
        let (domain, cell, census) = (&domain, &cell, &census);
        scope.spawn(move || {
            while stopped.try_recv() == Err(mpsc::TryRecvError::Empty) {
                assert_eq!(cell.read(reader.turn()).1[0], 0);
                reader.quiescent();
                thread::yield_now();
            }
        });
        let updater = domain.updater();
        for update in 0..TRIES {
            // An updater that waits once for each hundredth of the limit is never refused.
            if update % (LIMIT / 100 / size_of::<Kilobyte>()) == 0 {
                domain.barrier();
            }
            cell.replace(Box::new(Kilobyte::new(census)), &updater).unwrap();
        }
        drop(stop);
    });
    assert_eq!(domain.stats().callbacks_refused, 0);
}

/// A value that owns a block of memory outside of itself, which is counted.
struct Deep(Arc<Bytes>, Vec<u8>);

/// Bytes of blocks that exist now, and the most there ever were.
#[derive(Default)]
struct Bytes {
    now: AtomicUsize,
    peak: AtomicUsize,
}

impl Deep {
    fn new(bytes: &Arc<Bytes>, size: usize) -> Self {
        bytes.peak.fetch_max(bytes.now.fetch_add(size, SeqCst) + size, SeqCst);
        Self(bytes.clone(), vec![0; size])
    }
}

impl Weigh for Deep {
    fn heap_bytes(&self) -> usize {
        self.1.heap_bytes()
    }
}

impl Drop for Deep {
    fn drop(&mut self) {
        self.0.now.fetch_sub(self.1.len(), SeqCst);
    }
}

fn limited(limit: usize) -> Domain {
    let mut config = Config::manual();
    config.limit_bytes = limit;
    // SAFETY: each test uses its cells with its one domain only.
    unsafe { Domain::isolated(config) }
}

/// What a value owns counts, too: by each way of replacing or retiring one, what waits exceeds the limit by one value at most.
#[test]
fn what_a_value_owns_counts_by_whatever_way_it_goes() {
    const SIZE: usize = LIMIT / 4;
    type Way = fn(&Domain, &mut dyn FnMut() -> Deep) -> usize;
    /// How many of a hundred updates are accepted.
    fn accepted(mut update: impl FnMut() -> bool) -> usize {
        (0..100).filter(|_| update()).count()
    }
    let ways: [(&str, Way); 8] = [
        ("replace", |domain, new| {
            let (cell, updater) = (Cell::new(new()), domain.updater());
            accepted(|| cell.replace(Box::new(new()), &updater).is_ok())
        }),
        ("update", |domain, new| {
            let (cell, updater, reader) = (Cell::new(new()), domain.updater(), domain.register("updater"));
            accepted(|| cell.update(reader.turn(), &updater, |_| new()).is_ok())
        }),
        ("retire", |domain, new| {
            let updater = domain.updater();
            accepted(|| updater.retire(Box::new(new())).is_ok())
        }),
        ("slots", |domain, new| {
            let (slots, updater) = (Slots::new(), domain.updater());
            accepted(|| slots.set(0, Some(Box::new(new())), &updater).is_ok())
        }),
        ("list", |domain, new| {
            let (list, updater) = (List::new(), domain.updater());
            accepted(|| {
                list.edit().push_front(new());
                list.edit().remove(|_| true, &updater).is_ok()
            })
        }),
        ("chains", |domain, new| {
            let (chains, updater) = (Chains::new(1), domain.updater());
            accepted(|| chains.insert("key", new(), &updater).is_ok())
        }),
        ("a local updater", |domain, new| {
            let (cell, mut updater) = (Cell::new(new()), domain.local_updater());
            accepted(|| cell.replace(Box::new(new()), &mut updater).is_ok())
        }),
        ("a recycler", |domain, new| {
            let (cell, mut recycler) = (Cell::new(new()), domain.recycler());
            accepted(|| recycler.replace(&cell, new()).is_ok())
        }),
    ];
    for (name, way) in ways {
        let (domain, bytes) = (limited(LIMIT), Arc::new(Bytes::default()));
        let reader = domain.register("slow");
        reader.turn();
        let accepted = way(&domain, &mut || Deep::new(&bytes, SIZE));
        assert!((3..=LIMIT / SIZE + 1).contains(&accepted), "{name}: {accepted} were accepted");
        let (least, waiting) = ((accepted - 1) * SIZE, domain.stats().bytes_waiting);
        // Queue entries and the values themselves, the list's and the table's with their links and keys.
        let each = SIZE + size_of::<Deep>() + 80;
        assert!((least..=accepted * each).contains(&waiting), "{name}: {accepted} weigh {waiting}");
        drop(reader);
        domain.barrier();
        let stats = domain.stats();
        assert_eq!((stats.bytes_waiting, bytes.now.load(SeqCst)), (0, 0), "{name}");
    }
}

/// Several updaters of deep values that use what others have taken in advance: one value each beyond the limit.
#[test]
fn deep_values_of_several_updaters_against_a_slow_reader() {
    const SIZE: usize = LIMIT / 8;
    let (domain, bytes) = (limited(LIMIT), Arc::new(Bytes::default()));
    let cell = Cell::new(Deep::new(&bytes, SIZE));
    for _ in 0..TURNS {
        let reader = domain.register("slow");
        reader.turn();
        thread::scope(|scope| {
            for _ in 0..UPDATERS {
                scope.spawn(|| {
                    let updater = domain.updater();
                    let _ = updater.call(0, || ()); // if it is early it has room in advance from here on
                    for _ in 0..100 {
                        let _ = cell.replace(Box::new(Deep::new(&bytes, SIZE)), &updater);
                    }
                });
            }
        });
        drop(reader);
        domain.barrier();
        assert_eq!(bytes.now.load(SeqCst), SIZE, "all but the present value are gone");
    }
    // Besides what waits: the present value, and one in each updater's hands.
    let peak = bytes.peak.load(SeqCst);
    assert!(peak <= LIMIT + UPDATERS * SIZE + (1 + UPDATERS) * SIZE, "{peak}");
    assert_eq!(domain.stats().bytes_waiting, 0);
}

/// A callback above the limit is accepted when nothing waits, and opens the door to none: what others have taken in advance is
/// within the limit.
#[test]
fn one_callback_above_the_limit_comes_alone() {
    let domain = limited(LIMIT);
    let others = [(); UPDATERS].map(|()| domain.updater());
    for other in &others {
        other.call(0, || ()).unwrap(); // leaves each with room in advance
    }
    domain.barrier();
    let first = domain.updater();
    first.call(10 * LIMIT, || ()).unwrap();
    let deep = Cell::new(vec![0u8; LIMIT]);
    let mut small = 0;
    for other in &others {
        deep.replace(Box::new(vec![0u8; LIMIT]), other).unwrap_err();
        while other.call(0, || ()).is_ok() {
            small += 1;
        }
    }
    let waiting = domain.stats().bytes_waiting;
    assert!(waiting <= 10 * LIMIT + LIMIT / 2, "{small} more, {waiting} bytes");
    first.call(0, || ()).unwrap_err();
    domain.barrier();
    assert_eq!(domain.stats().bytes_waiting, 0);
}

/// What structures let wait in their own hands counts as well, until its grace period is over, whether or not they look.
#[test]
fn what_waits_in_an_account_counts_until_its_grace_period_is_over() {
    let domain = limited(LIMIT);
    let (table, flows) = (domain.account("table blocks"), domain.account("flows"));
    let updater = domain.updater();
    let mut reader = domain.register("slow");
    reader.turn();
    table.set(LIMIT - 5000);
    flows.set(3000);
    assert!(flows.has_room());
    let stats = domain.stats();
    assert_eq!(stats.bytes_waiting, LIMIT - 2000);
    assert_eq!(stats.accounts, [("flows", 3000), ("table blocks", LIMIT - 5000)]);
    updater.call(2000, || ()).unwrap_err();
    updater.call(100, || ()).unwrap();
    flows.set(5000);
    assert!(!table.has_room() && !flows.has_room());
    assert!(!domain.wait_for_room(100, std::time::Duration::ZERO));
    reader.quiescent();
    // The accounts were not told, and still they do not stand in the way.
    assert!(domain.wait_for_room(LIMIT / 2, std::time::Duration::from_secs(10)));
    assert!(table.has_room());
    updater.call(LIMIT / 2, || ()).unwrap();
    // Another account's structure may ask, too, and no thread has started a grace period meanwhile.
    table.set(2 * LIMIT);
    assert!(!flows.has_room(), "the reader is in its turn");
    reader.quiescent();
    assert!(flows.has_room());
    drop((table, flows, reader));
    domain.barrier();
    assert_eq!(domain.stats().bytes_waiting, 0);
    assert!(domain.stats().accounts.iter().all(|(_, bytes)| *bytes == 0));
}
