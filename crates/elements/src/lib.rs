//! The element library: the crates of elements together, as a program uses them.
//!
//! Elements live in `elements-general` (sources, sinks, queues, switches, scripts), `elements-classify`, `elements-net`
//! (Ethernet, IPv4, IPv6), `elements-routing` (routes, neighbours, ESP), `elements-translation` (NAT, flows, balancers),
//! `elements-devices` and `elements-cluster`; behind features of the same names in `elements-analysis`, `elements-streams`
//! (TCP and HTTP, regular expressions), `elements-wifi` and `elements-legacy` (Click's own IPsec). In each, one element is one
//! file. Names, arguments, defaults and outputs are Click's; where an element differs, its manual says so.
//!
//! The crates know the network only through `wire` and `device`, and know nothing of programs or control planes. The tests here
//! run the configurations of `conf/` and `tests/conformance/`, and try all elements with hostile packets and arguments.

#![forbid(unsafe_code)]

pub use elements_cluster as cluster;
pub use elements_devices::netdevice;
pub use elements_general::script;
use router::{Class, Classes, InterfaceAddresses};

/// A crate of elements: its name, its families, and the other names of its classes.
struct Part {
    families: &'static [&'static [&'static Class]],
    aliases: &'static [Class],
}

fn parts() -> Vec<Part> {
    let part = |families, aliases| Part { families, aliases };
    vec![
        part(elements_general::FAMILIES, &elements_general::ALIASES),
        part(elements_classify::FAMILIES, &elements_classify::ALIASES),
        part(elements_net::FAMILIES, &elements_net::ALIASES),
        part(elements_routing::FAMILIES, &elements_routing::ALIASES),
        part(elements_translation::FAMILIES, &elements_translation::ALIASES),
        part(elements_devices::FAMILIES, &elements_devices::ALIASES),
        part(elements_cluster::FAMILIES, &[]),
        #[cfg(feature = "analysis")]
        part(elements_analysis::FAMILIES, &elements_analysis::ALIASES),
        #[cfg(feature = "streams")]
        part(elements_streams::FAMILIES, &elements_streams::ALIASES),
        #[cfg(feature = "wifi")]
        part(elements_wifi::FAMILIES, &[]),
        #[cfg(feature = "legacy")]
        part(elements_legacy::FAMILIES, &[]),
    ]
}

/// Every element class that this program is built with, under each of its names.
pub fn classes() -> Classes {
    let parts = parts();
    let classes = parts.iter().flat_map(|part| part.families.iter().copied().flatten().copied());
    Classes::new(classes.chain(parts.iter().flat_map(|part| part.aliases)))
        .with_interfaces(INTERFACES)
        .with_filters(FILTERS)
}

/// What traces and captures are asked for: IPClassifier's patterns.
pub const FILTERS: router::CompileFilter = elements_classify::filter;

/// The names of the kernel's interfaces stand for their addresses.
pub const INTERFACES: InterfaceAddresses = InterfaceAddresses {
    ipv4: device::addresses::ipv4,
    gateway: device::addresses::gateway,
    ether: device::addresses::ether,
};

/// The classes of each family, each under its own name only.
pub fn families() -> Vec<&'static [&'static Class]> {
    parts().iter().flat_map(|part| part.families.iter().copied()).collect()
}

/// The other names of the class with this name, sorted.
pub fn aliases_of(class: &str) -> Vec<&'static str> {
    let parts = parts();
    let aliases = parts.iter().flat_map(|part| part.aliases).filter(|alias| alias.alias_of == Some(class));
    let mut names: Vec<_> = aliases.map(|alias| alias.name).collect();
    names.sort_unstable();
    names
}

/// Whether a class with this name, or an alias of one, is behind a feature of this crate, be the feature on or off.
pub fn is_optional(class: &str) -> bool {
    // A test writes the list from the crates that the features bring in.
    include_str!("optional.txt").lines().any(|name| name == class)
}
