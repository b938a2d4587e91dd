//! What the classifiers of IP packets share: arguments, the choice of a search, handlers.
//!
//! A few rules become a decision program ([`super::program`]), many are searched by bit vectors ([`super::vectors`]).

use super::compiled::{Compiled, NOWHERE, Quick};
use super::expr::{MAC, NETWORK, Parts, Rule};
use super::language::{Language, words};
use super::names::Family;
use super::primitive::Messages;
use super::program::Program;
use super::repeats::{self, Counts, Repeats};
use super::usual;
use super::vectors::Vectors;
use elements_shared::arguments::replaced;
use packet::{Batch, Packet};
use router::{Config, ConfigError, Cx, Element, Handlers, PerPacket, Scope, Simple, Verdict};
use std::sync::{Arc, OnceLock};

/// Tests of a program from which on a search by bit vectors is faster.
const SEARCH_MIN: usize = 48;
/// Tests of a program up to which it is made in order to find outputs that get no packets.
const CHECK_MAX: usize = 4000;

/// What sets the classes apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    pub(super) family: Family,
    /// Whether each pattern has its own output; otherwise an action stands in front of each.
    pub(super) output_each: bool,
    /// Whether it has what FastClick adds to IPFilter: rules in files, and CACHING.
    pub(super) fast: bool,
}

#[derive(Debug)]
enum Search {
    Program(Compiled),
    Vectors(Box<Vectors>),
}

/// The quicker way for packets without IP options or extension headers: all parts are seen from the network header.
#[derive(Debug)]
enum Usual {
    Program(Compiled),
    /// The search is able to.
    Vectors,
    /// There is none.
    None,
}

/// A configuration, compiled.
#[derive(Debug)]
struct Filter {
    arguments: Vec<String>,
    rules: Vec<Rule>,
    search: Search,
    usual: Usual,
    /// Whether some rule looks at the link-layer header.
    uses_mac: bool,
}

impl Filter {
    fn new(arguments: Vec<String>, rules: Vec<Rule>, family: Family) -> Filter {
        let tests: usize = rules.iter().map(|rule| rule.expr.tests()).sum();
        let uses_mac = rules.iter().any(|rule| rule.expr.looks_at(MAC..NETWORK));
        let (search, usual) = if tests < SEARCH_MIN {
            let mut program = Program::of_rules(&rules);
            program.optimise();
            let usual = usual::program(&program, family);
            let usual = usual.map_or(Usual::None, |program| Usual::Program(Compiled::new(&program)));
            (Search::Program(Compiled::new(&program)), usual)
        } else {
            let usual = if family == Family::V4 && !uses_mac { Usual::Vectors } else { Usual::None };
            (Search::Vectors(Box::new(Vectors::new(rules.clone()))), usual)
        };
        Filter { arguments, rules, search, usual, uses_mac }
    }

    fn program(&self) -> Program {
        let mut program = Program::of_rules(&self.rules);
        program.optimise();
        program
    }

    /// Outputs to which no packet goes; not looked for if there are very many rules.
    fn unused(&self, outputs: usize) -> Vec<usize> {
        if self.rules.iter().map(|rule| rule.expr.tests()).sum::<usize>() > CHECK_MAX {
            return Vec::new();
        }
        let used = self.program().used(outputs);
        (0..outputs).filter(|&output| !used[output]).collect()
    }

    /// The output for a packet, where there is a program for usual packets; [`NOWHERE`] if it is dropped.
    #[inline(always)]
    fn run_quick(&self, program: Quick<'_>, packet: &Packet, family: Family) -> usize {
        let front = usual::front(packet, family, program.reach);
        front.map_or_else(|| self.run(packet, family), |front| program.run(front))
    }

    /// The output for a packet; [`NOWHERE`] if it is dropped.
    #[inline(never)] // what is quicker stays small
    fn run(&self, packet: &Packet, family: Family) -> usize {
        if let Some(network) = usual::network(packet, family) {
            match (&self.usual, &self.search) {
                (Usual::Program(program), _) => return program.run(network),
                (Usual::Vectors, Search::Vectors(vectors)) => {
                    if let Some(output) = vectors.run_usual(network) {
                        return output.unwrap_or(NOWHERE);
                    }
                }
                _ => {}
            }
        }
        self.run_general(packet, family)
    }

    /// The program for usual packets, if there is one.
    fn quick(&self) -> Option<Quick<'_>> {
        match &self.usual {
            Usual::Program(program) => program.quick(),
            Usual::Vectors | Usual::None => None,
        }
    }

    #[inline(never)] // it has most to do
    fn run_general(&self, packet: &Packet, family: Family) -> usize {
        let network = packet.network().unwrap_or_default();
        let mut mac = [0; 16];
        let mac_len = if self.uses_mac { copy_mac(packet, &mut mac) } else { 0 };
        let mac = &mac[..mac_len];
        if family == Family::V4 {
            return self.search(&Parts::new(mac, network, packet.transport().unwrap_or_default(), &[]));
        }
        match digest_v6(network) {
            Some((digest, transport)) => self.search(&Parts::new(mac, network, transport, &digest)),
            None => self.search(&Parts::new(mac, network, &[], &[])),
        }
    }

    #[inline]
    fn search(&self, parts: &Parts<'_>) -> usize {
        match &self.search {
            Search::Program(program) => program.run_on(|part| parts.get(part)),
            Search::Vectors(vectors) => vectors.run(parts).unwrap_or(NOWHERE),
        }
    }
}

/// Copies the link-layer header to two bytes behind the start, where its addresses are in the words that Click names.
/// Returns where it ends.
fn copy_mac(packet: &Packet, to: &mut [u8; 16]) -> usize {
    let Some(mac) = packet.mac() else { return 0 };
    let len = mac.len().min(14);
    to[2..2 + len].copy_from_slice(&mac[..len]);
    2 + len
}

/// What IPv6 patterns want to know of a packet beside its fields: the transport protocol, and whether it is a fragment (bit
/// 0) or even a later one (bit 1). Also the transport header.
fn digest_v6(network: &[u8]) -> Option<([u8; 4], &[u8])> {
    let upper = wire::ipv6::upper_layer(network).ok()?;
    let flags = u8::from(upper.fragment.is_some()) | u8::from(!upper.first_fragment) << 1;
    Some(([upper.protocol, flags, 0, 0], network.get(upper.offset..).unwrap_or_default()))
}

/// Reads the arguments. Messages say what is wrong, or odd.
fn read(arguments: &[String], style: Style, outputs: usize, scope: Scope<'_>) -> (Vec<Rule>, Messages) {
    let language = Language { family: style.family, scope };
    let mut reader = Reader { language, style, outputs, rules: Vec::new(), messages: Messages::default() };
    if style.output_each && arguments.len() != outputs {
        reader.messages.error(format!("need {outputs} arguments, one per output port"));
        return (Vec::new(), reader.messages);
    }
    let patterns = arguments.iter().filter(|argument| !style.fast || caching(argument).is_none());
    for (i, argument) in patterns.enumerate() {
        let text = lang::conf::unquote(argument);
        let bare: Vec<&str> = text.split_whitespace().collect();
        match bare.as_slice() {
            ["file", path @ ..] if style.fast => reader.file(path),
            _ => reader.rule("", i, &words(&text)),
        }
    }
    (reader.rules, reader.messages)
}

/// What the keyword CACHING has, if this argument is it.
fn caching(argument: &str) -> Option<&str> {
    argument.strip_prefix("CACHING").filter(|value| value.starts_with(char::is_whitespace)).map(str::trim)
}

/// The keyword CACHING among arguments.
fn read_caching(arguments: &[String]) -> Result<bool, String> {
    let Some(value) = arguments.iter().find_map(|argument| caching(argument)) else { return Ok(false) };
    router::parse_boolean(value).ok_or_else(|| "CACHING: expected bool".to_owned())
}

/// Reads rules.
struct Reader<'a> {
    language: Language<'a>,
    style: Style,
    outputs: usize,
    rules: Vec<Rule>,
    messages: Messages,
}

impl Reader<'_> {
    /// Adds the rule with this number. Messages about it start with the place.
    fn rule(&mut self, place: &str, i: usize, words: &[&str]) {
        let (style, messages) = (self.style, &mut self.messages);
        messages.prefix.clear();
        if words.is_empty() && !style.output_each {
            messages.error(format!("empty pattern {i}"));
            return;
        }
        messages.prefix = format!("{place}pattern {i}: ");
        let (output, pattern) = match (style.output_each, words) {
            (false, [action, pattern @ ..]) => (read_action(action, self.outputs, messages), pattern),
            (_, pattern) => (Some(i), pattern),
        };
        self.rules.push(Rule { expr: self.language.read(pattern, messages), output });
    }

    /// Adds the rules of a file.
    fn file(&mut self, path: &[&str]) {
        self.messages.prefix.clear();
        let [path] = path else {
            self.messages.error("file must have a single argument, the filename");
            return;
        };
        let Ok(text) = elements_shared::files::read_to_string(path) else {
            self.messages.error(format!("Could not open file {path}"));
            return;
        };
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        for (i, line) in lines.enumerate() {
            self.rule(&format!("file {path}/"), i, &words(line));
        }
    }
}

/// The output that an action stands for.
fn read_action(action: &str, outputs: usize, messages: &mut Messages) -> Option<usize> {
    match action {
        "allow" => {
            if outputs == 0 {
                messages.error("'allow' is meaningless, element has zero outputs");
            }
            Some(0)
        }
        "deny" => {
            if outputs > 1 {
                messages.warning("meaning of 'deny' has changed (now it means 'drop')");
            }
            None
        }
        "drop" => None,
        _ => {
            let output = router::parse_integer(action);
            match output.map(usize::try_from) {
                Some(Ok(output)) if output < outputs => return Some(output),
                Some(_) => messages.error(format!("slot '{action}' out of range")),
                None => messages.error(format!("unknown slot ID '{action}'")),
            }
            None
        }
    }
}

/// An element of one of the classes; `V6` says which packets it is for.
struct IpFilter<const V6: bool> {
    filter: Arc<Filter>,
    style: Style,
    outputs: usize,
    repeats: Option<Box<Repeats>>,
}

/// Makes an element.
pub(super) fn create(config: &mut Config<'_>, style: Style) -> Result<Box<dyn Element>, ConfigError> {
    let outputs = config.outputs();
    // Instances share what is compiled, until they are told to change.
    let slot = config.shared(|| Ok((OnceLock::<Arc<Filter>>::new(), Arc::<Counts>::default())))?;
    let filter = match slot.0.get() {
        Some(filter) => filter.clone(),
        None => {
            let mut arguments = lang::conf::split_args(config.text());
            if arguments.len() == 1 && arguments[0].is_empty() && outputs != 1 {
                arguments.clear();
            }
            let (rules, messages) = read(&arguments, style, outputs, config.scope());
            messages.warnings.into_iter().for_each(|warning| config.warn(warning));
            if !messages.errors.is_empty() {
                return Err(ConfigError::from(messages.errors));
            }
            let filter = Filter::new(arguments, rules, style.family);
            if style.output_each {
                let unused = filter.unused(outputs);
                unused.iter().for_each(|output| config.warn(format!("output {output} matches no packets")));
            }
            slot.0.get_or_init(|| Arc::new(filter)).clone()
        }
    };
    let caching = style.fast && read_caching(&filter.arguments)?;
    let repeats = caching.then(|| Box::new(Repeats::new(slot.1.clone())));
    Ok(match style.family {
        Family::V4 => Box::new(PerPacket(IpFilter::<false> { filter, style, outputs, repeats })),
        Family::V6 => Box::new(PerPacket(IpFilter::<true> { filter, style, outputs, repeats })),
    })
}

impl<const V6: bool> IpFilter<V6> {
    const FAMILY: Family = if V6 { Family::V6 } else { Family::V4 };

    /// What becomes of a packet for which this output was found.
    #[inline(always)]
    fn verdict(output_each: bool, output: usize) -> Verdict {
        match output {
            0 => Verdict::Pass,
            _ if output < NOWHERE => Verdict::Output(output),
            _ if output_each => Verdict::Drop("no pattern matches"),
            _ => Verdict::Drop("filtered"),
        }
    }

    fn reconfigure(&mut self, cx: &mut Cx<'_>, arguments: Vec<String>) -> Result<(), String> {
        let (rules, messages) = read(&arguments, self.style, self.outputs, router::scope(cx));
        messages.warnings.iter().for_each(|warning| cx.warn(warning));
        if !messages.errors.is_empty() {
            return Err(messages.errors.join("\n"));
        }
        self.filter = Arc::new(Filter::new(arguments, rules, self.style.family));
        Ok(())
    }
}

impl<const V6: bool> Simple for IpFilter<V6> {
    #[inline(always)] // one call less for every packet
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if let Some(repeats) = &mut self.repeats {
            repeats.count(std::iter::once(&*packet));
        }
        let output = match self.filter.quick() {
            Some(program) => self.filter.run_quick(program, packet, Self::FAMILY),
            None => self.filter.run(packet, Self::FAMILY),
        };
        Self::verdict(self.style.output_each, output)
    }

    fn process_batch(&mut self, cx: &mut Cx<'_>, batch: Batch) {
        if let Some(repeats) = &mut self.repeats {
            repeats.count(batch.iter());
        }
        let (filter, output_each) = (&*self.filter, self.style.output_each);
        let verdict = |output| Self::verdict(output_each, output);
        match filter.quick() {
            Some(program) => {
                cx.scatter(batch, |_, packet| verdict(filter.run_quick(program, packet, Self::FAMILY)))
            }
            None => cx.scatter(batch, |_, packet| verdict(filter.run(packet, Self::FAMILY))),
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("program", |e: &mut Self, _| e.filter.program().grouped());
        h.read("config", |e: &mut Self, _| lang::conf::join_args(&e.filter.arguments));
        h.write("config", |e: &mut Self, cx, text| e.reconfigure(cx, lang::conf::split_args(text)));
        if self.style.fast {
            repeats::handlers(h, |e: &Self| e.repeats.as_deref());
        }
        let patterns = if self.style.output_each { self.outputs } else { 0 };
        for i in 0..patterns {
            let name = format!("pattern{i}");
            h.read(&name, move |e: &mut Self, _| e.filter.arguments.get(i).cloned().unwrap_or_default());
            h.write(&name, move |e: &mut Self, cx, text| {
                let arguments = replaced(&e.filter.arguments, i, text)?;
                e.reconfigure(cx, arguments)
            });
        }
    }
}

/// One pattern: by itself, as a program, and to be searched.
#[cfg(test)]
pub(super) struct Alone {
    family: Family,
    filter: Filter,
    vectors: Vectors,
}

#[cfg(test)]
impl Alone {
    pub(super) fn new(style: Style, scope: Scope<'_>, pattern: &str) -> Result<Alone, String> {
        let (rules, messages) = read(&[pattern.to_owned()], style, 1, scope);
        if !messages.errors.is_empty() {
            return Err(messages.errors.join("\n"));
        }
        let vectors = Vectors::new(rules.clone());
        let filter = Filter::new(vec![pattern.to_owned()], rules, style.family);
        Ok(Alone { family: style.family, filter, vectors })
    }

    /// Whether a packet matches, which all have to agree on. The packet starts with the network header.
    pub(super) fn matches(&self, packet: &[u8], header_len: usize) -> bool {
        let found = if self.family == Family::V6 { digest_v6(packet) } else { None };
        let (digest, transport) = match (self.family, &found) {
            (Family::V4, _) => (&[][..], packet.get(header_len..).unwrap_or_default()),
            (Family::V6, Some((digest, transport))) => (&digest[..], *transport),
            (Family::V6, None) => (&[][..], &[][..]),
        };
        let parts = Parts::new(&[], packet, transport, digest);
        let matches = self.filter.rules[0].expr.matches(&parts);
        assert_eq!(self.filter.search(&parts) == 0, matches, "program: {:?}", self.filter.arguments);
        assert_eq!(self.vectors.run(&parts) == Some(0), matches, "search: {:?}", self.filter.arguments);
        if self.family == Family::V4
            && usual::has_usual_header(packet, header_len, self.family)
            && let Some(output) = self.vectors.run_usual(packet)
        {
            assert_eq!(output == Some(0), matches, "usual search: {:?}", self.filter.arguments);
        }
        if let Usual::Program(usual) = &self.filter.usual
            && usual::has_usual_header(packet, header_len, self.family)
        {
            assert_eq!(usual.run(packet) == 0, matches, "usual: {:?}", self.filter.arguments);
            if let Some(output) = usual.run_quick(packet) {
                assert_eq!(output == 0, matches, "quick: {:?}", self.filter.arguments);
            }
        }
        matches
    }
}
