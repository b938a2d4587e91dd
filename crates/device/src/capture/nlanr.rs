//! Decoding traces of NLANR's Passive Measurement and Analysis project: cells of one size, each of a packet's
//! headers, without a file header.

use super::error::ErrorKind;
use super::source::Source;
use super::{LinkType, Record};
use wire::{ip_proto, ipv4, tcp, udp};

/// Formats of these traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nlanr {
    /// 24 bytes: time, addresses, length, protocol, TCP's flags, ports.
    Fr,
    /// 44 bytes: time, an IP header without options, the first 16 bytes of a TCP header.
    FrPlus,
    /// The same, with the number of the link in the upper byte of the time's fraction.
    Tsh,
}

/// Bytes of a cell of the longer formats.
const CELL_LEN: usize = 44;
/// Bytes of one of the shortest.
const FR_LEN: usize = 24;
/// Bytes of the time in front.
const TIME_LEN: usize = 8;

impl Nlanr {
    /// Reads the next cell, `None` at the end.
    pub(super) fn next(self, source: &mut Source, buf: &mut Vec<u8>) -> Result<Option<Record>, ErrorKind> {
        source.set_mark();
        let mut cell = [0; CELL_LEN];
        let len = if self == Nlanr::Fr { FR_LEN } else { CELL_LEN };
        if !source.fill_or_end(&mut cell[..len])? {
            return Ok(None);
        }
        let [a, b, c, d, link, e, f, g, ..] = cell;
        let (seconds, micros) = (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([link, e, f, g]));
        let (interface, micros) = if self == Nlanr::Tsh { (link, micros & 0xff_ffff) } else { (0, micros) };
        buf.clear();
        match self {
            Nlanr::Fr => push_headers(cell.first_chunk().unwrap_or(&[0; FR_LEN]), buf),
            Nlanr::FrPlus | Nlanr::Tsh => buf.extend_from_slice(&cell[TIME_LEN..]),
        }
        Ok(Some(Record {
            // At most 2^32 * 10^9 + 2^32 * 1000: far from the end of an i64.
            time_ns: i64::from(seconds) * 1_000_000_000 + i64::from(micros) * 1000,
            orig_len: buf.len() as u32,
            linktype: LinkType::RawIp,
            interface,
        }))
    }
}

/// The headers that a cell of the shortest format tells about; what it does not tell is zero.
fn push_headers(cell: &[u8; FR_LEN], buf: &mut Vec<u8>) {
    let [.., l, m, protocol, flags, _, _, _, _] = *cell;
    let (addresses, ports) = (&cell[TIME_LEN..16], &cell[20..]);
    buf.resize(ipv4::HEADER_LEN, 0);
    (buf[0], buf[2], buf[3], buf[9]) = (0x45, l, m, protocol);
    buf[12..].copy_from_slice(addresses);
    let transport = match protocol {
        ip_proto::TCP => tcp::HEADER_LEN,
        ip_proto::UDP => udp::HEADER_LEN,
        _ => return,
    };
    buf.resize(ipv4::HEADER_LEN + transport, 0);
    let transport = &mut buf[ipv4::HEADER_LEN..];
    transport[..4].copy_from_slice(ports);
    if protocol == ip_proto::TCP {
        (transport[12], transport[13]) = (0x50, flags);
    } else {
        let len = u16::from_be_bytes([l, m]).saturating_sub(ipv4::HEADER_LEN as u16);
        transport[4..6].copy_from_slice(&len.to_be_bytes());
    }
}
