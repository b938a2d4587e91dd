//! Every benchmark runs, with few packets, so that none rots.

use std::process::Command;

#[test]
fn forward() {
    let output = Command::new(env!("CARGO_BIN_EXE_clique-bench"))
        .args(["forward", "--tiny", "--json"])
        .output()
        .expect("the benchmark starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let figures = report["figures"].as_array().expect("figures");
    assert_eq!(figures.len(), 7);
    assert!(figures.iter().all(|figure| figure["ns_median"].as_f64() > Some(0.0)));
}

#[test]
fn rewriter() {
    let output = Command::new(env!("CARGO_BIN_EXE_clique-bench"))
        .args(["rewriter", "--tiny", "--json"])
        .output()
        .expect("the benchmark starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["figures"].as_array().map(Vec::len), Some(5));
}

#[test]
fn filter() {
    let output = Command::new(env!("CARGO_BIN_EXE_clique-bench"))
        .args(["filter", "--tiny", "--json"])
        .output()
        .expect("the benchmark starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["figures"].as_array().map(Vec::len), Some(4));
}
