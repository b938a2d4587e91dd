//! Checks TCP headers.
//!
//! ```click
//! CheckTCPHeader([KEYWORDS])
//! ```
//!
//! Expects packets with a marked IP header, for instance from CheckIPHeader. Passes those with a valid TCP header and
//! a correct checksum. Other packets leave by output 1 if it is connected and are dropped otherwise. The first bad
//! packet is reported.
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
//! ... -> CheckIPHeader -> CheckTCPHeader -> ...
//! ```
//!
//! # See also
//! CheckIPHeader, CheckTCPHeader, CheckUDPHeader, CheckICMPHeader, SetTCPChecksum

use super::header_check::{self, Fault, Protocol};
use super::message::Message;
use packet::Packet;
use router::Class;
use wire::{ip_proto, tcp};

/// The class.
pub(crate) const CLASS: Class = Class::new("CheckTCPHeader", header_check::create::<Tcp>)
    .ports("1/1-2")
    .processing("a/ah")
    .doc(router::manual!("check_tcp_header.rs"));

struct Tcp;

impl Protocol for Tcp {
    const NAME: &'static str = "TCP";
    const REASONS: [&'static str; 3] = ["not TCP", "bad packet length", "bad TCP checksum"];

    #[inline]
    fn check(packet: &Packet, checksum: bool) -> Result<(), Fault> {
        let message = Message::of(packet).ok_or(Fault::Protocol)?;
        if message.protocol != ip_proto::TCP {
            return Err(Fault::Protocol);
        }
        let segment = message.bytes(packet).ok_or(Fault::Length)?;
        tcp::header_bytes(segment).map_err(|_| Fault::Length)?;
        if !checksum {
            return Ok(());
        }
        tcp::verify_checksum_v4(message.src, message.dst, segment).map_err(|_| Fault::Checksum)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;
    use elements_testing::samples::hostile;
    use elements_testing::transport_samples::{carrying, data, naive_with_pseudo_header, summed, tcp};
    use proptest::prelude::*;

    const BOTH: &str = "Inject -> MarkIPHeader -> c :: CheckTCPHeader(DETAILS true)
        -> Collect(0); c[1] -> Collect(1);";

    #[test]
    fn faults_by_kind() {
        let right = summed(tcp(b"abc"), 16, naive_with_pseudo_header(6, &tcp(b"abc")));
        let good = carrying(6, 2, &right);
        let mut padded = good.clone();
        padded.extend([7; 5]);
        let edit = |at: usize, value: u8| {
            let mut data = good.clone();
            data[at] = value;
            data
        };
        let bad =
            [edit(9, 17), good[..50].to_vec(), edit(28 + 12, 0x40), edit(28 + 12, 0x60), edit(28 + 21, 9)];
        let mut flow = send(BOTH, [&[good.clone(), padded.clone()][..], &bad].concat());
        assert_eq!((flow.data(0), flow.data(1)), (vec![good, padded], bad.to_vec()));
        assert_eq!(flow.read("c.drop_details"), "1\tnot TCP\n3\tbad packet length\n1\tbad TCP checksum\n");
        assert_eq!(
            (flow.read("c.drops"), flow.log()),
            ("5".into(), "c :: CheckTCPHeader: TCP header check failed: not TCP\n".into())
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn exactly_the_right_sum_passes(data in data(), words in 0usize..11, error in 1u16..) {
            let sum = naive_with_pseudo_header(6, &tcp(&data));
            let right = carrying(6, words, &summed(tcp(&data), 16, sum));
            let wrong = carrying(6, words, &summed(tcp(&data), 16, sum ^ error));
            // Both zeros are the same number.
            prop_assume!(!(matches!(sum, 0 | 0xffff) && error == 0xffff));
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
