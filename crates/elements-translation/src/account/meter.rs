//! A worker's flows of one family: what packets change, and what is to be reported.

use super::estimate::{Estimate, Told};
use super::record::{Record, Why};
use super::sight::Facts;
use flows::{Flow, Guess, HashKey, Key, Limits, Met, Pairs, Recent, Slot, V4Tuple, V6Tuple};
use packet::{BATCH_MAX, Packet};
use std::net::IpAddr;
use std::time::Duration;
use wire::tcp::flag;

/// Flows that wait to be reported while they go on, at most.
const DUE: usize = 1024;
/// Records that wait because new flows took their places, at most.
const GONE: usize = 128;
/// The state of a flow that TCP has closed; others have state 0.
const ENDED: u8 = 1;
/// How long a closed flow waits for segments that are late.
const LINGER: Duration = Duration::from_secs(2);

/// Hashes of packets at hand that are told apart to find those of the same flow.
const ALIKE: usize = 128;
/// The flow of those at hand is confirmed.
const KNOWN: u8 = 0x80;
/// No packet is looked for behind the last one of a full batch.
const NONE_ALIKE: [u8; ALIKE] = [BATCH_MAX as u8 - 1; ALIKE];
const _: () = assert!(BATCH_MAX <= KNOWN as usize);
/// The flags with which connections begin and end.
const MARKS: u8 = flag::SYN | flag::FIN | flag::RST;

/// What tells flows of a family apart.
pub(super) trait Ends: Key {
    fn reversed(self) -> Self;
    fn parts(self) -> Parts;
}

/// What a report says of a flow's ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Parts {
    /// Address and port of the one that sent the first packet, and of the other.
    pub(super) ends: [(IpAddr, u16); 2],
    pub(super) protocol: u8,
}

impl Ends for V4Tuple {
    fn reversed(self) -> Self {
        V4Tuple::reversed(self)
    }

    fn parts(self) -> Parts {
        let ((a, b), (a_port, b_port)) = (self.ends(), self.ports());
        Parts { ends: [(a.into(), a_port), (b.into(), b_port)], protocol: self.protocol() }
    }
}

impl Ends for V6Tuple {
    fn reversed(self) -> Self {
        V6Tuple::reversed(self)
    }

    fn parts(self) -> Parts {
        let ((a, b), (a_port, b_port)) = (self.ends(), self.ports());
        Parts { ends: [(a.into(), a_port), (b.into(), b_port)], protocol: self.protocol() }
    }
}

/// How long flows are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Timeouts {
    pub(super) idle: Duration,
    pub(super) active_ms: i64,
}

/// Packets of a flow in a row.
struct Train<K, S> {
    key: K,
    guess: Guess,
    facts: Facts,
    segment: S,
}

impl<K, S> Train<K, S> {
    /// Adds the next packet of the same flow and direction; false, and nothing changed, if both cannot be counted together.
    #[inline]
    fn join<E: Estimate<Segment = S>>(&mut self, segment: &S, facts: &Facts) -> bool {
        let joined = E::join(&mut self.segment, segment);
        if joined {
            self.facts.octets += facts.octets;
            self.facts.packets += facts.packets;
            self.facts.tcp_flags |= facts.tcp_flags;
        }
        joined
    }
}

/// Packets at hand whose flow was not found lately.
struct Unknown {
    /// Which of those at hand.
    at: usize,
    /// Their hash for what was found lately, and that for the table.
    hash: u64,
    in_table: u64,
}

/// What is kept of a flow: what is counted, and what is estimated.
#[derive(Clone, Copy, Default)]
struct Kept<E> {
    record: Record,
    estimate: E,
}

impl<E: Estimate> Kept<E> {
    #[inline]
    fn count<S>(&mut self, direction: usize, train: &Train<S, E::Segment>, now_ns: i64, now_ms: i64) -> i64 {
        self.estimate.note(direction, &train.segment, train.facts.tcp_flags, now_ns);
        self.record.count(direction, &train.facts, now_ms)
    }
}

const _: () = assert!(size_of::<Kept<()>>() == size_of::<Record>());

/// What a walk tells of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Talk {
    /// Of both directions, since it was reported.
    pub(super) octets: u64,
    pub(super) parts: Parts,
    pub(super) told: Told,
    /// Whether there were octets of the second direction.
    pub(super) is_answered: bool,
}

/// What reports are handed to: a flow's ends, its counts and estimates, and why it is reported.
pub(super) trait Report: FnMut(Parts, &Record, Told, Why) {}

impl<F: FnMut(Parts, &Record, Told, Why)> Report for F {}

/// The records.
pub(super) struct Meter<K, E: Estimate = ()> {
    table: Pairs<K, Kept<E>>,
    /// Where flows were found lately.
    recent: Recent,
    /// The packets at hand.
    at_hand: Vec<Train<K, E::Segment>>,
    /// Those of which the table's index has to be asked where their flows are.
    unknown: Vec<Unknown>,
    /// Which of those at hand were the last for each of some values of their hashes, or others; and [`KNOWN`].
    alike: [u8; ALIKE],
    /// All flags of those at hand.
    marks: u8,
    active_ms: i64,
    /// Flows that were not reported for long.
    due: Vec<Slot>,
    /// Flows that users want to be reported.
    forced: Vec<Slot>,
    /// Flows whose places others took.
    gone: Vec<(K, Kept<E>)>,
    /// Flows that were displaced while too many others waited, and are not reported.
    pub(super) lost: u64,
}

impl<K: Ends, E: Estimate> Meter<K, E> {
    /// A meter for so many flows.
    pub(super) fn new(capacity: usize, timeouts: Timeouts, seed: u64) -> Meter<K, E> {
        let mut limits = Limits { unconfirmed: capacity.div_ceil(2), ..Limits::new(capacity) };
        limits = limits.with_timeout(timeouts.idle);
        limits.timeouts[usize::from(ENDED)] = LINGER.min(timeouts.idle);
        Meter {
            table: Pairs::new(limits, HashKey::new(seed)),
            recent: Recent::new(HashKey::new(!seed)),
            at_hand: Vec::with_capacity(BATCH_MAX),
            unknown: Vec::with_capacity(BATCH_MAX),
            alike: NONE_ALIKE,
            marks: 0,
            active_ms: timeouts.active_ms,
            due: Vec::with_capacity(DUE),
            forced: Vec::new(),
            gone: Vec::with_capacity(GONE),
            lost: 0,
        }
    }

    /// Takes a packet that [`Meter::count`] counts, [`BATCH_MAX`] of them at most; asks for the memory that a look-up begins with.
    /// Packets of a flow in a row are counted together, unless some of them begin or end a connection; and so are others of a flow that is
    /// confirmed, if none at hand does.
    #[inline(always)] // as the next one
    pub(super) fn add(&mut self, packet: &Packet, key: K, facts: Facts) {
        self.add_read(E::read(packet, &facts), key, facts);
    }

    /// The same with what was read for estimates.
    #[inline(always)] // key and facts stay in registers
    pub(super) fn add_read(&mut self, segment: E::Segment, key: K, facts: Facts) {
        self.marks |= facts.tcp_flags;
        let hash = self.recent.hash(&key);
        let alike = &mut self.alike[hash as usize % ALIKE];
        let (at, len) = (usize::from(*alike & !KNOWN), self.at_hand.len());
        if let Some(train) = self.at_hand.get_mut(at).filter(|train| train.key == key) {
            // What nothing at hand ends, and no other flow displaces, stays as it is whatever is counted first.
            if *alike & KNOWN == 0 && self.table.is_known(train.guess, &key) {
                *alike |= KNOWN;
            }
            let is_steady = *alike & KNOWN != 0 && self.marks & MARKS == 0;
            let is_next = at + 1 == len && (train.facts.tcp_flags | facts.tcp_flags) & MARKS == 0;
            if (is_steady || is_next) && train.join::<E>(&segment, &facts) {
                return;
            }
        }
        *alike = len as u8;
        let guess = match self.recent.guess(hash) {
            Some(guess) => {
                self.table.prefetch_guessed(guess);
                guess
            }
            None => {
                let in_table = self.table.hash(&key);
                self.table.prefetch(in_table);
                self.unknown.push(Unknown { at: len, hash, in_table });
                Guess::NONE
            }
        };
        self.at_hand.push(Train { key, guess, facts, segment });
    }

    /// Counts the packets that were added; of how many the flow has no room. Allocates nothing.
    #[inline]
    pub(super) fn count(&mut self, now_ns: i64, now_ms: i64) -> u64 {
        if self.at_hand.is_empty() {
            return 0;
        }
        let mut at_hand = std::mem::take(&mut self.at_hand);
        for Unknown { at, hash, in_table } in self.unknown.drain(..) {
            let Some(train) = at_hand.get_mut(at) else { continue };
            train.guess = self.table.guessed(in_table);
            if train.guess.is_some() {
                self.recent.note(hash, train.guess);
            }
        }
        let mut refused = 0;
        for train in &at_hand {
            let counted = self.count_at(train.guess, train, now_ns, now_ms);
            if !counted.unwrap_or_else(|| self.count_searched(train, now_ns, now_ms)) {
                refused += u64::from(train.facts.packets);
            }
        }
        at_hand.clear();
        (self.at_hand, self.alike, self.marks) = (at_hand, NONE_ALIKE, 0);
        refused
    }

    /// Counts packets of a flow that was guessed; false if there is no room for it. `None` if the guess is wrong, or it is not confirmed.
    #[inline(always)] // it is most of what there is to do for packets at hand
    fn count_at(
        &mut self,
        guess: Guess,
        train: &Train<K, E::Segment>,
        now_ns: i64,
        now_ms: i64,
    ) -> Option<bool> {
        let Train { key, facts, .. } = train;
        let Met { slot, state, value: kept } = self.table.meet_known(guess, key, now_ns)?;
        if facts.tcp_flags & (flag::SYN | flag::ACK) == flag::SYN && state == ENDED {
            self.retire(slot);
            return Some(self.begin(self.table.hash(key), train, now_ns, now_ms));
        }
        let age_ms = kept.count(usize::from(slot.is_reverse()), train, now_ns, now_ms);
        let record = &mut kept.record;
        if age_ms >= self.active_ms && !record.is_due && self.due.len() < DUE {
            record.is_due = true;
            self.due.push(slot);
        }
        if facts.tcp_flags != 0 && state != ENDED && record.has_ended() {
            self.table.set_state(slot, ENDED, now_ns);
        }
        Some(true)
    }

    /// Counts packets of a flow that was not guessed, or had one packet until now.
    #[inline(never)]
    fn count_searched(&mut self, train: &Train<K, E::Segment>, now_ns: i64, now_ms: i64) -> bool {
        let hash = self.table.hash(&train.key);
        let Some(slot) = self.table.peek(hash, &train.key) else {
            return self.begin(hash, train, now_ns, now_ms);
        };
        self.table.confirm(slot, now_ns);
        self.recent.note(self.recent.hash(&train.key), slot.into());
        self.count_at(slot.into(), train, now_ns, now_ms).unwrap_or(false)
    }

    /// Takes out a closed flow whose ports another takes.
    #[cold]
    fn retire(&mut self, slot: Slot) {
        let Some((key, kept)) = self.table.remove(slot).filter(|(_, kept)| !kept.record.is_empty()) else {
            return;
        };
        match self.gone.len() < GONE {
            true => self.gone.push((key, kept)),
            false => self.lost += 1,
        }
    }

    /// The first packets of a flow. A second one confirms it.
    #[inline(never)]
    fn begin(&mut self, hash: u64, train: &Train<K, E::Segment>, now_ns: i64, now_ms: i64) -> bool {
        let Train { key, facts, .. } = *train;
        let mut kept = Kept::<E>::default();
        kept.count(0, train, now_ns, now_ms);
        let has_ended = facts.packets > 1 && kept.record.has_ended();
        let back = key.reversed();
        // A host may talk to itself, from a port to the same.
        let second = (back != key).then(|| (self.table.hash(&back), back));
        let Meter { table, gone, lost, .. } = self;
        let mut displaced = |key: K, kept: Kept<E>| {
            if kept.record.is_empty() {
                return;
            }
            match gone.len() < GONE {
                true => gone.push((key, kept)),
                false => *lost += 1,
            }
        };
        let Ok(slot) = table.insert_with((hash, key), second, kept, now_ns, &mut displaced) else {
            return false;
        };
        if facts.packets > 1 {
            table.confirm(slot, now_ns);
        }
        if has_ended {
            table.set_state(slot, ENDED, now_ns);
        }
        true
    }

    /// Whether so many wait that they should be reported at once.
    #[inline]
    pub(super) fn is_pressed(&self) -> bool {
        self.due.len() >= DUE / 2 || self.gone.len() >= GONE / 2
    }

    /// Flows that are known.
    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether it has nothing to report, now or later.
    pub(super) fn is_empty(&self) -> bool {
        self.table.is_empty() && self.gone.is_empty()
    }

    /// Hands about `budget` flows that are to be reported now to `report`; whether there may be more.
    pub(super) fn report(&mut self, now_ns: i64, budget: usize, report: &mut impl Report) -> bool {
        let mut tell = |key: K, kept: &Kept<E>, why| {
            report(key.parts(), &kept.record, kept.estimate.told(), why);
        };
        let ended_or = |kept: &Kept<E>, why| if kept.record.has_ended() { Why::End } else { why };
        for (key, kept) in self.gone.drain(self.gone.len().saturating_sub(budget)..) {
            tell(key, &kept, ended_or(&kept, Why::Displaced));
        }
        for slot in self.forced.drain(self.forced.len().saturating_sub(budget)..) {
            if let Some((key, kept)) = self.table.remove(slot).filter(|(_, kept)| !kept.record.is_empty()) {
                tell(key, &kept, Why::Forced);
            }
        }
        for slot in self.due.drain(self.due.len().saturating_sub(budget)..) {
            let Some((key, _)) = self.table.keys(slot) else { continue };
            // Another flow may be in its place meanwhile.
            let Some(kept) = self.table.value_mut(slot).filter(|kept| kept.record.is_due) else { continue };
            tell(key, kept, Why::Active);
            *kept = Kept { record: Record::default(), estimate: kept.estimate.after_report() };
        }
        let mut ended = |key: K, kept: Kept<E>| {
            // What was reported while it went on may have had no packet since.
            if !kept.record.is_empty() {
                tell(key, &kept, ended_or(&kept, Why::Idle));
            }
        };
        let more = self.table.expire(now_ns, budget, &mut ended);
        more || !self.gone.is_empty() || !self.forced.is_empty() || !self.due.is_empty()
    }

    /// Hands the octets of flows since they were reported to `f`, both directions together, with what is estimated of them: of those in
    /// `places` places for flows from `from` on. Where to go on, or `None` at the end.
    pub(super) fn walk(&self, from: u32, places: usize, mut f: impl FnMut(Talk)) -> Option<u32> {
        self.table.walk(from, places, |key, kept| {
            let octets = kept.record.octets;
            f(Talk {
                octets: octets.iter().sum(),
                parts: key.parts(),
                told: kept.estimate.told(),
                is_answered: octets[1] > 0,
            });
        })
    }

    /// Has all flows reported soon.
    pub(super) fn force(&mut self, now_ns: i64) {
        self.forced = self.table.iter(now_ns).map(|(slot, _)| slot).collect();
    }

    /// Takes all out, for an element that replaces this one.
    pub(super) fn give(&mut self) -> Meter<K, E> {
        let nothing = Timeouts { idle: Duration::ZERO, active_ms: i64::MAX };
        std::mem::replace(self, Meter::new(0, nothing, 0))
    }

    /// Goes on with another's flows: in its memory, if that is as large. Those for which there is no room are reported.
    pub(super) fn adopt(&mut self, mut old: Meter<K, E>, now_ns: i64) {
        if self.table.is_empty() && old.table.limits() == self.table.limits() {
            self.lost += old.lost;
            self.gone.append(&mut old.gone);
            (self.table, self.recent) = (old.table, old.recent);
            self.due.append(&mut old.due);
            self.due.reserve(DUE);
            return;
        }
        self.adopt_singly(old, |kept| kept, now_ns);
    }

    /// Goes on with the flows of one that estimates what this one does not, or does not what this one does.
    pub(super) fn adopt_other<F: Estimate>(&mut self, old: Meter<K, F>, now_ns: i64) {
        self.adopt_singly(old, |Kept { record, .. }| Kept { record, estimate: E::default() }, now_ns);
    }

    fn adopt_singly<F: Estimate>(
        &mut self,
        mut old: Meter<K, F>,
        as_own: impl Fn(Kept<F>) -> Kept<E>,
        now_ns: i64,
    ) {
        self.lost += old.lost;
        self.gone.extend(old.gone.drain(..).map(|(key, kept)| (key, as_own(kept))));
        for flow in old.table.drain(now_ns) {
            let Flow { key, second, idle, state, confirmed, value } = flow;
            let mut kept = as_own(value);
            kept.record.is_due = false;
            let limits = self.table.limits();
            let has_room = self.table.len() < limits.capacity
                && (confirmed || self.table.unconfirmed() < limits.unconfirmed);
            let flow = Flow { key, second, idle, state, confirmed, value: kept };
            if !(has_room && self.table.restore(flow, now_ns).is_ok() || kept.record.is_empty()) {
                self.gone.push((key, kept));
            }
        }
    }
}

#[cfg(test)]
#[path = "meter_tests.rs"]
mod tests;
