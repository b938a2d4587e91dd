//! What all tools have in common: command lines, files, archives.

use super::{CONFIG, check, fails, misused};
use crate::{clique, clique_in, clique_with};
use expect_test::expect;

/// What is written is read again, to the same text.
#[test]
fn input_and_output() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.click"), CONFIG).unwrap();
    assert_eq!(clique_in(dir.path(), &["click-flatten", "a.click", "-o", "b.click"]), "exit status: 0\n");
    let flat = clique_with(CONFIG, &["click-flatten"]);
    assert_eq!(
        clique_in(dir.path(), &["click-flatten", "-f", "b.click"]),
        flat.replace("<stdin>", "a.click")
    );
    fails(
        clique_in(dir.path(), &["click-flatten", "a.click", "-o", "no/such/file"]),
        "no/such/file: No such file or directory",
    );
}

#[test]
fn mistakes_on_the_command_line_are_named() {
    fails(clique(&["click-flatten", "-e", "a ->"]), "config:1: syntax error near ''");
    check(
        clique(&["click-flatten", "-e", ""]),
        expect![[r#"
        exit status: 0
        --- messages
        config: warning: empty configuration
    "#]],
    );
    fails(clique(&["click-flatten", "no/such.click"]), "no/such.click: No such file or directory");
    fails(
        clique(&["click-flatten", "-e", "", "N=1", "N=2"]),
        "click-flatten: parameter 'N' multiply defined",
    );
    misused(&["click-flatten", "-e", "", "b.click"], "router configuration specified twice");
    misused(&["click-check", "-p", "-o", "x"], "output file specified twice");
    misused(
        &["click-flatten", "--ex"],
        "option '--ex' is ambiguous\n\
         click-flatten: (Possibilities are '--expand-vars' and '--expression'.)",
    );
}

/// The other files of an archive stay in it, unless only the configuration is asked for.
#[test]
fn the_other_files_of_an_archive_stay_in_it() {
    let dir = tempfile::tempdir().unwrap();
    let member = |name: &str, data: &str| {
        let pad = if data.len() % 2 == 1 { "\n" } else { "" };
        format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n{data}{pad}", 1, 2, 3, 644, data.len())
    };
    let (other, config) = (member("elementmap.xml/", "<a/>!"), member("config/", "Idle -> Discard"));
    std::fs::write(dir.path().join("a"), format!("!<arch>\n{other}{config}")).unwrap();
    let flat = clique_in(dir.path(), &["click-flatten", "--config", "a"]);
    check(
        flat.clone(),
        expect![[r#"
        exit status: 0
        --- output
        # 1 "a"
        Idle@1 :: Idle;
        # 1 "a"
        Discard@2 :: Discard;
        # 6 ""
        Idle@1 -> Discard@2;
    "#]],
    );
    assert_eq!(clique_in(dir.path(), &["click-flatten", "a", "-o", "b"]), "exit status: 0\n");
    let written = std::fs::read_to_string(dir.path().join("b")).unwrap();
    assert!(written.starts_with("!<arch>\nconfig/         0"), "{written}");
    assert!(written.ends_with(&other), "{written}");
    assert_eq!(clique_in(dir.path(), &["click-flatten", "--config", "b"]), flat);
}
