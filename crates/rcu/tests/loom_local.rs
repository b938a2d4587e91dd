//! Updaters that run their callbacks themselves, in every interleaving within a preemption bound.
//!
//! | mutant | what is broken | killed by |
//! |---|---|---|
//! | `local_wait` | they run before their grace period is over | `an_old_value_outlives_the_turns_that_found_it` |
//! | `local_wait` | as before, for boxes that are used again | `a_box_is_not_used_again_under_a_turn` |
#![cfg(loom)]
// Whether the shared cells are accessed one at a time is what the models check.
#![allow(clippy::arc_with_non_send_sync)]

use loom::{cell::UnsafeCell, model::Builder, sync::Arc, thread};
use rcu::{Cell, Config, Domain};

/// A number whose every access loom sees; dropping it is a write.
struct Seen(UnsafeCell<u32>);

// SAFETY: access is what the models check.
unsafe impl Send for Seen {}
// SAFETY: as above.
unsafe impl Sync for Seen {}

impl rcu::Weigh for Seen {
    fn heap_bytes(&self) -> usize {
        0
    }
}

impl Drop for Seen {
    fn drop(&mut self) {
        // SAFETY: checked by the model.
        self.0.with_mut(|at| unsafe { *at = 0 });
    }
}

/// Runs `update` against a reader of two turns.
fn check(preemptions: usize, update: impl Fn(&Domain, &Cell<Seen>) + Send + Sync + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(move || {
        // SAFETY: one domain a model.
        let domain = unsafe { Domain::isolated(Config::manual()) };
        let world = Arc::new((domain, Cell::new(seen(1))));
        let reading = {
            let world = world.clone();
            thread::spawn(move || {
                let (domain, cell) = &*world;
                let mut reader = domain.register("reader");
                for _ in 0..2 {
                    // SAFETY: checked by the model.
                    cell.read(reader.turn()).0.with(|at| assert_ne!(unsafe { *at }, 0));
                    reader.quiescent();
                }
            })
        };
        let (domain, cell) = &*world;
        update(domain, cell);
        reading.join().expect("the reader");
        domain.barrier();
    });
}

fn seen(number: u32) -> Seen {
    Seen(UnsafeCell::new(number))
}

/// A reader against an updater that frees within its updates, and hands over at the end.
#[test]
fn an_old_value_outlives_the_turns_that_found_it() {
    check(3, |domain, cell| {
        let mut updater = domain.local_updater();
        for number in 2..4 {
            cell.replace(Box::new(seen(number)), &mut updater).expect("room");
        }
        updater.advance();
    });
}

/// A reader against an updater that drops an old value when it uses its box again.
#[test]
fn a_box_is_not_used_again_under_a_turn() {
    check(2, |domain, cell| {
        let mut recycler = domain.recycler();
        for number in 2..5 {
            recycler.replace(cell, seen(number)).expect("room");
        }
    });
}
