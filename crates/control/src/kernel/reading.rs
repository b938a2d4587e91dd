//! The state of a reading: all lists of a table, asked for one after the other.
//!
//! The kernel has one list at a time for a socket, and refuses another (`EBUSY`) until it has sent the end of the first. While it lists, it goes on to
//! tell of changes, and may lose some. What was not listed is gone for sure only if nothing was lost; otherwise everything is read once more.
//!
//! When messages are lost, the kernel says so once, and then drops all changes until everything that waits has been heard. A list always has a
//! part that waits, so none is asked for before that.

use rustix::io::Errno;
use std::time::{Duration, Instant};

/// How long the kernel may be silent while it lists before everything is asked for again.
const PATIENCE: Duration = Duration::from_secs(10);
/// From a reading that failed, or was interrupted, to the next.
const AGAIN: Duration = Duration::from_secs(1);

const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
/// `NLM_F_MULTI`: a part of a list.
const PART: u16 = 2;
/// `NLM_F_DUMP_INTR`: the table has changed in a way that the list may lack entries.
const INTERRUPTED: u16 = 0x10;

/// A list that belongs to a reading.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    /// The request, as `RTM_GETROUTE` and its like name it.
    pub(crate) what: u16,
    /// Whether kernels may not know it. They refuse then, as if the list was empty.
    pub(crate) is_optional: bool,
}

impl List {
    /// A list that every kernel has.
    pub(crate) const fn of(what: u16) -> List {
        List { what, is_optional: false }
    }
}

/// The kernel is to be asked for a list; answers have the same sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ask {
    pub(crate) what: u16,
    pub(crate) sequence: u32,
}

/// What a reading was worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// What was not listed is gone.
    Whole,
    /// Everything was listed, but some of it may have been lost. Another reading follows.
    Doubtful,
    /// Not everything was listed, because of this error, which is left out if it was that of the last time, too. Another reading follows.
    Failed(Option<Errno>),
}

/// What follows from a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Nothing,
    Ask(Ask),
    End(End),
}

/// What the head of a message says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) kind: u16,
    pub(super) flags: u16,
    pub(super) sequence: u32,
    /// The number behind it, which is an error if the message is one, or the end of a list.
    pub(super) code: i32,
}

/// A list that is asked for.
#[derive(Debug)]
struct UnderWay {
    /// Its place among the lists.
    place: usize,
    sequence: u32,
    /// When the kernel has been silent for too long.
    deadline: Instant,
    /// Whether something was lost since the reading began.
    in_doubt: bool,
}

/// Whether and how far a table is read, and when it is read again.
#[derive(Debug)]
pub(super) struct Reading {
    lists: &'static [List],
    sequence: u32,
    under_way: Option<UnderWay>,
    again_at: Option<Instant>,
    /// Whether the kernel drops changes, until all that waits has been heard.
    is_congested: bool,
    /// Why the last reading failed.
    failed: Option<Errno>,
}

impl Reading {
    pub(super) fn new(lists: &'static [List]) -> Reading {
        Reading { lists, sequence: 0, under_way: None, again_at: None, is_congested: false, failed: None }
    }

    /// Everything is to be read at this time, or before. If it is being read already: once more.
    pub(super) fn want(&mut self, at: Instant) {
        self.again_at = Some(self.again_at.map_or(at, |planned| planned.min(at)));
    }

    /// A reading that is under way is worth nothing: everything is read once more behind it.
    pub(super) fn spoil(&mut self, now: Instant) {
        self.under_way.iter_mut().for_each(|list| list.in_doubt = true);
        self.want(now);
    }

    /// Messages were lost.
    pub(super) fn overrun(&mut self, now: Instant) {
        self.is_congested = true;
        self.spoil(now);
    }

    /// All that waited has been heard.
    pub(super) fn dry(&mut self) {
        self.is_congested = false;
    }

    pub(super) fn is_under_way(&self) -> bool {
        self.under_way.is_some()
    }

    /// Whether there is a time at which everything is read again.
    pub(super) fn is_planned(&self) -> bool {
        self.again_at.is_some()
    }

    /// When to look whether a reading begins.
    pub(super) fn next(&self) -> Option<Instant> {
        self.under_way.as_ref().map(|list| list.deadline).or(self.again_at)
    }

    /// Begins a reading if its time has come. One that the kernel has forgotten is given up.
    pub(super) fn begin(&mut self, now: Instant) -> Option<Ask> {
        if self.is_congested || self.next().is_none_or(|at| now < at) {
            return None;
        }
        self.again_at = None;
        Some(self.ask(0, false, now))
    }

    fn ask(&mut self, place: usize, in_doubt: bool, now: Instant) -> Ask {
        // Messages that answer nobody have the number 0.
        self.sequence = self.sequence.wrapping_add(1).max(1);
        let sequence = self.sequence;
        self.under_way = Some(UnderWay { place, sequence, deadline: now + PATIENCE, in_doubt });
        Ask { what: self.lists[place].what, sequence }
    }

    /// Takes in a message's head. What it tells beside that has been taken in already.
    pub(super) fn hear(&mut self, head: Head, now: Instant) -> Step {
        let Some(list) = self.under_way.as_mut().filter(|list| list.sequence == head.sequence) else {
            return Step::Nothing;
        };
        let is_optional = self.lists[list.place].is_optional;
        let lacks = is_optional && head.code == -Errno::OPNOTSUPP.raw_os_error();
        list.in_doubt |= head.flags & INTERRUPTED != 0;
        match head.kind {
            NLMSG_DONE | NLMSG_ERROR if head.code < 0 && !lacks => {
                Step::End(self.fail(Errno::from_raw_os_error(-head.code), now))
            }
            NLMSG_ERROR if !lacks => Step::Nothing, // an acknowledgement
            NLMSG_DONE | NLMSG_ERROR => self.listed(now),
            _ => {
                if let Some(list) = self.under_way.as_mut().filter(|_| head.flags & PART != 0) {
                    list.deadline = now + PATIENCE;
                }
                Step::Nothing
            }
        }
    }

    /// The end of a list.
    fn listed(&mut self, now: Instant) -> Step {
        let Some(list) = self.under_way.take() else { return Step::Nothing };
        if list.place + 1 < self.lists.len() {
            return Step::Ask(self.ask(list.place + 1, list.in_doubt, now));
        }
        self.failed = None;
        if !list.in_doubt {
            return Step::End(End::Whole);
        }
        self.want(now + AGAIN);
        Step::End(End::Doubtful)
    }

    /// The kernel cannot be asked, or refuses.
    pub(super) fn fail(&mut self, error: Errno, now: Instant) -> End {
        self.under_way = None;
        self.want(now + AGAIN);
        let is_new = self.failed.replace(error) != Some(error);
        End::Failed(is_new.then_some(error))
    }
}

#[cfg(test)]
mod tests;
