//! Errors of syntax and declaration.

use crate::check;
use expect_test::expect;

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
fn each_bracket_left_open_is_an_error() {
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
fn a_redeclaration_names_the_first_declaration() {
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
fn bad_requirements_are_errors() {
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
