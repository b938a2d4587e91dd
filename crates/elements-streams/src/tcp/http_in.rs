//! Start of a path that processes HTTP.
//!
//! ```click
//! HTTPIn([KEYWORDS])
//! ```
//!
//! Goes between a TCPIn and its TCPOut, separates the headers and bodies of HTTP/1 messages, both requests and
//! responses, and changes headers. After it, up to an HTTPOut, elements such as WordMatcher see only bodies, and know
//! where they end. Each packet that leaves it belongs entirely to a header, or to the body of one message.
//!
//! Messages may begin and end anywhere, and a connection may carry many of them. The end of a body is determined by
//! Content-Length, by chunks, or by the end of the stream. If headers are to be changed, an incomplete line that may
//! be affected waits. Data after a CONNECT, or after a 101 response, is not HTTP and passes as body.
//!
//! Connections are closed if they carry anything else, or if the form of a message is ambiguous: a line longer than
//! 16384 bytes, a field without a name, several different lengths, or a length together with chunks.
//!
//! It is FastClick's element.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: one, that of the TCPIn.
//!
//! # Arguments
//! - `HTTP10` (boolean, default false): whether to declare messages as HTTP/1.0. With BUFFER 0 it also removes
//!   `Connection: keep-alive` from headers, and Content-Length from responses, so that their body ends with the
//!   connection; requests must then pass through an HTTPIn with HTTP10 too.
//! - `NOENC` (boolean, default false): whether to remove Accept-Encoding, so that servers do not compress bodies.
//! - `BUFFER` (integer, default 65536): the HTTPOut holds bodies of up to this many bytes in order to announce their
//!   new length; 0 for never.
//! - `RESIZE_METHOD` (`fill_end` or `fill`, with BUFFER 0 only): how bodies keep the announced length; see HTTPOut.
//! - `VERBOSE`: accepted.
//!
//! # Handlers
//! - `messages` (read): messages whose headers have been received. FastClick has no such handler.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> c :: IPClassifier(dst tcp port 80, src tcp port 80);
//! c[0] -> in :: TCPIn(RETURNNAME back) -> HTTPIn(NOENC true) -> HTTPOut -> TCPOut -> Discard;
//! c[1] -> back :: TCPIn(RETURNNAME in) -> HTTPIn -> WordMatcher(WORD attack) -> HTTPOut -> TCPOut -> Discard;
//! ```
//!
//! # Differences from FastClick
//! FastClick requires each header to be in one packet. Whether a response belongs to a HEAD request, or to an
//! HTTP/1.0 request, is known only if requests pass through an HTTPIn as well.
//!
//! # See also
//! HTTPOut, WordMatcher, TCPIn

use super::editing::{Editing, Editor, Http, Next, Outcome, Ready, Watch, Whole};
use super::held::{Edits, NoRoom};
use super::http::{Malformed, Reader, name_and_value};
use super::messages::Kind;
use packet::{Packet, Pool};
use router::{Class, Config, ConfigError, Element, Handlers, Residency};
use std::ops::Range;

/// The class.
pub(crate) const CLASS: Class = Class::new("HTTPIn", create)
    .processing("h/h")
    .residency(Residency::Exclusive)
    .makes("parts of packets")
    .holds_jointly("packets of TCP streams")
    .doc(router::manual!("http_in.rs"));

/// How contents keep their length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fill {
    /// At the end.
    End,
    /// In each packet.
    Packets,
}

/// What is to be done about heads and lengths; HTTPOut shares it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    pub(super) is_old: bool,
    pub(super) hides_encodings: bool,
    /// Bytes of content that may wait.
    pub(super) buffer: u64,
    pub(super) fill: Option<Fill>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut is_old, mut hides_encodings, mut buffer) = (false, false, 65536u64);
    let (mut method, mut verbose) = ("unset".to_owned(), false);
    config
        .args()
        .keyword("HTTP10", &mut is_old)
        .keyword("NOENC", &mut hides_encodings)
        .keyword("BUFFER", &mut buffer)
        .keyword("RESIZE_METHOD", &mut method)
        .keyword("VERBOSE", &mut verbose)
        .finish()?;
    if method != "unset" && buffer > 0 {
        return Err("When buffering, we do not need a resize method. Content-length will be stripped".into());
    }
    if method != "unset" && is_old {
        return Err("Filling method cannot be set with HTTP10 (as HTTP10 will remove content length)".into());
    }
    let fill = match &*method {
        "unset" if is_old || buffer > 0 => None,
        "unset" | "fill_end" => Some(Fill::End),
        "fill" => Some(Fill::Packets),
        _ => return Err("Unknown RESIZE_METHOD: 'fill_end' or 'fill' expected".into()),
    };
    let options = Options { is_old, hides_encodings, buffer, fill };
    config.shared(|| Ok(options))?;
    Ok(Box::new(Editing::new(HttpIn::new(options))))
}

/// What tells heads and contents apart.
pub(super) struct HttpIn {
    options: Options,
    messages: u64,
    edits: Edits,
    scratch: Vec<u8>,
}

/// What changes about a line.
#[derive(Debug, PartialEq, Eq)]
enum Change {
    None,
    Removed,
    /// The version, at this place of the line.
    Version(Range<usize>),
}

impl Options {
    /// Whether heads change.
    fn edits(&self) -> bool {
        self.is_old || self.hides_encodings
    }

    /// What changes about a line of a head.
    fn change(&self, line: &[u8], is_answer: bool) -> Change {
        let Some((name, value)) = name_and_value(line) else { return self.version(line) };
        let is = |other: &str| name.eq_ignore_ascii_case(other.as_bytes());
        let is_unbounded = self.is_old && self.buffer == 0;
        let is_removed = self.hides_encodings && is("Accept-Encoding")
            || is_unbounded && is("Connection") && value.eq_ignore_ascii_case(b"keep-alive")
            || is_unbounded && is("Content-Length") && is_answer;
        if is_removed { Change::Removed } else { Change::None }
    }

    /// What changes about a line without a field's name: the version, if it has one.
    fn version(&self, line: &[u8]) -> Change {
        const MARK: &[u8] = b"HTTP/";
        let at = line.windows(MARK.len()).rposition(|window| window == MARK).filter(|_| self.is_old);
        let Some(at) = at else { return Change::None };
        let is_of_version = |byte: &u8| !byte.is_ascii_whitespace();
        let len = line[at..].iter().take_while(|byte| is_of_version(byte)).count();
        Change::Version(at..at + len)
    }

    /// Whether a line may change of which this is the beginning.
    fn may_change(&self, line: &[u8]) -> bool {
        const FIELDS: [&[u8]; 3] = [b"Accept-Encoding", b"Connection", b"Content-Length"];
        let Some((name, _)) = name_and_value(line) else {
            let begins =
                |field: &&[u8]| field.get(..line.len()).is_some_and(|part| part.eq_ignore_ascii_case(line));
            return self.is_old || FIELDS.iter().any(begins);
        };
        FIELDS.iter().any(|field| field.eq_ignore_ascii_case(name))
    }
}

/// A piece of a packet that is of one kind.
struct Piece {
    len: usize,
    kind: Kind,
    /// How much of it, and what is held before it, is decided.
    decided: usize,
}

impl HttpIn {
    pub(super) fn new(options: Options) -> HttpIn {
        HttpIn { options, messages: 0, edits: Edits::default(), scratch: Vec::new() }
    }

    /// Reads the first piece of some data: changes are noted.
    fn read(
        &mut self,
        watch: &mut Watch<Reader>,
        http: &mut Http<'_>,
        next: &Next,
    ) -> Result<Piece, Malformed> {
        self.edits.clear();
        // What is held is the beginning of a line.
        let (base, text, reader) = (watch.held.text().len(), next.text(), &mut watch.state);
        let (mut line, mut len) = (0, 0);
        loop {
            let step = reader.next(&text[len..], http.requests)?;
            len += step.len;
            let is_head = matches!(step.kind, Kind::Head | Kind::HeadEnd { .. } | Kind::Bare);
            if is_head && step.ends_line {
                self.note(line, base + len, reader);
                line = base + len;
            }
            self.messages += u64::from(is_head && step.kind != Kind::Head);
            if len < text.len() && reader.goes_on(step.kind) {
                continue;
            }
            let waits = step.kind == Kind::Head && !step.ends_line && self.options.edits() && !next.is_end;
            let decided = if waits && self.options.may_change(reader.text()) { line } else { base + len };
            return Ok(Piece { len, kind: step.kind, decided });
        }
    }

    /// Notes what changes about a line that is whole.
    fn note(&mut self, start: usize, end: usize, reader: &Reader) {
        if !self.options.edits() {
            return;
        }
        match self.options.change(reader.text(), reader.is_answer()) {
            Change::None => {}
            Change::Removed => self.edits.replace(start..end, []),
            Change::Version(place) => {
                self.edits.replace(start + place.start..start + place.end, *b"HTTP/1.0");
            }
        }
    }

    /// Has a packet wait, and lets those leave of which all is decided.
    fn settle(
        &mut self,
        pool: &mut Pool,
        watch: &mut Watch<Reader>,
        packet: Packet,
        piece: &Piece,
        ready: &mut Ready,
    ) -> Result<(), NoRoom> {
        if watch.held.is_empty() && self.edits.is_empty() && piece.decided == piece.len {
            ready.on.push(packet);
            return Ok(());
        }
        watch.held.push(packet, piece.len);
        let leave = |_: &mut _, packet: Packet| ready.on.push(packet);
        watch.held.settle(pool, &self.edits, piece.decided, &mut self.scratch, leave)
    }
}

impl Editor for HttpIn {
    type State = Reader;

    fn next(
        &mut self,
        pool: &mut Pool,
        watch: &mut Watch<Reader>,
        mut http: Http<'_>,
        mut next: Next,
        ready: &mut Ready,
    ) -> Outcome {
        loop {
            let piece = match (next.data, watch.held.text().len()) {
                (0, base) => {
                    self.edits.clear();
                    let decided = if next.is_end { base } else { 0 };
                    Piece { len: 0, kind: http.marks.of(next.segment.start), decided }
                }
                _ => match self.read(watch, &mut http, &next) {
                    Ok(piece) => piece,
                    Err(Malformed) => return Outcome::Closes(next.packet),
                },
            };
            let start = next.segment.start;
            let rest = match next.split(pool, piece.len) {
                Ok(rest) => rest,
                Err(Whole) => return Outcome::Closes(next.packet),
            };
            if !http.marks.set(start, piece.kind, http.left) {
                return Outcome::Closes(next.packet);
            }
            if let Err(NoRoom(packet)) = self.settle(pool, watch, next.packet, &piece, ready) {
                return Outcome::Closes(packet);
            }
            match rest {
                Some(rest) => next = rest,
                None => return Outcome::Held,
            }
        }
    }

    fn handlers(h: &mut Handlers) {
        h.read("messages", |e: &mut Editing<HttpIn>, _| e.editor.messages);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_change() {
        let options =
            |is_old, hides_encodings, buffer| Options { is_old, hides_encodings, buffer, fill: None };
        let (both, encodings) = (options(true, true, 0), options(false, true, 0));
        let change = |options: &Options, line: &str, is_answer| options.change(line.as_bytes(), is_answer);
        assert_eq!(change(&both, "GET http://a/HTTP/x HTTP/1.1\r\n", false), Change::Version(20..28));
        assert_eq!(change(&both, "HTTP/1.1 200 OK\r\n", true), Change::Version(0..8));
        assert_eq!(change(&encodings, "HTTP/1.1 200 OK\r\n", true), Change::None);
        assert_eq!(change(&encodings, "accept-encoding: gzip\r\n", false), Change::Removed);
        assert_eq!(change(&encodings, "Accept: gzip\r\n", false), Change::None);
        assert_eq!(change(&both, "Connection: Keep-Alive\r\n", false), Change::Removed);
        assert_eq!(change(&options(true, true, 1), "Connection: keep-alive\r\n", false), Change::None);
        assert_eq!(change(&both, "Content-Length: 7\r\n", true), Change::Removed);
        assert_eq!(change(&both, "Content-Length: 7\r\n", false), Change::None);
        for (line, waits) in [
            ("acc", true),
            ("Accept-E", true),
            ("Accept:", false),
            ("Host", false),
            ("Accept-Encoding: x", true),
        ] {
            assert_eq!(encodings.may_change(line.as_bytes()), waits, "{line}");
        }
        assert!(both.may_change(b"GET /"));
    }
}
