//! The grace periods that Clique uses, as one flavour among others.
//!
//! The documentation of `rcu` argues why they are correct. Entering a read section does nothing: a thread is a reader
//! from its first section until its next quiescent state, so references live within the turn that
//! [`Thread::quiescent`] ends.

use rcu::{Config, Domain, Reader, Turn, Updater};

use crate::{
    flavour::{Flavour, Thread},
    garbage::Garbage,
    sync::Arc,
};

/// Quiescent-state-based reclamation over a [`Domain`] of its own.
#[derive(Clone, Debug)]
pub struct Qsbr {
    domain: Arc<Domain>,
}

impl Qsbr {
    /// A new instance with the default [`Config`].
    pub fn new() -> Self {
        Self::with_config(Config::default())
    }

    /// A new instance.
    pub fn with_config(config: Config) -> Self {
        // SAFETY: neither the domain nor its turns are given out: a section keeps its turn to itself.
        Self { domain: Arc::new(unsafe { Domain::isolated(config) }) }
    }

    /// Counters and present state.
    pub fn stats(&self) -> rcu::Stats {
        self.domain.stats()
    }
}

impl Default for Qsbr {
    fn default() -> Self {
        Self::new()
    }
}

// SAFETY: the grace-period guarantee of `rcu`.
unsafe impl Flavour for Qsbr {
    const NAME: &'static str = "qsbr";
    type Thread = QsbrThread;

    fn register(&self) -> QsbrThread {
        QsbrThread {
            reader: self.domain.register("thread"),
            updater: self.domain.updater(),
            domain: self.domain.clone(),
        }
    }
}

/// A thread's handle of [`Qsbr`].
#[derive(Debug)]
pub struct QsbrThread {
    reader: Reader,
    updater: Updater,
    domain: Arc<Domain>,
}

/// A section of [`Qsbr`]: no more than a proof that the thread is online.
#[derive(Debug)]
pub struct QsbrSection<'a> {
    _turn: Turn<'a>,
}

// SAFETY: as for `Qsbr`. The sections' guards borrow the handle, so they end before its quiescent states.
unsafe impl Thread for QsbrThread {
    type Read<'a> = QsbrSection<'a>;
    type Update<'a> = QsbrSection<'a>;

    #[inline]
    fn read(&mut self) -> QsbrSection<'_> {
        QsbrSection { _turn: self.reader.turn() }
    }

    #[inline]
    fn update(&mut self) -> QsbrSection<'_> {
        self.read()
    }

    #[inline]
    fn quiescent(&mut self) {
        self.reader.quiescent();
    }

    fn offline(&mut self) {
        self.reader.offline();
    }

    #[inline]
    fn asked(&self) -> bool {
        self.reader.asked()
    }

    fn synchronize(&mut self) {
        self.reader.synchronize();
    }

    /// Waits only if too much memory waits already.
    fn retire(&mut self, garbage: Garbage) {
        let bytes = garbage.bytes();
        if let Err(refused) = self.updater.call(bytes, move || drop(garbage)) {
            self.reader.synchronize();
            refused.into_inner()();
        }
    }

    fn barrier(&mut self) {
        self.reader.offline();
        self.domain.barrier();
    }
}
