//! What would become of packets in a configuration that does not run.

use crate::{program, text};

/// An interface that is not here, and a table with more than a default route.
const CONFIG: &str = "FromDevice(eth77) -> Strip(14) -> MarkIPHeader -> GetIPAddress(16)
    -> routes :: IPLookup(10.0.2.0/24 0, 0.0.0.0/0 1); routes[0] -> Discard; routes[1] -> Discard;";

fn explain(packet: &str) -> String {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("router.click");
    std::fs::write(&file, CONFIG).expect("written");
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
