//! Many lines of one rate.

/// Lines that carry the same number of bits a second, each a queue that empties at that rate: what was sent into it and what
/// time has passed tell how much still waits.
///
/// As [`crate::load::Backlog`], but of eight bytes each: a simulation of thousands of servers asks a different line at every
/// event, and all of them should fit into a cache.
#[derive(Debug)]
pub(super) struct Lines {
    ps_per_byte: u64,
    /// When all that was sent will be through, in picoseconds; these last for half a year.
    free_ps: Vec<u64>,
}

impl Lines {
    /// So many lines of so many bits a second.
    pub(super) fn new(count: usize, bits_per_second: u64) -> Lines {
        Lines { ps_per_byte: 8_000_000_000_000 / bits_per_second.max(1), free_ps: vec![0; count] }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.free_ps.len()
    }

    /// Sends bytes into a line unless more than `bound` would wait then; one packet may always wait. When they will be through,
    /// in nanoseconds.
    #[inline]
    pub(super) fn send(&mut self, line: usize, now_ns: u64, bytes: u32, bound: u32) -> Option<u64> {
        let (free_ps, now_ps) = (&mut self.free_ps[line], now_ns * 1_000);
        let start_ps = now_ps.max(*free_ps);
        if start_ps - now_ps > u64::from(bound.saturating_sub(bytes)) * self.ps_per_byte {
            return None;
        }
        *free_ps = start_ps + u64::from(bytes) * self.ps_per_byte;
        Some(*free_ps / 1_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Backlog;
    use proptest::prelude::*;

    proptest! {
        /// They carry what links of the path choice carry, to the nanosecond.
        #[test]
        fn lines_carry_what_links_of_the_path_choice_carry(rate in 1_000_000u64..400_000_000_000, steps in proptest::collection::vec((0u64..9_000, 64u32..9_000), 1..80)) {
            let (mut lines, mut backlog, mut now) = (Lines::new(3, rate), Backlog::new(rate), 0);
            for (pause, bytes) in steps {
                now += pause;
                // A backlog rounds what waits and what may wait to nanoseconds. Where that decides, they go different ways from here on.
                let may_wait = backlog.cost_ns(20_000u32.saturating_sub(bytes));
                if backlog.waiting_ns(now).abs_diff(may_wait) <= 1 {
                    break;
                }
                let left = lines.send(1, now, bytes, 20_000);
                prop_assert_eq!(left.is_some(), backlog.fits(now, bytes, 20_000));
                if let Some(at) = left {
                    prop_assert!(at.abs_diff(backlog.add(now, bytes)) <= 1);
                }
            }
        }
    }
}
