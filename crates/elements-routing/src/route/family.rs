//! What differs between IPv4 and IPv6 routes.

use elements_shared::flow_hash::Flows;
use flows::{V4Tuple, V6Tuple};
use lpm::import::{List, NextHops};
use lpm::{Key, Prefix};
use packet::Packet;
use router::{FromArg, NetOrHost, Scope};
use std::fmt::{self, Debug, Display};
use std::hash::{Hash, Hasher};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use wire::{Ipv4Net, Ipv6Net};

/// What tells a flow from others, in parts.
#[derive(Clone, Copy)]
pub(super) struct Parts<A> {
    /// Source and destination.
    pub(super) ends: (A, A),
    pub(super) ports: (u16, u16),
    pub(super) protocol: u8,
    /// The flow label that stands for protocol and ports; 0 if none does.
    pub(super) label: u32,
}

/// IPv4 or IPv6.
pub(super) trait Family: Copy + Eq + Debug + Send + Sync + 'static {
    /// Addresses as the tables see them.
    type Key: Key;
    /// Addresses as people see them.
    type Address: Copy + Eq + Hash + Debug + Display + FromArg + Into<IpAddr> + Send + Sync + 'static;
    /// Gateways: of this family, or of another that can carry packets of this one.
    type Gateway: Copy + Eq + Hash + Debug + Display + From<Self::Address> + Send + Sync + 'static;
    /// What tells flows apart.
    type Tuple: flows::Key + Ord + Send + 'static;
    /// No gateway, as an address.
    const NONE: Self::Address;
    /// No gateway.
    const DIRECT: Self::Gateway;
    /// The form of routes, as messages show it.
    const ROUTE: &'static str;
    /// Whether an address fits four octets.
    const SHORT: bool;

    /// The destination annotation.
    fn destination(packet: &Packet) -> Self::Key;
    /// An address in four octets, if it fits.
    fn word(address: Self::Address) -> Option<u32>;
    /// The inverse.
    fn from_word(word: u32) -> Self::Address;
    /// Sets the destination annotation.
    fn set_destination(packet: &mut Packet, address: Self::Address);
    /// A hash of the flow that a packet belongs to.
    fn flow(packet: &Packet, flows: &Flows) -> u64;
    /// The flow that a packet belongs to, if it is an IP packet; its hash is the same.
    fn tuple(packet: &Packet, flows: &Flows) -> Option<Self::Tuple>;
    /// What tells a flow from others.
    fn parts(tuple: Self::Tuple) -> Parts<Self::Address>;
    /// The inverse.
    fn whole(parts: Parts<Self::Address>) -> Self::Tuple;
    fn key(address: Self::Address) -> Self::Key;
    fn address(key: Self::Key) -> Self::Address;
    /// An address if it is of this family.
    fn own(address: IpAddr) -> Option<Self::Address>;
    /// An address as a gateway, if it can be one.
    fn gateway(address: IpAddr) -> Option<Self::Gateway>;
    /// A gateway of this family, or none.
    fn near(gateway: Self::Gateway) -> Option<Self::Address>;
    /// Sets the destination annotation of a packet to a gateway, if there is one.
    fn lead(packet: &mut Packet, gateway: Self::Gateway);
    /// Reads a gateway.
    fn read_gateway(text: &str, scope: Scope<'_>) -> Option<Self::Gateway>;
    /// The part of a list that is of this family.
    fn routes(list: &List) -> &[(Prefix<Self::Key>, NextHops)];
    /// The chain of a table that has them to which a prefix belongs.
    fn chain(_prefix: Prefix<Self::Key>) -> u16 {
        0
    }
    /// Reads `ADDR/MASK`.
    fn prefix(text: &str, scope: Scope<'_>) -> Option<Prefix<Self::Key>>;
}

/// A gateway for IPv4 packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gateway4 {
    /// An IPv4 address; the unspecified one if there is no gateway.
    Near(Ipv4Addr),
    /// An IPv6 address, which neighbour discovery finds (RFC 8950).
    Across(Ipv6Addr),
}

impl From<Ipv4Addr> for Gateway4 {
    fn from(address: Ipv4Addr) -> Self {
        Gateway4::Near(address)
    }
}

/// As the address itself: a group's choice among gateways of one family is the same whether or not there could be others.
impl Hash for Gateway4 {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Gateway4::Near(address) => Hash::hash(address, state),
            Gateway4::Across(address) => Hash::hash(address, state),
        }
    }
}

impl Display for Gateway4 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Gateway4::Near(address) => Display::fmt(address, f),
            Gateway4::Across(address) => Display::fmt(address, f),
        }
    }
}

/// IPv4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct V4;
/// IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct V6;

impl Family for V4 {
    type Key = u32;
    type Address = Ipv4Addr;
    type Gateway = Gateway4;
    type Tuple = V4Tuple;
    const NONE: Ipv4Addr = Ipv4Addr::UNSPECIFIED;
    const DIRECT: Gateway4 = Gateway4::Near(Ipv4Addr::UNSPECIFIED);
    const ROUTE: &'static str = "'ADDR/MASK [GATEWAY] OUTPUT'";
    const SHORT: bool = true;

    #[inline]
    fn destination(packet: &Packet) -> u32 {
        packet.dst_ip().into()
    }

    #[inline]
    fn word(address: Ipv4Addr) -> Option<u32> {
        Some(address.into())
    }

    #[inline]
    fn from_word(word: u32) -> Ipv4Addr {
        word.into()
    }

    #[inline]
    fn set_destination(packet: &mut Packet, address: Ipv4Addr) {
        packet.set_dst_ip(address);
    }

    fn flow(packet: &Packet, flows: &Flows) -> u64 {
        packet.network().map_or(0, |bytes| flows.of_v4(bytes))
    }

    #[inline]
    fn tuple(packet: &Packet, flows: &Flows) -> Option<V4Tuple> {
        flows.tuple_v4(packet.network()?)
    }

    fn parts(tuple: V4Tuple) -> Parts<Ipv4Addr> {
        Parts { ends: tuple.ends(), ports: tuple.ports(), protocol: tuple.protocol(), label: 0 }
    }

    fn whole(parts: Parts<Ipv4Addr>) -> V4Tuple {
        V4Tuple::new(parts.ends, parts.ports, parts.protocol, 0)
    }

    fn key(address: Ipv4Addr) -> u32 {
        address.into()
    }

    fn address(key: u32) -> Ipv4Addr {
        key.into()
    }

    fn own(address: IpAddr) -> Option<Ipv4Addr> {
        match address {
            IpAddr::V4(address) => Some(address),
            IpAddr::V6(_) => None,
        }
    }

    fn gateway(address: IpAddr) -> Option<Gateway4> {
        Some(match address {
            IpAddr::V4(address) => Gateway4::Near(address),
            IpAddr::V6(address) => Gateway4::Across(address),
        })
    }

    fn near(gateway: Gateway4) -> Option<Ipv4Addr> {
        match gateway {
            Gateway4::Near(address) => Some(address),
            Gateway4::Across(_) => None,
        }
    }

    #[inline]
    fn lead(packet: &mut Packet, gateway: Gateway4) {
        match gateway {
            Gateway4::Near(Ipv4Addr::UNSPECIFIED) => {}
            Gateway4::Near(address) => packet.set_dst_ip(address),
            Gateway4::Across(address) => packet.set_dst_ip6(address),
        }
    }

    fn read_gateway(text: &str, scope: Scope<'_>) -> Option<Gateway4> {
        // Names of addresses in the configuration may be of both families: for an IPv4 route they mean the IPv4 one.
        let near = Ipv4Addr::from_arg(text, scope).map(Gateway4::Near);
        near.or_else(|_| Ipv6Addr::from_arg(text, scope).map(Gateway4::Across)).ok()
    }

    fn routes(list: &List) -> &[(Prefix<u32>, NextHops)] {
        &list.v4
    }

    fn chain(prefix: Prefix<u32>) -> u16 {
        super::slots::chain_v4(prefix.addr(), prefix.len())
    }

    fn prefix(text: &str, scope: Scope<'_>) -> Option<Prefix<u32>> {
        let NetOrHost(net) = NetOrHost::<Ipv4Net>::from_arg(text, scope).ok()?;
        Prefix::new(net.addr().into(), net.len()).ok()
    }
}

impl Family for V6 {
    type Key = u128;
    type Address = Ipv6Addr;
    type Gateway = Ipv6Addr;
    type Tuple = V6Tuple;
    const NONE: Ipv6Addr = Ipv6Addr::UNSPECIFIED;
    const DIRECT: Ipv6Addr = Ipv6Addr::UNSPECIFIED;
    const ROUTE: &'static str = "DADDR/MASK [GW] OUTPUT";
    const SHORT: bool = false;

    #[inline]
    fn destination(packet: &Packet) -> u128 {
        packet.dst_ip6().into()
    }

    #[inline]
    fn word(_address: Ipv6Addr) -> Option<u32> {
        None
    }

    #[inline]
    fn from_word(_word: u32) -> Ipv6Addr {
        Ipv6Addr::UNSPECIFIED
    }

    #[inline]
    fn set_destination(packet: &mut Packet, address: Ipv6Addr) {
        packet.set_dst_ip6(address);
    }

    fn flow(packet: &Packet, flows: &Flows) -> u64 {
        packet.network().map_or(0, |bytes| flows.of_v6(bytes))
    }

    #[inline]
    fn tuple(packet: &Packet, flows: &Flows) -> Option<V6Tuple> {
        flows.tuple_v6(packet.network()?)
    }

    fn parts(tuple: V6Tuple) -> Parts<Ipv6Addr> {
        Parts { ends: tuple.ends(), ports: tuple.ports(), protocol: tuple.protocol(), label: tuple.zone() }
    }

    fn whole(parts: Parts<Ipv6Addr>) -> V6Tuple {
        V6Tuple::new(parts.ends, parts.ports, parts.protocol, parts.label)
    }

    fn key(address: Ipv6Addr) -> u128 {
        address.into()
    }

    fn address(key: u128) -> Ipv6Addr {
        key.into()
    }

    fn own(address: IpAddr) -> Option<Ipv6Addr> {
        match address {
            IpAddr::V6(address) => Some(address),
            IpAddr::V4(_) => None,
        }
    }

    fn gateway(address: IpAddr) -> Option<Ipv6Addr> {
        V6::own(address)
    }

    fn near(gateway: Ipv6Addr) -> Option<Ipv6Addr> {
        Some(gateway)
    }

    #[inline]
    fn lead(packet: &mut Packet, gateway: Ipv6Addr) {
        if gateway != Ipv6Addr::UNSPECIFIED {
            packet.set_dst_ip6(gateway);
        }
    }

    fn read_gateway(text: &str, scope: Scope<'_>) -> Option<Ipv6Addr> {
        Ipv6Addr::from_arg(text, scope).ok()
    }

    fn routes(list: &List) -> &[(Prefix<u128>, NextHops)] {
        &list.v6
    }

    fn prefix(text: &str, scope: Scope<'_>) -> Option<Prefix<u128>> {
        let NetOrHost(net) = NetOrHost::<Ipv6Net>::from_arg(text, scope).ok()?;
        Prefix::new(net.addr().into(), net.len()).ok()
    }
}
