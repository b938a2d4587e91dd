//! Limits the rate of each flow.
//!
//! ```click
//! FlowRateLimiter(RATE [, KEYWORDS])
//! ```
//!
//! Passes up to RATE packets per second of each flow, and drops the others. While a flow has no packets, it
//! accumulates credit for a burst. A flow manager upstream identifies flows; packets without a flow are dropped. It
//! is FastClick's element.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `RATE` (integer): packets per second.
//! - `BURST_DURATION` (time, default 20 ms): the burst size, as the time in which RATE produces that many packets.
//! - `BURST_SIZE` (integer): the burst size in packets, instead of BURST_DURATION.
//!
//! # Handlers
//! - `dropped` (read): packets dropped because of the rate.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> FlowIPManager -> FlowRateLimiter(1000) -> Discard
//! ```
//!
//! # See also
//! FlowIPManager, RatedSplitter, Meter

use elements_shared::flow_space::{Given, NO_FLOW, Space};
use elements_shared::rate::TokenBucket;
use elements_shared::rate_limit::RateLimit;
use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Merge, PerPacket, Simple, Verdict};
use std::any::Any;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("FlowRateLimiter", create).processing("h/h").doc(router::manual!("flow_rate_limiter.rs"));

/// Why packets are dropped.
const TOO_FAST: &str = "rate exceeded";

struct FlowRateLimiter {
    flows: Space<TokenBucket>,
    /// What a new flow gets.
    bucket: TokenBucket,
    dropped: u64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let bucket = RateLimit::new(config, false)?.bucket();
    Ok(Box::new(PerPacket(FlowRateLimiter { flows: Space::default(), bucket, dropped: 0 })))
}

impl Simple for FlowRateLimiter {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.flows.connect(cx)
    }

    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Some((bucket, new)) = self.flows.of(packet.flow(), drop) else { return Verdict::Drop(NO_FLOW) };
        if new {
            *bucket = self.bucket.clone();
        }
        bucket.refill(cx.now_ns());
        if bucket.take(1) == 1 {
            return Verdict::Pass;
        }
        self.dropped += 1;
        Verdict::Drop(TOO_FAST)
    }

    fn process_batch(&mut self, cx: &mut Cx<'_>, batch: Batch) {
        self.flows.prefetch(&batch);
        cx.scatter(batch, |cx, packet| self.process(cx, packet));
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new((self.flows.give(), self.dropped)))
    }

    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(state) = state.downcast::<(Given<TokenBucket>, u64)>() {
            let (flows, dropped) = *state;
            self.dropped += dropped;
            self.flows.adopt(cx, flows, |old| {
                let mut bucket = self.bucket.clone();
                bucket.adopt(&old);
                Some(bucket)
            });
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("dropped", |e: &mut FlowRateLimiter, _| e.dropped).merged(Merge::Sum);
    }
}
