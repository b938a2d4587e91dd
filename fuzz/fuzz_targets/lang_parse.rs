//! Any bytes as a configuration: nothing panics, and the work stays bounded.
//!
//! The corpus is replayed by `crates/lang/tests/corpus.rs`.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let options = lang::Options { classes: Some(&["Foo", "Queue"]), ..lang::Options::default() };
    for options in [lang::Options::default(), options] {
        let parsed = lang::parse_with(&text, "fuzz", &options);
        parsed.render_click();
        parsed.render_fancy(false);
        lang::flatten(&parsed.graph);
        lang::graph::dot(&parsed.graph);
        lang::graph::json(&parsed.graph);
        lang::graph::svg(&parsed.graph);
    }
    lang::pretty(&text);
    for arg in lang::conf::split_args(&text) {
        lang::conf::split_spaces(&arg);
        lang::conf::unquote(&arg);
    }
});
