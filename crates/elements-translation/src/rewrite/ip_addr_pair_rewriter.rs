//! Rewrites addresses of IP packets, by pairs of addresses.
//!
//! ```click
//! IPAddrPairRewriter(INPUTSPEC, ... [, KEYWORDS])
//! ```
//!
//! Works as IPAddrRewriter does, but for each pair of source and destination address: two hosts can use the same new
//! address towards different destinations, and destinations can be rewritten too.
//!
//! Ports: 1 or more inputs, 1 or more outputs. Processing: push. Workers: shared.
//!
//! # Arguments
//! One input specification for each input, as for IPAddrRewriter, except that a pattern has a destination:
//! - `pattern SADDR DADDR FOUTPUT ROUTPUT`: SADDR as for IPAddrRewriter; DADDR is an address, or `-` to keep the
//!   destination.
//!
//! Keywords: as for IPAddrRewriter.
//!
//! # Handlers
//! - `table` (read): the table, in the format of IPRewriter's, with pairs of addresses: `(SRC, DST) => (SRC, DST)`.
//!   `mappings` is an older name.
//! - `table_size`, `nmappings`, `mapping_failures`, `made`, `evictions`, `expiries`, `quota_refusals`, `counters`,
//!   `counters_json`, `size`, `patterns` (read), `capacity`, `pattern0`, ... (read,
//!   write), `clear` (write), `flows`, `flows_json`, `count` (read), `kill`, `flows_load` (write): as for IPRewriter.
//!
//! # Events
//! As for IPRewriter.
//!
//! # Example
//! ```click
//! rw :: IPAddrPairRewriter(pattern - 10.0.0.2 0 1, drop);
//! ```
//!
//! # See also
//! IPAddrRewriter, IPRewriter

use super::apply::{self, split};
use super::nat::{Kind, Nat};
use super::record::Flow;
use super::rewriter::{self, Protocol};
use elements_shared::flow_id::{FlowId, Key};
use packet::Packet;
use rcu::Turn;
use router::{Class, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("IPAddrPairRewriter", rewriter::create::<Pair>)
    .ports("1-/1-")
    .processing("h/h")
    .flow("x/x")
    .residency(Residency::Shared)
    .keeps("flows", "MAPPING_CAPACITY", 1_048_576, 160)
    .doc(router::manual!("ip_addr_pair_rewriter.rs"));

/// Any packet, by both addresses.
struct Pair;

impl Protocol for Pair {
    const KIND: Kind = Kind::Pair;

    fn key(nat: &Nat, packet: &Packet) -> Option<(Key, u8)> {
        let (ip, _) = split(packet.network()?)?;
        Some((Key::new(nat.map(0), FlowId::new(ip.src(), 0, ip.dst(), 0)), 0))
    }

    fn apply(packet: &mut [u8], _turn: Turn<'_>, flow: &Flow, direction: usize) -> u16 {
        apply::addresses(packet, flow, direction, flow.rewritten(direction));
        flow.flags()
    }
}

#[cfg(test)]
mod tests {
    use crate::rewrite::samples::{ends, udp};
    use crate::testing::send;

    /// One new address serves two hosts with different destinations; replies go to the right one.
    #[test]
    fn one_new_address_serves_two_hosts() {
        let config =
            "rw :: IPAddrPairRewriter(pattern 1.0.0.5 - 0 1, drop); Inject -> c :: Classifier(12/0a, -);
                      c[0] -> MarkIPHeader -> [0]rw; c[1] -> MarkIPHeader -> [1]rw;
                      rw[0] -> Collect(0); rw[1] -> Collect(1);";
        let packets = [
            udp("10.0.0.1:1", "5.6.7.8:80"),
            udp("10.0.0.2:1", "5.6.7.9:80"),
            udp("5.6.7.8:80", "1.0.0.5:1"),
            udp("5.6.7.9:81", "1.0.0.5:1"),
            udp("5.6.7.7:80", "1.0.0.5:1"),
        ];
        let mut flow = send(config, packets);
        assert_eq!(ends(&flow.data(0)), ["1.0.0.5:1 5.6.7.8:80", "1.0.0.5:1 5.6.7.9:80"]);
        assert_eq!(ends(&flow.data(1)), ["5.6.7.8:80 10.0.0.1:1", "5.6.7.9:81 10.0.0.2:1"]);
        let first = "(10.0.0.1, 5.6.7.8) => (1.0.0.5, 5.6.7.8) [*0 1] i0 exp7200\n\
                     (5.6.7.8, 1.0.0.5) => (5.6.7.8, 10.0.0.1) [0 *1] i0 exp7200\n";
        assert!(flow.read("rw.table").starts_with(first));
        let annotations: Vec<_> = flow.seen.iter().map(|(_, p)| p.dst_ip().to_string()).collect();
        assert_eq!(annotations, ["5.6.7.8", "5.6.7.9", "10.0.0.1", "10.0.0.2"]);
    }

    #[test]
    fn destinations_change_too() {
        let config =
            "Inject -> MarkIPHeader -> rw :: IPAddrPairRewriter(pattern - 9.9.9.9 0 0) -> Collect(0);";
        let flow = send(config, [udp("10.0.0.1:1", "5.6.7.8:80"), udp("9.9.9.9:80", "10.0.0.1:1")]);
        assert_eq!(ends(&flow.data(0)), ["10.0.0.1:1 9.9.9.9:80", "5.6.7.8:80 10.0.0.1:1"]);
    }
}
