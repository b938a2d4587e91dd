//! Rewrites ICMP echo requests and replies.
//!
//! ```click
//! ICMPPingRewriter(INPUTSPEC, ... [, KEYWORDS])
//! ```
//!
//! Lets pings pass through a network address translator: it does with echo identifiers what IPRewriter does with
//! ports. A request of a new flow (source address, destination address, identifier) is rewritten according to its
//! input's specification, in which the source port stands for the identifier; its replies are turned back into
//! replies to the original request.
//!
//! Replies without a mapping, and other packets, including later fragments, are dropped, or pass unchanged if the
//! input's specification is `pass`.
//!
//! Unlike in Click, it never chooses an identifier that another flow with the same addresses uses. When the
//! configuration is replaced, flows move to a rewriter of the same name, as with IPRewriter.
//!
//! Ports: 1 or more inputs, 1 or more outputs. Processing: push. Workers: shared.
//!
//! # Arguments
//! One input specification for each input, as for IPRewriter, and these keywords:
//! - `TIMEOUT` (seconds, default 5 minutes): idle time after which a flow's mappings are removed.
//! - `GUARANTEE` (seconds, default 5): how long a flow is guaranteed to stay after each packet.
//! - `REAP_INTERVAL`, `MAPPING_CAPACITY`, `QUOTA`, `QUOTA_PREFIX`, `DST_ANNO`, `REPLY_ANNO`, `UNMAPPED`: as for IPRewriter.
//! - `MAPPING` (`endpoint-independent` or `address-and-port-dependent`, default `address-and-port-dependent`): as for IPRewriter,
//!   of an address and identifier inside, which with `endpoint-independent` become the same whomever they ask (RFC 5508,
//!   REQ-1). Only whom they have asked can answer.
//!
//! # Handlers
//! - `table` (read): the table, in the format of IPRewriter's, with addresses and identifier:
//!   `(SRC, DST, ID) => (SRC, DST, ID)`. In lines for replies, identifiers are larger by 256, as Click shows them.
//!   `mappings` is an older name.
//! - `table_size`, `nmappings`, `mapping_failures`, `made`, `evictions`, `expiries`, `quota_refusals`, `counters`,
//!   `counters_json`, `size`, `patterns` (read), `capacity`, `pattern0`, ... (read,
//!   write), `clear` (write), `flows`, `flows_json`, `count`, `endpoints`, `endpoints_json` (read), `kill`, `flows_load` (write): as for
//!   IPRewriter.
//!
//! # Events
//! As for IPRewriter.
//!
//! # Example
//! ```click
//! rw :: ICMPPingRewriter(pattern 18.26.4.24 0-65535 - - 0 1, drop);
//! ```
//!
//! # See also
//! IPRewriter, ICMPRewriter, ICMPPingResponder

use super::apply::{self, ICMP_ID, split, word};
use super::nat::{Kind, Nat, next_id};
use super::record::Flow;
use super::rewriter::{self, Protocol};
use elements_shared::flow_id::{FlowId, Key};
use packet::Packet;
use rcu::Turn;
use router::{Class, Residency};
use wire::{icmpv4, ip_proto};

/// The class.
pub(crate) const CLASS: Class = Class::new("ICMPPingRewriter", rewriter::create::<Echo>)
    .ports("1-/1-")
    .processing("h/h")
    .flow("x/x")
    .residency(Residency::Shared)
    .keeps("flows", "MAPPING_CAPACITY", 1_048_576, 160)
    .doc(router::manual!("icmp_ping_rewriter.rs"));

/// ICMP echo requests and replies.
struct Echo;

impl Protocol for Echo {
    const KIND: Kind = Kind::Ping;

    fn key(nat: &Nat, packet: &Packet) -> Option<(Key, u8)> {
        let (ip, icmp) = split(packet.network()?)?;
        let (&kind, identifier) = (icmp.first()?, word(icmp, ICMP_ID)?);
        if ip.protocol() != ip_proto::ICMP || !ip.is_first_fragment() {
            return None;
        }
        let (sport, dport) = match kind {
            icmpv4::kind::ECHO => (identifier, next_id(identifier)),
            icmpv4::kind::ECHO_REPLY => (next_id(identifier), identifier),
            _ => return None,
        };
        let id = FlowId::new(ip.src(), sport, ip.dst(), dport);
        Some((Key::new(nat.map(ip_proto::ICMP), id), ip_proto::ICMP))
    }

    fn may_begin(packet: &Packet) -> bool {
        let kind = packet.network().and_then(split).and_then(|(_, icmp)| icmp.first());
        kind == Some(&icmpv4::kind::ECHO)
    }

    fn apply(packet: &mut [u8], _turn: Turn<'_>, flow: &Flow, direction: usize) -> u16 {
        apply::echo(packet, flow, direction);
        flow.flags()
    }
}

#[cfg(test)]
mod tests {
    use crate::rewrite::samples::{ends, icmp, udp};
    use crate::testing::send;

    fn ping(kind: u8, id: u8, src: &str, dst: &str) -> Vec<u8> {
        icmp(kind, [0, id, 0, 1], src, dst, b"ping")
    }

    fn nat(rest: &str) -> String {
        format!(
            "rw :: ICMPPingRewriter({rest}); Inject -> c :: Classifier(12/0a, -);
             c[0] -> MarkIPHeader -> [0]rw; c[1] -> MarkIPHeader -> [1]rw; rw[0] -> Collect(0); rw[1] -> Collect(1);"
        )
    }

    /// Two hosts ping with the same identifier; each gets the replies to its own pings.
    #[test]
    fn equal_identifiers_of_two_hosts_are_told_apart() {
        let far = "5.6.7.8";
        let packets = [
            ping(8, 7, "10.0.0.1", far),
            ping(8, 7, "10.0.0.2", far),
            ping(0, 101, far, "1.2.3.4"),
            ping(0, 100, far, "1.2.3.4"),
            ping(0, 102, far, "1.2.3.4"),
            ping(8, 100, far, "1.2.3.4"),
            udp("10.0.0.1:1", "5.6.7.8:1"),
        ];
        let mut flow = send(&nat("pattern 1.2.3.4 100-110# - - 0 1, drop"), packets);
        assert_eq!(ends(&flow.data(0)), ["1.2.3.4 5.6.7.8 100", "1.2.3.4 5.6.7.8 101"]);
        assert_eq!(ends(&flow.data(1)), ["5.6.7.8 10.0.0.2 7", "5.6.7.8 10.0.0.1 7"]);
        assert_eq!(flow.drops(), [("no mapping", 1), ("no packet that can be rewritten", 2)]);
        let table = [
            "(5.6.7.8, 1.2.3.4, 357) => (5.6.7.8, 10.0.0.2, 263) [0 *1] i0 exp300",
            "(5.6.7.8, 1.2.3.4, 356) => (5.6.7.8, 10.0.0.1, 263) [0 *1] i0 exp300",
            "(10.0.0.1, 5.6.7.8, 7) => (1.2.3.4, 5.6.7.8, 100) [*0 1] i0 exp300",
            "(10.0.0.2, 5.6.7.8, 7) => (1.2.3.4, 5.6.7.8, 101) [*0 1] i0 exp300",
        ];
        assert_eq!(flow.read("rw.table").lines().collect::<Vec<_>>(), table);
    }

    /// With endpoint-independent mapping a host's identifier becomes the same whomever it asks, and no other host's. Who was not asked
    /// does not answer; errors come back.
    #[test]
    fn one_identifier_for_all_destinations() {
        let (b, c) = ("5.6.7.8", "5.6.7.9");
        let packets = [
            ping(8, 7, "10.0.0.1", b),
            ping(8, 7, "10.0.0.2", c),
            ping(8, 7, "10.0.0.1", c),
            ping(0, 100, c, "1.2.3.4"),
            ping(0, 101, b, "1.2.3.4"),
            ping(8, 99, b, "1.2.3.4"),
            ping(0, 101, c, "1.2.3.4"),
        ];
        let sent = send(&nat("pattern 1.2.3.4 100-110# - - 0 1, drop"), packets.clone());
        assert_eq!(
            ends(&sent.data(0)),
            ["1.2.3.4 5.6.7.8 100", "1.2.3.4 5.6.7.9 101", "1.2.3.4 5.6.7.9 102"]
        );
        let mut flow =
            send(&nat("pattern 1.2.3.4 100-110# - - 0 1, drop, MAPPING endpoint-independent"), packets);
        assert_eq!(
            ends(&flow.data(0)),
            ["1.2.3.4 5.6.7.8 100", "1.2.3.4 5.6.7.9 101", "1.2.3.4 5.6.7.9 100"]
        );
        assert_eq!(ends(&flow.data(1)), ["5.6.7.9 10.0.0.1 7", "5.6.7.9 10.0.0.2 7"]);
        assert_eq!(flow.drops(), [("no mapping", 1), ("no packet that can be rewritten", 1)]);
        let endpoints = flow.read("rw.endpoints");
        let mut endpoints: Vec<_> = endpoints.lines().collect();
        endpoints.sort_unstable();
        assert_eq!(
            endpoints,
            ["icmp 10.0.0.1 7 > 1.2.3.4 100 i0 [2]", "icmp 10.0.0.2 7 > 1.2.3.4 101 i0 [1]"]
        );
        assert_eq!(flow.read("rw.size"), "5");
    }

    /// A reply that becomes nothing but zeros checks, whatever a link has put behind it; so does one that has more.
    #[test]
    fn replies_of_zeros() {
        let far = "5.6.7.8";
        let reply = |rest, payload| icmp(0, rest, far, "1.2.3.4", payload);
        let (zeros, more) = (reply([0, 100, 0, 0], &[0; 6]), reply([0, 100, 0, 0], &[0xff, 0xff, 0, 0]));
        let padded = [&zeros[..], b"padding"].concat();
        let packets = [icmp(8, [0; 4], "10.0.0.1", far, b""), zeros.clone(), more, padded];
        let flow = send(&nat("pattern 1.2.3.4 100-110# - - 0 1, drop"), packets);
        let mut replies = flow.data(1);
        replies[2].truncate(zeros.len());
        assert_eq!(ends(&replies), ["5.6.7.8 10.0.0.1 0"; 3]);
        let sums: Vec<&[u8]> = replies.iter().map(|reply| &reply[22..24]).collect();
        assert_eq!(sums, [[0xff; 2], [0; 2], [0xff; 2]]);
    }

    #[test]
    fn unknown_packets_pass_where_the_specification_says_so() {
        let packets = [ping(0, 1, "5.6.7.8", "1.2.3.4"), udp("5.6.7.8:1", "1.2.3.4:1")];
        let flow = send(&nat("drop, pass 1"), packets.clone());
        assert_eq!(flow.data(1), packets);
    }
}
