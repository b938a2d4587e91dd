//! A router whose turns are timed, with interfaces in memory.

use super::cable::{Cable, Cables, FROM_CABLE, TO_CABLE};
use crate::assembly;
use router::{Call, Classes, Clock, Log, Options, Resources, Router};
use std::sync::Arc;
use std::time::Instant;

/// A node as it is shipped.
const SHIPPED: &str = include_str!("../../../../conf/cluster-node.click");
/// A router that is no part of a cluster.
const ALONE: &str = include_str!("alone.click");
/// Interfaces and nothing else, as many as a node has.
const CABLES: &str = "FromCable(ext) -> ToCable(l1); FromCable(l1) -> ToCable(ext); FromCable(l2) -> ToCable(l3); FromCable(l3) -> ToCable(l2);";
/// Frames that a node takes from an interface in a turn, at most.
pub(super) const BURST: usize = 32;
/// A turn that takes longer was not the node's: another program had the processor.
const INTERRUPTED_NS: u64 = 100_000;

/// What is chosen about a cluster's nodes.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    /// DIRECT or VALIANT.
    pub(super) scheme: &'static str,
    /// FLOWLET, NONE or STRICT.
    pub(super) order: &'static str,
    /// Bits a second of external ports; links carry half of it.
    pub(super) line_rate: u64,
}

/// A router.
pub(super) struct Node {
    router: Router,
    clock: Clock,
    /// When its clock began.
    begin_ns: i64,
    cables: Vec<Arc<Cable>>,
    /// What timing costs by itself.
    overhead_ns: u64,
    /// Nanoseconds a frame so far, for turns that were interrupted.
    usual_ns: f64,
    /// Turns that were interrupted.
    pub(super) interrupted: u64,
}

/// The Ethernet address of a node's external port, in a network.
pub(super) fn port_address(network: usize) -> [u8; 6] {
    [2, 0, 0, 2, network as u8, 0]
}

/// Puts something in the place of all that is written so.
fn replace(text: &mut String, from: &str, to: &str) -> Result<(), String> {
    if !text.contains(from) {
        return Err(format!("conf/cluster-node.click no longer has '{from}'"));
    }
    *text = text.replace(from, to);
    Ok(())
}

impl Node {
    /// A node of a cluster of four: the shipped configuration with interfaces in memory.
    pub(super) fn of_cluster(number: usize, choice: &Choice) -> Result<Node, String> {
        let mut text = SHIPPED.to_owned();
        replace(&mut text, "KEYFILE $KEYFILE", "KEY measured")?;
        replace(&mut text, "$EXT:eth", &format!("2:0:0:2:{number}:0"))?;
        replace(&mut text, "FromDevice($EXT, METHOD $METHOD)", "FromCable(ext)")?;
        replace(&mut text, "ToDevice($EXT, METHOD $METHOD)", "ToCable(ext)")?;
        let link = "FromDevice($device, METHOD $METHOD, PROMISC true, SNIFFER false)";
        replace(&mut text, link, "FromCable($device)")?;
        replace(&mut text, "ToDevice($device, METHOD $METHOD)", "ToCable($device)")?;
        let parameters = [
            ("NODE", number.to_string()),
            ("IF1", "l1".to_owned()),
            ("IF2", "l2".to_owned()),
            ("IF3", "l3".to_owned()),
            ("SCHEME", choice.scheme.to_owned()),
            ("ORDER", choice.order.to_owned()),
            ("LINE_RATE", format!("{}bps", choice.line_rate)),
        ];
        let parameters = parameters.map(|(name, value)| (name.to_owned(), value));
        let mut node = Node::new(&text, &parameters, &["ext", "l1", "l2", "l3"], number)?;
        node.write("arp.insert", &format!("10.0.{number}.2 2:0:0:3:{number}:0"))?;
        Ok(node)
    }

    /// A router between two external ports.
    pub(super) fn alone() -> Result<Node, String> {
        let mut node = Node::new(ALONE, &[], &["ext", "other"], 0)?;
        node.write("a/arp.insert", "10.0.0.2 2:0:0:3:0:0")?;
        node.write("b/arp.insert", "10.0.1.2 2:0:0:3:1:0")?;
        Ok(node)
    }

    /// A router without elements between its interfaces.
    pub(super) fn cables() -> Result<Node, String> {
        Node::new(CABLES, &[], &["ext", "l1", "l2", "l3"], 0)
    }

    fn new(
        text: &str,
        parameters: &[(String, String)],
        ports: &[&str],
        number: usize,
    ) -> Result<Node, String> {
        let cables: Vec<_> = ports.iter().map(|name| Cable::new(name)).collect();
        let (clock, mut resources) = (Clock::simulated(), Resources::default());
        resources.insert(Cables(cables.clone()));
        let (log, seed) = (Log::Memory(Default::default()), number as u64 + 1);
        let options = Options { clock: clock.clone(), log, resources, seed, ..Options::default() };
        let library = elements::classes();
        let known = Classes::new(library.iter().chain([&FROM_CABLE, &TO_CABLE]));
        let router = assembly::build(("node", text), parameters, &known, options)?;
        let overhead = |_| {
            let start = Instant::now();
            start.elapsed().as_nanos() as u64
        };
        Ok(Node {
            router,
            begin_ns: clock.now_ns(),
            clock,
            cables,
            overhead_ns: (0..1_000).map(overhead).min().unwrap_or(0),
            usual_ns: 200.0,
            interrupted: 0,
        })
    }

    /// Reads a handler.
    pub(super) fn read(&mut self, path: &str) -> Result<String, String> {
        Ok(self.router.call(Call::read(path, ""))?.trim().to_owned())
    }

    fn write(&mut self, path: &str, value: &str) -> Result<(), String> {
        Ok(self.router.call(Call::write(path, value)).map(drop)?)
    }

    /// How many interfaces it has.
    pub(super) fn ports(&self) -> usize {
        self.cables.len()
    }

    /// Puts a frame where the next turn finds it.
    pub(super) fn receive(&self, port: usize, frame: &[u8]) {
        self.cables[port].inward().push(frame);
    }

    /// Takes a turn at a time, with so many frames to take; how long it took.
    pub(super) fn turn(&mut self, now_ns: u64, frames: usize) -> u64 {
        self.clock.jump(self.begin_ns + now_ns as i64);
        let start = Instant::now();
        self.router.run_rounds(1);
        let took = (start.elapsed().as_nanos() as u64).saturating_sub(self.overhead_ns).max(1);
        if took > INTERRUPTED_NS {
            self.interrupted += 1;
            return (self.usual_ns * frames.max(1) as f64) as u64;
        }
        if frames > 0 {
            self.usual_ns += (took as f64 / frames as f64 - self.usual_ns) / 64.0;
        }
        took
    }

    /// Shows what was sent at a port since the last time, frame by frame.
    pub(super) fn sent(&self, port: usize, f: impl FnMut(&[u8])) {
        self.cables[port].outward().drain(f);
    }

    /// What elements dropped, by reason.
    pub(super) fn drops(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.router.drops().into_iter().map(|(_, reason, count)| (reason, count))
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.router.finish();
    }
}
