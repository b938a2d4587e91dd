//! click-buildtool: what scripts ask it.

use super::check;
use crate::{clique, clique_in, clique_with};
use expect_test::expect;
use std::collections::HashSet;
use std::path::Path;

/// Scripts ask which element classes and features there are, and look at the status.
#[test]
fn provides_answers_by_its_status() {
    let status = |arguments: &[&str]| {
        let found = clique(&[&["click-buildtool", "provides"], arguments].concat());
        assert!(!found.contains("---"), "{arguments:?}: {found}");
        found.starts_with("exit status: 0")
    };
    for there in [
        &[][..],
        &["IPRewriter"],
        &["userlevel", "ip6 Queue", "umultithread"],
        &["-r", "x y", "y", "x"],
        &["-rx", "x"],
    ] {
        assert!(status(there), "{there:?}");
    }
    for missing in [&["UMLSwitch"][..], &["Queue", "ipsec"], &["Queue linuxmodule"], &["wifi"], &["queue"]] {
        assert!(!status(missing), "{missing:?}");
    }
    check(
        clique(&["click-buildtool", "provides", "-l", "Tee"]),
        expect![[r#"
        exit status: 0
        --- output
        1
    "#]],
    );
    check(
        clique(&["click-buildtool", "provides", "Tee", "--print", "Broadcast"]),
        expect![[r#"
        exit status: 1
        --- output
        0
    "#]],
    );
    let all = clique(&["click-buildtool", "provides", "-q", "-r", "zebra"]);
    let lines: Vec<&str> = all.lines().skip(2).collect();
    assert!(
        lines.is_sorted()
            && ["ARPQuerier", "ControlSocket", "int64", "zebra"].iter().all(|name| lines.contains(name)),
        "{all}"
    );
}

/// Features have names that no class has.
#[test]
fn features_are_no_classes() {
    let listed = clique(&["elements"]);
    let classes: HashSet<&str> = listed.lines().skip(2).filter_map(|line| line.split(' ').next()).collect();
    let all = clique(&["click-buildtool", "provides", "-q"]);
    let mut features: Vec<&str> = all.lines().skip(2).filter(|name| !classes.contains(name)).collect();
    features.retain(|name| *name != std::env::consts::ARCH);
    assert_eq!(features, ["analysis", "batch", "flow", "int64", "ip6", "linux", "umultithread", "userlevel"]);
}

/// Requirements from standard input, and features of an element map.
#[test]
fn provides_from_files() {
    check(
        clique_with("Tee\n Queue\tDiscard\n", &["click-buildtool", "provides", "-", "-l", "Idle"]),
        expect![[r#"
        exit status: 0
        --- output
        1
    "#]],
    );
    check(
        clique_with("Tee Nonsense", &["click-buildtool", "provides", "-l", "-"]),
        expect![[r#"
        exit status: 1
        --- output
        0
    "#]],
    );
    let directory = tempfile::tempdir().unwrap();
    let map = "<?xml version=\"1.0\"?>\n<elementmap package=\"p\" provides=\"userlevel linuxmodule much\">\n\
               <entry name=\"Foo\" cxxclass=\"Bar\" provides=\"more things\" />\n</elementmap>\n";
    std::fs::write(directory.path().join("map.xml"), map).unwrap();
    let ask = |arguments: &[&str]| {
        clique_in(directory.path(), &[&["click-buildtool", "provides", "-l"], arguments].concat())
    };
    assert_eq!(ask(&["-e", "map.xml", "Foo", "much", "more", "things"]), "exit status: 0\n--- output\n1\n");
    for missing in ["Bar", "linuxmodule", "p"] {
        assert_eq!(ask(&["--elementmap=map.xml", missing]), "exit status: 1\n--- output\n0\n", "{missing}");
    }
    check(
        ask(&["-emissing.xml", "Tee"]),
        expect![[r#"
        exit status: 0
        --- output
        1
        --- messages
        click-buildtool: missing.xml: No such file or directory
    "#]],
    );
}

/// What else click-buildtool can do: little.
#[test]
fn buildtool_tells_its_prefix_and_builds_nothing() {
    let prefix = clique(&["click-buildtool", "prefix"]);
    let program = Path::new(env!("CARGO_BIN_EXE_clique"));
    let above = program.parent().and_then(Path::parent).unwrap();
    assert_eq!(prefix, format!("exit status: 0\n--- output\n{}\n", above.display()));
    check(
        clique(&["click-buildtool", "findelem"]),
        expect![[r#"
        exit status: 1
        --- messages
        click-buildtool: cannot build packages in C++: write elements in Rust, as docs/src/write-an-element.md shows
    "#]],
    );
    for wrong in [
        &[][..],
        &["-q"],
        &["-q", "provides"],
        &["provide"],
        &["prefix", "-q"],
        &["provides", "-x"],
        &["provides", "-V"],
    ] {
        let found = clique(&[&["click-buildtool"], wrong].concat());
        assert!(
            found.starts_with("exit status: 1\n--- messages\nclick-buildtool: ") && found.contains("Usage: "),
            "{wrong:?}: {found}"
        );
    }
    assert!(
        clique(&["click-buildtool", "-h"])
            .starts_with("exit status: 0\n--- output\nUsage: click-buildtool provides ")
    );
}
