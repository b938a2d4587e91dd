//! Rewrites addresses and ports of TCP and UDP packets: a network address and port translator.
//!
//! ```click
//! IPRewriter(INPUTSPEC, ... [, KEYWORDS])
//! ```
//!
//! Keeps a table of *mappings*. A mapping belongs to a flow, that is, to packets with the same source address, source
//! port, destination address, destination port and protocol. It gives the new values of these fields, and the output
//! by which the packets leave. Packets with a mapping are rewritten by it, whatever input they arrive at. For packets
//! without one, the specification of their input decides what happens. Most specifications create two mappings: one
//! for the packet's flow, and one for the replies to the rewritten flow, which turns them back into replies to the
//! original flow.
//!
//! Packets need network header annotations (CheckIPHeader, MarkIPHeader). Checksums are updated incrementally; a UDP
//! checksum of zero, which means that there is none, stays. Packets other than TCP and UDP, later fragments (which
//! have no ports), and packets that end within the first 8 bytes of their transport header are dropped, or pass
//! unchanged if the input's specification is `pass`. Put an IPReassembler in front to rewrite fragments.
//!
//! Mappings are removed when they have been idle for too long, or earlier when there are too many: then the mapping
//! closest to its timeout is removed, except for those guaranteed to stay. If all are guaranteed, new flows are
//! refused.
//!
//! Workers share one table; a flow's two directions may arrive on different workers. Lookups take no lock. Each
//! worker has a part of each range, from which its new flows get ports or addresses without waiting for other
//! workers; when its own part is used up, it takes from the others. Workers that add flows wait for each other only where
//! these belong to the same cache line of the table's index, or that grows.
//!
//! Unlike in Click, a UDP checksum never becomes zero. When the configuration is replaced, flows move to a rewriter
//! of the same name if the input that created them has the same specification there: its words, those of the pattern
//! it names. With a mapper, flows stay whose pattern the mapper there has, too. Other flows are removed, as when `pattern0` is written.
//!
//! Ports: 1 or more inputs, 1 or more outputs. Processing: push. Workers: shared.
//!
//! # Arguments
//! One input specification for each input:
//! - `drop` (or `discard`): packets are dropped.
//! - `pass [OUTPUT]` (or `nochange`, `passthrough`): packets leave unchanged by OUTPUT (default 0).
//! - `keep FOUTPUT ROUTPUT`: creates mappings that change nothing. Packets of the flow leave by FOUTPUT, replies by
//!   ROUTPUT.
//! - `pattern SADDR SPORT DADDR DPORT FOUTPUT ROUTPUT`: creates mappings that set these fields; a field `-` is not
//!   changed. SPORT may be a range `L-H`: a port is chosen so that replies can be distinguished from those of other
//!   flows; if none is left the packet is dropped (see UNMAPPED). The packet's own port is preferred, otherwise one is chosen at
//!   random. If `#` follows the range, ports are chosen in sequence; if `?` follows, always at random. SADDR may be
//!   an address, or the name of one.
//! - `pattern NAME FOUTPUT ROUTPUT`: the same with a pattern defined by IPRewriterPatterns.
//! - `ELEMENT`: asks a mapper, such as RoundRobinIPMapper, for each new flow.
//!
//! Keywords:
//! - `TCP_TIMEOUT` (seconds, default 24 hours): idle time after which the mappings of a TCP connection that has
//!   carried data in both directions are removed. `TIMEOUT` is an older name.
//! - `TCP_DONE_TIMEOUT` (seconds, default 4 minutes): the same for connections closed by FIN or RST packets.
//! - `TCP_NODATA_TIMEOUT` (seconds, default 5 minutes): the same for other TCP connections.
//! - `TCP_GUARANTEE` (seconds, default 5): how long a TCP connection is guaranteed to stay after each packet while it is not
//!   *assured*, as it is once its handshake is complete, until it ends. Assured flows stay for all of their time: a full table refuses
//!   new ones rather than give one up. `GUARANTEE` is an older name.
//! - `UDP_TIMEOUT` (seconds, default 5 minutes): idle time after which the mappings of a UDP flow are removed.
//! - `UDP_STREAMING_TIMEOUT` (seconds, default UDP_TIMEOUT): the same for UDP flows that have had at least three
//!   packets, in both directions.
//! - `UDP_GUARANTEE` (seconds, default 5): how long a UDP flow is guaranteed to stay after each packet. Once it is answered it is assured.
//! - `REAP_INTERVAL` (seconds, default 15 minutes): how often to look for idle mappings; 0 for never. `REAP_TIME` is
//!   an older name.
//! - `MAPPING` (`endpoint-independent` or `address-and-port-dependent`, default `address-and-port-dependent`): whether an
//!   endpoint inside, that is, an address and a port, becomes the same outside wherever it sends (RFC 4787, REQ-1, and
//!   RFC 5382, REQ-1), or has a mapping for each flow, as in Click. `endpoint-independent` is about specifications
//!   that choose a port or address from a range and leave the destination alone, and mappers with only such
//!   patterns: no two endpoints then become the same, and an endpoint stays what it is as long as it has a flow.
//!   Towards all destinations together there are as many mappings as ports.
//! - `FILTERING` (`endpoint-independent`, `address-dependent` or `address-and-port-dependent`, default
//!   `address-and-port-dependent`): who reaches such an endpoint from outside by what it is there: all that send to it, hosts
//!   that it has sent to, or endpoints that it has sent to (RFC 4787, section 5). Others' packets are treated by the
//!   specification of their input. Packets of unknown flows are let in at inputs with `drop` or `pass`, and
//!   make a flow, which keeps the mapping: with `endpoint-independent` strangers can fill the table.
//! - `USE_CACHE`, `HANDLE_MIGRATION`, `SET_AGGREGATE` (booleans): FastClick's; accepted, the last one with a warning.
//! - `MAPPING_CAPACITY` (integer or element, default 1048576): the maximum number of flows in the table, or the
//!   rewriter with which to share a capacity. With endpoint-independent mapping each endpoint counts as one more, and with
//!   address-dependent filtering each address that it sends to. `CAPACITY` is a shorter name. Click's default is 2147483647, which does not
//!   keep untrusted hosts from using up all memory.
//! - `QUOTA` (integer, default 0): the maximum number of flows that the addresses of one prefix have begun, of rewriters that share the capacity
//!   together; 0 for no limit. Packets that begin more have no mapping (see UNMAPPED). Sources outside, whose flows specifications of other inputs make, count
//!   like those inside. Not where the capacity is that of another element, which says this, too.
//! - `QUOTA_PREFIX` (integer, default 24): how long prefixes are; 32 for a limit for each address (RFC 6888, REQ-4).
//! - `DST_ANNO` (boolean, default true): whether to set the destination annotation to the new destination address.
//! - `REPLY_ANNO` (annotation of one byte): an annotation set in replies, to the value that the flow's first packet
//!   had there.
//! - `UNMAPPED` (integer, default none): the output by which packets leave, as they came, for which no mapping can be made: no port is left, or
//!   there is no room for a flow, or QUOTA forbids it. An ICMPError there tells who sent them (RFC 5508, REQ-8). Otherwise they are dropped.
//!
//! # Handlers
//! - `table_size` (read): flows in the table. `nmappings` is an older name.
//! - `mapping_failures` (read): packets for which no mapping could be made.
//! - `made`, `evictions`, `expiries`, `quota_refusals` (read): flows that were made, that gave way to others, whose time was over, and that QUOTA
//!   forbade. `counters` (read): lines of a number, a tab and what it counts: flows that were made, that were refused, by reason, and that
//!   ended, by reason. `counters_json` (read): the same as an object.
//! - `size` (read): flows and mappings of endpoints in the table, including those of rewriters that share the capacity.
//! - `capacity` (read, write): the maximum number of flows.
//! - `tcp_table`, `udp_table` (read): the table, one line per direction of each flow: the original fields, the new
//!   ones, the outputs of both directions (this direction's with a star), the input whose specification created it,
//!   and the seconds until it times out. `tcp_mappings` and `udp_mappings` are older names.
//! - `tcp_lookup` (read, `SADDR SPORT DADDR DPORT`): the rewritten addresses and ports of such a TCP packet; nothing
//!   if there is no mapping.
//! - `patterns` (read): the specifications of all inputs, one per line, with the number of their flows.
//! - `pattern0`, `pattern1`, ... (read, write): the specification of an input. Writing it removes the flows that the
//!   old one created.
//! - `flows`, `flows_json` (read, a filter): the flows that a filter asks for, as lines or as an array of objects: protocol, source,
//!   port, destination and port as their first packets arrive and as they leave, the state as far as it is known, whether they
//!   were answered, and the seconds until they time out. `count` (read, a filter): how many those are. `kill` (write, a filter):
//!   removes them. ConnTrack says what a filter is.
//! - `flows_load` (write, objects of `flows_json`, one per line, at most 1000): takes in these flows, as another router listed them, as far as there is room and their
//!   addresses and ports are no other's, and says how many; those that are known stay as they are. None is taken if a line is not understood. A flow that
//!   the specification of its input cannot have made, with these outputs, is refused by itself.
//! - `endpoints`, `endpoints_json` (read): with endpoint-independent mapping, the endpoints that have one: protocol, address and
//!   port inside and outside, the input whose specification made the mapping, and the number of its flows.
//! - `clear` (write): removes all flows, including those of rewriters that share the capacity.
//!
//! # Events
//! `flow new NAME PROTOCOL SOURCE PORT DESTINATION PORT > SOURCE PORT DESTINATION PORT`, as its first packet arrives and as it leaves; and when it ends `flow
//! expired ...`, `evicted`, `replaced` or `killed`.
//!
//! # Example
//! ```click
//! rw :: IPRewriter(pattern 18.26.4.24 50000-65535 - - 0 1, drop);
//! inside -> [0]rw[0] -> outside;
//! outside_in -> [1]rw[1] -> inside_out;
//! ```
//!
//! Endpoints inside that reach each other by what they are outside (hairpin, RFC 4787, section 6):
//! ```click
//! rw :: IPRewriter(pattern 18.26.4.24 50000-65535 - - 0 1, drop,
//!   MAPPING endpoint-independent, FILTERING endpoint-independent);
//! inside -> [0]rw[0] -> back :: IPClassifier(dst host 18.26.4.24, -);
//! back[0] -> [1]rw; back[1] -> outside;
//! outside_in -> [1]rw[1] -> inside_out;
//! ```
//!
//! # See also
//! TCPRewriter, UDPRewriter, IPAddrRewriter, IPAddrPairRewriter, ICMPRewriter, ICMPPingRewriter, IPRewriterPatterns,
//! RoundRobinIPMapper, SourceIPHashMapper, FTPPortMapper

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
pub(crate) const CLASS: Class = Class::new("IPRewriter", rewriter::create::<TcpAndUdp>)
    .ports("1-/1-")
    .processing("h/h")
    .flow("x/x")
    .residency(Residency::Shared)
    .keeps("flows", "MAPPING_CAPACITY", 1_048_576, 160)
    .doc(router::manual!("ip_rewriter.rs"));

/// TCP and UDP, told apart.
struct TcpAndUdp;

impl Protocol for TcpAndUdp {
    const KIND: Kind = Kind::Ip;

    #[inline]
    fn key(nat: &Nat, packet: &Packet) -> Option<(Key, u8)> {
        let known = |protocol| matches!(protocol, ip_proto::TCP | ip_proto::UDP);
        key_of(packet, |protocol| known(protocol).then(|| nat.map(protocol)))
    }

    #[inline]
    fn apply(packet: &mut [u8], turn: Turn<'_>, flow: &Flow, direction: usize) -> u16 {
        if flow.protocol() == ip_proto::TCP {
            apply::tcp(packet, turn, flow, direction)
        } else {
            apply::udp(packet, flow, direction)
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::rewrite::samples::{ends, tcp, udp};
    use crate::testing::{Sent, send, send_one};
    use crate::testing::{build, build_at, errors, run_and_read};
    use elements_testing::run_to_end;
    use packet::Anno;
    use router::Call;
    use std::collections::BTreeSet;
    use wire::tcp::flag::{ACK, FIN, RST, SYN};

    /// Packets from inside (10.0.0.0/8) arrive at input 0, others at input 1.
    fn nat(pattern: &str, rest: &str) -> String {
        format!(
            "rw :: IPRewriter({pattern}, drop{rest}); Inject -> c :: Classifier(12/0a, -);
             c[0] -> MarkIPHeader -> [0]rw; c[1] -> MarkIPHeader -> [1]rw; rw[0] -> Collect(0); rw[1] -> Collect(1);"
        )
    }

    const WEB: &str = "5.6.7.8:80";

    /// Two hosts with the same port get ports of their own; replies find back; strangers are dropped; all checksums hold.
    #[test]
    fn address_and_port_translation() {
        let packets = [
            udp("10.0.0.1:5000", WEB),
            udp("10.0.0.2:5000", WEB),
            udp("10.0.0.1:5000", WEB),
            udp(WEB, "1.2.3.4:5000"),
            udp(WEB, "1.2.3.4:40000"),
            udp("5.6.7.8:81", "1.2.3.4:40000"),
            tcp("10.0.0.3:5000", WEB, SYN, (1, 0), b""),
            tcp(WEB, "1.2.3.4:40001", SYN | ACK, (1, 2), b"data"),
        ];
        let mut flow = send(&nat("pattern 1.2.3.4 40000-40009# - - 0 1", ""), packets);
        let out = [
            "1.2.3.4:40000 5.6.7.8:80",
            "1.2.3.4:40001 5.6.7.8:80",
            "1.2.3.4:40000 5.6.7.8:80",
            "1.2.3.4:40002 5.6.7.8:80",
        ];
        assert_eq!(ends(&flow.data(0)), out);
        // The TCP flow has a port of its own, 40002; the reply to 40001 is a stranger's.
        assert_eq!(ends(&flow.data(1)), ["5.6.7.8:80 10.0.0.1:5000"]);
        assert_eq!(flow.drops(), [("no mapping", 3)]);
        let udp_table = [
            "(5.6.7.8, 80, 1.2.3.4, 40000) => (5.6.7.8, 80, 10.0.0.1, 5000) [0 *1] i0 exp300",
            "(5.6.7.8, 80, 1.2.3.4, 40001) => (5.6.7.8, 80, 10.0.0.2, 5000) [0 *1] i0 exp300",
            "(10.0.0.2, 5000, 5.6.7.8, 80) => (1.2.3.4, 40001, 5.6.7.8, 80) [*0 1] i0 exp300",
            "(10.0.0.1, 5000, 5.6.7.8, 80) => (1.2.3.4, 40000, 5.6.7.8, 80) [*0 1] i0 exp300",
        ];
        assert_eq!(flow.read("rw.udp_table").lines().collect::<Vec<_>>(), udp_table);
        assert_eq!(flow.read("rw.tcp_table").lines().count(), 2);
        assert_eq!(flow.read("rw.table_size"), "3");
        assert_eq!(flow.read("rw.patterns"), "1.2.3.4 40000-40009 - - [3]\n<drop>\n");
        assert_eq!(flow.read("rw.pattern1"), "<drop>\n");
    }

    /// Flows are listed, counted and removed by what a filter says; a removed one's port is free again.
    #[test]
    fn flows_by_filter() {
        let packets = [
            udp("10.0.0.1:5000", WEB),
            udp("10.0.0.2:5000", WEB),
            udp(WEB, "1.2.3.4:40000"),
            tcp("10.0.0.3:5000", WEB, SYN, (1, 0), b""),
        ];
        let mut flow = send(&nat("pattern 1.2.3.4 40000-40009# - - 0 1", ""), packets);
        let line = "udp 10.0.0.1 5000 5.6.7.8 80 > 1.2.3.4 40000 5.6.7.8 80 OPEN assured exp300\n";
        assert_eq!(flow.read_with("rw.flows", "udp replied"), line);
        let counts =
            ["", "udp", "tcp", "src 10.0.0.2", "dport 81"].map(|filter| flow.read_with("rw.count", filter));
        assert_eq!(counts, ["3", "2", "1", "1", "0"]);
        let json = flow.read_with("rw.flows_json", "tcp");
        assert!(json.contains("\"translated\":{\"source\":\"1.2.3.4\",\"sport\":40002,"), "{json}");
        assert_eq!(flow.write("rw.kill", "udp"), "2");
        assert_eq!([flow.read("rw.table_size"), flow.read_with("rw.count", "")], ["1", "1"]);
        assert!(flow.write("rw.kill", "bogus").contains("unknown word"));
    }

    /// The own port is preferred, another one taken if it is in use, and packets dropped when none is left.
    #[test]
    fn ports_run_out() {
        let hosts = ["10.0.0.1:41", "10.0.0.2:41", "10.0.0.3:41", "10.0.0.4:50"];
        let mut flow = send(&nat("pattern 1.2.3.4 40-42 - - 0 1", ""), hosts.map(|host| udp(host, WEB)));
        let mut seen = ends(&flow.data(0));
        assert_eq!(seen[0], "1.2.3.4:41 5.6.7.8:80");
        seen.sort();
        let all = [40, 41, 42].map(|port| format!("1.2.3.4:{port} 5.6.7.8:80"));
        assert_eq!(seen, all);
        assert_eq!(flow.read("rw.mapping_failures"), "1");
        assert_eq!(flow.drops(), [("no mapping could be made", 1)]);
        // Towards other destinations the ports are free.
        let more = [udp(hosts[0], WEB), udp(hosts[1], "5.6.7.9:80")];
        let flow = send(&nat("pattern 1.2.3.4 40-42 - - 0 1", ""), more);
        assert_eq!(ends(&flow.data(0)), ["1.2.3.4:41 5.6.7.8:80", "1.2.3.4:41 5.6.7.9:80"]);
    }

    /// A range that runs out gives each of its ports once, also to flows that begin in one batch.
    #[test]
    fn a_crowded_range() {
        for (sport, vector) in [("2000-2599#", 1), ("2000-2599#", 32), ("2000-2599?", 1), ("2000-2599?", 32)]
        {
            // All flows go to one port.
            let config = format!(
                "FastUDPFlows(0, 1000, 60, 2:0:0:0:0:1, 10.0.0.1, 2:0:0:0:0:2, 5.6.7.8, 1, 1, STOP true) -> Strip(14)
                 -> MarkIPHeader -> IPRewriter(pattern - - - 80 0 0) -> rw :: IPRewriter(pattern 1.2.3.4 {sport} - - 0 0) -> Discard"
            );
            let mut router = build(&config, 1, vector).unwrap();
            run_to_end(&mut router);
            let mut read = |path: &str| router.call(Call::read(path, "")).unwrap();
            let table = read("rw.udp_table");
            let out = table.lines().filter_map(|line| line.split_once(" => (1.2.3.4, ")?.1.split_once(','));
            let ports: BTreeSet<u16> = out.map(|(port, _)| port.parse().unwrap()).collect();
            assert_eq!(ports, (2000..2600).collect(), "{sport}, {vector}");
            assert_eq!(read("rw.table_size"), "600");
            assert!(read("rw.mapping_failures").parse::<u32>().unwrap() > 300);
        }
    }

    /// Packets for which no mapping can be made leave as they came, where that is asked for.
    #[test]
    fn packets_without_a_mapping() {
        let hosts = ["10.0.0.1:41", "10.0.0.2:41", "10.0.0.3:41"].map(|host| udp(host, WEB));
        let config = |keywords: &str| {
            format!(
                "Inject -> MarkIPHeader -> rw :: IPRewriter(pattern 1.2.3.4 40-41 - - 0 1{keywords}) -> Collect(0); rw[1] -> Collect(1); rw[2] -> Collect(2);"
            )
        };
        for keywords in [", UNMAPPED 2", ", UNMAPPED 2, MAPPING endpoint-independent"] {
            let mut flow = send(&config(keywords), hosts.clone());
            assert_eq!((flow.data(0).len(), flow.data(2)), (2, vec![hosts[2].clone()]), "{keywords}");
            assert_eq!((flow.read("rw.mapping_failures"), flow.drops()), ("1".to_owned(), Vec::new()));
        }
        assert_eq!(send(&config(""), hosts.clone()).data(2), Vec::<Vec<u8>>::new());
        let text = errors("Idle -> rw :: IPRewriter(drop, UNMAPPED 1) -> Discard");
        assert!(text.contains("bad UNMAPPED: no such output"), "{text}");
        // What is dropped because it is unknown stays so.
        let answer = udp(WEB, "1.2.3.4:4000");
        let flow = send(&config(", UNMAPPED 2").replace("pattern 1.2.3.4 40-41 - - 0 1", "drop"), [answer]);
        assert_eq!((flow.data(2).len(), flow.drops()), (0, vec![("no mapping", 1)]));
    }

    /// Hosts whose first packets come in one batch have a port each, and keep it for the packets behind, in batches of whatever size; the
    /// first one has its own.
    #[test]
    fn new_flows_in_a_batch() {
        let hosts = (0..100).map(|n| udp(&format!("10.0.0.{}:5000", n * 7 % 40 + 1), WEB));
        for pattern in ["1.2.3.4 4000-6000", "1.2.3.4 4000-6000?", "1.2.3.4 4970-5009"] {
            let flow = send(&nat(&format!("pattern {pattern} - - 0 1"), ""), hosts.clone());
            let out = ends(&flow.data(0));
            assert_eq!(out.len(), 100, "{pattern}");
            let all: std::collections::BTreeSet<_> = out.iter().collect();
            assert_eq!((all.len(), &out[..20]), (40, &out[40..60]), "{pattern}");
            if !pattern.ends_with('?') {
                assert!(out[0].contains(":5000 "), "{pattern}: {}", out[0]);
            }
        }
    }

    /// Replies are found also where a pattern had nothing left and another one has made the flow.
    #[test]
    fn the_other_pattern_of_a_mapper() {
        let mapper = "m :: RoundRobinIPMapper(1.2.3.4 5-6 - - 0 1, 1.2.3.5 - - - 0 1);";
        let mut packets: Vec<_> = (1..6).map(|n| udp(&format!("10.0.0.{n}:900{n}"), WEB)).collect();
        packets.extend((1..6).map(|n| udp(WEB, &format!("1.2.3.5:900{n}"))));
        let flow = send(&format!("{mapper} {}", nat("m", "")), packets);
        let out =
            ends(&flow.data(0)).into_iter().filter(|ends| ends.starts_with("1.2.3.5")).collect::<Vec<_>>();
        assert_eq!(out, [2, 4, 5].map(|n| format!("1.2.3.5:900{n} {WEB}")));
        assert_eq!(ends(&flow.data(1)), [2, 4, 5].map(|n| format!("{WEB} 10.0.0.{n}:900{n}")));
    }

    /// A port can be had again when its flow has gone.
    #[test]
    fn ports_come_back() {
        let source = |host: &str, limit: &str| {
            let data: String = udp(host, WEB).iter().map(|byte| format!("{byte:02x}")).collect();
            format!("RatedSource(DATA \\<{data}>, RATE 1, {limit}) -> MarkIPHeader -> rw;")
        };
        let sources = [
            source("10.0.0.1:1", "LIMIT 1"),
            source("10.0.0.2:1", "LIMIT 1"),
            source("10.0.0.3:1", "LIMIT 15, STOP true"),
        ];
        let config = format!(
            "rw :: IPRewriter(pattern 1.2.3.4 40-41 - - 0 0, UDP_TIMEOUT 5, REAP_INTERVAL 10) -> d :: Discard; {}",
            sources.concat()
        );
        let read = run_and_read(&config, &["rw.mapping_failures", "d.count", "rw.size"]);
        let [failures, passed, size] = [0, 1, 2].map(|at| read[at].parse::<u32>().unwrap());
        assert_eq!((failures + passed, size), (17, 1));
        assert!((9..=11).contains(&failures), "{failures}");
    }

    #[test]
    fn each_specification_chooses_its_output() {
        let there_and_back = [udp("10.0.0.1:1", WEB), udp(WEB, "10.0.0.1:1"), udp(WEB, "10.0.0.1:2")];
        let flow = send(&nat("keep 0 1", ""), there_and_back.clone());
        assert_eq!(flow.data(0), there_and_back[..1]);
        assert_eq!(flow.data(1), there_and_back[1..2]);
        let flow = send(&nat("pass 1", ""), there_and_back.clone());
        assert_eq!((flow.data(0).len(), flow.data(1).len()), (0, 1));
        let flow = send(&nat("discard", ""), there_and_back.clone());
        assert_eq!(flow.drops(), [("no mapping", 3)]);
        let flow = send(&nat("pattern - - 9.9.9.9 99 1 0", ""), there_and_back);
        assert_eq!(ends(&flow.data(1)), ["10.0.0.1:1 9.9.9.9:99"]);
        let named = format!("IPRewriterPatterns(p 1.2.3.4 7 - -);{}", nat("pattern p 0 1", ""));
        assert_eq!(ends(&send_one(&named, udp("10.0.0.1:1", WEB)).data(0)), ["1.2.3.4:7 5.6.7.8:80"]);
        // A mapping whose replies would look the same replaces the older one.
        let flow = send(
            &nat("pattern 1.2.3.4 7 - - 0 1", ""),
            [udp("10.0.0.1:1", WEB), udp("10.0.0.2:2", WEB), udp(WEB, "1.2.3.4:7")],
        );
        assert_eq!(ends(&flow.data(1)), ["5.6.7.8:80 10.0.0.2:2"]);
    }

    /// Packets without ports pass at `pass` inputs only; damaged ones never do harm; a missing UDP checksum stays missing.
    #[test]
    fn odd_packets() {
        let mut fragment = udp("10.0.0.1:1", WEB);
        fragment[7] = 9;
        wire::ipv4::fill_checksum(&mut fragment).unwrap();
        let mut icmp = udp("10.0.0.1:1", WEB);
        icmp[9] = 1;
        let mut short = udp("10.0.0.1:1", WEB);
        short.truncate(27);
        let odd = [fragment, icmp, short, vec![0x45; 13]];
        let flow = send(&nat("pattern 1.2.3.4 7 - - 0 1", ""), odd.clone());
        assert_eq!(flow.drops(), [("no packet that can be rewritten", 4)]);
        assert_eq!(send(&nat("pass", ""), odd.clone()).data(0), odd[..3]);
        let mut unchecked = udp("10.0.0.1:1", WEB);
        unchecked[26..28].fill(0);
        let flow = send_one(&nat("pattern 1.2.3.4 7 - - 0 1", ""), unchecked);
        assert_eq!(flow.only(0).data()[26..28], [0, 0]);
    }

    /// Annotations: the destination, and one that replies get from the first packet of their flow.
    #[test]
    fn annotations_follow_the_flow() {
        let painted =
            |data: Vec<u8>, paint| Sent { data, annotations: vec![(Anno::PAINT, paint)], ..Sent::default() };
        let packets = || [painted(udp("10.0.0.1:1", WEB), 7), painted(udp(WEB, "1.2.3.4:40"), 1)];
        let flow = send(&nat("pattern 1.2.3.4 40 - - 0 1", ", REPLY_ANNO PAINT"), packets());
        let seen: Vec<_> = flow.seen.iter().map(|(_, p)| (p.dst_ip().to_string(), p.paint())).collect();
        assert_eq!(seen, [("5.6.7.8".to_owned(), 7), ("10.0.0.1".to_owned(), 7)]);
        let flow = send(&nat("pattern 1.2.3.4 40 - - 0 1", ", DST_ANNO false"), packets());
        let seen: Vec<_> = flow.seen.iter().map(|(_, p)| (p.dst_ip().to_string(), p.paint())).collect();
        assert_eq!(seen, [("0.0.0.0".to_owned(), 7), ("0.0.0.0".to_owned(), 1)]);
    }

    #[test]
    fn the_timeout_follows_what_was_seen_of_a_flow() {
        let timeouts = ", TCP_TIMEOUT 1000, TCP_DONE_TIMEOUT 20, TCP_NODATA_TIMEOUT 30, UDP_TIMEOUT 40,
                        UDP_STREAMING_TIMEOUT 50";
        let config = nat("pattern 1.2.3.4 40-90# - - 0 1", timeouts);
        let exp = |packets: Vec<Vec<u8>>| {
            let mut flow = send(&config, packets);
            let tables = flow.read("rw.tcp_table") + &flow.read("rw.udp_table");
            tables.lines().next().unwrap().rsplit("exp").next().unwrap().to_owned()
        };
        let (a, b) = ("10.0.0.1:1", "1.2.3.4:40");
        let syn = || tcp(a, WEB, SYN, (0, 0), b"");
        assert_eq!(exp(vec![syn()]), "30");
        let data = || vec![syn(), tcp(a, WEB, ACK, (1, 1), b"x"), tcp(WEB, b, ACK, (1, 1), b"y")];
        assert_eq!(exp(data()), "1000");
        assert_eq!(exp([data(), vec![tcp(a, WEB, FIN, (1, 1), b"")]].concat()), "1000");
        assert_eq!(exp([data(), vec![tcp(WEB, b, RST, (1, 1), b"")]].concat()), "20");
        assert_eq!(exp(vec![udp(a, WEB), udp(a, WEB), udp(a, WEB)]), "40");
        assert_eq!(exp(vec![udp(a, WEB), udp(WEB, b), udp(a, WEB)]), "50");
    }

    #[test]
    fn handlers_look_up_and_change_flows() {
        let config = nat("pattern 1.2.3.4 40-90# - - 0 1", "");
        let mut flow = send(&config, [udp("10.0.0.1:1", WEB), tcp("10.0.0.1:1", WEB, SYN, (0, 0), b"")]);
        assert_eq!(flow.read_with("rw.tcp_lookup", "10.0.0.1 1 5.6.7.8 80"), "1.2.3.4 41 5.6.7.8 80");
        assert_eq!(flow.read_with("rw.tcp_lookup", "5.6.7.8 80 1.2.3.4 41"), "5.6.7.8 80 10.0.0.1 1");
        assert_eq!(flow.read_with("rw.tcp_lookup", "10.0.0.1 2 5.6.7.8 80"), "");
        assert!(
            flow.write("rw.pattern0", "pattern 1.1.1.1 9 - - 5 1")
                .contains("input spec 0: output port out of range")
        );
        assert_eq!(flow.read("rw.table_size"), "2");
        assert_eq!(flow.write("rw.capacity", "1"), "");
        assert_eq!([flow.read("rw.table_size"), flow.read("rw.capacity")], ["1", "1"]);
        assert_eq!(flow.write("rw.pattern0", "keep 0 1"), "");
        assert_eq!([flow.read("rw.size"), flow.read("rw.patterns")], ["0", "<keep>\n<drop>\n"]);
        let mut flow = send(&config, [udp("10.0.0.1:1", WEB)]);
        assert_eq!(flow.write("rw.clear", ""), "");
        assert_eq!([flow.read("rw.nmappings"), flow.read("rw.udp_table")], ["0", ""]);
    }

    /// A full table refuses new flows while its own are guaranteed, and gives up the flow that is due first when they are
    /// not.
    #[test]
    fn a_full_table_refuses_a_flow_or_gives_one_up() {
        let hosts = ["10.0.0.1:1", "10.0.0.2:1", "10.0.0.3:1"];
        let packets = || hosts.map(|host| udp(host, WEB));
        let mut flow = send(&nat("keep 0 1", ", MAPPING_CAPACITY 2"), packets());
        assert_eq!([flow.read("rw.size"), flow.read("rw.mapping_failures")], ["2", "1"]);
        let flow = send(&nat("keep 0 1", ", MAPPING_CAPACITY 2, UDP_GUARANTEE 0"), packets());
        assert_eq!(flow.data(0).len(), 3);
        // Rewriters that share a capacity.
        let both = "Inject -> MarkIPHeader -> a :: IPRewriter(keep 0 0, MAPPING_CAPACITY b) -> Collect(0);
                    InfiniteSource(LIMIT 0) -> b :: UDPRewriter(keep 0 0, CAPACITY 2) -> Discard;";
        let mut flow = send(both, packets());
        let read = ["a.size", "b.size", "a.capacity", "a.table_size", "b.table_size", "a.mapping_failures"];
        assert_eq!(read.map(|path| flow.read(path)), ["2", "2", "2", "2", "0", "1"]);
    }

    /// A TCP connection whose handshake is complete and a UDP flow that was answered have been idle for longer than the guarantee. A flood that
    /// could fill the table fifteen times over displaces neither, though its own flows are guaranteed to stay.
    #[test]
    fn a_flood_displaces_no_connection() {
        let data = |packet: Vec<u8>| packet.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let packets = [
            (0, tcp("10.0.0.1:1", WEB, SYN, (1, 0), b"")),
            (1, tcp(WEB, "1.2.3.4:40000", SYN | ACK, (1, 2), b"")),
            (0, tcp("10.0.0.1:1", WEB, ACK, (2, 2), b"")),
            (0, udp("10.0.0.1:1", WEB)),
            (1, udp(WEB, "1.2.3.4:40001")),
        ];
        let (mut sources, mut steps) = (String::new(), String::new());
        for (number, (input, packet)) in packets.into_iter().enumerate() {
            sources += &format!(
                "s{number} :: InfiniteSource(DATA \\<{}>, LIMIT 1, ACTIVE false) -> MarkIPHeader -> [{input}]rw;",
                data(packet)
            );
            steps += &format!("write s{number}.active true, wait 0.01,");
        }
        let config = format!(
            "rw :: IPRewriter(pattern 1.2.3.4 40000-60000# - - 0 1, drop, MAPPING_CAPACITY 100); rw[0] -> Discard; rw[1] -> Discard;
             {sources}
             flood :: FastUDPFlows(300, 1500, 60, 2:0:0:0:0:1, 10.0.0.2, 2:0:0:0:0:2, 5.6.7.8, 1, 1, ACTIVE false)
                 -> Strip(14) -> MarkIPHeader -> [0]rw;
             Script({steps} print $(rw.count assured), wait 6, write flood.active true, wait 6,
                 print $(rw.count assured) $(rw.table_size), stop)"
        );
        let said = crate::testing::run(&config);
        assert!(said.contains("2\n2 100\n"), "{said}");
    }

    #[test]
    fn only_the_timer_removes_idle_flows() {
        let source = |last: &str, limit| {
            format!(
                "RatedSource(DATA \\<4500001c 00000000 4011668b 0a000001 05060708 {last} 00080000>, RATE 1, LIMIT {limit})
                 -> MarkIPHeader -> [0]rw;"
            )
        };
        let config = format!(
            "rw :: IPRewriter(keep 0 0, REAP_INTERVAL 10, UDP_TIMEOUT 15) -> Discard; {} {}
             Script(wait 9, read rw.size, wait 2, read rw.size, wait 10, read rw.size, wait 10, read rw.size, stop)",
            source("00010002", 1),
            source("00030004", 12)
        );
        let said = crate::testing::run(&config);
        let sizes: Vec<&str> = said.lines().filter(|line| line.len() == 1).collect();
        assert_eq!(sizes, ["2", "2", "1", "0"], "{said}");
    }

    /// A flow is known on all workers, whichever met it first.
    #[test]
    fn two_workers() {
        let data = |packet: Vec<u8>| packet.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let (there, back) = (data(udp("10.0.0.1:1", WEB)), data(udp(WEB, "1.2.3.4:40")));
        let config = format!(
            "rw :: IPRewriter(pattern 1.2.3.4 40 - - 0 1, drop); s :: InfiniteSource(DATA \\<{there}>, LIMIT 100, END_CALL s2.active true) -> MarkIPHeader -> [0]rw;
             s2 :: InfiniteSource(DATA \\<{back}>, LIMIT 50, ACTIVE false) -> MarkIPHeader -> [1]rw;
             rw[0] -> out :: Counter -> Discard; rw[1] -> inn :: Counter(COUNT_CALL 50 stop) -> Discard;
             StaticThreadSched(s2 1);"
        );
        let mut router = build(&config, 2, 32).unwrap_or_else(|error| panic!("{error}"));
        router.run();
        let mut read = |path: &str| router.call(Call::read(path, "")).unwrap();
        assert_eq!([read("out.count"), read("inn.count"), read("rw.size")], ["100", "50", "1"]);
        assert_eq!(read("rw.workers").split_whitespace().count(), 2);
    }

    /// The same with threads: both directions of a flow at once.
    #[test]
    fn two_threads() {
        let data = |packet: Vec<u8>| packet.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let (there, back) = (data(udp("10.0.0.1:1", WEB)), data(udp(WEB, "1.2.3.4:40")));
        let config = format!(
            "rw :: IPRewriter(pattern 1.2.3.4 40 - - 0 1, drop);
             s :: InfiniteSource(DATA \\<{there}>, BURST 32) -> Counter(COUNT_CALL 100 s2.active true)
             -> MarkIPHeader -> [0]rw; s2 :: InfiniteSource(DATA \\<{back}>, LIMIT 20000, ACTIVE false)
             -> MarkIPHeader -> [1]rw; rw[0] -> out :: Counter -> Discard;
             rw[1] -> Counter(COUNT_CALL 20000 stop) -> Discard; StaticThreadSched(s2 1);"
        );
        let clock = router::Clock::real();
        let mut router =
            build_at(&config, 2, 32, clock, Default::default()).unwrap_or_else(|e| panic!("{e}"));
        router.run(); // ends because no reply is lost
        assert_eq!(router.call(Call::read("rw.size", "")), Ok("1".to_owned()));
        assert_eq!(router.drops(), []);
    }

    /// Flows outlive a change of the configuration as far as it says the same of their input, in whatever words; of the others there is
    /// a message.
    #[test]
    fn taken_over() {
        let data = |packet: Vec<u8>| packet.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let (there, back) = (data(udp("10.0.0.1:1", WEB)), data(udp(WEB, "1.2.3.4:40")));
        let config = |specs: &str, packet: &str, input: u32| {
            format!(
                "IPRewriterPatterns(p 1.2.3.4 40-49# - -); m :: RoundRobinIPMapper(p 0 1, p 0 0);
                 n :: RoundRobinIPMapper(1.2.3.4 40-49# - - 0 1, p 0 0); o :: RoundRobinIPMapper(p 0 1);
                 x :: RoundRobinIPMapper(p 0 0);
                 rw :: IPRewriter({specs}); InfiniteSource(DATA \\<{packet}>, LIMIT 1, STOP true) -> MarkIPHeader -> [{input}]rw;
                 InfiniteSource(LIMIT 0) -> [{}]rw;
                 rw[0] -> c0 :: Counter -> Discard; rw[1] -> c1 :: Counter -> Discard;",
                1 - input
            )
        };
        let read = |router: &mut router::Router, path: &str| router.call(Call::read(path, "")).unwrap();
        let written = "pattern 1.2.3.4 40-49# - - 0 1";
        for (old, new, kept) in [
            (written, written, 1),
            (written, "pattern p 0 1", 1),
            ("m", "n", 1),
            ("m", "o", 1), // which has lost the other pattern
            ("m", "x", 0),
            (written, "m", 0),
            (written, "keep 0 1", 0),
            (written, "pattern 1.2.3.4 40-49# - - 0 0", 0),
            (written, "pattern 1.2.3.4 40-48# - - 0 1", 0),
            (written, "pattern 1.2.3.5 40-49# - - 0 1", 0),
        ] {
            let mut first = build(&config(&format!("{old}, drop"), &there, 0), 1, 1).unwrap();
            first.run();
            assert_eq!(read(&mut first, "rw.size"), "1");
            let mut second = build(&config(&format!("{new}, drop"), &back, 1), 1, 1).unwrap();
            second.take_over(&mut first).unwrap();
            second.run();
            let counts = ["rw.size", "c1.count", "c0.count"].map(|path| read(&mut second, path));
            assert_eq!(counts, [format!("{kept}"), format!("{kept}"), "0".into()], "{old} -> {new}");
            let log = second.info().log.text();
            assert_eq!(log.contains("rw: 1 flows lost"), kept == 0, "{log}");
        }
    }

    #[test]
    fn bad_arguments() {
        let with = |specs: &str| errors(&format!("InfiniteSource -> rw :: IPRewriter({specs}) -> Discard;"));
        for (specs, error) in [
            ("drop, drop", "need 1 arguments, one per input port"),
            ("pattern 1.2.3.4 5", "input spec 0: syntax error"),
            ("pattern x 5 - - 0 0", "input spec 0: bad source address"),
            ("pattern - 70000 - - 0 0", "input spec 0: bad source port"),
            ("pattern - 5-4 - - 0 0", "input spec 0: bad source port"),
            ("pattern - - x - 0 0", "input spec 0: bad destination address"),
            ("pattern - - - 0 0 0", "input spec 0: bad destination port"),
            ("pattern - - - - 0 x", "input spec 0: bad reply port"),
            ("pattern - - - - 0 1", "input spec 0: output port out of range"),
            ("pattern p 0 0", "input spec 0: no such pattern 'p'"),
            ("pass 1", "input spec 0: output port out of range"),
            ("drop it", "input spec 0: syntax error, expected 'drop'"),
            ("keep 0", "input spec 0: bad forward port"),
            ("rw", "input spec 0: element is not an IPMapper"),
            ("what", "input spec 0: unknown specification"),
            ("drop, MAPPING_CAPACITY x", "bad MAPPING_CAPACITY"),
        ] {
            let text = with(specs);
            assert!(text.contains(error), "{specs}: {text}");
        }
        let circle = "InfiniteSource -> a :: IPRewriter(drop, CAPACITY b) -> Discard;
                      InfiniteSource -> b :: IPRewriter(drop, CAPACITY a) -> Discard;";
        assert!(errors(circle).contains("bad MAPPING_CAPACITY"));
    }
}
