//! Keys in configurations, which are not repeated where a configuration is quoted.

use std::borrow::Cow;

/// Octets of the shortest key.
const SHORTEST: usize = 8;

/// The text with asterisks in the place of the digits of what may be a key: hexadecimal data of 8 octets or more, in `\<...>` or behind the word `key`. It is
/// as long as before.
pub fn without_keys(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut masked = None::<Vec<u8>>;
    let mut at = 0;
    while at < bytes.len() {
        let end = if bytes[at..].starts_with(b"\\<") {
            at += 2;
            at + bytes[at..].iter().position(|byte| !in_data(*byte)).unwrap_or(bytes.len() - at)
        } else if is_key(bytes, at) {
            at += 3;
            at += bytes[at..].iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == b'"').count();
            at += if bytes[at..].starts_with(b"0x") { 2 } else { 0 };
            at + bytes[at..].iter().take_while(|byte| byte.is_ascii_hexdigit()).count()
        } else {
            at += 1;
            continue;
        };
        let is_digit = |place: &usize| bytes[*place].is_ascii_hexdigit();
        if (at..end).filter(is_digit).count() >= 2 * SHORTEST {
            let masked = masked.get_or_insert_with(|| bytes.to_vec());
            (at..end).filter(is_digit).for_each(|place| masked[place] = b'*');
        }
        at = end;
    }
    // Digits are characters of one byte, so it is text as before.
    masked.and_then(|bytes| String::from_utf8(bytes).ok()).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// What may be between `\<` and `>`.
fn in_data(byte: u8) -> bool {
    byte.is_ascii_hexdigit() || byte.is_ascii_whitespace()
}

/// Whether the word `key` stands there, and a space behind it.
fn is_key(bytes: &[u8], at: usize) -> bool {
    let starts = at == 0 || !bytes[at - 1].is_ascii_alphanumeric();
    let word = bytes.get(at..at + 4);
    starts && word.is_some_and(|word| word[..3].eq_ignore_ascii_case(b"key") && word[3].is_ascii_whitespace())
}

#[cfg(test)]
mod tests {
    use super::without_keys;

    #[test]
    fn keys_are_masked_and_other_data_is_not() {
        for (text, shown) in [
            (
                r"ESPEncap(300, \<00112233 44556677 89>, ESN x)",
                r"ESPEncap(300, \<******** ******** **>, ESN x)",
            ),
            (
                "IPsec(SA a b 1 aes-gcm key 00112233445566778899 esn)",
                "IPsec(SA a b 1 aes-gcm key ******************** esn)",
            ),
            (r#"KEY "\<0011223344556677>""#, r#"KEY "\<****************>""#),
            ("SA key\n  0011223344556677", "SA key\n  ****************"),
            (r"KEY 0x0011223344556677, ü", r"KEY 0x****************, ü"),
            (r"\<0011223344556677", r"\<****************"),
            (r"DATA \<00112233>, keyfile 0011223344556677", r"DATA \<00112233>, keyfile 0011223344556677"),
            ("Classifier(8/20010db8000000000000)", "Classifier(8/20010db8000000000000)"),
            (r"\<", r"\<"),
            ("key", "key"),
        ] {
            assert_eq!(without_keys(text), shown);
        }
    }
}
