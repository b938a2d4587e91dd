//! What is neither an element nor a connection: requirements, quotes, comments, line directives.

use crate::check;
use expect_test::expect;

#[test]
fn requirements_are_kept_in_order() {
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
fn line_directives_move_landmarks() {
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
