//! ARP for IPv4 over Ethernet (RFC 826).

use crate::ethernet::ether_type;
use crate::field::{get_array, get_u16, get_u64, set_array, set_u16, view};
use crate::{Error, MacAddr};
use std::net::Ipv4Addr;
use std::ops::{Deref, DerefMut};

/// Octets in an ARP packet for IPv4 over Ethernet.
pub const PACKET_LEN: usize = 28;

/// Operation: who has the target address?
pub const REQUEST: u16 = 1;
/// Operation: the sender has its address.
pub const REPLY: u16 = 2;

/// Hardware type 1 (Ethernet), protocol type IPv4, address lengths 6 and 4.
const ETHERNET_IPV4: [u8; 6] = [0, 1, (ether_type::IPV4 >> 8) as u8, (ether_type::IPV4 & 0xff) as u8, 6, 4];

view! {
    /// An ARP packet for IPv4 over Ethernet; [`check`] makes sure that it is one.
    Packet, PACKET_LEN
}

impl<B: Deref<Target = [u8; PACKET_LEN]>> Packet<B> {
    /// Whether the type and length fields announce IPv4 over Ethernet, which the accessors assume.
    #[inline]
    pub fn is_ethernet_ipv4(&self) -> bool {
        // One load and compare; the operation, in the low 16 bits, is not looked at.
        let [a, b, c, d, e, f] = ETHERNET_IPV4;
        get_u64::<0, _>(&self.0) >> 16 == u64::from_be_bytes([0, 0, a, b, c, d, e, f])
    }

    /// Operation: [`REQUEST`], [`REPLY`] or another.
    #[inline]
    pub fn operation(&self) -> u16 {
        get_u16::<6, _>(&self.0)
    }

    /// Sender's Ethernet address.
    #[inline]
    pub fn sender_mac(&self) -> MacAddr {
        MacAddr(get_array::<8, 6, _>(&self.0))
    }

    /// Sender's IPv4 address.
    #[inline]
    pub fn sender_ip(&self) -> Ipv4Addr {
        Ipv4Addr::from(get_array::<14, 4, _>(&self.0))
    }

    /// Target's Ethernet address; meaningless in a request.
    #[inline]
    pub fn target_mac(&self) -> MacAddr {
        MacAddr(get_array::<18, 6, _>(&self.0))
    }

    /// Target's IPv4 address.
    #[inline]
    pub fn target_ip(&self) -> Ipv4Addr {
        Ipv4Addr::from(get_array::<24, 4, _>(&self.0))
    }
}

impl<B: DerefMut<Target = [u8; PACKET_LEN]>> Packet<B> {
    /// Sets the type and length fields and the operation.
    #[inline]
    pub fn set_operation(&mut self, operation: u16) {
        set_array::<0, 6, _>(&mut self.0, ETHERNET_IPV4);
        set_u16::<6, _>(&mut self.0, operation);
    }

    /// Sets the sender's addresses.
    #[inline]
    pub fn set_sender(&mut self, mac: MacAddr, ip: Ipv4Addr) {
        set_array::<8, 6, _>(&mut self.0, mac.0);
        set_array::<14, 4, _>(&mut self.0, ip.octets());
    }

    /// Sets the target's addresses.
    #[inline]
    pub fn set_target(&mut self, mac: MacAddr, ip: Ipv4Addr) {
        set_array::<18, 6, _>(&mut self.0, mac.0);
        set_array::<24, 4, _>(&mut self.0, ip.octets());
    }
}

/// Views `bytes` as an ARP packet for IPv4 over Ethernet.
///
/// # Errors
/// [`Error::Truncated`] if it is too short, [`Error::BadField`] if it is about other protocols.
#[inline]
pub fn check(bytes: &[u8]) -> Result<Packet<&[u8; PACKET_LEN]>, Error> {
    let packet = Packet::new_checked(bytes)?;
    if packet.is_ethernet_ipv4() { Ok(packet) } else { Err(Error::BadField) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_written_and_read_back() {
        let (a, b) = (MacAddr([2, 0, 0, 0, 0, 1]), MacAddr([2, 0, 0, 0, 0, 2]));
        let (x, y) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
        let mut bytes = [0xee; PACKET_LEN];
        let mut p = Packet::new(&mut bytes);
        p.set_operation(REPLY);
        p.set_sender(a, x);
        p.set_target(b, y);
        assert_eq!(bytes[..14], [0, 1, 8, 0, 6, 4, 0, 2, 2, 0, 0, 0, 0, 1]);
        assert_eq!(bytes[14..], [10, 0, 0, 1, 2, 0, 0, 0, 0, 2, 10, 0, 0, 2]);
        let p = check(&bytes).unwrap();
        assert_eq!((p.operation(), p.sender_mac(), p.sender_ip()), (REPLY, a, x));
        assert_eq!((p.target_mac(), p.target_ip()), (b, y));
        for field in 0..6 {
            let mut other = bytes;
            other[field] ^= 0x10;
            assert_eq!(check(&other), Err(Error::BadField), "{field}");
        }
        assert_eq!(check(&bytes[..27]), Err(Error::Truncated));
    }
}
