//! The rate that a configuration will reach, from what its elements cost one by one.
//!
//! RouteBricks (section 8) leaves it open how a programmer predicts what a new combination of elements will cost. Here each class costs what
//! `classes` measures for it with the arguments of `tests/stages.txt`, less the other classes there; how often a packet meets each element is counted in a run; and the sum
//! is compared with a run without counting. What is not in the sum is the error: other arguments, caches that several elements share, and batches that
//! part.

mod costs;

use crate::assembly;
use crate::classes::{measure, rows};
use crate::machine::Machine;
use crate::rcu::{Spread, processor_time_of_all};
use router::{Classes, Log, Options, Router};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// What to predict.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A configuration that makes its packets itself and ends. Without one, those of `conf/` and `bench/gate/` that make as many as a parameter says, on one worker and
    /// without a clock: the IP router, RouteBricks' three applications, and all of `bench/gate/` but `nat-new` and `cluster`.
    configuration: Option<String>,
    /// Its parameters, as NAME=VALUE.
    #[arg(value_parser = parameter, requires = "configuration")]
    parameters: Vec<(String, String)>,
    /// Runs of each configuration and of each class.
    #[arg(long, default_value_t = 9)]
    runs: usize,
    /// Packets a run: of each class, and of the configurations that this program knows.
    #[arg(long, default_value_t = 400_000)]
    packets: u64,
    /// One short run of each, to see that it works.
    #[arg(long)]
    tiny: bool,
    /// Machine-readable output.
    #[arg(long)]
    json: bool,
}

fn parameter(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("a parameter is NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// A configuration to predict.
struct Case {
    name: String,
    config: String,
    parameters: Vec<(String, String)>,
}

/// Those of the repository that run in memory and as fast as they can on one worker, and the parameters that say how many packets.
///
/// Of `bench/gate/`, `nat-new` makes a flow of each packet, which fills the table, and `cluster` waits for a clock. Of `conf/`, all others are for devices or for
/// hosts that answer, have two workers, or make a few packets only.
fn known(packets: u64) -> Vec<Case> {
    macro_rules! shipped {
        ($($path:literal $($parameter:literal)+;)+) => {
            [$(($path, include_str!(concat!("../../", $path)), [$($parameter),+].as_slice())),+]
        };
    }
    let cases = shipped! {
        "conf/fake-iprouter.click" "LIMIT=N";
        "conf/routebricks/minimal.click" "IN=MEMORY N" "OUT=MEMORY N";
        "conf/routebricks/routing.click" "IN=MEMORY N" "OUT=MEMORY N";
        "conf/routebricks/ipsec.click" "IN=MEMORY N" "OUT=MEMORY N";
        "bench/gate/ipv6-router.click" "LIMIT=N";
        "bench/gate/firewall.click" "LIMIT=N";
        "bench/gate/nat.click" "LIMIT=N";
        "bench/gate/nat64.click" "LIMIT=N";
        "bench/gate/exporter.click" "LIMIT=N";
        "bench/gate/stateful.click" "LIMIT=N";
        "bench/gate/classifier.click" "LIMIT=N";
    };
    let cases = cases.into_iter().map(|(name, config, parameters)| Case {
        name: name.to_owned(),
        config: config.to_owned(),
        parameters: parameters
            .iter()
            .filter_map(|text| text.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.replace('N', &packets.to_string())))
            .collect(),
    });
    cases.collect()
}

/// An element of a configuration that packets meet.
#[derive(Serialize)]
struct Met {
    element: String,
    class: &'static str,
    /// How often a packet of a source meets it.
    times_a_packet: f64,
    /// What it adds to a packet's time; `None` if its class is not measured.
    ns: Option<f64>,
}

/// A configuration's figures, in nanoseconds for each packet that a source makes.
#[derive(Serialize)]
struct Figure {
    name: String,
    predicted_ns: f64,
    ns_median: f64,
    ns_min: f64,
    ns_max: f64,
    /// How much more the prediction is than the median, in per cent.
    error_percent: f64,
    runs: usize,
    elements: Vec<Met>,
}

#[derive(Serialize)]
struct Report {
    machine: Machine,
    figures: Vec<Figure>,
    /// The error's absolute value: median over the configurations, and the largest.
    error_percent_median: f64,
    error_percent_max: f64,
}

/// Predicts and measures, in turns, and prints both.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let (runs, packets) =
        if arguments.tiny { (1, 2_000) } else { (arguments.runs.max(1), arguments.packets) };
    let machine = Machine::here(); // before the worker is bound to a processor
    let cases = match &arguments.configuration {
        Some(name) => vec![Case {
            name: name.clone(),
            config: std::fs::read_to_string(name).map_err(|error| format!("{name}: {error}"))?,
            parameters: arguments.parameters.clone(),
        }],
        None => known(packets),
    };
    let classes = elements::classes();
    let met = cases.iter().map(|case| meet(case, &classes)).collect::<Result<Vec<_>, _>>()?;
    let known_rows = rows()?;
    let stages = costs::stages(&known_rows, &met, &classes)?;
    let (mut costs, mut times) = (vec![Vec::new(); stages.len()], vec![Vec::new(); cases.len()]);
    for _ in 0..runs {
        for (stage, costs) in stages.iter().zip(&mut costs) {
            let [with, without] = measure(stage.row, packets)?;
            costs.push(with - without);
        }
        for ((case, met), times) in cases.iter().zip(&met).zip(&mut times) {
            times.push(time(case, &classes)? / met.packets);
        }
    }
    let costs: Vec<f64> = costs.iter().map(|ns| Spread::of(ns).median).collect();
    let costs = costs::own(&stages, &costs);
    let figures =
        cases.into_iter().zip(met).zip(times).map(|((case, met), ns)| met.figure(case.name, &costs, &ns));
    let figures: Vec<Figure> = figures.collect();
    let errors: Vec<f64> = figures.iter().map(|figure| figure.error_percent.abs()).collect();
    let errors = Spread::of(&errors);
    let report =
        Report { machine, error_percent_median: errors.median, error_percent_max: errors.max, figures };
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&report).unwrap_or_default());
    } else {
        print(&report, arguments.configuration.is_some());
    }
    Ok(())
}

/// What the packets of a configuration meet.
struct Meeting {
    /// How many packets its sources make.
    packets: f64,
    /// Element, class, and how many packets it is handed, or makes if it is a source.
    elements: Vec<(String, &'static str, f64)>,
}

/// Runs a configuration with its packets counted.
fn meet(case: &Case, classes: &Classes) -> Result<Meeting, String> {
    let mut router = build(case, classes, true)?;
    router.run();
    let (mut packets, mut elements) = (0.0, Vec::new());
    for entry in router.balance().elements {
        let is_source = entry.arrived == 0 && entry.made > 0;
        let handed = if is_source { entry.made } else { entry.arrived } as f64;
        packets += if is_source { handed } else { 0.0 };
        if handed > 0.0 {
            elements.push((entry.name, entry.class, handed));
        }
    }
    router.finish();
    if packets == 0.0 {
        return Err(format!("{}: no element makes packets", case.name));
    }
    Ok(Meeting { packets, elements })
}

impl Meeting {
    fn figure(self, name: String, costs: &BTreeMap<&str, f64>, ns: &[f64]) -> Figure {
        let packets = self.packets;
        let met = |(element, class, handed): (String, &'static str, f64)| {
            let times_a_packet = handed / packets;
            Met { element, class, times_a_packet, ns: costs.get(class).map(|ns| ns * times_a_packet) }
        };
        let mut elements: Vec<Met> = self.elements.into_iter().map(met).collect();
        elements.sort_by(|a, b| b.ns.unwrap_or(f64::MAX).total_cmp(&a.ns.unwrap_or(f64::MAX)));
        let predicted_ns = elements.iter().filter_map(|met| met.ns).sum();
        let Spread { median: ns_median, min: ns_min, max: ns_max } = Spread::of(ns);
        Figure {
            name,
            predicted_ns,
            ns_median,
            ns_min,
            ns_max,
            error_percent: 100.0 * (predicted_ns / ns_median - 1.0),
            runs: ns.len(),
            elements,
        }
    }
}

fn build(case: &Case, classes: &Classes, counted: bool) -> Result<Router, String> {
    // What elements have to say is no part of the table.
    let options = Options { pin: Some(0), log: Log::Memory(Mutex::default()), counted, ..Options::default() };
    assembly::build((&case.name, &case.config), &case.parameters, classes, options)
}

/// Nanoseconds of processor time that a configuration runs.
fn time(case: &Case, classes: &Classes) -> Result<f64, String> {
    let mut router = build(case, classes, false)?;
    let start = processor_time_of_all();
    router.run();
    let elapsed = (processor_time_of_all() - start).as_nanos() as f64;
    router.finish();
    Ok(elapsed)
}

fn print(report: &Report, in_detail: bool) {
    println!("{}", report.machine.line());
    println!(
        "{:32} {:>9} {:>7} {:>7} {:>7} {:>7}",
        "ns a packet", "predicted", "median", "min", "max", "error"
    );
    for f in &report.figures {
        println!(
            "{:32} {:9.1} {:7.1} {:7.1} {:7.1} {:+6.0}%",
            f.name, f.predicted_ns, f.ns_median, f.ns_min, f.ns_max, f.error_percent
        );
        for met in f.elements.iter().filter(|_| in_detail) {
            let ns = met.ns.map_or("not measured".to_owned(), |ns| format!("{ns:.1}"));
            println!("  {:30} {ns:>9} {:7.2} times a packet  {}", met.element, met.times_a_packet, met.class);
        }
        let unknown: Vec<&str> =
            f.elements.iter().filter(|met| met.ns.is_none()).map(|met| met.class).collect();
        if !unknown.is_empty() {
            println!("  without: {}", unknown.join(", "));
        }
    }
    println!(
        "\nerror: {:.0} % by the median, {:.0} % at most",
        report.error_percent_median, report.error_percent_max
    );
}
