//! How many unconfirmed flows each prefix of sources has.

use crate::hash::HashKey;
use crate::key::Key;
use crate::limits::Limits;

/// Counters for each unconfirmed flow that there can be: with four, one prefix in five shares its counter if each has one flow.
const COUNTERS: usize = 4;
/// Counters at least.
const COUNTERS_MIN: usize = 4096;

/// Counters by hash.
pub(crate) struct Quota {
    most: u16,
    bits: (u8, u8),
    counts: Box<[u16]>,
}

impl Quota {
    pub(crate) fn new(limits: &Limits) -> Quota {
        let counters = if limits.quota == 0 { 0 } else { (COUNTERS * limits.unconfirmed).max(COUNTERS_MIN) };
        Quota { most: limits.quota, bits: limits.quota_bits, counts: vec![0; counters].into() }
    }

    #[inline]
    fn count(&mut self, flow: &impl Key, key: &HashKey) -> Option<&mut u16> {
        if self.most == 0 {
            return None;
        }
        let hash = key.hash([flow.source(self.bits)]) & 0xffff_ffff;
        self.counts.get_mut(((hash * self.counts.len() as u64) >> 32) as usize)
    }

    /// Whether there is none left for another flow.
    #[inline]
    pub(crate) fn is_used(&mut self, flow: &impl Key, key: &HashKey) -> bool {
        let most = self.most;
        self.count(flow, key).is_some_and(|count| *count >= most)
    }

    /// One more.
    #[inline]
    pub(crate) fn take(&mut self, flow: &impl Key, key: &HashKey) {
        if let Some(count) = self.count(flow, key) {
            *count = count.saturating_add(1);
        }
    }

    /// One less.
    #[inline]
    pub(crate) fn give(&mut self, flow: &impl Key, key: &HashKey) {
        if let Some(count) = self.count(flow, key) {
            *count = count.saturating_sub(1);
        }
    }

    /// All that are counted.
    #[cfg(test)]
    pub(crate) fn sum(&self) -> usize {
        self.counts.iter().map(|&count| usize::from(count)).sum()
    }
}
