//! The records of a file, one after the other.

use super::bytes::Bytes;
use super::dump::first_entries;
use crate::import::fault::RecordError;

/// Whether bytes look like the first record of an MRT file rather than text.
pub fn is_mrt(bytes: &[u8]) -> bool {
    let Some(header) = Header::of(bytes) else { return false };
    is_known(header.kind) && header.kind > 10 && header.subtype < 64 && header.len < 1 << 24
}

/// Whether there are records of a type (RFC 6396, section 4, and its appendix for those that are no longer used).
pub(super) fn is_known(kind: u16) -> bool {
    matches!(kind, 0..=13 | 16 | 17 | 32 | 33 | 48 | 49 | 64)
}

/// The common beginning of all records.
struct Header {
    time: u32,
    kind: u16,
    subtype: u16,
    len: u32,
}

impl Header {
    fn of(bytes: &[u8]) -> Option<Header> {
        let mut bytes = Bytes(bytes);
        Some(Header { time: bytes.u32()?, kind: bytes.u16()?, subtype: bytes.u16()?, len: bytes.u32()? })
    }
}

/// A record, and where it stands.
pub(super) struct Record<'a> {
    /// Its number, from 1.
    pub(super) number: u64,
    /// Where it begins.
    pub(super) offset: u64,
    /// What it has, unless the file ends too early.
    pub(super) content: Result<Content<'a>, RecordError>,
}

/// What a record has.
pub(super) struct Content<'a> {
    pub(super) time: u32,
    pub(super) kind: u16,
    pub(super) subtype: u16,
    pub(super) body: Bytes<'a>,
}

/// Records that are taken from the front of a file.
pub(super) struct Records<'a> {
    all: usize,
    rest: Bytes<'a>,
    number: u64,
}

impl<'a> Records<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Records { all: bytes.len(), rest: Bytes(bytes), number: 0 }
    }

    fn take(&mut self) -> Option<Content<'a>> {
        let Header { time, kind, subtype, len } = Header::of(self.rest.0)?;
        self.rest.take(12)?;
        let (behind, len) = (self.rest.0, len as usize);
        let mut body = self.rest.take(len)?;
        if kind == 12 && first_entries(body, subtype == 2).is_none() {
            // The oldest dumps do not count the view and sequence numbers in the length.
            let (longer, rest) = behind.split_at_checked(len + 4)?;
            if first_entries(Bytes(longer), subtype == 2).is_some() {
                (body, self.rest) = (Bytes(longer), Bytes(rest));
            }
        }
        Some(Content { time, kind, subtype, body })
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        if self.rest.0.is_empty() {
            return None;
        }
        self.number += 1;
        let offset = (self.all - self.rest.0.len()) as u64;
        let content = self.take().ok_or(RecordError::Short("a record"));
        if content.is_err() {
            self.rest = Bytes(&[]);
        }
        Some(Record { number: self.number, offset, content })
    }
}
