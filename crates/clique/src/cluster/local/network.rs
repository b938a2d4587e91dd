//! Namespaces, cables and addresses, made by `ip`.

use crate::cluster::wiring::Wiring;
use std::process::{Command, Stdio};

/// The namespaces of a cluster.
pub(super) struct Network {
    name: String,
    wiring: Wiring,
    /// Whether nodes and hosts are on one segment.
    is_shared: bool,
}

/// An address behind a node: 1 is the node's own, 2 the host's.
pub(super) fn address(node: u16, last: u8) -> String {
    format!("10.0.{node}.{last}")
}

/// The same in IPv6; 0 stands for the network of 64 bits.
pub(super) fn address6(node: u16, last: u8) -> String {
    match last {
        0 => format!("2001:db8:{node:x}::"),
        last => format!("2001:db8:{node:x}::{last:x}"),
    }
}

/// A node's interface to another node.
pub(super) fn link(other: u16) -> String {
    format!("l{other}")
}

/// A node's external interface.
pub(super) const EXTERNAL: &str = "ext";

impl Network {
    pub(super) fn new(name: &str, wiring: Wiring, is_shared: bool) -> Network {
        Network { name: name.to_owned(), wiring, is_shared }
    }

    /// The namespace of a node.
    pub(super) fn node(&self, node: u16) -> String {
        node_of(&self.name, node)
    }

    /// The namespace of a node's host.
    pub(super) fn host(&self, node: u16) -> String {
        host_of(&self.name, node)
    }

    /// Whether the programs are there that this takes.
    pub(super) fn check_programs(with_trial: bool) -> Result<(), String> {
        let trial: &[&str] = if with_trial { &["ping"] } else { &[] };
        let missing: Vec<&str> = ["ip", "ethtool", "sysctl"]
            .iter()
            .chain(trial)
            .copied()
            .filter(|program| !is_there(program))
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        Err(format!("not installed: {}; '--in-memory' needs none of them", missing.join(", ")))
    }

    /// Makes everything.
    pub(super) fn build(&self) -> Result<(), String> {
        for node in 0..self.wiring.nodes() {
            add_namespace(&self.node(node))?;
            // Kernels at nodes have no part in this: no address, nothing that they send by themselves.
            let quiet = ["net.ipv6.conf.default.disable_ipv6=1", "net.ipv6.conf.all.disable_ipv6=1"];
            self.exec(&self.node(node), &[&["sysctl", "-qw"], &quiet[..]].concat())?;
        }
        if self.is_shared {
            let segment = segment_of(&self.name);
            add_namespace(&segment)?;
            ip(&["-n", &segment, "link", "add", "lan", "type", "bridge"])?;
            ip(&["-n", &segment, "link", "set", "lan", "up"])?;
        }
        for node in 0..self.wiring.terminals() {
            if self.is_shared { self.add_to_segment(node)? } else { self.add_host(node)? }
        }
        self.wiring.pairs().into_iter().try_for_each(|(a, b)| self.add_cable(a, b))
    }

    /// The addresses of a node's host, and its routes by the node.
    fn add_addresses(&self, node: u16) -> Result<(), String> {
        let outside = self.host(node);
        ip(&["-n", &outside, "addr", "add", &format!("{}/24", address(node, 2)), "dev", "port"])?;
        ip(&["-n", &outside, "route", "add", "default", "via", &address(node, 1)])?;
        // Without `nodad` the address could not be used for the first seconds.
        let own = format!("{}/64", address6(node, 2));
        ip(&["-n", &outside, "addr", "add", &own, "dev", "port", "nodad"])?;
        ip(&["-n", &outside, "route", "add", "default", "via", &address6(node, 1)])
    }

    /// The namespace of a node's host, and the cable between them.
    fn add_host(&self, node: u16) -> Result<(), String> {
        let (inside, outside) = (self.node(node), self.host(node));
        let mac = |last: u8| format!("02:00:00:00:{node:02x}:{last:02x}");
        add_namespace(&outside)?;
        ip(&[
            "link",
            "add",
            "port",
            "netns",
            &outside,
            "address",
            &mac(2),
            "type",
            "veth",
            "peer",
            "name",
            EXTERNAL,
            "netns",
            &inside,
            "address",
            &mac(1),
        ])?;
        // A host would hand over segments of 64 KiB and leave their cutting to hardware that is not there.
        self.exec(&outside, &["ethtool", "-K", "port", "tso", "off", "gso", "off", "tx", "off"])?;
        ip(&["-n", &inside, "link", "set", EXTERNAL, "up"])?;
        ip(&["-n", &outside, "link", "set", "port", "up"])?;
        self.add_addresses(node)
    }

    /// The namespace of a node's host, and cables from both to the segment.
    fn add_to_segment(&self, node: u16) -> Result<(), String> {
        let (inside, outside, segment) = (self.node(node), self.host(node), segment_of(&self.name));
        add_namespace(&outside)?;
        for (at, device, last) in [(&inside, EXTERNAL, 1), (&outside, "port", 2)] {
            let mac = format!("02:00:00:00:{node:02x}:{last:02x}");
            let other = format!("{device}{node}");
            ip(&[
                "link", "add", device, "netns", at, "address", &mac, "type", "veth", "peer", "name", &other,
                "netns", &segment,
            ])?;
            ip(&["-n", &segment, "link", "set", &other, "master", "lan", "up"])?;
            ip(&["-n", at, "link", "set", device, "up"])?;
        }
        self.exec(&outside, &["ethtool", "-K", "port", "tso", "off", "gso", "off", "tx", "off"])?;
        self.add_addresses(node)
    }

    fn add_cable(&self, a: u16, b: u16) -> Result<(), String> {
        let (one, other) = (self.node(a), self.node(b));
        ip(&[
            "link",
            "add",
            "name",
            &link(b),
            "netns",
            &one,
            "type",
            "veth",
            "peer",
            "name",
            &link(a),
            "netns",
            &other,
        ])?;
        ip(&["-n", &one, "link", "set", &link(b), "up"])?;
        ip(&["-n", &other, "link", "set", &link(a), "up"])
    }

    /// Runs a program in a namespace and waits for it; what it prints on standard output.
    pub(super) fn exec(&self, namespace: &str, words: &[&str]) -> Result<String, String> {
        output("ip", &[&["netns", "exec", namespace], words].concat())
    }
}

/// The namespace of a node.
fn node_of(name: &str, node: u16) -> String {
    format!("{name}-n{node}")
}

/// The namespace of the segment that nodes and hosts share.
fn segment_of(name: &str) -> String {
    format!("{name}-lan")
}

/// The namespace of a node's host.
fn host_of(name: &str, node: u16) -> String {
    format!("{name}-h{node}")
}

/// Removes what is there of a cluster of so many nodes.
pub(super) fn remove(name: &str, nodes: u16) {
    for namespace in (0..nodes).flat_map(|node| [node_of(name, node), host_of(name, node)]) {
        let _ = ip(&["netns", "del", &namespace]); // perhaps it was never made
    }
    let _ = ip(&["netns", "del", &segment_of(name)]);
}

fn add_namespace(namespace: &str) -> Result<(), String> {
    ip(&["netns", "add", namespace])?;
    ip(&["-n", namespace, "link", "set", "lo", "up"])
}

/// Whether a program can be started. Root's path may lack the directories that have these.
fn is_there(program: &str) -> bool {
    let path = std::env::var("PATH").unwrap_or_default();
    let folders = path.split(':').chain(["/usr/sbin", "/sbin"]);
    folders
        .filter(|folder| !folder.is_empty())
        .any(|folder| std::path::Path::new(folder).join(program).exists())
}

fn ip(words: &[&str]) -> Result<(), String> {
    output("ip", words).map(drop)
}

fn output(program: &str, words: &[&str]) -> Result<String, String> {
    let done = Command::new(program)
        .args(words)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{program}: {}", crate::console::reason(&error)))?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    Err(format!("{program} {}: {}", words.join(" "), said.trim_end()))
}
