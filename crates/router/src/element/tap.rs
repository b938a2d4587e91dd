//! What a capture puts into an edge.

use crate::context::cx::Cx;
use crate::context::verdict::Verdict;
use crate::element::behaviour::{Element, Pull};
use crate::shared::observing::Capture;
use packet::{Batch, Packet};
use std::sync::Arc;

/// Shows all packets to captures and hands them on: one instance for an edge. It belongs to no configuration.
pub(crate) struct Tap {
    pub(crate) captures: Vec<Arc<Capture>>,
}

impl Tap {
    fn see<'p>(&self, cx: &Cx<'_>, packets: impl Iterator<Item = &'p Packet>) {
        let now_ns = cx.core.clock.now_ns();
        packets.for_each(|packet| self.captures.iter().for_each(|capture| capture.see(packet, now_ns)));
    }
}

impl Element for Tap {
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        self.see(cx, batch.iter());
        cx.emit(0, batch);
    }

    fn push_one(&mut self, cx: &mut Cx<'_>, _port: usize, packet: &mut Packet) -> Option<Verdict> {
        self.see(cx, std::iter::once(&*packet));
        Some(Verdict::Pass)
    }

    fn pull(&mut self, _cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        Pull::Ask { input: 0, want }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        self.see(cx, batch.iter());
        Pull::Give(batch)
    }
}
