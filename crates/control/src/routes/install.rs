//! Bringing routes into the tables of lookup elements: from the thread of their source, by the tables' ports.

use super::arguments::{Table, Tables};
use super::details::Questions;
use super::fib::Fib;
use super::links::Links;
use super::netlink::Message;
use crate::feed::Feed;
use elements_shared::route_port::{Change, Refused, RouteFeed, RoutePort};
use router::{Handle, Level, Metric};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

pub(super) static ROUTES_LEARNED: Metric =
    Metric::gauge("clique_route_source_routes", "Routes that the element has been told of.");

/// Routes that a table is told of at a time: so many are published together.
const BATCH: usize = 1 << 13;

/// Whom routes are for; a new configuration may change it.
#[derive(Clone)]
pub(super) struct Target {
    pub(super) handle: Handle,
    /// The element's name and index.
    pub(super) name: String,
    pub(super) element: usize,
    pub(super) tables: Tables,
    /// The tables for IPv4 and IPv6.
    pub(super) routes: [Option<Arc<dyn RoutePort>>; 2],
}

impl Target {
    /// The ways into the tables.
    fn join(&self) -> [Option<Box<dyn RouteFeed>>; 2] {
        let join = |port: &Arc<dyn RoutePort>| port.join(&self.name);
        [self.routes[0].as_ref().map(join), self.routes[1].as_ref().map(join)]
    }
}

/// What is known about a source of routes, for handlers.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) connected: AtomicBool,
    pub(super) connections: AtomicU64,
    pub(super) messages: AtomicU64,
    pub(super) routes: AtomicU64,
    pub(super) groups: AtomicU64,
    pub(super) unused: AtomicU64,
    /// Routes some of whose next hops are not used because of an encapsulation.
    pub(super) encapsulated: AtomicU64,
    /// Routes for a type of service, which are not used.
    pub(super) with_tos: AtomicU64,
    /// Changes that lookup elements were told of.
    pub(super) changes: AtomicU64,
    /// Changes that they refused.
    pub(super) refused: AtomicU64,
    /// Routes removed because they were not heard of again.
    pub(super) swept: AtomicU64,
    /// Messages lost, as the kernel says.
    pub(super) overruns: AtomicU64,
    /// Changes that became known only when everything was read again.
    pub(super) corrected: AtomicU64,
    /// Panics that the thread has survived.
    pub(super) restarts: AtomicU64,
}

impl Counters {
    /// Names and values, a line each.
    pub(super) fn text(&self) -> String {
        let numbers = [
            ("connected", u64::from(self.connected.load(Relaxed))),
            ("connections", self.connections.load(Relaxed)),
            ("messages", self.messages.load(Relaxed)),
            ("routes", self.routes.load(Relaxed)),
            ("groups", self.groups.load(Relaxed)),
            ("unused", self.unused.load(Relaxed)),
            ("encapsulated", self.encapsulated.load(Relaxed)),
            ("tos", self.with_tos.load(Relaxed)),
            ("changes", self.changes.load(Relaxed)),
            ("refused", self.refused.load(Relaxed)),
            ("swept", self.swept.load(Relaxed)),
            ("overruns", self.overruns.load(Relaxed)),
            ("corrected", self.corrected.load(Relaxed)),
            ("restarts", self.restarts.load(Relaxed)),
        ];
        numbers.map(|(name, value)| format!("{name} {value}\n")).concat()
    }
}

/// What an element and the thread that works for it have in common.
pub(super) struct Shared {
    target: Mutex<Arc<Target>>,
    pub(super) counters: Counters,
    /// What handlers want to know of the routes.
    pub(super) questions: Questions,
    /// Whether the thread is to panic, to see what becomes of it.
    pub(super) panic: AtomicBool,
    /// Whether the thread is to end, also while there is no room in a table.
    ending: AtomicBool,
}

impl Shared {
    pub(super) fn new(target: Target) -> Shared {
        Shared {
            target: Mutex::new(Arc::new(target)),
            counters: Counters::default(),
            questions: Questions::default(),
            panic: AtomicBool::new(false),
            ending: AtomicBool::new(false),
        }
    }

    /// The thread is to end soon.
    pub(super) fn end(&self) {
        self.ending.store(true, Relaxed);
    }

    pub(super) fn target(&self) -> Arc<Target> {
        self.target.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Routes are for another target from now on.
    pub(super) fn retarget(&self, target: Target) {
        *self.target.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(target);
    }

    /// Makes the thread panic, as an error of the program would.
    pub(super) fn panic(feed: &Feed<Shared>) {
        feed.shared.panic.store(true, Relaxed);
        feed.wake();
    }

    /// The thread has panicked, and will begin anew.
    pub(super) fn panicked(&self) {
        self.counters.restarts.fetch_add(1, Relaxed);
        self.log("an error of the program, see above: reading everything again");
    }

    /// Says what is odd, in the element's name.
    pub(super) fn log(&self, what: &str) {
        self.say(Level::Warning, what);
    }

    /// Says something in the element's name.
    pub(super) fn say(&self, level: Level, what: &str) {
        let target = self.target();
        target.handle.info().say(Some(target.element), level, what);
    }
}

/// Keeps lookup elements in step with the routes of zebra or the kernel.
pub(super) struct RouteSync {
    pub(super) fib: Fib,
    shared: Arc<Shared>,
    /// Whom the routes were given to last.
    target: Arc<Target>,
    /// The routing table that counts, and its number if there is one.
    table: Table,
    number: Option<u32>,
    /// The ways into the tables for IPv4 and IPv6.
    feeds: [Option<Box<dyn RouteFeed>>; 2],
    /// Whether the tables may have routes from before that this source does not have any more.
    leftovers: bool,
    begun: bool,
    /// What was said once.
    said: Said,
}

/// What is said once, and counted from then on.
#[derive(Default)]
struct Said {
    no_room: bool,
}

impl RouteSync {
    pub(super) fn new(shared: &Arc<Shared>, by_metric: bool, table: Table, links: &Links) -> RouteSync {
        let target = shared.target();
        let (fib, feeds, said) = (Fib::new(by_metric), target.join(), Said::default());
        let (number, shared) = (table.number(links.known()), shared.clone());
        RouteSync { fib, shared, target, table, number, feeds, leftovers: false, begun: false, said }
    }

    /// The thread begins. If it has panicked, the tables are told anew, of everything, whatever was under way.
    pub(super) fn begin(&mut self) {
        if std::mem::replace(&mut self.begun, true) {
            self.tell_anew();
        }
    }

    fn tell_anew(&mut self) {
        self.feeds = self.target.join();
        self.fib.forget();
        self.leftovers = true;
    }

    /// The links of these interfaces have changed, so routes may lead elsewhere, and the kernel may have dropped some silently. Whether
    /// the table is another one now, or is there only now, and all its routes have to be asked for.
    pub(super) fn links_changed(&mut self, interfaces: &[u32], links: &Links) -> bool {
        let ports = &self.target.tables.ports.interfaces;
        for &interface in interfaces {
            let name = links.known().get(interface).map(|(name, _)| name);
            let has_output = ports.iter().any(|(known, _)| Some(known.as_str()) == name);
            if self.fib.link_changed(interface) || has_output {
                self.fib.doubt();
            }
        }
        let number = self.table.number(links.known());
        let is_other = std::mem::replace(&mut self.number, number) != number;
        if is_other {
            self.fib.begin_round();
            self.fib.sweep();
        }
        is_other
    }

    /// Takes in what a message says.
    pub(super) fn take(&mut self, message: Message) {
        self.shared.counters.messages.fetch_add(1, Relaxed);
        match message {
            Message::Add(route) | Message::Remove(route) if Some(route.table) != self.number => {}
            message => self.fib.take(message),
        }
    }

    /// Tells the tables what changed. Waits while there is no room.
    pub(super) fn install(&mut self, links: &Links) {
        let target = self.shared.target();
        if !Arc::ptr_eq(&target, &self.target) {
            // Other tables, perhaps: they get all routes, and lose those of before a swap that have gone meanwhile.
            self.target = target;
            self.tell_anew();
        }
        while self.fib.changed() > 0 {
            let changes = self.fib.changes(BATCH, &self.target.tables.ports, links.known());
            assert!(!self.shared.panic.swap(false, Relaxed), "as asked for");
            self.tell(0, changes.v4);
            self.tell(1, changes.v6);
            // Only now: what is not told because of a panic is told later.
            self.fib.done();
        }
        assert!(!self.shared.panic.swap(false, Relaxed), "as asked for");
        if std::mem::take(&mut self.leftovers) {
            self.sweep_leftovers();
        }
        self.fib.remarks().into_iter().for_each(|remark| self.shared.log(remark));
        let counters = &self.shared.counters;
        counters.routes.store(self.fib.len() as u64, Relaxed);
        counters.groups.store(self.fib.groups() as u64, Relaxed);
        self.shared.questions.answer(&self.fib, self.number, links.known());
    }

    /// Everything has been told: what the tables have of this source from before, and it has not told again, goes.
    pub(super) fn sweep_leftovers(&mut self) {
        for family in 0..2 {
            let Some(feed) = &mut self.feeds[family] else { continue };
            match feed.sweep() {
                Ok(swept) => drop(self.shared.counters.swept.fetch_add(swept as u64, Relaxed)),
                Err(error) => self.shared.log(&format!("routes of before stay: {error}")),
            }
        }
    }

    /// Counts the routes that lead nowhere here. Looks at all routes.
    pub(super) fn count_unused(&self) {
        let counters = &self.shared.counters;
        counters.unused.store(self.fib.unused() as u64, Relaxed);
        counters.with_tos.store(self.fib.with_tos() as u64, Relaxed);
        counters.encapsulated.store(self.fib.encapsulated(), Relaxed);
    }

    /// Tells a table of changes. One that is wrong does not take the others with it.
    fn tell(&mut self, family: usize, changes: Vec<Change>) {
        let Some(mut feed) = self.feeds[family].take() else { return };
        let mut rest = &changes[..];
        while !rest.is_empty() {
            let (told, over) = match self.apply(&mut *feed, rest) {
                Ok(()) => (rest.len(), rest.len()),
                Err(Refused::Wrong(at, why)) => {
                    self.refuse(1, &format!("{:?}: {why}", rest[at]));
                    (self.apply(&mut *feed, &rest[..at]).map_or(0, |()| at), at + 1)
                }
                Err(error) => {
                    self.refuse(rest.len() as u64, &error.to_string());
                    (0, rest.len())
                }
            };
            self.shared.counters.changes.fetch_add(told as u64, Relaxed);
            rest = &rest[over..];
        }
        self.feeds[family] = Some(feed);
    }

    /// Applies changes, however long it takes until there is room, unless the end has come.
    fn apply(&mut self, feed: &mut dyn RouteFeed, changes: &[Change]) -> Result<(), Refused> {
        loop {
            match feed.apply(changes) {
                Err(Refused::Backpressure(why)) if !self.shared.ending.load(Relaxed) => {
                    if !std::mem::replace(&mut self.said.no_room, true) {
                        self.shared.log(&format!("{why}; waiting (said once)"));
                    }
                }
                done => return done,
            }
        }
    }

    fn refuse(&self, count: u64, why: &str) {
        if self.shared.counters.refused.fetch_add(count, Relaxed) == 0 {
            self.shared.log(&format!("refused: {why} (said once; see 'refused')"));
        }
    }
}
