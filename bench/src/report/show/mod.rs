//! From what was kept to sections: tables, charts, the published figures beside ours, and what it means.

mod flows;
mod lookups;
mod papers;
mod rcu;
mod router;
pub(super) mod section;
mod server;

use super::kept::Results;
use super::plot::number;
pub(crate) use section::PUBLISHED;
use section::{Section, bar, flat, list};
use serde_json::Value;

/// The sections of a report, in the page's order.
pub(super) fn sections(results: &Results) -> Vec<Section> {
    type Show = fn(&Value) -> Section;
    let shows: &[(&'static str, Show)] = &[
        ("forward", router::forward),
        ("peers", router::peers),
        ("demo", flows::demo),
        ("server", server::server),
        ("predict", flows::predict),
        ("esp", flows::esp),
        ("rewriter", router::rewriter),
        ("flows", flows::flows),
        ("bsd", flows::bsd),
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
