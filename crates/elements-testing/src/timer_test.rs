//! A timer.
//!
//! ```click
//! TimerTest([KEYWORDS])
//! ```
//!
//! It has a timer that prints a line when it expires: `1000000000.010000: t :: TimerTest fired`.
//!
//! Ports: none. Workers: exclusive.
//!
//! # Arguments
//! - `DELAY` (seconds): when the timer first expires, counted from the start.
//! - `SCHEDULED` (boolean, default false, or true with a DELAY): whether to set the timer at the start; without a
//!   DELAY it expires at once.
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

use router::{Activity, Class, Config, ConfigError, Cx, Element, Handlers, Residency};
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("TimerTest", create)
    .ports("0/0")
    .activity(Activity::Always)
    .residency(Residency::Exclusive)
    .doc(router::manual!("timer_test.rs"));

/// The timer that speaks.
const SPOKEN: u32 = 0;

#[derive(Default)]
struct TimerTest {
    delay: Option<Duration>,
    scheduled: bool,
    expiry_ns: i64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut e, mut scheduled) = (TimerTest::default(), None);
    config.args().keyword("DELAY", &mut e.delay).keyword("SCHEDULED", &mut scheduled).finish()?;
    e.scheduled = scheduled.unwrap_or(e.delay.is_some());
    Ok(Box::new(e))
}

impl TimerTest {
    fn set(&mut self, cx: &mut Cx<'_>, delay: Duration) {
        cx.timers().after(SPOKEN, delay);
        let delay = i64::try_from(delay.as_nanos()).unwrap_or(i64::MAX / 2);
        self.expiry_ns = cx.now_ns().saturating_add(delay);
    }
}

impl Element for TimerTest {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if self.scheduled {
            self.set(cx, self.delay.unwrap_or_default());
        }
        Ok(())
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        cx.print(&format!("{}: {} :: TimerTest fired", time(cx.now_ns()), cx.name()));
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("scheduled", |_: &mut TimerTest, cx| cx.timers().is_set(SPOKEN));
        h.write("scheduled", |e: &mut TimerTest, cx, text| {
            match router::value(cx, text)? {
                true => e.set(cx, Duration::ZERO),
                false => cx.timers().cancel(SPOKEN),
            }
            Ok(())
        });
        h.read("expiry", |e: &mut TimerTest, _| time(e.expiry_ns));
        h.write("schedule_after", |e: &mut TimerTest, cx, text| {
            let delay = router::value(cx, text)?;
            e.set(cx, delay);
            Ok(())
        });
        h.write("unschedule", |_: &mut TimerTest, cx, _| {
            cx.timers().cancel(SPOKEN);
            Ok(())
        })
        .as_button();
    }
}

/// A time in seconds.
fn time(time_ns: i64) -> String {
    format!("{}.{:06}", time_ns / 1_000_000_000, time_ns % 1_000_000_000 / 1000)
}
