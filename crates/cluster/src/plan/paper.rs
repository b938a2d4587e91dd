//! The paper's own plans: the three kinds of servers of its Figure 3, the curve of switches beside them, and where its
//! figures do not agree with each other.
//!
//! "RouteBricks: Exploiting Parallelism To Scale Software Routers", SOSP 2009, sections 3.3, 6.2 and 8.

use super::{Inputs, Nic, Plan, Server, Shape, Switched, plan};
use crate::chart::{Axis, Chart, Scale, Series};
use serde::Serialize;

/// A kind of server in Figure 3.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Configuration {
    /// What it is called.
    pub name: &'static str,
    /// External ports of a server.
    pub ports: usize,
    /// Network cards of a server.
    pub slots: usize,
    /// The most ports for which, the paper says, a mesh is possible.
    pub mesh_to: usize,
}

/// The kinds of servers in Figure 3.
pub const CONFIGURATIONS: [Configuration; 3] = [
    Configuration { name: "current servers", ports: 1, slots: 5, mesh_to: 32 },
    Configuration { name: "more NICs", ports: 1, slots: 20, mesh_to: 128 },
    Configuration { name: "faster servers", ports: 2, slots: 20, mesh_to: 2_048 },
];

/// The paper's line rate.
pub const LINE_RATE: u64 = 10_000_000_000;
/// What a server adds to a packet's latency, by its parts: four transfers, waiting for a batch, the processor.
pub const LATENCY_US: f64 = 4.0 * 2.56 + 12.8 + 0.8;
/// Its prototype of four servers: kilowatts, dollars.
const RB4: (f64, f64) = (2.6, 14_500.0);
/// The router that it compares the prototype with: kilowatts.
const RIVAL_KILOWATTS: f64 = 1.6;

/// The cards of the paper.
pub fn nics() -> Vec<Nic> {
    vec![Nic { ports: 2, rate: LINE_RATE }, Nic { ports: 8, rate: LINE_RATE / 10 }]
}

/// What the paper would plan with.
pub fn inputs(configuration: &Configuration, ports: usize) -> Inputs {
    Inputs {
        ports,
        line_rate: LINE_RATE,
        server: Server {
            ports: configuration.ports,
            slots: configuration.slots,
            cost: 2_000.0,
            latency_us: LATENCY_US,
            watts: RB4.0 * 1_000.0 / 4.0,
            rack_units: 1.0,
        },
        nics: nics(),
        switch_port_cost: 500.0,
        switch_ports: 48,
    }
}

/// A column of Figure 3 at one number of ports.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    /// Servers that it takes.
    pub servers: usize,
    /// How they are connected.
    pub shape: Shape,
    /// Servers as the paper counts them: a mesh as far as it says, N + N log_k N beyond.
    pub as_printed: f64,
    /// What they consume, in kilowatts.
    pub kilowatts: f64,
    /// The room that they take, in rack units.
    pub rack_units: f64,
}

/// A row of Figure 3.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// External ports.
    pub ports: usize,
    /// For each of [`CONFIGURATIONS`].
    pub points: Vec<Point>,
    /// Servers around switches; its cost in servers is what the figure shows.
    pub switched: Switched,
}

/// Figure 3: servers needed for 4 to 2,048 ports.
pub fn figure3() -> Vec<Row> {
    (2..=11).map(|power| row(1 << power)).collect()
}

fn row(ports: usize) -> Row {
    let point = |configuration: &Configuration| {
        let plan = paper_plan(configuration, ports);
        let terminals = plan.terminals as f64;
        let as_printed = if ports <= configuration.mesh_to { terminals } else { plan.by_formula };
        let (kilowatts, rack_units) = (plan.watts / 1_000.0, plan.rack_units);
        Point { servers: plan.servers(), as_printed, shape: plan.shape, kilowatts, rack_units }
    };
    let switched = Switched::plan(&inputs(&CONFIGURATIONS[0], ports));
    Row { ports, points: CONFIGURATIONS.iter().map(point).collect(), switched }
}

fn paper_plan(configuration: &Configuration, ports: usize) -> Plan {
    plan(&inputs(configuration, ports)).expect("the paper's servers have sockets")
}

/// Figure 3 as a chart, and below it what the servers consume and what room they take (section 8).
pub fn charts(rows: &[Row]) -> [Chart; 3] {
    let mut servers =
        chart(rows, "Servers for a router of N ports of 10 Gbps", "servers", |point| point.servers as f64);
    let line = |name: String, value: &dyn Fn(&Row) -> f64| Series {
        name,
        dashed: true,
        points: rows.iter().map(|row| (row.ports as f64, value(row))).collect(),
    };
    let last = CONFIGURATIONS.len() - 1;
    let printed = format!("{}, as printed", CONFIGURATIONS[last].name);
    servers.series.insert(0, line("48-port switches".to_owned(), &|row| row.switched.in_servers));
    servers.series.push(line(printed, &|row| row.points[last].as_printed));
    let power = chart(rows, "What the servers consume", "kW", |point| point.kilowatts);
    let room = chart(rows, "What room they take", "rack units", |point| point.rack_units);
    [servers, power, room]
}

/// A line for each kind of servers.
fn chart(rows: &[Row], title: &str, unit: &str, value: impl Fn(&Point) -> f64) -> Chart {
    let axis = |label: &str| Axis { label: label.to_owned(), scale: Scale::Log };
    let line = |(index, configuration): (usize, &Configuration)| Series {
        name: configuration.name.to_owned(),
        dashed: false,
        points: rows.iter().map(|row| (row.ports as f64, value(&row.points[index]))).collect(),
    };
    Chart {
        title: title.to_owned(),
        x: axis("external ports, N"),
        y: axis(unit),
        series: CONFIGURATIONS.iter().enumerate().map(line).collect(),
    }
}

/// Where the paper says one thing and its own figures another.
#[derive(Clone, Debug, Serialize)]
pub struct Disagreement {
    /// Where.
    pub section: &'static str,
    /// What the paper says.
    pub says: String,
    /// What follows from its figures.
    pub follows: String,
}

/// All that was found.
pub fn disagreements() -> Vec<Disagreement> {
    let faster = &CONFIGURATIONS[2];
    let (terminals, sockets) = (faster.mesh_to / faster.ports, sockets(faster));
    let mesh_of = |ports: &usize| paper_plan(faster, *ports).shape == Shape::Mesh;
    let most = (faster.ports + 1..faster.mesh_to).take_while(mesh_of).last().unwrap_or(0);
    let fly = paper_plan(&CONFIGURATIONS[0], 1_024);
    let cheaper: Vec<String> = figure3()
        .iter()
        .filter(|row| row.switched.in_servers < row.points[0].servers as f64)
        .map(|row| row.ports.to_string())
        .collect();
    let says = |section, says: &str, follows| Disagreement { section, says: says.to_owned(), follows };
    vec![
        says(
            "3.3",
            "faster servers with 20 NICs form a full mesh of up to 2,048 ports",
            format!(
                "{terminals} servers need {} links each, on {sockets} sockets: the mesh ends at {most} ports",
                terminals - 1
            ),
        ),
        says(
            "3.3",
            "with s ports on each of N/s servers, links carry 2sR/N",
            "a server receives sR and splits it over N/s servers, twice: 2s\u{b2}R/N; 2sR/N holds if N counts servers"
                .to_owned(),
        ),
        says(
            "3.3",
            "1,024 ports mean 96 us per packet",
            format!(
                "that is one pass through {} servers; by way of another terminal, as balancing needs, a packet \
                 visits {}: {:.0} us",
                4,
                (fly.latency_us[1] / LATENCY_US).round(),
                fly.latency_us[1]
            ),
        ),
        says(
            "3.3",
            "a server with 32 sockets has degree 32 in an n-fly",
            format!(
                "it needs {0} links in and {0} out, and no cable serves both",
                match &fly.shape {
                    Shape::Fly(radices) => radices[0],
                    _ => 0,
                }
            ),
        ),
        says(
            "3.3",
            "the switched cluster costs more",
            if cheaper.is_empty() {
                "agrees, with whole levels and whole switches".to_owned()
            } else {
                format!(
                    "with whole levels of servers and folded Clos networks it costs less than current servers at \
                     {} ports",
                    cheaper.join(", ")
                )
            },
        ),
        says(
            "6.2",
            "crossing RB4 takes 47.6 to 66.4 us",
            format!(
                "two servers of {LATENCY_US:.2} us are {:.1} us, three are {:.1} us",
                2.0 * LATENCY_US,
                3.0 * LATENCY_US
            ),
        ),
        says(
            "8",
            "a router of 1.6 kW consumes about 60% less than RB4 with 2.6 kW",
            format!(
                "it consumes {:.0}% less; RB4 consumes {:.0}% more",
                100.0 * (1.0 - RIVAL_KILOWATTS / RB4.0),
                100.0 * (RB4.0 / RIVAL_KILOWATTS - 1.0)
            ),
        ),
        says(
            "3.3, 8",
            "a server costs $2,000",
            format!("the prototype of four cost ${:.0}, ${:.0} a server", RB4.1, RB4.1 / 4.0),
        ),
    ]
}

fn sockets(configuration: &Configuration) -> usize {
    let inputs = inputs(configuration, 2);
    inputs.nics.iter().filter_map(|&nic| inputs.sockets(nic)).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's figures where they can be had from its inputs.
    #[test]
    fn figure_3_has_the_papers_numbers() {
        let rows = figure3();
        let servers = |index: usize| rows.iter().map(|row| row.points[index].servers).collect::<Vec<_>>();
        assert_eq!(
            rows.iter().map(|row| row.ports).collect::<Vec<_>>(),
            [4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048]
        );
        // A mesh up to 32 ports; 3,072 servers at 1,024.
        assert_eq!(servers(0), [4, 8, 16, 32, 192, 384, 768, 1_536, 3_072, 8_192]);
        // A mesh up to 128 ports.
        assert_eq!(servers(1)[..6], [4, 8, 16, 32, 64, 128]);
        assert_eq!(servers(1)[6..], [768, 1_536, 3_072, 6_144]);
        // A mesh up to 256 ports; the paper says 2,048.
        assert_eq!(servers(2), [2, 4, 8, 16, 32, 64, 128, 768, 1_536, 3_072]);
        assert_eq!(rows[9].points[2].as_printed, 1_024.0);
        assert!((rows[8].points[0].as_printed - 3_072.0).abs() < 1e-6);
        // RB4's 2.6 kW and four units; 30 to 40 servers of one unit are a router of 300 to 400 Gbps.
        let power = |row: usize| (rows[row].points[0].kilowatts, rows[row].points[0].rack_units);
        assert_eq!([power(0), power(3)], [(2.6, 4.0), (20.8, 32.0)]);
        assert_eq!(charts(&rows).map(|chart| chart.series.len()), [5, 3, 3]);
        // One switch up to 48 ports: twelve servers' worth.
        assert_eq!(rows[3].switched.in_servers, 44.0);
    }

    /// Disagreements are computed, not told.
    #[test]
    fn disagreements_are_found() {
        let all: String = disagreements().iter().map(|d| format!("{}\n", d.follows)).collect();
        for figure in ["1023 links", "152 sockets", "306 ports", "71.5 us", "38% less", "$3625 a server"] {
            assert!(all.contains(figure), "{figure} in {all}");
        }
    }

    /// RB4: four servers, links of 5 Gbps.
    #[test]
    fn rb4_has_six_links_of_five_gbps() {
        let plan = paper_plan(&CONFIGURATIONS[0], 4);
        let links = plan.links.expect("links");
        assert_eq!((plan.terminals, links.count, links.rate), (4, 6, 5e9));
        assert_eq!(plan.processing, [2e10, 3e10]);
    }
}
