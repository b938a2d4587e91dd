//! The interfaces in memory that a configuration names, when it runs without a program around it that has some.
//!
//! They are there, so that the configuration can be checked and looked at, but nothing arrives, and what is sent is
//! counted and dropped.

use device::memory::{Config, Interface, Interfaces};
use lang::{Diagnostic, Graph};

/// The classes whose first argument is the name of an interface in memory.
const CLASSES: [&str; 2] = ["FromMemory", "ToMemory"];
/// Frames that a receive queue could hold.
const CAPACITY: usize = 1;

/// The interfaces that a configuration names, with as many queues as there are workers.
pub(crate) fn interfaces(graph: &Graph, workers: usize) -> Interfaces {
    let interfaces = Interfaces::new();
    for element in graph.elements.iter().filter(|element| CLASSES.contains(&element.class.as_str())) {
        if let Some(name) = device_name(&element.config, true) {
            // A name that is taken is one that the configuration uses twice.
            let _ = interfaces.add(Interface::new(&name, Config::rings(workers, CAPACITY)));
        }
    }
    interfaces
}

/// An interface's name in a configuration string: the keyword argument, or the first if that `is_first`.
pub(crate) fn device_name(config: &str, is_first: bool) -> Option<String> {
    let arguments = lang::conf::split_args(config);
    let keyword = |argument: &String| {
        let (keyword, value) = lang::conf::keyword(argument)?;
        (keyword == "DEVNAME").then(|| value.to_owned())
    };
    let first = || arguments.first().filter(|_| is_first).cloned();
    let name = arguments.iter().find_map(keyword).or_else(first)?;
    Some(lang::conf::unquote(&name))
}

/// A warning that nothing arrives at interfaces, if there are any.
pub(crate) fn warning(interfaces: &Interfaces) -> Option<Diagnostic> {
    let all = interfaces.all();
    let names: Vec<String> = all.iter().map(|interface| format!("'{}'", interface.name())).collect();
    (!names.is_empty()).then(|| {
        Diagnostic::warning(format!("nothing arrives at the interfaces in memory: {}", names.join(", ")))
    })
}
