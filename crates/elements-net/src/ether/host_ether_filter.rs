//! Drops frames addressed to other hosts.
//!
//! ```click
//! HostEtherFilter(ETHER [, DROP_OWN, DROP_OTHER, OFFSET])
//! ```
//!
//! Does what a network interface with the address ETHER does: sets each frame's packet type annotation according to
//! its destination (this host, broadcast, multicast, another host), and filters. Frames that are filtered out, and
//! those without a complete Ethernet header, leave by output 1 if it is connected and are dropped otherwise.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic; output 1 is push. Workers: replicated.
//!
//! # Arguments
//! - `ETHER` (Ethernet address): this host's address.
//! - `DROP_OWN` (boolean, default false): whether to filter out frames that come from ETHER.
//! - `DROP_OTHER` (boolean, default true): whether to filter out frames to other hosts.
//! - `OFFSET` (integer, default 0): where the Ethernet header starts.
//!
//! # Handlers
//! - `ether` (read, write): this host's address.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> HostEtherFilter(0:1:2:3:4:5) -> Discard;
//! ```
//!
//! # See also
//! EtherSwitch, Classifier

use super::vlan::NO_HEADER;
use elements_shared::verdict::fail;
use packet::{Kind, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Simple, Verdict};
use wire::MacAddr;
use wire::ethernet::Header;

/// The class.
pub(crate) const CLASS: Class = Class::new("HostEtherFilter", create)
    .pure()
    .ports("1/1-2")
    .processing("a/ah")
    .live()
    .doc(router::manual!("host_ether_filter.rs"));

struct HostEtherFilter {
    address: MacAddr,
    drop_own: bool,
    drop_other: bool,
    offset: usize,
    outputs: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut address, mut drop_own, mut drop_other, mut offset) = (MacAddr::ZERO, false, true, 0_u32);
    config
        .args()
        .required("ETHER", &mut address)
        .positional("DROP_OWN", &mut drop_own)
        .positional("DROP_OTHER", &mut drop_other)
        .keyword("OFFSET", &mut offset)
        .finish()?;
    let (offset, outputs) = (offset as usize, config.outputs());
    Ok(Box::new(PerPacket(HostEtherFilter { address, drop_own, drop_other, offset, outputs })))
}

impl Simple for HostEtherFilter {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let bytes = packet.data().get(self.offset..).unwrap_or_default();
        let Ok(header) = Header::new_checked(bytes) else { return fail(self.outputs, NO_HEADER) };
        let (src, dst) = (header.src(), header.dst());
        if self.drop_own && src == self.address {
            return fail(self.outputs, "from this host");
        }
        let kind = match dst {
            dst if dst == self.address => Kind::Host,
            dst if dst.is_broadcast() => Kind::Broadcast,
            dst if dst.is_group() => Kind::Multicast,
            _ => Kind::OtherHost,
        };
        packet.set_kind(kind);
        if self.drop_other && kind == Kind::OtherHost {
            return fail(self.outputs, "to another host");
        }
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("ether", |e: &mut HostEtherFilter, _| e.address);
        h.write("ether", |e: &mut HostEtherFilter, cx, text| {
            e.address = router::value(cx, text)?;
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;
    use packet::Kind;

    fn frame(dst: u8, src: u8) -> Vec<u8> {
        [&[0xee, 0xee][..], &[dst; 6], &[src; 6], &[8, 0]].concat()
    }

    #[test]
    fn frames_are_told_apart_by_their_addresses() {
        let frames = || [frame(2, 2), frame(2, 4), frame(0xff, 4), frame(1, 4), frame(4, 6), vec![0; 15]];
        let kinds = |arguments: &str| -> Vec<(usize, Kind)> {
            let config = format!(
                "Inject -> f :: HostEtherFilter(2:2:2:2:2:2, {arguments}, OFFSET 2) -> Collect(0); f[1] -> Collect(1)"
            );
            send(&config, frames()).seen.iter().map(|(at, packet)| (*at, packet.kind())).collect()
        };
        use Kind::{Broadcast, Host, Multicast, OtherHost};
        let mut seen = kinds("true, false");
        seen.sort_by_key(|(at, _)| *at);
        assert_eq!(
            seen,
            [
                (0, Host),
                (0, Broadcast),
                (0, Multicast),
                (0, OtherHost),
                (1, Host), // not looked at further
                (1, Host)
            ]
        );
        let flow = send("Inject -> HostEtherFilter(2:2:2:2:2:2, OFFSET 2) -> Collect(0)", frames());
        assert_eq!(flow.seen.len(), 4);
        assert_eq!(flow.drops(), [("no Ethernet header", 1), ("to another host", 1)]);
    }
}
