//! Stores an Ethernet address in an annotation.
//!
//! ```click
//! SetEtherAddress(ADDR, ANNO)
//! ```
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `ADDR` (Ethernet address): the address.
//! - `ANNO` (offset): the first of the six annotation bytes.
//!
//! # Handlers
//! - `addr` (read, write): the address.
//!
//! # Example
//! ```click
//! Idle -> SetEtherAddress(1:1:1:1:1:1, 20) -> Discard;
//! ```
//!
//! # See also
//! GetEtherAddress, StoreEtherAddress

use elements_shared::ether_address::MacAnno;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Simple, Verdict};
use wire::MacAddr;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("SetEtherAddress", create).pure().live().doc(router::manual!("set_ether_address.rs"));

struct SetEtherAddress {
    address: MacAddr,
    anno: MacAnno,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = SetEtherAddress { address: MacAddr::ZERO, anno: MacAnno::default() };
    config.args().required("ADDR", &mut e.address).required("ANNO", &mut e.anno).finish()?;
    Ok(Box::new(PerPacket(e)))
}

impl Simple for SetEtherAddress {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        self.anno.set(packet, self.address);
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        type E = SetEtherAddress;
        h.read("addr", |e: &mut E, _| e.address);
        h.write("addr", |e: &mut E, cx, text| router::value(cx, text).map(|mac| e.address = mac));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send_one;

    #[test]
    fn sets_the_annotation_and_nothing_beside_it() {
        let mut flow = send_one("Inject -> s :: SetEtherAddress(1:2:3:4:5:6, 4) -> Collect(0)", vec![]);
        assert_eq!(&flow.only(0).annotations()[3..11], &[0, 1, 2, 3, 4, 5, 6, 0]);
        assert_eq!(flow.read("s.addr"), "01-02-03-04-05-06");
    }
}
