//! Link types: what the bytes of a captured frame begin with.

use std::fmt;

/// Link-layer header type of captured frames (the registry of draft-ietf-opsawg-pcaplinktype).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LinkType {
    /// BSD loopback: four bytes of address family in the byte order of the capturing machine (0).
    Null,
    /// Ethernet without preamble and frame check sequence (1).
    Ethernet,
    /// IPv4 or IPv6 without a link header (101; also read as 12 and 14, which some systems write).
    RawIp,
    /// OpenBSD loopback: as `Null`, in network byte order (108).
    Loop,
    /// Linux cooked capture: 16 bytes, the protocol last (113).
    LinuxSll,
    /// IPv4 without a link header (228).
    Ipv4,
    /// IPv6 without a link header (229).
    Ipv6,
    /// Linux cooked capture, version 2: 20 bytes, the protocol first (276).
    LinuxSll2,
    /// Any other: handed on as it is, for example 105 for IEEE 802.11.
    Other(u32),
}

const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_IPV6: u16 = 0x86dd;
/// VLAN tags: IEEE 802.1Q, 802.1ad and the older 0x9100 for the outer one.
const ETHERTYPES_VLAN: [u16; 3] = [0x8100, 0x88a8, 0x9100];

impl LinkType {
    /// The link type with this number in a file.
    pub fn from_code(code: u32) -> LinkType {
        match code {
            0 => LinkType::Null,
            1 => LinkType::Ethernet,
            12 | 14 | 101 => LinkType::RawIp,
            108 => LinkType::Loop,
            113 => LinkType::LinuxSll,
            228 => LinkType::Ipv4,
            229 => LinkType::Ipv6,
            276 => LinkType::LinuxSll2,
            other => LinkType::Other(other),
        }
    }

    /// The number that stands for it in a file.
    pub fn code(self) -> u32 {
        match self {
            LinkType::Null => 0,
            LinkType::Ethernet => 1,
            LinkType::RawIp => 101,
            LinkType::Loop => 108,
            LinkType::LinuxSll => 113,
            LinkType::Ipv4 => 228,
            LinkType::Ipv6 => 229,
            LinkType::LinuxSll2 => 276,
            LinkType::Other(code) => code,
        }
    }

    /// Offset in bytes of the IPv4 or IPv6 packet within `frame`, `None` if there is none.
    ///
    /// Goes by the link header alone (VLAN tags are skipped) and by the version in the IP packet's first byte;
    /// the rest of the IP header is not checked. Never panics.
    pub fn ip_offset(self, frame: &[u8]) -> Option<usize> {
        let offset = match self {
            LinkType::RawIp | LinkType::Ipv4 | LinkType::Ipv6 => 0,
            LinkType::Null | LinkType::Loop => 4,
            LinkType::Ethernet => after_ethertype(frame, 12)?,
            LinkType::LinuxSll => after_ethertype(frame, 14)?,
            LinkType::LinuxSll2 => is_ip(u16_at(frame, 0)?).then_some(20)?,
            LinkType::Other(_) => return None,
        };
        let version = frame.get(offset)? >> 4;
        let wanted = match self {
            LinkType::Ipv4 => version == 4,
            LinkType::Ipv6 => version == 6,
            _ => version == 4 || version == 6,
        };
        wanted.then_some(offset)
    }
}

impl fmt::Display for LinkType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            LinkType::Null => "BSD loopback",
            LinkType::Ethernet => "Ethernet",
            LinkType::RawIp => "raw IP",
            LinkType::Loop => "OpenBSD loopback",
            LinkType::LinuxSll => "Linux cooked",
            LinkType::Ipv4 => "raw IPv4",
            LinkType::Ipv6 => "raw IPv6",
            LinkType::LinuxSll2 => "Linux cooked v2",
            LinkType::Other(code) => return write!(f, "link type {code}"),
        };
        f.write_str(name)
    }
}

fn u16_at(frame: &[u8], at: usize) -> Option<u16> {
    frame.get(at..)?.first_chunk().map(|bytes| u16::from_be_bytes(*bytes))
}

fn is_ip(ethertype: u16) -> bool {
    ethertype == ETHERTYPE_IPV4 || ethertype == ETHERTYPE_IPV6
}

/// Offset behind the Ethernet type at `at` and behind up to two VLAN tags, if the type is IP's.
fn after_ethertype(frame: &[u8], mut at: usize) -> Option<usize> {
    for _ in 0..2 {
        if !ETHERTYPES_VLAN.contains(&u16_at(frame, at)?) {
            break;
        }
        at += 4;
    }
    is_ip(u16_at(frame, at)?).then_some(at + 2)
}
