//! A listening socket, its connections, and the threads that serve them.

use super::messages::Chatter;
use super::requests::{Serves, Service};
use super::session;
use super::shared::{Connection, Occupation, Shared, State, Target};
use rustix::event::{PollFd, PollFlags};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufReader;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::ops::RangeInclusive;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long the end of a router waits for responses to be sent.
const FAREWELL: Duration = Duration::from_millis(500);

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// At the first of these ports that is not in use.
    Tcp(IpAddr, RangeInclusive<u16>),
    Unix(PathBuf),
    /// Not at all: there is one connection, which the program was started with, and this is its descriptor.
    Connected(i32),
}

/// The descriptors of connections that servers have, so that no two serve the same.
static TAKEN: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

fn taken() -> MutexGuard<'static, BTreeSet<i32>> {
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes a connection that the program was started with.
fn take(descriptor: i32) -> std::io::Result<File> {
    use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
    if !taken().insert(descriptor) {
        return Err(std::io::ErrorKind::AddrInUse.into());
    }
    // A number alone says nothing about what is behind it: a copy has to come from the system.
    let copy = pidfd_open(getpid(), PidfdFlags::empty())
        .and_then(|own| pidfd_getfd(own, descriptor, PidfdGetfdFlags::empty()));
    match copy {
        Ok(copy) => Ok(File::from(copy)),
        Err(error) => {
            taken().remove(&descriptor);
            Err(error.into())
        }
    }
}

/// What a server does with its connections.
#[derive(Clone)]
pub(super) enum Role {
    /// Carries out commands.
    Commands,
    /// Passes messages on.
    Chatter(Arc<Chatter>),
    /// Answers requests of HTTP, of this machine only if so.
    Http { local: bool, serves: Serves },
}

enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Listener {
    /// The same socket once more, to be shut down.
    fn copy(&self) -> std::io::Result<OwnedFd> {
        match self {
            Listener::Tcp(listener) => listener.as_fd().try_clone_to_owned(),
            Listener::Unix(listener) => listener.as_fd().try_clone_to_owned(),
        }
    }

    fn accept(&self) -> std::io::Result<(File, String)> {
        let (fd, from): (OwnedFd, String) = match self {
            Listener::Tcp(listener) => {
                let (stream, from) = listener.accept()?;
                // Commands are short and wait for responses.
                let _ = stream.set_nodelay(true);
                (stream.into(), format!(" from {}.{}", from.ip(), from.port()))
            }
            Listener::Unix(listener) => (listener.accept()?.0.into(), String::new()),
        };
        Ok((File::from(fd), from))
    }
}

/// What the threads of a new server have in common.
fn shared(target: Target) -> Arc<Shared> {
    let state = State { target: Arc::new(target), closed: false, connections: Vec::new() };
    Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new(), collector: Mutex::default() })
}

/// Listens on the first of these ports that is not in use.
fn listen(ip: IpAddr, ports: &RangeInclusive<u16>) -> std::io::Result<TcpListener> {
    for port in *ports.start()..*ports.end() {
        match TcpListener::bind(SocketAddr::new(ip, port)) {
            Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {}
            result => return result,
        }
    }
    TcpListener::bind(SocketAddr::new(ip, *ports.end()))
}

/// Listens at a name in the file system, which is taken over from a program that is no more.
fn bind_unix(path: &Path) -> std::io::Result<UnixListener> {
    let bound = UnixListener::bind(path);
    let taken = bound.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::AddrInUse);
    // Files of other kinds refuse connections, too, and are a user's data.
    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    let refused = |error: std::io::Error| error.kind() == std::io::ErrorKind::ConnectionRefused;
    if taken && is_socket && UnixStream::connect(path).is_err_and(refused) {
        std::fs::remove_file(path)?;
        return UnixListener::bind(path);
    }
    bound
}

/// A server. Its threads end when it is dropped.
pub(crate) struct Server {
    pub(super) address: Address,
    /// The port, which the system may have chosen.
    pub(super) port: Option<u16>,
    /// What passes messages on, if it does so.
    pub(super) chatter: Option<Arc<Chatter>>,
    /// The listening socket, to be shut down.
    socket: Option<OwnedFd>,
    shared: Arc<Shared>,
}

impl Server {
    /// Listens, and serves each client that connects.
    ///
    /// # Errors
    /// What cannot be done, and why.
    pub(super) fn start(address: &Address, target: Target, role: Role) -> Result<Server, String> {
        let bound = |error: std::io::Error| format!("bind: {}", plain(&error));
        let shared = shared(target);
        let (listener, port) = match address {
            Address::Connected(descriptor) => {
                let stream =
                    take(*descriptor).map_err(|error| format!("socket {descriptor}: {}", plain(&error)))?;
                let server =
                    Server { address: address.clone(), port: None, chatter: None, socket: None, shared };
                admit(&server.shared, stream, "", &role);
                return Ok(server);
            }
            Address::Tcp(ip, ports) => {
                let listener = listen(*ip, ports).map_err(bound)?;
                let port = listener.local_addr().map_err(bound)?.port();
                (Listener::Tcp(listener), Some(port))
            }
            Address::Unix(path) => (Listener::Unix(bind_unix(path).map_err(bound)?), None),
        };
        Server::accept(address.clone(), shared, listener, port, role)
    }

    /// Serves each client that connects to a UNIX-domain socket that listens at `address`.
    ///
    /// # Errors
    /// What cannot be done, and why.
    pub(super) fn serve_unix(
        address: Address,
        listener: UnixListener,
        target: Target,
        role: Role,
    ) -> Result<Server, String> {
        Server::accept(address, shared(target), Listener::Unix(listener), None, role)
    }

    /// Serves each client that connects to a socket that another process has left, which listens at `address`.
    ///
    /// # Errors
    /// What cannot be done, and why.
    pub(super) fn go_on(
        address: Address,
        socket: OwnedFd,
        target: Target,
        role: Role,
    ) -> Result<Server, String> {
        let (listener, port) = match &address {
            Address::Tcp(..) => {
                let listener = TcpListener::from(socket);
                let port = listener.local_addr().map_err(|error| format!("bind: {}", plain(&error)))?.port();
                (Listener::Tcp(listener), Some(port))
            }
            Address::Unix(_) => (Listener::Unix(UnixListener::from(socket)), None),
            Address::Connected(_) => return Err("it listens at none".to_owned()),
        };
        Server::accept(address, shared(target), listener, port, role)
    }

    /// A copy of the socket that listens.
    pub(super) fn listener(&self) -> Option<OwnedFd> {
        self.socket.as_ref()?.try_clone().ok()
    }

    fn accept(
        address: Address,
        shared: Arc<Shared>,
        listener: Listener,
        port: Option<u16>,
        role: Role,
    ) -> Result<Server, String> {
        let socket = listener.copy().map_err(|error| format!("bind: {}", plain(&error)))?;
        let server = Server { address, port, chatter: None, socket: Some(socket), shared: shared.clone() };
        let thread = std::thread::Builder::new().name("control".to_owned());
        thread
            .spawn(move || accept_all(&shared, &listener, &role))
            .map_err(|error| format!("cannot start a thread: {}", plain(&error)))?;
        Ok(server)
    }

    /// Talks to another router from now on.
    pub(super) fn retarget(&self, target: Target) {
        self.shared.lock().target = Arc::new(target);
        self.shared.changed.notify_all();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.closed = true;
        self.shared.changed.notify_all();
        if let Some(socket) = &self.socket {
            // Wakes the thread that accepts.
            let _ = rustix::net::shutdown(socket, rustix::net::Shutdown::Both);
        }
        match &self.address {
            Address::Tcp(..) => {}
            Address::Unix(path) => drop(std::fs::remove_file(path)),
            Address::Connected(descriptor) => drop(taken().remove(descriptor)),
        }
        // No more commands; the responses to those that are being carried out may still be sent.
        state.connections.iter().for_each(|connection| connection.shut(rustix::net::Shutdown::Read));
        let busy = |state: &mut State| !state.connections.is_empty();
        let waited = self.shared.changed.wait_timeout_while(state, FAREWELL, busy);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.connections.iter().for_each(|connection| connection.shut(rustix::net::Shutdown::Both));
    }
}

/// What an error says, without the number that Rust adds to the operating system's text.
pub(crate) fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error ").map_or(text.clone(), |(reason, _)| reason.to_owned())
}

fn accept_all(shared: &Arc<Shared>, listener: &Listener, role: &Role) {
    loop {
        let accepted = listener.accept();
        if shared.is_closed() {
            return;
        }
        match accepted {
            Ok((stream, from)) => admit(shared, stream, &from, role),
            Err(error) => {
                shared.log(&format!("accept: {}", plain(&error)));
                // Out of descriptors, for instance: the next attempt would fail likewise.
                std::thread::sleep(Duration::from_millis(100));
            }
        }
    }
}

/// Gives a connection a thread, unless there are too many.
fn admit(shared: &Arc<Shared>, stream: File, from: &str, role: &Role) {
    let number = stream.as_raw_fd();
    shared.log_verbosely(&format!("opened connection {number}{from}"));
    let refuse = |why: &str| shared.log(&format!("connection {number} refused: {why}"));
    let copy = match stream.try_clone() {
        Ok(copy) => copy,
        Err(error) => return refuse(&plain(&error)),
    };
    match shared.place() {
        Some(mut state) => {
            let (occupation, since) = (Occupation::Works, Instant::now());
            state.connections.push(Connection { number, socket: copy, occupation, since });
        }
        None => return refuse("too many connections"),
    }
    let (thread_shared, role) = (shared.clone(), role.clone());
    let serve = move || {
        let shared = thread_shared;
        // A client that goes away is no news.
        let _ = match role {
            Role::Commands => {
                let has_sent = || is_readable(&stream);
                let serve = |input| session::serve(&shared, number, BufReader::new(input), &stream, has_sent);
                stream.try_clone().and_then(serve)
            }
            Role::Chatter(chatter) => chatter.serve(&stream, || shared.is_closed()),
            Role::Http { local, serves } => Service { shared: &shared, number, local, serves }.serve(&stream),
        };
        forget(&shared, number);
        shared.log_verbosely(&format!("closed connection {number}"));
    };
    if let Err(error) = std::thread::Builder::new().name("connection".to_owned()).spawn(serve) {
        forget(shared, number);
        refuse(&plain(&error));
    }
}

/// Whether a connection's other end has sent something, its end included.
fn is_readable(stream: &File) -> bool {
    let mut fds = [PollFd::new(stream, PollFlags::IN)];
    let at_once = rustix::time::Timespec { tv_sec: 0, tv_nsec: 0 };
    // What cannot be polled will fail to be read, too, and is to be.
    rustix::event::poll(&mut fds, Some(&at_once)).is_ok_and(|ready| ready > 0)
}

fn forget(shared: &Shared, number: i32) {
    let mut state = shared.lock();
    if let Some(at) = state.connections.iter().position(|known| known.number == number) {
        state.connections.swap_remove(at).shut(rustix::net::Shutdown::Both);
    }
    shared.changed.notify_all();
}
