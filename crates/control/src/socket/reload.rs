//! Requests that concern the configuration as a whole: who answers them is the program.

use std::sync::Arc;

/// Takes requests to replace the configuration, and the like.
pub trait Reloads: Send + Sync {
    /// Carries out a request and waits until that is done; the answer, as the program's own client understands it. Called on threads of
    /// connections, never on a worker's.
    fn serve(&self, request: &str) -> String;
}

/// What the program gives the sockets of a configuration that may be replaced, as a resource of its elements.
#[derive(Clone)]
pub struct ReloadService(pub Arc<dyn Reloads>);
