//! Diverts packets that contain one of several strings.
//!
//! ```click
//! StringMatcher(STRING1, ..., STRINGN)
//! ```
//!
//! A packet that contains one of the strings leaves by output 1, or is dropped if there is none. Others leave by
//! output 0.
//!
//! Strings are taken literally, including any quotes. All of them together cost one pass through a packet.
//! StringMatcherMP is another name. They are FastClick's elements.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic, output 1 push. Workers: replicated; counts add up.
//!
//! # Handlers
//! - `matches` (read): packets in which a string occurred.
//! - `reset_count` (write, button): sets `matches` to 0.
//! - `config` (read, write): the strings.
//!
//! # Example
//! ```click
//! InfiniteSource(DATA "some text", LIMIT 1) -> s :: StringMatcher(text, word) -> Discard; s[1] -> Print -> Discard
//! ```
//!
//! # See also
//! StringClassifier, RegexMatcher, Search, Classifier

use super::strings::Strings;
use elements_shared::arguments;
use elements_shared::verdict::reject;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Merge, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("StringMatcher", create)
    .ports("1/1-2")
    .processing("a/ah")
    .doc(router::manual!("string_matcher.rs"));
/// FastClick's words, which lack the number.
const DUPLICATE: &str = "Pattern #d is a duplicate";

struct StringMatcher {
    config: String,
    strings: Strings,
    matches: u64,
    second: bool,
}

fn read(text: &str, mut warn: impl FnMut(&str)) -> Result<Strings, ConfigError> {
    let given: Vec<Vec<u8>> = arguments::split(text).into_iter().map(String::into_bytes).collect();
    Strings::new(&given, |_| warn(DUPLICATE))
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let text = config.text().to_owned();
    let strings = read(&text, |warning| config.warn(warning))?;
    Ok(Box::new(PerPacket(StringMatcher { config: text, strings, matches: 0, second: config.outputs() > 1 })))
}

impl Simple for StringMatcher {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if self.strings.find(packet.data()).is_none() {
            return Verdict::Pass;
        }
        self.matches += 1;
        reject(self.second, "text found")
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("matches", |e: &mut StringMatcher, _| e.matches).merged(Merge::Sum);
        h.write("reset_count", |e: &mut StringMatcher, _, _| {
            e.matches = 0;
            Ok(())
        })
        .as_button();
        h.read("config", |e: &mut StringMatcher, _| e.config.clone());
        h.write("config", |e: &mut StringMatcher, cx, text| {
            e.strings = read(text, |warning| cx.warn(warning)).map_err(|error| error.to_string())?;
            e.config = text.to_owned();
            Ok(())
        });
    }
}
