//! Next hops as objects with numbers: what routes lead to, and what lookup elements know of it.
//!
//! A next-hop object of the kernel or of zebra is one, and so are the next hops that a route names itself: routes that name the same
//! ones share it. A link or a group that changes concerns the objects that an index leads to, however many routes lead there.

use super::Ports;
use super::hash::Table;
use crate::routes::links::Known;
use crate::routes::netlink::{Forwarding, NextHop, Object, Special};
use elements_shared::route_port::{Change, NextHopId, Way};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::time::Instant;

/// How groups may be nested; deeper ones are taken for empty. The kernel allows one level.
const NESTING_MAX: u32 = 2;
/// The members of a group that count.
const MEMBERS_MAX: usize = 1 << 12;
/// The most that a weight may be.
const WEIGHT_MAX: u32 = 1 << 16;
/// Address families: IPv4, IPv6.
pub(super) const FAMILIES: usize = 2;

/// What an object stands for.
#[derive(Debug, PartialEq, Eq)]
enum Source {
    /// Its number is free.
    Free,
    /// Next hops that routes name themselves.
    Hops(Box<[NextHop]>),
    Special(Special),
    /// The next-hop object of the kernel or zebra with this number.
    Named(u32),
    /// Such an object that the kernel has removed, and with it all routes that led there.
    Gone(u32),
}

/// What a lookup element was told of an object.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    /// It knows the number.
    announced: bool,
    /// And what it leads to now.
    current: bool,
    /// Destinations that lead there.
    destinations: u32,
}

/// Where the routes of a family lead that lead to an object.
#[derive(Debug, Default)]
struct Side {
    ways: Vec<Way>,
    /// Whether routes that lead there are used: there is a way, or there was one before a link went down.
    is_usable: bool,
    /// Whether they are used even if there is none.
    always: bool,
    /// Whether there is a way now, other than to tell senders that there is none.
    is_live: bool,
}

#[derive(Debug)]
struct Cell {
    source: Source,
    /// Routes that lead there, used or not.
    routes: u32,
    /// What it leads to, by family: IPv4 packets to IPv6 gateways have outputs of their own.
    sides: [Side; FAMILIES],
    /// Whether an IPv4 route ever led there.
    of_v4: bool,
    /// Whether there is a next hop that the router cannot use because of an encapsulation.
    encapsulated: bool,
    /// Whether it is in the list of those to look at.
    stale: bool,
    /// When it last came to lead elsewhere, by the objects' [`Clock`].
    since_s: u32,
    told: [Told; FAMILIES],
}

/// Whole seconds since there are objects.
#[derive(Debug)]
struct Clock(Instant);

impl Default for Clock {
    fn default() -> Clock {
        Clock(Instant::now())
    }
}

impl Clock {
    fn seconds(&self) -> u32 {
        self.0.elapsed().as_secs().try_into().unwrap_or(u32::MAX)
    }
}

/// A next-hop object of the kernel or zebra.
#[derive(Debug, Default)]
struct Named {
    is: Option<Object>,
    /// The number of its object here, if routes lead there.
    cell: Option<NextHopId>,
    /// The groups that it is a member of.
    groups: BTreeSet<u32>,
    /// The round of synchronisation in which it was last heard of.
    heard: u8,
}

/// All objects.
#[derive(Debug, Default)]
pub(super) struct Objects {
    clock: Clock,
    cells: Vec<Cell>,
    free: Vec<NextHopId>,
    by_hops: Table<Box<[NextHop]>, NextHopId>,
    by_special: BTreeMap<Special, NextHopId>,
    named: Table<u32, Named>,
    /// Objects whose routes name a next hop at an interface.
    at_interface: Table<u32, BTreeSet<NextHopId>>,
    /// Objects of the kernel or zebra that are a next hop at an interface.
    named_at_interface: Table<u32, BTreeSet<u32>>,
    stale: Vec<NextHopId>,
    /// Objects that lookup elements know otherwise, by family.
    altered: [Vec<NextHopId>; FAMILIES],
    /// Objects that no destination leads to any more, perhaps.
    orphans: [Vec<NextHopId>; FAMILIES],
    /// Objects that lookup elements were told of last, until that is [done](Objects::done).
    said: [Vec<NextHopId>; FAMILIES],
    /// Whether routes may be used that were not, or the other way round.
    usability_changed: bool,
    /// Whether routes that lead to objects without a way are not used from now on.
    settling: bool,
    saw_encapsulated: bool,
    /// Whether there ever was an IPv4 packet's way to an IPv6 gateway at an interface without an output for these.
    saw_unreached: bool,
}

impl Objects {
    /// The object that a forwarding leads to, for one more route. Next hops of IPv6 have no order.
    pub(super) fn hold(&mut self, forwarding: &Forwarding, is_v6: bool) -> NextHopId {
        let id = self.hold_any(forwarding, is_v6);
        self.cells[id as usize].of_v4 |= !is_v6;
        id
    }

    fn hold_any(&mut self, forwarding: &Forwarding, is_v6: bool) -> NextHopId {
        match forwarding {
            Forwarding::Hop(hop) => self.hold_hops(std::slice::from_ref(hop)),
            Forwarding::Hops(hops) if is_v6 => {
                let mut hops = hops.clone();
                hops.sort_unstable_by_key(|hop| (hop.gateway, hop.interface, hop.weight));
                self.hold_hops(&hops)
            }
            Forwarding::Hops(hops) => self.hold_hops(hops),
            &Forwarding::Object(name) => match self.named.entry(name).or_default().cell {
                Some(id) => self.hold_again(id),
                None => {
                    let id = self.new_cell(Source::Named(name));
                    self.named.entry(name).or_default().cell = Some(id);
                    id
                }
            },
            &Forwarding::Special(special) => match self.by_special.get(&special) {
                Some(&id) => self.hold_again(id),
                None => {
                    let id = self.new_cell(Source::Special(special));
                    self.by_special.insert(special, id);
                    id
                }
            },
        }
    }

    /// The object of some next hops, for one more route.
    pub(super) fn hold_hops(&mut self, hops: &[NextHop]) -> NextHopId {
        if let Some(&id) = self.by_hops.get(hops) {
            return self.hold_again(id);
        }
        let id = self.new_cell(Source::Hops(hops.into()));
        self.by_hops.insert(hops.into(), id);
        for hop in hops {
            self.at_interface.entry(hop.interface).or_default().insert(id);
        }
        id
    }

    fn hold_again(&mut self, id: NextHopId) -> NextHopId {
        self.cells[id as usize].routes += 1;
        id
    }

    fn new_cell(&mut self, source: Source) -> NextHopId {
        let cell = Cell {
            source,
            routes: 1,
            sides: Default::default(),
            of_v4: false,
            encapsulated: false,
            stale: false,
            since_s: self.clock.seconds(),
            told: Default::default(),
        };
        let id = match self.free.pop() {
            Some(id) => {
                self.cells[id as usize] = cell;
                id
            }
            None => {
                self.cells.push(cell);
                self.cells.len() as NextHopId - 1
            }
        };
        self.mark_stale(id);
        id
    }

    /// One route less leads to an object.
    pub(super) fn release(&mut self, id: NextHopId) {
        self.cells[id as usize].routes -= 1;
        self.free_if_unused(id);
    }

    /// Frees a number that no route leads to and no lookup element knows.
    fn free_if_unused(&mut self, id: NextHopId) {
        let cell = &mut self.cells[id as usize];
        if cell.routes > 0 || cell.told.iter().any(|told| told.announced || told.destinations > 0) {
            return;
        }
        match std::mem::replace(&mut cell.source, Source::Free) {
            Source::Free => return,
            Source::Hops(hops) => {
                self.by_hops.remove(&hops);
                for hop in &hops {
                    if let Some(those) = self.at_interface.get_mut(&hop.interface) {
                        those.remove(&id);
                        if those.is_empty() {
                            self.at_interface.remove(&hop.interface);
                        }
                    }
                }
            }
            Source::Special(special) => drop(self.by_special.remove(&special)),
            Source::Named(name) => {
                self.named.entry(name).or_default().cell = None;
                self.forget_unknown(name);
            }
            Source::Gone(_) => {}
        }
        self.free.push(id);
    }

    /// Forgets a name that stands for nothing and that nothing leads to.
    fn forget_unknown(&mut self, name: u32) {
        let is_empty = |named: &Named| named.is.is_none() && named.cell.is_none() && named.groups.is_empty();
        if self.named.get(&name).is_some_and(is_empty) {
            self.named.remove(&name);
        }
    }

    /// Has all objects be older.
    #[cfg(test)]
    pub(super) fn age(&mut self, by: std::time::Duration) {
        self.clock.0 = self.clock.0.checked_sub(by).expect("the machine runs for longer");
    }

    /// The next hops of an object whose routes name them.
    pub(super) fn hops(&self, id: NextHopId) -> &[NextHop] {
        match &self.cells[id as usize].source {
            Source::Hops(hops) => hops,
            _ => &[],
        }
    }

    /// What an object stands for.
    pub(super) fn ends(&self, id: NextHopId) -> Ends {
        let cell = &self.cells[id as usize];
        let mut ends = Ends { age_s: self.clock.seconds().saturating_sub(cell.since_s), ..Ends::default() };
        match &cell.source {
            Source::Free => {}
            Source::Hops(hops) => ends.hops = hops.to_vec(),
            Source::Special(special) => ends.kind = Some(*special),
            Source::Gone(name) => ends.object = Some(*name),
            Source::Named(name) => {
                let mut members = Vec::new();
                self.add_named(*name, 1, 0, &mut members);
                ends.object = Some(*name);
                ends.kind = members.contains(&None).then_some(Special::Blackhole);
                ends.hops = members.into_iter().flatten().collect();
            }
        }
        ends
    }

    /// Whether an object is one of the kernel's or zebra's.
    pub(super) fn is_named(&self, id: NextHopId) -> bool {
        matches!(self.cells[id as usize].source, Source::Named(_))
    }

    /// Whether two objects have the same name, be it that one is gone.
    pub(super) fn are_namesakes(&self, one: NextHopId, other: NextHopId) -> bool {
        let name = |id: NextHopId| match self.cells[id as usize].source {
            Source::Named(name) | Source::Gone(name) => Some(name),
            _ => None,
        };
        name(one).is_some() && name(one) == name(other)
    }

    /// Whether routes of a family that lead there are used.
    pub(super) fn is_usable(&self, family: usize, id: NextHopId) -> bool {
        self.cells[id as usize].sides[family].is_usable
    }

    /// Whether there ever was an IPv4 route to an IPv6 gateway that has no output.
    pub(super) fn saw_unreached(&self) -> bool {
        self.saw_unreached
    }

    /// Whether there ever was a next hop that the router cannot use because of an encapsulation.
    pub(super) fn saw_encapsulated(&self) -> bool {
        self.saw_encapsulated
    }

    /// Routes some of whose next hops are not used because of an encapsulation. Looks at all objects.
    pub(super) fn encapsulated(&self) -> u64 {
        self.cells.iter().filter(|cell| cell.encapsulated).map(|cell| u64::from(cell.routes)).sum()
    }

    /// Next-hop objects of the kernel or zebra.
    pub(super) fn named(&self) -> usize {
        self.named.values().filter(|named| named.is.is_some()).count()
    }

    /// Whether a next-hop object and all members that it names are known.
    pub(super) fn is_known(&self, name: u32) -> bool {
        let of = |name| self.named.get(&name).and_then(|named| named.is.as_ref());
        match of(name) {
            Some(Object::Group(members)) => members.iter().all(|&(member, _)| of(member).is_some()),
            Some(_) => true,
            None => false,
        }
    }

    /// A next-hop object is this from now on.
    pub(super) fn define(&mut self, name: u32, object: Object, round: u8) {
        let named = self.named.entry(name).or_default();
        named.heard = round;
        if named.is.as_ref() == Some(&object) {
            return;
        }
        self.unlink(name);
        match &object {
            Object::Group(members) => {
                for (member, _) in members {
                    self.named.entry(*member).or_default().groups.insert(name);
                }
            }
            Object::Hop(hop) => drop(self.named_at_interface.entry(hop.interface).or_default().insert(name)),
            Object::Blackhole | Object::Bridge => {}
        }
        self.named.entry(name).or_default().is = Some(object);
        self.touch(name);
    }

    /// Takes what a next-hop object stood for from it, and it from the indexes.
    fn unlink(&mut self, name: u32) {
        match self.named.get_mut(&name).and_then(|named| named.is.take()) {
            Some(Object::Group(members)) => {
                for (member, _) in members {
                    if let Some(named) = self.named.get_mut(&member) {
                        named.groups.remove(&name);
                    }
                    self.forget_unknown(member);
                }
            }
            Some(Object::Hop(hop)) => {
                if let Some(those) = self.named_at_interface.get_mut(&hop.interface) {
                    those.remove(&name);
                    if those.is_empty() {
                        self.named_at_interface.remove(&hop.interface);
                    }
                }
            }
            _ => {}
        }
    }

    /// A next-hop object is nothing any more. Routes that lead there and groups that contain it may still be told of.
    pub(super) fn undefine(&mut self, name: u32) {
        self.unlink(name);
        self.touch(name);
        self.forget_unknown(name);
    }

    /// The kernel has removed a next-hop object: from its groups, and with it all routes that led there.
    pub(super) fn remove(&mut self, name: u32) {
        self.unlink(name);
        self.touch(name);
        let Some(named) = self.named.remove(&name) else { return };
        if let Some(id) = named.cell {
            self.cells[id as usize].source = Source::Gone(name);
        }
        for group in named.groups {
            let group = self.named.get_mut(&group).and_then(|group| group.is.as_mut());
            if let Some(Object::Group(members)) = group {
                members.retain(|&(member, _)| member != name);
            }
        }
    }

    /// The next-hop objects that were not heard of in so many rounds, of which this is the last.
    pub(super) fn unheard(&self, round: u8, rounds: u8) -> Vec<u32> {
        let is_unheard = |named: &Named| round.wrapping_sub(named.heard) >= rounds;
        let unheard = self.named.iter().filter(|(_, named)| named.is.is_some() && is_unheard(named));
        unheard.map(|(name, _)| *name).collect()
    }

    /// What depends on a next-hop object is looked at again: itself, and groups.
    fn touch(&mut self, name: u32) {
        let (mut seen, mut next) = (BTreeSet::from([name]), vec![name]);
        while let Some(name) = next.pop() {
            let Some(named) = self.named.get(&name) else { continue };
            next.extend(named.groups.iter().filter(|group| seen.insert(**group)));
            named.cell.into_iter().for_each(|id| self.mark_stale(id));
        }
    }

    /// What leads to an interface is looked at again. Whether there is anything.
    pub(super) fn touch_interface(&mut self, interface: u32) -> bool {
        let cells = self.at_interface.get(&interface).cloned().unwrap_or_default();
        let named = self.named_at_interface.get(&interface).cloned().unwrap_or_default();
        let any = !cells.is_empty() || !named.is_empty();
        cells.into_iter().for_each(|id| self.mark_stale(id));
        named.into_iter().for_each(|name| self.touch(name));
        any
    }

    /// All objects are looked at again.
    pub(super) fn touch_all(&mut self) {
        (0..self.cells.len() as NextHopId).for_each(|id| self.mark_stale(id));
    }

    fn mark_stale(&mut self, id: NextHopId) {
        let cell = &mut self.cells[id as usize];
        if cell.source != Source::Free && !std::mem::replace(&mut cell.stale, true) {
            self.stale.push(id);
        }
    }

    /// Objects to look at again, or to tell of.
    pub(super) fn waiting(&self) -> usize {
        let told = self.altered.iter().chain(&self.orphans).chain(&self.said).map(Vec::len);
        self.stale.len() + told.sum::<usize>() + usize::from(self.usability_changed || self.settling)
    }

    /// Whether routes may be used that were not, or the other way round, since this was last asked.
    pub(super) fn usability_changed(&mut self) -> bool {
        std::mem::take(&mut self.usability_changed)
    }

    /// Looks at objects again that may lead elsewhere now.
    pub(super) fn refresh(&mut self, ports: &Ports, links: &Known) {
        for id in std::mem::take(&mut self.stale) {
            self.cells[id as usize].stale = false;
            for family in 0..FAMILIES {
                let found = self.resolve(id, family, ports, links);
                self.turn_side(id, family, found);
            }
        }
        if std::mem::take(&mut self.settling) {
            self.settle_now();
        }
    }

    /// An object leads there from now on, in a family.
    fn turn_side(&mut self, id: NextHopId, family: usize, found: Found) {
        self.saw_encapsulated |= found.encapsulated;
        let cell = &mut self.cells[id as usize];
        self.saw_unreached |= found.unreached && cell.of_v4;
        let (side, told) = (&mut cell.sides[family], &mut cell.told[family]);
        (cell.encapsulated, side.always, side.is_live) = (found.encapsulated, found.always, found.is_live);
        // While links are down, senders are told that there is no way, until the source of routes says what becomes of them.
        let is_usable = found.always || found.is_live || found.has_output && side.is_usable;
        self.usability_changed |= std::mem::replace(&mut side.is_usable, is_usable) != is_usable;
        if side.ways != found.ways {
            (side.ways, cell.since_s) = (found.ways, self.clock.seconds());
            told.current = false;
            if told.announced {
                self.altered[family].push(id);
            }
        }
    }

    /// From now on routes that lead to objects without a way are not used. The source of routes has had time to say what becomes of them.
    pub(super) fn settle(&mut self) {
        self.settling = true;
    }

    fn settle_now(&mut self) {
        for side in self.cells.iter_mut().flat_map(|cell| &mut cell.sides) {
            if side.is_usable && !side.always && !side.is_live {
                side.is_usable = false;
                self.usability_changed = true;
            }
        }
    }

    fn resolve(&self, id: NextHopId, family: usize, ports: &Ports, links: &Known) -> Found {
        let mut found = Found { is_v4: family == 0, ..Found::default() };
        match &self.cells[id as usize].source {
            Source::Free | Source::Gone(_) => {}
            Source::Hops(hops) => hops.iter().for_each(|hop| found.add(hop, ports, links)),
            Source::Special(special) => found.add_special(*special, ports),
            Source::Named(name) => {
                let mut members = Vec::new();
                self.add_named(*name, 1, 0, &mut members);
                for member in &members {
                    match member {
                        Some(hop) => found.add(hop, ports, links),
                        None => found.add_special(Special::Blackhole, ports),
                    }
                }
            }
        }
        found.is_live = !found.ways.is_empty();
        if !found.is_live && found.has_output {
            found.add_special(Special::Unreachable, ports);
            found.always = false;
        }
        found
    }

    /// Adds what a next-hop object stands for, in order: next hops, `None` for a black hole.
    fn add_named(&self, name: u32, weight: u32, depth: u32, to: &mut Vec<Option<NextHop>>) {
        if to.len() >= MEMBERS_MAX {
            return;
        }
        match self.named.get(&name).and_then(|named| named.is.as_ref()) {
            Some(Object::Hop(hop)) => to.push(Some(NextHop { weight: hop.weight * weight, ..*hop })),
            Some(Object::Blackhole) => to.push(None),
            Some(Object::Group(members)) if depth < NESTING_MAX => {
                members.iter().for_each(|&(member, weight)| self.add_named(member, weight, depth + 1, to));
            }
            Some(Object::Group(_) | Object::Bridge) | None => {}
        }
    }

    /// Tells lookup elements of a family where objects lead that they know otherwise. An object whose routes are not used any more waits
    /// until these have gone: told before them, it would drop packets that a shorter prefix or another route has a way for.
    pub(super) fn tell_altered(&mut self, family: usize, to: &mut Vec<Change>) {
        for id in std::mem::take(&mut self.altered[family]) {
            let cell = &mut self.cells[id as usize];
            let told = &mut cell.told[family];
            if !told.announced || told.destinations == 0 {
                continue;
            }
            if !cell.sides[family].is_usable {
                self.altered[family].push(id);
            } else if !std::mem::replace(&mut told.current, true) {
                to.push(Change::NextHop(id, cell.sides[family].ways.clone()));
                self.said[family].push(id);
            }
        }
    }

    /// One more destination leads to an object; lookup elements are told of it first.
    pub(super) fn lead_to(&mut self, family: usize, id: NextHopId, to: &mut Vec<Change>) {
        let cell = &mut self.cells[id as usize];
        let told = &mut cell.told[family];
        told.destinations += 1;
        if !std::mem::replace(&mut told.announced, true) | !std::mem::replace(&mut told.current, true) {
            to.push(Change::NextHop(id, cell.sides[family].ways.clone()));
            self.said[family].push(id);
        }
    }

    /// One destination less leads to an object.
    pub(super) fn lead_away(&mut self, family: usize, id: NextHopId) {
        let told = &mut self.cells[id as usize].told[family];
        told.destinations -= 1;
        if told.destinations == 0 {
            self.orphans[family].push(id);
        }
    }

    /// Tells lookup elements of objects that nothing leads to any more.
    pub(super) fn tell_orphans(&mut self, family: usize, to: &mut Vec<Change>) {
        for id in std::mem::take(&mut self.orphans[family]) {
            let told = &mut self.cells[id as usize].told[family];
            if told.destinations == 0 && std::mem::take(&mut told.announced) {
                told.current = false;
                to.push(Change::ForgetNextHop(id));
            }
            self.free_if_unused(id);
        }
    }

    /// Lookup elements were told of the changes.
    pub(super) fn done(&mut self) {
        self.said.iter_mut().for_each(Vec::clear);
    }

    /// What lookup elements were told last they may not have heard: it is told again.
    pub(super) fn undo(&mut self) {
        for (family, said) in std::mem::take(&mut self.said).into_iter().enumerate() {
            for id in said {
                self.cells[id as usize].told[family].current = false;
                self.altered[family].push(id);
            }
        }
    }

    /// Lookup elements are others, who know nothing.
    pub(super) fn forget(&mut self) {
        (self.altered, self.orphans, self.said) = Default::default();
        for id in 0..self.cells.len() as NextHopId {
            self.cells[id as usize].told = Default::default();
            self.free_if_unused(id);
        }
    }
}

/// What an object stands for, for people.
#[derive(Debug, Default)]
pub(super) struct Ends {
    /// What becomes of packets that are not sent to a next hop.
    pub(super) kind: Option<Special>,
    /// Its number with the kernel or zebra.
    pub(super) object: Option<u32>,
    pub(super) hops: Vec<NextHop>,
    /// Seconds since it was first heard of, or last came to lead elsewhere.
    pub(super) age_s: u32,
}

/// Where an object leads.
#[derive(Default)]
struct Found {
    /// For IPv4 packets.
    is_v4: bool,
    ways: Vec<Way>,
    /// Some next hop is at an interface with an output, be its link up or down.
    has_output: bool,
    /// Routes are used even if there is no way.
    always: bool,
    is_live: bool,
    encapsulated: bool,
    /// Some next hop has an IPv6 gateway, and its interface no output for IPv4 packets to these.
    unreached: bool,
}

impl Found {
    fn add(&mut self, hop: &NextHop, ports: &Ports, links: &Known) {
        self.encapsulated |= hop.encapsulated;
        let Some((name, is_up)) = links.get(hop.interface) else { return };
        let Some((_, port)) = ports.interfaces.iter().find(|(known, _)| known == name) else { return };
        if hop.encapsulated {
            return;
        }
        let mut port = port;
        if self.is_v4 && matches!(hop.gateway, Some(IpAddr::V6(_))) {
            let Some((_, across)) = ports.across.iter().find(|(output, _)| output == port) else {
                self.unreached = true;
                return;
            };
            port = across;
        }
        self.has_output = true;
        if is_up && hop.weight > 0 {
            let weight = hop.weight.min(WEIGHT_MAX);
            self.ways.push(Way { gateway: hop.gateway, port: *port, weight });
        }
    }

    fn add_special(&mut self, special: Special, ports: &Ports) {
        let port = match special {
            Special::Local => ports.local,
            Special::Blackhole => ports.blackhole,
            Special::Unreachable => ports.unreachable,
            Special::Prohibit => ports.prohibit,
            Special::Throw => ports.throw,
        };
        self.ways.extend(port.map(|port| Way { gateway: None, port, weight: 1 }));
        self.always |= special != Special::Local;
    }
}
