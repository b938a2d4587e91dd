//! Prepends the headers of ICMP echo requests to packets.
//!
//! ```click
//! ICMPPingEncap(SRC, DST [, KEYWORDS])
//! ```
//!
//! The IP identification and the sequence number count up together from 1, skipping 0. Marks the new headers and sets
//! the destination address annotation. Packets that do not fit into an IP packet are dropped.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated; each has its own counter.
//!
//! # Arguments
//! - `SRC` (address): the source.
//! - `DST` (address): the destination.
//! - `IDENTIFIER` (integer, default 0): the identifier.
//!
//! # Handlers
//! - `src`, `dst` (read, write): the addresses.
//!
//! # Example
//! ```click
//! RatedSource -> ICMPPingEncap(1.0.0.1, 2.0.0.2) -> ...
//! ```
//!
//! # See also
//! ICMPIPEncap, ICMPPingSource, ICMPPingResponder

use super::encap::IcmpEncap;
use router::{Class, Config, ConfigError, Element, PerPacket};
use std::net::Ipv4Addr;
use wire::icmpv4::kind;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("ICMPPingEncap", create).live().doc(router::manual!("icmp_ping_encap.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut src, mut dst, mut identifier) = (Ipv4Addr::UNSPECIFIED, Ipv4Addr::UNSPECIFIED, 0u16);
    config
        .args()
        .required("SRC", &mut src)
        .required("DST", &mut dst)
        .keyword("IDENTIFIER", &mut identifier)
        .finish()?;
    Ok(Box::new(PerPacket(IcmpEncap::new(config, src, dst, [kind::ECHO, 0], identifier))))
}

#[cfg(test)]
mod tests {
    use crate::testing::send;

    #[test]
    fn requests_count_from_one() {
        let config = "Inject -> e :: ICMPPingEncap(1.2.3.4, 5.6.7.8, IDENTIFIER 258)
            -> CheckIPHeader -> CheckICMPHeader -> Collect(0)";
        let mut flow = send(config, vec![b"odd".to_vec(); 65_537]);
        let data = flow.data(0);
        let numbers: Vec<_> = [0, 1, 65_534, 65_535]
            .iter()
            .map(|&n| {
                let (id, sequence) = ([data[n][4], data[n][5]], [data[n][26], data[n][27]]);
                assert_eq!(
                    (data[n][20], [data[n][24], data[n][25]], &data[n][28..]),
                    (8, 258u16.to_be_bytes(), &b"odd"[..])
                );
                (u16::from_be_bytes(id), u16::from_be_bytes(sequence))
            })
            .collect();
        assert_eq!(numbers, [(1, 1), (2, 2), (65_535, 65_535), (1, 1)]);
        assert_eq!((flow.read("e.src"), flow.read("e.dst")), ("1.2.3.4".into(), "5.6.7.8".into()));
    }
}
