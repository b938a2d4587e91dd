//! Stores an Ethernet address in packets.
//!
//! ```click
//! StoreEtherAddress(ADDR, OFFSET)
//! StoreEtherAddress(OFFSET offset, ANNO annotation)
//! ```
//!
//! Packets that do not have six bytes at OFFSET leave unchanged by output 1 if it is connected and are dropped
//! otherwise.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic; output 1 is push. Workers: replicated.
//!
//! # Arguments
//! - `ADDR` (Ethernet address): the address.
//! - `ANNO` (annotation of six bytes): the annotation that holds each packet's address, instead of ADDR.
//! - `OFFSET` (integer, `src` or `dst`): where to store it. `src` means 6 and `dst` 0, as in an Ethernet header.
//!
//! # Handlers
//! - `addr` (read, write): the address.
//!
//! # Example
//! ```click
//! Idle -> StoreEtherAddress(1:1:1:1:1:1, src) -> Discard;
//! ```
//!
//! # See also
//! EtherRewrite, EtherEncap, GetEtherAddress

use elements_shared::ether_address::{MacAnno, place};
use elements_shared::verdict::fail;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Simple, Verdict};
use wire::MacAddr;

/// The class.
pub(crate) const CLASS: Class = Class::new("StoreEtherAddress", create)
    .pure()
    .ports("1/1-2")
    .processing("a/ah")
    .doc(router::manual!("store_ether_address.rs"));

struct StoreEtherAddress {
    address: MacAddr,
    /// Where the packet has the address instead.
    anno: Option<MacAnno>,
    offset: usize,
    outputs: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut address, mut anno, mut offset) = (None::<MacAddr>, None::<MacAnno>, String::new());
    config
        .args()
        .positional("ADDR", &mut address)
        .required("OFFSET", &mut offset)
        .keyword("ANNO", &mut anno)
        .finish()?;
    if address.is_some() == anno.is_some() {
        return Err("must specify exactly one of ADDR/ANNO".into());
    }
    let (address, offset) = (address.unwrap_or(MacAddr::ZERO), place(&offset)?);
    Ok(Box::new(PerPacket(StoreEtherAddress { address, anno, offset, outputs: config.outputs() })))
}

impl Simple for StoreEtherAddress {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let address = self.anno.map_or(self.address, |anno| anno.get(packet));
        let place = packet.data_mut().get_mut(self.offset..).and_then(|bytes| bytes.first_chunk_mut());
        let Some(place) = place else { return fail(self.outputs, "too short for an Ethernet address") };
        *place = address.octets();
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        type E = StoreEtherAddress;
        h.read("addr", |e: &mut E, _| e.address);
        h.write("addr", |e: &mut E, cx, text| router::value(cx, text).map(|mac| e.address = mac));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;
    use crate::testing::send;

    #[test]
    fn writes_the_address_where_there_is_room() {
        for (offset, at) in [("src", 6), ("DST", 0), ("8", 8)] {
            let config = format!(
                "Inject -> s :: StoreEtherAddress(1:2:3:4:5:6, {offset}) -> Collect(0); s[1] -> Collect(1)"
            );
            let mut flow = send(&config, [vec![0; at + 6], vec![0; at + 5]]);
            assert_eq!(flow.data(0), [[&vec![0; at][..], &[1, 2, 3, 4, 5, 6]].concat()]);
            assert_eq!(flow.data(1), [vec![0; at + 5]]);
            assert_eq!(flow.read("s.addr"), "01-02-03-04-05-06");
        }
        assert!(errors("Idle -> StoreEtherAddress(1:1:1:1:1:1, x) -> Discard").contains("bad OFFSET"));
    }
}
