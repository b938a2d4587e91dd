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

/// A calendar: the days of this week, each a short list of events; a ring of the weeks to come, each a long list; and a list of
/// what lies beyond the ring.
///
/// Adding an event takes constant time, taking the next one nearly so, however many wait. All of them are more than caches
/// hold, so what matters is that memory is walked through and not jumped about in, as in a heap: what is added goes to the ends
/// of a few hundred lists, what a week brings is dealt out to its days when it begins, and those are small.
#[derive(Debug)]
pub(super) struct Calendar<T> {
    /// A day has 2^shift nanoseconds.
    shift: u32,
    /// The day that is being lived, counted from the start, and its events with the next one last.
    day: u64,
    today: Vec<Event<T>>,
    /// The days of this week.
    days: Vec<Vec<Event<T>>>,
    weeks: Vec<Vec<Event<T>>>,
    /// Lists that no week needs now.
    spare: Vec<Vec<Event<T>>>,
    /// Events of weeks that are more than a ring ahead.
    beyond: Vec<Event<T>>,
    waiting: usize,
    serial: u64,
}

impl<T: Copy> Calendar<T> {
    /// A calendar of `2^weeks` weeks of `2^days` days of `2^shift` nanoseconds.
    pub(super) fn new(weeks: u32, days: u32, shift: u32) -> Calendar<T> {
        let lists = |count: u32| (0..1 << count).map(|_| Vec::new()).collect();
        Calendar {
            shift,
            day: 0,
            today: Vec::new(),
            days: lists(days),
            weeks: lists(weeks),
            spare: Vec::new(),
            beyond: Vec::new(),
            waiting: 0,
            serial: 0,
        }
    }

    /// Something will happen. Not before what was last taken, but it may come before what was next until now.
    #[inline]
    pub(super) fn add(&mut self, at_ns: u64, what: T) {
        self.serial += 1;
        let event = Event { key: at_ns << SERIAL_BITS | self.serial & ((1 << SERIAL_BITS) - 1), what };
        self.waiting += 1;
        self.place(event);
    }

    /// The week of a day.
    #[inline]
    fn week(&self, day: u64) -> u64 {
        day >> self.days.len().ilog2()
    }

    #[inline]
    fn place(&mut self, event: Event<T>) {
        let day = event.at_ns() >> self.shift;
        if self.week(day) > self.week(self.day) {
            self.put_off(event);
        } else if day > self.day {
            let at = (day & (self.days.len() as u64 - 1)) as usize;
            self.days[at].push(event);
        } else {
            let at = self.today.partition_point(|later| later.key > event.key);
            self.today.insert(at, event);
        }
    }

    /// Adds an event to its week.
    #[inline]
    fn put_off(&mut self, event: Event<T>) {
        let week = self.week(event.at_ns() >> self.shift);
        if week - self.week(self.day) >= self.weeks.len() as u64 {
            return self.beyond.push(event);
        }
        let at = (week & (self.weeks.len() as u64 - 1)) as usize;
        let list = &mut self.weeks[at];
        if list.capacity() == 0
            && let Some(spare) = self.spare.pop()
        {
            *list = spare;
        }
        list.push(event);
    }

    /// When the next event is.
    #[inline]
    pub(super) fn next_at_ns(&mut self) -> Option<u64> {
        while self.today.is_empty() && self.waiting > 0 {
            self.turn();
        }
        self.today.last().map(Event::at_ns)
    }

    /// Takes the next event.
    #[inline]
    pub(super) fn next(&mut self) -> Option<Event<T>> {
        self.next_at_ns()?;
        self.waiting -= 1;
        self.today.pop()
    }

    /// The next day begins.
    fn turn(&mut self) {
        self.day += 1;
        let at = (self.day & (self.days.len() as u64 - 1)) as usize;
        if at == 0 {
            self.begin_week();
        }
        std::mem::swap(&mut self.today, &mut self.days[at]);
        self.today.sort_unstable_by_key(|event| std::cmp::Reverse(event.key));
    }

    /// Deals out to its days what the week brings.
    fn begin_week(&mut self) {
        let at = (self.week(self.day) & (self.weeks.len() as u64 - 1)) as usize;
        // At a new round, what was beyond the ring may lie within it, even in this week.
        if at == 0 && !self.beyond.is_empty() {
            for event in std::mem::take(&mut self.beyond) {
                self.put_off(event);
            }
        }
        let mut events = std::mem::take(&mut self.weeks[at]);
        let mask = self.days.len() as u64 - 1;
        for event in events.drain(..) {
            let day = event.at_ns() >> self.shift;
            self.days[(day & mask) as usize].push(event);
        }
        if events.capacity() > 0 {
            self.spare.push(events);
        }
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
            let (mut calendar, mut list) = (Calendar::new(3, 2, 3), Vec::new());
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
