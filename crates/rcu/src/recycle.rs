//! Updaters that reuse the boxes of old values for new ones.
//!
//! After its grace period a box is as good as a new one: no thread holds a reference into it. So an updater keeps it
//! instead of giving it to the allocator and asking for another. The soundness argument is that of
//! [`LocalUpdater`](crate::LocalUpdater); but a box that were reused too early would show a reader another value,
//! and not freed memory.

use std::{mem::needs_drop, ptr::NonNull};

use crate::{
    callbacks::survives,
    cell::Cell,
    defer::{Backpressure, Updater, charge_for},
    queue::Deferred,
    shared::Shared,
    stages::{BATCH, Stages},
    sync::{Arc, ordering},
    weigh::Weigh,
};

/// More boxes than this are not kept ready.
const ENOUGH: usize = 8 * BATCH;

/// An updater that keeps the boxes of values that it has replaced, and puts new values into them after their
/// grace period.
///
/// For control threads of other programs with a great many updates of values of one type: most updates neither allocate nor free. An
/// old value is dropped when its box is used again, or by [`barrier`](Self::barrier), or by the reclaimer after this
/// updater is dropped or has [handed over](Self::hand_over); so not for values that hold on to something scarce. The
/// boxes count against the domain's limit as long as the recycler has them.
///
/// ```
/// let domain = rcu::Domain::global();
/// let cell = rcu::Cell::new(0);
/// let mut recycler = domain.recycler();
/// for value in 1..=1000 {
///     recycler.replace(&cell, value)?;
/// }
/// assert_eq!(*cell.read(domain.guard().turn()), 1000);
/// # Ok::<(), rcu::Backpressure<i32>>(())
/// ```
pub struct Recycler<T: Weigh + Send + Sync + 'static> {
    /// Boxes with the old values in them.
    stages: Stages<Old<T>>,
    /// How many were used again since that was last counted where others see it.
    reused: u64,
    updater: Updater,
}

/// A box that was unlinked, and that the recycler owns once no thread holds a reference to it.
struct Old<T> {
    place: NonNull<T>,
    /// What its value is charged besides the box.
    heap: usize,
}

// SAFETY: a box of something that is `Send`.
unsafe impl<T: Send> Send for Old<T> {}

impl<T> Old<T> {
    /// The box.
    ///
    /// # Safety
    /// Its grace period is over.
    unsafe fn into_box(self) -> Box<T> {
        // SAFETY: from a box, unlinked once, and no thread holds a reference to it any more.
        unsafe { Box::from_raw(self.place.as_ptr()) }
    }
}

impl<T: Weigh + Send + Sync + 'static> Recycler<T> {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { stages: Stages::new(), reused: 0, updater: Updater::new(shared) }
    }

    /// Replaces the value of a cell.
    ///
    /// # Errors
    /// If there is no box whose grace period is over, and too much memory waits for a new one, gives `new` back
    /// and changes nothing.
    #[inline]
    pub fn replace(&mut self, cell: &Cell<T>, new: T) -> Result<(), Backpressure<T>> {
        if needs_drop::<T>() && self.updater.shared.is_over_limit() {
            self.make_room();
            if self.updater.shared.is_over_limit() {
                self.updater.refuse();
                return Err(Backpressure::new(new));
            }
        }
        let new = match self.stages.ready.pop() {
            Some(old) => self.refill(old, new),
            None => self.allocate(new)?,
        };
        // Release publishes the new value; acquire lets this thread drop the old one as its updater left it.
        let old = cell.inner.place.swap(new.as_ptr(), ordering!("publish_release", AcqRel));
        // SAFETY: a cell is never empty.
        let place = unsafe { NonNull::new_unchecked(old) };
        // SAFETY: unlinked by this call, which alone may free it.
        let heap = unsafe { place.as_ref() }.heap_bytes();
        self.updater.earn_anyway(heap);
        self.updater.set_credit(self.updater.credit() - heap);
        let old = Old { place, heap };
        if self.stages.push(old) {
            self.next_batch();
        }
        Ok(())
    }

    #[cold]
    fn allocate(&mut self, new: T) -> Result<NonNull<T>, Backpressure<T>> {
        let charge = Self::charge();
        if !self.updater.earn(charge) {
            // Twice: what begins to wait now need not wait for any thread.
            for _ in 0..2 {
                self.next_batch();
                if let Some(old) = self.stages.ready.pop() {
                    return Ok(self.refill(old, new));
                }
            }
            self.updater.refuse();
            return Err(Backpressure::new(new));
        }
        self.updater.set_credit(self.updater.credit() - charge);
        Ok(NonNull::from(Box::leak(Box::new(new))))
    }

    /// Puts a value into the box of an old one that was ready, which is dropped.
    #[inline]
    fn refill(&mut self, Old { place, heap }: Old<T>, new: T) -> NonNull<T> {
        self.reused += 1;
        self.updater.set_credit(self.updater.credit() + heap);
        if needs_drop::<T>() {
            // SAFETY: no thread holds a reference to it any more, and it is dropped here only.
            // If that panics, the box is good all the same.
            if !survives(|| unsafe { place.drop_in_place() }) {
                self.updater.shared.metrics.count_callbacks(0, 1);
            }
        }
        // SAFETY: a box whose value is gone.
        unsafe { place.write(new) };
        place
    }

    fn charge() -> usize {
        charge_for(size_of::<T>())
    }

    /// Looks at the batch that waits, and starts the next. True if one waits then.
    #[cold]
    fn next_batch(&mut self) -> bool {
        let waits = self.stages.advance(&self.updater.shared);
        self.updater.set_held(self.stages.waiting());
        self.updater.shared.metrics.count_callbacks(std::mem::take(&mut self.reused), 0);
        // After a slow reader there are more boxes than are needed; they go, little by little.
        if self.stages.ready.len() > ENOUGH {
            self.free(BATCH);
        }
        waits
    }

    /// Drops all old values that no thread holds, whose memory is needed elsewhere.
    #[cold]
    fn make_room(&mut self) {
        self.next_batch();
        self.free(usize::MAX);
    }

    /// Waits until no thread holds an old value of this recycler, and drops them all.
    ///
    /// # Panics
    /// As [`Domain::synchronize`](crate::Domain::synchronize).
    pub fn barrier(&mut self) {
        while self.next_batch() {
            self.stages.wait(&self.updater.shared);
        }
        self.free(usize::MAX);
    }

    /// Frees so many boxes that no thread holds any more.
    fn free(&mut self, count: usize) {
        let ready = &mut self.stages.ready;
        let (count, mut panicked, mut heap) = (count.min(ready.len()), 0, 0);
        for old in ready.drain(ready.len() - count..) {
            heap += old.heap;
            // SAFETY: ready, so its grace period is over.
            let old = unsafe { old.into_box() };
            panicked += u64::from(!survives(|| drop(old)));
        }
        self.updater.shared.metrics.count_callbacks(count as u64, panicked);
        self.updater.set_credit(self.updater.credit() + count * Self::charge() + heap);
        self.updater.return_credit();
    }

    /// Leaves all old values to the domain's reclaimer.
    pub fn hand_over(&mut self) {
        for old in self.stages.take_all() {
            let charge = Self::charge() + old.heap;
            // SAFETY: the reclaimer runs this after a grace period.
            self.updater.push(Deferred::new(charge, move || drop(unsafe { old.into_box() })));
        }
        self.updater.set_held(0);
        self.updater.return_credit();
    }
}

impl<T: Weigh + Send + Sync + 'static> Drop for Recycler<T> {
    fn drop(&mut self) {
        self.hand_over();
    }
}

impl<T: Weigh + Send + Sync + 'static> std::fmt::Debug for Recycler<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Recycler { .. }")
    }
}
