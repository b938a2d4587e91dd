//! Names for addresses, ports and annotations, as AddressInfo and similar elements define them. A name is visible in
//! the compound element that defines it and inside that.

use std::collections::HashMap;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use wire::ethernet::MacAddr;

/// What one name stands for; a name may stand for an address of each family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// An IPv4 address.
    Ip(Ipv4Addr),
    /// An IPv4 prefix: address as written, and prefix length.
    IpPrefix(Ipv4Addr, u8),
    /// An IPv6 address.
    Ip6(Ipv6Addr),
    /// An IPv6 prefix: address as written, and prefix length.
    Ip6Prefix(Ipv6Addr, u8),
    /// An Ethernet address.
    Ether(MacAddr),
    /// A TCP port.
    TcpPort(u16),
    /// A UDP port.
    UdpPort(u16),
    /// An annotation: first byte, and bytes; 0 for any number of them.
    Anno(usize, usize),
}

/// How the machine's interfaces are asked for their addresses, for which their names stand where nothing else is defined.
#[derive(Clone, Copy, Debug)]
pub struct InterfaceAddresses {
    /// The first IPv4 address and its mask.
    pub ipv4: fn(&str) -> Option<(Ipv4Addr, Ipv4Addr)>,
    /// The IPv4 gateway.
    pub gateway: fn(&str) -> Option<Ipv4Addr>,
    /// The Ethernet address.
    pub ether: fn(&str) -> Option<MacAddr>,
}

/// All defined names.
#[derive(Clone, Debug, Default)]
pub struct Names {
    by_name: HashMap<String, Vec<Value>>,
    /// See [`Names::references`].
    references: Arc<AtomicUsize>,
}

/// The compound that an element lives in: its name up to and with the last slash.
fn compound(element: &str) -> &str {
    element.rfind('/').map_or("", |slash| &element[..=slash])
}

impl Names {
    pub(crate) fn define(&mut self, element: &str, name: &str, value: Value) {
        let values = self.by_name.entry(format!("{}{name}", compound(element))).or_default();
        values.retain(|old| std::mem::discriminant(old) != std::mem::discriminant(&value));
        values.push(value);
    }

    /// How often a name was looked for that another element has or may define: an error that comes of it may be that element's.
    pub(crate) fn references(&self) -> usize {
        self.references.load(Relaxed)
    }

    /// Counts that such a name is looked for.
    pub(crate) fn note_reference(&self) {
        self.references.fetch_add(1, Relaxed);
    }

    /// What `name` stands for in the eyes of an element: its own compound's names hide those further out.
    pub fn lookup<T>(&self, element: &str, name: &str, pick: impl Fn(&Value) -> Option<T>) -> Option<T> {
        let mut scope = compound(element);
        loop {
            let found = self.by_name.get(&format!("{scope}{name}"));
            if let Some(value) = found.and_then(|values| values.iter().find_map(&pick)) {
                return Some(value);
            }
            if scope.is_empty() {
                return None;
            }
            scope = compound(&scope[..scope.len() - 1]);
        }
    }
}

/// The names of elements, each with the element's index in the configuration.
#[derive(Clone, Debug, Default)]
pub(crate) struct ElementNames {
    by_name: HashMap<String, usize>,
}

impl<N: Into<String>> FromIterator<N> for ElementNames {
    fn from_iter<T: IntoIterator<Item = N>>(names: T) -> ElementNames {
        let numbered = names.into_iter().enumerate();
        ElementNames { by_name: numbered.map(|(index, name)| (name.into(), index)).collect() }
    }
}

impl ElementNames {
    /// The element with this full name.
    pub(crate) fn get(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// The element with a name in the eyes of the element `from`: its own compound's names hide those further out.
    pub(crate) fn find(&self, name: &str, from: &str) -> Option<usize> {
        let mut scope = from;
        while let Some(slash) = scope.rfind('/') {
            scope = &scope[..slash];
            if let Some(found) = self.get(&format!("{scope}/{name}")) {
                return Some(found);
            }
        }
        self.get(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_elements_hide_outer_ones() {
        let names: ElementNames = ["q", "a/q", "a/b/q", "a/x"].into_iter().collect();
        let find = |name: &str, from: &str| names.find(name, from);
        assert_eq!(
            [find("q", ""), find("q", "x"), find("q", "a/x"), find("q", "a/b/c/x")],
            [0, 0, 1, 2].map(Some)
        );
        assert_eq!((find("a/q", "a/x"), find("x", "a/b/q"), find("x", "q")), (Some(1), Some(3), None));
    }
}
