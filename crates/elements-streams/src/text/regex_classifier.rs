//! Classifies packets by regular expressions.
//!
//! ```click
//! RegexClassifier(PATTERN1, ..., PATTERNN [, KEYWORDS])
//! ```
//!
//! Has one output for each pattern. A packet leaves by the output of the first pattern that matches somewhere in it,
//! and is dropped if none does. See RegexMatcher for the syntax of patterns. RegexClassifierMP is another name. They
//! are FastClick's elements.
//!
//! Ports: 1 input, as many outputs as patterns. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `PAYLOAD_ONLY` (boolean, default false): whether to search packets only from the transport header on or, if they
//!   have none, from the network header on.
//! - `MAX_REGEX_MEMORY` (integer, default 536870912): the maximum size of the compiled patterns, in bytes.
//!
//! # Handlers
//! - `payload_only` (read, write): the argument.
//! - `pattern0`, `pattern1` and so on, as many as outputs (read, write): the arguments, one by one.
//! - `config` (read, write): all arguments.
//!
//! # Example
//! ```click
//! InfiniteSource(DATA "hello", LIMIT 1) -> r :: RegexClassifier("net", "he.*o", ".*");
//! r[0] -> Discard; r[1] -> Print -> Discard; r[2] -> Discard
//! ```
//!
//! # See also
//! RegexMatcher, GroupRegexClassifier, StringClassifier, Classifier

use super::regexes::{MEMORY, Matching, Regexes, Rule, create};
use regex_automata::PatternSet;
use router::{Args, Class, ConfigError, Handlers, Scope};

/// The class.
pub(crate) const CLASS: Class = Class::new("RegexClassifier", create::<Classifier>)
    .ports("1/-")
    .processing("h/h")
    .doc(router::manual!("regex_classifier.rs"));
struct Classifier {
    payload_only: bool,
}

impl Rule for Classifier {
    fn read(words: Vec<String>, scope: Scope<'_>, outputs: usize) -> Result<(Self, Regexes), ConfigError> {
        let (mut e, mut memory, mut patterns) = (Classifier { payload_only: false }, MEMORY, Vec::new());
        Args::new(words, scope)
            .keyword("PAYLOAD_ONLY", &mut e.payload_only)
            .keyword("MAX_REGEX_MEMORY", &mut memory)
            .rest(&mut patterns)
            .finish()?;
        if patterns.len() != outputs {
            return Err(format!("need {outputs} patterns, one per output port").into());
        }
        Ok((e, Regexes::new(&patterns, memory)?))
    }

    fn payload_only(&self) -> bool {
        self.payload_only
    }

    fn output(&self, matching: &PatternSet) -> Option<usize> {
        matching.iter().next().map(|pattern| pattern.as_usize())
    }

    fn handlers(h: &mut Handlers) {
        type E = Matching<Classifier>;
        h.read("payload_only", |e: &mut E, _| e.rule.payload_only);
        h.write("payload_only", |e: &mut E, cx, text| {
            e.rule.payload_only = router::value(cx, text).map_err(|_| "syntax error")?;
            Ok(())
        });
    }
}
