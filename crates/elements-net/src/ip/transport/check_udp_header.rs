//! Checks UDP headers.
//!
//! ```click
//! CheckUDPHeader([KEYWORDS])
//! ```
//!
//! Expects packets with a marked IP header, for instance from CheckIPHeader. Passes those with a valid UDP length
//! and, if they have a checksum, a correct one. Other packets leave by output 1 if it is connected and are dropped
//! otherwise. The first bad packet is reported.
//!
//! Fragments are checked like whole packets, and therefore fail: put IPReassembler in front where fragments may
//! arrive.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic; output 1 is push. Workers: replicated; counts add up.
//!
//! # Arguments
//! - `VERBOSE` (boolean, default false): whether to report every bad packet.
//! - `DETAILS` (boolean, default false): whether to add the handler that counts by reason.
//! - `CHECKSUM` (boolean, default true): FastClick's; whether the checksum must be correct.
//!
//! # Handlers
//! - `count`, `drops` (read): valid packets and bad ones. `count` is FastClick's.
//! - `drop_details` (read, with DETAILS): bad packets by reason.
//!
//! # Example
//! ```click
//! ... -> CheckIPHeader -> CheckUDPHeader -> ...
//! ```
//!
//! # See also
//! CheckIPHeader, CheckTCPHeader, CheckUDPHeader, CheckICMPHeader, SetUDPChecksum

use super::header_check::{self, Fault, Protocol};
use super::message::Message;
use packet::Packet;
use router::Class;
use wire::{ip_proto, udp};

/// The class.
pub(crate) const CLASS: Class = Class::new("CheckUDPHeader", header_check::create::<Udp>)
    .ports("1/1-2")
    .processing("a/ah")
    .doc(router::manual!("check_udp_header.rs"));

struct Udp;

impl Protocol for Udp {
    const NAME: &'static str = "UDP";
    const NAMES_ELEMENT: bool = false;
    const REASONS: [&'static str; 3] = ["not UDP", "bad packet length", "bad UDP checksum"];

    #[inline]
    fn check(packet: &Packet, checksum: bool) -> Result<(), Fault> {
        let message = Message::of(packet).ok_or(Fault::Protocol)?;
        if message.protocol != ip_proto::UDP {
            return Err(Fault::Protocol);
        }
        // The length that counts is UDP's own; what IP says beyond is not looked at.
        let bytes = packet.network().and_then(|bytes| bytes.get(message.start..)).ok_or(Fault::Length)?;
        let datagram = udp::datagram(bytes).map_err(|_| Fault::Length)?;
        if !checksum {
            return Ok(());
        }
        udp::verify_checksum_v4(message.src, message.dst, datagram).map_err(|_| Fault::Checksum)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;
    use elements_testing::samples::hostile;
    use elements_testing::transport_samples::{carrying, data, naive_with_pseudo_header, summed, udp};
    use proptest::prelude::*;

    const BOTH: &str = "Inject -> MarkIPHeader -> c :: CheckUDPHeader(DETAILS true)
        -> Collect(0); c[1] -> Collect(1);";

    #[test]
    fn faults_by_kind() {
        let good = carrying(17, 1, &summed(udp(b"abc"), 6, naive_with_pseudo_header(17, &udp(b"abc"))));
        let unsummed = carrying(17, 0, &udp(b"abcd"));
        let edit = |at: usize, value: u8| {
            let mut data = good.clone();
            data[at] = value;
            data
        };
        let bad = [edit(9, 6), good[..30].to_vec(), edit(24 + 5, 7), edit(24 + 5, 12), edit(24 + 8, b'z')];
        let mut flow = send(BOTH, [&[good.clone(), unsummed.clone()][..], &bad].concat());
        assert_eq!((flow.data(0), flow.data(1)), (vec![good, unsummed], bad.to_vec()));
        assert_eq!(flow.read("c.drop_details"), "1\tnot UDP\n3\tbad packet length\n1\tbad UDP checksum\n");
        assert_eq!(
            (flow.read("c.drops"), flow.log()),
            ("5".into(), "UDP header check failed: not UDP\n".into())
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn exactly_the_right_sum_passes(data in data(), words in 0usize..11, error in 1u16..) {
            let sum = naive_with_pseudo_header(17, &udp(&data));
            prop_assume!(!matches!(sum, 0 | 0xffff) && sum ^ error != 0);
            let right = carrying(17, words, &summed(udp(&data), 6, sum));
            let wrong = carrying(17, words, &summed(udp(&data), 6, sum ^ error));
            let flow = send(BOTH, [right.clone(), wrong.clone()]);
            prop_assert_eq!((flow.data(0), flow.data(1)), (vec![right], vec![wrong]));
        }

        #[test]
        fn whatever_comes(packets in hostile()) {
            let n = packets.iter().filter(|data| !data.is_empty()).count();
            prop_assert_eq!(send(BOTH, packets).seen.len(), n);
        }
    }
}
