//! What lookup elements do with packets and commands.

use crate::testing::{build, errors, run_and_read};
use proptest::prelude::*;
use router::{Call, Router};

const THREE: &str = "r[0] -> a :: Discard; r[1] -> b :: Discard; r[2] -> c :: Discard;";

fn write(router: &mut Router, path: &str, value: &str) -> Result<String, String> {
    router.call(Call::write(path, value)).map_err(|error| error.message)
}

fn lookup(router: &mut Router, address: &str) -> String {
    router.call(Call::read("r.lookup", address)).expect("an address")
}

#[test]
fn packets_take_the_longest_match_and_its_gateway() {
    let config = format!(
        "InfiniteSource(DATA \\<0a010203>, LIMIT 3, STOP true) -> GetIPAddress(0)
             -> r :: IPLookup(10.0.0.0/8 0, 10.1.0.0/16 192.0.2.1 1, 0/0 2); {THREE}"
    );
    let read = run_and_read(&config, &["a.count", "b.count", "c.count", "r.table", "r.length"]);
    let table = "10.0.0.0/8\t\t-\t\t0\n10.1.0.0/16\t\t192.0.2.1\t1\n0.0.0.0/0\t\t-\t\t2\n";
    assert_eq!(read, ["0", "3", "0", table, "3"]);
}

#[test]
fn packets_without_route_are_counted() {
    let config = "InfiniteSource(DATA \\<0a010203>, LIMIT 3, STOP true) -> GetIPAddress(0)
             -> r :: StaticIPLookup(11.0.0.0/8 0) -> a :: Discard;";
    assert_eq!(run_and_read(config, &["a.count", "r.drop_reasons"]), ["0", "3\tno route\n"]);
}

#[test]
fn routes_change_as_told() {
    let config = format!("InfiniteSource(ACTIVE false) -> r :: RadixIPLookup(10.0.0.0/8 0); {THREE}");
    let mut router = build(&config, 1, 1).expect("a good configuration");
    let r = &mut router;
    assert_eq!(lookup(r, "10.9.9.9"), "0");
    assert_eq!(write(r, "r.add", "10.9.0.0/16 1.2.3.4 1"), Ok(String::new()));
    assert_eq!(lookup(r, "10.9.9.9"), "1 1.2.3.4");
    assert_eq!(
        write(r, "r.add", "10.9.0.0/16 2"),
        Err("conflict with existing route '10.9.0.0/16 1.2.3.4 1'".into())
    );
    assert_eq!(write(r, "r.set", "10.9.0.0/16 2"), Ok(String::new()));
    assert_eq!(lookup(r, "10.9.9.9"), "2");
    assert_eq!(write(r, "r.remove", "10.9.0.0/16 1"), Err("route '10.9.0.0/16 - 1' not found".into()));
    assert!(write(r, "r.add", "10.9.0.0/16 3").unwrap_err().contains("bad OUTPUT"));
    let failing = "add 0/0 1\nremove 10.9.0.0/16\nset 10.0.0.0/8 2\nadd 10.0.0.0/8 1";
    assert!(write(r, "r.ctrl", failing).is_err());
    assert_eq!(
        (lookup(r, "10.9.9.9"), lookup(r, "9.9.9.9"), lookup(r, "10.1.1.1")),
        ("2".into(), "-1".into(), "0".into())
    );
    assert_eq!(write(r, "r.ctrl", "add 0/0 1\nremove 10.9.0.0/16\n\nset 10.0.0.0/8 2"), Ok(String::new()));
    assert_eq!((lookup(r, "10.9.9.9"), lookup(r, "9.9.9.9")), ("2".into(), "1".into()));
    assert_eq!(write(r, "r.flush", ""), Ok(String::new()));
    assert_eq!(lookup(r, "10.9.9.9"), "-1");
}

#[test]
fn fixed_tables_and_bad_arguments() {
    let config = format!("InfiniteSource(ACTIVE false) -> r :: StaticIPLookup(10.0.0.0/8 0); {THREE}");
    let mut router = build(&config, 1, 1).expect("a good configuration");
    // As in Click there are no handlers that change routes.
    for name in ["add", "set", "remove", "ctrl", "flush", "begin", "load"] {
        let error = write(&mut router, &format!("r.{name}"), "1.0.0.0/8 1").unwrap_err();
        assert!(error.contains("no 'r."), "{error}");
    }
    let text = errors("InfiniteSource -> r :: IPLookup(10.0.0.0/8 1, x 0, 1.2.3.4) -> Discard");
    for argument in ["argument 1", "argument 2", "argument 3"] {
        assert!(text.contains(argument), "{text}");
    }
    // Click's older table counts outputs once all arguments are right.
    let text = errors("InfiniteSource -> LookupIP6Route(::/0 1, ::1/128 4, x 0) -> Discard");
    assert!(text.contains("argument 3 should be") && !text.contains("need"), "{text}");
    let text = errors("InfiniteSource -> LookupIP6Route(::1/128 4, ::/0 1) -> Discard");
    assert!(text.contains("need 5 or more") && !text.contains("need 2"), "{text}");
}

#[test]
fn a_file_is_loaded_as_a_whole_or_not_at_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let (good, bad) = (folder.path().join("good"), folder.path().join("bad"));
    std::fs::write(&good, "# routes\n10.0.0.0/8 192.0.2.9 1\n11.0.0.0/8\n2001:db8::/32 1\n")
        .expect("writable");
    std::fs::write(&bad, "12.0.0.0/8 1\n13.0.0.0/8 7\n").expect("writable");
    let config = format!("InfiniteSource(ACTIVE false) -> r :: IPLookup; {THREE}");
    let mut router = build(&config, 1, 1).expect("a good configuration");
    assert_eq!(write(&mut router, "r.load", &format!("{} 2", good.display())), Ok(String::new()));
    assert_eq!(
        (lookup(&mut router, "10.1.1.1"), lookup(&mut router, "11.1.1.1")),
        ("1 192.0.2.9".into(), "2".into())
    );
    let error = write(&mut router, "r.load", &bad.display().to_string()).unwrap_err();
    assert!(error.contains("output 7 of 13.0.0.0/8"), "{error}");
    assert_eq!(lookup(&mut router, "12.1.1.1"), "-1");
    let error = write(&mut router, "r.load_text", "2\n12.0.0.0/8 1\n13.0.0.0/8 7\n").unwrap_err();
    assert!(error.starts_with("output 7 of 13.0.0.0/8"), "{error}");
    let error = write(&mut router, "r.load_text", "2 3\n12.0.0.0/8").unwrap_err();
    assert_eq!(error, "expected 'INTERFACE=OUTPUT', not '3'");
    assert_eq!(lookup(&mut router, "12.1.1.1"), "-1");
    assert_eq!(write(&mut router, "r.load_text", "2\n12.0.0.0/8\n13.0.0.0/8 1\n"), Ok(String::new()));
    assert_eq!((lookup(&mut router, "12.1.1.1"), lookup(&mut router, "13.1.1.1")), ("2".into(), "1".into()));
    assert!(write(&mut router, "r.load", "/nowhere/at/all").unwrap_err().contains("/nowhere/at/all"));
}

/// Each class has a table of its own behind the same handlers.
#[test]
fn all_classes_look_up_the_same() {
    let routes = "10.0.0.0/8 0, 10.1.0.0/16 192.0.2.1 1, 10.1.2.3/32 2, 0/0 192.0.2.2 2";
    let asked = ["10.1.2.3", "10.1.2.4", "10.2.0.0", "255.255.255.255"];
    let answers = ["2", "1 192.0.2.1", "0", "2 192.0.2.2"];
    for class in
        ["IPLookup", "RadixIPLookup", "DirectIPLookup", "RangeIPLookup", "LinearIPLookup", "StaticIPLookup"]
    {
        let config = format!("InfiniteSource(ACTIVE false) -> r :: {class}({routes}); {THREE}");
        let mut router = build(&config, 1, 1).expect("a good configuration");
        assert_eq!(asked.map(|address| lookup(&mut router, address)), answers, "{class}");
        if class == "StaticIPLookup" {
            assert!(write(&mut router, "r.begin", "").is_err());
            continue;
        }
        write(&mut router, "r.begin", "").expect("none is open");
        write(&mut router, "r.ctrl", "remove 10.1.2.3/32\nset 10.1.0.0/16 0").expect("both are there");
        write(&mut router, "r.remove", "0/0").expect("it is there");
        assert_eq!(asked.map(|address| lookup(&mut router, address)), answers, "{class}");
        write(&mut router, "r.commit", "").expect("room");
        assert_eq!(asked.map(|address| lookup(&mut router, address)), ["0", "0", "0", "-1"], "{class}");
        let error = write(&mut router, "r.commit", "").unwrap_err();
        assert!(error.contains("no transaction is open"), "{error}");
    }
}

/// As Click prints them: a RadixIPLookup's replaced route moves, a LinearIPLookup's stays.
#[test]
fn tables_print_in_the_order_of_click() {
    for (class, order) in [("RadixIPLookup", ["2", "1"]), ("LinearIPLookup", ["1", "2"])] {
        let config =
            format!("InfiniteSource(ACTIVE false) -> r :: {class}(1.0.0.0/8 0, 2.0.0.0/8 0); {THREE}");
        let mut router = build(&config, 1, 1).expect("a good configuration");
        write(&mut router, "r.set", "1.0.0.0/8 1").expect("room");
        let table = router.call(Call::read("r.table", "")).expect("readable");
        let firsts: Vec<_> = table.lines().map(|line| &line[..1]).collect();
        assert_eq!(firsts, order, "{class}");
    }
}

/// Several next hops share the flows; -1 is nowhere; what is printed can be read again.
#[test]
fn next_hops_with_weights() {
    let lines = crate::testing::run(
        "r :: IPLookup(10.0.0.0/8 nexthop 1.1.1.1 0 3 nexthop - 1, 11.0.0.0/8 -1);
             Idle -> r; r[0] -> Discard; r[1] -> Discard;
             Script(print $(r.table), write r.set 12.0.0.0/8 nexthop 2.2.2.2 1, print $(r.lookup 12.0.0.1),
                    print $(r.lookup 11.0.0.1), stop)",
    );
    assert_eq!(
        lines,
        "10.0.0.0/8\t\t1.1.1.1\t\t0\tweight 3\n10.0.0.0/8\t\t-\t\t1\tweight 1\n11.0.0.0/8\t\t-\t\t-1\n1 2.2.2.2\n-1\n"
    );
    for bad in ["nexthop 1.1.1.1", "nexthop 1.1.1.1 9", "nexthop 1.1.1.1 0 0", "nexthop", "nexthop - 0 1 2"] {
        let found = errors(&format!("Idle -> IPLookup(10.0.0.0/8 {bad}) -> Discard"));
        let said = if bad.ends_with('9') { "argument 1 bad OUTPUT" } else { "argument 1 should be" };
        assert!(found.contains(said), "{bad}: {found}");
    }
}

/// Flows that are going stay where they went when a next hop is added; when one goes, only its own change. Without a memory for
/// flows, the new next hop takes its share of them.
#[test]
fn flows_stay() {
    use crate::testing::{Flow, send_singly};
    let flow = |source: u8| {
        let header = [0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 9, 0, 0, source, 10, 0, 0, 1];
        [&header[..], &[0, source, 0, 9, 0, 8, 0, 0]].concat()
    };
    let outputs = |arguments: &str| {
        let config = format!(
                "Inject -> MarkIPHeader -> GetIPAddress(16) -> c :: Counter(COUNT_CALL 200 r.set 10.0.0.0/8 nexthop - 0 nexthop - 1 nexthop - 2)
                 -> r :: IPLookup(10.0.0.0/8 nexthop - 0 nexthop - 1, {arguments}, FLOW_KEY 5);
                 r[0] -> Collect(0); r[1] -> Collect(1); r[2] -> Collect(2);"
            );
        let mut seen: Flow = send_singly(&config, (0..200).chain(0..200).map(flow));
        let remembered = seen.read("r.flows");
        let mut outputs = vec![Vec::new(); 200];
        for (output, packet) in &seen.seen {
            outputs[usize::from(packet.data()[15])].push(*output);
        }
        (outputs, remembered)
    };
    let (kept, remembered) = outputs("FLOWS 1000");
    assert!(
        kept.iter().all(|outputs| outputs[0] == outputs[1]) && remembered == "200",
        "{kept:?} {remembered}"
    );
    let (moved, remembered) = outputs("FLOWS 0");
    let moved: Vec<_> = moved.iter().filter(|outputs| outputs[0] != outputs[1]).collect();
    assert!(moved.iter().all(|outputs| outputs[1] == 2), "{moved:?}");
    assert!((40..95).contains(&moved.len()) && remembered == "0", "{}", moved.len());
}

/// One prefix floods: it has no more new flows than its quota, and others' are remembered. One that goes on makes room for the next.
#[test]
fn a_flood_of_one_prefix_leaves_room_for_others() {
    let flow = |(net, source): (u8, u8)| {
        let header = [0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 9, 0, net, source, 10, 0, 0, 1];
        [&header[..], &[0, source, 0, 9, 0, 8, 0, 0]].concat()
    };
    let config = "Inject -> MarkIPHeader -> GetIPAddress(16) -> r :: IPLookup(10.0.0.0/8 0, FLOWS 1000, FLOW_QUOTA 10) -> Collect(0);";
    let all = (0..200).map(|source| (0, source)).chain((0..8).map(|source| (1, source)));
    let mut seen = crate::testing::send_singly(config, all.chain((0..5).map(|source| (0, source))).map(flow));
    assert_eq!(seen.seen.len(), 213, "all packets go on");
    let counts =
        ["flows", "flow_quota_refusals", "flow_refusals"].map(|name| seen.read(&format!("r.{name}")));
    assert_eq!(counts, ["18", "190", "190"]);
    let counts =
        ["src 9.0.1.0/24", "src 9.0.0.0/24", "assured"].map(|filter| seen.read_with("r.flow_count", filter));
    assert_eq!(counts, ["8", "10", "5"]);
}

/// One next hop, two, one, and two again: no flow moves, of whatever class the element is; and what happens is counted and listed.
#[test]
fn flows_stay_while_next_hops_come_and_go() {
    let flow = |source: u8| {
        let header = [0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 9, 0, 0, source, 10, 0, 0, 1];
        [&header[..], &[0, source, 0, 9, 0, 8, 0, 0]].concat()
    };
    for class in ["IPLookup", "RadixIPLookup", "LinearIPLookup"] {
        let config = format!(
                "Inject -> MarkIPHeader -> GetIPAddress(16) -> c :: Counter(COUNT_CALL 100 s.run)
                 -> r :: {class}(10.0.0.0/8 1.1.1.1 0, FLOWS 1000);
                 s :: Script(TYPE PASSIVE, write r.set 10.0.0.0/8 nexthop 1.1.1.1 0 nexthop 2.2.2.2 1, write c.count_call 200 t.run);
                 t :: Script(TYPE PASSIVE, write r.set 10.0.0.0/8 1.1.1.1 0, write c.count_call 300 u.run);
                 u :: Script(TYPE PASSIVE, write r.set 10.0.0.0/8 nexthop 1.1.1.1 0 nexthop 2.2.2.2 1);
                 r[0] -> Collect(0); r[1] -> Collect(1);"
            );
        let mut seen = crate::testing::send_singly(&config, (0..4).flat_map(|_| 0..100).map(flow));
        assert_eq!(seen.seen.len(), 400, "{class}");
        assert!(seen.seen.iter().all(|(output, _)| *output == 0), "{class}");
        let counts =
            ["flow_hits", "flow_misses", "flow_evictions", "flow_expiries", "flow_refusals", "flow_moves"];
        let counts = counts.map(|name| seen.read(&format!("r.{name}")));
        assert_eq!(counts, ["300", "100", "0", "0", "0", "0"], "{class}");
        let list = seen.read("r.flow_list");
        assert_eq!(list.lines().count(), 100, "{list}");
        assert!(list.contains("9.0.0.77 77 10.0.0.1 9 17 1.1.1.1 0 0 established\n"), "{list}");
        assert_eq!(seen.read_with("r.flow_list", "src 9.0.0.77").lines().count(), 1);
        assert_eq!(seen.read_with("r.flow_count", "src 9.0.0.64/26"), "36");
        let json = seen.read_with("r.flow_json", "sport 77 udp assured");
        assert!(
            json.ends_with(",\"gateway\":\"1.1.1.1\",\"output\":0,\"assured\":true,\"idle_s\":0}\n"),
            "{json}"
        );
        assert_eq!(seen.write("r.flow_kill", "src 9.0.0.64/26"), "");
        assert_eq!(seen.write("r.flow_kill", "9.0.0.1"), "");
        assert_eq!(seen.read("r.flows"), "63");
        assert!(seen.write("r.flow_kill", "bogus").contains("unknown word"));
    }
}

/// Packet by packet, the packets of one flow go by all next hops, as often as their weights say.
#[test]
fn packets_are_spread() {
    let config = "InfiniteSource(DATA \\<0a010203>, LIMIT 1000, STOP true) -> GetIPAddress(0)
             -> r :: IPLookup(10.0.0.0/8 nexthop 1.1.1.1 0 nexthop 2.2.2.2 1 3, SPREAD true);
             r[0] -> a :: Counter -> Discard; r[1] -> b :: Counter -> Discard;";
    let [a, b] =
        [0, 1].map(|at| run_and_read(config, &["a.count", "b.count"])[at].parse::<u32>().expect("a number"));
    assert!(a + b == 1000 && (245..=255).contains(&a), "{a} {b}");
    let text = errors("Idle -> IPLookup(0/0 0, SPREAD true, FLOWS 9) -> Discard");
    assert!(text.contains("SPREAD and FLOWS exclude each other"), "{text}");
}

/// What `ip route` prints: interfaces have outputs, several next hops share the flows, and some routes lead nowhere.
#[test]
fn kernel_routes_are_loaded() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("routes");
    let text = "default proto static\n\tnexthop via 1.1.1.1 dev a weight 1\n\tnexthop via 2.2.2.2 dev b weight 1\n\
            blackhole 10.0.0.0/8\n10.1.0.0/16 via 3.3.3.3 dev c\n10.2.0.0/16 dev b scope link\n";
    std::fs::write(&file, text).expect("writable");
    let config = format!(
            "all :: Counter(COUNT_CALL 405 stop) -> r :: IPLookup; {THREE}
             FastUDPFlows(0, 400, 64, 0:0:0:0:0:1, 9.0.0.1, 0:0:0:0:0:2, 9.0.0.2, 200, 2) -> Unqueue -> MarkIPHeader(14)
                 -> GetIPAddress(30) -> all;
             InfiniteSource(DATA \\<0a636363>, LIMIT 5) -> GetIPAddress(0) -> all;"
        );
    let mut router = build(&config, 1, 8).expect("a good configuration");
    let r = &mut router;
    let load = |r: &mut Router, rest: &str| write(r, "r.load", &format!("{} {rest}", file.display()));
    let error = load(r, "a=0 b=1").unwrap_err();
    assert!(
        error.ends_with("no output is given for interface 'c' of 10.1.0.0/16; add 'c=OUTPUT'"),
        "{error}"
    );
    assert_eq!(r.call(Call::read("r.length", "")), Ok("0".into()));
    assert_eq!(load(r, "2 a=0 b=1"), Ok(String::new()));
    assert_eq!(lookup(r, "10.1.1.1"), "2 3.3.3.3");
    assert_eq!((lookup(r, "10.2.1.1"), lookup(r, "10.99.99.99")), ("1".into(), "-1".into()));
    r.run();
    let count = |r: &mut Router, path: &str| -> u64 {
        r.call(Call::read(path, "")).expect("readable").parse().expect("a number")
    };
    let (a, b) = (count(r, "a.count"), count(r, "b.count"));
    assert!(a + b == 400 && a.abs_diff(b) < 100, "{a} {b}: flows are not shared");
    assert_eq!(r.call(Call::read("r.drop_reasons", "")), Ok("5\troute leads nowhere\n".into()));
}

#[test]
fn thousands_of_next_hops() {
    let config = format!("InfiniteSource(ACTIVE false) -> r :: RadixIPLookup; {THREE}");
    let mut router = build(&config, 1, 1).expect("a good configuration");
    let hops = 5_000u32;
    let lines: String = (0..hops)
        .map(|i| format!("add 10.{}.{}.0/24 1.0.{}.{} 1\n", i / 256, i % 256, i / 256, i % 256))
        .collect();
    write(&mut router, "r.ctrl", &lines).expect("room");
    assert_eq!(lookup(&mut router, "10.19.135.1"), "1 1.0.19.135");
}

#[test]
fn ipv6_routes_are_found_and_listed() {
    let config = format!(
        "InfiniteSource(ACTIVE false) -> r :: LookupIP6Route(2001:db8::/32 0, ::/0 fe80::1 1); {THREE}"
    );
    let mut router = build(&config, 1, 1).expect("a good configuration");
    assert_eq!(
        (lookup(&mut router, "2001:db8::9"), lookup(&mut router, "2002::")),
        ("0".into(), "1 fe80::1".into())
    );
    let table = router.call(Call::read("r.table", "")).expect("readable");
    assert_eq!(table, "# Active routes\n2001:db8::/32\t::\t0\n::/0\tfe80::1\t1\n");
}

/// Packets without a route leave where that is asked for, their destination as it was; those whose route leads nowhere do not.
#[test]
fn packets_without_a_route() {
    let config =
        "Inject -> GetIPAddress(0) -> r :: IPLookup(10.0.0.0/8 192.0.2.1 0, 11.0.0.0/8 - -1, NOROUTE 1);
            r[0] -> Collect(0); r[1] -> Collect(1)";
    let packets = [[10, 0, 0, 1], [11, 0, 0, 1], [12, 0, 0, 1]].map(|address| address.to_vec());
    let flow = crate::testing::send(config, packets);
    assert_eq!((flow.data(0), flow.data(1)), (vec![vec![10, 0, 0, 1]], vec![vec![12, 0, 0, 1]]));
    let stray = flow.seen.iter().find(|(at, _)| *at == 1).map(|(_, packet)| packet.dst_ip().octets());
    assert_eq!((stray, flow.drops()), (Some([12, 0, 0, 1]), vec![("route leads nowhere", 1)]));
    assert_eq!(flow.log(), "", "nothing to complain about");
    let text = errors("Idle -> r :: IPLookup(0/0 0, NOROUTE 1) -> Discard");
    assert!(text.contains("NOROUTE: output 1 does not exist; there are 1"), "{text}");
}

/// An IPv4 route may lead to an IPv6 gateway, alone or among others: the packet carries that as its IPv6 destination annotation. What
/// is printed can be read again.
#[test]
fn ipv4_routes_over_ipv6_gateways() {
    let config = "Inject -> GetIPAddress(0) -> r :: IPLookup(10.0.0.0/8 fe80::1 0, 11.0.0.0/8 nexthop fe80::2 1 nexthop fe80::2 1 2,
            12.0.0.0/8 nexthop 192.0.2.1 0 nexthop fe80::3 1 65536); r[0] -> Collect(0); r[1] -> Collect(1)";
    let packets = [[10, 0, 0, 1], [11, 0, 0, 1]].map(|address| address.to_vec());
    let mut flow = crate::testing::send(config, packets);
    let sent: Vec<_> = flow.seen.iter().map(|(at, packet)| (*at, packet.dst_ip6().to_string())).collect();
    assert_eq!(sent, [(0, "fe80::1".to_owned()), (1, "fe80::2".to_owned())]);
    let table = "10.0.0.0/8\t\tfe80::1\t\t0\n11.0.0.0/8\t\tfe80::2\t\t1\n12.0.0.0/8\t\t192.0.2.1\t0\tweight 1\n\
            12.0.0.0/8\t\tfe80::3\t\t1\tweight 65536\n";
    assert_eq!(flow.read("r.table"), table);
    let config = format!("InfiniteSource(ACTIVE false) -> r :: IPLookup; {THREE}");
    let mut router = build(&config, 1, 1).expect("a good configuration");
    write(&mut router, "r.add", "10.0.0.0/8 fe80::1 2").expect("room");
    assert_eq!(lookup(&mut router, "10.0.0.1"), "2 fe80::1");
    assert!(write(&mut router, "r.remove", "10.0.0.0/8 fe80::2 2").is_err(), "that is another");
    write(&mut router, "r.remove", "10.0.0.0/8 fe80::1 2").expect("it is there");
    write(&mut router, "r.load_text", "1 a=2\n10.0.0.0/8 via inet6 fe80::9 dev a\n").expect("room");
    assert_eq!(lookup(&mut router, "10.0.0.1"), "2 fe80::9");
    let text = errors("Idle -> IP6Lookup(2001:db8::/32 192.0.2.1 0) -> Discard");
    assert!(text.contains("argument 1 should be"), "{text}");
    assert!(text.contains("gateway 192.0.2.1 is of the other address family"), "{text}");
}

/// Whatever the routes do between packets, a cache, however small, changes nothing about where these go.
#[test]
fn a_cache_changes_nothing() {
    let source =
        |data: &str| format!("RatedSource(DATA \\<{data}>, RATE 100, LIMIT 100) -> GetIPAddress(0) -> [0]r;");
    let sources = ["0a000001", "0a010001", "0b000001"].map(source).concat();
    let run = |cache: &str| {
        let config = format!(
                "r :: IPLookup(10.0.0.0/8 0, NOROUTE 2 {cache}); {sources} {THREE}
                 Script(wait 0.105, write r.add 10.1.0.0/16 192.0.2.1 1, wait 0.1, write r.set 10.0.0.0/8 1,
                        wait 0.1, write r.remove 10.1.0.0/16, wait 0.1, write r.set 10.0.0.0/8 0, wait 0.1,
                        write r.add 11.0.0.1/32 0, wait 0.1, write r.flush, wait 0.1, write r.add 10.0.0.0/8 0, wait 1, stop);"
            );
        run_and_read(&config, &["a.count", "b.count", "c.count"])
    };
    let plain = run("");
    assert!(!plain.contains(&"0".to_owned()), "{plain:?}");
    for cache in [", CACHE 1", ", CACHE 2", ", CACHE 4096"] {
        assert_eq!(run(cache), plain, "{cache}");
    }
}

/// In a batch, each run of equal addresses is looked up once, whether runs are long (two destinations) or short (sixteen): each packet
/// goes where its own address leads.
#[test]
fn packets_in_a_row_to_one_destination() {
    for (destinations, len) in [("10.0.0.0/31", 31), ("10.0.0.0/28", 28)] {
        let config = format!(
            "InfiniteSource(DATA \\<{zeros}>, LIMIT 5000, BURST 32, STOP true) -> SetRandIPAddress({destinations})
             -> r :: IPLookup(10.0.0.0/8 0, 10.0.0.1/32 1, 10.0.0.2/31 192.0.2.1 2);
             r[0] -> StoreIPAddress(16) -> even :: Classifier(16/0a000001, 16/0a000002, 16/0a000003, -);
             even[3] -> a :: Counter -> Discard; even[0] -> wrong :: Counter -> Discard; even[1], even[2] -> wrong;
             r[1] -> StoreIPAddress(16) -> one :: Classifier(16/0a000001, -); one[0] -> b :: Counter -> Discard; one[1] -> wrong;
             r[2] -> StoreIPAddress(16) -> two :: Classifier(16/c0000201, -); two[0] -> c :: Counter -> Discard; two[1] -> wrong;",
            zeros = "00".repeat(20),
        );
        let read = run_and_read(&config, &["wrong.count", "a.count", "b.count", "c.count"]);
        let counts: Vec<u32> = read.iter().map(|count| count.parse().expect("a number")).collect();
        assert_eq!((counts[0], counts[1..].iter().sum::<u32>()), (0, 5000), "{counts:?}");
        let share = 5000 >> (32 - len);
        assert!(counts[1] >= share / 2 && counts[2] >= share / 2, "{counts:?}");
    }
}

/// A destination is looked up once, until a route to it or near it changes.
#[test]
fn what_a_cache_spares() {
    let config = "RatedSource(DATA \\<0a000001>, RATE 100, LIMIT 100) -> GetIPAddress(0) -> r :: IPLookup(0/0 0, CACHE 64);
            r -> Discard; Script(wait 0.505, write r.add 11.0.0.0/8 0, write r.add 10.0.0.0/24 0, wait 1, stop)";
    assert_eq!(run_and_read(config, &["r.cache_misses"]), ["2"]);
    let mut router = build(config, 1, 1).expect("good");
    router.run();
    assert_eq!(router.call(Call::read("r.cache_hits", "")), Ok("98".to_owned()));
}

/// A worker that makes changes, each of which weighs much, faster than grace periods pass: its script waits, and none is lost. Where
/// time is simulated, it stands still meanwhile.
#[test]
fn a_script_waits_for_room() {
    let (simulated, real) = (router::Clock::simulated, router::Clock::real);
    // More than there is room for at once.
    for (class, routes, clock) in [
        ("RangeIPLookup", 2_400, simulated()),
        ("RangeIPLookup", 2_400, real()),
        ("LinearIPLookup", 3_600, real()),
    ] {
        let writes = (0..routes).map(|n| format!("write r.add {}.{}.0.0/24 0, ", 1 + n / 16, n % 16 * 16));
        let writes: String = writes.collect();
        let config = format!("Idle -> r :: {class}; r -> Discard; Script({writes}stop)");
        let router = crate::testing::build_at(&config, 1, 1, clock, router::Resources::default());
        let mut router = router.expect("a good configuration");
        router.run();
        assert_eq!(router.info().log.text(), "", "{class}");
        assert_eq!(router.call(Call::read("r.length", "")), Ok(routes.to_string()), "{class}");
    }
}

/// While a big file is read and entered, its script waits, and the worker forwards.
#[test]
fn packets_go_on_while_a_file_is_loaded() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("routes");
    let routes = 30_000;
    let lines: String = (0..routes).map(|n| format!("10.{}.{}.0/24 0\n", n / 250, n % 250)).collect();
    std::fs::write(&file, lines).expect("writable");
    let config = format!(
            "InfiniteSource -> c :: Counter -> Discard; Idle -> r :: IPLookup -> Discard;
             Script(set before $(c.count), write r.load {}, print $(gt $(sub $(c.count) $before) 1000) $(r.length), stop)",
            file.display()
        );
    let router =
        crate::testing::build_at(&config, 1, 32, router::Clock::real(), router::Resources::default());
    let mut router = router.expect("a good configuration");
    router.run();
    assert_eq!(router.info().log.text(), format!("true {routes}\n"));
}

/// Flows go on when the element comes to other workers: what two had remembered is known once after a swap that leaves it to one, and after another
/// that gives it back to two.
#[test]
fn hot_swap_keeps_flows_on_other_workers() {
    let config = |second: &str| {
        let text = format!(
            "a :: InfiniteSource(LIMIT 0) -> all :: Null -> MarkIPHeader -> GetIPAddress(16)
             -> r :: IPLookup(10.0.0.0/8 nexthop - 0 nexthop - 1, FLOWS 1000); {second}
             r[0] -> Discard; r[1] -> Discard;"
        );
        build(&text, 2, 1).expect("a good configuration")
    };
    let flows = |router: &mut Router| {
        let list = router.call(Call::read("r.flow_list", "")).expect("a list");
        let mut names: Vec<_> =
            list.lines().map(|line| line.split_once(" - ").expect("columns").0.to_owned()).collect();
        names.sort();
        names
    };
    let both = "b :: InfiniteSource(LIMIT 0) -> all; StaticThreadSched(a 0, b 1);";
    let mut first = config(both);
    let workers = |router: &Router| {
        let node = router.info().nodes.iter().find(|node| node.name == "r");
        node.expect("the table").workers.len()
    };
    assert_eq!(workers(&first), 2);
    for at in 1..9 {
        let flow = format!("9.0.0.{at} 1 10.0.0.1 9 17 - 1 0 established");
        write(&mut first, "r.flow_load", &flow).expect("a flow");
    }
    let mut before = flows(&mut first);
    before.dedup();
    assert_eq!(before.len(), 8);
    let mut second = config("");
    assert_eq!(workers(&second), 1);
    second.take_over(&mut first).expect("taken over");
    assert_eq!(flows(&mut second), before);
    let mut third = config(both);
    third.take_over(&mut second).expect("taken over");
    assert_eq!(flows(&mut third), before);
}

/// What is written about flows is meant for those of all workers.
#[test]
fn flows_of_all_workers_are_loaded_and_forgotten() {
    let text = "a :: InfiniteSource(LIMIT 0) -> all :: Null -> MarkIPHeader -> GetIPAddress(16)
        -> r :: IPLookup(10.0.0.0/8 nexthop - 0 nexthop - 1, FLOWS 1000);
        b :: InfiniteSource(\\<45000014 00000000 40110000 09000001 0a000001>, LIMIT 1, STOP true) -> all;
        StaticThreadSched(a 0, b 1); r[0] -> Discard; r[1] -> Discard;";
    // The flow is the second worker's.
    let run = || {
        let mut router = build(text, 2, 1).expect("a good configuration");
        router.run();
        router
    };
    let read = |router: &mut Router, path: &str| router.call(Call::read(path, "")).expect("a value");
    let mut router = run();
    let line = read(&mut router, "r.flow_list");
    assert!(line.ends_with(" new\n") && line.lines().count() == 1, "{line}");
    let turned = match line.contains(" - 0 ") {
        true => line.replace(" - 0 ", " - 1 "),
        false => line.replace(" - 1 ", " - 0 "),
    };
    write(&mut router, "r.flow_load", &turned).expect("a flow");
    assert_eq!(read(&mut router, "r.flow_list"), turned);
    assert!(write(&mut router, "r.flow_load", "9.0.0.1").is_err());
    let mut router = run();
    assert_eq!(read(&mut router, "r.flows"), "1");
    write(&mut router, "r.flow_kill", "src 9.0.0.1").expect("a filter");
    assert_eq!(read(&mut router, "r.flows"), "0");
    write(&mut router, "r.flow_load", &line).expect("a flow");
    write(&mut router, "r.flow_kill", "9.0.0.1").expect("a column");
    assert_eq!(read(&mut router, "r.flows"), "0");
}

/// A namesake takes over the routes that came while the router ran, and those that have changed then, until a configuration names
/// them: its own routes win, and go with it.
#[test]
fn hot_swap_keeps_routes_that_came_later() {
    let addresses = ["10.1.1.1", "11.1.1.1", "12.1.1.1", "13.1.1.1"];
    for (class, addresses) in [
        ("IPLookup", addresses),
        ("RadixIPLookup", addresses),
        ("DirectIPLookup", addresses),
        ("RangeIPLookup", addresses),
        ("LinearIPLookup", addresses),
        ("IP6Lookup", ["2010::1", "2011::1", "2012::1", "2013::1"]),
        ("LookupIP6Route", ["2010::1", "2011::1", "2012::1", "2013::1"]),
    ] {
        let prefixes = addresses.map(|address| format!("{address}/16"));
        let config = |routes: &[(usize, u32)]| {
            let routes: Vec<_> =
                routes.iter().map(|(at, port)| format!("{} {port}", prefixes[*at])).collect();
            let config = format!("Idle -> r :: {class}({}); {THREE}", routes.join(", "));
            build(&config, 1, 1).expect("a good configuration")
        };
        let answers = |router: &mut Router| addresses.map(|address| lookup(router, address));
        let mut first = config(&[(0, 0), (1, 0), (2, 0)]);
        write(&mut first, "r.set", &format!("{} 2", prefixes[1])).expect("room");
        write(&mut first, "r.add", &format!("{} 2", prefixes[3])).expect("room");
        let mut second = config(&[(0, 1)]);
        second.take_over(&mut first).expect("taken over");
        assert_eq!(answers(&mut second), ["1", "2", "-1", "2"], "{class}");
        let mut third = config(&[(3, 2)]);
        third.take_over(&mut second).expect("taken over");
        assert_eq!(answers(&mut third), ["-1", "2", "-1", "2"], "{class}");
        let mut last = config(&[]);
        last.take_over(&mut third).expect("taken over");
        assert_eq!(answers(&mut last), ["-1", "2", "-1", "-1"], "{class}");
    }
}

proptest! {
    /// Random commands against a plain map of prefixes.
    #[test]
    fn handlers_agree_with_a_naive_table(
        steps in prop::collection::vec((0usize..3, any::<u32>(), 0u8..=32, 0u32..3), 1..80)
    ) {
        let config = format!("InfiniteSource(ACTIVE false) -> r :: IPLookup; {THREE}");
        let mut router = build(&config, 1, 1).expect("good");
        let mut naive = lpm::Naive::<u32>::new();
        for (command, address, len, port) in steps {
            // Few enough prefixes that they meet.
            let prefix = lpm::Prefix::new(address & 0xc0c0_0003, len).expect("a length");
            let name = ["add", "set", "remove"][command];
            let done = write(&mut router, &format!("r.{name}"), &match name {
                "remove" => prefix.to_string(),
                _ => format!("{prefix} {port}"),
            });
            let known = naive.get(prefix).is_some();
            let expected = match name { "add" => !known, "set" => true, _ => known };
            prop_assert_eq!(done.is_ok(), expected, "{} {}", name, prefix);
            match (name, expected) {
                ("remove", true) => { naive.remove(prefix); }
                (_, true) => { naive.insert(prefix, port); }
                _ => {}
            }
            for probe in [address, address & 0xc0c0_0003, !address] {
                let text = std::net::Ipv4Addr::from(probe).to_string();
                let want = naive.lookup(probe).map_or("-1".to_owned(), |port| port.to_string());
                prop_assert_eq!(lookup(&mut router, &text), want);
            }
        }
    }
}

#[test]
fn a_part_of_a_table_is_listed() {
    let config =
        format!("InfiniteSource(ACTIVE false) -> r :: IPLookup(10.0.0.0/8 0, 10.1.0.0/16 1, 0/0 2); {THREE}");
    let mut router = build(&config, 1, 1).expect("a good configuration");
    let mut read = |within: &str| router.call(Call::read("r.table", within)).map_err(|error| error.message);
    assert_eq!(read("10.0.0.0/8"), Ok("10.0.0.0/8\t\t-\t\t0\n10.1.0.0/16\t\t-\t\t1\n".to_owned()));
    assert_eq!(read("10.1.0.0/16"), Ok("10.1.0.0/16\t\t-\t\t1\n".to_owned()));
    assert_eq!(read("11.0.0.0/8"), Ok(String::new()));
    assert_eq!(read("x"), Err("expected '[ADDR/MASK]'".to_owned()));
}

/// While a long table is listed, its script waits, and the worker forwards: many batches, where it would forward none.
#[test]
fn packets_go_on_while_a_table_is_listed() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("routes");
    let lines: String =
        (0..200_000).map(|n| format!("10.{}.{}.{}/32 0\n", n >> 16, n >> 8 & 255, n & 255)).collect();
    std::fs::write(&file, lines).expect("writable");
    for class in ["IPLookup", "RadixIPLookup"] {
        let config = format!(
            "InfiniteSource -> c :: Counter -> Discard; Idle -> r :: {class} -> Discard;
             Script(write r.load {}, set before $(c.count), set table $(r.table),
                    print $(gt $(sub $(c.count) $before) 1000) $(r.length), stop)",
            file.display()
        );
        let router =
            crate::testing::build_at(&config, 1, 32, router::Clock::real(), router::Resources::default());
        let mut router = router.expect("a good configuration");
        router.run();
        assert_eq!(router.info().log.text(), "true 200000\n", "{class}");
    }
}
