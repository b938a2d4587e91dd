//! Graphs as pictures.

use super::Graph;
use super::layout::{Layout, layout};
use std::fmt::Write;

const CHAR: f64 = 7.3;
const BOX: f64 = 44.0;
const ROW: f64 = 100.0;
const MARGIN: f64 = 24.0;
const PORT: f64 = 5.0;
/// Places beside the drawing for connections that close a cycle, and their distance.
const LANES: usize = 20;
const LANE: f64 = 8.0;

/// Whether a connection does not lead downwards, since it closes a cycle.
fn goes_back(layout: &Layout, c: &super::Connection) -> bool {
    layout.vertices[c.to.element].row <= layout.vertices[c.from.element].row
}

fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // XML allows no other control characters.
            c if c.is_control() && c != '\n' && c != '\t' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// The place of port `port` of `count` on a side of a box.
fn port_x(x: f64, width: f64, port: u32, count: u32) -> f64 {
    x + width * (f64::from(port) + 1.0) / (f64::from(count) + 1.0)
}

fn top(row: usize) -> f64 {
    MARGIN + row as f64 * ROW
}

/// The graph as an SVG picture: a box with name and class for each element, triangles for the inputs
/// on top and squares for the outputs below, and arrows.
pub fn svg(graph: &Graph) -> String {
    let ports = graph.used_ports();
    let width = |(e, (inputs, outputs)): (&super::Element, &(u32, u32))| {
        let text = e.name.chars().count().max(e.class.chars().count()) as f64 * CHAR + 20.0;
        text.max(f64::from(*inputs.max(outputs)) * 3.0 * PORT).max(50.0)
    };
    let widths: Vec<f64> = graph.elements.iter().zip(&ports).map(width).collect();
    let layout = layout(graph, &widths);
    let back = graph.connections.iter().filter(|c| goes_back(&layout, c)).count().min(LANES);
    let w = layout.width + MARGIN + back as f64 * LANE;
    let h = top(layout.rows.max(1)) - ROW + BOX + MARGIN;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w:.0}\" height=\"{h:.0}\" \
         viewBox=\"0 0 {w:.0} {h:.0}\" font-family=\"monospace\" font-size=\"12\">\n\
         <defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" \
         markerHeight=\"7\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" fill=\"#444\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    connections(&mut out, graph, &layout, &ports);
    elements(&mut out, graph, &layout, &ports);
    out.push_str("</svg>\n");
    out
}

fn connections(out: &mut String, graph: &Graph, layout: &Layout, ports: &[(u32, u32)]) {
    let mut lane = 0;
    for (c, path) in graph.connections.iter().zip(&layout.paths) {
        let (from, to) = (&layout.vertices[c.from.element], &layout.vertices[c.to.element]);
        let mut x = port_x(from.x, from.width, c.from.port, ports[c.from.element].1);
        let mut y = top(from.row) + BOX + PORT;
        let end = (port_x(to.x, to.width, c.to.port, ports[c.to.element].0), top(to.row) - PORT);
        let _ = write!(out, "<path d=\"M{x:.1},{y:.1}");
        if goes_back(layout, c) {
            // Around everything on the right, each in a lane of its own while there are some.
            lane = lane % LANES + 1;
            let side = layout.width + lane as f64 * LANE;
            let (low, high) = (y + 6.0 + lane as f64, end.1 - 6.0 - lane as f64);
            let _ = write!(out, " V{low:.1} H{side:.1} V{high:.1} H{:.1} V{:.1}", end.0, end.1);
            out.push_str("\" fill=\"none\" stroke=\"#888\" marker-end=\"url(#arrow)\"/>\n");
            continue;
        }
        let points =
            path.iter().map(|&i| &layout.vertices[i]).map(|p| (p.x + p.width / 2.0, top(p.row), true));
        for (to_x, to_y, through) in points.chain([(end.0, end.1, false)]) {
            // Curves leave downwards and arrive from above.
            let bend = ((to_y - y).abs() / 2.0).clamp(20.0, 60.0);
            let (c1, c2) = (y + bend, to_y - bend);
            let _ = write!(out, " C{x:.1},{c1:.1} {to_x:.1},{c2:.1} {to_x:.1},{to_y:.1}");
            (x, y) = (to_x, to_y);
            if through {
                y += BOX;
                let _ = write!(out, " L{x:.1},{y:.1}");
            }
        }
        out.push_str("\" fill=\"none\" stroke=\"#444\" marker-end=\"url(#arrow)\"/>\n");
    }
}

fn elements(out: &mut String, graph: &Graph, layout: &Layout, ports: &[(u32, u32)]) {
    for ((e, v), &(inputs, outputs)) in graph.elements.iter().zip(&layout.vertices).zip(ports) {
        let (x, y, w) = (v.x, top(v.row), v.width);
        let middle = x + w / 2.0;
        let config = if e.config.is_empty() { String::new() } else { format!("({})", e.config) };
        let _ = writeln!(out, "<g><title>{}</title>", escape(&format!("{} :: {}{config}", e.name, e.class)));
        let _ = writeln!(
            out,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{w:.1}\" height=\"{BOX}\" rx=\"4\" fill=\"#eef3fa\" \
             stroke=\"#345\"/>"
        );
        let text = |dy: f64, weight: &str, text: &str| {
            format!(
                "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\"{weight}>{}</text>\n",
                y + dy,
                escape(text)
            )
        };
        out.push_str(&text(19.0, " font-weight=\"bold\"", &e.name));
        out.push_str(&text(35.0, " fill=\"#567\"", &e.class));
        for port in 0..inputs {
            let (px, p) = (port_x(x, w, port, inputs), PORT);
            let (l, r, up) = (px - p, px + p, y - p);
            let _ = writeln!(out, "<path d=\"M{l:.1},{up:.1} H{r:.1} L{px:.1},{y:.1} z\" fill=\"#345\"/>");
        }
        for port in 0..outputs {
            let (px, bottom, side) = (port_x(x, w, port, outputs) - PORT / 2.0, y + BOX, PORT);
            let _ = writeln!(
                out,
                "<rect x=\"{px:.1}\" y=\"{bottom:.1}\" width=\"{side}\" height=\"{side}\" fill=\"#345\"/>"
            );
        }
        out.push_str("</g>\n");
    }
}
