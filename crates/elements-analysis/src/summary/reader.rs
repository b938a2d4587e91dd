//! Reads a summary file: lines that describe it, and records.

use super::fields::{self, Field};
use super::form::{Context, Value};
use super::maker::{Defaults, FlowId, Maker};
use super::record_source::Records;
use super::version::MINOR_VERSION;
use router::{Cx, Level};
use std::io::{self, BufRead, Read};

/// The longest line or record.
const RECORD_MAX: usize = 1 << 20;

/// A file that is being read.
pub(super) struct Reader {
    /// Missing at the end.
    bytes: Option<Box<dyn BufRead + Send>>,
    name: String,
    /// Lines, or records in binary.
    number: u64,
    fields: Vec<Option<&'static Field>>,
    /// Indices of fields in the order in which they are put into packets.
    order: Vec<usize>,
    pub(super) defaults: Defaults,
    minor_version: u32,
    binary: bool,
    complained: bool,
    line: Vec<u8>,
}

/// A line or record.
enum Item {
    Text,
    Binary,
    End,
}

impl Reader {
    pub(super) fn new(name: &str, defaults: Defaults) -> Reader {
        Reader {
            bytes: None,
            name: name.to_owned(),
            number: 0,
            fields: Vec::new(),
            order: Vec::new(),
            defaults,
            minor_version: MINOR_VERSION,
            binary: false,
            complained: false,
            line: Vec::new(),
        }
    }

    fn complain(&self, cx: &Cx<'_>, message: &str) {
        let place = if self.binary { "record " } else { "" };
        cx.say(Level::Warning, format_args!("{}:{place}{}: {message}", self.name, self.number));
    }

    /// Reads a line or record into `line`.
    fn read(&mut self) -> io::Result<Item> {
        self.line.clear();
        self.number += 1;
        let Some(bytes) = &mut self.bytes else { return Ok(Item::End) };
        if self.binary {
            return read_binary(bytes, &mut self.line);
        }
        let got = bytes.take(RECORD_MAX as u64).read_until(b'\n', &mut self.line)?;
        while self.line.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
            self.line.pop();
        }
        Ok(if got == 0 { Item::End } else { Item::Text })
    }

    /// A first line that is neither banner nor description makes one wonder, unless fields are known anyhow.
    fn check_banner(&self, cx: &Cx<'_>) {
        const USUAL: [&str; 6] = ["!IPSummaryDump", "!creator", "!data", "!contents", "!proto", "!flowid"];
        let usual = USUAL.iter().any(|start| self.line.starts_with(start.as_bytes()));
        if self.number == 1 && !self.binary && self.fields.is_empty() && !usual {
            self.complain(cx, "warning: missing banner line; is this an IP summary dump?");
        }
    }

    /// A line that describes the file.
    fn bang(&mut self, cx: &Cx<'_>) {
        let line = String::from_utf8_lossy(&self.line).into_owned();
        let words: Vec<&str> = line.split_whitespace().collect();
        let fault = match words.first().copied().unwrap_or("") {
            "!data" | "!contents" => {
                self.set_fields(line.trim_start_matches(|c: char| !c.is_whitespace()), Some(cx));
                if self.fields.is_empty() { Some("no contents specified") } else { None }
            }
            "!flowid" => self.set_flow(&words[1..]).err(),
            "!proto" => match words[..] {
                [_, protocol] => self.set_protocol(protocol).err().map(|_| "bad protocol in !proto"),
                _ => Some("bad !proto"),
            },
            "!aggregate" => {
                let number = |word: &&str| router::parse_integer(word).and_then(|n| n.try_into().ok());
                self.defaults.aggregate = words.get(1).and_then(number).filter(|_| words.len() == 2);
                if self.defaults.aggregate.is_some() { None } else { Some("bad !aggregate specification") }
            }
            "!binary" => {
                (self.binary, self.number) = (true, 0);
                if words.len() > 1 { Some("bad !binary specification") } else { None }
            }
            "!IPSummaryDump" if self.number == 1 => {
                self.set_version(cx, words.get(1).copied().unwrap_or(""));
                None
            }
            _ => None,
        };
        if let Some(fault) = fault {
            self.complain(cx, fault);
        }
    }

    fn set_version(&mut self, cx: &Cx<'_>, version: &str) {
        let Some((major, minor)) = version.split_once('.') else { return };
        let (Ok(major), Ok(minor)) = (major.parse::<u32>(), minor.parse::<u32>()) else { return };
        if major == 1 && minor <= MINOR_VERSION {
            self.minor_version = minor;
        } else {
            self.complain(cx, &format!("warning: unexpected IPSummaryDump version {major}.{minor}"));
        }
    }

    /// Says what the records contain; returns the complaints if there is no context to report them to.
    pub(super) fn set_fields(&mut self, words: &str, cx: Option<&Cx<'_>>) -> Vec<String> {
        let mut faults = Vec::new();
        self.fields.clear();
        for (name, field) in fields::find_all(words) {
            match field {
                None => faults.push(format!("unknown content type '{name}'")),
                Some(field) if field.inject.is_none() && field.name != "none" => {
                    faults.push(format!("content type '{name}' ignored on input"));
                }
                _ => {}
            }
            self.fields.push(field);
        }
        self.order = (0..self.fields.len()).collect();
        let fields = &self.fields;
        self.order.sort_by_key(|&i| fields[i].map_or(0, |field| field.order));
        if let Some(cx) = cx {
            faults.drain(..).for_each(|fault| self.complain(cx, &format!("warning: {fault}")));
        }
        faults
    }

    pub(super) fn set_protocol(&mut self, text: &str) -> Result<(), ()> {
        self.defaults.protocol = match text {
            "T" => 6,
            "U" => 17,
            "I" => 1,
            _ => wire::describe::protocol(text).and_then(|n| u8::try_from(n).ok()).ok_or(())?,
        };
        Ok(())
    }

    /// Says which flow packets belong to: addresses and ports, or `-`, and perhaps a protocol.
    pub(super) fn set_flow(&mut self, words: &[&str]) -> Result<(), &'static str> {
        const BAD: &str = "bad !flowid specification";
        self.defaults.flow = None;
        let [src, sport, dst, dport, rest @ ..] = words else { return Err(BAD) };
        self.defaults.flow = Some(FlowId::parse([src, sport, dst, dport]).ok_or(BAD)?);
        match rest.first() {
            Some(protocol) => self.set_protocol(protocol).map_err(|()| "bad protocol in !flowid"),
            None => Ok(()),
        }
    }

    fn record(&self) -> Option<Maker> {
        let mut rest = &self.line[..];
        let value = |field: &Option<&Field>| match field {
            Some(field) => field.form.read(&mut rest),
            None => None,
        };
        let values: Vec<Option<Value>> = self.fields.iter().map(value).collect();
        self.make(|i, _| values[i].clone())
    }

    fn text_record(&self) -> Option<Maker> {
        let line = String::from_utf8_lossy(&self.line);
        let words = split_words(&line);
        self.make(|i, context| {
            let word = words.get(i).filter(|word| **word != "-")?;
            self.fields[i]?.form.parse(word, context)
        })
    }

    /// Puts the values of fields into a packet; `None` if there is none.
    fn make(&self, value: impl Fn(usize, Context) -> Option<Value>) -> Option<Maker> {
        let mut maker = Maker::new(self.defaults);
        let mut some = false;
        for &i in &self.order {
            let Some(inject) = self.fields[i].and_then(|field| field.inject) else { continue };
            let context = Context { minor_version: self.minor_version, icmp_type: maker.icmp_type };
            if let Some(value) = value(i, context) {
                inject(&mut maker, &value);
                some = true;
            }
        }
        maker.finish();
        some.then_some(maker)
    }
}

impl Records for Reader {
    fn open(&mut self, bytes: Box<dyn BufRead + Send>) {
        (self.bytes, self.binary, self.number) = (Some(bytes), false, 0);
    }

    fn next(&mut self, cx: &Cx<'_>) -> Option<Maker> {
        loop {
            let item = match self.read() {
                Ok(item) => item,
                Err(error) => {
                    self.complain(cx, &error.to_string());
                    Item::End
                }
            };
            let made = match item {
                Item::End => {
                    self.bytes = None;
                    return None;
                }
                Item::Binary => self.record(),
                Item::Text => {
                    self.check_banner(cx);
                    match self.line.first() {
                        Some(b'!') => {
                            self.bang(cx);
                            continue;
                        }
                        Some(b'#') | None => continue,
                        Some(_) => self.text_record(),
                    }
                }
            };
            let blank = self.line.iter().all(u8::is_ascii_whitespace) && matches!(item, Item::Text);
            match made {
                Some(maker) => return Some(maker),
                None if self.complained || blank => {}
                None => {
                    let none = self.fields.is_empty();
                    self.complain(cx, if none { "no '!data' provided" } else { "packet parse error" });
                    self.complained = true;
                }
            }
        }
    }
}

/// Reads a record of bytes, or a line among them. A record begins with its length; the first bit tells a line.
fn read_binary(bytes: &mut impl Read, line: &mut Vec<u8>) -> io::Result<Item> {
    let mut head = [0; 4];
    let mut have = 0;
    while have < head.len() {
        match bytes.read(&mut head[have..])? {
            0 if have == 0 => return Ok(Item::End),
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            more => have += more,
        }
    }
    let head = u32::from_be_bytes(head);
    let len = (head & 0x7fff_ffff) as usize;
    if !(4..=RECORD_MAX).contains(&len) {
        return Err(io::Error::other("binary record too short"));
    }
    line.resize(len - 4, 0);
    bytes.read_exact(line)?;
    if head >> 31 == 0 {
        return Ok(Item::Binary);
    }
    while line.last().is_some_and(|byte| matches!(byte, 0 | b'\n' | b'\r')) {
        line.pop();
    }
    Ok(Item::Text)
}

/// Words between blanks; a string in double quotes is part of one.
fn split_words(line: &str) -> Vec<&str> {
    let (mut words, mut start, mut quoted, mut escaped) = (Vec::new(), None, false, false);
    for (i, c) in line.char_indices() {
        if c.is_ascii_whitespace() && !quoted {
            words.extend(start.take().map(|start| &line[start..i]));
            continue;
        }
        start.get_or_insert(i);
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ => {}
        }
    }
    words.extend(start.map(|start| &line[start..]));
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quoted_words_stay_whole() {
        assert_eq!(split_words(" a \"b c\\\" d\" e  "), ["a", "\"b c\\\" d\"", "e"]);
        assert_eq!(split_words(""), [""; 0]);
    }

    proptest! {
        #[test]
        fn any_line_and_any_record_are_read_without_panic(
            picks in prop::collection::vec((0..fields::FIELDS.len(), "[0-9a-zA-Z.:+!<>{}=;-]{1,12}"), 1..8),
            record in prop::collection::vec(any::<u8>(), 0..60),
        ) {
            let defaults = Defaults { protocol: 6, flow: None, aggregate: None, checksum: true };
            let mut reader = Reader::new("x", defaults);
            let names: Vec<&str> = picks.iter().map(|(i, _)| fields::FIELDS[*i].name).collect();
            reader.set_fields(&names.join(" "), None);
            reader.line = picks.iter().map(|(_, word)| word.as_str()).collect::<Vec<_>>().join(" ").into_bytes();
            reader.text_record();
            reader.line = record;
            reader.record();
        }
    }
}
