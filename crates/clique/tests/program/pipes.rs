//! Named pipes whose other ends no program opens, wherever a configuration names a file: no run waits for them for ever, and none waits long.

use super::{program, text};
use std::process::Command;
use std::time::{Duration, Instant};

/// Files that are read, and files that are written.
const FILES: [&str; 16] = [
    "Idle -> ToDump(PIPE)",
    "Idle -> IPPrint(OUTFILE PIPE) -> Discard",
    "Idle -> ToIPSummaryDump(PIPE)",
    "Idle -> ToMinDump(PIPE)",
    "Idle -> AggregateIPFlows(TRACEINFO PIPE) -> Discard",
    "Idle -> ARPPrint(OUTFILE PIPE) -> Discard",
    "InfiniteSource(LIMIT 1) -> CounterFile(PIPE) -> Discard",
    "FromDump(PIPE) -> Discard",
    "FromIPSummaryDump(PIPE) -> Discard",
    "Idle -> FlowHyperScan(FILE PIPE) -> Discard",
    "Idle -> ESPDecap(256, KEYFILE PIPE) -> Discard",
    "v :: VLBNode(0, 2, KEYFILE PIPE); Idle -> v -> Discard; Idle -> [1] v [1] -> Discard",
    "v :: VLBNode(0, 2, KEY \"k\", ROSTER PIPE); Idle -> v -> Discard; Idle -> [1] v [1] -> Discard",
    "Script(print $(cat PIPE))",
    "Script(print >PIPE words)",
    "require(library PIPE); Idle -> Discard",
];

#[test]
fn no_run_waits_for_a_named_pipe() {
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("pipe");
    if !Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success()) {
        return eprintln!("skipped: mkfifo makes no pipe here");
    }
    let pipe = pipe.to_str().expect("text");
    for file in FILES {
        let began = Instant::now();
        let configuration = format!("{}; DriverManager(wait 0.1s, stop)", file.replace("PIPE", pipe));
        let answer = text(program(&["run", "-e", &configuration]).output().expect("a start"));
        assert!(began.elapsed() < Duration::from_secs(30), "{file}: {:?}\n{answer}", began.elapsed());
        // Another failure would mean that nothing was tried; only a file of counts, which is written and read, is as good as any.
        let is_told = answer.contains("no program reads") || answer.contains("no program writes");
        assert!(is_told || file.contains("CounterFile") || file.contains("require"), "{file}: {answer}");
    }
}
