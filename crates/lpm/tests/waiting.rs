//! What changes of routes let wait for readers counts in the domain's figures and against its limit, whatever the table.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use lpm::faithful::{DirectTable, LinearTable, RadixTable, RangeTable};
use lpm::{LongestMatch, Prefix, Routes, RoutesError, Table, TableError};
use rcu::{Domain, Reader};

/// The domain is one for all tests.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

const DEFAULT_LIMIT: usize = 64 << 20;

/// Runs `test` with the domain for itself, and afterwards expects that nothing waits.
fn alone(test: impl FnOnce(&'static Domain)) {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let domain = Domain::global();
    domain.set_limit_bytes(DEFAULT_LIMIT);
    test(domain);
    domain.set_limit_bytes(DEFAULT_LIMIT);
    domain.barrier();
    domain.stats(); // starts what no updater has started
    let stats = domain.stats();
    assert_eq!(stats.bytes_waiting, 0, "{stats}");
}

/// Adds a thousand routes one by one, removes them, adds them again, and so on.
fn change(table: &impl LongestMatch<u32>, number: u32) -> Result<Option<u32>, TableError> {
    let prefix = Prefix::new((number % 1000) << 12, 28).expect("few enough bits");
    table.change(prefix, (number / 1000).is_multiple_of(2).then_some(7))
}

/// A reader that another thread has brought online.
fn elsewhere(domain: &'static Domain) -> Reader {
    let online = || {
        let reader = domain.register("stuck");
        reader.turn();
        reader
    };
    std::thread::spawn(online).join().expect("no panic")
}

/// While a worker is stuck in its turn, what waits is shown, and at the limit changes are refused: with no effect, and not for ever.
fn stuck<T: LongestMatch<u32>>() {
    alone(|domain| {
        let table = T::new(domain);
        let reader = elsewhere(domain);
        let limit = 256 << 10;
        domain.set_limit_bytes(limit);
        let mut number = 0;
        let refused = loop {
            match change(&table, number) {
                Ok(_) => number += 1,
                Err(refused) => break refused,
            }
            assert!(number < 1_000_000, "nothing is ever refused");
        };
        assert_eq!(refused, TableError::Backpressure);
        let (stats, before) = (domain.stats(), table.len());
        // The last change may have been larger than what was left, but none of these is large.
        let about = limit / 2..limit + (32 << 10);
        assert!(about.contains(&stats.bytes_waiting), "{stats}");
        assert!(!domain.wait_for_room(16 << 10, Duration::from_millis(1)));
        assert_eq!(change(&table, number), Err(refused));
        assert_eq!(table.len(), before);
        drop(reader);
        assert!(domain.wait_for_room(16 << 10, Duration::from_secs(60)), "{}", domain.stats());
        assert!(change(&table, number).is_ok());
    });
}

#[test]
fn a_stuck_worker_and_the_fast_table() {
    stuck::<Table<u32>>();
}

#[test]
fn a_stuck_worker_and_the_radix_trie() {
    stuck::<RadixTable>();
}

#[test]
fn a_stuck_worker_and_the_direct_table() {
    stuck::<DirectTable>();
}

#[test]
fn a_stuck_worker_and_ranges() {
    stuck::<RangeTable>();
}

#[test]
fn a_stuck_worker_and_the_linear_table() {
    stuck::<LinearTable>();
}

/// A worker that adds 6,000 routes in one turn, as a script does: a route weighs what its change frees.
#[test]
fn a_route_weighs_what_it_frees() {
    fn add<T: LongestMatch<u32>>(most: usize) {
        alone(|domain| {
            let table = T::new(domain);
            let reader = domain.register("worker");
            reader.turn();
            for number in 0..6000u32 {
                let prefix = Prefix::new(number << 14, 24).expect("few enough bits");
                table.change(prefix, Some(number)).expect("room");
            }
            let waiting = domain.stats().bytes_waiting;
            assert!(waiting < 6000 * most, "{waiting}");
            drop(reader);
        });
    }
    add::<Table<u32>>(600);
    add::<RadixTable>(200);
    add::<DirectTable>(2000);
    add::<RangeTable>(2000);
}

/// Ids rest like blocks, and what a value owns counts.
#[test]
fn ids_and_values_that_own_memory() {
    alone(|domain| {
        let routes = Routes::new(domain);
        let reader = domain.register("stuck");
        reader.turn();
        domain.set_limit_bytes(64 << 10);
        let id = routes.insert(vec![0u8; 10_000]).expect("room");
        let other = routes.insert(Vec::new()).expect("room");
        let accepted = (0..100).filter(|_| routes.set(id, vec![0; 10_000]).is_ok()).count();
        assert!((6..=8).contains(&accepted), "{accepted}");
        assert_eq!(routes.remove(id), Err(RoutesError::Backpressure));
        domain.set_limit_bytes(DEFAULT_LIMIT);
        assert_eq!(routes.remove(other), Ok(true));
        assert!(domain.stats().accounts.iter().any(|(name, bytes)| *name == "ids" && *bytes > 0));
        drop(reader);
    });
}
