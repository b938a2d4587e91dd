//! A node of a cluster that is a k-ary n-fly: when a mesh would take more links than servers have sockets.
//!
//! ```click
//! VLBFly(NODE, TERMINALS, FANOUT [, keywords ORDER, SCHEME, LINE_RATE, LINK_RATE, FLOWLET])
//! ```
//!
//! Nodes 0 to TERMINALS - 1 have external ports; nodes behind them, in levels, only pass packets on. A level is as wide as the product of
//! the radices, which are at most FANOUT: the fewest levels and the narrowest that reach all terminals. `clique cluster plan` says
//! how many nodes that makes.
//!
//! Input and output 0 are the node's own side, as those of VLBNode; a node between others has no use for them. At input 1 comes
//! what comes over links, whichever. Output I + 1 is the link I out of the node, which leads from a terminal to the first level,
//! from a level to the next, and from the last to the terminals. Links have one direction; behind the last level some may lead
//! nowhere, where there could be a terminal and is none.
//!
//! A packet goes straight to its egress through all levels, or first to another terminal, then once more through all levels. Nodes move
//! it on by its label alone. Links then need to carry no more than 2 LINE_RATE/k, with k the smallest radix, whatever the
//! traffic.
//!
//! There are no hellos: links have one direction, and no node hears those that it sends to. A node takes all to be whole.
//!
//! Ports: 2 inputs, 1 or more outputs. Processing: push. Workers: exclusive. Not in Click.
//!
//! # Arguments
//! - `NODE` (integer): the number of this node, from 0.
//! - `TERMINALS` (integer): how many nodes have external ports, from 2 on.
//! - `FANOUT` (integer): links out of a node, at most; from 2 on.
//! - `ORDER` (`NONE`, `PINNED`, `FLOWLET`; default `FLOWLET`), `SCHEME`, `LINE_RATE`, `FLOWLET`: as VLBNode has them. A node knows how busy
//!   its own links are, and not those further on: with flows that fill a good part of a link by themselves, `PINNED` overloads some
//!   of those, `FLOWLET` less, since it spreads a flow of which a few packets wait, and `NONE` does not.
//! - `LINK_RATE` (bandwidth, default 2 LINE_RATE/k): what a link carries.
//!
//! # Handlers
//! - `links` (read): a line for each link out of this node: its output and the node that it leads to.
//! - `direct`, `balanced`, `spilled`, `refused`, `passed`, `delivered` (read): as VLBNode has them.
//!
//! # Example
//! ```click
//! // The node between two terminals.
//! a :: VLBFly(0, 2, 2); b :: VLBFly(1, 2, 2);
//! m :: VLBFly(2, 2, 2); n :: VLBFly(3, 2, 2);
//! InfiniteSource(DATA "E", LIMIT 0) -> VLBEncap(1) -> a; Idle -> b; Idle -> m; Idle -> n;
//! a[1], b[1] -> Queue -> Unqueue -> [1]m; a[2], b[2] -> Queue -> Unqueue -> [1]n;
//! m[1], n[1] -> Queue -> Unqueue -> [1]a; m[2], n[2] -> Queue -> Unqueue -> [1]b;
//! a[0] -> VLBDecap -> Discard; b[0] -> VLBDecap -> Discard; m[0], n[0] -> Discard;
//! ```
//!
//! # See also
//! VLBNode, VLBEncap, VLBDecap

use super::flow::flow_hash;
use super::settings::{order_of, scheme_of};
use super::vlb_node::write_label;
use cluster::NodeId;
use cluster::choice::{Chooser, Order, Settings};
use cluster::label::{Label, MAX_HOPS};
use cluster::topology::Topology;
use cluster::transit::{Next, next};
use cluster::view::View;
use packet::{Batch, Packet};
use router::{Bandwidth, Class, Config, ConfigError, Cx, Element, Handlers, Refused, Residency, Verdict};
use std::any::Any;
use std::time::Duration;
use wire::ethernet::HEADER_LEN;

/// The class.
pub(crate) const CLASS: Class = Class::new("VLBFly", create)
    .ports("2/1-")
    .processing("h/h")
    .residency(Residency::Exclusive)
    .doc(include_str!("vlb_fly.rs"));

/// The port of the node's own side.
const OWN: usize = 0;

struct VlbFly {
    node: NodeId,
    topology: Topology,
    settings: Settings,
    /// A terminal's; nodes between terminals choose nothing.
    chooser: Option<Chooser>,
    /// Whether there is a node at the end of each link.
    leads: Vec<bool>,
    passed: u64,
    delivered: u64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut node, mut terminals, mut fanout) = (0, 0, 0);
    let (mut order, mut scheme) = ("FLOWLET".to_owned(), "DIRECT".to_owned());
    let (mut line_rate, mut link_rate) = (Bandwidth { bytes_per_second: 1_250_000_000 }, None::<Bandwidth>);
    let mut flowlet = Duration::from_millis(100);
    config
        .args()
        .required("NODE", &mut node)
        .required("TERMINALS", &mut terminals)
        .required("FANOUT", &mut fanout)
        .keyword("ORDER", &mut order)
        .keyword("SCHEME", &mut scheme)
        .keyword("LINE_RATE", &mut line_rate)
        .keyword("LINK_RATE", &mut link_rate)
        .keyword("FLOWLET", &mut flowlet)
        .finish()?;
    let topology = topology(terminals, fanout)?;
    let nodes = topology.nodes();
    if usize::from(node) >= nodes {
        return Err(error(&format!("NODE: the fly has {nodes} nodes, from 0 to {}", nodes - 1)));
    }
    let links = topology.links(usize::from(node));
    if config.outputs() != links + 1 {
        return Err(error(&format!(
            "node {node} has {links} links: {} outputs must be connected",
            links + 1
        )));
    }
    let Topology::Fly { radices, .. } = &topology else { return Err(error("no fly")) };
    let narrowest = radices.iter().copied().min().unwrap_or(1) as u64;
    let line_rate = line_rate.bytes_per_second * 8;
    let link_rate = link_rate.map_or(2 * line_rate / narrowest, |rate| rate.bytes_per_second * 8);
    if line_rate == 0 {
        return Err(error("LINE_RATE must not be zero"));
    }
    let mut settings = Settings::new(line_rate, link_rate.max(1));
    (settings.order, settings.scheme) = (order_of(&order)?, scheme_of(&scheme)?);
    if settings.order == Order::Sequence {
        return Err(error("ORDER: STRICT needs a mesh: in a fly the label has no room for numbers"));
    }
    settings.flowlet_gap_ns = u64::try_from(flowlet.as_nanos()).unwrap_or(u64::MAX);
    let leads =
        (0..links).map(|link| topology.neighbour(usize::from(node), link) != usize::from(node)).collect();
    Ok(Box::new(VlbFly { node, topology, settings, chooser: None, leads, passed: 0, delivered: 0 }))
}

/// The fly of so many terminals, if labels can name its nodes and count its hops.
fn topology(terminals: u16, fanout: u16) -> Result<Topology, ConfigError> {
    if terminals < 2 || fanout < 2 {
        return Err(error("TERMINALS and FANOUT: 2 at least"));
    }
    let topology = Topology::fly(terminals.into(), fanout.into());
    if topology.nodes() > usize::from(NodeId::MAX) || topology.max_hops() > usize::from(MAX_HOPS) {
        return Err(error(&format!(
            "TERMINALS: labels have no room for {} nodes and {} hops; a larger FANOUT takes fewer",
            topology.nodes(),
            topology.max_hops()
        )));
    }
    Ok(topology)
}

fn error(message: &str) -> ConfigError {
    ConfigError::from(message)
}

/// The worker's time as the cluster counts it.
fn now(cx: &Cx<'_>) -> u64 {
    cx.now_ns().max(0) as u64
}

impl VlbFly {
    /// A packet that has come in here: where it goes first.
    #[inline]
    fn ingress(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Some(mut label) = Label::decode(packet.data()) else { return Verdict::Drop("no label") };
        let Some(chooser) = &mut self.chooser else { return Verdict::Drop("no terminal") };
        label.ingress = self.node;
        if label.egress == self.node {
            self.delivered += 1;
            return Verdict::Output(OWN);
        }
        if usize::from(label.egress) >= self.topology.terminals() {
            return Verdict::Drop("no such node");
        }
        let flow = flow_hash(packet.data().get(HEADER_LEN..).unwrap_or_default());
        match chooser.choose(now(cx), flow, label.egress, packet.len() as u32) {
            Ok(decision) => {
                (label.hops, label.stamp) = (self.topology.max_hops() as u8 - 1, decision.stamp);
                write_label(packet, label);
                Verdict::Output(decision.link + 1)
            }
            Err(refusal) => Verdict::Drop(refusal.reason()),
        }
    }

    /// A packet that came over a link: on, out, or away. Nothing but its label is looked at.
    #[inline]
    fn transit(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Some(label) = Label::decode(packet.data()) else { return Verdict::Drop("no label") };
        if usize::from(label.egress) >= self.topology.terminals() {
            return Verdict::Drop("no such node");
        }
        match next(&self.topology, self.node, label) {
            Next::Deliver => {
                self.delivered += 1;
                Verdict::Output(OWN)
            }
            Next::Forward(link, _) if self.leads.get(link) != Some(&true) => Verdict::Drop("no such node"),
            Next::Forward(link, label) => {
                if let Some(chooser) = &mut self.chooser
                    && let Err(refusal) = chooser.pass(now(cx), link, packet.len() as u32)
                {
                    return Verdict::Drop(refusal.reason());
                }
                write_label(packet, label);
                self.passed += 1;
                Verdict::Output(link + 1)
            }
            Next::Exhausted => Verdict::Drop("no hops left"),
        }
    }

    /// Where links lead.
    fn links(&self) -> String {
        let node = usize::from(self.node);
        let line =
            |(link, _): (usize, &bool)| format!("{} {}\n", link + 1, self.topology.neighbour(node, link));
        self.leads.iter().enumerate().filter(|(_, leads)| **leads).map(line).collect()
    }
}

impl Element for VlbFly {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        let terminals = self.topology.terminals();
        if usize::from(self.node) < terminals {
            self.settings.seed = cx.rng().u64(..);
            let view = View::whole(self.node, terminals);
            self.chooser = Some(Chooser::new(self.topology.clone(), view, self.settings.clone()));
        }
        Ok(())
    }

    #[inline]
    fn push(&mut self, cx: &mut Cx<'_>, port: usize, batch: Batch) {
        if port == OWN {
            return cx.scatter(batch, |cx, packet| self.ingress(cx, packet));
        }
        cx.scatter(batch, |cx, packet| self.transit(cx, packet));
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new((self.node, self.topology.clone(), self.chooser.take(), self.passed, self.delivered)))
    }

    /// Flows keep their ways.
    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) -> Result<(), Refused> {
        type State = (NodeId, Topology, Option<Chooser>, u64, u64);
        let state = state.downcast::<State>().map_err(|state| ("not a VLBFly".into(), state))?;
        if (state.0, &state.1) != (self.node, &self.topology) {
            return Err(("another node, or another fly".into(), state));
        }
        let (_, _, mut chooser, passed, delivered) = *state;
        if let Some(chooser) = &mut chooser {
            chooser.set_settings(self.settings.clone());
        }
        (self.chooser, self.passed, self.delivered) = (chooser, passed, delivered);
        Ok(())
    }

    fn handlers(&self, h: &mut Handlers) {
        type E = VlbFly;
        h.read("links", |e: &mut E, _| e.links());
        h.read("direct", |e: &mut E, _| e.chooser.as_ref().map_or(0, |c| c.counts().direct));
        h.read("balanced", |e: &mut E, _| e.chooser.as_ref().map_or(0, |c| c.counts().balanced));
        h.read("spilled", |e: &mut E, _| e.chooser.as_ref().map_or(0, |c| c.counts().spilled));
        h.read("refused", |e: &mut E, _| e.chooser.as_ref().map_or(0, |c| c.counts().refused));
        h.read("passed", |e: &mut E, _| e.passed);
        h.read("delivered", |e: &mut E, _| e.delivered);
    }
}

#[cfg(test)]
mod tests {
    use super::topology;
    use crate::testing::{build_at, errors, run_and_read};
    use router::{Call, Clock, Resources};

    /// The terminal to which one sends.
    type To = fn(usize) -> usize;

    const RATE: u64 = 8_000_000;
    const SECONDS: u64 = 1;

    /// A fly of four terminals and eight nodes between them, of two links each. Every terminal sends 1,000 packets of 1,000 bytes a
    /// second, which is its line rate, to `to`; each link has a counter `lNODE_OUTPUT`.
    fn fly(order: &str, scheme: &str, to: impl Fn(usize) -> usize) -> (String, Vec<String>) {
        let topology = topology(4, 2).expect("a fly");
        let (mut text, mut counters) = (String::new(), Vec::new());
        for node in 0..topology.nodes() {
            text += &format!(
                "n{node} :: VLBFly({node}, 4, 2, ORDER {order}, SCHEME {scheme}, LINE_RATE {RATE}bps);\n"
            );
        }
        for node in 0..topology.nodes() {
            for link in 0..topology.links(node) {
                let (output, next) = (link + 1, topology.neighbour(node, link));
                counters.push(format!("l{node}_{output}.byte_count"));
                text += &format!(
                    "n{node}[{output}] -> l{node}_{output} :: Counter -> SetTimestamp -> Queue -> DelayUnqueue(50us) -> [1]n{next};\n"
                );
            }
            text += &match node {
                0..4 => format!(
                    "RatedSource(LENGTH 958, RATE 1000, LIMIT {}) -> UDPIPEncap(10.0.{node}.2, 1, 10.0.9.2, 2)
                       -> VLBEncap({}) -> n{node}; n{node} -> VLBDecap -> o{node} :: Counter -> Discard;\n",
                    1_000 * SECONDS, to(node)
                ),
                _ => format!("Idle -> n{node}; n{node} -> Discard;\n"),
            };
        }
        text += &format!("Script(wait {SECONDS}.1, stop);\n");
        (text, counters)
    }

    /// Everything arrives at its egress, and whatever the traffic, no link carries more than 2R/k.
    #[test]
    fn links_carry_at_most_2r_k() {
        let ways: [(&str, To); 3] = [
            ("half way", |from| (from + 2) % 4),
            ("next", |from| (from + 1) % 4),
            ("digits turned", |from| [0, 2, 1, 3][from]),
        ];
        for (name, to) in ways {
            for scheme in ["DIRECT", "VALIANT"] {
                let (config, counters) = fly("NONE", scheme, to);
                let mut handlers: Vec<&str> = counters.iter().map(String::as_str).collect();
                handlers.extend(["o0.count", "o1.count", "o2.count", "o3.count", "n4.passed", "n0.refused"]);
                let read = run_and_read(&config, &handlers);
                let numbers: Vec<u64> = read.iter().map(|text| text.parse().expect("a number")).collect();
                let (links, rest) = numbers.split_at(counters.len());
                assert_eq!((rest[..4].iter().sum::<u64>(), rest[5]), (4_000, 0), "{name} {scheme}: {read:?}");
                assert!(rest[4] > 0);
                // 2R/2, in bytes, and five per cent for chance.
                let most = RATE / 8 * SECONDS * 105 / 100;
                assert!(links.iter().all(|&bytes| bytes <= most), "{name} {scheme}: {links:?}");
            }
        }
    }

    /// Wherever a packet is to go, it gets there, also from a node to itself.
    #[test]
    fn all_pairs() {
        for shift in 0..4 {
            for order in ["PINNED", "FLOWLET"] {
                let (config, _) = fly(order, "DIRECT", |from| (from + shift) % 4);
                let read = run_and_read(&config, &["o0.count", "o1.count", "o2.count", "o3.count"]);
                let sum: u64 = read.iter().map(|text| text.parse::<u64>().expect("a number")).sum();
                assert!(read.iter().all(|count| count != "0") && sum > 3_000, "{order} {shift}: {read:?}");
            }
        }
    }

    /// Another configuration takes the nodes' places: they go on counting, and flows keep their ways. Another node does not.
    #[test]
    fn another_configuration() {
        let clock = Clock::simulated();
        let make = |config: &str| {
            build_at(config, 1, 32, clock.clone(), Resources::default())
                .unwrap_or_else(|errors| panic!("{errors}"))
        };
        let (config, counters) = fly("FLOWLET, FLOWLET 9s", "VALIANT", |from| (from + 2) % 4);
        let counters: Vec<String> = counters.into_iter().take(8).collect();
        let mut router = make(&config);
        router.run();
        let counts = |router: &mut router::Router, handlers: &[String]| -> Vec<u64> {
            let read = |handler: &String| router.call(Call::read(handler, "")).expect("read");
            handlers.iter().map(read).map(|text| text.parse().expect("a number")).collect()
        };
        let sums = ["n0.direct", "n0.balanced", "n4.passed", "n2.delivered"].map(str::to_owned);
        let before = (counts(&mut router, &sums), counts(&mut router, &counters));
        // A burst may have sent a few packets of a flow elsewhere.
        let unused = |counts: &[u64]| counts.iter().map(|&bytes| bytes < 50_000).collect::<Vec<bool>>();
        assert!(unused(&before.1).contains(&true) && unused(&before.1).contains(&false), "{before:?}");
        router.info().adjust_run_count(1);
        let other = config.replace("n0 :: VLBFly(0,", "n0 :: VLBFly(1,");
        assert!(router.replace(make(&other)).is_err());
        let mut old =
            router.replace(make(&config.replace("8000000bps", "9000000bps"))).expect("the same fly");
        old.finish();
        assert_eq!(counts(&mut router, &sums), before.0);
        router.run();
        assert!(counts(&mut router, &sums).iter().sum::<u64>() > before.0.iter().sum());
        // Links out of terminals that no flow took are taken by none now.
        let after = counts(&mut router, &counters);
        assert_eq!(unused(&after), unused(&before.1));
    }

    /// Mistakes in the configuration.
    #[test]
    fn mistakes() {
        let one = |arguments: &str| {
            errors(&format!("Idle -> f :: VLBFly({arguments}); Idle -> [1]f; f[0], f[1], f[2] -> Discard"))
        };
        assert!(one("12, 4, 2").contains("the fly has 12 nodes, from 0 to 11"));
        assert!(one("0, 9, 3").contains("node 0 has 3 links: 4 outputs"));
        assert!(one("0, 4, 2, ORDER STRICT").contains("STRICT needs a mesh"));
        assert!(one("0, 1, 2").contains("2 at least"));
        assert!(one("0, 60000, 2").contains("labels have no room"));
    }
}
