//! Generators of program text.

use proptest::prelude::*;

/// Words that make up programs, so that most texts have some structure.
const WORDS: &[&str] = &[
    "a",
    "b",
    "x",
    "Foo",
    "Bar",
    "input",
    "output",
    "elementclass",
    "require",
    "provide",
    "define",
    "->",
    "->",
    "->",
    "=>",
    "~>",
    "~udp>",
    "::",
    "::",
    ";",
    ";",
    ",",
    "(",
    ")",
    "[",
    "]",
    "[0]",
    "[1]",
    "[0,1]",
    "[]",
    "{",
    "}",
    "||",
    "|",
    "...",
    "$a",
    "$b",
    "KW $k",
    "__REST__ $r",
    "(1)",
    "($a, \"$b\")",
    "(KW 2, 3)",
    "($(x.y))",
    "// c\n",
    "/* c */",
    "\n",
    "# 7 \"f\"\n",
    "#",
    "\\<41>",
    "'",
    "\"",
    "($a 1)",
    "é",
    "a/b",
    "0",
    "@3",
    "elementclass Foo {",
    "{ $a |",
    "{ $a, KW $k |",
    "a :: Foo",
    "-> Bar ->",
    "(package p)",
    "${a-1}",
];

/// Program-like text.
pub(crate) fn soup() -> impl Strategy<Value = String> {
    let gap = prop::sample::select(&[" ", " ", " ", "", "\n"][..]);
    let word = (prop::sample::select(WORDS), gap).prop_map(|(word, gap)| format!("{word}{gap}"));
    prop::collection::vec(word, 0..60).prop_map(|words| words.concat())
}

const CONFIGS: &[&str] =
    &["", "(1, 2)", "(\"a, $b\", '$x' \\<41 /* > */ 42>)", "(K v /* c */, w)", "($(a.b))"];

/// A connection between plain elements, or a chain through compound elements and groups.
fn statement() -> impl Strategy<Value = String> {
    let end = || (0..4usize, 0..3u32);
    let plain = (end(), end()).prop_map(|((a, p), (b, q))| format!("n{a} [{p}] -> [{q}] n{b};\n"));
    let anonymous = prop::sample::select(CONFIGS).prop_map(|c| format!("n0 -> Foo{c} -> Bar -> n1\n"));
    let compound = prop::sample::select(
        &[
            "Foo -> C -> D(1 2) -> Bar;\n",
            "n0 -> { -> C -> [0]; } -> n1;\n",
            "n0 [0,1] => ([0] -> C -> output; [1] -> D(\"$v\") -> [1]) => Foo, Bar;\n",
            "n1, n2 -> (->) -> D($w) -> n3;\n",
            "n1[1] -> { [0] -> Foo@3 :: Foo -> [0]; Foo -> Foo -> Bar@5 :: Bar } -> n2;\n",
            "n2 => O, O(3) -> n0; n3 -> O => n1, n2;\n",
        ][..],
    )
    .prop_map(str::to_owned);
    prop_oneof![plain, anonymous, compound]
}

/// A program without errors.
pub(crate) fn program() -> impl Strategy<Value = String> {
    let head = "define($v 7, $w \"x y\");
        elementclass C { -> q :: Foo(2) -> output }
        elementclass D { $p | define($r $p$p); input -> c :: C -> Bar($p, ${r}) -> output; }
        elementclass O { -> Foo -> || $p | -> Bar($p) -> || [0] -> [0]; [0] -> Foo -> [1] }
        n0, n1 :: Foo(1); n2 :: Bar; n3 :: Bar($v, '$v', \"$w\");\n";
    prop::collection::vec(statement(), 0..12).prop_map(move |s| format!("{head}{}", s.concat()))
}
