//! Connection tracking: which packets belong to a connection that is known.
//!
//! [`sight`] reads a packet, [`table`] has the connections, [`state`] says what a packet makes of one and [`window`] whether it can belong to
//! it at all. Addresses are not changed: that is what rewriters are for.

pub(crate) mod conn_track;
mod conn_track_confirm;
mod copy;
mod left;
mod listing;
mod load;
mod number;
mod record;
mod sight;
mod state;
mod table;
#[cfg(test)]
mod table_tests;
mod window;

use router::Class;

pub(crate) use state::State;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[&conn_track::CLASS, &conn_track_confirm::CLASS];
