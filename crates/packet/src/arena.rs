//! The memory that packet buffers live in.
//!
//! One reservation of address space per buffer class, made once for the process and never given back, so a buffer's
//! address is `base + index * stride` and stays valid for ever. Pages are committed by first touch. A contiguous
//! region with a fixed stride is also what an AF_XDP socket can register as its UMEM (unaligned chunks).
//!
//! Free buffers travel between workers in *blocks* of [`BLOCK`] buffers, so that workers meet once per block and
//! never per packet. A block is a single buffer whose data area lists the indices of the others: moving a block
//! touches one buffer, not all of them.

use crate::packet::{META_BYTES, Meta};
use crossbeam_queue::ArrayQueue;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous};
use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Buffers that move between a pool and the arena at a time.
pub(crate) const BLOCK: usize = 64;

/// Bytes from the start of a small buffer to the next: 33 cache lines, deliberately not a power of two, so that the
/// same field of consecutive buffers falls into different L1 sets.
pub const SMALL_STRIDE: usize = 2112;

/// Bytes from the start of a large buffer to the next: room for a 64 KiB datagram and headroom; 1,089 cache lines.
pub const LARGE_STRIDE: usize = 69_696;

/// The "no buffer" index.
const NONE: u32 = u32::MAX;

/// The size class of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Ordinary frames, up to [`Class::room`] bytes with headroom.
    Small,
    /// Reassembled datagrams, offloaded segments, captures: 64 KiB and headroom.
    Large,
}

impl Class {
    /// Bytes from one buffer to the next.
    #[inline]
    pub const fn stride(self) -> usize {
        match self {
            Class::Small => SMALL_STRIDE,
            Class::Large => LARGE_STRIDE,
        }
    }

    /// Bytes of headroom, data and tailroom together.
    #[inline]
    pub const fn room(self) -> usize {
        self.stride() - META_BYTES
    }

    /// Address space reserved for the class.
    const fn reservation(self) -> usize {
        match self {
            Class::Small => 4 << 30,
            Class::Large => 1 << 30,
        }
    }
}

/// All buffers of one class.
pub(crate) struct Arena {
    class: Class,
    base: NonNull<u8>,
    capacity: u32,
    /// Buffers ever taken from the untouched part of the reservation.
    carved: AtomicU32,
    /// Full blocks of free buffers, by the index of the buffer that holds the list.
    depot: ArrayQueue<u32>,
    /// Buffers freed where no pool was at hand, chained through [`Meta::next`]: index of the first, and above it how many there
    /// are. Pools take the whole chain, never one buffer, so the chain has no ABA problem.
    orphans: AtomicU64,
}

// SAFETY: `base` points to a mapping that is never unmapped; buffers in it are handed out to one owner at a time by
// the atomic counter, the queue and the chain below, so sharing the arena shares no buffer.
unsafe impl Send for Arena {}
// SAFETY: as above.
unsafe impl Sync for Arena {}

thread_local! {
    /// Buffers that this thread has freed where no pool was at hand.
    static STRAYS: Cell<u64> = const { Cell::new(0) };
}

/// Buffers that this thread has freed where no pool was at hand: packets that were dropped instead of given to a
/// [`crate::Pool`]. Only differences mean anything, within one call on one thread.
pub fn strays() -> u64 {
    STRAYS.get()
}

static SMALL: OnceLock<Arena> = OnceLock::new();
static LARGE: OnceLock<Arena> = OnceLock::new();

impl Arena {
    /// The process's arena for a class, reserved at first use.
    #[inline]
    pub(crate) fn of(class: Class) -> &'static Arena {
        match class {
            Class::Small => SMALL.get_or_init(|| Arena::reserve(Class::Small)),
            Class::Large => LARGE.get_or_init(|| Arena::reserve(Class::Large)),
        }
    }

    fn reserve(class: Class) -> Arena {
        let mut bytes = class.reservation();
        // Where address space is limited (ulimit -v, small containers) settle for less; a machine that cannot
        // reserve even one block gets an arena of capacity 0, whose allocations all fail and are counted.
        let base = loop {
            if bytes < class.stride() * BLOCK {
                break NonNull::<Meta>::dangling().cast();
            }
            match map(bytes) {
                Some(base) => break base,
                None => bytes /= 2,
            }
        };
        let capacity = if bytes < class.stride() * BLOCK { 0 } else { (bytes / class.stride()) as u32 };
        Arena {
            class,
            base,
            capacity,
            carved: AtomicU32::new(0),
            depot: ArrayQueue::new((capacity as usize / BLOCK).max(1)),
            orphans: AtomicU64::new(NONE as u64),
        }
    }

    /// Where it starts.
    pub(crate) fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// Buffers that there may be.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity as usize
    }

    /// Buffers ever put into circulation.
    pub(crate) fn carved(&self) -> usize {
        self.carved.load(Ordering::Relaxed) as usize
    }

    /// Free buffers that no pool has at hand.
    pub(crate) fn spare(&self) -> usize {
        // The chain begins anew whenever it is taken, so as many were pushed as there are in it.
        let chained = self.orphans.load(Ordering::Relaxed) >> 32;
        self.depot.len() * BLOCK + chained as usize
    }

    #[inline]
    pub(crate) fn index_of(&self, buffer: NonNull<Meta>) -> u32 {
        ((buffer.as_ptr() as usize - self.base.as_ptr() as usize) / self.class.stride()) as u32
    }

    #[inline]
    fn buffer(&self, index: u32) -> NonNull<Meta> {
        debug_assert!(index < self.capacity);
        // SAFETY: every index that circulates came from `carve` and is below `capacity`, so the offset stays within
        // the mapping; its start is aligned to a page and the stride to a cache line, as `Meta` needs.
        unsafe { self.base.add(index as usize * self.class.stride()).cast() }
    }

    /// Adds up to about one block of free buffers to `free`; adds none if the arena is exhausted.
    #[cold]
    pub(crate) fn refill(&self, free: &mut Vec<NonNull<Meta>>) {
        self.refill_below(self.capacity(), free);
    }

    /// The same, but puts no more buffers into circulation once there are so many.
    #[cold]
    pub(crate) fn refill_below(&self, limit: usize, free: &mut Vec<NonNull<Meta>>) {
        if let Some(head) = self.depot.pop() {
            return self.open_block(head, free);
        }
        self.adopt_orphans(free);
        if free.is_empty() {
            self.carve(limit.min(self.capacity()), free);
        }
    }

    /// Moves [`BLOCK`] buffers from the end of `free` to the other pools' reach.
    #[cold]
    pub(crate) fn spill(&self, free: &mut Vec<NonNull<Meta>>) {
        let at = free.len() - BLOCK;
        let head = free[at];
        let list = self.block_list(head);
        for (i, &buffer) in free[at + 1..].iter().enumerate() {
            // SAFETY: `list` has room for `BLOCK - 1` indices inside the free buffer `head`, which this pool owns.
            unsafe { list.add(i).write(self.index_of(buffer)) };
        }
        // The depot has a place for every block that the arena can form.
        if self.depot.push(self.index_of(head)).is_ok() {
            free.truncate(at);
        }
    }

    fn open_block(&self, head: u32, free: &mut Vec<NonNull<Meta>>) {
        let head = self.buffer(head);
        let list = self.block_list(head);
        free.push(head);
        for i in 0..BLOCK - 1 {
            // SAFETY: `spill` wrote `BLOCK - 1` indices there before it pushed the head to the depot, whose pop
            // synchronises with that push; no other pool knows the head any more.
            free.push(self.buffer(unsafe { list.add(i).read() }));
        }
    }

    /// Where a free buffer that heads a block keeps the indices of the others.
    fn block_list(&self, head: NonNull<Meta>) -> NonNull<u32> {
        const { assert!(SMALL_STRIDE - META_BYTES >= 4 * BLOCK) };
        // SAFETY: the data area starts `META_BYTES` into the buffer and is larger than the list (asserted above).
        unsafe { head.cast::<u8>().add(META_BYTES).cast() }
    }

    fn carve(&self, limit: usize, free: &mut Vec<NonNull<Meta>>) {
        let first = self
            .carved
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| {
                (n as usize + BLOCK <= limit).then_some(n + BLOCK as u32)
            })
            .ok();
        let Some(first) = first else { return };
        for index in (first..first + BLOCK as u32).rev() {
            let buffer = self.buffer(index);
            // SAFETY: the index was just carved, so no other pool has this buffer; the memory is zeroed and writable.
            unsafe { buffer.write(Meta::new(self.class)) };
            free.push(buffer);
        }
    }

    /// Takes back a buffer outside any pool. Slower than [`crate::Pool::free`], but safe from any thread.
    pub(crate) fn orphan(&self, mut buffer: NonNull<Meta>) {
        STRAYS.set(STRAYS.get().wrapping_add(1));
        let index = self.index_of(buffer);
        let mut head = self.orphans.load(Ordering::Relaxed);
        loop {
            // SAFETY: the caller owns the buffer until the exchange below succeeds.
            unsafe { buffer.as_mut().next = head as u32 };
            let tag = (head >> 32).wrapping_add(1) << 32;
            match self.orphans.compare_exchange_weak(
                head,
                tag | index as u64,
                Ordering::Release,
                Ordering::Relaxed,
            ) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    fn adopt_orphans(&self, free: &mut Vec<NonNull<Meta>>) {
        // Acquire pairs with the Release in `orphan`: the `next` links written there are visible here.
        let mut index = self.orphans.swap(NONE as u64, Ordering::Acquire) as u32;
        while index != NONE {
            let buffer = self.buffer(index);
            free.push(buffer);
            // SAFETY: the whole chain was taken above, so this pool owns every buffer in it.
            index = unsafe { buffer.as_ref().next };
        }
    }
}

fn map(bytes: usize) -> Option<NonNull<u8>> {
    // SAFETY: a fresh private mapping at an address of the kernel's choice disturbs no existing memory.
    let base = unsafe {
        mmap_anonymous(
            std::ptr::null_mut(),
            bytes,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::PRIVATE | MapFlags::NORESERVE,
        )
    }
    .ok()?;
    // Fewer TLB misses where transparent huge pages are on; merely advice, so a refusal does not matter.
    // SAFETY: the range is the mapping made above.
    let _ = unsafe { madvise(base, bytes, Advice::LinuxHugepage) };
    NonNull::new(base.cast())
}
