//! What a node of a cluster on this machine runs: `conf/cluster-node.click` for any number of nodes, and for a fly.

use super::Deployment;
use super::network::{EXTERNAL, address, address6, link};
use std::fmt::Write;

/// What came in fragments may leave in fragments: it loses "don't fragment".
const UNBOUND: &str = r"StoreData(6, \<00>, \<40>) -> SetIPChecksum";
/// Hosts behind one address may have given their packets the same identifications.
const CUT: &str = "IPFragmenter(1500, NEW_ID true)";

/// The configuration of a node. `key_file` holds the shared key.
pub(super) fn of(node: u16, deployment: &Deployment, key_file: &str) -> String {
    let (wiring, order) = (&deployment.wiring, deployment.order);
    let arguments = format!("KEYFILE {key_file}, {order}");
    let mut text = format!("vlb :: {};\n", wiring.element(node, arguments));
    if node < wiring.terminals() && deployment.translates {
        add_translating(&mut text, node, wiring.terminals());
        add_untranslated(&mut text, node, wiring.terminals());
    } else if node < wiring.terminals() {
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
    line(format_args!("routes[{nodes}] -> IPReassembler -> own :: IPClassifier(icmp type echo, -);"));
    line(format_args!("own[0] -> ICMPPingResponder -> IPFragmenter(1500) -> routes; own[1] -> Discard;"));
    line(format_args!("routes6[{nodes}] -> IP6Reassembler -> own6 :: ICMP6PingResponder;"));
    line(format_args!("own6[0] -> IP6Fragmenter(1500) -> routes6; own6[1] -> Discard;"));
    line(format_args!("vlb -> leaving :: VLBDecap(FAMILIES true);"));
    line(format_args!("leaving[0] -> arp;"));
    line(format_args!("leaving[1] -> nd;"));
}

/// The same where the node translates what its host sends, and another node takes its place when it drains or dies: `conf/cluster-nat.click`
/// for any number of nodes.
fn add_translating(text: &mut String, node: u16, nodes: u16) {
    let mut line = |text_of: std::fmt::Arguments<'_>| {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{text_of}");
    };
    let public = |node: u16| format!("192.0.2.{}", node + 1);
    line(format_args!("AddressInfo(port {} {} {EXTERNAL}:eth);", address(node, 254), address6(node, 0xfe)));
    line(format_args!("state :: VLBState(vlb, rw, pings) -> vlb;"));
    let gateways: Vec<_> = (0..nodes).map(|of| address(of, 1)).collect();
    line(format_args!("out :: ToDevice({EXTERNAL});"));
    line(format_args!("FromDevice({EXTERNAL}, PROMISC true, SNIFFER false)"));
    let gateways6: Vec<_> = (0..nodes).map(|of| address6(of, 1)).collect();
    line(format_args!("  -> gate :: VLBGate(state, port:eth, {},", gateways.join(", ")));
    line(format_args!("    ADDRESS6 {});", gateways6.join(" ")));
    line(format_args!("gate[1] -> out;"));
    line(format_args!("gate -> kind :: Classifier(12/0806, 12/0800,"));
    line(format_args!("    12/86dd 20/3aff 54/87, 12/86dd 20/3aff 54/88, 12/86dd, -);"));
    line(format_args!("arp :: ARPQuerier(port:ip, port:eth) -> out;"));
    line(format_args!("kind[0] -> [1]arp; kind[5] -> Discard;"));
    line(format_args!("kind[1] -> Strip(14) -> CheckIPHeader -> ttl :: DecIPTTL"));
    line(format_args!(
        "  -> to :: IPClassifier(dst net 192.0.2.0/24, ip frag, tcp or udp, icmp type echo, icmp, -);"
    ));
    line(format_args!("ttl[1] -> ICMPError({}, timeexceeded) -> GetIPAddress(16) -> arp;", address(node, 1)));
    line(format_args!("to[1] -> parts :: IPReassembler -> {UNBOUND} -> to;"));
    line(format_args!(
        "parts[1] -> ICMPError({}, timeexceeded, reassembly) -> GetIPAddress(16) -> arp;",
        address(node, 1)
    ));
    line(format_args!("rw :: IPRewriter(pattern {} 1024-65535 - - 0 1, drop);", public(node)));
    line(format_args!("pings :: ICMPPingRewriter(pattern {} 1024-65535 - - 0 1, drop);", public(node)));
    line(format_args!("to[2] -> [0]rw; to[3] -> [0]pings; to[5] -> Discard;"));
    line(format_args!("to[4] -> errors_out :: ICMPRewriter(rw pings, CHECKSUM true, TRANSLATE_SRC true);"));
    let routes: Vec<_> =
        (0..nodes).map(|to| format!("{}/24 {to}, {}/32 {to}", address(to, 0), public(to))).collect();
    line(format_args!(
        "to[0], rw[0], pings[0], errors_out -> {CUT} -> routes :: IPLookup({});",
        routes.join(", ")
    ));
    for to in 0..nodes {
        line(format_args!("routes[{to}] -> VLBEncap({to}) -> vlb;"));
    }
    line(format_args!("vlb -> leaving :: Classifier(12/88b6, 12/0800, 12/86dd);"));
    line(format_args!("leaving[0] -> state;"));
    line(format_args!("leaving[1] -> VLBDecap -> MarkIPHeader"));
    line(format_args!(
        "  -> back :: IPClassifier(not dst net 192.0.2.0/24, ip frag, tcp or udp, icmp type echo-reply, icmp, -);"
    ));
    line(format_args!("back[1] -> IPReassembler -> {UNBOUND} -> back;"));
    line(format_args!("back[2] -> [1]rw; back[3] -> [1]pings; back[5] -> Discard;"));
    line(format_args!("back[4] -> errors_in :: ICMPRewriter(rw pings, CHECKSUM true);"));
    line(format_args!("back[0], rw[1], pings[1], errors_in -> {CUT} -> GetIPAddress(16) -> arp;"));
}

/// IPv6, which no node translates.
fn add_untranslated(text: &mut String, node: u16, nodes: u16) {
    let mut line = |text_of: std::fmt::Arguments<'_>| {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{text_of}");
    };
    line(format_args!("nd :: IP6NDSolicitor(port:ip6, port:eth) -> out;"));
    line(format_args!("kind[2] -> solicited :: Tee -> IP6NDAdvertiser(port:ip6 port:eth) -> out;"));
    line(format_args!("solicited[1] -> [1]nd; kind[3] -> [1]nd;"));
    line(format_args!("kind[4] -> DropBroadcasts -> Strip(14) -> CheckIP6Header(:: ::1 port:ip6)"));
    line(format_args!("  -> IP6Filter(deny src net fe80::/10, deny src net ff00::/8, allow all)"));
    line(format_args!("  -> hops :: DecIP6HLIM -> GetIP6Address(24)"));
    let networks: Vec<_> = (0..nodes).map(|to| format!("{}/64 {to}", address6(to, 0))).collect();
    line(format_args!("  -> routes6 :: IP6Lookup({});", networks.join(", ")));
    line(format_args!("hops[1] -> ICMP6Error({}, 3, 0) -> GetIP6Address(24) -> nd;", address6(node, 1)));
    for to in 0..nodes {
        line(format_args!("routes6[{to}] -> VLBEncap({to}) -> vlb;"));
    }
    line(format_args!("leaving[2] -> VLBDecap -> GetIP6Address(24) -> nd;"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::order::OrderArgument;
    use crate::cluster::wiring::Wiring;
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
            for translates in [false, true] {
                let deployment = Deployment {
                    wiring: wiring.clone(),
                    order: OrderArgument::Pinned,
                    translates,
                    threads: 1,
                    with_trial: false,
                    seconds: None,
                    json: false,
                };
                let parsed = lang::parse(&of(node, &deployment, "/none"), "node", &[]);
                assert!(
                    parsed.diagnostics.is_empty(),
                    "{nodes}: {}",
                    lang::render_click(&parsed.diagnostics)
                );
                let layout = router::layout(parsed.graph, &known, 2);
                assert!(layout.is_ok(), "{nodes}: {}", lang::render_click(&layout.err().unwrap_or_default()));
            }
        }
    }
}
