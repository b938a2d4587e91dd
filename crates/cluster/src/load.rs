//! How busy links are, as far as their sender knows.
//!
//! A node has one sender for each of its workers. They share no queue: each counts what it sends, and adds to its own idea of a
//! link what the counters of the others say has gone there meanwhile. A counter has one writer, and a worker looks at those of
//! the others once for each point in time at which it asks, so that what it does not know of is what others send during its turn.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

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

/// What the workers of a node tell each other of its queues: how many bytes each has sent into each, and when those will be
/// through as far as it knows. Each worker writes its own numbers only.
#[derive(Debug)]
pub struct Sent {
    /// By worker, each in memory of its own: bytes by queue, then times by queue.
    by_worker: Box<[Box<[AtomicU64]>]>,
    queues: usize,
}

impl Sent {
    /// Nothing yet, of so many workers, into so many queues.
    pub fn new(workers: usize, queues: usize) -> Arc<Sent> {
        // Eight more, so that no two workers write to one cache line.
        let row = |_| (0..2 * queues + 8).map(|_| AtomicU64::new(0)).collect();
        Arc::new(Sent { by_worker: (0..workers).map(row).collect(), queues })
    }

    /// What all workers but one have sent into a queue, and the latest time at which one of them expects it to be through.
    fn by_others(&self, me: usize, queue: usize) -> (u64, u64) {
        let others = self.by_worker.iter().enumerate().filter(|(worker, _)| *worker != me);
        others.fold((0, 0), |(sum, latest), (_, row)| {
            let (bytes, free_ns) = (row[queue].load(Relaxed), row[self.queues + queue].load(Relaxed));
            (sum.wrapping_add(bytes), latest.max(free_ns))
        })
    }

    /// A worker has sent bytes.
    #[inline]
    fn add(&self, me: usize, queue: usize, bytes: u32, free_ns: u64) {
        let row = &self.by_worker[me];
        row[queue].store(row[queue].load(Relaxed).wrapping_add(bytes.into()), Relaxed);
        row[self.queues + queue].store(free_ns, Relaxed);
    }
}

/// A queue as one worker sees it.
#[derive(Clone, Copy, Debug)]
struct Queue {
    backlog: Backlog,
    /// When the counters of the others were last looked at, and what they said.
    looked_ns: u64,
    seen: u64,
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
            queues: vec![Queue { backlog: Backlog::new(1), looked_ns: 0, seen: 0 }; queues],
            shared: None,
        }
    }

    /// The same for one of several workers, which count in `sent`.
    pub fn share(&mut self, sent: Arc<Sent>, worker: usize) {
        for (at, queue) in self.queues.iter_mut().enumerate() {
            (queue.seen, _) = sent.by_others(worker, at);
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

    /// The queue, with what others have sent into it meanwhile.
    #[inline]
    fn queue(&mut self, at: usize, now_ns: u64) -> Option<&mut Queue> {
        let queue = self.queues.get_mut(at)?;
        if let Some((sent, me)) = &self.shared
            && queue.looked_ns != now_ns
        {
            let (seen, free_ns) = sent.by_others(*me, at);
            // When they sent it since is not known. Each idea of when the queue is empty is too early, if it is wrong: the latest holds.
            queue.backlog.add_many(queue.looked_ns, seen.wrapping_sub(queue.seen));
            queue.backlog.free_ns = queue.backlog.free_ns.max(free_ns);
            (queue.seen, queue.looked_ns) = (seen, now_ns);
        }
        Some(queue)
    }

    /// Whether so many bytes may be sent without that more than `bound` wait; not if there is no such queue.
    #[inline]
    pub fn fits(&mut self, at: usize, now_ns: u64, bytes: u32, bound: u32) -> bool {
        self.queue(at, now_ns).is_some_and(|queue| queue.backlog.fits(now_ns, bytes, bound))
    }

    /// How many bytes may be sent so that not more than `bound` wait in front of one: [`Backlog::room`].
    #[inline]
    pub fn room(&mut self, at: usize, now_ns: u64, bound: u32) -> u32 {
        self.queue(at, now_ns).map_or(0, |queue| queue.backlog.room(now_ns, bound))
    }

    /// The same of several packets: [`Backlog::fit`].
    #[inline]
    pub fn fit(&mut self, at: usize, now_ns: u64, bytes: u32, most: u32, bound: u32) -> bool {
        self.queue(at, now_ns).is_some_and(|queue| queue.backlog.fit(now_ns, bytes, most, bound))
    }

    /// Nanoseconds until what was sent is through.
    #[inline]
    pub fn waiting_ns(&mut self, at: usize, now_ns: u64) -> u64 {
        self.queue(at, now_ns).map_or(0, |queue| queue.backlog.waiting_ns(now_ns))
    }

    /// This worker sends bytes.
    #[inline]
    pub fn add(&mut self, at: usize, now_ns: u64, bytes: u32) {
        let Some(queue) = self.queue(at, now_ns) else { return };
        let free_ns = queue.backlog.add(now_ns, bytes);
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
}
