//! Filters wireless frames that were received with errors.
//!
//! ```click
//! FilterPhyErr
//! ```
//!
//! Frames of which the interface says that they were received with errors, in their annotation or in front of them,
//! leave at output 1 if it is in use and are dropped otherwise.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic; output 1 is push. Workers: replicated.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! - `drops` (read): frames filtered out.
//!
//! # Example
//! ```click
//! FromDump(radio.pcap, STOP true) -> RadiotapDecap -> FilterPhyErr -> PrintWifi -> Discard;
//! ```
//!
//! # See also
//! FilterTX, RadiotapDecap, ExtraDecap

use super::extra::{self, flag};
use elements_shared::verdict::fail;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Merge, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("FilterPhyErr", create)
    .ports("1/1-2")
    .processing("a/ah")
    .doc(router::manual!("filter_phy_err.rs"));

struct FilterPhyErr {
    drops: u64,
    outputs: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(FilterPhyErr { drops: 0, outputs: config.outputs() })))
}

impl Simple for FilterPhyErr {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if !extra::has(packet, flag::RX_ERROR) {
            return Verdict::Pass;
        }
        self.drops += 1;
        fail(self.outputs, "received with errors")
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("drops", |e: &mut FilterPhyErr, _| e.drops).merged(Merge::Sum);
    }
}
