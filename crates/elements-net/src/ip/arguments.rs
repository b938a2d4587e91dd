//! Types of arguments that several elements of the family take.

use router::{FromArg, IpMask, Scope};
use std::net::Ipv4Addr;

/// Addresses, separated by spaces.
#[derive(Clone, Debug, Default)]
pub(super) struct Addresses(pub(super) Vec<Ipv4Addr>);

impl FromArg for Addresses {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        let words = lang::conf::split_spaces(text);
        words.iter().map(|word| Ipv4Addr::from_arg(word, scope)).collect::<Result<_, _>>().map(Addresses)
    }
}

/// An address with a mask; an address alone stands for itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prefix {
    pub(super) address: Ipv4Addr,
    pub(super) mask: Ipv4Addr,
}

impl Prefix {
    /// The address whose host bits are all ones.
    pub(super) fn broadcast(self) -> Ipv4Addr {
        self.address | !self.mask
    }

    /// Whether an address is in the network.
    pub(super) fn contains(self, address: Ipv4Addr) -> bool {
        address & self.mask == self.address & self.mask
    }
}

impl FromArg for Prefix {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        if let Ok(IpMask { addr, mask }) = IpMask::from_arg(text, scope) {
            return Ok(Prefix { address: addr, mask });
        }
        let host = |address| Prefix { address, mask: Ipv4Addr::BROADCAST };
        Ipv4Addr::from_arg(text, scope).map(host).or_else(|_| router::parse_error("IP prefix", text))
    }
}

/// Prefixes, separated by spaces.
#[derive(Clone, Debug, Default)]
pub(super) struct Prefixes(pub(super) Vec<Prefix>);

impl FromArg for Prefixes {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        let words = lang::conf::split_spaces(text);
        words.iter().map(|word| Prefix::from_arg(word, scope)).collect::<Result<_, _>>().map(Prefixes)
    }
}
