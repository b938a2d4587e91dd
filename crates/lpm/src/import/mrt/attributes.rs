//! The attributes of a route, checked as RFC 7606 says.

use super::bytes::Bytes;
use crate::import::fault::SessionError;
use std::net::{IpAddr, Ipv4Addr};

/// What is known of the session over which attributes came.
#[derive(Clone, Copy)]
pub(super) struct Session {
    /// Whether autonomous systems have 32 bits.
    pub(super) wide: bool,
    /// Whether both ends are in the same autonomous system.
    pub(super) internal: bool,
    /// Whether they are of a table dump, and so were accepted once.
    pub(super) dump: bool,
}

/// What is looked at of a route's attributes.
#[derive(Clone, Copy, Default)]
pub(super) struct Attributes<'a> {
    /// The type of the first one that is malformed in such a way that the routes are withdrawn.
    pub(super) malformed: Option<u8>,
    pub(super) has_origin: bool,
    pub(super) has_path: bool,
    /// The length of the AS path.
    pub(super) length: u32,
    pub(super) next_hop: Option<IpAddr>,
    /// What attributes 14 and 15 (RFC 4760) have.
    pub(super) reach: Option<Bytes<'a>>,
    pub(super) unreach: Option<Bytes<'a>>,
}

/// What becomes of an attribute.
#[derive(PartialEq, Eq)]
enum Verdict {
    /// It is used, or of no interest.
    Fine,
    /// The route goes on without it.
    Discard,
    /// The routes are withdrawn.
    Withdraw,
}

impl<'a> Attributes<'a> {
    /// Reads attributes. Of several of a type the first counts.
    pub(super) fn read(mut field: Bytes<'a>, session: Session) -> Result<Self, SessionError> {
        let (mut found, mut seen) = (Attributes::default(), [false; 256]);
        while !field.0.is_empty() {
            let Some((flags, kind, value)) = field.attribute() else {
                // The list ends within one (section 4): no telling what it would have said.
                let kind = field.0.get(1).copied().unwrap_or_default();
                found.malformed = found.malformed.or(Some(kind));
                break;
            };
            if std::mem::replace(&mut seen[usize::from(kind)], true) {
                match kind {
                    14 | 15 => return Err(SessionError::Twice(kind)),
                    _ => continue,
                }
            }
            match check(flags, kind, value, session) {
                Some(Verdict::Fine) => found.take(kind, value, session),
                Some(Verdict::Discard) => {}
                Some(Verdict::Withdraw) => found.malformed = found.malformed.or(Some(kind)),
                None => return Err(SessionError::Unknown(kind)),
            }
            // Their prefixes are needed whatever is wrong with the rest.
            match kind {
                14 => found.reach = Some(value),
                15 => found.unreach = Some(value),
                _ => {}
            }
        }
        Ok(found)
    }

    fn take(&mut self, kind: u8, mut value: Bytes<'_>, session: Session) {
        match kind {
            1 => self.has_origin = true,
            2 => (self.has_path, self.length) = (true, path_length(value, session.wide).unwrap_or_default()),
            3 => self.next_hop = value.address(false),
            _ => {}
        }
    }
}

/// What becomes of an attribute; `None` if it ends the session.
fn check(flags: u8, kind: u8, value: Bytes<'_>, session: Session) -> Option<Verdict> {
    let Session { wide, internal, dump } = session;
    let len = value.0.len();
    let many = |unit: usize| len > 0 && len.is_multiple_of(unit);
    // Attributes that only neighbours of the same system send; from others they are discarded.
    if matches!(kind, 5 | 9 | 10) && !internal {
        return Some(Verdict::Discard);
    }
    let well_formed = match kind {
        1 => len == 1 && value.0[0] <= 2,
        2 => path_length(value, wide).is_some(),
        3 => next_hop_is_valid(value, dump),
        4 | 5 | 9 => len == 4,
        6 => len == 0,
        7 => len == if wide { 8 } else { 6 } && { value }.asn(wide) != Some(0),
        8 | 10 => many(4),
        16 => many(8),
        25 => many(20),
        32 => many(12),
        _ => true,
    };
    let Some(expected) = flags_of(kind) else {
        let optional = flags & 0x80 != 0;
        return (optional || dump).then_some(Verdict::Fine);
    };
    let flags_fit = dump || flags & 0xc0 == expected;
    Some(match kind {
        6 | 7 if flags_fit && !well_formed => Verdict::Discard,
        // The path and the aggregator that old speakers do not understand (RFC 6793). What they put in the place of AS_TRANS leaves the
        // length of the path as it is, and only that is needed here.
        17 | 18 => Verdict::Discard,
        _ if flags_fit && well_formed => Verdict::Fine,
        _ => Verdict::Withdraw,
    })
}

/// Whether an attribute of a known type is optional (0x80) and transitive (0x40).
fn flags_of(kind: u8) -> Option<u8> {
    match kind {
        1..=3 | 5 | 6 => Some(0x40),
        4 | 9 | 10 | 14 | 15 => Some(0x80),
        7 | 8 | 16..=18 | 25 | 32 => Some(0xc0),
        _ => None,
    }
}

/// Whether a next hop has the form of a host's address (RFC 4271, section 6.3). A dump has 0.0.0.0 for the collector's own routes.
fn next_hop_is_valid(mut value: Bytes<'_>, dump: bool) -> bool {
    if value.0.len() != 4 {
        return false;
    }
    let address = value.array().map_or(Ipv4Addr::UNSPECIFIED, |bytes: [u8; 4]| bytes.into());
    let host = !matches!(address.octets()[0], 0 | 127 | 224..);
    host || dump
}

/// The number of autonomous systems on a path; `None` if it is malformed, as one is that has the number 0 (RFC 7607).
fn path_length(mut value: Bytes<'_>, wide: bool) -> Option<u32> {
    let mut length = 0;
    while !value.0.is_empty() {
        let kind = value.u8()?;
        let count = value.u8().filter(|&count| count > 0)?;
        for _ in 0..count {
            value.asn(wide).filter(|&asn| asn != 0)?;
        }
        length += match kind {
            1 => 1,
            2 => u32::from(count),
            // Within a confederation.
            3 | 4 => 0,
            _ => return None,
        };
    }
    Some(length)
}
