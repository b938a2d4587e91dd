//! Flows as lines of JSON, as handlers list them, read back.
//!
//! A line is an object of texts, numbers and truth values, and objects of such; `translated.source` names what is in one of those.

use std::fmt::Write as _;
use std::str::FromStr;
use wire::ip_proto;

/// Lines that are taken in at once, at most: packets wait meanwhile.
pub(crate) const LINES: usize = 1000;
/// Lines that are said to be wrong, at most.
const TOLD: usize = 10;
/// Objects within objects, at most.
const DEPTH: usize = 2;
/// Fields of a line, at most.
const FIELDS: usize = 64;

const MALFORMED: &str = "not an object of JSON as flows_json writes them";

/// What a line says of a flow.
pub(crate) struct Object<'l> {
    /// Names, and values: a text without its quotation marks.
    fields: Vec<(String, &'l str)>,
}

impl<'l> Object<'l> {
    /// Reads a line.
    ///
    /// # Errors
    /// It is none.
    pub(crate) fn parse(line: &'l str) -> Result<Object<'l>, String> {
        let (mut rest, mut fields) = (line.trim().trim_end_matches(','), Vec::new());
        match object(&mut rest, "", &mut fields, DEPTH) {
            Some(()) if rest.trim().is_empty() => Ok(Object { fields }),
            _ => Err(MALFORMED.to_owned()),
        }
    }

    /// A value, if the line says it.
    ///
    /// # Errors
    /// It cannot be one.
    pub(crate) fn get_or<T: FromStr>(&self, name: &str, default: T) -> Result<T, String> {
        let Some((_, value)) = self.fields.iter().find(|(known, _)| known == name) else {
            return Ok(default);
        };
        value.parse().map_err(|_| format!("bad {name}: '{}'", value.escape_default()))
    }

    /// A value.
    ///
    /// # Errors
    /// The line does not say it, or it cannot be one.
    pub(crate) fn get<T: FromStr>(&self, name: &str) -> Result<T, String> {
        let value = self.fields.iter().find(|(known, _)| known == name).map(|(_, value)| value);
        let value = value.ok_or_else(|| format!("no {name}"))?;
        value.parse().map_err(|_| format!("bad {name}: '{}'", value.escape_default()))
    }
}

impl Object<'_> {
    /// The IP protocol, by the name that lists have for it, or its number.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn protocol(&self) -> Result<u8, String> {
        let name: String = self.get("protocol")?;
        match name.as_str() {
            "ip" => Ok(0),
            "tcp" => Ok(ip_proto::TCP),
            "udp" => Ok(ip_proto::UDP),
            "icmp" => Ok(ip_proto::ICMP),
            "icmp6" => Ok(ip_proto::ICMPV6),
            _ => self.get("protocol"),
        }
    }

    /// An address and a port.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn end<A: FromStr>(&self, address: &str, port: &str) -> Result<(A, u16), String> {
        Ok((self.get(address)?, self.get(port)?))
    }

    /// How long ago something was, in milliseconds.
    ///
    /// # Errors
    /// It is no number.
    pub(crate) fn ago_ms(&self, name: &str) -> Result<u64, String> {
        self.get_or(name, 0u64).map(|seconds| seconds.saturating_mul(1000))
    }
}

/// Goes over a character that has to come next.
fn skip(rest: &mut &str, wanted: char) -> Option<()> {
    *rest = rest.trim_start().strip_prefix(wanted)?;
    Some(())
}

fn object<'l>(
    rest: &mut &'l str,
    prefix: &str,
    fields: &mut Vec<(String, &'l str)>,
    depth: usize,
) -> Option<()> {
    skip(rest, '{')?;
    if depth == 0 || skip(rest, '}').is_some() {
        return (depth > 0).then_some(());
    }
    loop {
        let name = format!("{prefix}{}", text(rest)?);
        skip(rest, ':')?;
        *rest = rest.trim_start();
        match rest.as_bytes().first()? {
            b'{' => object(rest, &format!("{name}."), fields, depth - 1)?,
            b'"' => fields.push((name, text(rest)?)),
            _ => fields.push((name, word(rest)?)),
        }
        if fields.len() > FIELDS {
            return None;
        }
        if skip(rest, ',').is_none() {
            return skip(rest, '}');
        }
    }
}

/// A text; none of ours has escapes.
fn text<'l>(rest: &mut &'l str) -> Option<&'l str> {
    skip(rest, '"')?;
    let (text, behind) = rest.split_once('"').filter(|(text, _)| !text.contains('\\'))?;
    *rest = behind;
    Some(text)
}

/// A number, or a word.
fn word<'l>(rest: &mut &'l str) -> Option<&'l str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.');
    let end = rest.find(|c| !is_part(c)).filter(|&end| end > 0)?;
    let (word, behind) = rest.split_at(end);
    *rest = behind;
    Some(word)
}

/// What became of a flow that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Became {
    Taken,
    Known,
}

/// Reads the flows of all lines, and then takes them in, one by one. None is taken in if a line is not understood. Says how many were taken.
///
/// # Errors
/// Lines that are wrong, or that were not taken in, by their numbers, and why.
pub(crate) fn load<T>(
    lines: &str,
    read: impl Fn(&Object<'_>) -> Result<T, String>,
    mut take: impl FnMut(T) -> Result<Became, String>,
) -> Result<String, String> {
    let lines = || {
        let numbered = lines.lines().enumerate().map(|(at, line)| (at + 1, line));
        numbered.filter(|(_, line)| !line.trim().is_empty())
    };
    if lines().count() > LINES {
        return Err(format!("too many lines: {LINES} at most at once"));
    }
    let (mut flows, mut wrong) = (Vec::new(), Vec::new());
    for (number, line) in lines() {
        match Object::parse(line).and_then(|object| read(&object)) {
            Ok(flow) => flows.push((number, flow)),
            Err(why) => wrong.push((number, why)),
        }
    }
    if !wrong.is_empty() {
        return Err(told("no flow is taken", &wrong));
    }
    let (all, mut known) = (flows.len(), 0);
    for (number, flow) in flows {
        match take(flow) {
            Ok(became) => known += usize::from(became == Became::Known),
            Err(why) => wrong.push((number, why)),
        }
    }
    let taken = format!("{} flows taken, {known} known", all - known - wrong.len());
    if wrong.is_empty() { Ok(taken) } else { Err(told(&taken, &wrong)) }
}

fn told(first: &str, wrong: &[(usize, String)]) -> String {
    let mut text = first.to_owned();
    for (number, why) in wrong.iter().take(TOLD) {
        let _ = write!(text, "\nline {number}: {why}");
    }
    if wrong.len() > TOLD {
        let _ = write!(text, "\n... and {} more lines", wrong.len() - TOLD);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_a_line_says() {
        let line = r#" {"protocol":"tcp", "sport" : 7,"translated":{"sport":8,"dport":9},"assured":true,"x":-1.5e3} ,"#;
        let object = Object::parse(line).unwrap();
        assert_eq!(object.get::<String>("protocol").unwrap(), "tcp");
        assert_eq!((object.get("sport"), object.get("translated.dport")), (Ok(7u16), Ok(9u16)));
        assert_eq!((object.get("assured"), object.get_or("idle_s", 3u64)), (Ok(true), Ok(3)));
        assert_eq!(object.get::<u16>("dport").unwrap_err(), "no dport");
        assert_eq!(object.get::<u16>("protocol").unwrap_err(), "bad protocol: 'tcp'");
        assert!(Object::parse("{}").is_ok());
        let malformed = [
            "",
            "[]",
            "{",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{\"a\":1}x",
            r#"{"a":"\n"}"#,
            r#"{"a":[1]}"#,
        ];
        malformed.into_iter().for_each(|line| assert!(Object::parse(line).is_err(), "{line}"));
        assert!(Object::parse(r#"{"a":{"b":{"c":1}}}"#).is_err(), "too deep");
    }

    #[test]
    fn wrong_lines_are_told() {
        let run = |text: &str| {
            load(
                text,
                |object| object.get::<u8>("n"),
                |number| match number {
                    0 => Err("none".to_owned()),
                    1 => Ok(Became::Known),
                    _ => Ok(Became::Taken),
                },
            )
        };
        assert_eq!(run("{\"n\":1}\n\n{\"n\":2}\n{\"n\":3}"), Ok("2 flows taken, 1 known".to_owned()));
        assert_eq!(run("{\"n\":2}\n\n{\"n\":0}"), Err("1 flows taken, 0 known\nline 3: none".to_owned()));
        assert_eq!(
            run("{\"n\":2}\nx\n{}"),
            Err(format!("no flow is taken\nline 2: {MALFORMED}\nline 3: no n"))
        );
        assert!(run(&"x\n".repeat(99)).unwrap_err().ends_with("... and 89 more lines"));
        assert!(run(&"{\"n\":2}\n".repeat(LINES + 1)).unwrap_err().starts_with("too many lines"));
    }

    proptest! {
        /// Whatever is written, it is read or refused.
        #[test]
        fn any_line(line in "[{}\\[\\]\":,a-z0-9 \\\\.-]{0,60}") {
            let _ = Object::parse(&line).map(|object| object.get::<u64>("a"));
        }
    }
}
