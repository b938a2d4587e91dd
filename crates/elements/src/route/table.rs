//! The routes of a lookup element: prefixes, and the next hops that they lead to.
//!
//! Packets read both parts without locks, the prefixes through [`lpm::Table`] and the next hops through [`lpm::Routes`].
//! One writer at a time changes them. Equal next hops are stored once; an id is given up when no prefix leads to it any
//! more, and the vector reuses it after a grace period.

use super::family::Family;
use lpm::{Prefix, Routes, Table};
use rcu::{Domain, Token, Turn};
use std::collections::{HashMap, VecDeque};
use std::fmt::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Where a route leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Hop<A> {
    /// The gateway; the unspecified address if there is none.
    pub(super) gateway: A,
    /// The output.
    pub(super) port: u32,
}

/// One route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Route<F: Family> {
    pub(super) prefix: Prefix<F::Key>,
    pub(super) hop: Hop<F::Address>,
}

/// Why a change was refused; the table is as it was before.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal<F: Family> {
    /// There is a route for the prefix already: this one.
    Exists(Route<F>),
    /// There is no such route.
    Missing,
    /// A limit is reached.
    Full(String),
}

/// The routes.
pub(super) struct RouteTable<F: Family> {
    prefixes: Table<F::Key>,
    hops: Routes<Hop<F::Address>>,
    books: Mutex<Books<F>>,
}

/// What only writers need.
struct Books<F: Family> {
    ids: HashMap<Hop<F::Address>, Entry>,
    by_id: HashMap<u32, Hop<F::Address>>,
    /// Order of the routes that were added one by one, for printing.
    order: HashMap<Prefix<F::Key>, u64>,
    next: u64,
    /// Next hops that no prefix leads to any more: a worker may have looked one up in its current turn, so each stays
    /// until a grace period has passed. Token, id, and which release of that id this was.
    waiting: VecDeque<(Token, u32, u64)>,
    releases: u64,
}

/// What is known of a next hop.
struct Entry {
    id: u32,
    /// Prefixes that lead to it.
    uses: usize,
    /// Its latest release, by number.
    release: u64,
}

impl<F: Family> RouteTable<F> {
    pub(super) fn new() -> Self {
        let domain = Domain::global();
        let books = Books {
            ids: HashMap::new(),
            by_id: HashMap::new(),
            order: HashMap::new(),
            next: 0,
            waiting: VecDeque::new(),
            releases: 0,
        };
        RouteTable { prefixes: Table::new(domain), hops: Routes::new(domain), books: Mutex::new(books) }
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

    /// The next hop of an id that was looked up in this turn.
    #[inline]
    pub(super) fn hop<'t>(&'t self, id: u32, turn: Turn<'t>) -> Option<&'t Hop<F::Address>> {
        self.hops.get(id, turn)
    }

    /// The route of exactly this prefix.
    pub(super) fn get(&self, prefix: Prefix<F::Key>) -> Option<Route<F>> {
        let books = self.books();
        let hop = *books.by_id.get(&self.prefixes.get(prefix)?)?;
        Some(Route { prefix, hop })
    }

    /// Adds a route for a new prefix.
    ///
    /// # Errors
    /// [`Refusal`].
    pub(super) fn add(&self, route: Route<F>) -> Result<(), Refusal<F>> {
        match self.get(route.prefix) {
            Some(old) => Err(Refusal::Exists(old)),
            None => self.set(route).map(drop),
        }
    }

    /// Adds or replaces a route; the one that was there.
    ///
    /// # Errors
    /// [`Refusal::Full`].
    pub(super) fn set(&self, route: Route<F>) -> Result<Option<Route<F>>, Refusal<F>> {
        let mut books = self.books();
        let id = self.intern(&mut books, route.hop)?;
        match self.prefixes.insert(route.prefix, id) {
            Ok(old) => {
                let old = old
                    .and_then(|id| self.release(&mut books, id))
                    .map(|hop| Route { prefix: route.prefix, hop });
                let next = books.next;
                books.order.entry(route.prefix).or_insert(next);
                books.next += 1;
                Ok(old)
            }
            Err(error) => {
                self.release(&mut books, id);
                Err(Refusal::Full(error.to_string()))
            }
        }
    }

    /// Removes a route. With a hop, only if it leads there.
    ///
    /// # Errors
    /// [`Refusal::Missing`], [`Refusal::Full`].
    pub(super) fn remove(
        &self,
        prefix: Prefix<F::Key>,
        hop: Option<Hop<F::Address>>,
    ) -> Result<Route<F>, Refusal<F>> {
        let route = self.get(prefix).filter(|route| hop.is_none_or(|hop| hop == route.hop));
        let route = route.ok_or(Refusal::Missing)?;
        let mut books = self.books();
        let old = self.prefixes.remove(prefix).map_err(|error| Refusal::Full(error.to_string()))?;
        books.order.remove(&prefix);
        if let Some(id) = old {
            self.release(&mut books, id);
        }
        Ok(route)
    }

    /// Removes all routes.
    ///
    /// # Errors
    /// [`Refusal::Full`].
    pub(super) fn flush(&self) -> Result<(), Refusal<F>> {
        let mut books = self.books();
        self.prefixes.clear().map_err(|error| Refusal::Full(error.to_string()))?;
        books.order.clear();
        self.recount(&mut books);
        Ok(())
    }

    /// Adds or replaces many routes at once: all or none. How many.
    ///
    /// # Errors
    /// [`Refusal::Full`].
    pub(super) fn set_all(&self, routes: &[Route<F>]) -> Result<usize, Refusal<F>> {
        let mut books = self.books();
        let mut ids = Vec::with_capacity(routes.len());
        for route in routes {
            match self.intern(&mut books, route.hop) {
                Ok(id) => ids.push(id),
                Err(refusal) => {
                    self.release_all(&mut books, ids);
                    return Err(refusal);
                }
            }
        }
        let changes = routes.iter().zip(&ids).map(|(route, &id)| (route.prefix, Some(id)));
        if let Err(error) = self.prefixes.apply(changes) {
            self.release_all(&mut books, ids);
            return Err(Refusal::Full(error.to_string()));
        }
        // A list may name a prefix twice, and replace routes: counting anew is simpler than following it.
        self.recount(&mut books);
        Ok(routes.len())
    }

    /// The id of a next hop, with one more prefix that leads to it.
    fn intern(&self, books: &mut Books<F>, hop: Hop<F::Address>) -> Result<u32, Refusal<F>> {
        if let Some(entry) = books.ids.get_mut(&hop) {
            entry.uses += 1;
            return Ok(entry.id);
        }
        self.reclaim(books);
        let id = self.hops.insert(hop).map_err(|error| Refusal::Full(error.to_string()))?;
        books.ids.insert(hop, Entry { id, uses: 1, release: 0 });
        books.by_id.insert(id, hop);
        Ok(id)
    }

    /// One prefix less leads to an id; its next hop.
    fn release(&self, books: &mut Books<F>, id: u32) -> Option<Hop<F::Address>> {
        let hop = *books.by_id.get(&id)?;
        if let Some(entry) = books.ids.get_mut(&hop) {
            entry.uses = entry.uses.saturating_sub(1);
            if entry.uses == 0 {
                books.releases += 1;
                entry.release = books.releases;
                books.waiting.push_back((Domain::global().start(), id, entry.release));
            }
        }
        self.reclaim(books);
        Some(hop)
    }

    /// Removes the next hops whose grace period has passed and that did not come back meanwhile.
    fn reclaim(&self, books: &mut Books<F>) {
        while let Some(&(token, id, release)) = books.waiting.front()
            && Domain::global().poll(token)
        {
            books.waiting.pop_front();
            let Some(&hop) = books.by_id.get(&id) else { continue };
            let unused = books.ids.get(&hop).is_some_and(|entry| entry.uses == 0 && entry.release == release);
            // Under back-pressure the id stays, unused, and is found again when the same next hop comes back.
            if unused && self.hops.remove(id).is_ok() {
                books.ids.remove(&hop);
                books.by_id.remove(&id);
            }
        }
    }

    /// Counts anew how many prefixes lead to each next hop.
    fn recount(&self, books: &mut Books<F>) {
        let mut uses: HashMap<u32, usize> = HashMap::with_capacity(books.by_id.len());
        self.prefixes.for_each(|_, id| *uses.entry(id).or_default() += 1);
        let mut released = Vec::new();
        for entry in books.ids.values_mut() {
            let now = uses.get(&entry.id).copied().unwrap_or(0);
            if now == 0 && entry.uses > 0 {
                entry.uses = 1;
                released.push(entry.id);
            } else {
                entry.uses = now;
            }
        }
        self.release_all(books, released);
    }

    fn release_all(&self, books: &mut Books<F>, ids: Vec<u32>) {
        for id in ids {
            self.release(books, id);
        }
    }

    /// Number of routes.
    pub(super) fn len(&self) -> usize {
        self.prefixes.len()
    }

    /// All routes: those added one by one first, in the order of their addition, then the others by address.
    pub(super) fn routes(&self) -> Vec<Route<F>> {
        let books = self.books();
        let mut routes = Vec::with_capacity(self.prefixes.len());
        self.prefixes.for_each(|prefix, id| {
            if let Some(&hop) = books.by_id.get(&id) {
                routes.push(Route { prefix, hop });
            }
        });
        routes.sort_by_key(|route| books.order.get(&route.prefix).copied().unwrap_or(u64::MAX));
        routes
    }

    /// The `table` handler's text.
    pub(super) fn text(&self) -> String {
        self.routes().iter().fold(String::new(), |mut text, route| {
            text.push_str(&route.line());
            text.push('\n');
            text
        })
    }
}

impl<F: Family> Route<F> {
    fn gateway(&self) -> String {
        if self.hop.gateway == F::NONE { "-".to_owned() } else { self.hop.gateway.to_string() }
    }

    /// `ADDR/MASK GATEWAY OUTPUT`.
    pub(super) fn words(&self) -> String {
        format!(
            "{}/{} {} {}",
            F::address(self.prefix.addr()),
            self.prefix.len(),
            self.gateway(),
            self.hop.port
        )
    }

    /// The same in columns, as Click's tables print it.
    fn line(&self) -> String {
        let mut line = format!("{}/{}\t", F::address(self.prefix.addr()), self.prefix.len());
        if line.len() < 17 {
            line.push('\t');
        }
        let at = line.len();
        let _ = write!(line, "{}\t", self.gateway());
        if line.len() < at + 9 {
            line.push('\t');
        }
        let _ = write!(line, "{}", self.hop.port);
        line
    }
}

#[cfg(test)]
mod tests {
    use super::super::family::V4;
    use super::*;
    use std::net::Ipv4Addr;

    fn route(addr: u32, len: u8, gateway: u32, port: u32) -> Route<V4> {
        let prefix = Prefix::new(addr, len).expect("a length");
        Route { prefix, hop: Hop { gateway: Ipv4Addr::from(gateway), port } }
    }

    fn hop_of(table: &RouteTable<V4>, address: u32, turn: Turn<'_>) -> Option<Hop<Ipv4Addr>> {
        table.hop(table.lookup_one(address, turn), turn).copied()
    }

    /// A worker may hold an id while the last route that leads to it changes: that is no reason to drop its packet.
    #[test]
    fn an_id_that_was_looked_up_leads_somewhere_for_the_rest_of_the_turn() {
        let table = RouteTable::<V4>::new();
        let (old, new) = (route(10 << 24, 8, 1, 0), route(10 << 24, 8, 2, 1));
        table.add(old).expect("room");
        let guard = Domain::global().guard();
        let mut id = [lpm::NONE];
        table.lookup(&[10 << 24], &mut id, guard.turn());
        table.set(new).expect("room");
        assert_eq!(table.hop(id[0], guard.turn()), Some(&old.hop));
        assert_eq!(hop_of(&table, 10 << 24, guard.turn()), Some(new.hop));
        drop(guard);
    }

    /// A prefix that a list names twice counts once: the next hops of others must survive its change and its removal.
    #[test]
    fn a_list_may_name_a_prefix_twice() {
        for first in [None, Some(route(10 << 24, 8, 1, 0))] {
            let table = RouteTable::<V4>::new();
            let other = route(11 << 24, 8, 1, 0);
            table.add(other).expect("room");
            if let Some(first) = first {
                table.add(first).expect("room");
            }
            let list = [route(10 << 24, 8, 2, 1), route(10 << 24, 8, 3, 1)];
            table.set_all(&list).expect("room");
            Domain::global().synchronize();
            table.set(route(12 << 24, 8, 9, 1)).expect("room");
            assert_eq!(hop_of(&table, 10 << 24, Domain::global().guard().turn()), Some(list[1].hop));
            assert_eq!(hop_of(&table, 11 << 24, Domain::global().guard().turn()), Some(other.hop));
        }
    }
}
