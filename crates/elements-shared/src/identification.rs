//! Identifications of IP headers, by which fragments are put together.

use router::Config;

/// By how much identifications may differ that follow each other and are left to chance.
const LEAP: u16 = 8;

/// The identifications of one worker. Of several workers that an element is on, and of several elements whose packets have the same ends, each
/// has every second, fourth or so, so that none comes twice although they know nothing of each other (RFC 791, section 3.2); one worker of one
/// element alone counts up by one, as Click does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identification {
    /// The upper half counts, so that what goes beyond it is gone, and a length can stand below it.
    next: u32,
    /// Of the upper half, too.
    step: u32,
    /// Whether it goes on where another was.
    has_gone_on: bool,
}

impl Identification {
    /// Those of the worker that an instance is for; the first of all is `first`. Elements of the class whose arguments at the places `ends` are the
    /// same have the same ends.
    pub fn new(config: &Config<'_>, first: u16, ends: &[usize]) -> Identification {
        let workers = config.workers();
        let worker = workers.iter().position(|&worker| worker == config.worker()).unwrap_or(0);
        Identification::of((worker, workers.len()), config.alike(ends), first)
    }

    /// The same from anywhere on: what an observer does not know, and what another run does not begin with again.
    pub fn from_anywhere(config: &Config<'_>, ends: &[usize]) -> Identification {
        // All workers begin at the same number, and take turns from there. An odd constant brings neighbouring seeds far apart.
        let first = config.common_seed().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48;
        Identification::new(config, first as u16, ends)
    }

    /// Those of one of so many workers, and of one of so many elements.
    fn of(worker: (usize, usize), element: (usize, usize), first: u16) -> Identification {
        // Powers of two, so that the steps also fit where numbers begin anew.
        let [workers, elements] = [worker.1, element.1].map(usize::next_power_of_two);
        // With tens of thousands some share theirs.
        let step = (workers * elements).min(1 << 15);
        let place = (worker.0 + element.0 * workers) % step;
        let next = (u32::from(first) + place as u32) << 16;
        Identification { next, step: (step as u32) << 16, has_gone_on: false }
    }

    /// As it stands in the header.
    #[inline]
    pub fn get(self) -> u16 {
        (self.next >> 16) as u16
    }

    /// Behind a total length of 16 bits, as both stand in the header.
    #[inline]
    pub fn behind(self, len: u32) -> [u8; 4] {
        self.next.wrapping_add(len).rotate_left(16).to_be_bytes()
    }

    /// Takes the next one. Who takes one for each packet of a batch, also for those that are dropped, keeps them in a register.
    #[inline]
    pub fn take(&mut self) -> Identification {
        let taken = *self;
        self.next = self.next.wrapping_add(self.step);
        taken
    }

    /// Takes one that an observer of those before cannot tell for sure, by a number left to chance: up to seven are left out in front of it. A worker's
    /// next comes again after thousands, so that fragments of it and of this one are not on their way together, as some are of numbers that are
    /// all left to chance.
    #[inline]
    pub fn take_far(&mut self, chance: u16) -> Identification {
        self.next = self.next.wrapping_add(self.step.wrapping_mul(u32::from(chance % LEAP)));
        self.take()
    }

    /// As bits, for another process.
    pub fn to_bits(self) -> u64 {
        u64::from(self.step) << 32 | u64::from(self.next)
    }

    /// What another process has written.
    pub fn from_bits(bits: u64) -> Identification {
        Identification { next: bits as u32, step: (bits >> 32) as u32, has_gone_on: true }
    }

    /// Goes on where a namesake's were, which may have been on another number of workers. Of several it goes on behind the one that was farthest.
    pub fn go_on(&mut self, from: Identification) {
        // Steps are powers of two, and what they leave over says whose number it is.
        let rest = self.step.wrapping_sub(1 << 16);
        let later = if from.step == self.step { 0 } else { self.step };
        let next = (from.next & !rest | self.next & rest).wrapping_add(later);
        // Numbers go round: what is less than half a round ahead is later.
        if !std::mem::replace(&mut self.has_gone_on, true) || next.wrapping_sub(self.next) < 1 << 31 {
            self.next = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// However often each of some workers takes one, none comes twice before all have come.
    #[test]
    fn none_twice() {
        for (workers, elements) in (1..6_usize).flat_map(|w| (1..4_usize).map(move |e| (w, e))) {
            let mut seen = HashSet::new();
            let share = 65_536 / workers.next_power_of_two() / elements.next_power_of_two();
            for (worker, element) in (0..workers).flat_map(|w| (0..elements).map(move |e| (w, e))) {
                let mut ids = Identification::of((worker, workers), (element, elements), 1);
                for _ in 0..share {
                    let id = ids.take().get();
                    assert!(seen.insert(id), "{id} of worker {worker}, element {element}");
                }
            }
        }
    }

    /// Whatever chance says, none comes twice among as many as fit into all numbers, and other workers have others.
    #[test]
    fn none_twice_by_chance() {
        for workers in 1..6_usize {
            let mut seen = HashSet::new();
            let count = 65_536 / workers.next_power_of_two() / usize::from(LEAP);
            for worker in 0..workers {
                let mut ids = Identification::of((worker, workers), (0, 1), 60_000);
                for _ in 0..count {
                    let id = ids.take_far(fastrand::u16(..)).get();
                    assert!(seen.insert(id), "{id} of worker {worker}");
                }
            }
        }
    }

    /// What goes on has numbers of its own still, and later ones.
    #[test]
    fn goes_on() {
        let mut old = Identification::of((0, 1), (0, 1), 0);
        (0..101).for_each(|_| _ = old.take());
        let goes_on = |place, workers| {
            let mut new = Identification::of((place, workers), (0, 1), 0);
            new.go_on(Identification::from_bits(old.to_bits()));
            new.get()
        };
        assert_eq!((goes_on(0, 1), goes_on(0, 2), goes_on(1, 2)), (101, 102, 103));
    }

    /// One worker in the place of several goes on behind all of them, in whatever order it hears of them, also where numbers begin anew.
    #[test]
    fn goes_on_behind_the_farthest() {
        for first in [0, 1000, 65_400] {
            let used = |place, count| {
                let mut old = Identification::of((place, 2), (0, 1), first);
                (0..count).for_each(|_| _ = old.take());
                old
            };
            for order in [[used(0, 3), used(1, 90)], [used(1, 90), used(0, 3)]] {
                let mut new = Identification::of((0, 1), (0, 1), 0);
                order.iter().for_each(|old| new.go_on(*old));
                let ahead = new.get().wrapping_sub(first);
                assert!((180..200).contains(&ahead), "{ahead} behind {first}");
            }
        }
    }
}
