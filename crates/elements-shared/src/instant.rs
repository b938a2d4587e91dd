//! Points in time and signed spans as arguments.

use router::{FromArg, Scope};

/// Nanoseconds, since the epoch or between two events; written in seconds unless another unit is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Instant(pub i64);

fn parse(text: &str) -> Option<i64> {
    router::parse_time(text).and_then(|ns| i64::try_from(ns).ok())
}

/// Reads a time that is not negative.
pub fn parse_span(text: &str) -> Option<i64> {
    parse(text).filter(|ns| *ns >= 0)
}

impl FromArg for Instant {
    const EXPECTED: &'static str = "time in seconds";

    fn from_arg(text: &str, _: Scope<'_>) -> Result<Self, String> {
        parse(text).map(Instant).map_or_else(|| router::parse_error("timestamp", text), Ok)
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    /// To the nanosecond, where floating-point numbers would round.
    #[test]
    fn times_are_exact_to_the_nanosecond() {
        assert_eq!(parse("1700000000.123456789"), Some(1_700_000_000_123_456_789));
        assert_eq!(
            [parse("-0.5"), parse(".25s"), parse("3.")],
            [-500_000_000, 250_000_000, 3_000_000_000].map(Some)
        );
        assert_eq!(
            [parse("."), parse(""), parse("1.2.3"), parse("99999999999999999999"), parse("1e")],
            [None; 5]
        );
        assert_eq!(
            [
                parse("+2.5"),
                parse("1e1"),
                parse("2.5E-1ms"),
                parse("-.5"),
                parse("1e-30"),
                parse("0.0000000015")
            ],
            [2_500_000_000, 10_000_000_000, 250_000, -500_000_000, 0, 2].map(Some)
        );
        assert_eq!(
            [parse("3ms"), parse("-2.5usec"), parse("1min"), parse("-7 ns"), parse("1.5h")],
            [3_000_000, -2_500, 60_000_000_000, -7, 5_400_000_000_000].map(Some)
        );
        assert_eq!(
            [
                parse("--1"),
                parse("- 1"),
                parse("1 week"),
                parse("ms"),
                parse("+-1"),
                parse("1e99"),
                parse("e1")
            ],
            [None; 7]
        );
    }
}
