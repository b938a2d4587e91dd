//! What a plan is made for.

use serde::Serialize;

/// A kind of network card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Nic {
    /// Its ports.
    pub ports: usize,
    /// Their rate in bits a second.
    pub rate: u64,
}

/// A kind of server.
#[derive(Clone, Debug, Serialize)]
pub struct Server {
    /// External ports that it handles.
    pub ports: usize,
    /// Network cards that it has room for.
    pub slots: usize,
    /// What it costs, in dollars.
    pub cost: f64,
    /// How long it keeps a packet, in microseconds.
    pub latency_us: f64,
    /// What it consumes, in watts.
    pub watts: f64,
    /// Its height in rack units.
    pub rack_units: f64,
}

/// What a plan is made for.
#[derive(Clone, Debug, Serialize)]
pub struct Inputs {
    /// External ports of the router.
    pub ports: usize,
    /// Their rate in bits a second: R.
    pub line_rate: u64,
    /// The servers.
    pub server: Server,
    /// Kinds of cards that can be had.
    pub nics: Vec<Nic>,
    /// What a port of a switch costs, in dollars, for the comparison.
    pub switch_port_cost: f64,
    /// Ports of a switch.
    pub switch_ports: usize,
}
