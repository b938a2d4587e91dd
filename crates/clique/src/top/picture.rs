//! The picture of the screen in the documentation, drawn by the same code as the screen.

use super::screen::{Choices, draw};
use super::view::{self, View};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use std::fmt::Write;
use std::time::Duration;

/// A character's width and height in the picture.
const WIDTH: f64 = 7.8;
const HEIGHT: u16 = 17;
/// The picture's edge.
const EDGE: u16 = 12;

/// What a screen of this size shows.
fn screen(width: u16, height: u16, view: &View, choices: &mut Choices) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal in memory");
    terminal.draw(|frame| draw(frame, view, choices)).expect("drawn");
    terminal.backend().buffer().clone()
}

/// A buffer as lines of text.
fn text(buffer: &Buffer) -> String {
    let width = usize::from(buffer.area.width);
    let line = |row: &[Cell]| row.iter().map(Cell::symbol).collect::<String>().trim_end().to_owned() + "\n";
    buffer.content.chunks(width).map(line).collect()
}

/// A cell's colours, of the text and behind it.
fn colors(cell: &Cell) -> (&'static str, Option<&'static str>) {
    let front = match cell.fg {
        Color::Green => "#7ec699",
        Color::Yellow => "#e6c07b",
        Color::Red => "#f07178",
        _ if cell.modifier.contains(Modifier::DIM) => "#8a919c",
        _ => "#dce0e6",
    };
    if cell.modifier.contains(Modifier::REVERSED) { ("#1b1f27", Some(front)) } else { (front, None) }
}

/// A buffer as a picture.
fn svg(buffer: &Buffer) -> String {
    let (columns, rows) = (buffer.area.width, buffer.area.height);
    let x = |column: usize| f64::from(EDGE) + column as f64 * WIDTH;
    let (width, height) = (x(columns.into()) + f64::from(EDGE), rows * HEIGHT + 2 * EDGE);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height}\" \
         font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" font-size=\"13\" xml:space=\"preserve\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"#1b1f27\"/>\n"
    );
    for (number, row) in buffer.content.chunks(columns.into()).enumerate() {
        let top = EDGE + number as u16 * HEIGHT;
        let mut column = 0;
        for run in row.chunk_by(|a, b| colors(a) == colors(b) && bold(a) == bold(b)) {
            let (from, cells) = (column, run.len());
            column += cells;
            let ((front, behind), text) = (colors(&run[0]), run.iter().map(Cell::symbol).collect::<String>());
            if let Some(behind) = behind {
                let wide = cells as f64 * WIDTH;
                let _ = writeln!(
                    svg,
                    "<rect x=\"{:.1}\" y=\"{top}\" width=\"{wide:.1}\" height=\"{HEIGHT}\" fill=\"{behind}\"/>",
                    x(from)
                );
            }
            if text.trim().is_empty() {
                continue;
            }
            let weight = if bold(&run[0]) { " font-weight=\"bold\"" } else { "" };
            let escaped = text.trim_end().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            let long = text.trim_end().chars().count() as f64 * WIDTH;
            let _ = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{}\" fill=\"{front}\"{weight} textLength=\"{long:.1}\">{escaped}</text>",
                x(from),
                top + 13
            );
        }
    }
    svg + "</svg>\n"
}

fn bold(cell: &Cell) -> bool {
    cell.modifier.contains(Modifier::BOLD)
}

/// A router to be shown: two workers that forward between two interfaces, one of them too much for its queue.
fn example() -> View {
    let worker = |worker, busy: f64, idle: f64, packets: f64| view::Worker {
        worker,
        up: true,
        busy: Some(busy),
        idle: Some(idle),
        asleep: Some(1.0 - busy - idle),
        packets_rate: Some(packets),
        batch: Some(17.3),
        dispatches_rate: Some(packets / 1.9),
        turns_rate: Some(9_420.0),
        tasks: Some(4.0),
    };
    let element =
        |element: &str, class: &str, packets: f64, rate: f64, drops: f64, drops_rate: f64| view::Element {
            element: element.to_owned(),
            class: class.to_owned(),
            packets: Some(packets),
            packets_rate: Some(rate),
            bytes_rate: class.starts_with("Counter").then_some(rate * 342.0),
            drops,
            drops_rate: Some(drops_rate),
            runs_rate: class.contains("Device").then_some(rate / 16.0),
            ns_per_packet: Some(if class.contains("Device") { 143.0 } else { 6.2 }),
        };
    let mut elements = vec![
        element("from_eth0", "FromDevice", 8.31e9, 1.214e6, 0.0, 0.0),
        element("from_eth1", "FromDevice", 5.02e9, 7.43e5, 0.0, 0.0),
        element("accepted", "Counter", 1.33e10, 1.951e6, 0.0, 0.0),
        element("to_eth0", "ToDevice", 5.01e9, 7.41e5, 0.0, 0.0),
        element("to_eth1", "ToDevice", 8.22e9, 1.196e6, 0.0, 0.0),
    ];
    for (name, class, drops, rate) in [
        ("check0", "CheckIPHeader", 18_421.0, 12.0),
        ("ttl1", "DecIPTTL", 902.0, 0.0),
        ("out1", "Queue", 91_244.0, 8_120.0),
        ("routes", "IPLookup", 4_410.0, 3.0),
    ] {
        elements.push(view::Element {
            packets: None,
            packets_rate: None,
            ..element(name, class, 0.0, 0.0, drops, rate)
        });
    }
    let queue = |element: &str, packets, highwater, drops: f64, drops_rate| view::Queue {
        element: element.to_owned(),
        class: "Queue".to_owned(),
        packets,
        capacity: Some(1000.0),
        highwater: Some(highwater),
        drops: Some(drops),
        drops_rate: Some(drops_rate),
    };
    let drop = |element: &str, class: &str, reason: &str, packets, rate| view::Drop {
        element: element.to_owned(),
        class: class.to_owned(),
        reason: reason.to_owned(),
        packets,
        packets_rate: Some(rate),
    };
    let interface = |interface: &str, received, received_rate, sent, sent_rate| view::Interface {
        interface: interface.to_owned(),
        received,
        received_rate: Some(received_rate),
        missed: 0.0,
        missed_rate: Some(0.0),
        sent,
        sent_rate: Some(sent_rate),
    };
    let table = |element: &str, class: &str, kind, entries, capacity| view::Table {
        element: element.to_owned(),
        class: class.to_owned(),
        kind,
        entries,
        capacity,
    };
    View {
        router: view::Router {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            uptime_s: Some(7_384.0),
            elements: Some(64.0),
            hot_swaps: Some(2.0),
            hot_swaps_refused: Some(0.0),
            processors: Some(1.46),
            memory_bytes: Some(212e6),
            interval_s: Some(1.0),
        },
        workers: vec![worker(0, 0.83, 0.11, 1.21e6), worker(1, 0.52, 0.2, 7.4e5)],
        elements,
        queues: vec![queue("out0", 21.0, 188.0, 0.0, 0.0), queue("out1", 934.0, 1000.0, 91_244.0, 8_120.0)],
        drops: vec![
            drop("out1", "Queue", "queue full", 91_244.0, 8_120.0),
            drop("check0", "CheckIPHeader", "bad IP checksum", 18_421.0, 12.0),
            drop("routes", "IPLookup", "no route", 4_410.0, 3.0),
            drop("ttl1", "DecIPTTL", "expired", 902.0, 0.0),
        ],
        interfaces: vec![
            interface("eth0", 8.31e9, 1.214e6, 5.01e9, 7.41e5),
            interface("eth1", 5.02e9, 7.43e5, 8.22e9, 1.196e6),
        ],
        tables: vec![
            table("routes", "IPLookup", "routes", 901_899.0, None),
            table("arp0", "ARPQuerier", "neighbours", 12.0, None),
            table("arp1", "ARPQuerier", "neighbours", 31.0, None),
            table("nat", "IPRewriter", "flows", 41_877.0, Some(1_048_576.0)),
        ],
        rcu: view::Rcu {
            grace_periods_rate: Some(840.0),
            grace_period_s: Some(0.000_412),
            waiting_bytes: Some(1.9e6),
            limit_bytes: Some(268_435_456.0),
            parts: Vec::new(),
            waiting_objects: Some(11_204.0),
            freed_rate: Some(48_200.0),
            refused: Some(0.0),
            refused_rate: Some(0.0),
            stalls: Some(0.0),
            stalled: Vec::new(),
        },
        buffers: vec![
            view::Buffers { size: "small".to_owned(), in_use: 4_210.0, free: 3_982.0, capacity: 2_033_601.0 },
            view::Buffers { size: "large".to_owned(), in_use: 0.0, free: 64.0, capacity: 15_405.0 },
        ],
        flows: Vec::new(),
        associations: Vec::new(),
    }
}

fn shown() -> Choices {
    Choices {
        place: "/run/clique.sock".to_owned(),
        interval: Duration::from_secs(1),
        color: true,
        ..Choices::default()
    }
}

#[test]
fn picture_is_up_to_date() {
    let picture = svg(&screen(132, 34, &example(), &mut shown()));
    // UPDATE_EXPECT=1 draws it anew.
    expect_test::expect_file!["../../../../docs/src/top.svg"].assert_eq(&picture);
}

/// On a small screen there is one panel, and nothing is lost at the right: the important columns are all there.
#[test]
fn a_small_screen_shows_one_panel_with_the_important_columns() {
    let text = text(&screen(80, 24, &example(), &mut shown()));
    for expected in
        ["from_eth0", "packets/s", "drops/s", "8.12k", "clique 0.1.0  /run/clique.sock", "q quit", "every 1s"]
    {
        assert!(text.contains(expected), "{expected} is missing:\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

/// As text, within 80 places: long names give way and not the time a packet, and names that differ at their ends still do.
#[test]
fn long_names_leave_room_for_figures() {
    let mut view = example();
    let names = ["eth0", "eth1"].map(|name| format!("customers/uplink_of_the_second_floor/check_{name}"));
    for (element, name) in view.elements.iter_mut().zip(&names) {
        element.element.clone_from(name);
        element.ns_per_packet = Some(12_345.6);
    }
    let [panel, ..] = super::panels::all(&view);
    let lines = super::grid::Grid::new(&panel, 80).lines();
    assert!(lines.lines().all(|line| line.chars().count() <= 80), "{lines}");
    let row = |end: &str| {
        let found =
            lines.lines().find(|line| line.split("  ").next().is_some_and(|name| name.ends_with(end)));
        found.unwrap_or_else(|| panic!("{end} is missing:\n{lines}")).to_owned()
    };
    // A figure ends where its title does.
    let title = lines.lines().next().unwrap_or_default();
    let end = title.find("ns/packet").unwrap_or_else(|| panic!("no time:\n{lines}")) + "ns/packet".len();
    for row in [row("_eth0"), row("_eth1")] {
        let upto: String = row.chars().take(end).collect();
        assert!(upto.ends_with(" 12.3k"), "{lines}");
    }
}

/// Each panel, every size, with nothing to show and with something: nothing panics.
#[test]
fn no_size_of_screen_panics() {
    for view in [example(), View::default()] {
        for (width, height) in [(1, 1), (3, 2), (10, 5), (40, 10), (80, 24), (119, 60), (120, 30), (250, 70)]
        {
            for panel in 0..super::panels::TITLES.len() {
                let mut choices = Choices { panel, scroll: 1000, ..shown() };
                screen(width, height, &view, &mut choices);
            }
        }
    }
}
