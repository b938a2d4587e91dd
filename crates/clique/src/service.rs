//! Telling the service manager that started the program how it is doing: the datagrams of sd_notify(3).

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Where the manager listens: the path of a socket, or `@` and the name of an abstract one.
const VARIABLE: &str = "NOTIFY_SOCKET";

/// The router is set up, and begins to forward.
pub(crate) fn ready(workers: usize, elements: usize) {
    tell(&format!("READY=1\nSTATUS={elements} elements on {workers} workers"));
}

/// The router's workers all answer.
pub(crate) fn alive() {
    tell("WATCHDOG=1");
}

/// The router has stopped; what is left is to complete files.
pub(crate) fn stopping() {
    tell("STOPPING=1");
}

/// Sends lines to the manager, if there is one. That it cannot be reached is no reason to stop forwarding.
fn tell(state: &str) {
    let Some(place) = std::env::var_os(VARIABLE) else { return };
    if let Err(error) = send(&place, state) {
        crate::console::complain(&format!("{VARIABLE}: {error}\n"));
    }
}

fn send(place: &OsString, state: &str) -> io::Result<()> {
    let address = match place.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname::<&OsStr>(place)?,
    };
    UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abstract_sockets_hear_of_it() {
        let name = format!("clique-service-{}", std::process::id());
        let manager = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        send(&format!("@{name}").into(), "READY=1").unwrap();
        let mut heard = [0; 16];
        let len = manager.recv(&mut heard).unwrap();
        assert_eq!(&heard[..len], b"READY=1");
    }
}
