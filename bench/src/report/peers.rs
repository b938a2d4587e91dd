//! Other programs with Click's command line on the configuration of the SOSP paper, in turns with ours.
//!
//! A program runs the configuration for some packets and for twice as many; the difference is what packets take, without its start. A Queue that
//! overflows flatters its program, so a run in which a packet was dropped is an error.

use super::depth::Depth;
use crate::rcu::Spread;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// A program, and what the report calls it.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    name: String,
    command: String,
}

impl std::str::FromStr for Peer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((name, command)) if !name.is_empty() && !command.trim().is_empty() => {
                Ok(Peer { name: name.to_owned(), command: command.to_owned() })
            }
            _ => Err("expected NAME=COMMAND, as in click=/usr/local/bin/click".to_owned()),
        }
    }
}

impl std::fmt::Display for Peer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}={}", self.name, self.command)
    }
}

/// As shipped.
const CONFIGURATION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../conf/fake-iprouter.click");
const BURSTS: [u32; 2] = [32, 1];

/// Measures all peers, and this repository's program if it was built.
pub(super) fn run(depth: Depth, peers: &[Peer]) -> Result<Value, String> {
    let (rounds, packets) = match depth {
        Depth::Tiny => (1, 20_000),
        Depth::Quick => (3, 2_000_000),
        Depth::Full => (9, 5_000_000),
    };
    let ours = super::programs::router().map(|clique| {
        // Under Click's name packets come one at a time, for the order of effects that Click has.
        [("clique", "run"), ("clique as click", "click")].map(|(name, command)| Peer {
            name: name.to_owned(),
            command: format!("{} {command}", clique.display()),
        })
    });
    let all: Vec<&Peer> = ours.iter().flatten().chain(peers).collect();
    if all.is_empty() {
        return Err("no peers: name one with --peer, and build clique beside this program".to_owned());
    }
    let mut took = vec![Vec::new(); all.len() * BURSTS.len()];
    for _ in 0..rounds {
        for (at, (peer, burst)) in all.iter().flat_map(|peer| BURSTS.map(|burst| (peer, burst))).enumerate() {
            let (once, twice) = (time(peer, burst, packets)?, time(peer, burst, 2 * packets)?);
            took[at].push((twice - once) * 1e9 / packets as f64);
        }
    }
    let of = |at: usize| &took[at];
    let figures: Vec<Value> = all
        .iter()
        .enumerate()
        .flat_map(|(number, peer)| {
            BURSTS.iter().enumerate().map(move |(b, burst)| {
                json!({
                    "name": peer.name, "burst": burst, "ns": Spread::of(of(number * BURSTS.len() + b)),
                    "to_first": Spread::of_ratios(of(number * BURSTS.len() + b), of(b)),
                })
            })
        })
        .collect();
    Ok(json!({ "figures": figures, "rounds": rounds, "packets": packets }))
}

/// Seconds from start to end.
fn time(peer: &Peer, burst: u32, packets: u64) -> Result<f64, String> {
    let mut words = peer.command.split_ascii_whitespace();
    let program = words.next().unwrap_or_default();
    let begin = Instant::now();
    let output = Command::new(program)
        .args(words)
        .args(["-h", "d.count", "-h", "q.drops", CONFIGURATION])
        .args([format!("BURST={burst}"), format!("LIMIT={packets}")])
        .output()
        .map_err(|e| format!("{program}: {e}"))?;
    let seconds = begin.elapsed().as_secs_f64();
    let said = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(format!("{}: {}", peer.name, String::from_utf8_lossy(&output.stderr)));
    }
    // Handlers are printed with their name on a line of its own, or after a colon.
    let numbers: Vec<u64> = said.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect();
    match numbers[..] {
        [count, 0] if count == packets => Ok(seconds),
        _ => Err(format!(
            "{}: {packets} packets were sent; d.count and q.drops say '{}' in {}",
            peer.name,
            said.trim().replace('\n', " "),
            Path::new(CONFIGURATION).display()
        )),
    }
}
