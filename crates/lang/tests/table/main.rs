//! Small configurations and the flat graphs or messages that they give.

mod compound_errors;
mod compounds;
mod connections;
mod names;
mod port_errors;
mod syntax_errors;
mod texts;

use clique_lang as lang;
use expect_test::Expect;

/// Checks the flat text of a configuration, followed by its diagnostics in Click's form.
fn check(source: &str, expected: Expect) {
    let parsed = lang::parse(source, "config", &[]);
    expected.assert_eq(&format!("{}{}", lang::flatten(&parsed.graph), parsed.render_click()));
}
