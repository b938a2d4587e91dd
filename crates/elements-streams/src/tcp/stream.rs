//! One direction of a TCP connection whose bytes elements may change in passing.
//!
//! There are two countings of its bytes: the sender's, and the receiver's. Where a segment leaves with another length
//! than it came with, they part. What was sent is kept until it is acknowledged, so that it looks the same when it
//! has to be sent again.

use super::waiting::{List, before};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Changes that are told apart; where there are more, neighbours become one.
const CHANGES: usize = 64;
/// Room that elements can fill with what they insert.
const SLACK: usize = 4096;

/// Memory that all streams of an element keep bytes in, together.
#[derive(Debug)]
pub(super) struct Budget {
    most: usize,
    used: AtomicUsize,
}

impl Budget {
    pub(super) fn new(most: usize) -> Arc<Budget> {
        Arc::new(Budget { most, used: AtomicUsize::new(0) })
    }

    /// Bytes in use.
    pub(super) fn used(&self) -> usize {
        self.used.load(Relaxed)
    }

    /// Whether there is so much for one more, which has it then.
    fn take(&self, bytes: usize) -> bool {
        let fits = self.used() + bytes <= self.most;
        if fits {
            self.used.fetch_add(bytes, Relaxed);
        }
        fits
    }

    /// Whether more than half of it is in use.
    fn is_scarce(&self) -> bool {
        self.used() > self.most / 2
    }
}

/// Room that a stream begins with, and keeps while nothing is to be kept.
const ROOM: usize = 16384;

/// Bytes that are sent and not acknowledged. There is no memory for them before there are some.
struct Ring {
    bytes: Box<[u8]>,
    /// Where the first one is.
    head: usize,
    len: usize,
    /// Bytes that it may hold.
    most: usize,
    budget: Arc<Budget>,
}

impl Drop for Ring {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.bytes.len(), Relaxed);
    }
}

impl Ring {
    fn new(most: usize, budget: Arc<Budget>) -> Ring {
        Ring { bytes: Box::default(), head: 0, len: 0, most, budget }
    }

    /// Sees to it that there is room for so many bytes more; false if there may not be.
    fn reserve(&mut self, more: usize) -> bool {
        let whole = self.len + more;
        if whole <= self.bytes.len() {
            return true;
        }
        if whole > self.most {
            return false;
        }
        let room = whole.next_power_of_two().max(ROOM).min(self.most);
        if !self.budget.take(room - self.bytes.len()) {
            return false;
        }
        let mut bytes: Box<[u8]> = vec![0; room].into();
        if self.len > 0 {
            self.read(0, &mut bytes[..self.len]);
        }
        (self.bytes, self.head) = (bytes, 0);
        true
    }

    /// Gives memory back that an empty one has, unless it is little and there is enough.
    fn shrink(&mut self, wholly: bool) {
        let wholly = wholly || self.bytes.len() > ROOM || self.budget.is_scarce();
        if self.len == 0 && wholly && !self.bytes.is_empty() {
            self.budget.used.fetch_sub(self.bytes.len(), Relaxed);
            (self.bytes, self.head) = (Box::default(), 0);
        }
    }

    /// The two parts of the places of `len` bytes from the one with this number.
    fn parts(&self, at: usize, len: usize) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
        let start = (self.head + at) % self.bytes.len();
        let first = len.min(self.bytes.len() - start);
        (start..start + first, 0..len - first)
    }

    /// Adds bytes for which there is room.
    fn append(&mut self, data: &[u8]) {
        if data.is_empty() {
            return;
        }
        let (first, second) = self.parts(self.len, data.len());
        let (a, b) = data.split_at(first.len());
        self.bytes[first].copy_from_slice(a);
        self.bytes[second].copy_from_slice(b);
        self.len += data.len();
    }

    fn read(&self, at: usize, out: &mut [u8]) {
        if out.is_empty() {
            return;
        }
        let (first, second) = self.parts(at, out.len());
        let (a, b) = out.split_at_mut(first.len());
        a.copy_from_slice(&self.bytes[first]);
        b.copy_from_slice(&self.bytes[second]);
    }

    fn release(&mut self, n: usize) {
        let n = n.min(self.len);
        if n == 0 {
            return;
        }
        self.head = (self.head + n) % self.bytes.len();
        self.len -= n;
    }
}

/// A point of the stream in both countings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Point {
    theirs: u32,
    ours: u32,
}

impl Point {
    fn to_ours(self, theirs: u32) -> u32 {
        self.ours.wrapping_add(theirs.wrapping_sub(self.theirs))
    }

    fn to_theirs(self, ours: u32) -> u32 {
        self.theirs.wrapping_add(ours.wrapping_sub(self.ours))
    }
}

/// What became of a part of the stream that left with another length.
#[derive(Clone, Copy, Debug)]
struct Change {
    start: Point,
    end: Point,
}

/// What a segment is to the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SegmentStatus {
    /// It goes on.
    Next,
    /// It was there, and left.
    Again,
    /// It was there, and has not left.
    Underway,
    /// There is a gap before it.
    Early,
    /// There is no room to keep it.
    NoRoom,
}

/// A direction. Sequence numbers are the sender's, unless it is said that they are ours: those that the receiver sees.
pub(super) struct Stream {
    /// Whether a SYN was there.
    pub(super) has_begun: bool,
    /// That one's number.
    syn: u32,
    /// Whether it has not come in yet.
    is_new: bool,
    /// Segments that came too early.
    pub(super) waiting: List,
    /// The number up to which it has come in.
    expected: u32,
    /// The point up to which it has left.
    left: Point,
    /// Whether the last number was a FIN's.
    has_ended: bool,
    /// Up to where we have acknowledged it ourselves.
    forged: u32,
    /// Before changes, countings differ as here.
    base: Point,
    changes: VecDeque<Change>,
    ring: Ring,
    /// The number of the ring's first byte; ours.
    kept: u32,
    /// The most data that a segment came with.
    largest: usize,
    /// The last window that its sender announced.
    pub(super) window: u16,
}

impl Stream {
    /// One that keeps so many bytes at most, of a budget that it shares with others.
    pub(super) fn new(most: usize, budget: Arc<Budget>) -> Stream {
        let start = Point { theirs: 0, ours: 0 };
        Stream {
            has_begun: false,
            syn: 0,
            is_new: false,
            waiting: List::default(),
            expected: 0,
            left: start,
            has_ended: false,
            forged: 0,
            base: start,
            changes: VecDeque::new(),
            ring: Ring::new(most, budget),
            kept: 0,
            largest: 1,
            window: 0,
        }
    }

    /// Begins with a SYN of this number. That is not kept: it has no data.
    pub(super) fn begin(&mut self, syn: u32) {
        let (first, start) = (syn.wrapping_add(1), Point { theirs: syn, ours: syn });
        (self.has_begun, self.syn, self.is_new) = (true, syn, true);
        (self.expected, self.forged, self.kept) = (first, syn, first);
        (self.base, self.left) = (start, Point { theirs: first, ours: first });
    }

    /// Whether a SYN with this number is the one that it began with.
    pub(super) fn began_with(&self, syn: u32) -> bool {
        self.has_begun && self.syn == syn
    }

    /// Its SYN comes in: whether that is the first time.
    pub(super) fn note_syn(&mut self) -> bool {
        std::mem::take(&mut self.is_new)
    }

    /// Whether its FIN has left.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// The number that comes next.
    pub(super) fn expected(&self) -> u32 {
        self.expected
    }

    /// The number up to which it has left.
    pub(super) fn left(&self) -> u32 {
        self.left.theirs
    }

    /// The number that leaves next; ours.
    pub(super) fn next(&self) -> u32 {
        self.left.ours
    }

    /// The most data that a segment leaves with.
    pub(super) fn largest(&self) -> usize {
        self.largest
    }

    /// What a segment is that comes in. It is taken to have come if it is the next one.
    pub(super) fn enter(&mut self, start: u32, data: usize, fin: bool) -> SegmentStatus {
        let len = data as u32 + u32::from(fin);
        if before(start, self.left.theirs) {
            return SegmentStatus::Again;
        }
        if len == 0 {
            return SegmentStatus::Next;
        }
        if before(start, self.expected) {
            return SegmentStatus::Underway;
        }
        if start != self.expected {
            return SegmentStatus::Early;
        }
        let inside = self.expected.wrapping_sub(self.left.theirs) as usize;
        if !self.ring.reserve(inside + data + SLACK) {
            return SegmentStatus::NoRoom;
        }
        self.expected = start.wrapping_add(len);
        self.largest = self.largest.max(data);
        SegmentStatus::Next
    }

    /// A segment leaves that came with `len` bytes: with which number. None if there is no room for what was inserted. What was between
    /// it and the one before it was removed.
    pub(super) fn leave(&mut self, start: u32, len: usize, data: &[u8], fin: bool) -> Option<u32> {
        if len == 0 && data.is_empty() && !fin {
            return Some(self.left.to_ours(start));
        }
        if !self.ring.reserve(data.len()) {
            return None;
        }
        let start = if len == 0 && !fin { self.left.theirs } else { start };
        if start != self.left.theirs {
            self.change(Point { theirs: start, ..self.left });
        }
        let number = self.left.ours;
        let end =
            Point { theirs: start.wrapping_add(len as u32), ours: number.wrapping_add(data.len() as u32) };
        if len != data.len() {
            self.change(end);
        }
        self.ring.append(data);
        self.has_ended |= fin;
        let fin = u32::from(fin);
        self.left = Point { theirs: end.theirs.wrapping_add(fin), ours: end.ours.wrapping_add(fin) };
        Some(number)
    }

    /// Notes that the countings part between where it has left and `end`, which is where it has left now.
    fn change(&mut self, end: Point) {
        let start = std::mem::replace(&mut self.left, end);
        let is_full = self.changes.len() >= CHANGES;
        match self.changes.back_mut().filter(|_| is_full) {
            Some(last) => last.end = end,
            None => self.changes.push_back(Change { start, end }),
        }
    }

    /// Our number for one that has left: of those within a change, the change's first, or the one after it.
    fn ours(&self, theirs: u32, is_end: bool) -> u32 {
        let mut base = self.base;
        for change in &self.changes {
            if !before(change.start.theirs, theirs) && (is_end || theirs != change.start.theirs) {
                break;
            }
            if before(theirs, change.end.theirs) {
                return if is_end { change.end.ours } else { change.start.ours };
            }
            base = change.end;
        }
        base.to_ours(theirs)
    }

    /// The sender's number for one of ours that is acknowledged: all that was removed before it is, too; what was
    /// changed is when all of it is.
    fn theirs(&self, ours: u32) -> u32 {
        let mut base = self.base;
        for change in &self.changes {
            if before(ours, change.start.ours) {
                break;
            }
            if before(ours, change.end.ours) {
                return change.start.theirs;
            }
            base = change.end;
        }
        base.to_theirs(ours)
    }

    /// Our number for a segment without data.
    pub(super) fn number(&self, theirs: u32) -> u32 {
        if before(theirs, self.left.theirs) { self.ours(theirs, false) } else { self.left.to_ours(theirs) }
    }

    /// The receiver has acknowledged what is before this number of ours: what that is to the sender.
    pub(super) fn acknowledge(&mut self, ours: u32) -> u32 {
        let theirs = self.theirs(ours);
        if before(self.kept, ours) && !before(self.left.ours, ours) {
            self.ring.release(ours.wrapping_sub(self.kept) as usize);
            self.kept = ours;
            while let Some(first) = self.changes.front().filter(|first| !before(ours, first.end.ours)) {
                self.base = first.end;
                self.changes.pop_front();
            }
            if self.expected == self.left.theirs {
                self.ring.shrink(false);
            }
        }
        if before(theirs, self.forged) { self.forged } else { theirs }
    }

    /// Whether the receiver has acknowledged all data that has left.
    pub(super) fn is_acknowledged(&self) -> bool {
        self.ring.len == 0
    }

    /// Gives memory back that is not needed while the connection is idle.
    pub(super) fn rest(&mut self) {
        if self.expected == self.left.theirs {
            self.ring.shrink(true);
            self.changes.shrink_to_fit();
        }
    }

    /// Whether this acknowledges its SYN, and nothing that has not left; ours.
    pub(super) fn is_confirmed_by(&self, acknowledgement: u32) -> bool {
        self.has_begun
            && !before(acknowledgement, self.syn.wrapping_add(1))
            && !before(self.left.ours, acknowledgement)
    }

    /// Notes that we acknowledge all that has left.
    pub(super) fn forge(&mut self) {
        self.forged = self.left.theirs;
    }

    /// What leaves in place of a segment that was there: its number, how much data of those that are kept, from
    /// where, and whether it has the FIN.
    pub(super) fn again(&self, start: u32, len: usize, fin: bool) -> Repeat {
        let end = start.wrapping_add(len as u32 + u32::from(fin));
        if len == 0 && !fin {
            return Repeat { number: self.ours(start, false), at: 0, len: 0, fin };
        }
        let end = if before(self.left.theirs, end) { self.left.theirs } else { end };
        let (mut from, to) = (self.ours(start, false), self.ours(end, true));
        if before(from, self.kept) {
            from = self.kept;
        }
        let last = self.kept.wrapping_add(self.ring.len as u32);
        let stop = if before(last, to) { last } else { to };
        let all = if before(from, stop) { stop.wrapping_sub(from) as usize } else { 0 };
        let len = all.min(self.largest);
        let fin = self.has_ended
            && !before(to, self.left.ours)
            && len == all
            && !before(from, self.kept)
            && self.kept != self.left.ours;
        if len == 0 && !fin {
            // The receiver has all of it. A number that it does not expect makes it say so again.
            return Repeat { number: self.left.ours.wrapping_sub(1), at: 0, len: 0, fin: false };
        }
        Repeat { number: from, at: from.wrapping_sub(self.kept) as usize, len, fin }
    }

    /// Copies what is kept.
    pub(super) fn read(&self, at: usize, out: &mut [u8]) {
        self.ring.read(at, out);
    }
}

/// What leaves in place of a segment that was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Repeat {
    pub(super) number: u32,
    pub(super) at: usize,
    pub(super) len: usize,
    pub(super) fin: bool,
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// What changes a stream, a segment at a time.
    pub(in super::super) trait Change {
        /// What becomes of a segment that comes next: segments, each with how much of the sender's counting it stands for.
        fn take(&mut self, start: u32, data: &[u8], fin: bool, left: u32)
        -> Vec<(u32, usize, Vec<u8>, bool)>;

        /// Nothing comes for a while.
        fn wait(&mut self, left: u32) -> Vec<(u32, usize, Vec<u8>, bool)>;
    }

    /// A stream between two ends over ways that lose, double and reorder, through an element that changes it.
    pub(in super::super) struct Model<C> {
        pub(in super::super) rng: fastrand::Rng,
        change: C,
        stream: Stream,
        pub(in super::super) sent: Vec<u8>,
        /// Where the sender's numbers begin.
        first: u32,
        acknowledged: usize,
        /// Behind what was sent last.
        next: usize,
        /// What the receiver got in order, and expects next.
        pub(in super::super) got: Vec<u8>,
        ended: bool,
        /// On the ways: number and data of segments; acknowledgements.
        before: Vec<(u32, usize, bool)>,
        after: Vec<(u32, Vec<u8>, bool)>,
        back: Vec<u32>,
        /// What should arrive: what left.
        left: Vec<u8>,
    }

    /// Removes, doubles and replaces some letters, and drops some segments.
    struct Edit(fastrand::Rng);

    impl Change for Edit {
        fn take(
            &mut self,
            start: u32,
            data: &[u8],
            fin: bool,
            _left: u32,
        ) -> Vec<(u32, usize, Vec<u8>, bool)> {
            if !data.is_empty() && self.0.u8(..20) == 0 && !fin {
                return Vec::new(); // Dropped by the element: removed.
            }
            let change = |byte: &u8| match byte % 8 {
                0 => vec![],
                1 => vec![*byte; 3],
                2 => vec![b'*'],
                _ => vec![*byte],
            };
            vec![(start, data.len(), data.iter().flat_map(change).collect(), fin)]
        }

        fn wait(&mut self, _left: u32) -> Vec<(u32, usize, Vec<u8>, bool)> {
            Vec::new()
        }
    }

    /// One of those on a way, which may stay there too.
    fn pick<T: Clone>(rng: &mut fastrand::Rng, way: &mut Vec<T>) -> Option<T> {
        let item = if way.is_empty() { return None } else { way.swap_remove(rng.usize(..way.len())) };
        match rng.u8(..10) {
            0 => None,
            1 => {
                way.push(item.clone());
                Some(item)
            }
            _ => Some(item),
        }
    }

    impl<C: Change> Model<C> {
        /// One for a stream; for retransmissions there is so much more room than there has to be.
        pub(in super::super) fn new(
            mut rng: fastrand::Rng,
            sent: Vec<u8>,
            room: usize,
            change: impl FnOnce(u32) -> C,
        ) -> Model<C> {
            let syn = rng.u32(..);
            let mut stream = Stream::new(SLACK + room, Budget::new(1 << 20));
            stream.begin(syn);
            let first = syn.wrapping_add(1);
            Model {
                rng,
                change: change(first),
                stream,
                sent,
                first,
                acknowledged: 0,
                next: 0,
                got: Vec::new(),
                ended: false,
                before: Vec::new(),
                after: Vec::new(),
                back: Vec::new(),
                left: Vec::new(),
            }
        }

        fn number(&self, at: usize) -> u32 {
            self.first.wrapping_add(at as u32)
        }

        fn send(&mut self) {
            if self.before.len() > 20 || self.acknowledged > self.sent.len() {
                return;
            }
            let at = match self.rng.u8(..8) {
                0 => (self.acknowledged + self.rng.usize(..600)).min(self.sent.len()),
                1 => self.acknowledged,
                _ if self.next < self.acknowledged + 600 => self.next,
                _ => self.acknowledged,
            };
            let len = self.rng.usize(..100).min(self.sent.len() - at);
            self.next = at + len;
            self.before.push((self.number(at), len, at + len == self.sent.len()));
        }

        fn pass(&mut self) {
            let Some((start, len, fin)) = pick(&mut self.rng, &mut self.before) else { return };
            match self.stream.enter(start, len, fin) {
                SegmentStatus::Next => {
                    let at = start.wrapping_sub(self.first) as usize;
                    let data = &self.sent[at.min(self.sent.len())..][..len];
                    let segments = self.change.take(start, data, fin, self.stream.left());
                    self.leave(segments);
                }
                SegmentStatus::Again => {
                    let repeat = self.stream.again(start, len, fin);
                    let mut data = vec![0; repeat.len];
                    self.stream.read(repeat.at, &mut data);
                    self.after.push((repeat.number, data, repeat.fin));
                }
                SegmentStatus::Underway | SegmentStatus::Early | SegmentStatus::NoRoom => {}
            }
        }

        fn leave(&mut self, segments: Vec<(u32, usize, Vec<u8>, bool)>) {
            for (start, len, data, fin) in segments {
                let number = self.stream.leave(start, len, &data, fin).expect("room");
                if !data.is_empty() || fin {
                    assert_eq!(number, self.number(self.left.len()));
                }
                if len > 0 && data.is_empty() && !fin && self.stream.is_acknowledged() {
                    self.stream.forge();
                    let told = self.stream.left().wrapping_sub(self.first) as usize;
                    self.acknowledged = self.acknowledged.max(told);
                }
                self.left.extend(&data);
                self.after.push((number, data, fin));
            }
        }

        fn receive(&mut self) {
            let Some((number, data, fin)) = pick(&mut self.rng, &mut self.after) else { return };
            let at = i64::from(number.wrapping_sub(self.first) as i32);
            let skip = usize::try_from(self.got.len() as i64 - at);
            let ahead = |skip: &usize| *skip <= data.len();
            if let Some(skip) = skip.ok().filter(ahead) {
                for (i, byte) in data.iter().enumerate() {
                    let place = at + i as i64;
                    if place >= 0 && (place as usize) < self.left.len() {
                        assert_eq!(*byte, self.left[place as usize], "sent again as before");
                    }
                }
                self.got.extend(&data[skip..]);
                self.ended |= fin;
            }
            self.back.push(self.number(self.got.len()).wrapping_add(u32::from(self.ended)));
        }

        fn hear(&mut self) {
            let Some(ours) = pick(&mut self.rng, &mut self.back) else { return };
            let theirs = self.stream.acknowledge(ours);
            let at = i64::from(theirs.wrapping_sub(self.first) as i32);
            assert!(at <= self.sent.len() as i64 + 1, "more than was sent");
            self.acknowledged = self.acknowledged.max(at.max(0) as usize);
        }
    }

    impl<C: Change> Model<C> {
        /// Goes on until the sender has heard that all has arrived. Now and then nothing comes for a while, if that is asked for.
        pub(in super::super) fn run(&mut self, waits: bool) {
            let mut turns = 0;
            while self.acknowledged <= self.sent.len() {
                turns += 1;
                let (at, all) = (self.acknowledged, self.sent.len());
                assert!(turns < 400_000, "stuck at {at} of {all}");
                match self.rng.u8(..4) {
                    0 => self.send(),
                    1 => self.pass(),
                    2 => self.receive(),
                    _ => self.hear(),
                }
                if waits && self.rng.u8(..50) == 0 {
                    let segments = self.change.wait(self.stream.left());
                    self.leave(segments);
                }
            }
            assert_eq!(self.got, self.left);
            assert!(self.ended);
        }
    }

    /// Whatever is lost, doubled and reordered on the way, the receiver gets what the element made of the stream, and
    /// the sender hears that all of it has arrived.
    #[test]
    fn two_ends() {
        for seed in 0..400 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let len = rng.usize(0..3000);
            let sent = (0..len).map(|at| if rng.bool() { 0 } else { rng.u8(..) ^ at as u8 }).collect();
            let (room, edit) = (rng.usize(200..2000), Edit(rng.fork()));
            Model::new(rng, sent, room, |_| edit).run(false);
        }
    }

    #[test]
    fn bytes_removed_at_the_end_are_acknowledged_with_those_before() {
        let mut stream = Stream::new(2 * SLACK, Budget::new(1 << 20));
        stream.begin(99);
        assert_eq!(stream.enter(100, 10, false), SegmentStatus::Next);
        assert_eq!(stream.leave(100, 10, b"0123", false), Some(100));
        assert_eq!(stream.enter(110, 5, false), SegmentStatus::Next);
        assert_eq!(stream.leave(110, 5, b"", false), Some(104));
        assert_eq!(stream.enter(100, 10, false), SegmentStatus::Again);
        assert_eq!(stream.again(100, 10, false), Repeat { number: 100, at: 0, len: 4, fin: false });
        assert_eq!(stream.enter(105, 0, false), SegmentStatus::Again);
        assert_eq!(stream.acknowledge(102), 100);
        assert_eq!(stream.acknowledge(104), 115);
        assert_eq!(stream.again(110, 5, false), Repeat { number: 103, at: 0, len: 0, fin: false });
        assert_eq!(stream.enter(120, 3, false), SegmentStatus::Early);
        assert_eq!(stream.enter(115, SLACK, false), SegmentStatus::Next);
        assert_eq!(stream.enter(115 + SLACK as u32, 1, false), SegmentStatus::NoRoom);
    }
}
