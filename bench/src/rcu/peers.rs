//! One pointer to one number, protected in many ways: the same loops over each.
#![allow(unsafe_code)] // The peers' interfaces want it; each use says why it is sound.

use crate::rcu::processor_time;
use arc_swap::{ArcSwap, Cache};
use crossbeam_epoch::{Atomic, Owned};
use parking_lot::RwLock;
use rcu::{Cell, Domain};
use seize::{Collector, Guard, reclaim};
use std::{
    hint::black_box,
    sync::{
        Arc,
        atomic::{
            AtomicBool, AtomicPtr,
            Ordering::{AcqRel, Acquire, Relaxed},
        },
    },
    thread,
};

/// A way to protect what is read.
pub(crate) trait Scheme: Sync {
    /// Nanoseconds a read by this thread, in sections of `every` reads: what a packet worker's turn is.
    fn read(&self, reads: u64, every: u64) -> f64;

    /// Replaces the number until told to stop. Says how often.
    fn update(&self, stop: &AtomicBool) -> u64;
}

/// All of them. `true`: the peer protects a section of reads at once, as a turn does; `false`: each read.
pub(crate) fn all() -> Vec<(&'static str, Box<dyn Scheme>)> {
    vec![
        ("unprotected", Box::new(Unprotected::new())),
        ("clique rcu", Box::new(Clique::new())),
        ("crossbeam-epoch, pinned a section", Box::new(Epoch::<true>::new())),
        ("crossbeam-epoch, pinned a read", Box::new(Epoch::<false>::new())),
        ("seize, guard a section", Box::new(Seize::<true>::new())),
        ("seize, guard a read", Box::new(Seize::<false>::new())),
        ("arc-swap, Cache", Box::new(Swap::<true>::new())),
        ("arc-swap, load a read", Box::new(Swap::<false>::new())),
        ("parking_lot RwLock, locked a read", Box::new(RwLock::new(Box::new(1u64)))),
    ]
}

/// The loop around all of them: nanoseconds for each of the reads that `section` adds `every` of to a sum.
///
/// Of processor time, since others may want the processor meanwhile.
#[inline(never)]
fn timed(reads: u64, every: u64, mut section: impl FnMut(u64, u64) -> u64) -> f64 {
    let (mut sum, sections) = (0u64, (reads / every).max(1));
    let begin = processor_time();
    for _ in 0..sections {
        sum = section(sum, every);
    }
    let ns = (processor_time() - begin).as_nanos() as f64;
    black_box(sum);
    ns / (sections * every) as f64
}

/// Adds `every` reads to a sum, one after the other.
#[inline(always)]
fn reads(sum: u64, every: u64, mut read: impl FnMut() -> u64) -> u64 {
    (0..every).fold(sum, |sum, _| sum.wrapping_add(read()))
}

/// Counts the updates made until the stop.
fn until(stop: &AtomicBool, mut update: impl FnMut(u64) -> bool) -> u64 {
    let mut made = 0;
    while !stop.load(Relaxed) {
        made += u64::from(update(made));
    }
    made
}

/// No protection: right only because nothing is ever freed.
struct Unprotected {
    place: AtomicPtr<u64>,
    numbers: Box<[u64]>,
}

impl Unprotected {
    fn new() -> Self {
        let numbers: Box<[u64]> = (0..4096).collect();
        Self { place: AtomicPtr::new((&raw const numbers[1]).cast_mut()), numbers }
    }
}

impl Scheme for Unprotected {
    fn read(&self, count: u64, every: u64) -> f64 {
        timed(count, every, |sum, every| {
            reads(sum, every, || {
                // SAFETY: points into `numbers`, which no thread writes.
                unsafe { *self.place.load(Relaxed) }
            })
        })
    }

    fn update(&self, stop: &AtomicBool) -> u64 {
        until(stop, |made| {
            let number: *const u64 = &raw const self.numbers[made as usize % self.numbers.len()];
            self.place.store(number.cast_mut(), Relaxed);
            true
        })
    }
}

/// The production core, through the process's domain.
struct Clique {
    cell: Cell<u64>,
}

impl Clique {
    fn new() -> Self {
        Self { cell: Cell::new(1) }
    }
}

impl Scheme for Clique {
    fn read(&self, count: u64, every: u64) -> f64 {
        let mut reader = Domain::global().register("bench");
        timed(count, every, |sum, every| {
            let turn = reader.turn();
            let sum = reads(sum, every, || *self.cell.read(turn));
            reader.quiescent();
            sum
        })
    }

    fn update(&self, stop: &AtomicBool) -> u64 {
        let updater = Domain::global().updater();
        until(stop, |made| {
            let accepted = self.cell.replace(Box::new(made), &updater).is_ok();
            if !accepted {
                thread::yield_now();
            }
            accepted
        })
    }
}

struct Epoch<const SECTION: bool> {
    place: Atomic<u64>,
}

impl<const SECTION: bool> Epoch<SECTION> {
    fn new() -> Self {
        Self { place: Atomic::new(1) }
    }

    #[inline(always)]
    fn number(&self, guard: &crossbeam_epoch::Guard) -> u64 {
        // SAFETY: never null, and destroyed only through `defer_destroy`.
        unsafe { *self.place.load(Acquire, guard).deref() }
    }
}

impl<const SECTION: bool> Scheme for Epoch<SECTION> {
    fn read(&self, count: u64, every: u64) -> f64 {
        let local = crossbeam_epoch::default_collector().register();
        timed(count, every, |sum, every| {
            if SECTION {
                let guard = local.pin();
                reads(sum, every, || self.number(&guard))
            } else {
                reads(sum, every, || self.number(&local.pin()))
            }
        })
    }

    fn update(&self, stop: &AtomicBool) -> u64 {
        let local = crossbeam_epoch::default_collector().register();
        until(stop, |made| {
            let guard = local.pin();
            let old = self.place.swap(Owned::new(made), AcqRel, &guard);
            // SAFETY: just unlinked, by this swap only.
            unsafe { guard.defer_destroy(old) };
            true
        })
    }
}

impl<const SECTION: bool> Drop for Epoch<SECTION> {
    fn drop(&mut self) {
        let place = std::mem::replace(&mut self.place, Atomic::null());
        // SAFETY: never null; `&mut self` says that no other thread has it.
        drop(unsafe { place.into_owned() });
    }
}

struct Seize<const SECTION: bool> {
    collector: Collector,
    place: AtomicPtr<u64>,
}

impl<const SECTION: bool> Seize<SECTION> {
    fn new() -> Self {
        Self { collector: Collector::new(), place: AtomicPtr::new(Box::into_raw(Box::new(1))) }
    }

    #[inline(always)]
    fn number(&self, guard: &seize::LocalGuard<'_>) -> u64 {
        // SAFETY: never null, and retired only through the collector of `guard`.
        unsafe { *guard.protect(&self.place, Acquire) }
    }
}

impl<const SECTION: bool> Scheme for Seize<SECTION> {
    fn read(&self, count: u64, every: u64) -> f64 {
        timed(count, every, |sum, every| {
            if SECTION {
                let guard = self.collector.enter();
                reads(sum, every, || self.number(&guard))
            } else {
                reads(sum, every, || self.number(&self.collector.enter()))
            }
        })
    }

    fn update(&self, stop: &AtomicBool) -> u64 {
        until(stop, |made| {
            let guard = self.collector.enter();
            let old = guard.swap(&self.place, Box::into_raw(Box::new(made)), AcqRel);
            // SAFETY: from a box, and just unlinked, by this swap only.
            unsafe { guard.defer_retire(old, reclaim::boxed) };
            true
        })
    }
}

impl<const SECTION: bool> Drop for Seize<SECTION> {
    fn drop(&mut self) {
        // SAFETY: from a box, and no other thread has it any more.
        drop(unsafe { Box::from_raw(*self.place.get_mut()) });
    }
}

struct Swap<const CACHED: bool> {
    place: ArcSwap<u64>,
}

impl<const CACHED: bool> Swap<CACHED> {
    fn new() -> Self {
        Self { place: ArcSwap::new(Arc::new(1)) }
    }
}

impl<const CACHED: bool> Scheme for Swap<CACHED> {
    fn read(&self, count: u64, every: u64) -> f64 {
        let mut cache = Cache::new(&self.place);
        timed(count, every, |sum, every| {
            if CACHED {
                reads(sum, every, || **cache.load())
            } else {
                reads(sum, every, || **self.place.load())
            }
        })
    }

    fn update(&self, stop: &AtomicBool) -> u64 {
        until(stop, |made| {
            self.place.store(Arc::new(made));
            true
        })
    }
}

impl Scheme for RwLock<Box<u64>> {
    fn read(&self, count: u64, every: u64) -> f64 {
        timed(count, every, |sum, every| reads(sum, every, || **RwLock::read(self)))
    }

    fn update(&self, stop: &AtomicBool) -> u64 {
        until(stop, |made| {
            let new = Box::new(made);
            drop(std::mem::replace(&mut *self.write(), new));
            true
        })
    }
}
