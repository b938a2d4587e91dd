//! Decoding traces of DAG cards: the extensible record format (ERF), and cells of 64 bytes that came before it.
//!
//! A record begins with 16 bytes: the time as a fixed-point number, lower byte first, then type, flags, length of the
//! record, lost records and length of the packet on the wire, higher byte first. Cells of the old kind have the time,
//! too; what else they have depends on the link.

use super::error::ErrorKind;
use super::order::Order;
use super::source::Source;
use super::{LinkType, Record};

/// Bytes of a record's header.
const HEADER_LEN: usize = 16;
/// Bytes of a cell of the old kind.
const CELL_LEN: usize = 64;
/// What has no type is a cell of the old kind.
const TYPE_OLD: u8 = 0;
/// PPP or HDLC over SONET.
const TYPE_HDLC: u8 = 1;
const TYPE_ETHERNET: u8 = 2;
const TYPE_ATM: u8 = 3;
const TYPE_AAL5: u8 = 4;
/// Bytes in front of an Ethernet header, which put the packet behind it at an even word.
const ETHERNET_PAD: usize = 2;
/// Bytes of the frame check sequence, which the length on the wire counts.
const ETHERNET_FCS: u16 = 4;

/// A trace that is being read.
pub(super) struct Erf {
    /// The link type of all records, if they are of the old kind.
    old: Option<LinkType>,
    /// The header of the first record, which was read to know the trace's link type.
    first: Option<[u8; HEADER_LEN]>,
    /// A type that is not known was met here.
    odd: Option<u8>,
    pub(super) linktype: LinkType,
}

impl Erf {
    /// Begins with a trace whose records are of the old kind if a link type is given.
    pub(super) fn open(old: Option<LinkType>, source: &mut Source) -> Result<Erf, ErrorKind> {
        let mut header = [0; HEADER_LEN];
        match source.fill(&mut header)? {
            HEADER_LEN => {}
            0 => return Err(ErrorKind::Empty),
            _ => return Err(ErrorKind::Truncated),
        }
        let mut erf = Erf { old, first: Some(header), odd: None, linktype: LinkType::AtmLlc };
        erf.linktype = erf.kind(&header).unwrap_or_else(|| erf.old_linktype());
        Ok(erf)
    }

    /// Bytes that were read of a record not yet handed out.
    pub(super) fn ahead(&self) -> u64 {
        if self.first.is_some() { HEADER_LEN as u64 } else { 0 }
    }

    /// A type of record that was not known, once.
    pub(super) fn take_odd_type(&mut self) -> Option<u8> {
        self.odd.take()
    }

    fn old_linktype(&self) -> LinkType {
        self.old.unwrap_or(LinkType::AtmLlc)
    }

    /// The link type that a record says it has; `None` if it is of the old kind.
    fn kind(&self, header: &[u8; HEADER_LEN]) -> Option<LinkType> {
        match header[8] {
            _ if self.old.is_some() => None,
            TYPE_HDLC => Some(LinkType::CiscoHdlc),
            TYPE_ETHERNET => Some(LinkType::Ethernet),
            TYPE_ATM | TYPE_AAL5 => Some(LinkType::SunAtm),
            _ => None,
        }
    }

    /// Reads the next record, `None` at the end.
    pub(super) fn next(
        &mut self,
        source: &mut Source,
        buf: &mut Vec<u8>,
    ) -> Result<Option<Record>, ErrorKind> {
        let header = match self.first.take() {
            Some(header) => header, // the mark is where it begins
            None => {
                source.set_mark();
                let mut header = [0; HEADER_LEN];
                if !source.fill_or_end(&mut header)? {
                    return Ok(None);
                }
                header
            }
        };
        let (linktype, wire_len) = match self.kind(&header) {
            Some(linktype) => (linktype, record(linktype, &header, source, buf)?),
            None => {
                if self.old.is_none() && header[8] != TYPE_OLD {
                    self.odd = Some(header[8]);
                    self.old = Some(LinkType::AtmLlc);
                }
                let linktype = self.old_linktype();
                (linktype, cell(linktype, &header, source, buf)?)
            }
        };
        let orig_len = u32::from(wire_len).max(buf.len() as u32);
        Ok(Some(Record { time_ns: time_ns(&header), orig_len, linktype, interface: 0 }))
    }
}

/// Reads what follows a record's header; the packet's length on the wire. Records are padded: what is longer than the packet is cut off.
fn record(
    linktype: LinkType,
    header: &[u8; HEADER_LEN],
    source: &mut Source,
    buf: &mut Vec<u8>,
) -> Result<u16, ErrorKind> {
    let (pad, fcs) = if linktype == LinkType::Ethernet { (ETHERNET_PAD, ETHERNET_FCS) } else { (0, 0) };
    let len = usize::from(Order::Big.u16_at(header, 10));
    let Some(len) = len.checked_sub(HEADER_LEN + pad) else {
        return Err(ErrorKind::Malformed { what: "the record is shorter than its header" });
    };
    source.skip(pad as u64)?;
    buf.resize(len, 0);
    source.fill_all(buf)?;
    let wire_len = Order::Big.u16_at(header, 14).saturating_sub(fcs);
    if wire_len > 0 {
        buf.truncate(usize::from(wire_len));
    }
    Ok(wire_len)
}

/// The same of a cell of the old kind; 0 if it does not tell the length.
fn cell(
    linktype: LinkType,
    header: &[u8; HEADER_LEN],
    source: &mut Source,
    buf: &mut Vec<u8>,
) -> Result<u16, ErrorKind> {
    let (from, wire_len_at) = match linktype {
        LinkType::Ethernet => (10, Some(8)),
        LinkType::CiscoHdlc => (HEADER_LEN, Some(10)),
        LinkType::SunAtm => (12, None),
        LinkType::RawIp => (8, None),
        _ => (HEADER_LEN, None),
    };
    buf.clear();
    buf.extend_from_slice(&header[from..]);
    let in_header = buf.len();
    buf.resize(CELL_LEN - from, 0);
    source.fill_all(&mut buf[in_header..])?;
    Ok(wire_len_at.map_or(0, |at| Order::Big.u16_at(header, at)))
}

/// The time of a record, which has 32 bits of seconds and as many behind the point.
fn time_ns(header: &[u8; HEADER_LEN]) -> i64 {
    let stamp = Order::Little.i64_at(header, 0) as u64;
    let (seconds, fraction) = (stamp >> 32, stamp & 0xffff_ffff);
    // Both factors are less than 2^32, and so is the number of seconds.
    (seconds * 1_000_000_000 + ((fraction * 1_000_000_000 + (1 << 31)) >> 32)) as i64
}
