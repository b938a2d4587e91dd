//! Marks the position of the IP header.
//!
//! ```click
//! MarkIPHeader([OFFSET])
//! ```
//!
//! Marks the IP header of packets that are known to have one. It checks only that the header is present, and its
//! length field.
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
pub(crate) const CLASS: Class = Class::new("MarkIPHeader", create).doc(router::manual!("mark_ip_header.rs"));

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
            Some(first) => {
                let header_len = usize::from(first & 0x0f) * 4;
                packet.set_network(self.0 as isize, header_len);
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
    }
}
