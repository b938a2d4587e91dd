//! Rewrites addresses and ports of UDP packets.
//!
//! ```click
//! UDPRewriter(INPUTSPEC, ... [, KEYWORDS])
//! ```
//!
//! Works as IPRewriter does, but does not track the state of TCP connections, and does not distinguish protocols: it
//! rewrites UDP, TCP and DCCP packets, all in one table.
//!
//! Ports: 1 or more inputs, 1 or more outputs. Processing: push. Workers: shared.
//!
//! # Arguments
//! One input specification for each input, as for IPRewriter, and these keywords:
//! - `TIMEOUT` (seconds, default 5 minutes): idle time after which a flow's mappings are removed. `UDP_TIMEOUT` is
//!   another name.
//! - `STREAMING_TIMEOUT` (seconds, default TIMEOUT): the same for flows that have had at least three packets, in both
//!   directions. `UDP_STREAMING_TIMEOUT` is another name.
//! - `GUARANTEE` (seconds, default 5): how long a flow is guaranteed to stay after each packet, until it is answered: then for all of its time.
//!   `UDP_GUARANTEE` is another name.
//! - `REAP_INTERVAL`, `MAPPING_CAPACITY`, `QUOTA`, `QUOTA_PREFIX`, `MAPPING`, `FILTERING`, `DST_ANNO`, `REPLY_ANNO`, `UNMAPPED`: as for IPRewriter.
//!
//! # Handlers
//! - `table` (read): the table, in the format of IPRewriter's `udp_table`. `mappings` is an older name.
//! - `table_size`, `nmappings`, `mapping_failures`, `made`, `evictions`, `expiries`, `quota_refusals`, `counters`,
//!   `counters_json`, `size`, `patterns` (read), `capacity`, `pattern0`, ... (read,
//!   write), `clear` (write), `flows`, `flows_json`, `count`, `endpoints`, `endpoints_json` (read), `kill`, `flows_load`
//!   (write): as for IPRewriter.
//!
//! # Events
//! As for IPRewriter.
//!
//! # Example
//! ```click
//! rw :: UDPRewriter(pattern 18.26.4.24 50000-65535 - - 0 1, drop);
//! ```
//!
//! # See also
//! IPRewriter, TCPRewriter

use super::apply;
use super::nat::{Kind, Nat};
use super::record::Flow;
use super::rewriter::{self, Protocol};
use super::tcp_udp::key_of;
use elements_shared::flow_id::Key;
use packet::Packet;
use rcu::Turn;
use router::{Class, Residency};
use wire::ip_proto;

/// The class.
pub(crate) const CLASS: Class = Class::new("UDPRewriter", rewriter::create::<Ports>)
    .ports("1-/1-")
    .processing("h/h")
    .flow("x/x")
    .residency(Residency::Shared)
    .keeps("flows", "MAPPING_CAPACITY", 1_048_576, 160)
    .doc(router::manual!("udp_rewriter.rs"));

/// Whatever has ports where UDP has them.
struct Ports;

impl Protocol for Ports {
    const KIND: Kind = Kind::Udp;

    #[inline]
    fn key(nat: &Nat, packet: &Packet) -> Option<(Key, u8)> {
        let known = |protocol| matches!(protocol, ip_proto::TCP | ip_proto::UDP | ip_proto::DCCP);
        key_of(packet, |protocol| known(protocol).then(|| nat.map(protocol)))
    }

    #[inline]
    fn apply(packet: &mut [u8], _turn: Turn<'_>, flow: &Flow, direction: usize) -> u16 {
        apply::udp(packet, flow, direction)
    }
}

#[cfg(test)]
mod tests {
    use crate::rewrite::samples::{ends, tcp, udp};
    use crate::testing::send;
    use wire::tcp::flag::{RST, SYN};

    /// One table for all protocols, in which the state of TCP does not matter.
    #[test]
    fn protocols_share_mappings() {
        let config = "Inject -> MarkIPHeader -> rw :: UDPRewriter(pattern 1.2.3.4 40-50# - - 0 0, TIMEOUT 60,
                      STREAMING_TIMEOUT 90) -> Collect(0);";
        let (a, b) = ("10.0.0.1:1", "5.6.7.8:80");
        let mut flow = send(config, [tcp(a, b, SYN, (0, 0), b""), tcp(a, b, RST, (0, 0), b""), udp(a, b)]);
        assert_eq!(ends(&flow.data(0)), ["1.2.3.4:40 5.6.7.8:80"; 3]);
        let lines: Vec<String> = flow.read("rw.table").lines().map(str::to_owned).collect();
        assert_eq!(lines[1], "(10.0.0.1, 1, 5.6.7.8, 80) => (1.2.3.4, 40, 5.6.7.8, 80) [*0 0] i0 exp60");
        let mut flow = send(config, [udp(a, b), udp(b, "1.2.3.4:40"), udp(a, b)]);
        assert!(flow.read("rw.table").lines().all(|line| line.ends_with("exp90")));
    }
}
