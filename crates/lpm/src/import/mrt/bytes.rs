//! Numbers, addresses and prefixes from bytes.

use crate::import::fault::RecordError;
use crate::import::list::AnyPrefix;
use crate::prefix::Prefix;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Bytes that are taken from the front.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

impl<'a> Bytes<'a> {
    pub(super) fn take(&mut self, count: usize) -> Option<Bytes<'a>> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(Bytes(taken))
    }

    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.0.try_into().ok()
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    /// As many bytes as the 16-bit number before them says.
    pub(super) fn counted(&mut self) -> Option<Bytes<'a>> {
        let count = self.u16()?;
        self.take(count.into())
    }

    pub(super) fn address(&mut self, v6: bool) -> Option<IpAddr> {
        if v6 {
            self.array::<16>().map(|bytes| Ipv6Addr::from(bytes).into())
        } else {
            self.array::<4>().map(|bytes| Ipv4Addr::from(bytes).into())
        }
    }

    pub(super) fn asn(&mut self, wide: bool) -> Option<u32> {
        if wide { self.u32() } else { self.u16().map(u32::from) }
    }

    /// A next hop; IPv6 may have a link-local address behind it.
    pub(super) fn next_hop(mut self) -> Option<IpAddr> {
        match self.0.len() {
            4 => self.address(false),
            16 | 32 => self.address(true),
            _ => None,
        }
    }

    /// Flags, type and value of an attribute. If it is not all there, nothing is taken.
    pub(super) fn attribute(&mut self) -> Option<(u8, u8, Bytes<'a>)> {
        let mut rest = *self;
        let (flags, kind) = (rest.u8()?, rest.u8()?);
        let len = if flags & 0x10 != 0 { rest.u16()? } else { rest.u8()?.into() };
        let value = rest.take(len.into())?;
        *self = rest;
        Some((flags, kind, value))
    }

    /// A prefix as BGP writes it: a length, and as many bytes as that needs.
    pub(super) fn prefix(&mut self, v6: bool) -> Result<AnyPrefix, RecordError> {
        let len = self.u8().ok_or(RecordError::Short("a prefix"))?;
        let bytes = self.take(usize::from(len).div_ceil(8)).ok_or(RecordError::Short("a prefix"))?.0;
        prefix(bytes, len, v6)
    }
}

pub(super) fn prefix(bytes: &[u8], len: u8, v6: bool) -> Result<AnyPrefix, RecordError> {
    let mut address = [0; 16];
    address.get_mut(..bytes.len()).ok_or(RecordError::Length(len))?.copy_from_slice(bytes);
    let left = u128::from_be_bytes(address);
    let prefix = if v6 {
        Prefix::new(left, len).map(AnyPrefix::V6)
    } else {
        Prefix::new((left >> 96) as u32, len).map(AnyPrefix::V4)
    };
    prefix.map_err(|_| RecordError::Length(len))
}

/// Whether a family (RFC 4760) is IPv6 unicast (true), IPv4 unicast (false), or none that is read.
pub(super) fn unicast(family: (u16, u8)) -> Option<bool> {
    match family {
        (1, 1) => Some(false),
        (2, 1) => Some(true),
        _ => None,
    }
}
