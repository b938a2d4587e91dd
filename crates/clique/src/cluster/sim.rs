//! `clique cluster sim`.

use super::output::{complain, json};
use super::units::{amount, count, rate, rate_text};
use crate::console;
use crate::status::Status;
use clap::ValueEnum;
use cluster::chart::{Axis, Chart, Scale, Series};
use cluster::choice::{OrderPolicy, Scheme};
use cluster::sim::traffic::{Matrix, Sizes};
use cluster::sim::{Config, Failure, Part, Report, Service, Traffic, run as simulate};
use cluster::topology::Topology;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Instant;

/// Arguments of `clique cluster sim`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// External ports of the router.
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub(super) ports: usize,

    /// How servers are connected.
    #[arg(long, value_enum, default_value = "mesh")]
    topology: Shape,

    /// Links out of each server, in a fly.
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = count::<65_535>)]
    fanout: usize,

    /// Dimensions, of a torus.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = count::<16>)]
    dimensions: usize,

    /// How ways are chosen.
    #[arg(long, value_enum, default_value = "direct")]
    scheme: SchemeName,

    /// What is done about order.
    #[arg(long, value_enum, default_value = "flowlet")]
    order: OrderName,

    /// Rate of the external ports.
    #[arg(long, value_name = "RATE", default_value = "10G", value_parser = rate)]
    pub(super) line_rate: u64,

    /// Rate of the links between servers [default: 2R/N in a mesh, 2R/k in a fly with k links].
    #[arg(long, value_name = "RATE", value_parser = rate)]
    link_rate: Option<u64>,

    /// What goes from where to where; 'file' takes --matrix.
    #[arg(long, value_enum, default_value = "uniform")]
    traffic: MatrixName,

    /// A file with a row of weights for each port, for what goes from there to each port.
    #[arg(long, value_name = "FILE", required_if_eq("traffic", "file"))]
    matrix: Option<PathBuf>,

    /// The share of the line rate that comes in.
    #[arg(long, value_name = "X", default_value_t = 0.95)]
    load: f64,

    /// Bytes of a packet, or 'imix'.
    #[arg(long, value_name = "N", default_value = "1000", value_parser = sizes)]
    size: Sizes,

    /// Flows between each pair of ports; a few have most of the packets.
    #[arg(long, value_name = "N", default_value_t = 16)]
    flows: u32,

    /// Nanoseconds of processor for a packet where it comes in, passes through, leaves, as 800,400,400.
    #[arg(long, value_name = "A,B,C", value_parser = service)]
    service: Option<Service>,

    /// Microseconds for which each server keeps a packet besides.
    #[arg(long, value_name = "N", default_value_t = 24.0, value_parser = amount)]
    latency: f64,

    /// Milliseconds that are simulated.
    #[arg(long, value_name = "N", default_value_t = 20.0, value_parser = amount)]
    pub(super) milliseconds: f64,

    /// Milliseconds at the start in which nothing is measured.
    #[arg(long, value_name = "N", default_value_t = 5.0, value_parser = amount)]
    warmup: f64,

    /// What breaks, as node:3@10..20 or link:0-1@10..20, in milliseconds. In a mesh or a fly; nodes between others
    /// count on behind those with ports.
    #[arg(long, value_name = "WHAT", value_parser = failure)]
    fail: Vec<Failure>,

    /// Milliseconds until a failure is known.
    #[arg(long, value_name = "N", default_value_t = 50.0, value_parser = amount)]
    detect: f64,

    /// The seed of all chance.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) seed: u64,

    /// Simulate loads from 0.1 to 1 instead, and draw throughput and latency into this file.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Shape {
    Mesh,
    Fly,
    Torus,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SchemeName {
    /// Up to R/N for each port straight, the rest by way of the others.
    Direct,
    /// By way of a random server.
    Valiant,
    /// Always straight: one path for each pair.
    Straight,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum OrderName {
    /// Each packet goes its own way.
    None,
    /// A flow always takes the same way.
    Pinned,
    /// A flow keeps its way while its packets follow each other and the link has room.
    Flowlet,
    /// Packets are numbered and put in order where they leave.
    Strict,
    /// A flow keeps its way while anything of it may be under way.
    Quiet,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum MatrixName {
    Uniform,
    Permutation,
    HotSpot,
    Adversarial,
    File,
}

fn sizes(text: &str) -> Result<Sizes, String> {
    match text.parse() {
        _ if text == "imix" => Ok(Sizes::Imix),
        Ok(size @ 64..=9_216) => Ok(Sizes::Fixed(size)),
        _ => Err(format!("'{text}' is neither 'imix' nor a number from 64 to 9216")),
    }
}

fn service(text: &str) -> Result<Service, String> {
    let parts: Result<Vec<u32>, _> = text.split(',').map(str::parse).collect();
    match parts.as_deref() {
        Ok(&[ingress_ns, intermediate_ns, egress_ns]) => {
            Ok(Service { ingress_ns, intermediate_ns, egress_ns })
        }
        _ => Err(format!("'{text}' is not three numbers of nanoseconds such as 800,400,400")),
    }
}

fn failure(text: &str) -> Result<Failure, String> {
    let read = || {
        let (part, times) = text.split_once('@')?;
        let (from, until) = times.split_once("..")?;
        let ns = |text: &str| amount(text).ok().map(|ms| (ms * 1e6) as u64);
        let part = match part.split_once(':')? {
            ("node", node) => Part::Node(node.parse().ok()?),
            ("link", ends) => {
                let (a, b) = ends.split_once('-')?;
                Part::Link(a.parse().ok()?, b.parse().ok()?)
            }
            _ => return None,
        };
        Some(Failure { part, from_ns: ns(from)?, until_ns: ns(until)? })
    };
    read().ok_or_else(|| format!("'{text}' is not a failure such as node:3@10..20 or link:0-1@10..20"))
}

fn config(args: &Args) -> Result<Config, String> {
    let topology = match args.topology {
        Shape::Mesh => Topology::Mesh { nodes: args.ports },
        Shape::Fly => Topology::fly(args.ports, args.fanout),
        Shape::Torus => Topology::torus(args.ports, args.dimensions),
    };
    let scheme = match args.scheme {
        SchemeName::Direct => Scheme::Direct,
        SchemeName::Valiant => Scheme::Valiant,
        SchemeName::Straight => Scheme::Straight,
    };
    let order = match args.order {
        OrderName::None => OrderPolicy::None,
        OrderName::Pinned => OrderPolicy::Pinned,
        OrderName::Flowlet => OrderPolicy::Flowlet,
        OrderName::Strict => OrderPolicy::Sequence,
        OrderName::Quiet => OrderPolicy::Quiet,
    };
    let matrix = match (args.traffic, &args.matrix) {
        (MatrixName::Uniform, _) => Matrix::Uniform,
        (MatrixName::Permutation, _) => Matrix::Permutation,
        (MatrixName::HotSpot, _) => Matrix::HotSpot,
        (MatrixName::Adversarial, _) => Matrix::Adversarial,
        (MatrixName::File, file) => weights(file.as_ref().ok_or("'--traffic file' needs --matrix")?)?,
    };
    if matches!(args.topology, Shape::Fly) && args.fanout < 2 {
        return Err("in a fly at least two links lead out of each server".to_owned());
    }
    if !(args.load > 0.0 && args.load <= 1.0) {
        return Err("the load must be above 0 and at most 1".to_owned());
    }
    if args.warmup >= args.milliseconds {
        let (warmup, all) = (args.warmup, args.milliseconds);
        return Err(format!(
            "the warm-up ({warmup} ms, --warmup) must be shorter than the simulation ({all} ms, --milliseconds)"
        ));
    }
    let mut config = Config::new(topology, args.line_rate).with(scheme, order);
    if let Some(rate) = args.link_rate {
        config.choice.link_rate = rate;
    }
    // The memory of all nodes together stays within bounds.
    config.choice.flow_bits = (26 - args.ports.max(2).ilog2()).min(16);
    config.traffic = Traffic::Matrix { matrix, load: args.load, sizes: args.size, flows: args.flows.max(1) };
    config.service = args.service.unwrap_or_default();
    config.latency_ns = (args.latency * 1e3) as u64;
    config.duration_ns = (args.milliseconds * 1e6) as u64;
    config.warmup_ns = (args.warmup * 1e6) as u64;
    config.failures = args.fail.clone();
    config.detect_ns = (args.detect * 1e6) as u64;
    config.seed = args.seed;
    Ok(config)
}

/// Reads a matrix: a line for each row, numbers apart by space or comma; lines that start with '#' are comments.
fn weights(file: &PathBuf) -> Result<Matrix, String> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| format!("{}: {}", file.display(), console::reason(&error)))?;
    let mut rows = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let words = line.split([' ', '\t', ',']).filter(|word| !word.is_empty());
        let row: Result<Vec<f64>, _> = words.map(str::parse).collect();
        rows.push(row.map_err(|error| format!("{}:{}: {error}", file.display(), number + 1))?);
    }
    Ok(Matrix::Weights(rows))
}

/// Runs `clique cluster sim`.
pub(super) fn run(args: &Args) -> Status {
    let start = Instant::now();
    let made = config(args).and_then(|config| match &args.svg {
        Some(file) => sweep(&config, args, file),
        None => simulate(&config),
    });
    match made {
        Ok(report) if args.json => json(&report),
        Ok(report) => console::write_result(None, &describe(&report, args, start.elapsed().as_secs_f64())),
        Err(error) => complain("sim", &error, Status::Configuration),
    }
}

/// Simulates several loads; the last one's report.
fn sweep(config: &Config, args: &Args, file: &PathBuf) -> Result<Report, String> {
    let (mut points, mut last) = (Vec::new(), Report::default());
    for tenth in 1..=10 {
        let mut config = config.clone();
        if let Traffic::Matrix { load, .. } = &mut config.traffic {
            *load = f64::from(tenth) / 10.0;
        }
        last = simulate(&config)?;
        points.push((f64::from(tenth) / 10.0, last.clone()));
    }
    let whole = args.line_rate as f64 * config.topology.terminals() as f64;
    let line = |name: &str, value: &dyn Fn(&Report) -> f64| Series {
        name: name.to_owned(),
        points: points.iter().map(|(load, report)| (*load, value(report))).collect(),
        dashed: name == "theory",
    };
    let chart = Chart {
        title: format!("{} ports, {:?}, {:?}, {:?}", args.ports, args.topology, args.scheme, args.traffic),
        x: Axis { label: "load".to_owned(), scale: Scale::Linear },
        y: Axis { label: "throughput, in line rates; 99% latency, in ms".to_owned(), scale: Scale::Linear },
        series: vec![
            line("throughput", &|report| report.throughput / whole),
            line("theory", &|report| report.theory / whole),
            line("latency", &|report| report.latency.p99_us / 1e3),
        ],
    };
    std::fs::write(file, chart.svg())
        .map_err(|error| format!("{}: {}", file.display(), console::reason(&error)))?;
    Ok(last)
}

fn describe(report: &Report, args: &Args, seconds: f64) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{name:<16}{value}");
    };
    line("packets", format!("{} in, {} out", report.packets, report.delivered));
    let drops = report.drops;
    let reasons = [
        ("egress unreachable", drops.unreachable),
        ("links full at ingress", drops.refused),
        ("link full on the way", drops.link_full),
        ("port full", drops.port_full),
        ("processor behind", drops.processor),
        ("broken", drops.broken),
        ("no hops left", drops.hops),
        ("late", drops.late),
    ];
    for (reason, count) in reasons.into_iter().filter(|(_, count)| *count > 0) {
        line("dropped", format!("{count} ({reason})"));
    }
    line("offered", rate_text(report.offered));
    line("throughput", format!("{}, {:.4} of theory", rate_text(report.throughput), report.of_theory));
    line(
        "fairness",
        format!(
            "{:.4} of all inputs, {:.4} at the busiest port",
            report.fairness, report.fairness_at_busiest
        ),
    );
    line(
        "processed",
        format!(
            "{:.3} bits for each bit that came in; {:.3} R at the busiest server",
            report.c, report.c_busiest
        ),
    );
    let sent = (report.direct + report.balanced).max(1) as f64;
    line(
        "straight",
        format!(
            "{:.1}%, balanced {:.1}%, off their flowlet's way {:.3}%",
            100.0 * report.direct as f64 / sent,
            100.0 * report.balanced as f64 / sent,
            100.0 * report.spilled as f64 / sent
        ),
    );
    let latency = report.latency;
    line(
        "latency",
        format!(
            "50% {:.1} us, 90% {:.1} us, 99% {:.1} us, 99.9% {:.1} us",
            latency.p50_us, latency.p90_us, latency.p99_us, latency.p999_us
        ),
    );
    match report.reordering.packets {
        0 => line("reordering", "not looked at: too many flows".to_owned()),
        _ => line(
            "reordering",
            format!(
                "{} sequences, {:.4} for each hundred packets",
                report.reordering.sequences, report.reordered_percent
            ),
        ),
    }
    if args.svg.is_none() {
        line(
            "simulated",
            format!(
                "{:.2} million packets a second, {:.2} million events",
                report.packets as f64 / seconds / 1e6,
                report.events as f64 / seconds / 1e6
            ),
        );
    }
    text
}
