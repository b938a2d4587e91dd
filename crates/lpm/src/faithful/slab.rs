//! Nodes of equal size that never move, reused after a grace period.

use std::collections::VecDeque;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use rcu::{Account, Domain, Token};

/// Nodes of a chunk.
const CHUNK: usize = 1 << 10;

/// A node.
pub(super) type Node<const SLOTS: usize> = [AtomicU32; SLOTS];

/// The nodes. Any thread may read them; one writer at a time may store.
pub(super) struct Slab<const SLOTS: usize> {
    /// Filled from the front. A chunk is published by its `OnceLock`, hence before anything that refers to it.
    chunks: Box<[OnceLock<Box<[Node<SLOTS>]>>]>,
}

/// Hands out nodes and takes them back after a grace period. The writer's.
pub struct Pool {
    domain: &'static Domain,
    free: Vec<u32>,
    /// Nodes below this one have been handed out at least once.
    fresh: u32,
    /// Nodes unlinked since the last grace period was started.
    retired: Vec<u32>,
    /// Nodes that readers may still see, in the order of their grace periods.
    quarantine: VecDeque<(Token, Vec<u32>)>,
    /// Nodes in `quarantine` and `retired`, and the bytes of one.
    waiting: usize,
    node_bytes: usize,
    account: Account,
}

/// Unlinked nodes share a grace period up to this number, unless none is under way.
const SHARE: usize = 64;

impl<const SLOTS: usize> Slab<SLOTS> {
    /// Room for `limit` nodes, rounded up to whole chunks; memory is taken as they are used.
    pub(super) fn new(limit: usize) -> Self {
        Self { chunks: (0..limit.div_ceil(CHUNK)).map(|_| OnceLock::new()).collect() }
    }

    /// The greatest number of nodes.
    pub(super) fn limit(&self) -> usize {
        self.chunks.len() * CHUNK
    }

    /// Bytes of all chunks.
    pub(super) fn bytes(&self) -> usize {
        self.chunks.iter().filter(|chunk| chunk.get().is_some()).count() * CHUNK * size_of::<Node<SLOTS>>()
    }

    /// A node; `None` for one that was never handed out.
    #[inline(always)]
    pub(super) fn node(&self, at: u32) -> Option<&Node<SLOTS>> {
        self.chunks.get(at as usize / CHUNK)?.get()?.get(at as usize % CHUNK)
    }

    /// A node that no reader sees, all of whose slots have this entry; `None` at the limit.
    pub(super) fn take(&self, pool: &mut Pool, entry: u32) -> Option<u32> {
        let at = pool.take();
        let chunk = self.chunks.get(at as usize / CHUNK)?;
        let empty = || std::array::from_fn(|_| AtomicU32::new(0));
        let nodes = chunk.get_or_init(|| (0..CHUNK).map(|_| empty()).collect());
        for slot in &nodes[at as usize % CHUNK] {
            // Relaxed: the updater that publishes the node releases.
            slot.store(entry, Ordering::Relaxed);
        }
        Some(at)
    }
}

impl Pool {
    pub(super) fn new(domain: &'static Domain, node_bytes: usize) -> Self {
        let account = domain.account("route tables");
        let (free, retired, quarantine) = (Vec::new(), Vec::new(), VecDeque::new());
        Self { domain, free, fresh: 0, retired, quarantine, waiting: 0, node_bytes, account }
    }

    /// False if so much waits to be reclaimed that a change is to be refused.
    pub(super) fn may_retire(&self) -> bool {
        self.account.has_room()
    }

    fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.fresh += 1;
            self.fresh - 1
        })
    }

    /// Nodes that could be taken now, of `limit`.
    pub(super) fn room(&self, limit: usize) -> usize {
        self.free.len() + limit.saturating_sub(self.fresh as usize)
    }

    /// Takes back a node that was just unlinked; readers may still be in it.
    pub(super) fn retire(&mut self, node: u32) {
        self.retired.push(node);
        self.waiting += 1;
    }

    /// Starts a grace period for what was unlinked, unless an earlier one is under way and little has come since.
    pub(super) fn seal(&mut self) {
        if !self.retired.is_empty() && (self.quarantine.is_empty() || self.retired.len() >= SHARE) {
            self.quarantine.push_back((self.domain.start(), std::mem::take(&mut self.retired)));
        }
        self.weigh();
    }

    fn weigh(&self) {
        self.account.set(self.waiting * self.node_bytes);
    }

    /// Frees the nodes whose grace periods have passed.
    pub(super) fn reclaim(&mut self) {
        while let Some((token, _)) = self.quarantine.front()
            && self.domain.poll(*token)
            && let Some((_, nodes)) = self.quarantine.pop_front()
        {
            self.waiting -= nodes.len();
            self.free.extend(nodes);
        }
        self.weigh();
    }

    #[cfg(test)]
    pub(super) fn in_use(&self) -> usize {
        self.fresh as usize - self.free.len() - self.waiting
    }
}
