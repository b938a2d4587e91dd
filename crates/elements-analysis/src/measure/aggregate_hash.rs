//! Sets the aggregate annotation to a hash of the flow.
//!
//! ```click
//! AggregateHash([BITS])
//! ```
//!
//! Packets with the same addresses, protocol and ports get the same number, other packets most likely a different
//! one. Packets without a marked IP header get 0; packets without ports, and all fragments, count as having ports
//! 0. It is FastClick's element.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated; all compute the same numbers.
//!
//! # Arguments
//! - `BITS` (integer from 1 to 8): accepted, as in FastClick, without effect: the number always has 32 bits.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true, FORCE_IP true) -> AggregateHash -> AggregateCounter -> Discard
//! ```
//!
//! # See also
//! AggregateIPFlows, AggregateIP

use elements_shared::flow_key::key;
use packet::{Anno, Packet};
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The class.
pub(crate) const CLASS: Class = Class::new("AggregateHash", create).doc(router::manual!("aggregate_hash.rs"));

struct AggregateHash {
    /// It keeps senders from choosing flows that collide.
    secret: u64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut bits = 8u32;
    config.args().positional("BITS", &mut bits).finish()?;
    if !(1..=8).contains(&bits) {
        return Err("bad number of bits".into());
    }
    Ok(Box::new(PerPacket(AggregateHash { secret: config.common_seed() })))
}

impl Simple for AggregateHash {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let hash = key(packet).map_or(0, |key| {
            let mut hasher = DefaultHasher::new();
            (self.secret, key.map(), key.id()).hash(&mut hasher);
            hasher.finish()
        });
        packet.set_anno(Anno::AGGREGATE, hash & u64::from(u32::MAX));
        Verdict::Pass
    }
}
