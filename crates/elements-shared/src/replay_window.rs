//! Which sequence numbers have come (RFC 4303, section 3.4.3, and appendix A; the ring of words is that of RFC 6479).

/// Numbers up to the greatest that came, and which of the last ones did.
pub struct Window {
    greatest: u64,
    /// Numbers that can still come, the greatest included.
    size: u64,
    /// A bit for each number, in a ring. One word more than the window needs, so that whole words are cleared ahead of it.
    words: Vec<u64>,
}

/// Why a number is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It has come before.
    Again,
    /// It is too old for that to be known.
    Old,
}

impl Window {
    /// A window of at least `size` numbers, none of which has come.
    pub fn new(size: u32) -> Window {
        let words = (u64::from(size).div_ceil(64) + 1).next_power_of_two();
        Window { greatest: 0, size: 64 * (words - 1), words: vec![0; words as usize] }
    }

    /// Goes on from another window, possibly of another size: what came there has come. Numbers that only the larger
    /// one of both remembers count as come.
    pub fn go_on(&mut self, from: &Window) {
        self.note(from.greatest);
        for number in (from.greatest.saturating_sub(self.size)..from.greatest).rev() {
            if from.check(number).is_err() && self.check(number).is_ok() {
                self.note(number);
            }
        }
    }

    /// The greatest number that has come, and the ring of bits, for another process.
    pub fn left(&self) -> (u64, &[u64]) {
        (self.greatest, &self.words)
    }

    /// The window that [`Window::left`] has described; `None` if there is no such window.
    pub fn of(greatest: u64, words: Vec<u64>) -> Option<Window> {
        let count = words.len();
        let fits = count.is_power_of_two() && (2..=1 << 20).contains(&count);
        fits.then(|| Window { greatest, size: 64 * (count as u64 - 1), words })
    }

    /// The greatest number that has come.
    pub fn greatest(&self) -> u64 {
        self.greatest
    }

    /// The number whose lower half this is: the one within the window, or else the next one ahead of it (RFC 4303,
    /// appendix A2.2). `None` behind the last of all.
    pub fn whole(&self, low: u32) -> Option<u64> {
        let oldest = self.greatest.saturating_sub(self.size - 1);
        let number = oldest & !u64::from(u32::MAX) | u64::from(low);
        if number >= oldest { Some(number) } else { number.checked_add(1 << 32) }
    }

    /// Whether a number may come. Any sender may have made it up as long as the packet's integrity is not checked.
    pub fn check(&self, number: u64) -> Result<(), Refused> {
        if number > self.greatest {
            return Ok(());
        }
        // The number 0 is never sent.
        if number == 0 || self.greatest - number >= self.size {
            return Err(Refused::Old);
        }
        let (word, bit) = self.place(number);
        if self.words[word] & bit == 0 { Ok(()) } else { Err(Refused::Again) }
    }

    /// Notes that a number has come, for which [`Window::check`] has just said that it may.
    pub fn note(&mut self, number: u64) {
        if number > self.greatest {
            let (from, to) = (self.greatest / 64, number / 64);
            let len = self.words.len() as u64;
            for word in from + 1..=to.min(from + len) {
                self.words[(word % len) as usize] = 0;
            }
            self.greatest = number;
        }
        let (word, bit) = self.place(number);
        self.words[word] |= bit;
    }

    fn place(&self, number: u64) -> (usize, u64) {
        // Their count is a power of two.
        ((number / 64) as usize & (self.words.len() - 1), 1 << (number % 64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// What a window is to do, said plainly.
    fn expected(seen: &BTreeSet<u64>, size: u64, number: u64) -> Result<(), Refused> {
        let greatest = seen.last().copied().unwrap_or(0);
        match number {
            0 => Err(Refused::Old),
            _ if number > greatest => Ok(()),
            _ if number + size <= greatest => Err(Refused::Old),
            _ if seen.contains(&number) => Err(Refused::Again),
            _ => Ok(()),
        }
    }

    proptest! {
        /// Steps are as far as the ring, and farther, so that words are used again.
        #[test]
        fn as_a_set_of_numbers(size in 1u32..400, steps in prop::collection::vec(-500i64..700, 1..300)) {
            let (mut window, mut seen) = (Window::new(size), BTreeSet::new());
            let real = window.size;
            prop_assert!(real >= u64::from(size));
            for step in steps {
                let number = (window.greatest() as i64 + step).max(0) as u64;
                let want = expected(&seen, real, number);
                prop_assert_eq!(window.check(number), want, "number {}", number);
                if want.is_ok() {
                    window.note(number);
                    seen.insert(number);
                }
            }
            prop_assert_eq!(window.greatest(), seen.last().copied().unwrap_or(0));
        }

        /// Numbers of 64 bits are found by their lower halves, as long as they are not further ahead than those reach.
        #[test]
        fn whole_numbers(greatest in any::<u64>(), step in -64i64..1 << 31) {
            let mut window = Window::new(64);
            prop_assume!(greatest > 64 && greatest < 1 << 63);
            window.note(greatest);
            let number = greatest.wrapping_add_signed(step.max(1 - window.size as i64));
            prop_assert_eq!(window.whole(number as u32), Some(number));
        }
    }

    /// The edges of the halves: behind one, and before the very first number.
    #[test]
    fn around_halves() {
        let mut window = Window::new(64);
        assert_eq!(window.whole(u32::MAX), Some(u64::from(u32::MAX)));
        window.note(5);
        assert_eq!((window.whole(4), window.whole(0)), (Some(4), Some(0)));
        window.note((1 << 32) + 3);
        assert_eq!(window.whole(u32::MAX), Some(u64::from(u32::MAX)));
        assert_eq!(window.whole(100), Some((1 << 32) + 100));
    }
}
