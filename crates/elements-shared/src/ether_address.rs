//! Address arguments.

use packet::{ANNO_BYTES, Packet};
use router::{ConfigError, FromArg, IpMask, Scope};
use std::net::Ipv4Addr;
use wire::MacAddr;
use wire::net::mask_v4;

/// An IPv4 address with a mask: a prefix, or a single address, whose mask has all bits set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// The address, host bits included.
    pub address: Ipv4Addr,
    /// The mask, which need not be contiguous.
    pub mask: Ipv4Addr,
}

impl Default for Prefix {
    fn default() -> Prefix {
        Prefix { address: Ipv4Addr::UNSPECIFIED, mask: mask_v4(32) }
    }
}

impl Prefix {
    /// The address without host bits.
    pub fn network(&self) -> Ipv4Addr {
        self.address & self.mask
    }

    /// Whether an address lies in the prefix.
    pub fn contains(&self, address: Ipv4Addr) -> bool {
        address & self.mask == self.network()
    }

    /// The last address of the prefix.
    pub fn broadcast(&self) -> Ipv4Addr {
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

/// Six annotation bytes for an Ethernet address: where the first is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MacAnno(usize);

impl FromArg for MacAnno {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        // No named annotation has six bytes.
        let offset = u32::from_arg(text, scope).ok().map(|offset| offset as usize);
        let fits = |offset: &usize| *offset <= ANNO_BYTES - 6;
        offset.filter(fits).map(MacAnno).ok_or_else(|| "expected annotation".to_owned())
    }
}

impl MacAnno {
    /// The address there.
    #[inline]
    pub fn get(self, packet: &Packet) -> MacAddr {
        MacAddr(packet.annotations()[self.0..].first_chunk().copied().unwrap_or_default())
    }

    /// Stores an address there.
    #[inline]
    pub fn set(self, packet: &mut Packet, address: MacAddr) {
        if let Some(place) = packet.annotations_mut()[self.0..].first_chunk_mut() {
            *place = address.octets();
        }
    }
}

/// An offset in a frame, or the name of an address in its header.
pub fn place(text: &str) -> Result<usize, ConfigError> {
    match text.to_ascii_lowercase().as_str() {
        "src" => Ok(6),
        "dst" => Ok(0),
        number => router::parse_integer(number)
            .and_then(|offset| u32::try_from(offset).ok())
            .map(|offset| offset as usize)
            .ok_or_else(|| "type mismatch: bad OFFSET".into()),
    }
}
