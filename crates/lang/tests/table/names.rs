//! Names of elements, declared and generated.

use crate::check;
use expect_test::expect;

#[test]
fn anonymous_elements_are_numbered_by_position() {
    check(
        "InfiniteSource -> Counter(1) -> Discard; a, b :: Queue(5); a -> b -> Discard",
        expect![[r#"
        InfiniteSource@1 :: InfiniteSource;
        Counter@2 :: Counter(1);
        Discard@3 :: Discard;
        a :: Queue(5);
        b :: Queue(5);
        Discard@6 :: Discard;

        InfiniteSource@1 -> Counter@2
            -> Discard@3;
        a -> b
            -> Discard@6;
    "#]],
    );
}

#[test]
fn generated_names_avoid_declared_ones() {
    check(
        "Idle -> Discard; Discard@2 :: Null; Discard@3 :: Null",
        expect![[r#"
        Idle@1 :: Idle;
        Discard@4 :: Discard;
        Discard@2 :: Null;
        Discard@3 :: Null;

        Idle@1 -> Discard@4;
    "#]],
    );
}

#[test]
fn declared_inside_a_connection() {
    check(
        "Idle -> a :: Null(x) [1] -> [2] b :: { input[2] -> Foo -> Discard; input[0] -> Discard; input[1] -> Discard }; Idle -> b; Idle -> [1] b",
        expect![[r#"
            Idle@1 :: Idle;
            a :: Null(x);
            Idle@4 :: Idle;
            Idle@5 :: Idle;
            b/Foo@1 :: Foo;
            b/Discard@2 :: Discard;
            b/Discard@3 :: Discard;
            b/Discard@4 :: Discard;

            Idle@1 -> a;
            a [1] -> b/Foo@1
                -> b/Discard@2;
            Idle@4 -> b/Discard@3;
            Idle@5 -> b/Discard@4;
        "#]],
    );
}

#[test]
fn several_names_in_one_declaration() {
    check(
        "a, b, c :: Queue(1, 2); a -> b; b, c -> Discard",
        expect![[r#"
        a :: Queue(1, 2);
        b :: Queue(1, 2);
        c :: Queue(1, 2);
        Discard@4 :: Discard;

        a -> b
            -> Discard@4;
        c -> Discard@4;
    "#]],
    );
}

#[test]
fn names_with_slashes() {
    check(
        "a/b :: A; x :: { a/b :: B; -> a/b -> } Idle -> x -> Discard; x/a/b [1] -> Discard",
        expect![[r#"
        a/b :: A;
        Idle@3 :: Idle;
        Discard@4 :: Discard;
        x/a/b@5 :: x/a/b;
        Discard@6 :: Discard;
        x/a/b :: B;

        x/a/b@5 [1] -> Discard@6;
        Idle@3 -> x/a/b
            -> Discard@4;
        config:1: warning: suggest 'input ->' or '[0] ->' to start connection
    "#]],
    );
}
