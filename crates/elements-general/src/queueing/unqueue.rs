//! Pulls packets and pushes them on.
//!
//! ```click
//! Unqueue([BURST, KEYWORDS])
//! ```
//!
//! Pulls packets as fast as it can, up to BURST each time it is scheduled, and pushes them out. It sleeps while there are
//! none.
//!
//! Ports: 1 input, 1 output. Processing: pull to push. Workers: replicated; starts on worker 0.
//!
//! # Arguments
//! - `BURST` (integer, default 1): packets per scheduling; negative means as many as there are.
//! - `ACTIVE` (boolean, default true): whether to pull packets.
//! - `SIGNAL` (boolean): FastClick's; accepted.
//! - `LIMIT` (integer, default -1): packets to pull in all; negative means no limit.
//!
//! # Handlers
//! - `count` (read): packets so far.
//! - `active`, `burst`, `limit` (read, write): the arguments.
//! - `reset`, `reset_counts` (write, button): set the count to zero.
//!
//! # Example
//! ```click
//! InfiniteSource -> Queue -> Unqueue(8) -> Discard
//! ```
//!
//! # See also
//! Queue, RatedSource

use packet::{BATCH_MAX, Batch, Packet};
use router::{Activity, Class, Config, ConfigError, Cx, Element, Flags, Handlers, Merge, Pull, metric};

/// The class.
pub(crate) const CLASS: Class = Class::new("Unqueue", create)
    .processing("l/h")
    .activity(Activity::Always)
    .doc(router::manual!("unqueue.rs"));

/// What a negative burst means.
const ANY_BURST: i32 = i32::MAX;

struct Unqueue {
    burst: i32,
    active: bool,
    limit: i64,
    count: u64,
    /// Packets that this scheduling may still pull, those asked for included.
    left: usize,
    /// Packets asked for.
    asked: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = Unqueue { burst: 1, active: true, limit: -1, count: 0, left: 0, asked: 0 };
    let mut signal = true;
    config
        .args()
        .positional("BURST", &mut e.burst)
        .keyword("ACTIVE", &mut e.active)
        .keyword("LIMIT", &mut e.limit)
        .keyword("SIGNAL", &mut signal)
        .finish()?;
    match e.burst {
        0 => config.warn("BURST size 0, no packets will be pulled"),
        ..0 => e.burst = ANY_BURST,
        _ => {}
    }
    Ok(Box::new(e))
}

impl Unqueue {
    /// Packets that the limit still allows.
    fn allowed(&self) -> usize {
        u64::try_from(self.limit).map_or(usize::MAX, |limit| limit.saturating_sub(self.count) as usize)
    }

    /// The size of the next request. In steps of a vector, so that packets go on before the next are pulled.
    fn step(&mut self, cx: &Cx<'_>) -> usize {
        self.asked = self.left.min(cx.vector()).min(BATCH_MAX);
        self.asked
    }

    /// Goes on, after so many packets came: asks for more, or has the task run again.
    #[inline]
    fn go_on(&mut self, cx: &mut Cx<'_>, got: usize) -> Pull {
        self.count += got as u64;
        self.left = self.left.saturating_sub(got);
        if got < self.asked {
            if cx.signals().may_have(0) {
                cx.tasks().schedule();
            }
            return Pull::Nothing;
        }
        if self.left > 0 && self.active {
            return Pull::Ask { input: 0, want: self.step(cx) };
        }
        cx.tasks().schedule();
        Pull::Nothing
    }

    fn wake(&mut self, cx: &mut Cx<'_>) {
        if self.active && self.allowed() > 0 {
            cx.tasks().schedule();
        }
    }
}

impl Element for Unqueue {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.signals().listen(0);
        cx.signals().watch_room(0);
        if self.active {
            cx.tasks().schedule();
        }
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        if !self.active || self.allowed() == 0 {
            return;
        }
        let burst = usize::try_from(self.burst).unwrap_or(0);
        self.left = self.allowed().min(burst.saturating_mul(cx.tasks().runs_at_once(burst)));
        if self.left == 0 {
            return; // a burst of none; writing another one wakes the task
        }
        let want = self.step(cx);
        cx.ask(0, want);
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        let got = batch.len();
        cx.tasks().count_runs(got.div_ceil(self.burst.max(1) as usize));
        cx.emit(0, batch);
        self.go_on(cx, got)
    }

    fn pulled_packet(&mut self, cx: &mut Cx<'_>, _port: usize, packet: Packet) -> Pull {
        cx.emit_packet(0, packet);
        self.go_on(cx, 1)
    }

    fn handlers(&self, h: &mut Handlers) {
        type U = Unqueue;
        h.read("count", |e: &mut U, _| e.count).merged(Merge::Sum).measures(&metric::PACKETS);
        h.read("active", |e: &mut U, _| e.active).flagged(Flags::CHECKBOX);
        h.read("burst", |e: &mut U, _| e.burst);
        h.read("limit", |e: &mut U, _| e.limit);
        h.write("active", |e: &mut U, cx, text| {
            e.active = router::value(cx, text).map_err(|_| "syntax error".to_owned())?;
            e.wake(cx);
            Ok(())
        });
        h.write("burst", |e: &mut U, cx, text| {
            e.burst = router::value(cx, text).map_err(|_| "syntax error".to_owned())?;
            if e.burst < 0 {
                e.burst = ANY_BURST;
            }
            e.wake(cx);
            Ok(())
        });
        h.write("limit", |e: &mut U, cx, text| {
            e.limit = router::value(cx, text).map_err(|_| "syntax error".to_owned())?;
            e.wake(cx);
            Ok(())
        });
        for name in ["reset", "reset_counts"] {
            h.write(name, |e: &mut U, cx, _| {
                e.count = 0;
                e.wake(cx);
                Ok(())
            })
            .as_button();
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    /// What is left stays in the queue.
    #[test]
    fn the_limit_holds_within_a_burst() {
        let config =
            "InfiniteSource(LIMIT 100, BURST 100) -> q :: Queue -> u :: Unqueue(7, LIMIT 40) -> d :: Discard;
                      RatedSource(LIMIT 4, STOP true) -> Discard;";
        assert_eq!(run_and_read(config, &["u.count", "d.count", "q.length"]), ["40", "40", "60"]);
    }

    /// A negative burst takes all that is there; packets still come one after the other.
    #[test]
    fn any_burst() {
        let config = "InfiniteSource(LIMIT 300, BURST 300) -> q :: Queue -> u :: Unqueue(-1)
                      -> Counter(COUNT_CALL 250 u.active false) -> d :: Discard;
                      RatedSource(LIMIT 4, STOP true) -> Discard;";
        let values = run_and_read(config, &["u.burst", "u.active"]);
        assert_eq!(values, ["2147483647", "false"]);
    }
}
