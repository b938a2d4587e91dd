//! What differs between IPv4 and IPv6 routes.

use elements_shared::flow_hash::Flows;
use lpm::import::{List, NextHops};
use lpm::{Key, Prefix};
use packet::Packet;
use router::{FromArg, NetOrHost, Scope};
use std::fmt::{Debug, Display};
use std::hash::Hash;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use wire::{Ipv4Net, Ipv6Net};

/// IPv4 or IPv6.
pub(super) trait Family: Copy + Eq + Debug + Send + Sync + 'static {
    /// Addresses as the tables see them.
    type Key: Key;
    /// Addresses as people see them.
    type Address: Copy + Eq + Hash + Debug + Display + FromArg + Into<IpAddr> + Send + Sync + 'static;
    /// No gateway.
    const NONE: Self::Address;
    /// The form of routes, as messages show it.
    const ROUTE: &'static str;

    /// The destination annotation.
    fn destination(packet: &Packet) -> Self::Key;
    /// Sets the destination annotation.
    fn set_destination(packet: &mut Packet, address: Self::Address);
    /// A hash of the flow that a packet belongs to.
    fn flow(packet: &Packet, flows: &Flows) -> u64;
    fn key(address: Self::Address) -> Self::Key;
    fn address(key: Self::Key) -> Self::Address;
    /// A gateway from a list of either family.
    fn gateway(address: IpAddr) -> Option<Self::Address>;
    /// The part of a list that is of this family.
    fn routes(list: &List) -> &[(Prefix<Self::Key>, NextHops)];
    /// The chain of a table that has them to which a prefix belongs.
    fn chain(_prefix: Prefix<Self::Key>) -> u16 {
        0
    }
    /// Reads `ADDR/MASK`.
    fn prefix(text: &str, scope: Scope<'_>) -> Option<Prefix<Self::Key>>;
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
    const NONE: Ipv4Addr = Ipv4Addr::UNSPECIFIED;
    const ROUTE: &'static str = "'ADDR/MASK [GATEWAY] OUTPUT'";

    #[inline]
    fn destination(packet: &Packet) -> u32 {
        packet.dst_ip().into()
    }

    #[inline]
    fn set_destination(packet: &mut Packet, address: Ipv4Addr) {
        packet.set_dst_ip(address);
    }

    fn flow(packet: &Packet, flows: &Flows) -> u64 {
        packet.network().map_or(0, |bytes| flows.of_v4(bytes))
    }

    fn key(address: Ipv4Addr) -> u32 {
        address.into()
    }

    fn address(key: u32) -> Ipv4Addr {
        key.into()
    }

    fn gateway(address: IpAddr) -> Option<Ipv4Addr> {
        match address {
            IpAddr::V4(address) => Some(address),
            IpAddr::V6(_) => None,
        }
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
    const NONE: Ipv6Addr = Ipv6Addr::UNSPECIFIED;
    const ROUTE: &'static str = "DADDR/MASK [GW] OUTPUT";

    #[inline]
    fn destination(packet: &Packet) -> u128 {
        packet.dst_ip6().into()
    }

    #[inline]
    fn set_destination(packet: &mut Packet, address: Ipv6Addr) {
        packet.set_dst_ip6(address);
    }

    fn flow(packet: &Packet, flows: &Flows) -> u64 {
        packet.network().map_or(0, |bytes| flows.of_v6(bytes))
    }

    fn key(address: Ipv6Addr) -> u128 {
        address.into()
    }

    fn address(key: u128) -> Ipv6Addr {
        key.into()
    }

    fn gateway(address: IpAddr) -> Option<Ipv6Addr> {
        match address {
            IpAddr::V6(address) => Some(address),
            IpAddr::V4(_) => None,
        }
    }

    fn routes(list: &List) -> &[(Prefix<u128>, NextHops)] {
        &list.v6
    }

    fn prefix(text: &str, scope: Scope<'_>) -> Option<Prefix<u128>> {
        let NetOrHost(net) = NetOrHost::<Ipv6Net>::from_arg(text, scope).ok()?;
        Prefix::new(net.addr().into(), net.len()).ok()
    }
}
