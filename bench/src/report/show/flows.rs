//! IPsec, tables of flows, the BSD paper's figures, predictions, and the demo.

use super::section::{
    PUBLISHED, Section, Table, flat, flat_text, list, median, one_series, ratio, section, shown, spread, text,
};
use crate::report::plot::{self, Bar, number};
use serde_json::Value;

/// ESP beside the bare ciphers.
pub(super) fn esp(value: &Value) -> Section {
    let figures = list(value, "figures");
    let mut lengths: Vec<u64> = figures.iter().filter_map(|figure| figure["octets"].as_u64()).collect();
    lengths.sort_unstable();
    lengths.dedup();
    let mut names: Vec<String> = Vec::new();
    for name in figures.iter().map(|figure| text(&figure["what"])) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let of = |name: &str, octets: u64| figures.iter().find(|f| f["what"] == name && f["octets"] == octets);
    let heads: Vec<String> = lengths.iter().map(|octets| format!("{octets} octets")).collect();
    let mut table = Table::new(
        "Nanoseconds a packet (least–most), and times the rate of the row that it is compared with",
        &[vec!["what"], heads.iter().map(String::as_str).collect()].concat(),
    );
    for name in &names {
        let cell = |octets: &u64| {
            let Some(figure) = of(name, *octets) else { return "–".to_owned() };
            match figure["rate"]["times"].as_f64() {
                Some(times) => format!("{}; {times:.2} times", flat_text(figure)),
                None => flat_text(figure),
            }
        };
        table.row([vec![name.clone()], lengths.iter().map(cell).collect()].concat());
    }
    let series: Vec<&str> = heads.iter().map(String::as_str).collect();
    let rows: Vec<_> = names
        .iter()
        .map(|name| (name.clone(), lengths.iter().map(|octets| of(name, *octets).and_then(flat)).collect()))
        .collect();
    section(
        &[
            "AES-128-GCM in memory, one core unless a row says otherwise. What an element takes beyond the source alone and the quickest bare cipher is the router's own share.",
        ],
        vec![table],
        vec![plot::bars("Nanoseconds a packet", "ns", &series, &rows)],
    )
}

/// Tables of flows.
pub(super) fn flows(value: &Value) -> Section {
    let mut table = Table::new(
        "Nanoseconds an operation, in batches of 32",
        &[
            "table",
            "operation",
            "flows",
            "workers",
            "ns (least–most)",
            "bytes a flow",
            "established flows lost",
        ],
    );
    for figure in list(value, "figures") {
        table.row([
            text(&figure["table"]),
            text(&figure["what"]),
            text(&figure["flows"]),
            text(&figure["workers"]),
            flat_text(figure),
            text(&figure["bytes_a_flow"]),
            text(&figure["lost"]),
        ]);
    }
    let mut lines: plot::Lines = Vec::new();
    let hits = list(value, "figures").iter().filter(|f| f["what"] == "hit" && f["workers"] == 1);
    for (name, point) in hits
        .filter_map(|f| Some((text(&f["table"]), (f["flows"].as_f64()?.log2(), f["ns_median"].as_f64()?))))
    {
        match lines.iter_mut().find(|(known, _)| *known == name) {
            Some((_, points)) => points.push(point),
            None => lines.push((name, vec![point])),
        }
    }
    section(
        &[
            "`flows` is the table of multi-path (FLOWS) and of accounting (FlowExporter); `flood` is what a first packet of a flood costs while the table is half full of established flows.",
        ],
        vec![table],
        vec![plot::lines("Flows that are found, one worker", "flows, as a power of two", "ns", &lines)],
    )
}

/// The BSD paper's Figures 7, 9 and 10.
pub(super) fn bsd(value: &Value) -> Section {
    let mut table = Table::new(
        "Figures 7, 9 and 10: where UDP packets go, in memory",
        &[
            "design",
            "threads",
            "million packets a second",
            "share of time in locks",
            "more threads than processors",
        ],
    );
    let (mut rates, mut locks): (plot::Lines, plot::Lines) = (Vec::new(), Vec::new());
    for figure in list(value, "figures") {
        let rate =
            ["median", "min", "max"].map(|end| figure[format!("mpps_{end}")].as_f64().unwrap_or(f64::NAN));
        let share = figure["lock_share"].as_f64().map(|share| share * 100.0);
        table.row([
            text(&figure["design"]),
            text(&figure["threads"]),
            format!("{} ({}–{})", number(rate[0]), number(rate[1]), number(rate[2])),
            share.map_or("–".to_owned(), |share| format!("{} %", number(share))),
            text(&figure["preempted"]),
        ]);
        let (name, threads) = (text(&figure["design"]), figure["threads"].as_f64().unwrap_or(0.0));
        for (lines, value) in [(&mut rates, Some(rate[0])), (&mut locks, share)] {
            let Some(value) = value else { continue };
            match lines.iter_mut().find(|(known, _)| *known == name) {
                Some((_, points)) => points.push((threads, value)),
                None => lines.push((name.clone(), vec![(threads, value)])),
            }
        }
    }
    let mut modelled =
        Table::new("Modelled on more processors", &["design", "processors", "million packets a second"]);
    let mut more: plot::Lines = Vec::new();
    for figure in list(value, "modelled") {
        let (name, rate) = (text(&figure["design"]), figure["mpps"].as_f64().unwrap_or(f64::NAN));
        modelled.row([name.clone(), text(&figure["processors"]), number(rate)]);
        let point = (figure["processors"].as_f64().unwrap_or(0.0), rate);
        match more.iter_mut().find(|(known, _)| *known == name) {
            Some((_, points)) => points.push(point),
            None => more.push((name, vec![point])),
        }
    }
    section(
        &[
            "The paper (FreeBSD 8, up to 8 cores): with one lock and reference count for L2 and L3 the rate does not rise as threads are added; the split alone moves the locks, and the flow table removes \
             nearly all. `clique` is this product's tables under RCU, without locks.",
            "The paper draws the rates of Figures 7 and 9 and says no numbers, only that with the split they do not increase with the threads. Its cards bound what the flow table reaches. \
             Of Figure 10 it says two numbers, which are bounds; they are the single points of the chart.",
            "Rows with more threads than processors show holders of locks that were preempted, not contention.",
            "What more processors would reach is modelled: Gunther's scalability law through the measured rates of one thread and of two, each on a processor of its own. It leaves out what it costs to move \
             a lock's line between more than two.",
        ],
        vec![
            table,
            modelled,
            published_rates(list(value, "figures")),
            published_locks(list(value, "figures")),
        ],
        vec![
            plot::lines("Figures 7 and 9: packets a second", "threads", "million", &rates),
            plot::lines("Figures 7 and 9, modelled: packets a second", "processors", "million", &more),
            plot::lines("Figure 10: time in locks", "threads", "percent", &with_published(locks)),
        ],
    )
}

/// The figure of a design with as many threads as there are processors, or with as many as were measured.
fn widest<'f>(figures: &'f [Value], design: &Value) -> Option<&'f Value> {
    let of_design = figures.iter().filter(|f| f["design"] == *design && f["preempted"] == false);
    of_design.max_by_key(|figure| figure["threads"].as_u64())
}

/// What the paper says of rates against threads, beside ours.
fn published_rates(figures: &[Value]) -> Table {
    let published = &PUBLISHED["bsd"];
    let there = format!("published: up to {} threads", text(&published["threads"]));
    let heads = ["design", there.as_str(), "here: threads", "times the rate of one", "ours by published"];
    let mut table = Table::new("Figure 7: rates against threads", &heads);
    for rate in list(published, "rates") {
        let one = figures.iter().find(|f| f["design"] == rate["design"] && f["threads"] == 1);
        let Some((most, one)) = widest(figures, &rate["design"]).zip(one) else { continue };
        let times =
            most["mpps_median"].as_f64().zip(one["mpps_median"].as_f64()).map(|(most, one)| most / one);
        table.row([
            text(&rate["design"]),
            text(&rate["to_one_thread"]),
            text(&most["threads"]),
            times.map_or("–".to_owned(), number),
            ratio(times, rate["bound"].as_f64()),
        ]);
    }
    table
}

/// Lines of Figure 10, and the numbers that the paper says.
fn with_published(mut lines: plot::Lines) -> plot::Lines {
    let published = &PUBLISHED["bsd"];
    for lock in list(published, "locks") {
        if let Some(point) = published["threads"].as_f64().zip(lock["bound"].as_f64()) {
            lines.push((format!("{}, published", text(&lock["design"])), vec![point]));
        }
    }
    lines
}

/// The shares of Figure 10 that the paper says, beside ours with as many threads as there are processors.
fn published_locks(figures: &[Value]) -> Table {
    let published = &PUBLISHED["bsd"];
    let there = format!("published: percent, {} threads", text(&published["threads"]));
    let heads = ["design", there.as_str(), "here: threads", "percent", "ours by that bound"];
    let mut table = Table::new("Figure 10: share of time in locks", &heads);
    for lock in list(published, "locks") {
        let Some(ours) = widest(figures, &lock["design"]) else { continue };
        let percent = ours["lock_share"].as_f64().map(|share| share * 100.0);
        table.row([
            text(&lock["design"]),
            text(&lock["percent"]),
            text(&ours["threads"]),
            percent.map_or("–".to_owned(), number),
            ratio(percent, lock["bound"].as_f64()),
        ]);
    }
    table
}

/// What configurations were predicted to cost.
pub(super) fn predict(value: &Value) -> Section {
    let mut table = Table::new(
        "Nanoseconds a packet, from what elements cost one by one",
        &["configuration", "predicted", "measured (least–most)", "error, percent"],
    );
    let mut rows = Vec::new();
    for figure in list(value, "figures") {
        table.row([
            text(&figure["name"]),
            text(&figure["predicted_ns"]),
            flat_text(figure),
            text(&figure["error_percent"]),
        ]);
        rows.push((
            text(&figure["name"]),
            vec![figure["predicted_ns"].as_f64().map(Bar::just), flat(figure)],
        ));
    }
    let paragraph = format!(
        "RouteBricks (section 8) asks how a programmer can predict what a new combination of elements costs. The sum of the classes' costs is off by {} % in the median and by {} % at most.",
        text(&value["error_percent_median"]),
        text(&value["error_percent_max"])
    );
    section(
        &[&paragraph],
        vec![table],
        vec![plot::bars("Predicted and measured", "ns a packet", &["predicted", "measured"], &rows)],
    )
}

/// `clique demo`: the full tables, all workers, routes that change; where the time of a packet goes.
pub(super) fn demo(value: &Value) -> Section {
    let mut table = Table::new("The demo", &["what", "figure"]);
    for (name, what) in [
        ("ns_per_packet", "ns a packet and worker"),
        ("received_mpps", "million packets a second, all workers"),
        ("route_changes", "routes changed meanwhile"),
        ("checked", "packets compared with a table in order"),
        ("disagreeing", "of which disagreed"),
    ] {
        // Rates have one figure a second; counts are of all of them.
        let each = list(value, "seconds").iter().filter_map(|second| second[name].as_f64()).collect();
        let range = median(each).zip(value[name].as_f64()).map(|(range, all)| Bar { value: all, ..range });
        table.row([what.to_owned(), range.map_or_else(|| text(&value[name]), |range| shown(Some(range)))]);
    }
    let mut shares = Table::new("Where the time of a packet goes", &["class", "ns", "packets a batch"]);
    let (mut rows, mut parts) = (Vec::new(), Vec::new());
    for share in list(value, "time") {
        let ns = &share["ns_per_received_packet"];
        parts.extend(ns.as_f64().map(|ns| (text(&share["class"]), ns)));
        shares.row([text(&share["class"]), text(ns), spread(&share["packets_per_batch"])]);
        rows.push((text(&share["class"]), ns.as_f64().map(Bar::just)));
    }
    section(
        &[
            "Both full Internet tables, IPv4 and IPv6, packets that expire, that are broken, that have no route; interfaces in memory. The chain of the SOSP paper has neither cold tables nor errors to answer.",
        ],
        vec![table, shares],
        vec![
            plot::stacked("The time of a packet, class by class", "ns", &parts),
            one_series("Where the time of a packet goes", "ns", rows),
        ],
    )
}
