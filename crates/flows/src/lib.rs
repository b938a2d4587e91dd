//! A table of flows for one worker: what multi-path, translation, filters and accounting remember of each flow.
//!
//! [`Table`] maps keys to values. Nothing in it is shared, so that a look-up takes no lock and no atomic operation. The full key is
//! compared, never a hash alone. A record may have two keys ([`Pairs`]): a flow and its replies are one record, and [`Slot::is_reverse`]
//! says by which of the two it was found. The crate knows nothing of packets or of where keys come from; of `packet` it has prefetches and
//! large pages. Tests are beside the modules and in `tests/`: `model` compares the table with a map under random operations.
//!
//! # The structure that a look-up reads
//!
//! ```text
//!  bucket, a cache line       +----------------+------+--------------------------+
//!                             | 12 tags, 1 B   | past | 12 record numbers, 4 B   |
//!                             +----------------+------+--------------------------+
//!                                                          |
//!  record, 80 B for IPv4      +-----------------------+----v-+---------------+
//!  with two keys and a value  | one key, or two       | time | value         |
//!  of 32 B                    +-----------------------+------+---------------+
//! ```
//!
//! A look-up compares a byte of the hash with all tags of a bucket at once, and the keys of the records whose tags are equal. A record is
//! named in the first bucket from its own on that had room; `past` counts those that went past a bucket, so that a search ends at the
//! first that none went past. A bucket has eight names when the table is full, on average: 16 bytes of index for a record with
//! two keys. [`Table::find_batch`] asks for all buckets, then for all records, then looks. [`Recent`] has what was found lately, for callers whose packets
//! are of a few thousand flows: a look-up reads neither bucket nor hash then ([`Table::meet_known`]).
//!
//! # What a flood can do
//!
//! A flow is unconfirmed until [`Table::confirm`], by its second packet or when its handshake is complete, as the caller likes.
//! Unconfirmed flows have a part of the room ([`Limits::unconfirmed`]), in which a new one displaces the one that came first; where
//! [`Limits::earned`] asks for it, only with its second packet, so that a flood of first packets costs little and displaces none.
//! They never displace a confirmed flow: if those take all room, a new flow is refused. A prefix of source addresses may have a quota of
//! unconfirmed flows ([`Limits::quota`]). All memory is there from the beginning, and [`Table::grow`] alone asks for more.
//!
//! # Time
//!
//! Confirmed flows lie in lists by the quarter of a second in which they end if nothing more comes, and a packet only notes the time.
//! [`Table::expire`] looks at the lists that are due, ends flows, and moves the others to where they belong now. Each flow has one of eight
//! states, with an idle timeout each. Time is counted in steps of 2^20 ns, about a millisecond.
#![forbid(unsafe_code)]

mod bucket;
mod door;
mod hash;
mod index;
mod key;
mod limits;
mod lists;
mod quota;
mod recent;
mod records;
mod table;
mod time;

pub use hash::HashKey;
pub use key::{Destination4, Destination6, Key, Label, V4Tuple, V6Tuple};
pub use limits::{Limits, Refused, STATES, Stats};
pub use recent::Recent;
pub use records::Slot;
pub use table::{Flow, Guess, Met, Pairs, Table};

/// The example of the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
