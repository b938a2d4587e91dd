//! Tests of what new flows become.

use super::*;
use crate::rewrite::exhausted;
use crate::rewrite::input::PatternRef;
use crate::rewrite::policy::Timeouts;
use crate::rewrite::search::steps::STEPS;
use proptest::prelude::*;
use rcu::Domain;
use std::collections::{BTreeMap, BTreeSet};

/// A UDPRewriter's shared part, on two workers, with this range of source ports.
fn nat(sport: &str, turn: Turn<'_>) -> Nat {
    let pattern = Arc::new(Pattern::of_ports(sport));
    let policy = Policy { guarantee_ms: 5000, timeouts: Timeouts::Plain(60_000) };
    let nat = Nat::new(Plan {
        kind: Kind::Udp,
        element: 0,
        outputs: 2,
        workers: vec![0, 1],
        policies: [policy; 3],
        specs: vec![Spec::Pattern(PatternRef::Here(pattern.clone()), [0, 1])],
        filtering: None,
        unmapped: None,
        capacity: Capacity::Own(i32::MAX),
        quota: crate::quota::Limit::NONE,
        seed: 1,
        six: None,
    });
    let set = nat.set().expect("its own table");
    set.edit(turn).register(0, policy, nat.counts.clone());
    let updater = Domain::global().updater();
    nat.inputs[0].replace(Box::new(Input::Pattern(pattern, [0, 1])), &updater).expect("room");
    nat
}

/// The ports that a worker's new flows get: one for each of these hosts, all towards the same port of one host.
fn make(nat: &Nat, turn: Turn<'_>, worker: usize, hosts: std::ops::Range<u32>) -> Vec<u16> {
    let mut rng = fastrand::Rng::with_seed(hosts.start.into());
    let mut random = |top: u32| rng.u32(0..=top);
    let made = hosts.filter_map(|host| {
        let id = FlowId { saddr: 0x0a00_0000 + host, daddr: 0x0506_0708, sport: 5, dport: 80 };
        let mut with = Circumstances { worker, now_ms: 0, random: &mut random };
        let (at, key) = (0, Key::new(0, id));
        let hash = nat.set()?.hash(key);
        match nat.miss(turn, Wanted { at, key, hash, protocol: ip_proto::UDP }, 0, &mut with) {
            Miss::Made(found) => Some(found.rewritten().sport),
            Miss::Pass(_) | Miss::Drop(_) => None,
        }
    });
    made.collect()
}

/// Two threads make as many flows as there are ports, as the workers `of`.
fn together(nat: &Nat, of: [usize; 2], hosts: [std::ops::Range<u32>; 2]) -> Vec<u16> {
    let barrier = std::sync::Barrier::new(2);
    let parts = std::thread::scope(|scope| {
        let one = |(worker, hosts): (usize, std::ops::Range<u32>)| {
            let barrier = &barrier;
            scope.spawn(move || {
                let reader = Domain::global().register("test");
                barrier.wait();
                make(nat, reader.turn(), worker, hosts)
            })
        };
        let threads: Vec<_> = of.into_iter().zip(hosts).map(one).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect::<Vec<_>>()
    });
    parts.concat()
}

/// Also workers that get into each other's way give no port twice, and give all there are: each in its own part and then in
/// the other's, or both in the same one.
#[test]
fn each_port_once() {
    let reader = Domain::global().register("test");
    for round in 0..60 {
        let sport = ["2000-2599#", "2000-2599?", "2000-2599"][round % 3];
        let of = [[0, 1], [1, 1]][round / 3 % 2];
        let nat = nat(sport, reader.turn());
        let ports = together(&nat, of, [0..450, 450..600]);
        assert_eq!(nat.set().map(|set| set.size()), Some(600), "{sport}, {of:?}");
        assert_eq!(ports.len(), 600);
        assert_eq!(ports.iter().copied().collect::<BTreeSet<u16>>(), (2000..2600).collect());
        // Nothing is left, until a flow goes.
        assert_eq!(make(&nat, reader.turn(), 0, 600..601), []);
        let set = nat.set().expect("its own table");
        let record = set.find(reader.turn(), reply(2345)).expect("a flow").record;
        set.edit(reader.turn()).remove(record);
        assert_eq!(make(&nat, reader.turn(), 0, 601..603), [2345]);
    }
}

fn reply(port: u16) -> Key {
    Key::new(0, FlowId { saddr: 0x0506_0708, daddr: 0x0102_0304, sport: 80, dport: port })
}

/// As long as both have ports of their own, neither takes the other's.
#[test]
fn parts_of_their_own() {
    let reader = Domain::global().register("test");
    for sport in ["2000-2599#", "2000-2599?"] {
        let nat = nat(sport, reader.turn());
        assert!(make(&nat, reader.turn(), 1, 0..300).iter().all(|&port| port >= 2300));
        assert!(make(&nat, reader.turn(), 0, 300..600).iter().all(|&port| port < 2300));
    }
}

/// The port that one flow gets, with chance's numbers from here.
fn one(nat: &Nat, turn: Turn<'_>, worker: usize, host: u32) -> Option<u16> {
    make(nat, turn, worker, host..host + 1).first().copied()
}

#[derive(Clone, Debug)]
enum Op {
    /// A worker makes so many flows.
    Make(usize, u32),
    /// So many flows go, from one on.
    Remove(usize, usize),
    Clear,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        8 => (0usize..2, prop_oneof![1u32..20, 100u32..700]).prop_map(|(w, n)| Op::Make(w, n)),
        6 => (any::<usize>(), prop_oneof![Just(1usize), 1usize..80, 300usize..600]).prop_map(|(at, n)| Op::Remove(at, n)),
        1 => Just(Op::Clear),
    ];
    prop::collection::vec(op, 1..25)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// However many numbers are taken, a flow gets the first free one by a look at each of them.
    #[test]
    fn as_a_look_at_each(ops in ops(), kind in 0usize..3) {
        let mut reader = Domain::global().register("test");
        let sport = ["2000-2599#", "2000-2599?", "2000-2599"][kind];
        let (nat, naive) = (nat(sport, reader.turn()), Pattern::of_ports(sport));
        let mut taken: BTreeMap<u16, u32> = BTreeMap::new();
        let mut host = 0;
        for op in ops {
            reader.quiescent();
            let turn = reader.turn();
            let set = nat.set().expect("its own table");
            match op {
                Op::Make(worker, number) => for _ in 0..number {
                    host += 1;
                    let mut rng = fastrand::Rng::with_seed(host.into());
                    let mut free = |id: FlowId| !taken.contains_key(&id.sport);
                    let share = Share::of_worker(worker, &[0, 1]);
                    let id = FlowId { sport: 5, ..FlowId::default() };
                    let wanted = naive.choose(id, share, &mut |top| rng.u32(0..=top), &mut free);
                    let port = one(&nat, turn, worker, host);
                    prop_assert_eq!(port, wanted.map(|id| id.sport));
                    if let Some(port) = port {
                        taken.insert(port, host);
                    }
                },
                Op::Remove(at, number) => {
                    let ports: Vec<u16> = taken.keys().copied().collect();
                    let from = at % ports.len().max(1);
                    let mut editor = set.edit(turn);
                    for port in ports.into_iter().skip(from).take(number) {
                        let found = set.find(turn, reply(port)).expect("a flow");
                        editor.remove(found.record);
                        taken.remove(&port);
                    }
                }
                Op::Clear => {
                    set.edit(turn).clear();
                    taken.clear();
                }
            }
            prop_assert_eq!(set.size(), taken.len());
        }
    }
}

/// What flows of these hosts cost at most, and together, in looks at numbers and words. They get a port each.
fn steps(nat: &Nat, turn: Turn<'_>, hosts: std::ops::Range<u32>) -> (usize, usize) {
    let costs = hosts.map(|host| {
        let before = STEPS.get();
        assert!(one(nat, turn, 0, host).is_some(), "{host}");
        STEPS.get() - before
    });
    costs.fold((0, 0), |(most, sum), cost| (most.max(cost), sum + cost))
}

/// Of a range of which one number in a thousand is left, or ten numbers at all, the next free one is found in a few steps.
#[test]
fn steps_where_little_is_left() {
    const PORTS: u32 = 64_512;
    /// Of each of four parts of the range, words up all levels and down again; and the numbers that are found.
    const STEPS_MAX: usize = 4 * 6 + 2;
    for sport in ["1024-65535#", "1024-65535?", "1024-65535"] {
        let mut reader = Domain::global().register("test");
        let nat = nat(sport, reader.turn());
        let used = PORTS - PORTS / 1000;
        let (_, sum) = steps(&nat, reader.turn(), 0..used);
        // Each number is looked at when it is given, and once or twice more if that was before the range was crowded.
        assert!(sum <= (STEPS_MAX + 3) * used as usize, "{sport}: {sum}");
        let (most, sum) = steps(&nat, reader.turn(), used..PORTS - 10);
        assert!(most <= STEPS_MAX, "{sport}: {most}, {sum}");
        // Flows go and come.
        let set = nat.set().expect("its own table");
        let (mut worst, mut host, mut rng) = (0, PORTS, fastrand::Rng::with_seed(1));
        for _ in 0..2000 {
            reader.quiescent();
            let turn = reader.turn();
            let port = rng.u16(1024..=65535);
            let Some(found) = set.find(turn, reply(port)) else { continue };
            set.edit(turn).remove(found.record);
            worst = worst.max(steps(&nat, turn, host..host + 1).0);
            host += 1;
        }
        assert!(worst <= STEPS_MAX, "{sport}: {worst}");
        // To find that nothing is left takes no longer.
        steps(&nat, reader.turn(), host..host + 10);
        let before = STEPS.get();
        assert_eq!(one(&nat, reader.turn(), 0, host + 10), None);
        assert!(STEPS.get() - before <= 2 * STEPS_MAX, "{sport}: {}", STEPS.get() - before);
    }
}

/// What is known of a crowded range goes with the flows whose time is over, and stays while numbers are taken.
#[test]
fn crowds_go_with_their_flows() {
    let reader = Domain::global().register("test");
    let (nat, turn) = (nat("2000-2599", reader.turn()), reader.turn());
    let set = nat.set().expect("its own table");
    let shrink = |now_ms| while set.edit(turn).shrink(now_ms, 64) {};
    assert_eq!(make(&nat, turn, 0, 0..601).len(), 600);
    assert!(set.crowds.has_any());
    shrink(1000);
    assert!(set.crowds.has_any() && set.size() == 600);
    shrink(60_001);
    assert!(!set.crowds.has_any() && set.size() == 0);
    assert_eq!(make(&nat, turn, 0, 0..601).len(), 600);
}

/// The range that a flow takes its port from.
fn range<'t>(nat: &'t Nat, turn: Turn<'t>, key: Key) -> exhausted::Domain {
    let Input::Pattern(pattern, _) = nat.inputs[0].read(turn) else { panic!("a pattern") };
    nat.domain(pattern, key).expect("a range")
}

/// A worker searches in what is known of a range, and another one drops that meanwhile and gives back numbers: they are found.
#[test]
fn what_is_known_is_dropped_during_a_search() {
    let reader = Domain::global().register("test");
    let (nat, turn) = (nat("2000-2599", reader.turn()), reader.turn());
    let set = nat.set().expect("its own table");
    assert_eq!(make(&nat, turn, 0, 0..601).len(), 600);
    let id = FlowId { saddr: 1, daddr: 0x0506_0708, sport: 5, dport: 80 };
    let (key, domain) = (Key::new(0, id), range(&nat, turn, Key::new(0, id)));
    let crowd = || set.crowd(turn, 0, domain);
    (0..600).for_each(|number| crowd().expect("a crowded range").note(number));
    let remove = |ports: std::ops::Range<u16>| {
        let mut editor = set.edit(turn);
        ports.for_each(|port| editor.remove(set.find(turn, reply(port)).expect("a flow").record));
    };
    // It is full again, but not known to be.
    remove(2599..2600);
    make(&nat, turn, 0, 601..602);
    let mut meanwhile = |_| {
        remove(2000..2500);
        while set.edit(turn).shrink(0, 64) {}
        assert!(crowd().is_none(), "less than a fourth is taken");
        assert_eq!(make(&nat, turn, 1, 700..1200).len(), 500);
        remove(2500..2600);
        0
    };
    let mut with = Circumstances { worker: 0, now_ms: 0, random: &mut meanwhile };
    let input = nat.inputs[0].read(turn);
    let choice = nat.choose(set, turn, input, key, &mut with).expect("a port is free");
    assert!((2500..2600).contains(&choice.id.sport), "{}", choice.id.sport);
}

/// What is remembered first of a crowded range is where the search has been, also of flows that would have kept their own port.
#[test]
fn numbers_are_learned_where_the_search_is() {
    let reader = Domain::global().register("test");
    let (nat, turn) = (nat("1024-65535", reader.turn()), reader.turn());
    let set = nat.set().expect("its own table");
    let key = |host| Key::new(0, FlowId { saddr: host, daddr: 0x0506_0708, sport: 1500, dport: 80 });
    for host in 1..40 {
        let mut with = Circumstances { worker: 0, now_ms: 0, random: &mut |_| 2000 };
        let wanted = Wanted { at: 0, key: key(host), hash: set.hash(key(host)), protocol: ip_proto::UDP };
        assert!(matches!(nat.miss(turn, wanted, 0, &mut with), Miss::Made(_)));
    }
    let crowd = set.crowd(turn, 0, range(&nat, turn, key(1))).expect("a crowded range");
    assert_eq!((crowd.next(0, &mut 0), crowd.next(2000, &mut 0)), (Some(0), Some(2038)));
}
