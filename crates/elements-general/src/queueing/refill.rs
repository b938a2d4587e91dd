//! Pulling as many packets as were asked for although some of those that come are dropped.

use packet::Batch;
use router::{Cx, Pull};

/// A request that is being met.
#[derive(Default)]
pub(super) struct Refill {
    /// Packets that are still wanted.
    missing: usize,
    kept: Batch,
}

impl Refill {
    /// Begins to meet a request.
    pub(super) fn start(&mut self, want: usize) -> Pull {
        self.missing = want;
        Pull::Ask { input: 0, want }
    }

    /// Packets that were asked for last.
    pub(super) fn asked(&self) -> usize {
        self.missing
    }

    /// Goes on after `got` packets came of which these are left.
    pub(super) fn take(&mut self, cx: &mut Cx<'_>, got: usize, mut left: Batch) -> Pull {
        let short = got < self.missing;
        self.missing -= left.len().min(self.missing);
        if self.kept.is_empty() {
            std::mem::swap(&mut self.kept, &mut left);
        }
        left.drain(|packet| self.kept.push(packet));
        cx.consume(left);
        if short || self.missing == 0 {
            return Pull::Give(std::mem::take(&mut self.kept));
        }
        Pull::Ask { input: 0, want: self.missing }
    }
}
