//! Routers with cables between them in virtual time. Each has a processor of its own: its turns take the time that they really take, one
//! after the other, while the others' go on beside it. Frames leave at the end of the turn, go over cables that carry so many bits a second,
//! and wait in rings that have room for so many.

use super::node::{BURST, Choice, Node};
use super::packets::{self, Coming, Stream};
use cluster::sim::measure::OrderCheck;
use std::collections::VecDeque;
use std::iter::Peekable;

/// Nodes of the cluster.
pub(super) const NODES: usize = 4;
/// Frames that wait at an interface, at most.
const RING: usize = 512;
/// How often a node takes a turn without frames, for its timers.
const IDLE_NS: u64 = 20_000;
/// How far apart the bursts of a busy node are.
const BURST_NS: u64 = 3_200;
/// Until all nodes take part.
const JOIN_NS: u64 = 400_000_000;
/// How long packets may be under way when no more come.
const PATIENCE_NS: u64 = 10_000_000;
/// How long a cable between nodes takes, cards included: the paper's four DMA transfers. It also lets a node take several turns before another
/// one has the real processor, so that its caches are its own for a while.
pub(super) const CABLE_NS: u64 = 10_240;
/// Bytes that wait for a cable, at most.
const CABLE_BYTES: u64 = 4 << 20;

/// A frame that is, or will be, in a receive ring.
struct Frame {
    at_ns: u64,
    bytes: Vec<u8>,
}

/// An interface.
struct Port {
    /// Where its cable leads: to an interface of another node, or out.
    to: Option<(usize, usize)>,
    /// Frames on the cable and in the ring, in the order in which they come.
    coming: VecDeque<Frame>,
    /// What comes in from outside, and the network that it comes from.
    stream: Option<(usize, Peekable<Stream>)>,
    ps_a_byte: u64,
    /// When all that was sent will be through.
    free_ps: u64,
}

/// What a node was to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Ingress,
    Intermediate,
    Egress,
}

pub(super) const ROLES: [Role; 3] = [Role::Ingress, Role::Intermediate, Role::Egress];

/// A packet under way.
#[derive(Clone, Copy)]
struct Record {
    born_ns: u64,
    /// When it came to the node where it is.
    came_ns: u64,
    flow: u32,
    place: u16,
    from_outside: bool,
}

/// What became of packets.
pub(super) struct Found {
    pub(super) sent: u64,
    pub(super) arrived: u64,
    /// Processor time of all nodes in turns with packets, and the packets of these turns, hellos included.
    pub(super) busy_ns: u64,
    pub(super) handled: u64,
    /// From coming in to leaving, in nanoseconds.
    pub(super) across_ns: Vec<u32>,
    /// From coming to a node to leaving it, by role.
    pub(super) hops_ns: [Vec<u32>; 3],
    pub(super) order: OrderCheck,
}

impl Found {
    fn new() -> Found {
        Found {
            sent: 0,
            arrived: 0,
            busy_ns: 0,
            handled: 0,
            across_ns: Vec::new(),
            hops_ns: Default::default(),
            order: OrderCheck::new(100_000_000),
        }
    }

    /// Packets that did not arrive; one that arrived twice is as bad.
    pub(super) fn lost(&self) -> u64 {
        self.sent.abs_diff(self.arrived)
    }
}

/// The routers.
pub(super) struct Mesh {
    nodes: Vec<Node>,
    ports: Vec<Vec<Port>>,
    /// When each node's processor is free, and when it took its last turn.
    free_ns: Vec<u64>,
    turned_ns: Vec<u64>,
    now_ns: u64,
    ring: usize,
    /// At this node packets have come to their end, wherever it sends them.
    last: Option<usize>,
    records: Vec<Record>,
    found: Found,
    spare: Vec<Vec<u8>>,
}

impl Mesh {
    /// A cluster whose nodes all take part.
    pub(super) fn cluster(choice: &Choice, tiny: bool) -> Result<Mesh, String> {
        let nodes = (0..NODES).map(|number| Node::of_cluster(number, choice));
        let port = |node: usize, other: usize| if other < node { other + 1 } else { other };
        let cables = |node: usize| {
            let others = (0..NODES).filter(move |&other| other != node);
            std::iter::once(None).chain(others.map(move |other| Some((other, port(other, node)))))
        };
        let cables = (0..NODES).map(|node| cables(node).collect()).collect();
        let mut mesh = Mesh::new(nodes.collect::<Result<_, _>>()?, cables, choice.line_rate, tiny);
        mesh.run(JOIN_NS);
        for (number, node) in mesh.nodes.iter_mut().enumerate() {
            let phase = node.read("vlb.phase")?;
            if phase != "active" {
                return Err(format!("node {number} is {phase}"));
            }
        }
        Ok(mesh)
    }

    /// So many routers, each by itself with two external ports.
    pub(super) fn alone(count: usize, line_rate: u64, tiny: bool) -> Result<Mesh, String> {
        let nodes = (0..count).map(|_| Node::alone()).collect::<Result<_, _>>()?;
        Ok(Mesh::new(nodes, vec![vec![None, None]; count], line_rate, tiny))
    }

    /// A router that only takes frames from its interfaces and puts them out at others.
    pub(super) fn cables(line_rate: u64, tiny: bool) -> Result<Mesh, String> {
        Ok(Mesh::new(vec![Node::cables()?], vec![vec![None; NODES]], line_rate, tiny))
    }

    /// Whether its routers are nodes of a cluster.
    pub(super) fn is_cluster(&self) -> bool {
        self.nodes.len() > 1
    }

    fn new(nodes: Vec<Node>, cables: Vec<Vec<Option<(usize, usize)>>>, line_rate: u64, tiny: bool) -> Mesh {
        let port = |to: Option<(usize, usize)>| {
            let rate = if to.is_some() { line_rate / 2 } else { line_rate };
            let ps_a_byte = 8_000_000_000_000 / rate.max(1);
            Port { to, coming: VecDeque::new(), stream: None, ps_a_byte, free_ps: 0 }
        };
        let count = nodes.len();
        Mesh {
            ports: cables.into_iter().map(|of_node| of_node.into_iter().map(port).collect()).collect(),
            nodes,
            free_ns: vec![0; count],
            turned_ns: vec![0; count],
            now_ns: 0,
            ring: if tiny { RING / 8 } else { RING },
            last: None,
            records: Vec::new(),
            found: Found::new(),
            spare: Vec::new(),
        }
    }

    /// The time.
    pub(super) fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// What becomes of packets: (node, port, network, packets).
    pub(super) fn trial(&mut self, streams: Vec<(usize, usize, usize, Stream)>) -> Found {
        (self.found, self.records) = (Found::new(), std::mem::take(&mut self.records));
        self.records.clear();
        for (node, port, network, stream) in streams {
            self.ports[node][port].stream = Some((network, stream.peekable()));
        }
        while self.ports.iter().flatten().any(|port| port.stream.is_some()) {
            self.run(self.now_ns + PATIENCE_NS);
        }
        self.run(self.now_ns + PATIENCE_NS);
        std::mem::replace(&mut self.found, Found::new())
    }

    /// What elements have dropped so far, by reason.
    pub(super) fn drops(&self) -> String {
        let all = self.nodes.iter().flat_map(Node::drops);
        all.map(|(reason, count)| format!("{count} {reason}")).collect::<Vec<_>>().join(", ")
    }

    /// Turns that others interrupted.
    pub(super) fn interrupted(&self) -> u64 {
        self.nodes.iter().map(|node| node.interrupted).sum()
    }

    /// What a packet costs a node that gets a full burst of them at a time, at one port: nanoseconds. Where they go then does not matter.
    pub(super) fn cost(
        &mut self,
        node: usize,
        port: usize,
        bursts: usize,
        mut make: impl FnMut(&mut Vec<u8>),
    ) -> Result<f64, String> {
        self.last = Some(node);
        self.found = Found::new();
        for _ in 0..bursts {
            // When the node has done with the one before.
            let at_ns = self.now_ns.max(self.free_ns[node]) + IDLE_NS;
            for _ in 0..BURST {
                let mut bytes = self.spare.pop().unwrap_or_default();
                make(&mut bytes);
                self.ports[node][port].coming.push_back(Frame { at_ns, bytes });
            }
            self.found.sent += BURST as u64;
            // Hellos that come in between have a turn of their own, which does not count.
            self.run(at_ns);
        }
        self.run(self.now_ns + PATIENCE_NS);
        self.last = None;
        if self.found.lost() > 0 {
            return Err(format!(
                "{} of {} packets were lost: {}",
                self.found.lost(),
                self.found.sent,
                self.drops()
            ));
        }
        Ok(self.found.busy_ns as f64 / self.found.handled as f64)
    }

    /// The same of a node that is busy: `row` bursts come one behind the other, then the other nodes go on for a while. A turn takes as much
    /// virtual time as any other, so that the program does the same each time.
    pub(super) fn busy_cost(
        &mut self,
        node: usize,
        port: usize,
        bursts: usize,
        row: usize,
        mut make: impl FnMut(&mut Vec<u8>),
    ) -> Result<f64, String> {
        let (mut took_ns, mut arrived, mut bytes) = (0, 0, Vec::new());
        for burst in 0..bursts {
            if burst % row == 0 {
                self.run(self.now_ns.max(self.free_ns[node]) + IDLE_NS);
            }
            for _ in 0..BURST {
                make(&mut bytes);
                self.nodes[node].receive(port, &bytes);
            }
            let at_ns = self.now_ns.max(self.free_ns[node]);
            let took = self.nodes[node].turn(at_ns, BURST);
            took_ns += took;
            (self.turned_ns[node], self.free_ns[node]) = (at_ns, at_ns + BURST_NS);
            for port in 0..self.nodes[node].ports() {
                self.nodes[node].sent(port, |frame| arrived += usize::from(packets::number(frame).is_some()));
            }
        }
        // What was held until it was its turn.
        self.run(self.now_ns.max(self.free_ns[node]) + PATIENCE_NS);
        if arrived != bursts * BURST {
            return Err(format!("{arrived} of {} packets arrived: {}", bursts * BURST, self.drops()));
        }
        Ok(took_ns as f64 / arrived as f64)
    }

    /// Lets all happen that happens until a time.
    fn run(&mut self, until_ns: u64) {
        loop {
            let mut next: Vec<_> = (0..self.nodes.len()).map(|node| (self.next_turn(node), node)).collect();
            next.sort_unstable();
            let Some(&(at_ns, node)) = next.first().filter(|(at_ns, _)| *at_ns <= until_ns) else { break };
            // Nothing that others send from now on arrives before this, not even an answer.
            let unaffected_ns =
                next.get(1).map_or(until_ns, |&(second_ns, _)| second_ns.min(at_ns + CABLE_NS) + CABLE_NS);
            self.turn(node, at_ns);
            while let Some(at_ns) =
                Some(self.next_turn(node)).filter(|at_ns| *at_ns <= unaffected_ns.min(until_ns))
            {
                self.turn(node, at_ns);
            }
        }
        self.now_ns = until_ns;
    }

    /// When a node takes its next turn.
    fn next_turn(&mut self, node: usize) -> u64 {
        let mut at_ns = self.turned_ns[node] + IDLE_NS;
        for port in &mut self.ports[node] {
            let outside = port.stream.as_mut().and_then(|(_, stream)| Some(stream.peek()?.at_ns));
            let inside = port.coming.front().map(|frame| frame.at_ns);
            at_ns = outside.into_iter().chain(inside).fold(at_ns, u64::min);
        }
        at_ns.max(self.free_ns[node])
    }

    fn turn(&mut self, node: usize, at_ns: u64) {
        let mut frames = 0;
        for port in 0..self.ports[node].len() {
            self.come(node, port, at_ns);
            frames += self.receive(node, port, at_ns);
        }
        let took_ns = self.nodes[node].turn(at_ns, frames);
        if self.last.is_none_or(|last| last == node && frames >= BURST) && frames > 0 {
            self.found.busy_ns += took_ns;
            self.found.handled += frames as u64;
        }
        let end_ns = at_ns + took_ns;
        (self.turned_ns[node], self.free_ns[node]) = (at_ns, end_ns);
        for port in 0..self.nodes[node].ports() {
            self.send(node, port, end_ns);
        }
    }

    /// What has come in from outside until a time goes into the ring.
    fn come(&mut self, node: usize, port: usize, now_ns: u64) {
        let port = &mut self.ports[node][port];
        let Some((network, stream)) = &mut port.stream else { return };
        while let Some(coming) = stream.next_if(|coming| coming.at_ns <= now_ns) {
            let Coming { at_ns, flow, .. } = coming;
            // Flows of different networks are different flows.
            let flow = (*network as u32) << 18 | flow;
            let place = self.found.order.comes(flow);
            self.found.sent += 1;
            if port.coming.len() >= self.ring {
                continue;
            }
            let number = self.records.len() as u64;
            self.records.push(Record { born_ns: at_ns, came_ns: at_ns, flow, place, from_outside: true });
            let mut bytes = self.spare.pop().unwrap_or_default();
            packets::make(&mut bytes, number, *network, &coming);
            port.coming.push_back(Frame { at_ns, bytes });
        }
        if stream.peek().is_none() {
            port.stream = None;
        }
    }

    /// What the ring has no room for is lost; a burst of the rest is for the node's turn.
    fn receive(&mut self, node: usize, port: usize, now_ns: u64) -> usize {
        let Port { to, coming, .. } = &mut self.ports[node][port];
        let here = coming.partition_point(|frame| frame.at_ns <= now_ns);
        self.spare.extend(coming.drain(here.min(self.ring)..here).map(|frame| frame.bytes));
        let burst = here.min(BURST);
        for Frame { at_ns, bytes } in coming.drain(..burst) {
            if let Some(record) = packets::number(&bytes).and_then(|number| self.records.get_mut(number)) {
                (record.came_ns, record.from_outside) = (at_ns, to.is_none());
            }
            self.nodes[node].receive(port, &bytes);
            self.spare.push(bytes);
        }
        burst
    }

    /// What a node has sent goes over the cable.
    fn send(&mut self, node: usize, at: usize, now_ns: u64) {
        let Mesh { nodes, ports, spare, records, found, last, .. } = self;
        let Port { to, ps_a_byte, ref mut free_ps, .. } = ports[node][at];
        let (mut free, mut onward) = (*free_ps, Vec::new());
        nodes[node].sent(at, |frame| {
            let number = packets::number(frame);
            if number.is_some() && *last == Some(node) {
                found.arrived += 1;
                return;
            }
            let start = free.max(now_ns * 1_000);
            if start - now_ns * 1_000 > CABLE_BYTES * ps_a_byte {
                return; // no room
            }
            free = start + frame.len() as u64 * ps_a_byte;
            let through_ns = free / 1_000;
            if let Some(record) = number.and_then(|number| records.get(number)) {
                found.leave(record, to.is_none(), now_ns, through_ns);
            }
            if to.is_some() {
                let mut bytes = spare.pop().unwrap_or_default();
                bytes.clear();
                bytes.extend_from_slice(frame);
                onward.push(Frame { at_ns: through_ns + CABLE_NS, bytes });
            }
        });
        *free_ps = free;
        if let Some((other, port)) = to {
            ports[other][port].coming.extend(onward);
        }
    }
}

impl Found {
    /// A packet leaves a node, and perhaps the cluster.
    fn leave(&mut self, record: &Record, is_out: bool, now_ns: u64, through_ns: u64) {
        let role = match (record.from_outside, is_out) {
            (_, true) => Role::Egress,
            (true, false) => Role::Ingress,
            (false, false) => Role::Intermediate,
        };
        self.hops_ns[role as usize].push((now_ns - record.came_ns) as u32);
        if is_out {
            self.arrived += 1;
            self.across_ns.push((through_ns - record.born_ns) as u32);
            self.order.leaves(through_ns, record.flow, record.place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::rb4::packets::Traffic;

    const CHOICE: Choice = Choice { scheme: "VALIANT", order: "STRICT", line_rate: 100_000_000_000 };

    /// From node 0 to node 1, so many a second.
    fn trial(mesh: &mut Mesh, rate: f64) -> Found {
        let [traffic, ..] = Traffic::all(true);
        let stream = traffic.stream(0, mesh.now_ns() + 1_000, rate, 3_000, |_| 1);
        mesh.trial(vec![(0, 0, 0, stream)])
    }

    /// What a cluster can do comes out at the right place, in order, each packet once, and with a time for each node that it was at.
    #[test]
    fn packets_cross_a_cluster_once_and_in_order() {
        let mut mesh = Mesh::cluster(&CHOICE, true).expect("a cluster");
        let found = trial(&mut mesh, 20_000.0);
        assert_eq!((found.sent, found.lost(), found.order.found.late), (3_000, 0, 0), "{}", mesh.drops());
        let [ingress, intermediate, egress] = found.hops_ns.each_ref().map(Vec::len);
        assert_eq!((ingress, egress, found.across_ns.len()), (3_000, 3_000, 3_000));
        // By way of each of the other three, one of which is where they leave, or at once.
        assert!((1_200..1_800).contains(&intermediate), "{intermediate}");
    }

    /// Rings are bounded: what comes faster than any processor takes it is lost, and counted.
    #[test]
    fn what_comes_too_fast_is_lost() {
        let mut mesh = Mesh::cluster(&CHOICE, true).expect("a cluster");
        let found = trial(&mut mesh, 1e9);
        assert!(found.lost() > 1_000 && found.arrived > 0, "{} of {}", found.lost(), found.sent);
        // Then it goes on as if nothing had been.
        assert_eq!(trial(&mut mesh, 20_000.0).lost(), 0);
    }

    /// Each packet that a node gets for a cost is one that it sends, and takes time.
    #[test]
    fn costs_are_those_of_one_node() {
        let mut mesh = Mesh::cluster(&CHOICE, true).expect("a cluster");
        let packet = Coming { at_ns: 0, flow: 1, to: 2, size: 64 };
        let ns = mesh.cost(1, 0, 20, |frame| packets::make(frame, 7, 1, &packet)).expect("a cost");
        assert!(ns > 0.0);
        assert_eq!((mesh.found.sent, mesh.found.arrived), (640, 640));
    }
}
