//! Which sequence numbers have come, where several workers ask (RFC 4303, section 3.4.3).
//!
//! A ring of words, as RFC 6479 has it, but each word says itself which numbers it is about: its upper 48 bits are the number of a block of 16
//! sequence numbers, and its lower 16 bits say which of these have come. A worker notes a number by one compare-and-swap of its word. The
//! block of a word only grows, and for a block bits are only added. So a number is accepted once, whatever workers do at the same time: of
//! two that bring the same number one finds the other's bit, or a later block in its place.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Numbers in a word.
const BLOCK: u64 = 16;
/// Numbers at and beyond this one have no block: an association ends there.
pub(crate) const END: u64 = 1 << 52;

/// Numbers up to the greatest that came, and which of the last ones did.
pub(crate) struct Replay {
    greatest: AtomicU64,
    /// Numbers that can still come, the greatest included; 0 if none is looked at.
    size: u64,
    words: Box<[AtomicU64]>,
}

/// Why a number is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// It has come before.
    Again,
    /// It is too old for that to be known.
    Old,
}

impl Replay {
    /// A window of at least `size` numbers, in which all up to `greatest` have come.
    pub(crate) fn new(size: u32, greatest: u64) -> Replay {
        let words = if size == 0 { 0 } else { (u64::from(size).div_ceil(BLOCK) + 1).next_power_of_two() };
        let size = (words * BLOCK).saturating_sub(BLOCK);
        let ring: Box<[AtomicU64]> = (0..words).map(|_| AtomicU64::new(0)).collect();
        let replay = Replay { greatest: AtomicU64::new(0), size, words: ring };
        replay.go_on(greatest);
        replay
    }

    /// Goes on where another window was: all numbers up to `greatest` have come.
    pub(crate) fn go_on(&self, greatest: u64) {
        let words = self.words.len() as u64;
        for block in (greatest / BLOCK + 1).saturating_sub(words)..=greatest / BLOCK {
            let bits = if block == greatest / BLOCK { (2 << (greatest % BLOCK)) - 1 } else { 0xffff };
            if let Some(word) = self.word(block) {
                word.fetch_max(block << 16 | bits, Relaxed);
            }
        }
        self.greatest.fetch_max(greatest, Relaxed);
    }

    /// The greatest number that has come.
    pub(crate) fn greatest(&self) -> u64 {
        self.greatest.load(Relaxed)
    }

    /// The number whose lower half this is: the one within the window, or else the next one ahead of it (RFC 4303, appendix A2.2).
    #[inline]
    pub(crate) fn whole(&self, low: u32) -> u64 {
        let oldest = self.greatest().saturating_sub(self.size.saturating_sub(1));
        let number = oldest & !u64::from(u32::MAX) | u64::from(low);
        if number >= oldest { number } else { number.saturating_add(1 << 32) }
    }

    /// Whether a number may come, as it seems. Any sender may have made it up as long as the packet's integrity is not checked.
    #[inline]
    pub(crate) fn check(&self, number: u64) -> Result<(), Refused> {
        if number == 0 || number >= END {
            return Err(Refused::Old);
        }
        let Some(word) = self.word(number / BLOCK) else { return Ok(()) };
        if self.greatest() >= self.size.saturating_add(number) {
            return Err(Refused::Old);
        }
        added(word.load(Relaxed), number).map(drop)
    }

    /// Notes that a number has come, whose packet is right. Only one who notes a number is told that it may come.
    #[inline]
    pub(crate) fn note(&self, number: u64) -> Result<(), Refused> {
        self.check(number)?;
        if let Some(word) = self.word(number / BLOCK) {
            let mut old = word.load(Relaxed);
            loop {
                let new = added(old, number)?;
                // One word is all that counts, so any order of memory will do.
                match word.compare_exchange_weak(old, new, Relaxed, Relaxed) {
                    Ok(_) => break,
                    Err(now) => old = now,
                }
            }
        }
        if number > self.greatest() {
            self.greatest.fetch_max(number, Relaxed);
        }
        Ok(())
    }

    /// Asks for what says whether the number has come whose lower half this is. A block has the same word as that of the half: the ring is no longer
    /// than there are halves.
    #[inline]
    pub(crate) fn prefetch(&self, low: u32) {
        if let Some(word) = self.word(u64::from(low) / BLOCK) {
            packet::prefetch(word);
        }
    }

    #[inline]
    fn word(&self, block: u64) -> Option<&AtomicU64> {
        self.words.get(block as usize & self.words.len().wrapping_sub(1))
    }
}

/// What a word becomes when a number is noted in it.
#[inline]
fn added(word: u64, number: u64) -> Result<u64, Refused> {
    let (block, bit) = (number / BLOCK, 1 << (number % BLOCK));
    match (word >> 16).cmp(&block) {
        std::cmp::Ordering::Greater => Err(Refused::Old),
        std::cmp::Ordering::Equal if word & bit != 0 => Err(Refused::Again),
        std::cmp::Ordering::Equal => Ok(word | bit),
        std::cmp::Ordering::Less => Ok(block << 16 | bit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// What a window is to do, said plainly.
    fn expected(seen: &BTreeSet<u64>, start: u64, size: u64, number: u64) -> Result<(), Refused> {
        let greatest = seen.last().copied().unwrap_or(0).max(start);
        match number {
            0 => Err(Refused::Old),
            _ if number > greatest => Ok(()),
            _ if number + size <= greatest => Err(Refused::Old),
            _ if number <= start || seen.contains(&number) => Err(Refused::Again),
            _ => Ok(()),
        }
    }

    proptest! {
        /// Steps are as far as the ring, and farther, so that words are used again.
        #[test]
        fn as_a_set_of_numbers(
            size in 1u32..400, start in prop_oneof![Just(0), 1u64..2000], steps in prop::collection::vec(-500i64..700, 1..300)
        ) {
            let (window, mut seen) = (Replay::new(size, start), BTreeSet::new());
            prop_assert!(window.size >= u64::from(size));
            for step in steps {
                let number = (window.greatest() as i64 + step).max(0) as u64;
                let want = expected(&seen, start, window.size, number);
                prop_assert_eq!(window.check(number), want, "number {}", number);
                prop_assert_eq!(window.note(number), want, "number {}", number);
                if want.is_ok() {
                    seen.insert(number);
                    prop_assert_eq!(window.note(number), Err(Refused::Again));
                }
            }
        }

        /// Numbers of 64 bits are found by their lower halves, as long as they are not further ahead than those reach.
        #[test]
        fn whole_numbers(greatest in 200u64..END, step in -64i64..1 << 31) {
            let window = Replay::new(64, greatest);
            let number = greatest.wrapping_add_signed(step.max(1 - window.size as i64));
            prop_assert_eq!(window.whole(number as u32), number);
        }
    }

    /// Threads that all bring all numbers, some later than others: each is accepted at most once, and by the one that is alone every one.
    #[test]
    fn once_among_threads() {
        const NUMBERS: u64 = 40_000;
        let window = Replay::new(256, 0);
        let accepted: Vec<AtomicU64> = (0..=NUMBERS).map(|_| AtomicU64::new(0)).collect();
        std::thread::scope(|scope| {
            for thread in 0..4u64 {
                let (window, accepted) = (&window, &accepted);
                scope.spawn(move || {
                    for number in 1..=NUMBERS {
                        let number =
                            if number % 5 == thread { number.saturating_sub(100).max(1) } else { number };
                        if window.note(number).is_ok() {
                            accepted[number as usize].fetch_add(1, Relaxed);
                        }
                    }
                });
            }
        });
        assert!(accepted.iter().all(|count| count.load(Relaxed) <= 1));
        assert_eq!(window.greatest(), NUMBERS);
    }

    #[test]
    fn nothing_is_looked_at_without_a_window() {
        let window = Replay::new(0, 0);
        assert_eq!((window.note(7), window.note(7), window.note(0)), (Ok(()), Ok(()), Err(Refused::Old)));
    }

    /// The last number, and those behind it.
    #[test]
    fn the_end() {
        let window = Replay::new(64, END - 2);
        assert_eq!((window.note(END - 1), window.note(END - 1)), (Ok(()), Err(Refused::Again)));
        assert_eq!((window.note(END), window.note(u64::MAX)), (Err(Refused::Old), Err(Refused::Old)));
    }
}
