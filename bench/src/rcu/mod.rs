//! Read-copy update: what it costs, beside what others do and what the papers measured.
//!
//! What the benchmarks here share: binding threads to processors, medians and ratios of interleaved rounds, tables.

mod attempts;
mod chains;
mod chart;
pub(crate) mod costs;
mod element;
pub(crate) mod grace;
pub(crate) mod hash;
pub(crate) mod model;
pub(crate) mod peers;
pub(crate) mod read;
pub(crate) mod table_one;
pub(crate) mod thesis;
pub(crate) mod update;
pub(crate) mod urcu;

use rustix::time::ClockId;
use serde::Serialize;
use std::time::{Duration, Instant};

/// A thread bound to a processor; free again when this is dropped.
pub(crate) struct Bound(Option<rustix::thread::CpuSet>);

impl Bound {
    /// Binds this thread to a processor, counted modulo those there are. Without permission it stays free.
    pub(crate) fn to(processor: usize) -> Bound {
        let before = rustix::thread::sched_getaffinity(None).ok();
        let mut set = rustix::thread::CpuSet::new();
        set.set(processor % processors());
        let bound = rustix::thread::sched_setaffinity(None, &set).is_ok();
        Bound(before.filter(|_| bound))
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            let _ = rustix::thread::sched_setaffinity(None, before);
        }
    }
}

/// How many processors the machine has, however few this thread may use.
pub(crate) fn processors() -> usize {
    static COUNT: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    *COUNT.get_or_init(|| {
        let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
        let lines = stat.lines().filter(|line| line.starts_with("cpu") && !line.starts_with("cpu "));
        lines.count().max(1)
    })
}

/// How long this thread has run.
pub(crate) fn processor_time() -> Duration {
    time_of(ClockId::ThreadCPUTime)
}

/// How long all threads of this process have run.
pub(crate) fn processor_time_of_all() -> Duration {
    time_of(ClockId::ProcessCPUTime)
}

fn time_of(clock: ClockId) -> Duration {
    let time = rustix::time::clock_gettime(clock);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// From the first thread's begin to the last one's end. (The thread that started them may be asleep at either.)
pub(crate) fn from_first_to_last(ran: &[(Instant, Instant)]) -> Duration {
    let begin = ran.iter().map(|(begin, _)| *begin).min();
    let end = ran.iter().map(|(_, end)| *end).max();
    begin.zip(end).map_or(Duration::ZERO, |(begin, end)| end - begin)
}

/// The median and the spread of some rounds.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl Spread {
    /// Of at least one figure.
    pub(crate) fn of(figures: &[f64]) -> Spread {
        let mut sorted = figures.to_vec();
        sorted.sort_by(f64::total_cmp);
        let median = f64::midpoint(sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
        Spread { median, min: sorted[0], max: sorted[sorted.len() - 1] }
    }

    /// Of the ratios of figures that were measured next to each other.
    pub(crate) fn of_ratios(figures: &[f64], to: &[f64]) -> Option<Spread> {
        let ratios: Vec<f64> = figures.iter().zip(to).map(|(figure, to)| figure / to).collect();
        (!ratios.is_empty()).then(|| Spread::of(&ratios))
    }
}

/// Prints columns: the first to the left, the others to the right.
pub(crate) fn print_table(heads: &[&str], rows: &[Vec<String>]) {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([heads[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut text = String::new();
        for (column, (cell, width)) in cells.zip(&widths).enumerate() {
            text += &if column == 0 { format!("{cell:width$}") } else { format!("  {cell:>width$}") };
        }
        println!("{}", text.trim_end());
    };
    line(&mut heads.iter().copied());
    rows.iter().for_each(|row| line(&mut row.iter().map(String::as_str)));
}

/// Reads a report that was kept as JSON.
pub(crate) fn read_json<R: serde::de::DeserializeOwned>(file: &std::path::Path) -> Result<R, String> {
    let text = std::fs::read(file).map_err(|e| format!("{}: {e}", file.display()))?;
    serde_json::from_slice(&text).map_err(|e| format!("{}: {e}", file.display()))
}

/// Prints a report as JSON.
pub(crate) fn print_json(report: &impl Serialize) {
    println!("{}", serde_json::to_string_pretty(report).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::Spread;

    #[test]
    fn medians_of_even_and_odd_counts() {
        assert_eq!(Spread::of(&[3.0, 1.0, 2.0]).median, 2.0);
        assert_eq!(Spread::of(&[4.0, 1.0, 2.0, 3.0]).median, 2.5);
    }

    #[test]
    fn ratios_are_taken_round_by_round() {
        let spread = Spread::of_ratios(&[2.0, 20.0, 300.0], &[1.0, 10.0, 100.0]).expect("three ratios");
        assert_eq!((spread.median, spread.max), (2.0, 3.0));
        assert!(Spread::of_ratios(&[1.0], &[]).is_none());
    }
}
