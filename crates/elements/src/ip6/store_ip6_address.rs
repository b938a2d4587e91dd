//! Writes an IPv6 address into packets.
//!
//! ```click
//! StoreIP6Address(OFFSET)
//! StoreIP6Address(ADDRESS, OFFSET)
//! ```
//!
//! Writes ADDRESS, or without it the IPv6 destination address annotation, into the packet's data. Checksums are not
//! updated. Packets without 16 bytes there are passed on unchanged.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `ADDRESS` (IPv6 address): the address.
//! - `OFFSET` (integer): where it goes, from the start of the data.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! ... -> StoreIP6Address(2001:db8::1, 8) -> ...
//! ```
//!
//! # See also
//! GetIP6Address, SetIP6Address, StoreIPAddress

use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, FromArg, PerPacket, Simple, Verdict};
use std::net::Ipv6Addr;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("StoreIP6Address", create).doc(include_str!("store_ip6_address.rs"));

struct StoreIp6Address {
    /// The annotation, if there is none.
    address: Option<Ipv6Addr>,
    offset: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut words = Vec::new();
    config.args().rest(&mut words).finish()?;
    let (address, offset) = match &words[..] {
        [offset] => (None, offset),
        [address, offset] => {
            let address = Ipv6Addr::from_arg(address, config.scope());
            (Some(address.map_err(|_| "first argument should be IPv6 address")?), offset)
        }
        _ => return Err("expected [IPv6 address, ] byte offset".into()),
    };
    let offset = router::parse_integer(offset).and_then(|offset| usize::try_from(offset).ok());
    let offset = offset.ok_or("last argument should be byte offset of IPv6 address")?;
    Ok(Box::new(PerPacket(StoreIp6Address { address, offset })))
}

impl Simple for StoreIp6Address {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let address = self.address.unwrap_or_else(|| packet.dst_ip6());
        let place = packet.data_mut().get_mut(self.offset..).and_then(|bytes| bytes.first_chunk_mut());
        if let Some(place) = place {
            *place = address.octets();
        }
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use crate::inject::send;
    use crate::testing::errors;

    /// The address or the annotation, exactly there; too short packets stay as they are.
    #[test]
    fn stores() {
        let flow =
            send("Inject -> StoreIP6Address(2001:db8::1, 2) -> Collect(0)", [vec![9; 20], vec![9; 17]]);
        let [long, short] = &flow.data(0)[..] else { panic!("two packets") };
        assert_eq!((&long[..6], long[17], &long[18..]), (&[9, 9, 0x20, 1, 0x0d, 0xb8][..], 1, &[9, 9][..]));
        assert_eq!(*short, [9; 17]);
        let flow = send("Inject -> SetIP6Address(::7) -> StoreIP6Address(0) -> Collect(0)", [vec![9; 16]]);
        assert_eq!(flow.data(0)[0][15], 7);
        assert!(errors("Idle -> StoreIP6Address(1, 2, 3) -> Discard").contains("byte offset"));
    }
}
