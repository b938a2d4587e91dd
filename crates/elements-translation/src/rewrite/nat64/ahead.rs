//! What a batch of packets will need, asked for before it is needed: each look-up waits for memory, and those of a batch wait together.
//!
//! A packet of IPv6 needs four lines of memory, one after the other: of the index of hosts, its host, of the index of flows, and its flow; a
//! packet of IPv4 the last two, and then the host. What is found out on the way is a guess as far as it may change until the packet's turn
//! comes, which does not trust it.

use super::element::{Translator, Transport, transport};
use super::hosts::{Hosts, halves};
use crate::rewrite::index::Home;
use crate::rewrite::record::{FORWARD, REPLY};
use elements_shared::flow_id::{FlowId, Key};
use packet::{BATCH_MAX, Batch};
use std::net::{Ipv4Addr, Ipv6Addr};
use wire::{ip_proto, ipv4, ipv6};

/// What is known of a packet from a look at it.
#[derive(Clone, Copy)]
pub(super) struct Sight<'t> {
    /// What its flow is found by, if it has one, and the hash of that.
    key: Option<Key>,
    hash: u64,
    /// The number of the host that sends it.
    host: Option<u32>,
    /// The line of an index that comes next.
    home: Option<Home<'t>>,
    source: [u64; 2],
    remote: Ipv4Addr,
    transport: Option<Transport>,
}

impl<'t> Sight<'t> {
    pub(super) const NOTHING: Sight<'t> = Sight {
        key: None,
        hash: 0,
        host: None,
        home: None,
        source: [0; 2],
        remote: Ipv4Addr::UNSPECIFIED,
        transport: None,
    };

    /// The home of what comes next is asked for.
    #[inline]
    fn expect(&mut self, home: Home<'t>) {
        home.prefetch();
        self.home = Some(home);
    }

    /// The number of the host that sends the packet, if that was found, and the number still stands for this address: it is given to another host
    /// only when the turn of the look is over, but nothing here says that it is not.
    #[inline]
    pub(super) fn sender(&self, hosts: &Hosts, address: Ipv6Addr) -> Option<u32> {
        self.host.filter(|&number| hosts.address(number) == Some(address))
    }

    /// The hash of a key, if that is what the look has found.
    #[inline]
    pub(super) fn hash_of(&self, key: Key) -> Option<u64> {
        (self.key == Some(key)).then_some(self.hash)
    }

    /// The entry there that it most likely leads to.
    #[inline]
    fn guess(&self) -> u32 {
        self.home.map_or(u32::MAX, |home| home.guess(self.hash))
    }
}

/// The sights of a batch.
pub(super) type Sights<'t> = [Sight<'t>; BATCH_MAX];

impl<'t> Translator<'t> {
    /// Looks at all packets of a batch of IPv6.
    pub(super) fn look_ahead6(&self, batch: &Batch, sights: &mut Sights<'t>) {
        let (hosts, sights) = (self.six.hosts(), &mut sights[..batch.len()]);
        for (sight, packet) in sights.iter_mut().zip(batch.iter()) {
            let Some((remote, source, transport)) = self.plain6(packet.data()) else { continue };
            (sight.remote, sight.source, sight.transport) = (remote, halves(source), Some(transport));
            let home;
            (sight.hash, home) = hosts.home(self.turn, sight.source);
            sight.expect(home);
        }
        let mut guesses = [u32::MAX; BATCH_MAX];
        for (sight, guess) in sights.iter().zip(&mut guesses) {
            *guess = sight.guess();
            hosts.prefetch(*guess);
        }
        for (sight, guess) in sights.iter_mut().zip(guesses) {
            let Some(transport) = sight.transport else { continue };
            sight.home = None;
            sight.host = hosts.check(guess, sight.source);
            if let Some(host) = sight.host {
                self.expect_flow(sight, transport, transport.id(host, sight.remote.to_bits(), FORWARD));
            }
        }
        for sight in sights.iter() {
            self.prefetch_flow(sight);
        }
    }

    /// Looks at all packets of a batch of IPv4.
    pub(super) fn look_ahead4(&self, batch: &Batch, sights: &mut Sights<'t>) {
        let (hosts, sights) = (self.six.hosts(), &mut sights[..batch.len()]);
        for (sight, packet) in sights.iter_mut().zip(batch.iter()) {
            if let Some((source, pool, transport)) = plain4(packet.data()) {
                self.expect_flow(sight, transport, transport.id(source.to_bits(), pool.to_bits(), REPLY));
            }
        }
        for sight in sights.iter() {
            self.prefetch_flow(sight);
        }
        for sight in sights.iter() {
            if let Some(flow) = self.set.flow(sight.guess()) {
                hosts.prefetch_number(flow.id(FORWARD).saddr);
            }
        }
    }

    #[inline]
    fn expect_flow(&self, sight: &mut Sight<'t>, transport: Transport, id: FlowId) {
        let key = self.key(transport, id);
        (sight.key, sight.hash) = (Some(key), self.set.hash(key));
        sight.expect(self.set.index().home(self.turn, sight.hash));
    }

    #[inline]
    fn prefetch_flow(&self, sight: &Sight<'t>) {
        if let Some(flow) = self.set.flow(sight.guess()) {
            packet::prefetch(flow);
        }
    }

    /// Where a packet goes, who sends it, and its ports; none of one that takes another way.
    #[inline]
    fn plain6(&self, data: &[u8]) -> Option<(Ipv4Addr, Ipv6Addr, Transport)> {
        let (header, payload) = data.split_first_chunk::<{ ipv6::HEADER_LEN }>()?;
        let header = ipv6::Header::new(header);
        let remote = self.six.prefix.extract(header.dst())?;
        let transport = transport(header.next_header(), payload, true).ok()?;
        Some((remote, header.src(), transport))
    }
}

/// The same of IPv4.
#[inline]
fn plain4(data: &[u8]) -> Option<(Ipv4Addr, Ipv4Addr, Transport)> {
    let (header, payload) = data.split_first_chunk::<{ ipv4::HEADER_LEN }>()?;
    let header = ipv4::Header::new(header);
    let protocol = match header.protocol() {
        ip_proto::ICMP => ip_proto::ICMPV6,
        protocol => protocol,
    };
    let is_plain = header.header_len() == ipv4::HEADER_LEN && header.is_first_fragment();
    let transport = transport(protocol, payload, false).ok().filter(|_| is_plain)?;
    Some((header.src(), header.dst(), transport))
}

#[cfg(test)]
#[path = "ahead_tests.rs"]
mod tests;
