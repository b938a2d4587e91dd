//! What a node of a cluster on this machine runs: `conf/cluster-node.click` for any number of nodes.

use super::network::{EXTERNAL, address, link};
use crate::cluster::up::Order;
use std::fmt::Write;

/// The configuration of a node. `key_file` holds the shared key.
pub(super) fn of(node: u16, nodes: u16, order: Order, key_file: &str) -> String {
    let mut text = String::new();
    let mut line = |text_of: std::fmt::Arguments<'_>| {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{text_of}");
    };
    let order = format!("{order:?}").to_uppercase();
    line(format_args!(
        "vlb :: VLBNode({node}, {nodes}, KEYFILE {key_file}, ORDER {order}, LINE_RATE 1Gbps);"
    ));
    line(format_args!("AddressInfo(port {} {EXTERNAL}:eth);", address(node, 1)));
    line(format_args!("out :: ToDevice({EXTERNAL});"));
    line(format_args!("FromDevice({EXTERNAL}) -> HostEtherFilter(port, DROP_OTHER true)"));
    line(format_args!("  -> kind :: Classifier(12/0806 20/0001, 12/0806 20/0002, 12/0800, -);"));
    line(format_args!("arp :: ARPQuerier(port:ip, port:eth) -> out;"));
    line(format_args!("kind[0] -> ARPResponder(port:ip port:eth) -> out;"));
    line(format_args!("kind[1] -> [1]arp; kind[3] -> Discard;"));
    let networks: Vec<_> = (0..nodes).map(|to| format!("{}/24 {to}", address(to, 0))).collect();
    line(format_args!("routes :: IPLookup({}, port:ip {nodes});", networks.join(", ")));
    line(format_args!("kind[2] -> Strip(14) -> CheckIPHeader -> routes;"));
    line(format_args!("exceeded :: ICMPError(port:ip, timeexceeded) -> routes;"));
    for to in 0..nodes {
        line(format_args!(
            "routes[{to}] -> t{to} :: DecIPTTL -> VLBEncap({to}) -> vlb; t{to}[1] -> exceeded;"
        ));
    }
    line(format_args!("routes[{nodes}] -> own :: IPClassifier(icmp type echo, -);"));
    line(format_args!("own[0] -> ICMPPingResponder -> routes; own[1] -> Discard;"));
    line(format_args!("vlb -> VLBDecap -> CheckIPHeader -> GetIPAddress(16) -> arp;"));
    for (port, other) in (0..nodes).filter(|&other| other != node).enumerate() {
        let (port, device) = (port + 1, link(other));
        line(format_args!(
            "FromDevice({device}, PROMISC true, SNIFFER false) -> [{port}]vlb[{port}] -> ToDevice({device});"
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use router::Classes;

    /// It is one that can be run, for any number of nodes.
    #[test]
    fn is_sound() {
        let known = Classes::new(elements::classes().iter().chain(control::CLASSES.iter().copied()));
        for (node, nodes) in [(0, 1), (1, 2), (2, 7), (63, 64)] {
            let parsed = lang::parse(&of(node, nodes, Order::Strict, "/none"), "node", &[]);
            assert!(parsed.diagnostics.is_empty(), "{nodes}: {}", lang::render_click(&parsed.diagnostics));
            let layout = router::layout(parsed.graph, &known, 1);
            assert!(layout.is_ok(), "{nodes}: {}", lang::render_click(&layout.err().unwrap_or_default()));
        }
    }
}
