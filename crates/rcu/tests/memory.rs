//! Memory that waits to be reclaimed stays below its limit, whatever updaters and readers do.
//!
//! Not the domain's own count is believed, but that of the values themselves.
//!
//! | mutant | what is broken | killed by |
//! |---|---|---|
//! | `no_limit` | whatever is queued is accepted | `updaters_at_full_speed_against_a_slow_reader` |
#![cfg(not(loom))]

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    thread,
};

use rcu::{Cell, Config, Domain};

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
