//! `clique reload --shadow`: what a new configuration would make of the packets that come now, before it runs.
//!
//! Packets are recorded as they come into the running router, at the outputs of the elements that receive them. Then two copies of routers
//! get them in this process, at the times at which they came: one of the text that runs, one of the new text. Their interfaces are doors,
//! so that nothing is sent. Both begin cold, without neighbours, flows and associations, which is why the new text is compared with a copy
//! of the running one and not with what the router itself has sent: that knew all these. Neighbours answer both in the same way, and routes of
//! daemons are those of the running router.

mod comparison;
mod copy;
mod doors;
mod fitness;
mod neighbours;
mod recording;
mod report;
mod routes;
mod stand_ins;

pub(super) use copy::Source;
pub(super) use report::Report;

use crate::address::Address;
use comparison::{Comparison, Outcome};
use control::observe;
use copy::Copy;
use recording::{Arrived, Recording};
use router::{Classes, View};
use routes::Routes;
use std::time::Duration;

/// For how long the copies go on when the last packet has come, so that what waits in queues leaves.
const LINGER_NS: i64 = 2_000_000_000;
/// How long before the first packet they begin.
const LEAD_NS: i64 = 1_000_000;

/// What messages call the two.
const RUNNING: &str = "the running configuration";
const NEW: &str = "the new configuration";

/// Records what comes into a router for so long, and compares what two configurations make of it.
///
/// # Errors
/// Why that is not possible.
pub(super) fn run(
    address: &Address,
    running: &Source,
    new: &Source,
    known: &Classes,
    span: Duration,
) -> Result<Report, String> {
    address.check_here()?;
    let graph = running.graph(known)?.graph;
    let taps = recording::taps(&graph, known);
    if taps.is_empty() {
        return Err(
            "the running configuration has no element that receives packets from an interface".to_owned()
        );
    }
    let routes = Routes::read(address, &graph)?;
    // What is wrong is said before anything is waited for.
    Copy::new(RUNNING, running, known, &routes, 0)?.end();
    Copy::new(NEW, new, known, &routes, 0)?.end();
    replay(&recording::record(address, &taps, span)?, running, new, known, &routes)
}

/// Compares what two configurations make of packets that have been recorded.
fn replay(
    recording: &Recording,
    running: &Source,
    new: &Source,
    known: &Classes,
    routes: &Routes,
) -> Result<Report, String> {
    let start_ns = recording.packets.first().map_or(0, |first| first.at_ns - LEAD_NS);
    let mut running = Copy::new(RUNNING, running, known, routes, start_ns)?;
    let mut new = Copy::new(NEW, new, known, routes, start_ns)?;
    let mut comparison = Comparison::default();
    for packet in &recording.packets {
        pass(&mut running, &mut new, packet.at_ns, &mut comparison)?;
        let port = &recording.ports[packet.port];
        let outcomes = (running.receive(port, &packet.bytes)?, new.receive(port, &packet.bytes)?);
        comparison.add(&outcomes.0, &outcomes.1, || (summary(packet), port.clone()));
    }
    let end_ns = recording.packets.last().map_or(start_ns, |last| last.at_ns) + LINGER_NS;
    pass(&mut running, &mut new, end_ns, &mut comparison)?;
    let report = Report::new(recording, [&running.ports(), &new.ports()], comparison.end());
    running.end();
    new.end();
    Ok(report)
}

/// Lets time pass in both: what elements do by themselves is added as well.
fn pass(
    running: &mut Copy,
    new: &mut Copy,
    until_ns: i64,
    comparison: &mut Comparison,
) -> Result<(), String> {
    let outcomes = (passed(running, until_ns)?, passed(new, until_ns)?);
    comparison
        .add(&outcomes.0, &outcomes.1, || ("what waited, or was made by itself".to_owned(), String::new()));
    Ok(())
}

fn passed(copy: &mut Copy, until_ns: i64) -> Result<Outcome, String> {
    let mut all = Outcome::default();
    loop {
        let (is_over, outcome) = copy.pass(until_ns)?;
        all.extend(outcome);
        if is_over {
            return Ok(all);
        }
    }
}

/// A packet in a line.
fn summary(packet: &Arrived) -> String {
    let (bytes, len) = (packet.bytes.clone(), packet.bytes.len());
    observe::summary(&View { at_ns: packet.at_ns, len, bytes, ..View::default() })
}

#[cfg(test)]
mod tests;
