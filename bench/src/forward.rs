//! Nanoseconds a packet through forwarding configurations: the SOSP IP router, and a source, counter and sink.

use crate::machine::Machine;
use router::{Call, Options, Router};
use serde::Serialize;
use std::time::Instant;

/// The SOSP paper's IP router with a source instead of devices, as shipped.
const FAKE_IPROUTER: &str = include_str!("../../conf/fake-iprouter.click");

/// What to measure.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Runs of each configuration.
    #[arg(long, default_value_t = 9)]
    runs: usize,
    /// Packets a run.
    #[arg(long, default_value_t = 5_000_000)]
    packets: u64,
    /// Measure only configurations whose name contains this.
    #[arg(long, default_value = "")]
    only: String,
    /// One short run of each, to see that it works.
    #[arg(long)]
    tiny: bool,
    /// Machine-readable output.
    #[arg(long)]
    json: bool,
}

struct Case {
    name: &'static str,
    config: String,
    /// Values of the configuration's parameters.
    params: Vec<(String, String)>,
    vector: usize,
    /// Nanoseconds a packet of Click and of FastClick on the reference machine (bench/README.md).
    peers: (f64, f64),
}

fn cases(packets: u64) -> Vec<Case> {
    let params = |burst: usize| {
        vec![("BURST".to_owned(), burst.to_string()), ("LIMIT".to_owned(), packets.to_string())]
    };
    let case = |name, config: &str, burst, peers| Case {
        name,
        config: config.to_owned(),
        params: params(burst),
        vector: 32,
        peers,
    };
    let counter = "define($BURST 1, $LIMIT 1);
        InfiniteSource(BURST $BURST, LENGTH 64, LIMIT $LIMIT, STOP true) -> Counter -> Discard;";
    vec![
        case("fake-iprouter, burst 32", FAKE_IPROUTER, 32, (242.0, 127.0)),
        case("fake-iprouter, burst 1", FAKE_IPROUTER, 1, (252.0, 178.0)),
        case("source-counter-discard, burst 32", counter, 32, (101.0, 47.0)),
        case("source-counter-discard, burst 1", counter, 1, (f64::NAN, f64::NAN)),
    ]
}

/// A result.
#[derive(Serialize)]
struct Figure {
    name: &'static str,
    ns_median: f64,
    ns_min: f64,
    ns_max: f64,
    runs: usize,
    packets: u64,
    dispatches_per_packet: f64,
    click_reference_ns: Option<f64>,
    fastclick_reference_ns: Option<f64>,
}

#[derive(Serialize)]
struct Report {
    machine: Machine,
    figures: Vec<Figure>,
}

/// Builds a router from a configuration and runs it to its end: nanoseconds, and dispatches made.
fn time(case: &Case) -> Result<(f64, u64), String> {
    let parsed = lang::parse(&case.config, case.name, &case.params);
    if parsed.has_errors() {
        return Err(parsed.render_click());
    }
    let known = elements::classes();
    let layout = router::layout(parsed.graph, &known, 1).map_err(|e| lang::render_click(&e))?;
    let options = Options { vector: case.vector, pin: true, ..Options::default() };
    let (mut router, _) =
        router::build(layout, case.config.clone(), &known, options).map_err(|e| lang::render_click(&e))?;
    let start = Instant::now();
    router.run();
    let elapsed = start.elapsed().as_nanos() as f64;
    router.finish();
    check_nothing_dropped(&mut router)?;
    Ok((elapsed, router.dispatches()))
}

/// A figure over packets that went missing would say nothing.
fn check_nothing_dropped(router: &mut Router) -> Result<(), String> {
    let names: Vec<String> = router.info().nodes.iter().map(|node| node.name.clone()).collect();
    for name in names {
        let reasons = router.call(Call::read(format!("{name}.drop_reasons"), ""))?;
        if !reasons.is_empty() {
            return Err(format!("'{name}' dropped packets: {}", reasons.trim()));
        }
    }
    Ok(())
}

/// Measures all cases, interleaved, and prints them.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let (runs, packets) =
        if arguments.tiny { (1, 10_000) } else { (arguments.runs.max(1), arguments.packets) };
    let cases: Vec<Case> =
        cases(packets).into_iter().filter(|case| case.name.contains(&arguments.only)).collect();
    let machine = Machine::here(); // before workers are bound to processors
    let mut times = vec![Vec::new(); cases.len()];
    let mut dispatches = vec![0; cases.len()];
    for _ in 0..runs {
        for (i, case) in cases.iter().enumerate() {
            let (ns, made) = time(case)?;
            times[i].push(ns / packets as f64);
            dispatches[i] = made;
        }
    }
    let figures = cases.iter().zip(times).zip(dispatches).map(|((case, mut ns), made)| {
        ns.sort_by(f64::total_cmp);
        Figure {
            name: case.name,
            ns_median: ns[ns.len() / 2],
            ns_min: ns[0],
            ns_max: ns[ns.len() - 1],
            runs,
            packets,
            dispatches_per_packet: made as f64 / packets as f64,
            click_reference_ns: Some(case.peers.0).filter(|ns| ns.is_finite()),
            fastclick_reference_ns: Some(case.peers.1).filter(|ns| ns.is_finite()),
        }
    });
    print(&Report { machine, figures: figures.collect() }, arguments.json);
    Ok(())
}

fn print(report: &Report, json: bool) {
    if json {
        println!("{}", serde_json::to_string_pretty(report).unwrap_or_default());
        return;
    }
    println!("{}", report.machine.line());
    println!(
        "{:34} {:>8} {:>8} {:>8} {:>8}  {:>8} {:>9}",
        "ns a packet", "median", "min", "max", "disp/pkt", "Click", "FastClick"
    );
    let or_dash = |ns: Option<f64>| ns.map_or("-".to_owned(), |ns| format!("{ns:.0}"));
    for f in &report.figures {
        println!(
            "{:34} {:8.1} {:8.1} {:8.1} {:8.2}  {:>8} {:>9}",
            f.name,
            f.ns_median,
            f.ns_min,
            f.ns_max,
            f.dispatches_per_packet,
            or_dash(f.click_reference_ns),
            or_dash(f.fastclick_reference_ns)
        );
    }
    println!(
        "Click and FastClick: reference figures from another machine of the kind, not measured in this run."
    );
}
