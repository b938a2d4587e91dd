//! The neighbour table: which Ethernet address belongs to which IP address.
//!
//! The table is shared by all workers. What is known is published in hash buckets that RCU protects: a look-up loads
//! one pointer and takes no lock. Everything else (addresses that are asked for, ages, who waits) is in a directory
//! behind a mutex, which is taken by whoever learns an address or meets an unknown one.
//!
//! Packets that wait for an address stay with the worker that has them; the directory only knows whom to wake.

use rcu::{Domain, OptionCell, Turn, Updater};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;
use std::fmt::Write as _;
use std::hash::Hash;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::atomic::{AtomicI64, AtomicU8, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use wire::MacAddr;

/// Buckets of a table: a power of two. 32 KiB; with 65,536 neighbours a look-up scans 16 entries.
const BUCKETS: usize = 4096;

const MS: i64 = 1_000_000;
const SECOND: i64 = 1000 * MS;
/// Time between two queries for one address, and the same after [`PATIENCE`] of them went unanswered.
const QUERY_INTERVAL: [i64; 2] = [100 * MS, 2 * SECOND];
const PATIENCE: u8 = 10;

/// How much a table holds, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    /// Nanoseconds for which an address is believed; 0 for ever.
    pub(super) timeout_ns: i64,
    /// Packets that wait, all together; 0 for no limit.
    pub(super) packets: usize,
    /// Addresses; 0 for no limit.
    pub(super) entries: usize,
    /// Packets that wait for one address, on each worker; 0 for no limit.
    pub(super) entry_packets: usize,
    /// When too many packets wait, one out of this many is dropped.
    pub(super) slim_factor: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { timeout_ns: 300 * SECOND, packets: 2048, entries: 0, entry_packets: 0, slim_factor: 2 }
    }
}

impl Limits {
    /// Packets to which the waiting ones are reduced when they are too many.
    pub(super) fn slim_packets(&self) -> usize {
        (self.packets - self.packets / self.slim_factor.max(1)).max(1)
    }
}

/// Too much memory waits to be reclaimed: the table is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Full;

impl Full {
    /// The sentence for users.
    pub(super) const MESSAGE: &str = "too many changes wait to be reclaimed; try again";
}

/// An element's instance that has packets waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Waiter {
    /// The element.
    pub(super) element: usize,
    /// The worker.
    pub(super) worker: usize,
}

/// What became of an address that packets wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is known.
    Known(MacAddr),
    /// It is still asked for.
    Pending,
    /// Nobody asks for it any more.
    Gone,
}

/// The answer to who meets an unknown address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// It has just become known.
    Known(MacAddr),
    /// Wait; send a query if `query` says so. Ask again at `again_ns`, not before.
    Wait {
        /// Whether it is time for a query.
        query: bool,
        /// When the next query may be sent.
        again_ns: i64,
    },
}

/// An address that neighbours have.
pub(super) trait Address: Copy + Ord + Hash + Display + Send + Sync + 'static {
    /// The address in 32 bits.
    fn fold(self) -> u32;
}

impl Address for Ipv4Addr {
    #[inline]
    fn fold(self) -> u32 {
        self.to_bits()
    }
}

impl Address for Ipv6Addr {
    #[inline]
    fn fold(self) -> u32 {
        let bits = self.to_bits();
        (bits ^ bits >> 32 ^ bits >> 64 ^ bits >> 96) as u32
    }
}

/// One published address. Replaced as a whole when the Ethernet address changes; times change in place.
struct Slot<A> {
    ip: A,
    mac: MacAddr,
    /// Queries sent since the last reply.
    polls: AtomicU8,
    /// When the address was last confirmed.
    live_ns: AtomicI64,
    /// When it was last asked for.
    polled_ns: AtomicI64,
}

impl<A: Address> Slot<A> {
    fn new(ip: A, mac: MacAddr, live_ns: i64) -> Slot<A> {
        let slot = Slot {
            ip,
            mac,
            polls: AtomicU8::new(0),
            live_ns: AtomicI64::new(0),
            polled_ns: AtomicI64::new(0),
        };
        slot.confirm(live_ns);
        slot
    }

    fn copy(&self) -> Slot<A> {
        Slot {
            ip: self.ip,
            mac: self.mac,
            polls: AtomicU8::new(self.polls.load(Relaxed)),
            live_ns: AtomicI64::new(self.live_ns.load(Relaxed)),
            polled_ns: AtomicI64::new(self.polled_ns.load(Relaxed)),
        }
    }

    fn confirm(&self, now_ns: i64) {
        self.live_ns.store(now_ns, Relaxed);
        self.polled_ns.store(now_ns - SECOND, Relaxed);
        self.polls.store(0, Relaxed);
    }

    /// Whether to send a query now: says so to one of several workers that ask.
    #[cold]
    fn claim_poll(&self, now_ns: i64) -> bool {
        let (polled, polls) = (self.polled_ns.load(Relaxed), self.polls.load(Relaxed));
        let due = now_ns >= polled + interval(polls);
        let won = due && self.polled_ns.compare_exchange(polled, now_ns, Relaxed, Relaxed).is_ok();
        if won {
            self.polls.store(polls.saturating_add(1), Relaxed);
        }
        won
    }
}

fn interval(polls: u8) -> i64 {
    QUERY_INTERVAL[usize::from(polls >= PATIENCE)]
}

type Bucket<A> = Box<[Slot<A>]>;

/// What the directory knows about an address.
struct Record {
    mac: MacAddr,
    known: bool,
    live_ns: i64,
    polled_ns: i64,
    polls: u8,
    /// Its place in the order of age.
    place: (i64, u64),
    waiters: Vec<Waiter>,
}

struct Directory<A> {
    records: HashMap<A, Record>,
    /// Addresses by the time of their last sign of life, and for equal times by arrival.
    order: BTreeMap<(i64, u64), A>,
    arrivals: u64,
}

impl<A> Default for Directory<A> {
    fn default() -> Directory<A> {
        Directory { records: HashMap::new(), order: BTreeMap::new(), arrivals: 0 }
    }
}

impl<A: Address> Directory<A> {
    /// The record of an address, made if need be.
    fn ensure(&mut self, ip: A, now_ns: i64) -> &mut Record {
        let (order, arrivals) = (&mut self.order, &mut self.arrivals);
        self.records.entry(ip).or_insert_with(|| {
            *arrivals += 1;
            let place = (now_ns, *arrivals);
            order.insert(place, ip);
            Record {
                mac: MacAddr::BROADCAST,
                known: false,
                live_ns: now_ns,
                polled_ns: now_ns - SECOND,
                polls: 0,
                place,
                waiters: Vec::new(),
            }
        })
    }

    /// Notes a sign of life of an address that has a record.
    fn touch(&mut self, ip: A, at_ns: i64) {
        if let Some(record) = self.records.get_mut(&ip) {
            self.order.remove(&record.place);
            self.arrivals += 1;
            record.place = (at_ns, self.arrivals);
            record.live_ns = at_ns;
            self.order.insert(record.place, ip);
        }
    }

    fn remove(&mut self, ip: A) -> Vec<Waiter> {
        let Some(record) = self.records.remove(&ip) else { return Vec::new() };
        self.order.remove(&record.place);
        record.waiters
    }

    fn oldest(&self) -> Option<(i64, A)> {
        self.order.first_key_value().map(|(&(live_ns, _), &ip)| (live_ns, ip))
    }
}

/// A neighbour table.
pub(super) struct Neighbours<A: Address = Ipv4Addr> {
    limits: Limits,
    buckets: Box<[OptionCell<Bucket<A>>]>,
    directory: Mutex<Directory<A>>,
    /// One at a time: the caller holds the directory's lock.
    updater: Mutex<Updater>,
    /// Packets that wait, on all workers.
    waiting: AtomicUsize,
    /// Packets that waited and were dropped.
    drops: AtomicU64,
}

impl<A: Address> Neighbours<A> {
    /// An empty table.
    pub(super) fn new(limits: Limits) -> Neighbours<A> {
        Neighbours {
            limits,
            buckets: (0..BUCKETS).map(|_| OptionCell::new(None)).collect(),
            directory: Mutex::default(),
            updater: Mutex::new(Domain::global().updater()),
            waiting: AtomicUsize::new(0),
            drops: AtomicU64::new(0),
        }
    }

    /// Its limits.
    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The Ethernet address for an IP address, if it is known; and whether a query should be sent to confirm it, which
    /// is the case at times when it was last confirmed more than `poll_ns` ago (never, if that is 0). Takes no lock.
    #[inline]
    pub(super) fn lookup(&self, turn: Turn<'_>, ip: A, now_ns: i64, poll_ns: i64) -> Option<(MacAddr, bool)> {
        let slot = self.slot(turn, ip)?;
        let live_ns = slot.live_ns.load(Relaxed);
        if self.expired(live_ns, now_ns) {
            return None;
        }
        Some((slot.mac, poll_ns > 0 && now_ns >= live_ns + poll_ns && slot.claim_poll(now_ns)))
    }

    /// Says that packets for an unknown address wait with `waiter`, which is woken when that changes.
    pub(super) fn ask(&self, turn: Turn<'_>, ip: A, now_ns: i64, waiter: Waiter) -> (Asked, Vec<Waiter>) {
        let mut directory = self.lock();
        let evicted = self.make_room(turn, &mut directory, ip);
        let record = directory.ensure(ip, now_ns);
        if record.known && !self.expired(record.live_ns, now_ns) {
            return (Asked::Known(record.mac), evicted);
        }
        record.known = false;
        if !record.waiters.contains(&waiter) {
            record.waiters.push(waiter);
        }
        let query = now_ns >= record.polled_ns + interval(record.polls);
        if query {
            record.polled_ns = now_ns;
            record.polls = record.polls.saturating_add(1);
        }
        let again_ns = record.polled_ns + interval(record.polls);
        // Somebody wants the address: it does not expire just now.
        let oldest_ns = now_ns - self.limits.timeout_ns;
        if self.limits.timeout_ns > 0 && record.live_ns < oldest_ns {
            directory.touch(ip, oldest_ns);
        }
        (Asked::Wait { query, again_ns }, evicted)
    }

    /// Learns an address; the broadcast address stands for "unknown". Returns whom to wake.
    ///
    /// # Errors
    /// [`Full`].
    pub(super) fn insert(
        &self,
        turn: Turn<'_>,
        ip: A,
        mac: MacAddr,
        now_ns: i64,
    ) -> Result<Vec<Waiter>, Full> {
        let mut directory = self.lock();
        let mut wake = self.make_room(turn, &mut directory, ip);
        let known = !mac.is_broadcast();
        match self.slot(turn, ip) {
            Some(slot) if known && slot.mac == mac => slot.confirm(now_ns),
            _ => self.publish(turn, ip, known.then(|| Slot::new(ip, mac, now_ns)))?,
        }
        let record = directory.ensure(ip, now_ns);
        (record.mac, record.known) = (mac, known);
        (record.polled_ns, record.polls) = (now_ns - SECOND, 0);
        if known {
            wake.append(&mut record.waiters);
        }
        directory.touch(ip, now_ns);
        Ok(wake)
    }

    /// Removes addresses that nobody has heard of for too long, and returns whom to wake.
    pub(super) fn expire(&self, turn: Turn<'_>, now_ns: i64) -> Vec<Waiter> {
        let mut directory = self.lock();
        let mut wake = Vec::new();
        while let Some((live_ns, ip)) = directory.oldest() {
            if !self.expired(live_ns, now_ns) || self.publish(turn, ip, None).is_err() {
                break;
            }
            wake.append(&mut directory.remove(ip));
        }
        wake
    }

    /// Forgets everything, and returns whom to wake.
    ///
    /// # Errors
    /// [`Full`]; what comes last is still known then.
    pub(super) fn clear(&self, turn: Turn<'_>) -> Result<Vec<Waiter>, Full> {
        let mut directory = self.lock();
        let mut wake = Vec::new();
        while let Some((_, ip)) = directory.oldest() {
            self.publish(turn, ip, None)?;
            wake.append(&mut directory.remove(ip));
        }
        Ok(wake)
    }

    /// Takes over what another table knows and this one does not; returns whom to wake.
    pub(super) fn adopt(&self, other: &Neighbours<A>, turn: Turn<'_>, now_ns: i64) -> Vec<Waiter> {
        let known: Vec<(A, MacAddr, i64)> = {
            let theirs = other.lock();
            let records = theirs.order.values().filter_map(|ip| theirs.records.get_key_value(ip));
            records.filter(|(_, record)| record.known).map(|(ip, r)| (*ip, r.mac, r.live_ns)).collect()
        };
        let mut wake = Vec::new();
        for (ip, mac, live_ns) in known {
            if self.slot(turn, ip).is_none() && !self.expired(live_ns, now_ns) {
                wake.extend(self.insert(turn, ip, mac, live_ns).unwrap_or_default());
            }
        }
        wake
    }

    /// What became of an address that packets wait for.
    pub(super) fn fate(&self, ip: A, now_ns: i64) -> Fate {
        match self.lock().records.get(&ip) {
            None => Fate::Gone,
            Some(record) if record.known && !self.expired(record.live_ns, now_ns) => Fate::Known(record.mac),
            Some(_) => Fate::Pending,
        }
    }

    /// Addresses in the table, known or asked for.
    pub(super) fn len(&self) -> usize {
        self.lock().records.len()
    }

    /// The table as text: address, whether it is known, Ethernet address and age in seconds, oldest first.
    pub(super) fn list(&self, now_ns: i64) -> String {
        let directory = self.lock();
        let mut text = String::new();
        for (ip, record) in directory.order.values().filter_map(|ip| directory.records.get_key_value(ip)) {
            let known = record.known && !self.expired(record.live_ns, now_ns);
            let age_ms = (now_ns - record.live_ns).max(0) / MS;
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "{ip} {} {} {}.{:03}000",
                i32::from(known),
                record.mac,
                age_ms / 1000,
                age_ms % 1000
            );
        }
        text
    }

    /// Packets that wait on all workers, to be changed as they come and go.
    pub(super) fn waiting(&self) -> &AtomicUsize {
        &self.waiting
    }

    /// Packets that waited in vain, to be counted.
    pub(super) fn drops(&self) -> &AtomicU64 {
        &self.drops
    }

    fn expired(&self, live_ns: i64, now_ns: i64) -> bool {
        self.limits.timeout_ns > 0 && live_ns + self.limits.timeout_ns < now_ns
    }

    #[inline]
    fn bucket(&self, ip: A) -> &OptionCell<Bucket<A>> {
        let hash = ip.fold().wrapping_mul(0x9e37_79b9);
        &self.buckets[(hash >> (32 - BUCKETS.trailing_zeros())) as usize]
    }

    #[inline]
    fn slot<'t>(&'t self, turn: Turn<'t>, ip: A) -> Option<&'t Slot<A>> {
        self.bucket(ip).read(turn)?.iter().find(|slot| slot.ip == ip)
    }

    /// Replaces, adds or removes the slot of an address. The caller holds the directory's lock: one updater at a time.
    fn publish(&self, turn: Turn<'_>, ip: A, slot: Option<Slot<A>>) -> Result<(), Full> {
        let cell = self.bucket(ip);
        let old = cell.read(turn).map_or(&[][..], |bucket| &**bucket);
        if slot.is_none() && !old.iter().any(|slot| slot.ip == ip) {
            return Ok(());
        }
        let others = old.iter().filter(|slot| slot.ip != ip).map(Slot::copy);
        let new: Bucket<A> = others.chain(slot).collect();
        let new = (!new.is_empty()).then(|| Box::new(new));
        let bytes = size_of::<Bucket<A>>() + size_of_val(old);
        let updater = self.updater.lock().unwrap_or_else(PoisonError::into_inner);
        cell.replace_weighing(new, bytes, &*updater).map_err(|_| Full)
    }

    /// Removes the oldest addresses if one more would be too many; returns whom to wake.
    fn make_room(&self, turn: Turn<'_>, directory: &mut Directory<A>, ip: A) -> Vec<Waiter> {
        let mut wake = Vec::new();
        let limit = self.limits.entries;
        while limit > 0 && directory.records.len() >= limit && !directory.records.contains_key(&ip) {
            let Some((_, oldest)) = directory.oldest() else { break };
            if self.publish(turn, oldest, None).is_err() {
                break;
            }
            wake.append(&mut directory.remove(oldest));
        }
        wake
    }

    /// Every change of the directory is complete before anything that could panic.
    fn lock(&self) -> MutexGuard<'_, Directory<A>> {
        self.directory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Op {
        Insert(u8, u8),
        Ask(u8),
        Delete(u8),
        Clear,
        Expire,
        Pass(i64),
    }

    fn ops() -> impl Strategy<Value = Vec<Op>> {
        let op = prop_oneof![
            4 => (0u8..12, 0u8..3).prop_map(|(ip, mac)| Op::Insert(ip, mac)),
            3 => (0u8..12).prop_map(Op::Ask),
            1 => (0u8..12).prop_map(Op::Delete),
            1 => Just(Op::Clear),
            1 => Just(Op::Expire),
            3 => (0i64..5).prop_map(Op::Pass),
        ];
        prop::collection::vec(op, 0..60)
    }

    fn address(ip: u8) -> Ipv4Addr {
        // Multiples of the hash's inverse: all in one bucket.
        Ipv4Addr::from_bits(u32::from(ip).wrapping_mul(0x144c_bc89))
    }

    proptest! {
        /// Look-ups agree with a map that forgets after three seconds.
        #[test]
        fn as_a_map(ops in ops()) {
            let reader = Domain::global().register("test");
            let turn = reader.turn();
            let table = Neighbours::new(Limits { timeout_ns: 3 * SECOND, ..Limits::default() });
            let mut model: HashMap<u8, (MacAddr, i64)> = HashMap::new();
            let mut now = 1000 * SECOND;
            for op in ops {
                match op {
                    Op::Insert(ip, mac) => {
                        let mac = MacAddr([2, 0, 0, 0, 0, mac]);
                        table.insert(turn, address(ip), mac, now).unwrap();
                        model.insert(ip, (mac, now));
                    }
                    Op::Ask(ip) => {
                        let waiter = Waiter { element: 0, worker: 0 };
                        let (asked, _) = table.ask(turn, address(ip), now, waiter);
                        let known = model.get(&ip).filter(|(_, live)| live + 3 * SECOND >= now);
                        match asked {
                            Asked::Known(mac) => prop_assert_eq!(Some(mac), known.map(|known| known.0)),
                            Asked::Wait { .. } => prop_assert!(known.is_none()),
                        }
                    }
                    Op::Delete(ip) => {
                        table.insert(turn, address(ip), MacAddr::BROADCAST, now).unwrap();
                        model.remove(&ip);
                    }
                    Op::Clear => {
                        table.clear(turn).unwrap();
                        model.clear();
                        prop_assert_eq!(table.len(), 0);
                    }
                    Op::Expire => {
                        table.expire(turn, now);
                    }
                    Op::Pass(seconds) => now += seconds * SECOND,
                }
                for ip in 0..12 {
                    let known = model.get(&ip).filter(|(_, live)| live + 3 * SECOND >= now);
                    let found = table.lookup(turn, address(ip), now, 0);
                    prop_assert_eq!(found.map(|found| found.0), known.map(|known| known.0));
                }
                let listed = table.list(now).lines().count();
                prop_assert_eq!(listed, table.len());
            }
        }
    }

    /// Queries for an address go out ten times a second at most, and less often when nobody answers.
    #[test]
    fn query_rate() {
        let reader = Domain::global().register("test");
        let turn = reader.turn();
        let table = Neighbours::new(Limits::default());
        let waiter = Waiter { element: 0, worker: 0 };
        let ip = Ipv4Addr::new(10, 0, 0, 1);
        let mut queries = Vec::new();
        for ms in 0..6000 {
            let (asked, _) = table.ask(turn, ip, ms * MS, waiter);
            if let Asked::Wait { query: true, .. } = asked {
                queries.push(ms);
            }
        }
        assert_eq!(queries, [0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 2900, 4900]);
    }

    /// A known address is confirmed by one worker at a time, once its time has come.
    #[test]
    fn polling() {
        let reader = Domain::global().register("test");
        let turn = reader.turn();
        let table = Neighbours::new(Limits::default());
        let ip = Ipv4Addr::new(10, 0, 0, 1);
        table.insert(turn, ip, MacAddr::ZERO, 0).unwrap();
        let polls = |at_ms| table.lookup(turn, ip, at_ms * MS, 60 * SECOND).unwrap().1;
        assert!(!polls(59_999));
        assert!(polls(60_000) && !polls(60_000) && !polls(60_099) && polls(60_100));
    }

    /// At the limit the oldest address goes, and who waits for it hears of it.
    #[test]
    fn capacity() {
        let reader = Domain::global().register("test");
        let turn = reader.turn();
        let table = Neighbours::new(Limits { entries: 2, ..Limits::default() });
        let waiter = Waiter { element: 7, worker: 1 };
        let ip = |last| Ipv4Addr::new(10, 0, 0, last);
        table.ask(turn, ip(1), 1, waiter);
        table.insert(turn, ip(2), MacAddr::ZERO, 2).unwrap();
        assert_eq!(table.insert(turn, ip(3), MacAddr::ZERO, 3), Ok(vec![waiter]));
        assert_eq!((table.len(), table.fate(ip(1), 3)), (2, Fate::Gone));
        table.insert(turn, ip(2), MacAddr::ZERO, 4).unwrap();
        table.insert(turn, ip(4), MacAddr::ZERO, 5).unwrap();
        assert!(table.lookup(turn, ip(3), 5, 0).is_none() && table.lookup(turn, ip(2), 5, 0).is_some());
    }

    /// While one thread changes the table others never see a wrong address, nor miss one that is always there.
    #[test]
    fn readers_beside_a_writer() {
        let table = Neighbours::new(Limits::default());
        // The last byte tells the neighbours apart; the second one changes.
        let mac = |last: u8, version: u8| MacAddr([2, version, 0, 0, 0, last]);
        let done = std::sync::atomic::AtomicBool::new(false);
        let mut reader = Domain::global().register("writer");
        for last in 0..8 {
            table.insert(reader.turn(), address(last), mac(last, 0), SECOND).unwrap();
        }
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut reader = Domain::global().register("reader");
                    while !done.load(Relaxed) {
                        for last in 0..8 {
                            let found = table.lookup(reader.turn(), address(last), SECOND, 0);
                            assert!(found.is_none_or(|(mac, _)| mac.0[5] == last));
                            assert!(last >= 4 || found.is_some(), "only the others are ever removed");
                        }
                        reader.quiescent();
                    }
                });
            }
            for round in 0..3000u32 {
                let last = (round % 8) as u8;
                let new =
                    if last >= 4 && round % 3 == 0 { MacAddr::BROADCAST } else { mac(last, round as u8) };
                while table.insert(reader.turn(), address(last), new, SECOND).is_err() {
                    reader.synchronize();
                }
                reader.quiescent();
            }
            done.store(true, Relaxed);
        });
    }
}
