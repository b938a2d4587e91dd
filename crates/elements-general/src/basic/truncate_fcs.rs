//! Cuts the frame check sequence off packets.
//!
//! ```click
//! TruncateFCS([KEYWORDS])
//! ```
//!
//! Removes the last four bytes, whatever they are. It is FastClick's element.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `EXTRA_LENGTH` (boolean, default true): whether to add the number of bytes cut off to the extra-length
//!   annotation.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource -> TruncateFCS -> Discard
//! ```
//!
//! # See also
//! Truncate, CheckCRC32

use packet::{Anno, Packet};
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("TruncateFCS", create).live().doc(router::manual!("truncate_fcs.rs"));

const FCS_BYTES: usize = 4;

struct TruncateFcs {
    annotate: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = TruncateFcs { annotate: true };
    config.args().keyword("EXTRA_LENGTH", &mut e.annotate).finish()?;
    Ok(Box::new(PerPacket(e)))
}

impl Simple for TruncateFcs {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let cut = packet.len().min(FCS_BYTES);
        let _ = packet.take(cut); // it has them
        if self.annotate {
            packet.set_anno(Anno::EXTRA_LENGTH, packet.anno(Anno::EXTRA_LENGTH) + cut as u64);
        }
        Verdict::Pass
    }
}
