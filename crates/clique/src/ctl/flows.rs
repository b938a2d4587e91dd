//! `clique ctl flows`: the flows that elements remember.

use super::{Session, ended, print, print_json};
use crate::reply::{data, fine};
use serde_json::{Value, json};
use std::ops::ControlFlow;

/// What is done with flows.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Flows {
    /// Which flows: 'tcp', 'udp', 'proto N', 'src NET', 'dst NET', 'host NET', 'sport N', 'dport N', 'port N', 'state STATE', 'assured',
    /// 'unassured', 'replied', 'unreplied', 'limit N'; all if there are no words.
    #[arg(allow_hyphen_values = true)]
    filter: Vec<String>,
    /// Those of this element, instead of all elements that have flows.
    #[arg(short, long, value_name = "ELEMENT")]
    element: Option<String>,
    /// Print each as a line of JSON, with the name of its element.
    #[arg(short, long, conflicts_with_all = ["counts", "kill", "watch"])]
    lines: bool,
    /// Print how many there are.
    #[arg(short = 'c', long = "count", conflicts_with_all = ["kill", "watch"])]
    counts: bool,
    /// Forget them, and print how many there were.
    #[arg(short, long, conflicts_with = "watch")]
    kill: bool,
    /// Print connections of ConnTrack as they begin and end.
    #[arg(short, long, conflicts_with = "filter")]
    watch: bool,
}

/// The handlers of an element that tell of its flows: they take a filter.
struct Tells {
    /// What says that the element has them.
    json: &'static str,
    list: &'static str,
    /// None where flows are only looked at.
    count: Option<&'static str>,
    kill: Option<&'static str>,
    /// The room for flows, where that may be none.
    capacity: Option<&'static str>,
}

/// What knows connections, what remembers the next hops of flows, and what accounts for flows, which tells the largest.
const TELLS: [Tells; 3] = [
    Tells { json: "flows_json", list: "flows", count: Some("count"), kill: Some("kill"), capacity: None },
    Tells {
        json: "flow_json",
        list: "flow_list",
        count: Some("flow_count"),
        kill: Some("flow_kill"),
        capacity: Some("flow_capacity"),
    },
    Tells { json: "largest_json", list: "largest", count: None, kill: None, capacity: None },
];

impl Flows {
    /// Whether it goes on until it is interrupted.
    pub(super) fn watches(&self) -> bool {
        self.watch
    }
}

impl Session {
    pub(super) fn flows(&mut self, flows: &Flows) -> Result<ControlFlow<()>, String> {
        if flows.watch {
            return self.watch(&["flow".to_owned()], None);
        }
        let filter = flows.filter.join(" ");
        if flows.kill && filter.is_empty() {
            return Err("--kill needs words that say which flows".to_owned());
        }
        let elements = self.with_flows(flows.element.as_deref(), flows.counts || flows.kill)?;
        let (mut text, mut list) = (String::new(), Vec::new());
        for (element, tells) in &elements {
            if flows.counts || flows.kill {
                let (Some(count), Some(kill)) = (tells.count, tells.kill) else { continue };
                let count = self.number(&format!("{element}.{count}"), &filter)?;
                if flows.kill {
                    fine(self.client.write(&format!("{element}.{kill}"), &filter))?;
                }
                text.push_str(&format!("{element}\t{count}\n"));
                list.push(json!({ "element": element, if flows.kill { "killed" } else { "count" }: count }));
            } else if self.json || flows.lines {
                let json = data(self.client.read(&format!("{element}.{}", tells.json), &filter))?;
                let known = objects(&json).map_err(|error| format!("{element}: {error}"))?;
                if flows.lines {
                    text.extend(known.iter().map(|flow| line(element, flow)));
                } else {
                    list.push(json!({ "element": element, "flows": known }));
                }
            } else {
                let lines = data(self.client.read(&format!("{element}.{}", tells.list), &filter))?;
                // The element's name is said where there are several.
                let name = if elements.len() > 1 { format!("{element}: ") } else { String::new() };
                text.extend(ended(&lines).lines().map(|line| format!("{name}{line}\n")));
            }
        }
        if self.json && !flows.lines { print_json(&json!({ "elements": list })) } else { print(&text) }
    }

    fn number(&mut self, handler: &str, filter: &str) -> Result<u64, String> {
        let count = data(self.client.read(handler, filter))?;
        count.trim().parse().map_err(|_| format!("{handler} is no number: {count}"))
    }

    /// The elements that list flows, or count them, too: the one that is named, or all.
    fn with_flows(
        &mut self,
        named: Option<&str>,
        is_counting: bool,
    ) -> Result<Vec<(String, &'static Tells)>, String> {
        let mut elements = self.elements()?;
        if let Some(named) = named {
            elements.retain(|element| element == named);
            if elements.is_empty() {
                return Err(format!("no element '{named}'"));
            }
        }
        let mut found = Vec::new();
        for element in elements {
            let handlers = self.handlers(Some(&element))?;
            let Some(tells) = TELLS.iter().find(|tells| handlers.iter().any(|(name, _)| name == tells.json))
            else {
                continue;
            };
            if is_counting && tells.count.is_none() {
                continue;
            }
            // A look-up of routes remembers no flows unless it is told to.
            let remembers = match tells.capacity {
                Some(capacity) => self.number(&format!("{element}.{capacity}"), "")? > 0,
                None => true,
            };
            if remembers {
                found.push((element, tells));
            }
        }
        match (found.is_empty(), named) {
            (true, Some(named)) if is_counting => Err(format!("'{named}' does not count flows")),
            (true, None) if is_counting => Err("no element counts flows".to_owned()),
            (true, Some(named)) => Err(format!("'{named}' does not list flows")),
            (true, None) => Err("no element lists flows".to_owned()),
            _ => Ok(found),
        }
    }
}

/// The flows that an element tells of: an array, or an object for each line.
fn objects(json: &str) -> serde_json::Result<Vec<Value>> {
    if json.trim_start().starts_with('[') {
        return serde_json::from_str(json);
    }
    json.lines().map(serde_json::from_str).collect()
}

/// A flow of an element as a line.
fn line(element: &str, flow: &Value) -> String {
    let mut object = flow.clone();
    if let Some(fields) = object.as_object_mut() {
        fields.insert("element".to_owned(), Value::from(element));
    }
    format!("{object}\n")
}
