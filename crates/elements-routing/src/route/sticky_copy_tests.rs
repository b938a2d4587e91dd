//! A copy of remembered flows against the flows themselves, and what becomes of it at another node.

use super::super::super::flow_port::FlowPort;
use super::super::super::waiting::Shared;
use super::*;
use elements_shared::state_port::{Adopted, Entry, Overrun, StatePort};
use std::collections::BTreeMap;

type Copy = BTreeMap<Vec<u8>, Vec<u8>>;

/// An element's workers, and the port to their flows.
struct Node {
    tables: Vec<Sticky<V4>>,
    port: FlowPort<V4>,
}

impl Node {
    fn new(workers: usize, flows: usize) -> Node {
        let shared = Arc::new(Shared::new(workers));
        let timeout = Duration::from_nanos(TIMEOUT as u64);
        let port = FlowPort::new(shared.clone(), 4, flows * workers, timeout);
        Node { tables: workers_of(&shared, workers, flows), port }
    }

    /// What the timers of all workers do.
    fn show(&mut self, now_ns: i64) {
        self.tables.iter_mut().for_each(|table| table.show(now_ns));
    }

    /// Brings a copy up to date, some changes at a time. Whether that could be done.
    fn tell(&self, copy: &mut Copy) -> Result<(), Overrun> {
        loop {
            let mut told = 0;
            let has_more = self.port.changes_now(7, &mut |entry| {
                told += 1;
                note(copy, entry);
            })?;
            assert!(told <= 7, "{told} at once");
            if !has_more {
                return Ok(());
            }
        }
    }

    /// Looks at everything, a few flows at a time, until the end.
    fn scan(&mut self, mut place: Option<u32>, now_ns: i64, copy: &mut Copy) {
        while let Some(from) = place {
            self.show(now_ns);
            place = self.port.scan_now(from, 5, now_ns, &mut |entry| note(copy, entry));
        }
    }

    /// All that there is, looked at anew.
    fn all(&mut self, now_ns: i64) -> Copy {
        let mut copy = Copy::new();
        self.port.watch(false).unwrap();
        self.port.watch(true).unwrap();
        self.scan(Some(0), now_ns, &mut copy);
        copy
    }

    fn adopt(&self, copy: &Copy, now_ns: i64) -> Vec<Adopted> {
        let mut became = Vec::new();
        let mut entries = copy.iter().map(|(key, value)| (&key[..], &value[..]));
        self.port.adopt_now(now_ns, &mut entries, &mut |adopted| became.push(adopted));
        became
    }
}

/// The same without times.
fn timeless(copy: &Copy) -> Copy {
    copy.iter().map(|(key, value)| (key.clone(), value[8..].into())).collect()
}

fn note(copy: &mut Copy, entry: Entry<'_>) {
    match entry {
        Entry::Put { key, value } => drop(copy.insert(key.into(), value.into())),
        Entry::Gone { key } => drop(copy.remove(key)),
    }
}

#[derive(Clone, Debug)]
enum Op {
    /// A packet of a flow comes to a worker.
    Packet(u32, usize),
    /// A next hop comes or goes.
    Toggle(u32),
    Wait(i64),
    /// Another node's flows come.
    Adopt(Vec<u32>, u32),
    Forget(u32),
    Kill,
    /// The copy is told of some changes, workers show their flows, or a few are looked at.
    Tell(usize),
    Show,
    Scan,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        12 => (0..40u32, 0..3usize).prop_map(|(flow, worker)| Op::Packet(flow, worker)),
        2 => (0..4u32).prop_map(Op::Toggle),
        2 => (1..20i64).prop_map(Op::Wait),
        2 => (prop::collection::vec(0..40u32, 1..8), 0..4u32).prop_map(|(flows, hop)| Op::Adopt(flows, hop)),
        1 => (0..40u32).prop_map(Op::Forget),
        1 => Just(Op::Kill),
        3 => (1..9usize).prop_map(Op::Tell),
        2 => Just(Op::Show),
        2 => Just(Op::Scan),
    ];
    prop::collection::vec(op, 0..150)
}

/// Flows of another node, all with one next hop.
fn flows_of(numbers: &[u32], hop_number: u32) -> Copy {
    let mut other = Node::new(1, 100);
    for &number in numbers.iter().chain(numbers) {
        other.tables[0].send(number, 0, &forwarding(&vec![(hop_number, 1)]));
    }
    other.all(0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Whatever happens while everything is looked at in pieces, a copy that was told of all is what is there: flows of workers, in tables
    /// so small that they give way, and those that wait. At another node each goes on with its last next hop.
    #[test]
    fn a_copy_is_what_is_there(ops in ops()) {
        let mut node = Node::new(3, 12);
        let (mut copy, mut place, mut now_ns) = (Copy::new(), Some(0), 1 << 40);
        let mut hops: Hops = vec![(0, 1), (1, 1)];
        node.port.watch(true).unwrap();
        for op in ops {
            match op {
                Op::Packet(flow, worker) => _ = node.tables[worker].send(flow, now_ns, &forwarding(&hops)),
                Op::Toggle(number) if has(&hops, number) => hops.retain(|&(other, _)| other != number),
                Op::Toggle(number) => hops.push((number, 1)),
                Op::Wait(steps) => {
                    now_ns += steps << 30;
                    for table in &mut node.tables {
                        table.expire(now_ns, 100);
                        table.waiting.expire(now_ns, 100);
                    }
                }
                Op::Adopt(flows, hop) => _ = node.adopt(&flows_of(&flows, hop), now_ns),
                Op::Forget(flow) => for table in &mut node.tables {
                    table.kill(&[Ipv4Addr::from(flow).to_string()], now_ns);
                }
                Op::Kill => node.tables.iter_mut().for_each(|table| table.kill(&["*".into(), "7".into()], now_ns)),
                Op::Tell(most) => _ = node.port.changes_now(most, &mut |entry| note(&mut copy, entry)).unwrap(),
                Op::Show => node.show(now_ns),
                Op::Scan => if let Some(from) = place {
                    place = node.port.scan_now(from, 3, now_ns, &mut |entry| note(&mut copy, entry));
                }
            }
        }
        node.scan(place, now_ns, &mut copy);
        node.tell(&mut copy).unwrap();
        for table in &mut node.tables {
            // Those whose time is over are gone in the copy, too.
            table.expire(now_ns, 1000);
            table.waiting.forget(now_ns, |flow| flow.idle > Duration::from_nanos(TIMEOUT as u64));
        }
        node.tell(&mut copy).unwrap();
        prop_assert_eq!(timeless(&copy), timeless(&node.all(now_ns)));

        let heir = Node::new(2, 100);
        prop_assert!(heir.adopt(&copy, now_ns).iter().all(|adopted| *adopted == Adopted::Taken));
        let mut ways: BTreeMap<Vec<u8>, (i64, Vec<u8>)> = BTreeMap::new();
        for (key, value) in &copy {
            let (at_ns, way) = value.split_first_chunk().unwrap();
            let went = (i64::from_be_bytes(*at_ns), way.to_vec());
            let known = ways.entry(key[2..].into()).or_insert_with(|| went.clone());
            if known.0 <= went.0 {
                *known = went;
            }
        }
        let mut tables = heir.tables;
        for flow in 0..40 {
            let key = ways.iter().find(|(key, _)| key[..4] == Ipv4Addr::from(flow).octets());
            let all = forwarding(&vec![(0, 1), (1, 1), (2, 1), (3, 1)]);
            let went = tables[flow as usize % 2].send(flow, now_ns, &all);
            let expected = key.map(|(_, (_, way))| u32::from_be_bytes(way[..4].try_into().unwrap()));
            prop_assert_eq!(went, expected.or(by_hash(flow, &all)));
        }
    }

    /// Any bytes may come: what is no flow is refused.
    #[test]
    fn any_bytes_may_come(key in prop::collection::vec(any::<u8>(), 0..50), value in prop::collection::vec(any::<u8>(), 0..30)) {
        let node = Node::new(1, 10);
        let became = node.adopt(&[(key, value)].into(), 0);
        prop_assert!(became.len() == 1);
    }
}

/// What is written is read: with a gateway of either family, and without one.
#[test]
fn entries_can_be_read() {
    let gateways = ["10.0.0.1", "2001:db8::1"].map(|text| V4::gateway(text.parse().unwrap()).unwrap());
    for gateway in [gateways[0], gateways[1], V4::DIRECT] {
        let way = Hop { gateway, port: 3 };
        let (here, there) = (Node::new(1, 10), Node::new(1, 10));
        let flow = Flow {
            key: tuple(7),
            second: None,
            idle: Duration::ZERO,
            state: 0,
            confirmed: true,
            value: Some(way),
        };
        here.tables[0].waiting.load([flow], 10, 0);
        let mut copy = Copy::new();
        here.port.watch(true).unwrap();
        here.port.scan_now(0, 5, 0, &mut |entry| note(&mut copy, entry));
        assert_eq!(there.adopt(&copy, 0), [Adopted::Taken]);
        assert_eq!(there.tables[0].waiting.take(&tuple(7), 0).and_then(|flow| flow.value), Some(way));
    }
    // An output that is not there leads nowhere.
    let copy = flows_of(&[1], 3);
    let few =
        Node { port: FlowPort::new(Arc::new(Shared::new(1)), 3, 10, Duration::ZERO), ..Node::new(1, 1) };
    assert_eq!(few.adopt(&copy, 0), [Adopted::Refused]);
}

/// A flow that comes from another node goes on with its next hop there also at a worker that had it once, and has not swept it yet.
#[test]
fn a_flow_that_is_over_is_not_in_the_way() {
    let mut node = Node::new(1, 100);
    let both = forwarding(&vec![(0, 1), (1, 1)]);
    (0..20).for_each(|flow| _ = node.tables[0].send(flow, 0, &both));
    let (hashed, later) = (by_hash(19, &both).expect("a next hop"), 2 * TIMEOUT);
    assert_eq!(node.adopt(&flows_of(&[19], 1 - hashed), later), [Adopted::Taken]);
    assert_eq!(node.tables[0].send(19, later, &both), Some(1 - hashed));
    // One that nothing is known of begins anew.
    assert_eq!(node.tables[0].send(18, later, &both), by_hash(18, &both));
}

/// One at a time watches; no more wait than there is room for, and those are said; a flood of notes is an overrun; flows that are loaded are
/// another.
#[test]
fn bounds() {
    let mut node = Node::new(1, 10);
    node.port.watch(true).unwrap();
    assert!(node.port.watch(true).is_err());
    let numbers: Vec<u32> = (0..15).collect();
    let became = node.adopt(&flows_of(&numbers, 1), 0);
    let taken = became.iter().filter(|adopted| **adopted == Adopted::Taken).count();
    assert_eq!((taken, became.len()), (10, 15));
    // Those whose time is over make room.
    let later = 2 * TIMEOUT;
    assert_eq!(node.adopt(&flows_of(&[20], 1), later), [Adopted::Taken]);
    let mut copy = Copy::new();
    node.tell(&mut copy).unwrap();
    let line = "0.0.0.30 7 10.0.0.1 9 17 10.0.0.1 1 0 established";
    node.tables[0].load(line, 4, later).expect("a flow");
    assert_eq!(node.tell(&mut copy), Err(Overrun));
    assert_eq!(node.all(later).len(), 2);
    let (one, other) = (forwarding(&vec![(0, 1)]), forwarding(&vec![(1, 1)]));
    for at in 0..20_000 {
        node.tables[0].send(30, later, if at % 2 == 0 { &one } else { &other });
    }
    // What one worker has lost is lost of all: nothing is told, not even of flows that wait.
    node.adopt(&flows_of(&[21], 1), later);
    assert_eq!(node.port.changes_now(9, &mut |_| panic!("it is worth nothing")), Err(Overrun));
    assert_eq!(node.tell(&mut copy), Ok(()));
}

/// A flood of flows that have one packet each says nothing, not even when their time is over; nor do they when everything is looked at.
#[test]
fn flows_of_one_packet_are_not_told() {
    let mut node = Node::new(1, 1000);
    node.port.watch(true).unwrap();
    let both = forwarding(&vec![(0, 1), (1, 1)]);
    node.show(0);
    (0..2000).for_each(|flow| _ = node.tables[0].send(flow, 0, &both));
    let flows = node.tables[0].count(&Filter::default(), 0);
    assert!(flows >= 400, "{flows}");
    let mut nothing = |_: Entry<'_>| panic!("it is not established");
    assert_eq!(node.port.changes_now(9, &mut nothing), Ok(false));
    assert!(node.all(0).is_empty());
    node.tables[0].expire(2 * TIMEOUT, 10_000);
    node.tables[0].kill(&["*".into()], 2 * TIMEOUT);
    assert_eq!(node.port.changes_now(9, &mut nothing), Ok(false));
    // The second packet says where it goes.
    (0..2).for_each(|_| _ = node.tables[0].send(5000, 2 * TIMEOUT, &both));
    assert_eq!(node.all(2 * TIMEOUT).len(), 1);
}

/// A flow that two workers had one after the other goes on as at the later one, whichever that was: in what was noted, and in what is looked at.
#[test]
fn the_later_worker_says_where_a_flow_goes() {
    for (first, second, is_noted) in [(0, 1, true), (1, 0, true), (0, 1, false), (1, 0, false)] {
        let mut node = Node::new(2, 100);
        let (later_ns, mut copy) = (5 << 30, Copy::new());
        if is_noted {
            node.port.watch(true).unwrap();
        }
        for (worker, hop, at_ns) in [(first, 0, 0), (second, 1, later_ns)] {
            let one = forwarding(&vec![(hop, 1)]);
            (0..2).for_each(|_| _ = node.tables[worker].send(7, at_ns, &one));
        }
        if is_noted {
            node.tell(&mut copy).unwrap();
        } else {
            copy = node.all(later_ns);
        }
        assert_eq!(copy.len(), 2);
        let mut heir = Node::new(1, 100);
        assert_eq!(heir.adopt(&copy, 1 << 50), [Adopted::Taken; 2]);
        let went = heir.tables[0].send(7, 1 << 50, &forwarding(&vec![(0, 1), (1, 1)]));
        assert_eq!(went, Some(1), "{first} {second} {is_noted}");
    }
}
