//! Lets other programs read the messages of elements through a socket.
//!
//! ```click
//! ChatterSocket(TCP, PORT [, KEYWORDS])
//! ChatterSocket(UNIX, FILENAME [, KEYWORDS])
//! ```
//!
//! Whoever connects to the TCP port or the UNIX-domain socket gets a copy of what elements print to standard error from
//! then on, beginning with the line `Click::ChatterSocket/1.0`; with CHANNEL, what they print on that channel. A client that does not keep up
//! is disconnected: elements never wait for it.
//!
//! Unlike Click's, a TCP socket listens on 127.0.0.1 unless told otherwise. When the configuration is replaced while the router runs, the
//! socket and its connections go to the new element of the same name, as a ControlSocket's do, if its channel is the same.
//!
//! Ports: none. Workers: exclusive.
//!
//! # Arguments
//! - `TYPE` (`TCP` or `UNIX`), `PORT`, `FILENAME`, `LOCALHOST`, `ADDRESS`, `RETRIES`, `RETRY_WARNINGS`: as for
//!   ControlSocket.
//! - `CHANNEL` (word): the channel, on which elements print that are told to, such as IPPrint. Default: `default`, standard error.
//! - `QUIET_CHANNEL` (boolean): do not print to standard error what goes to another channel than that. Default: true.
//! - `GREETING` (boolean): send the first line. Default: true.
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
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("ChatterSocket", create)
    .ports("0/0")
    .residency(Residency::Exclusive)
    .doc(include_str!("chatter.rs"));

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
    greeting: bool,
    /// Hears messages for as long as this lives.
    _listener: Listener,
}

impl Chatter {
    /// Begins to listen to elements.
    pub(super) fn new(hearing: &Hearing) -> Chatter {
        let clients: Clients = Arc::default();
        let told = clients.clone();
        let listener: Listener = Arc::new(move |text: &str| {
            let mut clients = told.lock().unwrap_or_else(PoisonError::into_inner);
            // Who has gone, or does not keep up, is forgotten.
            clients.retain(|client| client.try_send(format!("{text}\n")).is_ok());
        });
        router::listen(&listener, &hearing.channel, hearing.loud);
        Chatter { clients, greeting: hearing.greeting, _listener: listener }
    }

    /// Serves a connection until one end closes it.
    pub(super) fn serve(&self, mut output: impl Write, is_over: impl Fn() -> bool) -> io::Result<()> {
        let (sender, messages) = sync_channel(BACKLOG);
        self.clients.lock().unwrap_or_else(PoisonError::into_inner).push(sender);
        if self.greeting {
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
