//! What KernelTun, KernelTap and FromHost share: an interface behind which Clique is.

use device::capture::LinkType;
use device::offload::Note;
use device::tap::{self, Carries, Setup};
use elements_shared::encap;
use elements_shared::pulling;
use packet::{BATCH_MAX, Batch, DEFAULT_HEADROOM, Packet, Pool};
use router::{
    Config, ConfigError, Cx, Element, Handlers, Info, Interest, IpMask, Merge, Pull, Queues, Verdict, metric,
};
use rustix::io::Errno;
use std::io::{IoSlice, IoSliceMut};
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use wire::{MacAddr, ethernet};

/// The longest packet, unless told otherwise.
const MTU: usize = 1500;
/// The link type of bare IP packets.
const RAW_IP: u32 = 101;

/// Who has interfaces open: the kernel does not let a new configuration open one that the old one has.
static OWNERS: Mutex<Vec<Weak<Common>>> = Mutex::new(Vec::new());

/// What an element carries.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Tun,
    Tap,
}

/// What the instances of an element share, and ToHost looks for.
pub(super) struct Common {
    kind: Kind,
    /// The interface's name, and its descriptors, those that are open: one for each of its queues.
    open: Mutex<(String, Vec<Arc<OwnedFd>>)>,
}

impl Common {
    /// The interface's name, once it is open.
    pub(super) fn name(&self) -> String {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    /// A queue of the interface, if it has this name and is open; of queues there may be fewer.
    pub(super) fn named(&self, name: &str, queue: usize) -> Option<Arc<OwnedFd>> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.1.get(queue % open.1.len().max(1)).filter(|_| open.0 == name).cloned()
    }

    /// The queue of this number, if there are so many.
    fn queue(&self, queue: usize) -> Option<Arc<OwnedFd>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).1.get(queue).cloned()
    }
}

/// An instance: its descriptor, and how it reads and writes.
pub(super) struct HostPort {
    common: Arc<Common>,
    fd: Option<Arc<OwnedFd>>,
    kind: Kind,
    setup: Setup,
    gateway: Option<Ipv4Addr>,
    reader: Reader,
    mtu: usize,
    burst: usize,
    /// Whether another worker reads, and this one at most writes.
    leaves: bool,
    shared: bool,
    pulls: bool,
    quiet: bool,
    failing: bool,
    /// Whether it is a FromHost, which marks IP headers in frames, and leaves packets to the kernel while queues downstream are full.
    is_host: bool,
    packets: u64,
    /// How often it looked for packets.
    looks: u64,
}

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
        let (name, kind) = (self.name, self.kind);
        let common = config.shared(|| Ok(Common { kind, open: Mutex::new((name, Vec::new())) }))?;
        // The IP header is aligned to four bytes.
        let aligned = if self.kind == Kind::Tap { DEFAULT_HEADROOM + 2 } else { DEFAULT_HEADROOM };
        Ok(Box::new(HostPort {
            common,
            fd: None,
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
                network: if self.kind == Kind::Tap { ethernet::HEADER_LEN } else { 0 },
                long: Vec::new(),
                read: Vec::new(),
            },
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
            is_host: self.is_host,
            packets: 0,
            looks: 0,
        }))
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
    /// The IP header's place in what is read.
    network: usize,
    /// A segment that is too long for a packet.
    long: Vec<u8>,
    /// What was read and has not been emitted.
    read: Vec<Packet>,
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
            // What is no TCP segment was not asked for.
            note.cut(pool, self.headroom, &self.long[..len], self.network, &mut self.read);
        } else if packet.take(self.room - len) {
            note.finish(packet.data_mut());
            self.read.push(packet);
        }
        Ok(true)
    }
}

/// Writes packets to a descriptor of an interface; counts those that it does not take.
pub(super) fn write(cx: &mut Cx<'_>, fd: &OwnedFd, batch: Batch) -> Result<(), Errno> {
    let mut result = Ok(());
    for packet in batch.iter() {
        // Nothing is left to the kernel to do.
        let pieces = [&[0; Note::LEN][..], packet.data()].map(IoSlice::new);
        if let Err(error) = rustix::io::writev(fd, &pieces) {
            let reason = match error {
                Errno::AGAIN | Errno::NOBUFS => "the kernel's queue is full",
                _ => "the kernel did not take it",
            };
            cx.count_drops(reason, 1);
            result = Err(error);
        }
    }
    cx.consume(batch);
    result
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

    fn open(&mut self, info: &Info) -> Result<(), String> {
        let former = self.former(info);
        let mut open = self.common.open.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, takes_over) = (open.1.len(), former.is_some());
        let fd = match former.and_then(|former| former.queue(at)) {
            Some(fd) => fd,
            None => {
                let carries = if self.kind == Kind::Tap { Carries::Frames } else { Carries::Packets };
                let opened = tap::open(&open.0, carries, self.shared);
                let (fd, name) = opened.map_err(|trouble| trouble.to_string())?;
                open.0 = name;
                Arc::new(fd)
            }
        };
        open.1.push(fd.clone());
        self.fd = Some(fd);
        if at == 0 {
            let owner = Arc::downgrade(&self.common);
            OWNERS.lock().unwrap_or_else(PoisonError::into_inner).push(owner);
        }
        if at == 0 && !takes_over {
            tap::set_up(&open.0, &self.setup).map_err(|trouble| trouble.to_string())?;
            if let Some(gateway) = self.gateway {
                let arguments = ["route", "add", "default", "via", &gateway.to_string(), "dev", &open.0];
                let status =
                    Command::new("ip").args(arguments).status().map_err(|error| format!("ip: {error}"))?;
                if !status.success() {
                    return Err(format!("'ip {}' failed", arguments.join(" ")));
                }
            }
        }
        Ok(())
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
                Ok(false) => break,
                Err(error) => {
                    self.complain(cx, "reading", error);
                    break;
                }
            }
        }
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

    fn complain(&mut self, cx: &Cx<'_>, doing: &str, error: Errno) {
        if !std::mem::replace(&mut self.failing, true) || !self.quiet {
            let name = self.common.open.lock().unwrap_or_else(PoisonError::into_inner).0.clone();
            cx.log(&format!("{}: {}", cx.name(), tap::trouble(&name, doing, error.into())));
        }
    }

    /// Hands packets to the kernel.
    fn send(&mut self, cx: &mut Cx<'_>, batch: Batch) {
        if self.leaves && self.fd.is_none() {
            self.fd = self.common.open.lock().unwrap_or_else(PoisonError::into_inner).1.first().cloned();
        }
        let Some(fd) = self.fd.clone() else { return cx.drop_batch(batch, "not open") };
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
        match write(cx, &fd, batch) {
            Ok(()) => self.failing = false,
            Err(error) => self.complain(cx, "writing", error),
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
        } else if let Some(fd) = &self.fd {
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

    fn queues(&self) -> Option<Queues> {
        let interface = self.common.open.lock().unwrap_or_else(PoisonError::into_inner).0.clone();
        (!self.leaves).then(|| Queues { interface, queues: Vec::new() })
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("dev_name", |e: &mut HostPort, _| {
            e.common.open.lock().unwrap_or_else(PoisonError::into_inner).0.clone()
        })
        .measures(&metric::DEVICE);
        h.read("packets", |e: &mut HostPort, _| e.packets).merged(Merge::Sum).measures(&metric::PACKETS);
        h.read("selected_calls", |e: &mut HostPort, _| e.looks).merged(Merge::Sum);
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
