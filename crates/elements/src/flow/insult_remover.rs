//! Takes words out of TCP streams.
//!
//! ```click
//! InsultRemover([REPLACE, CLOSECONNECTION,] WORD word1, WORD word2, ...)
//! ```
//!
//! Does for all words what a WordMatcher with ALL does in MODE MASK, or MODE REMOVE if REPLACE is false, or MODE
//! CLOSE if CLOSECONNECTION is true. It is FastClick's element, an older one than WordMatcher.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: one, that of the TCPIn.
//!
//! # Arguments
//! - `REPLACE` (boolean, default true): whether asterisks stand in the place of words.
//! - `CLOSECONNECTION` (boolean, default false): whether the connection is closed where there is a word.
//! - `WORD` (string): a word of at most 1024 bytes; as often as there are words, at least once.
//!
//! # Handlers
//! - `found` (read): words that were found. FastClick has no handler for it.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> c :: IPClassifier(dst tcp port 80, src tcp port 80);
//! c[0] -> in :: TCPIn(RETURNNAME back) -> TCPOut -> Discard;
//! c[1] -> back :: TCPIn(RETURNNAME in) -> InsultRemover(WORD fool, WORD rogue) -> TCPOut -> Discard;
//! ```
//!
//! # Differences from FastClick
//! Its older versions, which know insults by themselves, are not imitated; and it puts no message in the place of a page.
//!
//! # See also
//! WordMatcher, TCPIn, TCPOut, HTTPIn

use super::word_filter::{Mode, Rules, create as create_filter};
use super::words::Words;
use router::{Bytes, Class, Config, ConfigError, Element, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("InsultRemover", create)
    .processing("h/h")
    .residency(Residency::Exclusive)
    .doc(include_str!("insult_remover.rs"));

/// How long packets wait for the rest of a word.
const TIMEOUT_NS: i64 = 1_000_000_000;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut given, mut replaces, mut closes): (Vec<Bytes>, _, _) = (Vec::new(), true, false);
    config
        .args()
        .keywords("WORD", &mut given)
        .positional("REPLACE", &mut replaces)
        .positional("CLOSECONNECTION", &mut closes)
        .finish()?;
    let mode = match (closes, replaces) {
        (true, _) => Mode::Close,
        (false, true) => Mode::Mask,
        (false, false) => Mode::Remove,
    };
    let words = Words::new(given.into_iter().map(|Bytes(word)| word).collect())?;
    create_filter(
        config,
        Rules { words, mode, all: true, quiet: true, message: Vec::new(), timeout_ns: TIMEOUT_NS },
    )
}
