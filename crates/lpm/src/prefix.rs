//! Addresses and prefixes: IPv4 as `u32`, IPv6 as `u128`, both in host byte order.

use std::fmt;
use std::hash::Hash;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// An address a table can be keyed by: `u32` (IPv4) or `u128` (IPv6), host byte order, sealed.
pub trait Key: Copy + Ord + Hash + fmt::Debug + Default + Send + Sync + sealed::Shape + 'static {
    /// Width of an address in bits: 32 or 128.
    const BITS: u32;
    /// The address as a left-aligned 128-bit number.
    fn to_left(self) -> u128;
    /// The inverse of [`Key::to_left`]; bits below the width are dropped.
    fn from_left(left: u128) -> Self;
    /// The `width` bits (1 to 24) that follow the first `at` bits; bits past the end read as 0.
    /// `at` must be smaller than [`Key::BITS`].
    fn bits(self, at: u32, width: u32) -> usize;
    /// The first 64 bits; a shorter address is followed by zeros.
    fn high(self) -> u64;
    /// Writes the address in its usual notation.
    fn format(self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
    /// Reads an address in its usual notation.
    fn parse(text: &str) -> Option<Self>;
}

#[cfg(any(test, target_arch = "x86_64"))]
pub(crate) use sealed::Shape;

mod sealed {
    /// The shape of the tries over these addresses.
    pub trait Shape {
        /// Address bits that index the root of the lookup structure.
        const ROOT_BITS: u32;
        /// Address bits that index a page below the root; 0 if there are none.
        const PAGE_BITS: u32;

        /// Address bits that a node at `depth` decides, at most 6. Nodes end where root and pages do.
        fn stride(depth: u32) -> u32;

        /// The depth of the node that holds prefixes of `len` bits, which is not 0.
        fn depth_of(len: u32) -> u32;
    }

    impl Shape for u32 {
        // Half of the nodes at this depth are leaves, and 1 MiB leaves the second-level cache room for the others.
        const ROOT_BITS: u32 = 18;
        const PAGE_BITS: u32 = 0;

        fn stride(_: u32) -> u32 {
            6
        }

        fn depth_of(len: u32) -> u32 {
            (len - 1) / 6 * 6
        }
    }

    impl Shape for u128 {
        // Some sixty blocks of 16 bits are routed at all; registries hand out 32 bits and more.
        const ROOT_BITS: u32 = 16;
        const PAGE_BITS: u32 = 10;

        fn stride(depth: u32) -> u32 {
            if depth == 12 || depth == 22 { 4 } else { 6 }
        }

        fn depth_of(len: u32) -> u32 {
            match len {
                0..=16 => (len - 1) / 6 * 6,
                17..=22 => 16,
                23..=26 => 22,
                _ => 26 + (len - 27) / 6 * 6,
            }
        }
    }
}

impl Key for u32 {
    const BITS: u32 = 32;

    fn to_left(self) -> u128 {
        u128::from(self) << 96
    }

    fn from_left(left: u128) -> Self {
        (left >> 96) as u32
    }

    #[inline(always)]
    fn bits(self, at: u32, width: u32) -> usize {
        (((u64::from(self) << 32) << at) >> (64 - width)) as usize
    }

    #[inline(always)]
    fn high(self) -> u64 {
        u64::from(self) << 32
    }

    fn format(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Ipv4Addr::from(self))
    }

    fn parse(text: &str) -> Option<Self> {
        text.parse::<Ipv4Addr>().ok().map(u32::from)
    }
}

impl Key for u128 {
    const BITS: u32 = 128;

    fn to_left(self) -> u128 {
        self
    }

    fn from_left(left: u128) -> Self {
        left
    }

    #[inline(always)]
    fn bits(self, at: u32, width: u32) -> usize {
        if at + width <= 64 {
            // The usual case: no prefix of the global table reaches into the lower half.
            ((((self >> 64) as u64) << at) >> (64 - width)) as usize
        } else {
            ((self << at) >> (128 - width)) as usize
        }
    }

    #[inline(always)]
    fn high(self) -> u64 {
        (self >> 64) as u64
    }

    fn format(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Ipv6Addr::from(self))
    }

    fn parse(text: &str) -> Option<Self> {
        text.parse::<Ipv6Addr>().ok().map(u128::from)
    }
}

/// A network prefix: an address whose bits beyond `len` are 0, and that length.
///
/// Prefixes order by address, then by length: a prefix comes before everything inside it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Prefix<K> {
    addr: K,
    len: u8,
}

/// An IPv4 prefix.
pub type Prefix4 = Prefix<u32>;
/// An IPv6 prefix.
pub type Prefix6 = Prefix<u128>;

/// Why a text or a pair of numbers is no prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrefixError {
    /// The length exceeds the width of the address.
    Length {
        /// The length that was asked for.
        len: u32,
        /// The greatest possible one.
        max: u32,
    },
    /// The address part is not an address.
    Address,
    /// The part behind the slash is neither a length nor a contiguous mask.
    Mask,
}

impl fmt::Display for PrefixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { len, max } => write!(f, "prefix length {len} exceeds {max}"),
            Self::Address => f.write_str("not an address"),
            Self::Mask => f.write_str("neither a prefix length nor a contiguous netmask"),
        }
    }
}

impl std::error::Error for PrefixError {}

impl<K: Key> Prefix<K> {
    /// The prefix of `len` bits that contains `addr`; address bits beyond `len` are cleared.
    ///
    /// # Errors
    /// [`PrefixError::Length`] if `len` exceeds the width of the address.
    pub fn new(addr: K, len: u8) -> Result<Self, PrefixError> {
        if u32::from(len) > K::BITS {
            return Err(PrefixError::Length { len: len.into(), max: K::BITS });
        }
        Ok(Self::covering(addr, len))
    }

    /// The prefix that holds `addr` alone.
    pub fn host(addr: K) -> Self {
        Self { addr, len: K::BITS as u8 }
    }

    /// [`Prefix::new`] for a length known to be in range.
    pub(crate) fn covering(addr: K, len: u8) -> Self {
        debug_assert!(u32::from(len) <= K::BITS);
        Self { addr: K::from_left(addr.to_left() & mask(len)), len }
    }

    /// The network address, host byte order.
    pub fn addr(self) -> K {
        self.addr
    }

    /// The length in bits, 0 to 32 or 128.
    #[allow(clippy::len_without_is_empty)] // a length in bits, not a number of elements
    pub fn len(self) -> u8 {
        self.len
    }

    /// Whether `addr` lies inside.
    pub fn contains(self, addr: K) -> bool {
        (addr.to_left() ^ self.addr.to_left()) & mask(self.len) == 0
    }

    /// The last address inside.
    pub fn last(self) -> K {
        K::from_left(self.addr.to_left() | !mask(self.len))
    }
}

/// `len` one bits, left-aligned.
fn mask(len: u8) -> u128 {
    u128::MAX.checked_shl(128 - u32::from(len)).unwrap_or(0)
}

impl<K: Key> fmt::Display for Prefix<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.addr.format(f)?;
        write!(f, "/{}", self.len)
    }
}

impl<K: Key> fmt::Debug for Prefix<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<K: Key> FromStr for Prefix<K> {
    type Err = PrefixError;

    /// Reads `ADDR/LEN`, `ADDR/MASK` (IPv4 only) or `ADDR` (a host). Bits beyond the length are cleared.
    fn from_str(text: &str) -> Result<Self, PrefixError> {
        let (addr, len) = match text.split_once('/') {
            Some((addr, len)) => (addr, Some(len)),
            None => (text, None),
        };
        let addr = K::parse(addr).ok_or(PrefixError::Address)?;
        match len {
            None => Ok(Self::host(addr)),
            Some(len) => Self::new(addr, parse_len::<K>(len)?),
        }
    }
}

/// A length in decimal, or for IPv4 a dotted mask of leading ones.
fn parse_len<K: Key>(text: &str) -> Result<u8, PrefixError> {
    if K::BITS == 32
        && let Ok(mask) = text.parse::<Ipv4Addr>()
    {
        let mask = u32::from(mask);
        let ones = mask.leading_ones();
        return if mask.count_ones() == ones { Ok(ones as u8) } else { Err(PrefixError::Mask) };
    }
    let digits = !text.is_empty() && text.len() <= 3 && text.bytes().all(|b| b.is_ascii_digit());
    let len: u32 =
        if digits { text.parse().map_err(|_| PrefixError::Mask)? } else { return Err(PrefixError::Mask) };
    u8::try_from(len).ok().filter(|_| len <= K::BITS).ok_or(PrefixError::Length { len, max: K::BITS })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_bits_are_cleared() {
        assert_eq!(Prefix4::new(0x0a01_02ff, 24).unwrap().addr(), 0x0a01_0200);
        assert_eq!(Prefix4::new(u32::MAX, 0).unwrap().addr(), 0);
        assert_eq!(Prefix6::new(u128::MAX, 0).unwrap().addr(), 0);
        assert_eq!(Prefix6::new(u128::MAX, 128).unwrap().addr(), u128::MAX);
    }

    #[test]
    fn bits_past_the_end_read_as_zero() {
        assert_eq!(u32::MAX.bits(30, 6), 0b11_0000);
        assert_eq!(u128::MAX.bits(126, 6), 0b11_0000);
        assert_eq!(0x8000_0001_u32.bits(0, 18), 1 << 17);
        assert_eq!((0b10_1101_u128 << 62).bits(60, 6), 0b10_1101);
    }

    #[test]
    fn texts_read_back() {
        for text in ["0.0.0.0/0", "10.0.0.0/8", "192.0.2.1/32"] {
            assert_eq!(text.parse::<Prefix4>().unwrap().to_string(), text);
        }
        for text in ["::/0", "2001:db8::/32", "2001:db8::1/128"] {
            assert_eq!(text.parse::<Prefix6>().unwrap().to_string(), text);
        }
        assert_eq!("10.0.0.0/255.128.0.0".parse::<Prefix4>().unwrap().len(), 9);
        assert_eq!("10.1.2.3".parse::<Prefix4>().unwrap().len(), 32);
    }

    #[test]
    fn wrong_texts_are_refused() {
        assert_eq!("10.0.0.0/33".parse::<Prefix4>(), Err(PrefixError::Length { len: 33, max: 32 }));
        assert_eq!("::/129".parse::<Prefix6>(), Err(PrefixError::Length { len: 129, max: 128 }));
        assert_eq!("::/999".parse::<Prefix6>(), Err(PrefixError::Length { len: 999, max: 128 }));
        assert_eq!("10.0.0.0/255.0.255.0".parse::<Prefix4>(), Err(PrefixError::Mask));
        for text in ["", "/", "10.0.0.0/", "10.0.0.0/+8", "10.0.0.0/ 8", "10.0.0/8", "10.0.0.0/8/8"] {
            assert!(text.parse::<Prefix4>().is_err(), "{text:?}");
        }
    }
}
