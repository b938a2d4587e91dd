//! Counts packets and bytes of several paths.
//!
//! ```click
//! MultiCounter
//! ```
//!
//! Passes packets on from each input to the output of the same number, and counts them for each input separately. It
//! is FastClick's element.
//!
//! Ports: 1 or more inputs, as many outputs. Processing: push. Workers: exclusive.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! Each returns one value per input, in brackets and separated by commas.
//! - `count`, `byte_count` (read): packets and bytes so far.
//! - `rate`, `byte_rate` (read): recent packets and bytes per second.
//! - `reset_counts` (write, button): sets the counts to zero.
//!
//! # Example
//! ```click
//! InfiniteSource(LIMIT 3) -> [0]m :: MultiCounter[0] -> Discard;
//! InfiniteSource(LIMIT 4) -> [1]m[1] -> Discard;
//! ```
//!
//! # See also
//! Counter

use elements_shared::rate_average::RateAverage;
use packet::Batch;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("MultiCounter", create)
    .ports("1-/=")
    .processing("h/h")
    .flow("#/#")
    .residency(Residency::Exclusive)
    .doc(router::manual!("multi_counter.rs"));

/// What is counted of an input.
#[derive(Default)]
struct Counts {
    packets: u64,
    bytes: u64,
    rate: RateAverage<10>,
    /// With fewer bits of fraction, as the numbers are larger.
    byte_rate: RateAverage<4>,
}

struct MultiCounter(Vec<Counts>);

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(MultiCounter((0..config.inputs()).map(|_| Counts::default()).collect())))
}

impl MultiCounter {
    /// A value of each input.
    fn list(&mut self, value: impl FnMut(&mut Counts) -> String) -> String {
        format!("[{}]", self.0.iter_mut().map(value).collect::<Vec<_>>().join(","))
    }
}

impl Element for MultiCounter {
    #[inline]
    fn push(&mut self, cx: &mut Cx<'_>, port: usize, batch: Batch) {
        let counts = &mut self.0[port];
        let (packets, bytes) = (batch.len() as u64, batch.iter().map(|packet| packet.len() as u64).sum());
        counts.packets += packets;
        counts.bytes += bytes;
        counts.rate.add(cx.now_ns(), packets);
        counts.byte_rate.add(cx.now_ns(), bytes);
        cx.emit(port, batch);
    }

    fn handlers(&self, h: &mut Handlers) {
        type M = MultiCounter;
        h.read("count", |e: &mut M, _| e.list(|counts| counts.packets.to_string()));
        h.read("byte_count", |e: &mut M, _| e.list(|counts| counts.bytes.to_string()));
        h.read("rate", |e: &mut M, cx| e.list(|counts| counts.rate.read(cx.now_ns(), 1)));
        h.read("byte_rate", |e: &mut M, cx| e.list(|counts| counts.byte_rate.read(cx.now_ns(), 1)));
        h.write("reset_counts", |e: &mut M, _, _| {
            e.0.iter_mut().for_each(|counts| (counts.packets, counts.bytes) = (0, 0));
            Ok(())
        })
        .as_button();
    }
}
