//! The program called as Click's tools.

mod buildtool;
mod check;
mod combine;
mod flatten;
mod from_xml;
mod line;
mod pass;
mod pretty;
mod undead;
mod xform;
mod xml;

use crate::{clique, text};
use expect_test::Expect;
use std::process::{Command, Stdio};

fn check(found: String, expected: Expect) {
    expected.assert_eq(&found);
}

/// A tool has failed with this message, and written nothing.
fn fails(found: String, message: &str) {
    assert_eq!(found, format!("exit status: 1\n--- messages\n{message}\n"));
}

/// A tool refuses a command line with this message, and says how it is used.
fn misused(arguments: &[&str], message: &str) {
    let tool = arguments[0];
    let usage = format!("Usage: {tool} [OPTION]... [ROUTERFILE]\nTry '{tool} --help' for more information.");
    fails(clique(arguments), &format!("{tool}: {message}\n{usage}"));
}

const CONFIG: &str = "
// Sources count, sinks do not.
elementclass Half { $n | input -> Counter(COUNT_CALL $n q.reset) -> [0] q :: Queue(CAPACITY $N) -> output }
define($N 7)
InfiniteSource(LIMIT $N) -> h :: Half(3)
  -> Unqueue -> t :: Tee(2) -> Discard;
t[1] -> Paint(\"$N\") -> Discard";

const SMALL: &str = "// Two <ways>\nelementclass X { $n | -> Counter -> Strip($n) -> }\n\
    s :: InfiniteSource(DATA \"<&'>\",\n LIMIT 3) -> X(2) -> Queue -> d :: Discard;";

/// The links' names lead to the tools, too.
#[test]
fn each_tool_answers_to_its_name() {
    let dir = tempfile::tempdir().unwrap();
    for tool in [
        "click-flatten",
        "click-check",
        "click-undead",
        "click-pretty",
        "click2xml",
        "click-xform",
        "click-align",
        "click-combine",
        "click-uncombine",
    ] {
        let link = dir.path().join(tool);
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_clique"), &link).unwrap();
        let mut command = Command::new(&link);
        command.args(["--help"]).stdin(Stdio::null()).env("LANG", "C");
        let found = text(command.output().unwrap());
        assert!(
            found.starts_with(&format!("exit status: 0\n--- output\nUsage: {tool} [OPTION]... [ROUTERFILE")),
            "{found}"
        );
        assert!(found.contains("\n      --help  "), "{found}");
        let is_option = |line: &&str| line.trim_start().starts_with('-') && !line.starts_with("---");
        let flush_left: Vec<&str> =
            found.lines().filter(is_option).filter(|line| !line.starts_with("  ")).collect();
        assert_eq!(flush_left, [""; 0], "{tool}");
        assert_eq!(found, clique(&[tool, "--help"]));
    }
}
