//! `click-check`.

use super::{check, fails};
use crate::clique;
use expect_test::expect;

#[test]
fn check_says() {
    check(
        clique(&["click-check", "-e", "Idle -> Discard"]),
        expect![[r#"
        exit status: 0
        --- messages
        config: configuration OK in userlevel driver
    "#]],
    );
    check(
        clique(&["click-check", "-q", "-e", "Idle -> Discard"]),
        expect![[r#"
        exit status: 0
    "#]],
    );
    check(
        clique(&["click-check", "+u", "-e", "Idle -> Discard(BURST x)"]),
        expect![[r#"
        exit status: 0
    "#]],
    );
    check(
        clique(&["click-check", "--userlevel", "-e", "Idle -> c :: Counter -> c"]),
        expect![[r#"
        exit status: 0
        --- messages
        config: configuration OK in userlevel driver
    "#]],
    );
    check(
        clique(&["click-check", "-pe", "define($A 3) Idle -> Strip($A) -> Discard"]),
        expect![[r#"
        exit status: 0
        --- output
        define($A 3);

        # 1 "config"
        Idle@1 :: Idle;
        # 1 "config"
        Strip@2 :: Strip($A);
        # 1 "config"
        Discard@3 :: Discard;
        # 10 ""
        Idle@1 -> Strip@2
            -> Discard@3;
    "#]],
    );
    fails(
        clique(&["click-check", "-l", "-p", "-e", "Idle -> Discard"]),
        "config: there is no linuxmodule driver here",
    );
    fails(clique(&["click-check", "-e", "Idle -> Nothing"]), "config:1: undeclared element 'Nothing'");
}
