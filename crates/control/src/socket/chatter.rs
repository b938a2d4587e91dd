//! Lets other programs read the messages of elements through a socket.
//!
//! ```click
//! ChatterSocket(TCP, PORT [, KEYWORDS])
//! ChatterSocket(UNIX, FILENAME [, KEYWORDS])
//! ```
//!
//! Each client that connects to the TCP port or the UNIX-domain socket gets a copy of what elements print to standard
//! error from then on, after an initial line `Click::ChatterSocket/1.0`; with CHANNEL, what they print on that
//! channel. A client that does not keep up is disconnected: elements never wait for it.
//!
//! Unlike in Click, a TCP socket listens on 127.0.0.1 by default. When the configuration is replaced while the router
//! runs, the socket and its connections move to the new element of the same name, as with ControlSocket, if its
//! channel is the same; the new element's GREETING and QUIET_CHANNEL apply.
//!
//! Ports: none. Workers: exclusive.
//!
//! # Arguments
//! - `TYPE` (`TCP` or `UNIX`), `PORT`, `FILENAME`, `LOCALHOST`, `ADDRESS`, `RETRIES`, `RETRY_WARNINGS`: as for
//!   ControlSocket.
//! - `CHANNEL` (word): the channel, used by elements that are configured to print there, such as IPPrint. Default:
//!   `default`, standard error.
//! - `QUIET_CHANNEL` (boolean): whether messages on a channel other than the default are kept off standard error.
//!   Default: true.
//! - `GREETING` (boolean): whether to send the initial line. Default: true.
//!
//! # Handlers
//! - `port` (read): the TCP port, or the name of the UNIX-domain socket.
//!
//! # Example
//! ```click
//! ChatterSocket(UNIX, /tmp/clickchatter);
//! ```
//!
//! # See also
//! ControlSocket, Print, IPPrint

use router::{Class, Config, ConfigError, Element, Listener, Residency};
use std::io::{self, Write};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("ChatterSocket", create)
    .ports("0/0")
    .residency(Residency::Exclusive)
    .doc(router::manual!("chatter.rs"));

/// Messages that may wait for a client.
const BACKLOG: usize = 1_024;

/// How often a connection looks whether its server is still there.
const LOOK_AROUND: Duration = Duration::from_millis(200);

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    super::control::create_as(config, super::control::Speaks::Messages)
}

/// The ways to the connections.
type Clients = Arc<Mutex<Vec<SyncSender<String>>>>;

/// What a ChatterSocket's arguments say.
#[derive(Clone)]
pub(super) struct Hearing {
    pub(super) channel: String,
    /// Whether standard error gets what is said on the channel, if it is another one.
    pub(super) loud: bool,
    pub(super) greeting: bool,
}

/// Passes messages on to all connections.
pub(super) struct Chatter {
    clients: Clients,
    hearing: Mutex<Hearing>,
    /// Hears messages for as long as it lives.
    listener: Mutex<Listener>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Begins to listen to elements, for these clients.
fn listen(clients: &Clients, hearing: &Hearing) -> Listener {
    let clients = clients.clone();
    let listener: Listener = Arc::new(move |text: &str| {
        // Who has gone, or does not keep up, is forgotten.
        lock(&clients).retain(|client| client.try_send(format!("{text}\n")).is_ok());
    });
    router::listen(&listener, &hearing.channel, hearing.loud);
    listener
}

impl Chatter {
    /// Begins to listen to elements.
    pub(super) fn new(hearing: &Hearing) -> Chatter {
        let clients: Clients = Arc::default();
        let listener = Mutex::new(listen(&clients, hearing));
        Chatter { clients, hearing: Mutex::new(hearing.clone()), listener }
    }

    /// The channel that it hears.
    pub(super) fn channel(&self) -> String {
        lock(&self.hearing).channel.clone()
    }

    /// Follows other arguments. Elements say nothing meanwhile: a router is taking another one's place.
    pub(super) fn follow(&self, hearing: &Hearing) {
        *lock(&self.listener) = listen(&self.clients, hearing);
        *lock(&self.hearing) = hearing.clone();
    }

    /// Serves a connection until one end closes it.
    pub(super) fn serve(&self, mut output: impl Write, is_over: impl Fn() -> bool) -> io::Result<()> {
        let (sender, messages) = sync_channel(BACKLOG);
        lock(&self.clients).push(sender);
        if lock(&self.hearing).greeting {
            output.write_all(b"Click::ChatterSocket/1.0\r\n")?;
        }
        loop {
            match messages.recv_timeout(LOOK_AROUND) {
                Ok(message) => output.write_all(&lang::bytes::of_text(&message))?,
                Err(RecvTimeoutError::Timeout) if !is_over() => {}
                Err(_) => return Ok(()),
            }
        }
    }
}
