//! A FIFO queue.
//!
//! ```click
//! Queue([CAPACITY, BLOCKING, KEYWORDS])
//! ```
//!
//! Stores packets pushed to it until they are pulled. Packets that arrive while CAPACITY packets are stored leave by
//! output 1 if it is connected, and are dropped otherwise; the first one dropped is reported. Pullers downstream
//! sleep while the queue is empty; upstream sources that can wait (InfiniteSource) sleep while it is full.
//!
//! If pushers and pullers run on one worker, it is a simple queue. If packets cross workers, it is a lock-free ring
//! of fixed size: its CAPACITY can then be changed only up to its initial value or 1024, whichever is larger.
//!
//! ThreadSafeQueue, FullNoteQueue and MSQueue are other names for it. QuickNoteQueue puts pullers to sleep at the
//! first pull that gets fewer packets than requested. SimpleQueue and NotifierQueue do not stop sources while they
//! are full.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: push input, pull output 0, push output 1. Workers: shared.
//!
//! # Arguments
//! - `CAPACITY` (integer, default 1000): the maximum number of packets stored.
//! - `BLOCKING` (boolean, default false): FastClick's; whether upstream sources that can wait do so while the queue
//!   is full, also in SimpleQueue and NotifierQueue.
//! - `NOUSELESS` (boolean): FastClick's; accepted.
//!
//! # Handlers
//! - `length` (read): packets stored.
//! - `highwater_length` (read): the largest number of packets ever stored.
//! - `capacity` (read, write): the argument. When it shrinks, the newest packets are dropped.
//! - `drops` (read): packets that did not fit.
//! - `reset_counts` (write, button): sets `drops` to zero and `highwater_length` to `length`.
//! - `reset` (write, button): drops all packets, or sends them to output 1.
//!
//! # Example
//! ```click
//! InfiniteSource -> Queue(64) -> Unqueue -> Discard
//! ```
//!
//! # See also
//! FrontDropQueue, MixedQueue, Unqueue, RoundRobinSched, Shaper

use super::storage::{Common, Sleepers};
use crossbeam_queue::ArrayQueue;
use elements_shared::packet_state;
use packet::{Batch, Fifo, Packet};
use router::{
    BadState, Class, Config, ConfigError, Cx, Decision, Element, Flags, Handlers, Level, Look, Metric, Pull,
    Residency, StateReader, StateWriter, TableSize, Then,
};
use std::any::Any;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, fence};

static QUEUE_PACKETS: Metric = Metric::gauge("clique_queue_packets", "Packets that wait in the queue.");
static QUEUE_CAPACITY: Metric =
    Metric::gauge("clique_queue_capacity_packets", "Packets that have room in the queue.");
static QUEUE_HIGHWATER: Metric =
    Metric::gauge("clique_queue_highwater_packets", "Packets that waited in the queue at a time, at most.");
static QUEUE_DROPS: Metric =
    Metric::counter("clique_queue_dropped_packets_total", "Packets that had no room in the queue.");

/// The class.
pub(crate) const CLASS: Class = Class::new("Queue", create)
    .ports("1/1-2")
    .processing("h/lh")
    .residency(Residency::Shared)
    .live()
    .kinds(&["FullNoteQueue", "NotifierQueue", "SimpleQueue", "Queue", "Storage"])
    .holds("packets in the queue")
    .doc(router::manual!("queue.rs"));

/// Another name.
pub(crate) const SIMPLE: Class =
    Class { name: "SimpleQueue", create: create_plain, kinds: &["Queue", "Storage"], ..CLASS };

/// An old name.
pub(crate) const MS: Class = Class { name: "MSQueue", create: create_old, ..CLASS };

/// What queues are that tell pullers when they have something.
pub(super) const NOTIFYING: &[&str] = &["NotifierQueue", "SimpleQueue", "Queue", "Storage"];

/// Another name.
pub(crate) const NOTIFIER: Class =
    Class { name: "NotifierQueue", create: create_plain, kinds: NOTIFYING, ..CLASS };

/// With pullers that sleep at once.
pub(crate) const QUICK_NOTE: Class = Class { name: "QuickNoteQueue", create: create_quick, ..CLASS };

/// Where packets go in, and which ones go out when there is no room.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Discipline {
    /// In at the back; what comes when the queue is full does not get in.
    DropNew,
    /// In at the back; when the queue is full the packet at the front makes room.
    DropFront,
    /// As `DropNew`, but from input 1 in at the front; when the queue is full the packet at the back makes room.
    Mixed,
}

/// Pulls in vain after which pullers are told to sleep: a queue that is filled now and then wakes no puller needlessly.
pub(super) const SLEEPINESS: u8 = 9;
/// The form of what is left to another process.
const FORM: u8 = 1;
/// The least size of a ring, so that its capacity can be raised somewhat.
const LEAST_RING: usize = 1024;

struct Queue {
    common: Arc<Common>,
    local: Fifo,
    overflow_output: bool,
    in_vain: u8,
    /// Whether its pullers were told that there are packets, and not since then that there are none. Only a queue that one worker has for itself
    /// goes by it: with several, `Sleepers::pullers` says it for each.
    has_told: bool,
    /// Pulls in vain after which pullers sleep.
    sleepiness: u8,
    /// Whether sources upstream wait while the queue is full.
    holds_up: bool,
    discipline: Discipline,
    class: &'static str,
    /// The capacity if no argument says another.
    default_capacity: u32,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    create_with(config, Discipline::DropNew, SLEEPINESS, true)
}

fn create_old(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let queue = create(config)?;
    config.warn("MSQueue is deprecated, use ThreadSafeQueue instead");
    Ok(queue)
}

fn create_quick(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    create_with(config, Discipline::DropNew, 0, true)
}

fn create_plain(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    create_as(config, Discipline::DropNew)
}

/// A queue of any discipline for which sources do not wait.
pub(super) fn create_as(
    config: &mut Config<'_>,
    discipline: Discipline,
) -> Result<Box<dyn Element>, ConfigError> {
    create_with(config, discipline, SLEEPINESS, false)
}

fn create_with(
    config: &mut Config<'_>,
    discipline: Discipline,
    sleepiness: u8,
    holds_up: bool,
) -> Result<Box<dyn Element>, ConfigError> {
    create_sized(config, discipline, sleepiness, holds_up, 1000)
}

/// A queue with the capacity that its argument says, or this one.
pub(super) fn create_sized(
    config: &mut Config<'_>,
    discipline: Discipline,
    sleepiness: u8,
    holds_up: bool,
    default_capacity: u32,
) -> Result<Box<dyn Element>, ConfigError> {
    let mut capacity = default_capacity;
    let (mut blocking, mut useless) = (false, false);
    config
        .args()
        .positional("CAPACITY", &mut capacity)
        .positional("BLOCKING", &mut blocking)
        .keyword("NOUSELESS", &mut useless)
        .finish()?;
    let capacity = capacity as usize;
    let workers = config.workers().to_vec();
    let crosses = workers.len() > 1;
    if crosses && capacity > TableSize::MAX {
        return Err(format!("CAPACITY: out of range, bound {} between workers", TableSize::MAX).into());
    }
    let common = config.shared(|| {
        Ok(Common {
            ring: crosses.then(|| ArrayQueue::new(capacity.max(LEAST_RING))),
            capacity: AtomicUsize::new(capacity),
            length: AtomicUsize::new(0),
            highwater: AtomicUsize::new(0),
            drops: AtomicU64::new(0),
            workers: workers
                .iter()
                .map(|&worker| Sleepers {
                    worker,
                    pullers: AtomicBool::new(false),
                    sources: AtomicBool::new(false),
                })
                .collect(),
        })
    })?;
    let local = Fifo::with_capacity(if crosses { 0 } else { capacity.min(LEAST_RING) });
    let overflow_output = config.output_is_push(1);
    let class = config.class_of(config.index());
    Ok(Box::new(Queue {
        common,
        local,
        overflow_output,
        in_vain: 0,
        has_told: true,
        sleepiness,
        holds_up: holds_up || blocking,
        discipline,
        class,
        default_capacity,
    }))
}

/// Wakes pullers on this worker.
#[inline]
fn wake(cx: &mut Cx<'_>) {
    cx.signals().set(true);
}

impl Queue {
    fn len(&self) -> usize {
        self.common.ring.as_ref().map_or(self.local.len(), ArrayQueue::len)
    }

    /// Stores a packet that should fit; it comes back if others were faster.
    #[inline]
    fn store(&mut self, packet: Packet) -> Result<(), Packet> {
        match &self.common.ring {
            Some(ring) => ring.push(packet),
            None => {
                self.local.push_back(packet);
                Ok(())
            }
        }
    }

    #[inline]
    fn fetch(&mut self) -> Option<Packet> {
        match &self.common.ring {
            Some(ring) => ring.pop(),
            None => self.local.pop_front(),
        }
    }

    /// Moves up to `most` packets to an empty batch.
    #[inline]
    fn fetch_into(&mut self, batch: &mut Batch, most: usize) {
        if self.common.ring.is_none() {
            return self.local.take_into(batch, most);
        }
        while batch.len() < most
            && let Some(packet) = self.fetch()
        {
            batch.push(packet);
        }
    }

    /// Takes in what fits: the rest, in order, if there is one.
    #[inline]
    fn store_all(&mut self, cx: &mut Cx<'_>, mut batch: Batch) -> Option<Batch> {
        let room = self.room();
        let rest = if self.common.ring.is_none() && batch.len() <= room {
            self.local.append(&mut batch);
            None
        } else {
            Some(self.store_some(cx, &mut batch, room))
        };
        cx.consume(batch);
        self.note_length();
        rest.filter(|rest| !rest.is_empty())
    }

    /// Takes in packets of which each that finds the queue full displaces another: those displaced.
    fn displace_all(&mut self, cx: &mut Cx<'_>, mut batch: Batch) -> Option<Batch> {
        let mut rest = cx.batch();
        let front = self.discipline == Discipline::DropFront;
        batch.drain(|packet| {
            if self.is_full() {
                let displaced = if front { self.fetch() } else { self.local.pop_back() };
                if let Some(displaced) = displaced {
                    rest.push(displaced);
                }
            }
            if self.is_full() {
                rest.push(packet); // no packet ever fits
            } else if !front {
                self.local.push_front(packet);
            } else if let Err(packet) = self.store(packet) {
                rest.push(packet);
            }
        });
        cx.consume(batch);
        self.note_length();
        if rest.is_empty() {
            cx.consume(rest);
            return None;
        }
        Some(rest)
    }

    /// Says how many packets there are now, for who looks from outside.
    #[inline]
    fn publish_length(&self) {
        if self.common.ring.is_none() {
            self.common.length.store(self.local.len(), Relaxed);
        }
    }

    #[inline]
    fn note_length(&self) {
        self.publish_length();
        self.note_highwater(self.len());
    }

    /// Notes that there were so many packets.
    #[inline]
    fn note_highwater(&self, length: usize) {
        // Nearly always it was higher before: a load, and no exchange.
        if length > self.common.highwater.load(Relaxed) {
            self.common.highwater.fetch_max(length, Relaxed);
        }
    }

    /// Takes in the first `room` packets, or fewer if others are faster.
    fn store_some(&mut self, cx: &mut Cx<'_>, batch: &mut Batch, room: usize) -> Batch {
        let mut rest = cx.batch();
        let mut seen = 0;
        batch.drain(|packet| {
            seen += 1;
            if seen > room {
                rest.push(packet);
            } else if let Err(packet) = self.store(packet) {
                rest.push(packet);
            }
        });
        rest
    }

    /// Tells the user about the first overflow, and gets rid of packets that did not fit.
    #[cold]
    fn overflow(&mut self, cx: &mut Cx<'_>, rest: Batch) {
        let before = self.common.drops.fetch_add(rest.len() as u64, Relaxed);
        if before == 0 && self.common.capacity.load(Relaxed) > 0 {
            cx.say(Level::Warning, format_args!("{} :: {}: overflow", cx.name(), self.class));
        }
        self.expel(cx, rest, "queue full");
    }

    fn expel(&mut self, cx: &mut Cx<'_>, batch: Batch, reason: &'static str) {
        if self.overflow_output { cx.emit(1, batch) } else { cx.drop_batch(batch, reason) }
    }

    /// Wakes pullers on this worker, unless they were told already.
    #[inline]
    fn tell(&mut self, cx: &mut Cx<'_>) {
        if !self.has_told {
            self.has_told = true;
            wake(cx);
        }
    }

    /// Wakes pullers, here and elsewhere.
    #[inline]
    fn notify(&mut self, cx: &mut Cx<'_>) {
        if self.common.ring.is_none() {
            return self.tell(cx);
        }
        self.notify_all(cx);
    }

    #[inline(never)] // what one worker has for itself stays short
    fn notify_all(&self, cx: &mut Cx<'_>) {
        // Pairs with the fence of a puller that falls asleep: it sees our packets, or we see that it sleeps.
        fence(SeqCst);
        for sleepers in &self.common.workers {
            if sleepers.pullers.load(Relaxed) && sleepers.pullers.swap(false, Relaxed) {
                match sleepers.worker {
                    here if here == cx.worker() => wake(cx),
                    elsewhere => cx.signals().activate_on(elsewhere),
                }
            }
        }
    }

    /// Lets sources run again, here and elsewhere.
    #[inline]
    fn admit(&mut self, cx: &mut Cx<'_>) {
        self.publish_length();
        if self.common.ring.is_none() {
            return cx.signals().set_room(self.room());
        }
        self.admit_all(cx);
    }

    #[inline(never)] // what one worker has for itself stays short
    fn admit_all(&self, cx: &mut Cx<'_>) {
        fence(SeqCst); // pairs with that of `hold_up`
        for sleepers in &self.common.workers {
            if sleepers.sources.load(Relaxed) && sleepers.sources.swap(false, Relaxed) {
                match sleepers.worker {
                    here if here == cx.worker() => cx.signals().set_room(self.room()),
                    elsewhere => cx.tasks().schedule_on(elsewhere),
                }
            }
        }
    }

    /// For how many packets there is room.
    #[inline]
    fn room(&self) -> usize {
        self.common.capacity.load(Relaxed).saturating_sub(self.len())
    }

    fn is_full(&self) -> bool {
        self.room() == 0
    }

    /// The queue is full: sends sources to sleep.
    fn hold_up(&mut self, cx: &mut Cx<'_>) {
        cx.signals().set_room(0);
        if let Some(sleepers) = self.common.workers.iter().find(|sleepers| sleepers.worker == cx.worker())
            && self.common.ring.is_some()
        {
            sleepers.sources.store(true, Relaxed);
            fence(SeqCst);
            if !self.is_full() {
                sleepers.sources.store(false, Relaxed);
                cx.signals().set_room(self.room());
            }
        }
    }

    /// A pull was in vain: sends pullers to sleep, if that was not the first.
    fn fail(&mut self, cx: &mut Cx<'_>) {
        if self.in_vain < self.sleepiness {
            self.in_vain += 1;
            return;
        }
        let here = self.common.workers.iter().find(|sleepers| sleepers.worker == cx.worker());
        if let (Some(ring), Some(sleepers)) = (&self.common.ring, here) {
            sleepers.pullers.store(true, Relaxed);
            fence(SeqCst);
            if !ring.is_empty() {
                sleepers.pullers.store(false, Relaxed);
                return;
            }
        }
        self.has_told = false;
        cx.signals().set(false);
    }

    /// Leaves at most `keep` of these packets; returns those that have to go.
    fn split(&self, packets: &mut VecDeque<Packet>, keep: usize) -> VecDeque<Packet> {
        let keep = keep.min(packets.len());
        if self.discipline != Discipline::DropFront {
            return packets.split_off(keep);
        }
        let last = packets.split_off(packets.len() - keep);
        std::mem::replace(packets, last)
    }

    /// Sends packets away until at most `keep` are left: the last ones, or the first ones if those make room.
    fn shrink(&mut self, cx: &mut Cx<'_>, keep: usize) {
        let mut kept: VecDeque<Packet> = std::iter::from_fn(|| self.fetch()).collect();
        let surplus = self.split(&mut kept, keep);
        for packet in kept {
            // Others may have pushed meanwhile; then there is no room any more for the last of these.
            if let Err(packet) = self.store(packet) {
                cx.drop(packet, "queue full");
            }
        }
        for packet in surplus {
            cx.drop(packet, "queue shrank");
        }
    }
}

impl Queue {
    /// Gives the queue another capacity. Packets for which there is no room any more are dropped.
    fn resize(&mut self, cx: &mut Cx<'_>, capacity: usize) -> Result<(), String> {
        match &self.common.ring {
            Some(ring) if capacity > ring.capacity() => {
                return Err(format!("between workers, the capacity can be {} at most", ring.capacity()));
            }
            _ => self.common.capacity.store(capacity, Relaxed),
        }
        if self.len() > capacity {
            self.shrink(cx, capacity);
        }
        if !self.is_full() {
            self.admit(cx);
        }
        Ok(())
    }
}

impl Element for Queue {
    fn reconfigure(&mut self, cx: &mut Cx<'_>, config: &str) -> Option<Result<(), ConfigError>> {
        let mut capacity = self.default_capacity;
        let (mut blocking, mut useless) = (false, false);
        let read = router::arguments(cx, config)
            .positional("CAPACITY", &mut capacity)
            .positional("BLOCKING", &mut blocking)
            .keyword("NOUSELESS", &mut useless)
            .finish();
        Some(read.and_then(|()| self.resize(cx, capacity as usize).map_err(ConfigError::from)))
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.signals().provide();
        self.has_told = cx.signals().is_active();
        if self.holds_up {
            cx.signals().provide_room();
            cx.signals().set_room(self.room());
        }
        if self.common.ring.is_some() {
            cx.tasks().unschedule(); // there is a task from now on, for pullers elsewhere to wake
        }
        Ok(())
    }

    /// A puller on another worker made room; by now it may be filled again.
    fn run_task(&mut self, cx: &mut Cx<'_>) {
        if self.is_full() { self.hold_up(cx) } else { cx.signals().set_room(self.room()) }
    }

    fn push(&mut self, cx: &mut Cx<'_>, port: usize, batch: Batch) {
        let rest = match self.discipline {
            Discipline::DropFront => self.displace_all(cx, batch),
            Discipline::Mixed if port == 1 => self.displace_all(cx, batch),
            _ => self.store_all(cx, batch),
        };
        self.notify(cx);
        match self.room() {
            0 => self.hold_up(cx),
            room => cx.signals().set_room(room),
        }
        if let Some(rest) = rest {
            self.overflow(cx, rest);
        }
    }

    fn push_packet(&mut self, cx: &mut Cx<'_>, port: usize, packet: Packet) {
        let (length, capacity) = (self.local.len() + 1, self.common.capacity.load(Relaxed));
        if self.common.ring.is_some() || self.discipline != Discipline::DropNew || length > capacity {
            let batch = cx.pool().batch_of(packet);
            return self.push(cx, port, batch);
        }
        self.local.push_back(packet);
        self.common.length.store(length, Relaxed);
        self.note_highwater(length);
        self.tell(cx);
        cx.signals().set_room(capacity - length);
    }

    fn pull(&mut self, cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        if want == 1
            && let Some(packet) = self.fetch()
        {
            self.in_vain = 0;
            self.admit(cx);
            return Pull::Alone(packet);
        }
        let mut batch = cx.batch();
        self.fetch_into(&mut batch, want);
        if !batch.is_empty() {
            self.in_vain = 0;
            self.admit(cx);
        }
        if batch.len() < want {
            self.fail(cx);
        }
        Pull::Give(batch)
    }

    fn explain(&self, _look: &Look<'_>, _port: usize, packet: &mut Packet) -> Option<Decision> {
        let _ = packet;
        let (len, capacity) = (self.len(), self.common.capacity.load(Relaxed));
        let because = format!("{len} of {capacity} packets wait");
        if len < capacity || self.discipline != Discipline::DropNew {
            return Some(Decision::new(Then::Output(0), because));
        }
        let then = if self.overflow_output { Then::Output(1) } else { Then::Drop("queue full") };
        Some(Decision::new(then, because))
    }

    fn held(&self) -> usize {
        self.local.len()
    }

    fn held_together(&self) -> usize {
        self.common.ring.as_ref().map_or(0, ArrayQueue::len)
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(std::iter::from_fn(|| self.fetch()).collect::<VecDeque<Packet>>()))
    }

    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        let Ok(packets) = state.downcast::<VecDeque<Packet>>() else { return };
        let mut packets = *packets;
        let (old, capacity) = (packets.len(), self.common.capacity.load(Relaxed));
        if self.len() + old > capacity {
            let node = &cx.info().nodes[cx.index()];
            let context =
                format!("{}: While hot-swapping state into '{}':", node.landmark, node.declaration());
            cx.say(
                Level::Warning,
                format_args!(
                    "{context}\n  warning: some packets lost (old length {old}, new capacity {capacity})"
                ),
            );
        }
        let surplus = self.split(&mut packets, capacity.saturating_sub(self.len()));
        surplus.into_iter().for_each(|packet| cx.drop(packet, "queue full"));
        for packet in packets {
            if let Err(packet) = self.store(packet) {
                cx.drop(packet, "queue full");
            }
        }
        self.note_length();
        self.notify(cx);
    }

    /// The packets, in their order, and what is counted; of a ring that several workers share, the first one writes.
    fn write_state(&mut self, cx: &mut Cx<'_>, out: &mut StateWriter) -> bool {
        let workers = &cx.info().nodes[cx.index()].workers;
        if workers.first() != Some(&cx.worker()) {
            return false;
        }
        out.form(FORM);
        out.u64(self.common.capacity.load(Relaxed) as u64);
        out.u64(self.common.drops.load(Relaxed));
        out.u64(self.common.highwater.load(Relaxed) as u64);
        let packets: Vec<Packet> = std::iter::from_fn(|| self.fetch()).collect();
        out.u64(packets.len() as u64);
        for packet in packets {
            packet_state::write(out, &packet);
            // There is room: no other worker runs.
            if let Err(packet) = self.store(packet) {
                cx.drop(packet, "queue full");
            }
        }
        true
    }

    fn read_state(&mut self, cx: &mut Cx<'_>, state: &mut StateReader) -> Result<(), BadState> {
        state.form(FORM)?;
        let capacity = usize::try_from(state.u64()?).unwrap_or(usize::MAX);
        // A handler may have changed it.
        if capacity != self.common.capacity.load(Relaxed) && self.resize(cx, capacity).is_err() {
            return Err(BadState("its capacity cannot be what it was"));
        }
        self.common.drops.fetch_add(state.u64()?, Relaxed);
        let highwater = usize::try_from(state.u64()?).unwrap_or(0);
        for _ in 0..state.u64()? {
            let Some(packet) = packet_state::read(state, cx.pool())? else { continue };
            if self.is_full() {
                cx.drop(packet, "queue full");
            } else if let Err(packet) = self.store(packet) {
                cx.drop(packet, "queue full");
            }
        }
        self.note_length();
        self.note_highwater(highwater);
        self.notify(cx);
        Ok(())
    }

    fn handlers(&self, h: &mut Handlers) {
        type Q = Queue;
        h.read("length", |e: &mut Q, _| e.len()).measures(&QUEUE_PACKETS);
        h.read("highwater_length", |e: &mut Q, _| e.common.highwater.load(Relaxed))
            .measures(&QUEUE_HIGHWATER);
        h.read("capacity", |e: &mut Q, _| e.common.capacity.load(Relaxed))
            .measures(&QUEUE_CAPACITY)
            .flagged(Flags::CALM);
        h.read("drops", |e: &mut Q, _| e.common.drops.load(Relaxed)).measures(&QUEUE_DROPS);
        h.write("capacity", |e: &mut Q, cx, text| {
            let capacity = router::keyword_value::<u32>(cx, "CAPACITY", text)?;
            e.resize(cx, capacity as usize)
        });
        h.write("reset_counts", |e: &mut Q, _, _| {
            e.common.drops.store(0, Relaxed);
            e.common.highwater.store(e.len(), Relaxed);
            Ok(())
        })
        .as_button();
        h.write("reset", |e: &mut Q, cx, _| {
            loop {
                let mut batch = cx.batch();
                batch.extend(std::iter::from_fn(|| e.fetch()).take(packet::BATCH_MAX));
                if batch.is_empty() {
                    cx.consume(batch);
                    e.admit(cx);
                    return Ok(());
                }
                e.expel(cx, batch, "queue reset");
            }
        })
        .as_button();
    }
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
