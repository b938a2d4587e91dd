//! Telling lookup elements of routes.

use super::arguments::Tables;
use super::as_text::AsText;
use super::fib::Fib;
use super::links::Links;
use super::netlink::Message;
use crate::feed::Feed;
use router::{Call, Handle, Metric};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

pub(super) static ROUTES_LEARNED: Metric =
    Metric::gauge("clique_route_source_routes", "Routes that the element has been told of.");

/// Routes that a lookup element is told of at a time: its worker forwards nothing meanwhile.
const BATCH: usize = 64;

/// Whom routes are for; a new configuration may change it.
#[derive(Clone)]
pub(super) struct Target {
    pub(super) handle: Handle,
    /// The element, as messages name it.
    pub(super) declaration: String,
    pub(super) tables: Tables,
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
    /// Whether the thread is to panic, to see what becomes of it.
    pub(super) panic: AtomicBool,
}

impl Shared {
    pub(super) fn new(target: Target) -> Shared {
        Shared {
            target: Mutex::new(Arc::new(target)),
            counters: Counters::default(),
            panic: AtomicBool::new(false),
        }
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

    pub(super) fn log(&self, what: &str) {
        let target = self.target();
        target.handle.info().log.line(&format!("{}: {what}", target.declaration));
    }
}

/// Keeps lookup elements in step with the routes of zebra or the kernel.
pub(super) struct RouteSync {
    pub(super) fib: Fib,
    shared: Arc<Shared>,
    /// Whom the routes were given to last.
    target: Arc<Target>,
    /// The kernel's routing table that counts.
    table: u32,
    /// What the lookup elements know.
    texts: [AsText; 2],
}

impl RouteSync {
    pub(super) fn new(shared: &Arc<Shared>, by_metric: bool, table: u32) -> RouteSync {
        let target = shared.target();
        let (fib, texts) = (Fib::new(by_metric), Default::default());
        RouteSync { fib, shared: shared.clone(), target, table, texts }
    }

    /// Whatever was under way when the thread panicked, it is looked at again.
    pub(super) fn recover(&mut self) {
        self.fib.recheck();
    }

    /// The links of these interfaces have changed, so routes may lead elsewhere.
    pub(super) fn links_changed(&mut self, interfaces: &[u32]) {
        interfaces.iter().for_each(|interface| self.fib.link_changed(*interface));
    }

    /// Takes in what a message says.
    pub(super) fn take(&mut self, message: Message) {
        self.shared.counters.messages.fetch_add(1, Relaxed);
        match message {
            Message::Add(route) | Message::Remove(route) if route.table != self.table => {}
            message => self.fib.take(message),
        }
    }

    /// Tells the lookup elements what changed.
    pub(super) fn install(&mut self, links: &Links) {
        let target = self.shared.target();
        if !Arc::ptr_eq(&target, &self.target) {
            // Other elements, perhaps: they get all routes.
            self.fib.forget();
            self.texts = Default::default();
            self.target = target;
        }
        while self.fib.changed() > 0 {
            let changes = self.fib.changes(BATCH, &self.target.tables.ports, links.known());
            let (v4, v6) = (self.texts[0].lines(changes.v4), self.texts[1].lines(changes.v6));
            assert!(!self.shared.panic.swap(false, Relaxed), "as asked for");
            let (table4, table6) = (self.target.tables.v4.clone(), self.target.tables.v6.clone());
            self.tell(table4.as_deref(), &v4);
            self.tell(table6.as_deref(), &v6);
            // Only now: what is not told because of a panic is told later.
            self.fib.done();
        }
        assert!(!self.shared.panic.swap(false, Relaxed), "as asked for");
        let counters = &self.shared.counters;
        counters.routes.store(self.fib.len() as u64, Relaxed);
        counters.groups.store(self.fib.groups() as u64, Relaxed);
    }

    /// Counts the routes that lead nowhere here. Looks at all routes.
    pub(super) fn count_unused(&self) {
        let counters = &self.shared.counters;
        counters.unused.store(self.fib.unused() as u64, Relaxed);
        counters.with_tos.store(self.fib.with_tos() as u64, Relaxed);
        let encapsulated = self.fib.encapsulated();
        if encapsulated > 0 && counters.encapsulated.load(Relaxed) == 0 {
            self.shared.log("next hops with an encapsulation are not used (said once; see 'encapsulated')");
        }
        counters.encapsulated.store(encapsulated, Relaxed);
    }

    fn tell(&self, table: Option<&str>, lines: &str) {
        let Some(table) = table.filter(|_| !lines.is_empty()) else { return };
        let counters = &self.shared.counters;
        let count = lines.lines().count() as u64;
        let write = |text: &str| self.target.handle.call(Call::write(format!("{table}.ctrl"), text));
        if write(lines).is_ok() {
            counters.changes.fetch_add(count, Relaxed);
            return;
        }
        // One of them is refused, and with it all: so each for itself.
        for line in lines.lines() {
            match write(line) {
                Ok(_) => drop(counters.changes.fetch_add(1, Relaxed)),
                Err(error) => {
                    if counters.refused.fetch_add(1, Relaxed) == 0 {
                        self.shared
                            .log(&format!("{table} refuses '{line}': {error} (said once; see 'refused')"));
                    }
                }
            }
        }
    }
}
