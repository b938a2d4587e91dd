//! What the threads of a server have in common.

use super::reload::ReloadService;
use crate::metrics::{Collector, Format};
use router::{Call, Handle, HandlerErrorKind, HandlerResult, Level, Response};
use std::fs::File;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Connections at a time, at most.
const CONNECTIONS_MAX: usize = 64;

/// How long a client waits for a place that another one is to leave.
const EVICTION: Duration = Duration::from_millis(500);

/// How long a connection waits for a router that takes the place of one that stopped.
const SUCCESSION: Duration = Duration::from_millis(300);

/// Whom a server's clients talk to, and what they may do.
#[derive(Clone)]
pub(super) struct Target {
    pub(super) handle: Handle,
    /// The element that owns the server, in whose name messages are; none owns the program's.
    pub(super) element: Option<usize>,
    /// The element that answers in the place of all others.
    pub(super) proxy: Option<String>,
    pub(super) read_only: bool,
    pub(super) verbose: bool,
    /// What takes requests to replace the configuration, where that is allowed.
    pub(super) reloads: Option<ReloadService>,
}

/// What the threads of a server have in common.
pub(super) struct Shared {
    pub(super) state: Mutex<State>,
    pub(super) changed: Condvar,
    pub(super) collector: Mutex<Collector>,
}

pub(super) struct State {
    pub(super) target: Arc<Target>,
    pub(super) closed: bool,
    pub(super) connections: Vec<Connection>,
}

/// What a connection does. When another one needs a place, one of those gives way that do what comes first here; none that works.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Occupation {
    /// Waits for its client.
    Waits,
    /// Reports events.
    Watches,
    /// Carries out what its client has asked for.
    Works,
}

pub(super) struct Connection {
    pub(super) number: i32,
    pub(super) socket: File,
    pub(super) occupation: Occupation,
    /// Since when it does that.
    pub(super) since: Instant,
}

impl Connection {
    pub(super) fn shut(&self, which: rustix::net::Shutdown) {
        // Who has gone already is no news.
        let _ = rustix::net::shutdown(&self.socket, which);
    }
}

impl Shared {
    /// Notes what a connection does from now on.
    pub(super) fn occupy(&self, number: i32, occupation: Occupation) {
        let mut state = self.lock();
        if let Some(connection) = state.connections.iter_mut().find(|known| known.number == number) {
            (connection.occupation, connection.since) = (occupation, Instant::now());
        }
    }

    /// Finds a place for another connection: where all are in use, that of the one that has waited longest. None if all of them work.
    pub(super) fn place(&self) -> Option<MutexGuard<'_, State>> {
        let state = self.lock();
        if state.connections.len() < CONNECTIONS_MAX {
            return Some(state);
        }
        let idle = state.connections.iter().filter(|known| known.occupation != Occupation::Works);
        idle.min_by_key(|known| (known.occupation, known.since))?.shut(rustix::net::Shutdown::Both);
        let full = |state: &mut State| state.connections.len() >= CONNECTIONS_MAX;
        let waited = self.changed.wait_timeout_while(state, EVICTION, full);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        (state.connections.len() < CONNECTIONS_MAX).then_some(state)
    }

    /// What collects metrics for the connections, for one at a time.
    pub(super) fn collector(&self) -> MutexGuard<'_, Collector> {
        self.collector.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whom to talk to now.
    pub(super) fn target(&self) -> Arc<Target> {
        self.lock().target.clone()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Waits a moment for another target than this one; whether it came.
    pub(super) fn changes_soon(&self, old: &Arc<Target>) -> bool {
        let same = |state: &mut State| !state.closed && Arc::ptr_eq(&state.target, old);
        let waited = self.changed.wait_timeout_while(self.lock(), SUCCESSION, same);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        !Arc::ptr_eq(&state.target, old)
    }

    /// Calls a handler; what it warns of goes where messages of elements go.
    pub(super) fn call(&self, call: &Call) -> HandlerResult {
        self.with_router(|handle| handle.call(call.clone()).into()).result
    }

    /// Calls a handler.
    pub(super) fn ask(&self, call: &Call) -> Response {
        self.with_router(|handle| handle.ask(call.clone()))
    }

    /// Its metrics.
    pub(super) fn metrics(&self, format: Format) -> HandlerResult {
        let asked = Instant::now();
        self.with_router(|handle| self.collector().read(handle, format, asked).into()).result
    }

    fn with_router(&self, question: impl Fn(&Handle) -> Response) -> Response {
        loop {
            let target = self.target();
            let response = question(&target.handle);
            let stopped =
                response.result.as_ref().is_err_and(|error| error.kind == HandlerErrorKind::Stopped);
            // Another router may just have taken the place of the one that was asked.
            if !stopped || !self.changes_soon(&target) {
                return response;
            }
        }
    }

    pub(super) fn log(&self, what: &str) {
        let target = self.target();
        match target.element {
            Some(_) => target.handle.info().say(target.element, Level::Info, what),
            None => target.handle.info().say(None, Level::Info, format_args!("control socket: {what}")),
        }
    }

    pub(super) fn log_verbosely(&self, what: &str) {
        if self.target().verbose {
            self.log(what);
        }
    }
}
