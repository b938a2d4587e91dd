//! A bounded ring of frames that reuses its buffers.

use crossbeam_queue::ArrayQueue;

/// Room of a new buffer in bytes: an ordinary frame fits without growing it.
const BUFFER_LEN: usize = 2048;

/// Buffers go round between the two queues, so that passing a frame on allocates nothing.
///
/// Every buffer is in `free`, in `full` or in the hands of a thread that is about to move it to the other; an
/// empty `free` therefore means that the ring has no room.
#[derive(Debug)]
pub(super) struct FrameRing {
    full: ArrayQueue<Vec<u8>>,
    free: ArrayQueue<Vec<u8>>,
}

impl FrameRing {
    /// A ring for `capacity` frames, at least one.
    pub(super) fn new(capacity: usize) -> FrameRing {
        let capacity = capacity.max(1);
        let ring = FrameRing { full: ArrayQueue::new(capacity), free: ArrayQueue::new(capacity) };
        while ring.free.push(Vec::with_capacity(BUFFER_LEN)).is_ok() {}
        ring
    }

    /// Copies a frame into the ring; `false` if it is full.
    pub(super) fn push(&self, frame: &[u8]) -> bool {
        let Some(mut buffer) = self.free.pop() else { return false };
        buffer.clear();
        buffer.extend_from_slice(frame);
        // There are as many buffers as either queue has places.
        self.full.push(buffer).is_ok()
    }

    /// Shows the oldest frame to `f` and removes it; `None` if the ring is empty.
    pub(super) fn pop<R>(&self, f: impl FnOnce(&[u8]) -> R) -> Option<R> {
        let buffer = self.full.pop()?;
        let result = f(&buffer);
        // As above, there is a place for it.
        let _ = self.free.push(buffer);
        Some(result)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.full.is_empty()
    }
}
