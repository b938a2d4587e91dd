use super::naive::{Naive, Times};
use super::state::{News, State, Timing};
use super::table::{Advice, Kind, Limits, NeighbourLookup, Neighbours, Refusal, Resolution, Waiter};
use proptest::prelude::*;
use rcu::Domain;
use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::atomic::Ordering::Relaxed;
use wire::MacAddr;

const MS: i64 = 1_000_000;
const SECOND: i64 = 1000 * MS;

const TIMES: Times = Times { reachable: 2000, delay: 500, retrans: 300, probes: 3, timeout: 5000 };

fn timing(times: Times) -> Timing {
    let ns = |ms: u32| i64::from(ms) * MS;
    Timing {
        reachable_ns: ns(times.reachable),
        delay_ns: ns(times.delay),
        retrans_ns: ns(times.retrans),
        probes: times.probes,
        timeout_ns: ns(times.timeout),
    }
}

fn limits(timing: Timing) -> Limits {
    Limits { timing, packets: 2048, entries: 0, unknown: 0, entry_packets: 0, slim_factor: 2 }
}

/// Click's: no repetition without packets.
fn clicks() -> Limits {
    limits(super::arguments::CLICK)
}

const WAITER: Waiter = Waiter { element: 7, worker: 1 };

fn ip(number: u32) -> Ipv4Addr {
    Ipv4Addr::from_bits(0x0a00_0000 + number)
}

fn mac(last: u8) -> MacAddr {
    MacAddr([2, 0, 0, 0, 0, last])
}

fn answer(last: u8) -> News {
    News { mac: Some(mac(last)), solicited: true, overrides: true }
}

#[derive(Clone, Debug)]
enum Op {
    Want(u8),
    Tell(u8, News),
    Insert(u8, u8, bool),
    Delete(u8),
    Age,
    Pass(u32),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let news = (prop::option::of(0u8..3), any::<bool>(), any::<bool>())
        .prop_map(|(last, solicited, overrides)| News { mac: last.map(mac), solicited, overrides });
    let op = prop_oneof![
        6 => (0u8..3).prop_map(Op::Want),
        4 => (0u8..3, news).prop_map(|(ip, news)| Op::Tell(ip, news)),
        1 => (0u8..3, 0u8..3, prop::bool::weighted(0.2)).prop_map(|(ip, mac, p)| Op::Insert(ip, mac, p)),
        1 => (0u8..3).prop_map(Op::Delete),
        1 => Just(Op::Age),
        3 => (1u32..400).prop_map(Op::Pass),
        3 => (400u32..2500).prop_map(Op::Pass),
    ];
    prop::collection::vec(op, 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Three neighbours, two of which share a bucket, behave as three naive ones: the same states and Ethernet addresses at every
    /// moment, the same queries.
    #[test]
    fn as_the_rfc_says(ops in ops()) {
        let reader = Domain::global().register("test");
        let turn = reader.turn();
        let table = Neighbours::with_buckets(limits(timing(TIMES)), 7, 2);
        let mut naive: Vec<Naive> = (0..3).map(|_| Naive::new(TIMES)).collect();
        let mut alarms: HashMap<u8, i64> = HashMap::new();
        let mut asked = vec![Vec::new(); 3];
        let mut now = 1000 * SECOND;
        let mut follow = |n: u8, advice: Advice, alarms: &mut HashMap<u8, i64>| {
            asked[usize::from(n)].extend(advice.query);
            match advice.alarm_ns {
                Some(at) => alarms.insert(n, at),
                None => alarms.remove(&n),
            };
        };
        for op in ops {
            match op {
                Op::Want(n) => {
                    naive[usize::from(n)].want();
                    let (advice, _) = table.want(turn, ip(n.into()), now, WAITER).expect("room");
                    follow(n, advice, &mut alarms);
                }
                Op::Tell(n, news) => {
                    naive[usize::from(n)].tell(news);
                    let _ = table.tell(turn, ip(n.into()), news, false, now).expect("room");
                }
                Op::Insert(n, last, permanent) => {
                    naive[usize::from(n)].insert(mac(last), permanent);
                    let _ = table.insert(turn, ip(n.into()), mac(last), permanent, now).expect("room");
                }
                Op::Delete(n) => {
                    naive[usize::from(n)].delete();
                    let _ = table.delete(turn, ip(n.into()), now).expect("room");
                }
                Op::Age => { let _ = table.age(turn, now); }
                Op::Pass(ms) => for _ in 0..ms {
                    naive.iter_mut().for_each(Naive::pass);
                    now += MS;
                    for n in 0..3 {
                        if alarms.get(&n).is_some_and(|&at| at <= now) {
                            alarms.remove(&n);
                            let advice = table.tick(turn, ip(n.into()), now).map(|(advice, _)| advice);
                            advice.into_iter().for_each(|advice| follow(n, advice, &mut alarms));
                        }
                    }
                }
            }
            let listed = table.states(now);
            for (n, naive) in naive.iter().enumerate() {
                let address = ip(n as u32);
                let of = format!("{address} ");
                let line = listed.lines().find_map(|line| line.strip_prefix(&of));
                let words: Vec<_> = line.unwrap_or("- failed").split(' ').collect();
                let expected = naive.mac.filter(|_| naive.state.is_known());
                let text = expected.map_or("-".to_owned(), |mac| mac.to_string());
                prop_assert_eq!((words[0], words[1]), (&text[..], naive.state.name()), "{}", address);
                match (table.lookup(turn, address, now), expected) {
                    (NeighbourLookup::Known(found) | NeighbourLookup::Aged(found), Some(mac)) => {
                        prop_assert_eq!(found, mac);
                    }
                    (NeighbourLookup::Known(_), None) | (NeighbourLookup::Unknown, Some(_)) => {
                        prop_assert!(false, "{}", address);
                    }
                    (NeighbourLookup::Aged(_) | NeighbourLookup::Unknown, None) => {}
                }
            }
        }
        for (asked, naive) in asked.iter().zip(&naive) {
            prop_assert_eq!(asked, &naive.queries);
        }
    }

    /// Whatever comes: the table is no larger than it may be, a reachable neighbour is forgotten only where a full table makes room for
    /// one that a packet needs, and then no other is; a permanent one does not change.
    #[test]
    fn limits_hold(steps in prop::collection::vec((0u32..40, 0u8..3, 0i64..150), 0..200)) {
        let reader = Domain::global().register("test");
        let turn = reader.turn();
        let table = Neighbours::new(Limits { entries: 12, unknown: 4, ..limits(timing(TIMES)) }, 7);
        let mut now = 1000 * SECOND;
        let _ = table.insert(turn, ip(0), mac(9), true, now).expect("room");
        let mut confirmed: HashMap<u32, i64> = HashMap::new();
        for (n, action, ms) in steps {
            now += ms * MS;
            match action {
                0 => {
                    let fresh = table.resolution(ip(n), now) == Resolution::Gone;
                    let full = table.len() == 12;
                    let wanted = table.want(turn, ip(n), now, WAITER);
                    prop_assert!(wanted.is_ok() || fresh);
                    if wanted.is_ok() && fresh && full {
                        let is_forgotten = |n: &u32| table.resolution(ip(*n), now) == Resolution::Gone;
                        let reaches = |at: &i64| now < at + i64::from(TIMES.reachable) * MS;
                        let forgotten = confirmed.iter().filter(|(n, at)| is_forgotten(n) && reaches(at)).count();
                        prop_assert!(forgotten <= 1);
                        confirmed.retain(|n, _| !is_forgotten(n));
                    }
                }
                1 => if table.tell(turn, ip(n), answer(1), true, now).is_ok() && n > 0 {
                    confirmed.insert(n, now);
                },
                _ => { let _ = table.tell(turn, ip(n), answer(1), false, now); }
            }
            prop_assert!(table.len() <= 12);
            prop_assert_eq!(table.resolution(ip(0), now), Resolution::Known(mac(9)));
            for (&n, &at) in &confirmed {
                if now < at + i64::from(TIMES.reachable) * MS {
                    prop_assert_eq!(table.resolution(ip(n), now), Resolution::Known(mac(1)));
                }
            }
        }
    }
}

/// A sender scans thousands of addresses that do not exist: few are asked for at a time, and known neighbours stay.
#[test]
fn a_scan_evicts_nobody() {
    let reader = Domain::global().register("test");
    let turn = reader.turn();
    let table = Neighbours::new(Limits { entries: 100, unknown: 20, ..clicks() }, 7);
    let _ = table.tell(turn, ip(1), answer(1), true, SECOND).expect("room");
    let mut asked = 0;
    for n in 0..100_000u32 {
        let now = SECOND + i64::from(n) * 10_000; // a second in all
        match table.want(turn, ip(1000 + n), now, WAITER) {
            Ok((advice, _)) => asked += u32::from(advice.query.is_some()),
            Err(refusal) => assert_eq!(refusal, Refusal::Full),
        }
        assert!(table.len() <= 21);
    }
    assert!((180..=220).contains(&asked), "{asked} queries in a second");
    assert_eq!(table.lookup(turn, ip(1), 2 * SECOND), NeighbourLookup::Known(mac(1)));
    // Another address has its turn, too.
    let (advice, _) = table.want(turn, ip(2), 3 * SECOND, WAITER).expect("room");
    assert!(advice.query.is_some());
    let _ = table.tell(turn, ip(2), answer(2), false, 3 * SECOND).expect("room");
    assert_eq!(table.lookup(turn, ip(2), 3 * SECOND), NeighbourLookup::Known(mac(2)));
}

/// No announcement takes over a permanent neighbour, and announcements without end displace no reachable one.
#[test]
fn poison_is_refused() {
    let reader = Domain::global().register("test");
    let turn = reader.turn();
    let table = Neighbours::new(Limits { entries: 10, ..clicks() }, 7);
    let _ = table.insert(turn, ip(1), mac(1), true, SECOND).expect("room");
    let _ = table.tell(turn, ip(2), answer(2), true, SECOND).expect("room");
    let _ = table.tell(turn, ip(1), answer(66), true, SECOND).expect("no matter");
    for n in 100..1000 {
        let _ = table.tell(turn, ip(n), answer(66), true, 2 * SECOND);
    }
    assert_eq!(table.len(), 10);
    for (n, last) in [(1, 1), (2, 2)] {
        assert_eq!(table.lookup(turn, ip(n), 2 * SECOND), NeighbourLookup::Known(mac(last)));
    }
    assert_eq!(table.refused().load(Relaxed), 1);
    // What does not override makes the neighbour suspect, no more.
    let _ = table.tell(turn, ip(2), News { overrides: false, ..answer(66) }, true, 2 * SECOND).expect("room");
    assert_eq!(table.lookup(turn, ip(2), 2 * SECOND), NeighbourLookup::Aged(mac(2)));
    assert_eq!(table.refused().load(Relaxed), 2);
}

/// Queries for an address go out ten times a second at most, and less often when no host answers.
#[test]
fn query_rate() {
    let reader = Domain::global().register("test");
    let turn = reader.turn();
    let table = Neighbours::new(clicks(), 7);
    let mut queries = Vec::new();
    for ms in 0..6000 {
        let (advice, _) = table.want(turn, ip(1), ms * MS, WAITER).expect("room");
        if advice.query.is_some() {
            queries.push(ms);
        }
    }
    assert_eq!(queries, [0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 2900, 4900]);
}

/// A known address is confirmed once its time has come, and packets meanwhile go where it was.
#[test]
fn an_aged_address_is_polled_and_still_used() {
    let reader = Domain::global().register("test");
    let turn = reader.turn();
    let table = Neighbours::new(clicks(), 7);
    let _ = table.tell(turn, ip(1), answer(1), true, 0).expect("room");
    assert_eq!(table.lookup(turn, ip(1), 59_999 * MS), NeighbourLookup::Known(mac(1)));
    assert_eq!(table.lookup(turn, ip(1), 60_000 * MS), NeighbourLookup::Aged(mac(1)));
    let polls = |at_ms| {
        let (advice, _) = table.want(turn, ip(1), at_ms * MS, WAITER).expect("room");
        assert_eq!(advice.mac, Some(mac(1)));
        advice.query.is_some()
    };
    assert!(polls(60_000) && !polls(60_000) && !polls(60_099) && polls(60_100));
    assert_eq!(table.lookup(turn, ip(1), 60_101 * MS), NeighbourLookup::Known(mac(1)));
}

/// At the limit an administrator's word makes the oldest address go, and who waits for it hears of it.
#[test]
fn at_the_limit_the_oldest_address_goes() {
    let reader = Domain::global().register("test");
    let turn = reader.turn();
    let table = Neighbours::new(Limits { entries: 2, ..clicks() }, 7);
    let _ = table.want(turn, ip(1), 1, WAITER).expect("room");
    let _ = table.insert(turn, ip(2), mac(2), false, 2).expect("room");
    let effects = table.insert(turn, ip(3), mac(3), false, 3).expect("room");
    let kinds: Vec<Kind> = effects.changes.iter().map(|change| change.kind).collect();
    assert_eq!((effects.wake, kinds), (vec![WAITER], vec![Kind::Delete, Kind::Add]));
    assert_eq!((table.len(), table.resolution(ip(1), 3)), (2, Resolution::Gone));
    let _ = table.insert(turn, ip(2), mac(2), false, 4).expect("room");
    let _ = table.insert(turn, ip(4), mac(4), false, 5).expect("room");
    assert_eq!(
        (table.resolution(ip(3), 5), table.resolution(ip(2), 5)),
        (Resolution::Gone, Resolution::Known(mac(2)))
    );
    // A packet's address is asked for, too; only one of so few places may be for such ones.
    assert!(table.want(turn, ip(5), 6, WAITER).is_ok_and(|(advice, _)| advice.query.is_some()));
    assert_eq!(
        (table.resolution(ip(2), 6), table.resolution(ip(4), 6)),
        (Resolution::Gone, Resolution::Known(mac(4)))
    );
    assert_eq!(table.want(turn, ip(6), 7, WAITER).err(), Some(Refusal::Full));
    let news = table.tell(turn, ip(7), answer(7), true, 7);
    assert_eq!((news.err(), table.resolution(ip(4), 7)), (Some(Refusal::Full), Resolution::Known(mac(4))));
}

/// Another table takes over all addresses, known or not, those that are too old to be used, too; known ones first where there is no room.
#[test]
fn what_is_not_known_is_taken_over_too() {
    let reader = Domain::global().register("test");
    let turn = reader.turn();
    let table = Neighbours::new(limits(timing(TIMES)), 7);
    let _ = table.want(turn, ip(1), 1, WAITER).expect("room");
    let _ = table.insert(turn, ip(2), mac(2), false, 2).expect("room");
    let _ = table.insert(turn, ip(3), mac(3), false, SECOND).expect("room");
    for (entries, len) in [(0, 3), (2, 2), (1, 1)] {
        let heir = Neighbours::new(Limits { entries, ..limits(timing(TIMES)) }, 8);
        // The second answered too long ago by now.
        let now_ns = 5 * SECOND + 3;
        let _ = heir.adopt(&table, turn, now_ns);
        assert_eq!((heir.len(), heir.resolution(ip(3), now_ns)), (len, Resolution::Known(mac(3))));
        let again = heir.adopt(&table, turn, now_ns);
        assert_eq!((heir.len(), again.changes.len()), (len, 0), "the same from another instance");
    }
}

/// More neighbours than the table has room for are all found, one after the other.
#[test]
fn a_full_table_makes_room_for_a_packet() {
    let reader = Domain::global().register("test");
    let turn = reader.turn();
    let table = Neighbours::new(Limits { entries: 4, ..clicks() }, 7);
    for n in 1..=40 {
        let now = SECOND + i64::from(n) * MS;
        let (advice, _) = table.want(turn, ip(n), now, WAITER).expect("room");
        assert!(advice.query.is_some());
        let _ = table.tell(turn, ip(n), answer(1), false, now).expect("it was asked for");
        assert_eq!(
            (table.resolution(ip(n), now), table.len()),
            (Resolution::Known(mac(1)), n.min(4) as usize)
        );
    }
}

#[test]
fn listeners_are_told_each_change() {
    let reader = Domain::global().register("test");
    let turn = reader.turn();
    let table = Neighbours::new(clicks(), 7);
    let mut told = Vec::new();
    let mut note = |effects: super::table::Effects<Ipv4Addr>| {
        told.extend(effects.changes.iter().map(|change| change.to_string()));
    };
    note(table.want(turn, ip(1), SECOND, WAITER).expect("room").1);
    note(table.want(turn, ip(1), SECOND, WAITER).expect("room").1);
    note(table.tell(turn, ip(1), answer(1), false, SECOND).expect("room"));
    note(table.tell(turn, ip(1), answer(1), false, 2 * SECOND).expect("room"));
    note(table.age(turn, 62 * SECOND));
    note(table.want(turn, ip(1), 63 * SECOND, WAITER).expect("room").1);
    note(table.tell(turn, ip(1), answer(2), false, 64 * SECOND).expect("room"));
    note(table.age(turn, 400 * SECOND));
    let expected = [
        "add 10.0.0.1 - incomplete",
        "change 10.0.0.1 02-00-00-00-00-01 reachable",
        "change 10.0.0.1 02-00-00-00-00-01 stale",
        "change 10.0.0.1 02-00-00-00-00-01 probe",
        "change 10.0.0.1 02-00-00-00-00-02 reachable",
        "delete 10.0.0.1 02-00-00-00-00-02 reachable",
    ];
    assert_eq!(told, expected);
    assert_eq!(State::Permanent.name(), "permanent");
}

/// While one thread changes the table others never see a wrong address, nor miss one that is always there.
#[test]
fn readers_beside_a_writer() {
    let table = Neighbours::with_buckets(clicks(), 7, 1);
    // The last byte tells the neighbours apart; the second one changes.
    let mac = |last: u32, version: u8| MacAddr([2, version, 0, 0, 0, last as u8]);
    let done = std::sync::atomic::AtomicBool::new(false);
    let mut reader = Domain::global().register("writer");
    for last in 0..8 {
        let _ = table.insert(reader.turn(), ip(last), mac(last, 0), false, SECOND).expect("room");
    }
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut reader = Domain::global().register("reader");
                while !done.load(Relaxed) {
                    for last in 0..8 {
                        match table.lookup(reader.turn(), ip(last), SECOND) {
                            NeighbourLookup::Known(mac) | NeighbourLookup::Aged(mac) => {
                                assert_eq!(u32::from(mac.0[5]), last)
                            }
                            NeighbourLookup::Unknown => {
                                assert!(last >= 4, "only the others are ever removed")
                            }
                        }
                    }
                    reader.quiescent();
                }
            });
        }
        for round in 0..3000u32 {
            let last = round % 8;
            let change = |reader: &rcu::Reader| match last >= 4 && round % 3 == 0 {
                true => table.delete(reader.turn(), ip(last), SECOND),
                false => table.insert(reader.turn(), ip(last), mac(last, round as u8), false, SECOND),
            };
            while change(&reader).is_err() {
                reader.synchronize();
            }
            reader.quiescent();
        }
        done.store(true, Relaxed);
    });
}

/// A flood of announcements fills no table: in each second a thousand are learned, and what is known and asked for goes on.
#[test]
fn a_flood_of_announcements_is_learned_slowly() {
    let reader = Domain::global().register("test");
    let turn = reader.turn();
    let table = Neighbours::new(clicks(), 7);
    let _ = table.tell(turn, ip(1), answer(1), true, SECOND).expect("room");
    let mut learned = 0;
    for n in 0..100_000u32 {
        let now = SECOND + i64::from(n) * 50_000; // five seconds
        learned +=
            usize::from(table.hear(turn, Ipv4Addr::from(0x0b00_0000 + n), answer(2), true, now).is_ok());
        if n % 1000 == 0 {
            let _ = table.tell(turn, ip(1), answer(1), true, now).expect("it is known");
        }
    }
    assert!((4999..=5001).contains(&learned), "{learned}");
    assert_eq!(table.len(), learned + 1);
}
