//! Errors of compound elements.

use crate::check;
use expect_test::expect;

#[test]
fn misused_pseudoelements_are_errors() {
    check(
        "x :: { -> output -> Foo -> input; input[2] -> [1] output }; elementclass E { Idle -> [1] output }",
        expect![[r#"
            x/Foo@1 :: Foo;

            config:1: '<anonymous>' pseudoelement 'input' may only be used as output
            config:1: '<anonymous>' input 1 missing
            config:1: '<anonymous>' pseudoelement 'output' may only be used as input
            config:1: 'E' output 0 missing
            config:1: 'x' input 0 unused
            config:1: 'x' output 0 unused
            config:1: 'x/output' used as output
            config:1: 'x/input' used as input
            config:1: 'x' input 2 unused
            config:1: 'x' output 1 unused
        "#]],
    );
}

#[test]
fn unused_and_missing_ports_of_compounds() {
    check(
        "x :: { -> Foo -> }; y :: { Idle -> Discard }; Idle -> y -> Discard; x [2] -> Discard; Idle -> [1] x",
        expect![[r#"
            Idle@3 :: Idle;
            Discard@4 :: Discard;
            Discard@5 :: Discard;
            Idle@6 :: Idle;
            x/Foo@1 :: Foo;
            y/Idle@1 :: Idle;
            y/Discard@2 :: Discard;

            y/Idle@1 -> y/Discard@2;
            config:1: 'y' has no input 0
            config:1: 'y' has no output 0
            config:1: 'x' has no output 2
            config:1: 'x' has no input 1
            config:1: 'x' input 0 unused
            config:1: 'x' output 0 unused
        "#]],
    );
}

#[test]
fn compound_arguments_do_not_fit() {
    check(
        "elementclass X { $a, KW $k | -> Foo -> }
Idle -> X(1) -> X(1, 2) -> X(1, KW 2, L 3) -> X(1, KW 2) -> Discard;
elementclass Y { $a | || $b, __REST__ $c | -> }
 Y; Y(1) -> Discard",
        expect![[r#"
            Idle@1 :: Idle;
            X@2 :: Error(1);
            X@3 :: Error(1, 2);
            X@4 :: Error(1, KW 2, L 3);
            Discard@6 :: Discard;
            Y@7 :: Error;
            Discard@9 :: Discard;
            X@5/Foo@1 :: Foo;

            Idle@1 -> X@2
                -> X@3
                -> X@4
                -> X@5/Foo@1
                -> Discard@6;
            config:2: no match for 'X[1 argument, 1 input, 1 output]'
            candidates are:
            config:1:   X(<arg>, KW)[1 input, 1 output]
            config:2: no match for 'X[2 arguments, 1 input, 1 output]'
            candidates are:
            config:1:   X(<arg>, KW)[1 input, 1 output]
            config:2: no match for 'X[3 arguments, 1 input, 1 output]'
            candidates are:
            config:1:   X(<arg>, KW)[1 input, 1 output]
            config:4: no match for 'Y[0 inputs, 0 outputs]'
            candidates are:
            config:3:   Y(<arg>)[0 inputs, 0 outputs]
            config:3:   Y(<arg>, ...)[1 input, 1 output]
            config:4: no match for 'Y[1 argument, 0 inputs, 1 output]'
            candidates are:
            config:3:   Y(<arg>)[0 inputs, 0 outputs]
            config:3:   Y(<arg>, ...)[1 input, 1 output]
            config:4: 'Y@8' input 0 unused
        "#]],
    );
}

#[test]
fn bad_parameters_are_errors() {
    check(
        "elementclass X { $a, $a, K $b, K $c, $d, __REST__ $e, $f | }
elementclass Y { $a $b | } elementclass Z { $a, }
define(x 1, $y, $z 1, $z 2, $a! 3)",
        expect![[r#"
            config:1: parameter '$a' multiply defined
            config:1: repeated keyword parameter 'K' in compound element
            config:1: compound element parameters out of order
            config:1: (The correct order is '[positional], [keywords], [__REST__]'.)
            config:2: expected ',' or '|'
            config:2: syntax error near 'b'
            config:2: syntax error near '|'
            config:2: expected variable
            config:3: bad 'define' declaration: not a variable
            config:3: parameter '$z' multiply defined
            config:3: bad 'define' declaration: not a variable
        "#]],
    );
}

#[test]
fn bad_extensions_are_errors() {
    check(
        "x :: { ... }; elementclass A { ... || } y :: { -> || ... || -> }; elementclass B { || ... };",
        expect![[r#"
            config:1: cannot extend unknown element class ''
            config:1: '...' should occur last, after one or more compounds
            config:1: '...' should occur last, after one or more compounds
            config:1: cannot extend unknown element class ''
            config:1: '...' should occur last, after one or more compounds
        "#]],
    );
}

#[test]
fn self_contained_variables() {
    check(
        "define($a $b, $b $a); Foo($a)",
        expect![[r#"
        Foo@1 :: Foo($b);

        config:1: warning: variable '$a' contains itself
    "#]],
    );
}
