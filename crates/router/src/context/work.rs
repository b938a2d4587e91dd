//! The rest of a worker's turn: a stack of work items.

use crate::calls::computation::Frame;
use crate::handlers::call::{Access, Call};
use crate::handlers::declaration::Of;
use crate::handlers::response::Response;
use crate::shared::mailbox::Reply;
use packet::{Batch, Packet};

/// A work item. Kept at 16 bytes: a dispatch moves one.
pub(crate) enum Work {
    /// A batch arrives at an input.
    Push { element: u32, port: u16, batch: Batch },
    /// A packet arrives at an input, alone.
    Alone { element: u32, port: u16, packet: Packet },
    /// An element asks for packets at its pull input: of its own accord (`own`), or because it was asked itself.
    Ask { element: u32, port: u16, want: u8, own: bool },
    /// An element's request is being answered further up.
    Waiting(Waiting),
    /// The packets for the waiting element below.
    Answer { batch: Batch },
    /// Something that spans elements.
    Control(Box<Control>),
}

/// Packets on their way.
pub(crate) enum Load {
    Packet(Packet),
    Batch(Batch),
}

impl Load {
    pub(crate) fn len(&self) -> usize {
        match self {
            Load::Packet(_) => 1,
            Load::Batch(batch) => batch.len(),
        }
    }
}

/// An element that waits for an answer at its pull input `port`; it asked of its own accord (`own`), or to answer in turn.
#[derive(Clone, Copy)]
pub(crate) struct Waiting {
    pub(crate) element: u32,
    pub(crate) port: u16,
    pub(crate) own: bool,
}

const _: () = assert!(size_of::<Work>() == 16);

impl Work {
    /// The packets in it.
    pub(crate) fn packets(&self) -> u64 {
        match self {
            Work::Push { batch, .. } | Work::Answer { batch } => batch.len() as u64,
            Work::Alone { .. } => 1,
            Work::Ask { .. } | Work::Waiting(_) | Work::Control(_) => 0,
        }
    }
}

/// The rarer work items.
pub(crate) enum Control {
    /// A computation starts.
    Start(Frame),
    /// A computation waits for the answer to this call; it is there or not.
    Await(Frame, u64, Option<Response>),
    /// A call that an element made for its effect.
    Call(Call),
    /// Another worker's call of a handler here.
    Part { element: usize, handler: Of, access: Access, argument: String, reply: Reply },
}
