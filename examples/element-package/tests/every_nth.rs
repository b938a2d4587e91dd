//! What the element does, seen through the program.

use std::process::Command;

fn clique(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_element-package")).args(arguments).output().expect("it starts");
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

#[test]
fn one_of_three_packets_passes() {
    let config = "InfiniteSource(LIMIT 10, STOP true) -> e :: EveryNth(3) -> c :: Counter -> Discard";
    let read = clique(&["run", "--simtime", "-e", config, "-h", "c.count", "-h", "e.drop_reasons"]);
    assert!(read.contains("c.count:\n3\n") && read.contains("7\tnot the n-th"), "{read}");
}

#[test]
fn wrong_arguments_are_refused_with_their_place() {
    let said = clique(&["check", "-e", "Idle -> EveryNth(0) -> Discard"]);
    assert!(said.contains("N must be at least 1") && said.contains("EveryNth(0)"), "{said}");
}

#[test]
fn the_program_has_its_manual() {
    assert!(clique(&["elements", "EveryNth"]).contains("Passes every n-th packet"));
}
