//! Processor time a packet through the kernel's interfaces.
//!
//! A sender and a receiver share one network namespace, a forwarder has another; two virtual cables join them. The sender
//! keeps a window of packets under way and sends more when they have arrived, so that nothing is lost and no work is done
//! in vain. What is measured is the processor time of all that takes part, sender and softirq threads included; the cost
//! of sending alone, to an interface where nobody listens, is a row of its own.

use crate::machine::Machine;
use device::packet_socket::PacketTx;
use device::xdp::{self, XdpRx, XdpTx};
use router::{Log, Options};
use rustix::event::{PollFd, PollFlags, poll};
use serde::Serialize;
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
    /// Bytes of a packet, with the four that hardware adds.
    #[arg(long, default_value_t = 64)]
    size: usize,
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

const SENDER_MAC: &str = "02:00:00:00:01:02";
const ROUTER_MACS: [&str; 2] = ["02:00:00:00:01:01", "02:00:00:00:02:01"];
const RECEIVER_MAC: &str = "02:00:00:00:02:02";

/// A result: nanoseconds of processor time a packet.
#[derive(Serialize)]
struct Figure {
    name: &'static str,
    ns_median: f64,
    ns_min: f64,
    ns_max: f64,
    /// Without sending.
    own_ns_median: f64,
    /// Packets that did not arrive.
    lost: u64,
}

#[derive(Serialize)]
struct Report {
    machine: Machine,
    packets: u64,
    window: u64,
    size: usize,
    figures: Vec<Figure>,
    /// Why there are none.
    skipped: Option<String>,
}

fn ip(arguments: &str) -> Result<(), String> {
    let output =
        Command::new("ip").args(arguments.split(' ')).output().map_err(|error| format!("ip: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(format!("ip {arguments}: {said}")) }
}

/// Two namespaces: `hosts` with the interfaces a and b, `router` with eth0 and eth1.
struct Network {
    hosts: String,
    router: String,
}

impl Network {
    fn build() -> Result<Network, String> {
        let id = std::process::id();
        let network = Network { hosts: format!("hosts-{id}"), router: format!("router-{id}") };
        let (hosts, router) = (&network.hosts, &network.router);
        ip(&format!("netns add {hosts}"))?;
        ip(&format!("netns add {router}"))?;
        let cables = [("a", SENDER_MAC, "eth0", ROUTER_MACS[0]), ("b", RECEIVER_MAC, "eth1", ROUTER_MACS[1])];
        for (end, mac, other, other_mac) in cables {
            let peer = format!("peer name {other} netns {router} address {other_mac}");
            ip(&format!("link add name {end} netns {hosts} address {mac} type veth {peer}"))?;
            ip(&format!("-n {hosts} link set dev {end} up"))?;
            ip(&format!("-n {router} link set dev {other} up"))?;
        }
        Ok(network)
    }

    /// Addresses, routes and a neighbour for Linux's own forwarding; without them it does nothing.
    fn let_linux_forward(&self, forward: bool) -> Result<(), String> {
        let router = &self.router;
        let word = if forward { "add" } else { "del" };
        ip(&format!("-n {router} addr {word} 10.0.1.1/24 dev eth0"))?;
        ip(&format!("-n {router} addr {word} 10.0.2.1/24 dev eth1"))?;
        if forward {
            ip(&format!("-n {router} neigh replace 10.0.2.2 lladdr {RECEIVER_MAC} dev eth1 nud permanent"))?;
        }
        let on = format!("net.ipv4.ip_forward={}", u8::from(forward));
        let done = Command::new("ip").args(["netns", "exec", router, "sysctl", "-qw", &on]).status();
        if done.is_ok_and(|status| status.success()) { Ok(()) } else { Err("sysctl failed".to_owned()) }
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        let _ = ip(&format!("netns del {}", self.hosts)); // there may be none
        let _ = ip(&format!("netns del {}", self.router));
    }
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
        arguments.size.to_string(),
    ]);
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

/// One measurement: nanoseconds a packet and packets lost.
fn measure(arguments: &Arguments, network: &Network, name: &str) -> Result<(f64, u64), String> {
    let linux = name == "linux";
    if linux {
        network.let_linux_forward(true)?;
    }
    let mut forwarder = if matches!(name, "nobody" | "linux") {
        None
    } else {
        let mut command = this(&network.router, arguments, &["--forwarder", name])?;
        let child = command.stdout(Stdio::null()).spawn().map_err(|error| error.to_string())?;
        Some(Running(child))
    };
    std::thread::sleep(Duration::from_millis(if forwarder.is_some() { 500 } else { 20 }));
    if let Some(Running(child)) = &mut forwarder
        && child.try_wait().is_ok_and(|status| status.is_some())
    {
        return Err(format!("{name}: the forwarder did not start"));
    }
    let threads = softirq_threads();
    let now = || threads.iter().copied().chain(forwarder.as_ref().map(|f| f.0.id())).map(spent).sum::<u64>();
    let before = now();
    let listens = if name == "nobody" { "nobody" } else { "somebody" };
    let sender = this(&network.hosts, arguments, &["--send", "--forwarder", listens])?.output();
    let sender = sender.map_err(|error| error.to_string())?;
    let others = now() - before;
    drop(forwarder);
    if linux {
        network.let_linux_forward(false)?;
    }
    let said = String::from_utf8_lossy(&sender.stdout).into_owned();
    let mut numbers = said.split_whitespace().filter_map(|word| word.parse::<u64>().ok());
    match (numbers.next(), numbers.next()) {
        (Some(own), Some(lost)) => Ok(((others + own) as f64 / arguments.packets as f64, lost)),
        _ => Err(format!("{name}: the sender said: {said}{}", String::from_utf8_lossy(&sender.stderr))),
    }
}

/// Frames of UDP datagrams of many flows to one address.
fn frames(size: usize) -> Vec<Vec<u8>> {
    let frame = |flow: u16| {
        let mut frame: Vec<u8> = [[2, 0, 0, 0, 1, 1], [2, 0, 0, 0, 1, 2]].concat();
        let len = size.max(64) - 4 - 14;
        frame.extend([8, 0, 0x45, 0]);
        frame.extend((len as u16).to_be_bytes());
        frame.extend([0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 1, 2, 10, 0, 2, 2]);
        let sum = wire::checksum::checksum(&frame[14..34]);
        frame[24..26].copy_from_slice(&sum.to_be_bytes());
        frame.extend((1024 + flow).to_be_bytes());
        frame.extend([0, 9]);
        frame.extend((len as u16 - 20).to_be_bytes());
        frame.resize(len + 14, 0);
        frame
    };
    (0..64).map(frame).collect()
}

/// Packets that have arrived at b.
fn arrived() -> u64 {
    let text = std::fs::read_to_string("/sys/class/net/b/statistics/rx_packets").unwrap_or_default();
    text.trim().parse().unwrap_or(0)
}

/// Processor time of this process so far, in nanoseconds.
fn own_time() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Sends all packets and prints the processor time that this took, and how many did not arrive.
fn send(arguments: &Arguments) -> Result<(), String> {
    let mut tx = PacketTx::open("a").map_err(|trouble| trouble.to_string())?;
    let frames = frames(arguments.size);
    let listened = arguments.forwarder.as_deref() != Some("nobody");
    let (before, start) = (own_time(), arrived());
    let (mut sent, mut missed) = (0, 0);
    while sent < arguments.packets {
        sent += tx.send(frames.iter().map(Vec::as_slice)).count as u64;
        let mut patience = Instant::now();
        let mut last = arrived();
        while listened && sent - missed > last - start + arguments.window.min(arguments.packets) {
            std::thread::sleep(Duration::from_micros(20));
            let now = arrived();
            if now > last {
                (last, patience) = (now, Instant::now());
            } else if patience.elapsed() > Duration::from_millis(200) {
                missed = sent - (now - start); // given up
            }
        }
    }
    let patience = Instant::now();
    while listened && arrived() - start < sent && patience.elapsed() < Duration::from_millis(300) {
        std::thread::sleep(Duration::from_millis(1));
    }
    let lost = if listened { sent.saturating_sub(arrived() - start) } else { 0 };
    println!("{} {lost}", own_time() - before);
    Ok(())
}

/// The least that forwards over XDP sockets: from ring to ring, with new Ethernet addresses.
fn forward_bare() -> Result<(), String> {
    let options = xdp::Options { promiscuous: false, left: Vec::new(), busy_poll: 0 };
    let mut rx = XdpRx::open("eth0", 0, &options).map_err(|trouble| trouble.to_string())?;
    let mut tx = XdpTx::open("eth1", 0).map_err(|trouble| trouble.to_string())?;
    let (mut frame, addresses) = ([0; 2048], [2, 0, 0, 0, 2, 2, 2, 0, 0, 0, 2, 1]);
    loop {
        tx.reclaim();
        let mut count = 0;
        rx.receive(32, 0, |received| {
            let frame = &mut frame[..received.data.len()];
            frame.copy_from_slice(received.data);
            frame[..12].copy_from_slice(&addresses);
            count += usize::from(tx.put(frame).is_ok());
        });
        if count > 0 {
            tx.flush(count).map_err(|error| error.to_string())?;
        } else {
            let mut fds = [PollFd::new(&**rx.fd(), PollFlags::IN)];
            poll(&mut fds, None).map_err(|error| error.to_string())?;
        }
    }
}

/// A configuration for Clique: the least, or an IP router's path.
fn configuration(name: &str) -> String {
    let method = if name.ends_with("xdp") { "METHOD XDP" } else { "METHOD LINUX, SNIFFER false" };
    let send = if name.ends_with("xdp") { "METHOD XDP" } else { "METHOD LINUX" };
    let way = if name.contains("router") {
        format!(
            "Paint(1) -> Strip(14) -> CheckIPHeader(INTERFACES 10.0.1.1/24 10.0.2.1/24)
             -> routes :: IPLookup(10.0.1.1 0, 10.0.2.1 0, 10.0.1.0/24 0, 10.0.2.0/24 1); routes[0] -> Discard;
             routes[1] -> DropBroadcasts -> redirect :: PaintTee(2) -> options :: IPGWOptions(10.0.2.1)
             -> FixIPSrc(10.0.2.1) -> ttl :: DecIPTTL -> fragment :: IPFragmenter(1500)
             -> EtherEncap(0x0800, {}, {RECEIVER_MAC}) -> to;
             redirect[1] -> Discard; options[1] -> Discard; ttl[1] -> Discard; fragment[1] -> Discard;",
            ROUTER_MACS[1]
        )
    } else {
        format!("EtherRewrite({}, {RECEIVER_MAC}) -> to;", ROUTER_MACS[1])
    };
    format!("to :: ToDevice(eth1, {send}); FromDevice(eth0, {method}) -> {way}")
}

/// Runs Clique until it is killed.
fn forward_clique(name: &str) -> Result<(), String> {
    let config = configuration(name);
    let parsed = lang::parse(&config, name, &[]);
    if parsed.has_errors() {
        return Err(parsed.render_click());
    }
    let known = elements::classes();
    let layout = router::layout(parsed.graph, &known, 1).map_err(|e| lang::render_click(&e))?;
    let options = Options { log: Log::Memory(Default::default()), ..Options::default() };
    let built = router::build(layout, config, &known, options);
    let (mut router, _) = built.map_err(|e| lang::render_click(&e))?;
    router.run();
    Ok(())
}

/// Measures, or plays a part in it.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    match arguments.forwarder.as_deref() {
        _ if arguments.send => return send(arguments),
        Some("bare-xdp") => return forward_bare(),
        Some(name) => return forward_clique(name),
        None => {}
    }
    let (rounds, packets) =
        if arguments.tiny { (1, 2_000) } else { (arguments.rounds.max(1), arguments.packets) };
    let arguments = Arguments { packets, forwarder: None, ..*arguments };
    let network =
        if rustix::process::geteuid().is_root() { Network::build() } else { Err("needs root".to_owned()) };
    let (figures, skipped) = match network {
        Ok(network) => (figures(&arguments, &network, rounds)?, None),
        Err(reason) => (Vec::new(), Some(reason)),
    };
    let Arguments { packets, window, size, json, .. } = arguments;
    print(&Report { machine: Machine::here(), packets, window, size, figures, skipped }, json);
    Ok(())
}

fn figures(arguments: &Arguments, network: &Network, rounds: usize) -> Result<Vec<Figure>, String> {
    let mut times = vec![Vec::new(); FORWARDERS.len()];
    let mut lost = vec![0; FORWARDERS.len()];
    for _ in 0..rounds {
        for (i, name) in FORWARDERS.iter().enumerate() {
            let (ns, missing) = measure(arguments, network, name)?;
            times[i].push(ns);
            lost[i] += missing;
        }
    }
    let sending = times[0].clone();
    let figure = |(i, name): (usize, &'static str)| {
        let mut own: Vec<f64> = times[i].iter().zip(&sending).map(|(ns, sending)| ns - sending).collect();
        own.sort_by(f64::total_cmp);
        let mut ns = times[i].clone();
        ns.sort_by(f64::total_cmp);
        Figure {
            name,
            ns_median: ns[rounds / 2],
            ns_min: ns[0],
            ns_max: ns[rounds - 1],
            own_ns_median: own[rounds / 2],
            lost: lost[i],
        }
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
    println!(
        "{:24} {:>8} {:>8} {:>8} {:>8} {:>6}",
        "processor ns a packet", "median", "min", "max", "own", "lost"
    );
    for f in &report.figures {
        println!(
            "{:24} {:8.0} {:8.0} {:8.0} {:8.0} {:6}",
            f.name, f.ns_median, f.ns_min, f.ns_max, f.own_ns_median, f.lost
        );
    }
}
