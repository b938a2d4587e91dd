//! Marks the position of the IP header.
//!
//! ```click
//! MarkIPHeader([OFFSET])
//! ```
//!
//! Marks the IP header of packets that are known to have one, and what follows it. It checks only that the header is
//! present; where version and length are not those of an IPv4 header, nothing behind it is marked.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `OFFSET` (integer, default 0): where the header starts.
//!
//! # Example
//! ```click
//! InfiniteSource -> MarkIPHeader(14) -> Discard
//! ```
//!
//! # See also
//! CheckIPHeader

use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("MarkIPHeader", create).pure().doc(router::manual!("mark_ip_header.rs"));

struct MarkIpHeader(usize);

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut offset = 0u32;
    config.args().positional("OFFSET", &mut offset).finish()?;
    Ok(Box::new(PerPacket(MarkIpHeader(offset as usize))))
}

impl Simple for MarkIpHeader {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        match packet.data().get(self.0) {
            Some(first @ 0x45..=0x4f) => {
                packet.set_network(self.0 as isize, usize::from(first & 0x0f) * 4);
                Verdict::Pass
            }
            Some(_) => {
                packet.set_network_alone(self.0 as isize);
                Verdict::Pass
            }
            None => Verdict::Drop(elements_shared::ip_header::NO_HEADER),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;
    use elements_testing::samples::with_options;

    #[test]
    fn marks_both_headers() {
        let mut data = vec![0; 4];
        data.extend(with_options(&[1, 1, 1, 0], 3));
        let flow = send("Inject -> MarkIPHeader(4) -> Collect(0)", [data, vec![0x45; 4]]);
        let marks: Vec<_> =
            flow.seen.iter().map(|(_, p)| (p.network_offset(), p.transport_offset())).collect();
        assert_eq!(marks, [(Some(4), Some(28))]);
        assert_eq!(flow.drops(), [("no IP header", 1)]);
        for first in [0x44, 0x60, 0x65, 0x00] {
            let flow = send("Inject -> MarkIPHeader -> Collect(0)", [vec![first; 40]]);
            assert_eq!((flow.only(0).network_offset(), flow.only(0).transport_offset()), (Some(0), None));
        }
    }
}
