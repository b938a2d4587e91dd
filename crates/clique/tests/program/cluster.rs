//! `clique cluster`.

use super::clique;

/// What RB4 of the RouteBricks paper comes to.
#[test]
fn plan_of_four() {
    let text = clique(&["cluster", "plan", "--ports", "4", "--latency", "24"]);
    for line in [
        "topology              full mesh",
        "links                 6 of at least 5 Gbps",
        "20 Gbps with uniform traffic, 30 Gbps with the worst (c = 2 to 3)",
        "48.0 us straight, 72.0 us balanced",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
}

/// Figure 3 as JSON and as a picture; a server that is too slow is an error with a reason.
#[test]
fn figure_3() {
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("figure3.svg");
    let file = file.to_str().expect("UTF-8");
    let text = clique(&["cluster", "plan", "--figure3", "--svg", file, "--json"]);
    let json: serde_json::Value =
        serde_json::from_str(text.trim_start_matches("exit status: 0\n--- output\n")).expect("JSON");
    assert_eq!(json["rows"][8]["points"][0]["servers"], 3_072);
    assert!(std::fs::read_to_string(file).expect("written").starts_with("<svg"));
    let slow = clique(&["cluster", "plan", "--ports", "8", "--packet-rate", "1000"]);
    assert!(slow.starts_with("exit status: 1\n") && slow.contains("too slow"), "{slow}");
}
