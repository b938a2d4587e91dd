//! From the routes that a routing suite or the kernel decides on to those that packets are forwarded by.
//!
//! [`Fib`] knows every route and next-hop group it was told of, and what it gave out for each destination. What
//! changes is collected, and [`Fib::changes`] gives out what the difference is: as lines for the `ctrl` handler of a
//! lookup element.

use super::netlink::{Forwarding, Group, Message, NextHop, Prefix, Route};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::net::IpAddr;

/// How groups may be nested; deeper ones are taken for empty. The kernel allows one level.
const NESTING_MAX: u32 = 4;

/// Where packets go: output ports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ports {
    /// By interface.
    pub(crate) interfaces: Vec<(String, u32)>,
    pub(crate) local: Option<u32>,
    pub(crate) blackhole: Option<u32>,
    pub(crate) unreachable: Option<u32>,
    pub(crate) prohibit: Option<u32>,
}

/// What lookup elements install for a destination.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Installed {
    /// An output without gateway.
    Port(u32),
    /// Gateways, outputs and weights.
    Hops(Vec<(Option<IpAddr>, u32, u32)>),
    /// Packets are dropped.
    Nowhere,
}

impl Installed {
    /// The output for packets of a type for which there may be one.
    fn special(port: Option<u32>) -> Installed {
        port.map_or(Installed::Nowhere, Installed::Port)
    }
}

/// What follows the prefix in a command of a lookup element.
impl std::fmt::Display for Installed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let gateway =
            |gateway: &Option<IpAddr>| gateway.map_or("-".to_owned(), |gateway| gateway.to_string());
        match self {
            Installed::Nowhere => write!(f, "-1"),
            Installed::Port(port) => write!(f, "- {port}"),
            Installed::Hops(hops) if hops.len() == 1 => write!(f, "{} {}", gateway(&hops[0].0), hops[0].1),
            Installed::Hops(hops) => {
                let mut between = "";
                for (via, port, weight) in hops {
                    write!(f, "{between}nexthop {} {port} {weight}", gateway(via))?;
                    between = " ";
                }
                Ok(())
            }
        }
    }
}

/// Changes that lookup elements are told of, by destination.
#[derive(Debug)]
pub(crate) struct Changes(Vec<(Prefix, Option<Installed>)>);

#[derive(Debug)]
struct Entry {
    metric: u32,
    forwarding: Forwarding,
    /// The round of synchronisation in which it was last heard of.
    heard: u32,
}

#[derive(Debug, Default)]
struct Destination {
    /// By ascending metric.
    routes: Vec<Entry>,
    installed: Option<Installed>,
}

/// Routes, and what was made of them.
#[derive(Debug, Default)]
pub(crate) struct Fib {
    /// Whether a destination may have several routes, of different metrics, as in the kernel.
    by_metric: bool,
    destinations: BTreeMap<Prefix, Destination>,
    groups: HashMap<u32, Group>,
    changed: BTreeSet<Prefix>,
    round: u32,
}

impl Fib {
    /// An empty one. If not `by_metric`, a route takes the place of the one that its destination had.
    pub(crate) fn new(by_metric: bool) -> Fib {
        Fib { by_metric, ..Fib::default() }
    }

    /// Destinations.
    pub(crate) fn len(&self) -> usize {
        self.destinations.len()
    }

    /// Next-hop groups.
    pub(crate) fn groups(&self) -> usize {
        self.groups.len()
    }

    /// Destinations for which nothing was given out, because they lead where no port leads.
    pub(crate) fn unused(&self) -> usize {
        self.destinations.values().filter(|destination| destination.installed.is_none()).count()
    }

    /// Whether something changed since [`Fib::changes`] was last asked.
    pub(crate) fn changed(&self) -> usize {
        self.changed.len()
    }

    /// Takes in what a message says.
    pub(crate) fn take(&mut self, message: Message) {
        match message {
            Message::Add(route) => self.add(route),
            Message::Remove(route) => self.remove(&route),
            Message::AddGroup(id, group) => {
                let old = self.groups.insert(id, group.clone());
                if old.is_some_and(|old| old != group) {
                    self.recompute(|fib, forwarding| fib.mentions(forwarding, id, 0));
                }
            }
            Message::RemoveGroup(id) => {
                self.recompute(|fib, forwarding| fib.mentions(forwarding, id, 0));
                self.groups.remove(&id);
            }
            Message::Neighbour(_) | Message::Link | Message::Done | Message::Error(_) | Message::Other => {}
        }
    }

    fn add(&mut self, route: Route) {
        let destination = self.destinations.entry(route.prefix).or_default();
        let entry = Entry { metric: route.metric, forwarding: route.forwarding, heard: self.round };
        if !self.by_metric {
            destination.routes.clear();
        }
        match destination.routes.binary_search_by_key(&entry.metric, |entry| entry.metric) {
            Ok(at) => destination.routes[at] = entry,
            Err(at) => destination.routes.insert(at, entry),
        }
        self.changed.insert(route.prefix);
    }

    fn remove(&mut self, route: &Route) {
        if let Some(destination) = self.destinations.get_mut(&route.prefix) {
            let by_metric = self.by_metric;
            destination.routes.retain(|entry| by_metric && entry.metric != route.metric);
            self.changed.insert(route.prefix);
        }
    }

    /// From now on every route has to be heard of again, or [`Fib::sweep`] removes it.
    pub(crate) fn begin_round(&mut self) {
        self.round = self.round.wrapping_add(1);
    }

    /// Removes the routes that were not heard of since the round began; how many they were.
    pub(crate) fn sweep(&mut self) -> usize {
        let mut swept = 0;
        for (prefix, destination) in &mut self.destinations {
            let before = destination.routes.len();
            destination.routes.retain(|entry| entry.heard == self.round);
            if destination.routes.len() < before {
                swept += before - destination.routes.len();
                self.changed.insert(*prefix);
            }
        }
        swept
    }

    /// Forgets what was given out: everything is given out again.
    pub(crate) fn forget(&mut self) {
        self.destinations.values_mut().for_each(|destination| destination.installed = None);
        self.changed.extend(self.destinations.keys());
    }

    /// Looks at all destinations again: what is given out stays where it is still right.
    pub(crate) fn recheck(&mut self) {
        self.changed.extend(self.destinations.keys());
    }

    /// Says of all destinations with such a forwarding that they may have changed.
    pub(crate) fn recompute(&mut self, concerned: impl Fn(&Fib, &Forwarding) -> bool) {
        let best =
            |destination: &Destination| destination.routes.first().map(|entry| entry.forwarding.clone());
        let found: Vec<Prefix> = self
            .destinations
            .iter()
            .filter(|(_, destination)| {
                best(destination).is_some_and(|forwarding| concerned(self, &forwarding))
            })
            .map(|(prefix, _)| *prefix)
            .collect();
        self.changed.extend(found);
    }

    /// Whether a forwarding depends on a group.
    fn mentions(&self, forwarding: &Forwarding, id: u32, depth: u32) -> bool {
        let Forwarding::Group(own) = forwarding else { return false };
        *own == id
            || depth < NESTING_MAX
                && matches!(self.groups.get(own), Some(Group::Of(members))
                if members.iter().any(|&(member, _)| {
                    self.mentions(&Forwarding::Group(member), id, depth + 1)
                }))
    }

    /// The next hops of a forwarding, in order.
    fn hops(&self, forwarding: &Forwarding, weight: u32, depth: u32, to: &mut Vec<NextHop>) {
        match forwarding {
            Forwarding::Hops(hops) => to.extend(hops),
            Forwarding::Group(id) if depth < NESTING_MAX => match self.groups.get(id) {
                Some(Group::One(hop)) => to.push(NextHop { weight, ..*hop }),
                Some(Group::Of(members)) => {
                    for &(member, weight) in members {
                        self.hops(&Forwarding::Group(member), weight, depth + 1, to);
                    }
                }
                Some(Group::Blackhole) | None => {}
            },
            _ => {}
        }
    }

    /// What to give out for a forwarding: those of its next hops that some port leads to.
    fn resolve(
        &self,
        forwarding: &Forwarding,
        ports: &Ports,
        name_of: &dyn Fn(u32) -> Option<String>,
    ) -> Option<Installed> {
        match forwarding {
            Forwarding::Local => return ports.local.map(Installed::Port),
            Forwarding::Blackhole => return Some(Installed::special(ports.blackhole)),
            Forwarding::Unreachable => return Some(Installed::special(ports.unreachable)),
            Forwarding::Prohibit => return Some(Installed::special(ports.prohibit)),
            Forwarding::Group(id) if self.groups.get(id) == Some(&Group::Blackhole) => {
                return Some(Installed::special(ports.blackhole));
            }
            Forwarding::Hops(_) | Forwarding::Group(_) => {}
        }
        let mut hops = Vec::new();
        self.hops(forwarding, 1, 0, &mut hops);
        let output = |hop: &NextHop| {
            let name = name_of(hop.interface)?;
            let (_, port) = ports.interfaces.iter().find(|(known, _)| *known == name)?;
            Some((hop.gateway, *port, hop.weight))
        };
        let installed: Vec<_> = hops.iter().filter_map(output).collect();
        (!installed.is_empty()).then_some(Installed::Hops(installed))
    }

    /// Up to so many changes, as lines of commands: those for IPv4, those for IPv6. They are given again until they are
    /// [done](Fib::done).
    pub(crate) fn changes(
        &self,
        most: usize,
        ports: &Ports,
        name_of: &dyn Fn(u32) -> Option<String>,
    ) -> (String, String, Changes) {
        let (mut v4, mut v6, mut changes) = (String::new(), String::new(), Vec::new());
        for prefix in self.changed.iter().copied().take(most) {
            let Some(destination) = self.destinations.get(&prefix) else {
                changes.push((prefix, None));
                continue;
            };
            let installed =
                destination.routes.first().and_then(|entry| self.resolve(&entry.forwarding, ports, name_of));
            let lines = if prefix.address.is_ipv4() { &mut v4 } else { &mut v6 };
            if installed != destination.installed {
                let _ = match &installed {
                    Some(installed) => writeln!(lines, "set {prefix} {installed}"),
                    None => writeln!(lines, "remove {prefix}"),
                }; // writing to a String does not fail
            }
            changes.push((prefix, installed));
        }
        (v4, v6, Changes(changes))
    }

    /// Lookup elements were told of these changes.
    pub(crate) fn done(&mut self, changes: Changes) {
        for (prefix, installed) in changes.0 {
            match self.destinations.get_mut(&prefix) {
                Some(destination) if !destination.routes.is_empty() => destination.installed = installed,
                _ => drop(self.destinations.remove(&prefix)),
            }
            self.changed.remove(&prefix);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ports() -> Ports {
        let interfaces = vec![("eth1".to_owned(), 1), ("eth2".to_owned(), 2)];
        Ports { interfaces, blackhole: Some(9), ..Ports::default() }
    }

    fn name_of(interface: u32) -> Option<String> {
        (interface < 10).then(|| format!("eth{interface}"))
    }

    fn prefix(text: &str) -> Prefix {
        let (address, len) = text.split_once('/').expect("a length");
        Prefix { address: address.parse().expect("an address"), len: len.parse().expect("a length") }
    }

    fn hop(gateway: &str, interface: u32) -> NextHop {
        NextHop { gateway: gateway.parse().ok(), interface, weight: 1 }
    }

    fn route(to: &str, metric: u32, forwarding: Forwarding) -> Message {
        Message::Add(Route { prefix: prefix(to), table: 254, metric, forwarding })
    }

    fn remove(to: &str, metric: u32) -> Message {
        Message::Remove(Route {
            prefix: prefix(to),
            table: 254,
            metric,
            forwarding: Forwarding::Hops(vec![]),
        })
    }

    fn changes(fib: &mut Fib) -> String {
        let (v4, v6, changes) = fib.changes(usize::MAX, &ports(), &name_of);
        fib.done(changes);
        v4 + &v6
    }

    #[test]
    fn routes_come_change_and_go() {
        let mut fib = Fib::new(false);
        fib.take(route("10.0.0.0/8", 0, Forwarding::Hops(vec![hop("192.0.2.1", 1)])));
        fib.take(route("2001:db8::/32", 0, Forwarding::Hops(vec![hop("fe80::1", 2)])));
        fib.take(route("10.1.0.0/16", 0, Forwarding::Blackhole));
        fib.take(route("10.2.0.0/16", 0, Forwarding::Prohibit)); // no port for these
        fib.take(route("10.4.0.0/16", 0, Forwarding::Local)); // nor for these, which the host delivers itself
        fib.take(route("10.3.0.0/16", 0, Forwarding::Hops(vec![hop("192.0.2.1", 5), hop("", 2)])));
        assert_eq!(
            changes(&mut fib),
            "set 10.0.0.0/8 192.0.2.1 1\nset 10.1.0.0/16 - 9\nset 10.2.0.0/16 -1\nset 10.3.0.0/16 - 2\nset 2001:db8::/32 fe80::1 2\n"
        );
        assert_eq!((fib.len(), fib.unused()), (6, 1));
        // The same again is no change.
        fib.take(route("10.0.0.0/8", 0, Forwarding::Hops(vec![hop("192.0.2.1", 1)])));
        fib.take(route("10.0.0.0/8", 7, Forwarding::Hops(vec![hop("192.0.2.2", 1)])));
        fib.take(remove("10.1.0.0/16", 0));
        fib.take(remove("10.2.0.0/16", 0));
        assert_eq!(changes(&mut fib), "set 10.0.0.0/8 192.0.2.2 1\nremove 10.1.0.0/16\nremove 10.2.0.0/16\n");
        assert_eq!((fib.len(), changes(&mut fib)), (4, String::new()));
    }

    /// What was not said is said again; and a next hop whose interface has no link is not used.
    #[test]
    fn until_it_is_done() {
        let mut fib = Fib::new(false);
        fib.take(route("10.0.0.0/8", 0, Forwarding::Hops(vec![hop("192.0.2.1", 1), hop("192.0.2.2", 2)])));
        fib.take(route("11.0.0.0/8", 0, Forwarding::Blackhole));
        let some = |fib: &Fib| fib.changes(1, &ports(), &name_of).0;
        assert_eq!(
            (some(&fib), some(&fib)),
            (some(&fib), "set 10.0.0.0/8 nexthop 192.0.2.1 1 1 nexthop 192.0.2.2 2 1\n".into())
        );
        assert_eq!(changes(&mut fib).lines().count(), 2);
        fib.take(remove("11.0.0.0/8", 0));
        let lines = |fib: &Fib| fib.changes(9, &ports(), &name_of).0;
        assert_eq!((lines(&fib), lines(&fib)), ("remove 11.0.0.0/8\n".into(), "remove 11.0.0.0/8\n".into()));
        changes(&mut fib);
        fib.recheck();
        assert_eq!(lines(&fib), "", "nothing is different");
        let first_only = |interface| (interface == 1).then(|| "eth1".to_owned());
        assert_eq!(fib.changes(9, &ports(), &first_only).0, "set 10.0.0.0/8 192.0.2.1 1\n");
        assert_eq!(fib.changes(9, &ports(), &|_| None).0, "remove 10.0.0.0/8\n");
    }

    /// Of a destination's routes the one with the smallest metric counts; the next one takes over.
    #[test]
    fn the_route_with_the_smallest_metric_counts() {
        let mut fib = Fib::new(true);
        fib.take(route("0.0.0.0/0", 200, Forwarding::Hops(vec![hop("192.0.2.2", 2)])));
        fib.take(route("0.0.0.0/0", 100, Forwarding::Hops(vec![hop("192.0.2.1", 1)])));
        assert_eq!(changes(&mut fib), "set 0.0.0.0/0 192.0.2.1 1\n");
        fib.take(remove("0.0.0.0/0", 100));
        assert_eq!(changes(&mut fib), "set 0.0.0.0/0 192.0.2.2 2\n");
    }

    #[test]
    fn routes_change_with_their_group() {
        let mut fib = Fib::new(false);
        fib.take(Message::AddGroup(8, Group::One(hop("192.0.2.1", 1))));
        fib.take(Message::AddGroup(9, Group::One(hop("192.0.2.9", 2))));
        fib.take(Message::AddGroup(7, Group::Of(vec![(8, 1), (9, 2), (7, 1)]))); // within itself, even
        fib.take(route("10.0.0.0/8", 0, Forwarding::Group(7)));
        fib.take(route("11.0.0.0/8", 0, Forwarding::Group(8)));
        let installed = changes(&mut fib);
        let start = "set 10.0.0.0/8 nexthop 192.0.2.1 1 1 nexthop 192.0.2.9 2 2 nexthop 192.0.2.1 1 1";
        assert!(
            installed.starts_with(start) && installed.ends_with("\nset 11.0.0.0/8 192.0.2.1 1\n"),
            "{installed}"
        );
        fib.take(Message::AddGroup(7, Group::Of(vec![(8, 1), (9, 2)])));
        fib.take(Message::AddGroup(8, Group::One(hop("192.0.2.3", 1))));
        let installed =
            "set 10.0.0.0/8 nexthop 192.0.2.3 1 1 nexthop 192.0.2.9 2 2\nset 11.0.0.0/8 192.0.2.3 1\n";
        assert_eq!(changes(&mut fib), installed);
        fib.take(Message::RemoveGroup(8));
        assert_eq!(changes(&mut fib), "set 10.0.0.0/8 192.0.2.9 2\nremove 11.0.0.0/8\n");
    }

    /// After a reconnection only what is heard of again stays, and what stays is not even touched.
    #[test]
    fn mark_and_sweep() {
        let mut fib = Fib::new(false);
        let known = |i: u32| route(&format!("10.{i}.0.0/16"), 0, Forwarding::Hops(vec![hop("192.0.2.1", 1)]));
        (0..4).for_each(|i| fib.take(known(i)));
        changes(&mut fib);
        fib.begin_round();
        (1..3).for_each(|i| fib.take(known(i)));
        assert_eq!((changes(&mut fib), fib.sweep()), (String::new(), 2));
        assert_eq!(changes(&mut fib), "remove 10.0.0.0/16\nremove 10.3.0.0/16\n");
        fib.forget();
        assert_eq!(changes(&mut fib), "set 10.1.0.0/16 192.0.2.1 1\nset 10.2.0.0/16 192.0.2.1 1\n");
    }
}
