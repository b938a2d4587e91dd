//! Delays packets by a fixed time.
//!
//! ```click
//! DelayShaper(DELAY)
//! ```
//!
//! A packet can be pulled DELAY after its timestamp; a packet without a timestamp gets the time of the first pull for
//! it. Its timestamp is then set to the time at which it leaves. One packet is held at a time; pullers sleep
//! meanwhile.
//!
//! Ports: 1 input, 1 output. Processing: pull. Workers: exclusive.
//!
//! # Arguments
//! - `DELAY` (time): the delay.
//!
//! # Handlers
//! - `delay` (read, write): the argument.
//!
//! # Example
//! ```click
//! RatedSource -> SetTimestamp -> Queue -> DelayShaper(100ms) -> Unqueue -> Discard
//! ```
//!
//! # See also
//! DelayUnqueue, Shaper, SetTimestamp

use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Pull, Residency};
use std::any::Any;
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("DelayShaper", create)
    .processing("l/l")
    .residency(Residency::Exclusive)
    .holds("a packet whose time has not come")
    .doc(router::manual!("delay_shaper.rs"));

const NS_PER_S: i64 = 1_000_000_000;

struct DelayShaper {
    delay: Duration,
    /// The packet that waits; its timestamp says until when.
    held: Option<Packet>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut delay = Duration::ZERO;
    config.args().required("DELAY", &mut delay).finish()?;
    Ok(Box::new(DelayShaper { delay, held: None }))
}

impl DelayShaper {
    /// The packet that is held, if its time has come; otherwise pullers sleep until then.
    fn release(&mut self, cx: &mut Cx<'_>) -> Pull {
        let now_ns = cx.now_ns();
        match self.held.take_if(|packet| packet.timestamp_ns() <= now_ns) {
            Some(mut packet) => {
                packet.set_timestamp_ns(now_ns);
                Pull::Give(cx.pool().batch_of(packet))
            }
            None => {
                if let Some(packet) = &self.held {
                    let at_ns = packet.timestamp_ns();
                    cx.timers().at(0, at_ns);
                    cx.signals().set(false);
                }
                Pull::Nothing
            }
        }
    }
}

impl Element for DelayShaper {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.signals().provide();
        cx.signals().relay(0);
        Ok(())
    }

    fn pull(&mut self, cx: &mut Cx<'_>, _port: usize, _want: usize) -> Pull {
        match self.held {
            Some(_) => self.release(cx),
            None => Pull::Ask { input: 0, want: 1 },
        }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) -> Pull {
        match batch.pop() {
            Some(mut packet) => {
                let since_ns = match packet.timestamp_ns() {
                    ..NS_PER_S => cx.now_ns(), // not set
                    stamped => stamped,
                };
                let delay_ns = i64::try_from(self.delay.as_nanos()).unwrap_or(i64::MAX);
                packet.set_timestamp_ns(since_ns.saturating_add(delay_ns));
                self.held = Some(packet);
                cx.consume(batch);
                self.release(cx)
            }
            None => {
                if !cx.signals().may_have(0) {
                    cx.signals().set(false);
                }
                Pull::Give(batch)
            }
        }
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        cx.signals().set(true);
    }

    fn held(&self) -> usize {
        usize::from(self.held.is_some())
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(self.held.take()))
    }

    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(state) = state.downcast::<Option<Packet>>() {
            self.held = *state;
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("delay", |e: &mut DelayShaper, _| router::interval(e.delay));
        h.write("delay", |e: &mut DelayShaper, cx, text| {
            e.delay = router::value(cx, text).map_err(|_| "delay must be a timestamp".to_owned())?;
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    /// Packets that came together leave together, the delay after they came, and not before.
    #[test]
    fn packets_leave_the_delay_after_they_came() {
        let config = |wait: &str| {
            format!(
                "InfiniteSource(LIMIT 5) -> SetTimestamp -> Queue -> s :: DelayShaper(0.2) -> Unqueue -> d :: Discard;
                 Script(wait {wait}, stop)"
            )
        };
        assert_eq!(run_and_read(&config("0.19"), &["d.count", "s.delay"]), ["0", "200ms"]);
        assert_eq!(run_and_read(&config("0.21"), &["d.count"]), ["5"]);
    }
}
