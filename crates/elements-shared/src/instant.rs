//! Points in time and signed spans as arguments.

use router::{FromArg, Scope};

/// Nanoseconds, since the epoch or between two events; written in seconds unless another unit is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Instant(pub i64);

fn parse(text: &str) -> Option<i64> {
    match text.strip_prefix('-') {
        Some(text) => parse_span(text).map(|ns| -ns),
        None => parse_span(text),
    }
}

/// Reads a time without a sign, exactly, where floating-point numbers would round: `1000000000.000001`, `2min`.
pub fn parse_span(text: &str) -> Option<i64> {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let scale: i128 = match &text[number.len()..] {
        "" | "s" | "sec" => 1_000_000_000,
        "ms" | "msec" => 1_000_000,
        "us" | "usec" => 1_000,
        "ns" | "nsec" => 1,
        "m" | "min" => 60 * 1_000_000_000,
        "h" | "hr" => 3_600 * 1_000_000_000,
        "d" | "day" => 86_400 * 1_000_000_000,
        _ => return None,
    };
    let (whole, fraction) = number.trim_end().split_once('.').unwrap_or((number.trim_end(), ""));
    let digits = |text: &str| text.len() <= 20 && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let value = |text: &str| if text.is_empty() { Some(0) } else { text.parse::<i128>().ok() };
    let parts = value(fraction)? * scale / 10_i128.pow(fraction.len() as u32);
    i64::try_from(value(whole)? * scale + parts).ok()
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
            [parse("."), parse(""), parse("1.2.3"), parse("99999999999999999999"), parse("1e3")],
            [None; 5]
        );
        assert_eq!(
            [parse("3ms"), parse("-2.5usec"), parse("1min"), parse("-7 ns"), parse("1.5h")],
            [3_000_000, -2_500, 60_000_000_000, -7, 5_400_000_000_000].map(Some)
        );
        assert_eq!([parse("--1"), parse("- 1"), parse("1 week"), parse("ms")], [None; 4]);
    }
}
