//! Listens, and serves until it is dropped.

use crate::access;
use crate::clients::{self, Bounded, Bounds, Client};
use crate::shared::{Shared, Source, Tell};
use crate::token::Token;
use crate::{api, history, page, recorder};
use axum::Router;
use axum::extract::DefaultBodyLimit;
use std::fmt;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::{Semaphore, oneshot};

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    /// A TCP port.
    Tcp(SocketAddr),
    /// A UNIX-domain socket, for its owner alone.
    Unix(PathBuf),
}

impl FromStr for Listen {
    type Err = String;

    /// `PORT` or `localhost:PORT` of this machine, `ADDRESS:PORT`, or a file, whose name has a `/` in it.
    fn from_str(text: &str) -> Result<Self, String> {
        if text.contains('/') {
            return Ok(Listen::Unix(text.into()));
        }
        let port = text.strip_prefix("localhost:").unwrap_or(text);
        let local = port.parse().map(|port: u16| SocketAddr::from(([127, 0, 0, 1], port)));
        local
            .or_else(|_| text.parse())
            .map(Listen::Tcp)
            .map_err(|_| format!("'{text}' is no PORT, ADDRESS:PORT or file with a '/' in its name"))
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Listen::Tcp(address) => write!(f, "http://{address}/"),
            Listen::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

/// Why a server does not start.
#[derive(Debug)]
pub struct ListenError {
    listen: Listen,
    error: std::io::Error,
}

impl fmt::Display for ListenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Rust adds the system's number to the system's text.
        let error = self.error.to_string();
        let reason = error.split_once(" (os error ").map_or(&error[..], |(reason, _)| reason);
        write!(f, "cannot listen at {}: {reason}", self.listen)
    }
}

impl std::error::Error for ListenError {}

/// A server. It ends when it is dropped.
pub struct Server {
    /// Where it listens: the port that the system chose, if it was asked to.
    pub listen: Listen,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        if let Listen::Unix(path) = &self.listen {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// How long answers that are being made may take when the server ends.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// A socket that listens.
enum Listener {
    Tcp(std::net::TcpListener),
    Unix(std::os::unix::net::UnixListener),
}

/// Starts a server for a router.
///
/// # Errors
/// It cannot listen there.
pub fn start(listen: Listen, token: Option<Token>, source: Source) -> Result<Server, ListenError> {
    start_within(listen, token, source, api::trace::plain, Bounds::default())
}

/// The same, where the program says what the steps of traced packets are: it may know how to read headers.
///
/// # Errors
/// It cannot listen there.
pub fn start_telling(
    listen: Listen,
    token: Option<Token>,
    source: Source,
    tell: Tell,
) -> Result<Server, ListenError> {
    start_within(listen, token, source, tell, Bounds::default())
}

/// The same with bounds for what clients hold.
pub(crate) fn start_within(
    listen: Listen,
    token: Option<Token>,
    source: Source,
    tell: Tell,
    bounds: Bounds,
) -> Result<Server, ListenError> {
    let failed = |error| ListenError { listen: listen.clone(), error };
    let (listener, bound) = bind(&listen).map_err(failed)?;
    let local = match &bound {
        Listen::Tcp(address) => address.ip().is_loopback(),
        Listen::Unix(_) => true,
    };
    let shared = Arc::new(Shared {
        source,
        token,
        surveys: Mutex::default(),
        history: Mutex::new(history::History::default()),
        local,
        bounds,
        tell,
        streams: Arc::new(Semaphore::new(bounds.streams)),
        listing: Semaphore::new(1),
    });
    // One thread serves, and a few more wait for workers.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(4)
        .thread_name("http")
        .build()
        .map_err(failed)?;
    let (stop, stopped) = oneshot::channel();
    let serve = move || {
        // Connections that are open, event streams above all, end with the runtime.
        runtime.block_on(async move {
            tokio::select! {
                _ = stopped => {}
                _ = recorder::record(shared.clone()) => {}
                _ = accept(listener, bounds, routes(shared)) => {}
            }
        });
        // A thread may wait for a router that has ended.
        runtime.shutdown_timeout(LAST_ANSWERS);
    };
    let thread = std::thread::Builder::new().name("http".to_owned()).spawn(serve).map_err(failed)?;
    Ok(Server { listen: bound, stop: Some(stop), thread: Some(thread) })
}

fn bind(listen: &Listen) -> std::io::Result<(Listener, Listen)> {
    match listen {
        Listen::Tcp(address) => {
            let listener = std::net::TcpListener::bind(address)?;
            listener.set_nonblocking(true)?;
            let bound = Listen::Tcp(listener.local_addr()?);
            Ok((Listener::Tcp(listener), bound))
        }
        Listen::Unix(path) => {
            // A socket whose program is no more refuses connections; other files are a user's data.
            let refused = std::os::unix::net::UnixStream::connect(path)
                .is_err_and(|e| e.kind() == std::io::ErrorKind::ConnectionRefused);
            if refused
                && std::fs::symlink_metadata(path)
                    .is_ok_and(|found| std::os::unix::fs::FileTypeExt::is_socket(&found.file_type()))
            {
                std::fs::remove_file(path)?;
            }
            let listener = std::os::unix::net::UnixListener::bind(path)?;
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
            listener.set_nonblocking(true)?;
            Ok((Listener::Unix(listener), listen.clone()))
        }
    }
}

async fn accept(listener: Listener, bounds: Bounds, routes: Router) -> std::io::Result<()> {
    let service = routes.into_make_service_with_connect_info::<Client>();
    match listener {
        Listener::Tcp(listener) => {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            axum::serve(Bounded::new(listener, bounds), service).await
        }
        Listener::Unix(listener) => {
            let listener = tokio::net::UnixListener::from_std(listener)?;
            axum::serve(Bounded::new(listener, bounds), service).await
        }
    }
}

/// Everything that can be asked for.
pub(crate) fn routes(shared: Arc<Shared>) -> Router {
    let guard = axum::middleware::from_fn_with_state(shared.clone(), access::guard);
    let serve = axum::middleware::from_fn_with_state(shared.clone(), clients::serve);
    // Who may not ask does not get to send a body either.
    let routes =
        api::routes().merge(page::routes()).layer(DefaultBodyLimit::disable()).layer(serve).layer(guard);
    routes.with_state(shared)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_is_taken_is_said_without_numbers_of_the_system() {
        let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let listen = Listen::Tcp(taken.local_addr().expect("an address"));
        let error = bind(&listen).err().expect("it is taken");
        let said = ListenError { listen, error }.to_string();
        assert!(said.ends_with(": Address already in use"), "{said}");
    }

    #[test]
    fn places_to_listen() {
        assert_eq!("8080".parse(), Ok(Listen::Tcp(([127, 0, 0, 1], 8080).into())));
        assert_eq!("localhost:80".parse(), Ok(Listen::Tcp(([127, 0, 0, 1], 80).into())));
        assert_eq!("[::1]:80".parse(), Ok(Listen::Tcp("[::1]:80".parse().unwrap())));
        assert_eq!("0.0.0.0:80".parse(), Ok(Listen::Tcp(([0, 0, 0, 0], 80).into())));
        assert_eq!("./x".parse(), Ok(Listen::Unix("./x".into())));
        for text in
            ["", ":80", "99999", "localhost", "localhost:", "localhost:x", "localhost:localhost:80", "x"]
        {
            assert!(text.parse::<Listen>().is_err(), "{text}");
        }
    }
}
