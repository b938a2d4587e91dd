//! A worker's own store of free buffers and empty batches.

use crate::arena::{Arena, BLOCK, Class};
use crate::batch::Batch;
use crate::packet::{DEFAULT_HEADROOM, Meta, Packet};
use std::ptr::NonNull;

/// Free buffers that a pool keeps before it lets a block go.
const KEEP: usize = 512;

/// A worker's buffers: allocation and release touch nothing that another worker touches, except once per block.
pub struct Pool {
    small: Cache,
    large: Cache,
    batches: Vec<Batch>,
    failed: u64,
}

impl Default for Pool {
    fn default() -> Self {
        Pool::new()
    }
}

struct Cache {
    arena: &'static Arena,
    free: Vec<NonNull<Meta>>,
    /// Buffers that came from the arena more than went there. Changes once a block, so that who is out is known without
    /// a count for each packet.
    fetched: i64,
}

// SAFETY: the free buffers are owned by this cache alone and bound to no thread.
unsafe impl Send for Cache {}

impl Cache {
    fn new(class: Class) -> Cache {
        Cache { arena: Arena::of(class), free: Vec::with_capacity(KEEP + BLOCK), fetched: 0 }
    }

    #[inline]
    fn take(&mut self) -> Option<NonNull<Meta>> {
        if self.free.is_empty() {
            self.refill();
        }
        self.free.pop()
    }

    #[cold]
    fn refill(&mut self) {
        self.arena.refill(&mut self.free);
        self.fetched += self.free.len() as i64; // there were none
    }

    #[cold]
    fn spill(&mut self) {
        let before = self.free.len();
        self.arena.spill(&mut self.free);
        self.fetched -= (before - self.free.len()) as i64;
    }

    /// Buffers that were taken more than given back.
    fn drawn(&self) -> i64 {
        self.fetched - self.free.len() as i64
    }

    /// Whether all of these are small and may be kept, as they nearly always are. Then nothing has to wait for the count after each of
    /// them.
    #[inline]
    fn takes(&self, packets: &[Packet]) -> bool {
        self.free.len() + packets.len() <= KEEP && packets.iter().all(|packet| packet.class() == Class::Small)
    }

    #[inline]
    fn give(&mut self, buffer: NonNull<Meta>) {
        if self.free.len() >= KEEP {
            self.spill();
        }
        self.free.push(buffer);
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        while self.free.len() >= BLOCK {
            self.arena.spill(&mut self.free);
        }
        for buffer in self.free.drain(..) {
            self.arena.orphan(buffer);
        }
    }
}

impl Pool {
    /// A pool over the process's arenas.
    pub fn new() -> Pool {
        Pool {
            small: Cache::new(Class::Small),
            large: Cache::new(Class::Large),
            batches: Vec::with_capacity(KEEP),
            failed: 0,
        }
    }

    /// A packet of `len` bytes behind `headroom` free ones. The bytes are whatever the buffer held before: write them.
    /// `None` if memory is exhausted (counted, see [`Pool::failed`]) or `headroom + len` fits no buffer.
    #[inline]
    pub fn alloc(&mut self, headroom: usize, len: usize) -> Option<Packet> {
        let need = headroom.checked_add(len)?;
        let taken = if need <= Class::Small.room() {
            self.small.take()
        } else if need <= Class::Large.room() {
            self.large.take()
        } else {
            return None;
        };
        let Some(buffer) = taken else {
            self.failed += 1;
            return None;
        };
        // SAFETY: the cache owned the buffer exclusively and has just given it up.
        let mut packet = unsafe { Packet::from_raw(buffer) };
        packet.meta_mut().reset(headroom, len);
        Some(packet)
    }

    /// The same, but makes no more buffers once there are so many. For those who can use only buffers of the window.
    pub(crate) fn blank_below(&mut self, limit: usize) -> Option<Packet> {
        if self.small.free.is_empty() {
            self.small.arena.refill_below(limit, &mut self.small.free);
            self.small.fetched += self.small.free.len() as i64;
        }
        // SAFETY: the cache owned the buffer exclusively and has just given it up.
        self.small.free.pop().map(|buffer| unsafe { Packet::from_raw(buffer) })
    }

    /// A small packet as its last owner left it, to be lent.
    #[inline]
    pub(crate) fn blank(&mut self) -> Option<Packet> {
        let buffer = self.small.take();
        self.failed += u64::from(buffer.is_none());
        // SAFETY: the cache owned the buffer exclusively and has just given it up.
        buffer.map(|buffer| unsafe { Packet::from_raw(buffer) })
    }

    /// A packet holding a copy of `bytes` behind the default headroom. `None` as for [`Pool::alloc`].
    #[inline]
    pub fn packet(&mut self, bytes: &[u8]) -> Option<Packet> {
        let mut packet = self.alloc(DEFAULT_HEADROOM, bytes.len())?;
        copy(packet.data_mut(), bytes);
        Some(packet)
    }

    /// A copy of a packet with all its annotations. `None` as for [`Pool::alloc`].
    pub fn copy(&mut self, packet: &Packet) -> Option<Packet> {
        let mut copy = self.alloc(packet.headroom(), packet.len())?;
        if copy.copy_from(packet) {
            Some(copy)
        } else {
            self.free(copy);
            None
        }
    }

    /// Makes room for `head` more bytes in front of the data and `tail` behind, moving the packet to a larger buffer if it
    /// must. The packet back, unchanged, if that is impossible.
    ///
    /// # Errors
    /// The packet itself, when no buffer is large enough or memory is exhausted.
    #[inline]
    pub fn reserve(&mut self, packet: Packet, head: usize, tail: usize) -> Result<Packet, Packet> {
        if packet.headroom() >= head && packet.tailroom() >= tail {
            return Ok(packet);
        }
        self.grow(packet, head, tail)
    }

    #[cold]
    fn grow(&mut self, mut packet: Packet, head: usize, tail: usize) -> Result<Packet, Packet> {
        let Some(need) = packet.len().checked_add(head).and_then(|n| n.checked_add(tail)) else {
            return Err(packet);
        };
        if need > packet.room() {
            // A buffer that holds so much is of a larger class than this one, so what is here fits there as it lies.
            let Some(mut larger) = self.alloc(0, need) else { return Err(packet) };
            let copied = larger.copy_from(&packet);
            debug_assert!(copied);
            self.free(std::mem::replace(&mut packet, larger));
        }
        let spare = packet.room() - need;
        packet.realign(head + spare.min(DEFAULT_HEADROOM));
        Ok(packet)
    }

    /// Takes a packet's buffer back.
    #[inline]
    pub fn free(&mut self, packet: Packet) {
        let buffer = packet.into_raw();
        // SAFETY: the packet was the only owner and is gone; its metadata is initialised.
        match unsafe { buffer.as_ref() }.class() {
            Class::Small => self.small.give(buffer),
            Class::Large => self.large.give(buffer),
        }
    }

    /// An empty batch.
    #[inline]
    pub fn batch(&mut self) -> Batch {
        self.batches.pop().unwrap_or_default()
    }

    /// A batch of one packet.
    #[inline]
    pub fn batch_of(&mut self, packet: Packet) -> Batch {
        let mut batch = self.batch();
        batch.push(packet);
        batch
    }

    /// Takes a batch back, and the buffers of all packets still in it.
    #[inline]
    pub fn recycle(&mut self, mut batch: Batch) {
        // Without packets, or with one that was alone, it takes no call.
        if batch.len() > 1 {
            self.free_all(&mut batch);
        } else if let Some(packet) = batch.pop() {
            self.free(packet);
        }
        if self.batches.len() < KEEP {
            self.batches.push(batch);
        }
    }

    /// Takes the buffers of all packets of a batch back.
    #[inline(never)]
    fn free_all(&mut self, batch: &mut Batch) {
        if self.small.takes(batch.packets()) {
            self.small.free.extend(batch.packets().iter().map(Packet::buffer));
            batch.forget();
        } else {
            batch.drain(|packet| self.free(packet));
        }
    }

    /// Allocations that failed because memory was exhausted.
    pub fn failed(&self) -> u64 {
        self.failed
    }

    /// Packets that were taken from this pool more than given back to it: negative where others' packets end. Only differences
    /// mean anything; what happens in between to packets that are dropped without a pool, [`crate::strays`] tells.
    pub fn drawn(&self) -> i64 {
        self.small.drawn() + self.large.drawn()
    }

    /// Free buffers at hand, small and large.
    pub fn cached(&self) -> (usize, usize) {
        (self.small.free.len(), self.large.free.len())
    }
}

/// Copies bytes to as many others. A short packet, of two halves that overlap, takes no call.
#[inline]
fn copy(to: &mut [u8], from: &[u8]) {
    const HALF: usize = 32;
    debug_assert_eq!(to.len(), from.len());
    if from.len() <= 2 * HALF
        && let (Some(head), Some(tail)) = (from.first_chunk::<HALF>(), from.last_chunk::<HALF>())
    {
        if let Some(to) = to.first_chunk_mut() {
            *to = *head;
        }
        if let Some(to) = to.last_chunk_mut() {
            *to = *tail;
        }
        return;
    }
    to.copy_from_slice(from);
}

/// Buffers that the process has ever put into circulation, small and large.
pub fn circulating() -> (usize, usize) {
    (Arena::of(Class::Small).carved(), Arena::of(Class::Large).carved())
}

/// The process's buffers of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// As many as there can be.
    pub capacity: usize,
    /// Put into circulation so far.
    pub circulating: usize,
    /// Those of them that are free and in no pool.
    pub spare: usize,
}

/// The process's buffers, small and large.
pub fn usage() -> (Usage, Usage) {
    let of = |class| {
        let arena = Arena::of(class);
        Usage { capacity: arena.capacity(), circulating: arena.carved(), spare: arena.spare() }
    };
    (of(Class::Small), of(Class::Large))
}
