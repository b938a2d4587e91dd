//! Collects packets into batches.
//!
//! ```click
//! MinBatch([BURST, TIMER])
//! ```
//!
//! Collects packets, and passes them on together once there are BURST of them, or TIMER microseconds after the last
//! one arrived. It is FastClick's element.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `BURST` (integer, default 32): the minimum number of packets passed on together. Batches have at most 64
//!   packets: larger numbers count as 64.
//! - `TIMER` (integer, default -1): microseconds; negative: packets wait until there are enough of them.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource(LIMIT 100) -> MinBatch(10, TIMER 500) -> Discard
//! ```
//!
//! # See also
//! AverageBatchCounter, Queue

use packet::{BATCH_MAX, Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element};
use std::any::Any;
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("MinBatch", create)
    .processing("h/h")
    .holds("an incomplete batch")
    .doc(router::manual!("min_batch.rs"));

struct MinBatch {
    burst: usize,
    timer: Option<Duration>,
    held: Option<Batch>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut burst, mut timer) = (32u32, -1i32);
    config.args().positional("BURST", &mut burst).positional("TIMER", &mut timer).finish()?;
    let timer = u64::try_from(timer).ok().map(Duration::from_micros);
    Ok(Box::new(MinBatch { burst: (burst as usize).clamp(1, BATCH_MAX), timer, held: None }))
}

impl MinBatch {
    /// Emits what is held.
    fn release(&mut self, cx: &mut Cx<'_>) {
        if let Some(held) = self.held.take() {
            cx.emit(0, held);
        }
    }
}

impl Element for MinBatch {
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) {
        let mut held = self.held.take().unwrap_or_else(|| cx.batch());
        batch.drain(|packet| {
            held.push(packet);
            if held.len() >= self.burst {
                let full = std::mem::replace(&mut held, cx.batch());
                cx.emit(0, full);
            }
        });
        cx.consume(batch);
        let waits = !held.is_empty();
        self.held = Some(held);
        match self.timer {
            Some(timer) if waits => cx.timers().after(0, timer),
            Some(_) => cx.timers().cancel(0),
            None => {}
        }
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        self.release(cx);
    }

    fn held(&self) -> usize {
        self.held.as_ref().map_or(0, Batch::len)
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        let mut packets = Vec::new();
        self.held.take()?.drain(|packet| packets.push(packet));
        Some(Box::new(packets))
    }

    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(packets) = state.downcast::<Vec<Packet>>() {
            let mut batch = cx.batch();
            batch.extend(*packets);
            self.push(cx, 0, batch);
        }
    }

    fn finish(&mut self, cx: &mut Cx<'_>) {
        if let Some(held) = self.held.take() {
            cx.drop_batch(held, "held back at the end");
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::build;
    use elements_testing::run_to_end;
    use router::Call;

    /// Packets that come one by one leave by tens; the rest when the time is over, if there is one.
    #[test]
    fn packets_wait_for_a_batch_or_the_timeout() {
        for (arguments, expected) in [("10", ["10: 2\n", "20"]), ("10, 500", ["3: 1\n10: 2\n", "23"])] {
            let config = format!(
                "InfiniteSource(LIMIT 23) -> MinBatch({arguments}) -> b :: BatchStats -> d :: Discard; Script(wait 1, stop)"
            );
            let mut router = build(&config, 1, 1).unwrap_or_else(|errors| panic!("{errors}"));
            run_to_end(&mut router);
            let read =
                ["b.dump", "d.count"].map(|path| router.call(Call::read(path, "")).unwrap_or_default());
            assert_eq!(read, expected);
        }
    }
}
