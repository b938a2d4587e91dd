//! IPv4 and IPv6 prefixes, and the text forms of addresses and masks that Click reads and writes.

use crate::ParseError;
use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// An IPv4 prefix: a network address without host bits, and a length of 0 to 32 bits.
///
/// Prints as `10.0.0.0/8`; parses that, `10.0.0.0/255.0.0.0` and `10/8`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ipv4Net {
    addr: Ipv4Addr,
    len: u8,
}

impl Ipv4Net {
    /// `0.0.0.0/0`, which contains every address.
    pub const ALL: Ipv4Net = Ipv4Net { addr: Ipv4Addr::UNSPECIFIED, len: 0 };

    /// The prefix of `len` bits that contains `addr`, whose host bits are cleared; `None` beyond 32 bits.
    #[inline]
    pub const fn new(addr: Ipv4Addr, len: u8) -> Option<Ipv4Net> {
        if len > 32 {
            return None;
        }
        Some(Ipv4Net { addr: Ipv4Addr::from_bits(addr.to_bits() & mask_bits_v4(len)), len })
    }

    /// The prefix with this address alone.
    #[inline]
    pub const fn host(addr: Ipv4Addr) -> Ipv4Net {
        Ipv4Net { addr, len: 32 }
    }

    /// The network address.
    #[inline]
    pub const fn addr(self) -> Ipv4Addr {
        self.addr
    }

    /// The length in bits.
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "a prefix is never empty")]
    pub const fn len(self) -> u8 {
        self.len
    }

    /// The mask: as many leading ones as the length.
    #[inline]
    pub const fn mask(self) -> Ipv4Addr {
        Ipv4Addr::from_bits(mask_bits_v4(self.len))
    }

    /// The last address.
    #[inline]
    pub const fn last(self) -> Ipv4Addr {
        Ipv4Addr::from_bits(self.addr.to_bits() | !mask_bits_v4(self.len))
    }

    /// Whether `addr` lies in the prefix.
    #[inline]
    pub const fn contains(self, addr: Ipv4Addr) -> bool {
        (addr.to_bits() ^ self.addr.to_bits()) & mask_bits_v4(self.len) == 0
    }

    /// Whether every address of `other` lies in the prefix.
    #[inline]
    pub const fn contains_net(self, other: Ipv4Net) -> bool {
        self.len <= other.len && self.contains(other.addr)
    }
}

const fn mask_bits_v4(len: u8) -> u32 {
    if len == 0 { 0 } else { u32::MAX << (32 - len) }
}

const fn mask_bits_v6(len: u8) -> u128 {
    if len == 0 { 0 } else { u128::MAX << (128 - len) }
}

/// The mask with `len` leading ones; all ones from 32.
#[inline]
pub const fn mask_v4(len: u8) -> Ipv4Addr {
    Ipv4Addr::from_bits(mask_bits_v4(if len > 32 { 32 } else { len }))
}

/// The mask with `len` leading ones; all ones from 128.
#[inline]
pub const fn mask_v6(len: u8) -> Ipv6Addr {
    Ipv6Addr::from_bits(mask_bits_v6(if len > 128 { 128 } else { len }))
}

/// The number of leading ones of `mask`, if all other bits are zero.
#[inline]
pub const fn mask_len_v4(mask: Ipv4Addr) -> Option<u8> {
    let len = mask.to_bits().leading_ones() as u8;
    if mask.to_bits() == mask_bits_v4(len) { Some(len) } else { None }
}

/// The number of leading ones of `mask`, if all other bits are zero.
#[inline]
pub const fn mask_len_v6(mask: Ipv6Addr) -> Option<u8> {
    let len = mask.to_bits().leading_ones() as u8;
    if mask.to_bits() == mask_bits_v6(len) { Some(len) } else { None }
}

/// Parses an IPv4 address as Click does: four decimal numbers up to 255, leading zeros allowed and decimal.
///
/// # Errors
/// [`ParseError::Ipv4Addr`].
pub fn parse_ipv4(text: &str) -> Result<Ipv4Addr, ParseError> {
    match octets(text) {
        Some((octets, 4)) => Ok(Ipv4Addr::from(octets)),
        _ => Err(ParseError::Ipv4Addr),
    }
}

/// Parses `a.b.c.d/len` or `a.b.c.d/mask` into address and mask; host bits of the address are kept and the mask need
/// not be contiguous. Trailing octets may be left out if the mask does not cover them, as in `18.26/16`.
///
/// # Errors
/// [`ParseError::Ipv4Prefix`].
pub fn parse_ipv4_and_mask(text: &str) -> Result<(Ipv4Addr, Ipv4Addr), ParseError> {
    let err = ParseError::Ipv4Prefix;
    let (addr, mask) = text.rsplit_once('/').ok_or(err)?;
    let (addr, given) = octets(addr).ok_or(err)?;
    let mask = match decimal(mask) {
        Some(len) if len <= 32 => mask_v4(len as u8),
        Some(_) => return Err(err),
        None => parse_ipv4(mask).map_err(|_| err)?,
    };
    let covered = mask_bits_v4(8 * given);
    if mask.to_bits() & !covered != 0 { Err(err) } else { Ok((Ipv4Addr::from(addr), mask)) }
}

/// Prints address and mask as Click does: `18.26.4.0/24`, or `18.26.4.0/255.0.0.255` if the mask is no prefix.
pub fn ipv4_and_mask(addr: Ipv4Addr, mask: Ipv4Addr) -> impl fmt::Display {
    fmt::from_fn(move |f| match mask_len_v4(mask) {
        Some(len) => write!(f, "{addr}/{len}"),
        None => write!(f, "{addr}/{mask}"),
    })
}

/// One to four octets with dots between; the missing ones are zero. Returns how many there were.
fn octets(text: &str) -> Option<([u8; 4], u8)> {
    let mut octets = [0; 4];
    let mut given = 0;
    for part in text.split('.') {
        let value = decimal(part).and_then(|v| u8::try_from(v).ok())?;
        *octets.get_mut(usize::from(given))? = value;
        given += 1;
    }
    Some((octets, given))
}

/// A decimal number without sign; unlike `str::parse`, `+1` is refused.
fn decimal(text: &str) -> Option<u32> {
    if text.bytes().all(|b| b.is_ascii_digit()) { text.parse().ok() } else { None }
}

impl fmt::Display for Ipv4Net {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.addr, self.len)
    }
}

impl fmt::Debug for Ipv4Net {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl FromStr for Ipv4Net {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let (addr, mask) = parse_ipv4_and_mask(text)?;
        mask_len_v4(mask).and_then(|len| Ipv4Net::new(addr, len)).ok_or(ParseError::Mask)
    }
}

/// An IPv6 prefix: a network address without host bits, and a length of 0 to 128 bits.
///
/// Prints as `2001:db8::/32`; parses that and `2001:db8::/ffff:ffff::`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ipv6Net {
    addr: Ipv6Addr,
    len: u8,
}

impl Ipv6Net {
    /// `::/0`, which contains every address.
    pub const ALL: Ipv6Net = Ipv6Net { addr: Ipv6Addr::UNSPECIFIED, len: 0 };

    /// The prefix of `len` bits that contains `addr`, whose host bits are cleared; `None` beyond 128 bits.
    #[inline]
    pub const fn new(addr: Ipv6Addr, len: u8) -> Option<Ipv6Net> {
        if len > 128 {
            return None;
        }
        Some(Ipv6Net { addr: Ipv6Addr::from_bits(addr.to_bits() & mask_bits_v6(len)), len })
    }

    /// The prefix with this address alone.
    #[inline]
    pub const fn host(addr: Ipv6Addr) -> Ipv6Net {
        Ipv6Net { addr, len: 128 }
    }

    /// The network address.
    #[inline]
    pub const fn addr(self) -> Ipv6Addr {
        self.addr
    }

    /// The length in bits.
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "a prefix is never empty")]
    pub const fn len(self) -> u8 {
        self.len
    }

    /// The mask: as many leading ones as the length.
    #[inline]
    pub const fn mask(self) -> Ipv6Addr {
        Ipv6Addr::from_bits(mask_bits_v6(self.len))
    }

    /// The last address.
    #[inline]
    pub const fn last(self) -> Ipv6Addr {
        Ipv6Addr::from_bits(self.addr.to_bits() | !mask_bits_v6(self.len))
    }

    /// Whether `addr` lies in the prefix.
    #[inline]
    pub const fn contains(self, addr: Ipv6Addr) -> bool {
        (addr.to_bits() ^ self.addr.to_bits()) & mask_bits_v6(self.len) == 0
    }

    /// Whether every address of `other` lies in the prefix.
    #[inline]
    pub const fn contains_net(self, other: Ipv6Net) -> bool {
        self.len <= other.len && self.contains(other.addr)
    }
}

/// Parses `addr/len` or `addr/mask` into address and length; host bits of the address are kept.
///
/// # Errors
/// [`ParseError::Ipv6Prefix`], or [`ParseError::Mask`] if the mask is not contiguous.
pub fn parse_ipv6_and_len(text: &str) -> Result<(Ipv6Addr, u8), ParseError> {
    let err = ParseError::Ipv6Prefix;
    let (addr, mask) = text.rsplit_once('/').ok_or(err)?;
    let addr = addr.parse().map_err(|_| err)?;
    let len = match decimal(mask) {
        Some(len) if len <= 128 => len as u8,
        Some(_) => return Err(err),
        None => mask_len_v6(mask.parse().map_err(|_| err)?).ok_or(ParseError::Mask)?,
    };
    Ok((addr, len))
}

impl fmt::Display for Ipv6Net {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.addr, self.len)
    }
}

impl fmt::Debug for Ipv6Net {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl FromStr for Ipv6Net {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let (addr, len) = parse_ipv6_and_len(text)?;
        Ipv6Net::new(addr, len).ok_or(ParseError::Ipv6Prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ipv4_text_forms() {
        for text in ["18.26.4.9/24", "18.26.4.0/255.255.255.0", "18.26.4/24", "018.26.004.0/24"] {
            assert_eq!(text.parse::<Ipv4Net>().unwrap().to_string(), "18.26.4.0/24", "{text}");
        }
        let bad = [
            "",
            "/",
            "1.2.3.4",
            "1.2.3.4/",
            "/8",
            "1.2.3.4/33",
            "1.2.3.4/+8",
            "1.2.3/32",
            "1.2.3.4.5/8",
            "1..2/8",
            "256.0.0.0/8",
            "1.2.3.4/4294967304",
        ];
        for text in bad {
            assert_eq!(text.parse::<Ipv4Net>(), Err(ParseError::Ipv4Prefix), "{text}");
        }
        assert_eq!("1.2.3.4/255.0.0.255".parse::<Ipv4Net>(), Err(ParseError::Mask));
        let (addr, mask) = parse_ipv4_and_mask("1.2.3.4/255.0.0.255").unwrap();
        assert_eq!(ipv4_and_mask(addr, mask).to_string(), "1.2.3.4/255.0.0.255");
        let (addr, mask) = parse_ipv4_and_mask("1.2.3.4/255.0.0.0").unwrap();
        assert_eq!(ipv4_and_mask(addr, mask).to_string(), "1.2.3.4/8");
        assert_eq!(parse_ipv4("1.2.3"), Err(ParseError::Ipv4Addr));
        assert_eq!(parse_ipv4("1.2.3.4"), Ok(Ipv4Addr::new(1, 2, 3, 4)));
    }

    #[test]
    fn ipv6_text_forms() {
        for text in ["2001:DB8::1/32", "2001:db8::/ffff:ffff::"] {
            assert_eq!(text.parse::<Ipv6Net>().unwrap().to_string(), "2001:db8::/32", "{text}");
        }
        for text in ["::1", "::/129", "::/", "/0", "::g/8"] {
            assert_eq!(text.parse::<Ipv6Net>(), Err(ParseError::Ipv6Prefix), "{text}");
        }
        assert_eq!("::/ff:ff::".parse::<Ipv6Net>(), Err(ParseError::Mask));
    }

    #[test]
    fn extremes_of_length() {
        let far = Ipv4Addr::new(255, 255, 255, 255);
        assert!(Ipv4Net::ALL.contains(far) && Ipv4Net::ALL.last() == far);
        assert!(Ipv4Net::host(far).contains(far) && !Ipv4Net::host(far).contains(Ipv4Addr::UNSPECIFIED));
        assert_eq!(Ipv4Net::new(far, 33), None);
        assert_eq!((mask_len_v4(mask_v4(0)), mask_len_v4(mask_v4(32))), (Some(0), Some(32)));
        assert_eq!((mask_len_v6(mask_v6(0)), mask_len_v6(mask_v6(128))), (Some(0), Some(128)));
        assert!(Ipv6Net::ALL.contains(Ipv6Addr::LOCALHOST) && !Ipv6Net::ALL.mask().is_loopback());
        assert!(Ipv6Net::host(Ipv6Addr::LOCALHOST).contains(Ipv6Addr::LOCALHOST));
        assert_eq!(Ipv6Net::new(Ipv6Addr::LOCALHOST, 129), None);
    }
}
