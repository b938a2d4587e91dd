//! Prepends ICMP and IP headers to packets.
//!
//! ```click
//! ICMPIPEncap(SRC, DST, TYPE [, CODE, KEYWORDS])
//! ```
//!
//! The IP identification, and the sequence number of types that have one, count up together from 1, skipping 0. Marks
//! the new headers and sets the destination address annotation. Packets that do not fit into an IP packet are
//! dropped.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated; each has its own counter.
//!
//! # Arguments
//! - `SRC` (address): the source.
//! - `DST` (address): the destination.
//! - `TYPE` (ICMP type, name or number): the message type.
//! - `CODE` (ICMP code, name or number; default 0): the message code.
//! - `IDENTIFIER` (integer, default 0): the identifier, for types that have one.
//!
//! # Handlers
//! - `src`, `dst` (read, write): the addresses.
//!
//! # Example
//! ```click
//! ... -> ICMPIPEncap(1.0.0.1, 2.0.0.2, unreachable, host) -> ...
//! ```
//!
//! # See also
//! ICMPPingEncap, ICMPError

use super::encap::IcmpEncap;
use elements_shared::ip_numbers::{IcmpType, icmp_code};
use router::{Class, Config, ConfigError, Element, PerPacket};
use std::net::Ipv4Addr;

/// The class.
pub(crate) const CLASS: Class = Class::new("ICMPIPEncap", create).doc(router::manual!("icmp_ip_encap.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut src, mut dst, mut identifier) = (Ipv4Addr::UNSPECIFIED, Ipv4Addr::UNSPECIFIED, 0u16);
    let (mut kind, mut code) = (IcmpType::default(), "0".to_owned());
    config
        .args()
        .required("SRC", &mut src)
        .required("DST", &mut dst)
        .required("TYPE", &mut kind)
        .positional("CODE", &mut code)
        .keyword("IDENTIFIER", &mut identifier)
        .finish()?;
    let kind = kind.octet().ok_or("invalid TYPE")?;
    let code = icmp_code(kind, &code).ok_or("invalid CODE")?;
    Ok(Box::new(PerPacket(IcmpEncap::new(config, src, dst, [kind, code], identifier))))
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;
    use crate::testing::send_one;

    /// Types differ in the length of their header and in what it holds.
    #[test]
    fn headers_by_type() {
        for (arguments, start, data_at) in [
            ("unreachable, host", [3, 1, 0, 0], 28),
            ("11", [11, 0, 0, 0], 28),
            ("echo-reply, IDENTIFIER 257", [0, 0, 1, 1], 28),
            ("timestamp, IDENTIFIER 257", [13, 0, 1, 1], 40),
        ] {
            let config = format!(
                "Inject -> ICMPIPEncap(1.2.3.4, 5.6.7.8, {arguments}) -> CheckIPHeader -> Collect(0)"
            );
            let flow = send_one(&config, b"odd".to_vec());
            let data = flow.only(0).data();
            assert_eq!([data[20], data[21], data[24], data[25]], start, "{arguments}");
            assert!(wire::checksum::verify(&data[20..]) && &data[data_at..] == b"odd", "{arguments}");
        }
        for (arguments, message) in
            [("none", "TYPE: parse error"), ("256", "invalid TYPE"), ("echo, host", "invalid CODE")]
        {
            let text = errors(&format!("Idle -> ICMPIPEncap(1.2.3.4, 5.6.7.8, {arguments}) -> Discard"));
            assert!(text.contains(message), "{text}");
        }
    }
}
