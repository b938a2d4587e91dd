//! Packets that a worker looks at: examples of drops, steps of traces.

use crate::context::core::Core;
use crate::shared::observing::{Step, Trace, View, What};
use packet::Packet;

impl Core {
    /// Looks at a packet that the running element drops: an example of the reason, or the end of a traced packet.
    #[cold]
    #[inline(never)]
    pub(crate) fn look_at_drop(&mut self, packet: &Packet, reason: &'static str) {
        let (here, now_ns) = (self.here as usize, self.clock.now_ns());
        let watch = &mut self.watch;
        if watch.wanted.left > 0 {
            watch.wanted.left -= 1;
            watch.wanted.seen.push((reason, View::of(packet, now_ns)));
        }
        if watch.drops && watch.trace.is_none() && watch.wanted.left == 0 && now_ns >= watch.drops_until_ns {
            watch.drops = false;
        }
        watch.keep_sample(here, reason, View::of(packet, now_ns));
        if let Some(trace) = self.watch.trace.clone()
            && let Some(number) = trace.known(packet.trace())
        {
            self.watch.dropped = Some(number);
            self.note_step(&trace, number, What::Dropped(reason), packet);
        }
    }

    /// Notes a step of a traced packet at the running element.
    pub(crate) fn note_step(&self, trace: &Trace, packet: u32, what: What, now: &Packet) {
        let view = View::of(now, self.clock.now_ns());
        trace.note(Step { packet, element: self.here as usize, worker: self.worker, what, view });
    }
}
