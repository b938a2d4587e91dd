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
    /// Print how many there are.
    #[arg(short = 'c', long = "count", conflicts_with_all = ["kill", "watch"])]
    counts: bool,
    /// Forget them, and print how many there were.
    #[arg(short, long, conflicts_with = "watch")]
    kill: bool,
    /// Print flows as they begin and end.
    #[arg(short, long, conflicts_with = "filter")]
    watch: bool,
}

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
        let elements = self.with_flows(flows.element.as_deref())?;
        let (mut text, mut list) = (String::new(), Vec::new());
        for element in &elements {
            if flows.counts || flows.kill {
                let count = self.number(element, &filter)?;
                if flows.kill {
                    fine(self.client.write(&format!("{element}.kill"), &filter))?;
                }
                text.push_str(&format!("{element}\t{count}\n"));
                list.push(json!({ "element": element, if flows.kill { "killed" } else { "count" }: count }));
            } else if self.json {
                let json = data(self.client.read(&format!("{element}.flows_json"), &filter))?;
                let known =
                    serde_json::from_str::<Value>(&json).map_err(|error| format!("{element}: {error}"))?;
                list.push(json!({ "element": element, "flows": known }));
            } else {
                let lines = data(self.client.read(&format!("{element}.flows"), &filter))?;
                // The element's name is said where there are several.
                let name = if elements.len() > 1 { format!("{element}: ") } else { String::new() };
                text.extend(ended(&lines).lines().map(|line| format!("{name}{line}\n")));
            }
        }
        if self.json { print_json(&json!({ "elements": list })) } else { print(&text) }
    }

    fn number(&mut self, element: &str, filter: &str) -> Result<u64, String> {
        let count = data(self.client.read(&format!("{element}.count"), filter))?;
        count.trim().parse().map_err(|_| format!("{element}.count is no number: {count}"))
    }

    /// The elements that list flows: the one that is named, or all.
    fn with_flows(&mut self, named: Option<&str>) -> Result<Vec<String>, String> {
        let mut elements = self.elements()?;
        if let Some(named) = named {
            elements.retain(|element| element == named);
            if elements.is_empty() {
                return Err(format!("no element '{named}'"));
            }
        }
        let mut found = Vec::new();
        for element in elements {
            if self.handlers(Some(&element))?.iter().any(|(name, _)| name == "flows") {
                found.push(element);
            }
        }
        match (found.is_empty(), named) {
            (true, Some(named)) => Err(format!("'{named}' does not list flows")),
            (true, None) => Err("no element lists flows".to_owned()),
            _ => Ok(found),
        }
    }
}
