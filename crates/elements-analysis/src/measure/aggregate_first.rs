//! Passes the first packet of each aggregate.
//!
//! ```click
//! AggregateFirst([KEYWORDS])
//! ```
//!
//! Other packets leave by output 1 or, if there is none, are dropped.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic, output 1 push. Workers: exclusive.
//!
//! # Arguments
//! - `NOTIFIER` (AggregateIPFlows or AggregateIPAddrPair): when there are too many aggregates, those that this
//!   element has reported as ended are forgotten.
//! - `CAPACITY` (integer, default 4194304): the maximum number of aggregates; packets of any more are treated as
//!   other packets. Click has no limit.
//!
//! # Example
//! ```click
//! AggregateIPFlows -> AggregateFirst -> IPPrint
//! ```
//!
//! # See also
//! AggregateLast, AggregateFilter, AggregateIPFlows

use super::notifier::{Notifier, Over};
use packet::{Anno, Packet};
use router::{Class, Config, ConfigError, Cx, Element, ElementName, PerPacket, Residency, Simple, Verdict};
use std::any::Any;
use std::collections::HashSet;

/// The class.
pub(crate) const CLASS: Class = Class::new("AggregateFirst", create)
    .ports("1/1-2")
    .processing("a/ah")
    .residency(Residency::Exclusive)
    .keeps("aggregates", "CAPACITY", 4_194_304, 16)
    .doc(router::manual!("aggregate_first.rs"));

struct AggregateFirst {
    seen: HashSet<u32>,
    capacity: usize,
    notifier: Option<String>,
    over: Option<Over>,
    outputs: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut capacity, mut notifier) = (1 << 22, None::<ElementName>);
    config.args().keyword("NOTIFIER", &mut notifier).keyword("CAPACITY", &mut capacity).finish()?;
    Ok(Box::new(PerPacket(AggregateFirst {
        seen: HashSet::new(),
        capacity,
        notifier: notifier.map(|element| element.name),
        over: None,
        outputs: config.outputs(),
    })))
}

impl Simple for AggregateFirst {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if let Some(name) = &self.notifier {
            self.over = Some(Notifier::named(cx, name)?.listen());
        }
        Ok(())
    }

    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let aggregate = packet.anno(Anno::AGGREGATE) as u32;
        if self.seen.len() >= self.capacity {
            // No number comes twice, so the dead need not be forgotten earlier.
            for over in self.over.iter().flat_map(Over::take) {
                self.seen.remove(&over);
            }
        }
        if self.seen.len() < self.capacity && self.seen.insert(aggregate) {
            return Verdict::Pass;
        }
        elements_shared::verdict::fail(self.outputs, "not the first of its aggregate")
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(std::mem::take(&mut self.seen)))
    }

    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(state) = state.downcast::<HashSet<u32>>() {
            self.seen = *state;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Sent, send};
    use packet::Anno;

    #[test]
    fn the_first_packet_of_each_aggregate_leaves_by_the_first_output() {
        let sent = [5u64, 5, 7, 5, 7, 9]
            .map(|a| Sent { annotations: vec![(Anno::AGGREGATE, a)], ..Sent::from(vec![a as u8]) });
        let config = "Inject -> f :: AggregateFirst(CAPACITY 2) -> Collect(0); f[1] -> Collect(1)";
        let flow = send(config, sent);
        assert_eq!(flow.data(0), [[5], [7]]);
        assert_eq!(flow.data(1), [[5], [5], [7], [9]]);
    }
}
