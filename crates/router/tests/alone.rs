//! A packet that is alone has the fate that it has in a batch: in random graphs, with loops, elements that say where it goes do what the
//! same elements do that know batches only, in the same order.

use clique_router as router;
use packet::{Batch, Packet};
use router::{
    Activity, Call, Class, Classes, Clock, Config, ConfigError, Cx, Element, Log, Options, Router, Verdict,
};
use std::sync::{Arc, Mutex};

/// Elements that are visited, each with the packet: its number and the visits that it has left.
type Visits = Arc<Mutex<Vec<(usize, u8, u8)>>>;

/// Outputs of each element, of which some lead nowhere.
const OUTPUTS: u64 = 3;
/// Visits of a packet, then it ends.
const VISITS: u8 = 90;

/// What an element does to a packet.
enum Deed {
    Goes(Verdict),
    /// Sends a copy out first, while it says where the packet goes.
    Copies(Verdict),
    /// Takes the packet, and sends it out, and a copy behind it.
    Takes,
}

/// What is done to a packet depends on the element, the packet, and how often it was there.
fn deed(here: usize, packet: &Packet) -> Deed {
    let [number, left] = bytes(packet);
    if left == 0 {
        return Deed::Goes(Verdict::Drop("tired"));
    }
    let mut rng = fastrand::Rng::with_seed((here as u64) << 16 | u64::from(number) << 8 | u64::from(left));
    let verdict = match rng.u8(..96) {
        0 => Verdict::Drop("unlucky"),
        1 => Verdict::Drop("unwanted"),
        2 => Verdict::Output(usize::MAX),
        3..24 => Verdict::Output(rng.u64(..=OUTPUTS) as usize),
        _ => Verdict::Pass,
    };
    match rng.u8(..96) {
        ..2 => Deed::Copies(verdict),
        2..5 => Deed::Takes,
        _ => Deed::Goes(verdict),
    }
}

fn bytes(packet: &Packet) -> [u8; 2] {
    packet.data().first_chunk().copied().expect("two bytes")
}

struct Node {
    /// Whether it has a short way for packets that are alone.
    short: bool,
    visits: Visits,
}

impl Node {
    fn visit(&self, cx: &Cx<'_>, packet: &mut Packet) {
        let [number, left] = bytes(packet);
        self.visits.lock().unwrap().push((cx.index(), number, left));
        packet.data_mut()[1] = left.saturating_sub(1);
    }

    /// Copies have half of the visits, so that there are not ever more.
    fn copy(cx: &mut Cx<'_>, packet: &Packet) -> Packet {
        let mut copy = cx.pool().copy(packet).expect("memory");
        copy.data_mut()[1] /= 2;
        copy
    }

    fn take(&self, cx: &mut Cx<'_>, packet: Packet) {
        let copy = Node::copy(cx, &packet);
        cx.emit_packet(1, packet);
        cx.emit_packet(0, copy);
    }
}

impl Element for Node {
    fn push_one(&mut self, cx: &mut Cx<'_>, _port: usize, packet: &mut Packet) -> Option<Verdict> {
        if !self.short {
            return None;
        }
        match deed(cx.index(), packet) {
            Deed::Goes(verdict) => {
                self.visit(cx, packet);
                Some(verdict)
            }
            Deed::Copies(verdict) => {
                self.visit(cx, packet);
                let copy = Node::copy(cx, packet);
                cx.emit_packet(0, copy);
                Some(verdict)
            }
            Deed::Takes => None,
        }
    }

    fn push_packet(&mut self, cx: &mut Cx<'_>, port: usize, mut packet: Packet) {
        if !self.short {
            let batch = cx.pool().batch_of(packet);
            return self.push(cx, port, batch);
        }
        self.visit(cx, &mut packet);
        self.take(cx, packet);
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) {
        let mut packet = batch.pop().expect("a packet");
        cx.consume(batch);
        let deed = deed(cx.index(), &packet);
        self.visit(cx, &mut packet);
        let verdict = match deed {
            Deed::Takes => return self.take(cx, packet),
            Deed::Goes(verdict) => verdict,
            Deed::Copies(verdict) => {
                let copy = Node::copy(cx, &packet);
                let batch = cx.pool().batch_of(copy);
                cx.emit(0, batch);
                verdict
            }
        };
        let batch = cx.pool().batch_of(packet);
        cx.settle(verdict, batch);
    }
}

/// Emits packets one by one, as they are or in batches of one, then stops the driver.
struct Source {
    left: u8,
    batches: bool,
}

impl Element for Source {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.tasks().schedule();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        let packet = cx.pool().packet(&[self.left, VISITS]).expect("memory");
        if self.batches {
            let batch = cx.pool().batch_of(packet);
            cx.emit(0, batch);
        } else {
            cx.emit_packet(0, packet);
        }
        self.left -= 1;
        if self.left > 0 { cx.tasks().schedule() } else { cx.info().please_stop() }
    }
}

fn source(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut source = Source { left: 10, batches: false };
    config.args().positional("BATCHES", &mut source.batches).finish()?;
    Ok(Box::new(source))
}

fn node(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let visits = config.resource::<Visits>().cloned().unwrap_or_default();
    let mut node = Node { short: false, visits };
    config.args().positional("SHORT", &mut node.short).finish()?;
    Ok(Box::new(node))
}

static CLASSES: &[Class] = &[
    Class::new("Source", source).ports("0/1").activity(Activity::Always),
    Class::new("Node", node).ports("1/-"),
];

/// What became of the packets: visits in order, drops of each node by reason, and dispatches.
fn fates(
    graph: &str,
    nodes: u64,
    (batches, short): (bool, bool),
    counted: bool,
) -> (Vec<(usize, u8, u8)>, Vec<String>, u64) {
    let visits = Visits::default();
    let with_source = |node| format!("n{node} :: Node({short}); Source({batches}) -> n{node};");
    let config: String = (0..nodes).map(with_source).chain([graph.to_owned()]).collect();
    let classes = Classes::new(CLASSES);
    let (clock, log) = (Clock::simulated(), Log::Memory(Default::default()));
    let mut options = Options { clock, log, vector: 1, counted, ..Options::default() };
    options.resources.insert(visits.clone());
    let layout = router::layout(lang::parse(&config, "config", &[]).graph, &classes, 1)
        .unwrap_or_else(|errors| panic!("{config}: {errors:?}"));
    let (mut router, _) = router::build(layout, config.clone(), &classes, options).expect("a router");
    router.run();
    let reasons = (0..nodes).map(|node| reasons(&mut router, node)).collect();
    let dispatches = router.dispatches();
    let visits = std::mem::take(&mut *visits.lock().unwrap());
    (visits, reasons, dispatches)
}

fn reasons(router: &mut Router, node: u64) -> String {
    router.call(Call::read(format!("n{node}.drop_reasons"), "")).expect("a handler")
}

/// Random edges, of which each output has one at most.
fn graph(rng: &mut fastrand::Rng, nodes: u64) -> String {
    let mut text = String::new();
    for node in 0..nodes {
        // Outputs are used from the first on.
        for output in 0..rng.u64(2..=OUTPUTS) {
            text += &format!("n{node} [{output}] -> n{};", rng.u64(..nodes));
        }
    }
    text
}

#[test]
fn alone_as_in_a_batch() {
    let (mut ends, mut long) = (0, 0);
    for seed in 0..40 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let nodes = rng.u64(1..6);
        let graph = graph(&mut rng, nodes);
        let expected = fates(&graph, nodes, (true, false), false);
        for (batches, short) in [(false, false), (true, true), (false, true)] {
            let found = fates(&graph, nodes, (batches, short), false);
            assert_eq!(found, expected, "seed {seed}: batches {batches}, short {short}: {graph}");
        }
        let counted = fates(&graph, nodes, (false, true), true);
        assert_eq!(
            (counted.0, counted.1),
            (expected.0.clone(), expected.1.clone()),
            "seed {seed}, counted: {graph}"
        );
        ends += expected.1.iter().filter(|reasons| reasons.contains("no such output")).count();
        long += usize::from(expected.0.iter().any(|&(_, _, left)| left < 10));
    }
    // There were ways out of every kind, and longer than one stretch.
    assert!(ends > 10 && long > 20, "{ends} {long}");
}
