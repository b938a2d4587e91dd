//! Classifies packets by their contents, as Classifier does, with an output chosen for each pattern.
//!
//! ```click
//! CTXDispatcher(PATTERN1 [OUTPUT], ..., PATTERNN [OUTPUT])
//! ```
//!
//! A packet leaves by the output of the first pattern that matches it. OUTPUT is a number, or `drop`. If OUTPUT is
//! missing, it is one more than the largest output so far, as long as that output exists. Otherwise packets that
//! match `-` are dropped, and packets that match other patterns leave by the last output.
//!
//! A pattern is `-`, which matches everything, or a list of terms that must all hold, separated by blanks or `&&`:
//!
//! - `OFFSET/VALUE` or `OFFSET/VALUE/MASK`: the packet's data has these bytes at OFFSET, in hexadecimal. With an odd
//!   number of digits, the first half of the first byte is left out, so that `9/6` looks at four bits only. If VALUE
//!   and MASK differ in length, the shorter one is padded with zeros. `ip+OFFSET/VALUE` is the same.
//! - `ip proto PROTOCOL`: `9/` with the number of the protocol: `tcp`, `udp`, `icmp`, another name, or a number.
//! - `src host ADDR`, `dst host ADDR`: the address at offset 12 or 16.
//! - `src port PORT`, `dst port PORT`: the port, a number or a service name, at offset 20 or 22.
//! - `agg`, `thread`: every packet.
//! - `!OFFSET/VALUE`: packets without these bytes, as in Classifier.
//!
//! Terms with words assume packets that begin with an IP header without options, as after FlowStrip(14) or IPIn.
//!
//! A term whose VALUE is 0 under its MASK *matches every packet*, whatever the packet contains:
//! `26/00000000/ffffffff`, `12/0/ffff`, `20/0000`, `dst port 0`. In Classifier such a term would match packets that
//! have zeros there. In FastClick's language it requests a separate flow for each value, as `agg` does for each
//! aggregate and `thread` for each thread. Here the flow manager defines the flows, and such terms have no further
//! effect. Syntax that only says how FastClick stores flows is accepted: `:HASH-n`, `:ARRAY` and `!` after a term,
//! and `keep` before OUTPUT.
//!
//! Packets that match no pattern leave by the last output if it is beyond all outputs that patterns use, explicitly
//! or by default; otherwise they are dropped. Without any pattern all packets leave by output 0.
//!
//! FlowContextDispatcher also considers where its outputs lead. If the next element of interest behind an output,
//! past any elements with one output, is a UDPIn, that output takes only UDP packets with a marked IP header; if it
//! is a TCPIn, only TCP packets. Other packets go on to the next patterns. A context arrow of FastClick's language
//! stands for a FlowContextDispatcher: what an element sends along `~>`, perhaps to several places, goes to a
//! FlowContextDispatcher with a rule `-` for each of them, in order. `~udp>` adds a UDPIn after it, `~ip>` an IPIn,
//! and `~/ip>` an IPOut.
//!
//! FlowDispatcher is an older name for CTXDispatcher. They are FastClick's elements. There, a CTXManager matches the
//! patterns of all of them at once; here each matches its own, in a compiled program.
//!
//! Ports: 1 input, any number of outputs. Processing: push. Workers: replicated.
//!
//! # Arguments
//! The patterns.
//!
//! # Handlers
//! - `program` (read): the program, one test per line, with pattern numbers as outputs.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> d :: CTXDispatcher(12/0800 0, 12/0806 1, - drop);
//! d [0] -> Discard;
//! d [1] -> Discard;
//! ```
//!
//! # Differences from FastClick
//! Patterns are tried in order. MASK is applied to VALUE digit by digit, whereas FastClick takes its bytes in host
//! byte order. Syntax that makes FastClick abort is an error here: `src net` and `dst net`, and offsets before the
//! packet.
//!
//! # See also
//! Classifier, IPClassifier, CTXManager

use super::compiled::{Compiled, NOWHERE};
use super::context_rule::{Rule, Target};
use super::pattern::Pattern;
use super::program::Program;
use elements_shared::ip_header::header;
use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Info, PerPacket, Simple, Verdict};
use wire::ip_proto;

/// The class.
pub(crate) const CLASS: Class = Class::new("CTXDispatcher", create)
    .ports("1/-")
    .processing("h/h")
    .doc(router::manual!("ctx_dispatcher.rs"));
/// The one that looks at where its outputs lead.
pub(crate) const CONTEXT: Class =
    Class { name: "FlowContextDispatcher", create: create_for_contexts, ..CLASS };
/// Where packets go: the number of an output, or one of the two codes for drops.
type OutputCode = usize;
/// The pattern says that the packet is dropped.
const DROPPED: OutputCode = NOWHERE - 1;
/// No pattern matches.
const NO_PATTERN: OutputCode = NOWHERE;

/// Rules in the form in which they are looked at.
struct Rules {
    /// Finds the codes.
    compiled: Compiled,
    /// Finds patterns: what the handler prints.
    program: Program,
}

impl Rules {
    /// `otherwise` is the code of packets that match none of them.
    fn new(rules: &[(Pattern, OutputCode)], otherwise: OutputCode) -> Rules {
        let patterns: Vec<Pattern> = rules.iter().map(|(pattern, _)| pattern.clone()).collect();
        let mut program = Program::new(&patterns);
        program.optimise();
        let codes = program.with_outputs(|pattern| rules[pattern].1, otherwise);
        Rules { compiled: Compiled::new(&codes), program }
    }
}

struct CtxDispatcher {
    rules: Rules,
    /// Those for UDP, for TCP and for other packets, if some outputs take some of them only.
    by_kind: Option<Box<[Rules; 3]>>,
}

/// A dispatcher whose outputs take what they can.
struct ContextDispatcher {
    rules: Vec<(Pattern, OutputCode)>,
    otherwise: OutputCode,
    dispatcher: CtxDispatcher,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (rules, otherwise) = read_all(config)?;
    Ok(Box::new(PerPacket(CtxDispatcher { rules: Rules::new(&rules, otherwise), by_kind: None })))
}

fn create_for_contexts(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (rules, otherwise) = read_all(config)?;
    let dispatcher = CtxDispatcher { rules: Rules::new(&rules, otherwise), by_kind: None };
    Ok(Box::new(PerPacket(ContextDispatcher { rules, otherwise, dispatcher })))
}

/// The rules, and where packets go that none is for.
fn read_all(config: &Config<'_>) -> Result<(Vec<(Pattern, OutputCode)>, OutputCode), ConfigError> {
    let mut texts = lang::conf::split_args(config.text());
    texts.retain(|rule| !rule.is_empty());
    if texts.is_empty() {
        texts.push("- 0".to_owned());
    }
    let (mut rules, mut errors) = (Vec::new(), Vec::new());
    let (outputs, mut next) = (config.outputs(), 0);
    let port = |name: &str| config.scope().port(name).or_else(|| router::service_port(name));
    for (i, text) in texts.iter().enumerate() {
        match Rule::parse(text, &port) {
            Ok(rule) => {
                let code = code(rule.target, rule.is_default, &mut next, outputs);
                rules.push((rule.pattern, code));
            }
            Err(error) => errors.push(format!("pattern {i}: {error}")),
        }
    }
    if !errors.is_empty() {
        return Err(ConfigError::from(errors));
    }
    Ok((rules, if next < outputs { outputs - 1 } else { NO_PATTERN }))
}

/// The kinds of packets, with the classes that take no others.
const KINDS: [Option<&str>; 3] = [Some("UDPIn"), Some("TCPIn"), None];

/// Whether a packet's IP header names a protocol.
#[inline]
fn carries(packet: &Packet, protocol: u8) -> bool {
    header(packet).is_some_and(|ip| ip.protocol() == protocol)
}

/// Which kind a packet is.
#[inline]
fn kind_of(packet: &Packet) -> usize {
    match packet {
        packet if carries(packet, ip_proto::UDP) => 0,
        packet if carries(packet, ip_proto::TCP) => 1,
        _ => 2,
    }
}

/// The class among those that take one kind only which is next behind an output.
fn leads_to(info: &Info, element: usize, output: usize) -> Option<&'static str> {
    let (mut element, mut output) = (element, output);
    // As many steps as there are elements, for there may be a circle.
    for _ in &info.nodes {
        let Some(&[(next, _)]) = info.nodes[element].outputs.get(output).map(|port| &port.peers[..]) else {
            return None;
        };
        let name = info.nodes[next].class.name;
        if KINDS.contains(&Some(name)) {
            return Some(name);
        }
        if info.nodes[next].outputs.len() != 1 {
            return None;
        }
        (element, output) = (next, 0);
    }
    None
}

/// Where packets go; `next` is the output after the largest one so far.
fn code(target: Target, is_default: bool, next: &mut usize, outputs: usize) -> OutputCode {
    let output = match target {
        Target::Drop => return DROPPED,
        Target::Output(output) => output,
        Target::Nothing if *next < outputs => *next,
        Target::Nothing if is_default => return NO_PATTERN,
        Target::Nothing => outputs.saturating_sub(1),
    };
    *next = (*next).max(output.saturating_add(1));
    if output < outputs { output } else { DROPPED }
}

/// What becomes of a packet with a code.
#[inline(always)] // one call less for every packet
fn verdict(code: OutputCode) -> Verdict {
    match code {
        NO_PATTERN => Verdict::Drop("no pattern matches"),
        DROPPED => Verdict::Drop("the pattern says so"),
        output => Verdict::Output(output),
    }
}

impl Simple for CtxDispatcher {
    #[inline(always)] // one call less for every packet
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let rules = self.by_kind.as_ref().map_or(&self.rules, |by_kind| &by_kind[kind_of(packet)]);
        verdict(rules.compiled.run_on_packet(packet))
    }

    fn process_batch(&mut self, cx: &mut Cx<'_>, batch: Batch) {
        let quick = self.rules.compiled.quick().filter(|_| self.by_kind.is_none());
        match quick {
            Some(quick) => cx.scatter(batch, |_, packet| verdict(quick.run_on_packet(packet))),
            None => cx.scatter(batch, |cx, packet| self.process(cx, packet)),
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("program", |e: &mut CtxDispatcher, _| e.rules.program.to_string());
    }
}

impl Simple for ContextDispatcher {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        let only = |code: OutputCode| match code {
            NO_PATTERN | DROPPED => None,
            output => leads_to(cx.info(), cx.index(), output),
        };
        if self.rules.iter().any(|(_, code)| only(*code).is_some()) {
            let takes = |kind, code| only(code).is_none_or(|class| kind == Some(class));
            let rules = KINDS.map(|kind| {
                let some = self.rules.iter().filter(|(_, code)| takes(kind, *code));
                Rules::new(&some.cloned().collect::<Vec<_>>(), self.otherwise)
            });
            self.dispatcher.by_kind = Some(Box::new(rules));
        }
        Ok(())
    }

    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        self.dispatcher.process(cx, packet)
    }

    fn process_batch(&mut self, cx: &mut Cx<'_>, batch: Batch) {
        self.dispatcher.process_batch(cx, batch);
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("program", |e: &mut ContextDispatcher, _| e.dispatcher.rules.program.to_string());
    }
}
