//! `clique cluster plan`.

use super::output::{complain, json};
use super::units::{amount, count, nic, rate, rate_text};
use crate::console;
use crate::status::Status;
use cluster::chart::sheet;
use cluster::plan::paper::{self, CONFIGURATIONS, LATENCY_US, Row};
use cluster::plan::{Inputs, Nic, Plan, Server, Shape, WORST, plan, ports_of};
use std::fmt::Write;
use std::path::PathBuf;

/// Ports of a router that is planned, at most.
const MOST_PORTS: usize = 1_000_000;

/// Arguments of `clique cluster plan`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// External ports of the router.
    #[arg(long, value_name = "N", required_unless_present = "figure3", value_parser = count::<MOST_PORTS>)]
    ports: Option<usize>,

    /// Their rate.
    #[arg(long, value_name = "RATE", default_value = "10G", value_parser = rate)]
    line_rate: u64,

    /// External ports that a server handles.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = count::<MOST_PORTS>)]
    ports_per_server: usize,

    /// Packets a second that a server can process: as many ports are given to it as it can handle in the worst case, 3R.
    #[arg(long, value_name = "N", conflicts_with = "ports_per_server", value_parser = amount)]
    packet_rate: Option<f64>,

    /// Bytes of a packet, for --packet-rate.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = count::<65_536>)]
    packet_size: usize,

    /// Network cards that a server has room for.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = count::<1_000>)]
    slots: usize,

    /// Kinds of cards, as 2x10G for two ports of 10 Gbps each [default: 2x10G 8x1G].
    #[arg(long, value_name = "KIND", value_parser = nic, num_args = 1..)]
    nic: Vec<Nic>,

    /// What a server costs, in dollars.
    #[arg(long, value_name = "N", default_value_t = 2_000.0, value_parser = amount)]
    server_cost: f64,

    /// What a port of a switch costs, in dollars, for the comparison.
    #[arg(long, value_name = "N", default_value_t = 500.0, value_parser = amount)]
    switch_port_cost: f64,

    /// Ports of a switch.
    #[arg(long, value_name = "N", default_value_t = 48, value_parser = count::<1_000_000>)]
    switch_ports: usize,

    /// How long a server keeps a packet, in microseconds.
    #[arg(long, value_name = "N", default_value_t = LATENCY_US, value_parser = amount)]
    latency: f64,

    /// What a server consumes, in watts.
    #[arg(long, value_name = "N", default_value_t = 650.0, value_parser = amount)]
    watts: f64,

    /// The height of a server in rack units.
    #[arg(long, value_name = "N", default_value_t = 1.0, value_parser = amount)]
    rack_units: f64,

    /// Print the paper's Figure 3 instead, and where the paper's figures disagree with each other.
    #[arg(long)]
    figure3: bool,

    /// Draw Figure 3 into this file, too.
    #[arg(long, value_name = "FILE", requires = "figure3")]
    svg: Option<PathBuf>,

    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs `clique cluster plan`.
pub(super) fn run(args: &Args) -> Status {
    if args.figure3 { figure3(args) } else { one(args) }
}

fn inputs(args: &Args) -> Inputs {
    // A frame's bits, as links count them; the paper's "packet" is one.
    let server_rate = args.packet_rate.map(|packets| packets * args.packet_size as f64 * 8.0);
    Inputs {
        ports: args.ports.unwrap_or_default(),
        line_rate: args.line_rate,
        server: Server {
            ports: server_rate.map_or(args.ports_per_server, |rate| ports_of(rate, args.line_rate)),
            slots: args.slots,
            cost: args.server_cost,
            latency_us: args.latency,
            watts: args.watts,
            rack_units: args.rack_units,
        },
        nics: if args.nic.is_empty() { paper::nics() } else { args.nic.clone() },
        switch_port_cost: args.switch_port_cost,
        switch_ports: args.switch_ports,
    }
}

fn one(args: &Args) -> Status {
    match plan(&inputs(args)) {
        Ok(plan) if args.json => json(&plan),
        Ok(plan) => console::write_result(None, &describe(&plan)),
        Err(error) => complain("plan", &error, Status::Configuration),
    }
}

fn shape(shape: &Shape) -> String {
    match shape {
        Shape::Single => "one server".to_owned(),
        Shape::Mesh => "full mesh".to_owned(),
        Shape::Fly(radices) => {
            let radices: Vec<_> = radices.iter().map(ToString::to_string).collect();
            format!("n-fly, {} levels of radix {}", radices.len(), radices.join(", "))
        }
    }
}

fn describe(plan: &Plan) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{name:<22}{value}");
    };
    let (inputs, inside) = (&plan.inputs, plan.inputs.server.ports as f64 * plan.inputs.line_rate as f64);
    line("router", format!("{} ports of {}", inputs.ports, rate_text(inputs.line_rate as f64)));
    line("topology", shape(&plan.shape));
    line(
        "servers",
        format!(
            "{} ({} with external ports, {} between them)",
            plan.servers(),
            plan.terminals,
            plan.intermediates
        ),
    );
    if let Some(links) = &plan.links {
        line(
            "links",
            format!(
                "{} of at least {}, each {} cable(s) of {}",
                links.count,
                rate_text(links.rate),
                links.cables,
                rate_text(links.nic.rate as f64)
            ),
        );
        line("sockets for links", format!("{} of {} at a server", links.sockets, links.sockets_there));
    }
    line(
        "a server processes",
        format!(
            "{} with uniform traffic, {} with the worst (c = {:.0} to {:.0})",
            rate_text(plan.processing[0]),
            rate_text(plan.processing[1]),
            plan.processing[0] / inside,
            (plan.processing[1] / inside).min(WORST)
        ),
    );
    line("latency", format!("{:.1} us straight, {:.1} us balanced", plan.latency_us[0], plan.latency_us[1]));
    line("cost", format!("${:.0}", plan.cost));
    line(
        "around switches",
        format!(
            "${:.0}: {} servers and {} switches of {} ports",
            plan.switched.cost, plan.switched.servers, plan.switched.switches, inputs.switch_ports
        ),
    );
    line("power", format!("{:.2} kW", plan.watts / 1_000.0));
    line("room", format!("{:.0} rack units", plan.rack_units));
    plan.notes.iter().for_each(|note| line("note", note.clone()));
    text
}

fn figure3(args: &Args) -> Status {
    let rows = paper::figure3();
    if let Some(file) = &args.svg
        && let Err(error) = std::fs::write(file, sheet(&paper::charts(&rows)))
    {
        return complain(
            "plan",
            &format!("{}: {}", file.display(), console::reason(&error)),
            Status::Failure,
        );
    }
    if args.json {
        return json(&serde_json::json!({
            "configurations": CONFIGURATIONS,
            "rows": rows,
            "disagreements": paper::disagreements(),
        }));
    }
    console::write_result(None, &table(&rows))
}

fn table(rows: &[Row]) -> String {
    let mut text = String::from("Servers for a router of N ports of 10 Gbps (m: mesh, f: n-fly)\n\n     N");
    for configuration in &CONFIGURATIONS {
        let _ = write!(text, "{:>18}", configuration.name);
    }
    text.push_str("        as printed   48-port switches\n");
    for row in rows {
        let _ = write!(text, "{:>6}", row.ports);
        for point in &row.points {
            let mark = if matches!(point.shape, Shape::Fly(_)) { 'f' } else { 'm' };
            let _ = write!(text, "{:>16} {mark}", point.servers);
        }
        let printed = row.points.last().map_or(0.0, |point| point.as_printed);
        let _ = writeln!(text, "{printed:>18.0}{:>19.0}", row.switched.in_servers);
    }
    text.push_str("\nWhat they consume, and the room that they take\n\n     N");
    for configuration in &CONFIGURATIONS {
        let _ = write!(text, "{:>22}", configuration.name);
    }
    text.push('\n');
    for row in rows {
        let _ = write!(text, "{:>6}", row.ports);
        for point in &row.points {
            let _ = write!(text, "{:>12.1} kW {:>5.0} U", point.kilowatts, point.rack_units);
        }
        text.push('\n');
    }
    text.push_str("\n'as printed' is the last kind of servers with a mesh as far as the paper says; the curve of switches\n");
    text.push_str(
        "is the cost of servers and switches, in servers.\n\nWhere the paper's figures disagree:\n",
    );
    for found in paper::disagreements() {
        let _ = writeln!(text, "- section {}: {}\n  {}", found.section, found.says, found.follows);
    }
    text
}
