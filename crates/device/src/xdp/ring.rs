//! Rings between a socket and the kernel: one side writes, the other reads.

use crate::sys::{self, Mapping};
use std::io;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// One end of a ring with entries of type `T`.
///
/// `T` is what the kernel keeps there: `u64` in the fill and completion rings, `xdp_desc` in the others.
pub(super) struct Ring<T> {
    /// Keeps the memory mapped.
    _map: Mapping,
    producer: NonNull<AtomicU32>,
    consumer: NonNull<AtomicU32>,
    flags: NonNull<AtomicU32>,
    entries: NonNull<T>,
    size: u32,
    /// Our index, and what we last saw of the kernel's.
    own: u32,
    peer: u32,
}

// SAFETY: the pointers lead into the mapping, which the ring owns; this end has one owner.
unsafe impl<T> Send for Ring<T> {}

/// Which ring of a socket.
#[derive(Clone, Copy)]
pub(super) enum Which {
    Fill,
    Completion,
    Rx,
    Tx,
}

impl<T: Copy> Ring<T> {
    /// Makes one of a socket's rings, with `size` entries, a power of two.
    pub(super) fn new(fd: &OwnedFd, which: Which, size: u32) -> io::Result<Ring<T>> {
        let (option, page) = match which {
            Which::Fill => (libc::XDP_UMEM_FILL_RING, libc::XDP_UMEM_PGOFF_FILL_RING as i64),
            Which::Completion => {
                (libc::XDP_UMEM_COMPLETION_RING, libc::XDP_UMEM_PGOFF_COMPLETION_RING as i64)
            }
            Which::Rx => (libc::XDP_RX_RING, libc::XDP_PGOFF_RX_RING),
            Which::Tx => (libc::XDP_TX_RING, libc::XDP_PGOFF_TX_RING),
        };
        sys::set_option(fd, libc::SOL_XDP, option, &size)?;
        let offsets: libc::xdp_mmap_offsets = sys::option(fd, libc::SOL_XDP, libc::XDP_MMAP_OFFSETS)?;
        let at = match which {
            Which::Fill => offsets.fr,
            Which::Completion => offsets.cr,
            Which::Rx => offsets.rx,
            Which::Tx => offsets.tx,
        };
        let map = Mapping::new(Some(fd), at.desc as usize + size as usize * size_of::<T>(), page)?;
        // SAFETY: the kernel gave the offsets for this mapping, and aligns what is there.
        let place = |offset: u64| unsafe { map.base().add(offset as usize) };
        let (producer, consumer) = (place(at.producer).cast(), place(at.consumer).cast());
        let (flags, entries) = (place(at.flags).cast(), place(at.desc).cast());
        Ok(Ring { producer, consumer, flags, entries, size, own: 0, peer: 0, _map: map })
    }

    fn word(&self, at: NonNull<AtomicU32>) -> &AtomicU32 {
        // SAFETY: the word lies in the mapping, which lives as long as `self`; both sides use it atomically.
        unsafe { at.as_ref() }
    }

    fn entry(&self, index: u32) -> *mut T {
        // SAFETY: the index is cut to the ring's size, for which the mapping was made.
        unsafe { self.entries.as_ptr().add((index & (self.size - 1)) as usize) }
    }

    /// Writing end: entries that can be written now.
    pub(super) fn room(&mut self, wanted: u32) -> u32 {
        if self.seen_room() < wanted {
            self.peer = self.word(self.consumer).load(Ordering::Acquire);
        }
        self.seen_room()
    }

    /// The room by what was last seen. Whatever the kernel said, never more than the ring has.
    fn seen_room(&self) -> u32 {
        self.size.saturating_sub(self.own.wrapping_sub(self.peer))
    }

    /// Writing end: writes the next entry, for which there must be room; [`Ring::publish`] shows it.
    pub(super) fn write(&mut self, value: T) {
        // SAFETY: the entry is this end's until it is published.
        unsafe { self.entry(self.own).write(value) };
        self.own = self.own.wrapping_add(1);
    }

    /// Writing end: shows what was written to the kernel.
    pub(super) fn publish(&mut self) {
        self.word(self.producer).store(self.own, Ordering::Release);
    }

    /// Reading end: the next entry, if there is one; [`Ring::release`] gives it back.
    pub(super) fn read(&mut self) -> Option<T> {
        if self.own == self.peer {
            self.peer = self.word(self.producer).load(Ordering::Acquire);
            if self.own == self.peer {
                return None;
            }
        }
        // SAFETY: the kernel has published the entry, which the load above synchronises with.
        let value = unsafe { self.entry(self.own).read() };
        self.own = self.own.wrapping_add(1);
        Some(value)
    }

    /// Reading end: gives back what was read.
    pub(super) fn release(&mut self) {
        self.word(self.consumer).store(self.own, Ordering::Release);
    }

    /// Whether the kernel wants a system call before it goes on.
    pub(super) fn needs_wakeup(&self) -> bool {
        self.word(self.flags).load(Ordering::Relaxed) & libc::XDP_RING_NEED_WAKEUP != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::collections::VecDeque;
    use std::sync::atomic::AtomicU64;

    const SIZE: u32 = 8;

    /// The memory that a ring shares with the kernel, and the kernel's end of it, as plain as it can be.
    struct Kernel {
        producer: AtomicU32,
        consumer: AtomicU32,
        flags: AtomicU32,
        entries: [AtomicU64; SIZE as usize],
    }

    impl Kernel {
        /// An empty ring whose indices are at `start`.
        fn new(start: u32) -> Kernel {
            Kernel {
                producer: start.into(),
                consumer: start.into(),
                flags: 0.into(),
                entries: [const { AtomicU64::new(0) }; SIZE as usize],
            }
        }

        /// Our end of the empty ring, to be used while the kernel stays where it is.
        fn ring(&self) -> Ring<u64> {
            let start = self.producer.load(Ordering::Relaxed);
            Ring {
                _map: Mapping::new(None, 1, 0).expect("a page"),
                producer: NonNull::from(&self.producer),
                consumer: NonNull::from(&self.consumer),
                flags: NonNull::from(&self.flags),
                entries: NonNull::from(&self.entries).cast(),
                size: SIZE,
                own: start,
                peer: start,
            }
        }

        /// The producer's and the consumer's index.
        fn indices(&self) -> (u32, u32) {
            (self.producer.load(Ordering::Acquire), self.consumer.load(Ordering::Acquire))
        }

        /// Entries that were produced and not consumed.
        fn len(&self) -> usize {
            let (producer, consumer) = self.indices();
            producer.wrapping_sub(consumer) as usize
        }

        /// Consumes the oldest entry.
        fn take(&self) -> Option<u64> {
            let (_, at) = self.indices();
            (self.len() > 0).then(|| {
                let value = self.entries[(at % SIZE) as usize].load(Ordering::Relaxed);
                self.consumer.store(at.wrapping_add(1), Ordering::Release);
                value
            })
        }

        /// Produces an entry, if there is room.
        fn put(&self, value: u64) -> bool {
            let (at, _) = self.indices();
            let has_room = self.len() < SIZE as usize;
            if has_room {
                self.entries[(at % SIZE) as usize].store(value, Ordering::Relaxed);
                self.producer.store(at.wrapping_add(1), Ordering::Release);
            }
            has_room
        }
    }

    /// Where indices begin: also shortly before they wrap.
    fn start() -> impl Strategy<Value = u32> {
        prop_oneof![Just(0), any::<u32>(), u32::MAX - 40..=u32::MAX]
    }

    /// What happens at a ring that we write.
    #[derive(Clone, Copy, Debug)]
    enum Writing {
        Room(u32),
        Write,
        Publish,
        /// The kernel takes an entry.
        Take,
    }

    fn writing() -> impl Strategy<Value = Writing> {
        prop_oneof![
            2 => (0..=SIZE).prop_map(Writing::Room),
            4 => Just(Writing::Write),
            1 => Just(Writing::Publish),
            3 => Just(Writing::Take),
        ]
    }

    /// What happens at a ring that we read.
    #[derive(Clone, Copy, Debug)]
    enum Reading {
        /// The kernel puts an entry.
        Put,
        Read,
        Release,
    }

    fn reading() -> impl Strategy<Value = Reading> {
        prop_oneof![4 => Just(Reading::Put), 3 => Just(Reading::Read), 1 => Just(Reading::Release)]
    }

    proptest! {
        /// The ring is compared with two plain queues: of what is written, and of what is published.
        #[test]
        fn the_kernel_takes_what_is_published_in_order(start in start(), steps in vec(writing(), 0..300)) {
            let kernel = Kernel::new(start);
            let mut ring = kernel.ring();
            let (mut written, mut published) = (VecDeque::new(), VecDeque::new());
            let (mut value, mut room) = (0, 0);
            for step in steps {
                match step {
                    Writing::Room(wanted) => {
                        let free = SIZE - (written.len() + published.len()) as u32;
                        room = ring.room(wanted);
                        prop_assert!((wanted.min(free)..=free).contains(&room), "{room} of {free}");
                    }
                    Writing::Write if room > 0 => {
                        value += 1;
                        room -= 1;
                        ring.write(value);
                        written.push_back(value);
                    }
                    Writing::Write => {}
                    Writing::Publish => {
                        ring.publish();
                        published.append(&mut written);
                    }
                    Writing::Take => prop_assert_eq!(kernel.take(), published.pop_front()),
                }
                prop_assert_eq!(kernel.len(), published.len());
            }
        }

        /// The ring is compared with a plain queue of what is not read, and a count of what is not released.
        #[test]
        fn what_the_kernel_puts_is_read_in_order(start in start(), steps in vec(reading(), 0..300)) {
            let kernel = Kernel::new(start);
            let mut ring = kernel.ring();
            let (mut unread, mut held) = (VecDeque::new(), 0);
            for (value, step) in (1..).zip(steps) {
                match step {
                    Reading::Put => {
                        let has_room = unread.len() + held < SIZE as usize;
                        prop_assert_eq!(kernel.put(value), has_room);
                        unread.extend(has_room.then_some(value));
                    }
                    Reading::Read => {
                        let read = ring.read();
                        prop_assert_eq!(read, unread.pop_front());
                        held += usize::from(read.is_some());
                    }
                    Reading::Release => {
                        ring.release();
                        held = 0;
                    }
                }
                prop_assert_eq!(kernel.len(), unread.len() + held);
            }
        }

        /// A wrong index does no harm, and is forgotten when the kernel shows a right one.
        #[test]
        fn no_index_of_the_kernel_gives_more_room_than_the_ring_has(
            start in start(), beyond in prop_oneof![2..20_u32, 2..u32::MAX], wanted in 0..=SIZE,
        ) {
            let kernel = Kernel::new(start);
            let mut ring = kernel.ring();
            kernel.consumer.store(start.wrapping_add(beyond), Ordering::Release);
            ring.write(1);
            for _ in 0..2 {
                prop_assert!(ring.room(wanted) <= SIZE);
                prop_assert!(ring.room(SIZE) <= SIZE);
            }
            kernel.consumer.store(start, Ordering::Release);
            prop_assert_eq!(ring.room(SIZE), SIZE - 1);
        }
    }

    #[test]
    fn the_kernel_wants_a_wakeup_by_one_flag_alone() {
        let kernel = Kernel::new(0);
        let ring = kernel.ring();
        for (flags, wants) in [(0, false), (1, true), (2, false), (3, true)] {
            kernel.flags.store(flags, Ordering::Relaxed);
            assert_eq!(ring.needs_wakeup(), wants, "{flags}");
        }
    }
}
