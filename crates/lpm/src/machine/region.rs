//! Memory that is reserved at once and occupied where it is used.

use std::alloc::{Layout, handle_alloc_error};
use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

/// A huge page: regions begin at a multiple of it.
const HUGE: usize = 2 << 20;

/// Bytes behind the words of a region that can be read as well, so that lookups need not check how far into a block they look.
pub(super) const SLACK: usize = 8 << 10;

/// What memory that is all 0 can be taken for.
///
/// # Safety
/// All bytes 0 are a valid value, and dropping one does nothing.
pub(crate) unsafe trait Zeroed {}

// SAFETY: a number, and 0 is one.
unsafe impl Zeroed for AtomicU32 {}
// SAFETY: a number, and 0 is one.
unsafe impl Zeroed for AtomicU64 {}

/// Words in address space of their own, all 0 at first. They never move.
pub(crate) struct Region<W> {
    first: NonNull<W>,
    /// A power of two.
    words: usize,
    mapped: *mut c_void,
    mapped_bytes: usize,
}

// SAFETY: a region is a box of words.
unsafe impl<W: Send> Send for Region<W> {}
// SAFETY: a region is a box of words.
unsafe impl<W: Sync> Sync for Region<W> {}

impl<W: Zeroed> Region<W> {
    /// A region of at least so many words. Only those that are stored to take memory.
    pub(crate) fn new(words: usize) -> Self {
        let words = words.next_power_of_two();
        let bytes = size_of::<W>() * words;
        let mapped_bytes = bytes + SLACK + HUGE;
        // SAFETY: a new mapping, at a place of the kernel's choice, touches nothing that exists.
        let mapped = unsafe {
            mmap_anonymous(
                null_mut(),
                mapped_bytes,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE | MapFlags::NORESERVE,
            )
        };
        let layout = Layout::array::<W>(words).unwrap_or(Layout::new::<W>());
        let Ok(mapped) = mapped else { handle_alloc_error(layout) };
        let first = mapped.wrapping_byte_add(mapped.align_offset(HUGE));
        let Some(first) = NonNull::new(first.cast()) else { handle_alloc_error(layout) };
        let region = Self { first, words, mapped, mapped_bytes };
        // One entry of the processor's address cache then covers the whole of a usual table. Without it, it works too.
        // SAFETY: advice about the mapping just made, of which the region is a part.
        let _ = unsafe { madvise(region.first.as_ptr().cast(), bytes, Advice::LinuxHugepage) };
        region
    }

    /// The words.
    #[inline(always)]
    pub(crate) fn words(&self) -> &[W] {
        // SAFETY: `new` mapped this many words and all that HUGE allows for alignment; they stay mapped until
        // `drop`, are aligned, and 0 is a valid value. Machine code elsewhere reads what is changed through atomics alone.
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.words) }
    }
}

impl Region<AtomicU64> {
    /// The words at `places`, each taken modulo their number.
    #[inline(always)]
    pub(crate) fn load_all<const N: usize>(&self, places: &[u32; N]) -> [u64; N] {
        let words = self.words();
        let mut masked = [0; N];
        for (masked, place) in masked.iter_mut().zip(places) {
            *masked = place & (words.len() - 1) as u32;
        }
        let mut found = [0; N];
        for (found, &place) in found.iter_mut().zip(&masked) {
            // SAFETY: the number of words is a power of two, and the mask one less.
            let word = unsafe { words.get_unchecked(place as usize) };
            *found = word.load(Ordering::Acquire);
        }
        found
    }
}

impl<W> Drop for Region<W> {
    fn drop(&mut self) {
        // SAFETY: the mapping is this region's own, and no reference to its words outlives it.
        let _ = unsafe { munmap(self.mapped, self.mapped_bytes) };
    }
}
