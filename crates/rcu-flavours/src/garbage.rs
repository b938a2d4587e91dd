//! What is reclaimed after a grace period.

use std::{mem::size_of, ptr::NonNull};

/// Something unlinked that waits to be freed, or a callback that waits to run. Dropping it does either.
pub struct Garbage {
    data: NonNull<()>,
    reclaim: unsafe fn(NonNull<()>),
    bytes: usize,
}

// SAFETY: made of values that are `Send` (see the constructors).
unsafe impl Send for Garbage {}

impl Garbage {
    /// A value to drop. Costs no allocation.
    pub fn from_box<T: Send + 'static>(value: Box<T>) -> Self {
        // SAFETY: just made from a box.
        unsafe { Self::from_raw(Box::into_raw(value)) }
    }

    /// A value to drop that others still look at.
    ///
    /// # Safety
    /// `value` came from [`Box::into_raw`], and the caller is the only one that makes it into garbage.
    pub unsafe fn from_raw<T: Send + 'static>(value: *mut T) -> Self {
        // SAFETY: a box is never null.
        let data = unsafe { NonNull::new_unchecked(value) }.cast();
        Self { data, reclaim: drop_box::<T>, bytes: size_of::<T>() }
    }

    /// A callback to run, which frees `bytes`.
    pub fn from_fn<F: FnOnce() + Send + 'static>(bytes: usize, callback: F) -> Self {
        Self { data: NonNull::from(Box::leak(Box::new(callback))).cast(), reclaim: call_box::<F>, bytes }
    }

    /// How much memory it keeps, roughly.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Garbage {
    fn drop(&mut self) {
        // SAFETY: the constructors pair the data with what reclaims it, and this is the only drop.
        unsafe { (self.reclaim)(self.data) }
    }
}

impl std::fmt::Debug for Garbage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Garbage").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

/// # Safety
/// `data` is a leaked `Box<T>` that the caller gives up.
unsafe fn drop_box<T>(data: NonNull<()>) {
    // SAFETY: passed on to the caller.
    drop(unsafe { Box::from_raw(data.cast::<T>().as_ptr()) });
}

/// # Safety
/// As [`drop_box`].
unsafe fn call_box<F: FnOnce()>(data: NonNull<()>) {
    // SAFETY: passed on to the caller.
    let callback = unsafe { Box::from_raw(data.cast::<F>().as_ptr()) };
    callback();
}
