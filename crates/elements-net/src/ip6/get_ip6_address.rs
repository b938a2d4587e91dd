//! Sets the IPv6 destination address annotation from packet data.
//!
//! ```click
//! GetIP6Address(OFFSET)
//! ```
//!
//! Packets that do not have 16 bytes at OFFSET pass unchanged.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `OFFSET` (integer): where the address is, from the start of the data; usually 24, the destination in an IPv6 header.
//!
//! # Example
//! ```click
//! InfiniteSource -> CheckIP6Header -> GetIP6Address(24) -> Discard
//! ```
//!
//! # See also
//! CheckIP6Header, SetIP6Address, GetIPAddress

use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use std::net::Ipv6Addr;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("GetIP6Address", create).pure().doc(router::manual!("get_ip6_address.rs"));

struct GetIp6Address(usize);

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut offset = 0_u32;
    config.args().required("OFFSET", &mut offset).finish()?;
    Ok(Box::new(PerPacket(GetIp6Address(offset as usize))))
}

impl Simple for GetIp6Address {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if let Some(&octets) = packet.data().get(self.0..).and_then(|bytes| bytes.first_chunk::<16>()) {
            packet.set_dst_ip6(Ipv6Addr::from(octets));
        }
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;
    use elements_testing::ip6_samples::{DST, SRC, udp};

    #[test]
    fn by_offset() {
        for (offset, address) in [(24, DST), (8, SRC)] {
            let config = format!("Inject -> GetIP6Address({offset}) -> Collect(0)");
            let flow = send(&config, [udp(0), udp(0)[..offset + 15].to_vec(), vec![]]);
            let found: Vec<_> = flow.seen.iter().map(|(_, packet)| packet.dst_ip6().to_string()).collect();
            assert_eq!(found, [address, "::", "::"]);
        }
    }
}
