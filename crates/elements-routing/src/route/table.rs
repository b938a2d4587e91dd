//! The routes of a lookup element: prefixes, and the next hops that they lead to.
//!
//! Packets read both parts without locks, the prefixes through an [`lpm::LongestMatch`] and the next hops through
//! [`lpm::Routes`]. One writer at a time changes them. An id is given up when no prefix leads to it any more, and the vector reuses it
//! after a grace period.
//!
//! Changes by commands are gathered in a [`Draft`] and published together: those of one command, or of a transaction. Those of feeds come
//! with next hops of their own, see [`super::feeds`]. The last to set a prefix has it.

use super::draft::Draft;
use super::family::Family;
use super::feeds::Feeds;
use super::hops::Hops;
use super::near::Near;
use super::regions::Regions;
use super::slots::{SlotPolicy, Slots};
use super::target::{Forwarding, Route, Target};
use lpm::{LongestMatch, Prefix, RoutesError, TableError, View};
use rcu::{Domain, Turn};
use router::Info;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

/// A change that a command asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change<F: Family> {
    /// A route for a new prefix.
    Add(Route<F>),
    /// A route for a prefix that may have one.
    Set(Route<F>),
    /// No route for a prefix; with a target, only if that is where it leads.
    Remove(Prefix<F::Key>, Option<Target<F::Gateway>>),
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
    /// Too much waits for a grace period: once that is over, there is room.
    Busy(String),
    /// Transactions do not nest.
    Open,
    /// There is no transaction.
    NotOpen,
}

/// The routes, over prefixes in a table `T`.
pub(super) struct RouteTable<F: Family, T> {
    pub(super) prefixes: T,
    pub(super) hops: Hops<F>,
    /// Moves on with every change.
    version: AtomicU64,
    /// Which parts of the addresses changed since when.
    pub(super) regions: Regions<F>,
    /// The number of the table whose routes this one has, of a configuration that it replaces.
    followed: AtomicU64,
    /// Where listeners to changes are, and what the element is called there.
    listeners: OnceLock<(Weak<Info>, String)>,
    books: Mutex<Books<F>>,
}

/// What only writers need.
pub(super) struct Books<F: Family> {
    /// Sources of routes, and their next hops.
    pub(super) feeds: Feeds,
    /// Places of the routes that were added one by one, for printing.
    slots: Slots<Prefix<F::Key>>,
    /// The changes of an open transaction.
    open: Option<Draft<F>>,
    /// The routes of the configuration, which a later one is to answer for.
    configured: HashMap<Prefix<F::Key>, Target<F::Gateway>>,
}

/// Makes a change again and again, as long as there is no room for it. For threads other than packet workers.
///
/// # Errors
/// Any other [`Refusal`]; [`Refusal::Busy`] if no room came free in time.
pub(super) fn patiently<F: Family, T>(
    mut change: impl FnMut() -> Result<T, Refusal<F>>,
) -> Result<T, Refusal<F>> {
    let mut patience = Patience::new();
    loop {
        match change() {
            Err(Refusal::Busy(_)) if patience.wait_for_room() => {}
            done => return done,
        }
    }
}

impl<F: Family> Books<F> {
    /// Prefixes have no route any more: if they were added one by one, their places are free.
    pub(super) fn withdrawn<'a>(&mut self, prefixes: impl Iterator<Item = &'a Prefix<F::Key>>) {
        if self.slots.any() {
            prefixes.for_each(|prefix| self.slots.remove(prefix));
        }
    }
}

/// The number of a table's first state.
const FIRST_VERSION: u64 = 1;

/// A prefix, and where it leads from now on.
pub(super) type Decision<F> = (Prefix<<F as Family>::Key>, Option<Target<<F as Family>::Gateway>>);

/// Prefixes, and the ids that they lead to from now on.
pub(super) type Moves<F> = [(Prefix<<F as Family>::Key>, Option<u32>)];

/// The number of the origin of routes from commands and files.
pub(super) const COMMANDS: u16 = 0;

/// How long updaters wait for room, at most.
const PATIENCE: Duration = Duration::from_secs(10);

/// What there is to say of a table that has no room.
pub(super) fn refused<F: Family>(error: TableError) -> Refusal<F> {
    match error {
        TableError::Backpressure => Refusal::Busy(error.to_string()),
        _ => Refusal::Full(error.to_string()),
    }
}

/// What there is to say of next hops that have no room.
pub(super) fn refused_hops<F: Family>(error: RoutesError) -> Refusal<F> {
    match error {
        RoutesError::Backpressure => Refusal::Busy(error.to_string()),
        RoutesError::Full { .. } => Refusal::Full(error.to_string()),
    }
}

/// The room that a refused change waits for first: more than nearly all need.
const FIRST_ROOM: usize = 64 << 10;

/// Waits of one change that is refused, together of ten seconds at most. For threads other than packet workers.
pub(super) struct Patience {
    until: Instant,
    /// How many bytes more it would have to be possible to free.
    room: usize,
}

impl Patience {
    pub(super) fn new() -> Patience {
        Patience { until: Instant::now() + PATIENCE, room: FIRST_ROOM }
    }

    /// Waits after [`Refusal::Busy`] until there is room: each time for more, since a refusal does not say how much was missing, and
    /// in the end until nothing waits. False if the time is over.
    pub(super) fn wait_for_room(&mut self) -> bool {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        let found = Domain::global().wait_for_room(self.room, left);
        self.room = self.room.saturating_mul(8);
        found
    }

    /// Waits after [`Refusal::Full`] for a grace period: ids and blocks that have gone are free then. False if the time is over.
    pub(super) fn wait_for_ids(&self) -> bool {
        let left = self.until.saturating_duration_since(Instant::now());
        let domain = Domain::global();
        domain.wait_for(domain.start(), left)
    }
}

impl<F: Family, T: LongestMatch<F::Key>> RouteTable<F, T> {
    pub(super) fn new(policy: SlotPolicy) -> Self {
        let domain = Domain::global();
        let books = Books {
            feeds: Feeds::default(),
            slots: Slots::new(policy),
            open: None,
            configured: HashMap::new(),
        };
        RouteTable {
            prefixes: T::new(domain),
            hops: Hops::new(domain),
            version: AtomicU64::new(FIRST_VERSION),
            regions: Regions::new(),
            followed: AtomicU64::new(0),
            listeners: OnceLock::new(),
            books: Mutex::new(books),
        }
    }

    /// Has those hear of changes who listen to a router's events, under the name of an element.
    pub(super) fn tell(&self, info: &Arc<Info>, element: &str) {
        // Only the first of the instances says it.
        let _ = self.listeners.set((Arc::downgrade(info), element.to_owned()));
    }

    pub(super) fn books(&self) -> MutexGuard<'_, Books<F>> {
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

    /// The prefix of the route that an address takes.
    pub(super) fn prefix_of(&self, address: F::Key) -> Option<Prefix<F::Key>> {
        self.prefixes.longest(address).map(|(prefix, _)| prefix)
    }

    /// Where an id leads that was looked up in this turn.
    #[inline]
    pub(super) fn forwarding<'t>(&'t self, id: u32, turn: Turn<'t>) -> Option<&'t Forwarding<F>> {
        self.hops.read(id, turn)
    }

    /// Where ids lead that are looked up in this turn.
    #[inline]
    pub(super) fn forwardings<'t>(&'t self, turn: Turn<'t>) -> View<'t, Forwarding<F>> {
        self.hops.view(turn)
    }

    /// Most of these, each in a word.
    #[inline]
    pub(super) fn near(&self) -> &Near<F> {
        self.hops.near()
    }

    /// The number of changes so far, as it were.
    #[inline]
    pub(super) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Notes that routes are copied from another table, as it is when it has this number; whether they were not yet.
    pub(super) fn follows(&self, version: u64) -> bool {
        self.followed.swap(version, Ordering::Relaxed) != version
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
    /// [`Refusal::Full`], [`Refusal::Busy`].
    pub(super) fn set_all(&self, routes: &[Route<F>]) -> Result<(), Refusal<F>> {
        self.enter_all(routes, false)
    }

    /// Puts routes in the place of all, at once: all or none. Each address is looked up among the old ones or among these. As in a
    /// list, the last of several for one prefix counts.
    ///
    /// # Errors
    /// [`Refusal::Full`], [`Refusal::Busy`].
    pub(super) fn replace_all(&self, routes: &[Route<F>]) -> Result<(), Refusal<F>> {
        self.enter_all(routes, true)
    }

    fn enter_all(&self, routes: &[Route<F>], flush: bool) -> Result<(), Refusal<F>> {
        let mut books = self.books();
        if books.open.is_some() {
            let mut draft = Draft::default();
            if flush {
                draft.enter(Change::Flush, |_| None)?;
            }
            routes.iter().for_each(|route| draft.set(route.clone()));
            return self.publish(&mut books, draft);
        }
        let decisions = decisions(routes.iter().cloned());
        self.commit_all(&mut books, COMMANDS, flush, &decisions)
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
    /// [`Refusal::NotOpen`], [`Refusal::Full`], [`Refusal::Busy`].
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
        self.commit_all(books, COMMANDS, flush, decisions)?;
        for (prefix, to) in decisions {
            match to {
                Some(_) => books.slots.set(*prefix, F::chain(*prefix)),
                None => books.slots.remove(prefix),
            }
        }
        Ok(())
    }

    /// Publishes decisions of an origin, one for each prefix; with `flush`, all other routes go.
    fn commit_all(
        &self,
        books: &mut Books<F>,
        origin: u16,
        flush: bool,
        decisions: &[Decision<F>],
    ) -> Result<(), Refusal<F>> {
        let targets = decisions.iter().map(|(_, to)| to.as_ref());
        let ids = self.hops.intern_all(origin, targets).map_err(refused_hops)?;
        let mut changes = Vec::with_capacity(decisions.len());
        if flush {
            let stays: HashSet<_> = decisions.iter().map(|&(prefix, _)| prefix).collect();
            let mut remove = |prefix, _| changes.extend((!stays.contains(&prefix)).then_some((prefix, None)));
            self.prefixes.for_each(&mut remove);
        }
        changes.extend(decisions.iter().zip(&ids).map(|(&(prefix, _), &id)| (prefix, id)));
        let had = match self.publish_moves(&changes) {
            Ok(had) => had,
            Err(error) => {
                self.hops.release_all(ids.into_iter().flatten());
                return Err(refused(error));
            }
        };
        self.report(books, &changes, &had);
        self.hops.release_all(had.into_iter().flatten());
        if flush {
            books.slots.clear();
        }
        Ok(())
    }

    /// Has prefixes lead elsewhere, all or none; returns the ids that they led to. The caller holds the books.
    pub(super) fn publish_moves(&self, moves: &Moves<F>) -> Result<Vec<Option<u32>>, TableError> {
        let had = self.regions.change(moves, || match moves[..] {
            // Tables know this case, and it is the usual one.
            [(prefix, id)] => self.prefixes.change(prefix, id).map(|had| vec![had]),
            _ => self.prefixes.exchange(moves),
        });
        self.version.fetch_add(1, Ordering::Release);
        had
    }

    /// Tells listeners which routes changed, before the next hops from before are released.
    pub(super) fn report(&self, books: &Books<F>, moves: &Moves<F>, had: &[Option<u32>]) {
        let Some((info, element)) = self.listeners.get() else { return };
        let Some(info) = info.upgrade().filter(|info| info.events.is_heard()) else { return };
        for (&(prefix, now), &before) in moves.iter().zip(had).filter(|((_, now), before)| now != *before) {
            let what = match (before, now) {
                (None, _) => "add",
                (Some(_), Some(_)) => "change",
                (Some(_), None) => "delete",
            };
            let Some(id) = now.or(before) else { continue };
            let (Some(to), Some(owner)) = (self.hops.target(id), self.hops.owner(id)) else { continue };
            let (to, origin) = (Route::<F>::destination_words(&to), books.feeds.name(owner.origin));
            info.events.publish(&format!("route {what} {element} {prefix} {to} origin {origin}"));
        }
    }

    /// Tells listeners that a next hop has changed, with all routes to it.
    pub(super) fn report_hop(&self, books: &Books<F>, id: u32, number: u32) {
        let Some((info, element)) = self.listeners.get() else { return };
        let Some(info) = info.upgrade().filter(|info| info.events.is_heard()) else { return };
        let (Some(to), Some(owner)) = (self.hops.target(id), self.hops.owner(id)) else { return };
        let (to, origin) = (Route::<F>::destination_words(&to), books.feeds.name(owner.origin));
        let routes = self.hops.uses(id);
        info.events
            .publish(&format!("route nexthop {element} {number} {to} routes {routes} origin {origin}"));
    }

    /// Number of routes.
    pub(super) fn len(&self) -> usize {
        self.prefixes.len()
    }

    /// All routes: those added one by one first, in the order that Click's tables print them, then the others by address. Other writers
    /// wait while prefixes are copied, not while they are sorted.
    pub(super) fn routes(&self) -> Vec<Route<F>> {
        let books = self.books();
        let routes = self.all(&books);
        if !books.slots.any() {
            return routes;
        }
        let place = |route: &Route<F>| books.slots.get(&route.prefix).unwrap_or(usize::MAX);
        let mut placed: Vec<_> = routes.into_iter().map(|route| (place(&route), route)).collect();
        drop(books);
        placed.sort_by_key(|&(place, _)| place);
        placed.into_iter().map(|(_, route)| route).collect()
    }

    /// Takes over the routes that came to another table while its router ran: those that are not, or not any more, as its
    /// configuration said, unless this one's configuration has the prefix, or `leads` says that there is no output for one. Those that an
    /// earlier call took over and that have gone go, too; those that a feed has set here stay. Returns how many had no output.
    ///
    /// # Errors
    /// [`Refusal::Full`], [`Refusal::Busy`]; then some may have been taken over.
    pub(super) fn take_over(
        &self,
        old: &RouteTable<F, T>,
        leads: impl Fn(&Target<F::Gateway>) -> bool,
    ) -> Result<usize, Refusal<F>> {
        let learned = old.learned();
        let mut books = self.books();
        let mut routes = Vec::with_capacity(self.prefixes.len());
        self.prefixes.for_each(&mut |prefix, id| routes.push((prefix, id)));
        let here: HashMap<_, _> = routes.into_iter().collect();
        let fed = |id: &u32| self.hops.owner(*id).is_some_and(|owner| owner.feed > 0);
        let (mut gone, mut lost) = (here.clone(), 0);
        let mut of_origin: HashMap<u16, Vec<Route<F>>> = HashMap::new();
        for (origin, route) in learned {
            gone.remove(&route.prefix);
            let stays =
                books.configured.contains_key(&route.prefix) || here.get(&route.prefix).is_some_and(fed);
            match leads(&route.to) {
                _ if stays => {}
                true => of_origin.entry(books.feeds.origin(&origin)).or_default().push(route),
                false => lost += 1,
            }
        }
        gone.retain(|prefix, id| !books.configured.contains_key(prefix) && !fed(id));
        let gone: Vec<Decision<F>> = gone.into_keys().map(|prefix| (prefix, None)).collect();
        self.commit_all(&mut books, COMMANDS, false, &gone)?;
        for (origin, routes) in of_origin {
            self.commit_all(&mut books, origin, false, &decisions(routes))?;
        }
        Ok(lost)
    }

    /// Routes that are not, or not any more, as the configuration says: those that came while the router ran, with their origins.
    fn learned(&self) -> Vec<(Arc<str>, Route<F>)> {
        let books = self.books();
        let mut origins = HashMap::new();
        let mut learned = Vec::new();
        self.prefixes.for_each(&mut |prefix, id| {
            let known = origins.entry(id).or_insert_with(|| {
                let origin = self.hops.owner(id).map_or(COMMANDS, |owner| owner.origin);
                Some((books.feeds.name(origin), self.hops.target(id)?))
            });
            if let Some((origin, to)) = known
                && books.configured.get(&prefix) != Some(to)
            {
                learned.push((origin.clone(), Route { prefix, to: to.clone() }));
            }
        });
        learned
    }

    /// Routes that commands and files have brought since the configuration was loaded.
    pub(super) fn commanded(&self) -> Vec<Route<F>> {
        let is_fed = |prefix| {
            let id = self.prefixes.get(prefix);
            id.and_then(|id| self.hops.owner(id)).is_some_and(|owner| owner.feed > 0)
        };
        let learned = self.learned().into_iter().map(|(_, route)| route);
        learned.filter(|route| !is_fed(route.prefix)).collect()
    }

    /// Adds routes as commands do, or puts them in the place of others.
    pub(super) fn command(&self, routes: Vec<Route<F>>) -> Result<(), Refusal<F>> {
        self.commit_all(&mut self.books(), COMMANDS, false, &decisions(routes))
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

/// What a list of routes asks for, one decision for each prefix: the last of several counts.
fn decisions<F: Family>(routes: impl IntoIterator<Item = Route<F>>) -> Vec<Decision<F>> {
    let mut decisions: Vec<Decision<F>> =
        routes.into_iter().map(|route| (route.prefix, Some(route.to))).collect();
    // Lists are mostly in order, and then no prefix comes twice.
    if !decisions.is_sorted_by(|(a, _), (b, _)| a < b) {
        decisions.reverse();
        decisions.sort_by_key(|&(prefix, _)| prefix);
        decisions.dedup_by_key(|&mut (prefix, _)| prefix);
    }
    decisions
}

#[cfg(test)]
mod tests {
    use super::super::family::{Gateway4, V4};
    use super::super::target::Hop;
    use super::*;
    use std::net::Ipv4Addr;

    type Table = RouteTable<V4, lpm::Table<u32>>;

    fn route(addr: u32, len: u8, gateway: u32, port: u32) -> Route<V4> {
        let prefix = Prefix::new(addr, len).expect("a length");
        Route { prefix, to: Target::One(Hop { gateway: Ipv4Addr::from(gateway).into(), port }) }
    }

    fn target_of(table: &Table, id: u32, turn: Turn<'_>) -> Option<Target<Gateway4>> {
        table.forwarding(id, turn)?.pick(|| 0).map(Target::One)
    }

    fn hop_of(table: &Table, address: u32, turn: Turn<'_>) -> Option<Target<Gateway4>> {
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
            table.set_all(&list).expect("room");
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
        let routes: Vec<_> = (0..count).map(|i| route(i << 12, 20 + (i >> 20) as u8, i + 1, 0)).collect();
        table.set_all(&routes).expect("room");
        let guard = Domain::global().guard();
        let last = count - 1;
        assert_eq!(hop_of(&table, last << 12, guard.turn()), Some(route(0, 0, last + 1, 0).to));
    }
}
