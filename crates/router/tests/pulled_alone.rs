//! A packet that is pulled alone has the fate that it has in a batch of one, whichever elements on its way know of that, and whether or
//! not packets are counted.

use clique_router as router;
use packet::{Batch, Packet};
use router::{
    Call, Class, Classes, Clock, Config, ConfigError, Cx, Element, Handlers, Log, Options, PerPacket, Pull,
    Router, Simple, Verdict,
};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// Who saw which packet: the element and the packet's number.
type Visits = Arc<Mutex<Vec<(usize, u8)>>>;

const PACKETS: u8 = 200;

/// Has packets, numbered, and gives them away one at a time, alone or in batches of one.
struct Store {
    packets: VecDeque<u8>,
    alone: bool,
}

impl Element for Store {
    fn pull(&mut self, cx: &mut Cx<'_>, _port: usize, _want: usize) -> Pull {
        let Some(number) = self.packets.pop_front() else {
            cx.info().please_stop();
            return Pull::Nothing;
        };
        let packet = cx.pool().packet(&[number]).expect("memory");
        if self.alone { Pull::Alone(packet) } else { Pull::Give(cx.pool().batch_of(packet)) }
    }
}

fn store(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut store = Store { packets: (0..PACKETS).collect(), alone: false };
    config.args().positional("ALONE", &mut store.alone).finish()?;
    Ok(Box::new(store))
}

/// Passes packets on, sends some out to the side, and drops some.
struct Node(Visits);

impl Simple for Node {
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let number = packet.data()[0];
        self.0.lock().unwrap().push((cx.index(), number));
        match fastrand::Rng::with_seed((cx.index() as u64) << 8 | u64::from(number)).u8(..8) {
            0 => Verdict::Drop("unlucky"),
            1 => Verdict::Output(1),
            2 => Verdict::Output(0),
            _ => Verdict::Pass,
        }
    }
}

/// A node that knows batches only.
struct Long(PerPacket<Node>);

impl Element for Long {
    fn pull(&mut self, _cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        Pull::Ask { input: 0, want }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, port: usize, batch: Batch) -> Pull {
        self.0.pulled(cx, port, batch)
    }
}

fn node(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let node = PerPacket(Node(config.resource::<Visits>().cloned().unwrap_or_default()));
    let mut short = false;
    config.args().positional("SHORT", &mut short).finish()?;
    Ok(if short { Box::new(node) } else { Box::new(Long(node)) })
}

/// Asks for a packet at a time, at its inputs in turn, and notes what comes; without an input it takes what is pushed.
struct Sink {
    inputs: usize,
    visits: Visits,
    empty: u64,
}

impl Sink {
    fn note(&self, cx: &Cx<'_>, packet: &Packet) {
        self.visits.lock().unwrap().push((cx.index(), packet.data()[0]));
    }
}

impl Element for Sink {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.tasks().schedule();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        (0..self.inputs).for_each(|input| cx.ask(input, 1));
        cx.tasks().schedule();
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        batch.iter().for_each(|packet| self.note(cx, packet));
        self.empty += u64::from(batch.is_empty());
        cx.consume(batch);
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, port: usize, batch: Batch) -> Pull {
        self.push(cx, port, batch);
        Pull::Nothing
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("empty", |e: &mut Sink, _| e.empty);
    }
}

/// A sink that takes packets alone, too.
struct Short(Sink);

impl Element for Short {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.0.initialize(cx)
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        self.0.run_task(cx);
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, port: usize, batch: Batch) -> Pull {
        assert!(batch.is_empty(), "a packet came in a batch");
        self.0.pulled(cx, port, batch)
    }

    fn pulled_packet(&mut self, cx: &mut Cx<'_>, _port: usize, packet: Packet) -> Pull {
        self.0.note(cx, &packet);
        cx.pool().free(packet);
        Pull::Nothing
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("empty", |e: &mut Short, _| e.0.empty);
    }
}

fn sink(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let visits = config.resource::<Visits>().cloned().unwrap_or_default();
    let (inputs, mut short) = (config.inputs(), false);
    config.args().positional("SHORT", &mut short).finish()?;
    let sink = Sink { inputs, visits, empty: 0 };
    Ok(if short { Box::new(Short(sink)) } else { Box::new(sink) })
}

/// Takes what goes out to the side.
fn side(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let visits = config.resource::<Visits>().cloned().unwrap_or_default();
    Ok(Box::new(Sink { inputs: 0, visits, empty: 0 }))
}

static CLASSES: &[Class] = &[
    Class::new("Store", store).ports("0/1").processing("h/l"),
    Class::new("Node", node).ports("1/2").processing("l/lh"),
    Class::new("Sink", sink).ports("-/0").processing("l/h"),
    Class::new("Side", side).ports("-/0").processing("h/h"),
];

/// Two lines of nodes with these arguments, each behind a store: visits in order, how often nothing came, what nodes dropped.
fn fates(alone: bool, nodes: &[bool], short: bool, counted: bool) -> (Vec<(usize, u8)>, Vec<String>) {
    let mut config = format!("s :: Sink({short}); side :: Side;");
    for line in 0..2 {
        config += &format!("Store({alone})");
        for (at, node) in nodes.iter().enumerate() {
            config += &format!(" -> n{line}_{at} :: Node({node})");
        }
        config += &format!(" -> [{line}] s;");
        for at in 0..nodes.len() {
            config += &format!("n{line}_{at} [1] -> side;");
        }
    }
    let visits = Visits::default();
    let classes = Classes::new(CLASSES);
    let (clock, log) = (Clock::simulated(), Log::Memory(Default::default()));
    let mut options = Options { clock, log, vector: 1, counted, ..Options::default() };
    options.resources.insert(visits.clone());
    let layout = router::layout(lang::parse(&config, "config", &[]).graph, &classes, 1)
        .unwrap_or_else(|errors| panic!("{config}: {errors:?}"));
    let (mut router, _) = router::build(layout, config.clone(), &classes, options).expect("a router");
    router.run();
    let mut said = vec![read(&mut router, "s.empty")];
    for line in 0..2 {
        let names = (0..nodes.len()).map(|at| format!("n{line}_{at}.drop_reasons"));
        said.extend(names.map(|name| read(&mut router, &name)));
    }
    let visits = std::mem::take(&mut *visits.lock().unwrap());
    (visits, said)
}

fn read(router: &mut Router, name: &str) -> String {
    router.call(Call::read(name, "")).expect("a handler")
}

#[test]
fn pulled_alone_as_in_a_batch() {
    for nodes in 0..5 {
        let expected = fates(false, &vec![false; nodes], false, false);
        assert!(expected.0.len() > usize::from(PACKETS));
        let mut rng = fastrand::Rng::with_seed(nodes as u64);
        for counted in [false, true] {
            for alone in [false, true] {
                let mixed: Vec<bool> = (0..nodes).map(|_| rng.bool()).collect();
                assert_eq!(fates(alone, &mixed, false, counted), expected, "{alone} {mixed:?} {counted}");
            }
            // No batch is made where all know of packets that are alone.
            assert_eq!(fates(true, &vec![true; nodes], true, counted), expected, "{nodes} {counted}");
        }
    }
}
