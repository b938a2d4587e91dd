//! Hands packets over to another worker.
//!
//! ```click
//! Pipeliner([CAPACITY, BURST, BLOCKING, KEYWORDS])
//! ```
//!
//! Packets pushed on any worker leave on the worker to which StaticThreadSched pins this element (worker 0 by
//! default), and everything downstream runs there. It works like a Queue and an Unqueue in one element. Packets
//! pushed on that worker itself pass directly. It is FastClick's element, and prints at the start from which workers
//! packets come and to which they go.
//!
//! Ports: 1 or more inputs, 1 output. Processing: push. Workers: shared; the output is one worker's.
//!
//! # Arguments
//! - `CAPACITY` (integer, default 1024): the maximum number of packets waiting to be handed over.
//! - `BURST` (integer, default 32): packets per scheduling; 0 means as many as there are.
//! - `BLOCKING` (boolean, default false): whether upstream sources that can wait do so while there is no room.
//!   Packets that arrive nevertheless wait, in order, on the worker that pushes them: up to 16,384 on each worker.
//!   Further ones are dropped.
//! - `ACTIVE` (boolean, default true): whether to push packets on.
//! - `DIRECT_TRAVERSAL` (boolean, default true): whether packets of the same worker pass directly. If not, and
//!   packets come from that worker, BLOCKING is an error.
//! - `VERBOSE` (boolean, default true): whether to report the first nine drops.
//! - `NOUSELESS` (boolean, default false): whether to suppress the warning when packets come only from the worker on
//!   which they leave.
//! - `ALWAYS_UP` (boolean): accepted.
//!
//! # Handlers
//! - `count` (read): packets handed over. `dropped` (read): packets for which there was no room.
//! - `active` (read, write): the argument.
//!
//! # Example
//! ```click
//! InfiniteSource(LIMIT 100) -> p :: Pipeliner(BLOCKING true) -> Discard;
//! StaticThreadSched(p 1)
//! ```
//!
//! # See also
//! Queue, Unqueue, StaticThreadSched

use crossbeam_queue::ArrayQueue;
use packet::{BATCH_MAX, Batch, Packet};
use router::{
    Activity, Class, Config, ConfigError, Cx, Element, Flags, Handlers, Level, Residency, TableSize, metric,
};
use std::any::Any;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU64, fence};

/// The class.
pub(crate) const CLASS: Class = Class::new("Pipeliner", create)
    .ports("1-/1")
    .processing("h/h")
    .residency(Residency::Shared)
    .activity(Activity::Always)
    .hands_over()
    .holds("packets on their way to its worker")
    .doc(router::manual!("pipeliner.rs"));

const DEFAULT_CAPACITY: i32 = 1024;
const LEAST_CAPACITY: i32 = 4;
/// Packets that wait on a worker for room, at most, where it is blocking.
const MOST_WAITING: usize = 16_384;
/// Drops that are announced; further ones would only fill the log.
const TOLD: u64 = 9;

/// FastClick's words for a pipeline that would wait for itself; the worker's number goes between them.
const DEADLOCK_1: &str = "Possible deadlock ! Pipeliner is served by thread ";
const DEADLOCK_2: &str = ", and the same thread can push packets to it. As Pipeliner is in blocking mode without direct traversal, \
    it could block trying to push a packet, preventing the very same thread to drain the queue.";
/// FastClick's words for a pipeline within one worker.
const USELESS: &str = "Useless Pipeliner element ! Packets on the input come from the same thread that the scheduling thread. \
    If this is intended, set NOUSELESS to true but I seriously doubt that.";

/// What the instances share.
struct Pipe {
    ring: ArrayQueue<Packet>,
    count: AtomicU64,
    dropped: AtomicU64,
    /// Whether the task that empties the ring sleeps.
    asleep: AtomicBool,
    /// The workers that push, and whether sources wait there for room.
    pushers: Vec<(usize, AtomicBool)>,
}

impl Pipe {
    fn room(&self) -> usize {
        self.ring.capacity() - self.ring.len()
    }
}

struct Pipeliner {
    pipe: Arc<Pipe>,
    /// The worker that pushes on.
    home: usize,
    burst: usize,
    blocking: bool,
    /// Packets of this worker that wait for room.
    waiting: VecDeque<Packet>,
    active: bool,
    direct: bool,
    verbose: bool,
    /// Whether it may be that only the worker that pushes on pushes.
    useless: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut capacity, mut burst, mut blocking, mut active) = (-1i32, 32i32, false, true);
    let (mut direct, mut verbose, mut always_up, mut useless) = (true, true, false, false);
    config
        .args()
        .positional("CAPACITY", &mut capacity)
        .positional("BURST", &mut burst)
        .positional("BLOCKING", &mut blocking)
        .keyword("ACTIVE", &mut active)
        .keyword("ALWAYS_UP", &mut always_up)
        .keyword("DIRECT_TRAVERSAL", &mut direct)
        .keyword("NOUSELESS", &mut useless)
        .keyword("VERBOSE", &mut verbose)
        .finish()?;
    if capacity <= 0 {
        capacity = DEFAULT_CAPACITY;
    }
    if capacity < LEAST_CAPACITY {
        return Err("Pipeliner ring size must be at least 4".into());
    }
    if capacity as usize > TableSize::MAX {
        return Err(format!("CAPACITY: out of range, bound {}", TableSize::MAX).into());
    }
    let workers = config.workers().to_vec();
    let pipe = config.shared(|| {
        Ok(Pipe {
            ring: ArrayQueue::new(capacity as usize),
            count: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            asleep: AtomicBool::new(true),
            pushers: workers.into_iter().map(|worker| (worker, AtomicBool::new(false))).collect(),
        })
    })?;
    let burst = usize::try_from(burst).ok().filter(|&burst| burst > 0).unwrap_or(usize::MAX);
    let (home, waiting) = (config.home(), VecDeque::new());
    Ok(Box::new(Pipeliner { pipe, home, burst, blocking, waiting, active, direct, verbose, useless }))
}

/// The workers that push packets into the element that runs, in order.
fn pushing(cx: &Cx<'_>) -> BTreeSet<usize> {
    let nodes = &cx.info().nodes;
    let peers = nodes[cx.index()].inputs.iter().flat_map(|port| &port.peers);
    // Of an element that hands packets over only its own worker emits.
    let emitting = |&(peer, _): &(usize, usize)| match &nodes[peer] {
        node if node.class.hands_over => std::slice::from_ref(&node.home),
        node => &node.workers,
    };
    peers.flat_map(emitting).copied().collect()
}

impl Pipeliner {
    /// Says from which workers to which packets go, and where that makes no sense.
    fn announce(&self, cx: &Cx<'_>) -> Result<(), ConfigError> {
        let (name, home, pushing) = (cx.name(), self.home, pushing(cx));
        for from in &pushing {
            cx.log(format_args!("{name} :: Pipeliner : Pipeline from {from} to {home}"));
        }
        if self.blocking && !self.direct && pushing.contains(&home) {
            return Err(format!("{DEADLOCK_1}{home}{DEADLOCK_2}").into());
        }
        if !self.useless && pushing.len() == 1 && pushing.contains(&home) {
            let landmark = &cx.info().nodes[cx.index()].landmark;
            cx.say(
                Level::Warning,
                format_args!("{landmark}: While initializing '{name} :: Pipeliner':\n  warning: {USELESS}"),
            );
        }
        Ok(())
    }

    /// Puts packets into the ring; those for which there is no room wait if they may, or are dropped.
    fn hand_over(&mut self, cx: &mut Cx<'_>, mut batch: Batch) {
        let mut rest = cx.batch();
        self.refill();
        let all = batch.len();
        batch.drain(|packet| rest.extend(self.put(packet).err()));
        cx.consume(batch);
        self.pipe.count.fetch_add((all - rest.len()) as u64, Relaxed);
        if rest.is_empty() {
            cx.consume(rest);
        } else {
            self.overflow(cx, rest);
        }
    }

    /// Puts a packet into the ring, or behind those that wait for room; or gives it back.
    fn put(&mut self, packet: Packet) -> Result<(), Packet> {
        let refused = if self.waiting.is_empty() { self.pipe.ring.push(packet) } else { Err(packet) };
        match refused {
            Err(packet) if self.blocking && self.waiting.len() < MOST_WAITING => {
                self.waiting.push_back(packet);
                Ok(())
            }
            result => result,
        }
    }

    /// Puts packets that wait into the ring, as far as there is room by now.
    fn refill(&mut self) {
        while let Some(packet) = self.waiting.pop_front() {
            if let Err(packet) = self.pipe.ring.push(packet) {
                return self.waiting.push_front(packet);
            }
        }
    }

    /// Packets for which there is room, as far as this worker's sources are concerned.
    fn room(&self) -> usize {
        if self.waiting.is_empty() { self.pipe.room() } else { 0 }
    }

    #[cold]
    fn overflow(&mut self, cx: &mut Cx<'_>, rest: Batch) {
        let before = self.pipe.dropped.fetch_add(rest.len() as u64, Relaxed);
        let told = if self.verbose { TOLD } else { 0 };
        for dropped in before + 1..=told.min(before + rest.len() as u64) {
            let (name, held) = (cx.name(), self.pipe.ring.len());
            cx.log(format_args!(
                "{name} :: Pipeliner : Dropped {dropped} packets : have {held} packets in ring"
            ));
        }
        cx.drop_batch(rest, "pipeline full");
    }

    /// Wakes the task that empties the ring.
    #[inline]
    fn wake(&self, cx: &mut Cx<'_>) {
        // Pairs with the fence of `sleep`: the task sees our packets, or we see that it sleeps.
        fence(SeqCst);
        if self.pipe.asleep.load(Relaxed) && self.pipe.asleep.swap(false, Relaxed) {
            if self.home == cx.worker() { cx.tasks().schedule() } else { cx.tasks().schedule_on(self.home) }
        }
    }

    fn sleep(&self, cx: &mut Cx<'_>) {
        self.pipe.asleep.store(true, Relaxed);
        fence(SeqCst);
        if !self.pipe.ring.is_empty() && self.pipe.asleep.swap(false, Relaxed) {
            cx.tasks().schedule();
        }
    }

    /// Tells sources on this worker how much room there is, and waits for some to come if there is none.
    fn tell_room(&mut self, cx: &mut Cx<'_>) {
        if !self.waiting.is_empty() {
            self.refill();
            self.wake(cx);
        }
        cx.signals().set_room(self.room());
        let mine = self.pipe.pushers.iter().find(|(worker, _)| *worker == cx.worker());
        if let Some((_, waits)) = mine.filter(|_| self.room() == 0) {
            waits.store(true, Relaxed);
            fence(SeqCst); // pairs with that of `admit`
            if !self.pipe.ring.is_full() && waits.swap(false, Relaxed) {
                cx.tasks().schedule();
            }
        }
    }

    /// Lets sources run again that wait for room, here and elsewhere.
    fn admit(&self, cx: &mut Cx<'_>) {
        fence(SeqCst);
        for (worker, waits) in &self.pipe.pushers {
            if waits.load(Relaxed) && waits.swap(false, Relaxed) {
                if *worker == cx.worker() {
                    cx.signals().set_room(self.room())
                } else {
                    cx.tasks().schedule_on(*worker)
                }
            }
        }
    }
}

impl Element for Pipeliner {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if self.home == cx.worker() {
            self.announce(cx)?;
        }
        if self.blocking {
            cx.signals().provide_room();
            cx.signals().set_room(self.pipe.room());
        }
        cx.tasks().unschedule(); // there is a task from now on, for others to wake
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        if self.direct && self.home == cx.worker() {
            return cx.emit(0, batch);
        }
        self.hand_over(cx, batch);
        self.wake(cx);
        if self.blocking {
            self.tell_room(cx);
        }
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        if self.home != cx.worker() {
            return self.tell_room(cx); // the home worker made some
        }
        if !self.active {
            return;
        }
        let most = self.burst.min(cx.vector()).min(BATCH_MAX);
        let mut batch = cx.batch();
        batch.extend(std::iter::from_fn(|| self.pipe.ring.pop()).take(most));
        self.refill(); // what it has taken over
        let more = batch.len() == most || !self.waiting.is_empty();
        if self.blocking && !batch.is_empty() {
            self.admit(cx);
        }
        cx.emit(0, batch);
        if more { cx.tasks().schedule() } else { self.sleep(cx) }
    }

    fn held(&self) -> usize {
        self.waiting.len()
    }

    fn held_together(&self) -> usize {
        self.pipe.ring.len()
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        let waiting = self.waiting.drain(..);
        Some(Box::new(
            std::iter::from_fn(|| self.pipe.ring.pop()).chain(waiting).collect::<VecDeque<Packet>>(),
        ))
    }

    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        let Ok(packets) = state.downcast::<VecDeque<Packet>>() else { return };
        for packet in *packets {
            if let Err(packet) = self.put(packet) {
                cx.drop(packet, "pipeline full");
            }
        }
        self.wake(cx);
    }

    fn handlers(&self, h: &mut Handlers) {
        type P = Pipeliner;
        h.read("count", |e: &mut P, _| e.pipe.count.load(Relaxed)).measures(&metric::PACKETS);
        h.read("dropped", |e: &mut P, _| e.pipe.dropped.load(Relaxed));
        h.read("active", |e: &mut P, _| e.active).flagged(Flags::CHECKBOX);
        h.write("active", |e: &mut P, cx, text| {
            e.active = router::value(cx, text)?;
            if e.active && e.home == cx.worker() {
                cx.tasks().schedule();
            }
            Ok(())
        })
        .to_everywhere();
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{build, build_at, errors};
    use elements_testing::run_to_end;
    use router::{Call, Clock, Resources};

    fn workers_of(router: &router::Router, name: &str) -> Vec<usize> {
        let info = router.info();
        info.find(name, None).map(|element| info.nodes[element].workers.clone()).unwrap_or_default()
    }

    /// It says between which workers it is, and complains where it makes no sense.
    #[test]
    fn says_from_where_to_where() {
        let two = "s0 :: InfiniteSource(LIMIT 1) -> p :: Pipeliner -> q :: Pipeliner -> Discard;
                   s1 :: InfiniteSource(LIMIT 1) -> [1]p; Script(wait 1, stop); StaticThreadSched(s1 1, p 1)";
        let mut router = build(two, 2, 1).unwrap_or_else(|errors| panic!("{errors}"));
        run_to_end(&mut router);
        let lines = router.info().log.text();
        for line in ["p :: Pipeliner : Pipeline from 0 to 1", "p :: Pipeliner : Pipeline from 1 to 1"] {
            assert!(lines.contains(line), "{lines}");
        }
        assert!(
            lines.contains("q :: Pipeliner : Pipeline from 1 to 0") && !lines.contains("warning"),
            "{lines}"
        );
    }

    /// What is behind it runs on its worker, what is before it does not.
    #[test]
    fn divides_the_work() {
        let config = "s :: InfiniteSource(LIMIT 100) -> a :: Counter -> p :: Pipeliner(BLOCKING true) -> b :: Counter -> d :: Discard;
                      Script(wait 1, stop); StaticThreadSched(p 1)";
        for vector in [1, 32] {
            let mut router = build(config, 2, vector).unwrap_or_else(|errors| panic!("{errors}"));
            assert_eq!(
                ["a", "p", "b", "d"].map(|name| workers_of(&router, name)),
                [vec![0], vec![0, 1], vec![1], vec![1]]
            );
            run_to_end(&mut router);
            let read = ["a.count", "p.count", "p.dropped", "d.count"]
                .map(|path| router.call(Call::read(path, "")).unwrap());
            assert_eq!(read, ["100", "100", "0", "100"]);
        }
    }

    /// More workers than one push; an element of one instance behind it does not bring them together.
    #[test]
    fn from_several_workers() {
        let config =
            "s0 :: InfiniteSource(LIMIT 10) -> p :: Pipeliner -> r :: RoundRobinSwitch -> d :: Discard;
                      s1 :: InfiniteSource(LIMIT 20) -> [1]p; s2 :: InfiniteSource(LIMIT 30) -> [2]p;
                      Script(wait 1, stop); StaticThreadSched(s1 1, s2 2, p 1)";
        let mut router = build(config, 3, 32).unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(
            ["s0", "s1", "s2", "r"].map(|name| workers_of(&router, name)),
            [vec![0], vec![1], vec![2], vec![1]]
        );
        run_to_end(&mut router);
        let read = ["d.count", "p.count"].map(|path| router.call(Call::read(path, "")).unwrap());
        assert_eq!(read, ["60", "40"], "what worker 1 pushes goes through at once");
    }

    /// A source that waits for room for its packets does not know of their copies: these wait, too.
    #[test]
    fn blocking_loses_nothing() {
        let config = "s :: InfiniteSource(LIMIT 1000, BURST 8) -> t :: Tee(3) -> p :: Pipeliner(8, BLOCKING true) -> d :: Discard;
                      t[1] -> p; t[2] -> p; Script(wait 1, stop); StaticThreadSched(p 1)";
        for vector in [1, 32] {
            let mut router = build(config, 2, vector).unwrap_or_else(|errors| panic!("{errors}"));
            run_to_end(&mut router);
            let read =
                ["p.count", "p.dropped", "d.count"].map(|path| router.call(Call::read(path, "")).unwrap());
            assert_eq!(read, ["3000", "0", "3000"]);
        }
    }

    /// On threads, through a small ring: sources wait, and every packet arrives.
    #[test]
    fn on_threads() {
        let config = "s :: InfiniteSource(LIMIT 20000) -> p :: Pipeliner(8, BLOCKING true) -> Counter(COUNT_CALL 20000 stop) -> d :: Discard;
                      StaticThreadSched(p 1)";
        let mut router = build_at(config, 2, 32, Clock::real(), Resources::default())
            .unwrap_or_else(|errors| panic!("{errors}"));
        run_to_end(&mut router);
        let count = |router: &mut router::Router, path: &str| router.call(Call::read(path, "")).unwrap();
        let (dropped, arrived) = (count(&mut router, "p.dropped"), count(&mut router, "d.count"));
        assert_eq!((dropped.as_str(), arrived.as_str()), ("0", "20000"));
    }

    /// Without a source that waits, what does not fit is lost; while it is inactive nothing leaves.
    #[test]
    fn overflow_and_activity() {
        let config = "s :: InfiniteSource(LIMIT 100, BURST 100) -> p :: Pipeliner(10, ACTIVE false, DIRECT_TRAVERSAL false, NOUSELESS true) -> d :: Discard;
                      Script(wait 1, print d.count, write p.active true, wait 1, stop)";
        let mut router = build(config, 1, 1).unwrap_or_else(|errors| panic!("{errors}"));
        run_to_end(&mut router);
        let read = ["d.count", "p.count", "p.dropped"].map(|path| router.call(Call::read(path, "")).unwrap());
        assert_eq!(read, ["10", "10", "90"]);
        let told = |n| format!("p :: Pipeliner : Dropped {n} packets : have 10 packets in ring\n");
        let lines = router.info().log.text();
        let after = lines.strip_prefix("p :: Pipeliner : Pipeline from 0 to 0\n");
        assert_eq!(after, Some(((1..=9).map(told).collect::<String>() + "0\n").as_str()));
        assert!(errors("Idle -> Pipeliner(3) -> Discard").contains("at least 4"));
    }
}
