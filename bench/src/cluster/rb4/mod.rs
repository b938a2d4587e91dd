//! RouteBricks' RB4 with the nodes that are shipped: four routers of `conf/cluster-node.click`, whose interfaces are in memory, beside one
//! router alone. Loss-free rate, latency, packets out of order, costs by role; and the simulator with these costs.
//!
//! Time is virtual: each node has a processor of its own, whose turns take as long as they really take on the one that all of them share here
//! (see [`mesh`]). So four nodes can be measured on a machine that could not run them at once, without its kernel.

pub(super) mod busy;
mod cable;
mod mesh;
mod node;
pub(super) mod packets;
pub(super) mod rounds;
mod rows;
mod search;

use super::arguments::Arguments;
use cluster::label::Stamp;
use cluster::sim::trace;
use mesh::{Found, Mesh, NODES, ROLES, Role};
use node::Choice;
use packets::{Stream, Traffic};
use rounds::Rounds;
use serde_json::Value;
use std::sync::Arc;

/// Lines so fast that processors set the limit.
const FAST: u64 = 100_000_000_000;
/// The paper's lines, and what it sends into one of them in its experiment on order.
const LINE: u64 = 10_000_000_000;
const LOAD: u64 = LINE / 100 * 85;
/// Loads at which latency is measured, in percent of the loss-free rate.
const LOADS: [u32; 3] = [10, 50, 90];
/// How closely the loss-free rate is looked for.
const CLOSE: f64 = 0.02;
/// Ways of keeping order: the name, SCHEME and ORDER, and what the paper calls it.
const ORDERS: [(&str, &str, &str, &str); 4] = [
    ("classic VLB", "VALIANT", "NONE", ""),
    ("Direct", "DIRECT", "NONE", "packet by packet"),
    ("flowlet", "DIRECT", "FLOWLET", "flowlets"),
    ("strict", "DIRECT", "STRICT", ""),
];

/// Where packets go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum To {
    /// Through a router that is alone.
    Alone,
    /// Through as many routers as the cluster has nodes, each alone. They take turns on the processor and share its caches, as the nodes
    /// of the cluster do.
    Beside,
    /// From each node as much to each other.
    Uniform,
    /// From each node all to the next.
    Permutation,
}

const WAYS: [To; 4] = [To::Alone, To::Beside, To::Uniform, To::Permutation];

impl To {
    fn name(self) -> &'static str {
        match self {
            To::Alone => "alone",
            To::Beside => "four alone",
            To::Uniform => "mesh, uniform",
            To::Permutation => "mesh, permutation",
        }
    }

    /// `count` packets that come in at `rate` packets a second from now on.
    fn streams(
        self,
        mesh: &Mesh,
        traffic: &Traffic,
        rate: f64,
        count: usize,
    ) -> Vec<(usize, usize, usize, Stream)> {
        let inputs = match self {
            To::Alone => 2,
            To::Beside => 2 * NODES,
            _ => NODES,
        };
        let stream = |input: usize| {
            let to = move |flow: u32| match self {
                To::Alone | To::Beside => 1 - input % 2,
                To::Uniform => (input + 1 + flow as usize % (NODES - 1)) % NODES,
                To::Permutation => (input + 1) % NODES,
            };
            let stream =
                traffic.stream(input, mesh.now_ns() + 1_000, rate / inputs as f64, count / inputs, to);
            match self {
                To::Alone | To::Beside => (input / 2, input % 2, input % 2, stream),
                _ => (input, 0, input, stream),
            }
        };
        (0..inputs).map(stream).collect()
    }
}

/// How much is measured.
struct Effort {
    rounds: usize,
    /// Packets of a trial.
    packets: usize,
    /// Bursts for a cost.
    bursts: usize,
    close: f64,
    order_ns: u64,
    tiny: bool,
}

/// All of it.
pub(super) fn figures(arguments: &Arguments) -> Result<Vec<Value>, String> {
    let effort = match arguments.tiny {
        true => Effort { rounds: 1, packets: 4_000, bursts: 20, close: 0.3, order_ns: 2_000_000, tiny: true },
        false => Effort {
            rounds: arguments.runs.max(1),
            packets: 200_000,
            bursts: 4_000,
            close: CLOSE,
            order_ns: 200_000_000,
            tiny: false,
        },
    };
    let (traffics, mut rounds) = (Traffic::all(effort.tiny), Rounds::default());
    for round in 0..effort.rounds {
        costs(&effort, &traffics, &mut rounds)?;
        for to in WAYS {
            rates(&effort, to, &traffics, &mut rounds)?;
        }
        for (name, scheme, order, _) in ORDERS {
            reordering(&effort, round as u64 + 1, (name, scheme, order), &mut rounds)?;
        }
    }
    let mut figures = rows::rate(&traffics, &rounds);
    figures.extend(rows::cost(&traffics, &rounds));
    figures.extend(rows::latency(&traffics, &mut rounds));
    figures.extend(rows::order(&rounds));
    figures.extend(rows::speed_up(&rounds)?);
    Ok(figures)
}

/// What a packet costs a node, by role, in full bursts.
fn costs(effort: &Effort, traffics: &[Traffic], rounds: &mut Rounds) -> Result<(), String> {
    let mut alone = Mesh::alone(1, FAST, effort.tiny)?;
    // So that all packets could go by way of others.
    let choice = Choice { scheme: "DIRECT", order: "FLOWLET", line_rate: FAST };
    let mut mesh = Mesh::cluster(&choice, effort.tiny)?;
    for traffic in traffics {
        let maker = |input: usize, to: usize, label: Option<(u16, u16)>| {
            let (mut sizes, mut flow) = (traffic.sizes(), 0);
            move |frame: &mut Vec<u8>| {
                flow = (flow + 1) % 256;
                let packet = packets::Coming { at_ns: 0, flow, to, size: sizes.next().unwrap_or(64) };
                packets::make(frame, 0, input, &packet);
                label
                    .into_iter()
                    .for_each(|(ingress, egress)| packets::label(frame, ingress, egress, Stamp::None));
            }
        };
        let name = traffic.name();
        // The first is to warm caches up.
        for bursts in [effort.bursts / 10, effort.bursts] {
            let add = |rounds: &mut Rounds, role: &str, ns: f64| {
                if bursts == effort.bursts {
                    rounds.add(format!("cost: {role}, {name}"), "ns", ns);
                }
            };
            add(rounds, "alone", alone.cost(0, 0, bursts, maker(0, 1, None))?);
            add(rounds, "ingress", mesh.cost(1, 0, bursts, maker(1, 2, None))?);
            // Node 1 has node 0 at its first link.
            add(rounds, "intermediate", mesh.cost(1, 1, bursts, maker(0, 2, Some((0, 2))))?);
            add(rounds, "egress", mesh.cost(1, 1, bursts, maker(0, 1, Some((0, 1))))?);
        }
    }
    Ok(())
}

/// What a cluster's line carries, in bits a second, if its processors have as much to do as they can where nothing goes straight. The four bytes
/// that hardware adds are not for the nodes to see.
fn line_at_most(rounds: &Rounds) -> u64 {
    let each_ns: f64 = ["ingress", "intermediate", "egress"]
        .iter()
        .map(|role| rounds.median(&format!("cost: {role}, 64 bytes"), "ns"))
        .sum();
    (60.0 * 8.0 * 1e9 / each_ns.max(1.0)) as u64
}

/// Loss-free rates, and latency at parts of them.
fn rates(effort: &Effort, to: To, traffics: &[Traffic], rounds: &mut Rounds) -> Result<(), String> {
    for traffic in traffics {
        let is_short = traffic.name() == "64 bytes";
        // Of a permutation the lines are as fast as the packets: with faster ones all would go straight.
        if to == To::Permutation && !is_short {
            continue;
        }
        let line_rate = if to == To::Permutation { line_at_most(rounds) } else { FAST };
        let mut mesh = match to {
            To::Alone => Mesh::alone(1, line_rate, effort.tiny)?,
            To::Beside => Mesh::alone(NODES, line_rate, effort.tiny)?,
            _ => {
                let choice = Choice { scheme: "DIRECT", order: "FLOWLET", line_rate };
                Mesh::cluster(&choice, effort.tiny)?
            }
        };
        let row = format!("{}, {}", to.name(), traffic.name());
        let cost = |role: &str| rounds.median(&format!("cost: {role}, {}", traffic.name()), "ns");
        let guess = 0.8e9
            * match to {
                To::Alone => 1.0 / cost("alone"),
                To::Beside => 4.0 / cost("alone"),
                To::Uniform => 4.0 / (cost("ingress") + cost("egress")),
                To::Permutation => 4.0 / (cost("ingress") + cost("intermediate") + cost("egress")),
            };
        let mut attempt = |rate: f64| {
            let streams = to.streams(&mesh, traffic, rate, effort.packets);
            mesh.trial(streams)
        };
        attempt(guess / 2.0); // to warm caches up
        let rate = search::loss_free(guess, effort.close, |rate| Ok(attempt(rate).lost() == 0))?;
        let full = attempt(rate);
        rounds.add(&row, "packets_per_s", rate);
        rounds.add(&row, "ns", full.busy_ns as f64 / full.sent as f64);
        for load in LOADS {
            let found = attempt(rate * f64::from(load) / 100.0);
            note_times(rounds, &format!("{row}, {load} %"), found);
        }
        rounds.add(&row, "interrupted", mesh.interrupted() as f64);
    }
    Ok(())
}

/// Columns of times.
fn hop(role: Role) -> &'static str {
    match role {
        Role::Ingress => "ingress",
        Role::Intermediate => "intermediate",
        Role::Egress => "egress",
    }
}

fn note_times(rounds: &mut Rounds, row: &str, found: Found) {
    rounds.add(row, "lost", found.lost() as f64);
    let hops = ROLES.map(hop).into_iter().zip(found.hops_ns);
    for (column, times) in hops.chain([("across", found.across_ns)]) {
        rounds.times.entry((row.to_owned(), column)).or_default().extend(times);
    }
}

/// The paper's experiment: a trace from one port to another that brings more than one way between them can carry.
fn reordering(
    effort: &Effort,
    seed: u64,
    (name, scheme, order): (&str, &'static str, &'static str),
    rounds: &mut Rounds,
) -> Result<(), String> {
    let made = trace::make(&trace::Settings { duration_ns: effort.order_ns, rate: LOAD, seed });
    let traffic = Traffic::Trace(Arc::new(vec![made.clone()]));
    let choice = Choice { scheme, order, line_rate: LINE };
    let mut mesh = Mesh::cluster(&choice, effort.tiny)?;
    let rate = made.len() as f64 * 1e9 / made.last().map_or(1, |last| last.at_ns.max(1)) as f64;
    let stream = traffic.stream(0, mesh.now_ns() + 1_000, rate, made.len(), |_| 1);
    let found = mesh.trial(vec![(0, 0, 0, stream)]);
    rounds.add(name, "percent", found.order.found.percent());
    rounds.add(name, "late_percent", 100.0 * found.order.found.late as f64 / found.arrived.max(1) as f64);
    rounds.add(name, "lost_percent", 100.0 * found.lost() as f64 / found.sent.max(1) as f64);
    let row = format!("order: {name}");
    note_times(rounds, &row, found);
    Ok(())
}
