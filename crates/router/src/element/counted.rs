//! An element whose packets are counted.
//!
//! What an element does to the number of packets is seen from outside, call by call: which packets come, which it emits or returns, how
//! many more or fewer the worker's pool has out, and what the element counts as dropped. An element cannot be wrong about that, except by
//! losing one packet and making another in the same call. A router that counts puts this around every element when it is built, so that
//! one that does not pays nothing.

use crate::calls::computation::{Answer, Step};
use crate::context::cx::Cx;
use crate::context::look::Look;
use crate::context::next::Next;
use crate::context::verdict::Verdict;
use crate::element::behaviour::{Element, Pull, Queues, seen, target};
use crate::element::estate::{BadState, StateReader, StateWriter};
use crate::element::handlers::Handlers;
use crate::error::ConfigError;
use crate::shared::decision::Decision;
use crate::shared::ledger::Ledger;
use packet::{Batch, Packet};
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// An element whose packets are counted.
pub(crate) struct Counted {
    pub(crate) inner: Box<dyn Element>,
    ledger: Arc<Ledger>,
}

/// A state, and how many packets are in it.
struct Given {
    packets: i64,
    state: Box<dyn Any + Send>,
}

/// An element as the router runs it: with its packets counted if there is where to count them.
pub(crate) fn counted(inner: Box<dyn Element>, ledger: Option<Arc<Ledger>>) -> Box<dyn Element> {
    match ledger {
        Some(ledger) => Box::new(Counted { inner, ledger }),
        None => inner,
    }
}

impl Counted {
    fn held(&self) -> i64 {
        (self.inner.held() + self.inner.held_together()) as i64
    }

    /// Runs something on the element, to which so many packets are handed.
    fn count<R>(
        &mut self,
        cx: &mut Cx<'_>,
        arrived: usize,
        run: impl FnOnce(&mut dyn Element, &mut Cx<'_>) -> R,
        returned: impl FnOnce(&R) -> usize,
    ) -> R {
        let before = cx.core.before();
        let result = run(&mut *self.inner, cx);
        cx.core.note(&self.ledger, &before, arrived as u64, returned(&result) as u64);
        result
    }

    /// Runs something that neither gets nor returns packets.
    fn alone<R>(&mut self, cx: &mut Cx<'_>, run: impl FnOnce(&mut dyn Element, &mut Cx<'_>) -> R) -> R {
        self.count(cx, 0, run, |_| 0)
    }
}

/// Packets that an element returns.
fn given(pull: &Pull) -> usize {
    match pull {
        Pull::Give(batch) => batch.len(),
        Pull::Alone(_) => 1,
        Pull::Nothing | Pull::Later | Pull::Ask { .. } => 0,
    }
}

impl Element for Counted {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.alone(cx, |inner, cx| inner.initialize(cx))
    }

    fn push(&mut self, cx: &mut Cx<'_>, port: usize, batch: Batch) {
        self.count(cx, batch.len(), |inner, cx| inner.push(cx, port, batch), |()| 0);
    }

    fn push_alone(&mut self, cx: &mut Cx<'_>, port: usize, packet: &mut Packet) -> Next {
        let before = cx.core.before();
        let next = self.inner.push_alone(cx, port, packet);
        // The worker carries the verdict out: it counts what is dropped by it, and frees it.
        let leaves = cx.core.leads(match cx.verdict(next) {
            Some(Verdict::Pass) => Some(0),
            Some(Verdict::Output(output)) => Some(output),
            Some(Verdict::Drop(_)) => None,
            None => return next,
        });
        cx.core.note(&self.ledger, &before, 1, u64::from(leaves));
        next
    }

    fn push_packet(&mut self, cx: &mut Cx<'_>, port: usize, packet: Packet) {
        self.count(cx, 1, |inner, cx| inner.push_packet(cx, port, packet), |()| 0);
    }

    fn pull(&mut self, cx: &mut Cx<'_>, port: usize, want: usize) -> Pull {
        self.count(cx, 0, |inner, cx| inner.pull(cx, port, want), given)
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, port: usize, batch: Batch) -> Pull {
        self.count(cx, batch.len(), |inner, cx| inner.pulled(cx, port, batch), given)
    }

    fn pulled_packet(&mut self, cx: &mut Cx<'_>, port: usize, packet: Packet) -> Pull {
        self.count(cx, 1, |inner, cx| inner.pulled_packet(cx, port, packet), given)
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        self.alone(cx, |inner, cx| inner.run_task(cx));
    }

    fn timer(&mut self, cx: &mut Cx<'_>, key: u32) {
        self.alone(cx, |inner, cx| inner.timer(cx, key));
    }

    fn resume(&mut self, cx: &mut Cx<'_>, state: &mut Box<dyn Any + Send>, answer: Answer) -> Step {
        self.alone(cx, |inner, cx| inner.resume(cx, state, answer))
    }

    /// What it still holds ends with it: not counted.
    fn finish(&mut self, cx: &mut Cx<'_>) {
        self.inner.finish(cx);
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        let held = self.held();
        let state = self.inner.give_state()?;
        let packets = held - self.held();
        self.ledger.given.fetch_add(packets, Relaxed);
        Some(Box::new(Given { packets, state }))
    }

    fn can_take_over(&mut self, cx: &mut Cx<'_>, old: &dyn Any) -> Result<(), ConfigError> {
        self.alone(cx, |inner, cx| inner.can_take_over(cx, old))
    }

    /// Both routers count, or neither does: the state comes with its packets' number.
    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        let Ok(given) = state.downcast::<Given>() else { return };
        let Given { packets, state } = *given;
        self.ledger.taken.fetch_add(packets, Relaxed);
        self.alone(cx, |inner, cx| inner.take_state(cx, state));
    }

    fn taken_over(&mut self, cx: &mut Cx<'_>) {
        self.alone(cx, |inner, cx| inner.taken_over(cx));
    }

    fn write_state(&mut self, cx: &mut Cx<'_>, out: &mut StateWriter) -> bool {
        self.alone(cx, |inner, cx| inner.write_state(cx, out))
    }

    fn read_state(&mut self, cx: &mut Cx<'_>, state: &mut StateReader) -> Result<(), BadState> {
        // Packets that it has now came with the state, and were made from bytes by none of its class's doing.
        let before = Counted::held(self);
        let read = self.inner.read_state(cx, state);
        self.ledger.taken.fetch_add(Counted::held(self) - before, Relaxed);
        read
    }

    fn reconfigure(&mut self, cx: &mut Cx<'_>, config: &str) -> Option<Result<(), ConfigError>> {
        self.alone(cx, |inner, cx| inner.reconfigure(cx, config))
    }

    fn explain(&self, look: &Look<'_>, port: usize, packet: &mut Packet) -> Option<Decision> {
        self.inner.explain(look, port, packet)
    }

    fn handlers(&self, handlers: &mut Handlers) {
        self.inner.handlers(handlers);
    }

    fn held(&self) -> usize {
        self.inner.held()
    }

    fn held_together(&self) -> usize {
        self.inner.held_together()
    }

    fn queues(&self) -> Option<Queues> {
        self.inner.queues()
    }

    fn target(&mut self) -> Option<&mut dyn Any> {
        Some(target(&mut *self.inner))
    }

    fn seen(&self) -> Option<&dyn Any> {
        Some(seen(&*self.inner))
    }
}
