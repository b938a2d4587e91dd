//! Feeds against plain maps, with readers that look meanwhile.

use super::super::family::{Family, V4, V6};
use super::super::slots::SlotPolicy;
use super::super::table::{self, RouteTable};
use super::super::target::{Route, Target};
use super::*;
use lpm::faithful::{DirectTable, LinearTable, RadixTable, RangeTable};
use lpm::{Key, Table4, Table6};
use proptest::prelude::*;
use rcu::Domain;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

const OUTPUTS: usize = 4;

fn join<F: Family, T: LongestMatch<F::Key>>(table: &Arc<RouteTable<F, T>>, name: &str) -> Box<dyn RouteFeed> {
    TablePort { table: table.clone(), outputs: OUTPUTS }.join(name)
}

fn way(gateway: &str, port: u32) -> Way {
    Way { gateway: gateway.parse().ok(), port, weight: 1 }
}

fn to(text: &str) -> Destination {
    let (address, len) = text.split_once('/').expect("a length");
    Destination { address: address.parse().expect("an address"), len: len.parse().expect("a length") }
}

/// What a table has, as commands would write it.
fn lines<F: Family, T: LongestMatch<F::Key>>(table: &RouteTable<F, T>) -> Vec<String> {
    let words = |route: &Route<F>| format!("{} {}", route.prefix, Route::<F>::destination_words(&route.to));
    table.routes().iter().map(words).collect()
}

/// A feed's next hops.
type Hops = BTreeMap<NextHopId, Vec<Way>>;

/// The table, and how it should be: its feeds' next hops and routes.
struct Model<F: Family, T> {
    table: Arc<RouteTable<F, T>>,
    feeds: Vec<(Box<dyn RouteFeed>, Hops)>,
    /// Feed and number.
    routes: BTreeMap<(IpAddr, u8), (usize, NextHopId)>,
}

impl<F: Family, T: LongestMatch<F::Key>> Model<F, T> {
    fn new() -> Self {
        let table = Arc::new(RouteTable::new(SlotPolicy::Holes));
        let feeds = ["a", "b"].map(|name| (join(&table, name), BTreeMap::new())).into();
        Model { table, feeds, routes: BTreeMap::new() }
    }

    /// What a list of changes makes of the model, or which of them is wrong.
    fn foretell(&mut self, feed: usize, changes: &[Change]) -> Result<(), usize> {
        let (before, routes) = (self.feeds[feed].1.clone(), self.routes.clone());
        for (at, change) in changes.iter().enumerate() {
            let hops = &mut self.feeds[feed].1;
            let key = |to: &Destination| (to.address, to.len);
            let right = match change {
                Change::NextHop(number, ways) => {
                    hops.insert(*number, ways.clone());
                    ways.iter().all(|way| (way.port as usize) < OUTPUTS)
                }
                Change::ForgetNextHop(number) => {
                    hops.remove(number).is_some() && self.routes.values().all(|used| *used != (feed, *number))
                }
                Change::Route(to, number) => {
                    self.routes.insert(key(to), (feed, *number));
                    hops.contains_key(number)
                }
                Change::Withdraw(to) => {
                    if self.routes.get(&key(to)).is_some_and(|(owner, _)| *owner == feed) {
                        self.routes.remove(&key(to));
                    }
                    true
                }
            };
            if !right {
                self.feeds[feed].1 = before;
                self.routes = routes;
                return Err(at);
            }
        }
        Ok(())
    }

    /// What the table should have.
    fn expected(&self) -> BTreeMap<(IpAddr, u8), Target<F::Gateway>> {
        let target = |&(feed, number): &(usize, NextHopId)| {
            let ways = self.feeds[feed].1.get(&number).expect("a next hop that is in use is there");
            let hop = |way: &Way| Hop {
                gateway: way.gateway.map_or(F::DIRECT, |g| F::gateway(g).expect("family")),
                port: way.port,
            };
            Target::of(ways.iter().map(|way| (hop(way), way.weight)))
        };
        self.routes.iter().map(|(to, used)| (*to, target(used))).collect()
    }

    fn check(&self) -> Result<(), TestCaseError> {
        let found = self.table.routes().into_iter();
        let key = |route: &Route<F>| (F::address(route.prefix.addr()).into(), route.prefix.len());
        let found: BTreeMap<(IpAddr, u8), _> = found.map(|route| (key(&route), route.to)).collect();
        prop_assert_eq!(&found, &self.expected());
        // What packets find is what writers say.
        let guard = Domain::global().guard();
        for (address, _) in self.routes.keys() {
            let key = F::own(*address).map(F::key).expect("of the family");
            let id = self.table.lookup_one(key, guard.turn());
            let found = self.table.forwarding(id, guard.turn()).expect("there is a route");
            let (_, id) = self.table.prefixes.longest(key).expect("a route");
            let said = self.table.hops.target(id).expect("a target");
            let hops: Vec<_> = said.hops().into_iter().map(|(hop, _)| hop).collect();
            prop_assert!(found.pick(|| 7).map_or(hops.is_empty(), |hop| hops.contains(&hop)));
        }
        Ok(())
    }
}

fn ways(v6: bool) -> impl Strategy<Value = Vec<Way>> {
    let gateway = prop_oneof![
        Just(None),
        (1u8..4).prop_map(|n| Some(IpAddr::from([0xfe80, 0, 0, 0, 0, 0, 0, u16::from(n)]))),
        (1u8..4).prop_map(|n| Some(IpAddr::from([192, 0, 2, n]))),
    ];
    let way = (gateway, 0u32..40, 1u32..9).prop_map(move |(gateway, port, weight)| Way {
        gateway: gateway.filter(|gateway| !v6 || gateway.is_ipv6()),
        // Few are wrong.
        port: if port == 39 { 9 } else { port % 4 },
        weight,
    });
    prop::collection::vec(way, 0..4)
}

fn change(v6: bool) -> impl Strategy<Value = Change> {
    let destination =
        (0u8..8, prop_oneof![Just(0u8), Just(3), Just(8), Just(24), Just(32)]).prop_map(move |(n, len)| {
            let high = n << 5;
            let high = if len == 0 { 0 } else { high };
            match v6 {
                false => Destination { address: IpAddr::from([high, 0, 0, 0]), len },
                true => {
                    Destination { address: IpAddr::from([u16::from(high) << 8, 0, 0, 0, 0, 0, 0, 0]), len }
                }
            }
        });
    let number = 1u32..5;
    prop_oneof![
        3 => (number.clone(), ways(v6)).prop_map(|(number, ways)| Change::NextHop(number, ways)),
        1 => number.clone().prop_map(Change::ForgetNextHop),
        6 => (destination.clone(), number).prop_map(|(to, number)| Change::Route(to, number)),
        3 => destination.prop_map(Change::Withdraw),
    ]
}

fn lists(v6: bool) -> impl Strategy<Value = Vec<(usize, Vec<Change>)>> {
    // Both feeds know numbers to begin with, so that most lists are right.
    let first = |feed| (feed, (1..5).map(|n| Change::NextHop(n, vec![way("", n % 4)])).collect());
    let lists = prop::collection::vec((0usize..2, prop::collection::vec(change(v6), 1..8)), 1..24);
    lists.prop_map(move |lists| [first(0), first(1)].into_iter().chain(lists).collect())
}

/// Makes changes, and compares with the model after each, while a reader looks things up.
fn agree<F: Family, T: LongestMatch<F::Key>>(lists: &[(usize, Vec<Change>)]) -> Result<(), TestCaseError> {
    let mut model = Model::<F, T>::new();
    let (table, over) = (model.table.clone(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            while !over.load(Relaxed) {
                let guard = Domain::global().guard();
                for key in (0..8u128).map(|n| F::Key::from_left(n << 125)) {
                    let id = table.lookup_one(key, guard.turn());
                    // An id that was looked up leads somewhere for the rest of the turn.
                    assert!(id == lpm::NONE || table.forwarding(id, guard.turn()).is_some());
                }
            }
        });
        let compared = lists.iter().try_for_each(|(feed, changes)| {
            let expected = model.foretell(*feed, changes);
            let found = model.feeds[*feed].0.apply(changes);
            match (&found, expected) {
                (Ok(()), Ok(())) => {}
                (Err(Refused::Wrong(at, _)), Err(wrong)) if *at == wrong => {}
                _ => prop_assert!(false, "{:?} instead of {:?}", found, expected),
            }
            model.check()
        });
        over.store(true, Relaxed);
        reader.join().expect("no lookup failed");
        compared
    })
}

/// The lists without short prefixes, of which a table with an entry for each 24 bits fills millions.
fn narrow(lists: &[(usize, Vec<Change>)]) -> Vec<(usize, Vec<Change>)> {
    let is_narrow = |change: &Change| match change {
        Change::Route(to, _) | Change::Withdraw(to) => to.len >= 8,
        Change::NextHop(..) | Change::ForgetNextHop(_) => true,
    };
    let of = |changes: &Vec<Change>| changes.iter().filter(|change| is_narrow(change)).cloned().collect();
    lists.iter().map(|(feed, changes)| (*feed, of(changes))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    #[test]
    fn as_a_map_of_ipv4(lists in lists(false)) {
        agree::<V4, Table4>(&lists)?;
        agree::<V4, RadixTable>(&lists)?;
        agree::<V4, DirectTable>(&narrow(&lists))?;
        agree::<V4, LinearTable>(&lists)?;
        agree::<V4, RangeTable>(&lists)?;
    }

    #[test]
    fn as_a_map_of_ipv6(lists in lists(true)) {
        agree::<V6, Table6>(&lists)?;
    }
}

/// Whatever is wrong with one change, none is made, and it is said which and why.
#[test]
fn a_wrong_list_changes_nothing() {
    let table = Arc::new(RouteTable::<V4, Table4>::new(SlotPolicy::Holes));
    let mut feed = join(&table, "fpm");
    feed.apply(&[Change::NextHop(1, vec![way("192.0.2.1", 0)]), Change::Route(to("10.0.0.0/8"), 1)])
        .expect("right");
    let mut other = join(&table, "kernel");
    let heavy = Way { weight: 1 + WEIGHT_MAX, ..way("", 0) };
    for (wrong, why) in [
        (Change::Route(to("11.0.0.0/8"), 9), "next hop 9 was not announced"),
        (Change::Route(to("2001:db8::/32"), 1), "2001:db8::/32 is of the other address family"),
        (
            Change::Route(Destination { len: 33, ..to("10.0.0.0/8") }, 1),
            "10.0.0.0/33: prefix length 33 exceeds 32",
        ),
        (Change::NextHop(1, vec![way("", 4)]), "output 4 of next hop 1 does not exist; there are 4"),
        (Change::NextHop(1, vec![heavy]), "weight 65537 of next hop 1 is not between 1 and 65536"),
        (Change::ForgetNextHop(1), "next hop 1 is in use: 1 routes lead to it"),
        (Change::ForgetNextHop(3), "next hop 3 was not announced"),
    ] {
        let list = [
            Change::NextHop(1, vec![way("192.0.2.9", 1)]),
            Change::NextHop(2, vec![way("", 2)]),
            Change::Route(to("12.0.0.0/8"), 2),
            wrong,
        ];
        assert_eq!(feed.apply(&list), Err(Refused::Wrong(3, why.to_owned())));
        assert_eq!(lines(&table), ["10.0.0.0/8 192.0.2.1 0"]);
    }
    // Each feed has numbers of its own.
    let unknown = Refused::Wrong(0, "next hop 1 was not announced".to_owned());
    assert_eq!(other.apply(&[Change::Route(to("12.0.0.0/8"), 1)]), Err(unknown));
    let table6 = Arc::new(RouteTable::<V6, Table6>::new(SlotPolicy::Holes));
    let why = "gateway 192.0.2.1 of next hop 1 is of the other address family".to_owned();
    let refused = join(&table6, "fpm").apply(&[Change::NextHop(1, vec![way("192.0.2.1", 0)])]);
    assert_eq!(refused, Err(Refused::Wrong(0, why)));
}

/// A next hop that changes takes its routes along, whatever leads to it, in one step: the prefixes are not touched.
#[test]
fn a_next_hop_changes_for_all_its_routes() {
    let table = Arc::new(RouteTable::<V4, Table4>::new(SlotPolicy::Holes));
    let mut feed = join(&table, "fpm");
    let count = 1u32 << 14;
    let route = |n: u32| Destination { address: IpAddr::V4((n << 10).into()), len: 22 };
    let group = |second: &str| Change::NextHop(7, vec![way("192.0.2.1", 0), way(second, 1)]);
    let mut list = vec![group("192.0.2.2")];
    list.extend((0..count).map(|n| Change::Route(route(n), 7)));
    feed.apply(&list).expect("right");
    let (version, id) = (table.version(), table.prefixes.get(Prefix::new(0, 22).expect("a length")));
    feed.apply(&[group("fe80::1")]).expect("right");
    assert_eq!((table.version(), table.prefixes.get(Prefix::new(0, 22).expect("a length"))), (version, id));
    assert_eq!(table.hops.uses(id.expect("a route")), count as usize);
    assert!(lines(&table).iter().all(|line| line.ends_with("nexthop 192.0.2.1 0 1 nexthop fe80::1 1 1")));
}

/// Two sources and commands: the last to set a destination has it, and only that one can withdraw it. A source that joins again finds what it
/// left, and sweeps what it does not set again; what others set stays.
#[test]
fn the_last_to_set_a_route_has_it() {
    let table = Arc::new(RouteTable::<V4, Table4>::new(SlotPolicy::Holes));
    let (mut a, mut b) = (join(&table, "a"), join(&table, "b"));
    let hop = |port| Change::NextHop(1, vec![way("", port)]);
    a.apply(&[hop(0), Change::Route(to("10.0.0.0/8"), 1), Change::Route(to("11.0.0.0/8"), 1)])
        .expect("right");
    b.apply(&[hop(1), Change::Route(to("11.0.0.0/8"), 1)]).expect("right");
    a.apply(&[Change::Withdraw(to("11.0.0.0/8"))]).expect("right");
    let prefix = Prefix::new(12 << 24, 8).expect("a length");
    let set = Route { prefix, to: Target::One(Hop { gateway: V4::DIRECT, port: 2 }) };
    a.apply(&[Change::Route(to("12.0.0.0/8"), 1), Change::Route(to("13.0.0.0/8"), 1)]).expect("right");
    table.change([table::Change::Set(set)]).expect("room");
    let all = ["12.0.0.0/8 - 2", "10.0.0.0/8 - 0", "11.0.0.0/8 - 1", "13.0.0.0/8 - 0"];
    assert_eq!(lines(&table), all);
    drop(a);
    let mut a = join(&table, "a");
    assert_eq!(lines(&table), all);
    a.apply(&[hop(3), Change::Route(to("13.0.0.0/8"), 1)]).expect("right");
    assert_eq!(a.sweep(), Ok(1));
    assert_eq!(lines(&table), ["12.0.0.0/8 - 2", "11.0.0.0/8 - 1", "13.0.0.0/8 - 3"]);
    assert_eq!(a.sweep(), Ok(0));
}

/// A source writes a table of which each change weighs much, faster than grace periods pass: it waits, and nothing is refused.
#[test]
fn a_feed_waits_for_room() {
    let table = Arc::new(RouteTable::<V4, RangeTable>::new(SlotPolicy::Holes));
    let mut feed = join(&table, "fpm");
    feed.apply(&[Change::NextHop(1, vec![way("", 1)])]).expect("right");
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // A worker whose turns are long.
            while !over.load(Relaxed) {
                let _turn = Domain::global().guard();
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        });
        let count = 3_000u32; // of more than 32 KiB each: more than the budget
        for n in 0..count {
            let to = Destination { address: IpAddr::V4((n << 12).into()), len: 24 };
            feed.apply(&[Change::Route(to, 1)]).expect("it waits for room");
        }
        over.store(true, Relaxed);
        assert_eq!(table.len(), count as usize);
    });
}

/// Routes that came while the router ran go with their origin to the table of a new configuration, and those that went until the very
/// last moment are not brought back.
#[test]
fn a_swap_takes_routes_along_and_no_more() {
    let old = Arc::new(RouteTable::<V4, Table4>::new(SlotPolicy::Holes));
    let new = Arc::new(RouteTable::<V4, Table4>::new(SlotPolicy::Holes));
    let mut feed = join(&old, "fpm");
    let mut changes = vec![Change::NextHop(1, vec![way("", 1)]), Change::NextHop(2, vec![way("", 3)])];
    changes.extend(["10.0.0.0/8", "11.0.0.0/8", "12.0.0.0/8"].map(|text| Change::Route(to(text), 1)));
    changes.push(Change::Route(to("13.0.0.0/8"), 2));
    feed.apply(&changes).expect("right");
    let exists = |to: &Target<_>| to.hops().iter().all(|(hop, _)| hop.port < 3);
    assert_eq!(new.take_over(&old, exists), Ok(1));
    // What happens before the new table is in its place:
    feed.apply(&[
        Change::Withdraw(to("10.0.0.0/8")),
        Change::NextHop(1, vec![way("192.0.2.1", 1)]),
        Change::Route(to("14.0.0.0/8"), 1),
    ])
    .expect("right");
    assert_eq!(new.take_over(&old, exists), Ok(1));
    assert_eq!(lines(&new), ["11.0.0.0/8 192.0.2.1 1", "12.0.0.0/8 192.0.2.1 1", "14.0.0.0/8 192.0.2.1 1"]);
    // The source tells the new table of everything; what it no longer has goes.
    let mut again = join(&new, "fpm");
    again.apply(&[Change::NextHop(1, vec![way("", 2)]), Change::Route(to("11.0.0.0/8"), 1)]).expect("right");
    assert_eq!(new.take_over(&old, exists), Ok(1));
    assert_eq!(lines(&new).first().map(String::as_str), Some("11.0.0.0/8 - 2"), "what it has set stays");
    assert_eq!(again.sweep(), Ok(2));
    assert_eq!(lines(&new), ["11.0.0.0/8 - 2"]);
}
