//! A storm over handlers: a router's twin has all of its handlers written, with whatever comes.
//!
//! The twin is built as the router is, and is on no link. Whatever is written to it, it must not panic, and no packet may get lost without
//! being counted.

use crate::machine::Machine;
use fastrand::Rng;

/// What is written, beside the names of things.
const VALUES: [&str; 16] = [
    "",
    "0",
    "1",
    "-1",
    "7",
    "true",
    "false",
    "255",
    "65536",
    "4294967296",
    "18446744073709551615",
    "1e308",
    "10.0.0.1",
    "10.0.0.0/8 10.0.0.1 0",
    "a b c, d",
    "\\<00>\u{e9}\t\"",
];
/// Handlers that are written, at most.
const WRITES: usize = 200;
/// Rounds of work between two writes, and at the end.
const ROUNDS: [usize; 2] = [2, 1_000];

/// What is wrong with a router's twin after a storm.
pub fn rage(machine: &Machine, config: &str, seed: u32) -> Vec<String> {
    let mut twin = match machine.twin(config) {
        Ok(twin) => twin,
        Err(error) => return vec![format!("the twin of '{}' does not start: {error}", machine.name)],
    };
    let mut rng = Rng::with_seed(u64::from(seed));
    let mut paths = twin.writable();
    rng.shuffle(&mut paths);
    let (frames, mut wrong) = (machine.frames().collect::<Vec<_>>(), Vec::new());
    for path in paths.into_iter().take(WRITES) {
        let value = VALUES[rng.usize(..VALUES.len())];
        // Whether it is taken is its own matter.
        let _ = twin.write(&path, value);
        if let Some((port, frame)) = frames.get(rng.usize(..frames.len().max(1))) {
            twin.receive(*port, frame);
        }
        twin.work(ROUNDS[0]);
        twin.sent(|_, _| {});
    }
    twin.work(ROUNDS[1]);
    twin.sent(|_, _| {});
    let balance = twin.router().balance().check();
    wrong.extend(balance.err().into_iter().flatten().map(|fault| format!("after a storm {fault}")));
    wrong.extend(twin.end());
    wrong
}
