//! Lets through packets whose timestamps lie in a range.
//!
//! ```click
//! TimeFilter([START, END, KEYWORDS])
//! ```
//!
//! Passes packets with timestamps of at least START and before END. Other packets leave by output 1 if it is
//! connected, and are dropped otherwise.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic; output 1 is push. Workers: exclusive.
//!
//! # Arguments
//! - `START` (time since the epoch), `START_AFTER` (time since the first packet's timestamp) or `START_DELAY` (time since
//!   the router started): the start of the range; at most one of them. The default is the first packet's timestamp.
//! - `END`, `END_AFTER`, `END_DELAY`, or `INTERVAL` (time since the start): the end of the range; at most one of
//!   them. By default there is no end.
//! - `STOP` (boolean, default false): whether to stop the driver at the first packet past the end.
//! - `END_CALL` (handler call): called at the first packet past the end, instead of stopping the driver. If the call
//!   moves the end, the packet is checked again. `$t` in its value stands for that packet's timestamp.
//!
//! # Handlers
//! - `start`, `end` (read, write): the range, as times since the epoch. Writing the end re-arms END_CALL.
//! - `interval` (read, write): the length of the range.
//! - `extend_interval` (write): moves the end by the given time.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> TimeFilter(START_AFTER 10, INTERVAL 60) -> ToDump(minute.pcap)
//! ```
//!
//! # See also
//! SetTimestamp, TimeRange

use elements_shared::instant::Instant;
use elements_shared::label::write_time;
use elements_shared::verdict::reject;
use packet::Batch;
use router::{
    Answer, Call, CallArg, Class, Config, ConfigError, Cx, Element, FromArg, Handlers, Pull, Residency,
    Scope, Step, Verdict,
};
use std::any::Any;

/// The class.
pub(crate) const CLASS: Class = Class::new("TimeFilter", create)
    .ports("1/1-2")
    .processing("a/ah")
    .residency(Residency::Exclusive)
    .doc(router::manual!("time_filter.rs"));

/// A time, in nanoseconds; 0 if it was not given.
#[derive(Clone, Copy, Default)]
struct Time(i64);

impl FromArg for Time {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        let span = std::time::Duration::from_arg(text, scope)?;
        i64::try_from(span.as_nanos()).map(Time).map_err(|_| "out of range".to_owned())
    }
}

/// From when a time counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Epoch,
    Initialized,
    FirstPacket,
    /// The start of the range.
    Start,
}

struct TimeFilter {
    start_ns: i64,
    end_ns: i64,
    start_from: Origin,
    end_from: Origin,
    /// Whether the first packet was seen.
    ready: bool,
    end_call: Option<Call>,
    /// Whether the call is still to be made.
    armed: bool,
    second: bool,
}

/// The one of several times that was given, and whence it counts.
fn only(times: &[(Time, Origin)], message: &str) -> Result<Option<(i64, Origin)>, ConfigError> {
    let mut given = times.iter().filter(|(time, _)| time.0 != 0).map(|(time, origin)| (time.0, *origin));
    match (given.next(), given.next()) {
        (time, None) => Ok(time),
        _ => Err(message.into()),
    }
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let [mut start, mut end] = [Instant::default(); 2];
    let [mut start_delay, mut start_after] = [Time::default(); 2];
    let [mut end_delay, mut end_after, mut interval] = [Time::default(); 3];
    let (mut stop, mut end_call) = (false, None::<CallArg>);
    config
        .args()
        .positional("START", &mut start)
        .positional("END", &mut end)
        .keyword("START_DELAY", &mut start_delay)
        .keyword("END_DELAY", &mut end_delay)
        .keyword("START_AFTER", &mut start_after)
        .keyword("END_AFTER", &mut end_after)
        .keyword("INTERVAL", &mut interval)
        .keyword("STOP", &mut stop)
        .keyword("END_CALL", &mut end_call)
        .finish()?;
    let starts = [
        (Time(start.0), Origin::Epoch),
        (start_delay, Origin::Initialized),
        (start_after, Origin::FirstPacket),
    ];
    let ends = [
        (Time(end.0), Origin::Epoch),
        (end_delay, Origin::Initialized),
        (end_after, Origin::FirstPacket),
        (interval, Origin::Start),
    ];
    let start = only(&starts, "START, START_AFTER, and START_AFTER_INIT are mutually exclusive")?;
    let end = only(&ends, "END, END_AFTER, END_AFTER_INIT, and INTERVAL are mutually exclusive")?;
    if stop && end_call.is_some() {
        return Err("END_CALL and STOP are mutually exclusive".into());
    }
    let end_call = end_call.map(|call| call.0).or_else(|| stop.then(|| Call::write("stop", "")));
    let (start_ns, start_from) = start.unwrap_or((0, Origin::FirstPacket));
    let (end_ns, end_from) = end.unwrap_or((i64::MAX, Origin::Epoch));
    let (armed, second) = (end_call.is_some(), config.outputs() > 1);
    Ok(Box::new(TimeFilter { start_ns, end_ns, start_from, end_from, ready: false, end_call, armed, second }))
}

fn shown(time_ns: i64) -> String {
    let mut text = String::new();
    write_time(&mut text, time_ns);
    text
}

/// What is left of a batch while the handler is called.
struct Waiting {
    batch: Batch,
    /// Whether the packets were pulled.
    pulled: bool,
    end_ns: i64,
}

impl TimeFilter {
    /// Settles the times that count from `origin`.
    fn settle(&mut self, origin: Origin, at_ns: i64) {
        if self.start_from == origin {
            self.start_ns = self.start_ns.saturating_add(at_ns);
            self.start_from = Origin::Epoch;
        }
        if self.end_from == origin {
            self.end_ns = self.end_ns.saturating_add(at_ns);
            self.end_from = Origin::Epoch;
        }
    }

    fn see_first(&mut self, stamp_ns: i64) {
        self.settle(Origin::FirstPacket, stamp_ns);
        self.settle(Origin::Start, self.start_ns);
        self.ready = true;
    }

    /// Whether the call is due at a packet.
    #[inline]
    fn calls_at(&self, stamp_ns: i64) -> bool {
        self.armed && stamp_ns >= self.end_ns && stamp_ns >= self.start_ns
    }

    /// Packets up to the first at which the call is due; and the rest.
    fn split(&mut self, cx: &mut Cx<'_>, batch: &mut Batch) -> Option<Batch> {
        if let Some(first) = batch.packets().first().filter(|_| !self.ready) {
            self.see_first(first.timestamp_ns());
        }
        let at = batch.iter().position(|packet| self.calls_at(packet.timestamp_ns()))?;
        let mut rest = cx.batch();
        batch.split_off(at, &mut rest);
        Some(rest)
    }

    #[inline]
    fn decide(&self, stamp_ns: i64) -> Verdict {
        if (self.start_ns..self.end_ns).contains(&stamp_ns) {
            Verdict::Pass
        } else {
            reject(self.second, "outside the time range")
        }
    }

    fn filter(&self, cx: &mut Cx<'_>, batch: Batch) {
        cx.scatter(batch, |_, packet| self.decide(packet.timestamp_ns()));
    }

    fn wait(&self, cx: &mut Cx<'_>, batch: Batch, pulled: bool) {
        cx.handlers().start(Box::new(Waiting { batch, pulled, end_ns: self.end_ns }));
    }
}

impl Element for TimeFilter {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.settle(Origin::Initialized, cx.now_ns());
        self.end_call.as_ref().map_or(Ok(()), |call| call.check_by(cx))?;
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) {
        let rest = self.split(cx, &mut batch);
        self.filter(cx, batch);
        if let Some(rest) = rest {
            self.wait(cx, rest, false);
        }
    }

    fn pull(&mut self, _cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        // One at a time while a call may be due, so that no packet has to wait for its answer behind others.
        Pull::Ask { input: 0, want: if self.armed { 1 } else { want } }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) -> Pull {
        if let Some(rest) = self.split(cx, &mut batch) {
            cx.consume(batch);
            self.wait(cx, rest, true);
            return Pull::Later;
        }
        Pull::Give(cx.sift(batch, |_, packet| self.decide(packet.timestamp_ns())))
    }

    fn resume(&mut self, cx: &mut Cx<'_>, state: &mut Box<dyn Any + Send>, answer: Answer) -> Step {
        let Some(waiting) = state.downcast_mut::<Waiting>() else { return Step::Done(Ok(String::new())) };
        let moved = matches!(answer, Answer::Start) || self.end_ns > waiting.end_ns;
        waiting.end_ns = self.end_ns;
        let stamps = || waiting.batch.packets().iter().map(|packet| packet.timestamp_ns());
        let due = stamps().find(|&stamp_ns| self.calls_at(stamp_ns)).filter(|_| moved && self.armed);
        if let Some((mut call, stamp_ns)) = self.end_call.clone().zip(due) {
            self.armed = false;
            call.argument = lang::expand(&call.argument, &|name| (name == "t").then(|| shown(stamp_ns)));
            if call.stops().is_none() {
                return Step::Call(call.within(cx.index()));
            }
            cx.handlers().call_at_end(call);
        }
        let batch = std::mem::take(&mut waiting.batch);
        if waiting.pulled {
            let passed = cx.sift(batch, |_, packet| self.decide(packet.timestamp_ns()));
            cx.answer(passed);
        } else {
            self.push(cx, 0, batch);
        }
        Step::Done(Ok(String::new()))
    }

    fn handlers(&self, h: &mut Handlers) {
        type T = TimeFilter;
        h.read("start", move |e: &mut T, _| shown(e.start_ns));
        h.read("end", move |e: &mut T, _| shown(e.end_ns));
        h.read("interval", move |e: &mut T, _| shown(e.end_ns.saturating_sub(e.start_ns)));
        let time = |cx: &Cx<'_>, text: &str| {
            router::value::<Time>(cx, text).map(|time| time.0).map_err(|_| "expected time".to_owned())
        };
        let instant = |cx: &Cx<'_>, text: &str| {
            router::value::<Instant>(cx, text).map(|time| time.0).map_err(|_| "expected time".to_owned())
        };
        h.write("start", move |e: &mut T, cx, text| {
            let start_ns = instant(cx, text)?;
            if !e.ready {
                e.see_first(start_ns);
            }
            (e.start_ns, e.start_from) = (start_ns, Origin::Epoch);
            Ok(())
        });
        let end_at = |e: &mut T, end_ns: i64| {
            (e.end_ns, e.end_from, e.armed) = (end_ns, Origin::Epoch, e.end_call.is_some());
            Ok(())
        };
        h.write("end", move |e: &mut T, cx, text| end_at(e, instant(cx, text)?));
        h.write("interval", move |e: &mut T, cx, text| end_at(e, e.start_ns.saturating_add(time(cx, text)?)));
        h.write("extend_interval", move |e: &mut T, cx, text| {
            end_at(e, e.end_ns.saturating_add(time(cx, text)?))
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run, run_and_read};

    fn passed(arguments: &str) -> [String; 2] {
        let config = format!(
            "TimedSource(1, LIMIT 9, STOP true) -> SetTimestamp -> f :: TimeFilter({arguments}) -> a :: Discard; f[1] -> b :: Discard"
        );
        let read = run_and_read(&config, &["a.count", "b.count"]);
        [read[0].clone(), read[1].clone()]
    }

    #[test]
    fn what_lies_in_the_range_passes() {
        for (arguments, within) in [
            ("", "9"),
            ("START_AFTER 2.5", "6"),
            ("END_AFTER 2.5", "3"),
            ("START_AFTER 2.5, INTERVAL 3", "3"),
            ("START_AFTER 2.5, END_AFTER 4.5", "2"),
            ("START_DELAY 3.5", "6"),
            ("START 5", "9"),
            ("END 5", "0"),
        ] {
            assert_eq!(passed(arguments)[0], within, "{arguments}");
        }
        assert_eq!(passed("END_AFTER 4.5"), ["5", "4"]);
    }

    /// The call comes at the first packet past the end, which passes if the call has moved the end.
    #[test]
    fn call_at_the_end() {
        let config = "TimedSource(1, LIMIT 9, STOP true) -> SetTimestamp -> f :: TimeFilter(END_AFTER 2.5, END_CALL s.run) -> a :: Discard;
                      s :: Script(TYPE PASSIVE, print \"called\", write f.extend_interval 2)";
        assert_eq!(run_and_read(config, &["a.count"]), ["9"]);
        assert_eq!(run(config), "called\ncalled\ncalled\n");
        let config = "TimedSource(1, LIMIT 9, STOP true) -> SetTimestamp(7.5) -> TimeFilter(END 2, END_CALL s.run $t) -> Discard;
                      s :: Script(TYPE PASSIVE, print $1)";
        assert_eq!(run(config), "7.500000\n");
        let stopped = "TimedSource(1, LIMIT 9) -> SetTimestamp -> Queue -> TimeFilter(END_AFTER 2.5, STOP true) -> Unqueue -> a :: Discard";
        assert_eq!(run_and_read(stopped, &["a.count"]), ["3"]);
    }

    #[test]
    fn arguments_that_contradict() {
        for (arguments, message) in [
            ("START 1, START_AFTER 1", "START, START_AFTER, and START_AFTER_INIT are mutually exclusive"),
            ("END 1, INTERVAL 1", "END, END_AFTER, END_AFTER_INIT, and INTERVAL are mutually exclusive"),
            ("STOP true, END_CALL stop", "END_CALL and STOP are mutually exclusive"),
        ] {
            assert!(errors(&format!("Idle -> TimeFilter({arguments}) -> Discard")).contains(message));
        }
    }
}
