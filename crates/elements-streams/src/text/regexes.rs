//! Regular expressions that are looked for in packets, all at once.

use elements_shared::arguments::{replaced, split};
use packet::Packet;
use regex_automata::meta::{self, Cache, Regex};
use regex_automata::util::syntax;
use regex_automata::{Input, MatchKind, PatternID, PatternSet};
use router::{Config, ConfigError, Cx, Element, Handlers, PerPacket, Scope, Simple, Verdict};
use std::any::Any;

/// Bytes that an automaton may have, unless more or fewer are asked for: RE2's bound in FastClick.
pub(super) const MEMORY: i32 = 1 << 29;

/// Regular expressions over bytes, and which of them matched the packet before.
#[derive(Clone, Debug)]
pub(super) struct Regexes {
    regex: Regex,
    cache: Cache,
    /// Those that need not be looked for.
    always: Vec<PatternID>,
    matched: PatternSet,
}

/// Matches nothing.
const NEVER: &str = "[a&&b]";

/// Reads patterns as RE2 does: classes such as `\d` are of ASCII.
fn syntax() -> syntax::Config {
    syntax::Config::new().unicode(false).utf8(false)
}

/// Whether a pattern matches no bytes at all, and so is found everywhere; `None` if it is wrong. Configurations say "all
/// others" like this, and an automaton would note it at each byte.
fn matches_everything(pattern: &str) -> Option<bool> {
    let parsed = syntax::parse_with(pattern, &syntax()).ok()?;
    let properties = parsed.properties();
    Some(properties.minimum_len() == Some(0) && properties.look_set().is_empty())
}

impl Regexes {
    /// Compiles patterns, which may be quoted.
    pub(super) fn new(patterns: &[String], memory: i32) -> Result<Regexes, ConfigError> {
        let mut patterns: Vec<String> = patterns.iter().map(|pattern| lang::conf::unquote(pattern)).collect();
        let (mut messages, mut always) = (Vec::new(), Vec::new());
        for (place, pattern) in patterns.iter_mut().enumerate() {
            match matches_everything(pattern) {
                None => messages.push(format!("Error (-1) in pattern {place}: {pattern}")),
                Some(false) => {}
                Some(true) => {
                    always.push(PatternID::must(place));
                    NEVER.clone_into(pattern);
                }
            }
        }
        if !messages.is_empty() {
            return Err(ConfigError::from(messages));
        }
        let memory = usize::try_from(memory).unwrap_or(0);
        let config =
            meta::Config::new().match_kind(MatchKind::All).utf8_empty(false).nfa_size_limit(Some(memory));
        let regex = Regex::builder().configure(config).syntax(syntax()).build_many(&patterns);
        let regex = regex.map_err(|_| "Unable to compile, due lack of memory")?;
        let (cache, matched) = (regex.create_cache(), PatternSet::new(regex.pattern_len()));
        Ok(Regexes { regex, cache, always, matched })
    }

    /// Which patterns match somewhere in the data.
    #[inline]
    pub(super) fn matching(&mut self, data: &[u8]) -> &PatternSet {
        self.matched.clear();
        for &pattern in &self.always {
            self.matched.insert(pattern);
        }
        self.regex.which_overlapping_matches_with(&mut self.cache, &Input::new(data), &mut self.matched);
        &self.matched
    }
}

/// What a class makes of the patterns that match.
pub(super) trait Rule: Any + Send + Sized {
    /// Reads the arguments: the rule, and its patterns.
    fn read(words: Vec<String>, scope: Scope<'_>, outputs: usize) -> Result<(Self, Regexes), ConfigError>;

    /// Whether only what follows the lower headers is looked at.
    fn payload_only(&self) -> bool {
        false
    }

    /// Where a packet goes, if anywhere, which some of so many patterns match.
    fn output(&self, matching: &PatternSet) -> Option<usize>;

    /// The class's own handlers.
    fn handlers(h: &mut Handlers) {
        let _ = h;
    }
}

/// An element that looks for regular expressions.
pub(super) struct Matching<R> {
    pub(super) rule: R,
    arguments: Vec<String>,
    regexes: Regexes,
    outputs: usize,
}

/// Makes an element.
pub(super) fn create<R: Rule>(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (arguments, outputs) = (split(config.text()), config.outputs());
    let (rule, regexes) = R::read(arguments.clone(), config.scope(), outputs)?;
    Ok(Box::new(PerPacket(Matching { rule, arguments, regexes, outputs })))
}

impl<R: Rule> Matching<R> {
    fn reconfigure(&mut self, cx: &Cx<'_>, arguments: Vec<String>) -> Result<(), String> {
        let read = R::read(arguments.clone(), router::scope(cx), self.outputs);
        (self.rule, self.regexes) = read.map_err(|error| error.to_string())?;
        self.arguments = arguments;
        Ok(())
    }
}

/// A packet from its transport header on, or else from its network header, as far as these are known.
#[inline]
fn payload(packet: &Packet) -> &[u8] {
    packet.transport().or_else(|| packet.network()).unwrap_or(packet.data())
}

impl<R: Rule> Simple for Matching<R> {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let subject = if self.rule.payload_only() { payload(packet) } else { packet.data() };
        match self.rule.output(self.regexes.matching(subject)) {
            Some(output) if output < self.outputs => Verdict::Output(output),
            _ => Verdict::Drop("no pattern matches"),
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("config", |e: &mut Self, _| lang::conf::join_args(&e.arguments));
        h.write("config", |e: &mut Self, cx, text| e.reconfigure(cx, split(text)));
        for place in 0..self.outputs {
            let name = format!("pattern{place}");
            h.read(&name, move |e: &mut Self, _| e.arguments.get(place).cloned().unwrap_or_default());
            h.write(&name, move |e: &mut Self, cx, text| {
                e.reconfigure(cx, replaced(&e.arguments, place, text)?)
            });
        }
        R::handlers(h);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(patterns: &[&str], data: &[u8]) -> Vec<usize> {
        let patterns: Vec<String> = patterns.iter().map(ToString::to_string).collect();
        let mut regexes = Regexes::new(&patterns, MEMORY).unwrap();
        regexes.matching(b"something else"); // is not remembered
        regexes.matching(data).iter().map(|place| place.as_usize()).collect()
    }

    /// Every pattern that matches is found, in any bytes; anchors are the packet's ends.
    #[test]
    fn all_that_match() {
        assert_eq!(places(&["b", "'he.*o'", "^x", "x$"], b"\xff\x00hello x"), [1, 3]);
        assert_eq!(places(&["\\x00.", "\\d+", "[^a-z]{3}", "(?i)ABC"], b"abc\x00\xff\xfe"), [0, 2, 3]);
        assert_eq!(places(&["", "a"], b""), [0]);
        assert_eq!(places(&["a", ".*", "c?", "^", "^$", "\\b", "()", "x|"], b"-"), [1, 2, 3, 6, 7]);
        assert_eq!(places(&[], b"x"), [0usize; 0]);
    }

    #[test]
    fn bad_patterns_are_refused() {
        let errors = |pattern: &str, memory| {
            Regexes::new(&["ok".to_owned(), pattern.to_owned()], memory).unwrap_err().to_string()
        };
        assert_eq!(errors("a(b", MEMORY), "Error (-1) in pattern 1: a(b");
        assert_eq!(errors("(a{1000}){1000}", 10_000), "Unable to compile, due lack of memory");
    }
}
