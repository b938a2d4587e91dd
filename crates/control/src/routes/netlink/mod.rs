//! Routes, next-hop objects, links and neighbours in the kernel's message format: what rtnetlink sends, and zebra within FPM messages.
//!
//! Reading is total: whatever the bytes are, there is a message or none, and no message is longer than its header
//! says. The formats are those of `linux/rtnetlink.h`, `linux/nexthop.h`, `linux/if_link.h` and `linux/neighbour.h`; numbers are in
//! the machine's byte order, addresses in the network's.

pub(crate) mod attributes;
mod link;
mod neighbour;
mod object;
mod route;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) mod write;

pub(crate) use link::Link;
pub(crate) use neighbour::{Neighbour, Standing};
pub(crate) use object::Object;
pub(crate) use route::{Forwarding, NextHop, Placing, Route, Special};

use attributes::{u16_at, u32_at};

/// What a message says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// The kernel knows this of a neighbour from now on.
    Neighbour(Neighbour),
    Add(Route),
    Remove(Route),
    /// The next-hop object with this number is this from now on. If it is new, there was none before.
    AddObject {
        id: u32,
        object: Object,
        is_new: bool,
    },
    RemoveObject(u32),
    /// An interface is like this from now on.
    Link(Link),
    /// The interface with this number is no more.
    LinkGone(u32),
    /// Something else.
    Other,
}

const HEADER: usize = 16;
const RTM_NEWLINK: u16 = 16;
const RTM_DELLINK: u16 = 17;
/// Asks for links.
pub(crate) const RTM_GETLINK: u16 = 18;
const RTM_NEWROUTE: u16 = 24;
const RTM_DELROUTE: u16 = 25;
/// Asks for routes.
pub(crate) const RTM_GETROUTE: u16 = 26;
const RTM_NEWNEIGH: u16 = 28;
const RTM_DELNEIGH: u16 = 29;
/// Asks for neighbours.
pub(crate) const RTM_GETNEIGH: u16 = 30;
const RTM_NEWNEXTHOP: u16 = 104;
const RTM_DELNEXTHOP: u16 = 105;
/// Asks for next hops.
pub(crate) const RTM_GETNEXTHOP: u16 = 106;
/// `AF_BRIDGE`: a message about a port of a bridge, which says less of the link.
const AF_BRIDGE: u8 = 7;

/// The messages in some bytes, and how many bytes they take: the last one may not be there whole.
pub(crate) fn messages(bytes: &[u8]) -> (Vec<Message>, usize) {
    let mut found = Vec::new();
    let taken = take_messages(bytes, |message| found.push(message));
    (found, taken)
}

/// The same, one by one.
pub(crate) fn take_messages(mut bytes: &[u8], mut take: impl FnMut(Message)) -> usize {
    let whole = bytes.len();
    while let Some((message, rest)) = message(bytes) {
        take(message);
        bytes = rest;
    }
    whole - bytes.len()
}

/// The first message, and what follows it.
fn message(bytes: &[u8]) -> Option<(Message, &[u8])> {
    let len = u32_at(bytes, 0)? as usize;
    let body = bytes.get(HEADER..len)?;
    let rest = bytes.get(len.next_multiple_of(4)..).unwrap_or_default();
    let flags = u16_at(bytes, 6)?;
    let read = match u16_at(bytes, 4)? {
        RTM_NEWROUTE => route::read(flags, body).map(Message::Add),
        RTM_DELROUTE => route::read(flags, body).map(Message::Remove),
        RTM_NEWNEXTHOP => object::read(body).map(|(id, object)| Message::AddObject {
            id,
            object,
            is_new: route::placing(flags) == Placing::Only,
        }),
        RTM_DELNEXTHOP => object::id(body).map(Message::RemoveObject),
        RTM_NEWNEIGH => neighbour::read(body).map(Message::Neighbour),
        RTM_DELNEIGH => neighbour::read(body)
            .map(|neighbour| Message::Neighbour(Neighbour { standing: Standing::Unknown, ..neighbour })),
        RTM_NEWLINK | RTM_DELLINK if body.first() == Some(&AF_BRIDGE) => None,
        RTM_NEWLINK => link::read(body).map(Message::Link),
        RTM_DELLINK => link::read(body).map(|link| Message::LinkGone(link.index)),
        _ => None,
    };
    Some((read.unwrap_or(Message::Other), rest))
}

/// A message that asks for everything of a kind: `what` is [`RTM_GETROUTE`], [`RTM_GETNEXTHOP`], [`RTM_GETLINK`] or [`RTM_GETNEIGH`].
pub(crate) fn dump_request(what: u16, sequence: u32) -> Vec<u8> {
    /// `NLM_F_REQUEST | NLM_F_DUMP`
    const FLAGS: u16 = 0x301;
    let body = match what {
        RTM_GETNEXTHOP => 8,
        RTM_GETLINK => 16,
        _ => 12,
    };
    let mut message = ((HEADER + body) as u32).to_ne_bytes().to_vec();
    message.extend(what.to_ne_bytes());
    message.extend(FLAGS.to_ne_bytes());
    message.extend(sequence.to_ne_bytes());
    message.extend([0; 4]);
    message.resize(HEADER + body, 0);
    message
}
