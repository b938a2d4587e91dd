//! `bench/cluster-alarms.awk` tells right alarms from false ones.

use std::io::Write;
use std::process::{Command, Stdio};

/// What it says of notes, with a hold time of 50 ms and hellos every 2 ms.
fn judge(notes: &str) -> String {
    judge_with("list=0", notes)
}

fn judge_with(variable: &str, notes: &str) -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/cluster-alarms.awk");
    let mut awk = Command::new("awk")
        .args(["-v", "hold=50", "-v", "hello=2", "-v", variable, "-f", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("awk is installed");
    awk.stdin.take().expect("piped").write_all(notes.as_bytes()).expect("it reads");
    String::from_utf8(awk.wait_with_output().expect("it ends").stdout).expect("text")
}

fn expected(right: u32, wrong: u32, forgotten: u32) -> String {
    format!(
        "\"alarms\": {}, \"right_alarms\": {right}, \"false_alarms\": {wrong}, \"forgotten_notes\": {forgotten}",
        right + wrong
    )
}

/// Right is who gives up a node that sent nothing behind the last hello heard and had no processor meanwhile for 48 ms.
#[test]
fn right_and_false() {
    let alarm = "alarm 0 1 1060000 2 700\n";
    for (pause, is_right) in [
        ("pause 2 1 1000000 1048000 0 700\n", true),
        ("pause 2 1 1000000 2000000 900000 701\n", true),
        ("pause 2 1 1000000 1047000 0 700\n", false), // too short
        ("pause 2 1 1000000 1060000 30000 700\n", false), // it ran
        ("pause 2 1 1000000 1060000 0 699\n", false), // a hello that came after it was heard
        ("pause 2 1 1060001 1200000 0 700\n", false), // later
        ("pause 0 1 1000000 1060000 0 700\n", false), // the accuser
        ("", false),
    ] {
        let (right, wrong) = if is_right { (1, 0) } else { (0, 1) };
        // Notes are read over and over.
        assert_eq!(judge(&[pause, alarm, pause, alarm].concat()), expected(right, wrong, 0), "{pause}");
    }
}

/// Notes that are missing, by their numbers, are told.
#[test]
fn missing_notes_are_counted() {
    assert_eq!(judge(""), expected(0, 0, 0));
    let notes = "pause 1 3 1 60001 0 5\npause 1 4 70000 130000 0 9\nalarm 3 2 100000 1 9\n";
    assert_eq!(judge(notes), expected(1, 0, 3));
}

/// A machine may have run for long: microseconds need more than 31 bits. What was before does not matter if one says so.
#[test]
fn alarms_are_listed_also_after_a_long_uptime() {
    let notes = "pause 2 1 5364826688 5364997515 1137 4128\nalarm 0 1 5364905972 2 4128\n";
    assert_eq!(
        judge_with("list=1", notes),
        "right: at 5364905972 us node 0 gave up node 2, which did not run for 169690 us\n"
    );
    assert_eq!(judge_with("since=5364905973", notes), expected(0, 0, 0));
}
