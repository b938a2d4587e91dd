//! Generates UDP packets over IPv6 in Ethernet frames at a given rate.
//!
//! ```click
//! FastUDPSourceIP6([RATE, LIMIT, LENGTH, SRCETH, SRCIP6, SPORT, DSTETH, DSTIP6, DPORT,
//!                   CHECKSUM, INTERVAL, ACTIVE, keyword STOP])
//! ```
//!
//! Does what FastUDPSource does, over IPv6 (hop limit 250).
//!
//! Ports: no inputs, 1 output. Processing: pull. Workers: exclusive.
//!
//! # Arguments
//! Those of FastUDPSource, but with IPv6 addresses `SRCIP6` and `DSTIP6` (default ::1); a frame has at least 62 bytes.
//!
//! # Handlers
//! Those of FastUDPSource.
//!
//! # Example
//! ```click
//! FastUDPSourceIP6(100000, 500000, 64, 0:0:0:0:0:0, 2001:db8::1, 1234, 1:1:1:1:1:1, 2001:db8::2, 1234)
//!     -> Discard
//! ```
//!
//! # See also
//! FastUDPSource, UDPIP6Encap

use super::fast_udp_source::{self, create_for};
use router::Class;
use std::net::Ipv6Addr;

/// The class.
pub(crate) const CLASS: Class = Class {
    name: "FastUDPSourceIP6",
    create: |config| create_for(config, ["SRCIP6", "DSTIP6"], Ipv6Addr::LOCALHOST),
    doc: include_str!("fast_udp_source_ip6.rs"),
    ..fast_udp_source::CLASS
};

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run, run_and_read};
    use std::net::Ipv6Addr;

    /// Ports grow after two packets; lengths and checksums are right.
    #[test]
    fn ports_grow_and_checksums_stay_right() {
        let said = run("FastUDPSourceIP6(0, 3, 80, 0:0:0:0:0:1, 2001:db8::1, 1234, 1:1:1:1:1:2, 2001:db8::2, 80, INTERVAL 2)
            -> Print(MAXLENGTH -1) -> Discard; Script(wait 1, stop)");
        let byte = |hex: &str, at: usize| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap_or(0);
        let frames: Vec<Vec<u8>> = said
            .lines()
            .filter_map(|line| line.strip_prefix("  80 | ").map(|hex| hex.replace(' ', "")))
            .map(|hex| (0..80).map(|at| byte(&hex, at)).collect())
            .collect();
        let address = |last: u16| Ipv6Addr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, last]);
        for frame in &frames {
            assert_eq!(frame[12..22], [0x86, 0xdd, 0x60, 0, 0, 0, 0, 26, 17, 250]);
            assert_eq!(wire::udp::verify_checksum_v6(address(1), address(2), &frame[54..]), Ok(()));
        }
        let ports: Vec<&[u8]> = frames.iter().map(|frame| &frame[54..58]).collect();
        assert_eq!(ports, [[4, 0xd2, 0, 80], [4, 0xd2, 0, 80], [4, 0xd3, 0, 81]]);
    }

    #[test]
    fn arguments_are_checked() {
        let short = "s :: FastUDPSourceIP6(0, 1, 10, 0:0:0:0:0:1, ::1, 1, 1:1:1:1:1:2, ::2, 2) -> d :: Discard; Script(wait 1, stop)";
        assert_eq!(run_and_read(short, &["s.count"]), ["1"]);
        assert!(
            errors("FastUDPSourceIP6(1, 2, 70000, 1:1:1:1:1:1, 1.0.0.1) -> Discard").contains("SRCIP6: ")
        );
    }
}
