//! Whether packets have an Ethernet header where they come to an element: by the classes of the elements from which they come.

use router::{Info, Node, flows};
use std::collections::HashSet;

/// Elements looked at, at most.
const LOOKS: usize = 10_000;
/// Bytes of an Ethernet header.
const HEADER: usize = 14;

/// Classes whose packets leave with an Ethernet header.
const FRAMED: [&str; 21] = [
    "FromDevice",
    "FromNetmapDevice",
    "PollDevice",
    "FromDPDKDevice",
    "FromDPDKRing",
    "FromHost",
    "KernelTap",
    "HostEtherFilter",
    "EtherEncap",
    "EtherVLANEncap",
    "EnsureEther",
    "EtherMirror",
    "EtherRewrite",
    "EtherSwitch",
    "ListenEtherSwitch",
    "ARPAdvertiser",
    "ARPFaker",
    "ARPResponder",
    "IP6NDAdvertiser",
    "StoreEtherAddress",
    "VLBEncap",
];
/// Classes whose packets leave their first two outputs with an Ethernet header: queries, and packets whose neighbour is known.
const NEIGHBOURS: [&str; 4] = ["ARPQuerier", "IPAdjacency", "IP6NDSolicitor", "IP6Adjacency"];
/// Classes whose packets leave without.
const BARE: [&str; 14] = [
    "StripEtherVLANHeader",
    "StripToNetworkHeader",
    "KernelTun",
    "RawSocket",
    "IPEncap",
    "IP6Encap",
    "UDPIPEncap",
    "UDPIP6Encap",
    "DynamicUDPIPEncap",
    "GREEncap",
    "ICMPIPEncap",
    "ICMPPingSource",
    "ICMPError",
    "ICMP6Error",
];

/// What an element's class says of the packets at an output; `None` if they leave as they came.
fn says(node: &Node, output: usize) -> Option<bool> {
    let class = node.class.name;
    let length = || node.config.split(',').next()?.trim().parse::<usize>().ok();
    match class {
        "Strip" => length().filter(|length| *length >= HEADER).map(|_| false),
        "Unstrip" => length().filter(|length| *length >= HEADER).map(|_| true),
        _ if NEIGHBOURS.contains(&class) && output < 2 || FRAMED.contains(&class) => Some(true),
        _ if BARE.contains(&class) => Some(false),
        _ => None,
    }
}

/// Whether packets have an Ethernet header when they come to an input, or when an element brings them; `None` if some have and others have not, or
/// none of the elements before says so.
pub(super) fn is_framed(info: &Info, element: usize, input: Option<usize>) -> Option<bool> {
    let Some(input) = input else { return says(&info.nodes[element], 0) };
    let (mut open, mut known) = (vec![(element, input)], HashSet::new());
    let mut found = None;
    while let Some((element, input)) = open.pop() {
        if !known.insert((element, input)) || known.len() > LOOKS {
            continue;
        }
        let Some(port) = info.nodes[element].inputs.get(input) else { continue };
        for &(before, output) in &port.peers {
            let node = &info.nodes[before];
            match says(node, output) {
                Some(framed) if found.is_some_and(|found| found != framed) => return None,
                Some(framed) => found = Some(framed),
                None => {
                    let leads = |&input: &usize| flows(node.class, input, output);
                    open.extend((0..node.inputs.len()).filter(leads).map(|input| (before, input)));
                }
            }
        }
    }
    found
}
