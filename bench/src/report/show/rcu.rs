//! Reads, updates, grace periods, and the slides' cost model.

use super::section::{Section, Table, add, bar, list, one_series, scaled, section, spread, text};
use crate::report::plot::{self, number};
use serde_json::Value;

/// What a protected read costs, beside other schemes.
pub(super) fn read(value: &Value) -> Section {
    let heads = ["scheme", "reads a section", "updater", "ns a read", "times unprotected", "instructions"];
    let mut table = Table::new("A read of one number behind one pointer", &heads);
    for f in list(value, "figures") {
        table.row([
            text(&f["scheme"]),
            text(&f["reads_a_section"]),
            text(&f["updater"]),
            spread(&f["ns_a_read"]),
            spread(&f["to_unprotected"]),
            text(&f["instructions_a_read"]),
        ]);
    }
    let rows = list(value, "figures")
        .iter()
        .filter(|f| f["reads_a_section"] == 32 && f["updater"] == false)
        .map(|f| (text(&f["scheme"]), bar(&f["ns_a_read"])))
        .collect();
    section(
        &[
            "The thesis claims that readers pay nothing (section 4.3); here the same read without protection is beside it.",
        ],
        vec![table],
        vec![one_series("A read, quiescent every 32 reads, no updater", "ns", rows)],
    )
}

/// Updates a second.
pub(super) fn update(value: &Value) -> Section {
    let mut table = Table::new(
        "Updates",
        &[
            "updates",
            "reader",
            "library",
            "million freed a second",
            "times liburcu",
            "ns of processor time",
            "most memory waiting, KiB",
        ],
    );
    for f in list(value, "figures") {
        table.row([
            text(&f["updates"]),
            text(&f["reader"]),
            text(&f["library"]),
            scaled(&f["freed_per_s"], 1e-6),
            spread(&f["freed_to_liburcu"]),
            spread(&f["processor_ns_an_update"]),
            scaled(&f["waiting_bytes_max"], 1.0 / 1024.0),
        ]);
    }
    section(
        &[
            "Memory that waits is bounded; beside a reader that is seldom quiescent an updater waits for it, where liburcu goes on and grows.",
        ],
        vec![table],
        vec![],
    )
}

/// Grace periods.
pub(super) fn grace(value: &Value) -> Section {
    let heads = [
        "threads a processor",
        "readers",
        "packets a turn",
        "ns a packet",
        "median ns",
        "99 %",
        "99.9 %",
        "within two turns",
    ];
    let mut table = Table::new("A grace period", &heads);
    for f in list(value, "figures") {
        let l = &f["latency_ns"];
        table.row([
            text(&f["threads_a_processor"]),
            text(&f["readers"]),
            text(&f["batch"]),
            text(&f["packet_ns"]),
            text(&l["p50"]),
            text(&l["p99"]),
            text(&l["p999"]),
            f["within_two_turns"].as_f64().map_or("–".to_owned(), |share| format!("{share:.5}")),
        ]);
    }
    section(
        &["More threads than processors show the scheduler's slices, not the algorithm."],
        vec![table],
        vec![],
    )
}

/// What operations cost.
pub(super) fn costs(value: &Value) -> Section {
    let mut table = Table::new(
        "Operations",
        &["operation", "published, ns (Pentium III)", "ours, ns", "published by ours"],
    );
    for f in list(value, "figures") {
        let ours = bar(&f["ns"]).map(|bar| bar.value);
        table.row([
            text(&f["operation"]),
            text(&f["ns_pentium_iii"]),
            spread(&f["ns"]),
            super::section::ratio(f["ns_pentium_iii"].as_f64(), ours),
        ]);
    }
    section(
        &[
            "Instructions became cheaper than transfers of cache lines between processors; that is why locks fail and deferred destruction pays.",
        ],
        vec![table],
        vec![costs_chart(list(value, "figures"))],
    )
}

/// What both were measured.
fn costs_chart(figures: &[Value]) -> String {
    let rows: Vec<_> = figures
        .iter()
        .map(|f| {
            (text(&f["operation"]), vec![f["ns_pentium_iii"].as_f64().map(plot::Bar::just), bar(&f["ns"])])
        })
        .collect();
    plot::bars("What operations cost", "ns", &["Pentium III, published", "here"], &rows)
}

/// The hash table over locks and RCU.
pub(super) fn hash(value: &Value) -> Section {
    let figures = list(value, "figures");
    let mut table = Table::new(
        "Operations on a hash table, against one without protection",
        &[
            "protection",
            "updates a million",
            "threads",
            "million operations a second",
            "of ideal",
            "more threads than processors",
        ],
    );
    for f in figures {
        table.row([
            text(&f["protection"]),
            text(&f["updates_a_million"]),
            text(&f["threads"]),
            scaled(&f["operations_per_s"], 1e-6),
            spread(&f["to_ideal"]),
            text(&f["oversubscribed"]),
        ]);
    }
    let most = figures
        .iter()
        .filter(|f| f["oversubscribed"] == false)
        .filter_map(|f| f["threads"].as_u64())
        .max()
        .unwrap_or(1);
    let mut lines: plot::Lines = Vec::new();
    for f in figures.iter().filter(|f| f["threads"] == most) {
        let (name, share) = (text(&f["protection"]), f["updates_a_million"].as_f64().unwrap_or(0.0) / 1e4);
        let point = (share, bar(&f["to_ideal"]).map_or(0.0, |bar| bar.value));
        match lines.iter_mut().find(|(known, _)| *known == name) {
            Some((_, points)) => points.push(point),
            None => lines.push((name, vec![point])),
        }
    }
    section(
        &[
            "The slides' mini-benchmark: chains of one element, lookups and updates in proportion.",
            "Break-even: where RCU's processor time an operation crosses that of a lock, between the shares that were measured; beside it what lookups alone and updates alone predict \
             if costs simply add up, as the model assumes.",
        ],
        vec![table, break_even(figures)],
        [0, 10_000, 100_000]
            .into_iter()
            .map(|share| by_threads(figures, share))
            .chain([plot::lines(
                &format!("{most} threads"),
                "updates, percent",
                "of the unprotected table",
                &lines,
            )])
            .collect(),
    )
}

/// Operations a second against threads, a line for each protection, for one share of updates.
fn by_threads(figures: &[Value], updates_a_million: u64) -> String {
    let mut lines: plot::Lines = Vec::new();
    for f in figures.iter().filter(|f| f["updates_a_million"] == updates_a_million) {
        let rate = bar(&f["operations_per_s"]).map(|bar| bar.value / 1e6);
        let Some(point) = f["threads"].as_f64().zip(rate) else { continue };
        let name = text(&f["protection"]);
        match lines.iter_mut().find(|(known, _)| *known == name) {
            Some((_, points)) => points.push(point),
            None => lines.push((name, vec![point])),
        }
    }
    let title = format!("Operations a second, {} % updates", updates_a_million as f64 / 1e4);
    plot::lines(&title, "threads", "million", &lines)
}

/// What RCU saves beside a lock, in nanoseconds of processor time an operation, at each share of updates in percent.
type Saved = Vec<(f64, f64)>;

/// For each lock and number of threads that has processors: what RCU saves.
fn savings(figures: &[Value]) -> Vec<(String, &Value, Saved)> {
    let ns = |name: &str, threads: &Value, share: u64| {
        let is = |f: &&Value| {
            f["protection"] == name && f["threads"] == *threads && f["updates_a_million"] == share
        };
        figures.iter().find(is).and_then(|f| f["processor_ns"]["median"].as_f64())
    };
    let mut shares: Vec<u64> = figures.iter().filter_map(|f| f["updates_a_million"].as_u64()).collect();
    shares.sort_unstable();
    shares.dedup();
    let locks = figures.iter().filter(|f| {
        f["updates_a_million"] == 0
            && f["oversubscribed"] == false
            && !["RCU", "ideal"].iter().any(|name| f["protection"] == *name)
    });
    let of = |lock: &'_ Value, share: u64| {
        let (name, threads) = (text(&lock["protection"]), &lock["threads"]);
        Some((share as f64 / 1e4, ns(&name, threads, share)? - ns("RCU", threads, share)?))
    };
    locks
        .map(|lock| {
            let saved = shares.iter().filter_map(|&share| of(lock, share)).collect();
            (text(&lock["protection"]), &lock["threads"], saved)
        })
        .collect()
}

/// Locks, threads, and the share in percent at which RCU costs as much.
fn crossings(figures: &[Value]) -> Vec<(String, f64, f64)> {
    let all = savings(figures).into_iter();
    all.filter_map(|(lock, threads, saved)| Some((lock, threads.as_f64()?, crossing(&saved)?))).collect()
}

/// Shares of updates at which RCU costs as much as a lock.
fn break_even(figures: &[Value]) -> Table {
    let mut table = Table::new(
        "Break-even of RCU",
        &["against", "threads", "pays below, percent of updates", "predicted from the ends, percent"],
    );
    for (name, threads, saved) in savings(figures) {
        let ends: Saved = saved.first().into_iter().chain(saved.last()).copied().collect();
        table.row([name, text(threads), pays_below(&saved), pays_below(&ends)]);
    }
    table
}

/// The share below which something is saved: a crossing, or that there is none.
fn pays_below(saved: &[(f64, f64)]) -> String {
    match crossing(saved) {
        Some(share) => number(share),
        None if saved.is_empty() => "–".to_owned(),
        None if saved.iter().all(|(_, saved)| *saved >= 0.0) => "always".to_owned(),
        None if saved.iter().all(|(_, saved)| *saved < 0.0) => "never".to_owned(),
        None => "only with more updates".to_owned(),
    }
}

/// Where a line through points first goes below zero.
fn crossing(points: &[(f64, f64)]) -> Option<f64> {
    points.windows(2).find_map(|pair| match pair {
        [(from, above), (to, below)] if *above >= 0.0 && *below < 0.0 => {
            Some(from + (to - from) * above / (above - below))
        }
        _ => None,
    })
}

/// The model's break-even against processors, and what the hash table shows, if it was measured.
fn model_chart(value: &Value, hash: Option<&Value>) -> String {
    let mut lines: plot::Lines = Vec::new();
    for row in list(value, "break_even") {
        for (against, lock) in [("against_spinlock", "spinlock"), ("against_brlock", "brlock")] {
            let name = format!("{lock} λ{}", row["updates_a_grace_period"]);
            let name = name.trim_end_matches(".0");
            if let Some(point) = row["processors"].as_f64().zip(bar(&row[against])) {
                add(&mut lines, name, (point.0, 100.0 * point.1.value));
            }
        }
    }
    let measured = hash.map_or(Vec::new(), |hash| crossings(list(hash, "figures")));
    for (protection, lock) in [("global lock", "spinlock"), ("brlock", "brlock")] {
        for (_, threads, share) in measured.iter().filter(|(name, ..)| name == protection) {
            add(&mut lines, &format!("{lock} here"), (*threads, *share));
        }
    }
    let title = "Share of updates below which RCU pays: the model and the hash table";
    plot::lines(title, "processors", "percent", &lines)
}

/// When RCU pays.
pub(super) fn model(value: &Value, hash: Option<&Value>) -> Section {
    let mut table = Table::new(
        "Share of updates below which RCU pays, by the model with the costs measured here (and with every combination of their least and most)",
        &["processors", "updates a grace period", "against a spinlock", "against a brlock"],
    );
    for row in list(value, "break_even") {
        let percent = |name: &str| format!("{} %", scaled(&row[name], 100.0));
        table.row([
            text(&row["processors"]),
            text(&row["updates_a_grace_period"]),
            percent("against_spinlock"),
            percent("against_brlock"),
        ]);
    }
    let ratio = value["memory_latency_ratio"].as_f64().map_or("–".to_owned(), number);
    section(
        &[
            "The slides give the break-even as a function of the ratio of memory latency to instruction time; the hash table above is its check. The model frees on the thread that \
             updates; the hash table's updates go to a thread that frees, which costs more, so that it breaks even at fewer updates than the model says. Rows \
             whose bar reaches 100 % depend on costs that differ by less than they vary: that is why those against a brlock flip between machines.",
            "The chart has the model's lines, λ being updates a grace period, and as points (here) where RCU's line crosses that of a lock in the measured hash table, if it does.",
            &format!(
                "Here a transfer between processors costs {ratio} times an atomic operation on a line that is at hand."
            ),
        ],
        vec![table],
        vec![model_chart(value, hash)],
    )
}

#[cfg(test)]
mod tests {
    use super::{crossing, pays_below};

    #[test]
    fn a_crossing_lies_between_its_points() {
        assert_eq!(crossing(&[(0.0, 3.0), (10.0, 1.0), (20.0, -1.0)]), Some(15.0));
        assert_eq!(crossing(&[(0.0, 3.0), (10.0, 1.0)]), None);
        let pays = |saved: [f64; 2]| pays_below(&[(0.0, saved[0]), (100.0, saved[1])]);
        assert_eq!(
            [pays([1.0, -1.0]), pays([1.0, 0.0]), pays([-1.0, -2.0]), pays([-1.0, 1.0]), pays_below(&[])],
            ["50.0", "always", "never", "only with more updates", "–"]
        );
    }
}
