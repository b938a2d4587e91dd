//! What a 64-byte packet costs a node that is busy: full bursts one behind the other, so that the node's caches are its own. Beside it what
//! the interfaces in memory take by themselves, which real ones have not.
//!
//! With `--role` a single role is run, as many bursts as are said, and what the program does for it is the same for any number of bursts: the difference
//! of two runs under callgrind is what a packet takes.

use super::mesh::Mesh;
use super::node::{BURST, Choice};
use super::rounds::Rounds;
use super::{FAST, packets};
use crate::cluster::arguments::Arguments;
use cluster::label::Stamp;
use serde_json::{Value, json};

/// Bursts between two of which no other node has the processor.
const ROW: usize = 64;
/// Flows of the packets, and buckets of those that are numbered.
const FLOWS: u32 = 256;

/// What is measured: the name, ORDER, the port of node 1 that packets come to, the node they leave by.
const ROLES: [(&str, &str, usize, usize); 7] = [
    ("cables", "", 0, 1),
    ("alone", "", 0, 1),
    ("ingress", "FLOWLET", 0, 2),
    ("intermediate", "FLOWLET", 1, 2),
    ("egress", "FLOWLET", 1, 1),
    ("ingress strict", "STRICT", 0, 2),
    ("egress strict", "STRICT", 1, 1),
];

/// Makes the packets of a role, in turn.
fn maker(name: &str, order: &str, port: usize, to: usize) -> impl FnMut(&mut Vec<u8>) {
    let (is_labelled, is_numbered) = (port > 0, order == "STRICT");
    let input = if is_labelled || name == "cables" || name == "alone" { 0 } else { 1 };
    let mut count = 0u32;
    move |frame| {
        let flow = count % FLOWS;
        packets::make(frame, 0, input, &packets::Coming { at_ns: 0, flow, to, size: 64 });
        if is_labelled {
            let number = (count / FLOWS) as u16;
            let numbered = Stamp::Sequence { bucket: flow as u8, number };
            packets::label(frame, 0, to as u16, if is_numbered { numbered } else { Stamp::None });
        }
        count = count.wrapping_add(1);
    }
}

/// Rows of all roles, or of one.
pub(in crate::cluster) fn figures(arguments: &Arguments) -> Result<Vec<Value>, String> {
    let (mut rounds, tiny) = (Rounds::default(), arguments.tiny);
    let wanted = |name: &str| arguments.role.as_deref().is_none_or(|role| role == name);
    let roles: Vec<_> = ROLES.into_iter().filter(|(name, ..)| wanted(name)).collect();
    if roles.is_empty() {
        let known = ROLES.map(|(name, ..)| name).join("', '");
        return Err(format!("roles are '{known}'"));
    }
    let mut meshes = Vec::new();
    for &(name, order, port, to) in &roles {
        let choice = |order| Choice { scheme: "DIRECT", order, line_rate: FAST };
        let mesh = match name {
            "cables" => Mesh::cables(FAST, tiny)?,
            "alone" => Mesh::alone(1, FAST, tiny)?,
            _ => Mesh::cluster(&choice(order), tiny)?,
        };
        let node = usize::from(mesh.is_cluster());
        meshes.push((mesh, node, maker(name, order, port, to)));
    }
    let bursts = if tiny { 20 } else { arguments.bursts };
    let runs = if tiny { 1 } else { arguments.runs.max(1) };
    // The first is to warm caches up; a role that is alone is not timed but counted.
    let first = usize::from(arguments.role.is_some());
    for round in first..=runs {
        for ((mesh, node, make), (name, _, port, _)) in meshes.iter_mut().zip(&roles) {
            let ns = mesh.busy_cost(*node, *port, bursts, ROW, make)?;
            if round > 0 {
                rounds.add(*name, "ns", ns);
                let cables = rounds.values.get(&("cables".to_owned(), "ns")).and_then(|of| of.last());
                let rest = cables.map(|cables| ns - cables);
                rest.into_iter().for_each(|rest| rounds.add(*name, "rest", rest));
            }
        }
    }
    let row = |(name, ..): &(&str, &str, usize, usize)| {
        json!({
            "name": format!("busy: {name}"),
            "ns": rounds.spread(name, "ns"),
            "ns_without_cables": rounds.spread(name, "rest"),
            "packets": bursts * BURST,
        })
    };
    Ok(roles.iter().map(row).collect())
}
