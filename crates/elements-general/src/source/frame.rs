//! The headers that are the same for all frames of a source.

use packet::Packet;
use router::{Config, ConfigError, FromArg};
use std::net::{Ipv4Addr, Ipv6Addr};
use wire::checksum::{Sum, pseudo_v4, pseudo_v6};
use wire::ethernet::{self, MacAddr};
use wire::{ipv4, ipv6, udp};

const LEAST_LENGTH: u32 = 60;
const TTL: u8 = 250;

/// Where packets are from and where they go.
#[derive(Clone, Copy)]
pub(super) enum Ends {
    V4(Ipv4Addr, Ipv4Addr),
    V6(Ipv6Addr, Ipv6Addr),
}

impl Ends {
    /// Bytes of the IP header.
    pub(super) fn header_len(self) -> usize {
        match self {
            Ends::V4(..) => ipv4::HEADER_LEN,
            Ends::V6(..) => ipv6::HEADER_LEN,
        }
    }

    /// Where the transport header is.
    pub(super) fn transport_at(self) -> usize {
        ethernet::HEADER_LEN + self.header_len()
    }

    /// Says where the IP header of a packet is, and where the packet goes.
    #[inline]
    pub(super) fn mark(self, packet: &mut Packet) {
        packet.set_network(ethernet::HEADER_LEN as isize, self.header_len());
        match self {
            Ends::V4(_, dst) => packet.set_dst_ip(dst),
            Ends::V6(_, dst) => packet.set_dst_ip6(dst),
        }
    }

    /// What checksums of the transport protocol begin with.
    pub(super) fn pseudo_header(self, protocol: u8, len: u16) -> Sum {
        match self {
            Ends::V4(src, dst) => pseudo_v4(src, dst, protocol, len),
            Ends::V6(src, dst) => pseudo_v6(src, dst, protocol, len.into()),
        }
    }

    /// Bytes that a frame has at least, and at most.
    pub(super) fn lengths(self) -> (u32, usize) {
        match self {
            Ends::V4(..) => (LEAST_LENGTH, ethernet::HEADER_LEN + usize::from(u16::MAX)),
            Ends::V6(..) => {
                ((self.transport_at() + udp::HEADER_LEN) as u32, self.transport_at() + usize::from(u16::MAX))
            }
        }
    }

    /// The length of frames that are to have this one, as an argument says: longer if headers need more, which is warned of.
    ///
    /// # Errors
    /// No packet can be so long.
    pub(super) fn length(self, config: &mut Config<'_>, wanted: u32) -> Result<usize, ConfigError> {
        let (least, most) = self.lengths();
        if wanted < least {
            config.warn(format!("packet length < {least}, defaulting to {least}"));
        }
        let length = wanted.max(least) as usize;
        if length > most { Err("LENGTH: more than an IP packet can have".into()) } else { Ok(length) }
    }
}

/// An address that is one end of [`Ends`].
pub(super) trait End: FromArg + Copy {
    const NONE: Self;
    fn ends(src: Self, dst: Self) -> Ends;
}

impl End for Ipv4Addr {
    const NONE: Self = Ipv4Addr::UNSPECIFIED;

    fn ends(src: Self, dst: Self) -> Ends {
        Ends::V4(src, dst)
    }
}

impl End for Ipv6Addr {
    const NONE: Self = Ipv6Addr::UNSPECIFIED;

    fn ends(src: Self, dst: Self) -> Ends {
        Ends::V6(src, dst)
    }
}

/// A frame of zeros behind Ethernet and IP headers from the first address to the second one.
pub(super) fn headers(length: usize, macs: (MacAddr, MacAddr), ends: Ends, protocol: u8) -> Vec<u8> {
    let mut frame = vec![0; length];
    let (link, packet) = frame.split_at_mut(ethernet::HEADER_LEN);
    let (ip_len, payload_len) = (packet.len(), packet.len() - ends.header_len());
    let ether_type = match ends {
        Ends::V4(src, dst) => {
            if let Ok(mut ip) = ipv4::Header::new_checked_mut(packet) {
                ip.set_version_and_header_len(ipv4::HEADER_LEN);
                ip.set_total_len(ip_len as u16);
                ip.set_ttl(TTL);
                ip.set_protocol(protocol);
                ip.set_src(src);
                ip.set_dst(dst);
                ip.fill_checksum();
            }
            ethernet::ether_type::IPV4
        }
        Ends::V6(src, dst) => {
            if let Ok(mut ip) = ipv6::Header::new_checked_mut(packet) {
                ip.set_version_class_flow(0, 0);
                ip.set_payload_len(payload_len as u16);
                ip.set_next_header(protocol);
                ip.set_hop_limit(TTL);
                ip.set_src(src);
                ip.set_dst(dst);
            }
            ethernet::ether_type::IPV6
        }
    };
    link.copy_from_slice(&ethernet::header(macs.1, macs.0, ether_type));
    frame
}
