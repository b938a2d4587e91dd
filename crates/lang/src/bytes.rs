//! Bytes that need not be text, kept in texts without loss.
//!
//! Click's strings are bytes: a configuration, a handler's value or the data of a packet may contain any. Here they
//! are `String`s, in which a byte that is no part of a character stands as one of the last 128 code points of all,
//! which are for private use. (Python does the same with lone surrogates, PEP 383.) Where bytes come in, [`to_text`]
//! makes a text of them; where a text goes out, [`of_text`] gives the same bytes back, whatever they were.

use std::borrow::Cow;

/// A byte that is no part of a character is the code point that lies so far behind this one.
const BASE: u32 = 0x10_ff00;

/// The byte that a code point stands for, if it stands for one.
pub fn byte_of(c: char) -> Option<u8> {
    let byte = u32::from(c).checked_sub(BASE)?;
    u8::try_from(byte).ok().filter(|byte| *byte >= 0x80)
}

/// Whether a text holds bytes that are no part of a character.
fn holds_bytes(text: &str) -> bool {
    text.chars().any(|c| byte_of(c).is_some())
}

fn push(text: &mut String, bytes: &[u8]) {
    // Below 0x80 every byte is a character.
    text.extend(bytes.iter().filter_map(|&byte| char::from_u32(BASE + u32::from(byte))));
}

/// Bytes as a text from which [`of_text`] gets them back.
pub fn to_text(bytes: impl Into<Vec<u8>>) -> String {
    let bytes = match String::from_utf8(bytes.into()) {
        // What would be taken for a byte on the way back is bytes.
        Ok(text) if !holds_bytes(&text) => return text,
        Ok(text) => text.into_bytes(),
        Err(error) => error.into_bytes(),
    };
    let mut text = String::with_capacity(bytes.len() + 16);
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match byte_of(c) {
                None => text.push(c),
                Some(_) => push(&mut text, c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        push(&mut text, chunk.invalid());
    }
    text
}

/// The bytes of a text.
pub fn of_text(text: &str) -> Cow<'_, [u8]> {
    if !holds_bytes(text) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        match byte_of(c) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Cow::Owned(bytes)
}

/// A text for formats that have no room for bytes, such as JSON: each becomes a replacement character.
pub fn without_bytes(text: &str) -> Cow<'_, str> {
    if !holds_bytes(text) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| byte_of(c).map_or(c, |_| char::REPLACEMENT_CHARACTER)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_stays_as_it_is() {
        for text in ["", "a\n", "äß\u{1f600}", "\u{10fe80}", "\u{10ff7f}"] {
            assert_eq!(to_text(text), text);
            assert_eq!(of_text(text), text.as_bytes());
        }
    }

    #[test]
    fn formats_without_bytes() {
        assert_eq!(without_bytes(&to_text(b"a\xffb")), "a\u{fffd}b");
    }

    /// A text that comes in with one of the code points that stand for bytes must not lose it.
    #[test]
    fn code_points_in_use_are_bytes() {
        let text = to_text("a\u{10ffff}");
        assert_ne!(text, "a\u{10ffff}");
        assert_eq!(of_text(&text), "a\u{10ffff}".as_bytes());
    }

    proptest! {
        #[test]
        fn bytes_come_back(bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(0xf4), Just(0x8f), Just(0xbf)], 0..40)) {
            let text = to_text(bytes.clone());
            prop_assert_eq!(of_text(&text).into_owned(), bytes);
        }
    }
}
