//! Limits the rate at which bytes can be pulled.
//!
//! ```click
//! BandwidthShaper(RATE)
//! ```
//!
//! Answers pulls with packets as long as the rate is within RATE bytes per second; otherwise pulls get nothing. A
//! packet is sent whole as soon as any of its bytes may be sent; the following ones then wait longer. Pullers
//! downstream sleep meanwhile.
//!
//! Ports: 1 input, 1 output. Processing: pull. Workers: exclusive.
//!
//! # Arguments
//! - `RATE` (bandwidth): bytes per second; units such as `kBps` or `Mbps` are understood.
//!
//! # Handlers
//! - `rate`, `config` (read, write): the argument.
//! - `config` (read): the rate.
//! - `reset` (write): restarts the measurement.
//!
//! # Example
//! ```click
//! InfiniteSource -> Queue -> BandwidthShaper(10Mbps) -> Discard
//! ```
//!
//! # See also
//! Shaper, RatedSource

use super::shaper::{checked, handlers, read_rate, sleep};
use elements_shared::rate::{Bandwidth, GapRate};
use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Pull, Residency};
use std::any::Any;

/// The class.
pub(crate) const CLASS: Class = Class::new("BandwidthShaper", create)
    .processing("l/l")
    .residency(Residency::Exclusive)
    .doc(router::manual!("bandwidth_shaper.rs"));

struct BandwidthShaper {
    rate: GapRate,
    /// Packets for the request that is being answered: lengths are known only when packets are there.
    got: Option<Batch>,
    want: usize,
    /// Length of the longest packet so far.
    longest: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut rate = Bandwidth::default();
    config.args().required("RATE", &mut rate).finish()?;
    Ok(Box::new(BandwidthShaper { rate: GapRate::new(checked(rate.0)?), got: None, want: 0, longest: MTU }))
}

/// Packets are taken to be at least this long until longer ones have come.
const MTU: usize = 1514;

impl BandwidthShaper {
    /// Asks for as many packets as may go even if all are long, but at least one.
    fn ask(&mut self, got: Batch, bytes: usize) -> Pull {
        let want = bytes.div_ceil(self.longest).min(self.want - got.len());
        self.got = Some(got);
        Pull::Ask { input: 0, want }
    }
}

impl Element for BandwidthShaper {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.signals().provide();
        cx.signals().relay(0);
        Ok(())
    }

    fn pull(&mut self, cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        let bytes = self.rate.allowance(cx.now_ns());
        if bytes == 0 {
            sleep(cx, &self.rate);
            return Pull::Nothing;
        }
        self.want = want;
        let got = cx.batch();
        self.ask(got, bytes)
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) -> Pull {
        let mut got = self.got.take().unwrap_or_default();
        if batch.is_empty() {
            cx.consume(batch);
            if got.is_empty() && !cx.signals().may_have(0) {
                cx.signals().set(false);
            }
            return Pull::Give(got);
        }
        let bytes = batch.iter().map(Packet::len).inspect(|&len| self.longest = self.longest.max(len)).sum();
        self.rate.spend(bytes);
        if got.is_empty() {
            std::mem::swap(&mut got, &mut batch);
        }
        batch.drain(|packet| got.push(packet));
        cx.consume(batch);
        match self.rate.allowance(cx.now_ns()) {
            0 => Pull::Give(got),
            _ if got.len() == self.want => Pull::Give(got),
            bytes => self.ask(got, bytes),
        }
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
        let show = |rate| Bandwidth(rate).to_string();
        let read = |cx: &Cx<'_>, text: &str| read_rate::<Bandwidth>(cx, text).map(|rate| rate.0);
        handlers(h, |e: &mut BandwidthShaper| &mut e.rate, show, read);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    /// At 500 bytes a second a packet of 100 bytes leaves at once, and another each fifth of a second: as in Click, a packet leaves
    /// as soon as the bytes before it are paid for.
    #[test]
    fn keeps_the_rate() {
        for (wait, bytes) in
            [(0.1, "100"), (0.3, "200"), (0.9, "500"), (1.1, "600"), (1.9, "1000"), (2.1, "1100")]
        {
            let config = format!(
                "InfiniteSource(LIMIT 100, BURST 100, LENGTH 100) -> Queue -> s :: BandwidthShaper(4kbps)
                 -> c :: Counter -> Discard(BURST 4); Script(wait {wait}, stop)"
            );
            assert_eq!(run_and_read(&config, &["c.byte_count", "s.rate"]), [bytes, "4kbps"], "{wait}");
        }
    }
}
