//! Closes TCP connections in which one of several patterns occurs.
//!
//! ```click
//! CTXIDSMatcher(PATTERN1, ..., PATTERNN [, KEYWORDS])
//! ```
//!
//! Goes between a TCPIn and its TCPOut and searches the data of the stream for the patterns, also across packets;
//! after an HTTPIn, it searches the content of messages. If a pattern occurs, the connection is closed on both sides,
//! and the packet in which the pattern ends leaves by output 1, if there is one, together with those that wait.
//!
//! In a pattern, `*` matches any bytes, or none, and a backslash makes the next character literal. All patterns
//! together cost one pass.
//!
//! FlowIDSMatcher is an older name, and FlowIDSChunkMatcher another one. They are FastClick's elements.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: push. Workers: one, that of the TCPIn.
//!
//! # Arguments
//! - `STALL` (boolean, default false): whether packets whose end may be the start of a match wait until the next
//!   packets decide, the stream or message ends, or nothing arrives for a second. If 64 packets of one stream would
//!   have to wait, or more than the TCPIn's WAITING in total, the connection is closed.
//!
//! # Handlers
//! - `matched` (read): streams in which a pattern occurred.
//! - `stalled` (read): packets that had to wait.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> c :: IPClassifier(dst tcp port 80, src tcp port 80);
//! c[0] -> in :: TCPIn(RETURNNAME back) -> CTXIDSMatcher("/etc/passwd", "cmd*exe") -> TCPOut -> Discard;
//! c[1] -> back :: TCPIn(RETURNNAME in) -> TCPOut -> Discard;
//! ```
//!
//! # Differences from FastClick
//! FastClick builds its automaton by another rule, which misses some occurrences, for instance one that begins within
//! another pattern.
//!
//! # See also
//! WordMatcher, FlowHyperScan, StringMatcher, TCPIn

use super::between::CLOSED;
use super::editing::{Editing, Editor, Http, Next, Outcome, Ready, Watch};
use super::held::{Edits, NoRoom};
use super::messages::Kind;
use super::scanner::{ScanState, Scanner};
use packet::{Packet, Pool};
use regex_automata::util::syntax;
use router::{Args, Class, Config, ConfigError, Element, Handlers, Residency};
use std::fmt::Write;

/// The class.
pub(crate) const CLASS: Class = Class::new("CTXIDSMatcher", create)
    .ports("1/1-2")
    .processing("h/h")
    .residency(Residency::Exclusive)
    .copies()
    .holds_jointly("packets of TCP streams")
    .doc(router::manual!("ctx_ids_matcher.rs"));
/// How long packets wait when nothing comes.
const TIMEOUT_NS: i64 = 1_000_000_000;

/// What looks for patterns.
struct Matcher {
    scanner: Scanner,
    stalls: bool,
    second: bool,
    matched: u64,
    stalled: u64,
    edits: Edits,
    scratch: Vec<u8>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut stalls, mut patterns) = (false, Vec::new());
    let words = lang::conf::split_args(config.text());
    Args::new(words, config.scope()).keyword("STALL", &mut stalls).rest(&mut patterns).finish()?;
    let patterns: Vec<String> = patterns.iter().map(|text| regex(&lang::conf::unquote_bytes(text))).collect();
    if let Some(at) = patterns.iter().position(String::is_empty) {
        return Err(format!("pattern {at} is empty").into());
    }
    let scanner = Scanner::new(&patterns, syntax::Config::new().unicode(false).utf8(false))?;
    let second = config.outputs() > 1;
    Ok(Box::new(Editing::new(Matcher {
        scanner,
        stalls,
        second,
        matched: 0,
        stalled: 0,
        edits: Edits::default(),
        scratch: Vec::new(),
    })))
}

/// A pattern as a regular expression.
fn regex(pattern: &[u8]) -> String {
    let (mut out, mut bytes) = (String::new(), pattern.iter());
    while let Some(&byte) = bytes.next() {
        let byte = match byte {
            b'*' => {
                out.push_str("(?s-u:.)*");
                continue;
            }
            b'\\' => bytes.next().copied().unwrap_or(b'\\'),
            byte => byte,
        };
        // Writing to memory does not fail.
        let _ = write!(out, "\\x{byte:02x}");
    }
    out
}

impl Matcher {
    /// Lets packets go that wait.
    fn release(
        &mut self,
        pool: &mut Pool,
        watch: &mut Watch<ScanState>,
        ready: &mut Ready,
    ) -> Result<(), NoRoom> {
        self.edits.clear();
        let leave = |_: &mut _, packet: Packet| ready.on.push(packet);
        watch.held.settle(pool, &self.edits, 0, &mut self.scratch, leave)
    }

    /// A pattern is there: what becomes of the packet, and of those that wait.
    fn close(
        &mut self,
        pool: &mut Pool,
        watch: &mut Watch<ScanState>,
        packet: Packet,
        ready: &mut Ready,
    ) -> Outcome {
        self.matched += 1;
        let Some(first) = watch.held.take_first() else {
            ready.aside.extend(pool.copy(&packet).filter(|_| self.second));
            return Outcome::Closes(packet);
        };
        let Some(carrier) = pool.copy(&first).filter(|_| self.second) else {
            ready.dropped.push((packet, CLOSED));
            return Outcome::Closes(first);
        };
        ready.aside.push(first);
        watch.held.clear(|packet| ready.aside.push(packet));
        ready.aside.push(packet);
        Outcome::Closes(carrier)
    }
}

impl Editor for Matcher {
    type State = ScanState;

    fn timeout_ns(&self) -> i64 {
        TIMEOUT_NS
    }

    fn next(
        &mut self,
        pool: &mut Pool,
        watch: &mut Watch<ScanState>,
        http: Http<'_>,
        next: Next,
        ready: &mut Ready,
    ) -> Outcome {
        let kind = http.marks.of(next.segment.start);
        let is_end = next.is_end || kind == Kind::Last || kind.is_apart();
        if kind.is_content() && self.scanner.scan(&mut watch.state, next.text(), is_end) {
            return self.close(pool, watch, next.packet, ready);
        }
        let waits = self.stalls && !is_end && !self.scanner.is_idle(watch.state);
        if is_end {
            watch.state = ScanState::Start;
        }
        if waits {
            self.stalled += 1;
            watch.held.push(next.packet, 0);
            return Outcome::Held;
        }
        match self.release(pool, watch, ready) {
            Ok(()) => Outcome::Leaves(next.packet),
            Err(NoRoom(packet)) => Outcome::Closes(packet),
        }
    }

    fn expire(
        &mut self,
        pool: &mut Pool,
        watch: &mut Watch<ScanState>,
        _http: Http<'_>,
        ready: &mut Ready,
    ) -> Outcome {
        match self.release(pool, watch, ready) {
            Ok(()) => Outcome::Held,
            Err(NoRoom(packet)) => Outcome::Closes(packet),
        }
    }

    fn handlers(h: &mut Handlers) {
        h.read("matched", |e: &mut Editing<Matcher>, _| e.editor.matched);
        h.read("stalled", |e: &mut Editing<Matcher>, _| e.editor.stalled);
    }
}
