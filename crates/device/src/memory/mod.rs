//! In-memory interfaces: frames come from a set or from a test, and go to counters or to another interface.
//!
//! An [`Interface`] has receive queues and transmit queues. A worker takes a queue ([`Interface::take_rx`],
//! [`Interface::take_tx`]) and owns it until it drops it; a queue has one owner at a time, so the packet path needs
//! no lock, and its counters have one writer. What the workers of one interface share is the immutable set of
//! frames they send, and, where a test or a checker listens, bounded rings of frames.
//!
//! No system call is made and, once the rings are filled with buffers, nothing is allocated.
//! Measurements over these interfaces say what the router costs, not what a network card would do.

mod counters;
mod feeder;
mod interface;
mod receive;
mod ring;
mod transmit;

pub use counters::Stats;
pub use interface::{Config, Feed, InjectError, Interface, Interfaces, NameTaken, TapConfig};
pub use receive::RxQueue;
pub use transmit::TxQueue;

pub use crate::frames::FrameSet;
