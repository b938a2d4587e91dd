//! The demonstration, as small as it gets.

use crate::program;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// A small table, a second, two workers: everything that is checked agrees, and the report says what it should.
#[test]
fn a_small_demo_agrees_and_reports() {
    let directory = tempfile::tempdir().expect("a directory");
    let table = directory.path().join("table");
    let mut prefixes: String = (1..200).map(|n| format!("{n}.0.0.0/8\n{n}.{n}.0.0/16\n")).collect();
    prefixes.extend((1..100).map(|n| format!("2001:{n:x}::/32\n")));
    std::fs::write(&table, prefixes).expect("written");
    let table = table.to_str().expect("UTF-8");
    let arguments = [
        "demo",
        "-j",
        "2",
        "--seconds",
        "1",
        "--frames",
        "4096",
        "--updates",
        "200",
        "--table",
        table,
        "--json",
    ];
    let output = program(&arguments).output().expect("the program can be started");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON and nothing else");
    let number = |name: &str| report[name].as_f64().unwrap_or_else(|| panic!("no number '{name}': {report}"));
    assert_eq!(number("workers"), 2.0);
    assert!(number("prefixes_v4") >= 300.0 && number("prefixes_v6") >= 90.0, "{report}");
    assert!(number("packets_received") >= number("packets_sent") && number("packets_sent") > 0.0, "{report}");
    assert!(number("route_changes") > 0.0, "{report}");
    assert_eq!(number("disagreeing"), 0.0, "{report}");
    assert!(number("checked") > 0.0, "{report}");
}

#[test]
fn a_missing_table_is_an_error_not_a_crash() {
    let said = crate::clique(&["demo", "--table", "/nowhere/table"]);
    assert!(said.starts_with("exit status: 1\n--- messages\nclique demo: "), "{said}");
}

/// A signal ends the demonstration early, with its summary.
#[test]
fn an_interrupted_demo_sums_up() {
    let directory = tempfile::tempdir().expect("a directory");
    let table = directory.path().join("table");
    std::fs::write(&table, "10.0.0.0/8\n2001:db8::/32\n").expect("written");
    let arguments = [
        "demo",
        "-j",
        "1",
        "--seconds",
        "600",
        "--frames",
        "1024",
        "--table",
        table.to_str().expect("UTF-8"),
    ];
    let mut child = program(&arguments).stdout(Stdio::piped()).spawn().expect("the program can be started");
    let mut lines = BufReader::new(child.stdout.take().expect("it was piped")).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("Gbit/s")), "the heading");
    assert!(lines.next().is_some(), "the first second");
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.is_ok_and(|status| status.success()));
    let rest: Vec<String> = lines.collect();
    assert_eq!(child.wait().expect("awaited").code(), Some(0));
    for part in ["packets received", "Dropped on purpose", "Right: all ", "Next: "] {
        assert!(rest.iter().any(|line| line.contains(part)), "{part}: {rest:#?}");
    }
}
