//! A configuration in the languages of programs that draw graphs.

use super::super::markup::escape;
use super::super::nest::Nest;
use lang::NestedElement;
use std::fmt::Write;

/// What stands for an element.
type Label<'a> = &'a dyn Fn(usize) -> String;

/// As Graphviz reads it: a record for each element, with its ports.
pub(super) fn dot(nest: &Nest, label: Label<'_>) -> String {
    let mut out = String::from(
        "digraph clickrouter {\n  node [shape=record,height=.1]\n  \
         edge [arrowhead=normal,arrowtail=none,tailclip=false]\n",
    );
    let body = &nest.nested.body;
    for (id, element) in body.elements.iter().enumerate() {
        let side = |letter: char, count: u32| {
            (0..count).map(|port| format!("<{letter}{port}>")).collect::<Vec<_>>().join("|")
        };
        let (inputs, text) = (side('i', element.ports[0]), label(id));
        let mut parts = Vec::new();
        if !inputs.is_empty() {
            parts.push(format!("{{{inputs}}}"));
        }
        parts.push(text.clone());
        if element.ports[1] > 0 {
            parts.push(format!("{{{}}}", side('o', element.ports[1])));
        }
        let record = if element.ports == [0, 0] { text } else { format!("{{{}}}", parts.join("|")) };
        let _ = writeln!(out, "  \"{}\" [label=\"{record}\"];", element.name);
    }
    for c in &body.connections {
        let name = |end: lang::Port| &body.elements[end.element].name;
        let (from, to) = (c.from, c.to);
        let _ = writeln!(out, "  \"{}\":o{} -> \"{}\":i{};", name(from), from.port, name(to), to.port);
    }
    out + "}\n"
}

/// As GML: nodes with labels, and edges with the places on the nodes' sides where their ports are.
pub(super) fn gml(nest: &Nest, label: Label<'_>) -> String {
    let body = &nest.nested.body;
    let mut out = String::from("Creator \"click-pretty\"\ngraph\n[ hierarchic 1\n  directed 1\n");
    for id in 0..body.elements.len() {
        let _ = writeln!(out, "  node\n  [ id {id}\n    label \"{}\"\n  ]", label(id));
    }
    for c in &body.connections {
        let (from, to) = (c.from, c.to);
        let (source, target) = (from.element, to.element);
        // In Click's measure: the last port of a side is in its middle.
        let place = |ports: u32, port: u32| {
            let step = 1.0 / f64::from(ports);
            f64::from(port) * step - (f64::from(ports) - 1.0) * step
        };
        let x = place(body.elements[source].ports[1], from.port);
        let y = place(body.elements[target].ports[0], to.port);
        let _ = write!(
            out,
            "  edge\n  [ source {source}\n    target {target}\n    edgeAnchor\n    \
             [ xSource {x:.6}\n      xTarget {y:.6}\n      ySource 1\n      yTarget -1\n    ]\n  ]\n"
        );
    }
    out + "]\n"
}

const GRAPHML: &str = "\
<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\" \
xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
xsi:schemaLocation=\"http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd\">
<key id=\"kn\" for=\"node\" attr.name=\"name\" attr.type=\"string\" />
<key id=\"kc\" for=\"node\" attr.name=\"class\" attr.type=\"string\" />
<key id=\"kp\" for=\"port\" attr.name=\"processing\" attr.type=\"string\">
  <default>a</default>
</key>
<graph id=\"G\" edgedefault=\"directed\">
";

/// As GraphML: names, classes, and processing of ports.
pub(super) fn graphml(nest: &Nest, label: Label<'_>) -> String {
    let mut out = GRAPHML.to_owned();
    let body = &nest.nested.body;
    for (id, element) in body.elements.iter().enumerate() {
        let NestedElement { name, ports: [inputs, outputs], .. } = element;
        let _ = writeln!(
            out,
            "  <node id=\"n{id}\" parse.indegree=\"{inputs}\" parse.outdegree=\"{outputs}\">\n    \
             <data key=\"kn\">{}</data> <data key=\"kc\">{}</data>",
            escape(name),
            label(id)
        );
        for (side, letter, count) in [(0, 'i', *inputs), (1, 'o', *outputs)] {
            for port in 0..count {
                let kind = nest.letter(body, "", id, side, port);
                let _ = writeln!(
                    out,
                    "    <port name=\"{letter}{port}\"> <data key=\"kp\">{kind}</data> </port>"
                );
            }
        }
        out.push_str("  </node>\n");
    }
    for (id, c) in body.connections.iter().enumerate() {
        let (from, to) = (c.from, c.to);
        let _ = writeln!(
            out,
            "  <edge id=\"e{id}\" source=\"n{}\" target=\"n{}\" sourceport=\"o{}\" targetport=\"i{}\" />",
            from.element, to.element, from.port, to.port
        );
    }
    out + "</graph>\n</graphml>\n"
}
