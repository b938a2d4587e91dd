//! Removes words from TCP streams.
//!
//! ```click
//! InsultRemover([REPLACE, CLOSECONNECTION,] WORD word1, WORD word2, ...)
//! ```
//!
//! Does for all words what a WordMatcher with ALL does in MODE MASK, or in MODE REMOVE if REPLACE is false, or in
//! MODE CLOSE if CLOSECONNECTION is true. It is FastClick's element, and older than WordMatcher.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: one, that of the TCPIn.
//!
//! # Arguments
//! - `REPLACE` (boolean, default true): whether to replace words by asterisks.
//! - `CLOSECONNECTION` (boolean, default false): whether to close the connection when a word is found.
//! - `WORD` (string): a word of at most 1024 bytes; once for each word, at least once.
//!
//! # Handlers
//! - `found` (read): words found. FastClick has no such handler.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> c :: IPClassifier(dst tcp port 80, src tcp port 80);
//! c[0] -> in :: TCPIn(RETURNNAME back) -> TCPOut -> Discard;
//! c[1] -> back :: TCPIn(RETURNNAME in) -> InsultRemover(WORD fool, WORD rogue) -> TCPOut -> Discard;
//! ```
//!
//! # Differences from FastClick
//! Its older versions, which have a built-in list of insults, are not imitated; and it does not replace a page by a
//! message.
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
