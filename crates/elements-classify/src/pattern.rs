//! Patterns as the user writes them: `OFFSET/VALUE%MASK` clauses.

/// One byte that a clause looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ByteTest {
    /// The bits that count.
    pub(super) mask: u8,
    /// What they have to be.
    pub(super) value: u8,
}

/// Consecutive bytes that a packet must have, or must not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Clause {
    /// Whether the clause holds for packets that do *not* have the bytes, short packets among them.
    pub(super) negated: bool,
    /// Where the first byte is.
    pub(super) offset: usize,
    /// The bytes.
    pub(super) bytes: Vec<ByteTest>,
}

/// All clauses that a packet must meet; none at all match every packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pattern {
    /// The clauses.
    pub(super) clauses: Vec<Clause>,
}

/// Bytes of a packet that patterns can reach, at most: no packet buffer is larger.
const REACH_MAX: usize = 0xffff;

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// What is wrong with it, without the pattern's number.
    pub(super) fn parse(text: &str) -> Result<Pattern, String> {
        let mut pattern = Pattern::default();
        if text == "-" {
            return Ok(pattern);
        }
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            pattern.clauses.push(clause(&mut rest)?);
            rest = rest.trim_start();
        }
        Ok(pattern)
    }

    /// Whether a packet meets the pattern: the definition that compiled programs are tested against.
    #[cfg(test)]
    pub(super) fn matches(&self, data: &[u8]) -> bool {
        self.clauses.iter().all(|clause| {
            let has = |(i, test): (usize, &ByteTest)| {
                let byte = data.get(clause.offset + i);
                test.mask == 0 || byte.is_some_and(|byte| byte & test.mask == test.value)
            };
            clause.bytes.iter().enumerate().all(has) != clause.negated
        })
    }
}

/// Reads one clause and moves on behind it.
fn clause(rest: &mut &str) -> Result<Clause, String> {
    let mut text = *rest;
    let negated = text.starts_with('!');
    if negated {
        text = text[1..].trim_start();
    }
    let digits = take_while(&mut text, |c| c.is_ascii_digit());
    if digits.is_empty() {
        return Err("expected a digit".to_owned());
    }
    text = text.strip_prefix('/').ok_or("expected '/'")?;
    let value = take_while(&mut text, is_nibble);
    let mask = match text.strip_prefix('%') {
        Some(behind) => {
            text = behind;
            Some(take_while(&mut text, is_nibble))
        }
        None => None,
    };
    if value.len() < 2 {
        return Err("value has less than 2 hex digits".to_owned());
    }
    if !value.len().is_multiple_of(2) {
        return Err("value has odd number of hex digits".to_owned());
    }
    if let Some(mask) = mask
        && mask.len() != value.len()
    {
        let word = if mask.len() > value.len() { "many" } else { "few" };
        return Err(format!("mask has too {word} hex digits"));
    }
    let offset = digits.parse().unwrap_or(usize::MAX);
    if offset > REACH_MAX || offset + value.len() / 2 > REACH_MAX {
        return Err(format!("offset {digits} is too large; patterns reach up to byte {REACH_MAX}"));
    }
    *rest = text;
    Ok(Clause { negated, offset, bytes: byte_tests(value.as_bytes(), mask.map(str::as_bytes)) })
}

fn byte_tests(value: &[u8], mask: Option<&[u8]>) -> Vec<ByteTest> {
    let test = |i: usize| {
        let (digits, mut bits) = byte(&value[i..]);
        if let Some(mask) = mask {
            let (set, given) = byte(&mask[i..]);
            bits &= set & given;
        }
        ByteTest { mask: bits, value: digits & bits }
    };
    (0..value.len()).step_by(2).map(test).collect()
}

/// The value of two digits, and the bits that they say something about: `?` is any nibble.
fn byte(digits: &[u8]) -> (u8, u8) {
    let nibble = |digit: u8| match (digit as char).to_digit(16) {
        Some(value) => (value as u8, 0xf),
        None => (0, 0),
    };
    let ((high, high_bits), (low, low_bits)) = (nibble(digits[0]), nibble(digits[1]));
    (high << 4 | low, high_bits << 4 | low_bits)
}

fn is_nibble(c: char) -> bool {
    c.is_ascii_hexdigit() || c == '?'
}

fn take_while<'t>(text: &mut &'t str, accept: impl Fn(char) -> bool) -> &'t str {
    let end = text.find(|c| !accept(c)).unwrap_or(text.len());
    let (taken, rest) = text.split_at(end);
    *text = rest;
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clauses_test_masked_bytes() {
        let pattern = Pattern::parse("12/08?6%F1ff  ! 3/00").unwrap();
        let bytes = vec![ByteTest { mask: 0xf1, value: 0x00 }, ByteTest { mask: 0x0f, value: 0x06 }];
        assert_eq!(pattern.clauses[0], Clause { negated: false, offset: 12, bytes });
        assert!(pattern.clauses[1].negated);
        assert!(pattern.matches(b"...!........\x00\x16"));
        assert!(!pattern.matches(b"...!........\x00"), "too short");
        assert!(Pattern::parse("!5/00").unwrap().matches(b""), "a short packet has no byte 5");
    }

    #[test]
    fn wrong_patterns_are_refused_with_a_reason() {
        for (text, part) in [
            ("x", "digit"),
            ("12", "'/'"),
            ("12/0", "less than 2"),
            ("12/012", "odd"),
            ("12/0102%00", "too few"),
            ("12/01%0000", "too many"),
            ("99999999999999999999/01", "too large"),
        ] {
            let error = Pattern::parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
