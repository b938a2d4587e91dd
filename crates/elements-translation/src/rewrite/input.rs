//! Input specifications: what becomes of packets whose flow is not known.

use super::ip_rewriter_patterns as patterns;
use super::mapper::Mapper;
use super::pattern::Pattern;
use super::record::NewFlow;
use router::{Info, Scope, parse_integer};
use std::sync::Arc;

/// Where packets of the two directions leave.
pub(super) type Outputs = [u16; 2];

/// A pattern in a specification: written there, or the name of one that IPRewriterPatterns defines.
#[derive(Clone, Debug)]
pub(super) enum PatternRef {
    Here(Arc<Pattern>),
    Named(String),
}

impl PatternRef {
    /// Reads the words of a pattern.
    fn parse(words: &[String], scope: Scope<'_>) -> Result<PatternRef, String> {
        match words {
            [name] => Ok(PatternRef::Named(name.clone())),
            words => Pattern::parse(words, scope).map(|pattern| PatternRef::Here(Arc::new(pattern))),
        }
    }

    /// The pattern, once all elements exist: seen from the element `from`.
    ///
    /// # Errors
    /// There is no such pattern.
    pub(super) fn resolve(&self, info: &Info, from: usize) -> Result<Arc<Pattern>, String> {
        match self {
            PatternRef::Here(pattern) => Ok(pattern.clone()),
            PatternRef::Named(name) => {
                patterns::find(info, from, name).ok_or_else(|| format!("no such pattern '{name}'"))
            }
        }
    }
}

/// Reads `FOUTPUT ROUTPUT`.
fn parse_outputs(words: &[String]) -> Result<Outputs, String> {
    let number = |text: &String| parse_integer(text).filter(|&n| i32::try_from(n).is_ok());
    // An output that no element has is as good as a large one: the range is checked against the element.
    let output = |n: i128| u16::try_from(n).unwrap_or(u16::MAX);
    let [forward, reply] = words else { return Err("bad forward port".to_owned()) };
    let forward = number(forward).ok_or("bad forward port")?;
    let reply = number(reply).ok_or("bad reply port")?;
    Ok([output(forward), output(reply)])
}

/// Reads a pattern and `FOUTPUT ROUTPUT`.
///
/// # Errors
/// What is wrong.
pub(super) fn parse_with_outputs(text: &str, scope: Scope<'_>) -> Result<(PatternRef, Outputs), String> {
    let words = lang::conf::split_spaces(text);
    if words.len() <= 2 {
        return Err("syntax error".to_owned());
    }
    let (pattern, outputs) = words.split_at(words.len() - 2);
    Ok((PatternRef::parse(pattern, scope)?, parse_outputs(outputs)?))
}

/// A specification as read, before names in it are resolved.
#[derive(Clone, Debug)]
pub(super) enum Spec {
    Drop,
    Pass(u16),
    Keep(Outputs),
    Pattern(PatternRef, Outputs),
    /// The index of an element that is an IPMapper.
    Mapper(usize),
}

impl Spec {
    /// Reads a specification for an element with this many outputs. `is_mapper` knows which elements are mappers.
    ///
    /// # Errors
    /// What is wrong.
    pub(super) fn parse(
        text: &str,
        scope: Scope<'_>,
        is_mapper: &dyn Fn(usize) -> bool,
        outputs: usize,
    ) -> Result<Spec, String> {
        let mut rest = text.trim();
        let word = lang::conf::pop_space(&mut rest).to_owned();
        let rest = rest.trim();
        let in_range = |ports: Outputs| {
            let fits = ports.iter().all(|&port| usize::from(port) < outputs);
            if fits { Ok(ports) } else { Err("output port out of range".to_owned()) }
        };
        match word.as_str() {
            "" => Err("empty argument".to_owned()),
            "pass" | "passthrough" | "nochange" => {
                let number = if rest.is_empty() { Some(0) } else { parse_integer(rest) };
                let number = number.ok_or("syntax error, expected 'nochange [OUTPUT]'")?;
                let output = u16::try_from(number).unwrap_or(u16::MAX);
                in_range([output; 2]).map(|[output, _]| Spec::Pass(output))
            }
            "keep" => parse_outputs(&lang::conf::split_spaces(rest)).and_then(in_range).map(Spec::Keep),
            "drop" | "discard" if rest.is_empty() => Ok(Spec::Drop),
            "drop" | "discard" => Err(format!("syntax error, expected '{word}'")),
            "pattern" | "xpattern" => {
                let (pattern, ports) = parse_with_outputs(rest, scope)?;
                in_range(ports).map(|ports| Spec::Pattern(pattern, ports))
            }
            name => match scope.find(name) {
                Some(_) if !rest.is_empty() => Err("syntax error, expected element name".to_owned()),
                Some(element) if is_mapper(element) => Ok(Spec::Mapper(element)),
                Some(_) => Err("element is not an IPMapper".to_owned()),
                None => Err("unknown specification".to_owned()),
            },
        }
    }

    /// Whether packets of flows that it makes may leave by an output.
    pub(super) fn leads_to(&self, info: &Info, output: u16) -> bool {
        match self {
            Spec::Drop | Spec::Pass(_) => false,
            Spec::Keep(outputs) | Spec::Pattern(_, outputs) => outputs.contains(&output),
            Spec::Mapper(element) => {
                info.shared::<Mapper>(*element).is_some_and(|mapper| mapper.leads_to(output))
            }
        }
    }

    /// The specification with names resolved, for the element `of`, which has this many outputs.
    ///
    /// # Errors
    /// What is wrong.
    pub(super) fn resolve(&self, info: &Info, of: usize, outputs: usize) -> Result<Input, String> {
        Ok(match self {
            Spec::Drop => Input::Drop,
            Spec::Pass(output) => Input::Pass(*output),
            Spec::Keep(outputs) => Input::Keep(*outputs),
            Spec::Pattern(pattern, outputs) => Input::Pattern(pattern.resolve(info, of)?, *outputs),
            Spec::Mapper(element) => {
                let mapper: Arc<Mapper> = info.shared(*element).ok_or("element is not an IPMapper")?;
                mapper.check(info, *element, outputs)?;
                Input::Mapper(mapper)
            }
        })
    }
}

/// A specification that can be followed.
#[derive(Debug, PartialEq)]
pub(super) enum Input {
    Drop,
    Pass(u16),
    Keep(Outputs),
    Pattern(Arc<Pattern>, Outputs),
    Mapper(Arc<Mapper>),
}

impl Input {
    /// Whether it can map endpoints independently of where they send to: see [`Pattern::maps_endpoints`].
    pub(super) fn maps_endpoints(&self) -> bool {
        match self {
            Input::Pattern(pattern, _) => pattern.maps_endpoints(),
            Input::Mapper(mapper) => mapper.maps_endpoints(),
            Input::Drop | Input::Pass(_) | Input::Keep(_) => false,
        }
    }

    /// Whether it may have made a flow, whatever was free then.
    pub(super) fn may_make(&self, flow: &NewFlow) -> bool {
        match self {
            Input::Drop | Input::Pass(_) => false,
            Input::Keep(outputs) => *outputs == flow.outputs && flow.rewritten == flow.id,
            Input::Pattern(pattern, outputs) => *outputs == flow.outputs && pattern.may_make(flow),
            Input::Mapper(mapper) => mapper.may_make(flow),
        }
    }

    /// What it makes of flows, in words.
    pub(super) fn rule(&self) -> String {
        match self {
            Input::Drop => "it drops packets".to_owned(),
            Input::Pass(_) => "it passes packets as they are".to_owned(),
            Input::Keep([forward, reply]) => {
                format!("it keeps addresses and ports, 'keep {forward} {reply}'")
            }
            Input::Pattern(pattern, [forward, reply]) => {
                format!("its pattern is '{pattern} {forward} {reply}'")
            }
            Input::Mapper(_) => "its mapper has no pattern for it".to_owned(),
        }
    }

    /// Whether a flow that the specification `old` made may go on under this one.
    pub(super) fn keeps(&self, old: &Input, flow: &NewFlow) -> bool {
        self == old || matches!((self, old), (Input::Mapper(new), Input::Mapper(old)) if new.keeps(old, flow))
    }
}

/// Patterns are few, and shared with other inputs: only the last one frees one, which is small.
impl rcu::Weigh for Input {
    fn heap_bytes(&self) -> usize {
        match self {
            Input::Pattern(pattern, _) => size_of_val(&**pattern),
            Input::Drop | Input::Pass(_) | Input::Keep(_) | Input::Mapper(_) => 0,
        }
    }
}

impl std::fmt::Display for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Input::Drop => f.write_str("<drop>"),
            Input::Pass(_) => f.write_str("<nochange>"),
            Input::Keep(_) => f.write_str("<keep>"),
            Input::Pattern(pattern, _) => write!(f, "{pattern}"),
            Input::Mapper(_) => f.write_str("<mapper>"),
        }
    }
}
