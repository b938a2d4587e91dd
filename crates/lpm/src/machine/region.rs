//! Memory that is reserved at once and occupied where it is used.

use std::alloc::{Layout, handle_alloc_error};
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

/// A huge page: regions begin at a multiple of it.
const HUGE: usize = 2 << 20;

/// Bytes behind the words of a region that can be read as well, so that lookups need not check how far into a block they look.
pub(super) const SLACK: usize = 8 << 10;

/// How far behind its word a [`Spot`] reaches, in bytes.
const REACH: usize = 1 << 10;

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
    /// How many bytes from the start the last word begins.
    last: usize,
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
        let region = Self { first, words, last: bytes - size_of::<W>(), mapped, mapped_bytes };
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

/// Parts of words are loaded by machine code, because to the language such loads would race with stores of whole
/// words. To the processor they are loads like others: what is aligned and was stored at once is seen at once, and
/// nothing that is loaded later is older.
impl Region<AtomicU64> {
    /// Asks for the cache line that lies `bytes` from the start.
    #[inline(always)]
    pub(crate) fn prefetch(&self, bytes: usize) {
        prefetch(self.start().wrapping_add(bytes));
    }

    /// The word that begins `bytes` from the start, rounded down, modulo the size of it all.
    #[inline(always)]
    pub(crate) fn spot(&self, bytes: u32) -> Spot<'_> {
        Spot { word: self.start().wrapping_add(bytes as usize & self.last), region: PhantomData }
    }

    /// The half of a word, numbered from the start, modulo the number of all; by an acquire load.
    #[inline(always)]
    pub(crate) fn half(&self, half: u32) -> u32 {
        // SAFETY: inside, since the number of words is a power of two.
        unsafe { load_32::<0>(self.start(), (4 * half as usize) & (self.last + 4)) }
    }

    #[inline(always)]
    fn start(&self) -> *const u8 {
        self.first.as_ptr().cast_const().cast()
    }
}

/// A word of a region, for what lookups load.
#[derive(Clone, Copy)]
pub(crate) struct Spot<'r> {
    /// Inside the region.
    word: *const u8,
    region: PhantomData<&'r AtomicU64>,
}

impl Spot<'_> {
    /// Asks for its cache line.
    #[inline(always)]
    pub(crate) fn prefetch(self) {
        prefetch(self.word);
    }

    /// The word, by an acquire load.
    #[inline(always)]
    pub(crate) fn word(self) -> u64 {
        // SAFETY: a word of the region, by construction.
        unsafe { &*self.word.cast::<AtomicU64>() }.load(Ordering::Acquire)
    }

    /// The four bytes from `byte` bytes behind the word on, modulo 1,024; an acquire load of what in them is aligned to its size.
    #[inline(always)]
    pub(crate) fn behind(self, byte: u32) -> u32 {
        const { assert!(8 + REACH + 4 <= SLACK) };
        // SAFETY: the word is inside the region, and so much behind it can be read.
        unsafe { load_32::<8>(self.word, byte as usize % REACH) }
    }
}

/// Asks for a cache line.
#[inline(always)]
fn prefetch(line: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch does nothing but bring memory that there is into the caches, and every such processor has it.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(line.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}

/// Four bytes, `byte` bytes from `word` on.
///
/// # Safety
/// They and the words of which they are parts can be read. `word` is aligned.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn load_32<const SKIP: usize>(word: *const u8, byte: usize) -> u32 {
    let found: u32;
    // SAFETY: as the caller says.
    unsafe {
        std::arch::asm!(
            "mov {found:e}, dword ptr [{word} + {byte} + {skip}]",
            found = lateout(reg) found,
            word = in(reg) word,
            byte = in(reg) byte,
            skip = const SKIP,
            options(nostack, readonly, preserves_flags),
        );
    }
    found
}

/// As above, but bytes beyond the word in which the first of them lies come out as 0: they are not aligned to their size together.
///
/// # Safety
/// They and the words of which they are parts can be read. `word` is aligned.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
unsafe fn load_32<const SKIP: usize>(word: *const u8, byte: usize) -> u32 {
    // SAFETY: as the caller says; all is words there.
    let whole = unsafe { &*word.add(SKIP + byte / 8 * 8).cast::<AtomicU64>() }.load(Ordering::Acquire);
    (whole >> (8 * (byte % 8))) as u32
}

impl<W> Drop for Region<W> {
    fn drop(&mut self) {
        // SAFETY: the mapping is this region's own, and no reference to its words outlives it.
        let _ = unsafe { munmap(self.mapped, self.mapped_bytes) };
    }
}
