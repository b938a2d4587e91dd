//! Prints packets.
//!
//! ```click
//! Print([LABEL, MAXLENGTH, KEYWORDS])
//! ```
//!
//! Writes a line for each packet to standard error: the label, the packet's length, and the first bytes of its data.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `LABEL` (string): text at the start of each line.
//! - `MAXLENGTH` (integer, default 24): bytes of data to print; negative means all. `LENGTH` and `NBYTES` are deprecated names.
//! - `CONTENTS` (`NONE`, `HEX` or `ASCII`, or a boolean, default `HEX`): how to print the data.
//! - `TIMESTAMP` (boolean, default false): whether to print the packet's timestamp.
//! - `PRINTANNO` (boolean, default false): whether to print the annotations, in hexadecimal.
//! - `HEADROOM` (boolean, default false): whether to print the number of free bytes before and after the data.
//! - `CPU` (boolean, default false): whether to print the number of the worker after the label.
//! - `ACTIVE` (boolean, default true): whether to print anything.
//!
//! # Handlers
//! - `active` (read, write): the argument.
//!
//! # Example
//! ```click
//! InfiniteSource(LIMIT 5) -> Print(p, TIMESTAMP true) -> Discard
//! ```
//!
//! # See also
//! IPPrint

use elements_shared::label::write_time;
use packet::Packet;
use router::{
    Class, Config, ConfigError, Cx, Decision, Element, Flags, Handlers, Look, PerPacket, Simple, Verdict,
};
use std::fmt::Write;

/// The class.
pub(crate) const CLASS: Class = Class::new("Print", create).live().doc(router::manual!("print.rs"));

/// How to print bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contents {
    None,
    Hex,
    Ascii,
}

impl Contents {
    /// What the argument `CONTENTS` says: a name in letters of either case, or a boolean.
    ///
    /// # Errors
    /// Something else; the message is not preceded by the argument's name.
    pub(crate) fn named(word: &str) -> Result<Contents, String> {
        match (router::parse_boolean(word), word.to_ascii_uppercase().as_str()) {
            (Some(true), _) | (_, "HEX") => Ok(Contents::Hex),
            (Some(false), _) | (_, "NONE") => Ok(Contents::None),
            (_, "ASCII") => Ok(Contents::Ascii),
            (_, word) => Err(format!("bad contents value '{word}'; should be 'NONE', 'HEX', or 'ASCII'")),
        }
    }

    /// Appends a byte.
    pub(crate) fn write_byte(self, line: &mut String, byte: u8) {
        match self {
            Contents::None => {}
            Contents::Hex => {
                let digit = |value: u8| char::from(if value < 10 { b'0' + value } else { b'a' + value - 10 });
                line.push(digit(byte >> 4));
                line.push(digit(byte & 15));
            }
            Contents::Ascii => line.push(if (32..=126).contains(&byte) { char::from(byte) } else { '.' }),
        }
    }
}

struct Print {
    label: String,
    length: i32,
    contents: Contents,
    timestamp: bool,
    annotations: bool,
    headroom: bool,
    cpu: bool,
    active: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = Print {
        label: String::new(),
        length: 24,
        contents: Contents::Hex,
        timestamp: false,
        annotations: false,
        headroom: false,
        cpu: false,
        active: true,
    };
    let (mut length, mut nbytes, mut contents) = (None, None, "HEX".to_owned());
    config
        .args()
        .positional("LABEL", &mut e.label)
        .positional("MAXLENGTH", &mut e.length)
        .keyword("LENGTH", &mut length)
        .keyword("NBYTES", &mut nbytes)
        .keyword("CONTENTS", &mut contents)
        .keyword("TIMESTAMP", &mut e.timestamp)
        .keyword("PRINTANNO", &mut e.annotations)
        .keyword("ACTIVE", &mut e.active)
        .keyword("HEADROOM", &mut e.headroom)
        .keyword("CPU", &mut e.cpu)
        .finish()?;
    for (name, old) in [("LENGTH", length), ("NBYTES", nbytes)] {
        if old.is_some() {
            config.warn(format!("{name}: argument deprecated"));
        }
    }
    e.contents = Contents::named(&contents)?;
    e.length = nbytes.or(length).unwrap_or(e.length);
    Ok(Box::new(PerPacket(e)))
}

impl Print {
    fn line(&self, worker: usize, packet: &Packet) -> String {
        let mut line = self.label.clone();
        if self.cpu {
            let _ = write!(line, "({worker})"); // writing to a string does not fail
        }
        let mut separator = if line.is_empty() { "" } else { ": " };
        if self.timestamp {
            line.push_str(separator);
            write_time(&mut line, packet.timestamp_ns());
            separator = ": ";
        }
        let _ = write!(line, "{separator}{:4}", packet.len());
        if self.headroom {
            let _ = write!(line, " (h{} t{})", packet.headroom(), packet.tailroom());
        }
        if self.annotations {
            line.push_str(" | ");
            packet.annotations().iter().for_each(|&byte| Contents::Hex.write_byte(&mut line, byte));
        }
        self.write_data(&mut line, packet.data());
        line
    }

    fn write_data(&self, line: &mut String, data: &[u8]) {
        let length = usize::try_from(self.length).unwrap_or(usize::MAX).min(data.len());
        if self.contents == Contents::None || length == 0 {
            return;
        }
        line.push_str(" | ");
        for (i, &byte) in data[..length].iter().enumerate() {
            let gap = match self.contents {
                Contents::Hex => i > 0 && i % 4 == 0,
                _ => i % 8 == 0,
            };
            if gap {
                line.push(' ');
            }
            self.contents.write_byte(line, byte);
        }
    }
}

impl Simple for Print {
    fn explain(&self, _look: &Look<'_>, _packet: &mut Packet) -> Option<Decision> {
        Some(Decision::new(Verdict::Pass, ""))
    }

    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if self.active {
            cx.print(&self.line(cx.worker(), packet));
        }
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("active", |e: &mut Print, _| e.active).flagged(Flags::CHECKBOX);
        h.write("active", |e: &mut Print, cx, text| {
            e.active = router::value(cx, text)?;
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run};

    fn printed(data: &str, arguments: &str) -> String {
        run(&format!("InfiniteSource(DATA {data}, LIMIT 1, STOP true) -> Print({arguments}) -> Discard"))
    }

    #[test]
    fn keywords_add_their_parts_to_the_line() {
        let data = "\\<00 01 02 03 04 05 06 07 08 09>";
        assert_eq!(printed(data, ""), "  10 | 00010203 04050607 0809\n");
        assert_eq!(printed(data, "\"x y\", 5"), "x y:   10 | 00010203 04\n");
        assert_eq!(printed(data, "\"a\", NBYTES 2"), "a:   10 | 0001\n");
        assert_eq!(printed(data, "a, 1, CPU true"), "a(0):   10 | 00\n");
        assert_eq!(printed(data, "MAXLENGTH 0, TIMESTAMP true"), "1000000000.000000:   10\n");
        assert_eq!(printed(data, "l, CONTENTS false, TIMESTAMP 1"), "l: 1000000000.000000:   10\n");
        assert_eq!(printed("\"hello world\"", "CONTENTS ascii"), "  11 |  hello wo rld\n");
        assert_eq!(printed(data, "CONTENTS ASCII, MAXLENGTH -1"), "  10 |  ........ ..\n");
        let annotations = "00".repeat(48);
        assert_eq!(printed("a", "PRINTANNO true"), format!("   1 | {annotations} | 61\n"));
        assert_eq!(printed(data, "ACTIVE false"), "");
        assert!(printed("a", "HEADROOM true").starts_with("   1 (h128 t"));
    }

    #[test]
    fn long_data_is_cut() {
        let line = printed("\"0123456789012345678901234567890123456789\"", "");
        assert_eq!(line, "  40 | 30313233 34353637 38393031 32333435 36373839 30313233\n");
    }

    #[test]
    fn bad_contents() {
        let said = errors("Idle -> Print(CONTENTS octal) -> Discard");
        assert!(said.contains("  bad contents value 'OCTAL'; should be 'NONE', 'HEX', or 'ASCII'"), "{said}");
    }
}
