//! What counts of a TCP packet.

use super::waiting::Span;
use elements_shared::ip_header::header;
use packet::Packet;
use wire::ip_proto;
use wire::tcp::{self, flag};

/// Why packets are dropped.
pub(super) const NO_TCP: &str = "no TCP header";

/// A TCP segment, as its headers describe it.
#[derive(Clone, Copy)]
pub(super) struct Segment {
    /// The number of its first byte.
    pub(super) start: u32,
    pub(super) acknowledgement: u32,
    pub(super) flags: u8,
    pub(super) window: u16,
    /// Bytes of data.
    pub(super) data: usize,
    /// Bytes of the IP header, and of both headers.
    pub(super) ip_header: usize,
    pub(super) headers: usize,
}

impl Segment {
    #[inline]
    pub(super) fn of(packet: &Packet) -> Option<Segment> {
        let ip = header(packet)?;
        let is_whole = ip.protocol() == ip_proto::TCP && !ip.is_fragment();
        let tcp = tcp::Header::new_checked(packet.transport().filter(|_| is_whole)?).ok()?;
        let headers = ip.header_len() + tcp.header_len();
        Some(Segment {
            start: tcp.sequence(),
            acknowledgement: tcp.acknowledgement(),
            flags: tcp.flags(),
            window: tcp.window(),
            data: usize::from(ip.total_len()).checked_sub(headers)?,
            ip_header: ip.header_len(),
            headers,
        })
    }

    pub(super) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// The numbers of its bytes. A SYN and a FIN have a number as a byte has.
    pub(super) fn span(&self) -> Span {
        let len = self.data as u32 + u32::from(self.has(flag::SYN | flag::FIN));
        Span { start: self.start, end: self.start.wrapping_add(len) }
    }
}
