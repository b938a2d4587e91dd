//! Generates a packet at regular intervals.
//!
//! ```click
//! TimedSource([INTERVAL, DATA, KEYWORDS])
//! ```
//!
//! Pushes a packet that contains DATA every INTERVAL seconds, the first one after INTERVAL seconds.
//!
//! Ports: no inputs, 1 output. Processing: push. Workers: exclusive.
//!
//! # Arguments
//! - `INTERVAL` (seconds, default 0.5): time between packets.
//! - `DATA` (string): contents of the packets. The default is Click's text of 69 bytes.
//! - `LIMIT` (integer, default -1): packets to make; negative means no limit.
//! - `ACTIVE` (boolean, default true): whether to generate packets.
//! - `STOP` (boolean, default false): whether to stop the driver INTERVAL seconds after the last packet.
//! - `HEADROOM` (integer): accepted. Packets have the usual headroom.
//!
//! # Handlers
//! - `count` (read): packets made.
//! - `reset` (write, button): sets the count to zero and starts again.
//! - `data`, `interval`, `limit`, `active`, `headroom` (read, write): the arguments. A source that is switched on, or
//!   reset after its last packet, makes a packet immediately.
//!
//! # Example
//! ```click
//! TimedSource(0.1, "hello", LIMIT 10, STOP true) -> Print -> Discard
//! ```
//!
//! # See also
//! RatedSource, InfiniteSource, TimedSink

use super::contents::{Contents, DEFAULT_DATA, Filled, data_handlers};
use router::{Activity, Bytes, Class, Config, ConfigError, Cx, Element, Flags, Handlers, Residency, metric};
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("TimedSource", create)
    .ports("0/1")
    .processing("/h")
    .activity(Activity::Always)
    .residency(Residency::Exclusive)
    .makes("packets")
    .doc(router::manual!("timed_source.rs"));

/// What the interval is unless the user says otherwise.
pub(crate) const DEFAULT_INTERVAL: Duration = Duration::from_millis(500);

/// The value of a handler that sets an interval: not zero.
pub(crate) fn positive_interval(cx: &Cx<'_>, text: &str) -> Result<Duration, String> {
    match router::value(cx, text) {
        Ok(interval) if interval > Duration::ZERO => Ok(interval),
        _ => Err("bad interval".to_owned()),
    }
}

struct TimedSource {
    contents: Contents,
    interval: Duration,
    limit: i32,
    active: bool,
    stop: bool,
    count: u64,
    headroom: u32,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut data = Bytes(DEFAULT_DATA.to_vec());
    let mut e = TimedSource {
        contents: Contents::default(),
        interval: DEFAULT_INTERVAL,
        limit: -1,
        active: true,
        stop: false,
        count: 0,
        headroom: packet::DEFAULT_HEADROOM as u32,
    };
    config
        .args()
        .positional("INTERVAL", &mut e.interval)
        .positional("DATA", &mut data)
        .keyword("LIMIT", &mut e.limit)
        .keyword("ACTIVE", &mut e.active)
        .keyword("STOP", &mut e.stop)
        .keyword("HEADROOM", &mut e.headroom)
        .finish()?;
    e.contents = Contents::new(data.0, -1);
    Ok(Box::new(e))
}

impl TimedSource {
    /// Makes a packet at once and goes on from there, unless one is due anyway.
    fn wake(&self, cx: &mut Cx<'_>) {
        if self.active && !cx.timers().is_set(0) {
            cx.timers().at_once(0);
        }
    }
}

impl Filled for TimedSource {
    fn contents(&mut self) -> &mut Contents {
        &mut self.contents
    }
}

impl Element for TimedSource {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if self.active {
            cx.timers().after(0, self.interval);
        }
        Ok(())
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        if !self.active {
            return;
        }
        if u64::try_from(self.limit).is_ok_and(|limit| self.count >= limit) {
            if self.stop {
                cx.info().please_end();
            }
            return;
        }
        let now = cx.now_ns();
        let batch = self.contents.make(cx, 1, now);
        self.count += batch.len() as u64;
        cx.emit(0, batch);
        cx.timers().after(0, self.interval);
    }

    fn handlers(&self, h: &mut Handlers) {
        type S = TimedSource;
        h.read("count", |e: &mut S, _| e.count).measures(&metric::PACKETS);
        h.write("reset", |e: &mut S, cx, _| {
            e.count = 0;
            e.wake(cx);
            Ok(())
        })
        .as_button();
        data_handlers::<S>(h);
        h.read("interval", |e: &mut S, _| router::interval(e.interval)).flagged(Flags::CALM);
        h.write("interval", |e: &mut S, cx, text| {
            e.interval = positive_interval(cx, text)?;
            Ok(())
        });
        h.read("limit", |e: &mut S, _| e.limit).flagged(Flags::CALM);
        h.write("limit", |e: &mut S, cx, text| {
            e.limit = router::value(cx, text)?;
            Ok(())
        });
        h.read("active", |e: &mut S, _| e.active).flagged(Flags::CALM | Flags::CHECKBOX);
        h.write("active", |e: &mut S, cx, text| {
            e.active = router::value(cx, text).map_err(|_| "bad active".to_owned())?;
            e.wake(cx);
            Ok(())
        });
        h.read("headroom", |e: &mut S, _| e.headroom);
        h.write("headroom", |e: &mut S, cx, text| {
            e.headroom = router::value(cx, text).map_err(|_| "bad headroom".to_owned())?;
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{run, run_and_read};

    /// To the stamp: the first one after an interval, then evenly.
    #[test]
    fn packets_are_evenly_spaced() {
        let lines = run(
            "TimedSource(0.2, DATA x, LIMIT 3, STOP true) -> Print(TIMESTAMP true, MAXLENGTH 0) -> Discard",
        );
        let times: Vec<f64> = lines.lines().filter_map(|l| l.split(':').next()?.parse().ok()).collect();
        let off = |i: usize| (times[i] - 1e9 - 0.2 * (i + 1) as f64).abs();
        assert!(times.len() == 3 && (0..3).all(|i| off(i) < 0.01), "{lines}");
    }

    /// A source that is off says nothing until it is switched on.
    #[test]
    fn switched_on() {
        let config = "s :: TimedSource(0.1, LIMIT 4, ACTIVE false) -> d :: Discard;
                      Script(wait 1, write s.active true, wait 0.25, write s.active false, wait 1, stop)";
        assert_eq!(run_and_read(config, &["s.count", "d.count", "s.interval"]), ["3", "3", "100ms"]);
    }
}
