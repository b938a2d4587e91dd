//! Lets other programs call handlers through a socket.
//!
//! ```click
//! ControlSocket(TCP, PORT [, KEYWORDS])
//! ControlSocket(UNIX, FILENAME [, KEYWORDS])
//! ControlSocket(SOCKET, FD [, KEYWORDS])
//! ```
//!
//! Listens on a TCP port or a UNIX-domain socket, or uses a connection that the program was started with, and speaks
//! Click's protocol, version 1.3. A command is a line; responses are lines that start with a three-digit code; data
//! follow a line `DATA LENGTH`. The commands are `READ`, `READDATA`, `READUNTIL`, `WRITE`, `WRITEDATA`, `WRITEUNTIL`,
//! `CHECKREAD`, `CHECKWRITE`, `LLRPC`, `WATCH`, `METRICS`, `RELOAD`, `DROPS`, `RUNTIME`, `EXPLAIN`, `TRACE`, `CAPTURE`, `HELP` and
//! `QUIT`. The codes are 200 (done), 220 (done,
//! with a warning from the handler), 500 (syntax error), 501 (no such command), 510 (no such element), 511 (no such
//! handler), 520 (error from the handler), 521 (too much data), 530 (not permitted), 540 (no router running) and 590
//! (other errors). `clique ctl` is a client.
//!
//! `WATCH [TOPIC...]`, which Click does not have, reports events as they happen, one line `EVENT TOPIC ...` each,
//! until the client sends something: `neighbour add|change|delete ADDR ETH STATE INTERFACE` from elements with
//! neighbour tables (see ARPTable); `link down|up|gone|back INTERFACE ELEMENT` from FromDevice, KernelTap and KernelTun, of an interface that FromDevice
//! finds down, as it is before it is deleted, and up again, of one that was deleted, and of another one of its name; those of routes, flows and IPsec are in the manuals of the elements. `EVENT lost N` means that N events were lost because the client does not keep up,
//! and `EVENT router replaced` that a new configuration is running: after either, the state known from events is out
//! of date. `EVENT router refused WHY` says that one was to run and does not.
//!
//! `RELOAD LENGTH`, which Click does not have, takes data that ask the program to replace the configuration, to go back to one that ran
//! before, and the like; `clique reload` sends them. It is rejected by a program that runs without `-R`, with `READONLY`, and with `PROXY`.
//!
//! `METRICS`, which Click does not have either, returns the metrics of MetricsSocket as data; `clique top` shows
//! them. With `PROXY` it is rejected.
//!
//! `DROPS`, `RUNTIME`, `EXPLAIN PACKET`, `TRACE N SECONDS [FILTER]` and `CAPTURE EDGE N SECONDS SNAPLEN [FILTER]` are what `clique drops`,
//! `clique runtime`, `clique explain`, `clique trace` and `clique capture` send. The first three return an object of JSON as data; the others
//! report lines `EVENT OBJECT`, the last of which has a member `end`, until they are over or the client sends something. None of them changes
//! what becomes of packets, so that `READONLY` allows them; with `PROXY` they are rejected.
//!
//! A client that takes nothing of events, a trace or a capture for 30 seconds is disconnected.
//!
//! Commands are carried out in the order in which they arrive on a connection, by threads of their own; packets do not
//! wait for them. There may be 64 connections at a time. One more takes the place of the one whose client has sent no whole command
//! for the longest time, or, where all of them watch, of the one that began so first: idle clients lock no other out. Only while 64
//! commands are under way is a connection refused. A connection that sends a request of HTTP is closed: a web page could have a
//! browser send it, with commands in it.
//!
//! When the configuration is replaced while the router runs, the socket and its connections move to the new element
//! of the same name if type and address are the same; it needs `RETRIES 1` then, since the address is still in use
//! when it starts.
//!
//! Unlike in Click, a TCP socket listens on 127.0.0.1 by default, and `LLRPC` is always rejected (501): elements have
//! no such calls here.
//!
//! Ports: none. Workers: exclusive.
//!
//! # Arguments
//! - `TYPE` (`TCP`, `UNIX` or `SOCKET`): the type of socket.
//! - `PORT`: the TCP port; 0 lets the system choose one, see the handler `port`. If a plus sign follows the number,
//!   the first free port from there on is used.
//! - `FILENAME`: the socket's name in the file system.
//! - `FD` (integer): the file descriptor of the connection.
//! - `READONLY` (boolean): whether to reject writes. Default: false.
//! - `PROXY` (element): for each handler `E.H` that a client requests, use the handler `E.H` of this element.
//! - `VERBOSE` (boolean): whether to report connections. Default: false.
//! - `LOCALHOST` (boolean): whether to accept connections from this machine only. Default: true.
//! - `ADDRESS` (IPv4 or IPv6 address): the address to listen on instead.
//! - `RETRIES` (integer): if the socket cannot be opened, how often to try again, once a second, before the driver is
//!   stopped. Default: 0.
//! - `RETRY_WARNINGS` (boolean): whether to report each failure, not only the last. Default: true.
//!
//! # Handlers
//! - `port` (read): the TCP port, the name of the UNIX-domain socket, or the file descriptor.
//! - `filename` (read, of UNIX-domain sockets): the socket's name.
//!
//! # Example
//! ```click
//! ControlSocket(UNIX, /tmp/clicksocket);
//! ControlSocket(TCP, 7777, READONLY true);
//! ```
//!
//! # See also
//! ChatterSocket, KernelHandlerProxy, MetricsSocket, Script

use super::messages::{Chatter, Hearing};
use super::reload::ReloadService;
use super::requests::Serves;
use super::server::{Address, Role, Server};
use super::shared::Target;
use router::{
    Class, Config, ConfigError, Cx, Element, ElementName, FileName, FromArg, Handlers, IpPort, Residency,
    Scope, StateWriter,
};
use std::any::Any;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::RangeInclusive;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("ControlSocket", create)
    .ports("0/0")
    .residency(Residency::Exclusive)
    .doc(router::manual!("control.rs"));

/// The longest name of a UNIX-domain socket, as the system has it.
const UNIX_NAME_MAX: usize = 107;

/// Timer: the next attempt to open the socket.
const RETRY: u32 = 0;
/// Timer: the swap is over.
const FORGET: u32 = 1;

/// How long to wait before the next attempt to open the socket.
const RETRY_AFTER: Duration = Duration::from_secs(1);

struct ControlSocket {
    address: Address,
    server: Option<Server>,
    /// The server of the element whose place this one takes, at another address: not to be closed before the swap is over.
    former: Option<Box<Server>>,
    read_only: bool,
    verbose: bool,
    proxy: Option<String>,
    /// Attempts that are left.
    retries: i32,
    retry_warnings: bool,
    kind: Kind,
    reloads: Option<ReloadService>,
    /// The socket that a namesake in another process has left.
    left: Option<OwnedFd>,
}

/// The form of what is left to another process.
const FORM: u8 = 1;

/// What speaks through the socket.
enum Kind {
    Commands,
    /// A ChatterSocket, and what it hears.
    Chatter(Hearing),
    /// An HTTPServer or a MetricsSocket, and whether only this machine may connect.
    Http {
        local: bool,
        serves: Serves,
    },
}

/// Ports to choose from.
struct Ports(RangeInclusive<u16>);

impl FromArg for Ports {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        let port = |text: &str| IpPort::from_arg(text, scope).map(|IpPort(port)| port);
        match text.strip_suffix('+') {
            Some(first) => Ok(Ports(port(first)?..=u16::MAX)),
            None => port(text).map(|port| Ports(port..=port)),
        }
    }
}

/// The address of one of this machine's interfaces, of either family.
struct Listening(IpAddr);

impl FromArg for Listening {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        match Ipv4Addr::from_arg(text, scope) {
            Ok(address) => Ok(Listening(address.into())),
            Err(error) => match text.parse::<Ipv6Addr>() {
                Ok(address) => Ok(Listening(address.into())),
                Err(_) => Err(error),
            },
        }
    }
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    create_as(config, Speaks::Commands)
}

/// What elements with these arguments have their sockets for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaks {
    /// ControlSocket: commands are carried out.
    Commands,
    /// ChatterSocket: messages are passed on.
    Messages,
    /// MetricsSocket: figures are told, by HTTP.
    Metrics,
}

/// Makes an element of the arguments that classes with sockets have in common.
pub(super) fn create_as(config: &mut Config<'_>, speaks: Speaks) -> Result<Box<dyn Element>, ConfigError> {
    let (mut kind, mut others) = (String::new(), Vec::new());
    config.args().required("TYPE", &mut kind).rest(&mut others).finish()?;
    let (mut ports, mut file) = (None::<String>, None::<FileName>);
    let mut descriptor = None::<u16>;
    let (mut read_only, mut verbose, mut localhost) = (false, false, true);
    let (mut address, mut proxy) = (None::<Listening>, None::<ElementName>);
    let (mut retries, mut retry_warnings) = (0, true);
    let kind = kind.to_ascii_uppercase();
    let mut ignored = String::new();
    let args = config.args().required("TYPE", &mut ignored);
    let args = match kind.as_str() {
        "TCP" => args
            .required("PORT", &mut ports)
            .keyword("LOCALHOST", &mut localhost)
            .keyword("ADDRESS", &mut address),
        "UNIX" => args.required("FILENAME", &mut file).keyword("LOCALHOST", &mut localhost),
        "SOCKET" if speaks != Speaks::Metrics => {
            args.required("FD", &mut descriptor).keyword("LOCALHOST", &mut localhost)
        }
        _ => return Err(format!("unknown socket type '{kind}'").into()),
    };
    let (mut channel, mut quiet, mut greeting) = (router::DEFAULT_CHANNEL.to_owned(), true, true);
    let args = match speaks {
        Speaks::Messages => args
            .keyword("CHANNEL", &mut channel)
            .keyword("QUIET_CHANNEL", &mut quiet)
            .keyword("GREETING", &mut greeting),
        Speaks::Commands => args
            .keyword("READONLY", &mut read_only)
            .keyword("PROXY", &mut proxy)
            .keyword("VERBOSE", &mut verbose),
        Speaks::Metrics => args.keyword("VERBOSE", &mut verbose),
    };
    args.keyword("RETRIES", &mut retries).keyword("RETRY_WARNINGS", &mut retry_warnings).finish()?;
    let ports = match ports.map(|text| Ports::from_arg(&text, config.scope())) {
        Some(Err(_)) => return Err("PORT requires TCP port".into()),
        ports => ports.and_then(Result::ok).map_or(0..=0, |ports| ports.0),
    };
    let address = match (file, descriptor) {
        (Some(FileName(name)), _) if name.len() > UNIX_NAME_MAX => return Err("filename too long".into()),
        (Some(FileName(name)), _) => Address::Unix(PathBuf::from(name)),
        (None, Some(descriptor)) => Address::Connected(descriptor.into()),
        (None, None) => Address::Tcp(listening_at(localhost, address), ports),
    };
    let proxy = proxy.map(|proxy| proxy.name);
    let local = match &address {
        Address::Tcp(ip, _) => ip.is_loopback(),
        Address::Unix(_) | Address::Connected(_) => true,
    };
    Ok(Box::new(ControlSocket {
        address,
        server: None,
        former: None,
        read_only: read_only || speaks == Speaks::Metrics,
        verbose,
        proxy,
        retries,
        retry_warnings,
        kind: match speaks {
            Speaks::Commands => Kind::Commands,
            Speaks::Messages => Kind::Chatter(Hearing { channel, loud: !quiet, greeting }),
            Speaks::Metrics => Kind::Http { local, serves: Serves::Metrics },
        },
        reloads: config.resource().cloned(),
        left: left(config),
    }))
}

/// Makes the same of the arguments of an HTTPServer.
pub(super) fn create_http(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut ports, mut address) = (Ports(80..=80), None::<Listening>);
    let (mut read_only, mut verbose, mut localhost) = (true, false, true);
    let (mut retries, mut retry_warnings) = (0, true);
    config
        .args()
        .positional("PORT", &mut ports)
        .keyword("READONLY", &mut read_only)
        .keyword("LOCALHOST", &mut localhost)
        .keyword("ADDRESS", &mut address)
        .keyword("VERBOSE", &mut verbose)
        .keyword("RETRIES", &mut retries)
        .keyword("RETRY_WARNINGS", &mut retry_warnings)
        .finish()?;
    let ip = listening_at(localhost, address);
    Ok(Box::new(ControlSocket {
        address: Address::Tcp(ip, ports.0),
        server: None,
        former: None,
        read_only,
        verbose,
        proxy: None,
        retries,
        retry_warnings,
        kind: Kind::Http { local: ip.is_loopback(), serves: Serves::Handlers },
        reloads: None,
        left: left(config),
    }))
}

/// The socket that a namesake in another process has left.
fn left(config: &Config<'_>) -> Option<OwnedFd> {
    let mut state = config.inherited()?;
    state.form(FORM).ok()?;
    state.fd().ok()
}

/// The address to listen on: the one that was said, or this machine's own or all of them.
fn listening_at(localhost: bool, said: Option<Listening>) -> IpAddr {
    let everywhere = if localhost { Ipv4Addr::LOCALHOST } else { Ipv4Addr::UNSPECIFIED };
    said.map_or(everywhere.into(), |Listening(address)| address)
}

impl ControlSocket {
    fn aim(&self, cx: &Cx<'_>) -> Target {
        Target {
            handle: cx.handle(),
            element: Some(cx.index()),
            proxy: self.proxy.clone(),
            read_only: self.read_only,
            verbose: self.verbose,
            reloads: self.reloads.clone(),
        }
    }

    fn role(&self) -> Role {
        match &self.kind {
            Kind::Commands => Role::Commands,
            Kind::Chatter(hearing) => Role::Chatter(Arc::new(Chatter::new(hearing))),
            &Kind::Http { local, serves } => Role::Http { local, serves },
        }
    }

    /// What a ChatterSocket hears.
    fn hearing(&self) -> Option<&Hearing> {
        match &self.kind {
            Kind::Chatter(hearing) => Some(hearing),
            Kind::Commands | Kind::Http { .. } => None,
        }
    }

    /// Whether the server of another configuration's element does what this one is to do, at the same address.
    fn continues(&self, server: &Server) -> bool {
        let channel = server.chatter.as_ref().map(|chatter| chatter.channel());
        server.address == self.address && channel.as_ref() == self.hearing().map(|hearing| &hearing.channel)
    }

    /// Opens the socket, or prepares the next attempt.
    fn open(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        let role = self.role();
        let started = match self.left.take() {
            Some(socket) => Server::go_on(self.address.clone(), socket, self.aim(cx), role.clone()),
            None => Server::start(&self.address, self.aim(cx), role.clone()),
        };
        match started {
            Ok(mut server) => {
                if let Role::Chatter(chatter) = role {
                    server.chatter = Some(chatter);
                }
                self.server = Some(server);
            }
            Err(error) => {
                self.retries -= 1;
                if self.retries < 0 {
                    return Err(error.into());
                }
                if self.retry_warnings {
                    let left = self.retries + 1;
                    let tries = if left == 1 { "try" } else { "tries" };
                    cx.warn(&format!("{error} ({left} {tries} left)"));
                }
                cx.timers().after(RETRY, RETRY_AFTER);
            }
        }
        Ok(())
    }
}

impl Element for ControlSocket {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.open(cx)
    }

    fn timer(&mut self, cx: &mut Cx<'_>, key: u32) {
        if key == FORGET {
            self.former = None;
        } else if self.server.is_none()
            && let Err(error) = self.open(cx)
        {
            cx.error(format_args!("{}: {error}", cx.info().nodes[cx.index()].declaration()));
            cx.info().please_stop();
        }
    }

    fn can_take_over(&mut self, _cx: &mut Cx<'_>, old: &dyn Any) -> Result<(), ConfigError> {
        let server = old.downcast_ref::<ControlSocket>().and_then(|old| old.server.as_ref());
        match server {
            // It has a socket already, if the address is another one.
            Some(server) if self.server.is_none() && !self.continues(server) => {
                Err("incompatible ControlSockets".into())
            }
            _ => Ok(()),
        }
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        self.server.take().map(|server| Box::new(server) as Box<dyn Any + Send>)
    }

    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        let Ok(server) = state.downcast::<Server>() else { return };
        if !self.continues(&server) {
            self.former = Some(server);
            cx.timers().at_once(FORGET);
            return;
        }
        if let (Some(chatter), Some(hearing)) = (&server.chatter, self.hearing()) {
            chatter.follow(hearing);
        }
        server.retarget(self.aim(cx));
        // Of several ports to choose from, a new server has the next one, which no client knows.
        self.server = Some(*server);
        cx.timers().cancel(RETRY);
    }

    /// The socket that listens: who connects meanwhile waits. Connections end.
    fn write_state(&mut self, _cx: &mut Cx<'_>, out: &mut StateWriter) -> bool {
        let Some(socket) = self.server.as_ref().and_then(Server::listener) else { return false };
        out.form(FORM);
        out.fd(socket);
        true
    }

    fn finish(&mut self, _cx: &mut Cx<'_>) {
        (self.server, self.former) = (None, None);
    }

    fn handlers(&self, h: &mut Handlers) {
        if let Address::Unix(path) = &self.address {
            let name = path.display().to_string();
            h.read("filename", move |_: &mut ControlSocket, _| name.clone());
        }
        h.read("port", |e: &mut ControlSocket, _| match (&e.address, &e.server) {
            (Address::Unix(path), _) => path.display().to_string(),
            (Address::Connected(descriptor), _) => descriptor.to_string(),
            (_, Some(Server { port: Some(port), .. })) => port.to_string(),
            (Address::Tcp(_, ports), _) => ports.start().to_string(),
        });
    }
}
