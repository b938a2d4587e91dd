//! What a table of IPv4 flows lacks to be one of flows between IPv6 and IPv4.

use super::hosts::{Hosts, is_number};
use super::prefix::Prefix;
use crate::rewrite::flow_events::Ends;
use elements_shared::flow_id::FlowId;
use rcu::Turn;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, OnceLock};

/// Of a translator with IPv6 hosts on one side: who they are, and by what they know IPv4 hosts.
pub(in super::super) struct Six {
    pub(super) prefix: Prefix,
    seed: u64,
    most: i32,
    hosts: OnceLock<Arc<Hosts>>,
}

impl Six {
    /// Without hosts, and room for so many.
    pub(in super::super) fn new(prefix: Prefix, seed: u64, most: i32) -> Six {
        Six { prefix, seed, most, hosts: OnceLock::new() }
    }

    /// The hosts.
    #[inline]
    pub(super) fn hosts(&self) -> &Hosts {
        self.hosts.get_or_init(|| Arc::new(Hosts::new(self.seed, self.most)))
    }

    /// Goes on with the hosts of another one, before the first packet. False if its flows cannot go on here.
    pub(in super::super) fn adopt(&self, old: &Six) -> bool {
        old.hosts();
        let Some(hosts) = old.hosts.get().filter(|_| old.prefix == self.prefix) else { return false };
        let is_taken = self.hosts.set(hosts.clone()).is_ok();
        hosts.set_most(self.most);
        is_taken
    }

    /// The host of IPv4 that an address of IPv6 stands for.
    pub(in super::super) fn remote(&self, address: Ipv6Addr) -> Option<Ipv4Addr> {
        self.prefix.extract(address)
    }

    /// The number of a host, which gets one if it has none and there is room.
    pub(in super::super) fn number(&self, turn: Turn<'_>, host: Ipv6Addr, now_ms: u64) -> Option<u32> {
        let is_host = !host.is_multicast() && !host.is_unspecified() && self.remote(host).is_none();
        if is_host { self.hosts().meet(turn, host, (now_ms / 1000) as u32) } else { None }
    }

    /// The host that a number stands for.
    #[inline]
    pub(super) fn host(&self, number: u32) -> Option<Ipv6Addr> {
        self.hosts().address(number)
    }
}

impl Ends for Six {
    /// On the side of IPv6 for its hosts, of IPv4 for others.
    fn ends(&self, id: FlowId) -> [(IpAddr, u16); 2] {
        let is_six = is_number(id.saddr) || is_number(id.daddr);
        [(id.saddr, id.sport), (id.daddr, id.dport)].map(|(address, port)| {
            let v4 = Ipv4Addr::from_bits(address);
            let shown: IpAddr = match is_six {
                true if is_number(address) => self.host(address).unwrap_or(Ipv6Addr::UNSPECIFIED).into(),
                // A mapping has no destination.
                true if address == 0 => Ipv6Addr::UNSPECIFIED.into(),
                true => self.prefix.embed(v4).into(),
                false => v4.into(),
            };
            (shown, port)
        })
    }
}
