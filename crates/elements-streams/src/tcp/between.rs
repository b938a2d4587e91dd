//! What elements between a TCPIn and its TCPOut know and keep of streams.

use super::connections::{Path, cut, edit};
use super::messages::{Marks, Requests};
use super::segment::Segment;
use super::waiting::before;
use packet::Packet;
use router::{ConfigError, Info};
use std::any::Any;
use std::collections::BTreeSet;
use wire::tcp::flag;

/// Why packets are dropped.
pub(super) const CLOSED: &str = "connection closed";

/// What an element keeps of a stream.
pub(super) trait Part: Any + Send {
    /// Packets that it holds.
    fn held(&self) -> usize;
}

/// What the elements between keep of a stream.
#[derive(Default)]
pub(super) struct Parts(Vec<(usize, Box<dyn Part>)>);

impl Parts {
    /// That of an element; it is made if there is none.
    pub(super) fn of<T: Part>(&mut self, element: usize, new: impl FnOnce() -> T) -> Option<&mut T> {
        let known = self.0.iter().position(|(owner, _)| *owner == element);
        let at = known.unwrap_or(self.0.len());
        if known.is_none() {
            self.0.push((element, Box::new(new())));
        }
        let part: &mut dyn Any = &mut *self.0.get_mut(at)?.1;
        part.downcast_mut()
    }

    /// Packets that they hold.
    pub(super) fn held(&self) -> usize {
        self.0.iter().map(|(_, part)| part.held()).sum()
    }
}

/// What the elements between see of a connection.
pub(super) struct Between<'c> {
    /// The number up to which the stream has left.
    pub(super) left: u32,
    pub(super) parts: &'c mut Parts,
    pub(super) marks: &'c mut Marks,
    pub(super) requests: &'c mut Requests,
    pub(super) is_over: bool,
    /// Packets that are held of all connections, and how many can be.
    pub(super) held: &'c mut usize,
    pub(super) most: usize,
}

/// What a packet is to an element between, which has seen the stream up to some number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It has no data, or some that was there before: it passes.
    Passes,
    /// A RST.
    Ends,
    /// What comes next, with so many bytes of data now.
    Next { data: usize },
}

impl Role {
    /// That of a packet, and the number up to which the stream is seen with it.
    pub(super) fn of(packet: &Packet, segment: &Segment, seen: u32) -> (Role, u32) {
        if segment.has(flag::RST) {
            return (Role::Ends, seen);
        }
        let data = packet.network().map_or(0, |bytes| bytes.len().saturating_sub(segment.headers));
        let width = segment.data as u32 + u32::from(segment.has(flag::FIN));
        if segment.has(flag::SYN) || before(segment.start, seen) || width == 0 && data == 0 {
            return (Role::Passes, seen);
        }
        (Role::Next { data }, segment.start.wrapping_add(width))
    }
}

/// Makes a RST of a packet, which ends the connection on both sides.
pub(super) fn make_rst(packet: &mut Packet) {
    if let Some(segment) = Segment::of(packet) {
        cut(packet, segment.headers);
        edit(packet, |tcp| tcp.set_flags(segment.flags & !(flag::FIN | flag::PSH) | flag::RST));
    }
}

/// The connections that an element between is for.
pub(super) fn path(info: &Info, element: usize) -> Result<Path, ConfigError> {
    let (mut known, mut ahead, mut found) = (BTreeSet::from([element]), vec![element], Vec::new());
    while let Some(at) = ahead.pop() {
        for &(next, _) in info.nodes[at].inputs.iter().flat_map(|input| &input.peers) {
            match (known.insert(next), info.nodes[next].class.name) {
                (true, "TCPIn") => found.push(next),
                (true, _) => ahead.push(next),
                (false, _) => {}
            }
        }
    }
    match found[..] {
        [inlet] => Path::of_in(info, inlet),
        [] => Err("needs a TCPIn upstream".into()),
        _ => Err("needs one TCPIn upstream, not several".into()),
    }
}

/// Checks that what comes to an element's second input is what comes again by a TCPIn.
pub(super) fn comes_again_by(info: &Info, element: usize) -> Result<(), ConfigError> {
    let (mut known, mut ahead) = (BTreeSet::new(), Vec::new());
    ahead.extend(info.nodes[element].inputs.iter().skip(1).flat_map(|input| &input.peers).copied());
    while let Some((at, port)) = ahead.pop() {
        let node = &info.nodes[at];
        if !known.insert(at) || node.class.name == "TCPIn" && port == 1 {
            continue;
        }
        if ["TCPIn", "TCPReorder", "SimpleTCPReorder"].contains(&node.class.name) {
            let text = "input 1 is for what the second output of a TCPIn emits, which puts packets in order by itself; not for that of";
            return Err(format!("{text} '{}'", node.name).into());
        }
        ahead.extend(node.inputs.iter().flat_map(|input| &input.peers).copied());
    }
    Ok(())
}
