//! A connection to a server, encrypted or not.

use super::tls::Secure;
use std::io::{Read, Write};
use std::net::TcpStream;

/// A connection.
pub(super) enum Stream {
    Plain(TcpStream),
    Secure(Box<Secure>),
}

impl Stream {
    pub(super) fn write_all(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        match self {
            Stream::Plain(socket) => socket.write_all(bytes),
            Stream::Secure(secure) => secure.write_all(bytes),
        }
    }

    /// Reads once, and adds what was said; how many bytes, 0 at the end. `None`: what came is not yet something that was said. Nothing that was
    /// said is held back: what can be waited on is the socket.
    pub(super) fn read(&mut self, into: &mut Vec<u8>) -> std::io::Result<Option<usize>> {
        match self {
            Stream::Plain(socket) => {
                let mut chunk = [0; 4_096];
                let len = socket.read(&mut chunk)?;
                into.extend_from_slice(&chunk[..len]);
                Ok(Some(len))
            }
            Stream::Secure(secure) => secure.read(into),
        }
    }

    /// What can be waited on for more.
    pub(super) fn socket(&self) -> &TcpStream {
        match self {
            Stream::Plain(socket) => socket,
            Stream::Secure(secure) => secure.socket(),
        }
    }
}
