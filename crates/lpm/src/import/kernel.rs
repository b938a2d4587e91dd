//! Routes of the kernel, whichever way `ip route` writes them: of several for one prefix, those that it forwards by.

mod json;
mod words;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::IpAddr;

use super::fault::LineError;
use super::list::{AnyPrefix, Hop, List, NextHops};
use super::prefixes::parse_prefix;
use crate::prefix::Prefix;

pub(super) use json::{is_json, parse_json};
pub(super) use words::{Part, is_attribute};

/// The name of the table that forwards packets unless rules say otherwise.
pub const MAIN_TABLE: &str = "main";

/// What the type of a route says about its packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// They are forwarded.
    #[default]
    Forward,
    /// They are dropped, with or without an answer.
    Nowhere,
    /// The next table decides about them.
    Throw,
    /// They are for the machine itself.
    Own,
    /// What the kernel of today does not have.
    Other(&'static str),
}

impl Kind {
    /// The kind of the type with this name (`ip-route(8)`).
    pub(super) fn of(name: &str) -> Option<Kind> {
        match name {
            "unicast" => Some(Kind::Forward),
            "blackhole" | "unreachable" | "prohibit" => Some(Kind::Nowhere),
            "throw" => Some(Kind::Throw),
            "local" | "broadcast" | "multicast" | "anycast" => Some(Kind::Own),
            "nat" => Some(Kind::Other("nat")),
            "xresolve" => Some(Kind::Other("xresolve")),
            _ => None,
        }
    }
}

/// Where a route goes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Destination {
    /// Everywhere, in the family that the rest of the route tells.
    #[default]
    Default,
    /// To a prefix.
    Prefix(AnyPrefix),
}

impl Destination {
    pub(super) fn parse(text: &str) -> Result<Destination, LineError> {
        if text == "default" {
            return Ok(Destination::Default);
        }
        let prefix = parse_prefix(text).map_err(|error| LineError::Prefix(text.to_owned(), error))?;
        Ok(Destination::Prefix(prefix))
    }
}

/// A route as it is written.
#[derive(Debug, Default)]
pub(super) struct Route {
    pub(super) kind: Kind,
    pub(super) destination: Destination,
    /// The table that it says it is of.
    table: Table,
    metric: u32,
    /// The rank of the preference that routers advertise (RFC 4191), the best first.
    preference: u8,
    /// Whether it is of IPv6, if something other than the destination tells.
    v6: Option<bool>,
    hops: Vec<(Hop, u32)>,
    /// Whether there is a next hop that is dead.
    dead: bool,
    /// The number of its next-hop object.
    object: Option<u64>,
    /// What is said of that object.
    shown: Option<Hop>,
    /// Whether it came from a router's advertisement or redirect: then it never shares packets with another.
    learned: bool,
}

/// The table of a route.
#[derive(Debug, Default)]
enum Table {
    /// It says none: the main one.
    #[default]
    Unsaid,
    /// The one whose routes count.
    Wanted,
    /// One with routes for the machine itself.
    Own,
    /// Another one.
    Other(String),
}

/// A next hop as it is read.
#[derive(Clone, Copy, Debug)]
struct Draft {
    hop: Hop,
    weight: u32,
    dead: bool,
}

impl Default for Draft {
    fn default() -> Self {
        Draft { hop: Hop::default(), weight: 1, dead: false }
    }
}

impl Route {
    pub(super) fn new(kind: Kind, destination: Destination) -> Route {
        let preference = rank("medium");
        Route { kind, destination, preference, ..Route::default() }
    }

    /// Adds a next hop, if anything was said of it.
    fn add(&mut self, draft: Draft) {
        match draft.hop == Hop::default() {
            true => {}
            false if draft.dead => self.dead = true,
            false => self.hops.push((draft.hop, draft.weight)),
        }
    }

    fn set_table(&mut self, name: &str, wanted: &str) {
        let plain = |name: &str| match name {
            "254" => "main".to_owned(),
            "255" => "local".to_owned(),
            "253" => "default".to_owned(),
            "0" => "unspec".to_owned(),
            _ => name.to_owned(),
        };
        self.table = match plain(name) {
            name if name == plain(wanted) => Table::Wanted,
            name if name == "local" || name == "unspec" => Table::Own,
            name => Table::Other(name),
        };
    }

    /// Sets where a next hop's gateway is; `foreign` if it is not of the route's family.
    fn set_gateway(&mut self, draft: &mut Draft, address: IpAddr, foreign: bool) {
        draft.hop.gateway = Some(address).filter(|address| !address.is_unspecified());
        self.v6 = Some(address.is_ipv6() != foreign);
    }
}

/// The rank of a preference (RFC 4191), the best first.
fn rank(preference: &str) -> u8 {
    match preference {
        "high" => 0,
        "low" => 2,
        _ => 1,
    }
}

/// Interfaces whose names are compared one by one.
const FEW: usize = 8;

/// Chooses among routes.
pub(super) struct Kernel<'a> {
    table: &'a str,
    devices: HashMap<String, u32>,
    chosen: HashMap<AnyPrefix, Chosen>,
    /// Whether the latest route was of IPv6.
    pub(super) v6: bool,
}

/// The best route for a prefix so far.
#[derive(Clone, Copy)]
struct Chosen {
    /// Metric and preference.
    rank: (u32, u8),
    /// Its place in the list.
    at: u32,
    /// Whether others of the same rank are further next hops of it.
    joins: bool,
}

impl<'a> Kernel<'a> {
    /// Routes of this table count.
    pub(super) fn new(table: &'a str) -> Self {
        Kernel { table, devices: HashMap::new(), chosen: HashMap::new(), v6: false }
    }

    /// The index of an interface in a list.
    fn device(&mut self, list: &mut List, name: &str) -> u32 {
        // Most routes lead to one of a few interfaces, which are found faster by their names.
        if let Some(known) = list.devices.iter().take(FEW).position(|known| known == name) {
            return known as u32;
        }
        if let Some(&known) = self.devices.get(name) {
            return known;
        }
        let id = list.devices.len() as u32;
        list.devices.push(name.to_owned());
        self.devices.insert(name.to_owned(), id);
        id
    }

    /// Enters a route into a list, unless the kernel prefers another.
    ///
    /// # Errors
    /// Why the kernel's way with the route cannot be followed.
    pub(super) fn enter(&mut self, list: &mut List, mut route: Route) -> Result<(), LineError> {
        let prefix = self.prefix(&route);
        self.v6 = matches!(prefix, AnyPrefix::V6(_));
        // Packets would be forwarded by a gateway in the local table, before others are asked.
        let leads_away = route.kind != Kind::Own && route.hops.iter().any(|(hop, _)| hop.gateway.is_some());
        match (&route.table, route.kind) {
            (Table::Own, _) if leads_away => return Err(LineError::Table("local".to_owned())),
            (Table::Own, _) | (_, Kind::Own) => {
                list.skipped += 1;
                return Ok(());
            }
            (Table::Other(name), _) => return Err(LineError::Table(name.clone())),
            (Table::Unsaid, _) if self.table != MAIN_TABLE => {
                return Err(LineError::Table(MAIN_TABLE.to_owned()));
            }
            (_, Kind::Other(name)) => return Err(LineError::Type(name.to_owned())),
            _ => {}
        }
        let hops = next_hops(&mut route)?;
        self.choose(list, prefix, &route, hops);
        if route.kind == Kind::Throw { Err(LineError::Throw) } else { Ok(()) }
    }

    fn prefix(&self, route: &Route) -> AnyPrefix {
        match route.destination {
            Destination::Prefix(prefix) => prefix,
            Destination::Default if route.v6.unwrap_or(self.v6) => AnyPrefix::V6(Prefix::covering(0, 0)),
            Destination::Default => AnyPrefix::V4(Prefix::covering(0, 0)),
        }
    }

    /// The kernel uses the route with the smallest metric, of IPv6 routes the one with the best preference, of several the first.
    fn choose(&mut self, list: &mut List, prefix: AnyPrefix, route: &Route, hops: Hops) {
        let rank = (route.metric, route.preference);
        // Kernels before 4.11 print an IPv6 route with several next hops as several routes.
        let joins = self.v6 && hops.have_gateways() && route.object.is_none() && !route.learned;
        let best = match self.chosen.entry(prefix) {
            Entry::Vacant(free) => {
                let at = if self.v6 { list.v6.len() } else { list.v4.len() } as u32;
                let next_hops = hops.enter(list);
                list.push(prefix, next_hops);
                free.insert(Chosen { rank, at, joins });
                return;
            }
            Entry::Occupied(best) => best.into_mut(),
        };
        let at = best.at as usize;
        if best.rank == rank && best.joins && joins {
            let mut all = list.hops(list.next_hops(prefix, at));
            all.extend(hops.list());
            let next_hops = Hops::Many(all).enter(list);
            list.set_next_hops(prefix, at, next_hops);
            return;
        }
        list.skipped += 1;
        if best.rank > rank {
            let next_hops = hops.enter(list);
            list.set_next_hops(prefix, at, next_hops);
            (best.rank, best.joins) = (rank, joins);
        }
    }
}

/// Where a route leads, before it is in a list.
enum Hops {
    Nowhere,
    One(Hop),
    Many(Vec<(Hop, u32)>),
}

impl Hops {
    fn have_gateways(&self) -> bool {
        match self {
            Hops::Nowhere => false,
            Hops::One(hop) => hop.gateway.is_some(),
            Hops::Many(hops) => hops.iter().all(|(hop, _)| hop.gateway.is_some()),
        }
    }

    /// The next hops and their weights; that of one alone is 1.
    fn list(self) -> Vec<(Hop, u32)> {
        match self {
            Hops::Nowhere => Vec::new(),
            Hops::One(hop) => vec![(hop, 1)],
            Hops::Many(hops) => hops,
        }
    }

    fn enter(self, list: &mut List) -> NextHops {
        match self {
            Hops::Nowhere => NextHops::Nowhere,
            Hops::One(hop) => NextHops::Hop(hop),
            Hops::Many(hops) => list.group(hops),
        }
    }
}

/// Takes a route's next hops.
fn next_hops(route: &mut Route) -> Result<Hops, LineError> {
    if matches!(route.kind, Kind::Nowhere | Kind::Throw) {
        return Ok(Hops::Nowhere);
    }
    match (&route.hops[..], route.shown, route.object) {
        ([], ..) if route.dead => Err(LineError::Dead),
        ([], Some(hop), _) => Ok(Hops::One(hop)),
        ([], None, Some(id)) => Err(LineError::Object(id.to_string())),
        ([], None, None) => Ok(Hops::One(Hop::default())),
        (&[(hop, _)], ..) => Ok(Hops::One(hop)),
        _ => Ok(Hops::Many(std::mem::take(&mut route.hops))),
    }
}
