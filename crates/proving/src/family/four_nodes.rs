//! What families of four cluster nodes have in common: a host and a network at each, a cable between each two.

use super::contract::replace;
use crate::datagram::Mac;
use crate::host::{Address, Host};
use crate::link::{Link, Station};
use crate::machine::Machine;
use crate::world::Network;
use std::net::{IpAddr, Ipv4Addr};

pub(super) const NODES: usize = 4;
/// The hosts, by their node.
pub(super) const HOSTS: [&str; NODES] = ["h0", "h1", "h2", "h3"];
pub(super) const MACHINES: [&str; NODES] = ["n0", "n1", "n2", "n3"];
/// The key of all nodes.
const KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/keys/east.key");

/// What frames that come in may pass first, and how others leave: beside each other these are other configurations that do the same.
pub(super) const TAPS: [&str; 3] = ["", "-> seen :: Counter", "-> seen :: RoundRobinSwitch"];
pub(super) const EXITS: [&str; 2] = ["out :: ToMemory($EXT);", "out :: Queue(1000); out -> ToMemory($EXT);"];

/// The address of a node (1) or a host (2) in the network of a node.
pub(super) fn ip(node: usize, number: u8) -> IpAddr {
    Ipv4Addr::new(10, 0, node as u8, number).into()
}

/// All pairs of nodes.
pub(super) fn pairs() -> impl Iterator<Item = (usize, usize)> {
    (0..NODES).flat_map(|one| (one + 1..NODES).map(move |other| (one, other)))
}

pub(super) fn cable_name((one, other): (usize, usize)) -> String {
    format!("cable{}{}", one.min(other), one.max(other))
}

/// The interface of a node that leads to another: they are in the order of their numbers.
fn port(node: usize, other: usize) -> usize {
    if other < node { other + 1 } else { other }
}

/// The hosts, the nodes, the links beside the cables, and the cables.
pub(super) fn network(lans: Vec<Link>) -> Network {
    let host = |node: usize| {
        let mac: Mac = [2, 0, 0, 1, 0, node as u8];
        let address = Address { ip: ip(node, 2), prefix: 24, gateway: Some(ip(node, 1)) };
        Host::new(HOSTS[node], mac, vec![address])
    };
    let cable = |(one, other): (usize, usize)| {
        let stations = vec![Station::Port(one, port(one, other)), Station::Port(other, port(other, one))];
        Link::new(&cable_name((one, other)), stations)
    };
    let links = lans.into_iter().chain(pairs().map(cable)).collect();
    let machines = MACHINES.map(|name| (name.to_owned(), NODES)).to_vec();
    Network { hosts: (0..NODES).map(host).collect(), links, machines }
}

/// Makes a shipped configuration that of a node, whose interfaces are in memory. `external` is what it takes frames of hosts from.
pub(super) fn place(text: &mut String, node: usize, external: &str, tap: &str, exit: &str) {
    replace(text, "$NODE 0,", &format!("$NODE {node},"));
    replace(text, "$KEYFILE cluster.key", &format!("$KEYFILE {KEY}"));
    replace(text, "$EXT:eth", &format!("2:0:0:2:{node}:0"));
    // As many hellos as without the argument: each costs the world as much as a packet.
    replace(text, ", HELLO 2ms", "");
    replace(text, external, &format!("FromMemory($EXT) {tap}"));
    replace(text, "out :: ToDevice($EXT, METHOD $METHOD);", exit);
    let device = "FromDevice($device, METHOD $METHOD, PROMISC true, SNIFFER false)";
    replace(text, device, "FromMemory($device)");
    replace(text, "ToDevice($device, METHOD $METHOD)", "ToMemory($device)");
}

/// A flowlet may move while packets of it wait for a link where much does; such moves are counted.
pub(super) fn flowlets_have_moved(machines: &mut [Machine]) -> bool {
    let says = |machine: &mut Machine| {
        let counts = ["vlb.moved", "vlb.spilled"].map(|path| machine.read(path));
        counts.iter().flatten().any(|count| count.trim() != "0")
    };
    machines.iter_mut().any(says)
}
