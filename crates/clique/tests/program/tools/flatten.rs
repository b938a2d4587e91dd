//! `click-flatten`.

use super::{CONFIG, check};
use crate::clique;
use expect_test::expect;

/// Directives, definitions, declarations, connections: as Click's tools write them.
#[test]
fn every_statement_is_written_as_by_clicks_tools() {
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
fn variables_stay_where_they_mean_the_same() {
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
            t [1] -> Paint@6
                -> Discard@7;
            InfiniteSource@1 -> h/Counter@1
                -> h/q
                -> Unqueue@3
                -> t
                -> Discard@5;
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
fn classes_and_names_are_listed() {
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

/// Components of a compound element in another one stand where it stood, and what leads through compound elements and groups comes
/// after all other connections, those within them included.
#[test]
fn order_of_tools() {
    let config = "s :: Idle -> x :: { input -> a :: { -> p :: Counter -> r :: Paint(2) -> } -> q :: Paint(1) -> output }\n\
        -> d :: Discard; t :: Idle -> ( -> u :: Null -> v :: Null -> ) -> d; w :: Idle -> d";
    check(
        clique(&["click-flatten", "-e", config]),
        expect![[r#"
        exit status: 0
        --- output
        # 1 "config"
        s :: Idle;
        # 2 "config"
        d :: Discard;
        # 2 "config"
        t :: Idle;
        # 2 "config"
        u :: Null;
        # 2 "config"
        v :: Null;
        # 2 "config"
        w :: Idle;
        # 1 "config"
        x/a/p :: Counter;
        # 1 "config"
        x/a/r :: Paint(2);
        # 1 "config"
        x/q :: Paint(1);
        # 20 ""
        w -> d;
        t -> u
            -> v
            -> d;
        s -> x/a/p
            -> x/a/r
            -> x/q
            -> d;
    "#]],
    );
    check(
        clique(&["flatten", "-e", config]),
        expect![[r#"
        exit status: 0
        --- output
        s :: Idle;
        d :: Discard;
        t :: Idle;
        u :: Null;
        v :: Null;
        w :: Idle;
        x/q :: Paint(1);
        x/a/p :: Counter;
        x/a/r :: Paint(2);

        w -> d;
        t -> u
            -> v
            -> d;
        s -> x/a/p
            -> x/a/r
            -> x/q
            -> d;
    "#]],
    );
}
