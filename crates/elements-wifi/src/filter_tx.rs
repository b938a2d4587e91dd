//! Filters wireless frames that this host has sent.
//!
//! ```click
//! FilterTX
//! ```
//!
//! Interfaces that show all that is on the air also give back what was sent, with the outcome. Frames of which the
//! interface says so, in their annotation or in front of them, leave at output 1 if it is in use and are dropped
//! otherwise.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic; output 1 is push. Workers: replicated.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! - `drops` (read): frames filtered out. In Click it is always 0.
//!
//! # Example
//! ```click
//! FromDump(radio.pcap, STOP true) -> RadiotapDecap -> t :: FilterTX -> PrintWifi -> Discard;
//! t[1] -> PrintWifi(sent) -> Discard;
//! ```
//!
//! # See also
//! FilterPhyErr, RadiotapDecap, Prism2Decap, ExtraDecap

use super::extra::{self, flag};
use elements_shared::verdict::fail;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Merge, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("FilterTX", create).ports("1/1-2").processing("a/ah").doc(router::manual!("filter_tx.rs"));

struct FilterTx {
    drops: u64,
    outputs: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(FilterTx { drops: 0, outputs: config.outputs() })))
}

impl Simple for FilterTx {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if !extra::has(packet, flag::TX) {
            return Verdict::Pass;
        }
        self.drops += 1;
        fail(self.outputs, "sent by this host")
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("drops", |e: &mut FilterTx, _| e.drops).merged(Merge::Sum);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Sent, send};
    use packet::Anno;

    /// Flags count where the annotation has been set, or one lies in front of the frame; what lies there by chance does not.
    #[test]
    fn only_flags_of_a_set_annotation_count() {
        const MAGIC: u64 = 0x0749_2001;
        let flags = |magic: u64, flags: u64| Sent {
            data: vec![flags as u8],
            annotations: vec![(Anno::new(16, 4).unwrap(), magic), (Anno::new(28, 2).unwrap(), flags)],
            ..Sent::default()
        };
        let mut front = [0; 30];
        front[..4].copy_from_slice(&(MAGIC as u32).to_le_bytes());
        front[12] = 9;
        let packets = || [flags(MAGIC, 1), flags(MAGIC, 8), flags(0, 9), front.to_vec().into()];
        for (class, out) in [("FilterTX", [1, front[0]]), ("FilterPhyErr", [8, front[0]])] {
            let config = format!("Inject -> f :: {class} -> Collect(0); f[1] -> Collect(1)");
            let mut flow = send(&config, packets());
            assert_eq!(flow.data(1).iter().map(|data| data[0]).collect::<Vec<_>>(), out, "{class}");
            assert_eq!((flow.data(0).len(), flow.read("f.drops").as_str()), (2, "2"));
            let flow = send(&format!("Inject -> {class} -> Collect(0)"), packets());
            assert_eq!((flow.data(0).len(), flow.drops()[0].1), (2, 2));
        }
    }
}
