//! Who waits for what becomes of a new configuration.

use crate::handlers::response::Response;
use crate::shared::mailbox::{Mailbox, Message};
use std::sync::Arc;
use std::sync::mpsc::{SendError, Sender};

/// Who wrote a configuration to the handler `hotconfig`, and is told what becomes of it.
pub struct Writer {
    sender: Sender<Response>,
    /// The mailbox of the worker whose computation waits, and the number of its call.
    waiting: Option<(Arc<Mailbox>, u64)>,
}

impl Writer {
    /// A thread that waits until the configuration is in its place, or refused.
    pub fn thread(sender: Sender<Response>) -> Writer {
        Writer { sender, waiting: None }
    }

    /// A computation that was parked under this number.
    pub(crate) fn computation(sender: Sender<Response>, mailbox: Arc<Mailbox>, call: u64) -> Writer {
        Writer { sender, waiting: Some((mailbox, call)) }
    }

    /// Whether it is to be told as soon as the configuration is built: it is a part of the router that is replaced
    /// then, and would hear no more.
    pub fn is_replaced(&self) -> bool {
        self.waiting.is_some()
    }

    /// Tells what has become of the configuration.
    ///
    /// # Errors
    /// The response, if the writer is gone.
    pub fn tell(self, response: Response) -> Result<(), Response> {
        self.sender.send(response).map_err(|SendError(response)| response)?;
        if let Some((mailbox, call)) = self.waiting {
            mailbox.send(Message::Unpark { call });
        }
        Ok(())
    }
}
