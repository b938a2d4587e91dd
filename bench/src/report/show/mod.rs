//! From what was kept to sections: tables, charts, the published figures beside ours, and what it means.

mod lookups;
mod papers;
mod rcu;
mod router;

use super::Results;
use super::plot::{self, Bar, number};
use serde_json::Value;
use std::sync::LazyLock;

/// A part of the page about one topic.
pub(super) struct Section {
    pub(super) topic: &'static str,
    /// What the source found, what this machine shows, why they differ: a paragraph each.
    pub(super) text: Vec<String>,
    pub(super) tables: Vec<Table>,
    /// SVG.
    pub(super) charts: Vec<String>,
}

/// A table; cells are text, the first column names the row.
pub(super) struct Table {
    pub(super) caption: String,
    pub(super) heads: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Table {
    fn new(caption: &str, heads: &[&str]) -> Table {
        Table {
            caption: caption.to_owned(),
            heads: heads.iter().map(|head| (*head).to_owned()).collect(),
            rows: Vec::new(),
        }
    }

    fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }
}

/// The figures of the papers, as published.
static PUBLISHED: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../published.json")).unwrap_or_default());

/// The sections of a report, in the page's order.
pub(super) fn sections(results: &Results) -> Vec<Section> {
    type Show = fn(&Value) -> Section;
    let shows: &[(&'static str, Show)] = &[
        ("forward", router::forward),
        ("peers", router::peers),
        ("rewriter", router::rewriter),
        ("filter", router::filter),
        ("lpm-lookups", lookups::lookups),
        ("lpm-changes", lookups::changes),
        ("lpm-load", lookups::load),
        ("fpm", lookups::fpm),
        ("rcu-thesis", papers::thesis),
        ("rcu-ap", papers::ap_rcu),
        ("rcu-read", rcu::read),
        ("rcu-update", rcu::update),
        ("rcu-grace", rcu::grace),
        ("rcu-costs", rcu::costs),
        ("rcu-hash", rcu::hash),
        ("rcu-model", rcu::model),
        ("cluster", papers::cluster),
        ("devices", router::devices),
    ];
    shows
        .iter()
        .filter_map(|(topic, show)| results.of(topic).map(|value| (topic, show(value))))
        .map(named)
        .collect()
}

fn named((topic, section): (&&'static str, Section)) -> Section {
    Section { topic, ..section }
}

fn section(text: &[&str], tables: Vec<Table>, charts: Vec<String>) -> Section {
    let text = text.iter().map(|paragraph| (*paragraph).to_owned()).collect();
    Section {
        topic: "",
        text,
        tables,
        charts: charts.into_iter().filter(|chart| !chart.is_empty()).collect(),
    }
}

/// The list under a name; empty if there is none.
fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "–".to_owned(),
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        // Counts have no digits behind the point.
        other if other.is_u64() => plot::grouped(&other.to_string()),
        other => other.as_f64().map_or_else(|| other.to_string(), number),
    }
}

/// A median with its range, as commands print it: `{median, min, max}`, or a number alone.
fn bar(value: &Value) -> Option<Bar> {
    let median = value.as_f64().or_else(|| value["median"].as_f64())?;
    let end = |names: [&str; 2]| names.iter().find_map(|name| value[name].as_f64()).unwrap_or(median);
    Some(Bar { value: median, from: end(["min", "from"]), to: end(["max", "to"]) })
}

/// `median (least–most)`.
fn spread(value: &Value) -> String {
    scaled(value, 1.0)
}

fn scaled(value: &Value, by: f64) -> String {
    match bar(value) {
        None => "–".to_owned(),
        Some(bar) if bar.from == bar.to => number(bar.value * by),
        Some(bar) => {
            format!("{} ({}–{})", number(bar.value * by), number(bar.from * by), number(bar.to * by))
        }
    }
}

/// A ratio, if both are there.
fn ratio(of: Option<f64>, to: Option<f64>) -> String {
    match (of, to) {
        (Some(of), Some(to)) if to > 0.0 => format!("{:.2}", of / to),
        _ => "–".to_owned(),
    }
}

/// `ns_median`, `ns_min`, `ns_max` as one.
fn flat(figure: &Value) -> Option<Bar> {
    let median = figure["ns_median"].as_f64()?;
    Some(Bar { value: median, from: figure["ns_min"].as_f64()?, to: figure["ns_max"].as_f64()? })
}

fn flat_text(figure: &Value) -> String {
    flat(figure).map_or("–".to_owned(), |bar| {
        format!("{} ({}–{})", number(bar.value), number(bar.from), number(bar.to))
    })
}

/// A bar chart with one bar for each named figure.
fn one_series(title: &str, unit: &str, rows: Vec<(String, Option<Bar>)>) -> String {
    let rows: Vec<_> =
        rows.into_iter().filter(|(_, bar)| bar.is_some()).map(|(name, bar)| (name, vec![bar])).collect();
    plot::bars(title, unit, &[], &rows)
}

/// The README's table, as Markdown.
pub(super) fn readme(results: &Results) -> String {
    let figure = |topic: &str, name: &str| {
        let found =
            results.of(topic).and_then(|value| list(value, "figures").iter().find(|f| f["name"] == name));
        found.and_then(flat).map_or("–".to_owned(), |bar| number(bar.value))
    };
    let lookup = |family: &str, lines: u64, table: &str| {
        let figures = results.of("lpm-lookups").map_or(&[][..], |value| list(value, "figures"));
        let is = |f: &&Value| {
            f["family"] == family
                && f["trace"] == "prefixes"
                && f["batch"] == 32
                && f["packet_lines"] == lines
                && f["table"] == table
        };
        figures
            .iter()
            .find(is)
            .and_then(|f| bar(&f["ns_a_lookup"]))
            .map_or("–".to_owned(), |bar| format!("{} ns", number(bar.value)))
    };
    let rows = [
        [
            "IP router of the SOSP paper on Click, 64-byte packets".to_owned(),
            format!("{} ns a packet", figure("forward", "fake-iprouter, burst 32")),
            format!("{} ns", figure("forward", "fake-iprouter, burst 32, 2 workers")),
        ],
        [
            "IPRewriter (NAT) with 100,000 flows".to_owned(),
            format!("{} ns", figure("rewriter", "100,000 flows")),
            format!("{} ns", figure("rewriter", "100,000 flows, 2 workers")),
        ],
        [
            "IPFilter with 1,000 rules, with 10,000".to_owned(),
            format!("{}, {} ns", figure("filter", "1,000 rules"), figure("filter", "10,000 rules")),
            String::new(),
        ],
        [
            "IPsec tunnel (ESP, AES-128-GCM), frames of 64 and of 1,024 bytes".to_owned(),
            format!(
                "{}, {} ns",
                figure("forward", "IPsec, 64-byte frames"),
                figure("forward", "IPsec, 1024-byte frames")
            ),
            String::new(),
        ],
        [
            "IPv4 lookup among 901,899 prefixes, in batches of 32, all prefixes alike".to_owned(),
            lookup("IPv4", 0, "clique"),
            format!("rte_fib {}", lookup("IPv4", 0, "rte_fib AVX-512")),
        ],
        [
            "the same, caches full of packets".to_owned(),
            lookup("IPv4", 8, "clique"),
            format!("rte_fib {}", lookup("IPv4", 8, "rte_fib AVX-512")),
        ],
        [
            "IPv6 lookup among 160,147 prefixes, in batches of 32, all prefixes alike".to_owned(),
            lookup("IPv6", 0, "clique"),
            format!("rte_fib6 {}", lookup("IPv6", 0, "rte_fib AVX-512")),
        ],
    ];
    let head = "| what | Clique | two workers, or beside it |\n|---|---|---|\n";
    rows.iter().fold(head.to_owned(), |table, row| table + "| " + &row.join(" | ") + " |\n")
}
