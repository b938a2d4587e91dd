//! A control socket that belongs to the program and to no element.

use super::reload::ReloadService;
use super::server::{Address, Role, Server, plain};
use super::shared::Target;
use router::Handle;
use rustix::fs::Mode;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::path::Path;

/// Connections that wait to be accepted, at most.
const BACKLOG: i32 = 16;

/// A UNIX-domain socket that only processes of the same user may connect to. It is no part of the configuration, so that every configuration
/// has it and none shows it. It is there until it is dropped.
pub struct OwnSocket {
    server: Server,
    reloads: Option<ReloadService>,
}

impl OwnSocket {
    /// Listens at `path`, which must not exist.
    ///
    /// # Errors
    /// What cannot be done, and why.
    pub fn start(path: &Path, handle: Handle, reloads: Option<ReloadService>) -> Result<OwnSocket, String> {
        let listener = listen(path).map_err(|error| plain(&error.into()))?;
        let target = target(handle, &reloads);
        let server = Server::serve_unix(Address::Unix(path.to_owned()), listener, target, Role::Commands)?;
        Ok(OwnSocket { server, reloads })
    }

    /// Goes on with a socket that listens at `path` already, since another process has left it.
    ///
    /// # Errors
    /// What cannot be done, and why.
    pub fn go_on(
        path: &Path,
        socket: OwnedFd,
        handle: Handle,
        reloads: Option<ReloadService>,
    ) -> Result<OwnSocket, String> {
        let target = target(handle, &reloads);
        let server = Server::go_on(Address::Unix(path.to_owned()), socket, target, Role::Commands)?;
        Ok(OwnSocket { server, reloads })
    }

    /// A copy of the socket that listens, for another process.
    pub fn listener(&self) -> Option<OwnedFd> {
        self.server.listener()
    }

    /// Clients talk to another router from now on.
    pub fn follow(&self, handle: Handle) {
        self.server.retarget(target(handle, &self.reloads));
    }
}

fn target(handle: Handle, reloads: &Option<ReloadService>) -> Target {
    Target { handle, element: None, proxy: None, read_only: false, verbose: false, reloads: reloads.clone() }
}

/// Listens at a new file of mode 0600. Linux gives the file the mode of the socket, so that there is no moment at which others may connect.
fn listen(path: &Path) -> rustix::io::Result<UnixListener> {
    let socket =
        rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    rustix::fs::fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
    rustix::net::bind(&socket, &SocketAddrUnix::new(path)?)?;
    rustix::net::listen(&socket, BACKLOG)?;
    Ok(UnixListener::from(socket))
}
