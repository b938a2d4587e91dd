//! Frames of wireless networks (IEEE 802.11), and the elements of information in those that manage them.

use crate::MacAddr;
use crate::field::{get_array, get_u8, set_array, set_u8, view};
use std::ops::{Deref, DerefMut};

/// Octets of a header with three addresses.
pub const HEADER_LEN: usize = 24;
/// Octets of an address, the fourth for instance.
const ADDRESS_LEN: usize = 6;
/// Octets that frames of the quality-of-service kind have more.
const QOS_LEN: usize = 2;
/// The bit of a data frame's subtype that says so.
const QOS: u8 = 8;

/// Types of frames.
pub mod kind {
    /// Management.
    pub const MANAGEMENT: u8 = 0;
    /// Control.
    pub const CONTROL: u8 = 1;
    /// Data.
    pub const DATA: u8 = 2;
}

/// Subtypes of management frames.
pub mod management {
    /// A station wants to join.
    pub const ASSOCIATION_REQUEST: u8 = 0;
    /// The answer.
    pub const ASSOCIATION_RESPONSE: u8 = 1;
    /// A station that comes from another access point wants to join.
    pub const REASSOCIATION_REQUEST: u8 = 2;
    /// The answer.
    pub const REASSOCIATION_RESPONSE: u8 = 3;
    /// A station looks for networks.
    pub const PROBE_REQUEST: u8 = 4;
    /// The answer.
    pub const PROBE_RESPONSE: u8 = 5;
    /// An access point says that it is there.
    pub const BEACON: u8 = 8;
    /// There is traffic for one that sleeps.
    pub const ATIM: u8 = 9;
    /// A station leaves, or is told to.
    pub const DISASSOCIATION: u8 = 10;
    /// Who one is.
    pub const AUTHENTICATION: u8 = 11;
    /// One is that no longer.
    pub const DEAUTHENTICATION: u8 = 12;
}

/// Bits of the second octet.
pub mod flag {
    /// To an access point, and from one; both: between two, neither: between stations.
    pub const DIRECTION: u8 = 0x03;
    /// More fragments of the frame follow.
    pub const MORE_FRAGMENTS: u8 = 0x04;
    /// Sent again.
    pub const RETRY: u8 = 0x08;
    /// The rest is encrypted.
    pub const PROTECTED: u8 = 0x40;
}

/// Bits of what a station or an access point says of itself.
pub mod capability {
    /// It is an access point, or wants to join one.
    pub const INFRASTRUCTURE: u16 = 0x0001;
    /// Data frames are encrypted.
    pub const PRIVACY: u16 = 0x0010;
}

/// Ways to say who one is.
pub mod authentication {
    /// Without proof.
    pub const OPEN: u16 = 0;
    /// By a key that both know.
    pub const SHARED_KEY: u16 = 1;
}

/// Between which kinds of hosts a frame travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From station to station.
    Stations,
    /// To an access point.
    ToAccessPoint,
    /// From an access point.
    FromAccessPoint,
    /// Between access points.
    AccessPoints,
}

impl Direction {
    /// The direction that two bits mean.
    #[inline]
    pub fn new(bits: u8) -> Direction {
        match bits & flag::DIRECTION {
            0 => Direction::Stations,
            1 => Direction::ToAccessPoint,
            2 => Direction::FromAccessPoint,
            _ => Direction::AccessPoints,
        }
    }
}

/// Whom a frame is for, who sent it, and which network it is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// Destination.
    pub dst: MacAddr,
    /// Source.
    pub src: MacAddr,
    /// The network: the address of its access point.
    pub network: MacAddr,
}

impl Ends {
    /// In the order in which the header has them. Between access points the first two are those of this hop.
    #[inline]
    pub fn in_order(self, direction: Direction) -> [MacAddr; 3] {
        match direction {
            Direction::Stations | Direction::AccessPoints => [self.dst, self.src, self.network],
            Direction::ToAccessPoint => [self.network, self.src, self.dst],
            Direction::FromAccessPoint => [self.dst, self.network, self.src],
        }
    }
}

view! {
    /// The header of a management or data frame, without a fourth address.
    Header, HEADER_LEN
}

impl<B: Deref<Target = [u8; HEADER_LEN]>> Header<B> {
    /// What kind of frame it is ([`kind`]).
    #[inline]
    pub fn kind(&self) -> u8 {
        get_u8::<0, _>(&self.0) >> 2 & 3
    }

    /// What it is among its kind.
    #[inline]
    pub fn subtype(&self) -> u8 {
        get_u8::<0, _>(&self.0) >> 4
    }

    /// The second octet ([`flag`]).
    #[inline]
    pub fn flags(&self) -> u8 {
        get_u8::<1, _>(&self.0)
    }

    /// Where it goes.
    #[inline]
    pub fn direction(&self) -> Direction {
        Direction::new(self.flags())
    }

    /// How long the medium will be busy.
    #[inline]
    pub fn duration(&self) -> u16 {
        u16::from_le_bytes(get_array::<2, 2, _>(&self.0))
    }

    /// The addresses, in order.
    #[inline]
    pub fn addresses(&self) -> [MacAddr; 3] {
        [get_array::<4, 6, _>(&self.0), get_array::<10, 6, _>(&self.0), get_array::<16, 6, _>(&self.0)]
            .map(MacAddr)
    }

    /// What the addresses mean.
    #[inline]
    pub fn ends(&self) -> Ends {
        let [one, two, three] = self.addresses();
        match self.direction() {
            Direction::Stations | Direction::AccessPoints => Ends { dst: one, src: two, network: three },
            Direction::ToAccessPoint => Ends { network: one, src: two, dst: three },
            Direction::FromAccessPoint => Ends { dst: one, network: two, src: three },
        }
    }

    fn sequence_control(&self) -> u16 {
        u16::from_le_bytes(get_array::<22, 2, _>(&self.0))
    }

    /// Number of the frame.
    #[inline]
    pub fn sequence(&self) -> u16 {
        self.sequence_control() >> 4
    }

    /// Number of the fragment.
    #[inline]
    pub fn fragment(&self) -> u8 {
        (self.sequence_control() & 0xf) as u8
    }

    /// How long the header is.
    #[inline]
    pub fn header_len(&self) -> usize {
        let between = self.direction() == Direction::AccessPoints;
        let qos = self.kind() == kind::DATA && self.subtype() & QOS != 0;
        HEADER_LEN + if between { ADDRESS_LEN } else { 0 } + if qos { QOS_LEN } else { 0 }
    }
}

impl<B: DerefMut<Target = [u8; HEADER_LEN]>> Header<B> {
    /// Makes it the header of a data frame, with all that is not said 0.
    #[inline]
    pub fn set_data(&mut self, direction: Direction, ends: Ends) {
        self.set(kind::DATA << 2, direction, ends);
    }

    /// Makes it the header of a management frame ([`management`]), with all that is not said 0.
    pub fn set_management(&mut self, subtype: u8, ends: Ends) {
        self.set(subtype << 4 | kind::MANAGEMENT << 2, Direction::Stations, ends);
    }

    #[inline]
    fn set(&mut self, first: u8, direction: Direction, ends: Ends) {
        self.0.fill(0);
        set_u8::<0, _>(&mut self.0, first);
        set_u8::<1, _>(&mut self.0, direction as u8);
        let [one, two, three] = ends.in_order(direction).map(|address| address.octets());
        set_array::<4, 6, _>(&mut self.0, one);
        set_array::<10, 6, _>(&mut self.0, two);
        set_array::<16, 6, _>(&mut self.0, three);
    }

    /// Sets the second octet ([`flag`]).
    #[inline]
    pub fn set_flags(&mut self, flags: u8) {
        set_u8::<1, _>(&mut self.0, flags);
    }
}

/// Octets of the IEEE 802.2 header with a SNAP part between a frame's header and what it carries.
pub const SNAP_LEN: usize = 8;
/// How it begins where an Ethernet type follows.
pub const SNAP: [u8; SNAP_LEN - 2] = [0xaa, 0xaa, 3, 0, 0, 0];

/// Identifiers of elements of information.
pub mod element {
    /// Name of the network.
    pub const SSID: u8 = 0;
    /// Rates.
    pub const RATES: u8 = 1;
    /// Channel.
    pub const CHANNEL: u8 = 3;
    /// For which sleeping stations there is traffic.
    pub const TRAFFIC: u8 = 5;
    /// More rates.
    pub const MORE_RATES: u8 = 50;
}

/// The elements of information in bytes: identifier and contents of each, up to the first that is not whole.
pub fn elements(bytes: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let [id, len, after @ ..] = rest else { return None };
        let contents = after.get(..usize::from(*len))?;
        rest = &after[contents.len()..];
        Some((*id, contents))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_length_follow_the_direction() {
        let mut bytes = [0xff; HEADER_LEN];
        let [a, b, c] = [1, 2, 3].map(|n| MacAddr([n; 6]));
        let ends = Ends { dst: a, src: b, network: c };
        for (bits, order) in [(0, [a, b, c]), (1, [c, b, a]), (2, [a, c, b]), (3, [a, b, c])] {
            let mut header = Header::new(&mut bytes);
            header.set_data(Direction::new(bits), ends);
            assert_eq!((header.addresses(), header.ends(), header.flags()), (order, ends, bits));
            assert_eq!((header.kind(), header.subtype(), header.sequence()), (kind::DATA, 0, 0));
            assert_eq!(header.header_len(), if bits == 3 { 30 } else { 24 });
        }
        Header::new(&mut bytes).set_management(management::AUTHENTICATION, ends);
        let header = Header::new(&bytes);
        assert_eq!((bytes[0], bytes[1], header.addresses()), (0xb0, 0, [a, b, c]));
        bytes[0] = 0x88;
        Header::new(&mut bytes).set_flags(flag::DIRECTION);
        bytes[22..].copy_from_slice(&[0x25, 0x43]);
        let header = Header::new(&bytes);
        assert_eq!((header.header_len(), header.sequence(), header.fragment()), (32, 0x432, 5));
        bytes[0] = 0x80; // a beacon: no quality of service
        assert_eq!(Header::new(&bytes).header_len(), 30);
    }

    #[test]
    fn an_information_element_that_is_cut_off_is_left_out() {
        let bytes = [0, 2, b'h', b'i', 3, 1, 6, 1, 9, 2];
        assert_eq!(elements(&bytes).collect::<Vec<_>>(), [(0, &b"hi"[..]), (3, &[6])]);
        assert_eq!(elements(&[5]).count(), 0);
        assert_eq!(elements(&[5, 0]).count(), 1);
    }
}
