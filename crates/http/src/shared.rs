//! What all requests share, and where the router comes from.

use crate::clients::Bounds;
use crate::history::History;
use crate::survey::Surveys;
use crate::token::Token;
use router::{Handle, Info, TraceStep};
use std::sync::{Arc, Mutex};
use tokio::sync::Semaphore;

/// Where the router comes from: another one may take its place while the server runs.
pub struct Source {
    /// The router that runs, as long as one does.
    pub current: Box<dyn Fn() -> Option<Handle> + Send + Sync>,
    /// Puts a configuration in the place of the running one, and says what came of it.
    pub replace: Option<Replace>,
}

/// Puts a configuration in the place of the running one: says as JSON what changed or would change, or why nothing did.
pub type Replace = Box<dyn Fn(Replacement) -> Result<serde_json::Value, String> + Send + Sync>;

/// A configuration that is to run.
pub struct Replacement {
    /// The configuration's text.
    pub text: String,
    /// Only say what would change.
    pub dry_run: bool,
    /// Go back unless it is confirmed within so many seconds.
    pub confirm_s: Option<u64>,
}

/// Says what a step of a traced packet is.
pub type Tell = fn(&Info, &TraceStep) -> serde_json::Value;

/// What all requests share.
pub(crate) struct Shared {
    pub(crate) source: Source,
    pub(crate) token: Option<Token>,
    pub(crate) surveys: Mutex<Surveys>,
    pub(crate) history: Mutex<History>,
    /// Whether only this machine can reach the server.
    pub(crate) local: bool,
    pub(crate) bounds: Bounds,
    /// Says what the steps of traced packets are.
    pub(crate) tell: Tell,
    /// Places for streams of events.
    pub(crate) streams: Arc<Semaphore>,
    /// One table is listed at a time: the list of a million routes is large.
    pub(crate) listing: Semaphore,
}
