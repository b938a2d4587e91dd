//! Hostile texts of about a megabyte: the work stays near the size of text and graph.
//!
//! Work is counted, not timed. What is bounded by a limit ends in an error that says so.

use clique_lang as lang;

const SIZE: usize = 1 << 20;

/// Parses a text and checks that it took at most `factor` steps for each byte.
fn parse(text: &str, factor: usize) -> lang::Parsed {
    let parsed = lang::parse(text, "f", &[]);
    let most = factor * (text.len() + 1000);
    assert!(parsed.work <= most, "{} steps for {} bytes", parsed.work, text.len());
    lang::flatten(&parsed.graph);
    parsed.render_fancy(false);
    parsed
}

/// A text of about a megabyte that repeats `unit`, with `%` replaced by a counter.
fn repeat(unit: &str) -> String {
    let mut text = String::new();
    for i in 0.. {
        if text.len() >= SIZE {
            break;
        }
        text.push_str(&unit.replace('%', &i.to_string()));
    }
    text
}

fn first_error(parsed: &lang::Parsed) -> &str {
    parsed.diagnostics.first().map_or("", |d| &d.message)
}

#[test]
fn repetitions_take_work_in_proportion_to_their_length() {
    for unit in [
        "a",
        "{",
        "}",
        "(",
        ")",
        "[",
        "-> ",
        "a -> ",
        "a, ",
        "a%, ",
        "\"",
        "'",
        "/*",
        "//\n",
        "#\n",
        "x :: ",
        "|| ",
        "...",
        "define($a% 1);",
        "require(p%);",
        "a% :: A;",
        "A -> ",
        "elementclass A% { -> Foo -> }",
        "elementclass A { A -> output }",
        "x% :: { -> Foo -> };",
        "{ -> Foo -> } -> ",
        "(->) => ",
        "x [65535] -> ",
        "X@% :: X;",
        "\\<",
        "$",
        "é",
        "\0",
        "a/",
        "{ input [65000] -> Foo }",
    ] {
        parse(&repeat(unit), 40);
        lang::pretty(&repeat(unit));
    }
}

#[test]
fn parentheses_in_strings() {
    for unit in ["(", "$(", "${", "$(a ${b ", "\\<", "\"$a", "/*", "$a"] {
        let text = format!("Foo({})", repeat(unit));
        parse(&text, 40);
        lang::pretty(&text);
        lang::conf::split_args(&text);
        lang::conf::split_spaces(&text);
        lang::conf::unquote(&text);
        lang::expand(&text, &|_| None);
    }
}

#[test]
fn nesting_in_the_text() {
    let parsed = parse(&repeat("x :: { "), 10);
    assert_eq!(first_error(&parsed), "maximum compound element nesting depth exceeded");
    let parsed = parse(&repeat("-> ( "), 10);
    assert!(parsed.diagnostics.iter().any(|d| d.message == "maximum element group nesting depth exceeded"));
    let deep = "x :: { ".repeat(49) + &"}".repeat(49);
    assert!(!lang::parse(&deep, "f", &[]).has_errors());
}

#[test]
fn nesting_by_expansion() {
    let parsed = parse(&(String::from("elementclass A0 {}") + &chain(1000)), 2000);
    assert_eq!(first_error(&parsed), "compound elements are nested too deeply");
}

/// A chain of classes, each of which contains the one before, and one element of the last.
fn chain(length: usize) -> String {
    let class = |i: usize| format!("elementclass A{i} {{ A{} }}\n", i - 1);
    (1..length).map(class).collect::<String>() + &format!("A{}", length - 1)
}

#[test]
fn classes_that_multiply_elements_are_stopped() {
    let class = |i: usize| format!("elementclass A{i} {{ A{0}; A{0}; A{0}; A{0} }}\n", i - 1);
    let text = String::from("elementclass A0 { Foo }") + &(1..40).map(class).collect::<String>() + "A39";
    let parsed = lang::parse(&text, "f", &[]);
    assert_eq!(first_error(&parsed), "configuration expands to too many elements or connections");
}

#[test]
fn variables_that_multiply_text_are_stopped() {
    let define = |i: usize| format!("define($a{i} $a{0}$a{0}$a{0}$a{0}$a{0}$a{0}$a{0}$a{0}$a{0});", i - 1);
    let text = String::from("define($a0 x);") + &(1..10).map(define).collect::<String>() + "Foo($a9)";
    let parsed = lang::parse(&text, "f", &[]);
    assert_eq!(first_error(&parsed), "configuration expands too far");
}

/// Variables that contain themselves end with a word about it: soon, if more and more comes of them.
#[test]
fn variables_contain_themselves() {
    let parsed = lang::parse("define($a $a$a) Foo($a) -> Bar($a);", "f", &[]);
    let messages: Vec<_> = parsed.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert_eq!((parsed.has_errors(), messages), (false, vec!["variable '$a' contains itself"]));
    // One that is nothing but itself is left to another reader.
    assert!(lang::parse("define($a $a) Foo($a)", "f", &[]).diagnostics.is_empty());
    for text in ["define($a $a$a$a$a$a) Foo($a)", "define($a $b$b$b$b$b$b, $b \"${a}$a\") Foo($a)"] {
        let parsed = lang::parse(text, "f", &[]);
        assert!(first_error(&parsed).ends_with("contains itself"), "{}", first_error(&parsed));
    }
}

#[test]
fn one_configuration_string_for_many_names() {
    let text = format!("{} z :: C({})", repeat("n%, "), "x".repeat(SIZE));
    assert_eq!(first_error(&lang::parse(&text, "f", &[])), "configuration expands too far");
}

#[test]
fn groups_that_multiply_connections_are_stopped() {
    let ends = |name: &str| repeat(&format!("{name}%,")).trim_end_matches(',').to_owned();
    let text = format!("{} -> (-> x :: X; -> {}) -> Discard", ends("a"), ends("b"));
    let parsed = lang::parse(&text, "f", &[]);
    let message = "compound elements and groups multiply connections beyond the limit";
    assert!(parsed.diagnostics.iter().any(|d| d.message == message));
}

#[test]
fn passing_through_doubles_nothing() {
    // Two ways through each of many groups are 2^n ways, but one connection.
    let text = format!("a :: A -> {} b :: B", "(->; ->) -> ".repeat(20_000));
    let parsed = parse(&text, 40);
    assert_eq!(parsed.graph.connections.len(), 1);
}

#[test]
fn cycles_of_groups() {
    let text = "g :: { -> output; -> [1] output }; h :: { -> output; -> [1] output };
        a :: A -> g -> h -> g; b :: B -> h; g [1] -> c :: C; h [1] -> d :: D";
    let parsed = lang::parse(text, "f", &[]);
    let flat = lang::flatten(&parsed.graph);
    for connection in ["a -> c;", "a -> d;", "b -> c;", "b -> d;"] {
        assert!(flat.contains(connection), "{flat}");
    }
}

#[test]
fn taken_names_are_not_tried_again() {
    let declared: String = (20_000..40_000).map(|i| format!("A@{i} :: B;")).collect();
    parse(&format!("x :: {{ {} {declared} {} }}", "B;".repeat(15_000), "A;".repeat(15_000)), 40);
}

#[test]
fn many_diagnostics_stop() {
    let options = lang::Options { classes: Some(&["Foo"]), ..lang::Options::default() };
    let parsed = lang::parse_with(&repeat("a%;"), "f", &options);
    assert_eq!(parsed.diagnostics.len(), options.limits.diagnostics + 1);
    assert_eq!(parsed.diagnostics.last().unwrap().message, "too many errors, the rest is not shown");
}

#[test]
fn long_texts_are_refused() {
    let mut options = lang::Options::default();
    options.limits.source = 10;
    assert_eq!(
        first_error(&lang::parse_with("a :: Foo -> b", "f", &options)),
        "configuration is longer than 10 bytes"
    );
}

#[test]
fn ranges_that_multiply_ports_are_stopped() {
    let text = format!("a, b :: A; {}", "a[0-60000] => [0-60000] b;".repeat(100));
    assert_eq!(first_error(&lang::parse(&text, "f", &[])), "too many ports in ranges");
}
