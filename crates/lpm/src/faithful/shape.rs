//! What the classical tables differ in.

use rcu::{Domain, Turn};

use super::book::Book;
use crate::prefix::Prefix4;
use crate::table::TableError;

/// What readers see of a table, and how it follows the routes of record.
pub trait Shape: Send + Sync + Sized + 'static {
    /// What only the writer needs.
    type Writer: Send;

    /// A shape that matches nothing.
    fn new(domain: &'static Domain) -> (Self, Self::Writer);

    /// The id for `addr`.
    fn find(&self, addr: u32, turn: Turn<'_>) -> Option<u32>;

    /// Makes readers see what `book` says of the addresses inside `changed`; all or nothing.
    ///
    /// # Errors
    /// [`TableError`]; nothing has changed then.
    fn follow(&self, writer: &mut Self::Writer, book: &Book, changed: &[Prefix4]) -> Result<(), TableError>;
}
