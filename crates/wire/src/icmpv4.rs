//! ICMP for IPv4 (RFC 792, 1191, 1256, 1812).

use crate::Error;
use crate::checksum::{self, Sum};
use crate::field::{get_array, get_u8, get_u16, get_u32, set_array, set_u8, set_u16, set_u32, view};
use std::net::Ipv4Addr;
use std::ops::{Deref, DerefMut};

/// Octets in the header that all messages share.
pub const HEADER_LEN: usize = 8;

/// Message types.
pub mod kind {
    /// Echo reply.
    pub const ECHO_REPLY: u8 = 0;
    /// Destination unreachable.
    pub const UNREACHABLE: u8 = 3;
    /// Source quench (deprecated by RFC 6633).
    pub const SOURCE_QUENCH: u8 = 4;
    /// Redirect.
    pub const REDIRECT: u8 = 5;
    /// Echo request.
    pub const ECHO: u8 = 8;
    /// Router advertisement.
    pub const ROUTER_ADVERTISEMENT: u8 = 9;
    /// Router solicitation.
    pub const ROUTER_SOLICITATION: u8 = 10;
    /// Time exceeded.
    pub const TIME_EXCEEDED: u8 = 11;
    /// Parameter problem.
    pub const PARAMETER_PROBLEM: u8 = 12;
    /// Timestamp request.
    pub const TIMESTAMP: u8 = 13;
    /// Timestamp reply.
    pub const TIMESTAMP_REPLY: u8 = 14;
    /// Information request (deprecated by RFC 6918).
    pub const INFORMATION_REQUEST: u8 = 15;
    /// Information reply (deprecated by RFC 6918).
    pub const INFORMATION_REPLY: u8 = 16;
    /// Address mask request (deprecated by RFC 6918).
    pub const MASK_REQUEST: u8 = 17;
    /// Address mask reply (deprecated by RFC 6918).
    pub const MASK_REPLY: u8 = 18;
}

/// Codes of [`kind::UNREACHABLE`].
pub mod unreachable {
    /// Network unreachable.
    pub const NET: u8 = 0;
    /// Host unreachable.
    pub const HOST: u8 = 1;
    /// Protocol unreachable.
    pub const PROTOCOL: u8 = 2;
    /// Port unreachable.
    pub const PORT: u8 = 3;
    /// Fragmentation needed and don't-fragment set.
    pub const FRAGMENTATION_NEEDED: u8 = 4;
    /// Source route failed.
    pub const SOURCE_ROUTE_FAILED: u8 = 5;
    /// Destination network unknown.
    pub const NET_UNKNOWN: u8 = 6;
    /// Destination host unknown.
    pub const HOST_UNKNOWN: u8 = 7;
    /// Source host isolated.
    pub const ISOLATED: u8 = 8;
    /// Network administratively prohibited.
    pub const NET_PROHIBITED: u8 = 9;
    /// Host administratively prohibited.
    pub const HOST_PROHIBITED: u8 = 10;
    /// Network unreachable for the type of service.
    pub const NET_TOS: u8 = 11;
    /// Host unreachable for the type of service.
    pub const HOST_TOS: u8 = 12;
    /// Communication administratively prohibited by a filter.
    pub const FILTER_PROHIBITED: u8 = 13;
    /// Host precedence violation.
    pub const HOST_PRECEDENCE: u8 = 14;
    /// Precedence cutoff in effect.
    pub const PRECEDENCE_CUTOFF: u8 = 15;
}

/// Codes of [`kind::REDIRECT`].
pub mod redirect {
    /// For the network.
    pub const NET: u8 = 0;
    /// For the host.
    pub const HOST: u8 = 1;
    /// For the type of service and network.
    pub const NET_TOS: u8 = 2;
    /// For the type of service and host.
    pub const HOST_TOS: u8 = 3;
}

/// Codes of [`kind::TIME_EXCEEDED`].
pub mod time_exceeded {
    /// Time to live reached zero in transit.
    pub const TRANSIT: u8 = 0;
    /// Reassembly took too long.
    pub const REASSEMBLY: u8 = 1;
}

/// Codes of [`kind::PARAMETER_PROBLEM`].
pub mod parameter_problem {
    /// The pointer names the octet in error.
    pub const POINTER: u8 = 0;
    /// A required option is missing.
    pub const MISSING_OPTION: u8 = 1;
    /// Bad length.
    pub const LENGTH: u8 = 2;
}

view! {
    /// The first eight octets of an ICMP message.
    ///
    /// What the last four mean depends on the type: [`Header::id`] and [`Header::sequence`] for requests and
    /// replies, [`Header::gateway`] for redirects, [`Header::pointer`] for parameter problems,
    /// [`Header::next_hop_mtu`] for fragmentation needed.
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

    /// Both: one load, since they are neighbours.
    #[inline]
    fn kind_and_code(&self) -> [u8; 2] {
        get_array::<0, 2, _>(&self.0)
    }

    /// Checksum over the whole message.
    #[inline]
    pub fn checksum(&self) -> u16 {
        get_u16::<2, _>(&self.0)
    }

    /// The last four octets as one number.
    #[inline]
    pub fn rest(&self) -> u32 {
        get_u32::<4, _>(&self.0)
    }

    /// Identifier of a request or reply.
    #[inline]
    pub fn id(&self) -> u16 {
        get_u16::<4, _>(&self.0)
    }

    /// Sequence number of a request or reply.
    #[inline]
    pub fn sequence(&self) -> u16 {
        get_u16::<6, _>(&self.0)
    }

    /// Better gateway, of a redirect.
    #[inline]
    pub fn gateway(&self) -> Ipv4Addr {
        Ipv4Addr::from(get_array::<4, 4, _>(&self.0))
    }

    /// Offset of the octet in error, of a parameter problem.
    #[inline]
    pub fn pointer(&self) -> u8 {
        get_u8::<4, _>(&self.0)
    }

    /// Largest packet that the next hop takes, of fragmentation needed (RFC 1191, section 4).
    #[inline]
    pub fn next_hop_mtu(&self) -> u16 {
        get_u16::<6, _>(&self.0)
    }

    /// Whether this is an error message; see [`is_error`].
    #[inline]
    pub fn is_error(&self) -> bool {
        is_error(self.kind())
    }
}

impl<B: DerefMut<Target = [u8; HEADER_LEN]>> Header<B> {
    /// Sets the message type.
    #[inline]
    pub fn set_kind(&mut self, kind: u8) {
        set_u8::<0, _>(&mut self.0, kind);
    }

    /// Makes an echo request the reply, with code 0, and updates the checksum.
    #[inline]
    pub fn answer_echo(&mut self) {
        const { assert!(kind::ECHO_REPLY == 0) };
        // Zeros come in the place of type and code. One's complement sums are the same in any order of the bytes.
        let [old, checksum] = [self.kind_and_code(), get_array::<2, 2, _>(&self.0)].map(u16::from_le_bytes);
        let checksum = checksum::add_to_complement(checksum, !old);
        set_array::<0, 2, _>(&mut self.0, [kind::ECHO_REPLY, 0]);
        set_array::<2, 2, _>(&mut self.0, checksum.to_le_bytes());
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

    /// Sets the last four octets as one number.
    #[inline]
    pub fn set_rest(&mut self, rest: u32) {
        set_u32::<4, _>(&mut self.0, rest);
    }

    /// Sets the identifier of a request or reply.
    #[inline]
    pub fn set_id(&mut self, id: u16) {
        set_u16::<4, _>(&mut self.0, id);
    }

    /// Sets the sequence number of a request or reply.
    #[inline]
    pub fn set_sequence(&mut self, sequence: u16) {
        set_u16::<6, _>(&mut self.0, sequence);
    }

    /// Sets the better gateway of a redirect.
    #[inline]
    pub fn set_gateway(&mut self, addr: Ipv4Addr) {
        set_array::<4, 4, _>(&mut self.0, addr.octets());
    }

    /// Sets the offset of the octet in error of a parameter problem.
    #[inline]
    pub fn set_pointer(&mut self, pointer: u8) {
        set_u8::<4, _>(&mut self.0, pointer);
    }

    /// Sets the next hop's MTU of fragmentation needed.
    #[inline]
    pub fn set_next_hop_mtu(&mut self, mtu: u16) {
        set_u16::<6, _>(&mut self.0, mtu);
    }
}

/// Whether messages of a type are errors, in answer to which none may be sent (RFC 1122, section 3.2.2).
#[inline]
pub fn is_error(kind: u8) -> bool {
    matches!(
        kind,
        kind::UNREACHABLE
            | kind::SOURCE_QUENCH
            | kind::REDIRECT
            | kind::TIME_EXCEEDED
            | kind::PARAMETER_PROBLEM
    )
}

/// Computes and stores the checksum of `message`, header and data.
///
/// # Errors
/// [`Error::Truncated`] without a header.
#[inline]
pub fn fill_checksum(message: &mut [u8]) -> Result<(), Error> {
    Header::new_checked(message)?;
    let sum = Sum::except(message, 2).checksum();
    Header::new_checked_mut(message)?.set_checksum(sum);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn echo_fields_and_checksum() {
        let mut message = *b"\x08\x00\xff\xff\x12\x34\x00\x01abc";
        fill_checksum(&mut message).unwrap();
        // 0x0800 + 0x1234 + 0x0001 + 0x6162 + 0x6300 = 0xde97
        let h = Header::new_checked(&message).unwrap();
        assert_eq!((h.kind(), h.code(), h.checksum()), (kind::ECHO, 0, !0xde97));
        assert_eq!((h.id(), h.sequence(), h.rest()), (0x1234, 1, 0x1234_0001));
        assert!(crate::checksum::verify(&message) && !h.is_error());
        assert_eq!(fill_checksum(&mut message[..7]), Err(Error::Truncated));
    }

    #[test]
    fn an_echo_is_answered() {
        for code in [0, 7, 255] {
            let mut message = [kind::ECHO, code, 0, 0, 0x12, 0x34, 0, 1, code, 0xfe];
            fill_checksum(&mut message).unwrap();
            let mut header = Header::new_checked_mut(&mut message).unwrap();
            header.answer_echo();
            assert_eq!((header.kind(), header.code(), header.id()), (kind::ECHO_REPLY, 0, 0x1234));
            assert!(crate::checksum::verify(&message));
        }
    }

    #[test]
    fn the_rest_by_message_type() {
        let mut bytes = [0; HEADER_LEN];
        let mut h = Header::new(&mut bytes);
        h.set_kind(kind::REDIRECT);
        h.set_gateway(Ipv4Addr::new(10, 1, 2, 3));
        assert!(h.is_error());
        assert_eq!(h.rest(), 0x0a01_0203);
        h.set_rest(0);
        h.set_next_hop_mtu(1400);
        assert_eq!((h.rest(), h.next_hop_mtu()), (1400, 1400));
        h.set_pointer(20);
        assert_eq!(bytes, [5, 0, 0, 0, 20, 0, 5, 0x78]);
    }
}
