//! Lines of traces and captures.

use super::fields::{fields, is_ethernet, line};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use router::{Edge, Info, TraceStep, View, What};
use serde_json::{Map, Value, json};

/// What is said of a packet: a line, its header fields, its length and time, its first bytes.
pub(super) fn packet(view: &View) -> Value {
    let named: Map<String, Value> =
        fields(view).into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
    json!({
        "summary": line(view), "fields": named, "len": view.len, "at_ns": view.at_ns,
        "link": if is_ethernet(view) { "ethernet" } else { "ip" }, "bytes": STANDARD.encode(&view.bytes),
    })
}

/// A step of a trace.
pub fn step(info: &Info, step: &TraceStep) -> Value {
    let node = &info.nodes[step.element];
    let mut object = json!({
        "packet": step.packet, "worker": step.worker, "element": node.name, "class": node.class.name,
        "seen": packet(&step.view),
    });
    let (what, more) = match &step.what {
        What::Starts => ("starts", None),
        What::Arrives { port, because } => {
            object["input"] = (*port).into();
            ("arrives", because.as_ref().map(|because| ("because", because.clone())))
        }
        What::Dropped(reason) => ("dropped", Some(("reason", (*reason).to_owned()))),
        What::Kept => ("kept", None),
        What::Ends => ("ends", None),
    };
    object["what"] = what.into();
    if let Some((name, text)) = more {
        object[name] = text.into();
    }
    object
}

/// A packet that was captured at an edge.
pub fn captured(info: &Info, edge: Edge, view: &View) -> Value {
    let side = if edge.input { "input" } else { "output" };
    json!({
        "element": info.nodes[edge.element].name, side: edge.port,
        "summary": line(view), "at_ns": view.at_ns, "len": view.len, "link": if is_ethernet(view) { "ethernet" } else { "ip" },
        "bytes": STANDARD.encode(&view.bytes),
    })
}
