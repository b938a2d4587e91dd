//! Places that hold an RCU-protected value.

use std::{
    marker::PhantomData,
    mem::{ManuallyDrop, size_of},
    ptr,
};

use crate::{
    defer::{Backpressure, Defer, DeferRoom},
    reader::Turn,
    sync::{AtomicPtr, Ordering, ordering, protect},
    weigh::Weigh,
};

/// A place for at most one value that readers see without waiting and updaters replace.
///
/// A reference to the value borrows both the turn and the cell. So an owner that has the cell exclusively (to
/// drop it, or by `&mut`) knows that no reader holds the present value, and may free it at once; former values
/// were handed to the domain when they were replaced. A cell inside an RCU-protected value needs no special
/// care: it is dropped with that value, after the grace period.
pub struct OptionCell<T: Send + Sync + 'static> {
    /// Null, or from `Box::into_raw`.
    pub(crate) place: AtomicPtr<T>,
    _owns: PhantomData<Box<T>>,
}

impl<T: Send + Sync + 'static> OptionCell<T> {
    /// A cell with this value, if any.
    pub fn new(value: Option<T>) -> Self {
        Self { place: AtomicPtr::new(into_raw(value.map(Box::new))), _owns: PhantomData }
    }

    /// The value at this moment: one acquire load.
    #[inline]
    pub fn read<'t>(&'t self, _turn: Turn<'t>) -> Option<&'t T> {
        // Acquire: who sees the pointer sees the value initialised (the publication guarantee).
        let value = self.place.load(ordering!("read_acquire", Acquire));
        // SAFETY: null, or a box that was in the cell at the time of the load. If it was replaced since, it is
        // freed after a grace period that cannot end before `_turn` does; else, not before the cell's borrow.
        unsafe { value.as_ref() }
    }

    /// Replaces the value. The old one is dropped by a control thread after a grace period.
    ///
    /// # Errors
    /// If too much memory waits to be reclaimed, gives `new` back and changes nothing.
    pub fn replace(
        &self,
        new: Option<Box<T>>,
        updater: impl Defer,
    ) -> Result<(), Backpressure<Option<Box<T>>>>
    where
        T: Weigh,
    {
        // The old value can be weighed only when it is unlinked: another updater might free it before that.
        let Some(mut room) = updater.reserve_for::<T>() else { return Err(Backpressure::new(new)) };
        if let Some(old) = self.exchange(new) {
            // Readers have it: if weighing it panics it leaks.
            let old = ManuallyDrop::new(old);
            protect!("weigh_old", room.add((**old).heap_bytes()));
            room.defer(move || drop(ManuallyDrop::into_inner(old)));
        }
        Ok(())
    }

    /// [`replace`](Self::replace) if the updater knows what dropping the *old* value frees: these bytes, besides its own
    /// size. For values that share memory with others.
    ///
    /// # Errors
    /// As [`replace`](Self::replace).
    pub fn replace_weighing(
        &self,
        new: Option<Box<T>>,
        bytes: usize,
        updater: impl Defer,
    ) -> Result<(), Backpressure<Option<Box<T>>>> {
        // Room first: once the value is unlinked there is no way back.
        let bytes = bytes.saturating_add(size_of::<T>());
        let Some(room) = updater.reserve(bytes) else { return Err(Backpressure::new(new)) };
        if let Some(old) = self.exchange(new) {
            room.defer(move || drop(old));
        }
        Ok(())
    }

    /// Puts a value into the place of the old one, which readers may still hold.
    fn exchange(&self, new: Option<Box<T>>) -> Option<Box<T>> {
        // Release publishes the new value; acquire shows the thread that drops the old one what its updater left.
        let old = self.place.swap(into_raw(new), ordering!("publish_release", AcqRel));
        // SAFETY: the old value was this cell's alone and is now unreachable for new turns.
        unsafe { from_raw(old) }
    }

    /// The value, for the exclusive owner.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        // SAFETY: `&mut self` excludes readers (see the type) and updaters.
        unsafe { self.place.load(Ordering::Acquire).as_mut() }
    }
}

impl<T: Send + Sync + 'static> Drop for OptionCell<T> {
    fn drop(&mut self) {
        // SAFETY: this call has the cell alone, so no reader or updater holds its present value (see the type).
        drop(unsafe { from_raw(self.place.load(Ordering::Acquire)) });
    }
}

impl<T: Send + Sync + 'static> std::fmt::Debug for OptionCell<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OptionCell { .. }")
    }
}

fn into_raw<T>(value: Option<Box<T>>) -> *mut T {
    value.map_or(ptr::null_mut(), Box::into_raw)
}

/// # Safety
/// `raw` came from [`into_raw`] and its owner gives it up.
unsafe fn from_raw<T>(raw: *mut T) -> Option<Box<T>> {
    // SAFETY: passed on to the caller.
    (!raw.is_null()).then(|| unsafe { Box::from_raw(raw) })
}

fn given_back<T>(refusal: Backpressure<Option<T>>) -> Backpressure<T> {
    refusal.map(|new| match new {
        Some(new) => new,
        None => unreachable!("the value given to the inner cell comes back"),
    })
}

/// A place that always holds a value, which readers see without waiting and updaters replace.
///
/// Everything said of [`OptionCell`] holds here.
///
/// ```
/// let domain = rcu::Domain::global();
/// let routes = rcu::Cell::new(vec!["10.0.0.0/8"]);
/// let updater = domain.updater();
///
/// let mut worker = domain.register("worker 0");
/// let before = routes.read(worker.turn());
/// routes.replace(Box::new(vec!["10.0.0.0/8", "192.0.2.0/24"]), &updater).unwrap();
/// assert_eq!(before.len(), 1); // still there: the turn is not over
/// worker.quiescent(); // ends the turn, and the borrow
/// assert_eq!(routes.read(worker.turn()).len(), 2);
/// ```
pub struct Cell<T: Send + Sync + 'static> {
    pub(crate) inner: OptionCell<T>,
}

impl<T: Send + Sync + 'static> Cell<T> {
    /// A cell with this value.
    pub fn new(value: T) -> Self {
        Self { inner: OptionCell::new(Some(value)) }
    }

    /// The value at this moment: one acquire load.
    #[inline]
    pub fn read<'t>(&'t self, turn: Turn<'t>) -> &'t T {
        let value = self.inner.read(turn);
        // SAFETY: made with a value, and only ever given values.
        unsafe { value.unwrap_unchecked() }
    }

    /// Replaces the value. The old one is dropped by a control thread after a grace period.
    ///
    /// # Errors
    /// If too much memory waits to be reclaimed, gives `new` back and changes nothing.
    pub fn replace(&self, new: Box<T>, updater: impl Defer) -> Result<(), Backpressure<Box<T>>>
    where
        T: Weigh,
    {
        self.inner.replace(Some(new), updater).map_err(given_back)
    }

    /// As [`OptionCell::replace_weighing`].
    ///
    /// # Errors
    /// As [`replace`](Self::replace).
    pub fn replace_weighing(
        &self,
        new: Box<T>,
        bytes: usize,
        updater: impl Defer,
    ) -> Result<(), Backpressure<Box<T>>> {
        self.inner.replace_weighing(Some(new), bytes, updater).map_err(given_back)
    }

    /// Read, copy, update: replaces the value by `change` of it, again if another updater was quicker.
    ///
    /// The turn keeps the value that is being copied alive, and its address from being used again, which is
    /// what makes comparing addresses enough.
    ///
    /// # Errors
    /// If too much memory waits to be reclaimed, changes nothing.
    pub fn update(
        &self,
        turn: Turn<'_>,
        updater: impl Defer,
        mut change: impl FnMut(&T) -> T,
    ) -> Result<(), Backpressure<()>>
    where
        T: Weigh,
    {
        let Some(mut room) = updater.reserve_for::<T>() else { return Err(Backpressure::new(())) };
        loop {
            let old: *const T = self.read(turn);
            // SAFETY: read under `turn`, which outlives this call.
            let new = Box::into_raw(Box::new(change(unsafe { &*old })));
            let place = &self.inner.place;
            let won = place.compare_exchange(old.cast_mut(), new, Ordering::AcqRel, Ordering::Relaxed);
            // SAFETY: the winner unlinked the old value; a loser's new value was never seen by any reader.
            let surplus = unsafe { Box::from_raw(if won.is_ok() { old.cast_mut() } else { new }) };
            if won.is_ok() {
                // Readers have it: if weighing it panics it leaks.
                let surplus = ManuallyDrop::new(surplus);
                room.add((**surplus).heap_bytes());
                room.defer(move || drop(ManuallyDrop::into_inner(surplus)));
                return Ok(());
            }
        }
    }

    /// The value, for the exclusive owner.
    pub fn get_mut(&mut self) -> &mut T {
        let value = self.inner.get_mut();
        // SAFETY: made with a value, and only ever given values.
        unsafe { value.unwrap_unchecked() }
    }
}

impl<T: Send + Sync + 'static> std::fmt::Debug for Cell<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Cell { .. }")
    }
}
