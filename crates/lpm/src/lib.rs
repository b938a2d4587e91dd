//! Longest-prefix-match tables for IPv4 and IPv6 that change under their readers.
//!
//! [`Table`] maps prefixes to `u32` ids that the caller chooses. Packet workers look up addresses without locks, one at
//! a time or in batches. One writer at a time changes routes, publishes each change by single atomic stores, and reuses
//! memory after a grace period. [`Naive`] does the same slowly and obviously. [`Routes`] keeps the values (next hops)
//! behind the ids; [`import`] reads route lists. [`faithful`] has the classical tables: the radix trie, DIR-24-8,
//! ranges, the linear list; [`LongestMatch`] is the interface that all tables share. The crate knows nothing of packets
//! or of where routes come from. Tests are beside the modules and in `tests/`: `conformance` compares every table with
//! the naive one, `concurrent` checks lookups during updates.
//!
//! # The structure that a lookup reads
//!
//! ```text
//!  IPv4      |---- 18 bits ----|-- 6 --|-- 6 --| 2 |                 entry (32 bits)
//!  IPv6      |-- 16 --|-- 10 --|-- 6 --|-- 6 --| ...                  0            nothing matches
//!               |         |        |                                   1..2^31-1    leaf: id + 1
//!   root        v         |        |      IPv4: 2^18 entries, 1 MiB    1 | word | w block at that word, entries of
//!  +---+-- ... +---+---+  |        |      IPv6: 2^16 entries, 256 KiB  31   29   2  2^w bytes; w = 3: page there
//!  | e | e     | e | e |  |        |
//!  +---+-- ... +-|-+---+  |        |
//!        +-------+        |        |
//!        v                v        |
//!  page  +---+-- ... +---+---+     |      IPv6 only: 2^10 entries, 4 KiB
//!        | e | e     | e | e |     |
//!        +---+-- ... +-|-+---+     |
//!              +-------+           |
//!              v                   v slot s
//!  block  +--------------------------------------------+  run = number of set bits among 1..=s
//!  word 0 | bit s: a run begins at slot s > 0          |
//!         +----+----+----+----+----+----+----+---------+
//!  word 1 | r7 | r6 | r5 | r4 | r3 | r2 | r1 | run 0   |  1-byte entries: 2 to 9 words in all
//!         +----+----+----+----+----+----+----+---------+
//!     or  |  run 3  |  run 2  |  run 1  |    run 0     |  2-byte entries: 2 to 17 words
//!         +---------+---------+---------+--------------+
//!     or  |       run 1       |         run 0          |  4-byte entries: 2 to 33 words
//!         +-------------------+------------------------+
//! ```
//!
//! A block covers 64 slots; equal adjacent slots form one *run* with one entry. A block's entries are as wide as its
//! largest id needs: 1 byte for ids up to 254, 2 bytes for ids up to 65,534, and 4 bytes for larger ids or if the
//! block refers to blocks below. So assign small ids first, as [`Routes`] does. Bitmap and entry are mostly in the
//! same cache line: a block of up to a line lies within one, and a longer block begins at one. A node whose slots are
//! all equal has no block: its parent holds the leaf.
//!
//! An IPv4 lookup reads the root and, for all but 961 prefixes of the global table, at most one block. Root and
//! blocks of the global table, with 256 next hops, take 2.8 MiB (`docs/src/design/ipv4-lookups.md` says what a
//! smaller root would gain). An IPv6 lookup reads a root of which some sixty entries are in use, one of about
//! as many pages, and up to four blocks for prefixes of up to 50 bits.
//!
//! A batch is processed level by level, 32 addresses at a time. Each level is a loop over all of them, without a
//! branch that depends on an address. The loop ends with prefetches of what the next level reads, so that cache
//! misses overlap. With AVX-512, batches are computed in registers that hold sixteen lookups: positions in the root
//! and in blocks, population counts, and entries of different widths. An IPv4 lookup still loads its data with single
//! loads, behind prefetches that run a group of 32 ahead; an IPv6 lookup, which reads more, gathers.
//!
//! # How changes are made
//!
//! The writer keeps the routes in a trie of its own, with up to six bits a node:
//!
//! ```text
//!  node: 96 bytes and two arrays of 4-byte numbers               positions
//!  +--------------+------+---------------------------------------+          1          as short as its parent's slot
//!  | prefixes     | 16 B | bit p: a prefix at position p         |       2     3       one bit longer
//!  | ids          | 24 B | their ids, in the order of the bits   |      4 5   6 7      p covers 2p and 2p + 1
//!  | slots        |  8 B | bit s: a child in slot s              |        ...
//!  | children     | 24 B | the children, in the order of the bits|    64 65 ... 127    slots 0 to 63
//!  | dirty slots  |  8 B | slots whose blocks may be out of date |
//!  | dirty        |  1 B | whether its own may be                |
//!  | inherited    |  4 B | the leaf its blocks were built over   |
//!  | entry        |  4 B | what stands for it in the blocks above|
//!  +--------------+------+---------------------------------------+
//! ```
//!
//! A change recomputes the nodes that it reaches. If the runs of a block stay the same, changed entries are stored in
//! place. Otherwise a new block is built beside the old one, and one store redirects the parent's entry to it. An old
//! block is reused only after a grace period ([`rcu::Domain::start`]), because a reader may still be in it. Address
//! space is reserved once, memory is used as the table grows, and nothing ever moves. A change that does not fit into
//! the memory limit is undone before any reader can see it.
#![deny(unsafe_code)]

mod arena;
pub mod faithful;
mod fib;
mod group;
pub mod import;
mod longest;
mod machine;
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
pub use routes::{Routes, RoutesError, View};
pub use table::{Table, Table4, Table6, TableError, TableStats};

/// The example of the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
