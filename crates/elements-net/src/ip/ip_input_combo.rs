//! Combines the usual first steps of an IP router's input path.
//!
//! ```click
//! IPInputCombo(COLOR [, BADSRC, KEYWORDS])
//! ```
//!
//! Paints Ethernet frames, removes the Ethernet header, and checks and marks the IP header:
//! `Paint(COLOR) -> Strip(14) -> CheckIPHeader(BADSRC)`. The destination address annotation is set. Bad packets are
//! dropped; the first is reported.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated; counts add up.
//!
//! # Arguments
//! - `COLOR` (integer, 0 to 255): the colour.
//! - `BADSRC`, `INTERFACES`, `GOODDST`: as for CheckIPHeader.
//!
//! # Handlers
//! - `drops` (read): bad packets.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> IPInputCombo(1, 18.26.4.255 18.26.7.255) -> ...
//! ```
//!
//! # See also
//! Paint, Strip, CheckIPHeader, IPOutputCombo

use super::address_set::AddressSet;
use super::arguments::{Addresses, Prefixes};
use super::check_ip_header::mark_usual;
use packet::Packet;
use router::{Args, Class, Config, ConfigError, Cx, Element, Handlers, Merge, PerPacket, Simple, Verdict};
use std::net::Ipv4Addr;
use wire::{ethernet, ipv4};

/// The class.
pub(crate) const CLASS: Class = Class::new("IPInputCombo", create).doc(router::manual!("ip_input_combo.rs"));

/// Why packets are dropped.
const REASON: &str = "bad IP header";

struct IpInputCombo {
    color: u8,
    bad_sources: AddressSet,
    good_destinations: Vec<Ipv4Addr>,
    drops: u64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut color, mut interfaces, mut words) = (0, Prefixes::default(), Vec::new());
    let (mut bad, mut good, mut positional) =
        (Addresses::default(), Addresses::default(), Addresses::default());
    config
        .args()
        .required("COLOR", &mut color)
        .keyword("INTERFACES", &mut interfaces)
        .keyword("BADSRC", &mut bad)
        .keyword("GOODDST", &mut good)
        .rest(&mut words)
        .finish()?;
    let old_form = !words.is_empty();
    Args::new(words, config.scope()).positional("BADSRC", &mut positional).finish()?;
    bad.0.extend(positional.0);
    let (bad_sources, good_destinations) =
        super::check_ip_header::rules(bad.0, good.0, &interfaces, old_form);
    Ok(Box::new(PerPacket(IpInputCombo { color, bad_sources, good_destinations, drops: 0 })))
}

impl IpInputCombo {
    /// Whether a packet from there may not go there.
    #[inline]
    fn is_bad(&self, source: Ipv4Addr, destination: Ipv4Addr) -> bool {
        self.bad_sources.contains(source) && !self.good_destinations.contains(&destination)
    }

    /// A packet that has options, or a fault: None if the header is bad.
    fn check(&self, packet: &mut Packet) -> Option<()> {
        let extent = ipv4::check(packet.data(), true).ok()?;
        let header = ipv4::Header::new_checked(packet.data()).ok()?;
        let (source, destination) = (header.src(), header.dst());
        if self.is_bad(source, destination) {
            return None;
        }
        packet.set_network(0, extent.header_len);
        packet.set_dst_ip(destination);
        let padding = packet.len() - extent.total_len;
        (padding == 0 || packet.take(padding)).then_some(())
    }

    #[cold]
    fn unusual(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if self.check(packet).is_some() { Verdict::Pass } else { self.bad(cx) }
    }

    #[cold]
    fn bad(&mut self, cx: &mut Cx<'_>) -> Verdict {
        if self.drops == 0 {
            cx.complain("IP checksum failed", REASON);
        }
        self.drops += 1;
        Verdict::Drop(REASON)
    }
}

impl Simple for IpInputCombo {
    #[inline(always)] // one call less for every packet
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        packet.set_paint(self.color);
        if !packet.pull(ethernet::HEADER_LEN) {
            return self.bad(cx);
        }
        let is_usual = mark_usual(packet, 0, |header, source, destination| {
            ipv4::is_usual(header, true) && !self.is_bad(source, destination)
        });
        if is_usual { Verdict::Pass } else { self.unusual(cx, packet) }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("drops", |e: &mut IpInputCombo, _| e.drops).merged(Merge::Sum);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;
    use elements_testing::samples::{hostile, with_options};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// The same as the elements that it stands for, on good frames and bad ones.
        #[test]
        fn as_its_parts(packets in hostile(), bad in any::<bool>(), padding in 0usize..9) {
            let good = with_options(&[1, 1, 1, 0], 3);
            let frames: Vec<_> = packets.into_iter().chain([good]).map(|data| {
                [&[0xee; 14], &data[..], &vec![0; padding]].concat()
            }).chain([vec![1; 13]]).collect();
            let sources = if bad { ", 1.2.3.4 18.26.4.1" } else { "" };
            let mut combo = send(&format!("Inject -> c :: IPInputCombo(7{sources}) -> Collect(0)"), frames.clone());
            let check = sources.trim_start_matches(", ");
            let parts = send(&format!("Inject -> Paint(7) -> Strip(14) -> CheckIPHeader({check}) -> Collect(0)"), frames.clone());
            prop_assert_eq!(combo.data(0), parts.data(0));
            prop_assert_eq!(combo.read("c.drops"), (frames.len() - combo.seen.len()).to_string());
            for ((_, a), (_, b)) in combo.seen.iter().zip(&parts.seen) {
                prop_assert_eq!((a.paint(), a.dst_ip()), (7, b.dst_ip()));
                prop_assert_eq!((a.network_offset(), a.transport_offset()), (b.network_offset(), b.transport_offset()));
            }
        }
    }
}
