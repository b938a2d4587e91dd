//! Reading an element's arguments, by position and by keyword, with all errors at once.

use crate::config::ConfigError;
use crate::names::{Names, Value};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Duration;
use wire::ethernet::MacAddr;

/// Where an argument is read: names mean something there.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    pub(crate) names: &'a Names,
    pub(crate) element: &'a str,
}

impl Scope<'_> {
    /// What a name stands for here, as far as `pick` accepts it.
    pub fn lookup<T>(&self, name: &str, pick: impl Fn(&Value) -> Option<T>) -> Option<T> {
        self.names.lookup(self.element, name, pick)
    }
}

/// A type of argument.
pub trait FromArg: Sized {
    /// Reads a value from the text of an argument.
    ///
    /// # Errors
    /// What is wrong, as a phrase that follows the argument's name and a colon.
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String>;
}

type Assign<'v> = Box<dyn FnMut(&str, Scope<'_>) -> Result<(), String> + 'v>;

struct Slot<'v> {
    name: &'static str,
    positional: bool,
    mandatory: bool,
    /// Whether a keyword may be given several times.
    repeated: bool,
    assign: Assign<'v>,
}

/// Reads arguments into variables: `args.positional("LIMIT", &mut limit).keyword("STOP", &mut stop).finish()?`.
///
/// An argument that starts with the name of a known keyword and a space belongs to it (also for positional ones);
/// the others are taken by position, in the order of the calls.
pub struct Args<'s, 'v> {
    words: Vec<String>,
    scope: Scope<'s>,
    slots: Vec<Slot<'v>>,
    rest: Option<&'v mut Vec<String>>,
}

impl<'s, 'v> Args<'s, 'v> {
    /// A reader of these arguments.
    pub fn new(words: Vec<String>, scope: Scope<'s>) -> Self {
        Args { words, scope, slots: Vec::new(), rest: None }
    }

    fn slot<T: FromArg>(
        mut self,
        name: &'static str,
        value: &'v mut T,
        positional: bool,
        mandatory: bool,
    ) -> Self {
        let assign = Box::new(move |text: &str, scope: Scope<'_>| {
            *value = T::from_arg(text, scope)?;
            Ok(())
        });
        self.slots.push(Slot { name, positional, mandatory, repeated: false, assign });
        self
    }

    /// A mandatory argument, by position or keyword.
    pub fn required<T: FromArg>(self, name: &'static str, value: &'v mut T) -> Self {
        self.slot(name, value, true, true)
    }

    /// An optional argument, by position or keyword.
    pub fn positional<T: FromArg>(self, name: &'static str, value: &'v mut T) -> Self {
        self.slot(name, value, true, false)
    }

    /// An optional argument, by keyword only.
    pub fn keyword<T: FromArg>(self, name: &'static str, value: &'v mut T) -> Self {
        self.slot(name, value, false, false)
    }

    /// A mandatory argument, by keyword only.
    pub fn required_keyword<T: FromArg>(self, name: &'static str, value: &'v mut T) -> Self {
        self.slot(name, value, false, true)
    }

    /// An optional keyword that may be given several times.
    pub fn keywords<T: FromArg>(mut self, name: &'static str, values: &'v mut Vec<T>) -> Self {
        let assign = Box::new(move |text: &str, scope: Scope<'_>| {
            values.push(T::from_arg(text, scope)?);
            Ok(())
        });
        self.slots.push(Slot { name, positional: false, mandatory: false, repeated: true, assign });
        self
    }

    /// All arguments that no other slot takes, in order.
    pub fn rest(mut self, words: &'v mut Vec<String>) -> Self {
        self.rest = Some(words);
        self
    }

    /// Reads everything.
    ///
    /// # Errors
    /// Every argument that is missing, malformed, unknown or too many.
    pub fn finish(self) -> Result<(), ConfigError> {
        let Args { mut words, scope, mut slots, rest } = self;
        // One trailing empty argument (`Element()`, `Element(a,)`) is none.
        if words.last().is_some_and(|word| word.is_empty()) {
            words.pop();
        }
        let mut errors = Vec::new();
        let mut given: Vec<Vec<String>> = vec![Vec::new(); slots.len()];
        let mut unclaimed = Vec::new();
        for word in words {
            match lang::conf::keyword(&word)
                .and_then(|(key, value)| Some((slots.iter().position(|s| s.name == key)?, value)))
            {
                Some((at, value)) => given[at].push(value.to_owned()),
                None => unclaimed.push(word),
            }
        }
        let mut unclaimed = unclaimed.into_iter().peekable();
        for (slot, given) in slots.iter().zip(&mut given) {
            if slot.positional
                && given.is_empty()
                && let Some(word) = unclaimed.next()
            {
                given.push(word);
            }
        }
        let positions = slots.iter().filter(|slot| slot.positional).count();
        match rest {
            Some(rest) => rest.extend(unclaimed),
            None if unclaimed.peek().is_some() => errors.push(too_many(unclaimed.collect(), positions)),
            None => {}
        }
        for (slot, given) in slots.iter_mut().zip(given) {
            if given.is_empty() && slot.mandatory {
                let what = if slot.positional { "argument" } else { "keyword" };
                errors.push(format!("missing mandatory {} {what}", slot.name));
            }
            let first = if slot.repeated { 0 } else { given.len().saturating_sub(1) };
            for text in &given[first..] {
                if let Err(error) = (slot.assign)(text, scope) {
                    errors.push(format!("{}: {error}", slot.name));
                }
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(ConfigError { messages: errors }) }
    }
}

fn too_many(words: Vec<String>, positions: usize) -> String {
    match lang::conf::keyword(&words[0]) {
        Some((key, _)) => format!("unknown keyword '{key}'"),
        None if positions == 0 => "too many arguments; none expected".to_owned(),
        None => format!("too many arguments; at most {positions} expected"),
    }
}

impl FromArg for String {
    fn from_arg(text: &str, _: Scope<'_>) -> Result<Self, String> {
        Ok(lang::conf::unquote(text))
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
        Ok(Bytes(lang::conf::unquote_bytes(text)))
    }
}

impl<T: FromArg> FromArg for Option<T> {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        T::from_arg(text, scope).map(Some)
    }
}

impl FromArg for bool {
    fn from_arg(text: &str, _: Scope<'_>) -> Result<Self, String> {
        match text {
            "1" | "true" | "t" | "yes" | "y" => Ok(true),
            "0" | "false" | "f" | "no" | "n" => Ok(false),
            _ => Err(format!("'{text}' is no boolean (true or false)")),
        }
    }
}

/// Reads an integer as C does: decimal, `0x` hexadecimal or `0` octal.
pub fn parse_integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    if !digits.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return None;
    }
    let value = i128::from_str_radix(digits, radix).ok()?;
    Some(if negative { -value } else { value })
}

macro_rules! integer {
    ($($type:ty),*) => {$(
        impl FromArg for $type {
            fn from_arg(text: &str, _: Scope<'_>) -> Result<Self, String> {
                let value = parse_integer(text).ok_or_else(|| format!("'{text}' is no integer"))?;
                <$type>::try_from(value).map_err(|_| {
                    format!("{value} is out of range; between {} and {} expected", <$type>::MIN, <$type>::MAX)
                })
            }
        }
    )*};
}
integer!(i8, i16, i32, i64, u8, u16, u32, u64, usize);

impl FromArg for f64 {
    fn from_arg(text: &str, _: Scope<'_>) -> Result<Self, String> {
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => Err(format!("'{text}' is no number")),
        }
    }
}

/// A time span: a number with an optional unit (`s`, `sec`, `ms`, `us`, `ns`, `m`, `min`, `h`), seconds without one.
impl FromArg for Duration {
    fn from_arg(text: &str, _: Scope<'_>) -> Result<Self, String> {
        let text = text.trim();
        let unit_at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
        let (number, unit) = (text[..unit_at].trim(), &text[unit_at..]);
        let scale = match unit {
            "" | "s" | "sec" => 1.0,
            "ms" | "msec" => 1e-3,
            "us" | "usec" => 1e-6,
            "ns" | "nsec" => 1e-9,
            "m" | "min" => 60.0,
            "h" | "hr" => 3600.0,
            "d" | "day" => 86_400.0,
            _ => return Err(format!("'{unit}' is no unit of time")),
        };
        let seconds = number.parse::<f64>().map_err(|_| format!("'{text}' is no time"))? * scale;
        Duration::try_from_secs_f64((seconds * 1e9).round() / 1e9)
            .map_err(|_| format!("'{text}' is no time that can pass"))
    }
}

impl FromArg for Ipv4Addr {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        let named = || {
            scope.lookup(text, |v| match v {
                Value::Ip(a) | Value::IpPrefix(a, _) => Some(*a),
                _ => None,
            })
        };
        text.parse().ok().or_else(named).ok_or_else(|| format!("'{text}' is no IP address"))
    }
}

impl FromArg for Ipv6Addr {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        let named = || {
            scope.lookup(text, |v| match v {
                Value::Ip6(a) | Value::Ip6Prefix(a, _) => Some(*a),
                _ => None,
            })
        };
        text.parse().ok().or_else(named).ok_or_else(|| format!("'{text}' is no IPv6 address"))
    }
}

impl FromArg for MacAddr {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        let named = || {
            scope.lookup(text, |v| match v {
                Value::Ether(a) => Some(*a),
                _ => None,
            })
        };
        text.parse().ok().or_else(named).ok_or_else(|| format!("'{text}' is no Ethernet address"))
    }
}

/// A handler call as an argument: `ELEMENT.HANDLER [VALUE]`, or a global handler's name; a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallArg(pub crate::control::Call);

impl FromArg for CallArg {
    fn from_arg(text: &str, _: Scope<'_>) -> Result<Self, String> {
        let mut rest = text.trim();
        let path = lang::conf::pop_space(&mut rest);
        if path.is_empty() {
            return Err("handler name expected".to_owned());
        }
        Ok(CallArg(crate::control::Call::write(path, rest.trim())))
    }
}

/// Reads a value that was written to a handler of the element that runs.
///
/// # Errors
/// What is wrong with it.
pub fn value<T: FromArg>(cx: &crate::Cx<'_>, text: &str) -> Result<T, String> {
    T::from_arg(text.trim(), Scope { names: cx.info().names(), element: cx.name() })
}
