//! Sets the IPv6 destination address annotation.
//!
//! ```click
//! SetIP6Address(IPADDR)
//! ```
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `IPADDR` (IPv6 address): the address.
//!
//! # Example
//! ```click
//! InfiniteSource -> SetIP6Address(2001:db8::1) -> Discard
//! ```
//!
//! # See also
//! GetIP6Address, SetIPAddress

use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use std::net::Ipv6Addr;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("SetIP6Address", create).pure().doc(router::manual!("set_ip6_address.rs"));

struct SetIp6Address(Ipv6Addr);

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut address = Ipv6Addr::UNSPECIFIED;
    config.args().required("IPADDR", &mut address).finish()?;
    Ok(Box::new(PerPacket(SetIp6Address(address))))
}

impl Simple for SetIp6Address {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        packet.set_dst_ip6(self.0);
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send_one;

    #[test]
    fn sets_the_annotation() {
        let flow = send_one("Inject -> SetIP6Address(2001:db8::7) -> Collect(0)", vec![0]);
        assert_eq!(flow.only(0).dst_ip6().to_string(), "2001:db8::7");
    }
}
