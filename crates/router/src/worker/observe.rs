//! A worker's part in traces, captures, explanations and the time that elements take.

use crate::configuration::node::Node;
use crate::context::core::Link;
use crate::context::cx::Cx;
use crate::context::look::Look;
use crate::context::verdict::Verdict;
use crate::context::watch::{FRESH_NS, TURNS, clock_ns};
use crate::element::behaviour::Element;
use crate::element::observed::{Observed, bare};
use crate::element::tap::Tap;
use crate::shared::decision::{Decision, Then};
use crate::shared::observing::{Capture, Edge, View};
use crate::shared::orders::{Begin, Dropped, Explained, Explanation, Order, Report};
use crate::worker::instances::{Running, Slot, Worker};
use packet::Packet;
use std::any::Any;
use std::sync::Arc;

/// Elements that an explanation visits at most.
const VISITS_MAX: usize = 512;

impl Worker {
    /// A turn begins that is looked at: puts watchers around the elements.
    #[cold]
    #[inline(never)]
    pub(crate) fn begin_watching(&mut self) {
        let watch = &mut self.core.watch;
        if watch.trace.as_ref().is_some_and(|trace| trace.is_over(self.core.clock.now_ns())) {
            (watch.trace, watch.drops) = (None, false);
        }
        watch.timed = !self.core.clock.is_simulated() && self.core.account.turns.is_multiple_of(TURNS);
        if watch.timed && watch.clock_ns == 0 {
            watch.clock_ns = clock_ns();
        }
        if watch.trace.is_none() && !watch.timed {
            return;
        }
        watch.turns += u64::from(watch.timed);
        for slot in &mut self.slots[..self.core.info.nodes.len()] {
            slot.instance =
                slot.instance.take().map(|inner| Box::new(Observed { inner }) as Box<dyn Element>);
        }
    }

    /// The turn is over: takes the watchers off.
    #[cold]
    #[inline(never)]
    pub(crate) fn end_watching(&mut self) {
        for slot in &mut self.slots {
            slot.instance = slot.instance.take().map(unwrapped);
        }
        let watch = &mut self.core.watch;
        let turns = self.core.account.turns;
        watch.next_turn = match &watch.trace {
            Some(_) => 0,
            None if self.core.clock.is_simulated() => u64::MAX,
            None => (turns / TURNS + 1) * TURNS,
        };
    }
}

/// An element without its watcher.
fn unwrapped(instance: Box<dyn Element>) -> Box<dyn Element> {
    if !(&*instance as &dyn Any).is::<Observed>() {
        return instance;
    }
    let any: Box<dyn Any> = instance;
    match any.downcast::<Observed>() {
        Ok(observed) => observed.inner,
        Err(_) => unreachable!("its type was just asked"),
    }
}

impl Running<'_> {
    /// Does what an observer wants.
    pub(crate) fn observe(&mut self, order: Order) {
        match order {
            Order::Trace(trace) => {
                self.core.watch.drops = trace.is_some();
                // Seen to with the next turn, which ends it, too.
                self.core.watch.next_turn = 0;
                self.core.watch.trace = trace;
            }
            Order::Tap(edge, capture) => self.tap(edge, capture),
            Order::Untap(capture) => self.untap(&capture),
            // The client may have stopped waiting.
            Order::Report(reply) => drop(reply.send(self.report())),
            Order::Explain { begin, element, input, reply } => {
                let explanation = self.explain(begin, element, input);
                let _ = reply.send(explanation);
            }
        }
    }

    /// What is known of drops and of the time that elements take.
    fn report(&mut self) -> Report {
        let watch = &mut self.core.watch;
        watch.drops = true;
        watch.drops_until_ns = self.core.clock.now_ns() + FRESH_NS;
        let mut drops = Vec::new();
        for (told, all) in [(false, &self.core.drops), (true, &self.core.told)] {
            for (element, reasons) in all.iter().enumerate().take(self.core.info.nodes.len()) {
                for &(reason, packets) in reasons {
                    let sample = self.core.watch.samples[element].iter().find(|(known, _)| *known == reason);
                    let sample = sample.map(|(_, view)| view.clone());
                    drops.push(Dropped { element, reason, packets, told, sample });
                }
            }
        }
        Report { drops, costs: self.core.watch.costs.clone(), turns: self.core.watch.turns }
    }

    /// Puts a tap into an edge, or shows another capture what an existing one sees.
    fn tap(&mut self, edge: Edge, capture: Arc<Capture>) {
        let Edge { element, input, port } = edge;
        let info = self.core.info.clone();
        let Some(node) = info.nodes.get(element) else { return };
        // An input that is pushed into is tapped where its packets come from, and an output that is pulled from where they go.
        let ports = if input { &node.inputs } else { &node.outputs };
        let Some(way) = ports.get(port) else { return };
        let near = way.push != input;
        match (near, way.push) {
            (true, true) => self.tap_output(element, port, capture),
            (true, false) => self.tap_input(element, port, capture),
            (false, push) => {
                for &(peer, at) in &way.peers {
                    if push {
                        self.tap_output(peer, at, capture.clone());
                    } else {
                        self.tap_input(peer, at, capture.clone());
                    }
                }
            }
        }
    }

    fn tap_output(&mut self, element: usize, port: usize, capture: Arc<Capture>) {
        let Some(exits) =
            self.slots.get(element).filter(|slot| slot.instance.is_some()).map(|slot| slot.exits)
        else {
            return;
        };
        let at = exits.start as usize + port;
        let Some(&link) = self.core.outputs.get(at).filter(|_| port < exits.count as usize) else { return };
        if let Some(link) = self.tapped(link, capture) {
            self.core.outputs[at] = link;
            if port == 0 {
                self.slots[element].exits.first = link;
            }
        }
    }

    fn tap_input(&mut self, element: usize, port: usize, capture: Arc<Capture>) {
        let link = self.core.uplink(element as u32, port as u16);
        let at = self.core.first_input[element] as usize + port;
        if let Some(link) = self.tapped(link, capture) {
            self.core.inputs[at] = link;
        }
    }

    /// A link to a tap that leads where this link leads; `None` if there is a tap already, or there can be none.
    fn tapped(&mut self, link: Link, capture: Arc<Capture>) -> Option<Link> {
        let known = self.slots.get_mut(link.element as usize)?.instance.as_deref_mut()?;
        if let Some(tap) = (known as &mut dyn Any).downcast_mut::<Tap>() {
            tap.captures.push(capture);
            return None;
        }
        let elements = self.core.info.nodes.len();
        let free = (elements..self.slots.len()).find(|&at| self.slots[at].instance.is_none())?;
        let slot = &mut self.slots[free];
        slot.instance = Some(Box::new(Tap { captures: vec![capture] }));
        slot.exits.first = link;
        self.core.outputs[slot.exits.start as usize] = link;
        let input = self.core.first_input[free] as usize;
        self.core.inputs[input] = link;
        Some(Link { element: free as u32, port: 0 })
    }

    /// A capture is over: it sees nothing more. Taps that show nothing to anyone are taken out of their edges.
    fn untap(&mut self, capture: &Arc<Capture>) {
        let elements = self.core.info.nodes.len();
        for slot in self.slots[elements..].iter_mut() {
            if let Some(tap) =
                slot.instance.as_deref_mut().and_then(|e| (e as &mut dyn Any).downcast_mut::<Tap>())
            {
                tap.captures.retain(|known| !Arc::ptr_eq(known, capture));
            }
        }
        let is_idle = |slot: &Slot| {
            let tap = slot.instance.as_deref().and_then(|e| (e as &dyn Any).downcast_ref::<Tap>());
            tap.is_some_and(|tap| tap.captures.is_empty())
        };
        let idle: Vec<usize> = (elements..self.slots.len()).filter(|&at| is_idle(&self.slots[at])).collect();
        let ways: Vec<(u32, Link)> = idle.iter().map(|&at| (at as u32, self.slots[at].exits.first)).collect();
        let behind =
            |link: Link| ways.iter().find(|(tap, _)| *tap == link.element).map_or(link, |(_, to)| *to);
        let (outputs, inputs) = (&mut self.core.outputs, &mut self.core.inputs);
        outputs.iter_mut().chain(inputs).for_each(|link| *link = behind(*link));
        self.slots[..elements].iter_mut().for_each(|slot| slot.exits.first = behind(slot.exits.first));
        // Work that has begun may still lead through a tap: its place is free when the next capture ends without any.
        if self.core.list.is_empty() && self.core.first.is_none() {
            idle.iter().for_each(|&at| self.slots[at].instance = None);
        }
    }

    /// What would become of a packet that arrives at an input, or is sent out at output 0 if none is said. Nothing changes by it.
    pub(crate) fn explain(&mut self, begin: Begin, element: usize, input: Option<usize>) -> Explanation {
        let mut explanation = Explanation::default();
        let is_new = matches!(begin, Begin::Bytes(_));
        let packet = match begin {
            Begin::Packet(packet) => Some(packet),
            Begin::Bytes(bytes) => self.core.pool.packet(&bytes),
        };
        let info = self.core.info.clone();
        let Some(mut packet) = packet else { return explanation };
        if is_new && input.is_some() {
            mark(&mut packet);
        }
        let mut ways: Vec<(usize, usize, Packet)> = Vec::new();
        match input {
            Some(port) => ways.push((element, port, packet)),
            None => {
                let view = View::of(&packet, self.core.now_ns);
                let decision = Some(Decision::new(Then::Output(0), "receives it"));
                let worker = self.core.worker;
                explanation.steps.push(Explained { element, input: None, worker, view, decision });
                self.follow(&info.nodes[element], 0, packet, &mut ways);
            }
        }
        while let Some((element, port, mut packet)) = ways.pop() {
            if self.slots[element].instance.is_none() {
                explanation.elsewhere.push((element, port, packet));
                continue;
            }
            if explanation.steps.len() >= VISITS_MAX {
                explanation.is_cut = true;
                self.core.pool.free(packet);
                continue;
            }
            let view = View::of(&packet, self.core.now_ns);
            let decision = self.decision(element, port, &mut packet);
            let then = decision.as_ref().map(|decision| decision.then.clone());
            let worker = self.core.worker;
            explanation.steps.push(Explained { element, input: Some(port), worker, view, decision });
            match then {
                Some(Then::Output(output)) => self.follow(&info.nodes[element], output, packet, &mut ways),
                Some(Then::Copies(outputs)) => {
                    // The first copy's way is told first.
                    for output in outputs.into_iter().rev() {
                        if let Some(copy) = self.core.pool.copy(&packet) {
                            self.follow(&info.nodes[element], output, copy, &mut ways);
                        }
                    }
                    self.core.pool.free(packet);
                }
                _ => self.core.pool.free(packet),
            }
        }
        explanation
    }

    /// Where an output leads.
    fn follow(&mut self, node: &Node, output: usize, packet: Packet, ways: &mut Vec<(usize, usize, Packet)>) {
        match node.outputs.get(output).and_then(|port| port.peers.first()) {
            Some(&(element, port)) => ways.push((element, port, packet)),
            None => self.core.pool.free(packet),
        }
    }

    /// What an element says of a packet. One of a pure class is tried out; one that sits in every packet's way and says nothing, is not
    /// known.
    fn decision(&mut self, element: usize, port: usize, packet: &mut Packet) -> Option<Decision> {
        let info = self.core.info.clone();
        let slot = &mut self.slots[element];
        let instance = slot.instance.as_deref_mut()?;
        let look = Look::new(self.core, self.turn, element);
        if let Some(decision) = instance.explain(&look, port, packet) {
            return Some(decision);
        }
        let node = &info.nodes[element];
        if node.outputs.is_empty() {
            return Some(Decision::new(Then::Stays, ""));
        }
        if !node.class.pure {
            return None;
        }
        self.core.enter(element as u32, &slot.exits);
        let drops = self.core.drops[element].clone();
        let mut cx = Cx { core: &mut *self.core, turn: self.turn };
        let next = bare(instance).push_alone(&mut cx, port, packet);
        let verdict = cx.verdict(next);
        self.core.drops[element] = drops;
        // A class that calls itself pure sends nothing of its own.
        while let Some(work) = self.core.take_first() {
            self.core.list.push(work);
        }
        let then = match verdict? {
            Verdict::Pass => Then::Output(0),
            Verdict::Output(output)
                if node.outputs.get(output).is_some_and(|port| !port.peers.is_empty()) =>
            {
                Then::Output(output)
            }
            Verdict::Output(_) => Then::Drop("no such output"),
            Verdict::Drop(reason) => Then::Drop(reason),
        };
        Some(Decision::new(then, ""))
    }
}

/// A packet without a frame that arrives in the middle of a configuration has what elements before would have found out: where its header is,
/// and where it goes.
fn mark(packet: &mut Packet) {
    let data = packet.data();
    let length = |at: usize| usize::from(u16::from_be_bytes([data[at], data[at + 1]]));
    match data.first().map(|byte| byte >> 4) {
        Some(4) if data.len() >= 20 && length(2) == data.len() => {
            let (header, to) = (usize::from(data[0] & 15) * 4, [data[16], data[17], data[18], data[19]]);
            packet.set_network(0, header);
            packet.set_dst_ip(to.into());
        }
        Some(6) if data.len() >= 40 && length(4) + 40 == data.len() => {
            let mut to = [0; 16];
            to.copy_from_slice(&data[24..40]);
            packet.set_network(0, 40);
            packet.set_dst_ip6(to.into());
        }
        _ => {}
    }
}
