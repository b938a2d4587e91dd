//! What two cores do of what one does, by the role of a node: packets come in, pass through or leave on one worker, and on two that are each bound to a
//! processor. Packets stay with their worker from end to end, and nothing is in the way of two that do twice as much but what the workers of a node share: what
//! goes into links, what the node knows of the others, and the machine.
//!
//! Lines carry what two workers can do, and not much more: a worker takes what the other has sent since it last looked at its clock for what still waits, and the
//! faster a link is, the more bytes that stands for.
//!
//! The nodes are those of `nodes`, without interfaces; the worker's source is part of the time. The rate is that of the packets that a run of twice as
//! many has more, so that beginning and end do not count. One and two workers take turns, and a ratio is that of two runs next to each other.

use super::arguments::Arguments;
use super::nodes::{Rig, Role, Took};
use crate::rcu::Spread;
use serde_json::{Value, json};

/// Bytes of a frame.
const SIZE: usize = 64;
/// What the cluster is to be worth on two cores.
const GOAL: f64 = 1.8;
/// Lines that carry what two workers can do; and nodes that may be kept from their processor for a while, since both workers are busy all the time.
/// A worker that is kept from its processor for some microseconds goes on with its clock of before, and links seem full by what the other one has sent since:
/// so a few packets are lost, which the rows say.
const RIG: Rig = Rig { workers: 1, line_gbps: 240, hold_ms: 200, may_lose_ppm: 1_000 };
const ROLES: [(&str, Role); 5] = [
    ("source and sink", Role::Source),
    ("a router alone", Role::Alone),
    ("ingress", Role::Ingress),
    ("intermediate", Role::Intermediate),
    ("egress", Role::Egress),
];
/// Packets of a worker.
const PACKETS: u64 = 4_000_000;
/// How often a run is tried: on a machine that is short of time nodes may take each other for dead.
const TRIES: usize = 5;

/// A run in which no more was lost than may be.
fn run(role: Role, packets: u64, workers: usize) -> Result<Took, String> {
    let rig = Rig { workers, ..RIG };
    let mut took = role.run(SIZE, packets, rig);
    for _ in 1..TRIES {
        took = took.or_else(|_| role.run(SIZE, packets, rig));
    }
    took
}

/// Nanoseconds that pass for each packet of all workers, and how many of a million were lost.
fn cost(role: Role, packets: u64, workers: usize) -> Result<(f64, f64), String> {
    let (short, long) = (run(role, packets, workers)?, run(role, 2 * packets, workers)?);
    let ns = (long.elapsed_ns - short.elapsed_ns) / (long.packets - short.packets);
    Ok((ns, (short.lost + long.lost) * 1e6 / (short.packets + long.packets)))
}

/// A row for each role.
///
/// # Errors
/// A run lost packets, or this process may use one processor only.
pub(super) fn figures(arguments: &Arguments) -> Result<Vec<Value>, String> {
    let (runs, packets) = if arguments.tiny { (1, 20_000) } else { (arguments.runs.max(1), PACKETS) };
    if !arguments.tiny && std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        return Err("two workers take two processors".to_owned());
    }
    let mut times = vec![[Vec::new(), Vec::new()]; ROLES.len()];
    let mut lost_ppm = [0.0; ROLES.len()];
    for _ in 0..runs {
        for (((_, role), times), lost_ppm) in ROLES.into_iter().zip(&mut times).zip(&mut lost_ppm) {
            for (times, workers) in times.iter_mut().zip([1, 2]) {
                let (ns, lost) = cost(role, packets, workers)?;
                times.push(ns);
                *lost_ppm = lost.max(*lost_ppm);
            }
        }
    }
    let spread = |figures: &[f64]| {
        let Spread { median, min, max } = Spread::of(figures);
        json!({ "median": median, "least": min, "most": max })
    };
    let row = |name: &str, role: Role, [one, two]: &[Vec<f64>; 2], lost_ppm: f64| {
        let ratios: Vec<f64> = one.iter().zip(two).map(|(one, two)| one / two).collect();
        let is_cluster = !matches!(role, Role::Source | Role::Alone);
        json!({
            "name": format!("workers: {name}, {SIZE} bytes"),
            "one_ns": spread(one),
            "two_ns": spread(two),
            "times": spread(&ratios),
            "goal": is_cluster.then_some(GOAL),
            "lost_ppm_most": lost_ppm,
            "packets": packets,
        })
    };
    let rows = ROLES.into_iter().zip(&times).zip(lost_ppm);
    Ok(rows.map(|(((name, role), times), lost_ppm)| row(name, role, times, lost_ppm)).collect())
}
