//! `clique cluster`: many servers as one router.

mod local;
mod nodes;
mod order;
mod output;
mod plan;
mod reordering;
mod sim;
mod units;
mod up;
mod wiring;

use router::Classes;
use std::process::ExitCode;

/// Arguments of `clique cluster`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand, Debug)]
enum What {
    /// Say how many servers and links a router of many ports takes, and what it costs.
    ///
    /// Servers get as many external ports as they can handle. They form a full mesh if their sockets suffice, otherwise a
    /// k-ary n-fly with further servers between them. Defaults are the figures of the RouteBricks paper.
    Plan(plan::Args),
    /// Simulate a cluster: throughput, fairness, latency, order.
    ///
    /// Servers choose ways for packets as real ones do; links, queues and processors are made up. The same seed gives the
    /// same run.
    Sim(sim::Args),
    /// Compare ways of keeping order, as the RouteBricks paper does: all traffic goes from one port to another.
    Reordering(reordering::Args),
    /// Run a cluster on this machine: nodes, links between them, hosts at their external ports.
    ///
    /// As root each node is a process in a network namespace of its own, with a cable to each other node and a host
    /// behind it; with --fly there are further nodes between them, and cables only as a k-ary n-fly has them.
    /// Otherwise, or with --in-memory, all are in this process, with links in memory and hosts that ping each other.
    Up(up::Args),
    /// Show the nodes of a running router: whether they take part, whom they reach, and which way packets went.
    Status(nodes::StatusArgs),
    /// Let a node leave without loss: it forwards what still comes, gets no new flows, and has left when nothing comes any
    /// more.
    Drain(nodes::DrainArgs),
    /// Stop a running router.
    Down(nodes::DownArgs),
}

/// Runs `clique cluster`.
pub(crate) fn run(args: &Args, known: &Classes) -> ExitCode {
    let status = match &args.what {
        What::Up(args) => return up::run(args, known),
        What::Status(args) => nodes::status(args),
        What::Drain(args) => nodes::drain(args),
        What::Down(args) => nodes::down(args),
        What::Plan(args) => plan::run(args),
        What::Sim(args) => sim::run(args),
        What::Reordering(args) => reordering::run(args),
    };
    status.into()
}
