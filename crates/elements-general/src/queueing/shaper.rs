//! Limits the rate at which packets can be pulled.
//!
//! ```click
//! Shaper(RATE)
//! ```
//!
//! Answers at most RATE pulls per second with a packet, evenly spaced within each second; other pulls get nothing.
//! Pullers downstream sleep until the next packet may be sent.
//!
//! Output 1, if it is connected, is FastClick's: pulls there get packets at the times at which pulls of output 0 get none, without a limit.
//! Pullers then do not sleep.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: pull. Workers: exclusive.
//!
//! # Arguments
//! - `RATE` (integer): packets per second.
//!
//! # Handlers
//! - `rate`, `config` (read, write): the argument.
//! - `config` (read): the rate.
//! - `reset` (write): restarts the measurement.
//!
//! # Example
//! ```click
//! InfiniteSource -> Queue -> Shaper(1000) -> Discard
//! ```
//!
//! # See also
//! BandwidthShaper, Queue, RatedSource

use elements_shared::rate::GapRate;
use packet::Batch;
use router::{Class, Config, ConfigError, Cx, Element, FromArg, Handlers, Pull, Residency};
use std::any::Any;

/// The class.
pub(crate) const CLASS: Class = Class::new("Shaper", create)
    .ports("1/1-2")
    .processing("l/l")
    .residency(Residency::Exclusive)
    .doc(router::manual!("shaper.rs"));

struct Shaper {
    rate: GapRate,
    /// Whether output 1 gives what output 0 does not.
    parts: bool,
    /// The output that asked last.
    asked: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut rate = 0;
    config.args().required("RATE", &mut rate).finish()?;
    Ok(Box::new(Shaper { rate: GapRate::new(checked(rate)?), parts: config.outputs() > 1, asked: 0 }))
}

/// A rate in packets a second, unless it is out of range.
pub(crate) fn checked(rate: u32) -> Result<u32, String> {
    if rate > GapRate::MAX { Err(format!("rate too large; max is {}", GapRate::MAX)) } else { Ok(rate) }
}

/// Sends pullers to sleep until the next packet may go.
pub(crate) fn sleep(cx: &mut Cx<'_>, rate: &GapRate) {
    cx.signals().set(false);
    if let Some(at) = rate.next_ns(cx.now_ns()) {
        cx.timers().at(0, at);
    }
}

/// The rate in a shaper's arguments, which were written to a handler.
pub(super) fn read_rate<T: FromArg + Default>(cx: &Cx<'_>, text: &str) -> Result<T, String> {
    let mut rate = T::default();
    let read = router::arguments(cx, text).required("RATE", &mut rate).finish();
    read.map(|()| rate).map_err(|error| error.to_string())
}

/// Declares the handlers of a shaper: its rate, in units that `show` and `read` know.
pub(super) fn handlers<E: Any>(
    h: &mut Handlers,
    of: fn(&mut E) -> &mut GapRate,
    show: fn(u32) -> String,
    read: fn(&Cx<'_>, &str) -> Result<u32, String>,
) {
    for name in ["rate", "config"] {
        h.read(name, move |e: &mut E, _| show(of(e).rate()));
        h.write(name, move |e: &mut E, cx, text| {
            of(e).set(checked(read(cx, text)?)?, cx.now_ns());
            cx.signals().set(true);
            Ok(())
        });
    }
    h.write("reset", move |e: &mut E, cx, _| {
        of(e).reset();
        cx.signals().set(true);
        Ok(())
    });
}

impl Element for Shaper {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.signals().provide();
        cx.signals().relay(0);
        Ok(())
    }

    fn pull(&mut self, cx: &mut Cx<'_>, port: usize, want: usize) -> Pull {
        let allowed = self.rate.allowance(cx.now_ns());
        let want = match port {
            0 => want.min(allowed),
            _ if allowed == 0 => want,
            _ => 0,
        };
        if want == 0 && self.parts {
            return Pull::Nothing; // the other output has some
        }
        if want == 0 {
            sleep(cx, &self.rate);
            return Pull::Nothing;
        }
        self.asked = port;
        Pull::Ask { input: 0, want }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        if self.asked == 0 {
            self.rate.spend(batch.len());
        }
        if batch.is_empty() && !cx.signals().may_have(0) {
            cx.signals().set(false);
        }
        Pull::Give(batch)
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        cx.signals().set(true);
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(self.rate.clone()))
    }

    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(state) = state.downcast::<GapRate>() {
            self.rate.adopt(*state, cx.now_ns());
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        handlers(h, |e: &mut Shaper| &mut e.rate, |rate| rate.to_string(), read_rate);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run_and_read};

    /// Ten a second leave, of a hundred that could: the first at once, the others a tenth of a second apart.
    #[test]
    fn keeps_the_rate() {
        for (wait, count) in [(0.05, "1"), (0.15, "2"), (0.95, "10"), (2.95, "30")] {
            let config = format!(
                "InfiniteSource(LIMIT 100, BURST 100) -> Queue -> s :: Shaper(10) -> c :: Counter -> Discard(BURST 8);
                 Script(wait {wait}, stop)"
            );
            assert_eq!(run_and_read(&config, &["c.count", "s.rate"]), [count, "10"], "{wait}");
        }
    }

    /// What does not fit into the rate leaves by the second output, and nothing is lost.
    #[test]
    fn the_second_output_gives_the_others() {
        let config = "InfiniteSource(LIMIT 100, BURST 100) -> Queue -> s :: Shaper(10);
                      s [0] -> a :: Counter -> Discard; s [1] -> b :: Counter -> Discard; Script(wait 0.05, stop)";
        let read = run_and_read(config, &["a.count", "b.count"]);
        assert_eq!(read, ["1", "99"]);
        let config = "RatedSource(RATE 100, LIMIT 100) -> Queue -> s :: Shaper(10);
                      s [0] -> a :: Counter -> [0] r :: RoundRobinSched -> Discard; s [1] -> b :: Counter -> [1] r;
                      Script(wait 0.995, stop)";
        let read = run_and_read(config, &["a.count", "b.count"]);
        assert_eq!(read, ["10", "90"]);
    }

    /// Upstream signals reach sleeping pullers through it.
    #[test]
    fn wakes_pullers() {
        let config = "RatedSource(RATE 50, LIMIT 9) -> Queue -> Shaper(1000) -> d :: Discard;
                      RatedSource(RATE 1, LIMIT 4, STOP true) -> Discard";
        assert_eq!(run_and_read(config, &["d.count"]), ["9"]);
    }

    #[test]
    fn the_first_packet_after_a_reset_goes_at_once() {
        let config = |resets: &str| {
            format!(
                "InfiniteSource(LIMIT 25, BURST 25) -> Queue -> s :: Shaper(1) -> c :: Counter -> Discard;
                      Script(wait 0.1, {resets} wait 0.1, stop)"
            )
        };
        assert_eq!(run_and_read(&config(""), &["c.count"]), ["1"]);
        assert_eq!(run_and_read(&config("write s.reset, wait 0.1, write s.reset,"), &["c.count"]), ["3"]);
    }

    #[test]
    fn wants_a_rate() {
        assert!(errors("Idle -> Shaper(5000000000) -> Discard").contains("RATE"));
        assert!(errors("Idle -> Shaper -> Discard").contains("RATE: required argument missing"));
    }
}
