//! In place of TLS in a program that was built without it: says so.

use std::convert::Infallible;
use std::net::TcpStream;
use std::time::Instant;

/// The names of the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Files {
    pub(super) authorities: String,
    pub(super) own: Option<(String, String)>,
}

/// There is none.
#[derive(Clone)]
pub(super) struct Tls(Infallible);

/// There is none.
pub(super) struct Secure(Infallible);

const WHY: &str = "this program was built without TLS: build with '--features tls', or use a package";

/// Says that there is no TLS.
pub(super) fn is_there() -> Result<(), &'static str> {
    Err(WHY)
}

impl Tls {
    pub(super) fn read(_: &Files) -> Result<Tls, String> {
        Err(WHY.to_owned())
    }

    pub(super) fn connect(&self, _: &str, _: TcpStream, _: Instant) -> Result<Secure, String> {
        match self.0 {}
    }
}

impl Secure {
    pub(super) fn write_all(&mut self, _: &[u8]) -> std::io::Result<()> {
        match self.0 {}
    }

    pub(super) fn read(&mut self, _: &mut Vec<u8>) -> std::io::Result<Option<usize>> {
        match self.0 {}
    }

    pub(super) fn socket(&self) -> &TcpStream {
        match self.0 {}
    }
}
