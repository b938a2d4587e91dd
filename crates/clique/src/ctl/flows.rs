//! `clique ctl flows`: the flows that elements remember.

use super::{Session, ended, print, print_json};
use crate::reply::{data, fine};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

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
    /// Print flows of ConnTrack, rewriters and NAT64 as they begin and end.
    #[arg(short, long, conflicts_with = "filter")]
    watch: bool,
    /// Take in flows that --lines has printed, of elements of the same names; '-' for standard input.
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["filter", "lines", "counts", "kill", "watch"])]
    import: Option<PathBuf>,
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
    /// What takes flows in.
    load: Option<Load>,
}

/// A handler that takes flows in, a line each, and how a line is made of the object that lists a flow.
#[derive(Clone, Copy)]
struct Load {
    handler: &'static str,
    line: fn(&Value) -> Option<String>,
}

/// Flows that are handed over at once.
const AT_ONCE: usize = 500;

/// What knows connections, what remembers the next hops of flows, and what accounts for flows, which tells the largest.
const TELLS: [Tells; 3] = [
    Tells {
        json: "flows_json",
        list: "flows",
        count: Some("count"),
        kill: Some("kill"),
        capacity: None,
        load: Some(Load { handler: "flows_load", line: |flow| Some(flow.to_string()) }),
    },
    Tells {
        json: "flow_json",
        list: "flow_list",
        count: Some("flow_count"),
        kill: Some("flow_kill"),
        capacity: Some("flow_capacity"),
        load: Some(Load { handler: "flow_load", line: remembered }),
    },
    Tells { json: "largest_json", list: "largest", count: None, kill: None, capacity: None, load: None },
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
        if let Some(file) = &flows.import {
            return self.import(file);
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

    /// Hands the flows of a file over to the elements that they are of.
    fn import(&mut self, file: &Path) -> Result<ControlFlow<()>, String> {
        let text = match file.as_os_str() == "-" {
            true => std::io::read_to_string(std::io::stdin()),
            false => std::fs::read_to_string(file),
        };
        let text = text.map_err(|error| format!("{}: {error}", file.display()))?;
        let flows = by_element(&text)?;
        let mut loads = BTreeMap::new();
        for element in flows.keys() {
            loads.insert(element, self.load_of(element)?);
        }
        let (mut said, mut wrong) = (String::new(), String::new());
        for (element, flows) in &flows {
            let Load { handler, line } = loads[element];
            for flows in flows.chunks(AT_ONCE) {
                let lines: Option<Vec<String>> = flows.iter().map(|(_, flow)| line(flow)).collect();
                let lines = lines.ok_or_else(|| format!("{element}: not as it lists flows"))?;
                let answer = data(self.client.write(&format!("{element}.{handler}"), &lines.join("\n")));
                match answer {
                    Ok(answer) => said += &format!("{element}\t{}\n", answer_or(&answer, flows.len())),
                    Err(why) => wrong += &format!("{element}: {}\n", of_file(&why, flows)),
                }
            }
        }
        if wrong.is_empty() { print(&said) } else { Err(said + wrong.trim_end()) }
    }

    /// How an element takes flows in.
    fn load_of(&mut self, element: &str) -> Result<Load, String> {
        let handlers = self.handlers(Some(element))?;
        let loads = TELLS.iter().filter_map(|tells| tells.load);
        let load = loads.into_iter().find(|load| handlers.iter().any(|(name, _)| name == load.handler));
        load.ok_or_else(|| format!("'{element}' takes no flows in"))
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

/// The flows of lines, with the lines' numbers, by the names of their elements.
fn by_element(text: &str) -> Result<BTreeMap<String, Vec<(usize, Value)>>, String> {
    let mut all: BTreeMap<String, Vec<(usize, Value)>> = BTreeMap::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let wrong = |why: &str| format!("line {}: {why}", at + 1);
        let mut flow: Value = serde_json::from_str(line).map_err(|error| wrong(&error.to_string()))?;
        let element = flow.as_object_mut().and_then(|fields| fields.remove("element"));
        let Some(Value::String(element)) = element else { return Err(wrong("no element")) };
        all.entry(element).or_default().push((at + 1, flow));
    }
    Ok(all)
}

/// What an element says of flows that it has taken, if it says something.
fn answer_or(answer: &str, flows: usize) -> String {
    if answer.trim().is_empty() { format!("{flows} flows taken") } else { answer.trim().to_owned() }
}

/// What an element says of the lines that it was handed, with the numbers that those have in the file.
fn of_file(why: &str, flows: &[(usize, Value)]) -> String {
    let renumbered = |line: &str| {
        let (number, rest) = line.strip_prefix("line ")?.split_once(':')?;
        let (at, _) = flows.get(number.parse::<usize>().ok()?.checked_sub(1)?)?;
        Some(format!("line {at}:{rest}"))
    };
    let lines = why.lines().map(|line| renumbered(line).unwrap_or_else(|| line.to_owned()));
    lines.collect::<Vec<_>>().join("\n")
}

/// A flow of a look-up of routes, as `flow_load` takes it.
fn remembered(flow: &Value) -> Option<String> {
    let text = |name: &str| flow.get(name)?.as_str().map(str::to_owned);
    let number = |name: &str| flow.get(name)?.as_i64();
    let protocol = match (number("label"), text("protocol")?.as_str()) {
        (Some(label), _) => format!("label:{label}"),
        (None, "tcp") => "6".to_owned(),
        (None, "udp") => "17".to_owned(),
        (None, "icmp") => "1".to_owned(),
        (None, "icmp6") => "58".to_owned(),
        (None, "ip") => "0".to_owned(),
        (None, number) => number.to_owned(),
    };
    let (source, destination) = (text("source")?, text("destination")?);
    let (sport, dport) = (number("sport")?, number("dport")?);
    let (gateway, output) = (text("gateway").unwrap_or("-".to_owned()), number("output").unwrap_or(-1));
    let (idle_ms, age) = (
        number("idle_s")?.saturating_mul(1000),
        if flow.get("assured")?.as_bool()? { "established" } else { "new" },
    );
    Some(format!("{source} {sport} {destination} {dport} {protocol} {gateway} {output} {idle_ms} {age}"))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines belong to elements, and what an element says of the third one it was handed is about a line of the file.
    #[test]
    fn lines_by_element() {
        let text =
            "{\"element\":\"b\",\"x\":1}\n\n{\"element\":\"a\",\"x\":2}\n{\"element\":\"b\",\"x\":3}\n";
        let flows = by_element(text).unwrap();
        assert_eq!(flows["b"], [(1, json!({ "x": 1 })), (4, json!({ "x": 3 }))]);
        assert_eq!(flows["a"], [(3, json!({ "x": 2 }))]);
        let said = of_file("no flow is taken\nline 2: no sport\nline 9: x", &flows["b"]);
        assert_eq!(said, "no flow is taken\nline 4: no sport\nline 9: x");
        assert!(by_element("{\"element\":\"a\"}\n{}").unwrap_err().starts_with("line 2: no element"));
        assert!(by_element("\nx").unwrap_err().starts_with("line 2: "));
    }

    #[test]
    fn flows_of_look_ups() {
        let flow = json!({ "protocol": "udp", "source": "10.0.0.1", "sport": 7, "destination": "10.0.0.2", "dport": 9,
            "gateway": null, "output": 1, "assured": true, "idle_s": 2 });
        assert_eq!(remembered(&flow).unwrap(), "10.0.0.1 7 10.0.0.2 9 17 - 1 2000 established");
        let flow = json!({ "protocol": "ip", "source": "::1", "sport": 0, "destination": "::2", "dport": 0, "label": 5,
            "gateway": "fe80::1", "output": 0, "assured": false, "idle_s": 0 });
        assert_eq!(remembered(&flow).unwrap(), "::1 0 ::2 0 label:5 fe80::1 0 0 new");
        assert_eq!(remembered(&json!({ "protocol": "udp" })), None);
    }
}
