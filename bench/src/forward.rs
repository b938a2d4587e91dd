//! Nanoseconds a packet through forwarding configurations: the SOSP IP router, and a source, counter and sink.

use crate::assembly;
use crate::callgrind;
use crate::machine::Machine;
use crate::rcu::Spread;
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
    /// Count instructions a packet too, on one worker, with valgrind's callgrind.
    #[arg(long)]
    instructions: bool,
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
    workers: usize,
    /// Elements whose `count` handlers say, together, how many packets came through.
    sinks: &'static [&'static str],
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
        workers: 1,
        sinks: &["d"],
        params: params(burst),
        vector: 32,
        peers,
    };
    let counter = "define($BURST 1, $LIMIT 1);
        InfiniteSource(BURST $BURST, LENGTH 64, LIMIT $LIMIT, STOP true) -> Counter -> d :: Discard;";
    let no_peers = (f64::NAN, f64::NAN);
    let on_two = |name, burst| Case {
        workers: 2,
        sinks: &["a/d", "b/d"],
        ..case(name, &twice(FAKE_IPROUTER), burst, no_peers)
    };
    vec![
        case("fake-iprouter, burst 32", FAKE_IPROUTER, 32, (242.0, 127.0)),
        on_two("fake-iprouter, burst 32, 2 workers", 32),
        Case {
            vector: router::DEFAULT_VECTOR,
            ..case("fake-iprouter, burst 128", FAKE_IPROUTER, 128, no_peers)
        },
        Case { vector: router::DEFAULT_VECTOR, ..on_two("fake-iprouter, burst 128, 2 workers", 128) },
        case("fake-iprouter, burst 1", FAKE_IPROUTER, 1, (252.0, 178.0)),
        on_two("fake-iprouter, burst 1, 2 workers", 1),
        Case { vector: 1, ..case("fake-iprouter, burst 1, one by one", FAKE_IPROUTER, 1, (252.0, 178.0)) },
        case("source-counter-discard, burst 32", counter, 32, (101.0, 47.0)),
        case("source-counter-discard, burst 1", counter, 1, no_peers),
        case("IPv4 last step, two elements", &last_step(PARTS_4, "DecIPTTL", "ARPQuerier"), 32, no_peers),
        case("IPv4 last step, IPAdjacency", &last_step(PARTS_4, "", "IPAdjacency"), 32, no_peers),
        case(
            "IPv6 last step, two elements",
            &last_step(PARTS_6, "DecIP6HLIM", "IP6NDSolicitor"),
            32,
            no_peers,
        ),
        case("IPv6 last step, IP6Adjacency", &last_step(PARTS_6, "", "IP6Adjacency"), 32, no_peers),
        case("IPsec, 64-byte frames", &ipsec(64, ""), 32, no_peers),
        case("IPsec, 64-byte frames, there and back", &ipsec(64, IPSEC_BACK), 32, no_peers),
        case("IPsec, 1024-byte frames", &ipsec(1024, ""), 32, no_peers),
    ]
}

/// A packet; the element that marks its header; one that sets its neighbour; this host's addresses; the neighbour's.
const PARTS_4: [&str; 5] = [
    "4500002e 00000000 401155af 0a000909 0a000808 00010002 001a0000",
    "MarkIPHeader",
    "SetIPAddress(10.0.0.2)",
    "10.0.0.1/24, 2:0:0:0:0:1",
    "10.0.0.2 2:0:0:0:0:2",
];
const PARTS_6: [&str; 5] = [
    "60000000 001a1140 20010db8000000000000000000000909 20010db8000000000000000000000808 00010002 001a0000",
    "MarkIP6Header",
    "SetIP6Address(2001:db8::2)",
    "2001:db8::1, 2:0:0:0:0:1",
    "2001:db8::2 2:0:0:0:0:2",
];

/// The last step of forwarding: by two elements, or with an empty `hop` by one.
fn last_step([data, mark, set, host, neighbour]: [&str; 5], hop: &str, querier: &str) -> String {
    let (arrow, expired) = match hop {
        "" => (String::new(), "a[2] -> Discard;".to_owned()),
        hop => (format!("-> h :: {hop}"), "h[1] -> Discard;".to_owned()),
    };
    format!(
        "define($BURST 1, $LIMIT 1);
         s :: InfiniteSource(DATA \\<{data} 000000000000000000000000000000000000>, BURST $BURST, LIMIT $LIMIT, STOP true,
           ACTIVE false) -> {mark} -> {set} {arrow} -> a :: {querier}({host}) -> d :: Discard;
         Idle -> [1]a; a[1] -> Discard; {expired} Script(write a.insert {neighbour} permanent, write s.active true);"
    )
}

/// What takes a packet out of a tunnel again.
const IPSEC_BACK: &str = "-> CheckIPHeader -> StripIPHeader -> ESPDecap(0x1001, $KEY)";

/// The third application of RouteBricks (section 5.1): every packet is encrypted with AES-128. Frames have 14 bytes
/// of Ethernet header and 4 of checksum around the IP packet, as there.
fn ipsec(frame: usize, back: &str) -> String {
    let len = frame - 18;
    let data = format!("4500{len:04x} 00000000 40110000 0a000909 0a000808 {}", "00".repeat(len - 20));
    format!(
        "define($BURST 1, $LIMIT 1, $KEY \"\\<00112233 44556677 8899aabb ccddeeff 01020304>\");
         InfiniteSource(DATA \\<{data}>, BURST $BURST, LIMIT $LIMIT, STOP true) -> MarkIPHeader
           -> ESPEncap(0x1001, $KEY) -> IPEncap(esp, 10.0.0.1, 10.0.0.2) {back} -> d :: Discard;"
    )
}

/// A configuration with a source and a sink (`src`, `d`), once on each of two workers: a queue and a packet belong to
/// one core.
fn twice(config: &str) -> String {
    let (before, rest) = config.split_once("define(").unwrap_or(("", config));
    let (parameters, body) = rest.split_once(");").unwrap_or(("", rest));
    format!(
        "{before}define({parameters});
         elementclass Path {{ {body} }}
         a :: Path; b :: Path;
         StaticThreadSched(a/src 0, a/d 0, b/src 1, b/d 1);"
    )
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
    workers: usize,
    /// Packets that elements pass on together, at most.
    vector: usize,
    /// The time of the same on one worker, divided by this.
    times_one_worker: Option<f64>,
    instructions_per_packet: Option<f64>,
    dispatches_per_packet: f64,
    click_reference_ns: Option<f64>,
    fastclick_reference_ns: Option<f64>,
}

#[derive(Serialize)]
struct Report {
    machine: Machine,
    figures: Vec<Figure>,
}

/// Builds a router from a configuration and runs it to its end: nanoseconds and dispatches, each for a packet.
fn time(case: &Case) -> Result<(f64, f64), String> {
    let options = Options { workers: case.workers, vector: case.vector, pin: Some(0), ..Options::default() };
    let mut router = assembly::build((case.name, &case.config), &case.params, &elements::classes(), options)?;
    let start = Instant::now();
    router.run();
    let elapsed = start.elapsed().as_nanos() as f64;
    router.finish();
    check_nothing_dropped(&mut router)?;
    let mut packets = 0.0;
    for sink in case.sinks {
        let count = router.call(Call::read(format!("{sink}.count"), ""))?;
        packets += count.parse::<f64>().map_err(|_| format!("'{sink}.count' is no number: {count}"))?;
    }
    Ok((elapsed / packets, router.dispatches() as f64 / packets))
}

/// Nanoseconds a packet of a configuration with the parameters BURST and LIMIT and the sink `d`, in one run of one worker.
pub(crate) fn nanoseconds(config: &str, packets: u64) -> Result<f64, String> {
    nanoseconds_of(config, packets, 1)
}

/// The same with so many workers, as the time that passes for all their packets.
pub(crate) fn nanoseconds_of(config: &str, packets: u64, workers: usize) -> Result<f64, String> {
    let params = vec![("BURST".to_owned(), "32".to_owned()), ("LIMIT".to_owned(), packets.to_string())];
    let (config, sinks, peers) = (config.to_owned(), &["d"], (f64::NAN, f64::NAN));
    time(&Case { name: "one", config, workers, sinks, params, vector: 32, peers }).map(|(ns, _)| ns)
}

/// A figure over packets that went missing would say nothing.
pub(crate) fn check_nothing_dropped(router: &mut Router) -> Result<(), String> {
    let names: Vec<String> = router.info().nodes.iter().map(|node| node.name.clone()).collect();
    for name in names {
        let reasons = router.call(Call::read(format!("{name}.drop_reasons"), ""))?;
        if !reasons.is_empty() {
            return Err(format!("'{name}' dropped packets: {}", reasons.trim()));
        }
    }
    Ok(())
}

/// The case with this name, or else all whose names contain it.
fn chosen(cases: Vec<Case>, only: &str) -> Vec<Case> {
    let exact = cases.iter().any(|case| case.name == only);
    cases
        .into_iter()
        .filter(|case| if exact { case.name == only } else { case.name.contains(only) })
        .collect()
}

/// Measures all cases, interleaved, and prints them.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let (runs, packets) =
        if arguments.tiny { (1, 10_000) } else { (arguments.runs.max(1), arguments.packets) };
    let cases = chosen(cases(packets), &arguments.only);
    let machine = Machine::here(); // before workers are bound to processors
    let mut times = vec![Vec::new(); cases.len()];
    let mut dispatches = vec![0.0; cases.len()];
    for _ in 0..runs {
        for (i, case) in cases.iter().enumerate() {
            let (ns, made) = time(case)?;
            times[i].push(ns);
            dispatches[i] = made;
        }
    }
    let mut figures: Vec<Figure> = Vec::new();
    for ((case, ns), made) in cases.iter().zip(times).zip(dispatches) {
        let Spread { median, min, max } = Spread::of(&ns);
        let count = arguments.instructions && case.workers == 1;
        // The case on one worker comes before the same on several.
        let alone = figures.iter().find(|f| case.workers > 1 && case.name.starts_with(f.name));
        let figure = Figure {
            name: case.name,
            ns_median: median,
            ns_min: min,
            ns_max: max,
            runs,
            packets,
            workers: case.workers,
            vector: case.vector,
            times_one_worker: alone.map(|one| one.ns_median / median),
            instructions_per_packet: if count { Some(callgrind::per_packet(case.name)?) } else { None },
            dispatches_per_packet: made,
            click_reference_ns: Some(case.peers.0).filter(|ns| ns.is_finite()),
            fastclick_reference_ns: Some(case.peers.1).filter(|ns| ns.is_finite()),
        };
        figures.push(figure);
    }
    print(&Report { machine, figures }, arguments.json);
    Ok(())
}

fn print(report: &Report, json: bool) {
    if json {
        println!("{}", serde_json::to_string_pretty(report).unwrap_or_default());
        return;
    }
    println!("{}", report.machine.line());
    println!(
        "{:36} {:>7} {:>7} {:>7} {:>8} {:>9} {:>9}  {:>6} {:>9}",
        "ns a packet", "median", "min", "max", "speed-up", "disp/pkt", "instr/pkt", "Click", "FastClick"
    );
    let or_dash = |value: Option<f64>, digits| value.map_or("-".to_owned(), |v| format!("{v:.digits$}"));
    for f in &report.figures {
        println!(
            "{:36} {:7.1} {:7.1} {:7.1} {:>8} {:9.2} {:>9}  {:>6} {:>9}",
            f.name,
            f.ns_median,
            f.ns_min,
            f.ns_max,
            or_dash(f.times_one_worker, 2),
            f.dispatches_per_packet,
            or_dash(f.instructions_per_packet, 0),
            or_dash(f.click_reference_ns, 0),
            or_dash(f.fastclick_reference_ns, 0)
        );
    }
    println!(
        "Click and FastClick: reference figures from another machine of the kind, not measured in this run."
    );
}
