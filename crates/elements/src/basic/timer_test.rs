//! Tests timers, or is one.
//!
//! ```click
//! TimerTest([KEYWORDS])
//! ```
//!
//! Without arguments it tests the program's timers when the router starts: whether they are set, moved and cancelled
//! correctly, and whether, in small routers of their own in simulated time, they expire at the right time and in the
//! right order (timers for the same time in the order in which they were set), and cancelled ones never. It prints
//! `All tests pass!`, or the router does not start.
//!
//! With or without arguments it has a timer that prints a line when it expires:
//! `1000000000.010000: t :: TimerTest fired`.
//!
//! Ports: none. Workers: exclusive.
//!
//! # Arguments
//! - `DELAY` (seconds): when the timer first expires, counted from the start.
//! - `SCHEDULED` (boolean, default false, or true with a DELAY): whether to set the timer at the start; without a
//!   DELAY it expires at once.
//! - `BENCHMARK` (integer, default 0): when the router starts, sets this many timers, moves them and cancels them,
//!   and prints how long that took.
//!
//! # Handlers
//! - `scheduled` (read, write): whether the timer is set. Writing `true` makes it expire at once.
//! - `expiry` (read): when the timer expires, or last expired, in seconds since the epoch.
//! - `schedule_after` (write): makes the timer expire after this time in seconds.
//! - `unschedule` (write, button): cancels the timer.
//!
//! # Example
//! ```click
//! t :: TimerTest(DELAY 0.01)
//! ```
//!
//! # See also
//! TimedSource, Script

use super::print::write_time;
use super::trial::{Trial, try_out};
use router::{Activity, Class, Config, ConfigError, Cx, Element, Handlers, Residency};
use std::time::{Duration, Instant};

/// The class.
pub(crate) const CLASS: Class = Class::new("TimerTest", create)
    .ports("0/0")
    .activity(Activity::Always)
    .residency(Residency::Exclusive)
    .doc(include_str!("timer_test.rs"));

/// The timer that speaks.
const SPOKEN: u32 = 0;
/// The first of those of a benchmark or a test.
const OTHERS: u32 = 1;
/// The most timers of a benchmark.
const BENCHMARK_MAX: u32 = 1 << 22;

#[derive(Default)]
struct TimerTest {
    delay: Option<Duration>,
    scheduled: bool,
    benchmark: u32,
    tests: bool,
    expiry_ns: i64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut e, mut scheduled) = (TimerTest::default(), None);
    config
        .args()
        .keyword("DELAY", &mut e.delay)
        .keyword("SCHEDULED", &mut scheduled)
        .keyword("BENCHMARK", &mut e.benchmark)
        .finish()?;
    if e.benchmark > BENCHMARK_MAX {
        return Err(format!("BENCHMARK: out of range, bound {BENCHMARK_MAX}").into());
    }
    e.scheduled = scheduled.unwrap_or(e.delay.is_some());
    e.tests = e.delay.is_none() && scheduled.is_none() && e.benchmark == 0;
    Ok(Box::new(e))
}

impl TimerTest {
    fn set(&mut self, cx: &mut Cx<'_>, delay: Duration) {
        cx.timer_after(SPOKEN, delay);
        let delay = i64::try_from(delay.as_nanos()).unwrap_or(i64::MAX / 2);
        self.expiry_ns = cx.now_ns().saturating_add(delay);
    }
}

impl Element for TimerTest {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if self.tests {
            try_out(cx, tests)?;
        }
        if self.benchmark > 0 {
            benchmark(cx, self.benchmark);
        }
        if self.scheduled {
            self.set(cx, self.delay.unwrap_or_default());
        }
        Ok(())
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        let mut line = String::new();
        write_time(&mut line, cx.now_ns());
        cx.log(&format!("{line}: {} :: TimerTest fired", cx.name()));
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("scheduled", |_: &mut TimerTest, cx| cx.timer_is_set(SPOKEN));
        h.write("scheduled", |e: &mut TimerTest, cx, text| {
            match router::value(cx, text)? {
                true => e.set(cx, Duration::ZERO),
                false => cx.cancel_timer(SPOKEN),
            }
            Ok(())
        });
        h.read("expiry", |e: &mut TimerTest, _| {
            let mut text = String::new();
            write_time(&mut text, e.expiry_ns);
            text
        });
        h.write("schedule_after", |e: &mut TimerTest, cx, text| {
            let delay = router::value(cx, text)?;
            e.set(cx, delay);
            Ok(())
        });
        h.write("unschedule", |_: &mut TimerTest, cx, _| {
            cx.cancel_timer(SPOKEN);
            Ok(())
        })
        .as_button();
    }
}

/// Sets timers at random times, moves them, and forgets them.
fn benchmark(cx: &mut Cx<'_>, timers: u32) {
    let mut took = [Duration::ZERO; 3];
    for (step, took) in took.iter_mut().enumerate() {
        let start = Instant::now();
        for key in OTHERS..OTHERS + timers {
            let delay = Duration::from_micros(cx.rng().u64(1..1_000_000_000));
            if step < 2 { cx.timer_after(key, delay) } else { cx.cancel_timer(key) }
        }
        *took = start.elapsed();
    }
    let [set, moved, forgotten] = took.map(|took| took.as_nanos() / u128::from(timers));
    cx.log(&format!(
        "{} :: TimerTest: {timers} timers: {set} ns to set one, {moved} ns to move it, {forgotten} ns to forget it",
        cx.name()
    ));
}

fn tests(trial: &mut Trial, cx: &mut Cx<'_>) {
    registry(trial, cx);
    // At their times, whatever the order in which they were set.
    trial.run(
        "a :: TimerTest(DELAY 0.03); b :: TimerTest(DELAY 0.01); c :: TimerTest(DELAY 0.02); Script(wait 1, stop)",
        "1000000000.010000: b :: TimerTest fired\n1000000000.020000: c :: TimerTest fired\n\
         1000000000.030000: a :: TimerTest fired\n",
        &[("a.scheduled", "false"), ("a.expiry", "1000000000.030000")],
    );
    // Moved, both ways, and for the same time in the order in which they were set.
    trial.run(
        "a :: TimerTest(DELAY 5); b :: TimerTest(DELAY 0.1);
         Script(wait 0.05, write b.schedule_after 1, write a.schedule_after 1, wait 2, stop)",
        "1000000001.050000: b :: TimerTest fired\n1000000001.050000: a :: TimerTest fired\n",
        &[("b.expiry", "1000000001.050000")],
    );
    // Forgotten, and set again.
    trial.run(
        "a :: TimerTest(DELAY 0.1); b :: TimerTest(SCHEDULED false);
         Script(write a.unschedule, wait 1, write b.scheduled true, write a.schedule_after 10, wait 1, stop)",
        "1000000001.000000: b :: TimerTest fired\n",
        &[("a.scheduled", "true"), ("b.scheduled", "false")],
    );
}

/// What is set is known to be set, each timer by itself.
fn registry(trial: &mut Trial, cx: &mut Cx<'_>) {
    let [a, b, last] = [OTHERS, OTHERS + 1, u32::MAX];
    let set = |cx: &Cx<'_>| [a, b, last].map(|key| cx.timer_is_set(key));
    trial.same("no timer is set", set(cx), [false; 3]);
    cx.timer_after(a, Duration::from_secs(1));
    trial.same("one timer is set", set(cx), [true, false, false]);
    cx.timer_after(last, Duration::MAX);
    trial.same("a timer is set for ever", set(cx), [true, false, true]);
    cx.cancel_timer(b);
    trial.same("a timer that was not set is forgotten", set(cx), [true, false, true]);
    cx.timer_after(a, Duration::from_secs(2));
    trial.same("a timer is moved", set(cx), [true, false, true]);
    cx.cancel_timer(a);
    trial.same("a timer that was moved is forgotten", set(cx), [false, false, true]);
    cx.cancel_timer(last);
    trial.same("all timers are forgotten", set(cx), [false; 3]);
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run, run_and_read};

    #[test]
    fn fires() {
        assert_eq!(
            run("t :: TimerTest(DELAY 0.01); Script(wait 1, stop)"),
            "1000000000.010000: t :: TimerTest fired\n"
        );
        let config = "t :: TimerTest(DELAY 7); Script(write t.scheduled false, wait 1, write t.schedule_after 2.5, wait 1, stop)";
        assert_eq!(run_and_read(config, &["t.scheduled", "t.expiry"]), ["true", "1000000003.500000"]);
    }

    #[test]
    fn tests_and_benchmark() {
        assert_eq!(run("TimerTest; Script(stop)"), "All tests pass!\n");
        let mut router = crate::testing::build("t :: TimerTest(BENCHMARK 1000)", 1, 1).unwrap();
        assert!(router.info().log.text().starts_with("t :: TimerTest: 1000 timers: "));
        assert_eq!(router.call(router::Call::read("t.scheduled", "")).as_deref(), Ok("false"));
        assert!(errors("TimerTest(BENCHMARK 5000000)").contains("BENCHMARK: out of range"));
    }
}
