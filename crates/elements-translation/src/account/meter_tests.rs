use super::super::estimate::{Segments, Tcp};
use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use wire::ip_proto;

const MS: i64 = 1_000_000;
const IDLE_MS: i64 = 15_000;

fn meter(capacity: usize, active_ms: i64) -> Meter<V4Tuple> {
    Meter::new(capacity, Timeouts { idle: Duration::from_millis(IDLE_MS as u64), active_ms }, 7)
}

fn key(host: u8, port: u16) -> V4Tuple {
    V4Tuple::new(([10, 0, 0, host].into(), [192, 0, 2, 1].into()), (port, 80), ip_proto::TCP, 0)
}

impl Meter<V4Tuple> {
    fn see(&mut self, key: V4Tuple, octets: u32, tcp_flags: u8, now_ms: i64) -> bool {
        self.add_read((), key, Facts { octets, packets: 1, tcp_flags, icmp: 0 });
        self.count(now_ms * MS, now_ms) == 0
    }

    /// What is reported at a time: the source's port, octets of both directions, and why; sorted.
    fn reported(&mut self, now_ms: i64) -> Vec<(u16, [u64; 2], Why)> {
        let mut all = Vec::new();
        let mut report = |parts: Parts, record: &Record, _: Told, why: Why| {
            all.push((parts.ends[0].1, record.octets, why))
        };
        while self.report(now_ms * MS, 3, &mut report) {}
        all.sort_by_key(|(port, octets, _)| (*port, *octets));
        all
    }
}

/// Each reason for a report, at its time and no sooner.
#[test]
fn flows_are_reported_in_time() {
    let mut meter = meter(100, 60_000);
    // One that goes idle, one that goes on, one that is closed, one that is reset.
    for port in 1..=4 {
        assert!(meter.see(key(1, port), 100, flag::SYN, 1000));
    }
    meter.see(key(1, 3).reversed(), 50, flag::FIN | flag::ACK, 1500);
    meter.see(key(1, 3), 50, flag::FIN | flag::ACK, 1600);
    meter.see(key(1, 4).reversed(), 40, flag::RST, 1600);
    assert_eq!(meter.reported(2000), []);
    assert_eq!(meter.reported(4000), [(3, [150, 50], Why::End), (4, [100, 40], Why::End)]);
    for second in 2..=60 {
        meter.see(key(1, 2).reversed(), 10, flag::ACK, second * 1000);
        let idle = meter.reported(second * 1000);
        assert_eq!(idle, if second == 17 { vec![(1, [100, 0], Why::Idle)] } else { vec![] }, "{second}");
    }
    meter.see(key(1, 2), 10, flag::ACK, 61_000);
    meter.see(key(1, 2), 10, flag::ACK, 61_001);
    assert_eq!(meter.reported(61_001), [(2, [120, 590], Why::Active)]);
    // Nothing more came: the end of an empty record is not told.
    assert_eq!((meter.reported(200_000), meter.len()), (vec![], 0));
}

/// A connection whose ports the next one takes at once is a flow of its own.
#[test]
fn ports_that_are_used_again_begin_a_flow() {
    let mut meter = meter(100, 60_000);
    meter.see(key(1, 5), 40, flag::SYN, 0);
    meter.see(key(1, 5).reversed(), 40, flag::RST | flag::ACK, 10);
    meter.see(key(1, 5), 44, flag::SYN, 20);
    assert_eq!((meter.reported(20), meter.len()), (vec![(5, [40, 40], Why::End)], 1));
    assert_eq!(meter.reported(30_000), [(5, [44, 0], Why::Idle)]);
}

/// In a full table flows of a single packet give way and are reported; others stay, and new ones are refused then.
#[test]
fn what_is_displaced_is_reported() {
    let mut meter = meter(4, 60_000);
    for port in 1..=3 {
        assert!(meter.see(key(1, port), 100, 0, 0));
    }
    assert_eq!(meter.reported(1), [(1, [100, 0], Why::Displaced)]);
    for port in [2, 3, 4, 4, 5, 5] {
        assert!(meter.see(key(1, port), 1, 0, 2), "{port}");
    }
    assert!(!meter.see(key(1, 6), 1, 0, 3));
    assert_eq!((meter.reported(3), meter.len()), (vec![], 4));
    // More than can wait are lost, and counted.
    let mut crowded = self::meter(2, 60_000);
    for port in 0..1000 {
        crowded.see(key(1, port), 1, 0, 0);
    }
    let reported = crowded.reported(1).len();
    assert_eq!((reported, crowded.lost as usize + reported + crowded.len()), (GONE, 1000));
}

/// A host that talks to itself from a port to the same has one direction.
#[test]
fn a_flow_that_is_its_own_reply() {
    let mut meter = meter(4, 60_000);
    let own = V4Tuple::new(([10, 0, 0, 1].into(), [10, 0, 0, 1].into()), (9, 9), ip_proto::UDP, 0);
    assert!(meter.see(own, 30, 0, 0) && meter.see(own, 30, 0, 1));
    assert_eq!(meter.reported(60_000), [(9, [60, 0], Why::Idle)]);
}

/// Another meter goes on, be it larger, as large or smaller: what has no place there is reported.
#[test]
fn another_meter_takes_over() {
    for capacity in [50, 10, 3] {
        let mut old = meter(10, 60_000);
        for port in 1..=5 {
            old.see(key(1, port), 100, 0, 0);
            old.see(key(1, port).reversed(), 7, 0, 0);
        }
        let mut new = meter(capacity, 60_000);
        new.adopt(old.give(), 0);
        assert_eq!((old.len(), new.len()), (0, capacity.min(5)));
        for port in 1..=5 {
            new.see(key(1, port).reversed(), 1, 0, 10);
        }
        let octets = |reported: Vec<(u16, [u64; 2], Why)>| {
            reported.iter().flat_map(|(_, octets, _)| *octets).sum::<u64>()
        };
        let (at_once, later) = (octets(new.reported(10)), octets(new.reported(60_000)));
        assert_eq!(at_once + later, 5 * 107 + capacity.min(5) as u64, "{capacity}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Whatever comes in whatever order: all octets of all packets that were counted are reported, once, with their flow and direction; and a
    /// flow is never longer silent than the active timeout, the idle one and the time between two looks.
    #[test]
    fn nothing_is_lost_or_doubled(
        packets in prop::collection::vec((0..3u8, 0..4u16, any::<bool>(), 1..1500u32, 0..64u8, 0..9000i64), 1..300),
        active_ms in 500..40_000i64,
        capacity in 1..16usize,
    ) {
        let mut meter = meter(capacity, active_ms);
        let (mut counted, mut reported) = (BTreeMap::<_, [u64; 2]>::new(), BTreeMap::<_, [u64; 2]>::new());
        let mut now_ms = 1_000_000;
        let mut oldest = 0;
        for (host, port, is_back, octets, flags, pause_ms) in packets {
            now_ms += pause_ms;
            let forth = key(host, port);
            let key = if is_back { forth.reversed() } else { forth };
            if meter.see(key, octets, flags, now_ms) {
                counted.entry(forth.parts().ends).or_default()[usize::from(is_back)] += u64::from(octets);
            }
            let mut report = |parts: Parts, record: &Record, _: Told, _| {
                let is_back = parts.ends[0].1 == 80;
                let ends = if is_back { [parts.ends[1], parts.ends[0]] } else { parts.ends };
                let sum = reported.entry(ends).or_default();
                sum[usize::from(is_back)] += record.octets[0];
                sum[usize::from(!is_back)] += record.octets[1];
                oldest = oldest.max(record.age_ms(now_ms));
            };
            while meter.report(now_ms * MS, 2, &mut report) {}
        }
        let mut rest = |parts: Parts, record: &Record, _: Told, _| {
            let is_back = parts.ends[0].1 == 80;
            let ends = if is_back { [parts.ends[1], parts.ends[0]] } else { parts.ends };
            let sum = reported.entry(ends).or_default();
            sum[usize::from(is_back)] += record.octets[0];
            sum[usize::from(!is_back)] += record.octets[1];
        };
        meter.force(now_ms * MS);
        while meter.report(now_ms * MS, 2, &mut rest) {}
        prop_assert_eq!((meter.len(), meter.lost), (0, 0));
        prop_assert_eq!(counted, reported);
        prop_assert!(oldest <= active_ms + IDLE_MS + 2 * 9000 + 500, "{}", oldest);
    }
}

/// A packet as a test makes it up: port, direction, kind, how often it comes in a row, and its number in the sequence of its direction.
type Made = (u16, bool, u8, usize, u32);

/// Counts batches of packets, in each of which kinds up to some one are, together and one by one: what is refused, kept, reported and lost is the
/// same.
fn as_single_packets<E: Estimate>(
    batches: &[(Vec<Made>, u8)],
    capacity: usize,
    segment: fn(u8, u32) -> E::Segment,
) -> Result<(), TestCaseError> {
    let timeouts = Timeouts { idle: Duration::from_millis(IDLE_MS as u64), active_ms: 500 };
    let [mut together, mut singly] = [(); 2].map(|()| Meter::<V4Tuple, E>::new(capacity, timeouts, 7));
    let kinds = [
        0,
        flag::ACK,
        flag::SYN,
        flag::SYN | flag::ACK,
        flag::FIN | flag::ACK,
        flag::FIN,
        flag::RST,
        flag::ACK,
    ];
    let all = |meter: &mut Meter<V4Tuple, E>, now_ms: i64| {
        let mut all = Vec::new();
        while meter.report(now_ms * MS, 3, &mut |parts, record: &Record, told, why| {
            all.push((parts, *record, told, why as u8));
        }) {}
        all.sort_by_key(|(parts, record, _, why)| (*parts, record.start_ms, *why));
        all
    };
    for (at, (batch, kinds_there)) in (0..).zip(batches) {
        let (now_ms, mut refused) = (at * 300, 0);
        for &(port, is_back, kind, times, number) in batch {
            let key = if is_back { key(1, port).reversed() } else { key(1, port) };
            let tcp_flags = kinds[usize::from(kind % kinds_there)];
            for number in (number..).take(times) {
                let facts = Facts { octets: 100, packets: 1, tcp_flags, icmp: 0 };
                together.add_read(segment(kind, number), key, facts);
                singly.add_read(segment(kind, number), key, facts);
                refused += singly.count(now_ms * MS, now_ms);
            }
        }
        prop_assert_eq!((together.count(now_ms * MS, now_ms), together.len()), (refused, singly.len()));
        prop_assert_eq!(all(&mut together, now_ms), all(&mut singly, now_ms));
    }
    prop_assert_eq!(
        (all(&mut together, 1_000_000), together.lost),
        (all(&mut singly, 1_000_000), singly.lost)
    );
    Ok(())
}

proptest! {
    /// Packets that are counted together leave what they leave one by one, also where flows are refused, displaced, closed and begin anew.
    #[test]
    fn trains_are_as_single_packets(
        batches in prop::collection::vec(
            (prop::collection::vec((0u16..6, any::<bool>(), 0u8..8, 1usize..4, 0u32..8), 1..12), prop_oneof![Just(2u8), Just(8)]),
            1..30,
        ),
        capacity in 2usize..8,
    ) {
        as_single_packets::<()>(&batches, capacity, |_, _| ())?;
        // Segments of TCP with data, and some without.
        as_single_packets::<Tcp>(&batches, capacity, |kind, number| Segments {
            sequence: number * 100,
            len: if kind == 0 { 0 } else { 100 },
            number: 1,
        })?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    /// Where flows were found lately is no more than a guess: a meter that forgets it before each packet counts the same, also where flows end,
    /// others take their records, or their ports, and where another configuration goes on.
    #[test]
    fn what_is_found_at_once_is_as_what_is_searched(
        packets in prop::collection::vec((0..3u8, 0..5u16, any::<bool>(), 0usize..8, prop_oneof![6 => 0..40i64, 1 => 0..20_000i64], 0..60u8), 1..300),
        active_ms in 500..40_000i64,
        capacity in 1..12usize,
    ) {
        let kinds = [flag::ACK, flag::ACK, flag::ACK, 0, flag::SYN, flag::SYN | flag::ACK, flag::FIN | flag::ACK, flag::RST];
        let (mut quick, mut slow) = (meter(capacity, active_ms), meter(capacity, active_ms));
        let mut now_ms = 1_000_000;
        let all = |meter: &mut Meter<V4Tuple>, now_ms: i64| {
            let mut all = Vec::new();
            while meter.report(now_ms * MS, 3, &mut |parts, record: &Record, _, why| all.push((parts, *record, why as u8))) {}
            all
        };
        for (host, port, is_back, kind, pause_ms, swap) in packets {
            now_ms += pause_ms;
            let key = if is_back { key(host, port).reversed() } else { key(host, port) };
            slow.recent = Recent::new(HashKey::new(1));
            let counted = [&mut quick, &mut slow].map(|meter| meter.see(key, 100, kinds[kind], now_ms));
            prop_assert_eq!(counted[0], counted[1]);
            prop_assert_eq!(quick.table.stats(), slow.table.stats());
            if pause_ms % 4 == 0 {
                prop_assert_eq!(all(&mut quick, now_ms), all(&mut slow, now_ms));
            }
            if swap == 0 {
                for meter in [&mut quick, &mut slow] {
                    let old = meter.give();
                    *meter = self::meter(capacity, active_ms);
                    meter.adopt(old, now_ms * MS);
                }
            }
        }
        now_ms += 100_000;
        prop_assert_eq!((all(&mut quick, now_ms), quick.lost, quick.len()), (all(&mut slow, now_ms), slow.lost, slow.len()));
    }
}

/// Packets of a few flows, in both directions and no order, are counted once a batch.
#[test]
fn packets_of_few_flows_are_counted_together() {
    let mut meter = meter(100, 60_000);
    let batch = |meter: &mut Meter<V4Tuple>, tcp_flags| {
        for number in 0..100 {
            let key =
                if number % 2 == 0 { key(1, number / 2 % 3) } else { key(1, number / 2 % 3).reversed() };
            meter.add_read((), key, Facts { octets: 100, packets: 1, tcp_flags, icmp: 0 });
        }
        let trains = meter.at_hand.len();
        assert_eq!(meter.count(0, 0), 0);
        trains
    };
    assert_eq!(batch(&mut meter, flag::ACK), 100, "nothing is known of them");
    assert_eq!((batch(&mut meter, flag::ACK), batch(&mut meter, 0)), (6, 6));
    assert_eq!((batch(&mut meter, flag::FIN), batch(&mut meter, flag::ACK)), (100, 6));
}

/// Flows whose hashes are alike are none of each other.
#[test]
fn flows_are_kept_apart() {
    let mut meter = meter(100, 60_000);
    for _ in 0..5 {
        for number in 0..120 {
            let facts = Facts { octets: 10 + u32::from(number % 40), packets: 1, ..Facts::default() };
            meter.add_read((), key(1, number % 40), facts);
        }
        assert_eq!(meter.count(0, 0), 0);
    }
    let expected: Vec<_> = (0..40).map(|port| (port, [u64::from(10 + port) * 15, 0], Why::Idle)).collect();
    assert_eq!(meter.reported(60_000), expected);
}

/// Packets of flows that were found lately ask neither for a hash nor for the index.
#[test]
fn flows_are_found_at_once() {
    let mut meter = meter(100, 60_000);
    let waits = |meter: &mut Meter<V4Tuple>| {
        for port in 0..50 {
            for key in [key(1, port), key(1, port).reversed()] {
                meter.add_read((), key, Facts { octets: 100, packets: 1, ..Facts::default() });
            }
        }
        let waits = meter.unknown.len();
        assert_eq!(meter.count(0, 0), 0);
        waits
    };
    // The first time nothing is known, and the second time what had a second packet.
    let [first, second] = [(); 2].map(|()| waits(&mut meter));
    assert!(first == 100 && (50..55).contains(&second), "{first}, {second}");
    assert!(waits(&mut meter) < 5, "few flows share a place");
    meter.recent = Recent::new(HashKey::new(1));
    assert_eq!(waits(&mut meter), 100, "what the index has guessed is kept in mind, too");
    assert!(waits(&mut meter) < 5);
}
