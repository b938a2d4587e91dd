//! Sending chosen packets through small configurations in tests.
//!
//! `Inject` emits the packets and stops the driver; `Collect(N)` keeps what arrives, so that a test sees which way each
//! packet went and what became of it.

use packet::{Anno, Batch, Kind, Packet};
use router::{
    Activity, Class, Classes, Clock, Config, ConfigError, Cx, Element, Log, Options, Residency, Resources,
    Router,
};
use std::sync::{Arc, Mutex};

/// A packet to send.
#[derive(Clone, Debug, Default)]
pub struct Sent {
    /// Its bytes.
    pub data: Vec<u8>,
    /// How its frame was addressed.
    pub kind: Kind,
    /// Annotations that it has, and their values.
    pub annotations: Vec<(Anno, u64)>,
}

impl From<Vec<u8>> for Sent {
    fn from(data: Vec<u8>) -> Sent {
        Sent { data, ..Sent::default() }
    }
}

/// What came of it.
pub struct Flow {
    /// The packets that arrived, and at which `Collect`.
    pub seen: Vec<(usize, Packet)>,
    router: Router,
}

impl Flow {
    /// The data of the packets that arrived at `Collect(at)`.
    pub fn data(&self, at: usize) -> Vec<Vec<u8>> {
        self.seen.iter().filter(|(place, _)| *place == at).map(|(_, packet)| packet.data().to_vec()).collect()
    }

    /// The only packet, which must have arrived at `Collect(at)`.
    pub fn only(&self, at: usize) -> &Packet {
        match &self.seen[..] {
            [(place, packet)] if *place == at => packet,
            other => panic!("one packet at {at} expected, not {other:?}"),
        }
    }

    /// A handler's value.
    pub fn read(&mut self, path: &str) -> String {
        self.router.call(router::Call::read(path, "")).unwrap_or_else(|error| format!("error: {error}"))
    }

    /// A handler's value for a parameter.
    pub fn read_with(&mut self, path: &str, parameter: &str) -> String {
        let call = router::Call::read(path, parameter);
        self.router.call(call).unwrap_or_else(|error| format!("error: {error}"))
    }

    /// What a handler answers to a write: nothing, or an error.
    pub fn write(&mut self, path: &str, value: &str) -> String {
        let call = router::Call::write(path, value);
        self.router.call(call).unwrap_or_else(|error| format!("error: {error}"))
    }

    /// What elements printed.
    pub fn log(&self) -> String {
        self.router.info().log.text()
    }

    /// Why packets were dropped, sorted.
    pub fn drops(&self) -> Vec<(&'static str, u64)> {
        let mut drops: Vec<_> = self.router.drops().into_iter().map(|(_, reason, n)| (reason, n)).collect();
        drops.sort_unstable();
        drops
    }
}

/// Sends packets through a configuration with batches of 1 and of 32, checks that each `Collect` gets the same packets in
/// the same order both times, and returns the latter.
pub fn send<P: Into<Sent>>(library: &Classes, config: &str, packets: impl IntoIterator<Item = P>) -> Flow {
    let packets: Vec<Sent> = packets.into_iter().map(Into::into).collect();
    let [one, many] = [1, 32].map(|vector| run(library, config, packets.clone(), vector));
    for at in 0..4 {
        assert_eq!(one.data(at), many.data(at), "the vector size changes the packets at {at}");
    }
    many
}

/// Sends packets one at a time: where it counts in which order packets arrive at different inputs.
pub fn send_singly<P: Into<Sent>>(
    library: &Classes,
    config: &str,
    packets: impl IntoIterator<Item = P>,
) -> Flow {
    run(library, config, packets.into_iter().map(Into::into).collect(), 1)
}

#[derive(Default)]
struct Wire {
    sent: Mutex<Vec<Sent>>,
    seen: Mutex<Vec<(usize, Packet)>>,
}

type Shared = Arc<Wire>;

const INJECT: Class =
    Class::new("Inject", inject).ports("0/1").processing("/h").activity(Activity::Always).makes("packets");
const COLLECT: Class = Class::new("Collect", collect)
    .ports("1/0")
    .processing("h/")
    .residency(Residency::Exclusive)
    .holds("all packets");

fn run(library: &Classes, config: &str, packets: Vec<Sent>, vector: usize) -> Flow {
    let parsed = lang::parse(config, "config", &[]);
    assert!(!parsed.has_errors(), "{}", parsed.render_click());
    let known = Classes::new(library.iter().chain([&INJECT, &COLLECT]));
    let layout =
        router::layout(parsed.graph, &known, 1).unwrap_or_else(|e| panic!("{}", lang::render_click(&e)));
    let wire = Shared::default();
    *wire.sent.lock().unwrap() = packets;
    let mut resources = Resources::default();
    resources.insert(wire.clone());
    let log = Log::Memory(Default::default());
    let options =
        Options { vector, clock: Clock::simulated(), log, resources, counted: true, ..Options::default() };
    let (mut router, _) = router::build(layout, config.to_owned(), &known, options)
        .unwrap_or_else(|e| panic!("{}", lang::render_click(&e)));
    crate::run_to_end(&mut router);
    let seen = std::mem::take(&mut *wire.seen.lock().unwrap());
    Flow { seen, router }
}

struct Inject(Shared, usize);

fn inject(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let wire = config.resource::<Shared>().ok_or("Inject without packets")?;
    Ok(Box::new(Inject(wire.clone(), 0)))
}

impl Element for Inject {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.tasks().schedule();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        let wire = self.0.clone();
        let sent = wire.sent.lock().unwrap();
        let mut batch = cx.batch();
        for Sent { data, kind, annotations } in sent[self.1..].iter().take(cx.vector()) {
            let mut packet = cx.pool().packet(data).expect("the test's packets fit the buffers");
            packet.set_kind(*kind);
            annotations.iter().for_each(|&(place, value)| packet.set_anno(place, value));
            batch.push(packet);
        }
        self.1 += batch.len();
        if batch.is_empty() {
            cx.info().please_stop();
        } else {
            cx.tasks().schedule();
        }
        cx.emit(0, batch);
    }
}

struct Collect {
    wire: Shared,
    at: usize,
    /// Packets that it has put there.
    packets: usize,
}

fn collect(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut at = 0;
    config.args().positional("AT", &mut at).finish()?;
    let wire = config.resource::<Shared>().ok_or("Collect without a place")?;
    Ok(Box::new(Collect { wire: wire.clone(), at, packets: 0 }))
}

impl Element for Collect {
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) {
        self.packets += batch.len();
        batch.drain(|packet| self.wire.seen.lock().unwrap().push((self.at, packet)));
        cx.consume(batch);
    }

    fn held(&self) -> usize {
        self.packets
    }
}
