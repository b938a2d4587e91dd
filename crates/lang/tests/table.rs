//! Small configurations and the flat graphs or messages that they give.

use clique_lang as lang;
use expect_test::{Expect, expect};

/// Checks the flat text of a configuration, followed by its diagnostics in Click's form.
fn check(source: &str, expected: Expect) {
    let parsed = lang::parse(source, "config", &[]);
    expected.assert_eq(&format!("{}{}", lang::flatten(&parsed.graph), parsed.render_click()));
}

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
fn compound_parameters() {
    check(
        r##"elementclass X { $a, KW $b, __REST__ $r | input -> Queue($a, $b, "$r", '$a') -> output }
Idle -> X(1, KW 2, 3, "four, five") -> Discard"##,
        expect![[r#"
            Idle@1 :: Idle;
            Discard@3 :: Discard;
            X@2/Queue@1 :: Queue(1, 2, "3, \"four, five\"", '$a');

            Idle@1 -> X@2/Queue@1
                -> Discard@3;
        "#]],
    );
}

#[test]
fn variables_of_compounds() {
    check(
        "define($x 1, $y $x$x);
elementclass A { define($x 2, $z ${x}3) | }
elementclass B { $p | define($x in$p) -> Foo($x, $y, $z, ${z-none}, ${p[1]}) -> }
Idle -> B(a b) -> Discard",
        expect![[r#"
            Idle@1 :: Idle;
            Discard@3 :: Discard;
            B@2/Foo@1 :: Foo(ina b, ina bina b, $z, none, b);

            Idle@1 -> B@2/Foo@1
                -> Discard@3;
            config:2: syntax error near '|'
        "#]],
    );
}

#[test]
fn handler_calls_stay() {
    check(
        r##"Script(print $(c.count), set x $x, print "$(c.get $y)"); define($y 5)"##,
        expect![[r#"
        Script@1 :: Script(print $(c.count), set x $x, print "$(c.get 5)");

    "#]],
    );
}

#[test]
fn overloading() {
    check(
        "elementclass Q { -> Queue -> || $c | -> Queue($c) -> || $c, $d | -> Queue($c) -> Shaper($d) -> }
Idle -> Q -> Q(1) -> Q(1, 2) -> Discard; Idle -> Q(1, 2, 3) -> Discard",
        expect![[r#"
            Idle@1 :: Idle;
            Discard@5 :: Discard;
            Idle@6 :: Idle;
            Q@7 :: Error(1, 2, 3);
            Discard@8 :: Discard;
            Q@2/Queue@1 :: Queue;
            Q@3/Queue@1 :: Queue(1);
            Q@4/Queue@1 :: Queue(1);
            Q@4/Shaper@2 :: Shaper(2);

            Idle@6 -> Q@7
                -> Discard@8;
            Idle@1 -> Q@2/Queue@1
                -> Q@3/Queue@1
                -> Q@4/Queue@1
                -> Q@4/Shaper@2
                -> Discard@5;
            config:2: no match for 'Q[3 arguments, 1 input, 1 output]'
            candidates are:
            config:1:   Q[1 input, 1 output]
            config:1:   Q(<arg>)[1 input, 1 output]
            config:1:   Q(<arg>, <arg>)[1 input, 1 output]
        "#]],
    );
}

#[test]
fn extension() {
    check(
        "elementclass Queue { $c, $r | -> Queue($c) -> Shaper($r) -> || ... } Idle -> Queue(1, 2) -> Queue(3) -> Discard",
        expect![[r#"
            Idle@1 :: Idle;
            Queue@3 :: Queue(3);
            Discard@4 :: Discard;
            Queue@2/Queue@1 :: Queue(1);
            Queue@2/Shaper@2 :: Shaper(2);

            Idle@1 -> Queue@2/Queue@1
                -> Queue@2/Shaper@2
                -> Queue@3
                -> Discard@4;
        "#]],
    );
}

#[test]
fn overloading_by_ports() {
    check(
        "elementclass P { -> One -> || input[0] -> Two -> [0] output; input[1] -> [1] output } Idle -> P -> p :: P -> Discard; Idle -> [1] p [1] -> Discard",
        expect![[r#"
            Idle@1 :: Idle;
            Discard@4 :: Discard;
            Idle@5 :: Idle;
            Discard@6 :: Discard;
            P@2/One@1 :: One;
            p/Two@1 :: Two;

            Idle@5 -> Discard@6;
            Idle@1 -> P@2/One@1
                -> p/Two@1
                -> Discard@4;
        "#]],
    );
}

#[test]
fn scopes_of_classes() {
    check(
        "elementclass A { -> Foo -> } elementclass B { elementclass A { -> Bar -> } -> A -> } Idle -> A -> B -> Discard; elementclass S Queue; S(3) -> Null; elementclass Queue { -> Queue -> } Idle -> Queue -> Discard",
        expect![[r#"
            Idle@1 :: Idle;
            Discard@4 :: Discard;
            S@5 :: Queue(3);
            Null@6 :: Null;
            Idle@7 :: Idle;
            Discard@9 :: Discard;
            A@2/Foo@1 :: Foo;
            B@3/A@1/Bar@1 :: Bar;
            Queue@8/Queue@1 :: Queue;

            S@5 -> Null@6;
            Idle@1 -> A@2/Foo@1
                -> B@3/A@1/Bar@1
                -> Discard@4;
            Idle@7 -> Queue@8/Queue@1
                -> Discard@9;
        "#]],
    );
}

#[test]
fn nested_compounds() {
    check(
        "o :: { i :: { -> x :: X -> } -> y :: Y; input -> i; y -> output; -> Foo -> } Idle -> o -> Discard; o/z :: Z",
        expect![[r#"
            Idle@2 :: Idle;
            Discard@3 :: Discard;
            o/z :: Z;
            o/y :: Y;
            o/Foo@3 :: Foo;
            o/i/x :: X;

            Idle@2 -> o/Foo@3
                -> Discard@3;
            Idle@2 -> o/i/x
                -> o/y
                -> Discard@3;
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
fn requirements() {
    check(
        r##"require(foo, package bar, compact_config, package "a b"); provide(baz)
a :: A"##,
        expect![[r#"
            require(package "foo", package "bar", compact_config, package "a b");

            a :: A;

        "#]],
    );
}

#[test]
fn quotes_and_comments_in_configuration_strings() {
    check(
        r##"a :: A( "x)" , ')' /* ) */, // )
 y, (b, (c)), \<28 29> ); /* :: */ b :: B // end"##,
        expect![[r#"
            a :: A( "x)" , ')' /* ) */, // )
             y, (b, (c)), \<28 29> );
            b :: B;

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

#[test]
fn line_directives() {
    check(
        r##"a :: A;
#line 100 "other.click"
b :: A(
# 200 "third"
 1);
c :: A;
# 7 ""
d :: ;
#pragma
"##,
        expect![[r#"
            a :: A;
            b :: A(

             1);
            c :: A;
            d :: Error;

            config:7: missing element type in declaration
            config:8: unknown preprocessor directive
        "#]],
    );
}

#[test]
fn syntax_errors_are_all_reported() {
    check("a :: ; -> b; x [y] -> [0 1] z; [3]; elementclass ; elementclass { } 3 :: A; a/1 :: B; }; ) || | $x; c :: C(
", expect![[r#"
    a :: Error;
    b@2 :: b;
    x@3 :: x;
    z@4 :: z;
    3 :: A;
    a/1 :: B;
    c :: C(
    );

    x@3 -> z@4;
    x@3 -> [1] z@4;
    config:1: missing element type in declaration
    config:1: syntax error near '->'
    config:1: syntax error: port number should be integer
    config:1: syntax error: expected ','
    config:1: stranded port ignored
    config:1: syntax error near ';'
    config:1: expected element type name
    config:1: syntax error near ';'
    config:1: expected element type name
    config:1: element name '3' has all-digit component
    config:1: element name 'a/1' has all-digit component
    config:1: syntax error near '}'
    config:1: syntax error near ')'
    config:1: syntax error near '||'
    config:1: syntax error near '|'
    config:1: syntax error near 'x'
    config:2: expected ')'
"#]]);
}

#[test]
fn unclosed() {
    check(
        "x :: { y :: { ( a",
        expect![[r#"
        x/y/a@4 :: a;

        config:1: expected ')'
        config:1: expected '}'
        config:1: expected '}'
    "#]],
    );
}

#[test]
fn redeclarations() {
    check(
        "a :: A;
a :: B;
x :: { a :: A; a :: A };
x/a :: C",
        expect![[r#"
            a :: A;
            x/a :: C;

            config:2: redeclaration of element 'a'
            config:1: element 'a' previously declared here
            config:3: redeclaration of element 'a'
            config:3: element 'a' previously declared here
            config:3: redeclaration of element 'x/a'
            config:4: 'x/a' previously declared here
        "#]],
    );
}

#[test]
fn declared_twice_through_a_compound() {
    check(
        "x/a :: A;
x :: { a :: B }",
        expect![[r#"
            x/a :: A;

            config:2: redeclaration of element 'x/a'
            config:1: 'x/a' previously declared here
        "#]],
    );
}

#[test]
fn pseudoelements_misused() {
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
fn mismatched_connections() {
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
fn bad_parameters() {
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
fn bad_extension() {
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
fn bad_requirements() {
    check(
        "require; require(package); require(a b c); require(library nowhere.click); require(library)",
        expect![[r#"
            config:1: expected '('
            config:1: syntax error at requirement
            config:1: syntax error at requirement
            config:1: library 'nowhere.click' not found in CLICKPATH/conf
            config:1: syntax error at requirement
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
fn configuration_of_a_reference() {
    check(
        "a :: A; a(3) -> a; (->)(4); a :: B(3)",
        expect![[r#"
        a :: A;

        a -> a;
        config:1: configuration string ignored on element reference
        config:1: configuration string ignored on element reference
        config:1: input ports ignored at start of chain
        config:1: output ports ignored at end of chain
        config:1: configuration string ignored on element reference
        config:1: redeclaration of element 'a'
        config:1: element 'a' previously declared here
        config:1: '@2' input 0 unused
        config:1: '@2' output 0 unused
    "#]],
    );
}

#[test]
fn class_as_a_name() {
    check(
        "elementclass A {} A :: B; x :: { A/y :: Foo }",
        expect![[r#"
        x/A/y :: Foo;

        config:1: class 'A' used as element name
    "#]],
    );
}

#[test]
fn huge_ports() {
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

/// With variables kept, what stands outside of compound elements is as it was written.
#[test]
fn kept_variables() {
    let text = "define($a 1, $b \"$a\") Foo($a, ${b}, \"$a\", ${c-$a}, ${a-3}); elementclass X { $x | Bar($x) } X($b)";
    let options = lang::Options {
        params: &[("a".to_owned(), "7".to_owned())],
        keep_variables: true,
        ..lang::Options::default()
    };
    let parsed = lang::parse_with(text, "config", &options);
    expect![[r#"
        define($a 7, $b "$a");

        # 1 "config"
        Foo@1 :: Foo($a, $b, "$a", $a, $a);
        # 1 "config"
        X@2/Bar@1 :: Bar($b);
    "#]]
    .assert_eq(&lang::tool_text(&parsed.graph));
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

/// Click names the line that it has come to, which can be one behind what is wrong.
#[test]
fn lines_of_errors() {
    check(
        "[1] a :: A
-> b :: B [2]

; a [0, 1]
-> [0, 1] b
; a -> (
  input [1] -> output
) -> b; x :: X; x -> {
  -> Foo -> } -> b
; require
(package); define(
  y);",
        expect![[r#"
            a :: A;
            b :: B;
            x :: X;
            @7/Foo@1 :: Foo;

            a -> b;
            a [1] -> [1] b;
            x -> @7/Foo@1
                -> b;
            config:2: input ports ignored at start of chain
            config:4: output ports ignored at end of chain
            config:6: syntax error: many-to-many connections require '=>'
            config:8: '<anonymous group>' input 0 missing
            config:11: syntax error at requirement
            config:12: bad 'define' declaration: not a variable
            config:6: '@3' input 1 unused
            config:6: '@3' has no input 0
        "#]],
    );
}
