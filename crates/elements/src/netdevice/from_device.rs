//! Receives packets from a network interface.
//!
//! ```click
//! FromDevice(DEVNAME [, PROMISC, SNAPLEN, SNIFFER, FORCE_IP, METHOD, PROTOCOL, OUTBOUND, HEADROOM, ENCAP, BURST,
//!            TIMESTAMP, QUEUE, HOST, BUSY_POLL])
//! ```
//!
//! Emits the frames that arrive at interface DEVNAME, with the time when they were received, the place of the link-layer
//! header, and whether they are for this host, a group, everybody or another host. Needs root, or the capabilities
//! CAP_NET_RAW and (for XDP) CAP_NET_ADMIN and CAP_BPF. While nothing arrives the worker sleeps. When the interface goes
//! down or vanishes the element waits for it.
//!
//! With METHOD LINUX, a packet socket, the kernel goes on receiving the same frames, so it should have no address on an
//! interface that Clique routes for; SNIFFER false keeps them from it. VLAN tags that the driver took out are put back,
//! and checksums that a sender on a virtual link left to hardware are completed.
//!
//! With METHOD XDP frames come past the kernel's stack, faster, and the kernel gets none, as if SNIFFER were false. Whether the program
//! for it runs in the driver (native) or behind it (generic), and whether frames are copied, is chosen by what the driver can do, and printed.
//! Senders on a virtual link must not leave checksums to hardware then: `ethtool -K INTERFACE tx off`.
//!
//! HOST says what the kernel gets all the same, and Clique does not, when it gets nothing else: the packets for its own addresses, ARP, what
//! routing protocols send to groups.
//!
//! Each worker has receive queues of its own. With METHOD LINUX packets of a flow go to one worker; with METHOD XDP
//! worker w of W serves the interface's queues w, w + W and so on. With QUEUE only what arrived at that queue is
//! received, by worker QUEUE modulo W.
//!
//! PollDevice is another name for it. Click's BPF_FILTER is not known: put an IPClassifier behind it.
//! Frames longer than SNAPLEN, as virtual links bring when segmentation is left to hardware, are cut as in Click;
//! `ethtool -K INTERFACE tso off gso off` at their sender helps.
//!
//! Ports: no inputs, 1 or 2 outputs. Processing: push. Workers: an instance on each.
//!
//! # Arguments
//! - `DEVNAME`: the interface.
//! - `PROMISC` (boolean, default false): receive frames for other hosts, too.
//! - `SNAPLEN` (integer, 14 to 65535, default 2046): bytes of a frame, at most.
//! - `SNIFFER` (boolean, default true): let the kernel receive the frames, too. False needs kernel 6.6.
//! - `FORCE_IP` (boolean, default false): emit IP packets only, their header marked; others leave at output 1, if it is
//!   connected.
//! - `METHOD` (word, default LINUX): LINUX for a packet socket, PCAP for the same; XDP for AF_XDP sockets.
//! - `PROTOCOL` (integer, default 0): only frames of this EtherType, unless it is 0.
//! - `OUTBOUND` (boolean, default false): receive what this machine sends, too.
//! - `HEADROOM` (integer, at most 8190, default 130): free bytes in front of each packet.
//! - `ENCAP` (word, default ETHER): the link type.
//! - `BURST` (integer, default: packets in a batch): frames taken at a time.
//! - `TIMESTAMP` (boolean, default true): set the time.
//! - `QUEUE` (integer): the receive queue, as `ethtool -l` counts them.
//! - `HOST` (IP prefixes and the word `arp`, separated by spaces): what is left to the kernel.
//! - `BUSY_POLL` (integer, default 0): with METHOD XDP, microseconds for which the kernel looks for frames itself.
//!
//! # Handlers
//! - `count` (read): packets received. `reset_counts` (write, button): sets it to zero.
//! - `kernel_drops` (read): packets that the kernel dropped because nobody fetched them in time.
//! - `encap` (read): the link type.
//! - `mode` (read): how frames are received: `packet socket`, or each queue with its kind of program and copying.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> Print -> Discard
//! ```
//!
//! # See also
//! ToDevice, FromDump, KernelTap

use crate::capture::encap;
use device::Trouble;
use device::capture::LinkType;
use device::offload;
use device::packet_socket::{Addressee, Frame, Group, Options};
use device::port::{Method, Rx};
use device::xdp::{self, Rule};
use packet::{Anno, BATCH_MAX, DEFAULT_HEADROOM, Kind, Packet, Pool};
use router::{
    Activity, Class, Config, ConfigError, Cx, Element, FromArg, Handlers, Interest, Merge, NetOrHost,
    Refused, Scope,
};
use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use wire::ethernet::ether_type;
use wire::{Ipv4Net, Ipv6Net};

/// The class.
pub(crate) const CLASS: Class = Class::new("FromDevice", create)
    .ports("0/1-2")
    .processing("/h")
    .activity(Activity::PerWorker)
    .doc(include_str!("from_device.rs"));

/// Another name.
pub(crate) const POLL: Class = Class { name: "PollDevice", ..CLASS };

/// Looks at an empty ring before the worker sleeps.
const PATIENCE: u32 = 64;
/// How often to look for an interface that has gone.
const RETRY: Duration = Duration::from_millis(500);
/// Timers: to open the interface again; to look whether it is there at all, which XDP sockets do not say.
const AGAIN: u32 = 0;
const CHECK: u32 = 1;

struct FromDevice {
    interface: String,
    method: Method,
    /// The worker's place among those that receive, and their number.
    place: (usize, usize),
    queue: Option<u16>,
    /// The sockets of all workers, if there are several.
    group: Option<Arc<Mutex<Group>>>,
    rx: Option<Rx>,
    /// Whether another element was found to have the queue.
    waits: bool,
    outbound: bool,
    shape: Shape,
    protocol: u16,
    force_ip: bool,
    linktype: LinkType,
    burst: usize,
    idle: u32,
    count: u64,
}

/// How frames become packets.
#[derive(Clone, Copy)]
struct Shape {
    headroom: usize,
    timestamp: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut interface, mut promiscuous, mut outbound, mut sniffer) = (String::new(), false, false, true);
    let (mut snaplen, mut headroom, mut burst) = (2046usize, DEFAULT_HEADROOM + 2, config.vector());
    let (mut method, mut capture, mut link) = ("LINUX".to_owned(), None::<String>, "ETHER".to_owned());
    let (mut force_ip, mut timestamp, mut protocol, mut queue) = (false, true, 0u16, None::<u16>);
    let (mut host, mut busy_poll) = (Host::default(), 0u32);
    config
        .args()
        .required("DEVNAME", &mut interface)
        .positional("PROMISC", &mut promiscuous)
        .positional("SNAPLEN", &mut snaplen)
        .keyword("SNIFFER", &mut sniffer)
        .keyword("FORCE_IP", &mut force_ip)
        .keyword("METHOD", &mut method)
        .keyword("CAPTURE", &mut capture)
        .keyword("PROTOCOL", &mut protocol)
        .keyword("OUTBOUND", &mut outbound)
        .keyword("HEADROOM", &mut headroom)
        .keyword("ENCAP", &mut link)
        .keyword("BURST", &mut burst)
        .keyword("TIMESTAMP", &mut timestamp)
        .keyword("QUEUE", &mut queue)
        .keyword("HOST", &mut host)
        .keyword("BUSY_POLL", &mut busy_poll)
        .finish()?;
    if interface.is_empty() {
        return Err("interface not set".into());
    }
    if !(14..=65535).contains(&snaplen) {
        return Err("SNAPLEN out of range".into());
    }
    if headroom > 8190 {
        return Err("HEADROOM out of range".into());
    }
    if burst == 0 {
        return Err("BURST out of range".into());
    }
    let left = (!sniffer).then(|| host.0.clone());
    let method = match capture.unwrap_or(method).as_str() {
        "LINUX" | "PCAP" => Method::Packet(Options { promiscuous, outbound, snaplen, queue }, left),
        "XDP" => Method::Xdp(xdp::Options { promiscuous, left: host.0, busy_poll }),
        _ => return Err("bad METHOD".into()),
    };
    let linktype = encap::parse(&link).ok_or("bad encapsulation type")?;
    let (workers, worker) = (config.workers().to_vec(), config.worker());
    let place = workers.iter().position(|&w| w == worker).unwrap_or(0);
    let shares = workers.len() > 1 && queue.is_none() && matches!(method, Method::Packet(..));
    let group = if shares { Some(config.shared(|| Ok(Mutex::new(Group::default())))?) } else { None };
    Ok(Box::new(FromDevice {
        interface,
        method,
        place: (place, workers.len().max(1)),
        queue,
        group,
        rx: None,
        waits: false,
        outbound,
        shape: Shape { headroom, timestamp },
        protocol,
        force_ip,
        linktype,
        burst: burst.min(BATCH_MAX),
        idle: 0,
        count: 0,
    }))
}

/// What is left to the kernel.
#[derive(Default)]
struct Host(Vec<Rule>);

impl FromArg for Host {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        let rule = |word: &str| {
            if word == "arp" {
                return Ok(Rule::ether_type(ether_type::ARP));
            }
            if let Ok(NetOrHost(net)) = NetOrHost::<Ipv4Net>::from_arg(word, scope) {
                return Ok(Rule::destination(net.addr().into(), net.len()));
            }
            match NetOrHost::<Ipv6Net>::from_arg(word, scope) {
                Ok(NetOrHost(net)) => Ok(Rule::destination(net.addr().into(), net.len())),
                Err(_) => Err(format!("'{word}' is neither an IP prefix nor 'arp'")),
            }
        };
        text.split_whitespace().map(rule).collect::<Result<_, _>>().map(Host)
    }
}

impl Shape {
    /// Makes a packet of a received frame; `None` without memory.
    #[inline]
    fn packet(self, pool: &mut Pool, frame: &Frame<'_>) -> Option<Packet> {
        let tag = if frame.vlan.is_some() && frame.data.len() >= 12 { 4 } else { 0 };
        let mut packet = pool.alloc(self.headroom, frame.data.len() + tag)?;
        match frame.vlan {
            Some((protocol, tci)) if tag > 0 => {
                let (addresses, rest) = frame.data.split_at(12);
                let data = packet.data_mut();
                data[..12].copy_from_slice(addresses);
                data[12..14].copy_from_slice(&protocol.to_be_bytes());
                data[14..16].copy_from_slice(&tci.to_be_bytes());
                data[16..].copy_from_slice(rest);
            }
            _ => packet.data_mut().copy_from_slice(frame.data),
        }
        if frame.unfinished {
            offload::finish_checksum(packet.data_mut());
        }
        packet.set_mac_offset(0);
        packet.set_kind(kind(frame.addressee));
        if self.timestamp {
            packet.set_timestamp_ns(frame.time_ns);
        }
        if frame.len > frame.data.len() {
            packet.set_anno(Anno::EXTRA_LENGTH, (frame.len - frame.data.len()) as u64);
        }
        Some(packet)
    }
}

fn kind(addressee: Addressee) -> Kind {
    match addressee {
        Addressee::Host => Kind::Host,
        Addressee::Broadcast => Kind::Broadcast,
        Addressee::Multicast => Kind::Multicast,
        Addressee::Other => Kind::OtherHost,
        Addressee::Outgoing => Kind::Outgoing,
    }
}

impl FromDevice {
    /// The queues that this worker serves.
    fn queues(&self) -> Vec<u32> {
        let (place, workers) = self.place;
        let mine = |queue: &u32| *queue as usize % workers == place;
        match self.queue {
            Some(queue) => Some(u32::from(queue)).filter(mine).into_iter().collect(),
            None if matches!(self.method, Method::Packet(..)) => vec![place as u32],
            None => (0..xdp::queues(&self.interface)).filter(mine).collect(),
        }
    }

    /// Opens the interface, or finds out that the element has to wait for another one that has it.
    fn open(&mut self, cx: &mut Cx<'_>) -> Result<(), Trouble> {
        let queues = self.queues();
        if queues.is_empty() {
            cx.unschedule();
            return Ok(());
        }
        let mut group = self.group.as_ref().map(|group| group.lock().unwrap_or_else(PoisonError::into_inner));
        match Rx::open(&self.interface, &self.method, &queues, group.as_deref_mut()) {
            Ok(rx) => {
                if let (Method::Xdp(_), mode) = (&self.method, rx.mode()) {
                    cx.log(&format!("{} :: FromDevice({}): {mode}", cx.name(), self.interface));
                    cx.timer_after(CHECK, RETRY);
                }
                (self.rx, self.waits) = (Some(rx), false);
                cx.schedule();
            }
            Err(trouble) if trouble.is_held_here() => {
                if !std::mem::replace(&mut self.waits, true) {
                    cx.log(&format!("{} :: FromDevice: {trouble}", cx.name()));
                }
                cx.timer_after(AGAIN, RETRY);
            }
            Err(trouble) => return Err(trouble),
        }
        Ok(())
    }

    /// Receives a burst; false if there was nothing.
    fn receive(&mut self, cx: &mut Cx<'_>) -> bool {
        let Some(rx) = &mut self.rx else { return false };
        let (mut batch, mut lost) = (cx.batch(), 0);
        let (shape, outbound, protocol) = (self.shape, self.outbound, self.protocol);
        let now_ns = cx.now_ns();
        let looked_at = rx.receive(self.burst, now_ns, |frame| {
            let wanted = (outbound || frame.addressee != Addressee::Outgoing)
                && (protocol == 0 || frame.data.get(12..14) == Some(&protocol.to_be_bytes()[..]));
            if wanted {
                match shape.packet(cx.pool(), &frame) {
                    Some(packet) => batch.push(packet),
                    None => lost += 1,
                }
            }
        });
        if lost > 0 {
            cx.count_drops("no buffer for a received frame", lost);
        }
        self.count += batch.len() as u64;
        if self.force_ip {
            let linktype = self.linktype;
            cx.scatter(batch, |_, packet| match encap::mark_ip(packet, linktype) {
                true => router::Verdict::Pass,
                false => router::Verdict::Output(1),
            });
        } else if batch.is_empty() {
            cx.consume(batch);
        } else {
            cx.emit(0, batch);
        }
        looked_at > 0
    }

    /// Sleeps until there is something, or the interface is back.
    fn rest(&mut self, cx: &mut Cx<'_>) {
        self.idle = 0;
        let Some(rx) = &self.rx else { return };
        if let Some(trouble) = rx.failure(&self.interface) {
            cx.log(&format!("{} :: FromDevice: {trouble}", cx.name()));
            cx.timer_after(AGAIN, RETRY);
        }
        rx.fds().for_each(|fd| cx.schedule_when(fd, Interest::Readable));
    }

    /// Looks whether an interface that had gone is back, as another one of the same name perhaps.
    fn look_again(&mut self, cx: &mut Cx<'_>) {
        if self.rx.as_ref().is_some_and(|rx| !rx.is_stale(&self.interface)) {
            return; // it was down; the socket goes on by itself
        }
        let waited = self.waits;
        self.rx = None;
        match self.open(cx) {
            Ok(()) if self.waits || waited => {}
            Ok(()) => cx.log(&format!("{} :: FromDevice: {} is back", cx.name(), self.interface)),
            Err(_) => cx.timer_after(AGAIN, RETRY),
        }
    }
}

impl Element for FromDevice {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        Ok(self.open(cx).map_err(|trouble| trouble.to_string())?)
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        if self.receive(cx) {
            self.idle = 0;
            cx.schedule();
        } else if self.idle < PATIENCE {
            self.idle += 1;
            cx.schedule();
        } else {
            self.rest(cx);
        }
    }

    fn timer(&mut self, cx: &mut Cx<'_>, key: u32) {
        if key == AGAIN {
            return self.look_again(cx);
        }
        match &self.rx {
            Some(rx) if rx.is_stale(&self.interface) => cx.timer_after(AGAIN, Duration::ZERO),
            _ => cx.timer_after(CHECK, 2 * RETRY),
        }
    }

    /// The sockets go on to a namesake: what is in their rings is neither lost nor received twice.
    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        let rx = self.rx.take()?;
        Some(Box::new((self.interface.clone(), self.method.clone(), self.count, rx)))
    }

    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) -> Result<(), Refused> {
        if let Ok(state) = state.downcast::<(String, Method, u64, Rx)>() {
            let (interface, method, count, rx) = *state;
            if interface == self.interface && method == self.method {
                (self.rx, self.count, self.waits) = (Some(rx), count, false);
                cx.cancel_timer(AGAIN);
                cx.timer_after(CHECK, RETRY);
                cx.schedule();
            }
        }
        Ok(())
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("count", |e: &mut FromDevice, _| e.count).merged(Merge::Sum);
        h.write("reset_counts", |e: &mut FromDevice, _, _| {
            e.count = 0;
            Ok(())
        })
        .as_button();
        h.read("kernel_drops", |e: &mut FromDevice, _| e.rx.as_mut().map_or(0, Rx::drops)).merged(Merge::Sum);
        h.read("encap", |e: &mut FromDevice, _| encap::name(e.linktype));
        h.read("mode", |e: &mut FromDevice, _| e.rx.as_ref().map_or(String::new(), |rx| rx.mode() + "\n"))
            .merged(Merge::Concatenate);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;

    #[test]
    fn arguments() {
        for (arguments, error) in [
            ("lo, SNAPLEN 13", "SNAPLEN out of range"),
            ("lo, HEADROOM 9000", "HEADROOM out of range"),
            ("lo, METHOD NETMAP", "bad METHOD"),
            ("lo, BURST 0", "BURST out of range"),
            ("lo, ENCAP FROG", "bad encapsulation type"),
            ("lo, HOST 10.0.0.1 frog", "'frog' is neither an IP prefix nor 'arp'"),
            ("", "DEVNAME: required argument missing"),
        ] {
            let said = errors(&format!("FromDevice({arguments}) -> Discard"));
            assert!(said.contains(error), "{said}");
        }
    }

    /// Without permission the first thing said is what to do; with it, which interfaces there are.
    #[test]
    fn no_such_interface() {
        let said = errors("FromDevice(nowhere0) -> Discard");
        assert!(
            said.contains("nowhere0: ")
                && (said.contains("run as root") || said.contains("the interfaces here")),
            "{said}"
        );
    }
}
