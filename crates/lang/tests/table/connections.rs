//! Connections: ports, lists, groups.

use crate::check;
use expect_test::expect;

#[test]
fn port_lists() {
    check(
        "c :: Classifier(1, 2, -); a, b :: Null; c [0,1] => a, b; c[2] -> Discard; Idle -> c; x :: Tee; a -> x; b -> x; x [0, 1] => [1, 0] y :: Foo",
        expect![[r#"
            c :: Classifier(1, 2, -);
            a :: Null;
            b :: Null;
            Discard@4 :: Discard;
            Idle@5 :: Idle;
            x :: Tee;
            y :: Foo;

            Idle@5 -> c
                -> a
                -> x
                -> [1] y;
            c [1] -> b
                -> x;
            c [2] -> Discard@4;
            x [1] -> y;
        "#]],
    );
}

#[test]
fn ranges_of_ports() {
    check(
        "a, b :: A; a [0-2] => [1, 3-4] b; a [5-] => [7-8] b; a [9-8] -> b; a [0-1-2] -> b; a [-1] -> b",
        expect![[r#"
            a :: A;
            b :: A;
            2@3 :: 2;
            1@4 :: 1;

            a [9] -> b;
            a -> [1] b;
            a [1] -> [3] b;
            a [2] -> [4] b;
            a [5] -> [7] b;
            a [6] -> [8] b;
            config:1: syntax error: expected ','
            config:1: syntax error: expected port number
            config:1: syntax error near '-'
            config:1: output ports ignored at end of chain
            config:1: syntax error near ']'
            config:1: syntax error near '->'
            config:1: syntax error: expected port number
            config:1: syntax error near '-'
            config:1: syntax error near ']'
            config:1: syntax error near '->'
        "#]],
    );
}

#[test]
fn double_arrow_counts_up_missing_ports() {
    check(
        "c :: Classifier; c => Foo, Bar, Null -> j :: J; s :: Tee => [3,] t :: T; Idle, Idle, Idle => t",
        expect![[r#"
            c :: Classifier;
            Foo@2 :: Foo;
            Bar@3 :: Bar;
            Null@4 :: Null;
            j :: J;
            s :: Tee;
            t :: T;
            Idle@8 :: Idle;
            Idle@9 :: Idle;
            Idle@10 :: Idle;

            c -> Foo@2
                -> j;
            c [1] -> Bar@3
                -> j;
            c [2] -> Null@4
                -> j;
            Idle@8 -> t;
            Idle@9 -> [1] t;
            Idle@10 -> [2] t;
            s -> [3] t;
        "#]],
    );
}

#[test]
fn groups() {
    check(
        "x :: X => (input -> output; [1] -> Paint(1) -> output) -> y :: Y; a :: A => ( [0] -> [0]; [1] -> [1] ) => ( [0]->[0]; [1]->[1] ) -> y",
        expect![[r#"
            x :: X;
            Paint@5 :: Paint(1);
            y :: Y;
            a :: A;

            x [1] -> Paint@5
                -> y;
            x -> y;
            a -> y;
            a [1] -> y;
        "#]],
    );
}

#[test]
fn groups_see_the_scope_around_them() {
    check(
        "Idle -> (-> q :: Queue ->) -> Discard; q [1] -> Discard",
        expect![[r#"
        Idle@1 :: Idle;
        q :: Queue;
        Discard@6 :: Discard;
        Discard@7 :: Discard;

        Idle@1 -> q
            -> Discard@6;
        q [1] -> Discard@7;
    "#]],
    );
}

#[test]
fn duplicate_connections() {
    check(
        "a :: A; b :: B; a -> b; a -> b; a -> (->; ->) -> b",
        expect![[r#"
        a :: A;
        b :: B;

        a -> b;
    "#]],
    );
}

#[test]
fn flat_cycles() {
    check(
        "a :: A -> b :: B -> c :: C -> a; c -> c; c [1] -> [1] a",
        expect![[r#"
        a :: A;
        b :: B;
        c :: C;

        c [1] -> [1] a;
        c -> c
            -> a
            -> b
            -> c;
    "#]],
    );
}
