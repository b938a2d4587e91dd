//! Named annotations: places in a packet's 48 annotation bytes, with Click's offsets and names.
//!
//! Several names share bytes, as in Click; which of them a packet carries is a matter between the elements of a
//! configuration.

use crate::packet::{ANNO_BYTES, Packet};
use std::net::{Ipv4Addr, Ipv6Addr};

/// A place in the annotation area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anno {
    /// First byte.
    pub offset: usize,
    /// Bytes: 1, 2, 4, 8 or 16.
    pub size: usize,
}

macro_rules! places {
    ($($(#[$doc:meta])* $name:ident = $offset:literal, $size:literal;)*) => {
        impl Anno {
            $($(#[$doc])* pub const $name: Anno = Anno { offset: $offset, size: $size };)*

            /// Every named place, by Click's name without the suffix `_ANNO`.
            pub const NAMES: &[(&str, Anno)] = &[$((stringify!($name), Anno::$name)),*];
        }
    };
}

places! {
    /// Destination IPv4 address: where the packet goes next, a gateway perhaps.
    DST_IP = 0, 4;
    /// Destination IPv6 address.
    DST_IP6 = 0, 16;
    /// Colour, set by Paint.
    PAINT = 16, 1;
    /// Where the offending byte is, for ICMP parameter problems.
    ICMP_PARAMPROB = 17, 1;
    /// Whether FixIPSrc should set the source address.
    FIX_IP_SRC = 19, 1;
    /// VLAN tag control information, in network order.
    VLAN_TCI = 20, 2;
    /// Aggregate (flow group) number.
    AGGREGATE = 20, 4;
    /// Forward rate.
    FWD_RATE = 20, 4;
    /// Miscellaneous IPv4 address.
    MISC_IP = 20, 4;
    /// How many more packets this packet stands for.
    EXTRA_PACKETS = 24, 4;
    /// Reverse rate.
    REV_RATE = 24, 4;
    /// Send error.
    SEND_ERR = 26, 1;
    /// State of IPReassembler.
    IPREASSEMBLER = 28, 4;
    /// Bytes that the packet stands for beyond its data.
    EXTRA_LENGTH = 28, 4;
    /// Time of the first packet of an aggregate.
    FIRST_TIMESTAMP = 32, 8;
    /// Packet number.
    PACKET_NUMBER = 32, 4;
    /// Security parameter index.
    IPSEC_SPI = 32, 4;
    /// Sequence number.
    SEQUENCE_NUMBER = 36, 4;
    /// Security association.
    IPSEC_SA_DATA_REFERENCE = 40, 8;
    /// Performance counter.
    PERFCTR = 40, 8;
}

impl Anno {
    /// A place of one's own choice; `None` unless it lies inside the area and has a size that integers have.
    pub fn new(offset: usize, size: usize) -> Option<Anno> {
        (matches!(size, 1 | 2 | 4 | 8 | 16) && offset <= ANNO_BYTES - size).then_some(Anno { offset, size })
    }

    /// The place with a Click name, with or without the suffix `_ANNO`.
    pub fn named(name: &str) -> Option<Anno> {
        let name = name.strip_suffix("_ANNO").unwrap_or(name);
        Anno::NAMES.iter().find(|(known, _)| *known == name).map(|(_, anno)| *anno)
    }
}

impl Packet {
    #[inline]
    fn anno_bytes<const N: usize>(&self, offset: usize) -> [u8; N] {
        // Offsets are constants below the area's size wherever this is inlined; the fallback costs nothing then.
        self.annotations()[offset..].first_chunk().copied().unwrap_or([0; N])
    }

    #[inline]
    fn set_anno_bytes<const N: usize>(&mut self, offset: usize, bytes: [u8; N]) {
        if let Some(place) = self.annotations_mut()[offset..].first_chunk_mut() {
            *place = bytes;
        }
    }

    /// The value at a place, as an unsigned integer in host order (the first 8 bytes of a larger place).
    #[inline]
    pub fn anno(&self, at: Anno) -> u64 {
        match at.size {
            1 => u64::from(self.annotations()[at.offset]),
            2 => u64::from(u16::from_ne_bytes(self.anno_bytes(at.offset))),
            4 => u64::from(u32::from_ne_bytes(self.anno_bytes(at.offset))),
            _ => u64::from_ne_bytes(self.anno_bytes(at.offset)),
        }
    }

    /// Sets the value at a place, cut to its size.
    #[inline]
    pub fn set_anno(&mut self, at: Anno, value: u64) {
        match at.size {
            1 => self.annotations_mut()[at.offset] = value as u8,
            2 => self.set_anno_bytes(at.offset, (value as u16).to_ne_bytes()),
            4 => self.set_anno_bytes(at.offset, (value as u32).to_ne_bytes()),
            _ => self.set_anno_bytes(at.offset, value.to_ne_bytes()),
        }
    }

    /// The destination IPv4 annotation.
    #[inline]
    pub fn dst_ip(&self) -> Ipv4Addr {
        Ipv4Addr::from(self.anno_bytes::<4>(Anno::DST_IP.offset))
    }

    /// Sets the destination IPv4 annotation.
    #[inline]
    pub fn set_dst_ip(&mut self, address: Ipv4Addr) {
        self.set_anno_bytes(Anno::DST_IP.offset, address.octets());
    }

    /// The destination IPv6 annotation.
    #[inline]
    pub fn dst_ip6(&self) -> Ipv6Addr {
        Ipv6Addr::from(self.anno_bytes::<16>(Anno::DST_IP6.offset))
    }

    /// Sets the destination IPv6 annotation.
    #[inline]
    pub fn set_dst_ip6(&mut self, address: Ipv6Addr) {
        self.set_anno_bytes(Anno::DST_IP6.offset, address.octets());
    }

    /// The colour.
    #[inline]
    pub fn paint(&self) -> u8 {
        self.anno(Anno::PAINT) as u8
    }

    /// Sets the colour.
    #[inline]
    pub fn set_paint(&mut self, colour: u8) {
        self.set_anno(Anno::PAINT, u64::from(colour));
    }
}
