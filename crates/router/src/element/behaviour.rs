//! What an element is.

use crate::calls::computation::{Answer, Step};
use crate::context::cx::Cx;
use crate::context::look::Look;
use crate::context::next::Next;
use crate::context::verdict::Verdict;
use crate::element::estate::{BadState, StateReader, StateWriter};
use crate::element::handlers::Handlers;
use crate::error::ConfigError;
use crate::shared::decision::Decision;
use packet::{Batch, Packet};
use std::any::Any;

/// One instance of an element, owned by one worker.
///
/// A worker hands an element a batch, a request or a point in time; the element answers by emitting batches through
/// [`Cx`]. It never calls its neighbours, and no other thread touches it meanwhile: `&mut self` is all the protection
/// that its state needs. Implement [`crate::Simple`] instead for elements that treat packets one at a time.
///
/// Every method has a default, so that an element says only what it does. Which of them are called follows from its
/// class: `push` for push inputs, `pull` for pull outputs; `pulled`, or `pulled_packet` for a packet that is alone, for pull inputs.
pub trait Element: Any + Send {
    /// Runs once, after every element of the router was configured: looks up shared parts of other elements, wakes
    /// its task, sets timers.
    ///
    /// # Errors
    /// A sentence for the user; the router does not start then.
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        let _ = cx;
        Ok(())
    }

    /// Takes a batch that arrived at push input `port`.
    fn push(&mut self, cx: &mut Cx<'_>, port: usize, batch: Batch) {
        let _ = port;
        cx.drop_batch(batch, "not a push input");
    }

    /// Treats a packet that arrived alone, where it lies: the short way for a batch of one. `None` if this packet needs
    /// [`Element::push`]; nothing may have been done to it then.
    #[inline]
    fn push_one(&mut self, cx: &mut Cx<'_>, port: usize, packet: &mut Packet) -> Option<Verdict> {
        let _ = (cx, port, packet);
        None
    }

    /// [`Element::push_one`] as the worker calls it: only what wraps other elements has one of its own.
    #[inline]
    fn push_alone(&mut self, cx: &mut Cx<'_>, port: usize, packet: &mut Packet) -> Next {
        let verdict = self.push_one(cx, port, packet);
        cx.next(verdict)
    }

    /// Takes a packet that arrived alone and that [`Element::push_one`] has no verdict on: for elements that keep packets, or with which
    /// they end. By default it comes as a batch.
    #[inline]
    fn push_packet(&mut self, cx: &mut Cx<'_>, port: usize, packet: Packet) {
        let batch = cx.core.pool.batch_of(packet);
        self.push(cx, port, batch);
    }

    /// Answers a request for up to `want` packets at pull output `port`: at once, or by asking further up.
    fn pull(&mut self, cx: &mut Cx<'_>, port: usize, want: usize) -> Pull {
        let _ = (cx, port, want);
        Pull::Nothing
    }

    /// Takes the packets, perhaps none, that answer this element's own earlier request at pull input `port`.
    fn pulled(&mut self, cx: &mut Cx<'_>, port: usize, batch: Batch) -> Pull {
        let _ = (cx, port);
        Pull::Give(batch)
    }

    /// Takes a packet that answers such a request alone, [`Pull::Alone`]. By default it comes as a batch.
    #[inline]
    fn pulled_packet(&mut self, cx: &mut Cx<'_>, port: usize, packet: Packet) -> Pull {
        let batch = cx.core.pool.batch_of(packet);
        self.pulled(cx, port, batch)
    }

    /// Runs the element's task. It runs again when [`crate::Tasks::schedule`] was called meanwhile.
    fn run_task(&mut self, cx: &mut Cx<'_>) {
        let _ = cx;
    }

    /// A timer that was set with this `key` has expired.
    fn timer(&mut self, cx: &mut Cx<'_>, key: u32) {
        let _ = (cx, key);
    }

    /// Goes on with a control computation that this element started (see [`crate::control`]). `state` is whatever the
    /// element keeps for this one computation.
    fn resume(&mut self, cx: &mut Cx<'_>, state: &mut Box<dyn Any + Send>, answer: Answer) -> Step {
        let _ = (cx, state, answer);
        Step::Done(Ok(String::new()))
    }

    /// The element's last act, while the router is taken down: flushes files. No packets can be emitted.
    fn finish(&mut self, cx: &mut Cx<'_>) {
        let _ = cx;
    }

    /// Says whether this element can take over from `old`, an instance of its namesake of the same class in the configuration that
    /// runs: the first step of a hot swap. Called after `initialize`, for every element before the state of any has moved. `old` is
    /// what its handlers work on. It goes on if this or another element refuses, so it is only looked at; this element
    /// may prepare itself, since it is gone then.
    ///
    /// # Errors
    /// A sentence for the user; the swap fails then.
    fn can_take_over(&mut self, cx: &mut Cx<'_>, old: &dyn Any) -> Result<(), ConfigError> {
        let _ = (cx, old);
        Ok(())
    }

    /// Gives the element's state to its namesake in a new configuration, which replaces this one for certain: the second step. Called on
    /// the worker that owns the element; afterwards the element is only finished and dropped.
    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        None
    }

    /// Takes over the state of an instance of its namesake: the one on the same worker, and each whose worker has no instance any more and
    /// that falls to this one. So it adds to what it has. What has no place here is dropped, and said in the log.
    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        let _ = (cx, state);
    }

    /// All instances have taken over what there was: the last step, called once on each instance of an element that has a namesake in the
    /// old configuration, whether or not there was a state for it.
    fn taken_over(&mut self, cx: &mut Cx<'_>) {
        let _ = cx;
    }

    /// Writes what another process that takes this one's place is to know: counters, packets, flows, descriptors that stay open. False, the
    /// default, if the instance leaves nothing. Nothing is taken away from the element, which goes on if the other process cannot
    /// begin. Secrets are not written.
    fn write_state(&mut self, cx: &mut Cx<'_>, out: &mut StateWriter) -> bool {
        let _ = (cx, out);
        false
    }

    /// Reads what a namesake in another process has written, after `initialize` and before anything runs: the one on the same worker, and
    /// each whose worker has no instance any more and that falls to this one. So it adds to what it has.
    ///
    /// # Errors
    /// That it is cut short or of an unknown form; what was read before stays.
    fn read_state(&mut self, cx: &mut Cx<'_>, state: &mut StateReader) -> Result<(), BadState> {
        let _ = (cx, state);
        Ok(())
    }

    /// Takes a new configuration string where it stands, while the router runs: for elements of a [`crate::Class::live`] class with
    /// shared parts or tasks. `None`, the default, has an instance made from it instead, which takes over this one's state.
    ///
    /// # Errors
    /// What is wrong with the new arguments; nothing has changed then.
    fn reconfigure(&mut self, cx: &mut Cx<'_>, config: &str) -> Option<Result<(), ConfigError>> {
        let _ = (cx, config);
        None
    }

    /// Says what the element would do with a packet that arrived at input `port` now, and what decides that: the rule, the route, the
    /// neighbour, the flow. Neither the element nor anything that it shares changes; the packet is a copy, which becomes what would leave.
    /// `None`, the default, says nothing; of a [`crate::Class::pure`] class the worker then tries the copy out.
    fn explain(&self, look: &Look<'_>, port: usize, packet: &mut Packet) -> Option<Decision> {
        let _ = (look, port, packet);
        None
    }

    /// Declares the element's handlers.
    fn handlers(&self, handlers: &mut Handlers) {
        let _ = handlers;
    }

    /// Packets that this instance keeps at the moment: in a queue, in a table, waiting for an answer. Where packets are counted
    /// ([`crate::Options::counted`]) this is compared with what came and went. Packets of a request or of a control computation that
    /// has not come to its end need not be among them.
    fn held(&self) -> usize {
        0
    }

    /// Packets that the element's instances keep together, in a shared part: all of them say the same.
    fn held_together(&self) -> usize {
        0
    }

    /// Of a source or a sink: the queues of an interface that this instance serves.
    fn queues(&self) -> Option<Queues> {
        None
    }

    /// What handlers work on: the element itself, or what it wraps.
    fn target(&mut self) -> Option<&mut dyn Any> {
        None
    }

    /// The same, to look at.
    fn seen(&self) -> Option<&dyn Any> {
        None
    }
}

/// What an instance serves of an interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queues {
    /// The interface's name.
    pub interface: String,
    /// Numbers of its queues; without any the interface has none, or keeps to itself what goes where.
    pub queues: Vec<usize>,
}

/// The answer of an element that was asked for packets.
#[derive(Debug)]
pub enum Pull {
    /// These, perhaps fewer than were asked for, perhaps none.
    Give(Batch),
    /// One packet, which needs no batch.
    Alone(Packet),
    /// None.
    Nothing,
    /// Not known yet: a control computation that the element has started answers with [`Cx::answer`].
    Later,
    /// Cannot say before asking for up to `want` packets at this pull input; [`Element::pulled`] gets them, or
    /// [`Element::pulled_packet`] one that comes alone.
    Ask {
        /// The pull input.
        input: usize,
        /// Packets, at most.
        want: usize,
    },
}

/// What the handlers of an element work on.
pub(crate) fn target(element: &mut dyn Element) -> &mut dyn Any {
    // Asked twice because a borrow that is returned on one path only would last on the other, too.
    if element.target().is_some() {
        if let Some(inner) = element.target() {
            return inner;
        }
        unreachable!("an element's target does not change between two calls");
    }
    element
}

/// What a namesake in a new configuration looks at.
pub(crate) fn seen(element: &dyn Element) -> &dyn Any {
    element.seen().unwrap_or(element)
}
