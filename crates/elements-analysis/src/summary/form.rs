//! The forms that fields have in text and in binary records.

use super::date::NS_PER_S;
use super::options::{self, Which};
use elements_shared::label::write_time;
use std::fmt::Write;
use wire::describe;
use wire::ethernet::MacAddr;

/// A field's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Number(u64),
    /// Nanoseconds since the epoch.
    Time(i64),
    Bytes(Vec<u8>),
}

impl Value {
    pub(super) fn number(&self) -> u64 {
        match *self {
            Value::Number(number) => number,
            Value::Time(ns) => ns as u64,
            Value::Bytes(_) => 0,
        }
    }
}

/// How values of a field are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// No value.
    None,
    /// A number, of so many bytes in binary.
    Number(usize),
    /// Seconds with a fraction; in binary with microseconds, or with nanoseconds.
    Time {
        nanoseconds: bool,
    },
    Address,
    Protocol,
    /// Whether it is a fragment: `F` the first, `f` another, `.` none, `!` none and not to be fragmented.
    Fragment,
    /// The fragment offset, `+` for more to come, `!` for "do not fragment".
    FragmentOffset,
    Ecn,
    /// `>` for 0, `<` for 1.
    Direction,
    /// A number, which may be read as a direction.
    Link,
    TcpFlags,
    TcpOptions(Which),
    IpOptions,
    Mac,
    /// Four hexadecimal digits; `0x` may stand before those that are read.
    EtherType,
    Text,
    /// An MD5 digest: in hexadecimal, or in 22 letters, digits, `_` and `@`.
    Md5 {
        hexadecimal: bool,
    },
    /// The number of an ICMP type or code, which may be read as a name.
    IcmpTypeNumber,
    IcmpCodeNumber,
    /// Their names.
    IcmpType,
    /// The name of a code; the type stands in the higher byte.
    IcmpCode,
}

/// What is around a field that is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context {
    pub(super) minor_version: u32,
    /// The ICMP type that the packet has already.
    pub(super) icmp_type: Option<u8>,
}

const TCP_FLAGS: &str = "FSRPAUECN";
const ECN: [&str; 4] = ["no", "ect1", "ect2", "ce"];
const DONT_FRAGMENT: u64 = 0x4000;
const MORE_FRAGMENTS: u64 = 0x2000;
const OFFSET_MASK: u64 = 0x1fff;

/// Reads seconds and perhaps a fraction, without a unit.
pub(super) fn parse_time(text: &str) -> Option<i64> {
    let plain = text.ends_with(|last: char| last.is_ascii_digit() || last == '.');
    router::parse_time(text).filter(|_| plain).and_then(|ns| i64::try_from(ns).ok())
}

impl Form {
    /// Writes a value as text.
    pub(super) fn print(self, text: &mut String, value: &Value) {
        let number = value.number();
        let bytes: &[u8] = if let Value::Bytes(bytes) = value { bytes } else { &[] };
        let _ = match self {
            Form::None => write!(text, "-"),
            Form::Number(_) | Form::Link | Form::IcmpTypeNumber | Form::IcmpCodeNumber => {
                write!(text, "{number}")
            }
            Form::Time { .. } => {
                write_time(text, number as i64);
                Ok(())
            }
            Form::Address => write!(text, "{}", std::net::Ipv4Addr::from(number as u32)),
            Form::Protocol => match number {
                6 => write!(text, "T"),
                17 => write!(text, "U"),
                1 => write!(text, "I"),
                _ => write!(text, "{number}"),
            },
            Form::Fragment => write!(text, "{}", char::from(number as u8)),
            Form::FragmentOffset => {
                let more = if number & MORE_FRAGMENTS != 0 { "+" } else { "" };
                let whole = if number & DONT_FRAGMENT != 0 { "!" } else { "" };
                write!(text, "{}{more}{whole}", (number & OFFSET_MASK) * 8)
            }
            Form::Ecn => write!(text, "{}", ECN[(number & 3) as usize]),
            Form::Direction => match number {
                0 => write!(text, ">"),
                1 => write!(text, "<"),
                _ => write!(text, "{number}"),
            },
            Form::TcpFlags => {
                print_flags(text, number);
                Ok(())
            }
            Form::TcpOptions(which) => {
                options::print_tcp(text, bytes, which);
                Ok(())
            }
            Form::IpOptions => {
                options::print_ip(text, bytes);
                Ok(())
            }
            Form::Mac => {
                let address = MacAddr(bytes.first_chunk().copied().unwrap_or_default());
                write!(text, "{address}")
            }
            Form::EtherType => write!(text, "{number:04X}"),
            Form::Text => write!(text, "{}", lang::conf::quote(bytes)),
            Form::Md5 { hexadecimal: true } => bytes.iter().try_for_each(|byte| write!(text, "{byte:02x}")),
            Form::Md5 { hexadecimal: false } => {
                print_digest(text, bytes);
                Ok(())
            }
            Form::IcmpType => match describe::icmp_type_name(number as u8) {
                Some(name) => write!(text, "{name}"),
                None => write!(text, "{number}"),
            },
            Form::IcmpCode => match describe::icmp_code_name((number >> 8) as u8, number as u8) {
                Some(name) => write!(text, "{name}"),
                None => write!(text, "{}", number & 0xff),
            },
        };
    }

    /// Reads a value from text.
    pub(super) fn parse(self, text: &str, context: Context) -> Option<Value> {
        let number = || router::parse_integer(text).and_then(|n| u64::try_from(n).ok());
        let below = |limit: u64| number().filter(|n| *n < limit);
        let found = match self {
            Form::None => return None,
            Form::Number(8) => number()?,
            Form::Number(bytes) => below(1 << (bytes * 8))?,
            Form::Time { .. } => return parse_time(text).map(Value::Time),
            Form::Address => wire::net::parse_ipv4(text).ok().map(|address| u64::from(u32::from(address)))?,
            Form::Protocol => match text {
                "T" => 6,
                "U" => 17,
                "I" => 1,
                _ => below(256)?,
            },
            Form::Fragment | Form::FragmentOffset => parse_fragment(text, context.minor_version)?,
            Form::Ecn => match text {
                "ECT(1)" => 1,
                "ECT(0)" => 2,
                "CE" => 3,
                _ => ECN.iter().position(|name| *name == text).map(|n| n as u64).or_else(|| below(4))?,
            },
            Form::Direction | Form::Link => match text {
                ">" | "L" => 0,
                "<" | "R" | "X" => 1,
                _ => below(256)?,
            },
            Form::TcpFlags => parse_flags(text)?,
            Form::TcpOptions(_) => return options::parse_tcp(text).map(Value::Bytes),
            Form::IpOptions => return options::parse_ip(text).map(Value::Bytes),
            Form::Mac => {
                let address: MacAddr = text.parse().ok()?;
                return Some(Value::Bytes(address.0.to_vec()));
            }
            Form::EtherType => {
                let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
                u16::from_str_radix(digits, 16).ok()?.into()
            }
            Form::Text => return Some(Value::Bytes(lang::conf::unquote_bytes(text))),
            Form::Md5 { .. } => return None, // the payload cannot be made from it
            Form::IcmpType | Form::IcmpTypeNumber => describe::icmp_type(text)?.into(),
            Form::IcmpCode | Form::IcmpCodeNumber => match context.icmp_type {
                Some(kind) => describe::icmp_code(kind, text)?.into(),
                None => below(256)?,
            },
        };
        Some(Value::Number(found))
    }

    /// Bytes of a value in a binary record; `None` where the value says so itself or the field cannot be in one.
    fn width(self) -> Option<usize> {
        Some(match self {
            Form::None => 0,
            Form::Number(bytes) => bytes,
            Form::Time { .. } => 8,
            Form::Address => 4,
            Form::FragmentOffset | Form::EtherType => 2,
            Form::Mac => 6,
            Form::Md5 { .. } => 16,
            Form::TcpOptions(_) | Form::IpOptions | Form::Text => return None,
            _ => 1,
        })
    }

    /// Whether a field can be in a binary record.
    pub(super) fn has_binary(self) -> bool {
        self != Form::Text
    }

    /// Writes a value, or zeros for none, to a binary record.
    pub(super) fn write(self, record: &mut Vec<u8>, value: Option<&Value>) {
        let Some(width) = self.width() else {
            let bytes: &[u8] = if let Some(Value::Bytes(bytes)) = value { bytes } else { &[] };
            let selected = match self {
                Form::TcpOptions(which) => options::select_tcp(bytes, which),
                _ => bytes.to_vec(),
            };
            record.push(selected.len().min(40) as u8);
            return record.extend(selected.iter().take(40));
        };
        match value {
            Some(Value::Bytes(bytes)) => record.extend(bytes.iter().take(width)),
            Some(&Value::Time(ns)) => {
                let (seconds, rest) = (ns.div_euclid(NS_PER_S) as u32, ns.rem_euclid(NS_PER_S) as u32);
                // As in Click, nanoseconds come before their seconds, and microseconds after them.
                let parts = if self == (Form::Time { nanoseconds: true }) {
                    [rest, seconds]
                } else {
                    [seconds, rest / 1000]
                };
                record.extend(parts.map(u32::to_be_bytes).as_flattened());
            }
            Some(Value::Number(number)) => record.extend(&number.to_be_bytes()[8 - width..]),
            None => record.resize(record.len() + width, 0),
        }
    }

    /// Takes a value off the front of a binary record; `None` at its end.
    pub(super) fn read(self, record: &mut &[u8]) -> Option<Value> {
        let width = match self.width() {
            Some(width) => width,
            None => usize::from(*record.split_off_first()?),
        };
        let bytes = record.split_off(..width)?;
        let part = |bytes: &[u8]| bytes.iter().fold(0u64, |n, &byte| n << 8 | u64::from(byte));
        Some(match self {
            Form::Mac | Form::Md5 { .. } | Form::TcpOptions(_) | Form::IpOptions => {
                Value::Bytes(bytes.to_vec())
            }
            Form::Time { nanoseconds } => {
                let [first, second] = [part(&bytes[..4]) as i64, part(&bytes[4..]) as i64];
                Value::Time(if nanoseconds {
                    second * NS_PER_S + first
                } else {
                    first * NS_PER_S + second * 1000
                })
            }
            _ => Value::Number(part(bytes)),
        })
    }
}

/// Six bits a letter, beginning with the lowest bits of the first byte.
fn print_digest(text: &mut String, digest: &[u8]) {
    const LETTERS: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@";
    let mut bits = digest.iter().rev().fold(0u128, |bits, &byte| bits << 8 | u128::from(byte));
    for _ in 0..(digest.len() * 8).div_ceil(6) {
        text.push(char::from(LETTERS[(bits & 63) as usize]));
        bits >>= 6;
    }
}

fn print_flags(text: &mut String, flags: u64) {
    match flags {
        0x18 => text.push_str("PA"),
        0 => text.push('.'),
        _ => text.extend(TCP_FLAGS.chars().enumerate().filter(|(i, _)| flags >> i & 1 == 1).map(|(_, c)| c)),
    }
}

fn parse_flags(text: &str) -> Option<u64> {
    if text == "." {
        return Some(0);
    }
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return router::parse_integer(text).and_then(|n| u64::try_from(n).ok()).filter(|n| *n < 0x1000);
    }
    let bit = |c: char| match c {
        // Older names of the two that announce congestion.
        'W' | 'Y' => Some(7),
        'X' => Some(6),
        _ => TCP_FLAGS.find(c),
    };
    text.chars().try_fold(0, |flags, c| Some(flags | 1 << bit(c)?)).filter(|_| !text.is_empty())
}

fn parse_fragment(text: &str, minor_version: u32) -> Option<u64> {
    match text {
        "." => return Some(0),
        "!" => return Some(DONT_FRAGMENT),
        "F" => return Some(MORE_FRAGMENTS),
        "f" => return Some(100), // some offset: the summary does not say which
        _ => {}
    }
    let digits = text.trim_end_matches(['+', '!']);
    let number: u64 = digits.parse().ok()?;
    let offset = if minor_version > 0 { number / 8 } else { number };
    let marks = &text[digits.len()..];
    let more = if marks.contains('+') { MORE_FRAGMENTS } else { 0 };
    let whole = if marks.contains('!') { DONT_FRAGMENT } else { 0 };
    (offset <= OFFSET_MASK).then_some(offset | more | whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Context = Context { minor_version: 3, icmp_type: None };

    /// Every form reads what it prints, and what it writes in binary.
    #[test]
    fn there_and_back() {
        let time = Form::Time { nanoseconds: true };
        let cases = [
            (Form::Number(2), Value::Number(65_535), "65535"),
            (Form::Number(8), Value::Number(u64::MAX), "18446744073709551615"),
            (Form::Time { nanoseconds: false }, Value::Time(1_000_000_000_000_001_000), "1000000000.000001"),
            (time, Value::Time(1_000_000_000_000_000_001), "1000000000.000000001"),
            (Form::Address, Value::Number(0x0a01_0203), "10.1.2.3"),
            (Form::Protocol, Value::Number(6), "T"),
            (Form::Protocol, Value::Number(50), "50"),
            (Form::FragmentOffset, Value::Number(0x2002), "16+"),
            (Form::FragmentOffset, Value::Number(0x4000), "0!"),
            (Form::Ecn, Value::Number(2), "ect2"),
            (Form::Direction, Value::Number(1), "<"),
            (Form::TcpFlags, Value::Number(0x18), "PA"),
            (Form::TcpFlags, Value::Number(0x12), "SA"),
            (Form::Mac, Value::Bytes(vec![0, 1, 2, 3, 4, 0xff]), "00-01-02-03-04-FF"),
            (Form::EtherType, Value::Number(0x0800), "0800"),
            (Form::TcpOptions(Which::All), Value::Bytes(vec![2, 4, 5, 0xb4]), "mss1460"),
            (Form::Link, Value::Number(1), "1"),
            (Form::IcmpType, Value::Number(8), "echo"),
            (Form::IcmpTypeNumber, Value::Number(8), "8"),
            (Form::IcmpCodeNumber, Value::Number(3), "3"),
        ];
        for (form, value, expected) in cases {
            let mut text = String::new();
            form.print(&mut text, &value);
            assert_eq!(text, expected);
            assert_eq!(form.parse(&text, HERE), Some(value.clone()), "{text}");
            let mut record = Vec::new();
            form.write(&mut record, Some(&value));
            assert_eq!(form.read(&mut &record[..]), Some(value), "{text}");
            assert_eq!(form.read(&mut &record[..record.len() - 1]), None);
        }
    }

    #[test]
    fn times_in_binary() {
        let record = |nanoseconds| {
            let mut record = Vec::new();
            Form::Time { nanoseconds }.write(&mut record, Some(&Value::Time(5_000_007_000)));
            record
        };
        assert_eq!(
            (record(false), record(true)),
            (vec![0, 0, 0, 5, 0, 0, 0, 7], vec![0, 0, 0x1b, 0x58, 0, 0, 0, 5])
        );
    }

    #[test]
    fn other_spellings() {
        let read = |form: Form, text: &str| form.parse(text, HERE).map(|value| value.number());
        assert_eq!(read(Form::Address, "010.000.000.001"), Some(0x0a00_0001), "leading zeros are decimal");
        assert_eq!(read(Form::TcpFlags, "SW"), Some(0x82));
        assert_eq!(read(Form::TcpFlags, "Q"), None);
        assert_eq!((read(Form::Link, "<"), read(Form::Link, "256")), (Some(1), None));
        assert_eq!(["L", "R", "X"].map(|text| read(Form::Direction, text)), [Some(0), Some(1), Some(1)]);
        assert_eq!(read(Form::IcmpTypeNumber, "echo-reply"), Some(0));
        assert_eq!(read(Form::Fragment, "F"), Some(0x2000));
        assert_eq!(read(Form::Number(1), "256"), None);
        assert_eq!(read(Form::Ecn, "ECT(0)"), Some(2));
        let old = Context { minor_version: 0, ..HERE };
        assert_eq!(Form::FragmentOffset.parse("16+", old), Some(Value::Number(0x2010)));
    }
}
