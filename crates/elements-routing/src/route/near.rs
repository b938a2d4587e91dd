//! The next hops that nearly all routes lead to, each in a word.
//!
//! A [`Forwarding`] is a value of its own in memory, so that workers read a pointer and then a line of the cache for each next hop: some
//! hundred of them fill the first cache. One IPv4 next hop with its output fits a word, eight of which fit a line.

use super::family::Family;
use super::target::{Forwarding, Hop};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

/// Ids that have a word. Most tables have fewer next hops.
const IDS: usize = 1 << 10;
/// Tells the word of a next hop from none.
const HOP: u64 = 1 << 63;

/// Next hops by id. What has no word here is found in the vector of all.
pub(super) struct Near<F: Family> {
    words: Box<[AtomicU64]>,
    family: PhantomData<F>,
}

impl<F: Family> Near<F> {
    pub(super) fn new() -> Self {
        let ids = if F::SHORT { IDS } else { 0 };
        Near { words: (0..ids).map(|_| AtomicU64::new(0)).collect(), family: PhantomData }
    }

    /// Notes where an id leads. The vector of all has it already: a worker that finds no word here goes on there, and has to find
    /// this forwarding or a later one.
    pub(super) fn set(&self, id: u32, forwarding: &Forwarding<F>) {
        let word = match forwarding {
            Forwarding::One(hop) => pack::<F>(hop).unwrap_or(0),
            _ => 0,
        };
        if let Some(at) = self.words.get(id as usize) {
            at.store(word, Ordering::Release);
        }
    }

    /// Notes that an id leads nowhere any more.
    pub(super) fn clear(&self, id: u32) {
        if let Some(at) = self.words.get(id as usize) {
            at.store(0, Ordering::Release);
        }
    }

    /// For many packets: where the words lie is asked once. A load of a word that another thread writes lets nothing that comes after it
    /// be done before, so that the place would be loaded again for each packet.
    #[inline]
    pub(super) fn words(&self) -> Words<'_, F> {
        Words { words: &self.words, family: PhantomData }
    }
}

/// The words of [`Near`], or none.
#[derive(Clone, Copy)]
pub(super) struct Words<'n, F: Family> {
    words: &'n [AtomicU64],
    family: PhantomData<F>,
}

impl<F: Family> Words<'_, F> {
    /// No words.
    pub(super) const NONE: Self = Words { words: &[], family: PhantomData };

    /// The next hop of an id, if it has a word.
    #[inline]
    pub(super) fn get(self, id: u32) -> Option<Hop<F::Address>> {
        let word = self.words.get(id as usize)?.load(Ordering::Acquire);
        (word & HOP != 0)
            .then(|| Hop { gateway: F::from_word(word as u32), port: ((word & !HOP) >> u32::BITS) as u32 })
    }
}

/// The word of a next hop, if it fits.
fn pack<F: Family>(hop: &Hop<F::Address>) -> Option<u64> {
    let word = u64::from(hop.port) << u32::BITS;
    (word & HOP == 0).then_some(HOP | word | u64::from(F::word(hop.gateway)?))
}

#[cfg(test)]
mod tests {
    use super::super::family::{V4, V6};
    use super::*;
    use std::net::{Ipv4Addr, Ipv6Addr};

    /// A next hop comes back as it was; one that does not fit has no word, nor has one of a larger address.
    #[test]
    fn what_fits_comes_back() {
        let near = Near::<V4>::new();
        for (id, port, fits) in [
            (0, 0, true),
            (7, 3, true),
            (IDS as u32 - 1, i32::MAX as u32, true),
            (9, 1 << 31, false),
            (IDS as u32, 1, false),
        ] {
            for gateway in [Ipv4Addr::UNSPECIFIED, Ipv4Addr::new(192, 0, 2, 1), Ipv4Addr::BROADCAST] {
                let hop = Hop { gateway, port };
                near.set(id, &Forwarding::One(hop));
                assert_eq!(near.words().get(id), fits.then_some(hop), "id {id}");
            }
        }
        near.set(7, &Forwarding::Nowhere);
        near.clear(0);
        assert_eq!((near.words().get(7), near.words().get(0)), (None, None));
        let near = Near::<V6>::new();
        near.set(0, &Forwarding::One(Hop { gateway: Ipv6Addr::LOCALHOST, port: 0 }));
        assert_eq!(near.words().get(0), None);
    }
}
