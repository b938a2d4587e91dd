//! `click-flatten`.

use super::{CONFIG, check};
use crate::clique;
use expect_test::expect;

/// Directives, definitions, declarations, connections: as Click's tools write them.
#[test]
fn flatten() {
    check(
        clique(&[
            "click-flatten",
            "-e",
            "define($N 7) InfiniteSource(LIMIT $N) -> h :: { -> Counter -> }\n-> Discard",
        ]),
        expect![[r#"
            exit status: 0
            --- output
            define($N 7);

            # 1 "config"
            InfiniteSource@1 :: InfiniteSource(LIMIT $N);
            # 2 "config"
            Discard@3 :: Discard;
            # 1 "config"
            h/Counter@1 :: Counter;
            # 10 ""
            InfiniteSource@1 -> h/Counter@1
                -> Discard@3;
        "#]],
    );
}

/// Variables stay, unless the text would mean something else then when it is read again.
#[test]
fn variables() {
    check(
        clique(&["click-flatten", "-e", CONFIG]),
        expect![[r#"
            exit status: 0
            --- output
            define($N 7);

            # 5 "config"
            InfiniteSource@1 :: InfiniteSource(LIMIT $N);
            # 6 "config"
            Unqueue@3 :: Unqueue;
            # 6 "config"
            t :: Tee(2);
            # 6 "config"
            Discard@5 :: Discard;
            # 7 "config"
            Paint@6 :: Paint("$N");
            # 7 "config"
            Discard@7 :: Discard;
            # 3 "config"
            h/Counter@1 :: Counter(COUNT_CALL 3 q.reset);
            # 3 "config"
            h/q :: Queue(CAPACITY $N);
            # 20 ""
            InfiniteSource@1 -> h/Counter@1
                -> h/q
                -> Unqueue@3
                -> t
                -> Discard@5;
            t [1] -> Paint@6
                -> Discard@7;
        "#]],
    );
    check(
        clique(&[
            "click-flatten",
            "--expand-vars",
            "-e",
            "define($N 7) a :: Idle(${N-1}, $M, \"$N\")",
            "N=5",
        ]),
        expect![[r#"
        exit status: 0
        --- output
        # 1 "config"
        a :: Idle(5, $M, "5");
    "#]],
    );
    check(
        clique(&["click-flatten", "-e", "define($N 7) a :: Idle(${N-1}, $M)", "N=5"]),
        expect![[r#"
        exit status: 0
        --- output
        define($N 5);

        # 1 "config"
        a :: Idle($N, $M);
    "#]],
    );
}

#[test]
fn variables_in_quotes() {
    let text = "elementclass X { $x | Bar(\"$x\") } define($N 7) X($N)";
    check(
        clique(&["click-flatten", "-e", text]),
        expect![[r#"
        exit status: 0
        --- output
        # 1 "config"
        X@1/Bar@1 :: Bar("7");
    "#]],
    );
}

#[test]
fn lists() {
    check(
        clique(&["click-flatten", "-c", "-e", CONFIG]),
        expect![[r#"
        exit status: 0
        --- output
        Counter
        Discard
        InfiniteSource
        Paint
        Queue
        Tee
        Unqueue
    "#]],
    );
    check(
        clique(&["click-flatten", "-n", "-e", CONFIG]),
        expect![[r#"
        exit status: 0
        --- output
        Discard@5
        Discard@7
        InfiniteSource@1
        Paint@6
        Unqueue@3
        h/Counter@1
        h/q
        t
    "#]],
    );
    check(
        clique(&["click-flatten", "--class", "-d", "-e", CONFIG]),
        expect![[r#"
        exit status: 0
        --- output
        Discard@5 :: Discard
        Discard@7 :: Discard
        InfiniteSource@1 :: InfiniteSource
        Paint@6 :: Paint
        Unqueue@3 :: Unqueue
        h/Counter@1 :: Counter
        h/q :: Queue
        t :: Tee
    "#]],
    );
}
