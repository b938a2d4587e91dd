//! Zebra and the kernel, played or real, and a table that notes what it is told.

#[path = "../../../../fuzz/mutations.rs"]
mod mutations;

use super::fib::tests::Model;
use super::fib::{Fib, Ports};
use super::links::Known;
use super::netlink::{Forwarding, Link, Message, NextHop, Object, Placing, Route, Special, messages, write};
use crate::testing::{read, until};
use elements_shared::route_port::Destination;
use router::{Call, Class, Classes, Config, ConfigError, Element, Handle, Handlers, Log, Options, Router};
use std::io::Write;
use std::net::TcpStream;

/// In the place of a lookup element.
struct Notes(String);

const NOTES: Class = Class::new("Notes", create).ports("0/0");

fn create(_config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    Ok(Box::new(Notes(String::new())))
}

impl Element for Notes {
    fn handlers(&self, h: &mut Handlers) {
        h.write("ctrl", |e: &mut Notes, _, text| {
            if text.contains("198.51.100.0/24") {
                return Err("not that one".to_owned());
            }
            e.0 += text;
            if !text.ends_with('\n') {
                e.0.push('\n');
            }
            Ok(())
        });
        h.read("text", |e: &mut Notes, _| e.0.clone());
        h.write("clear", |e: &mut Notes, _, _| {
            e.0.clear();
            Ok(())
        });
    }
}

fn with(config: &str, act: impl FnOnce(&Handle)) {
    let known = Classes::new(crate::CLASSES.iter().copied().chain([&NOTES]));
    crate::testing::with(config, &known, act);
}

/// The number of the loopback interface.
const LO: u32 = 1;

fn route(address: &str, len: u8, forwarding: Forwarding) -> Route {
    let destination = Destination { address: address.parse().expect("an address"), len };
    let (table, metric, tos, protocol, scope, mtu, source) = (254, 0, 0, 186, 0, 0, None);
    let placing = Placing::Replace;
    Route { destination, table, metric, tos, protocol, scope, mtu, source, placing, forwarding }
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

const FPM: &str = "rt4 :: Notes; rt6 :: Notes;
    fpm :: FPMServer(lo 3, IPV4 rt4, IPV6 rt6, PORT 0, HOLD 1, BLACKHOLE 9);";

#[test]
fn zebra_comes_goes_and_comes_back() {
    with(FPM, |handle| {
        let mut zebra = connect(handle);
        let (a, b) = (route("10.0.0.0", 8, via("192.0.2.1")), route("11.0.0.0", 8, via("")));
        let (c, bad) = (route("2001:db8::", 32, Forwarding::Object(5)), route("198.51.100.0", 24, via("")));
        zebra.write_all(&framed(&write::object(5, &Object::Hop(next("fe80::1"))))).expect("the router reads");
        send(&mut zebra, true, &[a.clone(), bad, b.clone(), c]);
        until(handle, "rt6.text", |text| text == "set 2001:db8::/32 fe80::1 3\n");
        // One that is refused does not take the others with it.
        assert_eq!(read(handle, "rt4.text"), "set 10.0.0.0/8 192.0.2.1 3\nset 11.0.0.0/8 - 3\n");
        assert!(read(handle, "fpm.stats").contains("\nrefused 1\n"));

        // Zebra dies in the middle of a message: all routes stay.
        let cut_off = framed(&write::route(false, &a));
        zebra.write_all(&cut_off[..20]).expect("the router reads");
        drop(zebra);
        until(handle, "fpm.connected", |connected| connected == "false");
        assert_eq!(read(handle, "fpm.routes"), "4");
        handle.call(Call::write("rt4.clear", "")).expect("cleared");

        // It is back and tells of one route: the other goes in the end, the one is not touched.
        let mut zebra = connect(handle);
        send(&mut zebra, true, &[a]);
        until(handle, "fpm.routes", |routes| routes == "1");
        assert_eq!(read(handle, "rt4.text"), "remove 11.0.0.0/8\n");
        assert_eq!(read(handle, "fpm.connected"), "true");
    });
}

/// An error of the program in the thread loses nothing that was told, and what is told afterwards arrives.
#[test]
fn a_panic_is_survived() {
    with(FPM, |handle| {
        let [a, b] =
            [("10.0.0.0", "192.0.2.1"), ("11.0.0.0", "192.0.2.2")].map(|(to, by)| route(to, 8, via(by)));
        let mut zebra = connect(handle);
        send(&mut zebra, true, std::slice::from_ref(&a));
        until(handle, "rt4.text", |text| text == "set 10.0.0.0/8 192.0.2.1 3\n");
        for round in 1..=2 {
            handle.call(Call::write("fpm.panic", "")).expect("a handler");
            until(handle, "fpm.stats", |stats| stats.contains(&format!("restarts {round}\n")));
            until(handle, "fpm.connected", |connected| connected == "false");
            let mut zebra = connect(handle);
            send(&mut zebra, true, &[a.clone(), b.clone()]);
            until(handle, "fpm.routes", |routes| routes == "2");
            // What was given out before is not given out again.
            until(handle, "rt4.text", |text| {
                text == "set 10.0.0.0/8 192.0.2.1 3\nset 11.0.0.0/8 192.0.2.2 3\n"
            });
        }
    });
}

/// What a router says while it starts and runs for a moment, perhaps in the place of another.
fn said(config: &str, mut old: Option<&mut Router>) -> (Router, String) {
    let known = Classes::new(crate::CLASSES.iter().copied().chain([&NOTES]));
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
    let config = format!(
        "rt4 :: Notes; rt6 :: Notes; fpm :: FPMServer(lo 3, IPV4 rt4, IPV6 rt6, PORT {port}, HOLD 1, BLACKHOLE 9);"
    );
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
    with(FPM, |handle| {
        let mut stranger = connect(handle);
        stranger.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("the router reads");
        until(handle, "fpm.stats", |stats| stats.starts_with("connected 0\nconnections 1\n"));
        let mut zebra = connect(handle);
        send(&mut zebra, true, &[route("10.0.0.0", 8, Forwarding::Special(Special::Blackhole))]);
        until(handle, "rt4.text", |text| text == "set 10.0.0.0/8 - 9\n");
    });
}

/// The kernel's routes for the loopback interface: table 255 has them on every machine.
#[test]
fn the_kernel_is_read() {
    let config = "rt :: Notes; k :: KernelRoutes(lo 1, IPV4 rt, TABLE 255, LOCAL 7)";
    if device::links::named("lo").is_none_or(|lo| lo.index != 1) {
        return eprintln!("skipped: there is no loopback interface with number 1");
    }
    with(config, |handle| {
        let own = ["set 127.0.0.1/32 - 7\n", "set 127.255.255.255/32 - 7\n"];
        until(handle, "rt.text", |text| own.iter().all(|line| text.contains(line)));
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
