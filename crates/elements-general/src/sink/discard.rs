//! Drops all packets.
//!
//! ```click
//! Discard([KEYWORDS])
//! ```
//!
//! Takes packets at its input, push or pull, and frees their buffers. On a pull input it pulls packets as fast as it
//! can, up to BURST at a time, and sleeps while there are none. Packets that end here count as delivered, not as
//! dropped.
//!
//! DiscardNoFree, and FastClick's DiscardNoFreeBuffer, are other names for it.
//!
//! Ports: 1 input, no outputs. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `ACTIVE` (boolean, default true): on a pull input, whether to pull packets.
//! - `BURST` (integer, default 1): packets pulled at a time; 0 means as many as there are.
//!
//! # Handlers
//! - `count` (read): packets discarded.
//! - `byte_count` (read): their bytes.
//! - `reset_counts` (write, button): sets both to zero.
//! - `active` (read, write): the argument; on a pull input only.
//!
//! # Example
//! ```click
//! InfiniteSource -> Discard
//! ```
//!
//! # See also
//! Idle, Queue

use elements_shared::pulling;
use packet::{BATCH_MAX, Batch, Packet};
use router::{Activity, Class, Config, ConfigError, Cx, Element, Flags, Handlers, Merge, Pull, metric};

/// The class.
pub(crate) const CLASS: Class = Class::new("Discard", create)
    .ports("1/0")
    .activity(Activity::IfPullInput)
    .absorbs("all packets")
    .doc(router::manual!("discard.rs"));

struct Discard {
    pull: bool,
    active: bool,
    burst: u32,
    /// Packets that this run may ask for in all.
    wanted: usize,
    /// Packets that this run may still ask for, those asked for included.
    left: usize,
    /// Packets asked for.
    asked: usize,
    packets: u64,
    bytes: u64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let pull = pulling::pulls(config);
    let mut e = Discard { pull, active: true, burst: 1, wanted: 0, left: 0, asked: 0, packets: 0, bytes: 0 };
    config.args().keyword("ACTIVE", &mut e.active).keyword("BURST", &mut e.burst).finish()?;
    if !e.active && !pull {
        return Err("ACTIVE is meaningless in push context".into());
    }
    if e.burst == 0 {
        e.burst = u32::MAX;
    }
    Ok(Box::new(e))
}

impl Discard {
    fn take(&mut self, cx: &mut Cx<'_>, batch: Batch) {
        self.packets += batch.len() as u64;
        self.bytes += batch.iter().map(|packet| packet.len() as u64).sum::<u64>();
        cx.consume(batch);
    }

    #[inline(always)] // there are two ways to it
    fn take_one(&mut self, cx: &mut Cx<'_>, packet: Packet) {
        self.packets += 1;
        self.bytes += packet.len() as u64;
        cx.pool().free(packet);
    }

    /// Goes on, after so many packets came: asks for more, or has the task run again.
    #[inline]
    fn go_on(&mut self, cx: &mut Cx<'_>, got: usize) -> Pull {
        self.left -= got;
        if got == self.asked && self.left > 0 {
            self.asked = self.left.min(BATCH_MAX);
            return Pull::Ask { input: 0, want: self.asked };
        }
        let some = got > 0 || self.left < self.wanted;
        if self.active && (some || cx.signals().may_have(0)) {
            cx.tasks().schedule();
        }
        Pull::Nothing
    }
}

impl Element for Discard {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if self.pull {
            cx.signals().listen(0);
            if self.active {
                cx.tasks().schedule();
            }
        }
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        self.take(cx, batch);
    }

    fn push_packet(&mut self, cx: &mut Cx<'_>, _port: usize, packet: Packet) {
        self.take_one(cx, packet);
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        let burst = self.burst as usize;
        self.left = burst.saturating_mul(cx.tasks().runs_at_once(burst));
        self.wanted = self.left;
        self.asked = self.left.min(BATCH_MAX);
        cx.ask(0, self.asked);
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        let got = batch.len();
        self.take(cx, batch);
        // Mostly one run had them all, which a comparison tells.
        if got > self.burst as usize {
            cx.tasks().count_runs(got.div_ceil(self.burst as usize));
        }
        self.go_on(cx, got)
    }

    fn pulled_packet(&mut self, cx: &mut Cx<'_>, _port: usize, packet: Packet) -> Pull {
        self.take_one(cx, packet);
        self.go_on(cx, 1)
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("count", |e: &mut Discard, _| e.packets).merged(Merge::Sum).measures(&metric::PACKETS);
        h.read("byte_count", |e: &mut Discard, _| e.bytes).merged(Merge::Sum);
        h.write("reset_counts", |e: &mut Discard, _, _| {
            (e.packets, e.bytes) = (0, 0);
            Ok(())
        })
        .as_button();
        if !self.pull {
            return;
        }
        h.read("active", |e: &mut Discard, _| e.active).flagged(Flags::CHECKBOX);
        h.write("active", |e: &mut Discard, cx, text| {
            e.active = router::value(cx, text).map_err(|_| "syntax error".to_owned())?;
            if e.active {
                cx.tasks().schedule()
            } else {
                cx.tasks().unschedule()
            }
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run_and_read};

    #[test]
    fn counts_what_is_pushed() {
        let config = "InfiniteSource(LIMIT 7, LENGTH 60, STOP true) -> d :: Discard;";
        assert_eq!(run_and_read(config, &["d.count", "d.byte_count"]), ["7", "420"]);
    }
    /// A burst may be larger than a batch; inactive, it leaves everything where it is.
    #[test]
    fn pulls_bursts_larger_than_a_batch() {
        let config = "InfiniteSource(LIMIT 200, BURST 200) -> Queue -> d :: Discard(BURST 0);
                      InfiniteSource(LIMIT 200, BURST 200) -> q :: Queue -> e :: Discard(ACTIVE false);
                      InfiniteSource(LIMIT 200, BURST 200) -> Queue -> f :: Discard(BURST 70);
                      RatedSource(LIMIT 4, STOP true) -> Discard";
        let handlers = ["d.count", "q.length", "e.active", "f.count"];
        assert_eq!(run_and_read(config, &handlers), ["200", "200", "false", "200"]);
    }

    #[test]
    fn active_is_for_pulling() {
        assert!(
            errors("InfiniteSource -> Discard(ACTIVE false)")
                .contains("ACTIVE is meaningless in push context")
        );
    }
}
