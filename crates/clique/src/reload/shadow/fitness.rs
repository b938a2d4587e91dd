//! What cannot run in shadow: elements that reach outside of the router in other ways than by interfaces.

use super::stand_ins;
use lang::Graph;
use router::{Class, Classes};

/// Classes of the library whose elements reach outside and have nothing in their place, and what they do.
const REACH_OUTSIDE: &[(&str, &str)] = &[
    ("CounterFile", "writes a file"),
    ("DeviceBalancer", "sets interfaces up"),
    ("FromDPDKDevice", "receives from a device of DPDK"),
    ("FromDPDKRing", "receives from another program"),
    ("FromNetmapDevice", "receives from a device of netmap"),
    ("FromRawSocket", "opens a socket"),
    ("FromSocket", "opens a socket"),
    ("McastSocket", "opens a socket"),
    ("RawSocket", "opens a socket"),
    ("Socket", "opens a socket"),
    ("ToDPDKDevice", "sends to a device of DPDK"),
    ("ToDPDKRing", "sends to another program"),
    ("ToIPFlowDumps", "writes files"),
    ("ToNetmapDevice", "sends to a device of netmap"),
    ("ToRawSocket", "opens a socket"),
    ("ToSocket", "opens a socket"),
    ("XDPFromDevice", "receives from a device by XDP alone"),
    ("XDPToDevice", "sends to a device by XDP alone"),
    ("EtcdRoster", "talks to etcd"),
    ("KernelHandlerProxy", "reaches the kernel"),
    ("KernelIPsec", "gets associations from the kernel"),
];

/// Classes whose arguments are a script.
const SCRIPTS: [&str; 2] = ["Script", "DriverManager"];

/// Says which elements of a configuration cannot run in shadow, and why: nothing if all can.
pub(super) fn obstacles(graph: &Graph, known: &Classes) -> Vec<String> {
    let library = elements::classes();
    let why = |element: &lang::Element| {
        let class = known.get(&element.class)?;
        let why = obstacle(class, &element.config, &library)?;
        Some(format!("'{}' ({}) {why}", element.name, element.class))
    };
    graph.elements.iter().filter_map(why).collect()
}

fn obstacle(class: &'static Class, config: &str, library: &Classes) -> Option<&'static str> {
    let name = class.alias_of.unwrap_or(class.name);
    if let Some((_, why)) = REACH_OUTSIDE.iter().find(|(known, _)| *known == name) {
        return Some(why);
    }
    if SCRIPTS.contains(&name) && lang::conf::split_args(config).iter().any(|line| writes_file(line)) {
        return Some("writes files");
    }
    if name == "AggregateIPFlows" && config.contains("TRACEINFO") {
        return Some("writes a file");
    }
    let is_foreign = library.get(class.name).is_none() && !stand_ins::is_one(class);
    is_foreign.then_some("is of no class that is known to keep to itself")
}

/// Whether an instruction of a script writes a file.
fn writes_file(instruction: &str) -> bool {
    let word = instruction.split_whitespace().next().unwrap_or_default();
    matches!(word, "save" | "append") || word.starts_with("print") && instruction.contains('>')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What would touch the machine is named; what only looks at packets, or has a stand-in, is not.
    #[test]
    fn what_reaches_outside_is_named() {
        let known = crate::classes(&[]);
        let graph = |text: &str| lang::parse(text, "config", &[]).graph;
        let text = "FromDevice(eth0) -> c :: Counter -> ToDump(/tmp/x) -> q :: Queue -> ToDevice(eth1);
             s :: Socket(TCP, 0.0.0.0, 80) -> Discard; f :: FPMServer(r); i :: KernelIPsec(x); ControlSocket(TCP, 1);
             Script(print c.count); w :: Script(print > /tmp/file $(c.count)); v :: Script(save c.count /tmp/y)";
        let said = obstacles(&graph(text), &known);
        let expected = [
            "'s' (Socket) opens a socket",
            "'i' (KernelIPsec) gets associations from the kernel",
            "'w' (Script) writes files",
            "'v' (Script) writes files",
        ];
        assert_eq!(said, expected);
    }

    /// Each class that is neither of the library nor refused has something in its place, and names in the lists are those of classes.
    #[test]
    fn every_class_is_thought_of() {
        let known = crate::classes(&[]);
        for (name, _) in REACH_OUTSIDE {
            assert!(known.get(name).is_some(), "{name}");
        }
        let control = control::CLASSES.iter().filter(|class| !stand_ins::is_one(class));
        for class in control {
            assert!(REACH_OUTSIDE.iter().any(|(name, _)| *name == class.name), "{}", class.name);
        }
    }
}
