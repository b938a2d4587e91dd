//! The table of figures of the README, as Markdown.

use super::section::{bar, flat, list};
use crate::report::kept::Results;
use crate::report::plot::{Bar, number};
use serde_json::Value;

/// What takes the place of what was not measured.
const MISSING: &str = "–";

/// The table, of what a report has.
pub(in crate::report) fn readme(results: &Results) -> String {
    let head = "| what | Clique | two workers, or beside it |\n|---|---|---|\n";
    rows(results).iter().fold(head.to_owned(), |table, row| format!("{table}| {} |\n", row.join(" | ")))
}

fn rows(results: &Results) -> [[String; 3]; 10] {
    let named = |topic: &str, name: &str| one(results, topic, |figure| figure["name"] == name);
    let esp = |what: &str, octets: u64| one(results, "esp", |f| f["what"] == what && f["octets"] == octets);
    let found = |family: &str, lines: u64, table: &str| ns(lookup(results, family, lines, table));
    let change = |name: &str| {
        let changes = results.of("lpm-changes").map_or(&[][..], |value| list(value, "changes"));
        changes.iter().find(|row| row["family"] == "IPv4").and_then(|row| bar(&row[name]))
    };
    let load = results.of("lpm-load").and_then(|value| bar(&value["load"]["load_s"]));
    let row = |what: &str, clique: String, beside: String| [what.to_owned(), clique, beside];
    [
        row(
            "IP router of the SOSP paper on Click, 64-byte packets, batches of 128; of 32",
            format!(
                "{}; {} ns a packet",
                text(named("forward", "fake-iprouter, burst 128")),
                text(named("forward", "fake-iprouter, burst 32"))
            ),
            format!(
                "{}; {} ns",
                text(named("forward", "fake-iprouter, burst 128, 2 workers")),
                text(named("forward", "fake-iprouter, burst 32, 2 workers"))
            ),
        ),
        row(
            "IPRewriter (NAT) with 100,000 flows",
            ns(named("rewriter", "100,000 flows")),
            ns(named("rewriter", "100,000 flows, 2 workers")),
        ),
        row(
            "IPsec tunnel (ESP, AES-128-GCM), packets of 64 and of 1,450 octets",
            format!("{}, {} ns", text(esp("IPsec", 64)), text(esp("IPsec", 1_450))),
            format!("{}, {} ns", text(esp("IPsec, 2 cores", 64)), text(esp("IPsec, 2 cores", 1_450))),
        ),
        row(
            "IPFilter with 1,000 rules, with 10,000",
            format!("{}, {} ns", text(named("filter", "1,000 rules")), text(named("filter", "10,000 rules"))),
            String::new(),
        ),
        row(
            "IPv4 lookup among 901,899 prefixes, in batches of 32, all prefixes alike",
            found("IPv4", 0, "clique"),
            format!("rte_fib {}", found("IPv4", 0, "rte_fib AVX-512")),
        ),
        row(
            "the same, caches full of packets",
            found("IPv4", 8, "clique"),
            format!("rte_fib {}", found("IPv4", 8, "rte_fib AVX-512")),
        ),
        row(
            "IPv6 lookup among 160,147 prefixes, in batches of 32, all prefixes alike",
            found("IPv6", 0, "clique"),
            format!("rte_fib6 {}", found("IPv6", 0, "rte_fib AVX-512")),
        ),
        row(
            "changes of single IPv4 routes while another core looks up",
            change("single_changes_per_s")
                .map_or(MISSING.to_owned(), |bar| format!("{} million a second", number(bar.value / 1e6))),
            change("kept")
                .map_or(MISSING.to_owned(), |bar| format!("lookups keep {:.2} of their rate", bar.value)),
        ),
        row(
            "loading both tables from text",
            load.map_or(MISSING.to_owned(), |bar| format!("{} s", number(bar.value))),
            String::new(),
        ),
        row(
            "the demo: both full tables, routes that change, packets that fail",
            demo(results).map_or(MISSING.to_owned(), |ns| format!("{} ns a packet and worker", number(ns))),
            String::new(),
        ),
    ]
}

/// A figure of a topic.
fn one(results: &Results, topic: &str, is: impl Fn(&Value) -> bool) -> Option<Bar> {
    results.of(topic).and_then(|value| list(value, "figures").iter().find(|figure| is(figure)).and_then(flat))
}

fn lookup(results: &Results, family: &str, lines: u64, table: &str) -> Option<Bar> {
    let figures = results.of("lpm-lookups").map_or(&[][..], |value| list(value, "figures"));
    let is = |figure: &&Value| {
        figure["family"] == family
            && figure["trace"] == "prefixes"
            && figure["batch"] == 32
            && figure["packet_lines"] == lines
            && figure["table"] == table
    };
    figures.iter().find(is).and_then(|figure| bar(&figure["ns_a_lookup"]))
}

fn demo(results: &Results) -> Option<f64> {
    results.of("demo")?["ns_per_packet"].as_f64()
}

fn text(bar: Option<Bar>) -> String {
    bar.map_or(MISSING.to_owned(), |bar| number(bar.value))
}

fn ns(bar: Option<Bar>) -> String {
    bar.map_or(MISSING.to_owned(), |bar| format!("{} ns", number(bar.value)))
}
