//! Rewrites source addresses of IP packets: a basic network address translator.
//!
//! ```click
//! IPAddrRewriter(INPUTSPEC, ... [, KEYWORDS])
//! ```
//!
//! Gives each source address a new address of its own, for packets of all protocols. Packets from a source with a
//! mapping get the new source address; packets to the new address get the original one as their destination. The
//! first packet of an unknown source is rewritten according to its input's specification. At most as many sources can
//! be in use at a time as there are new addresses.
//!
//! Fragments are rewritten too. The TCP and UDP checksums, which cover the addresses, are updated. When the
//! configuration is replaced, mappings move to a rewriter of the same name, as with IPRewriter.
//!
//! Ports: 1 or more inputs, 1 or more outputs. Processing: push. Workers: shared.
//!
//! # Arguments
//! One input specification for each input, as for IPRewriter, except that a pattern has no ports and no destination:
//! - `pattern SADDR - FOUTPUT ROUTPUT`: SADDR may be an address, a range `L-H` or a prefix `ADDRESS/LENGTH`, from
//!   which a random unused address is chosen; if `#` follows, addresses are chosen in sequence. `-` keeps the source
//!   as it is.
//!
//! Keywords:
//! - `TIMEOUT` (seconds, default 2 hours): idle time after which a source's mappings are removed.
//! - `GUARANTEE` (seconds, default 5): how long they are guaranteed to stay after each packet.
//! - `REAP_INTERVAL`, `MAPPING_CAPACITY`, `QUOTA`, `QUOTA_PREFIX`, `REPLY_ANNO`, `UNMAPPED`: as for IPRewriter.
//!
//! If the destination address changes, the destination annotation is set to it.
//!
//! # Handlers
//! - `table` (read): the table, one line per direction: source addresses or, in lines for replies, 0.0.0.0.
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
//! rw :: IPAddrRewriter(pattern 18.26.4.100-18.26.4.200 - 0 1, pass 1);
//! ```
//!
//! # See also
//! IPAddrPairRewriter, IPRewriter, StoreIPAddress

use super::apply::{self, split};
use super::flow_set::{FlowMatch, FlowSet};
use super::nat::{Kind, Nat, address_keys};
use super::record::{FORWARD, Flow};
use super::rewriter::{self, Protocol};
use elements_shared::flow_id::{FlowId, Key};
use packet::Packet;
use rcu::Turn;
use router::{Class, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("IPAddrRewriter", rewriter::create::<Source>)
    .ports("1-/1-")
    .processing("h/h")
    .flow("x/x")
    .residency(Residency::Shared)
    .keeps("flows", "MAPPING_CAPACITY", 1_048_576, 160)
    .doc(router::manual!("ip_addr_rewriter.rs"));

/// Any packet, by its source address or else its destination address.
struct Source;

fn addresses_of(packet: &[u8]) -> Option<FlowId> {
    let (ip, _) = split(packet)?;
    Some(FlowId::new(ip.src(), 0, ip.dst(), 0))
}

impl Protocol for Source {
    const KIND: Kind = Kind::Addr;

    fn key(nat: &Nat, packet: &Packet) -> Option<(Key, u8)> {
        let [by_source, _] = address_keys(addresses_of(packet.network()?)?);
        Some((Key::new(nat.map(0), by_source), 0))
    }

    fn find<'t>(
        set: &'t FlowSet,
        turn: Turn<'t>,
        key: Key,
        hash: u64,
        packet: &Packet,
    ) -> Option<FlowMatch<'t>> {
        let by_destination = || {
            let [_, id] = address_keys(addresses_of(packet.network()?)?);
            set.find(turn, Key::new(key.map(), id))
        };
        set.find_hashed(turn, key, hash).or_else(by_destination)
    }

    fn apply(packet: &mut [u8], _turn: Turn<'_>, flow: &Flow, direction: usize) -> u16 {
        if let Some(old) = addresses_of(packet) {
            let new = flow.rewritten(direction);
            let id = match direction {
                FORWARD => FlowId { saddr: new.saddr, ..old },
                _ => FlowId { daddr: new.daddr, ..old },
            };
            apply::addresses(packet, flow, direction, id);
        }
        flow.flags()
    }
}

#[cfg(test)]
mod tests {
    use crate::rewrite::samples::{ends, icmp, tcp, udp};
    use crate::testing::send;
    use wire::tcp::flag::SYN;

    fn nat(rest: &str) -> String {
        format!(
            "rw :: IPAddrRewriter({rest}); Inject -> c :: Classifier(12/0a, -);
             c[0] -> MarkIPHeader -> [0]rw; c[1] -> MarkIPHeader -> [1]rw; rw[0] -> Collect(0); rw[1] -> Collect(1);"
        )
    }

    /// A source keeps its address whatever it sends; packets to that address reach it from anywhere; the range runs out.
    #[test]
    fn one_address_each() {
        let packets = [
            udp("10.0.0.1:1", "5.6.7.8:80"),
            tcp("10.0.0.1:2", "5.6.7.9:80", SYN, (0, 0), b""),
            icmp(8, [0, 1, 0, 1], "10.0.0.2", "5.6.7.8", b""),
            udp("10.0.0.3:1", "5.6.7.8:80"),
            udp("9.9.9.9:5", "1.0.0.6:5"),
            udp("9.9.9.9:5", "1.0.0.9:5"),
        ];
        let mut flow = send(&nat("pattern 1.0.0.5-1.0.0.6# - 0 1, pass 1"), packets);
        let out = ["1.0.0.5:1 5.6.7.8:80", "1.0.0.5:2 5.6.7.9:80", "1.0.0.6 5.6.7.8 1"];
        assert_eq!(ends(&flow.data(0)), out);
        assert_eq!(ends(&flow.data(1)), ["9.9.9.9:5 10.0.0.2:5", "9.9.9.9:5 1.0.0.9:5"]);
        assert_eq!(flow.read("rw.mapping_failures"), "1");
        let table = "10.0.0.1 => 1.0.0.5 [*0 1] i0 exp7200\n10.0.0.2 => 1.0.0.6 [*0 1] i0 exp7200\n\
                     0.0.0.0 => 0.0.0.0 [0 *1] i0 exp7200\n0.0.0.0 => 0.0.0.0 [0 *1] i0 exp7200\n";
        assert_eq!(flow.read("rw.table"), table);
        assert_eq!(flow.read("rw.patterns"), "1.0.0.5-1.0.0.6 - [2]\n<nochange>\n");
        // Replies are for a known host; where other packets go this element does not know.
        let annotations: Vec<_> = flow.seen.iter().map(|(_, p)| p.dst_ip().to_string()).collect();
        assert_eq!(annotations, ["0.0.0.0", "0.0.0.0", "0.0.0.0", "10.0.0.2", "0.0.0.0"]);
    }

    /// Prefixes have hosts; later fragments are rewritten like others, but for what is not theirs.
    #[test]
    fn prefixes_and_fragments() {
        let mut fragment = udp("10.0.0.1:1", "5.6.7.8:80");
        fragment[7] = 9;
        wire::ipv4::fill_checksum(&mut fragment).unwrap();
        let mut flow = send(&nat("pattern 1.0.0.128/30# - 0 1, drop"), [fragment.clone()]);
        let seen = flow.only(0).data().to_vec();
        assert!(wire::ipv4::check(&seen, true).is_ok());
        assert_eq!((&seen[12..16], &seen[20..]), (&[1, 0, 0, 129][..], &fragment[20..]));
        assert_eq!(flow.read("rw.pattern0"), "1.0.0.129-1.0.0.130 - [1]\n");
    }

    /// A pattern with a destination or with ports makes no mapping.
    #[test]
    fn impossible_patterns() {
        for pattern in ["pattern 1.0.0.5 9.9.9.9 0 1", "pattern 1.0.0.5 7 - - 0 1"] {
            let flow = send(&nat(&format!("{pattern}, drop")), [udp("10.0.0.1:1", "5.6.7.8:80")]);
            assert_eq!(flow.drops(), [("no mapping could be made", 1)]);
        }
    }
}
