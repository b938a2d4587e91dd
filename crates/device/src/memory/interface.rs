//! Interfaces, how they are made, and the registry that finds them by name.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crossbeam_utils::CachePadded;

use super::counters::{Counters, Stats};
use super::feeder::Feeder;
use super::ring::FrameRing;
use crate::frames::FrameSet;

/// Where the frames of a receive queue come from.
#[derive(Debug, Clone)]
pub enum Feed {
    /// A set of frames, over and over.
    Frames {
        /// The frames.
        set: Arc<FrameSet>,
        /// Index of the first frame handed out; taken modulo the number of frames.
        start: usize,
        /// Frames handed out before the queue runs dry; `None` for no end.
        limit: Option<u64>,
    },
    /// Frames that are put in with [`Interface::inject`].
    Ring {
        /// Most frames that wait.
        capacity: usize,
    },
}

/// How every k-th transmitted frame is copied aside for a checker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TapConfig {
    /// The k; 1 samples everything, 0 counts as 1. Counted per queue. A number without common divisors with the
    /// length of the frame set samples all frames in turn.
    pub every: u32,
    /// Most samples that wait for [`Interface::drain_tap`].
    pub capacity: usize,
}

/// What an interface consists of.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// Its receive queues.
    pub rx: Vec<Feed>,
    /// Number of its transmit queues.
    pub tx_queues: usize,
    /// Sampling of what is transmitted.
    pub tap: Option<TapConfig>,
}

impl Config {
    /// `queues` queues each way; the receive queues repeat `set` for ever, each starting at its share of it.
    pub fn looped(set: &Arc<FrameSet>, queues: usize) -> Config {
        let start = |queue| set.len() * queue / queues;
        let feed = |queue| Feed::Frames { set: Arc::clone(set), start: start(queue), limit: None };
        Config { rx: (0..queues).map(feed).collect(), tx_queues: queues, tap: None }
    }

    /// `queues` queues each way; each receive queue holds up to `capacity` injected frames.
    pub fn rings(queues: usize, capacity: usize) -> Config {
        Config { rx: vec![Feed::Ring { capacity }; queues], tx_queues: queues, tap: None }
    }
}

/// An interface in memory.
#[derive(Debug)]
pub struct Interface {
    name: String,
    pub(super) rx: Box<[RxSlot]>,
    pub(super) tx: Box<[TxSlot]>,
    pub(super) tap: Option<Tap>,
    /// Whether it has vanished.
    gone: AtomicBool,
}

/// A receive queue that waits for a worker, and what stays behind when one takes it.
#[derive(Debug)]
pub(super) struct RxSlot {
    pub(super) counters: CachePadded<Counters>,
    ring: Option<Arc<FrameRing>>,
    /// Empty while a worker owns the queue. Not on the packet path.
    pub(super) waiting: Mutex<Option<Feeder>>,
}

#[derive(Debug)]
pub(super) struct TxSlot {
    pub(super) counters: CachePadded<Counters>,
    /// Receive ring of the peer.
    pub(super) peer: Option<Arc<FrameRing>>,
    /// Frames until the next sample; empty while a worker owns the queue.
    pub(super) waiting: Mutex<Option<u32>>,
}

#[derive(Debug)]
pub(super) struct Tap {
    pub(super) every: u32,
    pub(super) ring: FrameRing,
}

/// Why a frame could not be injected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InjectError {
    /// The interface has no receive queue of this number.
    NoSuchQueue,
    /// The queue repeats a set of frames.
    NotARing,
    /// The queue's ring is full.
    Full,
    /// The interface has vanished.
    Gone,
}

impl Interface {
    /// Makes an interface.
    pub fn new(name: &str, config: Config) -> Arc<Interface> {
        let rx = config.rx.into_iter().map(RxSlot::new).collect();
        let first = config.tap.map_or(1, |tap| tap.every.max(1));
        let tx = (0..config.tx_queues).map(|_| TxSlot::new(first, None)).collect();
        let tap = config.tap.map(|tap| Tap { every: tap.every.max(1), ring: FrameRing::new(tap.capacity) });
        Arc::new(Interface { name: name.to_owned(), rx, tx, tap, gone: AtomicBool::new(false) })
    }

    /// Makes two interfaces back to back: what is sent on queue i of one arrives on queue i of the other, through a
    /// ring of `capacity` frames. Frames that find it full are dropped and counted by the sender.
    pub fn pair(names: [&str; 2], queues: usize, capacity: usize) -> [Arc<Interface>; 2] {
        let rings = || -> Vec<_> { (0..queues).map(|_| Arc::new(FrameRing::new(capacity))).collect() };
        let (first, second) = (rings(), rings());
        let make = |name: &str, own: &[Arc<FrameRing>], peers: &[Arc<FrameRing>]| {
            let rx = own.iter().map(|ring| RxSlot::with_ring(Arc::clone(ring))).collect();
            let tx = peers.iter().map(|ring| TxSlot::new(1, Some(Arc::clone(ring)))).collect();
            Arc::new(Interface { name: name.to_owned(), rx, tx, tap: None, gone: AtomicBool::new(false) })
        };
        [make(names[0], &first, &second), make(names[1], &second, &first)]
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of receive queues.
    pub fn rx_queues(&self) -> usize {
        self.rx.len()
    }

    /// Number of transmit queues.
    pub fn tx_queues(&self) -> usize {
        self.tx.len()
    }

    /// Puts a copy of `frame` where the owner of receive queue `queue` will find it. From any thread.
    ///
    /// # Errors
    /// See [`InjectError`].
    pub fn inject(&self, queue: usize, frame: &[u8]) -> Result<(), InjectError> {
        let slot = self.rx.get(queue).ok_or(InjectError::NoSuchQueue)?;
        let ring = slot.ring.as_ref().ok_or(InjectError::NotARing)?;
        if self.is_gone() {
            return Err(InjectError::Gone);
        }
        if ring.push(frame) { Ok(()) } else { Err(InjectError::Full) }
    }

    /// The interface vanishes, as one of the kernel's does whose card is pulled out, or returns. While it is gone nothing arrives and
    /// nothing can be sent. Frames that wait in its receive rings go with it: they are shown to `f`. From any thread.
    pub fn set_gone(&self, gone: bool, mut f: impl FnMut(&[u8])) {
        self.gone.store(gone, Relaxed);
        if gone {
            self.rx
                .iter()
                .filter_map(|slot| slot.ring.as_ref())
                .for_each(|ring| while ring.pop(&mut f).is_some() {});
        }
    }

    /// Whether it has vanished.
    pub fn is_gone(&self) -> bool {
        self.gone.load(Relaxed)
    }

    /// Shows up to `count` samples of the tap to `f`, oldest first, and removes them; returns how many there were.
    /// From any thread; 0 for an interface without a tap.
    pub fn drain_tap(&self, count: usize, mut f: impl FnMut(&[u8])) -> usize {
        let Some(tap) = &self.tap else { return 0 };
        (0..count).map_while(|_| tap.ring.pop(&mut f)).count()
    }

    /// What has been received on all queues.
    pub fn rx_stats(&self) -> Stats {
        self.rx.iter().map(|slot| slot.counters.stats()).fold(Stats::default(), |sum, stats| sum + stats)
    }

    /// What has been sent on all queues.
    pub fn tx_stats(&self) -> Stats {
        self.tx.iter().map(|slot| slot.counters.stats()).fold(Stats::default(), |sum, stats| sum + stats)
    }

    /// What has been sent on one queue, `None` if there is none of this number.
    pub fn tx_queue_stats(&self, queue: usize) -> Option<Stats> {
        self.tx.get(queue).map(|slot| slot.counters.stats())
    }

    /// A queue handle exists for existing queues only, so the index is good.
    pub(super) fn rx_slot(&self, queue: usize) -> &RxSlot {
        &self.rx[queue]
    }

    /// As [`Interface::rx_slot`].
    pub(super) fn tx_slot(&self, queue: usize) -> &TxSlot {
        &self.tx[queue]
    }
}

impl RxSlot {
    fn new(feed: Feed) -> RxSlot {
        match feed {
            Feed::Ring { capacity } => RxSlot::with_ring(Arc::new(FrameRing::new(capacity))),
            Feed::Frames { set, start, limit } => RxSlot {
                counters: CachePadded::default(),
                ring: None,
                waiting: Mutex::new(Some(Feeder::frames(set, start, limit))),
            },
        }
    }

    fn with_ring(ring: Arc<FrameRing>) -> RxSlot {
        RxSlot {
            counters: CachePadded::default(),
            ring: Some(Arc::clone(&ring)),
            waiting: Mutex::new(Some(Feeder::Ring(ring))),
        }
    }
}

impl TxSlot {
    fn new(until_sample: u32, peer: Option<Arc<FrameRing>>) -> TxSlot {
        TxSlot { counters: CachePadded::default(), peer, waiting: Mutex::new(Some(until_sample)) }
    }
}

/// The interfaces of a router, by name. A clone has the same ones.
#[derive(Clone, Debug, Default)]
pub struct Interfaces {
    by_name: Arc<Mutex<BTreeMap<String, Arc<Interface>>>>,
}

/// There is an interface of this name already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameTaken(
    /// The name.
    pub String,
);

impl Interfaces {
    /// No interfaces.
    pub fn new() -> Interfaces {
        Interfaces::default()
    }

    /// Adds an interface under its name.
    ///
    /// # Errors
    /// [`NameTaken`]; the interface that has the name stays.
    pub fn add(&self, interface: Arc<Interface>) -> Result<(), NameTaken> {
        match lock(&self.by_name).entry(interface.name().to_owned()) {
            Entry::Occupied(taken) => Err(NameTaken(taken.key().clone())),
            Entry::Vacant(free) => {
                free.insert(interface);
                Ok(())
            }
        }
    }

    /// Puts an interface in the place of one that has vanished and has its name, as the kernel does when a card is plugged in again: under
    /// another number, with other queues. Elements of a router that runs look for it here.
    ///
    /// # Errors
    /// [`NameTaken`]: that interface has not vanished.
    pub fn succeed(&self, interface: Arc<Interface>) -> Result<(), NameTaken> {
        let mut by_name = lock(&self.by_name);
        if by_name.get(interface.name()).is_some_and(|old| !old.is_gone()) {
            return Err(NameTaken(interface.name().to_owned()));
        }
        by_name.insert(interface.name().to_owned(), interface);
        Ok(())
    }

    /// The interface of this name.
    pub fn get(&self, name: &str) -> Option<Arc<Interface>> {
        lock(&self.by_name).get(name).cloned()
    }

    /// All interfaces, ordered by name.
    pub fn all(&self) -> Vec<Arc<Interface>> {
        lock(&self.by_name).values().cloned().collect()
    }
}

/// What the locks here protect is whole between any two statements, so a panic elsewhere does not spoil it.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Display for InjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            InjectError::NoSuchQueue => "the interface has no such receive queue",
            InjectError::NotARing => "the receive queue repeats a set of frames and takes no others",
            InjectError::Full => "the receive queue is full",
            InjectError::Gone => "the interface is gone",
        })
    }
}

impl std::error::Error for InjectError {}

impl fmt::Display for NameTaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is an interface '{}' already", self.0)
    }
}

impl std::error::Error for NameTaken {}
