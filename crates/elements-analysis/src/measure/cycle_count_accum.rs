//! Adds up the time that packets took since SetCycleCount.
//!
//! ```click
//! CycleCountAccum
//! ```
//!
//! Passes packets on unchanged. Nanoseconds stand for processor cycles here. Packets that did not pass a
//! SetCycleCount are counted separately; the first one is reported. Since packets travel in batches, the time of one
//! packet includes work done for the packets before and after it.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated; counts and times add up.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! - `count` (read): packets so far.
//! - `cycles` (read): the total time that they took.
//! - `cycles_pp` (read): the average time per packet, on this worker.
//! - `zero_count` (read): packets that did not pass a SetCycleCount.
//! - `reset_counts` (write, button): sets everything to zero.
//!
//! # Example
//! ```click
//! InfiniteSource(LIMIT 1000) -> SetCycleCount -> CheckIPHeader(14) -> c :: CycleCountAccum -> Discard
//! ```
//!
//! # See also
//! SetCycleCount, TimestampAccum

use super::set_cycle_count::now_ns;
use packet::{Anno, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Level, Merge, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("CycleCountAccum", create).doc(router::manual!("cycle_count_accum.rs"));

#[derive(Default)]
struct CycleCountAccum {
    count: u64,
    ns: u64,
    zero_count: u64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(CycleCountAccum::default())))
}

impl CycleCountAccum {
    #[cold]
    fn count_unset(&mut self, cx: &mut Cx<'_>) {
        self.zero_count += 1;
        if self.zero_count == 1 {
            cx.say(
                Level::Warning,
                format_args!("{} :: CycleCountAccum: packet with zero cycle counter annotation!", cx.name()),
            );
        }
    }
}

impl Simple for CycleCountAccum {
    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let noted_ns = packet.anno(Anno::PERFCTR);
        if noted_ns == 0 {
            self.count_unset(cx);
        } else {
            self.count += 1;
            self.ns = self.ns.saturating_add(now_ns().saturating_sub(noted_ns));
        }
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        type C = CycleCountAccum;
        h.read("count", |e: &mut C, _| e.count).merged(Merge::Sum);
        h.read("cycles", |e: &mut C, _| e.ns).merged(Merge::Sum);
        h.read("cycles_pp", |e: &mut C, _| e.ns / e.count.max(1));
        h.read("zero_count", |e: &mut C, _| e.zero_count).merged(Merge::Sum);
        h.write("reset_counts", |e: &mut C, _, _| {
            *e = C::default();
            Ok(())
        })
        .as_button();
    }
}
