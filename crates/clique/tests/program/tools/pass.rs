//! Tools that have little to do for the router here, or nothing.

use super::{check, fails};
use crate::clique;
use expect_test::expect;

#[test]
fn align() {
    check(
        clique(&["click-align", "-V", "-e", "FromDump(x) -> CheckIPHeader -> Discard"]),
        expect![[r#"
            exit status: 0
            --- output
            # 1 "config"
            FromDump@1 :: FromDump(x);
            # 1 "config"
            CheckIPHeader@2 :: CheckIPHeader;
            # 1 "config"
            Discard@3 :: Discard;
            # 0 "<click-align>"
            Align@click_align@4 :: Align(4, 0);
            # 0 "<click-align>"
            AlignmentInfo@click_align@5 :: AlignmentInfo(CheckIPHeader@2  4 0);
            # 12 ""
            FromDump@1 -> Align@click_align@4
                -> CheckIPHeader@2
                -> Discard@3;
            --- messages
            CheckIPHeader@2 [0]: adding Align(4, 0) to fix EMPTY
            warning: added 1 Align element
        "#]],
    );
    check(
        clique(&["click-align", "--assertions", "-e", "Idle"]),
        expect![[r#"
        exit status: 0
        --- output
        # 1 "config"
        Idle@1 :: Idle;
    "#]],
    );
}

/// What makes nothing but speed passes a configuration through; what makes C++ or needs the kernel's module says so.
#[test]
fn compilers() {
    check(
        clique(&["click-fastclassifier", "-u", "-e", "Idle -> Classifier(12/0800) -> Discard"]),
        expect![[r#"
        exit status: 0
        --- output
        # 1 "config"
        Idle@1 :: Idle;
        # 1 "config"
        Classifier@2 :: Classifier(12/0800);
        # 1 "config"
        Discard@3 :: Discard;
        # 8 ""
        Idle@1 -> Classifier@2
            -> Discard@3;
        --- messages
        click-fastclassifier: note: nothing to do, the configuration is written as it is
    "#]],
    );
    check(
        clique(&["click-devirtualize", "-n", "Idle", "--reverse", "-e", "Idle"]),
        expect![[r#"
        exit status: 0
        --- output
        # 1 "config"
        Idle@1 :: Idle;
    "#]],
    );
    fails(
        clique(&["click-fastclassifier", "-s", "-e", "Idle"]),
        "click-fastclassifier: there is no source code to print: elements are compiled into the program",
    );
    fails(
        clique(&["click-devirtualize", "-k", "-e", "Idle"]),
        "click-devirtualize: there is no kernel module here: run the configuration with 'click'",
    );
    for tool in ["click-mkmindriver", "click-install", "click-uninstall"] {
        let found = clique(&[tool]);
        assert!(found.starts_with(&format!("exit status: 1\n--- messages\n{tool}: ")), "{found}");
        assert!(
            clique(&[tool, "--help"]).starts_with(&format!("exit status: 0\n--- output\nUsage: {tool} "))
        );
    }
}
