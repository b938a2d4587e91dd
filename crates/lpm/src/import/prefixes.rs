//! Prefixes as text: in all notations, and the usual ones quickly.

use super::list::AnyPrefix;
use crate::prefix::{Prefix, PrefixError};

/// Reads a prefix of either family. IPv4 addresses may lack their last numbers where there is a length: `0/0`, `10.1/16`.
///
/// # Errors
/// [`PrefixError`].
pub fn parse_prefix(text: &str) -> Result<AnyPrefix, PrefixError> {
    if let Some(prefix) = bare_v4(text.as_bytes()) {
        return Ok(AnyPrefix::V4(prefix));
    }
    if text.contains(':') {
        return text.parse().map(AnyPrefix::V6);
    }
    match text.split_once('/') {
        Some((address, len)) if address.matches('.').count() < 3 => {
            let missing = ".0".repeat(3 - address.matches('.').count());
            format!("{address}{missing}/{len}").parse().map(AnyPrefix::V4)
        }
        _ => text.parse().map(AnyPrefix::V4),
    }
}

/// A line that is an IPv4 prefix and nothing else, in the usual notation: most lines of most lists, so this one is quick.
/// `None` leaves a line to the others.
pub(super) fn bare_v4(line: &[u8]) -> Option<Prefix<u32>> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let (mut addr, mut rest) = (0u32, line);
    for end in [b'.', b'.', b'.', b'/'] {
        let (octet, behind) = decimal(rest)?;
        rest = behind.strip_prefix(&[end])?;
        addr = addr << 8 | u32::from(u8::try_from(octet).ok()?);
    }
    let (len, rest) = decimal(rest)?;
    if !rest.is_empty() {
        return None;
    }
    Prefix::new(addr, u8::try_from(len).ok()?).ok()
}

/// The same for IPv6.
pub(super) fn bare_v6(line: &[u8]) -> Option<Prefix<u128>> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let bare =
        line.len() <= 43 && line.iter().all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'/'));
    std::str::from_utf8(line).ok().filter(|text| bare && text.contains(':'))?.parse().ok()
}

/// A number of one to three digits without leading zeros, and what is behind it.
#[inline]
fn decimal(text: &[u8]) -> Option<(u32, &[u8])> {
    let digit = |at: usize| text.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10);
    let mut value = u32::from(digit(0)?);
    let mut count = 1;
    while count < 3
        && value > 0
        && let Some(next) = digit(count)
    {
        value = 10 * value + u32::from(next);
        count += 1;
    }
    Some((value, &text[count..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        /// The quick way is taken for what it is meant for, and never finds anything else than the other.
        #[test]
        fn the_quick_way_agrees(text in "[0-9]{1,4}\\.[0-9]{1,3}(\\.[0-9]{1,3}){1,3}/[0-9]{1,3}[ \r]?", addr: u32, len in 0u8..=32) {
            if let Some(prefix) = bare_v4(text.as_bytes()) {
                proptest::prop_assert_eq!(text.trim_end().parse(), Ok(prefix));
            }
            let prefix = Prefix::<u32>::new(addr, len).unwrap();
            proptest::prop_assert_eq!(bare_v4(prefix.to_string().as_bytes()), Some(prefix));
        }
    }
}
