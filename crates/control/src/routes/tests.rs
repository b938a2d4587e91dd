//! Zebra and the kernel, played or real, and tables that are told what they say.

use super::fib::tests::Model;
use super::fib::{Fib, Ports};
use super::links::Known;
use super::netlink::{Forwarding, Link, Message, NextHop, Object, Placing, Route, Special, messages, write};
use crate::mutations;
use crate::testing::{read, until};
use elements_shared::route_port::Destination;
use router::{Call, Classes, Handle, Log, Options, Router};
use std::collections::BTreeSet;
use std::io::Write;
use std::net::TcpStream;

fn with(config: &str, act: impl FnOnce(&Handle)) {
    crate::testing::with(config, &known(), act);
}

/// The classes of this crate, and lookup elements.
fn known() -> Classes {
    Classes::new(crate::CLASSES.iter().copied().chain(elements::classes().iter()))
}

/// The number of the loopback interface.
const LO: u32 = 1;

fn route(address: &str, len: u8, forwarding: Forwarding) -> Route {
    let destination = Destination { address: address.parse().expect("an address"), len };
    let (table, metric, tos, protocol, scope, mtu) = (254, 0, 0, 186, 0, 0);
    let (source, expires, placing) = (None, None, Placing::Replace);
    Route { destination, table, metric, tos, protocol, scope, mtu, source, expires, placing, forwarding }
}

fn via(gateway: &str) -> Forwarding {
    Forwarding::Hop(next(gateway))
}

fn next(gateway: &str) -> NextHop {
    NextHop { gateway: gateway.parse().ok(), interface: LO, weight: 1, encapsulated: false }
}

fn framed(message: &[u8]) -> Vec<u8> {
    let len = (4 + message.len() as u16).to_be_bytes();
    [&[1, 1, len[0], len[1]], message].concat()
}

fn send(zebra: &mut TcpStream, add: bool, routes: &[Route]) {
    let bytes: Vec<u8> = routes.iter().flat_map(|r| framed(&write::route(add, r))).collect();
    zebra.write_all(&bytes).expect("the router reads");
}

fn connect(handle: &Handle) -> TcpStream {
    let port = read(handle, "fpm.port").parse().expect("a port");
    TcpStream::connect(("127.0.0.1", port)).expect("the router listens")
}

/// Two tables, each with outputs up to 3.
const TABLES: &str = "rt4 :: IPLookup; rt6 :: IP6Lookup; Idle -> rt4; Idle -> rt6; d :: Discard;
    rt4[0] -> d; rt4[1] -> d; rt4[2] -> d; rt4[3] -> d; rt6[0] -> d; rt6[1] -> d; rt6[2] -> d; rt6[3] -> d;";

/// Packets that are not to be forwarded have an output that there is not.
fn fpm() -> String {
    format!("{TABLES} fpm :: FPMServer(lo 3 1, IPV4 rt4, IPV6 rt6, PORT 0, HOLD 1, BLACKHOLE 9, PROHIBIT 2);")
}

/// What a table prints for a route.
fn line(prefix: &str, gateway: &str, output: u32) -> String {
    let line = elements_shared::route_text::line(&prefix, &gateway, &output, "");
    line.trim_end().to_owned()
}

/// Waits until a table has these routes and no others, in whatever order.
fn until_table(handle: &Handle, table: &str, lines: &[String]) {
    let wanted: BTreeSet<&str> = lines.iter().map(String::as_str).collect();
    until(handle, &format!("{table}.table"), |text| text.lines().collect::<BTreeSet<_>>() == wanted);
}

#[test]
fn zebra_comes_goes_and_comes_back() {
    with(&fpm(), |handle| {
        let events = handle.info().events.subscribe(vec!["route".to_owned()]);
        let mut zebra = connect(handle);
        let (a, b) = (route("10.0.0.0", 8, via("192.0.2.1")), route("11.0.0.0", 8, via("")));
        let bad = route("198.51.100.0", 24, Forwarding::Special(Special::Blackhole));
        let c = route("2001:db8::", 32, Forwarding::Object(5));
        zebra.write_all(&framed(&write::object(5, &Object::Hop(next("fe80::1"))))).expect("the router reads");
        send(&mut zebra, true, &[a.clone(), bad, b.clone(), c]);
        until_table(handle, "rt6", &[line("2001:db8::/32", "fe80::1", 3)]);
        // One that is refused does not take the others with it. With it goes its next hop.
        until_table(handle, "rt4", &[line("10.0.0.0/8", "192.0.2.1", 3), line("11.0.0.0/8", "-", 3)]);
        until(handle, "fpm.stats", |stats| stats.contains("\nrefused 2\n"));
        let told: BTreeSet<_> = events.try_iter().collect();
        let add = |prefix: &str, to: &str, table| format!("route add {table} {prefix} {to} 3 origin fpm");
        let wanted = [
            add("10.0.0.0/8", "192.0.2.1", "rt4"),
            add("11.0.0.0/8", "-", "rt4"),
            add("2001:db8::/32", "fe80::1", "rt6"),
        ];
        assert_eq!(told, BTreeSet::from(wanted));

        // Zebra dies in the middle of a message: all routes stay.
        let cut_off = framed(&write::route(false, &a));
        zebra.write_all(&cut_off[..20]).expect("the router reads");
        drop(zebra);
        until(handle, "fpm.connected", |connected| connected == "false");
        assert_eq!(read(handle, "fpm.routes"), "4");

        // It is back and tells of one route: the others go in the end, the one is not touched.
        let mut zebra = connect(handle);
        send(&mut zebra, true, &[a]);
        until(handle, "fpm.routes", |routes| routes == "1");
        until_table(handle, "rt4", &[line("10.0.0.0/8", "192.0.2.1", 3)]);
        until_table(handle, "rt6", &[]);
        let told: Vec<_> = events.try_iter().collect();
        let is_gone = |start: &str| told.iter().any(|event| event.starts_with(start));
        assert!(
            is_gone("route delete rt4 11.0.0.0/8 ") && is_gone("route delete rt6 2001:db8::/32 "),
            "{told:?}"
        );
        assert!(!told.iter().any(|event| event.contains("10.0.0.0/8")), "{told:?}");
        assert_eq!(read(handle, "fpm.connected"), "true");
    });
}

/// An IPv4 route over an IPv6 gateway leads to the output that is for these.
#[test]
fn ipv4_over_ipv6_has_an_output_of_its_own() {
    with(&fpm(), |handle| {
        let mut zebra = connect(handle);
        send(
            &mut zebra,
            true,
            &[route("10.0.0.0", 8, via("fe80::1")), route("2001:db8::", 32, via("fe80::1"))],
        );
        until_table(handle, "rt4", &[line("10.0.0.0/8", "fe80::1", 1)]);
        until_table(handle, "rt6", &[line("2001:db8::/32", "fe80::1", 3)]);
    });
}

/// The thread that has the routes tells of them.
#[test]
fn routes_are_told_in_detail() {
    with(&fpm(), |handle| {
        let mut zebra = connect(handle);
        send(&mut zebra, true, &[route("10.0.0.0", 8, via("192.0.2.1"))]);
        until(handle, "fpm.routes_detail", |text| text.contains("\"state\":\"used\""));
        let told: serde_json::Value = serde_json::from_str(&read(handle, "fpm.routes_detail")).expect("JSON");
        assert_eq!((&told[0]["prefix"], &told[0]["protocol"]), (&"10.0.0.0/8".into(), &"bgp".into()));
        assert_eq!(told[0]["nexthops"][0]["interface"], "lo");
    });
}

/// An error of the program in the thread loses nothing that was told, and what is told afterwards arrives.
#[test]
fn a_panic_is_survived() {
    with(&fpm(), |handle| {
        let [a, b] =
            [("10.0.0.0", "192.0.2.1"), ("11.0.0.0", "192.0.2.2")].map(|(to, by)| route(to, 8, via(by)));
        let lines = [line("10.0.0.0/8", "192.0.2.1", 3), line("11.0.0.0/8", "192.0.2.2", 3)];
        let mut zebra = connect(handle);
        send(&mut zebra, true, std::slice::from_ref(&a));
        until_table(handle, "rt4", &lines[..1]);
        for round in 1..=2 {
            handle.call(Call::write("fpm.panic", "")).expect("a handler");
            until(handle, "fpm.stats", |stats| stats.contains(&format!("restarts {round}\n")));
            until(handle, "fpm.connected", |connected| connected == "false");
            let mut zebra = connect(handle);
            send(&mut zebra, true, &[a.clone(), b.clone()]);
            until(handle, "fpm.routes", |routes| routes == "2");
            until_table(handle, "rt4", &lines);
        }
    });
}

/// A table that is not there, has no routes that can change, or is for the other family: that is said when the configuration starts.
#[test]
fn a_table_that_will_not_do() {
    for (tables, said) in [
        ("IPV4 nowhere", "IPV4: does not name an element"),
        ("IPV4 d", "IPV4: 'd' is not a lookup element"),
        ("IPV6 rt4", "IPV6: 'rt4' is for the other address family"),
    ] {
        let config = format!("{TABLES} FPMServer(lo 3, {tables}, PORT 0);");
        let known = known();
        let layout =
            router::layout(lang::parse(&config, "config", &[]).graph, &known, 1).expect("known classes");
        let options = Options { log: Log::Memory(Default::default()), ..Options::default() };
        let errors = router::build(layout, config.clone(), &known, options).err().expect("an error");
        let text = lang::render_click(&errors);
        assert!(text.contains(said), "{text}");
    }
}

/// In the midst of a swap and behind it, the table has what zebra says.
#[test]
fn a_swap_carries_routes_over() {
    let config = format!("{TABLES} fpm :: FPMServer(lo 3, IPV4 rt4, IPV6 rt6, PORT 0);");
    let (mut old, _) = said(&config, None);
    let connected = |router: &mut Router| {
        let port: u16 = router.call(Call::read("fpm.port", "")).expect("a port").parse().expect("a number");
        TcpStream::connect(("127.0.0.1", port)).expect("it listens")
    };
    let wait_for = |router: &mut Router, lines: &[String]| {
        let wanted: BTreeSet<String> = lines.iter().cloned().collect();
        let start = std::time::Instant::now();
        loop {
            let text = router.call(Call::read("rt4.table", "")).expect("readable");
            if text.lines().map(str::to_owned).collect::<BTreeSet<_>>() == wanted {
                return;
            }
            assert!(start.elapsed().as_secs() < 60, "it still has\n{text}");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    };
    let mut zebra = connected(&mut old);
    let (a, b) = (route("10.0.0.0", 8, via("192.0.2.1")), route("11.0.0.0", 8, via("")));
    send(&mut zebra, true, &[a.clone(), b]);
    let lines = [line("10.0.0.0/8", "192.0.2.1", 3), line("11.0.0.0/8", "-", 3)];
    wait_for(&mut old, &lines);
    let (mut new, text) = said(&config, Some(&mut old));
    assert_eq!(text, "");
    wait_for(&mut new, &lines);
    send(&mut zebra, false, &[a]);
    wait_for(&mut new, &lines[1..]);
    old.finish();
    new.finish();
}

/// What a router says while it starts and runs for a moment, perhaps in the place of another.
fn said(config: &str, mut old: Option<&mut Router>) -> (Router, String) {
    let known = known();
    let layout = router::layout(lang::parse(config, "config", &[]).graph, &known, 1);
    let layout = layout.unwrap_or_else(|errors| panic!("{}", lang::render_click(&errors)));
    let options = Options { log: Log::Memory(Default::default()), ..Options::default() };
    let built = router::build(layout, config.to_owned(), &known, options);
    let (mut router, _) = built.unwrap_or_else(|errors| panic!("{}", lang::render_click(&errors)));
    if let Some(old) = &mut old {
        router.take_over(old).expect("it takes over");
    }
    let handle = router.handle();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(300));
            handle.stop();
        });
        router.run();
    });
    let text = router.info().log.text();
    (router, text)
}

/// A swap in which the port is handed over says nothing; a port that is another program's is said, once.
#[test]
fn only_a_port_that_is_taken_is_said() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port();
    let config = format!("{TABLES} fpm :: FPMServer(lo 3, IPV4 rt4, IPV6 rt6, PORT {port}, HOLD 1);");
    let (mut router, text) = said(&config, None);
    assert_eq!(text.matches(&format!("cannot listen on 127.0.0.1:{port}")).count(), 1, "{text}");
    router.finish();
    drop(taken);
    let (mut old, text) = said(&config, None);
    assert_eq!(text, "");
    let (mut new, text) = said(&config, Some(&mut old));
    assert_eq!(text, "");
    old.finish();
    assert!(TcpStream::connect(("127.0.0.1", port)).is_ok(), "it listens still");
    new.finish();
}

#[test]
fn what_is_not_fpm_ends_the_connection_not_the_server() {
    with(&fpm(), |handle| {
        let mut stranger = connect(handle);
        stranger.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("the router reads");
        until(handle, "fpm.stats", |stats| stats.starts_with("connected 0\nconnections 1\n"));
        let mut zebra = connect(handle);
        send(&mut zebra, true, &[route("10.0.0.0", 8, Forwarding::Special(Special::Prohibit))]);
        until_table(handle, "rt4", &[line("10.0.0.0/8", "-", 2)]);
    });
}

/// The kernel's routes for the loopback interface: table 255 has them on every machine.
#[test]
fn the_kernel_is_read() {
    let config = format!("{TABLES} k :: KernelRoutes(lo 1, IPV4 rt4, TABLE 255, LOCAL 2)");
    if device::links::named("lo").is_none_or(|lo| lo.index != 1) {
        return eprintln!("skipped: there is no loopback interface with number 1");
    }
    with(&config, |handle| {
        let own = [line("127.0.0.1/32", "-", 2), line("127.255.255.255/32", "-", 2)];
        until(handle, "rt4.table", |text| own.iter().all(|line| text.contains(line)));
        until(handle, "k.stats", |stats| stats.starts_with("connected 1\n"));
        handle.call(Call::write("k.panic", "")).expect("a handler");
        until(handle, "k.stats", |stats| stats.contains("connections 2\n") && stats.contains("restarts 1\n"));
    });
}

/// What the kernel tells, nearly: a table takes it in, gives out what follows from it, and is empty once all is swept.
#[test]
fn messages_that_are_nearly_right() {
    let ports = Ports { interfaces: vec![("lo".to_owned(), 1)], blackhole: Some(2), ..Ports::default() };
    mutations::each("netlink", |data| {
        let (found, taken) = messages(data);
        assert!(taken <= data.len());
        for by_metric in [false, true] {
            let (mut fib, mut v4, mut v6) = (Fib::new(by_metric), Model::default(), Model::default());
            let mut links = Known::default();
            links.take(Link { index: LO, name: "lo".to_owned(), is_up: true, vrf_table: None });
            let mut give_out = |fib: &mut Fib, links: &Known| {
                while fib.changed() > 0 {
                    let changes = fib.changes(64, &ports, links);
                    v4.apply(changes.v4);
                    v6.apply(changes.v6);
                    fib.done();
                }
                v4.is_empty() && v6.is_empty()
            };
            for (n, message) in found.iter().cloned().enumerate() {
                if let Message::Link(link) = &message
                    && links.take(link.clone())
                {
                    fib.link_changed(link.index);
                }
                fib.take(message);
                if n % 3 == 0 {
                    give_out(&mut fib, &links);
                }
            }
            give_out(&mut fib, &links);
            fib.settle();
            give_out(&mut fib, &links);
            fib.begin_round();
            fib.sweep();
            assert!(give_out(&mut fib, &links));
            assert_eq!((fib.len(), fib.unused()), (0, 0));
        }
    });
}
