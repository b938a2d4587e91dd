//! Pulls packets at regular intervals and pushes them on.
//!
//! ```click
//! TimedUnqueue(INTERVAL [, BURST])
//! ```
//!
//! Every INTERVAL, pulls up to BURST packets and pushes them out. While there are no packets it sleeps; the next one
//! to arrive is then pushed immediately.
//!
//! Ports: 1 input, 1 output. Processing: pull to push. Workers: exclusive.
//!
//! # Arguments
//! - `INTERVAL` (time): time between bursts.
//! - `BURST` (integer, default 1): the maximum number of packets per burst.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource -> Queue -> TimedUnqueue(100ms, 5) -> Discard
//! ```
//!
//! # See also
//! RatedUnqueue, Unqueue

use packet::{BATCH_MAX, Batch};
use router::{Activity, Class, Config, ConfigError, Cx, Element, Pull, Residency};
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("TimedUnqueue", create)
    .processing("l/h")
    .residency(Residency::Exclusive)
    .activity(Activity::Always)
    .doc(router::manual!("timed_unqueue.rs"));

struct TimedUnqueue {
    interval_ns: i64,
    burst: usize,
    /// Packets that this burst may still have, those asked for included.
    left: usize,
    asked: usize,
    /// The interval is not over.
    waiting: bool,
    /// When the last interval that was followed by a burst ended.
    last_ns: Option<i64>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    create_with(config, 1)
}

/// One with bursts of so many packets unless it is told otherwise.
pub(super) fn create_with(config: &mut Config<'_>, mut burst: i32) -> Result<Box<dyn Element>, ConfigError> {
    let mut interval = Duration::ZERO;
    config.args().required("INTERVAL", &mut interval).positional("BURST", &mut burst).finish()?;
    let burst = usize::try_from(burst).ok().filter(|&burst| burst > 0).ok_or("bad BURST")?;
    let interval_ns = i64::try_from(interval.as_millis()).unwrap_or(i64::MAX).saturating_mul(1_000_000);
    Ok(Box::new(TimedUnqueue { interval_ns, burst, left: 0, asked: 0, waiting: false, last_ns: None }))
}

impl TimedUnqueue {
    fn step(&mut self, cx: &Cx<'_>) -> usize {
        self.asked = self.left.min(cx.vector()).min(BATCH_MAX);
        self.asked
    }

    /// The burst is over: the next one comes an interval after this one was due.
    fn wait(&mut self, cx: &mut Cx<'_>) {
        let at = self.last_ns.unwrap_or_else(|| cx.now_ns()).saturating_add(self.interval_ns);
        self.last_ns = Some(at.max(cx.now_ns()));
        self.waiting = true;
        let at = at.max(cx.now_ns() + 1);
        cx.timers().at(0, at);
    }
}

impl Element for TimedUnqueue {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.signals().listen(0);
        cx.tasks().schedule();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        if self.waiting {
            return; // packets have come, but not yet the time
        }
        self.left = self.burst;
        let want = self.step(cx);
        cx.ask(0, want);
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        let got = batch.len();
        let first = self.left == self.burst;
        self.left -= got.min(self.left);
        cx.emit(0, batch);
        if got == 0 && first && !cx.signals().may_have(0) {
            self.last_ns = None;
            return Pull::Nothing;
        }
        if got == self.asked && self.left > 0 {
            return Pull::Ask { input: 0, want: self.step(cx) };
        }
        self.wait(cx);
        Pull::Nothing
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        self.waiting = false;
        cx.tasks().schedule();
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run_and_read};

    /// At 0, 0.5, ... 3 seconds 40 packets each, although a burst is larger than a vector.
    #[test]
    fn takes_a_burst_each_interval() {
        let config = "InfiniteSource(LIMIT 900, BURST 900) -> Queue -> TimedUnqueue(0.5, 40) -> c :: Counter -> Discard;
                      RatedSource(RATE 10, LIMIT 33, STOP true) -> Discard";
        assert_eq!(run_and_read(config, &["c.count"]), ["280"]);
        assert!(errors("Idle -> TimedUnqueue(1, 0) -> Discard").contains("bad BURST"));
    }
}
