//! A datagram of which some fragments are there.

use elements_shared::ecn::{self, FragmentMarks};
use packet::{Anno, DEFAULT_HEADROOM, Packet, Pool};
use std::fmt;
use std::net::Ipv4Addr;
use wire::ipv4::{self, FLAG_DF, HEADER_LEN, Header};

/// Room in front of the payload for the header and what lies in front of it.
pub(super) const FRONT: usize = 128;
/// Bytes that a datagram takes beside its buffer.
const OVERHEAD: usize = 384;
/// The last byte that a datagram can have.
const LONGEST: usize = 0xffff;

/// What the fragments of a datagram have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) src: Ipv4Addr,
    pub(super) dst: Ipv4Addr,
    pub(super) id: u16,
    pub(super) protocol: u8,
}

/// A fragment's place in its datagram.
pub(super) struct Fragment {
    pub(super) key: Key,
    header_len: usize,
    /// The bytes of the datagram's payload that it has.
    start: u16,
    end: u16,
    last: bool,
}

impl Fragment {
    /// That of a packet; none if it cannot be a part of any datagram.
    pub(super) fn of(packet: &Packet) -> Option<Fragment> {
        let bytes = packet.network()?;
        let ip = Header::new_checked(bytes).ok()?;
        let header_len = ipv4::header_bytes(bytes).ok()?.len();
        let len = usize::from(ip.total_len()).checked_sub(header_len)?;
        let (start, end) = (ip.fragment_offset(), ip.fragment_offset() + len);
        let odd = ip.more_fragments() && !end.is_multiple_of(8);
        if len == 0 || odd || end + header_len > LONGEST || header_len + len > bytes.len() {
            return None;
        }
        Some(Fragment {
            key: Key { src: ip.src(), dst: ip.dst(), id: ip.id(), protocol: ip.protocol() },
            header_len,
            start: start as u16,
            end: end as u16,
            last: !ip.more_fragments(),
        })
    }
}

/// The datagram: its payload from byte [`FRONT`] of the packet's data on.
pub(super) struct Partial {
    pub(super) key: Key,
    /// In which second its latest fragment came.
    pub(super) seen_s: i64,
    /// None only while the buffer is exchanged for a larger one.
    packet: Option<Packet>,
    /// Bytes in use in front of the payload, and those of them that are the IP header.
    front: usize,
    header_len: usize,
    /// Whether the last fragment is there.
    ended: bool,
    /// What is there: sorted, without overlaps, and with gaps between.
    chunks: Vec<(u16, u16)>,
    marks: FragmentMarks,
}

impl Partial {
    /// A datagram without payload, with the fragment's header for the time being. None if memory is exhausted.
    pub(super) fn new(pool: &mut Pool, fragment: &Fragment, packet: &Packet) -> Option<Partial> {
        let mut buffer = pool.alloc(DEFAULT_HEADROOM, FRONT)?;
        let header = *packet.network()?.first_chunk::<HEADER_LEN>()?;
        buffer.data_mut()[FRONT - HEADER_LEN..].copy_from_slice(&header);
        buffer.set_network((FRONT - HEADER_LEN) as isize, HEADER_LEN);
        buffer.set_timestamp_ns(packet.timestamp_ns());
        Some(Partial {
            key: fragment.key,
            seen_s: 0,
            packet: Some(buffer),
            front: HEADER_LEN,
            header_len: HEADER_LEN,
            ended: false,
            chunks: Vec::new(),
            marks: FragmentMarks::default(),
        })
    }

    /// Bytes of the payload as far as it is known.
    pub(super) fn len(&self) -> usize {
        self.chunks.last().map_or(0, |&(_, end)| usize::from(end))
    }

    /// Bytes of memory that it takes: a buffer of one of two sizes, and what is known of it.
    pub(super) fn cost(&self) -> usize {
        // What a small buffer has room for, its own notes left aside.
        let is_small = self.packet.as_ref().is_none_or(|packet| packet.room() < packet::SMALL_STRIDE);
        OVERHEAD + if is_small { packet::SMALL_STRIDE } else { packet::LARGE_STRIDE }
    }

    /// Adds what a fragment has.
    pub(super) fn add(
        &mut self,
        pool: &mut Pool,
        fragment: &Fragment,
        packet: &Packet,
        mtu: Option<Anno>,
    ) -> Result<(), &'static str> {
        if self.ended && usize::from(fragment.end) > self.len() {
            return Err("fragment beyond the last one");
        }
        let header_len = if fragment.start == 0 { fragment.header_len } else { self.header_len };
        if header_len + self.len().max(usize::from(fragment.end)) > LONGEST {
            return Err("fragment beyond the largest datagram");
        }
        self.reach(pool, usize::from(fragment.end))?;
        let Some(buffer) = self.packet.as_mut() else { return Err("no buffer to put fragments together") };
        let payload = packet.network().and_then(|bytes| {
            bytes.get(fragment.header_len..)?.get(..usize::from(fragment.end - fragment.start))
        });
        let (from, to) = (FRONT + usize::from(fragment.start), FRONT + usize::from(fragment.end));
        if let (Some(payload), Some(place)) = (payload, buffer.data_mut().get_mut(from..to)) {
            place.copy_from_slice(payload);
        }
        let largest = mtu.map(|place| {
            buffer.anno(place).max(u64::from(fragment.end - fragment.start) + fragment.header_len as u64)
        });
        if fragment.start == 0 {
            self.adopt(fragment, packet);
        }
        if let (Some(buffer), Some(place), Some(largest)) = (self.packet.as_mut(), mtu, largest) {
            buffer.set_anno(place, largest);
        }
        self.marks.add(packet.network().unwrap_or_default());
        self.ended |= fragment.last;
        self.note(fragment.start, fragment.end);
        Ok(())
    }

    /// Makes the payload at least `len` bytes long; what is new is zero.
    fn reach(&mut self, pool: &mut Pool, len: usize) -> Result<(), &'static str> {
        let Some(mut buffer) = self.packet.take() else { return Err("no buffer to put fragments together") };
        let (old, new) = (buffer.len(), FRONT + len);
        if new > old {
            buffer = match pool.reserve(buffer, 0, new - old) {
                Ok(buffer) => buffer,
                Err(buffer) => {
                    self.packet = Some(buffer);
                    return Err("no buffer to put fragments together");
                }
            };
            if buffer.put(new - old) {
                buffer.data_mut()[old..].fill(0);
            }
        }
        self.packet = Some(buffer);
        Ok(())
    }

    /// Takes header, annotations, and what lies in front of the header, from the first fragment.
    fn adopt(&mut self, fragment: &Fragment, packet: &Packet) {
        let (Some(buffer), Some(network)) = (self.packet.as_mut(), packet.network()) else { return };
        let offset = packet.network_offset().and_then(|offset| usize::try_from(offset).ok()).unwrap_or(0);
        let lead_len = offset.min(FRONT - fragment.header_len);
        let header_at = FRONT - fragment.header_len;
        let lead = &packet.data()[offset - lead_len..offset];
        buffer.copy_annotations(packet);
        let data = buffer.data_mut();
        data[header_at - lead_len..header_at].copy_from_slice(lead);
        data[header_at..FRONT].copy_from_slice(&network[..fragment.header_len]);
        buffer.set_network(header_at as isize, fragment.header_len);
        if let Some(mac) = packet.mac_offset().filter(|_| lead_len == offset) {
            buffer.set_mac_offset(mac + (header_at - lead_len) as isize);
        }
        self.header_len = fragment.header_len;
        self.front = lead_len + fragment.header_len;
    }

    /// Adds a range to what is there.
    fn note(&mut self, start: u16, end: u16) {
        let first = self.chunks.partition_point(|&(_, e)| e < start);
        let after = self.chunks.partition_point(|&(s, _)| s <= end);
        let met = &self.chunks[first..after.max(first)];
        let start = met.first().map_or(start, |&(s, _)| s.min(start));
        let end = met.last().map_or(end, |&(_, e)| e.max(end));
        self.chunks.splice(first..after.max(first), [(start, end)]);
    }

    /// Whether the first fragment is there.
    pub(super) fn begins(&self) -> bool {
        matches!(self.chunks.first(), Some((0, _)))
    }

    /// Whether everything is there.
    pub(super) fn is_complete(&self) -> bool {
        self.ended && matches!(self.chunks[..], [(0, _)])
    }

    /// The congestion mark that it has as a whole; `None` if it is to be dropped.
    pub(super) fn mark(&self) -> Option<u8> {
        let first = self.packet.as_ref().and_then(|packet| ecn::mark(packet.network()?)).unwrap_or(0);
        self.marks.of_whole(first)
    }

    /// The datagram, complete, with its congestion mark.
    pub(super) fn into_datagram(self, now_ns: i64, mark: u8) -> Option<Packet> {
        let mut packet = self.into_packet(0)?;
        if let Some(bytes) = packet.network_mut() {
            ecn::set_mark(bytes, mark);
        }
        packet.set_timestamp_ns(now_ns);
        Some(packet)
    }

    /// What there is of it: as a first fragment, if the last one is missing.
    pub(super) fn into_remains(self) -> Option<Packet> {
        let field = if self.ended { 0 } else { ipv4::FLAG_MF };
        self.into_packet(field)
    }

    fn into_packet(self, flags: u16) -> Option<Packet> {
        let mut packet = self.packet?;
        let payload = packet.len() - FRONT;
        if !packet.pull(FRONT - self.front) {
            return None;
        }
        if let Some(bytes) = packet.network_mut() {
            if let Ok(mut ip) = Header::new_checked_mut(bytes) {
                let kept = ip.fragment_field() & (FLAG_DF | ipv4::FLAG_RF);
                ip.set_fragment_field(kept | flags);
                ip.set_total_len((self.header_len + payload) as u16);
                ip.set_version_and_header_len(self.header_len);
            }
            // The header is whole: it was copied so.
            let _ = ipv4::fill_checksum(bytes);
        }
        Some(packet)
    }
}

impl fmt::Display for Partial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let payload = self.packet.as_ref().and_then(|packet| packet.data().get(FRONT..FRONT + 4));
        let ports = match payload.filter(|_| self.begins()) {
            Some(&[a, b, c, d]) => [u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])],
            _ => [0, 0],
        };
        let Key { src, dst, id, .. } = self.key;
        write!(f, "({src}, {}, {dst}, {}) {id}", ports[0], ports[1])?;
        self.chunks.iter().try_for_each(|(start, end)| write!(f, " ({start},{end})"))
    }
}
