//! `clique flatten`, `pretty`, `graph`, `elements`, `man` and `completions`.

use crate::{clique, clique_in, clique_with};
use expect_test::expect;

/// Classes need not exist to be printed.
const COMPOUND: &str =
    "elementclass Twice { $n | input -> X($n) -> X($n) -> output } a :: A -> Twice(3) -> B;";

#[test]
fn flatten_resolves_compound_elements() {
    expect![[r#"
        exit status: 0
        --- output
        a :: A;
        B@3 :: B;
        Twice@2/X@1 :: X(3);
        Twice@2/X@2 :: X(3);

        a -> Twice@2/X@1
            -> Twice@2/X@2
            -> B@3;
    "#]]
    .assert_eq(&clique(&["flatten", "-e", COMPOUND]));
}

#[test]
fn pretty_writes_the_text_in_one_style() {
    let once = clique_with("a::A->  b ::B ;// done\n", &["pretty"]);
    expect![[r#"
        exit status: 0
        --- output
        a :: A -> b :: B; // done
    "#]]
    .assert_eq(&once);
}

#[test]
fn graph_prints_dot_json_and_svg() {
    expect![[r#"
        exit status: 0
        --- output
        digraph click {
          node [shape=record];
          e0 [label="{a\nA|{<o0> 0}}"];
          e1 [label="{{<i0> 0|<i1> 1}|b\nB}"];
          e0:o0 -> e1:i1;
        }
    "#]]
    .assert_eq(&clique(&["graph", "-e", "a :: A -> [1] b :: B"]));
    let json = clique(&["graph", "--format", "json", "-e", COMPOUND]);
    let value: serde_json::Value =
        serde_json::from_str(json.strip_prefix("exit status: 0\n--- output\n").unwrap()).unwrap();
    assert_eq!(value["elements"].as_array().map(Vec::len), Some(4));
    let dir = tempfile::tempdir().unwrap();
    let found = clique_in(dir.path(), &["graph", "--format=svg", "-o", "a.svg", "-e", COMPOUND]);
    assert_eq!(found, "exit status: 0\n");
    assert!(std::fs::read_to_string(dir.path().join("a.svg")).unwrap().starts_with("<svg"));
}

/// The manual's picture is what the program draws: `clique graph --format svg -o docs/src/ip-router.svg conf/ip-router.click`.
#[test]
fn picture_of_the_manual() {
    let root = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let drawn = clique_in(root, &["graph", "--format", "svg", "conf/ip-router.click"]);
    let kept = std::fs::read_to_string(root.join("docs/src/ip-router.svg")).unwrap();
    assert_eq!(drawn, format!("exit status: 0\n--- output\n{kept}"));
}

/// What cannot be read is not printed, lest an output file be spoilt.
#[test]
fn errors_print_nothing() {
    for command in ["flatten", "pretty", "graph"] {
        let found = clique(&[command, "-e", "a :: A -> "]);
        assert!(found.starts_with("exit status: 1\n--- messages\n"), "{command}: {found}");
    }
}

#[test]
fn manual_of_elements() {
    let list = clique(&["elements"]);
    assert!(
        list.lines().any(|line| line.starts_with("Discard ") && line.ends_with(" Drops all packets.")),
        "{list}"
    );
    let page = clique(&["elements", "Discard"]);
    for part in ["DISCARD\n\nDrops all packets.\n", "\n    Discard([KEYWORDS])\n", "\nHANDLERS\n"] {
        assert!(page.contains(part), "{page}");
    }
    for foreign in ["//!", "```", "use "] {
        assert!(!page.contains(foreign), "{page}");
    }
    expect![[r#"
        exit status: 2
        --- messages
        unknown element class 'Discrad'; did you mean 'Discard'?
    "#]]
    .assert_eq(&clique(&["elements", "Discrad"]));
}

#[test]
fn manual_for_programs() {
    let json = |arguments: &[&str]| -> serde_json::Value {
        let printed = clique(arguments);
        serde_json::from_str(printed.strip_prefix("exit status: 0\n--- output\n").unwrap()).unwrap()
    };
    let class = json(&["elements", "--json", "Tee"]);
    assert_eq!(class["ports"], "1/1-");
    assert_eq!(class["residency"], "replicated");
    assert!(class["manual"].as_str().is_some_and(|manual| manual.starts_with("TEE\n")), "{class}");
    let all = json(&["elements", "--json"]);
    assert!(all.as_array().is_some_and(|all| all.contains(&class)), "{all}");
}

/// Every class of the library has a manual page with a summary, and shows how it is written (perhaps on the page of a
/// class that it is a kind of).
#[test]
fn every_class_has_a_page() {
    let list = clique(&["elements"]);
    for line in list.lines().skip(2) {
        let (class, summary) = line.split_once(' ').unwrap();
        assert!(summary.trim().ends_with('.'), "{line}");
        let page = clique(&["elements", class]);
        assert!(page.contains("\n    "), "{page}");
    }
}

#[cfg(feature = "pages")]
#[test]
fn pages_and_completions() {
    for (arguments, part) in [
        (&["man"][..], "completions"),
        (&["man", "run"], "\\fB\\-\\-simtime\\fR"),
        (&["completions", "bash"], "--simtime"),
        (&["completions", "fish"], "simtime"),
        (&["completions", "zsh"], "--simtime"),
    ] {
        let found = clique(arguments);
        assert!(found.starts_with("exit status: 0\n") && found.contains(part), "{arguments:?}: {found}");
    }
    assert!(clique(&["man", "walk"]).starts_with("exit status: 2\n"));
}
