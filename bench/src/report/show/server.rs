//! One server as RouteBricks measured it: sections 4, 5 and 8.

use super::section::{
    PUBLISHED, Section, Table, bar, list, one_series, ratio, ratio_of, scaled, section, shown, spread, text,
};
use crate::report::plot::{self, number};
use serde_json::Value;

/// All tables and figures of one server.
pub(super) fn server(value: &Value) -> Section {
    let begins = |begin: &'static str| {
        let figures = list(value, "figures").iter();
        figures.filter_map(move |figure| Some((figure["name"].as_str()?.strip_prefix(begin)?, figure)))
    };
    let parallel: Vec<_> = begins("parallel: ").collect();
    let applications: Vec<_> = begins("application: ").map(|(_, figure)| figure).collect();
    let loads: Vec<_> = begins("load: ").map(|(_, figure)| figure).collect();
    section(
        &[
            "Figures 6 and 7: with two cores on one packet the paper lost 29 % (one cache) to 64 % (two caches), with a transmit queue for several cores nearly 60 %, and (d) has \
             more than three times the rate of (c); queues of their own and batches brought the same server 6.7 times the rate (Figure 7). Here queues are in memory, and a batch passes a \
             queue as one; the rows with batches of 1 show what batches save. The factor beside the paper's is that from (e) without batches to (f) with them, one of several ways \
             to have neither: the paper's server shared receive queues, too.",
            "Table 3: the published figures are of eight cores of 2.8 GHz with network cards and drivers; ours are of one core without cards, so the ratio says what the router's \
             own work is today, not what cards would add. Packets go to many destinations. Cycles need counters, which virtual machines seldom have.",
            "Figure 8: the paper's eight cores were limited by its cards at large sizes (24.6 Gbit/s) and by processors at 64 bytes. Here frames are copied from a ring of \
             32 MiB, which stands in for a card, and there is no limit by cards.",
            "Figure 9: cycles a packet stayed constant there while the rate grew, with empty polls deducted; the time of turns in which packets moved is that figure here. \
             A worker sleeps while it has no packets, but the processor is busy all the same while packets come closer together than the kernel needs to put a thread to \
             sleep and to wake it, which the columns of late packets show. Section 8 compares power by nominal ratings only; processor time against load is what a server \
             could save. Figure 10 needs counters of buses, which virtual machines do not have.",
            "Table 2: random writes to a large array, as there; a line that is written moves twice, so traffic on the bus is about double.",
            "Section 5.3: rates of more cores are arithmetic, as if each core did what one does here; the rows of Figure 6 say what two do. Figure 3 is arithmetic, too.",
        ],
        vec![
            of_parallel(&parallel),
            of_steps(&parallel),
            of_instructions(&applications),
            of_applications(&applications),
            of_loads(&loads),
            of_memory(begins("memory: ")),
            of_bounds(),
            of_projection(begins("projection: ")),
            of_servers(begins("servers: ")),
        ],
        vec![
            one_series(
                "Figure 6: a forwarding path, 64-byte packets",
                "Mpps",
                parallel
                    .iter()
                    .map(|(name, figure)| ((*name).to_owned(), bar(&figure["mpps_a_path"])))
                    .collect(),
            ),
            sizes(&applications),
            plot::lines(
                "Figure 9: time of turns with packets, a packet",
                "percent of the highest rate",
                "ns",
                &by_application(&loads, "busy_ns"),
            ),
            plot::lines(
                "Section 8: the processor's time",
                "percent of the highest rate",
                "percent",
                &by_application(&loads, "processor_percent"),
            ),
        ],
    )
}

fn of_parallel(figures: &[(&str, &Value)]) -> Table {
    let mut table = Table::new(
        "Figures 6 and 7: cores, queues and batches, minimal forwarding of 64-byte packets in memory",
        &[
            "scenario",
            "million packets a second",
            "a forwarding path",
            "Gbit/s a path",
            "published, Gbit/s a path",
            "ours by published",
        ],
    );
    for (name, figure) in figures {
        let scenario = name.get(..3).unwrap_or_default();
        let published = &PUBLISHED["routebricks"]["parallel"][scenario];
        let published = if name.ends_with("batches of 1") { &Value::Null } else { published };
        let there = match (published[0].as_f64(), published[1].as_f64()) {
            (Some(one), Some(two)) => format!("{one}, or {two} over two caches"),
            (Some(one), None) => one.to_string(),
            _ => "–".to_owned(),
        };
        let gbps = figure["mpps_a_path"]["median"].as_f64().map(|mpps| mpps * BITS_A_PACKET / 1e3);
        table.row([
            (*name).to_owned(),
            spread(&figure["mpps"]),
            spread(&figure["mpps_a_path"]),
            scaled(&figure["mpps_a_path"], BITS_A_PACKET / 1e3),
            there,
            ratio(gbps, published[0].as_f64()),
        ]);
    }
    table
}

/// Of 64-byte packets.
const BITS_A_PACKET: f64 = 512.0;

/// Figure 7's factor.
fn of_steps(figures: &[(&str, &Value)]) -> Table {
    let mut table = Table::new(
        "Figure 7: what queues for each core and batches bring together",
        &["from, to", "here, times", "published, times"],
    );
    let rate = |scenario: &str, batches: &str| {
        let is = |name: &str| name.starts_with(scenario) && name.ends_with(batches);
        figures.iter().find(|(name, _)| is(name)).and_then(|(_, figure)| bar(&figure["mpps"]))
    };
    let begin = rate("(e)", "batches of 1");
    for (step, to, published) in [
        (
            "(e) with batches of 1, (f) with batches of 1: queues alone",
            rate("(f)", "batches of 1"),
            &Value::Null,
        ),
        (
            "(e) with batches of 1, (e) with batches of 32: batches alone",
            rate("(e)", "batches of 32"),
            &Value::Null,
        ),
        (
            "(e) with batches of 1, (f) with batches of 32: both",
            rate("(f)", "batches of 32"),
            &PUBLISHED["routebricks"]["queues_and_batches"],
        ),
    ] {
        if let Some(times) = ratio_of(to, begin) {
            table.row([step.to_owned(), shown(Some(times)), text(published)]);
        }
    }
    table
}

/// Table 3 and section 5.2: the applications as they are shipped, on packets to many destinations.
fn of_instructions(figures: &[&Value]) -> Table {
    let heads = [
        "application",
        "published: Gbit/s on 8 cores",
        "ns a packet and core",
        "instructions",
        "cycles an instruction",
        "ours: ns",
        "instructions",
        "published by ours, ns",
    ];
    let mut table = Table::new("Table 3 and section 5.2: three applications, 64-byte packets", &heads);
    let published = &PUBLISHED["routebricks"];
    for application in list(published, "applications") {
        let ours = figures.iter().find(|f| f["application"] == application["name"] && f["size"] == "64");
        let Some(ours) = ours else { continue };
        let rate = application["gbps"].as_f64().zip(published["cores"].as_f64());
        let ns = rate.map(|(gbps, cores)| BITS_A_PACKET * cores / gbps);
        table.row([
            text(&application["name"]),
            text(&application["gbps"]),
            ns.map_or("–".to_owned(), number),
            text(&application["instructions"]),
            text(&application["cycles_an_instruction"]),
            spread(&ours["ns"]),
            text(&ours["instructions_per_packet"]),
            ratio(ns, ours["ns"]["median"].as_f64()),
        ]);
    }
    table
}

/// What the rest of Table 2 says, which is measured with counters of buses.
fn of_bounds() -> Table {
    let heads = ["component", "published: nominal", "published: by a benchmark", "here"];
    let mut table = Table::new("Table 2: upper bounds of components", &heads);
    for bound in list(&PUBLISHED["routebricks"], "bounds") {
        let here = match bound["component"].as_str() {
            Some("memory") => "above",
            Some("processors") => "see Figure 9",
            _ => "needs counters, or cards",
        };
        let there = ["component", "nominal", "measured"].map(|name| text(&bound[name]));
        table.row([there.as_slice(), &[here.to_owned()]].concat());
    }
    table
}

fn of_applications(figures: &[&Value]) -> Table {
    let heads = [
        "application",
        "size",
        "ns (least–most)",
        "Gbit/s a core",
        "published: Gbit/s, 8 cores",
        "a core",
        "ours by published, a core",
    ];
    let mut table = Table::new("Figure 8: sizes and applications, one core", &heads);
    for figure in figures {
        let published = list(&PUBLISHED["routebricks"], "applications")
            .iter()
            .find(|there| there["name"] == figure["application"])
            .map_or(&Value::Null, |there| match figure["size"].as_str() {
                Some("64") => &there["gbps"],
                Some("trace") => &there["trace_gbps"],
                _ => &Value::Null,
            });
        let cores = PUBLISHED["routebricks"]["cores"].as_f64();
        let a_core = published.as_f64().zip(cores).map(|(gbps, cores)| gbps / cores);
        table.row([
            text(&figure["application"]),
            text(&figure["size"]),
            spread(&figure["ns"]),
            spread(&figure["gbps_a_core"]),
            text(published),
            a_core.map_or("–".to_owned(), number),
            ratio(figure["gbps_a_core"]["median"].as_f64(), a_core),
        ]);
    }
    table
}

/// Gigabits a second against frames' sizes, a line for each application.
fn sizes(figures: &[&Value]) -> String {
    let mut lines: plot::Lines = Vec::new();
    for figure in figures {
        let size = figure["size"].as_str().and_then(|size| size.parse::<f64>().ok());
        add(&mut lines, figure, size.zip(figure["gbps_a_core"]["median"].as_f64()));
    }
    plot::lines("Figure 8: Gbit/s a core", "bytes of a frame", "Gbit/s", &lines)
}

/// A line for each application against load.
fn by_application(figures: &[&Value], what: &str) -> plot::Lines {
    let mut lines: plot::Lines = Vec::new();
    for figure in figures.iter().filter(|figure| figure["load_percent"].as_f64() >= Some(10.0)) {
        add(&mut lines, figure, figure["load_percent"].as_f64().zip(figure[what]["median"].as_f64()));
    }
    lines
}

fn add(lines: &mut plot::Lines, figure: &Value, point: Option<(f64, f64)>) {
    let (name, Some(point)) = (text(&figure["application"]), point) else { return };
    match lines.iter_mut().find(|(known, _)| *known == name) {
        Some((_, points)) => points.push(point),
        None => lines.push((name, vec![point])),
    }
}

fn of_loads(figures: &[&Value]) -> Table {
    let heads = [
        "application",
        "percent of the highest rate",
        "million packets a second",
        "ns a packet, turns without packets deducted",
        "processor ns a packet",
        "percent of a processor",
        "late, median us",
        "99 %",
    ];
    let mut table =
        Table::new("Figure 9 and section 8: processor time against load, 64-byte packets", &heads);
    for figure in figures {
        table.row([
            text(&figure["application"]),
            text(&figure["load_percent"]),
            spread(&figure["mpps"]),
            spread(&figure["busy_ns"]),
            spread(&figure["processor_ns"]),
            spread(&figure["processor_percent"]),
            spread(&figure["late_us_p50"]),
            spread(&figure["late_us_p99"]),
        ]);
    }
    table
}

fn of_memory<'v>(figures: impl Iterator<Item = (&'v str, &'v Value)>) -> Table {
    let mut table = Table::new(
        "Table 2: writes to memory (published: 262 Gbit/s, two sockets)",
        &["writes", "Gbit/s of lines"],
    );
    figures.for_each(|(name, figure)| table.row([name.to_owned(), spread(&figure["lines_gbps"])]));
    table
}

fn of_projection<'v>(figures: impl Iterator<Item = (&'v str, &'v Value)>) -> Table {
    let heads = ["application", "published: 8 cores", "32 cores", "one core here, times 8", "times 32"];
    let mut table = Table::new("Section 5.3: Gbit/s of 64-byte packets on more cores, by arithmetic", &heads);
    for (name, figure) in figures {
        let cells = ["published_gbps", "gbps"].map(|name| [text(&figure[name][0]), text(&figure[name][1])]);
        table.row([vec![name.to_owned()], cells.concat()].concat());
    }
    table
}

fn of_servers<'v>(figures: impl Iterator<Item = (&'v str, &'v Value)>) -> Table {
    let mut table = Table::new(
        "Figure 3: servers for a router of N ports of 10 Gbit/s, by arithmetic",
        &[
            "ports",
            "current servers",
            "more NICs",
            "faster servers",
            "with 48-port switches, in servers' cost",
            "kW",
        ],
    );
    for (_, figure) in figures {
        let servers = (0..3).map(|kind| text(&figure["servers"][kind]));
        let kilowatts = list(figure, "kilowatts").iter().filter_map(Value::as_f64).map(number);
        let kilowatts = kilowatts.collect::<Vec<_>>().join(", ");
        let row = std::iter::once(text(&figure["ports"])).chain(servers);
        table.row(row.chain([text(&figure["switched_in_servers"]), kilowatts]));
    }
    table
}
