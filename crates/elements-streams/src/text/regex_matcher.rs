//! Lets through packets that match regular expressions.
//!
//! ```click
//! RegexMatcher(PATTERN1, ..., PATTERNN [, KEYWORDS])
//! ```
//!
//! A packet that contains a match for one of the patterns leaves by output 0. Others leave by output 1, or are
//! dropped if there is none.
//!
//! Patterns have the syntax of RE2, which has neither look-around nor back-references, but they match bytes: `.` is
//! any byte but a newline. All of them together cost one pass through a packet. In double quotes, backslashes have to
//! be doubled. RegexMatcherMP is another name. They are FastClick's elements.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `PAYLOAD_ONLY` (boolean, default false): whether to search packets only from the transport header on or, if they
//!   have none, from the network header on.
//! - `MATCH_ALL` (boolean, default false): whether all patterns have to match.
//!
//! # Handlers
//! - `payload_only`, `match_all` (read, write): the arguments.
//! - `pattern0`, and, where there is output 1, `pattern1` (read, write): the first two arguments.
//! - `config` (read, write): all arguments.
//!
//! # Example
//! ```click
//! InfiniteSource(DATA "hello", LIMIT 1) -> r :: RegexMatcher("net", "he.*o") -> Print -> Discard; r[1] -> Discard
//! ```
//!
//! # See also
//! RegexClassifier, StringMatcher, Search

use super::regexes::{MEMORY, Matching, Regexes, Rule, create};
use regex_automata::PatternSet;
use router::{Args, Class, ConfigError, Handlers, Scope};

/// The class.
pub(crate) const CLASS: Class = Class::new("RegexMatcher", create::<Matcher>)
    .ports("1/1-2")
    .processing("h/h")
    .doc(router::manual!("regex_matcher.rs"));
#[derive(Default)]
struct Matcher {
    payload_only: bool,
    match_all: bool,
}

impl Rule for Matcher {
    fn read(words: Vec<String>, scope: Scope<'_>, _outputs: usize) -> Result<(Self, Regexes), ConfigError> {
        let (mut e, mut patterns) = (Matcher::default(), Vec::new());
        Args::new(words, scope)
            .keyword("PAYLOAD_ONLY", &mut e.payload_only)
            .keyword("MATCH_ALL", &mut e.match_all)
            .rest(&mut patterns)
            .finish()?;
        Ok((e, Regexes::new(&patterns, MEMORY)?))
    }

    fn payload_only(&self) -> bool {
        self.payload_only
    }

    fn output(&self, matching: &PatternSet) -> Option<usize> {
        // As in RE2, nothing matches where there are no patterns.
        let passes = !matching.is_empty() && (!self.match_all || matching.is_full());
        Some(usize::from(!passes))
    }

    fn handlers(h: &mut Handlers) {
        type E = Matching<Matcher>;
        h.read("payload_only", |e: &mut E, _| e.rule.payload_only);
        h.write("payload_only", |e: &mut E, cx, text| {
            e.rule.payload_only = router::value(cx, text).map_err(|_| "syntax error")?;
            Ok(())
        });
        h.read("match_all", |e: &mut E, _| e.rule.match_all);
        h.write("match_all", |e: &mut E, cx, text| {
            e.rule.match_all = router::value(cx, text).map_err(|_| "syntax error")?;
            Ok(())
        });
    }
}
