//! Hosts that try a cluster.

use super::network::{Network, address, address6};
use crate::console;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// What a host has tried.
pub(super) struct Trial {
    pub(super) from: u16,
    pub(super) to: u16,
    pub(super) what: &'static str,
    /// The line of the program that matters.
    pub(super) said: String,
    pub(super) is_well: bool,
}

impl Trial {
    /// For people.
    pub(super) fn line(&self) -> String {
        format!("host {} to host {}, {}: {}\n", self.from, self.to, self.what, self.said.trim())
    }
}

/// Lets every host ping its right neighbour, one trace its way to another and one send to another as fast as it can; `note` learns
/// of each as soon as it is done.
pub(super) fn run(network: &Network, nodes: u16, note: impl Fn(&Trial)) -> Result<Vec<Trial>, String> {
    let (mut trials, last) = (Vec::new(), nodes - 1);
    let mut add = |trial: Trial| {
        note(&trial);
        trials.push(trial);
    };
    for node in 0..nodes {
        let to = (node + 1) % nodes;
        add(ping(network, node, to, "ping", &address(to, 2)));
        add(ping(network, node, to, "ping over IPv6", &address6(to, 2)));
    }
    add(trace(network, 0, last, "traceroute", &address(last, 2)));
    add(trace(network, 0, last, "traceroute over IPv6", &address6(last, 2)));
    add(stream(network, 0, last, "iperf3", &address(last, 2))?);
    add(stream(network, 0, last, "iperf3 over IPv6", &address6(last, 2))?);
    Ok(trials)
}

/// A line of what a program prints, or what went wrong.
fn line_of(result: &Result<String, String>, part: &str) -> String {
    match result {
        Ok(text) => text.lines().rfind(|line| line.contains(part)).unwrap_or("nothing").to_owned(),
        Err(error) => error.clone(),
    }
}

/// Whether a program could not be started.
fn is_missing(error: &str) -> bool {
    error.contains("No such file") || error.contains("exec of")
}

fn ping(network: &Network, from: u16, to: u16, what: &'static str, target: &str) -> Trial {
    let words = |count, wait| ["ping", "-q", "-c", count, "-i", "0.1", "-W", wait, target];
    // The first packets wait until addresses are known.
    let _ = network.exec(&network.host(from), &words("2", "1"));
    let said = line_of(&network.exec(&network.host(from), &words("5", "2")), "packet loss");
    let is_well = said.contains(" 0% packet loss");
    Trial { from, to, what, said, is_well }
}

/// The cluster is one router: the host is the second hop.
fn trace(network: &Network, from: u16, to: u16, what: &'static str, target: &str) -> Trial {
    let family = if target.contains(':') { "-6" } else { "-4" };
    // One probe at a time: of many at once, which two workers may put in another order, Linux answers the first six only (ICMPv6's rate limit).
    let words = ["traceroute", family, "-n", "-w", "2", "-q", "1", "-N", "1", target];
    let result = network.exec(&network.host(from), &words);
    let (said, is_well) = match &result {
        Err(error) if is_missing(error) => ("traceroute is not installed".to_owned(), true),
        result => {
            let line = line_of(result, target);
            (format!("hop {}", line.trim()), line.trim_start().starts_with("2 "))
        }
    };
    Trial { from, to, what, said, is_well }
}

fn stream(network: &Network, from: u16, to: u16, what: &'static str, target: &str) -> Result<Trial, String> {
    let server = Command::new("ip")
        .args(["netns", "exec", &network.host(to), "iperf3", "-s", "-1"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let server = Ended(server.map_err(|error| format!("ip: {}", console::reason(&error)))?);
    std::thread::sleep(Duration::from_millis(300));
    let result =
        network.exec(&network.host(from), &["iperf3", "-c", target, "-t", "1", "--connect-timeout", "5000"]);
    drop(server);
    let (said, is_well) = match &result {
        Err(error) if is_missing(error) => ("iperf3 is not installed".to_owned(), true),
        result => {
            let line = line_of(result, "receiver");
            let is_well = line.contains("receiver");
            (line, is_well)
        }
    };
    Ok(Trial { from, to, what, said, is_well })
}

/// A process that does not outlive this.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill(); // it has ended already, or ends now
        let _ = self.0.wait();
    }
}
