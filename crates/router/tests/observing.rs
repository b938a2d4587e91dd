//! Traces, captures, explanations, examples of drops: what they see, and that nothing else changes by them.

use clique_router as router;
use packet::{Batch, Packet};
use router::{
    Activity, Class, Classes, Clock, ConfigError, Cx, Decision, Edge, Element, Filter, Handlers, Log, Look,
    Observer, Options, PerPacket, Router, Scope, Simple, Then, Verdict, What,
};
use std::sync::Arc;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(3_600);

/// Sends forty packets, numbered, a batch of four each millisecond.
struct Numbers(u8);

impl Element for Numbers {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.timers().at_once(0);
        Ok(())
    }

    fn timer(&mut self, cx: &mut Cx<'_>, key: u32) {
        let mut batch = cx.batch();
        for _ in 0..4 {
            batch.push(cx.pool().packet(&[self.0, 7]).expect("memory"));
            self.0 += 1;
        }
        cx.emit(0, batch);
        if self.0 < 40 { cx.timers().after(key, Duration::from_millis(1)) } else { cx.info().please_stop() }
    }
}

/// Drops odd numbers, and says so beforehand.
struct Even(u64);

impl Simple for Even {
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        self.0 += 1;
        if packet.data()[0].is_multiple_of(2) { Verdict::Pass } else { Verdict::Drop("odd") }
    }

    fn explain(&self, _look: &Look<'_>, packet: &mut Packet) -> Option<Decision> {
        let is_even = packet.data()[0].is_multiple_of(2);
        Some(Decision::new(if is_even { Then::Output(0) } else { Then::Drop("odd") }, "by its number"))
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("count", |e: &mut Even, _| e.0);
    }
}

/// Takes the first byte away.
struct Cut;

impl Simple for Cut {
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let _ = packet.pull(1);
        Verdict::Pass
    }
}

/// Sends a packet of its own for each.
struct Echo;

impl Element for Echo {
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        let made: Vec<Packet> =
            batch.iter().map(|_| ()).map(|()| cx.pool().packet(&[99]).expect("memory")).collect();
        cx.emit(0, batch);
        made.into_iter().for_each(|packet| cx.emit_packet(1, packet));
    }
}

struct Sink;

impl Element for Sink {
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        cx.consume(batch);
    }
}

static CLASSES: &[Class] = &[
    Class::new("Numbers", |_| Ok(Box::new(Numbers(0))))
        .ports("0/1")
        .processing("a/h")
        .activity(Activity::Always)
        .makes("packets"),
    Class::new("Even", |_| Ok(Box::new(PerPacket(Even(0))))).processing("h/h"),
    Class::new("Cut", |_| Ok(Box::new(PerPacket(Cut)))).processing("h/h").pure(),
    Class::new("Echo", |_| Ok(Box::new(Echo))).ports("1/2").processing("h/h").makes("packets"),
    Class::new("Sink", |_| Ok(Box::new(Sink))).ports("1/0").processing("h/h").absorbs("all"),
];

/// Filters by the first byte: the numbers below the one that is said.
fn below(text: &str, _scope: Scope<'_>) -> Result<Filter, String> {
    let limit: u8 = text.parse().map_err(|_| format!("'{text}' is no number"))?;
    Ok(Arc::new(move |packet: &Packet| packet.data()[0] < limit))
}

const CONFIG: &str = "n :: Numbers -> e :: Even -> c :: Cut -> m :: Echo -> s :: Sink; m[1] -> t :: Sink";

fn build() -> Router {
    let known = Classes::new(CLASSES).with_filters(below);
    let layout = router::layout(lang::parse(CONFIG, "config", &[]).graph, &known, 1).expect("a layout");
    let options = Options {
        clock: Clock::simulated(),
        log: Log::Stderr,
        counted: true,
        vector: 4,
        ..Options::default()
    };
    router::build(layout, CONFIG.to_owned(), &known, options).expect("a router").0
}

fn element(router: &Router, name: &str) -> usize {
    router.info().find(name, None).expect("an element")
}

fn assert_conserved(router: &mut Router) {
    let drops: Vec<_> = router.drops().into_iter().map(|(_, reason, packets)| (reason, packets)).collect();
    assert_eq!(drops, [("odd", 20)]);
    assert_eq!(router.call(router::Call::read("e.count", "")).expect("a count"), "40");
    router.balance().check().expect("as many packets as there were");
}

/// The way of each packet, with its copies and what was made because of it, step by step; others are not told of.
#[test]
fn a_trace_follows_packets() {
    let mut router = build();
    let observer = Observer::new(router.handle());
    assert!(observer.trace("x", 1, LONG).is_err());
    let trace = observer.trace("10", 3, LONG).expect("a trace");
    assert!(observer.trace("10", 3, LONG).is_err(), "one at a time");
    // It begins with the turn after the message: the first four packets have gone.
    router.run();
    let mut ways = vec![String::new(); 3];
    while let Some(step) = trace.next() {
        let name = &router.info().nodes[step.element].name;
        let what = match step.what {
            What::Starts => "+".to_owned(),
            What::Arrives { port, because } => format!("[{port}]{}", because.unwrap_or_default()),
            What::Dropped(reason) => format!("!{reason}"),
            What::Kept => "k".to_owned(),
            What::Ends => ".".to_owned(),
        };
        ways[step.packet as usize] += &format!("{name}{what}{:?} ", step.view.bytes);
    }
    let even = |number: u8| {
        format!(
            "n+[{number}, 7] e[0]by its number[{number}, 7] c[0][{number}, 7] m[0][7] s[0][7] s.[7] t[0][99] t.[99] "
        )
    };
    let odd = "n+[5, 7] e[0]by its number[5, 7] e!odd[5, 7] ".to_owned();
    assert_eq!(ways, [even(4), odd, even(6)]);
    assert_eq!((trace.begun(), trace.lost(), trace.is_full()), (3, 0, true));
    assert_conserved(&mut router);
}

/// What leaves an output and what arrives at an input, and nothing more once the capture is over; a second capture of an edge sees the same.
#[test]
fn captures_see_edges() {
    let mut router = build();
    let observer = Observer::new(router.handle());
    let edge = |name: &str, input: bool, port: usize| Edge { element: element(&router, name), input, port };
    let capture = |edge, filter: &str| observer.capture(edge, filter, 1, LONG).expect("a capture");
    let (out, into) = (capture(edge("e", false, 0), ""), capture(edge("c", true, 0), "10"));
    let (made, gone) = (capture(edge("m", false, 1), ""), capture(edge("s", true, 0), ""));
    assert!(observer.capture(edge("m", false, 2), "", 1, LONG).is_err());
    router.run_rounds(2);
    drop(gone);
    let mut seen = 0;
    while let Some(view) = made.next() {
        assert_eq!((view.bytes, view.len), (vec![99], 1));
        seen += 1;
    }
    router.run();
    assert!(seen > 0 && made.counts().0 == 20);
    assert_eq!((out.counts(), into.counts()), ((20, 0), (5, 0)));
    let first = into.next().expect("a packet");
    assert_eq!((first.bytes, first.len), (vec![0], 2));
    drop((out, into, made));
    assert_conserved(&mut router);
}

/// An explanation goes on as far as elements say what they would do, or are pure; nothing has changed afterwards.
#[test]
fn an_explanation_changes_nothing() {
    let mut router = build();
    let (n, e) = (element(&router, "n"), element(&router, "e"));
    let mut told = |bytes: &[u8], element, input| {
        let way = router.explain(bytes, element, input).expect("a way");
        let step = |step: &router::Explained| {
            let said =
                step.decision.as_ref().map(|decision| (decision.then.clone(), decision.because.clone()));
            (router.info().nodes[step.element].name.clone(), step.view.bytes.clone(), said)
        };
        way.steps.iter().map(step).collect::<Vec<_>>()
    };
    let by = |then| Some((then, "by its number".to_owned()));
    let is = |name: &str, bytes: &[u8], said| (name.to_owned(), bytes.to_vec(), said);
    assert_eq!(told(&[3], e, Some(0)), [is("e", &[3], by(Then::Drop("odd")))]);
    let out = |because: &str| Some((Then::Output(0), because.to_owned()));
    let expected = [
        is("n", &[4, 5], out("receives it")),
        is("e", &[4, 5], by(Then::Output(0))),
        is("c", &[4, 5], out("")),
        is("m", &[5], None),
    ];
    assert_eq!(told(&[4, 5], n, None), expected);
    router.run();
    assert_conserved(&mut router);
}

/// The first packet that is dropped for a reason is kept as an example, without being asked for; later ones take its place when asked.
#[test]
fn drops_have_examples() {
    let mut router = build();
    let handle = router.handle();
    router.run_rounds(2);
    let report = std::thread::scope(|scope| {
        let asked = scope.spawn(|| Observer::new(handle).drops().expect("a report"));
        while !asked.is_finished() {
            router.run_rounds(1);
        }
        asked.join().expect("an answer")
    });
    let [dropped] = &report[..] else { panic!("{report:?}") };
    let sample = dropped.sample.as_ref().expect("an example");
    assert_eq!((dropped.reason, sample.bytes.clone()), ("odd", vec![1, 7]));
}
