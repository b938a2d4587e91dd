//! Processor time a packet through the kernel's interfaces, latency, and what a change of all routes costs.
//!
//! A sender and a receiver share one network namespace, a forwarder has another; two virtual cables join them. For processor
//! time the sender keeps a window of packets under way and sends more when they have arrived, so that nothing is lost and no work is done
//! in vain. What is measured is the processor time of all that takes part, sender and softirq threads included; the cost
//! of sending alone, to an interface where nobody listens, is a row of its own. For latency, and while routes change, the
//! sender keeps a rate instead: a share of what passed without loss before.

mod forward;
mod network;
mod play;

use crate::machine::Machine;
use lpm::{Prefix, import};
use network::Network;
use serde::Serialize;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What to measure.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Rounds; in each of them every forwarder is measured once.
    #[arg(long, default_value_t = 9)]
    rounds: usize,
    /// Packets a measurement.
    #[arg(long, default_value_t = 300_000)]
    packets: u64,
    /// Packets under way.
    #[arg(long, default_value_t = 512)]
    window: u64,
    /// Bytes of a packet, with the four that hardware adds, or 'imix'.
    #[arg(long, default_value = "64")]
    size: String,
    /// Measure 64 bytes, IMIX and 1518 bytes.
    #[arg(long)]
    sizes: bool,
    /// Destination addresses, drawn from the routes.
    #[arg(long, default_value_t = 131_072)]
    destinations: usize,
    /// The routes: a list of prefixes, packed or not.
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/internet-prefixes.txt.xz"))]
    routes: PathBuf,
    /// Seconds for which each load is kept up for latency; 0 for no latency.
    #[arg(long, default_value_t = 2.0)]
    latency: f64,
    /// Routes replaced while packets flow at half of the rate that passes without loss; 0 for none.
    #[arg(long, default_value_t = 1_000_000)]
    replace: u64,
    /// One short measurement of each, to see that it works.
    #[arg(long)]
    tiny: bool,
    /// Machine-readable output.
    #[arg(long)]
    json: bool,
    /// Be the forwarder, within its namespace.
    #[arg(long, hide = true)]
    forwarder: Option<String>,
    /// Be the sender, within its namespace.
    #[arg(long, hide = true)]
    send: bool,
    /// Be the sender, at this rate.
    #[arg(long, hide = true)]
    rate: Option<f64>,
}

/// Who forwards.
const FORWARDERS: [&str; 7] = [
    "nobody",
    "linux",
    "bare-xdp",
    "clique-xdp",
    "clique-packet",
    "clique-router-xdp",
    "clique-router-packet",
];

/// A result: nanoseconds of processor time a packet.
#[derive(Serialize)]
struct Figure {
    size: String,
    name: &'static str,
    ns_median: f64,
    ns_min: f64,
    ns_max: f64,
    /// Without sending.
    own_ns_median: f64,
    /// Packets a second of elapsed time, a window under way.
    packets_per_s_median: f64,
    /// Packets that did not arrive.
    lost: u64,
}

/// How long packets take at a load.
#[derive(Serialize)]
struct Latency {
    size: String,
    name: &'static str,
    /// Percent of the rate that passed without loss, a window under way.
    load_percent: u32,
    packets: u64,
    lost: u64,
    ns_p50: u64,
    ns_p99: u64,
    ns_p999: u64,
    ns_max: u64,
}

/// What becomes of packets while all routes are replaced.
#[derive(Serialize)]
struct Replacement {
    name: &'static str,
    routes: u64,
    took_s: f64,
    packets_per_s: f64,
    packets: u64,
    lost: u64,
    /// Packets lost, divided by their rate.
    blocked_s: f64,
    ns_p50: u64,
    ns_p99: u64,
    ns_p999: u64,
    ns_max: u64,
}

#[derive(Serialize)]
struct Report {
    machine: Machine,
    packets: u64,
    window: u64,
    destinations: usize,
    routes: usize,
    figures: Vec<Figure>,
    latencies: Vec<Latency>,
    replacements: Vec<Replacement>,
    /// Why there are none.
    skipped: Option<String>,
}

/// The IPv4 prefixes of a file.
fn prefixes(file: &Path) -> Result<Vec<Prefix<u32>>, String> {
    let list = import::read_file(file, import::Options::default());
    let list = list.map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(list.v4.iter().map(|&(prefix, _)| prefix).collect())
}

/// This program again, in a namespace.
fn this(namespace: &str, arguments: &Arguments, role: &[&str]) -> Result<Command, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new("ip");
    command.args(["netns", "exec", namespace]).arg(own).arg("devices").args(role).args([
        "--packets".to_owned(),
        arguments.packets.to_string(),
        "--window".to_owned(),
        arguments.window.to_string(),
        "--size".to_owned(),
        arguments.size.clone(),
        "--destinations".to_owned(),
        arguments.destinations.to_string(),
    ]);
    command.arg("--routes").arg(&arguments.routes);
    Ok(command)
}

/// Processor time of a process so far, of all its threads, in nanoseconds.
fn spent(pid: u32) -> u64 {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let time = |path: std::path::PathBuf| {
        let text = std::fs::read_to_string(path.join("schedstat")).unwrap_or_default();
        text.split(' ').next().and_then(|ns| ns.parse::<u64>().ok()).unwrap_or(0)
    };
    tasks.map(|task| time(task.path())).sum()
}

/// The threads in which the kernel does what interrupts leave to do.
fn softirq_threads() -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let name = |pid: u32| std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    let pids = processes.filter_map(|entry| entry.file_name().to_string_lossy().parse::<u32>().ok());
    pids.filter(|&pid| name(pid).starts_with("ksoftirqd/")).collect()
}

/// Ends with its owner.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill(); // it may have ended already
        let _ = self.0.wait();
    }
}

/// A forwarder that is ready.
struct Forwarder {
    process: Running,
    says: BufReader<std::process::ChildStdout>,
}

impl Forwarder {
    fn start(arguments: &Arguments, network: &Network, name: &str) -> Result<Forwarder, String> {
        let mut command = this(&network.router, arguments, &["--forwarder", name])?;
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut process = Running(child.map_err(|error| error.to_string())?);
        let says = process.0.stdout.take().map(BufReader::new);
        let mut forwarder = Forwarder { process, says: says.ok_or("no output")? };
        match forwarder.line()?.trim() {
            "ready" => Ok(forwarder),
            said => Err(format!("{name}: the forwarder did not start: {said}")),
        }
    }

    fn line(&mut self) -> Result<String, String> {
        let mut line = String::new();
        self.says.read_line(&mut line).map_err(|error| error.to_string())?;
        Ok(line)
    }

    fn tell(&mut self, what: &str) -> Result<(), String> {
        let input = self.process.0.stdin.as_mut().ok_or("no input")?;
        writeln!(input, "{what}").map_err(|error| error.to_string())
    }
}

/// What a sender says, as numbers; `None` in place of what is none.
fn numbers(said: &str) -> Vec<u64> {
    said.split_whitespace().filter_map(|word| word.parse::<i64>().ok()).map(|n| n.max(0) as u64).collect()
}

/// One measurement: nanoseconds a packet, packets a second, packets lost.
fn measure(arguments: &Arguments, network: &Network, name: &str) -> Result<(f64, f64, u64), String> {
    let own = !matches!(name, "nobody" | "linux");
    network.let_linux_forward(name == "linux")?;
    let forwarder = own.then(|| Forwarder::start(arguments, network, name)).transpose()?;
    std::thread::sleep(Duration::from_millis(50));
    let threads = softirq_threads();
    let pid = forwarder.as_ref().map(|forwarder| forwarder.process.0.id());
    let now = || threads.iter().copied().chain(pid).map(spent).sum::<u64>();
    let before = now();
    let listens = if name == "nobody" { "nobody" } else { "somebody" };
    let sender = this(&network.hosts, arguments, &["--send", "--forwarder", listens])?.output();
    let sender = sender.map_err(|error| error.to_string())?;
    let others = now() - before;
    drop(forwarder);
    network.let_linux_forward(false)?;
    match numbers(&String::from_utf8_lossy(&sender.stdout))[..] {
        [own, lost, elapsed] => {
            let packets = arguments.packets as f64;
            Ok(((others + own) as f64 / packets, packets / (elapsed as f64 / 1e9), lost))
        }
        _ => Err(format!("{name}: the sender said: {}", String::from_utf8_lossy(&sender.stderr))),
    }
}

/// Sends at a rate for as long as `meanwhile` takes; the sender's numbers, and what came of it.
fn at_rate<R>(
    arguments: &Arguments,
    network: &Network,
    rate: f64,
    meanwhile: impl FnOnce() -> Result<R, String>,
) -> Result<([u64; 6], R), String> {
    let mut command = this(&network.hosts, arguments, &["--send", "--rate", &rate.to_string()])?;
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut sender = Running(child.map_err(|error| error.to_string())?);
    let mut says = BufReader::new(sender.0.stdout.take().ok_or("no output")?);
    let mut line = || {
        let mut line = String::new();
        says.read_line(&mut line).map(|_| line).map_err(|error| error.to_string())
    };
    line()?; // it has read the routes, and begins
    let came = meanwhile();
    drop(sender.0.stdin.take()); // its end
    let said = line()?;
    let numbers = numbers(&said).try_into().map_err(|_| format!("the sender said: {said}"))?;
    Ok((numbers, came?))
}

/// Forwarders whose latency is measured.
const TIMED: [&str; 4] = ["linux", "bare-xdp", "clique-router-xdp", "clique-router-packet"];

fn latencies(arguments: &Arguments, network: &Network, figures: &[Figure]) -> Result<Vec<Latency>, String> {
    let mut latencies = Vec::new();
    for figure in figures.iter().filter(|figure| TIMED.contains(&figure.name)) {
        let linux = figure.name == "linux";
        network.let_linux_forward(linux)?;
        let forwarder = (!linux).then(|| Forwarder::start(arguments, network, figure.name)).transpose()?;
        for load_percent in [10, 50, 90] {
            let rate = figure.packets_per_s_median * f64::from(load_percent) / 100.0;
            let sleep = || {
                std::thread::sleep(Duration::from_secs_f64(arguments.latency));
                Ok(())
            };
            let ([packets, lost, ns_p50, ns_p99, ns_p999, ns_max], ()) =
                at_rate(arguments, network, rate, sleep)?;
            let (size, name) = (figure.size.clone(), figure.name);
            latencies.push(Latency {
                size,
                name,
                load_percent,
                packets,
                lost,
                ns_p50,
                ns_p99,
                ns_p999,
                ns_max,
            });
        }
        drop(forwarder);
        network.let_linux_forward(false)?;
    }
    Ok(latencies)
}

/// Routers that have routes to replace.
const ROUTERS: [&str; 2] = ["clique-router-xdp", "clique-router-packet"];

fn replacements(
    arguments: &Arguments,
    network: &Network,
    figures: &[Figure],
) -> Result<Vec<Replacement>, String> {
    let mut replacements = Vec::new();
    for figure in figures.iter().filter(|figure| ROUTERS.contains(&figure.name)) {
        let mut forwarder = Forwarder::start(arguments, network, figure.name)?;
        let rate = figure.packets_per_s_median / 2.0;
        let replace = || {
            std::thread::sleep(Duration::from_millis(300));
            forwarder.tell(&arguments.replace.to_string())?;
            let line = forwarder.line()?;
            std::thread::sleep(Duration::from_millis(100));
            Ok(line)
        };
        let ([packets, lost, ns_p50, ns_p99, ns_p999, ns_max], said) =
            at_rate(arguments, network, rate, replace)?;
        let [routes, took_ns] = numbers(&said)[..] else { return Err(format!("{}: {said}", figure.name)) };
        replacements.push(Replacement {
            name: figure.name,
            routes,
            took_s: took_ns as f64 / 1e9,
            packets_per_s: rate,
            packets,
            lost,
            blocked_s: lost as f64 / rate,
            ns_p50,
            ns_p99,
            ns_p999,
            ns_max,
        });
    }
    Ok(replacements)
}

/// Measures, or plays a part in it.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    match (arguments.forwarder.as_deref(), arguments.rate) {
        (_, Some(rate)) => return play::send_paced(arguments, rate),
        _ if arguments.send => return play::send_window(arguments),
        (Some("bare-xdp"), _) => return forward::bare(),
        (Some(name), _) => return forward::clique(name, &arguments.routes),
        (None, _) => {}
    }
    play::sizes(&arguments.size)?;
    let tiny = arguments.tiny;
    let (rounds, packets) = if tiny { (1, 2_000) } else { (arguments.rounds.max(1), arguments.packets) };
    let mut arguments = Arguments {
        packets,
        forwarder: None,
        size: arguments.size.clone(),
        routes: arguments.routes.clone(),
        ..*arguments
    };
    let few = tiny.then(|| few_routes(&mut arguments)).transpose()?;
    let mut report = Report {
        machine: Machine::here(),
        packets,
        window: arguments.window,
        destinations: arguments.destinations,
        routes: 0,
        figures: Vec::new(),
        latencies: Vec::new(),
        replacements: Vec::new(),
        skipped: None,
    };
    let network =
        if rustix::process::geteuid().is_root() { Network::build() } else { Err("needs root".to_owned()) };
    match network {
        Ok(network) => fill(&mut report, &mut arguments, &network, rounds)?,
        Err(reason) => report.skipped = Some(reason),
    }
    drop(few);
    print(&report, arguments.json);
    Ok(())
}

/// A file of routes and a load for a run that only shows that all works.
struct FewRoutes(PathBuf);

impl Drop for FewRoutes {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0); // a few bytes, should it fail
    }
}

fn few_routes(arguments: &mut Arguments) -> Result<FewRoutes, String> {
    let file = std::env::temp_dir().join(format!("few-routes-{}", std::process::id()));
    let lines: String = (1..=200).map(|i| format!("20.{i}.0.0/16\n")).collect();
    std::fs::write(&file, lines).map_err(|error| format!("{}: {error}", file.display()))?;
    arguments.routes = file.clone();
    (arguments.destinations, arguments.latency, arguments.replace) = (1_000, 0.05, 1_000);
    Ok(FewRoutes(file))
}

fn fill(
    report: &mut Report,
    arguments: &mut Arguments,
    network: &Network,
    rounds: usize,
) -> Result<(), String> {
    let routes = prefixes(&arguments.routes)?;
    report.routes = routes.len();
    network.teach_linux(&routes)?;
    let sizes = if arguments.sizes { &["64", "imix", "1518"][..] } else { &[""][..] };
    for &size in sizes {
        if !size.is_empty() {
            arguments.size = size.to_owned();
        }
        let figures = figures(arguments, network, rounds)?;
        if arguments.latency > 0.0 {
            report.latencies.extend(latencies(arguments, network, &figures)?);
        }
        // The table is the same whatever the size.
        if arguments.replace > 0 && report.replacements.is_empty() {
            report.replacements = replacements(arguments, network, &figures)?;
        }
        report.figures.extend(figures);
    }
    Ok(())
}

fn figures(arguments: &Arguments, network: &Network, rounds: usize) -> Result<Vec<Figure>, String> {
    let mut times = vec![Vec::new(); FORWARDERS.len()];
    let mut rates = vec![Vec::new(); FORWARDERS.len()];
    let mut lost = vec![0; FORWARDERS.len()];
    let begin = Instant::now();
    for round in 0..rounds {
        for (i, name) in FORWARDERS.iter().enumerate() {
            let (ns, rate, missing) = measure(arguments, network, name)?;
            times[i].push(ns);
            rates[i].push(rate);
            lost[i] += missing;
        }
        if !arguments.json {
            eprintln!("round {} of {rounds}, {:.0} s", round + 1, begin.elapsed().as_secs_f64());
        }
    }
    let sending = times[0].clone();
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[rounds / 2]
    };
    let figure = |(i, name): (usize, &'static str)| Figure {
        size: arguments.size.clone(),
        name,
        ns_median: median(times[i].clone()),
        ns_min: times[i].iter().copied().fold(f64::INFINITY, f64::min),
        ns_max: times[i].iter().copied().fold(0.0, f64::max),
        own_ns_median: median(times[i].iter().zip(&sending).map(|(ns, sending)| ns - sending).collect()),
        packets_per_s_median: median(rates[i].clone()),
        lost: lost[i],
    };
    Ok(FORWARDERS.into_iter().enumerate().map(figure).collect())
}

fn print(report: &Report, json: bool) {
    if json {
        println!("{}", serde_json::to_string_pretty(report).unwrap_or_default());
        return;
    }
    println!("{}", report.machine.line());
    if let Some(reason) = &report.skipped {
        return println!("skipped: {reason}");
    }
    println!("{} routes, {} destinations", report.routes, report.destinations);
    println!(
        "{:5} {:24} {:>8} {:>8} {:>8} {:>8} {:>10} {:>6}",
        "size", "processor ns a packet", "median", "min", "max", "own", "packets/s", "lost"
    );
    for f in &report.figures {
        println!(
            "{:5} {:24} {:8.0} {:8.0} {:8.0} {:8.0} {:10.0} {:6}",
            f.size, f.name, f.ns_median, f.ns_min, f.ns_max, f.own_ns_median, f.packets_per_s_median, f.lost
        );
    }
    for l in &report.latencies {
        println!(
            "{:5} {:24} at {:2} %: {} packets, {} lost, {} ns, 99 % {} ns, 99.9 % {} ns, longest {} ns",
            l.size, l.name, l.load_percent, l.packets, l.lost, l.ns_p50, l.ns_p99, l.ns_p999, l.ns_max
        );
    }
    for r in &report.replacements {
        println!(
            "{}: {} routes replaced in {:.1} s at {:.0} packets/s: {} of {} packets lost, blocked for {:.6} s, 99.9 % {} ns",
            r.name, r.routes, r.took_s, r.packets_per_s, r.lost, r.packets, r.blocked_s, r.ns_p999
        );
    }
}
