//! A worker's flows of one family: what packets change, and what is to be reported.

use super::record::{Record, Why};
use super::sight::Facts;
use flows::{Flow, Guess, HashKey, Key, Limits, Met, Pairs, Slot, V4Tuple, V6Tuple};
use packet::BATCH_MAX;
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
struct Train<K> {
    hash: u64,
    key: K,
    guess: Guess,
    facts: Facts,
}

/// The records.
pub(super) struct Meter<K> {
    table: Pairs<K, Record>,
    /// The packets at hand.
    at_hand: Vec<Train<K>>,
    active_ms: i64,
    /// Flows that were not reported for long.
    due: Vec<Slot>,
    /// Flows that users want to be reported.
    forced: Vec<Slot>,
    /// Flows whose places others took.
    gone: Vec<(K, Record)>,
    /// Flows that were displaced while too many others waited, and are not reported.
    pub(super) lost: u64,
}

impl<K: Ends> Meter<K> {
    /// A meter for so many flows.
    pub(super) fn new(capacity: usize, timeouts: Timeouts, seed: u64) -> Meter<K> {
        let mut limits = Limits { unconfirmed: capacity.div_ceil(2), ..Limits::new(capacity) };
        limits = limits.with_timeout(timeouts.idle);
        limits.timeouts[usize::from(ENDED)] = LINGER.min(timeouts.idle);
        Meter {
            table: Pairs::new(limits, HashKey::new(seed)),
            at_hand: Vec::with_capacity(BATCH_MAX),
            active_ms: timeouts.active_ms,
            due: Vec::with_capacity(DUE),
            forced: Vec::new(),
            gone: Vec::with_capacity(GONE),
            lost: 0,
        }
    }

    /// Takes a packet that [`Meter::count`] counts, [`BATCH_MAX`] of them at most; asks for the memory that a look-up begins with.
    /// Packets of a flow in a row are counted together, unless some of them may begin another flow in its place.
    #[inline]
    pub(super) fn add(&mut self, key: K, facts: Facts) {
        if let Some(last) = self.at_hand.last_mut()
            && last.key == key
            && (last.facts.tcp_flags | facts.tcp_flags) & flag::SYN == 0
        {
            last.facts.octets += facts.octets;
            last.facts.packets += facts.packets;
            last.facts.tcp_flags |= facts.tcp_flags;
            return;
        }
        let hash = self.table.hash(&key);
        self.table.prefetch(hash);
        self.at_hand.push(Train { hash, key, guess: Guess::NONE, facts });
    }

    /// Counts the packets that were added; of how many the flow has no room. Allocates nothing.
    #[inline]
    pub(super) fn count(&mut self, now_ns: i64, now_ms: i64) -> u64 {
        if self.at_hand.is_empty() {
            return 0;
        }
        let mut at_hand = std::mem::take(&mut self.at_hand);
        for train in &mut at_hand {
            train.guess = self.table.guessed(train.hash);
        }
        let mut refused = 0;
        for train in &at_hand {
            if !self.count_train(train, now_ns, now_ms) {
                refused += u64::from(train.facts.packets);
            }
        }
        at_hand.clear();
        self.at_hand = at_hand;
        refused
    }

    /// Counts packets of a flow; false if there is no room for it.
    #[inline]
    fn count_train(&mut self, train: &Train<K>, now_ns: i64, now_ms: i64) -> bool {
        let Train { hash, key, guess, facts } = train;
        let Some(Met { slot, state, value: record }) = self.table.meet_guessed(*guess, *hash, key, now_ns)
        else {
            return self.begin(train, now_ns, now_ms);
        };
        if state == ENDED && facts.tcp_flags & (flag::SYN | flag::ACK) == flag::SYN {
            self.retire(slot);
            return self.begin(train, now_ns, now_ms);
        }
        let age_ms = record.count(usize::from(slot.is_reverse()), facts, now_ms);
        if age_ms >= self.active_ms && !record.is_due && self.due.len() < DUE {
            record.is_due = true;
            self.due.push(slot);
        }
        if facts.tcp_flags != 0 && state != ENDED && record.has_ended() {
            self.table.set_state(slot, ENDED, now_ns);
        }
        true
    }

    /// Takes out a closed flow whose ports another takes.
    #[cold]
    fn retire(&mut self, slot: Slot) {
        let Some((key, record)) = self.table.remove(slot).filter(|(_, record)| !record.is_empty()) else {
            return;
        };
        match self.gone.len() < GONE {
            true => self.gone.push((key, record)),
            false => self.lost += 1,
        }
    }

    /// The first packets of a flow. A second one confirms it.
    #[inline(never)]
    fn begin(&mut self, train: &Train<K>, now_ns: i64, now_ms: i64) -> bool {
        let Train { hash, key, facts, .. } = train;
        let mut record = Record::default();
        record.count(0, facts, now_ms);
        let has_ended = facts.packets > 1 && record.has_ended();
        let (hash, key) = (*hash, *key);
        let back = key.reversed();
        // A host may talk to itself, from a port to the same.
        let second = (back != key).then(|| (self.table.hash(&back), back));
        let Meter { table, gone, lost, .. } = self;
        let mut displaced = |key: K, record: Record| {
            if record.is_empty() {
                return;
            }
            match gone.len() < GONE {
                true => gone.push((key, record)),
                false => *lost += 1,
            }
        };
        let Ok(slot) = table.insert_with((hash, key), second, record, now_ns, &mut displaced) else {
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
    pub(super) fn report(
        &mut self,
        now_ns: i64,
        budget: usize,
        report: &mut impl FnMut(Parts, &Record, Why),
    ) -> bool {
        for (key, record) in self.gone.drain(self.gone.len().saturating_sub(budget)..) {
            report(key.parts(), &record, if record.has_ended() { Why::End } else { Why::Displaced });
        }
        for slot in self.forced.drain(self.forced.len().saturating_sub(budget)..) {
            if let Some((key, record)) = self.table.remove(slot).filter(|(_, record)| !record.is_empty()) {
                report(key.parts(), &record, Why::Forced);
            }
        }
        for slot in self.due.drain(self.due.len().saturating_sub(budget)..) {
            let Some((key, _)) = self.table.keys(slot) else { continue };
            // Another flow may be in its place meanwhile.
            let Some(record) = self.table.value_mut(slot).filter(|record| record.is_due) else { continue };
            report(key.parts(), record, Why::Active);
            *record = Record::default();
        }
        let mut ended = |key: K, record: Record| {
            // What was reported while it went on may have had no packet since.
            if !record.is_empty() {
                report(key.parts(), &record, if record.has_ended() { Why::End } else { Why::Idle });
            }
        };
        let more = self.table.expire(now_ns, budget, &mut ended);
        more || !self.gone.is_empty() || !self.forced.is_empty() || !self.due.is_empty()
    }

    /// Hands the octets of flows since they were reported to `f`, both directions together: of those in `places` places for flows from
    /// `from` on. Where to go on, or `None` at the end.
    pub(super) fn walk(&self, from: u32, places: usize, mut f: impl FnMut(u64, Parts)) -> Option<u32> {
        self.table.walk(from, places, |key, record| f(record.octets.iter().sum(), key.parts()))
    }

    /// Has all flows reported soon.
    pub(super) fn force(&mut self, now_ns: i64) {
        self.forced = self.table.iter(now_ns).map(|(slot, _)| slot).collect();
    }

    /// Takes all out, for an element that replaces this one.
    pub(super) fn give(&mut self) -> Meter<K> {
        let nothing = Timeouts { idle: Duration::ZERO, active_ms: i64::MAX };
        std::mem::replace(self, Meter::new(0, nothing, 0))
    }

    /// Goes on with another's flows: in its memory, if that is as large. Those for which there is no room are reported.
    pub(super) fn adopt(&mut self, mut old: Meter<K>, now_ns: i64) {
        self.lost += old.lost;
        self.gone.append(&mut old.gone);
        if self.table.is_empty() && old.table.limits() == self.table.limits() {
            self.table = old.table;
            self.due.append(&mut old.due);
            self.due.reserve(DUE);
            return;
        }
        for flow in old.table.drain(now_ns) {
            let Flow { key, mut value, .. } = flow;
            value.is_due = false;
            let limits = self.table.limits();
            let has_room = self.table.len() < limits.capacity
                && (flow.confirmed || self.table.unconfirmed() < limits.unconfirmed);
            if !(has_room && self.table.restore(Flow { value, ..flow }, now_ns).is_ok() || value.is_empty()) {
                self.gone.push((key, value));
            }
        }
    }
}

#[cfg(test)]
#[path = "meter_tests.rs"]
mod tests;
