//! One packet: a buffer, exclusively owned.

mod headers;

use crate::arena::{Arena, Class};
use std::hint::cold_path;
use std::ptr::NonNull;

/// So many bytes in front of the data stay with it when it is moved or copied: headers that were stripped, which Unstrip brings
/// back.
const STRIPPED_MAX: usize = 256;

/// Bytes of metadata at the start of every buffer: two cache lines.
pub(crate) const META_BYTES: usize = 128;

/// Where packets point to, from the start of their buffers: all metadata and the start of the data area are near
/// enough for displacements of 8 bits then, which makes instructions shorter.
const MIDDLE: usize = META_BYTES / 2;

/// Bytes left free in front of a new packet's data, for headers that are added later.
pub const DEFAULT_HEADROOM: usize = 128;

/// Bytes of annotation space in every packet, as in Click.
pub const ANNO_BYTES: usize = 48;

/// The metadata at the start of a buffer.
///
/// The first cache line has all that an ordinary hop reads or writes; the second is touched by sources, captures and
/// the arena only. Offsets count from the start of the data area (the end of this struct).
#[repr(C, align(64))]
pub(crate) struct Meta {
    /// First byte of data.
    start: u32,
    /// One past the last byte of data.
    end: u32,
    /// Header positions plus one; 0 means "not set". A header further than `u16` reaches counts as not set.
    mac: u16,
    network: u16,
    transport: u16,
    class: Class,
    kind: Kind,
    annotations: [u8; ANNO_BYTES],
    // Second cache line.
    timestamp_ns: i64,
    device: u32,
    /// The arena's link while the buffer is an orphan.
    pub(crate) next: u32,
    flow: FlowTag,
    /// The link type that a capture says, plus one; 0 for none.
    captured_link: u32,
    /// The number by which a trace knows the packet; 0 for none.
    trace: u32,
    enclosed_ecn: u8,
}

const _: () = assert!(size_of::<Meta>() == META_BYTES);
const _: () = assert!(std::mem::offset_of!(Meta, timestamp_ns) == 64);

impl Meta {
    pub(crate) fn new(class: Class) -> Meta {
        Meta {
            start: 0,
            end: 0,
            mac: 0,
            network: 0,
            transport: 0,
            class,
            kind: Kind::Host,
            annotations: [0; ANNO_BYTES],
            timestamp_ns: 0,
            device: 0,
            next: 0,
            flow: FlowTag::NONE,
            captured_link: 0,
            trace: 0,
            enclosed_ecn: 0,
        }
    }

    /// Empties a recycled buffer: data of `len` bytes after `headroom`, nothing annotated.
    #[inline]
    pub(crate) fn reset(&mut self, headroom: usize, len: usize) {
        debug_assert!(headroom + len <= self.class.room());
        self.start = headroom as u32;
        self.end = (headroom + len) as u32;
        (self.mac, self.network, self.transport) = (0, 0, 0);
        self.kind = Kind::Host;
        self.annotations = [0; ANNO_BYTES];
        self.timestamp_ns = 0;
        self.device = 0;
        self.flow = FlowTag::NONE;
        self.captured_link = 0;
        self.trace = 0;
        self.enclosed_ecn = 0;
    }

    /// Copies all that describes the packet but its place in the buffer.
    fn describe_like(&mut self, other: &Meta) {
        (self.mac, self.network, self.transport) = (other.mac, other.network, other.transport);
        self.kind = other.kind;
        self.annotations = other.annotations;
        self.timestamp_ns = other.timestamp_ns;
        self.device = other.device;
        self.flow = other.flow;
        self.captured_link = other.captured_link;
        self.trace = other.trace;
        self.enclosed_ecn = other.enclosed_ecn;
    }

    /// Forgets headers that begin in front of this place: bytes that are added there take their place. Without a network header
    /// there is no transport header.
    #[inline]
    fn forget_before(&mut self, place: u32) {
        if u32::from(self.mac) <= place {
            self.mac = 0;
        }
        if u32::from(self.network) <= place {
            (self.network, self.transport) = (0, 0);
        }
    }

    #[inline]
    pub(crate) fn class(&self) -> Class {
        self.class
    }
}

/// To whom a frame was addressed at the link layer (Click's packet type annotation).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// To this host.
    #[default]
    Host,
    /// To every host on the link.
    Broadcast,
    /// To a group.
    Multicast,
    /// To another host; seen because the interface is promiscuous.
    OtherHost,
    /// Sent by this host and looped back.
    Outgoing,
    /// Looped back for speed.
    FastRoute,
}

/// The flow that a packet belongs to, as the element that keeps a table of flows has numbered it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowTag {
    /// The flow's place, from 1; 0 means that the packet's flow is not known.
    pub number: u32,
    /// Which of the flows that had this place one after the other.
    pub generation: u32,
}

impl FlowTag {
    /// No flow.
    pub const NONE: FlowTag = FlowTag { number: 0, generation: 0 };
}

/// A packet: exclusively owned data with headroom and tailroom in one buffer, and its annotations.
///
/// There are no references to a packet's buffer but this one, so a packet can be changed in place and can move between
/// threads. On the packet path give packets back with [`crate::Pool::free`]; dropping one is always correct, only
/// slower.
pub struct Packet(NonNull<u8>);

// SAFETY: a packet owns its buffer exclusively; nothing in it is bound to a thread.
unsafe impl Send for Packet {}
// SAFETY: a shared `Packet` gives shared access to plain bytes only.
unsafe impl Sync for Packet {}

impl Drop for Packet {
    fn drop(&mut self) {
        Arena::of(self.meta().class).orphan(self.buffer());
    }
}

impl Packet {
    /// Takes ownership of a buffer.
    ///
    /// # Safety
    /// `buffer` must come from the arena, be initialised, and have no other owner.
    #[inline]
    pub(crate) unsafe fn from_raw(buffer: NonNull<Meta>) -> Packet {
        // SAFETY: the middle of the metadata lies within the buffer.
        Packet(unsafe { buffer.cast::<u8>().add(MIDDLE) })
    }

    /// Gives up ownership of the buffer without freeing it.
    #[inline]
    pub(crate) fn into_raw(self) -> NonNull<Meta> {
        let buffer = self.buffer();
        std::mem::forget(self);
        buffer
    }

    /// The class of its buffer.
    #[inline]
    pub(crate) fn class(&self) -> Class {
        self.meta().class
    }

    /// The buffer.
    #[inline]
    pub(crate) fn buffer(&self) -> NonNull<Meta> {
        // SAFETY: the buffer starts as far in front.
        unsafe { self.0.sub(MIDDLE).cast() }
    }

    #[inline]
    fn meta(&self) -> &Meta {
        // SAFETY: the packet owns its buffer, whose start is an initialised `Meta`.
        unsafe { self.buffer().as_ref() }
    }

    #[inline]
    pub(crate) fn meta_mut(&mut self) -> &mut Meta {
        // SAFETY: as above, and `&mut self` makes the access exclusive.
        unsafe { self.buffer().as_mut() }
    }

    #[inline]
    fn room_ptr(&self) -> *mut u8 {
        // SAFETY: the data area follows the metadata in the same buffer.
        unsafe { self.0.as_ptr().add(META_BYTES - MIDDLE) }
    }

    /// The data area from an offset on, in a register of its own: several accesses there take less if none of them adds the offset.
    ///
    /// # Safety
    /// The offset is not beyond the end of the data area.
    #[inline]
    unsafe fn room_at(&self, offset: usize) -> *mut u8 {
        // SAFETY: the offset lies within the buffer by what the caller says, and so does what is as far behind as the data area.
        unsafe { opaque(self.0.as_ptr().add(offset)).add(META_BYTES - MIDDLE) }
    }

    /// The data.
    #[inline]
    pub fn data(&self) -> &[u8] {
        let m = self.meta();
        // SAFETY: `start <= end <= room` always holds, the bytes are initialised (fresh mappings are zero) and owned.
        unsafe {
            std::slice::from_raw_parts(self.room_ptr().add(m.start as usize), (m.end - m.start) as usize)
        }
    }

    /// The data, writable.
    #[inline]
    pub fn data_mut(&mut self) -> &mut [u8] {
        let (start, end) = (self.meta().start as usize, self.meta().end as usize);
        // SAFETY: as in `data`, and `&mut self` makes the access exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.room_ptr().add(start), end - start) }
    }

    /// `N` bytes of the data from `offset` on, and how many there are from there to the end; `None` if there are
    /// fewer than `N`. For those who need both: one comparison does.
    #[inline]
    pub fn data_from<const N: usize>(&self, offset: u32) -> Option<(&[u8; N], usize)> {
        let at = i64::from(self.meta().start) + i64::from(offset);
        let there = i64::from(self.meta().end) - at;
        if there < N as i64 {
            return None;
        }
        // SAFETY: `N` bytes from `at` on are data, by what was just compared, and that is initialised and owned.
        Some((unsafe { &*self.room_ptr().add(at as usize).cast::<[u8; N]>() }, there as usize))
    }

    /// `N` bytes of the data from `offset` on, writable; `None` if they are not all there.
    #[inline]
    pub fn data_array_mut<const N: usize>(&mut self, offset: u32) -> Option<&mut [u8; N]> {
        let at = u64::from(self.meta().start) + u64::from(offset);
        if at + N as u64 > u64::from(self.meta().end) {
            cold_path();
            return None;
        }
        // SAFETY: `N` bytes from `at` on are data, by what was just compared; `&mut self` makes the access exclusive.
        Some(unsafe { &mut *self.room_ptr().add(at as usize).cast::<[u8; N]>() })
    }

    /// Bytes of data.
    #[inline]
    pub fn len(&self) -> usize {
        (self.meta().end - self.meta().start) as usize
    }

    /// Whether there is no data.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Free bytes in front of the data.
    #[inline]
    pub fn headroom(&self) -> usize {
        self.meta().start as usize
    }

    /// Free bytes behind the data.
    #[inline]
    pub fn tailroom(&self) -> usize {
        self.meta().class.room() - self.meta().end as usize
    }

    /// Bytes of headroom, data and tailroom together.
    #[inline]
    pub fn room(&self) -> usize {
        self.meta().class.room()
    }

    /// Removes `n` bytes from the front; false, and nothing changed, if there are fewer.
    #[inline]
    #[must_use]
    pub fn pull(&mut self, n: usize) -> bool {
        let ok = n <= self.len();
        if ok {
            self.meta_mut().start += n as u32;
        }
        ok
    }

    /// Adds `n` bytes in front, with whatever was there before, also headers that were stripped; if the headroom is too small the data moves back within
    /// the buffer. False, and nothing changed, if the buffer is too small for both.
    #[inline]
    #[must_use]
    pub fn push(&mut self, n: usize) -> bool {
        if n <= self.headroom() || self.shift_for_headroom(n) {
            self.meta_mut().start -= n as u32;
            return true;
        }
        false
    }

    /// As [`Self::push`] for a caller that writes these bytes: headers that were stripped are forgotten, since others take their place.
    #[inline]
    #[must_use]
    pub fn prepend(&mut self, n: usize) -> bool {
        let done = self.push(n);
        if done {
            let before = self.meta().start + n as u32;
            self.meta_mut().forget_before(before);
        }
        done
    }

    /// As [`Self::prepend`] of `N` bytes, which are returned. `None`, and nothing changed, if the buffer is too small.
    #[inline]
    #[must_use]
    pub fn push_array<const N: usize>(&mut self) -> Option<&mut [u8; N]> {
        self.push_arrays::<N, 0>().map(|(front, _)| front)
    }

    /// As [`Self::prepend`] of `N` and `M` bytes behind them, which are returned. `None`, and nothing changed, if the buffer is too small.
    #[inline]
    #[must_use]
    pub fn push_arrays<const N: usize, const M: usize>(&mut self) -> Option<(&mut [u8; N], &mut [u8; M])> {
        if N + M > self.headroom() && !self.shift_for_headroom(N + M) {
            return None;
        }
        let m = self.meta_mut();
        m.forget_before(m.start);
        let start = m.start as usize - (N + M);
        m.start = start as u32;
        // SAFETY: `start` was lowered by no more than there was in front of the data.
        Some(unsafe { self.arrays_at(start) })
    }

    /// The bytes from an offset of the data area on. The offset is given because a caller that has just stored it would load it again.
    ///
    /// # Safety
    /// `N + M` bytes of data or headroom lie there.
    #[inline]
    unsafe fn arrays_at<const N: usize, const M: usize>(
        &mut self,
        offset: usize,
    ) -> (&mut [u8; N], &mut [u8; M]) {
        // SAFETY: the bytes lie within the data area by what the caller says; that is initialised and owned. The borrow of `self` makes the
        // access exclusive.
        unsafe { arrays_from(self.room_at(offset)) }
    }

    /// Removes `n` bytes from the end; false, and nothing changed, if there are fewer.
    #[inline]
    #[must_use]
    pub fn take(&mut self, n: usize) -> bool {
        let ok = n <= self.len();
        if ok {
            self.meta_mut().end -= n as u32;
        }
        ok
    }

    /// Adds `n` bytes at the end, with whatever was there before. False, and nothing changed, if there is no room even
    /// after moving the data forward.
    #[inline]
    #[must_use]
    pub fn put(&mut self, n: usize) -> bool {
        if n <= self.tailroom() || self.shift_for_tailroom(n) {
            self.meta_mut().end += n as u32;
            return true;
        }
        false
    }

    /// Moves the data so that `n` bytes fit in front of it. Out of line: headroom almost always suffices.
    #[cold]
    fn shift_for_headroom(&mut self, n: usize) -> bool {
        let room = self.room();
        let free = room - self.len();
        if n > free {
            return false;
        }
        self.move_data(n + (free - n) / 2);
        true
    }

    #[cold]
    fn shift_for_tailroom(&mut self, n: usize) -> bool {
        let free = self.room() - self.len();
        if n > free {
            return false;
        }
        self.move_data((free - n) / 2);
        true
    }

    /// Moves the data to offset `to` of the data area; header positions move along.
    fn move_data(&mut self, to: usize) {
        let (from, len) = (self.headroom(), self.len());
        debug_assert!(to + len <= self.room());
        let front = from.min(to).min(STRIPPED_MAX);
        // SAFETY: both ranges lie within the buffer's data area: `front` is at most what is in front of either place. `copy` allows
        // them to overlap.
        unsafe {
            std::ptr::copy(self.room_ptr().add(from - front), self.room_ptr().add(to - front), front + len);
        }
        let m = self.meta_mut();
        (m.start, m.end) = (to as u32, (to + len) as u32);
        for position in [&mut m.mac, &mut m.network, &mut m.transport] {
            if *position != 0 {
                let moved = *position as i64 - from as i64 + to as i64;
                *position = u16::try_from(moved).unwrap_or(0);
            }
        }
    }

    /// Moves the data so that exactly `headroom` bytes are free in front of it. False if it does not fit.
    pub fn realign(&mut self, headroom: usize) -> bool {
        let fits = headroom.checked_add(self.len()).is_some_and(|end| end <= self.room());
        if fits && headroom != self.headroom() {
            self.move_data(headroom);
        }
        fits
    }

    /// Makes this packet a copy of `other`: data, header positions, annotations, and what was stripped lately and may be put
    /// back. False if the data does not fit at the same place in this buffer.
    pub(crate) fn copy_from(&mut self, other: &Packet) -> bool {
        let end = other.headroom() + other.len();
        if end > self.room() {
            return false;
        }
        let m = self.meta_mut();
        m.describe_like(other.meta());
        (m.start, m.end) = (other.meta().start, end as u32);
        let from = other.headroom().saturating_sub(STRIPPED_MAX);
        // SAFETY: the range ends with the data of `other`, and lies within the data areas of both, which are two buffers.
        unsafe {
            std::ptr::copy_nonoverlapping(other.room_ptr().add(from), self.room_ptr().add(from), end - from);
        }
        true
    }
}

/// Annotations.
impl Packet {
    /// When the packet arrived, in nanoseconds since the epoch; 0 if no element set it.
    #[inline]
    pub fn timestamp_ns(&self) -> i64 {
        self.meta().timestamp_ns
    }

    /// Sets the arrival time, in nanoseconds since the epoch.
    #[inline]
    pub fn set_timestamp_ns(&mut self, t: i64) {
        self.meta_mut().timestamp_ns = t;
    }

    /// The interface that the packet came from or goes to: an id, 0 if none.
    #[inline]
    pub fn device(&self) -> u32 {
        self.meta().device
    }

    /// Sets the interface id.
    #[inline]
    pub fn set_device(&mut self, id: u32) {
        self.meta_mut().device = id;
    }

    /// What the packet began with when it was read from a capture: a number of the link-type registry of
    /// draft-ietf-opsawg-pcaplinktype. Elements that change the packet leave it.
    #[inline]
    pub fn captured_link(&self) -> Option<u32> {
        self.meta().captured_link.checked_sub(1)
    }

    /// Says what a packet from a capture begins with. Numbers have 26 bits; the largest of 32 is lost.
    #[inline]
    pub fn set_captured_link(&mut self, linktype: u32) {
        self.meta_mut().captured_link = linktype.saturating_add(1);
    }

    /// The number by which a trace knows the packet and its copies; 0 for none.
    #[inline]
    pub fn trace(&self) -> u32 {
        self.meta().trace
    }

    /// Sets that number. For what observes packets; elements have no use for it.
    #[inline]
    pub fn set_trace(&mut self, number: u32) {
        self.meta_mut().trace = number;
    }

    /// The flow that the packet belongs to.
    #[inline]
    pub fn flow(&self) -> FlowTag {
        self.meta().flow
    }

    /// Says which flow the packet belongs to.
    #[inline]
    pub fn set_flow(&mut self, flow: FlowTag) {
        self.meta_mut().flow = flow;
    }

    /// The congestion mark (two bits, RFC 3168) of the IP packet that this one encloses and that can't be read any more, as what encrypts it has
    /// left it for the outer header (RFC 6040); 0 if there is none.
    #[inline]
    pub fn enclosed_ecn(&self) -> u8 {
        self.meta().enclosed_ecn
    }

    /// Says which congestion mark the outer header is to have.
    #[inline]
    pub fn set_enclosed_ecn(&mut self, mark: u8) {
        self.meta_mut().enclosed_ecn = mark & 3;
    }

    /// To whom the frame was addressed.
    #[inline]
    pub fn kind(&self) -> Kind {
        self.meta().kind
    }

    /// Says to whom the frame was addressed.
    #[inline]
    pub fn set_kind(&mut self, kind: Kind) {
        self.meta_mut().kind = kind;
    }

    /// The annotation area.
    #[inline]
    pub fn annotations(&self) -> &[u8; ANNO_BYTES] {
        &self.meta().annotations
    }

    /// The annotation area, writable.
    #[inline]
    pub fn annotations_mut(&mut self) -> &mut [u8; ANNO_BYTES] {
        &mut self.meta_mut().annotations
    }

    /// Takes over every annotation of `other`: header positions excepted.
    pub fn copy_annotations(&mut self, other: &Packet) {
        let m = self.meta_mut();
        m.kind = other.meta().kind;
        m.annotations = other.meta().annotations;
        m.timestamp_ns = other.meta().timestamp_ns;
        m.device = other.meta().device;
        m.flow = other.meta().flow;
        m.enclosed_ecn = other.meta().enclosed_ecn;
    }
}

/// Two arrays, one behind the other.
///
/// # Safety
/// `N + M` initialised bytes lie there, to which no other code has access as long as the arrays live.
#[inline]
unsafe fn arrays_from<'p, const N: usize, const M: usize>(
    front: *mut u8,
) -> (&'p mut [u8; N], &'p mut [u8; M]) {
    // SAFETY: what the caller says; the arrays do not overlap.
    unsafe { (&mut *front.cast::<[u8; N]>(), &mut *front.add(N).cast::<[u8; M]>()) }
}

impl std::fmt::Debug for Packet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Packet").field("len", &self.len()).field("headroom", &self.headroom()).finish()
    }
}

/// A pointer of which the compiler does not know how it was made, so that it does not make it again for each access.
#[inline(always)]
#[expect(clippy::pointers_in_nomem_asm_block, reason = "nothing is read or written there")]
fn opaque(ptr: *mut u8) -> *mut u8 {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    {
        let mut same = ptr;
        // SAFETY: there is no instruction, only a comment.
        unsafe {
            std::arch::asm!("/* {0} */", inout(reg) same, options(pure, nomem, nostack, preserves_flags))
        };
        same
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    ptr
}
