//! The table of flows that rewriters keep, alone or together.
//!
//! Looking up a flow takes no lock: the index gives record numbers, the record says whether it is the one (two cache
//! lines). What it takes to add flows and to let them go is parted into lanes, each with a lock: a worker adds flows in its own
//! lane ([`FlowSet::enter`]), and only where its flows' keys fall into the same bucket of the index as another's do they wait for
//! each other. Whatever concerns several flows, above all which has to go when the table is full, is done by an [`Editor`], who
//! holds all lanes. Flows are removed by taking them out of the index; the numbers of their records rest for a grace period before
//! they are used again.
//!
//! `tests/flow_model.rs` tries small programs in every interleaving, with each of these protections and without it.

use super::changes::Change;
use super::counts::{Apart, Room, Tally};
use super::crowds::{Crowd, Crowds};
use super::editor::Editor;
use super::exhausted::{self, Exhausted, Marks};
use super::flow_events::Event;
use super::index::{Entries, Index};
use super::lane::Lane;
use super::record::{Flow, NewFlow, Slab};
use super::sync::{AtomicU32, LANES, Mutex, MutexGuard, hold_lane, look_again};
use crate::quota::{Limit, Quota};
use elements_shared::flow_id::{FlowId, Key};
use elements_shared::keyed_hash::HashKey;
use elements_shared::state_port::Overrun;
use rcu::Turn;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::Relaxed, Ordering::SeqCst, fence};
use std::sync::{Arc, PoisonError};

/// Flows of a rewriter whose arguments say nothing of them.
pub(super) const FLOWS_MAX: i32 = 1 << 20;

/// The table.
pub(super) struct FlowSet {
    pub(super) key: HashKey,
    pub(super) index: Index,
    pub(super) slab: Arc<Slab>,
    pub(super) capacity: AtomicI32,
    pub(super) quota: Quota,
    /// Ranges that have nothing left.
    pub(super) exhausted: Arc<Marks>,
    /// Ranges of which little is left.
    pub(super) crowds: Crowds,
    /// Flows in the table, by lane; lanes take room for more.
    pub(super) sizes: [Apart<Tally>; LANES],
    pub(super) room: Apart<Room>,
    /// Records that no lane has yet begin here.
    pub(super) next: Apart<AtomicU32>,
    pub(super) lanes: [Apart<Mutex<Lane>>; LANES],
    /// Locked before lanes, which are locked in the order of their numbers.
    pub(super) known_exhausted: Mutex<Exhausted>,
    /// Whether changes are noted for a copy elsewhere, and whether also those of flows that are not confirmed.
    is_copied: AtomicBool,
    tells_all: AtomicBool,
}

/// What came of the wish to add a flow.
pub(super) enum Entered<'t> {
    /// It is in the table.
    Made(FlowMatch<'t>),
    /// Another worker has added it.
    Known(FlowMatch<'t>),
    /// Another flow has become the same, so that this one has to become something else.
    Taken,
    /// There is no room for it.
    Refused,
}

/// A flow, and the direction in which it was found.
#[derive(Clone, Copy)]
pub(super) struct FlowMatch<'t> {
    pub(super) flow: &'t Flow,
    pub(super) record: u32,
    pub(super) direction: usize,
}

impl<'t> FlowMatch<'t> {
    /// An entry's flow, if a key belongs to it.
    #[inline]
    pub(super) fn check(flow: &'t Flow, entry: u32, key: Key) -> Option<FlowMatch<'t>> {
        let (record, direction) = (entry / 2, (entry % 2) as usize);
        flow.matches(direction, key).then_some(FlowMatch { flow, record, direction })
    }

    /// The entry that it was found by.
    #[inline]
    pub(super) fn entry(&self) -> u32 {
        self.record * 2 + self.direction as u32
    }

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

/// The right to add flows to a lane; see [`FlowSet::adding`].
pub(super) struct Adding<'t> {
    set: &'t FlowSet,
    turn: Turn<'t>,
    lane: MutexGuard<'t, Lane>,
}

impl<'t> Adding<'t> {
    /// See [`FlowSet::enter_hashed`]. `None`, and nothing changed, if that concerns other flows than this one.
    #[inline]
    pub(super) fn enter(
        &mut self,
        new: &NewFlow,
        hashes: [u64; 2],
        varies: bool,
        now_ms: u64,
    ) -> Option<Entered<'t>> {
        self.lane.enter(self.set, self.turn, new, hashes, varies, now_ms)
    }
}

impl FlowSet {
    /// An empty table for this many flows.
    pub(super) fn new(seed: u64, capacity: i32) -> FlowSet {
        let key = HashKey::new(seed);
        let known_exhausted = Exhausted::new(key);
        FlowSet {
            key,
            index: Index::default(),
            slab: Arc::default(),
            capacity: AtomicI32::new(capacity),
            quota: Quota::new(Limit::NONE, 0, seed),
            exhausted: known_exhausted.marks().clone(),
            crowds: Crowds::new(key),
            sizes: Default::default(),
            room: Apart::default(),
            next: Apart(AtomicU32::new(0)),
            lanes: std::array::from_fn(|number| Apart(Mutex::new(Lane::new(number)))),
            known_exhausted: Mutex::new(known_exhausted),
            is_copied: AtomicBool::new(false),
            tells_all: AtomicBool::new(false),
        }
    }

    /// The same table, empty yet, where sources of a prefix may have so many flows.
    pub(super) fn with_quota(self, limit: Limit, seed: u64) -> FlowSet {
        let capacity = self.capacity().max(0) as usize;
        FlowSet { quota: Quota::new(limit, capacity, seed), ..self }
    }

    /// Flows in the table. Takes no lock: just now some may come and go.
    pub(super) fn size(&self) -> usize {
        self.sizes.iter().map(|lane| lane.0.get() as usize).sum()
    }

    /// Flows that the table may hold.
    pub(super) fn capacity(&self) -> i32 {
        self.capacity.load(Relaxed)
    }

    /// Changes the capacity. What is too much goes with the next [`Editor::shrink`]; until then lanes use what room they have.
    pub(super) fn set_capacity(&self, capacity: i32) {
        self.capacity.store(capacity, Relaxed);
    }

    /// Whether nothing is left of what a map's flows take numbers from. Takes no lock: just now that may change.
    pub(super) fn is_exhausted(&self, map: u32, domain: exhausted::Domain) -> bool {
        self.exhausted.has(map, domain)
    }

    /// Whether nothing is left of any range, as far as a look without the lock can tell.
    pub(super) fn has_exhausted(&self) -> bool {
        self.exhausted.has_any()
    }

    /// What is known of a range of which little is left.
    #[inline]
    pub(super) fn crowd<'t>(
        &'t self,
        turn: Turn<'t>,
        map: u32,
        domain: exhausted::Domain,
    ) -> Option<&'t Crowd> {
        self.crowds.find(turn, map, domain)
    }

    /// Little is left of a range: remembers from now on what is taken of it. The caller has no lane.
    #[cold]
    pub(super) fn add_crowd(&self, turn: Turn<'_>, map: u32, domain: exhausted::Domain) {
        let mut known = self.known_exhausted.lock().unwrap_or_else(PoisonError::into_inner);
        self.crowds.add(&mut known.adder, turn, self.size(), (map, domain));
    }

    /// Does something for a worker while no flow is removed. The caller has no lane.
    pub(super) fn while_none_goes(&self, worker: usize, what: impl FnOnce()) {
        let _lane = self.lane(worker);
        what();
    }

    /// The hash by which a key is found.
    #[inline]
    pub(super) fn hash(&self, key: Key) -> u64 {
        key.hash(&self.key)
    }

    /// Finds the flow that a key belongs to. Takes no lock.
    #[inline]
    pub(super) fn find<'t>(&'t self, turn: Turn<'t>, key: Key) -> Option<FlowMatch<'t>> {
        self.find_hashed(turn, key, self.hash(key))
    }

    /// The same where the hash is known.
    #[inline]
    pub(super) fn find_hashed<'t>(&'t self, turn: Turn<'t>, key: Key, hash: u64) -> Option<FlowMatch<'t>> {
        let mut found = None;
        self.index.find(turn, hash, |entry| {
            found = self.check(entry, key);
            found.is_some()
        });
        found
    }

    /// The index, for a caller that looks up many flows at once.
    #[inline]
    pub(super) fn index(&self) -> &Index {
        &self.index
    }

    /// The flow of an entry, if the key belongs to it.
    #[inline]
    pub(super) fn check(&self, entry: u32, key: Key) -> Option<FlowMatch<'_>> {
        FlowMatch::check(self.flow(entry)?, entry, key)
    }

    /// The flow that an entry has now, if there is any such record.
    #[inline]
    pub(super) fn flow(&self, entry: u32) -> Option<&Flow> {
        self.slab.get(entry / 2)
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
        let hashes = new.keys().map(|key| self.hash(key));
        self.enter_hashed(turn, worker, new, hashes, varies, now_ms)
    }

    /// The same where the hashes of its keys are known.
    pub(super) fn enter_hashed<'t>(
        &'t self,
        turn: Turn<'t>,
        worker: usize,
        new: &NewFlow,
        hashes: [u64; 2],
        varies: bool,
        now_ms: u64,
    ) -> Entered<'t> {
        debug_assert_eq!(hashes, new.keys().map(|key| self.hash(key)));
        if let Some(entered) = self.lane(worker).enter(self, turn, new, hashes, varies, now_ms) {
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
        let made = editor.insert(new, now_ms, now_ms);
        editor.tell_entered(new, made.is_some(), now_ms);
        made.map_or(Entered::Refused, Entered::Made)
    }

    /// The right to add several flows of a worker's, one after the other. Who has it must not ask for any other.
    pub(super) fn adding<'t>(&'t self, turn: Turn<'t>, worker: usize) -> Adding<'t> {
        Adding { set: self, turn, lane: self.lane(worker) }
    }

    /// Says whether an element asks for what happens to flows.
    pub(super) fn want_events(&self, is_wanted: bool) {
        (0..LANES).for_each(|lane| self.lane(lane).log.want(is_wanted));
    }

    /// Exchanges a lane's events for an empty list with room. Returns how many others were lost.
    pub(super) fn take_events(&self, lane: usize, now_ms: Option<u64>, list: &mut Vec<Event>) -> u64 {
        self.lane(lane).log.take(now_ms, list)
    }

    /// Begins or ends to note changes for a copy of the table. Returns false if that is done already.
    pub(super) fn want_changes(&self, is_wanted: bool) -> bool {
        if self.is_copied.swap(is_wanted, Relaxed) && is_wanted {
            return false;
        }
        self.tells_all.store(false, Relaxed);
        (0..LANES).for_each(|lane| self.lane(lane).changes.want(is_wanted));
        // What is confirmed without a note is seen by who looks at everything from now on.
        fence(SeqCst);
        true
    }

    /// Notes changes of flows that are not confirmed, too, from now on.
    pub(super) fn widen_changes(&self) {
        self.tells_all.store(true, Relaxed);
        (0..LANES).for_each(|lane| self.lane(lane).changes.widen());
    }

    /// Whether they are.
    pub(super) fn tells_all(&self) -> bool {
        self.tells_all.load(Relaxed)
    }

    /// Takes some changes, up to `most`, and whether more wait.
    ///
    /// # Errors
    /// Changes were lost; the rest is worth nothing.
    pub(super) fn take_changes(&self, most: usize, list: &mut Vec<Change>) -> Result<bool, Overrun> {
        let (mut more, mut is_lost) = (false, false);
        for lane in 0..LANES {
            let changes = &mut self.lane(lane).changes;
            changes.take(most - list.len(), list);
            more |= !changes.is_empty();
            is_lost |= changes.is_lost();
        }
        if is_lost {
            (0..LANES).for_each(|lane| self.lane(lane).changes.forget());
            return Err(Overrun);
        }
        Ok(more)
    }

    /// A flow has had a second packet: notes it for a copy of the table elsewhere.
    #[inline]
    pub(super) fn confirm(&self, record: u32) {
        if self.is_copied.load(SeqCst) {
            self.note(record);
        }
    }

    #[cold]
    fn note(&self, record: u32) {
        let Some(flow) = self.slab.get(record) else { return };
        let mut lane = self.lane(flow.lane());
        // Flows are removed by who holds all lanes.
        if flow.map().is_some() {
            lane.note(record, flow);
        }
    }

    /// Finds the mapping that a key leads to in a direction, and counts one flow more for it. It stays until [`FlowSet::release`] is called
    /// for the flow, or the flow is removed.
    pub(super) fn hold<'t>(
        &'t self,
        turn: Turn<'t>,
        worker: usize,
        key: Key,
        direction: usize,
    ) -> Option<FlowMatch<'t>> {
        // Mappings are removed by who holds all lanes.
        let _lane = hold_lane(|| self.lane(worker));
        let found = self.find(turn, key).filter(|found| found.direction == direction)?;
        found.flow.hold();
        Some(found)
    }

    /// A flow that was not made after all counts no more for the first `most` of its mappings.
    #[cold]
    pub(super) fn release(&self, turn: Turn<'_>, new: &NewFlow, most: usize) {
        self.edit(turn).release(new, most);
    }

    /// A worker's lane.
    fn lane(&self, worker: usize) -> MutexGuard<'_, Lane> {
        // A worker that held the lock left each record either complete in the index or out of it.
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
            lane.note(record, flow);
        }
    }

    /// All flows of a map. Takes no lock; flows that come or go meanwhile may or may not be among them.
    pub(super) fn flows<'t>(&'t self, _turn: Turn<'t>, map: u32) -> impl Iterator<Item = &'t Flow> {
        (0..u32::MAX).map_while(|record| self.slab.get(record)).filter(move |flow| flow.map() == Some(map))
    }

    /// The same with their numbers.
    pub(super) fn numbered<'t>(&'t self, _turn: Turn<'t>, map: u32) -> impl Iterator<Item = (u32, &'t Flow)> {
        let all = (0..u32::MAX).map_while(|record| self.slab.get(record).map(|flow| (record, flow)));
        all.filter(move |(_, flow)| flow.map() == Some(map))
    }
}

impl Entries for FlowSet {
    fn hash_of(&self, entry: u32) -> u64 {
        let flow = self.slab.get(entry / 2);
        flow.map_or(0, |flow| flow.key((entry % 2) as usize).hash(&self.key))
    }

    fn prefetch(&self, entry: u32) {
        if let Some(flow) = self.slab.get(entry / 2) {
            packet::prefetch(flow);
        }
    }

    fn most(&self) -> usize {
        2 * self.capacity().max(0) as usize
    }
}
