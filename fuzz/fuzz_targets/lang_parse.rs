//! Any bytes as a configuration: nothing panics, and the work stays bounded.
//!
//! The corpus is replayed by `crates/lang/tests/corpus.rs`.

#![no_main]

use libfuzzer_sys::fuzz_target;

/// A few bytes can ask for as much work as the limits allow; these are reached within milliseconds.
fn limits() -> lang::Limits {
    lang::Limits {
        elements: 1 << 9,
        connections: 1 << 10,
        expansion: 1 << 17,
        ..lang::Limits::default()
    }
}

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let free = lang::Options { limits: limits(), ..lang::Options::default() };
    let strict = lang::Options { classes: Some(&["Foo", "Queue"]), ..free.clone() };
    for options in [free, strict] {
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
