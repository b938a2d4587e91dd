//! Where flows were found lately.

use crate::hash::HashKey;
use crate::key::Key;
use crate::table::Guess;

/// Places for guesses, as a power of two: 64 KiB, which stay in a processor's own caches.
const PLACE_BITS: u32 = 13;

/// The guess for the key that had this tag.
#[derive(Clone, Copy)]
struct Place {
    tag: u32,
    guess: Guess,
}

const _: () = assert!(size_of::<Place>() == 8);

/// Where the flows of the last packets were found: a guess for [`Table::meet_known`](crate::Table::meet_known) without the key's hash and without
/// the table's index, where packets are of a few thousand flows.
///
/// It knows one flow for each of 8192 values of a quick hash, and takes another flow for it once in thousands of millions; and it does not hear of
/// flows that end. So a guess may be wrong, which the table finds out.
pub struct Recent {
    key: HashKey,
    places: Box<[Place; 1 << PLACE_BITS]>,
}

impl Recent {
    /// One that knows nothing. Which flows share a place follows from the key.
    pub fn new(key: HashKey) -> Recent {
        Recent { key, places: Box::new([Place { tag: 0, guess: Guess::NONE }; 1 << PLACE_BITS]) }
    }

    /// What a key's guess is known by: a hash that has nothing to do with the table's.
    #[inline]
    pub fn hash(&self, key: &impl Key) -> u64 {
        key.quick(&self.key)
    }

    /// Where the flow with this hash was found the last time, if that is known.
    #[inline]
    pub fn guess(&self, hash: u64) -> Option<Guess> {
        let place = &self.places[place(hash)];
        (place.tag == tag(hash)).then_some(place.guess)
    }

    /// Keeps in mind where the flow with this hash is.
    #[inline]
    pub fn note(&mut self, hash: u64, guess: Guess) {
        self.places[place(hash)] = Place { tag: tag(hash), guess };
    }
}

#[inline]
fn place(hash: u64) -> usize {
    (hash >> (u64::BITS - PLACE_BITS)) as usize
}

#[inline]
fn tag(hash: u64) -> u32 {
    hash as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::V4Tuple;
    use crate::records::Slot;

    /// Ports in no order.
    fn tuple(flow: u32) -> V4Tuple {
        V4Tuple::from_words(0x0a00_0001_c000_0201, 17 << 32 | u64::from(flow.wrapping_mul(0x9e37_79b1)))
    }

    /// What was noted last is known, of many flows in few places, and never as another flow's.
    #[test]
    fn knows_what_was_noted_last() {
        let mut recent = Recent::new(HashKey::new(1));
        let guess = |flow: u32| Guess::from(Slot(flow));
        let hashes: Vec<u64> = (0..100_000).map(|flow| recent.hash(&tuple(flow))).collect();
        assert!(hashes.iter().all(|&hash| recent.guess(hash).is_none()));
        for (flow, &hash) in (0..).zip(&hashes) {
            recent.note(hash, guess(flow));
            assert_eq!(recent.guess(hash), Some(guess(flow)));
        }
        let known = |flow: u32| {
            let known = recent.guess(hashes[flow as usize]);
            assert!(known.is_none_or(|known| known == guess(flow)));
            known.is_some()
        };
        let of_the_last = (99_000..100_000).filter(|&flow| known(flow)).count();
        assert!((900..1000).contains(&of_the_last), "{of_the_last}: few share a place");
        assert!((0..20_000).filter(|&flow| known(flow)).count() < 20, "others took their places");
    }
}
