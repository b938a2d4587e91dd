//! Many servers as one router: what a packet costs where it comes in, passes through and leaves; how a simulated cluster of
//! many ports does against theory; what ways of keeping order are worth.

mod arguments;
mod elephant;
pub(crate) mod host;
mod nodes;
mod rb4;
mod workers;

use crate::machine::Machine;
use arguments::Part;
use cluster::choice::{Chooser, OrderPolicy, Scheme, Settings};
use cluster::label::{Label, Stamp};
use cluster::resequence::{self, Resequencer};
use cluster::sim::traffic::{Matrix, Sizes};
use cluster::sim::{Config, Report, Traffic, run as simulate, trace};
use cluster::topology::Topology;
use cluster::transit::next;
use cluster::view::View;
use elements::cluster::HashKey;
use elements::cluster::flow_hash::{Fields, Flows};
use serde_json::{Value, json};
use std::hint::black_box;
use std::time::Instant;

pub(crate) use arguments::Arguments;

const LINE_RATE: u64 = 10_000_000_000;

/// Runs it.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let wanted = |part| arguments.only.is_empty() || arguments.only.contains(&part);
    let mut figures = Vec::new();
    if wanted(Part::Roles) {
        figures.extend(roles(arguments));
    }
    if wanted(Part::Nodes) {
        figures.extend(nodes::figures(arguments)?);
    }
    if wanted(Part::Workers) {
        figures.extend(workers::figures(arguments)?);
    }
    if wanted(Part::Orders) {
        figures.extend(orders(arguments)?);
    }
    if wanted(Part::Flowlets) {
        figures.extend(flowlets(arguments)?);
    }
    if wanted(Part::Scale) {
        figures.extend(scale(arguments)?);
    }
    if wanted(Part::Rb4) {
        figures.extend(rb4::figures(arguments)?);
    }
    if wanted(Part::Busy) {
        figures.extend(rb4::busy::figures(arguments)?);
    }
    if wanted(Part::Elephant) {
        figures.extend(elephant::figures(arguments)?);
    }
    if arguments.json {
        let report = json!({ "machine": Machine::here(), "figures": figures });
        println!("{}", serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?);
        return Ok(());
    }
    for figure in &figures {
        let words: Vec<String> = figure
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(name, value)| !["name", "report"].contains(&name.as_str()) && !value.is_null())
            .map(|(name, value)| format!("{name} {}", text(value)))
            .collect();
        println!("{:<44} {}", figure["name"].as_str().unwrap_or_default(), words.join(", "));
    }
    Ok(())
}

/// A figure, or the spread of several.
fn text(value: &Value) -> String {
    let of = |name: &str| value[name].as_f64().unwrap_or_default();
    match value {
        Value::Object(of) if of.contains_key("p50") => {
            let of = |name: &str| of[name].as_f64().unwrap_or_default();
            format!("{:.2} / {:.2} / {:.2} / {:.2}", of("p50"), of("p90"), of("p99"), of("max"))
        }
        Value::Object(_) => format!("{:.2} ({:.2} to {:.2})", of("median"), of("least"), of("most")),
        _ => value.to_string(),
    }
}

/// An IPv4 UDP packet of a flow.
fn packet(flow: u16) -> Vec<u8> {
    let mut bytes = vec![0; 60];
    (bytes[0], bytes[9]) = (0x45, 17);
    bytes[20..22].copy_from_slice(&flow.to_be_bytes());
    bytes
}

/// Median nanoseconds of an operation over several runs.
fn time(arguments: &Arguments, mut operation: impl FnMut(u64)) -> f64 {
    let (runs, count) = if arguments.tiny { (1, 1_000) } else { (arguments.runs.max(1), 1_000_000) };
    let mut clock = 0;
    let mut times: Vec<f64> = (0..runs)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..count {
                clock += 1;
                operation(clock);
            }
            start.elapsed().as_nanos() as f64 / count as f64
        })
        .collect();
    times.sort_unstable_by(f64::total_cmp);
    times[times.len() / 2]
}

/// What path choice and labels cost at each role, without the router around them.
fn roles(arguments: &Arguments) -> Vec<Value> {
    let topology = Topology::Mesh { nodes: 4 };
    let packets: Vec<_> = (0..1_024).map(packet).collect();
    let flows = Flows { key: HashKey::new(1), fields: Fields::Ports };
    let mut figures = Vec::new();
    let mut add = |name: String, ns: f64| figures.push(json!({ "name": name, "ns": ns }));
    for order in [OrderPolicy::None, OrderPolicy::Pinned, OrderPolicy::Flowlet, OrderPolicy::Sequence] {
        let settings = Settings { order, ..Settings::new(LINE_RATE, LINE_RATE / 2) };
        let mut chooser = Chooser::new(topology.clone(), View::whole(0, 4), settings);
        let ns = time(arguments, |at| {
            let flow = flows.of(black_box(&packets[at as usize % 1_024]));
            // As fast as the line brings them.
            if let Ok(decision) = chooser.choose(at * 60, flow, 1 + (at % 3) as u16, 64) {
                let stamp = decision.stamp;
                black_box(Label { egress: 1, port: 0, ingress: 0, hops: 1, stamp }.encode());
            }
        });
        add(format!("ingress, order {order:?}"), ns);
    }
    let frame = |stamp| Label { egress: 2, port: 0, ingress: 0, hops: 1, stamp }.encode();
    let settings = Settings::new(LINE_RATE, LINE_RATE / 2);
    let mut chooser = Chooser::new(topology.clone(), View::whole(1, 4), settings);
    let plain = frame(Stamp::None);
    let ns = time(arguments, |at| {
        if let Some(label) = Label::decode(black_box(&plain)) {
            let _ = black_box((chooser.pass(at * 60, 2, 64), next(&topology, 1, label)));
        }
    });
    add("intermediate".to_owned(), ns);
    let ns = time(arguments, |_| {
        black_box(Label::decode(black_box(&plain)).map(|label| next(&topology, 2, label)));
    });
    add("egress".to_owned(), ns);
    let mut resequencer = Resequencer::new(resequence::Settings::default());
    let ns = time(arguments, |at| {
        // Every other pair comes the wrong way round.
        let number = if at % 4 < 2 { at } else { at ^ 1 };
        let frame = frame(Stamp::Sequence { bucket: 7, number: number as u16 });
        if let Some(Label { stamp: Stamp::Sequence { bucket, number }, .. }) =
            Label::decode(black_box(&frame))
        {
            resequencer.push(at * 60, (0, bucket), number, number, |out| {
                black_box(out);
            });
        }
    });
    add("egress, order Sequence".to_owned(), ns);
    figures
}

/// The paper's experiment on order.
fn orders(arguments: &Arguments) -> Result<Vec<Value>, String> {
    let duration_ns = if arguments.tiny { 5_000_000 } else { 500_000_000 };
    let trace = trace::make(&trace::Settings { duration_ns, rate: LINE_RATE / 100 * 85, seed: 1 });
    let modes = [
        (Scheme::Valiant, OrderPolicy::None),
        (Scheme::Direct, OrderPolicy::None),
        (Scheme::Direct, OrderPolicy::Flowlet),
        (Scheme::Direct, OrderPolicy::Pinned),
        (Scheme::Direct, OrderPolicy::Quiet),
        (Scheme::Direct, OrderPolicy::Sequence),
    ];
    let one = |(scheme, order)| {
        let mut config = Config::new(Topology::Mesh { nodes: 4 }, LINE_RATE).with(scheme, order);
        config.traffic = Traffic::Trace(trace.clone());
        (config.duration_ns, config.warmup_ns) = (duration_ns, 0);
        let report = simulate(&config)?;
        Ok(json!({
            "name": format!("order: {scheme:?}, {order:?}"),
            "reordered": report.reordering.sequences,
            "percent": report.reordered_percent,
            "p99_us": report.latency.p99_us,
            "report": report,
        }))
    };
    modes.into_iter().map(one).collect()
}

/// Flowlets against single packets, where the flows of a pair fill a good part of its links, for several seeds.
fn flowlets(arguments: &Arguments) -> Result<Vec<Value>, String> {
    let (all_nodes, flows): (&[usize], &[u32]) =
        if arguments.tiny { (&[4], &[16]) } else { (&[4, 8], &[4, 16, 64, 256]) };
    let mut figures = Vec::new();
    for &nodes in all_nodes {
        for matrix in [Matrix::Uniform, Matrix::Permutation] {
            for (load, &flows) in
                [0.7, 0.95].into_iter().flat_map(|load| flows.iter().map(move |f| (load, f)))
            {
                for order in [OrderPolicy::None, OrderPolicy::Flowlet] {
                    let traffic = Traffic::Matrix { matrix: matrix.clone(), load, sizes: Sizes::Imix, flows };
                    let reports = of_seeds(arguments, nodes, order, &traffic)?;
                    figures.push(json!({
                        "name": format!("{nodes} nodes, {matrix:?}, load {load}, {flows} flows a pair, {order:?}"),
                        "seeds": reports.len(),
                        "percent": spread(&reports, |report| report.reordered_percent),
                        "p50_us": spread(&reports, |report| report.latency.p50_us),
                        "p99_us": spread(&reports, |report| report.latency.p99_us),
                        "spilled": spread(&reports, |report| report.spilled as f64),
                        "dropped": spread(&reports, |report| report.drops.total() as f64),
                        "of_theory": spread(&reports, |report| report.of_theory),
                    }));
                }
            }
        }
    }
    Ok(figures)
}

/// The same traffic of flows and partners that each seed draws anew.
fn of_seeds(
    arguments: &Arguments,
    nodes: usize,
    order: OrderPolicy,
    traffic: &Traffic,
) -> Result<Vec<Report>, String> {
    let (seeds, ms) = if arguments.tiny { (2, 1) } else { (arguments.seeds.max(1), 30) };
    let of_seed = |seed| {
        let mut config = Config::new(Topology::Mesh { nodes }, LINE_RATE).with(Scheme::Direct, order);
        (config.traffic, config.seed) = (traffic.clone(), seed);
        (config.warmup_ns, config.duration_ns) = (20_000_000, (20 + ms) * 1_000_000);
        simulate(&config)
    };
    (1..=seeds).map(of_seed).collect()
}

/// Median, least and most of what reports say.
fn spread(reports: &[Report], of: impl Fn(&Report) -> f64) -> Value {
    let mut values: Vec<f64> = reports.iter().map(of).collect();
    values.sort_unstable_by(f64::total_cmp);
    json!({ "median": values[values.len() / 2], "least": values[0], "most": values[values.len() - 1] })
}

/// Simulated clusters of many ports, against theory.
fn scale(arguments: &Arguments) -> Result<Vec<Value>, String> {
    let most = if arguments.tiny { 8 } else { arguments.ports };
    let mut figures = Vec::new();
    let sizes = (2..).map(|power| 1usize << power).take_while(|ports| *ports <= most);
    for ports in sizes {
        // A mesh as far as servers with twenty cards can form one, a fly from where those with five no longer can.
        let mesh = (ports <= 256).then_some(("mesh", Topology::Mesh { nodes: ports }));
        let fly = (ports >= 64).then(|| ("n-fly", Topology::fly(ports, 32)));
        for (name, topology) in mesh.into_iter().chain(fly) {
            for matrix in [Matrix::Uniform, Matrix::Adversarial] {
                let (report, seconds) = simulated(&topology, &matrix, ports, arguments.tiny)?;
                figures.push(json!({
                    "name": format!("{ports} ports, {name}, {matrix:?}"),
                    "of_theory": report.of_theory,
                    "fairness": report.fairness,
                    "c": report.c,
                    "c_busiest": report.c_busiest,
                    "million_packets_a_second": report.packets as f64 / seconds / 1e6,
                    "report": report,
                }));
            }
        }
    }
    Ok(figures)
}

fn simulated(
    topology: &Topology,
    matrix: &Matrix,
    ports: usize,
    tiny: bool,
) -> Result<(Report, f64), String> {
    let mut config = Config::new(topology.clone(), LINE_RATE).with(Scheme::Direct, OrderPolicy::None);
    let (matrix, sizes) = (matrix.clone(), Sizes::Fixed(1_500));
    config.traffic = Traffic::Matrix { matrix, load: 0.95, sizes, flows: 16 };
    // About a million packets or more. Until queues have settled, less leaves than comes in: in the largest fly that takes 6 ms.
    let (warmup_ms, ms) = if tiny { (0.5, 0.5) } else { (8.0, (1_200.0 / ports as f64).clamp(4.0, 100.0)) };
    (config.warmup_ns, config.duration_ns) = ((warmup_ms * 1e6) as u64, ((warmup_ms + ms) * 1e6) as u64);
    let start = Instant::now();
    let report = simulate(&config)?;
    Ok((report, start.elapsed().as_secs_f64()))
}
