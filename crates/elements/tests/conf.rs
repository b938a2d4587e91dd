//! Every example configuration builds; those that end by themselves run.

use device::frames::FrameSet;
use device::memory::{Config, Feed, Interface, Interfaces};
use device::traffic::{Addresses, BadShares, Traffic};
use elements_testing::run_to_end;
use router::{Call, Clock, Log, Options, Resources, Router};
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../conf"))
}

/// A shipped configuration with interfaces in memory, and Ethernet addresses that need no kernel.
fn in_memory(text: &str) -> String {
    text.replace("FromDevice($device, METHOD $METHOD)", "FromMemory($device)")
        .replace("FromDevice($device, PROMISC true, METHOD $METHOD)", "FromMemory($device)")
        .replace("ToDevice($device, METHOD $METHOD)", "ToMemory($device)")
        .replace("FromDevice($IN, METHOD $METHOD)", "FromMemory($IN)")
        .replace("ToDevice($OUT, METHOD $METHOD)", "ToMemory($OUT)")
        .replace("FromDevice($OUT, METHOD $METHOD)", "FromMemory($OUT)")
        .replace("ToDevice($IN, METHOD $METHOD)", "ToMemory($IN)")
        .replace("FromDevice($IF, METHOD $METHOD)", "FromMemory($IF)")
        .replace("ToDevice($IF, METHOD $METHOD)", "ToMemory($IF)")
        .replace("$IF:eth", "02:00:00:00:00:01")
        .replace("$IF0:eth", "02:00:00:00:00:01")
        .replace("$IF1:eth", "02:00:00:00:00:02")
        .replace("$IN:eth", "02:00:00:00:00:01")
        .replace("$OUT:eth", "02:00:00:00:00:02")
}

fn build(name: &str, params: &[(&str, &str)], workers: usize, interfaces: &[Arc<Interface>]) -> Router {
    let text = in_memory(&std::fs::read_to_string(folder().join(name)).expect("readable"));
    let params: Vec<_> =
        params.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let parsed = lang::parse(&text, name, &params);
    assert!(!parsed.has_errors(), "{}", parsed.render_click());
    let known = elements::classes();
    let layout = router::layout(parsed.graph, &known, workers)
        .unwrap_or_else(|e| panic!("{}", lang::render_click(&e)));
    let registry = Interfaces::new();
    for interface in interfaces {
        registry.add(interface.clone()).expect("names differ");
    }
    let mut resources = Resources::default();
    resources.insert(registry);
    let log = Log::Memory(Default::default());
    let options =
        Options { workers, clock: Clock::simulated(), log, resources, counted: true, ..Options::default() };
    router::build(layout, text, &known, options).unwrap_or_else(|e| panic!("{}", lang::render_click(&e))).0
}

fn interfaces(set: &Arc<FrameSet>, queues: usize, limit: u64) -> Vec<Arc<Interface>> {
    let interface = |name: &str| {
        let feed = Feed::Frames { set: set.clone(), start: 0, limit: Some(limit) };
        Interface::new(name, Config { rx: vec![feed; queues], tx_queues: queues, tap: None })
    };
    ["eth0", "eth1", "eth2", "eth3"].map(interface).into()
}

fn traffic() -> Arc<FrameSet> {
    let traffic = Traffic {
        frames: 512,
        ipv4: Addresses {
            destinations: vec![0xc612_0005, 0x0808_0808],
            unrouted: vec![0xf000_0001],
            ..Addresses::default()
        },
        ipv6: Addresses {
            destinations: vec![(0x2001_0002 << 96) + 7],
            unrouted: vec![1 << 100],
            ..Addresses::default()
        },
        bad: BadShares { expired: 0.1, checksum: 0.1, martian: 0.1, no_route: 0.1 },
        ..Traffic::default()
    };
    Arc::new(traffic.build().expect("a good description"))
}

/// Those that need more than this crate and interfaces in memory, and what runs them.
const ELSEWHERE: [&str; 6] = [
    "esp-gateway.click",   // it needs files with keys: tests/netns/examples.sh
    "frr-router.click",    // FPMServer is not of this crate: tests/netns/frr.sh
    "ipsec-gateway.click", // KernelIPsec is not of this crate: tests/vm/ipsec.sh
    "linux-router.click",  // it asks the kernel for its interfaces' addresses: tests/netns/linux-router.sh
    "cluster-nat.click",   // it needs four interfaces and a key: tests/netns/cluster-state.sh
    "cluster-node.click",  // it needs four interfaces and a key: tests/netns/cluster.sh
];

/// The configurations that can run here.
fn names() -> Vec<String> {
    let files =
        std::fs::read_dir(folder()).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = files.map(|name| name.into_string().expect("UTF-8")).collect();
    names.retain(|name| name.ends_with(".click") && !ELSEWHERE.contains(&name.as_str()));
    names.sort();
    names
}

/// Runs a router until it stops or so much simulated time has passed, or at the latest after so much real time.
fn run_for(router: &mut Router, simulated: Duration, real: Duration) {
    let (handle, clock, started) = (router.handle(), router.clock().clone(), Instant::now());
    let until_ns = clock.now_ns() + simulated.as_nanos() as i64;
    let (running, ended) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let runs =
                || ended.recv_timeout(Duration::from_millis(1)) == Err(mpsc::RecvTimeoutError::Timeout);
            while runs() {
                if clock.now_ns() >= until_ns || started.elapsed() >= real {
                    return handle.interrupt();
                }
            }
        });
        router.run();
        drop(running);
    });
}

/// Frames that come in at each interface while packets are counted.
const SOME: u64 = 300;

/// In every configuration, every packet that an element gets or makes is handed on, dropped for a reason, absorbed or held; and what one
/// router hands over the next one holds.
#[test]
fn all_conserve_packets_on_one_and_two_workers() {
    let frames = traffic();
    let mut wrong = String::new();
    for name in names() {
        for workers in [1, 2] {
            let interfaces = interfaces(&frames, workers, SOME);
            let mut router = build(&name, &[], workers, &interfaces);
            run_for(&mut router, Duration::from_secs(3), Duration::from_millis(200));
            let (before, next) = (router.balance(), build(&name, &[], workers, &interfaces));
            let old = router.replace(next).expect("it takes over").balance();
            run_for(&mut router, Duration::from_secs(3), Duration::from_millis(100));
            let after = router.balance();
            let found = [before.check(), old.check(), after.check(), after.check_swap(&old)];
            let found = found.into_iter().filter_map(Result::err).flatten();
            found.for_each(|imbalance| wrong += &format!("{name}, {workers} workers: {imbalance}\n"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn fake_iprouter_delivers_everything() {
    for burst in ["1", "32"] {
        let mut router = build("fake-iprouter.click", &[("BURST", burst), ("LIMIT", "1000")], 1, &[]);
        run_to_end(&mut router);
        let waiting: u64 =
            router.call(Call::read("q.length", "")).expect("readable").parse().expect("a number");
        let delivered: u64 =
            router.call(Call::read("d.count", "")).expect("readable").parse().expect("a number");
        assert_eq!(delivered + waiting, 1000, "burst {burst}");
    }
}

/// Every frame that arrives is sent on, turned into an ICMP error, or counted as dropped with a reason.
#[test]
fn ip_router_accounts_for_every_frame() {
    const FRAMES: u64 = 2_000;
    let frames = traffic();
    let interfaces = interfaces(&frames, 1, FRAMES);
    let mut router = build("ip-router.click", &[], 1, &interfaces);
    router.call(Call::write("routes4.add", "8.0.0.0/8 198.18.1.9 1")).expect("added");
    let handle = router.handle();
    std::thread::scope(|scope| {
        scope.spawn(|| router.run());
        let received = || interfaces.iter().map(|i| i.rx_stats().packets).sum::<u64>();
        for _ in 0..2_000 {
            if received() == 4 * FRAMES {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        handle.stop(); // before anything fails, since the scope waits for the router
    });
    assert_eq!(interfaces.iter().map(|i| i.rx_stats().packets).sum::<u64>(), 4 * FRAMES);
    let names: Vec<String> = router.info().nodes.iter().map(|node| node.name.clone()).collect();
    let mut dropped = 0;
    for name in &names {
        let text = router.call(Call::read(format!("{name}.drop_reasons"), "")).expect("readable");
        dropped += text.lines().filter_map(|line| line.split('\t').next()?.parse::<u64>().ok()).sum::<u64>();
    }
    // What arrives and is neither IPv4 nor IPv6; the other sinks get copies, for redirects that no test wants.
    for name in names.iter().filter(|name| name.starts_with("in") && name.contains("Discard")) {
        let path = format!("{name}.count");
        dropped += router.call(Call::read(path, "")).expect("readable").parse::<u64>().expect("a number");
    }
    let sent: u64 = interfaces.iter().map(|i| i.tx_stats().packets).sum();
    assert!(sent > 0 && dropped > 0);
    assert_eq!(sent + dropped, 4 * FRAMES);
}
