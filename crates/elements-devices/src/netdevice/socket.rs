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
//! or file; with TCP and UNIX it serves one connection at a time, with UDP and UNIX_DGRAM it answers the peer that has sent
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
//! - `SNAPLEN` (integer, default 2048): bytes of a packet that is received, at most; the extra-length annotation says how many more a datagram had.
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

use super::sockets::{Buffers, FLAGS, Outbox, Receiver, declaration, failed};
use elements_shared::membership::Membership;
use elements_shared::pulling;
use packet::{BATCH_MAX, Batch, Packet};
use router::{
    Activity, Args, Class, Config, ConfigError, Cx, Element, Handlers, Interest, IpPort, Pull, Residency,
};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SendFlags, SocketAddrAny, SocketAddrUnix, SocketFlags, SocketType, sockopt,
};
use std::fmt::Display;
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
    .makes("packets")
    .absorbs("packets")
    .holds("packets that wait to be sent")
    .doc(router::manual!("socket.rs"));

/// The half that receives.
pub(crate) const FROM: Class = Class { name: "FromSocket", ports: "0/1", ..CLASS };
/// The half that sends.
pub(crate) const TO: Class = Class { name: "ToSocket", ports: "1/0", ..CLASS };

/// Where a socket is, where it leads, and who may talk to it.
struct Ends {
    family: AddressFamily,
    remote: SocketAddrAny,
    local: Option<SocketAddrAny>,
    /// The file that goes with the element.
    file: Option<String>,
    /// Whether it is a server in any case.
    learns: bool,
    /// The elements that know who is wanted, and who is not.
    allow: Option<String>,
    deny: Option<String>,
}

/// The arguments that all kinds of sockets have.
struct Options {
    client: Option<bool>,
    nodelay: bool,
    verbose: bool,
    proper: bool,
    buffers: Buffers,
    receiver: Receiver,
}

/// What the arguments say.
struct Settings {
    ends: Ends,
    stream: bool,
    client: bool,
    nodelay: bool,
    verbose: bool,
    buffers: Buffers,
}

pub(super) struct Socket {
    settings: Settings,
    allow: Option<Arc<Membership>>,
    deny: Option<Arc<Membership>>,
    fd: Option<Arc<OwnedFd>>,
    /// The connection, or the socket itself where there are none.
    active: Option<Arc<OwnedFd>>,
    /// Where a datagram goes.
    peer: Option<SocketAddrAny>,
    receiver: Receiver,
    outbox: Outbox,
    pulls: bool,
    outputs: usize,
    burst: usize,
    /// Datagrams or pieces of a stream that were received.
    received: u64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut kind, mut words) = (String::new(), Vec::new());
    config.args().required("TYPE", &mut kind).rest(&mut words).finish()?;
    let args = Args::new(words, config.scope());
    let mut options = Options::default();
    let kind = kind.to_uppercase();
    let ends = match kind.as_str() {
        "TCP" | "UDP" => Ends::inet(args, &mut options)?,
        "UNIX" | "UNIX_DGRAM" => Ends::unix(args, &mut options)?,
        _ => return Err(format!("unknown socket type `{kind}'").into()),
    };
    let client = options.client.unwrap_or(config.outputs() == 0 || ends.local.is_some());
    let settings = Settings {
        stream: matches!(kind.as_str(), "TCP" | "UNIX"),
        client: client && !ends.learns,
        ends,
        nodelay: options.nodelay && kind == "TCP",
        verbose: options.verbose,
        buffers: options.buffers,
    };
    Ok(Box::new(Socket::new(settings, options.receiver.checked()?, config)))
}

/// One that sends datagrams to a name on this machine, or receives what is sent there if there is an output.
pub(super) fn datagrams(config: &Config<'_>, name: &str) -> Result<Socket, ConfigError> {
    let settings = Settings {
        ends: Ends::named(name, None)?,
        stream: false,
        client: config.outputs() == 0,
        nodelay: false,
        verbose: false,
        buffers: Buffers::default(),
    };
    Ok(Socket::new(settings, Receiver::default(), config))
}

impl Default for Options {
    fn default() -> Options {
        Options {
            client: None,
            nodelay: true,
            verbose: false,
            proper: false,
            buffers: Buffers::default(),
            receiver: Receiver::default(),
        }
    }
}

impl Options {
    /// Reads these arguments, and those that are in `args` already.
    fn read<'v>(&'v mut self, args: Args<'_, 'v>) -> Result<(), ConfigError> {
        let args = args
            .keyword("CLIENT", &mut self.client)
            .keyword("PROPER", &mut self.proper)
            .keyword("NODELAY", &mut self.nodelay)
            .keyword("VERBOSE", &mut self.verbose);
        self.buffers.arguments(self.receiver.arguments(args)).finish()
    }
}

impl Ends {
    /// Those of a TCP or UDP socket, by its arguments.
    fn inet(args: Args<'_, '_>, options: &mut Options) -> Result<Ends, ConfigError> {
        let (mut address, mut port) = (Ipv4Addr::UNSPECIFIED, IpPort(0));
        let (mut own_address, mut own_port) = (None::<Ipv4Addr>, IpPort(0));
        let (mut learns, mut allow, mut deny) = (false, None, None);
        let args = args
            .required("ADDR", &mut address)
            .required("PORT", &mut port)
            .positional("LOCAL_ADDR", &mut own_address)
            .positional("LOCAL_PORT", &mut own_port)
            .positional("WAIT_LEARN", &mut learns)
            .keyword("ALLOW", &mut allow)
            .keyword("DENY", &mut deny);
        options.read(args)?;
        let local = own_address.map(|address| SocketAddrV4::new(address, own_port.0).into());
        let remote = SocketAddrV4::new(address, port.0).into();
        Ok(Ends { family: AddressFamily::INET, remote, local, file: None, learns, allow, deny })
    }

    /// Those of a socket with a file, by its arguments.
    fn unix(args: Args<'_, '_>, options: &mut Options) -> Result<Ends, ConfigError> {
        let (mut name, mut own_name) = (String::new(), None::<String>);
        options.read(args.required("FILENAME", &mut name).positional("LOCAL_FILENAME", &mut own_name))?;
        Ends::named(&name, own_name.as_deref())
    }

    /// Those of a socket with a file, or an abstract name.
    fn named(name: &str, own_name: Option<&str>) -> Result<Ends, ConfigError> {
        Ok(Ends {
            family: AddressFamily::UNIX,
            local: own_name.map(|name| unix("local", name)).transpose()?,
            remote: unix("remote", name)?,
            file: Some(own_name.unwrap_or(name).to_owned()).filter(|name| !name.starts_with('@')),
            learns: false,
            allow: None,
            deny: None,
        })
    }
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

impl Settings {
    /// An address, for messages.
    fn place(&self, address: &SocketAddrAny) -> String {
        match (inet(address), &self.ends.file) {
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
        let ends = &self.ends;
        let fd = rustix::net::socket_with(ends.family, kind, flags, None).map_err(failed("socket"))?;
        if self.nodelay {
            sockopt::set_tcp_nodelay(&fd, true).map_err(failed("setsockopt(TCP_NODELAY)"))?;
        }
        self.buffers.set(&fd)?;
        let own = if self.client { ends.local.as_ref() } else { Some(&ends.remote) };
        if let Some(own) = own {
            if ends.family == AddressFamily::INET {
                sockopt::set_socket_reuseaddr(&fd, true).map_err(failed("setsockopt(SO_REUSEADDR)"))?;
            }
            rustix::net::bind(&fd, own).map_err(failed(&format!("{}: bind", self.place(own))))?;
        }
        if self.client && self.stream {
            let doing = format!("{}: connect", self.place(&ends.remote));
            rustix::net::connect(&fd, &ends.remote).map_err(failed(&doing))?;
        } else if self.stream {
            rustix::net::listen(&fd, 2).map_err(failed("listen"))?;
        }
        rustix::io::ioctl_fionbio(&fd, true).map_err(failed("ioctl(FIONBIO)"))?;
        Ok(fd)
    }

    /// The port to which each packet goes, if it says the address itself.
    fn port_of_annotated(&self) -> Option<u16> {
        let remote = SocketAddrV4::try_from(self.ends.remote.clone()).ok()?;
        (!self.stream && self.client && remote.ip().is_unspecified()).then(|| remote.port())
    }
}

impl Socket {
    fn new(settings: Settings, receiver: Receiver, config: &Config<'_>) -> Socket {
        Socket {
            settings,
            allow: None,
            deny: None,
            fd: None,
            active: None,
            peer: None,
            receiver,
            outbox: Outbox::default(),
            pulls: pulling::pulls(config),
            outputs: config.outputs(),
            burst: config.vector().min(BATCH_MAX),
            received: 0,
        }
    }

    /// How many packets were received or sent.
    pub(super) fn carried(&self) -> u64 {
        self.received + self.outbox.sent
    }

    /// How many packets could not be sent.
    pub(super) fn refused(&self) -> u64 {
        self.outbox.refused
    }

    fn say(&self, cx: &Cx<'_>, what: impl Display) {
        if self.settings.verbose {
            cx.debug(format_args!("{}: {what}", declaration(cx)));
        }
    }

    /// Says that a connection or a socket is there or gone, by the number of its descriptor as Click does.
    fn say_of(&self, cx: &Cx<'_>, what: &str, fd: &OwnedFd, place: &str) {
        self.say(cx, format_args!("{what} connection {}{place}", fd.as_raw_fd()));
    }

    /// Says of a stream where it goes to, or where others may connect to.
    fn say_open(&self, cx: &Cx<'_>, fd: &OwnedFd) {
        let place = self.settings.place(&self.settings.ends.remote);
        match (self.settings.stream, self.settings.client) {
            (true, true) => self.say_of(cx, "opened", fd, &format!(" to {place}")),
            (true, false) => {
                self.say(cx, format_args!("listening for connections on {place} ({})", fd.as_raw_fd()))
            }
            _ => {}
        }
    }

    fn close(&mut self, cx: &mut Cx<'_>, error: Option<Errno>) {
        if let Some(error) = error {
            self.say(cx, device::plain(&error.into()));
        }
        if let Some(active) = self.active.take() {
            self.say_of(cx, "closed", &active, "");
        }
        self.outbox.clear(cx, "the connection was closed");
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
        let has = |list: &Option<Arc<Membership>>| list.as_ref().is_some_and(|list| list.has(cx, *from.ip()));
        has(&self.allow) || !has(&self.deny)
    }

    /// Reads one packet; false if there is none now.
    fn receive(&mut self, cx: &mut Cx<'_>, batch: &mut Batch) -> bool {
        let Some(active) = self.active.clone() else { return false };
        let stream = self.settings.stream;
        let received =
            if stream { self.receiver.piece(cx, &active) } else { self.receiver.datagram(cx, &active) };
        match received {
            Ok(Some((packet, from))) if !packet.is_empty() => self.accept_packet(cx, batch, packet, from),
            Ok(Some((packet, _))) => {
                cx.pool().free(packet);
                if stream {
                    self.close(cx, None);
                }
                false // or an empty datagram
            }
            Ok(None) => {
                if stream {
                    self.close(cx, Some(Errno::NOMEM));
                }
                false
            }
            Err(Errno::AGAIN | Errno::INTR) => false,
            Err(error) => {
                self.close(cx, Some(error));
                false
            }
        }
    }

    /// Takes what was received, if it is from one who is wanted.
    fn accept_packet(
        &mut self,
        cx: &mut Cx<'_>,
        batch: &mut Batch,
        packet: Packet,
        from: Option<SocketAddrAny>,
    ) -> bool {
        if !self.settings.client && !self.settings.stream {
            if !self.is_wanted(cx, from.as_ref()) {
                if self.settings.verbose {
                    let place = from.as_ref().and_then(inet).unwrap_or_default();
                    self.say(cx, format_args!("dropped datagram from {place}"));
                }
                cx.drop(packet, "from a host that is not wanted");
                return true;
            }
            self.peer = from;
        }
        self.received += 1;
        batch.push(packet);
        true
    }

    /// Sends what waits, as far as the socket takes it.
    fn flush(&mut self, cx: &mut Cx<'_>) {
        let Some(active) = self.active.clone() else { return };
        const FLAGS: SendFlags = SendFlags::NOSIGNAL;
        if self.settings.stream {
            let sent = self.outbox.send_stream(cx, |packet| rustix::net::send(&active, packet.data(), FLAGS));
            if let Err(error) = sent {
                self.close(cx, Some(error));
            }
        } else if let Some(port) = self.settings.port_of_annotated() {
            self.outbox.send_datagrams(cx, |packet| {
                rustix::net::sendto(&active, packet.data(), FLAGS, &SocketAddrV4::new(packet.dst_ip(), port))
            });
        } else {
            let peer = &self.peer;
            self.outbox.send_datagrams(cx, |packet| match peer {
                Some(peer) => rustix::net::sendto(&active, packet.data(), FLAGS, peer),
                None => Err(Errno::DESTADDRREQ),
            });
        }
    }

    fn take(&mut self, cx: &mut Cx<'_>, batch: Batch) {
        if self.active.is_none() {
            return cx.drop_batch(batch, "not connected");
        }
        self.outbox.put(cx, batch);
        self.flush(cx);
        if let (Some(active), false) = (&self.active, self.outbox.is_empty()) {
            cx.tasks().schedule_when(active, Interest::Writable);
        }
    }
}

impl Element for Socket {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        let list = |name: &Option<String>| name.as_ref().map(|name| Membership::of(cx, name)).transpose();
        (self.allow, self.deny) = (list(&self.settings.ends.allow)?, list(&self.settings.ends.deny)?);
        let fd = Arc::new(self.settings.open()?);
        self.say_open(cx, &fd);
        if self.settings.client || !self.settings.stream {
            self.active = Some(fd.clone());
        }
        self.peer = Some(self.settings.ends.remote.clone()).filter(|_| self.settings.client);
        self.fd = Some(fd);
        if self.pulls {
            cx.signals().listen(0);
        }
        cx.tasks().schedule();
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
            cx.tasks().schedule();
        } else {
            cx.consume(batch);
        }
        match (&self.active, &self.fd) {
            (Some(active), _) => {
                if self.outputs > 0 && !some {
                    cx.tasks().schedule_when(active, Interest::Readable);
                }
                if !self.outbox.is_empty() {
                    cx.tasks().schedule_when(active, Interest::Writable);
                } else if self.pulls {
                    cx.ask(0, self.burst);
                }
            }
            (None, Some(fd)) if self.settings.stream && !self.settings.client => {
                cx.tasks().schedule_when(fd, Interest::Readable);
            }
            _ => {}
        }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        if (!batch.is_empty() || cx.signals().may_have(0)) && self.active.is_some() {
            cx.tasks().schedule();
        }
        self.take(cx, batch);
        Pull::Nothing
    }

    fn held(&self) -> usize {
        self.outbox.len()
    }

    fn finish(&mut self, _cx: &mut Cx<'_>) {
        // What this element has not opened may be that of a router that goes on.
        if let (Some(file), false, Some(_)) = (&self.settings.ends.file, self.settings.client, &self.fd) {
            let _ = std::fs::remove_file(file); // another process may have been faster
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
    fn bad_arguments_are_refused() {
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

    #[test]
    fn what_the_kernel_refuses_is_explained() {
        for (arguments, error) in [
            (
                "UDP, 192.0.2.1, 9",
                "192.0.2.1:9: bind: Cannot assign requested address; this machine does not have this address",
            ),
            (
                "TCP, 127.0.0.1, 1, CLIENT true",
                "127.0.0.1:1: connect: Connection refused; no program listens there",
            ),
            ("UNIX, /nowhere/socket", "/nowhere/socket: bind: No such file or directory; there is no such"),
        ] {
            let said = errors(&format!("Socket({arguments}) -> Discard"));
            assert!(said.contains(error), "{said}");
        }
    }

    /// A server talks with hosts that ALLOW has a route for, and with others that DENY has none for, over datagrams and over streams.
    #[test]
    fn only_wanted_hosts_are_served() {
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
