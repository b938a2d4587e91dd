//! Every flavour under stress: a pipeline of aged elements, after Linux's rcutorture.
//!
//! An element has age 0 while it is published, 1 once it is unlinked, and one more after each grace period; then
//! it is published again. A section may meet ages 0 and 1; an older one means that a grace period ended under it.
#![cfg(not(loom))]

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::*},
        mpsc,
    },
    thread,
    time::Duration,
};

use rcu_flavours::{
    ApRcu, BrLock, ClickEpoch, Drcu, Flavour, Garbage, Lock, Qrcu, Qsbr, ReclaimLists, RwLock, Thread, Timed,
    Unprotected,
};

const ELEMENTS: usize = 32;
const OLD: u32 = 4;
/// A run lasts for at least so many updates and so many reads.
const UPDATES: usize = 200;
const READS: u64 = 3000;
/// More than there are cores.
const READERS: u64 = 4;

struct Pipeline {
    current: AtomicUsize,
    ages: [AtomicU32; ELEMENTS],
    free: Mutex<VecDeque<usize>>,
    reads: AtomicU64,
    /// How often a section met an element older than it may.
    errors: AtomicU64,
    stop: AtomicBool,
}

impl Pipeline {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            current: 0.into(),
            ages: [const { AtomicU32::new(0) }; ELEMENTS],
            free: Mutex::new((1..ELEMENTS).collect()),
            reads: 0.into(),
            errors: 0.into(),
            stop: false.into(),
        })
    }

    /// Meets an element, dawdles within the section, and looks at its age.
    fn read<T: Thread>(&self, thread: &mut T, random: &mut Random) {
        let section = thread.read();
        let at = self.current.load(Acquire);
        match random.below(32) {
            // A worker that loses its core in the middle of a section.
            0 => thread::sleep(Duration::from_micros(200)),
            1..4 => thread::yield_now(),
            n => (0..n * 8).for_each(|_| std::hint::spin_loop()),
        }
        self.errors.fetch_add(u64::from(self.ages[at].load(Relaxed) > 1), Relaxed);
        self.reads.fetch_add(1, Relaxed);
        drop(section);
    }

    /// Publishes a free element. Returns the one that it replaces, which has age 1 then.
    fn unlink<T: Thread>(&self, thread: &mut T) -> Option<usize> {
        let new = self.free.lock().unwrap().pop_front()?;
        let section = thread.update();
        self.ages[new].store(0, Relaxed);
        let old = self.current.swap(new, AcqRel);
        self.ages[old].store(1, Relaxed);
        drop(section);
        Some(old)
    }

    /// Ages an element by one grace period. True if there is more to come.
    fn age(&self, at: usize) -> bool {
        let young = self.ages[at].fetch_add(1, Relaxed) + 1 < OLD;
        if !young {
            self.free.lock().unwrap().push_back(at);
        }
        young
    }

    /// True once the updates and reads so far are enough, or a read was wrong.
    fn is_over(&self, updates: usize) -> bool {
        let enough = updates >= UPDATES && self.reads.load(Relaxed) >= READS;
        enough || self.errors.load(Relaxed) > 0
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }
}

/// A thread that reads: now and then it sleeps, and now and then it leaves and another takes its place.
fn work<F: Flavour>(pipeline: &Pipeline, flavour: &F, mut random: Random) {
    let mut thread = flavour.register();
    while !pipeline.stop.load(Relaxed) {
        for _ in 0..random.below(4) {
            pipeline.read(&mut thread, &mut random);
        }
        match random.below(16) {
            0 => thread.offline(),
            1 => thread = flavour.register(),
            _ => thread.quiescent(),
        }
    }
}

/// Threads that live for a few sections, two at a time.
fn come_and_go<F: Flavour>(pipeline: &Pipeline, flavour: &F) {
    for seed in (100..).take_while(|_| !pipeline.stop.load(Relaxed)) {
        thread::scope(|scope| {
            for newcomer in [seed, !seed] {
                scope.spawn(move || {
                    let (mut thread, mut random) = (flavour.register(), Random(newcomer));
                    for _ in 0..random.below(4) {
                        pipeline.read(&mut thread, &mut random);
                        thread.quiescent();
                    }
                });
            }
        });
    }
}

/// Runs `update` against readers, and says how many errors they met.
fn torture<F: Flavour>(flavour: &F, update: impl FnOnce(F::Thread, &Arc<Pipeline>)) -> u64 {
    let pipeline = Pipeline::new();
    thread::scope(|scope| {
        for seed in 0..READERS {
            let pipeline = &pipeline;
            scope.spawn(move || work(pipeline, flavour, Random(seed)));
        }
        scope.spawn(|| come_and_go(&pipeline, flavour));
        update(flavour.register(), &pipeline);
        pipeline.stop.store(true, Relaxed);
    });
    pipeline.errors.load(Relaxed)
}

/// An updater that waits for each grace period.
fn synchronously<F: Flavour>(flavour: &F) -> u64 {
    torture(flavour, |mut thread, pipeline| {
        let (mut unlinked, mut updates) = (Vec::new(), 0);
        while !pipeline.is_over(updates) {
            updates += 1;
            unlinked.extend(pipeline.unlink(&mut thread));
            thread.synchronize();
            unlinked.retain(|at| pipeline.age(*at));
        }
    })
}

/// An updater that retires, and goes on.
fn by_retiring<F: Flavour>(flavour: &F) -> u64 {
    torture(flavour, |mut thread, pipeline| {
        let mut updates = 0;
        while !pipeline.is_over(updates) {
            if let Some(old) = pipeline.unlink(&mut thread) {
                let theirs = pipeline.clone();
                thread.retire(Garbage::from_fn(0, move || while theirs.age(old) {}));
            } else {
                thread::yield_now();
            }
            updates += 1;
            thread.quiescent();
        }
        thread.barrier();
    })
}

/// One module per flavour: what must hold, and the flavour under stress.
macro_rules! flavours {
    ($($name:ident: $flavour:expr;)*) => { $(
        mod $name {
            use super::*;

            #[test]
            fn synchronize_waits_for_sections() {
                assert_eq!(synchronously(&$flavour), 0, "a grace period ended under a reader");
            }

            #[test]
            fn retire_waits_for_sections() {
                assert_eq!(by_retiring(&$flavour), 0, "something was reclaimed under a reader");
            }

            #[test]
            fn a_stopped_reader_keeps_what_it_found() {
                stopped(&$flavour);
            }

            #[test]
            fn all_that_is_retired_is_reclaimed_once() {
                everything_is_reclaimed_once(&$flavour);
            }
        }
    )* };
}

/// A thread is stopped within a section, as by SIGSTOP: nothing that it may have found is reclaimed until it goes on,
/// however busy the others are.
fn stopped<F: Flavour>(flavour: &F) {
    let (inside, is_inside) = mpsc::channel();
    let (go_on, told_to) = mpsc::channel::<()>();
    let reclaimed = Arc::new(AtomicBool::new(false));
    thread::scope(|scope| {
        let in_time = reclaimed.clone();
        scope.spawn(move || {
            let mut thread = flavour.register();
            let section = thread.read();
            inside.send(()).unwrap();
            told_to.recv().unwrap();
            assert!(!in_time.load(SeqCst), "reclaimed under a stopped reader");
            drop(section);
        });
        is_inside.recv().unwrap();
        let ours = reclaimed.clone();
        let updating = scope.spawn(move || {
            let mut thread = flavour.register();
            drop(thread.update()); // what is unlinked here, the stopped reader may have found
            thread.retire(Garbage::from_fn(8, move || ours.store(true, SeqCst)));
            thread.barrier();
        });
        let mut other = flavour.register();
        for _ in 0..50 {
            // Who waits for a lock keeps new readers out, too.
            if !F::EXCLUSIVE && F::NAME != Drcu::NAME {
                drop(other.read());
            }
            other.quiescent();
            thread::sleep(Duration::from_micros(100));
        }
        other.offline();
        assert!(!reclaimed.load(SeqCst), "reclaimed under a stopped reader");
        go_on.send(()).unwrap();
        updating.join().unwrap();
    });
    assert!(reclaimed.load(SeqCst));
}

fn everything_is_reclaimed_once<F: Flavour>(flavour: &F) {
    let ran = Arc::new(AtomicUsize::new(0));
    let retire = |thread: &mut F::Thread| {
        let ran = ran.clone();
        thread.retire(Garbage::from_fn(8, move || _ = ran.fetch_add(1, Relaxed)));
    };
    let mut thread = flavour.register();
    (0..10).for_each(|_| retire(&mut thread));
    thread.barrier();
    assert_eq!(ran.load(Relaxed), 10, "a barrier waits for what the thread retired");
    // What a thread has retired before it leaves is not lost.
    retire(&mut thread);
    drop(thread);
    let mut other = flavour.register();
    while ran.load(Relaxed) < 11 {
        other.synchronize();
        other.barrier();
    }
    assert_eq!(ran.load(Relaxed), 11);
}

flavours! {
    qsbr: Qsbr::new();
    qrcu: Qrcu::new();
    drcu: Drcu::new();
    ap_rcu: ApRcu::new();
    click_epoch: ClickEpoch::new();
    lock: Lock::new();
    rwlock: RwLock::new();
    brlock: BrLock::with_locks(2);
}

/// The stress is worth something only if it fails without protection.
#[test]
fn without_protection_the_stress_fails() {
    // SAFETY: what is retired are indices; using one too long is what the test counts.
    let none = unsafe { Unprotected::new() };
    assert!(synchronously(&none) > 0);
    assert!(by_retiring(&none) > 0);
}

/// By the clock, what is retired in an interval is reclaimed when the next is over, whether threads read or not.
#[test]
fn timed_reclaims_when_the_next_interval_is_over() {
    // SAFETY: what is retired is a number.
    let timed = unsafe { Timed::by_hand() };
    let reclaimed = Arc::new(AtomicUsize::new(0));
    let mut thread = timed.register();
    let mut retire = || {
        let reclaimed = reclaimed.clone();
        thread.retire(Garbage::from_fn(0, move || _ = reclaimed.fetch_add(1, Relaxed)));
    };
    retire();
    timed.tick();
    assert_eq!(reclaimed.load(Relaxed), 0, "it may have been retired just before the tick");
    retire();
    timed.tick();
    assert_eq!(reclaimed.load(Relaxed), 1);
    timed.tick();
    assert_eq!(reclaimed.load(Relaxed), 2);
}

/// An element's lists are served through its hook: after two boundaries, and only while the hook is scheduled.
#[test]
fn a_reclaim_hook_fires_at_boundaries_while_scheduled() {
    let instance = ClickEpoch::new();
    let lists = ReclaimLists::new();
    lists.hook().initialize(&instance);
    assert!(!lists.hook().scheduled(), "nothing to reclaim yet");
    let reclaimed = Arc::new(AtomicBool::new(false));
    let ours = reclaimed.clone();
    lists.retire(Garbage::from_fn(0, move || ours.store(true, Relaxed)));
    assert!(lists.hook().scheduled());
    let mut thread = instance.register();
    let _ = thread.read();
    lists.hook().unschedule();
    (0..4).for_each(|_| thread.quiescent());
    assert!(!reclaimed.load(Relaxed), "not scheduled");
    lists.hook().schedule();
    thread.quiescent();
    assert!(!reclaimed.load(Relaxed), "one boundary is not enough");
    thread.quiescent();
    assert!(reclaimed.load(Relaxed));
    assert!(!lists.hook().scheduled(), "nothing is left");
    // A thread in a task, which has not been quiescent since the last boundary, holds up the next.
    let mut other = instance.register();
    let _ = other.read();
    let ours = reclaimed.clone();
    lists.retire(Garbage::from_fn(0, move || ours.store(false, Relaxed)));
    (0..4).for_each(|_| thread.quiescent());
    assert!(reclaimed.load(Relaxed));
    other.offline();
    (0..2).for_each(|_| thread.quiescent());
    assert!(!reclaimed.load(Relaxed), "a blocked thread holds up no boundary");
}
