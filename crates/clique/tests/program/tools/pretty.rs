//! `click-pretty`.

use super::{SMALL, check, fails, misused};
use crate::{clique, clique_in};
use expect_test::expect;

#[test]
fn a_page_shows_the_configuration_with_links() {
    check(
        clique(&["click-pretty", "-u", "http://doc/%s.html", "-e", SMALL]),
        expect![[r##"
            exit status: 0
            --- output
            <!DOCTYPE html>
            <html><head>
            <meta charset='utf-8'>
            <title>Configuration</title>
            <style>
            .c-kw { font-weight: bold }
            .c-cd { font-style: italic }
            .c-cfg { color: green }
            .c-cmt { color: gray }
            .c-err { color: red; font-weight: bold }
            .ei, .et { font-family: sans-serif }
            .conntable td { padding-right: 1em }
            </style>
            </head><body>
            <h1>Configuration</h1>
            <pre><span class='c-cmt'>// Two &lt;ways&gt;</span>
            <span class='c-kw'>elementclass</span> <a name='decl0'><span class='c-cd'>X</span></a> { $n | -&gt; <a href='http://doc/Counter.html' name='e0-Counter@1'><span class='c-ed'><span title='Counter@1 :: Counter'>Counter</span></span></a> -&gt; <span class='c-ed'><span title='Strip@2 :: Strip'><a href='http://doc/Strip.html' name='e0-Strip@2'>Strip</a>(<span class='c-cfg'>$n</span>)</span></span> -&gt; }
            <span class='c-ed'><span title='s :: InfiniteSource'><a name='e-s'>s</a> :: <a href='http://doc/InfiniteSource.html'>InfiniteSource</a>(<span class='c-cfg'>DATA "&lt;&amp;'&gt;",</span></span></span>
            <span class='c-ed'><span title='s :: InfiniteSource'><span class='c-cfg'> LIMIT 3</span>)</span></span> -&gt; <span class='c-ed'><span title='X@2 :: X'><a href='#decl0' name='e-X@2'>X</a>(<span class='c-cfg'>2</span>)</span></span> -&gt; <a href='http://doc/Queue.html' name='e-Queue@3'><span class='c-ed'><span title='Queue@3 :: Queue'>Queue</span></span></a> -&gt; <a name='e-d'><span class='c-ed'><span title='d :: Discard'>d</span></span></a> :: <a href='http://doc/Discard.html'>Discard</a>;</pre>

            <h1><a name='index'>Element index</a></h1>
            <p class="ei"><b>d</b> :: <a href='http://doc/Discard.html'>Discard</a> - <a href='#e-d'><i>config</i></a>, <a href="#et-d"><i>table</i></a></p>
            <p class="ei"><b><a href='http://doc/Discard.html'>Discard</a></b> (class): d</p>
            <p class="ei"><b><a href='http://doc/InfiniteSource.html'>InfiniteSource</a></b> (class): s</p>
            <p class="ei"><b><a href='http://doc/Queue.html'>Queue</a></b> (class): Queue@3</p>
            <p class="ei"><b>Queue@3</b> :: <a href='http://doc/Queue.html'>Queue</a> - <a href='#e-Queue@3'><i>config</i></a>, <a href="#et-Queue@3"><i>table</i></a></p>
            <p class="ei"><b>s</b> :: <a href='http://doc/InfiniteSource.html'>InfiniteSource</a> - <a href='#e-s'><i>config</i></a>, <a href="#et-s"><i>table</i></a></p>
            <p class="ei"><b><a href='#decl0'>X</a></b> (class): X@2</p>
            <p class="ei"><b>X@2</b> :: <a href='#decl0'>X</a> - <a href='#e-X@2'><i>config</i></a>, <a href="#et-X@2"><i>table</i></a></p>

            <h1><a name='tables'>Element tables</a></h1>
            <p class="et"><a name="et-d"><b>d</b></a> :: <a href='http://doc/Discard.html'>Discard</a></p>
            <table class="conntable">
            <tr><td>input 0</td><td>(pull)</td><td>&lt;-</td><td><a href="#et-Queue@3">Queue@3</a> [0]</td></tr>
            <tr><td colspan="4">no outputs</td></tr>
            </table>
            <p class="et"><a name="et-Queue@3"><b>Queue@3</b></a> :: <a href='http://doc/Queue.html'>Queue</a></p>
            <table class="conntable">
            <tr><td>input 0</td><td>(push)</td><td>&lt;-</td><td><a href="#et-X@2">X@2</a> [0]</td></tr>
            <tr><td>output 0</td><td>(pull)</td><td>-&gt;</td><td>[0] <a href="#et-d">d</a></td></tr>
            </table>
            <p class="et"><a name="et-s"><b>s</b></a> :: <a href='http://doc/InfiniteSource.html'>InfiniteSource</a></p>
            <table class="conntable">
            <tr><td colspan="4">no inputs</td></tr>
            <tr><td>output 0</td><td>(push)</td><td>-&gt;</td><td>[0] <a href="#et-X@2">X@2</a></td></tr>
            </table>
            <p class="et"><a name="et-X@2"><b>X@2</b></a> :: <a href='#decl0'>X</a></p>
            <table class="conntable">
            <tr><td>input 0</td><td>(push)</td><td>&lt;-</td><td><a href="#et-s">s</a> [0]</td></tr>
            <tr><td>output 0</td><td>(push)</td><td>-&gt;</td><td>[0] <a href="#et-Queue@3">Queue@3</a></td></tr>
            </table>

            </body></html>
        "##]],
    );
}

/// What is wrong with a text is marked in it, and the page is printed all the same; what is wrong with ports is said.
#[test]
fn mistakes_are_marked_in_the_page() {
    let config =
        "// One\nelementclass X { $a | input -> Y $b -> output\n}\nX(1) -> a :: Idle\n -> [x] a\n -> \"";
    check(
        clique(&["click-pretty", "-T", "<~config>", "-e", config]),
        expect![[r#"
        exit status: 0
        --- output
        <pre><span class='c-cmt'>// One</span>
        <span class='c-kw'>elementclass</span> <a name='decl0'><span class='c-cd'>X</span></a> { $a | input -&gt; <a name='e0-Y@1'><span class='c-ed'><span title='Y@1 :: Y'>Y</span></span></a> <span class='c-err' title='syntax error near &#39;b&#39;'>$b</span> -&gt; output
        }
        <span class='c-ed'><span title='X@1 :: X'><a href='#decl0' name='e-X@1'>X</a>(<span class='c-cfg'>1</span>)</span></span> -&gt; <a name='e-a'><span class='c-ed'><span title='a :: Idle'>a</span></span></a> :: Idle
         -&gt; [<span class='c-err' title='syntax error: port number should be integer'>x</span>] <span title='a :: Idle'>a</span>
         -&gt; <span class='c-err' title='syntax error near &#39;\&quot;&#39;'>"</span></pre>
    "#]],
    );
    check(
        clique(&["click-pretty", "-T", "<~config>", "-e", "Idle -> (\n-> Null\n"]),
        expect![[r#"
        exit status: 0
        --- output
        <pre><a name='e-Idle@1'><span class='c-ed'><span title='Idle@1 :: Idle'>Idle</span></span></a> -&gt; (
        -&gt; <a name='e-Null@5'><span class='c-ed'><span title='Null@5 :: Null'>Nul<span class='c-err' title='expected &#39;)&#39;'>l</span></span></span></a>
        </pre>
    "#]],
    );
    check(
        clique(&["click-pretty", "-T", "<~config>", "-e", "q :: Queue -> Discard"]),
        expect![[r#"
        exit status: 1
        --- output
        <pre><a name='e-q'><span class='c-ed'><span title='q :: Queue'>q</span></span></a> :: Queue -&gt; <a name='e-Discard@2'><span class='c-ed'><span title='Discard@2 :: Discard'>Discard</span></span></a></pre>
        --- messages
        config:1: too few inputs for 'q', 1 required
    "#]],
    );
}

/// Names lead to what they mean: in compound elements, of classes that mean others, without names.
#[test]
fn names_link_to_what_they_mean() {
    let config = "elementclass A { a :: Null, b :: Null; input -> a -> b -> output }\n\
        elementclass B A; elementclass A { input -> output || ... }\n\
        x, y :: B(/* c\nd */); x -> y -> ({ -> }) -> z :: { elementclass C { -> Null -> } -> C -> }";
    check(
        clique(&[
            "click-pretty",
            "-T",
            "<~config><~elements entry='<~name link> <~type link>\n'>",
            "-e",
            config,
        ]),
        expect![[r#"
            exit status: 1
            --- output
            <pre><span class='c-kw'>elementclass</span> <a name='decl0'><span class='c-cd'>A</span></a> { <a name='e0-a'><span class='c-ed'><span title='a :: Null'>a</span></span></a> :: Null, <a name='e0-b'><span class='c-ed'><span title='b :: Null'>b</span></span></a> :: Null; input -&gt; <span title='a :: Null'>a</span> -&gt; <span title='b :: Null'>b</span> -&gt; output }
            <span class='c-kw'>elementclass</span> <span class='c-cd'>B</span> <a href='#decl0'>A</a>; <span class='c-kw'>elementclass</span> <a name='decl1'><span class='c-cd'>A</span></a> { input -&gt; output || <a href='#decl0'>...</a> }
            <span class='c-ed'><span title='x :: A'><a name='e-x'>x</a>, <span class='c-ed'><span title='y :: A'><a name='e-y'>y</a> :: <a href='#decl0'>B</a>(<span class='c-cfg'>/* c</span></span></span></span></span>
            <span class='c-ed'><span title='x :: A'><span class='c-ed'><span title='y :: A'><span class='c-cfg'>d */</span>)</span></span></span></span>; <span title='x :: A'>x</span> -&gt; <span title='y :: A'>y</span> -&gt; (<span class='c-ed'><span title='@6 :: '><a name='decl2'><a name='e-@6'>{</a></a> -&gt; }</span></span>) -&gt; <a name='e-z'><span class='c-ed'><span title='z :: '>z</span></span></a> :: <a name='decl4'>{</a> <span class='c-kw'>elementclass</span> <a name='decl3'><span class='c-cd'>C</span></a> { -&gt; <a name='e3-Null@1'><span class='c-ed'><span title='Null@1 :: Null'>Null</span></span></a> -&gt; } -&gt; <a href='#decl3' name='e4-C@1'><span class='c-ed'><span title='C@1 :: C'>C</span></span></a> -&gt; }</pre>
            <a href='#e-@6'>@6</a> <a href='#decl2'></a>
            <a href='#e-x'>x</a> <a href='#decl0'>A</a>
            <a href='#e-y'>y</a> <a href='#decl0'>A</a>
            <a href='#e-z'>z</a> <a href='#decl4'></a>
            --- messages
            config:1: too few inputs for 'x/a', 1 required
            config:1: too few outputs for 'y/b', 1 required
            config:4: too few inputs for 'z/C@1/Null@1', 1 required
            config:4: too few outputs for 'z/C@1/Null@1', 1 required
        "#]],
    );
}

/// A page of a template of one's own: with tags of all kinds.
#[test]
fn a_template_is_filled_in() {
    let dir = tempfile::tempdir().unwrap();
    let template = r#"<~config><~Title />: <~elements column='1/2' sep='; '
      entry='<~name link=yes> <~type>(<~config limit=5>) <~ninputs>/<~noutputs english><~inputs sep="|"><~outputs>
'
      typeentry='<~type link> in <~typerefs sep="," entry="<~name>"> <~processingcode> <~flowcode>
'
      inputentry=' <~port><~processing>: <~inputconnections sep="+">'
      outputentry='<~if test="<~port>" eq="0" then=" first <~who>" else=" other"> to <~outputconnections sep=" and ">'
      noinputentry=' no input' nooutputentry=' no output' noinputconnection='nothing'
      inputconnection='<~name>[<~port>]' outputconnection='[<~port>]<~name>'>
    ... <~unknown><~Loop>."#;
    std::fs::write(dir.path().join("t"), template).unwrap();
    let config = "elementclass X { input -> Strip(1) -> output } s :: InfiniteSource(LIMIT 1000) -> x2 :: X -> t :: Tee; \
        t [1] -> x10 :: X -> Discard; t -> Queue -> d :: Discard";
    let page =
        |more: &[&str]| clique_in(dir.path(), &[&["click-pretty", "-t", "t", "-e", config], more].concat());
    check(
        page(&["-d", "title=T", "-d", "Who=<~name>", "-d", "loop=<~loop>!"]),
        expect![[r#"
            exit status: 0
            --- output
            <pre><span class='c-kw'>elementclass</span> <a name='decl0'><span class='c-cd'>X</span></a> { input -&gt; <span class='c-ed'><span title='Strip@1 :: Strip'><a name='e0-Strip@1'>Strip</a>(<span class='c-cfg'>1</span>)</span></span> -&gt; output } <span class='c-ed'><span title='s :: InfiniteSource'><a name='e-s'>s</a> :: InfiniteSource(<span class='c-cfg'>LIMIT 1000</span>)</span></span> -&gt; <a name='e-x2'><span class='c-ed'><span title='x2 :: X'>x2</span></span></a> :: <a href='#decl0'>X</a> -&gt; <a name='e-t'><span class='c-ed'><span title='t :: Tee'>t</span></span></a> :: Tee; <span title='t :: Tee'>t</span> [1] -&gt; <a name='e-x10'><span class='c-ed'><span title='x10 :: X'>x10</span></span></a> :: <a href='#decl0'>X</a> -&gt; <a name='e-Discard@5'><span class='c-ed'><span title='Discard@5 :: Discard'>Discard</span></span></a>; <span title='t :: Tee'>t</span> -&gt; <a name='e-Queue@6'><span class='c-ed'><span title='Queue@6 :: Queue'>Queue</span></span></a> -&gt; <a name='e-d'><span class='c-ed'><span title='d :: Discard'>d</span></span></a> :: Discard</pre>
            T: <a href='#e-d'>d</a> Discard() 1/0 outputs 0pull: Queue@6[0] no output
            ; Discard in d,Discard@5 a/a x/x
            ; <a href='#e-Discard@5'>Discard@5</a> Discard() 1/0 outputs 0push: x10[0] no output
            ; InfiniteSource in s a/a x/x
            ; Queue in Queue@6 h/lh x/x
            ; <a href='#e-Queue@6'>Queue@6</a> Queue() 1/1 output 0push: t[0] first Queue@6 to [0]d

                ... !!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!.
        "#]],
    );
    std::fs::write(
        dir.path().join("t"),
        "<~elements column='2/2' entry='<~name> '> <~elements typeentry='<~name link>,'>",
    )
    .unwrap();
    check(
        page(&["-u", "u?%s"]),
        expect![[r#"
            exit status: 0
            --- output
            t x2 x10  <a href='u?Discard'>Discard</a>,<a href='u?InfiniteSource'>InfiniteSource</a>,<a href='u?Queue'>Queue</a>,<a href='u?Tee'>Tee</a>,<a href='#decl0'>X</a>,
        "#]],
    );
    let shown = clique(&["click-pretty", "--write-template"]);
    assert!(shown.contains("\n<~config>\n"), "{shown}");
    fails(page(&["-t", "no/such"]), "click-pretty: no/such: No such file or directory");
    misused(&["click-pretty", "--dot", "--gml"], "action specified twice");
    misused(&["click-pretty", "-k", "--userlevel"], "driver specified twice");
    check(
        clique(&["click-pretty", "--templ=no/such", "--template-t", "<~x>", "-d", "x=y", "-e", "Idle"]),
        expect![[r#"
            exit status: 0
            --- output
            y
        "#]],
    );
    misused(&["click-pretty", "--package-docs", "x"], "'--package-docs' option must contain an equals sign");
}

#[test]
fn a_template_labels_the_elements_of_a_graph() {
    let labelled =
        |form: &str| clique(&["click-pretty", form, "-T", "<~name>(<~config>)", "-e", "a :: Idle(1)"]);
    assert!(labelled("--dot").contains("  \"a\" [label=\"a(1)\"];\n"));
    assert!(labelled("--gml").contains("    label \"a(1)\"\n"));
    assert!(labelled("--graphml").contains(" <data key=\"kc\">a(1)</data>\n"));
}

#[test]
fn a_graph_is_printed_in_each_format() {
    let config = "elementclass X { -> } a :: Idle -> X -> q :: Queue -> [1] b :: Y [1] -> Discard; Info(1)";
    for form in ["--dot", "--gml", "--graphml"] {
        let found = clique(&["click-pretty", form, "-e", config]);
        match form {
            "--dot" => check(
                found,
                expect![[r#"
                    exit status: 1
                    --- output
                    digraph clickrouter {
                      node [shape=record,height=.1]
                      edge [arrowhead=normal,arrowtail=none,tailclip=false]
                      "a" [label="{a :: Idle|{<o0>}}"];
                      "X@2" [label="{{<i0>}|X|{<o0>}}"];
                      "q" [label="{{<i0>}|q :: Queue|{<o0>}}"];
                      "b" [label="{{<i0>|<i1>}|b :: Y|{<o0>|<o1>}}"];
                      "Discard@5" [label="{{<i0>}|Discard}"];
                      "Info@6" [label="Info"];
                      "a":o0 -> "X@2":i0;
                      "X@2":o0 -> "q":i0;
                      "q":o0 -> "b":i1;
                      "b":o1 -> "Discard@5":i0;
                    }
                    --- messages
                    config:1: warning: unknown element class 'Y'
                    config:1: warning: unknown element class 'Info'
                    config:1: 'b' pull input 0 not connected
                    config:1: 'b' pull output 0 not connected
                "#]],
            ),
            "--gml" => check(
                found,
                expect![[r#"
                    exit status: 1
                    --- output
                    Creator "click-pretty"
                    graph
                    [ hierarchic 1
                      directed 1
                      node
                      [ id 0
                        label "a :: Idle"
                      ]
                      node
                      [ id 1
                        label "X"
                      ]
                      node
                      [ id 2
                        label "q :: Queue"
                      ]
                      node
                      [ id 3
                        label "b :: Y"
                      ]
                      node
                      [ id 4
                        label "Discard"
                      ]
                      node
                      [ id 5
                        label "Info"
                      ]
                      edge
                      [ source 0
                        target 1
                        edgeAnchor
                        [ xSource 0.000000
                          xTarget 0.000000
                          ySource 1
                          yTarget -1
                        ]
                      ]
                      edge
                      [ source 1
                        target 2
                        edgeAnchor
                        [ xSource 0.000000
                          xTarget 0.000000
                          ySource 1
                          yTarget -1
                        ]
                      ]
                      edge
                      [ source 2
                        target 3
                        edgeAnchor
                        [ xSource 0.000000
                          xTarget 0.000000
                          ySource 1
                          yTarget -1
                        ]
                      ]
                      edge
                      [ source 3
                        target 4
                        edgeAnchor
                        [ xSource 0.000000
                          xTarget 0.000000
                          ySource 1
                          yTarget -1
                        ]
                      ]
                    ]
                    --- messages
                    config:1: warning: unknown element class 'Y'
                    config:1: warning: unknown element class 'Info'
                    config:1: 'b' pull input 0 not connected
                    config:1: 'b' pull output 0 not connected
                "#]],
            ),
            _ => check(
                found,
                expect![[r#"
                    exit status: 1
                    --- output
                    <?xml version="1.0" encoding="UTF-8"?>
                    <graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
                    <key id="kn" for="node" attr.name="name" attr.type="string" />
                    <key id="kc" for="node" attr.name="class" attr.type="string" />
                    <key id="kp" for="port" attr.name="processing" attr.type="string">
                      <default>a</default>
                    </key>
                    <graph id="G" edgedefault="directed">
                      <node id="n0" parse.indegree="0" parse.outdegree="1">
                        <data key="kn">a</data> <data key="kc">a :: Idle</data>
                        <port name="o0"> <data key="kp">a</data> </port>
                      </node>
                      <node id="n1" parse.indegree="1" parse.outdegree="1">
                        <data key="kn">X@2</data> <data key="kc">X</data>
                        <port name="i0"> <data key="kp">a</data> </port>
                        <port name="o0"> <data key="kp">a</data> </port>
                      </node>
                      <node id="n2" parse.indegree="1" parse.outdegree="1">
                        <data key="kn">q</data> <data key="kc">q :: Queue</data>
                        <port name="i0"> <data key="kp">a</data> </port>
                        <port name="o0"> <data key="kp">a</data> </port>
                      </node>
                      <node id="n3" parse.indegree="2" parse.outdegree="2">
                        <data key="kn">b</data> <data key="kc">b :: Y</data>
                        <port name="i0"> <data key="kp">a</data> </port>
                        <port name="i1"> <data key="kp">a</data> </port>
                        <port name="o0"> <data key="kp">a</data> </port>
                        <port name="o1"> <data key="kp">a</data> </port>
                      </node>
                      <node id="n4" parse.indegree="1" parse.outdegree="0">
                        <data key="kn">Discard@5</data> <data key="kc">Discard</data>
                        <port name="i0"> <data key="kp">a</data> </port>
                      </node>
                      <node id="n5" parse.indegree="0" parse.outdegree="0">
                        <data key="kn">Info@6</data> <data key="kc">Info</data>
                      </node>
                      <edge id="e0" source="n0" target="n1" sourceport="o0" targetport="i0" />
                      <edge id="e1" source="n1" target="n2" sourceport="o0" targetport="i0" />
                      <edge id="e2" source="n2" target="n3" sourceport="o0" targetport="i1" />
                      <edge id="e3" source="n3" target="n4" sourceport="o1" targetport="i0" />
                    </graph>
                    </graphml>
                    --- messages
                    config:1: warning: unknown element class 'Y'
                    config:1: warning: unknown element class 'Info'
                    config:1: 'b' pull input 0 not connected
                    config:1: 'b' pull output 0 not connected
                "#]],
            ),
        }
    }
}
