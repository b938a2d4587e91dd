//! Tables and figures of the papers, row by row.

use super::section::{PUBLISHED, Section, Table, bar, list, median, ratio, section, text};
use crate::report::plot::{self, Bar, number};
use serde_json::Value;

/// The thesis' Tables 7 to 14.
pub(super) fn thesis(value: &Value) -> Section {
    let (mut tables, mut charts) = (Vec::new(), Vec::new());
    for number in 7..=14 {
        let ours: Vec<&Value> = list(value, "rows").iter().filter(|row| row["table"] == number).collect();
        if !ours.is_empty() {
            tables.push(thesis_table(number, &ours));
            charts.push(thesis_chart(number, &ours));
            charts.extend(
                ATTEMPTS.iter().filter(|(table, _)| *table == number).map(|of| attempts_chart(*of, &ours)),
            );
        }
    }
    tables.push(thesis_elements(value));
    section(
        &[
            "The thesis runs readers and writers of a radix table of 167,000 routes (Tables 7 to 10) and of a handful of routes (11 to 14) on eight cores; its claim is that \
           RCU stays within 1.1 of no lock and that a reader-writer lock gets slower with each reader. What it found in each table, and what is here, stands before the table.",
            &within(list(value, "rows")),
            "Attempts are Figures 12 and 14: how often a thread tries until it has a lock of one word. Threads beyond the processors do not meet at it. The thesis draws both figures \
           and says no numbers, only that attempts grow with the threads, so that there is no line of it.",
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
        "ours: no lock, ms",
        "lock, ms",
        "RCU, ms",
        "thesis' own epochs, ms",
        "lock by RCU",
        "RCU by no lock (with the ends of both)",
        "attempts a lock",
    ];
    let mut shown = Table::new(&format!("Table {table}"), &heads);
    let published = list(&PUBLISHED["thesis"], &table.to_string());
    shown.text = account(table as usize, published, ours);
    for row in ours {
        let there = published
            .iter()
            .find(|there| there[0] == row["readers"] && there[1] == row["writers"])
            .unwrap_or(&Value::Null);
        let cell = |name: &str| super::section::shown(milliseconds(&row[name]));
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

/// What the thesis found in its Tables 7 to 14, and why this machine may show something else.
const ACCOUNTS: [[&str; 2]; 8] = [
    [
        "Readers alone, large table: RCU is never more than 1.1 times as slow as no lock, and the lock is slower with each reader.",
        "Readers change the one word of the lock, which moves between the processors that read: the factor rises as far as there are processors. A look-up in the large table \
         misses caches and takes long, so that the lock is a smaller part of it than with few routes.",
    ],
    [
        "Readers beside one writer, large table: with seven readers the lock is more than nine times as slow.",
        "As in Table 7 the factor rises with the processors that read. A writer's 1,000 replacements take a small part of the time of a reader's 100,000 look-ups, so that one writer changes little.",
    ],
    [
        "Writers alone, large table: the lock is the faster one, by 1.46 with eight writers, since RCU keeps lists of what is to be freed.",
        "Both wait for the same lock of writers, and RCU frees later what it replaces, out of the caches by then.",
    ],
    [
        "A reader beside writers, large table: neither gets faster with more writers, and RCU is ahead.",
        "The reader's look-ups are most of the time. Writers exclude each other under both, so that what is left is what the lock costs the reader.",
    ],
    [
        "Readers alone, few routes: the lock is up to 58 times as slow as no lock, RCU at most 1.33 times.",
        "A look-up among few routes stays in the caches and takes little, so that the lock's word is nearly all of the time: two readers are enough for a large factor.",
    ],
    [
        "Readers beside one writer, few routes: with seven readers the lock is 27 times as slow.",
        "As in Table 11; the writer moves the lock's word, too.",
    ],
    [
        "Writers alone, few routes: RCU takes up to 2.5 times as long, since writers meet at the lists of what is to be freed.",
        "Here each thread has a list of its own of what is to be freed, so that writers do not meet there, and RCU can be nearer to the lock.",
    ],
    [
        "A reader beside writers, few routes: RCU is ahead with one and two writers and behind with more.",
        "The reader gains as in Table 11, and writers have lists of their own, so that RCU need not fall behind with more of them.",
    ],
];

/// What was found there, what is here, and why they differ.
fn account(table: usize, published: &[Value], ours: &[&Value]) -> String {
    let Some([found, why]) = table.checked_sub(7).and_then(|at| ACCOUNTS.get(at)) else {
        return String::new();
    };
    let there = published.iter().filter_map(|row| Some(row[3].as_f64()? / row[4].as_f64()?)).collect();
    let here = |oversubscribed: bool| {
        let rows = ours.iter().filter(|row| (row["oversubscribed"] == true) == oversubscribed);
        let ratios = rows.filter_map(|row| Some(seconds(row, "rwlock")? / seconds(row, "qsbr")?));
        between(median(ratios.collect()))
    };
    format!(
        "{found} Lock by RCU: published {}, here {} where each thread has a processor, {} in rows with *. {why}",
        between(median(there)),
        here(false),
        here(true)
    )
}

/// The least and the most.
fn between(range: Option<Bar>) -> String {
    match range {
        None => "–".to_owned(),
        Some(range) if range.from == range.to => format!("{:.2}", range.from),
        Some(range) => format!("{:.2} to {:.2}", range.from, range.to),
    }
}

/// A protection's processor time with its ends.
fn milliseconds(of: &Value) -> Option<Bar> {
    let ms = |name: &str| of[name].as_f64().map(|seconds| seconds * 1e3);
    let value = ms("processor_s")?;
    let end = |name: &str| ms(name).unwrap_or(value);
    Some(Bar { value, from: end("processor_s_min"), to: end("processor_s_max") })
}

/// What the thesis claims: its readers are within 1.1 of no lock. By the medians of the rows that have a processor for each thread.
fn within(rows: &[Value]) -> String {
    let ratios: Vec<f64> = rows
        .iter()
        .filter(|row| (row["table"] == 7 || row["table"] == 11) && row["oversubscribed"] != true)
        .filter_map(|row| Some(seconds(row, "qsbr")? / seconds(row, "none")?))
        .collect();
    let (all, held) = (ratios.len(), ratios.iter().filter(|ratio| **ratio <= 1.1).count());
    let Some(range) = median(ratios) else {
        return "Within 1.1 of no lock: no row of Tables 7 and 11 has a processor for each thread."
            .to_owned();
    };
    format!(
        "Within 1.1 of no lock: {}, in {held} of the {all} rows of Tables 7 and 11 without *; RCU takes {} to {} times the processor time of no lock there.",
        if held == all { "yes" } else { "not always" },
        number(range.from),
        number(range.to)
    )
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

/// The tables whose attempts the thesis plots, and its figures of them.
const ATTEMPTS: [(u64, u32); 2] = [(7, 12), (8, 14)];

fn attempts_chart((table, figure): (u64, u32), ours: &[&Value]) -> String {
    let points = ours
        .iter()
        .filter_map(|row| {
            Some((row["readers"].as_f64()? + row["writers"].as_f64()?, row["attempts"].as_f64()?))
        })
        .collect();
    plot::lines(
        &format!("Figure {figure} (Table {table}): attempts until the lock is held, here"),
        "threads",
        "attempts",
        &vec![("reader-writer lock of one word".to_owned(), points)],
    )
}

/// How near flavours come to the best of a row, against reads for each write.
fn ap_chart(value: &Value, scenario: &str) -> String {
    let mut lines: plot::Lines = Vec::new();
    for figure in list(value, "figures").iter().filter(|figure| figure["scenario"] == scenario) {
        let Some((reads, to_best)) = figure["reads_a_write"].as_f64().zip(figure["to_best"].as_f64()) else {
            continue;
        };
        let (name, point) = (text(&figure["flavour"]), ((reads + 1.0).log2(), 100.0 / to_best));
        match lines.iter_mut().find(|(known, _)| *known == name) {
            Some((_, points)) => points.push(point),
            None => lines.push((name, vec![point])),
        }
    }
    plot::lines(
        &format!("Table I, {scenario}: speed"),
        "operations for each write, as a power of two",
        "percent of the best",
        &lines,
    )
}

/// AP-RCU's Table I.
pub(super) fn ap_rcu(value: &Value) -> Section {
    let mut tables = Vec::new();
    for scenario in ["one instance", "instance per bucket"] {
        let heads = [
            "reads a write",
            "flavour",
            "published, % of the best, by machine",
            "ours, ms",
            "% of the best",
            "ours by published, by machine",
        ];
        let mut table = Table::new(&format!("Table I, {scenario}"), &heads);
        for figure in list(value, "figures").iter().filter(|figure| figure["scenario"] == scenario) {
            let (reads, flavour) =
                (text(&figure["reads_a_write"]).replace(',', ""), text(&figure["flavour"]));
            let there = list(&PUBLISHED["ap_rcu"][scenario][&reads], &flavour);
            let ours = figure["to_best"].as_f64().map(|best| best * 100.0);
            let ratios: Vec<_> = there.iter().map(|percent| ratio(ours, percent.as_f64())).collect();
            let there: Vec<_> = there
                .iter()
                .map(|percent| percent.as_u64().map_or("too slow".to_owned(), |percent| percent.to_string()))
                .collect();
            table.row([
                reads,
                flavour,
                if there.is_empty() { "–".to_owned() } else { there.join(", ") },
                super::section::spread(&figure["ms"]),
                ours.map_or("–".to_owned(), number),
                if ratios.is_empty() { "–".to_owned() } else { ratios.join(", ") },
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
        ["one instance", "instance per bucket"].map(|scenario| ap_chart(value, scenario)).into(),
    )
}
