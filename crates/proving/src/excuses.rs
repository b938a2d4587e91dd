//! Why a message may be missing, late or out of order: only where something was seen to happen to it, or a router said how much it lost.

use crate::contents::Contents;
use crate::message::Message;
use crate::pace::STRIDE_MAX_NS;
use std::collections::{BTreeMap, BTreeSet};

/// How long a message may be on its way while nothing is in trouble.
const STAY_NS: i64 = 20_000_000;
/// How long a frame that is meant for an address may be on its way, beside the time for which routers hold it.
const FLIGHT_NS: i64 = 1_000_000;
/// After a question for a neighbour, or its answer, was lost on a bad link, routers may give it up: three questions, a second apart.
const AFTERMATH_NS: i64 = 5_000_000_000;

/// What has happened to messages so far.
pub struct Excuses {
    stay_ns: i64,
    held_ns: i64,
    /// Those that went down with a frame, their own or that of an error about them.
    lost: BTreeSet<Message>,
    allowances: Vec<Allowance>,
    /// When questions for neighbours, their answers or announcements were lost.
    silences: Vec<i64>,
    /// When routers ended with packets in them: announcements may have been among them.
    ends: Vec<i64>,
    /// When workers were held, and how long.
    holds: Vec<(i64, i64)>,
    /// When messages may have been late or out of order.
    weather: Vec<(i64, i64)>,
    /// Since when links are in trouble.
    trouble: BTreeMap<usize, i64>,
}

/// Of the messages that were on their way at some time, so many may be missing.
struct Allowance {
    from_ns: i64,
    to_ns: i64,
    left: u64,
}

impl Excuses {
    /// None yet. Routers hold messages for so long at most, beyond what is usual.
    pub fn new(held_ns: i64) -> Excuses {
        Excuses {
            stay_ns: STAY_NS + held_ns,
            held_ns,
            lost: BTreeSet::new(),
            allowances: Vec::new(),
            silences: Vec::new(),
            ends: Vec::new(),
            holds: Vec::new(),
            weather: Vec::new(),
            trouble: BTreeMap::new(),
        }
    }

    /// A frame is lost with what it carries.
    pub fn lose(&mut self, now_ns: i64, contents: Contents) {
        match contents {
            Contents::Message(message) => drop(self.lost.insert(message)),
            Contents::Neighbours => self.silences.push(now_ns),
            Contents::Unknown => self.allow(now_ns, now_ns, 1),
        }
    }

    /// Of the messages that are on their way between two moments so many may get lost: something says so.
    pub fn allow(&mut self, from_ns: i64, to_ns: i64, messages: u64) {
        if messages > 0 {
            self.allowances.push(Allowance { from_ns, to_ns, left: messages });
            self.ends.push(to_ns);
        }
    }

    /// A worker is held from one time to the other.
    pub fn hold(&mut self, from_ns: i64, to_ns: i64) {
        self.holds.push((from_ns, to_ns));
    }

    /// Between two moments messages may be late, and overtake each other.
    pub fn delay(&mut self, from_ns: i64, to_ns: i64) {
        self.weather.push((from_ns, to_ns));
    }

    /// A link is good from now on, or is not.
    pub fn weather(&mut self, link: usize, good: bool, now_ns: i64) {
        if let Some(since_ns) = self.trouble.remove(&link) {
            self.delay(since_ns, now_ns + AFTERMATH_NS);
        }
        if !good {
            self.trouble.insert(link, now_ns - FLIGHT_NS);
        }
    }

    /// Until when a message that was sent at some time must have arrived.
    pub fn until_ns(&self, sent_ns: i64) -> i64 {
        let until_ns = sent_ns + self.stay_ns;
        let met = |&&(from_ns, to_ns): &&(i64, i64)| from_ns <= until_ns && to_ns >= sent_ns;
        until_ns + self.holds.iter().filter(met).map(|(from_ns, to_ns)| to_ns - from_ns).sum::<i64>()
    }

    /// Whether a frame that arrives now may have been sent to an Ethernet address that was another one's until then: it was on its way, or
    /// the sender was not told, or it answers a question from there, late by a stride.
    pub fn may_be_meant_for(&self, until_ns: i64, now_ns: i64, contents: &Contents) -> bool {
        let stride_ns = if matches!(contents, Contents::Neighbours) { STRIDE_MAX_NS } else { 0 };
        let late_ns = self.under_way_until_ns(until_ns) + stride_ns;
        let untold = self.silences.iter().chain(&self.ends).any(|&at_ns| at_ns >= until_ns - self.held_ns);
        now_ns <= late_ns || untold || self.is_rough(until_ns, now_ns)
    }

    /// Whether a router may read now what a host said of its Ethernet address at some time. What is said later may be read earlier, if it
    /// comes into another receive queue.
    pub fn may_be_unread(&self, said_ns: i64, now_ns: i64) -> bool {
        now_ns <= self.under_way_until_ns(said_ns) + STRIDE_MAX_NS
    }

    /// Until when a frame may be on its way that was sent at some time, while nothing is in trouble but that routers are held.
    fn under_way_until_ns(&self, sent_ns: i64) -> i64 {
        self.until_ns(sent_ns) - STAY_NS + FLIGHT_NS
    }

    /// Whether messages may have been late between two moments.
    pub fn is_rough(&self, from_ns: i64, to_ns: i64) -> bool {
        self.weather.iter().any(|&(from, to)| from <= to_ns && from_ns <= to)
            || self.trouble.values().any(|&since_ns| since_ns <= to_ns)
    }

    /// Whether a message that was sent at some time may be missing. An allowance is used up by this.
    pub fn excuse(&mut self, message: Message, sent_ns: i64) -> bool {
        let until_ns = self.until_ns(sent_ns);
        let waits = |&at_ns: &i64| at_ns <= until_ns && sent_ns <= at_ns + AFTERMATH_NS;
        if self.lost.contains(&message)
            || self.lost.contains(&message.answered())
            || self.silences.iter().any(waits)
        {
            return true;
        }
        let meets = |allowance: &&mut Allowance| allowance.from_ns <= until_ns && sent_ns <= allowance.to_ns;
        let mut open = self.allowances.iter_mut().filter(|allowance| allowance.left > 0);
        let Some(allowance) = open.find(meets) else { return false };
        allowance.left -= 1;
        true
    }

    /// Whether neighbours may have to be asked again.
    pub fn is_silenced(&self) -> bool {
        !self.silences.is_empty() || !self.ends.is_empty()
    }

    /// Whether there never was any trouble.
    pub fn is_calm(&self) -> bool {
        !self.is_silenced() && self.lost.is_empty() && self.weather.is_empty() && self.trouble.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    /// An allowance covers as many messages as it says, and only those that were on their way.
    #[test]
    fn an_allowance_is_used_up() {
        let mut excuses = Excuses::new(0);
        let message = |number| Message { flow: 0, number, answer: false };
        excuses.allow(50 * MS, 50 * MS, 2);
        assert!(!excuses.excuse(message(0), 29 * MS) && !excuses.excuse(message(1), 51 * MS));
        assert!(excuses.excuse(message(2), 31 * MS) && excuses.excuse(message(3), 50 * MS));
        assert!(!excuses.excuse(message(4), 50 * MS), "there were two");
        excuses.lose(60 * MS, Contents::Message(message(5)));
        assert!(excuses.excuse(message(5), 60 * MS) && !excuses.excuse(message(6), 60 * MS));
        assert!(!excuses.is_calm());
    }

    /// A held worker makes messages late, not lost.
    #[test]
    fn a_hold_makes_late() {
        let mut excuses = Excuses::new(0);
        excuses.hold(10 * MS, 40 * MS);
        assert_eq!([0, 39 * MS, 41 * MS].map(|at| excuses.until_ns(at)), [50 * MS, 89 * MS, 61 * MS]);
        assert!(!excuses.excuse(Message { flow: 0, number: 0, answer: false }, 20 * MS));
        assert!(excuses.is_calm());
    }
}
