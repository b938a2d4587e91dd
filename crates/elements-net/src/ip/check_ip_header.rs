//! Checks IP headers.
//!
//! ```click
//! CheckIPHeader([OFFSET, KEYWORDS])
//! CheckIPHeader(BADSRC [, OFFSET, KEYWORDS])
//! ```
//!
//! Expects IP packets. Passes those with a valid header: version 4, header length and total length consistent with
//! each other and with the packet, a correct checksum, and an acceptable source address. It marks the header, sets
//! the destination address annotation, and cuts off link-layer padding after the IP packet. Other packets leave by
//! output 1 if it is connected and are dropped otherwise. The first bad packet is reported.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic; output 1 is push. Workers: replicated.
//!
//! # Arguments
//! - `BADSRC` (addresses separated by spaces): source addresses to reject. Given by position (the older form),
//!   0.0.0.0 and 255.255.255.255 are added to them; given by keyword, only these, by default none.
//! - `INTERFACES` (`ADDR/MASK` separated by spaces): rejects the broadcast addresses of these networks, 0.0.0.0 and
//!   255.255.255.255 as sources, and accepts the interfaces' addresses as destinations, as GOODDST does.
//! - `GOODDST` (addresses separated by spaces): packets to these addresses may have any source address.
//! - `OFFSET` (integer, default 0): where the IP header starts.
//! - `CHECKSUM` (boolean, default true): whether the checksum must be correct.
//! - `VERBOSE` (boolean, default false): whether to report every bad packet.
//! - `DETAILS` (boolean, default false): whether to add the handler that counts by reason (packets are counted in any
//!   case).
//!
//! # Handlers
//! - `count`, `drops` (read): valid packets and bad ones. `count` is FastClick's.
//! - `drop_details` (read, with DETAILS): bad packets by reason.
//!
//! # Example
//! ```click
//! InfiniteSource -> Strip(14) -> CheckIPHeader(INTERFACES 1.0.0.1/8 2.0.0.1/8) -> Discard
//! ```
//!
//! # See also
//! MarkIPHeader, CheckIP6Header, SetIPChecksum

use super::address_set::AddressSet;
use super::arguments::{Addresses, Prefixes};
use packet::{Batch, Packet};
use router::{
    Args, Class, Config, ConfigError, Cx, Decision, Handlers, Look, Merge, PerPacket, Simple, Verdict,
};
use std::net::Ipv4Addr;
use wire::Error;
use wire::ipv4::{self, Extent};

/// The class.
pub(crate) const CLASS: Class = Class::new("CheckIPHeader", create)
    .ports("1/1-2")
    .processing("a/ah")
    .doc(router::manual!("check_ip_header.rs"));

const REASONS: [&str; 6] = [
    "tiny packet",
    "bad IP version",
    "bad IP header length",
    "bad IP length",
    "bad IP checksum",
    "bad source address",
];

struct CheckIpHeader {
    bad_sources: AddressSet,
    good_destinations: Vec<Ipv4Addr>,
    offset: usize,
    /// The same, or as much of it as 32 bits hold: no packet is as long.
    near: u32,
    checksum: bool,
    verbose: bool,
    details: bool,
    outputs: usize,
    count: u64,
    drops: [u64; REASONS.len()],
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn router::Element>, ConfigError> {
    configure(config, true)
}

/// Makes an element that by default verifies checksums or not.
pub(super) fn configure(
    config: &mut Config<'_>,
    checksum: bool,
) -> Result<Box<dyn router::Element>, ConfigError> {
    let (mut bad, mut good) = (Addresses::default(), Addresses::default());
    let (mut interfaces, mut words) = (Prefixes::default(), Vec::new());
    let mut e = CheckIpHeader {
        bad_sources: AddressSet::new(Vec::new()),
        good_destinations: Vec::new(),
        offset: 0,
        near: 0,
        checksum,
        verbose: false,
        details: false,
        outputs: config.outputs(),
        count: 0,
        drops: [0; REASONS.len()],
    };
    config
        .args()
        .keyword("INTERFACES", &mut interfaces)
        .keyword("BADSRC", &mut bad)
        .keyword("GOODDST", &mut good)
        .keyword("OFFSET", &mut e.offset)
        .keyword("VERBOSE", &mut e.verbose)
        .keyword("DETAILS", &mut e.details)
        .keyword("CHECKSUM", &mut e.checksum)
        .rest(&mut words)
        .finish()?;
    // A single number is an offset; other arguments without keywords are of the older form.
    let old_form = words.len() > 1 || words.iter().any(|word| router::parse_integer(word).is_none());
    let args = Args::new(words, config.scope());
    if old_form {
        let mut positional = Addresses::default();
        args.positional("BADSRC", &mut positional).positional("OFFSET", &mut e.offset).finish()?;
        bad.0.extend(positional.0);
    } else {
        args.positional("OFFSET", &mut e.offset).finish()?;
    }
    e.near = u32::try_from(e.offset).unwrap_or(u32::MAX);
    (e.bad_sources, e.good_destinations) = rules(bad.0, good.0, &interfaces, old_form);
    Ok(Box::new(PerPacket(e)))
}

/// The bad sources and the good destinations that arguments name. The illegal sources are among the former if interfaces are
/// named or if `always`.
pub(super) fn rules(
    mut bad: Vec<Ipv4Addr>,
    mut good: Vec<Ipv4Addr>,
    interfaces: &Prefixes,
    always: bool,
) -> (AddressSet, Vec<Ipv4Addr>) {
    if always || !interfaces.0.is_empty() {
        bad.extend([Ipv4Addr::UNSPECIFIED, Ipv4Addr::BROADCAST]);
    }
    bad.extend(interfaces.0.iter().map(|prefix| prefix.broadcast()));
    good.extend(interfaces.0.iter().map(|prefix| prefix.address));
    (AddressSet::new(bad), good)
}

/// Marks a packet whose header begins there, has no options and fits, and takes what follows it away. False, and nothing is changed, if it
/// does not fit or is not right in another way, which may be a matter of its source and its destination.
#[inline(always)] // one call less for every packet
pub(super) fn mark_usual(
    packet: &mut Packet,
    at: u32,
    is_right: impl Fn(ipv4::Header<&[u8; ipv4::HEADER_LEN]>, Ipv4Addr, Ipv4Addr) -> bool,
) -> bool {
    let Some((header, there)) = packet.data_from(at) else { return false };
    let header = ipv4::Header::new(header);
    let total = usize::from(header.total_len());
    let (source, destination) = (header.src(), header.dst());
    // Mostly nothing follows the packet, which one comparison tells.
    let fits = total == there || (ipv4::HEADER_LEN..there).contains(&total);
    let right = fits && is_right(header, source, destination);
    if !right || !packet.set_near_network(at as isize, ipv4::HEADER_LEN) {
        return false;
    }
    packet.set_dst_ip(destination);
    if total != there {
        let _ = packet.take(there - total); // there is as much
    }
    true
}

/// The reason's place among all of them.
fn reason_of(error: Error) -> usize {
    match error {
        Error::BadVersion => 1,
        Error::BadHeaderLength => 2,
        Error::BadLength => 3,
        Error::BadChecksum => 4,
        _ => 0,
    }
}

impl CheckIpHeader {
    /// Marks packets up to the first that has options or a fault; how many.
    fn mark_all(&self, packets: &mut [Packet]) -> usize {
        match (self.checksum, self.bad_sources.is_empty()) {
            (true, true) => self.mark_run::<true, false>(packets),
            (true, false) => self.mark_run::<true, true>(packets),
            (false, _) => self.mark_run::<false, true>(packets),
        }
    }

    /// The same, by whether checksums and sources are looked at. What the element was told is not read again for each packet.
    fn mark_run<const CHECKSUM: bool, const SOURCES: bool>(&self, packets: &mut [Packet]) -> usize {
        let (near, mut at) = (self.near, 0);
        while let Some(packet) = packets.get_mut(at) {
            let is_usual = mark_usual(packet, near, |header, source, destination| {
                ipv4::is_usual(header, CHECKSUM) && !(SOURCES && self.is_bad(source, destination))
            });
            if !is_usual {
                break;
            }
            at += 1;
        }
        at
    }

    #[cold]
    fn bad(&mut self, cx: &mut Cx<'_>, reason: usize) -> Verdict {
        if self.verbose || self.drops == [0; REASONS.len()] {
            cx.complain(
                format_args!("{}: IP header check failed: {}", cx.name(), REASONS[reason]),
                REASONS[reason],
            );
        }
        self.drops[reason] += 1;
        elements_shared::verdict::fail(self.outputs, REASONS[reason])
    }

    #[cold]
    fn malformed(&mut self, cx: &mut Cx<'_>, error: Error) -> Verdict {
        self.bad(cx, reason_of(error))
    }

    /// A packet that has options, or a fault.
    #[cold]
    fn unusual(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Some(bytes) = packet.data().get(self.offset..) else { return self.bad(cx, 0) };
        match ipv4::check(bytes, self.checksum) {
            Ok(extent) => self.accept(cx, packet, extent),
            Err(error) => self.malformed(cx, error),
        }
    }

    /// The packet has a right header, of which only the source is still to be looked at.
    fn accept(&mut self, cx: &mut Cx<'_>, packet: &mut Packet, extent: Extent) -> Verdict {
        let bytes = packet.data().get(self.offset..).unwrap_or_default();
        let Ok(header) = ipv4::Header::new_checked(bytes) else { return self.bad(cx, 0) };
        let (source, destination, len) = (header.src(), header.dst(), bytes.len());
        if self.is_bad(source, destination) {
            return self.bad(cx, 5);
        }
        packet.set_network(self.offset as isize, extent.header_len);
        packet.set_dst_ip(destination);
        // The total length is at most what is there, so there is as much padding to take.
        let _ = packet.take(len - extent.total_len);
        self.count += 1;
        Verdict::Pass
    }

    /// Whether a packet from there may not go there.
    #[inline]
    fn is_bad(&self, source: Ipv4Addr, destination: Ipv4Addr) -> bool {
        self.bad_sources.contains(source) && !self.good_destinations.contains(&destination)
    }
}

impl Simple for CheckIpHeader {
    fn process_batch(&mut self, cx: &mut Cx<'_>, mut batch: Batch) {
        let mut usual = self.mark_all(batch.packets_mut());
        self.count += usual as u64;
        if usual == batch.len() {
            return cx.emit(0, batch);
        }
        cx.scatter(batch, |cx, packet| match usual.checked_sub(1) {
            Some(left) => {
                usual = left;
                Verdict::Pass
            }
            None => self.process(cx, packet),
        });
    }

    #[inline(always)] // one call less for every packet
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        // A packet without options and faults, which nearly all are; what is another is seen to elsewhere.
        let is_usual = mark_usual(packet, self.near, |header, source, destination| {
            ipv4::is_usual(header, self.checksum) && !self.is_bad(source, destination)
        });
        if !is_usual {
            return self.unusual(cx, packet);
        }
        self.count += 1;
        Verdict::Pass
    }

    fn explain(&self, _look: &Look<'_>, packet: &mut Packet) -> Option<Decision> {
        let fail = |reason: usize| {
            let verdict = elements_shared::verdict::fail(self.outputs, REASONS[reason]);
            Some(Decision::new(verdict, REASONS[reason]))
        };
        let Some(bytes) = packet.data().get(self.offset..) else { return fail(0) };
        let extent = match ipv4::check(bytes, self.checksum) {
            Ok(extent) => extent,
            Err(error) => return fail(reason_of(error)),
        };
        let Ok(header) = ipv4::Header::new_checked(bytes) else { return fail(0) };
        let (source, destination, len) = (header.src(), header.dst(), bytes.len());
        if self.is_bad(source, destination) {
            return fail(5);
        }
        packet.set_network(self.offset as isize, extent.header_len);
        packet.set_dst_ip(destination);
        let _ = packet.take(len - extent.total_len); // there is as much
        Some(Decision::new(Verdict::Pass, ""))
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("count", |e: &mut CheckIpHeader, _| e.count).merged(Merge::Sum);
        h.read("drops", |e: &mut CheckIpHeader, _| e.drops.iter().sum::<u64>()).merged(Merge::Sum);
        if self.details {
            h.read("drop_details", |e: &mut CheckIpHeader, _| {
                e.drops.iter().zip(REASONS).map(|(n, reason)| format!("{n}\t{reason}\n")).collect::<String>()
            })
            .merged(Merge::Tally);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::errors;
    use crate::testing::{Flow, send, send_one, send_singly};
    use elements_testing::samples::{self, udp};
    use proptest::prelude::*;

    const BOTH: &str = "Inject -> c :: CheckIPHeader(DETAILS true) -> Collect(0); c[1] -> Collect(1);";

    /// Padding goes, the rest stays; headers and destination are annotated.
    #[test]
    fn correct_packets_pass() {
        let mut data = vec![0xee; 14];
        data.extend(udp(30));
        let whole = data.clone();
        data.extend([0; 9]);
        let flow = send_one("Inject -> CheckIPHeader(14) -> Collect(0)", data);
        let packet = flow.only(0);
        assert_eq!(packet.data(), whole);
        assert_eq!((packet.network_offset(), packet.transport_offset()), (Some(14), Some(34)));
        assert_eq!(packet.dst_ip(), samples::DST);
        assert_eq!(flow.log(), "");
    }

    /// No packet is so long that anything is there.
    #[test]
    fn offsets_beyond_all_packets() {
        for offset in ["100", "4294967295", "4294967296", "4294967316"] {
            let config = format!("Inject -> c :: CheckIPHeader({offset}) -> Collect(0)");
            let flow = send_one(&config, udp(10));
            assert_eq!(flow.drops(), [("tiny packet", 1)], "{offset}");
        }
    }

    /// Every fault is found, goes to the second output and is counted under its name; only the first is reported.
    #[test]
    fn faults_by_kind() {
        let edit = |at: usize, value: u8| {
            let mut data = udp(10);
            data[at] = value;
            data
        };
        let bad =
            [udp(10)[..19].to_vec(), edit(0, 0x65), edit(0, 0x44), edit(3, 0xff), edit(3, 19), edit(8, 1)];
        let mut flow = send(BOTH, bad.clone());
        assert_eq!(flow.data(1), bad);
        assert!(flow.data(0).is_empty());
        let details = "1\ttiny packet\n1\tbad IP version\n1\tbad IP header length\n2\tbad IP length\n\
                       1\tbad IP checksum\n0\tbad source address\n";
        assert_eq!(flow.read("c.drop_details"), details);
        assert_eq!(flow.read("c.drops"), "6");
        assert_eq!(flow.log(), "c: IP header check failed: tiny packet\n");

        let flow =
            send("Inject -> c :: CheckIPHeader(VERBOSE true, CHECKSUM false) -> Collect(0)", bad.clone());
        assert_eq!(flow.data(0), bad[5..]);
        assert_eq!(flow.log().lines().count(), 5);
        assert_eq!(flow.drops().iter().map(|(_, n)| n).sum::<u64>(), 5);
    }

    #[test]
    fn sources_by_interface() {
        let config =
            "Inject -> CheckIPHeader(INTERFACES 18.26.4.9/24 18.32.9.44/28, BADSRC 7.7.7.7, GOODDST 8.8.8.8)
                      -> Collect(0)";
        let passes = |src: &str, dst: &str| {
            let data = samples::with_addresses(udp(0), src.parse().unwrap(), dst.parse().unwrap());
            send_one(config, data).seen.len() == 1
        };
        for bad in ["18.26.4.255", "18.32.9.47", "0.0.0.0", "255.255.255.255", "7.7.7.7"] {
            assert!(!passes(bad, "1.1.1.1"), "{bad}");
            assert!(["8.8.8.8", "18.26.4.9", "18.32.9.44"].iter().all(|good| passes(bad, good)), "{bad}");
        }
        assert!(passes("18.26.4.254", "1.1.1.1"));
    }

    #[test]
    fn the_older_form() {
        let data = samples::with_addresses(udp(0), Ipv4Addr::UNSPECIFIED, samples::DST);
        assert!(
            send_one("Inject -> CheckIPHeader(1.2.3.4 5.6.7.8, 0) -> Collect(0)", data.clone())
                .seen
                .is_empty()
        );
        assert_eq!(send_one("Inject -> CheckIPHeader(0) -> Collect(0)", data).seen.len(), 1);
        assert!(errors("Idle -> CheckIPHeader(1.2.3) -> Discard").contains("BADSRC"));
        assert!(errors("Idle -> CheckIPHeader(1.2.3.4, 0, 1) -> Discard").contains("too many arguments"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Packets of a batch are checked and marked as each would be alone, whichever of them have faults.
        #[test]
        fn whatever_comes(packets in samples::hostile(), checksum in any::<bool>(), source in any::<bool>()) {
            let arguments = format!("CHECKSUM {checksum}{}", if source { ", BADSRC 18.26.4.44 7.7.7.7" } else { "" });
            let config = BOTH.replace("DETAILS true", &format!("DETAILS true, {arguments}"));
            // Those without a fault come in runs, also first of all; one of each run of three may have a bad source.
            let runs = packets.into_iter().enumerate().flat_map(|(i, packet)| {
                let plain = |n: usize| {
                    let source = Ipv4Addr::from([7, 7, 7, if (n + i) % 3 == 2 { 7 } else { 6 }]);
                    samples::with_addresses(udp(9 * n), source, samples::DST)
                };
                (0..(i + 3) % 4).map(plain).chain([packet]).collect::<Vec<_>>()
            });
            let packets: Vec<_> = runs.collect();
            let n = packets.len();
            let (mut flow, mut alone) = (send(&config, packets.clone()), send_singly(&config, packets));
            prop_assert_eq!(flow.seen.len(), n);
            for (at, packet) in &flow.seen {
                let correct = ipv4::check(packet.data(), checksum);
                prop_assert!(*at == 1 || correct.unwrap().total_len == packet.len());
                prop_assert!(*at == 0 || source || correct.is_err());
            }
            let marks = |flow: &Flow| {
                let marks = |p: &Packet| (p.network_offset(), p.transport_offset(), p.dst_ip());
                flow.seen.iter().filter(|(at, _)| *at == 0).map(|(_, p)| marks(p)).collect::<Vec<_>>()
            };
            prop_assert_eq!(marks(&flow), marks(&alone));
            for handler in ["c.count", "c.drops", "c.drop_details"] {
                prop_assert_eq!(flow.read(handler), alone.read(handler));
            }
            prop_assert_eq!(flow.log(), alone.log());
        }
    }
}
