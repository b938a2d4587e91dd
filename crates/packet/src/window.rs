//! Buffers that are lent to devices which share memory with this process.
//!
//! The *window* is the first [`COUNT`] small buffers of the arena: a stretch of memory that a device may be told of
//! once, as a whole. From then on a buffer is named by its distance from the window's start, and lending it means saying that number:
//! a frame is received into the very buffer that becomes its packet, and sent from there.
//!
//! A lent buffer has no owner here. The window keeps who has it, so that a device gives back only what it was lent, once,
//! and what a device had that is gone can be found again. Buffers outside the window, which exist once more than [`COUNT`] are in
//! circulation, cannot be lent; their data has to be copied.

use crate::arena::{Arena, Class, SMALL_STRIDE};
use crate::packet::{META_BYTES, Packet};
use crate::pool::Pool;
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Buffers in the window: 66 MiB. Memory that is shared with a device stays in main memory, so this is what devices cost.
const COUNT: usize = 32_768;

/// The value of a buffer that is not lent.
const NOBODY: u32 = 0;

/// The part of the arena that devices may be told of.
pub struct Window {
    base: NonNull<u8>,
    /// Who has each buffer. Its last owner here writes it, and the owner that takes it back; both are one thread at a time.
    borrowers: Box<[AtomicU32]>,
    next: AtomicU32,
}

// SAFETY: `base` points to a mapping that is never unmapped; the window gives access to buffers by their owners only.
unsafe impl Send for Window {}
// SAFETY: as above.
unsafe impl Sync for Window {}

/// A device, as far as the window knows it.
#[derive(Clone, Copy, Debug)]
pub struct Borrower(u32);

/// What came of a wish to lend a new buffer.
pub enum Loan {
    /// The buffer's distance from the window's start.
    Lent(u64),
    /// The buffer lies outside the window.
    Outside(Packet),
    /// There is no memory.
    Nothing,
}

impl Window {
    /// Bytes that lie between the start of a buffer and the first that a device may write.
    pub const RESERVED: usize = META_BYTES;
    /// Bytes from one buffer to the next.
    pub const STRIDE: usize = SMALL_STRIDE;

    /// The process's window; `None` if there is less memory than that.
    pub fn get() -> Option<&'static Window> {
        static WINDOW: OnceLock<Option<Window>> = OnceLock::new();
        let make = || {
            let arena = Arena::of(Class::Small);
            let borrowers = (0..COUNT).map(|_| AtomicU32::new(NOBODY)).collect();
            (arena.capacity() >= COUNT).then(|| Window {
                base: arena.base(),
                borrowers,
                next: AtomicU32::new(NOBODY + 1),
            })
        };
        WINDOW.get_or_init(make).as_ref()
    }

    /// Where it starts, at the start of a page.
    pub fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// Its bytes.
    pub fn bytes(&self) -> usize {
        COUNT * SMALL_STRIDE
    }

    /// A new borrower.
    pub fn borrower(&self) -> Borrower {
        Borrower(self.next.fetch_add(1, Ordering::Relaxed))
    }

    #[inline]
    fn index(&self, packet: &Packet) -> Option<usize> {
        let distance = (packet.buffer().as_ptr() as usize).wrapping_sub(self.base.as_ptr() as usize);
        // A buffer of another arena is far away, on whichever side.
        (distance < self.bytes()).then_some(distance / SMALL_STRIDE)
    }

    /// Lends a new buffer of a pool, to be written.
    #[inline]
    pub fn lend_new(&self, pool: &mut Pool, to: &Borrower) -> Loan {
        match pool.blank() {
            Some(packet) => match self.lend(packet, to) {
                Ok((start, _)) => Loan::Lent(start),
                Err(packet) => Loan::Outside(packet),
            },
            None => Loan::Nothing,
        }
    }

    /// Lends up to `count` new buffers: where they start. Looks at no more than `others` buffers that lie outside the window, and makes
    /// none there. Not for the packet path: others' pools find less meanwhile.
    pub fn lend_many(&self, to: &Borrower, count: usize, others: usize) -> Vec<u64> {
        let (mut pool, mut lent, mut outside) = (Pool::new(), Vec::with_capacity(count), Vec::new());
        while lent.len() < count
            && outside.len() < others
            && let Some(packet) = pool.blank_below(COUNT)
        {
            match self.lend(packet, to) {
                Ok((start, _)) => lent.push(start),
                Err(packet) => outside.push(packet), // kept until the end, not to get it again
            }
        }
        outside.into_iter().for_each(|packet| pool.free(packet));
        lent
    }

    /// Lends a packet's buffer: the distances of the buffer and of the data from the window's start.
    ///
    /// # Errors
    /// The packet itself, if it lies outside the window.
    #[inline]
    pub fn lend(&self, packet: Packet, to: &Borrower) -> Result<(u64, u64), Packet> {
        let Some(index) = self.index(&packet) else { return Err(packet) };
        let start = (index * SMALL_STRIDE) as u64;
        let data = start + (META_BYTES + packet.headroom()) as u64;
        // Before the device hears of it; what makes it hear orders the two.
        self.borrowers[index].store(to.0, Ordering::Relaxed);
        packet.into_raw();
        Ok((start, data))
    }

    /// Where the buffer starts in which this distance from the window's start lies.
    #[inline]
    pub fn start_of(&self, distance: u64) -> u64 {
        distance - distance % SMALL_STRIDE as u64
    }

    /// The data of a lent buffer, cut to the buffer; `None` if the borrower has no buffer there.
    ///
    /// # Safety
    /// The borrower must have given the buffer back (and not been told of it again), so that it is not written any more.
    #[inline]
    pub unsafe fn data(&self, distance: u64, len: usize, from: &Borrower) -> Option<&[u8]> {
        let (at, len) = self.place(distance, len, from)?;
        // SAFETY: `place` has cut the range to a buffer of the window, which is not written, as the caller says.
        Some(unsafe { std::slice::from_raw_parts(self.base.as_ptr().add(at), len) })
    }

    /// A range within one buffer's data area that this borrower has.
    #[inline]
    fn place(&self, distance: u64, len: usize, from: &Borrower) -> Option<(usize, usize)> {
        let index = usize::try_from(distance).ok()? / SMALL_STRIDE;
        if self.borrowers.get(index)?.load(Ordering::Relaxed) != from.0 {
            return None;
        }
        let at = (distance as usize).max(index * SMALL_STRIDE + META_BYTES);
        Some((at, len.min((index + 1) * SMALL_STRIDE - at)))
    }

    /// Makes a packet of a buffer that the borrower gives back, with data of `len` bytes at this distance from the window's start,
    /// cut to the buffer. `None` if the borrower has no buffer there.
    ///
    /// # Safety
    /// The borrower must have done with the buffer: it neither reads nor writes it any more.
    #[inline]
    pub unsafe fn take_back(&self, distance: u64, len: usize, from: &Borrower) -> Option<Packet> {
        let (at, len) = self.place(distance, len, from)?;
        let index = at / SMALL_STRIDE;
        self.borrowers[index].store(NOBODY, Ordering::Relaxed);
        // SAFETY: within the mapping, at the start of a buffer.
        let buffer = unsafe { self.base.add(index * SMALL_STRIDE) }.cast();
        // SAFETY: the buffer was lent, so its metadata, which devices leave alone, is initialised; only the borrower knew
        // of it, and has done with it; the mark above was removed, so no other caller comes here for it.
        let mut packet = unsafe { Packet::from_raw(buffer) };
        packet.meta_mut().reset(at - index * SMALL_STRIDE - META_BYTES, len);
        Some(packet)
    }

    /// Frees all that a borrower still has; returns how many buffers those are.
    ///
    /// # Safety
    /// The borrower must have done with all of them: the device is gone for good.
    pub unsafe fn take_all_back(&self, from: &Borrower) -> usize {
        let mine = |&index: &usize| self.borrowers[index].load(Ordering::Relaxed) == from.0;
        let indices = (0..COUNT).filter(mine);
        // SAFETY: the caller answers for the device.
        let packets = indices.filter_map(|i| unsafe { self.take_back((i * SMALL_STRIDE) as u64, 0, from) });
        let mut pool = Pool::new(); // moves blocks, not single buffers, to where other pools find them
        packets.map(|packet| pool.free(packet)).count()
    }
}
