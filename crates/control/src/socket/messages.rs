//! What elements say is passed on to clients.

use router::Listener;
use std::io::{self, Write};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Messages that may wait for a client.
const BACKLOG: usize = 1_024;

/// How often a connection looks whether its server is still there.
const LOOK_AROUND: Duration = Duration::from_millis(200);

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
