//! A copy of the connections against the connections themselves, and what becomes of it at another table.

use super::super::sight::{Act, Segment, Sight};
use super::super::state::{Signal, State, Timeouts};
use super::super::table::Found;
use super::*;
use proptest::prelude::*;
use rcu::Domain;
use std::collections::BTreeMap;
use wire::tcp::flag;

type Copy = BTreeMap<Vec<u8>, Vec<u8>>;

fn table(capacity: u32) -> Table {
    Table::new(1, capacity, Timeouts::default(), false)
}

/// A packet of a host's connection or the answer to it, TCP's if the host's number is odd; with TCP's first numbers, or far ahead of them.
fn sight(host: u8, is_reply: bool, (flags, signal): (u8, Signal), is_far: bool) -> Sight {
    let kind = if host % 2 == 1 { 6 } else { 17 } | 4 << 8;
    let key = Key { low: 10, high: 0x0a00_0000 + u128::from(host), ports: 53 << 16 | u32::from(host), kind };
    let sequence = if flags & flag::SYN != 0 { 100 } else { 101 } + if is_far { 1 << 24 } else { 0 };
    let acknowledgement = 101 + if is_far { 1 << 24 } else { 0 };
    let segment =
        Segment { sequence, acknowledgement, len: 0, window: 1000, flags, scale: None, is_cut: false };
    let act = if host % 2 == 1 { Act::Tcp(signal, segment) } else { Act::Datagram };
    Sight::Of(key, !is_reply, act)
}

const SYN: (u8, Signal) = (flag::SYN, Signal::Syn);
const SYN_ACK: (u8, Signal) = (flag::SYN | flag::ACK, Signal::SynAck);
const ACK: (u8, Signal) = (flag::ACK, Signal::Ack);
const FIN: (u8, Signal) = (flag::FIN | flag::ACK, Signal::Fin);
const RST: (u8, Signal) = (flag::RST | flag::ACK, Signal::Rst);

fn key(host: u8) -> Key {
    let Sight::Of(key, ..) = sight(host, false, SYN, false) else { unreachable!("a connection") };
    key
}

/// A packet, as ConnTrack treats one.
fn pass(table: &Table, turn: Turn<'_>, sight: &Sight, now_ms: u64) -> Found {
    let found = table.look(turn, sight, table.clue(turn, sight), now_ms);
    if found == Found::New {
        table.enter(turn, 0, sight, now_ms);
    }
    found
}

fn note(copy: &mut Copy, entry: Entry<'_>) {
    match entry {
        Entry::Put { key, value } => drop(copy.insert(key.into(), value.into())),
        Entry::Gone { key } => drop(copy.remove(key)),
    }
}

/// The connections of a table that are confirmed, or the others, as entries.
fn part(table: &Table, turn: Turn<'_>, now_ms: u64, is_confirmed: bool) -> Copy {
    let (mut copy, mut from) = (Copy::new(), Some(0));
    while let Some(place) = from {
        from = table.scan_in(turn, now_ms, is_confirmed, (place, 5), &mut |entry| note(&mut copy, entry));
    }
    copy
}

/// All of them.
fn all(table: &Table, turn: Turn<'_>, now_ms: u64) -> Copy {
    let mut copy = part(table, turn, now_ms, true);
    copy.extend(part(table, turn, now_ms, false));
    copy
}

/// Tells of all changes, some at a time.
fn changes(table: &Table, turn: Turn<'_>, now_ms: u64, copy: &mut Copy) {
    loop {
        let mut told = 0;
        let each = &mut |entry: Entry<'_>| {
            told += 1;
            note(copy, entry);
        };
        let has_more = table.changes_in(turn, now_ms, 7, each).expect("nothing is lost");
        assert!(told <= 7, "{told} at once");
        if !has_more {
            return;
        }
    }
}

fn adopt(table: &Table, turn: Turn<'_>, now_ms: u64, copy: &Copy) -> Vec<Adopted> {
    let mut became = Vec::new();
    let mut entries = copy.iter().map(|(key, value)| (&key[..], &value[..]));
    table.adopt_in(turn, 0, now_ms, &mut entries, &mut |adopted| became.push(adopted));
    became
}

#[derive(Clone, Debug)]
enum Op {
    /// A host's packet or the answer, of some kind.
    Packet(u8, bool, usize),
    Kill(u8),
    Wait(u64),
    Sweep,
    /// The copy is told of some changes, or of a few records.
    Tell(usize),
    Scan(usize),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        12 => (0..24u8, any::<bool>(), 0..5usize).prop_map(|(host, reply, kind)| Op::Packet(host, reply, kind)),
        2 => (0..24u8).prop_map(Op::Kill),
        1 => (1..150_000u64).prop_map(Op::Wait),
        1 => Just(Op::Sweep),
        2 => (1..9usize).prop_map(Op::Tell),
        3 => (1..9usize).prop_map(Op::Scan),
    ];
    prop::collection::vec(op, 0..150)
}

proptest! {
    /// Whatever happens while everything is looked at in pieces, a copy that was told of all is what is there and confirmed, in a table of this
    /// size also when connections give way; and, once all has to move, the rest, too. At another table each is taken in its state, and what
    /// goes on there already stays.
    #[test]
    fn a_copy_is_what_is_there(ops in ops(), last in ops(), others in prop::collection::vec(0..40u8, 0..12)) {
        let reader = Domain::global().register("test");
        let table = table(16);
        let (mut copy, mut place, mut now_ms) = (Copy::new(), Some(0), 1);
        prop_assert!(table.watch(true));
        for (op, is_confirmed) in ops.into_iter().map(|op| (Some(op), true)).chain([(None, true)]).chain(last.into_iter().map(|op| (Some(op), false))) {
            let turn = reader.turn();
            let Some(op) = op else {
                while let Some(from) = place {
                    place = table.scan_in(turn, now_ms, true, (from, 3), &mut |entry| note(&mut copy, entry));
                }
                table.sweep(turn, now_ms, 1000);
                changes(&table, turn, now_ms, &mut copy);
                prop_assert_eq!(&copy, &part(&table, turn, now_ms, true));
                table.notes.widen();
                place = Some(0);
                continue;
            };
            match op {
                Op::Packet(host, is_reply, kind) => {
                    let signal = [SYN, SYN_ACK, ACK, FIN, RST][kind];
                    pass(&table, turn, &sight(host, is_reply, signal, false), now_ms);
                }
                Op::Kill(host) => {
                    let these: Vec<_> = table.all(turn, now_ms).filter(|(_, its, _)| *its == key(host)).map(|(number, ..)| number).collect();
                    these.into_iter().for_each(|number| _ = table.kill(turn, number, key(host)));
                }
                Op::Wait(ms) => now_ms += ms,
                Op::Sweep => _ = table.sweep(turn, now_ms, 1000),
                Op::Tell(most) => _ = table.changes_in(turn, now_ms, most, &mut |entry| note(&mut copy, entry)).unwrap(),
                Op::Scan(most) => if let Some(from) = place {
                    place = table.scan_in(turn, now_ms, is_confirmed, (from, most), &mut |entry| note(&mut copy, entry));
                }
            }
        }
        let turn = reader.turn();
        while let Some(from) = place {
            place = table.scan_in(turn, now_ms, false, (from, 3), &mut |entry| note(&mut copy, entry));
        }
        table.sweep(turn, now_ms, 1000);
        changes(&table, turn, now_ms, &mut copy);
        prop_assert_eq!(&copy, &all(&table, turn, now_ms));

        let heir = self::table(100);
        for host in others {
            pass(&heir, turn, &sight(host, false, SYN, false), 1);
        }
        let before = all(&heir, turn, 1);
        let became = adopt(&heir, turn, 9, &copy);
        let after = all(&heir, turn, 9);
        prop_assert!(before.iter().all(|(key, value)| after.get(key) == Some(value)));
        for ((key, value), adopted) in copy.iter().zip(&became) {
            let bits = |value: &Vec<u8>| u32::from_be_bytes(value[..].try_into().unwrap());
            match adopted {
                Adopted::Taken => prop_assert_eq!(
                    after.get(key).map(bits), Some(Progress::of_bits(bits(value)).moved().bits())
                ),
                Adopted::Known => prop_assert!(before.contains_key(key)),
                Adopted::Contended | Adopted::Refused => prop_assert!(false, "there is room"),
            }
        }
    }

    /// Any bytes may come: what is no connection is refused, and what is taken in can be looked at.
    #[test]
    fn any_bytes_may_come(
        key in prop::collection::vec(any::<u8>(), 38..42),
        head in prop::collection::vec(0..2u8, 12),
        value in prop::collection::vec(any::<u8>(), 3..6),
        bits in any::<u32>(),
        kind in prop_oneof![Just(0x0406), Just(0x0411), Just(0x0606), Just(u32::MAX), any::<u32>()],
    ) {
        let reader = Domain::global().register("test");
        let (turn, table) = (reader.turn(), table(10));
        let mut good = key.clone();
        good.truncate(KEY);
        good.resize(KEY, 0);
        good[..12].copy_from_slice(&head);
        good[16..28].copy_from_slice(&head);
        good[36..].copy_from_slice(&kind.to_be_bytes());
        let copy = [(key, value.clone()), (good.clone(), bits.to_be_bytes().into()), (good, value)];
        let taken = copy.iter().map(|(key, value)| adopt(&table, turn, 9, &[(key.clone(), value.clone())].into())[0]);
        let taken = taken.filter(|adopted| *adopted == Adopted::Taken).count();
        prop_assert_eq!(table.all(turn, 9).count(), taken);
    }
}

/// A TCP connection goes on at another table, however far its numbers are meanwhile, and ends there as it would have; one of UDP is answered.
#[test]
fn connections_go_on() {
    let reader = Domain::global().register("test");
    let (turn, here, there) = (reader.turn(), table(10), table(10));
    for (is_reply, signal) in [(false, SYN), (true, SYN_ACK), (false, ACK)] {
        assert!(!matches!(pass(&here, turn, &sight(1, is_reply, signal, false), 1), Found::Invalid(_)));
    }
    pass(&here, turn, &sight(2, false, SYN, false), 1);
    // A connection that has ended between the same ends is not in the way.
    for (is_reply, signal) in [(false, SYN), (true, RST)] {
        pass(&there, turn, &sight(1, is_reply, signal, false), 1);
    }
    assert_eq!(adopt(&there, turn, 5, &all(&here, turn, 1)), [Adopted::Taken; 2]);
    assert_eq!(
        pass(&here, turn, &sight(1, false, ACK, true), 6),
        Found::Invalid(super::super::sight::Fault::Window)
    );
    assert_eq!(pass(&there, turn, &sight(1, false, ACK, true), 6), Found::Established);
    assert_eq!(pass(&there, turn, &sight(2, true, ACK, false), 6), Found::Established);
    for (is_reply, signal) in [(false, FIN), (true, FIN), (false, ACK)] {
        assert_eq!(pass(&there, turn, &sight(1, is_reply, signal, true), 6), Found::Established);
    }
    let state = |host| there.find_key(turn, key(host)).map(|record| record.progress().state());
    assert_eq!((state(1), state(2)), (Some(State::TimeWait), Some(State::Open)));
}

/// What kind of question it is has a place in the keys of ICMP alone: in others it would make keys that no packet has.
#[test]
fn only_questions_have_kinds() {
    for (kind, fits) in
        [(0x1_0401, true), (0x2_063a, true), (0x0411, true), (0x1_0411, false), (0x1_0606, false)]
    {
        let key = Key { low: 10, high: 20, ports: 0, kind };
        assert_eq!(key_of(&key_bytes(key)), Some(key).filter(|_| fits), "{kind:x}");
    }
}

/// One at a time watches a table; a full table refuses, and says so.
#[test]
fn bounds() {
    let reader = Domain::global().register("test");
    let (turn, here, there) = (reader.turn(), table(10), table(1));
    assert!(here.watch(true) && !here.watch(true) && here.watch(false) && here.watch(true));
    for host in [1, 3] {
        for (is_reply, signal) in [(false, SYN), (true, SYN_ACK), (false, ACK)] {
            pass(&here, turn, &sight(host, is_reply, signal, false), 1);
        }
    }
    assert_eq!(adopt(&there, turn, 5, &all(&here, turn, 1)), [Adopted::Taken, Adopted::Refused]);
    let come_and_go = |is_answered: bool| {
        for _ in 0..=NOTES / 2 {
            pass(&here, turn, &sight(2, false, SYN, false), 1);
            if is_answered {
                pass(&here, turn, &sight(2, true, SYN, false), 1);
            }
            let (number, its, _) = here.all(turn, 1).find(|(_, its, _)| *its == key(2)).unwrap();
            here.kill(turn, number, its);
        }
    };
    come_and_go(true);
    assert_eq!(here.changes_in(turn, 1, 9, &mut |_| panic!("it is worth nothing")), Err(Overrun));
    assert_eq!(here.changes_in(turn, 1, 9, &mut |_| panic!("nothing is left")), Ok(false));
    // A flood of first packets is none.
    come_and_go(false);
    assert_eq!(here.changes_in(turn, 1, 9, &mut |_| panic!("nothing is confirmed")), Ok(false));
    here.notes.widen();
    come_and_go(false);
    let mut told = 0;
    while here.changes_in(turn, 1, 1000, &mut |_| told += 1).unwrap() {}
    assert!((1..=NOTES / 2).contains(&told), "{told}");
}
