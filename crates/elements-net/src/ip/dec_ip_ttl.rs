//! Decrements the time to live.
//!
//! ```click
//! DecIPTTL([KEYWORDS])
//! ```
//!
//! Expects packets with a marked IP header. Decrements the TTL and updates the checksum incrementally (RFC 1624).
//! Packets whose TTL is 0 or 1 leave unchanged by output 1 if it is connected, for ICMPError, and are dropped
//! otherwise.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic; output 1 is push. Workers: replicated.
//!
//! # Arguments
//! - `ACTIVE` (boolean, default true): whether to do anything.
//! - `MULTICAST` (boolean, default true): whether to process packets to multicast addresses too.
//!
//! # Handlers
//! - `drops` (read): packets whose TTL had expired.
//! - `active` (read, write): the argument.
//!
//! # Example
//! ```click
//! InfiniteSource -> Strip(14) -> CheckIPHeader -> dt :: DecIPTTL -> Discard; dt[1] -> Discard
//! ```
//!
//! # See also
//! ICMPError, CheckIPHeader, DecIP6HLIM

use elements_shared::ip_header::{NO_HEADER, header_mut};
use packet::Packet;
use router::{
    Class, Config, ConfigError, Cx, Decision, Element, Flags, Handlers, Look, Merge, PerPacket, Simple,
    Verdict,
};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("DecIPTTL", create).ports("1/1-2").processing("a/ah").doc(router::manual!("dec_ip_ttl.rs"));

/// The element; also a part of IPOutputCombo.
pub(super) struct DecIpTtl {
    active: bool,
    multicast: bool,
    outputs: usize,
    drops: u64,
}

impl DecIpTtl {
    /// One that treats all packets; those whose time is up leave at output 1.
    pub(super) fn new() -> DecIpTtl {
        DecIpTtl { active: true, multicast: true, outputs: 2, drops: 0 }
    }
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = DecIpTtl { outputs: config.outputs(), ..DecIpTtl::new() };
    config.args().keyword("ACTIVE", &mut e.active).keyword("MULTICAST", &mut e.multicast).finish()?;
    Ok(Box::new(PerPacket(e)))
}

impl Simple for DecIpTtl {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if !self.active {
            return Verdict::Pass;
        }
        let Some(mut header) = header_mut(packet) else { return Verdict::Drop(NO_HEADER) };
        if !self.multicast && header.dst().is_multicast() {
            return Verdict::Pass;
        }
        if header.ttl() <= 1 {
            self.drops += 1;
            return elements_shared::verdict::fail(self.outputs, "time to live expired");
        }
        header.decrement_ttl();
        Verdict::Pass
    }

    fn explain(&self, _look: &Look<'_>, packet: &mut Packet) -> Option<Decision> {
        let Some(mut header) = header_mut(packet) else {
            return Some(Decision::new(Verdict::Drop(NO_HEADER), ""));
        };
        if !self.active || !self.multicast && header.dst().is_multicast() {
            return Some(Decision::new(Verdict::Pass, ""));
        }
        if header.ttl().saturating_sub(1) == 0 {
            let verdict = elements_shared::verdict::fail(self.outputs, "time to live expired");
            return Some(Decision::new(verdict, "time to live expired"));
        }
        header.set_ttl(header.ttl() - 1);
        header.fill_checksum();
        Some(Decision::new(Verdict::Pass, ""))
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("drops", |e: &mut DecIpTtl, _| e.drops).merged(Merge::Sum);
        h.read("active", |e: &mut DecIpTtl, _| e.active).flagged(Flags::CHECKBOX);
        h.write("active", |e: &mut DecIpTtl, cx, text| {
            e.active = router::value(cx, text)?;
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{send, send_one};
    use elements_testing::samples::{DST, SRC, edited, hostile, udp, with_addresses};
    use proptest::prelude::*;
    use wire::ipv4::{self, Header};

    const BOTH: &str = "Inject -> MarkIPHeader -> t :: DecIPTTL -> Collect(0); t[1] -> Collect(1);";

    #[test]
    fn expired_packets_leave_unchanged() {
        let old = [0, 1].map(|ttl| edited(udp(4), |ip| ip.set_ttl(ttl)));
        let mut flow = send(BOTH, old.clone());
        assert_eq!(flow.data(1), old);
        assert_eq!(flow.read("t.drops"), "2");
        let flow = send("Inject -> MarkIPHeader -> DecIPTTL -> Collect(0)", old);
        assert_eq!((flow.seen.len(), flow.drops()), (0, vec![("time to live expired", 2)]));
    }

    #[test]
    fn inactive_or_multicast() {
        let group = with_addresses(udp(4), SRC, [224, 0, 0, 9].into());
        for (arguments, ttls) in [("MULTICAST false", [64, 63]), ("ACTIVE false", [64, 64]), ("", [63, 63])] {
            let config = format!("Inject -> MarkIPHeader -> DecIPTTL({arguments}) -> Collect(0)");
            let data = send(&config, [group.clone(), udp(4)]).data(0);
            assert_eq!([data[0][8], data[1][8]], ttls, "{arguments}");
        }
    }

    #[test]
    fn needs_a_header() {
        assert_eq!(send_one("Inject -> DecIPTTL -> Collect(0)", udp(4)).drops(), [("no IP header", 1)]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// The adjusted checksum is the one that a recomputation gives, and nothing else changes.
        #[test]
        fn checksum_stays_right(headers in prop::collection::vec(any::<[u8; 20]>(), 40)) {
            let sent: Vec<Vec<u8>> = headers.iter().map(|header| edited(udp(0), |ip| {
                let random = Header::new(header);
                ip.set_tos(random.tos());
                ip.set_id(random.id());
                ip.set_fragment_field(random.fragment_field());
                ip.set_ttl(random.ttl().max(2));
                ip.set_protocol(random.protocol());
                ip.set_src(random.src());
                ip.set_dst(DST);
            })).collect();
            let flow = send(BOTH, sent.clone());
            let expected: Vec<_> = sent.into_iter().map(|data| edited(data, |ip| ip.set_ttl(ip.ttl() - 1))).collect();
            prop_assert_eq!(flow.data(0), expected);
        }

        #[test]
        fn whatever_comes(packets in hostile()) {
            let n = packets.len() as u64;
            let flow = send(BOTH, packets);
            prop_assert_eq!(flow.seen.len() as u64 + flow.drops().iter().map(|(_, n)| n).sum::<u64>(), n);
            prop_assert!(flow.data(1).iter().all(|data| data[8] <= 1));
            prop_assert!(flow.data(0).iter().all(|data| data.len() >= ipv4::HEADER_LEN));
        }
    }
}
