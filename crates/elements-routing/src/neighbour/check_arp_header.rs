//! Checks ARP headers.
//!
//! ```click
//! CheckARPHeader([OFFSET, VERBOSE, DETAILS])
//! ```
//!
//! Expects an ARP packet OFFSET bytes into each packet. Passes complete ones whose address lengths match their
//! address types, and marks the ARP header as network header. Others leave by output 1 if it is connected and are
//! dropped otherwise; the first one is reported.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic; output 1 is push. Workers: replicated; counts add up.
//!
//! # Arguments
//! - `OFFSET` (integer, default 0): where the header starts.
//! - `VERBOSE` (boolean, default false): whether to report every bad packet.
//! - `DETAILS` (boolean, default false): whether to count by reason.
//!
//! # Handlers
//! - `drops` (read): bad packets.
//! - `drop_details` (read): bad packets by reason, if DETAILS is true.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> Classifier(12/0806) -> CheckARPHeader(14) -> ARPPrint -> Discard;
//! ```
//!
//! # See also
//! ARPPrint, ARPResponder, CheckIPHeader

use elements_shared::verdict::fail;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Merge, PerPacket, Simple, Verdict};
use wire::ethernet::ether_type;

/// The class.
pub(crate) const CLASS: Class = Class::new("CheckARPHeader", create)
    .ports("1/1-2")
    .processing("a/ah")
    .doc(router::manual!("check_arp_header.rs"));

const REASONS: [&str; 4] =
    ["tiny packet", "too small for addresses", "bad hardware type/length", "bad protocol type/length"];
/// Bytes before the addresses.
const FIXED: usize = 8;
/// What packets about IPv4 addresses on Ethernet start with, which nearly all are.
const PLAIN: [u8; 6] = [0, 1, 8, 0, 6, 4];
/// Bytes of such a packet.
const PLAIN_LEN: usize = FIXED + 2 * 6 + 2 * 4;

struct CheckArpHeader {
    offset: u32,
    verbose: bool,
    details: bool,
    outputs: usize,
    drops: u64,
    reasons: [u64; REASONS.len()],
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut offset, mut verbose, mut details) = (0_u32, false, false);
    config
        .args()
        .positional("OFFSET", &mut offset)
        .keyword("VERBOSE", &mut verbose)
        .keyword("DETAILS", &mut details)
        .finish()?;
    let (offset, outputs) = (offset, config.outputs());
    Ok(Box::new(PerPacket(CheckArpHeader { offset, verbose, details, outputs, drops: 0, reasons: [0; 4] })))
}

/// Whether a whole ARP packet starts `bytes`, or which reason there is against it.
#[inline]
fn check(bytes: &[u8]) -> Result<(), usize> {
    let Some(&[h0, h1, p0, p1, hardware_len, protocol_len, _, _]) = bytes.first_chunk::<FIXED>() else {
        return Err(0);
    };
    let len = FIXED + 2 * usize::from(hardware_len) + 2 * usize::from(protocol_len);
    if bytes.len() < len {
        return Err(1);
    }
    if [h0, h1] == [0, 1] && hardware_len != 6 {
        return Err(2);
    }
    match (u16::from_be_bytes([p0, p1]), protocol_len) {
        (ether_type::IPV4, 4) | (ether_type::IPV6, 16) => Ok(()),
        (ether_type::IPV4 | ether_type::IPV6, _) => Err(3),
        _ => Ok(()),
    }
}

impl CheckArpHeader {
    /// Checks a packet of whatever kind of addresses.
    fn check_any(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        match check(packet.data().get(self.offset as usize..).unwrap_or_default()) {
            Ok(()) => {
                packet.set_network_alone(self.offset as isize);
                Verdict::Pass
            }
            Err(reason) => self.bad(cx, reason),
        }
    }

    #[cold]
    fn bad(&mut self, cx: &mut Cx<'_>, reason: usize) -> Verdict {
        if self.drops == 0 || self.verbose {
            cx.complain(format_args!("ARP header check failed: {}", REASONS[reason]), REASONS[reason]);
        }
        self.drops += 1;
        self.reasons[reason] += 1;
        fail(self.outputs, REASONS[reason])
    }
}

impl Simple for CheckArpHeader {
    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if let Some((front, _)) = packet.data_from::<PLAIN_LEN>(self.offset)
            && front.starts_with(&PLAIN)
        {
            packet.set_network_alone(self.offset as isize);
            return Verdict::Pass;
        }
        self.check_any(cx, packet)
    }

    fn handlers(&self, h: &mut Handlers) {
        type E = CheckArpHeader;
        h.read("drops", |e: &mut E, _| e.drops).merged(Merge::Sum);
        if self.details {
            h.read("drop_details", |e: &mut E, _| {
                let lines = e.reasons.iter().zip(REASONS);
                lines.map(|(count, reason)| format!("{count}\t{reason}\n")).collect::<String>()
            })
            .merged(Merge::Tally);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;
    use proptest::prelude::*;

    const BOTH: &str = "Inject -> c :: CheckARPHeader(2, DETAILS true) -> Collect(0); c[1] -> Collect(1)";

    fn arp(hardware: u8, hardware_len: u8, protocol: [u8; 2], protocol_len: u8, rest: usize) -> Vec<u8> {
        let [p0, p1] = protocol;
        [&[9, 9, 0, hardware, p0, p1, hardware_len, protocol_len, 0, 1][..], &vec![0; rest]].concat()
    }

    #[test]
    fn each_fault_is_counted_with_its_reason() {
        let good = [arp(1, 6, [8, 0], 4, 20), arp(7, 2, [9, 9], 3, 10), arp(1, 6, [0x86, 0xdd], 16, 44)];
        let bad = [
            arp(1, 6, [8, 0], 4, 0)[..9].to_vec(),
            arp(1, 6, [8, 0], 4, 19),
            arp(1, 5, [8, 0], 4, 20),
            arp(1, 6, [8, 0], 3, 20),
        ];
        let mut flow = send(BOTH, good.iter().chain(&bad).cloned());
        assert_eq!((flow.data(0), flow.data(1)), (good.to_vec(), bad.to_vec()));
        let packet = &flow.seen.iter().find(|(at, _)| *at == 0).unwrap().1;
        assert_eq!((packet.network_offset(), packet.transport_offset()), (Some(2), None));
        assert_eq!(flow.read("c.drops"), "4");
        let details = "1\ttiny packet\n1\ttoo small for addresses\n1\tbad hardware type/length\n1\tbad protocol type/length\n";
        assert_eq!(flow.read("c.drop_details"), details);
        assert_eq!(flow.log(), "ARP header check failed: tiny packet\n");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn whatever_comes(packets in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 1..40)) {
            let n = packets.len();
            prop_assert_eq!(send(BOTH, packets).seen.len(), n);
        }
    }
}
