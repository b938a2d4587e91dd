//! A pipeline of aged elements, after Linux's rcutorture: an element has age 0 while it is published, 1 once it
//! is unlinked, and one more after each grace period; at age 10 it is published again. A turn may meet ages 0
//! and 1. An older one means that a grace period ended under a reader.
//!
//! What even a strongly ordered machine shows, once it is broken (see `mutants.sh`):
//!
//! | mutant | what is broken | killed by |
//! |---|---|---|
//! | `ignore_readers` | a scan looks at no reader | `synchronize` |
//! | `one_step_early` | a grace period counts as over when the one before it is | `synchronize` |
//! | `wait_before_free` | a barrier runs callbacks without waiting | `callbacks` |
#![cfg(not(loom))]

use std::{
    array,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::*},
        mpsc,
    },
    thread,
};

use rcu::{Config, Domain, Reader, Turn};

const OLD: u32 = 10;
/// A run lasts for at least so many updates and so many reads.
const UPDATES: usize = 1000;
const READS: u64 = 30_000;

struct Pipeline {
    current: AtomicUsize,
    ages: [AtomicU32; 64],
    free: Mutex<Vec<usize>>,
    /// How often readers met each age.
    met: [AtomicU64; OLD as usize + 1],
    stop: AtomicBool,
}

impl Pipeline {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            current: 0.into(),
            ages: [const { AtomicU32::new(0) }; 64],
            free: Mutex::new((1..64).collect()),
            met: [const { AtomicU64::new(0) }; OLD as usize + 1],
            stop: false.into(),
        })
    }

    /// Meets an element, dawdles, and looks at its age.
    fn read(&self, _turn: Turn<'_>, random: &mut Random) {
        let at = self.current.load(Acquire);
        match random.below(64) {
            0 => thread::yield_now(),
            n => (0..n * 8).for_each(|_| std::hint::spin_loop()),
        }
        let age = self.ages[at].load(Relaxed);
        self.met[age as usize].fetch_add(1, Relaxed);
    }

    /// Publishes a free element. Returns the one that it replaces, which has age 1 then.
    fn unlink(&self) -> Option<usize> {
        let new = self.free.lock().unwrap().pop()?;
        self.ages[new].store(0, Relaxed);
        let old = self.current.swap(new, AcqRel);
        self.ages[old].store(1, Relaxed);
        Some(old)
    }

    /// Ages an element by one grace period. True if there is more to come.
    fn age(&self, at: usize) -> bool {
        let young = self.ages[at].fetch_add(1, Relaxed) + 1 < OLD;
        if !young {
            self.free.lock().unwrap().push(at);
        }
        young
    }

    fn met(&self) -> [u64; OLD as usize + 1] {
        array::from_fn(|age| self.met[age].load(Relaxed))
    }

    /// True once `updates` and the reads so far are enough.
    fn is_over(&self, updates: usize) -> bool {
        updates >= UPDATES && self.met().iter().sum::<u64>() >= READS
    }

    fn verdict(&self) {
        let met = self.met();
        println!("ages met: {met:?}");
        assert_eq!(met[2..].iter().sum::<u64>(), 0, "a grace period ended under a reader: {met:?}");
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }
}

/// A worker: many turns, sometimes asleep.
fn work(pipeline: &Pipeline, mut reader: Reader, mut random: Random) {
    while !pipeline.stop.load(Relaxed) {
        for _ in 0..random.below(8) {
            pipeline.read(reader.turn(), &mut random);
        }
        match random.below(16) {
            0 => reader.offline(),
            _ => reader.quiescent(),
        }
    }
}

/// A control thread: guards that come and go.
fn visit(pipeline: &Pipeline, domain: &Domain, mut random: Random) {
    while !pipeline.stop.load(Relaxed) {
        let guard = domain.guard();
        pipeline.read(guard.turn(), &mut random);
        drop(guard);
        thread::yield_now();
    }
}

/// Runs `update` against readers of all kinds.
fn torture(config: Config, update: impl FnOnce(&Arc<Domain>, &Arc<Pipeline>)) {
    // SAFETY: no cells; the pipeline is this domain's alone.
    let domain = Arc::new(unsafe { Domain::isolated(config) });
    let pipeline = Pipeline::new();
    thread::scope(|scope| {
        for seed in 0..2 {
            let (reader, pipeline) = (domain.register("worker"), &pipeline);
            scope.spawn(move || work(pipeline, reader, Random(seed)));
        }
        scope.spawn(|| visit(&pipeline, &domain, Random(7)));
        update(&domain, &pipeline);
        pipeline.stop.store(true, Relaxed);
    });
    pipeline.verdict();
}

/// Ages by a blocking or polling wait.
fn by_waiting(mut wait: impl FnMut(&Domain)) {
    torture(Config::manual(), |domain, pipeline| {
        let (mut unlinked, mut updates) = (Vec::new(), 0);
        while !pipeline.is_over(updates) {
            updates += 1;
            unlinked.extend(pipeline.unlink());
            wait(domain);
            unlinked.retain(|at| pipeline.age(*at));
        }
    });
}

#[test]
fn synchronize() {
    by_waiting(|domain| domain.synchronize());
}

#[test]
fn start_and_poll() {
    by_waiting(|domain| {
        let token = domain.start();
        while !domain.poll(token) {
            thread::yield_now();
        }
    });
}

#[test]
fn an_updater_that_reads() {
    by_waiting(|domain| {
        let mut reader = domain.register("updater");
        reader.turn();
        reader.synchronize();
    });
}

#[test]
fn callbacks() {
    /// Ages by callbacks, each of which queues the next.
    fn age_later(domain: &Arc<Domain>, pipeline: &Arc<Pipeline>, at: usize) {
        let (d, p) = (domain.clone(), pipeline.clone());
        let aged = move || {
            if p.age(at) {
                age_later(&d, &p, at);
            }
        };
        domain.call(0, aged).expect("at most 64 callbacks");
    }
    torture(Config::default(), |domain, pipeline| {
        let mut updates = 0;
        while !pipeline.is_over(updates) {
            match pipeline.unlink() {
                Some(old) => age_later(domain, pipeline, old),
                None => thread::yield_now(),
            }
            updates += 1;
        }
        (0..2 * OLD).for_each(|_| domain.barrier());
    });
}

/// A worker that is stopped in the middle of a turn, as a signal or the scheduler might: each message stops it once,
/// and the one after lets it go on.
fn work_and_stop(
    pipeline: &Pipeline,
    mut reader: Reader,
    orders: &mpsc::Receiver<()>,
    stopped: &mpsc::Sender<()>,
) {
    let mut random = Random(11);
    while !pipeline.stop.load(Relaxed) {
        let turn = reader.turn();
        let at = pipeline.current.load(Acquire);
        if orders.try_recv().is_ok() {
            stopped.send(()).unwrap();
            orders.recv().unwrap();
        }
        pipeline.met[pipeline.ages[at].load(Relaxed) as usize].fetch_add(1, Relaxed);
        pipeline.read(turn, &mut random);
        reader.quiescent();
    }
}

/// More threads than cores; threads that come, read and go; a reader that is stopped while it holds a reference.
#[test]
fn oversubscribed_with_churn_and_stops() {
    let workers = 2 * thread::available_parallelism().map_or(2, usize::from).min(8);
    // SAFETY: no cells; the pipeline is this domain's alone.
    let domain = &Arc::new(unsafe { Domain::isolated(Config::manual()) });
    domain.on_stall(|_| ());
    let pipeline = &Pipeline::new();
    let (order, orders) = mpsc::channel();
    let (stopped, is_stopped) = mpsc::channel();
    let stops = 50;
    thread::scope(|scope| {
        for seed in 0..workers as u64 {
            let reader = domain.register("worker");
            scope.spawn(move || work(pipeline, reader, Random(seed)));
        }
        let reader = domain.register("stopped at times");
        scope.spawn(move || work_and_stop(pipeline, reader, &orders, &stopped));
        scope.spawn(move || {
            // Each newcomer lives for a few turns, two at a time.
            for seed in (0..).take_while(|_| !pipeline.stop.load(Relaxed)) {
                thread::scope(|brief| {
                    for newcomer in 0..2 {
                        let mut reader = domain.register("newcomer");
                        brief.spawn(move || {
                            let mut random = Random(seed * 2 + newcomer);
                            for _ in 0..random.below(4) {
                                pipeline.read(reader.turn(), &mut random);
                                reader.quiescent();
                            }
                        });
                    }
                });
            }
        });
        for stop in 0..stops {
            order.send(()).unwrap();
            is_stopped.recv().unwrap();
            let old = pipeline.unlink().expect("all but the present one are free");
            let token = domain.start();
            // However often it is asked for, a grace period does not end under the stopped reader.
            (0..20).for_each(|_| {
                assert!(!domain.poll(token), "stop {stop}");
                thread::yield_now();
            });
            order.send(()).unwrap();
            domain.wait(token);
            while pipeline.age(old) {
                domain.synchronize();
            }
        }
        pipeline.stop.store(true, Relaxed);
    });
    pipeline.verdict();
    assert_eq!(domain.stats().readers, 0);
}
