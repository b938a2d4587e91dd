//! Writing messages, for tests.

use super::attributes::{AF_INET, AF_INET6};
use super::*;
use std::net::IpAddr;

fn attribute(to: &mut Vec<u8>, kind: u16, value: &[u8]) {
    to.extend((4 + value.len() as u16).to_ne_bytes());
    to.extend(kind.to_ne_bytes());
    to.extend(value);
    to.resize(to.len().next_multiple_of(4), 0);
}

/// A message about a neighbour, with the state as the kernel numbers it.
pub(crate) fn neighbour(add: bool, of: &Neighbour, state: u16, flags: u8) -> Vec<u8> {
    let mut body = vec![family(of.address), 0, 0, 0];
    body.extend(of.interface.to_ne_bytes());
    body.extend(state.to_ne_bytes());
    body.extend([flags, 1]);
    attribute(&mut body, 1, &octets(of.address));
    of.mac.iter().for_each(|mac| attribute(&mut body, 2, mac));
    message(if add { RTM_NEWNEIGH } else { RTM_DELNEIGH }, 0, body)
}

fn family(address: IpAddr) -> u8 {
    if address.is_ipv4() { AF_INET } else { AF_INET6 }
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

fn message(kind: u16, flags: u16, body: Vec<u8>) -> Vec<u8> {
    let mut message = ((HEADER + body.len()) as u32).to_ne_bytes().to_vec();
    message.extend(kind.to_ne_bytes());
    message.extend(flags.to_ne_bytes());
    message.extend([0; 8]);
    message.extend(body);
    message
}

fn hop_attributes(to: &mut Vec<u8>, hop: &NextHop, of_v4: bool) {
    match hop.gateway {
        Some(gateway) if gateway.is_ipv6() && of_v4 => {
            let via = [&u16::from(AF_INET6).to_ne_bytes()[..], &octets(gateway)].concat();
            attribute(to, 18, &via);
        }
        Some(gateway) => attribute(to, 5, &octets(gateway)),
        None => {}
    }
    if hop.encapsulated {
        attribute(to, 22 | 0x8000, &[]);
        attribute(to, 21, &2u16.to_ne_bytes());
    }
}

fn flags(placing: Placing) -> u16 {
    match placing {
        Placing::Only => 0x600,
        Placing::First => 0x400,
        Placing::Last => 0xc00,
        Placing::Replace => 0x100,
        Placing::Listed => 2,
    }
}

/// A message that adds or removes a route.
pub(crate) fn route(add: bool, route: &Route) -> Vec<u8> {
    let to = route.destination.address;
    let kind = match route.forwarding {
        Forwarding::Hop(_) | Forwarding::Hops(_) | Forwarding::Object(_) => 1,
        Forwarding::Special(Special::Local) => 2,
        Forwarding::Special(Special::Blackhole) => 6,
        Forwarding::Special(Special::Unreachable) => 7,
        Forwarding::Special(Special::Prohibit) => 8,
        Forwarding::Special(Special::Throw) => 9,
    };
    let mut body = vec![
        family(to),
        route.destination.len,
        0,
        route.tos,
        0,
        route.protocol,
        route.scope,
        kind,
        0,
        0,
        0,
        0,
    ];
    attribute(&mut body, 1, &octets(to));
    attribute(&mut body, 15, &route.table.to_ne_bytes());
    attribute(&mut body, 6, &route.metric.to_ne_bytes());
    match &route.forwarding {
        Forwarding::Hop(hop) => {
            body[8] = u8::from(hop.weight == 0);
            hop_attributes(&mut body, hop, to.is_ipv4());
            attribute(&mut body, 4, &hop.interface.to_ne_bytes());
        }
        Forwarding::Hops(hops) => {
            let mut all = Vec::new();
            for hop in hops {
                let mut own = Vec::new();
                hop_attributes(&mut own, hop, to.is_ipv4());
                all.extend((8 + own.len() as u16).to_ne_bytes());
                all.extend([u8::from(hop.weight == 0), hop.weight.saturating_sub(1) as u8]);
                all.extend(hop.interface.to_ne_bytes());
                all.extend(own);
            }
            attribute(&mut body, 9, &all);
        }
        Forwarding::Object(id) => attribute(&mut body, 30, &id.to_ne_bytes()),
        Forwarding::Special(_) => {}
    }
    if route.mtu > 0 {
        let mut metrics = Vec::new();
        attribute(&mut metrics, 2, &route.mtu.to_ne_bytes());
        attribute(&mut body, 8, &metrics);
    }
    if let Some(expires) = route.expires {
        let (mut numbers, expires) = ([0; 32], expires.to_ne_bytes());
        numbers[8..12].copy_from_slice(&expires);
        attribute(&mut body, 12, &numbers);
    }
    route.source.iter().for_each(|source| attribute(&mut body, 7, &octets(*source)));
    message(if add { RTM_NEWROUTE } else { RTM_DELROUTE }, flags(route.placing), body)
}

/// A message that adds a next-hop object, as zebra does.
pub(crate) fn object(id: u32, object: &Object) -> Vec<u8> {
    let mut body = vec![0; 8];
    attribute(&mut body, 1, &id.to_ne_bytes());
    match object {
        Object::Hop(hop) => {
            body[4] = u8::from(hop.weight == 0);
            attribute(&mut body, 5, &hop.interface.to_ne_bytes());
            hop.gateway.iter().for_each(|gateway| attribute(&mut body, 6, &octets(*gateway)));
            if hop.encapsulated {
                attribute(&mut body, 7, &2u16.to_ne_bytes());
            }
        }
        Object::Group(members) => {
            let member = |&(id, weight): &(u32, u32)| {
                let [low, high, ..] = (weight - 1).to_le_bytes();
                [&id.to_ne_bytes()[..], &[low, high, 0, 0]].concat()
            };
            attribute(&mut body, 2, &members.iter().flat_map(member).collect::<Vec<u8>>());
        }
        Object::Blackhole => attribute(&mut body, 4, &[]),
        Object::Bridge => attribute(&mut body, 11, &[]),
    }
    message(RTM_NEWNEXTHOP, 0x500, body)
}

/// A message about an interface.
pub(crate) fn link(add: bool, link: &Link) -> Vec<u8> {
    let mut body = vec![0; 16];
    body[4..8].copy_from_slice(&link.index.to_ne_bytes());
    body[8..12].copy_from_slice(&(if link.is_up { 0x1_1043u32 } else { 0x1003 }).to_ne_bytes());
    attribute(&mut body, 3, &[link.name.as_bytes(), &[0]].concat());
    if let Some(table) = link.vrf_table {
        let (mut data, mut info) = (Vec::new(), Vec::new());
        attribute(&mut data, 1, &table.to_ne_bytes());
        attribute(&mut info, 1, b"vrf\0");
        attribute(&mut info, 2 | 0x8000, &data);
        attribute(&mut body, 18, &info);
    }
    message(if add { RTM_NEWLINK } else { RTM_DELLINK }, 0, body)
}
