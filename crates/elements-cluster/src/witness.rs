//! What a node can say afterwards of what went wrong: when it did not run, and whom it gave up.
//!
//! A node that does not run is dead to the others, and who gives it up then is right. So that an alarm can be judged, each is noted with
//! the number of the last hello that was heard of the node that was given up, and each pause with the number of the last hello before it.
//! Times are those of CLOCK_MONOTONIC, which all processes of a machine share. A pause tells, too, how much processor time the node
//! had in it: one in which it had plenty is no pause of the node but a loop that was busy with something else.

use cluster::NodeId;
use rustix::time::{ClockId, clock_gettime};
use std::collections::VecDeque;
use std::fmt::{Display, Formatter, Result};

/// Entries of each kind that are kept.
const KEPT: usize = 256;

/// The latest of many entries. They are numbered from 1, so that a reader sees which have been forgotten.
struct Latest<T> {
    total: u64,
    kept: VecDeque<T>,
}

impl<T> Latest<T> {
    fn new() -> Latest<T> {
        Latest { total: 0, kept: VecDeque::new() }
    }

    fn add(&mut self, entry: T) {
        self.total += 1;
        if self.kept.len() == KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back(entry);
    }
}

impl<T: Display> Display for Latest<T> {
    /// A line for each entry, its number first.
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let first = self.total - self.kept.len() as u64 + 1;
        (first..).zip(&self.kept).try_for_each(|(number, entry)| writeln!(f, "{number} {entry}"))
    }
}

/// A time in which the node did not run, or was busy with something else.
struct Pause {
    from_ns: u64,
    until_ns: u64,
    /// Processor time that it had all the same.
    ran_ns: u64,
    /// The number of the hello before.
    hello: u64,
}

impl Display for Pause {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let us = [self.from_ns, self.until_ns, self.ran_ns].map(|ns| ns / 1_000);
        write!(f, "{} {} {} {}", us[0], us[1], us[2], self.hello)
    }
}

/// A node was given up.
struct Alarm {
    at_ns: u64,
    node: NodeId,
    /// The number of the last hello of it.
    hello: u64,
}

impl Display for Alarm {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} {} {}", self.at_ns / 1_000, self.node, self.hello)
    }
}

/// When a node was seen to run.
#[derive(Clone, Copy)]
pub(super) struct Sign {
    at_ns: u64,
    ran_ns: u64,
}

impl Sign {
    /// Now, on this thread.
    pub(super) fn now() -> Sign {
        let ns = |clock| {
            let time = clock_gettime(clock);
            time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
        };
        Sign { at_ns: ns(ClockId::Monotonic), ran_ns: ns(ClockId::ThreadCPUTime) }
    }
}

/// The notes of a node.
pub(super) struct Witness {
    last: Option<Sign>,
    pauses: Latest<Pause>,
    alarms: Latest<Alarm>,
}

impl Witness {
    pub(super) fn new() -> Witness {
        Witness { last: None, pauses: Latest::new(), alarms: Latest::new() }
    }

    /// The node is about to send a hello. If the one before, number `hello`, was long ago, that is noted.
    pub(super) fn runs(&mut self, now: Sign, hello: u64, long_ns: u64) {
        let Some(last) = self.last.replace(now) else { return };
        if now.at_ns.saturating_sub(last.at_ns) >= long_ns {
            let ran_ns = now.ran_ns.saturating_sub(last.ran_ns);
            self.pauses.add(Pause { from_ns: last.at_ns, until_ns: now.at_ns, ran_ns, hello });
        }
    }

    /// A node was given up of which hello number `hello` was heard last.
    pub(super) fn gave_up(&mut self, node: NodeId, hello: u64) {
        let at_ns = self.last.map_or(0, |last| last.at_ns);
        self.alarms.add(Alarm { at_ns, node, hello });
    }

    /// A line for each pause: its number, from when until when, processor time in it, all in microseconds, the hello before.
    pub(super) fn pauses(&self) -> String {
        self.pauses.to_string()
    }

    /// A line for each alarm: its number, when, in microseconds, the node, the last hello of it.
    pub(super) fn alarms(&self) -> String {
        self.alarms.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sign(ms: u64, ran_ms: u64) -> Sign {
        Sign { at_ns: ms * 1_000_000, ran_ns: ran_ms * 1_000_000 }
    }

    /// A time without hellos is noted if it was long, with what the node had of it; so is who was given up then.
    #[test]
    fn pauses_and_alarms() {
        let mut witness = Witness::new();
        for (hello, (at, ran)) in [(5, 1), (14, 9), (39, 11), (63, 12)].into_iter().enumerate() {
            witness.runs(sign(at, ran), hello as u64, 25_000_000);
        }
        witness.gave_up(7, 99);
        assert_eq!(
            (witness.pauses(), witness.alarms()),
            ("1 14000 39000 2000 2\n".into(), "1 63000 7 99\n".into())
        );
    }

    /// Only the latest are kept; their numbers tell that there were others.
    #[test]
    fn memory_is_bounded() {
        let mut witness = Witness::new();
        (0..1_000).for_each(|at| witness.runs(sign(at, 0), at, 1));
        let text = witness.pauses();
        assert_eq!(text.lines().count(), KEPT);
        assert!(text.ends_with("999 998000 999000 0 999\n"), "{text}");
    }
}
