//! Hosts behind the same translator that reach each other by what they are outside, and flows that go on in another process.

use super::*;
use router::{Estate, Router};

/// What is for the pool comes back in.
fn hairpin(arguments: &str) -> String {
    format!(
        "n :: NAT64(192.0.2.1 2000-2009#{arguments}); Inject -> c :: Classifier(0/60%f0, -); c[0] -> [0]n; c[1] -> [1]n;
         n[0] -> back :: Classifier(16/c0000201, -); back[0] -> [1]n; back[1] -> Collect(0); n[1] -> Collect(1);"
    )
}

/// Two hosts send to each other's address and port outside and see each other as that, both ways (RFC 6146, section 3.8); an error of one
/// about the other's packet finds the other.
#[test]
fn hosts_inside_reach_each_other() {
    let pool = embedded(POOL);
    for protocol in [17, 6] {
        let as_seen = |from: u16, to: u16, host: &str| {
            let ends = [pool, host.parse().unwrap()].map(IpAddr::from);
            v6(protocol, pool, host.parse().unwrap(), &message(protocol, ends, [from, to], b"data"))
        };
        let packets = [
            sent(protocol, HOST, 5000, SERVER, 53),
            sent(protocol, OTHER, 6000, POOL, 2000),
            sent(protocol, HOST, 5000, POOL, 2001),
            error6(HOST.parse().unwrap(), pool, [1, 4, 0, 0, 0, 0, 0, 0], &as_seen(2001, 5000, HOST)),
            error6(OTHER.parse().unwrap(), pool, [1, 4, 0, 0, 0, 0, 0, 0], &as_seen(2000, 6000, OTHER)),
        ];
        let flow = send_singly(&hairpin(", FILTERING endpoint-independent"), packets.clone());
        assert_eq!(flow.drops(), []);
        assert_eq!(flow.data(0).len(), 1, "nothing leaves that is for a host inside");
        let came = flow.data(1);
        let packets_of = |at: usize| ends(&came[at]);
        assert_eq!(packets_of(0), "64:ff9b::c000:201 2001 2001:db8::1 5000");
        assert_eq!(packets_of(1), "64:ff9b::c000:201 2000 2001:db8::2 6000");
        // Each error quotes the packet as its sender has sent it.
        for (at, host, about) in [(2, OTHER, &packets[1]), (3, HOST, &packets[2])] {
            let (sides, kind, _) = read(&came[at]);
            assert_eq!((sides, kind), ([pool.into(), host.parse().unwrap()], 58));
            assert_eq!(quoted(&came[at])[8..40], about[8..40], "addresses");
            assert_eq!(quoted(&came[at])[40..44], about[40..44], "ports");
        }
    }
}

/// With filtering by addresses one that has not sent to the pool's address is reached from outside only, and by the other host once it has.
#[test]
fn hosts_inside_are_filtered_as_others() {
    let first = [sent(17, HOST, 5000, SERVER, 53), sent(17, OTHER, 6000, POOL, 2000)];
    let flow = send_singly(&hairpin(""), first.clone());
    assert_eq!((flow.data(1).len(), flow.drops()), (0, vec![("no mapping", 1)]));
    let later = [sent(17, HOST, 5000, POOL, 2001), sent(17, OTHER, 6000, POOL, 2000)];
    let flow = send_singly(&hairpin(""), first.into_iter().chain(later));
    let back: Vec<String> = flow.data(1).iter().map(|packet| ends(packet)).collect();
    // The other one has sent to the pool's address already.
    let expected = ["64:ff9b::c000:201 2000 2001:db8::2 6000", "64:ff9b::c000:201 2001 2001:db8::1 5000"];
    assert_eq!(back, expected);
}

/// What a router leaves to another process.
fn leave(router: &mut Router) -> Estate {
    let left = router.write_state();
    let of_n = left.heirlooms.iter().find(|(left, _)| left.name == "n");
    assert!(of_n.is_some(), "it has left something");
    Estate { heirlooms: left.heirlooms.into_iter().map(|(left, _)| left).collect() }
}

/// Flows, mappings and hosts go on in another process, with their ports, and a new host gets a number that no other has. With another prefix
/// they are lost, and said to be.
#[test]
fn flows_go_on_in_another_process() {
    let source = |packet: &[u8], port: usize| {
        let hex: String = packet.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("InfiniteSource(DATA \\<{hex}>, LIMIT 1) -> [{port}]n;")
    };
    let clock = Clock::simulated();
    let make = |arguments: &str, sources: &str| {
        let config = format!(
            "n :: NAT64({arguments}) -> a :: Counter -> Discard; n[1] -> b :: Counter -> Discard; {sources} Script(wait 100)"
        );
        build_at(&config, 1, 32, clock.clone(), Resources::default())
            .unwrap_or_else(|error| panic!("{error}"))
    };
    let pool = "192.0.2.1 2000-2009#";
    let hosts = [sent(17, HOST, 5000, SERVER, 53), sent(6, OTHER, 5000, SERVER, 80)];
    let first = hosts.map(|packet| source(&packet, 0)).concat() + "Idle -> [1]n;";
    let answers = source(&udp("198.51.100.7:53", "192.0.2.1:2000"), 1)
        + &source(&tcp("198.51.100.7:80", "192.0.2.1:2001", SYN | ACK, (1, 2), b""), 1);
    let next = source(&sent(17, "2001:db8::3", 5000, SERVER, 53), 0);
    for (arguments, goes_on) in [(pool, true), ("192.0.2.1 2000-2009#, PREFIX 2001:db8:64::/96", false)] {
        let mut router = make(pool, &first);
        router.run_rounds(100);
        let mut estate = leave(&mut router);
        // Through a process in between, too, which has seen no packet.
        let mut between = make(pool, "Idle -> [0]n; Idle -> [1]n;");
        assert_eq!(between.read_state(&estate), Vec::<String>::new());
        estate = leave(&mut between);
        let mut last = make(arguments, &(answers.clone() + &next));
        assert_eq!(last.read_state(&estate), Vec::<String>::new());
        let read = |router: &mut Router, path: &str| router.call(Call::read(path, "")).unwrap();
        let tables = [&mut router, &mut last]
            .map(|router| ["n.flows", "n.endpoints", "n.hosts", "n.size"].map(|path| read(router, path)));
        assert_eq!(tables[0] == tables[1], goes_on, "{tables:?}");
        last.run_rounds(100);
        let counts = ["b.count", "n.table_size", "n.hosts"].map(|path| read(&mut last, path));
        assert_eq!(counts, if goes_on { ["2", "3", "3"] } else { ["0", "0", "0"] }, "{arguments}");
        assert_eq!(last.info().log.text().contains("flows lost (another PREFIX)"), !goes_on);
        if goes_on {
            let flows = read(&mut last, "n.flows");
            for (host, port) in [(HOST, 2000), ("2001:db8::3", 2001)] {
                let line = format!("udp {host} 5000 64:ff9b::c633:6407 53 > 192.0.2.1 {port} ");
                assert!(flows.contains(&line), "{flows}");
            }
        }
    }
}
