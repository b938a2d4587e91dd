//! A worker's flows of one family: what packets change, and what is to be reported.

use super::record::{Record, Why};
use super::sight::Facts;
use flows::{Flow, HashKey, Key, Limits, Pairs, Slot, V4Tuple, V6Tuple};
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

/// The records.
pub(super) struct Meter<K> {
    table: Pairs<K, Record>,
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
            active_ms: timeouts.active_ms,
            due: Vec::with_capacity(DUE),
            forced: Vec::new(),
            gone: Vec::with_capacity(GONE),
            lost: 0,
        }
    }

    /// A hash of a flow; asks for the memory that [`Meter::count`] begins with.
    #[inline]
    pub(super) fn hash(&self, key: &K) -> u64 {
        let hash = self.table.hash(key);
        self.table.prefetch(hash);
        hash
    }

    /// Asks for the record that a hash most likely belongs to.
    #[inline]
    pub(super) fn prefetch(&self, hash: u64) {
        self.table.prefetch_record(hash);
    }

    /// Counts a packet; false if there is no room for its flow. Allocates nothing.
    #[inline]
    pub(super) fn count(&mut self, hash: u64, key: K, facts: &Facts, now_ns: i64, now_ms: i64) -> bool {
        let Some(slot) = self.table.find(hash, &key) else {
            return self.begin(hash, key, facts, now_ns, now_ms);
        };
        if facts.tcp_flags & (flag::SYN | flag::ACK) == flag::SYN && self.table.state(slot) == Some(ENDED) {
            self.retire(slot);
            return self.begin(hash, key, facts, now_ns, now_ms);
        }
        let direction = usize::from(slot.is_reverse());
        let Some(record) = self.table.meet(slot, now_ns) else { return false };
        record.count(direction, facts, now_ms);
        if record.age_ms(now_ms) >= self.active_ms && !record.is_due && self.due.len() < DUE {
            record.is_due = true;
            self.due.push(slot);
        }
        if facts.tcp_flags != 0 && record.has_ended() {
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

    /// The first packet of a flow.
    fn begin(&mut self, hash: u64, key: K, facts: &Facts, now_ns: i64, now_ms: i64) -> bool {
        let mut record = Record::default();
        record.count(0, facts, now_ms);
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
        table.insert_with((hash, key), second, record, now_ns, &mut displaced).is_ok()
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

    /// Hands the octets of each flow since it was reported to `f`, both directions together.
    pub(super) fn each(&self, now_ns: i64, mut f: impl FnMut(u64, Parts)) {
        self.table.iter(now_ns).for_each(|(_, flow)| f(flow.value.octets.iter().sum(), flow.key.parts()));
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
