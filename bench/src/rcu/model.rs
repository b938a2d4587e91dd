//! `rcu-model`: when RCU pays, by arithmetic: the model of `docs/src/design/rcu-cost-model.md`, with costs
//! measured here, and its charts.

use crate::machine::Machine;
use crate::rcu::{Spread, chart::Chart, costs, print_json, print_table};
use serde::Serialize;
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How many rounds measure the costs.
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Write the charts into this folder.
    #[arg(long)]
    svg: Option<PathBuf>,
    /// Everything once, briefly.
    #[arg(long)]
    tiny: bool,
    /// JSON instead of a table.
    #[arg(long)]
    json: bool,
}

/// What the model starts from, in nanoseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Costs {
    /// An atomic operation on a line that the processor has: half of an uncontended lock.
    local: f64,
    /// One on a line that another processor has.
    transfer: f64,
    /// To queue what an RCU update replaces and free it later, beyond allocating and freeing, which a locked one does, too.
    retire: f64,
    /// To be quiescent once; an operation's share of it.
    quiescent: f64,
}

/// Which figure of several rounds.
type End = fn(&Spread) -> f64;

impl Costs {
    fn of(figures: &[costs::Figure]) -> Costs {
        Costs::at(figures, [|ns| ns.median; 4])
    }

    /// Every combination of the least and the most of each cost: between them the model's results lie.
    fn corners(figures: &[costs::Figure]) -> Vec<Costs> {
        let end = |most: bool| -> End { if most { |ns| ns.max } else { |ns| ns.min } };
        (0..16u32)
            .map(|which| Costs::at(figures, [0, 1, 2, 3].map(|bit| end(which >> bit & 1 == 1))))
            .collect()
    }

    /// With these figures of locking, moving a line, retiring, and being quiescent.
    fn at(figures: &[costs::Figure], [locking, moving, retiring, resting]: [End; 4]) -> Costs {
        let of = |name: &str, end: End| {
            let figure = figures.iter().find(|figure| figure.operation == name);
            figure.map_or(f64::NAN, |figure| end(&figure.ns))
        };
        let local = of(costs::LOCAL_LOCK, locking) / 2.0;
        let transfer = of(costs::TRANSFER, moving);
        // A machine with one processor transfers nothing; then as published for one with four.
        let transfer = if transfer.is_nan() { 4.4 * local } else { transfer };
        let retire = (of(costs::RETIRE, retiring) - of(costs::ALLOCATE, |ns| ns.median)).max(0.0);
        Costs { local, transfer, retire, quiescent: of(costs::QUIESCENT, resting) }
    }

    /// The memory-latency ratio.
    fn ratio(self) -> f64 {
        self.transfer / self.local
    }

    /// The same machine with another ratio: faster or slower memory.
    fn with_ratio(self, ratio: f64) -> Costs {
        Costs { transfer: ratio * self.local, ..self }
    }

    /// A spinlock around any operation.
    fn spinlock(self, n: f64) -> f64 {
        2.0 * self.local + (n - 1.0) / n * self.transfer
    }

    /// A reader's own lock of a brlock.
    fn brlock_read(self) -> f64 {
        2.0 * self.local
    }

    /// All locks of a brlock, and what the readers pay to get theirs back.
    fn brlock_update(self, n: f64) -> f64 {
        2.0 * n * self.local + 2.0 * (n - 1.0) * self.transfer
    }

    /// A grace period: each reader fetches the epoch and takes back its slot, which the scan fetches.
    fn grace_period(self, n: f64) -> f64 {
        2.0 * self.local + 3.0 * (n - 1.0) * self.transfer
    }

    /// An update under RCU, of which `lambda` share a grace period; updaters exclude each other by a spinlock.
    fn rcu_update(self, n: f64, lambda: f64) -> f64 {
        self.spinlock(n) + self.retire + self.grace_period(n) / lambda
    }

    /// The fraction of updates below which RCU costs less than a spinlock.
    fn break_even_spinlock(self, n: f64, lambda: f64) -> f64 {
        let reading = self.spinlock(n) - self.quiescent;
        (reading / (self.rcu_update(n, lambda) - self.quiescent)).clamp(0.0, 1.0)
    }

    /// The same against a brlock.
    fn break_even_brlock(self, n: f64, lambda: f64) -> f64 {
        let reading = self.brlock_read() - self.quiescent;
        let updating = self.rcu_update(n, lambda) - self.brlock_update(n);
        if updating <= 0.0 { 1.0 } else { (reading / (reading + updating)).clamp(0.0, 1.0) }
    }
}

/// Critical-section efficiency: the part of the time that is work.
fn efficiency(section: f64, acquire_and_release: f64) -> f64 {
    section / (section + acquire_and_release)
}

const PROCESSORS: [u32; 4] = [2, 4, 16, 64];
const SMALL_LAMBDA: f64 = 1.0;
const LARGE_LAMBDA: f64 = 1000.0;

#[derive(Serialize)]
struct BreakEven {
    processors: u32,
    updates_a_grace_period: f64,
    against_spinlock: Spread,
    against_brlock: Spread,
}

/// A result of the model with the medians of costs, and its least and most with any combination of their ends.
fn between(costs: Costs, corners: &[Costs], result: impl Fn(Costs) -> f64) -> Spread {
    let ends: Vec<f64> = corners.iter().chain([&costs]).map(|costs| result(*costs)).collect();
    Spread { median: result(costs), ..Spread::of(&ends) }
}

#[derive(Serialize)]
struct Report {
    machine: Machine,
    costs_ns: Costs,
    memory_latency_ratio: f64,
    break_even: Vec<BreakEven>,
}

type Curve<'a> = (String, Box<dyn Fn(f64) -> f64 + 'a>);

/// The points of some curves, at equal distances on a logarithmic axis.
fn points(from: f64, to: f64, curves: Vec<Curve<'_>>) -> Vec<(String, Vec<(f64, f64)>)> {
    let growth = (to / from).powf(1.0 / 120.0);
    let xs = || (0..=120).map(move |step| from * growth.powi(step));
    curves.into_iter().map(|(name, curve)| (name, xs().map(|x| (x, curve(x))).collect())).collect()
}

fn of_processors<'a>(curve: impl Fn(f64, f64) -> f64 + Copy + 'a) -> Vec<Curve<'a>> {
    PROCESSORS
        .into_iter()
        .map(|n| (format!("{n} processors"), Box::new(move |x| curve(f64::from(n), x)) as _))
        .collect()
}

fn charts(costs: Costs) -> Vec<Chart<'static>> {
    let break_even = |file, title, x, curves| Chart {
        file,
        title,
        x,
        y: "fraction of updates",
        lines: points(1.0, 1000.0, curves),
    };
    let ratio = "memory-latency ratio r (transfer / local atomic operation)";
    let overheads = [
        ("spinlock, 2 processors", costs.spinlock(2.0)),
        ("spinlock, 64 processors", costs.spinlock(64.0)),
        ("brlock", costs.brlock_read()),
        ("RCU", costs.quiescent),
    ];
    let efficiencies = overheads
        .map(|(name, overhead)| (name.to_owned(), Box::new(move |x| efficiency(x, overhead)) as _))
        .into();
    let mut all = vec![Chart {
        file: "rcu-efficiency.svg",
        title: "Critical-section efficiency of a read: Tc / (Tc + Ta + Tr)",
        x: "ns in the critical section, Tc",
        y: "efficiency",
        lines: points(1.0, 10_000.0, efficiencies),
    }];
    let against = |lambda: f64| {
        (
            of_processors(move |n, r| costs.with_ratio(r).break_even_spinlock(n, lambda)),
            of_processors(move |n, r| costs.with_ratio(r).break_even_brlock(n, lambda)),
        )
    };
    let (spinlock_small, brlock_small) = against(SMALL_LAMBDA);
    let (spinlock_large, brlock_large) = against(LARGE_LAMBDA);
    let title = "Below the line RCU is cheaper than a spinlock: one update a grace period";
    all.push(break_even("rcu-spinlock-small-lambda.svg", title, ratio, spinlock_small));
    let title = "Below the line RCU is cheaper than a spinlock: 1,000 updates a grace period";
    all.push(break_even("rcu-spinlock-large-lambda.svg", title, ratio, spinlock_large));
    let title = "Below the line RCU is cheaper than a brlock: one update a grace period";
    all.push(break_even("rcu-brlock-small-lambda.svg", title, ratio, brlock_small));
    let title = "Below the line RCU is cheaper than a brlock: 1,000 updates a grace period";
    all.push(break_even("rcu-brlock-large-lambda.svg", title, ratio, brlock_large));
    let title = "Below the line RCU is cheaper than a spinlock, at this machine's ratio";
    let lambda = "updates a grace period, lambda";
    let curves = of_processors(move |n, lambda| costs.break_even_spinlock(n, lambda));
    all.push(break_even("rcu-spinlock-lambda.svg", title, lambda, curves));
    all
}

/// Measures the costs, computes, prints and draws.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let machine = Machine::here();
    let rounds = if arguments.tiny { 1 } else { arguments.rounds.max(1) };
    let figures = costs::measure(rounds, arguments.tiny);
    let (costs, corners) = (Costs::of(&figures), Costs::corners(&figures));
    let break_even = [SMALL_LAMBDA, LARGE_LAMBDA].into_iter().flat_map(|lambda| {
        PROCESSORS.map(|n| BreakEven {
            processors: n,
            updates_a_grace_period: lambda,
            against_spinlock: between(costs, &corners, |costs| {
                costs.break_even_spinlock(f64::from(n), lambda)
            }),
            against_brlock: between(costs, &corners, |costs| costs.break_even_brlock(f64::from(n), lambda)),
        })
    });
    let report = Report {
        machine,
        costs_ns: costs,
        memory_latency_ratio: costs.ratio(),
        break_even: break_even.collect(),
    };
    if let Some(folder) = &arguments.svg {
        charts(costs).iter().try_for_each(|chart| chart.draw(folder))?;
    }
    if arguments.json {
        print_json(&report);
    } else {
        report.print();
    }
    Ok(())
}

impl Report {
    fn print(&self) {
        let Costs { local, transfer, retire, quiescent } = self.costs_ns;
        println!("{}", self.machine.line());
        println!(
            "local {local:.1} ns, transfer {transfer:.1} ns (r = {:.1}), retire {retire:.1} ns, quiescent {quiescent:.2} ns\n",
            self.memory_latency_ratio
        );
        let heads = ["RCU is cheaper below", "updates a grace period", "than a spinlock", "than a brlock"];
        let percent = |share: Spread| {
            format!("{:.1} % ({:.1}-{:.1})", 100.0 * share.median, 100.0 * share.min, 100.0 * share.max)
        };
        let rows = self.break_even.iter().map(|row| {
            vec![
                format!("{} processors", row.processors),
                format!("{:.0}", row.updates_a_grace_period),
                percent(row.against_spinlock),
                percent(row.against_brlock),
            ]
        });
        print_table(&heads, &rows.collect::<Vec<_>>());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COSTS: Costs = Costs { local: 5.0, transfer: 100.0, retire: 50.0, quiescent: 0.5 };

    #[test]
    fn at_the_break_even_both_cost_the_same() {
        for (n, lambda) in [(2.0, 1.0), (16.0, 1.0), (64.0, 1000.0)] {
            let f = COSTS.break_even_spinlock(n, lambda);
            assert!(f > 0.0 && f < 1.0, "{f}");
            let rcu = f * COSTS.rcu_update(n, lambda) + (1.0 - f) * COSTS.quiescent;
            assert!((rcu - COSTS.spinlock(n)).abs() < 1e-9);
            let f = COSTS.break_even_brlock(n, lambda);
            let rcu = f * COSTS.rcu_update(n, lambda) + (1.0 - f) * COSTS.quiescent;
            let brlock = f * COSTS.brlock_update(n) + (1.0 - f) * COSTS.brlock_read();
            // Where updates alone are cheaper with RCU, it always wins.
            assert!((rcu - brlock).abs() < 1e-9 || (f == 1.0 && rcu < brlock));
        }
    }

    /// A bar covers every combination of costs, also those whose result is not at a corner that costs most or least altogether.
    #[test]
    fn bars_cover_all_costs() {
        let figure = |operation, median| costs::Figure {
            operation,
            ns: Spread { median, min: median / 2.0, max: median * 2.0 },
            ns_pentium_iii: None,
        };
        let figures = [
            figure(costs::LOCAL_LOCK, 10.0),
            figure(costs::TRANSFER, 100.0),
            figure(costs::RETIRE, 80.0),
            figure(costs::ALLOCATE, 30.0),
            figure(costs::QUIESCENT, 0.5),
        ];
        let bar = between(Costs::of(&figures), &Costs::corners(&figures), |costs| {
            costs.break_even_spinlock(4.0, 1.0)
        });
        for (local, transfer, retire) in [(2.5, 200.0, 10.0), (10.0, 50.0, 130.0), (5.0, 100.0, 50.0)] {
            let f = Costs { local, transfer, retire, quiescent: 0.5 }.break_even_spinlock(4.0, 1.0);
            assert!(bar.min <= f && f <= bar.max, "{f} is not in {bar:?}");
        }
        assert!(bar.min < bar.median && bar.median < bar.max, "{bar:?}");
    }

    #[test]
    fn more_updates_a_grace_period_and_slower_memory_favour_rcu() {
        assert!(COSTS.break_even_spinlock(4.0, 1000.0) > COSTS.break_even_spinlock(4.0, 1.0));
        let slow = COSTS.with_ratio(200.0);
        assert!(slow.break_even_spinlock(4.0, 1000.0) > COSTS.break_even_spinlock(4.0, 1000.0));
    }
}
