//! What all rewriters share: the part of a rewriter that exists once, whichever workers its instances run on.
//!
//! It has the flows, the input specifications, and the ways to make a flow: for a packet, or because another element
//! (ICMPRewriter, FTPPortMapper) asks.

use super::apply::{difference, differences};
use super::counts::{InputCounts, Refusal, Totals};
use super::endpoints::Filtering;
use super::exhausted::{Domain, Field};
use super::flow_events::{Ends, Event, Listener};
use super::flow_set::{Entered, FLOWS_MAX, FlowMatch, FlowSet};
use super::input::{Input, Outputs, Spec};
use super::mapper;
use super::nat64::Six;
use super::pattern::Pattern;
use super::policy::Policy;
use super::record::{MAPPINGS, NewFlow, REPLY, flag};
use super::search::Search;
use super::share::Share;
use crate::quota::{Limit, QUOTA};
use elements_shared::flow_id::{FlowId, Key};
use rcu::{Cell, Turn, Updater};
use router::{Cx, Info, Scope};
use std::ops::Range;
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
    /// NAT64: TCP, UDP and echoes of ICMP, in a map each.
    Six,
}

/// Maps of a rewriter, at most.
const MAPS: u32 = 4;

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

/// The flow that a packet asks for.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    /// The input whose specification makes it.
    pub(super) at: usize,
    /// What it is found by, and the hash of that in the rewriter's table.
    pub(super) key: Key,
    pub(super) hash: u64,
    pub(super) protocol: u8,
}

/// Place, time and chance, for the worker that makes a flow.
pub(super) struct Circumstances<'r> {
    /// The worker.
    pub(super) worker: usize,
    pub(super) now_ms: u64,
    /// A number up to the given one.
    pub(super) random: &'r mut dyn FnMut(u32) -> u32,
}

/// What becomes of a packet whose flow is not known.
pub(super) enum Miss<'t> {
    /// It has a flow now.
    Made(FlowMatch<'t>),
    /// It passes as it is.
    Pass(usize),
    /// It is dropped.
    Drop(&'static str),
}

/// What a flow is to become.
pub(super) struct Choice {
    pub(super) id: FlowId,
    pub(super) outputs: Outputs,
    /// Whether another flow must not become the same.
    varies: bool,
    /// The hash of what the replies are found by, if it was looked for.
    reply: Option<u64>,
}

const NO_SUCH_FLOW: &str = "no mapping";
pub(super) const NOT_MADE: &str = "no mapping could be made";
/// There are as many flows as there may be.
pub(super) const FULL: &str = "no room for another mapping";
/// Each that was chosen was another's.
pub(super) const CONTENDED: &str = "no mapping could be made: others were quicker";

/// How often a worker chooses again what a flow becomes because it was another's meanwhile.
pub(super) const ROUNDS: usize = 64;

/// The shared part of a rewriter.
pub(crate) struct Nat {
    pub(super) kind: Kind,
    element: usize,
    outputs: usize,
    /// The workers that have an instance.
    workers: Vec<usize>,
    policies: [Policy; 3],
    /// The element whose flows are counted together with these, or the table itself.
    peer: Option<usize>,
    set: OnceLock<Arc<FlowSet>>,
    specs: Vec<Spec>,
    inputs: Box<[Cell<Input>]>,
    counts: Arc<[InputCounts]>,
    /// Who reaches an endpoint from outside, if what it is there does not depend on where it sends.
    pub(super) filtering: Option<Filtering>,
    /// Where packets leave for which no mapping can be made.
    unmapped: Option<u16>,
    updater: Mutex<Updater>,
    ready: AtomicBool,
    /// Whether an element asks for what happens to flows.
    tells: AtomicBool,
    /// Who hears of flows.
    listener: Arc<Listener>,
    /// Flows of the configuration before that were lost, once they have been taken over.
    pub(super) adopted: OnceLock<usize>,
    /// Of NAT64, whose flows have numbers for addresses of IPv6.
    pub(super) six: Option<Arc<Six>>,
}

/// What is known of a rewriter from its arguments.
pub(super) struct Plan {
    pub(super) kind: Kind,
    pub(super) element: usize,
    pub(super) outputs: usize,
    pub(super) workers: Vec<usize>,
    /// For TCP or all, for IPRewriter's UDP, and for NAT64's echoes.
    pub(super) policies: [Policy; 3],
    pub(super) specs: Vec<Spec>,
    /// `None` for mappings that depend on where an endpoint sends.
    pub(super) filtering: Option<Filtering>,
    /// `None` if they are dropped.
    pub(super) unmapped: Option<u16>,
    pub(super) capacity: Capacity,
    /// What sources of a prefix may have in the rewriter's own table.
    pub(super) quota: Limit,
    pub(super) seed: u64,
    /// Of NAT64.
    pub(super) six: Option<Six>,
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
        let table = |capacity| Arc::new(FlowSet::new(plan.seed, capacity).with_quota(plan.quota, plan.seed));
        let peer = match plan.capacity {
            Capacity::SharedWith(element) if element != plan.element => Some(element),
            Capacity::SharedWith(_) => {
                let _ = set.set(table(FLOWS_MAX));
                None
            }
            Capacity::Own(capacity) => {
                let _ = set.set(table(capacity));
                None
            }
        };
        Nat {
            kind: plan.kind,
            element: plan.element,
            outputs: plan.outputs,
            workers: plan.workers,
            policies: plan.policies,
            peer,
            set,
            inputs: plan.specs.iter().map(|_| Cell::new(Input::Drop)).collect(),
            counts: plan.specs.iter().map(|_| InputCounts::default()).collect(),
            specs: plan.specs,
            filtering: plan.filtering,
            unmapped: plan.unmapped,
            updater: Mutex::new(rcu::Domain::global().updater()),
            ready: AtomicBool::new(false),
            tells: AtomicBool::new(false),
            listener: Arc::default(),
            adopted: OnceLock::new(),
            six: plan.six.map(Arc::new),
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
        if self.tells.load(Relaxed) {
            set.want_events(true);
        }
        if self.ready.swap(true, Relaxed) {
            return Ok(set);
        }
        let mut editor = set.edit(turn);
        for (map, policy) in self.maps().zip(self.policies) {
            editor.register(map, policy, self.counts.clone());
            editor.listen(map, &self.listener);
            if let Some(six) = &self.six {
                let ends: Arc<dyn Ends> = six.clone();
                editor.name(map, &ends);
            }
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

    /// Whether the flows are in another rewriter's table. Others may have theirs in this one's all the same.
    pub(super) fn shares_table(&self) -> bool {
        self.peer.is_some()
    }

    /// Has the table say what happens to its flows from now on. False if it has been asked to already.
    pub(crate) fn want_events(&self) -> bool {
        let is_first = !self.tells.swap(true, Relaxed);
        if let Some(set) = self.set() {
            set.want_events(true);
        }
        is_first
    }

    /// Looks whether there are listeners to what happens to flows.
    #[inline]
    pub(super) fn listen(&self, cx: &Cx<'_>) {
        self.listener.listen(cx.info(), cx.name());
    }

    /// Exchanges what has happened to a lane's flows for an empty list with room. Returns how many events were lost.
    pub(crate) fn take_events(&self, lane: usize, now_ms: Option<u64>, list: &mut Vec<Event>) -> u64 {
        self.set().map_or(0, |set| set.take_events(lane, now_ms, list))
    }

    /// The maps of the rewriter, in the table that it may share.
    pub(super) fn maps(&self) -> Range<u32> {
        let first = self.element as u32 * MAPS;
        let number = match self.kind {
            Kind::Ip => 2,
            Kind::Six => 3,
            Kind::Tcp | Kind::Udp | Kind::Ping | Kind::Addr | Kind::Pair => 1,
        };
        first..first + number
    }

    /// The map for packets of a protocol.
    #[inline]
    pub(super) fn map(&self, protocol: u8) -> u32 {
        let number = match (self.kind, protocol) {
            (Kind::Ip | Kind::Six, ip_proto::UDP) => 1,
            (Kind::Six, ip_proto::ICMP) => 2,
            _ => 0,
        };
        self.element as u32 * MAPS + number
    }

    /// The protocol of a map's flows, 0 if there are several.
    pub(super) fn protocol(&self, map: u32) -> u8 {
        match self.kind {
            Kind::Ip | Kind::Six if map % MAPS == 1 => ip_proto::UDP,
            Kind::Six if map % MAPS == 2 => ip_proto::ICMP,
            Kind::Ip | Kind::Six | Kind::Tcp => ip_proto::TCP,
            Kind::Ping => ip_proto::ICMP,
            Kind::Udp | Kind::Addr | Kind::Pair => 0,
        }
    }

    /// How long flows of a map stay.
    #[inline]
    pub(super) fn policy(&self, map: u32) -> &Policy {
        &self.policies[(map % MAPS) as usize]
    }

    /// Notes what a packet says about its flow, which was used just now.
    pub(super) fn change_flags(&self, set: &FlowSet, found: &FlowMatch<'_>, map: u32, flags: u16) {
        let (flow, old) = (found.flow, found.flow.flags());
        // Another worker may have said meanwhile that sequence numbers change, or that the flow is confirmed.
        flow.change_flags(old & !flags & !flag::DELTAS & !flag::CONFIRMED, flags & !old);
        let policy = self.policy(map);
        if policy.timeout_ms(flags) < policy.timeout_ms(old) || policy.stay_ms(flags) < policy.stay_ms(old) {
            set.replace(found.record);
        } else if flags & !old & flag::CONFIRMED != 0 {
            set.confirm(found.record);
        }
    }

    /// The outputs by which packets of flows may leave: all, or all before one that only packets without a mapping have.
    pub(super) fn outputs_of_flows(&self, info: &Info) -> usize {
        let is_apart = |&output: &u16| {
            let is_last = usize::from(output) + 1 == self.outputs;
            is_last && !self.specs.iter().any(|spec| spec.leads_to(info, output))
        };
        self.outputs - usize::from(self.unmapped.as_ref().is_some_and(is_apart))
    }

    /// Whether packets may leave by an output: none is one that leads nowhere.
    pub(super) fn has_output(&self, output: u16) -> bool {
        usize::from(output) < self.outputs || output == u16::MAX
    }

    /// The input specifications.
    pub(super) fn inputs(&self) -> &[Cell<Input>] {
        &self.inputs
    }

    /// What happened to the rewriter's flows.
    pub(super) fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        self.counts.iter().for_each(|counts| counts.add_to(&mut totals));
        totals
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
    pub(super) fn miss<'t>(
        &'t self,
        turn: Turn<'t>,
        wanted: Wanted,
        reply_anno: u8,
        with: &mut Circumstances<'_>,
    ) -> Miss<'t> {
        let (Some(input), Some(set)) = (self.inputs.get(wanted.at), self.set()) else {
            return Miss::Drop(NO_SUCH_FLOW);
        };
        let input = input.read(turn);
        let admit = || self.admit(set, turn, wanted.key, wanted.protocol, with);
        let (made, otherwise) = match input {
            Input::Drop => (admit(), Miss::Drop(NO_SUCH_FLOW)),
            Input::Pass(output) => (admit(), Miss::Pass(usize::from(*output))),
            input => match self.make(set, turn, input, wanted, with) {
                Ok(made) => (Some(made), Miss::Drop(NOT_MADE)),
                Err(reason) => {
                    return self.unmapped.map_or(Miss::Drop(reason), |output| Miss::Pass(output.into()));
                }
            },
        };
        let Some((found, new)) = made else { return otherwise };
        if new {
            found.flow.set_reply_anno(reply_anno);
        }
        Miss::Made(found)
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
    ///
    /// What the flow becomes is chosen before it is entered. Only then does it show whether another worker has taken the same
    /// meanwhile; then this one chooses again. That is rare, since each begins in a part of the range of its own.
    ///
    /// # Errors
    /// Why there is none.
    fn make<'t>(
        &self,
        set: &'t FlowSet,
        turn: Turn<'t>,
        input: &Input,
        wanted: Wanted,
        with: &mut Circumstances<'_>,
    ) -> Result<(FlowMatch<'t>, bool), &'static str> {
        if self.is_over_quota(set, wanted.key) {
            return Err(self.refuse_over_quota(wanted.at, with.worker));
        }
        let made = match self.filtering {
            Some(_) if input.maps_endpoints() => self.make_mapped(set, turn, input, wanted, with),
            _ => self.make_unmapped(set, turn, input, wanted, with),
        };
        made.inspect_err(|&why| {
            self.counts[wanted.at].fail(with.worker);
            if why == FULL {
                self.counts[wanted.at].refuse(with.worker, Refusal::Full);
            }
        })
    }

    /// Whether the source of a flow that is to be made has as many as it may.
    #[inline]
    pub(super) fn is_over_quota(&self, set: &FlowSet, key: Key) -> bool {
        set.quota.is_used(|| self.ends(key.id())[0].0)
    }

    /// Counts that a worker makes no flow at an input because the prefix of the source has as many as it may. Says so.
    pub(super) fn refuse_over_quota(&self, at: usize, worker: usize) -> &'static str {
        self.counts[at].fail(worker);
        self.counts[at].refuse(worker, Refusal::OverQuota);
        QUOTA
    }

    /// The same where what a flow becomes depends on where it goes.
    fn make_unmapped<'t>(
        &self,
        set: &'t FlowSet,
        turn: Turn<'t>,
        input: &Input,
        wanted: Wanted,
        with: &mut Circumstances<'_>,
    ) -> Result<(FlowMatch<'t>, bool), &'static str> {
        // Each further round means that another worker has made a flow.
        for _ in 0..ROUNDS {
            let Some(choice) = self.choose(set, turn, input, wanted.key, with) else {
                // Perhaps because another worker has made this very flow, with the last number.
                return set.find(turn, wanted.key).map(|found| (found, false)).ok_or(NOT_MADE);
            };
            let new = self.describe(wanted, choice.id, choice.outputs).ok_or(NOT_MADE)?;
            let reply = choice.reply.unwrap_or_else(|| set.hash(new.keys()[REPLY]));
            let hashes = [wanted.hash, reply];
            match set.enter_hashed(turn, with.worker, &new, hashes, choice.varies, with.now_ms) {
                Entered::Made(found) => return Ok((found, true)),
                Entered::Known(found) => return Ok((found, false)),
                Entered::Taken => {}
                Entered::Refused => return Err(FULL),
            }
        }
        Err(CONTENDED)
    }

    /// What a specification makes of a flow's identifier. Takes the lock only to be sure that nothing is left.
    pub(super) fn choose(
        &self,
        set: &FlowSet,
        turn: Turn<'_>,
        input: &Input,
        key: Key,
        with: &mut Circumstances<'_>,
    ) -> Option<Choice> {
        let (share, now_ms) = (self.share(with.worker), with.now_ms);
        let (mut varies, mut reply) = (false, None);
        let mut choose = |pattern: &Pattern| {
            (varies, reply) = (pattern.varies(), None);
            let (map, domain) = (key.map(), self.domain(pattern, key));
            if domain.is_some_and(|domain| set.is_exhausted(map, domain)) {
                return None;
            }
            let crowd = domain.and_then(|domain| set.crowd(turn, map, domain));
            let (nat, worker, tries, from) = (self, Some(with.worker), 0, None);
            let mut search =
                Search { nat, set, turn, pattern, key, domain, worker, crowd, reply, tries, from };
            let mut chosen = pattern.choose(key.id(), share, with.random, &mut search);
            if let (None, Some(domain)) = (chosen, domain) {
                // A number that was given back behind the search's back would not be looked for again.
                let mut editor = set.edit(turn);
                // What is known of the range may have been dropped meanwhile; then no number that is given back is struck out there.
                search.crowd = set.crowd(turn, map, domain);
                (search.worker, search.from) = (None, None);
                chosen = pattern.choose(key.id(), share, &mut |_| 0, &mut search);
                if chosen.is_none() {
                    editor.exhausted(map, domain);
                    editor.tell_exhausted(domain, self.protocol(map), now_ms);
                }
            }
            reply = search.reply; // of what was chosen, in the end
            chosen
        };
        let (id, outputs) = match input {
            Input::Keep(outputs) => (key.id(), *outputs),
            Input::Pattern(pattern, outputs) => (choose(pattern)?, *outputs),
            Input::Mapper(mapper) => mapper.choose(key.id(), with.worker, choose)?,
            Input::Drop | Input::Pass(_) => return None,
        };
        Some(Choice { id, outputs, varies, reply })
    }

    /// What a pattern takes from to make a key's flow, if it has a range.
    #[inline]
    pub(super) fn domain(&self, pattern: &Pattern, key: Key) -> Option<Domain> {
        let field = if self.kind == Kind::Ping { Field::Echoes } else { Field::Ports };
        pattern.domain(key.id(), field)
    }

    /// The pattern by which an input makes flows, if it shows before what they may become, and where those leave.
    pub(super) fn foreseen<'t>(&'t self, turn: Turn<'t>, at: usize) -> Option<(&'t Pattern, Outputs)> {
        match self.inputs.get(at)?.read(turn) {
            Input::Pattern(pattern, outputs) if self.filtering.is_none() => Some((pattern, *outputs)),
            _ => None,
        }
    }

    /// The part of each range that a worker's flows have.
    pub(super) fn share(&self, worker: usize) -> Share {
        Share::of_worker(worker, &self.workers)
    }

    /// What replies are found by if a flow of a map becomes this.
    #[inline]
    pub(super) fn reply_key(&self, map: u32, id: FlowId) -> Key {
        // Mappings are complete as they are.
        let id = if map & MAPPINGS == 0 { self.completed(id) } else { id };
        Key::new(map, id.reversed())
    }

    /// A rewritten identifier with what follows from the rest of it.
    #[inline]
    pub(super) fn completed(&self, id: FlowId) -> FlowId {
        match self.kind {
            Kind::Ping => FlowId { dport: next_id(id.sport), ..id },
            _ => id,
        }
    }

    /// The flow to be made, which becomes `id`. `None` if the rewriter cannot follow such a mapping.
    #[inline]
    pub(super) fn describe(&self, wanted: Wanted, id: FlowId, outputs: Outputs) -> Option<NewFlow> {
        let key = wanted.key;
        let rewritten = self.completed(id);
        (self.can_make(key.id(), rewritten) && self.has_outputs(outputs))
            .then(|| self.new_flow(&wanted, rewritten, outputs))
    }

    /// Whether a flow with an identifier can become this.
    #[inline]
    pub(super) fn can_make(&self, id: FlowId, rewritten: FlowId) -> bool {
        match self.kind {
            Kind::Addr => (rewritten.ports(), rewritten.daddr) == (0, 0),
            Kind::Pair => rewritten.ports() == 0,
            Kind::Ping => id.dport == next_id(id.sport),
            Kind::Ip | Kind::Tcp | Kind::Udp | Kind::Six => true,
        }
    }

    fn has_outputs(&self, outputs: Outputs) -> bool {
        outputs.iter().all(|&output| usize::from(output) < self.outputs)
    }

    /// Whether the rewriter can follow all mappings that leave by these outputs.
    pub(super) fn can_make_any(&self, outputs: Outputs) -> bool {
        matches!(self.kind, Kind::Ip | Kind::Tcp | Kind::Udp | Kind::Six) && self.has_outputs(outputs)
    }

    /// The flow to be made, which becomes `rewritten`, where the rewriter can follow that.
    #[inline]
    pub(super) fn new_flow(&self, wanted: &Wanted, rewritten: FlowId, outputs: Outputs) -> NewFlow {
        let Wanted { at, key, protocol, .. } = *wanted;
        let (ip_change, transport_change) = self.changes(key.id(), rewritten);
        NewFlow {
            map: key.map(),
            protocol: if matches!(self.kind, Kind::Addr | Kind::Pair) { 0 } else { protocol },
            id: key.id(),
            rewritten,
            outputs,
            input: at as u16,
            ip_change,
            transport_change,
            reply_anno: 0,
            mapped: false,
        }
    }

    /// What changes in the IP checksum and in the transport checksum.
    #[inline]
    pub(super) fn changes(&self, id: FlowId, rewritten: FlowId) -> (u16, u16) {
        match (differences(id, rewritten), self.kind) {
            ((ip, _), Kind::Ping) => (ip, difference([id.sport], [rewritten.sport])),
            (both, _) => both,
        }
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
    ) -> Option<FlowMatch<'t>> {
        let set = self.set()?;
        let keys = self.keys(protocol, id, purpose)?.map(|id| Key::new(self.map(protocol), id));
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
        let wanted = Wanted { at, key: keys[0], hash: set.hash(keys[0]), protocol };
        self.make(set, turn, input, wanted, with).ok().map(|(found, _)| found)
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
            Kind::Six => None, // other elements do not know its hosts
        }
    }
}

/// What IPAddrRewriter finds a packet by: its source address, or else its destination address.
#[inline]
pub(super) fn address_keys(id: FlowId) -> [FlowId; 2] {
    let none = FlowId::default();
    [FlowId { saddr: id.saddr, ..none }, FlowId { daddr: id.daddr, ..none }]
}

#[cfg(test)]
#[path = "nat_tests.rs"]
mod tests;
