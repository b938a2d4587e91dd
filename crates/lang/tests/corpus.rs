//! Replays the corpus of the fuzz target `lang_parse`.

#[path = "../../../fuzz/mutations.rs"]
mod mutations;

use clique_lang as lang;
use std::fs;
use std::path::Path;

#[test]
fn every_text_of_the_corpus_is_parsed_and_printed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/lang_parse");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let data = fs::read(entry.unwrap().path()).unwrap();
        let text = String::from_utf8_lossy(&data);
        let options = lang::Options { classes: Some(&["Foo", "Queue"]), ..lang::Options::default() };
        for options in [lang::Options::default(), options] {
            let parsed = lang::parse_with(&text, "fuzz", &options);
            assert_eq!(parsed.has_errors(), parsed.render_fancy(false).contains("Error"));
            parsed.render_click();
            lang::flatten(&parsed.graph);
            lang::graph::dot(&parsed.graph);
            lang::graph::json(&parsed.graph);
            lang::graph::svg(&parsed.graph);
        }
        let pretty = lang::pretty(&text);
        assert_eq!(lang::pretty(&pretty), pretty);
        for arg in lang::conf::split_args(&text) {
            lang::conf::split_spaces(&arg);
            lang::conf::unquote(&arg);
        }
        count += 1;
    }
    assert!(count > 0);
}

/// As the fuzz target has it: a few bytes can ask for as much work as the limits allow.
#[test]
fn texts_that_are_nearly_right() {
    let usual = lang::Limits::default();
    let limits = lang::Limits { elements: 1 << 9, connections: 1 << 10, expansion: 1 << 17, ..usual };
    mutations::each("lang_parse", |data| {
        let text = String::from_utf8_lossy(data);
        let options = lang::Options { limits: limits.clone(), ..lang::Options::default() };
        let parsed = lang::parse_with(&text, "fuzz", &options);
        parsed.render_click();
        parsed.render_fancy(false);
        lang::flatten(&parsed.graph);
        lang::graph::svg(&parsed.graph);
        lang::pretty(&text);
    });
}
