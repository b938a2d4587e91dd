//! Memory for tables that are larger than caches: cache lines before they are needed, and large pages.

use rustix::mm::{Advice, madvise};

/// Asks for the cache line in which a value begins, and waits for nothing. Unlike a load whose value is not used it does not keep later
/// instructions from being finished, so a caller that asks for a batch's lines first waits for about one of them.
#[inline(always)]
pub fn prefetch<T>(value: &T) {
    prefetch_line(std::ptr::from_ref(value).cast());
}

#[inline(always)]
fn prefetch_line(line: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch changes nothing but what is in the caches, whatever the address, and every such processor has it.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(line.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}

/// Octets of a cache line.
const LINE: usize = 64;

/// Asks for all cache lines of a value, as [`prefetch`] does for the first.
#[inline(always)]
pub fn prefetch_all<T>(value: &T) {
    prefetch_span(std::ptr::from_ref(value).cast(), size_of::<T>());
}

/// Asks for all cache lines of so many octets from an address on. Nothing is read there, so that any address will do.
#[inline(always)]
pub fn prefetch_span(start: *const u8, octets: usize) {
    let skip = start.addr() % LINE;
    for line in 0..(skip + octets).div_ceil(LINE) {
        prefetch_line(start.wrapping_sub(skip).wrapping_add(line * LINE));
    }
}

/// The smallest pages.
const PAGE: usize = 4096;
/// From this size on, large pages are worth asking for.
const LARGE: usize = 2 << 20;

/// An empty vector with room for so many values, in large pages if it is long and the kernel has some: then fewer
/// look-ups at random places wait for the processor to find out where a page is.
pub fn roomy_vec<T>(capacity: usize) -> Vec<T> {
    let vec: Vec<T> = Vec::with_capacity(capacity);
    let bytes = size_of::<T>() * vec.capacity();
    if bytes >= LARGE {
        let skip = vec.as_ptr().cast::<u8>().align_offset(PAGE);
        let whole = (bytes - skip) / PAGE * PAGE;
        let first = vec.as_ptr().cast_mut().wrapping_byte_add(skip);
        // SAFETY: advice about whole pages of the vector's own memory, which changes nothing that is in them. If it
        // is not taken, it works too.
        let _ = unsafe { madvise(first.cast(), whole, Advice::LinuxHugepage) };
    }
    vec
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nothing is read, whatever the address.
    #[test]
    fn any_address_will_do() {
        prefetch_all(&[0u8; 300]);
        prefetch_all(&());
        for octets in [0, 1, 64, 65] {
            prefetch_span(std::ptr::null(), octets);
            prefetch_span(std::ptr::without_provenance(usize::MAX - 70), octets);
        }
    }

    #[test]
    fn vectors_of_all_sizes() {
        for capacity in [0, 1, LARGE / 8 - 1, LARGE / 8, LARGE] {
            let mut vec = roomy_vec(capacity);
            assert!(vec.is_empty() && vec.capacity() >= capacity);
            let first = vec.as_ptr();
            vec.extend(0..capacity as u64);
            assert!(vec.as_ptr() == first && vec.iter().copied().eq(0..capacity as u64));
        }
    }
}
