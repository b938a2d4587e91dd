//! Checks GRE headers.
//!
//! ```click
//! CheckGREHeader([KEYWORDS])
//! ```
//!
//! Passes packets with a valid GRE header of version 0 (RFC 2784, with the keys and sequence numbers of RFC 2890).
//! Other packets leave by output 1 if it is connected and are dropped otherwise; so do packets with options of
//! unknown length, those of RFC 1701. The first bad packet is reported. It comes from Click's package `gre`.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic; output 1 is push. Workers: replicated; they share the last sequence number.
//!
//! # Arguments
//! - `OFFSET` (integer, default 0): where the GRE header starts.
//! - `CHECKSUM` (boolean, default false): whether a correct checksum is required.
//! - `KEY` (integer, default 0): the required key; 0: any or none.
//! - `SEQUENCE` (boolean, default false): whether a sequence number is required, higher than that of the last packet
//!   that passed. Unlike in Click, the first packet can have any number.
//! - `STRIP` (boolean, default false): whether to remove the header, as StripGREHeader does: an IP packet inside has the congestion
//!   mark afterwards that RFC 6040 says, or is dropped.
//! - `VERBOSE` (boolean, default false): whether to report every bad packet.
//! - `DETAILS` (boolean, default false): whether to add the handler that counts by reason.
//!
//! # Handlers
//! - `drops` (read): bad packets.
//! - `drop_details` (read, with DETAILS): bad packets by reason.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> IPFilter(allow proto 47) -> StripIPHeader -> CheckGREHeader(KEY 7, STRIP true) -> CheckIPHeader -> Discard;
//! ```
//!
//! # See also
//! GREEncap, StripGREHeader, CheckIPHeader

use super::strip_gre_header::strip;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Merge, PerPacket, Simple, Verdict};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use wire::gre::Header;
use wire::{Error, checksum};

/// The class.
pub(crate) const CLASS: Class = Class::new("CheckGREHeader", create)
    .ports("1/1-2")
    .processing("a/ah")
    .doc(router::manual!("check_gre_header.rs"));

/// What can be wrong, in the order of `drop_details`.
const REASONS: [&str; 6] = [
    "tiny packet",
    "bad GRE version",
    "bad GRE header length",
    "bad GRE checksum",
    "invalid key",
    "out of sequence",
];

/// An index of [`REASONS`].
#[derive(Clone, Copy)]
enum Fault {
    Tiny = 0,
    Version = 1,
    Length = 2,
    Checksum = 3,
    Key = 4,
    Sequence = 5,
}

/// The last number that passed; none has yet if it is above all of them.
struct Last(AtomicU64);

impl Last {
    const NONE: u64 = u64::MAX;

    /// Notes a number, unless it is not higher than the last, around the end of their range.
    fn advance(&self, number: u32) -> bool {
        let after = |last: u64| last == Last::NONE || number.wrapping_sub(last as u32) as i32 > 0;
        self.0.fetch_update(Relaxed, Relaxed, |last| after(last).then_some(number.into())).is_ok()
    }
}

struct CheckGreHeader {
    offset: usize,
    summed: bool,
    /// 0: any.
    key: u32,
    /// Where packets must be numbered.
    last: Option<Arc<Last>>,
    strip: bool,
    verbose: bool,
    details: bool,
    outputs: usize,
    drops: [u64; REASONS.len()],
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut offset, mut key) = (0u32, 0u32);
    let (mut summed, mut numbered, mut strip, mut verbose, mut details) = (false, false, false, false, false);
    config
        .args()
        .keyword("OFFSET", &mut offset)
        .keyword("CHECKSUM", &mut summed)
        .keyword("KEY", &mut key)
        .keyword("SEQUENCE", &mut numbered)
        .keyword("STRIP", &mut strip)
        .keyword("VERBOSE", &mut verbose)
        .keyword("DETAILS", &mut details)
        .finish()?;
    let last = config.shared(|| Ok(Last(AtomicU64::new(Last::NONE))))?;
    Ok(Box::new(PerPacket(CheckGreHeader {
        offset: offset as usize,
        summed,
        key,
        last: Some(last).filter(|_| numbered),
        strip,
        verbose,
        details,
        outputs: config.outputs(),
        drops: [0; REASONS.len()],
    })))
}

impl CheckGreHeader {
    /// The header, or what is wrong with it.
    #[inline]
    fn check(&self, packet: &Packet) -> Result<Header, Fault> {
        let bytes = packet.data().get(self.offset..).ok_or(Fault::Tiny)?;
        let header = Header::read(bytes).map_err(|error| match error {
            Error::Truncated => Fault::Tiny,
            Error::BadVersion => Fault::Version,
            _ => Fault::Length,
        })?;
        if self.summed && !(header.summed && checksum::verify(bytes)) {
            return Err(Fault::Checksum);
        }
        if self.key != 0 && header.key != Some(self.key) {
            return Err(Fault::Key);
        }
        if let Some(last) = &self.last
            && !header.sequence.is_some_and(|number| last.advance(number))
        {
            return Err(Fault::Sequence);
        }
        Ok(header)
    }

    #[cold]
    fn bad(&mut self, cx: &mut Cx<'_>, fault: Fault) -> Verdict {
        let reason = REASONS[fault as usize];
        if self.verbose || self.drops.iter().all(|drops| *drops == 0) {
            cx.complain(format_args!("GRE header check failed: {reason}"), reason);
        }
        self.drops[fault as usize] += 1;
        elements_shared::verdict::fail(self.outputs, reason)
    }
}

impl Simple for CheckGreHeader {
    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        match self.check(packet) {
            Ok(header) if self.strip => strip(packet, &header),
            Ok(_) => Verdict::Pass,
            Err(fault) => self.bad(cx, fault),
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        type E = CheckGreHeader;
        h.read("drops", |e: &mut E, _| e.drops.iter().sum::<u64>()).merged(Merge::Sum);
        if self.details {
            h.read("drop_details", |e: &mut E, _| {
                let lines = e.drops.iter().zip(REASONS).map(|(n, reason)| format!("{n}\t{reason}\n"));
                lines.collect::<String>()
            })
            .merged(Merge::Tally);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;
    use elements_testing::samples::{edited, udp};
    use proptest::prelude::*;

    #[test]
    fn faults_by_kind() {
        let sum = [0x80, 0, 8, 0, 0x0f, 0xcb, 0, 0, 0x12, 0x34, 0x56];
        let wrong = [0x80, 0, 8, 0, 0x0f, 0xca, 0, 0, 0x12, 0x34, 0x56];
        let config =
            "Inject -> c :: CheckGREHeader(CHECKSUM true, DETAILS true) -> Collect(0); c[1] -> Collect(1)";
        let bad = [&[0, 0, 8][..], &[0, 3, 8, 0], &[0x80, 0, 8, 0, 0, 0, 0], &[0, 0, 8, 0], &wrong];
        let bad = bad.map(<[u8]>::to_vec);
        let mut flow = send(config, [&[sum.to_vec()][..], &bad].concat());
        assert_eq!((flow.data(0), flow.data(1)), (vec![sum.to_vec()], bad.to_vec()));
        let details = "1\ttiny packet\n1\tbad GRE version\n1\tbad GRE header length\n2\tbad GRE checksum\n0\tinvalid key\n0\tout of sequence\n";
        assert_eq!((flow.read("c.drop_details"), flow.read("c.drops")), (details.to_owned(), "5".to_owned()));
        assert_eq!(flow.log(), "GRE header check failed: tiny packet\n");
    }

    /// Congestion in the tunnel is told to the packet inside, or drops it if that can't be told (RFC 6040, section 4.2).
    #[test]
    fn what_is_inside_has_the_mark_of_the_tunnel() {
        let config = "Inject -> GREEncap(0x0800) -> IPEncap(gre, 1.0.0.1, 2.0.0.2, CE true) -> StripIPHeader
            -> c :: CheckGREHeader(STRIP true) -> Collect(0); c[1] -> Collect(1)";
        let inner = [0, 1, 2].map(|mark| edited(udp(4), |ip| ip.set_tos(mark)));
        let flow = send(config, inner);
        let congested = edited(udp(4), |ip| ip.set_tos(3));
        assert_eq!(flow.data(0), [congested.clone(), congested]);
        assert_eq!(
            (flow.data(1).len(), flow.drops()),
            (0, vec![("congestion in the tunnel, and no ECN inside", 1)])
        );
    }

    #[test]
    fn only_the_right_key_passes() {
        let flow = send(
            "Inject -> CheckGREHeader(KEY 5, OFFSET 1) -> Collect(0)",
            [
                vec![7, 0x20, 0, 8, 0, 0, 0, 0, 5, 1],
                vec![7, 0x20, 0, 8, 0, 0, 0, 0, 6, 1],
                vec![7, 0, 0, 8, 0, 1],
            ],
        );
        assert_eq!((flow.data(0).len(), flow.drops()), (1, vec![("invalid key", 2)]));
    }

    /// Numbers go on behind the largest there is.
    #[test]
    fn repeated_and_earlier_numbers_do_not_pass() {
        let numbered = |n: u32| [&[0x10, 0, 8, 0][..], &n.to_be_bytes(), &[n as u8]].concat();
        let packets = [u32::MAX - 1, u32::MAX, u32::MAX, 1, 0, 2].map(numbered);
        let flow = send("Inject -> CheckGREHeader(SEQUENCE true, STRIP true) -> Collect(0)", packets);
        assert_eq!(
            (flow.data(0), flow.drops()),
            (vec![vec![254], vec![255], vec![1], vec![2]], vec![("out of sequence", 2)])
        );
        let flow = send(
            "Inject -> GREEncap(0x0800, SEQUENCE true) -> CheckGREHeader(SEQUENCE true) -> Collect(0)",
            [vec![1], vec![2]],
        );
        assert_eq!(flow.data(0).len(), 2);
    }

    proptest! {
        #[test]
        fn whatever_comes(bytes in prop::collection::vec(any::<u8>(), 1..24), offset in 0usize..30) {
            let config = format!("Inject -> c :: CheckGREHeader(OFFSET {offset}, CHECKSUM true, SEQUENCE true, STRIP true) -> Collect(0); c[1] -> Collect(1)");
            prop_assert_eq!(send(&config, [bytes]).seen.len(), 1);
        }
    }
}
