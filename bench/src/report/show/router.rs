//! Whole configurations, translation, filters, interfaces.

use super::section::{
    PUBLISHED, Section, Table, bar, flat, flat_text, list, one_series, ratio, section, spread, text,
};
use crate::report::plot::{self, number};
use serde_json::Value;

/// Configurations, and RouteBricks' three applications beside them.
pub(super) fn forward(value: &Value) -> Section {
    let mut table = Table::new(
        "Nanoseconds a packet, in memory",
        &[
            "configuration",
            "ns (least–most)",
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
            "RouteBricks' figures are of eight cores of 2.8 GHz with network cards and drivers; ours are of one core without cards, so the ratio says what the \
           router's own work is today, not what cards would add.",
        ],
        vec![table, applications(value)],
        vec![one_series("Nanoseconds a packet", "ns", rows)],
    )
}

/// RouteBricks, Table 3 and section 5.2.
fn applications(value: &Value) -> Table {
    let heads = [
        "application",
        "published: Gbit/s on 8 cores",
        "ns a packet and core",
        "instructions",
        "ours: ns",
        "instructions",
        "published by ours, ns",
    ];
    let mut table =
        Table::new("RouteBricks' three applications, 64-byte packets (Table 3, section 5.2)", &heads);
    let ours = ["source-counter-discard, burst 32", "fake-iprouter, burst 32", "IPsec, 64-byte frames"];
    let published = &PUBLISHED["routebricks"];
    for (application, name) in list(published, "applications").iter().zip(ours) {
        let figure =
            list(value, "figures").iter().find(|figure| figure["name"] == name).unwrap_or(&Value::Null);
        // 64-byte packets: 512 bits each.
        let ns = application["gbps"]
            .as_f64()
            .zip(published["cores"].as_f64())
            .map(|(gbps, cores)| 512.0 * cores / gbps);
        table.row([
            text(&application["name"]),
            text(&application["gbps"]),
            ns.map_or("–".to_owned(), number),
            text(&application["instructions"]),
            flat_text(figure),
            text(&figure["instructions_per_packet"]),
            ratio(ns, figure["ns_median"].as_f64()),
        ]);
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
            text(&figure["own_ns_median"]),
            text(&figure["packets_per_s_median"]),
            text(&figure["lost"]),
        ]);
    }
    let mut batches = Table::new(
        "RouteBricks, Table 1: packets received at once (kp), handed to the kernel at once (kn); AF_XDP",
        &["batches", "published: Gbit/s, 8 cores", "ours: own ns", "packets a second"],
    );
    for (name, published) in PUBLISHED["routebricks"]["batches"].as_object().into_iter().flatten() {
        let ours = format!("batches {}", name.replace("kp ", "").replace("kn ", ""));
        for figure in list(value, "figures").iter().filter(|figure| figure["name"] == ours) {
            let cells = ["own_ns_median", "packets_per_s_median"].map(|name| text(&figure[name]));
            batches.row([vec![name.clone(), text(published)], cells.into()].concat());
        }
    }
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
    let rows: Vec<_> = list(value, "figures")
        .iter()
        .map(|figure| {
            (
                format!("{} ({})", text(&figure["name"]), text(&figure["size"])),
                vec![figure["own_ns_median"].as_f64().map(crate::report::plot::Bar::just)],
            )
        })
        .collect();
    section(
        &[
            "Virtual cables (veth) on one machine: sender, forwarder and the kernel's softirqs together; AF_XDP copies each frame there. Nothing follows for network cards.",
            "Table 1: the paper's driver waited for kn packets, and its authors lacked a limit to that wait. Clique's devices do not wait: they hand over what there is, so a \
             batch is as large as the load makes it, and no limit is needed; latency at low load is in the table below.",
        ],
        vec![table, batches, latency],
        vec![plot::bars(
            "What the forwarder adds to a frame that the kernel drops at once",
            "ns a packet",
            &[],
            &rows,
        )],
    )
}
