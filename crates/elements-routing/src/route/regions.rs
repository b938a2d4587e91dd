//! Which parts of a table's addresses changed since when, so that what is remembered of the others stays.

use super::family::Family;
use lpm::{Key, Prefix};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering, fence};

/// Bits of an address that say which region it is in.
const BITS: u32 = 12;
const REGIONS: usize = 1 << BITS;
/// Changes of this many prefixes count as changes of all regions.
const MANY: usize = 4096;
/// Each region's first number.
const FIRST: u64 = 2;

/// A number for each region of addresses: odd while a route to any of them changes, and larger after it.
pub(super) struct Regions<F> {
    numbers: Box<[AtomicU64]>,
    family: PhantomData<F>,
}

impl<F: Family> Regions<F> {
    /// The bits behind this one count. Nearly all IPv6 addresses that there are begin with 001.
    const AT: u32 = if F::Key::BITS == 32 { 0 } else { 3 };

    pub(super) fn new() -> Self {
        Regions { numbers: (0..REGIONS).map(|_| AtomicU64::new(FIRST)).collect(), family: PhantomData }
    }

    #[inline]
    fn of(address: F::Key) -> usize {
        address.bits(Self::AT, BITS)
    }

    /// The regions that a prefix has a part in.
    fn covered(prefix: Prefix<F::Key>) -> std::ops::Range<usize> {
        let len = u32::from(prefix.len());
        let free = (Self::AT + BITS).saturating_sub(len).min(BITS);
        if len <= Self::AT {
            return 0..REGIONS;
        }
        let first = Self::of(prefix.addr());
        first..first + (1 << free)
    }

    /// The number of an address's region. What was looked up between two readings of the same even number is what a look-up finds as long
    /// as that is the number.
    #[inline]
    pub(super) fn number(&self, address: F::Key) -> u64 {
        self.numbers[Self::of(address) % REGIONS].load(Ordering::Acquire)
    }

    /// Has what was looked up so far come before what [`Regions::was`] reads.
    #[inline]
    pub(super) fn looked_up() {
        // The look-ups' loads come before the next ones: a worker that saw some of a change sees the number that it began with, or a later one.
        fence(Ordering::Acquire);
    }

    /// Whether an address's region was as it is from when its number was read until [`Regions::looked_up`].
    #[inline]
    pub(super) fn was(&self, address: F::Key, number: u64) -> bool {
        number.is_multiple_of(2)
            && self.numbers[Self::of(address) % REGIONS].load(Ordering::Relaxed) == number
    }

    /// Makes a change to where these prefixes lead. There is one writer at a time. An error of the program in between leaves numbers odd,
    /// and nothing of those regions is remembered any more.
    pub(super) fn change<R>(&self, moves: &[(Prefix<F::Key>, Option<u32>)], change: impl FnOnce() -> R) -> R {
        let all = |set: &dyn Fn(&AtomicU64)| {
            if moves.len() > MANY {
                return self.numbers.iter().for_each(set);
            }
            let prefixes = moves.iter().map(|&(prefix, _)| prefix);
            prefixes.for_each(|prefix| self.numbers[Self::covered(prefix)].iter().for_each(set));
        };
        all(&|number| number.store(number.load(Ordering::Relaxed) | 1, Ordering::Relaxed));
        fence(Ordering::Release);
        let done = change();
        // Before next hops are released: a worker that has been quiescent after that sees the number, and uses no id from before. A region
        // that several prefixes have a part in becomes even once.
        all(&|number| {
            let now = number.load(Ordering::Relaxed);
            number.store(now + now % 2, Ordering::Release);
        });
        done
    }
}

#[cfg(test)]
mod tests {
    use super::super::family::{V4, V6};
    use super::*;
    use proptest::prelude::*;

    /// Whatever a prefix has in it is in a region that it covers, and regions have other numbers after a change, even ones.
    fn covers<F: Family>(address: F::Key, len: u8, probe: u128) -> Result<(), TestCaseError> {
        let prefix = Prefix::new(
            F::Key::from_left(address.to_left() & !(u128::MAX.checked_shr(len.into()).unwrap_or(0))),
            len,
        );
        let prefix = prefix.expect("a length");
        let inside = F::Key::from_left(
            prefix.addr().to_left() | probe & u128::MAX.checked_shr(len.into()).unwrap_or(0),
        );
        let regions = Regions::<F>::new();
        let before = regions.number(inside);
        regions.change(&[(prefix, None), (prefix, None)], || {
            assert!(!regions.was(inside, regions.number(inside)), "while it changes");
        });
        prop_assert!(!regions.was(inside, before) && regions.number(inside).is_multiple_of(2));
        let changed = regions.numbers.iter().filter(|number| number.load(Ordering::Relaxed) != FIRST).count();
        let expected = 1usize << (BITS + Regions::<F>::AT).saturating_sub(len.into()).min(BITS);
        prop_assert_eq!(changed, expected);
        Ok(())
    }

    proptest! {
        #[test]
        fn a_prefix_covers_what_is_in_it(address: u128, probe: u128, len in 0u8..=32) {
            covers::<V4>(u32::from_left(address), len, probe)?;
            covers::<V6>(address, len * 4, probe)?;
        }
    }
}
