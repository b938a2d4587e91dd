//! Sets the aggregate annotation to the packet's length.
//!
//! ```click
//! AggregateLength([KEYWORDS])
//! ```
//!
//! The length includes the bytes in the extra-length annotation.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic, output 1 push. Workers: replicated.
//!
//! # Arguments
//! - `IP` (boolean, default false): whether to count only the bytes from the IP header on. Packets without one leave
//!   by output 1 or, if there is none, are dropped.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> AggregateLength -> c :: AggregateCounter -> Discard
//! ```
//!
//! # See also
//! AggregateIP, AggregateCounter

use packet::{Anno, Packet};
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("AggregateLength", create)
    .ports("1/1-2")
    .processing("a/ah")
    .doc(router::manual!("aggregate_length.rs"));

struct AggregateLength {
    ip: bool,
    outputs: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = AggregateLength { ip: false, outputs: config.outputs() };
    config.args().keyword("IP", &mut e.ip).finish()?;
    Ok(Box::new(PerPacket(e)))
}

impl Simple for AggregateLength {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let length = if self.ip { packet.network().map(<[u8]>::len) } else { Some(packet.len()) };
        let Some(length) = length else { return elements_shared::verdict::fail(self.outputs, super::NO_IP) };
        let length = (length as u64).wrapping_add(packet.anno(Anno::EXTRA_LENGTH));
        packet.set_anno(Anno::AGGREGATE, length);
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Sent, send};
    use packet::Anno;

    #[test]
    fn the_length_becomes_the_aggregate() {
        let cut = Sent { data: vec![0; 60], annotations: vec![(Anno::EXTRA_LENGTH, 40)], ..Sent::default() };
        let flow = send("Inject -> AggregateLength -> Collect(0)", [Sent::from(vec![0; 33]), cut.clone()]);
        let seen: Vec<_> = flow.seen.iter().map(|(_, p)| p.anno(Anno::AGGREGATE)).collect();
        assert_eq!(seen, [33, 100]);
        let flow =
            send("Inject -> MarkIPHeader(14) -> AggregateLength(IP true) -> Collect(0)", [cut.clone()]);
        assert_eq!(flow.only(0).anno(Anno::AGGREGATE), 86);
        let flow = send("Inject -> a :: AggregateLength(IP true) -> Collect(0); a[1] -> Collect(1)", [cut]);
        assert_eq!(flow.data(1).len(), 1);
    }
}
