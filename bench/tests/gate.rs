//! `bench/gate.sh` tells a path that has become longer from one that has not.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A table of its own, removed at the end.
struct Table(PathBuf);

impl Table {
    fn new(name: &str, text: &str) -> Table {
        let path = std::env::temp_dir().join(format!("clique-gate-{}-{name}", std::process::id()));
        std::fs::write(&path, text).expect("there is room for a line");
        Table(path)
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// What it says of these counts, beside that table. Nothing is counted.
fn gate(baseline: &Path, counts: &str, more: &[&str]) -> Output {
    let counts = Table::new("counts", counts);
    Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/gate.sh"))
        .arg("--counts")
        .arg(&counts.0)
        .arg("--baseline")
        .arg(baseline)
        .args(more)
        .output()
        .expect("bash is installed")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Two in a hundred more are let pass, three are not; fewer are told; what no table has fails. A table written anew has all of them.
#[test]
fn a_rise_fails_and_a_fall_is_told() {
    let table = Table::new("baseline", "# tools\nip-router 500.0\nnat 300.0\n");
    let same = gate(&table.0, "ip-router 510.0\nnat 294.1\n", &[]);
    assert!(same.status.success() && same.stderr.is_empty(), "{}", text(&same.stderr));

    let more = gate(&table.0, "ip-router 500.0\nnat 309.3\n", &[]);
    assert_eq!(more.status.code(), Some(1));
    let said = text(&more.stdout);
    assert!(said.contains("309.3 instructions a packet,    300.0 in the table: +3.10 %  <- more"), "{said}");
    assert!(text(&more.stderr).contains("say in the commit why"), "{}", text(&more.stderr));

    let less = gate(&table.0, "ip-router 484.9\nnat 300.0\n", &[]);
    assert!(less.status.success());
    assert!(text(&less.stderr).contains("renew it"), "{}", text(&less.stderr));

    let new = gate(&table.0, "ip-router 500.0\nfirewall 1.0\n", &["--json"]);
    assert_eq!(new.status.code(), Some(1));
    let found: serde_json::Value = serde_json::from_slice(&new.stdout).expect("JSON");
    let verdicts: Vec<_> =
        found["paths"].as_array().expect("a list").iter().map(|path| &path["verdict"]).collect();
    assert_eq!(verdicts, ["same", "new"]);

    let written = gate(&table.0, "ip-router 700.0\nnat 300.0\n", &["--write"]);
    assert!(written.status.success(), "{}", text(&written.stderr));
    assert!(gate(&table.0, "ip-router 700.0\nnat 300.0\n", &[]).status.success());
}
