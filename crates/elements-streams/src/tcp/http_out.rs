//! End of a path that processes HTTP.
//!
//! ```click
//! HTTPOut
//! ```
//!
//! Makes messages announce the correct length of their bodies after elements between an HTTPIn and this one have
//! changed them. Messages pass unchanged if no element in between changes the length of bodies, as a WordMatcher in
//! MODE REMOVE or FULL does.
//!
//! If there is such an element:
//!
//! - Bodies of up to the HTTPIn's BUFFER, and of up to 14600 bytes, are held together with the header until they are
//!   complete; then Content-Length is set to the new length. (A sender need not send more than 14600 bytes before
//!   some of them have arrived.) If nothing arrives for 0.2 seconds, or more packets would have to wait than can, the
//!   message is treated like a longer one.
//! - Longer bodies are sent in chunks, if HTTP/1.1 allows that. Bodies that arrive in chunks leave in chunks.
//! - If the receiver does not understand chunks, or the HTTPIn has BUFFER 0, removed data is made up for by spaces at
//!   the end of the body, and excess data at the end is cut off. With RESIZE_METHOD fill, this is done in each
//!   packet.
//!
//! It is FastClick's element.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: one, that of the TCPIn.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> c :: IPClassifier(dst tcp port 80, src tcp port 80);
//! c[0] -> in :: TCPIn(RETURNNAME back) -> HTTPIn(NOENC true) -> HTTPOut -> TCPOut -> Discard;
//! c[1] -> back :: TCPIn(RETURNNAME in) -> HTTPIn -> WordMatcher(WORD attack, MODE REMOVE, ALL true) -> HTTPOut -> TCPOut -> Discard;
//! ```
//!
//! # Differences from FastClick
//! FastClick holds bodies of any length, acknowledges them, and sends them all at once; it does not change bodies
//! that arrive in chunks.
//!
//! # See also
//! HTTPIn, WordMatcher, TCPOut

use super::between::CLOSED;
use super::editing::{Editing, Editor, Http, Next, Outcome, Ready, Watch};
use super::held::{Edits, NoRoom, rewrite};
use super::http::name_and_value;
use super::http_in::{Fill, Options};
use super::messages::{Kind, Marks};
use super::segment::Segment;
use super::word_filter::Resizes;
use packet::{Packet, Pool};
use router::{Class, Config, ConfigError, Cx, Element, Info, Residency};
use std::collections::BTreeSet;
use std::io::Write;
use std::ops::Range;

/// The class.
pub(crate) const CLASS: Class = Class::new("HTTPOut", create)
    .processing("h/h")
    .residency(Residency::Exclusive)
    .holds_jointly("packets of TCP streams")
    .doc(router::manual!("http_out.rs"));

/// Bytes that a sender sends at once before anything is acknowledged, after RFC 6928.
const AT_ONCE: u64 = 14600;
/// Bytes of a head at most.
const HEAD: usize = 65536;
/// Bytes that are missing at most before there is something in their place.
const FILLED: u64 = 16384;
/// Why packets are dropped.
const FRAMING: &str = "end of a chunk";
/// How long a message waits when nothing comes of it.
const TIMEOUT_NS: i64 = 200_000_000;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(Editing::new(HttpOut::new(None))))
}

struct HttpOut {
    /// What the HTTPIn was told, if there is something to do.
    options: Option<Options>,
    edits: Edits,
    scratch: Vec<u8>,
    chunk: Vec<u8>,
}

/// What a message is like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Form {
    /// It passes.
    #[default]
    Any,
    /// It is held until it is whole; so many bytes so far.
    Whole { bytes: usize, takes_chunks: bool },
    /// In chunks; whether the sender sends chunks too.
    Chunks { was: bool },
    /// Each packet keeps its length.
    Packets,
    /// So many bytes are to come, and so many that the sender has sent are missing.
    Filled { left: u64, missing: u64 },
}

/// Where a head says how long the content is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Announced {
    /// The line without its end, and the length.
    length: Option<(Range<usize>, u64)>,
    is_chunked: bool,
}

impl Announced {
    /// What the last head says in a text that ends with it.
    fn by(text: &[u8]) -> Announced {
        let (mut all, mut start) = (Announced::default(), 0);
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            let content = line.trim_ascii_end();
            if let Some((name, value)) = name_and_value(content) {
                if name.eq_ignore_ascii_case(b"Content-Length") {
                    let length = std::str::from_utf8(value).ok().and_then(|value| value.parse().ok());
                    all.length = length.map(|length| (start..start + content.len(), length));
                }
                all.is_chunked |= name.eq_ignore_ascii_case(b"Transfer-Encoding");
            }
            start += line.len();
        }
        all
    }
}

impl HttpOut {
    fn new(options: Option<Options>) -> HttpOut {
        HttpOut { options, edits: Edits::default(), scratch: Vec::new(), chunk: Vec::new() }
    }

    /// A head is there: what becomes of the message.
    fn begin(&mut self, options: Options, head: &[u8], takes_chunks: bool) -> Form {
        self.edits.clear();
        let announced = Announced::by(head);
        match announced.length {
            None if announced.is_chunked => Form::Chunks { was: true },
            None => Form::Any,
            Some((_, length)) if length <= options.buffer.min(AT_ONCE) => {
                Form::Whole { bytes: 0, takes_chunks }
            }
            Some((line, length)) => self.stream(options.fill, line, length, takes_chunks),
        }
    }

    /// A message that does not wait until it is whole.
    fn stream(&mut self, fill: Option<Fill>, line: Range<usize>, length: u64, takes_chunks: bool) -> Form {
        match fill {
            Some(Fill::Packets) => Form::Packets,
            None if takes_chunks => {
                self.edits.replace(line, *b"Transfer-Encoding: chunked");
                Form::Chunks { was: false }
            }
            _ => Form::Filled { left: length, missing: 0 },
        }
    }

    /// Lets go of everything that is held, changed as noted, contents in the form that the message has.
    fn settle(
        &mut self,
        pool: &mut Pool,
        watch: &mut Watch<Form>,
        marks: &Marks,
        ready: &mut Ready,
    ) -> Result<(), NoRoom> {
        let all = watch.held.text().len();
        let mut fault = Ok(());
        let (form, chunk) = (&mut watch.state, &mut self.chunk);
        watch.held.settle(pool, &self.edits, all, &mut self.scratch, |pool, packet| {
            let kind = Segment::of(&packet).map_or(Kind::Head, |segment| marks.of(segment.start));
            match shape(pool, packet, kind, form, chunk) {
                Ok(packet) if fault.is_ok() => ready.on.push(packet),
                Ok(packet) => ready.dropped.push((packet, CLOSED)),
                Err(NoRoom(packet)) if fault.is_err() => ready.dropped.push((packet, CLOSED)),
                Err(error) => fault = Err(error),
            }
        })?;
        fault
    }

    /// Lets a message go that is not whole.
    fn give_up(
        &mut self,
        pool: &mut Pool,
        watch: &mut Watch<Form>,
        marks: &Marks,
        ready: &mut Ready,
    ) -> Result<(), NoRoom> {
        self.edits.clear();
        if let Form::Whole { takes_chunks, .. } = watch.state {
            let announced = Announced::by(watch.held.text());
            watch.state = match announced.length {
                Some((line, length)) => self.stream(None, line, length, takes_chunks),
                None => Form::Any,
            };
        }
        self.settle(pool, watch, marks, ready)
    }
}

/// Gives a packet of content the form that its message has.
fn shape(
    pool: &mut Pool,
    packet: Packet,
    kind: Kind,
    form: &mut Form,
    scratch: &mut Vec<u8>,
) -> Result<Packet, NoRoom> {
    let Some(segment) = Segment::of(&packet).filter(|_| kind.is_content() || kind == Kind::Trailer) else {
        return Ok(packet);
    };
    let data = packet.network().and_then(|bytes| bytes.get(segment.headers..)).unwrap_or_default();
    let len = data.len();
    scratch.clear();
    match form {
        Form::Any | Form::Whole { .. } => return Ok(packet),
        Form::Chunks { .. } if kind == Kind::Trailer => {
            scratch.extend_from_slice(b"0\r\n");
            scratch.extend_from_slice(data);
            *form = Form::Any;
        }
        Form::Chunks { was } => {
            if !data.is_empty() {
                // Writing to memory does not fail.
                let _ = write!(scratch, "{len:x}\r\n");
                scratch.extend_from_slice(data);
                scratch.extend_from_slice(b"\r\n");
            }
            if kind == Kind::Last && !*was {
                scratch.extend_from_slice(b"0\r\n\r\n");
            }
        }
        Form::Packets => {
            scratch.extend_from_slice(data);
            scratch.resize(segment.data, b' ');
        }
        Form::Filled { left, missing } => {
            let most = usize::try_from(*left).unwrap_or(usize::MAX);
            scratch.extend_from_slice(&data[..len.min(most)]);
            *missing = (*missing + segment.data as u64).saturating_sub(scratch.len() as u64);
            if kind == Kind::Last || *missing > FILLED {
                let fill = usize::try_from(*missing).unwrap_or(usize::MAX).min(most - scratch.len());
                scratch.resize(scratch.len() + fill, b' ');
                *missing = 0;
            }
            *left -= scratch.len() as u64;
        }
    }
    rewrite(pool, packet, len, scratch)
}

impl HttpOut {
    /// Takes a part of a head.
    fn head(
        &mut self,
        pool: &mut Pool,
        watch: &mut Watch<Form>,
        http: &Http<'_>,
        next: Next,
        kind: Kind,
        ready: &mut Ready,
    ) -> Result<Outcome, NoRoom> {
        let options = self.options.filter(|_| watch.held.text().len() + next.data <= HEAD);
        let Some(options) = options else { return Ok(Outcome::Closes(next.packet)) };
        watch.held.push(next.packet, next.data);
        self.edits.clear();
        watch.state = match kind {
            Kind::HeadEnd { takes_chunks } => self.begin(options, watch.held.text(), takes_chunks),
            _ => Form::Any,
        };
        let waits = kind == Kind::Head || matches!(watch.state, Form::Whole { .. });
        if !waits || next.is_end {
            self.settle(pool, watch, http.marks, ready)?;
        }
        Ok(Outcome::Held)
    }

    /// Takes content.
    fn content(
        &mut self,
        pool: &mut Pool,
        watch: &mut Watch<Form>,
        http: &Http<'_>,
        next: Next,
        kind: Kind,
        ready: &mut Ready,
    ) -> Result<Outcome, NoRoom> {
        if matches!(watch.state, Form::Whole { .. }) && watch.held.len() >= http.room {
            self.give_up(pool, watch, http.marks, ready)?;
        }
        let Form::Whole { bytes, .. } = &mut watch.state else {
            let packet = shape(pool, next.packet, kind, &mut watch.state, &mut self.scratch)?;
            return Ok(Outcome::Leaves(packet));
        };
        *bytes += next.data;
        let bytes = *bytes;
        watch.held.push(next.packet, 0);
        if kind != Kind::Last && !next.is_end {
            return Ok(Outcome::Held);
        }
        self.edits.clear();
        if let (Kind::Last, Some((line, _))) = (kind, Announced::by(watch.held.text()).length) {
            self.chunk.clear();
            // Writing to memory does not fail.
            let _ = write!(self.chunk, "Content-Length: {bytes}");
            self.edits.replace(line, self.chunk.iter().copied());
        }
        watch.state = Form::Any;
        self.settle(pool, watch, http.marks, ready)?;
        Ok(Outcome::Held)
    }
}

impl Editor for HttpOut {
    type State = Form;

    fn timeout_ns(&self) -> i64 {
        TIMEOUT_NS
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        let (options, resizes) = inlet(cx.info(), cx.index())?;
        self.options = Some(options).filter(|_| resizes);
        Ok(())
    }

    fn next(
        &mut self,
        pool: &mut Pool,
        watch: &mut Watch<Form>,
        http: Http<'_>,
        next: Next,
        ready: &mut Ready,
    ) -> Outcome {
        if self.options.is_none() {
            return Outcome::Leaves(next.packet);
        }
        let kind = http.marks.of(next.segment.start);
        let done = match kind {
            Kind::Head | Kind::HeadEnd { .. } | Kind::Bare => {
                self.head(pool, watch, &http, next, kind, ready)
            }
            Kind::Framing if matches!(watch.state, Form::Chunks { was: true }) && !next.is_end => {
                ready.dropped.push((next.packet, FRAMING));
                Ok(Outcome::Held)
            }
            Kind::Framing => Ok(Outcome::Leaves(next.packet)),
            Kind::Content | Kind::Last | Kind::Trailer => self.content(pool, watch, &http, next, kind, ready),
        };
        done.unwrap_or_else(|NoRoom(packet)| Outcome::Closes(packet))
    }

    fn expire(
        &mut self,
        pool: &mut Pool,
        watch: &mut Watch<Form>,
        http: Http<'_>,
        ready: &mut Ready,
    ) -> Outcome {
        if !matches!(watch.state, Form::Whole { .. }) {
            return Outcome::Held;
        }
        match self.give_up(pool, watch, http.marks, ready) {
            Ok(()) => Outcome::Held,
            Err(NoRoom(packet)) => Outcome::Closes(packet),
        }
    }
}

/// What the HTTPIn of a path was told, and whether an element between gives contents another length.
fn inlet(info: &Info, element: usize) -> Result<(Options, bool), ConfigError> {
    let (mut known, mut ahead) = (BTreeSet::from([element]), vec![element]);
    let (mut found, mut resizes) = (Vec::new(), false);
    while let Some(at) = ahead.pop() {
        for &(next, _) in info.nodes[at].inputs.iter().flat_map(|input| &input.peers) {
            if !known.insert(next) {
                continue;
            }
            resizes |= info.shared::<Resizes>(next).is_some();
            match info.shared::<Options>(next) {
                Some(options) => found.push(*options),
                None => ahead.push(next),
            }
        }
    }
    match found[..] {
        [options] => Ok((options, resizes)),
        _ => Err("Found no or more than 1 HTTPIn element".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::editing::tests::{Chain, station};
    use super::super::http_in::HttpIn;
    use super::super::stream::tests::Model;
    use super::super::word_filter::Mode;
    use super::super::word_filter::tests::{changed, filter};
    use super::super::words::tests::words;
    use super::*;

    #[test]
    fn what_heads_announce() {
        let by = |head: &str| Announced::by(head.as_bytes());
        let head = "HTTP/1.1 200 OK\r\ncontent-length:  12\r\nA: b\r\n\r\n";
        assert_eq!(by(head), Announced { length: Some((17..36, 12)), is_chunked: false });
        assert_eq!(
            by("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"),
            Announced { length: None, is_chunked: true }
        );
    }

    /// How a message is sent.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Framing {
        Bare,
        Length,
        Chunks,
        ToTheEnd,
    }

    #[derive(Clone, Debug)]
    struct Message {
        line: &'static str,
        framing: Framing,
        body: Vec<u8>,
        /// Where chunks end.
        cuts: Vec<usize>,
    }

    impl Message {
        fn random(rng: &mut fastrand::Rng, is_last: bool) -> Message {
            let line = ["HTTP/1.1 200 OK", "HTTP/1.0 200 OK"][usize::from(rng.u8(..4) == 0)];
            let framing = match rng.u8(..8) {
                0 => Framing::Bare,
                1 if is_last => Framing::ToTheEnd,
                2..=4 => Framing::Chunks,
                _ => Framing::Length,
            };
            let len = if rng.u8(..8) == 0 { rng.usize(1..1500) } else { rng.usize(1..200) };
            let len = if framing == Framing::Bare { 0 } else { len };
            let body: Vec<u8> = (0..len).map(|_| b"abc"[rng.usize(..3)]).collect();
            let mut cuts: Vec<usize> =
                (0..rng.usize(..5)).map(|_| rng.usize(..=len)).chain([0, len]).collect();
            cuts.sort_unstable();
            cuts.dedup();
            Message { line, framing, body, cuts }
        }

        fn head(&self, announced: &str) -> Vec<u8> {
            format!("{}\r\nX: aba\r\n{announced}Y: z\r\n\r\n", self.line).into_bytes()
        }

        /// The bytes with this body.
        fn bytes(&self, body: &[u8], more: &str) -> Vec<u8> {
            match self.framing {
                Framing::Bare | Framing::Length => {
                    [self.head(&format!("{more}content-Length: {}\r\n", body.len())), body.to_vec()].concat()
                }
                Framing::ToTheEnd => [self.head(more), body.to_vec()].concat(),
                Framing::Chunks => {
                    let mut all = self.head(&format!("{more}Transfer-Encoding: chunked\r\n"));
                    for cut in self.cuts.windows(2) {
                        all.extend(format!("{:X};ab=c\r\n", cut[1] - cut[0]).into_bytes());
                        all.extend(&body[cut[0]..cut[1]]);
                        all.extend(b"\r\n");
                    }
                    all.extend(b"00\r\nT: ab\r\n\r\n");
                    all
                }
            }
        }
    }

    fn random(rng: &mut fastrand::Rng) -> Vec<Message> {
        let count = rng.usize(1..8);
        (1..=count).map(|at| Message::random(rng, at == count)).collect()
    }

    fn sent(messages: &[Message]) -> Vec<u8> {
        messages
            .iter()
            .flat_map(|message| message.bytes(&message.body, "Accept-encoding: gzip\r\n"))
            .collect()
    }

    const LIST: [&str; 3] = ["aba", "cc", "bcaab"];

    fn run(seed: u64, messages: &[Message], mode: Mode, options: Options, waits: bool) -> Vec<u8> {
        let rng = fastrand::Rng::with_seed(seed);
        let resizes = matches!(mode, Mode::Remove | Mode::Full);
        let stations = |left| {
            vec![
                station(HttpIn::new(options), left),
                station(filter(&words(&LIST), mode), left),
                station(HttpOut::new(Some(options).filter(|_| resizes)), left),
            ]
        };
        let mut model = Model::new(rng, sent(messages), 200_000, |left| Chain::new(stations(left)));
        model.run(waits);
        model.got
    }

    const OPTIONS: Options = Options { is_old: false, hides_encodings: true, buffer: 65536, fill: None };

    /// Content that keeps its length is changed as a whole, whatever it is cut into, and heads are not.
    #[test]
    fn same_length() {
        for seed in 0..150 {
            let messages = random(&mut fastrand::Rng::with_seed(seed));
            let got = run(seed, &messages, Mode::Mask, OPTIONS, false);
            let body = |message: &Message| changed(&words(&LIST), Mode::Mask, &message.body);
            let expected: Vec<u8> =
                messages.iter().flat_map(|message| message.bytes(&body(message), "")).collect();
            assert_eq!(String::from_utf8(got), String::from_utf8(expected), "seed {seed}");
        }
    }

    /// The next message of some bytes: its head without what it says of the length, and its content.
    fn parse(all: &mut &[u8]) -> (Vec<u8>, Vec<u8>) {
        let end = all.windows(4).position(|window| window == b"\r\n\r\n").expect("a head") + 4;
        let (head, rest) = all.split_at(end);
        let head = std::str::from_utf8(head).unwrap();
        let (announced, other): (Vec<&str>, Vec<&str>) = head.split_inclusive("\r\n").partition(|line| {
            line.to_ascii_lowercase().starts_with("content-length:") || line.starts_with("Transfer-Encoding:")
        });
        *all = rest;
        let body = match announced[..] {
            [] => std::mem::take(all).to_vec(),
            ["Transfer-Encoding: chunked\r\n"] => chunks(all),
            [line] => {
                let (body, rest) = all.split_at(line.split(':').nth(1).unwrap().trim().parse().unwrap());
                *all = rest;
                body.to_vec()
            }
            _ => panic!("{head}"),
        };
        (other.concat().into_bytes(), body)
    }

    fn chunks(all: &mut &[u8]) -> Vec<u8> {
        let mut body = Vec::new();
        loop {
            let line = all.split(|&byte| byte == b'\n').next().unwrap();
            let digits = std::str::from_utf8(line).unwrap().split(';').next().unwrap().trim();
            let size = usize::from_str_radix(digits, 16).unwrap();
            *all = &all[line.len() + 1..];
            if size == 0 {
                let end = all.windows(2).position(|window| window == b"\r\n").unwrap();
                let end = if end == 0 {
                    2
                } else {
                    all.windows(4).position(|window| window == b"\r\n\r\n").unwrap() + 4
                };
                *all = &all[end..];
                return body;
            }
            body.extend(&all[..size]);
            assert_eq!(all[size..size + 2], *b"\r\n");
            *all = &all[size + 2..];
        }
    }

    /// Content that gets another length is announced as what it is, in whatever form.
    #[test]
    fn another_length() {
        for seed in 0..300 {
            let messages = random(&mut fastrand::Rng::with_seed(seed));
            let (mode, fills) = ([Mode::Remove, Mode::Full][seed as usize % 2], seed % 3 == 0);
            let fill = fills.then_some(Fill::End);
            let options = Options { buffer: if fills { 0 } else { 65536 }, fill, ..OPTIONS };
            let got = run(seed, &messages, mode, options, true);
            let mut rest = &got[..];
            for message in &messages {
                let (head, body) = parse(&mut rest);
                assert_eq!(String::from_utf8(head), String::from_utf8(message.head("")), "seed {seed}");
                let mut expected = changed(&words(&LIST), mode, &message.body);
                let is_filled = body.len() == message.body.len()
                    && message.framing == Framing::Length
                    && (fills || message.line.contains("1.0"));
                if is_filled {
                    expected.resize(message.body.len(), b' ');
                }
                assert!(is_filled || !fills || message.framing != Framing::Length);
                assert_eq!(String::from_utf8(body), String::from_utf8(expected), "seed {seed} {message:?}");
            }
            assert!(rest.is_empty(), "seed {seed}: {}", String::from_utf8_lossy(rest));
        }
    }

    /// Where each packet keeps its length, all do.
    #[test]
    fn filled_packets() {
        for seed in 0..60 {
            let messages = random(&mut fastrand::Rng::with_seed(seed));
            let options = Options { buffer: 0, fill: Some(Fill::Packets), ..OPTIONS };
            let got = run(seed, &messages, Mode::Remove, options, true);
            let mut rest = &got[..];
            for message in messages {
                let (head, body) = parse(&mut rest);
                assert_eq!(head, message.head(""));
                let without =
                    |bytes: Vec<u8>| bytes.into_iter().filter(|byte| *byte != b' ').collect::<Vec<u8>>();
                let expected = changed(&words(&LIST), Mode::Remove, &message.body);
                if message.framing == Framing::Length {
                    assert_eq!(body.len(), message.body.len());
                }
                assert_eq!(without(body), expected, "seed {seed}");
            }
            assert!(rest.is_empty());
        }
    }
}
