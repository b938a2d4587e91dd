//! The table of flows that rewriters keep, alone or together.
//!
//! Looking up a flow takes no lock: the index gives record numbers, the record says whether it is the one (two cache
//! lines). Everything else (adding flows, which of them may go) is behind one mutex, which is taken for the first packet of a
//! flow, once it is known what the flow becomes, by timers and by handlers. Flows are removed by taking them out of the index; the
//! numbers of their records rest for a grace period before they are used again.

use super::deltas::Deltas;
use super::exhausted::{self, Exhausted, Marks};
use super::expiry::{BEST_EFFORT, Expiry, GUARANTEED};
use super::flow_id::{FlowId, Key};
use super::index::{Index, Writer};
use super::policy::{Policy, Timeouts};
use super::record::{FORWARD, Flow, NewFlow, REPLY, Slab, flag};
use rcu::{Domain, Token, Turn};
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
struct Owner {
    policy: Policy,
    inputs: Arc<[InputCounts]>,
}

/// What only one thread at a time may touch.
struct State {
    writer: Writer,
    expiry: Expiry,
    /// By map.
    owners: HashMap<u32, Owner>,
    /// Records that were never used begin here.
    next: u32,
    free: Vec<u32>,
    /// Records that were removed lately, and those that wait for a grace period.
    removed: Vec<u32>,
    resting: VecDeque<(Token, Vec<u32>)>,
    exhausted: Exhausted,
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
    state: Apart<Mutex<State>>,
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
        let state = State {
            writer: Writer::new(Domain::global().updater()),
            expiry: Expiry::default(),
            owners: HashMap::new(),
            next: 0,
            free: Vec::new(),
            removed: Vec::new(),
            resting: VecDeque::new(),
            exhausted: Exhausted::default(),
        };
        FlowSet {
            seed,
            index: Index::default(),
            slab: Arc::default(),
            capacity: AtomicI32::new(capacity),
            exhausted: state.exhausted.marks().clone(),
            size: Apart(AtomicUsize::new(0)),
            state: Apart(Mutex::new(state)),
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

    /// The right to change the table.
    pub(super) fn edit<'s>(&'s self, turn: Turn<'s>) -> Editor<'s> {
        // Whoever held the lock left each record either complete in the index or out of it.
        let state = self.state.0.lock().unwrap_or_else(PoisonError::into_inner);
        Editor { set: self, turn, state }
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

/// The right to change a table: there is one at a time.
pub(super) struct Editor<'s> {
    set: &'s FlowSet,
    turn: Turn<'s>,
    state: MutexGuard<'s, State>,
}

impl<'s> Editor<'s> {
    /// Says whose flows a map holds.
    pub(super) fn register(&mut self, map: u32, policy: Policy, inputs: Arc<[InputCounts]>) {
        self.state.owners.insert(map, Owner { policy, inputs });
    }

    /// See [`FlowSet::find`]; the answer holds as long as the editor does.
    pub(super) fn find(&self, key: Key) -> Option<Found<'s>> {
        self.set.find(self.turn, key)
    }

    /// Adds a flow that was used last at `last_ms`. Its forward key must not be in the table; a flow that has its reply
    /// key is removed. `None` if there is no room: the flow that would have to go first is the new one, or records are
    /// short. The flow's owner counts it.
    pub(super) fn insert(&mut self, new: &NewFlow, last_ms: u64, now_ms: u64) -> Option<Found<'s>> {
        let reply = Key { map: new.map, id: new.rewritten.reversed() };
        if let Some(old) = self.find(reply) {
            self.remove(old.record);
        }
        let (record, flow) = self.allocate()?;
        flow.fill(new, last_ms);
        if !self.publish(record, flow) {
            flow.bury();
            self.state.removed.push(record);
            return None;
        }
        self.count(flow, 1);
        self.place(record, flow);
        let capacity = i64::from(self.set.capacity());
        if self.set.size() as i64 > capacity {
            self.shift(now_ms, usize::MAX);
            let victim = self.evict(now_ms).unwrap_or(record);
            self.remove(victim);
            if victim == record {
                return None;
            }
        } else {
            self.shift(now_ms, BESIDE);
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
            self.state.exhausted.forget(map, flow.rewritten(FORWARD));
            self.state.exhausted.forget(map, flow.id(FORWARD).reversed());
        }
        self.unlist(record);
        self.count(flow, -1);
        flow.bury();
        self.state.expiry.remove(record);
        self.state.removed.push(record);
    }

    /// Notes that nothing is left of what a map's flows take numbers from.
    pub(super) fn exhausted(&mut self, map: u32, domain: exhausted::Domain) {
        self.state.exhausted.add(map, domain);
    }

    /// Removes all flows that a map's input has made.
    pub(super) fn remove_input(&mut self, map: u32, input: usize) {
        for record in 0..self.state.next {
            let flow = self.set.slab.get(record);
            if flow.is_some_and(|flow| flow.map() == Some(map) && flow.input() == input) {
                self.remove(record);
            }
        }
    }

    /// Removes all flows, of all owners.
    pub(super) fn clear(&mut self) {
        (0..self.state.next).for_each(|record| self.remove(record));
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
        while let Some((at, record)) = self.state.expiry.first(BEST_EFFORT)
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
            self.place(record, flow);
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
        let done = flow.deltas.replace(Some(Box::new(deltas)), self.state.writer.updater()).is_ok();
        if done {
            flow.change_flags(0, flag::DELTAS);
        }
        done
    }

    fn allocate(&mut self) -> Option<(u32, &'s Flow)> {
        if self.state.free.is_empty() {
            self.recycle();
        }
        let record = match self.state.free.pop() {
            Some(record) => record,
            None => {
                let most = self.set.capacity().max(0) as u64 + RESTING;
                let record = Some(self.state.next).filter(|&next| u64::from(next) < most.min(1 << 31) - 2)?;
                self.state.next += 1;
                self.think_ahead(record);
                record
            }
        };
        self.set.slab.make(record).map(|flow| (record, flow))
    }

    /// Has the next records made by a control thread before they are needed: there may be very many, and packets would
    /// wait for them. If it cannot be done, or comes too late, they are made when they are needed.
    fn think_ahead(&mut self, record: u32) {
        if let Some(first) = Slab::soon(record) {
            let slab = self.set.slab.clone();
            let _ = self.state.writer.updater().call(0, move || _ = slab.make(first));
        }
    }

    /// Frees the records that have rested long enough.
    fn recycle(&mut self) {
        let state = &mut *self.state;
        if state.removed.len() >= LOT || state.resting.is_empty() && !state.removed.is_empty() {
            state.resting.push_back((Domain::global().start(), std::mem::take(&mut state.removed)));
        }
        while let Some((token, _)) = state.resting.front()
            && Domain::global().poll(*token)
        {
            state.free.extend(state.resting.pop_front().into_iter().flat_map(|(_, records)| records));
        }
    }

    /// Lists a record in the index under both its keys. Where they are the same, the reply direction has it.
    fn publish(&mut self, record: u32, flow: &Flow) -> bool {
        let set = self.set;
        let directions = if flow.id(FORWARD) == flow.id(REPLY) { REPLY..=REPLY } else { FORWARD..=REPLY };
        let done = directions.into_iter().all(|direction| {
            let entry = record * 2 + direction as u32;
            let hash_of = |entry| set.hash_of(entry);
            set.index.insert(self.turn, &mut self.state.writer, set.hash_of(entry), entry, hash_of)
        });
        if !done {
            self.unlist(record);
        }
        done
    }

    fn unlist(&mut self, record: u32) {
        for entry in [record * 2, record * 2 + 1] {
            let hash = self.set.hash_of(entry);
            self.set.index.remove(self.turn, &mut self.state.writer, hash, entry);
        }
    }

    fn count(&mut self, flow: &Flow, by: i32) {
        self.set.size.0.fetch_add(by as isize as usize, Relaxed); // wraps: subtracts
        let owner = flow.map().and_then(|map| self.state.owners.get(&map));
        if let Some(counts) = owner.and_then(|owner| owner.inputs.get(flow.input())) {
            counts.flows.fetch_add(by as u32, Relaxed);
        }
    }

    fn policy(&self, flow: &Flow) -> Policy {
        let owner = flow.map().and_then(|map| self.state.owners.get(&map));
        owner.map_or(Policy { guarantee_ms: 0, timeouts: Timeouts::Plain(0) }, |owner| owner.policy)
    }

    /// Until when a flow is guaranteed to stay, and when its time is over.
    fn times(&self, flow: &Flow) -> (u64, u64) {
        let policy = self.policy(flow);
        let last_ms = flow.last_ms();
        let timeout_ms = policy.timeout_ms(flow.flags());
        (last_ms.saturating_add(policy.guarantee_ms), last_ms.saturating_add(timeout_ms))
    }

    /// Puts a flow into the heap of the guaranteed ones, or the other if there are no guarantees.
    fn place(&mut self, record: u32, flow: &Flow) {
        let (guaranteed_ms, over_ms) = self.times(flow);
        if guaranteed_ms > flow.last_ms() {
            self.state.expiry.set(record, GUARANTEED, guaranteed_ms);
        } else {
            self.state.expiry.set(record, BEST_EFFORT, over_ms);
        }
    }

    /// Moves flows whose guarantee has ended to the other heap: looks at `most` of them. Whether there may be more.
    fn shift(&mut self, now_ms: u64, most: usize) -> bool {
        let mut looks = 0;
        while let Some((at, record)) = self.state.expiry.first(GUARANTEED)
            && at <= now_ms
        {
            if looks == most {
                return true;
            }
            looks += 1;
            let Some(flow) = self.set.slab.get(record) else { break };
            let (guaranteed_ms, over_ms) = self.times(flow);
            if guaranteed_ms > now_ms {
                self.state.expiry.set(record, GUARANTEED, guaranteed_ms);
            } else {
                self.state.expiry.set(record, BEST_EFFORT, over_ms);
            }
        }
        false
    }

    /// Whether the first flow of the best-effort heap is in its place there; moves it if not.
    fn settled(&mut self, at: u64, record: u32, now_ms: u64) -> bool {
        let Some(flow) = self.set.slab.get(record) else { return true };
        let (guaranteed_ms, over_ms) = self.times(flow);
        if guaranteed_ms > now_ms && guaranteed_ms > flow.last_ms() {
            self.state.expiry.set(record, GUARANTEED, guaranteed_ms);
        } else if over_ms > at {
            self.state.expiry.set(record, BEST_EFFORT, over_ms);
        } else {
            return true;
        }
        false
    }

    /// The flow that has to go first to make room.
    fn evict(&mut self, now_ms: u64) -> Option<u32> {
        loop {
            let (at, record) = self.state.expiry.first(BEST_EFFORT)?;
            if self.settled(at, record, now_ms) {
                return Some(record);
            }
        }
    }

    /// The flow whose guarantee ends first.
    fn first_guaranteed(&mut self) -> Option<u32> {
        loop {
            let (at, record) = self.state.expiry.first(GUARANTEED)?;
            let guaranteed_ms = self.set.slab.get(record).map_or(at, |flow| self.times(flow).0);
            if guaranteed_ms <= at {
                return Some(record);
            }
            self.state.expiry.set(record, GUARANTEED, guaranteed_ms);
        }
    }
}
