//! Whether a TCP segment can be one of its connection, by its numbers: a sender that does not see the connection has to guess them.
//!
//! The bounds are those of Guido van Rooij, "Real stateful TCP packet filtering in IP Filter" (2000): data lies in front of where the
//! receiver's window ends, and not further back than a window; an acknowledgement is for what was sent, and not older than a window. The
//! numbers of a side are written by its own packets or by the other side's only, each number by one of them, so that nothing is lost
//! where the two directions run on two workers.
//!
//! Of a segment that comes in fragments only the first is seen, and it does not say how much follows. Until its sender sends more in one piece,
//! the other side may acknowledge as much as a packet can hold.

use super::sight::Segment;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// How old an acknowledgement may be at least, whatever the window: as far as IP Filter and Linux allow.
const OLDEST_ACK: u32 = 66_000;
/// Set beside a shift, once the side has been seen.
const SEEN: u32 = 1 << 8;
/// Set if the side has offered to scale its window.
const OFFERED: u32 = 1 << 9;
/// Set while the segment that ended last came in fragments, so that its end is further than was seen.
const CUT: u32 = 1 << 10;
/// Data of the longest segment that there can be.
const LONGEST: u32 = 0xffff - 40;
/// The largest shift (RFC 7323, section 2.3).
const SHIFT_MAX: u8 = 14;

/// What is known of one side's numbers.
#[derive(Default)]
pub(super) struct Side {
    /// Behind the last byte that it has sent.
    end: AtomicU32,
    /// Behind the last byte that it may send. Written by the other side's packets.
    limit: AtomicU32,
    /// The largest window that it has offered.
    window: AtomicU32,
    /// The last byte that it has acknowledged.
    acknowledged: AtomicU32,
    /// By how much its windows are scaled, and [`SEEN`], [`OFFERED`], [`CUT`].
    shift: AtomicU32,
}

/// Whether a number is behind another.
#[inline]
fn is_after(number: u32, other: u32) -> bool {
    (number.wrapping_sub(other) as i32) > 0
}

/// Stores a number that only grows, if it has grown.
#[inline]
fn raise(place: &AtomicU32, number: u32) {
    if is_after(number, place.load(Relaxed)) {
        place.store(number, Relaxed);
    }
}

impl Side {
    /// Forgets what was known.
    pub(super) fn clear(&self) {
        for place in [&self.end, &self.limit, &self.window, &self.acknowledged, &self.shift] {
            place.store(0, Relaxed);
        }
    }

    /// Its numbers, for another process.
    pub(super) fn numbers(&self) -> [u32; 5] {
        [&self.end, &self.limit, &self.window, &self.acknowledged, &self.shift]
            .map(|place| place.load(Relaxed))
    }

    /// Goes on with the numbers of another process.
    pub(super) fn set_numbers(&self, numbers: [u32; 5]) {
        let places = [&self.end, &self.limit, &self.window, &self.acknowledged, &self.shift];
        places.iter().zip(numbers).for_each(|(place, number)| place.store(number, Relaxed));
    }

    /// Takes over what another record knew.
    pub(super) fn copy(&self, other: &Side) {
        let pairs = [
            (&self.end, &other.end),
            (&self.limit, &other.limit),
            (&self.window, &other.window),
            (&self.acknowledged, &other.acknowledged),
            (&self.shift, &other.shift),
        ];
        pairs.iter().for_each(|(place, other)| place.store(other.load(Relaxed), Relaxed));
    }

    fn is_seen(&self) -> bool {
        self.shift.load(Relaxed) & SEEN != 0
    }

    /// Whether it has sent what is in front of a number, as far as is known.
    fn has_sent(&self, number: u32) -> bool {
        let end = self.end.load(Relaxed);
        !is_after(number, end)
            || self.shift.load(Relaxed) & CUT != 0 && !is_after(number, end.wrapping_add(LONGEST))
    }

    /// Notes where a segment of it ends.
    fn extend(&self, segment: &Segment) {
        if !is_after(segment.end(), self.end.load(Relaxed)) {
            return;
        }
        self.end.store(segment.end(), Relaxed);
        // The other side's first answer changes the same word.
        match (segment.is_cut, self.shift.load(Relaxed) & CUT != 0) {
            (true, false) => _ = self.shift.fetch_or(CUT, Relaxed),
            (false, true) => _ = self.shift.fetch_and(!CUT, Relaxed),
            _ => {}
        }
    }

    /// Begins to know a side by its first segment, a SYN.
    pub(super) fn begin(&self, segment: &Segment) {
        self.end.store(segment.end(), Relaxed);
        self.limit.store(segment.end(), Relaxed);
        self.window.store(u32::from(segment.window).max(1), Relaxed);
        self.acknowledged.store(segment.acknowledgement, Relaxed);
        let shift = segment.scale.map_or(0, |shift| u32::from(shift.min(SHIFT_MAX)) | OFFERED);
        let cut = if segment.is_cut { CUT } else { 0 };
        self.shift.store(shift | SEEN | cut, Relaxed);
    }
}

/// Whether a segment of one side can be part of the connection.
pub(super) fn fits(segment: &Segment, sender: &Side, receiver: &Side) -> bool {
    if !sender.is_seen() {
        // The first of the answering side says what it answers to. A reset may be all that it says.
        let from = receiver.end.load(Relaxed);
        return !segment.has_ack()
            || !is_after(from, segment.acknowledgement) && receiver.has_sent(segment.acknowledgement);
    }
    if !receiver.is_seen() {
        return true; // the originator's SYN again
    }
    let end = sender.end.load(Relaxed);
    let (their_end, their_window) = (receiver.end.load(Relaxed), receiver.window.load(Relaxed));
    let in_front = !is_after(segment.sequence, sender.limit.load(Relaxed).wrapping_add(1));
    let not_old = !is_after(end.wrapping_sub(their_window).wrapping_sub(1), segment.end());
    let acknowledges = !segment.has_ack()
        || {
            let oldest = OLDEST_ACK.max(sender.window.load(Relaxed));
            receiver.has_sent(segment.acknowledgement) && is_after(segment.acknowledgement, their_end.wrapping_sub(oldest))
            // Some put a zero there when they reset.
            || segment.is_reset() && segment.acknowledgement == 0
        };
    // A reset in the window but out of place is answered by a challenge, which needs no help (RFC 5961, section 3).
    let not_forged = !segment.is_reset() || !is_after(receiver.acknowledged.load(Relaxed), segment.sequence);
    in_front && not_old && acknowledges && not_forged
}

/// Notes a segment that fits.
pub(super) fn note(segment: &Segment, sender: &Side, receiver: &Side) {
    if !sender.is_seen() {
        sender.begin(segment);
        receiver.acknowledged.store(segment.sequence, Relaxed);
        // Windows are scaled only if both offer it.
        if sender.shift.load(Relaxed) & OFFERED == 0 || receiver.shift.load(Relaxed) & OFFERED == 0 {
            sender.shift.fetch_and(SEEN | CUT, Relaxed);
            receiver.shift.fetch_and(SEEN | CUT, Relaxed);
        }
    }
    if segment.is_syn() && !segment.has_ack() && !receiver.is_seen() {
        sender.begin(segment); // again, perhaps from another number on
    }
    let shift = if segment.is_syn() { 0 } else { sender.shift.load(Relaxed) & 0xf };
    let window = u32::from(segment.window) << shift;
    sender.extend(segment);
    if window > sender.window.load(Relaxed) {
        sender.window.store(window, Relaxed);
    }
    if segment.has_ack() {
        raise(&sender.acknowledged, segment.acknowledgement);
        raise(&receiver.limit, segment.acknowledgement.wrapping_add(window.max(1)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::tcp::flag::{ACK, FIN, RST, SYN};

    fn segment(flags: u8, sequence: u32, acknowledgement: u32, len: u32) -> Segment {
        let scale = (flags & SYN != 0).then_some(2);
        Segment { sequence, acknowledgement, len, window: 1000, flags, scale, is_cut: false }
    }

    /// A connection of two sides whose numbers wrap.
    fn opened() -> [Side; 2] {
        let sides = [Side::default(), Side::default()];
        let syn = segment(SYN, u32::MAX - 5, 0, 0);
        sides[0].begin(&syn);
        let answer = segment(SYN | ACK, 7000, syn.end(), 0);
        assert!(
            !fits(&segment(SYN | ACK, 7000, syn.end() + 1, 0), &sides[1], &sides[0]),
            "another SYN's answer"
        );
        for (segment, at) in [(answer, 1), (segment(ACK, syn.end(), 7001, 0), 0)] {
            assert!(fits(&segment, &sides[at], &sides[1 - at]));
            note(&segment, &sides[at], &sides[1 - at]);
        }
        sides
    }

    #[test]
    fn segments_in_the_window_fit() {
        let sides = opened();
        let first = u32::MAX - 4;
        let is = |segment: Segment| fits(&segment, &sides[0], &sides[1]);
        assert!(is(segment(ACK, first, 7001, 900)));
        assert!(is(segment(FIN | ACK, first, 7001, 900)));
        // The window of a SYN is not scaled, the others are, by four.
        assert!(!is(segment(ACK, first.wrapping_add(1010), 7001, 1)));
        note(&segment(ACK, 7001, first, 0), &sides[1], &sides[0]);
        assert!(is(segment(ACK, first.wrapping_add(4000), 7001, 1)));
        assert!(!is(segment(ACK, first.wrapping_add(4010), 7001, 1)), "behind the window");
        assert!(!is(segment(ACK, first.wrapping_sub(9000), 7001, 1)), "long ago");
        assert!(!is(segment(ACK, first, 7002, 0)), "nothing of the kind was sent");
        assert!(!is(segment(ACK, first, 7001u32.wrapping_sub(70_000), 0)), "acknowledged long ago");
    }

    /// A reset has to be where the receiver is, or in front of it.
    #[test]
    fn resets_are_not_guessed() {
        let sides = opened();
        let first = u32::MAX - 4;
        note(&segment(ACK, first, 7001, 500), &sides[0], &sides[1]);
        note(&segment(ACK, 7001, first.wrapping_add(500), 0), &sides[1], &sides[0]);
        let is = |sequence| fits(&segment(RST, sequence, 0, 0), &sides[0], &sides[1]);
        assert!(is(first.wrapping_add(500)) && !is(first.wrapping_add(499)) && !is(first.wrapping_add(9000)));
        let fresh = [Side::default(), Side::default()];
        fresh[0].begin(&segment(SYN, 100, 0, 0));
        assert!(fits(&segment(RST | ACK, 0, 101, 0), &fresh[1], &fresh[0]), "the port is closed");
        assert!(!fits(&segment(RST | ACK, 0, 102, 0), &fresh[1], &fresh[0]));
    }

    #[test]
    fn windows_are_scaled_if_both_offer_it() {
        let sides = [Side::default(), Side::default()];
        sides[0].begin(&segment(SYN, 0, 0, 0));
        note(&Segment { scale: None, ..segment(SYN | ACK, 50, 1, 0) }, &sides[1], &sides[0]);
        assert_eq!([0, 1].map(|at| sides[at].shift.load(Relaxed)), [SEEN; 2]);
    }
    /// Of a segment that came in fragments more may be acknowledged than was seen, also of a SYN; of what is sent in one piece, nothing beyond.
    #[test]
    fn a_segment_in_fragments_is_longer_than_its_first() {
        let sides = opened();
        let first = u32::MAX - 4;
        let cut = |segment| Segment { is_cut: true, ..segment };
        let answers = |acknowledgement| fits(&segment(ACK, 7001, acknowledgement, 0), &sides[1], &sides[0]);
        note(&cut(segment(ACK, first, 7001, 600)), &sides[0], &sides[1]);
        assert!(answers(first.wrapping_add(600)) && answers(first.wrapping_add(2500)));
        assert!(!answers(first.wrapping_add(70_000)), "no packet is so long");
        // What it sends next begins behind all fragments.
        note(&segment(ACK, first.wrapping_add(2500), 7001, 10), &sides[0], &sides[1]);
        assert!(answers(first.wrapping_add(2510)) && !answers(first.wrapping_add(2511)));
        let sides = [Side::default(), Side::default()];
        sides[0].begin(&cut(segment(SYN, 100, 0, 600)));
        let answer =
            |acknowledgement| Segment { scale: None, ..segment(SYN | ACK, 7000, acknowledgement, 0) };
        let is = |acknowledgement| fits(&answer(acknowledgement), &sides[1], &sides[0]);
        assert!(!is(700) && is(701) && is(2101) && !is(70_000));
        note(&answer(2101), &sides[1], &sides[0]);
        assert_eq!(sides[0].shift.load(Relaxed), SEEN | CUT);
    }
}
