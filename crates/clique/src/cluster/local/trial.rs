//! Hosts that try a cluster.

use super::network::{Network, address};
use crate::console;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Lets every host ping its right neighbour, one trace its way to another and one send to another as fast as it can; prints what
/// they say. Whether all went well.
pub(super) fn run(network: &Network, nodes: u16) -> Result<bool, String> {
    let (mut all_well, last) = (true, nodes - 1);
    for node in 0..nodes {
        all_well &= ping(network, node, (node + 1) % nodes);
    }
    all_well &= trace(network, 0, last);
    all_well &= stream(network, 0, last)?;
    Ok(all_well)
}

fn say(from: u16, to: u16, what: &str) {
    console::complain(&format!("host {from} to host {to}: {}\n", what.trim()));
}

/// A line of what a program prints, or what went wrong.
fn line_of(result: &Result<String, String>, part: &str) -> String {
    match result {
        Ok(text) => text.lines().rfind(|line| line.contains(part)).unwrap_or("nothing").to_owned(),
        Err(error) => error.clone(),
    }
}

fn ping(network: &Network, from: u16, to: u16) -> bool {
    let target = address(to, 2);
    let words = |count, wait| ["ping", "-q", "-c", count, "-i", "0.1", "-W", wait, target.as_str()];
    // The first packets wait until addresses are known.
    let _ = network.exec(&network.host(from), &words("2", "1"));
    let said = network.exec(&network.host(from), &words("5", "2"));
    let line = line_of(&said, "packet loss");
    say(from, to, &line);
    line.contains(" 0% packet loss")
}

/// The cluster is one router: the host is the second hop.
fn trace(network: &Network, from: u16, to: u16) -> bool {
    let said =
        network.exec(&network.host(from), &["traceroute", "-n", "-w", "2", "-q", "1", &address(to, 2)]);
    match &said {
        Err(error) if error.contains("No such file") || error.contains("exec of") => {
            say(from, to, "traceroute is not installed");
            true
        }
        said => {
            let line = line_of(said, &address(to, 2));
            say(from, to, &format!("hop {}", line.trim()));
            line.trim_start().starts_with("2 ")
        }
    }
}

fn stream(network: &Network, from: u16, to: u16) -> Result<bool, String> {
    let server = Command::new("ip")
        .args(["netns", "exec", &network.host(to), "iperf3", "-s", "-1"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let server = Ended(server.map_err(|error| format!("ip: {}", console::reason(&error)))?);
    std::thread::sleep(Duration::from_millis(300));
    let said = network.exec(&network.host(from), &["iperf3", "-c", &address(to, 2), "-t", "1"]);
    drop(server);
    match &said {
        Err(error) if error.contains("No such file") || error.contains("exec of") => {
            say(from, to, "iperf3 is not installed");
            Ok(true)
        }
        said => {
            let line = line_of(said, "receiver");
            say(from, to, &line);
            Ok(line.contains("receiver"))
        }
    }
}

/// A process that does not outlive this.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill(); // it has ended already, or ends now
        let _ = self.0.wait();
    }
}
