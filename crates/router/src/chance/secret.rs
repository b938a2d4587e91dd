//! Numbers that strangers cannot guess.

use chacha20::ChaCha12Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// The source of all keys, seeds and identifiers of a program that runs for real: a cryptographic generator (ChaCha with 12 rounds) whose
/// key is from the system. What comes out of it says nothing of what came before or comes next.
///
/// A program has one, and gives it to each router that it builds ([`crate::Options::secret`]): numbers of a configuration that takes the
/// place of another one go on, and do not begin anew. Keys of hashes by which workers and configurations have to agree
/// ([`crate::Config::common_seed`]) stay the same.
#[derive(Clone)]
pub struct Secret {
    common: u64,
    source: Arc<Mutex<ChaCha12Rng>>,
}

impl Secret {
    /// One with a key from the system's source (getrandom(2)).
    ///
    /// # Errors
    /// The system has none.
    pub fn from_system() -> io::Result<Secret> {
        let mut key = [0; 32];
        let mut filled = 0;
        while filled < key.len() {
            filled += rustix::rand::getrandom(&mut key[filled..], rustix::rand::GetRandomFlags::empty())?;
        }
        Ok(Secret::from_key(key))
    }

    /// The same with the keys of hashes that a former process had (`common_seed` of its [`crate::Info`]), so that what was placed or sent by them stays
    /// where it is.
    #[must_use]
    pub fn with_common(self, common: u64) -> Secret {
        Secret { common, ..self }
    }

    fn from_key(key: [u8; 32]) -> Secret {
        let mut source = ChaCha12Rng::from_seed(key);
        Secret { common: source.next_u64(), source: Arc::new(Mutex::new(source)) }
    }

    /// A number that is another one each time.
    pub(crate) fn draw(&self) -> u64 {
        self.source.lock().unwrap_or_else(PoisonError::into_inner).next_u64()
    }

    /// A number that stays the same.
    pub(crate) fn common(&self) -> u64 {
        self.common
    }

    /// A generator for one worker, which shares nothing with others.
    pub(crate) fn generator(&self) -> ChaCha12Rng {
        let mut key = [0; 32];
        self.source.lock().unwrap_or_else(PoisonError::into_inner).fill_bytes(&mut key);
        ChaCha12Rng::from_seed(key)
    }
}

/// A worker's numbers for what strangers see and shall not guess: identifiers, ports, initial sequence numbers, keys. They come from a
/// [`Secret`], or in runs with a seed from the worker's other random numbers.
pub struct Unguessable<'w> {
    pub(crate) secret: Option<&'w mut ChaCha12Rng>,
    pub(crate) seeded: &'w mut fastrand::Rng,
}

impl Unguessable<'_> {
    /// Any number of 16 bits.
    pub fn u16(&mut self) -> u16 {
        match &mut self.secret {
            Some(secret) => secret.next_u32() as u16,
            None => self.seeded.u16(..),
        }
    }

    /// Any number of 32 bits.
    pub fn u32(&mut self) -> u32 {
        match &mut self.secret {
            Some(secret) => secret.next_u32(),
            None => self.seeded.u32(..),
        }
    }

    /// Any number of 64 bits.
    pub fn u64(&mut self) -> u64 {
        match &mut self.secret {
            Some(secret) => secret.next_u64(),
            None => self.seeded.u64(..),
        }
    }

    /// A number up to `top`, each as likely as the others but for one part in 2^32.
    pub fn up_to(&mut self, top: u32) -> u32 {
        match &mut self.secret {
            Some(secret) => {
                let product = u128::from(secret.next_u64()) * (u128::from(top) + 1);
                (product >> 64) as u32
            }
            None => self.seeded.u32(0..=top),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two sources have nothing in common; all that one gives is different, but what is to stay the same.
    #[test]
    fn differs_and_stays() {
        let secrets = [(); 2].map(|()| Secret::from_system().expect("a system with random numbers"));
        let mut seen = std::collections::HashSet::new();
        for secret in &secrets {
            assert!(seen.insert(secret.common()));
            assert_eq!(secret.clone().common(), secret.common());
            for _ in 0..100 {
                assert!(seen.insert(secret.draw()) && seen.insert(secret.clone().draw()));
                assert!(seen.insert(secret.generator().next_u64()));
            }
        }
    }

    /// Every number up to the top comes, and none above.
    #[test]
    fn up_to_the_top() {
        let mut generator = Secret::from_key([7; 32]).generator();
        let mut seeded = fastrand::Rng::with_seed(1);
        for with_secret in [true, false] {
            let secret = if with_secret { Some(&mut generator) } else { None };
            let mut numbers = Unguessable { secret, seeded: &mut seeded };
            let mut counts = [0; 7];
            (0..7000).for_each(|_| counts[numbers.up_to(6) as usize] += 1);
            assert!(counts.iter().all(|count| (800..1200).contains(count)), "{counts:?}");
            assert_eq!(numbers.up_to(0), 0);
            let high = (0..64).map(|_| numbers.up_to(u32::MAX)).max();
            assert!(high > Some(u32::MAX / 2), "{high:?}");
        }
    }
}
