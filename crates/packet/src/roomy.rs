//! Slices of middle size in large pages.
//!
//! A table that consists of many parts of some hundred KiB each has none that fills a large page, so that nearly each look-up in a random
//! part waits for the processor to find out where a page is. Here such parts lie side by side in regions of a large page each.
//!
//! Memory that is given back goes to the next slice of its size, never to the system: tables grow by replacing parts, again and again.

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use std::ops::Deref;
use std::ptr::{NonNull, slice_from_raw_parts_mut};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A region: a large page, aligned as such.
const REGION: usize = 2 << 20;
/// The smallest place in a region. What is smaller is the allocator's.
const LEAST: usize = 32 << 10;
/// Sizes of places: powers of two, up to half a region. Larger slices have regions of their own.
const SIZES: usize = (REGION / LEAST).ilog2() as usize;

/// Free places, by size: 2^n times the least.
static FREE: Mutex<[Vec<Place>; SIZES]> = Mutex::new([const { Vec::new() }; SIZES]);

/// A place in a region that nothing else uses.
struct Place(NonNull<u8>);

// SAFETY: the memory belongs to who has the place, on whatever thread.
unsafe impl Send for Place {}

fn free() -> MutexGuard<'static, [Vec<Place>; SIZES]> {
    // Each change is one push, one pop or one extension: half of one leaves some places unused.
    FREE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The size of the places for so many bytes, if they are for those.
fn size_for(bytes: usize) -> Option<usize> {
    let bytes = bytes.checked_next_power_of_two()?;
    (LEAST..REGION).contains(&bytes).then(|| (bytes / LEAST).ilog2() as usize)
}

/// A place of this size; `None` if the system has no memory.
fn take(size: usize) -> Option<Place> {
    let mut free = free();
    if let Some(place) = free[size].pop() {
        return Some(place);
    }
    let region = map(REGION)?;
    let bytes = LEAST << size;
    let places = (0..REGION / bytes).rev();
    // SAFETY: the offsets are within the region.
    free[size].extend(places.map(|at| Place(unsafe { region.add(at * bytes) })));
    free[size].pop()
}

/// New regions for so many bytes, side by side.
fn map(bytes: usize) -> Option<NonNull<u8>> {
    let bytes = bytes.checked_next_multiple_of(REGION)?;
    // A region more, of which what is not needed for alignment goes back.
    // SAFETY: a fresh private mapping at an address of the kernel's choice disturbs no existing memory.
    let base = unsafe {
        mmap_anonymous(
            std::ptr::null_mut(),
            bytes.checked_add(REGION)?,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::PRIVATE | MapFlags::NORESERVE,
        )
    };
    let base = base.ok()?.cast::<u8>();
    let before = base.align_offset(REGION);
    let (first, after) = (base.wrapping_add(before), REGION - before);
    // SAFETY: both parts are of the mapping made above, and nothing uses them.
    unsafe {
        if before > 0 {
            let _ = munmap(base.cast(), before);
        }
        if after > 0 {
            let _ = munmap(first.wrapping_add(bytes).cast(), after);
        }
    }
    // SAFETY: advice about the rest of the mapping. If it is not taken, it works too.
    let _ = unsafe { madvise(first.cast(), bytes, Advice::LinuxHugepage) };
    NonNull::new(first)
}

/// Whose memory a slice is in.
#[derive(Clone, Copy)]
enum Home {
    /// A place of this size in a region.
    Place(usize),
    /// Regions of its own.
    Regions,
    /// A box of the allocator's.
    Box,
}

/// Memory for so many bytes, if it need not be the allocator's.
fn find(bytes: usize) -> Option<(NonNull<u8>, Home)> {
    match size_for(bytes) {
        Some(size) => take(size).map(|Place(place)| (place, Home::Place(size))),
        None if bytes >= REGION => map(bytes).map(|first| (first, Home::Regions)),
        None => None,
    }
}

/// A slice whose length does not change, in large pages if it is long and the kernel has some.
pub struct Roomy<T> {
    first: NonNull<T>,
    len: usize,
    home: Home,
}

// SAFETY: it owns its values, as a box does.
unsafe impl<T: Send> Send for Roomy<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Roomy<T> {}

impl<T> Roomy<T> {
    /// So many values.
    pub fn new(len: usize, mut value: impl FnMut() -> T) -> Roomy<T> {
        const { assert!(align_of::<T>() <= LEAST) };
        if let Some((memory, home)) = find(len.saturating_mul(size_of::<T>())) {
            let first = memory.cast::<T>();
            for at in 0..len {
                // SAFETY: the memory is as large as `len` values and aligned to at least the smallest place, and nothing else uses it. If
                // `value` panics it stays unused.
                unsafe { first.add(at).write(value()) };
            }
            return Roomy { first, len, home };
        }
        let mut all = Vec::with_capacity(len);
        all.resize_with(len, value);
        let first = NonNull::from(Box::leak(all.into_boxed_slice())).cast();
        Roomy { first, len, home: Home::Box }
    }
}

impl<T> Deref for Roomy<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: there are `len` values, which this owns.
        unsafe { NonNull::slice_from_raw_parts(self.first, self.len).as_ref() }
    }
}

impl<T> Drop for Roomy<T> {
    fn drop(&mut self) {
        let all = slice_from_raw_parts_mut(self.first.as_ptr(), self.len);
        match self.home {
            Home::Place(size) => {
                // SAFETY: the values are this one's, and not used any more.
                unsafe { all.drop_in_place() };
                free()[size].push(Place(self.first.cast()));
            }
            Home::Regions => {
                let bytes = (self.len * size_of::<T>()).next_multiple_of(REGION);
                // SAFETY: as above; and the mapping is as long as was asked for, and nothing else is in it.
                unsafe {
                    all.drop_in_place();
                    let _ = munmap(self.first.as_ptr().cast(), bytes);
                }
            }
            // SAFETY: it came from a box of such a slice.
            Home::Box => drop(unsafe { Box::from_raw(all) }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    /// What has lengths around those of places keeps its values while others come and go, and drops each once.
    #[test]
    fn slices_of_all_sizes() {
        let counted = Arc::new(());
        let lens = [0, 1, LEAST / 16, LEAST / 16 + 1, 40_000, REGION / 16, REGION / 16 + 1, REGION / 4];
        for round in 0..3 {
            let mut kept = Vec::new();
            for (number, len) in lens.into_iter().cycle().take(40).enumerate() {
                let mut next = 0;
                let value = || {
                    next += 1;
                    (number * 1_000_000 + next, counted.clone())
                };
                kept.push(Roomy::new(len, value));
                if number % 3 == round {
                    kept.swap_remove(kept.len() / 2);
                }
            }
            for slice in &kept {
                let first = slice.first().map_or(0, |value| value.0);
                assert!(slice.iter().enumerate().all(|(at, value)| value.0 == first + at));
            }
            let values: usize = kept.iter().map(|slice| slice.len()).sum();
            assert_eq!(Arc::strong_count(&counted), values + 1);
            drop(kept);
            assert_eq!(Arc::strong_count(&counted), 1);
        }
    }

    /// Places of a size are parts of regions; one that was given back is the next one's.
    #[test]
    fn places_are_used_again() {
        const BYTES: usize = REGION / 2;
        assert_eq!(
            [LEAST / 2, LEAST, LEAST + 1, BYTES, BYTES + 1].map(size_for),
            [None, Some(0), Some(1), Some(SIZES - 1), None]
        );
        let slices = [0, 1, 2].map(|value| Roomy::new(BYTES, || value as u8));
        let places = slices.each_ref().map(|slice| slice.as_ptr().addr());
        assert!(places.iter().all(|place| place % BYTES == 0));
        drop(slices);
        let again = Roomy::new(BYTES - 1, || 7u8);
        assert!(places.contains(&again.as_ptr().addr()) && again.iter().all(|&value| value == 7));
    }
}
