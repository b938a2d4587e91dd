//! What an observer wants of a worker, and what it hears.

use crate::shared::decision::Decision;
use crate::shared::observing::{Capture, Cost, Edge, Trace, View};
use packet::Packet;
use std::sync::Arc;
use std::sync::mpsc::Sender;

/// What an observer wants.
pub(crate) enum Order {
    /// Follow packets, or no longer.
    Trace(Option<Arc<Trace>>),
    /// Show a capture the packets of an edge.
    Tap(Edge, Arc<Capture>),
    /// Show it no more.
    Untap(Arc<Capture>),
    /// Say what is known of drops and costs.
    Report(Sender<Report>),
    /// Say what would become of a packet at an input, or at output 0.
    Explain { begin: Begin, element: usize, input: Option<usize>, reply: Sender<Explanation> },
}

/// The packet that is asked about.
pub(crate) enum Begin {
    Bytes(Vec<u8>),
    /// Another worker's question, as far as it knew.
    Packet(Packet),
}

/// Packets that an element has dropped for a reason, or that ended in it so that it tells their senders why.
#[derive(Clone, Debug)]
pub struct Dropped {
    /// The element.
    pub element: usize,
    /// The reason.
    pub reason: &'static str,
    /// How many.
    pub packets: u64,
    /// Whether their senders were told the reason.
    pub told: bool,
    /// One of them, if it was a packet at all.
    pub sample: Option<View>,
}

/// What a worker knows of drops and costs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    pub(crate) drops: Vec<Dropped>,
    /// By element.
    pub(crate) costs: Vec<Cost>,
    /// The turns that were looked at.
    pub(crate) turns: u64,
}

/// A step on the way that a packet would take.
#[derive(Clone, Debug)]
pub struct Explained {
    /// The element.
    pub element: usize,
    /// The input that it would arrive at; `None` where the element brings it.
    pub input: Option<usize>,
    /// The worker whose instance was asked.
    pub worker: usize,
    /// The packet as it would arrive.
    pub view: View,
    /// What the element says; `None` if it says nothing.
    pub decision: Option<Decision>,
}

/// What would become of a packet.
#[derive(Debug, Default)]
pub(crate) struct Explanation {
    pub(crate) steps: Vec<Explained>,
    /// What only other workers know.
    pub(crate) elsewhere: Vec<(usize, usize, Packet)>,
    /// Whether there is more.
    pub(crate) is_cut: bool,
}
