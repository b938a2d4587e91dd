//! A copy of a rewriter's flows against the flows themselves, and what becomes of it at another rewriter.

use super::super::changes::WAITING;
use super::super::counts::InputCounts;
use super::super::flow_set::{Entered, FlowMatch, FlowSet};
use super::super::input::{Input, Spec};
use super::super::nat::{Capacity, Plan};
use super::super::pattern::Pattern;
use super::super::policy::{Policy, Timeouts};
use super::super::record::{REPLY, flag};
use super::*;
use elements_shared::flow_filter::Filter;
use proptest::prelude::*;
use rcu::Domain;
use std::collections::BTreeMap;
use std::sync::Arc;

const POLICY: Policy = Policy { guarantee_ms: 0, timeouts: Timeouts::Plain(1_000_000) };

type Copy = BTreeMap<Vec<u8>, Vec<u8>>;

fn rewriter(turn: Turn<'_>, kind: Kind, capacity: Capacity) -> Nat {
    rewriter_with(turn, kind, capacity, POLICY)
}

fn rewriter_with(turn: Turn<'_>, kind: Kind, capacity: Capacity, policy: Policy) -> Nat {
    let nat = Nat::new(Plan {
        kind,
        element: 1,
        outputs: 2,
        workers: vec![0],
        policies: [policy; 3],
        specs: vec![Spec::Drop],
        filtering: None,
        unmapped: None,
        capacity,
        quota: crate::quota::Limit::NONE,
        seed: 1,
        six: None,
    });
    let pattern = Pattern::of_ports("1-65535").into();
    let updater = Domain::global().updater();
    nat.inputs()[0].replace(Box::new(Input::Pattern(pattern, [0, 1])), &updater).expect("room");
    if let Some(set) = nat.set() {
        let counts: Arc<[InputCounts]> = [InputCounts::default()].into();
        nat.maps().for_each(|map| set.edit(turn).register(map, policy, counts.clone()));
    }
    nat
}

/// The flow of a host, TCP or UDP, with a port.
fn flow(nat: &Nat, host: u8, port: u16) -> NewFlow {
    let protocol = if host.is_multiple_of(2) { 6 } else { 17 };
    let id = FlowId { saddr: 0x0a00_0000 + u32::from(host), daddr: 0x0506_0708, sport: 1, dport: 80 };
    NewFlow {
        map: nat.map(protocol),
        protocol,
        id,
        rewritten: FlowId { saddr: 0x0102_0304, sport: port, ..id },
        outputs: [0, 1],
        input: 0,
        ip_change: 5,
        transport_change: 7,
        reply_anno: host,
        mapped: false,
    }
}

fn note(copy: &mut Copy, entry: Entry<'_>) {
    match entry {
        Entry::Put { key, value } => drop(copy.insert(key.into(), value.into())),
        Entry::Gone { key } => drop(copy.remove(key)),
    }
}

/// The flows of a rewriter that are confirmed, or the others, as entries.
fn part(nat: &Nat, turn: Turn<'_>, is_confirmed: bool) -> Copy {
    part_at(nat, turn, 1, is_confirmed)
}

fn part_at(nat: &Nat, turn: Turn<'_>, now_ms: u64, is_confirmed: bool) -> Copy {
    let (mut copy, mut from) = (Copy::new(), Some(0));
    while let Some(place) = from {
        from = nat.scan_in(turn, now_ms, is_confirmed, (place, 5), &mut |entry| note(&mut copy, entry));
    }
    copy
}

/// All of them.
fn all(nat: &Nat, turn: Turn<'_>) -> Copy {
    let mut copy = part(nat, turn, true);
    copy.extend(part(nat, turn, false));
    copy
}

/// Tells of all changes, some at a time.
fn changes(nat: &Nat, turn: Turn<'_>, copy: &mut Copy) {
    loop {
        let mut told = 0;
        let each = &mut |entry: Entry<'_>| {
            told += 1;
            note(copy, entry);
        };
        let has_more = nat.changes_in(turn, 1, 7, each).expect("nothing is lost");
        assert!(told <= 7, "{told} at once");
        if !has_more {
            return;
        }
    }
}

/// What a packet of a flow does that is not its first one.
fn confirm(nat: &Nat, set: &FlowSet, found: &FlowMatch<'_>) {
    let flow = found.flow;
    nat.change_flags(set, found, flow.key(FORWARD).map(), flow.flags() | flag::CONFIRMED);
}

fn enter(set: &FlowSet, turn: Turn<'_>, worker: usize, new: &NewFlow) {
    let _: Entered<'_> = set.enter(turn, worker, new, true, 1);
}

#[derive(Clone, Debug)]
enum Op {
    /// A host's first packet, on a worker, gets a port.
    Enter(usize, u8, u16),
    Remove(u8),
    /// Another packet of it comes.
    Confirm(u8),
    Flag(u8, u16),
    /// The copy is told of some changes, or of a few records.
    Tell(usize),
    Scan(usize),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        8 => (0..3usize, 0..24u8, 0..30u16).prop_map(|(worker, host, port)| Op::Enter(worker, host, port)),
        3 => (0..24u8).prop_map(Op::Remove),
        6 => (0..24u8).prop_map(Op::Confirm),
        1 => (0..24u8, 0..16u16).prop_map(|(host, flags)| Op::Flag(host, flags)),
        2 => (1..9usize).prop_map(Op::Tell),
        3 => (1..9usize).prop_map(Op::Scan),
    ];
    prop::collection::vec(op, 0..120)
}

proptest! {
    /// Whatever happens while everything is looked at in pieces, a copy that was told of all is what is there and confirmed; and, once all has
    /// to move, the rest, too. At another rewriter each flow is taken as it was, or it is counted; no key leads to two flows, and what was
    /// there stays.
    #[test]
    fn a_copy_is_what_is_there(
        ops in ops(),
        last in ops(),
        others in prop::collection::vec((0..40u8, 0..30u16), 0..12),
    ) {
        let reader = Domain::global().register("test");
        let nat = rewriter(reader.turn(), Kind::Ip, Capacity::Own(1000));
        let set = nat.set().unwrap().clone();
        let (mut copy, mut place) = (Copy::new(), Some(0));
        nat.watch(true).unwrap();
        for (op, is_confirmed) in ops.into_iter().map(|op| (Some(op), true)).chain([(None, true)]).chain(last.into_iter().map(|op| (Some(op), false))) {
            let turn = reader.turn();
            let Some(op) = op else {
                while let Some(from) = place {
                    place = nat.scan_in(turn, 1, true, (from, 3), &mut |entry| note(&mut copy, entry));
                }
                changes(&nat, turn, &mut copy);
                prop_assert_eq!(&copy, &part(&nat, turn, true));
                nat.widen();
                place = Some(0);
                continue;
            };
            let found = |host| set.find(turn, flow(&nat, host, 0).keys()[FORWARD]);
            match op {
                Op::Enter(worker, host, port) => enter(&set, turn, worker, &flow(&nat, host, port)),
                Op::Remove(host) => found(host).into_iter().for_each(|found| set.edit(turn).remove(found.record)),
                Op::Confirm(host) => found(host).into_iter().for_each(|found| confirm(&nat, &set, &found)),
                Op::Flag(host, flags) => if let Some(found) = found(host) {
                    found.flow.change_flags(0, flags);
                    set.replace(found.record);
                }
                Op::Tell(most) => _ = nat.changes_in(turn, 1, most, &mut |entry| note(&mut copy, entry)).unwrap(),
                Op::Scan(most) => if let Some(from) = place {
                    place = nat.scan_in(turn, 1, is_confirmed, (from, most), &mut |entry| note(&mut copy, entry));
                }
            }
        }
        let turn = reader.turn();
        while let Some(from) = place {
            place = nat.scan_in(turn, 1, false, (from, 3), &mut |entry| note(&mut copy, entry));
        }
        changes(&nat, turn, &mut copy);
        prop_assert_eq!(&copy, &all(&nat, turn));

        let heir = rewriter(turn, Kind::Ip, Capacity::Own(1000));
        let heirs = heir.set().unwrap();
        others.iter().for_each(|&(host, port)| enter(heirs, turn, 0, &flow(&heir, host, port)));
        let before = all(&heir, turn);
        let mut became = Vec::new();
        let mut entries = copy.iter().map(|(key, value)| (&key[..], &value[..]));
        heir.adopt_in(turn, 9, &mut entries, &mut |adopted| became.push(adopted));
        let after = all(&heir, turn);
        prop_assert!(before.iter().all(|(key, value)| after.get(key) == Some(value)));
        for ((key, value), adopted) in copy.iter().zip(&became) {
            match adopted {
                Adopted::Taken => prop_assert_eq!(after.get(key), Some(value)),
                Adopted::Known => prop_assert!(before.contains_key(key)),
                Adopted::Contended => prop_assert_ne!(after.get(key), Some(value)),
                Adopted::Refused => prop_assert!(false, "there is room"),
            }
        }
        let taken = became.iter().filter(|adopted| **adopted == Adopted::Taken).count();
        prop_assert_eq!(after.len(), before.len() + taken);
        // Each flow is found by both its keys, and by no other's.
        for key in after.keys() {
            let found = heirs.find(turn, heir.key_of(key).unwrap()).unwrap();
            prop_assert_eq!(heirs.find(turn, found.flow.key(REPLY)).unwrap().record, found.record);
        }
    }

    /// Any bytes may come: what is no flow is refused.
    #[test]
    fn any_bytes_may_come(key in prop::collection::vec(any::<u8>(), 0..20), value in prop::collection::vec(any::<u8>(), 0..60)) {
        let reader = Domain::global().register("test");
        let turn = reader.turn();
        let nat = rewriter(turn, Kind::Tcp, Capacity::Own(10));
        let mut became = Vec::new();
        nat.adopt_in(turn, 9, &mut [(&key[..], &value[..])].into_iter(), &mut |adopted| became.push(adopted));
        prop_assert_eq!(became.len(), 1);
    }
}

/// One at a time watches a table; and not one that another rewriter lends.
#[test]
fn a_table_is_watched_once() {
    let reader = Domain::global().register("test");
    let nat = rewriter(reader.turn(), Kind::Tcp, Capacity::Own(10));
    assert!(nat.watch(true).is_ok());
    assert!(nat.watch(true).is_err());
    assert!(nat.watch(false).is_ok());
    assert!(nat.watch(true).is_ok());
    assert!(rewriter(reader.turn(), Kind::Tcp, Capacity::SharedWith(0)).watch(true).is_err());
}

/// What does not fit into a lane's list is said to be lost, once.
#[test]
fn too_many_changes_are_an_overrun() {
    let reader = Domain::global().register("test");
    let turn = reader.turn();
    let nat = rewriter(turn, Kind::Tcp, Capacity::Own(100));
    nat.watch(true).unwrap();
    let set = nat.set().unwrap();
    let new = flow(&nat, 0, 1);
    let come_and_go = |is_confirmed: bool| {
        for _ in 0..=WAITING / 2 {
            enter(set, turn, 0, &new);
            let found = set.find(turn, new.keys()[FORWARD]).unwrap();
            if is_confirmed {
                confirm(&nat, set, &found);
            }
            set.edit(turn).remove(found.record);
        }
    };
    come_and_go(true);
    assert_eq!(nat.changes_in(turn, 1, 9, &mut |_| panic!("it is worth nothing")), Err(Overrun));
    assert_eq!(nat.changes_in(turn, 1, 9, &mut |_| panic!("nothing is left")), Ok(false));
    // A flood of first packets is none, whatever is told.
    come_and_go(false);
    assert_eq!(nat.changes_in(turn, 1, 9, &mut |_| panic!("nothing is confirmed")), Ok(false));
    nat.widen();
    come_and_go(false);
    let mut told = 0;
    while nat.changes_in(turn, 1, 1000, &mut |_| told += 1).unwrap() {}
    assert!((1..=WAITING / 2).contains(&told), "{told}");
}

/// A flow that was told, has gone and has come again is not what was told: until it is confirmed it is gone.
#[test]
fn what_comes_again_is_told_when_it_is_confirmed() {
    let reader = Domain::global().register("test");
    let turn = reader.turn();
    let nat = rewriter(turn, Kind::Tcp, Capacity::Own(100));
    let set = nat.set().unwrap();
    let (new, mut copy) = (flow(&nat, 0, 1), Copy::new());
    let found = || set.find(turn, new.keys()[FORWARD]).unwrap();
    nat.watch(true).unwrap();
    enter(set, turn, 0, &new);
    confirm(&nat, set, &found());
    changes(&nat, turn, &mut copy);
    assert_eq!(copy.len(), 1);
    set.edit(turn).remove(found().record);
    enter(set, turn, 0, &flow(&nat, 0, 2));
    changes(&nat, turn, &mut copy);
    assert_eq!(copy.len(), 0);
    confirm(&nat, set, &found());
    changes(&nat, turn, &mut copy);
    assert_eq!(copy, all(&nat, turn));
}

/// What an heir takes over is told to the next one.
#[test]
fn what_was_taken_over_is_noted() {
    let reader = Domain::global().register("test");
    let turn = reader.turn();
    let [here, there] = [(); 2].map(|()| rewriter(turn, Kind::Tcp, Capacity::Own(100)));
    let (set, new, mut copy) = (here.set().unwrap(), flow(&here, 0, 1), Copy::new());
    enter(set, turn, 0, &new);
    confirm(&here, set, &set.find(turn, new.keys()[FORWARD]).unwrap());
    there.watch(true).unwrap();
    let own = all(&here, turn);
    let mut entries = own.iter().map(|(key, value)| (&key[..], &value[..]));
    there.adopt_in(turn, 9, &mut entries, &mut |adopted| assert_eq!(adopted, Adopted::Taken));
    changes(&there, turn, &mut copy);
    assert_eq!(copy, own);
}

/// A flow whose time is over, or a connection that has ended, hides none that goes on: neither by the key of its packets nor by that of the
/// answers. And of one whose time is over nothing is told.
#[test]
fn what_is_over_hides_nothing() {
    let reader = Domain::global().register("test");
    let turn = reader.turn();
    let policy = Policy { guarantee_ms: 0, timeouts: Timeouts::Tcp { nodata: 100, data: 1000, done: 50 } };
    let [here, there] = [(); 2].map(|()| rewriter_with(turn, Kind::Tcp, Capacity::Own(100), policy));
    let set = here.set().unwrap();
    enter(set, turn, 0, &flow(&here, 0, 1));
    let [own, over] = [1, 101].map(|now_ms| part_at(&here, turn, now_ms, false));
    assert_eq!((own.len(), over.len()), (1, 0));
    let heirs = there.set().unwrap();
    // Another port of the same host, and the same port of another host.
    for (host, port) in [(0, 2), (2, 1)] {
        for (flags, now_ms, expected) in [
            (0, 50, Adopted::Contended),
            (0, 101, Adopted::Taken),
            (flag::BOTH_DONE, 50, Adopted::Taken),
            (flag::FORWARD_DONE, 50, Adopted::Contended),
        ] {
            heirs.edit(turn).clear();
            let other = flow(&there, host, port);
            enter(heirs, turn, 0, &other);
            heirs.find(turn, other.keys()[FORWARD]).unwrap().flow.change_flags(0, flags);
            let mut entries = own.iter().map(|(key, value)| (&key[..], &value[..]));
            there.adopt_in(turn, now_ms, &mut entries, &mut |adopted| {
                assert_eq!(adopted, expected, "{host} {port} {flags} {now_ms}");
            });
        }
    }
}

/// What a list says of a flow is all that another rewriter needs: also its changes of sequence numbers, and its annotation.
#[test]
fn listed_flows_go_on() {
    let reader = Domain::global().register("test");
    let turn = reader.turn();
    let [a, b] = [0; 2].map(|_| rewriter(turn, Kind::Ip, Capacity::Own(99)));
    let set = a.set().unwrap();
    (0..20).for_each(|host| enter(set, turn, 0, &flow(&a, host, 100 + u16::from(host))));
    let found = set.find(turn, flow(&a, 4, 104).keys()[0]).unwrap();
    assert!(set.edit(turn).add_delta(&found, 1000, -3) && set.edit(turn).add_delta(&found, 2000, 8));
    confirm(&a, set, &found);
    let list = |nat: &Nat| {
        let json = nat.flow_json(turn, &Filter::default(), 1);
        let mut lines: Vec<_> = json
            .lines()
            .map(|line| line.trim_end_matches(',').to_owned())
            .filter(|line| line.len() > 1)
            .collect();
        lines.sort();
        lines
    };
    let told = list(&a);
    assert!(
        told.iter().any(|line| line.contains("\"deltas\":"))
            && told.iter().any(|line| line.contains("\"reply_anno\":19"))
    );
    assert_eq!(b.load_flows(turn, &told.join("\n"), 1), Ok("20 flows taken, 0 known".to_owned()));
    assert_eq!((list(&b), all(&b, turn).len()), (told, 20));
    let wrong = list(&a)[0].replace("\"protocol\":\"tcp\"", "\"protocol\":\"icmp\"");
    assert!(
        b.load_flows(turn, &wrong, 1).unwrap_err().contains("line 1: no flows of this protocol"),
        "{wrong}"
    );
}
