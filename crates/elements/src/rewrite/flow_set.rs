//! The table of flows that rewriters keep, alone or together.
//!
//! Looking up a flow takes no lock: the index gives record numbers, the record says whether it is the one (two cache
//! lines). What it takes to add flows and to let them go is parted into lanes, each with a lock: a worker adds flows in its own
//! lane ([`FlowSet::enter`]), and only where its flows' keys fall into the same shard of the index as another's do they wait for
//! each other. Whatever concerns several flows, above all which has to go when the table is full, is done by an [`Editor`], who
//! holds all lanes. Flows are removed by taking them out of the index; the numbers of their records rest for a grace period before
//! they are used again.
//!
//! `tests/flow_model.rs` tries small programs in every interleaving, with each of these protections and without it.

use super::deltas::Deltas;
use super::exhausted::{self, Exhausted, Marks};
use super::expiry::{BEST_EFFORT, Expiry, GUARANTEED};
use super::flow_id::{FlowId, Key};
use super::index::Index;
use super::policy::{Policy, Timeouts};
use super::record::{FORWARD, Flow, NewFlow, REPLY, Slab, flag};
use super::sync::{AtomicU32, AtomicUsize, BLOCK, LANES, Mutex, MutexGuard, domain, look_again};
use rcu::{Token, Turn, Updater};
use std::collections::VecDeque;
use std::ops::{Range, RangeInclusive};
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::sync::{Arc, PoisonError};

/// Records that may rest beyond the table's capacity. When workers let go of removed flows more slowly than that, new
/// flows are refused.
const RESTING: u64 = 1 << 18;

/// Removed records for which a grace period is started together, if another one is under way.
const LOT: usize = 64;

/// Flows that are looked at beside each new one, so that a full table need not look at all of them at once.
const BESIDE: usize = 4;

/// What is counted for each input of a rewriter.
#[derive(Default)]
pub(super) struct InputCounts {
    /// Flows that the input's specification has made.
    pub(super) flows: AtomicU32,
    /// Flows that could not be made.
    pub(super) failures: AtomicU32,
}

/// Whose flows a map holds.
#[derive(Clone)]
struct Owner {
    policy: Policy,
    inputs: Arc<[InputCounts]>,
}

/// What only one thread at a time may touch of a part of the table.
struct Lane {
    number: usize,
    updater: Updater,
    /// The lane's flows.
    expiry: Expiry,
    /// By map; the same in all lanes.
    owners: Vec<Option<Owner>>,
    /// Records that were never used.
    block: Range<u32>,
    free: Vec<u32>,
    /// Records that were removed lately, and those that wait for a grace period.
    removed: Vec<u32>,
    resting: VecDeque<(Token, Vec<u32>)>,
}

/// What is written while flows come and go: apart from what look-ups read.
#[repr(align(128))]
struct Apart<T>(T);

/// The table.
pub(super) struct FlowSet {
    seed: u64,
    index: Index,
    slab: Arc<Slab>,
    capacity: AtomicI32,
    /// Ranges that have nothing left.
    exhausted: Arc<Marks>,
    size: Apart<AtomicUsize>,
    /// Records that no lane has yet begin here.
    next: AtomicU32,
    lanes: [Apart<Mutex<Lane>>; LANES],
    /// Locked before lanes, which are locked in the order of their numbers.
    known_exhausted: Mutex<Exhausted>,
}

/// What came of the wish to add a flow.
pub(super) enum Entered<'t> {
    /// It is in the table.
    Made(Found<'t>),
    /// Another worker has added it.
    Known(Found<'t>),
    /// Another flow has become the same, so that this one has to become something else.
    Taken,
    /// There is no room for it.
    Refused,
}

/// A flow, and the direction in which it was found.
#[derive(Clone, Copy)]
pub(super) struct Found<'t> {
    pub(super) flow: &'t Flow,
    pub(super) record: u32,
    pub(super) direction: usize,
}

impl Found<'_> {
    /// Where its packets leave.
    #[inline]
    pub(super) fn output(&self) -> usize {
        self.flow.output(self.direction)
    }

    /// What its packets' flow identifier becomes.
    #[inline]
    pub(super) fn rewritten(&self) -> FlowId {
        self.flow.rewritten(self.direction)
    }
}

impl FlowSet {
    /// An empty table for this many flows.
    pub(super) fn new(seed: u64, capacity: i32) -> FlowSet {
        let known_exhausted = Exhausted::default();
        FlowSet {
            seed,
            index: Index::default(),
            slab: Arc::default(),
            capacity: AtomicI32::new(capacity),
            exhausted: known_exhausted.marks().clone(),
            size: Apart(AtomicUsize::new(0)),
            next: AtomicU32::new(0),
            lanes: std::array::from_fn(|number| Apart(Mutex::new(Lane::new(number)))),
            known_exhausted: Mutex::new(known_exhausted),
        }
    }

    /// Flows in the table.
    pub(super) fn size(&self) -> usize {
        self.size.0.load(Relaxed)
    }

    /// Flows that the table may hold.
    pub(super) fn capacity(&self) -> i32 {
        self.capacity.load(Relaxed)
    }

    /// Changes the capacity. What is too much goes with the next [`Editor::shrink`].
    pub(super) fn set_capacity(&self, capacity: i32) {
        self.capacity.store(capacity, Relaxed);
    }

    /// Whether nothing is left of what a map's flows take numbers from. Takes no lock: just now that may change.
    pub(super) fn is_exhausted(&self, map: u32, domain: exhausted::Domain) -> bool {
        self.exhausted.has(map, domain)
    }

    /// The hash by which a key is found.
    #[inline]
    pub(super) fn hash(&self, key: Key) -> u64 {
        key.hash(self.seed)
    }

    /// Finds the flow that a key belongs to. Takes no lock.
    #[inline]
    pub(super) fn find<'t>(&'t self, turn: Turn<'t>, key: Key) -> Option<Found<'t>> {
        self.find_hashed(turn, key, self.hash(key))
    }

    /// The same where the hash is known.
    #[inline]
    pub(super) fn find_hashed<'t>(&'t self, turn: Turn<'t>, key: Key, hash: u64) -> Option<Found<'t>> {
        let mut found = None;
        self.index.find(turn, hash, |entry| {
            found = self.check(entry, key);
            found.is_some()
        });
        found
    }

    /// The index, for whoever looks up many flows at once.
    #[inline]
    pub(super) fn index(&self) -> &Index {
        &self.index
    }

    /// The flow of an entry, if the key belongs to it.
    #[inline]
    pub(super) fn check(&self, entry: u32, key: Key) -> Option<Found<'_>> {
        let (record, direction) = (entry / 2, (entry % 2) as usize);
        let flow = self.slab.get(record).filter(|flow| flow.matches(direction, key))?;
        Some(Found { flow, record, direction })
    }

    /// Loads the record of an entry, for whoever needs it soon. What it returns means nothing.
    #[inline]
    pub(super) fn warm(&self, entry: u32) -> u64 {
        self.slab.get(entry / 2).map_or(0, Flow::last_ms)
    }

    /// Adds a flow of a worker's, which is used just now, beside what other workers add. If it `varies`, no flow may have its reply key;
    /// otherwise one that has it is removed. The flow's owner counts it.
    pub(super) fn enter<'t>(
        &'t self,
        turn: Turn<'t>,
        worker: usize,
        new: &NewFlow,
        varies: bool,
        now_ms: u64,
    ) -> Entered<'t> {
        if let Some(entered) = self.lane(worker).enter(self, turn, new, varies, now_ms) {
            return entered;
        }
        // Something has to go first, in whatever lane it is.
        let mut editor = self.edit_in(turn, worker % LANES);
        let [forward, reply] = new.keys();
        if let Some(found) = look_again(|| editor.find(forward)) {
            return Entered::Known(found);
        }
        if varies && editor.find(reply).is_some() {
            return Entered::Taken;
        }
        editor.insert(new, now_ms, now_ms).map_or(Entered::Refused, Entered::Made)
    }

    /// A worker's lane.
    fn lane(&self, worker: usize) -> MutexGuard<'_, Lane> {
        // Whoever held the lock left each record either complete in the index or out of it.
        self.lanes[worker % LANES].0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The right to change the table.
    pub(super) fn edit<'s>(&'s self, turn: Turn<'s>) -> Editor<'s> {
        self.edit_in(turn, 0)
    }

    /// The same for who adds flows to a lane.
    fn edit_in<'s>(&'s self, turn: Turn<'s>, at: usize) -> Editor<'s> {
        let exhausted = self.known_exhausted.lock().unwrap_or_else(PoisonError::into_inner);
        Editor { set: self, turn, at, exhausted, lanes: std::array::from_fn(|lane| self.lane(lane)) }
    }

    /// Something has made a flow's time shorter: puts it in its place.
    pub(super) fn replace(&self, record: u32) {
        let Some(flow) = self.slab.get(record) else { return };
        let mut lane = self.lane(flow.lane());
        // Flows are removed by who holds all lanes.
        if flow.map().is_some() {
            lane.place(&self.slab, record, flow);
        }
    }

    /// All flows of a map. Takes no lock; flows that come or go meanwhile may or may not be among them.
    pub(super) fn flows<'t>(&'t self, _turn: Turn<'t>, map: u32) -> impl Iterator<Item = &'t Flow> {
        (0..u32::MAX).map_while(|record| self.slab.get(record)).filter(move |flow| flow.map() == Some(map))
    }

    fn hash_of(&self, entry: u32) -> u64 {
        let flow = self.slab.get(entry / 2);
        let key = flow.map(|flow| Key { map: flow.map().unwrap_or(0), id: flow.id((entry % 2) as usize) });
        key.map_or(0, |key| key.hash(self.seed))
    }
}

impl Lane {
    fn new(number: usize) -> Lane {
        Lane {
            number,
            updater: domain().updater(),
            expiry: Expiry::default(),
            owners: Vec::new(),
            block: 0..0,
            free: Vec::new(),
            removed: Vec::new(),
            resting: VecDeque::new(),
        }
    }

    /// See [`FlowSet::enter`]. `None`, and nothing changed, if that concerns other flows than this one.
    fn enter<'t>(
        &mut self,
        set: &'t FlowSet,
        turn: Turn<'t>,
        new: &NewFlow,
        varies: bool,
        now_ms: u64,
    ) -> Option<Entered<'t>> {
        // Others do the same, so that room is taken before it is used.
        let size = set.size.0.fetch_add(1, Relaxed) as i64;
        let entered =
            if size < i64::from(set.capacity()) { self.add(set, turn, new, varies, now_ms) } else { None };
        if !matches!(entered, Some(Entered::Made(_))) {
            set.size.0.fetch_sub(1, Relaxed);
        }
        entered
    }

    /// The same, with room taken.
    fn add<'t>(
        &mut self,
        set: &'t FlowSet,
        turn: Turn<'t>,
        new: &NewFlow,
        varies: bool,
        now_ms: u64,
    ) -> Option<Entered<'t>> {
        let (record, flow) = self.allocate(set)?;
        let keys = new.keys();
        let hashes = keys.map(|key| set.hash(key));
        // Whoever wants to add a flow with one of these keys waits from here on.
        let mut held = set.index.hold(hashes);
        let known = look_again(|| set.find_hashed(turn, keys[0], hashes[0]));
        let taken = || look_again(|| set.find_hashed(turn, keys[1], hashes[1])).is_some();
        let fails = match known {
            Some(found) => Some(Some(Entered::Known(found))),
            None if taken() => Some(varies.then_some(Entered::Taken)),
            None => None,
        };
        if let Some(instead) = fails {
            self.free.push(record);
            return instead;
        }
        flow.fill(new, now_ms);
        let directions = directions(flow);
        let done = directions.clone().all(|direction| {
            let entry = record * 2 + direction as u32;
            held.insert(turn, &self.updater, hashes[direction], entry, |entry| set.hash_of(entry))
        });
        if !done {
            directions
                .for_each(|direction| held.remove(turn, hashes[direction], record * 2 + direction as u32));
        }
        drop(held);
        if !done {
            flow.bury();
            self.removed.push(record);
            return Some(Entered::Refused);
        }
        self.count(flow, 1);
        self.place(&set.slab, record, flow);
        self.shift(&set.slab, now_ms, BESIDE);
        Some(Entered::Made(Found { flow, record, direction: FORWARD }))
    }

    /// A record that nobody knows.
    fn allocate<'t>(&mut self, set: &'t FlowSet) -> Option<(u32, &'t Flow)> {
        if self.free.is_empty() {
            self.recycle();
        }
        let record = match self.free.pop() {
            Some(record) => record,
            None => self.fresh(set)?,
        };
        let flow = set.slab.make(record)?;
        flow.lane.store(self.number as u8, Relaxed);
        Some((record, flow))
    }

    /// A record that was never used.
    fn fresh(&mut self, set: &FlowSet) -> Option<u32> {
        if self.block.is_empty() {
            // Entries are twice as many, and the last number means that there is none.
            let most = (set.capacity().max(0) as u64 + RESTING).min((1 << 31) - 1) - u64::from(BLOCK);
            let more = |next: u32| (u64::from(next) <= most).then_some(next + BLOCK);
            let first = set.next.fetch_update(Relaxed, Relaxed, more).ok()?;
            self.block = first..first + BLOCK;
        }
        let record = self.block.next()?;
        // Has the next records made by a control thread before they are needed: there may be very many, and packets would
        // wait for them. If it cannot be done, or comes too late, they are made when they are needed.
        if let Some(first) = Slab::soon(record) {
            let slab = set.slab.clone();
            let _ = self.updater.call(0, move || _ = slab.make(first));
        }
        Some(record)
    }

    /// Frees the records that have rested long enough.
    fn recycle(&mut self) {
        if self.removed.len() >= LOT || self.resting.is_empty() && !self.removed.is_empty() {
            self.resting.push_back((domain().start(), std::mem::take(&mut self.removed)));
        }
        while let Some((token, _)) = self.resting.front()
            && domain().poll(*token)
        {
            self.free.extend(self.resting.pop_front().into_iter().flat_map(|(_, records)| records));
        }
    }

    /// Whose flow it is.
    fn owner(&self, flow: &Flow) -> Option<&Owner> {
        self.owners.get(flow.map()? as usize)?.as_ref()
    }

    /// Counts a flow for its owner.
    fn count(&self, flow: &Flow, by: i32) {
        if let Some(counts) = self.owner(flow).and_then(|owner| owner.inputs.get(flow.input())) {
            counts.flows.fetch_add(by as u32, Relaxed);
        }
    }

    /// Until when a flow is guaranteed to stay, and when its time is over.
    fn times(&self, flow: &Flow) -> (u64, u64) {
        let nobodys = Policy { guarantee_ms: 0, timeouts: Timeouts::Plain(0) };
        let policy = self.owner(flow).map_or(nobodys, |owner| owner.policy);
        let last_ms = flow.last_ms();
        let timeout_ms = policy.timeout_ms(flow.flags());
        (last_ms.saturating_add(policy.guarantee_ms), last_ms.saturating_add(timeout_ms))
    }

    /// Puts a flow into the heap of the guaranteed ones, or the other if there are no guarantees.
    fn place(&mut self, slab: &Slab, record: u32, flow: &Flow) {
        let (guaranteed_ms, over_ms) = self.times(flow);
        if guaranteed_ms > flow.last_ms() {
            self.expiry.set(slab, record, GUARANTEED, guaranteed_ms);
        } else {
            self.expiry.set(slab, record, BEST_EFFORT, over_ms);
        }
    }

    /// Moves flows whose guarantee has ended to the other heap: looks at `most` of them. How many it has looked at.
    fn shift(&mut self, slab: &Slab, now_ms: u64, most: usize) -> usize {
        let mut looks = 0;
        while looks < most
            && let Some((at, record)) = self.expiry.first(GUARANTEED)
            && at <= now_ms
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

    /// Whether the first flow of the best-effort heap is in its place there; moves it if not.
    fn settled(&mut self, slab: &Slab, at: u64, record: u32, now_ms: u64) -> bool {
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

/// The directions under whose keys a flow is listed. Where they are the same, the reply direction has it.
fn directions(flow: &Flow) -> RangeInclusive<usize> {
    if flow.id(FORWARD) == flow.id(REPLY) { REPLY..=REPLY } else { FORWARD..=REPLY }
}

/// The right to change a table: there is one at a time.
pub(super) struct Editor<'s> {
    set: &'s FlowSet,
    turn: Turn<'s>,
    /// The lane of flows that are added.
    at: usize,
    exhausted: MutexGuard<'s, Exhausted>,
    lanes: [MutexGuard<'s, Lane>; LANES],
}

impl<'s> Editor<'s> {
    /// Says whose flows a map holds.
    pub(super) fn register(&mut self, map: u32, policy: Policy, inputs: Arc<[InputCounts]>) {
        for lane in &mut self.lanes {
            let owners = &mut lane.owners;
            owners.resize(owners.len().max(map as usize + 1), None);
            owners[map as usize] = Some(Owner { policy, inputs: inputs.clone() });
        }
    }

    /// See [`FlowSet::find`]; the answer holds as long as the editor does.
    pub(super) fn find(&self, key: Key) -> Option<Found<'s>> {
        self.set.find(self.turn, key)
    }

    /// Adds a flow that was used last at `last_ms`. Its forward key must not be in the table; a flow that has its reply
    /// key is removed. `None` if there is no room: the flow that would have to go first is the new one, or records are
    /// short. The flow's owner counts it.
    pub(super) fn insert(&mut self, new: &NewFlow, last_ms: u64, now_ms: u64) -> Option<Found<'s>> {
        if let Some(old) = self.find(new.keys()[1]) {
            self.remove(old.record);
        }
        let (record, flow) = self.allocate()?;
        flow.fill(new, last_ms);
        if !self.publish(record, flow) {
            flow.bury();
            self.lanes[self.at].removed.push(record);
            return None;
        }
        self.count(flow, 1);
        self.replace(record);
        let capacity = i64::from(self.set.capacity());
        if self.set.size() as i64 > capacity {
            self.shift(now_ms, usize::MAX);
            let victim = self.evict(now_ms).unwrap_or(record);
            self.remove(victim);
            if victim == record {
                return None;
            }
        } else {
            let slab = &self.set.slab;
            self.lanes[self.at].shift(slab, now_ms, BESIDE);
        }
        Some(Found { flow, record, direction: FORWARD })
    }

    /// Removes a flow.
    pub(super) fn remove(&mut self, record: u32) {
        let Some(flow) = self.set.slab.get(record) else { return };
        if flow.map().is_none() {
            return;
        }
        if let Some(map) = flow.map() {
            // A port is taken by who gives it to packets, and by who expects replies to it.
            self.exhausted.forget(map, flow.rewritten(FORWARD));
            self.exhausted.forget(map, flow.id(FORWARD).reversed());
        }
        self.unlist(record);
        self.count(flow, -1);
        flow.bury();
        let lane = &mut *self.lanes[flow.lane()];
        lane.expiry.remove(&self.set.slab, record);
        lane.removed.push(record);
    }

    /// Notes that nothing is left of what a map's flows take numbers from.
    pub(super) fn exhausted(&mut self, map: u32, domain: exhausted::Domain) {
        self.exhausted.add(map, domain);
    }

    /// Removes all flows that a map's input has made.
    pub(super) fn remove_input(&mut self, map: u32, input: usize) {
        for record in 0..self.set.next.load(Relaxed) {
            let flow = self.set.slab.get(record);
            if flow.is_some_and(|flow| flow.map() == Some(map) && flow.input() == input) {
                self.remove(record);
            }
        }
    }

    /// Removes all flows, of all owners.
    pub(super) fn clear(&mut self) {
        (0..self.set.next.load(Relaxed)).for_each(|record| self.remove(record));
    }

    /// Removes flows whose time is over, and others while there are too many. Looks at `most` flows, and says whether
    /// there may be more.
    pub(super) fn shrink(&mut self, now_ms: u64, most: usize) -> bool {
        // One thing after the other: who has to go shows only when all are where they belong.
        if self.shift(now_ms, most) || self.expire(now_ms, most) {
            return true;
        }
        let mut removed = 0;
        while removed < most && self.set.size() as i64 > i64::from(self.set.capacity()).max(0) {
            let Some(record) = self.evict(now_ms).or_else(|| self.first_guaranteed()) else { break };
            self.remove(record);
            removed += 1;
        }
        removed == most
    }

    /// Removes flows whose time is over: looks at `most` of them. Whether there may be more.
    fn expire(&mut self, now_ms: u64, most: usize) -> bool {
        let mut looks = 0;
        while let Some((at, record)) = self.first(BEST_EFFORT)
            && at <= now_ms
        {
            if looks == most {
                return true;
            }
            looks += 1;
            if self.settled(at, record, now_ms) {
                self.remove(record);
            }
        }
        false
    }

    /// Something has made a flow's time shorter: puts it in its place.
    pub(super) fn replace(&mut self, record: u32) {
        if let Some(flow) = self.set.slab.get(record).filter(|flow| flow.map().is_some()) {
            self.lanes[flow.lane()].place(&self.set.slab, record, flow);
        }
    }

    /// From the sequence number `from` on, packets of a flow's direction count `change` bytes more.
    pub(super) fn add_delta(&mut self, found: &Found<'_>, from: u32, change: i32) -> bool {
        let flow = found.flow;
        let mut deltas = flow.deltas(self.turn).cloned().unwrap_or_default();
        deltas.add(found.direction, from, change) && self.set_deltas(flow, deltas)
    }

    /// Gives a flow these changes of sequence numbers.
    pub(super) fn set_deltas(&mut self, flow: &Flow, deltas: Deltas) -> bool {
        let done = flow.deltas.replace(Some(Box::new(deltas)), &self.lanes[0].updater).is_ok();
        if done {
            flow.change_flags(0, flag::DELTAS);
        }
        done
    }

    /// A record that nobody knows. If the lane has none, another lane's.
    fn allocate(&mut self) -> Option<(u32, &'s Flow)> {
        let found = self.lanes[self.at].allocate(self.set);
        if found.is_some() {
            return found;
        }
        self.lanes.iter_mut().for_each(|lane| lane.recycle());
        let record = self.lanes.iter_mut().find_map(|lane| lane.free.pop())?;
        self.lanes[self.at].free.push(record);
        self.lanes[self.at].allocate(self.set)
    }

    /// Lists a record in the index under both its keys.
    fn publish(&mut self, record: u32, flow: &Flow) -> bool {
        let (set, turn) = (self.set, self.turn);
        let done = directions(flow).all(|direction| {
            let entry = record * 2 + direction as u32;
            let (hash, updater) = (set.hash_of(entry), &self.lanes[0].updater);
            set.index.hold([hash; 2]).insert(turn, updater, hash, entry, |entry| set.hash_of(entry))
        });
        if !done {
            self.unlist(record);
        }
        done
    }

    fn unlist(&mut self, record: u32) {
        for entry in [record * 2, record * 2 + 1] {
            let hash = self.set.hash_of(entry);
            self.set.index.hold([hash; 2]).remove(self.turn, hash, entry);
        }
    }

    fn count(&mut self, flow: &Flow, by: i32) {
        self.set.size.0.fetch_add(by as isize as usize, Relaxed); // wraps: subtracts
        self.lanes[flow.lane()].count(flow, by);
    }

    /// The first flow of a heap, of all lanes: its time and its record.
    fn first(&self, heap: usize) -> Option<(u64, u32)> {
        self.lanes.iter().filter_map(|lane| lane.expiry.first(heap)).min()
    }

    /// The lane that a record belongs to.
    fn lane_of(&mut self, record: u32) -> &mut Lane {
        let lane = self.set.slab.get(record).map_or(self.at, |flow| flow.lane());
        &mut self.lanes[lane]
    }

    /// Moves flows whose guarantee has ended to the other heap: looks at `most` of them. Whether there may be more.
    fn shift(&mut self, now_ms: u64, most: usize) -> bool {
        let slab = &self.set.slab;
        let mut left = most;
        self.lanes.iter_mut().for_each(|lane| left -= lane.shift(slab, now_ms, left));
        left == 0
    }

    /// Whether the first flow of the best-effort heap is in its place there; moves it if not.
    fn settled(&mut self, at: u64, record: u32, now_ms: u64) -> bool {
        let slab = &self.set.slab;
        self.lane_of(record).settled(slab, at, record, now_ms)
    }

    /// The flow that has to go first to make room.
    fn evict(&mut self, now_ms: u64) -> Option<u32> {
        loop {
            let (at, record) = self.first(BEST_EFFORT)?;
            if self.settled(at, record, now_ms) {
                return Some(record);
            }
        }
    }

    /// The flow whose guarantee ends first.
    fn first_guaranteed(&mut self) -> Option<u32> {
        let slab = &self.set.slab;
        loop {
            let (at, record) = self.first(GUARANTEED)?;
            let lane = self.lane_of(record);
            let guaranteed_ms = slab.get(record).map_or(at, |flow| lane.times(flow).0);
            if guaranteed_ms <= at {
                return Some(record);
            }
            lane.expiry.set(slab, record, GUARANTEED, guaranteed_ms);
        }
    }
}
