//! Batches: the unit in which packets travel between elements.

use crate::packet::Packet;
use std::mem::MaybeUninit;

/// Packets that a batch holds at most. Larger vectors overflow the first-level cache with the packets' own lines.
pub const BATCH_MAX: usize = 128;

/// An ordered vector of at most [`BATCH_MAX`] packets.
///
/// One pointer wide, so that moving a batch between elements is free. Take batches from [`crate::Pool::batch`] and give
/// them back with [`crate::Pool::recycle`] to avoid the allocator.
pub struct Batch(Box<Inner>);

struct Inner {
    len: usize,
    packets: [MaybeUninit<Packet>; BATCH_MAX],
}

impl Default for Batch {
    fn default() -> Self {
        Batch::new()
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.clear();
    }
}

impl Batch {
    /// An empty batch, from the allocator.
    pub fn new() -> Batch {
        Batch(Box::new(Inner { len: 0, packets: [const { MaybeUninit::uninit() }; BATCH_MAX] }))
    }

    /// Number of packets.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.len
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.len == 0
    }

    /// Whether no more fit.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.0.len == BATCH_MAX
    }

    /// Adds a packet at the end.
    ///
    /// # Panics
    /// If the batch is full.
    #[inline]
    pub fn push(&mut self, packet: Packet) {
        let len = self.0.len;
        self.0.packets[len].write(packet);
        self.0.len = len + 1;
    }

    /// Removes the last packet.
    #[inline]
    pub fn pop(&mut self) -> Option<Packet> {
        let last = self.0.len.checked_sub(1)?;
        self.0.len = last;
        // SAFETY: slots below the former length are initialised; the new length disowns this one.
        Some(unsafe { self.0.packets[last].assume_init_read() })
    }

    /// The packets, in order.
    #[inline]
    pub fn packets(&self) -> &[Packet] {
        let live = &self.0.packets[..self.0.len];
        // SAFETY: slots below the length are initialised, and `MaybeUninit<Packet>` has the layout of `Packet`.
        unsafe { &*(live as *const [MaybeUninit<Packet>] as *const [Packet]) }
    }

    /// The packets, writable.
    #[inline]
    pub fn packets_mut(&mut self) -> &mut [Packet] {
        let len = self.0.len;
        let live = &mut self.0.packets[..len];
        // SAFETY: as in `packets`, and `&mut self` makes the access exclusive.
        unsafe { &mut *(live as *mut [MaybeUninit<Packet>] as *mut [Packet]) }
    }

    /// Iterates over the packets in order.
    #[inline]
    pub fn iter(&self) -> std::slice::Iter<'_, Packet> {
        self.packets().iter()
    }

    /// Iterates over the packets in order, writable.
    #[inline]
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, Packet> {
        self.packets_mut().iter_mut()
    }

    /// Hands every packet to `f`, in order; those that it returns stay, moved together.
    ///
    /// The workhorse of elements that pass most packets on: `f` either returns the packet or keeps it.
    #[inline]
    pub fn filter_map(&mut self, mut f: impl FnMut(Packet) -> Option<Packet>) {
        let len = std::mem::take(&mut self.0.len); // a panic in `f` leaks packets instead of freeing them twice
        let mut kept = 0;
        for i in 0..len {
            // SAFETY: slots below the former length are initialised, and each is read once.
            let packet = unsafe { self.0.packets[i].assume_init_read() };
            if let Some(packet) = f(packet) {
                self.0.packets[kept].write(packet); // kept <= i: this slot was read already
                kept += 1;
            }
        }
        self.0.len = kept;
    }

    /// Hands every packet to `f`, in order, and leaves the batch empty.
    #[inline]
    pub fn drain(&mut self, mut f: impl FnMut(Packet)) {
        let len = std::mem::take(&mut self.0.len); // a panic in `f` leaks packets instead of freeing them twice
        for slot in &self.0.packets[..len] {
            // SAFETY: slots below the former length are initialised, and each is read once.
            f(unsafe { slot.assume_init_read() });
        }
    }

    /// Moves the packets of which `goes` says so to the end of `others`, in order; those that stay move together.
    /// No branch depends on which go, because no processor could guess it.
    ///
    /// # Panics
    /// If it doesn't say so for as many as there are, or if all packets would not fit there.
    #[inline]
    pub fn part(&mut self, goes: &[bool], others: &mut Batch) {
        let count = self.0.len;
        let (from, to) = (&mut self.0.packets, &mut others.0.packets[others.0.len..]);
        assert!(goes.len() == count && count <= to.len(), "batch overflow");
        let (from, to) = (from.as_mut_ptr(), to.as_mut_ptr());
        let (mut gone, mut kept) = (0, 0);
        for (at, &goes) in goes.iter().enumerate() {
            // SAFETY: each packet before counts for one of `gone` and `kept`, so that both are at most `at`, which is
            // less than `count`: all places are within both arrays. The packet is copied to two places, of which the
            // lengths below own exactly one: with each packet one of the places moves on, and the other is written
            // again or lies behind the end.
            unsafe {
                from.add(at).copy_to_nonoverlapping(to.add(gone), 1);
                from.add(at).copy_to(from.add(kept), 1);
            }
            gone += usize::from(goes);
            kept += usize::from(!goes);
        }
        others.0.len += gone;
        self.0.len = kept;
    }

    /// Moves the packets from `at` on to the end of `rest`.
    ///
    /// # Panics
    /// If they do not fit there.
    pub fn split_off(&mut self, at: usize, rest: &mut Batch) {
        let moved = self.0.len.saturating_sub(at);
        assert!(rest.0.len + moved <= BATCH_MAX, "batch overflow");
        for i in at..at + moved {
            // SAFETY: slots below the length are initialised; the length is cut below, so each moves once.
            rest.push(unsafe { self.0.packets[i].assume_init_read() });
        }
        self.0.len -= moved;
    }

    /// Removes the first packet; the others move up. For batches of one this is as cheap as [`Batch::pop`].
    pub fn pop_front(&mut self) -> Option<Packet> {
        if self.0.len <= 1 {
            return self.pop();
        }
        let mut first = None;
        self.filter_map(|packet| match &first {
            None => {
                first = Some(packet);
                None
            }
            Some(_) => Some(packet),
        });
        first
    }

    /// Adds packets that are copied from memory.
    ///
    /// # Safety
    /// There are so many packets at `from`, and the caller forgets them there. They have room in the batch.
    #[inline]
    pub(crate) unsafe fn add(&mut self, from: *const Packet, count: usize) {
        debug_assert!(count <= BATCH_MAX - self.0.len, "batch overflow");
        // SAFETY: the caller says that there is room behind the packets.
        unsafe {
            let to = self.0.packets.as_mut_ptr().cast::<Packet>().add(self.0.len);
            from.copy_to_nonoverlapping(to, count);
        }
        self.0.len += count;
    }

    /// Empties the batch; the caller that has noted the buffers owns them now.
    #[inline]
    pub(crate) fn forget(&mut self) {
        self.0.len = 0;
    }

    /// Drops all packets.
    pub fn clear(&mut self) {
        self.drain(drop);
    }
}

impl Extend<Packet> for Batch {
    fn extend<I: IntoIterator<Item = Packet>>(&mut self, packets: I) {
        packets.into_iter().for_each(|packet| self.push(packet));
    }
}

impl std::fmt::Debug for Batch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.packets()).finish()
    }
}
