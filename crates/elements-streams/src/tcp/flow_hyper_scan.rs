//! Searches flows for regular expressions.
//!
//! ```click
//! FlowHyperScan(PATTERN1, ..., PATTERNN [, KEYWORDS])
//! ```
//!
//! Searches the data of each flow, taken as one stream, for the patterns, and counts packets in which a match ends.
//! Passes packets on. A flow manager upstream identifies flows; packets without a flow are dropped. Put a TCPReorder
//! in front of it, so that packets are in order and are seen only once. To search only the payload, strip the headers
//! or use PAYLOAD_ONLY. If a pattern needs to know what follows a position, as `$` and `\b` do, a match at the end of
//! a packet is counted with the next one.
//!
//! Patterns have Perl's syntax, without look-around and back-references, and match bytes, as for RegexMatcher. In
//! double quotes, backslashes have to be doubled. It is FastClick's element, which uses the library HyperScan; here
//! all patterns become one automaton of up to 64 MiB.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated; counts add up.
//!
//! # Arguments
//! - `PAYLOAD_ONLY` (boolean, default false): whether to search only the data after TCP and UDP headers; other
//!   packets pass.
//! - `FLAGS` (string): letters: `i` to ignore case, `m` to let `^` and `$` match at line breaks, `s` to let `.` match
//!   newlines too, `8` and `W` for Unicode characters; `H` and `V` are accepted.
//! - `FILE` (file name): more patterns, one per line.
//! - `KILL` (boolean, default false): whether to drop packets of a flow, from the first one in which a match ends.
//! - `VERBOSE` (boolean, default false): whether to print `MATCHED` for each packet that is counted.
//!
//! # Handlers
//! - `matches` (read): packets in which a match ended. FastClick has no such handler.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> FlowIPManager -> TCPReorder -> h :: FlowHyperScan("he.*o", PAYLOAD_ONLY true) -> Discard
//! ```
//!
//! # Differences from FastClick
//! With KILL, FastClick drops packets that do not match. PAYLOAD_ONLY has no effect there.
//!
//! # See also
//! CTXIDSMatcher, RegexMatcher, TCPReorder, FlowIPManager

use super::payload::payload;
use super::scanner::{ScanState, Scanner};
use elements_shared::flow_space::{Given, NO_FLOW, Space};
use packet::Packet;
use regex_automata::util::syntax;
use router::{
    Args, Class, Config, ConfigError, Cx, Element, FileName, Handlers, Merge, PerPacket, Simple, Verdict,
};
use std::any::Any;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("FlowHyperScan", create).processing("h/h").doc(router::manual!("flow_hyper_scan.rs"));

/// What is known of a flow.
#[derive(Clone, Default)]
struct State {
    progress: ScanState,
    is_found: bool,
}

/// What is searched for: patterns, and letters that say how they are to be read.
#[derive(Clone, PartialEq, Eq)]
struct Wanted {
    patterns: Vec<String>,
    flags: String,
}

/// What goes to a new configuration.
struct Handover {
    flows: Given<State>,
    wanted: Wanted,
    matches: u64,
}

struct FlowHyperScan {
    flows: Space<State>,
    wanted: Wanted,
    scanner: Scanner,
    payload_only: bool,
    kills: bool,
    is_verbose: bool,
    matches: u64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut payload_only, mut kills, mut is_verbose) = (false, false, false);
    let (mut flags, mut file, mut given) = (String::new(), FileName::default(), Vec::new());
    Args::new(lang::conf::split_args(config.text()), config.scope())
        .keyword("PAYLOAD_ONLY", &mut payload_only)
        .keyword("VERBOSE", &mut is_verbose)
        .keyword("FLAGS", &mut flags)
        .keyword("FILE", &mut file)
        .keyword("KILL", &mut kills)
        .rest(&mut given)
        .finish()?;
    let mut patterns: Vec<String> = given.iter().map(|pattern| lang::conf::unquote(pattern)).collect();
    if !file.0.is_empty() {
        let text = elements_shared::files::read_to_string(&file.0)
            .map_err(|error| format!("{}: {error}", file.0))?;
        patterns.extend(text.lines().map(lang::conf::unquote));
    }
    patterns.retain(|pattern| !pattern.is_empty());
    let scanner = Scanner::new(&patterns, syntax_of(&flags)?)?;
    let (flows, wanted) = (Space::default(), Wanted { patterns, flags });
    let matches = 0;
    Ok(Box::new(PerPacket(FlowHyperScan {
        flows,
        wanted,
        scanner,
        payload_only,
        kills,
        is_verbose,
        matches,
    })))
}

/// What letters say of the form of patterns.
fn syntax_of(flags: &str) -> Result<syntax::Config, ConfigError> {
    let mut syntax = syntax::Config::new().unicode(false).utf8(false);
    for flag in flags.chars() {
        syntax = match flag {
            'i' => syntax.case_insensitive(true),
            'm' => syntax.multi_line(true),
            's' => syntax.dot_matches_new_line(true),
            '8' | 'W' => syntax.unicode(true),
            'H' | 'V' | '\r' => syntax,
            _ => return Err(format!("Unsupported flag {flag}").into()),
        };
    }
    Ok(syntax)
}

impl Simple for FlowHyperScan {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.flows.connect(cx)
    }

    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Some((state, _)) = self.flows.of(packet.flow(), drop) else { return Verdict::Drop(NO_FLOW) };
        let data = if self.payload_only { payload(packet).unwrap_or_default() } else { packet.data() };
        if self.scanner.scan(&mut state.progress, data, false) {
            state.is_found = true;
            self.matches += 1;
            if self.is_verbose {
                cx.log("MATCHED");
            }
        }
        if self.kills && state.is_found { Verdict::Drop("a pattern matches") } else { Verdict::Pass }
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        let (wanted, matches) = (self.wanted.clone(), self.matches);
        Some(Box::new(Handover { flows: self.flows.give(), wanted, matches }))
    }

    /// Goes on in the middle of flows, unless something else is searched for now.
    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(state) = state.downcast::<Handover>() {
            let Handover { flows, wanted, matches } = *state;
            self.matches += matches;
            self.flows.adopt(cx, flows, |state| Some(state).filter(|_| wanted == self.wanted));
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("matches", |e: &mut FlowHyperScan, _| e.matches).merged(Merge::Sum);
    }
}
