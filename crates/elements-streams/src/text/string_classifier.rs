//! Classifies packets by the strings that they contain.
//!
//! ```click
//! StringClassifier(STRING1, ..., STRINGN)
//! ```
//!
//! A packet leaves by the output of the string that ends first in it; if several end there, by that of the longest. A
//! packet that contains none of them leaves by the output after those of the strings, or is dropped if there is none.
//!
//! All strings together cost one pass through a packet. StringClassifierMP is another name. They are FastClick's elements.
//!
//! Ports: 1 input, any number of outputs. Processing: push. Workers: replicated; counts add up.
//!
//! # Handlers
//! - `matches` (read): packets in which a string occurred.
//! - `reset_count` (write, button): sets `matches` to 0.
//! - `config` (read, write): the strings.
//!
//! # Example
//! ```click
//! InfiniteSource(DATA "some text", LIMIT 1) -> s :: StringClassifier("word", "text");
//! s[0] -> Discard; s[1] -> Print -> Discard; s[2] -> Discard
//! ```
//!
//! # See also
//! StringMatcher, RegexClassifier, Classifier

use super::strings::Strings;
use elements_shared::arguments;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Merge, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("StringClassifier", create)
    .ports("1/-")
    .processing("h/h")
    .doc(router::manual!("string_classifier.rs"));
struct StringClassifier {
    config: String,
    strings: Strings,
    matches: u64,
    outputs: usize,
}

fn read(text: &str, mut warn: impl FnMut(&str)) -> Result<Strings, ConfigError> {
    let given: Vec<Vec<u8>> = arguments::split(text).iter().map(|s| lang::conf::unquote_bytes(s)).collect();
    Strings::new(&given, |place| warn(&format!("Pattern {place} is a duplicate")))
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let text = config.text().to_owned();
    let strings = read(&text, |warning| config.warn(warning))?;
    let outputs = config.outputs();
    Ok(Box::new(PerPacket(StringClassifier { config: text, strings, matches: 0, outputs })))
}

impl Simple for StringClassifier {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let found = self.strings.find(packet.data());
        self.matches += u64::from(found.is_some());
        match found.unwrap_or(self.strings.count()) {
            output if output < self.outputs => Verdict::Output(output),
            _ => Verdict::Drop("no pattern matches"),
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("matches", |e: &mut StringClassifier, _| e.matches).merged(Merge::Sum);
        h.write("reset_count", |e: &mut StringClassifier, _, _| {
            e.matches = 0;
            Ok(())
        })
        .as_button();
        h.read("config", |e: &mut StringClassifier, _| e.config.clone());
        h.write("config", |e: &mut StringClassifier, cx, text| {
            e.strings = read(text, |warning| cx.warn(warning)).map_err(|error| error.to_string())?;
            e.config = text.to_owned();
            Ok(())
        });
    }
}
