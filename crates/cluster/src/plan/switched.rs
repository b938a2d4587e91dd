//! The design that was not chosen: servers around switches.

use super::inputs::Inputs;
use serde::Serialize;

/// Servers that process packets, and switches between them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Switched {
    /// Servers: each handles its ports as in the cluster.
    pub servers: usize,
    /// Switches, in a strictly non-blocking Clos network when one is not enough.
    pub switches: usize,
    /// What all costs, in dollars.
    pub cost: f64,
    /// That cost in servers.
    pub in_servers: f64,
}

impl Switched {
    /// What a router would take.
    pub fn plan(inputs: &Inputs) -> Switched {
        let servers = inputs.ports.div_ceil(inputs.server.ports.max(1));
        let switches = clos(inputs.ports, inputs.switch_ports).ceil() as usize;
        let switch = inputs.switch_ports as f64 * inputs.switch_port_cost;
        let cost = servers as f64 * inputs.server.cost + switches as f64 * switch;
        Switched { servers, switches, cost, in_servers: cost / inputs.server.cost.max(f64::MIN_POSITIVE) }
    }
}

/// Ports of a switch, at least: with fewer, an edge switch of a Clos network has one port outside, and nothing is gained.
pub(super) const FEWEST_PORTS: usize = 4;

/// Switches of `size` ports that connect so many ports without ever blocking.
///
/// In a folded Clos network an edge switch with n ports outside needs 2n - 1 upward: n = 16 of 48. Each upward port leads
/// to another network that connects the edge switches. Of those networks several share a switch if they are small.
fn clos(ports: usize, size: usize) -> f64 {
    if ports <= size {
        return 1.0;
    }
    let outside = size.div_ceil(3);
    let up = 2 * outside - 1;
    let edges = ports.div_ceil(outside);
    let middle = if edges <= size { 1.0 / (size / edges) as f64 } else { clos(edges, size) };
    edges as f64 + (up as f64 * middle).ceil()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One switch while its ports suffice; then three stages, then five.
    #[test]
    fn a_network_of_switches_has_one_three_or_five_stages() {
        assert_eq!(clos(48, 48), 1.0);
        // 4 edge switches; 31 networks of 4 ports, 12 of them in a switch.
        assert_eq!(clos(64, 48), 7.0);
        // 16 ports outside, 31 upward: as many as a 48-port switch has room for.
        assert_eq!(clos(768, 48), 48.0 + 31.0);
        assert!(clos(1024, 48) > 64.0 + 31.0 * 6.0);
    }
}
