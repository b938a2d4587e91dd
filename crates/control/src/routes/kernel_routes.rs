//! Takes routes from the kernel.
//!
//! ```click
//! KernelRoutes(INTERFACE OUTPUT, ..., [IPV4 TABLE, IPV6 TABLE, KEYWORDS])
//! ```
//!
//! Keeps the tables of two lookup elements as the kernel's: static routes, those of interfaces' addresses, of DHCP, and of
//! any routing daemon that writes there, such as BIRD. Changes are taken over as they happen (rtnetlink).
//!
//! Which routes are used, and the arguments up to `TABLE`, are as FPMServer has it, but for one thing: of several routes for a
//! destination the one with the smallest metric counts.
//!
//! Nothing is lost for good: if the kernel says that its messages did not fit into the socket's buffer, if interfaces
//! change (the kernel then drops routes without a word), and in any case every RECONCILE seconds, all routes are read
//! again, and those that are not there any more are removed. Routes that stay as they were are not touched.
//!
//! Ports: none. Workers: exclusive. Routes are read by a thread of its own.
//!
//! # Arguments
//! - `INTERFACE OUTPUT`: the output for an interface, as in `eth0 1`; one argument for each.
//! - `IPV4`, `IPV6` (elements): lookup elements for either family, one of them at least.
//! - `BLACKHOLE`, `UNREACHABLE`, `PROHIBIT` (integer): outputs for routes of these types. Without one packets are dropped.
//! - `LOCAL` (integer): output for routes of the types `local`, `broadcast` and `anycast`; these are in table 255. Without it they are not
//!   used.
//! - `TABLE` (integer, default 254): the kernel's routing table; 254 is the main one.
//! - `RECONCILE` (integer, default 60): seconds; 0 means never without a reason.
//!
//! # Handlers
//! - `stats` (read): a number a line: those of FPMServer, of which `connections` counts how often all routes were read, and
//!   `swept` what was removed then; `overruns` counts how often messages were lost, `corrected` the changes that only reading
//!   everything brought to light.
//! - `routes` (read): how many routes there are.
//!
//! # Example
//! ```click
//! rt :: IPLookup(10.0.1.1/32 0);
//! KernelRoutes(eth0 1, eth1 2, IPV4 rt);
//! ```
//!
//! # See also
//! FPMServer, IPLookup, IP6Lookup

use super::arguments::{Arguments, Tables};
use super::install::{Installer, Shared, Target};
use super::netlink::{self, Message, RTM_GETNEXTHOP, RTM_GETROUTE};
use crate::feed::{Feed, Waiter, Wake};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Refused, Residency};
use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, sockopt};
use std::any::Any;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// The class.
pub(crate) const CLASS: Class = Class::new("KernelRoutes", create)
    .ports("0/0")
    .residency(Residency::Exclusive)
    .doc(include_str!("kernel_routes.rs"));

/// What the kernel reports: interfaces, routes of both families, next hops.
const GROUPS: u32 = 1 | 0x40 | 0x400 | 1 << 31;
/// Bytes of messages that may wait, if the kernel allows: its own default is lost in a moment when many routes change.
const WAITING: usize = 1 << 25;
/// Bytes of one datagram, at most.
const CHUNK: usize = 1 << 17;
/// How long after interfaces changed all routes are read again: they change in groups.
const SETTLE: Duration = Duration::from_millis(100);
/// How long the kernel may take to answer before it is asked again.
const PATIENCE: Duration = Duration::from_secs(10);

struct KernelRoutes {
    tables: Tables,
    table: u32,
    reconcile: Option<Duration>,
    feed: Option<Feed<Shared>>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut arguments = Arguments::default();
    let (mut table, mut reconcile) = (254u32, 60u32);
    arguments
        .declare(config.args())
        .keyword("TABLE", &mut table)
        .keyword("RECONCILE", &mut reconcile)
        .finish()?;
    let reconcile = (reconcile > 0).then(|| Duration::from_secs(reconcile.into()));
    Ok(Box::new(KernelRoutes { tables: arguments.tables()?, table, reconcile, feed: None }))
}

/// A socket that hears of changes.
fn open() -> Result<OwnedFd, String> {
    let explain = |error: Errno| format!("cannot listen to the kernel's routing messages: {error}");
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    // No protocol means NETLINK_ROUTE, whose number is 0.
    let socket =
        rustix::net::socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None).map_err(explain)?;
    // Without the right to exceed the limit: as much as it allows.
    let _ = sockopt::set_socket_recv_buffer_size_force(&socket, WAITING)
        .or_else(|_| sockopt::set_socket_recv_buffer_size(&socket, WAITING));
    rustix::net::bind(&socket, &SocketAddrNetlink::new(0, GROUPS)).map_err(explain)?;
    Ok(socket)
}

impl Element for KernelRoutes {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        let declaration = cx.info().nodes[cx.index()].declaration();
        let target = Target { handle: cx.handle(), declaration, tables: self.tables.clone() };
        let (socket, table, reconcile) = (open()?, self.table, self.reconcile);
        let feed = Feed::start("routes", Arc::new(Shared::new(target)), move |shared, waiter| {
            let installer = Installer::new(shared, true, table);
            Listener {
                socket,
                installer,
                reading: None,
                again_at: Some(Instant::now()),
                reconcile,
                changes: 0,
            }
            .listen(shared, waiter);
        })?;
        self.feed = Some(feed);
        Ok(())
    }

    /// The new element asks the kernel itself; but from now on only one of them may speak to the lookup elements.
    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        self.feed.take().map(|feed| Box::new(feed) as Box<dyn Any + Send>)
    }

    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) -> Result<(), Refused> {
        drop(state);
        Ok(())
    }

    fn finish(&mut self, _cx: &mut Cx<'_>) {
        self.feed = None;
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("stats", |e: &mut KernelRoutes, _| {
            e.feed.as_ref().map_or(String::new(), |feed| feed.shared.counters.text())
        });
        h.read("routes", |e: &mut KernelRoutes, _| {
            e.feed.as_ref().map_or(0, |feed| feed.shared.counters.routes.load(Relaxed))
        });
    }
}

/// The thread's part.
struct Listener {
    socket: OwnedFd,
    installer: Installer,
    /// What is being read in full: next hops, then routes.
    reading: Option<u16>,
    /// When everything is read again.
    again_at: Option<Instant>,
    reconcile: Option<Duration>,
    /// Changes until the reading in full began that is under way.
    changes: u64,
}

impl Listener {
    fn listen(mut self, shared: &Shared, waiter: &Waiter) {
        let mut buffer = vec![0; CHUNK];
        loop {
            match waiter.wait(&[self.socket.as_fd()], self.again_at) {
                Wake::Stop => return,
                Wake::Target => {}
                Wake::Time => self.read_all(shared),
                Wake::Ready(_) => self.receive(shared, &mut buffer),
            }
            self.installer.install();
            if self.reading.is_none() && self.again_at.is_none() {
                self.again_at = self.reconcile.map(|after| Instant::now() + after);
            }
        }
    }

    /// Asks for everything, from next hops on.
    fn read_all(&mut self, shared: &Shared) {
        shared.counters.connections.fetch_add(1, Relaxed);
        self.changes = shared.counters.changes.load(Relaxed);
        self.installer.fib.begin_round();
        self.ask(RTM_GETNEXTHOP, shared);
    }

    fn ask(&mut self, what: u16, shared: &Shared) {
        let request = netlink::dump_request(what, u32::from(what));
        self.reading = Some(what);
        // An answer that does not come, or cannot be asked for, is asked for again.
        self.again_at = Some(Instant::now() + PATIENCE);
        if let Err(error) = rustix::net::send(&self.socket, &request, SendFlags::empty()) {
            shared.log(&format!("cannot ask the kernel for routes: {error}"));
        }
    }

    /// Takes in the messages that are there, at most some of them, so that changes are installed in between.
    fn receive(&mut self, shared: &Shared, buffer: &mut [u8]) {
        for _ in 0..16 {
            match rustix::net::recv(&self.socket, &mut *buffer, RecvFlags::empty()) {
                Ok((len, _)) => {
                    let (messages, _) = netlink::messages(&buffer[..len.min(CHUNK)]);
                    messages.into_iter().for_each(|message| self.take(message, shared));
                }
                Err(Errno::NOBUFS) => {
                    shared.counters.overruns.fetch_add(1, Relaxed);
                    self.again_at = Some(Instant::now());
                    return;
                }
                Err(_) => return, // nothing more
            }
        }
    }

    fn take(&mut self, message: Message, shared: &Shared) {
        match message {
            Message::Link if self.reading.is_none() => self.again_at = Some(Instant::now() + SETTLE),
            // A kernel without next-hop objects refuses to list them.
            Message::Done | Message::Error(_) => match self.reading {
                Some(RTM_GETNEXTHOP) => self.ask(RTM_GETROUTE, shared),
                Some(_) => self.finish_reading(shared),
                None => {}
            },
            message => self.installer.take(message),
        }
    }

    fn finish_reading(&mut self, shared: &Shared) {
        (self.reading, self.again_at) = (None, None);
        let swept = self.installer.fib.sweep();
        shared.counters.swept.fetch_add(swept as u64, Relaxed);
        self.installer.install();
        self.installer.count_unused();
        let counters = &shared.counters;
        if counters.connected.swap(true, Relaxed) {
            counters.corrected.fetch_add(counters.changes.load(Relaxed) - self.changes, Relaxed);
        }
    }
}
