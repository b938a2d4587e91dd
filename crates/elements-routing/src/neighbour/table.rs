//! The neighbour table: which Ethernet address belongs to which IP address.
//!
//! The table is shared by all workers. What is known is published in hash buckets that RCU protects: a look-up loads
//! one pointer and takes no lock. Everything else (addresses that are asked for, ages, who waits) is in a directory
//! behind a mutex, which a worker takes when it learns an address, meets an unknown one, or has a packet for one whose state
//! is to change.
//!
//! Packets that wait for an address stay with the worker that has them; the directory only knows whom to wake.
//!
//! # Under attack
//!
//! A sender of packets to addresses that do not exist makes entries that are incomplete. There are so many of these and no more;
//! a new one takes the place of the oldest that was asked for some time ago, or else is refused. It never takes the place of
//! a known neighbour. A host that announces addresses takes places of neighbours that did not answer for some time, but none of
//! reachable ones, and none of permanent ones. Where addresses end up in buckets depends on a secret key.

pub(crate) use super::address::Address;
use super::directory::{AgeIndex, Directory, Record};
pub(crate) use super::effects::{
    Advice, Change, Effects, Kind, NeighbourLookup, Refusal, Resolution, Waiter,
};
use super::state::{Entry, News, Query, State, Timing};
use elements_shared::keyed_hash::HashKey;
use rcu::{OptionCell, Turn, Updater, Weigh};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use wire::MacAddr;

/// Buckets of a table. 32 KiB; with 65,536 neighbours a look-up scans 16 entries.
const BUCKETS: usize = 4096;

/// How much a table holds, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// When states change.
    pub(crate) timing: Timing,
    /// Packets that wait, all together; 0 for no limit.
    pub(crate) packets: usize,
    /// Addresses; 0 for no limit.
    pub(crate) entries: usize,
    /// Addresses that are not known; 0 for no limit.
    pub(crate) unknown: usize,
    /// Packets that wait for one address, on each worker; 0 for no limit.
    pub(crate) entry_packets: usize,
    /// When too many packets wait, one out of this many is dropped.
    pub(crate) slim_factor: usize,
}

impl Limits {
    /// Packets to which the waiting ones are reduced when they are too many.
    pub(crate) fn slim_packets(&self) -> usize {
        (self.packets - self.packets / self.slim_factor.max(1)).max(1)
    }
}

/// One published address. Replaced as a whole when the Ethernet address changes; times change in place.
struct Slot<A> {
    ip: A,
    mac: MacAddr,
    /// When a packet for it begins to concern its state.
    attention_ns: AtomicI64,
}

impl<A> Weigh for Slot<A> {
    fn heap_bytes(&self) -> usize {
        0
    }
}

type Bucket<A> = Box<[Slot<A>]>;

/// A neighbour table.
pub(crate) struct Neighbours<A: Address = Ipv4Addr> {
    /// Looked at when an address is not known, or changes.
    limits: RwLock<Limits>,
    /// The secret of the hash.
    key: HashKey,
    buckets: Box<[OptionCell<Bucket<A>>]>,
    directory: Mutex<Directory<A>>,
    /// Packets that wait, on all workers.
    waiting: AtomicUsize,
    /// [`Timing::reachable_ns`], which may change.
    reachable_ns: AtomicI64,
    /// Packets that waited and were dropped.
    drops: AtomicU64,
    /// News that was not believed.
    refused: AtomicU64,
}

impl<A: Address> Neighbours<A> {
    /// An empty table.
    pub(crate) fn new(limits: Limits, key: u64) -> Neighbours<A> {
        Neighbours::with_buckets(limits, key, BUCKETS)
    }

    pub(super) fn with_buckets(limits: Limits, key: u64, buckets: usize) -> Neighbours<A> {
        Neighbours {
            limits: RwLock::new(limits),
            key: HashKey::new(key),
            buckets: (0..buckets).map(|_| OptionCell::new(None)).collect(),
            directory: Mutex::new(Directory::new()),
            waiting: AtomicUsize::new(0),
            reachable_ns: AtomicI64::new(limits.timing.reachable_ns),
            drops: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        }
    }

    /// Its limits.
    pub(crate) fn limits(&self) -> Limits {
        *self.limits.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes its limits, from the next packet and the next news on.
    pub(crate) fn set_limits(&self, limits: Limits) {
        self.set_reachable(limits.timing.reachable_ns);
        *self.limits.write().unwrap_or_else(PoisonError::into_inner) = limits;
    }

    /// When states change.
    pub(crate) fn timing(&self) -> Timing {
        Timing { reachable_ns: self.reachable_ns.load(Relaxed), ..self.limits().timing }
    }

    /// Changes how long a neighbour counts as reachable after an answer, from the next one on.
    pub(crate) fn set_reachable(&self, reachable_ns: i64) {
        self.reachable_ns.store(reachable_ns, Relaxed);
    }

    /// The Ethernet address for an IP address, if it is known. Takes no lock.
    #[inline]
    pub(crate) fn lookup(&self, turn: Turn<'_>, ip: A, now_ns: i64) -> NeighbourLookup {
        match self.slot(turn, ip) {
            Some(slot) if now_ns < slot.attention_ns.load(Relaxed) => NeighbourLookup::Known(slot.mac),
            Some(slot) => NeighbourLookup::Aged(slot.mac),
            None => NeighbourLookup::Unknown,
        }
    }

    /// There is a packet for an address. If it must wait, `waiter` is woken when that changes.
    ///
    /// # Errors
    /// [`Refusal::Full`]: the address is not known, and cannot be asked for.
    pub(crate) fn want(
        &self,
        turn: Turn<'_>,
        ip: A,
        now_ns: i64,
        waiter: Waiter,
    ) -> Result<(Advice, Effects<A>), Refusal> {
        let mut directory = self.lock();
        let mut effects = Effects::default();
        if !directory.records.contains_key(&ip) {
            self.make_room(turn, &mut directory, &mut effects, now_ns, Claim::Packet)?;
        }
        let known = directory.records.get(&ip).map(|record| record.entry);
        let mut entry = known.unwrap_or_else(|| Entry::new(now_ns));
        let query = entry.wanted(&self.timing(), now_ns);
        // An address that was known cannot get lost here but by age, which look-ups see for themselves.
        self.enter(turn, &mut directory, &mut effects, (ip, entry), now_ns)?;
        let advice = self.advice(&entry, query, now_ns);
        if let Some(record) = directory.records.get_mut(&ip)
            && advice.mac.is_none()
            && !record.waiters.contains(&waiter)
        {
            record.waiters.push(waiter);
        }
        Ok((advice, effects))
    }

    /// It is time to look after an address that an [`Advice`] named a time for. `None` if there is no such address any more.
    pub(crate) fn tick(&self, turn: Turn<'_>, ip: A, now_ns: i64) -> Option<(Advice, Effects<A>)> {
        let mut directory = self.lock();
        let mut entry = directory.records.get(&ip)?.entry;
        let query = entry.tick(&self.timing(), now_ns);
        let mut effects = Effects::default();
        self.enter(turn, &mut directory, &mut effects, (ip, entry), now_ns).ok()?;
        Some((self.advice(&entry, query, now_ns), effects))
    }

    /// A neighbour says something about itself; if it was not known and not asked for, that counts only where `unasked` does.
    ///
    /// # Errors
    /// [`Refusal`].
    pub(crate) fn tell(
        &self,
        turn: Turn<'_>,
        ip: A,
        news: News,
        unasked: bool,
        now_ns: i64,
    ) -> Result<Effects<A>, Refusal> {
        self.learn(turn, ip, news, (unasked, u32::MAX), now_ns)
    }

    /// The same of what a packet says, which any host may have sent: so many addresses are learned unasked in a second and no more.
    ///
    /// # Errors
    /// [`Refusal`].
    pub(crate) fn hear(
        &self,
        turn: Turn<'_>,
        ip: A,
        news: News,
        unasked: bool,
        now_ns: i64,
    ) -> Result<Effects<A>, Refusal> {
        self.learn(turn, ip, news, (unasked, UNASKED_PER_SECOND), now_ns)
    }

    fn learn(
        &self,
        turn: Turn<'_>,
        ip: A,
        news: News,
        (unasked, a_second): (bool, u32),
        now_ns: i64,
    ) -> Result<Effects<A>, Refusal> {
        let mut directory = self.lock();
        let mut effects = Effects::default();
        let timing = &self.timing();
        let known = directory.records.get(&ip).map(|record| record.entry);
        let asked = known.is_some_and(|entry| entry.state(timing, now_ns) != State::Failed);
        if !asked && !unasked {
            self.refused.fetch_add(1, Relaxed);
            return Ok(effects);
        }
        if known.is_none() {
            if !directory.may_learn_unasked(a_second, now_ns) {
                return Err(Refusal::Hasty);
            }
            self.make_room(turn, &mut directory, &mut effects, now_ns, Claim::News)?;
        }
        let mut entry = known.unwrap_or_else(|| Entry::new(now_ns));
        let before = entry.mac(timing, now_ns);
        entry.tell(timing, news, now_ns);
        if news.mac.is_some() && before.is_some() && entry.mac(timing, now_ns) != news.mac {
            self.refused.fetch_add(1, Relaxed);
        }
        self.enter(turn, &mut directory, &mut effects, (ip, entry), now_ns)?;
        Ok(effects)
    }

    /// Enters an address as an administrator says.
    ///
    /// # Errors
    /// [`Refusal`].
    pub(crate) fn insert(
        &self,
        turn: Turn<'_>,
        ip: A,
        mac: MacAddr,
        permanent: bool,
        now_ns: i64,
    ) -> Result<Effects<A>, Refusal> {
        let mut entry = Entry::new(now_ns);
        entry.set(mac, permanent, now_ns);
        self.decree(turn, ip, entry, now_ns)
    }

    /// Makes an address unknown, as an administrator says; packets that wait for one that is asked for go on waiting.
    ///
    /// # Errors
    /// [`Refusal`].
    pub(crate) fn delete(&self, turn: Turn<'_>, ip: A, now_ns: i64) -> Result<Effects<A>, Refusal> {
        match self.resolution(ip, now_ns) {
            Resolution::Pending => Ok(Effects::default()),
            _ => self.decree(turn, ip, Entry::new(now_ns), now_ns),
        }
    }

    /// Whether nothing is known of an address.
    pub(super) fn is_unknown(&self, turn: Turn<'_>, ip: A) -> bool {
        self.slot(turn, ip).is_none()
    }

    /// Enters an address as another process has known it.
    pub(super) fn restore(
        &self,
        turn: Turn<'_>,
        ip: A,
        entry: Entry,
        now_ns: i64,
    ) -> Result<Effects<A>, Refusal> {
        self.decree(turn, ip, entry, now_ns)
    }

    fn decree(&self, turn: Turn<'_>, ip: A, entry: Entry, now_ns: i64) -> Result<Effects<A>, Refusal> {
        let mut directory = self.lock();
        let mut effects = Effects::default();
        if !directory.records.contains_key(&ip) {
            self.make_room(turn, &mut directory, &mut effects, now_ns, Claim::Administrator)?;
        }
        self.enter(turn, &mut directory, &mut effects, (ip, entry), now_ns)?;
        Ok(effects)
    }

    /// Removes addresses that have not been heard of for too long, and notes which have become stale.
    pub(crate) fn age(&self, turn: Turn<'_>, now_ns: i64) -> Effects<A> {
        let mut directory = self.lock();
        let mut effects = Effects::default();
        let timing = &self.timing();
        let expired = |order: &AgeIndex<A>, records: &HashMap<A, Record>| {
            let (_, &ip) = order.first_key_value()?;
            records.get(&ip)?.entry.is_expired(timing, now_ns).then_some(ip)
        };
        while let Some(ip) = expired(&directory.known, &directory.records)
            .or_else(|| expired(&directory.unknown, &directory.records))
        {
            if self.drop_record(turn, &mut directory, &mut effects, ip).is_err() {
                return effects; // the next time, perhaps
            }
        }
        let is_old = |ip: &A| {
            let record = directory.records.get(ip)?;
            let recorded = record.entry.recorded_state();
            (record.entry.state(timing, now_ns) != recorded).then_some(record.entry)
        };
        let old: Vec<(A, Entry)> =
            directory.known.values().filter_map(|ip| Some((*ip, is_old(ip)?))).collect();
        for (ip, entry) in old {
            if self.enter(turn, &mut directory, &mut effects, (ip, entry), now_ns).is_err() {
                break;
            }
        }
        effects
    }

    /// Forgets everything.
    ///
    /// # Errors
    /// [`Refusal::Backpressure`]; some addresses are still known then.
    pub(crate) fn clear(&self, turn: Turn<'_>) -> Result<Effects<A>, Refusal> {
        let mut directory = self.lock();
        let mut effects = Effects::default();
        let all: Vec<A> = directory.records.keys().copied().collect();
        for ip in all {
            self.drop_record(turn, &mut directory, &mut effects, ip)?;
        }
        Ok(effects)
    }

    /// Takes over what another table has and this one does not: addresses that are known first, then, as far as there is room, those that
    /// are asked for or did not answer.
    pub(crate) fn adopt(&self, other: &Neighbours<A>, turn: Turn<'_>, now_ns: i64) -> Effects<A> {
        let (Limits { entries, unknown, .. }, timing) = (self.limits(), &self.timing());
        let mut theirs: Vec<(A, Entry, (i64, u64))> = {
            let theirs = other.lock();
            theirs.records.iter().map(|(ip, record)| (*ip, record.entry, record.place)).collect()
        };
        let is_unknown = |entry: &Entry| entry.mac(timing, now_ns).is_none();
        theirs.sort_unstable_by_key(|(_, entry, place)| (is_unknown(entry), *place));
        let mut directory = self.lock();
        let mut effects = Effects::default();
        let has_room = |limit: usize, used: usize| limit == 0 || used < limit;
        for (ip, entry, _) in theirs {
            let room = has_room(entries, directory.records.len());
            let wanted = match is_unknown(&entry) {
                true => !directory.records.contains_key(&ip) && has_room(unknown, directory.unknown.len()),
                false => self.slot(turn, ip).is_none(),
            };
            if room && wanted {
                // Under back-pressure it will be asked for anew.
                let _ = self.enter(turn, &mut directory, &mut effects, (ip, entry), now_ns);
            }
        }
        effects
    }

    /// What became of an address that packets wait for.
    pub(crate) fn resolution(&self, ip: A, now_ns: i64) -> Resolution {
        let timing = self.timing();
        match self.lock().records.get(&ip).map(|record| record.entry) {
            Some(entry) if entry.state(&timing, now_ns) == State::Incomplete => Resolution::Pending,
            Some(entry) => entry.mac(&timing, now_ns).map_or(Resolution::Failed, Resolution::Known),
            None => Resolution::Gone,
        }
    }

    /// Addresses in the table, known or not.
    pub(crate) fn len(&self) -> usize {
        self.lock().records.len()
    }

    /// The table as Click's elements print it: address, whether it is known, Ethernet address and age in seconds, oldest first.
    pub(crate) fn list(&self, now_ns: i64) -> String {
        let mut text = String::new();
        self.for_each(|ip, entry| {
            let known = entry.mac(&self.timing(), now_ns).is_some();
            let age = if A::SHOWS_AGE { format!(" {}000", age(entry, now_ns)) } else { String::new() };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{ip} {} {}{age}", i32::from(known), entry.last_mac());
        });
        text
    }

    /// The table with states: address, Ethernet address or a hyphen, state, age in seconds, oldest first.
    pub(crate) fn states(&self, now_ns: i64) -> String {
        let mut text = String::new();
        self.for_each(|ip, entry| {
            let state = entry.state(&self.timing(), now_ns);
            let mac = match entry.last_mac() {
                mac if state.is_known() => mac.to_string(),
                _ => "-".to_owned(),
            };
            let _ = writeln!(text, "{ip} {mac} {} {}", state.name(), age(entry, now_ns));
        });
        text
    }

    pub(super) fn for_each(&self, mut f: impl FnMut(A, &Entry)) {
        let directory = self.lock();
        let mut all: Vec<_> = directory.records.iter().collect();
        all.sort_unstable_by_key(|(_, record)| record.place);
        all.into_iter().for_each(|(ip, record)| f(*ip, &record.entry));
    }

    /// Packets that wait on all workers, to be changed as they come and go.
    pub(crate) fn waiting(&self) -> &AtomicUsize {
        &self.waiting
    }

    /// Packets that waited in vain, to be counted.
    pub(crate) fn drops(&self) -> &AtomicU64 {
        &self.drops
    }

    /// News that was not believed.
    pub(crate) fn refused(&self) -> &AtomicU64 {
        &self.refused
    }

    fn advice(&self, entry: &Entry, query: Option<Query>, now_ns: i64) -> Advice {
        let timing = &self.timing();
        Advice {
            mac: entry.mac(timing, now_ns),
            query,
            again_ns: entry.again_ns(timing),
            alarm_ns: entry.alarm_ns(timing),
        }
    }

    #[inline]
    fn bucket(&self, ip: A) -> &OptionCell<Bucket<A>> {
        let hash = Address::hash(ip, &self.key) >> 32;
        &self.buckets[((hash * self.buckets.len() as u64) >> 32) as usize]
    }

    #[inline]
    fn slot<'t>(&'t self, turn: Turn<'t>, ip: A) -> Option<&'t Slot<A>> {
        self.bucket(ip).read(turn)?.iter().find(|slot| slot.ip == ip)
    }

    /// Puts an entry in the place of what is known of an address: for packets and in the directory.
    fn enter(
        &self,
        turn: Turn<'_>,
        directory: &mut Directory<A>,
        effects: &mut Effects<A>,
        (ip, mut entry): (A, Entry),
        now_ns: i64,
    ) -> Result<(), Refusal> {
        let timing = &self.timing();
        entry.settle(timing, now_ns);
        let (mac, state) = (entry.mac(timing, now_ns), entry.state(timing, now_ns));
        let attention_ns = entry.attention_ns(timing);
        match (self.slot(turn, ip), mac) {
            (Some(slot), Some(mac)) if slot.mac == mac => slot.attention_ns.store(attention_ns, Relaxed),
            (None, None) => {}
            (_, mac) => self.publish(turn, &directory.updater, ip, mac.map(|mac| (mac, attention_ns)))?,
        }
        let before = directory.records.get(&ip).map(|record| record.entry);
        let kind = if before.is_some() { Kind::Change } else { Kind::Add };
        if before.is_none_or(|old| (old.last_mac(), old.recorded_state()) != (entry.last_mac(), state)) {
            effects.changes.push(Change { kind, ip, mac: entry.last_mac(), state });
        }
        directory.put(ip, entry, state, timing, now_ns);
        if state != State::Incomplete
            && let Some(record) = directory.records.get_mut(&ip)
        {
            effects.wake.append(&mut record.waiters);
        }
        Ok(())
    }

    /// Removes what is known of an address.
    fn drop_record(
        &self,
        turn: Turn<'_>,
        directory: &mut Directory<A>,
        effects: &mut Effects<A>,
        ip: A,
    ) -> Result<(), Refusal> {
        self.publish(turn, &directory.updater, ip, None)?;
        if let Some(mut record) = directory.remove(ip) {
            effects.wake.append(&mut record.waiters);
            let (mac, state) = (record.entry.last_mac(), record.entry.recorded_state());
            effects.changes.push(Change { kind: Kind::Delete, ip, mac, state });
        }
        Ok(())
    }

    /// Replaces, adds or removes the slot of an address. The caller holds the directory's lock: one updater at a time.
    fn publish(
        &self,
        turn: Turn<'_>,
        updater: &Updater,
        ip: A,
        to: Option<(MacAddr, i64)>,
    ) -> Result<(), Refusal> {
        let cell = self.bucket(ip);
        let old = cell.read(turn).map_or(&[][..], |bucket| &**bucket);
        if to.is_none() && !old.iter().any(|slot| slot.ip == ip) {
            return Ok(());
        }
        let slot = |ip, mac, attention_ns| Slot { ip, mac, attention_ns: AtomicI64::new(attention_ns) };
        let others = old.iter().filter(|slot| slot.ip != ip);
        let others = others.map(|other| slot(other.ip, other.mac, other.attention_ns.load(Relaxed)));
        let new: Bucket<A> =
            others.chain(to.map(|(mac, attention_ns)| slot(ip, mac, attention_ns))).collect();
        let new = (!new.is_empty()).then(|| Box::new(new));
        cell.replace(new, updater).map_err(|_| Refusal::Backpressure)
    }

    /// Makes room for one more address, if need be.
    fn make_room(
        &self,
        turn: Turn<'_>,
        directory: &mut Directory<A>,
        effects: &mut Effects<A>,
        now_ns: i64,
        claim: Claim,
    ) -> Result<(), Refusal> {
        let (Limits { entries, unknown, .. }, timing) = (&self.limits(), &self.timing());
        let full = |limit: usize, used: usize| limit > 0 && used >= limit;
        let first = |order: &AgeIndex<A>| order.first_key_value().map(|(place, ip)| (place.0, *ip));
        loop {
            let crowded = claim == Claim::Packet && full(*unknown, directory.unknown.len());
            if !crowded && !full(*entries, directory.records.len()) {
                return Ok(());
            }
            // One that was asked for a moment ago may have its answer on the way.
            let asked = first(&directory.unknown)
                .filter(|&(at_ns, _)| claim == Claim::Administrator || at_ns + timing.grace_ns() <= now_ns);
            // A scan takes no more places of reachable neighbours than these.
            let few = claim == Claim::Packet && directory.unknown.len() < (entries / SEEKERS).max(1);
            let aged = first(&directory.known).filter(|(_, ip)| {
                let state = directory.records.get(ip).map(|record| record.entry.state(timing, now_ns));
                claim == Claim::Administrator || (!crowded && (few || state == Some(State::Stale)))
            });
            let (_, ip) = asked.or(aged).ok_or(Refusal::Full)?;
            self.drop_record(turn, directory, effects, ip)?;
        }
    }

    /// Every change of the directory is complete before anything that could panic.
    fn lock(&self) -> MutexGuard<'_, Directory<A>> {
        self.directory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Addresses that are learned in a second although they were not asked for. Learning one costs many times what forwarding a packet does,
/// and a host that floods a network with its requests is not worth that; a packet for a host that is not learned asks for it.
const UNASKED_PER_SECOND: u32 = 1000;

/// In a full table one place in so many may be taken from reachable neighbours for addresses that are asked for.
const SEEKERS: usize = 16;

/// Who asks for room.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Claim {
    /// A packet for an unknown address.
    Packet,
    /// A neighbour that was not asked.
    News,
    /// An administrator.
    Administrator,
}

/// Seconds since an entry was last confirmed, with three decimals.
fn age(entry: &Entry, now_ns: i64) -> String {
    let age_ms = (now_ns - entry.confirmed_ns()).max(0) / 1_000_000;
    format!("{}.{:03}", age_ms / 1000, age_ms % 1000)
}
