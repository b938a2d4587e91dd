use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn address(host: u8) -> Ipv6Addr {
    Ipv6Addr::from_bits(0x2001_0db8 << 96 | u128::from(host))
}

/// A sweep over flows with these sources, to its end.
fn sweep(hosts: &Hosts, reader: &mut rcu::Reader, used: &[u32], now_s: u32) {
    let mut sweep = Sweep::default();
    sweep.begin(hosts, now_s);
    used.iter().for_each(|&number| sweep.mark(number));
    sweep.unlist(hosts, reader.turn());
    while !sweep.free(hosts, reader.turn()) {
        reader.quiescent();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    /// Hosts have numbers one to one, keep them while a flow has them, and numbers that none has are given again.
    #[test]
    fn one_to_one(ops in prop::collection::vec((0u8..10, 0u8..12), 1..200), most in 1i32..12) {
        let mut reader = Domain::global().register("test");
        let hosts = Hosts::new(7, most);
        // The flows: of each host, whether it has one, and its number.
        let (mut known, mut flows) = (BTreeMap::<u8, u32>::new(), BTreeMap::<u8, u32>::new());
        for (now_s, (what, host)) in (10u32..).step_by(2).zip(ops) {
            match what {
                0..5 => {
                    let number = hosts.meet(reader.turn(), address(host), now_s);
                    prop_assert_eq!(number.is_some(), known.contains_key(&host) || known.len() < most as usize);
                    if let Some(number) = number {
                        prop_assert!(is_number(number));
                        prop_assert_eq!(*known.entry(host).or_insert(number), number);
                        if what < 3 {
                            flows.insert(host, number);
                        }
                    }
                }
                5..8 => _ = flows.remove(&host),
                _ => {
                    let used: Vec<u32> = flows.values().copied().collect();
                    sweep(&hosts, &mut reader, &used, now_s);
                    known.retain(|host, _| flows.contains_key(host));
                }
            }
            prop_assert_eq!(hosts.len(), known.len());
            for (&host, &number) in &known {
                prop_assert_eq!(hosts.address(number), Some(address(host)));
                prop_assert_eq!(hosts.find(reader.turn(), address(host)), Some(number));
            }
        }
    }
}

/// A packet that comes while a number rests keeps it: a look-up from before may have made a flow.
#[test]
fn a_packet_in_between_keeps_a_number() {
    let mut reader = Domain::global().register("test");
    let hosts = Hosts::new(7, 10);
    let number = hosts.meet(reader.turn(), address(1), 10).unwrap();
    for is_listed_anew in [false, true] {
        let mut sweep = Sweep::default();
        sweep.begin(&hosts, 20);
        sweep.unlist(&hosts, reader.turn());
        assert!(sweep.is_resting());
        assert_eq!(hosts.find(reader.turn(), address(1)), None);
        // As a worker that has found it does.
        hosts.host(number - FIRST).unwrap().seen_s.store(21, Relaxed);
        let other = is_listed_anew.then(|| hosts.meet(reader.turn(), address(1), 22).unwrap());
        while !sweep.free(&hosts, reader.turn()) {
            reader.quiescent();
        }
        assert_ne!(other, Some(number));
        assert_eq!(hosts.find(reader.turn(), address(1)), Some(other.unwrap_or(number)));
        assert_eq!(hosts.address(number), Some(address(1)));
        hosts.host(number - FIRST).unwrap().seen_s.store(10, Relaxed);
    }
    // Neither has a flow.
    sweep(&hosts, &mut reader, &[], 30);
    assert_eq!(hosts.len(), 0);
    // A packet of the second in which a sweep begins may have come after it began.
    hosts.meet(reader.turn(), address(2), 40).unwrap();
    sweep(&hosts, &mut reader, &[], 40);
    assert_eq!(hosts.len(), 1);
}
