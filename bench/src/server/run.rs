//! One run of a configuration: what it is, and what it took.

use super::frames;
use crate::assembly;
use crate::rcu::processor_time_of_all;
use router::{Call, Classes, Log, Options, Router};
use std::path::PathBuf;
use std::time::Instant;

/// How much is measured.
pub(super) struct Effort {
    pub(super) rounds: usize,
    pub(super) packets: u64,
    pub(super) seconds: f64,
    pub(super) memory: usize,
    pub(super) routes: PathBuf,
    /// Of the applications only this one, with 64-byte packets.
    pub(super) application: Option<String>,
    /// Whether instructions are counted.
    pub(super) instructions: bool,
}

/// A configuration, and what it is told.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) config: String,
    pub(super) parameters: Vec<(String, String)>,
    pub(super) workers: usize,
    pub(super) vector: usize,
    /// What counts the packets that have come through.
    pub(super) sinks: Vec<String>,
}

/// What a run took.
pub(super) struct Took {
    pub(super) packets: f64,
    pub(super) elapsed_ns: f64,
    pub(super) processor_ns: f64,
    /// Of turns in which packets moved, of all workers.
    pub(super) busy_ns: f64,
    /// How late packets were made: half and 99 % of them at most.
    pub(super) late_us: Vec<f64>,
}

/// A router of a case, with routes if it has a table that `routing.click` names.
fn build(case: &Case, effort: &Effort) -> Result<Router, String> {
    let library = elements::classes();
    let known = Classes::new(library.iter().chain([&frames::CLASS, &frames::SINK]));
    let log = Log::Memory(std::sync::Mutex::default());
    let options =
        Options { workers: case.workers, vector: case.vector, pin: Some(0), log, ..Options::default() };
    let mut router = assembly::build((&case.name, &case.config), &case.parameters, &known, options)?;
    if router.info().nodes.iter().any(|node| node.name == "routes") {
        router.call(Call::write("routes.load", format!("{} 0", effort.routes.display())))?;
    }
    Ok(router)
}

/// Runs a case to its end.
///
/// # Errors
/// The configuration has errors, or a packet was dropped.
pub(super) fn time(case: &Case, effort: &Effort) -> Result<Took, String> {
    frames::forget_window();
    let mut router = build(case, effort)?;
    let (start, busy) = (Instant::now(), processor_time_of_all());
    router.run();
    let elapsed_ns = start.elapsed().as_nanos() as f64;
    let processor_ns = (processor_time_of_all() - busy).as_nanos() as f64;
    router.finish();
    crate::forward::check_nothing_dropped(&mut router).map_err(|error| format!("{}: {error}", case.name))?;
    let mut packets = 0.0;
    for sink in &case.sinks {
        let count = router.call(Call::read(format!("{sink}.count"), ""))?;
        packets +=
            count.trim().parse::<f64>().map_err(|_| format!("'{sink}.count' is no number: {count}"))?;
    }
    let busy_us = router.call(Call::read("useful_kcycles", ""))?;
    let busy_ns = busy_us.split_whitespace().filter_map(|us| us.parse::<f64>().ok()).sum::<f64>() * 1e3;
    let source = router.info().nodes.iter().find(|node| node.class.name == frames::CLASS.name);
    let late = source.map(|source| format!("{}.late", source.name)).ok_or("no source")?;
    let late = router.call(Call::read(late, ""))?;
    let late_us = late.split(' ').map(|ns| ns.parse::<f64>().unwrap_or(f64::NAN) / 1e3).collect();
    Ok(Took { packets, elapsed_ns, processor_ns, busy_ns, late_us })
}
