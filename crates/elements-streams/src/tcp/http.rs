//! The form of HTTP/1 messages, read as they pass.

use super::messages::{Asked, Kind, Method, Requests};

/// Bytes of a line at most.
const LINE: usize = 16384;

/// What is not HTTP/1, or too much of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed;

/// What comes next of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    FirstLine,
    Fields,
    /// So many bytes of content.
    Content(u64),
    ChunkSize,
    Chunk(u64),
    ChunkEnd,
    Trailer,
    /// Content up to the end of the stream.
    Unbounded,
}

/// What is known of a message from its head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Head {
    /// The status, of an answer.
    status: Option<u16>,
    asked: Asked,
    length: Option<u64>,
    coding: Option<Coding>,
    /// Whether something else than HTTP may follow.
    may_switch: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    Chunked,
    /// One without chunks at the end.
    Other,
}

/// A piece of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// Bytes of it.
    pub(super) len: usize,
    pub(super) kind: Kind,
    /// Whether it ends a line.
    pub(super) ends_line: bool,
}

/// Reads the messages of a stream.
#[derive(Debug)]
pub(super) struct Reader {
    state: State,
    /// The line that is read, as far as it is there.
    line: Vec<u8>,
    head: Head,
}

impl Default for Reader {
    fn default() -> Reader {
        Reader { state: State::FirstLine, line: Vec::new(), head: Head::default() }
    }
}

impl Reader {
    /// Takes what comes next of some data: a line of a head or between chunks, as far as it is there, or content.
    pub(super) fn next(&mut self, data: &[u8], requests: &mut Requests) -> Result<Step, Malformed> {
        match self.state {
            State::Content(left) | State::Chunk(left) => Ok(self.content(data, left)),
            State::Unbounded => Ok(Step { len: data.len(), kind: Kind::Content, ends_line: false }),
            State::FirstLine if self.line.is_empty() && requests.is_switched() => {
                self.state = State::Unbounded;
                self.next(data, requests)
            }
            _ => self.line(data, requests),
        }
    }

    /// Whether what comes next belongs to a piece of this kind.
    pub(super) fn goes_on(&self, kind: Kind) -> bool {
        match kind {
            Kind::Head => true,
            Kind::Framing => matches!(self.state, State::ChunkSize | State::ChunkEnd),
            Kind::Trailer => self.state == State::Trailer,
            Kind::HeadEnd { .. } | Kind::Bare | Kind::Content | Kind::Last => false,
        }
    }

    /// The line that is read, or was read before.
    pub(super) fn text(&self) -> &[u8] {
        &self.line
    }

    /// Whether the message is an answer.
    pub(super) fn is_answer(&self) -> bool {
        self.head.status.is_some()
    }

    fn content(&mut self, data: &[u8], left: u64) -> Step {
        let len = usize::try_from(left).unwrap_or(usize::MAX).min(data.len());
        let left = left - len as u64;
        let is_chunk = matches!(self.state, State::Chunk(_));
        self.state = match (is_chunk, left) {
            (true, 0) => State::ChunkEnd,
            (true, left) => State::Chunk(left),
            (false, 0) => State::FirstLine,
            (false, left) => State::Content(left),
        };
        let kind = if left == 0 && !is_chunk { Kind::Last } else { Kind::Content };
        Step { len, kind, ends_line: false }
    }

    fn line(&mut self, data: &[u8], requests: &mut Requests) -> Result<Step, Malformed> {
        if self.line.last() == Some(&b'\n') {
            self.line.clear();
        }
        let end = data.iter().position(|&byte| byte == b'\n');
        let len = end.map_or(data.len(), |at| at + 1);
        if self.line.len() + len > LINE {
            return Err(Malformed);
        }
        self.line.extend_from_slice(&data[..len]);
        let ends_line = end.is_some();
        let kind = if ends_line { self.ends(requests)? } else { self.within() };
        Ok(Step { len, kind, ends_line })
    }

    /// The kind of a line that is not whole.
    fn within(&self) -> Kind {
        match self.state {
            State::FirstLine | State::Fields => Kind::Head,
            State::Trailer => Kind::Trailer,
            _ => Kind::Framing,
        }
    }

    /// A line is whole: its kind.
    fn ends(&mut self, requests: &mut Requests) -> Result<Kind, Malformed> {
        let line = self.line.trim_ascii_end();
        let kind = self.within();
        match self.state {
            State::FirstLine if line.is_empty() => {}
            State::FirstLine => match first_line(line) {
                Some(head) => {
                    self.head = head;
                    self.state = State::Fields;
                }
                None if self.head.may_switch => {
                    self.state = State::Unbounded;
                    return Ok(Kind::Content);
                }
                None => return Err(Malformed),
            },
            State::Fields if line.is_empty() => return self.head_ends(requests),
            State::Fields => field(&mut self.head, line)?,
            State::ChunkSize => {
                let size = chunk_size(line).ok_or(Malformed)?;
                self.state = if size == 0 { State::Trailer } else { State::Chunk(size) };
            }
            State::ChunkEnd if line.is_empty() => self.state = State::ChunkSize,
            State::Trailer if line.is_empty() => self.state = State::FirstLine,
            State::Trailer => {}
            _ => return Err(Malformed),
        }
        Ok(kind)
    }

    /// A head is whole: what follows.
    fn head_ends(&mut self, requests: &mut Requests) -> Result<Kind, Malformed> {
        let Head { status, asked, length, coding, .. } = self.head;
        let question = match status {
            None => asked,
            Some(100..=199) => Asked { method: Method::Other, ..asked },
            Some(_) => requests.next(),
        };
        if status.is_none() && !requests.add(asked) {
            return Err(Malformed);
        }
        let is_switched =
            matches!((status, question.method), (Some(101), _) | (Some(200..=299) | None, Method::Connect));
        if is_switched {
            self.state = State::Unbounded;
            if status.is_some() {
                requests.switch();
            }
            return Ok(Kind::Bare);
        }
        let has_none = match status {
            Some(status) => matches!(status, 100..=199 | 204 | 304) || question.method == Method::Head,
            None => coding.is_none() && length.is_none(),
        };
        self.state = match (coding, length) {
            _ if has_none => State::FirstLine,
            (Some(_), Some(_)) => return Err(Malformed),
            (Some(Coding::Chunked), None) => State::ChunkSize,
            (Some(Coding::Other), None) if status.is_none() => return Err(Malformed),
            (Some(Coding::Other), None) | (None, None) => State::Unbounded,
            (None, Some(0)) => State::FirstLine,
            (None, Some(length)) => State::Content(length),
        };
        let is_modern = asked.is_modern && question.is_modern;
        Ok(if self.state == State::FirstLine {
            Kind::Bare
        } else {
            Kind::HeadEnd { takes_chunks: is_modern }
        })
    }
}

/// What the first line says, if it is that of a request or an answer.
fn first_line(line: &[u8]) -> Option<Head> {
    let is_modern = |version: &[u8]| {
        let digits = version.strip_prefix(b"HTTP/")?;
        Some(digits != b"1.0" && digits != b"0.9")
    };
    let mut words = line.split(|&byte| byte == b' ').filter(|word| !word.is_empty());
    let first = words.next()?;
    if let Some(is_modern) = is_modern(first) {
        let status = std::str::from_utf8(words.next()?).ok()?.parse().ok()?;
        let asked = Asked { method: Method::Other, is_modern };
        return Some(Head { status: Some(status), asked, ..Head::default() });
    }
    let method = match first {
        b"HEAD" => Method::Head,
        b"CONNECT" => Method::Connect,
        _ => Method::Other,
    };
    let is_modern = is_modern(words.next_back()?)?;
    Some(Head { asked: Asked { method, is_modern }, ..Head::default() })
}

/// A field of a head, as name and value.
pub(super) fn name_and_value(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = line.iter().position(|&byte| byte == b':')?;
    let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
    let is_name = !name.is_empty() && name.iter().all(|byte| byte.is_ascii_graphic());
    is_name.then_some((name, value))
}

/// Notes what a field says.
fn field(head: &mut Head, line: &[u8]) -> Result<(), Malformed> {
    let (name, value) = name_and_value(line).ok_or(Malformed)?;
    if name.eq_ignore_ascii_case(b"Content-Length") {
        let length = number(value, 10).ok_or(Malformed)?;
        if head.length.is_some_and(|known| known != length) {
            return Err(Malformed);
        }
        head.length = Some(length);
    } else if name.eq_ignore_ascii_case(b"Transfer-Encoding") {
        let last = value.rsplit(|&byte| byte == b',').next().unwrap_or_default().trim_ascii();
        let is_chunked = last.eq_ignore_ascii_case(b"chunked");
        head.coding = Some(if is_chunked { Coding::Chunked } else { Coding::Other });
    } else if name.eq_ignore_ascii_case(b"Upgrade") {
        head.may_switch = true;
    }
    Ok(())
}

/// The size of a chunk, by its line.
fn chunk_size(line: &[u8]) -> Option<u64> {
    let digits = line.split(|&byte| byte == b';').next()?;
    number(digits.trim_ascii(), 16)
}

fn number(digits: &[u8], radix: u32) -> Option<u64> {
    let text = std::str::from_utf8(digits).ok().filter(|text| !text.starts_with('+'))?;
    u64::from_str_radix(text, radix).ok()
}
