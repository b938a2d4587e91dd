//! Writes sequence numbers and timestamps into packets, to measure latency.
//!
//! ```click
//! StoreUDPTimeSeqRecord(OFFSET [, DELTA])
//! StoreTCPTimeSeqRecord(OFFSET [, DELTA])
//! StoreICMPTimeSeqRecord(OFFSET [, DELTA])
//! StoreTimeSeqRecord(OFFSET [, DELTA])
//! ```
//!
//! Overwrites the first 20 bytes after the UDP, TCP or ICMP header with five four-byte numbers in network byte order:
//! the packet's sequence number, the seconds and nanoseconds of the current time, and two zeros. If DELTA is true,
//! only the last two are changed: they become the time since then, in seconds and nanoseconds. The checksum is
//! updated (for UDP, if there is one). Works for IPv4, and for IPv6 without extension headers; other packets, and
//! packets too short, are dropped.
//!
//! StoreTCPTimeSeqRecord, StoreICMPTimeSeqRecord and StoreTimeSeqRecord, which handles all three protocols, are
//! FastClick's. A TCP header counts as 20 bytes, an ICMP header as 8.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: exclusive.
//!
//! # Arguments
//! - `OFFSET` (integer): where the IP header begins: 14 in Ethernet frames.
//! - `DELTA` (boolean, default false): whether to store the time since the first record.
//!
//! # Handlers
//! - `count` (read): packets so far.
//! - `reset` (write, button): sets the count to zero.
//!
//! # Example
//! ```click
//! RatedSource(\<00>, LENGTH 22, RATE 10) -> UDPIPEncap(10.0.1.1, 6667, 20.0.0.2, 6667) -> StoreUDPTimeSeqRecord(0)
//!     -> Queue -> DelayUnqueue(100ms) -> StoreUDPTimeSeqRecord(0, DELTA true) -> ToDump(delays.pcap, ENCAP IP)
//! ```
//!
//! # Differences from Click
//! StoreUDPTimeSeqRecord changes UDP packets only; Click's treats every IPv4 packet as UDP. No checksum is added to a
//! UDP packet without one.
//!
//! # See also
//! SetTimestamp, StoreTimestamp, TimestampAccum

use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Residency, Simple, Verdict};
use wire::checksum::Sum;
use wire::{icmpv4, ip_proto, ipv4, ipv6, tcp, udp};

/// The class.
pub(crate) const CLASS: Class = Class::new("StoreUDPTimeSeqRecord", |config| create(config, &[UDP]))
    .residency(Residency::Exclusive)
    .doc(router::manual!("store_time_seq_record.rs"));
/// For TCP packets.
pub(crate) const OF_TCP: Class =
    Class { name: "StoreTCPTimeSeqRecord", create: |config| create(config, &[TCP]), ..CLASS };
/// For ICMP packets.
pub(crate) const OF_ICMP: Class =
    Class { name: "StoreICMPTimeSeqRecord", create: |config| create(config, &[ICMP, ICMPV6]), ..CLASS };
/// For all of them.
pub(crate) const OF_ANY: Class =
    Class { name: "StoreTimeSeqRecord", create: |config| create(config, &[UDP, TCP, ICMP, ICMPV6]), ..CLASS };

const RECORD: usize = 20;
const NS_PER_S: i64 = 1_000_000_000;

/// What is to be known of a protocol.
struct Protocol {
    number: u8,
    header_len: usize,
    /// Where the checksum is.
    checksum: usize,
}

const UDP: Protocol = Protocol { number: ip_proto::UDP, header_len: udp::HEADER_LEN, checksum: 6 };
const TCP: Protocol = Protocol { number: ip_proto::TCP, header_len: tcp::HEADER_LEN, checksum: 16 };
const ICMP: Protocol = Protocol { number: ip_proto::ICMP, header_len: icmpv4::HEADER_LEN, checksum: 2 };
const ICMPV6: Protocol = Protocol { number: ip_proto::ICMPV6, ..ICMP };

struct StoreTimeSeqRecord {
    offset: usize,
    delta: bool,
    count: u32,
    protocols: &'static [Protocol],
}

fn create(config: &mut Config<'_>, protocols: &'static [Protocol]) -> Result<Box<dyn Element>, ConfigError> {
    let (mut offset, mut delta) = (0u32, false);
    config.args().required("OFFSET", &mut offset).positional("DELTA", &mut delta).finish()?;
    let offset = offset as usize;
    Ok(Box::new(PerPacket(StoreTimeSeqRecord { offset, delta, count: 0, protocols })))
}

/// The protocol above IP, and what is behind the IP header, to the end of the packet. Of later fragments that is data only.
fn upper(ip: &mut [u8]) -> Option<(u8, &mut [u8])> {
    let (protocol, len) = match ip.first()? >> 4 {
        4 => {
            let header = ipv4::Header::new_checked(&*ip).ok().filter(|ip| ip.is_first_fragment())?;
            (header.protocol(), Some(header.header_len()).filter(|&len| len >= ipv4::HEADER_LEN)?)
        }
        6 => (ipv6::Header::new_checked(&*ip).ok()?.next_header(), ipv6::HEADER_LEN),
        _ => return None,
    };
    Some((protocol, ip.get_mut(len..)?))
}

/// The checksum of a message that had it right before some of its bytes, an even number, became others: the old one
/// without what was there and with what is there now (RFC 1624). It is none of zero, which is no checksum in UDP and
/// the same number otherwise.
fn updated(checksum: u16, before: &[u8], after: &[u8]) -> u16 {
    let sum = Sum::of(after).add_u16(!Sum::of(before).fold()).add_u16(!checksum);
    match sum.checksum() {
        0 => 0xffff,
        checksum => checksum,
    }
}

impl StoreTimeSeqRecord {
    fn fill(&self, record: &mut [u8; RECORD], now_ns: i64) {
        let words = |s: i64, ns: i64| (s as u32).to_be_bytes().into_iter().chain((ns as u32).to_be_bytes());
        if self.delta {
            let word = |at: usize| {
                i64::from(u32::from_be_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]]))
            };
            let age = now_ns - (word(4) * NS_PER_S + word(8));
            record[12..]
                .iter_mut()
                .zip(words(age.div_euclid(NS_PER_S), age.rem_euclid(NS_PER_S)))
                .for_each(|(to, from)| *to = from);
        } else {
            let new = self.count.to_be_bytes().into_iter().chain(words(now_ns / NS_PER_S, now_ns % NS_PER_S));
            record.iter_mut().zip(new.chain([0; 8])).for_each(|(to, from)| *to = from);
        }
    }
}

impl Simple for StoreTimeSeqRecord {
    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        const OTHER: Verdict = Verdict::Drop("other protocol");
        let Some((number, message)) = packet.data_mut().get_mut(self.offset..).and_then(upper) else {
            return OTHER;
        };
        let Some(protocol) = self.protocols.iter().find(|protocol| protocol.number == number) else {
            return OTHER;
        };
        let parts = message.split_at_mut_checked(protocol.header_len);
        let Some((header, record)) =
            parts.and_then(|(header, payload)| Some((header, payload.first_chunk_mut::<RECORD>()?)))
        else {
            return Verdict::Drop("too short for a record");
        };
        self.count = self.count.wrapping_add(1);
        let before = *record;
        self.fill(record, cx.now_ns());
        if let Some(field) = header[protocol.checksum..].first_chunk_mut()
            && (number != ip_proto::UDP || *field != [0; 2])
        {
            *field = updated(u16::from_be_bytes(*field), &before, record).to_be_bytes();
        }
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        h.count("reset", |e: &mut StoreTimeSeqRecord| &mut e.count);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run;
    use crate::testing::send;
    use elements_testing::samples::{edited, udp};

    /// Packets wait a quarter of a second; their checksums are right afterwards.
    #[test]
    fn records_say_how_long_packets_waited() {
        let said = run("TimedSource(1, DATA \\<ffffffff ffffffff ffffffff ffffffff ffffffff ffffff>, LIMIT 2) -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2)
            -> s :: StoreUDPTimeSeqRecord(0) -> Queue -> DelayUnqueue(0.25) -> StoreUDPTimeSeqRecord(0, DELTA true)
            -> CheckIPHeader -> CheckUDPHeader -> Strip(28) -> Print(MAXLENGTH 40) -> Discard; Script(wait 3, print s.count, stop)");
        let lines: Vec<&str> = said.lines().collect();
        let line = |n: u32, s: &str| format!("  23 | 0000000{n} {s} 00000000 00000000 0ee6b280 ffffff");
        assert_eq!(lines[..2], [line(1, "3b9aca01"), line(2, "3b9aca02")], "{said}");
        assert_eq!(lines[2], "2");
    }

    #[test]
    fn a_later_fragment_has_no_room_for_a_record() {
        let later = edited(udp(40), |ip| ip.set_fragment_field(1));
        let flow = send("Inject -> StoreUDPTimeSeqRecord(OFFSET 0) -> Collect(0)", [later]);
        assert_eq!(flow.drops(), [("other protocol", 1)]);
    }

    #[test]
    fn other_packets() {
        let udp6 = |len: usize| [&[0x60, 0, 0, 0, 0, 40, 17][..], &[0; 33], &vec![0; len]].concat();
        let packets = [udp6(28), udp6(27), udp6(7), vec![0x45; 60], vec![], vec![0x60; 70]];
        let flow = send("Inject -> StoreUDPTimeSeqRecord(OFFSET 0) -> Collect(0)", packets);
        assert_eq!(flow.only(0).data()[48..], [&[0, 0, 0, 1, 0x3b, 0x9a, 0xca][..], &[0; 13]].concat());
        assert_eq!(flow.drops(), [("other protocol", 3), ("too short for a record", 2)]);
    }
}
