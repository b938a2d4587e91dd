//! Argument types: how text becomes integers, addresses, times and so on, by Click's rules.

use crate::text::args::{FromArg, INVALID_NUMBER, Scope, parse_error, unreadable};
use crate::text::names::Value;
use crate::text::services::service_port;
use packet::Anno;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Duration;
use wire::ethernet::MacAddr;
use wire::net::{Ipv4Net, Ipv6Net};

/// The one word that an argument consists of, unquoted; spaces only within quotes.
fn word(text: &str) -> Option<String> {
    let mut rest = text;
    let first = lang::conf::pop_space(&mut rest);
    (!first.is_empty() && rest.is_empty()).then(|| lang::conf::unquote(first))
}

impl FromArg for String {
    fn from_arg(text: &str, _: Scope<'_>) -> Result<Self, String> {
        word(text).map_or_else(|| parse_error("string", text), Ok)
    }
}

/// An argument kept as written: neither unquoted nor interpreted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Raw(pub String);

impl FromArg for Raw {
    fn from_arg(text: &str, _: Scope<'_>) -> Result<Self, String> {
        Ok(Raw(text.to_owned()))
    }
}

/// Bytes, from a string with Click's quoting (`"..."`, `\<0a 0b>`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

impl FromArg for Bytes {
    fn from_arg(text: &str, _: Scope<'_>) -> Result<Self, String> {
        match word(text) {
            Some(_) => Ok(Bytes(lang::conf::unquote_bytes(text))),
            None => parse_error("string", text),
        }
    }
}

/// A file name: unquoted, `~` at its start replaced by the home directory, repeated slashes made one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileName(pub String);

impl FromArg for FileName {
    fn from_arg(text: &str, _: Scope<'_>) -> Result<Self, String> {
        let Some(name) = word(text).filter(|name| !name.is_empty()) else {
            return parse_error("filename", text);
        };
        let mut name = match (name.strip_prefix('~'), std::env::var("HOME")) {
            (Some(rest), Ok(home)) if rest.is_empty() || rest.starts_with('/') => home + rest,
            _ => name,
        };
        while name.contains("//") {
            name = name.replace("//", "/");
        }
        Ok(FileName(name))
    }
}

/// Another element of the configuration, by the name that it has here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ElementName {
    /// The name as written.
    pub name: String,
    /// The element's index in the configuration.
    pub index: usize,
}

impl FromArg for ElementName {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        let name = word(text).unwrap_or_default();
        let index = scope.find(&name).ok_or_else(|| "does not name an element".to_owned())?;
        Ok(ElementName { name, index })
    }
}

impl<T: FromArg> FromArg for Option<T> {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        T::from_arg(text, scope).map(Some)
    }
}

/// Reads a boolean as Click writes it.
pub fn parse_boolean(text: &str) -> Option<bool> {
    match text {
        "1" | "true" | "t" | "yes" | "y" => Some(true),
        "0" | "false" | "f" | "no" | "n" => Some(false),
        _ => None,
    }
}

impl FromArg for bool {
    const EXPECTED: &'static str = "boolean";

    fn from_arg(text: &str, _: Scope<'_>) -> Result<Self, String> {
        parse_boolean(text).map_or_else(|| parse_error("boolean", text), Ok)
    }
}

/// Reads an integer: decimal, `0x` hexadecimal, `0b` binary or `0` octal; single underscores between digits are ignored.
pub fn parse_integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', _, ..] => (16, &digits[2..]),
        [b'0', b'b' | b'B', _, ..] => (2, &digits[2..]),
        [b'0', _, ..] => (8, digits),
        _ => (10, digits),
    };
    if !digits.split('_').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric())) {
        return None;
    }
    // What is too large for anything is still a number: one that is out of range.
    let fold = |value: Option<i128>, digit: char| {
        let digit = i128::from(digit.to_digit(radix)?);
        Some(value?.saturating_mul(i128::from(radix)).saturating_add(digit))
    };
    let value = digits.chars().filter(|&c| c != '_').fold(Some(0), fold)?;
    Some(if negative { -value } else { value })
}

macro_rules! integer {
    ($expected:literal: $($type:ty),*) => {$(
        impl FromArg for $type {
            const EXPECTED: &'static str = $expected;

            fn from_arg(text: &str, _: Scope<'_>) -> Result<Self, String> {
                match parse_integer(text) {
                    Some(_) if <$type>::MIN == 0 && text.starts_with('-') => {
                        unreadable(INVALID_NUMBER, "unsigned integer", text)
                    }
                    Some(value) => <$type>::try_from(value).map_err(|_| {
                        let bound = if value < 0 { <$type>::MIN } else { <$type>::MAX };
                        format!("out of range, bound {bound}")
                    }),
                    None => unreadable(INVALID_NUMBER, "integer", text),
                }
            }
        }
    )*};
}
integer!("integer": i8, i16, i32, i64, u32, u64, usize);
integer!("uint8_t": u8);
integer!("uint16_t": u16);

/// How many entries a table has room for. As a table is made at once, more than [`TableSize::MAX`] are refused: a wrong number shall not
/// take all of the machine's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableSize(pub usize);

impl TableSize {
    /// The most entries.
    pub const MAX: usize = 1 << 28;
}

impl FromArg for TableSize {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        match u64::from_arg(text, scope)? {
            entries if entries <= TableSize::MAX as u64 => Ok(TableSize(entries as usize)),
            _ => Err(format!("out of range, bound {}", TableSize::MAX)),
        }
    }
}

impl FromArg for f64 {
    const EXPECTED: &'static str = "real number";

    fn from_arg(text: &str, _: Scope<'_>) -> Result<Self, String> {
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => parse_error("number", text),
        }
    }
}

/// Splits a text into what stands before its trailing letters, and those.
fn split_unit(text: &str) -> (&str, &str) {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '/');
    (number.trim_end(), &text[number.len()..])
}

/// Digits behind the point that are looked at.
const FRACTION_DIGITS: usize = 20;

/// Reads a number with or without a sign, a fraction and an exponent (`.25`, `+2.5`, `1e1`), times `scale`, exactly where floating-point
/// numbers would round, and rounds only the result.
fn parse_scaled(text: &str, scale: i128) -> Option<i128> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i8>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let fraction = &fraction[..fraction.len().min(FRACTION_DIGITS)];
    let digits = whole.bytes().chain(fraction.bytes()).map(|byte| i128::from(byte - b'0'));
    let value =
        digits.into_iter().try_fold(0_i128, |value, digit| value.checked_mul(10)?.checked_add(digit))?;
    let shift = i32::from(exponent) - fraction.len() as i32;
    let power = 10_i128.checked_pow(shift.unsigned_abs());
    let value = value.checked_mul(scale)?;
    let value = match (shift >= 0, power) {
        (true, power) => value.checked_mul(power?)?,
        (false, Some(power)) => (value + power / 2) / power,
        (false, None) => 0, // less than any digit that is looked at
    };
    Some(if negative { -value } else { value })
}

/// Reads a time or a time span, in nanoseconds: a number, perhaps with a sign, a fraction and an exponent, and an optional unit, seconds
/// without one. All times in texts are read with it. Units: `s` or `sec`, `m` or `min`, `h` or `hr`, `d` or `day`, and with the prefixes
/// `m`, `u` and `n` before seconds (`ms`, `usec`). Nothing is rounded but what is less than a nanosecond.
pub fn parse_time(text: &str) -> Option<i128> {
    let (number, unit) = split_unit(text);
    let scale = match unit {
        "" | "s" | "sec" => 1_000_000_000,
        "ms" | "msec" => 1_000_000,
        "us" | "usec" => 1_000,
        "ns" | "nsec" => 1,
        "m" | "min" => 60 * 1_000_000_000,
        "h" | "hr" => 3_600 * 1_000_000_000,
        "d" | "day" => 86_400 * 1_000_000_000,
        _ => return None,
    };
    parse_scaled(number, scale)
}

/// A time span: see [`parse_time`].
impl FromArg for Duration {
    const EXPECTED: &'static str = "time in seconds";

    fn from_arg(text: &str, _: Scope<'_>) -> Result<Self, String> {
        const NS_PER_S: u128 = 1_000_000_000;
        let span = parse_time(text).and_then(|ns| u128::try_from(ns).ok()).and_then(|ns| {
            // The remainder is less than a second.
            Some(Duration::new(u64::try_from(ns / NS_PER_S).ok()?, (ns % NS_PER_S) as u32))
        });
        span.map_or_else(|| parse_error("time", text), Ok)
    }
}

/// Writes a time span as Click does: in whole `ms`, `us` or `ns` below a second, otherwise in seconds with six decimals, or
/// nine where it needs them.
pub fn interval(span: Duration) -> String {
    let (s, ns) = (span.as_secs(), span.subsec_nanos());
    match (s, ns % 1_000_000, ns % 1000) {
        (0, 0, _) => format!("{}ms", ns / 1_000_000),
        (0, _, 0) => format!("{}us", ns / 1000),
        (0, ..) => format!("{ns}ns"),
        (_, _, 0) => format!("{s}.{:06}s", ns / 1000),
        _ => format!("{s}.{ns:09}s"),
    }
}

/// A bandwidth: a number and a unit. Units: `baud`, `bps` or `b/s` for bits a second, `Bps` or `B/s` for bytes a second,
/// each with an optional prefix `k`, `K`, `M` or `G` (powers of 1,000). A bare number means bytes a second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bandwidth {
    /// Bytes a second.
    pub bytes_per_second: u64,
}

impl FromArg for Bandwidth {
    fn from_arg(text: &str, _: Scope<'_>) -> Result<Self, String> {
        let (number, unit) = split_unit(text);
        let (bytes, prefix) = if let Some(prefix) = ["Bps", "B/s"].iter().find_map(|u| unit.strip_suffix(u)) {
            (1.0, prefix)
        } else if let Some(prefix) = ["baud", "bps", "b/s"].iter().find_map(|u| unit.strip_suffix(u)) {
            (0.125, prefix)
        } else {
            (1.0, if unit.is_empty() { "" } else { "?" })
        };
        let scale = match prefix {
            "" => 1.0,
            "k" | "K" => 1e3,
            "M" => 1e6,
            "G" => 1e9,
            _ => return parse_error("bandwidth", text),
        };
        match number.parse::<f64>() {
            Ok(n) if (0.0..1e12).contains(&n) => {
                Ok(Bandwidth { bytes_per_second: (n * scale * bytes).round() as u64 })
            }
            _ => parse_error("bandwidth", text),
        }
    }
}

impl std::fmt::Display for Bandwidth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bits = self.bytes_per_second as f64 * 8.0;
        match self.bytes_per_second {
            0x2000_0000.. => write!(f, "{}MBps", self.bytes_per_second as f64 / 1e6),
            125_000_000.. => write!(f, "{}Gbps", bits / 1e9),
            125_000.. => write!(f, "{}Mbps", bits / 1e6),
            _ => write!(f, "{}kbps", bits / 1e3),
        }
    }
}

/// A TCP or UDP port: a number or the name of a service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IpPort(pub u16);

impl FromArg for IpPort {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        let number = || parse_integer(text).and_then(|n| u16::try_from(n).ok());
        let named = || scope.port(text).or_else(|| wire::describe::port(text));
        match number().or_else(named).or_else(|| service_port(text)) {
            Some(port) => Ok(IpPort(port)),
            None => parse_error("port", text),
        }
    }
}

/// An annotation of this many bytes: a name, or the offset of its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnnoOf<const SIZE: usize>(pub Anno);

fn anno(text: &str, size: Option<usize>, scope: Scope<'_>) -> Result<Anno, String> {
    let pick = |value: &Value| match value {
        Value::Anno(offset, 0) => Anno::new(*offset, size.unwrap_or(1)),
        Value::Anno(offset, size) => Anno::new(*offset, *size),
        _ => None,
    };
    let named = Anno::named(if text == "VLAN" { "VLAN_TCI" } else { text });
    let named = named.or_else(|| scope.lookup(text, pick));
    let found = match (named, size) {
        (Some(anno), None) => Some(anno),
        (Some(anno), Some(size)) => Some(anno).filter(|anno| anno.size == size),
        (None, size) => parse_integer(text)
            .and_then(|offset| usize::try_from(offset).ok())
            .filter(|&offset| offset < packet::ANNO_BYTES)
            .and_then(|offset| Anno::new(offset, size.unwrap_or(1))),
    };
    found.map_or_else(|| parse_error("annotation", text), Ok)
}

impl<const SIZE: usize> FromArg for AnnoOf<SIZE> {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        anno(text, Some(SIZE), scope).map(AnnoOf)
    }
}

/// An annotation of any size; an offset alone means one byte.
impl FromArg for Anno {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        anno(text, None, scope)
    }
}

/// A name and its suffix after the last colon, in lower case: `gate:eth`.
fn suffixed(text: &str) -> (&str, String) {
    text.rsplit_once(':').map_or((text, String::new()), |(name, suffix)| (name, suffix.to_ascii_lowercase()))
}

fn named_ip(scope: Scope<'_>, name: &str) -> Option<Ipv4Addr> {
    scope.lookup(name, |v| if let Value::Ip(a) = v { Some(*a) } else { None })
}

fn named_prefix(scope: Scope<'_>, name: &str) -> Option<IpMask> {
    scope.lookup(name, |v| match v {
        Value::IpPrefix(addr, len) => Some(IpMask { addr: *addr, mask: wire::net::mask_v4(*len) }),
        _ => None,
    })
}

/// The address and mask of an interface of this machine.
fn interface_prefix(scope: Scope<'_>, name: &str) -> Option<IpMask> {
    let (addr, mask) = (scope.interfaces?.ipv4)(name)?;
    Some(IpMask { addr, mask })
}

/// An IPv4 address, or a name: also `NAME:ip`, `NAME:bcast` (last address of its prefix) and `NAME:gw` (its first host, or an interface's
/// gateway).
impl FromArg for Ipv4Addr {
    const EXPECTED: &'static str = "IP address";

    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        if let Ok(address) = wire::net::parse_ipv4(text) {
            return Ok(address);
        }
        let (name, suffix) = suffixed(text);
        let found = match suffix.as_str() {
            "" | "ip" | "ip4" => {
                named_ip(scope, name).or_else(|| interface_prefix(scope, name).map(|prefix| prefix.addr))
            }
            "bcast" => IpMask::named(scope, name).map(|prefix| prefix.addr | !prefix.mask),
            "gw" => named_ip(scope, text).or_else(|| gateway(scope, name)),
            _ => None,
        };
        found.map_or_else(|| parse_error("IP address", text), Ok)
    }
}

/// The gateway that goes with the name of a prefix or of an interface: the prefix's first host, if no route says another.
fn gateway(scope: Scope<'_>, name: &str) -> Option<Ipv4Addr> {
    let first = |prefix: IpMask| prefix.addr & prefix.mask | Ipv4Addr::from_bits(1);
    let routed = || scope.interfaces.and_then(|interfaces| (interfaces.gateway)(name));
    named_prefix(scope, name).map(first).or_else(routed).or_else(|| interface_prefix(scope, name).map(first))
}

/// An IPv6 address, or a name: also `NAME:ip6`.
impl FromArg for Ipv6Addr {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        if let Ok(address) = text.parse() {
            return Ok(address);
        }
        let (name, suffix) = suffixed(text);
        let pick = |v: &Value| if let Value::Ip6(a) = v { Some(*a) } else { None };
        let found = if matches!(suffix.as_str(), "" | "ip6") { scope.lookup(name, pick) } else { None };
        found.map_or_else(|| parse_error("IPv6 address", text), Ok)
    }
}

/// An Ethernet address, or a name: also `NAME:eth`.
impl FromArg for MacAddr {
    const EXPECTED: &'static str = "Ethernet address";

    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        if let Ok(address) = text.parse() {
            return Ok(address);
        }
        let (name, suffix) = suffixed(text);
        let pick = |v: &Value| if let Value::Ether(a) = v { Some(*a) } else { None };
        let known = matches!(suffix.as_str(), "" | "eth" | "ether" | "ethernet");
        let interface = || (scope.interfaces?.ether)(name);
        let found = if known { scope.lookup(name, pick).or_else(interface) } else { None };
        found.map_or_else(|| parse_error("Ethernet address", text), Ok)
    }
}

/// An IPv4 address and a mask as written: `ADDR/LEN`, `ADDR/MASK`, or the name of a prefix (also `NAME:ipnet`). Host bits
/// stay, and the mask need not be contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpMask {
    /// The address.
    pub addr: Ipv4Addr,
    /// The mask.
    pub mask: Ipv4Addr,
}

impl IpMask {
    fn read(text: &str, scope: Scope<'_>) -> Option<IpMask> {
        if let Ok((addr, mask)) = wire::net::parse_ipv4_and_mask(text) {
            return Some(IpMask { addr, mask });
        }
        if let Some((name, mask)) = text.rsplit_once('/') {
            let addr = Ipv4Addr::from_arg(name, scope).ok()?;
            return match mask.parse::<u8>() {
                Ok(len @ 0..=32) => Some(IpMask { addr, mask: wire::net::mask_v4(len) }),
                _ => Ipv4Addr::from_arg(mask, scope).ok().map(|mask| IpMask { addr, mask }),
            };
        }
        let (name, suffix) = suffixed(text);
        let fits = matches!(suffix.as_str(), "" | "net" | "ipnet" | "ip4net");
        if fits { IpMask::named(scope, name) } else { None }
    }

    /// What a name stands for: a prefix of the configuration's, or that of an interface.
    fn named(scope: Scope<'_>, name: &str) -> Option<IpMask> {
        named_prefix(scope, name).or_else(|| interface_prefix(scope, name))
    }

    fn net(self) -> Option<Ipv4Net> {
        Ipv4Net::new(self.addr, wire::net::mask_len_v4(self.mask)?)
    }
}

impl FromArg for IpMask {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        IpMask::read(text, scope).map_or_else(|| parse_error("IP prefix", text), Ok)
    }
}

/// An IPv4 prefix, host bits cleared: `ADDR/LEN`, `ADDR/MASK`, or the name of one.
impl FromArg for Ipv4Net {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        IpMask::read(text, scope).and_then(IpMask::net).map_or_else(|| parse_error("IP prefix", text), Ok)
    }
}

/// The IPv6 prefix that `ADDR/LEN` or `ADDR/MASK` means where names may stand for the addresses.
fn slashed_ip6(text: &str, scope: Scope<'_>) -> Option<Ipv6Net> {
    let (name, mask) = text.rsplit_once('/')?;
    let addr = Ipv6Addr::from_arg(name, scope).ok()?;
    let len = match mask.parse() {
        Ok(len) => len,
        Err(_) => wire::net::mask_len_v6(Ipv6Addr::from_arg(mask, scope).ok()?)?,
    };
    Ipv6Net::new(addr, len)
}

/// An IPv6 prefix, host bits cleared: `ADDR/LEN`, `ADDR/MASK`, or the name of one (also `NAME:ip6net`).
impl FromArg for Ipv6Net {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        if let Some(net) = text.parse().ok().or_else(|| slashed_ip6(text, scope)) {
            return Ok(net);
        }
        let (name, suffix) = suffixed(text);
        let pick = |v: &Value| if let Value::Ip6Prefix(a, len) = v { Ipv6Net::new(*a, *len) } else { None };
        let found = if matches!(suffix.as_str(), "" | "ip6net") { scope.lookup(name, pick) } else { None };
        found.map_or_else(|| parse_error("IPv6 prefix", text), Ok)
    }
}

/// A prefix where a bare address stands for itself alone, as in route tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetOrHost<N>(pub N);

impl FromArg for NetOrHost<Ipv4Net> {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        // A name may stand for both: then the address is meant, as in Click.
        let address = || Ipv4Addr::from_arg(text, scope).ok().map(Ipv4Net::host);
        let slashed = if text.contains('/') { Ipv4Net::from_arg(text, scope).ok() } else { None };
        let found = slashed.or_else(address).or_else(|| Ipv4Net::from_arg(text, scope).ok());
        found.map_or_else(|| parse_error("IP prefix", text), |net| Ok(NetOrHost(net)))
    }
}

impl FromArg for NetOrHost<Ipv6Net> {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        // The address again, of a name that stands for both.
        let address = Ipv6Addr::from_arg(text, scope).ok().map(Ipv6Net::host);
        let found = address.or_else(|| Ipv6Net::from_arg(text, scope).ok());
        found.map_or_else(|| parse_error("IPv6 prefix", text), |net| Ok(NetOrHost(net)))
    }
}
