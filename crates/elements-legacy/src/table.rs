//! The routes of a RadixIPsecLookup, and the associations of those that lead into tunnels.
//!
//! Packets read a state as a whole, without locks; an updater that changes routes makes a new one. A packet carries the number of its association,
//! never a reference: what is gone meanwhile is not found any more.

use super::association::{Association, Terms};
use lpm::faithful::RadixTable;
use lpm::{LongestMatch, Prefix};
use packet::{Anno, Packet};
use rcu::{Cell, Domain, Turn, Weigh};
use router::Cx;
use std::collections::{HashMap, HashSet};
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The class whose elements have tables.
pub(super) const CLASS_NAME: &str = "RadixIPsecLookup";

/// A route as it was told.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct RouteSpec {
    pub(super) prefix: Prefix<u32>,
    /// The unspecified address if there is none.
    pub(super) gateway: Ipv4Addr,
    pub(super) port: u32,
    pub(super) terms: Option<Terms>,
}

/// A route.
#[derive(Clone)]
pub(super) struct Route {
    pub(super) prefix: Prefix<u32>,
    pub(super) gateway: Ipv4Addr,
    pub(super) port: u32,
    pub(super) association: Option<Arc<Association>>,
}

impl Route {
    fn spec(&self) -> RouteSpec {
        let terms = self.association.as_ref().map(|association| association.terms.clone());
        RouteSpec { prefix: self.prefix, gateway: self.gateway, port: self.port, terms }
    }
}

/// A change that an updater asks for.
pub(super) enum Change {
    /// A route for a new prefix.
    Add(RouteSpec),
    /// A route for a prefix that may have one.
    Set(RouteSpec),
    /// No route for a prefix; with a gateway and output, only if they are its.
    Remove(Prefix<u32>, Option<(Ipv4Addr, u32)>),
}

/// Why a change is refused.
pub(super) enum Refusal {
    /// There is a route for the prefix: this one.
    Exists(Route),
    /// There is no such route.
    Missing(Prefix<u32>, Option<(Ipv4Addr, u32)>),
    /// Something else.
    Full(String),
}

/// Routes as packets see them.
pub(super) struct State {
    prefixes: RadixTable,
    routes: Vec<Route>,
    /// By number.
    by_id: Vec<Arc<Association>>,
    /// By parameter index, of those that have the same the one of the first route.
    by_spi: Vec<Arc<Association>>,
}

/// All that it refers to, though what a new state has, too, is not freed.
impl Weigh for State {
    fn heap_bytes(&self) -> usize {
        let associations = self.by_id.len() * (size_of::<Association>() + size_of::<Arc<Association>>())
            + self.by_spi.capacity() * size_of::<Arc<Association>>();
        self.prefixes.heap_bytes() + self.routes.capacity() * size_of::<Route>() + associations
    }
}

impl State {
    fn new(routes: Vec<Route>) -> Result<State, Refusal> {
        let prefixes = RadixTable::new(Domain::global());
        let changes: Vec<_> = (0..).zip(&routes).map(|(id, route)| (route.prefix, Some(id))).collect();
        prefixes.apply(&changes).map_err(|error| Refusal::Full(error.to_string()))?;
        let mut by_spi: Vec<_> = routes.iter().filter_map(|route| route.association.clone()).collect();
        let mut by_id = by_spi.clone();
        by_id.sort_by_key(|association| association.id);
        by_id.dedup_by_key(|association| association.id);
        // Equal ones stay in their order.
        by_spi.sort_by_key(|association| association.terms.spi);
        by_spi.dedup_by_key(|association| association.terms.spi);
        Ok(State { prefixes, routes, by_id, by_spi })
    }

    /// The route for an address.
    #[inline]
    pub(super) fn route(&self, address: Ipv4Addr, turn: Turn<'_>) -> Option<&Route> {
        self.routes.get(self.prefixes.lookup(address.into(), turn)? as usize)
    }

    /// The association with a parameter index.
    pub(super) fn by_spi(&self, spi: u32) -> Option<&Association> {
        let at = self.by_spi.binary_search_by_key(&spi, |association| association.terms.spi).ok()?;
        self.by_spi.get(at).map(|association| &**association)
    }

    fn by_id(&self, id: u64) -> Option<&Association> {
        let at = self.by_id.binary_search_by_key(&id, |association| association.id).ok()?;
        self.by_id.get(at).map(|association| &**association)
    }
}

/// The table.
pub(super) struct Table {
    state: Cell<State>,
    books: Mutex<Books>,
    seed: u64,
}

/// What only those need who change routes.
struct Books {
    routes: Vec<Route>,
    /// The routes of the configuration, which a later one is to answer for.
    configured: Vec<RouteSpec>,
    /// Whether the table of a configuration that is replaced was taken over.
    follows: bool,
}

/// Routes while they change. Those on the same terms share an association.
struct Draft {
    /// In the order in which they came, with holes.
    routes: Vec<Option<Route>>,
    places: HashMap<Prefix<u32>, usize>,
    associations: HashMap<Terms, Arc<Association>>,
    seed: u64,
}

impl Draft {
    fn of(routes: Vec<Route>, seed: u64) -> Draft {
        let places = routes.iter().enumerate().map(|(at, route)| (route.prefix, at)).collect();
        let known = routes.iter().filter_map(|route| route.association.clone());
        let associations = known.map(|association| (association.terms.clone(), association)).collect();
        Draft { routes: routes.into_iter().map(Some).collect(), places, associations, seed }
    }

    fn get(&self, prefix: Prefix<u32>) -> Option<&Route> {
        self.routes.get(*self.places.get(&prefix)?)?.as_ref()
    }

    /// Adds a route, or replaces one; that one's association goes on if it is on the same terms.
    fn set(&mut self, spec: RouteSpec) {
        let association = spec.terms.map(|terms| {
            let new = || Arc::new(Association::new(terms.clone(), self.seed));
            self.associations.entry(terms.clone()).or_insert_with(new).clone()
        });
        let route = Route { prefix: spec.prefix, gateway: spec.gateway, port: spec.port, association };
        match self.places.get(&spec.prefix).and_then(|&at| self.routes.get_mut(at)) {
            Some(place) => {
                let old = place.replace(route);
                self.forget(old);
            }
            None => {
                self.places.insert(spec.prefix, self.routes.len());
                self.routes.push(Some(route));
            }
        }
    }

    fn remove(&mut self, prefix: Prefix<u32>) {
        let old = self.places.remove(&prefix).and_then(|at| self.routes.get_mut(at)?.take());
        self.forget(old);
    }

    /// A route is gone, and with the last one that has it the association: it begins anew if it comes again.
    fn forget(&mut self, route: Option<Route>) {
        let Some(gone) = route.and_then(|route| route.association) else { return };
        let has = |route: &Route| route.association.as_ref().is_some_and(|other| Arc::ptr_eq(other, &gone));
        if !self.routes.iter().flatten().any(has) {
            self.associations.remove(&gone.terms);
        }
    }

    fn change(&mut self, change: Change) -> Result<(), Refusal> {
        match change {
            Change::Add(spec) => match self.get(spec.prefix) {
                Some(known) => return Err(Refusal::Exists(known.clone())),
                None => self.set(spec),
            },
            Change::Set(spec) => self.set(spec),
            Change::Remove(prefix, to) => match self.get(prefix) {
                Some(route) if to.is_none_or(|to| to == (route.gateway, route.port)) => self.remove(prefix),
                _ => return Err(Refusal::Missing(prefix, to)),
            },
        }
        Ok(())
    }

    fn routes(self) -> Vec<Route> {
        self.routes.into_iter().flatten().collect()
    }
}

impl Table {
    /// The table of a configuration, in which the first of several routes for a prefix counts.
    pub(super) fn new(specs: Vec<RouteSpec>, seed: u64) -> Result<Table, Refusal> {
        let mut configured: Vec<RouteSpec> = Vec::with_capacity(specs.len());
        let mut known = HashSet::new();
        configured.extend(specs.into_iter().filter(|spec| known.insert(spec.prefix)));
        let mut draft = Draft::of(Vec::new(), seed);
        configured.iter().cloned().for_each(|spec| draft.set(spec));
        let routes = draft.routes();
        let state = Cell::new(State::new(routes.clone())?);
        Ok(Table { state, books: Mutex::new(Books { routes, configured, follows: false }), seed })
    }

    /// The routes at this moment.
    #[inline]
    pub(super) fn state<'t>(&'t self, turn: Turn<'t>) -> &'t State {
        self.state.read(turn)
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        // A writer that panicked left the books whole: they change in one step.
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn publish(&self, books: &mut Books, routes: Vec<Route>) -> Result<(), Refusal> {
        let state = Box::new(State::new(routes.clone())?);
        let full = |_| Refusal::Full("too many changes at once; try again".to_owned());
        self.state.replace(state, &Domain::global().updater()).map_err(full)?;
        books.routes = routes;
        Ok(())
    }

    /// Makes changes in order, all or none.
    pub(super) fn change(&self, changes: Vec<Change>) -> Result<(), Refusal> {
        let mut books = self.books();
        let mut draft = Draft::of(books.routes.clone(), self.seed);
        changes.into_iter().try_for_each(|change| draft.change(change))?;
        self.publish(&mut books, draft.routes())
    }

    /// All routes.
    pub(super) fn routes(&self) -> Vec<Route> {
        self.books().routes.clone()
    }

    /// Goes on with the associations of another table, as far as they are on the same terms, and with routes that came or changed there
    /// since its configuration was read, unless there is one for the prefix here, or their output is gone. Says how many are lost for that, the
    /// first time: the element's instances share the table, and each asks for it.
    pub(super) fn take_over(&self, old: &Table, outputs: usize) -> Result<usize, Refusal> {
        let (known, configured) = {
            let books = old.books();
            (books.routes.clone(), books.configured.clone())
        };
        let configured: HashMap<_, _> = configured.into_iter().map(|spec| (spec.prefix, spec)).collect();
        let theirs = Draft::of(known.clone(), self.seed).associations;
        let mut books = self.books();
        if std::mem::replace(&mut books.follows, true) {
            return Ok(0);
        }
        let mut routes = books.routes.clone();
        for mine in routes.iter_mut().filter_map(|route| route.association.as_mut()) {
            if let Some(same) = theirs.get(&mine.terms) {
                *mine = same.clone();
            }
        }
        let mine: HashSet<_> = routes.iter().map(|route| route.prefix).collect();
        let is_new = |route: &Route| {
            configured.get(&route.prefix) != Some(&route.spec()) && !mine.contains(&route.prefix)
        };
        let (kept, lost): (Vec<Route>, Vec<Route>) =
            known.into_iter().filter(is_new).partition(|route| (route.port as usize) < outputs);
        routes.extend(kept);
        self.publish(&mut books, routes)?;
        Ok(lost.len())
    }
}

/// The associations of all tables of a configuration.
#[derive(Default)]
pub(super) struct Associations(Vec<Arc<Table>>);

/// Why packets are dropped whose association is not there.
pub(super) const NO_ASSOCIATION: &str = "no such association";

impl Associations {
    /// Those of the configuration that an element belongs to.
    pub(super) fn of(cx: &Cx<'_>) -> Associations {
        let info = cx.info();
        let tables = info.nodes.iter().enumerate().filter(|(_, node)| node.class.name == CLASS_NAME);
        Associations(tables.filter_map(|(at, _)| info.shared(at)).collect())
    }

    /// The one that a packet names; none if it names none, or there are no tables.
    ///
    /// # Errors
    /// The packet is to be dropped: what it names is not there, or not any more.
    #[inline]
    pub(super) fn named<'t>(
        &'t self,
        packet: &Packet,
        turn: Turn<'t>,
    ) -> Result<Option<&'t Association>, &'static str> {
        let id = packet.anno(Anno::IPSEC_SA_DATA_REFERENCE);
        if id == 0 || self.0.is_empty() {
            return Ok(None);
        }
        let found = self.0.iter().find_map(|table| table.state(turn).by_id(id));
        found.map(Some).ok_or(NO_ASSOCIATION)
    }

    /// The same for who cannot do without.
    ///
    /// # Errors
    /// As for [`Associations::named`], and if the packet names none.
    #[inline]
    pub(super) fn needed<'t>(
        &'t self,
        packet: &Packet,
        turn: Turn<'t>,
    ) -> Result<&'t Association, &'static str> {
        self.named(packet, turn)?.ok_or(NO_ASSOCIATION)
    }
}

/// Has a packet name an association, or none.
pub(super) fn name(packet: &mut Packet, association: Option<&Association>) {
    packet.set_anno(Anno::IPSEC_SA_DATA_REFERENCE, association.map_or(0, |association| association.id));
}
