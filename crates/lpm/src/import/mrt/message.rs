//! What a peer says: `BGP4MP` and `BGP4MP_ET`.

use super::attributes::{Attributes, Session};
use super::bytes::{Bytes, unicast};
use super::event::{AS_TRANS, Event, Path, Peer, Route};
use super::records::Content;
use crate::import::fault::{RecordError, SessionError};
use crate::import::list::AnyPrefix;
use std::net::IpAddr;

/// The state in which BGP speakers tell each other routes (RFC 4271, section 8.2.2).
const ESTABLISHED: u16 = 6;

/// A prefix, with its id where a peer may have several routes for one (RFC 7911).
type Named = (u32, AnyPrefix);

/// The two ends of a session.
struct Ends {
    time: u32,
    peer: Peer,
    /// The collector's address and autonomous system.
    own: Peer,
    wide: bool,
    ids: bool,
}

/// Reads a record: a message, or a change of a session's state.
pub(super) fn read(content: &Content<'_>, events: &mut Vec<Event>) -> Result<(), RecordError> {
    let (mut body, short) = (content.body, RecordError::Short("a BGP message"));
    if content.kind == 17 {
        // Microseconds before the rest.
        body.u32().ok_or(short)?;
    }
    let (wide, ids) = match content.subtype {
        0 | 1 | 6 => (false, false),
        4 | 5 | 7 => (true, false),
        8 | 10 => (false, true),
        9 | 11 => (true, true),
        _ => return Ok(()),
    };
    let (asn, own_asn) = (body.asn(wide).ok_or(short)?, body.asn(wide).ok_or(short)?);
    body.u16().ok_or(short)?;
    let v6 = body.u16().ok_or(short)? == 2;
    let peer = Peer { address: body.address(v6).ok_or(short)?, asn };
    let own = Peer { address: body.address(v6).ok_or(short)?, asn: own_asn };
    let ends = Ends { time: content.time, peer, own, wide, ids };
    match content.subtype {
        0 | 5 => ends.state(body, events).ok_or(RecordError::Short("a change of state")),
        subtype => ends.message(body, matches!(subtype, 6 | 7 | 10 | 11), events),
    }
}

impl Ends {
    /// The peer's routes go when a session ends, and whatever is left of an earlier one when it begins.
    fn state(&self, mut body: Bytes<'_>, events: &mut Vec<Event>) -> Option<()> {
        let (old, new) = (body.u16()?, body.u16()?);
        if (old, new) != (ESTABLISHED, ESTABLISHED) {
            events.push(self.down());
        }
        Some(())
    }

    fn down(&self) -> Event {
        Event::Down { time: self.time, peer: self.peer }
    }

    /// Reads a message from the peer, or one that was sent to it.
    fn message(&self, mut body: Bytes<'_>, sent: bool, events: &mut Vec<Event>) -> Result<(), RecordError> {
        let short = RecordError::Short("a BGP message");
        if body.array::<16>().ok_or(short)? != [0xff; 16] {
            return Err(RecordError::Marker);
        }
        let len = body.u16().ok_or(short)?;
        let kind = body.u8().ok_or(short)?;
        let message = body.take(usize::from(len).checked_sub(19).ok_or(short)?).ok_or(short)?;
        match kind {
            2 if !sent => self.update(message, events),
            // A notification ends the session, from whichever end it comes.
            3 => {
                events.push(self.down());
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Reads an update. An error that makes a speaker end the session leaves no more of it than that.
    fn update(&self, message: Bytes<'_>, events: &mut Vec<Event>) -> Result<(), RecordError> {
        let (update, malformed) = match Update::read(message, self) {
            Ok(read) => read,
            Err(error) => {
                events.push(self.down());
                return Err(RecordError::Session(error));
            }
        };
        // A prefix that is withdrawn and announced is announced (RFC 4271, section 4.3).
        self.push(&update.withdrawn, None, events);
        self.push(&update.unreachable, None, events);
        let length = update.length;
        for (prefixes, gateway) in
            [(&update.announced, update.next_hop), (&update.reachable, update.reachable_by)]
        {
            let path =
                Some(Path { gateway, length }).filter(|_| malformed.is_none() && self.leads_away(gateway));
            self.push(prefixes, path, events);
        }
        malformed.map_or(Ok(()), |kind| Err(RecordError::Attribute(kind)))
    }

    fn push(&self, prefixes: &[Named], path: Option<Path>, events: &mut Vec<Event>) {
        let Ends { time, peer, .. } = *self;
        events.extend(
            prefixes
                .iter()
                .map(|&(id, prefix)| Event::Route(Route { time, dump: false, peer, id, prefix, path })),
        );
    }

    /// Whether a next hop is other than the receiver, which ignores the route otherwise (RFC 4271, section 6.3).
    fn leads_away(&self, gateway: Option<IpAddr>) -> bool {
        gateway != Some(self.own.address)
    }

    fn prefixes(&self, mut field: Bytes<'_>, v6: bool) -> Result<Vec<Named>, SessionError> {
        let mut prefixes = Vec::new();
        while !field.0.is_empty() {
            let id = if self.ids { field.u32().ok_or(SessionError::Prefixes)? } else { 0 };
            prefixes.push((id, field.prefix(v6).map_err(|_| SessionError::Prefixes)?));
        }
        Ok(prefixes)
    }
}

/// What an update says.
struct Update {
    withdrawn: Vec<Named>,
    announced: Vec<Named>,
    next_hop: Option<IpAddr>,
    /// The same in the attributes of RFC 4760.
    unreachable: Vec<Named>,
    reachable: Vec<Named>,
    reachable_by: Option<IpAddr>,
    /// The length of the AS path.
    length: u32,
}

impl Update {
    /// Reads an update, and the type of an attribute because of which what it announces is withdrawn.
    fn read(mut message: Bytes<'_>, ends: &Ends) -> Result<(Update, Option<u8>), SessionError> {
        let withdrawn = message.counted().ok_or(SessionError::Fields)?;
        let attributes = message.counted().ok_or(SessionError::Fields)?;
        // Two systems whose numbers do not fit into 16 bits have the same stand-in.
        let internal = ends.peer.asn == ends.own.asn && ends.peer.asn != AS_TRANS;
        let found = Attributes::read(attributes, Session { wide: ends.wide, internal, dump: false })?;
        let (reachable_by, reachable) =
            found.reach.map_or(Ok((None, Vec::new())), |value| reach(value, ends))?;
        let update = Update {
            withdrawn: ends.prefixes(withdrawn, false)?,
            announced: ends.prefixes(message, false)?,
            next_hop: found.next_hop,
            unreachable: found.unreach.map_or(Ok(Vec::new()), |value| unreach(value, ends))?,
            reachable,
            reachable_by,
            length: found.length,
        };
        let announces = !update.announced.is_empty() || !update.reachable.is_empty();
        let missing = match found {
            _ if !announces => None,
            Attributes { has_origin: false, .. } => Some(1),
            Attributes { has_path: false, .. } => Some(2),
            Attributes { next_hop: None, .. } if !update.announced.is_empty() => Some(3),
            _ => None,
        };
        Ok((update, found.malformed.or(missing)))
    }
}

/// The prefixes that attribute 14 announces, and where they lead.
fn reach(mut value: Bytes<'_>, ends: &Ends) -> Result<(Option<IpAddr>, Vec<Named>), SessionError> {
    let wrong = SessionError::Prefixes;
    let family = (value.u16().ok_or(wrong)?, value.u8().ok_or(wrong)?);
    let Some(v6) = unicast(family) else { return Ok((None, Vec::new())) };
    let len = value.u8().ok_or(wrong)?;
    let next_hop = value.take(len.into()).ok_or(wrong)?;
    // IPv4 routes may have IPv6 next hops (RFC 8950), but not the other way.
    let expected = matches!((v6, len), (false, 4) | (_, 16 | 32));
    let next_hop = next_hop.next_hop().filter(|_| expected).ok_or(SessionError::NextHop)?;
    // Once the number of attachment points, always 0 now.
    value.u8().ok_or(wrong)?;
    let next_hop = Some(next_hop).filter(|address| !address.is_unspecified());
    Ok((next_hop, ends.prefixes(value, v6)?))
}

/// The prefixes that attribute 15 withdraws.
fn unreach(mut value: Bytes<'_>, ends: &Ends) -> Result<Vec<Named>, SessionError> {
    let wrong = SessionError::Prefixes;
    let family = (value.u16().ok_or(wrong)?, value.u8().ok_or(wrong)?);
    unicast(family).map_or(Ok(Vec::new()), |v6| ends.prefixes(value, v6))
}
