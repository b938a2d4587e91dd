//! Toy elements for the cases of [`super`], and routers made of them.

use super::router::{
    self, Activity, Answer, Call, CallArg, Class, Classes, Clock, Config, ConfigError, Cx, Element, Handlers,
    Log, Merge, Options, Outcome, PerPacket, Pull, Residency, Response, Router, Simple, Step, Verdict,
};
use packet::{Batch, Packet};
use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

type Made = Result<Box<dyn Element>, ConfigError>;

/// Source(N): emits packets whose only byte is 0, 1, ... N-1, one burst, then stops the driver if told to.
struct Source {
    packets: u8,
    stop: bool,
}

fn source(config: &mut Config<'_>) -> Made {
    let mut e = Source { packets: 1, stop: true };
    config.args().positional("N", &mut e.packets).keyword("STOP", &mut e.stop).finish()?;
    Ok(Box::new(e))
}

impl Element for Source {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.tasks().schedule();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        let mut batch = cx.batch();
        for i in 0..self.packets {
            batch.push(cx.pool().packet(&[i]).expect("memory"));
            if batch.len() == cx.vector() {
                cx.emit(0, std::mem::take(&mut batch));
            }
        }
        cx.emit(0, batch);
        if self.stop {
            cx.info().please_stop();
        }
    }
}

/// Say(LABEL): logs each packet's byte.
struct Say(String);

fn say(config: &mut Config<'_>) -> Made {
    let mut label = String::new();
    config.args().positional("LABEL", &mut label).finish()?;
    Ok(Box::new(PerPacket(Say(label))))
}

impl Simple for Say {
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        cx.print(&format!("{}{}", self.0, packet.data()[0]));
        Verdict::Pass
    }
}

/// Deal(WAYS): packets whose byte is I go where the Ith character of WAYS says: to an output, or nowhere if it is an `x`.
struct Deal(String);

fn deal(config: &mut Config<'_>) -> Made {
    let mut ways = String::new();
    config.args().required("WAYS", &mut ways).finish()?;
    Ok(Box::new(PerPacket(Deal(ways))))
}

impl Simple for Deal {
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        match self.0.as_bytes()[usize::from(packet.data()[0])] {
            b'x' => Verdict::Drop("as it was told"),
            digit => Verdict::Output(usize::from(digit - b'0')),
        }
    }
}

/// A tee that sends the copy out of output 1 *first*, as PaintTee does.
struct BackTee;

impl Element for BackTee {
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) {
        batch.drain(|packet| {
            let copy = cx.pool().copy(&packet).expect("memory");
            cx.emit_packet(1, copy);
            cx.emit_packet(0, packet);
        });
        cx.consume(batch);
    }
}

/// Takes 2 ms for each batch, long enough for a grace period to ask the worker to come to an end.
struct Ponder;

impl Element for Ponder {
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        std::thread::sleep(Duration::from_millis(2));
        cx.emit(0, batch);
    }
}

struct Sink(u64);

impl Element for Sink {
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        self.0 += batch.len() as u64;
        cx.consume(batch);
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("count", |e: &mut Sink, _| e.0).merged(Merge::Sum);
    }
}

/// Counts; when it has counted N packets it calls a handler, before the packet goes on.
struct Trigger {
    at: u64,
    call: Option<CallArg>,
    count: u64,
    /// How often it was told that all has been taken over.
    told: u64,
}

fn trigger(config: &mut Config<'_>) -> Made {
    let mut e = Trigger { at: u64::MAX, call: None, count: 0, told: 0 };
    config.args().positional("AT", &mut e.at).positional("CALL", &mut e.call).finish()?;
    Ok(Box::new(e))
}

impl Element for Trigger {
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) {
        batch.drain(|packet| {
            self.count += 1;
            if let (true, Some(call)) = (self.count == self.at, &self.call) {
                cx.handlers().call(call.0.clone());
            }
            cx.emit_packet(0, packet);
        });
        cx.consume(batch);
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("count", |e: &mut Trigger, _| e.count).merged(Merge::Sum);
        h.read("told", |e: &mut Trigger, _| e.told).merged(Merge::Sum);
        h.write("count", |e: &mut Trigger, cx, text| {
            e.count = router::value(cx, text)?;
            Ok(())
        });
    }

    fn can_take_over(&mut self, _cx: &mut Cx<'_>, old: &dyn Any) -> Result<(), ConfigError> {
        assert!(old.is::<Trigger>(), "a namesake of the same class");
        if self.at == 0 { Err("this one takes nothing over".into()) } else { Ok(()) }
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(std::mem::take(&mut self.count)))
    }

    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        self.count += state.downcast_ref::<u64>().expect("a count");
    }

    fn taken_over(&mut self, _cx: &mut Cx<'_>) {
        self.told += 1;
    }
}

/// Sends everything to the output that its handler says.
struct Valve(usize);

impl Element for Valve {
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        cx.emit(self.0, batch);
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("switch", |e: &mut Valve, _| e.0);
        h.write("switch", |e: &mut Valve, cx, text| {
            e.0 = router::value(cx, text)?;
            Ok(())
        });
    }
}

/// A queue local to its worker, with a signal.
struct Store(VecDeque<Packet>);

impl Element for Store {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.signals().provide();
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) {
        batch.drain(|packet| self.0.push_back(packet));
        cx.consume(batch);
        cx.signals().set(true);
    }

    fn pull(&mut self, cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        let mut batch = cx.batch();
        batch.extend(self.0.drain(..want.min(self.0.len())));
        if batch.is_empty() {
            cx.signals().set(false);
        }
        Pull::Give(batch)
    }
}

/// Takes one packet from each input in turn; asks the next when one has none.
struct Turns {
    next: usize,
    inputs: usize,
    tried: usize,
    got: Option<Batch>,
    want: usize,
}

impl Element for Turns {
    fn pull(&mut self, cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        (self.tried, self.want, self.got) = (0, want, Some(cx.batch()));
        Pull::Ask { input: self.next, want: 1 }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, port: usize, mut batch: Batch) -> Pull {
        let mut got = self.got.take().unwrap_or_default();
        self.tried = if batch.is_empty() { self.tried + 1 } else { 0 };
        batch.drain(|packet| got.push(packet));
        cx.consume(batch);
        self.next = (port + 1) % self.inputs;
        if got.len() == self.want || self.tried == self.inputs {
            return Pull::Give(got);
        }
        self.got = Some(got);
        Pull::Ask { input: self.next, want: 1 }
    }
}

/// Pulls BURST packets at a time and pushes them on.
struct Pump(usize);

fn pump(config: &mut Config<'_>) -> Made {
    let mut e = Pump(1);
    config.args().positional("BURST", &mut e.0).finish()?;
    Ok(Box::new(e))
}

impl Element for Pump {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.signals().listen(0);
        cx.tasks().schedule();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        cx.ask(0, self.0);
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        if !batch.is_empty() || cx.signals().may_have(0) {
            cx.tasks().schedule();
        }
        cx.emit(0, batch);
        Pull::Nothing
    }
}

/// A toy NAT: packets at input 0 get a port; replies at input 1 are sent back to the sender that has that port. Both directions may
/// live on different workers; the table between them is read without locks.
struct Nat {
    table: Arc<Table>,
    updater: rcu::Updater,
}

struct Table(rcu::Cell<BTreeMap<u8, u8>>);

fn nat(config: &mut Config<'_>) -> Made {
    let table = config.shared(|| Ok(Table(rcu::Cell::new(BTreeMap::new()))))?;
    Ok(Box::new(Nat { table, updater: rcu::Domain::global().updater() }))
}

impl Element for Nat {
    fn push(&mut self, cx: &mut Cx<'_>, port: usize, mut batch: Batch) {
        if port == 0 {
            for packet in batch.iter_mut() {
                let inside = packet.data()[0];
                let changed = self.table.0.update(cx.turn(), &self.updater, |old| {
                    let mut new = old.clone();
                    new.insert(inside + 100, inside);
                    new
                });
                changed.expect("room");
                packet.data_mut()[0] = inside + 100;
            }
            return cx.emit(0, batch);
        }
        let table = self.table.0.read(cx.turn());
        let mut unknown = 0;
        batch.filter_map(|mut packet| match table.get(&packet.data()[0]) {
            Some(&inside) => {
                packet.data_mut()[0] = inside;
                Some(packet)
            }
            None => {
                unknown += 1;
                None
            }
        });
        cx.count_drops("no mapping", unknown);
        cx.emit(1, batch);
    }
}

/// A ring between workers.
struct Ring {
    shared: Arc<Crossing>,
    puller: usize,
}

struct Crossing(std::sync::Mutex<VecDeque<Packet>>);

fn ring(config: &mut Config<'_>) -> Made {
    let shared = config.shared(|| Ok(Crossing(Default::default())))?;
    let puller = config.workers().last().copied().unwrap_or(0);
    Ok(Box::new(Ring { shared, puller }))
}

impl Element for Ring {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.signals().provide();
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) {
        batch.drain(|packet| self.shared.0.lock().expect("unpoisoned").push_back(packet));
        cx.consume(batch);
        cx.signals().activate_on(self.puller);
    }

    fn pull(&mut self, cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        let mut batch = cx.batch();
        let mut ring = self.shared.0.lock().expect("unpoisoned");
        let n = want.min(ring.len());
        batch.extend(ring.drain(..n));
        cx.signals().set(!batch.is_empty());
        Pull::Give(batch)
    }
}

/// Caller(CALL): its `ask` handler reads that handler and adds 1; with no CALL the answer is 0. Its `hop` handler does it
/// N times.
struct Caller {
    call: Option<String>,
}

fn caller(config: &mut Config<'_>) -> Made {
    let mut e = Caller { call: None };
    config.args().positional("CALL", &mut e.call).finish()?;
    Ok(Box::new(e))
}

impl Element for Caller {
    fn handlers(&self, h: &mut Handlers) {
        h.read_outcome("ask", |e: &mut Caller, _, text| {
            let depth: u32 = text.trim().parse().unwrap_or(0);
            match &e.call {
                Some(_) if depth > 0 => Outcome::Start(Box::new(depth)),
                _ => Outcome::Done(Ok("0".to_owned())),
            }
        });
        // What a worker cannot do: wait for itself to be done with what it reads.
        h.read_outcome("wait", |_: &mut Caller, _, text| {
            let fails = text == "fail";
            Outcome::Aside(Box::new(move || {
                rcu::Domain::global().synchronize();
                assert!(!fails, "as asked for");
                Response::from(Ok("7".to_owned()))
            }))
        });
    }

    fn resume(&mut self, _cx: &mut Cx<'_>, state: &mut Box<dyn Any + Send>, answer: Answer) -> Step {
        let depth = state.downcast_ref::<u32>().copied().unwrap_or(0);
        match (answer, &self.call) {
            (Answer::Start, Some(call)) => Step::Call(Call::read(call.as_str(), (depth - 1).to_string())),
            (Answer::Response(Response { result: Ok(value), .. }), _) => {
                Step::Done(Ok((value.parse::<u32>().unwrap_or(0) + 1).to_string()))
            }
            (Answer::Response(Response { result: error, .. }), _) => Step::Done(error),
            (Answer::Start, None) => Step::Done(Ok("0".to_owned())),
        }
    }
}

/// Pins: `ELEMENT WORKER, ...`.
struct Pins;

impl Element for Pins {}

fn read_pins(text: &str) -> Result<Vec<router::Pin>, ConfigError> {
    let pin = |word: String| {
        let (name, worker) = word.split_once(' ').ok_or("ELEMENT WORKER expected")?;
        Ok((name.to_owned(), worker.trim().parse().map_err(|_| "worker expected")?))
    };
    lang::conf::split_args(text).into_iter().map(pin).collect()
}

/// Emits a packet at every expiry of a timer, N times, then stops the driver.
struct Tick {
    left: u32,
}

impl Element for Tick {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.timers().after(0, Duration::from_millis(200));
        Ok(())
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        let packet = cx.pool().packet(&[9]).expect("memory");
        cx.emit_packet(0, packet);
        self.left -= 1;
        if self.left == 0 {
            cx.info().please_stop()
        } else {
            cx.timers().after(0, Duration::from_millis(200))
        }
    }
}

/// Tasks that are quick at first, and of 0.2 ms later. Its timer, which is always due, logs how many slow ones went by since the
/// last time, ten times.
struct Slow {
    quick_left: u32,
    tasks: u32,
    logs_left: u32,
}

impl Element for Slow {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.tasks().schedule();
        cx.timers().after(0, Duration::ZERO);
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        cx.tasks().schedule();
        if self.quick_left > 0 {
            self.quick_left -= 1;
            return;
        }
        let began = Instant::now();
        while began.elapsed() < Duration::from_micros(200) {}
        self.tasks += 1;
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        cx.timers().after(0, Duration::ZERO);
        if self.tasks == 0 {
            return;
        }
        cx.print(&std::mem::take(&mut self.tasks).to_string());
        self.logs_left -= 1;
        if self.logs_left == 0 {
            cx.info().please_stop();
        }
    }
}

static CLASSES: &[Class] = &[
    Class::new("Source", source).ports("0/1").processing("h/h").activity(Activity::Always),
    Class::new("Everywhere", source).ports("0/1").processing("h/h").activity(Activity::PerWorker),
    Class::new("Say", say),
    Class::new("BackTee", |_| Ok(Box::new(BackTee))).ports("1/2").processing("h/h"),
    Class::new("Ponder", |_| Ok(Box::new(Ponder))).processing("h/h"),
    Class::new("Sink", |_| Ok(Box::new(Sink(0)))).ports("1/0").processing("h/h"),
    Class::new("Trigger", trigger).processing("h/h"),
    Class::new("Valve", |_| Ok(Box::new(Valve(0)))).ports("1/-").processing("h/h"),
    Class::new("Merge", |_| Ok(Box::new(PerPacket(Say("m".into()))))).ports("-/1").processing("h/h"),
    Class::new("Store", |_| Ok(Box::new(Store(VecDeque::new()))))
        .processing("h/l")
        .residency(Residency::Exclusive),
    Class::new("Ring", ring).processing("h/l").residency(Residency::Shared),
    Class::new("Turns", |config| {
        Ok(Box::new(Turns { next: 0, inputs: config.inputs(), tried: 0, got: None, want: 0 }))
    })
    .ports("-/1")
    .processing("l/l")
    .residency(Residency::Exclusive),
    Class::new("Pump", pump).processing("l/h").activity(Activity::Always),
    Class::new("Deal", deal).ports("1/-").processing("h/h"),
    Class::new("Nat", nat).ports("2/2").processing("h/h").flow("#/#").residency(Residency::Shared),
    Class::new("Caller", caller).ports("0/0"),
    Class::new("Pins", |_| Ok(Box::new(Pins))).ports("0/0").pins(read_pins),
    Class::new("Slow", |_| Ok(Box::new(Slow { quick_left: 10_000, tasks: 0, logs_left: 10 })))
        .ports("0/0")
        .activity(Activity::Always),
    Class::new("Tick", |_| Ok(Box::new(Tick { left: 2 })))
        .ports("0/1")
        .processing("h/h")
        .activity(Activity::Always),
];

pub(super) fn classes() -> Classes {
    Classes::new(CLASSES)
}

pub(super) fn build_with(config: &str, options: Options) -> Result<Router, String> {
    let parsed = lang::parse(config, "config", &[]);
    assert!(!parsed.has_errors(), "{}", parsed.render_click());
    let layout =
        router::layout(parsed.graph, &classes(), options.workers).map_err(|e| lang::render_click(&e))?;
    let built = router::build(layout, config.to_owned(), &classes(), options);
    built.map(|(router, _)| router).map_err(|e| lang::render_click(&e))
}

pub(super) fn options(workers: usize, vector: usize) -> Options {
    Options {
        workers,
        vector,
        clock: Clock::simulated(),
        log: Log::Memory(Default::default()),
        ..Options::default()
    }
}

pub(super) fn run(config: &str, workers: usize, vector: usize) -> String {
    let mut router = build_with(config, options(workers, vector)).expect("a good configuration");
    router.run();
    router.info().log.text().split_whitespace().collect::<Vec<_>>().join(" ")
}
