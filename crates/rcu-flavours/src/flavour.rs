//! The trait that all flavours implement.

use crate::garbage::Garbage;

/// An instance of a way to protect shared data. Clones are the same instance.
///
/// # Safety
/// An implementation promises, for all threads registered with one instance:
///
/// - *Grace period.* If a thread unlinks X in an update section and then retires X, or synchronizes and frees X,
///   every read and update section that could have found X is over before X is freed, and what it read is
///   ordered before. A section is over at its guard's drop at the earliest, and at the thread's next quiescent state at
///   the latest.
/// - *Publication.* What a thread wrote before it unlinked or linked something with a release operation, a
///   section that finds the link with an acquire operation sees. This needs no more than that sections do not
///   undo what acquire and release do; flavours whose sections exclude each other give more.
///
/// Constructors of flavours that keep the first promise only under conditions are `unsafe` and name them.
pub unsafe trait Flavour: Clone + Send + Sync + 'static {
    /// What tables of results call it.
    const NAME: &'static str;

    /// True if an update section excludes every other section of the instance, so that updaters need no lock of their own.
    const EXCLUSIVE: bool = false;

    /// A thread's access to the instance.
    type Thread: Thread;

    /// A handle for one thread.
    fn register(&self) -> Self::Thread;
}

/// Flavours of which a program can afford many instances, one for each bucket of a table, say: a thread's handle
/// has no state that others look at, so that none has to announce quiescent states to all of them.
pub trait Divisible: Flavour + Default {}

/// One thread's access to an instance of a flavour. Dropping it unregisters the thread.
///
/// Sections of one thread do not nest; the borrow checker sees to it. References into protected data must not
/// outlive their section.
///
/// # Safety
/// See [`Flavour`].
pub unsafe trait Thread: Send + 'static {
    /// A read section lasts at least as long as this guard.
    type Read<'a>;
    /// An update section lasts at least as long as this guard.
    type Update<'a>;

    /// Begins a section that follows links.
    fn read(&mut self) -> Self::Read<'_>;

    /// Begins a section that follows and changes links. Unless the flavour is [`EXCLUSIVE`](Flavour::EXCLUSIVE),
    /// other updaters are in theirs meanwhile.
    fn update(&mut self) -> Self::Update<'_>;

    /// Says that this thread holds no reference: to be called now and then, between sections, by every thread
    /// that is not [offline](Self::offline). For flavours that need it nothing is reclaimed otherwise.
    fn quiescent(&mut self) {}

    /// Says that this thread holds no reference, and will hold none until its next section: before it sleeps.
    fn offline(&mut self) {
        self.quiescent();
    }

    /// True if another thread waits for this thread's next quiescent state and would like it soon.
    fn asked(&self) -> bool {
        false
    }

    /// Waits until every section that was under way is over.
    fn synchronize(&mut self);

    /// Has `garbage`, which has been unlinked, reclaimed when every section that was under way is over: later
    /// by some thread, or, in flavours without callbacks, now by this thread, after waiting.
    fn retire(&mut self, garbage: Garbage) {
        self.synchronize();
        drop(garbage);
    }

    /// Waits until all that this thread has retired is reclaimed.
    fn barrier(&mut self) {}
}
