//! Longest-prefix match in a radix trie whose nodes and routes are protected by RCU: the thesis' route table.
//!
//! The first level has 2⁸ children, the six below it 2⁴ each. A child has a *key*, one more than an index into the
//! [vector](super::vector) of routes, or zero, and possibly a node below. Several prefixes may end within one node; its updater
//! keeps them apart, and each child's key is that of the longest. A look-up walks down and remembers the last key that it met.
//!
//! *Invariants:*
//! 1. Changing a route changes keys in one node only, and each address depends on one of them. So a look-up during one
//!    change finds either what was there before or what came after. (While the routes of two prefixes that cover its address
//!    change, it may find the shorter prefix's old route and miss the longer one: a valid route, which the thesis' policy,
//!    §3.1, allows.)
//! 2. A node is unlinked only when no prefix ends in it and none is below. It is freed after a grace period.
//! 3. An index is used again only a grace period after no key says it (see the vector).
//!
//! *Orderings:* keys and links to nodes are published with *release* and read with *acquire*: a reader of a link
//! sees the node initialised, and a reader of a key sees its route written.
//!
//! *Updaters* exclude each other: by a lock, unless their sections do.

use std::{array, ptr, sync::PoisonError};

use super::vector::Vector;
use crate::{
    flavour::{Flavour, Thread},
    garbage::Garbage,
    sync::{Arc, AtomicPtr, AtomicU32, Mutex, Ordering, ordering},
};

/// Bits that the first level looks at. (A model has a smaller trie.)
const ROOT_BITS: u32 = if cfg!(loom) { 1 } else { 8 };
/// Bits that each level below looks at.
const NODE_BITS: u32 = if cfg!(loom) { 1 } else { 4 };
/// The longest prefix.
const ADDRESS_BITS: u32 = if cfg!(loom) { 2 } else { 32 };

const ROOT: usize = 1 << ROOT_BITS;
const NODE: usize = 1 << NODE_BITS;

/// A table of routes to IPv4 prefixes, over an instance of a flavour.
///
/// Clones are the same table. A thread works on it through a [session](Self::session).
pub struct RouteTable<R: Copy + Send + Sync + 'static, F: Flavour> {
    shared: Arc<Shared<R, F>>,
}

struct Shared<R, F> {
    root: Node<ROOT>,
    routes: Vector<R>,
    instance: F,
    /// Held by updaters whose sections do not exclude each other.
    updating: Mutex<()>,
}

struct Node<const N: usize> {
    children: [Child; N],
    /// For the updater: the key of each prefix that ends here, at `2^length + bits`, lengths counted from this node.
    exact: Box<[AtomicU32]>,
    /// For the updater: how many prefixes end here and how many nodes hang here.
    held: AtomicU32,
}

struct Child {
    key: AtomicU32,
    node: AtomicPtr<Node<NODE>>,
}

/// A prefix, seen from a node: how many of its bits remain, left-aligned.
#[derive(Clone, Copy)]
struct Rest {
    bits: u32,
    len: u32,
}

impl Rest {
    /// The first `n` bits, as a number.
    fn first(self, n: u32) -> usize {
        if n == 0 { 0 } else { (self.bits >> (32 - n)) as usize }
    }

    /// Without the first `n` bits.
    fn below(self, n: u32) -> Self {
        Self { bits: self.bits << n, len: self.len - n }
    }
}

impl<const N: usize> Node<N> {
    const BITS: u32 = N.ilog2();

    fn new() -> Self {
        Self {
            children: array::from_fn(|_| Child {
                key: AtomicU32::new(0),
                node: AtomicPtr::new(ptr::null_mut()),
            }),
            exact: (0..2 * N).map(|_| AtomicU32::new(0)).collect(),
            held: AtomicU32::new(0),
        }
    }

    /// The child for the first bits of an address.
    #[inline]
    fn child(&self, bits: u32) -> &Child {
        &self.children[(bits >> (32 - Self::BITS)) as usize]
    }

    /// Counts what hangs here.
    fn hold(&self, change: i32) {
        self.held.store(self.held.load(Ordering::Relaxed).wrapping_add_signed(change), Ordering::Relaxed);
    }

    /// Sets the key of a prefix that ends here, and returns the former.
    fn set(&self, rest: Rest, key: u32) -> u32 {
        let place = (1 << rest.len) + rest.first(rest.len);
        let old = self.exact[place].load(Ordering::Relaxed);
        if old == key {
            return old;
        }
        self.exact[place].store(key, Ordering::Relaxed);
        self.hold(i32::from(key != 0) - i32::from(old != 0));
        let shift = Self::BITS - rest.len;
        let first = rest.first(rest.len) << shift;
        for slot in first..first + (1 << shift) {
            self.children[slot].key.store(self.longest(slot), ordering!("trie_publish", Release));
        }
        old
    }

    /// The key of the longest prefix that ends here and covers a child.
    fn longest(&self, slot: usize) -> u32 {
        let ending = (0..=Self::BITS).rev();
        let keys =
            ending.map(|len| self.exact[(1 << len) + (slot >> (Self::BITS - len))].load(Ordering::Relaxed));
        keys.into_iter().find(|key| *key != 0).unwrap_or(0)
    }

    /// Sets the key of a prefix here or below, making nodes for a key and unlinking empty ones. Returns the former key.
    ///
    /// # Safety
    /// The caller is the only updater, and retires `unlinked` after its section.
    unsafe fn change(&self, rest: Rest, key: u32, unlinked: &mut Vec<Garbage>) -> u32 {
        if rest.len <= Self::BITS {
            return self.set(rest, key);
        }
        let link = &self.children[rest.first(Self::BITS)].node;
        let mut below = link.load(Ordering::Relaxed);
        if below.is_null() {
            if key == 0 {
                return 0;
            }
            below = Box::into_raw(Box::new(Node::new()));
            self.hold(1);
            link.store(below, ordering!("trie_publish", Release));
        }
        // SAFETY: only the updater unlinks nodes, so this one stays.
        let node = unsafe { &*below };
        // SAFETY: passed on to the caller.
        let old = unsafe { node.change(rest.below(Self::BITS), key, unlinked) };
        if node.held.load(Ordering::Relaxed) == 0 {
            link.store(ptr::null_mut(), Ordering::Relaxed);
            self.hold(-1);
            // SAFETY: made by `Box::into_raw`, unlinked by this thread.
            unlinked.push(unsafe { Garbage::from_raw(below) });
        }
        old
    }

    /// The key of a prefix, for the updater.
    fn find(&self, rest: Rest) -> u32 {
        if rest.len <= Self::BITS {
            return self.exact[(1 << rest.len) + rest.first(rest.len)].load(Ordering::Relaxed);
        }
        // SAFETY: only the updater unlinks nodes.
        let below = unsafe { self.children[rest.first(Self::BITS)].node.load(Ordering::Relaxed).as_ref() };
        below.map_or(0, |node| node.find(rest.below(Self::BITS)))
    }
}

impl<const N: usize> Drop for Node<N> {
    fn drop(&mut self) {
        for child in &self.children {
            let node = child.node.load(Ordering::Acquire);
            if !node.is_null() {
                // SAFETY: a node that is retired has nothing below; so this is the whole trie,
                // which this call has alone.
                drop(unsafe { Box::from_raw(node) });
            }
        }
    }
}

impl<R: Copy + Send + Sync + 'static, F: Flavour> RouteTable<R, F> {
    /// An empty table.
    pub fn new(instance: F) -> Self {
        Self::with_capacity(instance, 16)
    }

    /// An empty table that need not grow before it has so many routes.
    pub fn with_capacity(instance: F, routes: usize) -> Self {
        let shared =
            Shared { root: Node::new(), routes: Vector::new(routes), instance, updating: Mutex::new(()) };
        Self { shared: Arc::new(shared) }
    }

    /// One thread's access to the table.
    pub fn session(&self) -> RouteSession<R, F> {
        let thread = self.shared.instance.register();
        RouteSession { table: self.shared.clone(), thread, unlinked: Vec::new() }
    }
}

impl<R: Copy + Send + Sync + 'static, F: Flavour> Clone for RouteTable<R, F> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<R: Copy + Send + Sync + 'static, F> Shared<R, F> {
    /// # Safety
    /// The caller is in a section.
    #[inline]
    unsafe fn lookup(&self, address: u32) -> Option<R> {
        let mut child = self.root.child(address);
        let mut rest = address << ROOT_BITS;
        let mut key = child.key.load(ordering!("trie_read", Acquire));
        // SAFETY: found by a link within the section, so it is initialised, and not freed before the section ends.
        while let Some(node) = unsafe { child.node.load(ordering!("trie_read", Acquire)).as_ref() } {
            child = node.child(rest);
            rest <<= NODE_BITS;
            match child.key.load(ordering!("trie_read", Acquire)) {
                0 => {}
                longer => key = longer,
            }
        }
        // SAFETY: acquired within the section, published after the route was added.
        (key != 0).then(|| unsafe { self.routes.get(key - 1) })
    }
}

/// One thread's access to a [`RouteTable`].
pub struct RouteSession<R: Copy + Send + Sync + 'static, F: Flavour> {
    table: Arc<Shared<R, F>>,
    thread: F::Thread,
    /// What this thread has unlinked and has still to retire; empty between calls.
    unlinked: Vec<Garbage>,
}

impl<R: Copy + Send + Sync + 'static, F: Flavour> RouteSession<R, F> {
    /// The route of the longest prefix that covers an address.
    #[inline]
    pub fn lookup(&mut self, address: u32) -> Option<R> {
        let _section = self.thread.read();
        // SAFETY: in a section.
        unsafe { self.table.lookup(address) }
    }

    /// Sets the route of a prefix. Returns the former.
    ///
    /// # Panics
    /// If the prefix is longer than an address.
    pub fn insert(&mut self, prefix: u32, len: u32, route: R) -> Option<R> {
        self.update(prefix, len, Some(route))
    }

    /// Removes the route of a prefix. Returns it.
    ///
    /// # Panics
    /// If the prefix is longer than an address.
    pub fn remove(&mut self, prefix: u32, len: u32) -> Option<R> {
        self.update(prefix, len, None)
    }

    fn update(&mut self, prefix: u32, len: u32, route: Option<R>) -> Option<R> {
        assert!(len <= ADDRESS_BITS, "a prefix of {len} bits");
        let rest = Rest { bits: prefix, len };
        let table = &*self.table;
        // Not within the section: who waits for the lock would hold up grace periods.
        let lock = || table.updating.lock().unwrap_or_else(PoisonError::into_inner);
        let alone = (!F::EXCLUSIVE).then(lock);
        let section = self.thread.update();
        // SAFETY: the only updater, by the lock or by the section; `unlinked` is retired below.
        let old = unsafe {
            let key = route.map_or(0, |route| 1 + table.routes.add(route, &mut self.unlinked));
            table.root.change(rest, key, &mut self.unlinked)
        };
        // SAFETY: in use until it is retired below.
        let former = (old != 0).then(|| unsafe { table.routes.get(old - 1) });
        self.unlinked.extend((old != 0).then(|| table.routes.remove(old - 1)));
        drop((section, alone));
        self.unlinked.drain(..).for_each(|garbage| self.thread.retire(garbage));
        former
    }

    /// The route of exactly this prefix.
    ///
    /// # Panics
    /// If the prefix is longer than an address.
    pub fn exact(&mut self, prefix: u32, len: u32) -> Option<R> {
        assert!(len <= ADDRESS_BITS, "a prefix of {len} bits");
        let table = &*self.table;
        let lock = || table.updating.lock().unwrap_or_else(PoisonError::into_inner);
        let alone = (!F::EXCLUSIVE).then(lock);
        let section = self.thread.update();
        let key = table.root.find(Rest { bits: prefix, len });
        // SAFETY: in use, since no other thread updates.
        let route = (key != 0).then(|| unsafe { table.routes.get(key - 1) });
        drop((section, alone));
        route
    }

    /// See [`Thread::quiescent`].
    #[inline]
    pub fn quiescent(&mut self) {
        self.thread.quiescent();
    }

    /// See [`Thread::offline`].
    pub fn offline(&mut self) {
        self.thread.offline();
    }

    /// Waits until all that this session has unlinked is reclaimed.
    pub fn barrier(&mut self) {
        self.thread.barrier();
    }
}

impl<R: Copy + Send + Sync + 'static, F: Flavour> std::fmt::Debug for RouteTable<R, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RouteTable").field("flavour", &F::NAME).finish_non_exhaustive()
    }
}

impl<R: Copy + Send + Sync + 'static, F: Flavour> std::fmt::Debug for RouteSession<R, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RouteSession").field("flavour", &F::NAME).finish_non_exhaustive()
    }
}
