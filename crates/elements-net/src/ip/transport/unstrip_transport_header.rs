//! Restores a removed transport header.
//!
//! ```click
//! UnstripTransportHeader()
//! UnstripTCPHeader()
//! ```
//!
//! Extends packets at the front, up to the marked transport header, if it was removed. Packets without a mark pass
//! unchanged. UnstripTCPHeader is FastClick's name for it.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Example
//! ```click
//! ... -> StripTransportHeader -> ... -> UnstripTransportHeader -> ...
//! ```
//!
//! # See also
//! StripTransportHeader, UnstripIPHeader

use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("UnstripTransportHeader", create).doc(router::manual!("unstrip_transport_header.rs"));
struct UnstripTransportHeader;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(UnstripTransportHeader)))
}

impl Simple for UnstripTransportHeader {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let offset = packet.transport_offset();
        super::super::unstrip_to(packet, offset)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send_one;
    use elements_testing::samples::udp;

    #[test]
    fn only_what_was_removed() {
        let config =
            |n| format!("Inject -> MarkIPHeader -> Strip({n}) -> UnstripTransportHeader -> Collect(0)");
        assert_eq!(send_one(&config(25), udp(9)).data(0), [udp(9)[20..].to_vec()]);
        assert_eq!(send_one(&config(3), udp(9)).data(0), [udp(9)[3..].to_vec()]);
        assert_eq!(send_one("Inject -> UnstripTransportHeader -> Collect(0)", udp(9)).data(0), [udp(9)]);
    }
}
