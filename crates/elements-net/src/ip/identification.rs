//! Identifications of IP headers, by which fragments are put together.

use router::Config;

/// The identifications of one worker. Of several workers that an element is on, and of several elements whose packets have the same ends, each
/// has every second, fourth or so, so that none comes twice although they know nothing of each other (RFC 791, section 3.2); one worker of one
/// element alone counts up by one, as Click does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identification {
    /// The upper half counts, so that what goes beyond it is gone, and a length can stand below it.
    next: u32,
    /// Of the upper half, too.
    step: u32,
}

impl Identification {
    /// Those of the worker that an instance is for; the first of all is `first`. Elements of the class whose arguments at the places `ends` are the
    /// same have the same ends.
    pub(super) fn new(config: &Config<'_>, first: u16, ends: &[usize]) -> Identification {
        let workers = config.workers();
        let worker = workers.iter().position(|&worker| worker == config.worker()).unwrap_or(0);
        Identification::of((worker, workers.len()), config.alike(ends), first)
    }

    /// Those of one of so many workers, and of one of so many elements.
    fn of(worker: (usize, usize), element: (usize, usize), first: u16) -> Identification {
        // Powers of two, so that the steps also fit where numbers begin anew.
        let [workers, elements] = [worker.1, element.1].map(usize::next_power_of_two);
        // With tens of thousands some share theirs.
        let step = (workers * elements).min(1 << 15);
        let place = (worker.0 + element.0 * workers) % step;
        Identification { next: (u32::from(first) + place as u32) << 16, step: (step as u32) << 16 }
    }

    /// As it stands in the header.
    #[inline]
    pub(super) fn get(self) -> u16 {
        (self.next >> 16) as u16
    }

    /// Behind a total length of 16 bits, as both stand in the header.
    #[inline]
    pub(super) fn behind(self, len: u32) -> [u8; 4] {
        self.next.wrapping_add(len).rotate_left(16).to_be_bytes()
    }

    /// Takes the next one. Who takes one for each packet of a batch, also for those that are dropped, keeps them in a register.
    #[inline]
    pub(super) fn take(&mut self) -> Identification {
        let taken = *self;
        self.next = self.next.wrapping_add(self.step);
        taken
    }

    /// Goes on where a namesake's were, which may have been on another number of workers.
    pub(super) fn go_on(&mut self, from: Identification) {
        // Steps are powers of two, and what they leave over says whose number it is.
        let rest = self.step.wrapping_sub(1 << 16);
        let later = if from.step == self.step { 0 } else { self.step };
        self.next = (from.next & !rest | self.next & rest).wrapping_add(later);
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

    /// What goes on has numbers of its own still, and later ones.
    #[test]
    fn goes_on() {
        let mut old = Identification::of((0, 1), (0, 1), 0);
        (0..101).for_each(|_| _ = old.take());
        let goes_on = |place, workers| {
            let mut new = Identification::of((place, workers), (0, 1), 0);
            new.go_on(old);
            new.get()
        };
        assert_eq!((goes_on(0, 1), goes_on(0, 2), goes_on(1, 2)), (101, 102, 103));
    }
}
