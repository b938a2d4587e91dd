//! Copies an Ethernet address from packet data to an annotation.
//!
//! ```click
//! GetEtherAddress(ANNO, OFFSET)
//! ```
//!
//! Packets that do not have six bytes at OFFSET leave unchanged by output 1 if it is connected and are dropped
//! otherwise.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic; output 1 is push. Workers: replicated.
//!
//! # Arguments
//! - `ANNO` (offset): the first of the six annotation bytes.
//! - `OFFSET` (integer, `src` or `dst`): where the address is. `src` means 6 and `dst` 0, as in an Ethernet header.
//!
//! # Example
//! ```click
//! Idle -> GetEtherAddress(20, src) -> Discard;
//! ```
//!
//! # See also
//! SetEtherAddress, StoreEtherAddress

use elements_shared::ether_address::{MacAnno, place};
use elements_shared::verdict::fail;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use wire::MacAddr;

/// The class.
pub(crate) const CLASS: Class = Class::new("GetEtherAddress", create)
    .pure()
    .ports("1/1-2")
    .processing("a/ah")
    .live()
    .doc(router::manual!("get_ether_address.rs"));

struct GetEtherAddress {
    anno: MacAnno,
    offset: usize,
    outputs: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut anno, mut offset) = (MacAnno::default(), String::new());
    config.args().required("ANNO", &mut anno).required("OFFSET", &mut offset).finish()?;
    let offset = place(&offset)?;
    Ok(Box::new(PerPacket(GetEtherAddress { anno, offset, outputs: config.outputs() })))
}

impl Simple for GetEtherAddress {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let found = packet.data().get(self.offset..).and_then(|bytes| bytes.first_chunk());
        let Some(&octets) = found else { return fail(self.outputs, "too short for an Ethernet address") };
        self.anno.set(packet, MacAddr(octets));
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;
    use crate::testing::send;

    #[test]
    fn copies_the_address_to_the_annotation() {
        let config = "Inject -> g :: GetEtherAddress(42, src) -> Collect(0); g[1] -> Collect(1)";
        let flow = send(config, [(0..12).collect(), (0..11).collect::<Vec<u8>>()]);
        assert_eq!((flow.data(0).len(), flow.data(1).len()), (1, 1));
        assert_eq!(&flow.seen[0].1.annotations()[41..], &[0, 6, 7, 8, 9, 10, 11]);
        assert!(errors("Idle -> GetEtherAddress(43, src) -> Discard").contains("ANNO"));
    }
}
