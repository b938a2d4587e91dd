//! Combines the usual steps of an IP router's output path.
//!
//! ```click
//! IPOutputCombo(COLOR, IPADDR, MTU)
//! FlowIPOutputCombo(COLOR, IPADDR, MTU)
//! ```
//!
//! Stands for `DropBroadcasts -> PaintTee(COLOR) -> IPGWOptions(IPADDR) -> FixIPSrc(IPADDR) -> DecIPTTL`, and a check
//! whether a packet is longer than MTU. Expects packets that start with a marked IP header. FlowIPOutputCombo is
//! FastClick's name for it.
//!
//! Packets leave by output 0. A copy of each packet whose colour is COLOR leaves by output 1 first, for a redirect.
//! Packets with a malformed option leave by output 2, those whose TTL has expired by output 3, and those that are too
//! long by output 4, for IPFragmenter. Link-layer broadcasts are dropped.
//!
//! Ports: 1 input, 5 outputs. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `COLOR` (integer, 0 to 255): the colour of the interface by which packets leave.
//! - `IPADDR` (address): this router's address on that interface.
//! - `MTU` (integer): the maximum packet size, in bytes.
//!
//! # Example
//! ```click
//! ... -> c :: IPOutputCombo(1, 18.26.4.24, 1500) -> ARPQuerier...
//! c[1] -> ICMPError(18.26.4.24, redirect, host) -> ...
//! c[2] -> ICMPError(18.26.4.24, parameterproblem) -> ...
//! c[3] -> ICMPError(18.26.4.24, timeexceeded) -> ...
//! c[4] -> IPFragmenter(1500) -> ...
//! ```
//!
//! # See also
//! IPInputCombo, DropBroadcasts, PaintTee, IPGWOptions, FixIPSrc, DecIPTTL, IPFragmenter

use super::dec_ip_ttl::DecIpTtl;
use super::drop_broadcasts::{REASON, is_broadcast};
use super::fix_ip_src::FixIpSrc;
use super::ip_gw_options::IpGwOptions;
use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Simple, Verdict};
use std::net::Ipv4Addr;

/// The class.
pub(crate) const CLASS: Class = Class::new("IPOutputCombo", create)
    .ports("1/5")
    .processing("h/h")
    .copies()
    .doc(router::manual!("ip_output_combo.rs"));
const TO_REDIRECT: usize = 1;
const BAD_OPTION: usize = 2;
const EXPIRED: usize = 3;
const TOO_LONG: usize = 4;

struct IpOutputCombo {
    color: u8,
    options: IpGwOptions,
    source: FixIpSrc,
    ttl: DecIpTtl,
    mtu: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut color, mut address, mut mtu) = (0, Ipv4Addr::UNSPECIFIED, 0u32);
    config
        .args()
        .required("COLOR", &mut color)
        .required("IPADDR", &mut address)
        .required("MTU", &mut mtu)
        .finish()?;
    let (options, source) = (IpGwOptions::new(address), FixIpSrc(address));
    Ok(Box::new(IpOutputCombo { color, options, source, ttl: DecIpTtl::new(), mtu: mtu as usize }))
}

impl IpOutputCombo {
    #[inline]
    fn to_copy(&self, packet: &Packet) -> bool {
        packet.paint() == self.color && !is_broadcast(packet)
    }

    fn copy(&self, cx: &mut Cx<'_>, batch: &Batch) {
        let mut copies = cx.batch();
        for packet in batch.iter().filter(|packet| self.to_copy(packet)) {
            match cx.pool().copy(packet) {
                Some(copy) => copies.push(copy),
                None => cx.count_drops("out of memory", 1),
            }
        }
        cx.emit(TO_REDIRECT, copies);
    }

    /// What becomes of the packet itself.
    #[inline(always)] // into the loop over the batch
    fn decide(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if is_broadcast(packet) {
            return Verdict::Drop(REASON);
        }
        match self.options.process(cx, packet) {
            Verdict::Pass => {}
            Verdict::Output(_) => return Verdict::Output(BAD_OPTION),
            drop => return drop,
        }
        self.source.process(cx, packet);
        match self.ttl.process(cx, packet) {
            Verdict::Pass if packet.len() > self.mtu => Verdict::Output(TOO_LONG),
            Verdict::Output(_) => Verdict::Output(EXPIRED),
            verdict => verdict,
        }
    }
}

impl Element for IpOutputCombo {
    #[inline]
    fn push_one(&mut self, cx: &mut Cx<'_>, _port: usize, packet: &mut Packet) -> Option<Verdict> {
        (!self.to_copy(packet)).then(|| self.decide(cx, packet))
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        if batch.iter().any(|packet| self.to_copy(packet)) {
            self.copy(cx, &batch);
        }
        cx.scatter(batch, |cx, packet| self.decide(cx, packet));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Flow, Sent, send};
    use elements_testing::samples::{hostile, udp};
    use packet::{Anno, Kind};
    use proptest::prelude::*;

    const COMBO: &str = "Inject -> MarkIPHeader -> c :: IPOutputCombo(7, 18.26.4.24, 60) -> Collect(0);
        c[1] -> Collect(1); c[2] -> Paint(2) -> Collect(4); c[3] -> Paint(3) -> Collect(4);
        c[4] -> Paint(4) -> Collect(3);";
    const PARTS: &str = "Inject -> MarkIPHeader -> DropBroadcasts -> p :: PaintTee(7)
        -> o :: IPGWOptions(18.26.4.24) -> FixIPSrc(18.26.4.24) -> t :: DecIPTTL -> l :: CheckLength(60) -> Collect(0);
        p[1] -> Collect(1); o[1] -> Paint(2) -> Collect(4); t[1] -> Paint(3) -> Collect(4);
        l[1] -> Paint(4) -> Collect(3);";

    fn seen(flow: &Flow, at: usize) -> Vec<(u8, Vec<u8>)> {
        let here = flow.seen.iter().filter(|(place, _)| *place == at);
        here.map(|(_, packet)| (packet.paint(), packet.data().to_vec())).collect()
    }

    /// The copy has the packet as it came.
    #[test]
    fn copies_first() {
        let flow =
            send(COMBO, [Sent { data: udp(3), annotations: vec![(Anno::PAINT, 7)], ..Sent::default() }]);
        assert_eq!(flow.data(1), [udp(3)]);
        assert_eq!(flow.data(0).len(), 1);
        assert_eq!(flow.seen[0].0, 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// The same as the elements that it stands for.
        #[test]
        fn as_its_parts(packets in hostile(), marks in prop::collection::vec((0u64..2, 6u64..8, 0u8..5), 40)) {
            let sent: Vec<Sent> = packets.into_iter().zip(marks).map(|(data, (fix, paint, kind))| {
                let kind = if kind == 0 { Kind::Broadcast } else { Kind::Host };
                Sent { data, kind, annotations: vec![(Anno::FIX_IP_SRC, fix), (Anno::PAINT, paint)] }
            }).collect();
            let (combo, parts) = (send(COMBO, sent.clone()), send(PARTS, sent));
            for at in [0, 1, 3, 4] {
                let sorted = |flow: &Flow| { let mut seen = seen(flow, at); seen.sort(); seen };
                prop_assert_eq!(sorted(&combo), sorted(&parts));
            }
            let dropped = |flow: &Flow| flow.drops().iter().map(|(_, n)| n).sum::<u64>();
            prop_assert_eq!(dropped(&combo), dropped(&parts));
        }
    }
}
