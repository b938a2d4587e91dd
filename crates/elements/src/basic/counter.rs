//! Counts packets and bytes, and measures their rates.
//!
//! ```click
//! Counter([KEYWORDS])
//! ```
//!
//! Passes packets on unchanged.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated; counts and rates add up.
//!
//! # Arguments
//! - `COUNT_CALL` (`N HANDLER [VALUE]`): when the N-th packet has been counted, calls the handler, before that packet goes
//!   on.
//! - `BYTE_COUNT_CALL` (`N HANDLER [VALUE]`): the same when N bytes have been counted.
//!
//! # Handlers
//! - `count`, `byte_count` (read): packets and bytes so far.
//! - `rate`, `byte_rate`, `bit_rate` (read): packets, bytes and bits a second, recently.
//! - `reset`, `reset_counts` (write, button): set counts and rates to zero.
//! - `count_call`, `byte_count_call` (write): replace the argument.
//!
//! # Example
//! ```click
//! InfiniteSource -> Counter(COUNT_CALL 1000 stop) -> Discard
//! ```
//!
//! # See also
//! AverageCounter

use packet::Batch;
use router::{Call, CallArg, Class, Config, ConfigError, Cx, Element, FromArg, Handlers, Merge, Pull, Scope};

/// The class.
pub(crate) const CLASS: Class = Class::new("Counter", create).doc(include_str!("counter.rs"));

/// A call to be made when a count reaches a threshold.
#[derive(Clone, Debug)]
struct Trigger {
    at: u64,
    call: Call,
}

impl FromArg for Trigger {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        let mut rest = text;
        let at = u64::from_arg(lang::conf::pop_space(&mut rest), scope)?;
        Ok(Trigger { at, call: CallArg::from_arg(rest, scope)?.0 })
    }
}

/// Seconds over which a rate is averaged, roughly.
const RATE_SPAN_S: f64 = 2.0;

/// An exponentially weighted moving average of a count's growth.
#[derive(Default)]
struct Rate {
    per_second: f64,
    since_ns: i64,
    pending: u64,
}

impl Rate {
    #[inline]
    fn add(&mut self, now_ns: i64, n: u64) {
        if now_ns != self.since_ns {
            self.advance(now_ns);
        }
        self.pending += n;
    }

    fn advance(&mut self, now_ns: i64) {
        let seconds = (now_ns - self.since_ns) as f64 / 1e9;
        if self.since_ns != 0 && seconds > 0.0 {
            let weight = 1.0 - (-seconds / RATE_SPAN_S).exp();
            self.per_second += weight * (self.pending as f64 / seconds - self.per_second);
            self.pending = 0;
        }
        self.since_ns = now_ns;
    }

    fn read(&mut self, now_ns: i64) -> f64 {
        self.add(now_ns, 0);
        self.per_second
    }
}

#[derive(Default)]
struct Counter {
    packets: u64,
    bytes: u64,
    rate: Rate,
    byte_rate: Rate,
    count_call: Option<Trigger>,
    byte_count_call: Option<Trigger>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = Counter::default();
    config
        .args()
        .keyword("COUNT_CALL", &mut e.count_call)
        .keyword("BYTE_COUNT_CALL", &mut e.byte_count_call)
        .finish()?;
    Ok(Box::new(e))
}

impl Counter {
    #[inline]
    fn awaits_call(&self) -> bool {
        self.count_call.is_some() || self.byte_count_call.is_some()
    }

    #[inline]
    fn count(&mut self, cx: &mut Cx<'_>, batch: Batch) -> Batch {
        let bytes = batch.iter().map(|packet| packet.len() as u64).sum();
        self.add(cx.now_ns(), batch.len() as u64, bytes);
        batch
    }

    #[inline]
    fn add(&mut self, now_ns: i64, packets: u64, bytes: u64) {
        self.packets += packets;
        self.bytes += bytes;
        self.rate.add(now_ns, packets);
        self.byte_rate.add(now_ns, bytes);
    }

    /// Counts a batch one by one. A packet that triggers a call splits the batch: what came before it is emitted first, then
    /// the call is made, then the packet and the rest go on.
    fn count_with_calls(&mut self, cx: &mut Cx<'_>, mut batch: Batch) -> Batch {
        let mut i = 0;
        while i < batch.len() {
            self.add(cx.now_ns(), 1, batch.packets()[i].len() as u64);
            let calls = self.due();
            if !calls.is_empty() {
                let mut rest = cx.batch();
                batch.split_off(i, &mut rest);
                cx.emit(0, std::mem::replace(&mut batch, rest));
                calls.into_iter().for_each(|call| cx.call(call));
                i = 0;
            }
            i += 1;
        }
        batch
    }

    /// The calls whose thresholds were reached just now; each is made once.
    fn due(&mut self) -> Vec<Call> {
        let packets = self.count_call.take_if(|trigger| self.packets >= trigger.at);
        let bytes = self.byte_count_call.take_if(|trigger| self.bytes >= trigger.at);
        packets.into_iter().chain(bytes).map(|trigger| trigger.call).collect()
    }

    fn reset(&mut self) {
        let calls = (self.count_call.take(), self.byte_count_call.take());
        *self = Counter { count_call: calls.0, byte_count_call: calls.1, ..Counter::default() };
    }
}

impl Element for Counter {
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        let counted =
            if self.awaits_call() { self.count_with_calls(cx, batch) } else { self.count(cx, batch) };
        cx.emit(0, counted);
    }

    fn pull(&mut self, _cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        // One at a time while a call is due, so that it comes before its packet and after the one before.
        Pull::Ask { input: 0, want: if self.awaits_call() { 1 } else { want } }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        let counted = self.count(cx, batch);
        self.due().into_iter().for_each(|call| cx.call(call));
        Pull::Give(counted)
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("count", |e: &mut Counter, _| e.packets).merged(Merge::Sum);
        h.read("byte_count", |e: &mut Counter, _| e.bytes).merged(Merge::Sum);
        h.read("rate", |e: &mut Counter, cx| e.rate.read(cx.now_ns())).merged(Merge::Sum);
        h.read("byte_rate", |e: &mut Counter, cx| e.byte_rate.read(cx.now_ns())).merged(Merge::Sum);
        h.read("bit_rate", |e: &mut Counter, cx| 8.0 * e.byte_rate.read(cx.now_ns())).merged(Merge::Sum);
        for name in ["reset", "reset_counts"] {
            h.write(name, |e: &mut Counter, _, _| {
                e.reset();
                Ok(())
            })
            .as_button();
        }
        h.write("count_call", |e: &mut Counter, cx, text| {
            e.count_call = Some(router::value(cx, text)?);
            Ok(())
        });
        h.write("byte_count_call", |e: &mut Counter, cx, text| {
            e.byte_count_call = Some(router::value(cx, text)?);
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    /// The call is made when the third packet was counted but has not gone on yet.
    #[test]
    fn count_call_comes_before_its_packet() {
        let config = "InfiniteSource(LIMIT 10, BURST 10, LENGTH 10, STOP true)
                      -> c :: Counter(COUNT_CALL 3 d.reset_counts) -> d :: Discard;";
        assert_eq!(run_and_read(config, &["c.count", "c.byte_count", "d.count"]), ["10", "100", "8"]);
    }
}
