//! The routes of a lookup element: prefixes, and the next hops that they lead to.
//!
//! Packets read both parts without locks, the prefixes through an [`lpm::LongestMatch`] and the next hops through
//! [`lpm::Routes`]. One writer at a time changes them. Equal next hops are stored once; an id is given up when no prefix leads to
//! it any more, and the vector reuses it after a grace period.
//!
//! Changes are gathered in a [`Draft`] and published together: those of one command, or of a transaction.

use super::draft::Draft;
use super::family::Family;
use super::hops::Hops;
use super::slots::{SlotPolicy, Slots};
use super::target::{Forwarding, Route, Target};
use lpm::{LongestMatch, Prefix};
use rcu::{Domain, Turn};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A change that a command asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change<F: Family> {
    /// A route for a new prefix.
    Add(Route<F>),
    /// A route for a prefix that may have one.
    Set(Route<F>),
    /// No route for a prefix; with a target, only if that is where it leads.
    Remove(Prefix<F::Key>, Option<Target<F::Address>>),
    /// No route for a prefix, whether or not it has one.
    Forget(Prefix<F::Key>),
    /// No route at all.
    Flush,
}

/// Why a change was refused; the table is as it was before.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal<F: Family> {
    /// There is a route for the prefix already: this one.
    Exists(Route<F>),
    /// There is no such route: this one, which leads nowhere if none was named that it leads to.
    Missing(Route<F>),
    /// A limit is reached.
    Full(String),
    /// Transactions do not nest.
    Open,
    /// There is no transaction.
    NotOpen,
}

/// The routes, over prefixes in a table `T`.
pub(super) struct RouteTable<F: Family, T> {
    prefixes: T,
    hops: Hops<F::Address>,
    /// Moves on with every change: odd while one is made, even otherwise.
    version: AtomicU64,
    /// The number of the table whose routes this one has, of a configuration that it replaces.
    followed: AtomicU64,
    books: Mutex<Books<F>>,
}

/// What only writers need.
struct Books<F: Family> {
    /// Places of the routes that were added one by one, for printing.
    slots: Slots<Prefix<F::Key>>,
    /// The changes of an open transaction.
    open: Option<Draft<F>>,
    /// The routes of the configuration, which a later one is to answer for.
    configured: HashMap<Prefix<F::Key>, Target<F::Address>>,
}

/// The number of a table's first state.
const FIRST_VERSION: u64 = 2;

/// A prefix, and where it leads from now on.
pub(super) type Decision<F> = (Prefix<<F as Family>::Key>, Option<Target<<F as Family>::Address>>);

impl<F: Family, T: LongestMatch<F::Key>> RouteTable<F, T> {
    pub(super) fn new(policy: SlotPolicy) -> Self {
        let domain = Domain::global();
        let books = Books { slots: Slots::new(policy), open: None, configured: HashMap::new() };
        RouteTable {
            prefixes: T::new(domain),
            hops: Hops::new(domain),
            version: AtomicU64::new(FIRST_VERSION),
            followed: AtomicU64::new(0),
            books: Mutex::new(books),
        }
    }

    fn books(&self) -> MutexGuard<'_, Books<F>> {
        // A writer that panicked left the books whole: each change is made in the tables first, then entered.
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next hop ids of many addresses, [`lpm::NONE`] where there is no route.
    #[inline]
    pub(super) fn lookup(&self, addresses: &[F::Key], ids: &mut [u32], turn: Turn<'_>) {
        self.prefixes.lookup_batch(addresses, ids, turn);
    }

    /// The next hop id of one address, [`lpm::NONE`] where there is no route.
    #[inline]
    pub(super) fn lookup_one(&self, address: F::Key, turn: Turn<'_>) -> u32 {
        self.prefixes.lookup(address, turn).unwrap_or(lpm::NONE)
    }

    /// Where an id leads that was looked up in this turn.
    #[inline]
    pub(super) fn forwarding<'t>(&'t self, id: u32, turn: Turn<'t>) -> Option<&'t Forwarding<F::Address>> {
        self.hops.read(id, turn)
    }

    /// The number of the table as it is now. What was looked up between two readings of the same even number is what a lookup finds as
    /// long as that is the number.
    #[inline]
    pub(super) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Notes that routes are copied from another table, as it is when it has this number; whether they were not yet.
    pub(super) fn follows(&self, version: u64) -> bool {
        self.followed.swap(version, Ordering::Relaxed) != version
    }

    /// Whether the table was this one from when the number was read until after all lookups so far.
    #[inline]
    pub(super) fn was(&self, version: u64) -> bool {
        // The lookups' loads come before this one: a worker that saw some of a change sees the number that it began with, or a later one.
        fence(Ordering::Acquire);
        version.is_multiple_of(2) && self.version.load(Ordering::Relaxed) == version
    }

    /// Makes the changes that the configuration asks for, and remembers which routes come of them.
    ///
    /// # Errors
    /// The first [`Refusal`].
    pub(super) fn configure(&self, changes: impl IntoIterator<Item = Change<F>>) -> Result<(), Refusal<F>> {
        self.change(changes)?;
        let mut books = self.books();
        books.configured = self.all(&books).into_iter().map(|route| (route.prefix, route.to)).collect();
        Ok(())
    }

    /// Makes changes in order, all or none: at once, or as part of the open transaction.
    ///
    /// # Errors
    /// The first [`Refusal`].
    pub(super) fn change(&self, changes: impl IntoIterator<Item = Change<F>>) -> Result<(), Refusal<F>> {
        let mut books = self.books();
        let mut draft = Draft::default();
        for change in changes {
            let known = |prefix| match books.open.as_ref().and_then(|open| open.get(prefix)) {
                Some(decided) => decided,
                None => self.hops.target(self.prefixes.get(prefix)?),
            };
            draft.enter(change, known)?;
        }
        self.publish(&mut books, draft)
    }

    /// Adds or replaces many routes at once: all or none. As in a list, the last of several for one prefix counts.
    ///
    /// # Errors
    /// [`Refusal::Full`].
    pub(super) fn set_all(&self, routes: impl IntoIterator<Item = Route<F>>) -> Result<(), Refusal<F>> {
        let mut books = self.books();
        if books.open.is_some() {
            let mut draft = Draft::default();
            for route in routes {
                draft.set(route);
            }
            return self.publish(&mut books, draft);
        }
        let mut decisions: Vec<Decision<F>> =
            routes.into_iter().map(|route| (route.prefix, Some(route.to))).collect();
        // Lists are mostly in order, and then no prefix comes twice.
        if !decisions.is_sorted_by(|(a, _), (b, _)| a < b) {
            decisions.reverse();
            decisions.sort_by_key(|&(prefix, _)| prefix);
            decisions.dedup_by_key(|&mut (prefix, _)| prefix);
        }
        self.commit_all(&mut books, false, &decisions)
    }

    /// Opens a transaction: changes from now on are published by [`RouteTable::commit`], all at once.
    ///
    /// # Errors
    /// [`Refusal::Open`].
    pub(super) fn begin(&self) -> Result<(), Refusal<F>> {
        let mut books = self.books();
        match books.open {
            Some(_) => Err(Refusal::Open),
            None => {
                books.open = Some(Draft::default());
                Ok(())
            }
        }
    }

    /// Publishes the changes of the transaction. If that fails, the transaction stays open.
    ///
    /// # Errors
    /// [`Refusal::NotOpen`], [`Refusal::Full`].
    pub(super) fn commit(&self) -> Result<(), Refusal<F>> {
        let mut books = self.books();
        let draft = books.open.take().ok_or(Refusal::NotOpen)?;
        let (flush, decisions) = (draft.flushes(), draft.decisions());
        let done = self.commit_in_order(&mut books, flush, &decisions);
        if done.is_err() {
            books.open = Some(draft);
        }
        done
    }

    /// Forgets the changes of the transaction.
    ///
    /// # Errors
    /// [`Refusal::NotOpen`].
    pub(super) fn abort(&self) -> Result<(), Refusal<F>> {
        self.books().open.take().map(drop).ok_or(Refusal::NotOpen)
    }

    fn publish(&self, books: &mut Books<F>, draft: Draft<F>) -> Result<(), Refusal<F>> {
        match &mut books.open {
            Some(open) => {
                open.append(draft);
                Ok(())
            }
            None => self.commit_in_order(books, draft.flushes(), &draft.decisions()),
        }
    }

    /// Publishes changes that were made one by one, whose order shows in what is printed.
    fn commit_in_order(
        &self,
        books: &mut Books<F>,
        flush: bool,
        decisions: &[Decision<F>],
    ) -> Result<(), Refusal<F>> {
        self.commit_all(books, flush, decisions)?;
        for (prefix, to) in decisions {
            match to {
                Some(_) => books.slots.set(*prefix, F::chain(*prefix)),
                None => books.slots.remove(prefix),
            }
        }
        Ok(())
    }

    /// Publishes decisions, one for each prefix; with `flush`, all other routes go.
    fn commit_all(
        &self,
        books: &mut Books<F>,
        flush: bool,
        decisions: &[Decision<F>],
    ) -> Result<(), Refusal<F>> {
        let full = |error: &dyn std::fmt::Display| Refusal::Full(error.to_string());
        let targets = decisions.iter().map(|(_, to)| to.as_ref());
        let ids = self.hops.intern_all(targets).map_err(|error| full(&error))?;
        let mut changes = Vec::with_capacity(decisions.len());
        let mut former = Vec::new();
        if flush {
            self.prefixes.for_each(&mut |prefix, id| {
                changes.push((prefix, None));
                former.push(id);
            });
        } else if !self.prefixes.is_empty() {
            former.extend(decisions.iter().filter_map(|&(prefix, _)| self.prefixes.get(prefix)));
        }
        changes.extend(decisions.iter().zip(&ids).map(|(&(prefix, _), &id)| (prefix, id)));
        // Only one writer gets here. An error of the program in between leaves the number odd, and nothing is remembered any more.
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version | 1, Ordering::Relaxed);
        fence(Ordering::Release);
        let applied = match changes[..] {
            // Tables know this case, and it is the usual one.
            [(prefix, id)] => self.prefixes.change(prefix, id).map(drop),
            _ => self.prefixes.apply(&changes),
        };
        // Before next hops are released: a worker that has been quiescent after that sees the number, and uses no id from before.
        self.version.store((version | 1) + 1, Ordering::Release);
        match applied {
            Ok(()) => {
                self.hops.release_all(former);
                if flush {
                    books.slots.clear();
                }
                Ok(())
            }
            Err(error) => {
                self.hops.release_all(ids.into_iter().flatten());
                Err(full(&error))
            }
        }
    }

    /// Number of routes.
    pub(super) fn len(&self) -> usize {
        self.prefixes.len()
    }

    /// All routes: those added one by one first, in the order that Click's tables print them, then the others by address.
    pub(super) fn routes(&self) -> Vec<Route<F>> {
        let books = self.books();
        let mut routes = self.all(&books);
        routes.sort_by_cached_key(|route| books.slots.get(&route.prefix).unwrap_or(usize::MAX));
        routes
    }

    /// Routes that are not, or not any more, as the configuration says: those that came while the router ran. By address.
    pub(super) fn learned(&self) -> Vec<Route<F>> {
        let books = self.books();
        let mut routes = self.all(&books);
        routes.retain(|route| books.configured.get(&route.prefix) != Some(&route.to));
        routes
    }

    /// All routes by address, as they are while the books are held.
    fn all(&self, _books: &Books<F>) -> Vec<Route<F>> {
        let mut routes = Vec::with_capacity(self.prefixes.len());
        let mut targets = HashMap::new();
        self.prefixes.for_each(&mut |prefix, id| {
            let to = targets.entry(id).or_insert_with(|| self.hops.target(id));
            if let Some(to) = to {
                routes.push(Route { prefix, to: to.clone() });
            }
        });
        routes
    }

    /// Whether a route was ever added one by one.
    pub(super) fn was_used(&self) -> bool {
        self.books().slots.any()
    }
}

#[cfg(test)]
mod tests {
    use super::super::family::V4;
    use super::super::target::Hop;
    use super::*;
    use std::net::Ipv4Addr;

    type Table = RouteTable<V4, lpm::Table<u32>>;

    fn route(addr: u32, len: u8, gateway: u32, port: u32) -> Route<V4> {
        let prefix = Prefix::new(addr, len).expect("a length");
        Route { prefix, to: Target::One(Hop { gateway: Ipv4Addr::from(gateway), port }) }
    }

    fn target_of(table: &Table, id: u32, turn: Turn<'_>) -> Option<Target<Ipv4Addr>> {
        table.forwarding(id, turn)?.pick(|| 0).map(|hop| Target::One(*hop))
    }

    fn hop_of(table: &Table, address: u32, turn: Turn<'_>) -> Option<Target<Ipv4Addr>> {
        target_of(table, table.lookup_one(address, turn), turn)
    }

    fn change(table: &Table, change: Change<V4>) {
        table.change([change]).expect("room");
    }

    /// A worker may hold an id while the last route that leads to it changes: that is no reason to drop its packet.
    #[test]
    fn an_id_that_was_looked_up_leads_somewhere_for_the_rest_of_the_turn() {
        let table = Table::new(SlotPolicy::Holes);
        let (old, new) = (route(10 << 24, 8, 1, 0), route(10 << 24, 8, 2, 1));
        change(&table, Change::Add(old.clone()));
        let guard = Domain::global().guard();
        let turn = guard.turn();
        let mut id = [lpm::NONE];
        table.lookup(&[10 << 24], &mut id, turn);
        change(&table, Change::Set(new.clone()));
        assert_eq!(target_of(&table, id[0], turn), Some(old.to));
        assert_eq!(hop_of(&table, 10 << 24, turn), Some(new.to));
    }

    /// A prefix that a list names twice counts once: the next hops of others must survive its change and its removal.
    #[test]
    fn a_list_may_name_a_prefix_twice() {
        for first in [None, Some(route(10 << 24, 8, 1, 0))] {
            let table = Table::new(SlotPolicy::Holes);
            let other = route(11 << 24, 8, 1, 0);
            change(&table, Change::Add(other.clone()));
            if let Some(first) = first {
                change(&table, Change::Add(first));
            }
            let list = [route(10 << 24, 8, 2, 1), route(10 << 24, 8, 3, 1)];
            table.set_all(list.clone()).expect("room");
            Domain::global().synchronize();
            change(&table, Change::Set(route(12 << 24, 8, 9, 1)));
            let guard = Domain::global().guard();
            assert_eq!(hop_of(&table, 10 << 24, guard.turn()), Some(list[1].to.clone()));
            assert_eq!(hop_of(&table, 11 << 24, guard.turn()), Some(other.to));
        }
    }

    /// What a transaction has changed shows at once when it is committed, and never if it is not.
    #[test]
    fn a_transaction_shows_only_when_committed() {
        let table = Table::new(SlotPolicy::Holes);
        change(&table, Change::Add(route(10 << 24, 8, 1, 0)));
        assert_eq!(table.commit(), Err(Refusal::NotOpen));
        table.begin().expect("none is open");
        assert_eq!(table.begin(), Err(Refusal::Open));
        change(&table, Change::Flush);
        // The draft, not the table, says what is there.
        change(&table, Change::Add(route(10 << 24, 8, 2, 0)));
        assert!(matches!(table.change([Change::Add(route(10 << 24, 8, 3, 0))]), Err(Refusal::Exists(_))));
        let gone = route(11 << 24, 8, 2, 0);
        assert_eq!(
            table.change([Change::Remove(gone.prefix, None)]),
            Err(Refusal::Missing(Route { prefix: gone.prefix, to: Target::Nowhere }))
        );
        // A command that fails half way leaves the transaction as it was.
        assert!(table.change([Change::Add(gone.clone()), Change::Add(gone)]).is_err());
        assert_eq!(table.routes(), [route(10 << 24, 8, 1, 0)]);
        table.commit().expect("room");
        assert_eq!(table.routes(), [route(10 << 24, 8, 2, 0)]);
        table.begin().expect("none is open");
        change(&table, Change::Flush);
        table.abort().expect("one is open");
        assert_eq!(table.len(), 1);
    }

    /// More next hops than an old table's 16 bits could name.
    #[test]
    fn a_million_next_hops() {
        let table = Table::new(SlotPolicy::Holes);
        let count = if cfg!(debug_assertions) { 1 << 17 } else { 1 << 20 };
        table.set_all((0..count).map(|i| route(i << 12, 20 + (i >> 20) as u8, i + 1, 0))).expect("room");
        let guard = Domain::global().guard();
        let last = count - 1;
        assert_eq!(hop_of(&table, last << 12, guard.turn()), Some(route(0, 0, last + 1, 0).to));
    }
}
