//! A frame of the kernel's, and what comes of frames that are received and sent.

use crate::segments::Note;
use packet::Kind;
use std::io;

/// A received frame.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Its bytes, without a VLAN tag that the driver took out.
    pub data: &'a [u8],
    /// Its length when it was received.
    pub len: usize,
    /// When it was received, in nanoseconds since the epoch.
    pub time_ns: i64,
    /// To whom it was addressed.
    pub addressee: Kind,
    /// The protocol and the tag that the driver took out.
    pub vlan: Option<(u16, u16)>,
    /// Whether the transport checksum was left to hardware that it never met: only the pseudo-header is in it.
    pub unfinished: bool,
    /// What the kernel says of it: how it is to be cut, if it is longer than its sender wants it on the wire.
    pub note: Note,
    /// Whether it is longer than `data`, and all of it waits in the socket's queue.
    pub waits: bool,
}

impl<'a> Frame<'a> {
    /// A frame of which no more is known than its bytes.
    pub(crate) fn plain(data: &'a [u8]) -> Frame<'a> {
        let addressee = addressee(data);
        Frame {
            data,
            len: data.len(),
            time_ns: 0,
            addressee,
            vlan: None,
            unfinished: false,
            note: Note::default(),
            waits: false,
        }
    }
}

/// To whom a frame is addressed, by its address.
fn addressee(frame: &[u8]) -> Kind {
    match frame.first_chunk::<6>() {
        Some([0xff, 0xff, 0xff, 0xff, 0xff, 0xff]) => Kind::Broadcast,
        Some([first, ..]) if first & 1 == 1 => Kind::Multicast,
        _ => Kind::Host,
    }
}

/// What came of looking for frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// Frames that were there, wanted or not.
    pub looked_at: usize,
    /// Frames that were wanted, but there was no buffer for them.
    pub lost: usize,
    /// Control frames about neighbours' addresses, of which there were too many.
    pub refused: usize,
    /// Long frames that became segments.
    pub segmented: usize,
    /// Long frames that could not be cut into segments.
    pub uncut: usize,
    /// Long frames for which there was no room.
    pub roomless: usize,
}

impl Taken {
    /// Adds what came of another look.
    pub(crate) fn add(&mut self, other: Taken) {
        self.looked_at += other.looked_at;
        self.lost += other.lost;
        self.refused += other.refused;
        self.segmented += other.segmented;
        self.uncut += other.uncut;
        self.roomless += other.roomless;
    }
}

/// What came of a batch of frames.
#[derive(Debug)]
pub struct Sent {
    /// The kernel took the first so many.
    pub count: usize,
    /// Of these, so many went as parts of longer ones.
    pub merged: usize,
    /// Why it did not take the next one.
    pub error: Option<io::Error>,
}
