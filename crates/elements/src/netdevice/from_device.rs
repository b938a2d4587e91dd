//! Receives packets from a network interface.
//!
//! ```click
//! FromDevice(DEVNAME [, PROMISC, SNAPLEN, SNIFFER, FORCE_IP, METHOD, PROTOCOL, OUTBOUND, HEADROOM, ENCAP, BURST,
//!            TIMESTAMP, QUEUE])
//! ```
//!
//! Emits the frames that arrive at interface DEVNAME, with the time when the kernel received them, the place of the
//! link-layer header, and whether they are for this host, a group, everybody or another host. The kernel goes on
//! receiving them as well, so it should have no address on an interface that Clique routes for. Needs root, or the capability CAP_NET_RAW.
//!
//! Each worker has a receive queue of its own: packets of a flow go to one worker. With QUEUE only what
//! arrived at that queue of the interface is received, by worker QUEUE modulo the number of workers. While nothing arrives
//! the worker sleeps. VLAN tags that the driver took out are put back, and checksums that a sender on a virtual link left to
//! hardware are completed. When the interface goes down or vanishes the element waits for it.
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
//! - `SNIFFER` (boolean, default true): must be true.
//! - `FORCE_IP` (boolean, default false): emit IP packets only, their header marked; others leave at output 1, if it is
//!   connected.
//! - `METHOD` (word, default LINUX): LINUX for a packet socket; PCAP means the same.
//! - `PROTOCOL` (integer, default 0): only frames of this EtherType, unless it is 0.
//! - `OUTBOUND` (boolean, default false): receive what this machine sends, too.
//! - `HEADROOM` (integer, at most 8190, default 130): free bytes in front of each packet.
//! - `ENCAP` (word, default ETHER): the link type.
//! - `BURST` (integer, default: packets in a batch): frames taken at a time.
//! - `TIMESTAMP` (boolean, default true): set the time.
//! - `QUEUE` (integer): the receive queue, as `ethtool -l` counts them.
//!
//! # Handlers
//! - `count` (read): packets received. `reset_counts` (write, button): sets it to zero.
//! - `kernel_drops` (read): packets that the kernel dropped because nobody fetched them in time.
//! - `encap` (read): the link type.
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
use device::packet_socket::{Addressee, Frame, Group, Options, PacketRx};
use packet::{Anno, BATCH_MAX, DEFAULT_HEADROOM, Kind, Packet, Pool};
use router::{Activity, Class, Config, ConfigError, Cx, Element, Handlers, Interest, Merge, Refused};
use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

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

struct FromDevice {
    interface: String,
    options: Options,
    /// Whether this worker receives at all.
    serves: bool,
    /// The sockets of all workers, if there are several.
    group: Option<Arc<Mutex<Group>>>,
    rx: Option<PacketRx>,
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
    if !matches!(capture.unwrap_or(method).as_str(), "LINUX" | "PCAP") {
        return Err("bad METHOD".into());
    }
    if !sniffer {
        return Err(
            "SNIFFER must be true: take the interface's addresses away from the kernel instead".into()
        );
    }
    let linktype = encap::parse(&link).ok_or("bad encapsulation type")?;
    let (workers, worker) = (config.workers().to_vec(), config.worker());
    let place = workers.iter().position(|&w| w == worker).unwrap_or(0);
    let shares = workers.len() > 1 && queue.is_none();
    let group = if shares { Some(config.shared(|| Ok(Mutex::new(Group::default())))?) } else { None };
    Ok(Box::new(FromDevice {
        interface,
        options: Options { promiscuous, outbound, snaplen, queue },
        serves: queue.is_none_or(|queue| usize::from(queue) % workers.len().max(1) == place),
        group,
        rx: None,
        shape: Shape { headroom, timestamp },
        protocol,
        force_ip,
        linktype,
        burst: burst.min(BATCH_MAX),
        idle: 0,
        count: 0,
    }))
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
    fn open(&self) -> Result<PacketRx, Trouble> {
        let mut group = self.group.as_ref().map(|group| group.lock().unwrap_or_else(PoisonError::into_inner));
        PacketRx::open(&self.interface, &self.options, group.as_deref_mut())
    }

    /// Receives a burst; false if there was nothing.
    fn receive(&mut self, cx: &mut Cx<'_>) -> bool {
        let Some(rx) = &mut self.rx else { return false };
        let (mut batch, mut lost) = (cx.batch(), 0);
        let (shape, outbound, protocol) = (self.shape, self.options.outbound, self.protocol);
        let emptied = rx.receive(self.burst, |frame| {
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
        emptied > 0
    }

    /// Sleeps until there is something, or the interface is back.
    fn rest(&mut self, cx: &mut Cx<'_>) {
        self.idle = 0;
        let Some(rx) = &self.rx else { return cx.timer_after(0, RETRY) };
        if let Some(trouble) = rx.failure(&self.interface) {
            cx.log(&format!("{} :: FromDevice: {trouble}", cx.name()));
            cx.timer_after(0, RETRY);
        }
        cx.schedule_when(rx.fd(), Interest::Readable);
    }
}

impl Element for FromDevice {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if self.serves {
            self.rx = Some(self.open().map_err(|trouble| trouble.to_string())?);
            cx.schedule();
        }
        Ok(())
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

    /// Looks whether an interface that had gone is back, as another one of the same name perhaps.
    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        if self.rx.as_ref().is_some_and(|rx| !rx.is_stale(&self.interface)) {
            return; // it was down; the socket goes on by itself
        }
        match self.open() {
            Ok(rx) => {
                self.rx = Some(rx);
                cx.log(&format!("{} :: FromDevice: {} is back", cx.name(), self.interface));
                cx.schedule();
            }
            Err(_) => cx.timer_after(0, RETRY),
        }
    }

    /// The socket goes on to a namesake: what is in its ring is neither lost nor received twice.
    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        let rx = self.rx.take()?;
        Some(Box::new((self.interface.clone(), self.options.clone(), self.count, rx)))
    }

    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) -> Result<(), Refused> {
        if let Ok(state) = state.downcast::<(String, Options, u64, PacketRx)>() {
            let (interface, options, count, rx) = *state;
            if interface == self.interface && options == self.options && self.serves {
                (self.rx, self.count) = (Some(rx), count);
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
        h.read("kernel_drops", |e: &mut FromDevice, _| e.rx.as_mut().map_or(0, PacketRx::drops))
            .merged(Merge::Sum);
        h.read("encap", |e: &mut FromDevice, _| encap::name(e.linktype));
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
