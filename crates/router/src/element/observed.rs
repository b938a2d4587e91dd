//! An element whose packets are watched.
//!
//! A worker puts this around its elements for the turns in which a trace runs, or in which it takes the time, and takes it off again. All
//! other turns pay nothing.

use crate::calls::computation::{Answer, Step as Computed};
use crate::context::cx::Cx;
use crate::context::look::Look;
use crate::context::next::Next;
use crate::context::work::Work;
use crate::element::behaviour::{Element, Pull, Queues, seen, target};
use crate::element::counted::Counted;
use crate::element::estate::{BadState, StateReader, StateWriter};
use crate::element::handlers::Handlers;
use crate::error::ConfigError;
use crate::shared::decision::Decision;
use crate::shared::observing::{Step, Trace, View, What};
use packet::{Batch, Packet};
use std::any::Any;
use std::sync::Arc;

/// An element whose packets are watched.
pub(crate) struct Observed {
    pub(crate) inner: Box<dyn Element>,
}

/// What an element has made in this call: places of the list, and whether there was a first item before.
#[derive(Clone, Copy)]
struct Made {
    from: usize,
    first: bool,
}

impl Made {
    fn now(cx: &Cx<'_>) -> Made {
        Made { from: cx.core.list.len(), first: cx.core.first.is_none() }
    }
}

/// Calls something with each packet that the running element has sent on since then.
fn sent(cx: &mut Cx<'_>, since: Made, mut look: impl FnMut(&mut Packet)) {
    let core = &mut *cx.core;
    let first = core.first.as_mut().filter(|_| since.first);
    for work in first.into_iter().chain(core.list.iter_mut().skip(since.from)) {
        match work {
            Work::Push { batch, .. } | Work::Answer { batch } => batch.iter_mut().for_each(&mut look),
            Work::Alone { packet, .. } => look(packet),
            Work::Ask { .. } | Work::Waiting(_) | Work::Control(_) => {}
        }
    }
}

/// Packets that it has sent on since then.
fn sent_count(cx: &mut Cx<'_>, since: Made) -> usize {
    let mut count = 0;
    sent(cx, since, |_| count += 1);
    count
}

impl Observed {
    /// Runs something that gets no packets, and notes which begin their way with it.
    fn alone<R>(&mut self, cx: &mut Cx<'_>, run: impl FnOnce(&mut dyn Element, &mut Cx<'_>) -> R) -> R {
        let (since, here) = (Made::now(cx), cx.core.here as usize);
        let begun = cx.core.watch.begin();
        let result = run(&mut *self.inner, cx);
        if begun.is_some() {
            let packets = sent_count(cx, since);
            cx.core.watch.end(begun, here, packets);
        }
        if let Some(trace) = cx.core.watch.trace.clone() {
            note_starts(cx, &trace, since);
        }
        result
    }

    /// Notes that a packet arrives, with what the element says of it.
    fn arrive(&self, cx: &mut Cx<'_>, trace: &Trace, number: u32, port: usize, packet: &Packet) {
        // The element may change a copy; the worker's own packets are not touched.
        let because = cx.core.pool.copy(packet).and_then(|mut copy| {
            let look = Look::new(cx.core, cx.turn, cx.core.here as usize);
            let said = self.inner.explain(&look, port, &mut copy);
            cx.core.pool.free(copy);
            said.map(|decision| decision.because).filter(|because| !because.is_empty())
        });
        cx.core.note_step(trace, number, What::Arrives { port, because }, packet);
    }

    /// Pushes a traced packet, alone, and notes what becomes of it.
    fn push_traced(&mut self, cx: &mut Cx<'_>, trace: &Arc<Trace>, port: usize, number: u32, packet: Packet) {
        self.arrive(cx, trace, number, port, &packet);
        let (tag, last) = (packet.trace(), cx.core.pool.copy(&packet));
        let (held, since) = (self.inner.held() + self.inner.held_together(), Made::now(cx));
        cx.core.watch.dropped = None;
        let batch = cx.core.pool.batch_of(packet);
        self.inner.push(cx, port, batch);
        let mut goes_on = false;
        sent(cx, since, |packet| {
            // What is made because of the packet is followed, too.
            if trace.known(packet.trace()).is_none() {
                packet.set_trace(tag);
            }
            goes_on |= packet.trace() == tag;
        });
        if let Some(last) = last {
            if !goes_on && cx.core.watch.dropped != Some(number) {
                let keeps = self.inner.held() + self.inner.held_together() > held;
                let what = if keeps { What::Kept } else { What::Ends };
                cx.core.note_step(trace, number, what, &last);
            }
            cx.core.pool.free(last);
        }
    }

    /// Pushes a batch in which packets may be traced.
    fn push_watched(&mut self, cx: &mut Cx<'_>, trace: &Arc<Trace>, port: usize, mut batch: Batch) {
        let mut any = false;
        for packet in batch.packets_mut() {
            any |= trace.takes(packet).is_some();
        }
        if !any {
            return self.inner.push(cx, port, batch);
        }
        // One after the other: what comes of each is known then.
        let mut packets = Vec::with_capacity(batch.len());
        batch.drain(|packet| packets.push(packet));
        cx.core.pool.recycle(batch);
        for packet in packets {
            match trace.known(packet.trace()) {
                Some(number) => self.push_traced(cx, trace, port, number, packet),
                None => {
                    let batch = cx.core.pool.batch_of(packet);
                    self.inner.push(cx, port, batch);
                }
            }
        }
    }
}

/// Notes the packets that begin their way at the running element.
fn note_starts(cx: &mut Cx<'_>, trace: &Trace, since: Made) {
    let mut started = Vec::new();
    let (element, worker, now_ns) = (cx.core.here as usize, cx.core.worker, cx.core.clock.now_ns());
    sent(cx, since, |packet| {
        let known = trace.known(packet.trace()).is_some();
        if let Some(number) = trace.takes(packet).filter(|_| !known) {
            started.push((number, View::of(packet, now_ns)));
        }
    });
    for (packet, view) in started {
        trace.note(Step { packet, element, worker, what: What::Starts, view });
    }
}

impl Element for Observed {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.inner.initialize(cx)
    }

    fn push(&mut self, cx: &mut Cx<'_>, port: usize, batch: Batch) {
        let (packets, here) = (batch.len(), cx.core.here as usize);
        let begun = cx.core.watch.begin();
        match cx.core.watch.trace.clone() {
            Some(trace) => self.push_watched(cx, &trace, port, batch),
            None => self.inner.push(cx, port, batch),
        }
        cx.core.watch.end(begun, here, packets);
    }

    fn push_alone(&mut self, cx: &mut Cx<'_>, port: usize, packet: &mut Packet) -> Next {
        // Traced packets take the way of batches, on which more can be seen.
        if let Some(trace) = &cx.core.watch.trace
            && trace.takes(packet).is_some()
        {
            return Next::STAY;
        }
        let (begun, here) = (cx.core.watch.begin(), cx.core.here as usize);
        let next = self.inner.push_alone(cx, port, packet);
        if next != Next::STAY {
            cx.core.watch.end(begun, here, 1);
        }
        next
    }

    fn push_packet(&mut self, cx: &mut Cx<'_>, port: usize, packet: Packet) {
        if cx.core.watch.trace.is_some() {
            let batch = cx.core.pool.batch_of(packet);
            return self.push(cx, port, batch);
        }
        let (begun, here) = (cx.core.watch.begin(), cx.core.here as usize);
        self.inner.push_packet(cx, port, packet);
        cx.core.watch.end(begun, here, 1);
    }

    fn pull(&mut self, cx: &mut Cx<'_>, port: usize, want: usize) -> Pull {
        let (begun, here) = (cx.core.watch.begin(), cx.core.here as usize);
        let pull = self.inner.pull(cx, port, want);
        let packets = given(&pull).len();
        cx.core.watch.end(begun, here, packets);
        pull
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, port: usize, mut batch: Batch) -> Pull {
        let (packets, here) = (batch.len(), cx.core.here as usize);
        let trace = cx.core.watch.trace.clone();
        let mut arrived = Vec::new();
        if let Some(trace) = &trace {
            for packet in batch.packets_mut() {
                if let Some(number) = trace.takes(packet) {
                    self.arrive(cx, trace, number, port, packet);
                    arrived.extend(cx.core.pool.copy(packet));
                }
            }
        }
        let since = Made::now(cx);
        cx.core.watch.dropped = None;
        let begun = cx.core.watch.begin();
        let pull = self.inner.pulled(cx, port, batch);
        cx.core.watch.end(begun, here, packets);
        let Some(trace) = trace else { return pull };
        let mut gone_on = Vec::new();
        sent(cx, since, |packet| gone_on.push(packet.trace()));
        gone_on.extend(given(&pull).iter().map(Packet::trace));
        for packet in arrived {
            let number = trace.known(packet.trace());
            if let Some(number) = number
                && !gone_on.contains(&packet.trace())
                && cx.core.watch.dropped != Some(number)
            {
                cx.core.note_step(&trace, number, What::Ends, &packet);
            }
            cx.core.pool.free(packet);
        }
        pull
    }

    fn pulled_packet(&mut self, cx: &mut Cx<'_>, port: usize, packet: Packet) -> Pull {
        if cx.core.watch.trace.is_some() {
            let batch = cx.core.pool.batch_of(packet);
            return self.pulled(cx, port, batch);
        }
        let (begun, here) = (cx.core.watch.begin(), cx.core.here as usize);
        let pull = self.inner.pulled_packet(cx, port, packet);
        cx.core.watch.end(begun, here, 1);
        pull
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        self.alone(cx, |inner, cx| inner.run_task(cx));
    }

    fn timer(&mut self, cx: &mut Cx<'_>, key: u32) {
        self.alone(cx, |inner, cx| inner.timer(cx, key));
    }

    fn resume(&mut self, cx: &mut Cx<'_>, state: &mut Box<dyn Any + Send>, answer: Answer) -> Computed {
        self.alone(cx, |inner, cx| inner.resume(cx, state, answer))
    }

    fn finish(&mut self, cx: &mut Cx<'_>) {
        self.inner.finish(cx);
    }

    fn can_take_over(&mut self, cx: &mut Cx<'_>, old: &dyn Any) -> Result<(), ConfigError> {
        self.inner.can_take_over(cx, old)
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        self.inner.give_state()
    }

    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        self.inner.take_state(cx, state);
    }

    fn taken_over(&mut self, cx: &mut Cx<'_>) {
        self.inner.taken_over(cx);
    }

    fn write_state(&mut self, cx: &mut Cx<'_>, out: &mut StateWriter) -> bool {
        self.inner.write_state(cx, out)
    }

    fn read_state(&mut self, cx: &mut Cx<'_>, state: &mut StateReader) -> Result<(), BadState> {
        self.inner.read_state(cx, state)
    }

    fn reconfigure(&mut self, cx: &mut Cx<'_>, config: &str) -> Option<Result<(), ConfigError>> {
        self.inner.reconfigure(cx, config)
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

/// The packets that an element answers with.
fn given(pull: &Pull) -> &[Packet] {
    match pull {
        Pull::Give(batch) => batch.packets(),
        Pull::Alone(packet) => std::slice::from_ref(packet),
        Pull::Nothing | Pull::Later | Pull::Ask { .. } => &[],
    }
}

/// An element itself, without what watches it and counts its packets.
pub(crate) fn bare(element: &mut dyn Element) -> &mut dyn Element {
    let any: &dyn Any = element;
    if any.is::<Observed>() {
        match (element as &mut dyn Any).downcast_mut::<Observed>() {
            Some(observed) => bare(&mut *observed.inner),
            None => unreachable!("its type was just asked"),
        }
    } else if any.is::<Counted>() {
        match (element as &mut dyn Any).downcast_mut::<Counted>() {
            Some(counted) => bare(&mut *counted.inner),
            None => unreachable!("its type was just asked"),
        }
    } else {
        element
    }
}
