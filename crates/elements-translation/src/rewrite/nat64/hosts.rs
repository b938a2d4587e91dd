//! IPv6 hosts by numbers that take the place of IPv4 addresses.
//!
//! The table of flows knows flows by IPv4 addresses and ports. So that a translator between IPv6 and IPv4 can use it, each host that sends
//! from the IPv6 side has a number among addresses that no host has (240.0.0.0/4).
//!
//! Look-ups take no lock. A number is given back in three steps, by [`Sweep`]: no flow has it and no packet of the host came since it was
//! looked; it leaves the index; and a grace period later still no packet has come. A worker notes that a packet came before it makes a
//! flow, in the same turn, so that no flow can have a number that is given back.

use crate::rewrite::index::{Home, Index};
use elements_shared::keyed_hash::HashKey;
use rcu::{Domain, Token, Turn, Updater};
use std::net::Ipv6Addr;
use std::sync::atomic::{
    AtomicU8, AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The first number, and how many there are.
const FIRST: u32 = 0xf000_0000;
const NUMBERS: u32 = 1 << 28;
/// Hosts of the first chunk; each further one has twice as many as the one before.
const FIRST_CHUNK: u32 = 256;
const CHUNKS: usize = 21;

/// Whether an address is a host's number.
#[inline]
pub(super) fn is_number(address: u32) -> bool {
    address >= FIRST
}

/// What a number is.
const FREE: u8 = 0;
/// It is found by the host's address.
const LISTED: u8 = 1;
/// Some flow has it still, and the host has another one.
const ORPHAN: u8 = 2;

/// A host.
#[derive(Default)]
struct Host {
    address: [AtomicU64; 2],
    /// When its last packet came, in seconds.
    seen_s: AtomicU32,
    state: AtomicU8,
}

impl Host {
    fn address(&self) -> [u64; 2] {
        let [high, low] = &self.address;
        [high.load(Relaxed), low.load(Relaxed)]
    }
}

/// What is changed by one worker at a time.
struct Changes {
    updater: Updater,
    next: u32,
    free: Vec<u32>,
}

/// The hosts.
pub(in super::super) struct Hosts {
    key: HashKey,
    index: Index,
    chunks: [OnceLock<Box<[Host]>>; CHUNKS],
    most: AtomicU32,
    changes: Mutex<Changes>,
}

/// A host as another process gets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Left {
    /// Its place among all hosts, from which its number follows.
    pub(super) entry: u32,
    pub(super) address: Ipv6Addr,
    pub(super) seen_s: u32,
    /// Whether its address leads to it. Otherwise some flow may have its number still.
    pub(super) is_listed: bool,
}

/// An address as hosts are found by.
#[inline]
pub(super) fn halves(address: Ipv6Addr) -> [u64; 2] {
    let bits = address.to_bits();
    [(bits >> 64) as u64, bits as u64]
}

fn whole([high, low]: [u64; 2]) -> Ipv6Addr {
    Ipv6Addr::from_bits(u128::from(high) << 64 | u128::from(low))
}

impl Hosts {
    /// None, and room for so many.
    pub(super) fn new(seed: u64, most: i32) -> Hosts {
        let hosts = Hosts {
            key: HashKey::new(seed),
            index: Index::default(),
            chunks: Default::default(),
            most: AtomicU32::new(0),
            changes: Mutex::new(Changes { updater: Domain::global().updater(), next: 0, free: Vec::new() }),
        };
        hosts.set_most(most);
        hosts
    }

    /// Says how many there may be. Those that there are stay.
    pub(super) fn set_most(&self, most: i32) {
        self.most.store(most.max(0).cast_unsigned().min(NUMBERS), Relaxed);
    }

    fn changes(&self) -> MutexGuard<'_, Changes> {
        // A change is complete in the index or not there.
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The chunk of an entry, and its place there.
    #[inline]
    fn place(entry: u32) -> (usize, usize) {
        let number = u64::from(entry) + u64::from(FIRST_CHUNK);
        let chunk = number.ilog2() - FIRST_CHUNK.ilog2();
        (chunk as usize, (number - (u64::from(FIRST_CHUNK) << chunk)) as usize)
    }

    #[inline]
    fn host(&self, entry: u32) -> Option<&Host> {
        let (chunk, at) = Hosts::place(entry);
        self.chunks.get(chunk)?.get()?.get(at)
    }

    fn make_host(&self, entry: u32) -> Option<&Host> {
        let (chunk, at) = Hosts::place(entry);
        let made = || std::iter::repeat_with(Host::default).take((FIRST_CHUNK as usize) << chunk).collect();
        self.chunks.get(chunk)?.get_or_init(made).get(at)
    }

    #[inline]
    fn hash(&self, address: [u64; 2]) -> u64 {
        self.key.hash(address)
    }

    fn hash_of(&self, entry: u32) -> u64 {
        self.host(entry).map_or(0, |host| self.hash(host.address()))
    }

    #[inline]
    fn find_entry(&self, turn: Turn<'_>, address: [u64; 2], hash: u64) -> Option<u32> {
        self.index.find(turn, hash, |entry| self.host(entry).is_some_and(|host| host.address() == address))
    }

    /// The hash of an address, and where the search for it begins: for a caller that searches for many at once.
    #[inline]
    pub(super) fn home<'t>(&'t self, turn: Turn<'t>, address: [u64; 2]) -> (u64, Home<'t>) {
        let hash = self.hash(address);
        (hash, self.index.home(turn, hash))
    }

    /// Asks for an entry's host.
    #[inline]
    pub(super) fn prefetch(&self, entry: u32) {
        if let Some(host) = self.host(entry) {
            packet::prefetch(host);
        }
    }

    /// The same for a number.
    #[inline]
    pub(super) fn prefetch_number(&self, number: u32) {
        if is_number(number) {
            self.prefetch(number & !FIRST);
        }
    }

    /// The number of an entry that a search's home has shown, if it is that of the address.
    #[inline]
    pub(super) fn check(&self, entry: u32, address: [u64; 2]) -> Option<u32> {
        self.host(entry).filter(|host| host.address() == address).map(|_| FIRST | entry)
    }

    /// A host whose number is known sends a packet now: see [`Hosts::meet`].
    #[inline]
    pub(super) fn meet_known(&self, number: u32, now_s: u32) {
        if let Some(host) = self.host(number & !FIRST)
            && host.seen_s.load(Relaxed) != now_s
        {
            host.seen_s.store(now_s, Relaxed);
        }
    }

    /// The number of a host that is known.
    #[inline]
    pub(super) fn find(&self, turn: Turn<'_>, address: Ipv6Addr) -> Option<u32> {
        let address = halves(address);
        self.find_entry(turn, address, self.hash(address)).map(|entry| FIRST | entry)
    }

    /// The number of a host that sends a packet now, which may make a flow in this turn. `None` if there is no room.
    #[inline]
    pub(super) fn meet(&self, turn: Turn<'_>, address: Ipv6Addr, now_s: u32) -> Option<u32> {
        let address = halves(address);
        let hash = self.hash(address);
        let entry = match self.find_entry(turn, address, hash) {
            Some(entry) => entry,
            None => self.add(turn, address, hash, now_s)?,
        };
        let host = self.host(entry)?;
        if host.seen_s.load(Relaxed) != now_s {
            host.seen_s.store(now_s, Relaxed);
        }
        Some(FIRST | entry)
    }

    /// Gives a host a number.
    #[inline(never)]
    fn add(&self, turn: Turn<'_>, address: [u64; 2], hash: u64, now_s: u32) -> Option<u32> {
        let mut changes = self.changes();
        // Another worker may have been quicker.
        if let Some(entry) = self.find_entry(turn, address, hash) {
            return Some(entry);
        }
        let Changes { updater, next, free } = &mut *changes;
        let entry = match free.pop() {
            Some(entry) => entry,
            None if *next < self.most.load(Relaxed) => {
                *next += 1;
                *next - 1
            }
            None => return None,
        };
        let host = self.make_host(entry)?;
        host.address.iter().zip(address).for_each(|(place, half)| place.store(half, Relaxed));
        host.seen_s.store(now_s, Relaxed);
        let hash_of = |entry: u32| self.hash_of(entry);
        if !self.index.insert(turn, updater, hash, entry, &hash_of) {
            free.push(entry);
            return None;
        }
        host.state.store(LISTED, Release);
        Some(entry)
    }

    /// The address of a number's host.
    #[inline]
    pub(super) fn address(&self, number: u32) -> Option<Ipv6Addr> {
        self.host(number.checked_sub(FIRST)?).map(|host| whole(host.address()))
    }

    /// All hosts that have a number, for another process.
    pub(super) fn leave(&self, turn: Turn<'_>) -> Vec<Left> {
        let next = self.changes().next;
        let all = (0..next).filter_map(|entry| {
            let host = self.host(entry).filter(|host| host.state.load(Acquire) != FREE)?;
            let address = host.address();
            // One that has left the index may be there again by another number.
            let is_listed = self.find_entry(turn, address, self.hash(address)) == Some(entry);
            Some(Left { entry, address: whole(address), seen_s: host.seen_s.load(Relaxed), is_listed })
        });
        all.collect()
    }

    /// Goes on with hosts of another process, before the first packet. Those without room are left out, and so are their flows' packets.
    pub(super) fn go_on(&self, turn: Turn<'_>, left: &[Left]) {
        let most = self.most.load(Relaxed);
        let mut changes = self.changes();
        let Changes { updater, next, free } = &mut *changes;
        let fitting = || left.iter().filter(|left| left.entry < most);
        *next = fitting().map(|left| left.entry + 1).max().unwrap_or(0).max(*next);
        for Left { entry, address, seen_s, is_listed } in fitting().copied() {
            let Some(host) = self.make_host(entry) else { continue };
            let address = halves(address);
            host.address.iter().zip(address).for_each(|(place, half)| place.store(half, Relaxed));
            host.seen_s.store(seen_s, Relaxed);
            let hash_of = |entry: u32| self.hash_of(entry);
            let is_listed =
                is_listed && self.index.insert(turn, updater, self.hash(address), entry, &hash_of);
            host.state.store(if is_listed { LISTED } else { ORPHAN }, Release);
        }
        let is_free =
            |entry: &u32| self.make_host(*entry).is_some_and(|host| host.state.load(Relaxed) == FREE);
        free.clear();
        free.extend((0..*next).filter(is_free));
    }

    /// How many numbers are not free.
    pub(super) fn len(&self) -> usize {
        let changes = self.changes();
        changes.next as usize - changes.free.len()
    }
}

/// Looks for numbers that no flow has, in small steps.
#[derive(Default)]
pub(super) struct Sweep {
    /// The second in which it began.
    begun_s: u32,
    /// Numbers that flows have.
    marks: Vec<bool>,
    /// Numbers that have left the index, with the time of their hosts' last packets, and when all readers have forgotten them.
    resting: Option<(Token, Vec<(u32, u32)>)>,
}

impl Sweep {
    /// Begins.
    pub(super) fn begin(&mut self, hosts: &Hosts, now_s: u32) {
        self.begun_s = now_s;
        self.marks.clear();
        self.marks.resize(hosts.changes().next as usize, false);
    }

    /// A flow has this source.
    pub(super) fn mark(&mut self, number: u32) {
        let mark = number.checked_sub(FIRST).and_then(|entry| self.marks.get_mut(entry as usize));
        if let Some(mark) = mark {
            *mark = true;
        }
    }

    /// All flows have been seen: takes the numbers that none has out of the index.
    pub(super) fn unlist(&mut self, hosts: &Hosts, turn: Turn<'_>) {
        let mut gone = Vec::new();
        for (entry, _) in (0u32..).zip(&self.marks).filter(|(_, is_marked)| !**is_marked) {
            let Some(host) = hosts.host(entry) else { continue };
            let (state, seen_s) = (host.state.load(Acquire), host.seen_s.load(Relaxed));
            if state == FREE || seen_s >= self.begun_s {
                continue;
            }
            let hash = hosts.hash_of(entry);
            let _changes = hosts.changes();
            hosts.index.remove(turn, hash, entry);
            gone.push((entry, seen_s));
        }
        self.resting = (!gone.is_empty()).then(|| (Domain::global().start(), gone));
    }

    /// Whether some numbers wait for [`Sweep::free`].
    pub(super) fn is_resting(&self) -> bool {
        self.resting.is_some()
    }

    /// Frees the numbers that have rested long enough; whether there are none left that rest.
    pub(super) fn free(&mut self, hosts: &Hosts, turn: Turn<'_>) -> bool {
        let Some((token, gone)) = self.resting.take_if(|(token, _)| Domain::global().poll(*token)) else {
            return self.resting.is_none();
        };
        let _ = token;
        let mut changes = hosts.changes();
        for (entry, seen_s) in gone {
            let Some(host) = hosts.host(entry) else { continue };
            if host.seen_s.load(Relaxed) == seen_s {
                host.state.store(FREE, Relaxed);
                changes.free.push(entry);
                continue;
            }
            // A packet came by a look-up from before, and may have made a flow.
            let (address, hash) = (host.address(), hosts.hash_of(entry));
            let hash_of = |entry: u32| hosts.hash_of(entry);
            let is_known = hosts.find_entry(turn, address, hash).is_some();
            let is_back = !is_known && hosts.index.insert(turn, &changes.updater, hash, entry, &hash_of);
            host.state.store(if is_back { LISTED } else { ORPHAN }, Relaxed);
        }
        true
    }
}

#[cfg(test)]
#[path = "hosts_tests.rs"]
mod tests;
