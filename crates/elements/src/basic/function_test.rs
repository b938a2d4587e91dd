//! Self-test: functions on numbers, times and text.
//!
//! ```click
//! FunctionTest
//! ```
//!
//! When the router starts, this tests functions that elements of this program share: how points in time and time
//! spans are parsed and printed, and how scripts calculate, compare numbers, and process text. It prints
//! `All tests pass!`, or the router does not start.
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
//! FunctionTest
//! ```
//!
//! # See also
//! BigintTest, CryptoTest, Script

use super::instant::Instant;
use super::print::write_time;
use super::trial::{Trial, element};
use router::{Class, Config, ConfigError, Cx, Element, Residency};
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("FunctionTest", create)
    .ports("0/0")
    .residency(Residency::Exclusive)
    .doc(include_str!("function_test.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    element(config, tests)
}

fn tests(trial: &mut Trial, cx: &mut Cx<'_>) {
    times(trial, cx);
    spans(trial, cx);
    scripts(trial);
}

fn times(trial: &mut Trial, cx: &Cx<'_>) {
    for (text, ns) in [
        ("0", Some(0)),
        ("1700000000.123456789", Some(1_700_000_000_123_456_789)),
        ("-0.5", Some(-500_000_000)),
        (".25", Some(250_000_000)),
        ("3.0000000019", Some(3_000_000_001)),
        ("1.2.3", None),
        ("soon", None),
        ("99999999999999", None),
    ] {
        let found = router::value::<Instant>(cx, text).ok().map(|instant| instant.0);
        trial.same(&format!("the time {text}"), found, ns);
    }
    for (ns, text) in [
        (0, "0.000000"),
        (1_000_000_000_010_000_000, "1000000000.010000"),
        (1_500_000_001, "1.500000001"),
        (-250_000_000, "-0.250000"),
        (999_999_999, "0.999999999"),
    ] {
        let mut written = String::new();
        write_time(&mut written, ns);
        trial.same(&format!("{ns} ns, written"), written.as_str(), text);
        let again = router::value::<Instant>(cx, &written).ok().map(|instant| instant.0);
        trial.same(&format!("{ns} ns, written and read"), again, Some(ns));
    }
}

fn spans(trial: &mut Trial, cx: &Cx<'_>) {
    for (text, written) in [
        ("0", "0ms"),
        ("0.02", "20ms"),
        ("1500us", "1500us"),
        ("7ns", "7ns"),
        ("1.5s", "1.500000s"),
        ("2min", "120.000000s"),
        ("1.000000001", "1.000000001s"),
    ] {
        let span = router::value::<Duration>(cx, text).ok();
        trial.same(&format!("the time span {text}"), span.map(router::interval).as_deref(), Some(written));
        let again = router::value::<Duration>(cx, written).ok();
        trial.same(&format!("the time span {written}"), again, span);
    }
}

fn scripts(trial: &mut Trial) {
    trial.run(
        "s :: Script(TYPE PASSIVE); Script(stop)",
        "",
        &[
            ("s.add 1 2 3", "6"),
            ("s.sub 1 2", "-1"),
            ("s.mul 3 0.5", "1.5"),
            ("s.div 7 2", "3.5"),
            ("s.idiv 7 2", "3"),
            ("s.mod -7 3", "-1"),
            ("s.abs -3", "3"),
            ("s.min 3 1 2", "1"),
            ("s.max 3 1 2", "3"),
            ("s.lt 1 2", "true"),
            ("s.ge 1 2", "false"),
            ("s.eq 0x10 16", "true"),
            ("s.and true false", "false"),
            ("s.or true false", "true"),
            ("s.not true", "false"),
            ("s.if true a b", "a"),
            ("s.in b a b", "true"),
            ("s.htons 1", "256"),
            ("s.ntohl 1", "16777216"),
            ("s.sprintf %04x 255", "00ff"),
            ("s.sprintf \"%5d|\" 42", "   42|"),
            ("s.length abcd", "4"),
        ],
    );
}

#[cfg(test)]
mod tests {
    use crate::testing::run;

    #[test]
    fn passes() {
        assert_eq!(run("FunctionTest; Script(stop)"), "All tests pass!\n");
    }
}
