//! Self-test: large numbers.
//!
//! ```click
//! BigintTest
//! ```
//!
//! When the router starts, this tests how the program handles numbers beyond 32 bits: how they are parsed, up to the
//! largest that fits each width and the first that does not; and how scripts calculate with them, in 64 bits. Click's
//! class tests arithmetic on longer numbers, which does not exist here. It prints `All tests pass!`, or the router
//! does not start.
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
//! BigintTest
//! ```
//!
//! # See also
//! ConfParseTest, FunctionTest, Script

use super::trial::{Trial, element};
use router::{Class, Config, ConfigError, Cx, Element, FromArg, Residency, parse_integer};
use std::fmt::Display;

/// The class.
pub(crate) const CLASS: Class = Class::new("BigintTest", create)
    .ports("0/0")
    .residency(Residency::Exclusive)
    .doc(include_str!("bigint_test.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    element(config, tests)
}

fn tests(trial: &mut Trial, cx: &mut Cx<'_>) {
    for (text, expected) in [
        ("18446744073709551616", Some(1 << 64)),
        ("0x10000000000000000", Some(1 << 64)),
        ("02000000000000000000000", Some(1 << 64)),
        ("-9_223_372_036_854_775_809", Some(-(1i128 << 63) - 1)),
        ("0b1000000000000000000000000000000000", Some(1 << 33)),
        ("184467440737095516l6", None),
        ("0x", None),
        ("1__0", None),
        ("08", None),
    ] {
        trial.same(&format!("the number {text}"), parse_integer(text), expected);
    }
    let huge = "9".repeat(100);
    trial.holds("a number of a hundred digits is one", parse_integer(&huge).is_some_and(|n| n > 1 << 100));
    range::<u8>(trial, cx, 0, u8::MAX.into());
    range::<i16>(trial, cx, i16::MIN.into(), i16::MAX.into());
    range::<u32>(trial, cx, 0, u32::MAX.into());
    range::<i32>(trial, cx, i32::MIN.into(), i32::MAX.into());
    range::<u64>(trial, cx, 0, u64::MAX.into());
    range::<i64>(trial, cx, i64::MIN.into(), i64::MAX.into());
    trial.holds("no integer takes a hundred digits", router::value::<u64>(cx, &huge).is_err());
    trial.run(
        "s :: Script(TYPE PASSIVE); Script(stop)",
        "",
        &[
            ("s.add 4294967295 1", "4294967296"),
            ("s.add 0x7fffffffffffffff -1", "9223372036854775806"),
            ("s.sub 4294967296 4294967297", "-1"),
            ("s.mul 4294967296 2147483647", "9223372032559808512"),
            ("s.idiv 9007199254740992 4096", "2199023255552"),
            ("s.mod 9223372036854775807 4294967296", "4294967295"),
            ("s.neg 9223372036854775807", "-9223372036854775807"),
            ("s.gt 9223372036854775807 9223372036854775806", "true"),
            ("s.max 4294967296 9223372036854775807", "9223372036854775807"),
            ("s.eq 9007199254740993 9007199254740992", "false"),
        ],
    );
}

/// A type takes its least and its greatest number, and none beyond.
fn range<T: FromArg + Display>(trial: &mut Trial, cx: &Cx<'_>, least: i128, greatest: i128) {
    for (number, fits) in [(least, true), (greatest, true), (least - 1, false), (greatest + 1, false)] {
        let found: Result<T, String> = router::value(cx, &number.to_string());
        let expected = fits.then(|| number.to_string());
        trial.same(
            &format!("{number} between {least} and {greatest}"),
            found.ok().map(|n| n.to_string()),
            expected,
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run;

    #[test]
    fn passes() {
        assert_eq!(run("BigintTest; Script(stop)"), "All tests pass!\n");
    }
}
