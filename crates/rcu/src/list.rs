//! Linked lists, and a hash table of them.
//!
//! # Why it is correct
//!
//! Editors of a list exclude each other by a lock, which readers do not take. The links that a reader follows
//! change by single stores: a link is made to point to a complete new node (insert), to the node after the next
//! (remove), or to a complete new node that points to the node after the next (replace). So a reader finds every
//! value that was in the list during its whole walk, and none twice.
//!
//! *A node's own link never changes once the node is unlinked.* A reader that stands on it continues to the node
//! that followed it then. That one may be unlinked by now, too, but it is not freed under the reader: a node is
//! retired after it was unlinked, when no linked node points to it, and any unlinked node that still does was
//! unlinked earlier. A turn that begins too late to be waited for finds none of them (by the crate's grace-period
//! guarantee for each), and a turn that finds one is waited for.

use std::{
    borrow::Borrow,
    hash::{BuildHasher, Hash, RandomState},
    marker::PhantomData,
    mem::size_of,
    ptr,
    sync::PoisonError,
};

use crate::{
    defer::{Backpressure, Defer, DeferRoom},
    reader::Turn,
    sync::{AtomicPtr, Mutex, MutexGuard, Ordering, ordering},
    weigh::Weigh,
};

struct Node<T> {
    next: Link<T>,
    value: T,
}

/// Null, or a node from a box.
type Link<T> = AtomicPtr<Node<T>>;

/// A linked list that readers walk without waiting while one editor at a time changes it. For other programs: no element of
/// Clique's uses it, whose tables are cells of arrays.
///
/// ```
/// let domain = rcu::Domain::global();
/// let neighbours = rcu::List::new();
/// let updater = domain.updater();
/// let mut edit = neighbours.edit();
/// edit.push_front(("eth1", 20));
/// edit.push_front(("eth0", 10));
/// edit.replace(("eth1", 21), |old| old.0 == "eth1", &updater).unwrap();
/// edit.remove(|old| old.0 == "eth0", &updater).unwrap();
///
/// let guard = domain.guard();
/// assert_eq!(neighbours.iter(guard.turn()).collect::<Vec<_>>(), [&("eth1", 21)]);
/// ```
pub struct List<T: Send + Sync + 'static> {
    head: Link<T>,
    editing: Mutex<()>,
    _owns: PhantomData<Box<Node<T>>>,
}

impl<T: Send + Sync + 'static> List<T> {
    /// An empty list.
    pub fn new() -> Self {
        Self { head: Link::new(ptr::null_mut()), editing: Mutex::new(()), _owns: PhantomData }
    }

    /// The values, as the walk finds them.
    #[inline]
    pub fn iter<'t>(&'t self, turn: Turn<'t>) -> Iter<'t, T> {
        Iter { link: &self.head, _turn: turn }
    }

    /// The right to change the list; waits for the thread that has it. For control threads.
    pub fn edit(&self) -> Edit<'_, T> {
        // A panic in a caller's closure leaves the list whole, since closures run between its single stores.
        let lock = self.editing.lock().unwrap_or_else(PoisonError::into_inner);
        Edit { list: self, _lock: lock }
    }
}

impl<T: Send + Sync + 'static> Drop for List<T> {
    fn drop(&mut self) {
        let mut at = self.head.load(Ordering::Acquire);
        while !at.is_null() {
            // SAFETY: this call has the list alone, so no reader or editor stands on a node; each came from a box.
            at = unsafe { Box::from_raw(at) }.next.load(Ordering::Acquire);
        }
    }
}

impl<T: Send + Sync + 'static> Default for List<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Send + Sync + 'static> std::fmt::Debug for List<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("List { .. }")
    }
}

/// A walk along a list; see [`List::iter`].
pub struct Iter<'t, T> {
    link: &'t Link<T>,
    _turn: Turn<'t>,
}

impl<'t, T> Iterator for Iter<'t, T> {
    type Item = &'t T;

    #[inline]
    fn next(&mut self) -> Option<&'t T> {
        // Acquire: who sees the node sees it initialised.
        let node = self.link.load(ordering!("list_acquire", Acquire));
        // SAFETY: null, or a node that was linked at some moment of this turn (see the module), which it outlives.
        let node: &'t Node<T> = unsafe { node.as_ref() }?;
        self.link = &node.next;
        Some(&node.value)
    }
}

impl<T> std::fmt::Debug for Iter<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Iter { .. }")
    }
}

/// The right to change a list; see [`List::edit`].
pub struct Edit<'l, T: Send + Sync + 'static> {
    list: &'l List<T>,
    _lock: MutexGuard<'l, ()>,
}

impl<'l, T: Send + Sync + 'static> Edit<'l, T> {
    /// Inserts a value before all others.
    pub fn push_front(&mut self, value: T) {
        let head = &self.list.head;
        publish(head, node(value, load(head)));
    }

    /// Replaces the first value that is `wanted`, in one step; readers find the old one or the new one. Gives `new`
    /// back if there is none.
    ///
    /// # Errors
    /// If too much memory waits to be reclaimed, gives `new` back and changes nothing.
    pub fn replace(
        &mut self,
        new: T,
        wanted: impl FnMut(&T) -> bool,
        updater: impl Defer,
    ) -> Result<Option<T>, Backpressure<T>>
    where
        T: Weigh,
    {
        let Some(found) = self.find(wanted) else { return Ok(Some(new)) };
        let Some(room) = room(&found, updater) else { return Err(Backpressure::new(new)) };
        found.exchange(Some(new), room);
        Ok(None)
    }

    /// Removes the first value that is `wanted`. Says whether there was one.
    ///
    /// # Errors
    /// If too much memory waits to be reclaimed, changes nothing.
    pub fn remove(
        &mut self,
        wanted: impl FnMut(&T) -> bool,
        updater: impl Defer,
    ) -> Result<bool, Backpressure<()>>
    where
        T: Weigh,
    {
        let Some(found) = self.find(wanted) else { return Ok(false) };
        let Some(room) = room(&found, updater) else { return Err(Backpressure::new(())) };
        found.exchange(None, room);
        Ok(true)
    }

    /// The first value that is `wanted`.
    fn find(&self, mut wanted: impl FnMut(&T) -> bool) -> Option<LinkedNode<'_, T>> {
        let mut link = &self.list.head;
        loop {
            let at = load(link);
            // SAFETY: null, or linked; only the editor unlinks, and it is here.
            let node = unsafe { at.as_ref() }?;
            if wanted(&node.value) {
                return Some(LinkedNode { link, at });
            }
            link = &node.next;
        }
    }
}

/// Room for freeing a node. Only the editor unlinks nodes, so this one can be weighed before.
fn room<T: Weigh, D: Defer>(LinkedNode { at, .. }: &LinkedNode<'_, T>, updater: D) -> Option<D::Room> {
    // SAFETY: linked, and only the editor unlinks.
    updater.reserve(size_of::<Node<T>>() + unsafe { &**at }.value.heap_bytes())
}

/// A linked node, and the link that names it.
struct LinkedNode<'e, T> {
    link: &'e Link<T>,
    at: *mut Node<T>,
}

impl<T: Send + Sync + 'static> LinkedNode<'_, T> {
    /// Unlinks the node, puts one with the value `new` in its place, if any, and retires it.
    fn exchange(self, new: Option<T>, room: impl DeferRoom) {
        // SAFETY: linked, and only this editor unlinks, so no other thread gives it up.
        let old = unsafe { Box::from_raw(self.at) };
        let next = load(&old.next);
        publish(self.link, new.map_or(next, |value| node(value, next)));
        room.defer(move || drop(old));
    }
}

impl<T: Send + Sync + 'static> std::fmt::Debug for Edit<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Edit { .. }")
    }
}

/// What a link names, for its editor: the lock orders this after the last change.
fn load<T>(link: &Link<T>) -> *mut Node<T> {
    link.load(Ordering::Relaxed)
}

fn node<T>(value: T, next: *mut Node<T>) -> *mut Node<T> {
    Box::into_raw(Box::new(Node { next: Link::new(next), value }))
}

fn publish<T>(link: &Link<T>, node: *mut Node<T>) {
    // Release: who sees the node sees it initialised.
    link.store(node, ordering!("list_release", Release));
}

/// A hash table with a fixed number of chains, each a [`List`]; for other programs, as that is.
///
/// Readers never wait. Updates of keys in different chains do not wait for each other either.
///
/// ```
/// let domain = rcu::Domain::global();
/// let arp = rcu::Chains::new(1024);
/// let updater = domain.updater();
/// arp.insert("192.0.2.1", "00:00:5e:00:53:01", &updater)?;
///
/// let guard = domain.guard();
/// assert_eq!(arp.get("192.0.2.1", guard.turn()), Some(&"00:00:5e:00:53:01"));
/// # Ok::<(), rcu::Backpressure<(&str, &str)>>(())
/// ```
pub struct Chains<K: Send + Sync + 'static, V: Send + Sync + 'static, S = RandomState> {
    chains: Box<[List<(K, V)>]>,
    hasher: S,
}

impl<K: Send + Sync + 'static, V: Send + Sync + 'static, S> std::fmt::Debug for Chains<K, V, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Chains { .. }")
    }
}

impl<K: Hash + Eq + Send + Sync + 'static, V: Send + Sync + 'static> Chains<K, V> {
    /// A table with so many chains, rounded up to a power of two, hashed with a random key.
    pub fn new(chains: usize) -> Self {
        Self::with_hasher(chains, RandomState::new())
    }
}

impl<K: Hash + Eq + Send + Sync + 'static, V: Send + Sync + 'static, S: BuildHasher> Chains<K, V, S> {
    /// [`new`](Chains::new) with another hash function.
    pub fn with_hasher(chains: usize, hasher: S) -> Self {
        Self { chains: (0..chains.next_power_of_two()).map(|_| List::new()).collect(), hasher }
    }

    /// The value of `key` at this moment.
    #[inline]
    pub fn get<'t, Q: Hash + Eq + ?Sized>(&'t self, key: &Q, turn: Turn<'t>) -> Option<&'t V>
    where
        K: Borrow<Q>,
    {
        self.chain(key).iter(turn).find(|(k, _)| k.borrow() == key).map(|(_, value)| value)
    }

    /// Sets the value of `key`. Says whether it replaced one; if so, readers find one of the two at any time.
    ///
    /// # Errors
    /// If it would replace one and too much memory waits to be reclaimed, gives both back and changes nothing.
    pub fn insert(&self, key: K, value: V, updater: impl Defer) -> Result<bool, Backpressure<(K, V)>>
    where
        K: Weigh,
        V: Weigh,
    {
        let mut edit = self.chain(&key).edit();
        let Some(found) = edit.find(|(k, _)| *k == key) else {
            edit.push_front((key, value));
            return Ok(false);
        };
        let Some(room) = room(&found, updater) else { return Err(Backpressure::new((key, value))) };
        found.exchange(Some((key, value)), room);
        Ok(true)
    }

    /// Removes `key`. Says whether it was there.
    ///
    /// # Errors
    /// If too much memory waits to be reclaimed, changes nothing.
    pub fn remove<Q: Hash + Eq + ?Sized>(
        &self,
        key: &Q,
        updater: impl Defer,
    ) -> Result<bool, Backpressure<()>>
    where
        K: Borrow<Q> + Weigh,
        V: Weigh,
    {
        self.chain(key).edit().remove(|(k, _)| k.borrow() == key, updater)
    }

    /// All pairs, as the walk finds them.
    pub fn iter<'t>(&'t self, turn: Turn<'t>) -> impl Iterator<Item = &'t (K, V)> {
        self.chains.iter().flat_map(move |chain| chain.iter(turn))
    }

    /// The chain that a key belongs to, for those who walk the chains of several keys side by side: finding it reads nothing of
    /// it. Keys of others may be in it, too.
    #[inline]
    pub fn chain<Q: Hash + ?Sized>(&self, key: &Q) -> &List<(K, V)> {
        &self.chains[self.hasher.hash_one(key) as usize & (self.chains.len() - 1)]
    }
}
