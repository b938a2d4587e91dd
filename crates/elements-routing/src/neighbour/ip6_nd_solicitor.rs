//! Encapsulates IPv6 packets in Ethernet frames, with addresses found by neighbour discovery.
//!
//! ```click
//! IP6NDSolicitor(IP, ETH [, KEYWORDS])
//! ```
//!
//! The IPv6 counterpart of ARPQuerier (RFC 4861). Packets at input 0 are IPv6 packets with a destination annotation.
//! If its Ethernet address is known, the packet leaves by output 0 in an Ethernet frame. Otherwise the packet waits,
//! and a neighbour solicitation is sent: by output 1, or by output 0 if that is the only one. Neighbour
//! advertisements arrive at input 1, with their Ethernet headers; then the waiting packets leave, in order. Packets
//! for multicast groups go to the group's Ethernet address (RFC 2464).
//!
//! Packets at input 0 may be IPv4 packets, too, whose IPv6 destination annotation is their gateway (RFC 8950): a route lookup sets it
//! where an IPv4 route has an IPv6 gateway. They leave in frames of the type for IPv4. Those whose gateway does not answer leave by
//! output 2 as well: a Classifier(0/60%f0, -) in front of ICMP6Error finds the IPv6 packets among them.
//!
//! Neighbours have the states of section 7.3.2. An address is incomplete while it is being resolved, by up to three
//! solicitations, one per second; reachable for half a minute after an answer; then stale. If it is still used, after
//! five seconds of delay it is probed, three times; without an answer it has failed. Packets waiting for it are then
//! dropped, or leave by output 2 if there is one, for ICMP6Error (section 7.2.2). The address table is shared by all
//! workers and is read without locks; packets wait on the worker on which they arrived.
//!
//! Advertisements are believed only if they come from the local link (hop limit 255), have a correct checksum, and
//! are about addresses in the table; their flags are handled as in section 7.2.5. Solicitations may arrive at input 1
//! too: the sender of a solicitation for this host is entered as stale, and so is a neighbour's new Ethernet address
//! (section 7.2.3).
//!
//! Ports: 2 inputs, 1 to 3 outputs. Processing: push. Workers: shared.
//!
//! # Arguments
//! - `IP` (IPv6 address), `ETH` (Ethernet address): this host's addresses.
//! - `CAPACITY`, `ENTRY_CAPACITY`, `UNKNOWN_CAPACITY`, `ENTRY_PACKET_CAPACITY`, `CAPACITY_SLIM_FACTOR`, `TIMEOUT`, `POLL_TIMEOUT`
//!   (default 30 s), `DELAY` (default 5 s), `RETRANS`, `PROBES` (default 3), `INTERFACE`: see ARPTable.
//!
//! # Handlers
//! - `table`, `neighbours`, `count`, `length`, `refused` (read), `insert`, `delete` (write): see ARPTable;
//!   `table` without ages.
//! - `stats` (read): packets dropped and solicitations sent, as text.
//! - `queries`, `responses` (read): solicitations sent, and packets received that may be advertisements.
//! - `drops` (read): packets dropped, except those that waited for an answer that did not come.
//! - `clear` (write): forgets all addresses and sets counts to zero.
//!
//! # Example
//! ```click
//! c :: Classifier(12/86dd 20/3aff 54/88, 12/86dd);
//! nd :: IP6NDSolicitor(2001:db8::1, 00:00:C0:AE:67:EF);
//! c[0] -> [1]nd;
//! c[1] -> Strip(14) -> CheckIP6Header -> GetIP6Address(24) -> nd -> Queue -> ToDevice(eth0);
//! ```
//!
//! # See also
//! IP6NDAdvertiser, IP6Adjacency, ARPQuerier

use crate::neighbour::arguments::{RFC_4861, TableArgs};
use crate::neighbour::nd::Nd;
use crate::neighbour::querier;
use router::{Class, Config, ConfigError, Element, Residency};
use std::net::Ipv6Addr;
use wire::MacAddr;

/// The class.
pub(crate) const CLASS: Class = Class::new("IP6NDSolicitor", create::<false>)
    .ports("2/1-3")
    .processing("h/h")
    .flow("xy/x")
    .residency(Residency::Shared)
    .makes("queries")
    .absorbs("responses")
    .holds("packets that wait for an address")
    .keeps("neighbours", "ENTRY_CAPACITY", 65_536, 600)
    .doc(router::manual!("ip6_nd_solicitor.rs"));

/// Makes an IP6NDSolicitor, or with `HOP` an IP6Adjacency.
pub(super) fn create<const HOP: bool>(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut args, mut ip, mut mac) = (TableArgs::default(), Ipv6Addr::UNSPECIFIED, MacAddr::ZERO);
    args.read(config.args()).required("IP", &mut ip).required("ETH", &mut mac).finish()?;
    querier::create::<Nd, HOP>(config, Nd { ip, mac }, None, &args, RFC_4861)
}

#[cfg(test)]
mod tests {
    use crate::neighbour::nd::advertised;
    use crate::testing::{Sent, send_singly};
    use packet::Anno;
    use proptest::prelude::*;
    use std::net::Ipv6Addr;
    use wire::{icmpv6, ipv6};

    fn advertisement(target: &str, hop_limit: u8) -> Vec<u8> {
        let target: Ipv6Addr = target.parse().unwrap();
        let me: Ipv6Addr = "2001:db8::1".parse().unwrap();
        let mut message =
            [&[136, 0, 0, 0, 0x60, 0, 0, 0][..], &target.octets(), &[2, 1, 7, 7, 7, 7, 7, 8]].concat();
        message[30] &= 0xfe;
        message[26] = 6; // the first byte of an Ethernet address: not a group
        icmpv6::fill_checksum(target, me, &mut message).unwrap();
        let fixed = [0x60, 0, 0, 0, 0, 32, 58, hop_limit];
        [&[2; 12][..], &[0x86, 0xdd], &fixed, &target.octets(), &me.octets(), &message].concat()
    }

    fn data(to: &str, byte: u8) -> Sent {
        let to: Ipv6Addr = to.parse().unwrap();
        let [low, high] = [0, 8].map(|at| u64::from_ne_bytes(*to.octets()[at..].first_chunk().unwrap()));
        let place = |offset| Anno::new(offset, 8).unwrap();
        let annotations = vec![(place(0), low), (place(8), high)];
        Sent { data: vec![0x60, byte], annotations, ..Sent::default() }
    }

    /// A solicitation of `target`, with its sender's Ethernet address.
    fn solicitation(source: &str, target: &str, mac: u8) -> Vec<u8> {
        let [source, target]: [Ipv6Addr; 2] = [source, target].map(|text| text.parse().expect("an address"));
        let mut message =
            [&[135, 0, 0, 0, 0, 0, 0, 0][..], &target.octets(), &[1, 1, 6, 6, 6, 6, 6, mac]].concat();
        icmpv6::fill_checksum(source, target, &mut message).expect("long enough");
        let fixed = [0x60, 0, 0, 0, 0, 32, 58, 255];
        [&[2; 12][..], &[0x86, 0xdd], &fixed, &source.octets(), &target.octets(), &message].concat()
    }

    /// An IPv4 packet with an IPv6 gateway waits for it, and leaves in a frame of its own type, also together with IPv6 packets.
    #[test]
    fn ipv4_packets_to_ipv6_gateways() {
        let config = "Inject -> c :: Classifier(0/02, -); nd :: IP6NDSolicitor(2001:db8::1, 2:0:0:0:0:1);
                      c[0] -> [1]nd; c[1] -> nd; nd -> Collect(0); nd[1] -> Discard";
        let v4 = |byte| Sent { data: vec![0x45, byte], ..data("2001:db8::7", 0) };
        let sent = [
            v4(1),
            data("2001:db8::7", 2),
            advertisement("2001:db8::7", 255).into(),
            v4(3),
            data("2001:db8::7", 4),
        ];
        let frames = |frames: Vec<Vec<u8>>| -> Vec<(u8, [u8; 2])> {
            frames.iter().map(|frame| (frame[15], [frame[12], frame[13]])).collect()
        };
        let (ipv4, ipv6) = ([8, 0], [0x86, 0xdd]);
        let expected = [(1, ipv4), (2, ipv6), (3, ipv4), (4, ipv6)];
        assert_eq!(frames(send_singly(config, sent.clone()).data(0)), expected);
        assert_eq!(frames(crate::testing::send(config, sent).data(0)), expected);
    }

    /// Who asks for this host is a neighbour from then on, stale; who asks for another, or has no address, is not.
    #[test]
    fn only_a_host_that_asks_for_this_one_becomes_a_neighbour() {
        let config = "nd :: IP6NDSolicitor(2001:db8::1, 2:0:0:0:0:1); Inject -> [1]nd; Idle -> nd; nd -> Discard; nd[1] -> Discard";
        let learned = |frames: &[Vec<u8>]| send_singly(config, frames.to_vec()).read("nd.neighbours");
        let first = solicitation("fe80::6", "2001:db8::1", 6);
        assert!(learned(std::slice::from_ref(&first)).starts_with("fe80::6 06-06-06-06-06-06 stale"));
        let second = solicitation("fe80::6", "2001:db8::1", 8);
        assert!(learned(&[first.clone(), second]).starts_with("fe80::6 06-06-06-06-06-08 stale"));
        for (source, target) in
            [("fe80::6", "2001:db8::2"), ("::", "2001:db8::1"), ("2001:db8::1", "2001:db8::1")]
        {
            assert_eq!(learned(&[solicitation(source, target, 6)]), "", "{source} {target}");
        }
        let (mut forged, mut far) = (first.clone(), first);
        forged[60] ^= 1;
        far[21] = 254;
        assert_eq!(learned(&[forged, far]), "");
    }

    /// Packets wait for the address that is asked for, and leave in order when it is told; a forged answer, one with
    /// another hop limit, and one that was not asked for change nothing.
    #[test]
    fn packets_wait_for_the_answer_and_leave_in_order() {
        let config = "Inject -> c :: Classifier(0/02, -); nd :: IP6NDSolicitor(2001:db8::1, 2:0:0:0:0:1);
                      c[0] -> [1]nd; c[1] -> nd; nd -> Collect(0); nd[1] -> Collect(1)";
        let mut forged = advertisement("2001:db8::7", 255);
        forged[83] ^= 1;
        let sent = [
            data("2001:db8::7", 1),
            data("2001:db8::7", 2),
            advertisement("2001:db8::7", 254).into(),
            forged.into(),
            advertisement("2001:db8::9", 255).into(),
            data("2001:db8::7", 3),
            advertisement("2001:db8::7", 255).into(),
            data("2001:db8::7", 4),
            data("2001:db8::9", 5),
            data("ff02::1:2", 6),
        ];
        let mut flow = send_singly(config, sent);
        let frames: Vec<(u8, u8)> = flow.data(0).iter().map(|frame| (frame[15], frame[0])).collect();
        assert_eq!(frames, [(1, 6), (2, 6), (3, 6), (4, 6), (6, 0x33)]);
        let queries = flow.data(1);
        assert_eq!(queries.len(), 2, "one for each address");
        assert_eq!(queries[0][..6], [0x33, 0x33, 0xff, 0, 0, 7]);
        let ip = ipv6::Header::new_checked(&queries[0][14..]).unwrap();
        assert_eq!((ip.src(), ip.dst()), ("2001:db8::1".parse().unwrap(), "ff02::1:ff00:7".parse().unwrap()));
        assert_eq!(icmpv6::verify_checksum(ip.src(), ip.dst(), &queries[0][54..]), Ok(()));
        assert_eq!((flow.read("nd.length"), flow.read("nd.count")), ("1".into(), "2".into()));
    }

    /// Solicitations go to the VLAN of the packets for the address: those that are repeated, and probes, for which no packet waits, too.
    #[test]
    fn solicitations_stay_in_the_vlan() {
        let source = |name: &str, rest: &str, to: u8, vlan: u8| {
            format!(
                "{name} :: InfiniteSource(LENGTH 4, LIMIT 1{rest}) -> IP6Encap(udp, 2001:db8::1, 2001:db8::{to})
                 -> SetVLANAnno({vlan}) -> [0]nd;"
            )
        };
        let config = format!(
            "nd :: IP6NDSolicitor(2001:db8::1, 1:1:1:1:1:1, POLL_TIMEOUT 1, DELAY 1); {} {}
             Idle -> [1]nd; nd[0] -> Discard; nd[1] -> VLANEncap(ANNO) -> Print(MAXLENGTH 18) -> Discard;
             Script(write nd.insert 2001:db8::3 3:3:3:3:3:3, wait 2.5, write b.active true, wait 5, stop);",
            source("a", "", 2, 5),
            source("b", ", ACTIVE false", 3, 6)
        );
        let log = crate::testing::run(&config);
        let tags: Vec<_> = log.lines().map(|line| &line[line.len() - 13..]).collect();
        assert_eq!(tags, [["81000005 86dd"; 3], ["81000006 86dd"; 3]].concat(), "{log}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn only_an_intact_advertisement_is_an_answer(at in 12usize..86, flip in 1u8.., noise in prop::collection::vec(any::<u8>(), 0..120)) {
            let mut frame = advertisement("2001:db8::7", 255);
            prop_assert!(advertised(&frame).is_some());
            frame[at] ^= flip;
            // Traffic class and flow label do not matter.
            prop_assert!(advertised(&frame).is_none() || (14..18).contains(&at));
            prop_assert!(advertised(&noise).is_none());
        }
    }
}
