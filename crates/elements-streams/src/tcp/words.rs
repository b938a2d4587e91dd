//! Words that are looked for in a text of which more may come.

use aho_corasick::{AhoCorasick, Input, MatchKind};
use router::ConfigError;

/// The longest word; what may be the beginning of one is kept until that is known.
pub(super) const LONGEST: usize = 1024;

/// Words, of which those count that begin first, and of several that begin at the same place the one that is given first.
#[derive(Clone, Debug)]
pub(super) struct Words {
    automaton: AhoCorasick,
    words: Vec<Vec<u8>>,
    /// The words in the order of their bytes.
    sorted: Vec<Vec<u8>>,
    longest: usize,
}

/// Where a word is in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WordMatch {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Its place among the words.
    pub(super) word: usize,
}

impl Words {
    pub(super) fn new(words: Vec<Vec<u8>>) -> Result<Words, ConfigError> {
        if words.is_empty() {
            return Err("No words given".into());
        }
        if let Some(at) = words.iter().position(|word| word.is_empty() || word.len() > LONGEST) {
            return Err(format!("WORD: word {at} should have 1 to {LONGEST} bytes").into());
        }
        let automaton = AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(&words);
        let automaton = automaton.map_err(|error| error.to_string())?;
        let mut sorted = words.clone();
        sorted.sort();
        sorted.dedup();
        let longest = words.iter().map(Vec::len).max().unwrap_or(0);
        Ok(Words { automaton, words, sorted, longest })
    }

    /// How many words there are.
    pub(super) fn count(&self) -> usize {
        self.words.len()
    }

    /// Tells of the words in a text, as far as what comes behind it cannot change anything about them: where the rest
    /// begins that it can. Nothing comes behind what is the end.
    pub(super) fn scan(&self, text: &[u8], is_end: bool, mut found: impl FnMut(WordMatch)) -> usize {
        let (mut at, mut open) = (0, 0);
        let mut is_known = false;
        loop {
            if !is_known || open < at {
                open = if is_end { text.len() } else { self.open(text, at) };
                is_known = true;
            }
            let Some(next) = self.automaton.find(Input::new(text).span(at..text.len())) else { return open };
            let next = WordMatch { start: next.start(), end: next.end(), word: next.pattern().as_usize() };
            if next.start > open || next.start == open && self.could_precede(next.word, &text[open..]) {
                return open;
            }
            found(next);
            at = next.end;
        }
    }

    /// Where the text begins, from a place on, that could be the beginning of a word.
    fn open(&self, text: &[u8], at: usize) -> usize {
        let first = at.max(text.len().saturating_sub(self.longest - 1));
        (first..text.len()).find(|&start| self.is_beginning(&text[start..])).unwrap_or(text.len())
    }

    /// Whether a word begins so, and goes on.
    fn is_beginning(&self, text: &[u8]) -> bool {
        let at = self.sorted.partition_point(|word| word[..] < *text);
        let mut candidates = self.sorted[at..].iter().take(2);
        candidates.any(|word| word.len() > text.len() && word.starts_with(text))
    }

    /// Whether a word that is given before this one begins so, and goes on.
    fn could_precede(&self, word: usize, text: &[u8]) -> bool {
        self.words[..word].iter().any(|word| word.len() > text.len() && word.starts_with(text))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(in super::super) fn words(words: &[&str]) -> Words {
        Words::new(words.iter().map(|word| word.as_bytes().to_vec()).collect()).unwrap()
    }

    /// The words in a text, by trying each of them at each place.
    pub(in super::super) fn naive(words: &Words, text: &[u8]) -> Vec<WordMatch> {
        let (mut all, mut at) = (Vec::new(), 0);
        while at < text.len() {
            match words.words.iter().position(|word| text[at..].starts_with(word)) {
                Some(word) => {
                    let end = at + words.words[word].len();
                    all.push(WordMatch { start: at, end, word });
                    at = end;
                }
                None => at += 1,
            }
        }
        all
    }

    #[test]
    fn what_may_go_on_waits() {
        let two = words(&["attack", "tac"]);
        let scan = |text: &str, is_end| {
            let mut all = Vec::new();
            let open = two.scan(text.as_bytes(), is_end, |found| all.push((found.start, found.word)));
            (open, all)
        };
        assert_eq!(scan("an attack", false), (9, vec![(3, 0)]));
        assert_eq!(scan("an attac", false), (3, vec![]), "tac is within");
        assert_eq!(scan("an attac", true), (8, vec![(5, 1)]));
        assert_eq!(scan("an attata", false), (7, vec![]));
        assert_eq!(scan("tactac", false), (6, vec![(0, 1), (3, 1)]));
        // One that is given before takes precedence when it is longer.
        let (long_first, short_first) = (words(&["abc", "ab"]), words(&["ab", "abc"]));
        let open = |words: &Words| words.scan(b"xab", false, |_| ());
        assert_eq!((open(&long_first), open(&short_first)), (1, 3));
    }

    #[test]
    fn bad_words_are_refused() {
        let error = |words: Vec<Vec<u8>>| Words::new(words).unwrap_err().to_string();
        assert_eq!(error(vec![]), "No words given");
        assert_eq!(error(vec![b"a".to_vec(), vec![]]), "WORD: word 1 should have 1 to 1024 bytes");
        assert_eq!(error(vec![vec![b'a'; 1025]]), "WORD: word 0 should have 1 to 1024 bytes");
    }

    proptest! {
        /// In whatever pieces a text comes, the words are those of the whole, and what waits is shorter than the longest of them.
        #[test]
        fn in_pieces(all in prop::collection::vec("[ab]{1,5}", 1..5), pieces in prop::collection::vec("[abc]{0,6}", 0..12)) {
            let words = words(&all.iter().map(String::as_str).collect::<Vec<_>>());
            let whole = pieces.concat().into_bytes();
            let (mut found, mut waits, mut base) = (Vec::new(), Vec::new(), 0);
            for (at, piece) in pieces.iter().enumerate() {
                waits.extend_from_slice(piece.as_bytes());
                let mut shift = |one: WordMatch| {
                    let (start, end) = (one.start + base, one.end + base);
                    found.push(WordMatch { start, end, ..one });
                };
                let open = words.scan(&waits, at + 1 == pieces.len(), &mut shift);
                waits.drain(..open);
                base += open;
                prop_assert!(waits.len() < words.longest);
            }
            prop_assert_eq!(found, naive(&words, &whole));
        }
    }
}
