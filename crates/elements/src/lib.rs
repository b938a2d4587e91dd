//! The element library: one element, one file.
//!
//! Each file starts with a doc block, from which the manual is generated: a summary sentence, the syntax, what the
//! element does, its arguments and handlers, an example, related elements. Then come its [`Class`] and its type, and
//! last its test. Families are modules; [`classes`] lists all classes. Names, arguments, defaults and outputs are
//! Click's; where an element differs, its doc block says so.
//!
//! The crate knows the network only through `wire` and `device`, and knows nothing of programs or control planes.

#![forbid(unsafe_code)]

pub mod basic;
pub mod capture;
pub mod classify;
pub mod cluster;
pub mod ether;
pub mod flow;
mod formula;
#[cfg(test)]
mod inject;
pub mod ip;
pub mod ip6;
pub mod ipsec;
pub mod measure;
mod neighbour;
pub mod netdevice;
mod pulling;
pub mod queueing;
mod reading;
pub mod rewrite;
pub mod route;
pub mod scheduling;
pub mod script;
pub mod sink;
pub mod source;
pub mod summary;
pub mod switching;
#[cfg(test)]
#[allow(dead_code)] // each test uses what it needs
mod testing;
pub mod wifi;
mod writing;

use router::{Class, Classes, InterfaceAddresses};

/// All classes, by family.
const FAMILIES: &[&[&Class]] = &[
    source::CLASSES,
    sink::CLASSES,
    basic::CLASSES,
    switching::CLASSES,
    queueing::CLASSES,
    scheduling::CLASSES,
    classify::CLASSES,
    ether::CLASSES,
    ip::CLASSES,
    ip6::CLASSES,
    ipsec::CLASSES,
    wifi::CLASSES,
    rewrite::CLASSES,
    route::CLASSES,
    capture::CLASSES,
    netdevice::CLASSES,
    measure::CLASSES,
    flow::CLASSES,
    summary::CLASSES,
    script::CLASSES,
    cluster::CLASSES,
];

/// Every element class of the library.
pub fn classes() -> Classes {
    Classes::new(FAMILIES.iter().flat_map(|family| family.iter().copied())).with_interfaces(INTERFACES)
}

/// The names of the kernel's interfaces stand for their addresses.
pub const INTERFACES: InterfaceAddresses =
    InterfaceAddresses { ipv4: device::addresses::ipv4, gateway: device::addresses::gateway };

/// The classes of each family.
pub fn families() -> &'static [&'static [&'static Class]] {
    FAMILIES
}
