//! Points in time and signed spans as arguments.

use router::{FromArg, Scope};

/// Nanoseconds, since the epoch or between two events; written in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Instant(pub(crate) i64);

/// Digits behind the point that count.
const DIGITS: usize = 9;

fn parse(text: &str) -> Option<i64> {
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let text = text.strip_suffix('s').unwrap_or(text);
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if (whole.is_empty() && part.is_empty()) || !digits(whole) || !digits(part) {
        return None;
    }
    let seconds: i64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let ns: i64 = format!("{:0<DIGITS$}", &part[..part.len().min(DIGITS)]).parse().ok()?;
    let total = seconds.checked_mul(1_000_000_000)?.checked_add(ns)?;
    Some(if negative { -total } else { total })
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
    fn exact() {
        assert_eq!(parse("1700000000.123456789"), Some(1_700_000_000_123_456_789));
        assert_eq!(
            [parse("-0.5"), parse(".25s"), parse("3.")],
            [-500_000_000, 250_000_000, 3_000_000_000].map(Some)
        );
        assert_eq!(
            [parse("."), parse(""), parse("1.2.3"), parse("99999999999999999999"), parse("1e3")],
            [None; 5]
        );
    }
}
