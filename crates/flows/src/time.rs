//! Time in steps that fit into a record.

use std::time::Duration;

/// Nanoseconds in a step, as a power of two.
const STEP_BITS: u32 = 20;
/// Steps in the time that a list of the wheel stands for, as a power of two: about a quarter of a second.
const LIST_BITS: u32 = 8;
/// Timeouts are shorter, so that the difference of two times fits into 31 bits.
const TIMEOUT_MAX: i64 = 1 << 30;

/// A time in steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Instant(i64);

impl Instant {
    #[inline]
    pub(crate) fn from_ns(ns: i64) -> Instant {
        Instant(ns >> STEP_BITS)
    }

    /// What a record notes.
    #[inline]
    pub(crate) fn mark(self) -> u32 {
        self.0 as u32
    }

    /// What a record notes of a time so many steps ago.
    pub(crate) fn mark_before(self, steps: i64) -> u32 {
        (self.0 - steps.clamp(0, TIMEOUT_MAX)) as u32
    }

    /// Steps since a time that a record noted; 0 if that is yet to come, since clocks of several workers differ a little.
    #[inline]
    pub(crate) fn since(self, mark: u32) -> i64 {
        i64::from((self.0 as u32).wrapping_sub(mark) as i32).max(0)
    }

    /// The list of the wheel that begins latest at or before this time, as lists are numbered that never end.
    pub(crate) fn list(self) -> i64 {
        self.0 >> LIST_BITS
    }

    /// This many steps later.
    pub(crate) fn later(self, steps: i64) -> Instant {
        Instant(self.0 + steps)
    }
}

/// A time in steps, rounded up; 0 for ever.
pub(crate) fn steps(time: Duration) -> i64 {
    let ns = i64::try_from(time.as_nanos()).unwrap_or(i64::MAX - (1 << STEP_BITS));
    ((ns + (1 << STEP_BITS) - 1) >> STEP_BITS).min(TIMEOUT_MAX)
}

/// The inverse.
pub(crate) fn duration(steps: i64) -> Duration {
    Duration::from_nanos((steps.max(0) as u64) << STEP_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Differences are right where the number of steps no longer fits into what a record notes.
    #[test]
    fn wraps() {
        for start in [0, (1i64 << 31) - 5, (1 << 32) - 5, 7 << 32] {
            let then = Instant(start);
            for later in [0, 1, 10, TIMEOUT_MAX] {
                assert_eq!(then.later(later).since(then.mark()), later, "{start} {later}");
            }
            assert_eq!(then.since(then.later(3).mark()), 0);
            assert_eq!(then.since(then.mark_before(9)), 9);
        }
        assert_eq!(steps(Duration::from_nanos(1)), 1);
        assert_eq!((steps(Duration::ZERO), steps(Duration::MAX)), (0, TIMEOUT_MAX));
        assert_eq!(steps(duration(77)), 77);
    }
}
