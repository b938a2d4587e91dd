//! The lines that tcpdump(1) prints.

use super::form::{Context, Form, Value, parse_time};
use super::maker::{Defaults, Maker};
use super::options;
use super::record_source::Records;
use super::text_lines::TextLines;
use router::Cx;
use std::collections::HashMap;
use std::io::BufRead;
use std::net::Ipv4Addr;
use wire::ip_proto;

/// TCP flows whose sequence numbers are remembered; beyond that all are forgotten.
const FLOWS_MAX: usize = 1 << 20;
/// The time to live of packets whose lines do not say it.
const TTL: u8 = 2;
/// Acknowledgements beyond this are taken for absolute numbers.
const RELATIVE_MAX: u32 = 8000;
const SYN: u64 = 0x02;
const FIN: u64 = 0x01;
const ACK: u64 = 0x10;

type End = (Ipv4Addr, u16);

/// The sequence numbers of a TCP flow's two directions.
#[derive(Clone, Copy, Default)]
struct Numbers {
    first: [u32; 2],
    /// Behind the last byte seen.
    next: [u32; 2],
}

/// The lines of a file.
pub(super) struct Lines {
    text: TextLines,
    checksum: bool,
    flows: HashMap<(End, End), Numbers>,
    /// Whether sequence numbers are absolute, once that is known.
    absolute: Option<bool>,
}

/// What a line says about a TCP segment.
#[derive(Default)]
struct Segment {
    flags: u64,
    seq: u32,
    end: u32,
    ack: u32,
}

impl Lines {
    pub(super) fn new(name: &str, checksum: bool) -> Lines {
        Lines { text: TextLines::new(name), checksum, flows: HashMap::new(), absolute: None }
    }

    /// The packet that a line tells of.
    fn packet(&mut self, line: &str) -> Option<Maker> {
        let (time, rest) = line.split_once(' ')?;
        let (ends, told) = rest.split_once(':')?;
        let (src, dst) = ends.split_once(" > ")?;
        let told = told.trim_start();
        let protocol = match told.as_bytes().first() {
            Some(b'i') => ip_proto::ICMP,
            Some(b'u') => ip_proto::UDP,
            Some(b'[') if told.starts_with("[u") || told.starts_with("[bad udp") => ip_proto::UDP,
            Some(b'.' | b'A'..=b'Z') => ip_proto::TCP,
            _ => 0,
        };
        let has_ports = matches!(protocol, ip_proto::TCP | ip_proto::UDP);
        let (src, dst) = (end(src, has_ports)?, end(dst, has_ports)?);
        let defaults = Defaults { protocol, flow: None, aggregate: None, checksum: self.checksum };
        let mut maker = Maker::new(defaults);
        maker.bare = true;
        maker.notes.time_ns = parse_time(time)?;
        maker.set_ip(8, &[TTL]);
        maker.set_ip(12, &src.0.octets());
        maker.set_ip(16, &dst.0.octets());
        if has_ports {
            maker.set_transport(protocol, 0, &src.1.to_be_bytes());
            maker.set_transport(protocol, 2, &dst.1.to_be_bytes());
        }
        let mut data_len = None;
        match protocol {
            ip_proto::TCP => data_len = self.tcp(&mut maker, told, src, dst),
            ip_proto::UDP => {
                let told = without_notes(told);
                data_len = told.strip_prefix("udp ").and_then(|rest| pop_number(&mut { rest }));
            }
            _ => {}
        }
        notes(&mut maker, told, &mut data_len);
        maker.finish();
        Some(maker)
    }

    /// Flags, numbers and options of a TCP segment; returns the bytes of its data.
    fn tcp(&mut self, maker: &mut Maker, told: &str, src: End, dst: End) -> Option<u32> {
        let (flags, mut rest) = told.split_once(' ').unwrap_or((told, ""));
        let context = Context { minor_version: super::version::MINOR_VERSION, icmp_type: None };
        let flags = match flags {
            "." => ACK,
            _ => Form::TcpFlags.parse(flags, context).as_ref().map_or(0, Value::number),
        };
        let mut segment = Segment { flags, ..Segment::default() };
        rest = without_notes(rest);
        if !rest.starts_with('a') {
            let Some((seq, end)) = pop_sequence(&mut rest) else {
                maker.set_tcp_flags(flags);
                return None; // cut off
            };
            (segment.seq, segment.end) = (seq, end);
        }
        let data_len = segment.end.wrapping_sub(segment.seq);
        if let Some(ack) = pop_named(&mut rest, "ack ") {
            segment.flags |= ACK;
            segment.ack = ack;
        }
        let relative = self.make_absolute(&mut segment, src, dst);
        let word = |n: u32| (n.min(0xffff) as u16).to_be_bytes();
        maker.set_tcp_flags(segment.flags);
        maker.set_transport(ip_proto::TCP, 4, &segment.seq.to_be_bytes());
        maker.set_transport(ip_proto::TCP, 8, &segment.ack.to_be_bytes());
        if let Some(window) = pop_named(&mut rest, "win ") {
            maker.set_transport(ip_proto::TCP, 14, &word(window));
        }
        if let Some(urgent) = pop_named(&mut rest, "urg ") {
            maker.set_transport(ip_proto::TCP, 18, &word(urgent));
        }
        if let Some((list, _)) = rest.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
            maker.set_tcp_options(&tcp_options(list, relative));
        }
        Some(data_len)
    }

    /// Makes sequence numbers absolute, as the flow's first packets told them. Returns what was added to acknowledgements.
    fn make_absolute(&mut self, segment: &mut Segment, src: End, dst: End) -> u32 {
        if segment.flags & ACK == 0 && segment.flags & SYN == 0 {
            return 0;
        }
        if self.flows.len() >= FLOWS_MAX {
            self.flows.clear();
        }
        let reverse = src > dst;
        let key = if reverse { (dst, src) } else { (src, dst) };
        let (me, other) = (usize::from(reverse), usize::from(!reverse));
        let flow = self.flows.entry(key).or_default();
        let mut added = 0;
        if flow.first == [0; 2] || segment.flags & SYN != 0 {
            flow.first[me] = segment.seq;
            if segment.flags & ACK != 0 {
                flow.first[other] = segment.ack.wrapping_sub(1);
            }
        } else {
            let beyond =
                segment.ack.wrapping_sub(flow.first[other]) as i32 >= 0 && segment.ack > RELATIVE_MAX;
            let absolute = *self.absolute.get_or_insert(beyond);
            let offset = |first: u32| if absolute { 0 } else { first };
            if (segment.seq, segment.end) == (0, 0) {
                (segment.seq, segment.end) = (flow.next[me], flow.next[me]);
            } else {
                segment.seq = segment.seq.wrapping_add(offset(flow.first[me]));
                segment.end = segment.end.wrapping_add(offset(flow.first[me]));
            }
            added = offset(flow.first[other]);
            segment.ack = segment.ack.wrapping_add(added);
        }
        let marks = u32::from(segment.flags & SYN != 0) + u32::from(segment.flags & FIN != 0);
        flow.next[me] = segment.end.wrapping_add(marks);
        if flow.next[other] == 0 {
            flow.next[other] = segment.ack;
        }
        added
    }
}

impl Records for Lines {
    fn open(&mut self, bytes: Box<dyn BufRead + Send>) {
        self.text.open(bytes);
    }

    fn next(&mut self, cx: &Cx<'_>) -> Option<Maker> {
        loop {
            let line = self.text.next(cx)?;
            if self.text.number == 1 && !line.starts_with(|c: char| c.is_ascii_digit()) {
                self.text.warn(cx, "first line suspicious; is this a tcpdump output file?");
            }
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match self.packet(&line) {
                Some(maker) => return Some(maker),
                None => self.text.complain(cx),
            }
        }
    }
}

/// An address and perhaps a port: `1.0.0.1.80`, `1.0.0.1.http`.
fn end(text: &str, has_port: bool) -> Option<End> {
    if !has_port {
        return Some((text.parse().ok()?, 0));
    }
    let (address, port) = text.rsplit_once(['.', ':'])?;
    Some((address.parse().ok()?, wire::describe::port(port)?))
}

/// What a line tells without the remarks about headers and checksums that may stand before it.
fn without_notes(mut told: &str) -> &str {
    for note in ["[bad hdr", "[tcp sum ok", "[bad tcp", "[udp sum ok", "[bad udp"] {
        if let Some((_, rest)) = told.strip_prefix(note).and_then(|rest| rest.split_once("] ")) {
            told = rest;
        }
    }
    told
}

fn pop_number(text: &mut &str) -> Option<u32> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number = text[..end].parse().ok()?;
    *text = &text[end..];
    Some(number)
}

/// Takes a name, a number and a space off the front of a text.
fn pop_named(text: &mut &str, name: &str) -> Option<u32> {
    let mut rest = text.strip_prefix(name)?;
    let number = pop_number(&mut rest)?;
    *text = rest.strip_prefix(' ').unwrap_or(rest);
    Some(number)
}

/// Takes `FIRST:END(LENGTH)` off the front of a text.
fn pop_sequence(text: &mut &str) -> Option<(u32, u32)> {
    let mut rest = *text;
    let first = pop_number(&mut rest)?;
    rest = rest.strip_prefix(':')?;
    let end = pop_number(&mut rest)?;
    let (_, rest) = rest.strip_prefix('(')?.split_once(')')?;
    *text = rest.trim_start();
    Some((first, end))
}

/// The bytes of options: those that are understood.
fn tcp_options(list: &str, relative: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    for item in list.split(',') {
        let (name, value) = item.trim().split_once(' ').unwrap_or((item.trim(), ""));
        let text = match name {
            "nop" | "eol" => name.to_owned(),
            "mss" | "wscale" => format!("{name}{value}"),
            "sackOK" => "sackok".to_owned(),
            "timestamp" => {
                let Some((value, echo)) = value.split_once(' ') else { continue };
                // Spelled as an option without a name, as the other form would be aligned.
                let Ok([value, echo]) = <[u32; 2]>::try_from(
                    [value, echo].iter().filter_map(|n| n.parse::<u32>().ok()).collect::<Vec<_>>(),
                ) else {
                    continue;
                };
                bytes.extend([8, 10]);
                bytes.extend([value, echo].map(u32::to_be_bytes).as_flattened());
                continue;
            }
            "sack" => sack_text(value, relative),
            _ => continue,
        };
        bytes.extend(options::parse_tcp(&text).unwrap_or_default());
    }
    bytes.truncate(40);
    bytes
}

/// `sack N {A:B}{C:D}` as options are written elsewhere.
fn sack_text(value: &str, relative: u32) -> String {
    let mut text = String::new();
    for block in value.split('{').skip(1) {
        let numbers = block.split_once('}').and_then(|(block, _)| block.split_once(':'));
        let Some((Ok(from), Ok(to))) = numbers.map(|(a, b)| (a.parse::<u32>(), b.parse::<u32>())) else {
            continue;
        };
        let separator = if text.is_empty() { "" } else { ";" };
        text += &format!("{separator}sack{}-{}", from.wrapping_add(relative), to.wrapping_add(relative));
    }
    text
}

/// What stands in brackets at the end of a line: type of service, fragments, time to live, identifier, length.
fn notes(maker: &mut Maker, told: &str, data_len: &mut Option<u32>) {
    let (mut fragment, mut whole) = (0u16, None);
    let mut rest = told;
    while let Some(at) = rest.find(['(', '[']) {
        let close = if rest[at..].starts_with('(') { ')' } else { ']' };
        rest = &rest[at + 1..];
        let Some((group, behind)) = rest.split_once(close) else { continue };
        rest = behind;
        for item in group.split(',').map(str::trim) {
            let (name, value) = item.split_once(' ').unwrap_or((item, ""));
            let number = || value.parse::<u32>().ok();
            match (name, number()) {
                ("DF", _) => fragment |= 0x4000,
                ("CE", _) => maker.set_tos_bits(3, 3),
                ("tos", _) => {
                    let tos = router::parse_integer(value).and_then(|tos| u8::try_from(tos).ok());
                    tos.into_iter().for_each(|tos| maker.set_ip(1, &[tos]));
                }
                ("ttl", Some(ttl)) => maker.set_ip(8, &[ttl as u8]),
                ("id", Some(id)) => maker.set_ip(4, &(id as u16).to_be_bytes()),
                ("len", Some(len)) => whole = Some(len),
                ("frag", _) => fragment |= fragment_note(maker, value, data_len).unwrap_or(0),
                _ => {}
            }
        }
    }
    if fragment != 0 {
        maker.set_ip(6, &fragment.to_be_bytes());
    }
    match (whole, *data_len) {
        (Some(whole), None) => maker.want_ip(whole.into()),
        (Some(whole), Some(len)) => {
            maker.want_ip(whole.into());
            maker.want_payload(len.into()); // what is left over are options
        }
        (None, len) => maker.want_payload(len.unwrap_or(0).into()),
    }
}

/// `frag ID:LENGTH@OFFSET+`: the fragment field.
fn fragment_note(maker: &mut Maker, value: &str, data_len: &mut Option<u32>) -> Option<u16> {
    let mut rest = value;
    let id = pop_number(&mut rest)?;
    maker.set_ip(4, &(id as u16).to_be_bytes());
    rest = rest.strip_prefix(':')?;
    *data_len = Some(pop_number(&mut rest)?);
    rest = rest.strip_prefix('@')?;
    let offset = pop_number(&mut rest)?;
    let more = if rest.starts_with('+') { 0x2000 } else { 0 };
    Some((offset / 8) as u16 & 0x1fff | more)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn options_in_words_become_bytes() {
        let bytes = tcp_options("nop,nop,timestamp 5 7,sack sack 1 {1:2}", 10);
        let mut text = String::new();
        options::print_tcp(&mut text, &bytes, options::Which::All);
        assert_eq!(text, "ts5:7;sack11-12");
    }

    /// Remarks of tcpdump, brackets within brackets, and lines that are cut off.
    #[test]
    fn remarks_do_not_change_the_packet() {
        let made = |told: &str| {
            let ends = if told.starts_with("icmp") { "1.0.0.1 > 2.0.0.2" } else { "1.0.0.1.1 > 2.0.0.2.2" };
            let maker = Lines::new("x", false).packet(&format!("1.5 {ends}: {told}")).unwrap();
            (maker.total(), maker.ip_tos())
        };
        assert_eq!(made("P [bad hdr length 5] [bad tcp cksum 12ab!] 1:9(8) win 7"), (48, 0));
        assert_eq!(made("udp 9 [tos 0x12,ECT(0)] (ttl 5)"), (37, 0x12));
        assert_eq!(made("[bad udp cksum 1!] udp 9"), (37, 0));
        assert_eq!(made(". [|tcp] (ttl 64, id 5, len 1500)"), (1500, 0));
        assert_eq!(made("icmp: echo request").0, 20);
    }

    proptest! {
        #[test]
        fn any_line_is_read_without_panic(tail in "[a-zA-Z0-9 .:,(){}<>@+\\[\\]]{0,80}") {
            let mut lines = Lines::new("x", true);
            lines.packet(&tail);
            for kind in ["S ", ". ", "udp ", "icmp: ", "P 1:9(8) ack "] {
                lines.packet(&format!("1.5 1.0.0.1.1 > 2.0.0.2.2: {kind}{tail}"));
            }
        }
    }
}
