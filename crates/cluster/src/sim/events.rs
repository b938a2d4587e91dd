//! Events in the order of their times.

/// Something that happens at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event<T> {
    key: u64,
    /// What.
    pub(super) what: T,
}

/// The low bits of a key tell events of the same nanosecond apart, by the order in which they were made.
const SERIAL_BITS: u32 = 22;

impl<T> Event<T> {
    /// When.
    #[inline]
    pub(super) fn at_ns(&self) -> u64 {
        self.key >> SERIAL_BITS
    }
}

/// A calendar: a ring of days, each a short list of events, and a list of what lies beyond the ring.
///
/// Adding an event takes constant time, taking the next one nearly so, however many wait; with a heap both would wander
/// through memory.
#[derive(Debug)]
pub(super) struct Calendar<T> {
    days: Vec<Vec<Event<T>>>,
    /// A day has 2^shift nanoseconds.
    shift: u32,
    /// The day that is being lived, its events with the next one last.
    day: u64,
    today: Vec<Event<T>>,
    /// Lists that no day needs now, the one that was used last on top: its memory is still near.
    spare: Vec<Vec<Event<T>>>,
    /// Events that are more than a ring ahead.
    beyond: Vec<Event<T>>,
    waiting: usize,
    serial: u64,
}

impl<T: Copy> Calendar<T> {
    /// A calendar of `2^days` days of `2^shift` nanoseconds.
    pub(super) fn new(days: u32, shift: u32) -> Calendar<T> {
        Calendar {
            days: (0..1 << days).map(|_| Vec::new()).collect(),
            shift,
            day: 0,
            today: Vec::new(),
            spare: Vec::new(),
            beyond: Vec::new(),
            waiting: 0,
            serial: 0,
        }
    }

    /// Something will happen; not before what was last taken.
    #[inline]
    pub(super) fn add(&mut self, at_ns: u64, what: T) {
        self.serial += 1;
        let event = Event { key: at_ns << SERIAL_BITS | self.serial & ((1 << SERIAL_BITS) - 1), what };
        self.waiting += 1;
        self.place(event);
    }

    #[inline]
    fn place(&mut self, event: Event<T>) {
        let ahead = (event.at_ns() >> self.shift).saturating_sub(self.day);
        if ahead == 0 {
            let at = self.today.partition_point(|later| later.key > event.key);
            self.today.insert(at, event);
        } else if ahead < self.days.len() as u64 {
            let mask = self.days.len() as u64 - 1;
            let day = &mut self.days[((self.day + ahead) & mask) as usize];
            if day.capacity() == 0
                && let Some(list) = self.spare.pop()
            {
                *day = list;
            }
            day.push(event);
        } else {
            self.beyond.push(event);
        }
    }

    /// Takes the next event.
    #[inline]
    pub(super) fn next(&mut self) -> Option<Event<T>> {
        loop {
            if let Some(event) = self.today.pop() {
                self.waiting -= 1;
                return Some(event);
            }
            if self.waiting == 0 {
                return None;
            }
            self.turn();
        }
    }

    /// The next day begins.
    fn turn(&mut self) {
        self.day += 1;
        let mask = self.days.len() as u64 - 1;
        let at = (self.day & mask) as usize;
        let past = std::mem::replace(&mut self.today, std::mem::take(&mut self.days[at]));
        if past.capacity() > 0 {
            self.spare.push(past);
        }
        // At a new round, what was beyond the ring may lie within it.
        if at == 0 && !self.beyond.is_empty() {
            let beyond = std::mem::take(&mut self.beyond);
            beyond.into_iter().for_each(|event| self.place(event));
        }
        self.today.sort_unstable_by_key(|event| std::cmp::Reverse(event.key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// As a sorted list, also for events of one time, far ahead, or made while events are taken.
        #[test]
        fn as_a_sorted_list(steps in proptest::collection::vec((0u64..3_000, any::<bool>()), 1..300)) {
            let (mut calendar, mut list) = (Calendar::new(4, 3), Vec::new());
            let mut now = 0;
            for (number, (ahead, take)) in steps.into_iter().enumerate() {
                calendar.add(now + ahead, number);
                list.push((now + ahead, number));
                if take {
                    list.sort_unstable();
                    let expected = list.remove(0);
                    let got = calendar.next().map(|event| (event.at_ns(), event.what));
                    prop_assert_eq!(got, Some(expected));
                    now = expected.0;
                }
            }
            list.sort_unstable();
            for expected in list {
                let got = calendar.next().map(|event| (event.at_ns(), event.what));
                prop_assert_eq!(got, Some(expected));
            }
            prop_assert!(calendar.next().is_none());
        }
    }
}
