//! What would become of packets in a configuration that does not run.

use crate::{program, text};

/// An interface that is not here, and a table with more than a default route.
const CONFIG: &str = "FromDevice(eth77) -> kinds :: Classifier(12/0800, -) -> Strip(14) -> mark :: MarkIPHeader -> t :: Tee -> GetIPAddress(16)
    -> routes :: IPLookup(10.0.2.0/24 0, 0.0.0.0/0 1); routes[0] -> Discard; kinds[1] -> Discard;
    routes[1] -> arp :: ARPQuerier(10.0.1.1, 2:0:0:0:0:1) -> both :: Counter -> Discard; Idle -> [1] arp;
    Idle -> alone :: Counter -> Discard; t[1] -> both;";

fn explain(packet: &str) -> String {
    explain_in(CONFIG, packet)
}

/// What becomes of a packet in this configuration.
fn explain_in(config: &str, packet: &str) -> String {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("router.click");
    std::fs::write(&file, config).expect("written");
    let file = file.to_str().expect("UTF-8");
    text(program(&["explain", "-c", file, packet]).output().expect("the program can be started"))
}

/// A packet without a frame goes where its header says also where elements that find that out stand before its place; interfaces need not be here.
#[test]
fn packets_go_where_their_headers_say() {
    for place in ["eth77", "routes bare"] {
        let said = explain(&format!("udp 10.0.1.2:1 > 10.0.2.2:2 in {place}"));
        assert!(said.contains("route 10.0.2.0/24: output 0"), "{place}: {said}");
    }
    let said = explain("udp 10.0.1.2:1 > 10.0.2.2:2 in routes[1]");
    assert!(said.contains("a packet comes in at an input, as in '[0]routes'"), "{said}");
}

/// At an element a packet is what others are there, which is said, and can be said otherwise.
#[test]
fn packets_are_what_others_are_at_their_place() {
    let say = |place: &str| explain(&format!("udp 10.0.1.2:1 > 10.0.2.2:2 in {place}"));
    for (place, assumed) in [
        ("routes", "(the packet is bare, as others that come to routes; the word 'frame' says otherwise)"),
        ("mark", "(the packet is bare, as others that come to mark; the word 'frame' says otherwise)"),
        ("kinds", "(the packet is a frame, as others that come to kinds; the word 'bare' says otherwise)"),
    ] {
        let said = say(place);
        assert!(said.contains(assumed) && said.contains("route 10.0.2.0/24: output 0"), "{place}: {said}");
    }
    // Where both come, and where nothing is known.
    for place in ["both", "alone"] {
        let said = say(place);
        assert!(said.contains("is taken for a frame: whether others that come to"), "{place}: {said}");
    }
    for place in ["routes bare", "kinds frame", "kinds vlan 7", "eth77"] {
        let said = say(place);
        assert!(!said.contains("says otherwise"), "{place}: {said}");
    }
    // What is said counts, also where it is wrong.
    assert!(!say("routes frame").contains("route 10.0.2.0/24"));
}

/// What only looks at packets, changes or counts them does not end an explanation, for IPv6 as for IPv4, with tags and without.
#[test]
fn explanations_go_through_what_lets_packets_pass() {
    let config = "Idle -> in :: Null -> VLANDecap -> kinds :: Classifier(12/0800, 12/86dd);
        kinds[0] -> Counter -> Print(in) -> MarkIPHeader(14) -> Strip(14) -> IPPrint -> SetIPDSCP(1) -> SetIPECN(0)
            -> StoreIPAddress(10.9.9.9, src) -> SetTimestamp -> GetIPAddress(16) -> routes :: RadixIPLookup(10.0.2.0/24 0, 0/0 1);
        kinds[1] -> MarkIP6Header(14) -> Strip(14) -> IP6Print -> SetIP6DSCP(1) -> SetIP6ECN(0) -> SetIP6Hlim(9) -> GetIP6Address(24)
            -> routes6 :: IP6Lookup(2001:db8:2::/48 0, ::/0 1);
        routes[0] -> Paint(1) -> p :: PaintSwitch; p[0] -> Discard;
        p[1] -> CheckPaint(1) -> EtherEncap(0x0800, 2:0:0:0:0:1, 2:0:0:0:0:2) -> VLANEncap(7) -> EtherMirror -> s :: Switch(1);
        routes6[0] -> Paint(1) -> IP6Encap(SRC 2001:db8::1, DST 2001:db8::2, PROTO 41)
            -> EtherVLANEncap(0x86dd, 2:0:0:0:0:1, 2:0:0:0:0:2, 7) -> StripEtherVLANHeader -> StaticSwitch(0) -> s;
        s[0] -> Discard; s[1] -> end :: Discard; routes[1] -> Discard; routes6[1] -> Discard;";
    for packet in ["udp 10.0.1.2:1 > 10.0.2.2:2", "udp [2001:db8::1]:1 > [2001:db8:2::2]:2"] {
        for tag in ["", " vlan 5"] {
            let said = explain_in(config, &format!("{packet} in in frame{tag}"));
            assert!(said.contains("routes") && said.contains("end "), "{said}");
            assert!(!said.contains("does not say"), "{said}");
        }
    }
    let colour = "Idle -> in :: Paint(4) -> p :: PaintSwitch; p[0] -> Discard; p[1] -> Discard;";
    let said = explain_in(colour, "udp 10.0.1.2:1 > 10.0.2.2:2 in in");
    assert!(said.contains("color 4") && said.contains("no such output"), "{said}");
}
