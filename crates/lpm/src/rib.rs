//! The routes of record behind a fast table: a trie with up to 6 address bits a node, which only writers see.
//!
//! A node at depth `d` with stride `s` holds the prefixes of lengths `d + 1` to `d + s` (the root node also length 0)
//! in the order of a heap: a prefix with `l` bits inside the node has position `2^l + bits`. So position `p` covers
//! positions `2p` and `2p + 1`, and prefixes never get shorter as positions increase.

use crate::prefix::{Key, Prefix};

/// Index of the root node.
pub(crate) const ROOT: u32 = 0;

/// One node of the trie.
#[derive(Default)]
pub(crate) struct Node {
    /// Bit `p` is set if position `p` (1 to 127) has a prefix.
    pub(crate) prefixes: u128,
    /// The ids, in the order of the set bits.
    ids: Vec<u32>,
    /// Bit `s` is set if slot `s` (0 to 63) has a child.
    pub(crate) slots: u64,
    /// The children, in the order of the set bits.
    children: Vec<u32>,
    /// Slots whose child is dirty: the lookup structure below may differ from the routes.
    pub(crate) dirty_slots: u64,
    /// Whether the prefixes of this node have changed.
    pub(crate) dirty: bool,
    /// The leaf the lookup structure was built with for addresses without a match in here.
    pub(crate) inherited: u32,
    /// The entry that stands for this node in the lookup structure.
    pub(crate) entry: u32,
}

/// As the crate's documentation says.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Node>() == 96);

impl Node {
    /// Number of set bits below `bit`.
    fn rank128(bits: u128, bit: u32) -> usize {
        (bits & ((1 << bit) - 1)).count_ones() as usize
    }

    /// Number of set bits below `bit`.
    fn rank64(bits: u64, bit: u32) -> usize {
        (bits & ((1 << bit) - 1)).count_ones() as usize
    }

    /// The child in `slot`.
    pub(crate) fn child(&self, slot: u32) -> Option<u32> {
        (self.slots >> slot & 1 == 1).then(|| self.children[Self::rank64(self.slots, slot)])
    }

    /// The id at heap position `at`.
    fn id(&self, at: u32) -> Option<u32> {
        (self.prefixes >> at & 1 == 1).then(|| self.ids[Self::rank128(self.prefixes, at)])
    }

    /// Whether neither a prefix nor a child is left.
    pub(crate) fn is_empty(&self) -> bool {
        self.prefixes == 0 && self.slots == 0
    }

    fn set(&mut self, at: u32, id: u32) -> Option<u32> {
        let rank = Self::rank128(self.prefixes, at);
        if self.prefixes >> at & 1 == 1 {
            return Some(std::mem::replace(&mut self.ids[rank], id));
        }
        self.ids.insert(rank, id);
        self.prefixes |= 1 << at;
        None
    }

    fn unset(&mut self, at: u32) -> Option<u32> {
        if self.prefixes >> at & 1 == 0 {
            return None;
        }
        let rank = Self::rank128(self.prefixes, at);
        self.prefixes &= !(1 << at);
        Some(self.ids.remove(rank))
    }

    /// Fills `slots` with the leaves of this node's prefixes over the inherited one. `leaf` encodes an id; the
    /// first `2^stride` slots count.
    pub(crate) fn paint(
        &self,
        stride: u32,
        inherited: u32,
        leaf: impl Fn(u32) -> u32,
        slots: &mut [u32; 64],
    ) {
        slots.fill(inherited);
        let mut left = self.prefixes;
        for &id in &self.ids {
            let at = left.trailing_zeros();
            left &= left - 1;
            let width = 1usize << (stride - at.ilog2());
            let first = at as usize * width - (1 << stride);
            slots[first..first + width].fill(leaf(id));
        }
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + 4 * (self.ids.capacity() + self.children.capacity())
    }
}

/// The trie.
pub(crate) struct Rib<K> {
    nodes: Vec<Node>,
    free: Vec<u32>,
    len: usize,
    key: std::marker::PhantomData<K>,
}

/// Where a prefix lives: the depth of its node, and its position there.
fn place<K: Key>(prefix: Prefix<K>) -> (u32, u32) {
    let len = u32::from(prefix.len());
    if len == 0 {
        return (0, 1);
    }
    let depth = K::depth_of(len);
    let inside = len - depth;
    (depth, 1 << inside | prefix.addr().bits(depth, inside) as u32)
}

/// The slots that lead towards `addr`, down to the node at `depth`.
fn slots<K: Key>(addr: K, depth: u32) -> impl Iterator<Item = u32> {
    let mut level = 0;
    std::iter::from_fn(move || {
        let stride = K::stride(level);
        let slot = (level < depth).then(|| addr.bits(level, stride) as u32);
        level += stride;
        slot
    })
}

impl<K: Key> Rib<K> {
    pub(crate) fn new() -> Self {
        Self { nodes: vec![Node::default()], free: Vec::new(), len: 0, key: std::marker::PhantomData }
    }

    pub(crate) fn node(&self, at: u32) -> &Node {
        &self.nodes[at as usize]
    }

    pub(crate) fn node_mut(&mut self, at: u32) -> &mut Node {
        &mut self.nodes[at as usize]
    }

    /// Number of prefixes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Heap memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let spare = (self.nodes.capacity() - self.nodes.len()) * size_of::<Node>();
        self.nodes.iter().map(Node::bytes).sum::<usize>() + spare + 4 * self.free.capacity()
    }

    /// Sets the id of `prefix`, returning the one it had, and marks what has to be rebuilt.
    pub(crate) fn insert(&mut self, prefix: Prefix<K>, id: u32) -> Option<u32> {
        let (depth, at) = place(prefix);
        let mut node = ROOT;
        for slot in slots(prefix.addr(), depth) {
            self.nodes[node as usize].dirty_slots |= 1 << slot;
            node = match self.nodes[node as usize].child(slot) {
                Some(child) => child,
                None => self.add_child(node, slot),
            };
        }
        let node = &mut self.nodes[node as usize];
        node.dirty = true;
        let old = node.set(at, id);
        self.len += usize::from(old.is_none());
        old
    }

    /// Removes `prefix`, returning the id it had, and marks what has to be rebuilt. Emptied nodes stay until
    /// [`Rib::prune`].
    pub(crate) fn remove(&mut self, prefix: Prefix<K>) -> Option<u32> {
        self.get(prefix)?;
        let (depth, at) = place(prefix);
        let mut node = ROOT;
        for slot in slots(prefix.addr(), depth) {
            let parent = &mut self.nodes[node as usize];
            parent.dirty_slots |= 1 << slot;
            node = parent.child(slot)?;
        }
        let node = &mut self.nodes[node as usize];
        node.dirty = true;
        self.len -= 1;
        node.unset(at)
    }

    /// The id of exactly this prefix.
    pub(crate) fn get(&self, prefix: Prefix<K>) -> Option<u32> {
        let (depth, at) = place(prefix);
        let mut node = self.node(ROOT);
        for slot in slots(prefix.addr(), depth) {
            node = self.node(node.child(slot)?);
        }
        node.id(at)
    }

    /// The longest prefix that contains `addr`, and its id.
    pub(crate) fn longest(&self, addr: K) -> Option<(Prefix<K>, u32)> {
        let (mut node, mut depth) = (self.node(ROOT), 0);
        let mut best = None;
        loop {
            let stride = K::stride(depth);
            let inside = stride.min(K::BITS - depth);
            let full = 1 << inside | addr.bits(depth, inside) as u32;
            let hit = (0..=inside).find_map(|up| node.id(full >> up).map(|id| (depth + inside - up, id)));
            best = hit.or(best);
            depth += stride;
            match (depth < K::BITS).then(|| node.child(addr.bits(depth - stride, stride) as u32)).flatten() {
                Some(child) => node = self.node(child),
                None => break,
            }
        }
        best.map(|(len, id)| (Prefix::covering(addr, len as u8), id))
    }

    /// Calls `visit` with every prefix and its id, ordered by address, then by length.
    pub(crate) fn for_each(&self, visit: &mut dyn FnMut(Prefix<K>, u32)) {
        self.walk(ROOT, 0, 0, 1, visit);
    }

    /// Walks position `at` of `node` and what it covers; `left` is the left-aligned path to the node.
    fn walk(&self, node: u32, left: u128, depth: u32, at: u32, visit: &mut dyn FnMut(Prefix<K>, u32)) {
        let inside = at.ilog2();
        let this = self.node(node);
        if let Some(id) = this.id(at) {
            let bits = u128::from(at - (1 << inside)).checked_shl(128 - depth - inside).unwrap_or(0);
            visit(Prefix::covering(K::from_left(left | bits), (depth + inside) as u8), id);
        }
        let stride = K::stride(depth);
        if inside < stride {
            if depth + inside < K::BITS {
                self.walk(node, left, depth, 2 * at, visit);
                self.walk(node, left, depth, 2 * at + 1, visit);
            }
        } else if let Some(child) = this.child(at - (1 << stride)) {
            let bits = u128::from(at - (1 << stride)) << (128 - depth - stride);
            self.walk(child, left | bits, depth + stride, 1, visit);
        }
    }

    /// Whether no prefix is left in `node` and below.
    pub(crate) fn is_hollow(&self, node: u32) -> bool {
        let node = self.node(node);
        node.prefixes == 0 && node.children.iter().all(|&child| self.is_hollow(child))
    }

    fn add_child(&mut self, parent: u32, slot: u32) -> u32 {
        let child = self.free.pop().unwrap_or_else(|| {
            self.nodes.push(Node::default());
            (self.nodes.len() - 1) as u32
        });
        let parent = &mut self.nodes[parent as usize];
        parent.children.insert(Node::rank64(parent.slots, slot), child);
        parent.slots |= 1 << slot;
        // What the child inherits is only known when its parent is painted.
        parent.dirty = true;
        self.nodes[child as usize].dirty = true;
        child
    }

    /// Drops the child in `slot` of `parent`, which must be empty.
    pub(crate) fn prune(&mut self, parent: u32, slot: u32) {
        let parent = &mut self.nodes[parent as usize];
        let child = parent.children.remove(Node::rank64(parent.slots, slot));
        parent.slots &= !(1 << slot);
        debug_assert!(self.nodes[child as usize].is_empty());
        self.nodes[child as usize] = Node::default();
        self.free.push(child);
    }
}
