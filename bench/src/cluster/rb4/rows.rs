//! Figures from what rounds found, the paper's beside them.

use super::mesh::NODES;
use super::packets::Traffic;
use super::rounds::{Rounds, percentiles};
use super::{LOADS, ORDERS, To, WAYS};
use crate::cluster::nodes::scaled;
use crate::report::PUBLISHED;
use cluster::sim::Service;
use cluster::sim::traffic::Matrix;
use serde_json::{Value, json};

/// What four nodes shall do, in rates of one alone.
const GOALS: [(&str, f64); 2] = [("uniform", 1.7), ("permutation", 1.25)];

/// A figure of the paper's (section 6.2).
fn paper(name: &str) -> &'static Value {
    &PUBLISHED["routebricks"][name]
}

pub(super) fn rate(traffics: &[Traffic], rounds: &Rounds) -> Vec<Value> {
    let mut figures = Vec::new();
    for to in WAYS {
        for traffic in traffics {
            let row = format!("{}, {}", to.name(), traffic.name());
            let packets = rounds.median(&row, "packets_per_s");
            if packets == 0.0 {
                continue;
            }
            let gbps = |nodes: usize| (packets * traffic.mean() * 8.0 / 1e6 / nodes as f64).round() / 1e3;
            figures.push(json!({
                "name": format!("rb4 rate: {row}"),
                "packets_per_s": rounds.spread(&row, "packets_per_s"),
                "gbps": gbps(1),
                "gbps_per_core": gbps(if to == To::Alone { 1 } else { NODES }),
                "ns_of_all_nodes": rounds.spread(&row, "ns"),
                "interrupted": rounds.median(&row, "interrupted"),
                "published_gbps": if to == To::Uniform { paper("rb4_gbps")[traffic.name()].clone() } else { Value::Null },
            }));
        }
    }
    figures
}

pub(super) fn cost(traffics: &[Traffic], rounds: &Rounds) -> Vec<Value> {
    let roles = ["alone", "ingress", "intermediate", "egress"];
    let row = |(role, traffic): (&str, &Traffic)| {
        let row = format!("cost: {role}, {}", traffic.name());
        json!({ "name": format!("rb4 {row}"), "node_ns": rounds.spread(&row, "ns") })
    };
    roles.iter().flat_map(|role| traffics.iter().map(|traffic| row((role, traffic)))).collect()
}

pub(super) fn latency(traffics: &[Traffic], rounds: &mut Rounds) -> Vec<Value> {
    let mut figures = Vec::new();
    for to in WAYS {
        for traffic in traffics {
            for load in LOADS {
                let row = format!("{}, {}, {load} %", to.name(), traffic.name());
                if !rounds.times.contains_key(&(row.clone(), "across")) {
                    continue;
                }
                let lost = rounds.median(&row, "lost");
                let mut us = |column| {
                    rounds
                        .times
                        .get_mut(&(row.clone(), column))
                        .map_or(Value::Null, |times| percentiles(times))
                };
                figures.push(json!({
                    "name": format!("rb4 latency: {row}"),
                    "across_us": us("across"),
                    "ingress_us": us("ingress"),
                    "intermediate_us": us("intermediate"),
                    "egress_us": us("egress"),
                    "lost": lost,
                    "published_us": if matches!(to, To::Alone | To::Beside) { Value::Null } else { paper("rb4_latency_us").clone() },
                }));
            }
        }
    }
    figures
}

pub(super) fn order(rounds: &Rounds) -> Vec<Value> {
    let row = |(name, _, _, papers): (&str, &str, &str, &str)| {
        let mut times = rounds.times.get(&(format!("order: {name}"), "across")).cloned().unwrap_or_default();
        json!({
            "name": format!("rb4 order: {name}"),
            "percent": rounds.spread(name, "percent"),
            "late_percent": rounds.spread(name, "late_percent"),
            "lost_percent": rounds.spread(name, "lost_percent"),
            "across_us": percentiles(&mut times),
            "published_percent": paper("reordered_percent")[papers],
        })
    };
    ORDERS.map(row).into()
}

/// Four nodes beside one alone, as measured and as the simulator has it with the costs that were measured.
pub(super) fn speed_up(rounds: &Rounds) -> Result<Vec<Value>, String> {
    let cost = |role: &str| {
        let ns = rounds.median(&format!("cost: {role}, 64 bytes"), "ns").round() as u32;
        if ns > 0 { Ok(ns) } else { Err(format!("a packet costs {role} nothing")) }
    };
    let service = Service {
        ingress_ns: cost("ingress")?,
        intermediate_ns: cost("intermediate")?,
        egress_ns: cost("egress")?,
    };
    let rate =
        |row: &str| rounds.values.get(&(format!("{row}, 64 bytes"), "packets_per_s")).into_iter().flatten();
    let row = |(name, goal): (&str, f64)| {
        let matrix = if name == "uniform" { Matrix::Uniform } else { Matrix::Permutation };
        let simulated = scaled(NODES, matrix, service, cost("alone")?)?;
        let mut ratios = Rounds::default();
        for (mesh, (one, four)) in rate(&format!("mesh, {name}")).zip(rate("alone").zip(rate("four alone"))) {
            ratios.add("", "one", mesh / one);
            ratios.add("", "four", mesh / (four / NODES as f64));
        }
        Ok(json!({
            "name": format!("rb4 speed-up: four nodes, 64 bytes, {name}"),
            "of_one_alone": ratios.spread("", "one"),
            "of_one_of_four_alone": ratios.spread("", "four"),
            "simulated_of_one_alone": simulated["of_one_alone"],
            "simulated_packets_per_s": simulated["million_packets_a_second"].as_f64().map(|millions| millions * 1e6),
            "simulated_c": simulated["c"],
            "goal": goal,
        }))
    };
    GOALS.into_iter().map(row).collect()
}
