//! Passes packets on up to a rate, and splits off the rest.
//!
//! ```click
//! RatedSplitter(RATE [, KEYWORDS])
//! ```
//!
//! Up to RATE packets per second leave by output 0; packets beyond that leave by output 1.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: push. Workers: exclusive. Without output 1 its packets are dropped.
//!
//! # Arguments
//! - `RATE` (integer): packets per second.
//! - `BURST_DURATION` (time, default 20 ms): the burst size, as the time in which RATE produces that many packets.
//! - `BURST_SIZE` (integer): the burst size in packets, instead of BURST_DURATION.
//!
//! # Handlers
//! - `rate` (read, write): the argument.
//! - `config` (read): the rate.
//!
//! # Example
//! ```click
//! InfiniteSource -> s :: RatedSplitter(2000) -> Discard;
//! s [1] -> Counter -> Discard;
//! ```
//!
//! # See also
//! BandwidthRatedSplitter, RatedUnqueue

use elements_shared::rate::TokenBucket;
use elements_shared::rate_limit::RateLimit;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Residency, Simple, Verdict};
use std::any::Any;

/// The class.
pub(crate) const CLASS: Class = Class::new("RatedSplitter", create)
    .ports("1/1-2")
    .processing("h/h")
    .residency(Residency::Exclusive)
    .live()
    .doc(router::manual!("rated_splitter.rs"));

struct RatedSplitter {
    limit: RateLimit,
    beyond: Verdict,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    create_for(config, false)
}

/// One that counts packets, or bytes.
pub(super) fn create_for(config: &mut Config<'_>, bytes: bool) -> Result<Box<dyn Element>, ConfigError> {
    let limit = RateLimit::new(config, bytes)?;
    let beyond = if config.outputs() > 1 { Verdict::Output(1) } else { Verdict::Drop("over the rate") };
    Ok(Box::new(PerPacket(RatedSplitter { limit, beyond })))
}

impl Simple for RatedSplitter {
    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if !self.limit.allows(cx.now_ns()) {
            return self.beyond;
        }
        self.limit.charge(packet.len());
        Verdict::Pass
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(self.limit.bucket()))
    }

    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(state) = state.downcast::<TokenBucket>() {
            self.limit.adopt(&state);
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        RateLimit::handlers(h, |e: &mut RatedSplitter| &mut e.limit, |_| ());
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    /// Of 1,000 packets a second, 100 pass; the rest leaves at output 1, none is lost.
    #[test]
    fn packets_within_the_rate_pass() {
        let config = "RatedSource(RATE 1000, LIMIT 1001, STOP true) -> s :: RatedSplitter(100, BURST_SIZE 4)
                      -> a :: Counter -> Discard; s [1] -> b :: Counter -> Discard";
        let read = run_and_read(config, &["a.count", "b.count", "s.rate"]);
        let counts: Vec<i32> = read[..2].iter().map(|count| count.parse().expect("a number")).collect();
        assert!((96..=106).contains(&counts[0]) && counts[0] + counts[1] == 1001, "{read:?}");
    }
}
