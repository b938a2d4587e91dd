//! Memory of the lookup structure: 64-bit words that never move, read without locks.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::machine::Region;

/// Node memory is counted in chunks of this many words: 512 KiB.
const CHUNK_WORDS: usize = 1 << 16;
/// Most words a block can have: a bitmap and 64 entries of half a word.
const MAX_BLOCK: usize = 33;

/// The words: first those of the root, then blocks and pages. Anybody may read them; one writer at a time may store.
pub(crate) struct Arena {
    region: Region<AtomicU64>,
    root_words: usize,
    limit_words: usize,
}

impl Arena {
    /// An arena with a root, in which blocks and pages can take `limit` bytes, rounded up to whole chunks.
    pub(crate) fn new(root_words: usize, limit: usize) -> Self {
        // An entry has 29 bits for a place.
        let most = (1 << 29) - root_words;
        let limit_words = limit.div_ceil(8).next_multiple_of(CHUNK_WORDS).min(most);
        Self { region: Region::new(root_words + limit_words), root_words, limit_words }
    }

    /// The greatest size in bytes, without the root.
    pub(crate) fn limit(&self) -> usize {
        8 * self.limit_words
    }

    /// Size of the root in bytes.
    pub(crate) fn root_bytes(&self) -> usize {
        8 * self.root_words
    }

    /// All words; their number is a power of two.
    #[inline(always)]
    pub(crate) fn words(&self) -> &[AtomicU64] {
        self.region.words()
    }

    /// The word at `at`, taken modulo the size of it all. `order` is that of a load.
    #[inline(always)]
    pub(crate) fn load(&self, at: u32, order: Ordering) -> u64 {
        let words = self.words();
        words[at as usize & (words.len() - 1)].load(order)
    }

    /// The half of a word, numbered from the start: an entry of the root or a page.
    #[inline(always)]
    pub(crate) fn load_half(&self, half: u32) -> u32 {
        (self.load(half / 2, Ordering::Acquire) >> (32 * (half % 2))) as u32
    }

    /// Stores the word at `at`.
    pub(crate) fn store(&self, at: u32, word: u64, order: Ordering) {
        let words = self.words();
        words[at as usize & (words.len() - 1)].store(word, order);
    }

    /// Stores `value` to `count` halves of words.
    pub(crate) fn fill_halves(&self, first: u32, count: u32, value: u32) {
        let both = u64::from(value) << 32 | u64::from(value);
        let end = first + count;
        let mut half = first;
        while half < end {
            let alone = half % 2 == 1 || half + 1 == end;
            let word = if alone {
                // There is one writer: nobody stores to the other half meanwhile.
                let mask = 0xffff_ffff << (32 * (half % 2));
                self.load(half / 2, Ordering::Relaxed) & !mask | both & mask
            } else {
                both
            };
            self.store(half / 2, word, Ordering::Release);
            half += if alone { 1 } else { 2 };
        }
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
    /// Blocks of more than [`MAX_BLOCK`] words, all of one size, that nobody can see.
    pages: Vec<u32>,
    /// Bit `n` is set if `free[n]` is not empty.
    sizes: u64,
    /// Words that were ever used, without the root.
    used: usize,
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
            pages: Vec::new(),
            sizes: 0,
            used: 0,
            quarantine: VecDeque::new(),
            retired: Vec::new(),
            waiting: 0,
            idle: 0,
        }
    }

    /// A block of 2 to [`MAX_BLOCK`] words, or a page; `None` if the arena is full.
    pub(crate) fn alloc(&mut self, arena: &Arena, words: usize) -> Option<Block> {
        let free = if words <= MAX_BLOCK { self.take(words) } else { self.take_page(words) };
        let at = match free {
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

    fn take_page(&mut self, words: usize) -> Option<u32> {
        let at = self.pages.pop()?;
        self.idle -= words;
        Some(at)
    }

    /// A block from memory that was never used.
    fn cut(&mut self, arena: &Arena, words: usize) -> Option<u32> {
        if self.used + words > arena.limit_words {
            return None;
        }
        let at = arena.root_words + self.used;
        self.used += words;
        Some(at as u32)
    }

    /// Takes back a block that no reader can have seen.
    pub(crate) fn free(&mut self, block: Block) {
        self.idle += block.words as usize;
        match self.free.get_mut(block.words as usize) {
            Some(free) => {
                free.push(block.at);
                self.sizes |= 1 << block.words;
            }
            None => self.pages.push(block.at),
        }
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
        let all = self.used.next_multiple_of(CHUNK_WORDS);
        (8 * (self.used - self.idle - self.waiting), 8 * self.waiting, 8 * all)
    }
}
