//! Sets the destination address annotation from packet data.
//!
//! ```click
//! GetIPAddress(OFFSET [, ANNO])
//! GetIPAddress(ip src | ip dst)
//! ```
//!
//! Packets without data there are passed on unchanged.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `OFFSET` (integer): where the address is, from the start of the data; usually 16, the destination in an IP header.
//!   `ip src` and `ip dst` mean the fields of a marked IP header.
//! - `ANNO` (annotation of four bytes, default DST_IP): where the address goes.
//!
//! # Example
//! ```click
//! InfiniteSource -> Strip(14) -> GetIPAddress(16) -> Discard
//! ```
//!
//! # See also
//! CheckIPHeader, SetIPAddress

use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, FromArg, PerPacket, Scope, Simple, Verdict};
use std::net::Ipv4Addr;

/// The class.
pub(crate) const CLASS: Class = Class::new("GetIPAddress", create).doc(include_str!("get_ip_address.rs"));

/// Where the address is: from the start of the data, or of the network header.
#[derive(Clone, Copy)]
enum At {
    Data(usize),
    Network(usize),
}

impl FromArg for At {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        match text {
            "ip src" => Ok(At::Network(12)),
            "ip dst" => Ok(At::Network(16)),
            _ => u32::from_arg(text, scope).map(|offset| At::Data(offset as usize)),
        }
    }
}

struct GetIpAddress {
    at: At,
    anno: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut at, mut anno) = (At::Data(0), router::AnnoOf::<4>(packet::Anno::DST_IP));
    config.args().required("OFFSET", &mut at).positional("ANNO", &mut anno).finish()?;
    Ok(Box::new(PerPacket(GetIpAddress { at, anno: anno.0.offset })))
}

impl Simple for GetIpAddress {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let bytes = match self.at {
            At::Data(offset) => packet.data().get(offset..),
            At::Network(offset) => packet.network().and_then(|header| header.get(offset..)),
        };
        if let Some(&octets) = bytes.and_then(|bytes| bytes.first_chunk::<4>()) {
            if self.anno == packet::Anno::DST_IP.offset {
                packet.set_dst_ip(Ipv4Addr::from(octets));
            } else if let Some(place) = packet.annotations_mut()[self.anno..].first_chunk_mut::<4>() {
                *place = octets;
            }
        }
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    #[test]
    fn address_becomes_annotation() {
        let config = "InfiniteSource(DATA \\<00 0a000102 ff>, LIMIT 1, STOP true) -> GetIPAddress(1)
            -> r :: StaticIPLookup(10.0.1.2/32 0, 0/0 1); r[0] -> a :: Discard; r[1] -> b :: Discard;";
        assert_eq!(run_and_read(config, &["a.count", "b.count"]), ["1", "0"]);
    }
}
