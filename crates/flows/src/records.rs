//! The records, which never move.

/// Marks a link that leads to the head of a list instead of a record, and a name that is a record's second key.
pub(crate) const MARK: u32 = 1 << 31;
/// The end of a list.
pub(crate) const END: u32 = u32::MAX;

/// Records of a piece, as a power of two, at most.
const PIECE_BITS: u32 = 27;
/// Pieces, at most.
const PIECES: usize = 16;

/// Where a record is, and by which of its keys it was found. It says so until the record is gone; then another may be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(pub(crate) u32);

impl Slot {
    /// Whether it was found by the second of its keys.
    #[inline]
    pub fn is_reverse(self) -> bool {
        self.0 & MARK != 0
    }

    /// The number of its record, from 0 on.
    #[inline]
    pub fn number(self) -> u32 {
        self.0 & !MARK
    }
}

/// A record.
#[repr(C)]
pub(crate) struct Record<K, V, const KEYS: usize> {
    pub(crate) keys: [K; KEYS],
    /// When its last packet came.
    pub(crate) seen: u32,
    /// Its neighbours in the list that it is in.
    pub(crate) before: u32,
    pub(crate) after: u32,
    pub(crate) state: u8,
    /// [`LIVE`] and others.
    pub(crate) flags: u8,
    pub(crate) value: V,
}

/// There is a flow.
pub(crate) const LIVE: u8 = 1;
/// It is confirmed.
pub(crate) const CONFIRMED: u8 = 2;
/// It is not confirmed, but had a packet after its first.
pub(crate) const TOUCHED: u8 = 4;
/// Its second key counts.
pub(crate) const PAIR: u8 = 8;

impl<K: Copy, V, const KEYS: usize> Record<K, V, KEYS> {
    #[inline]
    pub(crate) fn is(&self, flags: u8) -> bool {
        self.flags & flags == flags
    }

    /// The key that a name stands for.
    #[inline]
    pub(crate) fn key(&self, name: u32) -> Option<&K> {
        self.keys.get((name >> 31) as usize)
    }

    /// Its names and keys, as far as they count.
    #[cfg(test)]
    pub(crate) fn names(&self, number: u32) -> impl Iterator<Item = (u32, K)> + '_ {
        let count = if self.is(PAIR) { 2 } else { 1 };
        self.keys.iter().take(count).enumerate().map(move |(at, key)| (number | (at as u32) << 31, *key))
    }
}

/// Records in pieces: a table that grows gets a further one.
pub(crate) struct Records<K, V, const KEYS: usize> {
    /// The first piece, which most tables have alone: its numbers are the places in it.
    first: Vec<Record<K, V, KEYS>>,
    further: Vec<Vec<Record<K, V, KEYS>>>,
    /// Records that are free.
    free: u32,
}

/// Which of the further pieces a number is in, and where.
#[inline]
fn in_further(number: u32) -> Option<(usize, usize)> {
    let piece = (number >> PIECE_BITS).checked_sub(1)?;
    Some((piece as usize, (number & ((1 << PIECE_BITS) - 1)) as usize))
}

impl<K: Copy, V: Default, const KEYS: usize> Records<K, V, KEYS> {
    pub(crate) fn new(capacity: usize) -> Self {
        let first = packet::roomy_vec(capacity.min(1 << PIECE_BITS));
        let mut records = Records { first, further: Vec::with_capacity(PIECES - 1), free: END };
        records.extend(capacity.saturating_sub(1 << PIECE_BITS));
        records
    }

    /// Has room for so many more, as far as there are numbers for them. The memory is touched as records are made.
    pub(crate) fn extend(&mut self, mut more: usize) {
        while more > 0 && self.further.len() < PIECES - 1 {
            let piece = more.min(1 << PIECE_BITS);
            self.further.push(packet::roomy_vec(piece));
            more -= piece;
        }
    }

    fn pieces(&self) -> impl Iterator<Item = &Vec<Record<K, V, KEYS>>> {
        std::iter::once(&self.first).chain(&self.further)
    }

    /// Records that there is room for.
    pub(crate) fn capacity(&self) -> usize {
        self.pieces().map(|piece| piece.capacity().min(1 << PIECE_BITS)).sum()
    }

    /// Bytes that they take at most.
    pub(crate) fn bytes(&self) -> usize {
        self.capacity() * size_of::<Record<K, V, KEYS>>()
    }

    #[inline]
    pub(crate) fn get(&self, number: u32) -> Option<&Record<K, V, KEYS>> {
        match self.first.get(number as usize) {
            Some(record) => Some(record),
            None => self.get_further(number),
        }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut Record<K, V, KEYS>> {
        match self.first.get_mut(number as usize) {
            Some(record) => Some(record),
            None => {
                let (piece, at) = in_further(number)?;
                self.further.get_mut(piece)?.get_mut(at)
            }
        }
    }

    /// Out of line, so that callers have only what most tables need.
    #[inline(never)]
    fn get_further(&self, number: u32) -> Option<&Record<K, V, KEYS>> {
        let (piece, at) = in_further(number)?;
        self.further.get(piece)?.get(at)
    }

    /// The first place that there is from a number on: where a piece ends, the next one goes on.
    pub(crate) fn place_from(&self, number: u32) -> Option<(u32, &Record<K, V, KEYS>)> {
        let next = ((number >> PIECE_BITS) + 1) << PIECE_BITS;
        [number, next].into_iter().find_map(|number| self.get(number).map(|record| (number, record)))
    }

    /// Puts a record into a free place, in no list; its number, if there is room.
    pub(crate) fn put(&mut self, record: Record<K, V, KEYS>) -> Option<u32> {
        let number = self.free;
        if let Some(free) = self.get_mut(number) {
            let next = free.after;
            *free = record;
            self.free = next;
            return Some(number);
        }
        let full = |piece: &Vec<_>| piece.len() == piece.capacity().min(1 << PIECE_BITS);
        let mut pieces = (0..).zip(std::iter::once(&mut self.first).chain(&mut self.further));
        let (at, piece) = pieces.find(|(_, piece)| !full(piece))?;
        piece.push(record);
        Some(at << PIECE_BITS | (piece.len() as u32 - 1))
    }

    /// Takes the value of a record that is in no list any more, and frees its place.
    pub(crate) fn free(&mut self, number: u32) -> Option<V> {
        let free = self.free;
        let record = self.get_mut(number)?;
        let value = std::mem::take(&mut record.value);
        (record.flags, record.after) = (0, free);
        self.free = number;
        Some(value)
    }

    /// All records that there are flows in, with their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Record<K, V, KEYS>)> {
        let all = self.pieces().enumerate().flat_map(|(piece, records)| {
            records
                .iter()
                .enumerate()
                .map(move |(at, record)| ((piece as u32) << PIECE_BITS | at as u32, record))
        });
        all.filter(|(_, record)| record.is(LIVE))
    }
}
