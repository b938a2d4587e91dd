//! The cases that the element traits were designed for, with toy elements: order of effects, loops, requests that climb
//! pull paths, state shared between workers, mutual handler calls, state taken over, sleep.

use clique_router as router;
use packet::{Batch, Packet};
use router::{
    Activity, Answer, Call, CallArg, Class, Classes, Clock, Config, ConfigError, Cx, Element, HandlerError,
    HandlerErrorKind, Handlers, Log, Merge, Options, Outcome, PerPacket, Pull, Residency, Response, Router,
    Simple, Step, Verdict,
};
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
        cx.log(&format!("{}{}", self.0, packet.data()[0]));
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
        cx.log(&std::mem::take(&mut self.tasks).to_string());
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

fn classes() -> Classes {
    Classes::new(CLASSES)
}

fn build_with(config: &str, options: Options) -> Result<Router, String> {
    let parsed = lang::parse(config, "config", &[]);
    assert!(!parsed.has_errors(), "{}", parsed.render_click());
    let layout =
        router::layout(parsed.graph, &classes(), options.workers).map_err(|e| lang::render_click(&e))?;
    let built = router::build(layout, config.to_owned(), &classes(), options);
    built.map(|(router, _)| router).map_err(|e| lang::render_click(&e))
}

fn options(workers: usize, vector: usize) -> Options {
    Options {
        workers,
        vector,
        clock: Clock::simulated(),
        log: Log::Memory(Default::default()),
        ..Options::default()
    }
}

fn run(config: &str, workers: usize, vector: usize) -> String {
    let mut router = build_with(config, options(workers, vector)).expect("a good configuration");
    router.run();
    router.info().log.text().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Packets of a batch leave together where they go the same way, in the order of the ways' first packets.
#[test]
fn batches_part_by_output() {
    let random = |length: usize, ways: &[u8]| -> String {
        (0..length).map(|_| char::from(ways[fastrand::usize(..ways.len())])).collect()
    };
    for round in 0..60 {
        fastrand::seed(round);
        let among = ["0", "1", "x", "01", "0x", "12", "012", "01x", "0123x"][round as usize % 9];
        let dealt = random(40, among.as_bytes());
        let says = (0..4).map(|output| format!("d[{output}] -> Say({output}-) -> Sink;")).collect::<String>();
        let mut expected = Vec::new();
        for batch in (0..dealt.len()).collect::<Vec<_>>().chunks(32) {
            let way = |packet: usize| &dealt[packet..=packet];
            let mut ways: Vec<&str> = Vec::new();
            for way in batch.iter().map(|&i| way(i)) {
                if !ways.contains(&way) {
                    ways.push(way);
                }
            }
            for the in ways.into_iter().filter(|&the| the != "x") {
                let these = batch.iter().filter(|&&i| way(i) == the);
                expected.extend(these.map(|i| format!("{the}-{i}")));
            }
        }
        let config = format!("Source(40) -> d :: Deal({dealt}); {says}");
        assert_eq!(run(&config, 1, 32), expected.join(" "), "{dealt}");
    }
}

/// Everything that follows from the first emission comes before the second, packet by packet in vectors of one.
#[test]
fn effects_come_in_the_order_of_nested_calls() {
    let config = "Source(2) -> t :: BackTee -> Say(a) -> Say(b) -> Sink; t[1] -> Say(x) -> Say(y) -> Sink";
    assert_eq!(run(config, 1, 1), "x0 y0 a0 b0 x1 y1 a1 b1");
    // Larger vectors keep the order on each path.
    let many = run(config, 1, 32);
    for label in ["a", "b", "x", "y"] {
        let path: Vec<_> = many.split(' ').filter(|word| word.starts_with(label)).collect();
        assert_eq!(path, [format!("{label}0"), format!("{label}1")]);
    }
}

/// A handler that a packet triggers takes effect on that packet and not on the one before, in any vector size.
#[test]
fn a_count_call_switches_the_path_of_its_own_packet() {
    let config =
        "Source(4) -> Trigger(3, CALL v.switch 1) -> v :: Valve -> Say(a) -> Sink; v[1] -> Say(b) -> Sink";
    for vector in [1, 2, 32] {
        assert_eq!(run(config, 1, vector), "a0 a1 b2 b3");
    }
}

/// Pulling n equals n single pulls: turns alternate packet by packet, through elements that say something on the way.
#[test]
fn a_burst_of_pulls_equals_single_pulls() {
    let paths = |text: String| {
        let of = |label: &str| text.split(' ').filter(|w| w.starts_with(label)).collect::<Vec<_>>().join(" ");
        [of("o"), of("a"), of("b"), of("c")]
    };
    let whole = |burst: usize, vector| {
        let config = format!(
            "Source(3, STOP false) -> s0 :: Store; Source(5, STOP false) -> s1 :: Store;
             s0 -> Say(a) -> [0]t :: Turns; s1 -> Say(b) -> Say(c) -> [1]t;
             t -> Pump({burst}) -> Say(o) -> Trigger(8, stop) -> Sink"
        );
        paths(run(&config, 1, vector))
    };
    let single = whole(1, 1);
    assert_eq!(single[0], "o0 o0 o1 o1 o2 o2 o3 o4");
    for (burst, vector) in [(3, 1), (8, 32), (64, 64)] {
        assert_eq!(whole(burst, vector), single);
    }
}

/// A loop in the graph neither overflows a stack nor keeps the turn from ending: another task still runs and stops it.
#[test]
fn a_loop_ends_its_turn() {
    let config = "Source(1, STOP false) -> m :: Merge -> t :: Trigger(50000, stop) -> [1]m";
    let mut router = build_with(config, options(1, 1)).expect("a good configuration");
    router.run();
    let count: u64 = router.call(Call::read("t.count", "")).unwrap().parse().unwrap();
    assert!((50_000..200_000).contains(&count), "{count}");
}

/// Both directions of a translation on two workers, with simulated and with real threads: replies find the mapping.
#[test]
fn a_translation_lives_on_two_workers() {
    let config = "Pins(p 1);
        Source(20, STOP false) -> [0]n :: Nat; n[0] -> r :: Ring -> p :: Pump(8) -> [1]n; n[1] -> Trigger(20, stop) -> s :: Sink";
    for clock in [Clock::simulated(), Clock::real()] {
        let mut router =
            build_with(config, Options { clock, ..options(2, 8) }).expect("a good configuration");
        assert_eq!(router.info().nodes[router.info().graph.find("n").unwrap()].workers, [0, 1]);
        router.run();
        assert_eq!(router.call(Call::read("s.count", "")).as_deref(), Ok("20"));
        assert_eq!(router.call(Call::read("n.drop_reasons", "")).as_deref(), Ok(""));
        assert!(router.call(Call::read("rcu", "")).unwrap().contains("\nbytes_waiting "));
    }
}

/// Elements on two workers read each other's handlers, nested eleven deep, and no worker waits for ever; both at once.
#[test]
fn mutual_calls_between_workers_do_not_deadlock() {
    let config =
        "Pins(b 1, q 1); a :: Caller(b.ask); b :: Caller(a.ask); p :: Caller(q.ask); q :: Caller(p.ask)";
    let mut stopped = build_with(config, options(2, 1)).expect("a good configuration");
    assert_eq!(stopped.call(Call::read("a.ask", "11")).as_deref(), Ok("11"));
    let mut running = build_with(config, Options { clock: Clock::real(), ..options(2, 1) }).expect("good");
    let handle = running.handle();
    std::thread::scope(|scope| {
        scope.spawn(|| running.run());
        let ask = |path: &'static str| {
            let handle = handle.clone();
            scope.spawn(move || (0..200).all(|_| handle.call(Call::read(path, "11")).as_deref() == Ok("11")))
        };
        let (a, b) = (ask("a.ask"), ask("b.ask"));
        assert!(a.join().unwrap() && b.join().unwrap());
        handle.stop();
    });
}

/// A handler may have a thread work on its answer, which may wait for all workers: these go on, and what called waits, on whichever worker it
/// is, also where the router does not run or time is simulated. A thread that fails is an error.
#[test]
fn a_thread_may_have_the_answer() {
    let config = "Pins(b 1); a :: Caller(b.wait); b :: Caller(a.wait); c :: Caller(a.ask)";
    let mut stopped = build_with(config, options(2, 1)).expect("a good configuration");
    let asked = |path, text: &str| Call::read(path, text);
    assert_eq!(stopped.call(asked("a.wait", "")).as_deref(), Ok("7"));
    assert_eq!(
        stopped.call(asked("c.ask", "2")).as_deref(),
        Ok("9"),
        "over another worker, and a computation"
    );
    let failed = stopped.call(asked("a.wait", "fail")).expect_err("it fails");
    assert!(failed.message.contains("an error of the program"), "{failed}");
    // Its workers would not be done with what they read before they are asked again.
    drop(stopped);
    for clock in [Clock::real(), Clock::simulated()] {
        let mut running = build_with(config, Options { clock, ..options(2, 1) }).expect("good");
        let handle = running.handle();
        std::thread::scope(|scope| {
            scope.spawn(|| running.run());
            let ask = |path: &'static str, text: &'static str, answer: &'static str| {
                let handle = handle.clone();
                scope.spawn(move || {
                    (0..50).all(|_| handle.call(Call::read(path, text)).as_deref() == Ok(answer))
                })
            };
            let asked = [ask("a.wait", "", "7"), ask("b.ask", "1", "8"), ask("c.ask", "2", "9")];
            assert!(asked.into_iter().all(|asked| asked.join().expect("an answer")));
            handle.stop();
        });
    }
}

/// An error says what kind it is, wherever the call came from.
#[test]
fn errors_of_calls_have_kinds() {
    let config = "s :: Source(1) -> t :: Trigger -> Sink; c :: Caller(nobody.ask)";
    let mut router = build_with(config, options(1, 1)).expect("good");
    let cases = [
        (Call::read("nobody.count", ""), HandlerErrorKind::NotFound),
        (Call::read("t.nothing", ""), HandlerErrorKind::NotFound),
        (Call::write("t.class", ""), HandlerErrorKind::NotFound),
        (Call::read("t.", ""), HandlerErrorKind::Invalid),
        (Call::read("t.count", "5"), HandlerErrorKind::Invalid),
        (Call::read("load", "7"), HandlerErrorKind::Invalid),
        (Call::write("t.count", "many"), HandlerErrorKind::Refused),
        (Call::write("s.tickets", "many"), HandlerErrorKind::Refused),
        // What another element's computation was answered.
        (Call::read("c.ask", "2"), HandlerErrorKind::NotFound),
    ];
    for (call, kind) in cases {
        let error = router.call(call.clone()).expect_err(&call.path);
        assert_eq!(error.kind, kind, "{call:?}: {error}");
    }
    router.run();
    let late = router.handle().call(Call::read("t.count", "")).expect_err("no worker answers");
    assert_eq!(late, HandlerError::stopped());
}

/// A namesake of the same class takes the state over; another class does not; a refusal leaves the old one as it was.
#[test]
fn a_namesake_takes_the_state_over() {
    let mut old =
        build_with("Source(5) -> t :: Trigger -> u :: Trigger -> Sink", options(1, 1)).expect("good");
    old.run();
    let count = |router: &mut Router| router.call(Call::read("t.count", ""));
    assert_eq!(count(&mut old).as_deref(), Ok("5"));
    for config in [
        "Source(1) -> t :: Trigger(0) -> u :: Trigger -> Sink",
        "Source(1) -> t :: Trigger -> u :: Trigger(0) -> Sink",
    ] {
        let mut refusing = build_with(config, options(1, 1)).expect("good");
        let error = refusing.take_over(&mut old).expect_err("refused");
        assert!(error.to_string().contains("cannot take over its state: this one"), "{error}");
        assert_eq!(count(&mut old).as_deref(), Ok("5"));
        assert_eq!(count(&mut refusing).as_deref(), Ok("0"), "no state has moved");
        assert_eq!(refusing.call(Call::read("u.told", "")).as_deref(), Ok("0"));
    }
    let mut new = build_with("Source(2) -> Say(n) -> t :: Trigger -> Sink", options(1, 1)).expect("good");
    new.take_over(&mut old).expect("taken over");
    new.run();
    assert_eq!(count(&mut new).as_deref(), Ok("7"));
    assert_eq!(new.call(Call::read("t.told", "")).as_deref(), Ok("1"));
}

/// The states of all instances arrive when an element gets other workers: fewer, more, others.
#[test]
fn states_arrive_where_the_workers_are_others() {
    let everywhere = "Everywhere(0) -> t :: Trigger -> Sink";
    let pinned = "s :: Source(0) -> t :: Trigger -> Sink; Pins(s 1)";
    let read = |router: &mut Router, handler: &str| router.call(Call::read(handler, "")).expect("a number");
    for (from, to) in [(everywhere, pinned), (pinned, everywhere)] {
        let mut old = build_with(from, options(3, 1)).expect("good");
        old.call(Call::write("t.count", "5")).expect("a count");
        let before: u64 = read(&mut old, "t.count").parse().expect("a number");
        assert!(before >= 5, "{from}: {before}");
        let mut new = build_with(to, options(3, 1)).expect("good");
        new.take_over(&mut old).expect("taken over");
        assert_eq!(read(&mut new, "t.count"), before.to_string(), "{from} -> {to}");
        let instances = if to == pinned { "1" } else { "3" };
        assert_eq!(read(&mut new, "t.told"), instances, "each is told once");
    }
}

/// A router that waits for a timer uses no processor; simulated time does not wait at all.
#[test]
fn idle_means_asleep() {
    let config = "Tick -> Say(t) -> s :: Sink; Source(1, STOP false) -> q :: Store -> Pump -> s2 :: Sink";
    let cpu = || {
        let t = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        t.tv_sec as u128 * 1_000_000_000 + t.tv_nsec as u128
    };
    let mut router = build_with(config, Options { clock: Clock::real(), ..options(1, 1) }).expect("good");
    let before = cpu();
    router.run(); // 400 ms
    assert!(cpu() - before < 200_000_000, "an idle router was busy for {} ns of 400 ms", cpu() - before);
    assert_eq!(run(config, 1, 1), "t9 t9");
}

/// A timer waits for a millisecond or two of tasks, not for as many as a turn can have, nor for as many as went by between two
/// looks at the clock while they were quick.
#[test]
fn timers_do_not_wait_for_slow_tasks() {
    let options = Options { clock: Clock::real(), ..options(1, 1) };
    let mut router = build_with("Slow", options).expect("a good configuration");
    router.run();
    let log = router.info().log.text();
    let tasks: Vec<u32> = log.split_whitespace().map(|word| word.parse().expect("a number")).collect();
    assert_eq!(tasks.len(), 10, "{log}");
    assert!(tasks[0] <= 32, "{} tasks of 0.2 ms before a timer that was due", tasks[0]);
    assert!(
        tasks[2..].iter().all(|tasks| *tasks <= 8),
        "{tasks:?} tasks of 0.2 ms between looks at the clock"
    );
}

/// What is wrong with ports is said in Click's words and order: first which do not exist, then which would have to be both push
/// and pull, then which are used twice or not at all. What comes later is not looked at before what comes first is right.
#[test]
fn port_errors() {
    let error = |config: &str| build_with(config, options(1, 1)).err().unwrap_or_default();
    for (config, expected) in [
        (
            "Source -> Pump -> s :: Sink",
            &["'Source@1 :: Source' push output 0 connected to 'Pump@2 :: Pump' pull input 0"][..],
        ),
        (
            "s :: Source -> Sink; s -> Sink;\ns -> Sink; q :: Store -> Pump -> Sink;\nq -> Pump -> Sink",
            &[
                "config:1: illegal reuse of 's :: Source' push output 0",
                "config:1: illegal reuse of 's :: Source' push output 0",
                "config:2: 'q :: Store' input 0 unused",
            ],
        ),
        (
            "Source ->\n[3]s :: Sink; s [2]\n-> [1] s; Source -> Pump",
            &[
                "config:2: 's :: Sink' has no input 1",
                "config:2: 's :: Sink' has no output 2",
                "config:2: 's :: Sink' has no input 3",
            ],
        ),
        (
            "Source -> m :: Say -> Pump -> Sink",
            &["agnostic 'm :: Say' in mixed context: push input 0, pull output 0"],
        ),
        (
            "Source -> m :: Say -> n :: Say -> Pump",
            &["'m :: Say' push output 0 connected to 'n :: Say' pull input 0"],
        ),
    ] {
        assert_eq!(error(config), expected.join("\n") + "\n", "{config}");
    }
}

/// However long a chain is that has to be both, it ends, and with an error.
#[test]
fn long_chain_of_both() {
    let elements: Vec<String> = (0..2_000).map(|i| format!("s{i} :: Say")).collect();
    let chain: Vec<String> = (0..2_000).rev().map(|i| format!("s{i}")).collect();
    let config = format!("{}; Source -> {} -> Pump", elements.join("; "), chain.join(" -> "));
    let error = build_with(&config, options(1, 1)).err().unwrap_or_default();
    assert_eq!(error.matches(" output 0").count(), 1, "{error}");
}

/// Tasks that reach a common exclusive element share a worker, and the plan says why.
#[test]
fn exclusive_elements_pull_tasks_together() {
    let parsed = lang::parse(
        "Pins(a 1); a :: Source -> q :: Store; b :: Source -> q; q -> Pump -> Sink; c :: Source -> Sink",
        "config",
        &[],
    );
    let layout =
        router::layout(parsed.graph, &classes(), 2).unwrap_or_else(|e| panic!("{}", lang::render_click(&e)));
    let of = |name: &str| layout.placement.workers[layout.graph.find(name).unwrap()].clone();
    assert_eq!((of("a"), of("b"), of("q"), of("c")), (vec![1], vec![1], vec![1], vec![0]));
    assert!(!layout.placement.merged.is_empty());
}
