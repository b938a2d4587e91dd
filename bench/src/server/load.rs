//! Figure 9 and section 8: processor time against load.
//!
//! The paper's routers poll all the time, and it deducts empty polls: the time of turns in which packets moved does so here. A worker without packets
//! sleeps, if the next one is not due sooner than sleep takes, so the kernel's clock of processor time is what an operator pays. How late packets
//! come to be made says what the sleep costs them.

use super::applications::{APPLICATIONS, case, spread_destinations};
use super::run::{Effort, time};
use crate::rcu::Spread;
use serde_json::{Value, json};

/// Percent of what an application does without a pause.
const LOADS: [f64; 8] = [0.01, 0.1, 1.0, 10.0, 25.0, 50.0, 75.0, 90.0];

/// A row for each application and load, packets of 64 octets.
pub(super) fn figures(effort: &Effort) -> Result<Vec<Value>, String> {
    spread_destinations(effort)?;
    let mut figures = Vec::new();
    for application in APPLICATIONS {
        let most = time(&case(application, "64", effort.packets, 0)?, effort)?;
        let highest = most.packets / most.elapsed_ns * 1e9;
        for load in LOADS {
            let rate = (highest * load / 100.0) as u64;
            figures.push(one(application, load, rate, effort)?);
        }
    }
    Ok(figures)
}

fn one(application: (&str, &str), load: f64, rate: u64, effort: &Effort) -> Result<Value, String> {
    let packets = ((rate as f64 * effort.seconds) as u64).max(20);
    let (mut ns, mut busy, mut share) = (Vec::new(), Vec::new(), Vec::new());
    let (mut mpps, mut late) = (Vec::new(), Vec::new());
    for _ in 0..effort.rounds.min(3) {
        let took = time(&case(application, "64", packets, rate)?, effort)?;
        ns.push(took.processor_ns / took.packets);
        busy.push(took.busy_ns / took.packets);
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
        "busy_ns": Spread::of(&busy),
        "processor_ns": Spread::of(&ns),
        "processor_percent": Spread::of(&share),
        "late_us_p50": late(0),
        "late_us_p99": late(1),
    }))
}
