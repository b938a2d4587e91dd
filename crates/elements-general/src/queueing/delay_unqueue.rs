//! Delays packets that it pulls, then pushes them on.
//!
//! ```click
//! DelayUnqueue(DELAY [, KEYWORDS])
//! ```
//!
//! Pulls a packet and holds it until DELAY after its timestamp; for a packet without one, DELAY counts from the time
//! it is pulled. The timestamp is set to the time at which the packet is due. With BURST, up to that many packets are
//! held, in the order in which they were pulled, and all that are due leave together; packets without timestamps then
//! keep the pace at which they arrive.
//!
//! Ports: 1 input, 1 output. Processing: pull to push. Workers: exclusive.
//!
//! # Arguments
//! - `DELAY` (time): the delay.
//! - `BURST` (integer, default 1): the maximum number of packets held, and pulled at once.
//!
//! # Handlers
//! - `delay` (read, write): the argument; a new value applies to packets pulled from then on.
//!
//! # Example
//! ```click
//! RatedSource -> SetTimestamp -> Queue -> DelayUnqueue(100ms) -> Discard
//! ```
//!
//! # See also
//! TimedUnqueue

use packet::{BATCH_MAX, Batch, Packet};
use router::{Activity, Class, Config, ConfigError, Cx, Element, Handlers, Pull, Residency};
use std::any::Any;
use std::collections::VecDeque;
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("DelayUnqueue", create)
    .processing("l/h")
    .residency(Residency::Exclusive)
    .activity(Activity::Always)
    .holds("packets whose time has not come")
    .doc(router::manual!("delay_unqueue.rs"));

const NS_PER_S: i64 = 1_000_000_000;
/// Packets that can be held at most.
const MOST_HELD: usize = 65536;

struct DelayUnqueue {
    delay_ns: i64,
    /// Packets whose time has not come, with room for so many.
    held: VecDeque<Packet>,
    burst: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut delay, mut burst) = (Duration::ZERO, 1u32);
    config.args().required("DELAY", &mut delay).keyword("BURST", &mut burst).finish()?;
    let delay_ns = i64::try_from(delay.as_nanos()).map_err(|_| "DELAY: out of range".to_owned())?;
    let burst = (burst as usize).clamp(1, MOST_HELD);
    Ok(Box::new(DelayUnqueue { delay_ns, held: VecDeque::with_capacity(burst), burst }))
}

impl DelayUnqueue {
    /// Packets to ask for.
    fn want(&self, cx: &Cx<'_>) -> usize {
        self.burst.saturating_sub(self.held.len()).min(cx.vector()).min(BATCH_MAX)
    }

    /// Says when a packet is due.
    fn hold(&mut self, cx: &Cx<'_>, mut packet: Packet) {
        let stamp = packet.timestamp_ns();
        let start = if stamp < NS_PER_S { cx.now_ns() } else { stamp };
        packet.set_timestamp_ns(start.saturating_add(self.delay_ns));
        self.held.push_back(packet);
    }

    /// Sends on what is due.
    fn release(&mut self, cx: &mut Cx<'_>) {
        let mut batch = cx.batch();
        while let Some(packet) = self.held.pop_front_if(|packet| packet.timestamp_ns() <= cx.now_ns()) {
            if batch.len() >= cx.vector() {
                let full = std::mem::replace(&mut batch, cx.batch());
                cx.emit(0, full);
            }
            batch.push(packet);
        }
        cx.emit(0, batch);
        if let Some(next) = self.held.front() {
            cx.timers().at(0, next.timestamp_ns());
        }
    }
}

impl Element for DelayUnqueue {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.signals().listen(0);
        cx.tasks().schedule();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        self.release(cx);
        let want = self.want(cx);
        if want > 0 {
            cx.ask(0, want);
        }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) -> Pull {
        if batch.is_empty() {
            if cx.signals().may_have(0) {
                cx.tasks().schedule();
            }
            return Pull::Nothing;
        }
        batch.drain(|packet| self.hold(cx, packet));
        cx.consume(batch);
        self.release(cx);
        match self.want(cx) {
            0 => Pull::Nothing,
            want => Pull::Ask { input: 0, want },
        }
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        cx.tasks().schedule();
    }

    fn held(&self) -> usize {
        self.held.len()
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(std::mem::take(&mut self.held)))
    }

    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(state) = state.downcast::<VecDeque<Packet>>() {
            self.held.extend(*state);
        }
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

    /// Packets without a time wait for one another, unless several are held.
    #[test]
    fn several_at_once() {
        for (burst, expected) in [(1, "1"), (4, "4"), (5, "5"), (9, "5")] {
            let config = format!("InfiniteSource(LIMIT 5, BURST 5, TIMESTAMP false) -> Queue -> DelayUnqueue(1, BURST {burst}) -> c :: Counter -> Discard;
                      RatedSource(RATE 2, LIMIT 4, STOP true) -> Discard");
            assert_eq!(run_and_read(&config, &["c.count"]), [expected], "{burst}");
        }
    }
}
