//! Moves what elements remember of connections when a cluster node leaves or dies.
//!
//! ```click
//! VLBState(NODE, ELEMENT [, ELEMENT...] [, keywords INTERVAL, LIMIT])
//! ```
//!
//! The successor of a node is the next one in the order of numbers that takes part. Each node tells its successor the flows of its
//! ELEMENTs that are confirmed: at first all, then those that are new, have changed or are gone. The successor keeps them aside. When the node
//! drains, it tells what is left, also of flows that are not confirmed, and hands over; VLBNode waits for that, up to three seconds, before it leaves. When the node is down, the
//! successor takes over what it has been told. Either way it adopts the flows into its own elements of the same names, and acts for the
//! node: the other nodes send it what is to leave the cluster by the node (whatever VLBEncap says), and a VLBGate
//! answers for the node's addresses. A node that hears less than half of the cluster takes over nothing. A node that comes back while
//! another acts for it does not take its duties back by itself.
//!
//! A flow whose reply key another flow of the successor has, above all its port, is not adopted and counted (`contended`), so nodes
//! should translate to addresses of their own. All nodes need the same ELEMENTs, with inputs and outputs that mean the same.
//!
//! - Of a rewriter the flows move with all that belongs to them. They are confirmed by their second packet, of either direction.
//! - Of a ConnTrack connections move with their states; assured ones are confirmed. TCP's numbers, which change with each segment, do not: they are not checked at the
//!   other node. A connection that is known there and not over stays as it is.
//! - Of a lookup that remembers flows (FLOWS) the flows move with their next hops. They wait for whichever worker sees their next packets,
//!   and go on with the same next hop as long as the other node's route has it. A flow that is remembered there goes on as it was. Flows of one
//!   packet do not move.
//!
//! Messages between nodes go through the cluster as packets with EtherType 0x88b6, authenticated with NODE's key. Each is
//! for one life of its receiver and believed once. What is lost on the way is sent again.
//!
//! Input 0 takes messages that leave the cluster here, with their labels; output 0 gives those for other nodes.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: shared. Not in Click.
//!
//! # Arguments
//! - `NODE` (element): this node's VLBNode or VLBFly.
//! - `ELEMENT` (elements): those whose flows move: IPRewriter, TCPRewriter, UDPRewriter, ICMPPingRewriter, IPAddrRewriter,
//!   IPAddrPairRewriter; ConnTrack; IPLookup, IP6Lookup and their relatives with FLOWS; at most 16. A rewriter that shares the table of
//!   another cannot be one, nor one that is another VLBState's already.
//! - `INTERVAL` (time, default 10ms): between two messages with what has changed, but for 100 microseconds while flows move from a node that
//!   drains. Flows that were confirmed later, or not at all, when the node dies are lost.
//! - `LIMIT` (integer, default 1048576): flows kept aside for other nodes, at most.
//!
//! # Handlers
//! - `successor` (read): the node that has all flows of this one; empty if there is none.
//! - `duties` (read): the nodes that this node acts for, itself included.
//! - `acting` (read): one line per node: its number and that of the node that acts for it.
//! - `holds` (read): one line for each node that flows are kept for: its number, the flows, milliseconds since its last message.
//! - `sent` (read): flows told to successors, also that they are gone. `held` (read): flows kept aside. `adopted` (read): flows taken into
//!   this node's elements. `contended` (read): flows not adopted because another has their port, or because their next packets came
//!   sooner and were translated anew. `lost` (read): flows for which there was no room, or which fit no element.
//! - `limit` (read, write): LIMIT; flows that are kept already stay.
//! - `streams` (read): how often a successor was told everything.
//! - `rejected` (read): messages rejected, by reason.
//!
//! # Example
//! ```click
//! node :: VLBNode(NODE 0, NODES 2, KEY secret);
//! rw :: IPRewriter(pattern 192.0.2.1 1024-65535 - - 0 1, drop);
//! state :: VLBState(node, rw) -> node;
//! node -> out :: Classifier(12/88b6, -) -> state;
//! out[1] -> VLBDecap -> MarkIPHeader -> [1]rw[1] -> Discard;
//! Idle -> MarkIPHeader -> [0]rw[0] -> VLBEncap(1) -> node;
//! Idle -> [1]node[1] -> Discard;
//! ```
//!
//! # See also
//! VLBNode, VLBFly, VLBGate, IPRewriter, ConnTrack, IPLookup

use super::shared::Shared;
use super::succession::{Ports, Successions, frame, message};
use cluster::NodeId;
use cluster::succession::{Counts, Settings, Succession};
use elements_shared::state_port::Port;
use packet::Batch;
use router::{Class, Config, ConfigError, Cx, Element, ElementName, Handlers, Residency};
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("VLBState", create)
    .ports("1/1")
    .processing("h/h")
    .residency(Residency::Shared)
    .makes("messages")
    .absorbs("messages")
    .doc(router::manual!("vlb_state.rs"));

/// Between two turns while more is to be told than fits into one.
const BUSY: Duration = Duration::from_millis(1);
/// The same while duties move to another node: hosts send their next packets there.
const MOVING: Duration = Duration::from_micros(100);

/// Tables of a node, at most.
const MOST: usize = cluster::succession::message::MOST_TABLES;

struct VlbState {
    node: ElementName,
    names: Vec<String>,
    interval: Duration,
    limit: usize,
    is_home: bool,
    shared: Option<Arc<Successions>>,
    cluster: Option<Arc<Shared>>,
    ports: Ports,
}

/// The shared part, which exists as soon as the node is known.
pub(super) struct Place(pub(super) std::sync::OnceLock<Arc<Successions>>);

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut node, mut elements) = (ElementName::default(), Vec::<ElementName>::new());
    let (mut interval, mut limit) = (Duration::from_millis(10), 1_u32 << 20);
    config
        .args()
        .required("NODE", &mut node)
        .list("ELEMENT", &mut elements)
        .keyword("INTERVAL", &mut interval)
        .keyword("LIMIT", &mut limit)
        .finish()?;
    if elements.is_empty() || elements.len() > MOST {
        return Err("ELEMENT: from 1 to 16 elements".into());
    }
    if interval.is_zero() || interval > Duration::from_millis(50) {
        return Err("INTERVAL: up to 50ms".into());
    }
    config.shared(|| Ok(Place(std::sync::OnceLock::new())))?;
    Ok(Box::new(VlbState {
        node,
        names: elements.into_iter().map(|element| element.name).collect(),
        interval,
        limit: limit as usize,
        is_home: config.home() == config.worker(),
        shared: None,
        cluster: None,
        ports: Ports::new([]),
    }))
}

/// The shared part of an element of this class.
pub(super) fn of(cx: &Cx<'_>, name: &str) -> Result<Arc<Successions>, String> {
    let place: Arc<Place> = cx.shared_of(name, "VLBState")?;
    place.0.get().cloned().ok_or_else(|| format!("'{name}' has no node"))
}

impl VlbState {
    fn settings(&self, cluster: &Shared) -> Settings {
        Settings {
            me: cluster.node,
            nodes: cluster.terminals as NodeId,
            tables: self.names.clone(),
            limit: self.shared.as_ref().map_or(self.limit, |shared| shared.limit()),
        }
    }

    fn send(cx: &mut Cx<'_>, out: Vec<(NodeId, Vec<u8>)>) {
        for (to, bytes) in out {
            match frame(cx, to, &bytes) {
                Some(packet) => cx.emit_packet(0, packet),
                None => cx.count_drops("no buffer", 1),
            }
        }
    }

    /// Something that is known of it; the default where nothing is.
    fn ask<T: Default>(&self, ask: impl FnOnce(&Succession) -> T) -> T {
        let inner = self.shared.as_ref().map(|shared| shared.inner());
        inner.as_ref().and_then(|inner| inner.succession.as_ref()).map_or_else(T::default, ask)
    }
}

impl Element for VlbState {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        let cluster: Arc<Shared> = cx.shared_of(&self.node.name, "VLBNode or VLBFly")?;
        if usize::from(cluster.node) >= cluster.terminals {
            return Err("NODE: no terminal of its fly".into());
        }
        let place: Option<Arc<Place>> = cx.info().shared(cx.index());
        let shared = place
            .ok_or("no shared part")?
            .0
            .get_or_init(|| Arc::new(Successions::new(cluster.terminals, self.limit)))
            .clone();
        let ports: Vec<_> = self.names.iter().map(|name| Port::of(cx, name)).collect::<Result<_, _>>()?;
        self.ports = Ports::new(ports);
        cluster.serve_while_draining();
        (self.shared, self.cluster) = (Some(shared), Some(cluster));
        if self.is_home {
            cx.timers().after(0, self.interval);
        }
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) {
        let Some(shared) = self.shared.clone() else { return cx.drop_batch(batch, "no node") };
        let now_ns = cx.now_ns().max(0) as u64;
        batch.drain(|packet| match message(packet.data()) {
            Some(bytes) => {
                shared.receive(now_ns, bytes);
                cx.pool().free(packet);
            }
            None => cx.drop(packet, "no message"),
        });
        cx.consume(batch);
        VlbState::send(cx, shared.answers());
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        let (Some(shared), Some(cluster)) = (self.shared.clone(), self.cluster.clone()) else { return };
        let settings = self.settings(&cluster);
        let out = shared.tick(cx, &cluster, &settings, &mut self.ports);
        VlbState::send(cx, out);
        let now_ns = cx.now_ns().max(0) as u64;
        let pause = match self.ask(|succession| (succession.is_busy(), succession.is_moving(now_ns))) {
            (true, _) => BUSY,
            (false, true) => MOVING,
            (false, false) => self.interval,
        };
        cx.timers().after(0, pause);
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        // Tables that go on can be watched in the next configuration.
        self.ports.watch(false, |_| ());
        let succession = self.shared.as_ref()?.inner().succession.take()?;
        Some(Box::new(succession))
    }

    /// The node goes on with what it holds for others, and tells its successor everything anew.
    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        let (Ok(mut old), Some(shared), Some(cluster)) =
            (state.downcast::<Succession>(), &self.shared, &self.cluster)
        else {
            return;
        };
        let key = cluster.phase_and_key().map(|(_, key)| key);
        if key.is_some_and(|key| old.renew(&self.settings(cluster), &key)) {
            shared.inner().succession = Some(*old);
            shared.note(cx.now_ns().max(0) as u64, cluster, &mut shared.inner());
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        type E = VlbState;
        h.read("successor", |e: &mut E, _| {
            e.ask(Succession::successor).map_or_else(String::new, |node| node.to_string())
        });
        h.read("duties", |e: &mut E, _| {
            let duties: Vec<_> = e.ask(Succession::duties).iter().map(|(of, _)| of.to_string()).collect();
            duties.join(" ")
        });
        h.read("acting", |e: &mut E, _| {
            let nodes = e.cluster.as_ref().map_or(0, |cluster| cluster.terminals as NodeId);
            let line = |of| e.ask(|s| s.holder(of)).map(|holder| format!("{of} {holder}\n"));
            (0..nodes).filter_map(line).collect::<String>()
        });
        h.read("holds", |e: &mut E, cx| {
            let now_ns = cx.now_ns().max(0) as u64;
            let line = |(node, flows, heard_ns): (NodeId, usize, u64)| {
                format!("{node} {flows} {}\n", now_ns.saturating_sub(heard_ns) / 1_000_000)
            };
            e.ask(Succession::holds).into_iter().map(line).collect::<String>()
        });
        h.read("limit", |e: &mut E, _| e.shared.as_ref().map_or(e.limit, |shared| shared.limit()));
        h.write("limit", |e: &mut E, cx, text| {
            let limit: u32 = router::value(cx, text)?;
            e.shared.iter().for_each(|shared| shared.set_limit(limit as usize));
            Ok(())
        });
        h.read("held", |e: &mut E, _| e.ask(Succession::held));
        let mut count = |name, of: fn(&Counts) -> u64| {
            h.read(name, move |e: &mut E, _| e.ask(|s| of(s.counts())));
        };
        count("sent", |c| c.sent);
        count("adopted", |c| c.adopted);
        count("contended", |c| c.contended);
        count("lost", |c| c.lost);
        count("streams", |c| c.streams);
        h.read("rejected", |e: &mut E, _| {
            let Some(shared) = &e.shared else { return String::new() };
            let inner = shared.inner();
            inner.rejected.iter().map(|(reason, count)| format!("{count}\t{reason}\n")).collect::<String>()
        });
    }
}

#[cfg(test)]
mod tests;
