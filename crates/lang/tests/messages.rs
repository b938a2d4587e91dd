//! How diagnostics look, and what callers supply: classes, variables, libraries.

use clique_lang as lang;
use expect_test::{Expect, expect};
use lang::{Context, Diagnostic, Landmark, Options, Span};

const CLASSES: &[&str; 5] = &["Counter", "Discard", "Idle", "InfiniteSource", "Queue"];

fn fancy(source: &str, expected: Expect) {
    let options = Options { classes: Some(CLASSES), ..Options::default() };
    expected.assert_eq(&lang::parse_with(source, "conf/x.click", &options).render_fancy(false));
}

#[test]
fn an_unknown_class_is_shown_with_a_suggestion() {
    fancy(
        "src :: InfiniteSource;\nsrc -> Conuter -> d :: Disacrd;\n\tQqq(5) -> cuonter;",
        expect![[r#"
            Error: undeclared element 'Conuter'
               ,-[ conf/x.click:2:8 ]
               |
             2 | src -> Conuter -> d :: Disacrd;
               |        ^^^|^^^  
               |           `----- unknown element class 'Conuter'; did you mean 'Counter'?
            ---'
            Error: unknown element class 'Disacrd'
               ,-[ conf/x.click:2:24 ]
               |
             2 | src -> Conuter -> d :: Disacrd;
               |                        ^^^|^^^  
               |                           `----- did you mean 'Discard'?
            ---'
            Error: undeclared element 'Qqq'
               ,-[ conf/x.click:3:2 ]
               |
             3 |     Qqq(5) -> cuonter;
               |     ^|^  
               |      `--- expected the name of an element declared before, or of an element class; declare it with 'Qqq :: CLASS'
            ---'
            Error: undeclared element 'cuonter'
               ,-[ conf/x.click:3:12 ]
               |
             3 |     Qqq(5) -> cuonter;
               |               ^^^|^^^  
               |                  `----- unknown element class 'cuonter'; did you mean 'Counter'?
            ---'
        "#]],
    );
}

#[test]
fn places_and_expectations() {
    fancy(
        "/* é */ q :: Queue; q -> [x] ;\n# 100 \"made.up\"\nq :: Queue(\n)\nq2 :: ;",
        expect![[r#"
            Error: syntax error: port number should be integer
               ,-[ conf/x.click:1:27 ]
               |
             1 | /* é */ q :: Queue; q -> [x] ;
               |                           |  
               |                           `-- here
            ---'
            Error: stranded port ignored
               ,-[ conf/x.click:1:30 ]
               |
             1 | /* é */ q :: Queue; q -> [x] ;
               |                              |  
               |                              `-- here
            ---'
            Error: syntax error near ';'
               ,-[ conf/x.click:1:30 ]
               |
             1 | /* é */ q :: Queue; q -> [x] ;
               |                              |  
               |                              `-- expected an element
            ---'
            Error: configuration string ignored on element reference
               ,-[ conf/x.click:3:11 ]
               |
             3 | q :: Queue(
               |           |  
               |           `-- here
               | 
               | Note: this is made.up:100
            ---'
            Error: redeclaration of element 'q'
               ,-[ conf/x.click:3:1 ]
               |
             1 | /* é */ q :: Queue; q -> [x] ;
               |         |  
               |         `-- element 'q' previously declared here
               | 
             3 | q :: Queue(
               | |  
               | `-- here
               | 
               | Note: this is made.up:100
            ---'
            Error: missing element type in declaration
               ,-[ conf/x.click:5:7 ]
               |
             5 | q2 :: ;
               |       |  
               |       `-- expected an element class or '{'
               | 
               | Note: this is made.up:102
            ---'
        "#]],
    );
}

#[test]
fn an_unknown_name_is_reported_once_in_a_scope() {
    let options = Options { classes: Some(CLASSES), ..Options::default() };
    let parsed = lang::parse_with("x :: Foo; y :: Foo; z :: { a :: Foo; b :: Bar }; c :: Bar", "f", &options);
    expect![[r#"
        f:1: unknown element class 'Foo'
        f:1: unknown element class 'Bar'
        f:1: unknown element class 'Bar'
    "#]]
    .assert_eq(&parsed.render_click());
}

#[test]
fn diagnostics_as_json() {
    let options = Options { classes: Some(CLASSES), ..Options::default() };
    let text = "/* é */ q :: Queue;\n/* é */ q :: Disacrd(\"\t\"); q -> ;";
    expect![[r#"
        {
          "diagnostics": [
            {"severity": "error", "message": "unknown element class 'Disacrd'", "landmark": "f:2", "file": "f", "line": 2, "column": 14, "start": 35, "end": 42, "expected": null, "help": "did you mean 'Discard'?", "context": null, "notes": []},
            {"severity": "error", "message": "configuration string ignored on element reference", "landmark": "f:2", "file": "f", "line": 2, "column": 21, "start": 42, "end": 43, "expected": null, "help": null, "context": null, "notes": []},
            {"severity": "error", "message": "redeclaration of element 'q'", "landmark": "f:2", "file": "f", "line": 2, "column": 9, "start": 30, "end": 31, "expected": null, "help": null, "context": null, "notes": [{"landmark": "f:1", "message": "element 'q' previously declared here"}]},
            {"severity": "error", "message": "syntax error near ';'", "landmark": "f:2", "file": "f", "line": 2, "column": 33, "start": 54, "end": 55, "expected": "an element", "help": null, "context": null, "notes": []}
          ]
        }
    "#]].assert_eq(&lang::parse_with(text, "f", &options).render_json());
    expect![[r#"
        {
          "diagnostics": [
            {"severity": "error", "message": "\"", "landmark": null, "file": null, "line": null, "column": null, "start": null, "end": null, "expected": null, "help": null, "context": null, "notes": []}
          ]
        }
    "#]].assert_eq(&lang::render_json(&[Diagnostic::error("\"")], &[]));
}

#[test]
fn errors_with_one_context_share_its_heading() {
    let at = |line| Landmark::new("f", line);
    let configuring = || Context::configuring("x", "Foo", at(3));
    let diagnostics = [
        Diagnostic::error("too many arguments").within(configuring()),
        Diagnostic::warning("two\nlines").at(at(3), Span::default()).within(configuring()),
        Diagnostic::error("elsewhere").at(at(9), Span::default()).within(configuring()),
        Diagnostic::error("no file").within(Context::initializing("x", "Foo", at(3))),
        Diagnostic::error("Router could not be initialized!"),
    ];
    expect![[r#"
        f:3: While configuring 'x :: Foo':
          too many arguments
          warning: two
          warning: lines
        f:9:   elsewhere
        f:3: While initializing 'x :: Foo':
          no file
        Router could not be initialized!
    "#]]
    .assert_eq(&lang::render_click(&diagnostics));
}

#[test]
fn landmarks_count_every_kind_of_line_end() {
    assert_eq!(Landmark::new("config", 1).to_string(), "config:1");
    assert_eq!(Landmark::new("line ", 7).to_string(), "line 7");
    assert_eq!(Landmark::new("<stdin>", 0).to_string(), "<stdin>");
    let parsed = lang::parse("a :: A;\r\nb :: B(\r\n1)\rc :: C /*\n\n*/ -> d :: D", "", &[]);
    let lines: Vec<String> = parsed.graph.elements.iter().map(|e| e.landmark.to_string()).collect();
    assert_eq!(lines, ["config:1", "config:2", "config:4", "config:6"]);
    assert_eq!(parsed.graph.connections[0].landmark.line, 6);
}

#[test]
fn spans_are_those_of_names() {
    let text = "a :: A; x :: { b :: B }";
    let parsed = lang::parse(text, "f", &[]);
    let name = |e: &lang::Element| text[e.span.start as usize..e.span.end as usize].to_owned();
    assert_eq!(parsed.graph.elements.iter().map(name).collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn variables_from_outside_win() {
    let params = [("a".to_owned(), "9".to_owned()), ("c".to_owned(), "$b".to_owned())];
    let parsed = lang::parse("define($a 1, $b 2); Foo($a, $b, $c)", "f", &params);
    assert_eq!(parsed.graph.elements[0].config, "9, 2, 2");
    let define = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(parsed.graph.defines, [define("a", "9"), define("b", "2"), define("c", "$b")]);
    assert!(!parsed.has_errors());
}

#[test]
fn a_library_is_read_once_also_in_a_circle() {
    let library = |name: &str, from: &str| match (name, from) {
        ("l.click", "f") => Some((
            "lib/l.click".into(),
            "require(library m.click) elementclass L { -> Foo -> } x :: ;".into(),
        )),
        ("m.click", "f" | "lib/l.click") => {
            Some(("lib/m.click".into(), "define($m 3); require(library l.click)".into()))
        }
        ("l.click", "lib/m.click") => Some(("lib/l.click".into(), String::new())),
        _ => None,
    };
    let options = Options { library: Some(&library), ..Options::default() };
    let text = "require(library l.click, library \"m.click\")\nA -> L -> B($m); require(library l.click)";
    let parsed = lang::parse_with(text, "f", &options);
    assert_eq!(parsed.sources.len(), 3);
    expect![[r#"
        lib/l.click:1: missing element type in declaration
        x :: Error;
        A@2 :: A;
        B@4 :: B(3);
        L@3/Foo@1 :: Foo;

        A@2 -> L@3/Foo@1
            -> B@4;
    "#]]
    .assert_eq(&format!("{}{}", parsed.render_click(), lang::flatten(&parsed.graph)));
}

#[test]
fn an_element_is_found_from_the_inside_out() {
    let graph = lang::parse("a :: A; x :: { a :: B; y :: { c :: C } }; c :: D", "f", &[]).graph;
    let found = |name, context| graph.find_in(name, context).map(|i| graph.elements[i].name.clone());
    assert_eq!(found("a", "x/y/c").as_deref(), Some("x/a"));
    assert_eq!(found("c", "x/y/c").as_deref(), Some("x/y/c"));
    assert_eq!(found("c", "x/a").as_deref(), Some("c"));
    assert_eq!(found("y/c", "x/a").as_deref(), Some("x/y/c"));
    assert_eq!(found("z", "x/a"), None);
    assert_eq!(graph.find("x"), None);
}

const EXAMPLE: &str = "s :: Source(\"<&>\") -> t :: Tee; t -> q :: Queue -> [1] x :: X; t [1] -> x -> t";

#[test]
fn a_graph_is_printed_as_dot() {
    expect![[r#"
        digraph click {
          node [shape=record];
          e0 [label="{s\nSource|{<o0> 0}}"];
          e1 [label="{{<i0> 0}|t\nTee|{<o0> 0|<o1> 1}}"];
          e2 [label="{{<i0> 0}|q\nQueue|{<o0> 0}}"];
          e3 [label="{{<i0> 0|<i1> 1}|x\nX|{<o0> 0}}"];
          e0:o0 -> e1:i0;
          e3:o0 -> e1:i0;
          e1:o0 -> e2:i0;
          e1:o1 -> e3:i0;
          e2:o0 -> e3:i1;
        }
    "#]]
    .assert_eq(&lang::graph::dot(&lang::parse(EXAMPLE, "f", &[]).graph));
}

#[test]
fn a_graph_is_printed_as_json() {
    expect![[r#"
        {
          "requirements": [],
          "elements": [
            {"name": "s", "class": "Source", "config": "\"<&>\"", "landmark": "f:1", "inputs": 0, "outputs": 1},
            {"name": "t", "class": "Tee", "config": "", "landmark": "f:1", "inputs": 1, "outputs": 2},
            {"name": "q", "class": "Queue", "config": "", "landmark": "f:1", "inputs": 1, "outputs": 1},
            {"name": "x", "class": "X", "config": "", "landmark": "f:1", "inputs": 2, "outputs": 1}
          ],
          "connections": [
            {"from": {"element": "s", "port": 0}, "to": {"element": "t", "port": 0}, "landmark": "f:1"},
            {"from": {"element": "x", "port": 0}, "to": {"element": "t", "port": 0}, "landmark": "f:1"},
            {"from": {"element": "t", "port": 0}, "to": {"element": "q", "port": 0}, "landmark": "f:1"},
            {"from": {"element": "t", "port": 1}, "to": {"element": "x", "port": 0}, "landmark": "f:1"},
            {"from": {"element": "q", "port": 0}, "to": {"element": "x", "port": 1}, "landmark": "f:1"}
          ]
        }
    "#]].assert_eq(&lang::graph::json(&lang::parse(EXAMPLE, "f", &[]).graph));
    let empty = lang::parse("require(p)", "f", &[]).graph;
    expect![[r#"
        {
          "requirements": [
            {"kind": "package", "value": "p"}
          ],
          "elements": [],
          "connections": []
        }
    "#]]
    .assert_eq(&lang::graph::json(&empty));
}

#[test]
fn svg_shows_everything_once() {
    let svg = lang::graph::svg(&lang::parse(EXAMPLE, "f", &[]).graph);
    let count = |what: &str| svg.matches(what).count();
    // Four elements, and the name at which the connection upwards ends.
    assert_eq!(count("<g>"), 5);
    assert_eq!(count("fill=\"none\""), 5);
    assert_eq!(count(">Queue</text>"), 1);
    assert!(svg.contains("s :: Source(&quot;&lt;&amp;&gt;&quot;)"));
    assert_eq!(count("<g>"), count("</g>"));
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
}

/// Compound elements are boxes, and those of one class are drawn once.
#[test]
fn svg_draws_a_class_once() {
    let text = "elementclass P { input -> q :: Queue -> Unqueue -> output } i :: Info;
        s :: Source -> a :: P -> t :: Tee -> b :: P -> Discard; t[1] -> a";
    let svg = lang::graph::svg(&lang::parse(text, "f", &[]).graph);
    let count = |what: &str| svg.matches(what).count();
    assert_eq!((count(">a, b</text>"), count(">2 elements</text>")), (1, 2), "{svg}");
    // In one of them, with the number of the one without a name.
    assert_eq!((count(">Queue</text>"), count(">Unqueue</text>"), count(">@2</text>")), (1, 1, 1), "{svg}");
    // The tee leads upwards once; it is on both sides of the class.
    assert_eq!((count(">a</text>"), count(">t</text>"), count(">s</text>")), (2, 3, 2), "{svg}");
    assert!(svg.contains("<title>i :: Info</title>"));
}

#[test]
fn pretty_printing_breaks_lines_and_keeps_comments() {
    let text = "// top\nelementclass   X{$a,KW $b|input->q::Queue( $a )   ->output;/* c */ Idle->Discard\n||  ->  }\n\n\n\
        a::A;b :: B( 1,\n   2 ) ;a->b->{->Foo->}->  // why\nx  [1]\n->[0]y::Y=>(->;[1]->Bar->\noutput)->Discard\n\
        #line 3 \"f\"\nrequire(  p  );";
    expect![[r#"
        // top
        elementclass X { $a, KW $b |
            input -> q :: Queue($a) -> output; /* c */ Idle -> Discard
        ||
            ->
        }

        a :: A;
        b :: B( 1,
           2 );
        a -> b -> { -> Foo -> } -> // why
            x [1]
            -> [0] y :: Y => (
                ->;
                [1] -> Bar ->
                    output
            ) -> Discard
        #line 3 "f"
        require(p);
    "#]]
    .assert_eq(&lang::pretty(text));
    assert_eq!(lang::pretty(""), "");
}
