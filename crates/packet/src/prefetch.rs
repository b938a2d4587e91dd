//! Asking for memory before it is needed.

/// Asks for the cache line in which a value begins, and waits for nothing. Unlike a load whose value is not used it does not keep later
/// instructions from being finished, so whoever asks for a batch's lines first waits for about one of them.
#[inline(always)]
pub fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch changes nothing but what is in the caches, and every such processor has it.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
