//! Delays packets that it pulls, then pushes them on.
//!
//! ```click
//! DelayUnqueue(DELAY)
//! ```
//!
//! Pulls a packet and holds it until DELAY after its timestamp; a packet without one counts from the moment at which it
//! is pulled. The timestamp becomes the time at which the packet is due.
//!
//! Ports: 1 input, 1 output. Processing: pull to push. Workers: exclusive.
//!
//! # Arguments
//! - `DELAY` (time): the delay.
//!
//! # Handlers
//! - `delay` (read, write): the argument; what is written counts for packets pulled from then on.
//!
//! # Example
//! ```click
//! RatedSource -> SetTimestamp -> Queue -> DelayUnqueue(100ms) -> Discard
//! ```
//!
//! # See also
//! TimedUnqueue

use packet::{Batch, Packet};
use router::{Activity, Class, Config, ConfigError, Cx, Element, Handlers, Pull, Refused, Residency};
use std::any::Any;
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("DelayUnqueue", create)
    .processing("l/h")
    .residency(Residency::Exclusive)
    .activity(Activity::Always)
    .doc(include_str!("delay_unqueue.rs"));

const NS_PER_S: i64 = 1_000_000_000;

struct DelayUnqueue {
    delay_ns: i64,
    /// The packet whose time has not come.
    held: Option<Packet>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut delay = Duration::ZERO;
    config.args().required("DELAY", &mut delay).finish()?;
    let delay_ns = i64::try_from(delay.as_nanos()).map_err(|_| "DELAY: out of range".to_owned())?;
    Ok(Box::new(DelayUnqueue { delay_ns, held: None }))
}

impl Element for DelayUnqueue {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.listen(0);
        cx.schedule();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        if let Some(packet) = self.held.take() {
            if packet.timestamp_ns() > cx.now_ns() {
                cx.timer_at(0, packet.timestamp_ns());
                self.held = Some(packet);
                return;
            }
            cx.emit_packet(0, packet);
        }
        cx.ask(0, 1);
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) -> Pull {
        let packet = batch.pop();
        cx.consume(batch);
        let Some(mut packet) = packet else {
            if cx.may_have(0) {
                cx.schedule();
            }
            return Pull::Nothing;
        };
        let stamp = packet.timestamp_ns();
        let start = if stamp < NS_PER_S { cx.now_ns() } else { stamp };
        let due = start.saturating_add(self.delay_ns);
        packet.set_timestamp_ns(due);
        if due > cx.now_ns() {
            self.held = Some(packet);
            cx.timer_at(0, due);
            return Pull::Nothing;
        }
        cx.emit_packet(0, packet);
        Pull::Ask { input: 0, want: 1 }
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        cx.schedule();
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(self.held.take()))
    }

    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) -> Result<(), Refused> {
        if let Ok(state) = state.downcast::<Option<Packet>>() {
            self.held = *state;
        }
        Ok(())
    }

    fn handlers(&self, h: &mut Handlers) {
        type U = DelayUnqueue;
        h.read("delay", |e: &mut U, _| router::interval(Duration::from_nanos(e.delay_ns as u64)));
        h.write("delay", |e: &mut U, cx, text| {
            let delay: Duration =
                router::value(cx, text).map_err(|_| "expected time in seconds".to_owned())?;
            e.delay_ns = i64::try_from(delay.as_nanos()).map_err(|_| "out of range".to_owned())?;
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    /// Packets that follow each other by a tenth of a second still do, a second later: none waits for the one before.
    #[test]
    fn delays_each() {
        let config =
            "RatedSource(RATE 10, LIMIT 21, STOP true) -> Queue -> d :: DelayUnqueue(1) -> c :: Counter
                      -> Discard";
        let read = run_and_read(config, &["c.count", "d.delay"]);
        assert!(["10", "11"].contains(&read[0].as_str()), "{read:?}");
        assert_eq!(read[1], "1.000000s");
    }
}
