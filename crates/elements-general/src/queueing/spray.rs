//! Spreads packets of one flow over workers, and puts them back in order.
//!
//! ```click
//! Spray([CAPACITY])
//! ```
//!
//! Packets that enter at input 0 leave, batch by batch, at output 1 on whichever worker is free. What that output leads to is the
//! work, and has an instance on each worker. It ends at input 1. Output 0 gives what came back, in the order in which it had entered: so
//! several workers share the work of a flow that is too much for one, and no packet of it overtakes another.
//!
//! Nothing is numbered, and nothing waits for what the work has dropped: a batch is finished when its worker is done with it. One of which work
//! has made more packets, fragments for instance, leaves with all of them. Elements that keep packets for later (Queue, ARPQuerier) do not
//! belong into the work: what arrives at input 1 while its worker has no batch is dropped (`came late`).
//!
//! Packets that enter on one worker are in order among themselves; each such worker has room for CAPACITY batches. If all are on their way,
//! sources that can wait do so, and packets that come all the same are dropped. Output 0 should be pulled by one task; StaticThreadSched
//! says on which worker.
//!
//! A worker that brings packets leaves the work to others as long as they keep up. So the work of a flow with little traffic stays where it comes
//! in, and a flood is shared by all. Measured, two workers do more than one from about 70 ns of work a packet
//! on; below it, the packets' way to another core's cache costs more.
//!
//! ESPEncap and IPsec number packets when they are worked on, batch by batch, so that up to CAPACITY batches may be out of the order of
//! these numbers: give the receiver a replay window of as many packets.
//!
//! Ports: 2 inputs, 2 outputs. Processing: push inputs, pull output 0, push output 1. Workers: shared. Not in Click.
//!
//! # Arguments
//! - `CAPACITY` (integer, default 8 for each worker): batches that can be on their way of those that one worker brings, at most 4,096; the next
//!   power of two.
//!
//! # Handlers
//! - `length` (read): packets that wait for a worker, or for others before them.
//! - `drops` (read): packets for which there was no room.
//! - `shares` (read): a line for each worker, with its number and the packets that it has worked on.
//!
//! # Example
//! ```click
//! InfiniteSource(DATA \<45>) -> s :: Spray;
//! s[1] -> ESPEncap(0x1001, KEYFILE there.key) -> [1]s;
//! s -> out :: Unqueue(32) -> Discard;
//! StaticThreadSched(out 1)
//! ```
//!
//! # See also
//! Queue, Pipeliner, RoundRobinSwitch, VLBNode

mod state;
mod window;

use super::queue::SLEEPINESS;
use packet::{BATCH_MAX, Batch};
use router::{
    Activity, BadState, Class, Config, ConfigError, Cx, Element, Handlers, Merge, Pull, Residency,
    StateReader, StateWriter,
};
use std::any::Any;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU64, fence};
use std::sync::{Arc, Mutex, PoisonError};
use window::{Job, Rest, Window};

/// The class.
pub(crate) const CLASS: Class = Class::new("Spray", create)
    .ports("2/2")
    .processing("hh/lh")
    .flow("xy/yx")
    .residency(Residency::Shared)
    .activity(Activity::PerWorker)
    .hands_over()
    .holds("packets on their way through the work")
    .doc(router::manual!("spray.rs"));

const MOST_BATCHES: u32 = 4_096;
/// What is on its way by default. More would keep no worker busier, and more packets would go round than caches hold.
const BATCHES_A_WORKER: u32 = 8;
/// The way in order, and the one to the work.
const ORDERED: usize = 0;
const WORK: usize = 1;
/// Looks in vain before a worker rests: to be woken takes longer than some of them.
const PATIENCE: u32 = 4_096;
/// A worker that always found a job so many times has more than it can do.
const BUSY: u32 = 16;

/// What one worker has of the element; the others look at it.
#[repr(align(128))]
struct Place {
    worker: usize,
    /// Whether its task has to be woken for a job.
    rests: AtomicBool,
    /// Whether another process has left batches that are to be taken in here, before anything else.
    inherits: AtomicBool,
    /// Whether pullers have to be woken for packets, and sources for room.
    pullers: AtomicBool,
    sources: AtomicBool,
    /// Packets that this worker has taken in, begun to work on, finished, and had leave.
    entered: AtomicU64,
    begun: AtomicU64,
    finished: AtomicU64,
    left: AtomicU64,
    drops: AtomicU64,
}

/// The part that instances share.
struct Common {
    window: Window,
    places: Box<[Place]>,
    /// What came from the configuration or the process before, until the instances have taken it in: with workers' numbers in the place of lanes.
    former: Mutex<Vec<Rest>>,
}

struct Spray {
    common: Arc<Common>,
    /// Which of the workers that have an instance this is one for.
    place: usize,
    /// The batch that is worked on here.
    job: Option<Job>,
    /// Whether packets came in since the task ran.
    brings: bool,
    /// And whether since it rested.
    has_brought: bool,
    /// Whether a pull has got all that it asked for since the task ran.
    is_pulled: bool,
    /// Looks for jobs, and pulls, that were in vain.
    looks_in_vain: u32,
    pulls_in_vain: u8,
    /// Jobs since the last look in vain.
    jobs_in_row: u32,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let workers = config.workers().to_vec();
    let mut capacity = (workers.len() as u32).saturating_mul(BATCHES_A_WORKER).min(MOST_BATCHES);
    config.args().positional("CAPACITY", &mut capacity).finish()?;
    if !(1..=MOST_BATCHES).contains(&capacity) {
        return Err(format!("CAPACITY: from 1 to {MOST_BATCHES}").into());
    }
    let common = config.shared(|| {
        Ok(Common {
            window: Window::new(workers.len(), capacity.next_power_of_two() as usize),
            places: workers.iter().map(|&worker| Place::new(worker)).collect(),
            former: Mutex::default(),
        })
    })?;
    let place = workers.iter().position(|&worker| worker == config.worker()).unwrap_or(0);
    Ok(Box::new(Spray {
        common,
        place,
        job: None,
        brings: false,
        has_brought: false,
        is_pulled: false,
        looks_in_vain: 0,
        pulls_in_vain: 0,
        jobs_in_row: 0,
    }))
}

impl Place {
    fn new(worker: usize) -> Place {
        let [entered, begun, finished, left, drops] = Default::default();
        Place {
            worker,
            rests: AtomicBool::new(true),
            inherits: AtomicBool::new(false),
            pullers: AtomicBool::new(false),
            sources: AtomicBool::new(false),
            entered,
            begun,
            finished,
            left,
            drops,
        }
    }
}

/// Counts something that no other worker counts.
#[inline]
fn add(count: &AtomicU64, more: usize) {
    count.store(count.load(Relaxed) + more as u64, Relaxed);
}

/// Whether one who waits is to be woken now, by this worker.
#[inline]
fn is_to_wake(waits: &AtomicBool) -> bool {
    waits.load(Relaxed) && waits.swap(false, Relaxed)
}

impl Common {
    /// The place that goes on with what came in on a worker: its own, or another one if it has none any more.
    fn heir(&self, worker: usize) -> usize {
        let own = self.places.iter().position(|place| place.worker == worker);
        own.unwrap_or(worker % self.places.len())
    }

    /// Packets that no worker has in hand.
    fn length(&self) -> usize {
        let sum = |of: fn(&Place) -> &AtomicU64| -> u64 {
            self.places.iter().map(|place| of(place).load(Relaxed)).sum()
        };
        // What is taken away first: workers go on meanwhile.
        let away = sum(|place| &place.begun) + sum(|place| &place.left);
        (sum(|place| &place.entered) + sum(|place| &place.finished)).saturating_sub(away) as usize
    }
}

impl Spray {
    #[inline]
    fn here(&self) -> &Place {
        &self.common.places[self.place]
    }

    fn others(&self) -> impl Iterator<Item = &Place> {
        let here = self.place;
        self.common.places.iter().enumerate().filter(move |(place, _)| *place != here).map(|(_, place)| place)
    }

    /// Wakes another worker, if one rests.
    #[inline]
    fn wake_another(&self, cx: &mut Cx<'_>) {
        if let Some(other) = self.others().find(|other| is_to_wake(&other.rests)) {
            cx.tasks().schedule_on(other.worker);
        }
    }

    /// A batch has come in: this worker looks at it, and another one if it is not the only one.
    #[inline]
    fn call_for_work(&mut self, cx: &mut Cx<'_>) {
        (self.brings, self.has_brought) = (true, true);
        // Pairs with the fence of `rest`: the task sees the job, or this worker sees that it rests.
        fence(SeqCst);
        if is_to_wake(&self.here().rests) {
            cx.tasks().schedule();
        }
        if self.common.window.waiting() > 1 {
            self.wake_another(cx);
        }
    }

    /// There is no job: the task rests. Where others bring packets, it looks for some time before, since to be woken takes longer; this worker
    /// itself wakes it for nothing.
    fn rest(&mut self, cx: &mut Cx<'_>) {
        self.jobs_in_row = 0;
        self.looks_in_vain += 1;
        if self.looks_in_vain < PATIENCE && !self.has_brought {
            return cx.tasks().schedule();
        }
        (self.looks_in_vain, self.has_brought) = (0, false);
        self.here().rests.store(true, Relaxed);
        fence(SeqCst);
        if self.common.window.waiting() > 0 && is_to_wake(&self.here().rests) {
            cx.tasks().schedule();
        }
    }

    /// All that followed from the batch has happened, since the task runs again: what is left of it may leave.
    #[inline]
    fn finish(&mut self, cx: &mut Cx<'_>) {
        let Some(job) = self.job.take() else { return };
        add(&self.here().finished, job.packets.len());
        self.common.window.finish(job);
        self.offer(cx);
    }

    /// Wakes pullers, here and elsewhere, if there is something for them.
    #[inline]
    fn offer(&self, cx: &mut Cx<'_>) {
        // Pairs with the fence of `fail`: the puller sees the batch, or this worker sees that it sleeps, and what has left.
        fence(SeqCst);
        if !self.common.window.is_ready() {
            return;
        }
        for place in self.common.places.iter().filter(|place| is_to_wake(&place.pullers)) {
            if place.worker == cx.worker() {
                cx.signals().set(true);
            } else {
                cx.signals().activate_on(place.worker);
            }
        }
    }

    /// A pull got less than it could take: sends pullers to sleep, if that was not the first.
    #[inline]
    fn fail(&mut self, cx: &mut Cx<'_>) {
        if self.pulls_in_vain < SLEEPINESS {
            self.pulls_in_vain += 1;
            return;
        }
        self.here().pullers.store(true, Relaxed);
        fence(SeqCst);
        if self.common.window.is_ready() {
            self.here().pullers.store(false, Relaxed);
            return;
        }
        cx.signals().set(false);
    }

    /// Tells sources on this worker how much room there is. They wait from where a quarter is left, since a burst may come packet by packet,
    /// until half is free.
    #[inline]
    fn tell_room(&mut self, cx: &mut Cx<'_>) {
        let room = self.common.window.room(self.place);
        if room >= (self.common.window.places() / 4).max(1) {
            return cx.signals().set_room(room);
        }
        cx.signals().set_room(0);
        self.here().sources.store(true, Relaxed);
        fence(SeqCst); // pairs with that of `admit`
        if self.has_much_room(self.place) && is_to_wake(&self.here().sources) {
            cx.signals().set_room(self.common.window.room(self.place));
        }
    }

    #[inline]
    fn has_much_room(&self, place: usize) -> bool {
        let window = &self.common.window;
        window.room(place) >= (window.places() / 2).max(1)
    }

    /// Batches have left: lets sources run again, here and elsewhere.
    #[inline]
    fn admit(&mut self, cx: &mut Cx<'_>) {
        fence(SeqCst);
        for (at, place) in self.common.places.iter().enumerate() {
            if place.sources.load(Relaxed) && self.has_much_room(at) && is_to_wake(&place.sources) {
                match place.worker {
                    here if here == cx.worker() => cx.signals().set_room(self.common.window.room(at)),
                    elsewhere => cx.tasks().schedule_on(elsewhere),
                }
            }
        }
    }

    /// Whether other workers take what waits soon enough. One that has more than it can do has as many batches wait as there are others: those
    /// that rest find some when they have woken up.
    #[inline]
    fn others_keep_up(&self) -> bool {
        let is_busy = self.jobs_in_row >= BUSY;
        let others = self.others().filter(|other| is_busy || !other.rests.load(Relaxed)).count();
        self.common.window.waiting() <= others
    }

    /// Takes in the batches of this place's lane that others had, and of lanes that there are no more.
    #[cold]
    fn absorb(&mut self, cx: &mut Cx<'_>) {
        self.here().inherits.store(false, Relaxed);
        let mut former = self.common.former.lock().unwrap_or_else(PoisonError::into_inner);
        let (own, others) = former.drain(..).partition(|rest| self.common.heir(rest.at.0) == self.place);
        *former = others;
        drop(former);
        let drops = &self.common.places[self.place].drops;
        let entered = self.common.window.absorb(self.place, own, |mut packets| {
            add(drops, packets.len());
            while let Some(packet) = packets.pop_front() {
                cx.drop(packet, "no room");
            }
        });
        add(&self.here().entered, entered);
        self.call_for_work(cx);
        self.offer(cx);
        self.tell_room(cx);
    }

    fn enter(&mut self, cx: &mut Cx<'_>, mut batch: Batch) {
        if self.here().inherits.load(Relaxed) {
            self.absorb(cx);
        }
        let packets = batch.len();
        if packets == 0 {
            return cx.consume(batch);
        }
        if self.common.window.enter(self.place, &mut batch) {
            add(&self.here().entered, packets);
            cx.consume(batch);
            self.call_for_work(cx);
        } else {
            add(&self.here().drops, packets);
            cx.drop_batch(batch, "no room");
        }
        self.tell_room(cx);
    }
}

impl Element for Spray {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.signals().provide();
        cx.signals().provide_room();
        cx.signals().set_room(self.common.window.room(self.place));
        cx.tasks().unschedule(); // there is a task from now on, for others to wake
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, port: usize, mut batch: Batch) {
        match &mut self.job {
            _ if port == ORDERED => self.enter(cx, batch),
            Some(job) => {
                job.packets.append(&mut batch);
                cx.consume(batch);
            }
            None => cx.drop_batch(batch, "came late"),
        }
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        if self.here().inherits.load(Relaxed) {
            self.absorb(cx);
        }
        self.finish(cx);
        if !self.here().sources.load(Relaxed) {
            // A puller elsewhere may have made room.
            cx.signals().set_room(self.common.window.room(self.place));
        }
        // As much has to leave, and to come in, as all workers together do: on its worker that comes before a share of the work.
        let is_pulled = std::mem::take(&mut self.is_pulled) && self.common.window.is_ready();
        if is_pulled || std::mem::take(&mut self.brings) && self.others_keep_up() {
            return cx.tasks().schedule();
        }
        let Some(mut job) = self.common.window.begin() else { return self.rest(cx) };
        self.looks_in_vain = 0;
        self.jobs_in_row = self.jobs_in_row.saturating_add(1);
        add(&self.here().begun, job.packets.len());
        let mut batch = cx.batch();
        job.packets.take_into(&mut batch, BATCH_MAX);
        self.job = Some(job);
        if self.jobs_in_row >= BUSY || self.common.window.waiting() > 0 {
            self.wake_another(cx);
        }
        cx.emit(WORK, batch);
        cx.tasks().schedule();
    }

    fn pull(&mut self, cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        let mut batch = cx.batch();
        if self.common.window.pull(&mut batch, want.min(BATCH_MAX)) {
            self.admit(cx);
        }
        add(&self.here().left, batch.len());
        if batch.len() < want {
            self.fail(cx);
        } else {
            (self.pulls_in_vain, self.is_pulled) = (0, true);
        }
        Pull::Give(batch)
    }

    fn held(&self) -> usize {
        self.job.as_ref().map_or(0, |job| job.packets.len())
    }

    fn held_together(&self) -> usize {
        let former = self.common.former.lock().unwrap_or_else(PoisonError::into_inner);
        self.common.length() + former.iter().map(|rest| rest.packets.len()).sum::<usize>()
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        // Between turns the work on it is done. What others have in hand they give themselves.
        if let Some(job) = self.job.take() {
            add(&self.here().finished, job.packets.len());
            self.common.window.finish(job);
        }
        let mut all = self.common.window.take_all();
        for rest in &mut all {
            add(if rest.is_finished { &self.here().left } else { &self.here().begun }, rest.packets.len());
            rest.at.0 = self.common.places[rest.at.0].worker;
        }
        // What was left to this one, and no instance has taken in so far.
        all.append(&mut self.common.former.lock().unwrap_or_else(PoisonError::into_inner));
        Some(Box::new(all))
    }

    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(all) = state.downcast::<Vec<Rest>>() {
            self.common.former.lock().unwrap_or_else(PoisonError::into_inner).extend(*all);
        }
    }

    /// By now all instances have given what they had in hand.
    fn taken_over(&mut self, cx: &mut Cx<'_>) {
        self.absorb(cx);
    }

    /// What is in the window, which the first instance writes, and what each worker has in hand: between turns the work on that is done.
    fn write_state(&mut self, _cx: &mut Cx<'_>, out: &mut StateWriter) -> bool {
        let window = &self.common.window;
        let mut all: Vec<Rest> = self.job.take().map(Rest::finished).into_iter().collect();
        let in_hand = all.len();
        if self.place == 0 {
            all.extend(window.take_all());
        }
        let lanes = all.len();
        all.iter_mut().for_each(|rest| rest.at.0 = self.common.places[rest.at.0].worker);
        let mut former = self.common.former.lock().unwrap_or_else(PoisonError::into_inner);
        if self.place == 0 {
            all.append(&mut former);
        }
        state::write(out, &mut all);
        // If the other process cannot begin, this one goes on.
        former.extend(all.drain(lanes..));
        drop(former);
        all.iter_mut().for_each(|rest| rest.at.0 = self.common.heir(rest.at.0));
        let rest = all.split_off(in_hand);
        self.job = all.pop().map(Rest::into_job);
        window.put_back(rest);
        true
    }

    /// All instances read before anything runs, and take in what is theirs when they run first: the batches of a lane come from several.
    fn read_state(&mut self, cx: &mut Cx<'_>, state: &mut StateReader) -> Result<(), BadState> {
        let all = state::read(state, cx.pool())?;
        for place in all.iter().map(|rest| &self.common.places[self.common.heir(rest.at.0)]) {
            place.inherits.store(true, Relaxed);
            cx.tasks().schedule_on(place.worker);
        }
        self.common.former.lock().unwrap_or_else(PoisonError::into_inner).extend(all);
        Ok(())
    }

    fn handlers(&self, h: &mut Handlers) {
        type S = Spray;
        h.read("length", |e: &mut S, _| e.common.length()).merged(Merge::First);
        h.read("drops", |e: &mut S, _| e.here().drops.load(Relaxed)).merged(Merge::Sum);
        h.read("shares", |e: &mut S, _| {
            let line = |place: &Place| format!("{} {}\n", place.worker, place.begun.load(Relaxed));
            e.common.places.iter().map(line).collect::<String>()
        })
        .merged(Merge::First);
    }
}

#[cfg(test)]
mod tests;
