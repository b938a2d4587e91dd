//! Restores a removed IP header.
//!
//! ```click
//! UnstripIPHeader()
//! ```
//!
//! Extends packets at the front, up to the marked IP header, if it was removed. Packets without a mark pass
//! unchanged.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Example
//! ```click
//! ... -> CheckIPHeader -> StripIPHeader -> ... -> UnstripIPHeader -> ...
//! ```
//!
//! # See also
//! StripIPHeader, CheckIPHeader, MarkIPHeader, Unstrip

use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("UnstripIPHeader", create).pure().doc(router::manual!("unstrip_ip_header.rs"));

struct UnstripIpHeader;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(UnstripIpHeader)))
}

impl Simple for UnstripIpHeader {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let offset = packet.network_offset();
        super::unstrip_to(packet, offset)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send_one;
    use elements_testing::samples::with_options;

    #[test]
    fn only_what_was_removed() {
        let data = with_options(&[1; 8], 5);
        let framed = [&[9; 14], &data[..]].concat();
        let config = "Inject -> MarkIPHeader(14) -> StripIPHeader -> UnstripIPHeader -> Collect(0)";
        assert_eq!(send_one(config, framed.clone()).data(0), [data]);
        let config = "Inject -> MarkIPHeader(14) -> UnstripIPHeader -> Collect(0)";
        for config in [config, "Inject -> UnstripIPHeader -> Collect(0)"] {
            assert_eq!(send_one(config, framed.clone()).only(0).data(), framed);
        }
    }
}
