//! Those who forward, each a process of its own in the router's namespace.

use super::network::{RECEIVER_MAC, ROUTER_MACS};
use crate::assembly;
use device::xdp::{self, XdpRx, XdpTx};
use packet::{Batch, Pool};
use router::{Call, Handle, Log, Options};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::thread::{CpuSet, sched_getaffinity};
use std::io::BufRead;
use std::net::Ipv4Addr;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Looks at an empty ring before sleeping: as many as Clique's.
const PATIENCE: u32 = 64;
/// Routes that a table is told of at a time.
const AT_ONCE: usize = 64;

/// The least that forwards over XDP sockets: from ring to ring, with new Ethernet addresses.
pub(super) fn bare() -> Result<(), String> {
    let options = xdp::Options { promiscuous: false, left: Vec::new(), busy_poll: 0, control: false };
    let mut rx = XdpRx::open("eth0", 0, &options).map_err(|trouble| trouble.to_string())?;
    let mut tx = XdpTx::open("eth1", 0).map_err(|trouble| trouble.to_string())?;
    let (mut pool, mut batch, mut idle) = (Pool::new(), Batch::new(), 0);
    let addresses = [2, 0, 0, 0, 2, 2, 2, 0, 0, 0, 2, 1];
    println!("ready");
    loop {
        rx.receive(&mut pool, &mut batch, 32, |_| true);
        for packet in batch.iter_mut() {
            packet.data_mut()[..12].copy_from_slice(&addresses);
        }
        if !batch.is_empty() {
            idle = 0;
            tx.send(&mut pool, &mut batch, None);
            batch.drain(|packet| pool.free(packet)); // what found no room
        } else if idle < PATIENCE {
            idle += 1;
        } else {
            idle = 0;
            let mut fds: Vec<_> = rx.fds().map(|fd| PollFd::new(&**fd, PollFlags::IN)).collect();
            poll(&mut fds, None).map_err(|error| error.to_string())?;
        }
    }
}

/// What testpmd says when it forwards.
pub(super) const TESTPMD_READY: &str = "Press enter to exit";
const TESTPMD: &str = "dpdk-testpmd";

/// Why this machine has no testpmd; `None` if it has one.
pub(super) fn without_testpmd() -> Option<String> {
    let asked = Command::new(TESTPMD).arg("--version").output();
    asked.is_err().then(|| format!("{TESTPMD} (Debian's dpdk-dev) is not installed"))
}

/// Becomes DPDK's testpmd, which polls the two interfaces with one thread, without huge pages as the others, and sends what comes in at one out at the
/// other with new Ethernet addresses. Says why it cannot.
pub(super) fn testpmd(name: &str) -> String {
    let driver = if name.ends_with("xdp") { "net_af_xdp" } else { "net_af_packet" };
    let cpu = sched_getaffinity(None).ok().and_then(|all| (0..CpuSet::MAX_CPU).rfind(|&cpu| all.is_set(cpu)));
    let cpu = cpu.unwrap_or(0);
    let mut command = Command::new("stdbuf"); // or its last line before it forwards waits for more
    command.args(["-oL", TESTPMD, "--no-huge", "-m", "256", "--no-pci", "--no-shconf"]);
    command.args(["--lcores", &format!("0@{cpu},1@{cpu}")]);
    for (number, interface) in ["eth0", "eth1"].iter().enumerate() {
        command.args(["--vdev", &format!("{driver}{number},iface={interface}")]);
    }
    command.args(["--", "--forward-mode=mac", "--nb-cores=1", "--total-num-mbufs=16384"]);
    command.arg(format!("--eth-peer=1,{RECEIVER_MAC}")).stderr(Stdio::null());
    format!("{TESTPMD}: {}", command.exec())
}

/// One of RouteBricks' applications as it is shipped, and what it is told of the network.
fn application(name: &str) -> Option<(&'static str, Vec<(String, String)>)> {
    let (application, method) = name.rsplit_once('-')?;
    let text = match application {
        "minimal" => include_str!("../../../conf/routebricks/minimal.click"),
        "routing" => include_str!("../../../conf/routebricks/routing.click"),
        "ipsec" => include_str!("../../../conf/routebricks/ipsec.click"),
        _ => return None,
    };
    let method = if method == "xdp" { "XDP" } else { "LINUX" };
    let mut told = vec![("IN", "eth0"), ("OUT", "eth1"), ("METHOD", method)];
    if application != "minimal" {
        told.extend([("MAC", ROUTER_MACS[1]), ("NEXT", RECEIVER_MAC)]);
    }
    Some((text, told.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()))
}

/// How many packets are received and sent at once, in Table 1.
fn batches(name: &str) -> Option<(usize, usize)> {
    let (receive, send) = name.strip_prefix("batches ")?.split_once(", ")?;
    Some((receive.parse().ok()?, send.parse().ok()?))
}

/// A configuration for Clique: the least, the least with batches of given sizes, or an IP router's path.
fn configuration(name: &str) -> String {
    if let Some((receive, send)) = batches(name) {
        return format!(
            "FromDevice(eth0, METHOD XDP, BURST {receive}) -> EtherRewrite({}, {RECEIVER_MAC}) -> Queue(4096)
             -> ToDevice(eth1, METHOD XDP, BURST {send})",
            ROUTER_MACS[1]
        );
    }
    let method = match name {
        _ if name.contains("busy") => "METHOD XDP, BUSY_POLL 50",
        _ if name.ends_with("xdp") => "METHOD XDP",
        _ => "METHOD LINUX, SNIFFER false",
    };
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
    format!("to :: ToDevice(eth1, {send}); from :: FromDevice(eth0, {method}) -> {way}")
}

/// Runs Clique until it is killed, and does what standard input says: `replace N` routes, or say `counts`.
pub(super) fn clique(name: &str, routes: &Path) -> Result<(), String> {
    let vector = batches(name).map_or(router::DEFAULT_VECTOR, |(receive, _)| receive);
    let options = Options { vector, log: Log::Memory(Default::default()), ..Options::default() };
    let classes = elements::classes();
    let mut router = match application(name) {
        Some((config, told)) => assembly::build((name, config), &told, &classes, options)?,
        None => assembly::build((name, &configuration(name)), &[], &classes, options)?,
    };
    if name.starts_with("routing") {
        router.call(Call::write("routes.load", format!("{} 0", routes.display())))?;
    }
    if name.contains("router") {
        router.call(Call::write("routes.load", format!("{} 1", routes.display())))?;
        let (handle, routes) = (router.handle(), super::prefixes(routes)?);
        std::thread::spawn(move || {
            // As the threads do that take in routes.
            let _ = rustix::process::nice(10);
            obey(&handle, &routes);
        });
    }
    println!("ready");
    router.run();
    Ok(())
}

/// Does what the lines of standard input say, and answers each with one.
fn obey(handle: &Handle, routes: &[lpm::Prefix<u32>]) {
    for (round, line) in std::io::stdin().lock().lines().map_while(Result::ok).enumerate() {
        match line.trim().strip_prefix("replace ").and_then(|wanted| wanted.parse().ok()) {
            Some(wanted) => println!("{}", replace(handle, routes, round, wanted)),
            None => println!("counts {}", Counts::read(handle).line()),
        }
    }
}

/// What a router has counted of packets.
#[derive(Clone, Copy)]
pub(super) struct Counts {
    /// Those that its socket had no room for.
    pub(super) socket: u64,
    /// Those that elements have dropped.
    pub(super) elements: u64,
    /// Those that it has sent.
    pub(super) sent: u64,
}

impl Counts {
    fn read(handle: &Handle) -> Counts {
        let read = |path: &str| handle.call(Call::read(path, "")).unwrap_or_default();
        let number = |path: &str| read(path).trim().parse().unwrap_or(0);
        let drops = |element: &str| -> u64 {
            let reasons = read(&format!("{element}.drop_reasons"));
            reasons.lines().filter_map(|line| line.split('\t').next()?.parse::<u64>().ok()).sum()
        };
        let elements = read("list").lines().skip(1).map(drops).sum();
        Counts { socket: number("from.kernel_drops"), elements, sent: number("to.count") }
    }

    fn line(self) -> String {
        format!("{} {} {}", self.socket, self.elements, self.sent)
    }

    pub(super) fn parse(line: &str) -> Option<Counts> {
        let [socket, elements, sent] = super::numbers(line)[..] else { return None };
        Some(Counts { socket, elements, sent })
    }

    pub(super) fn since(self, before: Counts) -> Counts {
        Counts {
            socket: self.socket - before.socket,
            elements: self.elements - before.elements,
            sent: self.sent - before.sent,
        }
    }
}

/// Replaces all routes, again and again until as many were as are wanted; says how many were and how long it took.
fn replace(handle: &Handle, routes: &[lpm::Prefix<u32>], round: usize, wanted: usize) -> String {
    let (start, mut done) = (Instant::now(), 0);
    for (turn, lot) in routes.chunks(AT_ONCE).cycle().enumerate().take(wanted.div_ceil(AT_ONCE)) {
        // Another gateway each time, so that something changes; all lead to the same place.
        let gateway = 2 + (round + turn / routes.len().div_ceil(AT_ONCE)) % 200;
        let command = |prefix: &lpm::Prefix<u32>| {
            format!("set {}/{} 10.0.2.{gateway} 1\n", Ipv4Addr::from(prefix.addr()), prefix.len())
        };
        let commands: String = lot.iter().map(command).collect();
        match handle.call(Call::write("routes.ctrl", commands)) {
            Ok(_) => done += lot.len(),
            Err(error) => return format!("failed {error}"),
        }
    }
    format!("replaced {done} {}", start.elapsed().as_nanos())
}
