//! Searches TCP streams for words.
//!
//! ```click
//! WordMatcher([MODE, MSG,] WORD word1, WORD word2, ... [, KEYWORDS])
//! ```
//!
//! Goes between a TCPIn and its TCPOut and searches the data of the stream for words, also across packet boundaries.
//! After an HTTPIn, it searches only the bodies of messages. What happens when a word is found depends on MODE:
//!
//! - `ALERT`: a line "Attack found !" is printed on standard error, unless QUIET; the stream is not changed.
//! - `CLOSE`: the connection is closed on both sides; the packet in which the word ends is not delivered.
//! - `MASK`: the word is replaced by asterisks.
//! - `REPLACE`: the word is replaced by MSG, cut or repeated to the length of the word.
//! - `REMOVE`: the word is removed.
//! - `FULL`: the word is replaced by MSG, whatever its length.
//!
//! If the mode changes streams, a packet whose last bytes may be the beginning of a word waits until the next one
//! arrives, or the stream or, after an HTTPIn, the message ends. Meanwhile, the sender gets no acknowledgement for
//! its data. If nothing arrives for TIMEOUT, packets go on unchanged, so that a sender that waits for an answer gets
//! one; this also means that a sender can get a word through by pausing within it, unless TIMEOUT is 0. At most 64
//! packets of one stream can wait, and in total as many as the TCPIn's WAITING; beyond that, the connection is
//! closed.
//!
//! If words overlap, the one that begins first counts; if several begin at the same place, the one listed first. It
//! is FastClick's element.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: one, that of the TCPIn.
//!
//! # Arguments
//! - `MODE` (default MASK): as above.
//! - `MSG` (string, default an HTML text "Blocked content !" in red): the replacement for words.
//! - `WORD` (string): a word of at most 1024 bytes; once for each word, at least once.
//! - `ALL` (boolean, default false): whether to handle all occurrences, or only the first of each word in the data
//!   searched at a time, usually one packet.
//! - `QUIET` (boolean, default false): whether MODE ALERT only counts, and prints nothing.
//! - `TIMEOUT` (seconds, default 1): how long a packet waits when nothing arrives; 0 means forever. FastClick has no
//!   timeout.
//!
//! # Handlers
//! - `found` (read): words found.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> c :: IPClassifier(dst tcp port 80, src tcp port 80);
//! c[0] -> in :: TCPIn(RETURNNAME back) -> w :: WordMatcher(WORD attack, WORD bomb, MODE MASK, ALL true) -> TCPOut -> Discard;
//! c[1] -> back :: TCPIn(RETURNNAME in) -> TCPOut -> Discard;
//! ```
//!
//! # Differences from FastClick
//! FastClick searches for one word after the other, each in the result of the previous replacements. It acknowledges
//! the data that it holds, and holds it without limit. In MODE ALERT and CLOSE nothing waits here. A TCPIn is
//! required: packets are not searched individually.
//!
//! # See also
//! TCPIn, TCPOut, HTTPIn, HTTPOut, CTXIDSMatcher, StringMatcher

use super::word_filter::{Mode, Rules, create as create_filter};
use super::words::Words;
use router::{Bytes, Class, Config, ConfigError, Element, Residency};
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("WordMatcher", create)
    .processing("h/h")
    .residency(Residency::Exclusive)
    .holds_jointly("packets of TCP streams")
    .doc(router::manual!("word_matcher.rs"));

/// What words are replaced by if nothing else is said.
const MESSAGE: &[u8] = b"<font color='red'>Blocked content !</font><br />";

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut mode, mut message) = ("MASK".to_owned(), Bytes(MESSAGE.to_vec()));
    let (mut given, mut all, mut quiet): (Vec<Bytes>, _, _) = (Vec::new(), false, false);
    let mut timeout = Duration::from_secs(1);
    config
        .args()
        .keywords("WORD", &mut given)
        .positional("MODE", &mut mode)
        .positional("MSG", &mut message)
        .keyword("ALL", &mut all)
        .keyword("QUIET", &mut quiet)
        .keyword("TIMEOUT", &mut timeout)
        .finish()?;
    let mode = match &*mode {
        "ALERT" => Mode::Alert,
        "CLOSE" => Mode::Close,
        "MASK" => Mode::Mask,
        "REPLACE" => Mode::Replace,
        "REMOVE" => Mode::Remove,
        "FULL" => Mode::Full,
        _ => return Err("Mode must be MASK, REMOVE, REPLACE, ALERT, CLOSE or FULL".into()),
    };
    let message = message.0;
    if message.is_empty() && mode == Mode::Replace {
        return Err("MSG: should not be empty".into());
    }
    let words = Words::new(given.into_iter().map(|Bytes(word)| word).collect())?;
    let timeout_ns = i64::try_from(timeout.as_nanos()).unwrap_or(i64::MAX / 4);
    create_filter(config, Rules { words, mode, all, quiet, message, timeout_ns })
}
