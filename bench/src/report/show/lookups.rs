//! Route tables, and routes on their way into them.

use super::section::{
    Section, Table, bar, list, median, one_series, ratio, scaled, section, shown, spread, text,
};
use crate::report::plot::{self, number};
use serde_json::Value;

/// Lookups: for each family, trace, batch and state of the caches a row, a column for each table.
pub(super) fn lookups(value: &Value) -> Section {
    let figures = list(value, "figures");
    let mut tables: Vec<String> = Vec::new();
    let mut cases: Vec<[String; 4]> = Vec::new();
    for figure in figures {
        let (table, case) = (text(&figure["table"]), case(figure));
        if !tables.contains(&table) {
            tables.push(table);
        }
        if !cases.contains(&case) {
            cases.push(case);
        }
    }
    let of = |wanted: &[String; 4], table: &str| {
        figures
            .iter()
            .find(|f| case(f) == *wanted && f["table"] == table)
            .and_then(|f| bar(&f["ns_a_lookup"]))
    };
    let mut heads = vec!["family", "addresses", "batch", "caches"];
    heads.extend(tables.iter().map(String::as_str));
    heads.push("best peer by clique");
    let mut shown = Table::new("Nanoseconds a lookup", &heads);
    for case in &cases {
        let bars: Vec<_> = tables.iter().map(|table| of(case, table)).collect();
        let ours =
            tables.iter().position(|table| table == "clique").and_then(|at| bars[at]).map(|bar| bar.value);
        let best = tables
            .iter()
            .zip(&bars)
            .filter(|(table, _)| *table != "clique")
            .filter_map(|(_, bar)| *bar)
            .map(|bar| bar.value)
            .reduce(f64::min);
        let cells = bars.iter().map(|bar| bar.map_or("–".to_owned(), |bar| number(bar.value)));
        shown.row(case.iter().cloned().chain(cells).chain([ratio(best, ours)]));
    }
    let chart = |family: &str| {
        let rows: Vec<_> = cases
            .iter()
            .filter(|case| case[0] == family && case[2] == "32")
            .map(|case| {
                (format!("{}, {}", case[1], case[3]), tables.iter().map(|table| of(case, table)).collect())
            })
            .collect();
        let series: Vec<&str> = tables.iter().map(String::as_str).collect();
        plot::bars(&format!("{family}, batches of 32"), "ns a lookup", &series, &rows)
    };
    section(
        &[
            "The full Internet tables. Cold: between batches eight cache lines of a ring of packets are written for each address, as in a router. Batch 0: each lookup waits for the one before. rte_fib and rte_fib6 are DPDK's, measured in turns with ours.",
        ],
        vec![shown],
        vec![chart("IPv4"), chart("IPv6")],
    )
}

fn case(figure: &Value) -> [String; 4] {
    let caches = if figure["packet_lines"] == 0 { "warm" } else { "cold" };
    [text(&figure["family"]), text(&figure["trace"]), text(&figure["batch"]), caches.to_owned()]
}

/// Changes while others look up.
pub(super) fn changes(value: &Value) -> Section {
    let heads = [
        "family",
        "single changes a second",
        "replacements a second",
        "session reset, ms",
        "lookup idle, ns",
        "while routes change",
        "million a second then",
        "rate kept",
        "two processors",
    ];
    let mut table = Table::new("Changes, and lookups meanwhile", &heads);
    for row in list(value, "changes") {
        table.row([
            text(&row["family"]),
            spread(&row["single_changes_per_s"]),
            spread(&row["replacements_per_s"]),
            scaled(&row["reset_s"], 1e3),
            spread(&row["idle_ns"]),
            spread(&row["changing_ns"]),
            shown(bar(&row["changing_ns"]).map(|ns| plot::Bar {
                value: 1e3 / ns.value,
                from: 1e3 / ns.to,
                to: 1e3 / ns.from,
            })),
            spread(&row["kept"]),
            spread(&row["two_processors"]),
        ]);
    }
    section(
        &[
            "One processor changes routes while another looks up, without a lock on the side of the reader.",
            "PlanB (NSDI'26) published 190 to 390 million IPv6 lookups a second and core with AVX-512, at 250,000 prefixes and without changes: its table is built anew \
             for each.",
        ],
        vec![table],
        vec![],
    )
}

/// From the file to the tables.
pub(super) fn load(value: &Value) -> Section {
    let load = &value["load"];
    let mut table = Table::new(
        "From text to tables of both families",
        &["routes", "unpack, s", "parse, s", "build, s", "both, s"],
    );
    table.row([
        text(&load["routes"]),
        spread(&load["unpack_s"]),
        spread(&load["parse_s"]),
        spread(&load["build_s"]),
        spread(&load["load_s"]),
    ]);
    section(&[], vec![table], vec![])
}

/// FPM.
pub(super) fn fpm(value: &Value) -> Section {
    let heads = [
        "family",
        "routes",
        "million routes for each second of processor time",
        "forwarding kept",
        "group changed, median ms",
        "most ms",
    ];
    let mut table = Table::new("A stream as zebra's FPM sends it, over a socket into the table", &heads);
    let mut rows = Vec::new();
    let figures = list(value, "figures");
    let mut families: Vec<&Value> = Vec::new();
    for family in figures.iter().map(|figure| &figure["family"]) {
        if !families.contains(&family) {
            families.push(family);
        }
    }
    // Each run has a row.
    for family in families {
        let runs: Vec<&Value> = figures.iter().filter(|figure| figure["family"] == *family).collect();
        let of =
            |what: &dyn Fn(&Value) -> Option<f64>| median(runs.iter().filter_map(|run| what(run)).collect());
        let rate = of(&|run| Some(run["routes_per_cpu_second"].as_f64()? / 1e6));
        table.row([
            text(family),
            runs.first().map_or("–".to_owned(), |run| text(&run["routes"])),
            shown(rate),
            shown(of(&|run| Some(run["busy_pps"].as_f64()? / run["idle_pps"].as_f64()?))),
            shown(of(&|run| Some(run["group_us_median"].as_f64()? / 1e3))),
            shown(of(&|run| Some(run["group_us_max"].as_f64()? / 1e3))),
        ]);
        rows.push((text(family), rate));
    }
    section(
        &[
            "Published by others: VPP installs about 0.3 million routes a second and stops its workers meanwhile; grout 0.077 million IPv6 routes.",
        ],
        vec![table],
        vec![one_series("Routes for each second of the receiver's processor time", "million", rows)],
    )
}
