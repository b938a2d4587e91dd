//! How many servers a router of a given size needs, how they are connected, and what that costs.
//!
//! Each server gets as many external ports as it can handle: with Direct VLB a port of rate R costs it between 2R and
//! 3R. If a server has enough network sockets for links to all others, the servers form a mesh; otherwise extra
//! servers between them form a k-ary n-fly.

mod inputs;
pub mod paper;
mod switched;

pub use inputs::{Inputs, Nic, Server};
pub use switched::Switched;

use crate::topology::Topology;
use serde::Serialize;

/// How servers are connected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum Shape {
    /// One server has all ports.
    Single,
    /// Each with each.
    Mesh,
    /// Through levels of further servers, of these radices.
    Fly(Vec<usize>),
}

/// Cables between servers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Links {
    /// Pairs of servers with a link between them.
    pub count: usize,
    /// What each must carry, in bits a second.
    pub rate: f64,
    /// The cards that they are plugged into.
    pub nic: Nic,
    /// Cables of each link, so that together they carry the rate.
    pub cables: usize,
    /// Sockets that they take at a server.
    pub sockets: usize,
    /// Sockets that it has for them.
    pub sockets_there: usize,
}

/// A plan.
#[derive(Clone, Debug, Serialize)]
pub struct Plan {
    /// What it was made for.
    pub inputs: Inputs,
    /// How servers are connected.
    pub shape: Shape,
    /// Servers with external ports.
    pub terminals: usize,
    /// Servers between them.
    pub intermediates: usize,
    /// Links between servers; none for a single one.
    pub links: Option<Links>,
    /// What a server must process, in bits a second: with uniform traffic, and with the worst.
    pub processing: [f64; 2],
    /// How long a packet is under way, in microseconds: straight, and by way of another server.
    pub latency_us: [f64; 2],
    /// Servers by the formula N + N log_k N, which counts fractions of a level.
    pub by_formula: f64,
    /// What all servers cost, in dollars.
    pub cost: f64,
    /// The same router from servers around switches.
    pub switched: Switched,
    /// What all servers consume, in watts.
    pub watts: f64,
    /// What room they take, in rack units.
    pub rack_units: f64,
    /// What one should know.
    pub notes: Vec<String>,
}

impl Plan {
    /// All servers.
    pub fn servers(&self) -> usize {
        self.terminals + self.intermediates
    }

    /// The topology, for the simulator.
    pub fn topology(&self) -> Topology {
        match &self.shape {
            Shape::Fly(radices) => Topology::Fly { terminals: self.terminals, radices: radices.clone() },
            _ => Topology::Mesh { nodes: self.terminals },
        }
    }
}

/// The worst that a server processes for each bit that comes in at its ports: in, on as a stopover, out.
pub const WORST: f64 = 3.0;
/// The same when all traffic goes straight.
pub const BEST: f64 = 2.0;

/// Ports of a rate that a server can handle in the worst case, when it processes so many bits a second.
pub fn ports_of(server_rate: f64, line_rate: u64) -> usize {
    (server_rate / (WORST * line_rate as f64)) as usize
}

impl Inputs {
    /// Sockets for links, with cards of a kind in all slots that external ports leave.
    fn sockets(&self, nic: Nic) -> Option<usize> {
        let outside = self.nics.iter().filter(|nic| nic.rate >= self.line_rate);
        let slots = outside.map(|nic| self.server.ports.div_ceil(nic.ports)).min()?;
        Some(self.server.slots.checked_sub(slots)? * nic.ports)
    }

    /// The links of a server to `fanout` others that carry `rate` each, with the cards that take the fewest slots.
    fn links(&self, count: usize, fanout: usize, rate: f64) -> Option<Links> {
        let with = |&nic: &Nic| {
            let cables = (rate / nic.rate as f64).ceil().max(1.0) as usize;
            let (sockets, sockets_there) = (cables * fanout, self.sockets(nic)?);
            Some(Links { count, rate, nic, cables, sockets, sockets_there })
        };
        let fits = |links: &Links| links.sockets <= links.sockets_there;
        self.nics
            .iter()
            .filter_map(with)
            .filter(fits)
            .min_by_key(|links| links.sockets.div_ceil(links.nic.ports))
    }

    /// The most links that can lead out of a server between others, each fast enough.
    fn fanout(&self, inside: f64) -> usize {
        let most = self.nics.iter().filter_map(|&nic| self.sockets(nic)).max().unwrap_or(0);
        (2..=most).rev().find(|&k| self.links(0, k, 2.0 * inside / k as f64).is_some()).unwrap_or(0)
    }
}

/// Makes a plan.
///
/// # Errors
/// What is impossible, in a sentence.
pub fn plan(inputs: &Inputs) -> Result<Plan, String> {
    let server = &inputs.server;
    if inputs.ports == 0 {
        return Err("a router has at least one port".to_owned());
    }
    if server.ports == 0 {
        return Err(
            "a server cannot process three times the rate of one port: it is too slow for the line rate"
                .to_owned(),
        );
    }
    if inputs.sockets(Nic { ports: 1, rate: 0 }).is_none() {
        return Err(format!(
            "{} slots do not even hold cards for {} external ports",
            server.slots, server.ports
        ));
    }
    if inputs.switch_ports < switched::FEWEST_PORTS {
        return Err(format!("switches of {} ports connect nothing", inputs.switch_ports));
    }
    let terminals = inputs.ports.div_ceil(server.ports);
    let inside = server.ports as f64 * inputs.line_rate as f64;
    if terminals == 1 {
        return Ok(finish(inputs, Shape::Single, 1, None, 1.0));
    }
    let pairs = terminals * (terminals - 1) / 2;
    if let Some(links) = inputs.links(pairs, terminals - 1, 2.0 * inside / terminals as f64) {
        return Ok(finish(inputs, Shape::Mesh, terminals, Some(links), terminals as f64));
    }
    let fanout = inputs.fanout(inside);
    if fanout < 2 {
        return Err(format!("{} slots leave too few sockets for links between servers", server.slots));
    }
    let Topology::Fly { radices, .. } = Topology::fly(terminals, fanout) else { unreachable!("it is a fly") };
    let rows: usize = radices.iter().product();
    let least = radices.iter().copied().min().unwrap_or(1);
    let count = 2 * terminals * radices[0] + rows * radices[1..].iter().sum::<usize>();
    let rate = 2.0 * inside / least as f64;
    // Where radices are uneven, the narrowest level has the fastest links.
    let links = inputs
        .links(count, least, rate)
        .or_else(|| inputs.links(count, fanout, 2.0 * inside / fanout as f64));
    let formula = terminals as f64 * (1.0 + (terminals as f64).log(fanout as f64));
    Ok(finish(inputs, Shape::Fly(radices), terminals, links, formula))
}

fn finish(inputs: &Inputs, shape: Shape, terminals: usize, links: Option<Links>, by_formula: f64) -> Plan {
    let (intermediates, hops) = match &shape {
        Shape::Single => (0, [1, 1]),
        Shape::Mesh => (0, [2, 3]),
        // Out of a terminal, through all levels, into a terminal; by way of another, all levels once more.
        Shape::Fly(radices) => {
            let levels = radices.len();
            (levels * radices.iter().product::<usize>(), [levels + 2, 2 * levels + 3])
        }
    };
    let server = &inputs.server;
    let servers = (terminals + intermediates) as f64;
    let inside = server.ports as f64 * inputs.line_rate as f64;
    let mut notes = Vec::new();
    if let (Shape::Fly(_), Some(links)) = (&shape, &links)
        && 2 * links.sockets > links.sockets_there
    {
        notes.push(format!(
            "each server has {} links out and as many in; they fit into {} sockets only if a cable carries one link \
             each way, which the wiring of a fly does not give: count {} sockets",
            links.sockets / links.cables,
            links.sockets_there,
            2 * links.sockets
        ));
    }
    Plan {
        inputs: inputs.clone(),
        terminals,
        intermediates,
        links,
        processing: if shape == Shape::Single { [BEST * inside; 2] } else { [BEST * inside, WORST * inside] },
        latency_us: hops.map(|hops| hops as f64 * server.latency_us),
        by_formula,
        cost: servers * server.cost,
        switched: Switched::plan(inputs),
        watts: servers * server.watts,
        rack_units: servers * server.rack_units,
        shape,
        notes,
    }
}

#[cfg(test)]
mod tests {
    use super::paper::{CONFIGURATIONS, inputs};
    use super::*;

    /// Cables carry what links must, and sockets suffice, for every size; more ports never need fewer servers.
    #[test]
    fn plans_are_sound() {
        for configuration in &CONFIGURATIONS {
            let mut before = 0;
            for ports in 1..700 {
                let plan = plan(&inputs(configuration, ports)).expect("possible");
                assert!(
                    plan.terminals * configuration.ports >= ports
                        && plan.servers() >= before.min(plan.terminals)
                );
                before = plan.servers();
                let Some(links) = &plan.links else { continue };
                assert!(links.cables as f64 * links.nic.rate as f64 >= links.rate, "{ports}: {links:?}");
                assert!(links.sockets <= links.sockets_there, "{ports}: {links:?}");
                if let Shape::Fly(radices) = &plan.shape {
                    assert!(radices.iter().product::<usize>() >= plan.terminals);
                }
            }
        }
    }

    #[test]
    fn what_cannot_be_built_is_an_error_with_a_reason() {
        let mut inputs = inputs(&CONFIGURATIONS[0], 64);
        inputs.server.slots = 1;
        assert!(plan(&inputs).expect_err("no sockets").contains("too few sockets"));
        inputs.server.slots = 0;
        assert!(plan(&inputs).expect_err("no slots").contains("external ports"));
        inputs.server.ports = 0;
        assert!(plan(&inputs).is_err());
        let inputs = Inputs { switch_ports: 3, ..super::paper::inputs(&CONFIGURATIONS[0], 64) };
        assert!(plan(&inputs).expect_err("no switches").contains("switches of 3 ports"));
    }
}
