//! Processes the IP options that a router must handle when forwarding.
//!
//! ```click
//! IPGWOptions(MYADDR [, OTHERADDRS])
//! ```
//!
//! Expects packets with a marked IP header. Fills in record-route and timestamp options (RFC 791, RFC 1812 section
//! 5.2.4) and corrects the checksum. A packet with a malformed option leaves by output 1 if it is connected, with the
//! parameter problem annotation pointing to the offending octet, and is dropped otherwise.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic; output 1 is push. Workers: replicated.
//!
//! # Arguments
//! - `MYADDR` (address): the address to record.
//! - `OTHERADDRS` (addresses separated by spaces): more addresses of this router, for prespecified timestamps.
//!
//! # Handlers
//! - `drops` (read): packets with malformed options.
//!
//! # Example
//! ```click
//! InfiniteSource -> Strip(14) -> CheckIPHeader -> o :: IPGWOptions(1.0.0.1) -> Discard;
//! o[1] -> ICMPError(1.0.0.1, parameterproblem) -> Discard
//! ```
//!
//! # See also
//! ICMPError

use super::arguments::Addresses;
use elements_shared::ip_header::NO_HEADER;
use packet::{Anno, Packet};
use router::{
    Class, Config, ConfigError, Cx, Decision, Element, Handlers, Look, Merge, PerPacket, Simple, Verdict,
};
use std::net::Ipv4Addr;
use wire::ipv4::{self, option};

/// The class.
pub(crate) const CLASS: Class = Class::new("IPGWOptions", create)
    .ports("1/1-2")
    .processing("a/ah")
    .doc(router::manual!("ip_gw_options.rs"));

/// The element; also a part of IPOutputCombo.
pub(super) struct IpGwOptions {
    mine: Ipv4Addr,
    all: Vec<Ipv4Addr>,
    outputs: usize,
    drops: u64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e =
        IpGwOptions { mine: Ipv4Addr::UNSPECIFIED, all: Vec::new(), outputs: config.outputs(), drops: 0 };
    let mut others = Addresses::default();
    config.args().required("MYADDR", &mut e.mine).positional("OTHERADDRS", &mut others).finish()?;
    e.all = others.0;
    e.all.push(e.mine);
    Ok(Box::new(PerPacket(e)))
}

/// Milliseconds since midnight, universal time, as the timestamp option has them.
fn time_of_day_ms(now_ns: i64) -> [u8; 4] {
    ((now_ns / 1_000_000).rem_euclid(86_400_000) as u32).to_be_bytes()
}

impl IpGwOptions {
    /// One that knows a single address; packets with malformed options leave at output 1.
    pub(super) fn new(mine: Ipv4Addr) -> IpGwOptions {
        IpGwOptions { mine, all: vec![mine], outputs: 2, drops: 0 }
    }

    /// Fills the options in and corrects the checksum, up to the first malformed option. The error is the offset of the
    /// offending octet in the header.
    fn fill(&self, header: &mut [u8], now_ns: i64) -> Result<(), u8> {
        let filled = self.fill_options(header, now_ns);
        ipv4::fill_checksum(header).map_err(|_| 0)?;
        filled
    }

    fn fill_options(&self, header: &mut [u8], now_ns: i64) -> Result<(), u8> {
        // The walk borrows the header, so the places come first; ten options at most fit into a header.
        let mut found = [(0u8, 0usize, 0usize); 20];
        let mut count = 0;
        for item in ipv4::options(header).map_err(|_| 0u8)? {
            // A bad length is reported at the length octet.
            let item = item.map_err(|bad| bad.offset as u8 + 1)?;
            if let Some(place) = found.get_mut(count) {
                *place = (item.kind, item.offset, item.bytes.len());
                count += 1;
            }
        }
        for &(kind, at, len) in &found[..count] {
            let bytes = &mut header[at..at + len];
            match kind {
                option::RECORD_ROUTE => self.record_route(bytes).map_err(|octet| at as u8 + octet)?,
                option::TIMESTAMP => self.timestamp(bytes, now_ns).map_err(|octet| at as u8 + octet)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// RFC 791: the third octet points, counting from 1, to the next free slot.
    fn record_route(&self, bytes: &mut [u8]) -> Result<(), u8> {
        let pointer = usize::from(*bytes.get(2).ok_or(2u8)?);
        let at = pointer.checked_sub(1).filter(|&at| at >= 3).ok_or(2u8)?;
        if at == bytes.len() {
            return Ok(()); // full
        }
        let slot = bytes.get_mut(at..at + 4).ok_or(2u8)?;
        slot.copy_from_slice(&self.mine.octets());
        bytes[2] += 4; // within an option, so below 40
        Ok(())
    }

    fn timestamp(&self, bytes: &mut [u8], now_ns: i64) -> Result<(), u8> {
        let (&pointer, &control) = bytes.get(2).zip(bytes.get(3)).ok_or(2u8)?;
        let (at, overflow, flag) = (usize::from(pointer).wrapping_sub(1), control >> 4, control & 0x0f);
        if !(4..=bytes.len()).contains(&at) {
            return Err(2);
        }
        let (now, len) = (time_of_day_ms(now_ns), bytes.len());
        match flag {
            0 if at + 4 <= len => {
                bytes[at..at + 4].copy_from_slice(&now);
                bytes[2] += 4;
            }
            1 if at + 8 <= len => {
                bytes[at..at + 4].copy_from_slice(&self.mine.octets());
                bytes[at + 4..at + 8].copy_from_slice(&now);
                bytes[2] += 8;
            }
            // Prespecified: only where the next address is one of ours.
            3 if at + 8 <= len => {
                if self.all.iter().any(|address| address.octets() == bytes[at..at + 4]) {
                    bytes[at + 4..at + 8].copy_from_slice(&now);
                    bytes[2] += 8;
                }
            }
            0 | 1 if overflow < 15 => bytes[3] = (overflow + 1) << 4 | flag,
            _ => return Err(3),
        }
        Ok(())
    }

    #[cold]
    fn process_options(&mut self, cx: &mut Cx<'_>, packet: &mut Packet, header_len: usize) -> Verdict {
        let now_ns = cx.now_ns();
        let filled = match packet.network_mut().and_then(|bytes| bytes.get_mut(..header_len)) {
            Some(header) => self.fill(header, now_ns),
            None => return Verdict::Drop(NO_HEADER),
        };
        match filled {
            Ok(()) => Verdict::Pass,
            Err(octet) => {
                self.drops += 1;
                packet.set_anno(Anno::ICMP_PARAMPROB, u64::from(octet));
                elements_shared::verdict::fail(self.outputs, "malformed IP option")
            }
        }
    }
}

impl Simple for IpGwOptions {
    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        // The marks say how long the header is without a look at the packet's data: 0.7 instead of 1.6 ns.
        match packet.network_header_len() {
            Some(..=ipv4::HEADER_LEN) => Verdict::Pass,
            Some(len) => self.process_options(cx, packet, len),
            None => Verdict::Drop(NO_HEADER),
        }
    }

    fn explain(&self, _look: &Look<'_>, packet: &mut Packet) -> Option<Decision> {
        match packet.network_header_len() {
            Some(..=ipv4::HEADER_LEN) => Some(Decision::new(Verdict::Pass, "no options")),
            Some(_) => None, // what it fills in depends on the time
            None => Some(Decision::new(Verdict::Drop(NO_HEADER), "")),
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("drops", |e: &mut IpGwOptions, _| e.drops).merged(Merge::Sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::send;
    use elements_testing::samples::{hostile, udp, with_options};
    use proptest::prelude::*;

    fn element() -> IpGwOptions {
        IpGwOptions::new(Ipv4Addr::new(9, 8, 7, 6))
    }

    fn header(options: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0u8; 20];
        bytes.extend_from_slice(options);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes[0] = 0x40 | (bytes.len() / 4) as u8;
        bytes
    }

    #[test]
    fn records_the_route() {
        let mut bytes = header(&[1, 7, 11, 8, 1, 1, 1, 1, 0, 0, 0, 0]);
        element().fill(&mut bytes, 0).expect("a good option");
        assert_eq!(bytes[20..32], [1, 7, 11, 12, 1, 1, 1, 1, 9, 8, 7, 6]);
        assert!(wire::checksum::verify(&bytes));
        element().fill(&mut bytes, 0).expect("a full option is left alone");
        let mut bad = header(&[7, 7, 3, 0, 0, 0, 0]);
        assert_eq!(element().fill(&mut bad, 0), Err(22)); // the pointer points before the data
        for pointer in [0, 1, 5, 255] {
            let mut bad = header(&[7, 7, pointer, 0, 0, 0, 0]);
            assert_eq!(element().fill(&mut bad, 0), Err(22), "{pointer}");
        }
        let mut long = header(&[7, 40, 4]);
        assert_eq!(element().fill(&mut long, 0), Err(21)); // the length runs out of the header
    }

    #[test]
    fn stamps_the_time() {
        let now_ns = 86_400_000_000_000 * 3 + 5_000_000; // 5 ms after midnight
        let mut plain = header(&[68, 8, 5, 0, 0, 0, 0, 0]);
        element().fill(&mut plain, now_ns).expect("good");
        assert_eq!(plain[20..28], [68, 8, 9, 0, 0, 0, 0, 5]);
        element().fill(&mut plain, now_ns).expect("overflow counts");
        assert_eq!(plain[23], 0x10);
        let mut addressed = header(&[68, 12, 5, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
        element().fill(&mut addressed, now_ns).expect("good");
        assert_eq!(addressed[22..32], [13, 1, 9, 8, 7, 6, 0, 0, 0, 5]);
        let mut other = header(&[68, 12, 5, 3, 1, 2, 3, 4, 0, 0, 0, 0]);
        element().fill(&mut other, now_ns).expect("not ours");
        assert_eq!(other[22], 5);
    }

    const BOTH: &str =
        "Inject -> MarkIPHeader -> o :: IPGWOptions(1.2.3.4, 5.6.7.8) -> Collect(0); o[1] -> Collect(1);";

    /// What becomes of options: the option area, or the byte that is wrong.
    fn outcome(options: &[u8]) -> Result<Vec<u8>, u64> {
        let mut padded = options.to_vec();
        padded.resize(options.len().next_multiple_of(4), 0);
        let flow = send(BOTH, [with_options(&padded, 2)]);
        let (at, packet) = &flow.seen[0];
        let header = ipv4::header_bytes(packet.data()).unwrap();
        assert!(wire::checksum::verify(header));
        if *at == 0 {
            Ok(header[20..20 + options.len()].to_vec())
        } else {
            Err(packet.anno(Anno::ICMP_PARAMPROB))
        }
    }

    /// Other options stay; the problem is where ICMPError expects it, and the checksum is right in spite of it.
    #[test]
    fn results_and_problems() {
        assert_eq!(send(BOTH, [udp(2)]).data(0), [udp(2)]);
        assert_eq!(outcome(&[1, 148, 4, 0, 0, 1]), Ok(vec![1, 148, 4, 0, 0, 1]));
        assert_eq!(outcome(&[1, 7, 7, 6, 0, 0, 0, 0]), Err(23));
        assert_eq!(outcome(&[7, 7, 4, 0, 0, 0, 0, 7, 7, 3, 0, 0, 0, 0]), Err(29));
        assert_eq!(outcome(&[1, 1, 1, 7]), Err(24));
        assert_eq!(outcome(&[68, 8, 9, 0xf0, 1, 1, 1, 1]), Err(23));
        assert_eq!(outcome(&[68, 8, 4, 0, 1, 1, 1, 1]), Err(22));
        assert_eq!(outcome(&[68, 8, 5, 2, 1, 1, 1, 1]), Err(23));
    }

    proptest! {
        #[test]
        fn arbitrary_options_never_panic(options in prop::collection::vec(any::<u8>(), 0..=40), now in any::<i64>()) {
            let mut bytes = header(&options);
            if element().fill(&mut bytes, now).is_ok() {
                prop_assert!(wire::checksum::verify(&bytes));
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn whatever_comes(packets in hostile()) {
            let n = packets.len() as u64;
            let mut flow = send(BOTH, packets);
            prop_assert_eq!(flow.seen.len() as u64 + flow.drops().iter().map(|(_, n)| n).sum::<u64>(), n);
            prop_assert_eq!(flow.read("o.drops"), flow.data(1).len().to_string());
            for (at, packet) in &flow.seen {
                let pointer = packet.anno(Anno::ICMP_PARAMPROB);
                prop_assert!(*at == 0 || (21..=60).contains(&pointer), "{pointer}");
            }
        }
    }
}
