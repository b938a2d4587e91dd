//! No protection: the cost of reading without any. For measuring, and for showing that tests notice the lack.
//!
//! It keeps neither guarantee; see the condition of [`Unprotected::new`].

use crate::{
    flavour::{Flavour, Thread},
    garbage::Garbage,
};

/// Sections are nothing and what is retired is reclaimed at once.
#[derive(Clone, Debug)]
pub struct Unprotected {
    _private: (),
}

impl Unprotected {
    /// An instance.
    ///
    /// # Safety
    /// While a thread updates or reclaims, no other is in a section; or else what sections find and what is
    /// retired is such that using it after it was reclaimed is harmless.
    pub unsafe fn new() -> Self {
        Self { _private: () }
    }
}

// SAFETY: the caller that made the instance promised that there is nothing to protect from.
unsafe impl Flavour for Unprotected {
    const NAME: &'static str = "none";
    type Thread = UnprotectedThread;

    fn register(&self) -> UnprotectedThread {
        UnprotectedThread { _private: () }
    }
}

/// A thread's handle of [`Unprotected`].
#[derive(Debug)]
pub struct UnprotectedThread {
    _private: (),
}

// SAFETY: as for `Unprotected`.
unsafe impl Thread for UnprotectedThread {
    type Read<'a> = ();
    type Update<'a> = ();

    #[inline]
    fn read(&mut self) {}

    #[inline]
    fn update(&mut self) {}

    fn synchronize(&mut self) {}

    #[inline]
    fn retire(&mut self, garbage: Garbage) {
        drop(garbage);
    }
}
