//! Read-copy update for user space: grace periods and deferred reclamation.

mod cell;
mod defer;
mod domain;
mod reader;
mod registry;
mod stats;
mod sync;

pub use cell::{Cell, OptionCell};
pub use defer::{Backpressure, Updater};
pub use domain::{Config, Domain, Token};
pub use reader::{Guard, Reader, Turn};
pub use stats::{Latency, Stall, Stats};
