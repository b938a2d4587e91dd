//! Address arguments.

use router::{FromArg, IpMask, Scope};
use std::net::Ipv4Addr;
use wire::net::mask_v4;

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
    /// A name that stands for both an address and a prefix means the address.
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        if !text.contains('/')
            && let Ok(address) = Ipv4Addr::from_arg(text, scope)
        {
            return Ok(Prefix { address, mask: mask_v4(32) });
        }
        IpMask::from_arg(text, scope).map(|prefix| Prefix { address: prefix.addr, mask: prefix.mask })
    }
}
