//! ICMP for IPv6 (RFC 4443) and neighbour discovery (RFC 4861).

use crate::checksum::{Sum, pseudo_v6};
use crate::field::{get_array, get_u8, get_u16, get_u32, set_array, set_u8, set_u16, set_u32, view};
use crate::{Error, MacAddr, ip_proto};
use std::net::Ipv6Addr;
use std::ops::{Deref, DerefMut};

/// Octets in the header that all messages share.
pub const HEADER_LEN: usize = 8;
/// Octets in a neighbour solicitation or advertisement before its options.
pub const NEIGHBOR_LEN: usize = 24;

/// Message types; errors are below 128.
pub mod kind {
    /// Destination unreachable.
    pub const UNREACHABLE: u8 = 1;
    /// Packet too big.
    pub const PACKET_TOO_BIG: u8 = 2;
    /// Time exceeded.
    pub const TIME_EXCEEDED: u8 = 3;
    /// Parameter problem.
    pub const PARAMETER_PROBLEM: u8 = 4;
    /// Echo request.
    pub const ECHO: u8 = 128;
    /// Echo reply.
    pub const ECHO_REPLY: u8 = 129;
    /// Multicast listener query.
    pub const LISTENER_QUERY: u8 = 130;
    /// Multicast listener report.
    pub const LISTENER_REPORT: u8 = 131;
    /// Multicast listener done.
    pub const LISTENER_DONE: u8 = 132;
    /// Router solicitation.
    pub const ROUTER_SOLICITATION: u8 = 133;
    /// Router advertisement.
    pub const ROUTER_ADVERTISEMENT: u8 = 134;
    /// Neighbour solicitation.
    pub const NEIGHBOR_SOLICITATION: u8 = 135;
    /// Neighbour advertisement.
    pub const NEIGHBOR_ADVERTISEMENT: u8 = 136;
    /// Redirect.
    pub const REDIRECT: u8 = 137;
}

/// Codes of [`kind::UNREACHABLE`].
pub mod unreachable {
    /// No route to the destination.
    pub const NO_ROUTE: u8 = 0;
    /// Administratively prohibited.
    pub const PROHIBITED: u8 = 1;
    /// Beyond the scope of the source address.
    pub const BEYOND_SCOPE: u8 = 2;
    /// Address unreachable.
    pub const ADDRESS: u8 = 3;
    /// Port unreachable.
    pub const PORT: u8 = 4;
    /// Source address failed ingress or egress policy.
    pub const SOURCE_POLICY: u8 = 5;
    /// Reject route to the destination.
    pub const REJECT_ROUTE: u8 = 6;
}

/// Codes of [`kind::TIME_EXCEEDED`].
pub mod time_exceeded {
    /// Hop limit reached zero in transit.
    pub const TRANSIT: u8 = 0;
    /// Reassembly took too long.
    pub const REASSEMBLY: u8 = 1;
}

/// Codes of [`kind::PARAMETER_PROBLEM`].
pub mod parameter_problem {
    /// Erroneous header field.
    pub const HEADER_FIELD: u8 = 0;
    /// Unrecognised next header.
    pub const NEXT_HEADER: u8 = 1;
    /// Unrecognised option.
    pub const OPTION: u8 = 2;
}

view! {
    /// The first eight octets of an ICMPv6 message.
    ///
    /// What the last four mean depends on the type: [`Header::id`] and [`Header::sequence`] for echoes;
    /// [`Header::rest`] is the MTU of packet too big and the pointer of a parameter problem.
    Header, HEADER_LEN
}

impl<B: Deref<Target = [u8; HEADER_LEN]>> Header<B> {
    /// Message type, see [`kind`].
    #[inline]
    pub fn kind(&self) -> u8 {
        get_u8::<0, _>(&self.0)
    }

    /// Code; its meaning depends on the type.
    #[inline]
    pub fn code(&self) -> u8 {
        get_u8::<1, _>(&self.0)
    }

    /// Checksum over pseudo-header and message.
    #[inline]
    pub fn checksum(&self) -> u16 {
        get_u16::<2, _>(&self.0)
    }

    /// The last four octets as one number: MTU in octets, or pointer.
    #[inline]
    pub fn rest(&self) -> u32 {
        get_u32::<4, _>(&self.0)
    }

    /// Identifier of an echo.
    #[inline]
    pub fn id(&self) -> u16 {
        get_u16::<4, _>(&self.0)
    }

    /// Sequence number of an echo.
    #[inline]
    pub fn sequence(&self) -> u16 {
        get_u16::<6, _>(&self.0)
    }

    /// Whether this is an error message, in answer to which none may be sent (RFC 4443, section 2.4).
    #[inline]
    pub fn is_error(&self) -> bool {
        self.kind() < 128
    }
}

impl<B: DerefMut<Target = [u8; HEADER_LEN]>> Header<B> {
    /// Sets the message type.
    #[inline]
    pub fn set_kind(&mut self, kind: u8) {
        set_u8::<0, _>(&mut self.0, kind);
    }

    /// Sets the code.
    #[inline]
    pub fn set_code(&mut self, code: u8) {
        set_u8::<1, _>(&mut self.0, code);
    }

    /// Sets the checksum.
    #[inline]
    pub fn set_checksum(&mut self, checksum: u16) {
        set_u16::<2, _>(&mut self.0, checksum);
    }

    /// Sets the last four octets as one number: MTU in octets, or pointer.
    #[inline]
    pub fn set_rest(&mut self, rest: u32) {
        set_u32::<4, _>(&mut self.0, rest);
    }

    /// Sets the identifier of an echo.
    #[inline]
    pub fn set_id(&mut self, id: u16) {
        set_u16::<4, _>(&mut self.0, id);
    }

    /// Sets the sequence number of an echo.
    #[inline]
    pub fn set_sequence(&mut self, sequence: u16) {
        set_u16::<6, _>(&mut self.0, sequence);
    }
}

/// Flag of a neighbour advertisement: the sender is a router.
pub const FLAG_ROUTER: u8 = 0x80;
/// Flag of a neighbour advertisement: it answers a solicitation.
pub const FLAG_SOLICITED: u8 = 0x40;
/// Flag of a neighbour advertisement: it overrides a cached link-layer address.
pub const FLAG_OVERRIDE: u8 = 0x20;

view! {
    /// A neighbour solicitation or advertisement, without its options (RFC 4861, sections 4.3 and 4.4).
    Neighbor, NEIGHBOR_LEN
}

impl<B: Deref<Target = [u8; NEIGHBOR_LEN]>> Neighbor<B> {
    /// Message type: [`kind::NEIGHBOR_SOLICITATION`] or [`kind::NEIGHBOR_ADVERTISEMENT`].
    #[inline]
    pub fn kind(&self) -> u8 {
        get_u8::<0, _>(&self.0)
    }

    /// Code; zero in a valid message.
    #[inline]
    pub fn code(&self) -> u8 {
        get_u8::<1, _>(&self.0)
    }

    /// Flags of an advertisement: [`FLAG_ROUTER`], [`FLAG_SOLICITED`], [`FLAG_OVERRIDE`].
    #[inline]
    pub fn flags(&self) -> u8 {
        get_u8::<4, _>(&self.0) & (FLAG_ROUTER | FLAG_SOLICITED | FLAG_OVERRIDE)
    }

    /// The address asked for or advertised.
    #[inline]
    pub fn target(&self) -> Ipv6Addr {
        Ipv6Addr::from(get_array::<8, 16, _>(&self.0))
    }
}

impl<B: DerefMut<Target = [u8; NEIGHBOR_LEN]>> Neighbor<B> {
    /// Sets message type and flags, and clears code, checksum and reserved bits.
    #[inline]
    pub fn set_kind_and_flags(&mut self, kind: u8, flags: u8) {
        set_array::<0, 8, _>(&mut self.0, [kind, 0, 0, 0, flags, 0, 0, 0]);
    }

    /// Sets the address asked for or advertised.
    #[inline]
    pub fn set_target(&mut self, addr: Ipv6Addr) {
        set_array::<8, 16, _>(&mut self.0, addr.octets());
    }
}

/// Types of neighbour discovery options (RFC 4861, section 4.6).
pub mod nd_option {
    /// Source link-layer address.
    pub const SOURCE_LINK_ADDR: u8 = 1;
    /// Target link-layer address.
    pub const TARGET_LINK_ADDR: u8 = 2;
    /// Prefix information.
    pub const PREFIX: u8 = 3;
    /// Redirected header.
    pub const REDIRECTED_HEADER: u8 = 4;
    /// MTU.
    pub const MTU: u8 = 5;
}

/// One neighbour discovery option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NdOption<'a> {
    /// Type, see [`nd_option`].
    pub kind: u8,
    /// What follows type and length: six octets, or six and a multiple of eight.
    pub data: &'a [u8],
}

impl NdOption<'_> {
    /// The Ethernet address in a source or target link-layer address option (RFC 2464, section 6).
    #[inline]
    pub fn link_addr(&self) -> Option<MacAddr> {
        let link = matches!(self.kind, nd_option::SOURCE_LINK_ADDR | nd_option::TARGET_LINK_ADDR);
        self.data.first_chunk().filter(|_| link && self.data.len() == 6).map(|&octets| MacAddr(octets))
    }
}

/// Walks neighbour discovery options; a malformed one is reported and ends the walk.
#[derive(Clone, Debug)]
pub struct NdOptions<'a> {
    rest: &'a [u8],
}

impl<'a> NdOptions<'a> {
    /// The options in `bytes`, which follow the fixed part of a message (at [`NEIGHBOR_LEN`] for neighbours).
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Self {
        NdOptions { rest: bytes }
    }
}

impl<'a> Iterator for NdOptions<'a> {
    type Item = Result<NdOption<'a>, Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let bytes = std::mem::take(&mut self.rest);
        if bytes.is_empty() {
            return None;
        }
        // A length of zero would never end: RFC 4861, section 4.6 has nodes discard such a packet.
        let len = bytes.get(1).map_or(0, |&units| usize::from(units) * 8);
        match bytes.split_at_checked(len) {
            Some(([kind, _, data @ ..], rest)) => {
                self.rest = rest;
                Some(Ok(NdOption { kind: *kind, data }))
            }
            _ => Some(Err(Error::BadOption)),
        }
    }
}

/// A link-layer address option of type `kind` for Ethernet.
#[inline]
pub fn link_addr_option(kind: u8, addr: MacAddr) -> [u8; 8] {
    let [a, b, c, d, e, f] = addr.0;
    [kind, 1, a, b, c, d, e, f]
}

/// Computes and stores the checksum of `message`, header and data, sent between two addresses.
///
/// # Errors
/// [`Error::Truncated`] without a header, [`Error::BadLength`] beyond 4 GiB.
#[inline]
pub fn fill_checksum(src: Ipv6Addr, dst: Ipv6Addr, message: &mut [u8]) -> Result<(), Error> {
    let len = u32::try_from(message.len()).map_err(|_| Error::BadLength)?;
    Header::new_checked(message)?;
    let sum = pseudo_v6(src, dst, ip_proto::ICMPV6, len).add(Sum::except(message, 2)).checksum();
    Header::new_checked_mut(message)?.set_checksum(sum);
    Ok(())
}

/// Checks the checksum of a received `message`, header and data.
///
/// # Errors
/// [`Error::Truncated`] without a header, [`Error::BadLength`] beyond 4 GiB, [`Error::BadChecksum`].
#[inline]
pub fn verify_checksum(src: Ipv6Addr, dst: Ipv6Addr, message: &[u8]) -> Result<(), Error> {
    Header::new_checked(message)?;
    let len = u32::try_from(message.len()).map_err(|_| Error::BadLength)?;
    let sum = pseudo_v6(src, dst, ip_proto::ICMPV6, len).add_bytes(message);
    if sum.is_all_ones() { Ok(()) } else { Err(Error::BadChecksum) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbor_solicitation_round_trip() {
        let src: Ipv6Addr = "fe80::1".parse().unwrap();
        let target: Ipv6Addr = "fe80::2".parse().unwrap();
        let mac = MacAddr([2, 0, 0, 0, 0, 1]);
        let mut message = [0xee; 32];
        let mut ns = Neighbor::new_checked_mut(&mut message).unwrap();
        ns.set_kind_and_flags(kind::NEIGHBOR_SOLICITATION, 0);
        ns.set_target(target);
        message[24..].copy_from_slice(&link_addr_option(nd_option::SOURCE_LINK_ADDR, mac));
        fill_checksum(src, target, &mut message).unwrap();

        // Source, destination, length, next header; then type, target and the option, word by word.
        let sum = [0xfe80u32, 1, 0xfe80, 2, 32, 58, 0x8700, 0xfe80, 2, 0x0101, 0x0200, 0, 1];
        let sum: u32 = sum.iter().sum();
        assert_eq!(Header::new_checked(&message).unwrap().checksum(), !((sum & 0xffff) + (sum >> 16)) as u16);
        assert_eq!(verify_checksum(src, target, &message), Ok(()));
        message[9] ^= 1;
        assert_eq!(verify_checksum(src, target, &message), Err(Error::BadChecksum));
        message[9] ^= 1;

        let ns = Neighbor::new_checked(&message).unwrap();
        assert_eq!((ns.kind(), ns.code(), ns.flags(), ns.target()), (135, 0, 0, target));
        let option = NdOptions::new(&message[NEIGHBOR_LEN..]).next().unwrap().unwrap();
        assert_eq!((option.kind, option.link_addr()), (1, Some(mac)));
    }

    #[test]
    fn malformed_options_end_the_walk() {
        for bytes in [&[1u8, 0, 0, 0, 0, 0, 0, 0][..], &[1], &[1, 2, 3, 4, 5, 6, 7, 8]] {
            let items: Vec<_> = NdOptions::new(bytes).collect();
            assert_eq!(items, [Err(Error::BadOption)], "{bytes:?}");
        }
        let two = [5, 1, 0, 0, 0, 0, 5, 0xdc, 14, 1, 1, 2, 3, 4, 5, 6];
        let kinds: Vec<_> = NdOptions::new(&two).map(|o| o.unwrap().kind).collect();
        assert_eq!(kinds, [nd_option::MTU, 14]);
        assert_eq!(NdOptions::new(&two).next().unwrap().unwrap().link_addr(), None);
    }
}
