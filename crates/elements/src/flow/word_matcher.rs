//! Looks for words in TCP streams.
//!
//! ```click
//! WordMatcher([MODE, MSG,] WORD word1, WORD word2, ... [, KEYWORDS])
//! ```
//!
//! Stands between a TCPIn and its TCPOut and looks for words in the data of the stream, also where they begin in one
//! packet and end in the next. With HTTPIn in front of it, it looks at the content of messages only. What happens
//! where a word is found depends on MODE:
//!
//! - `ALERT`: a line "Attack found !" on standard error, unless QUIET; streams stay as they are.
//! - `CLOSE`: the connection is closed on both sides; the packet in which the word ends does not arrive.
//! - `MASK`: asterisks stand in its place.
//! - `REPLACE`: MSG stands in its place, cut or repeated to the length of the word.
//! - `REMOVE`: it is taken out.
//! - `FULL`: MSG is put in its place, whatever its length.
//!
//! Where the mode changes streams, a packet whose last bytes may be the beginning of a word waits until the next one
//! tells, or the stream ends; behind an HTTPIn, the message. The sender is not told meanwhile that its data has
//! arrived. If nothing comes for TIMEOUT, packets go on as they are, so that a sender that waits for an answer gets
//! one; one that makes a pause within a word gets it through then, unless TIMEOUT is 0. Of a stream 64 packets can
//! wait, and of all as many as the TCPIn's WAITING says; where there are more, the connection is closed.
//!
//! Of words that overlap, the one counts that begins first, and of those that begin at the same place the one that is
//! given first. It is FastClick's element.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: one, that of the TCPIn.
//!
//! # Arguments
//! - `MODE` (default MASK): as above.
//! - `MSG` (string, default an HTML text "Blocked content !" in red): what words are replaced by.
//! - `WORD` (string): a word of at most 1024 bytes; as often as there are words, at least once.
//! - `ALL` (boolean, default false): whether all words count, or of each only the first of what is looked through at
//!   once, which is a packet as a rule.
//! - `QUIET` (boolean, default false): whether MODE ALERT says nothing, and only counts.
//! - `TIMEOUT` (seconds, default 1): how long a packet waits when nothing comes; 0 for ever. FastClick has none.
//!
//! # Handlers
//! - `found` (read): words that were found.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> c :: IPClassifier(dst tcp port 80, src tcp port 80);
//! c[0] -> in :: TCPIn(RETURNNAME back) -> w :: WordMatcher(WORD attack, WORD bomb, MODE MASK, ALL true) -> TCPOut -> Discard;
//! c[1] -> back :: TCPIn(RETURNNAME in) -> TCPOut -> Discard;
//! ```
//!
//! # Differences from FastClick
//! FastClick looks for one word after the other, each in what is left of the ones before. It acknowledges what it
//! holds, and holds it without an end. In MODE ALERT and CLOSE nothing waits here. It needs a TCPIn: packets are not
//! looked at singly.
//!
//! # See also
//! InsultRemover, TCPIn, TCPOut, HTTPIn, HTTPOut, CTXIDSMatcher, StringMatcher

use super::word_filter::{Mode, Rules, create as create_filter};
use super::words::Words;
use router::{Bytes, Class, Config, ConfigError, Element, Residency};
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("WordMatcher", create)
    .processing("h/h")
    .residency(Residency::Exclusive)
    .doc(include_str!("word_matcher.rs"));

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
