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

proptest! {
    /// Packets that are counted together leave what they leave one by one, also where flows are refused, displaced, closed and begin anew.
    #[test]
    fn trains_are_as_single_packets(batches in prop::collection::vec(prop::collection::vec((0u16..6, any::<bool>(), 0u8..6, 1usize..4), 1..8), 1..30), capacity in 2usize..8) {
        let (mut together, mut singly) = (meter(capacity, 500), meter(capacity, 500));
        let kinds = [flag::ACK, flag::ACK, flag::SYN, flag::SYN | flag::ACK, flag::FIN | flag::ACK, flag::RST];
        let all = |meter: &mut Meter<V4Tuple>, now_ms: i64| {
            let mut all = Vec::new();
            while meter.report(now_ms * MS, 3, &mut |parts, record: &Record, _, why| all.push((parts, *record, why as u8))) {}
            all.sort_by_key(|(parts, record, why)| (*parts, record.start_ms, *why));
            all
        };
        for (at, batch) in (0..).zip(batches) {
            let (now_ms, mut refused) = (at * 300, 0);
            for (port, is_back, kind, times) in batch {
                let key = if is_back { key(1, port).reversed() } else { key(1, port) };
                for _ in 0..times {
                    refused += u64::from(!singly.see(key, 100, kinds[usize::from(kind)], now_ms));
                    together.add_read((), key, Facts { octets: 100, packets: 1, tcp_flags: kinds[usize::from(kind)], icmp: 0 });
                }
            }
            prop_assert_eq!((together.count(now_ms * MS, now_ms), together.len()), (refused, singly.len()));
            prop_assert_eq!(all(&mut together, now_ms), all(&mut singly, now_ms));
        }
        prop_assert_eq!((all(&mut together, 1_000_000), together.lost), (all(&mut singly, 1_000_000), singly.lost));
    }
}
