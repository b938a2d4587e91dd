//! `click-check`.

use super::{check, fails};
use crate::clique;
use expect_test::expect;

#[test]
fn check_says_whether_a_configuration_is_good() {
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
    check(
        clique(&["click-check", "-p", "-e", "Idle -> Nothing; Nothing(x) -> Discard"]),
        expect![[r#"
        exit status: 0
        --- output
        # 1 "config"
        Idle@1 :: Idle;
        # 1 "config"
        Nothing@2 :: Nothing;
        # 1 "config"
        Nothing@3 :: Nothing(x);
        # 1 "config"
        Discard@4 :: Discard;
        # 10 ""
        Idle@1 -> Nothing@2;
        Nothing@3 -> Discard@4;
        --- messages
        config:1: warning: unknown element class 'Nothing'
    "#]],
    );
}

#[test]
fn mistakes_with_ports_are_told_in_clicks_words() {
    let config = "c :: Counter; Idle -> c;\nc -> Discard; c -> Discard; c [1] -> d :: Discard;
        Idle -> Queue -> Queue -> Discard; q :: Queue; i :: Idle -> [1] u :: Union -> [2] s :: RoundRobinSched -> q;
        q -> p :: Print -> [1] t :: Tee; p -> Discard; r :: RoundRobinSwitch => n :: Nonesuch, Unqueue -> Unqueue -> Discard;
        Queue -> n [1] -> Discard; Idle -> f :: { input[0] -> Null -> output; input[1] -> Print -> [1] output } -> Discard;
        Idle -> [1] f [1] -> Discard; t [1] -> Discard;
        a :: { input -> Queue -> z :: PullNull -> output; Idle -> z } -> Discard; Idle -> a";
    check(
        clique(&["click-check", "-e", config]),
        expect![[r#"
        exit status: 1
        --- messages
        config:3: warning: unknown element class 'Union'
        config:4: warning: unknown element class 'Nonesuch'
        config:3: 'Queue@7' pull output 0 connected to 'Queue@8' push input 0
        config:3: 's' pull output 0 connected to 'q' push input 0
        config:4: 'r' push output 1 connected to 'Unqueue@19' pull input 0
        config:4: 'Unqueue@19' push output 0 connected to 'Unqueue@20' pull input 0
        config:5: 'Queue@22' pull output 0 connected to 'n' push input 0
        config:4: agnostic 'p' in mixed context: pull input 0, push output 0
        config:4: agnostic 'n' in mixed context: push input 0, pull output 0
        config:2: illegal reuse of 'c' push output 0
        config:2: 'c' output 0 previously used here
        config:4: illegal reuse of 'p' push output 0
        config:4: 'p' output 0 previously used here
        config:7: illegal reuse of 'a/z' pull input 0
        config:7: 'a/z' input 0 previously used here
        config:1: too many outputs for 'c', 1 allowed
        config:2: 'c' output 1 used here
        config:3: 'u' pull input 0 not connected
        config:3: 's' pull input 0 not connected
        config:3: 's' pull input 1 not connected
        config:4: too many inputs for 't', 1 allowed
        config:4: 't' input 1 used here
        config:4: 't' push input 0 not connected
        config:4: 't' push output 0 not connected
        config:4: too few inputs for 'r', 1 required
        config:5: too few inputs for 'Queue@22', 1 required
    "#]],
    );
}
