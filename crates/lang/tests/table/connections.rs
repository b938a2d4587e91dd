//! Connections: ports, lists, groups.

use crate::check;
use expect_test::expect;

#[test]
fn lists_of_ports_connect_pairwise() {
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
fn groups_in_parentheses_connect_port_by_port() {
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
fn duplicate_connections_count_once() {
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
fn cycles_are_written_flat() {
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

#[test]
fn context_arrows_become_dispatchers() {
    check(
        "a :: A; c :: C; x :: { input -> B ~> output }; Idle -> a ~> b :: B; a ~udp> c; a ~/ip> d :: D; a ~> c; a[1] ~> c; c -> x -> b; q ~ r",
        expect![[r#"
            a :: A;
            c :: C;
            Idle@4 :: Idle;
            b :: B;
            d :: D;
            q@7 :: q;
            r@8 :: r;
            x/B@1 :: B;
            context_flowcontextdispatcher_0 :: FlowContextDispatcher(- 0,- 1,- 2,- 3);
            context_stack_0 :: UDPIn;
            context_stack_0_2 :: IPOut;
            context_flowcontextdispatcher_0_1 :: FlowContextDispatcher(- 0);
            context_flowcontextdispatcher_7 :: FlowContextDispatcher(- 0);

            Idle@4 -> a
                -> context_flowcontextdispatcher_0
                -> b;
            context_flowcontextdispatcher_0 [3] -> c
                -> x/B@1
                -> context_flowcontextdispatcher_7
                -> b;
            context_flowcontextdispatcher_0 [1] -> context_stack_0
                -> c;
            context_flowcontextdispatcher_0 [2] -> context_stack_0_2
                -> d;
            a [1] -> context_flowcontextdispatcher_0_1
                -> c;
            config:1: syntax error near '~'
        "#]],
    );
}

#[test]
fn context_arrows_leave_elements() {
    check(
        "x :: { input ~> A -> output }; a :: A -> x -> a",
        expect![[r#"
        a :: A;
        x/A@1 :: A;

        x/A@1 -> a
            -> x/A@1;
        config:1: '~>' should leave an element, not the input of a compound element
    "#]],
    );
}
