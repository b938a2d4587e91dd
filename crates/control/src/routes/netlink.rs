//! Routes and neighbours in the kernel's message format: what rtnetlink sends, and zebra within FPM messages.
//!
//! Reading is total: whatever the bytes are, there is a message or none, and no message is longer than its header
//! says. The formats are those of `linux/rtnetlink.h`, `linux/nexthop.h` and `linux/neighbour.h`; numbers are in the
//! machine's byte order, addresses in the network's.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Prefix {
    pub(crate) address: IpAddr,
    pub(crate) len: u8,
}

impl std::fmt::Display for Prefix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.address, self.len)
    }
}

/// A next hop to a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NextHop {
    /// None: the destination itself is on the link.
    pub(crate) gateway: Option<IpAddr>,
    /// The interface's number; 0 if it is not said.
    pub(crate) interface: u32,
    /// Its share, from 1 on.
    pub(crate) weight: u32,
}

/// How packets of a route are forwarded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Forwarding {
    /// They are sent to one of these next hops.
    Hops(Vec<NextHop>),
    /// They are sent as the group with this number says.
    Group(u32),
    /// They are for this machine.
    Local,
    /// They are dropped silently.
    Blackhole,
    /// Their senders are told that there is no way.
    Unreachable,
    /// Their senders are told that it is not allowed.
    Prohibit,
}

/// A route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) prefix: Prefix,
    pub(crate) table: u32,
    /// The smaller, the better.
    pub(crate) metric: u32,
    pub(crate) forwarding: Forwarding,
}

/// A group of next hops, or one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    One(NextHop),
    /// Other groups, with weights.
    Of(Vec<(u32, u32)>),
    Blackhole,
}

/// What the kernel knows of a neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// An administrator has entered it.
    Permanent,
    /// It answered lately.
    Reachable,
    /// It has been heard of.
    Heard,
    /// It is asked for, did not answer, or is forgotten.
    Unknown,
}

/// A neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Neighbour {
    pub(crate) address: IpAddr,
    /// The interface's number.
    pub(crate) interface: u32,
    pub(crate) mac: Option<[u8; 6]>,
    pub(crate) standing: Standing,
}

/// What a message says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// The kernel knows this of a neighbour from now on.
    Neighbour(Neighbour),
    Add(Route),
    Remove(Route),
    AddGroup(u32, Group),
    RemoveGroup(u32),
    /// Something about an interface.
    Link,
    /// The end of an answer of several messages.
    Done,
    /// An error: the number as `errno` has it, or 0 for an acknowledgement.
    Error(i32),
    /// Something else.
    Other,
}

const HEADER: usize = 16;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const RTM_NEWLINK: u16 = 16;
const RTM_DELLINK: u16 = 17;
const RTM_NEWROUTE: u16 = 24;
const RTM_DELROUTE: u16 = 25;
/// Asks for routes.
pub(crate) const RTM_GETROUTE: u16 = 26;
const RTM_NEWNEIGH: u16 = 28;
const RTM_DELNEIGH: u16 = 29;
/// Asks for neighbours.
pub(crate) const RTM_GETNEIGH: u16 = 30;
const RTM_NEWNEXTHOP: u16 = 104;
const RTM_DELNEXTHOP: u16 = 105;
/// Asks for next hops.
pub(crate) const RTM_GETNEXTHOP: u16 = 106;

/// `RTM_F_CLONED`: a route that the kernel remembers for one destination.
const CLONED: u32 = 0x200;

const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;

/// The messages in some bytes, and how many bytes they take: the last one may not be there whole.
pub(crate) fn messages(mut bytes: &[u8]) -> (Vec<Message>, usize) {
    let (mut found, whole) = (Vec::new(), bytes.len());
    while let Some((message, rest)) = message(bytes) {
        found.push(message);
        bytes = rest;
    }
    (found, whole - bytes.len())
}

/// The first message, and what follows it.
fn message(bytes: &[u8]) -> Option<(Message, &[u8])> {
    let len = u32_at(bytes, 0)? as usize;
    let body = bytes.get(HEADER..len)?;
    let rest = bytes.get(len.next_multiple_of(4)..).unwrap_or_default();
    let read = match u16_at(bytes, 4)? {
        RTM_NEWROUTE => route(body).map(Message::Add),
        RTM_DELROUTE => route(body).map(Message::Remove),
        RTM_NEWNEXTHOP => group(body).map(|(id, group)| Message::AddGroup(id, group)),
        RTM_DELNEXTHOP => group_id(body).map(Message::RemoveGroup),
        RTM_NEWNEIGH => neighbour(body).map(Message::Neighbour),
        RTM_DELNEIGH => neighbour(body)
            .map(|neighbour| Message::Neighbour(Neighbour { standing: Standing::Unknown, ..neighbour })),
        RTM_NEWLINK | RTM_DELLINK => Some(Message::Link),
        NLMSG_DONE => Some(Message::Done),
        NLMSG_ERROR => u32_at(body, 0).map(|code| Message::Error((code as i32).wrapping_neg())),
        _ => None,
    };
    Some((read.unwrap_or(Message::Other), rest))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// The attributes in some bytes: kind and value.
fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let len = usize::from(u16_at(bytes, 0)?);
        // The two highest bits say how the value is to be read, which the kind says as well.
        let kind = u16_at(bytes, 2)? & 0x3fff;
        let value = bytes.get(4..len)?;
        bytes = bytes.get(len.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, value))
    })
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    match bytes.len() {
        4 => bytes.first_chunk::<4>().map(|&b| Ipv4Addr::from(b).into()),
        16 => bytes.first_chunk::<16>().map(|&b| Ipv6Addr::from(b).into()),
        _ => None,
    }
}

/// What attributes of a route, or of one of its next hops, say about a next hop.
fn next_hop<'a>(attributes: impl Iterator<Item = (u16, &'a [u8])>) -> NextHop {
    let mut hop = NextHop { gateway: None, interface: 0, weight: 1 };
    for (kind, value) in attributes {
        match kind {
            4 => hop.interface = u32_at(value, 0).unwrap_or(0), // RTA_OIF
            5 => hop.gateway = address(value),                  // RTA_GATEWAY
            18 => hop.gateway = value.get(2..).and_then(address), // RTA_VIA: family, address
            _ => {}
        }
    }
    hop.gateway = hop.gateway.filter(|gateway| !gateway.is_unspecified());
    hop
}

/// The value of RTA_MULTIPATH: lengths, flags, weights, interfaces, attributes.
fn next_hops(mut bytes: &[u8]) -> Vec<NextHop> {
    let mut hops = Vec::new();
    while let (Some(len), Some(&[_, _, _, less_one, ..])) = (u16_at(bytes, 0), bytes.first_chunk::<8>()) {
        let Some(body) = bytes.get(8..usize::from(len)) else { break };
        let interface = u32_at(bytes, 4).unwrap_or(0);
        hops.push(NextHop { interface, weight: u32::from(less_one) + 1, ..next_hop(attributes(body)) });
        bytes = bytes.get(usize::from(len).next_multiple_of(4)..).unwrap_or_default();
    }
    hops
}

/// The body of a route message: `struct rtmsg`, attributes.
fn route(body: &[u8]) -> Option<Route> {
    let &[family, len, _src_len, tos, table, _protocol, _scope, kind, ..] = body.first_chunk::<12>()?;
    let (none, most): (IpAddr, u8) = match family {
        AF_INET => (Ipv4Addr::UNSPECIFIED.into(), 32),
        AF_INET6 => (Ipv6Addr::UNSPECIFIED.into(), 128),
        _ => return None,
    };
    if len > most || tos != 0 || u32_at(body, 8)? & CLONED != 0 {
        return None;
    }
    let attributes = || attributes(&body[12..]);
    let (mut destination, mut metric, mut table) = (none, 0, u32::from(table));
    let (mut many, mut group) = (None, None);
    for (kind, value) in attributes() {
        match kind {
            1 => destination = address(value)?,                   // RTA_DST
            6 => metric = u32_at(value, 0)?,                      // RTA_PRIORITY
            9 => many = Some(next_hops(value)),                   // RTA_MULTIPATH
            15 => table = u32_at(value, 0)?,                      // RTA_TABLE
            30 => group = u32_at(value, 0).filter(|&id| id != 0), // RTA_NH_ID
            _ => {}
        }
    }
    let forwarding = match (kind, group, many) {
        // Without type in messages that remove.
        (0 | 1, Some(group), _) => Forwarding::Group(group),
        (0 | 1, None, Some(hops)) => Forwarding::Hops(hops),
        (0 | 1, None, None) => Forwarding::Hops(vec![next_hop(attributes())]),
        // Broadcast and anycast addresses of this machine: a router does not forward what is sent there.
        (2..=4, ..) => Forwarding::Local,
        (6, ..) => Forwarding::Blackhole,
        (7, ..) => Forwarding::Unreachable,
        (8, ..) => Forwarding::Prohibit,
        _ => return None, // multicast, translated: not routes to forward by
    };
    (destination.is_ipv4() == none.is_ipv4()).then_some(())?;
    Some(Route { prefix: Prefix { address: destination, len }, table, metric, forwarding })
}

/// The body of a next hop message: `struct nhmsg`, attributes.
fn group(body: &[u8]) -> Option<(u32, Group)> {
    let id = group_id(body)?;
    let mut hop = NextHop { gateway: None, interface: 0, weight: 1 };
    for (kind, value) in attributes(body.get(8..)?) {
        match kind {
            2 => {
                // NHA_GROUP: number, weight less one, padding
                let members = value.as_chunks::<8>().0.iter();
                let member = |entry: &[u8; 8]| Some((u32_at(entry, 0)?, u32::from(entry[4]) + 1));
                return Some((id, Group::Of(members.filter_map(member).collect())));
            }
            4 => return Some((id, Group::Blackhole)), // NHA_BLACKHOLE
            5 => hop.interface = u32_at(value, 0)?,   // NHA_OIF
            6 => hop.gateway = address(value),        // NHA_GATEWAY
            _ => {}
        }
    }
    hop.gateway = hop.gateway.filter(|gateway| !gateway.is_unspecified());
    Some((id, Group::One(hop)))
}

fn group_id(body: &[u8]) -> Option<u32> {
    let (_, id) = attributes(body.get(8..)?).find(|&(kind, _)| kind == 1)?; // NHA_ID
    u32_at(id, 0)
}

/// The body of a neighbour message: `struct ndmsg`, attributes. Neighbours for whom this machine answers in their place are none.
fn neighbour(body: &[u8]) -> Option<Neighbour> {
    const REACHABLE: u16 = 2;
    const STALE_DELAY_PROBE: u16 = 4 | 8 | 0x10;
    const PERMANENT: u16 = 0x80;
    const PROXY: u8 = 8;
    let &[family, ..] = body.first_chunk::<12>()?;
    let (interface, state, flags) = (u32_at(body, 4)?, u16_at(body, 8)?, body[10]);
    if !matches!(family, AF_INET | AF_INET6) || flags & PROXY != 0 {
        return None;
    }
    let (mut found, mut mac) = (None, None);
    for (kind, value) in attributes(&body[12..]) {
        match kind {
            1 => found = address(value),                // NDA_DST
            2 => mac = <[u8; 6]>::try_from(value).ok(), // NDA_LLADDR
            _ => {}
        }
    }
    let standing = match state {
        state if state & PERMANENT != 0 => Standing::Permanent,
        state if state & REACHABLE != 0 => Standing::Reachable,
        state if state & STALE_DELAY_PROBE != 0 => Standing::Heard,
        _ => Standing::Unknown,
    };
    Some(Neighbour { address: found?, interface, mac, standing })
}

/// A message that asks for everything of a kind: `what` is [`RTM_GETROUTE`], [`RTM_GETNEXTHOP`] or [`RTM_GETNEIGH`].
pub(crate) fn dump_request(what: u16, sequence: u32) -> Vec<u8> {
    /// `NLM_F_REQUEST | NLM_F_DUMP`
    const FLAGS: u16 = 0x301;
    let body = if what == RTM_GETNEXTHOP { 8 } else { 12 };
    let mut message = ((HEADER + body) as u32).to_ne_bytes().to_vec();
    message.extend(what.to_ne_bytes());
    message.extend(FLAGS.to_ne_bytes());
    message.extend(sequence.to_ne_bytes());
    message.resize(HEADER + body, 0);
    message
}

/// Writing messages, for tests.
#[cfg(test)]
pub(crate) mod write {
    use super::*;

    fn attribute(to: &mut Vec<u8>, kind: u16, value: &[u8]) {
        to.extend((4 + value.len() as u16).to_ne_bytes());
        to.extend(kind.to_ne_bytes());
        to.extend(value);
        to.resize(to.len().next_multiple_of(4), 0);
    }

    /// A message about a neighbour, with the state as the kernel numbers it.
    pub(crate) fn neighbour(add: bool, of: &Neighbour, state: u16, flags: u8) -> Vec<u8> {
        let family = if of.address.is_ipv4() { AF_INET } else { AF_INET6 };
        let mut body = vec![family, 0, 0, 0];
        body.extend(of.interface.to_ne_bytes());
        body.extend(state.to_ne_bytes());
        body.extend([flags, 1]);
        attribute(&mut body, 1, &octets(of.address));
        of.mac.iter().for_each(|mac| attribute(&mut body, 2, mac));
        message(if add { RTM_NEWNEIGH } else { RTM_DELNEIGH }, body)
    }

    fn octets(address: IpAddr) -> Vec<u8> {
        match address {
            IpAddr::V4(address) => address.octets().to_vec(),
            IpAddr::V6(address) => address.octets().to_vec(),
        }
    }

    fn message(kind: u16, body: Vec<u8>) -> Vec<u8> {
        let mut message = ((HEADER + body.len()) as u32).to_ne_bytes().to_vec();
        message.extend(kind.to_ne_bytes());
        message.extend([0; 10]);
        message.extend(body);
        message
    }

    fn hop_attributes(to: &mut Vec<u8>, hop: &NextHop, with_interface: bool) {
        if let Some(gateway) = hop.gateway {
            attribute(to, 5, &octets(gateway));
        }
        if with_interface {
            attribute(to, 4, &hop.interface.to_ne_bytes());
        }
    }

    /// A message that adds or removes a route.
    pub(crate) fn route(add: bool, route: &Route) -> Vec<u8> {
        let family = if route.prefix.address.is_ipv4() { AF_INET } else { AF_INET6 };
        let kind = match route.forwarding {
            Forwarding::Hops(_) | Forwarding::Group(_) => 1,
            Forwarding::Local => 2,
            Forwarding::Blackhole => 6,
            Forwarding::Unreachable => 7,
            Forwarding::Prohibit => 8,
        };
        let mut body = vec![family, route.prefix.len, 0, 0, 0, 186, 0, kind, 0, 0, 0, 0];
        attribute(&mut body, 1, &octets(route.prefix.address));
        attribute(&mut body, 15, &route.table.to_ne_bytes());
        attribute(&mut body, 6, &route.metric.to_ne_bytes());
        match &route.forwarding {
            Forwarding::Hops(hops) if hops.len() == 1 => hop_attributes(&mut body, &hops[0], true),
            Forwarding::Hops(hops) => {
                let mut all = Vec::new();
                for hop in hops {
                    let mut own = Vec::new();
                    hop_attributes(&mut own, hop, false);
                    all.extend((8 + own.len() as u16).to_ne_bytes());
                    all.extend([0, hop.weight as u8 - 1]);
                    all.extend(hop.interface.to_ne_bytes());
                    all.extend(own);
                }
                attribute(&mut body, 9, &all);
            }
            Forwarding::Group(id) => attribute(&mut body, 30, &id.to_ne_bytes()),
            _ => {}
        }
        message(if add { RTM_NEWROUTE } else { RTM_DELROUTE }, body)
    }

    /// A message that adds a group.
    pub(crate) fn group(id: u32, group: &Group) -> Vec<u8> {
        let mut body = vec![0; 8];
        attribute(&mut body, 1, &id.to_ne_bytes());
        match group {
            Group::One(hop) => {
                attribute(&mut body, 5, &hop.interface.to_ne_bytes());
                if let Some(gateway) = hop.gateway {
                    attribute(&mut body, 6, &octets(gateway));
                }
            }
            Group::Of(members) => {
                let member = |&(id, weight): &(u32, u32)| {
                    [&id.to_ne_bytes()[..], &[weight as u8 - 1, 0, 0, 0]].concat()
                };
                attribute(&mut body, 2, &members.iter().flat_map(member).collect::<Vec<u8>>());
            }
            Group::Blackhole => attribute(&mut body, 4, &[]),
        }
        message(RTM_NEWNEXTHOP, body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hop(gateway: &str, interface: u32, weight: u32) -> NextHop {
        NextHop { gateway: gateway.parse().ok(), interface, weight }
    }

    fn samples() -> Vec<Message> {
        let route = |prefix: &str, len, forwarding| Route {
            prefix: Prefix { address: prefix.parse().expect("an address"), len },
            table: 254,
            metric: 20,
            forwarding,
        };
        vec![
            Message::Add(route("10.0.0.0", 8, Forwarding::Hops(vec![hop("192.0.2.1", 3, 1)]))),
            Message::Add(route(
                "10.1.0.0",
                16,
                Forwarding::Hops(vec![hop("192.0.2.1", 3, 1), hop("", 4, 5)]),
            )),
            Message::Add(route("2001:db8::", 32, Forwarding::Hops(vec![hop("fe80::1", 3, 1)]))),
            Message::Add(route("::", 0, Forwarding::Group(7))),
            Message::Remove(route("10.1.0.0", 16, Forwarding::Blackhole)),
            Message::Add(route("10.2.0.0", 16, Forwarding::Prohibit)),
            Message::AddGroup(7, Group::Of(vec![(8, 1), (9, 3)])),
            Message::AddGroup(8, Group::One(hop("192.0.2.9", 2, 1))),
            Message::AddGroup(9, Group::Blackhole),
        ]
    }

    fn written(message: &Message) -> Vec<u8> {
        match message {
            Message::Add(route) => write::route(true, route),
            Message::Remove(route) => write::route(false, route),
            Message::AddGroup(id, group) => write::group(*id, group),
            other => panic!("cannot write {other:?}"),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let samples = samples();
        let bytes: Vec<u8> = samples.iter().flat_map(written).collect();
        assert_eq!(messages(&bytes), (samples, bytes.len()));
    }

    /// An IPv4 route with a gateway as `ip monitor` sees it from the kernel, byte for byte.
    #[test]
    fn a_message_of_the_kernel() {
        let bytes = [
            &68u32.to_ne_bytes()[..],
            &24u16.to_ne_bytes(),
            &0x600u16.to_ne_bytes(),
            &[0; 8],
            &[2, 24, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0],
            &8u16.to_ne_bytes(),
            &15u16.to_ne_bytes(),
            &254u32.to_ne_bytes(),
            &8u16.to_ne_bytes(),
            &1u16.to_ne_bytes(),
            &[198, 51, 100, 0],
            &8u16.to_ne_bytes(),
            &5u16.to_ne_bytes(),
            &[10, 0, 0, 1],
            &8u16.to_ne_bytes(),
            &4u16.to_ne_bytes(),
            &2u32.to_ne_bytes(),
            &8u16.to_ne_bytes(),
            &6u16.to_ne_bytes(),
            &100u32.to_ne_bytes(),
        ]
        .concat();
        let (found, used) = messages(&bytes);
        let [Message::Add(route)] = &found[..] else { panic!("{found:?}") };
        assert_eq!((used, route.prefix.to_string(), route.metric), (68, "198.51.100.0/24".to_owned(), 100));
        assert_eq!(route.forwarding, Forwarding::Hops(vec![hop("10.0.0.1", 2, 1)]));
        // The type is the eighth byte of the body: those of this machine's own addresses, and multicast.
        for (kind, forwarding) in [
            (2, Some(Forwarding::Local)),
            (3, Some(Forwarding::Local)),
            (4, Some(Forwarding::Local)),
            (5, None),
        ] {
            let mut bytes = bytes.clone();
            bytes[HEADER + 7] = kind;
            let (found, _) = messages(&bytes);
            let read = match &found[..] {
                [Message::Add(route)] => Some(route.forwarding.clone()),
                _ => None,
            };
            assert_eq!(read, forwarding, "{kind}");
        }
    }

    #[test]
    fn each_neighbour_state_has_its_standing() {
        let of = |address: &str, standing| Neighbour {
            address: address.parse().expect("an address"),
            interface: 3,
            mac: Some([2, 0, 0, 0, 0, 9]),
            standing,
        };
        for (state, standing) in [
            (0x80, Standing::Permanent),
            (2, Standing::Reachable),
            (4, Standing::Heard),
            (8, Standing::Heard),
            (0x10, Standing::Heard),
            (1, Standing::Unknown),
            (0x20, Standing::Unknown),
            (0x40, Standing::Unknown),
        ] {
            for address in ["10.0.0.9", "fe80::9"] {
                let one = of(address, standing);
                assert_eq!(messages(&write::neighbour(true, &one, state, 0)).0, [Message::Neighbour(one)]);
                let gone = Neighbour { standing: Standing::Unknown, ..one };
                assert_eq!(messages(&write::neighbour(false, &one, state, 0)).0, [Message::Neighbour(gone)]);
                assert_eq!(messages(&write::neighbour(true, &one, state, 8)).0, [Message::Other]);
            }
        }
    }

    /// A message that is not there whole is left for later; one whose inside is nonsense does not hide the next.
    #[test]
    fn cut_off_and_damaged() {
        let sample = &samples()[0];
        let bytes = written(sample);
        for len in 0..bytes.len() {
            assert_eq!(messages(&bytes[..len]), (vec![], 0), "{len}");
        }
        for at in HEADER..bytes.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] = value;
                damaged.extend(&bytes);
                let (found, used) = messages(&damaged);
                assert_eq!((found.len(), &found[1], used), (2, sample, damaged.len()));
            }
        }
    }
}
