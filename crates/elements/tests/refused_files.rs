//! A hot swap that is refused leaves every file as it was that an element of the new configuration was to write.

use router::{Class, Classes, Clock, Config, ConfigError, Cx, Element, Log, Options, Router};
use std::any::Any;
use std::collections::BTreeSet;
use std::path::Path;

/// An element that takes over from no other one, if its argument says so.
const STUBBORN: Class = Class::new("Stubborn", stubborn).ports("0/0");

struct Stubborn(bool);

fn stubborn(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    Ok(Box::new(Stubborn(config.text() == "true")))
}

impl Element for Stubborn {
    fn can_take_over(&mut self, _cx: &mut Cx<'_>, _old: &dyn Any) -> Result<(), ConfigError> {
        if self.0 { Err("never".into()) } else { Ok(()) }
    }
}

/// Configurations with a file, for each class that has one among its arguments.
const CASES: &[(&str, &str)] = &[
    ("AggregateIPFlows", "Idle -> AggregateIPFlows(TRACEINFO FILE) -> Discard"),
    ("ARPPrint", "Idle -> ARPPrint(x, OUTFILE FILE) -> Discard"),
    ("CounterFile", "Idle -> CounterFile(FILE) -> Discard"),
    ("FlowHyperScan", "Idle -> FlowIPManager -> FlowHyperScan(FILE FILE) -> Discard"),
    ("FromDump", "FromDump(FILE) -> Discard"),
    ("FromIPSummaryDump", "FromIPSummaryDump(FILE) -> Discard"),
    ("FromMinDump", "FromMinDump(FILE) -> Discard"),
    ("FromNetFlowSummaryDump", "FromNetFlowSummaryDump(FILE) -> Discard"),
    ("FromTcpdump", "FromTcpdump(FILE) -> Discard"),
    ("IPPrint", "Idle -> IPPrint(x, OUTFILE FILE) -> Discard"),
    ("ToDump", "Idle -> ToDump(FILE)"),
    ("ToIPFlowDumps", "Idle -> ToIPFlowDumps(FILE)"),
    ("ToIPSummaryDump", "Idle -> ToIPSummaryDump(FILE)"),
    ("ToMinDump", "Idle -> ToMinDump(FILE)"),
    ("VLBNode", "Idle -> VLBNode(0, ROSTER FILE) -> Discard"),
];

/// Classes that open a file only when a handler is called, or a script runs.
const LATER: [&str; 2] = ["AggregateCounter", "Script"];

/// Classes with a file among their arguments or in their handlers, by the sources of elements.
fn with_files() -> BTreeSet<String> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a folder of crates");
    let (mut ahead, mut found) = (vec![crates.to_owned()], BTreeSet::new());
    while let Some(folder) = ahead.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                ahead.push(path);
                continue;
            }
            let is_element = path.to_string_lossy().contains("/elements-")
                && path.extension().is_some_and(|end| end == "rs");
            let text =
                if is_element { std::fs::read_to_string(&path).expect("a source") } else { String::new() };
            if text.contains("FileName") {
                let names = text.split("Class::new(\"").skip(1).filter_map(|rest| rest.split('"').next());
                found.extend(names.map(str::to_owned));
            }
        }
    }
    found
}

fn build(config: &str, known: &Classes, clock: &Clock) -> Option<Router> {
    let parsed = lang::parse(config, "files", &[]);
    assert!(!parsed.has_errors(), "{config}\n{}", parsed.render_click());
    let layout = router::layout(parsed.graph, known, 1).ok()?;
    let options =
        Options { log: Log::Memory(Default::default()), clock: clock.clone(), ..Options::default() };
    Some(router::build(layout, config.to_owned(), known, options).ok()?.0)
}

#[test]
fn files_stay_as_they_were() {
    let own = elements::classes();
    let known = Classes::new(own.iter().chain([&STUBBORN]));
    let with_files = with_files();
    let is_tried =
        |name: &String| CASES.iter().any(|(case, _)| case == name) || LATER.contains(&name.as_str());
    let missing: Vec<_> = with_files.iter().filter(|name| !is_tried(name)).collect();
    assert!(missing.is_empty(), "classes with a file, and no case: {missing:?}");
    assert!(with_files.len() > 9, "sources name files otherwise now: {with_files:?}");

    let (folder, clock) = (tempfile::tempdir().expect("a folder"), Clock::simulated());
    let (mut changed, mut refused) = (Vec::new(), 0);
    for (name, config) in CASES {
        let file = folder.path().join(name);
        std::fs::write(&file, "precious").expect("written");
        let config = config.replace("FILE)", &format!("{})", file.display()));
        let mut running = build("stubborn :: Stubborn(false)", &known, &clock).expect("a router");
        // What such a file does not suit is refused as well, before.
        if let Some(new) = build(&format!("{config}; stubborn :: Stubborn(true)"), &known, &clock) {
            assert!(running.replace(new).is_err(), "{name} was to be refused");
            refused += 1;
        }
        let now = std::fs::read_to_string(&file).expect("still there");
        if now != "precious" {
            changed.push(format!("{name}: {now:?}"));
        }
    }
    assert!(changed.is_empty(), "{}", changed.join("\n"));
    assert!(refused >= 7, "only {refused} configurations could be built");
}
