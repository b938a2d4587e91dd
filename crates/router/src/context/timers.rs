//! When an element is called at a time.

use crate::context::core::Core;
use crate::context::cx::Cx;
use std::time::Duration;

/// The timers of the element that runs, each with a key: [`Cx::timers`].
pub struct Timers<'c> {
    core: &'c mut Core,
}

impl Cx<'_> {
    /// This element's timers.
    #[inline]
    pub fn timers(&mut self) -> Timers<'_> {
        Timers { core: self.core }
    }
}

impl Timers<'_> {
    /// Calls [`crate::Element::timer`] with `key` at a time, in nanoseconds since the epoch. Setting a key again moves it.
    #[inline]
    pub fn at(&mut self, key: u32, at_ns: i64) {
        let here = self.core.here;
        self.core.timers.set(here, key, at_ns);
    }

    /// The same, some time from now.
    #[inline]
    pub fn after(&mut self, key: u32, delay: Duration) {
        let delay = i64::try_from(delay.as_nanos()).unwrap_or(i64::MAX / 2);
        self.at(key, self.core.now_ns.saturating_add(delay));
    }

    /// Forgets a timer.
    #[inline]
    pub fn cancel(&mut self, key: u32) {
        let here = self.core.here;
        self.core.timers.cancel(here, key);
    }

    /// Whether a timer is set.
    #[inline]
    pub fn is_set(&self, key: u32) -> bool {
        self.core.timers.is_set(self.core.here, key)
    }

    /// Calls [`crate::Element::timer`] with `key` in this turn, if it still has time, or in the next one.
    #[inline]
    pub fn at_once(&mut self, key: u32) {
        self.at(key, self.core.now_ns);
    }
}
