//! `clique cluster up`: a cluster on this machine, in namespaces or in one process.

use super::local::{self, ClusterFiles, Deployment};
use super::order::OrderArgument;
use super::output::{complain, default_socket, json};
use super::wiring::Wiring;
use crate::job::WORKERS_MAX;
use crate::status::Status;
use crate::{console, run};
use clap::Parser;
use router::Classes;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `clique cluster up`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Run N nodes here, with a host at each.
    #[arg(long, value_name = "N", required = true, value_parser = clap::value_parser!(u16).range(1..=64))]
    local: u16,

    /// Join them as a k-ary n-fly, with at most K links out of each node, and further nodes between them.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u16).range(2..=64))]
    fly: Option<u16>,

    /// Have each node translate what its host sends; hosts and nodes are on one segment, and another node goes on when a node drains or dies.
    #[arg(long, conflicts_with_all = ["in_memory", "trial"])]
    nat: bool,

    /// Run N workers in each node, each on a thread of its own; with nodes in memory, N for all of them.
    #[arg(short = 'j', long, value_name = "N", default_value = "1",
          value_parser = clap::value_parser!(u16).range(1..=i64::from(WORKERS_MAX)))]
    threads: u16,

    /// Run them in this process with links in memory, also as root.
    #[arg(long)]
    in_memory: bool,

    /// What the cluster is called, if there are several on this machine.
    #[arg(long, value_name = "NAME", default_value = local::DEFAULT_NAME)]
    name: String,

    /// Let the hosts try it, and print what they say: pings, a traceroute, iperf3.
    #[arg(long, conflicts_with = "in_memory")]
    trial: bool,

    /// What is done to keep packets of a flow in order.
    #[arg(long, value_enum, default_value = "flowlet")]
    order: OrderArgument,

    /// How long a link in memory takes, in microseconds.
    #[arg(long, value_name = "N", default_value_t = 50)]
    delay: u32,

    /// Stop after so many seconds [default: when interrupted].
    #[arg(long, value_name = "N")]
    seconds: Option<u32>,

    /// The UNIX-domain socket through which 'clique cluster status' and others reach nodes in memory [default:
    /// clique-cluster.sock in $XDG_RUNTIME_DIR, or else in the directory for temporary files].
    #[arg(short, long, value_name = "FILE")]
    unix_socket: Option<PathBuf>,

    /// Print the configuration and do nothing else.
    #[arg(long)]
    print: bool,

    /// Print JSON once all nodes take part and hosts have tried what they shall: where nodes and hosts are, what hosts said.
    #[arg(long, conflicts_with = "print")]
    json: bool,
}

/// The arguments of `clique run`, to be filled from words.
#[derive(Parser)]
struct Run {
    #[command(flatten)]
    args: run::Args,
}

/// Runs `clique cluster up`.
pub(super) fn run(args: &Args, known: &Classes) -> ExitCode {
    let wiring = match Wiring::new(args.local, args.fly) {
        Ok(wiring) => wiring,
        Err(error) => return complain("up", &error, Status::Usage).into(),
    };
    if args.nat && !args.print && !local::is_root() {
        return complain("up", "--nat: only root can make the segment", Status::Usage).into();
    }
    if args.in_memory || args.unix_socket.is_some() || !(local::is_root() || args.nat) {
        return in_memory(args, &wiring, known);
    }
    let deployment = Deployment {
        wiring,
        order: args.order,
        translates: args.nat,
        threads: args.threads,
        with_trial: args.trial,
        seconds: args.seconds,
        json: args.json,
    };
    if args.print {
        return local::print(&deployment).into();
    }
    let up = ClusterFiles::new(&args.name).and_then(|files| local::up(&files, &deployment));
    up.unwrap_or_else(|error| complain("up", &error, Status::Failure)).into()
}

fn in_memory(args: &Args, wiring: &Wiring, known: &Classes) -> ExitCode {
    let config = configuration(args, wiring);
    if args.print {
        return console::write_result(None, &config).into();
    }
    let socket = args.unix_socket.clone().unwrap_or_else(default_socket);
    let file = socket.to_string_lossy().into_owned();
    let threads = args.threads.to_string();
    let words = ["run", "-j", &threads, "-u", &file, "-e", &config];
    let mut words: Vec<String> = words.map(str::to_owned).to_vec();
    if args.json {
        let nodes: Vec<_> = (0..wiring.nodes()).map(|node| format!("n{node}/vlb")).collect();
        match json(&serde_json::json!({ "socket": file, "nodes": nodes })) {
            Status::Fine => (),
            status => return status.into(),
        }
    } else {
        for node in 0..args.local {
            words.extend(["-h".to_owned(), format!("h{node}/ping.summary")]);
            words.extend(["-h".to_owned(), format!("h{node}/six.count")]);
        }
        console::complain(&format!(
            "{}; 'clique cluster status -u {file}' shows them, 'drain' and 'down' take them down\n",
            wiring.describe()
        ));
    }
    match Run::try_parse_from(words) {
        Ok(run) => run::run(run.args, known),
        Err(error) => complain("up", &error.to_string(), Status::Failure).into(),
    }
}

/// Nodes, each with a host, and those between them; links; hosts that ping their right neighbours, and send them IPv6.
fn configuration(args: &Args, wiring: &Wiring) -> String {
    let (terminals, mut text) = (wiring.terminals(), String::new());
    // Writing into a string cannot fail.
    let mut line = |text_of: std::fmt::Arguments<'_>| {
        let _ = writeln!(text, "{text_of}");
    };
    line(format_args!(
        "elementclass Link {{ input -> SetTimestamp -> Queue -> DelayUnqueue({}us) -> output }}",
        args.delay
    ));
    line(format_args!("elementclass Host {{ $me, $other |"));
    line(format_args!("  ping :: ICMPPingSource(10.0.$me.2, 10.0.$other.2, INTERVAL 0.1, VERBOSE false);"));
    line(format_args!("  input -> family :: Classifier(0/40%f0, 0/60%f0);"));
    line(format_args!(
        "  family[0] -> CheckIPHeader -> kind :: IPClassifier(icmp type echo, icmp type echo-reply, -);"
    ));
    line(format_args!("  kind[0] -> ICMPPingResponder -> output;"));
    line(format_args!("  kind[1] -> ping -> output; kind[2] -> Discard;"));
    line(format_args!("  RatedSource(LENGTH 56, RATE 10)"));
    line(format_args!("    -> UDPIP6Encap(2001:db8:$me::2, 9, 2001:db8:$other::2, 9) -> output;"));
    line(format_args!("  family[1] -> CheckIP6Header -> six :: Counter -> Discard }}"));
    line(format_args!("elementclass Node {{ $node |"));
    let arguments = format!("KEY local, {}", args.order);
    line(format_args!("  vlb :: {};", wiring.element("$node", &arguments)));
    let routes: Vec<_> = (0..terminals).map(|node| format!("10.0.{node}.0/24 {node}")).collect();
    line(format_args!("  routes :: IPLookup({});", routes.join(", ")));
    let routes6: Vec<_> = (0..terminals).map(|node| format!("2001:db8:{node}::/64 {node}")).collect();
    line(format_args!("  routes6 :: IP6Lookup({});", routes6.join(", ")));
    line(format_args!("  input[0] -> family :: Classifier(0/40%f0, 0/60%f0);"));
    line(format_args!("  family[0] -> CheckIPHeader -> ttl :: DecIPTTL -> routes;"));
    line(format_args!("  ttl[1] -> ICMPError(10.0.$node.1, timeexceeded) -> routes;"));
    line(format_args!(
        "  family[1] -> CheckIP6Header -> hops :: DecIP6HLIM -> GetIP6Address(24) -> routes6;"
    ));
    line(format_args!("  hops[1] -> ICMP6Error(2001:db8:$node::1, 3, 0) -> routes6;"));
    for node in 0..terminals {
        line(format_args!("  routes[{node}], routes6[{node}] -> VLBEncap({node}) -> vlb;"));
    }
    // What leaves was looked at where it came in.
    line(format_args!("  vlb -> VLBDecap -> [0]output;"));
    // All that have hosts have as many cables.
    for port in 1..=wiring.cables(0).len() {
        line(format_args!("  input[{port}] -> [{port}]vlb[{port}] -> [{port}]output;"));
    }
    line(format_args!("}}"));
    for node in 0..terminals {
        let other = (node + 1) % terminals;
        line(format_args!("n{node} :: Node({node}) -> h{node} :: Host({node}, {other}) -> n{node};"));
    }
    for node in terminals..wiring.nodes() {
        line(format_args!(
            "n{node} :: {{ vlb :: {}; Idle -> vlb -> Discard;",
            wiring.element(node, &arguments)
        ));
        for port in 1..=wiring.cables(node).len() {
            line(format_args!("  input[{port}] -> [{port}]vlb[{port}] -> [{port}]output;"));
        }
        line(format_args!("  Idle -> output; input -> Discard }}; Idle -> n{node} -> Discard;"));
    }
    for (a, b) in wiring.pairs() {
        let (here, there) = (wiring.port(a, b), wiring.port(b, a));
        line(format_args!("n{a}[{here}] -> Link -> [{there}]n{b}; n{b}[{there}] -> Link -> [{here}]n{a};"));
    }
    if let Some(seconds) = args.seconds {
        line(format_args!("Script(wait {seconds}, stop);"));
    }
    text
}
