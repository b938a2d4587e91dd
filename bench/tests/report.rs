//! A report: measured once, kept, gone on with, and shown on a page.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn report(out: &Path, more: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_clique-bench"))
        .args(["report", "--tiny", "--out"])
        .arg(out)
        .args(more)
        .output()
        .expect("the program starts")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The section of a topic.
fn part<'p>(page: &'p str, topic: &str) -> &'p str {
    let begin = page.find(&format!("<section id='{topic}'>")).unwrap_or_else(|| panic!("no section {topic}"));
    &page[begin..begin + page[begin..].find("</section>").expect("its end")]
}

/// Catches a topic whose JSON the page no longer understands: every section has at least one table with rows.
#[test]
fn a_broken_off_report_goes_on_and_becomes_a_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path();
    let first = report(out, &["--only", "rcu-costs", "--json"]);
    assert!(first.status.success(), "{}", said(&first));
    let summary: Value = serde_json::from_slice(&first.stdout).expect("JSON");
    assert_eq!(summary["figures"], serde_json::json!([["rcu-costs", true]]));

    let topics = [
        "--only",
        "rcu-costs",
        "--only",
        "filter",
        "--only",
        "rcu-thesis",
        "--only",
        "lpm-lookups",
        "--only",
        "rcu-hash",
        "--only",
        "server",
        "--only",
        "esp",
        "--only",
        "flows",
        "--only",
        "bsd",
        "--only",
        "predict",
    ];
    let second = report(out, &topics);
    assert!(second.status.success(), "{}", said(&second));
    // What was measured by a program of changed files, or of an unknown commit, is measured again.
    let kept: Value = serde_json::from_slice(&std::fs::read(out.join("raw/rcu-costs.json")).expect("a file"))
        .expect("JSON");
    let commit = kept["commit"].as_str().expect("a commit");
    let is_known = commit != "unknown" && !commit.ends_with("-dirty");
    assert_eq!(
        said(&second).contains("rcu-costs: measured already"),
        is_known,
        "{commit}: {}",
        said(&second)
    );
    assert_eq!(kept["checks"].as_array().map(Vec::len), Some(2), "quiet before and after");

    let page = std::fs::read_to_string(out.join("index.html")).expect("the page");
    for (section, row) in [
        ("rcu-costs", "RCU turn and quiescent state"),
        ("filter", "10 rules"),
        ("rcu-thesis", "1 + 0"),
        ("rcu-thesis", "reader-writer lock"),
        ("lpm-lookups", "prefixes"),
        ("rcu-hash", "per-bucket lock"),
        ("server", "minimal forwarding"),
        ("server", "Table 3 and section 5.2"),
        ("server", "<td>(e) with batches of 1, (f) with batches of 32: both</td>"),
        ("server", "needs counters"),
        ("server", "<td>1,450 octets from memory</td>"),
        ("server", "<td>more than 3</td>"),
        ("server", "aria-label='Section 5.3"),
        ("rcu-thesis", "Lock by RCU: published 1.39 to 14.66, here "),
        ("rcu-thesis", "Lock by RCU: published 0.71 to 1.45, here "),
        ("bsd", "<td>does not increase</td>"),
        ("rcu-thesis", "Within 1.1 of no lock: "),
        ("rcu-thesis", "aria-label='Figure 12"),
        ("esp", "bare aes-gcm"),
        ("flows", "flood"),
        ("bsd", "legacy"),
        ("bsd", "<td>up to 47</td>"),
        ("predict", "conf/routebricks/routing.click"),
    ] {
        assert!(part(&page, section).contains(row), "{section} without '{row}'");
        assert!(out.join("raw").join(section).with_extension("json").exists(), "{section}");
    }
    assert!(page.contains("Routes from a routing suite: not measured"), "what is missing is said");
    assert!(!page.contains("http://") && !page.contains("src="), "no outside resources");
}

/// Catches a commit that is that of the folder which a program is started in.
#[test]
fn the_commit_is_the_programs_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let here = Command::new(env!("CARGO_BIN_EXE_clique-bench"))
        .args(["report", "--tiny", "--only", "rcu-costs", "--out", "."])
        .current_dir(folder.path())
        .output()
        .expect("the program starts");
    assert!(here.status.success(), "{}", said(&here));
    let read = |file: &str| -> Value {
        serde_json::from_slice(&std::fs::read(folder.path().join(file)).expect("a file")).expect("JSON")
    };
    let there = report(folder.path(), &["--only", "rcu-costs", "--again", "--json"]);
    assert!(there.status.success(), "{}", said(&there));
    let machine = read("machine.json");
    let commit = machine["machine"]["commit"].as_str().expect("a commit");
    assert!(said(&here).contains(&format!("commit {commit}\n")), "{}", said(&here));
}

/// Catches what is measured of clusters and not shown, and a model of nodes that contradicts the nodes.
#[test]
fn a_cluster_is_shown_beside_the_papers() {
    let folder = tempfile::tempdir().expect("a folder");
    let measured = report(folder.path(), &["--only", "cluster"]);
    assert!(measured.status.success() && !said(&measured).contains("without figures"), "{}", said(&measured));
    let page = std::fs::read_to_string(folder.path().join("index.html")).expect("the page");
    let section = part(&page, "cluster");
    // Tables without rows are not shown.
    for shown in [
        "RB4: the highest rate without loss",
        "<td>mesh, uniform, 64 bytes</td>",
        "RB4: four nodes beside one router that is alone",
        "<td>four nodes, 64 bytes, uniform</td><td>1.70</td>",
        "<td>four nodes, 64 bytes, permutation</td><td>1.25</td>",
        "RB4: latency in us",
        "<td>47.6–66.4</td>",
        "RB4: packets out of order on running nodes",
        "<td>flowlet</td>",
        "RB4: what a packet costs a node",
        "<td>intermediate</td>",
        "A busy node",
        "<td>egress strict</td>",
        "Two cores beside one, by role",
        "<td>ingress, 64 bytes</td>",
        "Path choice and labels alone",
        "<td>ingress, order Flowlet</td>",
        "One flow, shared by workers",
        "<td>ESP, 64 octets</td>",
        "Simulated: packets out of order",
        "Simulated: flowlets",
        "Simulated: clusters against theory",
        "aria-label='RB4: loss-free rate",
        "aria-label='RB4: latency",
        "aria-label='RB4: reordered",
        "Why they differ",
    ] {
        assert!(section.contains(shown), "no '{shown}' in {section}");
    }
    assert!(!section.contains("with these costs,") && !section.contains("Alone, 64 bytes"), "{section}");
}

/// Catches topics that are lost because only the other report has them.
#[test]
fn merged_reports_add_their_topics() {
    let folders = [tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder")];
    let [here, other] = &folders;
    assert!(report(other.path(), &["--only", "filter"]).status.success());
    let merge = other.path().to_str().expect("a name");
    let merged = report(here.path(), &["--only", "rcu-costs", "--merge", merge]);
    assert!(merged.status.success(), "{}", said(&merged));
    let page = std::fs::read_to_string(here.path().join("index.html")).expect("the page");
    let section = part(&page, "filter");
    assert!(section.contains("not measured here") && section.contains("10 rules"), "{section}");
    assert!(section.contains("the same loop varies by"), "whether the other machine was quiet: {section}");
    assert!(page.contains("<a href='#filter'>"), "it is in the contents");
    assert!(part(&page, "rcu-costs").contains("RCU turn"), "and ours is there");
}

/// Catches a panic about a pipe whose reader has seen enough.
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut program = Command::new(env!("CARGO_BIN_EXE_clique-bench"))
        .args(["report", "--list"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(program.stdout.take());
    let output = program.wait_with_output().expect("it ends");
    assert_eq!(said(&output), "");
}

/// Catches a queue that overflows and flatters: the peer below says that it dropped a packet.
#[test]
fn a_peer_that_drops_has_no_figure() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = report(folder.path(), &["--only", "peers", "--peer", "liar=echo 20000 1"]);
    assert!(out.status.success(), "{}", said(&out));
    let page = std::fs::read_to_string(folder.path().join("index.html")).expect("the page");
    assert!(
        page.contains("The same configuration in other routers: liar: 20000 packets were sent"),
        "{page}"
    );
}

/// Catches a table in the README that is no longer made of a report.
#[test]
fn the_readme_has_the_rows_of_a_report() {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(report(folder.path(), &["--only", "rcu-costs"]).status.success());
    let table = report(folder.path(), &["--readme"]);
    let table = String::from_utf8(table.stdout).expect("text");
    let readme =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md")).expect("the README");
    let what = |row: &str| row.split('|').nth(1).unwrap_or_default().trim().to_owned();
    let begin = readme.find("| what | Clique |").expect("the table");
    let there: Vec<String> =
        readme[begin..].lines().take_while(|line| line.starts_with('|')).map(what).collect();
    assert_eq!(there, table.lines().map(what).collect::<Vec<_>>());
}

#[test]
fn unknown_topics_and_peers_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = report(folder.path(), &["--only", "weather"]);
    assert!(!out.status.success() && said(&out).contains("no topic is called 'weather'"), "{}", said(&out));
    let out = report(folder.path(), &["--peer", "click"]);
    assert!(said(&out).contains("NAME=COMMAND"), "{}", said(&out));
}
