//! How often elements may speak: a flood of packets must not become a flood of lines.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

/// Messages of an element in a second of the clock.
const MESSAGES: u64 = 10;
const SECOND_NS: i64 = 1_000_000_000;
/// Bits of a [`Voice`]'s state that count messages.
const COUNT_BITS: u32 = 8;

/// What an element has said lately, on all workers together.
#[derive(Default)]
struct Voice {
    /// The second of its last message, and how many it said in it.
    state: AtomicU64,
    /// Messages that were held back and not told of yet.
    held: AtomicU64,
}

impl Voice {
    /// Whether a message may be said in this second; it counts then.
    fn may_speak(&self, second: u64) -> bool {
        let next = |state: u64| {
            let count = state & ((1 << COUNT_BITS) - 1);
            // Another worker may have looked at the clock a moment later.
            let same = (state >> COUNT_BITS).wrapping_sub(second) <= 1;
            match same {
                true => (count < MESSAGES).then_some(state + 1),
                false => Some((second << COUNT_BITS) | 1),
            }
        };
        self.state.fetch_update(Relaxed, Relaxed, next).is_ok()
    }
}

/// The voices of a configuration's elements, and one for what none of them says.
pub(crate) struct Voices {
    voices: Box<[Voice]>,
    /// When messages that were held back are to be told of: at the end of a second.
    due_ns: AtomicI64,
}

impl Voices {
    pub(crate) fn new(elements: usize) -> Voices {
        Voices {
            voices: (0..=elements).map(|_| Voice::default()).collect(),
            due_ns: AtomicI64::new(i64::MAX),
        }
    }

    /// Whether an element, or none, may say something at this time. A message that may not be said is counted. Takes no lock and no memory:
    /// packets cause messages.
    pub(crate) fn may_speak(&self, element: Option<usize>, now_ns: i64) -> bool {
        let Some(voice) = element.map_or(self.voices.last(), |element| self.voices.get(element)) else {
            return true;
        };
        let second = now_ns.div_euclid(SECOND_NS);
        if voice.may_speak(second as u64 & (u64::MAX >> COUNT_BITS)) {
            return true;
        }
        voice.held.fetch_add(1, Relaxed);
        self.due_ns.fetch_min((second + 1).saturating_mul(SECOND_NS), Relaxed);
        false
    }

    /// When to ask for what was held back: `i64::MAX` if nothing was.
    #[inline]
    pub(crate) fn due_ns(&self) -> i64 {
        self.due_ns.load(Relaxed)
    }

    /// Who has had how many messages held back since this was last asked.
    pub(crate) fn take_held(&self) -> impl Iterator<Item = (Option<usize>, u64)> {
        self.due_ns.store(i64::MAX, Relaxed);
        let last = self.voices.len() - 1;
        let voices = self.voices.iter().enumerate();
        voices.filter_map(move |(at, voice)| {
            let held = voice.held.swap(0, Relaxed);
            (held > 0).then_some(((at < last).then_some(at), held))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten messages a second, each element by itself, and all others are counted, also where several threads speak.
    #[test]
    fn what_is_not_said_is_counted() {
        let voices = Voices::new(2);
        let said = |element, now_ns| (0..25).filter(|_| voices.may_speak(element, now_ns)).count();
        assert_eq!(voices.due_ns(), i64::MAX);
        assert_eq!((said(Some(0), 5 * SECOND_NS), said(Some(0), 6 * SECOND_NS - 1)), (10, 0));
        assert_eq!(voices.due_ns(), 6 * SECOND_NS);
        assert_eq!((said(Some(1), 5 * SECOND_NS + 7), said(None, 5 * SECOND_NS)), (10, 10));
        assert_eq!(said(Some(0), 6 * SECOND_NS), 10, "a new second");
        assert_eq!(said(Some(0), 6 * SECOND_NS - 1), 0, "a clock that was read a moment before");
        assert_eq!(voices.take_held().collect::<Vec<_>>(), [(Some(0), 80), (Some(1), 15), (None, 15)]);
        assert_eq!((voices.due_ns(), voices.take_held().count()), (i64::MAX, 0));
        let spoke: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| said(Some(1), 9 * SECOND_NS))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
        });
        assert_eq!(spoke, 10);
        assert_eq!(voices.take_held().collect::<Vec<_>>(), [(Some(1), 90)]);
    }

    /// A router may begin at any time.
    #[test]
    fn any_time_has_its_second() {
        for now_ns in [i64::MIN, -1, 0, 1, i64::MAX] {
            let voices = Voices::new(1);
            assert_eq!((0..11).filter(|_| voices.may_speak(Some(0), now_ns)).count(), 10, "{now_ns}");
        }
    }
}
