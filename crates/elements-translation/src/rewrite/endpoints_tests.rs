//! Tests of endpoint-independent mapping and of filtering: against a naive translator, with threads, and with packets.

use super::counts::InputCounts;
use super::endpoints::Filtering::{self, AddressAndPortDependent, AddressDependent, EndpointIndependent};
use super::flow_events::What;
use super::flow_set_tests::Told;
use super::input::{Input, PatternRef, Spec};
use super::nat::{Capacity, Circumstances, Kind, Miss, Nat, Plan, Wanted, next_id};
use super::pattern::Pattern;
use super::policy::{Policy, Timeouts};
use super::record::{FORWARD, MAPPINGS, REPLY};
use super::samples::{ends, tcp, udp};
use crate::testing::{errors, send};
use elements_shared::flow_id::{FlowId, Key};
use proptest::prelude::*;
use rcu::{Domain, Turn};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::Arc;
use wire::ip_proto;
use wire::tcp::flag::SYN;

const FILTERINGS: [Filtering; 3] = [EndpointIndependent, AddressDependent, AddressAndPortDependent];
const OUTSIDE: u32 = 0x0102_0304;
/// The ports that endpoints get there.
const PORTS: std::ops::RangeInclusive<u16> = 2000..=2003;

/// A UDPRewriter's shared part: input 0 maps endpoints to [`PORTS`], input 1 drops.
fn nat(filtering: Option<Filtering>, capacity: i32, guarantee_ms: u64, turn: Turn<'_>) -> Nat {
    nat_of(Kind::Udp, filtering, capacity, guarantee_ms, turn)
}

/// The same of another rewriter.
fn nat_of(kind: Kind, filtering: Option<Filtering>, capacity: i32, guarantee_ms: u64, turn: Turn<'_>) -> Nat {
    let pattern = Arc::new(Pattern::of_ports(&format!("{}-{}", PORTS.start(), PORTS.end())));
    let policy = Policy { guarantee_ms, timeouts: Timeouts::Plain(60_000) };
    let nat = Nat::new(Plan {
        kind,
        element: 0,
        outputs: 2,
        workers: vec![0, 1],
        policies: [policy; 3],
        specs: vec![Spec::Pattern(PatternRef::Here(pattern.clone()), [0, 1]), Spec::Drop],
        filtering,
        unmapped: None,
        capacity: Capacity::Own(capacity),
        quota: crate::quota::Limit::NONE,
        seed: 1,
        six: None,
    });
    let set = nat.set().expect("its own table");
    let counts: Arc<[InputCounts]> = (0..2).map(|_| InputCounts::default()).collect();
    set.edit(turn).register(0, policy, counts);
    let updater = Domain::global().updater();
    nat.inputs()[0].replace(Box::new(Input::Pattern(pattern, [0, 1])), &updater).expect("room");
    nat
}

type End = (u32, u16);

/// A flow, as what its endpoint is outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Naive {
    inside: End,
    peer: End,
    port: u16,
}

impl Naive {
    fn key(&self) -> Key {
        let ((saddr, sport), (daddr, dport)) = (self.inside, self.peer);
        Key::new(0, FlowId { saddr, sport, daddr, dport })
    }
}

/// All flows of a table.
fn flows(nat: &Nat, turn: Turn<'_>) -> Vec<Naive> {
    let set = nat.set().expect("its own table");
    let naive = |flow: &super::record::Flow| {
        let (id, port) = (flow.id(FORWARD), flow.rewritten(FORWARD).sport);
        Naive { inside: (id.saddr, id.sport), peer: (id.daddr, id.dport), port }
    };
    let mut all: Vec<Naive> = set.flows(turn, 0).map(naive).collect();
    all.sort();
    all
}

/// The flows and mappings that events tell of are those in the table.
fn check_told(told: &mut Told, nat: &Nat, turn: Turn<'_>) {
    let set = nat.set().expect("its own table");
    told.hear(set);
    let number = |address: IpAddr| match address {
        IpAddr::V4(address) => address.to_bits(),
        IpAddr::V6(_) => 0,
    };
    let (mut sessions, mut mappings) = (Vec::new(), Vec::new());
    for event in &told.live {
        let [inside, peer] = event.ends.map(|(address, port)| (number(address), port));
        let port = event.translated[0].1;
        match event.what {
            What::SessionMade => sessions.push(Naive { inside, peer, port }),
            _ => mappings.push((inside, port)),
        }
    }
    sessions.sort();
    mappings.sort();
    assert_eq!(sessions, flows(nat, turn));
    let kept = set.flows(turn, MAPPINGS).filter(|flow| flow.rewritten(FORWARD).daddr == 0);
    let end = |id: FlowId| (id.saddr, id.sport);
    let mut kept: Vec<_> = kept.map(|flow| (end(flow.id(FORWARD)), flow.rewritten(FORWARD).sport)).collect();
    kept.sort();
    assert_eq!(mappings, kept);
}

/// What the table says of a packet: the packet's other end and the port outside, or nothing if it is dropped.
fn packet(nat: &Nat, turn: Turn<'_>, worker: usize, input: usize, id: FlowId, now_ms: u64) -> Option<FlowId> {
    let set = nat.set().expect("its own table");
    let key = Key::new(0, id);
    if let Some(found) = set.find(turn, key) {
        return Some(found.rewritten());
    }
    let mut random = |top: u32| top / 2;
    let mut with = Circumstances { worker, now_ms, random: &mut random };
    let wanted = Wanted { at: input, key, hash: set.hash(key), protocol: ip_proto::UDP };
    match nat.miss(turn, wanted, 0, &mut with) {
        Miss::Made(found) => {
            assert_eq!(found.direction, input, "from inside forward, from outside as a reply");
            Some(found.rewritten())
        }
        Miss::Drop(_) => None,
        Miss::Pass(_) => panic!("no input passes packets"),
    }
}

fn outward(inside: End, peer: End) -> FlowId {
    FlowId { saddr: inside.0, sport: inside.1, daddr: peer.0, dport: peer.1 }
}

fn inward(peer: End, port: u16) -> FlowId {
    FlowId { saddr: peer.0, sport: peer.1, daddr: OUTSIDE, dport: port }
}

/// Endpoints and ports outside belong to each other, and the table has what its flows need, counted, and nothing else.
fn check(nat: &Nat, turn: Turn<'_>) {
    let (mut ports, mut insides) = (BTreeMap::new(), BTreeMap::new());
    let (mut counts, mut peers) = (BTreeMap::new(), BTreeMap::new());
    let all = flows(nat, turn);
    for flow in &all {
        assert_eq!(*ports.entry(flow.inside).or_insert(flow.port), flow.port, "{all:?}");
        assert_eq!(*insides.entry(flow.port).or_insert(flow.inside), flow.inside, "{all:?}");
        *counts.entry((flow.inside, 0)).or_insert(0) += 1;
        if nat.filtering == Some(AddressDependent) {
            *peers.entry((flow.inside, flow.peer.0)).or_insert(0) += 1;
        }
    }
    counts.append(&mut peers);
    let set = nat.set().expect("its own table");
    let kept: BTreeMap<_, _> = set
        .flows(turn, MAPPINGS)
        .map(|flow| {
            let id = flow.id(FORWARD);
            (((id.saddr, id.sport), id.daddr), flow.holders())
        })
        .collect();
    assert_eq!(kept, counts, "of {all:?}");
    assert_eq!(set.size(), all.len() + counts.len());
    for flow in &all {
        let reply = Key::new(0, inward(flow.peer, flow.port));
        assert!(set.find(turn, reply).is_some_and(|found| found.direction == REPLY), "{flow:?}");
    }
}

#[derive(Clone, Debug)]
enum Op {
    Out(End, End),
    In(End, u16),
    End(usize),
    Swap(usize),
    Clear,
    Pass(u64),
}

fn inside() -> impl Strategy<Value = End> {
    (0u32..4, 1u16..3).prop_map(|(host, port)| (0x0a00_0000 + host, port))
}

fn peer() -> impl Strategy<Value = End> {
    (0u32..3, 80u16..82).prop_map(|(host, port)| (0x0506_0700 + host, port))
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        10 => (inside(), peer()).prop_map(|(inside, peer)| Op::Out(inside, peer)),
        10 => (peer(), PORTS).prop_map(|(peer, port)| Op::In(peer, port)),
        6 => (0usize..12).prop_map(Op::End),
        1 => (0usize..3).prop_map(Op::Swap),
        1 => Just(Op::Clear),
        1 => (1u64..70_000).prop_map(Op::Pass),
    ];
    prop::collection::vec(op, 0..80)
}

/// What a naive translator makes of an operation: the port of a new flow, if it says which; or that there is none.
fn expect(model: &[Naive], filtering: Filtering, op: &Op) -> Option<Option<(End, u16)>> {
    match op {
        Op::Out(inside, _) => {
            let own = model.iter().find(|flow| flow.inside == *inside).map(|flow| Some((*inside, flow.port)));
            let full = { PORTS }.all(|port| model.iter().any(|flow| flow.port == port));
            own.or_else(|| full.then_some(None))
        }
        Op::In(from, port) => {
            let flows = || model.iter().filter(|flow| flow.port == *port);
            let lets_in = match filtering {
                EndpointIndependent => true,
                AddressDependent => flows().any(|flow| flow.peer.0 == from.0),
                AddressAndPortDependent => flows().any(|flow| flow.peer == *from),
            };
            Some(flows().next().filter(|_| lets_in).map(|flow| (flow.inside, *port)))
        }
        _ => None,
    }
}

proptest! {
    /// Whatever happens, the table translates as a list of flows would: with room for all, packet by packet; with little room, such that
    /// what it has is right.
    #[test]
    fn as_a_naive_translator(
        ops in ops(), first in 0usize..3, capacity in prop::sample::select(vec![i32::MAX, i32::MAX, 9, 4, 2, 1]),
        guarantee_ms in prop::sample::select(vec![0u64, 5000])
    ) {
        let mut reader = Domain::global().register("test");
        let mut filtering = FILTERINGS[first];
        let mut nat = nat(Some(filtering), capacity, guarantee_ms, reader.turn());
        let (mut model, mut now): (Vec<Naive>, u64) = (Vec::new(), 1_000_000);
        let mut told = Told::default();
        nat.want_events();
        for (step, op) in ops.into_iter().enumerate() {
            let turn = reader.turn();
            let expected = expect(&model, filtering, &op);
            now += 1;
            let (mut came, worker) = (None, step % 2);
            match op {
                Op::Out(inside, peer) => {
                    let to = packet(&nat, turn, worker, 0, outward(inside, peer), now);
                    came = Some(to.map(|to| (inside, to.sport)));
                    if let Some(to) = to {
                        prop_assert_eq!((to.saddr, to.daddr, to.dport), (OUTSIDE, peer.0, peer.1));
                        prop_assert!(PORTS.contains(&to.sport));
                        model.push(Naive { inside, peer, port: to.sport });
                    }
                }
                Op::In(peer, port) => {
                    let to = packet(&nat, turn, worker, 1, inward(peer, port), now);
                    came = Some(to.map(|to| ((to.daddr, to.dport), port)));
                    if let Some(to) = to {
                        prop_assert_eq!((to.saddr, to.sport), peer);
                        model.push(Naive { inside: (to.daddr, to.dport), peer, port });
                    }
                }
                Op::End(at) if at < model.len() => {
                    let set = nat.set().expect("its own table");
                    let record = set.find(turn, model.remove(at).key()).expect("a flow").record;
                    set.edit(turn).remove(record);
                }
                Op::End(_) => {}
                Op::Swap(to) => {
                    filtering = FILTERINGS[to];
                    let new = self::nat(Some(filtering), capacity, guarantee_ms, turn);
                    new.want_events();
                    prop_assert_eq!(new.adopt(&nat, turn, now), 0);
                    nat = new;
                }
                Op::Clear => {
                    nat.set().expect("its own table").edit(turn).clear();
                    model.clear();
                }
                Op::Pass(ms) if capacity == i32::MAX => now += ms / 100, // nothing goes
                Op::Pass(ms) => {
                    now += ms;
                    while nat.set().expect("its own table").edit(turn).shrink(now, 3) {}
                }
            }
            if capacity == i32::MAX {
                if let Some(expected) = expected {
                    prop_assert_eq!(came, Some(expected));
                }
                model.sort();
                model.dedup();
                prop_assert_eq!(&flows(&nat, turn), &model);
            } else {
                model = flows(&nat, turn);
                prop_assert!(nat.set().is_some_and(|set| set.size() as i64 <= i64::from(capacity)));
            }
            check(&nat, turn);
            check_told(&mut told, &nat, turn);
            reader.quiescent(); // removed records can be used again
        }
    }
}

proptest! {
    /// The identifiers of pings are mapped as ports are: one to one, as long as a flow has them, also over a swap.
    #[test]
    fn pings(ops in prop::collection::vec((0u32..10, inside(), 0u32..3, PORTS), 0..120)) {
        let mut reader = Domain::global().register("test");
        fn new(turn: Turn<'_>) -> Nat {
            nat_of(Kind::Ping, Some(AddressAndPortDependent), i32::MAX, 0, turn)
        }
        let (mut nat, mut model) = (new(reader.turn()), BTreeMap::<(End, u32), u16>::new());
        for (what, inside, peer, id) in ops {
            let (turn, peer) = (reader.turn(), 0x0506_0700 + peer);
            let set = nat.set().expect("its own table");
            let ask = |(host, id): End, peer| FlowId { saddr: host, sport: id, daddr: peer, dport: next_id(id) };
            match what {
                0..6 => {
                    let known = model.iter().find(|((other, _), _)| *other == inside).map(|(_, &id)| id);
                    let endpoints: BTreeSet<u16> = model.values().copied().collect();
                    let came = packet(&nat, turn, 0, 0, ask(inside, peer), 1);
                    match (known, came) {
                        (Some(id), came) => prop_assert_eq!(came.map(|to| to.sport), Some(id)),
                        (None, None) => prop_assert_eq!(endpoints.len(), PORTS.count()),
                        (None, Some(to)) => prop_assert!(!endpoints.contains(&to.sport)),
                    }
                    if let Some(to) = came {
                        prop_assert_eq!((to.saddr, to.daddr, to.dport), (OUTSIDE, peer, next_id(to.sport)));
                        model.insert((inside, peer), to.sport);
                    }
                }
                6 | 7 => {
                    // Only whom the endpoint has asked answers.
                    let answer = FlowId { saddr: peer, sport: next_id(id), daddr: OUTSIDE, dport: id };
                    let asked = model.iter().find(|((_, other), port)| (*other, **port) == (peer, id));
                    let came = packet(&nat, turn, 1, 1, answer, 1).map(|to| (to.daddr, to.dport));
                    prop_assert_eq!(came, asked.map(|((inside, _), _)| *inside));
                }
                8 => {
                    if let Some(found) = set.find(turn, Key::new(0, ask(inside, peer))) {
                        set.edit(turn).remove(found.record);
                    }
                    model.remove(&(inside, peer));
                }
                _ => {
                    let other = new(turn);
                    prop_assert_eq!(other.adopt(&nat, turn, 1), 0);
                    nat = other;
                }
            }
            let set = nat.set().expect("its own table");
            let endpoints: BTreeSet<End> = model.keys().map(|(inside, _)| *inside).collect();
            prop_assert_eq!(set.size(), model.len() + endpoints.len());
            prop_assert_eq!(set.flows(reader.turn(), MAPPINGS).count(), endpoints.len());
            reader.quiescent();
        }
    }
}

/// Workers that make and end flows of the same endpoints side by side keep all that.
#[test]
fn side_by_side() {
    for filtering in FILTERINGS {
        for capacity in [i32::MAX, 12] {
            let reader = Domain::global().register("test");
            let nat = nat(Some(filtering), capacity, 0, reader.turn());
            let barrier = std::sync::Barrier::new(2);
            std::thread::scope(|scope| {
                for worker in 0..2 {
                    let (nat, barrier) = (&nat, &barrier);
                    scope.spawn(move || {
                        let mut reader = Domain::global().register("worker");
                        let mut rng = fastrand::Rng::with_seed(worker as u64);
                        barrier.wait();
                        for now in 0..4_000 {
                            let turn = reader.turn();
                            let inside = (0x0a00_0000 + rng.u32(0..4), rng.u16(1..3));
                            let peer = (0x0506_0700 + rng.u32(0..3), rng.u16(80..82));
                            match rng.u32(0..4) {
                                0 => {
                                    let set = nat.set().expect("its own table");
                                    if let Some(found) = set.find(turn, Key::new(0, outward(inside, peer))) {
                                        set.edit(turn).remove(found.record);
                                    }
                                }
                                1 => _ = packet(nat, turn, worker, 1, inward(peer, rng.u16(PORTS)), now),
                                _ => _ = packet(nat, turn, worker, 0, outward(inside, peer), now),
                            }
                            reader.quiescent();
                        }
                    });
                }
            });
            check(&nat, reader.turn());
            let set = nat.set().expect("its own table");
            set.edit(reader.turn()).clear();
            assert_eq!(set.size(), 0, "{filtering:?}: a mapping outlives its flows");
        }
    }
}

/// Flows of other behaviours go on as they are; the first of an endpoint says what it becomes from then on.
#[test]
fn behaviours_change_at_a_swap() {
    let reader = Domain::global().register("test");
    let turn = reader.turn();
    let old = nat(None, i32::MAX, 0, turn);
    let (a, b, peers) = ((0x0a00_0001, 9), (0x0a00_0002, 9), [(0x0506_0701, 80), (0x0506_0702, 80)]);
    let out = |nat: &Nat, inside, peer| packet(nat, turn, 0, 0, outward(inside, peer), 1).map(|to| to.sport);
    // Both hosts may have one port, towards different peers; b has two, as the second was free there.
    assert_eq!(out(&old, a, peers[0]), out(&old, b, peers[1]));
    assert_ne!(out(&old, b, peers[0]), out(&old, b, peers[1]));
    let new = nat(Some(EndpointIndependent), i32::MAX, 0, turn);
    assert_eq!(new.adopt(&old, turn, 2), 0);
    assert_eq!(flows(&new, turn), flows(&old, turn));
    let third = (0x0506_0703, 80);
    let (of_a, of_b) = (out(&new, a, third), out(&new, b, third));
    assert!(of_a.is_some() && of_b.is_some() && of_a != of_b);
    assert_eq!([out(&new, a, (third.0, 81)), out(&new, b, (third.0, 81))], [of_a, of_b]);
    let last = nat(None, i32::MAX, 0, turn);
    assert_eq!(last.adopt(&new, turn, 3), 0);
    assert_eq!(flows(&last, turn), flows(&new, turn));
    let set = last.set().expect("its own table");
    assert_eq!(set.size(), flows(&last, turn).len(), "no mapping is left");
}

/// Packets from inside (10.0.0.0/8) arrive at input 0, others at input 1; what is for the address outside comes back in.
fn hairpin(rest: &str) -> String {
    format!(
        "rw :: IPRewriter(pattern 1.2.3.4 40000-40009# - - 0 1, drop, {rest}); Inject -> c :: Classifier(12/0a, -);
         c[0] -> MarkIPHeader -> [0]rw; c[1] -> MarkIPHeader -> [1]rw;
         rw[0] -> back :: Classifier(16/01020304, -); back[0] -> [1]rw; back[1] -> Collect(0); rw[1] -> Collect(1);"
    )
}

/// A host sends to two others from one port outside, and each kind of filtering lets in whom it says.
#[test]
fn one_port_for_all_and_who_reaches_it() {
    let packets = || {
        [
            udp("10.0.0.1:5000", "5.6.7.8:80"),
            udp("10.0.0.1:5000", "5.6.7.9:80"),
            udp("10.0.0.1:5001", "5.6.7.9:80"),
            udp("5.6.7.8:80", "1.2.3.4:40000"),
            udp("5.6.7.8:81", "1.2.3.4:40000"),
            udp("9.9.9.9:99", "1.2.3.4:40000"),
            udp("9.9.9.9:99", "1.2.3.4:40005"),
            tcp("9.9.9.9:99", "1.2.3.4:40000", SYN, (1, 0), b""),
        ]
    };
    for (filtering, admitted) in
        [("endpoint-independent", 3), ("address-dependent", 2), ("address-and-port-dependent", 1)]
    {
        let config = hairpin(&format!("MAPPING endpoint-independent, FILTERING {filtering}"));
        let mut flow = send(&config, packets());
        let out = ["1.2.3.4:40000 5.6.7.8:80", "1.2.3.4:40000 5.6.7.9:80", "1.2.3.4:40001 5.6.7.9:80"];
        assert_eq!(ends(&flow.data(0)), out);
        let back = ["5.6.7.8:80 10.0.0.1:5000", "5.6.7.8:81 10.0.0.1:5000", "9.9.9.9:99 10.0.0.1:5000"];
        assert_eq!(ends(&flow.data(1)), back[..admitted], "{filtering}");
        assert_eq!(flow.drops(), [("no mapping", 5 - admitted as u64)]);
        assert_eq!(flow.read("rw.table_size"), (2 + admitted).to_string());
    }
}

/// Two hosts inside reach each other by what they are outside, and see each other as that (RFC 4787, section 6).
#[test]
fn endpoints_inside_reach_each_other() {
    let packets = [
        udp("10.0.0.1:5000", "5.6.7.8:80"),
        udp("10.0.0.2:5000", "1.2.3.4:40000"),
        udp("10.0.0.1:5000", "1.2.3.4:40001"),
        udp("5.6.7.8:80", "1.2.3.4:40001"),
    ];
    let config = hairpin("MAPPING endpoint-independent, FILTERING endpoint-independent");
    let mut flow = send(&config, packets.clone());
    assert_eq!(ends(&flow.data(0)), ["1.2.3.4:40000 5.6.7.8:80"]);
    let back = ["1.2.3.4:40001 10.0.0.1:5000", "1.2.3.4:40000 10.0.0.2:5000", "5.6.7.8:80 10.0.0.2:5000"];
    assert_eq!(ends(&flow.data(1)), back);
    let endpoints = "udp 10.0.0.1 5000 > 1.2.3.4 40000 i0 [2]\nudp 10.0.0.2 5000 > 1.2.3.4 40001 i0 [2]\n";
    assert_eq!(flow.read("rw.endpoints"), endpoints);
    let json = flow.read("rw.endpoints_json");
    let one = "{\"protocol\":\"udp\",\"source\":\"10.0.0.1\",\"sport\":5000,\"translated\":{\"source\":\"1.2.3.4\",\"sport\":40000},\
               \"input\":0,\"flows\":2}";
    assert!(json.contains(one), "{json}");
    assert_eq!([flow.read("rw.table_size"), flow.read("rw.size")], ["4", "6"]);
    assert_eq!(flow.write("rw.kill", "src 10.0.0.1"), "2");
    assert_eq!([flow.read("rw.endpoints").lines().count().to_string(), flow.read("rw.size")], ["1", "3"]);
    assert_eq!(flow.write("rw.pattern0", "drop"), "");
    assert_eq!([flow.read("rw.endpoints"), flow.read("rw.size")], ["", "0"]);
    // Only whom the other has sent to, which is none of those inside.
    let flow = send(&hairpin("MAPPING endpoint-independent"), [0, 1, 3].map(|at| packets[at].clone()));
    assert_eq!((flow.data(1).len(), flow.drops()), (0, vec![("no mapping", 2)]));
}

/// A mapped flow's timeout follows what was seen of it, as that of any other.
#[test]
fn timeouts_of_mapped_flows() {
    let (there, back) = (udp("10.0.0.1:1", "5.6.7.8:80"), udp("5.6.7.8:80", "1.2.3.4:40000"));
    let exp = |packets: Vec<Vec<u8>>| {
        let rest = "MAPPING endpoint-independent, UDP_TIMEOUT 40, UDP_STREAMING_TIMEOUT 50";
        let mut flow = send(&hairpin(rest), packets);
        flow.read("rw.udp_table").lines().next().and_then(|line| Some(line.rsplit_once("exp")?.1.to_owned()))
    };
    let of = |list: &[&Vec<u8>]| exp(list.iter().map(|&packet| packet.clone()).collect());
    assert_eq!(of(&[&there, &there, &there, &there, &there]), Some("40".into()));
    assert_eq!(of(&[&there, &back]), Some("40".into()));
    assert_eq!(of(&[&there, &back, &there]), Some("50".into()));
}

/// Specifications that choose no port, or another destination, work as ever.
#[test]
fn other_specifications_stay_as_they_are() {
    let config = "m :: RoundRobinIPMapper(- - 9.0.0.1 - 0 0, - - 9.0.0.2 - 0 0);
                  rw :: IPRewriter(m, MAPPING endpoint-independent, FILTERING endpoint-independent); Inject -> MarkIPHeader -> rw -> Collect(0)";
    let mut flow = send(config, [1, 2, 3].map(|host| udp(&format!("10.0.0.{host}:1"), "5.6.7.8:80")));
    let to = |host, server| format!("10.0.0.{host}:1 9.0.0.{server}:80");
    assert_eq!(ends(&flow.data(0)), [to(1, 1), to(2, 2), to(3, 1)]);
    assert_eq!([flow.read("rw.endpoints"), flow.read("rw.size")], ["", "3"]);
}

#[test]
fn bad_arguments() {
    let with =
        |class: &str, rest: &str| errors(&format!("InfiniteSource -> {class}(drop, {rest}) -> Discard;"));
    for (rest, error) in [
        ("MAPPING address-dependent", "bad MAPPING"),
        ("MAPPING endpoint-independent, FILTERING none", "bad FILTERING"),
        ("FILTERING endpoint-independent", "FILTERING needs MAPPING endpoint-independent"),
    ] {
        for class in ["IPRewriter", "TCPRewriter", "UDPRewriter"] {
            let text = with(class, rest);
            assert!(text.contains(error), "{class}, {rest}: {text}");
        }
    }
    // Nor do strangers answer a ping.
    let text = with("ICMPPingRewriter", "FILTERING endpoint-independent");
    assert!(text.contains("need 1 arguments"), "{text}");
    assert!(with("ICMPPingRewriter", "MAPPING independent").contains("bad MAPPING"));
}

/// An endpoint without address and port is found by what another one is outside. Its packet is dropped for a reason, and counted.
#[test]
fn choosing_again_has_an_end() {
    let nobody = |port: u16| udp(&format!("0.0.0.0:{port}"), "5.6.7.8:80");
    let pattern = "pattern - 2-9# - - 0 0";
    let config = format!(
        "rw :: IPRewriter({pattern}, {pattern}, {pattern}, MAPPING endpoint-independent); Idle -> [0]rw; Idle -> [1]rw;
         Inject -> MarkIPHeader -> [2]rw; rw -> Collect(0);"
    );
    let mut flow = send(&config, [nobody(9), nobody(0), nobody(7)]);
    assert_eq!((ends(&flow.data(0))[0].as_str(), flow.data(0).len()), ("0.0.0.0:2 5.6.7.8:80", 2));
    assert_eq!(flow.drops(), [(super::nat::CONTENDED, 1)]);
    assert_eq!(flow.read("rw.mapping_failures"), "1");
}
