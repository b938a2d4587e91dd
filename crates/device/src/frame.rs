//! A frame of the kernel's, and what comes of frames that are received and sent.

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
}

impl<'a> Frame<'a> {
    /// A frame of which no more is known than its bytes.
    pub(crate) fn plain(data: &'a [u8]) -> Frame<'a> {
        let addressee = addressee(data);
        Frame { data, len: data.len(), time_ns: 0, addressee, vlan: None, unfinished: false }
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
}

/// What came of a batch of frames.
#[derive(Debug)]
pub struct Sent {
    /// The kernel took the first so many.
    pub count: usize,
    /// Why it did not take the next one.
    pub error: Option<io::Error>,
}
