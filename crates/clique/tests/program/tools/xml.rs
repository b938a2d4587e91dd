//! `click2xml`.

use super::{SMALL, check, misused};
use crate::clique;
use expect_test::expect;

#[test]
fn a_configuration_is_written_as_xml() {
    check(
        clique(&["click2xml", "-F", "-e", SMALL]),
        expect![[r#"
            exit status: 0
            --- output
            <?xml version="1.0" encoding="UTF-8" standalone="no"?>
            <!DOCTYPE configuration SYSTEM "http://www.pdos.lcs.mit.edu/click/clickconfig.dtd">
            <configuration xmlns="http://www.lcdf.org/click/xml/">
            <element name="s" classname="InfiniteSource" file="config" line="3" ninputs="0" noutputs="1" processing="/h" config="DATA &quot;&lt;&amp;&#39;&gt;&quot;,&#10; LIMIT 3" />
            <element name="Queue@3" classname="Queue" file="config" line="4" ninputs="1" noutputs="1" processing="h/l" />
            <element name="d" classname="Discard" file="config" line="4" ninputs="1" noutputs="0" processing="l/" />
            <element name="X@2/Counter@1" classname="Counter" file="config" line="2" ninputs="1" noutputs="1" processing="h/h" />
            <element name="X@2/Strip@2" classname="Strip" file="config" line="2" ninputs="1" noutputs="1" processing="h/h" config="2" />
            <connection from="Queue@3" fromport="0" to="d" toport="0" processing="l" />
            <connection from="X@2/Counter@1" fromport="0" to="X@2/Strip@2" toport="0" processing="h" />
            <connection from="X@2/Strip@2" fromport="0" to="Queue@3" toport="0" processing="h" />
            <connection from="s" fromport="0" to="X@2/Counter@1" toport="0" processing="h" />
            </configuration>
        "#]],
    );
    check(
        clique(&["click2xml", "-l", "-e", "a :: Unknown -> [1] a"]),
        expect![[r#"
            exit status: 1
            --- output
            <?xml version="1.0" encoding="UTF-8" standalone="no"?>
            <!DOCTYPE configuration SYSTEM "http://www.pdos.lcs.mit.edu/click/clickconfig.dtd">
            <configuration xmlns="http://www.lcdf.org/click/xml/">
            <element name="a" classname="Unknown" file="config" line="1" ninputs="2" noutputs="1" processing="hh/h" />
            <connection from="a" fromport="0" to="a" toport="1" processing="h" />
            </configuration>
            --- messages
            click2xml: warning: there is no linuxmodule driver here
            config:1: warning: unknown element class 'Unknown'
            config:1: 'a' push input 0 not connected
        "#]],
    );
}

/// Classes stand before the elements of their scope; an overloading stands before what it overloads.
#[test]
fn classes_stand_before_the_elements_of_their_scope() {
    check(
        clique(&["click2xml", "-e", SMALL]),
        expect![[r#"
        exit status: 0
        --- output
        <?xml version="1.0" encoding="UTF-8" standalone="no"?>
        <!DOCTYPE configuration SYSTEM "http://www.pdos.lcs.mit.edu/click/clickconfig.dtd">
        <configuration xmlns="http://www.lcdf.org/click/xml/">
        <elementclass classname="X" classid="c0" file="config" line="2">
          <compound ninputs="1" noutputs="1" nformals="1">
            <formal number="0" name="n" />
            <element name="Counter@1" classname="Counter" file="config" line="2" ninputs="1" noutputs="1" processing="h/h" />
            <element name="Strip@2" classname="Strip" file="config" line="2" ninputs="1" noutputs="1" processing="h/h" config="$n" />
            <connection from="input" fromport="0" to="Counter@1" toport="0" processing="h" />
            <connection from="Counter@1" fromport="0" to="Strip@2" toport="0" processing="h" />
            <connection from="Strip@2" fromport="0" to="output" toport="0" processing="h" />
          </compound>
        </elementclass>
        <element name="s" classname="InfiniteSource" file="config" line="3" ninputs="0" noutputs="1" processing="/h" config="DATA &quot;&lt;&amp;&#39;&gt;&quot;,&#10; LIMIT 3" />
        <element name="X@2" classid="c0" file="config" line="4" ninputs="1" noutputs="1" processing="h/h" config="2" />
        <element name="Queue@3" classname="Queue" file="config" line="4" ninputs="1" noutputs="1" processing="h/l" />
        <element name="d" classname="Discard" file="config" line="4" ninputs="1" noutputs="0" processing="l/" />
        <connection from="s" fromport="0" to="X@2" toport="0" processing="h" />
        <connection from="X@2" fromport="0" to="Queue@3" toport="0" processing="h" />
        <connection from="Queue@3" fromport="0" to="d" toport="0" processing="l" />
        </configuration>
    "#]],
    );
    let config = "elementclass X { $a, K $k | Idle -> y :: { -> z :: Strip($a) -> } -> output\n|| -> [0] q :: Queue -> output || ... }\n\
        X(1, K 2) -> Discard; elementclass Y X; (Idle -> ) -> Y -> Discard";
    check(
        clique(&["click2xml", "-e", &config.replace("|| ... ", "")]),
        expect![[r#"
            exit status: 0
            --- output
            <?xml version="1.0" encoding="UTF-8" standalone="no"?>
            <!DOCTYPE configuration SYSTEM "http://www.pdos.lcs.mit.edu/click/clickconfig.dtd">
            <configuration xmlns="http://www.lcdf.org/click/xml/">
            <elementclass classname="X" classid="c2" file="config" line="2">
              <compound ninputs="1" noutputs="1" nformals="0">
                <element name="q" classname="Queue" file="config" line="2" ninputs="1" noutputs="1" processing="h/l" />
                <connection from="input" fromport="0" to="q" toport="0" processing="h" />
                <connection from="q" fromport="0" to="output" toport="0" processing="l" />
              </compound>
            </elementclass>
            <elementclass classname="X" classid="c1" file="config" line="1">
              <compound overloadclassid="c2" ninputs="0" noutputs="1" nformals="2">
                <formal number="0" name="a" />
                <formal number="1" name="k" key="K" />
                <elementclass classid="c0" file="config" line="1">
                  <compound ninputs="1" noutputs="1" nformals="0">
                    <element name="z" classname="Strip" file="config" line="1" ninputs="1" noutputs="1" processing="h/h" config="$a" />
                    <connection from="input" fromport="0" to="z" toport="0" processing="h" />
                    <connection from="z" fromport="0" to="output" toport="0" processing="h" />
                  </compound>
                </elementclass>
                <element name="Idle@1" classname="Idle" file="config" line="1" ninputs="0" noutputs="1" processing="/h" />
                <element name="y" classid="c0" file="config" line="1" ninputs="1" noutputs="1" processing="h/h" />
                <connection from="Idle@1" fromport="0" to="y" toport="0" processing="h" />
                <connection from="y" fromport="0" to="output" toport="0" processing="h" />
              </compound>
            </elementclass>
            <element name="X@1" classid="c1" file="config" line="3" ninputs="0" noutputs="1" processing="/h" config="1, K 2" />
            <element name="Discard@2" classname="Discard" file="config" line="3" ninputs="1" noutputs="0" processing="h/" />
            <element name="Idle@6" classname="Idle" file="config" line="3" ninputs="0" noutputs="1" processing="/h" />
            <element name="Y@7" classid="c1" file="config" line="3" ninputs="1" noutputs="1" processing="h/l" />
            <element name="Discard@8" classname="Discard" file="config" line="3" ninputs="1" noutputs="0" processing="l/" />
            <connection from="X@1" fromport="0" to="Discard@2" toport="0" processing="h" />
            <connection from="Y@7" fromport="0" to="Discard@8" toport="0" processing="l" />
            <connection from="Idle@6" fromport="0" to="Y@7" toport="0" processing="h" />
            </configuration>
        "#]],
    );
}

/// Without compound elements, connections have the order in which Click's tools keep them, and variables stay.
#[test]
fn flat_xml_keeps_clicks_order_and_the_variables() {
    misused(&["click2xml", "--userlevel", "-b"], "driver specified twice");
    let config = "define($N 3) s :: Idle -> x :: { -> p :: Strip($N) -> } -> d :: Discard; w :: Idle -> d";
    check(
        clique(&["click2xml", "-F", "-e", config]),
        expect![[r#"
        exit status: 0
        --- output
        <?xml version="1.0" encoding="UTF-8" standalone="no"?>
        <!DOCTYPE configuration SYSTEM "http://www.pdos.lcs.mit.edu/click/clickconfig.dtd">
        <configuration xmlns="http://www.lcdf.org/click/xml/">
        <element name="s" classname="Idle" file="config" line="1" ninputs="0" noutputs="1" processing="/h" />
        <element name="d" classname="Discard" file="config" line="1" ninputs="1" noutputs="0" processing="h/" />
        <element name="w" classname="Idle" file="config" line="1" ninputs="0" noutputs="1" processing="/h" />
        <element name="x/p" classname="Strip" file="config" line="1" ninputs="1" noutputs="1" processing="h/h" config="$N" />
        <connection from="w" fromport="0" to="d" toport="0" processing="h" />
        <connection from="x/p" fromport="0" to="d" toport="0" processing="h" />
        <connection from="s" fromport="0" to="x/p" toport="0" processing="h" />
        </configuration>
    "#]],
    );
}
