//! Callbacks, and the queues that updaters put them into.
//!
//! A queue has one updater, which writes at its end, and one reader, the thread that holds the reclaimer's lock.
//! It is a list of segments of fixed size. The updater fills in an entry, then counts it; the reclaimer loads the
//! count, and all entries that it covers are complete. So a callback needs no allocation, and no operation is ever
//! retried. Segments that the reclaimer has emptied go back to the updater.
//!
//! Two numbers divide a queue: callbacks up to `ran` have run, those up to `marked` wait for the present grace
//! period, and the others for the next one. These are the two generations of AP-RCU.

use std::{
    mem::{MaybeUninit, align_of, size_of},
    ptr,
    sync::atomic as unordered,
};

use crossbeam_utils::CachePadded;

use crate::sync::{AtomicPtr, AtomicU64, Ordering, UnsafeCell, ordering};

/// Entries of a segment.
const LENGTH: u64 = if cfg!(loom) { 1 } else { 64 };

/// Emptied segments that wait to be used again, at most.
const SPARES: usize = 32;

/// A callback in place, without an allocation if it is small. Dropped without being run it leaks, which none is.
pub(crate) struct Deferred {
    /// Bytes charged for it; the topmost bit says whether it may block.
    charge: usize,
    /// Runs the callback in the words, which is then gone.
    run: unsafe fn(&mut Words),
    words: Words,
}

type Words = MaybeUninit<[usize; 2]>;

const BLOCKING: usize = 1 << (usize::BITS - 1);

// SAFETY: holds a closure that is `Send` (see `Deferred::new`).
unsafe impl Send for Deferred {}

impl Deferred {
    /// A callback that is charged with so many bytes.
    #[inline]
    pub(crate) fn new<F: FnOnce() + Send + 'static>(charge: usize, callback: F) -> Self {
        if Self::is_small::<F>() {
            Self::in_place(charge, callback)
        } else {
            let callback = Box::new(callback);
            Self::in_place(charge, callback)
        }
    }

    /// Whether a callback of this type needs no box.
    pub(crate) fn is_small<F>() -> bool {
        size_of::<F>() <= size_of::<Words>() && align_of::<F>() <= align_of::<Words>()
    }

    #[inline]
    fn in_place<F: FnOnce() + Send + 'static>(charge: usize, callback: F) -> Self {
        assert!(Self::is_small::<F>());
        unsafe fn run<F: FnOnce()>(words: &mut Words) {
            // SAFETY: `in_place` put an `F` there, and `Deferred::run` takes it out once.
            (unsafe { words.as_mut_ptr().cast::<F>().read() })();
        }
        let mut words = Words::uninit();
        // SAFETY: large enough and aligned, as asserted.
        unsafe { words.as_mut_ptr().cast::<F>().write(callback) };
        Self { charge: charge & !BLOCKING, run: run::<F>, words }
    }

    /// The same callback, as one that may block and so runs in the pool.
    pub(crate) fn blocking(mut self) -> Self {
        self.charge |= BLOCKING;
        self
    }

    pub(crate) fn may_block(&self) -> bool {
        self.charge & BLOCKING != 0
    }

    pub(crate) fn charge(&self) -> usize {
        self.charge & !BLOCKING
    }

    #[inline]
    pub(crate) fn run(mut self) {
        // SAFETY: consumes `self`, so this is the only time.
        unsafe { (self.run)(&mut self.words) }
    }
}

struct Segment {
    entries: [UnsafeCell<MaybeUninit<Deferred>>; LENGTH as usize],
    /// The segment after this one; or the next spare.
    next: UnsafeCell<*mut Segment>,
    /// How many spares there are from this one on.
    spares: UnsafeCell<usize>,
}

impl Segment {
    fn new() -> *mut Segment {
        let entries = [(); LENGTH as usize].map(|()| UnsafeCell::new(MaybeUninit::uninit()));
        let next = UnsafeCell::new(ptr::null_mut());
        Box::into_raw(Box::new(Segment { entries, next, spares: UnsafeCell::new(0) }))
    }

    fn next(&self) -> *mut Segment {
        // SAFETY: written before the thread that reads it was let know of the segment (see `Queue`).
        self.next.with(|next| unsafe { *next })
    }

    /// # Safety
    /// No other thread looks at the link.
    unsafe fn set_next(&self, to: *mut Segment) {
        // SAFETY: as promised.
        self.next.with_mut(|next| unsafe { *next = to });
    }
}

/// One updater's callbacks.
pub(crate) struct Queue {
    /// How many were ever queued. Written by the updater.
    written: AtomicU64,
    tail: UnsafeCell<Tail>,
    /// Bytes that the updater has taken from the limit and not used. Written by the updater; orders nothing.
    pub(crate) credit: unordered::AtomicUsize,
    /// Callbacks in the updater's hands that are not queued. Written by the updater; orders nothing.
    pub(crate) held: unordered::AtomicUsize,
    /// In other cache lines: what the reclaimer writes.
    taken: CachePadded<Taken>,
}

/// The updater's end.
struct Tail {
    /// Has room unless the number written is a multiple of [`LENGTH`].
    segment: *mut Segment,
    /// Spares that are the updater's already.
    free: *mut Segment,
}

struct Taken {
    head: UnsafeCell<Head>,
    /// How many have run, or went to the pool. Orders nothing.
    ran: unordered::AtomicU64,
    /// Emptied segments: the reclaimer adds one, the updater takes all.
    spare: AtomicPtr<Segment>,
}

/// The reclaimer's end.
struct Head {
    segment: *mut Segment,
    /// The next to run.
    at: u64,
    /// Those before this one wait for the grace period under way.
    marked: u64,
}

// SAFETY: the callbacks in it are `Send` and owned by it.
unsafe impl Send for Queue {}
// SAFETY: methods that touch its ends ask for what excludes others.
unsafe impl Sync for Queue {}

impl Default for Queue {
    fn default() -> Self {
        let segment = Segment::new();
        let head = UnsafeCell::new(Head { segment, at: 0, marked: 0 });
        let taken = Taken { head, ran: 0.into(), spare: AtomicPtr::new(ptr::null_mut()) };
        Self {
            written: AtomicU64::new(0),
            tail: UnsafeCell::new(Tail { segment, free: ptr::null_mut() }),
            credit: 0.into(),
            held: 0.into(),
            taken: CachePadded::new(taken),
        }
    }
}

impl Queue {
    /// Queues a callback.
    ///
    /// The count is written by a read-modify-write for the sake of the fence that follows it, without which the
    /// updater might not see that the reclaimer is about to sleep (rule 8 of the crate's documentation).
    ///
    /// # Safety
    /// The caller owns the queue's entry in the registry.
    #[inline]
    pub(crate) unsafe fn push(&self, deferred: Deferred) {
        let count = self.written.load(Ordering::Relaxed);
        let at = count % LENGTH;
        // SAFETY: only the owner touches this end; former owners' work was acquired with the entry.
        let segment = self.tail.with_mut(|tail| unsafe {
            if at == 0 && count > 0 {
                self.extend(&mut *tail);
            }
            &*(*tail).segment
        });
        // SAFETY: not counted yet, so the reclaimer does not look there.
        segment.entries[at as usize].with_mut(|entry| unsafe { (*entry).write(deferred) });
        // Release: the reclaimer, who acquires the count, finds the entry, and comes after what was unlinked (rule 5).
        self.written.swap(count + 1, ordering!("push_release", Release));
    }

    /// Appends a segment.
    #[cold]
    fn extend(&self, tail: &mut Tail) {
        if tail.free.is_null() {
            // Acquire: the reclaimer has done with these.
            tail.free = self.taken.spare.swap(ptr::null_mut(), Ordering::Acquire);
        }
        // SAFETY: null, or a segment that is ours alone.
        let segment = match unsafe { tail.free.as_ref() } {
            Some(spare) => std::mem::replace(&mut tail.free, spare.next()),
            None => Segment::new(),
        };
        // SAFETY: a spare's link is its owner's. The reclaimer follows the tail's link once an entry behind it is counted.
        unsafe {
            (*segment).set_next(ptr::null_mut());
            (*tail.segment).set_next(segment);
        }
        tail.segment = segment;
    }

    /// How many callbacks are queued and have not run, as far as one can tell without the reclaimer's lock.
    pub(crate) fn len(&self) -> usize {
        let ran = self.taken.ran.load(Ordering::Relaxed);
        self.written.load(Ordering::Acquire).saturating_sub(ran) as usize
    }

    /// Whether nothing is queued, as the updater finds it: then nothing will be until it queues more.
    ///
    /// # Safety
    /// As for [`push`](Self::push).
    pub(crate) unsafe fn has_run(&self) -> bool {
        self.taken.ran.load(Ordering::Relaxed) == self.written.load(Ordering::Relaxed)
    }

    /// Whether nothing is queued, as the reclaimer finds it.
    ///
    /// # Safety
    /// As for [`mark`](Self::mark).
    pub(crate) unsafe fn is_empty(&self) -> bool {
        let written = self.written.load(Ordering::Acquire);
        // SAFETY: as in `mark`.
        self.taken.head.with(|head| unsafe { (*head).at == written })
    }

    /// Lets everything queued so far wait for the next grace period to start. True if there is anything.
    ///
    /// # Safety
    /// The caller holds the reclaimer's lock.
    pub(crate) unsafe fn mark(&self) -> bool {
        // Acquire: the entries are complete; and what their updater unlinked comes before the start (rule 5). (The start's
        // fence, which comes between this load and anything that uses the entries, would make the same of a relaxed load.)
        let written = self.written.load(Ordering::Acquire);
        // SAFETY: the lock's holder is the only one at this end.
        self.taken.head.with_mut(|head| unsafe {
            (*head).marked = written;
            (*head).at < written
        })
    }

    /// Takes out the oldest callback that is marked.
    ///
    /// # Safety
    /// As for [`mark`](Self::mark).
    pub(crate) unsafe fn pop(&self) -> Option<Deferred> {
        // SAFETY: as in `mark`; and entries before `marked` are filled in, each taken once.
        self.taken.head.with_mut(|head| unsafe {
            let head = &mut *head;
            if head.at == head.marked {
                return None;
            }
            let at = head.at % LENGTH;
            if at == 0 && head.at > 0 {
                // An entry behind this segment is counted, so the link is there, and the updater has left it.
                let next = (*head.segment).next();
                self.put_aside(std::mem::replace(&mut head.segment, next));
            }
            head.at += 1;
            let entry = &(*head.segment).entries[at as usize];
            Some(entry.with(|entry| (*entry).assume_init_read()))
        })
    }

    /// Counts what [`pop`](Self::pop) has given out as run.
    pub(crate) fn count_run(&self, callbacks: u64) {
        let ran = self.taken.ran.load(Ordering::Relaxed); // one writer at a time: the lock's holder
        self.taken.ran.store(ran + callbacks, Ordering::Relaxed);
    }

    /// Gives an empty segment back to the updater, or frees it if there are enough.
    fn put_aside(&self, segment: *mut Segment) {
        // Only this end adds, so a link that was loaded is the head's until the updater takes all: no segment comes
        // back to the head in between.
        let mut head = self.taken.spare.load(Ordering::Acquire);
        loop {
            // SAFETY: null, or a spare, which only this end writes while it is in the list.
            let spares = match unsafe { head.as_ref() } {
                // SAFETY: as above.
                Some(spare) => 1 + spare.spares.with(|spares| unsafe { *spares }),
                None => 0,
            };
            if spares >= SPARES {
                // SAFETY: from a box, empty, and this call's alone.
                drop(unsafe { Box::from_raw(segment) });
                return;
            }
            // SAFETY: ours until the exchange succeeds.
            unsafe {
                (*segment).set_next(head);
                (*segment).spares.with_mut(|count| *count = spares);
            }
            // Release: the updater may write where this end has read.
            match self.taken.spare.compare_exchange(head, segment, Ordering::Release, Ordering::Acquire) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: this call has the queue alone.
        let free = self.tail.with(|tail| unsafe { (*tail).free });
        // SAFETY: as above.
        let used = self.taken.head.with(|head| unsafe { (*head).segment });
        for mut at in [free, used, self.taken.spare.load(Ordering::Acquire)] {
            // SAFETY: the three lists share nothing, and each segment came from a box. Its entries have run.
            while let Some(segment) = unsafe { at.as_ref() } {
                let next = segment.next();
                // SAFETY: as above.
                drop(unsafe { Box::from_raw(at) });
                at = next;
            }
        }
    }
}
