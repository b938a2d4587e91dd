//! What two copies have made of the same packets.
//!
//! What left by an interface is compared as a multiset: neither order nor time counts. A packet that both have sent is forgotten at once, so
//! that only what differs takes memory.

use super::doors::Sent;
use super::neighbours::network;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use wire::ethernet::ether_type;
use wire::ipv4;

/// Packets of one that the other has not sent, at most, before more of them are taken for different unseen.
const PENDING_MAX: usize = 1 << 20;
/// Packets that may turn out to be examples, at most.
const CANDIDATES_MAX: usize = 1_024;
/// Examples that are told.
const EXAMPLES: usize = 5;

/// A count of each of the two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::reload) struct Both {
    pub(in crate::reload) running: u64,
    pub(in crate::reload) new: u64,
}

/// What left by an interface.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::reload) struct Traffic {
    /// Packets that were sent.
    pub(in crate::reload) sent: Both,
    /// Those of them that the other has not sent, or not as often.
    pub(in crate::reload) alone: Both,
}

/// What became of a packet in a copy, by the time that this rested.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) sent: Vec<Sent>,
    /// Elements that dropped something, and why.
    pub(super) dropped: Vec<(String, &'static str)>,
}

impl Outcome {
    /// Adds what became of other packets.
    pub(super) fn extend(&mut self, other: Outcome) {
        self.sent.extend(other.sent);
        self.dropped.extend(other.dropped);
    }
}

/// A packet that the two treat differently.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::reload) struct Example {
    pub(in crate::reload) packet: String,
    /// The interface that it came from.
    pub(in crate::reload) interface: String,
    /// What became of it: in words.
    pub(in crate::reload) running: String,
    pub(in crate::reload) new: String,
}

/// A packet of an interface: its number, and a hash of its bytes.
type Key = (usize, u64);

/// An example, if what it is about turns out to be different.
struct Candidate {
    keys: Vec<Key>,
    reasons: Vec<&'static str>,
    example: Example,
}

/// The comparison, as it grows.
#[derive(Default)]
pub(super) struct Comparison {
    ports: Vec<(String, Traffic)>,
    /// How much more often the running configuration has sent a packet than the new one.
    pending: HashMap<Key, i64>,
    drops: BTreeMap<&'static str, Both>,
    candidates: Vec<Candidate>,
    /// Whether there is no use in looking for candidates that are none any more.
    is_full: bool,
}

/// The result.
pub(super) struct Compared {
    pub(super) interfaces: BTreeMap<String, Traffic>,
    pub(super) drops: BTreeMap<String, Both>,
    pub(super) examples: Vec<Example>,
}

impl Comparison {
    /// Adds what became of a packet, or of none: of packets that wait, and of those that elements make by themselves. `packet` says in a
    /// line which one it was, and whence it came.
    pub(super) fn add(
        &mut self,
        running: &Outcome,
        new: &Outcome,
        packet: impl FnOnce() -> (String, String),
    ) {
        let keys = self.unmatched(running, new);
        let mut reasons: Vec<&'static str> =
            running.dropped.iter().chain(&new.dropped).map(|(_, reason)| *reason).collect();
        running.dropped.iter().for_each(|(_, reason)| self.drops.entry(reason).or_default().running += 1);
        new.dropped.iter().for_each(|(_, reason)| self.drops.entry(reason).or_default().new += 1);
        let count = |outcome: &Outcome, reason| outcome.dropped.iter().filter(|(_, r)| *r == reason).count();
        reasons.retain(|reason| count(running, *reason) != count(new, *reason));
        if (keys.is_empty() && reasons.is_empty()) || !self.has_room() {
            return;
        }
        let (packet, interface) = packet();
        let (running, new) = words(running, new);
        self.candidates.push(Candidate {
            keys,
            reasons,
            example: Example { packet, interface, running, new },
        });
    }

    /// Counts packets; those that only one of the two has sent now.
    fn unmatched(&mut self, running: &Outcome, new: &Outcome) -> Vec<Key> {
        let mut more = HashMap::<Key, i64>::new();
        for (sent, sign) in
            running.sent.iter().map(|sent| (sent, 1)).chain(new.sent.iter().map(|sent| (sent, -1)))
        {
            let key = (self.port(&sent.port), hash(&sent.bytes));
            let counts = &mut self.ports[key.0].1.sent;
            *(if sign > 0 { &mut counts.running } else { &mut counts.new }) += 1;
            *more.entry(key).or_default() += sign;
        }
        more.retain(|_, balance| *balance != 0);
        for (&key, &balance) in &more {
            self.settle(key, balance);
        }
        let mut keys: Vec<Key> = more.into_keys().collect();
        keys.sort_unstable();
        keys
    }

    /// Adds to how much more often the running configuration has sent a packet.
    fn settle(&mut self, key: Key, balance: i64) {
        if self.pending.len() >= PENDING_MAX && !self.pending.contains_key(&key) {
            return alone(&mut self.ports[key.0].1, balance);
        }
        let pending = self.pending.entry(key).or_default();
        *pending += balance;
        if *pending == 0 {
            self.pending.remove(&key);
        }
    }

    /// Whether there is room for another candidate; those whose packets both have sent by now make room.
    fn has_room(&mut self) -> bool {
        if self.candidates.len() >= CANDIDATES_MAX && !self.is_full {
            let mut candidates = std::mem::take(&mut self.candidates);
            candidates.retain(|candidate| self.is_different(candidate));
            self.is_full = candidates.len() > CANDIDATES_MAX / 2;
            self.candidates = candidates;
        }
        self.candidates.len() < CANDIDATES_MAX
    }

    /// Whether what a candidate is about is different as it stands.
    fn is_different(&self, candidate: &Candidate) -> bool {
        let differs = |reason| self.drops.get(reason).is_some_and(|both| both.running != both.new);
        candidate.keys.iter().any(|key| self.pending.contains_key(key))
            || candidate.reasons.iter().any(|reason| differs(*reason))
    }

    fn port(&mut self, name: &str) -> usize {
        self.ports.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            self.ports.push((name.to_owned(), Traffic::default()));
            self.ports.len() - 1
        })
    }

    /// What differs after all.
    pub(super) fn end(mut self) -> Compared {
        for ((port, _), balance) in &self.pending {
            alone(&mut self.ports[*port].1, *balance);
        }
        let different = self.candidates.iter().filter(|candidate| self.is_different(candidate));
        Compared {
            examples: different.take(EXAMPLES).map(|candidate| candidate.example.clone()).collect(),
            drops: self.drops.iter().map(|(reason, both)| ((*reason).to_owned(), *both)).collect(),
            interfaces: self.ports.into_iter().collect(),
        }
    }
}

fn alone(traffic: &mut Traffic, balance: i64) {
    match balance {
        1.. => traffic.alone.running += balance.unsigned_abs(),
        _ => traffic.alone.new += balance.unsigned_abs(),
    }
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    comparable(bytes).hash(&mut hasher);
    hasher.finish()
}

/// A packet without its identification (RFC 791): a router chooses that of a packet that it makes, and goes on from one to the next. A
/// checksum that is right stays right, and one that is wrong stays as it is.
fn comparable(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let at = match network(&bytes) {
        Some((ether_type::IPV4, at)) => at,
        _ if bytes.first().is_some_and(|first| first >> 4 == 4) => 0,
        _ => return bytes,
    };
    let rest = &mut bytes[at..];
    if ipv4::check(rest, true).is_ok()
        && let Ok(mut header) = ipv4::Header::new_checked_mut(rest)
    {
        header.set_id(0);
        header.fill_checksum();
    }
    bytes
}

/// What became of a packet in both, in words.
fn words(running: &Outcome, new: &Outcome) -> (String, String) {
    let other = match (&running.sent[..], &new.sent[..]) {
        ([a], [b]) if a.port == b.port && a.bytes != b.bytes => {
            let same = a.bytes.iter().zip(&b.bytes).take_while(|(a, b)| a == b).count();
            let hex = |sent: &Sent| {
                let some = sent.bytes.iter().skip(same).take(6).map(|byte| format!("{byte:02x}"));
                format!(" ({} bytes; from byte {same} on {})", sent.bytes.len(), some.collect::<String>())
            };
            (hex(a), hex(b))
        }
        _ => Default::default(),
    };
    (said(running) + &other.0, said(new) + &other.1)
}

fn said(outcome: &Outcome) -> String {
    let mut parts: Vec<String> = Vec::new();
    for sent in &outcome.sent {
        let part = format!("sent by {}", sent.port);
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    for (element, reason) in &outcome.dropped {
        let part = format!("dropped by '{element}': {reason}");
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    if parts.is_empty() { "not sent".to_owned() } else { parts.join(", ") }
}

#[cfg(test)]
#[path = "comparison_tests.rs"]
mod tests;
