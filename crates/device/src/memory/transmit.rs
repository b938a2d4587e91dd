//! The sending side of a queue.

use std::sync::Arc;

use super::interface::{Interface, lock};

/// A transmit queue, owned by the worker that took it.
#[derive(Debug)]
pub struct TxQueue {
    interface: Arc<Interface>,
    queue: usize,
    /// Frames until the next sample for the tap, that frame included.
    until_sample: u32,
}

impl Interface {
    /// Takes transmit queue `queue`; as [`Interface::take_rx`].
    pub fn take_tx(self: &Arc<Self>, queue: usize) -> Option<TxQueue> {
        let until_sample = lock(&self.tx.get(queue)?.waiting).take()?;
        Some(TxQueue { interface: Arc::clone(self), queue, until_sample })
    }
}

impl TxQueue {
    /// Sends one frame; as [`TxQueue::send_all`].
    pub fn send(&mut self, frame: &[u8]) -> bool {
        self.send_all([frame].into_iter()) == 1
    }

    /// Sends frames: counts them, hands them to the peer if there is one, and samples them for the tap.
    ///
    /// Returns how many were sent. One is not if the peer's ring is full or the interface is gone; it is counted as dropped then.
    pub fn send_all<'f>(&mut self, frames: impl ExactSizeIterator<Item = &'f [u8]>) -> usize {
        let slot = self.interface.tx_slot(self.queue);
        if self.interface.is_gone() {
            slot.counters.add_dropped(frames.len() as u64);
            return 0;
        }
        let all = frames.len() as u64;
        let (mut packets, mut bytes) = (0, 0);
        for frame in frames {
            if slot.peer.as_ref().is_some_and(|peer| !peer.push(frame)) {
                continue;
            }
            packets += 1;
            bytes += frame.len() as u64;
            let Some(tap) = &self.interface.tap else { continue };
            self.until_sample -= 1;
            if self.until_sample == 0 {
                self.until_sample = tap.every;
                if !tap.ring.push(frame) {
                    slot.counters.add_tap_overflow();
                }
            }
        }
        slot.counters.add(packets, bytes);
        if packets < all {
            slot.counters.add_dropped(all - packets);
        }
        packets as usize
    }

    /// The interface it belongs to.
    pub fn interface(&self) -> &Arc<Interface> {
        &self.interface
    }

    /// Its number.
    pub fn queue(&self) -> usize {
        self.queue
    }
}

impl Drop for TxQueue {
    fn drop(&mut self) {
        *lock(&self.interface.tx_slot(self.queue).waiting) = Some(self.until_sample);
    }
}
