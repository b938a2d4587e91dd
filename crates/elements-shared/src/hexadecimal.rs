//! Keys in files, written in hexadecimal digits.

/// What a file has that is written in hexadecimal digits, possibly behind `0x`.
pub fn from_hexadecimal(bytes: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(bytes).ok()?.trim();
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let all: Option<Vec<u8>> =
        digits.chars().map(|digit| digit.to_digit(16).map(|digit| digit as u8)).collect();
    let (pairs, []) = all.as_ref()?.as_chunks::<2>() else { return None };
    Some(pairs.iter().map(|[high, low]| high << 4 | low).collect())
}
