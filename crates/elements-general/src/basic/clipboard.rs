//! Copies data from one packet to others.
//!
//! ```click
//! Clipboard(RANGE, ...)
//! ```
//!
//! Remembers the ranges of each packet that passes from input 0 to output 0, and writes them over the same ranges of
//! packets that pass from input 1 to output 1. If a packet at input 0 is too short, the missing bytes count as zeros.
//! Packets at input 1 that end before the end of the last range pass unchanged, as do those that arrive before any
//! packet at input 0.
//!
//! Ports: 2 inputs, 2 outputs. Processing: agnostic. Workers: exclusive.
//!
//! # Arguments
//! Each argument is a range `OFFSET/LENGTH`.
//!
//! # Example
//! ```click
//! c :: Clipboard(0/6, 12/2);
//! Idle -> [0] c [0] -> Discard;
//! Idle -> [1] c [1] -> Discard;
//! ```
//!
//! # See also
//! StoreData, Strip

use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element, FromArg, Pull, Residency, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("Clipboard", create)
    .ports("2/2")
    .flow("#/#")
    .residency(Residency::Exclusive)
    .live()
    .doc(router::manual!("clipboard.rs"));

/// No packet is longer than this.
const LONGEST: usize = 1 << 17;

struct Range {
    start: usize,
    bytes: Vec<u8>,
}

impl Range {
    fn end(&self) -> usize {
        self.start + self.bytes.len()
    }
}

struct Clipboard {
    ranges: Vec<Range>,
    /// The least length of a packet that is written to.
    least: usize,
    filled: bool,
}

/// Reads the range of argument `i`.
fn read_range(config: &Config<'_>, i: usize, text: &str) -> Result<Range, ConfigError> {
    let sides = text.split_once('/').filter(|(offset, length)| !offset.is_empty() && !length.is_empty());
    let Some((offset, length)) = sides else {
        return Err(format!("range {i}: expected '/' between offset and length").into());
    };
    let [start, len] = [offset, length].map(|word| u32::from_arg(word.trim(), config.scope()));
    match (start, len) {
        (Ok(start), Ok(len)) if start as usize <= LONGEST && len as usize <= LONGEST => {
            Ok(Range { start: start as usize, bytes: vec![0; len as usize] })
        }
        (start, len) => {
            let wrong = [("OFFSET", start.err()), ("LENGTH", len.err())];
            let wrong =
                wrong.into_iter().filter_map(|(name, error)| error.map(|error| format!("{name}: {error}")));
            let messages: Vec<String> =
                wrong.chain([format!("range {i}: invalid offset or length")]).collect();
            Err(ConfigError::from(messages))
        }
    }
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let words = lang::conf::split_args(config.text());
    let ranges = words.iter().enumerate().map(|(i, word)| read_range(config, i, word));
    let ranges: Vec<Range> = ranges.collect::<Result<_, _>>()?;
    let least = ranges.iter().map(Range::end).max().unwrap_or(0);
    Ok(Box::new(Clipboard { ranges, least, filled: false }))
}

impl Clipboard {
    #[inline]
    fn treat(&mut self, port: usize, packet: &mut Packet) {
        match port {
            0 => self.copy(packet),
            _ => self.paste(packet),
        }
    }

    fn copy(&mut self, packet: &Packet) {
        for Range { start, bytes } in &mut self.ranges {
            let found = packet.data().get(*start..).unwrap_or_default();
            let len = found.len().min(bytes.len());
            bytes[..len].copy_from_slice(&found[..len]);
            bytes[len..].fill(0);
        }
        self.filled = true;
    }

    fn paste(&self, packet: &mut Packet) {
        if !self.filled || packet.len() < self.least {
            return;
        }
        for range in &self.ranges {
            packet.data_mut()[range.start..range.end()].copy_from_slice(&range.bytes);
        }
    }

    fn treat_all(&mut self, port: usize, batch: &mut Batch) {
        batch.iter_mut().for_each(|packet| self.treat(port, packet));
    }
}

impl Element for Clipboard {
    fn push_one(&mut self, _cx: &mut Cx<'_>, port: usize, packet: &mut Packet) -> Option<Verdict> {
        self.treat(port, packet);
        Some(Verdict::Output(port))
    }

    fn push(&mut self, cx: &mut Cx<'_>, port: usize, mut batch: Batch) {
        self.treat_all(port, &mut batch);
        cx.emit(port, batch);
    }

    fn pull(&mut self, _cx: &mut Cx<'_>, port: usize, want: usize) -> Pull {
        Pull::Ask { input: port, want }
    }

    fn pulled(&mut self, _cx: &mut Cx<'_>, port: usize, mut batch: Batch) -> Pull {
        self.treat_all(port, &mut batch);
        Pull::Give(batch)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;
    use crate::testing::send_singly;

    #[test]
    fn pastes_the_ranges_of_the_last_packet() {
        let config =
            "Inject -> t :: Classifier(0/61, -); t[0] -> [0] c :: Clipboard(1/2, 4/1); t[1] -> [1] c;
                      c[0] -> Collect(0); c[1] -> Collect(1)";
        let bytes = |text: &str| text.as_bytes().to_vec();
        let flow = send_singly(config, ["b12345", "a12345", "bxxxxxx", "bxxx", "a1", "bxxxx"].map(bytes));
        assert_eq!(flow.data(0), ["a12345", "a1"].map(bytes));
        assert_eq!(flow.data(1), ["b12345", "b12x4xx", "bxxx", "b1\0x\0"].map(bytes));
    }

    #[test]
    fn the_first_wrong_range_is_told() {
        let with = |ranges: &str| {
            errors(&format!(
                "c :: Clipboard({ranges}); Idle -> [0]c[0] -> Discard; Idle -> [1]c[1] -> Discard"
            ))
        };
        for half in ["1, 2/x", "/2", "2/"] {
            let said = with(half);
            assert!(said.contains("range 0: expected '/' between") && !said.contains("range 1"), "{said}");
        }
        let said = with("3/4, 2/x");
        assert!(said.contains("LENGTH: ") && said.contains("range 1: invalid offset or length"), "{said}");
    }
}
