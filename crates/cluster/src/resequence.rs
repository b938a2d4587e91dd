//! Putting packets back in order at the egress node.
//!
//! Packets from one ingress node and of one bucket of flows have consecutive numbers. A packet that comes too early
//! waits until the gap before it closes, or for at most the waiting time. After that the gap is given up, and packets
//! of it that still come are too late and are not passed on. So packets of a bucket never leave in the wrong order.
//! The price is the wait and, after a loss, one waiting time. No clock is shared, and nothing is assumed about how
//! long a packet can be in flight.

use crate::NodeId;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

/// Settings of a [`Resequencer`].
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// A packet waits at most so long.
    pub wait_ns: u64,
    /// Packets that wait, at most, all together.
    pub capacity: usize,
    /// A bucket that was idle for so long starts anew at whatever number comes.
    pub idle_ns: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { wait_ns: 2_000_000, capacity: 4_096, idle_ns: 1_000_000_000 }
    }
}

/// What became of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Delivered, at once or after a wait.
    pub delivered: u64,
    /// Of these: after a wait.
    pub waited: u64,
    /// Came after their gap was given up, or twice: dropped.
    pub late: u64,
    /// Gaps given up.
    pub gaps: u64,
    /// Most packets that waited at a time.
    pub most_waiting: usize,
}

#[derive(Debug)]
struct Lane<T> {
    /// The number that is due.
    due: u16,
    last_ns: u64,
    /// What came early, with the time it came; the first place is that of the number behind `due`. The last place is never an empty one.
    early: VecDeque<Option<(u64, T)>>,
    /// `due` without wrapping, from the first number of the lane's life on.
    due_long: u64,
    /// What would follow a number that was far ahead.
    probe: Option<u16>,
}

/// A number that is further ahead may belong to a former life of its ingress node. It is not believed before a second one
/// confirms it: else one straggler would make all that follows look late.
const FARTHEST: u16 = 4_096;

/// By how much the first packet that is seen of a bucket may have overtaken others.
const START_SLACK: u16 = 64;

/// What is due in a bucket of which this number is the first that is seen: numbers start at zero; if they have got further,
/// a while is waited for those just before.
fn start_before(number: u16) -> u16 {
    number.saturating_sub(START_SLACK)
}

/// Of which lane a packet is: ingress node and bucket.
type From = (NodeId, u8);

/// Spreads lanes over a table. Nodes of the cluster number their packets themselves, so that there is no stranger to hide the hash from.
#[derive(Debug, Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u16(byte.into()));
    }

    #[inline]
    fn write_u8(&mut self, byte: u8) {
        self.write_u16(byte.into());
    }

    #[inline]
    fn write_u16(&mut self, word: u16) {
        // Fibonacci hashing; the upper bits are the good ones, and the table takes both ends.
        self.0 =
            (self.0.rotate_left(16) ^ u64::from(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(26);
    }
}

/// Orders packets of type `T`.
#[derive(Debug)]
pub struct Resequencer<T> {
    settings: Settings,
    lanes: HashMap<From, Lane<T>, BuildHasherDefault<Mix>>,
    /// When what waits in a lane came, oldest first; entries of packets that have left meanwhile are skipped.
    deadlines: VecDeque<(u64, From, u64)>,
    waiting: usize,
    counts: Counts,
}

impl<T> Resequencer<T> {
    /// Other settings, from now on. What waits goes on waiting.
    pub fn set_settings(&mut self, settings: Settings) {
        self.settings = settings;
    }

    /// An empty one.
    pub fn new(settings: Settings) -> Resequencer<T> {
        Resequencer {
            settings,
            lanes: HashMap::default(),
            deadlines: VecDeque::new(),
            waiting: 0,
            counts: Counts::default(),
        }
    }

    /// What became of packets.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Packets that wait.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// When [`Resequencer::expire`] has something to do next.
    pub fn next_deadline_ns(&self) -> Option<u64> {
        self.deadlines.front().map(|(came, ..)| came + self.settings.wait_ns)
    }

    /// A packet comes. Those that may leave, in order, go to `out`; one that is late is returned.
    #[inline]
    pub fn push(
        &mut self,
        now_ns: u64,
        from: (NodeId, u8),
        number: u16,
        packet: T,
        mut out: impl FnMut(T),
    ) -> Option<T> {
        self.expire(now_ns, &mut out);
        // Nearly always the packet is the one that is due, and none waits for it.
        match self.lanes.get_mut(&from) {
            Some(lane) if lane.due == number && lane.early.is_empty() => {
                lane.last_ns = now_ns;
                lane.advance(1);
                self.counts.delivered += 1;
                out(packet);
                None
            }
            _ => self.push_other(now_ns, from, number, packet, out),
        }
    }

    /// The rest of `push`: a packet that is not due, or that others wait for.
    fn push_other(
        &mut self,
        now_ns: u64,
        from: From,
        number: u16,
        packet: T,
        mut out: impl FnMut(T),
    ) -> Option<T> {
        let start = start_before(number);
        let fresh = || Lane { due: start, last_ns: now_ns, early: VecDeque::new(), due_long: 0, probe: None };
        let lane = self.lanes.entry(from).or_insert_with(fresh);
        let rested = lane.early.is_empty() && now_ns.saturating_sub(lane.last_ns) > self.settings.idle_ns;
        lane.last_ns = now_ns;
        // Half of all numbers lie ahead, half behind.
        let mut ahead = number.wrapping_sub(lane.due);
        if rested && ahead > START_SLACK {
            lane.due = start;
            ahead = number.wrapping_sub(start);
        }
        if ahead >= 0x8000 || (ahead > FARTHEST && !lane.is_confirmed(number)) {
            self.counts.late += 1;
            return Some(packet);
        }
        if ahead > FARTHEST {
            self.waiting -= lane.jump(ahead, &mut self.counts, &mut out);
            ahead = 0;
        }
        if ahead == 0 {
            out(packet);
            self.counts.delivered += 1;
            self.waiting -= lane.release(&mut self.counts, &mut out);
            return None;
        }
        let (place, at) = (lane.due_long + u64::from(ahead), usize::from(ahead) - 1);
        if lane.early.get(at).is_some_and(Option::is_some) {
            self.counts.late += 1;
            return Some(packet);
        }
        // No more places than numbers that are believed.
        if lane.early.len() <= at {
            lane.early.resize_with(at + 1, || None);
        }
        lane.early[at] = Some((now_ns, packet));
        self.deadlines.push_back((now_ns, from, place));
        self.waiting += 1;
        self.counts.most_waiting = self.counts.most_waiting.max(self.waiting);
        while self.waiting > self.settings.capacity {
            self.give_up_oldest(&mut out);
        }
        None
    }

    /// Time passes: gaps before packets that have waited long enough are given up.
    pub fn expire(&mut self, now_ns: u64, mut out: impl FnMut(T)) {
        while self.next_deadline_ns().is_some_and(|deadline| deadline <= now_ns) {
            self.give_up_oldest(&mut out);
        }
    }

    /// An ingress node has started anew, and so have its numbers. What waits may be of its former life or of the new one, and
    /// is not wanted; it goes to `late`.
    pub fn forget(&mut self, ingress: NodeId, mut late: impl FnMut(T)) {
        for bucket in 0..=u8::MAX {
            if let Some(lane) = self.lanes.remove(&(ingress, bucket)) {
                let early = lane.early.into_iter().flatten();
                early.for_each(|(_, packet)| {
                    self.waiting -= 1;
                    self.counts.late += 1;
                    late(packet);
                });
            }
        }
    }

    /// Takes over what another one of this node has, which is no more: its counts and its lanes. What waits in a lane that this one
    /// has, too, goes to `late`.
    pub fn absorb(&mut self, other: Resequencer<T>, mut late: impl FnMut(T)) {
        for (from, lane) in other.lanes {
            match self.lanes.entry(from) {
                Entry::Vacant(place) => {
                    self.waiting += lane.early.iter().flatten().count();
                    place.insert(lane);
                }
                Entry::Occupied(_) => {
                    lane.early.into_iter().flatten().for_each(|(_, packet)| {
                        self.counts.late += 1;
                        late(packet);
                    });
                }
            }
        }
        self.deadlines.extend(other.deadlines);
        self.deadlines.make_contiguous().sort_by_key(|(came, ..)| *came);
        self.counts.delivered += other.counts.delivered;
        self.counts.waited += other.counts.waited;
        self.counts.late += other.counts.late;
        self.counts.gaps += other.counts.gaps;
        self.counts.most_waiting = self.counts.most_waiting.max(other.counts.most_waiting);
    }

    /// Closes all gaps before the packet that has waited longest.
    fn give_up_oldest(&mut self, out: &mut impl FnMut(T)) {
        let Some((came, from, place)) = self.deadlines.pop_front() else { return };
        let Some(lane) = self.lanes.get_mut(&from) else { return };
        // The entry may be one of a packet that has left, even one of a former life of the lane.
        let at = place.checked_sub(lane.due_long + 1).and_then(|at| usize::try_from(at).ok());
        let waits = at.and_then(|at| lane.early.get(at)?.as_ref());
        if waits.is_none_or(|(at, _)| *at != came) {
            return;
        }
        while lane.due_long <= place {
            while let Some(None) = lane.early.front() {
                lane.early.pop_front();
                lane.advance(1);
            }
            self.counts.gaps += 1;
            self.waiting -= lane.release(&mut self.counts, out);
        }
    }
}

impl<T> Lane<T> {
    /// Whether a number that is far ahead follows another that was.
    fn is_confirmed(&mut self, number: u16) -> bool {
        let confirmed = self.probe.is_some_and(|probe| number.wrapping_sub(probe) < START_SLACK);
        self.probe = Some(number.wrapping_add(1));
        confirmed
    }

    /// Goes on from a number that is far ahead; what waits before it leaves. How many that are.
    fn jump(&mut self, ahead: u16, counts: &mut Counts, out: &mut impl FnMut(T)) -> usize {
        let mut released = 0;
        self.early.drain(..).flatten().for_each(|(_, packet)| {
            out(packet);
            released += 1;
        });
        self.advance(u64::from(ahead));
        counts.gaps += 1;
        counts.delivered += released as u64;
        counts.waited += released as u64;
        released
    }

    #[inline]
    fn advance(&mut self, by: u64) {
        self.due = self.due.wrapping_add(by as u16);
        self.due_long += by;
    }

    /// The number that was due is done with: lets go what is due then; how many.
    fn release(&mut self, counts: &mut Counts, out: &mut impl FnMut(T)) -> usize {
        let mut released = 0;
        self.advance(1);
        while let Some(Some((_, packet))) = self.early.pop_front() {
            out(packet);
            self.advance(1);
            released += 1;
        }
        counts.delivered += released as u64;
        counts.waited += released as u64;
        released
    }
}

#[cfg(test)]
mod naive;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn small() -> Settings {
        Settings { wait_ns: 100, capacity: 8, idle_ns: 1_000_000 }
    }

    fn feed(numbers: &[u16]) -> (Vec<u16>, Counts) {
        let (mut r, mut out) = (Resequencer::new(small()), Vec::new());
        for (now, &number) in numbers.iter().enumerate() {
            r.push(now as u64, (3, 7), number, number, |n| out.push(n));
        }
        r.expire(10_000, |n| out.push(n));
        assert_eq!(r.waiting(), 0);
        (out, r.counts())
    }

    /// Overtaking is undone, also where numbers wrap round.
    #[test]
    fn order_is_restored() {
        assert_eq!(feed(&[65_534, 1, 65_535, 0, 2]).0, [65_534, 65_535, 0, 1, 2]);
    }

    /// A gap is given up; what comes of it later does not leave, nor does a packet that comes twice.
    #[test]
    fn late_packets_stay_out() {
        let (mut r, mut out) = (Resequencer::new(small()), Vec::new());
        for (now, number) in [(0, 10u16), (110, 12), (112, 12), (300, 13), (301, 11)] {
            r.push(now, (0, 0), number, number, |n| out.push(n));
        }
        assert_eq!((out, r.counts().late, r.counts().gaps), (vec![10, 12, 13], 2, 2));
    }

    /// The first packets of a bucket may have overtaken each other, too.
    #[test]
    fn starts_in_order() {
        assert_eq!(feed(&[2, 0, 1, 3]).0, [0, 1, 2, 3]);
        assert_eq!(feed(&[5_002, 5_001, 5_003]).0, [5_001, 5_002, 5_003]);
    }

    #[test]
    fn one_straggler_from_far_ahead_is_not_believed_two_in_a_row_are() {
        assert_eq!(feed(&[0, 1, 9_000, 2, 3]).0, [0, 1, 2, 3]);
        assert_eq!(feed(&[0, 1, 9_000, 9_001, 9_002]).0, [0, 1, 9_001, 9_002]);
    }

    proptest! {
        /// Whatever arrives in whatever order, nothing leaves twice or before something with a smaller number, memory is
        /// bounded, and every packet leaves, is late, or waits.
        #[test]
        fn never_out_of_order(jumps in proptest::collection::vec((0u64..60, -20i32..20, any::<bool>()), 1..200)) {
            let (mut r, mut out, mut late) = (Resequencer::new(small()), Vec::new(), 0);
            let (mut now, mut next) = (0, 65_500i32);
            for &(pause, offset, forward) in &jumps {
                now += pause;
                next += i32::from(forward);
                let number = next + offset;
                late += usize::from(r.push(now, (1, 1), number as u16, number, |n| out.push(n)).is_some());
                prop_assert!(r.waiting() <= 8);
            }
            r.expire(now + 1_000, |n| out.push(n));
            prop_assert!(out.windows(2).all(|w| w[0] < w[1]), "{:?}", out);
            prop_assert_eq!(out.len() + late, jumps.len());
        }
    }

    proptest! {
        /// The same leaves at the same time as from one that is only meant to be right: numbers that skip, come twice, late, from far ahead and
        /// after rests, of several lanes.
        #[test]
        fn as_a_naive_one(steps in proptest::collection::vec((0u64..80, 0u8..3, -30i32..40, 0u8..40), 1..400)) {
            let settings = Settings { wait_ns: 200, capacity: 12, idle_ns: 1_500 };
            let (mut r, mut naive, mut out, mut late) = (Resequencer::new(settings), naive::Naive::new(settings), vec![], vec![]);
            let (mut now, mut next) = (0, [65_500i32, 3, 30_000]);
            for (at, &(pause, lane, offset, chance)) in (0u32..).zip(&steps) {
                let from = (u16::from(lane), 7 - lane);
                now += match chance { 0 => 2_000, _ => pause };
                let next = &mut next[usize::from(lane)];
                *next += match chance { 1 => 5_000, 2 => 300, _ => 1 };
                // Mostly in order.
                let number = (*next + if chance % 3 == 0 { offset } else { 0 }) as u16;
                late.extend(r.push(now, from, number, at, |packet| out.push(packet)));
                naive.push(now, from, number, at);
                prop_assert_eq!((&out, &late, r.waiting()), (&naive.out, &naive.late, naive.waiting()), "step {}", at);
                prop_assert_eq!(r.counts().gaps, naive.gaps);
                if chance == 3 {
                    r.expire(now + 100, |packet| out.push(packet));
                    naive.expire(now + 100);
                    prop_assert_eq!(&out, &naive.out);
                }
            }
            let counts = r.counts();
            prop_assert_eq!((counts.delivered, counts.late), (out.len() as u64, late.len() as u64));
        }
    }

    /// Lanes of one that is no more go on in another: what waits there still leaves in order.
    #[test]
    fn lanes_move() {
        let (mut one, mut other, mut out) =
            (Resequencer::new(small()), Resequencer::new(small()), Vec::new());
        for (now, bucket, number) in [(0, 1, 0u16), (1, 2, 0), (2, 2, 2), (3, 1, 2)] {
            let r = if bucket == 1 { &mut one } else { &mut other };
            r.push(now, (0, bucket), number, (bucket, number), |n| out.push(n));
        }
        one.absorb(other, |_| panic!("lanes are different"));
        assert_eq!(one.waiting(), 2);
        for (now, bucket) in [(4, 2), (5, 1)] {
            one.push(now, (0, bucket), 1, (bucket, 1), |n| out.push(n));
        }
        assert_eq!(out, [(1, 0), (2, 0), (2, 1), (2, 2), (1, 1), (1, 2)]);
    }
}
