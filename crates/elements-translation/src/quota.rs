//! How many flows the sources of one prefix have, in a table that workers share.
//!
//! A counter says how many, found by a hash of the prefix. Two counters count each prefix, and the lower one says what it has: a prefix whose
//! counter a crowded one shares has another that none shares, but for one in millions. What is counted is never less than the truth.

use elements_shared::keyed_hash::HashKey;
use router::Args;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Counters at least and at most: 16 KiB to 4 MiB.
const LEAST: usize = 1 << 12;
const MOST: usize = 1 << 20;

/// Why a flow is refused whose source's prefix has as many as it may.
pub(crate) const QUOTA: &str = "too many flows from one prefix";

/// What sources may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit {
    /// Flows of a prefix at most; 0 for no limit.
    flows: u32,
    /// How long prefixes are, of IPv4 and of IPv6.
    bits: [u8; 2],
}

impl Limit {
    /// No limit.
    pub(crate) const NONE: Limit = Limit { flows: 0, bits: [24, 64] };

    /// So many flows, of prefixes of usual lengths.
    #[cfg(test)]
    pub(crate) fn of(flows: u32) -> Limit {
        Limit { flows, ..Limit::NONE }
    }

    /// Reads QUOTA and the lengths of prefixes of the versions of IP that an element's sources have: of IPv4, of IPv6.
    pub(crate) fn read<'s, 'v>(&'v mut self, mut args: Args<'s, 'v>, has: [bool; 2]) -> Args<'s, 'v> {
        args = args.keyword("QUOTA", &mut self.flows);
        let names = ["QUOTA_PREFIX", "QUOTA_PREFIX6"].into_iter().zip(has);
        for ((name, has), bits) in names.zip(&mut self.bits) {
            args = if has { args.keyword(name, bits) } else { args };
        }
        args
    }

    /// Whether prefixes have a length that addresses have.
    ///
    /// # Errors
    /// Which one has not.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        match self.bits.map(|bits| bits.div_ceil(32)) {
            [0 | 1, 0..=2] => Ok(()),
            [0 | 1, _] => Err("bad QUOTA_PREFIX6: 64 bits at most"),
            _ => Err("bad QUOTA_PREFIX: an IPv4 prefix has 32 bits at most"),
        }
    }

    /// Whether there is one.
    pub(crate) fn is_some(&self) -> bool {
        self.flows > 0
    }
}

impl Default for Limit {
    fn default() -> Limit {
        Limit::NONE
    }
}

/// The counters.
pub(crate) struct Quota {
    limit: Limit,
    key: HashKey,
    counts: Box<[AtomicU32]>,
}

impl Quota {
    /// Counters for a table of so many flows; none without a limit.
    pub(crate) fn new(limit: Limit, capacity: usize, seed: u64) -> Quota {
        let counters = capacity.clamp(LEAST, MOST).next_power_of_two();
        let counts = (0..if limit.is_some() { counters } else { 0 }).map(|_| AtomicU32::new(0)).collect();
        Quota { limit, key: HashKey::new(seed.rotate_left(32)), counts }
    }

    /// What it limits.
    pub(crate) fn limit(&self) -> Limit {
        self.limit
    }

    /// Whether flows are counted.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        !self.counts.is_empty()
    }

    /// A source's counters; there are some.
    fn counters(&self, source: IpAddr) -> [&AtomicU32; 2] {
        let words = match source {
            IpAddr::V4(source) => [4, upper(u64::from(source.to_bits()) << 32, self.limit.bits[0])],
            IpAddr::V6(source) => [6, upper((source.to_bits() >> 64) as u64, self.limit.bits[1])],
        };
        let (hash, last) = (self.key.hash(words), self.counts.len() - 1);
        let first = hash as usize & last;
        // An odd distance: never the same counter.
        [first, (first + ((hash >> 32) as usize | 1)) & last].map(|at| &self.counts[at])
    }

    /// Whether a source's prefix has as many flows as it may. Workers that ask at the same time may go a few beyond.
    #[inline]
    pub(crate) fn is_used(&self, source: impl FnOnce() -> IpAddr) -> bool {
        let has = |source| self.counters(source).iter().all(|count| count.load(Relaxed) >= self.limit.flows);
        self.is_on() && has(source())
    }

    /// A source has one more.
    #[inline]
    pub(crate) fn take(&self, source: impl FnOnce() -> IpAddr) {
        if self.is_on() {
            self.counters(source()).iter().for_each(|count| _ = count.fetch_add(1, Relaxed));
        }
    }

    /// A source that took one has one less.
    #[inline]
    pub(crate) fn give(&self, source: impl FnOnce() -> IpAddr) {
        if self.is_on() {
            self.counters(source()).iter().for_each(|count| _ = count.fetch_sub(1, Relaxed));
        }
    }

    /// All that are counted, twice each.
    #[cfg(test)]
    pub(crate) fn sum(&self) -> u64 {
        self.counts.iter().map(|count| u64::from(count.load(Relaxed))).sum()
    }
}

/// So many upper bits of a word.
fn upper(word: u64, bits: u8) -> u64 {
    word & !(u64::MAX.checked_shr(bits.into()).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, Ipv6Addr};

    /// One prefix uses up what it has; others do not notice, and what it gives back it may take again.
    #[test]
    fn prefixes_do_not_share() {
        let quota = Quota::new(Limit::of(10), 1 << 16, 1);
        let v4 = |net: u32, host: u32| move || IpAddr::from(Ipv4Addr::from_bits(net << 8 | host));
        let v6 = |net: u128| move || IpAddr::from(Ipv6Addr::from_bits(net << 64 | 7));
        (0..10).for_each(|host| {
            assert!(!quota.is_used(v4(5, host)));
            quota.take(v4(5, host));
        });
        assert!(quota.is_used(v4(5, 200)));
        (6..2000).for_each(|net| assert!(!quota.is_used(v4(net, 1)) && !quota.is_used(v6(net.into()))));
        quota.give(v4(5, 3));
        assert!(!quota.is_used(v4(5, 200)));
        (0..10).for_each(|_| quota.take(v6(9)));
        assert!(quota.is_used(v6(9)) && !quota.is_used(v6(10)));
        assert_eq!(quota.sum(), 2 * 19);
    }

    #[test]
    fn off_unless_asked_for() {
        let quota = Quota::new(Limit::NONE, 1 << 20, 1);
        quota.take(|| unreachable!("nothing is counted"));
        assert!(!quota.is_used(|| unreachable!()) && quota.counts.is_empty());
        assert_eq!(
            [upper(u64::MAX, 0), upper(u64::MAX, 24) >> 40, upper(u64::MAX, 64)],
            [0, (1 << 24) - 1, u64::MAX]
        );
        assert!(Limit { bits: [33, 64], ..Limit::NONE }.check().is_err());
        assert!(Limit { bits: [32, 65], ..Limit::NONE }.check().is_err());
    }
}
