//! Checks ICMP headers.
//!
//! ```click
//! CheckICMPHeader([KEYWORDS])
//! ```
//!
//! Expects packets with a marked IP header, for instance from CheckIPHeader. Passes those with a correct checksum and
//! a valid ICMP length, as far as the message type determines it. Other packets leave by output 1 if it is connected
//! and are dropped otherwise. The first bad packet is reported.
//!
//! Fragments are checked like whole packets, and therefore fail: put IPReassembler in front where fragments may
//! arrive.
//!
//! The length of the message is taken from the IP header. Click uses the length of the packet instead; after
//! CheckIPHeader, which cuts off padding, there is no difference. After MarkIPHeader, the padding of a short frame
//! does not spoil the checksum, as it does in Click, and bytes after a message do not make up for missing ones.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic; output 1 is push. Workers: replicated; counts add up.
//!
//! # Arguments
//! - `VERBOSE` (boolean, default false): whether to report every bad packet.
//! - `DETAILS` (boolean, default false): whether to add the handler that counts by reason.
//!
//! # Handlers
//! - `count`, `drops` (read): valid packets and bad ones. `count` is FastClick's.
//! - `drop_details` (read, with DETAILS): bad packets by reason.
//!
//! # Example
//! ```click
//! ... -> CheckIPHeader -> CheckICMPHeader -> ...
//! ```
//!
//! # See also
//! CheckIPHeader, CheckTCPHeader, CheckUDPHeader, CheckICMPHeader, SetICMPChecksum

use super::header_check::{self, Fault, Protocol};
use super::message::Message;
use packet::Packet;
use router::Class;
use wire::icmpv4::{HEADER_LEN, Header, kind};
use wire::{checksum, ip_proto, ipv4};

/// The class.
pub(crate) const CLASS: Class = Class::new("CheckICMPHeader", header_check::create::<Icmp>)
    .ports("1/1-2")
    .processing("a/ah")
    .doc(router::manual!("check_icmp_header.rs"));

/// Bytes of a timestamp message.
const TIMESTAMP_LEN: usize = 20;
/// Bytes of the offending packet that an error carries at least: its header and eight more.
const QUOTED: usize = ipv4::HEADER_LEN + 8;

struct Icmp;

/// Whether a message of this type may have this length.
fn fits(kind: u8, len: usize) -> bool {
    match kind {
        kind::UNREACHABLE
        | kind::TIME_EXCEEDED
        | kind::PARAMETER_PROBLEM
        | kind::SOURCE_QUENCH
        | kind::REDIRECT => len >= HEADER_LEN + QUOTED,
        kind::TIMESTAMP | kind::TIMESTAMP_REPLY => len == TIMESTAMP_LEN,
        kind::INFORMATION_REQUEST | kind::INFORMATION_REPLY => len == HEADER_LEN,
        _ => true,
    }
}

impl Protocol for Icmp {
    const NAME: &'static str = "ICMP";
    const MAY_IGNORE_CHECKSUM: bool = false;
    const REASONS: [&'static str; 3] = ["not ICMP", "bad packet length", "bad ICMP checksum"];

    #[inline]
    fn check(packet: &Packet, _checksum: bool) -> Result<(), Fault> {
        let message = Message::of(packet).ok_or(Fault::Protocol)?;
        if message.protocol != ip_proto::ICMP {
            return Err(Fault::Protocol);
        }
        let bytes = message.bytes(packet).ok_or(Fault::Length)?;
        let header = Header::new_checked(bytes).map_err(|_| Fault::Length)?;
        if !fits(header.kind(), bytes.len()) {
            return Err(Fault::Length);
        }
        if checksum::verify(bytes) { Ok(()) } else { Err(Fault::Checksum) }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;
    use elements_testing::samples::hostile;
    use elements_testing::transport_samples::{carrying, data, naive_checksum, summed};
    use proptest::prelude::*;

    const BOTH: &str = "Inject -> MarkIPHeader -> c :: CheckICMPHeader(DETAILS true)
        -> Collect(0); c[1] -> Collect(1);";

    fn message(kind: u8, data: &[u8]) -> Vec<u8> {
        let bytes = [&[kind, 0, 0, 0, 1, 2, 3, 4], data].concat();
        let sum = naive_checksum(&bytes);
        carrying(1, 0, &summed(bytes, 2, sum))
    }

    #[test]
    fn lengths_by_type() {
        let good = [
            message(8, b"odd"),
            message(0, b""),
            message(3, &[9; 28]),
            message(13, &[1; 12]),
            message(15, b""),
        ];
        let short = [message(3, &[9; 27]), message(5, &[9; 20]), message(14, &[1; 13]), message(16, b"x")];
        let mut spoilt = message(8, b"odd");
        spoilt[30] ^= 1;
        let bad = [&short[..], &[message(8, b"")[..27].to_vec(), spoilt]].concat();
        let mut flow = send(BOTH, [&good[..], &bad].concat());
        assert_eq!((flow.data(0), flow.data(1)), (good.to_vec(), bad));
        assert_eq!(flow.read("c.drop_details"), "0\tnot ICMP\n5\tbad packet length\n1\tbad ICMP checksum\n");
        assert_eq!(flow.log(), "c :: CheckICMPHeader: ICMP header check failed: bad packet length\n");
    }

    /// Ethernet pads short frames; the padding is not part of the message, neither to its harm nor to its good.
    #[test]
    fn padding_does_not_count() {
        let padded = |mut data: Vec<u8>, byte: u8| {
            data.extend([byte; 15]);
            data
        };
        let good = [padded(message(8, b"odd"), 0xaa), padded(message(13, &[1; 12]), 0)];
        let bad = padded(message(3, &[9; 20]), 0);
        let flow = send(BOTH, [&good[..], std::slice::from_ref(&bad)].concat());
        assert_eq!((flow.data(0), flow.data(1)), (good.to_vec(), vec![bad]));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn exactly_the_right_sum_passes(data in data(), bit in 0usize..64) {
            let right = message(8, &data);
            let mut wrong = right.clone();
            wrong[20 + bit / 8] ^= 1 << (bit % 8);
            prop_assume!(wrong[20] == 8);
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
