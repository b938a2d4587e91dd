//! Pulls and drops a packet at regular intervals.
//!
//! ```click
//! TimedSink([INTERVAL])
//! ```
//!
//! Pulls one packet every INTERVAL seconds and frees its buffer.
//!
//! Ports: 1 input, no outputs. Processing: pull. Workers: exclusive.
//!
//! # Arguments
//! - `INTERVAL` (seconds, default 0.5): time between pulls.
//!
//! # Handlers
//! - `interval` (read, write): the argument; a new value takes effect at the next pull.
//!
//! # Example
//! ```click
//! InfiniteSource -> Queue -> TimedSink(0.1)
//! ```
//!
//! # See also
//! Discard, TimedSource

use crate::source::DEFAULT_INTERVAL;
use packet::Batch;
use router::{Activity, Class, Config, ConfigError, Cx, Element, Handlers, Pull, Residency};
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("TimedSink", create)
    .ports("1/0")
    .processing("l/")
    .activity(Activity::Always)
    .residency(Residency::Exclusive)
    .absorbs("all packets")
    .doc(router::manual!("timed_sink.rs"));

struct TimedSink {
    interval: Duration,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = TimedSink { interval: DEFAULT_INTERVAL };
    config.args().positional("INTERVAL", &mut e.interval).finish()?;
    Ok(Box::new(e))
}

impl Element for TimedSink {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.timers().after(0, self.interval);
        Ok(())
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        cx.timers().after(0, self.interval);
        cx.ask(0, 1);
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        cx.consume(batch);
        Pull::Nothing
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("interval", |e: &mut TimedSink, _| router::interval(e.interval));
        h.write("interval", |e: &mut TimedSink, cx, text| {
            e.interval = crate::source::positive_interval(cx, text)?;
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    #[test]
    fn one_at_a_time() {
        let config =
            "InfiniteSource(LIMIT 100) -> q :: Queue -> TimedSink(0.1); DriverManager(wait 1.05, stop)";
        assert_eq!(run_and_read(config, &["q.length"]), ["90"]);
    }
}
