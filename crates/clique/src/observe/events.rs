//! The events of a trace or a capture, until the router ends it or ^C does.

use super::object;
use crate::console;
use control::Client;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

/// Events that have been read and wait; what comes more waits in the router, which drops what is too much and counts it.
const WAITING_MAX: usize = 64;
/// How often the program looks whether it is interrupted.
pub(super) const LOOK_AROUND: Duration = Duration::from_millis(50);

/// The signals that end a command before its events do. They are caught from here on.
pub(super) struct Interrupts(Arc<AtomicBool>);

impl Interrupts {
    /// Begins to catch them.
    ///
    /// # Errors
    /// That they cannot be caught.
    pub(super) fn catch() -> Result<Interrupts, String> {
        let caught = console::interrupts();
        caught.map(Interrupts).map_err(|error| format!("signals: {}", console::reason(&error)))
    }

    /// Whether one has come.
    pub(super) fn have_come(&self) -> bool {
        self.0.load(Relaxed)
    }
}

/// The next event of a trace or a capture.
pub(crate) fn event(client: &mut Client) -> Result<Value, String> {
    object(&client.event().map_err(|failure| failure.to_string())?)
}

/// Whether an event is the last one.
pub(super) fn is_end(event: &Value) -> bool {
    event["end"].as_bool() == Some(true)
}

/// Events as they come.
pub(super) struct Events {
    events: Receiver<Result<Value, String>>,
}

impl Events {
    /// Of a client that has asked for them.
    pub(super) fn of(mut client: Client) -> Events {
        let (sender, events) = mpsc::sync_channel(WAITING_MAX);
        std::thread::spawn(move || {
            loop {
                let event = event(&mut client);
                let is_last = event.as_ref().map_or(true, is_end);
                if sender.send(event).is_err() || is_last {
                    break;
                }
            }
        });
        Events { events }
    }

    /// The next one; none when the command is interrupted: the router ends its part when the connection is gone.
    ///
    /// # Errors
    /// That the connection has ended, or what came is no event.
    pub(super) fn next(&self, interrupts: &Interrupts) -> Result<Option<Value>, String> {
        while !interrupts.have_come() {
            match self.events.recv_timeout(LOOK_AROUND) {
                Ok(event) => return event.map(Some),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err("the connection has ended".to_owned()),
            }
        }
        Ok(None)
    }
}
