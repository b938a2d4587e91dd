//! Generates packets at a given rate.
//!
//! ```click
//! RatedSource([DATA, RATE, LIMIT, ACTIVE, KEYWORDS])
//! ```
//!
//! All packets contain DATA; there are RATE of them per second. It stops after LIMIT packets. To make up for scheduling
//! delays it sends short bursts, of up to RATE/100 packets, but at least two.
//!
//! Ports: no inputs, 1 output. Processing: agnostic. Workers: exclusive.
//!
//! # Arguments
//! - `DATA` (string): contents of the packets. The default is Click's text of 69 bytes.
//! - `RATE` (integer, default 10): packets per second.
//! - `LIMIT` (integer, default -1): packets to make; negative means no limit.
//! - `ACTIVE` (boolean, default true): whether to generate packets.
//! - `LENGTH` (integer, default -1): bytes of each packet: DATA is truncated or repeated to fit; negative means DATA
//!   as it is. `DATASIZE` is an older name.
//! - `STOP` (boolean, default false): whether to stop the driver after LIMIT packets.
//! - `END_CALL` (handler call): FastClick's; called after LIMIT packets.
//! - `BANDWIDTH` (bandwidth): bytes per second, instead of RATE.
//! - `HEADROOM` (integer): FastClick's; accepted. Packets have the usual headroom.
//!
//! # Handlers
//! - `count` (read): packets made.
//! - `reset` (write, button): sets the count to zero and starts again.
//! - `data`, `rate`, `limit`, `active`, `length` (read, write): the arguments. A value written to `data` is taken
//!   literally, without unquoting, and is not adjusted to LENGTH until `length` is written. `datasize` is an older
//!   name of `length`.
//!
//! # Example
//! ```click
//! RatedSource(RATE 1000, LIMIT 5000, STOP true) -> Counter -> Discard
//! ```
//!
//! # See also
//! InfiniteSource, Shaper

use super::contents::{Contents, DEFAULT_DATA, Filled, data_handlers, length_handlers};
use elements_shared::rate::{Bandwidth, TokenBucket};
use packet::Batch;
use router::{
    Activity, Bytes, Call, Class, Config, ConfigError, Cx, Element, Flags, Handlers, Pull, Residency, metric,
};

/// The class.
pub(crate) const CLASS: Class = Class::new("RatedSource", create)
    .ports("0/1")
    .activity(Activity::Always)
    .residency(Residency::Exclusive)
    .makes("packets")
    .doc(router::manual!("rated_source.rs"));

struct RatedSource {
    contents: Contents,
    bucket: TokenBucket,
    limit: i32,
    active: bool,
    stop: bool,
    /// What is to be called after the last packet.
    end_call: Option<Call>,
    /// Whether that has been done.
    ended: bool,
    count: u64,
    push: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut data = Bytes(DEFAULT_DATA.to_vec());
    let (mut rate, mut length, mut datasize) = (10, -1, None);
    let (mut bandwidth, mut headroom, mut end_call) = (Bandwidth::default(), 0u32, None::<router::CallArg>);
    let mut e = RatedSource {
        contents: Contents::default(),
        bucket: TokenBucket::default(),
        limit: -1,
        active: true,
        stop: false,
        end_call: None,
        ended: false,
        count: 0,
        push: config.output_is_push(0),
    };
    config
        .args()
        .positional("DATA", &mut data)
        .positional("RATE", &mut rate)
        .positional("LIMIT", &mut e.limit)
        .positional("ACTIVE", &mut e.active)
        .keyword("LENGTH", &mut length)
        .keyword("DATASIZE", &mut datasize)
        .keyword("STOP", &mut e.stop)
        .keyword("END_CALL", &mut end_call)
        .keyword("BANDWIDTH", &mut bandwidth)
        .keyword("HEADROOM", &mut headroom)
        .finish()?;
    e.contents = Contents::new(data.0, datasize.unwrap_or(length));
    e.end_call = end_call.map(|call| call.0);
    let mut burst = burst(rate);
    if bandwidth.0 > 0 {
        let bytes = u32::try_from(e.contents.len()).unwrap_or(u32::MAX).max(1);
        rate = bandwidth.0 / bytes;
        // As in Click, it is the argument LENGTH that makes bursts longer.
        let length = u32::try_from(e.contents.length).unwrap_or(0);
        burst = self::burst(rate).max(length.saturating_mul(2));
    }
    e.bucket = TokenBucket::new(rate, burst);
    Ok(Box::new(e))
}

/// Packets that may be made up for.
fn burst(rate: u32) -> u32 {
    if rate < 200 { 2 } else { rate / 100 }
}

impl RatedSource {
    /// Packets that the limit still allows.
    fn allowed(&self) -> usize {
        u64::try_from(self.limit).map_or(usize::MAX, |limit| limit.saturating_sub(self.count) as usize)
    }

    /// As many packets as are due, of `want`.
    fn make(&mut self, cx: &mut Cx<'_>, want: usize) -> Batch {
        let now = cx.now_ns();
        self.bucket.refill(now);
        let packets = self.bucket.take(want.min(self.allowed()).min(packet::BATCH_MAX));
        let batch = self.contents.make(cx, packets, now);
        self.count += batch.len() as u64;
        batch
    }

    /// After the last packet: does what was asked for then. A call is made once, the driver is stopped again.
    fn end(&mut self, cx: &mut Cx<'_>) {
        if let Some(call) = self.end_call.as_ref().filter(|_| !self.ended) {
            cx.handlers().call_at_end(call.clone());
        }
        self.ended = true;
        if self.stop {
            cx.info().please_end();
        }
    }

    fn sleep(&self, cx: &mut Cx<'_>) {
        if let Some(at) = self.bucket.next_ns(cx.now_ns()) {
            cx.timers().at(0, at);
        }
    }

    /// Runs (again), or lets pullers ask.
    fn wake(&self, cx: &mut Cx<'_>) {
        if self.push { cx.tasks().schedule() } else { cx.signals().set(true) }
    }
}

impl Filled for RatedSource {
    const FITS: bool = false;

    fn contents(&mut self) -> &mut Contents {
        &mut self.contents
    }
}

impl Element for RatedSource {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.end_call.as_ref().map_or(Ok(()), |call| call.check_by(cx))?;
        self.bucket.set(1);
        if self.push {
            cx.tasks().schedule();
        } else {
            cx.signals().provide();
        }
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        if !self.active {
            return;
        }
        if self.allowed() == 0 {
            return self.end(cx);
        }
        let batch = self.make(cx, cx.vector());
        if batch.is_empty() {
            cx.consume(batch);
            return self.sleep(cx);
        }
        cx.emit(0, batch);
        cx.tasks().schedule();
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        self.wake(cx);
    }

    fn pull(&mut self, cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        if !self.active || self.allowed() == 0 {
            if self.active {
                self.end(cx);
            }
            cx.signals().set(false);
            return Pull::Nothing;
        }
        let batch = self.make(cx, want);
        if batch.is_empty() {
            cx.signals().set(false);
            self.sleep(cx);
        }
        Pull::Give(batch)
    }

    fn handlers(&self, h: &mut Handlers) {
        type S = RatedSource;
        h.read("count", |e: &mut S, _| e.count).measures(&metric::PACKETS);
        h.write("reset", |e: &mut S, cx, _| {
            (e.count, e.ended) = (0, false);
            e.bucket.set(1);
            e.wake(cx);
            Ok(())
        })
        .as_button();
        data_handlers::<S>(h);
        h.read("rate", |e: &mut S, _| e.bucket.rate());
        h.write("rate", |e: &mut S, cx, text| {
            let rate = router::value(cx, text).map_err(|_| "syntax error".to_owned())?;
            e.bucket.adjust(rate, burst(rate));
            if e.allowed() > 0 {
                e.wake(cx);
            }
            Ok(())
        });
        h.read("limit", |e: &mut S, _| e.limit.max(-1)).flagged(Flags::CALM);
        h.write("limit", |e: &mut S, cx, text| {
            e.limit = router::value(cx, text).map_err(|_| "syntax error".to_owned())?;
            e.ended = false;
            Ok(())
        });
        h.read("active", |e: &mut S, _| e.active).flagged(Flags::CHECKBOX);
        h.write("active", |e: &mut S, cx, text| {
            e.active = router::value(cx, text).map_err(|_| "syntax error".to_owned())?;
            if e.active {
                e.bucket.set(1);
                e.wake(cx);
            }
            Ok(())
        });
        length_handlers::<S>(h, Flags::default(), "syntax error");
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{run, run_and_read};

    /// The stamps are a tenth of a second apart, after the two that come at once.
    #[test]
    fn packets_are_evenly_spaced() {
        let lines =
            run("RatedSource(DATA x, LIMIT 5, STOP true) -> Print(TIMESTAMP true, MAXLENGTH 0) -> Discard");
        let times: Vec<_> = lines.lines().filter_map(|line| line.split(':').next()).collect();
        let expected = ["1000000000.000000", "1000000000.000000", "1000000000.101000", "1000000000.201000"];
        assert_eq!((times.len(), &times[..2]), (5, &expected[..2]));
        let gaps: Vec<f64> = times[1..]
            .windows(2)
            .map(|w| w[1].parse::<f64>().unwrap_or(0.0) - w[0].parse::<f64>().unwrap_or(0.0))
            .collect();
        assert!(gaps.iter().all(|gap| (gap - 0.1).abs() < 0.0015), "{gaps:?}");
    }

    #[test]
    fn pushed_and_pulled_sources_keep_in_step() {
        let config = "s :: RatedSource(RATE 1000, LIMIT 3000, LENGTH 100, STOP true) -> d :: Discard;
                      t :: RatedSource(BANDWIDTH 40kBps, LENGTH 100) -> e :: Discard(BURST 4)";
        let values = run_and_read(config, &["s.count", "d.byte_count", "s.rate", "t.rate", "e.count"]);
        assert_eq!(values[..2], ["3000", "300000"]);
        let number = |i: usize| values[i].parse::<u64>().unwrap_or(0);
        assert!(number(2).abs_diff(1000) <= 1 && number(3).abs_diff(400) <= 1, "{values:?}");
        // The second may have made up its burst, of 200 packets, in advance.
        assert!((1190..=1410).contains(&number(4)), "{values:?}");
    }

    /// The call comes after the last packet, once, and again after the next last one.
    #[test]
    fn end_call() {
        let config = "s :: RatedSource(RATE 100, LIMIT 5, END_CALL t.run) -> d :: Discard;
                      t :: Script(TYPE PASSIVE, set n $(add $n 1), print $(d.count), return);
                      Script(wait 1, write s.reset, wait 1, print $(t.get n), stop)";
        assert_eq!(run(config), "5\n10\n2\n");
    }

    /// Only LENGTH makes up for a bandwidth in longer bursts.
    #[test]
    fn bursts_of_a_bandwidth() {
        let burst = |length: &str| {
            let config = format!(
                "RatedSource(BANDWIDTH 690Bps{length}) -> u :: Unqueue(ACTIVE false) -> c :: Counter -> Discard;
                 Script(wait 100, write u.active true, wait 0.01, stop)"
            );
            run_and_read(&config, &["c.count"])[0].parse::<u32>().unwrap_or(0)
        };
        assert_eq!((burst(""), burst(", LENGTH 69")), (2, 138));
    }
}
