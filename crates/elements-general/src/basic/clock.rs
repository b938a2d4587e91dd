//! Accepted for compatibility: the choice of a clock.
//!
//! ```click
//! TSCClock(...)
//! JiffieClock(...)
//! LinuxClock(...)
//! DPDKDeviceClock(...)
//! MBGClock(...)
//! ```
//!
//! Changes nothing: a worker reads the kernel's clock once per turn, which costs next to nothing. These are
//! FastClick's elements for various clocks: the processor's cycle counter, a counter advanced by a timer, the
//! kernel's clock, the clock of a network card, and a radio clock.
//!
//! Ports: none. Workers: exclusive.
//!
//! # Arguments
//! Ignored.
//!
//! # Handlers
//! - `now`, `now_steady`, `cycles` (read): the time in nanoseconds. Time never jumps here, and one nanosecond counts
//!   as one cycle.
//! - `cycles_hz` (read): 1000000000.
//! - `phase` (read): 2, which means in FastClick that the clock is in use.
//! - `jiffies` (read): the time in milliseconds. `status` (read): true.
//!
//! # Example
//! ```click
//! TSCClock(NOWAIT true);
//! c :: JiffieClock;
//! Script(print $(c.jiffies))
//! ```
//!
//! # See also
//! SetTimestamp

use router::{Class, Config, ConfigError, Element, Handlers, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("TSCClock", create)
    .ports("0/0")
    .residency(Residency::Exclusive)
    .doc(router::manual!("clock.rs"));
const NS_PER_S: i64 = 1_000_000_000;
const NS_PER_MS: i64 = 1_000_000;
/// FastClick's number for a clock in use.
const RUNNING: u32 = 2;

struct Clock;

fn create(_: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    Ok(Box::new(Clock))
}

impl Element for Clock {
    fn handlers(&self, h: &mut Handlers) {
        for name in ["now", "now_steady", "cycles"] {
            h.read(name, |_: &mut Clock, cx| cx.now_ns());
        }
        h.read("cycles_hz", |_: &mut Clock, _| NS_PER_S);
        h.read("phase", |_: &mut Clock, _| RUNNING);
        h.read("jiffies", |_: &mut Clock, cx| cx.now_ns() / NS_PER_MS);
        h.read("status", |_: &mut Clock, _| true);
    }
}
