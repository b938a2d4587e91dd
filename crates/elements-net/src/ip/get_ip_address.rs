//! Sets the destination address annotation from packet data.
//!
//! ```click
//! GetIPAddress(OFFSET [, ANNO])
//! GetIPAddress(IP src|dst [, KEYWORDS])
//! ```
//!
//! Packets too short to contain the address pass unchanged.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `OFFSET` (integer): where the address is, from the start of the data; usually 16, the destination in an IP
//!   header.
//! - `IP` (`src` or `dst`): the field of a marked IP header to take instead.
//! - `ANNO` (annotation of four bytes, default DST_IP): the annotation to set.
//!
//! # Example
//! ```click
//! InfiniteSource -> Strip(14) -> GetIPAddress(16) -> Discard
//! ```
//!
//! # See also
//! CheckIPHeader, SetIPAddress

use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use std::net::Ipv4Addr;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("GetIPAddress", create).pure().doc(router::manual!("get_ip_address.rs"));

/// Where the address is: from the start of the data, or of the network header.
#[derive(Clone, Copy)]
enum At {
    Data(usize),
    Network(usize),
}

struct GetIpAddress {
    at: At,
    anno: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut offset, mut anno) = (-1_i32, router::AnnoOf::<4>(packet::Anno::DST_IP));
    let mut word = String::new();
    config
        .args()
        .positional("OFFSET", &mut offset)
        .positional("ANNO", &mut anno)
        .keyword("IP", &mut word)
        .finish()?;
    let at = match (usize::try_from(offset), word.as_str()) {
        (Ok(offset), "") => At::Data(offset),
        (Err(_), "src") => At::Network(12),
        (Err(_), "dst") => At::Network(16),
        (Ok(_), _) | (_, "") => return Err("set one of OFFSET, IP".into()),
        _ => return Err("bad IP".into()),
    };
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
    use crate::testing::errors;
    use crate::testing::send;
    use elements_testing::samples::{DST, SRC, udp};
    use packet::Anno;

    #[test]
    fn by_offset_and_by_name() {
        for (arguments, address) in [("16", DST), ("12", SRC), ("IP dst", DST), ("IP src", SRC)] {
            let config = format!("Inject -> MarkIPHeader -> GetIPAddress({arguments}) -> Collect(0)");
            let flow = send(&config, [udp(0), udp(0)[..15].to_vec()]);
            let found: Vec<_> = flow.seen.iter().map(|(_, packet)| packet.dst_ip()).collect();
            assert_eq!(found, [address, [0; 4].into()], "{arguments}");
        }
    }

    #[test]
    fn to_another_annotation() {
        for anno in ["MISC_IP", "20"] {
            let flow = send(&format!("Inject -> GetIPAddress(12, {anno}) -> Collect(0)"), [udp(0)]);
            let value = flow.only(0).anno(Anno::MISC_IP) as u32;
            assert_eq!((value.to_ne_bytes(), flow.only(0).dst_ip()), (SRC.octets(), [0; 4].into()));
        }
    }

    #[test]
    fn arguments_that_contradict() {
        for (arguments, message) in [
            ("", "set one of OFFSET, IP"),
            ("16, IP dst", "set one of OFFSET, IP"),
            ("IP via", "bad IP"),
            ("16, PAINT", "ANNO: "),
            ("16, 45", "ANNO: "),
        ] {
            let text = errors(&format!("Idle -> GetIPAddress({arguments}) -> Discard"));
            assert!(text.contains(message), "{arguments}: {text}");
        }
    }
}
