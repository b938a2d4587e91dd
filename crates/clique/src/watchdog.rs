//! The service manager's watchdog: it hears of the router for as long as all workers answer, and otherwise starts it again.
//!
//! The interval comes in `WATCHDOG_USEC` (sd_watchdog_enabled(3)), from `WatchdogSec=` of a unit. A worker that sleeps is woken to
//! answer; one that is held up for a quarter of the interval is not told of as well. One that waits for a processor is not held up: started
//! again, the router would wait for it just so.

use crate::console;
use crate::service;
use crate::swap::Current;
use router::{Handle, Silent, Vigil};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// Tells the manager, until it is dropped.
pub(crate) struct Watchdog {
    /// Nothing is sent: the thread ends when it is gone.
    _over: Sender<()>,
}

impl Watchdog {
    /// Begins, if the manager wants to hear of this process. Without a thread it does not, and the manager acts: it says so.
    pub(crate) fn start(current: Current) -> Option<Watchdog> {
        let interval = interval(std::process::id(), |name| std::env::var(name).ok())?;
        let (over, is_over) = mpsc::channel();
        let watch = move || {
            let (mut said, mut vigil) = (Silent::default(), Vigil::new(current.handle()));
            let mut next = Instant::now();
            // Twice in an interval, as sd_watchdog_enabled(3) advises.
            while is_over.recv_timeout(next.saturating_duration_since(Instant::now()))
                == Err(RecvTimeoutError::Timeout)
            {
                next = Instant::now() + interval / 2;
                vigil = of_current(vigil, current.handle());
                // A router that halts is replaced, or comes to its end.
                let silent = vigil.silent(interval / 4).unwrap_or_default();
                if silent.stuck.is_empty() {
                    service::alive();
                }
                tell(&said.stuck, &silent.stuck, "does not answer");
                tell(
                    &said.starved,
                    &silent.starved,
                    "waits for a processor, which the machine does not give it",
                );
                said = silent;
            }
        };
        match std::thread::Builder::new().name("watchdog".to_owned()).spawn(watch) {
            Ok(_) => Some(Watchdog { _over: over }),
            Err(error) => {
                console::complain(&format!("watchdog: {error}\n"));
                None
            }
        }
    }
}

/// Over the router that runs, which may be another one than before.
fn of_current(vigil: Vigil, current: Handle) -> Vigil {
    if Arc::ptr_eq(vigil.info(), current.info()) { vigil } else { Vigil::new(current) }
}

/// Says of workers what they are, once for as long as any is.
fn tell(before: &[usize], now: &[usize], what: &str) {
    if before.is_empty() && !now.is_empty() {
        let workers: Vec<String> = now.iter().map(usize::to_string).collect();
        console::complain(&format!("watchdog: worker {} {what}\n", workers.join(", ")));
    }
}

/// How often the manager wants to hear of this process, if it does.
fn interval(process: u32, variable: impl Fn(&str) -> Option<String>) -> Option<Duration> {
    let meant = variable("WATCHDOG_PID").is_none_or(|id| id.parse() == Ok(process));
    let interval = variable("WATCHDOG_USEC")?.parse().ok().filter(|&us| meant && us > 0)?;
    Some(Duration::from_micros(interval))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_that_of_this_process() {
        let of = |id: Option<&str>, us: Option<&str>| {
            interval(7, |name| if name == "WATCHDOG_PID" { id } else { us }.map(str::to_owned))
        };
        assert_eq!(of(Some("7"), Some("2000000")), Some(Duration::from_secs(2)));
        assert_eq!(of(None, Some("5")), Some(Duration::from_micros(5)));
        for (id, us) in [(Some("8"), Some("5")), (Some("x"), Some("5")), (None, None), (None, Some("0"))] {
            assert_eq!(of(id, us), None, "{id:?} {us:?}");
        }
    }
}
