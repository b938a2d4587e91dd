//! `click-xform`.

use super::{check, fails};
use crate::clique_in;
use expect_test::expect;

#[test]
fn patterns_of_a_file_are_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    write("c.click", "define($N 4)\nIdle -> Meter(1000) -> q :: Queue($N) -> Discard");
    write(
        "p.click",
        "elementclass M { $kept |\n input -> Meter($kept)\n -> Queue($n) -> output }
         elementclass M_Replacement { input -> Queue($n)\n -> Shaper($n, $kept) -> output }
         elementclass Unpaired { input -> output }",
    );
    write("e.click", "elementclass E { -> Idle -> } elementclass E_Replacement { -> Idle -> ");
    let run = |arguments: &[&str]| clique_in(dir.path(), &[&["click-xform"], arguments].concat());
    let after = run(&["c.click", "p.click"]);
    check(
        after.clone(),
        expect![[r#"
        exit status: 0
        --- output
        define($N 4);

        # 2 "c.click"
        Idle@1 :: Idle;
        # 2 "c.click"
        Discard@4 :: Discard;
        # 4 "p.click"
        M@1/Queue@1 :: Queue($N);
        # 5 "p.click"
        M@1/Shaper@2 :: Shaper($N, 1000);
        # 12 ""
        Idle@1 -> M@1/Queue@1
            -> M@1/Shaper@2
            -> Discard@4;
    "#]],
    );
    assert_eq!(run(&["-p", "p.click", "-f", "c.click"]), after);
    assert_eq!(run(&["c.click", "p.click", "-o", "after.click"]), "exit status: 0\n");
    check(
        run(&["-r", "after.click", "p.click"]),
        expect![[r#"
        exit status: 0
        --- output
        define($N 4);

        # 2 "c.click"
        Idle@1 :: Idle;
        # 2 "c.click"
        Discard@4 :: Discard;
        # 2 "p.click"
        M@2/Meter@1 :: Meter(1000);
        # 3 "p.click"
        M@2/Queue@2 :: Queue($N);
        # 12 ""
        Idle@1 -> M@2/Meter@1
            -> M@2/Queue@2
            -> Discard@4;
    "#]],
    );
    write(
        "two.click",
        "elementclass A { input -> Counter -> output } elementclass A_Replacement { input -> Paint(1) -> output }
         elementclass B { input -> Null -> output } elementclass B_Replacement { input -> Paint(2) -> output }",
    );
    check(
        run(&["-r", "-p", "two.click", "-e", "Idle -> Paint(2) -> Discard"]),
        expect![[r#"
            exit status: 0
            --- output
            # 1 "config"
            Idle@1 :: Idle;
            # 1 "config"
            Discard@3 :: Discard;
            # 2 "two.click"
            A@1/Null@1 :: Null;
            # 8 ""
            Idle@1 -> A@1/Null@1
                -> Discard@3;
        "#]],
    );
    check(
        run(&["-e", "a :: Idle"]),
        expect![[r#"
        exit status: 0
        --- output
        # 1 "config"
        a :: Idle;
        --- messages
        warning: no patterns read
    "#]],
    );
    fails(run(&["-e", "a :: Idle", "e.click"]), "e.click:1: expected '}'");
}
