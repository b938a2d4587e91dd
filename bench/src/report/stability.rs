//! Whether the machine is quiet enough for figures: the same loop again and again on each processor, and the time that the host takes.

use super::depth::Depth;
use crate::rcu::{Bound, Spread, processors};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// What the check found.
#[derive(Deserialize, Serialize)]
pub(crate) struct Stability {
    /// For each processor, how much longer the loop takes at its ninth decile than at its quickest, in percent.
    spread_percent: Vec<f64>,
    /// The share of processor time that the machine's host took meanwhile.
    steal_percent: f64,
    load_average: String,
}

/// Where figures are marked: a spread that the smallest differences on the page would drown in.
const SPREAD_LIMIT: f64 = 10.0;
const STEAL_LIMIT: f64 = 1.0;

impl Stability {
    /// Whether figures may be compared.
    pub(crate) fn holds(&self) -> bool {
        self.steal_percent <= STEAL_LIMIT && self.spread_percent.iter().all(|spread| *spread <= SPREAD_LIMIT)
    }

    /// For people.
    pub(crate) fn line(&self) -> String {
        let spreads: Vec<_> = self.spread_percent.iter().map(|spread| format!("{spread:.1} %")).collect();
        format!(
            "{}: the same loop varies by {} on the processors, the host took {:.1} % of the time, load {}",
            if self.holds() { "stable" } else { "NOT stable; figures are marked" },
            spreads.join(", "),
            self.steal_percent,
            self.load_average
        )
    }
}

/// Runs the loops.
pub(super) fn check(depth: Depth) -> Stability {
    let time = match depth {
        Depth::Tiny => Duration::from_millis(20),
        Depth::Quick => Duration::from_millis(500),
        Depth::Full => Duration::from_secs(2),
    };
    let ticks = Ticks::now();
    let spread_percent = (0..processors()).map(|processor| spread(processor, time)).collect();
    let load_average = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load_average = load_average.split(' ').take(3).collect::<Vec<_>>().join(" ");
    Stability { spread_percent, steal_percent: ticks.steal_percent_since(), load_average }
}

fn spread(processor: usize, time: Duration) -> f64 {
    let _bound = Bound::to(processor);
    let end = Instant::now() + time;
    let mut took = Vec::new();
    while Instant::now() < end || took.len() < 10 {
        let begin = Instant::now();
        std::hint::black_box(
            (0..100_000u64).fold(1, |sum: u64, n| std::hint::black_box(sum.wrapping_mul(31) ^ n)),
        );
        took.push(begin.elapsed().as_secs_f64());
    }
    took.sort_by(f64::total_cmp);
    let ninth = took[took.len() * 9 / 10];
    (ninth / Spread::of(&took).min - 1.0) * 100.0
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
