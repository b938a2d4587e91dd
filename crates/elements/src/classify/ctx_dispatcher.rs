//! Sorts packets by their contents, as Classifier does, with outputs of one's choice.
//!
//! ```click
//! CTXDispatcher(PATTERN1 [OUTPUT], ..., PATTERNN [OUTPUT])
//! ```
//!
//! A packet leaves by the output of the first pattern that matches it. A pattern is a list of clauses `OFFSET/VALUE` or `OFFSET/VALUE/MASK` that must all
//! hold, with VALUE and MASK in hexadecimal, or `-`, which matches everything. OUTPUT is a number, or `drop`. Where it is missing, it is one more
//! than the largest one before, as far as there are outputs; beyond them, packets that match `-` are dropped, and others leave by the last one.
//!
//! Packets that match no pattern leave by the last output if it is larger than all that are said or meant, and are dropped otherwise. Without any
//! pattern all packets leave by output 0.
//!
//! FlowContextDispatcher and FlowDispatcher are other names for it. They are FastClick's elements, whose patterns a CTXManager looks at for all of them at once;
//! here each looks at its own, in a compiled program.
//!
//! Ports: 1 input, any number of outputs. Processing: push. Workers: replicated.
//!
//! # Arguments
//! The patterns.
//!
//! # Handlers
//! - `program` (read): the program, a test a line, with patterns by number for outputs.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> d :: CTXDispatcher(12/0800 0, 12/0806 1, - drop);
//! d [0] -> Discard;
//! d [1] -> Discard;
//! ```
//!
//! # See also
//! Classifier, IPClassifier, CTXManager

use super::compiled::Compiled;
use super::pattern::Pattern;
use super::program::Program;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("CTXDispatcher", create).ports("1/-").processing("h/h").doc(include_str!("ctx_dispatcher.rs"));
/// Another name.
pub(crate) const CONTEXT: Class = Class { name: "FlowContextDispatcher", ..CLASS };
/// An older name.
pub(crate) const FLOW: Class = Class { name: "FlowDispatcher", ..CLASS };

/// Why packets are dropped.
const NO_PATTERN: &str = "no pattern matches";
const TOLD_TO: &str = "the pattern says so";

struct CtxDispatcher {
    compiled: Compiled,
    program: Program,
    /// Where packets go that match each pattern.
    verdicts: Vec<Verdict>,
    otherwise: Verdict,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut rules = lang::conf::split_args(config.text());
    rules.retain(|rule| !rule.is_empty());
    if rules.is_empty() {
        rules.push("- 0".to_owned());
    }
    let (mut patterns, mut verdicts, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    let (outputs, mut next) = (config.outputs(), 0);
    for (i, rule) in rules.iter().enumerate() {
        match read(rule) {
            Ok((pattern, target)) => {
                verdicts.push(verdict(target, pattern.clauses.is_empty(), &mut next, outputs));
                patterns.push(pattern);
            }
            Err(error) => errors.push(format!("pattern {i}: {error}")),
        }
    }
    if !errors.is_empty() {
        return Err(ConfigError { messages: errors });
    }
    let mut program = Program::new(&patterns);
    program.optimise();
    let otherwise = if next < outputs { Verdict::Output(outputs - 1) } else { Verdict::Drop(NO_PATTERN) };
    Ok(Box::new(PerPacket(CtxDispatcher { compiled: Compiled::new(&program), program, verdicts, otherwise })))
}

/// What a rule says of the output.
enum Target {
    Nothing,
    Drop,
    Output(usize),
}

/// Reads a rule.
fn read(rule: &str) -> Result<(Pattern, Target), String> {
    let mut words: Vec<&str> = rule.split_whitespace().collect();
    let target = match words.last() {
        Some(word) if *word == "drop" || word.starts_with('-') && word.len() > 1 => Target::Drop,
        Some(word) => word.parse().map_or(Target::Nothing, Target::Output),
        None => Target::Nothing,
    };
    if !matches!(target, Target::Nothing) {
        words.pop();
    }
    // Classifier writes masks behind a percent sign.
    let clause = |word: &&str| match word.match_indices('/').nth(1) {
        Some((at, _)) => format!("{}%{}", &word[..at], &word[at + 1..]),
        None => (*word).to_owned(),
    };
    let clauses: Vec<String> = words.iter().map(clause).collect();
    Ok((Pattern::parse(&clauses.join(" "))?, target))
}

/// Where packets go; `next` is the output after the largest one so far.
fn verdict(target: Target, is_default: bool, next: &mut usize, outputs: usize) -> Verdict {
    let output = match target {
        Target::Drop => return Verdict::Drop(TOLD_TO),
        Target::Output(output) => output,
        Target::Nothing if *next < outputs => *next,
        Target::Nothing if is_default => return Verdict::Drop(NO_PATTERN),
        Target::Nothing => outputs.saturating_sub(1),
    };
    *next = (*next).max(output.saturating_add(1));
    if output < outputs { Verdict::Output(output) } else { Verdict::Drop(TOLD_TO) }
}

impl Simple for CtxDispatcher {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        self.verdicts.get(self.compiled.run(packet.data())).copied().unwrap_or(self.otherwise)
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("program", |e: &mut CtxDispatcher, _| e.program.to_string());
    }
}
