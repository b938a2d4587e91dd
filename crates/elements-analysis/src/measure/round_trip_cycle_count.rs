//! Measures the time spent on packets downstream, or upstream.
//!
//! ```click
//! RoundTripCycleCount
//! ```
//!
//! Passes packets on unchanged. On a push path it measures the time until all processing of the packets downstream is
//! done; on a pull path, the time until pulled packets have arrived. Nanoseconds stand for processor cycles here.
//! Packets travel in batches, and the clock is read twice per batch.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated; counts and times add up.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! - `packets`, `count` (read): packets so far.
//! - `cycles` (read): the total time that they took.
//! - `reset_counts` (write, button): sets both to zero.
//!
//! # Example
//! ```click
//! InfiniteSource(LIMIT 1000) -> r :: RoundTripCycleCount -> CheckIPHeader(14) -> Discard
//! ```
//!
//! # See also
//! SetCycleCount, CycleCountAccum

use super::set_cycle_count::now_ns;
use packet::Batch;
use router::{Answer, Class, Config, ConfigError, Cx, Element, Handlers, Merge, Pull, Step};
use std::any::Any;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("RoundTripCycleCount", create).doc(router::manual!("round_trip_cycle_count.rs"));

#[derive(Default)]
struct RoundTripCycleCount {
    packets: u64,
    ns: u64,
    /// When the vectors left that are on their way: more than one where a path leads through here again.
    left_ns: Vec<u64>,
    asked_ns: Option<u64>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    let _ = now_ns(); // time begins
    Ok(Box::new(RoundTripCycleCount { left_ns: Vec::with_capacity(8), ..RoundTripCycleCount::default() }))
}

impl RoundTripCycleCount {
    fn add(&mut self, start_ns: Option<u64>) {
        let taken_ns = start_ns.map_or(0, |start_ns| now_ns().saturating_sub(start_ns));
        self.ns = self.ns.saturating_add(taken_ns);
    }
}

impl Element for RoundTripCycleCount {
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        self.packets += batch.len() as u64;
        self.left_ns.push(now_ns());
        cx.emit(0, batch);
        // Its turn comes when the batch has been followed to its end.
        cx.handlers().start(Box::new(()));
    }

    fn resume(&mut self, _cx: &mut Cx<'_>, _state: &mut Box<dyn Any + Send>, _answer: Answer) -> Step {
        let start_ns = self.left_ns.pop();
        self.add(start_ns);
        Step::Done(Ok(String::new()))
    }

    fn pull(&mut self, _cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        self.asked_ns = Some(now_ns());
        Pull::Ask { input: 0, want }
    }

    fn pulled(&mut self, _cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        let start_ns = self.asked_ns.take();
        self.add(start_ns);
        self.packets += batch.len() as u64;
        Pull::Give(batch)
    }

    fn handlers(&self, h: &mut Handlers) {
        type R = RoundTripCycleCount;
        for name in ["packets", "count"] {
            h.read(name, |e: &mut R, _| e.packets).merged(Merge::Sum);
        }
        h.read("cycles", |e: &mut R, _| e.ns).merged(Merge::Sum);
        h.write("reset_counts", |e: &mut R, _, _| {
            (e.packets, e.ns) = (0, 0);
            Ok(())
        })
        .as_button();
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::build;
    use router::Call;

    /// What is behind counts as far as it goes, in both directions; a path may lead through the element again.
    #[test]
    fn round_trips() {
        let config = "InfiniteSource(LIMIT 20, STOP true) -> r :: RoundTripCycleCount
              -> WorkPackage(0, 0, 0, false, W 20000) -> t :: Tee -> Discard;
            InfiniteSource(LIMIT 20) -> l :: RoundTripCycleCount -> Discard(BURST 4);
            a :: RoundTripCycleCount -> p :: PaintSwitch; p[0] -> Paint(1) -> a; p[1] -> d :: Discard; t[1] -> a";
        for vector in [1, 32] {
            let mut router = build(config, 1, vector).unwrap_or_else(|errors| panic!("{errors}"));
            router.run();
            let mut read = |path: &str| -> u64 {
                router.call(Call::read(path, "")).unwrap_or_default().parse().unwrap_or(0)
            };
            let counts = ["r.packets", "l.count", "d.count", "a.packets"].map(&mut read);
            assert_eq!(counts, [20, 20, 20, 40]);
            let times = ["r.cycles", "l.cycles", "a.cycles"].map(&mut read);
            assert!(
                times[0] > 20 * 20_000 / 4 && times[0] > times[2] && times[1] > 0 && times[2] > 0,
                "{times:?}"
            );
        }
    }
}
