//! What lies behind a packet's IPv4 header.

use packet::Packet;
use std::net::Ipv4Addr;
use wire::ipv4::{HEADER_LEN, Header};

/// The message that a packet carries, or the part of it that a fragment does.
pub(in super::super) struct Message {
    pub(in super::super) src: Ipv4Addr,
    pub(in super::super) dst: Ipv4Addr,
    pub(in super::super) protocol: u8,
    pub(in super::super) fragment: bool,
    /// Bytes of the IP header.
    pub(in super::super) start: usize,
    /// Bytes of header and message, as the header says: perhaps more than there are.
    pub(in super::super) end: usize,
}

impl Message {
    /// That of a packet with a marked and sensible IP header.
    #[inline]
    pub(in super::super) fn of(packet: &Packet) -> Option<Message> {
        let network = packet.network()?;
        let ip = Header::new_checked(network).ok()?;
        let (start, end) = (ip.header_len(), usize::from(ip.total_len()));
        let whole = start >= HEADER_LEN && start <= network.len() && start <= end;
        whole.then(|| Message {
            src: ip.src(),
            dst: ip.dst(),
            protocol: ip.protocol(),
            fragment: ip.is_fragment(),
            start,
            end,
        })
    }

    /// The bytes behind the IP header, without padding; none if some are missing.
    #[inline]
    pub(in super::super) fn bytes<'p>(&self, packet: &'p Packet) -> Option<&'p [u8]> {
        packet.network()?.get(self.start..self.end)
    }

    /// The same, writable.
    #[inline]
    pub(in super::super) fn bytes_mut<'p>(&self, packet: &'p mut Packet) -> Option<&'p mut [u8]> {
        packet.network_mut()?.get_mut(self.start..self.end)
    }
}
