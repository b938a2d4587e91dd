//! IPv6 addresses that stand for IPv4 addresses (RFC 6052, section 2.2).

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

/// Where an address must be zero: bits 64 to 71.
const U: usize = 8;

/// A prefix behind which an IPv4 address follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Prefix {
    address: u128,
    /// 32, 40, 48, 56, 64 or 96 bits.
    len: u32,
}

impl Prefix {
    /// `64:ff9b::/96`.
    pub(in super::super) const WELL_KNOWN: Prefix = Prefix { address: 0x0064_ff9b << 96, len: 96 };

    /// Reads `ADDRESS/LENGTH`.
    ///
    /// # Errors
    /// What is wrong.
    pub(in super::super) fn parse(text: &str) -> Result<Prefix, String> {
        let (address, len) = text.split_once('/').ok_or("PREFIX is ADDRESS/LENGTH")?;
        let address: Ipv6Addr = address.parse().map_err(|_| "PREFIX begins with an IPv6 address")?;
        let len = len.parse().ok().filter(|len| [32, 40, 48, 56, 64, 96].contains(len));
        let len = len.ok_or("PREFIX has 32, 40, 48, 56, 64 or 96 bits")?;
        let address = address.to_bits();
        if address & (u128::MAX >> len) != 0 {
            return Err(format!("PREFIX has bits behind the first {len}"));
        }
        if address.to_be_bytes()[U] != 0 {
            return Err("PREFIX has bits from 64 to 71 (RFC 6052, section 2.2)".to_owned());
        }
        Ok(Prefix { address, len })
    }

    /// The address that stands for an IPv4 address.
    #[inline]
    pub(in super::super) fn embed(self, address: Ipv4Addr) -> Ipv6Addr {
        let v4 = u128::from(address.to_bits());
        if self.len == 96 {
            return Ipv6Addr::from_bits(self.address | v4);
        }
        let below = 96 - self.len;
        let joined = v4 << below;
        // What would be at bit 64 or later lies eight bits further.
        let rest = u128::from(u64::MAX);
        Ipv6Addr::from_bits(self.address | joined & !rest | (joined & rest) >> 8)
    }

    /// The IPv4 address that an address stands for, if it does.
    #[inline]
    pub(in super::super) fn extract(self, address: Ipv6Addr) -> Option<Ipv4Addr> {
        let bits = address.to_bits();
        if (bits ^ self.address) >> (128 - self.len) != 0 {
            return None;
        }
        if self.len == 96 {
            return Some(Ipv4Addr::from_bits(bits as u32));
        }
        let rest = u128::from(u64::MAX);
        let joined = bits & !rest | (bits & rest) << 8 & rest;
        Some(Ipv4Addr::from_bits((joined >> (96 - self.len)) as u32))
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", Ipv6Addr::from_bits(self.address), self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The table of RFC 6052, section 2.4.
    #[test]
    fn as_the_rfc_has_them() {
        for (prefix, address) in [
            ("2001:db8::/32", "2001:db8:c000:221::"),
            ("2001:db8:100::/40", "2001:db8:1c0:2:21::"),
            ("2001:db8:122::/48", "2001:db8:122:c000:2:2100::"),
            ("2001:db8:122:300::/56", "2001:db8:122:3c0:0:221::"),
            ("2001:db8:122:344::/64", "2001:db8:122:344:c0:2:2100::"),
            ("2001:db8:122:344::/96", "2001:db8:122:344::192.0.2.33"),
            ("64:ff9b::/96", "64:ff9b::192.0.2.33"),
        ] {
            let read = Prefix::parse(prefix).unwrap();
            let (v4, v6) = (Ipv4Addr::new(192, 0, 2, 33), address.parse().unwrap());
            assert_eq!(
                (read.embed(v4), read.extract(v6), read.to_string()),
                (v6, Some(v4), prefix.to_owned())
            );
        }
        assert_eq!(Prefix::parse("64:ff9b::/96"), Ok(Prefix::WELL_KNOWN));
    }

    #[test]
    fn what_is_no_prefix() {
        for (text, error) in [
            ("64:ff9b::", "ADDRESS/LENGTH"),
            ("x/96", "IPv6 address"),
            ("64:ff9b::/95", "32, 40, 48, 56, 64 or 96"),
            ("64:ff9b::1/96", "behind the first 96"),
            ("64:ff9b:0:0:100::/96", "from 64 to 71"),
        ] {
            assert!(Prefix::parse(text).unwrap_err().contains(error), "{text}");
        }
    }

    proptest! {
        #[test]
        fn there_and_back(bits in any::<u128>(), len in prop::sample::select(vec![32u32, 40, 48, 56, 64, 96]), v4 in any::<u32>(), other in any::<u128>()) {
            let address = bits & !(u128::MAX >> len) & !(0xff << 56);
            let prefix = Prefix { address, len };
            let v4 = Ipv4Addr::from_bits(v4);
            let v6 = prefix.embed(v4);
            prop_assert_eq!(prefix.extract(v6), Some(v4));
            prop_assert_eq!(v6.octets()[U], 0);
            let inside = (other ^ address) >> (128 - len) == 0;
            prop_assert_eq!(prefix.extract(Ipv6Addr::from_bits(other)).is_some(), inside);
        }
    }
}
