//! What a packet counts: packets, or bytes.

use packet::{Anno, Packet};

/// How packets are counted.
pub(super) struct Amount {
    /// Whether bytes are counted instead of packets.
    pub(super) bytes: bool,
    /// Whether bytes count from the IP header on, where one is marked.
    pub(super) ip_bytes: bool,
    /// Whether a packet counts as many as its annotation says.
    pub(super) multipacket: bool,
    /// Whether bytes that were cut off, as annotated, count too.
    pub(super) extra_length: bool,
}

impl Default for Amount {
    fn default() -> Amount {
        Amount { bytes: false, ip_bytes: false, multipacket: true, extra_length: true }
    }
}

impl Amount {
    /// What this packet counts.
    pub(super) fn of(&self, packet: &Packet) -> u64 {
        if !self.bytes {
            return 1 + if self.multipacket { packet.anno(Anno::EXTRA_PACKETS) } else { 0 };
        }
        let whole = packet.len();
        let marked = self.ip_bytes.then(|| packet.network_offset()).flatten();
        let length = marked.map_or(whole as u64, |offset| (whole as i64 - offset as i64).max(0) as u64);
        length + if self.extra_length { packet.anno(Anno::EXTRA_LENGTH) } else { 0 }
    }
}
