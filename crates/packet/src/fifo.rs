//! Packets that wait for their turn.

use crate::batch::{BATCH_MAX, Batch};
use crate::packet::Packet;
use std::mem::MaybeUninit;

/// The least size of a ring that is not empty.
const LEAST: usize = 16;

/// A ring of packets, first in, first out, that grows when it is full.
///
/// Whole batches move in and out of it as memory, which takes a fifth of the instructions of moving their packets one by one.
#[derive(Default)]
pub struct Fifo {
    /// As many as a power of two, or none.
    slots: Box<[MaybeUninit<Packet>]>,
    /// Where the first packet is.
    head: usize,
    /// The packets are in so many slots from `head` on, with the first slot behind the last one.
    len: usize,
}

impl Drop for Fifo {
    fn drop(&mut self) {
        while self.pop_front().is_some() {}
    }
}

impl Fifo {
    /// An empty one with room for so many packets at least.
    ///
    /// # Panics
    /// If there is no memory for them.
    pub fn with_capacity(packets: usize) -> Fifo {
        let mut fifo = Fifo::default();
        if packets > 0 {
            fifo.grow(packets);
        }
        fifo
    }

    /// Number of packets.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds a packet at the end.
    #[inline]
    pub fn push_back(&mut self, packet: Packet) {
        self.reserve(1);
        let at = self.place(self.len);
        self.slots[at].write(packet);
        self.len += 1;
    }

    /// Adds a packet before the first one.
    pub fn push_front(&mut self, packet: Packet) {
        self.reserve(1);
        self.head = self.place(self.slots.len() - 1);
        self.slots[self.head].write(packet);
        self.len += 1;
    }

    /// Takes the first packet.
    #[inline]
    pub fn pop_front(&mut self) -> Option<Packet> {
        self.len = self.len.checked_sub(1)?;
        let at = self.head;
        self.head = self.place(1);
        // SAFETY: the packet at the head was one of `len`, and no longer is.
        Some(unsafe { self.slots[at].assume_init_read() })
    }

    /// Takes the last packet.
    pub fn pop_back(&mut self) -> Option<Packet> {
        self.len = self.len.checked_sub(1)?;
        // SAFETY: the packet behind those that are left was one of them, and no longer is.
        Some(unsafe { self.slots[self.place(self.len)].assume_init_read() })
    }

    /// Moves all packets of a batch to the end.
    #[inline]
    pub fn append(&mut self, batch: &mut Batch) {
        let count = batch.len();
        // A packet alone moves as it is: to copy memory takes a call.
        if count == 1
            && let Some(packet) = batch.pop()
        {
            return self.push_back(packet);
        }
        self.reserve(count);
        let at = self.place(self.len);
        let before_end = count.min(self.slots.len() - at);
        let (from, to) = (batch.packets().as_ptr(), self.slots.as_mut_ptr().cast::<Packet>());
        // SAFETY: `count` packets are in the batch. There is room for as many behind the `len` that are here, in two pieces where the
        // ring begins anew; neither is beyond the slots. The batch forgets its packets, so that each has one owner.
        unsafe {
            from.copy_to_nonoverlapping(to.add(at), before_end);
            from.add(before_end).copy_to_nonoverlapping(to, count - before_end);
        }
        batch.forget();
        self.len += count;
    }

    /// Moves the first packets to the end of a batch: `most`, or as many as there are, or as fit.
    #[inline]
    pub fn take_into(&mut self, batch: &mut Batch, most: usize) {
        let count = most.min(self.len).min(BATCH_MAX - batch.len());
        if count == 1
            && let Some(packet) = self.pop_front()
        {
            return batch.push(packet);
        }
        let before_end = count.min(self.slots.len() - self.head);
        let from = self.slots.as_ptr().cast::<Packet>();
        // SAFETY: `count` of the `len` packets from `head` on are copied, in two pieces where the ring begins anew; they are no longer among
        // those of the ring afterwards. The batch has room for them.
        unsafe {
            batch.add(from.add(self.head), before_end);
            batch.add(from, count - before_end);
        }
        self.head = self.place(count);
        self.len -= count;
    }

    /// The slot of the packet with this number, counted from the head. There are slots, or the number is 0.
    #[inline]
    fn place(&self, number: usize) -> usize {
        (self.head + number) & self.slots.len().wrapping_sub(1)
    }

    #[inline]
    fn reserve(&mut self, more: usize) {
        if self.slots.len() - self.len < more {
            self.grow(self.len + more);
        }
    }

    /// Moves to a ring with room for so many packets.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, packets: usize) {
        let mut slots = Box::new_uninit_slice(packets.next_power_of_two().max(LEAST));
        let before_end = self.len.min(self.slots.len() - self.head);
        let (from, to) = (self.slots.as_ptr(), slots.as_mut_ptr());
        // SAFETY: the new ring has more slots than there are packets, which are copied in their order, in two pieces where the old one begins
        // anew. The old ring's slots are freed without what is in them.
        unsafe {
            from.add(self.head).copy_to_nonoverlapping(to, before_end);
            from.copy_to_nonoverlapping(to.add(before_end), self.len - before_end);
        }
        (self.slots, self.head) = (slots, 0);
    }
}

impl Extend<Packet> for Fifo {
    fn extend<I: IntoIterator<Item = Packet>>(&mut self, packets: I) {
        packets.into_iter().for_each(|packet| self.push_back(packet));
    }
}

impl std::fmt::Debug for Fifo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} packets", self.len)
    }
}
