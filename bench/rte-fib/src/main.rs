//! Nanoseconds a packet in the router with the product's lookup elements and with DPDK's rte_fib, in one process.
//!
//! All contenders are paths of one router, which runs on this thread: a source, CheckIPHeader, the element, sinks. Each round sends the
//! same packets through one path after the other, in an order that rotates.

mod configuration;
#[allow(dead_code)] // the other family
#[path = "../../src/lpm/family.rs"]
mod family;
#[allow(dead_code)] // what only reports need
#[path = "../../src/machine.rs"]
mod machine;
mod measure;
mod report;
#[allow(dead_code)] // names of traces
#[path = "../../src/lpm/traces.rs"]
mod traces;

use clap::Parser;
use configuration::{Contender, Table};
use lpm::Prefix;
use lpm::import::{self, Options};
use machine::Machine;
use measure::{Bench, Plan};
use report::Report;
use rte_fib::fib::{self, Pages};
use rte_fib::{Hop, Ring, Traffic};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

/// Measures DPDK's rte_fib as an element beside IPLookup.
#[derive(Parser)]
struct Arguments {
    /// Rounds; the median counts.
    #[arg(long, default_value_t = 21)]
    rounds: usize,
    /// Packets that a path gets in a round, and as many before to warm the caches.
    #[arg(long, default_value_t = traces::LEN)]
    packets: usize,
    /// Different next hops.
    #[arg(long, default_value_t = 256)]
    next_hops: u32,
    /// Octets of a packet.
    #[arg(long, default_value_t = 512)]
    frame: usize,
    /// MiB of the ring of packets that is larger than the caches.
    #[arg(long, default_value_t = 64)]
    ring: usize,
    /// The product's lookup elements; the first is what others are compared with.
    #[arg(long = "class", value_name = "CLASS", default_values_t = ["IPLookup".to_owned()])]
    classes: Vec<String>,
    /// The routes: a list of prefixes, packed or not.
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/internet-prefixes.txt.xz"))]
    routes: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// One round with few routes and packets, to see that it works.
    #[arg(long)]
    tiny: bool,
}

/// Outputs of each lookup element.
const OUTPUTS: u32 = 4;
/// Octets of the ring of packets that stays in the caches.
const WARM_RING: usize = 16 << 10;

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn run(mut arguments: Arguments) -> Result<(), String> {
    let machine = Machine::here(); // before this thread is bound to a processor
    let (mut step, mut pages) = (1, Pages::best());
    if arguments.tiny {
        // Two of these share no set of huge pages.
        (step, pages) = (101, Pages::Small);
        (arguments.rounds, arguments.packets, arguments.ring) = (1, 1 << 12, 1);
    }
    measure::stay_on_one_processor();
    let pages = fib::start(pages).map_err(|error| error.to_string())?;
    let list = import::read_file(&arguments.routes, Options::default());
    let list = list.map_err(|error| format!("{}: {error}", arguments.routes.display()))?;
    let prefixes: Vec<_> = list.v4.iter().map(|&(prefix, _)| prefix).step_by(step).collect();
    if prefixes.is_empty() {
        return Err(format!("{}: no IPv4 routes", arguments.routes.display()));
    }
    // By Zipf's law, too: this element is not asked for those.
    let [uniform, weighted, _] = traces::draw(&prefixes, 1);
    let packets = arguments.packets.clamp(1, traces::LEN);
    let lists = [weighted, uniform].map(|list| list[..packets].to_vec());
    let rings = vec![Ring::new(arguments.ring << 20, arguments.frame), Ring::new(WARM_RING, arguments.frame)];
    let traffic = Arc::new(Traffic { lists: lists.into(), rings });
    let contenders = contenders(&arguments.classes, prefixes.len(), arguments.next_hops);
    let mut bench = Bench::new(contenders, traffic, OUTPUTS)?;
    let mut notes = vec![load_average(), bench.load(&routes(&prefixes, arguments.next_hops))?];
    notes.extend(bench.leave_out_what_the_processor_lacks());
    notes.extend(bench.verify(packets)?);
    notes.push(match pages {
        Pages::Huge => "DPDK with huge pages".to_owned(),
        Pages::Small => "DPDK with small pages, since too few huge ones are set aside".to_owned(),
    });
    let plan = Plan { rounds: arguments.rounds.max(1), packets };
    let figures = bench.measure(&plan)?;
    let report = Report {
        machine,
        routes: prefixes.len(),
        next_hops: arguments.next_hops,
        frame: arguments.frame,
        ring_mib: arguments.ring,
        packets,
        rounds: plan.rounds,
        notes,
        figures,
    };
    report.print(arguments.json);
    Ok(())
}

/// What takes turns.
fn contenders(classes: &[String], routes: usize, next_hops: u32) -> Vec<Contender> {
    let own = classes.iter().map(|class| Contender::own(class));
    own.chain([
        Contender { name: "rte_fib scalar".to_owned(), table: Table::RteFib { routes, avx512: false } },
        Contender { name: "rte_fib AVX-512".to_owned(), table: Table::RteFib { routes, avx512: true } },
        Contender { name: "no table".to_owned(), table: Table::None { next_hops } },
        Contender { name: "direct".to_owned(), table: Table::Direct },
    ])
    .collect()
}

/// The routes as both elements load them: `PREFIX GATEWAY OUTPUT`, one per line.
fn routes(prefixes: &[Prefix<u32>], next_hops: u32) -> String {
    let line = |&prefix: &Prefix<u32>| {
        let Hop { gateway, port } = Hop::numbered(family::next_hop(prefix, next_hops), OUTPUTS);
        format!("{prefix} {gateway} {port}\n")
    };
    prefixes.iter().map(line).collect()
}

/// How much else ran when this began, which says what figures are worth.
fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    format!("load average before: {}", text.split(' ').take(3).collect::<Vec<_>>().join(" "))
}
