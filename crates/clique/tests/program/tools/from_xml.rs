//! `xml2click`.

use super::{CONFIG, SMALL, check, fails};
use crate::clique;
use expect_test::expect;

/// What a tool has written.
fn output(arguments: &[&str]) -> String {
    let said = clique(arguments);
    let output = said.split_once("--- output\n").unwrap_or_else(|| panic!("{said}")).1;
    output.split("--- messages").next().unwrap().to_owned()
}

#[test]
fn compound_elements_are_read_back() {
    check(
        clique(&["xml2click", "-e", &output(&["click2xml", "-e", SMALL])]),
        expect![[r##"
            exit status: 0
            --- output
            elementclass X { $n |
            # 2 "config"
              Counter@1 :: Counter;
            # 2 "config"
              Strip@2 :: Strip($n);
            # 7 ""
              input -> Counter@1
                  -> Strip@2
                  -> output;
            }
            # 3 "config"
            s :: InfiniteSource(DATA "<&'>",
             LIMIT 3);
            # 4 "config"
            X@2 :: X(2);
            # 4 "config"
            Queue@3 :: Queue;
            # 4 "config"
            d :: Discard;
            # 21 ""
            s -> X@2
                -> Queue@3
                -> d;
        "##]],
    );
}

/// There and back it is the same configuration, whatever its classes are called.
#[test]
fn a_configuration_is_the_same_there_and_back() {
    let flat = |text: &str| {
        let lines = output(&["click-flatten", "--expand-vars", "-e", text]);
        let lines: Vec<&str> = lines.lines().filter(|line| !line.starts_with('#')).collect();
        lines.join("\n").replace('@', "")
    };
    for text in [
        SMALL,
        "a :: Idle -> [1] b :: Tee -> c :: Discard; b [2] -> d :: Discard; Idle -> b; b[1] -> Discard",
        "elementclass X { $a, K $k | Idle -> y :: { -> z :: Strip($a) -> } -> output
           || -> [0] q :: Queue -> output } p :: X(1, K 2) -> Discard; elementclass Y X; (Idle -> ) -> r :: Y -> Discard",
        "elementclass X { -> Strip(1) -> } a :: Idle -> b :: X -> Discard;
         elementclass X { -> Strip(2) -> c :: X -> } d :: Idle -> e :: X -> Discard",
        "elementclass X { $a | -> Strip($a) -> } a :: Idle -> b :: X(1) -> Discard;
         elementclass X { -> c :: X(3) -> || ... } d :: Idle -> e :: X -> f :: X(4) -> Discard",
        "elementclass Counter { $n | -> Paint($n) -> c :: Counter -> || ... } a :: Idle -> Counter(5) -> b :: Counter -> Discard",
    ] {
        let xml = output(&["click2xml", "-e", text]);
        assert_eq!(flat(&output(&["xml2click", "-e", &xml])), flat(text), "{xml}");
        let xml = output(&["click2xml", "-F", "-e", text]);
        assert_eq!(flat(&output(&["xml2click", "-e", &xml])), flat(text), "{xml}");
    }
    let xml = output(&["click2xml", "-e", CONFIG]);
    let flat = output(&["xml2click", "-F", "-e", &xml]);
    assert!(flat.contains("h/q :: Queue(CAPACITY $N);"), "{flat}");
}

#[test]
fn what_is_wrong() {
    for (xml, message) in [
        ("", "config:1: XML parse error: the document does not have a root node"),
        (
            "<configuration>\n<element ></configuration>",
            "config:2: XML parse error: expected 'element' tag, not 'configuration' at 2:11",
        ),
        ("<x />", "config: no configuration section"),
        (
            "<configuration>\n<element name=\"a\" />\n</configuration>",
            "config:2: element declared without a class",
        ),
        (
            "<configuration><element classname=\"A\" /></configuration>",
            "config:1: element declared without a name",
        ),
        (
            "<configuration>\n<element name=\"a b\" classname=\"A\" /></configuration>",
            "config:2: 'name' attribute not a Click identifier",
        ),
        (
            "<configuration><element name=\"a\" classname=\"A\" classid=\"c0\" /></configuration>",
            "config:1: conflicting attributes 'classname' and 'classid'\nconfig:1: element declared without a class",
        ),
        (
            "<configuration><element name=\"a\" classid=\"c0\" /></configuration>",
            "config:1: no such element class 'c0'",
        ),
        (
            "<configuration><element name=\"a\" classname=\"A\" />\n<element name=\"a\" classname=\"A\" /></configuration>",
            "config:2: redeclaration of element 'a'\nconfig:1: 'a' previously declared here",
        ),
        (
            "<configuration>\n<connection from=\"a\" /></configuration>",
            "config:2: connection lacks 'from' or 'to' attribute",
        ),
        (
            "<configuration><element name=\"a\" classname=\"A\" /><connection from=\"a\" to=\"b\" /></configuration>",
            "config:1: undeclared element 'b' (first use this block)",
        ),
        (
            "<configuration><element name=\"a\" classname=\"A\" ninputs=\"1\" /></configuration>",
            "config:1: 'a' input port count and 'ninputs' attribute disagree",
        ),
        (
            "<configuration><elementclass classname=\"A\" classid=\"a\"></elementclass></configuration>",
            "config:1: elementclass tag not filled",
        ),
        (
            "<configuration>\n<elementclass classname=\"A\" classid=\"a\"><synonym classid=\"a\" /></elementclass></configuration>",
            "config:2: circular definition of elementclass 'A'",
        ),
        (
            "<configuration><elementclass classname=\"A\" classid=\"a\"><compound nformals=\"2\">\n<formal number=\"1\" name=\"x\" />\
             <formal number=\"1\" name=\"y\" /></compound></elementclass></configuration>",
            "config:2: formal parameter 1 already defined as '$x'\nconfig:1: definition missing for formal 0",
        ),
        ("<formal />", "config: no configuration section"),
        (
            "<configuration><formal /></configuration>",
            "config:1: <formal> tag meaningless outside of <compound>",
        ),
    ] {
        fails(clique(&["xml2click", "-e", xml]), message);
    }
    fails(clique(&["xml2click", "-f", "/nowhere/x.xml"]), "/nowhere/x.xml: No such file or directory");
}
