//! Answers to single questions.

use super::lines::packet;
use super::question::Place;
use router::{Costs, Dropped, Info, Then, Way};
use serde_json::{Value, json};

/// Drops, and packets whose senders were told, by element and reason.
pub fn drops(info: &Info, drops: &[Dropped]) -> Value {
    let dropped = |dropped: &Dropped| {
        let node = &info.nodes[dropped.element];
        json!({
            "element": node.name, "class": node.class.name, "reason": dropped.reason,
            "packets": dropped.packets, "told": dropped.told, "sample": dropped.sample.as_ref().map(packet),
        })
    };
    json!({ "drops": drops.iter().map(dropped).collect::<Vec<_>>() })
}

/// Nanoseconds a packet, in elements; cycles where the processor's clock rate is known. `None` without packets.
fn per_packet(total: f64, packets: u64) -> Option<f64> {
    (packets > 0).then(|| (total / packets as f64 * 10.0).round() / 10.0)
}

/// The processor's clock rate in cycles a nanosecond, as the system tells it now.
fn cycles_per_ns() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("cpu MHz"))?;
    line.split(':').nth(1)?.trim().parse::<f64>().ok().map(|mhz| mhz / 1000.0)
}

/// What elements have cost, those that have done anything.
pub fn costs(info: &Info, costs: &Costs) -> Value {
    let rate = cycles_per_ns();
    let worked = info.nodes.iter().zip(&costs.elements).filter(|(_, cost)| cost.ns > 0 || cost.batches > 0);
    let element = |(node, cost): (&router::Node, &router::Cost)| {
        json!({
            "element": node.name, "class": node.class.name, "packets": cost.packets, "batches": cost.batches,
            "ns": cost.ns, "ns_per_packet": per_packet(cost.ns as f64, cost.packets),
            "cycles_per_packet": rate.and_then(|rate| per_packet(cost.ns as f64 * rate, cost.packets)),
            "packets_per_batch": per_packet(cost.packets as f64, cost.batches), "batch_sizes": cost.sizes,
        })
    };
    json!({
        "turns": costs.turns, "one_turn_in": costs.every, "elements": worked.map(element).collect::<Vec<_>>(),
    })
}

/// The way that a packet would take.
///
/// `place` is where it comes in.
pub fn way(info: &Info, place: &Place, way: &Way) -> Value {
    let step = |step: &router::Explained| {
        let node = &info.nodes[step.element];
        let mut object = json!({
            "element": node.name, "class": node.class.name, "input": step.input, "worker": step.worker,
            "seen": packet(&step.view),
        });
        let Some(decision) = &step.decision else {
            object["then"] = "unknown".into();
            return object;
        };
        if !decision.because.is_empty() {
            object["because"] = decision.because.clone().into();
        }
        object["then"] = match &decision.then {
            Then::Output(_) => "output",
            Then::Copies(_) => "copies",
            Then::Drop(_) => "dropped",
            Then::Stays => "stays",
        }
        .into();
        match &decision.then {
            Then::Output(output) => object["output"] = (*output).into(),
            Then::Copies(outputs) => object["outputs"] = outputs.clone().into(),
            Then::Drop(reason) => object["reason"] = (*reason).into(),
            Then::Stays => {}
        }
        object
    };
    let mut object = json!({
        "steps": way.steps.iter().map(step).collect::<Vec<_>>(), "cut": way.is_cut, "frame": place.framed,
    });
    if let Some(assumed) = &place.assumed {
        object["assumed"] = assumed.clone().into();
    }
    object
}
