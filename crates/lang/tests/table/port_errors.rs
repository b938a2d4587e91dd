//! Errors of ports and connections.

use crate::check;
use expect_test::expect;

#[test]
fn mismatched_connections_are_errors() {
    check(
        "a, b, c :: A; a, b -> b, c; a, b => a, b, c; a [0,] => [0,] b; a [0,1,] => [0] b; [1] a -> b [1]; a[,] -> b",
        expect![[r#"
            a :: A;
            b :: A;
            c :: A;

            a -> a
                -> b
                -> b
                -> c;
            a [1] -> b;
            config:1: syntax error: many-to-many connections require '=>'
            config:1: connection mismatch: 2 outputs connected to 3 inputs
            config:1: at most one expandable port allowed per connection
            config:1: input ports ignored at start of chain
            config:1: output ports ignored at end of chain
            config:1: syntax error: expected port number
            config:1: syntax error near ']'
            config:1: syntax error near '->'
        "#]],
    );
}

#[test]
fn implicit_input_may_be_meant() {
    check(
        "x :: { -> Foo; -> Bar -> }; y :: { [0] -> Foo; [0] -> Bar ->; -> Null -> }; -> z",
        expect![[r#"
        z@3 :: z;
        x/Foo@1 :: Foo;
        x/Bar@2 :: Bar;
        y/Foo@1 :: Foo;
        y/Bar@2 :: Bar;
        y/Null@3 :: Null;

        config:1: warning: suggest 'input ->' or '[0] ->' to start connection
        config:1: syntax error near '->'
        config:1: 'x' input 0 unused
        config:1: 'x' output 0 unused
        config:1: 'y' input 0 unused
        config:1: 'y' output 0 unused
    "#]],
    );
}

#[test]
fn implicit_ports_in_a_chain() {
    check(
        "x :: { Foo -> [0], [1] -> Bar }",
        expect![[r#"
        x/Foo@1 :: Foo;
        x/Bar@2 :: Bar;

        config:1: stranded port ignored
        config:1: implicit ports used in the middle of a chain
        config:1: '<anonymous>' pseudoelement 'output' may only be used as input
        config:1: 'x' output 0 unused
        config:1: 'x/output' used as output
    "#]],
    );
}

#[test]
fn ports_beyond_the_limit_are_errors() {
    check(
        "a :: A[70000]; a [65535] -> Discard; x :: { input [65000] -> Discard }; a [99999999999] -> [0x10] Discard; a[010] -> Discard",
        expect![[r#"
            a :: A;
            Discard@2 :: Discard;
            Discard@4 :: Discard;
            Discard@5 :: Discard;
            x/Discard@1 :: Discard;

            a [65535] -> Discard@2;
            a -> [16] Discard@4;
            a [8] -> Discard@5;
            config:1: port number should be at most 65535
            config:1: output ports ignored at end of chain
            config:1: '<anonymous>' input 0 missing
            config:1: '<anonymous>' input 1 missing
            config:1: '<anonymous>' input 2 missing
            config:1: '<anonymous>' input 3 missing
            config:1: '<anonymous>' input 4 missing
            config:1: '<anonymous>' input 5 missing
            config:1: '<anonymous>' input 6 missing
            config:1: '<anonymous>' input 7 missing
            config:1: '<anonymous>' input 8 missing
            config:1: '<anonymous>' input 9 missing
            config:1: syntax error: port number should be integer
            config:1: 'x' input 65000 unused
        "#]],
    );
}
