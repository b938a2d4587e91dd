//! Tests that run the program as its users do, and look at what it says.

#[cfg(feature = "http")]
mod api;
mod check;
mod click;
mod cluster;
mod control;
mod demo;
mod drops;
mod explain;
mod exposition;
mod interrupts;
mod metrics;
mod monitoring;
mod new;
mod pipes;
mod print;
mod reload;
mod routes;
mod run;
mod service;
mod tools;
mod upgrade;
mod watchdog;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// A command that runs the program with these arguments, in an environment without settings of the user. It is killed if it hangs.
fn program(arguments: &[&str]) -> Command {
    watchdog::start();
    let mut command = Command::new(env!("CARGO_BIN_EXE_clique"));
    command
        .args(arguments)
        .stdin(Stdio::null())
        .env_remove("CLICKPATH")
        .env_remove("STATE_DIRECTORY")
        // No router of a test is found by another one.
        .env("XDG_RUNTIME_DIR", "/nonexistent")
        .env("LANG", "C")
        .env("COLUMNS", "100");
    command
}

/// Runs the program; its exit status, output and messages as one text.
fn clique(arguments: &[&str]) -> String {
    text(program(arguments).output().expect("the program can be started"))
}

/// Runs the program in a directory.
fn clique_in(directory: &Path, arguments: &[&str]) -> String {
    text(program(arguments).current_dir(directory).output().expect("the program can be started"))
}

/// Runs the program with a text on standard input.
fn clique_with(input: &str, arguments: &[&str]) -> String {
    let mut child = program(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program can be started");
    let mut stdin = child.stdin.take().expect("it was piped");
    // The program may end without reading all.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    text(child.wait_with_output().expect("the program can be awaited"))
}

/// What a run came to, for comparison with what is expected.
fn text(output: Output) -> String {
    let status = output.status.code().map_or_else(|| output.status.to_string(), |code| code.to_string());
    let mut text = format!("exit status: {status}\n");
    for (name, bytes) in [("output", output.stdout), ("messages", output.stderr)] {
        if !bytes.is_empty() {
            let lines = String::from_utf8(bytes).expect("all output is UTF-8");
            // No editor keeps blanks at the ends of lines.
            let lines: String = lines.lines().map(|line| format!("{}\n", line.trim_end())).collect();
            text.push_str(&format!("--- {name}\n{}", without_times(&lines)));
        }
    }
    text
}

/// A log of `clique run` without what is different each time: lines begin with the word TIME.
fn without_times(log: &str) -> String {
    let untimed = |line: &str| match line.split_once("Z ") {
        Some((time, rest)) if is_time(time) => format!("TIME {rest}\n"),
        _ => format!("{line}\n"),
    };
    log.lines().map(untimed).collect()
}

/// Whether this is a time in milliseconds (RFC 3339), without the zone.
fn is_time(text: &str) -> bool {
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    shape == "0000-00-00T00:00:00.000"
}

/// Leaves out why an argument is wrong, which is its type's business.
fn without_reasons(text: String) -> String {
    let cut = |line: &str| match ["LIMIT: ", "BURST: "].iter().find_map(|name| line.find(name)) {
        Some(at) => format!("{}...\n", &line[..at + "LIMIT: ".len()]),
        None => format!("{line}\n"),
    };
    text.lines().map(cut).collect()
}
