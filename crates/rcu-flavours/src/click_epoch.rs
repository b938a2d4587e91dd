//! The thesis' grace periods: a flag for each thread, and a fuzzy barrier (Venkatesh, "Read-Copy Update Framework
//! for Userlevel Click", Algorithm 2 and Listings 10 and 11).
//!
//! Each thread has a *local epoch*, one or zero. After each task it sets its own to zero and checks whether every
//! thread's is zero; a thread that is blocked counts as zero. If all are, there is a *boundary*: the thread that
//! noticed takes a lock that others only try to take (so none waits: the barrier is fuzzy), reclaims what was retired
//! before the last boundary, and sets all local epochs to one. (In the code `passed` says that the local epoch is zero.)
//!
//! *Invariant:* a section that is running when X is unlinked is over at the second boundary after that. At the first
//! boundary the thread's local epoch may be zero from before its section; but that boundary sets it to one, and only
//! the end of the section sets it to zero again. So garbage waits in `later` for one boundary, and in `now` for the
//! next.
//!
//! *Where the published algorithm is wrong,* as its models in `tests/loom_flavours.rs` show: a thread stores zero after
//! *every* task, whether or not its local epoch is zero already. Nothing orders this store before the next task's
//! reads. So a boundary may come between them: it finds zero (from the task before) and sets one, and then the delayed
//! store makes it zero again, in the middle of a section that found X before the first boundary. The second boundary
//! takes this for the section's end and frees X. Since the store does not read the flag that the boundary wrote, there
//! is also nothing that would make the thread see what was unlinked before the boundary. And a thread that wakes up
//! stores its state just before its first section, with nothing that keeps the section's reads behind that store.
//!
//! *Corrected by these orderings:*
//! 1. A thread whose local epoch is one *swaps* it for zero (acquire and release); one whose local epoch is zero leaves
//!    it alone. A boundary swaps it for one. So the thread's swap cannot overtake a boundary's: either it read what the
//!    boundary wrote, and then the thread's later sections do not find what was unlinked before the boundary; or the
//!    boundary's swap comes later and wins.
//! 2. A boundary's loads *acquire*: sections that ended before the swap that it saw, or before the thread blocked (a
//!    *release*), are over, and ordered before.
//! 3. A boundary *fences* (SeqCst) between taking the garbage and setting the local epochs to one. A thread that wakes stores its
//!    state, *fences*, then reads, and so does a new one. Either the thread's fence is the earlier one, and then this boundary finds
//!    its slot in the list (and sets it to one), and the next finds the thread running; or the thread finds
//!    what was unlinked before the garbage was taken. No boundary needs a fence before it looks: what it frees was taken at the last.
//!
//! *Grace period:* X is unlinked, then retired; boundary A moves it to `now`, boundary B frees it. Take a thread and what
//! B found. Blocked: by 3, with A's fence, its later sections do not find X, by 2 its earlier ones are over. Local epoch zero: A set it to
//! one (else, by 3, the thread's sections never found X), so it was set to zero after A: sections before
//! that are over (2), later ones acquired A's store and do not find X (1).
//!
//! *Publication:* acquire and release of the structure's own links. (The thesis orders the fields of its vector with barriers,
//! to the same end.)
//!
//! As in the thesis, the threads that read also reclaim. Where that matters, prefer another flavour.

use std::{
    marker::PhantomData,
    ptr::NonNull,
    sync::{
        Arc as StdArc, PoisonError, TryLockError, Weak,
        atomic::{AtomicBool as Unordered, Ordering::Relaxed},
    },
};

use rcu::parts::{Entry, Registry};

use crate::{
    flavour::{Flavour, Thread},
    garbage::Garbage,
    sync::{Arc, AtomicBool, Backoff, Mutex, Ordering, fence, ordering, protect},
};

/// The thesis' algorithm, mended where the file's first lines say.
#[derive(Clone)]
pub struct ClickEpoch {
    shared: Arc<Shared>,
    /// What threads of this instance retire.
    lists: StdArc<ReclaimLists>,
}

struct Shared {
    slots: Registry<Slot>,
    /// The lock that one thread gets at a boundary, and the hooks that it fires.
    hooks: Mutex<Vec<Weak<ReclaimHook>>>,
}

#[derive(Default)]
struct Slot {
    /// The local epoch is zero: there was a quiescent state since the last boundary.
    passed: AtomicBool,
    /// The thread is not blocked.
    running: AtomicBool,
}

impl ClickEpoch {
    /// A new instance.
    pub fn new() -> Self {
        let shared = Arc::new(Shared { slots: Registry::new(), hooks: Mutex::new(Vec::new()) });
        let this = Self { shared, lists: ReclaimLists::new() };
        this.lists.hook.initialize(&this);
        this
    }
}

impl Default for ClickEpoch {
    fn default() -> Self {
        Self::new()
    }
}

impl Shared {
    /// Reclaims if there is a boundary and no other thread is about to. Never waits.
    fn try_reclaim(&self) {
        let hooks = match self.hooks.try_lock() {
            Ok(hooks) => hooks,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        if !self.everybody_passed() {
            return;
        }
        // Also if a callback panics.
        let _afterwards = NewEpoch { shared: self };
        hooks.iter().filter_map(Weak::upgrade).filter(|hook| hook.scheduled()).for_each(|hook| hook.fire());
    }

    fn everybody_passed(&self) -> bool {
        // Acquire: rule 2.
        self.slots
            .iter()
            .all(|slot| slot.passed.load(Ordering::Acquire) || !slot.running.load(Ordering::Acquire))
    }
}

/// Ends a boundary: sets all local epochs to one.
struct NewEpoch<'a> {
    shared: &'a Shared,
}

impl Drop for NewEpoch<'_> {
    fn drop(&mut self) {
        // Rule 3.
        protect!("click_boundary_fence", fence(Ordering::SeqCst));
        // Release: who swaps it next sees what was unlinked before the garbage was taken (rule 1).
        let reset = |slot: &Slot| _ = slot.passed.swap(false, Ordering::AcqRel);
        self.shared.slots.iter().for_each(reset);
    }
}

// SAFETY: see the top of the file.
unsafe impl Flavour for ClickEpoch {
    const NAME: &'static str = "click-epoch";
    type Thread = ClickEpochThread;

    fn register(&self) -> ClickEpochThread {
        let slot = self.shared.slots.claim();
        ClickEpochThread { instance: self.clone(), slot, running: false }
    }
}

/// A thread's handle of [`ClickEpoch`].
pub struct ClickEpochThread {
    instance: ClickEpoch,
    slot: NonNull<Entry<Slot>>,
    /// What the slot says.
    running: bool,
}

// SAFETY: an instance, and a slot that only this handle's owner and boundaries write, with atomics.
unsafe impl Send for ClickEpochThread {}

/// A section of [`ClickEpoch`]: part of a task, which ends with the next quiescent state.
#[derive(Debug)]
pub struct ClickEpochSection<'a> {
    _thread: PhantomData<&'a ClickEpochThread>,
}

impl ClickEpochThread {
    fn slot(&self) -> &Slot {
        // SAFETY: entries live as long as their registry, which the instance keeps alive.
        unsafe { self.slot.as_ref() }.value()
    }

    #[cold]
    fn wake(&mut self) {
        self.slot().running.store(true, Ordering::Relaxed);
        // Rule 3.
        protect!("click_wake_fence", fence(Ordering::SeqCst));
        self.running = true;
    }

    /// Waits until all that was retired so far is reclaimed.
    fn wait_for_lists(&mut self) {
        self.offline();
        let done = Arc::new(AtomicBool::new(false));
        let ours = done.clone();
        // Acquire and release: the waiter comes after the sections that the boundaries came after.
        self.instance.lists.retire(Garbage::from_fn(0, move || ours.store(true, Ordering::Release)));
        let mut backoff = Backoff::default();
        while !done.load(Ordering::Acquire) {
            self.instance.shared.try_reclaim();
            backoff.snooze();
        }
    }
}

// SAFETY: see the top of the file.
unsafe impl Thread for ClickEpochThread {
    type Read<'a> = ClickEpochSection<'a>;
    type Update<'a> = ClickEpochSection<'a>;

    #[inline]
    fn read(&mut self) -> ClickEpochSection<'_> {
        if !self.running {
            self.wake();
        }
        ClickEpochSection { _thread: PhantomData }
    }

    #[inline]
    fn update(&mut self) -> ClickEpochSection<'_> {
        self.read()
    }

    fn quiescent(&mut self) {
        let passed = &self.slot().passed;
        if cfg!(rcu_mutant = "click_as_published") {
            passed.store(true, Ordering::Release);
        } else if !passed.load(Ordering::Relaxed) {
            passed.swap(true, ordering!("click_pass", AcqRel));
        }
        self.instance.shared.try_reclaim();
    }

    fn offline(&mut self) {
        if self.running {
            // Release: rule 2.
            self.slot().running.store(false, ordering!("click_block", Release));
            self.running = false;
        }
    }

    fn synchronize(&mut self) {
        self.wait_for_lists();
    }

    fn retire(&mut self, garbage: Garbage) {
        self.instance.lists.retire(garbage);
    }

    fn barrier(&mut self) {
        self.wait_for_lists();
    }
}

impl Drop for ClickEpochThread {
    fn drop(&mut self) {
        self.offline();
        // SAFETY: claimed in `register`, released here only; a free slot's thread is not running.
        unsafe { self.instance.shared.slots.release(self.slot) };
    }
}

/// Something that frees, at each boundary, what it moved aside at the last, and moves aside what came in since.
pub trait Reclaimable: Send + Sync {
    /// Called at a boundary.
    fn reclaim(&self);
}

/// How an element has itself called at boundaries (the thesis' Listing 10). Dropping the hook ends it.
pub struct ReclaimHook {
    target: Weak<dyn Reclaimable>,
    /// Orders nothing: the lists that a hook serves have locks of their own.
    scheduled: Unordered,
}

impl ReclaimHook {
    /// A hook for `target`, not scheduled.
    pub fn new(target: Weak<dyn Reclaimable>) -> StdArc<Self> {
        StdArc::new(Self { target, scheduled: false.into() })
    }

    /// Registers the hook; to be called once, before anything is scheduled.
    pub fn initialize(self: &StdArc<Self>, instance: &ClickEpoch) {
        let mut hooks = instance.shared.hooks.lock().unwrap_or_else(PoisonError::into_inner);
        hooks.retain(|hook| hook.strong_count() > 0);
        hooks.push(StdArc::downgrade(self));
    }

    /// True if the hook is to be called at boundaries.
    pub fn scheduled(&self) -> bool {
        self.scheduled.load(Relaxed)
    }

    /// Has the hook called at boundaries.
    pub fn schedule(&self) {
        self.scheduled.store(true, Relaxed);
    }

    /// Has it no longer called.
    pub fn unschedule(&self) {
        self.scheduled.store(false, Relaxed);
    }

    /// Calls what it was made for.
    pub fn fire(&self) {
        if let Some(target) = self.target.upgrade() {
            target.reclaim();
        }
    }
}

/// The two lists of the thesis, `reclaim_now` and `reclaim_later`, and the hook that serves them.
pub struct ReclaimLists {
    lists: Mutex<Lists>,
    hook: StdArc<ReclaimHook>,
}

#[derive(Default)]
struct Lists {
    now: Vec<Garbage>,
    later: Vec<Garbage>,
}

impl ReclaimLists {
    /// Empty lists. Their [hook](Self::hook) is to be initialized before anything is retired.
    pub fn new() -> StdArc<Self> {
        StdArc::new_cyclic(|this: &Weak<Self>| Self {
            lists: Mutex::new(Lists::default()),
            hook: ReclaimHook::new(this.clone()),
        })
    }

    /// The hook that serves the lists.
    pub fn hook(&self) -> &StdArc<ReclaimHook> {
        &self.hook
    }

    /// Adds something that was unlinked.
    pub fn retire(&self, garbage: Garbage) {
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        lists.later.push(garbage);
        self.hook.schedule();
    }
}

impl Reclaimable for ReclaimLists {
    fn reclaim(&self) {
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        let later = std::mem::take(&mut lists.later);
        let ready = std::mem::replace(&mut lists.now, later);
        if lists.now.is_empty() {
            self.hook.unschedule();
        }
        // A callback may retire something.
        drop(lists);
        drop(ready);
    }
}

impl std::fmt::Debug for ClickEpoch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ClickEpoch")
    }
}

impl std::fmt::Debug for ClickEpochThread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClickEpochThread").field("running", &self.running).finish()
    }
}

impl std::fmt::Debug for ReclaimHook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReclaimHook").field("scheduled", &self.scheduled()).finish()
    }
}

impl std::fmt::Debug for ReclaimLists {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReclaimLists").field("hook", &self.hook).finish_non_exhaustive()
    }
}
