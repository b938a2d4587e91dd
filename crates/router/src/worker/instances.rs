//! A worker: elements, a work-list, a scheduler, a mailbox.

use crate::context::core::{Core, Exits};
use crate::context::cx::Cx;
use crate::context::work::Work;
use crate::element::behaviour::Element;
use crate::element::class::Class;
use crate::element::handlers::Functions;
use crate::handlers::response::{Merge, Response};
use crate::shared::mailbox::Reply;
use rcu::{Reader, Turn};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

/// Why the worker drops packets on their way between elements: what they are sent to has no instance here, or an element hands them down
/// a pull path although nothing asked for them. Counted for the element that they come from.
pub(crate) const ASTRAY: [&str; 2] = ["output leads nowhere on this worker", "answer that leads nowhere"];

/// What a turn came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turned {
    /// There is more to do.
    Busy,
    /// Nothing to do before this time, if any, unless a message comes.
    Idle(Option<i64>),
    /// A computation waits for another worker; nothing to do but messages.
    Blocked,
}

/// An element's place on a worker.
pub(crate) struct Slot {
    /// This worker's instance, if it has one.
    pub(crate) instance: Option<Box<dyn Element>>,
    pub(crate) exits: Exits,
}

pub(crate) struct Worker {
    pub(crate) core: Core,
    pub(crate) slots: Vec<Slot>,
    pub(crate) reader: Reader,
    /// What is known of the elements beside their instances.
    pub(crate) elements: Arc<Elements>,
    open: HashMap<u64, Open>,
    parked: HashMap<u64, Parked>,
}

/// What all workers know of the elements, by element.
pub(crate) struct Elements {
    /// What makes them again with other arguments.
    pub(crate) classes: Vec<&'static Class>,
    /// What answers calls of their handlers.
    pub(crate) functions: Vec<Functions>,
}

/// A call whose answers from other workers are awaited.
pub(crate) struct Open {
    pub(crate) merge: Merge,
    /// Responses by worker.
    pub(crate) responses: Vec<(usize, Response)>,
    /// Who was asked.
    pub(crate) asked: Vec<usize>,
    pub(crate) reply: Reply,
    /// When the caller gets what there is, in nanoseconds; not for writes, which must not be done by half, nor where time is simulated.
    pub(crate) until_ns: Option<i64>,
}

/// A call whose answer takes so long that nothing else is to wait for it.
pub(crate) struct Parked {
    /// The computations that wait, the innermost first: taken off the list, so that others go on.
    pub(crate) frames: Vec<Work>,
    pub(crate) reply: Reply,
    pub(crate) answer: Receiver<Response>,
    /// Whether a thread of its own works on the answer.
    pub(crate) aside: bool,
}

/// A worker within a turn.
pub(crate) struct Running<'w> {
    pub(crate) core: &'w mut Core,
    pub(crate) slots: &'w mut [Slot],
    pub(crate) open: &'w mut HashMap<u64, Open>,
    pub(crate) parked: &'w mut HashMap<u64, Parked>,
    pub(crate) elements: &'w Elements,
    pub(crate) reader: &'w Reader,
    pub(crate) turn: Turn<'w>,
    /// When the turn began.
    pub(crate) began_ns: i64,
}

/// Runs something on an element's instance on this worker, if there is one, and puts what it emitted onto the list.
macro_rules! dispatch {
    ($self:ident, $element:expr, |$instance:ident, $cx:ident| $run:expr) => {{
        let element = $element as usize;
        let slot = &mut $self.slots[element];
        $self.core.enter(element as u32, &slot.exits);
        let mut cx = $crate::context::cx::Cx { core: &mut *$self.core, turn: $self.turn };
        let result = match &mut slot.instance {
            Some(instance) => {
                let ($instance, $cx) = (&mut **instance, &mut cx);
                Some($run)
            }
            None => None,
        };
        $self.core.leave();
        result
    }};
}
pub(crate) use dispatch;

impl Worker {
    pub(crate) fn new(core: Core, slots: Vec<Slot>, elements: Arc<Elements>, reader: Reader) -> Worker {
        Worker { core, slots, reader, elements, open: HashMap::new(), parked: HashMap::new() }
    }

    /// Whether something has begun that has not come to its end.
    pub(crate) fn is_amid_something(&self) -> bool {
        !self.core.list.is_empty() || !self.parked.is_empty()
    }

    /// When a worker that waits for others has waited for long enough.
    pub(crate) fn patient_until_ns(&self) -> Option<i64> {
        self.open.values().filter(|open| !open.responses.is_empty()).filter_map(|open| open.until_ns).min()
    }

    /// Waits for the answers that threads work on, in the order in which they were asked for. Those threads may wait for all readers: the
    /// caller has taken those of this thread offline.
    pub(crate) fn await_answers(&self) -> Vec<(u64, Response)> {
        let aside = self.parked.iter().filter(|(_, parked)| parked.aside);
        let lost = || Err("the handler gave no answer".into()).into();
        let answer =
            |(call, parked): (&u64, &Parked)| (*call, parked.answer.recv().unwrap_or_else(|_| lost()));
        let mut answers: Vec<_> = aside.map(answer).collect();
        answers.sort_by_key(|(call, _)| *call);
        answers
    }

    /// Whether threads work on answers.
    pub(crate) fn has_aside(&self) -> bool {
        self.parked.values().any(|parked| parked.aside)
    }

    pub(crate) fn running(&mut self) -> Running<'_> {
        let began_ns = self.core.now_ns;
        Running {
            core: &mut self.core,
            slots: &mut self.slots,
            open: &mut self.open,
            parked: &mut self.parked,
            elements: &self.elements,
            reader: &self.reader,
            turn: self.reader.turn(),
            began_ns,
        }
    }

    /// Runs one element outside any work, for initialisation and the end. What it emits runs with the next turn.
    pub(crate) fn with<R>(
        &mut self,
        element: usize,
        f: impl FnOnce(&mut dyn Element, &mut Cx<'_>) -> R,
    ) -> Option<R> {
        let running = self.running();
        let done = dispatch!(running, element, |instance, cx| f(instance, cx));
        // A router that does not run yet, or no more, holds no grace period up.
        self.reader.offline();
        done
    }
}
