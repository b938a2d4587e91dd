//! What KernelTun, KernelTap and FromHost share: an interface behind which Clique is.

use super::host_writer::Writer;
use super::link;
use device::capture::LinkType;
use device::segments::{Cut, Link, Note};
use device::tap::{self, Carries, Setup};
use elements_shared::encap;
use elements_shared::pulling;
use packet::{BATCH_MAX, Batch, DEFAULT_HEADROOM, Packet, Pool};
use router::{
    BadState, Config, ConfigError, Cx, Element, Handlers, Info, Interest, IpMask, Merge, Pull, Queues,
    StateReader, StateWriter, Verdict, metric,
};
use rustix::io::Errno;
use std::io::IoSliceMut;
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use wire::{MacAddr, ethernet};

/// The longest packet, unless told otherwise.
const MTU: usize = 1500;
/// The link type of bare IP packets.
const RAW_IP: u32 = 101;

/// How often to look for an interface that has gone.
pub(super) const RETRY_NS: i64 = 500_000_000;
const RETRY: Duration = Duration::from_nanos(RETRY_NS as u64);
/// How long to leave an interface alone that could not be read.
const BACKOFF: Duration = Duration::from_millis(10);
/// Timers: to open an interface that has gone; to read again.
const AGAIN: u32 = 0;
const READ: u32 = 1;

/// Who has interfaces open: the kernel does not let a new configuration open one that the old one has.
static OWNERS: Mutex<Vec<Weak<Common>>> = Mutex::new(Vec::new());

/// What an element carries.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Tun,
    Tap,
}

impl Kind {
    /// What is in front of IP headers.
    fn link(self) -> Link {
        if self == Kind::Tap { Link::Ethernet } else { Link::None }
    }
}

/// What the instances of an element share, and ToHost looks for.
pub(super) struct Common {
    kind: Kind,
    /// Whether segments are merged, and long ones cut.
    gso: bool,
    open: Mutex<Open>,
}

/// An interface that is open.
#[derive(Default)]
struct Open {
    name: String,
    /// One for each of its queues; none while the interface is gone.
    queues: Vec<Option<Arc<OwnedFd>>>,
    /// Whether it was deleted and is not back, which was said.
    is_gone: bool,
}

impl Common {
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The interface's name, once it is open.
    pub(super) fn name(&self) -> String {
        self.lock().name.clone()
    }

    /// What writes to the interface.
    pub(super) fn writer(&self) -> Writer {
        Writer::new(self.gso.then_some(self.kind.link()))
    }

    /// A queue of the interface, if it is open; of queues there may be fewer.
    pub(super) fn any_queue(&self, queue: usize) -> Option<Arc<OwnedFd>> {
        let open = self.lock();
        open.queues.get(queue % open.queues.len().max(1)).cloned().flatten()
    }

    /// The queue of this number, if there are so many.
    fn queue(&self, queue: usize) -> Option<Arc<OwnedFd>> {
        self.lock().queues.get(queue).cloned().flatten()
    }
}

/// An instance: its descriptor, and how it reads and writes.
pub(super) struct HostPort {
    common: Arc<Common>,
    fd: Option<Arc<OwnedFd>>,
    /// The number of the queue.
    at: usize,
    /// When to look for an interface that another worker opens.
    retry_ns: i64,
    kind: Kind,
    setup: Setup,
    gateway: Option<Ipv4Addr>,
    reader: Reader,
    writer: Writer,
    mtu: usize,
    burst: usize,
    /// Whether another worker reads, and this one at most writes.
    leaves: bool,
    shared: bool,
    pulls: bool,
    quiet: bool,
    failing: bool,
    /// Whether the last look for packets failed, or that for an interface that was gone.
    is_blind: bool,
    /// Whether it is a FromHost, which marks IP headers in frames, and leaves packets to the kernel while queues downstream are full.
    is_host: bool,
    packets: u64,
    /// How often it looked for packets.
    looks: u64,
    /// The interface's name and a queue of it that another process has left.
    left: Option<(String, OwnedFd)>,
}

/// The form of what is left to another process.
const FORM: u8 = 1;

/// Arguments that differ from element to element.
struct Given {
    name: String,
    kind: Kind,
    address: Option<IpMask>,
    gateway: Option<Ipv4Addr>,
    ether: Option<MacAddr>,
    headroom: Option<usize>,
    mtu: usize,
    burst: usize,
    queue: Option<usize>,
    quiet: bool,
    is_host: bool,
    gso: bool,
}

impl Given {
    fn new(config: &Config<'_>, kind: Kind) -> Given {
        Given {
            name: String::new(),
            kind,
            address: None,
            gateway: None,
            ether: None,
            headroom: None,
            mtu: MTU,
            burst: config.vector(),
            queue: None,
            quiet: false,
            is_host: false,
            gso: true,
        }
    }

    fn make(self, config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
        let prefix_len =
            self.address.map(|net| wire::net::mask_len_v4(net.mask).ok_or("bad netmask")).transpose()?;
        let network = |net: &IpMask| u32::from(net.addr) & u32::from(net.mask);
        if let (Some(gateway), Some(net)) = (self.gateway, &self.address)
            && u32::from(gateway) & u32::from(net.mask) != network(net)
        {
            return Err("bad GATEWAY".into());
        }
        if self.burst < 1 {
            return Err("BURST must be >= 1".into());
        }
        if self.mtu < 20 || self.mtu > 65535 {
            return Err("MTU must be greater than 20".into());
        }
        if self.headroom.is_some_and(|headroom| headroom > 8192) {
            return Err("HEADROOM too big".into());
        }
        let (name, kind, gso) = (self.name, self.kind, self.gso);
        let open = Open { name, ..Open::default() };
        let common = config.shared(|| Ok(Common { kind, gso, open: Mutex::new(open) }))?;
        let writer = common.writer();
        // The IP header is aligned to four bytes.
        let aligned = if self.kind == Kind::Tap { DEFAULT_HEADROOM + 2 } else { DEFAULT_HEADROOM };
        let mut made = HostPort {
            common,
            fd: None,
            at: 0,
            retry_ns: 0,
            kind: self.kind,
            setup: Setup {
                address: self.address.zip(prefix_len).map(|(net, len)| (net.addr, len)),
                ether: self.ether.filter(|_| self.kind == Kind::Tap).map(|MacAddr(bytes)| bytes),
                mtu: Some(self.mtu as u32).filter(|&mtu| mtu != MTU as u32),
            },
            gateway: self.gateway,
            reader: Reader {
                headroom: self.headroom.unwrap_or(aligned),
                room: self.mtu + ethernet::HEADER_LEN + 4,
                link: self.kind.link(),
                long: Vec::new(),
                read: Vec::new(),
                segmented: 0,
                uncut: 0,
            },
            writer,
            mtu: self.mtu,
            burst: self.burst.min(BATCH_MAX),
            leaves: self.queue.is_some_and(|queue| {
                let workers = config.workers();
                workers.get(queue % workers.len().max(1)) != Some(&config.worker())
            }),
            shared: config.workers().len() > 1 && self.queue.is_none(),
            pulls: pulling::pulls(config),
            quiet: self.quiet,
            failing: false,
            is_blind: false,
            is_host: self.is_host,
            packets: 0,
            looks: 0,
            left: None,
        };
        if let Some(mut state) = config.inherited() {
            // What makes no sense is as good as nothing: the interface is opened.
            let _ = made.inherit(&mut state);
        }
        Ok(Box::new(made))
    }
}

/// Makes a KernelTun or KernelTap.
pub(super) fn create_tun(config: &mut Config<'_>, kind: Kind) -> Result<Box<dyn Element>, ConfigError> {
    let mut given = Given::new(config, kind);
    let (mut address, mut tap, mut old_name) = (None, kind == Kind::Tap, String::new());
    config
        .args()
        .required("ADDR", &mut address)
        .positional("GATEWAY", &mut given.gateway)
        .keyword("TAP", &mut tap)
        .keyword("HEADROOM", &mut given.headroom)
        .keyword("BURST", &mut given.burst)
        .keyword("ETHER", &mut given.ether)
        .keyword("IGNORE_QUEUE_OVERFLOWS", &mut given.quiet)
        .keyword("MTU", &mut given.mtu)
        .keyword("DEV_NAME", &mut old_name)
        .keyword("DEVNAME", &mut given.name)
        .keyword("QUEUE", &mut given.queue)
        .keyword("GSO", &mut given.gso)
        .finish()?;
    given.address = address;
    if given.name.is_empty() {
        given.name = old_name;
    }
    given.kind = if tap { Kind::Tap } else { Kind::Tun };
    given.make(config)
}

/// Makes a FromHost.
pub(super) fn create_host(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut given = Given::new(config, Kind::Tap);
    given.is_host = true;
    let mut kind = "ETHER".to_owned();
    config
        .args()
        .required("DEVNAME", &mut given.name)
        .positional("DST", &mut given.address)
        .positional("GATEWAY", &mut given.gateway)
        .positional("HEADROOM", &mut given.headroom)
        .keyword("TYPE", &mut kind)
        .keyword("ETHER", &mut given.ether)
        .keyword("MTU", &mut given.mtu)
        .keyword("BURST", &mut given.burst)
        .keyword("QUEUE", &mut given.queue)
        .keyword("GSO", &mut given.gso)
        .finish()?;
    given.kind = match kind.as_str() {
        "ETHER" => Kind::Tap,
        "IP" => Kind::Tun,
        _ => return Err("bad TYPE".into()),
    };
    if given.name.is_empty() {
        return Err("must specify device name".into());
    }
    given.make(config)
}

/// Bytes behind a packet's own for a segment that its sender wants cut.
const LONG: usize = 65_536;

/// Reads packets.
struct Reader {
    headroom: usize,
    /// Bytes of an ordinary packet.
    room: usize,
    /// What is in front of IP headers.
    link: Link,
    /// A segment that is too long for a packet.
    long: Vec<u8>,
    /// What was read and has not been emitted.
    read: Vec<Packet>,
    /// Long segments that became packets, and those that could not.
    segmented: u64,
    uncut: u64,
}

impl Reader {
    /// Reads once; false if there is nothing now.
    fn read(&mut self, pool: &mut Pool, fd: &OwnedFd) -> Result<bool, Errno> {
        let Some(mut packet) = pool.alloc(self.headroom, self.room) else { return Err(Errno::NOMEM) };
        let mut note = [0; Note::LEN];
        self.long.resize(self.room + LONG, 0); // once
        let behind = &mut self.long[self.room..];
        let pieces = &mut [&mut note[..], packet.data_mut(), behind].map(IoSliceMut::new);
        let len = match rustix::io::readv(fd, pieces) {
            Ok(len) if len > Note::LEN => len - Note::LEN,
            Ok(_) | Err(Errno::AGAIN | Errno::INTR) => {
                pool.free(packet);
                return Ok(false);
            }
            Err(error) => {
                pool.free(packet);
                return Err(error);
            }
        };
        let note = Note::of(&note);
        if note.is_long() || len > self.room {
            let own = len.min(self.room);
            self.long[..own].copy_from_slice(&packet.data()[..own]);
            pool.free(packet);
            self.cut(pool, &note, len)?;
        } else if packet.take(self.room - len) {
            note.finish(packet.data_mut());
            self.read.push(packet);
        }
        Ok(true)
    }

    /// Cuts the long segment that was read, of so many bytes.
    fn cut(&mut self, pool: &mut Pool, note: &Note, len: usize) -> Result<(), Errno> {
        let long = &self.long[..len.min(self.long.len())];
        // What is neither TCP nor UDP was not asked for.
        let Some(cut) = Cut::of(note, long, len, self.link) else {
            self.uncut += 1;
            return Ok(());
        };
        for i in 0..cut.count() {
            let mut packet = pool.alloc(self.headroom, cut.len(i)).ok_or(Errno::NOMEM)?;
            cut.fill(long, i, packet.data_mut());
            self.read.push(packet);
        }
        self.segmented += 1;
        Ok(())
    }
}

/// Why long segments are dropped.
pub(super) const UNCUT: &str = "a long segment that is no TCP or UDP over IP, or has wrong lengths";
/// Why packets are dropped that are for an interface that was deleted.
pub(super) const GONE: &str = "the interface is gone";

/// Whether an error says that a descriptor's interface was deleted. EFAULT is that of a read while this happens.
pub(super) fn is_gone(error: Errno) -> bool {
    matches!(error, Errno::BADFD | Errno::FAULT)
}

impl HostPort {
    /// Who has the interface open in the configuration whose place this one takes.
    fn former(&self, info: &Info) -> Option<Arc<Common>> {
        let name = self.common.name();
        let elements = || (0..info.nodes.len()).filter_map(|element| info.shared::<Common>(element));
        let mut owners = OWNERS.lock().unwrap_or_else(PoisonError::into_inner);
        owners.retain(|owner| owner.strong_count() > 0);
        owners.iter().filter_map(Weak::upgrade).find(|owner| {
            owner.kind == self.kind
                && owner.name() == name
                && !elements().any(|common| Arc::ptr_eq(&common, owner))
        })
    }

    /// Goes on with what its namesake has left in another process.
    fn inherit(&mut self, state: &mut StateReader) -> Result<(), BadState> {
        state.form(FORM)?;
        (self.packets, self.looks) = (state.u64()?, state.u64()?);
        let name = String::from_utf8_lossy(state.bytes()?).into_owned();
        let wanted = self.common.name();
        // Without a name the kernel has found one.
        if !name.is_empty() && (wanted.is_empty() || wanted == name) && tap::is_there(&name) {
            self.left = Some((name, state.fd()?));
        }
        Ok(())
    }

    /// Goes on with a queue that another process has left: the kernel's end is set up already.
    fn open_left(&mut self, name: String, fd: OwnedFd) {
        let (common, fd) = (self.common.clone(), Arc::new(fd));
        let mut open = common.lock();
        self.at = open.queues.len();
        open.name = name;
        open.queues.push(Some(fd.clone()));
        self.fd = Some(fd);
        if self.at == 0 {
            OWNERS.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(&self.common));
        }
    }

    fn open(&mut self, info: &Info) -> Result<(), String> {
        if let Some((name, fd)) = self.left.take() {
            self.open_left(name, fd);
            return Ok(());
        }
        let former = self.former(info).filter(|former| !former.lock().is_gone);
        let common = self.common.clone();
        let mut open = common.lock();
        let (at, takes_over) = (open.queues.len(), former.is_some());
        let fd = match former.and_then(|former| former.queue(at)) {
            Some(fd) => fd,
            None => self.open_queue(&mut open)?,
        };
        open.queues.push(Some(fd.clone()));
        (self.fd, self.at) = (Some(fd), at);
        if at == 0 {
            let owner = Arc::downgrade(&self.common);
            OWNERS.lock().unwrap_or_else(PoisonError::into_inner).push(owner);
        }
        if at == 0 && !takes_over { self.set_up(&open.name) } else { Ok(()) }
    }

    /// Opens a queue of the interface; makes the interface unless it is there.
    fn open_queue(&self, open: &mut Open) -> Result<Arc<OwnedFd>, String> {
        let carries = if self.kind == Kind::Tap { Carries::Frames } else { Carries::Packets };
        let opened = tap::open(&open.name, carries, self.shared, self.common.gso);
        let (fd, name) = opened.map_err(|trouble| trouble.to_string())?;
        open.name = name;
        Ok(Arc::new(fd))
    }

    /// Sets the kernel's end up as the arguments say.
    fn set_up(&self, name: &str) -> Result<(), String> {
        tap::set_up(name, &self.setup).map_err(|trouble| trouble.to_string())?;
        let Some(gateway) = self.gateway else { return Ok(()) };
        let arguments = ["route", "add", "default", "via", &gateway.to_string(), "dev", name];
        let status = Command::new("ip").args(arguments).status().map_err(|error| format!("ip: {error}"))?;
        if status.success() { Ok(()) } else { Err(format!("'ip {}' failed", arguments.join(" "))) }
    }

    /// Lets go of an interface that was deleted, and waits for one of its name.
    #[cold]
    fn lose(&mut self, cx: &mut Cx<'_>) {
        cx.tasks().stop_waiting();
        self.fd = None;
        if self.leaves {
            self.retry_ns = cx.now_ns() + RETRY_NS;
            return; // the worker that reads says it
        }
        let mut open = self.common.lock();
        open.queues[self.at] = None;
        if !std::mem::replace(&mut open.is_gone, true) {
            link::is_gone(cx, &open.name);
        }
        drop(open);
        self.is_blind = false;
        cx.timers().after(AGAIN, RETRY);
    }

    /// Opens an interface that was deleted if there is one of its name again: who deleted it does not want it made.
    #[cold]
    fn look_again(&mut self, cx: &mut Cx<'_>) {
        let common = self.common.clone();
        let mut open = common.lock();
        if !tap::is_there(&open.name) {
            return cx.timers().after(AGAIN, RETRY);
        }
        match self.open_queue(&mut open) {
            Ok(fd) => {
                open.queues[self.at] = Some(fd.clone());
                self.fd = Some(fd);
                self.is_blind = false;
                if std::mem::take(&mut open.is_gone) {
                    link::is_back(cx, &open.name);
                    if let Err(trouble) = self.set_up(&open.name) {
                        cx.error(format_args!("{}: {trouble}", self.declaration(cx)));
                    }
                }
                cx.tasks().schedule();
            }
            Err(trouble) => {
                if !std::mem::replace(&mut self.is_blind, true) {
                    cx.error(format_args!("{}: {trouble}", self.declaration(cx)));
                }
                cx.timers().after(AGAIN, RETRY);
            }
        }
    }

    /// Its name and class.
    fn declaration(&self, cx: &Cx<'_>) -> String {
        let class = match (self.is_host, self.kind) {
            (true, _) => "FromHost",
            (false, Kind::Tap) => "KernelTap",
            (false, Kind::Tun) => "KernelTun",
        };
        format!("{} :: {class}", cx.name())
    }

    /// Reads a burst; false if there was nothing.
    fn receive(&mut self, cx: &mut Cx<'_>) -> bool {
        let Some(fd) = self.fd.clone() else { return false };
        let now_ns = cx.now_ns();
        self.looks += 1;
        let burst = if self.is_host { self.burst.min(cx.signals().room().max(1)) } else { self.burst };
        while self.reader.read.len() < burst {
            match self.reader.read(cx.pool(), &fd) {
                Ok(true) => {}
                Ok(false) => {
                    self.is_blind = false;
                    break;
                }
                Err(error) if is_gone(error) => {
                    self.lose(cx);
                    break;
                }
                Err(error) => {
                    if !std::mem::replace(&mut self.is_blind, true) {
                        self.complain(cx, "reading", error);
                    }
                    cx.timers().after(READ, BACKOFF);
                    break;
                }
            }
        }
        cx.count_drops(UNCUT, std::mem::take(&mut self.reader.uncut));
        let some = !self.reader.read.is_empty();
        self.packets += self.reader.read.len() as u64;
        let mut packets = std::mem::take(&mut self.reader.read);
        let mut left = packets.drain(..).peekable();
        while left.peek().is_some() {
            let mut batch = cx.batch();
            batch.extend(left.by_ref().take(self.burst));
            batch.iter_mut().for_each(|packet| packet.set_timestamp_ns(now_ns));
            self.emit(cx, batch);
        }
        drop(left);
        self.reader.read = packets;
        some
    }

    fn emit(&self, cx: &mut Cx<'_>, mut batch: Batch) {
        match self.kind {
            Kind::Tap => {
                for packet in batch.iter_mut() {
                    packet.set_mac_offset(0);
                    if self.is_host {
                        encap::mark_ip(packet, LinkType::Ethernet);
                    }
                }
                cx.emit(0, batch);
            }
            Kind::Tun => cx.scatter(batch, |_, packet| {
                let ip = encap::mark_ip(packet, LinkType::from_code(RAW_IP));
                if ip { Verdict::Pass } else { Verdict::Output(1) }
            }),
        }
    }

    fn complain(&self, cx: &Cx<'_>, doing: &str, error: Errno) {
        let trouble = std::fmt::from_fn(|f| {
            let trouble = tap::trouble(&self.common.name(), doing, error.into());
            write!(f, "{}: {trouble}", self.declaration(cx))
        });
        cx.error(trouble);
    }

    /// Hands packets to the kernel.
    fn send(&mut self, cx: &mut Cx<'_>, batch: Batch) {
        if self.leaves && self.fd.is_none() && cx.now_ns() >= self.retry_ns {
            self.fd = self.common.queue(0);
            self.retry_ns = cx.now_ns() + RETRY_NS;
        }
        let Some(fd) = self.fd.clone() else { return cx.drop_batch(batch, GONE) };
        let (kind, mtu) = (self.kind, self.mtu);
        let batch = cx.sift(batch, |_, packet| {
            let header = match kind {
                Kind::Tap if packet.len() < ethernet::HEADER_LEN => return Verdict::Drop("packet too small"),
                Kind::Tap => ethernet::HEADER_LEN,
                Kind::Tun => {
                    // Whatever is in front of the IP header goes.
                    let stripped = packet.network_offset().and_then(|at| usize::try_from(at).ok());
                    if !stripped.is_some_and(|at| packet.len() >= at + 20 && packet.pull(at)) {
                        return Verdict::Drop("no network header");
                    }
                    if !matches!(packet.data()[0] >> 4, 4 | 6) {
                        return Verdict::Drop("unknown IP version");
                    }
                    0
                }
            };
            if packet.len() > mtu + header { Verdict::Drop("packet larger than MTU") } else { Verdict::Pass }
        });
        match self.writer.write(cx, &fd, batch) {
            Ok(()) => self.failing = false,
            Err(error) if is_gone(error) => self.lose(cx),
            Err(error) => {
                // While the interface is down each packet fails: that is said once. The others are as many as messages may be.
                if !std::mem::replace(&mut self.failing, true) || !self.quiet && error != Errno::IO {
                    self.complain(cx, "writing", error);
                }
            }
        }
    }
}

impl Element for HostPort {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if !self.leaves {
            let info = cx.info().clone();
            self.open(&info)?;
        }
        if self.pulls {
            cx.signals().listen(0);
        }
        if self.is_host {
            cx.signals().listen_room(0);
        }
        cx.tasks().schedule();
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        self.send(cx, batch);
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        if self.leaves {
            // It only asks for packets.
        } else if self.is_host && !cx.signals().has_room(0) {
            // It is woken when there is room.
        } else if self.receive(cx) {
            cx.tasks().schedule();
        } else if let Some(fd) = self.fd.as_ref().filter(|_| !self.is_blind) {
            cx.tasks().schedule_when(fd, Interest::Readable);
        }
        if self.pulls {
            cx.ask(0, self.burst);
        }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        pulling::go_on(cx, &batch);
        self.send(cx, batch);
        Pull::Nothing
    }

    fn timer(&mut self, cx: &mut Cx<'_>, key: u32) {
        match key {
            AGAIN => self.look_again(cx),
            _ => cx.tasks().schedule(),
        }
    }

    /// The interface stays, with its addresses and routes, and what the kernel sends meanwhile waits in its queue.
    fn write_state(&mut self, _cx: &mut Cx<'_>, out: &mut StateWriter) -> bool {
        out.form(FORM);
        out.u64(self.packets);
        out.u64(self.looks);
        match self.fd.as_ref().filter(|_| !self.leaves).and_then(|fd| fd.try_clone().ok()) {
            Some(fd) => {
                out.bytes(self.common.name().as_bytes());
                out.fd(fd);
            }
            None => out.bytes(&[]),
        }
        true
    }

    fn queues(&self) -> Option<Queues> {
        let interface = self.common.name();
        (!self.leaves).then(|| Queues { interface, queues: Vec::new() })
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("dev_name", |e: &mut HostPort, _| e.common.name()).measures(&metric::DEVICE);
        h.read("packets", |e: &mut HostPort, _| e.packets).merged(Merge::Sum).measures(&metric::PACKETS);
        h.read("segmented", |e: &mut HostPort, _| e.reader.segmented).merged(Merge::Sum);
        h.read("selected_calls", |e: &mut HostPort, _| e.looks).merged(Merge::Sum);
        if !self.is_host {
            h.read("merged", |e: &mut HostPort, _| e.writer.merged).merged(Merge::Sum);
        }
        if self.is_host {
            h.read("signal", |_: &mut HostPort, cx| cx.signals().has_room(0));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;

    #[test]
    fn bad_arguments_are_refused() {
        for (element, error) in [
            ("KernelTun(10.0.0.1/24, 10.0.1.1)", "bad GATEWAY"),
            ("KernelTap(10.0.0.1/24, MTU 19)", "MTU must be greater than 20"),
            ("KernelTun(10.0.0.1/24, BURST 0)", "BURST must be >= 1"),
            ("FromHost(x0, TYPE FROG)", "bad TYPE"),
            ("KernelTun()", "ADDR: required argument missing"),
        ] {
            let said = errors(&format!("{element} -> Discard"));
            assert!(said.contains(error), "{said}");
        }
        let said = errors("Idle -> ToHost(x0)");
        assert!(
            said.contains("ToHost(x0) requires an initialized FromHost with the same dev_name"),
            "{said}"
        );
    }
}
