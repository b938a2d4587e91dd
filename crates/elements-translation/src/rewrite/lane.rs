//! A part of the table of flows that one thread at a time may touch: what it takes to add flows and to let them go.
//!
//! See [`super::flow_set`].

use super::changes::{Change, Changes};
use super::counts::InputCounts;
use super::expiry::{BEST_EFFORT, Expiry, GUARANTEED};
use super::flow_events::{Ends, Event, Listener, Log};
use super::flow_set::{Entered, FlowMatch, FlowSet};
use super::index::{Held, Stuck};
use super::policy::{Policy, Timeouts};
use super::record::{FORWARD, Flow, MAPPINGS, NewFlow, Node, REPLY, Slab};
use super::sync::{BLOCK, domain, look_again};
use crate::end::End;
use elements_shared::flow_id::{FlowId, Key};
use rcu::{Account, Token, Turn, Updater};
use std::collections::VecDeque;
use std::net::IpAddr;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Records that may rest beyond the table's capacity. When workers let go of removed flows more slowly than that, new
/// flows are refused.
const RESTING: u64 = 1 << 18;

/// Removed records for which a grace period is started together, if another one is under way.
const LOT: usize = 64;

/// Flows that are looked at beside each new one, so that a full table need not look at all of them at once.
pub(super) const BESIDE: usize = 4;

/// Whose flows a map holds.
#[derive(Clone)]
pub(super) struct Owner {
    pub(super) policy: Policy,
    pub(super) inputs: Arc<[InputCounts]>,
    /// Who sends them, if their identifiers have numbers for that.
    pub(super) ends: Option<Arc<dyn Ends>>,
    /// Who hears of them.
    pub(super) listener: Option<Arc<Listener>>,
}

/// How long flows stay whose owner is gone.
const OWNERLESS: Policy = Policy { guarantee_ms: 0, timeouts: Timeouts::Plain(0) };

/// What only one thread at a time may touch of a part of the table.
pub(super) struct Lane {
    pub(super) number: usize,
    pub(super) updater: Updater,
    /// The lane's flows.
    pub(super) expiry: Expiry,
    /// Flows that it may add.
    pub(super) room: usize,
    /// By map; the same in all lanes.
    pub(super) owners: Vec<Option<Owner>>,
    /// Records that were never used.
    pub(super) block: Range<u32>,
    pub(super) free: Vec<u32>,
    /// Records that were removed lately, and those that wait for a grace period.
    pub(super) removed: Vec<u32>,
    pub(super) resting: VecDeque<(Token, Vec<u32>)>,
    /// What those take.
    account: Account,
    /// What became of the lane's flows.
    pub(super) log: Log,
    /// The same for a copy of the table elsewhere.
    pub(super) changes: Changes,
}

impl Lane {
    pub(super) fn new(number: usize) -> Lane {
        Lane {
            number,
            updater: domain().updater(),
            expiry: Expiry::default(),
            room: 0,
            owners: Vec::new(),
            block: 0..0,
            free: Vec::new(),
            removed: Vec::new(),
            resting: VecDeque::new(),
            account: domain().account("flows"),
            log: Log::default(),
            changes: Changes::default(),
        }
    }

    /// See [`FlowSet::enter`]. `None`, and nothing changed, if that concerns other flows than this one.
    #[inline]
    pub(super) fn enter<'t>(
        &mut self,
        set: &'t FlowSet,
        turn: Turn<'t>,
        new: &NewFlow,
        hashes: [u64; 2],
        varies: bool,
        now_ms: u64,
    ) -> Option<Entered<'t>> {
        if self.room == 0 {
            self.room = set.room.0.take(set.capacity());
        }
        if self.room > 0 { self.add(set, turn, new, hashes, varies, now_ms) } else { None }
    }

    /// The same where there is room. Arguments are what fits into registers: what was just put together in memory would have to be waited for.
    #[inline]
    fn add<'t>(
        &mut self,
        set: &'t FlowSet,
        turn: Turn<'t>,
        new: &NewFlow,
        hashes: [u64; 2],
        varies: bool,
        now_ms: u64,
    ) -> Option<Entered<'t>> {
        let (record, flow, node) = self.allocate(set)?;
        let listed = List { set, turn, record, flow, now_ms }.list(&self.updater, new, hashes);
        match listed {
            Some(Listed::Done) => {}
            // An attempt before this one may have filled the record in: who walks through all of them is not to take it for a flow. No
            // reader has seen it.
            refused => {
                flow.bury();
                self.free.push(record);
                return match refused {
                    Some(Listed::Known(found)) => Some(Entered::Known(found)),
                    Some(Listed::Taken) => varies.then_some(Entered::Taken),
                    _ => Some(Entered::Refused),
                };
            }
        }
        self.room -= 1;
        set.crowds.note(turn, new.map, new.rewritten);
        self.welcome(set, (record, flow, node), new, now_ms);
        self.shift(&set.slab, now_ms, BESIDE);
        Some(Entered::Made(FlowMatch { flow, record, direction: FORWARD }))
    }

    /// Counts a flow that has come into the table, tells of it, and puts it into its queue.
    #[inline]
    fn welcome(&mut self, set: &FlowSet, placed: (u32, &Flow, &Node), new: &NewFlow, now_ms: u64) {
        set.sizes[self.number].0.add(1);
        let owner = self.owners.get(new.map as usize).and_then(Option::as_ref);
        if let Some(counts) = owner.and_then(|owner| owner.inputs.get(usize::from(new.input))) {
            counts.count(self.number, 1);
            counts.made(self.number);
        }
        self.log.set_now(now_ms);
        self.log.add(|| event(&self.owners, new, true));
        if new.map & MAPPINGS != 0 {
            return; // it goes with the last of its flows
        }
        self.publish("new", || *new, new.map);
        set.quota.take(|| source(owner, new.id));
        let policy = owner.map_or(&OWNERLESS, |owner| &owner.policy);
        let (queue, at_ms) = match policy.guarantee_ms {
            0 => (BEST_EFFORT, now_ms.saturating_add(policy.timeout_ms(0))),
            guarantee_ms => (GUARANTEED, now_ms.saturating_add(guarantee_ms)),
        };
        self.expiry.add(&set.slab, placed, queue, at_ms, now_ms);
        self.changes.add(false, Change::Put(placed.0));
    }

    /// Notes that a flow of the lane is new or has changed, for a copy of the table elsewhere.
    pub(super) fn note(&mut self, record: u32, flow: &Flow) {
        if !flow.is_mapping() {
            self.changes.add(flow.is_confirmed(), Change::Put(record));
        }
    }

    /// Has listeners hear what happens to a flow of a map; not of mappings.
    #[inline]
    pub(super) fn publish(&self, what: &str, flow: impl FnOnce() -> NewFlow, map: u32) {
        let owner = self.owners.get(map as usize).and_then(Option::as_ref);
        if let Some(listener) = owner.and_then(|owner| owner.listener.as_ref()) {
            listener.tell(what, || {
                event(&self.owners, &flow(), true).map_or(String::new(), |event| event.to_string())
            });
        }
    }

    /// Tells that a flow was made, or has ended.
    pub(super) fn tell(&mut self, is_made: bool, flow: impl FnOnce() -> NewFlow) {
        self.log.add(|| event(&self.owners, &flow(), is_made));
    }

    /// A record that no reader knows.
    #[inline]
    pub(super) fn allocate<'t>(&mut self, set: &'t FlowSet) -> Option<(u32, &'t Flow, &'t Node)> {
        if self.free.is_empty() && !(self.removed.is_empty() && self.resting.is_empty()) {
            self.recycle();
        }
        let record = match self.free.pop().or_else(|| self.block.next()) {
            Some(record) => record,
            None => self.fresh(set)?,
        };
        let (flow, node) = set.slab.both(record).or_else(|| set.slab.make(record))?;
        flow.lane.store(self.number as u8, Relaxed);
        Some((record, flow, node))
    }

    /// A record that was never used, of a new block if need be.
    #[cold]
    fn fresh(&mut self, set: &FlowSet) -> Option<u32> {
        if self.block.is_empty() {
            // Entries are twice as many, and the last number means that there is none.
            let most = (set.capacity().max(0) as u64 + RESTING).min((1 << 31) - 1) - u64::from(BLOCK);
            let more = |next: u32| (u64::from(next) <= most).then_some(next + BLOCK);
            let first = set.next.0.fetch_update(Relaxed, Relaxed, more).ok()?;
            self.block = first..first + BLOCK;
            // Has the next records made by a control thread before they are needed: there may be very many, and packets would
            // wait for them. If it cannot be done, or comes too late, they are made when they are needed.
            if let Some(first) = Slab::soon(first) {
                let slab = set.slab.clone();
                let _ = self.updater.call(0, move || _ = slab.make(first));
            }
        }
        self.block.next()
    }

    /// Frees the records that have rested long enough.
    pub(super) fn recycle(&mut self) {
        if self.removed.len() >= LOT || self.resting.is_empty() && !self.removed.is_empty() {
            self.resting.push_back((domain().start(), std::mem::take(&mut self.removed)));
            self.weigh();
        }
        while let Some((token, _)) = self.resting.front()
            && domain().poll(*token)
        {
            self.free.extend(self.resting.pop_front().into_iter().flat_map(|(_, records)| records));
            self.weigh();
        }
    }

    /// Tells the domain how much rests: once a lot, not once a flow.
    fn weigh(&self) {
        let records: usize = self.resting.iter().map(|(_, records)| records.len()).sum();
        self.account.set(records * (size_of::<Flow>() + size_of::<u32>()));
    }

    /// Whose flow it is.
    fn owner(&self, flow: &Flow) -> Option<&Owner> {
        self.owners.get(flow.map()? as usize)?.as_ref()
    }

    /// Counts a flow of the lane, for the table and for the flow's owner.
    pub(super) fn count(&self, set: &FlowSet, flow: &Flow, by: i32) {
        set.sizes[self.number].0.add(by);
        if let Some(counts) = self.owner(flow).and_then(|owner| owner.inputs.get(flow.input())) {
            counts.count(self.number, by);
        }
    }

    /// Counts that a flow was made of which nothing is counted yet but that it is there.
    pub(super) fn count_made(&self, new: &NewFlow) {
        let owner = self.owners.get(new.map as usize).and_then(Option::as_ref);
        if let Some(counts) = owner.and_then(|owner| owner.inputs.get(usize::from(new.input))) {
            counts.made(self.number);
        }
    }

    /// Counts why a flow of the lane has ended.
    pub(super) fn count_end(&self, flow: &Flow, end: End) {
        if let Some(counts) = self.owner(flow).and_then(|owner| owner.inputs.get(flow.input())) {
            counts.ended(self.number, end);
        }
    }

    /// Who sends a flow of the lane.
    pub(super) fn source_of(&self, flow: &Flow) -> IpAddr {
        source(self.owner(flow), flow.id(FORWARD))
    }

    /// Until when a flow is guaranteed to stay, and when its time is over.
    pub(super) fn times(&self, flow: &Flow) -> (u64, u64) {
        let policy = self.owner(flow).map_or(&OWNERLESS, |owner| &owner.policy);
        let last_ms = flow.last_ms();
        let (stay_ms, timeout_ms) = (policy.stay_ms(flow.flags()), policy.timeout_ms(flow.flags()));
        (last_ms.saturating_add(stay_ms), last_ms.saturating_add(timeout_ms))
    }

    /// Puts a flow into the queue of the guaranteed ones, or the other if there are no guarantees.
    pub(super) fn place(&mut self, slab: &Slab, record: u32, flow: &Flow) {
        if flow.is_mapping() {
            return; // it goes with the last of its flows
        }
        let (queue, at_ms) = self.belongs(flow);
        self.expiry.set(slab, record, queue, at_ms);
    }

    /// The queue that a flow belongs to after a packet, and when.
    fn belongs(&self, flow: &Flow) -> (usize, u64) {
        let (guaranteed_ms, over_ms) = self.times(flow);
        if guaranteed_ms > flow.last_ms() { (GUARANTEED, guaranteed_ms) } else { (BEST_EFFORT, over_ms) }
    }

    /// Moves flows whose guarantee has ended to the other queue: looks at `most` of them. How many it has looked at.
    #[inline]
    pub(super) fn shift(&mut self, slab: &Slab, now_ms: u64, most: usize) -> usize {
        let mut looks = 0;
        while looks < most
            && let Some((_, record)) = self.expiry.due(slab, GUARANTEED, now_ms)
            && let Some(flow) = slab.get(record)
        {
            looks += 1;
            let (guaranteed_ms, over_ms) = self.times(flow);
            if guaranteed_ms > now_ms {
                self.expiry.set(slab, record, GUARANTEED, guaranteed_ms);
            } else {
                self.expiry.set(slab, record, BEST_EFFORT, over_ms);
            }
        }
        looks
    }

    /// Whether the first flow of the best-effort queue is in its place there; moves it if not.
    pub(super) fn settled(&mut self, slab: &Slab, at: u64, record: u32, now_ms: u64) -> bool {
        let Some(flow) = slab.get(record) else { return true };
        let (guaranteed_ms, over_ms) = self.times(flow);
        if guaranteed_ms > now_ms && guaranteed_ms > flow.last_ms() {
            self.expiry.set(slab, record, GUARANTEED, guaranteed_ms);
        } else if over_ms > at {
            self.expiry.set(slab, record, BEST_EFFORT, over_ms);
        } else {
            return true;
        }
        false
    }
}

/// Who sends a flow with an identifier.
fn source(owner: Option<&Owner>, id: FlowId) -> IpAddr {
    match owner.and_then(|owner| owner.ends.as_ref()) {
        Some(ends) => ends.ends(id)[0].0,
        None => id.source().into(),
    }
}

/// What is told of a flow that was made, or has ended.
fn event(owners: &[Option<Owner>], flow: &NewFlow, is_made: bool) -> Option<Event> {
    let mut event = flow.event(is_made)?;
    let owner = owners.get((flow.map & !MAPPINGS) as usize).and_then(Option::as_ref);
    if let Some(ends) = owner.and_then(|owner| owner.ends.as_ref()) {
        let [source, destination] = ends.ends(flow.id);
        (event.ends[0].0, event.ends[1].0) = (source.0, destination.0);
    }
    Some(event)
}

/// What came of the wish to list a flow in the index.
enum Listed<'t> {
    Done,
    /// A flow has its forward key.
    Known(FlowMatch<'t>),
    /// A flow has its reply key.
    Taken,
}

/// A flow that is to be listed, in a record that no reader knows.
struct List<'t> {
    set: &'t FlowSet,
    turn: Turn<'t>,
    record: u32,
    flow: &'t Flow,
    now_ms: u64,
}

impl<'t> List<'t> {
    /// Fills the record in and lists it, if no flow has one of its keys. `None` if there is no room in the index.
    #[inline]
    fn list(&self, updater: &Updater, new: &NewFlow, hashes: [u64; 2]) -> Option<Listed<'t>> {
        let set = self.set;
        // A worker that wants to add a flow with one of these keys waits meanwhile.
        set.index.change(self.turn, updater, hashes, set, |held| {
            let entries = [FORWARD, REPLY].map(|direction| self.record * 2 + direction as u32);
            if held.insert_if_plain(entries, || self.flow.fill(new, self.now_ms)) {
                return Ok(Listed::Done);
            }
            self.look_and_list(held, new)
        })
    }

    /// The same where entries have the tag of a key, or went past its home.
    #[inline(never)]
    fn look_and_list(&self, held: &mut Held<'_>, new: &NewFlow) -> Result<Listed<'t>, Stuck> {
        let keys = new.keys();
        let find = |held: &Held<'_>, direction: usize| {
            let mut found = None;
            held.find(direction, |entry| {
                found = self.set.check(entry, keys[direction]);
                found.is_some()
            });
            found
        };
        if let Some(found) = look_again(|| find(held, FORWARD)) {
            return Ok(Listed::Known(found));
        }
        if look_again(|| find(held, REPLY)).is_some() {
            return Ok(Listed::Taken);
        }
        self.flow.fill(new, self.now_ms);
        held.insert(listed(keys, self.record)).map(|()| Listed::Done)
    }
}

/// The entries under which a record is listed, by direction. Where both keys are the same, the reply direction has it.
pub(super) fn listed([forward, reply]: [Key; 2], record: u32) -> [Option<u32>; 2] {
    let entry = |direction: usize| record * 2 + direction as u32;
    [Some(entry(FORWARD)).filter(|_| forward != reply), Some(entry(REPLY))]
}
