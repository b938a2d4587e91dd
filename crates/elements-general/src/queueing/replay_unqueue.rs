//! Pulls packets once and replays them repeatedly.
//!
//! ```click
//! ReplayUnqueue([KEYWORDS])
//! MultiReplayUnqueue([KEYWORDS])
//! ```
//!
//! Pulls packets until there are no more, stores them, and then pushes copies of all of them, in order, STOP times.
//! After that it stops the driver. The packets stay in memory: LIMIT bounds how many. If nothing arrives within a
//! millisecond, nothing is stored, and there is nothing to push.
//!
//! With several inputs, packets are taken from all of them in the order of their timestamps, until one input is
//! exhausted. Each packet leaves by the output with its input's number, which also becomes its colour.
//!
//! They are FastClick's elements; packets keep their original timestamps and annotations.
//!
//! Ports: 1 or more inputs, as many outputs. Processing: pull to push. Workers: exclusive.
//!
//! # Arguments
//! - `STOP` (integer, default -1): how often to push all packets; negative means forever. With 0 it stops the driver
//!   once the packets are loaded, and becomes inactive: for scripts that set `stop` and `active` later.
//! - `BURST` (integer, default 64): packets per scheduling.
//! - `ACTIVE` (boolean, default true): whether to do anything.
//! - `LIMIT` (integer, default -1): packets to store; negative means all.
//! - `TIMING` (integer, default 0): the speed, in per cent of that of the packets' timestamps; 0 means as fast as
//!   possible.
//! - `VERBOSE` (boolean, default false): whether to print a message at the end of each round, and when the speed
//!   changes.
//! - `TIMING_FNT` (string): a formula for that speed, where `x` is the number of seconds since the first packet, as
//!   for FromDump: `100` keeps the original speed, `10 + min(90, 10 * x)` reaches it in 9 s. While the result is not
//!   positive, no packets are sent. `@1` and `@2` stand for a sine and a square wave of growing frequency, from
//!   100 per cent to TIMING times that, whose amplitude shrinks to nothing within STOP_TIME; `@0` means no formula.
//! - `STOP_TIME` (integer, default 0): seconds after which to stop, at the end of a round or while packets wait; 0
//!   means no limit.
//! - `QUICK_CLONE`, `USE_SIGNAL`, `FREEONTERMINATE` (boolean), `SLEEP` (integer): accepted; packets are always copied and freed.
//!
//! # Handlers
//! - `count` (read): packets pushed. `loaded` (read): whether the packets have been loaded. `packets` (read): how
//!   many are stored.
//! - `active` (read, write), `stop` (read, write), `timing` (read, write): the arguments; `stop` counts down.
//! - `reset` (write, button): discards the stored packets, so that new ones are pulled.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap) -> ReplayUnqueue(STOP 10) -> Discard;
//! ```
//!
//! # See also
//! Replay, MultiReplay, Unqueue, FromDump, TimedUnqueue

use super::recording::Recording;
use super::rounds::Rounds;
use elements_shared::formula::Formula;
use packet::{BATCH_MAX, Batch};
use router::{
    Activity, Class, Config, ConfigError, Cx, Element, Flags, Handlers, Pull, Residency, Verdict, metric,
};
use std::any::Any;

/// The class.
pub(crate) const CLASS: Class = Class::new("ReplayUnqueue", create)
    .ports("1-/=")
    .processing("l/h")
    .flow("#/#")
    .activity(Activity::Always)
    .residency(Residency::Exclusive)
    .copies()
    .holds("the recording")
    .absorbs("the recording when it is reset")
    .doc(router::manual!("replay_unqueue.rs"));

/// How often the formula is looked at while packets wait.
const NS_PER_MS: i64 = 1_000_000;

/// A packet's timestamp, and when it was pushed.
#[derive(Clone, Copy, Default)]
struct Pushed {
    stamp_ns: i64,
    at_ns: i64,
}

struct ReplayUnqueue {
    recording: Recording,
    rounds: Rounds,
    burst: usize,
    active: bool,
    timing: u32,
    /// The next packet to push.
    next: usize,
    /// From where on the pace has been what it is.
    anchor: Pushed,
    last: Pushed,
    /// What the pace is by now, in per cent.
    formula: Option<Formula>,
    count: u64,
}

/// What goes to a new configuration.
struct Handover {
    recording: Recording,
    rounds: Rounds,
    next: usize,
    anchor: Pushed,
    last: Pushed,
    active: bool,
    count: u64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut stop, mut burst, mut limit) = (-1, 64usize, -1i64);
    let (mut active, mut verbose, mut timing) = (true, false, 0);
    let (mut quick, mut signal, mut free) = (false, true, true);
    let (mut time, mut formula, mut sleep) = (0u32, String::new(), 0u32);
    config
        .args()
        .keyword("STOP", &mut stop)
        .keyword("BURST", &mut burst)
        .keyword("ACTIVE", &mut active)
        .keyword("LIMIT", &mut limit)
        .keyword("TIMING", &mut timing)
        .keyword("VERBOSE", &mut verbose)
        .keyword("QUICK_CLONE", &mut quick)
        .keyword("USE_SIGNAL", &mut signal)
        .keyword("FREEONTERMINATE", &mut free)
        .keyword("STOP_TIME", &mut time)
        .keyword("SLEEP", &mut sleep)
        .keyword("TIMING_FNT", &mut formula)
        .finish()?;
    let formula = match usual(&formula, timing, time).unwrap_or(formula) {
        none if matches!(none.trim(), "" | "@0") => None,
        text => Some(Formula::parse(&text).ok_or("TIMING_FNT: bad formula")?),
    };
    if let Some(formula) = &formula {
        timing = formula.value(0.0) as u32;
    }
    if burst == 0 {
        return Err("BURST must be positive".into());
    }
    Ok(Box::new(ReplayUnqueue {
        recording: Recording::new(config.inputs(), limit),
        rounds: Rounds::new(stop, time, verbose),
        burst,
        active,
        timing,
        next: 0,
        anchor: Pushed::default(),
        last: Pushed::default(),
        formula,
        count: 0,
    }))
}

/// The formula that a sign stands for.
fn usual(sign: &str, most: u32, seconds: u32) -> Option<String> {
    let wave = match sign {
        "@1" => "sin(-pi/2 + (x/10)^2.5)",
        "@2" => "-squarewave(((x + 40) * 1/50) ^ 5)",
        _ => return None,
    };
    Some(format!("100 * (({wave} * (-x/{seconds} + 1) + 1) * (({most} - 1) / 2) + 1)"))
}

impl ReplayUnqueue {
    /// When the next packet is due.
    fn due_ns(&self) -> i64 {
        let timing = i128::from(self.timing);
        match (timing, &self.formula) {
            _ if self.next == 0 => i64::MIN,
            (0, Some(_)) => i64::MAX,
            (0, None) => i64::MIN,
            _ => {
                let since = self.recording.packets[self.next].timestamp_ns() - self.anchor.stamp_ns;
                let scaled = i128::from(since) * 100 / timing;
                self.anchor.at_ns.saturating_add(i64::try_from(scaled).unwrap_or(i64::MAX))
            }
        }
    }

    /// Sees whether the formula says another pace by now, which counts from the last packet on.
    fn change_pace(&mut self, cx: &Cx<'_>) -> bool {
        let Some(formula) = &self.formula else { return false };
        let percent = formula.value((self.rounds.passed_ns(cx.now_ns()) / NS_PER_MS) as f64 / 1000.0);
        if self.rounds.is_late(cx.now_ns()) {
            cx.log("Forced stop because time is achieved!");
            self.rounds.left = 0;
            return false;
        }
        let changes = self.timing != percent as u32;
        if changes {
            self.timing = percent as u32;
            self.anchor = self.last;
            self.rounds.tell(cx, || format!("Timing is {percent:.6} -> {}%", self.timing));
        }
        changes
    }

    /// Has the next packet wait for as long as the formula says the same.
    fn wait(&self, cx: &mut Cx<'_>, due_ns: i64) {
        let look_ns = if self.formula.is_some() { cx.now_ns() + NS_PER_MS } else { i64::MAX };
        cx.timers().at(0, due_ns.min(look_ns).min(self.rounds.over_ns()));
    }

    /// Notes that the next packet goes.
    fn step(&mut self, now_ns: i64) {
        self.last = Pushed { stamp_ns: self.recording.packets[self.next].timestamp_ns(), at_ns: now_ns };
        if self.next == 0 {
            self.anchor = self.last;
        }
        self.rounds.begin(now_ns);
        self.next += 1;
    }

    /// The driver is to stop, and the element with it.
    fn end(&mut self, cx: &mut Cx<'_>) {
        self.active = false;
        self.rounds.end();
        cx.info().please_end();
    }

    /// Goes on with the first packet, or ends.
    fn end_round(&mut self, cx: &mut Cx<'_>) {
        self.next = 0;
        self.rounds.count(cx);
        if self.rounds.left == 0 { self.end(cx) } else { cx.tasks().schedule() }
    }

    /// Pushes copies of packets that are due.
    fn replay(&mut self, cx: &mut Cx<'_>) {
        if self.rounds.left == 0 {
            return self.end(cx);
        }
        // Only now, when the last packets of the round are gone.
        if self.next == self.recording.packets.len() {
            return self.end_round(cx);
        }
        let mut copies = cx.batch();
        let most = self.burst.min(cx.vector()).min(BATCH_MAX);
        while self.next < self.recording.packets.len() && copies.len() < most {
            let due = self.due_ns();
            if due > cx.now_ns() {
                if self.change_pace(cx) {
                    continue;
                }
                self.wait(cx, due);
                break;
            }
            match cx.pool().copy(&self.recording.packets[self.next]) {
                Some(copy) => copies.push(copy),
                None => cx.count_drops("out of memory", 1),
            }
            self.step(cx.now_ns());
        }
        self.count += copies.len() as u64;
        let (ended, full) = (self.next == self.recording.packets.len(), copies.len() == most);
        // With a formula it is the formula that is asked.
        let over = copies.is_empty() && self.formula.is_none() && self.rounds.is_over(cx.now_ns());
        if self.recording.merges() {
            cx.scatter(copies, |_, packet| Verdict::Output(usize::from(packet.paint())));
        } else {
            cx.emit(0, copies);
        }
        if self.rounds.left == 0 || over {
            self.end(cx);
        } else if ended || full {
            cx.tasks().schedule();
        }
    }
}

impl Element for ReplayUnqueue {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.recording.listen(cx);
        if self.formula.is_some() {
            cx.log(format_args!("Timing starts with {}%", self.timing));
        }
        if self.active {
            cx.tasks().schedule();
        }
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        match self.active {
            // Rounds without packets are over at once, but not all of endless many.
            true if self.recording.loaded
                && (!self.recording.packets.is_empty() || self.rounds.left >= 0) =>
            {
                self.replay(cx)
            }
            true if !self.recording.loaded => self.recording.load(cx),
            _ => {}
        }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, port: usize, batch: Batch) -> Pull {
        self.recording.pulled(cx, port, batch);
        Pull::Nothing
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        cx.tasks().schedule();
    }

    fn held(&self) -> usize {
        self.recording.held()
    }

    fn finish(&mut self, cx: &mut Cx<'_>) {
        self.recording.let_go(cx);
    }

    /// The recording, and how far it was replayed.
    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        let recording = std::mem::replace(&mut self.recording, Recording::new(0, 0));
        let rounds = std::mem::replace(&mut self.rounds, Rounds::new(0, 0, false));
        let (next, anchor, last) = (std::mem::take(&mut self.next), self.anchor, self.last);
        let (active, count) = (self.active, self.count);
        Some(Box::new(Handover { recording, rounds, next, anchor, last, active, count }))
    }

    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        let Ok(old) = state.downcast::<Handover>() else { return };
        self.recording.take_over(cx, old.recording);
        self.rounds.take_over(&old.rounds);
        self.next = old.next.min(self.recording.packets.len());
        (self.anchor, self.last, self.count) = (old.anchor, old.last, self.count + old.count);
        if self.rounds.left == 0 {
            self.active &= old.active; // the driver was asked to stop
        }
        if self.active {
            cx.tasks().schedule();
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        type R = ReplayUnqueue;
        h.read("count", |e: &mut R, _| e.count).measures(&metric::PACKETS);
        h.read("loaded", |e: &mut R, _| e.recording.loaded);
        h.read("packets", |e: &mut R, _| e.recording.packets.len());
        h.read("timing", |e: &mut R, _| e.timing);
        h.write("timing", |e: &mut R, cx, text| {
            e.timing = router::value(cx, text)?;
            cx.tasks().schedule();
            Ok(())
        });
        h.write("reset", |e: &mut R, cx, _| {
            e.recording.let_go(cx);
            e.next = 0;
            cx.tasks().schedule();
            Ok(())
        })
        .as_button();
        h.read("active", |e: &mut R, _| e.active).flagged(Flags::CHECKBOX);
        h.write("active", |e: &mut R, cx, text| {
            e.active = router::value(cx, text)?;
            if e.active {
                // The time in which it was not active does not count.
                if let Some(packet) = e.recording.packets.get(e.next) {
                    e.anchor = Pushed { stamp_ns: packet.timestamp_ns(), at_ns: cx.now_ns() };
                    e.last = e.anchor;
                }
                cx.tasks().schedule();
            }
            Ok(())
        });
        h.read("stop", |e: &mut R, _| e.rounds.left);
        h.write("stop", |e: &mut R, cx, text| {
            e.rounds.left = router::value(cx, text)?;
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run, run_and_read};

    #[test]
    fn again_and_again() {
        let config = "InfiniteSource(LIMIT 70, BURST 70) -> q :: Queue(100) -> r :: ReplayUnqueue(STOP 3, BURST 8) -> d :: Discard;";
        assert_eq!(
            run_and_read(config, &["d.count", "r.count", "r.packets", "q.length"]),
            ["210", "210", "70", "0"]
        );
        let limited = "InfiniteSource(LIMIT 70, BURST 70) -> q :: Queue(100) -> r :: ReplayUnqueue(STOP 2, LIMIT 9) -> d :: Discard;";
        assert_eq!(run_and_read(limited, &["d.count", "q.length"]), ["18", "61"]);
        assert!(errors("Idle -> ReplayUnqueue(BURST 0) -> Discard").contains("BURST"));
    }

    /// At half the pace, in order, with the gap between rounds that there is none.
    #[test]
    fn at_a_pace() {
        let lines = run("a :: InfiniteSource(DATA a, LIMIT 1) -> SetTimestamp(5) -> q :: Queue;
             b :: InfiniteSource(DATA b, LIMIT 1) -> SetTimestamp(6) -> q;
             q -> ReplayUnqueue(STOP 2, TIMING 50) -> SetTimestamp -> Print(TIMESTAMP true) -> Discard");
        let seconds: Vec<f64> =
            lines.lines().filter_map(|line| line.split(':').next()?.parse().ok()).collect();
        let gaps: Vec<f64> = seconds.windows(2).map(|pair| (pair[1] - pair[0]).round()).collect();
        assert_eq!(gaps, [2.0, 0.0, 2.0], "{lines}");
    }

    /// Packets a second apart, at a pace that changes: when they come, in milliseconds after the first.
    #[test]
    fn at_a_pace_by_a_formula() {
        let times = |formula: &str, more: &str| -> Vec<i64> {
            let sources: String =
                (1..=4).map(|n| format!("InfiniteSource(LIMIT 1) -> SetTimestamp({n}) -> q;\n")).collect();
            let lines = run(&format!(
                "q :: Queue; {sources} DriverManager(wait 0.1, write r.active true, pause, stop);
                 q -> r :: ReplayUnqueue(STOP 1, ACTIVE false, TIMING_FNT \"{formula}\" {more}) -> SetTimestamp
                   -> Print(TIMESTAMP true, MAXLENGTH 0) -> Discard"
            ));
            let time = |line: &str| line.split(':').next()?.parse::<f64>().ok();
            let times: Vec<f64> = lines.lines().filter_map(time).collect();
            times.iter().map(|time| ((time - times[0]) * 1000.0).round() as i64).collect()
        };
        assert_eq!(times("50", ""), [0, 2000, 4000, 6000]);
        assert_eq!(times("@0", ", TIMING 200"), [0, 500, 1000, 1500]);
        // A new pace holds from the last packet on.
        assert_eq!(times("100 + 100 * floor(x/1.5)", ""), [0, 1000, 1500, 2000]);
        // At rest until the formula is positive again.
        assert_eq!(times("max(0, 100 * squarewave(x * pi))", "")[..3], [0, 1000, 2001]);
        assert_eq!(times("50", ", STOP_TIME 2"), [0, 2000]);
        assert_eq!(times("@1", ", TIMING 3, STOP_TIME 60").len(), 4);
        assert!(errors("Idle -> ReplayUnqueue(TIMING_FNT \"2 +\") -> Discard").contains("bad formula"));
    }
}
