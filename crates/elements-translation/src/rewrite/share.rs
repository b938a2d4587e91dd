//! Who takes numbers from which part of a range first.
//!
//! Workers that make flows from the same range of ports would get into each other's way if they all took the next one. So each has
//! a part of its own, where it begins; only when nothing is left there it takes what is left elsewhere, so that no port is lost.

use std::ops::RangeInclusive;

/// The part of each range that one of several workers has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share {
    at: u32,
    of: u32,
}

impl Share {
    /// The share of a worker among those that make flows. For a worker that is none of them, the share of one that is.
    pub(super) fn of_worker(worker: usize, workers: &[usize]) -> Share {
        let of = workers.len().max(1);
        let at = workers.iter().position(|&known| known == worker).unwrap_or(worker % of);
        Share { at: at as u32, of: of as u32 }
    }

    /// Which share it is.
    pub(super) fn number(self) -> usize {
        self.at as usize
    }

    /// The part of the numbers up to `top`. Where there are fewer numbers than shares, some are for all.
    #[inline]
    pub(super) fn part(self, top: u32) -> RangeInclusive<u32> {
        if self.of == 1 {
            return 0..=top; // without a division
        }
        let begin = |at: u32| (u64::from(top) + 1) * u64::from(at) / u64::from(self.of);
        match (begin(self.at), begin(self.at + 1)) {
            (first, end) if first < end => first as u32..=(end - 1) as u32,
            _ => 0..=top,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parts are the whole, without overlaps, and differ by one number at most.
    #[test]
    fn the_parts_cover_the_whole_without_overlaps() {
        for (top, of) in [(0, 1), (9, 1), (9, 3), (64_510, 2), (u32::MAX, 1), (u32::MAX, 7)] {
            let workers: Vec<usize> = (10..10 + of).collect();
            let parts: Vec<_> =
                workers.iter().map(|&worker| Share::of_worker(worker, &workers).part(top)).collect();
            assert_eq!((*parts[0].start(), *parts[of - 1].end()), (0, top));
            assert!(parts.windows(2).all(|two| two[0].end() + 1 == *two[1].start()));
            let len = |part: &RangeInclusive<u32>| part.end() - part.start();
            let (least, most) = (parts.iter().map(len).min(), parts.iter().map(len).max());
            assert!(most.unwrap() - least.unwrap() <= 1, "{parts:?}");
        }
    }

    #[test]
    fn more_workers_than_numbers() {
        let parts = [0, 1, 2].map(|worker| Share::of_worker(worker, &[0, 1, 2]).part(1));
        assert_eq!(parts, [0..=1, 0..=0, 1..=1]);
    }

    #[test]
    fn a_worker_without_a_share_uses_another_ones() {
        assert_eq!(Share::of_worker(5, &[0, 2]), Share::of_worker(2, &[0, 2]));
        assert_eq!(Share::of_worker(5, &[]).part(3), 0..=3);
    }
}
