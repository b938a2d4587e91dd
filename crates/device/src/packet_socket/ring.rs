//! Receive rings that packet sockets share with the kernel, in memory that belongs to both.
//!
//! *Slots* (TPACKET_V2) have one frame each, and a frame is there as soon as the kernel has written it. *Blocks*
//! (TPACKET_V3) have as many frames as fit, close together; the kernel hands a block over when it is full or when it has
//! waited long enough for company. Under load blocks cost less; at low load every frame waits for as long as it was told.

use crate::frame::Frame;
use crate::kept::Keeping;
use crate::segments::Note;
use crate::sys::{self, Mapping};
use packet::Kind;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU32, Ordering};

/// Frames that a ring of slots holds, about, if its socket receives alone: what comes at 250,000 frames a second while its worker waits 30
/// ms for a processor.
pub(super) const FRAMES: usize = 8192;
/// The same, if several sockets share frames between them.
pub(super) const FRAMES_OF_MANY: usize = 2048;
/// Bytes of the pieces that a ring is made of, at least; the kernel wants each in one piece.
const BLOCK: usize = 1 << 16;
/// The same of a ring of blocks that has long frames.
const BLOCK_OF_LONG: usize = 1 << 17;
/// Pieces of a ring of blocks.
const BLOCKS: usize = 64;
/// Bytes of a ring, at most, that another program is believed to have made.
const RING_MAX: usize = 1 << 30;
/// From the start of a slot to the frame in it, at most.
const SLOT_HEADER: usize = 96;

/// Where the sender's address is behind a frame's header.
const fn address_at(header: usize) -> usize {
    header.next_multiple_of(libc::TPACKET_ALIGNMENT)
}

/// To whom a frame is addressed, as the kernel says it.
fn addressee(kind: u8) -> Kind {
    match kind {
        libc::PACKET_BROADCAST => Kind::Broadcast,
        libc::PACKET_MULTICAST => Kind::Multicast,
        libc::PACKET_OTHERHOST => Kind::OtherHost,
        libc::PACKET_OUTGOING => Kind::Outgoing,
        _ => Kind::Host,
    }
}

/// The note in front of a frame, so many bytes behind its header, if there is one.
///
/// # Safety
/// All bytes between must be readable.
#[inline]
unsafe fn note(is_noted: bool, header: *const u8, start: usize) -> Note {
    match start.checked_sub(Note::LEN) {
        // SAFETY: in front of the frame and not in front of the header.
        Some(at) if is_noted => Note::of(&unsafe { header.add(at).cast::<[u8; Note::LEN]>().read() }),
        _ => Note::default(),
    }
}

/// One slot for each frame.
pub(super) struct Slots {
    ring: Mapping,
    slot: usize,
    slots_per_block: usize,
    block: usize,
    slots: usize,
    next: usize,
    /// Whether there is a note in front of each frame.
    is_noted: bool,
}

/// Frames close together in blocks.
pub(super) struct Blocks {
    ring: Mapping,
    block: usize,
    /// The block that is read, or waited for.
    current: usize,
    /// Frames left in it, and where the next one is; none while it is the kernel's.
    left: usize,
    at: usize,
    is_noted: bool,
}

/// A ring.
pub(super) enum Ring {
    Slots(Slots),
    Blocks(Blocks),
}

impl Ring {
    /// Makes a socket's ring for about `frames` frames of up to `snaplen` bytes. Frames wait for company for
    /// `wait_ms` at most; if that is 0, not at all, and if it is not, the ring has its usual size. If the socket puts notes in front of
    /// frames, they may be long: those that no slot can hold wait in the socket's queue, while blocks have room for them.
    pub(super) fn new(
        fd: &OwnedFd,
        frames: usize,
        snaplen: usize,
        wait_ms: u32,
        is_noted: bool,
    ) -> io::Result<Ring> {
        let version = match wait_ms {
            0 => libc::tpacket_versions::TPACKET_V2,
            _ => libc::tpacket_versions::TPACKET_V3,
        };
        sys::set_option(fd, libc::SOL_PACKET, libc::PACKET_VERSION, &(version as i32))?;
        let slot = (snaplen + SLOT_HEADER).next_multiple_of(libc::TPACKET_ALIGNMENT);
        // A block begins with a header of its own.
        let block = BLOCK.max((slot + SLOT_HEADER).next_power_of_two());
        if wait_ms > 0 {
            let block = if is_noted { block.max(BLOCK_OF_LONG) } else { block };
            let request = libc::tpacket_req3 {
                tp_block_size: block as u32,
                tp_block_nr: BLOCKS as u32,
                tp_frame_size: block as u32,
                tp_frame_nr: BLOCKS as u32,
                tp_retire_blk_tov: wait_ms,
                tp_sizeof_priv: 0,
                tp_feature_req_word: 0,
            };
            sys::set_option(fd, libc::SOL_PACKET, libc::PACKET_RX_RING, &request)?;
            let ring = Mapping::new(Some(fd), BLOCKS * block, 0)?;
            return Ok(Ring::Blocks(Blocks { ring, block, current: 0, left: 0, at: 0, is_noted }));
        }
        let slots_per_block = block / slot;
        let blocks = (frames / slots_per_block).max(1);
        let slots = blocks * slots_per_block;
        let request = libc::tpacket_req {
            tp_block_size: block as u32,
            tp_block_nr: blocks as u32,
            tp_frame_size: slot as u32,
            tp_frame_nr: slots as u32,
        };
        sys::set_option(fd, libc::SOL_PACKET, libc::PACKET_RX_RING, &request)?;
        let ring = Mapping::new(Some(fd), blocks * block, 0)?;
        Ok(Ring::Slots(Slots { ring, slot, slots_per_block, block, slots, next: 0, is_noted }))
    }

    /// Writes what another program needs to go on with the ring.
    pub(super) fn keep(&self, numbers: &mut Vec<u64>) {
        match self {
            Ring::Slots(Slots { slot, slots_per_block, block, slots, next, .. }) => {
                numbers.extend([
                    0,
                    *slot as u64,
                    *slots_per_block as u64,
                    *block as u64,
                    *slots as u64,
                    *next as u64,
                ]);
            }
            Ring::Blocks(Blocks { block, current, left, at, .. }) => {
                numbers.extend([1, *block as u64, *current as u64, *left as u64, *at as u64]);
            }
        }
    }

    /// Goes on with a socket's ring where another program has stopped.
    ///
    /// # Errors
    /// That the ring is none such, or cannot be mapped.
    pub(super) fn go_on(fd: &OwnedFd, from: &mut Keeping, is_noted: bool) -> io::Result<Ring> {
        let bad = || io::Error::new(io::ErrorKind::InvalidData, "no such ring");
        let mapped = |blocks: usize, block: usize| {
            let len = blocks.checked_mul(block).filter(|&len| len <= RING_MAX).ok_or_else(bad)?;
            Mapping::new(Some(fd), len, 0)
        };
        let aligned = |size: usize| size >= SLOT_HEADER && size.is_multiple_of(libc::TPACKET_ALIGNMENT);
        match from.number()? {
            0 => {
                let (slot, slots_per_block, block) = (from.size()?, from.size()?, from.size()?);
                let (slots, next) = (from.size()?, from.size()?);
                let fits = slot.checked_mul(slots_per_block).is_some_and(|len| len <= block);
                if !aligned(slot) || !aligned(block) || slots_per_block == 0 || !fits || next >= slots {
                    return Err(bad());
                }
                if !slots.is_multiple_of(slots_per_block) {
                    return Err(bad());
                }
                let ring = mapped(slots / slots_per_block, block)?;
                Ok(Ring::Slots(Slots { ring, slot, slots_per_block, block, slots, next, is_noted }))
            }
            1 => {
                let (block, current, left, at) = (from.size()?, from.size()?, from.size()?, from.size()?);
                if !aligned(block) || current >= BLOCKS {
                    return Err(bad());
                }
                let ring = mapped(BLOCKS, block)?;
                Ok(Ring::Blocks(Blocks { ring, block, current, left, at, is_noted }))
            }
            _ => Err(bad()),
        }
    }

    /// Whether more than so many frames wait, as far as the ring tells.
    #[inline]
    pub(super) fn has_more_than(&self, count: usize) -> bool {
        match self {
            Ring::Slots(slots) => slots.is_filled(count),
            Ring::Blocks(_) => false,
        }
    }

    /// Frames that it holds, at most.
    pub(super) fn room(&self) -> usize {
        match self {
            Ring::Slots(slots) => slots.slots,
            // As many as there may be at least: those of the usual size.
            Ring::Blocks(blocks) => BLOCKS * blocks.block / 2048,
        }
    }

    /// Hands up to `max` frames to `f`, until it says that it wants no more; returns how many there were.
    #[inline]
    pub(super) fn receive(&mut self, max: usize, f: impl FnMut(Frame<'_>) -> bool) -> usize {
        match self {
            Ring::Slots(slots) => slots.receive(max, f),
            Ring::Blocks(blocks) => blocks.receive(max, f),
        }
    }
}

impl Slots {
    /// The header of a slot, so many behind the one that is read next.
    fn header(&self, ahead: usize) -> *mut libc::tpacket2_hdr {
        let place = self.next + ahead;
        let place = if place < self.slots { place } else { place % self.slots };
        let offset = place / self.slots_per_block * self.block + place % self.slots_per_block * self.slot;
        debug_assert!(offset + self.slot <= self.ring.len());
        // SAFETY: the slot lies within the mapping; slots are aligned to 16 bytes.
        unsafe { self.ring.base().as_ptr().add(offset).cast() }
    }

    /// Whether the slot so many behind the next one has a frame.
    #[inline]
    fn is_filled(&self, ahead: usize) -> bool {
        let header = self.header(ahead);
        // SAFETY: the header lies within the mapping; its first word is shared with the kernel as an atomic.
        let status = unsafe { AtomicU32::from_ptr(&raw mut (*header).tp_status) };
        status.load(Ordering::Relaxed) & libc::TP_STATUS_USER != 0
    }

    #[inline]
    fn receive(&mut self, max: usize, mut f: impl FnMut(Frame<'_>) -> bool) -> usize {
        for done in 0..max {
            let header = self.header(0);
            // SAFETY: the header lies within the mapping; its first word is shared with the kernel as an atomic.
            let status = unsafe { AtomicU32::from_ptr(&raw mut (*header).tp_status) };
            let flags = status.load(Ordering::Acquire);
            if flags & libc::TP_STATUS_USER == 0 {
                return done;
            }
            // SAFETY: the kernel has given the slot to us, which the load above synchronises with.
            let described = unsafe { header.read() };
            let address = address_at(size_of::<libc::tpacket2_hdr>());
            // SAFETY: the kernel puts the sender's address behind the header, within the slot.
            let kind =
                unsafe { header.cast::<u8>().add(address).cast::<libc::sockaddr_ll>().read().sll_pkttype };
            let start = usize::from(described.tp_mac).min(self.slot);
            let len = (described.tp_snaplen as usize).min(self.slot - start);
            // SAFETY: cut to the slot just above, whatever the kernel said.
            let data = unsafe { std::slice::from_raw_parts(header.cast::<u8>().add(start), len) };
            // SAFETY: the slot is ours, from its header to the frame.
            let note = unsafe { note(self.is_noted, header.cast(), start) };
            let goes_on = f(Frame {
                data,
                len: described.tp_len as usize,
                time_ns: i64::from(described.tp_sec) * 1_000_000_000 + i64::from(described.tp_nsec),
                addressee: addressee(kind),
                vlan: (flags & libc::TP_STATUS_VLAN_VALID != 0)
                    .then_some((described.tp_vlan_tpid, described.tp_vlan_tci)),
                unfinished: flags & libc::TP_STATUS_CSUMNOTREADY != 0,
                note,
                waits: flags & libc::TP_STATUS_COPY != 0,
            });
            status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
            self.next = if self.next + 1 == self.slots { 0 } else { self.next + 1 };
            if !goes_on {
                return done + 1;
            }
        }
        max
    }
}

/// What is at the start of a block: two words, and what the kernel says of the block. The rest is of no interest here.
#[repr(C)]
#[derive(Clone, Copy)]
struct BlockHeader {
    version: u32,
    private: u32,
    status: u32,
    frames: u32,
    first: u32,
    bytes: u32,
}

impl Blocks {
    /// The start of the current block.
    fn start(&self) -> *mut u8 {
        debug_assert!((self.current + 1) * self.block <= self.ring.len());
        // SAFETY: `current` is below the number of blocks, for which the mapping was made.
        unsafe { self.ring.base().as_ptr().add(self.current * self.block) }
    }

    /// The word that says whose the current block is.
    fn status(&self) -> &AtomicU32 {
        // SAFETY: the block lies within the mapping, which lives as long as `self`, and is aligned to a page; both sides
        // use the word atomically.
        unsafe { AtomicU32::from_ptr(&raw mut (*self.start().cast::<BlockHeader>()).status) }
    }

    #[inline]
    fn receive(&mut self, max: usize, mut f: impl FnMut(Frame<'_>) -> bool) -> usize {
        let (mut done, mut goes_on) = (0, true);
        while done < max && goes_on {
            if self.left == 0 {
                if self.status().load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
                    return done;
                }
                // SAFETY: the kernel has given the block to us, which the load above synchronises with; it is longer.
                let header = unsafe { self.start().cast::<BlockHeader>().read() };
                (self.left, self.at) = (header.frames as usize, header.first as usize);
            }
            if self.left > 0 {
                match self.next() {
                    Some((frame, step)) => {
                        goes_on = f(frame);
                        (self.left, self.at) = (self.left - 1, self.at + step);
                        done += 1;
                    }
                    None => self.left = 0, // what the kernel says makes no sense
                }
            }
            if self.left == 0 {
                self.status().store(libc::TP_STATUS_KERNEL, Ordering::Release);
                self.current = (self.current + 1) % BLOCKS;
            }
        }
        done
    }

    /// The next frame of the current block, and how far behind it the one after that is.
    #[inline]
    fn next(&self) -> Option<(Frame<'_>, usize)> {
        let header = size_of::<libc::tpacket3_hdr>();
        let address = address_at(header);
        let room = self.block.checked_sub(self.at)?;
        if room < address + size_of::<libc::sockaddr_ll>()
            || !self.at.is_multiple_of(align_of::<libc::tpacket3_hdr>())
        {
            return None;
        }
        // SAFETY: within the block, by the check above.
        let at = unsafe { self.start().add(self.at) };
        // SAFETY: within the block and aligned, by the check above; the block is ours until its status says otherwise.
        let described = unsafe { at.cast::<libc::tpacket3_hdr>().read() };
        // SAFETY: as above.
        let kind = unsafe { at.add(address).cast::<libc::sockaddr_ll>().read().sll_pkttype };
        let start = usize::from(described.tp_mac).min(room);
        let len = (described.tp_snaplen as usize).min(room - start);
        // SAFETY: cut to the block just above, whatever the kernel said.
        let data = unsafe { std::slice::from_raw_parts(at.add(start), len) };
        // SAFETY: within the block, from the frame's header on.
        let note = unsafe { note(self.is_noted, at, start) };
        let frame = Frame {
            data,
            len: described.tp_len as usize,
            time_ns: i64::from(described.tp_sec) * 1_000_000_000 + i64::from(described.tp_nsec),
            addressee: addressee(kind),
            vlan: (described.tp_status & libc::TP_STATUS_VLAN_VALID != 0)
                .then_some((described.hv1.tp_vlan_tpid, described.hv1.tp_vlan_tci as u16)),
            unfinished: described.tp_status & libc::TP_STATUS_CSUMNOTREADY != 0,
            note,
            waits: false,
        };
        Some((frame, described.tp_next_offset as usize))
    }
}
