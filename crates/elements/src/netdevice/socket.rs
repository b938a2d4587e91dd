//! Carries packets over a socket.
//!
//! ```click
//! Socket(TCP, ADDR, PORT [, LOCAL_ADDR, LOCAL_PORT, KEYWORDS])
//! Socket(UDP, ADDR, PORT [, LOCAL_ADDR, LOCAL_PORT, KEYWORDS])
//! Socket(UNIX, FILENAME [, LOCAL_FILENAME, KEYWORDS])
//! Socket(UNIX_DGRAM, FILENAME [, LOCAL_FILENAME, KEYWORDS])
//! FromSocket(TYPE, ...)
//! ToSocket(TYPE, ...)
//! ```
//!
//! Sends the data of packets at the input to another host or process, and emits what comes from there. A server binds the address
//! or file; with TCP and UNIX it serves one connection at a time, with UDP and UNIX_DGRAM it answers whoever has sent
//! something last. A client connects when the router starts; a UDP client to 0.0.0.0 sends each packet to its destination
//! annotation. It is a client with CLIENT true, without outputs, or with a local address.
//!
//! TCP and UNIX carry a stream: packets come out as the data arrives, not as it was sent. Unlike Click's, which stops
//! the router while a socket is full, up to 1000 packets that were pushed wait, and further ones are dropped.
//!
//! ALLOW and DENY name IPv4 lookup elements, RadixIPLookup for instance, whose prefixes say which hosts a TCP or UDP
//! server talks with: a host with a route in ALLOW does, else one with a route in DENY does not, and all others do.
//! The routes may change meanwhile. A connection that is not wanted is closed at once, a datagram dropped.
//!
//! FromSocket is a Socket with an output only, ToSocket one with an input only.
//!
//! Ports: up to 1 input and 1 output. Processing: agnostic input, push output. Workers: exclusive.
//!
//! # Arguments
//! - `ADDR`, `PORT` or `FILENAME`: where to connect to, or what to bind. A name that begins with `@` is abstract.
//! - `LOCAL_ADDR`, `LOCAL_PORT` or `LOCAL_FILENAME`: what a client binds.
//! - `SNAPLEN` (integer, default 2048): bytes of a packet that is received, at most.
//! - `HEADROOM` (integer, at most 8192, default 128): free bytes in front of a packet that is received.
//! - `NODELAY` (boolean, default true): with TCP, send at once.
//! - `CLIENT` (boolean): be a client, or a server.
//! - `WAIT_LEARN` (boolean, default false): with TCP and UDP, be a server in any case, as in FastClick.
//! - `SNDBUF`, `RCVBUF` (integer): bytes of the socket's buffers.
//! - `TIMESTAMP` (boolean, default true): set the time of packets that are received.
//! - `VERBOSE` (boolean, default false): report connections. `PROPER` (boolean): accepted.
//! - `ALLOW`, `DENY` (names of elements): hosts that a server talks with, and hosts that it does not talk with.
//!
//! # Handlers
//! - `connected` (read): whether packets can be sent.
//!
//! # Example
//! ```click
//! Socket(TCP, 0.0.0.0, 8080) -> Print -> Discard
//! ```
//!
//! # See also
//! ControlSocket, FromDevice, KernelTun

use crate::pulling;
use crate::route::Membership;
use device::Trouble;
use packet::{BATCH_MAX, Batch, DEFAULT_HEADROOM, Packet};
use router::{
    Activity, Args, Class, Config, ConfigError, Cx, Element, Handlers, Interest, IpPort, Pull, Residency,
};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrAny, SocketAddrUnix, SocketFlags, SocketType, sockopt,
};
use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

/// The class.
pub(crate) const CLASS: Class = Class::new("Socket", create)
    .ports("0-1/0-1")
    .processing("a/h")
    .flow("x/y")
    .residency(Residency::Exclusive)
    .activity(Activity::Always)
    .doc(include_str!("socket.rs"));

/// The half that receives.
pub(crate) const FROM: Class = Class { name: "FromSocket", ports: "0/1", ..CLASS };
/// The half that sends.
pub(crate) const TO: Class = Class { name: "ToSocket", ports: "1/0", ..CLASS };

/// Packets that wait for the socket, at most, when they are pushed.
const WAITING_MAX: usize = 1000;
/// Bytes of a packet that is received, unless SNAPLEN says otherwise.
const SNAPLEN: usize = 2048;
const FLAGS: SocketFlags = SocketFlags::NONBLOCK.union(SocketFlags::CLOEXEC);

/// What the arguments say.
struct Settings {
    family: AddressFamily,
    stream: bool,
    remote: SocketAddrAny,
    local: Option<SocketAddrAny>,
    /// The file that goes with the element.
    file: Option<String>,
    /// Whether each packet says where it goes.
    to_annotation: bool,
    port: u16,
    client: bool,
    snaplen: usize,
    headroom: usize,
    nodelay: bool,
    sndbuf: Option<usize>,
    rcvbuf: Option<usize>,
    timestamp: bool,
    verbose: bool,
    /// The elements that know who is wanted, and who is not.
    allow: Option<String>,
    deny: Option<String>,
}

pub(super) struct Socket {
    settings: Settings,
    allow: Option<Membership>,
    deny: Option<Membership>,
    fd: Option<Arc<OwnedFd>>,
    /// The connection, or the socket itself where there are none.
    active: Option<Arc<OwnedFd>>,
    /// Where a datagram goes.
    peer: Option<SocketAddrAny>,
    waiting: VecDeque<Packet>,
    pulls: bool,
    outputs: usize,
    burst: usize,
    /// Whether a datagram was refused: only the first is reported.
    failing: bool,
    /// Datagrams or pieces of a stream that were received, and packets that were sent.
    carried: u64,
    /// Packets that could not be sent.
    refused: u64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut kind, mut words) = (String::new(), Vec::new());
    let (mut client, mut snaplen, mut nodelay) = (None::<bool>, SNAPLEN, true);
    let (mut sndbuf, mut rcvbuf, mut timestamp, mut verbose) = (None, None, true, false);
    let (mut headroom, mut proper, mut learns) = (DEFAULT_HEADROOM, false, false);
    let (mut allow, mut deny) = (None::<String>, None::<String>);
    let (mut address, mut port, mut own_address, mut own_port) =
        (Ipv4Addr::UNSPECIFIED, IpPort(0), None::<Ipv4Addr>, IpPort(0));
    let (mut name, mut own_name) = (String::new(), None::<String>);
    config.args().required("TYPE", &mut kind).rest(&mut words).finish()?;
    let kind = kind.to_uppercase();
    let stream = matches!(kind.as_str(), "TCP" | "UNIX");
    let is_inet = matches!(kind.as_str(), "TCP" | "UDP");
    let args = Args::new(words, config.scope());
    let args = match kind.as_str() {
        "TCP" | "UDP" => args
            .required("ADDR", &mut address)
            .required("PORT", &mut port)
            .positional("LOCAL_ADDR", &mut own_address)
            .positional("LOCAL_PORT", &mut own_port)
            .positional("WAIT_LEARN", &mut learns)
            .keyword("ALLOW", &mut allow)
            .keyword("DENY", &mut deny),
        "UNIX" | "UNIX_DGRAM" => {
            args.required("FILENAME", &mut name).positional("LOCAL_FILENAME", &mut own_name)
        }
        _ => return Err(format!("unknown socket type `{kind}'").into()),
    };
    args.keyword("CLIENT", &mut client)
        .keyword("SNAPLEN", &mut snaplen)
        .keyword("HEADROOM", &mut headroom)
        .keyword("PROPER", &mut proper)
        .keyword("NODELAY", &mut nodelay)
        .keyword("SNDBUF", &mut sndbuf)
        .keyword("RCVBUF", &mut rcvbuf)
        .keyword("TIMESTAMP", &mut timestamp)
        .keyword("VERBOSE", &mut verbose)
        .finish()?;
    if headroom > 8192 {
        return Err("HEADROOM out of range".into());
    }
    let (family, remote, local, file, ip) = if is_inet {
        let remote = SocketAddrV4::new(address, port.0);
        let local = own_address.map(|address| SocketAddrV4::new(address, own_port.0).into());
        (AddressFamily::INET, remote.into(), local, None, Some(remote))
    } else {
        let local = own_name.as_deref().map(|name| unix("local", name)).transpose()?;
        let remote = unix("remote", &name)?;
        (AddressFamily::UNIX, remote, local, Some(own_name.unwrap_or(name)), None)
    };
    let client = !learns && client.unwrap_or(config.outputs() == 0 || local.is_some());
    let settings = Settings {
        family,
        stream,
        remote,
        local,
        file: file.filter(|name| !name.starts_with('@')),
        to_annotation: !stream && client && ip.is_some_and(|address| address.ip().is_unspecified()),
        port: ip.map_or(0, |address| address.port()),
        client,
        snaplen: snaplen.clamp(1, 65_535),
        headroom,
        nodelay: nodelay && kind == "TCP",
        sndbuf,
        rcvbuf,
        timestamp,
        verbose,
        allow,
        deny,
    };
    Ok(Box::new(Socket::new(settings, config)))
}

/// One that sends datagrams to a name on this machine, or receives what is sent there if there is an output.
pub(super) fn datagrams(config: &Config<'_>, name: &str) -> Result<Socket, ConfigError> {
    let settings = Settings {
        family: AddressFamily::UNIX,
        stream: false,
        remote: unix("remote", name)?,
        local: None,
        file: Some(name.to_owned()).filter(|name| !name.starts_with('@')),
        to_annotation: false,
        port: 0,
        client: config.outputs() == 0,
        snaplen: SNAPLEN,
        headroom: DEFAULT_HEADROOM,
        nodelay: false,
        sndbuf: None,
        rcvbuf: None,
        timestamp: true,
        verbose: false,
        allow: None,
        deny: None,
    };
    Ok(Socket::new(settings, config))
}

/// The address that a file's name is; `end` says whose.
fn unix(end: &str, name: &str) -> Result<SocketAddrAny, ConfigError> {
    let address = match name.strip_prefix('@') {
        Some(name) => SocketAddrUnix::new_abstract_name(name.as_bytes()),
        None => SocketAddrUnix::new(name),
    };
    Ok(address.map_err(|_| format!("{end} filename '{name}' too long"))?.into())
}

/// The address and port of another host.
fn inet(address: &SocketAddrAny) -> Option<String> {
    SocketAddrV4::try_from(address.clone()).ok().map(|address| address.to_string())
}

fn declaration(cx: &Cx<'_>) -> String {
    cx.info().nodes[cx.index()].declaration()
}

/// An error of a system call, explained.
fn failed(call: &'static str) -> impl Fn(Errno) -> String {
    move |error| Trouble::at_socket(call, error.into()).to_string()
}

impl Settings {
    /// An address, for messages.
    fn place(&self, address: &SocketAddrAny) -> String {
        match (inet(address), &self.file) {
            (Some(address), _) => address,
            (_, Some(file)) => file.clone(),
            _ => "an abstract name".to_owned(),
        }
    }

    /// Opens the socket; a client's that carries a stream is connected.
    fn open(&self) -> Result<OwnedFd, String> {
        let kind = if self.stream { SocketType::STREAM } else { SocketType::DGRAM };
        // Connecting may wait; from then on nothing does.
        let flags = if self.client { SocketFlags::CLOEXEC } else { FLAGS };
        let fd = rustix::net::socket_with(self.family, kind, flags, None).map_err(failed("socket"))?;
        if self.nodelay {
            sockopt::set_tcp_nodelay(&fd, true).map_err(failed("setsockopt(TCP_NODELAY)"))?;
        }
        if let Some(size) = self.sndbuf {
            sockopt::set_socket_send_buffer_size(&fd, size).map_err(failed("setsockopt(SO_SNDBUF)"))?;
        }
        if let Some(size) = self.rcvbuf {
            sockopt::set_socket_recv_buffer_size(&fd, size).map_err(failed("setsockopt(SO_RCVBUF)"))?;
        }
        let own = if self.client { self.local.as_ref() } else { Some(&self.remote) };
        if let Some(own) = own {
            if self.family == AddressFamily::INET {
                sockopt::set_socket_reuseaddr(&fd, true).map_err(failed("setsockopt(SO_REUSEADDR)"))?;
            }
            let doing = format!("{}: bind", self.place(own));
            rustix::net::bind(&fd, own)
                .map_err(|error| Trouble::at_socket(&doing, error.into()).to_string())?;
        }
        if self.client && self.stream {
            let doing = format!("{}: connect", self.place(&self.remote));
            rustix::net::connect(&fd, &self.remote)
                .map_err(|error| Trouble::at_socket(&doing, error.into()).to_string())?;
        } else if self.stream {
            rustix::net::listen(&fd, 2).map_err(failed("listen"))?;
        }
        rustix::io::ioctl_fionbio(&fd, true).map_err(failed("ioctl(FIONBIO)"))?;
        Ok(fd)
    }
}

impl Socket {
    fn new(settings: Settings, config: &Config<'_>) -> Socket {
        Socket {
            settings,
            allow: None,
            deny: None,
            fd: None,
            active: None,
            peer: None,
            waiting: VecDeque::new(),
            pulls: pulling::pulls(config),
            outputs: config.outputs(),
            burst: config.vector().min(BATCH_MAX),
            failing: false,
            carried: 0,
            refused: 0,
        }
    }

    /// How many packets were received or sent.
    pub(super) fn carried(&self) -> u64 {
        self.carried
    }

    /// How many packets could not be sent.
    pub(super) fn refused(&self) -> u64 {
        self.refused
    }

    fn say(&self, cx: &Cx<'_>, what: &str) {
        if self.settings.verbose {
            cx.log(&format!("{}: {what}", declaration(cx)));
        }
    }

    /// Says that a connection or a socket is there or gone, by the number of its descriptor as Click does.
    fn say_of(&self, cx: &Cx<'_>, what: &str, fd: &OwnedFd, place: &str) {
        self.say(cx, &format!("{what} connection {}{place}", fd.as_raw_fd()));
    }

    /// Says of a stream where it goes to, or where others may connect to.
    fn say_open(&self, cx: &Cx<'_>, fd: &OwnedFd) {
        let place = self.settings.place(&self.settings.remote);
        match (self.settings.stream, self.settings.client) {
            (true, true) => self.say_of(cx, "opened", fd, &format!(" to {place}")),
            (true, false) => {
                self.say(cx, &format!("listening for connections on {place} ({})", fd.as_raw_fd()))
            }
            _ => {}
        }
    }

    fn close(&mut self, cx: &mut Cx<'_>, error: Option<Errno>) {
        if let Some(error) = error {
            self.say(cx, &device::plain(&error.into()));
        }
        if let Some(active) = self.active.take() {
            self.say_of(cx, "closed", &active, "");
        }
        let waiting = self.waiting.len() as u64;
        self.waiting.drain(..).for_each(|packet| cx.pool().free(packet));
        cx.count_drops("the connection was closed", waiting);
    }

    fn accept(&mut self, cx: &Cx<'_>) {
        while let (None, true, Some(fd)) = (&self.active, self.settings.stream, &self.fd)
            && let Ok((connection, from)) = rustix::net::acceptfrom_with(fd, FLAGS)
        {
            let wanted = self.is_wanted(cx, from.as_ref());
            let place = format!(" from {}", from.as_ref().and_then(inet).unwrap_or_default());
            self.say_of(cx, if wanted { "opened" } else { "denied" }, &connection, &place);
            if wanted {
                self.active = Some(Arc::new(connection));
            }
        }
    }

    /// Whether the server talks with a host.
    fn is_wanted(&self, cx: &Cx<'_>, from: Option<&SocketAddrAny>) -> bool {
        if self.allow.is_none() && self.deny.is_none() {
            return true;
        }
        let Some(Ok(from)) = from.map(|from| SocketAddrV4::try_from(from.clone())) else { return true };
        let has = |list: &Option<Membership>| list.as_ref().is_some_and(|list| list.has(cx, *from.ip()));
        has(&self.allow) || !has(&self.deny)
    }

    /// Reads one packet; false if there is none now.
    fn receive(&mut self, cx: &mut Cx<'_>, batch: &mut Batch) -> bool {
        let Some(active) = self.active.clone() else { return false };
        let snaplen = self.settings.snaplen;
        let Some(mut packet) = cx.pool().alloc(self.settings.headroom, snaplen) else { return false };
        let received = rustix::net::recvfrom(&active, packet.data_mut(), RecvFlags::empty());
        let len = match received {
            Ok((len, _, from)) if len > 0 => {
                let serves = !self.settings.client && !self.settings.stream;
                if serves && !self.is_wanted(cx, from.as_ref()) {
                    if self.settings.verbose {
                        let place = from.as_ref().and_then(inet).unwrap_or_default();
                        self.say(cx, &format!("dropped datagram from {place}"));
                    }
                    cx.drop(packet, "from a host that is not wanted");
                    return true;
                }
                if serves {
                    self.peer = from;
                }
                len
            }
            other => {
                cx.pool().free(packet);
                match other {
                    Err(Errno::AGAIN | Errno::INTR) => {}
                    Err(error) => self.close(cx, Some(error)),
                    Ok(_) if self.settings.stream => self.close(cx, None),
                    Ok(_) => {} // an empty datagram
                }
                return false;
            }
        };
        if !packet.take(snaplen - len.min(snaplen)) {
            return false; // never: a packet holds what it was made for
        }
        if self.settings.timestamp {
            packet.set_timestamp_ns(cx.now_ns());
        }
        self.carried += 1;
        batch.push(packet);
        true
    }

    /// Sends what waits, as far as the socket takes it.
    fn flush(&mut self, cx: &mut Cx<'_>) {
        while let (Some(active), Some(packet)) = (self.active.clone(), self.waiting.front_mut()) {
            let sent = if self.settings.stream {
                rustix::net::send(&active, packet.data(), SendFlags::NOSIGNAL)
            } else if self.settings.to_annotation {
                let to = SocketAddrV4::new(packet.dst_ip(), self.settings.port);
                rustix::net::sendto(&active, packet.data(), SendFlags::NOSIGNAL, &to)
            } else if let Some(peer) = &self.peer {
                rustix::net::sendto(&active, packet.data(), SendFlags::NOSIGNAL, peer)
            } else {
                Err(Errno::DESTADDRREQ)
            };
            match sent {
                Ok(len) if self.settings.stream && packet.len() > len => {
                    let _ = packet.pull(len); // a shorter piece of it than there is
                }
                Ok(_) => {
                    self.carried += 1;
                    self.waiting.pop_front().into_iter().for_each(|packet| cx.pool().free(packet));
                }
                Err(Errno::AGAIN | Errno::NOBUFS) => return,
                Err(Errno::INTR) => {}
                Err(error) if self.settings.stream => self.close(cx, Some(error)),
                Err(error) => {
                    if !std::mem::replace(&mut self.failing, true) {
                        let trouble = Trouble::at_socket("sending", error.into());
                        cx.log(&format!("{}: {trouble} (said once)", declaration(cx)));
                    }
                    // One datagram is lost; the socket goes on.
                    self.refused += 1;
                    let lost = self.waiting.pop_front();
                    lost.into_iter().for_each(|packet| cx.drop(packet, "the socket did not take it"));
                }
            }
        }
    }

    fn take(&mut self, cx: &mut Cx<'_>, mut batch: Batch) {
        if self.active.is_none() {
            return cx.drop_batch(batch, "not connected");
        }
        batch.drain(|packet| {
            if self.waiting.len() < WAITING_MAX {
                self.waiting.push_back(packet);
            } else {
                self.refused += 1;
                cx.drop(packet, "the socket is full");
            }
        });
        cx.consume(batch);
        self.flush(cx);
        if let (Some(active), false) = (&self.active, self.waiting.is_empty()) {
            cx.schedule_when(active, Interest::Writable);
        }
    }
}

impl Element for Socket {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        let list = |name: &Option<String>| name.as_ref().map(|name| Membership::of(cx, name)).transpose();
        (self.allow, self.deny) = (list(&self.settings.allow)?, list(&self.settings.deny)?);
        let fd = Arc::new(self.settings.open()?);
        self.say_open(cx, &fd);
        if self.settings.client || !self.settings.stream {
            self.active = Some(fd.clone());
        }
        self.peer = Some(self.settings.remote.clone()).filter(|_| self.settings.client);
        self.fd = Some(fd);
        if self.pulls {
            cx.listen(0);
        }
        cx.schedule();
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        self.take(cx, batch);
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        self.accept(cx);
        self.flush(cx);
        let mut batch = cx.batch();
        // Click reads only where there is an output.
        while self.outputs > 0 && batch.len() < self.burst && self.receive(cx, &mut batch) {}
        let some = !batch.is_empty();
        if some {
            cx.emit(0, batch);
            cx.schedule();
        } else {
            cx.consume(batch);
        }
        match (&self.active, &self.fd) {
            (Some(active), _) => {
                if self.outputs > 0 && !some {
                    cx.schedule_when(active, Interest::Readable);
                }
                if !self.waiting.is_empty() {
                    cx.schedule_when(active, Interest::Writable);
                } else if self.pulls {
                    cx.ask(0, self.burst);
                }
            }
            (None, Some(fd)) if self.settings.stream && !self.settings.client => {
                cx.schedule_when(fd, Interest::Readable);
            }
            _ => {}
        }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        if (!batch.is_empty() || cx.may_have(0)) && self.active.is_some() {
            cx.schedule();
        }
        self.take(cx, batch);
        Pull::Nothing
    }

    fn finish(&mut self, _cx: &mut Cx<'_>) {
        if let (Some(file), false) = (&self.settings.file, self.settings.client) {
            let _ = std::fs::remove_file(file); // somebody may have been faster
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("connected", |e: &mut Socket, _| e.active.is_some());
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{build_at, errors};
    use router::{Call, Clock, Resources};

    #[test]
    fn arguments() {
        for (arguments, error) in [
            ("FROG, 1.2.3.4, 5", "unknown socket type `FROG'"),
            ("TCP, 1.2.3.4", "PORT: required argument missing"),
            ("UNIX, /a, /b, /c", "too many arguments"),
            ("UDP, 1.2.3.4, 70000", "PORT: "),
            ("UDP, ADDR 127.0.0.1, PORT 0, DENY frog", "no element named 'frog'"),
            ("UDP, 127.0.0.1, 0, ALLOW d", "d is not an IPRouteTable"),
            ("UNIX, /a, DENY d", "DENY: unknown argument"),
        ] {
            let said = errors(&format!("Socket({arguments}) -> d :: Discard"));
            assert!(said.contains(error), "{said}");
        }
        let long = "x".repeat(200);
        assert!(errors(&format!("Socket(UNIX, /{long}) -> Discard")).contains("too long"));
    }

    /// What the kernel refuses is explained, with what was tried.
    #[test]
    fn refusals() {
        for (arguments, error) in [
            (
                "UDP, 192.0.2.1, 9",
                "192.0.2.1:9: bind: Cannot assign requested address; this machine does not have this address",
            ),
            (
                "TCP, 127.0.0.1, 1, CLIENT true",
                "127.0.0.1:1: connect: Connection refused; nobody listens there",
            ),
            ("UNIX, /nowhere/socket", "/nowhere/socket: bind: No such file or directory; there is no such"),
        ] {
            let said = errors(&format!("Socket({arguments}) -> Discard"));
            assert!(said.contains(error), "{said}");
        }
    }

    /// A server talks with hosts that ALLOW has a route for, and with others that DENY has none for, over datagrams and over streams.
    #[test]
    fn wanted() {
        // An address of its own: on 127.0.0.1, a port that is free now may be another test's client a moment later.
        let free = [(); 4].map(|()| std::net::UdpSocket::bind("127.83.75.1:0").unwrap());
        let [open, closed, stream, shut] = free.map(|socket| socket.local_addr().unwrap().port());
        let config = format!(
            "here :: RadixIPLookup(127.0.0.0/8 0); all :: StaticIPLookup(0/0 0); Idle -> here -> all -> Idle;
             Socket(UDP, ADDR 127.83.75.1, PORT {open}, WAIT_LEARN true, CLIENT true, ALLOW here, DENY all) -> a :: Counter(COUNT_CALL 3 done.run) -> Discard;
             shut :: FromSocket(udp, 127.83.75.1, {closed}, DENY here, HEADROOM 64) -> b :: Counter -> Discard;
             Socket(TCP, 127.83.75.1, PORT {stream}, DENY all, ALLOW here) -> c :: Counter(BYTE_COUNT_CALL 10 done.run) -> Discard;
             lid :: Socket(TCP, 127.83.75.1, {shut}, DENY here, VERBOSE true) -> d :: Counter -> Discard;
             s :: TimedSource(0.01, hello) -> t :: Tee(4) -> Socket(UDP, 127.83.75.1, {open}, CLIENT true);
             t[1] -> ToSocket(UDP, 127.83.75.1, {closed});
             t[2] -> Socket(TCP, 127.83.75.1, {stream}, CLIENT true);
             t[3] -> Socket(TCP, 127.83.75.1, {shut}, CLIENT true);
             done :: Script(TYPE PASSIVE, set n $(add $n 1), goto end $(lt $n 2), wait 0.05, stop, label end)"
        );
        let mut router =
            build_at(&config, 1, 32, Clock::real(), Resources::default()).unwrap_or_else(|e| panic!("{e}"));
        router.run();
        let mut read = |path: &str| router.call(Call::read(path, "")).unwrap();
        assert!(read("a.count").parse::<u64>().unwrap() >= 3);
        assert_eq!([read("b.count"), read("d.count")], ["0", "0"]);
        assert!(read("shut.drop_reasons").contains("from a host that is not wanted"));
        let said = router.info().log.text();
        for part in ["listening for connections on 127.83.75.1:", "denied connection "] {
            assert!(said.contains(&format!("lid :: Socket: {part}")), "{said}");
        }
    }

    /// What one socket sends the other receives, whole and in order: over a stream larger than any buffer, and over
    /// datagrams, whose bounds it keeps, both ways.
    #[test]
    fn there_and_back() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str| dir.path().join(name).display().to_string();
        let (stream, one, two) = (file("s"), file("one"), file("two"));
        let config = format!(
            "server :: Socket(UNIX, {stream}) -> got :: Counter(BYTE_COUNT_CALL 4000000 done.run) -> Discard;
             InfiniteSource(LENGTH 1000, LIMIT 4000) -> Queue(50) -> client :: Socket(UNIX, {stream}, CLIENT true);
             here :: Socket(UNIX_DGRAM, {one}) -> here;
             TimedSource(0.01, hello) -> there :: Socket(UNIX_DGRAM, {one}, {two})
               -> back :: Counter(COUNT_CALL 3 done.run) -> check :: Classifier(0/68656c6c6f, -) -> Discard;
             check[1] -> Print(torn) -> Discard;
             done :: Script(TYPE PASSIVE, set n $(add $n 1), goto end $(lt $n 2), stop, label end)"
        );
        let mut router =
            build_at(&config, 1, 32, Clock::real(), Resources::default()).unwrap_or_else(|e| panic!("{e}"));
        router.run();
        let read = |router: &mut router::Router, path: &str| router.call(Call::read(path, "")).unwrap();
        assert_eq!(read(&mut router, "got.byte_count"), "4000000");
        assert!(read(&mut router, "back.count").parse::<u64>().unwrap() >= 3);
        assert!(!router.info().log.text().contains("torn"));
        router.finish();
        assert!(!dir.path().join("s").exists(), "the server takes its file away");
    }
}
