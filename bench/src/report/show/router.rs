//! Whole configurations, translation, filters, interfaces.

use super::section::{
    PUBLISHED, Section, Table, bar, flat, flat_text, list, one_series, ratio, section, shown, spread, text,
};
use crate::report::plot::{self, Bar, number};
use serde_json::Value;

/// Configurations.
pub(super) fn forward(value: &Value, predicted: Option<&Value>) -> Section {
    let mut table = Table::new(
        "Nanoseconds a packet, in memory",
        &[
            "configuration",
            "ns (least–most)",
            "vector",
            "workers",
            "speed-up",
            "instructions a packet",
            "dispatches a packet",
        ],
    );
    for figure in list(value, "figures") {
        table.row([
            text(&figure["name"]),
            flat_text(figure),
            text(&figure["vector"]),
            text(&figure["workers"]),
            text(&figure["times_one_worker"]),
            text(&figure["instructions_per_packet"]),
            text(&figure["dispatches_per_packet"]),
        ]);
    }
    let rows = list(value, "figures").iter().map(|figure| (text(&figure["name"]), flat(figure))).collect();
    section(
        &[
            "Each configuration runs on one worker bound to one processor, from a source in memory to a sink; a run in which a packet is dropped is an error. \
           The speed-up is that of the same configuration on two workers, a queue and a packet belonging to one core (RouteBricks, 4.2).",
            "The burst is what a source makes at once, the vector what elements pass on together at most: 128 as shipped, 32 as other routers' benchmarks have it. So `burst 32` has \
           vectors of 32 here, while `clique` in the next section runs as shipped, with vectors of 128 at every burst: a lower figure there does not contradict this one.",
        ],
        vec![table, elements(predicted)],
        vec![one_series("Nanoseconds a packet", "ns", rows)],
    )
}

/// Elements that have a goal of their own, in nanoseconds a packet.
const GOALS: [(&str, &str, f64); 3] = [
    ("ARPQuerier", "ARPQuerier", 3.0),
    ("Queue", "Queue, with what takes packets out", 2.5),
    ("CheckIPHeader", "CheckIPHeader", 2.0),
];

/// What these cost, as `predict` measures them.
fn elements(predicted: Option<&Value>) -> Table {
    let mut table = Table::new(
        "Single elements, ns a packet (from what predictions start with)",
        &["element", "goal", "here", "here by goal"],
    );
    let figures = predicted.map_or(&[][..], |value| list(value, "figures"));
    for (class, name, goal) in GOALS {
        let met =
            figures.iter().flat_map(|figure| list(figure, "elements")).find(|met| met["class"] == class);
        let Some(met) = met else { continue };
        let ns = met["ns"].as_f64().zip(met["times_a_packet"].as_f64()).map(|(ns, times)| ns / times);
        table.row([name.to_owned(), number(goal), ns.map_or("–".to_owned(), number), ratio(ns, Some(goal))]);
    }
    table
}

/// Other programs with Click's command line.
pub(super) fn peers(value: &Value) -> Section {
    let mut table = Table::new(
        "conf/fake-iprouter.click, ns a packet",
        &["program", "burst", "ns (least–most)", "times the first"],
    );
    for figure in list(value, "figures") {
        table.row([
            text(&figure["name"]),
            text(&figure["burst"]),
            spread(&figure["ns"]),
            spread(&figure["to_first"]),
        ]);
    }
    let rows = list(value, "figures")
        .iter()
        .map(|figure| {
            (format!("{}, burst {}", text(&figure["name"]), text(&figure["burst"])), bar(&figure["ns"]))
        })
        .collect();
    section(
        &[
            "The programs take turns; each figure is the time for twice as many packets less the time for as many. The queue dropped nothing in any run. Under Click's \
             name Clique handles packets one at a time, so that effects have Click's order.",
        ],
        vec![table],
        vec![one_series("The SOSP paper's router", "ns a packet", rows)],
    )
}

fn named(value: &Value, caption: &str, paragraph: &str) -> Section {
    let mut table = Table::new(caption, &["case", "ns (least–most)", "workers"]);
    for figure in list(value, "figures") {
        table.row([text(&figure["name"]), flat_text(figure), text(&figure["workers"])]);
    }
    let rows = list(value, "figures").iter().map(|figure| (text(&figure["name"]), flat(figure))).collect();
    section(&[paragraph], vec![table], vec![one_series(caption, "ns", rows)])
}

/// NAT.
pub(super) fn rewriter(value: &Value) -> Section {
    named(
        value,
        "Processor time a packet in IPRewriter and FlowIPManager",
        "Packets of the flows come in random order. New flows are timed by the clock.",
    )
}

/// Filters.
pub(super) fn filter(value: &Value) -> Section {
    named(value, "Processor time a packet in IPFilter", "Each packet matches a rule chosen at random.")
}

/// Processor time without that of sending. Older results have no range.
fn own(figure: &Value) -> Option<Bar> {
    let value = figure["own_ns_median"].as_f64()?;
    let end = |name: &str| figure[name].as_f64().unwrap_or(value);
    Some(Bar { value, from: end("own_ns_min"), to: end("own_ns_max") })
}

/// What becomes of packets while all routes are replaced.
fn replacements(value: &Value) -> Table {
    let heads =
        ["forwarder", "routes", "took, s", "packets", "lost", "blocked, s", "median us", "99 %", "most"];
    let mut table = Table::new("While all routes are replaced", &heads);
    for figure in list(value, "replacements") {
        let us = |name: &str| figure[name].as_f64().map_or("–".to_owned(), |ns| number(ns / 1e3));
        let cells =
            ["name", "routes", "took_s", "packets", "lost", "blocked_s"].map(|name| text(&figure[name]));
        table.row([cells.as_slice(), &["ns_p50", "ns_p99", "ns_max"].map(us)].concat());
    }
    table
}

/// The kernel's interfaces.
pub(super) fn devices(value: &Value) -> Section {
    let mut table = Table::new(
        "Processor time a packet over virtual cables",
        &["size", "forwarder", "ns (least–most)", "own ns", "packets a second", "lost"],
    );
    for figure in list(value, "figures") {
        table.row([
            text(&figure["size"]),
            text(&figure["name"]),
            flat_text(figure),
            shown(own(figure)),
            text(&figure["packets_per_s_median"]),
            text(&figure["lost"]),
        ]);
    }
    let mut batches = Table::new(
        "RouteBricks, Table 1: packets received at once (kp), handed to the kernel at once (kn); AF_XDP",
        &[
            "batches",
            "published: Gbit/s, 8 cores",
            "times the first",
            "ours: own ns",
            "packets a second",
            "times the first",
            "Gbit/s",
            "ours by published, a core",
        ],
    );
    let published = &PUBLISHED["routebricks"];
    let mut first = (None, None);
    for (name, there) in published["batches"].as_object().into_iter().flatten() {
        let ours = format!("batches {}", name.replace("kp ", "").replace("kn ", ""));
        for figure in list(value, "figures").iter().filter(|figure| figure["name"] == ours) {
            let rate = figure["packets_per_s_median"].as_f64();
            let octets = figure["size"].as_str().and_then(|size| size.parse::<f64>().ok());
            let gbps = rate.zip(octets).map(|(rate, octets)| rate * octets * 8.0 / 1e9);
            let a_core = there.as_f64().zip(published["cores"].as_f64()).map(|(gbps, cores)| gbps / cores);
            first = (first.0.or(there.as_f64()), first.1.or(rate));
            batches.row([
                name.clone(),
                text(there),
                ratio(there.as_f64(), first.0),
                shown(own(figure)),
                text(&figure["packets_per_s_median"]),
                ratio(rate, first.1),
                gbps.map_or("–".to_owned(), number),
                ratio(gbps, a_core),
            ]);
        }
    }
    let batches_chart = batches_chart(list(value, "figures"));
    let mut latency = Table::new(
        "Latency, microseconds",
        &["forwarder", "percent of the loss-free rate", "median", "99 %", "99.9 %", "most", "lost"],
    );
    for figure in list(value, "latencies") {
        let us = |name: &str| figure[name].as_f64().map_or("–".to_owned(), |ns| number(ns / 1e3));
        latency.row([
            text(&figure["name"]),
            text(&figure["load_percent"]),
            us("ns_p50"),
            us("ns_p99"),
            us("ns_p999"),
            us("ns_max"),
            text(&figure["lost"]),
        ]);
    }
    let adds = list(value, "figures").iter().filter(|figure| !text(&figure["name"]).starts_with("testpmd"));
    let rows: Vec<_> = adds
        .map(|figure| (format!("{} ({})", text(&figure["name"]), text(&figure["size"])), vec![own(figure)]))
        .collect();
    section(
        &[
            "Virtual cables (veth) on one machine: sender, forwarder and the kernel's softirqs together; AF_XDP copies each frame there. Nothing follows for network cards.",
            "testpmd is DPDK's program, with its drivers for AF_XDP and packet sockets; it forwards frames without a look at routes, as bare-xdp does. It polls without pause, so its \
             processor time is all the time that passes: compare its packets a second.",
            "Table 1: the paper's driver waited for kn packets, and its authors lacked a limit to that wait. Clique's devices do not wait: they hand over what there is, so a \
             batch is as large as the load makes it, and no limit is needed; latency at low load is in the table below.",
        ],
        vec![table, batches, latency, replacements(value)],
        vec![
            plot::bars(
                "What the forwarder adds to a frame that the kernel drops at once",
                "ns a packet",
                &[],
                &rows,
            ),
            batches_chart,
        ],
    )
}

/// Table 1: rates by that without batches, there and here.
fn batches_chart(figures: &[Value]) -> String {
    let mut first = (None, None);
    let mut rows = Vec::new();
    for (name, there) in PUBLISHED["routebricks"]["batches"].as_object().into_iter().flatten() {
        let ours = format!("batches {}", name.replace("kp ", "").replace("kn ", ""));
        let rate = figures.iter().find(|figure| figure["name"] == ours);
        let rate = rate.and_then(|figure| figure["packets_per_s_median"].as_f64());
        first = (first.0.or(there.as_f64()), first.1.or(rate));
        let by = |of: Option<f64>, to: Option<f64>| of.zip(to).map(|(of, to)| Bar::just(of / to));
        if rate.is_some() {
            rows.push((name.clone(), vec![by(there.as_f64(), first.0), by(rate, first.1)]));
        }
    }
    plot::bars("Table 1: rate by that without batches", "times", &["published", "here"], &rows)
}
