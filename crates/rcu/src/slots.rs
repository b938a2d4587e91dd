//! A table of values by number.

use std::{array, ptr};

use crate::{
    cell::OptionCell,
    defer::{Backpressure, Defer},
    reader::Turn,
    sync::{AtomicPtr, Ordering},
    weigh::Weigh,
};

/// How many cells the first segment has, as a power of two. Each further one has twice as many as the one before.
const FIRST_LOG2: u32 = if cfg!(loom) { 0 } else { 5 };
const FIRST: usize = 1 << FIRST_LOG2;
const SEGMENTS: usize = if cfg!(loom) { 2 } else { 27 };

/// A table of optional values by number, which grows while readers use it. For other programs: Clique's next hops are numbered by
/// a table that also rests and reuses numbers.
///
/// It consists of segments that double in size. A segment is made when a number in it is first used, and stays where
/// it is until the table is dropped; so growing copies nothing, and a reader never looks into a table that is being
/// moved. Each slot is an [`OptionCell`], and everything said there of replacing and reading holds for each. A read
/// is two dependent loads.
///
/// ```
/// let domain = rcu::Domain::global();
/// let next_hops = rcu::Slots::new();
/// let updater = domain.updater();
/// next_hops.set(1000, Some(Box::new("192.0.2.1")), &updater)?;
///
/// let guard = domain.guard();
/// assert_eq!(next_hops.get(1000, guard.turn()), Some(&"192.0.2.1"));
/// assert_eq!(next_hops.get(7, guard.turn()), None);
/// # Ok::<(), rcu::Backpressure<Option<Box<&str>>>>(())
/// ```
pub struct Slots<T: Send + Sync + 'static> {
    /// Null, or the first of a segment's cells, from a boxed slice. Written once.
    segments: [AtomicPtr<OptionCell<T>>; SEGMENTS],
}

impl<T: Send + Sync + 'static> Slots<T> {
    /// One more than the largest number.
    pub const CAPACITY: usize = FIRST * ((1 << SEGMENTS) - 1);

    /// An empty table.
    pub fn new() -> Self {
        Self { segments: array::from_fn(|_| AtomicPtr::new(ptr::null_mut())) }
    }

    /// The value at `index` at this moment.
    #[inline]
    pub fn get<'t>(&'t self, index: usize, turn: Turn<'t>) -> Option<&'t T> {
        let (segment, offset) = place(index)?;
        self.segment(segment)?[offset].read(turn)
    }

    /// Replaces the value at `index`. The old one is dropped by a control thread after a grace period.
    ///
    /// # Errors
    /// If too much memory waits to be reclaimed, gives `new` back and changes nothing.
    ///
    /// # Panics
    /// If `index` is not below [`CAPACITY`](Self::CAPACITY).
    pub fn set(
        &self,
        index: usize,
        new: Option<Box<T>>,
        updater: impl Defer,
    ) -> Result<(), Backpressure<Option<Box<T>>>>
    where
        T: Weigh,
    {
        let (segment, offset) = place(index).expect("a number below the table's capacity");
        match self.segment(segment) {
            Some(cells) => cells[offset].replace(new, updater),
            None if new.is_none() => Ok(()),
            None => self.add(segment)[offset].replace(new, updater),
        }
    }

    /// The values at this moment, with their numbers, in order.
    pub fn iter<'t>(&'t self, turn: Turn<'t>) -> impl Iterator<Item = (usize, &'t T)> {
        (0..SEGMENTS).filter_map(|segment| Some((segment, self.segment(segment)?))).flat_map(
            move |(segment, cells)| {
                let first = length(segment) - FIRST;
                let values = cells.iter().map(move |cell| cell.read(turn));
                values.enumerate().filter_map(move |(offset, value)| Some((first + offset, value?)))
            },
        )
    }

    fn segment(&self, segment: usize) -> Option<&[OptionCell<T>]> {
        // Acquire: who sees the segment sees its cells initialised.
        let first = self.segments[segment].load(Ordering::Acquire);
        // SAFETY: not null, so from a boxed slice of this length that lives until the table is dropped.
        (!first.is_null()).then(|| unsafe { std::slice::from_raw_parts(first, length(segment)) })
    }

    /// Makes a segment, unless another updater is quicker.
    #[cold]
    fn add(&self, segment: usize) -> &[OptionCell<T>] {
        let cells: Box<[_]> = (0..length(segment)).map(|_| OptionCell::<T>::new(None)).collect();
        let first = Box::into_raw(cells).cast();
        let place = &self.segments[segment];
        // Release publishes the cells; acquire shows those of a thread that was quicker.
        if place.compare_exchange(ptr::null_mut(), first, Ordering::AcqRel, Ordering::Acquire).is_err() {
            // SAFETY: a boxed slice of this length that no other thread has seen.
            drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(first, length(segment))) });
        }
        self.segment(segment).expect("made by one of the two")
    }
}

impl<T: Send + Sync + 'static> Drop for Slots<T> {
    fn drop(&mut self) {
        for (segment, first) in self.segments.iter().enumerate() {
            let first = first.load(Ordering::Acquire);
            if !first.is_null() {
                // SAFETY: a boxed slice of this length; this call has the table alone.
                drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(first, length(segment))) });
            }
        }
    }
}

impl<T: Send + Sync + 'static> Default for Slots<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Send + Sync + 'static> std::fmt::Debug for Slots<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Slots { .. }")
    }
}

fn length(segment: usize) -> usize {
    FIRST << segment
}

/// The segment of a number, and the cell in it.
///
/// A segment's first number is its length less that of the first segment. Adding that back makes the topmost bit
/// say which segment it is, and the others which cell.
fn place(index: usize) -> Option<(usize, usize)> {
    let shifted = index.checked_add(FIRST)?;
    let segment = (shifted.ilog2() - FIRST_LOG2) as usize;
    (segment < SEGMENTS).then(|| (segment, shifted - length(segment)))
}
