//! Rings between a socket and the kernel: one side writes, the other reads.

use crate::sys::{self, Mapping};
use std::io;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// One end of a ring with entries of type `T`.
///
/// `T` is what the kernel keeps there: `u64` in the fill and completion rings, `xdp_desc` in the others.
pub(super) struct Ring<T> {
    /// Keeps the memory mapped.
    _map: Mapping,
    producer: NonNull<AtomicU32>,
    consumer: NonNull<AtomicU32>,
    flags: NonNull<AtomicU32>,
    entries: NonNull<T>,
    size: u32,
    /// Our index, and what we last saw of the kernel's.
    own: u32,
    peer: u32,
}

// SAFETY: the pointers lead into the mapping, which the ring owns; this end has one owner.
unsafe impl<T> Send for Ring<T> {}

/// Which ring of a socket.
#[derive(Clone, Copy)]
pub(super) enum Which {
    Fill,
    Completion,
    Rx,
    Tx,
}

impl<T: Copy> Ring<T> {
    /// Makes one of a socket's rings, with `size` entries, a power of two.
    pub(super) fn new(fd: &OwnedFd, which: Which, size: u32) -> io::Result<Ring<T>> {
        let (option, page) = match which {
            Which::Fill => (libc::XDP_UMEM_FILL_RING, libc::XDP_UMEM_PGOFF_FILL_RING as i64),
            Which::Completion => {
                (libc::XDP_UMEM_COMPLETION_RING, libc::XDP_UMEM_PGOFF_COMPLETION_RING as i64)
            }
            Which::Rx => (libc::XDP_RX_RING, libc::XDP_PGOFF_RX_RING),
            Which::Tx => (libc::XDP_TX_RING, libc::XDP_PGOFF_TX_RING),
        };
        sys::set_option(fd, libc::SOL_XDP, option, &size)?;
        let offsets: libc::xdp_mmap_offsets = sys::option(fd, libc::SOL_XDP, libc::XDP_MMAP_OFFSETS)?;
        let at = match which {
            Which::Fill => offsets.fr,
            Which::Completion => offsets.cr,
            Which::Rx => offsets.rx,
            Which::Tx => offsets.tx,
        };
        let map = Mapping::new(Some(fd), at.desc as usize + size as usize * size_of::<T>(), page)?;
        // SAFETY: the kernel gave the offsets for this mapping, and aligns what is there.
        let place = |offset: u64| unsafe { map.base().add(offset as usize) };
        let (producer, consumer) = (place(at.producer).cast(), place(at.consumer).cast());
        let (flags, entries) = (place(at.flags).cast(), place(at.desc).cast());
        Ok(Ring { producer, consumer, flags, entries, size, own: 0, peer: 0, _map: map })
    }

    fn word(&self, at: NonNull<AtomicU32>) -> &AtomicU32 {
        // SAFETY: the word lies in the mapping, which lives as long as `self`; both sides use it atomically.
        unsafe { at.as_ref() }
    }

    fn entry(&self, index: u32) -> *mut T {
        // SAFETY: the index is cut to the ring's size, for which the mapping was made.
        unsafe { self.entries.as_ptr().add((index & (self.size - 1)) as usize) }
    }

    /// Writing end: entries that can be written now.
    pub(super) fn room(&mut self, wanted: u32) -> u32 {
        if self.size - self.own.wrapping_sub(self.peer) < wanted {
            self.peer = self.word(self.consumer).load(Ordering::Acquire);
        }
        // Whatever the kernel says, never more than the ring has.
        self.size.saturating_sub(self.own.wrapping_sub(self.peer))
    }

    /// Writing end: writes the next entry, for which there must be room; [`Ring::publish`] shows it.
    pub(super) fn write(&mut self, value: T) {
        // SAFETY: the entry is this end's until it is published.
        unsafe { self.entry(self.own).write(value) };
        self.own = self.own.wrapping_add(1);
    }

    /// Writing end: shows what was written to the kernel.
    pub(super) fn publish(&mut self) {
        self.word(self.producer).store(self.own, Ordering::Release);
    }

    /// Reading end: the next entry, if there is one; [`Ring::release`] gives it back.
    pub(super) fn read(&mut self) -> Option<T> {
        if self.own == self.peer {
            self.peer = self.word(self.producer).load(Ordering::Acquire);
            if self.own == self.peer {
                return None;
            }
        }
        // SAFETY: the kernel has published the entry, which the load above synchronises with.
        let value = unsafe { self.entry(self.own).read() };
        self.own = self.own.wrapping_add(1);
        Some(value)
    }

    /// Reading end: gives back what was read.
    pub(super) fn release(&mut self) {
        self.word(self.consumer).store(self.own, Ordering::Release);
    }

    /// Whether the kernel wants a system call before it goes on.
    pub(super) fn needs_wakeup(&self) -> bool {
        self.word(self.flags).load(Ordering::Relaxed) & libc::XDP_RING_NEED_WAKEUP != 0
    }
}
