//! RouteBricks' cluster: RB4 on running nodes, what a node costs, and simulated clusters.
//!
//! `cluster --only nodes` also measures nodes that have no interfaces, one role at a time with warm caches, and what the simulator makes of that. Its costs are
//! below those of RB4's nodes, so that clusters look better: it is not shown.

use super::section::{
    PUBLISHED, Section, Table, bar, list, one_series, ratio, scaled, section, spread, text,
};
use crate::report::plot::{self, Bar, number};
use serde_json::Value;

/// A figure, and what is left of its name.
type Named<'v> = (&'v str, &'v Value);

/// Figures whose names begin so.
fn begins<'v>(value: &'v Value, begin: &str) -> Vec<Named<'v>> {
    let figures = list(value, "figures").iter();
    figures.filter_map(|figure| Some((figure["name"].as_str()?.strip_prefix(begin)?, figure))).collect()
}

/// Figures whose names have this in them.
fn having<'v>(value: &'v Value, part: &str) -> Vec<Named<'v>> {
    begins(value, "").into_iter().filter(|(name, _)| name.contains(part)).collect()
}

/// RB4, then what is behind it.
pub(super) fn cluster(value: &Value) -> Section {
    let (rates, latencies) = (begins(value, "rb4 rate: "), begins(value, "rb4 latency: "));
    let (costs, orders) = (begins(value, "rb4 cost: "), begins(value, "rb4 order: "));
    let published = &PUBLISHED["routebricks"];
    let found = format!(
        "The paper's RB4, four servers: {} Gbit/s of 64-byte packets, {} Gbit/s of a trace; {} % out of order with flowlets, {} % without; {} us by estimate.",
        text(&published["rb4_gbps"]["64 bytes"]),
        text(&published["rb4_gbps"]["trace"]),
        text(&published["reordered_percent"]["flowlets"]),
        text(&published["reordered_percent"]["packet by packet"]),
        range(&published["rb4_latency_us"])
    );
    section(
        &[
            &found,
            "Here the four nodes are those that are shipped, their interfaces are in memory, and time is virtual: each node has a processor of its own, whose turns take what they \
             really take on the one that all share, with cold caches whenever the next node has its turn.",
            "Why they differ: the paper's servers have eight cores each, drivers and cards, and its rates are those of four servers with all their cores; here a node has one core, \
             no card sets a limit for long packets, and each node keeps flows and order in tables that the others push out of the cache. The paper's latency is no \
             measurement but a sum: four DMA transfers, a packet's processing and the wait for a batch of 16, at each of two or three servers; here transfers are the \
             cables' fixed time and the rest is measured, and a batch never waits to be full. The paper replays the Abilene trace; here the trace is made up, so that how many \
             flows send how closely, and with it how much can be overtaken, is another.",
            "Costs by role are in two tables: in bursts that find the node's caches cold, as in a cluster on one processor, and busy, one burst behind the other, as on a processor \
             of its own. What the simulator says is labelled so; its nodes have the costs that were measured.",
        ],
        vec![
            of_rates(&rates),
            of_speed_ups(&begins(value, "rb4 speed-up: ")),
            of_latencies(&latencies),
            of_orders(&orders),
            by_traffic("RB4: what a packet costs a node, ns", &costs),
            of_busy(&begins(value, "busy: ")),
            of_workers(&begins(value, "workers: ")),
            of_choices(value),
            of_elephants(&begins(value, "elephant: ")),
            of_simulated_orders(&begins(value, "order: ")),
            of_flowlets(&having(value, "flows a pair")),
            of_scale(&having(value, " ports, ")),
        ],
        vec![
            one_series(
                "RB4: loss-free rate, all nodes together",
                "Gbit/s",
                rates.iter().map(|(name, figure)| ((*name).to_owned(), gbps(figure))).collect(),
            ),
            latency_chart(&latencies),
            order_chart(&orders),
            one_series(
                "RB4: a packet's cost by role",
                "ns",
                costs.iter().map(|(name, figure)| ((*name).to_owned(), bar(&figure["node_ns"]))).collect(),
            ),
        ],
    )
}

/// Gigabits a second, with the range that its packets have.
fn gbps(figure: &Value) -> Option<Bar> {
    let (gbps, packets) = (figure["gbps"].as_f64()?, bar(&figure["packets_per_s"]));
    Some(packets.map_or(Bar::just(gbps), |packets| {
        let by = |end: f64| if packets.value > 0.0 { gbps * end / packets.value } else { gbps };
        Bar { value: gbps, from: by(packets.from), to: by(packets.to) }
    }))
}

/// Two ends.
fn range(ends: &Value) -> String {
    match (ends[0].as_f64(), ends[1].as_f64()) {
        (Some(from), Some(to)) => format!("{from}–{to}"),
        _ => "–".to_owned(),
    }
}

/// Half, nine of ten and 99 of a hundred.
fn parts(times: &Value) -> String {
    match ["p50", "p90", "p99"].map(|part| times[part].as_f64()) {
        [Some(half), Some(ninety), Some(most)] => [half, ninety, most].map(number).join(" / "),
        _ => "–".to_owned(),
    }
}

fn of_rates(figures: &[Named<'_>]) -> Table {
    let heads = [
        "what",
        "million packets a second (least–most)",
        "Gbit/s",
        "a core",
        "published: Gbit/s, four servers",
        "ours by published",
    ];
    let mut table =
        Table::new("RB4: the highest rate without loss, a processor a node in virtual time", &heads);
    for (name, figure) in figures {
        table.row([
            (*name).to_owned(),
            scaled(&figure["packets_per_s"], 1e-6),
            text(&figure["gbps"]),
            text(&figure["gbps_per_core"]),
            text(&figure["published_gbps"]),
            ratio(figure["gbps"].as_f64(), figure["published_gbps"].as_f64()),
        ]);
    }
    table
}

fn of_speed_ups(figures: &[Named<'_>]) -> Table {
    let heads = [
        "what",
        "goal",
        "measured: times one alone",
        "times one of four alone, which share the caches",
        "simulated with these costs: times one alone",
        "simulated c",
    ];
    let mut table = Table::new("RB4: four nodes beside one router that is alone", &heads);
    for (name, figure) in figures {
        table.row([
            (*name).to_owned(),
            text(&figure["goal"]),
            spread(&figure["of_one_alone"]),
            spread(&figure["of_one_of_four_alone"]),
            text(&figure["simulated_of_one_alone"]),
            text(&figure["simulated_c"]),
        ]);
    }
    table
}

fn of_latencies(figures: &[Named<'_>]) -> Table {
    let heads =
        ["what, of the loss-free rate", "ingress", "intermediate", "egress", "across", "published", "lost"];
    let mut table = Table::new(
        "RB4: latency in us, 50 % / 90 % / 99 % of packets; a role without cables, across with them",
        &heads,
    );
    for (name, figure) in figures {
        let times =
            ["ingress_us", "intermediate_us", "egress_us", "across_us"].map(|hop| parts(&figure[hop]));
        let rest = [range(&figure["published_us"]), text(&figure["lost"])];
        table.row([vec![(*name).to_owned()], times.into(), rest.into()].concat());
    }
    table
}

/// How long packets take across the cluster, as far as they cross one.
fn latency_chart(figures: &[Named<'_>]) -> String {
    let rows: Vec<_> = figures
        .iter()
        .filter(|(name, _)| name.starts_with("mesh"))
        .map(|(name, figure)| {
            let part = |part: &str| figure["across_us"][part].as_f64().map(Bar::just);
            ((*name).to_owned(), vec![part("p50"), part("p90"), part("p99")])
        })
        .collect();
    plot::bars("RB4: latency across the cluster", "us", &["50 %", "90 %", "99 %"], &rows)
}

fn of_orders(figures: &[Named<'_>]) -> Table {
    let heads = [
        "order",
        "reordered sequences, percent",
        "published",
        "late packets, percent",
        "lost, percent",
        "across, us: 50 % / 90 % / 99 %",
    ];
    let mut table = Table::new("RB4: packets out of order on running nodes (section 6.2)", &heads);
    for (name, figure) in figures {
        table.row([
            (*name).to_owned(),
            spread(&figure["percent"]),
            text(&figure["published_percent"]),
            spread(&figure["late_percent"]),
            spread(&figure["lost_percent"]),
            parts(&figure["across_us"]),
        ]);
    }
    table
}

fn order_chart(figures: &[Named<'_>]) -> String {
    let rows: Vec<_> = figures
        .iter()
        .map(|(name, figure)| {
            let published = figure["published_percent"].as_f64().map(Bar::just);
            ((*name).to_owned(), vec![published, bar(&figure["percent"])])
        })
        .collect();
    plot::bars("RB4: reordered sequences", "percent", &["published", "here"], &rows)
}

/// A row for each role, a column for each kind of traffic.
fn by_traffic(caption: &str, figures: &[Named<'_>]) -> Table {
    let named: Vec<(&str, &str, &Value)> = figures
        .iter()
        .filter_map(|(name, figure)| name.split_once(", ").map(|(role, traffic)| (role, traffic, *figure)))
        .collect();
    let (mut roles, mut traffics): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for (role, traffic, _) in &named {
        if !roles.contains(role) {
            roles.push(role);
        }
        if !traffics.contains(traffic) {
            traffics.push(traffic);
        }
    }
    let mut table = Table::new(caption, &[vec!["role"], traffics.clone()].concat());
    for role in roles {
        let cell = |traffic: &&str| {
            let found = named.iter().find(|(of, with, _)| *of == role && with == traffic);
            found.map_or("–".to_owned(), |(_, _, figure)| spread(&figure["node_ns"]))
        };
        table.row([vec![role.to_owned()], traffics.iter().map(cell).collect()].concat());
    }
    table
}

fn of_busy(figures: &[Named<'_>]) -> Table {
    let mut table = Table::new(
        "A busy node, 64-byte packets in full bursts: ns a packet",
        &["role", "of the whole turn", "interfaces in memory deducted"],
    );
    for (name, figure) in figures {
        table.row([(*name).to_owned(), spread(&figure["ns"]), spread(&figure["ns_without_cables"])]);
    }
    table
}

fn of_workers(figures: &[Named<'_>]) -> Table {
    let heads = ["role", "one worker, ns", "two workers, ns", "times", "goal", "lost of a million, at most"];
    let mut table = Table::new(
        "Two cores beside one, by role, without interfaces: time for each packet of all workers",
        &heads,
    );
    for (name, figure) in figures {
        let times = ["one_ns", "two_ns", "times"].map(|column| spread(&figure[column]));
        let rest = ["goal", "lost_ppm_most"].map(|column| text(&figure[column]));
        table.row([vec![(*name).to_owned()], times.into(), rest.into()].concat());
    }
    table
}

/// What choosing a path and reading labels cost, without a router around them.
fn of_choices(value: &Value) -> Table {
    let mut table = Table::new("Path choice and labels alone", &["role", "ns a packet"]);
    let figures =
        begins(value, "ingress").into_iter().map(|(rest, figure)| (format!("ingress{rest}"), figure));
    let passing = ["intermediate", "egress"].into_iter().flat_map(|role| {
        begins(value, role).into_iter().map(move |(rest, figure)| (format!("{role}{rest}"), figure))
    });
    figures.chain(passing).for_each(|(name, figure)| table.row([name, text(&figure["ns"])]));
    table
}

fn of_elephants(figures: &[Named<'_>]) -> Table {
    let heads = [
        "work of a packet",
        "one worker, ns",
        "two workers, ns",
        "times",
        "two in virtual time, times",
        "four in virtual time, times",
    ];
    let mut table = Table::new("One flow, shared by workers and put in order again", &heads);
    for (name, figure) in figures {
        table.row(match figure["ns"].as_f64() {
            Some(ns) => vec![format!("{name}: {} ns", number(ns))],
            None => vec![
                (*name).to_owned(),
                spread(&figure["one_ns"]),
                spread(&figure["two_ns"]),
                text(&figure["times"]),
                text(&figure["virtual_two_times"]),
                text(&figure["virtual_four_times"]),
            ],
        });
    }
    table
}

fn of_simulated_orders(figures: &[Named<'_>]) -> Table {
    let heads = ["scheme and order", "reordered sequences, percent", "99 % latency, us"];
    let mut table = Table::new("Simulated: packets out of order (section 6.2)", &heads);
    for (name, figure) in figures {
        table.row([(*name).to_owned(), text(&figure["percent"]), text(&figure["p99_us"])]);
    }
    table
}

/// A row for each kind of traffic: packet by packet, and in flowlets.
fn of_flowlets(figures: &[Named<'_>]) -> Table {
    let heads = [
        "traffic",
        "packet by packet: out of order, percent",
        "99 % latency, us",
        "flowlets: out of order, percent",
        "99 % latency, us",
        "spilled",
        "dropped",
    ];
    let mut table = Table::new("Simulated: flowlets where flows fill a good part of their links", &heads);
    for (name, single) in figures {
        let Some(traffic) = name.strip_suffix(", None") else { continue };
        let other = format!("{traffic}, Flowlet");
        let flowlets =
            figures.iter().find(|(name, _)| *name == other).map_or(&Value::Null, |(_, figure)| figure);
        table.row([
            traffic.to_owned(),
            spread(&single["percent"]),
            spread(&single["p99_us"]),
            spread(&flowlets["percent"]),
            spread(&flowlets["p99_us"]),
            spread(&flowlets["spilled"]),
            spread(&flowlets["dropped"]),
        ]);
    }
    table
}

fn of_scale(figures: &[Named<'_>]) -> Table {
    let heads =
        ["cluster", "of theory", "fairness", "c: bits processed for each that comes in", "c of the busiest"];
    let mut table = Table::new("Simulated: clusters against theory", &heads);
    for (name, figure) in figures {
        let cells = ["of_theory", "fairness", "c", "c_busiest"].map(|name| text(&figure[name]));
        table.row([vec![(*name).to_owned()], cells.into()].concat());
    }
    table
}
