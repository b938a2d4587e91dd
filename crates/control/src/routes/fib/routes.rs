//! The routes of one family: by destination, in the order in which they count.

use super::hash::Table;
use super::objects::Objects;
use crate::routes::netlink::Placing;
use elements_shared::route_port::{Change, Destination, NextHopId};
use std::collections::VecDeque;
use std::hash::Hash;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A destination of a family, packed.
pub(super) trait Key: Copy + Eq + Ord + Hash {
    /// The family's number among the families of [`Objects`].
    const FAMILY: usize;

    fn of(address: IpAddr, len: u8) -> Self;
    fn destination(self) -> Destination;
}

/// An IPv4 destination: address, length.
pub(super) type V4 = u64;
/// An IPv6 destination: the halves of its address, length.
pub(super) type V6 = (u64, u64, u8);

impl Key for V4 {
    const FAMILY: usize = 0;

    fn of(address: IpAddr, len: u8) -> V4 {
        match address {
            IpAddr::V4(address) => u64::from(address.to_bits()) << 8 | u64::from(len),
            IpAddr::V6(_) => 0,
        }
    }

    fn destination(self) -> Destination {
        Destination { address: Ipv4Addr::from_bits((self >> 8) as u32).into(), len: self as u8 }
    }
}

impl Key for V6 {
    const FAMILY: usize = 1;

    fn of(address: IpAddr, len: u8) -> V6 {
        match address {
            IpAddr::V4(_) => (0, 0, 0),
            IpAddr::V6(address) => ((address.to_bits() >> 64) as u64, address.to_bits() as u64, len),
        }
    }

    fn destination(self) -> Destination {
        let (high, low, len) = self;
        let address = Ipv6Addr::from_bits(u128::from(high) << 64 | u128::from(low));
        Destination { address: address.into(), len }
    }
}

/// A route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) metric: u32,
    pub(super) object: NextHopId,
    /// The number of what else is known of it.
    pub(super) attributes: u16,
    /// The round of synchronisation in which it was last heard of.
    pub(super) heard: u8,
    pub(super) tos: u8,
}

impl Entry {
    /// Whether the two are the same but for when they were heard of.
    fn is(&self, other: &Entry) -> bool {
        Entry { heard: other.heard, ..*self } == *other
    }
}

/// What lookup elements were told: these, or the number of an object.
const NOTHING: u32 = 0x7fff_ffff;
/// Something that is to be told again.
const SOMETHING: u32 = NOTHING - 1;
/// In the place of an object: there is no route.
const NO_ROUTE: NextHopId = u32::MAX;
/// There are several routes, in the list whose number stands in the place of a metric.
const SEVERAL: NextHopId = u32::MAX - 1;

/// What is known of a destination, in sixteen bytes: nearly all have one route.
#[derive(Clone, Copy, Debug)]
struct Slot {
    entry: Entry,
    /// What lookup elements were told.
    told: u32,
}

impl Slot {
    const EMPTY: Slot =
        Slot { entry: Entry { metric: 0, object: NO_ROUTE, attributes: 0, heard: 0, tos: 0 }, told: NOTHING };
    /// In `told`: the destination waits for [`Routes::changes`].
    const QUEUED: u32 = 1 << 31;

    fn told(&self) -> u32 {
        self.told & !Slot::QUEUED
    }

    fn is_queued(&self) -> bool {
        self.told & Slot::QUEUED != 0
    }
}

/// Why a route is not what lookup elements were told of its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    /// They are told soon.
    Pending,
    /// It is for a type of service.
    Tos,
    /// Nothing that it leads to can be used.
    NoWay,
    /// Another comes before it.
    Beaten,
}

/// How the routes of a destination stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// Each takes the place of the one before.
    One,
    /// As in the kernel: by type of service and metric, and of those with the same in their order.
    Kernel,
}

/// The routes of a family.
#[derive(Debug)]
pub(super) struct Routes<K> {
    slots: Table<K, Slot>,
    /// Routes of destinations that have several.
    lists: Vec<Vec<Entry>>,
    free_lists: Vec<u32>,
    /// The routes of a destination while they are changed.
    scratch: Vec<Entry>,
    /// Destinations that lookup elements are to be told of, perhaps.
    queue: VecDeque<K>,
    /// Those that they were told of last, until that is [done](Routes::done).
    out: Vec<K>,
    /// Destinations that they were told of.
    pub(super) told: usize,
    /// Routes for a type of service.
    pub(super) with_tos: usize,
}

impl<K: Key> Default for Routes<K> {
    fn default() -> Routes<K> {
        Routes {
            slots: Table::default(),
            lists: Vec::new(),
            free_lists: Vec::new(),
            scratch: Vec::new(),
            queue: VecDeque::new(),
            out: Vec::new(),
            told: 0,
            with_tos: 0,
        }
    }
}

/// The routes with the same type of service and metric, in a list that is ordered by them.
fn block(list: &[Entry], of: &Entry) -> std::ops::Range<usize> {
    let order = |entry: &Entry| (entry.tos, entry.metric);
    let start = list.partition_point(|entry| order(entry) < order(of));
    start..list.partition_point(|entry| order(entry) <= order(of))
}

impl<K: Key> Routes<K> {
    /// Destinations.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Destinations that lookup elements are to be told of, perhaps.
    pub(super) fn waiting(&self) -> usize {
        self.queue.len() + self.out.len()
    }

    /// Adds a route, whose object is held for it. Whether that fits to what was known.
    pub(super) fn add(
        &mut self,
        key: K,
        entry: Entry,
        placing: Placing,
        style: Style,
        objects: &mut Objects,
    ) -> bool {
        self.edit(key, objects, |list, objects| match style {
            Style::One => {
                list.drain(..).for_each(|old| objects.release(old.object));
                list.push(entry);
                true
            }
            Style::Kernel if tells_again(list, &entry, placing, objects) => true,
            Style::Kernel if K::FAMILY == 0 => place(list, entry, placing, objects),
            Style::Kernel => super::v6::place(list, entry, placing, objects),
        })
    }

    /// Removes a route, whose object is held for the question. Whether it was known.
    pub(super) fn remove(&mut self, key: K, entry: Entry, style: Style, objects: &mut Objects) -> bool {
        let known = self.slots.contains_key(&key)
            && self.edit(key, objects, |list, objects| match style {
                Style::One => {
                    list.drain(..).for_each(|old| objects.release(old.object));
                    true
                }
                Style::Kernel => take(list, &entry, K::FAMILY == 1, objects),
            });
        objects.release(entry.object);
        known
    }

    /// Changes the routes of a destination.
    fn edit(
        &mut self,
        key: K,
        objects: &mut Objects,
        edit: impl FnOnce(&mut Vec<Entry>, &mut Objects) -> bool,
    ) -> bool {
        let slot = self.slots.entry(key).or_insert(Slot::EMPTY);
        let mut list = match slot.entry.object {
            SEVERAL => {
                self.free_lists.push(slot.entry.metric);
                std::mem::take(&mut self.lists[slot.entry.metric as usize])
            }
            NO_ROUTE => std::mem::take(&mut self.scratch),
            _ => {
                let mut list = std::mem::take(&mut self.scratch);
                list.push(slot.entry);
                list
            }
        };
        let with_tos = |list: &[Entry]| list.iter().filter(|entry| entry.tos != 0).count();
        self.with_tos -= with_tos(&list);
        let fits = edit(&mut list, objects);
        self.with_tos += with_tos(&list);
        match list[..] {
            [] | [_] => {
                slot.entry = list.pop().unwrap_or(Slot::EMPTY.entry);
                self.scratch = list;
            }
            _ => {
                let at = self.free_lists.pop().unwrap_or(self.lists.len() as u32);
                if at as usize == self.lists.len() {
                    self.lists.push(Vec::new());
                }
                self.lists[at as usize] = list;
                slot.entry = Entry { metric: at, object: SEVERAL, ..Slot::EMPTY.entry };
            }
        }
        queue(&mut self.queue, key, slot, &self.lists, objects);
        fits
    }

    /// All destinations whose routes may be used now, or not any more, are looked at again.
    pub(super) fn requeue(&mut self, objects: &Objects) {
        let start = self.queue.len();
        for (&key, slot) in &mut self.slots {
            queue(&mut self.queue, key, slot, &self.lists, objects);
        }
        // In order, so that tables are changed place by place.
        self.queue.make_contiguous()[start..].sort_unstable();
    }

    /// Removes the routes that were not heard of in so many rounds, of which this is the last; how many they were.
    pub(super) fn sweep(&mut self, round: u8, rounds: u8, objects: &mut Objects) -> usize {
        let heard = |entry: Entry| round.wrapping_sub(entry.heard) < rounds || entry.object == NO_ROUTE;
        let several = |entry: Entry| entry.object == SEVERAL;
        let lists = &self.lists;
        let all_heard = |slot: &Slot| match several(slot.entry) {
            true => lists[slot.entry.metric as usize].iter().all(|entry| heard(*entry)),
            false => heard(slot.entry),
        };
        let old: Vec<K> =
            self.slots.iter().filter(|(_, slot)| !all_heard(slot)).map(|(key, _)| *key).collect();
        let mut swept = 0;
        for key in old {
            self.edit(key, objects, |list, objects| {
                let before = list.len();
                list.iter().filter(|entry| !heard(**entry)).for_each(|entry| objects.release(entry.object));
                list.retain(|entry| heard(*entry));
                swept += before - list.len();
                true
            });
        }
        swept
    }

    /// Up to so many changes.
    pub(super) fn changes(&mut self, most: usize, objects: &mut Objects, to: &mut Vec<Change>) {
        for _ in 0..most.min(self.queue.len()) {
            let Some(key) = self.queue.pop_front() else { break };
            let Some(slot) = self.slots.get_mut(&key) else { continue };
            slot.told &= !Slot::QUEUED;
            let (old, new) = (slot.told(), wanted::<K>(slot, &self.lists, objects));
            if old == new {
                if new == NOTHING && slot.entry.object == NO_ROUTE {
                    self.slots.remove(&key);
                }
                continue;
            }
            slot.told = new;
            if new == NOTHING {
                to.push(Change::Withdraw(key.destination()));
            } else {
                objects.lead_to(K::FAMILY, new, to);
                to.push(Change::Route(key.destination(), new));
            }
            self.told = self.told + usize::from(new != NOTHING) - usize::from(old != NOTHING);
            if old != NOTHING && old != SOMETHING {
                objects.lead_away(K::FAMILY, old);
            }
            self.out.push(key);
        }
    }

    /// Up to so many destinations in order, from one on.
    pub(super) fn in_order(&self, from: Option<K>, most: usize) -> Vec<K> {
        let is_here = |(_, slot): &(&K, &Slot)| slot.entry.object != NO_ROUTE;
        let keys = self.slots.iter().filter(is_here).map(|(key, _)| *key);
        let mut keys: Vec<K> = keys.filter(|key| from.is_none_or(|from| *key >= from)).collect();
        if keys.len() > most && most > 0 {
            keys.select_nth_unstable(most - 1);
        }
        keys.truncate(most);
        keys.sort_unstable();
        keys
    }

    /// The routes of a destination, and why each is not used, if it is not.
    pub(super) fn standing(&self, key: K, objects: &Objects) -> Vec<(Entry, Option<Doubt>)> {
        let Some(slot) = self.slots.get(&key) else { return Vec::new() };
        let list = match slot.entry.object {
            NO_ROUTE => return Vec::new(),
            SEVERAL => &self.lists[slot.entry.metric as usize][..],
            _ => std::slice::from_ref(&slot.entry),
        };
        let is_used = |entry: &&Entry| entry.tos == 0 && objects.is_usable(K::FAMILY, entry.object);
        let first = list.iter().position(|entry| is_used(&entry));
        let doubt = |at: usize, entry: &Entry| match () {
            () if entry.tos != 0 => Some(Doubt::Tos),
            () if !objects.is_usable(K::FAMILY, entry.object) => Some(Doubt::NoWay),
            () if first != Some(at) => Some(Doubt::Beaten),
            () => (slot.told() != entry.object).then_some(Doubt::Pending),
        };
        list.iter().enumerate().map(|(at, entry)| (*entry, doubt(at, entry))).collect()
    }

    /// Lookup elements were told of the changes.
    pub(super) fn done(&mut self) {
        for key in std::mem::take(&mut self.out) {
            let over = |slot: &Slot| slot.entry.object == NO_ROUTE && slot.told == NOTHING;
            if self.slots.get(&key).is_some_and(over) {
                self.slots.remove(&key);
            }
        }
    }

    /// What lookup elements were told last they may not have heard: it is told again.
    pub(super) fn undo(&mut self, objects: &mut Objects) {
        for key in std::mem::take(&mut self.out).into_iter().rev() {
            let Some(slot) = self.slots.get_mut(&key) else { continue };
            let old = slot.told();
            if old == NOTHING {
                self.told += 1;
            } else if old != SOMETHING {
                objects.lead_away(K::FAMILY, old);
            }
            if !slot.is_queued() {
                self.queue.push_front(key);
            }
            slot.told = SOMETHING | Slot::QUEUED;
        }
    }

    /// Lookup elements are others, who know nothing but what they took over: they are told everything.
    pub(super) fn forget(&mut self, objects: &Objects) {
        for slot in self.slots.values_mut().filter(|slot| slot.told() != NOTHING) {
            slot.told = SOMETHING | slot.told & Slot::QUEUED;
        }
        self.requeue(objects);
    }
}

/// The object that the first route leads to that is used. Routes for a type of service are not.
fn wanted<K: Key>(slot: &Slot, lists: &[Vec<Entry>], objects: &Objects) -> u32 {
    let list = match slot.entry.object {
        NO_ROUTE => return NOTHING,
        SEVERAL => &lists[slot.entry.metric as usize][..],
        _ => std::slice::from_ref(&slot.entry),
    };
    let used = list.iter().find(|entry| entry.tos == 0 && objects.is_usable(K::FAMILY, entry.object));
    used.map_or(NOTHING, |entry| entry.object)
}

/// Lookup elements are to be told of a destination if they know it otherwise, or it may be forgotten.
fn queue<K: Key>(to: &mut VecDeque<K>, key: K, slot: &mut Slot, lists: &[Vec<Entry>], objects: &Objects) {
    let is_over = slot.entry.object == NO_ROUTE && slot.told() == NOTHING;
    if !slot.is_queued() && (is_over || wanted::<K>(slot, lists, objects) != slot.told()) {
        slot.told |= Slot::QUEUED;
        to.push_back(key);
    }
}

/// Places a route among the others of its destination as the kernel does (`fib_table_insert`). Whether it fits.
pub(super) fn place(list: &mut Vec<Entry>, entry: Entry, placing: Placing, objects: &mut Objects) -> bool {
    let mut among = block(list, &entry);
    if placing == Placing::Replace && !among.is_empty() {
        let old = std::mem::replace(&mut list[among.start], entry);
        objects.release(old.object);
        return true;
    }
    let fits = match placing {
        Placing::Only => among.is_empty(),
        Placing::Last => !among.is_empty(),
        Placing::Replace => false,
        Placing::First | Placing::Listed => true,
    };
    let others = among.clone().rev();
    for at in others.filter(|_| placing != Placing::Replace) {
        // The kernel says that there is no other: then those that are known have gone unsaid.
        if placing == Placing::Only || list[at].is(&entry) {
            objects.release(list.remove(at).object);
            among.end -= 1;
        }
    }
    list.insert(place_in(list, among, &entry, placing), entry);
    fits
}

/// Whether a message only says that the object of a route is another way: the kernel tells of the routes that lead to a next-hop object
/// which is replaced as if they were replaced themselves. Such a route stays where it is.
fn tells_again(list: &mut [Entry], entry: &Entry, placing: Placing, objects: &mut Objects) -> bool {
    if placing != Placing::Replace || !objects.is_named(entry.object) {
        return false;
    }
    let Some(known) = list.iter_mut().find(|known| known.is(entry)) else { return false };
    objects.release(std::mem::replace(known, *entry).object);
    true
}

/// Where a route has its place among those with the same metric.
pub(super) fn place_in(
    list: &[Entry],
    among: std::ops::Range<usize>,
    entry: &Entry,
    placing: Placing,
) -> usize {
    match placing {
        Placing::Last => among.end,
        // After those that were listed before, whose order is that of the list.
        Placing::Listed => {
            let listed = list[among.clone()].iter().rposition(|other| other.heard == entry.heard);
            listed.map_or(among.start, |at| among.start + at + 1)
        }
        _ => among.start,
    }
}

/// Takes a route from a list. Whether it was there.
fn take(list: &mut Vec<Entry>, entry: &Entry, is_v6: bool, objects: &mut Objects) -> bool {
    let among = block(list, entry);
    let find = |is: &dyn Fn(&Entry) -> bool| among.clone().find(|&at| is(&list[at]));
    let same_way = |other: &Entry| {
        objects.are_namesakes(other.object, entry.object)
            || super::v6::lead_alike(objects, other.object, entry.object)
    };
    let found = find(&|other| other.is(entry))
        .or_else(|| find(&|other| other.object == entry.object))
        .or_else(|| find(&same_way));
    match found {
        Some(at) => {
            objects.release(list.remove(at).object);
            true
        }
        None => is_v6 && super::v6::take_hops(list, among, entry, objects),
    }
}

/// The routes with the same metric as one.
pub(super) fn alike(list: &[Entry], entry: &Entry) -> std::ops::Range<usize> {
    block(list, entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A route takes 24 bytes, one of IPv6 40, and what a hash table leaves empty.
    #[test]
    fn a_million_routes_are_small() {
        assert_eq!((size_of::<(V4, Slot)>(), size_of::<(V6, Slot)>()), (24, 40));
    }
}
