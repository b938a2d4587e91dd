//! Processor time a packet through the kernel's interfaces, latency, and what a change of all routes costs.
//!
//! A sender and a receiver share one network namespace, a forwarder has another; two virtual cables join them. For
//! processor time the sender keeps a window of packets under way and sends more when they have arrived, so that
//! nothing is lost and no work is done in vain. What is measured is the processor time of all that takes part, sender
//! and softirq threads included; the cost of sending alone, to an interface where no program listens, is a row of its
//! own. For latency, and while routes change, the sender keeps a rate instead: a share of the highest rate at which
//! nothing was lost, found just before by halving (RFC 2544, section 26.1, with trials of seconds instead of
//! minutes).
//!
//! Sender and receiver are bound to the first processor, the forwarder to the others, where there are any: a router does not share its
//! processors with the machines that it serves.

mod forward;
mod network;
mod play;

use crate::machine::Machine;
use forward::Counts;
use lpm::{Prefix, import};
use network::Network;
use play::Passed;
pub(crate) use play::{IMIX, sizes};
use serde::Serialize;
use std::io::{BufRead, BufReader, Read, Write};
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
    /// Routes replaced while packets flow; 0 for none.
    #[arg(long, default_value_t = 1_000_000)]
    replace: u64,
    /// The packets' rate meanwhile, in percent of that which passes without loss; more than 100 shows where packets are lost.
    #[arg(long, default_value_t = 50)]
    replace_load: u32,
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
    /// Be the sender, at rates that standard input says.
    #[arg(long, hide = true)]
    paced: bool,
}

/// Who forwards. `testpmd` is DPDK's program, which forwards frames with new Ethernet addresses and looks up no route. Six are RouteBricks' applications, by the
/// configurations that are shipped; the last three its batches (Table 1): so many packets are received at once, and handed to the kernel at once.
const FORWARDERS: [&str; 19] = [
    "nobody",
    "linux",
    "bare-xdp",
    "testpmd-xdp",
    "testpmd-packet",
    "clique-xdp",
    "clique-packet",
    "clique-busy-xdp",
    "clique-router-xdp",
    "clique-router-packet",
    "minimal-xdp",
    "minimal-packet",
    "routing-xdp",
    "routing-packet",
    "ipsec-xdp",
    "ipsec-packet",
    "batches 1, 1",
    "batches 32, 1",
    "batches 32, 16",
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
    own_ns_min: f64,
    own_ns_max: f64,
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
    /// The highest rate at which nothing was lost, in packets a second.
    loss_free_per_s: f64,
    /// The load, in percent of that.
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
    /// The highest rate at which nothing was lost, in packets a second, and the one that was kept up.
    loss_free_per_s: f64,
    packets_per_s: f64,
    packets: u64,
    lost: u64,
    lost_at: LostAt,
    /// Packets lost, divided by their rate.
    blocked_s: f64,
    ns_p50: u64,
    ns_p99: u64,
    ns_p999: u64,
    ns_max: u64,
}

/// Where packets were lost, by the counters of those who had them. What one of them took and the next one never saw is `elsewhere`;
/// below zero, more was counted than was lost.
#[derive(Debug, PartialEq, Serialize)]
struct LostAt {
    /// The kernel did not take them from the sender: the processor's backlog or the XDP ring of the far end was full.
    cable_to_router: u64,
    /// The router's socket had no room.
    socket: u64,
    /// Its elements dropped them.
    elements: u64,
    /// It sent them, and they did not arrive.
    cable_behind: u64,
    elsewhere: i64,
}

impl LostAt {
    fn new(passed: &Passed, router: Counts) -> LostAt {
        let Counts { socket, elements, sent } = router;
        let cable_to_router = passed.not_taken;
        let cable_behind = sent.saturating_sub(passed.packets - passed.lost);
        let known = cable_to_router + socket + elements + cable_behind;
        LostAt {
            cable_to_router,
            socket,
            elements,
            cable_behind,
            elsewhere: passed.lost as i64 - known as i64,
        }
    }
}

impl std::fmt::Display for LostAt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let LostAt { cable_to_router, socket, elements, cable_behind, elsewhere } = self;
        write!(
            f,
            "on the cable to the router {cable_to_router}, at its socket {socket}, in its elements {elements}, \
             on the cable behind it {cable_behind}, elsewhere {elsewhere}"
        )
    }
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
    /// Forwarders that are not on this machine, and why.
    missing: Option<String>,
    /// Why there are none.
    skipped: Option<String>,
}

/// The IPv4 prefixes of a file.
pub(crate) fn prefixes(file: &Path) -> Result<Vec<Prefix<u32>>, String> {
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

/// A forwarder or sender that is ready, and answers lines with lines.
struct Player {
    process: Running,
    says: BufReader<std::process::ChildStdout>,
    /// It has to end by itself when it is told, since what it has put into the kernel would stay there.
    ends_itself: bool,
}

impl Drop for Player {
    fn drop(&mut self) {
        if self.ends_itself && self.tell("").is_ok() {
            let mut rest = String::new();
            let _ = self.says.read_to_string(&mut rest); // until it has ended
        }
    }
}

/// Whether a forwarder is DPDK's program, which is not made of this one.
fn is_testpmd(name: &str) -> bool {
    name.starts_with("testpmd")
}

impl Player {
    fn start(mut command: Command, name: &str) -> Result<Player, String> {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut process = Running(child.map_err(|error| error.to_string())?);
        let says = process.0.stdout.take().map(BufReader::new);
        let mut player = Player { process, says: says.ok_or("no output")?, ends_itself: is_testpmd(name) };
        let ready = if is_testpmd(name) { forward::TESTPMD_READY } else { "ready" };
        loop {
            let said = player.line()?;
            match said.trim() {
                line if line == ready => return Ok(player),
                _ if is_testpmd(name) && !said.is_empty() => {} // it says much before
                line => return Err(format!("{name} did not start: {line}")),
            }
        }
    }

    fn forwarder(arguments: &Arguments, network: &Network, name: &str) -> Result<Player, String> {
        Player::start(this(&network.router, arguments, &["--forwarder", name])?, name)
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

    /// Of a sender: sends at a rate for as long as `meanwhile` takes.
    fn send<R>(
        &mut self,
        rate: f64,
        meanwhile: impl FnOnce() -> Result<R, String>,
    ) -> Result<(Passed, R), String> {
        self.tell(&rate.to_string())?;
        let came = meanwhile();
        self.tell("")?;
        let said = self.line()?;
        Ok((Passed::parse(&said).ok_or_else(|| format!("the sender said: {said}"))?, came?))
    }

    /// Of a sender: sends at a rate for some seconds.
    fn send_for(&mut self, rate: f64, seconds: f64) -> Result<Passed, String> {
        let (passed, ()) = self.send(rate, || {
            std::thread::sleep(Duration::from_secs_f64(seconds));
            Ok(())
        })?;
        Ok(passed)
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
    let forwarder = own.then(|| Player::forwarder(arguments, network, name)).transpose()?;
    std::thread::sleep(Duration::from_millis(50));
    let threads = softirq_threads();
    let pid = forwarder.as_ref().map(|forwarder| forwarder.process.0.id());
    let now = || threads.iter().copied().chain(pid).map(spent).sum::<u64>();
    let before = now();
    let listens = if name == "nobody" { "nobody" } else { "receiver" };
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

/// Forwarders that get a load, and those of them that have routes to replace.
const LOADED: [&str; 5] = ["linux", "bare-xdp", "testpmd-xdp", "clique-router-xdp", "clique-router-packet"];
const ROUTERS: [&str; 2] = ["clique-router-xdp", "clique-router-packet"];
/// The loads at which latency is measured, in percent of the highest rate without loss.
const LOADS: [u32; 3] = [10, 50, 90];
/// How close the highest rate without loss is looked for.
const CLOSE: f64 = 0.04;

/// The highest rate at which nothing is lost in `seconds`, twice; `most` is what may pass.
fn loss_free(sender: &mut Player, most: f64, seconds: f64) -> Result<f64, String> {
    let mut passes = |rate: f64| {
        let passed = sender.send_for(rate, seconds)?;
        let offered = passed.packets as f64 / (passed.ns as f64 / 1e9);
        // Who sends no faster has not shown that more would pass.
        Ok::<_, String>(passed.lost == 0 && offered > rate * (1.0 - CLOSE / 2.0))
    };
    let (mut low, mut high) = (0.0, most);
    while high - low > CLOSE * most {
        let rate = (low + high) / 2.0;
        *if passes(rate)? { &mut low } else { &mut high } = rate;
    }
    while low > CLOSE * most && !passes(low)? {
        low -= CLOSE * most;
    }
    Ok(low)
}

/// Latency at several loads, and what becomes of packets while routes are replaced, for one forwarder.
fn load(
    arguments: &Arguments,
    network: &Network,
    figure: &Figure,
    report: &mut Report,
) -> Result<(), String> {
    let linux = figure.name == "linux";
    network.let_linux_forward(linux)?;
    let forwarder = (!linux).then(|| Player::forwarder(arguments, network, figure.name)).transpose()?;
    let mut sender = Player::start(this(&network.hosts, arguments, &["--send", "--paced"])?, "the sender")?;
    let trial = if arguments.latency > 0.0 { arguments.latency.min(1.0) } else { 1.0 };
    let loss_free_per_s = loss_free(&mut sender, figure.packets_per_s_median * 1.2, trial)?;
    for load_percent in LOADS.into_iter().filter(|_| arguments.latency > 0.0) {
        let passed = sender.send_for(loss_free_per_s * f64::from(load_percent) / 100.0, arguments.latency)?;
        let [ns_p50, ns_p99, ns_p999, ns_max] = passed.latency_ns;
        let (size, name, Passed { packets, lost, .. }) = (figure.size.clone(), figure.name, passed);
        report.latencies.push(Latency {
            size,
            name,
            loss_free_per_s,
            load_percent,
            packets,
            lost,
            ns_p50,
            ns_p99,
            ns_p999,
            ns_max,
        });
    }
    // The table is the same whatever the size.
    let done = report.replacements.iter().any(|replacement| replacement.name == figure.name);
    match forwarder {
        Some(forwarder) if ROUTERS.contains(&figure.name) && arguments.replace > 0 && !done => {
            let replacement = replace(arguments, figure.name, forwarder, &mut sender, loss_free_per_s)?;
            report.replacements.push(replacement);
        }
        _ => {}
    }
    network.let_linux_forward(false)
}

fn replace(
    arguments: &Arguments,
    name: &'static str,
    mut forwarder: Player,
    sender: &mut Player,
    loss_free_per_s: f64,
) -> Result<Replacement, String> {
    let packets_per_s = loss_free_per_s * f64::from(arguments.replace_load) / 100.0;
    let counts = |forwarder: &mut Player| {
        forwarder.tell("counts")?;
        let said = forwarder.line()?;
        Counts::parse(&said).ok_or_else(|| format!("{name}: {said}"))
    };
    let before = counts(&mut forwarder)?;
    let replace = || {
        std::thread::sleep(Duration::from_millis(300));
        forwarder.tell(&format!("replace {}", arguments.replace))?;
        let line = forwarder.line()?;
        std::thread::sleep(Duration::from_millis(100));
        Ok(line)
    };
    let (passed, said) = sender.send(packets_per_s, replace)?;
    let [routes, took_ns] = numbers(&said)[..] else { return Err(format!("{name}: {said}")) };
    let lost_at = LostAt::new(&passed, counts(&mut forwarder)?.since(before));
    let [ns_p50, ns_p99, ns_p999, ns_max] = passed.latency_ns;
    Ok(Replacement {
        name,
        routes,
        took_s: took_ns as f64 / 1e9,
        loss_free_per_s,
        packets_per_s,
        packets: passed.packets,
        lost: passed.lost,
        lost_at,
        blocked_s: passed.lost as f64 / packets_per_s.max(1.0),
        ns_p50,
        ns_p99,
        ns_p999,
        ns_max,
    })
}

/// Binds this process, before it has further threads: a sender to the first of its processors, a forwarder to the others.
fn bind(sends: bool) {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let Ok(all) = sched_getaffinity(None) else { return };
    let mut processors = (0..CpuSet::MAX_CPU).filter(|&cpu| all.is_set(cpu));
    let (first, mut own) = (processors.next(), CpuSet::new());
    if sends {
        first.iter().for_each(|&cpu| own.set(cpu));
    } else {
        processors.for_each(|cpu| own.set(cpu));
    }
    if own.count() > 0 {
        let _ = sched_setaffinity(None, &own); // not allowed: it goes on as it is
    }
}

/// Measures, or plays a part in it.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    if arguments.send || arguments.forwarder.is_some() {
        bind(arguments.send);
    }
    match arguments.forwarder.as_deref() {
        _ if arguments.send && arguments.paced => return play::send_paced(arguments),
        _ if arguments.send => return play::send_window(arguments),
        Some("bare-xdp") => return forward::bare(),
        Some(name) if is_testpmd(name) => return Err(forward::testpmd(name)),
        Some(name) => return forward::clique(name, &arguments.routes),
        None => {}
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
        missing: forward::without_testpmd(),
        skipped: None,
    };
    let network =
        if rustix::process::geteuid().is_root() { Networks::build() } else { Err("needs root".to_owned()) };
    match network {
        Ok(networks) => fill(&mut report, &mut arguments, &networks, rounds)?,
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

/// Where forwarders forward. testpmd takes its interfaces down and up, and Linux forgets all routes over them, so it has two of its own.
struct Networks {
    network: Network,
    of_testpmd: Network,
}

impl Networks {
    fn build() -> Result<Networks, String> {
        Ok(Networks { network: Network::build("")?, of_testpmd: Network::build("-testpmd")? })
    }

    fn of(&self, name: &str) -> &Network {
        if is_testpmd(name) { &self.of_testpmd } else { &self.network }
    }
}

fn fill(
    report: &mut Report,
    arguments: &mut Arguments,
    networks: &Networks,
    rounds: usize,
) -> Result<(), String> {
    let routes = prefixes(&arguments.routes)?;
    report.routes = routes.len();
    networks.network.teach_linux(&routes)?;
    let sizes = if arguments.sizes { &["64", "imix", "1518"][..] } else { &[""][..] };
    for &size in sizes {
        if !size.is_empty() {
            arguments.size = size.to_owned();
        }
        let names: Vec<_> =
            FORWARDERS.into_iter().filter(|name| report.missing.is_none() || !is_testpmd(name)).collect();
        let figures = figures(arguments, networks, &names, rounds)?;
        let names = if arguments.latency > 0.0 { &LOADED[..] } else { &ROUTERS[..] };
        for figure in figures.iter().filter(|figure| names.contains(&figure.name)) {
            if arguments.latency > 0.0 || arguments.replace > 0 {
                load(arguments, networks.of(figure.name), figure, report)?;
            }
        }
        report.figures.extend(figures);
    }
    Ok(())
}

fn figures(
    arguments: &Arguments,
    networks: &Networks,
    names: &[&'static str],
    rounds: usize,
) -> Result<Vec<Figure>, String> {
    let mut times = vec![Vec::new(); names.len()];
    let mut rates = vec![Vec::new(); names.len()];
    let mut lost = vec![0; names.len()];
    let begin = Instant::now();
    for round in 0..rounds {
        for (i, name) in names.iter().enumerate() {
            let (ns, rate, missing) = measure(arguments, networks.of(name), name)?;
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
    let figure = |(i, name): (usize, &'static str)| {
        let own: Vec<f64> = times[i].iter().zip(&sending).map(|(ns, sending)| ns - sending).collect();
        Figure {
            size: arguments.size.clone(),
            name,
            ns_median: median(times[i].clone()),
            ns_min: times[i].iter().copied().fold(f64::INFINITY, f64::min),
            ns_max: times[i].iter().copied().fold(0.0, f64::max),
            own_ns_min: own.iter().copied().fold(f64::INFINITY, f64::min),
            own_ns_max: own.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            own_ns_median: median(own),
            packets_per_s_median: median(rates[i].clone()),
            lost: lost[i],
        }
    };
    Ok(names.iter().copied().enumerate().map(figure).collect())
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
    report.missing.iter().for_each(|missing| println!("missing: {missing}"));
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
            "{:5} {:24} at {:2} % of {:.0}/s: {} packets, {} lost, {} ns, 99 % {} ns, 99.9 % {} ns, longest {} ns",
            l.size,
            l.name,
            l.load_percent,
            l.loss_free_per_s,
            l.packets,
            l.lost,
            l.ns_p50,
            l.ns_p99,
            l.ns_p999,
            l.ns_max
        );
    }
    for r in &report.replacements {
        println!(
            "{}: {} routes replaced in {:.1} s at {:.0} packets/s: {} of {} packets lost ({}), blocked for {:.6} s, 99.9 % {} ns, longest {} ns",
            r.name,
            r.routes,
            r.took_s,
            r.packets_per_s,
            r.lost,
            r.packets,
            r.lost_at,
            r.blocked_s,
            r.ns_p999,
            r.ns_max
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lost_packet_has_a_place() {
        let passed = Passed { packets: 1_000, lost: 100, ns: 1, latency_ns: [0; 4], not_taken: 40 };
        let lost_at = LostAt::new(&passed, Counts { socket: 30, elements: 20, sent: 907 });
        let known = LostAt { cable_to_router: 40, socket: 30, elements: 20, cable_behind: 7, elsewhere: 3 };
        assert_eq!(lost_at, known);
    }
}
