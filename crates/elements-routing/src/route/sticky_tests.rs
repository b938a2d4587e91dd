//! What is promised of flows while next hops change.

use super::super::family::{Gateway4, V4};
use super::super::target::Target;
use super::super::waiting::Shared;
use super::*;
use elements_shared::flow_hash::Fields;
use elements_shared::keyed_hash::HashKey;
use flows::V4Tuple;
use proptest::prelude::*;
use std::collections::{BTreeSet, HashMap};
use std::net::Ipv4Addr;
use std::sync::Arc;

#[path = "sticky_copy_tests.rs"]
mod copied;

const SECOND: i64 = 1_000_000_000;
/// As long as the table's clock has steps.
const TIMEOUT: i64 = 30 << 30;

fn hash() -> Flows {
    Flows { key: HashKey::new(3), fields: Fields::Ports }
}

fn sticky(flows: usize) -> Sticky<V4> {
    workers(1, flows).remove(0)
}

/// Where packets come from when there are so many workers.
fn feeds(workers: usize) -> Feeds {
    let router = crate::testing::build(&format!("s{workers} :: Idle -> Discard;"), 1, 1).expect("a router");
    Feeds::of(router.info(), 1)
}

/// The tables of an element's instances.
fn workers(number: usize, flows: usize) -> Vec<Sticky<V4>> {
    workers_of(&Arc::new(Shared::new(number)), number, flows)
}

/// The same with flows that wait.
fn workers_of(shared: &Arc<Shared<V4>>, number: usize, flows: usize) -> Vec<Sticky<V4>> {
    let (feeds, timeout) = (feeds(number), Duration::from_nanos(TIMEOUT as u64));
    let place = |worker| Place { worker, workers: (0..number).collect(), feeds: feeds.clone() };
    let waiting = |worker| Waiting::new(Arc::clone(shared), place(worker), timeout);
    (0..number).map(|worker| Sticky::new(flows, timeout, 0, &hash(), waiting(worker))).collect()
}

/// Has one configuration's tables take over from another's, as a router does: each from that of its worker, and those left over from the rest.
fn take_over(new: &mut [Sticky<V4>], old: &mut [Sticky<V4>], now_ns: i64) -> usize {
    let number = new.len();
    for (at, table) in old.iter_mut().enumerate() {
        new[at % number].adopt(table.give(), true, now_ns);
    }
    new.iter_mut().map(|table| table.settle(now_ns)).sum()
}

fn tuple(flow: u32) -> V4Tuple {
    V4Tuple::new((flow.into(), 0x0a00_0001.into()), (7, 9), 17, 0)
}

fn hop(number: u32) -> Hop<Gateway4> {
    Hop { gateway: Gateway4::Near(Ipv4Addr::from(0x0a00_0000 | number)), port: number }
}

/// Next hops and their weights.
type Hops = Vec<(u32, u32)>;

fn forwarding(hops: &Hops) -> Forwarding<V4> {
    Forwarding::to(&Target::of(hops.iter().map(|&(number, weight)| (hop(number), weight))))
}

impl Sticky<V4> {
    /// Where a packet of a flow goes.
    fn send(&mut self, flow: u32, now_ns: i64, forwarding: &Forwarding<V4>) -> Option<u32> {
        let tuple = tuple(flow);
        self.catch_up();
        self.at_hand.clear();
        let hash = self.table.hash(&tuple);
        self.expire(now_ns, LOOKS);
        self.at_hand.push(AtHand { hash, guess: self.table.guessed(hash), tuple: Some(tuple) });
        self.made = self.table.stats().inserted;
        self.choose(0, now_ns, forwarding).map(|hop| hop.port)
    }
}

/// Where a flow's hash says that it goes.
fn by_hash(flow: u32, forwarding: &Forwarding<V4>) -> Option<u32> {
    use flows::Key;
    forwarding.pick(|| tuple(flow).hash(&hash().key)).map(|hop| hop.port)
}

/// Every set of up to four next hops.
fn sets() -> Vec<Hops> {
    (0..16u32).map(|set| (0..4).filter(|at| set >> at & 1 == 1).map(|at| (at, 1)).collect()).collect()
}

fn has(hops: &Hops, number: u32) -> bool {
    hops.iter().any(|&(other, _)| other == number)
}

/// From every set of up to four next hops to every other, and back: no flow moves whose next hop is there; one whose next hop goes moves
/// once, and stays there when it comes back.
#[test]
fn no_transition_moves_a_flow_whose_next_hop_stays() {
    const FLOWS: u32 = 60;
    for (first, second) in
        sets().iter().flat_map(|first| sets().into_iter().map(move |second| (first.clone(), second)))
    {
        let (before, after) = (forwarding(&first), forwarding(&second));
        let mut table = sticky(1000);
        let began: Vec<_> = (0..FLOWS).map(|flow| table.send(flow, 0, &before)).collect();
        let then: Vec<_> = (0..FLOWS).map(|flow| table.send(flow, SECOND, &after)).collect();
        let again: Vec<_> = (0..FLOWS).map(|flow| table.send(flow, 2 * SECOND, &before)).collect();
        for flow in 0..FLOWS as usize {
            match began[flow] {
                Some(hop) if has(&second, hop) => assert_eq!(then[flow], Some(hop), "{first:?} {second:?}"),
                _ => assert_eq!(then[flow], by_hash(flow as u32, &after)),
            }
            // Without any next hop it waited for its own.
            match then[flow].or(began[flow]) {
                Some(hop) if has(&first, hop) => {
                    assert_eq!(again[flow], Some(hop), "back: {first:?} {second:?}")
                }
                _ => assert_eq!(again[flow], by_hash(flow as u32, &before)),
            }
        }
    }
}

/// One next hop, a second beside it, the first alone, and both again: nothing moves.
#[test]
fn one_two_one_two() {
    let mut table = sticky(1000);
    let steps =
        [vec![(0, 1)], vec![(0, 1), (1, 1)], vec![(0, 1)], vec![(0, 1), (1, 1)], vec![(0, 1), (1, 9)]];
    for (at, hops) in steps.iter().enumerate() {
        for flow in 0..200 {
            assert_eq!(table.send(flow, at as i64 * SECOND, &forwarding(hops)), Some(0), "step {at}");
        }
    }
    assert_eq!(table.moved, 0);
}

/// A next hop of weight 0 keeps its flows and gets no new ones.
#[test]
fn a_next_hop_is_drained() {
    let mut table = sticky(1000);
    let (both, drained) = (forwarding(&vec![(0, 1), (1, 1)]), forwarding(&vec![(0, 0), (1, 1)]));
    let began: Vec<_> = (0..200).map(|flow| table.send(flow, 0, &both)).collect();
    assert!(began.contains(&Some(0)));
    let then: Vec<_> = (0..200).map(|flow| table.send(flow, SECOND, &drained)).collect();
    assert_eq!(began, then);
    (200..400).for_each(|flow| assert_eq!(table.send(flow, SECOND, &drained), Some(1)));
}

/// 20,000 new flows: each of 200 established ones stays where it is, whatever is added, and the flood goes where its hashes say.
#[test]
fn a_flood_moves_no_established_flow() {
    let mut table = sticky(4096);
    let (two, three) = (forwarding(&vec![(0, 1), (1, 1)]), forwarding(&vec![(0, 1), (1, 1), (2, 1)]));
    let began: Vec<_> = (0..200).map(|flow| table.send(flow, 0, &two)).collect();
    for flow in 0..200 {
        table.send(flow, 1, &two);
    }
    for flow in 200..20_200 {
        assert_eq!(table.send(flow, 2, &two), by_hash(flow, &two));
    }
    let then: Vec<_> = (0..200).map(|flow| table.send(flow, SECOND, &three)).collect();
    assert_eq!((began, table.moved), (then, 0));
    let stats = table.stats();
    // A first packet is taken for a second one once in 65,536 times.
    let taken = stats.evicted;
    assert!(taken < 5, "{taken}");
    assert_eq!((stats.inserted, stats.refused_first), (200 + 2048 + taken, 20_000 - 2048 - taken));
    assert_eq!(table.table.bytes(), sticky(4096).table.bytes());
    assert_eq!(table.table.bytes(), 4096 * 64, "as the book says");
}

/// What a table lists another one takes in; and flows are killed by what their lines begin with.
#[test]
fn lists_can_be_read() {
    let both = forwarding(&vec![(0, 1), (1, 1)]);
    let (mut table, mut other) = (sticky(100), sticky(50));
    for flow in 0..20 {
        table.send(flow, 0, &both);
    }
    for flow in 0..10 {
        table.send(flow, 0, &both);
    }
    let list = table.list(&Filter::default(), 3 * SECOND);
    other.load(&list, 2, 103 * SECOND).expect("what was written");
    let sorted = |list: &str| {
        let mut lines: Vec<_> = list.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let (theirs, ours) = (sorted(&other.list(&Filter::default(), 103 * SECOND)), sorted(&list));
    assert_eq!(theirs.len(), 20);
    assert_eq!(theirs, ours);
    assert!(
        ours.iter()
            .any(|line| line.starts_with("0.0.0.3 7 10.0.0.1 9 17 10.0.0.") && line.ends_with("established")),
        "{ours:?}"
    );
    assert!(other.load("0.0.0.3 7 10.0.0.1 9 17 10.0.0.0 2 0 new", 2, 0).is_err(), "there are two outputs");
    assert_eq!(
        other.load("\n0.0.0.3 7", 2, 0).unwrap_err(),
        "line 2: expected a flow as `flow_list` writes it"
    );
    other.kill(&["0.0.0.3".into()], 0);
    assert_eq!(other.list(&Filter::default(), 103 * SECOND).lines().count(), 19);
    other.kill(&["*".into(), "7".into()], 0);
    assert_eq!(other.list(&Filter::default(), 103 * SECOND), "");
}

/// What filters ask for is counted, listed in both forms, and forgotten.
#[test]
fn filters_choose_flows() {
    let both = forwarding(&vec![(0, 1), (1, 1)]);
    let mut table = sticky(100);
    for flow in (0..20).chain(0..10) {
        table.send(flow, 0, &both);
    }
    let filter = |text: &str| Filter::parse(text).expect("a filter");
    let now = 3 * SECOND;
    let counts = [
        "",
        "udp",
        "tcp",
        "assured",
        "src 0.0.0.3",
        "dst 10.0.0.0/8 dport 9 unassured",
        "sport 8",
        "state open",
    ];
    let counts = counts.map(|text| table.count(&filter(text), now));
    assert_eq!(counts, [20, 20, 0, 10, 1, 10, 0, 0]);
    assert_eq!(table.list(&filter("assured limit 3"), now).lines().count(), 3);
    let object = table.json(&filter("src 0.0.0.3"), now);
    let begin = "{\"protocol\":\"udp\",\"source\":\"0.0.0.3\",\"sport\":7,\"destination\":\"10.0.0.1\",\"dport\":9,\"gateway\":\"10.0.0.";
    assert!(object.starts_with(begin) && object.contains(",\"assured\":true,\"idle_s\":"), "{object}");
    table.forget(&filter("unassured"), now);
    assert_eq!(table.count(&Filter::default(), now), 10);
    table.forget(&filter("src 0.0.0.3"), now);
    assert_eq!(table.count(&filter("assured"), now), 9);
    assert_eq!(table.count(&Filter::default(), now + 2 * TIMEOUT), 0, "whose time is over are not there");
}

/// What happens to next hops.
#[derive(Clone, Debug)]
enum Change {
    Nothing,
    Toggle(u32),
    Weigh(u32, u32),
    /// A swap: tables of this size, on so many workers.
    Swap(usize, usize),
    /// Flows are loaded as this one's way says, on this worker or another.
    Load(Vec<u32>, u32),
    /// All flows are listed, and loaded.
    Reload,
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        6 => Just(Change::Nothing),
        3 => (0u32..4).prop_map(Change::Toggle),
        1 => ((0u32..4), (0u32..4)).prop_map(|(hop, weight)| Change::Weigh(hop, weight)),
        1 => (300usize..600, 1usize..4).prop_map(|(size, workers)| Change::Swap(size, workers)),
        2 => (prop::collection::vec(0u32..100, 1..20), 0u32..4).prop_map(|(flows, hop)| Change::Load(flows, hop)),
        1 => Just(Change::Reload),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// While next hops come, go, drain and are weighed anew, flows are loaded, and configurations are replaced, on as many workers or others, each
    /// flow behaves as a map would have it that forgets after the timeout; and it is remembered in one place.
    #[test]
    fn as_a_map(steps in prop::collection::vec((0u32..100, 0i64..12, change()), 1..300)) {
        let mut tables = workers(1, 400);
        let mut map: HashMap<u32, (Option<u32>, i64)> = HashMap::new();
        let (mut now, mut hops): (i64, Hops) = (1 << 40, vec![(0, 1), (1, 1)]);
        let mut way = forwarding(&hops);
        for (flow, pause, change) in steps {
            now += pause << 30;
            let hops_change = matches!(change, Change::Toggle(_) | Change::Weigh(..));
            match change {
                Change::Nothing => {}
                Change::Toggle(number) if has(&hops, number) => hops.retain(|&(other, _)| other != number),
                Change::Toggle(number) => hops.push((number, 1)),
                Change::Weigh(number, weight) => {
                    hops.iter_mut().filter(|(other, _)| *other == number).for_each(|(_, now)| *now = weight);
                }
                Change::Swap(size, number) => {
                    let mut new = workers(number, size);
                    prop_assert_eq!(take_over(&mut new, &mut tables, now), 0);
                    tables = new;
                }
                Change::Load(flows, number) => {
                    let line = |flow: u32| {
                        let line = format!("{} 7 10.0.0.1 9 17 10.0.0.{number} {number} 0 established\n", Ipv4Addr::from(flow));
                        map.insert(flow, (Some(number), now));
                        line
                    };
                    let text: String = flows.into_iter().map(line).collect();
                    prop_assert_eq!(tables[0].load(&text, 4, now), Ok(0));
                }
                Change::Reload => {
                    let mut list = |table: &mut Sticky<V4>| {
                        table.catch_up();
                        table.list(&Filter::default(), now)
                    };
                    let text: String = tables.iter_mut().map(&mut list).collect();
                    // Those without a next hop are not loaded.
                    let lines: String = text.lines().filter(|line| !line.contains(" - -1 ")).map(|line| format!("{line}\n")).collect();
                    prop_assert_eq!(tables[0].load(&lines, 4, now), Ok(0));
                }
            }
            // Next hops that are all drained are none.
            let there = |number: u32| hops.iter().any(|&(_, weight)| weight > 0) && has(&hops, number);
            if hops_change {
                way = forwarding(&hops);
            }
            let chosen = by_hash(flow, &way);
            let known = map.get(&flow).map(|&(hop, seen)| (hop, now - seen <= TIMEOUT));
            // Where it goes, and where it belongs while there is no way.
            let (expected, home) = match known {
                Some((Some(hop), true)) if there(hop) => (Some(hop), Some(hop)),
                Some((hop, true)) => (chosen, chosen.or(hop)),
                Some((_, false)) | None => (chosen, chosen),
            };
            if known.is_some_and(|(_, alive)| alive) || expected.is_some() {
                map.insert(flow, (home, now));
            }
            let worker = flow as usize % tables.len();
            prop_assert_eq!(tables[worker].send(flow, now, &way), expected);
        }
        let alive = map.values().filter(|(_, seen)| now - seen <= TIMEOUT).count();
        tables.iter_mut().for_each(Sticky::catch_up);
        let known: usize = tables.iter().map(|table| table.count(&Filter::default(), now)).sum();
        prop_assert_eq!(known, alive);
    }
}

/// A table that is enlarged keeps its flows, and has the room after some packets.
#[test]
fn a_table_is_enlarged() {
    let mut table = sticky(64);
    let (two, three) = (forwarding(&vec![(0, 1), (1, 1)]), forwarding(&vec![(0, 1), (1, 1), (2, 1)]));
    let began: Vec<_> = (0..30).map(|flow| table.send(flow, 0, &two)).collect();
    assert!(table.grow(63).is_err());
    table.grow(10_000).expect("more");
    for at in 0..30 {
        assert_eq!(table.send(at, 0, &two), began[at as usize]);
        table.meet(std::iter::empty(), &hash(), 0);
    }
    assert_eq!((table.capacity(), table.count(&Filter::default(), 0)), (10_000, 30));
    let then: Vec<_> = (0..30).map(|flow| table.send(flow, SECOND, &three)).collect();
    assert_eq!((began, table.moved), (then, 0));
}

/// When others see their packets, flows wait: they are listed once, go on with their next hops wherever they turn up, and what both of two workers
/// had goes on as the later one knew it.
#[test]
fn flows_wait_for_other_workers() {
    let (two, three) = (forwarding(&vec![(0, 1), (1, 1)]), forwarding(&vec![(0, 1), (1, 1), (2, 1)]));
    let mut old = workers(3, 100);
    let began: Vec<_> = (0..30).map(|flow| old[flow as usize % 3].send(flow, 0, &two)).collect();
    old[1].send(0, SECOND, &forwarding(&vec![(2, 1)]));
    let mut new = workers(2, 100);
    assert_eq!(take_over(&mut new, &mut old, SECOND), 0);
    let lists = |tables: &[Sticky<V4>]| {
        tables.iter().map(|table| table.list(&Filter::default(), SECOND)).collect::<String>()
    };
    assert_eq!(lists(&new).lines().collect::<BTreeSet<_>>().len(), 30, "{}", lists(&new));
    assert_eq!(lists(&new).lines().count(), 30);
    // A configuration after the next one, with no packet between.
    let mut last = workers(1, 100);
    assert_eq!(take_over(&mut last, &mut new, SECOND), 0);
    let table = &mut last[0];
    assert_eq!(table.count(&Filter::default(), SECOND), 30);
    assert_eq!(table.send(0, 2 * SECOND, &three), Some(2));
    for flow in 1..30 {
        assert_eq!(table.send(flow, 2 * SECOND, &three), began[flow as usize]);
    }
    assert_eq!((table.count(&Filter::default(), 2 * SECOND), table.table.len(), table.moved), (30, 30, 0));
    assert_eq!(table.stats().misses, 31 + 30, "what all tables counted");
}

/// Flows that are loaded go on with the worker that sees their next packets, in the place of what any worker knew; no more than there is room for,
/// and until their time is over.
#[test]
fn loaded_flows_find_their_workers() {
    let (both, other) = (forwarding(&vec![(0, 1), (1, 1)]), forwarding(&vec![(1, 1)]));
    let mut tables = workers(3, 20);
    assert_eq!(tables[2].send(3, 0, &both), by_hash(3, &both));
    let line = |flow: u32, way: u32, idle_ms: u32| {
        format!("0.0.0.{flow} 7 10.0.0.1 9 17 10.0.0.{way} {way} {idle_ms} established\n")
    };
    let turned = 1 - by_hash(3, &both).expect("a way");
    assert_eq!(tables[0].load(&line(3, turned, 0), 2, 0), Ok(0));
    assert_eq!(tables[2].send(3, 0, &both), Some(turned));
    assert_eq!(tables[2].send(3, 0, &other), Some(1));
    let count = |tables: &mut [Sticky<V4>], now_ns| {
        tables.iter_mut().for_each(Sticky::catch_up);
        tables.iter().map(|table| table.count(&Filter::default(), now_ns)).collect::<Vec<_>>()
    };
    assert_eq!(count(&mut tables, 0), [0, 0, 1]);
    // The oldest do not wait where all cannot.
    let text: String = (10..80).map(|flow| line(flow, 0, flow)).collect();
    assert_eq!(tables[0].load(&text, 2, SECOND), Ok(10));
    assert_eq!(count(&mut tables, SECOND), [60, 0, 1]);
    for flow in 10..20 {
        assert_eq!(tables[flow as usize % 3].send(flow, SECOND, &both), Some(0));
    }
    assert_eq!(count(&mut tables, SECOND), [50 + 3, 4, 1 + 3]);
    let over = SECOND + TIMEOUT;
    assert_eq!((tables[1].waiting.expire(over, 100), count(&mut tables, over + SECOND)), (50, vec![0; 3]));
}

/// Flows that wait are killed, replaced by what is loaded, and over when their time is; and no more wait than there is room for.
#[test]
fn flows_that_wait_end() {
    let both = forwarding(&vec![(0, 1), (1, 1)]);
    let swapped = |room: usize| {
        let mut old = workers(2, 100);
        (0..40).for_each(|flow| _ = old[flow as usize % 2].send(flow, i64::from(flow), &both));
        let mut new = workers(1, room);
        (take_over(&mut new, &mut old, SECOND), new.remove(0))
    };
    let (lost, mut table) = swapped(25);
    assert_eq!((lost, table.count(&Filter::default(), SECOND)), (15, 25));
    let list = table.list(&Filter::default(), SECOND);
    assert!(list.contains("0.0.0.39 7 ") && !list.contains("0.0.0.14 7 "), "the latest are kept: {list}");
    table.kill(&["0.0.0.39".into()], SECOND);
    assert_eq!(table.count(&Filter::default(), SECOND), 24);
    table.load("0.0.0.38 7 10.0.0.1 9 17 10.0.0.1 1 0 established", 2, SECOND).expect("a flow");
    assert_eq!((table.count(&Filter::default(), SECOND), table.table.len()), (24, 0));
    assert_eq!(table.send(38, SECOND, &both), Some(1));
    assert_eq!((table.count(&Filter::default(), SECOND), table.table.len()), (24, 1));
    // One is over before the others, and all are at last.
    let mut old = workers(2, 100);
    old[0].send(0, 0, &both);
    old[1].send(1, 10 * SECOND, &both);
    let mut new = workers(1, 100);
    take_over(&mut new, &mut old, 11 * SECOND);
    let then = TIMEOUT + SECOND;
    assert_eq!((new[0].count(&Filter::default(), then), new[0].waiting.expire(then, 9)), (1, 0));
    assert!(new[0].waiting.take(&tuple(0), then).is_none());
    assert_eq!(new[0].waiting.expire(TIMEOUT + 11 * SECOND, 9), 1);
}

/// A flow that waits finds its place also while a flood of new ones takes all room for those.
#[test]
fn flows_that_wait_outlive_a_flood() {
    let (two, three) = (forwarding(&vec![(0, 1), (1, 1)]), forwarding(&vec![(0, 1), (1, 1), (2, 1)]));
    let mut old = workers(2, 1000);
    let began: Vec<_> = (0..100).map(|flow| old[flow as usize % 2].send(flow, 0, &two)).collect();
    let mut new = workers(1, 1000);
    take_over(&mut new, &mut old, 1);
    (1000..3000).for_each(|flow| _ = new[0].send(flow, 2, &two));
    let then: Vec<_> = (0..100).map(|flow| new[0].send(flow, 3, &three)).collect();
    assert_eq!(began, then);
    assert_eq!(new[0].count(&Filter::default(), 3), 600);
}
