//! What the classifiers of IP packets share: arguments, the choice of a search, handlers.
//!
//! [`super::ways`] has the searches. Where rules ask for the states of connections there is one for each state, in which what the rules say
//! about states is decided already: it costs a packet nothing, and saves one of an established connection most of the rules.

use super::compiled::NOWHERE;
use super::expr::{PART, Rule, STATE};
use super::language::{Language, words};
use super::names::Family;
use super::primitive::Messages;
use super::program::Program;
use super::repeats::{self, Counts, Repeats};
use super::tally::{Tally, TallyRule, Value};
use super::ways::Way;
use elements_shared::arguments::replaced;
use elements_shared::connection_state::ConnectionState;
use packet::{Batch, Packet};
use router::{
    Config, ConfigError, Cx, Decision, Element, Handlers, Look, Merge, PerPacket, Scope, Simple, Verdict,
};
use std::sync::{Arc, OnceLock};

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

/// A configuration, compiled.
#[derive(Debug)]
struct Filter {
    arguments: Vec<String>,
    rules: Vec<Rule>,
    /// The way of search; one for each state of connections, if rules ask for it.
    ways: Box<[Way]>,
    /// If packets are counted by rule: the rules, whose numbers are found then.
    tally: Option<Box<[TallyRule]>>,
}

impl Filter {
    fn new(read: Read, arguments: Vec<String>, family: Family) -> Filter {
        let Read { rules, tally, .. } = read;
        let numbered = |(number, rule): (usize, &Rule)| Rule { output: Some(number), ..rule.clone() };
        let searched: Vec<Rule> = match tally {
            Some(_) => rules.iter().enumerate().map(numbered).collect(),
            None => rules.clone(),
        };
        let way = |state| {
            let decided = |rule: &Rule| Rule { expr: rule.expr.in_state(state), ..rule.clone() };
            Way::new(&searched.iter().map(decided).collect::<Vec<_>>(), family)
        };
        let ways = if rules.iter().any(|rule| rule.expr.looks_at(STATE..STATE + PART)) {
            ConnectionState::ALL.map(way).into()
        } else {
            Box::new([Way::new(&searched, family)]) as Box<[Way]>
        };
        Filter { arguments, rules, ways, tally }
    }

    /// The way for a packet.
    #[inline]
    fn way(&self, packet: &Packet) -> &Way {
        let of_state = || self.ways.get(ConnectionState::of(packet) as usize);
        let way = if self.ways.len() == 1 { None } else { of_state() };
        way.unwrap_or(&self.ways[0])
    }

    /// The only way, if there is one, and nothing is counted.
    #[inline]
    fn plain(&self) -> Option<&Way> {
        match &*self.ways {
            [way] if self.tally.is_none() => Some(way),
            _ => None,
        }
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
}

/// Reads the arguments. Messages say what is wrong, or odd.
fn read(arguments: &[String], style: Style, outputs: usize, scope: Scope<'_>) -> Read {
    let language = Language { family: style.family, scope };
    let mut reader = Reader {
        language,
        style,
        outputs,
        rules: Vec::new(),
        tally: Vec::new(),
        messages: Messages::default(),
    };
    if style.output_each && arguments.len() != outputs {
        reader.messages.error(format!("need {outputs} arguments, one per output port"));
        return Read { rules: Vec::new(), tally: None, messages: reader.messages };
    }
    let mut counts = false;
    let is_rule = |argument: &&String| !style.fast || keyword(argument, "CACHING").is_none();
    let is_rule = |argument: &&String| {
        let count = keyword(argument, "COUNT").filter(|_| !style.output_each);
        counts |= count.is_some_and(|value| router::parse_boolean(value) == Some(true));
        count.is_none() && is_rule(argument)
    };
    let patterns: Vec<&String> = arguments.iter().filter(is_rule).collect();
    for (i, argument) in patterns.into_iter().enumerate() {
        let text = lang::conf::unquote(argument);
        let bare: Vec<&str> = text.split_whitespace().collect();
        match bare.as_slice() {
            ["file", path @ ..] if style.fast => reader.file(path),
            _ => reader.rule("", i, &words(&text)),
        }
    }
    if !style.output_each
        && let Some(value) = arguments.iter().find_map(|argument| keyword(argument, "COUNT"))
        && router::parse_boolean(value).is_none()
    {
        reader.messages.prefix.clear();
        reader.messages.error("COUNT: expected bool");
    }
    let tally = counts || reader.tally.iter().any(|rule| rule.log);
    let tally = tally.then(|| reader.tally.into());
    Read { rules: reader.rules, tally, messages: reader.messages }
}

/// What a keyword has, if this argument is it.
fn keyword<'a>(argument: &'a str, name: &str) -> Option<&'a str> {
    argument.strip_prefix(name).filter(|value| value.starts_with(char::is_whitespace)).map(str::trim)
}

/// The keyword CACHING among arguments.
fn read_caching(arguments: &[String]) -> Result<bool, String> {
    let Some(value) = arguments.iter().find_map(|argument| keyword(argument, "CACHING")) else {
        return Ok(false);
    };
    router::parse_boolean(value).ok_or_else(|| "CACHING: expected bool".to_owned())
}

/// Reads rules.
struct Reader<'a> {
    language: Language<'a>,
    style: Style,
    outputs: usize,
    rules: Vec<Rule>,
    tally: Vec<TallyRule>,
    messages: Messages,
}

/// What arguments say, and what is wrong with them.
struct Read {
    rules: Vec<Rule>,
    /// If packets are counted by rule.
    tally: Option<Box<[TallyRule]>>,
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
        // Behind an action only: a classifier's pattern has none.
        let (log, pattern) = match pattern {
            ["log", rest @ ..] if !style.output_each => (true, rest),
            _ => (false, pattern),
        };
        self.rules.push(Rule { expr: self.language.read(pattern, messages), output });
        self.tally.push(TallyRule { text: words.join(" "), output, log });
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
    tally: Tally,
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
            let mut read = read(&arguments, style, outputs, config.scope());
            std::mem::take(&mut read.messages.warnings).into_iter().for_each(|warning| config.warn(warning));
            if !read.messages.errors.is_empty() {
                return Err(ConfigError::from(read.messages.errors));
            }
            let filter = Filter::new(read, arguments, style.family);
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
        Family::V4 => Box::new(PerPacket(IpFilter::<false> {
            filter,
            style,
            outputs,
            repeats,
            tally: Tally::default(),
        })),
        Family::V6 => {
            Box::new(PerPacket(IpFilter::<true> { filter, style, outputs, repeats, tally: Tally::default() }))
        }
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

    /// What becomes of a packet where connections have states, or rules are counted.
    #[inline]
    fn process_by_rule(&mut self, cx: &mut Cx<'_>, packet: &Packet) -> Verdict {
        let mut output = self.filter.way(packet).run(packet, Self::FAMILY);
        if let Some(rules) = &self.filter.tally {
            output = self.tally.count(cx, rules, output, packet);
        }
        Self::verdict(self.style.output_each, output)
    }

    fn reconfigure(&mut self, cx: &mut Cx<'_>, arguments: Vec<String>) -> Result<(), String> {
        let read = read(&arguments, self.style, self.outputs, router::scope(cx));
        read.messages.warnings.iter().for_each(|warning| cx.warn(warning));
        if !read.messages.errors.is_empty() {
            return Err(read.messages.errors.join("\n"));
        }
        self.filter = Arc::new(Filter::new(read, arguments, self.style.family));
        self.tally = Tally::default();
        Ok(())
    }
}

impl<const V6: bool> Simple for IpFilter<V6> {
    #[inline(always)] // one call less for every packet
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if let Some(repeats) = &mut self.repeats {
            repeats.count(std::iter::once(&*packet));
        }
        let Some(way) = self.filter.plain() else { return self.process_by_rule(cx, packet) };
        let output = match way.quick() {
            Some(program) => way.run_quick(program, packet, Self::FAMILY),
            None => way.run(packet, Self::FAMILY),
        };
        Self::verdict(self.style.output_each, output)
    }

    fn process_batch(&mut self, cx: &mut Cx<'_>, batch: Batch) {
        if let Some(repeats) = &mut self.repeats {
            repeats.count(batch.iter());
        }
        let output_each = self.style.output_each;
        let verdict = |output| Self::verdict(output_each, output);
        let Some(way) = self.filter.plain() else {
            return cx.scatter(batch, |cx, packet| self.process_by_rule(cx, packet));
        };
        match way.quick() {
            Some(program) => {
                cx.scatter(batch, |_, packet| verdict(way.run_quick(program, packet, Self::FAMILY)))
            }
            None => cx.scatter(batch, |_, packet| verdict(way.run(packet, Self::FAMILY))),
        }
    }

    fn explain(&self, _look: &Look<'_>, packet: &mut Packet) -> Option<Decision> {
        let state = ConnectionState::of(packet);
        let way = self.filter.way(packet);
        let rule = way.with_parts(packet, Self::FAMILY, |parts| {
            self.filter.rules.iter().position(|rule| rule.expr.in_state(state).matches(parts))
        });
        let output = rule.and_then(|rule| self.filter.rules[rule].output).unwrap_or(NOWHERE);
        let because = rule.map_or("no rule matches".to_owned(), |rule| {
            // Rules of a file have no text here.
            let whole = self.filter.rules.len() == self.filter.arguments.len();
            match self.filter.arguments.get(rule).filter(|_| whole) {
                Some(text) => format!("rule {}, '{text}'", rule + 1),
                None => format!("rule {}", rule + 1),
            }
        });
        Some(Decision::new(Self::verdict(self.style.output_each, output), because))
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("program", |e: &mut Self, _| e.filter.program().grouped());
        h.read("config", |e: &mut Self, _| lang::conf::join_args(&e.filter.arguments));
        h.write("config", |e: &mut Self, cx, text| e.reconfigure(cx, lang::conf::split_args(text)));
        if !self.style.output_each {
            let rules = |e: &Self, value| {
                e.filter.tally.as_ref().map_or(String::new(), |rules| e.tally.list(rules, value))
            };
            h.read("rule_packets", move |e: &mut Self, _| rules(e, Value::Packets)).merged(Merge::Tally);
            h.read("rule_bytes", move |e: &mut Self, _| rules(e, Value::Bytes)).merged(Merge::Tally);
        }
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

/// One pattern, to be tested.
#[cfg(test)]
pub(super) fn alone(style: Style, scope: Scope<'_>, pattern: &str) -> Result<super::ways::Alone, String> {
    let mut read = read(&[pattern.to_owned()], style, 1, scope);
    if !read.messages.errors.is_empty() {
        return Err(read.messages.errors.join("\n"));
    }
    Ok(super::ways::Alone::new(style.family, pattern, read.rules.remove(0)))
}
