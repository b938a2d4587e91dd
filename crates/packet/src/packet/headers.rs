//! Where a packet's headers start, and the bytes from there on. Positions are offsets from the start of the data,
//! negative where a header was stripped.

use super::{Packet, arrays_from};
use crate::arena::Class;
use std::hint::cold_path;

/// Bytes of the data area of the smallest buffers.
const LEAST_ROOM: usize = Class::Small.room();
const _: () = assert!(LEAST_ROOM <= Class::Large.room());

/// Bytes of a header beyond which its end is not near its start; no header of IP is longer.
const NEAR: usize = 64;

impl Packet {
    #[inline]
    fn position(&self, stored: u16) -> Option<isize> {
        (stored != 0).then(|| stored as isize - 1 - self.meta().start as isize)
    }

    /// An offset from the start of the data as it is stored, if it fits. In front of the buffer it is 0 or a huge number.
    #[inline]
    fn absolute(&self, offset: isize) -> usize {
        (self.meta().start as isize).wrapping_add(offset).wrapping_add(1) as usize
    }

    #[inline]
    fn stored(&self, offset: isize) -> u16 {
        u16::try_from(self.absolute(offset)).unwrap_or(0)
    }

    /// Where the link-layer header starts, if known.
    #[inline]
    pub fn mac_offset(&self) -> Option<isize> {
        self.position(self.meta().mac)
    }

    /// Where the network header starts, if known.
    #[inline]
    pub fn network_offset(&self) -> Option<isize> {
        self.position(self.meta().network)
    }

    /// Where the transport header starts, if known.
    #[inline]
    pub fn transport_offset(&self) -> Option<isize> {
        self.position(self.meta().transport)
    }

    /// Says where the link-layer header starts.
    #[inline]
    pub fn set_mac_offset(&mut self, offset: isize) {
        self.meta_mut().mac = self.stored(offset);
    }

    /// Says where the network header and the transport header start, `header_len` bytes apart.
    #[inline]
    pub fn set_network(&mut self, offset: isize, header_len: usize) {
        if !self.set_near_network(offset, header_len) {
            let network = self.absolute(offset);
            self.set_network_far(network, network.wrapping_add(header_len));
        }
    }

    /// Says where the network header starts, of a protocol that has no transport header behind it, or none that is known.
    #[inline]
    pub fn set_network_alone(&mut self, offset: isize) {
        let network = self.stored(offset);
        let m = self.meta_mut();
        (m.network, m.transport) = (network, 0);
    }

    /// As [`Self::set_network`] where one comparison tells that both positions fit, which they nearly always do.
    /// False, and nothing changed, where it doesn't: for those who keep all they need in registers as long as nothing
    /// is called.
    #[inline]
    #[must_use]
    pub fn set_near_network(&mut self, offset: isize, header_len: usize) -> bool {
        let network = self.absolute(offset);
        if header_len > NEAR || network > usize::from(u16::MAX) - NEAR {
            cold_path();
            return false;
        }
        let m = self.meta_mut();
        (m.network, m.transport) = (network as u16, (network + header_len) as u16);
        true
    }

    /// Stores positions of which one may not fit, or both.
    #[cold]
    fn set_network_far(&mut self, network: usize, transport: usize) {
        let [network, transport] = [network, transport].map(|place| u16::try_from(place).unwrap_or(0));
        (self.meta_mut().network, self.meta_mut().transport) = (network, transport);
    }

    /// Forgets where the link-layer header starts.
    #[inline]
    pub fn clear_mac(&mut self) {
        self.meta_mut().mac = 0;
    }

    /// Forgets where the network and transport headers start.
    #[inline]
    pub fn clear_network(&mut self) {
        (self.meta_mut().network, self.meta_mut().transport) = (0, 0);
    }

    /// Says where the transport header starts.
    #[inline]
    pub fn set_transport_offset(&mut self, offset: isize) {
        self.meta_mut().transport = self.stored(offset);
    }

    /// Adds `N` bytes in front of the data and returns them; the first `header_len` of them become the network
    /// header, and the transport header starts behind those. `None`, and nothing changed, where that takes more than
    /// one look: if the data would have to move, or ends 32 KiB or more behind the start of its buffer, so that the
    /// packet may be too long for its headers. See [`Self::prepend`] and [`Self::set_network`].
    #[inline]
    #[must_use]
    pub fn push_network<const N: usize>(&mut self, header_len: usize) -> Option<&mut [u8; N]> {
        let m = self.meta();
        // Without headroom it wraps around. One comparison tells that there is, and that all positions fit.
        let start = (m.start as usize).wrapping_sub(N);
        if header_len > NEAR || start | m.end as usize >= 1 << 15 {
            cold_path();
            return None;
        }
        let (m, network) = (self.meta_mut(), start as u16 + 1);
        if u32::from(m.mac) <= m.start {
            m.mac = 0; // it was stripped, and others take its place
        }
        (m.start, m.network, m.transport) = (start as u32, network, network + header_len as u16);
        // SAFETY: `start` was lowered by no more than there was in front of the data.
        let (bytes, []) = unsafe { self.arrays_at(start) };
        Some(bytes)
    }

    /// Adds `N` bytes in front of the data and returns them; the link-layer header begins with them. `None`, and nothing
    /// changed, if the buffer is too small. See [`Self::prepend`] and [`Self::set_mac_offset`].
    #[inline]
    #[must_use]
    pub fn push_mac<const N: usize>(&mut self) -> Option<&mut [u8; N]> {
        // Without headroom it wraps around. One comparison tells that there is, and that the position fits.
        let start = (self.meta().start as usize).wrapping_sub(N);
        if start >= usize::from(u16::MAX) {
            return self.push_mac_far();
        }
        let m = self.meta_mut();
        if u32::from(m.network) <= m.start {
            (m.network, m.transport) = (0, 0); // it was stripped, and others take its place
        }
        (m.start, m.mac) = (start as u32, start as u16 + 1);
        // SAFETY: `start` was lowered by no more than there was in front of the data.
        let (bytes, []) = unsafe { self.arrays_at(start) };
        Some(bytes)
    }

    /// The same where the data has to move, or begins further behind than positions reach.
    #[cold]
    #[inline(never)]
    fn push_mac_far<const N: usize>(&mut self) -> Option<&mut [u8; N]> {
        if !self.prepend(N) {
            return None;
        }
        self.set_mac_offset(0);
        self.data_array_mut(0)
    }

    /// The bytes from a position (possibly in front of the data) to the end of the data.
    #[inline]
    fn tail_at(&self, stored: u16) -> Option<&[u8]> {
        let m = self.meta();
        let at = (stored as u32).checked_sub(1)?;
        if at > m.end {
            return None;
        }
        // SAFETY: `at <= end <= room`: the range lies within the data area, which is initialised and owned.
        Some(unsafe { std::slice::from_raw_parts(self.room_ptr().add(at as usize), (m.end - at) as usize) })
    }

    #[inline]
    fn tail_mut_at(&mut self, stored: u16) -> Option<&mut [u8]> {
        let end = self.meta().end;
        let at = (stored as u32).checked_sub(1)?;
        if at > end {
            return None;
        }
        // SAFETY: as in `tail_at`, and `&mut self` makes the access exclusive.
        Some(unsafe { std::slice::from_raw_parts_mut(self.room_ptr().add(at as usize), (end - at) as usize) })
    }

    /// All bytes from the link-layer header to the end of the data.
    #[inline]
    pub fn mac(&self) -> Option<&[u8]> {
        self.tail_at(self.meta().mac)
    }

    /// The same, writable.
    #[inline]
    pub fn mac_mut(&mut self) -> Option<&mut [u8]> {
        self.tail_mut_at(self.meta().mac)
    }

    /// All bytes from the network header to the end of the data.
    #[inline]
    pub fn network(&self) -> Option<&[u8]> {
        self.tail_at(self.meta().network)
    }

    /// The same, writable.
    #[inline]
    pub fn network_mut(&mut self) -> Option<&mut [u8]> {
        self.tail_mut_at(self.meta().network)
    }

    /// All bytes from the network header to the end of the data, if the transport header starts `N` bytes behind it. The same as
    /// [`Self::network`] where [`Self::network_header_len`] is `N`, in half of the instructions.
    #[inline]
    pub fn network_of<const N: usize>(&self) -> Option<&[u8]> {
        if self.has_network_of::<N>() { self.network() } else { None }
    }

    /// The same as an array of `W` bytes, and how many of them are the packet's, at least `least`: for a caller that would
    /// ask with each look whether the packet is as long. It may be longer than `W`; if it is shorter, the rest is
    /// whatever the buffer has there. `None` if the packet has fewer than `least` bytes there, or the buffer fewer
    /// than `W`.
    #[inline]
    pub fn wide_network_of<const N: usize, const W: usize>(&self, least: u32) -> Option<(&[u8; W], usize)> {
        let [network, transport] = [self.meta().network, self.meta().transport].map(u32::from);
        // Positions are stored plus one; what is not set becomes larger than all.
        if network + N as u32 == transport { self.wide_at(network.wrapping_sub(1), least) } else { None }
    }

    /// All bytes from the network header on as [`Self::wide_network_of`] has them, wherever the transport header starts.
    #[inline]
    pub fn wide_network<const W: usize>(&self, least: u32) -> Option<(&[u8; W], usize)> {
        self.wide_at(u32::from(self.meta().network).wrapping_sub(1), least)
    }

    /// The data as [`Self::wide_network_of`] has it.
    #[inline]
    pub fn wide_data<const W: usize>(&self, least: u32) -> Option<(&[u8; W], usize)> {
        self.wide_at(self.meta().start, least)
    }

    #[inline]
    fn wide_at<const W: usize>(&self, at: u32, least: u32) -> Option<(&[u8; W], usize)> {
        const { assert!(W <= LEAST_ROOM) };
        if at > (LEAST_ROOM - W) as u32 {
            cold_path();
            return None;
        }
        // One comparison tells if it is less, or even less than nothing.
        let len = i64::from(self.meta().end) - i64::from(at);
        if len < i64::from(least) {
            return None;
        }
        // SAFETY: every buffer has a data area of at least `LEAST_ROOM` bytes, so `W` bytes from `at` on lie within.
        // They are initialised (fresh mappings are zero) and owned, whether they are data or not.
        Some((unsafe { &*self.room_ptr().add(at as usize).cast::<[u8; W]>() }, len as usize))
    }

    /// The network header and `M` bytes behind it, writable, if the transport header starts `N` bytes behind the
    /// network header, and all of them are there.
    #[inline]
    pub fn network_arrays_mut<const N: usize, const M: usize>(
        &mut self,
    ) -> Option<(&mut [u8; N], &mut [u8; M])> {
        const { assert!(0 < N && N + M <= u16::MAX as usize) };
        if !self.has_network_of::<N>() {
            cold_path();
            return None;
        }
        let front = self.network_reaching(N + M)?;
        // SAFETY: `N + M` bytes from there are data; the borrow of `self` makes the access exclusive.
        Some(unsafe { arrays_from(front) })
    }

    /// The first `N` bytes from the network header on, if they are all there.
    #[inline]
    pub fn network_array<const N: usize>(&self) -> Option<&[u8; N]> {
        // SAFETY: `N` bytes from there are data, which is initialised and owned.
        self.network_reaching(N).map(|front| unsafe { &*front.cast::<[u8; N]>() })
    }

    /// The same, writable.
    #[inline]
    pub fn network_array_mut<const N: usize>(&mut self) -> Option<&mut [u8; N]> {
        // SAFETY: as in `network_array`, and `&mut self` makes the access exclusive.
        self.network_reaching(N).map(|front| unsafe { &mut *front.cast::<[u8; N]>() })
    }

    /// Where the network header starts, if there are so many bytes from there to the end of the data; not more than 65,535.
    #[inline]
    fn network_reaching(&self, bytes: usize) -> Option<*mut u8> {
        // Positions are stored plus one: what is not known comes out beyond the end of any data, so that one comparison tells.
        let at = u64::from(u32::from(self.meta().network).wrapping_sub(1));
        if at + bytes as u64 > u64::from(self.meta().end) {
            cold_path();
            return None;
        }
        // SAFETY: the offset is not beyond the end of the data.
        Some(unsafe { self.room_at(at as usize) })
    }

    /// Whether the network header is known, and the transport header `N` bytes behind it.
    #[inline]
    fn has_network_of<const N: usize>(&self) -> bool {
        const { assert!(N <= u16::MAX as usize) };
        let m = self.meta();
        m.network != 0 && u32::from(m.network) + N as u32 == u32::from(m.transport)
    }

    /// All bytes from the transport header to the end of the data.
    #[inline]
    pub fn transport(&self) -> Option<&[u8]> {
        self.tail_at(self.meta().transport)
    }

    /// The same, writable.
    #[inline]
    pub fn transport_mut(&mut self) -> Option<&mut [u8]> {
        self.tail_mut_at(self.meta().transport)
    }

    /// Bytes of the network header, where both positions are known.
    #[inline]
    pub fn network_header_len(&self) -> Option<usize> {
        let m = self.meta();
        if m.network == 0 || m.transport < m.network {
            return None;
        }
        Some((m.transport - m.network) as usize)
    }
}
