//! Read-copy update for user space: grace periods and deferred reclamation.
