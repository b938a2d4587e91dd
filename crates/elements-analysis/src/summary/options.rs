//! TCP and IP options as text.

use std::fmt::Write;

/// Which options are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    All,
    /// All but padding and timestamps.
    NotTimestamps,
    Sack,
}

mod kind {
    pub(super) const END: u8 = 0;
    pub(super) const NOP: u8 = 1;
    pub(super) const MSS: u8 = 2;
    pub(super) const WSCALE: u8 = 3;
    pub(super) const SACK_OK: u8 = 4;
    pub(super) const SACK: u8 = 5;
    pub(super) const TIMESTAMP: u8 = 8;
    pub(super) const RECORD_ROUTE: u8 = 7;
    pub(super) const IP_TIMESTAMP: u8 = 68;
    pub(super) const LOOSE_ROUTE: u8 = 131;
    pub(super) const STRICT_ROUTE: u8 = 137;
}

/// The most bytes of options that a header has.
const OPTIONS_MAX: usize = 40;

/// Options one by one, without padding; `None` for one that is damaged.
fn each(mut options: &[u8]) -> impl Iterator<Item = Option<(u8, &[u8])>> {
    std::iter::from_fn(move || {
        while let [kind::NOP, rest @ ..] = options {
            options = rest;
        }
        let (&kind, rest) = options.split_first().filter(|(kind, _)| **kind != kind::END)?;
        let len = rest.first().map_or(0, |&len| usize::from(len));
        let body = options.get(2..len);
        options = if body.is_some() { &options[len..] } else { &[] };
        Some(body.map(|body| (kind, body)))
    })
}

fn word(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |word, &byte| word << 8 | u32::from(byte))
}

/// Prints parts between semicolons; a dot if there are none, a question mark if something is damaged.
fn join(text: &mut String, parts: Option<Vec<String>>) {
    match parts {
        None => text.push('?'),
        Some(parts) if parts.is_empty() => text.push('.'),
        Some(parts) => text.push_str(&parts.join(";")),
    }
}

/// An option that has no name: its number and bytes.
fn unnamed(kind: u8, body: &[u8]) -> String {
    let mut text = kind.to_string();
    for (i, byte) in body.iter().enumerate() {
        let _ = write!(text, "{}{byte}", if i == 0 { '=' } else { ':' });
    }
    text
}

/// Prints TCP options.
pub(super) fn print_tcp(text: &mut String, options: &[u8], which: Which) {
    join(text, tcp_parts(options, which));
}

impl Which {
    /// Whether options of a kind are among them.
    fn has(self, kind: u8) -> bool {
        match self {
            Which::All => true,
            Which::NotTimestamps => kind != kind::TIMESTAMP,
            Which::Sack => matches!(kind, kind::SACK | kind::SACK_OK),
        }
    }
}

/// The bytes of some TCP options: of all with padding, of others without, up to the first one that is damaged.
pub(super) fn select_tcp(options: &[u8], which: Which) -> Vec<u8> {
    if which == Which::All {
        return options.to_vec();
    }
    let mut bytes = Vec::new();
    for (kind, body) in each(options).map_while(|option| option).filter(|(kind, _)| which.has(*kind)) {
        bytes.extend([kind, body.len() as u8 + 2]); // it had this length in a byte
        bytes.extend(body);
    }
    bytes
}

fn tcp_parts(options: &[u8], which: Which) -> Option<Vec<String>> {
    let mut parts = Vec::new();
    for option in each(options) {
        let (kind, body) = option?;
        let part = match (kind, body.len()) {
            (kind::MSS, 2) => format!("mss{}", word(body)),
            (kind::WSCALE, 1) => format!("wscale{}", body[0]),
            (kind::SACK_OK, 0) => "sackok".to_owned(),
            (kind::TIMESTAMP, 8) => format!("ts{}:{}", word(&body[..4]), word(&body[4..])),
            (kind::SACK, len) if len % 8 == 0 => {
                let block = |block: &[u8]| format!("sack{}-{}", word(&block[..4]), word(&block[4..]));
                body.chunks_exact(8).map(block).collect::<Vec<_>>().join(";")
            }
            (kind::MSS | kind::WSCALE | kind::SACK_OK | kind::SACK | kind::TIMESTAMP, _) => return None,
            _ => unnamed(kind, body),
        };
        if which.has(kind) && !part.is_empty() {
            parts.push(part);
        }
    }
    Some(parts)
}

/// Prints IP options.
pub(super) fn print_ip(text: &mut String, options: &[u8]) {
    join(text, ip_parts(options));
}

fn ip_parts(options: &[u8]) -> Option<Vec<String>> {
    let part = |option: Option<(u8, &[u8])>| {
        let (kind, body) = option?;
        match kind {
            kind::RECORD_ROUTE => route("rr", body, true),
            kind::LOOSE_ROUTE => route("lsrr", body, false),
            kind::STRICT_ROUTE => route("ssrr", body, false),
            kind::IP_TIMESTAMP => timestamps(body),
            _ => Some(unnamed(kind, body)),
        }
    };
    each(options).map(part).collect()
}

fn address(bytes: &[u8]) -> String {
    std::net::Ipv4Addr::from(word(bytes)).to_string()
}

/// `rr{1.0.0.1,1.0.0.2}+3`: addresses recorded, and room for more; `lsrr{1.0.0.1^1.0.0.2}`: where the pointer is.
fn route(name: &str, body: &[u8], record: bool) -> Option<String> {
    let (&pointer, slots) = body.split_first().filter(|(pointer, _)| **pointer >= 4)?;
    let at = usize::from(pointer) - 4;
    let mut text = format!("{name}{{");
    let (mut i, mut separator) = (0, "");
    while i + 4 <= slots.len() {
        if i == at {
            if record {
                break;
            }
            separator = "^";
        }
        text += separator;
        text += &address(&slots[i..i + 4]);
        separator = ",";
        i += 4;
    }
    if i == slots.len() && i == at && !record {
        text.push('^');
    }
    text.push('}');
    if record && i == at && i + 4 <= slots.len() {
        let _ = write!(text, "+{}", (slots.len() - i) / 4);
    }
    Some(text)
}

/// `ts{1,2}+3++4`: times recorded, room for more, and how many found none; `ts.ip{1.0.0.1=5}`, `ts.preip{...}`.
fn timestamps(body: &[u8]) -> Option<String> {
    let [pointer, flags, slots @ ..] = body else { return None };
    if *pointer < 5 {
        return None;
    }
    let (at, flag) = (usize::from(*pointer) - 5, flags & 15);
    let size = if (1..=3).contains(&flag) { 8 } else { 4 };
    let mut text = match flag {
        0 => "ts{".to_owned(),
        1 => "ts.ip{".to_owned(),
        3 => "ts.preip{".to_owned(),
        _ => format!("ts.{flag}{{"),
    };
    let (mut i, mut separator) = (0, "");
    while i + size <= slots.len() {
        if i == at {
            if flag != 3 {
                break;
            }
            separator = "^";
        }
        text += separator;
        if size == 8 {
            text += &address(&slots[i..i + 4]);
        }
        if flag != 3 || i < at {
            let value = word(&slots[i + size - 4..i + size]);
            let mark = if value >> 31 == 1 { "!" } else { "" };
            let _ = write!(text, "{}{mark}{}", if size == 8 { "=" } else { "" }, value & 0x7fff_ffff);
        }
        separator = ",";
        i += size;
    }
    if i == slots.len() && i == at {
        text.push('^');
    }
    text.push('}');
    if i == at && i + size <= slots.len() {
        let _ = write!(text, "+{}", (slots.len() - i) / size);
    }
    if flags >> 4 != 0 {
        let _ = write!(text, "++{}", flags >> 4);
    }
    Some(text)
}

/// Reads a number off the front of a text.
fn pop_number(text: &mut &str) -> Option<u32> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number = text[..end].parse().ok()?;
    *text = &text[end..];
    Some(number)
}

/// Reads two numbers with one of some characters between them.
fn pop_pair(text: &mut &str, between: &[char]) -> Option<[u32; 2]> {
    let first = pop_number(text)?;
    *text = text.strip_prefix(between)?;
    Some([first, pop_number(text)?])
}

/// Appends an option with its length.
fn append(bytes: &mut Vec<u8>, kind: u8, body: &[u8]) -> Option<()> {
    bytes.push(kind);
    bytes.push(u8::try_from(body.len() + 2).ok()?);
    bytes.extend(body);
    Some(())
}

/// Reads an option without a name.
fn append_unnamed(bytes: &mut Vec<u8>, text: &mut &str) -> Option<()> {
    let octet = |text: &mut &str| pop_number(text).and_then(|n| u8::try_from(n).ok());
    let kind = octet(text)?;
    let mut body = Vec::new();
    let mut separator = '=';
    while let Some(rest) = text.strip_prefix(separator) {
        *text = rest;
        body.push(octet(text)?);
        separator = ':';
    }
    append(bytes, kind, &body)
}

/// Reads options between semicolons or commas, each of which `one` takes off the front.
fn parse(text: &str, one: impl Fn(&mut Vec<u8>, &mut &str) -> Option<()>) -> Option<Vec<u8>> {
    let (mut bytes, mut rest) = (Vec::new(), text);
    if matches!(text, "" | ".") {
        return Some(bytes);
    }
    loop {
        match rest {
            _ if rest.starts_with("nop") => {
                bytes.push(kind::NOP);
                rest = &rest[3..];
            }
            "eol" => {
                bytes.push(kind::END);
                rest = "";
            }
            _ => one(&mut bytes, &mut rest)?,
        }
        if rest.is_empty() {
            return (bytes.len() <= OPTIONS_MAX).then_some(bytes);
        }
        rest = rest.strip_prefix([',', ';'])?;
    }
}

/// Reads TCP options.
pub(super) fn parse_tcp(text: &str) -> Option<Vec<u8>> {
    parse(text, |bytes, rest| {
        if let Some(value) = rest.strip_prefix("mss") {
            *rest = value;
            let mss = u16::try_from(pop_number(rest)?).ok()?;
            return append(bytes, kind::MSS, &mss.to_be_bytes());
        }
        if let Some(value) = rest.strip_prefix("wscale") {
            *rest = value;
            let scale = u8::try_from(pop_number(rest)?).ok()?;
            return append(bytes, kind::WSCALE, &[scale]);
        }
        if let Some(value) = rest.strip_prefix("sackok") {
            *rest = value;
            return append(bytes, kind::SACK_OK, &[]);
        }
        if rest.starts_with("sack") {
            return append_sack(bytes, rest);
        }
        if let Some(value) = rest.strip_prefix("ts") {
            *rest = value;
            let pair = pop_pair(rest, &[':'])?;
            if bytes.is_empty() {
                bytes.extend([kind::NOP; 2]); // as hosts align it
            }
            return append(bytes, kind::TIMESTAMP, pair.map(u32::to_be_bytes).as_flattened());
        }
        append_unnamed(bytes, rest)
    })
}

/// Reads selective acknowledgements with commas between them, which become one option. Behind a semicolon another option begins, as in
/// Click, which writes one for each.
fn append_sack(bytes: &mut Vec<u8>, rest: &mut &str) -> Option<()> {
    let mut body = Vec::new();
    let mut next = *rest;
    while let Some(block) =
        next.strip_prefix("sack").filter(|block| block.starts_with(|c: char| c.is_ascii_digit()))
    {
        *rest = block;
        body.extend(pop_pair(rest, &[':', '-'])?.map(u32::to_be_bytes).as_flattened());
        next = rest.strip_prefix(',').unwrap_or("");
    }
    if body.is_empty() { None } else { append(bytes, kind::SACK, &body) }
}

/// Reads IP options.
pub(super) fn parse_ip(text: &str) -> Option<Vec<u8>> {
    parse(text, |bytes, rest| {
        let routes =
            [("rr{", kind::RECORD_ROUTE), ("lsrr{", kind::LOOSE_ROUTE), ("ssrr{", kind::STRICT_ROUTE)];
        for (name, kind) in routes {
            if let Some(body) = rest.strip_prefix(name) {
                *rest = body;
                return append_route(bytes, kind, rest);
            }
        }
        match rest.strip_prefix("ts").filter(|body| body.starts_with(['.', '{'])) {
            Some(body) => {
                *rest = body;
                append_timestamps(bytes, rest)
            }
            None => append_unnamed(bytes, rest),
        }
    })
}

/// Reads an address off the front of a text.
fn pop_address(text: &mut &str) -> Option<[u8; 4]> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let address = wire::net::parse_ipv4(&text[..end]).ok()?;
    *text = &text[end..];
    Some(address.octets())
}

/// Reads slots up to a closing brace, with commas or the pointer between them: their bytes, and at which byte the pointer is, which
/// is the end unless it is said. `slot` takes one slot off the front, and is told whether it is behind the pointer.
fn pop_slots(
    rest: &mut &str,
    slot: impl Fn(&mut Vec<u8>, &mut &str, bool) -> Option<()>,
) -> Option<(Vec<u8>, usize)> {
    let (mut slots, mut pointer) = (Vec::new(), None);
    loop {
        if let Some(after) = rest.strip_prefix('^').filter(|_| pointer.is_none()) {
            *rest = after;
            pointer = Some(slots.len());
        }
        if let Some(after) = rest.strip_prefix('}') {
            *rest = after;
            let end = slots.len();
            return Some((slots, pointer.unwrap_or(end)));
        }
        slot(&mut slots, rest, pointer.is_some())?;
        *rest = rest.strip_prefix(',').unwrap_or(rest);
    }
}

/// Reads how many more slots there are: `+3`.
fn pop_room(rest: &mut &str) -> Option<usize> {
    let Some(room) = rest.strip_prefix('+').filter(|room| !room.starts_with('+')) else { return Some(0) };
    *rest = room;
    pop_number(rest).filter(|slots| *slots < 10).map(|slots| slots as usize)
}

fn append_route(bytes: &mut Vec<u8>, kind: u8, rest: &mut &str) -> Option<()> {
    let (slots, at) = pop_slots(rest, |slots, rest, _| {
        slots.extend(pop_address(rest)?);
        Some(())
    })?;
    let mut body = vec![u8::try_from(at + 4).ok()?];
    body.extend(slots);
    body.resize(body.len() + pop_room(rest)? * 4, 0);
    append(bytes, kind, &body)
}

/// Reads what follows the letters `ts`.
fn append_timestamps(bytes: &mut Vec<u8>, rest: &mut &str) -> Option<()> {
    let (head, list) = rest.split_once('{')?;
    let inner = list.split('}').next().unwrap_or_default();
    let flag = match head {
        "" if !inner.contains('.') => 0,
        "" | ".ip" if !inner.contains('^') => 1,
        "" | ".preip" => 3,
        ".ip" => 1,
        _ => head.strip_prefix('.')?.parse().ok().filter(|flag| *flag < 16)?,
    };
    *rest = list;
    let with_address = matches!(flag, 1 | 3);
    let (slots, at) = pop_slots(rest, |slots, rest, behind| {
        if with_address {
            slots.extend(pop_address(rest)?);
            match rest.strip_prefix("=?").or(rest.strip_prefix('=')) {
                Some(after) if behind && rest.starts_with("=?") => return pop_no_time(slots, rest, after),
                Some(after) => *rest = after,
                None if behind => return pop_no_time(slots, rest, rest),
                None => return None,
            }
        }
        let (mark, number) = rest.strip_prefix('!').map_or((0, *rest), |number| (1 << 31, number));
        *rest = number;
        slots.extend((pop_number(rest)? | mark).to_be_bytes());
        Some(())
    })?;
    let mut body = vec![u8::try_from(at + 5).ok()?, 0];
    body.extend(slots);
    body.resize(body.len() + pop_room(rest)? * if with_address { 8 } else { 4 }, 0);
    let mut overflow = 0;
    if let Some(number) = rest.strip_prefix("++") {
        *rest = number;
        overflow = pop_number(rest).and_then(|n| u8::try_from(n).ok()).filter(|n| *n < 16)?;
    }
    body[1] = overflow << 4 | flag;
    append(bytes, kind::IP_TIMESTAMP, &body)
}

/// A slot whose time is not known yet.
fn pop_no_time<'t>(slots: &mut Vec<u8>, rest: &mut &'t str, after: &'t str) -> Option<()> {
    *rest = after;
    slots.extend([0; 4]);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tcp(options: &[u8], which: Which) -> String {
        let mut text = String::new();
        print_tcp(&mut text, options, which);
        text
    }

    fn ip(options: &[u8]) -> String {
        let mut text = String::new();
        print_ip(&mut text, options);
        text
    }

    /// What is printed is read again as the same options.
    #[test]
    fn there_and_back() {
        for text in ["mss1460;sackok;ts5:7", "wscale7;99=1:2:3", "mss1;sack1-2;sack3-4", "42"] {
            assert_eq!(tcp(&parse_tcp(text).unwrap(), Which::All), text);
        }
        for text in [
            "rr{1.0.0.1,1.0.0.2}+3",
            "lsrr{1.0.0.1^1.0.0.2}",
            "ssrr{1.0.0.1^}",
            "148=0:0",
            "rr{}+2",
            "ssrr{^1.0.0.1,1.0.0.2}",
            "ts{1,!2^}++3",
            "ts{1,2}+3++2;rr{1.0.0.1}+1",
            "ts.ip{1.0.0.1=1}+1",
            "ts.preip{1.0.0.1=1^1.0.0.2}",
        ] {
            assert_eq!(ip(&parse_ip(text).unwrap()), text);
        }
        assert_eq!(ip(&[68, 12, 9, 0x10, 0, 0, 0, 5, 0, 0, 0, 0]), "ts{5}+1++1");
        assert_eq!(ip(&[68, 12, 5, 3, 1, 0, 0, 1, 0, 0, 0, 5]), "ts.preip{^1.0.0.1}");
    }

    #[test]
    fn selections_and_faults() {
        let options = parse_tcp("mss1;ts5:7;sack1-2").unwrap();
        assert_eq!(tcp(&options, Which::NotTimestamps), "mss1;sack1-2");
        assert_eq!(tcp(&options, Which::Sack), "sack1-2");
        assert_eq!(select_tcp(&options, Which::NotTimestamps), parse_tcp("mss1;sack1-2").unwrap());
        assert_eq!(select_tcp(&options, Which::Sack), parse_tcp("sack1-2").unwrap());
        assert_eq!(select_tcp(&[1, 4, 2, 1, 0], Which::All), [1, 4, 2, 1, 0]);
        assert_eq!(select_tcp(&[1, 4, 2, 2, 9, 0], Which::Sack), [4, 2]);
        assert_eq!(tcp(&[1, 1, 0], Which::All), ".");
        assert_eq!(tcp(&[2, 9, 0], Which::All), "?");
        assert_eq!(tcp(&[1, 1, 8, 10, 0, 0, 0, 5, 0, 0, 0, 7], Which::All), "ts5:7");
        assert_eq!(parse_tcp("sack1-2;sack3-4;sack5-6").unwrap().len(), 30, "three options");
        assert_eq!(parse_tcp("sack1-2,sack3-4,sack5-6").unwrap().len(), 26, "one option");
        for bad in ["mss", "mss70000", "sack5", "ts5", "x", "mss1 ", "256", "9=300"] {
            assert_eq!(parse_tcp(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_and_any_text_are_parsed_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..40), text in "[a-z0-9{};:,.^+=-]{0,30}") {
            tcp(&bytes, Which::All);
            select_tcp(&bytes, Which::NotTimestamps);
            ip(&bytes);
            parse_tcp(&text);
            parse_ip(&text);
        }
    }
}
