//! The other end of the protocol: what a program does that talks to a router.

use crate::limits::{ANSWER_MAX, LINE_MAX};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;

/// The code of success with warnings.
const OK_WITH_WARNINGS: u32 = 220;

/// The response to a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Its code: 2xx if the command was carried out.
    pub code: u32,
    /// The lines of the message, without code.
    pub messages: Vec<String>,
    /// Data that came with it, as [`lang::bytes`] has bytes in texts.
    pub data: Option<String>,
}

impl Reply {
    /// Whether the command was carried out.
    pub fn is_fine(&self) -> bool {
        (200..300).contains(&self.code)
    }

    /// What a handler warned of although it did what it was to do.
    pub fn warnings(&self) -> &[String] {
        // The first line says only that there are warnings.
        if self.code == OK_WITH_WARNINGS { self.messages.get(1..).unwrap_or_default() } else { &[] }
    }
}

/// Why there is no response.
#[derive(Debug)]
pub enum Failure {
    /// The connection failed.
    Connection(io::Error),
    /// What came is not in the protocol.
    Protocol(String),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Connection(error)
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Connection(error) => f.write_str(&crate::socket::plain(error)),
            Failure::Protocol(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Failure {}

/// A connection to a router.
pub struct Client {
    input: BufReader<File>,
    output: File,
}

impl Client {
    /// Connects to a TCP port.
    ///
    /// # Errors
    /// Why that is not possible, or that a router does not answer there.
    pub fn tcp(host: &str, port: u16) -> Result<Client, Failure> {
        let stream = TcpStream::connect((host, port))?;
        let _ = stream.set_nodelay(true); // a matter of speed only
        Client::new(File::from(OwnedFd::from(stream)))
    }

    /// Connects to a UNIX-domain socket.
    ///
    /// # Errors
    /// As [`Client::tcp`].
    pub fn unix(path: &Path) -> Result<Client, Failure> {
        Client::new(File::from(OwnedFd::from(UnixStream::connect(path)?)))
    }

    fn new(stream: File) -> Result<Client, Failure> {
        let mut client = Client { input: BufReader::new(stream.try_clone()?), output: stream };
        let greeting = client.line()?;
        match greeting.strip_prefix("Click::ControlSocket/1.") {
            Some(_) => Ok(client),
            None => {
                Err(Failure::Protocol(format!("not a control socket: it says '{}'", greeting.escape_debug())))
            }
        }
    }

    /// Reads a handler, with a parameter that may be empty.
    ///
    /// # Errors
    /// That there is no response.
    pub fn read(&mut self, handler: &str, argument: &str) -> Result<Reply, Failure> {
        match argument {
            "" => self.command(&format!("READ {}", word(handler)?), &[]),
            _ => self.command_with_data(&format!("READDATA {}", word(handler)?), argument),
        }
    }

    /// Writes a handler.
    ///
    /// # Errors
    /// That there is no response.
    pub fn write(&mut self, handler: &str, value: &str) -> Result<Reply, Failure> {
        self.command_with_data(&format!("WRITEDATA {}", word(handler)?), value)
    }

    /// Asks for the router's metrics, in Prometheus' text format.
    ///
    /// # Errors
    /// That there is no response.
    pub fn metrics(&mut self) -> Result<Reply, Failure> {
        self.command("METRICS", &[])
    }

    /// Sends a request that concerns the configuration as a whole; the answer comes as data.
    ///
    /// # Errors
    /// That there is no response.
    pub fn reload(&mut self, request: &str) -> Result<Reply, Failure> {
        self.command_with_data("RELOAD", request)
    }

    /// The process at the other end of a UNIX-domain socket.
    pub fn process(&self) -> Option<u32> {
        let credentials = rustix::net::sockopt::socket_peercred(&self.output).ok()?;
        u32::try_from(credentials.pid.as_raw_nonzero().get()).ok()
    }

    /// Asks for events of these topics, all if there is none; [`Client::event`] returns them. No command can be sent after this.
    ///
    /// # Errors
    /// That there is no response.
    pub fn watch(&mut self, topics: &[String]) -> Result<Reply, Failure> {
        let words = topics.iter().map(|topic| word(topic)).collect::<Result<Vec<_>, _>>()?;
        self.command(format!("WATCH {}", words.join(" ")).trim_end(), &[])
    }

    /// Asks for drops, with an example of each: an object of JSON.
    ///
    /// # Errors
    /// That there is no response.
    pub fn drops(&mut self) -> Result<Reply, Failure> {
        self.command("DROPS", &[])
    }

    /// Asks for the time that elements take: an object of JSON.
    ///
    /// # Errors
    /// That there is no response.
    pub fn runtime(&mut self) -> Result<Reply, Failure> {
        self.command("RUNTIME", &[])
    }

    /// Asks what would become of a packet: an object of JSON.
    ///
    /// # Errors
    /// That there is no response.
    pub fn explain(&mut self, packet: &str) -> Result<Reply, Failure> {
        self.command(&format!("EXPLAIN {}", one_line(packet)?), &[])
    }

    /// Asks for the ways of packets; [`Client::event`] returns steps, each an object of JSON, and last one with the member `end`.
    ///
    /// # Errors
    /// That there is no response.
    pub fn trace(&mut self, packets: u32, seconds: u64, filter: &str) -> Result<Reply, Failure> {
        self.command(format!("TRACE {packets} {seconds} {}", one_line(filter)?).trim_end(), &[])
    }

    /// Asks for the packets of an edge, all that come if their number is 0; [`Client::event`] returns them as [`Client::trace`] has it.
    ///
    /// # Errors
    /// That there is no response.
    pub fn capture(
        &mut self,
        edge: &str,
        packets: u64,
        seconds: u64,
        snaplen: usize,
        filter: &str,
    ) -> Result<Reply, Failure> {
        let (edge, filter) = (word(edge)?, one_line(filter)?);
        self.command(format!("CAPTURE {edge} {packets} {seconds} {snaplen} {filter}").trim_end(), &[])
    }

    /// Waits for the next event.
    ///
    /// # Errors
    /// That the connection is over.
    pub fn event(&mut self) -> Result<String, Failure> {
        let line = self.line()?;
        match line.strip_prefix("EVENT ") {
            Some(event) => Ok(event.to_owned()),
            None => Err(Failure::Protocol(format!("an event is expected, not '{}'", line.escape_debug()))),
        }
    }

    /// Sends a line that ends with the length of data, and these.
    fn command_with_data(&mut self, line: &str, data: &str) -> Result<Reply, Failure> {
        let data = lang::bytes::of_text(data);
        self.command(&format!("{line} {}", data.len()), &data)
    }

    /// Sends a line and data, and waits for the response.
    fn command(&mut self, line: &str, data: &[u8]) -> Result<Reply, Failure> {
        self.output.write_all(&[line.as_bytes(), b"\r\n", data].concat())?;
        let mut messages = Vec::new();
        let code = loop {
            let line = self.line()?;
            let code = line.get(..3).and_then(|code| code.parse::<u32>().ok());
            let (Some(code), Some(rest)) = (code, line.get(3..)) else {
                return Err(Failure::Protocol(format!("unexpected response '{}'", line.escape_debug())));
            };
            messages.push(rest.get(1..).unwrap_or_default().to_owned());
            if !rest.starts_with('-') {
                break code;
            }
        };
        let tells = ["READ", "METRICS", "DROPS", "RUNTIME", "EXPLAIN", "RELOAD"]
            .iter()
            .any(|verb| line.starts_with(verb));
        let reads = tells && (200..300).contains(&code);
        let data = if reads { Some(self.data()?) } else { None };
        Ok(Reply { code, messages, data })
    }

    fn data(&mut self) -> Result<String, Failure> {
        let line = self.line()?;
        let length = line.strip_prefix("DATA ").and_then(|length| length.trim().parse::<u64>().ok());
        let Some(length) = length.filter(|length| *length <= ANSWER_MAX) else {
            return Err(Failure::Protocol(format!("data are expected, not '{}'", line.escape_debug())));
        };
        // There is room for what has come, not for what was announced.
        let mut data = Vec::new();
        if ((&mut self.input).take(length).read_to_end(&mut data)? as u64) < length {
            return Err(Failure::Connection(io::ErrorKind::UnexpectedEof.into()));
        }
        Ok(lang::bytes::to_text(data))
    }

    fn line(&mut self) -> Result<String, Failure> {
        let mut line = Vec::new();
        (&mut self.input).take(LINE_MAX as u64).read_until(b'\n', &mut line)?;
        if line.pop() != Some(b'\n') {
            return Err(Failure::Protocol("the router closed the connection".to_owned()));
        }
        Ok(String::from_utf8_lossy(&line).trim_end_matches('\r').to_owned())
    }
}

/// A handler's name as a word of a command.
fn word(handler: &str) -> Result<&str, Failure> {
    if handler.is_empty() || handler.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err(Failure::Protocol(format!("'{}' is no name of a handler", handler.escape_debug())));
    }
    Ok(handler)
}

/// A text as a part of a command.
fn one_line(text: &str) -> Result<&str, Failure> {
    if text.contains(['\r', '\n']) {
        return Err(Failure::Protocol("it is to be one line".to_owned()));
    }
    Ok(text.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::DATA_MAX;

    /// What a router that answers so makes of `READ`: the length of the data.
    fn read(head: &str, data: Vec<u8>) -> Result<usize, Failure> {
        let (ours, mut theirs) = UnixStream::pair().expect("sockets");
        let text = format!("Click::ControlSocket/1.3\r\n200 OK\r\n{head}\r\n");
        let router = std::thread::spawn(move || {
            // A client that does not want it all is one of the cases.
            let _ = theirs.write_all(text.as_bytes()).and_then(|()| theirs.write_all(&data));
            let _ = theirs.shutdown(std::net::Shutdown::Write);
            let _ = theirs.read_to_end(&mut Vec::new());
        });
        let mut client = Client::new(File::from(OwnedFd::from(ours))).expect("a greeting");
        let reply = client.read("flows", "");
        drop(client);
        router.join().expect("it ends");
        reply.map(|reply| reply.data.map_or(0, |data| data.len()))
    }

    /// An answer may be larger than a request. One that is cut off is an error, however much was announced.
    #[test]
    fn answers_are_larger_than_requests() {
        let large = DATA_MAX + 1;
        assert_eq!(read(&format!("DATA {large}"), vec![b'x'; large]).expect("an answer"), large);
        assert!(matches!(read(&format!("DATA {ANSWER_MAX}"), vec![b'x'; 9]), Err(Failure::Connection(_))));
        assert!(matches!(read(&format!("DATA {}", ANSWER_MAX + 1), Vec::new()), Err(Failure::Protocol(_))));
    }
}
