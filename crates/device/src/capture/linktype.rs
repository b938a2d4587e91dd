//! Link types: what the bytes of a captured frame begin with.

use std::fmt;

/// Link-layer header type of captured frames (the registry of draft-ietf-opsawg-pcaplinktype).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LinkType {
    /// BSD loopback: four bytes of address family in the byte order of the capturing machine (0).
    Null,
    /// Ethernet without preamble and frame check sequence (1).
    Ethernet,
    /// PPP, perhaps with the address and control bytes of HDLC in front (9).
    Ppp,
    /// FDDI (10).
    Fddi,
    /// PPP in HDLC-like framing, or Cisco's HDLC (50).
    PppHdlc,
    /// ATM with LLC encapsulation, RFC 1483 and 2684 (100).
    AtmLlc,
    /// IPv4 or IPv6 without a link header (101; also read as 12 and 14, which some systems write).
    RawIp,
    /// Cisco's HDLC (104).
    CiscoHdlc,
    /// IEEE 802.11 (105).
    Ieee80211,
    /// OpenBSD loopback: as `Null`, in network byte order (108).
    Loop,
    /// Linux cooked capture: 16 bytes, the protocol last (113).
    LinuxSll,
    /// IEEE 802.11 behind a Prism monitor header of 144 bytes (119).
    Prism,
    /// SunATM: as `AtmLlc`, behind a header of 4 bytes (123).
    SunAtm,
    /// IEEE 802.11 behind a radiotap header (127).
    Radiotap,
    /// IPv4 without a link header (228).
    Ipv4,
    /// IPv6 without a link header (229).
    Ipv6,
    /// Linux cooked capture, version 2: 20 bytes, the protocol first (276).
    LinuxSll2,
    /// Any other: handed on as it is.
    Other(u32),
}

const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_IPV6: u16 = 0x86dd;
/// VLAN tags: IEEE 802.1Q, 802.1ad and the older 0x9100 for the outer one.
const ETHERTYPES_VLAN: [u16; 3] = [0x8100, 0x88a8, 0x9100];
/// PPP's protocol numbers of IPv4 and IPv6.
const PPP_IP: [u8; 2] = [0x21, 0x57];
/// The address and control bytes that HDLC puts before PPP.
const HDLC: [u8; 2] = [0xff, 0x03];
/// Addresses of Cisco's HDLC: one station, all.
const CISCO_ADDRESSES: [u8; 2] = [0x0f, 0x8f];
/// Bytes of a Prism monitor header.
const PRISM_LEN: usize = 144;

impl LinkType {
    /// The link type with this number in a file.
    pub fn from_code(code: u32) -> LinkType {
        match code {
            0 => LinkType::Null,
            1 => LinkType::Ethernet,
            9 => LinkType::Ppp,
            10 => LinkType::Fddi,
            50 => LinkType::PppHdlc,
            100 => LinkType::AtmLlc,
            104 => LinkType::CiscoHdlc,
            105 => LinkType::Ieee80211,
            119 => LinkType::Prism,
            123 => LinkType::SunAtm,
            127 => LinkType::Radiotap,
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
            LinkType::Ppp => 9,
            LinkType::Fddi => 10,
            LinkType::PppHdlc => 50,
            LinkType::AtmLlc => 100,
            LinkType::CiscoHdlc => 104,
            LinkType::Ieee80211 => 105,
            LinkType::Prism => 119,
            LinkType::SunAtm => 123,
            LinkType::Radiotap => 127,
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
            LinkType::Ppp => after_ppp(frame)?,
            LinkType::PppHdlc => after_ppp_hdlc(frame)?,
            LinkType::CiscoHdlc => after_cisco_hdlc(frame)?,
            LinkType::Fddi => after_llc(frame, llc_in_fddi(frame, 0)?)?,
            LinkType::AtmLlc => after_llc(frame, 0)?,
            LinkType::SunAtm => after_llc(frame, 4)?,
            LinkType::Ieee80211 => after_80211(frame, 0)?,
            LinkType::Prism => after_80211(frame, PRISM_LEN)?,
            LinkType::Radiotap => after_80211(frame, radiotap_len(frame)?)?,
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
            LinkType::Ppp => "PPP",
            LinkType::Fddi => "FDDI",
            LinkType::PppHdlc => "PPP in HDLC",
            LinkType::AtmLlc => "ATM",
            LinkType::CiscoHdlc => "Cisco HDLC",
            LinkType::Ieee80211 => "IEEE 802.11",
            LinkType::Prism => "IEEE 802.11 with Prism header",
            LinkType::SunAtm => "SunATM",
            LinkType::Radiotap => "IEEE 802.11 with radiotap header",
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

/// Offset behind PPP's protocol number, which may be a single byte, if it is IP's.
fn after_ppp(frame: &[u8]) -> Option<usize> {
    let at = if frame.starts_with(&HDLC) { HDLC.len() } else { 0 };
    match *frame.get(at..)?.first_chunk::<2>()? {
        [protocol, _] if PPP_IP.contains(&protocol) => Some(at + 1),
        [0, protocol] if PPP_IP.contains(&protocol) => Some(at + 2),
        _ => None,
    }
}

/// The same behind HDLC; its first byte tells Cisco's from PPP's.
fn after_ppp_hdlc(frame: &[u8]) -> Option<usize> {
    match *frame.first_chunk::<4>()? {
        [0xff, _, 0, protocol] if PPP_IP.contains(&protocol) => Some(4),
        [address, ..] if CISCO_ADDRESSES.contains(&address) => after_cisco_hdlc(frame),
        _ => None,
    }
}

fn after_cisco_hdlc(frame: &[u8]) -> Option<usize> {
    is_ip(u16_at(frame, 2)?).then_some(4)
}

/// Offset of the LLC header in an FDDI frame at `at`, if it is one of data.
fn llc_in_fddi(frame: &[u8], at: usize) -> Option<usize> {
    (frame.get(at)? & 0xf0 == 0x50).then_some(at + 13)
}

/// Offset behind an LLC header at `at`: of IP, of a SNAP header with IP's Ethernet type, or of a bridged Ethernet or FDDI frame with IP
/// in it (RFC 2684).
fn after_llc(frame: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let llc = frame.get(at..)?;
        if llc.len() >= 4 && llc.starts_with(&[6, 6]) {
            return Some(at + 4);
        }
        match *llc.first_chunk::<8>()? {
            [0xaa, 0xaa, _, 0, 0, 0 | 0xf8, ..] => return after_ethertype(frame, at + 6),
            [0xaa, 0xaa, _, 0, 0x80, 0xc2, 0, 1 | 7] => return after_ethertype(frame, at + 8 + 12),
            [0xaa, 0xaa, _, 0, 0x80, 0xc2, 0, 4 | 10] => at = llc_in_fddi(frame, at + 9)?,
            _ => return None,
        }
    }
}

/// Offset behind the headers of an IEEE 802.11 data frame at `at` and of the LLC in it; with both bits of direction set there are
/// four addresses.
fn after_80211(frame: &[u8], at: usize) -> Option<usize> {
    let header = frame.get(at..)?.first_chunk::<24>()?;
    let len = if header[1] & 3 == 3 { 30 } else { 24 };
    if header[0] & 0x0c == 8 { after_llc(frame, at + len) } else { None }
}

/// Length of a radiotap header, by itself.
fn radiotap_len(frame: &[u8]) -> Option<usize> {
    let &[_, _, low, high] = frame.first_chunk()?;
    let len = usize::from(u16::from_le_bytes([low, high]));
    (len >= 8).then_some(len)
}
