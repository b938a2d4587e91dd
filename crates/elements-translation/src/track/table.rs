//! The table of connections, which all workers share.
//!
//! A look-up takes no lock, nor does a packet of a known connection: it changes one record by atomic stores. What it takes to add
//! connections is parted into lanes, each with a lock; a worker adds in its own lane, and waits for another worker only where both add to
//! the same bucket of the index. Connections whose time is over are no longer found; a sweep over all records removes them.
//!
//! **A full table.** Connections that were never assured (state.rs) are in a list of their lane, the oldest first. When the table is full, the
//! oldest gives way to the new one; assured connections give way to none, so that a flood of beginnings cannot touch them. The list is
//! mended lazily: one that has become assured leaves it when it comes to its front, so that no packet of a known connection needs the lock.

use super::copy::{Change, NOTES};
use super::listing;
use super::number::Number;
use super::record::{NONE, Record, Slab};
use super::sight::{Act, Fault, Key, Sight};
use super::state::{Progress, Step, Timeouts};
use super::window;
use crate::end::End;
use crate::quota::{self, Limit, Quota};
use crate::rewrite::flow_events::{Event, Listener, Log, What};
use crate::rewrite::index::Index;
use elements_shared::keyed_hash::HashKey;
use elements_shared::notes::Notes;
use rcu::{Account, Domain, Token, Turn, Updater};
use std::collections::VecDeque;
use std::net::IpAddr;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Parts in which connections can be added at once.
const LANES: usize = 8;
/// Numbers of records that a lane takes at once.
const BLOCK: u32 = 64;
/// Removed records that may wait for a grace period beyond the capacity.
const RESTING: u32 = 1 << 16;
/// Removed records for which a grace period is started together, if another one is under way.
const LOT: usize = 64;
/// Entries of a lane's list that are looked at for one new connection.
const LOOKS: usize = 64;
/// Times that a state is tried to be changed while another worker changes it.
const TRIES: usize = 8;
/// Why a packet is dropped whose connection has no room.
pub(super) const FULL: &str = "no room for another connection";

/// What happened to connections, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) made: u64,
    pub(super) refused: u64,
    /// Those of prefixes that have as many as they may.
    pub(super) over_quota: u64,
    pub(super) ended: [u64; End::ALL.len()],
}

impl Totals {
    fn add(&mut self, more: &Totals) {
        self.made += more.made;
        self.refused += more.refused;
        self.over_quota += more.over_quota;
        self.ended.iter_mut().zip(more.ended).for_each(|(sum, more)| *sum += more);
    }
}

/// What a packet is to the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// It belongs to a connection that has had an answer.
    Established,
    /// It belongs to a connection that has not.
    Unanswered,
    /// It could begin one.
    New,
    /// It is an error about a packet of one.
    Related,
    Untracked,
    Invalid(Fault),
}

/// What came of the wish to remember a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entered {
    Made,
    Known,
    /// There is no room.
    Refused,
    /// The prefix of who begins it has as many as it may.
    OverQuota,
}

impl Entered {
    /// Why the connection's packet is dropped, if it is.
    #[inline]
    pub(super) fn refusal(self) -> Option<&'static str> {
        match self {
            Entered::Made | Entered::Known => None,
            Entered::Refused => Some(FULL),
            Entered::OverQuota => Some(quota::QUOTA),
        }
    }
}

/// What a lane's lock protects.
struct Lane {
    updater: Updater,
    block: Range<u32>,
    free: Vec<u32>,
    removed: Vec<u32>,
    resting: VecDeque<(Token, Vec<u32>)>,
    account: Account,
    /// Those that were not assured when it was last looked, the oldest first.
    first: u32,
    last: u32,
    totals: Totals,
    /// What became of the lane's connections.
    log: Log,
}

/// Where the connection of a packet probably is. It may be out of date.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clue {
    /// The hash of the packet's key.
    hash: u64,
    /// The number of a record.
    guess: Option<u32>,
}

impl Clue {
    /// A clue with another guess.
    #[cfg(test)]
    pub(super) fn or_guess(self, guess: Option<u32>) -> Clue {
        Clue { guess, ..self }
    }
}

/// What is written while connections come and go: apart from what look-ups read.
#[repr(align(128))]
struct Apart<T>(T);

/// The table.
pub(super) struct Table {
    /// Packets carry it from where their connection was found to where it would be added.
    number: Number,
    key: HashKey,
    index: Index,
    slab: Slab,
    quota: Quota,
    timeouts: [AtomicU64; 7],
    capacity: AtomicU32,
    pick_up: AtomicU32,
    size: Apart<AtomicUsize>,
    next: AtomicU32,
    /// Where the sweep goes on.
    swept: AtomicU32,
    lanes: [Apart<Mutex<Lane>>; LANES],
    /// Who hears of what comes and goes, as of the last sweep.
    pub(super) listener: Listener,
    /// What has changed, for a copy of the table elsewhere.
    pub(super) notes: Notes<Change>,
}

impl Table {
    /// An empty table.
    pub(super) fn new(seed: u64, capacity: u32, timeouts: Timeouts, pick_up: bool) -> Table {
        let lane = |_| {
            Apart(Mutex::new(Lane {
                updater: Domain::global().updater(),
                block: 0..0,
                free: Vec::new(),
                removed: Vec::new(),
                resting: VecDeque::new(),
                account: Domain::global().account("connections"),
                first: NONE,
                last: NONE,
                totals: Totals::default(),
                log: Log::default(),
            }))
        };
        let table = Table {
            number: Number::take(),
            key: HashKey::new(seed),
            index: Index::default(),
            slab: Slab::default(),
            quota: Quota::new(Limit::NONE, 0, 0),
            timeouts: Default::default(),
            capacity: AtomicU32::new(0),
            pick_up: AtomicU32::new(0),
            size: Apart(AtomicUsize::new(0)),
            next: AtomicU32::new(0),
            swept: AtomicU32::new(0),
            lanes: std::array::from_fn(lane),
            listener: Listener::default(),
            notes: Notes::new(NOTES),
        };
        table.configure(capacity, timeouts, pick_up);
        table
    }

    /// The same table, empty yet, where sources of a prefix may have so many connections.
    pub(super) fn with_quota(self, limit: Limit, seed: u64) -> Table {
        let capacity = self.capacity() as usize;
        Table { quota: Quota::new(limit, capacity, seed), ..self }
    }

    /// What sources of a prefix may have.
    pub(super) fn quota(&self) -> Limit {
        self.quota.limit()
    }

    /// Goes on counting from what another table has counted, whose connections are adopted then, which counts them as made.
    pub(super) fn go_on(&self, old: &Table) {
        let totals = old.totals();
        let made = totals.made.saturating_sub(old.size() as u64);
        self.lane(0).totals.add(&Totals { made, ..totals });
    }

    /// Gives the table other limits; what it has stays.
    pub(super) fn configure(&self, capacity: u32, timeouts: Timeouts, pick_up: bool) {
        self.capacity.store(capacity.min(Slab::MOST - RESTING), Relaxed);
        self.pick_up.store(u32::from(pick_up), Relaxed);
        self.timeouts.iter().zip(timeouts.all()).for_each(|(place, timeout)| place.store(timeout, Relaxed));
    }

    /// What happened to connections so far. Workers count in their lanes.
    pub(super) fn totals(&self) -> Totals {
        let mut all = Totals::default();
        (0..LANES).for_each(|lane| all.add(&self.lane(lane).totals));
        all
    }

    /// Says whether an element asks for what happens to connections.
    pub(super) fn want_events(&self, is_wanted: bool) {
        (0..LANES).for_each(|lane| self.lane(lane).log.want(is_wanted));
    }

    /// Exchanges a lane's events for an empty list with room. Returns how many others were lost.
    pub(super) fn take_events(&self, lane: usize, now_ms: Option<u64>, list: &mut Vec<Event>) -> u64 {
        self.lane(lane).log.take(now_ms, list)
    }

    /// Connections in the table, with those whose time is over and that no sweep has met yet.
    pub(super) fn size(&self) -> usize {
        self.size.0.load(Relaxed)
    }

    pub(super) fn capacity(&self) -> u32 {
        self.capacity.load(Relaxed)
    }

    /// When a connection's time is over.
    pub(super) fn over_ms(&self, record: &Record) -> u64 {
        let which = Timeouts::which(record.protocol(), record.progress());
        record.last_ms().saturating_add(self.timeouts[which as usize].load(Relaxed))
    }

    pub(super) fn is_over(&self, record: &Record, now_ms: u64) -> bool {
        self.over_ms(record) <= now_ms
    }

    /// The number that packets carry whose connections are in the table, or 0 if there were too many tables.
    #[inline]
    pub(super) fn number(&self) -> u8 {
        self.number.get()
    }

    /// Asks for the memory in which the search for a packet's connection begins.
    #[inline]
    pub(super) fn clue(&self, turn: Turn<'_>, sight: &Sight) -> Clue {
        let (Sight::Of(key, ..) | Sight::Error(key)) = sight else { return Clue::default() };
        let hash = key.hash(&self.key);
        self.index.home(turn, hash).prefetch();
        Clue { hash, guess: None }
    }

    /// Guesses which record it is, and asks for that; of use some time after [`Table::clue`].
    #[inline]
    pub(super) fn follow(&self, turn: Turn<'_>, clue: &mut Clue, is_tcp: bool) {
        let number = self.index.home(turn, clue.hash).guess(clue.hash);
        let record = self.slab.get(number);
        clue.guess = record.map(|record| {
            packet::prefetch(record);
            if is_tcp {
                packet::prefetch(&record.sides);
            }
            number
        });
    }

    /// The record of a key that a clue leads to, with its number.
    #[inline]
    fn find_by<'t>(&'t self, turn: Turn<'t>, key: Key, clue: Clue) -> Option<(u32, &'t Record)> {
        let guessed = clue.guess.and_then(|number| self.record(number)).filter(|(_, record)| record.is(key));
        guessed.or_else(|| self.find(turn, key, clue.hash))
    }

    /// A record, with its number.
    #[inline]
    pub(super) fn record(&self, number: u32) -> Option<(u32, &Record)> {
        self.slab.get(number).map(|record| (number, record))
    }

    /// The record of a key.
    pub(super) fn find_key<'t>(&'t self, turn: Turn<'t>, key: Key) -> Option<&'t Record> {
        self.find(turn, key, key.hash(&self.key)).map(|(_, record)| record)
    }

    /// The record that has a key.
    #[inline]
    fn find<'t>(&'t self, turn: Turn<'t>, key: Key, hash: u64) -> Option<(u32, &'t Record)> {
        let mut found = None;
        self.index.find(turn, hash, |number| {
            found = self.record(number).filter(|(_, record)| record.is(key));
            found.is_some()
        });
        found
    }

    /// What a packet is to the connections that are known, with a clue from this table. Changes the state of the one that it belongs to.
    #[inline]
    pub(super) fn look(&self, turn: Turn<'_>, sight: &Sight, clue: Clue, now_ms: u64) -> Found {
        match sight {
            Sight::Untracked => Found::Untracked,
            Sight::Invalid(fault) => Found::Invalid(*fault),
            Sight::Of(key, from_high, act) => {
                let found = self.find_by(turn, *key, clue);
                match found.filter(|(_, record)| !self.is_over(record, now_ms)) {
                    Some(found) => self.pass(found, *from_high, act, now_ms),
                    None => self.unknown(*act),
                }
            }
            Sight::Error(key) => match self.find_by(turn, *key, clue).map(|(_, record)| record) {
                Some(record) if !self.is_over(record, now_ms) => Found::Related,
                _ => Found::Invalid(Fault::Error),
            },
        }
    }

    /// What a packet is that no connection is known for.
    fn unknown(&self, act: Act) -> Found {
        if self.begin(act, false).is_some() { Found::New } else { Found::Invalid(Fault::Unknown) }
    }

    /// The connection that a packet begins.
    fn begin(&self, act: Act, from_high: bool) -> Option<Progress> {
        let signal = match act {
            Act::Tcp(signal, _) => Some(signal),
            Act::Answer => return None,
            Act::Question | Act::Datagram => None,
        };
        Progress::begin(signal, from_high, self.pick_up.load(Relaxed) != 0)
    }

    /// What a packet is to its connection.
    #[inline]
    fn pass(&self, found: (u32, &Record), from_high: bool, act: &Act, now_ms: u64) -> Found {
        let (signal, segment) = match act {
            Act::Tcp(signal, segment) => (*signal, segment),
            Act::Datagram => return self.pass_other(found, |old| old.is_from_high() != from_high, now_ms),
            // Who asks is the originator, whichever address is lower: also where a host asks itself.
            Act::Question | Act::Answer => return self.pass_other(found, |_| *act == Act::Answer, now_ms),
        };
        let (number, record) = found;
        let [sender, receiver] = [from_high, !from_high].map(|high| &record.sides[usize::from(high)]);
        for _ in 0..TRIES {
            let old = record.progress();
            let next = match old.step(signal, old.is_from_high() != from_high) {
                Step::Becomes(next) => next,
                Step::Ignored => {
                    return if old.is_replied() { Found::Established } else { Found::Unanswered };
                }
                Step::Anew => return Found::New,
                Step::Invalid => return Found::Invalid(Fault::State),
            };
            if !old.is_picked_up() && !window::fits(segment, sender, receiver) {
                return Found::Invalid(Fault::Window);
            }
            if record.advance(old, next) {
                self.note_step(number, old, next);
                window::note(segment, sender, receiver);
                record.touch(now_ms);
                return if next.is_replied() { Found::Established } else { Found::Unanswered };
            }
        }
        Found::Invalid(Fault::State)
    }

    #[inline]
    fn pass_other(
        &self,
        (number, record): (u32, &Record),
        is_reply: impl Fn(Progress) -> bool,
        now_ms: u64,
    ) -> Found {
        let mut next = record.progress();
        for _ in 0..TRIES {
            let old = record.progress();
            next = old.other(is_reply(old));
            if record.advance(old, next) {
                self.note_step(number, old, next);
                break;
            }
        }
        record.touch(now_ms);
        if next.is_replied() { Found::Established } else { Found::Unanswered }
    }

    /// Remembers the connection that a packet begins, for a worker.
    pub(super) fn enter(&self, turn: Turn<'_>, worker: usize, sight: &Sight, now_ms: u64) -> Entered {
        let Sight::Of(key, from_high, act) = *sight else { return Entered::Known };
        let Some(progress) = self.begin(act, from_high) else { return Entered::Known };
        let hash = key.hash(&self.key);
        // A connection between the same ends that is over goes first; again if another worker is as quick.
        for _ in 0..TRIES {
            match self.find(turn, key, hash) {
                Some((number, record)) if self.gives_way(record, act, now_ms) => {
                    self.remove_if(
                        turn,
                        number,
                        |record| record.is(key) && self.gives_way(record, act, now_ms),
                        End::Replaced,
                    );
                }
                Some(_) => return Entered::Known,
                None => {}
            }
            if self.quota.is_used(|| originator(key, progress)) {
                return self.refuse_by_quota(worker, key, progress);
            }
            let entered = self.add(turn, worker, key, hash, progress, [now_ms; 2], |record| {
                if let Act::Tcp(_, segment) = act {
                    record.sides[usize::from(from_high)].begin(&segment);
                }
            });
            if let Some(entered) = entered {
                return entered;
            }
        }
        Entered::Refused
    }

    #[cold]
    fn refuse_by_quota(&self, worker: usize, key: Key, progress: Progress) -> Entered {
        let mut lane = self.lane(worker);
        lane.totals.over_quota += 1;
        lane.log.add(|| Some(event(What::Denied, key, progress)));
        Entered::OverQuota
    }

    /// Whether a connection is over for a packet that begins another one.
    fn gives_way(&self, record: &Record, act: Act, now_ms: u64) -> bool {
        let begins_anew = |signal| matches!(record.progress().step(signal, false), Step::Anew);
        self.is_over(record, now_ms) || matches!(act, Act::Tcp(signal, _) if begins_anew(signal))
    }

    /// Removes the connection with a key if it is over: one that goes on between the same ends began later.
    pub(super) fn remove_past(&self, turn: Turn<'_>, key: Key, now_ms: u64) {
        let is_past = |record: &Record| record.progress().is_past() || self.is_over(record, now_ms);
        if let Some((number, _)) =
            self.find(turn, key, key.hash(&self.key)).filter(|(_, record)| is_past(record))
        {
            self.remove_if(turn, number, |record| record.is(key) && is_past(record), End::Replaced);
        }
    }

    fn lane(&self, worker: usize) -> MutexGuard<'_, Lane> {
        // Who held the lock left each record in the index or out of it.
        self.lanes[worker % LANES].0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a connection. `None` if another one has the key, which the caller looks at.
    #[expect(clippy::too_many_arguments, reason = "a connection, and where it belongs")]
    fn add(
        &self,
        turn: Turn<'_>,
        worker: usize,
        key: Key,
        hash: u64,
        progress: Progress,
        [begun_ms, last_ms]: [u64; 2],
        fill: impl FnOnce(&Record),
    ) -> Option<Entered> {
        let mut lane = self.lane(worker);
        lane.log.set_now(last_ms);
        let size = self.size.0.fetch_add(1, Relaxed);
        let has_room = size < self.capacity() as usize || self.make_room(turn, worker, &mut lane);
        let allocated = if has_room { self.allocate(&mut lane, worker) } else { None };
        let Some((number, record)) = allocated else {
            self.size.0.fetch_sub(1, Relaxed);
            lane.totals.refused += 1;
            lane.log.add(|| Some(event(What::Denied, key, progress)));
            return Some(Entered::Refused);
        };
        let hash_of =
            |number| self.slab.get(number).and_then(Record::key).map_or(0, |key| key.hash(&self.key));
        let mut fill = Some(fill);
        let added = self.index.change(turn, &lane.updater, [hash; 2], &hash_of, |held| {
            if held.find(0, |number| self.slab.get(number).is_some_and(|record| record.is(key))).is_some() {
                return Ok(false);
            }
            if let Some(fill) = fill.take() {
                record.fill(key, progress, begun_ms, last_ms);
                fill(record);
            }
            held.insert([None, Some(number)]).map(|()| true)
        });
        let (is_added, is_known) = (added == Some(true), added == Some(false));
        if is_added {
            if !progress.is_assured() {
                lane.link(&self.slab, number, record);
            }
            lane.totals.made += 1;
            self.quota.take(|| originator(key, progress));
            lane.log.add(|| Some(event(What::Begun, key, progress)));
            self.listener.tell("new", || listing::ends(key, progress));
            self.notes.add(|| progress.is_assured(), || Change::Put(number));
            return Some(Entered::Made);
        }
        self.size.0.fetch_sub(1, Relaxed);
        record.bury();
        lane.free.push(number); // no reader has seen it
        if is_known {
            return None;
        }
        lane.totals.refused += 1;
        Some(Entered::Refused)
    }

    /// Removes the oldest connection that is not assured: of this lane, or else of one that is not locked just now.
    fn make_room(&self, turn: Turn<'_>, worker: usize, lane: &mut Lane) -> bool {
        if self.evict(turn, lane) {
            return true;
        }
        (0..LANES).filter(|&other| other != worker % LANES).any(|other| {
            let other = self.lanes[other].0.try_lock();
            other.is_ok_and(|mut other| self.evict(turn, &mut other))
        })
    }

    fn evict(&self, turn: Turn<'_>, lane: &mut Lane) -> bool {
        for _ in 0..LOOKS {
            let number = lane.first;
            let Some(record) = self.slab.get(number) else { return false };
            if record.progress().is_assured() {
                lane.unlink(&self.slab, number, record);
                continue;
            }
            self.remove(turn, lane, number, record, End::Evicted);
            return true;
        }
        false
    }

    /// Removes a connection of a lane.
    fn remove(&self, turn: Turn<'_>, lane: &mut Lane, number: u32, record: &Record, end: End) {
        let Some(key) = record.key() else { return };
        let hash = key.hash(&self.key);
        self.index.remove(turn, hash, number);
        lane.unlink(&self.slab, number, record);
        record.bury();
        lane.removed.push(number);
        self.size.0.fetch_sub(1, Relaxed);
        lane.totals.ended[end as usize] += 1;
        self.quota.give(|| originator(key, record.progress()));
        lane.log.add(|| Some(event(What::Over, key, record.progress())));
        self.listener.tell(end.name(), || listing::ends(key, record.progress()));
        self.notes.add(|| record.progress().is_assured(), || Change::Gone(key));
    }

    /// Notes that a connection has another state, if it has.
    #[inline]
    fn note_step(&self, number: u32, old: Progress, new: Progress) {
        if old != new {
            self.notes.add(|| new.is_assured(), || Change::Put(number));
        }
    }

    /// Removes a connection if something still holds for it.
    fn remove_if(&self, turn: Turn<'_>, number: u32, is: impl Fn(&Record) -> bool, end: End) -> bool {
        let Some(record) = self.slab.get(number) else { return false };
        let mut lane = self.lane(record.lane.load(Relaxed).into());
        let still = record.key().is_some() && is(record);
        if still {
            self.remove(turn, &mut lane, number, record, end);
        }
        still
    }

    /// A record that no reader knows.
    fn allocate(&self, lane: &mut Lane, worker: usize) -> Option<(u32, &Record)> {
        if lane.free.is_empty() {
            lane.recycle();
        }
        let number = lane.free.pop().or_else(|| self.fresh(lane)).or_else(|| self.borrow(worker))?;
        let record = self.slab.make(number)?;
        record.lane.store((worker % LANES) as u8, Relaxed);
        Some((number, record))
    }

    /// A record that was never used.
    fn fresh(&self, lane: &mut Lane) -> Option<u32> {
        if lane.block.is_empty() {
            let most = self.capacity().saturating_add(RESTING).saturating_add(LANES as u32 * BLOCK);
            let more = |next: u32| (next <= most).then_some(next + BLOCK);
            let first = self.next.fetch_update(Relaxed, Relaxed, more).ok()?;
            lane.block = first..first + BLOCK;
        }
        lane.block.next()
    }

    /// A record that another lane does not need, unless that is locked just now.
    fn borrow(&self, worker: usize) -> Option<u32> {
        (0..LANES).filter(|&other| other != worker % LANES).find_map(|other| {
            let mut lane = self.lanes[other].0.try_lock().ok()?;
            lane.recycle();
            lane.free.pop()
        })
    }

    /// Looks at the next records, and removes those whose time is over. Returns how many there are to look at in all.
    pub(super) fn sweep(&self, turn: Turn<'_>, now_ms: u64, records: u32) -> u32 {
        let all = self.next.load(Relaxed);
        let mut at = self.swept.load(Relaxed);
        (0..LANES).for_each(|lane| self.lane(lane).log.set_now(now_ms));
        for _ in 0..records.min(all) {
            at = if at + 1 < all { at + 1 } else { 0 };
            let is_over = |record: &Record| self.is_over(record, now_ms);
            if self.slab.get(at).is_some_and(|record| record.key().is_some() && is_over(record)) {
                self.remove_if(turn, at, is_over, End::Expired);
            }
        }
        self.swept.store(at, Relaxed);
        all
    }

    /// All connections whose time is not over, with their keys and numbers. Those that come or go meanwhile may or may not be among them.
    pub(super) fn all<'t>(
        &'t self,
        _turn: Turn<'t>,
        now_ms: u64,
    ) -> impl Iterator<Item = (u32, Key, &'t Record)> {
        let numbers = 0..self.next.load(Relaxed);
        let known = numbers.filter_map(|number| self.slab.get(number).map(|record| (number, record)));
        known.filter_map(move |(number, record)| {
            let key = record.key().filter(|_| !self.is_over(record, now_ms))?;
            Some((number, key, record))
        })
    }

    /// How many records have been used so far: their numbers are below.
    pub(super) fn used(&self) -> u32 {
        self.next.load(Relaxed)
    }

    /// Removes a connection that [`Table::all`] has shown.
    pub(super) fn kill(&self, turn: Turn<'_>, number: u32, key: Key) -> bool {
        self.remove_if(turn, number, |record| record.is(key), End::Killed)
    }

    /// What is added meanwhile has not begun.
    pub(super) fn pause_log(&self, is_paused: bool) {
        (0..LANES).for_each(|lane| self.lane(lane).log.pause(is_paused));
    }

    /// Adds a connection that another process has known. `None` if it is known here.
    pub(super) fn restore(
        &self,
        turn: Turn<'_>,
        worker: usize,
        key: Key,
        progress: Progress,
        times: [u64; 2],
        fill: impl FnOnce(&Record),
    ) -> Option<Entered> {
        self.add(turn, worker, key, key.hash(&self.key), progress, times, fill)
    }

    /// Takes over the connections of another table that is no longer used.
    pub(super) fn adopt(&self, turn: Turn<'_>, old: &Table, now_ms: u64) {
        self.pause_log(true);
        for (number, key, record) in old.all(turn, now_ms) {
            let times = [record.begun_ms(), record.last_ms()];
            self.add(turn, number as usize, key, key.hash(&self.key), record.progress(), times, |new| {
                new.sides.iter().zip(&record.sides).for_each(|(new, old)| new.copy(old));
            });
        }
        self.pause_log(false);
    }
}

/// Who has begun a connection.
fn originator(key: Key, progress: Progress) -> IpAddr {
    key.end(progress.is_from_high()).0
}

fn event(what: What, key: Key, progress: Progress) -> Event {
    let ends = listing::originator_first(key, progress);
    Event { protocol: key.protocol(), ends, ..Event::new(what) }
}

impl Lane {
    fn link(&mut self, slab: &Slab, number: u32, record: &Record) {
        record.previous.store(self.last, Relaxed);
        record.next.store(NONE, Relaxed);
        match slab.get(self.last) {
            Some(last) => last.next.store(number, Relaxed),
            None => self.first = number,
        }
        self.last = number;
    }

    /// Takes a record out of the list, if it is in there.
    fn unlink(&mut self, slab: &Slab, number: u32, record: &Record) {
        let (previous, next) = (record.previous.swap(NONE, Relaxed), record.next.swap(NONE, Relaxed));
        if previous == NONE && self.first != number {
            return;
        }
        match slab.get(previous) {
            Some(previous) => previous.next.store(next, Relaxed),
            None => self.first = next,
        }
        match slab.get(next) {
            Some(next) => next.previous.store(previous, Relaxed),
            None => self.last = previous,
        }
    }

    /// Frees the records that have rested long enough.
    fn recycle(&mut self) {
        let domain = Domain::global();
        if self.removed.len() >= LOT || self.resting.is_empty() && !self.removed.is_empty() {
            self.resting.push_back((domain.start(), std::mem::take(&mut self.removed)));
        }
        while self.resting.front().is_some_and(|(token, _)| domain.poll(*token)) {
            self.free.extend(self.resting.pop_front().into_iter().flat_map(|(_, records)| records));
        }
        let resting: usize = self.resting.iter().map(|(_, records)| records.len()).sum();
        self.account.set(resting * size_of::<Record>());
    }
}
