//! Graphs as pictures.

use super::Graph;
use super::layout::{Layout, layout};
use super::sheets::{Kind, Node, Sheet, sheets};
use std::fmt::Write;

/// Widths of a character of names, and of tags.
const CHAR: f64 = 7.3;
const SMALL: f64 = 6.1;
const BOX: f64 = 38.0;
const ROW: f64 = 74.0;
const MARGIN: f64 = 24.0;
const PORT: f64 = 5.0;
const TITLE: f64 = 34.0;
/// The least width of a picture.
const LEAST: f64 = 400.0;

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

fn width(node: &Node) -> f64 {
    let (name, class) = (node.name.chars().count() as f64, node.class.chars().count() as f64);
    if node.kind == Kind::Tag {
        return name * SMALL + 12.0;
    }
    let ports = f64::from(node.ports[0].max(node.ports[1]));
    (name.max(class) * CHAR + 16.0).max(ports * 3.0 * PORT).max(50.0)
}

/// A sheet, and where its top is.
struct Drawing<'a> {
    sheet: &'a Sheet,
    layout: Layout,
    top: f64,
}

/// The graph as an SVG picture. Packets go downwards: a box for each element with its name and class, triangles where packets enter and
/// squares where they leave. Compound elements are boxes with a frame, and have a drawing of their own below, once for those that are
/// alike. A connection upwards, or to what is far below or elsewhere, ends at a name. What has no connections stands at the end.
pub fn svg(graph: &Graph) -> String {
    let (mut drawings, mut top) = (Vec::new(), MARGIN);
    let sheets = sheets(graph);
    for sheet in &sheets {
        let widths: Vec<f64> = sheet.nodes.iter().map(width).collect();
        let layout = layout(&widths, &sheet.edges());
        let title = if sheet.of.is_empty() { 0.0 } else { TITLE };
        let height = layout.rows.saturating_sub(1) as f64 * ROW + BOX + PORT;
        drawings.push(Drawing { sheet, layout, top: top + title });
        top += title + height + 2.0 * MARGIN;
    }
    let w = drawings.iter().map(|drawing| drawing.layout.width + MARGIN).fold(LEAST, f64::max);
    let mut body = String::new();
    for drawing in &drawings {
        drawing.title(&mut body, w);
        drawing.wires(&mut body);
        let nodes = drawing.sheet.nodes.iter().zip(&drawing.layout.vertices);
        for (node, vertex) in nodes {
            draw(&mut body, node, vertex.x, drawing.y(vertex.row), vertex.width);
        }
    }
    let h = aside(&mut body, &sheets, w, top);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w:.0}\" height=\"{h:.0}\" viewBox=\"0 0 {w:.0} {h:.0}\" \
         font-family=\"monospace\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{body}</svg>\n"
    )
}

impl Drawing<'_> {
    fn y(&self, row: usize) -> f64 {
        self.top + row as f64 * ROW
    }

    /// Says what a drawing shows, below a line.
    fn title(&self, out: &mut String, w: f64) {
        let Some(first) = self.sheet.of.first() else { return };
        let y = self.top - TITLE;
        let names = self.sheet.of.join(", ");
        let (line, text) = (y - MARGIN, y + 6.0);
        let _ = writeln!(
            out,
            "<path d=\"M0,{line:.1} H{w:.0}\" stroke=\"#bbb\"/>\n<text id=\"{}\" x=\"{MARGIN}\" y=\"{text:.1}\" font-size=\"14\" \
             font-weight=\"bold\">{}</text>",
            escape(first),
            escape(&names)
        );
    }

    fn wires(&self, out: &mut String) {
        let Layout { vertices, paths, .. } = &self.layout;
        for (wire, path) in self.sheet.wires.iter().zip(paths) {
            let ends = [(wire.from, 1), (wire.to, 0)].map(|((node, port), side)| {
                let vertex = &vertices[node];
                port_x(vertex.x, vertex.width, port, self.sheet.nodes[node].ports[side])
            });
            let end = |node: usize| match self.sheet.nodes[node].kind {
                Kind::Tag => (12.0, 10.0),
                _ => (BOX + PORT, PORT),
            };
            let (mut x, mut y) = (ends[0], self.y(vertices[wire.from.0].row) + end(wire.from.0).0);
            let last = (ends[1], self.y(vertices[wire.to.0].row) - end(wire.to.0).1, false);
            let _ = write!(out, "<path d=\"M{x:.1},{y:.1}");
            let points = path.iter().map(|&point| &vertices[point]);
            let points = points.map(|point| (point.x + point.width / 2.0, self.y(point.row), true));
            for (to_x, to_y, through) in points.chain([last]) {
                // Curves leave downwards and arrive from above.
                let bend = (to_y - y).abs() / 2.0;
                let _ =
                    write!(out, " C{x:.1},{:.1} {to_x:.1},{:.1} {to_x:.1},{to_y:.1}", y + bend, to_y - bend);
                (x, y) = (to_x, to_y);
                if through {
                    y += BOX;
                    let _ = write!(out, " V{y:.1}");
                }
            }
            out.push_str("\" fill=\"none\" stroke=\"#444\"/>\n");
        }
    }
}

/// The place of port `port` of `count` on a side of a box.
fn port_x(x: f64, width: f64, port: u32, count: u32) -> f64 {
    x + width * (f64::from(port) + 1.0) / (f64::from(count) + 1.0)
}

/// One box, or one tag.
fn draw(out: &mut String, node: &Node, x: f64, y: f64, w: f64) {
    let middle = x + w / 2.0;
    let _ = writeln!(out, "<g><title>{}</title>", escape(&node.title));
    if node.kind == Kind::Tag {
        let (text, y) = (escape(&node.name), y + 3.0);
        let _ = writeln!(
            out,
            "<text x=\"{middle:.1}\" y=\"{y:.1}\" text-anchor=\"middle\" font-size=\"10\" font-style=\"italic\" fill=\"#0550ae\">{text}</text></g>"
        );
        return;
    }
    let link = node.kind == Kind::Compound;
    if link {
        let _ = writeln!(out, "<a href=\"#{}\">", escape(&node.title));
    }
    let (fill, frame) = if link { ("#fff6da", "2") } else { ("#eef3fa", "1") };
    let _ = writeln!(
        out,
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{w:.1}\" height=\"{BOX}\" rx=\"4\" fill=\"{fill}\" stroke=\"#345\" stroke-width=\"{frame}\"/>"
    );
    let mut text = |dy: f64, style: &str, text: &str| {
        let y = y + dy;
        let _ = writeln!(
            out,
            "<text x=\"{middle:.1}\" y=\"{y:.1}\" text-anchor=\"middle\"{style}>{}</text>",
            escape(text)
        );
    };
    text(16.0, " font-weight=\"bold\"", &node.name);
    text(31.0, " fill=\"#567\"", &node.class);
    let [inputs, outputs] = node.ports;
    for port in 0..inputs {
        let px = port_x(x, w, port, inputs);
        let (l, r, up) = (px - PORT, px + PORT, y - PORT);
        let _ = writeln!(out, "<path d=\"M{l:.1},{up:.1} H{r:.1} L{px:.1},{y:.1} z\" fill=\"#345\"/>");
    }
    for port in 0..outputs {
        let (px, bottom) = (port_x(x, w, port, outputs) - PORT / 2.0, y + BOX);
        let _ = writeln!(
            out,
            "<rect x=\"{px:.1}\" y=\"{bottom:.1}\" width=\"{PORT}\" height=\"{PORT}\" fill=\"#345\"/>"
        );
    }
    out.push_str(if link { "</a></g>\n" } else { "</g>\n" });
}

/// Draws what has no connections below all, in lines. Returns the height of the picture.
fn aside(out: &mut String, sheets: &[Sheet], w: f64, top: f64) -> f64 {
    let (mut x, mut y) = (MARGIN, top);
    let mut nodes = sheets.iter().flat_map(|sheet| &sheet.aside).peekable();
    if nodes.peek().is_none() {
        return top;
    }
    for node in nodes {
        let width = width(node);
        if x > MARGIN && x + width > w - MARGIN {
            (x, y) = (MARGIN, y + BOX + MARGIN);
        }
        draw(out, node, x, y, width);
        x += width + MARGIN;
    }
    y + BOX + MARGIN
}
