//! Random texts: nothing panics, and printing is consistent with parsing.

mod common;

use clique_lang as lang;
use common::{program, soup};
use proptest::prelude::*;

/// Everything that can be done with a text.
fn everything(text: &str) {
    let parsed = lang::parse(text, "f", &[]);
    parsed.render_click();
    parsed.render_json();
    parsed.render_fancy(false);
    lang::flatten(&parsed.graph);
    lang::nested(text, "f", &lang::Options::default());
    lang::print::highlights(text);
    lang::graph::dot(&parsed.graph);
    lang::graph::json(&parsed.graph);
    lang::graph::svg(&parsed.graph);
    let options = lang::Options { classes: Some(&["Foo", "Bar"]), ..lang::Options::default() };
    lang::parse_with(text, "f", &options).render_fancy(true);
    lang::pretty(text);
}

fn trimmed(mut graph: lang::Graph) -> lang::Graph {
    for e in &mut graph.elements {
        e.config = e.config.trim().to_owned();
    }
    graph
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        everything(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn soup_does_not_panic(text in soup()) {
        everything(&text);
    }

    #[test]
    fn pretty_is_idempotent(text in soup()) {
        let once = lang::pretty(&text);
        prop_assert_eq!(lang::pretty(&once), once);
    }

    #[test]
    fn pretty_keeps_the_meaning(text in soup()) {
        let (before, after) = (lang::parse(&text, "f", &[]), lang::parse(&lang::pretty(&text), "f", &[]));
        if before.has_errors() {
            return Ok(());
        }
        prop_assert!(trimmed(before.graph).same_as(&trimmed(after.graph)));
        prop_assert_eq!(before.diagnostics.len(), after.diagnostics.len());
    }

    #[test]
    fn pretty_programs_mean_the_same(text in program()) {
        let (before, after) = (lang::parse(&text, "f", &[]), lang::parse(&lang::pretty(&text), "f", &[]));
        prop_assert!(trimmed(before.graph).same_as(&trimmed(after.graph)));
    }

    #[test]
    fn flat_text_gives_the_same_graph(text in program()) {
        let parsed = lang::parse(&text, "f", &[]);
        prop_assert_eq!(parsed.render_click(), "");
        let flat = lang::flatten(&parsed.graph);
        let again = lang::parse(&flat, "f", &[]);
        prop_assert_eq!(again.render_click(), "");
        prop_assert!(again.graph.same_as(&parsed.graph), "{}", flat);
        prop_assert_eq!(lang::flatten(&again.graph), flat);
    }
}
