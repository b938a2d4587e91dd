use super::*;
use crate::rewrite::nat64::hosts::Sweep;
use rcu::Domain;

fn address(host: u32) -> Ipv6Addr {
    Ipv6Addr::from_bits(0x2001_0db8 << 96 | u128::from(host))
}

/// What a look at a packet of a host finds, as a batch's look does.
fn look(hosts: &Hosts, reader: &rcu::Reader, host: u32) -> Sight<'static> {
    let source = halves(address(host));
    let (hash, home) = hosts.home(reader.turn(), source);
    let host = hosts.check(home.guess(hash), source);
    Sight { host, source, ..Sight::NOTHING }
}

/// What a guess leads to is the host itself or none, also where the index has a host with the same tag in the same bucket.
#[test]
fn a_guess_is_no_other_host() {
    const KNOWN: u32 = 2000;
    let reader = Domain::global().register("test");
    let hosts = Hosts::new(7, i32::MAX);
    let numbers: Vec<_> = (0..KNOWN).map(|host| hosts.meet(reader.turn(), address(host), 1)).collect();
    let mut found = 0;
    for (host, number) in (0..).zip(&numbers) {
        let sight = look(&hosts, &reader, host);
        assert!(sight.host.is_none_or(|_| sight.host == *number));
        found += usize::from(sight.host.is_some());
    }
    assert!(found > numbers.len() / 2, "{found}");
    let mut misled = 0;
    for host in KNOWN..3 * KNOWN {
        let (hash, home) = hosts.home(reader.turn(), halves(address(host)));
        misled += usize::from(home.guess(hash) != u32::MAX);
        assert_eq!(look(&hosts, &reader, host).host, None);
    }
    assert!(misled > 10, "{misled}: the test tries nothing");
}

/// A number that another host has been given since the look is not that of the first one.
#[test]
fn a_number_that_has_gone_to_another_host() {
    let mut reader = Domain::global().register("test");
    let hosts = Hosts::new(7, 1);
    let number = hosts.meet(reader.turn(), address(1), 10).unwrap();
    let sight = look(&hosts, &reader, 1);
    assert_eq!(sight.sender(&hosts, address(1)), Some(number));
    let mut sweep = Sweep::default();
    sweep.begin(&hosts, 20);
    sweep.unlist(&hosts, reader.turn());
    while !sweep.free(&hosts, reader.turn()) {
        reader.quiescent();
    }
    assert_eq!(hosts.meet(reader.turn(), address(2), 30), Some(number));
    assert_eq!(sight.sender(&hosts, address(1)), None);
    // Nor is it known by what a look at another packet has found.
    let second = look(&hosts, &reader, 2);
    assert_eq!((second.host, second.sender(&hosts, address(1))), (Some(number), None));
}

/// The hash of a look is that of its key alone.
#[test]
fn another_key_has_another_hash() {
    let key = |sport| Key::new(1, FlowId { sport, ..FlowId::default() });
    let sight = Sight { key: Some(key(1)), hash: 77, ..Sight::NOTHING };
    assert_eq!(
        [sight.hash_of(key(1)), sight.hash_of(key(2)), Sight::NOTHING.hash_of(key(1))],
        [Some(77), None, None]
    );
}

/// While the turn of a look lasts, no number that it has found goes to another host, whatever another worker does.
#[test]
fn a_number_stays_as_long_as_the_turn() {
    for _ in 0..20 {
        let reader = Domain::global().register("test");
        let hosts = Hosts::new(7, 1);
        let number = hosts.meet(reader.turn(), address(1), 10).unwrap();
        let sight = look(&hosts, &reader, 1);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                let mut reader = Domain::global().register("other");
                let mut sweep = Sweep::default();
                sweep.begin(&hosts, 20);
                sweep.unlist(&hosts, reader.turn());
                for _ in 0..100 {
                    let is_free = sweep.free(&hosts, reader.turn());
                    assert!(!is_free && hosts.meet(reader.turn(), address(2), 30).is_none());
                    reader.quiescent();
                    std::thread::yield_now();
                }
            });
            other.join().unwrap();
        });
        assert_eq!(sight.sender(&hosts, address(1)), Some(number));
    }
}
