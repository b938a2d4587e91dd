//! Batches on their way through work that several workers share, and the order in which they leave.
//!
//! A batch that comes in gets the next number of its lane, and the place of that number. Whichever worker is free takes it as a job,
//! and puts what is left of it back into its place. Batches leave in the order of their numbers, so the first whose place is still
//! without a container holds up the others: it is being worked on. What the work has dropped is missing in the container, and nothing
//! waits for it.

use crossbeam_queue::ArrayQueue;
use packet::{BATCH_MAX, Batch, Fifo};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};

/// On cache lines of its own: what one worker writes and another one reads.
#[repr(align(128))]
#[derive(Default)]
struct Apart<T>(T);

/// A batch that is worked on.
pub(super) struct Job {
    lane: usize,
    number: u64,
    /// What there is of it.
    pub(super) packets: Fifo,
}

/// A batch that was taken out before it had left.
pub(super) struct Rest {
    /// Lane and number; outside of the window the lane's worker and the number.
    pub(super) at: (usize, u64),
    pub(super) packets: Fifo,
    /// Whether it has been worked on.
    pub(super) is_finished: bool,
}

impl Rest {
    /// One that a worker has in hand and is done with.
    pub(super) fn finished(job: Job) -> Rest {
        Rest { at: (job.lane, job.number), packets: job.packets, is_finished: true }
    }

    /// In a worker's hand again.
    pub(super) fn into_job(self) -> Job {
        let (lane, number) = self.at;
        Job { lane, number, packets: self.packets }
    }
}

/// The batches that come in on one worker.
struct Lane {
    /// Each has a container, which is away while a worker has the batch of this place.
    places: Box<[ArrayQueue<Fifo>]>,
    /// Batches that have come in; the lane's worker counts them.
    entered: Apart<AtomicU64>,
    /// Batches that have left; the puller counts them.
    left: Apart<AtomicU64>,
}

/// Batches on their way.
pub(super) struct Window {
    lanes: Box<[Lane]>,
    /// Batches that wait for a worker, of all lanes.
    jobs: ArrayQueue<Job>,
    /// Whether a worker is pulling.
    is_pulled: AtomicBool,
    /// The lane that is pulled from first.
    first: AtomicUsize,
}

impl Lane {
    fn new(places: usize) -> Lane {
        let place = |_| {
            let place = ArrayQueue::new(1);
            let _ = place.push(Fifo::with_capacity(BATCH_MAX));
            place
        };
        Lane { places: (0..places).map(place).collect(), entered: Apart::default(), left: Apart::default() }
    }

    #[inline]
    fn place(&self, number: u64) -> &ArrayQueue<Fifo> {
        &self.places[number as usize & (self.places.len() - 1)]
    }

    /// Batches for which there is room.
    #[inline]
    fn room(&self) -> usize {
        let on_their_way = self.entered.0.load(Relaxed) - self.left.0.load(Acquire);
        self.places.len() - on_their_way as usize
    }

    /// Whether the batch that is to leave next has been worked on.
    #[inline]
    fn is_ready(&self) -> bool {
        let left = self.left.0.load(Relaxed);
        left < self.entered.0.load(Acquire) && !self.place(left).is_empty()
    }

    /// Takes what may leave, up to `want` packets in the batch. Whether there are more places now.
    #[inline]
    fn pull(&self, batch: &mut Batch, want: usize) -> bool {
        let (before, entered) = (self.left.0.load(Relaxed), self.entered.0.load(Acquire));
        let mut left = before;
        while batch.len() < want && left < entered {
            let Some(mut packets) = self.place(left).pop() else { break };
            packets.take_into(batch, want - batch.len());
            let is_done = packets.is_empty();
            let _ = self.place(left).push(packets);
            left += u64::from(is_done);
        }
        if left == before {
            return false;
        }
        // The container is back: the lane's worker may take it.
        self.left.0.store(left, Release);
        true
    }
}

impl Window {
    /// One of so many lanes, each with places for so many batches: a power of two.
    pub(super) fn new(lanes: usize, places: usize) -> Window {
        Window {
            lanes: (0..lanes).map(|_| Lane::new(places)).collect(),
            jobs: ArrayQueue::new((lanes * places).max(1)),
            is_pulled: AtomicBool::new(false),
            first: AtomicUsize::new(0),
        }
    }

    /// Takes in a batch of a lane, on the lane's worker; false, and the batch stays as it is, if there is no room.
    #[inline]
    pub(super) fn enter(&self, lane: usize, batch: &mut Batch) -> bool {
        let Some(job) = self.open(lane) else { return false };
        let Job { mut packets, .. } = job;
        packets.append(batch);
        self.offer(Job { packets, ..job });
        true
    }

    /// Gives the next number of a lane, on the lane's worker, with an empty container.
    #[inline]
    fn open(&self, lane: usize) -> Option<Job> {
        let of = self.lanes.get(lane).filter(|of| of.room() > 0)?;
        let number = of.entered.0.load(Relaxed);
        let packets = of.place(number).pop().unwrap_or_default();
        // The puller takes a place for finished only if it has been entered, and its container is away by now.
        of.entered.0.store(number + 1, Release);
        Some(Job { lane, number, packets })
    }

    /// Has a job wait for a worker.
    #[inline]
    fn offer(&self, job: Job) {
        // There is room for as many as there are places. If there were none, its packets would be lost and nothing held up.
        if let Err(job) = self.jobs.push(job) {
            self.finish(Job { packets: Fifo::default(), ..job });
        }
    }

    /// The job that has waited longest.
    #[inline]
    pub(super) fn begin(&self) -> Option<Job> {
        self.jobs.pop()
    }

    /// The work on a batch is over: what is left of it may leave when it is its turn.
    #[inline]
    pub(super) fn finish(&self, job: Job) {
        if let Some(of) = self.lanes.get(job.lane) {
            let _ = of.place(job.number).push(job.packets);
        }
    }

    /// Jobs that wait for a worker.
    #[inline]
    pub(super) fn waiting(&self) -> usize {
        self.jobs.len()
    }

    /// Whether a batch can leave.
    #[inline]
    pub(super) fn is_ready(&self) -> bool {
        self.lanes.iter().any(Lane::is_ready)
    }

    /// Batches of a lane for which there is room.
    #[inline]
    pub(super) fn room(&self, lane: usize) -> usize {
        self.lanes.get(lane).map_or(0, Lane::room)
    }

    /// Places of a lane.
    pub(super) fn places(&self) -> usize {
        self.lanes.first().map_or(0, |of| of.places.len())
    }

    /// Takes what may leave, up to `want` packets in the batch; nothing while another worker does. Whether there are more places now.
    #[inline]
    pub(super) fn pull(&self, batch: &mut Batch, want: usize) -> bool {
        if self.is_pulled.swap(true, Acquire) {
            return false;
        }
        let (first, lanes) = (self.first.load(Relaxed), self.lanes.len());
        let mut has_room = false;
        for of in self.lanes[first..].iter().chain(&self.lanes[..first]) {
            has_room |= of.pull(batch, want);
        }
        self.first.store(if first + 1 < lanes { first + 1 } else { 0 }, Relaxed);
        self.is_pulled.store(false, Release);
        has_room
    }

    /// Takes out all batches that no worker has in hand.
    pub(super) fn take_all(&self) -> Vec<Rest> {
        let waiting = |job| Rest { is_finished: false, ..Rest::finished(job) };
        let mut all: Vec<Rest> = std::iter::from_fn(|| self.begin()).map(waiting).collect();
        for (lane, of) in self.lanes.iter().enumerate() {
            let numbers = of.left.0.load(Relaxed)..of.entered.0.load(Relaxed);
            let finished = |number| Some(Job { lane, number, packets: of.place(number).pop()? });
            all.extend(numbers.filter_map(finished).map(Rest::finished));
        }
        all
    }

    /// Puts batches back where they were taken out, in the order in which they were. No other worker runs meanwhile.
    pub(super) fn put_back(&self, all: Vec<Rest>) {
        for rest in all {
            match rest.is_finished {
                true => self.finish(rest.into_job()),
                false => self.offer(rest.into_job()),
            }
        }
    }

    /// Puts batches of another one behind those of a lane, on the lane's worker, in the order that they had there: how many packets. Those
    /// for which there is no room go to `lost`.
    pub(super) fn absorb(&self, lane: usize, mut all: Vec<Rest>, mut lost: impl FnMut(Fifo)) -> usize {
        all.sort_by_key(|rest| rest.at);
        let mut absorbed = 0;
        for Rest { packets, is_finished, .. } in all {
            let count = packets.len();
            match self.open(lane) {
                None => {
                    lost(packets);
                    continue;
                }
                Some(job) if is_finished => self.finish(Job { packets, ..job }),
                Some(job) => self.offer(Job { packets, ..job }),
            }
            absorbed += count;
        }
        absorbed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::Pool;

    /// While a worker pulls, another one gets nothing: it would count what the first has taken as its own.
    #[test]
    fn one_worker_pulls_at_a_time() {
        let (window, mut pool) = (Window::new(1, 2), Pool::new());
        let mut batch = pool.batch();
        batch.extend(pool.packet(b"one"));
        assert!(window.enter(0, &mut batch));
        window.finish(window.begin().expect("a job"));
        window.is_pulled.store(true, Relaxed);
        assert!(window.is_ready() && !window.pull(&mut batch, 32) && batch.is_empty());
        window.is_pulled.store(false, Relaxed);
        assert!(window.pull(&mut batch, 32) && batch.len() == 1);
        pool.recycle(batch);
    }
}
