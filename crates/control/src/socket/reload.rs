//! Requests that concern the configuration as a whole: who answers them is the program.

use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Takes requests to replace the configuration, and the like.
pub trait Reloads: Send + Sync {
    /// Carries out a request and waits until that is done; the answer, as the program's own client understands it. Called on threads of
    /// connections, never on a worker's.
    fn serve(&self, request: &str) -> String;

    /// The same for a client at the other end of a connection, of which this is a copy: who it is may decide, and another process may
    /// answer.
    fn serve_client(&self, request: &str, connection: OwnedFd) -> String {
        drop(connection);
        self.serve(request)
    }
}

/// An answer as it goes to a client that has sent `RELOAD`.
pub fn reload_answered(answer: &str) -> Vec<u8> {
    let answer = lang::bytes::of_text(answer).into_owned();
    [format!("200 Reload answered\r\nDATA {}\r\n", answer.len()).into_bytes(), answer].concat()
}

/// What the program gives the sockets of a configuration that may be replaced, as a resource of its elements.
#[derive(Clone)]
pub struct ReloadService(pub Arc<dyn Reloads>);
