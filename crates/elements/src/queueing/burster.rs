//! Pulls packets in bursts and pushes them on.
//!
//! ```click
//! Burster(INTERVAL [, BURST])
//! ```
//!
//! Pulls up to BURST packets each INTERVAL.
//!
//! Ports: 1 input, 1 output. Processing: pull to push. Workers: exclusive.
//!
//! # Arguments
//! - `INTERVAL` (time): the time between bursts.
//! - `BURST` (integer, at least 1): packets in a burst.
//!
//! # Example
//! ```click
//! InfiniteSource -> Queue -> Burster(0.1, 8) -> Discard
//! ```
//!
//! # See also
//! TimedUnqueue, RatedUnqueue, Unqueue

use packet::{BATCH_MAX, Batch};
use router::{Activity, Class, Config, ConfigError, Cx, Element, Pull, Residency};
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("Burster", create)
    .processing("l/h")
    .residency(Residency::Exclusive)
    .activity(Activity::Always)
    .doc(include_str!("burster.rs"));

struct Burster {
    interval: Duration,
    burst: u32,
    /// Packets that this burst may still have, those asked for included.
    left: usize,
    asked: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = Burster { interval: Duration::ZERO, burst: 0, left: 0, asked: 0 };
    config.args().required("INTERVAL", &mut e.interval).positional("BURST", &mut e.burst).finish()?;
    if e.burst == 0 {
        return Err("max packets per interval must be > 0".into());
    }
    // Timers that expire at once would leave no time for anything else.
    e.interval = e.interval.max(Duration::from_millis(1));
    Ok(Box::new(e))
}

impl Element for Burster {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.timer_after(0, self.interval);
        Ok(())
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        cx.timer_after(0, self.interval);
        self.left = self.burst as usize;
        self.asked = self.left.min(cx.vector()).min(BATCH_MAX);
        cx.ask(0, self.asked);
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        let got = batch.len();
        self.left = self.left.saturating_sub(got);
        cx.emit(0, batch);
        if got < self.asked || self.left == 0 {
            return Pull::Nothing;
        }
        self.asked = self.left.min(cx.vector()).min(BATCH_MAX);
        Pull::Ask { input: 0, want: self.asked }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run_and_read};

    /// Full bursts while there are packets, then what is left.
    #[test]
    fn bursts() {
        let config = |wait: f64| {
            format!(
                "InfiniteSource(LIMIT 100) -> Queue -> Burster(0.5, 40) -> d :: Discard; Script(wait {wait}, stop)"
            )
        };
        for (wait, count) in [(0.4, "0"), (0.7, "40"), (1.2, "80"), (3.2, "100")] {
            assert_eq!(run_and_read(&config(wait), &["d.count"]), [count], "{wait}");
        }
        assert!(errors("Idle -> Burster(1) -> Discard").contains("max packets per interval must be > 0"));
    }
}
