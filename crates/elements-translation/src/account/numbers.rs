//! Where the message numbers of each of an exporter's domains stand.
//!
//! A collector takes a gap in a domain's numbers for lost messages. Workers are domains of their own, and a new configuration may have other workers
//! than the one before: a domain's numbers have to go on also if it had no worker for a while. Whichever instance of the new configuration gets what an old one
//! knew puts it here, and each takes what is its own before it sends.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The next message of a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number {
    /// Its number.
    pub(super) sequence: u32,
    /// Since when the domain is up, in milliseconds of the clock.
    pub(super) boot_ms: i64,
}

/// Those of the domains that have sent, and whose workers have not taken them since this configuration began. Shared by an element's instances.
#[derive(Default)]
pub(super) struct Numbers(Mutex<BTreeMap<u32, Number>>);

/// All that an instance knows of its own domain and of others.
pub(super) type Known = BTreeMap<u32, Number>;

impl Numbers {
    /// Each change is complete, whatever happens behind it.
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a domain's number, if a configuration before had one for it.
    pub(super) fn take(&self, domain: u32) -> Option<Number> {
        self.known().remove(&domain)
    }

    /// What goes to the next configuration from a domain's instance.
    pub(super) fn with(&self, domain: u32, number: Number) -> Known {
        let mut known = self.known().clone();
        known.insert(domain, number);
        known
    }

    /// What comes from an instance of the configuration before.
    pub(super) fn adopt(&self, known: Known) {
        self.known().extend(known);
    }
}
