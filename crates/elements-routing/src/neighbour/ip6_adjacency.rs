//! Does the last steps of forwarding an IPv6 packet in one pass: hop limit and Ethernet header.
//!
//! ```click
//! IP6Adjacency(IP6, ETH [, KEYWORDS])
//! ```
//!
//! Stands for `DecIP6HLIM -> IP6NDSolicitor(IP6, ETH, ...)`. Packets at input 0 are IPv6 packets that start with
//! their header, already checked, and have a destination annotation: the neighbour. The element decrements the hop
//! limit, looks up the neighbour's Ethernet address and prepends the header; the packet leaves by output 0.
//! Everything else is as with IP6NDSolicitor: packets for unknown neighbours wait, solicitations leave by output 1,
//! advertisements arrive at input 1.
//!
//! Packets whose hop limit is 0 or 1 leave unchanged by output 2, for ICMP6Error. Packets whose neighbour does not
//! answer leave by output 3, if there is one, with their hop limit decremented.
//!
//! Ports: 2 inputs, 3 or 4 outputs. Processing: push. Workers: shared.
//!
//! # Arguments
//! Those of IP6NDSolicitor.
//!
//! # Handlers
//! Those of IP6NDSolicitor.
//!
//! # Example
//! ```click
//! a :: IP6Adjacency(2001:db8::1, 00:00:C0:AE:67:EF);
//! Idle -> [0]a; Idle -> [1]a;
//! a[0] -> q :: Queue -> ToDevice(eth0); a[1] -> q;
//! a[2] -> ICMP6Error(2001:db8::1, 3, 0) -> Discard;
//! a[3] -> ICMP6Error(2001:db8::1, 1, 3) -> Discard;
//! ```
//!
//! # See also
//! IP6NDSolicitor, DecIP6HLIM, IPAdjacency

use super::ip6_nd_solicitor::create;
use router::{Class, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("IP6Adjacency", create::<true>)
    .ports("2/3-4")
    .processing("h/h")
    .flow("xy/x")
    .residency(Residency::Shared)
    .makes("queries")
    .absorbs("responses")
    .holds("packets that wait for an address")
    .keeps("neighbours", "ENTRY_CAPACITY", 65_536, 600)
    .doc(router::manual!("ip6_adjacency.rs"));

#[cfg(test)]
mod tests {
    use crate::testing::{Flow, Sent, send};
    use elements_testing::ip6_samples::hostile;
    use packet::Anno;
    use proptest::prelude::*;
    use std::net::Ipv6Addr;

    fn to(data: Vec<u8>, last: u16) -> Sent {
        let ip = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, last).octets();
        let [low, high] = [0, 8].map(|at| u64::from_ne_bytes(*ip[at..].first_chunk().unwrap()));
        let annotations = vec![(Anno::new(0, 8).unwrap(), low), (Anno::new(8, 8).unwrap(), high)];
        Sent { data, annotations, ..Sent::default() }
    }

    fn pass(packets: Vec<Sent>) -> [Flow; 2] {
        let rest = "Script(write a.insert 2001:db8::2 2:2:2:2:2:2, write a.insert 2001:db8::3 2:2:2:2:2:3);
            Idle -> [1]a; a[0] -> Collect(0); a[1] -> Collect(1);";
        let arguments = "2001:db8::1, 2:1:1:1:1:1";
        let one =
            format!("Inject -> MarkIP6Header -> a :: IP6Adjacency({arguments}); {rest} a[2] -> Collect(2);");
        let parts = format!(
            "Inject -> MarkIP6Header -> d :: DecIP6HLIM -> a :: IP6NDSolicitor({arguments}); {rest} d[1] -> Collect(2);"
        );
        [one, parts].map(|config| send(&config, packets.clone()))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        /// The same as the elements that it stands for.
        #[test]
        fn as_its_parts(packets in hostile(), lasts in prop::collection::vec(2u16..5, 40)) {
            let packets: Vec<Sent> = packets.into_iter().zip(lasts)
                .filter(|(data, _)| data.len() >= 40 && data[0] >> 4 == 6).map(|(data, last)| to(data, last)).collect();
            let [one, parts] = pass(packets);
            for at in 0..3 {
                prop_assert_eq!(one.data(at), parts.data(at), "output {}", at);
            }
        }
    }
}
