//! What a node of a cluster on this machine runs: `conf/cluster-node.click` for any number of nodes, and for a fly.

use super::network::{EXTERNAL, address, address6, link};
use crate::cluster::order::OrderArgument;
use crate::cluster::wiring::Wiring;
use std::fmt::Write;

/// The configuration of a node. `key_file` holds the shared key.
pub(super) fn of(node: u16, wiring: &Wiring, order: OrderArgument, key_file: &str) -> String {
    let arguments = format!("KEYFILE {key_file}, {order}");
    let mut text = format!("vlb :: {};\n", wiring.element(node, arguments));
    if node < wiring.terminals() {
        add_external(&mut text, node, wiring.terminals());
    } else {
        text.push_str("Idle -> vlb -> Discard;\n");
    }
    for (cable, other) in wiring.cables(node).into_iter().enumerate() {
        let (port, device) = (cable + 1, link(other));
        // Writing into a string cannot fail.
        let _ = writeln!(
            text,
            "FromDevice({device}, PROMISC true, SNIFFER false) -> [{port}]vlb[{port}] -> ToDevice({device});"
        );
    }
    text
}

/// The side of the external port, where routes are looked up.
fn add_external(text: &mut String, node: u16, nodes: u16) {
    let mut line = |text_of: std::fmt::Arguments<'_>| {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{text_of}");
    };
    line(format_args!("AddressInfo(port {} {} {EXTERNAL}:eth);", address(node, 1), address6(node, 1)));
    line(format_args!("out :: ToDevice({EXTERNAL});"));
    line(format_args!("FromDevice({EXTERNAL}) -> HostEtherFilter(port, DROP_OTHER true)"));
    line(format_args!("  -> kind :: Classifier(12/0806 20/0001, 12/0806 20/0002, 12/0800,"));
    line(format_args!("    12/86dd 20/3aff 54/87, 12/86dd 20/3aff 54/88, 12/86dd, -);"));
    line(format_args!("arp :: ARPQuerier(port:ip, port:eth) -> out;"));
    line(format_args!("kind[0] -> asked :: Tee -> ARPResponder(port:ip port:eth) -> out;"));
    line(format_args!("asked[1] -> [1]arp; kind[1] -> [1]arp; kind[6] -> Discard;"));
    line(format_args!("nd :: IP6NDSolicitor(port:ip6, port:eth) -> out;"));
    line(format_args!("kind[3] -> solicited :: Tee -> IP6NDAdvertiser(port:ip6 port:eth) -> out;"));
    line(format_args!("solicited[1] -> [1]nd; kind[4] -> [1]nd;"));
    let networks: Vec<_> = (0..nodes).map(|to| format!("{}/24 {to}", address(to, 0))).collect();
    line(format_args!("routes :: IPLookup({}, port:ip {nodes});", networks.join(", ")));
    let networks: Vec<_> = (0..nodes).map(|to| format!("{}/64 {to}", address6(to, 0))).collect();
    line(format_args!("routes6 :: IP6Lookup({}, port:ip6 {nodes});", networks.join(", ")));
    line(format_args!("kind[2] -> Strip(14) -> CheckIPHeader -> routes;"));
    line(format_args!("kind[5] -> DropBroadcasts -> Strip(14) -> CheckIP6Header(:: ::1 port:ip6)"));
    line(format_args!("  -> IP6Filter(deny src net fe80::/10, deny src net ff00::/8, allow all)"));
    line(format_args!("  -> GetIP6Address(24) -> routes6;"));
    line(format_args!("exceeded :: ICMPError(port:ip, timeexceeded) -> routes;"));
    line(format_args!("exceeded6 :: ICMP6Error(port:ip6, 3, 0) -> routes6;"));
    for to in 0..nodes {
        line(format_args!(
            "routes[{to}] -> t{to} :: DecIPTTL -> e{to} :: VLBEncap({to}) -> vlb; t{to}[1] -> exceeded;"
        ));
        line(format_args!("routes6[{to}] -> s{to} :: DecIP6HLIM -> e{to}; s{to}[1] -> exceeded6;"));
    }
    line(format_args!("routes[{nodes}] -> own :: IPClassifier(icmp type echo, -);"));
    line(format_args!("own[0] -> ICMPPingResponder -> routes; own[1] -> Discard;"));
    line(format_args!("routes6[{nodes}] -> own6 :: ICMP6PingResponder -> routes6; own6[1] -> Discard;"));
    line(format_args!("vlb -> leaving :: Classifier(12/0800, 12/86dd);"));
    line(format_args!("leaving[0] -> VLBDecap -> GetIPAddress(16) -> arp;"));
    line(format_args!("leaving[1] -> VLBDecap -> GetIP6Address(24) -> nd;"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use router::Classes;

    #[test]
    fn a_configuration_for_any_number_of_nodes_is_sound() {
        let known = Classes::new(elements::classes().iter().chain(control::CLASSES.iter().copied()));
        for (node, nodes, fly) in [
            (0, 1, None),
            (1, 2, None),
            (2, 7, None),
            (63, 64, None),
            (3, 4, Some(2)),
            (11, 4, Some(2)),
            (7, 5, Some(3)),
        ] {
            let wiring = Wiring::new(nodes, fly).expect("few");
            let parsed = lang::parse(&of(node, &wiring, OrderArgument::Pinned, "/none"), "node", &[]);
            assert!(parsed.diagnostics.is_empty(), "{nodes}: {}", lang::render_click(&parsed.diagnostics));
            let layout = router::layout(parsed.graph, &known, 1);
            assert!(layout.is_ok(), "{nodes}: {}", lang::render_click(&layout.err().unwrap_or_default()));
        }
    }
}
