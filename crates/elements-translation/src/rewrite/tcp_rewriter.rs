//! Rewrites addresses, ports and sequence numbers of TCP packets.
//!
//! ```click
//! TCPRewriter(INPUTSPEC, ... [, KEYWORDS])
//! ```
//!
//! Works as IPRewriter does, for TCP alone. In addition, elements that make a stream longer or shorter
//! (FTPPortMapper) can have it adjust the sequence and acknowledgement numbers of a connection, including those of
//! selective acknowledgements. IPRewriter can do that as well.
//!
//! Ports: 1 or more inputs, 1 or more outputs. Processing: push. Workers: shared.
//!
//! # Arguments
//! One input specification for each input, as for IPRewriter, and its keywords `TCP_TIMEOUT`, `TIMEOUT`,
//! `TCP_DONE_TIMEOUT`, `TCP_NODATA_TIMEOUT`, `TCP_GUARANTEE`, `GUARANTEE`, `REAP_INTERVAL`, `MAPPING_CAPACITY`, `QUOTA`, `QUOTA_PREFIX`,
//! `MAPPING`, `FILTERING`, `DST_ANNO`, `REPLY_ANNO` and `UNMAPPED`.
//!
//! # Handlers
//! - `table` (read): the table, in the format of IPRewriter's `tcp_table`; flows whose sequence numbers are adjusted
//!   show by how much. `mappings` is an older name.
//! - `lookup` (read, `SADDR SPORT DADDR DPORT`): like IPRewriter's `tcp_lookup`.
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
//! rw :: TCPRewriter(pattern 18.26.4.24 50000-65535 - - 0 1, drop);
//! ```
//!
//! # See also
//! IPRewriter, FTPPortMapper

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
pub(crate) const CLASS: Class = Class::new("TCPRewriter", rewriter::create::<Tcp>)
    .ports("1-/1-")
    .processing("h/h")
    .flow("x/x")
    .residency(Residency::Shared)
    .keeps("flows", "MAPPING_CAPACITY", 1_048_576, 160)
    .doc(router::manual!("tcp_rewriter.rs"));

/// TCP.
struct Tcp;

impl Protocol for Tcp {
    const KIND: Kind = Kind::Tcp;

    #[inline]
    fn key(nat: &Nat, packet: &Packet) -> Option<(Key, u8)> {
        key_of(packet, |protocol| (protocol == ip_proto::TCP).then(|| nat.map(protocol)))
    }

    #[inline]
    fn apply(packet: &mut [u8], turn: Turn<'_>, flow: &Flow, direction: usize) -> u16 {
        apply::tcp(packet, turn, flow, direction)
    }
}

#[cfg(test)]
mod tests {
    use crate::rewrite::samples::{ends, tcp, udp};
    use crate::testing::send;
    use wire::tcp::flag::{ACK, SYN};

    /// TCP is rewritten, UDP is not.
    #[test]
    fn tcp_only() {
        let config =
            "Inject -> MarkIPHeader -> rw :: TCPRewriter(pattern 1.2.3.4 40-50# - - 0 0) -> Collect(0);";
        let (a, b) = ("10.0.0.1:1", "5.6.7.8:80");
        let packets = [tcp(a, b, SYN, (9, 0), b""), udp(a, b), tcp(b, "1.2.3.4:40", SYN | ACK, (5, 10), b"")];
        let mut flow = send(config, packets);
        assert_eq!(ends(&flow.data(0)), ["1.2.3.4:40 5.6.7.8:80", "5.6.7.8:80 10.0.0.1:1"]);
        assert_eq!(flow.drops(), [("no packet that can be rewritten", 1)]);
        assert_eq!(flow.read_with("rw.lookup", "10.0.0.1 1 5.6.7.8 80"), "1.2.3.4 40 5.6.7.8 80");
        let first = "(10.0.0.1, 1, 5.6.7.8, 80) => (1.2.3.4, 40, 5.6.7.8, 80) [*0 0] i0 exp300\n";
        assert!(flow.read("rw.mappings").contains(first));
    }
}
