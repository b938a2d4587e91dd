//! A table that checks what it is told, and routes that come, change and go.

use super::*;
use crate::routes::netlink::{Link, NextHop, Object, Placing, Special};
use elements_shared::route_port::{Destination, NextHopId, Way};
use std::collections::{BTreeMap, HashMap};

/// Knows what it is told, and insists on what `RoutePort` asks for.
#[derive(Default)]
pub(crate) struct Model {
    hops: HashMap<NextHopId, Vec<Way>>,
    routes: BTreeMap<Destination, NextHopId>,
    /// How many changes there were.
    heard: usize,
}

impl Model {
    pub(crate) fn apply(&mut self, changes: Vec<Change>) {
        self.heard += changes.len();
        for change in changes {
            match change {
                Change::NextHop(id, ways) => drop(self.hops.insert(id, ways)),
                Change::ForgetNextHop(id) => {
                    assert!(!self.routes.values().any(|other| *other == id), "{id} is in use");
                    assert!(self.hops.remove(&id).is_some(), "{id} is unknown");
                }
                Change::Route(to, id) => {
                    assert!(self.hops.contains_key(&id), "{id} is unknown");
                    self.routes.insert(to, id);
                }
                Change::Withdraw(to) => drop(self.routes.remove(&to)),
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.routes.is_empty() && self.hops.is_empty()
    }

    /// Lines as `10.0.0.0/8 192.0.2.1>1*1 -`.
    fn text(&self) -> String {
        let way = |way: &Way| {
            let gateway = way.gateway.map_or("-".to_owned(), |gateway| gateway.to_string());
            format!(" {gateway}>{}*{}", way.port, way.weight)
        };
        let line = |(to, id): (&Destination, &NextHopId)| {
            let ways: String = self.hops[id].iter().map(way).collect();
            format!("{}/{}{ways}\n", to.address, to.len)
        };
        self.routes.iter().map(line).collect()
    }
}

/// Routes, links, and the table that is told of them.
pub(super) struct Bench {
    pub(super) fib: Fib,
    links: Known,
    ports: Ports,
    v4: Model,
    v6: Model,
}

impl Bench {
    pub(super) fn new(by_metric: bool) -> Bench {
        let ports = Ports {
            interfaces: (1..5).map(|n| (format!("eth{n}"), n)).collect(),
            across: (1..5).map(|n| (n, n)).collect(),
            blackhole: Some(9),
            ..Ports::default()
        };
        let (v4, v6) = Default::default();
        let mut bench = Bench { fib: Fib::new(by_metric), links: Known::default(), ports, v4, v6 };
        (1..10).for_each(|n| bench.link(n, true));
        bench
    }

    fn link(&mut self, index: u32, is_up: bool) {
        self.link_as(index, &format!("eth{index}"), is_up);
    }

    pub(super) fn link_as(&mut self, index: u32, name: &str, is_up: bool) {
        self.hear(Message::Link(Link { index, name: name.to_owned(), is_up, vrf_table: None }));
    }

    /// Takes in a message about a link or a route.
    pub(super) fn hear(&mut self, message: Message) {
        match message {
            Message::Link(link) => {
                let index = link.index;
                if self.links.take(link) {
                    self.fib.link_changed(index);
                }
            }
            message => self.fib.take(message),
        }
    }

    fn take(&mut self, messages: impl IntoIterator<Item = Message>) {
        messages.into_iter().for_each(|message| self.fib.take(message));
    }

    /// What the tables have once they were told everything.
    pub(super) fn text(&mut self) -> String {
        while self.fib.changed() > 0 {
            let changes = self.fib.changes(2, &self.ports, &self.links);
            self.v4.apply(changes.v4);
            self.v6.apply(changes.v6);
            self.fib.done();
        }
        assert_eq!(self.fib.len() - self.fib.unused(), self.v4.routes.len() + self.v6.routes.len());
        self.v4.text() + &self.v6.text()
    }

    /// How many changes the tables were told of since this was last asked.
    fn heard(&mut self) -> usize {
        self.text();
        std::mem::take(&mut self.v4.heard) + std::mem::take(&mut self.v6.heard)
    }
}

fn destination(text: &str) -> Destination {
    let (address, len) = text.split_once('/').expect("a length");
    Destination { address: address.parse().expect("an address"), len: len.parse().expect("a length") }
}

fn next(gateway: &str, interface: u32) -> NextHop {
    NextHop { gateway: gateway.parse().ok(), interface, weight: 1, encapsulated: false }
}

fn hop(gateway: &str, interface: u32) -> Forwarding {
    Forwarding::Hop(next(gateway, interface))
}

fn special(special: Special) -> Forwarding {
    Forwarding::Special(special)
}

fn route(to: &str, metric: u32, forwarding: Forwarding) -> Route {
    Route {
        destination: destination(to),
        table: 254,
        metric,
        tos: 0,
        protocol: 3,
        scope: 0,
        mtu: 0,
        source: None,
        expires: None,
        placing: Placing::Only,
        forwarding,
    }
}

fn add(to: &str, metric: u32, forwarding: Forwarding) -> Message {
    Message::Add(route(to, metric, forwarding))
}

/// As a message with these flags.
fn placed(placing: Placing, to: &str, metric: u32, forwarding: Forwarding) -> Message {
    Message::Add(Route { placing, ..route(to, metric, forwarding) })
}

fn remove(to: &str, metric: u32, forwarding: Forwarding) -> Message {
    Message::Remove(route(to, metric, forwarding))
}

fn object(id: u32, object: Object) -> Message {
    Message::AddObject { id, object, is_new: false }
}

#[test]
fn routes_come_change_and_go() {
    let mut bench = Bench::new(false);
    bench.take([
        add("10.0.0.0/8", 0, hop("192.0.2.1", 1)),
        add("2001:db8::/32", 0, hop("fe80::1", 2)),
        add("10.1.0.0/16", 0, special(Special::Blackhole)),
        add("10.2.0.0/16", 0, special(Special::Prohibit)), // no port for these
        add("10.4.0.0/16", 0, special(Special::Local)),    // nor for these, which the host delivers itself
        add("10.3.0.0/16", 0, Forwarding::Hops(vec![next("192.0.2.1", 5), next("", 2)])),
        add("10.5.0.0/16", 0, hop("fe80::1", 2)), // RFC 8950
    ]);
    let first = "10.0.0.0/8 192.0.2.1>1*1\n";
    let more = "10.1.0.0/16 ->9*1\n10.2.0.0/16\n10.3.0.0/16 ->2*1\n";
    let v6 = "10.5.0.0/16 fe80::1>2*1\n2001:db8::/32 fe80::1>2*1\n";
    assert_eq!(bench.text(), format!("{first}{more}{v6}"));
    assert_eq!((bench.fib.len(), bench.fib.unused()), (7, 1));
    bench.heard();
    // The same again is no change.
    bench.take([add("10.0.0.0/8", 0, hop("192.0.2.1", 1))]);
    assert_eq!((bench.fib.changed(), bench.heard()), (0, 0));
    bench.take([
        add("10.0.0.0/8", 7, hop("192.0.2.2", 1)),
        remove("10.1.0.0/16", 0, special(Special::Blackhole)),
        remove("10.2.0.0/16", 0, special(Special::Prohibit)),
        remove("10.9.0.0/16", 0, special(Special::Prohibit)),
    ]);
    assert_eq!(bench.text(), format!("10.0.0.0/8 192.0.2.2>1*1\n10.3.0.0/16 ->2*1\n{v6}"));
    assert_eq!(bench.fib.len(), 5);
}

/// What was not done is told again, to the same table or another.
#[test]
fn until_it_is_done() {
    let mut bench = Bench::new(false);
    bench.take([
        add("10.0.0.0/8", 0, Forwarding::Hops(vec![next("192.0.2.1", 1), next("192.0.2.2", 2)])),
        add("11.0.0.0/8", 0, special(Special::Blackhole)),
    ]);
    let ask = |bench: &mut Bench| bench.fib.changes(1, &bench.ports, &bench.links).v4;
    let (first, second) = (ask(&mut bench), ask(&mut bench));
    assert_eq!((first.len(), &first), (2, &second));
    let both = "10.0.0.0/8 192.0.2.1>1*1 192.0.2.2>2*1\n11.0.0.0/8 ->9*1\n";
    assert_eq!(bench.text(), both);
    // A change of an object, and a withdrawal.
    bench.link(2, false);
    bench.take([remove("11.0.0.0/8", 0, special(Special::Blackhole))]);
    let (first, second) = (ask(&mut bench), ask(&mut bench));
    assert_eq!(first[..2], second[..2]);
    assert!(matches!(second[..2], [Change::NextHop(..), Change::Withdraw(_)]), "{second:?}");
    assert_eq!(bench.text(), "10.0.0.0/8 192.0.2.1>1*1\n");
    // A new table has the routes of the old one, under numbers of its own.
    bench.take([add("12.0.0.0/8", 0, hop("192.0.2.1", 1))]);
    bench.text();
    bench.take([remove("12.0.0.0/8", 0, hop("192.0.2.1", 1))]);
    bench.fib.forget();
    let changes = bench.fib.changes(9, &bench.ports, &bench.links).v4;
    assert!(changes.contains(&Change::Withdraw(destination("12.0.0.0/8"))), "{changes:?}");
    (bench.v4, bench.v6) = Default::default();
    assert_eq!(bench.text(), "10.0.0.0/8 192.0.2.1>1*1\n");
}

/// A link that goes and comes is one object told anew, however many routes lead there; only if it stays away, other routes are used.
#[test]
fn links_go_and_come() {
    let mut bench = Bench::new(true);
    bench.take((0..100).map(|n| add(&format!("10.1.{n}.0/24"), 5, hop("192.0.2.1", 1))));
    bench.take([add("10.1.7.0/24", 9, hop("192.0.2.2", 2)), add("10.0.0.0/8", 0, hop("192.0.2.3", 3))]);
    bench.heard();
    bench.link(1, false);
    assert_eq!(bench.heard(), 1);
    assert!(bench.text().contains("\n10.1.7.0/24\n"));
    bench.link(1, true);
    assert_eq!(bench.heard(), 1);
    bench.link(1, false);
    bench.fib.settle();
    assert_eq!(bench.text(), "10.0.0.0/8 192.0.2.3>3*1\n10.1.7.0/24 192.0.2.2>2*1\n");
    assert_eq!(bench.fib.unused(), 99);
    bench.link(1, true);
    assert!(bench.text().contains("\n10.1.7.0/24 192.0.2.1>1*1\n"));
    assert_eq!((bench.v4.routes.len(), bench.fib.unused()), (101, 0));
    assert_eq!((bench.fib.link_changed(1), bench.fib.link_changed(7)), (true, false));
    // Senders are told, until others are used.
    bench.ports.unreachable = Some(8);
    bench.link(1, false);
    assert!(bench.text().contains("\n10.1.7.0/24 ->8*1\n"));
    bench.fib.settle();
    assert!(bench.text().contains("\n10.1.7.0/24 192.0.2.2>2*1\n"));
    bench.link(1, true);
    assert!(bench.text().contains("\n10.1.7.0/24 192.0.2.1>1*1\n"));
    // Another interface has no output; it gets the name of one that has.
    bench.take([add("10.2.0.0/16", 0, hop("192.0.2.9", 9))]);
    assert!(!bench.text().contains("10.2.0.0"));
    bench.links.take(Link { index: 9, name: "eth4".to_owned(), is_up: true, vrf_table: None });
    bench.fib.link_changed(9);
    assert!(bench.text().contains("\n10.2.0.0/16 192.0.2.9>4*1\n"));
}

/// Of a destination's routes the one with the smallest metric counts, of those with the same the first; the next one takes over.
#[test]
fn routes_have_the_order_of_the_kernel() {
    let mut bench = Bench::new(true);
    let to = "10.0.0.0/8";
    let ways = |n: u32| hop(&format!("192.0.2.{n}"), 1);
    let is = |n: u32| format!("10.0.0.0/8 192.0.2.{n}>1*1\n");
    bench.take([add(to, 200, ways(9)), add(to, 100, ways(1))]);
    assert_eq!(bench.text(), is(1));
    bench.take([placed(Placing::Last, to, 100, ways(2)), placed(Placing::First, to, 100, ways(3))]);
    assert_eq!(bench.text(), is(3)); // 3 1 2
    bench.take([placed(Placing::Replace, to, 100, ways(4))]);
    assert_eq!(bench.text(), is(4)); // 4 1 2
    bench.take([remove(to, 100, ways(4))]);
    assert_eq!(bench.text(), is(1));
    bench.take([Message::Add(Route { tos: 16, ..route(to, 1, ways(7)) })]);
    assert_eq!((bench.text(), bench.fib.with_tos()), (is(1), 1));
    bench.take([remove(to, 100, ways(1)), remove(to, 100, ways(2))]);
    assert_eq!(bench.text(), is(9));
    assert!(!bench.fib.unsure());
    // What the kernel says and what is known differ.
    for odd in [remove(to, 100, ways(2)), placed(Placing::Replace, to, 50, ways(5)), add(to, 200, ways(6))] {
        bench.take([odd]);
        assert!(bench.fib.unsure() && !bench.fib.unsure());
    }
    bench.take([remove(to, 50, ways(5))]);
    assert_eq!(bench.text(), is(6), "9 had gone unsaid");
    // A list of all says what the order is.
    bench.fib.begin_round();
    bench.take([8, 6, 5].map(|n| placed(Placing::Listed, to, 200, ways(n))));
    assert_eq!(bench.text(), is(8));
    bench.take([Message::Add(Route { tos: 16, placing: Placing::Listed, ..route(to, 1, ways(7)) })]);
    assert_eq!(bench.fib.sweep(), 0);
    bench.take([remove(to, 200, ways(8))]);
    assert_eq!(bench.text(), is(6));
    bench.take([remove(to, 200, ways(6))]);
    assert_eq!(bench.text(), is(5));
}

/// Reading all routes again changes nothing meanwhile, be it that a destination has several.
#[test]
fn a_list_of_what_is_known_is_no_change() {
    let mut bench = Bench::new(true);
    let ways = [1, 2, 3].map(|n| hop(&format!("192.0.2.{n}"), 1));
    let list = |placing| ways.clone().map(|way| placed(placing, "10.0.0.0/8", 5, way));
    bench.take(list(Placing::Last));
    bench.heard();
    for _ in 0..2 {
        bench.fib.begin_round();
        for message in list(Placing::Listed) {
            bench.take([message]);
            assert_eq!(bench.heard(), 0);
        }
        assert_eq!((bench.fib.sweep(), bench.heard()), (0, 0));
    }
}

/// IPv6 routes over gateways with one metric are one route, of which one next hop can go.
#[test]
fn next_hops_of_ipv6_join_and_part() {
    let mut bench = Bench::new(true);
    let to = "2001:db8:a::/48";
    let hops = |list: &[u32]| {
        Forwarding::Hops(list.iter().map(|n| next(&format!("fe80::{n}"), n.div_ceil(2))).collect())
    };
    bench.take([
        add(to, 1024, hop("fe80::1", 1)),
        placed(Placing::Last, to, 1024, hops(&[2, 1])),
        placed(Placing::Last, to, 1024, hops(&[3, 1, 2])),
        placed(Placing::Last, to, 1024, hop("", 4)),
    ]);
    assert_eq!(bench.text(), "2001:db8:a::/48 fe80::1>1*1 fe80::2>1*1 fe80::3>2*1\n");
    bench.take([remove(to, 1024, hop("fe80::2", 1))]);
    assert_eq!(bench.text(), "2001:db8:a::/48 fe80::1>1*1 fe80::3>2*1\n");
    // The same is told in another order, and changes nothing.
    bench.heard();
    bench.fib.begin_round();
    bench.take([
        placed(Placing::Listed, to, 1024, hops(&[3, 1])),
        placed(Placing::Listed, to, 1024, hop("", 4)),
    ]);
    assert_eq!((bench.fib.sweep(), bench.heard()), (0, 0));
    // One without a gateway is replaced by such a one, not by these.
    bench.take([placed(Placing::Replace, to, 1024, special(Special::Blackhole))]);
    assert_eq!(bench.text(), "2001:db8:a::/48 fe80::1>1*1 fe80::3>2*1\n");
    bench.take([remove(to, 1024, hops(&[1, 3]))]);
    assert_eq!(bench.text(), "2001:db8:a::/48 ->9*1\n");
    bench.take([placed(Placing::Replace, to, 1024, hops(&[5, 6]))]);
    assert_eq!(bench.text(), "2001:db8:a::/48 fe80::5>3*1 fe80::6>3*1\n");
    bench.take([remove(to, 1024, hop("fe80::5", 3)), remove(to, 1024, hop("fe80::6", 3))]);
    assert_eq!((bench.text(), bench.fib.unsure()), (String::new(), false));
    bench.take([add(to, 1, hop("fe80::5", 3)), remove(to, 1, hop("fe80::6", 3))]);
    assert!(bench.fib.unsure());
}

/// An interface without an output for IPv4 packets to IPv6 gateways: such a route is not used, so that the shorter prefix and the next
/// metric count, and it is said. Of several next hops the others are used; IPv6 routes over the same next hop are.
#[test]
fn ipv4_over_ipv6_gateways_without_an_output() {
    let mut bench = Bench::new(true);
    bench.ports.across = vec![(2, 7)];
    bench.take([
        object(1, Object::Hop(next("fe80::1", 1))),
        add("10.0.0.0/8", 0, hop("192.0.2.1", 2)),
        add("10.1.0.0/16", 0, Forwarding::Object(1)),
        add("10.2.0.0/16", 1, hop("fe80::1", 1)),
        placed(Placing::First, "10.2.0.0/16", 2, hop("192.0.2.2", 3)),
        add("10.3.0.0/16", 0, Forwarding::Hops(vec![next("fe80::1", 1), next("fe80::2", 2)])),
        add("2001:db8::/32", 0, Forwarding::Object(1)),
    ]);
    let text = "10.0.0.0/8 192.0.2.1>2*1\n10.2.0.0/16 192.0.2.2>3*1\n10.3.0.0/16 fe80::2>7*1\n2001:db8::/32 fe80::1>1*1\n";
    assert_eq!((bench.text(), bench.fib.unused()), (text.to_owned(), 1));
    let said = bench.fib.remarks();
    assert!(said.len() == 1 && said[0].contains("'INTERFACE OUTPUT OUTPUT6'"), "{said:?}");
    assert!(bench.fib.remarks().is_empty());
}

/// That it has no way for IPv4 packets is nothing to say of a gateway that only IPv6 routes have.
#[test]
fn an_ipv6_gateway_of_ipv6_routes_is_nothing_to_say() {
    let mut bench = Bench::new(true);
    bench.ports.across = Vec::new();
    bench.take([add("2001:db8::/32", 0, hop("fe80::1", 1))]);
    bench.text();
    assert_eq!(bench.fib.remarks(), [""; 0]);
}

#[test]
fn routes_change_with_their_objects() {
    let mut bench = Bench::new(false);
    bench.take([
        add("10.0.0.0/8", 0, Forwarding::Object(7)),
        add("11.0.0.0/8", 0, Forwarding::Object(8)),
        object(7, Object::Group(vec![(8, 1), (9, 300), (7, 1)])), // within itself, even
    ]);
    assert_eq!(bench.text(), "", "before its next hops are known, a route is not used");
    assert!(bench.fib.unsure());
    bench.take([object(8, Object::Hop(next("192.0.2.1", 1))), object(9, Object::Hop(next("192.0.2.9", 2)))]);
    let text = bench.text();
    assert!(text.starts_with("10.0.0.0/8 192.0.2.1>1*1 192.0.2.9>2*300"), "{text}");
    assert!(text.ends_with("\n11.0.0.0/8 192.0.2.1>1*1\n"), "{text}");
    bench.take((0..50).map(|n| add(&format!("12.0.{n}.0/24"), 0, Forwarding::Object(7))));
    bench.heard();
    bench
        .take([object(7, Object::Group(vec![(8, 1), (9, 2)])), object(8, Object::Hop(next("192.0.2.3", 1)))]);
    assert_eq!(bench.heard(), 2);
    assert!(bench.text().starts_with("10.0.0.0/8 192.0.2.3>1*1 192.0.2.9>2*2\n11.0.0.0/8 192.0.2.3>1*1\n"));
    bench.take([Message::RemoveObject(8)]);
    assert_eq!(bench.heard(), 3, "one object of 51 routes; the other's route goes, and then that itself");
    assert!(bench.text().starts_with("10.0.0.0/8 192.0.2.9>2*2\n12.0.0.0/24"));
    bench.take([object(9, Object::Blackhole)]);
    assert!(bench.text().starts_with("10.0.0.0/8 ->9*1\n"));
    bench.take([object(8, Object::Hop(next("192.0.2.1", 1)))]);
    assert!(
        bench.text().contains("\n11.0.0.0/8 192.0.2.1>1*1\n"),
        "zebra's routes stay until it withdraws them"
    );
}

/// The next hops of a group go, with more routes to it than are told of at a time: at each moment a packet finds the group as it was, or
/// the shorter prefix, or the route with the next metric, and never a group that leads nowhere.
#[test]
fn routes_leave_a_group_before_it_is_empty() {
    for goes in [Message::RemoveObject(7), object(7, Object::Group(Vec::new()))] {
        let mut bench = Bench::new(true);
        bench.take([
            object(8, Object::Hop(next("192.0.2.1", 1))),
            object(7, Object::Group(vec![(8, 1)])),
            add("10.0.0.0/8", 0, hop("192.0.2.9", 2)),
            add("10.1.3.0/24", 9, hop("192.0.2.9", 3)),
        ]);
        bench.take((0..7).map(|n| add(&format!("10.1.{n}.0/24"), 0, Forwarding::Object(7))));
        assert_eq!(bench.text().matches("192.0.2.1>1*1").count(), 7);
        bench.take([goes]);
        while bench.fib.changed() > 0 {
            for change in bench.fib.changes(2, &bench.ports, &bench.links).v4 {
                bench.v4.apply(vec![change]);
                let text = bench.v4.text();
                assert!(text.lines().all(|line| line.contains('>')), "a route leads nowhere:\n{text}");
            }
            bench.fib.done();
        }
        assert_eq!(bench.text(), "10.0.0.0/8 192.0.2.9>2*1\n10.1.3.0/24 192.0.2.9>3*1\n");
        assert_eq!(bench.v4.hops.len(), 2, "the group is forgotten");
    }
}

/// A group that is empty for a moment only keeps its routes, and what it leads to then is told.
#[test]
fn a_group_is_filled_again_before_its_routes_have_left() {
    let mut bench = Bench::new(true);
    bench.take([object(7, Object::Hop(next("192.0.2.1", 1))), object(8, Object::Hop(next("192.0.2.2", 2)))]);
    bench.take([object(9, Object::Group(vec![(7, 1)]))]);
    bench.take((0..5).map(|n| add(&format!("10.1.{n}.0/24"), 0, Forwarding::Object(9))));
    bench.text();
    bench.take([object(9, Object::Group(Vec::new()))]);
    let changes = bench.fib.changes(2, &bench.ports, &bench.links);
    bench.v4.apply(changes.v4);
    bench.fib.done();
    assert_eq!(bench.v4.routes.len(), 3);
    bench.take([object(9, Object::Group(vec![(8, 1)]))]);
    assert_eq!(bench.text().matches("192.0.2.2>2*1").count(), 5);
}

/// When the kernel replaces an object, it says of each route that leads there that it is replaced, too: none takes another's place.
#[test]
fn a_replaced_object_keeps_the_order_of_routes() {
    for to in ["10.0.0.0/8", "2001:db8::/32"] {
        let mut bench = Bench::new(true);
        let leads = |placing| placed(placing, to, 5, Forwarding::Object(1));
        bench.take([
            object(1, Object::Hop(next("fe80::1", 1))),
            add(to, 5, special(Special::Blackhole)),
            leads(Placing::Last),
            object(1, Object::Hop(next("fe80::2", 2))),
            leads(Placing::Replace),
        ]);
        assert_eq!(bench.text(), format!("{to} ->9*1\n"));
        bench.take([remove(to, 5, special(Special::Blackhole))]);
        assert_eq!((bench.text(), bench.fib.unsure()), (format!("{to} fe80::2>2*1\n"), false));
    }
}

/// The kernel removes the routes with their next hop, and says nothing of them.
#[test]
fn routes_go_with_their_object() {
    let mut bench = Bench::new(true);
    let one = Object::Hop(next("192.0.2.1", 1));
    bench.take([
        object(1, one.clone()),
        object(2, Object::Hop(next("192.0.2.2", 2))),
        object(3, Object::Group(vec![(1, 1), (2, 1)])),
        add("10.0.0.0/8", 0, Forwarding::Object(1)),
        add("11.0.0.0/8", 0, Forwarding::Object(3)),
        Message::RemoveObject(1),
        object(1, one.clone()),
    ]);
    assert_eq!(bench.text(), "11.0.0.0/8 192.0.2.2>2*1\n");
    bench.take([add("10.0.0.0/8", 0, Forwarding::Object(1))]);
    assert_eq!(bench.text(), "10.0.0.0/8 192.0.2.1>1*1\n11.0.0.0/8 192.0.2.2>2*1\n");
    // Its end may even go unsaid.
    bench.take([Message::AddObject { id: 1, object: one, is_new: true }]);
    assert_eq!(bench.text(), "11.0.0.0/8 192.0.2.2>2*1\n");
}

/// Each route is told of with all that was read of it, page by page.
#[test]
fn routes_in_detail() {
    let mut bench = Bench::new(true);
    let with = |route: Route| {
        Message::Add(Route { mtu: 1400, source: "192.0.2.7".parse().ok(), protocol: 186, ..route })
    };
    bench.take([
        object(1, Object::Hop(next("192.0.2.1", 1))),
        object(2, Object::Hop(next("192.0.2.2", 2))),
        object(3, Object::Group(vec![(1, 1), (2, 300)])),
        with(route("10.0.0.0/8", 5, Forwarding::Object(3))),
        placed(Placing::First, "10.0.0.0/8", 9, special(Special::Blackhole)),
        Message::Add(Route { tos: 16, ..route("10.1.0.0/16", 0, hop("192.0.2.1", 1)) }),
        add("10.2.0.0/16", 0, hop("192.0.2.1", 77)),
        add("2001:db8::/32", 0, hop("fe80::1", 2)),
    ]);
    let of = |bench: &Bench, from: Option<&str>, most| {
        bench.fib.details(Page { from: from.map(destination), most }, Some(254), &bench.links)
    };
    assert_eq!(of(&bench, None, 1)[0]["state"], "not used: no way", "its next hops were not looked at");
    bench.text();
    let first = of(&bench, None, 1);
    let hops = serde_json::json!([
        { "gateway": "192.0.2.1", "interface": "eth1", "interface_number": 1, "link_up": true, "weight": 1, "encapsulated": false },
        { "gateway": "192.0.2.2", "interface": "eth2", "interface_number": 2, "link_up": true, "weight": 300, "encapsulated": false }
    ]);
    let wanted = serde_json::json!({
        "prefix": "10.0.0.0/8", "table": 254, "type": "unicast", "protocol": "bgp", "scope": "global", "metric": 5, "tos": 0,
        "mtu": 1400, "source": "192.0.2.7", "nexthop_object": 3, "nexthops": hops, "nexthops_age_s": 0, "state": "used"
    });
    assert_eq!((first.len(), &first[0]), (2, &wanted));
    let short = |routes: &[serde_json::Value]| -> Vec<String> {
        let word = |route: &serde_json::Value, key: &str| route[key].as_str().unwrap_or_default().to_owned();
        routes
            .iter()
            .map(|route| {
                format!("{} {} {}", word(route, "prefix"), word(route, "type"), word(route, "state"))
            })
            .collect()
    };
    let all = [
        "10.0.0.0/8 unicast used",
        "10.0.0.0/8 blackhole not used: another route comes first",
        "10.1.0.0/16 unicast not used: for a type of service",
        "10.2.0.0/16 unicast not used: no way",
        "2001:db8::/32 unicast used",
    ];
    assert_eq!(short(&of(&bench, None, 9)), all);
    assert_eq!(short(&of(&bench, Some("10.1.0.0/16"), 2)), all[2..4]);
    assert_eq!(short(&of(&bench, Some("10.2.0.0/16"), 2)), all[3..]);
    assert_eq!(short(&of(&bench, Some("::/0"), 9)), all[4..]);
    assert!(of(&bench, None, 0).is_empty());
}

/// The age is that of the next hops: routes that come later to the same share it, and a change of where these lead ends it.
#[test]
fn how_long_routes_lead_where_they_do() {
    let mut bench = Bench::new(true);
    let ages = |bench: &Bench| -> Vec<u64> {
        let page = Page { from: None, most: 9 };
        let routes = bench.fib.details(page, None, &bench.links);
        routes.iter().filter_map(|route| route["nexthops_age_s"].as_u64()).collect()
    };
    bench.take([
        object(1, Object::Hop(next("192.0.2.1", 1))),
        object(3, Object::Group(vec![(1, 1)])),
        add("10.0.0.0/8", 0, Forwarding::Object(3)),
        add("11.0.0.0/8", 0, hop("192.0.2.2", 2)),
    ]);
    bench.text();
    bench.fib.objects.age(Duration::from_secs(5));
    bench.take([add("12.0.0.0/8", 0, Forwarding::Object(3)), add("13.0.0.0/8", 0, hop("192.0.2.3", 3))]);
    bench.text();
    let told = ages(&bench);
    assert!(told[0] >= 5 && told[1] >= 5 && told[2] >= 5 && told[3] < 5, "{told:?}");
    bench
        .take([object(2, Object::Hop(next("192.0.2.2", 2))), object(3, Object::Group(vec![(1, 1), (2, 1)]))]);
    bench.text();
    let told = ages(&bench);
    assert!(told[0] < 5 && told[1] >= 5 && told[2] < 5 && told[3] < 5, "{told:?}");
}

/// Next hops with an encapsulation, and dead ones, are left out.
#[test]
fn next_hops_that_are_not_used() {
    let mut bench = Bench::new(true);
    let encapsulated = NextHop { encapsulated: true, ..next("192.0.2.1", 1) };
    let dead = NextHop { weight: 0, ..next("192.0.2.3", 3) };
    bench.take([
        add("10.0.0.0/8", 0, Forwarding::Hop(encapsulated)),
        add("11.0.0.0/8", 0, Forwarding::Hops(vec![encapsulated, next("192.0.2.2", 2), dead])),
        object(1, Object::Hop(encapsulated)),
        add("12.0.0.0/8", 0, Forwarding::Object(1)),
        object(2, Object::Bridge),
        add("13.0.0.0/8", 0, Forwarding::Object(2)),
    ]);
    assert_eq!(bench.text(), "11.0.0.0/8 192.0.2.2>2*1\n");
    assert_eq!(bench.fib.encapsulated(), 3);
}

/// After a reconnection only what is heard of again stays, and what stays is not even touched.
#[test]
fn mark_and_sweep() {
    let mut bench = Bench::new(false);
    let known = |i: u32| add(&format!("10.{i}.0.0/16"), 0, hop("192.0.2.1", 1));
    bench.take((0..4).map(known));
    bench.take([object(1, Object::Blackhole)]);
    bench.heard();
    bench.fib.begin_round();
    bench.take((1..3).map(known));
    assert_eq!((bench.heard(), bench.fib.sweep(), bench.fib.groups()), (0, 2, 0));
    assert_eq!(bench.heard(), 2);
    assert_eq!(bench.text(), "10.1.0.0/16 192.0.2.1>1*1\n10.2.0.0/16 192.0.2.1>1*1\n");
    bench.fib.begin_round();
    assert_eq!((bench.fib.sweep(), bench.text()), (2, String::new()));
    assert!(bench.v4.is_empty() && bench.fib.len() == 0);
}

/// A route that goes while all are listed may be in the list; one whose time is over is not used, whatever the list says.
#[test]
fn lists_that_are_late() {
    let mut bench = Bench::new(true);
    let listed = |to| placed(Placing::Listed, to, 5, hop("192.0.2.1", 1));
    bench.take([add("10.0.0.0/8", 5, hop("192.0.2.1", 1))]);
    bench.fib.begin_round();
    bench.take([listed("11.0.0.0/8"), remove("10.0.0.0/8", 5, hop("192.0.2.1", 1)), listed("12.0.0.0/8")]);
    assert!(!bench.fib.unsure());
    bench.take([listed("10.0.0.0/8")]);
    bench.fib.sweep();
    assert!(bench.fib.unsure());
    let lasting = |expires| {
        let route = route("2001:db8::/32", 5, hop("fe80::1", 1));
        Message::Add(Route { expires: Some(expires), placing: Placing::Listed, ..route })
    };
    bench.take([lasting(300), lasting(200)]);
    assert_eq!((bench.fib.expires(), bench.fib.expires()), (Some(Duration::from_secs(2)), None));
    assert!(bench.text().ends_with("2001:db8::/32 fe80::1>1*1\n"));
    bench.fib.begin_round();
    bench.take([lasting(-1)]);
    bench.fib.sweep();
    assert_eq!(bench.text(), "");
}

#[test]
fn what_is_not_used_is_said_once() {
    let mut bench = Bench::new(true);
    bench.take([Message::Add(Route { tos: 16, ..route("10.0.0.0/8", 5, hop("192.0.2.1", 1)) })]);
    assert_eq!((bench.fib.remarks().len(), bench.fib.remarks().len()), (1, 0));
    bench.take([add(
        "10.0.0.0/8",
        5,
        Forwarding::Hop(NextHop { encapsulated: true, ..next("192.0.2.1", 1) }),
    )]);
    assert_eq!(bench.text(), "");
    assert_eq!((bench.fib.remarks().len(), bench.fib.remarks().len()), (1, 0));
}

/// Where the kernel's lists may lack routes that are there, none goes that is missing from one list only; one that is missing from two in a row does.
#[test]
fn lists_that_lack_routes() {
    let mut bench = Bench::new(true);
    let v4 = |i: u32| placed(Placing::Listed, &format!("10.{i}.0.0/16"), 5, hop("192.0.2.1", 1));
    let v6 = |i: u32| placed(Placing::Listed, &format!("2001:db8:{i}::/48"), 5, hop("fe80::1", 1));
    let gone = |i: u32| remove(&format!("2001:db8:{i}::/48"), 5, hop("fe80::1", 1));
    bench.take((1..9).flat_map(|i| [v4(i), v6(i)]));
    bench.take([object(1, Object::Blackhole)]);
    let read = |bench: &mut Bench, messages: &[Message], in_doubt| {
        bench.fib.begin_round();
        bench.take(messages.iter().cloned());
        let Swept { routes, open } = bench.fib.end_round(in_doubt);
        (routes, open, bench.text().lines().count(), bench.fib.groups())
    };
    let list = |v4s: &[u32], v6s: &[u32]| -> Vec<Message> {
        v4s.iter().map(|i| v4(*i)).chain(v6s.iter().map(|i| v6(*i))).collect()
    };
    // One goes, and the kernel skips another: only what is of the other family goes.
    let all = [list(&[1, 2, 3], &[1, 2]), vec![gone(1)], list(&[], &[4, 5, 6, 7, 8])].concat();
    assert_eq!(read(&mut bench, &all, false), (5, true, 10, 0));
    // None goes: what is missing now does.
    assert_eq!(read(&mut bench, &list(&[1, 2, 3], &[2, 3, 4, 5, 6, 7]), false), (1, false, 9, 0));
    // What is missing from two lists goes, and not what is missing from one of them.
    let first = [list(&[1, 2, 3], &[2, 3, 4]), vec![gone(7)]].concat();
    assert_eq!(read(&mut bench, &first, false), (0, true, 8, 0));
    let second = [list(&[1, 2, 3], &[3, 4, 5]), vec![gone(4)]].concat();
    assert_eq!(read(&mut bench, &second, false), (1, false, 6, 0));
    // That settled it: the next list in doubt is the first one again.
    assert_eq!(read(&mut bench, &[gone(3)], true), (0, true, 5, 0));
    // One that was broken off is no list.
    bench.fib.begin_round();
    bench.fib.break_off();
    assert_eq!(read(&mut bench, &[], true), (0, true, 5, 0));
    bench.fib.begin_round();
    assert_eq!(read(&mut bench, &[], true), (0, true, 5, 0));
    assert_eq!(read(&mut bench, &[], true), (5, false, 0, 0));
}
