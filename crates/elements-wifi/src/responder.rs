//! Elements that take management frames of wireless networks and answer some with frames of their own.

use super::management::Frame;
use super::rates::Rates;
use super::wireless_info::Network;
use packet::{Batch, Packet};
use router::{ConfigError, Cx, Element, ElementName, Handlers};
use std::any::Any;
use std::sync::Arc;

/// What such an element does.
pub(super) trait Respond: Any + Send {
    /// The answer to a frame, if it gets one; or says why it is dropped.
    fn respond(&mut self, cx: &mut Cx<'_>, packet: &Packet) -> Result<Option<Frame>, &'static str>;

    /// See [`Element::initialize`].
    ///
    /// # Errors
    /// See [`Element::initialize`].
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError>;

    /// See [`Element::timer`].
    fn timer(&mut self, cx: &mut Cx<'_>) {
        let _ = cx;
    }

    /// See [`Element::handlers`].
    fn handlers(&self, handlers: &mut Handlers);
}

/// Makes an [`Element`] of one.
pub(super) struct Responder<R>(pub(super) R);

impl<R: Respond> Element for Responder<R> {
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        let mut answers = cx.batch();
        for packet in batch.iter() {
            match self.0.respond(cx, packet) {
                Ok(Some(frame)) => match cx.pool().packet(frame.bytes()) {
                    Some(answer) => answers.push(answer),
                    None => cx.count_drops(NO_BUFFER, 1),
                },
                Ok(None) => {}
                Err(reason) => cx.count_drops(reason, 1),
            }
        }
        cx.consume(batch);
        cx.emit(0, answers);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.0.initialize(cx)
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        self.0.timer(cx);
    }

    fn handlers(&self, handlers: &mut Handlers) {
        self.0.handlers(handlers);
    }

    fn target(&mut self) -> Option<&mut dyn Any> {
        Some(&mut self.0)
    }
}

/// Why there is no frame.
const NO_BUFFER: &str = "no buffer";
/// Why frames of other kinds are dropped.
pub(super) const OTHER_KIND: &str = "another kind of management frame";
/// Why frames are dropped that are for others.
pub(super) const NOT_FOR_US: &str = "for another host";
/// Why frames are dropped that are for networks of other names.
pub(super) const OTHER_NETWORK: &str = "for another network";

/// Emits a frame that answers no other.
pub(super) fn send(cx: &mut Cx<'_>, frame: &Frame) {
    match cx.pool().packet(frame.bytes()) {
        Some(packet) => cx.emit_packet(0, packet),
        None => cx.count_drops(NO_BUFFER, 1),
    }
}

/// The elements by which an element knows the network and rates. Those that it does not name say nothing.
#[derive(Default)]
pub(super) struct Known {
    /// The name of a WirelessInfo.
    pub(super) info: Option<ElementName>,
    /// The name of an AvailableRates.
    pub(super) table: Option<ElementName>,
    pub(super) network: Arc<Network>,
    pub(super) rates: Arc<Rates>,
}

impl Known {
    /// Finds the elements.
    ///
    /// # Errors
    /// One is of another class.
    pub(super) fn find(&mut self, cx: &Cx<'_>) -> Result<(), ConfigError> {
        if let Some(info) = &self.info {
            self.network = cx.shared_of(&info.name, "WirelessInfo")?;
        }
        if let Some(table) = &self.table {
            self.rates = cx.shared_of(&table.name, "AvailableRates")?;
        }
        Ok(())
    }
}
