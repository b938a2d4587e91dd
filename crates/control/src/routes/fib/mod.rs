//! From the routes that a routing suite or the kernel decides on to those that packets are forwarded by.
//!
//! [`Fib`] knows every route and next-hop object it was told of, and what lookup elements were told. What changes is collected, and
//! [`Fib::changes`] gives out what the difference is. Prefixes lead to objects with numbers ([`objects`]): a link or a group that
//! changes is one object told anew, however many prefixes lead there.

#[cfg(test)]
mod captured;
mod detail;
mod hash;
mod objects;
mod routes;
#[cfg(test)]
pub(crate) mod tests;
mod v6;

pub(crate) use detail::Page;

use super::links::Known;
use super::netlink::{Forwarding, Message, Placing, Route};
use elements_shared::route_port::{Change, Destination};
use hash::Table;
use objects::{FAMILIES, Objects};
use routes::{Entry, Key, Routes, Style, V4, V6};
use std::collections::HashSet;
use std::net::IpAddr;
use std::time::Duration;

/// Where packets go: output ports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ports {
    /// By interface.
    pub(crate) interfaces: Vec<(String, u32)>,
    /// By output for an interface, that for IPv4 packets to IPv6 gateways there (RFC 8950).
    pub(crate) across: Vec<(u32, u32)>,
    pub(crate) local: Option<u32>,
    pub(crate) blackhole: Option<u32>,
    pub(crate) unreachable: Option<u32>,
    pub(crate) prohibit: Option<u32>,
    pub(crate) throw: Option<u32>,
}

/// Changes that lookup elements are told of, by family. Each is right by itself: an object comes before the first route that leads
/// there, and goes after the last.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    pub(crate) v4: Vec<Change>,
    pub(crate) v6: Vec<Change>,
}

/// What the end of a round came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Swept {
    /// Routes that were removed.
    pub(crate) routes: usize,
    /// Whether some may stay that are no more, until the next round.
    pub(crate) open: bool,
}

/// What is known of a route beside where it leads: interned, since a million routes have a few of these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Attributes {
    pub(crate) protocol: u8,
    pub(crate) scope: u8,
    pub(crate) mtu: u32,
    pub(crate) source: Option<IpAddr>,
}

/// Routes, and what was made of them.
#[derive(Debug)]
pub(crate) struct Fib {
    style: Style,
    objects: Objects,
    v4: Routes<V4>,
    v6: Routes<V6>,
    attributes: Table<Attributes, u16>,
    round: u8,
    /// Whether everything is being read, and what is not there yet may still come.
    reading: bool,
    unsure: bool,
    /// Destinations of which routes went while everything was read: a list that was made at that moment may have them all the same.
    gone: HashSet<Destination>,
    /// Whether routes of a family went then: the kernel goes on with a list by counting what it has listed, and skips as many.
    shrunk: [bool; FAMILIES],
    /// What was in doubt in the reading before: the routes of each family, next-hop objects.
    doubted: [bool; FAMILIES + 1],
    /// How long the route has left, of those heard of lately, whose time is over first.
    expires: Option<Duration>,
    remarks: Remarks,
}

/// What is said once.
#[derive(Debug, Default)]
struct Remarks {
    encapsulated: bool,
    tos: bool,
    unreached: bool,
}

impl Fib {
    /// An empty one. If not `by_metric`, a route takes the place of the one that its destination had; otherwise a destination may
    /// have several, as in the kernel.
    pub(crate) fn new(by_metric: bool) -> Fib {
        Fib {
            style: if by_metric { Style::Kernel } else { Style::One },
            objects: Objects::default(),
            v4: Routes::default(),
            v6: Routes::default(),
            attributes: Table::default(),
            round: 0,
            reading: false,
            unsure: false,
            gone: HashSet::new(),
            shrunk: [false; FAMILIES],
            doubted: [false; FAMILIES + 1],
            expires: None,
            remarks: Remarks::default(),
        }
    }

    /// Destinations.
    pub(crate) fn len(&self) -> usize {
        self.v4.len() + self.v6.len()
    }

    /// Next-hop objects of the kernel or zebra.
    pub(crate) fn groups(&self) -> usize {
        self.objects.named()
    }

    /// Destinations for which nothing was given out, because they lead where no port leads.
    pub(crate) fn unused(&self) -> usize {
        self.len() - self.v4.told - self.v6.told
    }

    /// Routes some of whose next hops are not used because of an encapsulation. Looks at all objects.
    pub(crate) fn encapsulated(&self) -> u64 {
        self.objects.encapsulated()
    }

    /// Routes for a type of service, which are not used.
    pub(crate) fn with_tos(&self) -> usize {
        self.v4.with_tos + self.v6.with_tos
    }

    /// How many changes wait for [`Fib::changes`], about.
    pub(crate) fn changed(&self) -> usize {
        self.objects.waiting() + self.v4.waiting() + self.v6.waiting()
    }

    /// Whether something was heard, since this was last asked, that does not fit to what was known: everything should be read again
    /// soon.
    pub(crate) fn unsure(&mut self) -> bool {
        std::mem::take(&mut self.unsure)
    }

    /// Something was lost, or heard elsewhere: everything should be read again soon.
    pub(crate) fn doubt(&mut self) {
        self.unsure = true;
    }

    /// After how long everything should be read again because the time of a route is over, as far as was heard since this was last asked.
    /// The kernel prolongs the time of routes without saying so, and says late that a route has gone.
    pub(crate) fn expires(&mut self) -> Option<Duration> {
        self.expires.take()
    }

    /// What the user should know of the routes; each is said once.
    pub(crate) fn remarks(&mut self) -> Vec<&'static str> {
        let is_new = |now, said: &mut bool| now && !std::mem::replace(said, true);
        let mut found = Vec::new();
        if is_new(self.objects.saw_encapsulated(), &mut self.remarks.encapsulated) {
            found.push("next hops with an encapsulation are not used (said once; see 'encapsulated')");
        }
        if is_new(self.objects.saw_unreached(), &mut self.remarks.unreached) {
            found.push(
                "IPv4 routes over IPv6 gateways are not used at interfaces without an output for these: 'INTERFACE OUTPUT OUTPUT6' (said once; see 'unused')",
            );
        }
        if is_new(self.with_tos() > 0, &mut self.remarks.tos) {
            found.push("routes for a type of service are not used (said once; see 'tos')");
        }
        found
    }

    /// Takes in what a message says.
    pub(crate) fn take(&mut self, message: Message) {
        match message {
            Message::Add(route) => self.add(route),
            Message::Remove(route) => self.remove(route),
            Message::AddObject { id, object, is_new } => {
                // The kernel says that there was none: then its end has gone unsaid.
                if is_new && self.style == Style::Kernel {
                    self.objects.remove(id);
                }
                self.objects.define(id, object, self.round);
                self.unsure |= !self.reading && !self.objects.is_known(id);
            }
            Message::RemoveObject(id) => match self.style {
                Style::One => self.objects.undefine(id),
                Style::Kernel => self.objects.remove(id),
            },
            Message::Neighbour(_) | Message::Link(_) | Message::LinkGone(_) | Message::Other => {}
        }
    }

    fn add(&mut self, route: Route) {
        if let Some(expires) = route.expires {
            let Ok(left) = u64::try_from(expires) else { return };
            let left = Duration::from_millis(10 * left);
            self.expires = Some(self.expires.map_or(left, |expires| expires.min(left)));
        }
        self.unsure |= route.placing == Placing::Listed && self.gone.contains(&route.destination);
        let (entry, placing, style) = (self.entry(&route), route.placing, self.style);
        if let Forwarding::Object(id) = route.forwarding {
            self.unsure |= !self.reading && !self.objects.is_known(id);
        }
        let to = route.destination;
        let fits = match to.address {
            IpAddr::V4(_) => {
                self.v4.add(V4::of(to.address, to.len), entry, placing, style, &mut self.objects)
            }
            IpAddr::V6(_) => {
                self.v6.add(V6::of(to.address, to.len), entry, placing, style, &mut self.objects)
            }
        };
        self.unsure |= !fits;
    }

    fn remove(&mut self, route: Route) {
        if self.reading && self.style == Style::Kernel {
            self.gone.insert(route.destination);
            self.shrunk[usize::from(route.destination.address.is_ipv6())] = true;
        }
        let (entry, style, to) = (self.entry(&route), self.style, route.destination);
        let known = match to.address {
            IpAddr::V4(_) => self.v4.remove(V4::of(to.address, to.len), entry, style, &mut self.objects),
            IpAddr::V6(_) => self.v6.remove(V6::of(to.address, to.len), entry, style, &mut self.objects),
        };
        self.unsure |= !known;
    }

    /// A route as it is kept, and its object held.
    fn entry(&mut self, route: &Route) -> Entry {
        let &Route { metric, tos, protocol, scope, mtu, source, .. } = route;
        let next = self.attributes.len().try_into().unwrap_or(u16::MAX);
        let attributes = Attributes { protocol, scope, mtu, source };
        // More sets than have numbers share the last.
        let attributes = *self.attributes.entry(attributes).or_insert(next);
        let object = self.objects.hold(&route.forwarding, route.destination.address.is_ipv6());
        Entry { metric, object, attributes, heard: self.round, tos }
    }

    /// From now on every route has to be heard of again, or the end of the round removes it.
    pub(crate) fn begin_round(&mut self) {
        if self.reading {
            self.break_off();
        }
        self.round = self.round.wrapping_add(1);
        (self.reading, self.unsure) = (true, false);
    }

    /// Ends a round in which not everything was told: all routes stay.
    pub(crate) fn break_off(&mut self) {
        self.end_listing();
        self.doubted = [false; FAMILIES + 1];
    }

    /// Removes the routes and next-hop objects that were not heard of since the round began; how many routes they were.
    pub(crate) fn sweep(&mut self) -> usize {
        self.break_off();
        self.remove_unheard([Some(1); FAMILIES + 1])
    }

    /// Ends a round in which the kernel was read. What it has not listed is removed, as with [`Fib::sweep`]; but where entries may be missing
    /// from the lists, only what was missing from those of the round before as well, if these were in doubt too.
    pub(crate) fn end_round(&mut self, in_doubt: bool) -> Swept {
        let [v4, v6] = self.end_listing();
        let doubts = [in_doubt || v4, in_doubt || v6, in_doubt];
        let rounds = std::array::from_fn(|at| match (doubts[at], self.doubted[at]) {
            (false, _) => Some(1),
            (true, true) => Some(2),
            (true, false) => None,
        });
        self.doubted = rounds.map(|rounds| rounds.is_none());
        Swept { routes: self.remove_unheard(rounds), open: self.doubted.contains(&true) }
    }

    /// The end of a round, whatever it was worth: whether routes of each family went meanwhile.
    fn end_listing(&mut self) -> [bool; FAMILIES] {
        self.reading = false;
        self.gone = HashSet::new();
        std::mem::take(&mut self.shrunk)
    }

    /// Removes what was not heard of for so many rounds: routes of each family, next-hop objects. How many routes they were.
    fn remove_unheard(&mut self, [v4, v6, objects]: [Option<u8>; FAMILIES + 1]) -> usize {
        let round = self.round;
        for id in objects.map_or(Vec::new(), |rounds| self.objects.unheard(round, rounds)) {
            self.objects.remove(id);
        }
        v4.map_or(0, |rounds| self.v4.sweep(round, rounds, &mut self.objects))
            + v6.map_or(0, |rounds| self.v6.sweep(round, rounds, &mut self.objects))
    }

    /// Routes that lead only to interfaces without a link are not used from now on: shorter prefixes and other metrics are. While a link
    /// is down for a moment senders are told that there is no way, and prefixes stay where they are.
    pub(crate) fn settle(&mut self) {
        self.objects.settle();
    }

    /// The link of an interface is another way than before. Whether any route or next-hop object leads there.
    pub(crate) fn link_changed(&mut self, interface: u32) -> bool {
        self.objects.touch_interface(interface)
    }

    /// Forgets what was given out, since there are other tables: everything is given out again.
    pub(crate) fn forget(&mut self) {
        self.undo();
        self.objects.forget();
        self.v4.forget(&self.objects);
        self.v6.forget(&self.objects);
        self.objects.touch_all();
    }

    /// Changes of up to so many destinations in each family. Until they are [done](Fib::done), they are given out again.
    pub(crate) fn changes(&mut self, most: usize, ports: &Ports, links: &Known) -> Changes {
        self.undo();
        self.objects.refresh(ports, links);
        if self.objects.usability_changed() {
            self.v4.requeue(&self.objects);
            self.v6.requeue(&self.objects);
        }
        let mut changes = Changes::default();
        self.family(<V4 as Key>::FAMILY, &mut changes.v4, |fib, to| {
            fib.v4.changes(most, &mut fib.objects, to);
        });
        self.family(<V6 as Key>::FAMILY, &mut changes.v6, |fib, to| {
            fib.v6.changes(most, &mut fib.objects, to);
        });
        changes
    }

    fn undo(&mut self) {
        self.objects.undo();
        self.v4.undo(&mut self.objects);
        self.v6.undo(&mut self.objects);
    }

    fn family(
        &mut self,
        family: usize,
        to: &mut Vec<Change>,
        routes: impl FnOnce(&mut Fib, &mut Vec<Change>),
    ) {
        self.objects.tell_altered(family, to);
        routes(self, to);
        self.objects.tell_orphans(family, to);
    }

    /// Lookup elements were told of the changes.
    pub(crate) fn done(&mut self) {
        self.objects.done();
        self.v4.done();
        self.v6.done();
    }
}
