//! Whether the machine is quiet enough for figures: the same loop again and again on all processors at once, how much of its time others had, and the
//! time that the host takes.
//!
//! Loops that are shorter than the scheduler's slices hide whoever shares the processor: most of them are not interrupted at all. So the whole
//! time is also set against the processor time that the thread had meanwhile. All processors are taken at once, since what else runs would otherwise
//! make room on one of them for each loop.

use super::depth::Depth;
use crate::rcu::{Bound, Spread, processor_time, processors};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// What the check found.
#[derive(Deserialize, Serialize)]
pub(crate) struct Stability {
    /// For each processor, how much longer the loop takes at its ninth decile than at its quickest, in percent.
    spread_percent: Vec<f64>,
    /// For each processor, the part of the time that the thread did not have, in percent. Checks of older reports have none, and do not hold.
    #[serde(default)]
    stolen_percent: Vec<f64>,
    /// The share of processor time that the machine's host took meanwhile.
    steal_percent: f64,
    /// Of the last minute, of five and of fifteen.
    load_average: String,
    /// How many processors bear that load.
    #[serde(default)]
    processors: usize,
    /// Whether the load is that of others. Between topics it is also the report's own.
    #[serde(default)]
    load_of_others: bool,
}

/// Where figures are marked: a spread that the smallest differences on the page would drown in.
const SPREAD_LIMIT: f64 = 10.0;
/// A quiet kernel's timers and threads take some tenths of a percent.
const STOLEN_LIMIT: f64 = 2.0;
const STEAL_LIMIT: f64 = 1.0;

/// When a check is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// Before the report measures anything.
    First,
    /// Before or after one of its topics.
    Between,
}

impl Stability {
    /// Whether figures may be compared.
    pub(crate) fn holds(&self) -> bool {
        self.steal_percent <= STEAL_LIMIT
            && self.spread_percent.iter().all(|spread| *spread <= SPREAD_LIMIT)
            && self.has_processors()
            && self.load_is_low()
    }

    /// Whether the loops had the processors to themselves.
    fn has_processors(&self) -> bool {
        !self.stolen_percent.is_empty() && self.stolen_percent.iter().all(|stolen| *stolen <= STOLEN_LIMIT)
    }

    /// Whether there was a processor for each thread that wanted one in the last minute, as far as others are the cause.
    fn load_is_low(&self) -> bool {
        let load = self.load_average.split(' ').next().and_then(|load| load.parse::<f64>().ok());
        !self.load_of_others || load.is_none_or(|load| load <= self.processors as f64)
    }

    /// For people.
    pub(crate) fn line(&self) -> String {
        let list = |percents: &[f64]| {
            let percents: Vec<_> = percents.iter().map(|percent| format!("{percent:.1} %")).collect();
            if percents.is_empty() { "an unknown part".to_owned() } else { percents.join(", ") }
        };
        format!(
            "{}: the same loop varies by {} on the processors, others had {} of its time there, the host took {:.1} % of the time, load {}",
            if self.holds() { "stable" } else { "NOT stable; figures are marked" },
            list(&self.spread_percent),
            list(&self.stolen_percent),
            self.steal_percent,
            self.load_average
        )
    }
}

/// Runs the loops.
pub(super) fn check(depth: Depth, when: When) -> Stability {
    let time = match depth {
        Depth::Tiny => Duration::from_millis(20),
        Depth::Quick => Duration::from_millis(500),
        Depth::Full => Duration::from_secs(2),
    };
    let load_average = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load_average = load_average.split(' ').take(3).collect::<Vec<_>>().join(" ");
    let ticks = Ticks::now();
    let found: Vec<(f64, f64)> = std::thread::scope(|scope| {
        let looping: Vec<_> =
            (0..processors()).map(|processor| scope.spawn(move || looped(processor, time))).collect();
        // A loop that failed had nothing of its processor.
        looping.into_iter().map(|thread| thread.join().unwrap_or((100.0, 100.0))).collect()
    });
    let (spread_percent, stolen_percent) = found.into_iter().unzip();
    Stability {
        spread_percent,
        stolen_percent,
        steal_percent: ticks.steal_percent_since(),
        load_average,
        processors: processors(),
        load_of_others: when == When::First,
    }
}

/// How much a loop on a processor varies, and how much of its time others had, in percent.
fn looped(processor: usize, time: Duration) -> (f64, f64) {
    let _bound = Bound::to(processor);
    let (begin, had) = (Instant::now(), processor_time());
    let end = begin + time;
    let mut took = Vec::new();
    while Instant::now() < end || took.len() < 10 {
        let begin = Instant::now();
        std::hint::black_box(
            (0..100_000u64).fold(1, |sum: u64, n| std::hint::black_box(sum.wrapping_mul(31) ^ n)),
        );
        took.push(begin.elapsed().as_secs_f64());
    }
    let had = (processor_time() - had).as_secs_f64() / begin.elapsed().as_secs_f64();
    took.sort_by(f64::total_cmp);
    let ninth = took[took.len() * 9 / 10];
    ((ninth / Spread::of(&took).min - 1.0) * 100.0, (1.0 - had).max(0.0) * 100.0)
}

/// The kernel's account of processor time.
pub(super) struct Ticks {
    all: u64,
    stolen: u64,
}

impl Ticks {
    pub(super) fn now() -> Ticks {
        let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
        let line = stat.lines().next().unwrap_or_default();
        // user, nice, system, idle, iowait, irq, softirq, steal; guest times are within the first two (proc(5)).
        let ticks: Vec<u64> =
            line.split_ascii_whitespace().skip(1).take(8).filter_map(|word| word.parse().ok()).collect();
        Ticks { all: ticks.iter().sum(), stolen: ticks.get(7).copied().unwrap_or(0) }
    }

    pub(super) fn steal_percent_since(&self) -> f64 {
        let now = Ticks::now();
        let all = now.all.saturating_sub(self.all).max(1);
        now.stolen.saturating_sub(self.stolen) as f64 * 100.0 / all as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Catches a check that others' threads get past: most short loops end before the scheduler takes the processor away.
    #[test]
    fn a_machine_with_two_other_threads_a_processor_is_not_stable() {
        let stop = AtomicBool::new(false);
        let found = std::thread::scope(|scope| {
            for thread in 0..2 * processors() {
                let stop = &stop;
                scope.spawn(move || {
                    let _bound = Bound::to(thread);
                    while !stop.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                });
            }
            let found = check(Depth::Quick, When::Between);
            stop.store(true, Ordering::Relaxed);
            found
        });
        assert!(!found.holds() && !found.has_processors(), "{}", found.line());
        assert!(found.line().starts_with("NOT stable"), "{}", found.line());
    }

    fn quiet() -> Stability {
        Stability {
            spread_percent: vec![1.0, 9.0],
            stolen_percent: vec![0.1, 1.9],
            steal_percent: 0.5,
            load_average: "1.90 9.00 9.00".to_owned(),
            processors: 2,
            load_of_others: true,
        }
    }

    #[test]
    fn each_sign_of_others_is_enough() {
        assert!(quiet().holds());
        let others = [
            Stability { spread_percent: vec![1.0, 11.0], ..quiet() },
            Stability { stolen_percent: vec![0.1, 2.1], ..quiet() },
            Stability { stolen_percent: Vec::new(), ..quiet() },
            Stability { steal_percent: 1.1, ..quiet() },
            Stability { load_average: "2.10 0.00 0.00".to_owned(), ..quiet() },
        ];
        for other in others {
            assert!(!other.holds(), "{}", other.line());
        }
        let own = Stability { load_average: "2.10 0.00 0.00".to_owned(), load_of_others: false, ..quiet() };
        assert!(own.holds(), "the report's own topics make load");
    }
}
