//! The way to what an element remembers of connections, for who keeps a copy of it at another node.
//!
//! An element offers a [`StatePort`] beside its table. What it remembers are *entries*: a key and what belongs to it, as bytes that only
//! its namesakes understand. One asker at a time watches a table: it takes what has changed since it asked last, and looks at all that is
//! there in pieces, while packets go on. At another node a namesake adopts entries.
//!
//! An entry is *confirmed* once more than its first packet has come: what that is, each table says. Others are told only when all that is
//! there has to move, so that a flood of first packets costs no other node anything.

use router::{Config, ConfigError, Cx};
use std::sync::Arc;

/// Bytes of an entry, key and value together, at most.
pub const MOST_BYTES: usize = 1024;

/// What is told of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry<'b> {
    /// It is new, or has changed.
    Put {
        /// By what it is found.
        key: &'b [u8],
        /// What belongs to it.
        value: &'b [u8],
    },
    /// It is there no more.
    Gone {
        /// By what it was found.
        key: &'b [u8],
    },
}

/// What became of an entry that came from another node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adopted {
    /// It is in the table.
    Taken,
    /// There is such an entry already; it stays as it is.
    Known,
    /// Another entry has what it needs, above all the port; that one stays.
    Contended,
    /// It does not fit this element, or there is no room.
    Refused,
}

/// Too much has changed since what was taken last: all that is there has to be looked at again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overrun;

/// A table of entries.
pub trait StatePort: Send + Sync {
    /// Says, before packets come, that the table may be watched.
    fn expect(&self) {}

    /// Begins or ends to note changes.
    ///
    /// # Errors
    /// Why it cannot: another element watches the table.
    fn watch(&self, is_wanted: bool) -> Result<(), String>;

    /// From now on, until it is watched anew, changes of entries that are not confirmed are noted, too: as long as there is room to spare,
    /// so that they never are an overrun.
    fn widen(&self) {}

    /// Tells what has changed since this was asked last, as it is now: looks at `most` changes, the oldest first. Whether more wait.
    ///
    /// # Errors
    /// [`Overrun`]; nothing is told then.
    fn changes(&self, cx: &Cx<'_>, most: usize, tell: &mut dyn FnMut(Entry<'_>)) -> Result<bool, Overrun>;

    /// Tells of the entries that are there, those that are confirmed or the others, from a place on, of which it looks at `most`. The place
    /// to go on at; `None` at the end. What changes meanwhile, [`StatePort::changes`] tells.
    fn scan(
        &self,
        cx: &Cx<'_>,
        is_confirmed: bool,
        from: u32,
        most: usize,
        tell: &mut dyn FnMut(Entry<'_>),
    ) -> Option<u32>;

    /// Takes entries that another node had, as used just now: keys with values.
    fn adopt(
        &self,
        cx: &Cx<'_>,
        now_ms: u64,
        entries: &mut dyn Iterator<Item = (&[u8], &[u8])>,
        became: &mut dyn FnMut(Adopted),
    );
}

/// An element's shared part that holds its port.
pub struct Port(Arc<dyn StatePort>);

impl Port {
    /// Offers a table.
    ///
    /// # Errors
    /// As those of [`Config::shared`].
    pub fn offer(config: &mut Config<'_>, table: Arc<dyn StatePort>) -> Result<(), ConfigError> {
        config.shared(|| Ok(Port(table)))?;
        Ok(())
    }

    /// That of the element with a name, seen from the element that asks, once all are configured.
    ///
    /// # Errors
    /// There is no such element, or it has no state that can move.
    pub fn of(cx: &Cx<'_>, name: &str) -> Result<Arc<dyn StatePort>, String> {
        let port: Arc<Port> =
            cx.shared_of(name, "rewriter, ConnTrack, lookup with FLOWS or other stateful")?;
        port.0.expect();
        Ok(port.0.clone())
    }
}
