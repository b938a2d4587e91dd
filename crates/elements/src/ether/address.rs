//! Address arguments.

use router::{FromArg, Scope, Value};
use std::net::Ipv4Addr;
use wire::net::{mask_v4, parse_ipv4_and_mask};

/// An IPv4 address with a mask: a prefix, or a single address, whose mask has all bits set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Prefix {
    /// The address, host bits included.
    pub(super) address: Ipv4Addr,
    /// The mask, which need not be contiguous.
    pub(super) mask: Ipv4Addr,
}

impl Default for Prefix {
    fn default() -> Prefix {
        Prefix { address: Ipv4Addr::UNSPECIFIED, mask: mask_v4(32) }
    }
}

impl Prefix {
    /// The address without host bits.
    pub(super) fn network(&self) -> Ipv4Addr {
        self.address & self.mask
    }

    /// Whether an address lies in the prefix.
    pub(super) fn contains(&self, address: Ipv4Addr) -> bool {
        address & self.mask == self.network()
    }

    /// The last address of the prefix.
    pub(super) fn broadcast(&self) -> Ipv4Addr {
        self.address | !self.mask
    }
}

impl FromArg for Prefix {
    /// Names stand for an address first, for a prefix second.
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        if let Ok((address, mask)) = parse_ipv4_and_mask(text) {
            return Ok(Prefix { address, mask });
        }
        let prefix = |value: &Value| match *value {
            Value::IpPrefix(address, length) => Some(Prefix { address, mask: mask_v4(length) }),
            _ => None,
        };
        let address = |value: &Value| match *value {
            Value::Ip(address) => Some(address),
            _ => None,
        };
        let single = text.parse().ok().or_else(|| scope.lookup(text, address));
        match single {
            Some(address) => Ok(Prefix { address, mask: mask_v4(32) }),
            None => scope.lookup(text, prefix).ok_or_else(|| format!("'{text}' is no IP address or prefix")),
        }
    }
}
