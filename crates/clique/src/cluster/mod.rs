//! `clique cluster`: many servers as one router.

mod plan;
mod reordering;
mod sim;
mod units;

use crate::console;
use crate::status::Status;

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
}

/// Runs `clique cluster`.
pub(crate) fn run(args: &Args) -> Status {
    match &args.what {
        What::Plan(args) => plan::run(args),
        What::Sim(args) => sim::run(args),
        What::Reordering(args) => reordering::run(args),
    }
}

/// Prints a result as JSON.
fn json(value: &impl serde::Serialize) -> Status {
    match serde_json::to_string_pretty(value) {
        Ok(text) => console::write_result(None, &(text + "\n")),
        Err(error) => complain("", &error.to_string(), Status::Failure),
    }
}

/// Says what went wrong.
fn complain(command: &str, error: &str, status: Status) -> Status {
    console::complain(&format!("clique cluster {command}: {error}\n"));
    status
}
