//! The papers' experiments and comparisons, side by side.
//!
//! `clique-bench forward` measures nanoseconds a packet through small configurations, several runs each, interleaved, and
//! prints the median and the spread; `clique-bench rewriter` measures network address translation, and
//! `clique-bench filter` packet filters with up to ten thousand rules. `--tiny` runs everything once with few packets: the tests
//! do that, so that no benchmark rots.

#![deny(unsafe_code)]

mod assembly;
mod bsd;
mod callgrind;
mod classes;
mod cluster;
mod devices;
mod esp;
mod filter;
mod flows;
mod forward;
mod fpm;
mod lpm;
mod machine;
mod predict;
mod rcu;
mod report;
mod rewriter;
mod server;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Benchmarks of Clique.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Nanoseconds a packet through forwarding configurations.
    Forward(forward::Arguments),
    /// Nanoseconds a packet in IPRewriter.
    Rewriter(rewriter::Rewriters),
    /// Nanoseconds and instructions a packet for each element class.
    Classes(classes::Arguments),
    /// Nanoseconds a packet in IPFilter.
    Filter(rewriter::Arguments),
    /// Processor time a packet through the kernel's interfaces, against a bare forwarder and against Linux. Needs root.
    Devices(devices::Arguments),
    /// Nanoseconds to protect a packet by ESP, beside the bare ciphers.
    Esp(esp::Arguments),
    /// Many servers as one router: costs by role, order, and simulated clusters against theory.
    Cluster(cluster::Arguments),
    /// One server as RouteBricks measures it: cores and queues, sizes and applications, load, memory.
    Server(server::Arguments),
    /// A host at a node of a cluster, for bench/rb4.sh.
    #[command(hide = true)]
    ClusterHost(cluster::host::Arguments),
    /// The BSD paper's Figures 7, 9 and 10: where to send, over unified tables, split ones, and a flow table, with locks and without.
    Bsd(bsd::Arguments),
    /// Nanoseconds a packet in tables of flows; with `--cache`, of routes looked up or remembered.
    Flows(flows::Arguments),
    /// Routes a second from zebra's FPM interface into a table, and how long a group of next hops takes to change.
    Fpm(fpm::Arguments),
    /// Nanoseconds a lookup in route tables, and changes a second.
    Lpm(lpm::Arguments),
    /// The rate that a configuration will reach, from what its elements cost one by one, beside what it reaches.
    Predict(predict::Arguments),
    /// Everything, on one page with charts, the papers' figures beside ours.
    Report(report::Arguments),
    /// Nanoseconds a read under read-copy update, and under other protections.
    RcuRead(rcu::read::Arguments),
    /// Updates a second, and the memory that waits meanwhile.
    RcuUpdate(rcu::update::Arguments),
    /// How long grace periods take.
    RcuGrace(rcu::grace::Arguments),
    /// What single operations cost here.
    RcuCosts(rcu::costs::Arguments),
    /// The hash-table mini-benchmark, over locks and RCU.
    RcuHash(rcu::hash::Arguments),
    /// The AP-RCU paper's Table I: a non-blocking hash table over flavours of RCU.
    RcuAp(rcu::table_one::Arguments),
    /// When RCU pays, by arithmetic, with costs measured here.
    RcuModel(rcu::model::Arguments),
    /// The thesis' Tables 7 to 14: readers and writers of a route table, over locks and RCU.
    RcuThesis(rcu::thesis::Arguments),
}

/// A reader of standard output that went away has seen enough: ends this program then, as the signal would that Rust's programs ignore.
fn end_with_the_reader() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let message = panic.payload_as_str().unwrap_or_default();
        if message.starts_with("failed printing to stdout: Broken pipe") {
            std::process::exit(ENDED_BY_SIGPIPE);
        }
        hook(panic);
    }));
}

/// As a shell has it.
const ENDED_BY_SIGPIPE: i32 = 128 + 13;

fn main() -> ExitCode {
    end_with_the_reader();
    let done = match Arguments::parse().what {
        What::Forward(arguments) => forward::run(&arguments),
        What::Rewriter(arguments) => rewriter::run(&arguments),
        What::Classes(arguments) => classes::run(&arguments),
        What::Filter(arguments) => filter::run(&arguments),
        What::Devices(arguments) => devices::run(&arguments),
        What::Esp(arguments) => esp::run(&arguments),
        What::Cluster(arguments) => cluster::run(&arguments),
        What::Server(arguments) => server::run(&arguments),
        What::ClusterHost(arguments) => cluster::host::run(&arguments),
        What::Bsd(arguments) => bsd::run(&arguments),
        What::Flows(arguments) => flows::run(&arguments),
        What::Fpm(arguments) => fpm::run(&arguments),
        What::Lpm(arguments) => lpm::run(&arguments),
        What::Predict(arguments) => predict::run(&arguments),
        What::Report(arguments) => report::run(&arguments),
        What::RcuRead(arguments) => rcu::read::run(&arguments),
        What::RcuUpdate(arguments) => rcu::update::run(&arguments),
        What::RcuGrace(arguments) => rcu::grace::run(&arguments),
        What::RcuCosts(arguments) => rcu::costs::run(&arguments),
        What::RcuHash(arguments) => rcu::hash::run(&arguments),
        What::RcuAp(arguments) => rcu::table_one::run(&arguments),
        What::RcuModel(arguments) => rcu::model::run(&arguments),
        What::RcuThesis(arguments) => rcu::thesis::run(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A report measures with commands that this program takes: the page would only say that a topic failed.
    #[test]
    fn a_reports_commands_are_commands() {
        for (topic, command) in report::commands() {
            let words = std::iter::once("clique-bench").chain(command.iter().map(String::as_str));
            if let Err(error) = Arguments::try_parse_from(words) {
                panic!("{topic}: {error}");
            }
        }
    }
}
