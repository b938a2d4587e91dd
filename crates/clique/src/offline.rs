//! Interfaces that this machine does not have, for the check of a configuration that is to run on another one.
//!
//! What elements open as an interface, and what is called as Linux calls interfaces, has addresses for documentation (RFC 5737), or a local
//! one, so that a check can go on behind it.

use crate::memory;
use lang::{Context, Diagnostic, Element, Graph};
use router::{Classes, InterfaceAddresses};
use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::sync::{Mutex, PoisonError};
use wire::MacAddr;

/// Every interface has addresses, and those of this machine their own.
pub(crate) const INTERFACES: InterfaceAddresses = InterfaceAddresses {
    ipv4: |name| {
        let other = || Some((Ipv4Addr::new(192, 0, 2, number(name)?), Ipv4Addr::new(255, 255, 255, 0)));
        (elements::INTERFACES.ipv4)(name).or_else(other)
    },
    gateway: |name| {
        let other = || number(name).map(|_| Ipv4Addr::new(192, 0, 2, 254));
        (elements::INTERFACES.gateway)(name).or_else(other)
    },
    ether: |name| {
        let other = || number(name).map(|number| MacAddr([2, 0, 0, 0, 0, number]));
        (elements::INTERFACES.ether)(name).or_else(other)
    },
};

/// How names of interfaces begin, as kernel, systemd and administrators give them.
const BEGINNINGS: [&str; 26] = [
    "bond", "br", "dummy", "en", "eth", "gre", "ib", "ifb", "ipvlan", "lan", "lo", "macvlan", "ppp", "sfp",
    "swp", "tap", "team", "tun", "veth", "vlan", "vxlan", "wan", "wg", "wl", "ww", "dmz",
];

/// The interfaces that elements of the configurations that were checked open: their names may be any.
static OPENED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Knows the interfaces that a configuration's elements open from now on. They are those that a class's manual calls DEVNAME.
pub(crate) fn learn(graph: &Graph, known: &Classes) {
    let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    for element in &graph.elements {
        let Some(class) = known.get(&element.class) else { continue };
        let is_first = class.doc.contains("(DEVNAME") || class.doc.contains("([DEVNAME");
        opened.extend(memory::device_name(&element.config, is_first).filter(|name| is_valid(name)));
    }
}

/// An error for each interface that elements need and that is not here. Those that other elements make come when the router runs.
pub(crate) fn absent(graph: &Graph) -> Vec<Diagnostic> {
    let of = |classes: &'static [&'static str]| {
        let elements = graph.elements.iter().filter(|element| classes.contains(&element.class.as_str()));
        elements.filter_map(|element| Some((element, memory::device_name(&element.config, true)?)))
    };
    let mut known: BTreeSet<String> = device::interfaces().into_iter().collect();
    let here = known.iter().cloned().collect::<Vec<_>>().join(", ");
    known.extend(of(&["FromHost", "KernelTap", "KernelTun"]).map(|(_, name)| name));
    let absent = of(&["FromDevice", "ToDevice"]).filter(|(_, name)| known.insert(name.clone()));
    let error = |(element, name): (&Element, String)| {
        Diagnostic::error(format!("there is no interface '{name}' here"))
            .at(element.landmark.clone(), element.span)
            .expecting(format!("one of {here}"))
            .within(Context::configuring(&element.name, &element.class, element.landmark.clone()))
    };
    absent.map(error).collect()
}

/// Whether Linux lets an interface have this name.
fn is_valid(name: &str) -> bool {
    let is_fine = |c: char| c != '/' && c != ':' && !c.is_whitespace();
    (1..=NAME_MAX).contains(&name.len()) && name != "." && name != ".." && name.chars().all(is_fine)
}

/// The longest name of an interface.
const NAME_MAX: usize = 15;

/// A number for what is called like an interface; nearly always another one for another name.
fn number(name: &str) -> Option<u8> {
    let is_opened = || OPENED.lock().unwrap_or_else(PoisonError::into_inner).contains(name);
    let begins = BEGINNINGS.iter().any(|beginning| name.starts_with(beginning));
    let goes_on = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
    let has_number = name.bytes().any(|b| b.is_ascii_digit()) || name.contains('-');
    let sum = name.bytes().fold(7u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    let is_usual = begins && goes_on && has_number && name.len() <= NAME_MAX;
    (is_usual || is_opened()).then_some((1 + sum % 250) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_interfaces_are_known() {
        for name in ["eth1", "enp3s0f0", "bond0.100", "br-lan", "wlan0", "veth12"] {
            assert!(number(name).is_some(), "{name}");
        }
        for name in ["port1", "eth", "x", "", "eth0:eth", "ethernet-that-is-long0", "10.0.0.1", "eth 0"] {
            assert!(number(name).is_none(), "{name}");
        }
        assert_ne!(number("eth0"), number("eth1"));
    }
}
