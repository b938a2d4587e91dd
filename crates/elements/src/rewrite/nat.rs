//! What all rewriters share: the part of a rewriter that exists once, whichever workers its instances run on.
//!
//! It has the flows, the input specifications, and the ways to make a flow: for a packet, or because another element
//! (ICMPRewriter, FTPPortMapper) asks.

use super::apply::{address_words, difference, words};
use super::flow_id::{FlowId, Key};
use super::flow_set::{Editor, FlowSet, Found, InputCounts};
use super::input::{Input, Outputs, Spec};
use super::mapper;
use super::pattern::Pattern;
use super::policy::Policy;
use super::record::{NewFlow, flag};
use rcu::{Cell, Domain, Turn, Updater};
use router::{Info, Scope};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use wire::ip_proto;

/// Too much memory waits to be reclaimed.
const BUSY: &str = "too many changes wait to be reclaimed; try again";

/// What a rewriter rewrites, and what it tells flows apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// IPRewriter: TCP and UDP, in a map each.
    Ip,
    /// TCPRewriter.
    Tcp,
    /// UDPRewriter: TCP, UDP and DCCP in one map.
    Udp,
    /// ICMPPingRewriter.
    Ping,
    /// IPAddrRewriter.
    Addr,
    /// IPAddrPairRewriter.
    Pair,
}

/// The second port of a ping's flow identifier: the first one, which is the echo identifier, and one more, as a
/// little-endian machine counts a number in network order. (That is what Click's tables show.)
#[inline]
pub(super) fn next_id(id: u16) -> u16 {
    id.swap_bytes().wrapping_add(1).swap_bytes()
}

/// For whom a flow is looked up by another element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Only if it exists.
    Check,
    /// Only if it exists; the identifier is that of a reply.
    Reply,
    /// It is made by an input's specification if need be.
    Make(usize),
}

/// Time and chance, for whoever makes a flow.
pub(super) struct Circumstances<'r> {
    pub(super) now_ms: u64,
    /// A number up to the given one.
    pub(super) random: &'r mut dyn FnMut(u32) -> u32,
}

/// What becomes of a packet whose flow is not known.
pub(super) enum Miss<'t> {
    /// It has a flow now.
    Made(Found<'t>),
    /// It passes as it is.
    Pass(usize),
    /// It is dropped.
    Drop(&'static str),
}

const NO_SUCH_FLOW: &str = "no mapping";
const NOT_MADE: &str = "no mapping could be made";

/// The shared part of a rewriter.
pub(super) struct Nat {
    pub(super) kind: Kind,
    element: usize,
    outputs: usize,
    policies: [Policy; 2],
    /// The element whose flows are counted together with these, or the table itself.
    peer: Option<usize>,
    set: OnceLock<Arc<FlowSet>>,
    specs: Vec<Spec>,
    inputs: Box<[Cell<Input>]>,
    counts: Arc<[InputCounts]>,
    updater: Mutex<Updater>,
    ready: AtomicBool,
}

/// What is known of a rewriter from its arguments.
pub(super) struct Plan {
    pub(super) kind: Kind,
    pub(super) element: usize,
    pub(super) outputs: usize,
    /// For TCP or all, and for IPRewriter's UDP.
    pub(super) policies: [Policy; 2],
    pub(super) specs: Vec<Spec>,
    pub(super) capacity: Capacity,
    pub(super) seed: u64,
}

/// How many flows there may be: a number, or together with another rewriter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Capacity {
    Own(i32),
    SharedWith(usize),
}

impl Nat {
    pub(super) fn new(plan: Plan) -> Nat {
        let set = OnceLock::new();
        let peer = match plan.capacity {
            Capacity::SharedWith(element) if element != plan.element => Some(element),
            Capacity::SharedWith(_) => {
                let _ = set.set(Arc::new(FlowSet::new(plan.seed, i32::MAX)));
                None
            }
            Capacity::Own(capacity) => {
                let _ = set.set(Arc::new(FlowSet::new(plan.seed, capacity)));
                None
            }
        };
        Nat {
            kind: plan.kind,
            element: plan.element,
            outputs: plan.outputs,
            policies: plan.policies,
            peer,
            set,
            inputs: plan.specs.iter().map(|_| Cell::new(Input::Drop)).collect(),
            counts: plan.specs.iter().map(|_| InputCounts::default()).collect(),
            specs: plan.specs,
            updater: Mutex::new(Domain::global().updater()),
            ready: AtomicBool::new(false),
        }
    }

    /// The rewriter's table, once all elements exist: its own one or that of a peer, perhaps of the peer's peer.
    fn find_set(&self, info: &Info, left: usize) -> Option<Arc<FlowSet>> {
        match self.peer {
            None => self.set.get().cloned(),
            Some(peer) if left > 0 => info.shared::<Nat>(peer)?.find_set(info, left - 1),
            Some(_) => None, // they refer to each other in a circle
        }
    }

    /// Looks up all that the arguments name, once all elements exist. Every instance of the element calls it.
    ///
    /// # Errors
    /// What is wrong, for each input.
    pub(super) fn initialize(&self, info: &Info, turn: Turn<'_>) -> Result<Arc<FlowSet>, Vec<String>> {
        let set =
            self.find_set(info, info.nodes.len()).ok_or_else(|| vec!["bad MAPPING_CAPACITY".to_owned()])?;
        let _ = self.set.set(set.clone());
        if self.ready.swap(true, Relaxed) {
            return Ok(set);
        }
        let mut editor = set.edit(turn);
        for (map, policy) in self.maps().zip(self.policies) {
            editor.register(map, policy, self.counts.clone());
        }
        drop(editor);
        let mut errors = Vec::new();
        for (at, spec) in self.specs.iter().enumerate() {
            if let Err(error) = self.set_input(info, at, spec) {
                errors.push(format!("input spec {at}: {error}"));
            }
        }
        if errors.is_empty() { Ok(set) } else { Err(errors) }
    }

    /// The table, once the element is initialised.
    pub(super) fn set(&self) -> Option<&Arc<FlowSet>> {
        self.set.get()
    }

    /// The maps of the rewriter, in the table that it may share.
    pub(super) fn maps(&self) -> impl Iterator<Item = u32> + use<> {
        let first = self.element as u32 * 2;
        first..first + if self.kind == Kind::Ip { 2 } else { 1 }
    }

    /// The map for packets of a protocol.
    #[inline]
    pub(super) fn map(&self, protocol: u8) -> u32 {
        self.element as u32 * 2 + u32::from(self.kind == Kind::Ip && protocol == ip_proto::UDP)
    }

    /// How long flows of a map stay.
    #[inline]
    pub(super) fn policy(&self, map: u32) -> &Policy {
        &self.policies[(map % 2) as usize]
    }

    /// The input specifications.
    pub(super) fn inputs(&self) -> &[Cell<Input>] {
        &self.inputs
    }

    /// What is counted for each input.
    pub(super) fn counts(&self) -> &[InputCounts] {
        &self.counts
    }

    fn set_input(&self, info: &Info, at: usize, spec: &Spec) -> Result<(), String> {
        let input = Box::new(spec.resolve(info, self.element, self.outputs)?);
        let updater = self.updater.lock().unwrap_or_else(PoisonError::into_inner);
        self.inputs[at].replace(input, &*updater).map_err(|_| BUSY.to_owned())
    }

    /// Replaces an input's specification; the flows that the old one has made go.
    ///
    /// # Errors
    /// What is wrong with the new one; the old one stays.
    pub(super) fn change_input(
        &self,
        info: &Info,
        scope: Scope<'_>,
        turn: Turn<'_>,
        at: usize,
        text: &str,
    ) -> Result<(), String> {
        let error = |error| format!("input spec {at}: {error}");
        let is_mapper = |element: usize| mapper::CLASSES.contains(&info.nodes[element].class.name);
        let spec = Spec::parse(text, scope, &is_mapper, self.outputs).map_err(error)?;
        self.set_input(info, at, &spec).map_err(error)?;
        if let Some(set) = self.set() {
            let mut editor = set.edit(turn);
            self.maps().for_each(|map| editor.remove_input(map, at));
        }
        Ok(())
    }

    /// What becomes of a packet of an unknown flow at an input.
    #[cold]
    pub(super) fn miss<'t>(
        &'t self,
        turn: Turn<'t>,
        at: usize,
        key: Key,
        protocol: u8,
        reply_anno: u8,
        with: &mut Circumstances<'_>,
    ) -> Miss<'t> {
        let (Some(input), Some(set)) = (self.inputs.get(at), self.set()) else {
            return Miss::Drop(NO_SUCH_FLOW);
        };
        match input.read(turn) {
            Input::Drop => Miss::Drop(NO_SUCH_FLOW),
            Input::Pass(output) => Miss::Pass(usize::from(*output)),
            input => match self.make(&mut set.edit(turn), at, input, key, protocol, with) {
                Some((found, new)) => {
                    if new {
                        found.flow.set_reply_anno(reply_anno);
                    }
                    Miss::Made(found)
                }
                None => Miss::Drop(NOT_MADE),
            },
        }
    }

    /// What becomes of packets at an input that are none of the rewriter's business.
    #[inline]
    pub(super) fn pass(&self, turn: Turn<'_>, at: usize) -> Option<usize> {
        match self.inputs.get(at)?.read(turn) {
            Input::Pass(output) => Some(usize::from(*output)),
            _ => None,
        }
    }

    /// Makes the flow of a key, or finds that another worker has made it; says which.
    fn make<'t>(
        &self,
        editor: &mut Editor<'t>,
        at: usize,
        input: &Input,
        key: Key,
        protocol: u8,
        with: &mut Circumstances<'_>,
    ) -> Option<(Found<'t>, bool)> {
        if let Some(found) = editor.find(key) {
            return Some((found, false));
        }
        let Some((rewritten, outputs)) = self.rewrite(editor, input, key, with) else {
            self.counts[at].failures.fetch_add(1, Relaxed);
            return None;
        };
        let new = self.describe(at, key, protocol, rewritten, outputs)?;
        let found = editor.insert(&new, with.now_ms, with.now_ms);
        if found.is_none() {
            self.counts[at].failures.fetch_add(1, Relaxed);
        }
        found.map(|found| (found, true))
    }

    /// What a specification makes of a flow's identifier.
    fn rewrite(
        &self,
        editor: &mut Editor<'_>,
        input: &Input,
        key: Key,
        with: &mut Circumstances<'_>,
    ) -> Option<(FlowId, Outputs)> {
        let mut choose = |pattern: &Pattern| {
            // An identifier of a ping makes another field, so that what is taken from its range is not known.
            let domain = pattern.domain(key.id).filter(|_| self.kind != Kind::Ping);
            if domain.is_some_and(|domain| editor.exhausted().has(key.map, domain)) {
                return None;
            }
            let mut free = |id: FlowId| {
                let reply = Key { map: key.map, id: self.completed(id).reversed() };
                editor.find(reply).is_none()
            };
            let chosen = pattern.choose(key.id, with.random, &mut free);
            if let (None, Some(domain)) = (chosen, domain) {
                editor.exhausted().add(key.map, domain);
            }
            chosen
        };
        match input {
            Input::Keep(outputs) => Some((key.id, *outputs)),
            Input::Pattern(pattern, outputs) => Some((choose(pattern)?, *outputs)),
            Input::Mapper(mapper) => mapper.choose(key.id, choose),
            Input::Drop | Input::Pass(_) => None,
        }
    }

    /// A rewritten identifier with what follows from the rest of it.
    fn completed(&self, id: FlowId) -> FlowId {
        match self.kind {
            Kind::Ping => FlowId { dport: next_id(id.sport), ..id },
            _ => id,
        }
    }

    /// The flow to be made. `None` if the rewriter cannot follow such a mapping.
    fn describe(
        &self,
        at: usize,
        key: Key,
        protocol: u8,
        rewritten: FlowId,
        outputs: Outputs,
    ) -> Option<NewFlow> {
        let rewritten = self.completed(rewritten);
        let possible = match self.kind {
            Kind::Addr => (rewritten.ports(), rewritten.daddr) == (0, 0),
            Kind::Pair => rewritten.ports() == 0,
            Kind::Ping => key.id.dport == next_id(key.id.sport),
            Kind::Ip | Kind::Tcp | Kind::Udp => true,
        };
        if !possible || outputs.iter().any(|&output| usize::from(output) >= self.outputs) {
            return None;
        }
        let transport_change = match self.kind {
            Kind::Ping => difference([key.id.sport], [rewritten.sport]),
            _ => difference(words(key.id), words(rewritten)),
        };
        Some(NewFlow {
            map: key.map,
            protocol: if matches!(self.kind, Kind::Addr | Kind::Pair) { 0 } else { protocol },
            id: key.id,
            rewritten,
            outputs,
            input: at as u16,
            ip_change: difference(address_words(key.id), address_words(rewritten)),
            transport_change,
            reply_anno: 0,
        })
    }

    /// The flow that packets with an identifier belong to, for another element. `id` has an echo's identifier as its
    /// source port.
    pub(super) fn entry<'t>(
        &'t self,
        turn: Turn<'t>,
        protocol: u8,
        id: FlowId,
        purpose: Purpose,
        with: &mut Circumstances<'_>,
    ) -> Option<Found<'t>> {
        let set = self.set()?;
        let keys = self.keys(protocol, id, purpose)?.map(|id| Key { map: self.map(protocol), id });
        let known = set.find(turn, keys[0]).or_else(|| set.find(turn, keys[1]));
        if let Some(found) = known {
            let others = [found.flow.protocol(), protocol];
            let same = others.contains(&0) || others[0] == others[1];
            return Some(found).filter(|_| same);
        }
        let Purpose::Make(at) = purpose else { return None };
        let input = self.inputs.get(at)?.read(turn);
        if matches!(input, Input::Drop | Input::Pass(_)) {
            return None;
        }
        self.make(&mut set.edit(turn), at, input, keys[0], protocol, with).map(|(found, _)| found)
    }

    /// What this rewriter would find a packet by.
    fn keys(&self, protocol: u8, id: FlowId, purpose: Purpose) -> Option<[FlowId; 2]> {
        let only = |id| Some([id, id]);
        match self.kind {
            Kind::Ip if !matches!(protocol, ip_proto::TCP | ip_proto::UDP) => None,
            Kind::Ip | Kind::Tcp | Kind::Udp => only(id),
            Kind::Ping if protocol != ip_proto::ICMP => None,
            Kind::Ping if purpose == Purpose::Reply => {
                only(FlowId { sport: next_id(id.sport), dport: id.sport, ..id })
            }
            Kind::Ping => only(FlowId { dport: next_id(id.sport), ..id }),
            Kind::Addr => Some(address_keys(id)),
            Kind::Pair => only(FlowId { sport: 0, dport: 0, ..id }),
        }
    }

    /// Takes over the flows of a rewriter of the same name in an old configuration, as far as this one has the inputs and
    /// outputs that they need.
    pub(super) fn adopt(&self, old: &Nat, turn: Turn<'_>, now_ms: u64) {
        let (Some(set), Some(old_set)) = (self.set(), old.set()) else { return };
        if self.kind != old.kind {
            return;
        }
        let mut editor = set.edit(turn);
        for (map, old_map) in self.maps().zip(old.maps()) {
            for flow in old_set.flows(turn, old_map) {
                let new = NewFlow { map, ..flow.describe() };
                let fits = usize::from(new.input) < self.specs.len()
                    && new.outputs.iter().all(|&output| usize::from(output) < self.outputs);
                if !fits || editor.find(Key { map, id: new.id }).is_some() {
                    continue;
                }
                let Some(found) = editor.insert(&new, flow.last_ms(), now_ms) else { continue };
                found.flow.set_flags(flow.flags() & !flag::DELTAS);
                if let Some(deltas) = flow.deltas(turn) {
                    editor.set_deltas(found.flow, deltas.clone());
                }
                editor.replace(found.record);
            }
        }
        for (new, old) in self.counts.iter().zip(&*old.counts) {
            new.failures.fetch_max(old.failures.load(Relaxed), Relaxed); // the same for every instance
        }
    }
}

/// What IPAddrRewriter finds a packet by: its source address, or else its destination address.
#[inline]
pub(super) fn address_keys(id: FlowId) -> [FlowId; 2] {
    let none = FlowId::default();
    [FlowId { saddr: id.saddr, ..none }, FlowId { daddr: id.daddr, ..none }]
}
