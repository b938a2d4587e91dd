//! One connection by HTTP: requests in, answers out.

use super::handler_access::HandlerAccess;
use super::input::Input;
use super::patient::Patient;
use super::shared::{Occupation, Shared};
use crate::limits::{DATA_MAX, LINE_MAX};
use crate::metrics::Format;
use router::Call;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::time::Duration;

/// Lines of a request's head, at most.
const FIELDS_MAX: usize = 100;

/// What is to be had at a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Serves {
    /// Handlers of elements.
    Handlers,
    /// The router's figures.
    Metrics,
}

/// How long a client may take for a request, and again to take the answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// Bytes of a request's body, or of an answer, that a slow client is granted another second for.
const SLOWEST: usize = 100_000;

/// The time for a request or an answer of so many bytes.
fn patience(bytes: usize) -> Duration {
    PATIENCE + Duration::from_secs((bytes / SLOWEST) as u64)
}

/// A status and what is said with it.
type Answer = (u16, String);

/// What answers are, unless they are metrics.
const PLAIN: &str = "text/plain; charset=utf-8";

/// What a request asks for.
struct Request {
    method: String,
    /// The path without its first slash, decoded.
    path: String,
    host: String,
    /// The kinds of answer that are understood.
    accept: String,
    /// Whether a web page of another site sends it.
    foreign: bool,
    body: String,
    /// Whether another request may follow.
    stays: bool,
}

/// The service of one connection.
pub(super) struct Service<'s> {
    pub(super) shared: &'s Shared,
    /// The connection's number.
    pub(super) number: i32,
    /// Whether only this machine may connect: names of others are refused then.
    pub(super) local: bool,
    pub(super) serves: Serves,
}

impl Service<'_> {
    /// Serves the connection until it ends.
    pub(super) fn serve(&self, socket: &File) -> io::Result<()> {
        let patient = Patient::new(socket, PATIENCE);
        let mut input = Input::new(BufReader::new(&patient));
        while !self.shared.is_closed() {
            self.shared.occupy(self.number, Occupation::Waits);
            let Some(line) = input.line()? else { break };
            if line.is_empty() {
                continue;
            }
            let body_max = if self.shared.target().read_only { LINE_MAX } else { DATA_MAX };
            let request = Request::read(&mut input, &line, body_max, |bytes| patient.grant(patience(bytes)))?;
            self.shared.occupy(self.number, Occupation::Works);
            let (response, stays) = self.respond(&request);
            patient.grant(patience(response.len()));
            self.shared.occupy(self.number, Occupation::Waits);
            (&patient).write_all(&lang::bytes::of_text(&response))?;
            if !stays {
                break;
            }
            patient.grant(PATIENCE);
        }
        Ok(())
    }

    /// What is sent, and whether another request may follow.
    fn respond(&self, request: &Result<Request, Answer>) -> (String, bool) {
        let request = match request {
            Err(answer) => return (response(answer, PLAIN, false, false), false),
            Ok(request) if request.foreign || (self.local && !is_local(&request.host)) => {
                let refused = (403, "This request comes from another site".to_owned());
                return (response(&refused, PLAIN, false, false), false);
            }
            Ok(request) => request,
        };
        let (answer, media_type) = match self.serves {
            Serves::Handlers => (answer(self.shared, request), PLAIN),
            Serves::Metrics => metrics(self.shared, request),
        };
        (response(&answer, media_type, request.stays, request.method == "HEAD"), request.stays)
    }
}

/// Answers a client that asks for metrics.
fn metrics(shared: &Shared, request: &Request) -> (Answer, &'static str) {
    if !["GET", "HEAD"].contains(&request.method.as_str()) {
        return ((405, "Unsupported method".to_owned()), PLAIN);
    }
    let openly = request.accept.to_ascii_lowercase().contains("application/openmetrics-text");
    let format = if openly { Format::OpenMetrics } else { Format::Prometheus };
    match request.path.as_str() {
        "metrics" => match shared.metrics(format) {
            Ok(text) => ((200, text), format.media_type()),
            Err(error) => ((503, error.message), PLAIN),
        },
        "" => ((200, "The router's figures are at /metrics.\n".to_owned()), PLAIN),
        path => ((404, format!("There is no /{path}; the router's figures are at /metrics.")), PLAIN),
    }
}

impl Request {
    /// What follows a request's first line. `grant` is told how long the body is that is waited for.
    fn read(
        input: &mut Input<BufReader<impl Read>>,
        line: &str,
        body_max: usize,
        grant: impl Fn(usize),
    ) -> io::Result<Result<Request, Answer>> {
        let wrong = |status: u16, why: &str| Ok(Err((status, why.to_owned())));
        let words: Vec<&str> = line.split(' ').collect();
        let &[method, target, version] = words.as_slice() else { return wrong(400, "Bad request") };
        let Some(path) = target.strip_prefix('/').filter(|_| version.starts_with("HTTP/1.")) else {
            return wrong(400, "Bad request");
        };
        let (mut length, mut host, mut origin) = (None::<usize>, String::new(), None);
        let (mut accept, mut stays) = (String::new(), version != "HTTP/1.0");
        for number in 0.. {
            let Some(field) = input.line()? else { return wrong(400, "Bad request") };
            if field.is_empty() {
                break;
            }
            let Some((name, value)) = field.split_once(':').filter(|_| number < FIELDS_MAX) else {
                return wrong(400, "Bad request");
            };
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "content-length" => match body_length(value) {
                    Some(said) if length.is_some_and(|before| before != said) => {
                        return wrong(400, "Bad request");
                    }
                    Some(said) if said <= body_max => length = Some(said),
                    Some(_) => return wrong(413, "Too much data"),
                    None => return wrong(400, "Bad request"),
                },
                "transfer-encoding" => return wrong(501, "Unsupported transfer encoding"),
                "connection" => stays &= !value.eq_ignore_ascii_case("close"),
                "accept" => accept = value.to_owned(),
                "host" => host = value.to_owned(),
                "origin" => origin = Some(value.to_owned()),
                // A client that waits for leave to send the body gets the final answer only; what it sends is read.
                _ => {}
            }
        }
        let length = length.unwrap_or(0);
        grant(length);
        let Some(body) = input.data(length)? else { return wrong(400, "Bad request") };
        let foreign = origin.is_some_and(|origin| origin.split_once("://").is_none_or(|(_, of)| of != host));
        let path = decoded(path.split('?').next().unwrap_or(path));
        Ok(Ok(Request { method: method.to_owned(), path, host, accept, foreign, body, stays }))
    }
}

/// The length of a body: digits, and nothing else.
fn body_length(value: &str) -> Option<usize> {
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
    value.parse().ok().filter(|_| is_number)
}

/// Whether a name that a client asks for cannot be another site's: an address, or this machine's own name for itself.
fn is_local(host: &str) -> bool {
    let name = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    let name = name.map_or(host, |(name, _)| name);
    let address = name.trim_start_matches('[').trim_end_matches(']');
    name.is_empty() || name.eq_ignore_ascii_case("localhost") || address.parse::<std::net::IpAddr>().is_ok()
}

/// A text in which `%` and two digits stand for a byte.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let digit = |at: usize| char::from(*behind.get(at)?).to_digit(16);
        let hex = || Some((digit(0)? << 4 | digit(1)?) as u8);
        let byte = if first == b'%' { hex() } else { None };
        bytes.push(byte.unwrap_or(first));
        rest = if byte.is_some() { &behind[2..] } else { behind };
    }
    lang::bytes::to_text(bytes)
}

/// What a path names: an element, or none for the router itself; a handler; its argument.
fn parts(path: &str, is_element: impl Fn(&str) -> bool) -> (&str, &str, &str) {
    let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
    let element = ends.map(|end| &path[..end]).take_while(|name| is_element(name)).last().unwrap_or("");
    let rest = path[element.len()..].trim_start_matches('/');
    let (handler, argument) = rest.split_once('/').unwrap_or((rest, ""));
    (element, handler, argument)
}

/// Carries out a request.
fn answer(shared: &Shared, request: &Request) -> Answer {
    let target = shared.target();
    let info = target.handle.info();
    let path = request.path.trim_start_matches('/');
    let (element, named, argument) = parts(path, |name| info.find(name, None).is_some());
    let handler = match (request.method.as_str(), element, named) {
        ("GET" | "HEAD", "", "") => "list".to_owned(),
        ("GET" | "HEAD", _, "") => "handlers".to_owned(),
        ("GET" | "HEAD" | "POST", _, handler) => handler.to_owned(),
        ("DELETE", _, handler) => format!("delete_{handler}"),
        _ => return (405, "Unsupported method".to_owned()),
    };
    let found = HandlerAccess::new(info, format!("{element}.{handler}")).filter(|found| !found.private);
    let Some(found) = found else {
        return (404, format!("Invalid path '/{path}' or no {handler} in {element}"));
    };
    match request.method.as_str() {
        "GET" | "HEAD" if !found.readable => (400, "This request is not readable".to_owned()),
        "GET" | "HEAD" => match shared.call(&Call::read(found.path, argument)) {
            Ok(value) => (200, value),
            Err(error) => (400, error.message),
        },
        _ if target.read_only => (403, "This server allows no writing".to_owned()),
        _ if !found.writable => (400, "This request is not writable".to_owned()),
        method => {
            let value = if method == "DELETE" { handler.as_str() } else { &request.body };
            let written = shared.call(&Call::write(found.path, value));
            (200, if written.is_ok() { "success" } else { "error" }.to_owned())
        }
    }
}

/// A response as it is sent.
fn response((status, body): &Answer, media_type: &str, stays: bool, head_only: bool) -> String {
    let reason = match status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        413 => "Content Too Large",
        503 => "Service Unavailable",
        _ => "Not Implemented",
    };
    let connection = if stays { "keep-alive" } else { "close" };
    let mut text = format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: {media_type}\r\n\
         X-Content-Type-Options: nosniff\r\nContent-Length: {}\r\nConnection: {connection}\r\n",
        lang::bytes::of_text(body).len()
    );
    if *status == 405 {
        text += "Allow: GET, HEAD, POST, DELETE\r\n";
    }
    let _ = write!(text, "\r\n{}", if head_only { "" } else { body.as_str() });
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_element_handler_and_argument() {
        let is_element = |name: &str| ["a", "a/b", "a/b/c"].contains(&name);
        for (path, expected) in [
            ("", ("", "", "")),
            ("version", ("", "version", "")),
            ("a", ("a", "", "")),
            ("a/count", ("a", "count", "")),
            ("a/b/c/count/1/2", ("a/b/c", "count", "1/2")),
            ("a/x/c", ("a", "x", "c")),
        ] {
            assert_eq!(parts(path, is_element), expected, "{path}");
        }
    }

    #[test]
    fn hosts_and_escapes() {
        for host in ["", "localhost:80", "127.0.0.1", "127.0.0.1:8080", "[::1]:80", "LOCALHOST"] {
            assert!(is_local(host), "{host}");
        }
        for host in ["example.com", "example.com:80", "localhost.example.com"] {
            assert!(!is_local(host), "{host}");
        }
        assert_eq!(decoded("a%20b%2Fc%zz%"), "a b/c%zz%");
        assert_eq!(decoded("%+1%-1%fF"), lang::bytes::to_text(b"%+1%-1\xff".to_vec()));
    }
}
