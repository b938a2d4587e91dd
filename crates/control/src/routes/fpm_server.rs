//! Takes routes from zebra, the routing manager of FRR.
//!
//! ```click
//! FPMServer(INTERFACE OUTPUT, ..., [IPV4 TABLE, IPV6 TABLE, KEYWORDS])
//! ```
//!
//! Listens for connections of zebra's Forwarding Plane Manager interface and keeps the tables of two lookup elements
//! in step with zebra, so that BGP, OSPF, IS-IS and static routes of FRR determine where packets go. In zebra, load
//! the module `dplane_fpm_nl` (`zebra -M dplane_fpm_nl`) and configure `fpm address 127.0.0.1`.
//!
//! A route's next hops name Linux interfaces. Each argument `INTERFACE OUTPUT` gives the output of the lookup
//! elements for packets to an interface. Of the next hops of a route or of its next-hop group, those are used whose
//! interface has an output and a link; flows are spread over them according to their weights. A route without any
//! such next hop is not used, but counted; if its link goes down later, packets go to the output UNREACHABLE until zebra
//! says what becomes of it. Next hops with an encapsulation (MPLS, SRv6, tunnels) are not used either, nor are routes for
//! a type of service; both are counted, and said once in the log. A resilient group is one with weights. A new route for
//! a destination replaces the old one. When a group changes, all routes
//! that use it change with it, at once. If several sources set routes in one table, the last to set a destination has it, and only that
//! one can withdraw it.
//!
//! When zebra disconnects, forwarding continues with the existing routes. When it reconnects, it sends all its routes
//! again. Routes that it has not sent after HOLD are then removed; routes that have not changed are not touched.
//! Start zebra with `-K SECONDS`: without it, a newly started zebra immediately withdraws what its predecessor left
//! behind. If a program error occurs in the thread that reads routes, the connection is closed, and zebra opens a new
//! one.
//!
//! If the address is in use, it tries again each second. When the configuration is replaced while the router runs,
//! the connection moves to the new element of the same name if the address is the same, and the new tables get all
//! routes; those of before that are not among them any more are removed.
//!
//! Ports: none. Workers: exclusive. A separate thread reads routes and brings them into the tables of the lookup
//! elements; workers forward meanwhile. While the memory that waits for workers to be done with old routes has reached its limit, the
//! thread waits, and then goes on: no route is lost.
//!
//! # Arguments
//! - `INTERFACE OUTPUT [OUTPUT6]`: the output for an interface, as in `eth0 1`; one argument for each. IPv4 packets to an IPv6
//!   gateway (RFC 8950, "unnumbered" BGP) leave by OUTPUT6, with the gateway as IPv6 destination annotation, as IP6NDSolicitor
//!   takes them; without it such routes are not used, so that a shorter prefix or another metric counts, and the log says so.
//! - `IPV4`, `IPV6` (elements): lookup elements for the two address families, at least one of them.
//! - `BLACKHOLE`, `UNREACHABLE`, `PROHIBIT` (integer): outputs for routes of these types. Without them such packets
//!   are dropped.
//! - `THROW` (integer): output for `throw` routes, which leave the choice to another table. Without it such packets are dropped.
//! - `LOCAL` (integer): output for the machine's own addresses; without it such routes are not used.
//! - `ADDRESS` (IP address, default 127.0.0.1): the address to listen on.
//! - `PORT` (integer, default 2620): the port to listen on; 0 lets the system choose.
//! - `HOLD` (integer, default 120): seconds after a reconnection until stale routes are removed.
//! - `TABLE` (integer or name, default main): the routing table of zebra to use; a name is one of `/etc/iproute2/rt_tables`.
//! - `VRF` (word): in the place of TABLE, the table of the VRF with this name, which may come and go while the router runs.
//!
//! # Handlers
//! - `stats` (read): one number per line: whether zebra is `connected`, `connections` so far, `messages`, `routes`,
//!   next-hop `groups`, `unused` routes, those with an
//!   `encapsulated` next hop, which is not used, and those for a type of service (`tos`), which are not used (counted when they
//!   are read in full: at the end of HOLD), `changes` sent to
//!   lookup elements, changes that they `refused`, routes `swept` away after HOLD, and program errors survived
//!   (`restarts`).
//! - `routes` (read): the number of routes received from zebra.
//! - `routes_detail` (read, `[PREFIX [COUNT]]`): all that is known of routes, as JSON: an array of objects in the order of their
//!   destinations, IPv4 first, from PREFIX on, for up to COUNT destinations (1000). Each has `prefix`, `table`, `type`,
//!   `protocol`, `scope`, `metric`, `tos`, `mtu` and `source` (null if not said), the number of its next-hop object
//!   (`nexthop_object`), its `nexthops` (`gateway`, `interface`, `interface_number`, `link_up`, `weight`, which is 0 for one that is dead, `encapsulated`), the
//!   seconds since these became known here or last came to lead elsewhere (`nexthops_age_s`, the same for all routes that lead to them), and its
//!   `state`: used, pending, or why it is not used.
//! - `connected` (read): whether zebra is connected.
//! - `port` (read): the TCP port.
//! - `panic` (write, button): makes the thread fail, to test the recovery.
//!
//! # Example
//! ```click
//! rt4 :: IPLookup(10.0.1.1/32 0); rt6 :: IP6Lookup(2001:db8:1::1/128 0);
//! FPMServer(eth0 1, eth1 2, IPV4 rt4, IPV6 rt6, BLACKHOLE 3);
//! ```
//!
//! # See also
//! KernelRoutes, IPLookup, IP6Lookup

use super::arguments::{Arguments, Table, Tables};
use super::details;
use super::install::{ROUTES_LEARNED, RouteSync, Shared, Target};
use super::links::Links;
use super::netlink;
use crate::feed::{Feed, Priority, Waiter, Wake};
use elements_shared::route_port::RoutePort;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, IpPort, Level, Residency};
use std::any::Any;
use std::io::{ErrorKind, Read};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// The class.
pub(crate) const CLASS: Class = Class::new("FPMServer", create)
    .ports("0/0")
    .residency(Residency::Exclusive)
    .doc(router::manual!("fpm_server.rs"));

/// Bytes before a message: version, type, length of both in network order.
const HEADER: usize = 4;
const VERSION: u8 = 1;
const NETLINK: u8 = 1;
/// Bytes read at a time.
const CHUNK: usize = 1 << 18;

/// Timer: the next attempt to listen.
const RETRY: u32 = 0;
const RETRY_AFTER: Duration = Duration::from_secs(1);

struct FpmServer {
    address: Ipv4Addr,
    port: u16,
    tables: Tables,
    hold: Duration,
    table: Table,
    /// The lookup elements' tables, once all elements are there.
    routes: [Option<Arc<dyn RoutePort>>; 2],
    running: Option<Running>,
    /// It was said that the port is not free.
    warned: bool,
}

/// What another configuration can take over.
struct Running {
    asked_for: (Ipv4Addr, u16),
    /// The port, which the system may have chosen.
    port: u16,
    feed: Feed<Shared>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut arguments = Arguments::default();
    let (mut address, mut port, mut hold) = (Ipv4Addr::LOCALHOST, IpPort(2620), 120u32);
    arguments
        .declare(config.args())
        .keyword("ADDRESS", &mut address)
        .keyword("PORT", &mut port)
        .keyword("HOLD", &mut hold)
        .finish()?;
    let (hold, table) = (Duration::from_secs(hold.into()), arguments.table()?);
    Ok(Box::new(FpmServer {
        address,
        port: port.0,
        tables: arguments.tables()?,
        hold,
        table,
        routes: [None, None],
        running: None,
        warned: false,
    }))
}

impl FpmServer {
    fn aim(&self, cx: &Cx<'_>) -> Target {
        let (handle, name, element) = (cx.handle(), cx.name().to_owned(), cx.index());
        Target { handle, name, element, tables: self.tables.clone(), routes: self.routes.clone() }
    }

    fn listen(&mut self, cx: &Cx<'_>) -> Result<(), String> {
        let explain =
            |error: std::io::Error| format!("cannot listen on {}:{}: {error}", self.address, self.port);
        let listener = TcpListener::bind((self.address, self.port)).map_err(explain)?;
        listener.set_nonblocking(true).map_err(explain)?;
        let port = listener.local_addr().map_err(explain)?.port();
        let shared = Arc::new(Shared::new(self.aim(cx)));
        let (hold, links, buffer) = (self.hold, Links::new()?, Vec::new());
        let sync = RouteSync::new(&shared, false, self.table.clone(), &links);
        let mut server = Server { listener, zebra: None, buffer, sync, links, sweep_at: None, hold };
        let feed = Feed::start_lasting(
            "routes",
            Priority::BehindPackets,
            shared,
            Shared::panicked,
            move |shared, waiter| server.serve(shared, waiter),
        )?;
        self.running = Some(Running { asked_for: (self.address, self.port), port, feed });
        Ok(())
    }

    fn count<T>(&self, read: impl FnOnce(&Shared) -> T) -> Option<T> {
        self.running.as_ref().map(|running| read(&running.feed.shared))
    }
}

impl Element for FpmServer {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.routes = self.tables.find(cx)?;
        if self.listen(cx).is_err() {
            // Perhaps the port is that of a namesake, which hands it over before the router runs.
            cx.timers().after(RETRY, Duration::ZERO);
        }
        Ok(())
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        if self.running.is_some() {
            return;
        }
        if let Err(error) = self.listen(cx) {
            if !std::mem::replace(&mut self.warned, true) {
                cx.warn(&format!("{error} (trying again)"));
            }
            cx.timers().after(RETRY, RETRY_AFTER);
        }
    }

    fn can_take_over(&mut self, _cx: &mut Cx<'_>, old: &dyn Any) -> Result<(), ConfigError> {
        let running = old.downcast_ref::<FpmServer>().and_then(|old| old.running.as_ref());
        match running {
            Some(running) if running.asked_for != (self.address, self.port) => {
                Err("it listens elsewhere".into())
            }
            _ => Ok(()),
        }
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        self.running.take().map(|running| Box::new(running) as Box<dyn Any + Send>)
    }

    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        let Ok(running) = state.downcast::<Running>() else { return };
        self.running = Some(*running);
        cx.timers().cancel(RETRY);
    }

    /// The lookup elements have taken over what the old ones had: from now on the thread works for them.
    fn taken_over(&mut self, cx: &mut Cx<'_>) {
        if let Some(running) = &self.running {
            running.feed.shared.retarget(self.aim(cx));
            running.feed.wake();
        }
    }

    fn finish(&mut self, _cx: &mut Cx<'_>) {
        if let Some(running) = self.running.take() {
            running.feed.shared.end();
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("stats", |e: &mut FpmServer, _| e.count(|s| s.counters.text()).unwrap_or_default());
        h.read("routes", |e: &mut FpmServer, _| e.count(|s| s.counters.routes.load(Relaxed)).unwrap_or(0))
            .measures(&ROUTES_LEARNED);
        h.read("connected", |e: &mut FpmServer, _| {
            e.count(|s| s.counters.connected.load(Relaxed)).unwrap_or(false)
        });
        details::handler(h, |e: &FpmServer| e.running.as_ref().map(|running| &running.feed));
        h.write("panic", |e: &mut FpmServer, _, _| {
            e.running.iter().for_each(|running| Shared::panic(&running.feed));
            Ok(())
        })
        .as_button();
        h.read("port", |e: &mut FpmServer, _| e.running.as_ref().map_or(e.port, |running| running.port));
    }
}

/// The thread's part.
struct Server {
    listener: TcpListener,
    zebra: Option<(TcpStream, SocketAddr)>,
    /// What came and is not a whole message yet.
    buffer: Vec<u8>,
    sync: RouteSync,
    links: Links,
    /// When routes that zebra did not tell of again are removed.
    sweep_at: Option<Instant>,
    hold: Duration,
}

impl Server {
    /// Serves until the end. Called again after a panic, in whatever state that left it: zebra connects again then, and tells everything.
    fn serve(&mut self, shared: &Shared, waiter: &Waiter) {
        self.part();
        shared.counters.connected.store(false, Relaxed);
        self.sync.begin();
        loop {
            let mut descriptors = vec![self.listener.as_fd(), self.links.descriptor()];
            descriptors.extend(self.zebra.as_ref().map(|(stream, _)| stream.as_fd()));
            let until = [self.sweep_at, self.links.next()].into_iter().flatten().min();
            let wake = waiter.wait(&descriptors, until);
            if let Wake::Stop = wake {
                return;
            }
            self.hear_links(shared);
            match wake {
                Wake::Time if self.sweep_at.is_some_and(|at| at <= Instant::now()) => self.sweep(shared),
                Wake::Ready(ready) => {
                    if ready.get(2) == Some(&true) {
                        self.read(shared);
                    }
                    if ready[0] {
                        self.accept(shared);
                    }
                }
                _ => {}
            }
            self.sync.install(&self.links);
        }
    }

    fn hear_links(&mut self, shared: &Shared) {
        let changed = self.links.changed();
        // Zebra tells everything again when it connects again.
        if self.sync.links_changed(&changed, &self.links) {
            shared.counters.connected.store(false, Relaxed);
            self.part();
        }
    }

    /// A new connection takes the place of the old one, which zebra may have left behind.
    fn accept(&mut self, shared: &Shared) {
        let Ok((stream, from)) = self.listener.accept() else { return };
        if let Err(error) = stream.set_nonblocking(true) {
            return shared.log(&format!("{from}: {error}"));
        }
        shared.say(Level::Info, &format!("zebra connected from {from}"));
        shared.counters.connected.store(true, Relaxed);
        if shared.counters.connections.fetch_add(1, Relaxed) > 0 {
            self.sync.fib.begin_round();
        }
        self.sweep_at = Some(Instant::now() + self.hold);
        self.buffer.clear();
        self.zebra = Some((stream, from));
    }

    fn sweep(&mut self, shared: &Shared) {
        self.sweep_at = None;
        if self.zebra.is_some() {
            let swept = self.sync.fib.sweep();
            shared.counters.swept.fetch_add(swept as u64, Relaxed);
            self.sync.fib.settle();
            self.sync.install(&self.links);
            self.sync.sweep_leftovers();
            self.sync.count_unused();
        }
    }

    /// Reads what there is, at most a chunk, so that changes are installed in between.
    fn read(&mut self, shared: &Shared) {
        let Some((stream, _)) = &mut self.zebra else { return };
        let old = self.buffer.len();
        self.buffer.resize(old + CHUNK, 0);
        let read = stream.read(&mut self.buffer[old..]);
        self.buffer.truncate(old + read.as_ref().map_or(0, |&bytes| bytes));
        let over = match read {
            Ok(0) => Err("it closed the connection".to_owned()),
            Ok(_) => self.take_messages(),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(()),
            Err(error) => Err(error.to_string()),
        };
        if let Err(why) = over {
            let routes = self.sync.fib.len();
            shared.log(&format!("zebra is gone ({why}); its {routes} routes stay"));
            shared.counters.connected.store(false, Relaxed);
            self.part();
        }
    }

    /// Ends the connection.
    fn part(&mut self) {
        (self.zebra, self.sweep_at) = (None, None);
        self.buffer.clear();
    }

    /// Takes in the messages that are there whole.
    fn take_messages(&mut self) -> Result<(), String> {
        let mut at = 0;
        while let Some(&[version, kind, high, low]) = self.buffer[at..].first_chunk::<HEADER>() {
            let len = usize::from(u16::from_be_bytes([high, low]));
            if version != VERSION || len < HEADER {
                return Err(format!("not an FPM message: version {version}, length {len}"));
            }
            let Some(body) = self.buffer.get(at + HEADER..at + len) else { break };
            if kind == NETLINK {
                netlink::take_messages(body, |message| self.sync.take(message));
            }
            at += len;
        }
        self.buffer.drain(..at);
        Ok(())
    }
}
