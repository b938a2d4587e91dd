//! Elements that lose, double, make or hide packets are found, whatever they say of themselves.

use clique_router as router;
use packet::{Batch, Packet};
use router::{
    Activity, Balance, Call, Class, Classes, Clock, Config, ConfigError, Cx, Element, Entry, Fault, Handlers,
    Log, Options, PerPacket, Pull, Router, Simple, Verdict,
};
use std::any::Any;
use std::collections::VecDeque;

type Made = Result<Box<dyn Element>, ConfigError>;

/// Source(N): emits N packets, then stops the driver.
struct Source(u64);

fn source(config: &mut Config<'_>) -> Made {
    let mut packets = 0;
    config.args().positional("N", &mut packets).finish()?;
    Ok(Box::new(Source(packets)))
}

impl Element for Source {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.tasks().schedule();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        let mut batch = cx.batch();
        while !batch.is_full() && self.0 > 0 {
            batch.push(cx.pool().packet(&[self.0 as u8]).expect("memory"));
            self.0 -= 1;
        }
        cx.emit(0, batch);
        if self.0 == 0 {
            cx.info().please_stop();
        } else {
            cx.tasks().schedule();
        }
    }
}

/// Takes every packet, and drops it without a reason if it is told to.
struct Sink;

impl Element for Sink {
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        cx.consume(batch);
    }
}

/// What is done to each fourth packet.
#[derive(Clone, Copy)]
enum Deed {
    Drop,
    Lose,
    Forget,
    Copy,
    Keep,
}

/// Does something to each packet whose number is a multiple of four, and keeps what it keeps.
struct Does {
    deed: Deed,
    kept: VecDeque<Packet>,
    says: bool,
}

impl Does {
    fn make(deed: Deed, says: bool) -> Made {
        Ok(Box::new(Does { deed, kept: VecDeque::new(), says }))
    }
}

impl Element for Does {
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) {
        let mut out = cx.batch();
        let mut copies = cx.batch();
        batch.drain(|packet| match self.deed {
            _ if packet.data()[0] % 4 != 0 => out.push(packet),
            Deed::Drop => cx.drop(packet, "as it was told"),
            Deed::Lose => cx.pool().free(packet),
            Deed::Forget => drop(packet),
            Deed::Keep => self.kept.push_back(packet),
            Deed::Copy => {
                copies.push(cx.pool().copy(&packet).expect("memory"));
                out.push(packet);
            }
        });
        cx.consume(batch);
        cx.emit(0, out);
        cx.emit(0, copies);
    }

    fn held(&self) -> usize {
        if self.says { self.kept.len() } else { 0 }
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(std::mem::take(&mut self.kept)))
    }

    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        self.kept = *state.downcast().expect("its own");
    }

    fn handlers(&self, h: &mut Handlers) {
        h.write("forget", |e: &mut Does, _, _| {
            e.kept.clear();
            Ok::<(), String>(())
        });
    }
}

/// Passes, drops or misdirects packets one at a time.
struct Deal;

impl Simple for Deal {
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        match packet.data()[0] % 4 {
            0 => Verdict::Drop("every fourth"),
            1 => Verdict::Output(1),
            2 => Verdict::Output(7),
            _ => Verdict::Pass,
        }
    }
}

/// Asks for packets until there are none, and lets the worker have what it gets.
struct Puller;

impl Element for Puller {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.tasks().schedule();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        cx.ask(0, 8);
        cx.tasks().schedule();
    }
}

/// Answers each request with a packet of its own, ten times.
struct Well(u64);

impl Element for Well {
    fn pull(&mut self, cx: &mut Cx<'_>, _port: usize, _want: usize) -> Pull {
        if self.0 == 10 {
            cx.info().please_stop();
            return Pull::Nothing;
        }
        self.0 += 1;
        let packet = cx.pool().packet(&[1]).expect("memory");
        Pull::Give(cx.pool().batch_of(packet))
    }
}

const SOURCE: Class =
    Class::new("Source", source).ports("0/1").processing("/h").activity(Activity::Always).makes("packets");
const SINK: Class = Class::new("Sink", |_| Ok(Box::new(Sink))).ports("1/0").processing("h/").absorbs("all");
const HOLE: Class = Class::new("Hole", |_| Ok(Box::new(Sink))).ports("1/0").processing("h/");
const DROPS: Class = Class::new("Drops", |_| Does::make(Deed::Drop, true)).processing("h/h");
const LOSES: Class = Class::new("Loses", |_| Does::make(Deed::Lose, true)).processing("h/h");
const FORGETS: Class = Class::new("Forgets", |_| Does::make(Deed::Forget, true)).processing("h/h");
const COPIES: Class = Class::new("Copies", |_| Does::make(Deed::Copy, true)).processing("h/h");
const COPIES_RIGHTLY: Class = Class { name: "CopiesRightly", ..COPIES }.copies();
const KEEPS: Class = Class::new("Keeps", |_| Does::make(Deed::Keep, true)).processing("h/h");
const KEEPS_RIGHTLY: Class = Class { name: "KeepsRightly", ..KEEPS }.holds("each fourth");
const HIDES: Class =
    Class::new("Hides", |_| Does::make(Deed::Keep, false)).processing("h/h").holds("each fourth");
const DEAL: Class = Class::new("Deal", |_| Ok(Box::new(PerPacket(Deal)))).ports("1/2").processing("h/h");
const PULLER: Class =
    Class::new("Puller", |_| Ok(Box::new(Puller))).ports("1/0").processing("l/").activity(Activity::Always);
const WELL: Class =
    Class::new("Well", |_| Ok(Box::new(Well(0)))).ports("0/1").processing("/l").makes("packets");

static CLASSES: &[&Class] = &[
    &SOURCE,
    &SINK,
    &HOLE,
    &DROPS,
    &LOSES,
    &FORGETS,
    &COPIES,
    &COPIES_RIGHTLY,
    &KEEPS,
    &KEEPS_RIGHTLY,
    &HIDES,
    &DEAL,
    &PULLER,
    &WELL,
];

fn build(config: &str, counted: bool, vector: usize) -> Router {
    let parsed = lang::parse(config, "config", &[]);
    assert!(!parsed.has_errors(), "{}", parsed.render_click());
    let known = Classes::new(CLASSES.iter().copied());
    let layout = router::layout(parsed.graph, &known, 1).expect("a layout");
    let log = Log::Memory(Default::default());
    let options = Options { vector, clock: Clock::simulated(), log, counted, ..Options::default() };
    router::build(layout, config.to_owned(), &known, options).expect("a router").0
}

/// What is wrong with a configuration's packets, vectors of 1 and of 32 alike; and what became of them.
fn faults(config: &str) -> (Vec<(String, Fault)>, Balance) {
    let [one, many] = [1, 32].map(|vector| {
        let mut router = build(config, true, vector);
        router.run();
        let balance = router.balance();
        let found = balance.check().err().unwrap_or_default().into_iter();
        let found: Vec<_> =
            found.map(|imbalance| (imbalance.entry.name, imbalance.fault.expect("it counts"))).collect();
        (found, balance)
    });
    assert_eq!(one.0, many.0, "the vector size changes what is wrong");
    many
}

fn entry<'b>(balance: &'b Balance, name: &str) -> &'b Entry {
    balance.elements.iter().find(|entry| entry.name == name).expect("an element of that name")
}

#[test]
fn what_conserves_packets_is_right() {
    for middle in ["Drops", "CopiesRightly", "KeepsRightly", "d :: Deal -> Sink; d [1]"] {
        let (found, balance) = faults(&format!("Source(102) -> {middle} -> s :: Sink"));
        assert!(found.is_empty(), "{middle}: {found:?}");
        let total = balance.total();
        assert_eq!(total.made, total.absorbed + total.drops() + total.held, "{middle}");
    }
}

#[test]
fn what_does_not_is_named() {
    for (middle, fault) in [
        ("Loses", Fault::Lost(25)),
        ("Forgets", Fault::Lost(25)),
        ("Copies", Fault::Made(25)),
        ("Keeps", Fault::Kept(25)),
        ("Hides", Fault::Held(25)),
    ] {
        let (found, balance) = faults(&format!("Source(102) -> wrong :: {middle} -> Sink"));
        assert_eq!(found, [("wrong".to_owned(), fault)]);
        let text = balance.check().expect_err("it is wrong")[0].to_string();
        assert!(text.starts_with(&format!("wrong ({middle}) ")) && text.contains("102 arrived"), "{text}");
    }
    assert_eq!(faults("Source(102) -> h :: Hole").0, [("h".to_owned(), Fault::Lost(102))]);
}

/// Figures that a person can follow.
#[test]
fn figures_say_what_became_of_packets() {
    let (_, balance) = faults("Source(102) -> d :: Deal -> Sink; d [1] -> Loses -> Sink");
    let deal = entry(&balance, "d");
    let figures = "102 arrived + 0 made + 0 taken over = 51 left + 26 dropped (no such output) + 25 dropped \
                   (every fourth) + 0 ended + 0 given away + 0 held";
    let mut dropped = deal.dropped.clone();
    dropped.sort_unstable_by_key(|&(_, packets)| std::cmp::Reverse(packets));
    assert_eq!(Entry { dropped, ..deal.clone() }.to_string(), figures);
}

/// What handlers do to packets counts, too.
#[test]
fn packets_that_a_handler_loses_are_missed() {
    let mut router = build("Source(40) -> k :: KeepsRightly -> Sink", true, 32);
    router.run();
    assert!(router.balance().check().is_ok());
    router.call(Call::write("k.forget", "")).expect("done");
    let found = router.balance().check().expect_err("ten are lost");
    assert_eq!((found.len(), found[0].fault), (1, Some(Fault::Lost(10))));
}

#[test]
fn what_is_asked_for_and_not_wanted_is_dropped() {
    let (found, balance) = faults("w :: Well -> p :: Puller");
    assert!(found.is_empty(), "{found:?}");
    assert_eq!((entry(&balance, "p").arrived, balance.astray), (10, 10));
}

/// Swaps: what one gave away the other holds.
#[test]
fn what_one_hands_over_the_next_holds() {
    let swap = |first: &str, second: &str| {
        let [mut old, mut new] =
            [first, second].map(|middle| build(&format!("Source(40) -> k :: {middle} -> Sink"), true, 32));
        old.run();
        new.take_over(&mut old).expect("it fits");
        let before = old.balance();
        assert!(before.check().is_ok());
        new.run();
        (new.balance(), before)
    };
    let (new, old) = swap("KeepsRightly", "KeepsRightly");
    assert!(new.check().is_ok() && new.check_swap(&old).is_ok());
    assert_eq!((entry(&new, "k").taken, entry(&old, "k").given), (10, 10));
    // The new one has no place for them: they end with the old one, which is what was asked for.
    let (new, old) = swap("KeepsRightly", "Drops");
    assert!(new.check().is_ok() && new.check_swap(&old).is_ok());
    assert_eq!((entry(&new, "k").taken, entry(&old, "k").held), (0, 10));
}

#[test]
fn a_router_that_does_not_count_says_so() {
    let mut router = build("Source(4) -> Sink", false, 32);
    router.run();
    let found = router.balance().check().expect_err("nothing is known");
    assert_eq!((found.len(), found[0].fault), (1, None));
    let mut counting = build("Source(4) -> Sink", true, 32);
    assert!(counting.take_over(&mut router).is_err());
}
