//! Counts packets and bytes, and measures their rates.
//!
//! ```click
//! Counter([KEYWORDS])
//! ```
//!
//! Passes packets on unchanged. FastClick's CounterMP, CounterRCU, CounterRCUMP, CounterAtomic, CounterLock,
//! CounterLockMP, CounterPLockMP, CounterRW, CounterRWMP, CounterPRWMP, CounterRxWMP, CounterRxWMPPR and
//! CounterRxWMPPW are other names for it: workers always count without contention.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated; counts and rates add up.
//!
//! # Arguments
//! - `COUNT_CALL` (`N HANDLER [VALUE]`): calls the handler when the N-th packet has been counted, before that packet
//!   goes on.
//! - `BYTE_COUNT_CALL` (`N HANDLER [VALUE]`): the same when N bytes have been counted.
//! - `NO_RATE`, `BATCH_PRECISE` (boolean), `ATOMIC` (integer, 0 to 2): FastClick's; accepted. Calls are always made
//!   at the exact packet, and counting is always thread-safe.
//!
//! # Handlers
//! - `count`, `byte_count` (read): packets and bytes so far.
//! - `rate`, `byte_rate`, `bit_rate` (read): recent packets, bytes and bits per second.
//! - `reset`, `reset_counts` (write, button): set the counts to zero and re-arm the calls.
//! - `count_call` (read, write): reads N of the argument; writing replaces the argument, or cancels it if no handler is
//!   given.
//! - `byte_count_call` (write): replaces the argument.
//!
//! # Example
//! ```click
//! InfiniteSource -> Counter(COUNT_CALL 1000 stop) -> Discard
//! ```
//!
//! # See also
//! AverageCounter

use elements_shared::rate_average::RateAverage;
use packet::{Batch, Packet};
use router::{
    BadState, Call, Class, Config, ConfigError, Cx, Decision, Element, FromArg, Handlers, Look, Merge, Pull,
    Raw, Scope, StateReader, StateWriter, Then, metric,
};

/// The class.
pub(crate) const CLASS: Class = Class::new("Counter", create).doc(router::manual!("counter.rs"));

/// A call to be made when a count reaches a threshold, once until the next reset.
#[derive(Clone, Debug)]
struct Trigger {
    at: u64,
    call: Call,
    made: bool,
}

impl FromArg for Trigger {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        let mut rest = text;
        let at = u64::from_arg(lang::conf::pop_space(&mut rest), scope)?;
        // Whether there is such a handler is asked when all handlers are known.
        let path = lang::conf::unquote(lang::conf::pop_space(&mut rest));
        Ok(Trigger { at, call: Call::write(path, rest.trim()), made: false })
    }
}

impl Trigger {
    /// The trigger that an argument describes, if it is given.
    fn of(config: &Config<'_>, name: &str, argument: Option<Raw>) -> Result<Option<Trigger>, ConfigError> {
        let Some(Raw(text)) = argument else { return Ok(None) };
        let mut rest = text.as_str();
        if u64::from_arg(lang::conf::pop_space(&mut rest), config.scope()).is_err() {
            return Err(format!("{name} type mismatch").into());
        }
        Ok(Some(Trigger::from_arg(&text, config.scope())?))
    }
}

/// The form of what is left to another process.
const FORM: u8 = 1;

/// No packet is longer.
const LONGEST_PACKET: u64 = 1 << 17;

#[derive(Default)]
struct Counter {
    packets: u64,
    bytes: u64,
    rate: RateAverage<10>,
    /// With fewer bits of fraction, as the numbers are larger.
    byte_rate: RateAverage<4>,
    count_call: Option<Trigger>,
    byte_count_call: Option<Trigger>,
    has_calls: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut e, mut no_rate, mut precise, mut atomic) = (Counter::default(), false, false, 0u8);
    let (mut count_call, mut byte_count_call) = (None::<Raw>, None::<Raw>);
    config
        .args()
        .keyword("COUNT_CALL", &mut count_call)
        .keyword("BYTE_COUNT_CALL", &mut byte_count_call)
        .keyword("NO_RATE", &mut no_rate)
        .keyword("BATCH_PRECISE", &mut precise)
        .keyword("ATOMIC", &mut atomic)
        .finish()?;
    e.count_call = Trigger::of(config, "COUNT_CALL", count_call)?;
    e.byte_count_call = Trigger::of(config, "BYTE_COUNT_CALL", byte_count_call)?;
    e.check_calls();
    Ok(Box::new(e))
}

impl Counter {
    /// Notes whether any call is still to be made.
    fn check_calls(&mut self) {
        let awaits = |trigger: &Option<Trigger>| trigger.as_ref().is_some_and(|trigger| !trigger.made);
        self.has_calls = awaits(&self.count_call) || awaits(&self.byte_count_call);
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
                calls.into_iter().for_each(|call| cx.handlers().call(call));
                i = 0;
            }
            i += 1;
        }
        batch
    }

    /// Packets that can be counted together because none of them triggers a call.
    #[inline]
    fn quiet(&self) -> usize {
        if !self.has_calls {
            return usize::MAX;
        }
        let left = |trigger: &Option<Trigger>, count: u64| match trigger {
            Some(trigger) if !trigger.made && trigger.at > count => trigger.at - count - 1,
            Some(trigger) if !trigger.made => 0,
            _ => u64::MAX,
        };
        let by_bytes = left(&self.byte_count_call, self.bytes) / LONGEST_PACKET;
        usize::try_from(left(&self.count_call, self.packets).min(by_bytes)).unwrap_or(usize::MAX)
    }

    /// The calls whose thresholds were reached just now. Packets count one by one while calls are due, so that their
    /// number is hit exactly; a threshold that lies behind is never reached.
    fn due(&mut self) -> Vec<Call> {
        let mut calls = Vec::new();
        let (packets, bytes) = (self.packets, self.bytes);
        let reached = [
            self.count_call.as_mut().filter(|trigger| packets == trigger.at),
            self.byte_count_call.as_mut().filter(|trigger| bytes >= trigger.at),
        ];
        for trigger in reached.into_iter().flatten().filter(|trigger| !trigger.made) {
            trigger.made = true;
            calls.push(trigger.call.clone());
        }
        if !calls.is_empty() {
            self.check_calls();
        }
        calls
    }

    /// Counts and calls start again; the rates go on.
    fn reset(&mut self) {
        (self.packets, self.bytes) = (0, 0);
        [&mut self.count_call, &mut self.byte_count_call].into_iter().flatten().for_each(|t| t.made = false);
        self.check_calls();
    }

    /// Reads the value of a call handler; without a handler, the call is cancelled.
    fn trigger(cx: &Cx<'_>, text: &str, name: &str) -> Result<Option<Trigger>, String> {
        let mut rest = text.trim();
        let number = lang::conf::pop_space(&mut rest);
        if router::value::<u64>(cx, number).is_err() {
            return Err(format!("'{name}' first word should be unsigned (count)"));
        }
        if rest.trim().is_empty() {
            return Ok(None);
        }
        let trigger: Trigger = router::value(cx, text)?;
        trigger.call.check_by(cx)?;
        Ok(Some(trigger))
    }
}

impl Element for Counter {
    fn explain(&self, _look: &Look<'_>, _port: usize, _packet: &mut Packet) -> Option<Decision> {
        Some(Decision::new(Then::Output(0), ""))
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        for trigger in [&self.count_call, &self.byte_count_call].into_iter().flatten() {
            trigger.call.check_by(cx)?;
        }
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        let quiet = batch.len() <= self.quiet();
        let counted = if quiet { self.count(cx, batch) } else { self.count_with_calls(cx, batch) };
        cx.emit(0, counted);
    }

    fn pull(&mut self, _cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        // The packet that triggers a call comes alone, so that the call comes before it and after the one before.
        Pull::Ask { input: 0, want: want.min(self.quiet().max(1)) }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        let counted = self.count(cx, batch);
        if self.has_calls {
            self.due().into_iter().for_each(|call| cx.handlers().call(call));
        }
        Pull::Give(counted)
    }

    /// Rates begin anew. A call that was made is not made again.
    fn write_state(&mut self, _cx: &mut Cx<'_>, out: &mut StateWriter) -> bool {
        out.form(FORM);
        out.u64(self.packets);
        out.u64(self.bytes);
        let made = |trigger: &Option<Trigger>| u32::from(trigger.as_ref().is_some_and(|t| t.made));
        out.u32(made(&self.count_call));
        out.u32(made(&self.byte_count_call));
        true
    }

    fn read_state(&mut self, _cx: &mut Cx<'_>, state: &mut StateReader) -> Result<(), BadState> {
        state.form(FORM)?;
        self.packets += state.u64()?;
        self.bytes += state.u64()?;
        for trigger in [&mut self.count_call, &mut self.byte_count_call] {
            let made = state.u32()? != 0;
            if let Some(trigger) = trigger {
                trigger.made |= made;
            }
        }
        self.check_calls();
        Ok(())
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("count", |e: &mut Counter, _| e.packets).merged(Merge::Sum).measures(&metric::PACKETS);
        h.read("byte_count", |e: &mut Counter, _| e.bytes).merged(Merge::Sum).measures(&metric::BYTES);
        h.read("rate", |e: &mut Counter, cx| e.rate.read(cx.now_ns(), 1)).merged(Merge::Sum);
        h.read("byte_rate", |e: &mut Counter, cx| e.byte_rate.read(cx.now_ns(), 1)).merged(Merge::Sum);
        h.read("bit_rate", |e: &mut Counter, cx| e.byte_rate.read(cx.now_ns(), 8)).merged(Merge::Sum);
        for name in ["reset", "reset_counts"] {
            h.write(name, |e: &mut Counter, _, _| {
                e.reset();
                Ok(())
            })
            .as_button();
        }
        h.read("count_call", |e: &mut Counter, _| {
            e.count_call.as_ref().map_or(String::new(), |t| t.at.to_string())
        });
        h.write("count_call", |e: &mut Counter, cx, text| {
            e.count_call = Counter::trigger(cx, text, "count_call")?;
            e.check_calls();
            Ok(())
        });
        h.write("byte_count_call", |e: &mut Counter, cx, text| {
            e.byte_count_call = Counter::trigger(cx, text, "byte_count_call")?;
            e.check_calls();
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
    /// A call is made once, again after a reset, and can be replaced.
    #[test]
    fn calls_are_made_once() {
        let config = "InfiniteSource(LIMIT 10, BURST 10, STOP true) -> c :: Counter(COUNT_CALL 3 c.reset)
                      -> e :: Counter(BYTE_COUNT_CALL 70 c.count_call 9) -> d :: Discard;";
        assert_eq!(run_and_read(config, &["c.count_call", "e.count"])[1], "10");
    }

    /// Rates are read as Click prints them.
    #[test]
    fn rates_are_those_of_the_source() {
        let config = "RatedSource(RATE 1000, LENGTH 100, LIMIT 2000, STOP true) -> c :: Counter -> Discard";
        for (value, expected) in
            run_and_read(config, &["c.rate", "c.byte_rate", "c.bit_rate"]).iter().zip([1e3, 1e5, 8e5])
        {
            let rate: f64 = value.parse().expect("a number");
            assert!((rate - expected).abs() < expected / 10.0, "{value}");
        }
    }
}
