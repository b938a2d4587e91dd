//! Ethernet II frames and Ethernet addresses.

use crate::ParseError;
use crate::field::{get_array, get_u16, set_array, set_u16, view};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::str::FromStr;

/// Octets in an Ethernet header without a VLAN tag.
pub const HEADER_LEN: usize = 14;

/// Values of the type field, in host order.
pub mod ether_type {
    /// IPv4.
    pub const IPV4: u16 = 0x0800;
    /// Address resolution protocol.
    pub const ARP: u16 = 0x0806;
    /// IEEE 802.1Q VLAN tag.
    pub const VLAN: u16 = 0x8100;
    /// IPv6.
    pub const IPV6: u16 = 0x86dd;
    /// Ethernet flow control (pause).
    pub const MAC_CONTROL: u16 = 0x8808;
    /// PPPoE discovery.
    pub const PPPOE_DISCOVERY: u16 = 0x8863;
    /// PPPoE session.
    pub const PPPOE_SESSION: u16 = 0x8864;
    /// MPLS, unicast.
    pub const MPLS: u16 = 0x8847;
    /// IEEE 802.1ad service tag (outer tag of two).
    pub const QINQ: u16 = 0x88a8;
    /// Link layer discovery protocol.
    pub const LLDP: u16 = 0x88cc;
    /// Smallest value that is a type; below it the field is an IEEE 802.3 length.
    pub const MIN: u16 = 0x0600;
}

/// A 48-bit Ethernet address.
///
/// Prints as Click does (`00-01-02-0A-BC-EF`); `{:#}` prints colons. Parses one or two hexadecimal digits an
/// octet, separated by `-` or `:` but not both.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct MacAddr(pub [u8; 6]);

impl MacAddr {
    /// `FF-FF-FF-FF-FF-FF`.
    pub const BROADCAST: MacAddr = MacAddr([0xff; 6]);
    /// `00-00-00-00-00-00`.
    pub const ZERO: MacAddr = MacAddr([0; 6]);

    /// The six octets.
    #[inline]
    pub const fn octets(self) -> [u8; 6] {
        self.0
    }

    /// Whether this is the broadcast address.
    #[inline]
    pub fn is_broadcast(self) -> bool {
        self == Self::BROADCAST
    }

    /// Whether the group bit is set: multicast, broadcast included.
    #[inline]
    pub const fn is_group(self) -> bool {
        self.0[0] & 1 != 0
    }

    /// Whether the address was assigned locally rather than by a manufacturer.
    #[inline]
    pub const fn is_local(self) -> bool {
        self.0[0] & 2 != 0
    }

    /// The group address that carries the IPv4 multicast group `group` (RFC 1112, section 6.4).
    #[inline]
    pub const fn from_ipv4_multicast(group: std::net::Ipv4Addr) -> MacAddr {
        let [_, b, c, d] = group.octets();
        MacAddr([0x01, 0x00, 0x5e, b & 0x7f, c, d])
    }

    /// The group address that carries the IPv6 multicast group `group` (RFC 2464, section 7).
    #[inline]
    pub const fn from_ipv6_multicast(group: std::net::Ipv6Addr) -> MacAddr {
        let o = group.octets();
        MacAddr([0x33, 0x33, o[12], o[13], o[14], o[15]])
    }
}

impl fmt::Display for MacAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sep = if f.alternate() { ':' } else { '-' };
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02X}{sep}{b:02X}{sep}{c:02X}{sep}{d:02X}{sep}{e:02X}{sep}{g:02X}")
    }
}

impl fmt::Debug for MacAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl From<[u8; 6]> for MacAddr {
    fn from(octets: [u8; 6]) -> Self {
        MacAddr(octets)
    }
}

impl FromStr for MacAddr {
    type Err = ParseError;

    fn from_str(s: &str) -> Result<Self, ParseError> {
        let sep = if s.contains(':') { ':' } else { '-' };
        let mut octets = [0; 6];
        let mut parts = s.split(sep);
        for octet in &mut octets {
            *octet = parts.next().and_then(hex_octet).ok_or(ParseError::MacAddr)?;
        }
        if parts.next().is_some() { Err(ParseError::MacAddr) } else { Ok(MacAddr(octets)) }
    }
}

/// One or two hexadecimal digits; unlike `from_str_radix`, no sign.
fn hex_octet(s: &str) -> Option<u8> {
    let ok = matches!(s.len(), 1 | 2) && s.bytes().all(|b| b.is_ascii_hexdigit());
    if ok { u8::from_str_radix(s, 16).ok() } else { None }
}

view! {
    /// An Ethernet header: destination, source, type.
    Header, HEADER_LEN
}

impl<B: Deref<Target = [u8; HEADER_LEN]>> Header<B> {
    /// Destination address.
    #[inline]
    pub fn dst(&self) -> MacAddr {
        MacAddr(get_array::<0, 6, _>(&self.0))
    }

    /// Source address.
    #[inline]
    pub fn src(&self) -> MacAddr {
        MacAddr(get_array::<6, 6, _>(&self.0))
    }

    /// Type of the payload, see [`ether_type`]; a length if below [`ether_type::MIN`].
    #[inline]
    pub fn ether_type(&self) -> u16 {
        get_u16::<12, _>(&self.0)
    }
}

impl<B: DerefMut<Target = [u8; HEADER_LEN]>> Header<B> {
    /// Sets the destination address.
    #[inline]
    pub fn set_dst(&mut self, addr: MacAddr) {
        set_array::<0, 6, _>(&mut self.0, addr.0);
    }

    /// Sets the source address.
    #[inline]
    pub fn set_src(&mut self, addr: MacAddr) {
        set_array::<6, 6, _>(&mut self.0, addr.0);
    }

    /// Sets the type field.
    #[inline]
    pub fn set_ether_type(&mut self, ether_type: u16) {
        set_u16::<12, _>(&mut self.0, ether_type);
    }
}

/// The header with these fields, ready to be put before a payload.
#[inline]
pub fn header(dst: MacAddr, src: MacAddr, ether_type: u16) -> [u8; HEADER_LEN] {
    let mut bytes = [0; HEADER_LEN];
    let mut h = Header::new(&mut bytes);
    h.set_dst(dst);
    h.set_src(src);
    h.set_ether_type(ether_type);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_and_parses_as_click() {
        let mac = MacAddr([0, 1, 2, 10, 0xbc, 0xef]);
        assert_eq!(mac.to_string(), "00-01-02-0A-BC-EF");
        assert_eq!(format!("{mac:#}"), "00:01:02:0A:BC:EF");
        for text in ["00-01-02-0A-BC-EF", "0:1:2:a:bc:ef", "00:01:02:0a:BC:eF"] {
            assert_eq!(text.parse(), Ok(mac), "{text}");
        }
        for text in [
            "",
            "0:1:2:a:bc",
            "0:1:2:a:bc:ef:1",
            "0:1-2:a:bc:ef",
            "000:1:2:a:bc:ef",
            "+0:1:2:a:bc:ef",
            "0:1:2:a:bc:",
            "é:1:2:3:4:5",
        ] {
            assert_eq!(text.parse::<MacAddr>(), Err(ParseError::MacAddr), "{text}");
        }
    }

    #[test]
    fn fields_lie_where_the_standard_puts_them() {
        let dst = MacAddr([1, 2, 3, 4, 5, 6]);
        let src = MacAddr([7, 8, 9, 10, 11, 12]);
        let bytes = header(dst, src, ether_type::IPV6);
        assert_eq!(bytes, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0x86, 0xdd]);
        let h = Header::new_checked(&bytes).unwrap();
        assert_eq!((h.dst(), h.src(), h.ether_type()), (dst, src, 0x86dd));
        assert_eq!(Header::new_checked(&bytes[..13]), Err(crate::Error::Truncated));
    }

    #[test]
    fn broadcast_group_and_local_addresses_are_told_apart() {
        assert!(MacAddr::BROADCAST.is_broadcast() && MacAddr::BROADCAST.is_group());
        assert!(!MacAddr([2, 0, 0, 0, 0, 1]).is_group() && MacAddr([2, 0, 0, 0, 0, 1]).is_local());
        let group = MacAddr::from_ipv4_multicast(std::net::Ipv4Addr::new(239, 129, 3, 4));
        assert_eq!(group, MacAddr([1, 0, 0x5e, 1, 3, 4]));
        let group = MacAddr::from_ipv6_multicast("ff02::1:ff28:9c5a".parse().unwrap());
        assert_eq!(group, MacAddr([0x33, 0x33, 0xff, 0x28, 0x9c, 0x5a]));
    }
}
