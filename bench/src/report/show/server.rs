//! One server as RouteBricks measured it: sections 4, 5 and 8.

use super::section::{
    PUBLISHED, Section, Table, add, bar, list, ratio, ratio_of, scaled, section, shown, spread, text,
};
use crate::report::plot::{self, Bar, number};
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
            "Figure 6, (c) and (d): the paper has a factor, not the rates; it is in the table of Figure 7.",
            "Figure 9: cycles a packet stayed constant there while the rate grew, with empty polls deducted; the time of turns in which packets moved is that figure here. \
             A worker sleeps while it has no packets, but the processor is busy all the same while packets come closer together than the kernel needs to put a thread to \
             sleep and to wake it, which the columns of late packets show. Section 8 compares power by nominal ratings only; processor time against load is what a server \
             could save. Figure 10 needs counters of buses, which virtual machines do not have.",
            "Table 2: random writes to a large array, as there; a line that is written moves twice, so traffic on the bus is about double. The paper's 262 Gbit/s are of eight cores \
             on two sockets; what is here depends on how many processors of the host this machine has.",
            "Section 5.3: rates of more cores are arithmetic, as if each core did what one does here; the rows of Figure 6 say what two do. Figure 3 is arithmetic, too.",
        ],
        vec![
            of_parallel(&parallel),
            of_steps(&parallel),
            of_instructions(&applications),
            of_applications(&applications),
            of_loads(&loads),
            of_memory(begins("memory: ")),
            of_checksums(begins("checksum: ")),
            of_bounds(),
            of_projection(begins("projection: ")),
            of_servers(begins("servers: ")),
        ],
        vec![
            paths(&parallel),
            plot::bars(
                "Figure 7: what queues for each core and batches bring",
                "times the rate",
                PUBLISHED_AND_OURS,
                &steps(&parallel)
                    .into_iter()
                    .map(|(name, ours, there)| (name.to_owned(), vec![bar(there), ours]))
                    .collect::<Vec<_>>(),
            ),
            sizes(&applications),
            against_published(&applications),
            plot::lines(
                "Figure 9: time of turns with packets, a packet",
                "percent of the highest rate",
                "ns",
                &by_application(&loads, "busy_ns"),
            ),
            plot::lines(
                "Figure 9: the same by that at the highest load",
                "percent of the highest rate",
                "times",
                &to_the_last(by_application(&loads, "busy_ns")),
            ),
            plot::lines(
                "Section 8: the processor's time",
                "percent of the highest rate",
                "percent",
                &by_application(&loads, "processor_percent"),
            ),
            projections(begins("projection: ")),
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

/// The series of charts that have both.
const PUBLISHED_AND_OURS: &[&str] = &["published", "here"];

/// Figure 6: what a forwarding path reaches, there and here.
fn paths(figures: &[(&str, &Value)]) -> String {
    let rows: Vec<_> = figures
        .iter()
        .map(|(name, figure)| {
            let there = &PUBLISHED["routebricks"]["parallel"][name.get(..3).unwrap_or_default()];
            let slowest = there[1].as_f64().or(there[0].as_f64());
            let published = there[0].as_f64().zip(slowest).filter(|_| !name.ends_with("batches of 1"));
            let published = published.map(|(value, from)| Bar { value, from, to: value });
            ((*name).to_owned(), vec![published, by(bar(&figure["mpps_a_path"]), BITS_A_PACKET / 1e3)])
        })
        .collect();
    plot::bars("Figure 6: a forwarding path, 64-byte packets", "Gbit/s", PUBLISHED_AND_OURS, &rows)
}

fn by(of: Option<Bar>, times: f64) -> Option<Bar> {
    of.map(|bar| Bar { value: bar.value * times, from: bar.from * times, to: bar.to * times })
}

/// Of 64-byte packets.
const BITS_A_PACKET: f64 = 512.0;

/// Figure 7's factor, and those of its parts: from and to, ours, and the paper's.
fn steps(figures: &[(&str, &Value)]) -> Vec<(&'static str, Option<Bar>, &'static Value)> {
    let rate = |scenario: &str, batches: &str| {
        let is = |name: &str| name.starts_with(scenario) && name.ends_with(batches);
        figures.iter().find(|(name, _)| is(name)).and_then(|(_, figure)| bar(&figure["mpps"]))
    };
    let (begin, published) = (rate("(e)", "batches of 1"), &PUBLISHED["routebricks"]);
    vec![
        (
            "(e) with batches of 1, (f) with batches of 1: queues alone",
            ratio_of(rate("(f)", "batches of 1"), begin),
            &Value::Null,
        ),
        (
            "(e) with batches of 1, (e) with batches of 32: batches alone",
            ratio_of(rate("(e)", "batches of 32"), begin),
            &Value::Null,
        ),
        (
            "(e) with batches of 1, (f) with batches of 32: both",
            ratio_of(rate("(f)", "batches of 32"), begin),
            &published["queues_and_batches"],
        ),
        (
            "Figure 6, (c) to (d) with batches of 32: queues of their own",
            ratio_of(rate("(b), (d)", "batches of 32"), rate("(c)", "batches of 32")),
            &published["own_queues"],
        ),
    ]
}

fn of_steps(figures: &[(&str, &Value)]) -> Table {
    let mut table = Table::new(
        "Figure 7: what queues for each core and batches bring together",
        &["from, to", "here, times", "published, times", "ours by published"],
    );
    for (step, times, published) in steps(figures) {
        if let Some(times) = times {
            table.row([
                step.to_owned(),
                shown(Some(times)),
                text(published),
                ratio(Some(times.value), published.as_f64()),
            ]);
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
        add_of(&mut lines, figure, size.zip(figure["gbps_a_core"]["median"].as_f64()));
    }
    let published = &PUBLISHED["routebricks"];
    for there in list(published, "applications") {
        if let Some((gbps, cores)) = there["gbps"].as_f64().zip(published["cores"].as_f64()) {
            add(&mut lines, "published, all three", (64.0, gbps / cores));
        }
    }
    plot::lines("Figure 8: Gbit/s a core", "bytes of a frame", "Gbit/s", &lines)
}

/// What the paper says of Figure 8, a core, and ours.
fn against_published(figures: &[&Value]) -> String {
    let published = &PUBLISHED["routebricks"];
    let a_core = |gbps: &Value| Some(Bar::just(gbps.as_f64()? / published["cores"].as_f64()?));
    let mut rows = Vec::new();
    for there in list(published, "applications") {
        for (size, gbps) in [("64", &there["gbps"]), ("trace", &there["trace_gbps"])] {
            let is = |figure: &&&Value| figure["application"] == there["name"] && figure["size"] == size;
            let ours = figures.iter().find(is).and_then(|figure| bar(&figure["gbps_a_core"]));
            rows.push((format!("{}, {size}", text(&there["name"])), vec![a_core(gbps), ours]));
        }
    }
    plot::bars("Figure 8: a core, 64-byte packets and a trace", "Gbit/s", PUBLISHED_AND_OURS, &rows)
}

/// Lines by their last points; and the paper's, which finds the same at each load.
fn to_the_last(lines: plot::Lines) -> plot::Lines {
    let mut lines: plot::Lines = lines
        .into_iter()
        .filter_map(|(name, points)| {
            let (_, last) = *points.last().filter(|(_, last)| *last > 0.0)?;
            Some((name, points.iter().map(|(x, y)| (*x, y / last)).collect()))
        })
        .collect();
    let loads: Vec<f64> = lines.iter().flat_map(|(_, points)| points).map(|(x, _)| *x).collect();
    if let Some((least, most)) =
        loads.iter().copied().reduce(f64::min).zip(loads.iter().copied().reduce(f64::max))
    {
        lines.push(("published, all three".to_owned(), vec![(least, 1.0), (most, 1.0)]));
    }
    lines
}

/// Section 5.3: what the paper measured and projected, and ours by arithmetic.
fn projections<'v>(figures: impl Iterator<Item = (&'v str, &'v Value)>) -> String {
    let rows: Vec<_> = figures
        .flat_map(|(name, figure)| {
            [8, 32].into_iter().enumerate().map(move |(at, cores)| {
                let of = |what: &str| figure[what][at].as_f64().map(Bar::just);
                (format!("{name}, {cores} cores"), vec![of("published_gbps"), of("gbps")])
            })
        })
        .collect();
    plot::bars(
        "Section 5.3: 64-byte packets on more cores, by arithmetic",
        "Gbit/s",
        PUBLISHED_AND_OURS,
        &rows,
    )
}

/// A line for each application against load.
fn by_application(figures: &[&Value], what: &str) -> plot::Lines {
    let mut lines: plot::Lines = Vec::new();
    for figure in figures.iter().filter(|figure| figure["load_percent"].as_f64() >= Some(10.0)) {
        add_of(&mut lines, figure, figure["load_percent"].as_f64().zip(figure[what]["median"].as_f64()));
    }
    lines
}

fn add_of(lines: &mut plot::Lines, figure: &Value, point: Option<(f64, f64)>) {
    if let Some(point) = point {
        add(lines, &text(&figure["application"]), point);
    }
}

/// A packet's time on one of the paper's cores: Table 3's instructions and cycles.
fn published_ns(application: &Value) -> Option<f64> {
    let published = &PUBLISHED["routebricks"];
    let there = list(published, "applications").iter().find(|there| there["name"] == *application)?;
    let cycles = there["instructions"].as_f64()? * there["cycles_an_instruction"].as_f64()?;
    Some(cycles / published["ghz"].as_f64()?)
}

fn of_loads(figures: &[&Value]) -> Table {
    let heads = [
        "application",
        "percent of the highest rate",
        "million packets a second",
        "ns a packet, turns without packets deducted",
        "published at all loads: ns",
        "published by ours",
        "processor ns a packet",
        "percent of a processor",
        "late, median us",
        "99 %",
    ];
    let mut table =
        Table::new("Figure 9 and section 8: processor time against load, 64-byte packets", &heads);
    for figure in figures {
        let there = published_ns(&figure["application"]);
        table.row([
            text(&figure["application"]),
            text(&figure["load_percent"]),
            spread(&figure["mpps"]),
            spread(&figure["busy_ns"]),
            there.map_or("–".to_owned(), number),
            ratio(there, figure["busy_ns"]["median"].as_f64()),
            spread(&figure["processor_ns"]),
            spread(&figure["processor_percent"]),
            spread(&figure["late_us_p50"]),
            spread(&figure["late_us_p99"]),
        ]);
    }
    table
}

fn of_memory<'v>(figures: impl Iterator<Item = (&'v str, &'v Value)>) -> Table {
    let published = &PUBLISHED["routebricks"]["memory_gbps"];
    let heads = [
        "accesses",
        "Gbit/s of lines",
        "published, Gbit/s (two sockets, random writes)",
        "ours by published",
    ];
    let mut table = Table::new("Table 2: memory", &heads);
    for (name, figure) in figures {
        let there = if name.starts_with("random") { published } else { &Value::Null };
        let ours = figure["lines_gbps"]["median"].as_f64();
        table.row([name.to_owned(), spread(&figure["lines_gbps"]), text(there), ratio(ours, there.as_f64())]);
    }
    table
}

/// Checksums beside memory. Results of before have none.
fn of_checksums<'v>(figures: impl Iterator<Item = (&'v str, &'v Value)>) -> Table {
    let mut table = Table::new("The checksum of UDP and TCP, one core", &["octets", "octets a nanosecond"]);
    figures.for_each(|(name, figure)| table.row([name.to_owned(), spread(&figure["octets_a_ns"])]));
    table
}

fn of_projection<'v>(figures: impl Iterator<Item = (&'v str, &'v Value)>) -> Table {
    let heads = [
        "application",
        "published: 8 cores",
        "32 cores",
        "one core here, times 8",
        "times 32",
        "ours by published, 8",
        "32",
    ];
    let mut table = Table::new("Section 5.3: Gbit/s of 64-byte packets on more cores, by arithmetic", &heads);
    for (name, figure) in figures {
        let of = |what: &str, at: usize| figure[what][at].as_f64();
        let cells = ["published_gbps", "gbps"].map(|name| [text(&figure[name][0]), text(&figure[name][1])]);
        let ratios = [0, 1].map(|at| ratio(of("gbps", at), of("published_gbps", at)));
        table.row([vec![name.to_owned()], cells.concat(), ratios.to_vec()].concat());
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
