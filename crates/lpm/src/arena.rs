//! Memory of the lookup structure: 64-bit words that never move, read without locks.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::machine::region::{Region, Spot};

/// Node memory is counted in chunks of this many words: 512 KiB.
const CHUNK_WORDS: usize = 1 << 16;
/// Words of a cache line. No block of so few words lies in two, and longer ones begin one: lookups wait for one line less.
const LINE: usize = 8;
/// Most words a block can have: a bitmap and 64 entries of half a word.
const MAX_BLOCK: usize = 33;

/// The words: first those of the root, then blocks and pages. Any thread may read them; one writer at a time may store.
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

    /// The word that begins `bytes` from the start, rounded down, modulo the size of it all.
    #[inline(always)]
    pub(crate) fn spot(&self, bytes: u32) -> Spot<'_> {
        self.region.spot(bytes)
    }

    /// Asks for the cache line of the half of a word.
    #[inline(always)]
    pub(crate) fn prefetch_half(&self, half: u32) {
        self.region.prefetch(4 * half as usize);
    }

    /// The half of a word, numbered from the start: an entry of the root or a page.
    #[inline(always)]
    pub(crate) fn load_half(&self, half: u32) -> u32 {
        self.region.half(half)
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
                // There is one writer: no other thread stores to the other half meanwhile.
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
    /// `free[n]` holds blocks of `n` words that no reader can see.
    free: [Vec<u32>; MAX_BLOCK + 1],
    /// Blocks of more than [`MAX_BLOCK`] words, all of one size, that no reader can see.
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

/// The sizes of free blocks from whose front a block of `words` can be taken: a bit for each. No piece of one word is left, since
/// no block is that small.
fn divisible(words: usize) -> u64 {
    let exact = 1 << words;
    if words % LINE == LINE - 1 {
        return exact;
    }
    let one_too_long =
        (0..=MAX_BLOCK / LINE).fold(1 << (words + 1), |sizes, lines| sizes | 1 << (lines * LINE + 1));
    exact | u64::MAX << words & !one_too_long
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
        let fitting = self.sizes & divisible(words);
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
            self.free_rest(at as usize + words, size - words);
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
        let at = arena.root_words + self.used;
        let room = at.next_multiple_of(LINE) - at;
        let gap = if words > room { room } else { 0 };
        if self.used + gap + words > arena.limit_words {
            return None;
        }
        if gap > 0 {
            self.free(Block { at: at as u32, words: gap as u32 });
        }
        self.used += gap + words;
        Some((at + gap) as u32)
    }

    /// Takes back what is left behind a block, in pieces that begin a line or do not leave theirs.
    fn free_rest(&mut self, at: usize, words: usize) {
        let first = (at.next_multiple_of(LINE) - at).min(words);
        for (at, words) in [(at, first), (at + first, words - first)] {
            if words > 0 {
                self.free(Block { at: at as u32, words: words as u32 });
            }
        }
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

    /// Bytes of blocks that wait for a grace period.
    pub(crate) fn waiting_bytes(&self) -> usize {
        8 * self.waiting
    }

    /// Bytes of blocks in use, of blocks that wait for a grace period, and of all chunks.
    pub(crate) fn bytes(&self) -> (usize, usize, usize) {
        let all = self.used.next_multiple_of(CHUNK_WORDS);
        (8 * (self.used - self.idle - self.waiting), self.waiting_bytes(), 8 * all)
    }
}

/// There are no readers: grace periods have always passed.
#[cfg(test)]
pub(crate) struct Nobody;

#[cfg(test)]
impl Grace for Nobody {
    type Token = ();

    fn start(&self) {}

    fn passed(&self, (): ()) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Blocks never overlap, short ones lie in one cache line, long ones begin one; and memory that was freed is used again.
    #[test]
    fn blocks_lie_well() {
        const PAGE: usize = 512;
        let mut rng = fastrand::Rng::with_seed(7);
        let (arena, mut allocator) = (Arena::new(64, 16 << 20), Allocator::new());
        let mut held: BTreeMap<u32, Block> = BTreeMap::new();
        let mut used_early = 0;
        for step in 0..200_000 {
            // As many blocks as there are give way to new ones, once there are a thousand.
            if held.len() > 1000 {
                let from = rng.u32(..allocator.used as u32);
                let key = held.range(from..).next().or(held.iter().next()).map(|(&at, _)| at);
                allocator.retire(key.and_then(|at| held.remove(&at)).expect("a thousand blocks"));
                allocator.seal(&Nobody);
                allocator.reclaim(&Nobody);
            }
            let most = rng.usize(3..MAX_BLOCK + 2);
            let words = if rng.u8(..) == 0 { PAGE } else { rng.usize(2..most) };
            let block = allocator.alloc(&arena, words).expect("room");
            assert_eq!(block.words as usize, words);
            let line = |word| word as usize / LINE;
            let last = block.at + block.words - 1;
            let begins_line = (block.at as usize).is_multiple_of(LINE);
            assert!(begins_line || line(block.at) == line(last), "{block:?}");
            let before = held.range(..=last).next_back();
            assert!(before.is_none_or(|(_, before)| before.at + before.words <= block.at), "{block:?}");
            held.insert(block.at, block);
            if step == 20_000 {
                used_early = allocator.used;
            }
        }
        assert!(allocator.used < used_early * 3 / 2, "{used_early} words, then {}", allocator.used);
    }
}
