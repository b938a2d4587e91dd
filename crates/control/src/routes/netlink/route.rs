//! Messages about routes.

use super::attributes::{AF_INET, AF_INET6, address, attributes, u16_at, u32_at};
use elements_shared::route_port::Destination;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A next hop to a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NextHop {
    /// None: the destination itself is on the link.
    pub(crate) gateway: Option<IpAddr>,
    /// The interface's number; 0 if it is not said.
    pub(crate) interface: u32,
    /// Its share, from 1 on; 0 while it is said to be dead.
    pub(crate) weight: u32,
    /// Packets get another header on their way there, which the router does not write: it cannot use this next hop.
    pub(crate) encapsulated: bool,
}

impl NextHop {
    /// Nowhere yet.
    pub(super) const NONE: NextHop = NextHop { gateway: None, interface: 0, weight: 1, encapsulated: false };
}

/// How packets of a route are forwarded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Forwarding {
    /// They are sent to this next hop.
    Hop(NextHop),
    /// They are sent to one of these next hops.
    Hops(Vec<NextHop>),
    /// They are sent as the next-hop object with this number says.
    Object(u32),
    Special(Special),
}

/// What becomes of packets that are not sent to a next hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Special {
    /// They are for this machine.
    Local,
    /// They are dropped silently.
    Blackhole,
    /// Their senders are told that there is no way.
    Unreachable,
    /// Their senders are told that it is not allowed.
    Prohibit,
    /// Another table is to say.
    Throw,
}

/// What a message that adds a route does to those that have the same destination and metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placing {
    /// There are none.
    Only,
    /// It comes before them, or, as the message tells of several next hops of IPv6, takes in some of them.
    First,
    /// It comes after them.
    Last,
    /// It takes the place of the first.
    Replace,
    /// It is one of a list of all routes, which come in their order.
    Listed,
}

/// A route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) destination: Destination,
    pub(crate) table: u32,
    /// The smaller, the better.
    pub(crate) metric: u32,
    /// The type of service that it is for; 0: all.
    pub(crate) tos: u8,
    /// Who made it, as `/etc/iproute2/rt_protos` numbers them.
    pub(crate) protocol: u8,
    /// How far away it leads, as `/etc/iproute2/rt_scopes` numbers it.
    pub(crate) scope: u8,
    /// The longest packet; 0: that of the interface.
    pub(crate) mtu: u32,
    /// The address that the machine's own packets have, by preference.
    pub(crate) source: Option<IpAddr>,
    /// The hundredths of a second that it has left, if they are limited; less than 0 if its time is over.
    pub(crate) expires: Option<i32>,
    pub(crate) placing: Placing,
    pub(crate) forwarding: Forwarding,
}

/// `RTM_F_CLONED`: a route that the kernel remembers for one destination.
const CLONED: u32 = 0x200;
/// `RTNH_F_DEAD`: the interface is down. One whose link has no carrier is known by messages about links.
const DEAD: u8 = 1;

const NLM_F_MULTI: u16 = 2;
const NLM_F_REPLACE: u16 = 0x100;
const NLM_F_EXCL: u16 = 0x200;
const NLM_F_APPEND: u16 = 0x800;

/// What the flags of a message that adds something say of what there was.
pub(super) fn placing(flags: u16) -> Placing {
    match flags {
        flags if flags & NLM_F_MULTI != 0 => Placing::Listed,
        flags if flags & NLM_F_REPLACE != 0 => Placing::Replace,
        flags if flags & NLM_F_EXCL != 0 => Placing::Only,
        flags if flags & NLM_F_APPEND != 0 => Placing::Last,
        _ => Placing::First,
    }
}

/// What an attribute of a route, or of one of its next hops, says about a next hop.
fn add_to(hop: &mut NextHop, kind: u16, value: &[u8]) {
    let gateway = match kind {
        4 => return hop.interface = u32_at(value, 0).unwrap_or(0), // RTA_OIF
        5 => address(value),                                       // RTA_GATEWAY
        18 => value.get(2..).and_then(address),                    // RTA_VIA: family, address
        // RTA_ENCAP_TYPE: 0 is none
        21 => return hop.encapsulated |= u16_at(value, 0).is_some_and(|kind| kind != 0),
        22 => return hop.encapsulated = true, // RTA_ENCAP
        _ => return,
    };
    hop.gateway = gateway.filter(|gateway| !gateway.is_unspecified());
}

/// The value of RTA_MULTIPATH: lengths, flags, weights, interfaces, attributes.
fn next_hops(mut bytes: &[u8]) -> Vec<NextHop> {
    let mut hops = Vec::new();
    while let (Some(len), Some(&[_, _, flags, less_one, ..])) = (u16_at(bytes, 0), bytes.first_chunk::<8>()) {
        let Some(body) = bytes.get(8..usize::from(len)) else { break };
        let weight = if flags & DEAD == 0 { u32::from(less_one) + 1 } else { 0 };
        let mut hop = NextHop { interface: u32_at(bytes, 4).unwrap_or(0), weight, ..NextHop::NONE };
        attributes(body).for_each(|(kind, value)| add_to(&mut hop, kind, value));
        hops.push(hop);
        bytes = bytes.get(usize::from(len).next_multiple_of(4)..).unwrap_or_default();
    }
    hops
}

/// The destination without the bits that do not count.
fn destination(address: IpAddr, len: u8) -> Destination {
    let address = match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(len)).unwrap_or(0);
            Ipv4Addr::from_bits(address.to_bits() & mask).into()
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(len)).unwrap_or(0);
            Ipv6Addr::from_bits(address.to_bits() & mask).into()
        }
    };
    Destination { address, len }
}

/// The body of a route message: `struct rtmsg`, attributes. `flags` are those of the message.
pub(super) fn read(flags: u16, body: &[u8]) -> Option<Route> {
    let &[family, len, source_len, tos, table, protocol, scope, kind, ..] = body.first_chunk::<12>()?;
    let route_flags = u32_at(body, 8)?;
    let (none, most): (IpAddr, u8) = match family {
        AF_INET => (Ipv4Addr::UNSPECIFIED.into(), 32),
        AF_INET6 => (Ipv6Addr::UNSPECIFIED.into(), 128),
        _ => return None,
    };
    // Routes by source are others than those of the destination alone.
    if len > most || source_len != 0 || route_flags & CLONED != 0 {
        return None;
    }
    let mut hop = NextHop { weight: u32::from(route_flags & u32::from(DEAD) == 0), ..NextHop::NONE };
    let (mut to, mut metric, mut table, mut mtu, mut source) = (none, 0, u32::from(table), 0, None);
    let (mut many, mut object, mut expires) = (None, None, None);
    for (kind, value) in attributes(&body[12..]) {
        match kind {
            1 => to = address(value)?,                             // RTA_DST
            6 => metric = u32_at(value, 0)?,                       // RTA_PRIORITY
            7 => source = address(value),                          // RTA_PREFSRC
            8 => mtu = mtu_of(value),                              // RTA_METRICS
            9 => many = Some(next_hops(value)),                    // RTA_MULTIPATH
            12 => expires = u32_at(value, 8),                      // RTA_CACHEINFO: the third number
            15 => table = u32_at(value, 0)?,                       // RTA_TABLE
            30 => object = u32_at(value, 0).filter(|&id| id != 0), // RTA_NH_ID
            kind => add_to(&mut hop, kind, value),
        }
    }
    let forwarding = match (kind, object, many) {
        // Without type in messages that remove.
        (0 | 1 | 6, Some(object), _) => Forwarding::Object(object),
        (0 | 1, None, Some(hops)) => Forwarding::Hops(hops),
        (0 | 1, None, None) => Forwarding::Hop(hop),
        // Broadcast and anycast addresses of this machine: a router does not forward what is sent there.
        (2..=4, ..) => Forwarding::Special(Special::Local),
        (6, ..) => Forwarding::Special(Special::Blackhole),
        (7, ..) => Forwarding::Special(Special::Unreachable),
        (8, ..) => Forwarding::Special(Special::Prohibit),
        (9, ..) => Forwarding::Special(Special::Throw),
        _ => return None, // multicast, translated: not routes to forward by
    };
    (to.is_ipv4() == none.is_ipv4()).then_some(())?;
    let (destination, placing) = (destination(to, len), placing(flags));
    let expires = expires.map(|expires| expires as i32).filter(|&expires| expires != 0);
    Some(Route {
        destination,
        table,
        metric,
        tos,
        protocol,
        scope,
        mtu,
        source,
        expires,
        placing,
        forwarding,
    })
}

/// The value of RTA_METRICS: that of RTAX_MTU.
fn mtu_of(value: &[u8]) -> u32 {
    let found = attributes(value).find(|&(kind, _)| kind == 2);
    found.and_then(|(_, mtu)| u32_at(mtu, 0)).unwrap_or(0)
}
