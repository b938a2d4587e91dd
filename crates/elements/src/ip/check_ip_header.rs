//! Checks IP headers.
//!
//! ```click
//! CheckIPHeader([BADSRC, KEYWORDS])
//! ```
//!
//! Expects IP packets. Passes those whose header is right: version 4, header and total length consistent with each other
//! and with the packet, right checksum, a source address that a packet may have. Marks the header, sets the destination
//! address annotation, and cuts off link-layer padding behind the IP packet. Other packets leave at output 1 if it is in
//! use and are dropped otherwise. The first bad packet is reported.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic; output 1 is push. Workers: replicated.
//!
//! # Arguments
//! - `BADSRC` (addresses separated by spaces): source addresses that no packet may have. By position, 0.0.0.0 and
//!   255.255.255.255 are always among them; by keyword, just these, none by default.
//! - `INTERFACES` (`ADDR/MASK` separated by spaces): makes the broadcast addresses of these networks, 0.0.0.0 and
//!   255.255.255.255 bad sources, and their addresses good destinations.
//! - `GOODDST` (addresses separated by spaces): packets to these addresses may have any source.
//! - `OFFSET` (integer, default 0): where the IP header starts.
//! - `CHECKSUM` (boolean, default true): whether the checksum must be right.
//! - `VERBOSE` (boolean, default false): report every bad packet.
//! - `DETAILS` (boolean, default false): count by reason (they are counted always; this adds the handler).
//!
//! # Handlers
//! - `drops` (read): bad packets.
//! - `drop_details` (read, with DETAILS): bad packets by reason.
//!
//! # Example
//! ```click
//! InfiniteSource -> Strip(14) -> CheckIPHeader(INTERFACES 1.0.0.1/8 2.0.0.1/8) -> Discard
//! ```
//!
//! # See also
//! MarkIPHeader, CheckIP6Header, SetIPChecksum

use packet::Packet;
use router::{Class, Config, ConfigError, Cx, FromArg, Handlers, Merge, PerPacket, Scope, Simple, Verdict};
use std::net::Ipv4Addr;
use wire::{Error, Ipv4Net, ipv4};

/// The class.
pub(crate) const CLASS: Class = Class::new("CheckIPHeader", create)
    .ports("1/1-2")
    .processing("a/ah")
    .doc(include_str!("check_ip_header.rs"));

const REASONS: [&str; 6] = [
    "tiny packet",
    "bad IP version",
    "bad IP header length",
    "bad IP length",
    "bad IP checksum",
    "bad source address",
];

/// Addresses separated by spaces.
#[derive(Clone, Debug, Default)]
struct Addresses(Vec<Ipv4Addr>);

impl FromArg for Addresses {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        let words = lang::conf::split_spaces(text);
        words.iter().map(|word| Ipv4Addr::from_arg(word, scope)).collect::<Result<_, _>>().map(Addresses)
    }
}

/// Interface addresses with their networks.
struct Interfaces(Vec<(Ipv4Addr, Ipv4Net)>);

impl FromArg for Interfaces {
    fn from_arg(text: &str, _scope: Scope<'_>) -> Result<Self, String> {
        let interface = |word: &String| {
            let (address, mask) = wire::net::parse_ipv4_and_mask(word)
                .map_err(|_| format!("'{word}' is no address with prefix length or mask"))?;
            let len =
                wire::net::mask_len_v4(mask).ok_or_else(|| format!("the mask of '{word}' has holes"))?;
            Ok((address, Ipv4Net::new(address, len).ok_or_else(|| format!("'{word}' is no network"))?))
        };
        lang::conf::split_spaces(text).iter().map(interface).collect::<Result<_, String>>().map(Interfaces)
    }
}

struct CheckIpHeader {
    bad_sources: Vec<Ipv4Addr>,
    good_destinations: Vec<Ipv4Addr>,
    offset: usize,
    checksum: bool,
    verbose: bool,
    details: bool,
    outputs: usize,
    drops: [u64; REASONS.len()],
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn router::Element>, ConfigError> {
    let (mut positional, mut bad, mut good) = (None::<Addresses>, None::<Addresses>, None::<Addresses>);
    let mut interfaces = None::<Interfaces>;
    let mut e = CheckIpHeader {
        bad_sources: Vec::new(),
        good_destinations: Vec::new(),
        offset: 0,
        checksum: true,
        verbose: false,
        details: false,
        outputs: config.outputs(),
        drops: [0; REASONS.len()],
    };
    config
        .args()
        .positional("BADADDRS", &mut positional)
        .positional("OFFSET", &mut e.offset)
        .keyword("BADSRC", &mut bad)
        .keyword("GOODDST", &mut good)
        .keyword("INTERFACES", &mut interfaces)
        .keyword("CHECKSUM", &mut e.checksum)
        .keyword("VERBOSE", &mut e.verbose)
        .keyword("DETAILS", &mut e.details)
        .finish()?;
    if positional.is_some() || interfaces.is_some() {
        e.bad_sources = vec![Ipv4Addr::UNSPECIFIED, Ipv4Addr::BROADCAST];
    }
    for (address, net) in interfaces.map(|list| list.0).unwrap_or_default() {
        e.bad_sources.push(net.last());
        e.good_destinations.push(address);
    }
    e.bad_sources.extend(positional.into_iter().chain(bad).flat_map(|list| list.0));
    e.good_destinations.extend(good.into_iter().flat_map(|list| list.0));
    Ok(Box::new(PerPacket(e)))
}

impl CheckIpHeader {
    #[cold]
    fn bad(&mut self, cx: &mut Cx<'_>, reason: usize) -> Verdict {
        if self.verbose || self.drops == [0; REASONS.len()] {
            cx.log(&format!("{}: IP header check failed: {}", cx.name(), REASONS[reason]));
        }
        self.drops[reason] += 1;
        super::fail(self.outputs, REASONS[reason])
    }

    #[cold]
    fn malformed(&mut self, cx: &mut Cx<'_>, error: Error) -> Verdict {
        let reason = match error {
            Error::BadVersion => 1,
            Error::BadHeaderLength => 2,
            Error::BadLength => 3,
            Error::BadChecksum => 4,
            _ => 0,
        };
        self.bad(cx, reason)
    }
}

impl Simple for CheckIpHeader {
    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let bytes = packet.data().get(self.offset..).unwrap_or_default();
        let extent = match ipv4::check(bytes, self.checksum) {
            Ok(extent) => extent,
            Err(error) => return self.malformed(cx, error),
        };
        // The check found a whole header.
        let Ok(header) = ipv4::Header::new_checked(bytes) else { return self.bad(cx, 0) };
        let (source, destination, len) = (header.src(), header.dst(), bytes.len());
        if self.bad_sources.contains(&source) && !self.good_destinations.contains(&destination) {
            return self.bad(cx, 5);
        }
        packet.set_network(self.offset as isize, extent.header_len);
        packet.set_dst_ip(destination);
        // The total length is at most what is there, so there is as much padding to take.
        let _ = packet.take(len - extent.total_len);
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
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
    use crate::testing::{errors, run_and_read};

    /// A right header of 20 bytes for 28 bytes of packet, then 4 bytes of padding.
    const GOOD: &str = "4500001c 00000000 40113cc6 0a000001 0a000102 0001000200080000 ffffffff";

    fn counts(data: &str, arguments: &str) -> Vec<String> {
        let config = format!(
            "InfiniteSource(DATA \\<{data}>, LIMIT 2, STOP true) -> c :: CheckIPHeader({arguments})
             -> good :: Discard; c[1] -> bad :: Discard;"
        );
        run_and_read(&config, &["good.count", "bad.count", "good.byte_count"])
    }

    #[test]
    fn good_packets_lose_their_padding() {
        let sum = wire::checksum::checksum(&[
            0x45, 0, 0, 0x1c, 0, 0, 0, 0, 0x40, 0x11, 0, 0, 10, 0, 0, 1, 10, 0, 1, 2,
        ]);
        let good = GOOD.replace("3cc6", &format!("{sum:04x}"));
        assert_eq!(counts(&good, ""), ["2", "0", "56"]);
        assert_eq!(counts(&good, "INTERFACES 10.0.0.9/24"), ["2", "0", "56"]);
        assert_eq!(counts(&good, "BADSRC 10.0.0.1"), ["0", "2", "0"]);
        assert_eq!(counts(&good, "10.0.0.1"), ["0", "2", "0"]);
        assert_eq!(counts(&good, "BADSRC 10.0.0.1, GOODDST 10.0.1.2"), ["2", "0", "56"]);
        assert_eq!(counts(&format!("0000 {good}"), "OFFSET 2"), ["2", "0", "60"]);
    }

    #[test]
    fn each_fault_has_its_reason() {
        for (data, reason) in [
            ("45000014", "tiny packet"),
            (&GOOD.replacen("45", "55", 1), "bad IP version"),
            (&GOOD.replacen("45", "44", 1), "bad IP header length"),
            (&GOOD.replacen("001c", "0021", 1), "bad IP length"),
            (&GOOD.replacen("001c", "0013", 1), "bad IP length"),
            (&GOOD.replacen("40113cc6", "40110000", 1), "bad IP checksum"),
        ] {
            let config = format!(
                "InfiniteSource(DATA \\<{data}>, LIMIT 2, STOP true) -> c :: CheckIPHeader(DETAILS true) -> Discard"
            );
            let read = run_and_read(&config, &["c.drops", "c.drop_reasons", "c.drop_details"]);
            assert_eq!(read[..2], ["2".to_owned(), format!("2\t{reason}\n")]);
            assert!(read[2].contains(&format!("2\t{reason}\n")), "{}", read[2]);
        }
        assert!(
            errors("InfiniteSource -> CheckIPHeader(INTERFACES 1.2.3) -> Discard").contains("INTERFACES: ")
        );
    }
}
