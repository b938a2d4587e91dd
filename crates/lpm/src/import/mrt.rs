//! MRT files (RFC 6396, with the additional paths of RFC 8050): what route collectors store.
//!
//! It reads the unicast routes of table dumps (`TABLE_DUMP`, `TABLE_DUMP_V2`), and what peers say afterwards (`BGP4MP`, `BGP4MP_ET`):
//! updates, and the ends of sessions, with which a peer's routes go. Of a route's attributes it uses only the next hop and the length of
//! the AS path, but it checks the others as a BGP speaker does (RFC 4271, RFC 7606, RFC 7607). It skips other records, messages other than
//! updates, and messages that the collector sent. A record that is wrong is left out, named and counted. The reader is total.
//! `docs/src/design/mrt.md` says why this is not the crate bgpkit-parser; the tests compare the two.
//!
//! ```
//! # let file = include_bytes!("../../tests/data/updates.mrt");
//! use lpm::import::mrt::{Event, read};
//! let mut announced = 0;
//! let faults = read(file, &mut |event| {
//!     announced += u32::from(matches!(event, Event::Route(route) if route.path.is_some()));
//! });
//! assert_eq!((announced, faults.count()), (3, 0));
//! ```

mod attributes;
mod best;
mod bytes;
mod dump;
mod event;
mod message;
mod records;
#[cfg(test)]
mod tests;

use super::choice::Choice;
use super::fault::{Fault, Faults};
use super::list::List;
use best::Best;
use event::WidePeers;
use records::{Record, Records};

pub use super::fault::{RecordError, SessionError};
pub use event::{Event, Path, Peer, Route};
pub use records::is_mrt;

/// Reads a file, calling `visit` with each route in it, and with each end of a session. Returns what could not be read.
pub fn read(bytes: &[u8], visit: &mut dyn FnMut(Event)) -> Faults {
    let (mut faults, mut peers, mut events) = (Faults::default(), Vec::new(), Vec::new());
    let mut wide = WidePeers::default();
    for Record { number, offset, content } in Records::new(bytes) {
        let done = content.and_then(|content| match content.kind {
            12 => dump::first(&content, &mut events),
            13 => dump::second(&content, &mut peers, &mut events),
            16 | 17 => message::read(&content, &mut events),
            kind if records::is_known(kind) => Ok(()),
            kind => Err(RecordError::Type(kind)),
        });
        if let Err(error) = done {
            // The routes of a wrong record are not used, but what a wrong update withdraws is withdrawn.
            if !matches!(error, RecordError::Attribute(_) | RecordError::Session(_)) {
                events.clear();
            }
            faults.add(Fault::Record { number, offset, error });
        }
        for mut event in events.drain(..) {
            wide.resolve(&mut event);
            visit(event);
        }
    }
    faults
}

/// The best route for each prefix: of the peers' routes that are in force at the end of the file, the one with the shortest path;
/// of several, the first.
pub fn list(bytes: &[u8]) -> List {
    // Where nothing changes after a dump, the best routes alone need to be remembered, not those of all peers.
    if Records::new(bytes).any(|record| record.content.is_ok_and(|content| matches!(content.kind, 16 | 17))) {
        let (mut choice, mut routes) = (Choice::new(), 0);
        let faults = read(bytes, &mut |event| {
            routes += u64::from(matches!(event, Event::Route(_)));
            choice.enter(&event, &mut |_| ());
        });
        let mut list = choice.list();
        (list.skipped, list.faults) = (routes.saturating_sub(list.len() as u64), faults);
        return list;
    }
    let mut best = Best::default();
    let faults = read(bytes, &mut |event| best.enter(event));
    List { faults, ..best.list() }
}
