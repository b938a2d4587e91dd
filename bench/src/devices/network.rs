//! Two network namespaces and the virtual cables between them.

use lpm::Prefix;
use std::io::Write;
use std::net::Ipv4Addr;
use std::process::{Command, Stdio};

pub(super) const SENDER_MAC: &str = "02:00:00:00:01:02";
pub(super) const ROUTER_MACS: [&str; 2] = ["02:00:00:00:01:01", "02:00:00:00:02:01"];
pub(super) const RECEIVER_MAC: &str = "02:00:00:00:02:02";

fn ip(arguments: &str) -> Result<(), String> {
    let output =
        Command::new("ip").args(arguments.split(' ')).output().map_err(|error| format!("ip: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(format!("ip {arguments}: {said}")) }
}

fn sysctl(namespace: &str, setting: &str) -> Result<(), String> {
    ip(&format!("netns exec {namespace} sysctl -qw {setting}"))
}

/// Two namespaces: `hosts` with the interfaces a and b, `router` with eth0 and eth1.
pub(super) struct Network {
    pub(super) hosts: String,
    pub(super) router: String,
}

impl Network {
    /// Builds one whose namespaces end in a name.
    pub(super) fn build(name: &str) -> Result<Network, String> {
        let id = std::process::id();
        let network = Network { hosts: format!("hosts-{id}{name}"), router: format!("router-{id}{name}") };
        let (hosts, router) = (&network.hosts, &network.router);
        ip(&format!("netns add {hosts}"))?;
        ip(&format!("netns add {router}"))?;
        for namespace in [hosts, router] {
            // The kernel's own IPv6 messages would count as packets that arrive.
            let _ = sysctl(namespace, "net.ipv6.conf.default.disable_ipv6=1"); // there may be no IPv6
        }
        // IPsec makes full frames longer.
        let mtu = "mtu 1600";
        let cables = [("a", SENDER_MAC, "eth0", ROUTER_MACS[0]), ("b", RECEIVER_MAC, "eth1", ROUTER_MACS[1])];
        for (end, mac, other, other_mac) in cables {
            let peer = format!("peer name {other} {mtu} netns {router} address {other_mac}");
            ip(&format!("link add name {end} {mtu} netns {hosts} address {mac} type veth {peer}"))?;
            ip(&format!("-n {hosts} link set dev {end} up"))?;
            ip(&format!("-n {router} link set dev {other} up"))?;
        }
        Ok(network)
    }

    /// Addresses, a full table and a neighbour for Linux's own forwarding, which is off for now.
    pub(super) fn teach_linux(&self, routes: &[Prefix<u32>]) -> Result<(), String> {
        let router = &self.router;
        self.let_linux_forward(false)?;
        ip(&format!("-n {router} addr add 10.0.1.1/24 dev eth0"))?;
        ip(&format!("-n {router} addr add 10.0.2.1/24 dev eth1"))?;
        ip(&format!("-n {router} neigh replace 10.0.2.2 lladdr {RECEIVER_MAC} dev eth1 nud permanent"))?;
        let line = |prefix: &Prefix<u32>| {
            format!("route replace {}/{} via 10.0.2.2\n", Ipv4Addr::from(prefix.addr()), prefix.len())
        };
        let lines: String = routes.iter().map(line).collect();
        let mut command = Command::new("ip");
        command.args(["-force", "-n", router, "-batch", "-"]).stdin(Stdio::piped()).stderr(Stdio::null());
        let mut batch = command.spawn().map_err(|error| error.to_string())?;
        let mut input = batch.stdin.take().ok_or("ip takes no input")?;
        input.write_all(lines.as_bytes()).map_err(|error| error.to_string())?;
        drop(input);
        // A few prefixes are this machine's own networks, and refused.
        batch.wait().map(|_| ()).map_err(|error| error.to_string())
    }

    pub(super) fn let_linux_forward(&self, forward: bool) -> Result<(), String> {
        sysctl(&self.router, &format!("net.ipv4.ip_forward={}", u8::from(forward)))
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        let _ = ip(&format!("netns del {}", self.hosts)); // there may be none
        let _ = ip(&format!("netns del {}", self.router));
    }
}
