//! Elements that treat packets one at a time.

use crate::context::cx::Cx;
use crate::context::look::Look;
use crate::context::next::Next;
use crate::context::verdict::Verdict;
use crate::element::behaviour::{Element, Pull};
use crate::element::estate::{BadState, StateReader, StateWriter};
use crate::element::handlers::Handlers;
use crate::error::ConfigError;
use crate::shared::decision::Decision;
use packet::{Batch, Packet};
use std::any::Any;

/// An element that treats packets one at a time, without looking at the others of the batch.
///
/// Wrap it in [`PerPacket`] to make an [`Element`]. With one pull input and output it works in pull paths too.
pub trait Simple: Any + Send {
    /// Treats one packet. Inlined into the loop over the batch.
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict;

    /// Treats all packets of a batch as [`Simple::process`] does, and sends them on: for elements that find something
    /// out once for all of them.
    #[inline]
    fn process_batch(&mut self, cx: &mut Cx<'_>, batch: Batch)
    where
        Self: Sized,
    {
        cx.scatter(batch, |cx, packet| self.process(cx, packet));
    }

    /// See [`Element::initialize`].
    ///
    /// # Errors
    /// See [`Element::initialize`].
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        let _ = cx;
        Ok(())
    }

    /// See [`Element::timer`].
    fn timer(&mut self, cx: &mut Cx<'_>, key: u32) {
        let _ = (cx, key);
    }

    /// See [`Element::finish`].
    fn finish(&mut self, cx: &mut Cx<'_>) {
        let _ = cx;
    }

    /// See [`Element::can_take_over`].
    ///
    /// # Errors
    /// See [`Element::can_take_over`].
    fn can_take_over(&mut self, cx: &mut Cx<'_>, old: &dyn Any) -> Result<(), ConfigError> {
        let _ = (cx, old);
        Ok(())
    }

    /// See [`Element::give_state`].
    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        None
    }

    /// See [`Element::take_state`].
    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        let _ = (cx, state);
    }

    /// See [`Element::taken_over`].
    fn taken_over(&mut self, cx: &mut Cx<'_>) {
        let _ = cx;
    }

    /// See [`Element::write_state`].
    fn write_state(&mut self, cx: &mut Cx<'_>, out: &mut StateWriter) -> bool {
        let _ = (cx, out);
        false
    }

    /// See [`Element::read_state`].
    ///
    /// # Errors
    /// See [`Element::read_state`].
    fn read_state(&mut self, cx: &mut Cx<'_>, state: &mut StateReader) -> Result<(), BadState> {
        let _ = (cx, state);
        Ok(())
    }

    /// See [`Element::held`].
    fn held(&self) -> usize {
        0
    }

    /// See [`Element::explain`].
    fn explain(&self, look: &Look<'_>, packet: &mut Packet) -> Option<Decision> {
        let _ = (look, packet);
        None
    }

    /// See [`Element::handlers`].
    fn handlers(&self, handlers: &mut Handlers) {
        let _ = handlers;
    }
}

/// Makes an [`Element`] of a [`Simple`] one.
#[derive(Debug)]
pub struct PerPacket<S>(pub S);

impl<S: Simple> Element for PerPacket<S> {
    #[inline]
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        self.0.process_batch(cx, batch);
    }

    #[inline]
    fn push_alone(&mut self, cx: &mut Cx<'_>, _port: usize, packet: &mut Packet) -> Next {
        let verdict = self.0.process(cx, packet);
        cx.next(Some(verdict))
    }

    #[inline]
    fn pull(&mut self, _cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        Pull::Ask { input: 0, want }
    }

    #[inline]
    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        Pull::Give(cx.sift(batch, |cx, packet| self.0.process(cx, packet)))
    }

    #[inline]
    fn pulled_packet(&mut self, cx: &mut Cx<'_>, _port: usize, mut packet: Packet) -> Pull {
        match self.0.process(cx, &mut packet) {
            Verdict::Pass | Verdict::Output(0) => return Pull::Alone(packet),
            Verdict::Output(output) => cx.emit_packet(output, packet),
            Verdict::Drop(reason) => cx.drop(packet, reason),
        }
        Pull::Nothing
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.0.initialize(cx)
    }

    fn timer(&mut self, cx: &mut Cx<'_>, key: u32) {
        self.0.timer(cx, key);
    }

    fn finish(&mut self, cx: &mut Cx<'_>) {
        self.0.finish(cx);
    }

    fn can_take_over(&mut self, cx: &mut Cx<'_>, old: &dyn Any) -> Result<(), ConfigError> {
        self.0.can_take_over(cx, old)
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        self.0.give_state()
    }

    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        self.0.take_state(cx, state);
    }

    fn taken_over(&mut self, cx: &mut Cx<'_>) {
        self.0.taken_over(cx);
    }

    fn write_state(&mut self, cx: &mut Cx<'_>, out: &mut StateWriter) -> bool {
        self.0.write_state(cx, out)
    }

    fn read_state(&mut self, cx: &mut Cx<'_>, state: &mut StateReader) -> Result<(), BadState> {
        self.0.read_state(cx, state)
    }

    fn explain(&self, look: &Look<'_>, _port: usize, packet: &mut Packet) -> Option<Decision> {
        self.0.explain(look, packet)
    }

    fn handlers(&self, handlers: &mut Handlers) {
        self.0.handlers(handlers);
    }

    fn held(&self) -> usize {
        self.0.held()
    }

    fn target(&mut self) -> Option<&mut dyn Any> {
        Some(&mut self.0)
    }

    fn seen(&self) -> Option<&dyn Any> {
        Some(&self.0)
    }
}
