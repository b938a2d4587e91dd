//! Packets that come before their association, through the element: what happens at which time, and what comes of it.

use super::early::{MOST, PATIENCE_NS};
use super::text;
use crate::testing::{library, send};
use elements_shared::ipsec_port::{Change, IpsecFeed, Port};
use elements_testing::{build_at, run_to_end, samples};
use packet::Batch;
use proptest::prelude::*;
use router::{
    Activity, Call, Class, Classes, Clock, Config, ConfigError, Cx, Element, Residency, Resources, Router,
};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// What happens.
#[derive(Clone, Debug)]
enum Event {
    /// A packet comes.
    Packet(Vec<u8>),
    /// An association with this number is there.
    Bring(u32),
    Stop,
}

/// What is to happen, at which millisecond, and the packets that came through, each with its millisecond.
#[derive(Default)]
struct Play {
    events: Mutex<VecDeque<(i64, Event)>>,
    came: Mutex<Vec<(i64, Vec<u8>)>>,
}

const STORY: Class = Class::new("Story", story)
    .ports("0/1")
    .processing("/h")
    .residency(Residency::Exclusive)
    .activity(Activity::Always)
    .makes("packets");
const END: Class =
    Class::new("End", end).ports("1/0").processing("h/").residency(Residency::Exclusive).absorbs("packets");

struct Story {
    play: Arc<Play>,
    feed: Option<Box<dyn IpsecFeed>>,
}

struct End(Arc<Play>);

fn play(config: &Config<'_>) -> Result<Arc<Play>, ConfigError> {
    Ok(config.resource::<Arc<Play>>().ok_or("nothing is to happen")?.clone())
}

fn story(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(Story { play: play(config)?, feed: None }))
}

fn end(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(End(play(config)?)))
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// The association with a number, as an argument has it.
fn association(spi: u32) -> String {
    format!("192.0.2.1 198.51.100.1 {spi} aes-gcm key 00112233445566778899aabbccddeeff01020304")
}

/// The millisecond that it is.
fn now(cx: &Cx<'_>) -> i64 {
    cx.now_ns() / 1_000_000
}

impl Element for Story {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.feed = Some(Port::of(cx, "e")?.join());
        let start = now(cx);
        self.play.events.lock().expect("no panic").iter_mut().for_each(|(time, _)| *time += start);
        cx.timers().at_once(0);
        Ok(())
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        let mut events = self.play.events.lock().expect("no panic");
        let mut batch = cx.batch();
        while let Some((_, event)) = events.pop_front_if(|(time, _)| *time <= now(cx)) {
            match event {
                Event::Packet(data) => {
                    if batch.len() >= cx.vector() {
                        let next = cx.batch();
                        cx.emit(0, std::mem::replace(&mut batch, next));
                    }
                    batch.push(cx.pool().packet(&data).expect("it fits"));
                }
                Event::Bring(spi) => {
                    let of = text::association(&words(&association(spi)), 0, true).expect("an association");
                    let feed = self.feed.as_mut().expect("initialised");
                    assert_eq!(feed.apply(vec![Change::Associate(Box::new(of))]), vec![]);
                }
                Event::Stop => cx.info().please_stop(),
            }
        }
        cx.emit(0, batch);
        if let Some((time, _)) = events.front() {
            cx.timers().at(0, time * 1_000_000);
        }
    }
}

impl Element for End {
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) {
        let time = now(cx);
        let mut came = self.0.came.lock().expect("no panic");
        batch.drain(|packet| came.push((time, packet.data().to_vec())));
        cx.consume(batch);
    }
}

/// So many packets, each of another length than any of the associations before and behind it has, and as the association with a number protects them.
fn protected(spi: u32, count: usize) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let plain: Vec<Vec<u8>> = (0..count).map(|at| samples::udp(3 * at + spi as usize % 3)).collect();
    let config = format!(
        "Inject -> e :: IPsec(SA {}, POLICY out 0.0.0.0/0 0.0.0.0/0 protect 192.0.2.1 198.51.100.1);
         Idle -> [1]e; e[0] -> Collect(0); e[1] -> Discard",
        association(spi)
    );
    let sent = send(&config, plain.clone()).data(0);
    (plain, sent)
}

/// A router with the gateway `e`, in which these things will happen.
fn prepared(mut events: Vec<(i64, Event)>, vector: usize) -> (Router, Arc<Play>) {
    events.sort_by_key(|(time, _)| *time);
    let play = Arc::new(Play { events: Mutex::new(events.into()), ..Play::default() });
    let mut resources = Resources::default();
    resources.insert(play.clone());
    let known = library();
    let known = Classes::new(known.iter().chain([&STORY, &END]));
    let config = "Story -> [1]e :: IPsec(POLICY in 0.0.0.0/0 0.0.0.0/0 protect 192.0.2.1 198.51.100.1);
                  Idle -> e; e[0] -> Discard; e[1] -> End";
    let router = build_at(&known, config, 1, vector, Clock::simulated(), resources).expect("a configuration");
    (router, play)
}

/// What came, each with its millisecond since the beginning; why packets were dropped; and how many wait.
fn run(events: Vec<(i64, Event)>, vector: usize) -> (Vec<(i64, Vec<u8>)>, u64, String) {
    let (mut router, play) = prepared(events, vector);
    let start = play.events.lock().expect("no panic").front().map_or(0, |(time, _)| *time);
    run_to_end(&mut router);
    let waiting = router.call(Call::read("e.waiting", "")).expect("a handler");
    let drops = router.drops();
    assert!(drops.iter().all(|(_, reason, _)| *reason == "no such association"), "{drops:?}");
    let came = std::mem::take(&mut *play.came.lock().expect("no panic"));
    let came = came.into_iter().map(|(time, data)| (time - start, data)).collect();
    (came, drops.iter().map(|(_, _, count)| count).sum(), waiting)
}

/// How late it is noticed that a packet need not wait any more, in milliseconds; how long each waits at least, and none longer.
const LATE: i64 = 6;
const PATIENCE_LEAST: i64 = PATIENCE - LATE;
const PATIENCE_MOST: i64 = PATIENCE + LATE;
const PATIENCE: i64 = PATIENCE_NS / 1_000_000;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    /// Packets of three associations, which come at some time or never: each packet that need not wait too long comes through once, when it can, and in
    /// order; the others are dropped and counted.
    #[test]
    fn what_is_early_comes_through(
        times in prop::collection::vec(prop::collection::vec(0i64..3000, 0..12), 3),
        brought in prop::collection::vec(prop::option::weighted(0.8, 0i64..3000), 3),
        vector in prop::sample::select(vec![1usize, 4, 32]),
    ) {
        // The beginning is that of the first event.
        let mut events = vec![(0, Event::Bring(9999)), (5000, Event::Stop)];
        let mut expected = Vec::new();
        for ((number, times), brought) in (1000u32..).zip(&times).zip(&brought) {
            let mut times = times.clone();
            times.sort_unstable();
            let (plain, sent) = protected(number, times.len());
            events.extend(times.iter().copied().zip(sent.into_iter().map(Event::Packet)));
            events.extend(brought.map(|time| (time, Event::Bring(number))));
            expected.push((times, *brought, plain));
        }
        let sent: usize = times.iter().map(Vec::len).sum();
        let (came, dropped, waiting) = run(events, vector);
        prop_assert_eq!((came.len() + dropped as usize, waiting.as_str()), (sent, "0"));
        for (times, brought, plain) in expected {
            let mut least = None;
            for (time, data) in times.iter().zip(plain) {
                let can = brought.map(|brought| brought.max(*time));
                let places: Vec<usize> = (0..came.len()).filter(|&at| came[at].1 == data).collect();
                match (can.map_or(i64::MAX, |can| can - time), &places[..]) {
                    (PATIENCE_LEAST..=i64::MAX, []) => {}
                    (..=PATIENCE_MOST, &[place]) => {
                        let late = came[place].0 - can.unwrap_or_default();
                        prop_assert!((0..=LATE).contains(&late), "{} ms late", late);
                        prop_assert!(least < Some(place), "out of order");
                        least = Some(place);
                    }
                    (wait, _) => prop_assert!(false, "{:?} for a packet that waits {} ms", places, wait),
                }
            }
        }
    }
}

/// Packets of associations that there will never be take the room of 256 and no more, for a second, and are counted; then there is room again.
#[test]
fn a_flood_is_bounded() {
    let (_, sent) = protected(1000, 1);
    let stranger = |number: u32| {
        let mut packet = sent[0].clone();
        packet[20..24].copy_from_slice(&(0x10_0000 + number).to_be_bytes());
        Event::Packet(packet)
    };
    for (end, dropped, waiting) in
        [(PATIENCE_LEAST, 1000 - MOST as u64, MOST.to_string()), (PATIENCE_MOST, 1000, "0".to_owned())]
    {
        let mut events: Vec<_> = (0..1000).map(|number| (0, stranger(number))).collect();
        events.push((end, Event::Stop));
        let (came, drops, left) = run(events, 32);
        assert_eq!((came.len(), drops, left), (0, dropped, waiting), "{end}");
    }
    let mut events: Vec<_> = (0..1000).map(|number| (0, stranger(number))).collect();
    events.extend([
        (PATIENCE + 100, Event::Packet(sent[0].clone())),
        (PATIENCE + 200, Event::Bring(1000)),
        (PATIENCE + 300, Event::Stop),
    ]);
    let (came, drops, _) = run(events, 32);
    assert_eq!((came.len(), drops), (1, 1000));
}

/// What waits goes along to another configuration.
#[test]
fn a_swap_takes_along_what_waits() {
    let (plain, sent) = protected(1000, 3);
    let events = sent.into_iter().map(|data| (0, Event::Packet(data))).chain([(10, Event::Stop)]);
    let (mut old, before) = prepared(events.collect(), 8);
    old.run();
    let (mut new, play) = prepared(vec![(20, Event::Bring(1000)), (50, Event::Stop)], 8);
    new.take_over(&mut old).expect("taken over");
    assert_eq!(new.call(Call::read("e.waiting", "")).expect("a handler"), "3");
    new.run();
    let came = |play: &Play| -> Vec<Vec<u8>> {
        play.came.lock().expect("no panic").iter().map(|(_, data)| data.clone()).collect()
    };
    assert_eq!((came(&before), came(&play)), (vec![], plain));
    elements_testing::assert_balanced(&new);
}
