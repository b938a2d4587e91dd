//! How busy links are, as far as their sender knows.
//!
//! A node has one sender for each of its workers. They share no queue: each counts what it sends, and adds to its own idea of a
//! link what the counters of the others say has gone there meanwhile. A counter has one writer, and a worker looks at those of
//! the others once for each point in time at which it asks, so that what it does not know of is what others send during its turn.
//!
//! Their clocks differ: a worker that is kept from its processor in the middle of a turn goes on with the time at which the turn began. What others have
//! sent since would all seem to wait. So each worker tells what time it has, too, and the latest of all holds.

use std::sync::Arc;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

/// A link or an allowance of a certain rate, seen as a queue that empties at that rate: what was sent and what time has
/// passed tell how much still waits. The one who sends needs no word from the device for it.
#[derive(Clone, Copy, Debug)]
pub struct Backlog {
    /// Picoseconds that a byte takes.
    ps_per_byte: u64,
    /// When all that was sent will be through.
    free_ns: u64,
    /// Picoseconds beyond that.
    rest_ps: u64,
}

impl Backlog {
    /// One that carries this many bits a second.
    pub fn new(bits_per_second: u64) -> Backlog {
        Backlog { ps_per_byte: 8_000_000_000_000 / bits_per_second.max(1), free_ns: 0, rest_ps: 0 }
    }

    /// Another rate, from now on.
    pub fn set_rate(&mut self, bits_per_second: u64) {
        self.ps_per_byte = Backlog::new(bits_per_second).ps_per_byte;
    }

    /// Nanoseconds until what was sent is through.
    #[inline]
    pub fn waiting_ns(&self, now_ns: u64) -> u64 {
        self.free_ns.saturating_sub(now_ns)
    }

    /// Nanoseconds that so many bytes take.
    #[inline]
    pub fn cost_ns(&self, bytes: u32) -> u64 {
        u64::from(bytes) * self.ps_per_byte / 1_000
    }

    /// Whether so many bytes may be sent without that more than `bound` wait. One packet may always wait.
    #[inline]
    pub fn fits(&self, now_ns: u64, bytes: u32, bound: u32) -> bool {
        self.waiting_ns(now_ns) <= self.cost_ns(bound.saturating_sub(bytes))
    }

    /// Whether packets may be sent one after the other, each as [`Backlog::fits`] has it: so many bytes together, of which the longest packet
    /// has `most`. It may say no although the last of them would just fit.
    #[inline]
    pub fn fit(&self, now_ns: u64, bytes: u32, most: u32, bound: u32) -> bool {
        // A nanosecond for what is rounded.
        self.waiting_ns(now_ns) + self.cost_ns(bytes) < self.cost_ns(bound.saturating_sub(most))
    }

    /// How many bytes may be sent in packets of any length, so that not more than `bound` wait in front of one. It may be a few less than that.
    #[inline]
    pub fn room(&self, now_ns: u64, bound: u32) -> u32 {
        // A nanosecond for what is rounded.
        let rest_ns = self.cost_ns(bound).saturating_sub(self.waiting_ns(now_ns) + 1);
        let bytes = (rest_ns * 1_000).checked_div(self.ps_per_byte).unwrap_or(u64::MAX);
        u32::try_from(bytes).unwrap_or(u32::MAX)
    }

    /// Bytes are sent; returns when they will be through.
    #[inline]
    pub fn add(&mut self, now_ns: u64, bytes: u32) -> u64 {
        self.add_many(now_ns, bytes.into())
    }

    /// The same for what many packets have.
    #[inline]
    pub fn add_many(&mut self, now_ns: u64, bytes: u64) -> u64 {
        let ps = bytes.saturating_mul(self.ps_per_byte).saturating_add(self.rest_ps);
        self.free_ns = self.free_ns.max(now_ns) + ps / 1_000;
        self.rest_ps = ps % 1_000;
        self.free_ns
    }
}

/// What the workers of a node tell each other of its queues: how many bytes each has sent into each, when those will be
/// through as far as it knows, and what time it has. Each worker writes its own numbers only.
#[derive(Debug)]
pub struct Sent {
    /// By worker, each in memory of its own: bytes by queue, then times by queue, then the worker's clock.
    by_worker: Box<[Box<[AtomicU64]>]>,
    queues: usize,
}

/// What all workers but one say of a queue.
struct Others {
    /// What they have sent into it.
    bytes: u64,
    /// The latest time at which one of them expects it to be through.
    free_ns: u64,
    /// The latest of their clocks.
    now_ns: u64,
}

impl Sent {
    /// Nothing yet, of so many workers, into so many queues.
    pub fn new(workers: usize, queues: usize) -> Arc<Sent> {
        // Eight more, so that no two workers write to one cache line.
        let row = |_| (0..2 * queues + 1 + 8).map(|_| AtomicU64::new(0)).collect();
        Arc::new(Sent { by_worker: (0..workers).map(row).collect(), queues })
    }

    fn others(&self, me: usize, queue: usize) -> Others {
        let others = self.by_worker.iter().enumerate().filter(|(worker, _)| *worker != me);
        others.fold(Others { bytes: 0, free_ns: 0, now_ns: 0 }, |sum, (_, row)| {
            // Acquire, and the clock last: it is at least that of what is counted.
            let (bytes, free_ns) = (row[queue].load(Acquire), row[self.queues + queue].load(Acquire));
            let now_ns = row[2 * self.queues].load(Relaxed);
            Others {
                bytes: sum.bytes.wrapping_add(bytes),
                free_ns: sum.free_ns.max(free_ns),
                now_ns: sum.now_ns.max(now_ns),
            }
        })
    }

    /// A worker has this time, before it sends at it.
    #[inline]
    fn set_clock(&self, me: usize, now_ns: u64) {
        self.by_worker[me][2 * self.queues].store(now_ns, Relaxed);
    }

    /// A worker has sent bytes.
    #[inline]
    fn add(&self, me: usize, queue: usize, bytes: u32, free_ns: u64) {
        let row = &self.by_worker[me];
        // Release: who reads one of these reads the clock that was set before, or a later one.
        row[queue].store(row[queue].load(Relaxed).wrapping_add(bytes.into()), Release);
        row[self.queues + queue].store(free_ns, Release);
    }
}

/// A queue as one worker sees it.
#[derive(Clone, Copy, Debug)]
struct Queue {
    backlog: Backlog,
    /// This worker's clock when the counters of the others were last looked at, and what they said.
    looked_ns: u64,
    seen: u64,
    /// The latest of all workers' clocks then.
    now_ns: u64,
}

impl Queue {
    /// Looks at what the other workers say, for the first time at this one.
    #[inline(never)] // a node of one worker has none of it
    fn look(&mut self, sent: &Sent, me: usize, at: usize, now_ns: u64) {
        let others = sent.others(me, at);
        // When they sent it since is not known. Each idea of when the queue is empty is too early, if it is wrong: the latest holds.
        self.backlog.add_many(self.now_ns, others.bytes.wrapping_sub(self.seen));
        self.backlog.free_ns = self.backlog.free_ns.max(others.free_ns);
        (self.seen, self.looked_ns) = (others.bytes, now_ns);
        self.now_ns = others.now_ns.max(now_ns);
        sent.set_clock(me, self.now_ns);
    }
}

/// The queues of a node, links and allowances, as one of its workers sees them.
#[derive(Debug)]
pub struct Queues {
    queues: Vec<Queue>,
    /// The counters of all workers, and which of these this one is, where there are several.
    shared: Option<(Arc<Sent>, usize)>,
}

impl Queues {
    /// Empty ones, for the only worker.
    pub fn new(queues: usize) -> Queues {
        Queues {
            queues: vec![Queue { backlog: Backlog::new(1), looked_ns: 0, seen: 0, now_ns: 0 }; queues],
            shared: None,
        }
    }

    /// The same for one of several workers, which count in `sent`.
    pub fn share(&mut self, sent: Arc<Sent>, worker: usize) {
        for (at, queue) in self.queues.iter_mut().enumerate() {
            queue.seen = sent.others(worker, at).bytes;
        }
        self.shared = Some((sent, worker)).filter(|(sent, _)| sent.by_worker.len() > 1);
    }

    /// Another rate of a queue, from now on.
    pub fn set_rate(&mut self, at: usize, bits_per_second: u64) {
        if let Some(queue) = self.queues.get_mut(at) {
            queue.backlog.set_rate(bits_per_second);
        }
    }

    /// Whether there is such a queue.
    #[inline]
    pub fn has(&self, at: usize) -> bool {
        at < self.queues.len()
    }

    /// The queue, with what others have sent into it meanwhile, and the time at which it is like that.
    #[inline]
    fn queue(&mut self, at: usize, now_ns: u64) -> Option<&mut Queue> {
        let queue = self.queues.get_mut(at)?;
        match &self.shared {
            None => queue.now_ns = now_ns,
            Some((sent, me)) if queue.looked_ns != now_ns => queue.look(sent, *me, at, now_ns),
            Some(_) => {}
        }
        Some(queue)
    }

    /// Whether so many bytes may be sent without that more than `bound` wait; not if there is no such queue.
    #[inline]
    pub fn fits(&mut self, at: usize, now_ns: u64, bytes: u32, bound: u32) -> bool {
        self.queue(at, now_ns).is_some_and(|queue| queue.backlog.fits(queue.now_ns, bytes, bound))
    }

    /// How many bytes may be sent so that not more than `bound` wait in front of one: [`Backlog::room`].
    #[inline]
    pub fn room(&mut self, at: usize, now_ns: u64, bound: u32) -> u32 {
        self.queue(at, now_ns).map_or(0, |queue| queue.backlog.room(queue.now_ns, bound))
    }

    /// The same of several packets: [`Backlog::fit`].
    #[inline]
    pub fn fit(&mut self, at: usize, now_ns: u64, bytes: u32, most: u32, bound: u32) -> bool {
        self.queue(at, now_ns).is_some_and(|queue| queue.backlog.fit(queue.now_ns, bytes, most, bound))
    }

    /// Nanoseconds until what was sent is through.
    #[inline]
    pub fn waiting_ns(&mut self, at: usize, now_ns: u64) -> u64 {
        self.queue(at, now_ns).map_or(0, |queue| queue.backlog.waiting_ns(queue.now_ns))
    }

    /// This worker sends bytes.
    #[inline]
    pub fn add(&mut self, at: usize, now_ns: u64, bytes: u32) {
        let Some(queue) = self.queue(at, now_ns) else { return };
        let free_ns = queue.backlog.add(queue.now_ns, bytes);
        if let Some((sent, me)) = &self.shared {
            sent.add(*me, at, bytes, free_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Over a long time exactly the rate goes through, also when a byte takes a fraction of a nanosecond.
    #[test]
    fn carries_its_rate() {
        let mut link = Backlog::new(10_000_000_000);
        let (mut now, mut sent) = (5_000u64, 0u64);
        while now < 1_005_000 {
            if link.fits(now, 61, 1_250) {
                link.add(now, 61);
                sent += 61;
            } else {
                now += 7;
            }
        }
        // A millisecond at 1.25 bytes a nanosecond, and the bound of a microsecond.
        assert!((1_250_000..=1_251_300).contains(&sent), "{sent}");
    }

    /// An idle link saves nothing up.
    #[test]
    fn idleness_is_lost() {
        let mut link = Backlog::new(8_000_000_000);
        link.add(0, 100);
        assert_eq!((link.waiting_ns(40), link.waiting_ns(1_000_000)), (60, 0));
        assert_eq!(link.add(1_000_000, 100), 1_000_100);
    }

    /// Two workers that send into one link let through what one would: against a queue that knows of both.
    #[test]
    fn workers_fill_a_link_together() {
        let (rate, bound) = (10_000_000_000, 30_000);
        let sent = Sent::new(2, 3);
        let mut workers = [0, 1].map(|worker| {
            let mut queues = Queues::new(3);
            queues.set_rate(2, rate);
            queues.share(sent.clone(), worker);
            queues
        });
        let (mut naive, mut rng, mut total) = (Backlog::new(rate), fastrand::Rng::with_seed(7), 0u64);
        for turn in 0..20_000u64 {
            let now = turn * 500;
            let worker = &mut workers[rng.usize(..2)];
            for _ in 0..rng.u32(..4) {
                let bytes = rng.u32(60..1_500);
                assert_eq!(worker.fits(2, now, bytes, bound), naive.fits(now, bytes, bound), "turn {turn}");
                if worker.fits(2, now, bytes, bound) {
                    worker.add(2, now, bytes);
                    naive.add(now, bytes);
                    total += u64::from(bytes);
                }
            }
        }
        // Ten milliseconds at 1.25 bytes a nanosecond.
        assert!((12_000_000..12_600_000).contains(&total), "{total}");
        assert!(workers[0].fits(0, 0, 9, 9) && !workers[0].fits(3, 0, 9, 9));
    }

    const RATE: u64 = 100_000_000_000;
    const BOUND: u32 = 256 << 10;

    fn workers<const WORKERS: usize>(rate: u64) -> [Queues; WORKERS] {
        let sent = Sent::new(WORKERS, 3);
        std::array::from_fn(|worker| {
            let mut queues = Queues::new(3);
            (0..3).for_each(|queue| queues.set_rate(queue, rate));
            queues.share(sent.clone(), worker);
            queues
        })
    }

    /// A worker whose clock has stood still does not take for waiting what another has sent since, and what it sends itself goes after that.
    #[test]
    fn a_clock_that_stood_still_fills_no_link() {
        let [mut paused, mut other] = workers(RATE);
        // The other one's clock is that of all it does, not of this queue alone.
        for now in (1_000..1_000_000).step_by(1_000) {
            other.add(2, now, 12_500);
        }
        other.add(1, 999_500, 1);
        assert!(paused.fits(2, 1_000, 1_500, BOUND));
        // The last 12,500 bytes take until 1,000,000.
        assert_eq!((paused.waiting_ns(2, 1_000), paused.waiting_ns(0, 1_000)), (500, 0));
        paused.add(2, 1_000, 125);
        paused.add(0, 1_000, 125);
        assert_eq!((other.waiting_ns(2, 1_000_000), other.waiting_ns(0, 999_501)), (10, 9));
    }

    /// Workers that are paused at any point of their turns, against a link that knows the time of each packet: none finds the link full that has room at the
    /// latest time that a worker had when it looked, and together they send no more into it than it carries and what a turn of each has.
    #[test]
    fn pauses_fill_no_link() {
        /// Packets of a turn, of up to 1,500 bytes.
        const TURN: u32 = 32;

        #[derive(Clone, Copy, Default)]
        struct Turn {
            clock_ns: u64,
            left: u32,
            paused_until_ns: u64,
            /// The latest clock of all when it first looked.
            looked_ns: Option<u64>,
        }

        let mut refused = 0;
        for seed in 0..40 {
            let (mut rng, mut all) = (fastrand::Rng::with_seed(seed), workers::<3>(RATE));
            let (mut link, mut latest_ns, mut turns) = (Backlog::new(RATE), 0, [Turn::default(); 3]);
            // Such lengths take whole nanoseconds; from half of what the link carries to several times that.
            let most = rng.u32(4..=60);
            for now in (1_000..2_000_000).step_by(100) {
                let at = rng.usize(..3);
                let turn = &mut turns[at];
                if now < turn.paused_until_ns {
                    continue;
                }
                if turn.left == 0 {
                    *turn = Turn { clock_ns: now, left: rng.u32(1..=TURN), ..*turn };
                    turn.looked_ns = None;
                }
                if rng.u8(..100) == 0 {
                    turn.paused_until_ns = now + rng.u64(..200_000);
                    continue;
                }
                for _ in 0..rng.u32(1..=turn.left) {
                    turn.left -= 1;
                    let bytes = 25 * rng.u32(3..=most);
                    latest_ns = latest_ns.max(turn.clock_ns);
                    let looked_ns = *turn.looked_ns.get_or_insert(latest_ns);
                    if all[at].fits(2, turn.clock_ns, bytes, BOUND) {
                        all[at].add(2, turn.clock_ns, bytes);
                        link.add(now, bytes);
                    } else {
                        refused += 1;
                        assert!(!link.fits(looked_ns, bytes, BOUND), "seed {seed}, {now} ns");
                    }
                    let waiting_ns = link.waiting_ns(now);
                    assert!(
                        waiting_ns <= link.cost_ns(BOUND + 3 * TURN * 1_500),
                        "seed {seed}, {now} ns: {waiting_ns} ns"
                    );
                }
            }
        }
        assert!(refused > 0);
    }
}
