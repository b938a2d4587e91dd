//! Packet buffers, per-worker pools, packets, batches and annotations.
//!
//! A [`Packet`] exclusively owns one fixed-size buffer: metadata in its first two cache lines, then headroom, data
//! and tailroom. Buffers come from a worker's [`Pool`], which exchanges blocks of free buffers with a process-wide
//! arena, so allocation touches shared memory only once per block. A [`Batch`] is an ordered vector of packets.
//!
//! ```text
//!  buffer (2,112 bytes; 69,696 in the large class)
//! +----------------+----------------+------------+------------------+------------+
//! | metadata 0..64 | meta 64..128   |  headroom  |       data       |  tailroom  |
//! | hot: positions | time, device,  |            |                  |            |
//! | + annotations  | free links     |            |                  |            |
//! +----------------+----------------+------------+------------------+------------+
//! ```
//!
//! The crate knows nothing of protocols, elements or devices. All of its `unsafe` rests on one invariant: a buffer
//! index is in exactly one place at a time (a packet, a pool's free list, a block in the depot, the orphan chain, a device).
//! `tests/packet.rs` checks that against a model, with several threads passing packets around.

mod anno;
mod arena;
mod batch;
mod fifo;
mod memory;
mod packet;
mod pool;
mod roomy;
mod window;

pub use anno::Anno;
pub use arena::{Class, LARGE_STRIDE, SMALL_STRIDE, strays};
pub use batch::{BATCH_MAX, Batch};
pub use fifo::Fifo;
pub use memory::{prefetch, prefetch_all, prefetch_span, roomy_vec};
pub use packet::{ANNO_BYTES, DEFAULT_HEADROOM, FlowTag, Kind, Packet};
pub use pool::{Pool, Usage, circulating, usage};
pub use roomy::Roomy;
pub use window::{Borrower, Loan, Window};

/// The example of the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
