//! Self-test: error messages.
//!
//! ```click
//! ErrorTest
//! ```
//!
//! When the router starts, this tests the messages that the program prints for wrong configurations, each in a small
//! router of its own: syntax errors, unknown classes, mismatched ports, bad arguments and bad handlers. It also tests
//! that messages name the line, that all errors are reported and not only the first, and that merely odd things are
//! not errors. It prints `All tests pass!`, or the router does not start.
//!
//! Ports: none. Workers: worker 0.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! ErrorTest
//! ```
//!
//! # See also
//! ConfParseTest, Error, Message

use super::trial::{Trial, element};
use router::{Class, Config, ConfigError, Cx, Element, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("ErrorTest", create)
    .ports("0/0")
    .residency(Residency::Exclusive)
    .doc(include_str!("error_test.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    element(config, tests)
}

fn tests(trial: &mut Trial, _cx: &mut Cx<'_>) {
    for (config, message) in [
        ("Idle ->", "syntax error"),
        ("Idle -> Discard\n->", "config:2: "),
        ("a :: Nonsense", "unknown element class 'Nonsense'"),
        ("a :: Idle; a :: Idle", "redeclaration of element 'a'"),
        ("a :: Idle -> b", "'b'"),
        ("Idle -> Strip(-1) -> Discard", "LENGTH: invalid number"),
        ("Idle -> Strip -> Discard", "LENGTH"),
        ("Idle -> Paint(1, SHADE 2) -> Discard", "SHADE"),
        ("Idle -> Null(1) -> Discard", "too many arguments"),
        ("\n\nIdle -> p :: Paint(x) -> Discard", "config:3: While configuring 'p :: Paint':"),
        ("InfiniteSource -> PullNull -> Queue -> Discard", "pull"),
        ("Idle -> [1] Discard", "input"),
        ("Idle -> c :: Counter(COUNT_CALL 1 c.rest) -> Discard", "While initializing 'c :: Counter':"),
        ("Idle -> Counter(COUNT_CALL 1 x.reset) -> Discard", "no element named 'x'"),
    ] {
        trial.refused(config, message);
    }
    let two = "Idle -> Paint(x) -> Strip(y) -> Discard";
    trial.refused(two, "COLOR: invalid number");
    trial.refused(two, "LENGTH: invalid number");
    // What is odd, but no error.
    for config in [
        "Message(odd, WARNING); Script(stop)",
        "BitvectorTest; Script(stop)",
        "require(package odd); Script(stop)",
    ] {
        trial.run(config, "", &[]);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run;

    #[test]
    fn passes() {
        assert_eq!(run("ErrorTest; Script(stop)"), "All tests pass!\n");
    }
}
