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
    /// Sends one frame: counts it, hands it to the peer if there is one, and samples it for the tap.
    ///
    /// Returns `false` if the peer's ring is full or the interface is gone; the frame is then counted as dropped and not as sent.
    pub fn send(&mut self, frame: &[u8]) -> bool {
        let slot = self.interface.tx_slot(self.queue);
        if self.interface.is_gone() {
            slot.counters.add_dropped();
            return false;
        }
        if slot.peer.as_ref().is_some_and(|peer| !peer.push(frame)) {
            slot.counters.add_dropped();
            return false;
        }
        slot.counters.add(1, frame.len() as u64);
        if let Some(tap) = &self.interface.tap {
            self.until_sample -= 1;
            if self.until_sample == 0 {
                self.until_sample = tap.every;
                if !tap.ring.push(frame) {
                    slot.counters.add_tap_overflow();
                }
            }
        }
        true
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
