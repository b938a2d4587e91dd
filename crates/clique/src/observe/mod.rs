//! What happens to packets: `clique trace`, `drops`, `capture`, `explain` and `runtime`.
//!
//! The router's side is `control::observe`, reached by the control socket; what comes from there is JSON, which is printed here as it is or
//! for people.

pub(crate) mod capture;
pub(crate) mod drops;
mod events;
pub(crate) mod explain;
mod pcapng;
pub(crate) mod runtime;
pub(crate) mod trace;

use crate::console::{self, reason};
use crate::status::Status;
pub(crate) use events::event;
use serde_json::Value;

/// The status of a command with this name.
fn ended(name: &str, done: Result<(), String>) -> Status {
    match done {
        Ok(()) => Status::Fine,
        Err(message) => {
            console::complain(&format!("clique {name}: {}\n", message.trim_end()));
            Status::Failure
        }
    }
}

/// Prints a text; whether it is still read.
fn print(text: &str) -> Result<bool, String> {
    console::print_on(text).map_err(|error| format!("standard output: {}", reason(&error)))
}

/// An object of JSON that a router sent.
fn object(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("unexpected answer: {error}"))
}

/// A member that is a text; empty if there is none.
fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

/// A member that is a number; 0 if there is none.
pub(crate) fn number(value: &Value, name: &str) -> u64 {
    value[name].as_u64().unwrap_or_default()
}

/// Header fields that differ from one view of a packet to the next: `ttl 64 -> 63`.
fn changes(before: &Value, after: &Value) -> Vec<(String, Option<String>, Option<String>)> {
    let (Some(old), Some(new)) = (before["fields"].as_object(), after["fields"].as_object()) else {
        return Vec::new();
    };
    let value = |map: &serde_json::Map<String, Value>, name: &str| map.get(name)?.as_str().map(str::to_owned);
    let mut names: Vec<&String> = old.keys().chain(new.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let differ = |name: &String| (name.clone(), value(old, name), value(new, name));
    names.into_iter().map(differ).filter(|(_, old, new)| old != new).collect()
}

/// The same as a text; headers that come or go as a whole are named once.
fn changes_text(changes: &[(String, Option<String>, Option<String>)]) -> String {
    let mut parts = Vec::new();
    for (name, old, new) in changes {
        let header = name.split('.').next().unwrap_or(name);
        let part = match (old, new) {
            (Some(old), Some(new)) => format!("{name} {old} -> {new}"),
            (None, Some(_)) if header == "eth" => "+ Ethernet header".to_owned(),
            (Some(_), None) if header == "eth" => "- Ethernet header".to_owned(),
            (None, Some(new)) => format!("+ {name} {new}"),
            (Some(old), None) => format!("- {name} {old}"),
            (None, None) => continue,
        };
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    parts.join(", ")
}

/// The bytes of a packet in an event.
pub(crate) fn bytes(packet: &Value) -> Vec<u8> {
    decode(text(packet, "bytes")).unwrap_or_default()
}

/// Reads base64 (RFC 4648, section 4).
fn decode(text: &str) -> Option<Vec<u8>> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for group in text.as_bytes().chunks(4) {
        let digits = group
            .iter()
            .take_while(|byte| **byte != b'=')
            .map(|byte| value(*byte))
            .collect::<Option<Vec<_>>>()?;
        let word =
            digits.iter().fold(0u32, |word, digit| word << 6 | u32::from(*digit)) << (6 * (4 - digits.len()));
        let all = word.to_be_bytes();
        bytes.extend(&all[1..1 + (digits.len() * 6 / 8)]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn base64() {
        for (text, bytes) in
            [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYmFy", "foobar")]
        {
            assert_eq!(decode(text).as_deref(), Some(bytes.as_bytes()), "{text}");
        }
        assert_eq!(decode("Z!=="), None);
    }

    #[test]
    fn what_changed() {
        let before = json!({ "fields": { "ip.ttl": "64", "len": "60", "vlan": "7" } });
        let after =
            json!({ "fields": { "ip.ttl": "63", "len": "74", "eth.src": "a", "eth.dst": "b", "vlan": "7" } });
        assert_eq!(
            changes_text(&changes(&before, &after)),
            "+ Ethernet header, ip.ttl 64 -> 63, len 60 -> 74"
        );
    }
}
