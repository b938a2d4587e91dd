//! Figure 9 and section 8: processor time against load.
//!
//! The paper's routers poll all the time, so it deducts empty polls. Here a worker without packets sleeps, and the kernel's clock of processor time
//! has done so already: what is measured is what an operator pays. A packet that finds the worker asleep wakes it, which takes time, too; how late
//! packets come to be made says how long.

use super::applications::{APPLICATIONS, case, spread_destinations};
use super::run::{Effort, time};
use crate::rcu::Spread;
use serde_json::{Value, json};

/// Percent of what an application does without a pause.
const LOADS: [u64; 6] = [1, 10, 25, 50, 75, 90];

/// A row for each application and load, packets of 64 octets.
pub(super) fn figures(effort: &Effort) -> Result<Vec<Value>, String> {
    spread_destinations(effort)?;
    let mut figures = Vec::new();
    for application in APPLICATIONS {
        let most = time(&case(application, "64", effort.packets, 0)?, effort)?;
        let highest = most.packets / most.elapsed_ns * 1e9;
        for load in LOADS {
            let rate = (highest * load as f64 / 100.0) as u64;
            figures.push(one(application, load, rate, effort)?);
        }
    }
    Ok(figures)
}

fn one(application: (&str, &str), load: u64, rate: u64, effort: &Effort) -> Result<Value, String> {
    let packets = ((rate as f64 * effort.seconds) as u64).max(100);
    let (mut ns, mut share, mut mpps, mut late) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..effort.rounds.min(3) {
        let took = time(&case(application, "64", packets, rate)?, effort)?;
        ns.push(took.processor_ns / took.packets);
        share.push(100.0 * took.processor_ns / took.elapsed_ns);
        mpps.push(took.packets / took.elapsed_ns * 1e3);
        late.push(took.late_us);
    }
    let late =
        |at: usize| Spread::of(&late.iter().filter_map(|late| late.get(at).copied()).collect::<Vec<_>>());
    Ok(json!({
        "name": format!("load: {}, {load} %", application.0),
        "application": application.0,
        "load_percent": load,
        "mpps": Spread::of(&mpps),
        "processor_ns": Spread::of(&ns),
        "processor_percent": Spread::of(&share),
        "late_us_p50": late(0),
        "late_us_p99": late(1),
    }))
}
