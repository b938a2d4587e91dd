//! Patterns that are looked for in streams, a piece at a time.

use regex_automata::MatchKind;
use regex_automata::dfa::dense::{self, DFA};
use regex_automata::dfa::{Automaton, StartKind};
use regex_automata::nfa::thompson::NFA;
use regex_automata::util::primitives::StateID;
use regex_automata::util::start::Config as Start;
use regex_automata::util::syntax;
use router::ConfigError;

/// Bytes that an automaton may have.
const MEMORY: usize = 1 << 26;

/// Patterns, in an automaton of which each byte costs a step, whatever they are.
#[derive(Debug)]
pub(super) struct Scanner {
    automaton: DFA<Vec<u32>>,
    start: StateID,
    /// Where it is when nothing has begun.
    idle: StateID,
    /// Whether some patterns look at what is behind a place, so that an end is not to be taken for one.
    looks_ahead: bool,
}

/// How far a stream has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ScanState {
    #[default]
    Start,
    At(StateID),
    /// Nothing more can be found.
    Lost,
}

impl Scanner {
    /// Regular expressions in this syntax.
    pub(super) fn new(patterns: &[String], syntax: syntax::Config) -> Result<Scanner, ConfigError> {
        if let Some((at, pattern, error)) = patterns.iter().enumerate().find_map(|(at, pattern)| {
            syntax::parse_with(pattern, &syntax).err().map(|error| (at, pattern, error))
        }) {
            return Err(format!("pattern {at} '{pattern}': {error}").into());
        }
        let too_large = |_| ConfigError::from("patterns need too much memory");
        let nfa = NFA::compiler()
            .syntax(syntax)
            .configure(NFA::config().nfa_size_limit(Some(MEMORY)).shrink(true))
            .build_many(patterns)
            .map_err(|error| error.to_string())?;
        let config = dense::Config::new()
            .match_kind(MatchKind::All)
            .start_kind(StartKind::Unanchored)
            .dfa_size_limit(Some(MEMORY))
            .determinize_size_limit(Some(MEMORY));
        let automaton = dense::Builder::new().configure(config).build_from_nfa(&nfa);
        let automaton = automaton.map_err(|_| ()).map_err(too_large)?;
        let start = automaton.start_state(&Start::new()).map_err(|error| error.to_string())?;
        // Most bytes begin nothing.
        let mut next: Vec<StateID> = (0..=u8::MAX).map(|byte| automaton.next_state(start, byte)).collect();
        next.sort_unstable();
        let largest = next.chunk_by(|a, b| a == b).max_by_key(|same| same.len());
        let idle = largest.and_then(|same| same.first()).copied().unwrap_or(start);
        Ok(Scanner { automaton, start, idle, looks_ahead: !nfa.look_set_any().is_empty() })
    }

    /// Whether nothing has begun there.
    pub(super) fn is_idle(&self, progress: ScanState) -> bool {
        match progress {
            ScanState::Start | ScanState::Lost => true,
            ScanState::At(state) => state == self.idle || state == self.start,
        }
    }

    /// Goes on through some data: whether a pattern ends in it. If it is the end, one may end with it that looks for that.
    pub(super) fn scan(&self, progress: &mut ScanState, data: &[u8], is_end: bool) -> bool {
        let mut state = match *progress {
            ScanState::Start => self.start,
            ScanState::At(state) => state,
            ScanState::Lost => return false,
        };
        // A match is known a byte later, or at the end. What ended with the data before was found then, unless it is
        // what is behind it that counts.
        let (mut is_found, mut is_late) = (false, self.looks_ahead);
        for &byte in data {
            state = self.automaton.next_state(state, byte);
            let counts = std::mem::replace(&mut is_late, true);
            if self.automaton.is_special_state(state) {
                is_found |= counts && self.automaton.is_match_state(state);
                if self.automaton.is_dead_state(state) || self.automaton.is_quit_state(state) {
                    *progress = ScanState::Lost;
                    return is_found;
                }
            }
        }
        *progress = ScanState::At(state);
        if is_end && self.looks_ahead || !data.is_empty() && !self.looks_ahead {
            is_found |= self.automaton.is_match_state(self.automaton.next_eoi_state(state));
        }
        is_found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn scanner(patterns: &[&str]) -> Scanner {
        let patterns: Vec<String> = patterns.iter().map(ToString::to_string).collect();
        Scanner::new(&patterns, syntax::Config::new().unicode(false).utf8(false)).unwrap()
    }

    #[test]
    fn ends_and_beginnings() {
        let scanner = scanner(&["end$", "^ab"]);
        let found = |pieces: &[&str]| {
            let mut progress = ScanState::default();
            let found = |(at, piece): (usize, &&str)| {
                scanner.scan(&mut progress, piece.as_bytes(), at + 1 == pieces.len())
            };
            pieces.iter().enumerate().map(found).collect::<Vec<_>>()
        };
        assert_eq!(found(&["an en", "d", "."]), [false, false, false]);
        assert_eq!(found(&["an en", "d"]), [false, true]);
        assert_eq!(found(&["a", "b"]), [false, true]);
        assert_eq!(found(&["x", "ab"]), [false, false]);
    }

    #[test]
    fn what_has_begun() {
        let scanner = scanner(&["attack"]);
        let idle = |text: &str| {
            let mut progress = ScanState::default();
            assert!(!scanner.scan(&mut progress, text.as_bytes(), false));
            scanner.is_idle(progress)
        };
        assert_eq!([idle(""), idle("x"), idle("x att"), idle("x attx")], [true, true, false, true]);
    }

    #[test]
    fn bad_patterns_are_refused() {
        let error = |pattern: &str| {
            let syntax = syntax::Config::new().unicode(false).utf8(false);
            Scanner::new(&["ok".to_owned(), pattern.to_owned()], syntax).unwrap_err().to_string()
        };
        assert!(error("(").starts_with("pattern 1 '(': "));
        assert_eq!(error("(a|b)*a(a|b){30}"), "patterns need too much memory");
    }

    proptest! {
        /// In whatever pieces a text comes, a pattern is found where it would be in the whole.
        #[test]
        fn in_pieces(pieces in prop::collection::vec("[abc]{0,4}", 1..8)) {
            let scanner = scanner(&["abca", "bb", "c.*a.*c"]);
            let (mut progress, mut whole) = (ScanState::default(), String::new());
            for piece in pieces {
                whole += &piece;
                let ends = |end: usize| {
                    let text = &whole[..end];
                    let third = || {
                        let (first, last) = (text.find('c')?, text.strip_suffix('c')?);
                        last.get(first + 1..)?.find('a')
                    };
                    text.ends_with("abca") || text.ends_with("bb") || third().is_some()
                };
                let expected = (whole.len() - piece.len() + 1..=whole.len()).any(ends);
                prop_assert_eq!(scanner.scan(&mut progress, piece.as_bytes(), false), expected, "{}", whole);
            }
        }
    }
}
