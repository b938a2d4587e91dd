//! What KernelTun, KernelTap and FromHost share: an interface behind which Clique is.

use crate::capture::encap;
use device::capture::LinkType;
use device::tap::{self, Carries, Setup};
use packet::{BATCH_MAX, Batch, DEFAULT_HEADROOM, Packet};
use router::{Config, ConfigError, Cx, Element, Handlers, Interest, IpMask, Merge, Pull, Verdict};
use rustix::io::Errno;
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use wire::{MacAddr, ethernet};

/// The longest packet, unless told otherwise.
const MTU: usize = 1500;
/// The link type of bare IP packets.
const RAW_IP: u32 = 101;

/// What an element carries.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Tun,
    Tap,
}

/// What the instances of an element share, and ToHost looks for.
pub(super) struct Common {
    /// The interface's name, and one of its descriptors, once it is open.
    open: Mutex<(String, Option<Arc<OwnedFd>>)>,
}

impl Common {
    /// A descriptor of the interface, if it has this name and is open.
    pub(super) fn named(&self, name: &str) -> Option<Arc<OwnedFd>> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.1.clone().filter(|_| open.0 == name)
    }
}

/// An instance: its descriptor, and how it reads and writes.
pub(super) struct HostPort {
    common: Arc<Common>,
    fd: Option<Arc<OwnedFd>>,
    kind: Kind,
    setup: Setup,
    gateway: Option<Ipv4Addr>,
    headroom: usize,
    mtu: usize,
    burst: usize,
    shared: bool,
    pulls: bool,
    quiet: bool,
    failing: bool,
    packets: u64,
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
    quiet: bool,
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
            quiet: false,
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
        let name = self.name;
        let common = config.shared(|| Ok(Common { open: Mutex::new((name, None)) }))?;
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
            headroom: self.headroom.unwrap_or(aligned),
            mtu: self.mtu,
            burst: self.burst.min(BATCH_MAX),
            shared: config.workers().len() > 1,
            pulls: config.inputs() > 0 && !config.input_is_push(0),
            quiet: self.quiet,
            failing: false,
            packets: 0,
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

/// Reads a packet of up to `room` bytes; `None` if there is none now.
fn read(cx: &mut Cx<'_>, fd: &OwnedFd, headroom: usize, room: usize) -> Result<Option<Packet>, Errno> {
    let Some(mut packet) = cx.pool().alloc(headroom, room) else { return Err(Errno::NOMEM) };
    match rustix::io::read(fd, packet.data_mut()) {
        Ok(len @ 1..) if packet.take(room - len) => Ok(Some(packet)),
        Ok(_) | Err(Errno::AGAIN | Errno::INTR) => {
            cx.pool().free(packet);
            Ok(None)
        }
        Err(error) => {
            cx.pool().free(packet);
            Err(error)
        }
    }
}

/// Writes packets to a descriptor of an interface; counts those that it does not take.
pub(super) fn write(cx: &mut Cx<'_>, fd: &OwnedFd, batch: Batch) -> Result<(), Errno> {
    let mut result = Ok(());
    for packet in batch.iter() {
        if let Err(error) = rustix::io::write(fd, packet.data()) {
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
    fn open(&mut self) -> Result<(), String> {
        let mut open = self.common.open.lock().unwrap_or_else(PoisonError::into_inner);
        let carries = if self.kind == Kind::Tap { Carries::Frames } else { Carries::Packets };
        let (fd, name) = tap::open(&open.0, carries, self.shared).map_err(|trouble| trouble.to_string())?;
        let (fd, first) = (Arc::new(fd), open.1.is_none());
        *open = (name, Some(fd.clone()));
        self.fd = Some(fd);
        if first {
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
        let (mut batch, now_ns) = (cx.batch(), cx.now_ns());
        let room = self.mtu + ethernet::HEADER_LEN + 4;
        while batch.len() < self.burst {
            match read(cx, &fd, self.headroom, room) {
                Ok(Some(mut packet)) => {
                    packet.set_timestamp_ns(now_ns);
                    batch.push(packet);
                }
                Ok(None) => break,
                Err(error) => {
                    self.complain(cx, "read", error);
                    break;
                }
            }
        }
        let some = !batch.is_empty();
        self.packets += batch.len() as u64;
        match self.kind {
            _ if !some => cx.consume(batch),
            Kind::Tap => {
                batch.iter_mut().for_each(|packet| packet.set_mac_offset(0));
                cx.emit(0, batch);
            }
            Kind::Tun => cx.scatter(batch, |_, packet| {
                let ip = encap::mark_ip(packet, LinkType::from_code(RAW_IP));
                if ip { Verdict::Pass } else { Verdict::Output(1) }
            }),
        }
        some
    }

    fn complain(&mut self, cx: &Cx<'_>, doing: &str, error: Errno) {
        if !std::mem::replace(&mut self.failing, true) || !self.quiet {
            cx.log(&format!("{}: {doing}: {}", cx.name(), std::io::Error::from(error)));
        }
    }

    /// Hands packets to the kernel.
    fn send(&mut self, cx: &mut Cx<'_>, batch: Batch) {
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
            Err(error) => self.complain(cx, "write failed", error),
        }
    }
}

impl Element for HostPort {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.open()?;
        if self.pulls {
            cx.listen(0);
        }
        cx.schedule();
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        self.send(cx, batch);
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        if self.receive(cx) {
            cx.schedule();
        } else if let Some(fd) = &self.fd {
            cx.schedule_when(fd, Interest::Readable);
        }
        if self.pulls {
            cx.ask(0, self.burst);
        }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        if !batch.is_empty() || cx.may_have(0) {
            cx.schedule();
        }
        self.send(cx, batch);
        Pull::Nothing
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("dev_name", |e: &mut HostPort, _| {
            e.common.open.lock().unwrap_or_else(PoisonError::into_inner).0.clone()
        });
        h.read("packets", |e: &mut HostPort, _| e.packets).merged(Merge::Sum);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;

    #[test]
    fn arguments() {
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
