//! Says where the IP header is.
//!
//! ```click
//! MarkIPHeader([OFFSET])
//! ```
//!
//! Marks the IP header of packets that are known to have one, without checking more than that it is there and how long it
//! says it is.
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
pub(crate) const CLASS: Class = Class::new("MarkIPHeader", create).doc(include_str!("mark_ip_header.rs"));

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
            None => Verdict::Drop("no IP header"),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    /// What follows can rely on the mark: the TTL is found behind an Ethernet header.
    #[test]
    fn marks() {
        let config =
            "InfiniteSource(DATA \\<0000 4500001c 00000000 01110000 0a000001 0a000102>, LIMIT 1, STOP true)
            -> MarkIPHeader(2) -> d :: DecIPTTL -> Discard; d[1] -> x :: Discard;";
        assert_eq!(run_and_read(config, &["x.count"]), ["1"]);
    }
}
