//! `clique cluster`: many servers as one router.

mod plan;
mod units;

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
}

/// Runs `clique cluster`.
pub(crate) fn run(args: &Args) -> Status {
    match &args.what {
        What::Plan(args) => plan::run(args),
    }
}
