//! Generates packets as fast as it can.
//!
//! ```click
//! InfiniteSource([DATA, LIMIT, BURST, ACTIVE, KEYWORDS])
//! ```
//!
//! All packets contain DATA. It pushes BURST of them each time it is scheduled; on a pull output it makes one for
//! each pull. It stops after LIMIT packets, and waits while all queues downstream are full.
//!
//! Ports: no inputs, 1 output. Processing: agnostic. Workers: replicated; starts on worker 0.
//!
//! # Arguments
//! - `DATA` (string): contents of the packets. The default is Click's text of 69 bytes.
//! - `LIMIT` (integer, default -1): packets to make; negative means no limit.
//! - `BURST` (integer, default 1): packets per scheduling, at most 4,096.
//! - `ACTIVE` (boolean, default true): whether to generate packets.
//! - `LENGTH` (integer, default -1): bytes of each packet: DATA is truncated or repeated to fit; negative means DATA
//!   as it is. `DATASIZE` is an older name.
//! - `TIMESTAMP` (boolean, default true): whether packets carry the time at which they were made.
//! - `STOP` (boolean, default false): whether to stop the driver after LIMIT packets.
//! - `END_CALL` (handler call): called after LIMIT packets, instead of stopping the driver.
//! - `HEADROOM` (integer): FastClick's; accepted. Packets have the usual headroom.
//!
//! # Handlers
//! - `count` (read): packets made.
//! - `reset` (write, button): sets the count to zero and starts again.
//! - `data`, `limit`, `burst`, `active`, `length` (read, write): the arguments. A value written to `data` is taken
//!   literally, without unquoting. `burstsize` and `datasize` are older names of `burst` and `length`.
//! - `config` (write): replaces all arguments, and sets the count to zero. A source that has stopped needs a `reset`
//!   to go on.
//!
//! # Example
//! ```click
//! InfiniteSource(DATA \<00 01 02>, LIMIT 5, STOP true) -> Print -> Discard
//! ```
//!
//! # See also
//! RatedSource, Discard

use super::burst::AT_ONCE;
use super::contents::{Contents, DEFAULT_DATA, Filled, data_handlers, length_handlers};
use packet::Batch;
use router::{
    Activity, Args, Bytes, Call, Class, Config, ConfigError, Cx, Element, Flags, Handlers, Merge, Pull,
    metric,
};

/// The class.
pub(crate) const CLASS: Class = Class::new("InfiniteSource", create)
    .ports("0/1")
    .activity(Activity::Always)
    .live()
    .makes("packets")
    .doc(router::manual!("infinite_source.rs"));

struct InfiniteSource {
    contents: Contents,
    limit: i64,
    burst: usize,
    active: bool,
    timestamp: bool,
    stop: bool,
    end_call: Option<Call>,
    count: u64,
    push: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    Ok(Box::new(InfiniteSource::read(config.args(), config.output_is_push(0))?))
}

/// Makes a source of random packets.
pub(super) fn create_random(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    Ok(Box::new(InfiniteSource::read_random(config.args(), config.output_is_push(0))?))
}

impl InfiniteSource {
    /// One with these arguments.
    fn read(args: Args<'_, '_>, push: bool) -> Result<InfiniteSource, ConfigError> {
        let mut data = Bytes(DEFAULT_DATA.to_vec());
        let (mut length, mut datasize, mut burst) = (-1, None, 1);
        let (mut end_call, mut headroom) = (None::<router::CallArg>, 0u32);
        let mut e = InfiniteSource::plain(push);
        args.positional("DATA", &mut data)
            .positional("LIMIT", &mut e.limit)
            .positional("BURST", &mut burst)
            .positional("ACTIVE", &mut e.active)
            .keyword("LENGTH", &mut length)
            .keyword("DATASIZE", &mut datasize)
            .keyword("TIMESTAMP", &mut e.timestamp)
            .keyword("STOP", &mut e.stop)
            .keyword("END_CALL", &mut end_call)
            .keyword("HEADROOM", &mut headroom)
            .finish()?;
        e.check(burst, end_call)?;
        e.contents = Contents::new(data.0, datasize.unwrap_or(length));
        Ok(e)
    }

    /// One of random packets.
    fn read_random(args: Args<'_, '_>, push: bool) -> Result<InfiniteSource, ConfigError> {
        let (mut length, mut burst, mut end_call) = (0i32, 1, None::<router::CallArg>);
        let mut e = InfiniteSource::plain(push);
        args.required("LENGTH", &mut length)
            .positional("LIMIT", &mut e.limit)
            .positional("BURST", &mut burst)
            .positional("ACTIVE", &mut e.active)
            .keyword("TIMESTAMP", &mut e.timestamp)
            .keyword("STOP", &mut e.stop)
            .keyword("END_CALL", &mut end_call)
            .finish()?;
        if !(0..64 * 1024).contains(&length) {
            return Err(format!("bad length {length}").into());
        }
        e.check(burst, end_call)?;
        e.contents = Contents::random(length);
        Ok(e)
    }

    /// What it is unless the arguments say otherwise.
    fn plain(push: bool) -> InfiniteSource {
        InfiniteSource {
            contents: Contents::default(),
            limit: -1,
            burst: 1,
            active: true,
            timestamp: true,
            stop: false,
            end_call: None,
            count: 0,
            push,
        }
    }

    /// Checks arguments, and takes the ones for the burst and the end.
    fn check(&mut self, burst: i32, end_call: Option<router::CallArg>) -> Result<(), ConfigError> {
        if burst < 1 {
            return Err("burst size must be >= 1".into());
        }
        self.burst = burst as usize;
        if self.stop && end_call.is_some() {
            return Err("END_CALL and STOP are mutually exclusive".into());
        }
        self.end_call = end_call.map(|call| call.0);
        Ok(())
    }

    /// Packets that may be made now, of `want`.
    fn allowed(&self, want: usize) -> usize {
        match u64::try_from(self.limit) {
            Ok(limit) => want.min(usize::try_from(limit.saturating_sub(self.count)).unwrap_or(usize::MAX)),
            Err(_) => want,
        }
    }

    fn make(&mut self, cx: &mut Cx<'_>, packets: usize) -> Batch {
        let timestamp_ns = if self.timestamp { cx.now_ns() } else { 0 };
        let batch = self.contents.make(cx, packets, timestamp_ns);
        self.count += batch.len() as u64;
        batch
    }

    /// Makes a packet that travels alone.
    fn emit_one(&mut self, cx: &mut Cx<'_>) {
        let timestamp_ns = if self.timestamp { cx.now_ns() } else { 0 };
        if let Some(packet) = self.contents.make_one(cx, timestamp_ns) {
            self.count += 1;
            cx.emit_packet(0, packet);
        }
    }

    /// Once the limit is reached: does what was asked for then.
    fn check_end(&mut self, cx: &mut Cx<'_>) {
        if self.allowed(1) > 0 {
            return;
        }
        if let Some(call) = &self.end_call {
            cx.handlers().call_at_end(call.clone());
        }
        if self.stop {
            cx.info().please_end();
        }
    }

    fn wake(&mut self, cx: &mut Cx<'_>) {
        if !self.active || self.allowed(1) == 0 {
            return;
        }
        if self.push { cx.tasks().schedule() } else { cx.signals().set(true) }
    }
}

impl Filled for InfiniteSource {
    fn contents(&mut self) -> &mut Contents {
        &mut self.contents
    }

    fn refilled(&mut self, cx: &mut Cx<'_>) {
        self.wake(cx);
    }
}

impl Element for InfiniteSource {
    fn reconfigure(&mut self, cx: &mut Cx<'_>, config: &str) -> Option<Result<(), ConfigError>> {
        let read = if self.contents.is_random() { InfiniteSource::read_random } else { InfiniteSource::read };
        Some(read(router::arguments(cx, config), self.push).map(|new| *self = new))
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.end_call.as_ref().map_or(Ok(()), |call| call.check_by(cx))?;
        if !self.push {
            cx.signals().provide();
        }
        if self.push {
            cx.signals().listen_room(0);
            if self.active {
                cx.tasks().schedule(); // also with nothing to make: the end is announced then
            }
        }
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        if !self.active || !cx.signals().has_room(0) {
            return;
        }
        let burst = self.burst.min(AT_ONCE);
        let runs = cx.tasks().runs_at_once(burst);
        let mut rest = self.allowed(burst.saturating_mul(runs));
        let some = rest > 0;
        if rest == 1 {
            self.emit_one(cx);
            rest = 0;
        } else {
            cx.tasks().count_runs(rest.div_ceil(burst));
        }
        while rest > 0 {
            let batch = self.make(cx, rest.min(cx.vector()));
            rest = if batch.is_empty() { 0 } else { rest - batch.len() };
            cx.emit(0, batch);
        }
        if some {
            cx.tasks().schedule();
        } else {
            self.check_end(cx);
        }
    }

    fn pull(&mut self, cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        if !self.active {
            cx.signals().set(false);
            return Pull::Nothing;
        }
        let n = self.allowed(want);
        if n == 0 {
            if cx.signals().is_active() {
                cx.signals().set(false);
                self.check_end(cx);
            }
            return Pull::Nothing;
        }
        Pull::Give(self.make(cx, n))
    }

    fn handlers(&self, h: &mut Handlers) {
        type S = InfiniteSource;
        h.read("count", |e: &mut S, _| e.count).merged(Merge::Sum).measures(&metric::PACKETS);
        h.write("reset", |e: &mut S, cx, _| {
            e.count = 0;
            e.wake(cx);
            Ok(())
        })
        .as_button();
        if !self.contents.is_random() {
            data_handlers::<S>(h);
        }
        h.read("limit", |e: &mut S, _| e.limit).flagged(Flags::CALM);
        h.write("limit", |e: &mut S, cx, text| {
            e.limit = router::value(cx, text).map_err(|_| "limit parameter must be integer".to_owned())?;
            e.wake(cx);
            Ok(())
        });
        for (name, flags) in [("burst", Flags::CALM), ("burstsize", Flags::CALM | Flags::DEPRECATED)] {
            h.read(name, |e: &mut S, _| e.burst).flagged(flags);
            h.write(name, |e: &mut S, cx, text| {
                e.burst = match router::value::<i32>(cx, text) {
                    Ok(burst @ 1..) => burst as usize,
                    _ => return Err("burstsize parameter must be integer >= 1".to_owned()),
                };
                e.wake(cx);
                Ok(())
            });
        }
        h.read("active", |e: &mut S, _| e.active).flagged(Flags::CHECKBOX);
        h.write("active", |e: &mut S, cx, text| {
            e.active = router::value(cx, text).map_err(|_| "active parameter must be boolean".to_owned())?;
            e.wake(cx);
            Ok(())
        });
        length_handlers::<S>(h, Flags::CALM, "length must be integer");
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run_and_read};

    /// A burst that would fill memory before its first packet is treated comes in several schedulings.
    #[test]
    fn bursts_are_bounded() {
        let config = "s :: InfiniteSource(LIMIT 100000, STOP true) -> c :: Counter(COUNT_CALL 1 s.burstsize 1000000000)
                      -> d :: Discard";
        let read = run_and_read(config, &["d.count", "s.burst", "s.runs"]);
        assert_eq!(read[..2], ["100000", "1000000000"]);
        let runs: usize = read[2].parse().unwrap();
        assert!(runs >= 100_000 / super::AT_ONCE, "{runs}");
    }

    /// The limit holds whatever the burst, and END_CALL sees all packets delivered.
    #[test]
    fn limit_and_end() {
        let config = "s :: InfiniteSource(LIMIT 10, BURST 4, END_CALL c.count_call 10 stop)
                      -> c :: Counter -> d :: Discard; InfiniteSource(LIMIT 20, STOP true) -> Discard";
        assert_eq!(run_and_read(config, &["s.count", "c.count", "c.count_call"]), ["10", "10", "10"]);
        let config = "s :: InfiniteSource(LIMIT 10, BURST 4, STOP true) -> d :: Discard";
        assert_eq!(run_and_read(config, &["s.count", "d.byte_count", "s.length"]), ["10", "690", "-1"]);
    }

    /// A call that stops the driver lets packets in queues arrive, as STOP does.
    #[test]
    fn a_stop_that_is_called_lets_packets_arrive() {
        for source in [
            "InfiniteSource(LIMIT 100, BURST 100, END_CALL stop)",
            "RatedSource(LIMIT 100, RATE 1000000, END_CALL stop)",
            "RandomSource(64, LIMIT 100, BURST 100, END_CALL stop)",
        ] {
            let config = format!("{source} -> Queue -> Unqueue -> d :: Discard");
            assert_eq!(run_and_read(&config, &["d.count"]), ["100"], "{source}");
        }
    }

    #[test]
    fn pulled_it_ends_after_the_last_packet() {
        let config = "s :: InfiniteSource(LIMIT 10, STOP true) -> d :: Discard(BURST 4)";
        assert_eq!(run_and_read(config, &["s.count", "d.count"]), ["10", "10"]);
    }

    /// Simulated time passes beside a source that never rests, too.
    #[test]
    fn without_rest() {
        let config = "s :: InfiniteSource -> Discard; t :: TimedSource(0.01) -> d :: Discard;
                      DriverManager(wait 0.055s, stop)";
        assert_eq!(run_and_read(config, &["d.count"]), ["5"]);
    }

    #[test]
    fn bad_arguments_are_all_reported() {
        let text = errors("InfiniteSource(LIMIT x, LENGTH y) -> Discard");
        for part in ["LIMIT: ", "LENGTH: "] {
            assert!(text.contains(part), "{text}");
        }
        assert!(errors("InfiniteSource(BURST 0) -> Discard").contains("burst size must be >= 1"));
        assert!(errors("RandomSource(9, BURST -1) -> Discard").contains("burst size must be >= 1"));
        assert!(errors("InfiniteSource(BURST 3000000000) -> Discard").contains("bound 2147483647"));
        assert!(errors("InfiniteSource(STOP true, END_CALL stop) -> Discard").contains("mutually exclusive"));
    }
}
