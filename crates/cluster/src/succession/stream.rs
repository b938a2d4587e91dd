//! What a node tells its successor, in order and without gaps: each part is sent again until it was received.

use super::message::{Body, Part};
use crate::NodeId;
use std::collections::VecDeque;

/// Parts that were not received yet, at most.
pub(super) const WINDOW: usize = 256;
/// How long a part may take to be received before all that are not are sent again.
const PATIENCE_NS: u64 = 30_000_000;

/// The stream to a successor.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) to: NodeId,
    /// The receiver's life when it began.
    pub(super) life: u64,
    pub(super) number: u64,
    /// The number of the first part in the queue.
    first: u64,
    parts: VecDeque<Part>,
    /// How many of those were sent.
    sent: usize,
    moved_ns: u64,
    /// The number of the last hand-over, and that of the part behind everything.
    hand_over: Option<u64>,
    whole: Option<u64>,
}

impl Stream {
    pub(super) fn new(to: NodeId, life: u64, number: u64, now_ns: u64) -> Stream {
        Stream {
            to,
            life,
            number,
            first: 0,
            parts: VecDeque::new(),
            sent: 0,
            moved_ns: now_ns,
            hand_over: None,
            whole: None,
        }
    }

    /// How many parts may be added.
    pub(super) fn room(&self) -> usize {
        WINDOW.saturating_sub(self.parts.len())
    }

    pub(super) fn add(&mut self, part: Part) {
        let number = self.first + self.parts.len() as u64;
        match part {
            Part::HandOver(_) => self.hand_over = Some(number),
            Part::Whole => self.whole = Some(number),
            _ => {}
        }
        self.parts.push_back(part);
    }

    /// Whether the receiver has said that it has the beginning.
    pub(super) fn has_begun(&self) -> bool {
        self.first > 0
    }

    /// Whether the receiver has had everything once, whatever has changed since.
    pub(super) fn is_whole(&self) -> bool {
        self.whole.is_some_and(|number| number < self.first)
    }

    /// Whether a hand-over was received, if that was added last.
    pub(super) fn is_handed_over(&self) -> bool {
        self.hand_over.is_some_and(|number| number < self.first)
    }

    /// What is to be sent now, `most` parts of it: what was not sent yet, or what was not received in time.
    pub(super) fn due(&mut self, now_ns: u64, most: usize) -> Vec<Body> {
        if self.sent > 0 && now_ns.saturating_sub(self.moved_ns) > PATIENCE_NS {
            (self.sent, self.moved_ns) = (0, now_ns);
        }
        if self.sent == 0 {
            self.moved_ns = now_ns;
        }
        let body = |(at, part): (usize, &Part)| Body::Streamed {
            stream: self.number,
            number: self.first + at as u64,
            part: part.clone(),
        };
        let due: Vec<_> = self.parts.iter().enumerate().skip(self.sent).take(most).map(body).collect();
        self.sent += due.len();
        due
    }

    /// All before a number were received.
    pub(super) fn received(&mut self, number: u64, next: u64, now_ns: u64) {
        let Some(count) = next.checked_sub(self.first).filter(|_| number == self.number) else { return };
        let count = count.min(self.sent as u64);
        if count > 0 {
            self.parts.drain(..count as usize);
            self.first += count;
            self.sent -= count as usize;
            self.moved_ns = now_ns;
        }
    }
}
