//! Longest-prefix-match tables for IPv4 and IPv6 that change under their readers.
//!
//! [`Table`] maps prefixes to `u32` ids of the caller's choice. Packet workers look addresses up without locks,
//! one at a time or in batches; one writer at a time changes routes, publishes each change by single atomic
//! stores, and reuses memory after a grace period. [`Naive`] does the same slowly and obviously. [`Routes`]
//! keeps the values (next hops) behind the ids; [`import`] reads route lists. The crate knows nothing of next
//! hops, packets, or where routes come from. [`faithful`] has the classical tables: the radix trie, DIR-24-8, ranges,
//! the linear list; [`LongestMatch`] is what all have in common. Tests are beside the modules and in `tests/`:
//! `conformance` holds every table against the naive one, `concurrent` checks lookups during updates.
//!
//! # What a lookup walks
//!
//! ```text
//!  address   |---- 18 bits ----|-- 6 --|-- 6 --| ...          entry (32 bits)
//!                    |             |                          0            nothing matches
//!   root (1 MiB)     v             |                          1..2^31-1    leaf: id + 1
//!  +---+---+-- ... +---+-- ... +   |                          2^31 | word  block at that word
//!  | e | e |       | e |       |   |
//!  +---+---+-- ... +-|-+-- ... +   |
//!                    v             v slot s
//!  block     +----------------------------------+
//!  word 0    | bit s: a run begins at slot s    |   run = number of set bits among 0..=s
//!            +----------------+-----------------+
//!  word 1    | entry of run 2 | entry of run 1  |
//!            +----------------+-----------------+
//!  word 2    | entry of run 4 | entry of run 3  |   2 to 33 words in all, by the number of runs
//!            +----------------+-----------------+
//! ```
//!
//! A block stands for 64 slots; equal neighbouring slots are one *run* with one entry, so that a route costs 4 bytes
//! however many slots it covers. Bitmap and entry are mostly in the same cache line. A node all of whose slots
//! are equal has no block: its parent holds the leaf. An IPv4 lookup reads the root and, for all but
//! 961 prefixes of the global table, at most one block.
//!
//! # How it changes
//!
//! The writer keeps the routes in a trie of its own, with the same six bits a node. A change repaints the
//! nodes it reaches. If the runs of a block stay as they were, changed entries are stored in place;
//! otherwise a new block is built beside the old one, and its parent's entry is redirected by one store.
//! An old block is reused after a grace period ([`rcu::Domain::start`]), and not before, because a reader
//! may still be in it. Memory grows by chunks that never move. A change that does not fit into the memory limit
//! is undone before any reader could see it.
#![deny(unsafe_code)]

mod arena;
mod dispatch;
pub mod faithful;
mod fib;
mod group;
pub mod import;
mod longest;
mod naive;
mod prefix;
mod rib;
mod routes;
mod table;
mod update;

pub use fib::{MAX_ID, NONE};
pub use group::Group;
pub use longest::LongestMatch;
pub use naive::Naive;
pub use prefix::{Key, Prefix, Prefix4, Prefix6, PrefixError};
pub use routes::{Routes, RoutesError};
pub use table::{Table, Table4, Table6, TableError, TableStats};
