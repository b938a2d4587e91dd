//! Counts packets or bytes by selected bits of the aggregate.
//!
//! ```click
//! AggregateCounterVector(MASK [, KEYWORDS])
//! ```
//!
//! Each packet is counted under those bits of its aggregate annotation that are set in MASK. It is FastClick's
//! element; FastClick's has no limit on MASK, and no handler for the counts.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated; counts add up.
//!
//! # Arguments
//! - `MASK` (integer): the bits to use; at most 16777215.
//! - `BYTES`, `IP_BYTES` (boolean, default false), `MULTIPACKET`, `EXTRA_LENGTH` (boolean, default true): as for
//!   AggregateCounter.
//! - `MARK` (boolean): FastClick's, for marks set by network cards; accepted.
//!
//! # Handlers
//! - `active` (read, write): whether to count.
//! - `stop` (write, button): deactivates the element and stops the driver.
//! - `count` (read, an aggregate or nothing): the count for that aggregate, or the total.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> AggregateHash -> AggregateCounterVector(511) -> Discard
//! ```
//!
//! # See also
//! AggregateCounter, AggregateHash

use super::amount::Amount;
use packet::{Anno, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Flags, Handlers, Merge, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("AggregateCounterVector", create).doc(router::manual!("aggregate_counter_vector.rs"));

/// The largest mask: 128 MiB of counts.
const MASK_MAX: u32 = (1 << 24) - 1;

struct AggregateCounterVector {
    mask: u32,
    counts: Vec<u64>,
    amount: Amount,
    active: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut mask, mut mark, mut amount) = (0u32, false, Amount::default());
    config
        .args()
        .required("MASK", &mut mask)
        .keyword("MARK", &mut mark)
        .keyword("BYTES", &mut amount.bytes)
        .keyword("IP_BYTES", &mut amount.ip_bytes)
        .keyword("MULTIPACKET", &mut amount.multipacket)
        .keyword("EXTRA_LENGTH", &mut amount.extra_length)
        .finish()?;
    if mask > MASK_MAX {
        return Err(format!("MASK must be <= {MASK_MAX}").into());
    }
    let counts = vec![0; mask as usize + 1];
    Ok(Box::new(PerPacket(AggregateCounterVector { mask, counts, amount, active: true })))
}

impl Simple for AggregateCounterVector {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if self.active {
            let group = packet.anno(Anno::AGGREGATE) as u32 & self.mask;
            self.counts[group as usize] += self.amount.of(packet);
        }
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        type V = AggregateCounterVector;
        h.read_with("count", |e: &mut V, cx, text| {
            if text.trim().is_empty() {
                return Ok(e.counts.iter().sum::<u64>().to_string());
            }
            let aggregate: u32 = router::value(cx, text)?;
            Ok(e.counts[(aggregate & e.mask) as usize].to_string())
        })
        .merged(Merge::Sum);
        h.read("active", |e: &mut V, _| e.active).flagged(Flags::CHECKBOX);
        h.write("active", |e: &mut V, cx, text| {
            e.active = router::value(cx, text)?;
            Ok(())
        });
        h.write("stop", |e: &mut V, cx, _| {
            e.active = false;
            cx.info().please_stop();
            Ok(())
        })
        .as_button();
    }
}
