//! Checks and removes the checksum that SetCRC32 appended.
//!
//! ```click
//! CheckCRC32
//! ```
//!
//! Drops packets whose last four bytes are not the CRC of the bytes before them, and reports each on standard error.
//! Removes those four bytes from good packets.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated; drops add up.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! - `drops` (read): packets with bad checksums.
//!
//! # Example
//! ```click
//! InfiniteSource -> SetCRC32 -> CheckCRC32 -> Discard
//! ```
//!
//! # See also
//! SetCRC32

use elements_shared::crc32::{BYTES, crc32};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Merge, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("CheckCRC32", create).doc(router::manual!("check_crc32.rs"));

/// Why packets are dropped.
const REASON: &str = "bad checksum";

struct CheckCrc32 {
    drops: u64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(CheckCrc32 { drops: 0 })))
}

impl CheckCrc32 {
    #[cold]
    fn bad(&mut self, cx: &mut Cx<'_>, len: usize) -> Verdict {
        cx.complain(format_args!("CRC32 failed, len {len}"), REASON);
        self.drops += 1;
        Verdict::Drop(REASON)
    }
}

impl Simple for CheckCrc32 {
    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let good = packet
            .data()
            .split_last_chunk::<BYTES>()
            .is_some_and(|(data, crc)| crc32(data).to_le_bytes() == *crc);
        if good && packet.take(BYTES) {
            return Verdict::Pass;
        }
        self.bad(cx, packet.len())
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("drops", |e: &mut CheckCrc32, _| e.drops).merged(Merge::Sum);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;

    /// Good packets come back as they were, the empty one too; a changed byte or a missing end is noticed.
    #[test]
    fn there_and_back() {
        let packets = || [b"hello".to_vec(), Vec::new()];
        assert_eq!(send("Inject -> SetCRC32 -> CheckCRC32 -> Collect(0)", packets()).data(0), packets());
        let config = "Inject -> SetCRC32 -> StoreData(2, x) -> c :: CheckCRC32 -> Collect(0)";
        let mut flow = send(config, packets());
        assert_eq!((flow.data(0).len(), flow.read("c.drops")), (0, "2".to_owned()));
        assert_eq!(
            send("Inject -> CheckCRC32 -> Collect(0)", [vec![1, 2, 3]]).drops(),
            [("bad checksum", 1)]
        );
    }
}
