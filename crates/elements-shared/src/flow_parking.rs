//! Flows that no worker has, since a hot swap has other workers see their packets.
//!
//! A manager parks them by what packets find them by, and the elements behind it park what they keep of each by the flow's [`Id`]. The first
//! packet of such a flow has its worker's instances take both over: the manager gives it a new tag, and remembers which flow that was, so
//! that the elements behind find what they know.

use crate::flow_id::FlowId;
use crate::parked::Parked;
use packet::FlowTag;
use std::any::{Any, TypeId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// A flow among those of all configurations of a process: which manager's it was, and its tag there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Id {
    epoch: u64,
    number: u32,
    generation: u32,
}

/// What packets find a flow by: a map, and addresses and ports.
pub type Name = (u32, FlowId);

/// A flow that waits for its next packet.
pub struct Waiting {
    /// When it had its last one.
    pub seen_ns: i64,
    /// What elements know it by: its tag when it was parked, and those of earlier configurations that some of them have not seen it since.
    ids: Vec<Id>,
}

/// What one element keeps of parked flows.
pub(crate) struct Shelf<T> {
    pub(crate) kept: Parked<Id, T>,
    /// Of flows that have ended since.
    pub(crate) ended: Parked<Id, T>,
}

/// A shelf, whatever is on it.
trait Ends: Any + Send + Sync {
    fn end(&self, id: &Id);
    fn ids(&self) -> Vec<Id>;
    fn is_empty(&self) -> bool;
    fn has(&self, id: &Id) -> bool;
}

impl<T: Send + 'static> Ends for Shelf<T> {
    fn end(&self, id: &Id) {
        if let Some(kept) = self.kept.take(id) {
            self.ended.park(*id, kept);
        }
    }

    fn ids(&self) -> Vec<Id> {
        self.kept.with(|kept| kept.keys().copied().collect())
    }

    fn is_empty(&self) -> bool {
        self.kept.is_empty() && self.ended.is_empty()
    }

    fn has(&self, id: &Id) -> bool {
        self.kept.with(|kept| kept.contains_key(id))
    }
}

type Shelves = BTreeMap<(String, TypeId), Arc<dyn Ends>>;
type Moved = BTreeMap<(u32, u32), Vec<Id>>;

/// What a manager's parking has when another configuration takes over.
#[derive(Default)]
pub struct Leftover {
    flows: BTreeMap<Name, Waiting>,
    moved: Moved,
}

/// Where a manager's flows wait.
pub struct Parking {
    epoch: u64,
    flows: Parked<Name, Waiting>,
    /// The same by the time of their last packets, and some that do not wait any more.
    by_time: Mutex<VecDeque<(i64, Name)>>,
    /// Flows that were parked and are some worker's now, by their tags, with what elements know them by that have not seen them yet.
    moved: Parked<(u32, u32), Vec<Id>>,
    /// [`Self::moved`] of the configuration before, while flows come from there.
    former: Mutex<Moved>,
    shelves: Mutex<Shelves>,
    /// Whether anything was parked when this configuration began to be replaced.
    was_open: OnceLock<bool>,
    expired: AtomicU64,
    is_settled: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Default for Parking {
    fn default() -> Parking {
        static EPOCHS: AtomicU64 = AtomicU64::new(0);
        Parking {
            epoch: EPOCHS.fetch_add(1, Ordering::Relaxed),
            flows: Parked::default(),
            by_time: Mutex::default(),
            moved: Parked::default(),
            former: Mutex::default(),
            shelves: Mutex::default(),
            was_open: OnceLock::new(),
            expired: AtomicU64::new(0),
            is_settled: AtomicBool::new(false),
        }
    }
}

impl Parking {
    /// What a flow with a tag of this configuration is known by.
    pub(crate) fn id(&self, flow: FlowTag) -> Id {
        Id { epoch: self.epoch, number: flow.number, generation: flow.generation }
    }

    /// The shelf of an element.
    pub(crate) fn shelf<T: Send + 'static>(&self, element: &str) -> Arc<Shelf<T>> {
        let mut shelves = lock(&self.shelves);
        let empty = || -> Arc<dyn Ends> {
            Arc::new(Shelf::<T> { kept: Parked::default(), ended: Parked::default() })
        };
        let shelf = shelves.entry((element.to_owned(), TypeId::of::<T>())).or_insert_with(empty).clone();
        let shelf: Arc<dyn Any + Send + Sync> = shelf;
        shelf.downcast().unwrap_or_else(|_| unreachable!("shelves are told apart by types"))
    }

    /// Whether anything is parked, or was when this was first asked. For the configuration that is replaced, whose
    /// elements give their states one after the other.
    pub fn was_open(&self) -> bool {
        *self.was_open.get_or_init(|| {
            let is_empty = self.flows.is_empty() && self.moved.is_empty();
            !is_empty || lock(&self.shelves).values().any(|shelf| !shelf.is_empty())
        })
    }

    /// Takes everything out but what is on shelves, which the elements take.
    pub fn give(&self) -> Leftover {
        self.was_open();
        Leftover { flows: self.flows.take_all(), moved: self.moved.take_all() }
    }

    /// Takes over what was parked in the configuration before.
    pub fn adopt(&self, leftover: Leftover) {
        for (name, waiting) in leftover.flows {
            self.insert(name, waiting);
        }
        lock(&self.former).extend(leftover.moved);
    }

    /// Parks a flow that had a tag of the configuration whose parking is `old`.
    pub fn park(&self, name: Name, old: &Parking, flow: FlowTag, seen_ns: i64) {
        let mut ids = vec![old.id(flow)];
        ids.extend(lock(&self.former).remove(&(flow.number, flow.generation)).into_iter().flatten());
        self.insert(name, Waiting { seen_ns, ids });
    }

    /// Several workers may have had a flow of the same name; the one that had a packet last goes on, with what all of them were known by.
    fn insert(&self, name: Name, mut waiting: Waiting) {
        if let Some(mut other) = self.flows.take(&name) {
            if other.seen_ns > waiting.seen_ns {
                std::mem::swap(&mut other, &mut waiting);
            }
            waiting.ids.append(&mut other.ids);
        }
        self.flows.park(name, waiting);
    }

    /// Flows that wait.
    #[inline]
    pub fn len(&self) -> usize {
        self.flows.len()
    }

    /// Whether none does.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }

    /// Flows whose time was over while they waited, since the configuration began.
    pub fn expired(&self) -> u64 {
        self.expired.load(Ordering::Relaxed)
    }

    /// A worker has begun a flow of this name, with this tag: if it waits here, it is that one.
    #[cold]
    pub fn claim(&self, name: Name, flow: FlowTag) {
        let Some(waiting) = self.flows.take(&name) else { return };
        if !waiting.ids.is_empty() {
            self.moved.park((flow.number, flow.generation), waiting.ids);
        }
    }

    /// What is on an element's shelf of a flow with a tag.
    #[cold]
    pub(crate) fn take<T: Send + 'static>(&self, shelf: &Shelf<T>, flow: FlowTag) -> Option<T> {
        let of = |ids: &Vec<Id>| ids.iter().find_map(|id| shelf.kept.take(id));
        let own = shelf.kept.take(&self.id(flow));
        own.or_else(|| self.moved.with(|moved| moved.get(&(flow.number, flow.generation)).and_then(of)))
    }

    /// A worker's flow has ended.
    #[inline]
    pub fn end(&self, flow: FlowTag) {
        if self.is_settled.load(Ordering::Acquire) {
            let moved = self.moved.take(&(flow.number, flow.generation));
            self.end_all(moved.into_iter().flatten().chain([self.id(flow)]));
        }
    }

    fn end_all(&self, ids: impl IntoIterator<Item = Id>) {
        let shelves = lock(&self.shelves);
        for id in ids {
            shelves.values().for_each(|shelf| shelf.end(&id));
        }
    }

    /// Ends flows that have waited since before a time; looks at `most` of them. Whether there may be more.
    pub fn expire(&self, before_ns: i64, most: usize) -> bool {
        for _ in 0..most {
            let oldest = lock(&self.by_time).pop_front_if(|(seen_ns, _)| *seen_ns <= before_ns);
            let Some((_, name)) = oldest else { return false };
            if let Some(waiting) = self.flows.take(&name) {
                self.expired.fetch_add(1, Ordering::Relaxed);
                self.end_all(waiting.ids);
            }
        }
        true
    }

    /// Everything has come from the configuration before: ends what belongs to no flow that waits or `is_live`, and gives up those that
    /// have waited longest beyond `room`. Says how many those are.
    pub fn settle(&self, room: usize, is_live: impl Fn(FlowTag) -> bool) -> usize {
        lock(&self.former).clear();
        let mut by_time: Vec<_> =
            self.flows.with(|flows| flows.iter().map(|(&name, waiting)| (waiting.seen_ns, name)).collect());
        by_time.sort_unstable();
        let lost = by_time.len().saturating_sub(room);
        by_time.drain(..lost).for_each(|(_, name)| drop(self.flows.take(&name)));
        *lock(&self.by_time) = by_time.into();
        let shelves: Vec<_> = lock(&self.shelves).values().cloned().collect();
        let mut waited = BTreeSet::new();
        self.flows.with(|flows| {
            for waiting in flows.values_mut() {
                if waiting.ids.len() > 1 {
                    waiting.ids.retain(|id| shelves.iter().any(|shelf| shelf.has(id)));
                }
                waited.extend(waiting.ids.iter().copied());
            }
        });
        let is_own = |id: &Id| {
            id.epoch == self.epoch && is_live(FlowTag { number: id.number, generation: id.generation })
        };
        for shelf in &shelves {
            let over = shelf.ids().into_iter().filter(|id| !waited.contains(id) && !is_own(id));
            over.for_each(|id| shelf.end(&id));
        }
        let is_open = !self.flows.is_empty() || shelves.iter().any(|shelf| !shelf.is_empty());
        self.is_settled.store(is_open, Ordering::Release);
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::Ipv4Addr;

    /// A configuration: a manager's parking and flows, and what one element behind it keeps of them.
    #[derive(Default)]
    struct World {
        parking: Parking,
        live: BTreeMap<Name, FlowTag>,
        kept: BTreeMap<(u32, u32), u32>,
        begun: u32,
    }

    impl World {
        /// A packet of a flow, which the element sees or does not; what it has kept so far.
        fn packet(&mut self, name: Name, is_seen: bool, fresh: u32) -> Option<u32> {
            let tag = *self.live.entry(name).or_insert_with(|| {
                self.begun += 1;
                let tag = FlowTag { number: self.begun, generation: 1 };
                self.parking.claim(name, tag);
                tag
            });
            let (shelf, key) = (self.parking.shelf::<u32>("e"), (tag.number, tag.generation));
            let taken = || self.parking.take(&shelf, tag).unwrap_or(fresh);
            is_seen.then(|| *self.kept.entry(key).or_insert_with(taken))
        }

        fn end(&mut self, name: Name) {
            if let Some(tag) = self.live.remove(&name) {
                self.kept.remove(&(tag.number, tag.generation));
                self.parking.end(tag);
            }
        }

        /// The configuration that replaces this one. Elements take over in either order.
        fn replace(self, manager_first: bool) -> World {
            let new = World::default();
            let (old_shelf, shelf) = (self.parking.shelf::<u32>("e"), new.parking.shelf::<u32>("e"));
            let manager = || {
                new.parking.adopt(self.parking.give());
                self.live.iter().for_each(|(&name, &tag)| new.parking.park(name, &self.parking, tag, 0));
            };
            let element = || {
                self.parking.was_open();
                let parked = old_shelf.kept.take_all().into_iter().chain(old_shelf.ended.take_all());
                parked.for_each(|(id, kept)| shelf.kept.park(id, kept));
                for (&(number, generation), &kept) in &self.kept {
                    shelf.kept.park(self.parking.id(FlowTag { number, generation }), kept);
                }
            };
            if manager_first {
                manager();
                element();
            } else {
                element();
                manager();
            }
            assert_eq!(new.parking.settle(1000, |_| false), 0);
            new
        }
    }

    fn name(n: u8) -> Name {
        (17, FlowId::new(Ipv4Addr::from([10, 0, 0, n]), 1, Ipv4Addr::LOCALHOST, 2))
    }

    proptest! {
        /// As one map of what is kept of each flow, whatever is replaced in between, and nothing stays of flows that have ended.
        #[test]
        fn as_one_map(steps in prop::collection::vec((0u8..10, 0u8..6, any::<bool>()), 0..80)) {
            let (mut world, mut model) = (World::default(), BTreeMap::<Name, u32>::new());
            for (at, (what, n, flag)) in steps.into_iter().enumerate() {
                let (name, fresh) = (name(n), at as u32);
                match what {
                    0..6 => {
                        let expected = flag.then(|| *model.entry(name).or_insert(fresh));
                        prop_assert_eq!(world.packet(name, flag, fresh), expected);
                    }
                    6 | 7 => {
                        if world.live.contains_key(&name) {
                            model.remove(&name);
                        }
                        world.end(name);
                    }
                    _ => world = world.replace(flag),
                }
                let shelf = world.parking.shelf::<u32>("e");
                prop_assert_eq!(world.kept.len() + shelf.kept.len(), model.len());
            }
        }
    }

    /// Flows that wait end when their time is over, and what is kept of them is handed back; beyond what there is room for, the oldest go.
    #[test]
    fn those_that_wait_end() {
        let (old, new) = (Parking::default(), Parking::default());
        let shelf = new.shelf::<u8>("e");
        for n in 0..5 {
            let tag = FlowTag { number: u32::from(n) + 1, generation: 1 };
            new.park(name(n), &old, tag, i64::from(n) * 10);
            shelf.kept.park(old.id(tag), n);
        }
        assert_eq!(new.settle(4, |_| false), 1);
        assert_eq!(shelf.ended.take_all().into_values().collect::<Vec<_>>(), [0]);
        new.claim(name(1), FlowTag { number: 9, generation: 7 });
        while new.expire(25, 1) {}
        assert_eq!((new.len(), new.expired()), (2, 1));
        assert_eq!(shelf.ended.take_all().into_values().collect::<Vec<_>>(), [2]);
        assert_eq!(new.take(&shelf, FlowTag { number: 9, generation: 7 }), Some(1));
        assert_eq!(new.take(&shelf, FlowTag { number: 9, generation: 7 }), None);
    }
}
