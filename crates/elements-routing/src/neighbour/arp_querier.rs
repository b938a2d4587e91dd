//! Encapsulates IP packets in Ethernet frames, with addresses found by ARP.
//!
//! ```click
//! ARPQuerier(IP, ETH [, KEYWORDS])
//! ARPQuerier(NAME [, KEYWORDS])
//! ```
//!
//! IP and ETH are this host's addresses on the network; NAME is a name that stands for both. FastClick's
//! FlowARPQuerier is another name for the element.
//!
//! Packets at input 0 are IP packets with a destination annotation. If its Ethernet address is known, the packet
//! leaves by output 0 in an Ethernet frame. Otherwise the packet waits, and an ARP query is sent: by output 1, or by
//! output 0 if that is the only one. ARP replies arrive at input 1, with their Ethernet headers; then the waiting
//! packets leave, in order. ARP requests may arrive there too: the sender's addresses in them update an existing
//! entry. If the request asks for this host, they also create a new one (RFC 826); it is stale, so that it is
//! verified when it is used.
//!
//! Packets for 0.0.0.0 are dropped. Packets for 255.255.255.255 and for the network's broadcast address go to
//! FF-FF-FF-FF-FF-FF, and packets for multicast groups to the group's Ethernet address (RFC 1112, section 6.4).
//!
//! Neighbours have the states of RFC 4861, section 7.3.2: incomplete, reachable, stale, delay, probe; and also failed
//! and permanent. As in Click, queries are sent only when packets need an address: at most ten per second for one
//! address, and after ten without an answer, one every two seconds. An address still in use some time after it was
//! last confirmed is verified by a unicast query to the neighbour before it expires. With PROBES, queries are
//! repeated once per second even without further packets (RFC 1122, section 2.3.2.1). After PROBES queries without an
//! answer, the neighbour has failed, and packets waiting for it are dropped, or leave by output 2 if there is one,
//! for ICMPError.
//!
//! The address table is shared by all workers and is read without locks. Packets wait on the worker on which they
//! arrived. Unlike in Click, waiting packets leave by the ARPQuerier at which they arrived even if several share a
//! table, and they leave immediately when a handler inserts the address.
//!
//! Ports: 2 inputs, 1 to 3 outputs. Processing: push. Workers: shared.
//!
//! # Arguments
//! - `IP` (IP address or prefix), `ETH` (Ethernet address): this host's addresses.
//! - `TABLE` (element name): the ARPTable, or ARPQuerier, whose table to use instead of a private one. Of the
//!   arguments about tables, only POLL_TIMEOUT and INTERFACE have an effect then.
//! - `CAPACITY`, `ENTRY_CAPACITY`, `UNKNOWN_CAPACITY`, `ENTRY_PACKET_CAPACITY`, `CAPACITY_SLIM_FACTOR`, `TIMEOUT`, `POLL_TIMEOUT`, `DELAY`,
//!   `RETRANS`, `PROBES`, `INTERFACE`: see ARPTable.
//! - `UNASKED` (`accept`, `update` or `refuse`, default `accept`): which unsolicited replies to believe: all; only
//!   those about addresses in the table (RFC 826); or none. With `refuse`, a reply that gives a known neighbour a
//!   different Ethernet address still triggers a query whether the neighbour is reachable at its old one. Requests
//!   are treated like replies, except that with `refuse` they create no entry. Permanent addresses are never changed.
//!   Unasked, at most 1000 new addresses are learned in a second.
//! - `BROADCAST` (IP address): the network's broadcast address. If IP is a prefix, the default is its last address.
//! - `CACHE` (boolean): FastClick's cache for each thread; accepted, since lookups take no lock here.
//! - `BROADCAST_POLL` (boolean, default false): whether to broadcast queries for known addresses too, instead of
//!   sending them to the neighbour directly.
//!
//! # Handlers
//! - `ipaddr`, `broadcast` (read, write): the addresses.
//! - `table`, `neighbours`, `count`, `length`, `refused` (read), `insert`, `delete` (write): see ARPTable.
//! - `stats` (read): packets dropped and queries sent, as text.
//! - `queries`, `responses` (read): ARP queries sent, ARP packets received.
//! - `drops` (read): packets dropped, except those that waited for an answer that did not come.
//! - `clear` (write): forgets all addresses and sets counts to zero.
//!
//! # Example
//! ```click
//! c :: Classifier(12/0806 20/0002, 12/0800);
//! a :: ARPQuerier(18.26.4.24, 00:00:C0:AE:67:EF);
//! c[0] -> [1]a;
//! c[1] -> Strip(14) -> CheckIPHeader -> GetIPAddress(16) -> a -> Queue -> ToDevice(eth0);
//! ```
//!
//! # See also
//! ARPTable, ARPResponder, IPAdjacency, IP6NDSolicitor, AddressInfo

use crate::neighbour::arguments::CLICK;
use crate::neighbour::arp::Arp;
use crate::neighbour::querier;
use router::{Class, Config, ConfigError, Element, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("ARPQuerier", create::<false>)
    .ports("2/1-3")
    .processing("h/h")
    .flow("xy/x")
    .residency(Residency::Shared)
    .live()
    .makes("queries")
    .absorbs("responses")
    .holds("packets that wait for an address")
    .keeps("neighbours", "ENTRY_CAPACITY", 65_536, 600)
    .doc(router::manual!("arp_querier.rs"));
/// Makes an ARPQuerier, or with `HOP` an IPAdjacency.
pub(super) fn create<const HOP: bool>(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (link, table_args, table_name) = Arp::read(config.args(), config.scope(), false)?;
    querier::create::<Arp, HOP>(config, link, table_name, &table_args, CLICK)
}

#[cfg(test)]
mod tests {
    use crate::neighbour::naive::{Naive, Times};
    use crate::neighbour::state::{News, Query};
    use crate::testing::send;
    use crate::testing::{build, errors, run, run_and_read};
    use proptest::prelude::*;
    use router::Call;
    use wire::MacAddr;

    /// A source of IP packets for an address, with the annotation set.
    fn source(name: &str, last: usize, rest: &str) -> String {
        format!(
            "{name} :: InfiniteSource(DATA \\<45000014 00000000 40000000 0a000001 0a0000{last:02x}>, {rest})
             -> GetIPAddress(16) -> [0]a; "
        )
    }

    const QUERIER: &str = "a :: ARPQuerier(10.0.0.1/24, 1:1:1:1:1:1";

    /// One query brings the answer; the packets leave in frames, in order, and none is lost.
    #[test]
    fn query_and_answer() {
        let frame = "0/020202020202010101010101080045";
        let query = "0/ffffffffffff010101010101 12/08060001080006040001 22/010101010101 28/0a000001
                     32/000000000000 38/0a000002";
        let config = format!(
            "{QUERIER}); {} a[0] -> f :: Classifier({frame}, -) -> d :: Discard; f[1] -> bad :: Discard;
             a[1] -> q :: Classifier({query}, -) -> r :: ARPResponder(10.0.0.2 2:2:2:2:2:2) -> [1]a; q[1] -> bad;",
            source("s", 2, "LIMIT 70, BURST 40, STOP true")
        );
        let read =
            ["d.count", "d.byte_count", "bad.count", "a.queries", "a.responses", "a.drops", "a.length"];
        assert_eq!(run_and_read(&config, &read), ["70", "2380", "0", "1", "1", "0", "0"]);
        assert_eq!(
            run_and_read(&config, &["a.table", "a.count", "a.stats", "a.ipaddr", "a.broadcast"]),
            [
                "10.0.0.2 1 02-02-02-02-02-02 0.000000\n",
                "1",
                "0 packets killed\n1 ARP queries sent\n",
                "10.0.0.1",
                "10.0.0.255"
            ]
        );
    }

    /// Each packet of a batch goes to its own neighbour, wherever the packet before went.
    #[test]
    fn many_neighbours_in_one_batch() {
        let order = [2, 2, 3, 2, 9, 2, 9, 255, 2, 3, 3];
        let packets = order.map(|last| {
            let header = [0x45, 0, 0, 20, 0, 0, 0, 0, 64, 0, 0, 0, 10, 0, 0, 1, 10, 0, 0, last];
            header.to_vec()
        });
        let config = format!(
            "Inject -> GetIPAddress(16) -> Queue -> u :: Unqueue(BURST 32, ACTIVE false) -> [0]{QUERIER});
             InfiniteSource(ACTIVE false) -> [1]a;
             a[0] -> Collect(0); a[1] -> Discard;
             DriverManager(pause, write a.insert 10.0.0.2 2:2:2:2:2:2, write a.insert 10.0.0.3 2:2:2:2:2:3,
                           write u.active true, wait 1, stop)"
        );
        let framed: Vec<_> =
            send(&config, packets).data(0).iter().map(|frame| (frame[5], frame[33])).collect();
        let known = order.iter().filter(|&&last| last != 9); // which waits
        assert_eq!(framed, known.map(|&last| (last, last)).collect::<Vec<_>>());
    }

    /// A packet whose buffer is full is dropped; those before it and behind it in a batch leave in their frames.
    #[test]
    fn packets_without_room_in_a_batch() {
        let full = packet::Class::Large.room() - packet::DEFAULT_HEADROOM;
        let packets = [(20, 2), (full, 2), (full, 3), (20, 3), (30, 2), (full, 3), (40, 2)];
        let packets = packets.map(|(len, last)| {
            let header = [0x45, 0, 0, 20, 0, 0, 0, 0, 64, 0, 0, 0, 10, 0, 0, 1, 10, 0, 0, last];
            [&header[..], &vec![0; len - header.len()]].concat()
        });
        // In front of the data eight octets are left then; what is there is any packet's.
        let config = format!(
            "Inject -> GetIPAddress(16) -> Unstrip(120) -> Queue -> u :: Unqueue(BURST 32, ACTIVE false) -> [0]{QUERIER});
             InfiniteSource(ACTIVE false) -> [1]a; a[0] -> Truncate(14) -> Collect(0); a[1] -> Discard;
             DriverManager(pause, write a.insert 10.0.0.2 2:2:2:2:2:2, write a.insert 10.0.0.3 2:2:2:2:2:3,
                           write u.active true, wait 1, stop)"
        );
        let mut flow = send(&config, packets);
        let header = |last| [2, 2, 2, 2, 2, last, 1, 1, 1, 1, 1, 1, 8, 0];
        assert_eq!(flow.data(0), [2, 3, 2, 2].map(header));
        assert_eq!(flow.drops(), [("no room for an Ethernet header", 3)]);
        assert_eq!(flow.read("a.drops"), "3");
    }

    /// Broadcast and multicast need no query; 0.0.0.0 is dropped, with one message.
    #[test]
    fn special_addresses() {
        let zero = "z :: InfiniteSource(DATA \\<45>, LIMIT 3) -> [0]a; ";
        let group = "g :: InfiniteSource(DATA \\<45000014 00000000 40000000 0a000001 e1820304>, LIMIT 2)
                     -> GetIPAddress(16) -> [0]a; ";
        let config = format!(
            "{QUERIER}); {zero} {group} {} InfiniteSource(ACTIVE false) -> [1]a; a[1] -> none :: Discard;
             a[0] -> c :: Classifier(0/ffffffffffff, 0/01005e020304, -); c[0] -> b :: Discard;
             c[1] -> m :: Discard; c[2] -> Discard;",
            source("s", 255, "LIMIT 5, STOP true")
        );
        assert_eq!(
            run_and_read(&config, &["b.count", "m.count", "none.count", "a.drops"]),
            ["5", "2", "0", "3"]
        );
        let said = "a :: ARPQuerier: would query for 0.0.0.0; missing dest IP addr annotation?\n";
        assert_eq!(run(&config), said);
    }

    /// At the capacity half of the waiting packets go, the oldest first; the others leave when the address is inserted,
    /// also in the table of another element.
    #[test]
    fn capacity_and_insert() {
        let config = format!(
            "t :: ARPTable(CAPACITY 8); {QUERIER}, TABLE t); {}
             InfiniteSource(LIMIT 1000, STOP true) -> Discard; InfiniteSource(ACTIVE false) -> [1]a;
             a[0] -> d :: Discard; a[1] -> q :: Discard;",
            source("s", 2, "LIMIT 9, END_CALL t.insert 10.0.0.2 2:2:2:2:2:2")
        );
        assert_eq!(
            run_and_read(&config, &["d.count", "q.count", "t.drops", "t.length", "a.drops"]),
            ["4", "1", "5", "0", "0"]
        );
    }

    /// An address that no host answers for is given up after the timeout, and its packets with it.
    #[test]
    fn a_silent_address_is_given_up_after_the_timeout() {
        let config = format!(
            "{QUERIER}, TIMEOUT 2); {} InfiniteSource(ACTIVE false) -> [1]a;
             a[0] -> d :: Discard; a[1] -> q :: Discard;",
            source("s", 2, "LIMIT 3")
        );
        let mut router = build(&config, 1, 32).unwrap();
        let handle = router.handle();
        let stop = std::thread::spawn(move || {
            // Simulated time goes on as soon as the router is idle.
            while !seen(&handle) || handle.call(Call::read("a.count", "")) != Ok("0".to_owned()) {}
            handle.stop();
        });
        router.run();
        stop.join().unwrap();
        let mut read = |path: &str| router.call(Call::read(path, "")).unwrap();
        assert_eq!(
            [read("a.length"), read("d.count"), read("a.stats")],
            ["0".to_owned(), "0".to_owned(), "3 packets killed\n1 ARP queries sent\n".to_owned()]
        );
    }

    fn seen(handle: &router::Handle) -> bool {
        handle.call(Call::read("a.queries", "")) != Ok("0".to_owned())
    }

    /// Packets that wait on one worker leave there when another ARPQuerier, on another worker, learns the address.
    #[test]
    fn two_workers() {
        let reply =
            "\\<ffffffffffff 020202020202 0806 0001080006040002 020202020202 0a000002 010101010101 0a000001>";
        let config = format!(
            "t :: ARPTable; {QUERIER}, TABLE t); b :: ARPQuerier(10.0.0.1, 1:1:1:1:1:1, TABLE t); {}
             InfiniteSource(ACTIVE false) -> [1]a; InfiniteSource(ACTIVE false) -> [0]b;
             s2 :: InfiniteSource(DATA {reply}, LIMIT 1, ACTIVE false) -> [1]b;
             a[0] -> d :: Counter(COUNT_CALL 7 stop) -> Discard; a[1] -> Discard; b -> Discard;
             StaticThreadSched(s2 1);",
            source("s", 2, "LIMIT 7, END_CALL s2.active true")
        );
        let mut router = build(&config, 2, 32).unwrap_or_else(|error| panic!("{error}"));
        let workers = |router: &mut router::Router, path: &str| router.call(Call::read(path, "")).unwrap();
        assert_ne!(workers(&mut router, "s.workers"), workers(&mut router, "s2.workers"));
        router.run();
        assert_eq!(router.call(Call::read("d.count", "")), Ok("7".to_owned()));
        assert_eq!(router.call(Call::read("t.length", "")), Ok("0".to_owned()));
    }

    /// A namesake in a new configuration knows what the old one knew, and has the packets that waited.
    #[test]
    fn taken_over() {
        let config = |rest: &str| {
            format!(
                "{QUERIER}); {} {} InfiniteSource(ACTIVE false) -> [1]a;
                 a[0] -> d :: Counter(COUNT_CALL 6 stop) -> Discard; a[1] -> Discard; {rest}",
                source("s", 2, "LIMIT 4"),
                source("s3", 3, "LIMIT 2"),
            )
        };
        let stop = "InfiniteSource(LIMIT 500, STOP true) -> Discard;";
        let mut old = build(&config(stop), 1, 1).unwrap();
        old.call(Call::write("a.insert", "10.0.0.3 3:3:3:3:3:3")).unwrap();
        old.run();
        let read = |router: &mut router::Router, path: &str| router.call(Call::read(path, "")).unwrap();
        assert_eq!([read(&mut old, "a.length"), read(&mut old, "d.count")], ["4", "2"]);
        let mut new = build(&config("").replace("LIMIT 4", "LIMIT 0"), 1, 1).unwrap();
        new.take_over(&mut old).unwrap();
        assert_eq!([read(&mut new, "a.length"), read(&mut new, "a.count")], ["4", "2"]);
        new.call(Call::write("a.insert", "10.0.0.2 2:2:2:2:2:2")).unwrap();
        new.run(); // stops with the sixth packet: two new ones, four that waited
        assert_eq!(read(&mut new, "a.length"), "0");
    }

    /// A namesake goes on looking after an address that no packet waits for: the neighbour that is asked whether it is still there has
    /// failed when it does not answer, and stays in the table as that.
    #[test]
    fn the_agenda_is_taken_over() {
        let config = |rest: &str| {
            format!(
                "{QUERIER}, PROBES 3, DELAY 1, POLL_TIMEOUT 1); {} InfiniteSource(ACTIVE false) -> [1]a;
                 a[0] -> Discard; a[1] -> Discard; {rest}",
                source("s", 2, "LIMIT 1, ACTIVE false")
            )
        };
        let read = |router: &mut router::Router, path: &str| router.call(Call::read(path, "")).unwrap();
        let first =
            "Script(write a.insert 10.0.0.2 2:2:2:2:2:2, wait 2, write s.active true, wait 0.1, stop);";
        let mut old = build(&config(first), 1, 1).unwrap();
        old.run();
        assert!(read(&mut old, "a.neighbours").contains(" delay "));
        let mut new = build(&config("Script(wait 9, stop);"), 1, 1).unwrap();
        new.take_over(&mut old).unwrap();
        assert!(read(&mut new, "a.neighbours").contains(" delay "));
        new.run();
        assert!(read(&mut new, "a.neighbours").contains(" failed "));
        let mut last = build(&config(""), 1, 1).unwrap();
        last.take_over(&mut new).unwrap();
        assert_eq!(read(&mut last, "a.count"), "1");
    }

    /// Where PROBES is given, queries are repeated once a second; the neighbour that does not answer three has failed, and what waited
    /// leaves by the third output.
    #[test]
    fn probes_and_failure() {
        let config = format!(
            "{QUERIER}, PROBES 3); {} InfiniteSource(ACTIVE false) -> [1]a; a[0] -> d :: Discard;
             a[1] -> Print(query, 0) -> Discard; a[2] -> Print(failed, 0) -> Discard;
             Script(wait 0.5, print $(a.queries), wait 1, print $(a.queries), wait 1, print $(a.queries),
                    wait 1, print $(a.length), print $(a.stats), stop);",
            source("s", 2, "LIMIT 3")
        );
        let lines = run(&config);
        let expected = [
            "query:   42",
            "1",
            "query:   42",
            "2",
            "query:   42",
            "3",
            "failed:   20",
            "failed:   20",
            "failed:   20",
            "0",
            "3 packets killed",
            "3 ARP queries sent",
        ];
        assert_eq!(lines.lines().map(str::trim_end).collect::<Vec<_>>(), expected);
    }

    /// Queries go to the VLAN of the packets for the address: those that are repeated, and probes, for which no packet waits, too.
    #[test]
    fn queries_stay_in_the_vlan() {
        let source = |name: &str, rest: &str, to: u8, vlan: u8| {
            format!(
                "{name} :: InfiniteSource(LENGTH 4, LIMIT 1{rest}) -> UDPIPEncap(10.0.0.1, 1, 10.0.0.{to}, 2)
                 -> SetVLANAnno({vlan}) -> [0]a;"
            )
        };
        let config = format!(
            "a :: ARPQuerier(10.0.0.1/24, 1:1:1:1:1:1, POLL_TIMEOUT 1, DELAY 1, PROBES 3); {} {}
             Idle -> [1]a; a[0] -> Discard; a[1] -> VLANEncap(ANNO) -> Print(MAXLENGTH 18) -> Discard;
             Script(write a.insert 10.0.0.3 3:3:3:3:3:3, wait 2.5, write b.active true, wait 5, stop);",
            source("a0", "", 2, 5),
            source("b", ", ACTIVE false", 3, 6)
        );
        let log = run(&config);
        let tags: Vec<_> = log.lines().map(|line| &line[line.len() - 13..]).collect();
        assert_eq!(tags, [["81000005 0806"; 3], ["81000006 0806"; 3]].concat(), "{log}");
    }

    /// The permanent neighbour stays whatever replies say; others change as UNASKED lets them.
    #[test]
    fn unasked_replies() {
        let reply = |mac: &str| {
            format!("\\<010101010101 {mac} 0806 0001080006040002 {mac} 0a000002 020202020202 0a000009>")
        };
        for (arguments, insert, expected) in [
            ("", "", "10.0.0.2 06-06-06-06-06-06 reachable"),
            (", UNASKED update", "", ""),
            (", UNASKED update", "2:2:2:2:2:2", "10.0.0.2 06-06-06-06-06-06 reachable"),
            (", UNASKED refuse", "2:2:2:2:2:2", "10.0.0.2 02-02-02-02-02-02 stale"),
            ("", "2:2:2:2:2:2 permanent", "10.0.0.2 02-02-02-02-02-02 permanent"),
        ] {
            let insert = if insert.is_empty() { "" } else { &format!("write a.insert 10.0.0.2 {insert},") };
            let config = format!(
                "{QUERIER}{arguments}); Idle -> [0]a; a[0] -> Discard; a[1] -> Discard;
                 r :: InfiniteSource(DATA {}, LIMIT 1, ACTIVE false) -> [1]a;
                 Script({insert} write r.active true, wait 0.001, print $(a.neighbours), stop);",
                reply("060606060606")
            );
            let said = run(&config);
            assert!(
                said.trim_end().starts_with(expected) && said.trim().is_empty() == expected.is_empty(),
                "{arguments} {said}"
            );
        }
    }

    /// A request tells its sender's address: to an entry that there is, or of whom it is this host that is asked for (RFC 826).
    #[test]
    fn a_request_tells_the_address_of_its_sender() {
        let request = |mac: &str, from: &str, to: &str| {
            format!("\\<ffffffffffff {mac} 0806 0001080006040001 {mac} {from} 000000000000 {to}>")
        };
        let (me, two, other) = ("0a000001", "0a000002", "0a000009");
        let news = "10.0.0.2 06-06-06-06-06-06 stale";
        for (arguments, insert, from, to, expected) in [
            ("", "", two, me, news),
            (", UNASKED update", "", two, me, news),
            (", UNASKED refuse", "", two, me, ""),
            ("", "", two, other, ""),
            ("", "2:2:2:2:2:2", two, other, news),
            ("", "6:6:6:6:6:6", two, other, "10.0.0.2 06-06-06-06-06-06 reachable"),
            (", UNASKED refuse", "2:2:2:2:2:2", two, me, "10.0.0.2 02-02-02-02-02-02 stale"),
            ("", "2:2:2:2:2:2 permanent", two, me, "10.0.0.2 02-02-02-02-02-02 permanent"),
            ("", "", "00000000", me, ""),
            ("", "", me, me, ""),
        ] {
            let insert = if insert.is_empty() { "" } else { &format!("write a.insert 10.0.0.2 {insert},") };
            let config = format!(
                "{QUERIER}{arguments}); Idle -> [0]a; a[0] -> Discard; a[1] -> Discard;
                 r :: InfiniteSource(DATA {}, LIMIT 1, ACTIVE false) -> [1]a;
                 Script({insert} write r.active true, wait 0.001, print $(a.neighbours), stop);",
                request("060606060606", from, to)
            );
            let said = run(&config);
            assert!(
                said.trim_end().starts_with(expected) && said.trim().is_empty() == expected.is_empty(),
                "{arguments} {insert} {from} {to}: {said}"
            );
        }
    }

    /// Those who ask for this host under ever other names take no more room than there is.
    #[test]
    fn a_flood_of_requests() {
        let config =
            "a :: ARPQuerier(10.0.0.1/24, 1:1:1:1:1:1, ENTRY_CAPACITY 16); Inject -> [1]a; Idle -> a;
            a[0] -> Discard; a[1] -> Discard";
        let request = |i: u16| {
            let [high, low] = i.to_be_bytes();
            [
                &[0xff; 6][..],
                &[2, 0, 0, 0, high, low],
                &[8, 6, 0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, high, low, 10, 1, high, low],
                &[0; 6],
                &[10, 0, 0, 1],
            ]
            .concat()
        };
        let mut flow = crate::testing::send_singly(config, (0..500).map(request));
        assert_eq!(flow.read("a.count"), "16");
    }

    #[derive(Clone, Debug)]
    enum Op {
        Packet(usize),
        Reply(usize, u8),
        Nothing,
    }

    fn ops() -> impl Strategy<Value = Vec<(Op, u32)>> {
        let op = prop_oneof![
            4 => (0usize..2).prop_map(Op::Packet),
            3 => (0usize..2, 0u8..2).prop_map(|(n, version)| Op::Reply(n, version)),
            1 => Just(Op::Nothing),
        ];
        let pause = prop_oneof![2 => 0u32..5, 1 => 5u32..30, 1 => 30u32..60];
        prop::collection::vec((op, pause), 1..40)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// In simulated time the element, its timers and its table behave as naive neighbours do, a millisecond at a time.
        #[test]
        fn as_the_rfc_says(ops in ops()) {
            let times = Times { reachable: 2000, delay: 500, retrans: 300, probes: 3, timeout: 5000 };
            let mut naive = [Naive::new(times), Naive::new(times)];
            let (mut script, mut expected) = (String::new(), String::new());
            for (op, pause) in ops {
                match op {
                    Op::Packet(n) => {
                        script += &format!("write p{n}.reset, write p{n}.active true, ");
                        naive[n].want();
                    }
                    Op::Reply(n, version) => {
                        script += &format!("write r{n}{version}.reset, write r{n}{version}.active true, ");
                        let mac = Some(MacAddr([2, version, 0, 0, 0, n as u8]));
                        naive[n].tell(News { mac, solicited: true, overrides: false });
                    }
                    Op::Nothing => {}
                }
                // No two commands are the same time after a tenth of a second, so that no timer expires just when one is given.
                let ms = pause * 100 + 1;
                script += &format!("wait {}.{:03}, print $(a.neighbours), print $(a.queries), ", ms / 1000, ms % 1000);
                (0..ms).for_each(|_| naive.iter_mut().for_each(Naive::pass));
                for (n, naive) in naive.iter().enumerate().filter(|(_, naive)| naive.state.is_known()) {
                    let mac = naive.mac.map(|mac| mac.to_string()).unwrap_or_default();
                    expected += &format!("10.0.0.{} {mac} {}\n", n + 2, naive.state.name());
                }
                expected += &format!("{}\n", naive.iter().map(|naive| naive.queries.len()).sum::<usize>());
            }
            let sources: String = (0..2).map(|n| {
                let reply = |version: u8| format!(
                    "r{n}{version} :: InfiniteSource(DATA \\<010101010101 02{version:02x}000000{n:02x} 0806 0001080006040002
                     02{version:02x}000000{n:02x} 0a00000{} 010101010101 0a000001>, LIMIT 1, ACTIVE false) -> [1]a; ", n + 2);
                source(&format!("p{n}"), n + 2, "LIMIT 1, ACTIVE false") + &reply(0) + &reply(1)
            }).collect();
            let config = format!(
                "{QUERIER}, PROBES 3, RETRANS 0.3, DELAY 0.5, POLL_TIMEOUT 2, TIMEOUT 5, UNASKED refuse); {sources}
                 a[0] -> Discard; a[1] -> c :: Counter -> Discard; Script({script} stop);"
            );
            let said = run(&config);
            let mut seen: Vec<String> = Vec::new();
            let mut part: Vec<String> = Vec::new();
            for line in said.lines().filter(|line| !line.trim().is_empty()) {
                let words: Vec<&str> = line.split(' ').collect();
                match words[..] {
                    [ip, mac, state, _] if mac != "-" => part.push(format!("{ip} {mac} {state}")),
                    [_, _, _, _] => {}
                    _ => {
                        part.sort();
                        seen.append(&mut part);
                        seen.push(line.to_owned());
                    }
                }
            }
            prop_assert_eq!(seen.join("\n") + "\n", expected);
            prop_assert!(naive.iter().all(|naive| naive.queries.first().is_none_or(|query| *query == Query::All)));
        }
    }

    #[test]
    fn bad_arguments_are_refused() {
        let text = errors(
            "InfiniteSource -> [0]a :: ARPQuerier(10.0.0.1, 1:1:1:1:1:1, TABLE x) -> Discard; InfiniteSource -> [1]a",
        );
        assert!(text.contains("no element named 'x'"), "{text}");
        let text =
            errors("InfiniteSource -> [0]a :: ARPQuerier(10.0.0.1) -> Discard; InfiniteSource -> [1]a");
        assert!(text.contains("  ETH: parse error\n"), "{text}");
    }
}
