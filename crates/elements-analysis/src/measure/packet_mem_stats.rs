//! Counts packets by the alignment of their data.
//!
//! ```click
//! PacketMemStats([KEYWORDS])
//! ```
//!
//! Passes packets on, and counts those whose data begins at an address that is a multiple of ALIGN_STRIDE. If that is
//! the length of a cache line, the headers of such packets occupy no more cache lines than necessary. It is
//! FastClick's element; PacketMemAligned is an older name for it.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: shared; counts of all workers together.
//!
//! # Arguments
//! - `ALIGN_STRIDE` (integer, at least 1, default 64): bytes.
//!
//! # Handlers
//! - `aligned_pkts`, `unaligned_pkts`, `total_pkts` (read): aligned packets, unaligned packets, and all packets.
//! - `aligned_pkts_ratio`, `unaligned_pkts_ratio` (read): the first two in per cent of all packets.
//! - `align_stride` (read, write): the argument.
//!
//! # Example
//! ```click
//! InfiniteSource(LIMIT 100, STOP true) -> Strip(14) -> m :: PacketMemStats -> Discard; DriverManager(wait, read m.aligned_pkts_ratio)
//! ```
//!
//! # See also
//! BatchStats, Align

use super::histogram::Histogram;
use elements_shared::sprintf::general;
use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Residency, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("PacketMemStats", create)
    .residency(Residency::Shared)
    .doc(router::manual!("packet_mem_stats.rs"));
struct PacketMemStats {
    /// Packets that are not aligned, and those that are.
    counts: Histogram,
    stride: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut stride = 64u32;
    config.args().keyword("ALIGN_STRIDE", &mut stride).finish()?;
    let stride = checked(stride)?;
    Ok(Box::new(PerPacket(PacketMemStats { counts: Histogram::of(config, 2)?, stride })))
}

fn checked(stride: u32) -> Result<usize, String> {
    if stride == 0 { Err("ALIGN_STRIDE must be at least 1".to_owned()) } else { Ok(stride as usize) }
}

impl PacketMemStats {
    #[inline]
    fn is_aligned(&self, packet: &Packet) -> bool {
        let address = packet.data().as_ptr().addr();
        // Nearly always it is a power of two, and no division is needed.
        match self.stride.is_power_of_two() {
            true => address & (self.stride - 1) == 0,
            false => address.is_multiple_of(self.stride),
        }
    }

    fn count(&self, aligned: bool) -> u64 {
        self.counts.sums()[usize::from(aligned)]
    }

    fn total(&self) -> u64 {
        self.counts.sums().iter().sum()
    }

    fn ratio(&self, aligned: bool) -> String {
        match self.total() {
            0 => "0".to_owned(),
            total => general(self.count(aligned) as f64 / total as f64 * 100.0),
        }
    }
}

impl Simple for PacketMemStats {
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        self.counts.add(usize::from(self.is_aligned(packet)));
        Verdict::Pass
    }

    fn process_batch(&mut self, cx: &mut Cx<'_>, batch: Batch) {
        let aligned = batch.iter().filter(|packet| self.is_aligned(packet)).count();
        self.counts.add_several(usize::from(true), aligned);
        self.counts.add_several(usize::from(false), batch.len() - aligned);
        cx.emit(0, batch);
    }

    fn handlers(&self, h: &mut Handlers) {
        type M = PacketMemStats;
        h.read("aligned_pkts", |e: &mut M, _| e.count(true));
        h.read("unaligned_pkts", |e: &mut M, _| e.count(false));
        h.read("total_pkts", |e: &mut M, _| e.total());
        h.read("aligned_pkts_ratio", |e: &mut M, _| e.ratio(true));
        h.read("unaligned_pkts_ratio", |e: &mut M, _| e.ratio(false));
        h.read("align_stride", |e: &mut M, _| e.stride);
        h.write("align_stride", |e: &mut M, cx, text| {
            e.stride = checked(router::value(cx, text)?)?;
            Ok(())
        })
        .to_everywhere();
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;

    #[test]
    fn no_stride() {
        let said = errors("Idle -> PacketMemStats(ALIGN_STRIDE 0) -> Discard");
        assert!(said.contains("ALIGN_STRIDE must be at least 1"), "{said}");
    }
}
