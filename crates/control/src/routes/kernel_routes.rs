//! Takes routes from the kernel.
//!
//! ```click
//! KernelRoutes(INTERFACE OUTPUT, ..., [IPV4 TABLE, IPV6 TABLE, KEYWORDS])
//! ```
//!
//! Keeps the tables of two lookup elements in step with the kernel's: static routes, those of interface addresses, of
//! DHCP, and of any routing daemon that writes there, such as BIRD. Changes are applied as they happen (rtnetlink).
//!
//! The choice of routes, and the arguments up to `VRF`, are as for FPMServer, with one difference: of several
//! routes for a destination, the one with the lowest metric is used, and of those with the same metric the kernel's first. IPv6
//! routes over gateways with the same metric are one route with several next hops. When a link goes down, the next hops there are left
//! out at once; packets of a route that has no others go to the output UNREACHABLE until all routes have been read again, a moment later, and from then on the
//! next best route is used, be it that of a shorter prefix.
//!
//! Lost updates are always recovered: all routes are read again, and those that no longer exist are removed, if the
//! kernel reports that messages were lost because the socket's buffer was full, if links change (the kernel then
//! drops routes silently), if a message does not fit to what is known, if the time of an IPv6 route is over, and in any case every
//! RECONCILE seconds. Routes that have not changed are not touched. While routes are removed, the kernel may skip others as it lists them; what was not listed
//! stays then, and is removed if it is missing from the next list, too. If a program error occurs in the thread that reads them, it
//! starts over.
//!
//! Ports: none. Workers: exclusive. A separate thread reads routes and brings them into the tables, as that of FPMServer does.
//!
//! # Arguments
//! - `INTERFACE OUTPUT [OUTPUT6]`: the output for an interface, as in `eth0 1`, and that for IPv4 packets to IPv6 gateways; one
//!   argument for each.
//! - `IPV4`, `IPV6` (elements): lookup elements for the two address families, at least one of them.
//! - `BLACKHOLE`, `UNREACHABLE`, `PROHIBIT` (integer): outputs for routes of these types. Without them such packets
//!   are dropped.
//! - `THROW` (integer): output for `throw` routes, which leave the choice to another table. Without it such packets are dropped.
//! - `LOCAL` (integer): output for routes of the types `local`, `broadcast` and `anycast`; these are in table 255. Without it they are not
//!   used.
//! - `TABLE` (integer or name, default main): the kernel's routing table; a name is one of `/etc/iproute2/rt_tables`.
//! - `VRF` (word): in the place of TABLE, the table of the VRF with this name, which may come and go while the router runs.
//! - `RECONCILE` (integer, default 60): seconds between full reads; 0 means only when necessary.
//!
//! # Handlers
//! - `stats` (read): one number per line: those of FPMServer, where `connections` counts how often all routes were
//!   read, and `swept` the routes removed then; `overruns` counts how often messages were lost, `corrected` the
//!   changes discovered only by reading everything; `restarts` the program errors survived.
//! - `routes` (read): the number of routes.
//! - `routes_detail` (read, `[PREFIX [COUNT]]`): as for FPMServer.
//! - `panic` (write, button): makes the thread fail, to test the recovery.
//!
//! # Example
//! ```click
//! rt :: IPLookup(10.0.1.1/32 0);
//! KernelRoutes(eth0 1, eth1 2, IPV4 rt);
//! ```
//!
//! # See also
//! FPMServer, IPLookup, IP6Lookup

use super::arguments::{Arguments, Table, Tables};
use super::details;
use super::install::{ROUTES_LEARNED, RouteSync, Shared, Target};
use super::links::Links;
use super::listening;
use super::netlink::{Message, RTM_GETNEXTHOP, RTM_GETROUTE};
use crate::feed::{Feed, Priority, Waiter, Wake};
use crate::kernel::{Ear, End, Event, List};
use elements_shared::route_port::RoutePort;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Residency};
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// The class.
pub(crate) const CLASS: Class = Class::new("KernelRoutes", create)
    .ports("0/0")
    .residency(Residency::Exclusive)
    .doc(router::manual!("kernel_routes.rs"));

/// What the kernel reports: routes of both families, next hops.
const GROUPS: u32 = 0x40 | 0x400 | 1 << 31;
/// What is read: next hops, then routes. A kernel without next-hop objects refuses to list them.
const LISTS: &[List] = &[List { what: RTM_GETNEXTHOP, is_optional: true }, List::of(RTM_GETROUTE)];
/// How long after something changed that the kernel does not tell of in full all routes are read again: changes come in groups.
const SETTLE: Duration = Duration::from_millis(100);
/// How long after all routes were read they are read again at the earliest because the time of some route is over.
const EXPIRY_MIN: Duration = Duration::from_secs(1);
/// From a reading in which routes went to the next: the lists may lack some that are there.
const AGAIN: Duration = Duration::from_secs(1);

/// Timer: the router runs.
const START: u32 = 0;

struct KernelRoutes {
    tables: Tables,
    table: Table,
    reconcile: Option<Duration>,
    /// The lookup elements' tables, once all elements are there.
    routes: [Option<Arc<dyn RoutePort>>; 2],
    /// What the thread will listen to.
    ready: Option<(Ear<Message>, Links)>,
    feed: Option<Feed<Shared>>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut arguments = Arguments::default();
    let mut reconcile = 60u32;
    arguments.declare(config.args()).keyword("RECONCILE", &mut reconcile).finish()?;
    let table = arguments.table()?;
    let reconcile = (reconcile > 0).then(|| Duration::from_secs(reconcile.into()));
    let (tables, routes) = (arguments.tables()?, [None, None]);
    Ok(Box::new(KernelRoutes { tables, table, reconcile, routes, ready: None, feed: None }))
}

impl KernelRoutes {
    fn aim(&self, cx: &Cx<'_>) -> Target {
        let (handle, name, element) = (cx.handle(), cx.name().to_owned(), cx.index());
        Target { handle, name, element, tables: self.tables.clone(), routes: self.routes.clone() }
    }
}

impl Element for KernelRoutes {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.routes = self.tables.find(cx)?;
        self.ready = Some((listening::ear(GROUPS, LISTS)?, Links::new()?));
        cx.timers().after(START, Duration::ZERO);
        Ok(())
    }

    /// The router runs: unless a thread was handed over, one begins now.
    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        let Some((ear, links)) = self.ready.take() else { return };
        let shared = Arc::new(Shared::new(self.aim(cx)));
        let (sync, reconcile) = (RouteSync::new(&shared, true, self.table.clone(), &links), self.reconcile);
        let mut listener = Listener { ear, sync, links, reconcile, changes: 0 };
        match Feed::start_lasting(
            "routes",
            Priority::BehindPackets,
            shared,
            Shared::panicked,
            move |shared, waiter| listener.listen(shared, waiter),
        ) {
            Ok(feed) => self.feed = Some(feed),
            Err(error) => cx.error(format_args!("{}: {error}", cx.name())),
        }
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        self.feed
            .take()
            .map(|feed| Box::new((self.table.clone(), self.reconcile, feed)) as Box<dyn Any + Send>)
    }

    /// The old thread goes on, for the new lookup elements: it knows which routes they have taken over that may go. One that read another
    /// table ends, since from now on only one may speak to the lookup elements.
    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        let Ok(old) = state.downcast::<(Table, Option<Duration>, Feed<Shared>)>() else { return };
        let (table, reconcile, feed) = *old;
        if (&table, reconcile) == (&self.table, self.reconcile) {
            self.ready = None;
            self.feed = Some(feed);
        } else {
            feed.shared.end();
            feed.let_go();
        }
    }

    /// The lookup elements have taken over what the old ones had: from now on the thread works for them.
    fn taken_over(&mut self, cx: &mut Cx<'_>) {
        if let Some(feed) = &self.feed {
            feed.shared.retarget(self.aim(cx));
            feed.wake();
        }
    }

    fn finish(&mut self, _cx: &mut Cx<'_>) {
        if let Some(feed) = self.feed.take() {
            feed.shared.end();
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("stats", |e: &mut KernelRoutes, _| {
            e.feed.as_ref().map_or(String::new(), |feed| feed.shared.counters.text())
        });
        h.read("routes", |e: &mut KernelRoutes, _| {
            e.feed.as_ref().map_or(0, |feed| feed.shared.counters.routes.load(Relaxed))
        })
        .measures(&ROUTES_LEARNED);
        details::handler(h, |e: &KernelRoutes| e.feed.as_ref());
        h.write("panic", |e: &mut KernelRoutes, _, _| {
            e.feed.iter().for_each(Shared::panic);
            Ok(())
        })
        .as_button();
    }
}

/// The thread's part.
struct Listener {
    ear: Ear<Message>,
    sync: RouteSync,
    links: Links,
    reconcile: Option<Duration>,
    /// Changes until the reading in full began that is under way.
    changes: u64,
}

impl Listener {
    /// Listens until the end. Called again after a panic, in whatever state that left it.
    fn listen(&mut self, shared: &Shared, waiter: &Waiter) {
        self.ear.spoil();
        self.sync.fib.break_off();
        self.sync.begin();
        loop {
            let until = [self.ear.next(), self.links.next()].into_iter().flatten().min();
            if let Wake::Stop = waiter.wait(&[self.ear.descriptor(), self.links.descriptor()], until) {
                return;
            }
            self.hear_links();
            // At most some messages, so that changes are installed in between.
            for event in self.ear.hear() {
                self.take(event, shared);
            }
            self.sync.install(&self.links);
            if !self.ear.is_reading() {
                self.plan_reading();
            }
        }
    }

    fn hear_links(&mut self) {
        let changed = self.links.changed();
        if self.sync.links_changed(&changed, &self.links) {
            self.ear.spoil();
        }
    }

    /// When everything is read again: soon if there is a reason, otherwise after a while.
    fn plan_reading(&mut self) {
        let in_doubt = self.sync.fib.unsure().then_some(SETTLE);
        let expired = self.sync.fib.expires().map(|after| after.max(EXPIRY_MIN));
        let usual = self.reconcile.filter(|_| !self.ear.is_planned());
        for after in [in_doubt, expired, usual].into_iter().flatten() {
            self.ear.want(Instant::now() + after);
        }
    }

    fn take(&mut self, event: Event<Message>, shared: &Shared) {
        match event {
            Event::Message(message) => self.sync.take(message),
            Event::Lost => drop(shared.counters.overruns.fetch_add(1, Relaxed)),
            Event::Begun => self.begin_reading(shared),
            Event::Ended(End::Whole) => self.finish_reading(false, shared),
            Event::Ended(End::Doubtful) => self.finish_reading(true, shared),
            Event::Ended(End::Failed(error)) => {
                self.sync.fib.break_off();
                if let Some(error) = error {
                    shared.log(&format!("the kernel does not list its routes: {error}"));
                }
            }
        }
    }

    fn begin_reading(&mut self, shared: &Shared) {
        shared.counters.connections.fetch_add(1, Relaxed);
        self.changes = shared.counters.changes.load(Relaxed);
        self.sync.fib.begin_round();
    }

    fn finish_reading(&mut self, in_doubt: bool, shared: &Shared) {
        let swept = self.sync.fib.end_round(in_doubt);
        shared.counters.swept.fetch_add(swept.routes as u64, Relaxed);
        self.sync.fib.settle();
        self.sync.install(&self.links);
        if swept.open {
            self.ear.want(Instant::now() + AGAIN);
        } else {
            self.sync.sweep_leftovers();
        }
        self.sync.count_unused();
        let counters = &shared.counters;
        if counters.connected.swap(true, Relaxed) {
            counters.corrected.fetch_add(counters.changes.load(Relaxed) - self.changes, Relaxed);
        }
    }
}
