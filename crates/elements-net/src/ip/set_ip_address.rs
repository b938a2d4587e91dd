//! Sets the destination address annotation.
//!
//! ```click
//! SetIPAddress(IPADDR [, KEYWORDS])
//! ```
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `IPADDR` (address): the address.
//! - `ANNO` (annotation of 4 bytes, default the destination address): the annotation to set.
//!
//! # Handlers
//! - `addr` (read, write): the address.
//!
//! # Example
//! ```click
//! ... -> SetIPAddress(18.26.4.1) -> arpq :: ARPQuerier(...)
//! ```
//!
//! # See also
//! GetIPAddress, SetRandIPAddress

use packet::{Anno, Packet};
use router::{AnnoOf, Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Simple, Verdict};
use std::net::Ipv4Addr;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("SetIPAddress", create).pure().live().doc(router::manual!("set_ip_address.rs"));

struct SetIpAddress {
    address: Ipv4Addr,
    anno: Anno,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut address, mut anno) = (Ipv4Addr::UNSPECIFIED, AnnoOf::<4>(Anno::DST_IP));
    config.args().required("IPADDR", &mut address).keyword("ANNO", &mut anno).finish()?;
    Ok(Box::new(PerPacket(SetIpAddress { address, anno: anno.0 })))
}

impl Simple for SetIpAddress {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        packet.set_anno(self.anno, u64::from(u32::from_ne_bytes(self.address.octets())));
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("addr", |e: &mut SetIpAddress, _| e.address);
        h.write("addr", |e: &mut SetIpAddress, cx, text| {
            e.address = router::value(cx, text)?;
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send_one;

    #[test]
    fn sets_the_annotation() {
        let mut flow = send_one("Inject -> s :: SetIPAddress(1.2.3.4) -> Collect(0)", vec![0]);
        assert_eq!(flow.only(0).dst_ip().octets(), [1, 2, 3, 4]);
        assert_eq!(flow.read("s.addr"), "1.2.3.4");
        let flow = send_one("Inject -> SetIPAddress(1.2.3.4, ANNO 12) -> Collect(0)", vec![0]);
        assert_eq!(flow.only(0).annotations()[..17], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 0]);
    }
}
