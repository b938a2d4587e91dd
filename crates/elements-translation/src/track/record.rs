//! Records of connections, and the slab that they live in.
//!
//! A record is two cache lines of atomics; the second one is for TCP's numbers. Who makes a connection fills in a record that no reader
//! knows, then publishes its number in the index. A removed record is used again only when a grace period has passed.

use super::sight::Key;
use super::state::Progress;
use super::window::Side;
use packet::Roomy;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};

/// The kind of a record without a connection: no key has it.
const DEAD: u32 = u32::MAX;
/// No record.
pub(super) const NONE: u32 = u32::MAX;

/// A packet's time is noted if it is this much later than the last one that was: so the cache line stays shared between the workers of
/// both directions.
const STALE_MS: u64 = 64;

/// One connection.
#[repr(align(128))]
pub(super) struct Record {
    addresses: [AtomicU64; 4],
    ports: AtomicU32,
    kind: AtomicU32,
    last_ms: AtomicU64,
    begun_ms: AtomicU64,
    progress: AtomicU32,
    pub(super) lane: AtomicU8,
    /// The lane's list of those that were never assured; changed by who holds the lane.
    pub(super) next: AtomicU32,
    pub(super) previous: AtomicU32,
    /// Numbers of the key's lower end, and of the higher one.
    pub(super) sides: [Side; 2],
}

const _: () = assert!(size_of::<Record>() == 128);

impl Record {
    fn unused() -> Record {
        Record {
            addresses: Default::default(),
            ports: AtomicU32::new(0),
            kind: AtomicU32::new(DEAD),
            last_ms: AtomicU64::new(0),
            begun_ms: AtomicU64::new(0),
            progress: AtomicU32::new(0),
            lane: AtomicU8::new(0),
            next: AtomicU32::new(NONE),
            previous: AtomicU32::new(NONE),
            sides: Default::default(),
        }
    }

    /// Fills in a record that no reader can know.
    pub(super) fn fill(&self, key: Key, progress: Progress, begun_ms: u64, last_ms: u64) {
        let words = [(key.low >> 64) as u64, key.low as u64, (key.high >> 64) as u64, key.high as u64];
        self.addresses.iter().zip(words).for_each(|(place, word)| place.store(word, Relaxed));
        self.ports.store(key.ports, Relaxed);
        self.last_ms.store(last_ms, Relaxed);
        self.begun_ms.store(begun_ms, Relaxed);
        self.progress.store(progress.bits(), Relaxed);
        self.sides.iter().for_each(Side::clear);
        self.kind.store(key.kind, Release);
    }

    /// Says that the connection was removed.
    pub(super) fn bury(&self) {
        self.kind.store(DEAD, Relaxed);
    }

    /// Whether this is its key.
    #[inline]
    pub(super) fn is(&self, key: Key) -> bool {
        let word = |at: usize| self.addresses[at].load(Relaxed);
        self.kind.load(Acquire) == key.kind
            && self.ports.load(Relaxed) == key.ports
            && word(1) == key.low as u64
            && word(3) == key.high as u64
            && word(0) == (key.low >> 64) as u64
            && word(2) == (key.high >> 64) as u64
    }

    /// Its key, unless it was removed.
    pub(super) fn key(&self) -> Option<Key> {
        let kind = Some(self.kind.load(Acquire)).filter(|&kind| kind != DEAD)?;
        let word = |at: usize| u128::from(self.addresses[at].load(Relaxed));
        Some(Key {
            low: word(0) << 64 | word(1),
            high: word(2) << 64 | word(3),
            ports: self.ports.load(Relaxed),
            kind,
        })
    }

    /// The protocol.
    #[inline]
    pub(super) fn protocol(&self) -> u8 {
        self.kind.load(Relaxed) as u8
    }

    #[inline]
    pub(super) fn progress(&self) -> Progress {
        Progress::of_bits(self.progress.load(Relaxed))
    }

    /// Changes the state if it is still the one that was looked at: two workers may have packets of it.
    pub(super) fn advance(&self, from: Progress, to: Progress) -> bool {
        from == to || self.progress.compare_exchange(from.bits(), to.bits(), Relaxed, Relaxed).is_ok()
    }

    pub(super) fn last_ms(&self) -> u64 {
        self.last_ms.load(Relaxed)
    }

    pub(super) fn begun_ms(&self) -> u64 {
        self.begun_ms.load(Relaxed)
    }

    /// Notes that a packet passes.
    #[inline]
    pub(super) fn touch(&self, now_ms: u64) {
        if now_ms.saturating_sub(self.last_ms.load(Relaxed)) >= STALE_MS {
            self.last_ms.store(now_ms, Relaxed);
        }
    }
}

const CHUNK: u32 = 1024;
const CHUNKS: usize = 1 << 14;

/// All records, by number: in chunks that are made when they are needed, and stay.
pub(super) struct Slab {
    chunks: Box<[OnceLock<Roomy<Record>>]>,
}

impl Default for Slab {
    fn default() -> Slab {
        Slab { chunks: (0..CHUNKS).map(|_| OnceLock::new()).collect() }
    }
}

impl Slab {
    /// Records that there can be.
    pub(super) const MOST: u32 = CHUNK * CHUNKS as u32;

    /// A record, if its chunk exists.
    #[inline]
    pub(super) fn get(&self, number: u32) -> Option<&Record> {
        self.chunks.get((number / CHUNK) as usize)?.get()?.get((number % CHUNK) as usize)
    }

    /// A record whose chunk is made if need be. `None` beyond the largest number.
    pub(super) fn make(&self, number: u32) -> Option<&Record> {
        let made = || Roomy::new(CHUNK as usize, Record::unused);
        self.chunks.get((number / CHUNK) as usize)?.get_or_init(made).get((number % CHUNK) as usize)
    }
}
