//! Tables and figures of the papers, row by row.

use super::section::{PUBLISHED, Section, Table, bar, list, ratio, section, text};
use crate::report::plot::{self, number};
use serde_json::Value;

/// The thesis' Tables 7 to 14.
pub(super) fn thesis(value: &Value) -> Section {
    let (mut tables, mut charts) = (Vec::new(), Vec::new());
    for number in 7..=14 {
        let ours: Vec<&Value> = list(value, "rows").iter().filter(|row| row["table"] == number).collect();
        if !ours.is_empty() {
            tables.push(thesis_table(number, &ours));
            charts.push(thesis_chart(number, &ours));
        }
    }
    tables.push(thesis_elements(value));
    section(
        &[
            "The thesis runs readers and writers of a radix table of 167,000 routes (Tables 7 to 10) and of a handful of routes (11 to 14) on eight cores; its claim is that \
           RCU stays within 1.1 of no lock and that a reader-writer lock gets slower with each reader.",
            "Within 1.1 of no lock: see the last column but one, of Tables 7 and 11. Attempts are Figures 12 and 14: how often a thread tries until it has a lock of one word; on two \
             processors two threads meet at most.",
            "Times are processor time, as there. The last columns are ratios, which machines may be compared by. Rows with more threads than this machine has processors \
           (marked *) show how the scheduler preempts lock holders rather than how locks contend: the thesis' factors of 12 to 58 need as many readers as cores.",
        ],
        tables,
        charts,
    )
}

/// The lock and RCU in an element of a router.
fn thesis_elements(value: &Value) -> Table {
    let heads = ["protection", "workers", "routes change", "ns a packet (least–most)", "by no protection"];
    let mut table = Table::new("The large table in an element of an IP router's path", &heads);
    let ns = |row: &Value| bar(&row["ns"]).map(|bar| bar.value);
    let rows = list(value, "elements");
    for row in rows {
        let bare = rows
            .iter()
            .find(|bare| bare["protection"] == "no protection" && bare["workers"] == row["workers"]);
        table.row([
            text(&row["protection"]),
            text(&row["workers"]),
            text(&row["routes_change"]),
            super::section::spread(&row["ns"]),
            ratio(ns(row), bare.and_then(ns)),
        ]);
    }
    table
}

/// The thesis' figures of its Tables 7 to 14.
const FIGURES: [u32; 8] = [11, 13, 15, 15, 16, 17, 18, 18];

fn seconds(row: &Value, name: &str) -> Option<f64> {
    row[name]["processor_s"].as_f64()
}

fn thesis_table(table: u64, ours: &[&Value]) -> Table {
    let heads = [
        "readers + writers",
        "published: lock by RCU",
        "RCU by no lock",
        "ours: no lock, s",
        "lock, s",
        "RCU, s",
        "thesis' own epochs, s",
        "lock by RCU",
        "RCU by no lock (with the ends of both)",
        "attempts a lock",
    ];
    let mut shown = Table::new(&format!("Table {table}"), &heads);
    let published = list(&PUBLISHED["thesis"], &table.to_string());
    for row in ours {
        let there = published
            .iter()
            .find(|there| there[0] == row["readers"] && there[1] == row["writers"])
            .unwrap_or(&Value::Null);
        let cell = |name: &str| seconds(row, name).map_or("–".to_owned(), number);
        shown.row([
            format!(
                "{} + {}{}",
                text(&row["readers"]),
                text(&row["writers"]),
                if row["oversubscribed"] == true { " *" } else { "" }
            ),
            ratio(there[3].as_f64(), there[4].as_f64()),
            ratio(there[4].as_f64(), there[2].as_f64()),
            cell("none"),
            cell("rwlock"),
            cell("qsbr"),
            cell("click_epoch"),
            ratio(seconds(row, "rwlock"), seconds(row, "qsbr")),
            ends(row),
            text(&row["attempts"]),
        ]);
    }
    shown
}

/// RCU's processor time by that of no lock: of the medians, and the least by the most and the most by the least.
fn ends(row: &Value) -> String {
    let of = |name: &str, end: &str| row[name][end].as_f64();
    let most = ratio(of("qsbr", "processor_s_max"), of("none", "processor_s_min"));
    let least = ratio(of("qsbr", "processor_s_min"), of("none", "processor_s_max"));
    match ratio(seconds(row, "qsbr"), seconds(row, "none")) {
        medians if most == "–" || least == "–" => medians,
        medians => format!("{medians} ({least}–{most})"),
    }
}

fn thesis_chart(table: u64, ours: &[&Value]) -> String {
    let threads =
        |row: &Value| row["readers"].as_f64().unwrap_or(0.0) + row["writers"].as_f64().unwrap_or(0.0);
    let our_line = ours
        .iter()
        .filter_map(|row| Some((threads(row), seconds(row, "rwlock")? / seconds(row, "qsbr")?)))
        .collect();
    let there = list(&PUBLISHED["thesis"], &table.to_string());
    let their_line = there
        .iter()
        .filter_map(|row| Some((row[0].as_f64()? + row[1].as_f64()?, row[3].as_f64()? / row[4].as_f64()?)))
        .collect();
    let lines = vec![("published".to_owned(), their_line), ("here".to_owned(), our_line)];
    plot::lines(
        &format!("Table {table} (Figure {}): reader-writer lock by RCU", FIGURES[table as usize - 7]),
        "threads",
        "times RCU's processor time",
        &lines,
    )
}

/// AP-RCU's Table I.
pub(super) fn ap_rcu(value: &Value) -> Section {
    let mut tables = Vec::new();
    for scenario in ["one instance", "instance per bucket"] {
        let heads =
            ["reads a write", "flavour", "published, % of the best, by machine", "ours, ms", "% of the best"];
        let mut table = Table::new(&format!("Table I, {scenario}"), &heads);
        for figure in list(value, "figures").iter().filter(|figure| figure["scenario"] == scenario) {
            let (reads, flavour) =
                (text(&figure["reads_a_write"]).replace(',', ""), text(&figure["flavour"]));
            let there = list(&PUBLISHED["ap_rcu"][scenario][&reads], &flavour);
            let there: Vec<_> = there
                .iter()
                .map(|percent| percent.as_u64().map_or("too slow".to_owned(), |percent| percent.to_string()))
                .collect();
            table.row([
                reads,
                flavour,
                if there.is_empty() { "–".to_owned() } else { there.join(", ") },
                super::section::spread(&figure["ms"]),
                figure["to_best"].as_f64().map_or("–".to_owned(), |best| number(best * 100.0)),
            ]);
        }
        tables.push(table);
    }
    section(
        &[
            "A non-blocking hash table, three flavours of the paper and ours beside them. The paper's machines have 8, 16 and 24 hardware threads; DRCU, which waits for a whole \
           lock, is too slow there where writes are frequent. On few processors fewer readers meet, so DRCU and QRCU, which are cheap without contention, look better than there.",
            &format!(
                "{} threads, {} operations each; items in a wrong state seen: {}.",
                text(&value["threads"]),
                text(&value["operations_a_thread"]),
                text(&value["pattern_errors"])
            ),
        ],
        tables,
        vec![],
    )
}

/// RouteBricks' cluster.
pub(super) fn cluster(value: &Value) -> Section {
    let figures = list(value, "figures");
    let begins = |begin: &'static str| {
        figures
            .iter()
            .filter(move |figure| figure["name"].as_str().is_some_and(|name| name.starts_with(begin)))
    };
    let mut roles = Table::new("What a packet costs a node, in memory", &["role", "ns"]);
    begins("node: ").for_each(|figure| {
        roles.row([text(&figure["name"])[6..].to_owned(), super::section::spread(&figure["node_ns"])])
    });
    let mut order = Table::new(
        "Packets out of order (section 6.2)",
        &["scheme and order", "percent", "99 % latency, us"],
    );
    begins("order: ").for_each(|figure| {
        order.row([text(&figure["name"])[7..].to_owned(), text(&figure["percent"]), text(&figure["p99_us"])])
    });
    let mut scale = Table::new("Simulated clusters", &["cluster", "of theory", "c", "of one router alone"]);
    figures.iter().filter(|figure| figure["of_theory"].is_number()).for_each(|figure| {
        scale.row([
            text(&figure["name"]),
            text(&figure["of_theory"]),
            text(&figure["c"]),
            text(&figure["of_one_alone"]),
        ])
    });
    let mut rb4 = Table::new(
        "RB4 with the nodes that are shipped, in memory, a processor a node in virtual time",
        &["what", "Gbit/s", "a core", "the paper's"],
    );
    begins("rb4 rate: ").for_each(|figure| {
        let cells = ["gbps", "gbps_per_core", "published_gbps"].map(|name| text(&figure[name]));
        rb4.row([vec![text(&figure["name"])[10..].to_owned()], cells.into()].concat());
    });
    let mut rb4_order = Table::new(
        "Packets out of order on running nodes (section 6.2)",
        &["order", "percent", "99 % latency, us", "the paper's percent"],
    );
    begins("rb4 order: ").for_each(|figure| {
        rb4_order.row([
            text(&figure["name"])[11..].to_owned(),
            super::section::spread(&figure["percent"]),
            text(&figure["across_us"]["p99"]),
            text(&figure["published_percent"]),
        ])
    });
    let published = &PUBLISHED["routebricks"];
    let paragraph = format!(
        "RB4, four servers: {} Gbit/s of 64-byte packets, {} Gbit/s of a trace; {} % out of order with flowlets, {} % without.",
        text(&published["rb4_gbps"]["64 bytes"]),
        text(&published["rb4_gbps"]["trace"]),
        text(&published["reordered_percent"]["flowlets"]),
        text(&published["reordered_percent"]["packet by packet"])
    );
    let rows = begins("node: ")
        .map(|figure| (text(&figure["name"])[6..].to_owned(), bar(&figure["node_ns"])))
        .collect();
    section(
        &[
            &paragraph,
            "Costs are measured on this machine's processor; rates of clusters come from the simulator fed with them, and are labelled so.",
        ],
        vec![rb4, rb4_order, roles, order, scale],
        vec![super::section::one_series("A packet's cost by role", "ns", rows)],
    )
}
