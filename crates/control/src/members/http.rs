//! As much of HTTP/1.1 as it takes to ask a server: one request a connection, answers of known length, in chunks, or until
//! the end (RFC 9112, sections 4, 6 and 7).

use super::stream::Stream;
use super::tls::Tls;
use std::io::ErrorKind;
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

/// How long a server may take to be reached, and then to answer. In tests, longer than anything takes: the machine may be busy
/// with other things, and this thread gives way to them.
const PATIENCE: Duration = Duration::from_secs(if cfg!(test) { 60 } else { 2 });
/// Bytes of a status line and headers, at most.
const HEAD_MAX: usize = 1 << 16;
/// Bytes of an answer that wait to be taken, at most: etcd's values have 1.5 MiB, and base64 adds a third.
const BODY_MAX: usize = 1 << 22;

/// An answer whose head is there, and whose body is there or comes.
pub(super) struct Answer {
    pub(super) status: u16,
    stream: Stream,
    /// What came and is not decoded yet.
    raw: Vec<u8>,
    /// What is decoded and not taken yet.
    body: Vec<u8>,
    framing: Framing,
}

/// Where the body ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    /// After so many bytes.
    Length(u64),
    /// After so many bytes another chunk follows; at `None`, its size is next.
    Chunked(Option<u64>),
    /// When the server closes the connection.
    UntilClose,
    /// It has ended.
    Ended,
}

/// Sends a request with a JSON body. `server` is a host and a port, with TLS if `tls` is given; `token` goes into the header `Authorization`.
///
/// # Errors
/// The server is not reached, is not to be trusted, or does not answer in time, or with what is no HTTP.
pub(super) fn post(
    server: &str,
    tls: Option<&Tls>,
    path: &str,
    token: Option<&str>,
    body: &str,
) -> Result<Answer, String> {
    let socket = connect(server)?;
    let told = |error: String| format!("{server}: {error}");
    let mut stream = match tls {
        None => Stream::Plain(socket),
        Some(tls) => {
            Stream::Secure(Box::new(tls.connect(server, socket, Instant::now() + PATIENCE).map_err(told)?))
        }
    };
    let authorization = token.map(|token| format!("Authorization: {token}\r\n")).unwrap_or_default();
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: {server}\r\nContent-Type: application/json\r\n{authorization}\
         Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).map_err(|error| told(error.to_string()))?;
    Answer::begin(stream).map_err(told)
}

/// Any of the addresses of a server.
fn connect(server: &str) -> Result<TcpStream, String> {
    let explain = |error: std::io::Error| format!("{server}: {error}");
    let mut last = format!("{server}: no address");
    for address in server.to_socket_addrs().map_err(explain)? {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(socket) => {
                socket.set_read_timeout(Some(PATIENCE)).map_err(explain)?;
                socket.set_write_timeout(Some(PATIENCE)).map_err(explain)?;
                return Ok(socket);
            }
            Err(error) => last = explain(error),
        }
    }
    Err(last)
}

impl Answer {
    /// Reads the head.
    fn begin(stream: Stream) -> Result<Answer, String> {
        let mut answer =
            Answer { status: 0, stream, raw: Vec::new(), body: Vec::new(), framing: Framing::UntilClose };
        let until = Instant::now() + PATIENCE;
        while !answer.parse_head()? {
            if answer.raw.len() > HEAD_MAX || Instant::now() > until {
                return Err("no answer in time".to_owned());
            }
            if answer.read()? == Some(0) {
                // So does etcd with what is not TLS, if it wants TLS.
                let hint =
                    if let Stream::Plain(_) = answer.stream { "; does it want TLS (CAFILE)?" } else { "" };
                return Err(format!("no answer{hint}"));
            }
        }
        answer.decode()?;
        Ok(answer)
    }

    /// Whether the head is there; what it says.
    fn parse_head(&mut self) -> Result<bool, String> {
        let mut headers = [httparse::EMPTY_HEADER; 64];
        let mut head = httparse::Response::new(&mut headers);
        let parsed = head.parse(&self.raw).map_err(|error| format!("no HTTP: {error}"))?;
        let httparse::Status::Complete(len) = parsed else { return Ok(false) };
        let value = |name: &str| {
            let header = head.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name))?;
            std::str::from_utf8(header.value).ok().map(str::trim)
        };
        self.framing = match (value("Transfer-Encoding"), value("Content-Length")) {
            (Some(coding), _) if coding.eq_ignore_ascii_case("chunked") => Framing::Chunked(None),
            (Some(coding), _) => return Err(format!("no known coding: {coding}")),
            (None, Some(length)) => {
                Framing::Length(length.parse().map_err(|_| format!("no length: {length}"))?)
            }
            (None, None) => Framing::UntilClose,
        };
        self.status = head.code.unwrap_or_default();
        self.raw.drain(..len);
        Ok(true)
    }

    /// Reads once; how many bytes, as [`Stream::read`] says.
    fn read(&mut self) -> Result<Option<usize>, String> {
        loop {
            match self.stream.read(&mut self.raw) {
                Ok(len) => return Ok(len),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    return Err("no answer in time".to_owned());
                }
                Err(error) => return Err(error.to_string()),
            }
        }
    }

    /// Decodes what came.
    fn decode(&mut self) -> Result<(), String> {
        loop {
            if self.body.len() > BODY_MAX {
                return Err("a longer answer than is believed".to_owned());
            }
            match self.framing {
                Framing::Ended => return Ok(()),
                Framing::UntilClose => {
                    self.body.append(&mut self.raw);
                    return Ok(());
                }
                Framing::Length(left) => {
                    let left = left - self.move_bytes(left);
                    self.framing = if left == 0 { Framing::Ended } else { Framing::Length(left) };
                    return Ok(());
                }
                Framing::Chunked(Some(0)) => {
                    // The line's end behind a chunk.
                    let Some(end) = self.raw.first_chunk::<2>() else { return Ok(()) };
                    if end != b"\r\n" {
                        return Err("a chunk longer than its size".to_owned());
                    }
                    self.raw.drain(..2);
                    self.framing = Framing::Chunked(None);
                }
                Framing::Chunked(Some(left)) => {
                    let moved = self.move_bytes(left);
                    self.framing = Framing::Chunked(Some(left - moved));
                    if moved < left {
                        return Ok(());
                    }
                }
                Framing::Chunked(None) => {
                    match httparse::parse_chunk_size(&self.raw)
                        .map_err(|_| "no size of a chunk".to_owned())?
                    {
                        httparse::Status::Partial if self.raw.len() > HEAD_MAX => {
                            return Err("no size of a chunk".to_owned());
                        }
                        httparse::Status::Partial => return Ok(()),
                        // Trailers may follow; the caller does not ask for them.
                        httparse::Status::Complete((_, 0)) => self.framing = Framing::Ended,
                        httparse::Status::Complete((len, size)) => {
                            self.raw.drain(..len);
                            self.framing = Framing::Chunked(Some(size));
                        }
                    }
                }
            }
        }
    }

    /// Moves so many bytes into the body, or as many as came.
    fn move_bytes(&mut self, most: u64) -> u64 {
        let len = self.raw.len().min(usize::try_from(most).unwrap_or(usize::MAX));
        self.body.extend(self.raw.drain(..len));
        len as u64
    }

    /// Waits for the rest of the body.
    pub(super) fn text(mut self) -> Result<String, String> {
        let until = Instant::now() + PATIENCE;
        while self.framing != Framing::Ended {
            if Instant::now() > until {
                return Err("no answer in time".to_owned());
            }
            if self.read()? == Some(0) {
                self.end()?;
            }
            self.decode()?;
        }
        String::from_utf8(self.body).map_err(|_| "an answer that is no text".to_owned())
    }

    /// The server has closed the connection.
    fn end(&mut self) -> Result<(), String> {
        if self.framing != Framing::UntilClose {
            return Err("the answer broke off".to_owned());
        }
        self.framing = Framing::Ended;
        Ok(())
    }

    /// What can be waited on for more of the body.
    pub(super) fn socket(&self) -> &TcpStream {
        self.stream.socket()
    }

    /// Whether there are lines that were not taken yet.
    pub(super) fn has_lines(&self) -> bool {
        self.body.contains(&b'\n')
    }

    /// Takes the whole lines of the body that have come so far. If there are none yet, it reads once, and the caller has
    /// waited for something to read.
    ///
    /// # Errors
    /// The answer has ended or broken off.
    pub(super) fn lines(&mut self) -> Result<String, String> {
        if !self.has_lines() {
            if self.framing == Framing::Ended || self.read()? == Some(0) {
                return Err("it closed the connection".to_owned());
            }
            self.decode()?;
        }
        let end = self.body.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let rest = self.body.split_off(end);
        let lines = std::mem::replace(&mut self.body, rest);
        String::from_utf8(lines).map_err(|_| "an answer that is no text".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    /// Serves these bytes once, piece by piece, and returns what comes of a request.
    fn served(pieces: &'static [&'static [u8]]) -> Result<(u16, String), String> {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let server = listener.local_addr().expect("bound").to_string();
        let serving = std::thread::spawn(move || {
            let (mut socket, _) = listener.accept().expect("a client");
            let mut request = [0; 1_000];
            let len = socket.read(&mut request).expect("a request");
            for piece in pieces {
                socket.write_all(piece).expect("sent");
                std::thread::sleep(Duration::from_millis(2));
            }
            String::from_utf8_lossy(&request[..len]).into_owned()
        });
        let answer = post(&server, None, "/x", Some("secret"), "{}").and_then(|answer| {
            let status = answer.status;
            answer.text().map(|text| (status, text))
        });
        let request = serving.join().expect("served");
        assert!(request.starts_with("POST /x HTTP/1.1\r\n") && request.ends_with("\r\n\r\n{}"), "{request}");
        assert!(request.contains("\r\nAuthorization: secret\r\n"), "{request}");
        answer
    }

    /// Bodies of known length, in chunks that do not come as they were cut, until the end.
    #[test]
    fn bodies_are_read_in_each_framing() {
        let found = |pieces| served(pieces).expect("an answer");
        assert_eq!(
            found(&[b"HTTP/1.1 200 OK\r\nContent-Le", b"ngth: 4\r\n\r\nab", b"cd"]),
            (200, "abcd".into())
        );
        assert_eq!(
            found(&[
                b"HTTP/1.1 404 Not Found\r\ntransfer-encoding: Chunked\r\n\r\n3\r",
                b"\nabc\r\na",
                b";x=y\r\n0123456789\r\n0\r\n"
            ]),
            (404, "abc0123456789".into())
        );
        assert_eq!(found(&[b"HTTP/1.0 200 OK\r\n\r\nto the ", b"end"]), (200, "to the end".into()));
    }

    #[test]
    fn what_breaks_off_or_is_no_http_is_an_error() {
        let wrong = |pieces, what: &str| {
            let error = served(pieces).expect_err("no answer");
            assert!(error.contains(what), "{error}");
        };
        wrong(&[b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab"], "broke off");
        wrong(
            &[b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n"],
            "longer than its size",
        );
        wrong(&[b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"], "no size");
        wrong(&[b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"], "no length");
        wrong(&[b"220 mail server\r\n"], "no HTTP");
        wrong(&[b""], "no answer");
    }

    #[test]
    fn without_a_server_there_is_an_error() {
        let port =
            TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
        assert!(post(&format!("127.0.0.1:{port}"), None, "/", None, "").is_err());
        assert!(post("no port", None, "/", None, "").is_err());
    }
}
