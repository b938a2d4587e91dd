//! Keys in configurations, which are not repeated where a configuration is quoted.
//!
//! Which arguments are keys is what classes say. [`Secrets`] are the words that those of a configuration's elements hide; they are masked wherever they stand,
//! also where a variable or the argument of a compound has them. Texts of which no element was made, because they do not parse or because the
//! classes are not known, have no such words: [`without_keys`] masks in them what looks like a key. An argument of a class that takes none may
//! have one nevertheless, as that of a script that writes an association to a handler: [`behind_key`] masks what the word `key` announces, and what the
//! variables are set to that stand behind it. One script may set what another one uses: [`KeyNames`] are the names of all such variables of a configuration.

use crate::conf::{split_args, split_spaces, unquote};
use crate::diag::{Diagnostic, Source};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Bound;

/// The keys of a configuration, word by word.
#[derive(Clone, Default)]
pub struct Secrets(BTreeSet<String>);

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "({} secrets)", self.0.len())
    }
}

impl Secrets {
    /// Adds the words that an element's configuration string has, and that are not in it as its class shows it.
    pub fn add(&mut self, config: &str, shown: &str) {
        if config == shown {
            return;
        }
        let shown = split_args(shown);
        for (at, arg) in split_args(config).iter().enumerate() {
            let (words, left) =
                (split_spaces(arg), shown.get(at).map_or_else(Vec::new, |arg| split_spaces(arg)));
            let front = words.iter().zip(&left).take_while(|(word, left)| word == left).count();
            let (rest, left) = (&words[front..], &left[front..]);
            let back =
                rest.iter().rev().zip(left.iter().rev()).take_while(|(word, left)| word == left).count();
            for word in &rest[..rest.len() - back] {
                self.0
                    .extend([word.clone(), unquote(word)].into_iter().filter(|word| !word.trim().is_empty()));
            }
        }
    }

    /// The text with asterisks in the place of each secret that stands there as a word. It is as long as before. Each place where a word may begin is looked at once,
    /// however many secrets there are.
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut masked = None::<Vec<u8>>;
        let (mut before, mut done) = (None, 0);
        for (at, first) in text.char_indices() {
            let begins = !(before.is_some_and(is_part) && is_part(first));
            before = Some(first);
            let Some(len) = begins.then(|| self.word_len(&text[at..])).flatten() else { continue };
            // One may begin within another.
            let place = at.max(done)..(at + len).max(done);
            done = place.end;
            masked.get_or_insert_with(|| text.as_bytes().to_vec())[place].fill(b'*');
        }
        // Whole characters were replaced.
        masked.and_then(|bytes| String::from_utf8(bytes).ok()).map_or(Cow::Borrowed(text), Cow::Owned)
    }

    /// Octets of the longest secret that a text begins with, and that does not go on as a longer word.
    fn word_len(&self, text: &str) -> Option<usize> {
        let mut front = text;
        loop {
            // All that `front` begins with are not behind it; of those the longest is the last, if the last one is one of them.
            let last = self.0.range::<str, _>((Bound::Unbounded, Bound::Included(front))).next_back()?;
            let alike = last.char_indices().zip(front.chars()).find(|((_, a), b)| a != b);
            let common = alike.map_or(last.len().min(front.len()), |((at, _), _)| at);
            front = &front[..common];
            if common == last.len() {
                if !continues(last, &text[common..]) {
                    return Some(common);
                }
                front = &front[..front.char_indices().next_back()?.0];
            }
        }
    }

    /// The texts that diagnostics point into, masked.
    pub fn mask_sources(&self, sources: &mut [Source]) {
        for source in sources {
            if let Cow::Owned(text) = self.mask(&source.text) {
                source.text = text.into();
            }
        }
    }

    /// Masks what a diagnostic says.
    pub fn mask_diagnostic(&self, diagnostic: &mut Diagnostic) {
        let Diagnostic { message, expected, help, notes, context, .. } = diagnostic;
        let texts = [message].into_iter().chain(expected).chain(help);
        let texts = texts.chain(notes.iter_mut().map(|note| &mut note.message));
        for text in texts.chain(context.as_mut().map(|context| &mut context.message)) {
            if let Cow::Owned(masked) = self.mask(text) {
                *text = masked;
            }
        }
    }
}

/// Whether what was found in a text is only the beginning of a word.
fn continues(found: &str, behind: &str) -> bool {
    found.chars().next_back().is_some_and(is_part) && behind.chars().next().is_some_and(is_part)
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Octets of the shortest key.
const SHORTEST: usize = 8;

/// For texts of which no element was made: the text with asterisks in the place of the digits of what may be a key: hexadecimal data of 8 octets or more, in `\<...>` or behind the word `key`. It is
/// as long as before.
pub fn without_keys(text: &str) -> Cow<'_, str> {
    masked(text, BTreeSet::new(), true)
}

/// For arguments of any class: the text with asterisks in the place of the digits of hexadecimal data of 8 octets or more behind the word `key`, or behind the
/// name of a variable that stands behind that word, also if they are in `\<...>`. It is as long as before.
pub fn behind_key(text: &str) -> Cow<'_, str> {
    masked(text, BTreeSet::new(), false)
}

/// Variables that have keys: those whose names stand behind the word `key`, or behind such a name, anywhere in a configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyNames(BTreeSet<String>);

impl KeyNames {
    /// Those of texts that belong together: the arguments of a configuration's elements.
    pub fn of<'t>(texts: impl Iterator<Item = &'t str> + Clone) -> KeyNames {
        let mut names = BTreeSet::new();
        loop {
            let before = names.len();
            for text in texts.clone() {
                let (_, found) = masked_behind(text, &names, false);
                names.extend(found);
            }
            if names.len() == before {
                return KeyNames(names.into_iter().map(str::to_owned).collect());
            }
        }
    }

    /// As [`behind_key`], for one of these texts: what these variables are set to is masked, too.
    pub fn behind_key<'t>(&'t self, text: &'t str) -> Cow<'t, str> {
        masked(text, self.0.iter().map(String::as_str).collect(), false)
    }
}

/// Masks what the word `key` and these names announce, and other data in `\<...>` if that may be a key, too. A variable behind such a word announces one as
/// well, where it is set.
fn masked<'t>(text: &'t str, mut names: BTreeSet<&'t str>, other_data: bool) -> Cow<'t, str> {
    loop {
        let (masked, found) = masked_behind(text, &names, other_data);
        if found.is_subset(&names) {
            return masked;
        }
        names.extend(found);
    }
}

/// Masks what the word `key` or one of the names announces; and the variables that stand behind such words.
fn masked_behind<'t>(
    text: &'t str,
    names: &BTreeSet<&'t str>,
    other_data: bool,
) -> (Cow<'t, str>, BTreeSet<&'t str>) {
    let bytes = text.as_bytes();
    let (mut masked, mut found) = (None::<Vec<u8>>, BTreeSet::new());
    let mut at = 0;
    while at < bytes.len() {
        let announcing = announcing_len(text, at, names);
        if let Some(len) = announcing {
            at += len;
            at += bytes[at..].iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == b'"').count();
            found.extend(variable(text, at));
        }
        let end = if bytes[at..].starts_with(b"\\<") && (announcing.is_some() || other_data) {
            at += 2;
            at + bytes[at..].iter().position(|byte| !in_data(*byte)).unwrap_or(bytes.len() - at)
        } else if announcing.is_some() {
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
    let masked = masked.and_then(|bytes| String::from_utf8(bytes).ok());
    (masked.map_or(Cow::Borrowed(text), Cow::Owned), found)
}

/// What may be between `\<` and `>`.
fn in_data(byte: u8) -> bool {
    byte.is_ascii_hexdigit() || byte.is_ascii_whitespace()
}

/// The length of the word that stands there, if a space is behind it and it is `key` or one of the names.
fn announcing_len(text: &str, at: usize, names: &BTreeSet<&str>) -> Option<usize> {
    let bytes = text.as_bytes();
    let before = at.checked_sub(1).map(|at| bytes[at]);
    if before.is_some_and(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let len = bytes[at..].iter().take_while(|byte| in_name(**byte)).count();
    let has_space = bytes.get(at + len).is_some_and(u8::is_ascii_whitespace);
    let is_name = |word: &str| before != Some(b'_') && names.contains(word);
    let word = text.get(at..at + len).filter(|_| has_space)?;
    (word.eq_ignore_ascii_case("key") || is_name(word)).then_some(len)
}

/// The name of the variable that stands there, or that a handler reads there. Those of a script's arguments are set elsewhere.
fn variable(text: &str, at: usize) -> Option<&str> {
    let name = text.get(at..)?.strip_prefix('$')?;
    let name = match name.strip_prefix('(') {
        Some(call) => read_by(call),
        None => name.strip_prefix('{').unwrap_or(name),
    };
    let name = &name[..name.bytes().take_while(|byte| in_name(*byte)).count()];
    name.starts_with(|first: char| !first.is_ascii_digit()).then_some(name)
}

/// What begins with the name of the variable that a call of a script's handler reads: `ELEMENT.VAR`, or `ELEMENT.get VAR`.
fn read_by(call: &str) -> &str {
    let len = call.bytes().take_while(|byte| in_name(*byte) || b"./@".contains(byte)).count();
    let name = call[..len].rfind('.').map_or(0, |dot| dot + 1);
    if &call[name..len] == "get" { call[len..].trim_start() } else { &call[name..] }
}

fn in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::{KeyNames, Secrets, behind_key, is_part, without_keys};
    use proptest::prelude::*;

    /// Whatever a key is made of, and wherever it stands.
    #[test]
    fn what_a_class_hides_is_masked_everywhere() {
        let mut secrets = Secrets::default();
        secrets.add(r#"0, 2, KEY "a long one", HOLD 3"#, "0, 2, KEY ***, HOLD 3");
        secrets.add("SA a b 300 aes-gcm key 0011 esn", "SA a b 300 aes-gcm key *** esn");
        secrets.add("1, plain, 5", "1, ***, 5");
        secrets.add("2, 3", "2, 3");
        for (text, shown) in [
            (r#"define($k "a long one")"#, "define($k ************)"),
            ("'a long one' is no key, a long ones", "'**********' is no key, a long ones"),
            ("IPsec(SA a b 300 aes-gcm key 0011 esn)", "IPsec(SA a b 300 aes-gcm key **** esn)"),
            ("VLBNode(1,plain,5) plainly explain plain_1", "VLBNode(1,*****,5) plainly explain plain_1"),
            ("HOLD 3, 00110, 2", "HOLD 3, 00110, 2"),
        ] {
            assert_eq!(secrets.mask(text), shown);
        }
        assert!(!format!("{secrets:?}").contains("plain"));
    }

    proptest! {
        /// As a search for one secret after the other, at each place, has it.
        #[test]
        fn as_one_after_the_other(words in prop::collection::vec("[aé_ ']{1,4}", 0..6), text in "[aé_ ']{0,40}") {
            let mut secrets = Secrets::default();
            words.iter().for_each(|word| secrets.add(word, ""));
            let mut masked = text.clone().into_bytes();
            for secret in &secrets.0 {
                for (at, _) in text.char_indices().filter(|(at, _)| text[*at..].starts_with(secret.as_str())) {
                    let end = at + secret.len();
                    let joins = |before: &str, behind: &str| {
                        before.chars().next_back().is_some_and(is_part) && behind.chars().next().is_some_and(is_part)
                    };
                    if !joins(&text[..at], secret) && !joins(secret, &text[end..]) {
                        masked[at..end].fill(b'*');
                    }
                }
            }
            prop_assert_eq!(secrets.mask(&text).into_owned().into_bytes(), masked);
        }
    }

    /// Forty thousand secrets in a text of 2.5 MB take no search of it for each of them, which would be 100 GB to read.
    #[test]
    fn many_secrets_in_a_long_text() {
        let mut secrets = Secrets::default();
        let key = |number: u32| format!("{:08x}", number.wrapping_mul(0x9e37_79b9)).repeat(5);
        let args: String =
            (0..40_000).map(|number| format!("SA a b 300 aes-gcm key {}, ", key(number))).collect();
        let shown = "SA a b 300 aes-gcm key ***, ".repeat(40_000);
        secrets.add(&args, &shown);
        let start = std::time::Instant::now();
        let masked = secrets.mask(&args);
        assert!(start.elapsed().as_secs() < 10);
        assert!(
            (0..40_000)
                .step_by(1000)
                .all(|number| args.contains(&key(number)) && !masked.contains(&key(number)))
        );
    }

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
            (
                "define($k 0011223344556677) IPsec(SA a b 1 aes-gcm key $k",
                "define($k ****************) IPsec(SA a b 1 aes-gcm key $k",
            ),
            (r"\<", r"\<"),
            ("key", "key"),
        ] {
            assert_eq!(without_keys(text), shown);
        }
    }

    /// Data that no key is announced for is shown: a configuration that was read can be loaded.
    #[test]
    fn what_is_announced_is_masked() {
        for (text, shown) in [
            (
                "write e.add_association a b 1 aes-gcm key 00112233445566778899 esn, stop",
                "write e.add_association a b 1 aes-gcm key ******************** esn, stop",
            ),
            (
                r"write e.config 300, KEY \<00112233 44556677>",
                r"write e.config 300, KEY \<******** ********>",
            ),
            (r#"write there.key "\<0011223344556677>""#, r#"write there.key "\<****************>""#),
            (
                r"set key 0x0011223344556677, DATA \<0011223344556677>",
                r"set key 0x****************, DATA \<0011223344556677>",
            ),
            (
                r"keyfile 0011223344556677, monkey 0011223344556677",
                r"keyfile 0011223344556677, monkey 0011223344556677",
            ),
            (
                "set k 0011223344556677, write e.add_association a b 1 aes-gcm key $k",
                "set k ****************, write e.add_association a b 1 aes-gcm key $k",
            ),
            (
                r#"initq one "\<0011223344556677>", set two ${one}, set k 0011223344556677, write x.key "$two", set two_ 0011223344556677"#,
                r#"initq one "\<****************>", set two ${one}, set k 0011223344556677, write x.key "$two", set two_ 0011223344556677"#,
            ),
            ("key $1, set 1 0011223344556677, key $", "key $1, set 1 0011223344556677, key $"),
            ("key", "key"),
            ("key ", "key "),
        ] {
            assert_eq!(behind_key(text), shown);
        }
    }

    /// One script sets what another one uses, by way of a third.
    #[test]
    fn variables_of_other_scripts_are_masked() {
        let texts = [
            "export k 00112233445566778899, set other 00112233445566778899",
            "set between $(keys.k)",
            "write e.add_association a b 1 aes-gcm key $(second.get between)",
            "write keys.k 00112233445566778899, set K 00112233445566778899",
        ];
        let names = KeyNames::of(texts.into_iter());
        let shown = texts.map(|text| names.behind_key(text).into_owned());
        assert_eq!(
            shown,
            [
                "export k ********************, set other 00112233445566778899",
                texts[1],
                texts[2],
                "write keys.k ********************, set K 00112233445566778899",
            ]
        );
        for (call, name) in [("$(get k)", "k"), ("$(a/s.k)", "k"), ("$(k)", "k"), ("$(s.get  k)", "k")] {
            assert_eq!(
                KeyNames::of([format!("key {call}").as_str()].into_iter()).0,
                [name.to_owned()].into()
            );
        }
        for odd in ["key $(", "key $()", "key $(s.", "key $(s.get", "key $(é", "key $("] {
            assert_eq!(KeyNames::of([odd].into_iter()), KeyNames::default());
        }
    }
}
