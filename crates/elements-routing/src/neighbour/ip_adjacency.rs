//! Does the last steps of forwarding an IPv4 packet in one pass: TTL and Ethernet header.
//!
//! ```click
//! IPAdjacency(IP, ETH [, KEYWORDS])
//! IPAdjacency(NAME [, KEYWORDS])
//! ```
//!
//! Stands for `DecIPTTL -> ARPQuerier(IP, ETH, ...)`. Packets at input 0 are IPv4 packets that start with their
//! header, already checked, and have a destination annotation: the neighbour. The element decrements the TTL, updates
//! the checksum (RFC 1624), looks up the neighbour's Ethernet address and prepends the header, all while the packet's
//! first bytes are in the cache; the packet leaves by output 0. Everything else is as with ARPQuerier: packets for
//! unknown neighbours wait, queries leave by output 1, ARP replies arrive at input 1.
//!
//! Packets whose TTL is 0 or 1 leave unchanged by output 2, for ICMPError. Packets whose neighbour does not answer
//! (see PROBES) leave by output 3, if there is one, with their TTL decremented.
//!
//! Ports: 2 inputs, 3 or 4 outputs. Processing: push. Workers: shared.
//!
//! # Arguments
//! Those of ARPQuerier.
//!
//! # Handlers
//! Those of ARPQuerier.
//!
//! # Example
//! ```click
//! a :: IPAdjacency(18.26.4.24/24, 00:00:C0:AE:67:EF, PROBES 3);
//! Idle -> [0]a; Idle -> [1]a;
//! a[0] -> q :: Queue -> ToDevice(eth0); a[1] -> q;
//! a[2] -> ICMPError(18.26.4.24, timeexceeded) -> Discard;
//! a[3] -> ICMPError(18.26.4.24, unreachable, host) -> Discard;
//! ```
//!
//! # See also
//! ARPQuerier, DecIPTTL, IPOutputCombo, IP6Adjacency

use super::arp_querier::create;
use router::{Class, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("IPAdjacency", create::<true>)
    .ports("2/3-4")
    .processing("h/h")
    .flow("xy/x")
    .residency(Residency::Shared)
    .makes("queries")
    .absorbs("responses")
    .holds("packets that wait for an address")
    .keeps("neighbours", "ENTRY_CAPACITY", 65_536, 600)
    .doc(router::manual!("ip_adjacency.rs"));

#[cfg(test)]
mod tests {
    use crate::testing::{Flow, Sent, send};
    use elements_testing::samples::{edited, hostile, udp};
    use packet::Anno;
    use proptest::prelude::*;
    use std::net::Ipv4Addr;

    /// The annotation of a packet for a neighbour.
    fn to(data: Vec<u8>, last: u8) -> Sent {
        let ip = u32::from_ne_bytes(Ipv4Addr::new(10, 0, 0, last).octets());
        Sent { data, annotations: vec![(Anno::new(0, 4).unwrap(), ip.into())], ..Sent::default() }
    }

    const REST: &str = "Idle -> [1]a; a[0] -> Collect(0); a[1] -> Collect(1);";

    fn pass(packets: Vec<Sent>) -> [Flow; 2] {
        let table =
            "t :: ARPTable; Script(write t.insert 10.0.0.2 2:2:2:2:2:2, write t.insert 10.0.0.3 2:2:2:2:2:3,
            write u.active true); DriverManager(wait_stop, wait 0.01, stop);";
        // No packet comes before the table is filled.
        let packets_come = "Inject -> Queue -> u :: Unqueue(ACTIVE false) -> MarkIPHeader";
        let arguments = "10.0.0.1/24, 1:1:1:1:1:1, TABLE t";
        let one =
            format!("{table} {packets_come} -> a :: IPAdjacency({arguments}); {REST} a[2] -> Collect(2);");
        let parts = format!(
            "{table} {packets_come} -> d :: DecIPTTL -> a :: ARPQuerier({arguments}); {REST}
             d[1] -> Collect(2);"
        );
        [one, parts].map(|config| send(&config, packets.clone()))
    }

    #[test]
    fn a_packet_gets_a_header_and_loses_a_hop() {
        let [one, _] = pass(vec![to(edited(udp(4), |ip| ip.set_ttl(9)), 3)]);
        let frame =
            [&[2, 2, 2, 2, 2, 3, 1, 1, 1, 1, 1, 1, 8, 0][..], &edited(udp(4), |ip| ip.set_ttl(8))].concat();
        assert_eq!(one.data(0), [frame]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        /// The same as the elements that it stands for, also for groups and for neighbours that are not known.
        #[test]
        fn as_its_parts(packets in hostile(), lasts in prop::collection::vec(prop_oneof![6 => 2u8..4, 1 => 4u8..6, 1 => Just(255)], 40)) {
            // What has no header is not for this element.
            let packets: Vec<Sent> = packets.into_iter().zip(lasts)
                .filter(|(data, _)| data.len() >= 20 && data[0] >> 4 == 4).map(|(data, last)| to(data, last)).collect();
            let [one, parts] = pass(packets);
            for at in 0..3 {
                prop_assert_eq!(one.data(at), parts.data(at), "output {}", at);
            }
        }
    }
}
