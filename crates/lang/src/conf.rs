//! Configuration strings: splitting, comments, quotes.
//!
//! The rules are Click's. A configuration string is a comma-separated list of arguments; an argument
//! is a space-separated list of words. Commas, spaces and comment openers lose their meaning inside
//! `'...'`, `"..."` and `\<...>`. Parentheses and brackets are ordinary characters here: they only
//! matter for where a configuration string ends in the program text.

/// Whether `b` is white space in the C locale.
pub(crate) fn is_space(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r')
}

fn opens_comment(s: &[u8], i: usize) -> bool {
    s[i] == b'/' && matches!(s.get(i + 1), Some(b'/' | b'*'))
}

/// The position after the comment that starts at `i`.
fn skip_comment(s: &[u8], i: usize) -> usize {
    if s[i + 1] == b'*' {
        let rest = &s[i + 2..];
        return rest.windows(2).position(|w| w == b"*/").map_or(s.len(), |n| i + n + 4);
    }
    match s[i..].iter().position(|&b| b == b'\n' || b == b'\r') {
        Some(n) if s[i + n..].starts_with(b"\r\n") => i + n + 2,
        Some(n) => i + n + 1,
        None => s.len(),
    }
}

/// The position after the data substitution `\<...>` that starts at `i`.
fn skip_data(s: &[u8], mut i: usize) -> usize {
    i += 2;
    while i < s.len() {
        if s[i] == b'>' {
            return i + 1;
        }
        i = if opens_comment(s, i) { skip_comment(s, i) } else { i + 1 };
    }
    s.len()
}

/// The position after the string in double quotes that starts at `i`.
fn skip_double(s: &[u8], mut i: usize) -> usize {
    i += 1;
    while i < s.len() {
        match s[i] {
            b'"' => return i + 1,
            b'\\' if s.get(i + 1) == Some(&b'<') => i = skip_data(s, i),
            b'\\' => i += 2,
            _ => i += 1,
        }
    }
    s.len()
}

fn skip_single(s: &[u8], i: usize) -> usize {
    s[i + 1..].iter().position(|&b| b == b'\'').map_or(s.len(), |n| i + n + 2)
}

/// The position after white space and comments from `i` on.
pub(crate) fn skip_blank(s: &[u8], mut i: usize) -> usize {
    while i < s.len() {
        if is_space(s[i]) {
            i += 1;
        } else if opens_comment(s, i) {
            i = skip_comment(s, i);
        } else {
            break;
        }
    }
    i
}

/// The position after the quoted text or single byte at `i`.
fn skip_unit(s: &[u8], i: usize) -> usize {
    match s[i] {
        b'\'' => skip_single(s, i),
        b'"' => skip_double(s, i),
        b'\\' if s.get(i + 1) == Some(&b'<') => skip_data(s, i),
        _ => i + 1,
    }
}

/// The position after the quoted text, comment or single byte at `i` of a configuration string.
pub(crate) fn skip_config_unit(s: &[u8], i: usize) -> usize {
    if opens_comment(s, i) { skip_comment(s, i) } else { skip_unit(s, i).min(s.len()) }
}

/// Uncomments from `start` to the end, or to the next comma if `at_comma`; returns where it stopped.
fn uncomment_from(text: &str, start: usize, at_comma: bool) -> (String, usize) {
    let s = text.as_bytes();
    let mut i = skip_blank(s, start);
    let (mut left, mut right) = (i, i);
    let mut out = String::new();
    let mut comment = false;
    while i < s.len() {
        if is_space(s[i]) {
            i += 1;
        } else if opens_comment(s, i) {
            i = skip_comment(s, i);
            comment = true;
        } else if s[i] == b',' && at_comma {
            break;
        } else {
            if comment {
                out.push_str(&text[left..right]);
                out.push(' ');
                left = i;
                comment = false;
            }
            i = skip_unit(s, i);
            right = i;
        }
    }
    out.push_str(&text[left..right]);
    (out, i)
}

/// Splits a configuration string at commas into uncommented arguments.
///
/// An empty last argument is dropped: `a, b,` has two arguments.
pub fn split_args(text: &str) -> Vec<String> {
    let mut args = Vec::new();
    let mut pos = 0;
    while pos < text.len() {
        let (arg, end) = uncomment_from(text, pos, true);
        if !arg.is_empty() || end < text.len() {
            args.push(arg);
        }
        pos = end + 1;
    }
    args
}

/// Joins arguments to a configuration string; the opposite of [`split_args`].
pub fn join_args<S: AsRef<str>>(args: &[S]) -> String {
    let mut out = String::new();
    for (i, arg) in args.iter().enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        out.push_str(arg.as_ref());
    }
    out
}

/// The end of the word that starts at `i`: at a space or a comment.
fn word_end(s: &[u8], mut i: usize) -> usize {
    while i < s.len() && !is_space(s[i]) && !opens_comment(s, i) {
        i = skip_unit(s, i);
    }
    i
}

/// Splits an argument at unquoted spaces and comments into words; quotes stay.
pub fn split_spaces(text: &str) -> Vec<String> {
    let s = text.as_bytes();
    let mut words = Vec::new();
    let mut i = skip_blank(s, 0);
    while i < s.len() {
        let end = word_end(s, i);
        words.push(text[i..end].to_owned());
        i = skip_blank(s, end);
    }
    words
}

/// Takes the first word, quotes and all, off the front of `text`, and the blanks around it.
///
/// The word is empty if nothing is left.
pub fn pop_space<'a>(text: &mut &'a str) -> &'a str {
    let all = *text;
    let s = all.as_bytes();
    let start = skip_blank(s, 0);
    let end = word_end(s, start);
    *text = &all[skip_blank(s, end)..];
    &all[start..end]
}

/// Removes comments and surrounding space.
///
/// A comment, with the spaces around it, becomes one space; other spaces inside stay as they are.
pub fn uncomment(text: &str) -> String {
    uncomment_from(text, 0, false).0
}

fn hex(b: u8) -> Option<u8> {
    char::from(b).to_digit(16).map(|d| d as u8)
}

/// Appends what the escape at `i` means and returns the position after it.
fn unescape(s: &[u8], i: usize, out: &mut Vec<u8>) -> usize {
    let Some(&code) = s.get(i + 1) else {
        out.push(b'\\');
        return i + 1;
    };
    let simple = match code {
        b'\r' if s.get(i + 2) == Some(&b'\n') => return i + 3,
        b'\r' | b'\n' => return i + 2,
        b'a' => 7,
        b'b' => 8,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        b'0'..=b'7' => {
            let digits = s[i + 1..].iter().take(3).take_while(|b| matches!(b, b'0'..=b'7'));
            let (value, n) =
                digits.fold((0u8, 0), |(v, n), b| (v.wrapping_mul(8).wrapping_add(b - b'0'), n + 1));
            out.push(value);
            return i + 1 + n;
        }
        b'x' => {
            let digits = s[i + 2..].iter().map_while(|&b| hex(b));
            let (value, n) = digits.fold((0u8, 0), |(v, n), d| (v.wrapping_mul(16).wrapping_add(d), n + 1));
            out.push(value);
            return i + 2 + n;
        }
        b'<' => return unescape_data(s, i, out),
        other => other,
    };
    out.push(simple);
    i + 2
}

/// Appends the bytes of `\<...>`; anything but digits and comments inside is ignored.
fn unescape_data(s: &[u8], i: usize, out: &mut Vec<u8>) -> usize {
    let mut high = None;
    let mut i = i + 2;
    while i < s.len() {
        if s[i] == b'>' {
            return i + 1;
        } else if opens_comment(s, i) {
            i = skip_comment(s, i);
            continue;
        } else if let Some(digit) = hex(s[i]) {
            match high.take() {
                None => high = Some(digit),
                Some(h) => out.push(h << 4 | digit),
            }
        }
        i += 1;
    }
    s.len()
}

/// Removes comments and one level of quotes, and replaces escapes, giving bytes.
///
/// Escapes count inside double quotes; `\<...>` counts also outside of quotes.
pub fn unquote_bytes(text: &str) -> Vec<u8> {
    let text = uncomment(text);
    let s = &*crate::bytes::of_text(&text);
    let mut out = Vec::with_capacity(s.len());
    let mut quote = 0;
    let mut i = 0;
    while i < s.len() {
        match s[i] {
            b @ (b'"' | b'\'') if quote == 0 => quote = b,
            b if quote != 0 && b == quote => quote = 0,
            b'\\' if quote == b'"' && i + 1 < s.len() || quote == 0 && s.get(i + 1) == Some(&b'<') => {
                i = unescape(s, i, &mut out);
                continue;
            }
            b => out.push(b),
        }
        i += 1;
    }
    out
}

/// [`unquote_bytes`] as text ([`crate::bytes`]).
pub fn unquote(text: &str) -> String {
    crate::bytes::to_text(unquote_bytes(text))
}

/// [`quote`] of the bytes of a text ([`crate::bytes`]).
pub fn quote_text(text: &str) -> String {
    quote(crate::bytes::of_text(text))
}

/// Puts `data` in double quotes so that [`unquote_bytes`] gives it back.
pub fn quote(data: impl AsRef<[u8]>) -> String {
    let mut out = String::from("\"");
    for &b in data.as_ref() {
        match b {
            b'\\' | b'"' | b'$' => out.extend(['\\', char::from(b)]),
            b'\t' => out.push_str("\\t"),
            b'\r' => out.push_str("\\r"),
            b'\n' => out.push_str("\\n"),
            b' '..=b'~' => out.push(char::from(b)),
            _ => out.push_str(&format!("\\{b:03o}")),
        }
    }
    out.push('"');
    out
}

/// Splits an argument into a keyword and the rest, if it starts with something that can be one.
///
/// A keyword consists of letters, digits and `_.:?!`, unquoted, up to a space or the end. Whether the
/// keyword is one that the element knows is for the caller to decide.
pub fn keyword(arg: &str) -> Option<(&str, &str)> {
    let s = arg.as_bytes();
    let end = s.iter().position(|&b| is_space(b)).unwrap_or(s.len());
    let ok = |b: &u8| b.is_ascii_alphanumeric() || b"_.:?!".contains(b);
    if end == 0 || !s[..end].iter().all(ok) {
        return None;
    }
    let rest = s[end..].iter().position(|&b| !is_space(b)).map_or(s.len(), |n| end + n);
    Some((&arg[..end], &arg[rest..]))
}

/// Whether `text` is a word: printable ASCII without spaces, quotes, backslashes and commas.
pub fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic() && !b"\"'\\,".contains(&b))
}

/// Whether `text` is an identifier: letters, digits, `_`, `@`, and single slashes inside.
pub fn is_identifier(text: &str) -> bool {
    let ok = |part: &str| {
        !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'@')
    };
    text.split('/').all(ok)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn arguments_are_split_at_commas_outside_of_quotes() {
        for (text, expected) in [
            ("", &[][..]),
            ("a, b, c", &["a", "b", "c"]),
            (" a /*?*/ b,  c, ", &["a b", "c"]),
            ("\"x, y\" // ?", &["\"x, y\""]),
            (",", &[""]),
            ("a,,b", &["a", "", "b"]),
            ("a   b", &["a   b"]),
            ("f(1, 2)", &["f(1", "2)"]),
            ("'a,//b' , \\<2c, 2C>", &["'a,//b'", "\\<2c, 2C>"]),
            ("\"a\\\",b\",c", &["\"a\\\",b\"", "c"]),
            ("/* open", &[]),
            ("a /", &["a /"]),
        ] {
            assert_eq!(split_args(text), expected, "{text}");
        }
    }

    #[test]
    fn words_are_split_at_spaces_outside_of_quotes() {
        assert_eq!(split_spaces("a  b, c"), ["a", "b,", "c"]);
        assert_eq!(split_spaces("  'a /*?*/ b'c"), ["'a /*?*/ b'c"]);
        assert_eq!(split_spaces("a/*x*/b/c"), ["a", "b/c"]);
        let mut rest = " one  \"t w\" 3 ";
        assert_eq!(pop_space(&mut rest), "one");
        assert_eq!(pop_space(&mut rest), "\"t w\"");
        assert_eq!(rest, "3 ");
        assert_eq!(pop_space(&mut rest), "3");
        assert_eq!(pop_space(&mut rest), "");
    }

    #[test]
    fn quotes_are_resolved_and_written_as_in_click() {
        assert_eq!(unquote("\"\\n\" abc /* 123 */ '/* def */'"), "\n abc /* def */");
        assert_eq!(unquote("a\"b\"c"), "abc");
        assert_eq!(unquote("\\<48656c6C 6f 2 /* And */ 1>"), "Hello!");
        assert_eq!(unquote("'\\<48>'"), "\\<48>");
        assert_eq!(unquote("\"\\101\\x142\\$\\q\""), "AB$q");
        assert_eq!(unquote("\"a\\\nb\""), "ab");
        assert_eq!(unquote("a\\nb"), "a\\nb");
        assert_eq!(unquote_bytes("\\<ff 0>"), [0xff]);
        assert_eq!(quote_text(&unquote("\\<ff>'é'")), "\"\\377\\303\\251\"");
        assert_eq!(unquote_bytes(&unquote("\\<ff>'é'")), b"\xff\xc3\xa9");
        assert_eq!(quote("a$\"\\\n\x01é"), "\"a\\$\\\"\\\\\\n\\001\\303\\251\"");
    }

    #[test]
    fn a_keyword_is_split_from_its_value() {
        assert_eq!(keyword("LIMIT 10"), Some(("LIMIT", "10")));
        assert_eq!(keyword("STOP"), Some(("STOP", "")));
        assert_eq!(keyword("\"a\" b"), None);
        assert_eq!(keyword("a/b c"), None);
        assert_eq!(keyword(""), None);
    }

    proptest! {
        #[test]
        fn quoting_round_trips(data: Vec<u8>) {
            prop_assert_eq!(unquote_bytes(&quote(&data)), data);
        }

        #[test]
        fn quoted_is_one_argument_and_one_word(data in prop::collection::vec(any::<u8>(), 0..40)) {
            let quoted = quote(&data);
            prop_assert_eq!(split_args(&quoted), vec![quoted.clone()]);
            prop_assert_eq!(split_spaces(&quoted), vec![quoted.clone()]);
        }

        #[test]
        fn any_text_is_split_and_unquoted(text in "[ -~é\n\r'\"\\\\/*,<>]{0,60}") {
            let args = split_args(&text);
            prop_assert_eq!(split_args(&join_args(&args)).len() <= args.len(), true);
            for arg in args {
                split_spaces(&arg);
                unquote(&arg);
                keyword(&arg);
            }
        }
    }
}
