//! All that is known of routes, for people and programs: as JSON objects.

use super::objects::Ends;
use super::routes::{Doubt, Entry, Key, Routes};
use super::{Attributes, Fib};
use crate::routes::links::Known;
use crate::routes::netlink::{NextHop, Special};
use elements_shared::route_port::Destination;
use serde_json::{Value, json};
use std::collections::HashMap;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    /// The first destination, or the next one behind it; of IPv4 all, then all of IPv6.
    pub(crate) from: Option<Destination>,
    /// How many destinations.
    pub(crate) most: usize,
}

impl Fib {
    /// The routes of some destinations in order, each as an object. Looks at all destinations.
    pub(crate) fn details(&self, page: Page, table: Option<u32>, links: &Known) -> Vec<Value> {
        let attributes = self.attributes.iter().map(|(attributes, number)| (*number, attributes)).collect();
        let teller = Teller { fib: self, attributes, table, links };
        let from = page.from;
        let from_v4 = from.filter(|from| from.address.is_ipv4());
        let mut found = Vec::new();
        let mut left = page.most;
        if from.is_none() || from_v4.is_some() {
            left -= teller.tell(&self.v4, from_v4, left, &mut found);
        }
        teller.tell(&self.v6, from.filter(|from| from.address.is_ipv6()), left, &mut found);
        found
    }
}

struct Teller<'a> {
    fib: &'a Fib,
    attributes: HashMap<u16, &'a Attributes>,
    table: Option<u32>,
    links: &'a Known,
}

impl Teller<'_> {
    /// Tells of up to so many destinations of a family; how many they were.
    fn tell<K: Key>(
        &self,
        routes: &Routes<K>,
        from: Option<Destination>,
        most: usize,
        to: &mut Vec<Value>,
    ) -> usize {
        let keys = routes.in_order(from.map(|from| K::of(from.address, from.len)), most);
        for &key in &keys {
            for (entry, doubt) in routes.standing(key, &self.fib.objects) {
                to.push(self.route(key.destination(), &entry, doubt));
            }
        }
        keys.len()
    }

    fn route(&self, to: Destination, entry: &Entry, doubt: Option<Doubt>) -> Value {
        let Ends { kind, object, hops, age_s } = self.fib.objects.ends(entry.object);
        let none = Attributes::default();
        // Those of more sets than have numbers are not known.
        let known = self.attributes.get(&entry.attributes).filter(|_| entry.attributes != u16::MAX);
        let attributes = known.copied().unwrap_or(&none);
        let state = match doubt {
            None => "used",
            Some(Doubt::Pending) => "pending",
            Some(Doubt::Tos) => "not used: for a type of service",
            Some(Doubt::NoWay) => "not used: no way",
            Some(Doubt::Beaten) => "not used: another route comes first",
        };
        json!({
            "prefix": format!("{}/{}", to.address, to.len),
            "table": self.table,
            "type": kind.map_or("unicast", name),
            "protocol": protocol(attributes.protocol),
            "scope": scope(attributes.scope),
            "metric": entry.metric,
            "tos": entry.tos,
            "mtu": Some(attributes.mtu).filter(|&mtu| mtu > 0),
            "source": attributes.source,
            "nexthop_object": object,
            "nexthops": hops.iter().map(|hop| self.hop(hop)).collect::<Vec<_>>(),
            "nexthops_age_s": age_s,
            "state": state,
        })
    }

    fn hop(&self, hop: &NextHop) -> Value {
        let link = self.links.get(hop.interface);
        json!({
            "gateway": hop.gateway,
            "interface": link.map(|(name, _)| name),
            "interface_number": hop.interface,
            "link_up": link.map(|(_, is_up)| is_up),
            "weight": hop.weight,
            "encapsulated": hop.encapsulated,
        })
    }
}

fn name(kind: Special) -> &'static str {
    match kind {
        Special::Local => "local",
        Special::Blackhole => "blackhole",
        Special::Unreachable => "unreachable",
        Special::Prohibit => "prohibit",
        Special::Throw => "throw",
    }
}

/// As iproute2 names it (`rt_protos`), or its number.
fn protocol(number: u8) -> Value {
    let name = match number {
        1 => "redirect",
        2 => "kernel",
        3 => "boot",
        4 => "static",
        9 => "ra",
        11 => "zebra",
        12 => "bird",
        13 => "dnrouted",
        16 => "dhcp",
        42 => "babel",
        186 => "bgp",
        187 => "isis",
        188 => "ospf",
        189 => "rip",
        192 => "eigrp",
        number => return number.into(),
    };
    name.into()
}

/// As iproute2 names it (`rt_scopes`), or its number.
fn scope(number: u8) -> Value {
    let name = match number {
        0 => "global",
        200 => "site",
        253 => "link",
        254 => "host",
        255 => "nowhere",
        number => return number.into(),
    };
    name.into()
}
