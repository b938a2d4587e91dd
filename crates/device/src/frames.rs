//! Sets of frames that are sent again and again.

use std::fmt;

/// What a frame is meant to test, so that a checker knows what should become of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// In order: it should be forwarded.
    Good,
    /// Its TTL or hop limit has run out.
    Expired,
    /// The checksum of its IPv4 header is wrong.
    BadChecksum,
    /// Its source address cannot be any sender's.
    Martian,
    /// There is no route to its destination.
    NoRoute,
    /// From a capture; nothing is known about it.
    Captured,
}

/// One frame of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Its bytes.
    pub bytes: &'a [u8],
    /// What it is meant to test; not in the bytes.
    pub kind: Kind,
}

/// An immutable set of frames, back to back in one allocation so that walking it reads memory in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameSet {
    bytes: Box<[u8]>,
    entries: Box<[Entry]>,
}

/// So many bytes ahead of a frame those of later ones are asked for: some sixteen small ones.
const AHEAD: usize = 1_024;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    offset: u32,
    length: u32,
    kind: Kind,
}

/// Collects the frames of a [`FrameSet`].
#[derive(Debug, Clone, Default)]
pub struct Builder {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
}

/// A set would exceed 4 GiB or 2^32 frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge;

impl FrameSet {
    /// Number of frames.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no frames.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Bytes of all frames together.
    pub fn bytes_total(&self) -> usize {
        self.bytes.len()
    }

    /// The frame with this index, counted from 0 in the order in which they were added.
    pub fn get(&self, index: usize) -> Option<Frame<'_>> {
        let entry = self.entries.get(index)?;
        Some(Frame { bytes: self.slice(entry), kind: entry.kind })
    }

    /// All frames in order.
    pub fn iter(&self) -> impl Iterator<Item = Frame<'_>> {
        self.entries.iter().map(|entry| Frame { bytes: self.slice(entry), kind: entry.kind })
    }

    /// The bytes of frames `from..from + count`, as far as there are so many. Asks for those of frames that come soon after each, since a set
    /// may be larger than the caches.
    pub(crate) fn slices(&self, from: usize, count: usize) -> impl ExactSizeIterator<Item = &[u8]> {
        let from = from.min(self.entries.len());
        let end = from.saturating_add(count).min(self.entries.len());
        self.entries[from..end].iter().map(|entry| {
            if let Some(soon) = self.bytes.get(entry.offset as usize + AHEAD) {
                packet::prefetch(soon);
            }
            self.slice(entry)
        })
    }

    fn slice(&self, entry: &Entry) -> &[u8] {
        &self.bytes[entry.offset as usize..][..entry.length as usize]
    }
}

impl Builder {
    /// An empty set.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// Number of frames so far.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no frames yet.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Bytes of all frames so far.
    pub fn bytes_total(&self) -> usize {
        self.bytes.len()
    }

    /// Adds a frame.
    ///
    /// # Errors
    /// [`TooLarge`]; the frame is then not part of the set.
    pub fn push(&mut self, kind: Kind, frame: &[u8]) -> Result<(), TooLarge> {
        self.push_with(kind, |bytes| bytes.extend_from_slice(frame))
    }

    /// Adds a frame made of what `append` appends to the bytes it is given; it must leave alone what is there.
    pub(crate) fn push_with(
        &mut self,
        kind: Kind,
        append: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), TooLarge> {
        let start = self.bytes.len();
        append(&mut self.bytes);
        let length = self.bytes.len() - start;
        if u32::try_from(self.bytes.len()).is_err() || u32::try_from(self.entries.len() + 1).is_err() {
            self.bytes.truncate(start);
            return Err(TooLarge);
        }
        // Both are at most the length of `bytes`, which fits.
        self.entries.push(Entry { offset: start as u32, length: length as u32, kind });
        Ok(())
    }

    /// The finished set.
    pub fn build(self) -> FrameSet {
        FrameSet { bytes: self.bytes.into_boxed_slice(), entries: self.entries.into_boxed_slice() }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Good => "good",
            Kind::Expired => "expired",
            Kind::BadChecksum => "bad checksum",
            Kind::Martian => "martian source",
            Kind::NoRoute => "no route",
            Kind::Captured => "captured",
        })
    }
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a set of frames holds at most 4 GiB; use fewer or shorter frames")
    }
}

impl std::error::Error for TooLarge {}
