//! Callbacks, and the stacks that updaters push them onto.

use std::ptr::{self, NonNull};

use crate::sync::{AtomicPtr, Ordering, ordering};

/// The head of a queued callback; a [`Node`] begins with one.
#[repr(C)]
pub(crate) struct Header {
    next: *mut Header,
    /// Bytes charged for it.
    charge: usize,
    /// Whether it may block, and so runs in the pool.
    blocking: bool,
    /// Frees the node and runs its closure.
    run: unsafe fn(*mut Header),
}

#[repr(C)]
struct Node<F> {
    header: Header,
    closure: F,
}

impl<F: FnOnce()> Node<F> {
    /// # Safety
    /// `header` heads a leaked `Box<Node<F>>`, which the caller gives up.
    unsafe fn run(header: *mut Header) {
        // SAFETY: passed on to the caller; `repr(C)` puts the header at the node's address.
        let node = unsafe { Box::from_raw(header.cast::<Self>()) };
        (node.closure)();
    }
}

/// A callback outside of queues. Dropped without being run it leaks, which none is.
pub(crate) struct Callback(NonNull<Header>);

impl Callback {
    /// A callback to be queued, charged with so many bytes.
    pub(crate) fn new<F: FnOnce() + Send + 'static>(closure: F, charge: usize, blocking: bool) -> Self {
        let header = Header { next: ptr::null_mut(), charge, blocking, run: Node::<F>::run };
        Self(NonNull::from(Box::leak(Box::new(Node { header, closure }))).cast())
    }

    fn header(&self) -> &Header {
        // SAFETY: the callback owns its node.
        unsafe { self.0.as_ref() }
    }

    pub(crate) fn may_block(&self) -> bool {
        self.header().blocking
    }

    pub(crate) fn charge(&self) -> usize {
        self.header().charge
    }

    /// Runs the closure and frees the node.
    pub(crate) fn run(self) {
        let run = self.header().run;
        // SAFETY: `run` is the function of this very node, which is given up.
        unsafe { run(self.0.as_ptr()) };
    }
}

// SAFETY: a node is owned by its `Callback`, and its closure is `Send` (see `new`).
unsafe impl Send for Callback {}

/// One updater's callbacks, newest first: anybody pushes, the reclaimer takes all.
#[derive(Default)]
pub(crate) struct Queue {
    head: AtomicPtr<Header>,
}

// SAFETY: the nodes on the stack are `Send` and owned by it.
unsafe impl Send for Queue {}
// SAFETY: as above; the head is atomic.
unsafe impl Sync for Queue {}

impl Queue {
    pub(crate) fn push(&self, Callback(node): Callback) {
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            // SAFETY: the node is ours until the exchange below succeeds.
            unsafe { (*node.as_ptr()).next = head };
            // Release: the reclaimer, whose `take` acquires, sees the node, and all that its updater unlinked.
            let release = ordering!("push_release", Release);
            match self.head.compare_exchange(head, node.as_ptr(), release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    /// Moves all callbacks to the end of `batch`, oldest first.
    pub(crate) fn take(&self, batch: &mut Vec<Callback>) {
        let first = batch.len();
        let mut at = self.head.swap(ptr::null_mut(), Ordering::Acquire);
        while let Some(node) = NonNull::new(at) {
            // SAFETY: taken off the stack, so ours alone.
            at = unsafe { node.as_ref() }.next;
            batch.push(Callback(node));
        }
        batch[first..].reverse();
    }
}
