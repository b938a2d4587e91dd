//! Compound elements: parameters, overloading, scopes.

use crate::check;
use clique_lang as lang;
use expect_test::expect;

#[test]
fn parameters_are_replaced_in_a_compound() {
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

/// With variables kept, what stands outside of compound elements is as it was written.
#[test]
fn kept_variables_stay_as_they_were_written() {
    let text = "define($a 1, $b \"$a\") Foo($a, ${b}, \"$a\", ${c-$a}, ${a-3}); elementclass X { $x | Bar($x) } X($b)";
    let options = lang::Options {
        params: &[("a".to_owned(), "7".to_owned())],
        keep_variables: true,
        ..lang::Options::default()
    };
    let parsed = lang::parse_with(text, "config", &options);
    assert_eq!(
        parsed.graph.defines,
        [("a", "7"), ("b", "\"$a\"")].map(|(n, v)| (n.to_owned(), v.to_owned()))
    );
    expect![[r#"
        Foo@1 :: Foo($a, $b, "$a", $a, $a);
        X@2/Bar@1 :: Bar($b);

    "#]]
    .assert_eq(&lang::flatten(&parsed.graph));
}

#[test]
fn the_overload_that_fits_the_arguments_is_chosen() {
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
fn a_class_extends_the_one_that_it_hides() {
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
fn nested_compounds_are_resolved() {
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
