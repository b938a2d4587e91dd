//! The service manager's watchdog: it hears of the router for as long as all workers answer, and otherwise starts it again.
//!
//! The interval comes in `WATCHDOG_USEC` (sd_watchdog_enabled(3)), from `WatchdogSec=` of a unit. A worker that sleeps is woken to
//! answer; one that is held up for a quarter of the interval is not told of as well.

use crate::console;
use crate::service;
use crate::swap::Current;
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
            let mut said = false;
            let mut next = Instant::now();
            // Twice in an interval, as sd_watchdog_enabled(3) advises.
            while is_over.recv_timeout(next.saturating_duration_since(Instant::now()))
                == Err(RecvTimeoutError::Timeout)
            {
                next = Instant::now() + interval / 2;
                let silent = current.silent_workers(interval / 4);
                if silent.is_empty() {
                    service::alive();
                } else if !said {
                    let silent: Vec<String> = silent.iter().map(usize::to_string).collect();
                    console::complain(&format!("watchdog: worker {} does not answer\n", silent.join(", ")));
                }
                said = !silent.is_empty();
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
