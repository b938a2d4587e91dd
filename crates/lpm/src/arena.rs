//! Memory of the lookup structure: 64-bit words in chunks that never move, read without locks.

use std::collections::VecDeque;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// log2 of the words of a chunk: 512 KiB each.
const CHUNK_SHIFT: u32 = 16;
/// Words of a chunk.
pub(crate) const CHUNK_WORDS: usize = 1 << CHUNK_SHIFT;
/// Most words a block can have: a bitmap and 64 entries of half a word.
pub(crate) const MAX_BLOCK: usize = 33;

pub(crate) type Chunk = [AtomicU64; CHUNK_WORDS];

/// The words. Anybody may read them; one writer at a time may store.
pub(crate) struct Arena {
    /// Filled from the front. A chunk is published by its `OnceLock`, hence before anything that refers to it.
    chunks: Box<[OnceLock<Box<Chunk>>]>,
}

impl Arena {
    /// An arena that can grow to `limit` bytes, rounded up to whole chunks.
    pub(crate) fn new(limit: usize) -> Self {
        let chunks = limit.div_ceil(8 * CHUNK_WORDS).min(1 << (31 - CHUNK_SHIFT));
        Self { chunks: (0..chunks).map(|_| OnceLock::new()).collect() }
    }

    /// The greatest size in bytes.
    pub(crate) fn limit(&self) -> usize {
        self.chunks.len() * CHUNK_WORDS * 8
    }

    /// The chunk that word `at` is in, and the word's place there; `None` where nothing reachable refers to.
    /// Blocks do not cross chunks.
    #[inline(always)]
    pub(crate) fn chunk(&self, at: u32) -> Option<(&Chunk, usize)> {
        let chunk = self.chunks.get((at >> CHUNK_SHIFT) as usize).and_then(OnceLock::get)?;
        Some((chunk, at as usize % CHUNK_WORDS))
    }

    /// The word at `at`, for the writer.
    pub(crate) fn load(&self, at: u32) -> u64 {
        self.chunk(at).map_or(0, |(chunk, at)| chunk[at].load(Ordering::Relaxed))
    }

    /// Stores the word at `at`.
    pub(crate) fn store(&self, at: u32, word: u64, order: Ordering) {
        if let Some((chunk, at)) = self.chunk(at) {
            chunk[at].store(word, order);
        }
    }

    /// Adds chunk number `index`; false if the limit is reached.
    fn grow(&self, index: usize) -> bool {
        let Some(chunk) = self.chunks.get(index) else { return false };
        chunk.get_or_init(|| {
            let words: Box<[AtomicU64]> = (0..CHUNK_WORDS).map(|_| AtomicU64::new(0)).collect();
            words.try_into().unwrap_or_else(|_| unreachable!("collected CHUNK_WORDS words"))
        });
        true
    }
}

/// A run of words: its start and its number of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) at: u32,
    pub(crate) words: u32,
}

/// A grace period that was started and can be asked for. `rcu::Domain` in production.
pub(crate) trait Grace {
    /// Names a grace period that begins now.
    type Token: Copy;
    fn start(&self) -> Self::Token;
    /// Whether every reader of the time of `start` has since been quiescent.
    fn passed(&self, token: Self::Token) -> bool;
}

/// Hands out blocks of an [`Arena`] and takes them back after a grace period. The writer's.
pub(crate) struct Allocator<T> {
    /// `free[n]` holds blocks of `n` words that nobody can see.
    free: [Vec<u32>; MAX_BLOCK + 1],
    /// Bit `n` is set if `free[n]` is not empty.
    sizes: u64,
    /// The unused rest of the newest chunk.
    fresh: u32,
    fresh_end: u32,
    chunks: usize,
    /// Blocks that readers may still see, in the order of their grace periods.
    quarantine: VecDeque<(T, Vec<Block>)>,
    /// Blocks retired since the last grace period was started.
    retired: Vec<Block>,
    /// Words in `quarantine` and `retired`.
    waiting: usize,
    /// Words on the free lists.
    idle: usize,
}

/// Retired blocks share a grace period up to this number, unless none is under way.
const SHARE: usize = 64;

impl<T: Copy> Allocator<T> {
    pub(crate) fn new() -> Self {
        Self {
            free: std::array::from_fn(|_| Vec::new()),
            sizes: 0,
            fresh: 0,
            fresh_end: 0,
            chunks: 0,
            quarantine: VecDeque::new(),
            retired: Vec::new(),
            waiting: 0,
            idle: 0,
        }
    }

    /// A block of 2 to [`MAX_BLOCK`] words, or `None` if the arena is full.
    pub(crate) fn alloc(&mut self, arena: &Arena, words: usize) -> Option<Block> {
        debug_assert!((2..=MAX_BLOCK).contains(&words));
        let at = match self.take(words) {
            Some(at) => at,
            None => self.cut(arena, words)?,
        };
        Some(Block { at, words: words as u32 })
    }

    /// A free block of exactly this size, or the front of a larger one.
    fn take(&mut self, words: usize) -> Option<u32> {
        // A rest of one word would be lost: no block is that small.
        let fitting = self.sizes & (u64::MAX << words) & !(1 << (words + 1));
        if fitting == 0 {
            return None;
        }
        let size = fitting.trailing_zeros() as usize;
        let at = self.free[size].pop()?;
        self.idle -= size;
        if self.free[size].is_empty() {
            self.sizes &= !(1 << size);
        }
        if size > words {
            self.free(Block { at: at + words as u32, words: (size - words) as u32 });
        }
        Some(at)
    }

    /// A block from memory that was never used.
    fn cut(&mut self, arena: &Arena, words: usize) -> Option<u32> {
        if ((self.fresh_end - self.fresh) as usize) < words {
            if !arena.grow(self.chunks) {
                return None;
            }
            if self.fresh_end - self.fresh >= 2 {
                self.free(Block { at: self.fresh, words: self.fresh_end - self.fresh });
            }
            self.fresh = (self.chunks * CHUNK_WORDS) as u32;
            self.fresh_end = self.fresh + CHUNK_WORDS as u32;
            self.chunks += 1;
        }
        let at = self.fresh;
        self.fresh += words as u32;
        Some(at)
    }

    /// Takes back a block that no reader can have seen.
    pub(crate) fn free(&mut self, block: Block) {
        self.free[block.words as usize].push(block.at);
        self.sizes |= 1 << block.words;
        self.idle += block.words as usize;
    }

    /// Takes back a block that was just unlinked; readers may still be in it.
    pub(crate) fn retire(&mut self, block: Block) {
        self.waiting += block.words as usize;
        self.retired.push(block);
    }

    /// Starts a grace period for what was retired, unless an earlier one is under way and little has come since.
    pub(crate) fn seal(&mut self, grace: &impl Grace<Token = T>) {
        if !self.retired.is_empty() && (self.quarantine.is_empty() || self.retired.len() >= SHARE) {
            self.quarantine.push_back((grace.start(), std::mem::take(&mut self.retired)));
        }
    }

    /// Frees the blocks whose grace periods have passed.
    pub(crate) fn reclaim(&mut self, grace: &impl Grace<Token = T>) {
        while let Some(&(token, _)) = self.quarantine.front() {
            if !grace.passed(token) {
                return;
            }
            for block in self.quarantine.pop_front().map(|(_, blocks)| blocks).unwrap_or_default() {
                self.waiting -= block.words as usize;
                self.free(block);
            }
        }
    }

    /// Bytes of blocks in use, of blocks that wait for a grace period, and of all chunks.
    pub(crate) fn bytes(&self) -> (usize, usize, usize) {
        let all = self.chunks * CHUNK_WORDS;
        let spare = self.idle + (self.fresh_end - self.fresh) as usize;
        (8 * (all - spare - self.waiting), 8 * self.waiting, 8 * all)
    }
}
