//! Receives packets from a network interface.
//!
//! ```click
//! FromDevice(DEVNAME [, PROMISC, SNAPLEN, SNIFFER, FORCE_IP, METHOD, BPF_FILTER, PROTOCOL, OUTBOUND, HEADROOM,
//!            ENCAP, BURST, TIMESTAMP, QUEUE, HOST, BUSY_POLL, WAIT, CONTROL, GSO])
//! ```
//!
//! Emits the frames that arrive at interface DEVNAME, with their time of arrival, the link-layer header position, and
//! the packet type (addressed to this host, multicast, broadcast or another host). Needs root, or the capabilities
//! CAP_NET_RAW and (for XDP) CAP_NET_ADMIN and CAP_BPF. While nothing arrives the worker sleeps. If the interface
//! goes down or disappears, the element waits for it.
//!
//! With METHOD LINUX, a packet socket, the kernel still receives the same frames, so it should have no address on an
//! interface that Clique routes for; SNIFFER false withholds them from the kernel. VLAN tags removed by the driver
//! are restored, and checksums that a sender on a virtual link left to hardware are completed.
//!
//! With METHOD XDP frames bypass the kernel's stack, and the kernel gets none, as if SNIFFER were false. The buffer
//! into which the kernel or the driver writes a frame becomes the packet (zero-copy); headroom is 256 bytes whatever
//! HEADROOM says. Depending on the driver's capabilities, the XDP program runs in the driver (native) or after it
//! (generic), and frames are copied or not; the choice is printed. Senders on a virtual link must not leave checksums
//! to hardware then: `ethtool -K INTERFACE tx off`.
//!
//! HOST lists packets that the kernel gets even when it gets nothing else: packets for its own addresses, or routing
//! protocols. With METHOD XDP Clique does not get these packets. Each word is one of: an IP prefix, for all packets
//! to it; `arp` or `lldp`; a protocol, `icmp` (and ICMPv6 with neighbour discovery), `igmp`, `ospf`, `pim`, `vrrp`,
//! `bgp`, `ssh`, `ldp`, `rip`, `bfd`, `dhcp`, `tcp:PORT`, `udp:PORT` (from or to the port) or `proto:NUMBER`; or a
//! protocol and an IP prefix, as in `icmp@10.0.0.1`, for packets of the protocol to the prefix. Packets with IPv6
//! extension headers or VLAN tags are not examined beyond those.
//!
//! A packet is emitted as soon as the worker sees it, alone if need be; batches form while the worker is busy. With
//! WAIT, packets wait for each other, but never longer than that.
//!
//! Each worker has its own receive queues. With METHOD LINUX all packets of a flow go to one worker; with METHOD XDP
//! worker w of W serves the interface's queues w, w + W and so on. With QUEUE, only frames that arrive at that queue
//! are received, by worker QUEUE modulo W.
//!
//! Control frames have a receive ring of their own and are emitted before other frames: at most 16 of them, then a burst
//! of others. So they are neither lost nor late when more arrives than the router can forward. These are ARP, LLDP,
//! LACP, hellos of clusters, packets to link-local groups (224.0.0.0/24 and ff02::/16), and, with a TTL or hop limit of 1
//! or 255, OSPF, BGP, BFD and ICMPv6 with neighbour discovery. When more than 256 wait, broadcast and multicast
//! ARP and ICMPv6 among them is dropped, oldest first, and with more than 512 unicast, too; so a flood delays no hello
//! and no answer. With several workers control frames go to the first. With METHOD XDP they come through a packet socket
//! (kernel 6.6; without QUEUE).
//!
//! Frames that the kernel drops because the worker does not fetch them in time are counted within a second, in
//! `kernel_drops` and among the drops of the element.
//!
//! Hosts on virtual links (veth, TAP, virtio) leave segmentation to hardware, and hand over TCP segments and UDP datagrams of up to
//! 64 KiB. With METHOD LINUX and without SNAPLEN such a frame is cut into the packets that the sender would have sent without
//! hardware (RFC 9293): elements see packets that fit the MTU, with whole checksums. The kernel says how long they are to be (a virtio
//! header, PACKET_VNET_HDR). Those that cannot be cut are dropped with a reason: tunnels around long segments, and IPv6 jumbograms. Of SCTP, for
//! which there is no such header, the kernel keeps what is longer than the MTU. ToDevice merges packets again.
//!
//! With SNAPLEN longer frames are truncated as in Click; METHOD XDP gets them truncated, or not at all: `ethtool -K INTERFACE tso off gso off`
//! at the sender avoids that.
//!
//! PollDevice is another name for it.
//!
//! Ports: no inputs, 1 or 2 outputs. Processing: push. Workers: an instance on each.
//!
//! # Arguments
//! - `DEVNAME`: the interface.
//! - `PROMISC` (boolean, default false): whether to receive frames for other hosts too.
//! - `SNAPLEN` (integer, 14 to 65535): the maximum number of bytes of a frame. By default as many as the interface's MTU
//!   needs, and 2046 at least; when the MTU grows, the socket is opened anew within a second.
//! - `SNIFFER` (boolean, default true): whether the kernel receives the frames too. False needs kernel 6.6.
//! - `FORCE_IP` (boolean, default false): whether to emit only IP packets, with their header marked; other frames
//!   leave by output 1 if it is connected.
//! - `METHOD` (word, default LINUX): LINUX for a packet socket, PCAP for the same; XDP for AF_XDP sockets. NETMAP and
//!   DPDK are treated as LINUX, with a warning.
//! - `BPF_FILTER` (string): ignored, as in Click with any METHOD but PCAP; a message says so without METHOD. Clique has no such
//!   filters: with PCAP and XDP it must be empty. Put an IPClassifier after the element instead.
//! - `PROTOCOL` (integer, default 0): if not 0, receive only frames of this EtherType.
//! - `OUTBOUND` (boolean, default false): whether to receive what this machine sends too.
//! - `HEADROOM` (integer, at most 8190, default 130): free bytes before each packet.
//! - `ENCAP` (word, default ETHER): the link type.
//! - `BURST` (integer, default 32, or packets in a batch if those are fewer): frames received at a time.
//! - `TIMESTAMP` (boolean, default true): whether to set timestamps.
//! - `QUEUE` (integer): the receive queue, numbered as in `ethtool -l`.
//! - `HOST` (words, separated by spaces): the packets left to the kernel.
//! - `WAIT` (time, default 0): how long a packet may wait for others, to make batches larger and let the worker sleep
//!   longer. With METHOD LINUX, whole milliseconds make the kernel wait (TPACKET_V3).
//! - `CONTROL` (boolean, default true): whether control frames go first.
//! - `GSO` (boolean, default true): whether long segments come whole from the kernel and are cut here.
//! - `BUSY_POLL` (integer, default 0): with METHOD XDP, microseconds for which the kernel polls for frames itself.
//!
//! # Handlers
//! - `count` (read): packets received. `reset_counts` (write, button): sets it to zero.
//! - `kernel_drops` (read): packets dropped by the kernel because they were not fetched in time.
//! - `segmented` (read): long segments that were cut into packets.
//! - `encap` (read): the link type.
//! - `mode` (read): how frames are received: `packet socket`, `packet socket with long segments`, or each queue with its kind of
//!   program and copying.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> Print -> Discard
//! ```
//!
//! # See also
//! ToDevice, FromDump, KernelTap

mod arguments;
mod sockets;

pub(super) use arguments::{Wishes, method};

use super::hardware::{self, Hardware, Side};
use super::host_port::UNCUT;
use super::shares::Shares;
use super::{left, link};
use device::capture::LinkType;
use device::packet_socket::Frame;
use device::port::{Method, Rx, Shape, Taken};
use elements_shared::{encap, packet_state};
use packet::{BATCH_MAX, Batch, Kind, Packet};
use router::{
    Activity, BadState, Class, Config, ConfigError, Cx, Element, Flags, Handlers, Interest, Merge, Metric,
    Queues, StateReader, StateWriter, metric,
};
use sockets::{HUNGRY, Waits, lock};
use std::any::Any;
use std::sync::{Arc, Mutex};
use std::time::Duration;

static MISSED: Metric = Metric::counter(
    "clique_device_missed_packets_total",
    "Packets that an interface dropped because the element did not take them in time.",
);

/// The class.
pub(crate) const CLASS: Class = Class::new("FromDevice", create)
    .ports("0/1-2")
    .processing("/h")
    .activity(Activity::PerWorker)
    .makes("packets")
    .doc(router::manual!("from_device.rs"));

/// Control frames that are emitted before a burst of others.
const CONTROL_BURST: usize = 16;

/// Why the kernel, or this element, drops frames.
const NOT_FETCHED: &str = "no room in the receive ring";
const CONTROL_NOT_FETCHED: &str = "no room in the ring of control frames";
const NO_ROOM: &str = "no room for a long segment";
const REFUSED: &str = "more ARP and neighbour discovery than there is time for";

/// Looks at an empty ring before the worker sleeps.
const PATIENCE: u32 = 64;
/// How often to look for an interface that has gone.
const RETRY: Duration = Duration::from_millis(500);
/// Timers: to open the interface again; to look whether it is there at all, which XDP sockets do not say; to look for more
/// packets.
const AGAIN: u32 = 0;
const CHECK: u32 = 1;
const COMPANY: u32 = 2;

struct FromDevice {
    interface: String,
    method: Method,
    /// The worker's place among those that receive, and their number.
    place: (usize, usize),
    queue: Option<u16>,
    /// What all workers have in common.
    shares: Arc<Mutex<Shares>>,
    rx: Option<Rx>,
    /// Sockets of an element that this one has replaced, until they are empty.
    rest: Vec<Rx>,
    /// Whether the element waits for another one that has the queue.
    waits: Waits,
    /// It was told that the interface is down.
    is_down: bool,
    outbound: bool,
    shape: Shape,
    protocol: u16,
    force_ip: bool,
    linktype: LinkType,
    burst: usize,
    /// For how long packets wait here for others.
    wait: Option<Duration>,
    idle: u32,
    /// Frames that were looked at since the worker rested.
    busy: usize,
    count: u64,
    /// Frames that the kernel dropped.
    missed: u64,
    /// Long frames that became segments.
    segmented: u64,
    /// What FastClick's device elements have beside.
    hardware: Option<Hardware>,
}

/// What goes to a new configuration.
struct Handover {
    interface: String,
    method: Method,
    count: u64,
    missed: u64,
    segmented: u64,
    rx: Rx,
    rest: Vec<Rx>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let wishes = arguments::wishes(config)?;
    make(config, wishes)
}

/// Makes an element that receives what is wanted.
pub(super) fn make(config: &mut Config<'_>, wishes: Wishes) -> Result<Box<dyn Element>, ConfigError> {
    let Wishes { interface, method, queue, hardware, .. } = wishes;
    let (workers, worker) = (config.workers().to_vec(), config.worker());
    let place = workers.iter().position(|&w| w == worker).unwrap_or(0);
    let shares = config.shared(|| Ok(Mutex::new(Shares::default())))?;
    let mut made = FromDevice {
        interface,
        method,
        place: (place, workers.len().max(1)),
        queue,
        shares,
        rx: None,
        rest: Vec::new(),
        waits: Waits::No,
        is_down: false,
        outbound: wishes.outbound,
        shape: wishes.shape,
        protocol: wishes.protocol,
        force_ip: wishes.force_ip,
        linktype: wishes.linktype,
        burst: wishes.burst.min(BATCH_MAX),
        wait: wishes.wait,
        idle: 0,
        busy: 0,
        count: 0,
        missed: 0,
        segmented: 0,
        hardware,
    };
    if let Some(mut state) = config.inherited() {
        // What makes no sense is as good as nothing: the interface is opened.
        let _ = made.inherit(&mut state);
    }
    Ok(Box::new(made))
}

/// Counts what the kernel has dropped at some sockets since this was done last; returns how much that is.
fn note_losses(cx: &mut Cx<'_>, rx: &mut Rx) -> u64 {
    let (data, control) = rx.take_losses();
    cx.count_drops(NOT_FETCHED, data);
    cx.count_drops(CONTROL_NOT_FETCHED, control);
    data + control
}

/// The form of what is left to another process.
const FORM: u8 = 1;

impl FromDevice {
    /// Goes on with what its namesake has left in another process.
    fn inherit(&mut self, state: &mut StateReader) -> Result<(), BadState> {
        state.form(FORM)?;
        (self.count, self.missed) = (state.u64()?, state.u64()?);
        let rx = left::read(state)?.and_then(|kept| Rx::go_on(kept).ok());
        self.rx = rx.filter(|rx| matches!(self.method, Method::Packet(..)) && !rx.is_stale(&self.interface));
        Ok(())
    }

    /// Receives control frames, and a burst of others; returns how many frames there were.
    fn receive(&mut self, cx: &mut Cx<'_>) -> usize {
        self.receive_some(cx, true) + self.receive_some(cx, false)
    }

    /// Receives control frames that come by themselves, or a burst of others; returns how many there were.
    fn receive_some(&mut self, cx: &mut Cx<'_>, control: bool) -> usize {
        let mut batch = cx.batch();
        let (outbound, protocol, now_ns) = (self.outbound, self.protocol, cx.now_ns());
        let wanted = |frame: &Frame<'_>| {
            (outbound || frame.addressee != Kind::Outgoing)
                && (protocol == 0 || frame.data.get(12..14) == Some(&protocol.to_be_bytes()[..]))
        };
        let (burst, shape) = ((self.burst, now_ns), self.shape);
        let take = |rx: &mut Rx, cx: &mut Cx<'_>, batch: &mut Batch| match control {
            true => rx.receive_control(cx.pool(), batch, CONTROL_BURST, shape, wanted),
            false => rx.receive(cx.pool(), batch, burst, shape, wanted),
        };
        let mut taken = Taken::default();
        while let Some(rest) = self.rest.last_mut() {
            taken = take(rest, cx, &mut batch);
            if control || taken.looked_at > 0 {
                break;
            }
            if let Some(mut rest) = self.rest.pop() {
                self.missed += note_losses(cx, &mut rest);
            }
        }
        if let Some(rx) = self.rx.as_mut().filter(|_| taken.looked_at == 0) {
            taken = take(rx, cx, &mut batch);
        }
        cx.count_drops(REFUSED, taken.refused as u64);
        cx.count_drops("no buffer for a received frame", taken.lost as u64);
        cx.count_drops(UNCUT, taken.uncut as u64);
        cx.count_drops(NO_ROOM, taken.roomless as u64);
        self.segmented += taken.segmented as u64;
        self.emit(cx, batch);
        taken.looked_at + taken.refused
    }

    fn emit(&mut self, cx: &mut Cx<'_>, mut batch: Batch) {
        if batch.is_empty() {
            return cx.consume(batch);
        }
        self.count += batch.len() as u64;
        if let Some(hardware) = &self.hardware {
            hardware.annotate(&mut batch);
        }
        if !self.force_ip {
            return cx.emit(0, batch);
        }
        let linktype = self.linktype;
        cx.scatter(batch, |_, packet| match encap::mark_ip(packet, linktype) {
            true => router::Verdict::Pass,
            false => router::Verdict::Output(1),
        });
    }

    /// Counts what the kernel has dropped since this was done last.
    fn note_losses(&mut self, cx: &mut Cx<'_>) {
        if let Some(rx) = &mut self.rx {
            self.missed += note_losses(cx, rx);
        }
    }

    /// Sleeps until there is something, or the interface is back.
    fn rest(&mut self, cx: &mut Cx<'_>) {
        self.idle = 0;
        let Some(rx) = &self.rx else { return };
        if std::mem::take(&mut self.busy) >= rx.room() {
            self.note_losses(cx); // the ring may have been full
        }
        let Some(rx) = &self.rx else { return };
        if let Some(trouble) = rx.failure(&self.interface) {
            if self.speaks() {
                cx.error(format_args!("{} :: FromDevice: {trouble}", cx.name()));
                link::tell(cx, "down", &self.interface);
            }
            self.is_down = true;
            cx.timers().after(AGAIN, RETRY);
        }
        rx.fds().for_each(|fd| cx.tasks().schedule_when(fd, Interest::Readable));
    }
}

impl Element for FromDevice {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if let Some(hardware) = &mut self.hardware
            && !hardware.begin()?
        {
            return Ok(());
        }
        self.open(cx).map_err(|trouble| trouble.to_string())?;
        self.wait_for_buffers();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        if self.hardware.as_ref().is_some_and(|hardware| !hardware.active) {
            return;
        }
        let count = self.receive(cx);
        self.busy += count;
        match (count, self.wait) {
            // What comes from now on waits for company until then.
            (count @ 1.., Some(wait)) if count < self.burst => cx.timers().after(COMPANY, wait),
            (1.., _) => {
                self.idle = 0;
                cx.tasks().schedule();
            }
            (0, None) if self.idle < PATIENCE => {
                self.idle += 1;
                cx.tasks().schedule();
            }
            (0, _) => self.rest(cx),
        }
    }

    fn timer(&mut self, cx: &mut Cx<'_>, key: u32) {
        match key {
            AGAIN => return self.look_again(cx),
            COMPANY => return cx.tasks().schedule(),
            _ => self.note_losses(cx),
        }
        match &mut self.rx {
            Some(rx) if rx.is_stale(&self.interface) => {
                link::is_gone(cx, &self.interface);
                cx.timers().after(AGAIN, Duration::ZERO);
            }
            Some(rx) if rx.is_stuck() => {
                cx.error(format_args!(
                    "{} :: FromDevice({}): the kernel lost its place in the receive ring; long segments are not received any longer",
                    cx.name(),
                    self.interface
                ));
                if let Method::Packet(options, _) = &mut self.method {
                    options.segments = false;
                }
                self.reopen(cx);
            }
            Some(rx) if rx.is_outgrown(&self.interface) => self.reopen(cx),
            Some(rx) => {
                let lacks_buffers = rx.replenish();
                cx.timers().after(CHECK, if lacks_buffers { HUNGRY } else { 2 * RETRY });
            }
            None => cx.timers().after(CHECK, 2 * RETRY),
        }
    }

    fn finish(&mut self, cx: &mut Cx<'_>) {
        self.note_losses(cx);
    }

    /// The sockets go on to a namesake: what is in their rings is neither lost nor received twice.
    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        let rx = self.rx.take()?;
        let (interface, method, rest) =
            (self.interface.clone(), self.method.clone(), std::mem::take(&mut self.rest));
        let Self { count, missed, segmented, .. } = *self;
        Some(Box::new(Handover { interface, method, count, missed, segmented, rx, rest }))
    }

    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        let Ok(state) = state.downcast::<Handover>() else { return };
        let Handover { interface, method, count, missed, segmented, rx, rest } = *state;
        if interface != self.interface {
            return;
        }
        self.count += count;
        self.missed += missed;
        self.segmented += segmented;
        self.rest.extend(rest);
        if method == self.method {
            lock(&self.shares).hand(rx);
        } else if let Rx::Packet(_) = rx {
            // It receives with other options from now on, and gets what came before.
            if let Err(error) = rx.close() {
                cx.error(format_args!("{} :: FromDevice: {error}", cx.name()));
            }
            self.rest.push(rx);
            lock(&self.shares).closed = true;
        }
    }

    /// Its packet sockets with their rings: what comes meanwhile waits there.
    fn write_state(&mut self, cx: &mut Cx<'_>, out: &mut StateWriter) -> bool {
        self.note_losses(cx);
        out.form(FORM);
        out.u64(self.count);
        out.u64(self.missed);
        left::write(out, self.rx.as_ref().and_then(|rx| rx.keep().ok().flatten()));
        let packets: Vec<&Packet> = self.rx.iter().flat_map(Rx::left_over).collect();
        out.u64(packets.len() as u64);
        packets.into_iter().for_each(|packet| packet_state::write(out, packet));
        true
    }

    /// The rest of a long frame; the sockets have been found when the element was made.
    fn read_state(&mut self, cx: &mut Cx<'_>, state: &mut StateReader) -> Result<(), BadState> {
        state.form(FORM)?;
        // The counts, which the element read when it was made.
        state.u64()?;
        state.u64()?;
        left::skip(state)?;
        // Versions before wrote no more.
        let count = if state.is_at_end() { 0 } else { state.u64()? };
        for _ in 0..count {
            let Some(packet) = packet_state::read(state, cx.pool())? else { continue };
            let homeless = match &mut self.rx {
                Some(rx) => rx.put_back(packet),
                None => Some(packet),
            };
            homeless.into_iter().for_each(|packet| cx.drop(packet, "the interface is gone"));
        }
        Ok(())
    }

    fn taken_over(&mut self, cx: &mut Cx<'_>) {
        let queues = self.mine();
        if lock(&self.shares).any() {
            self.go_on(cx, &queues);
            return;
        }
        if lock(&self.shares).closed
            && let Some(rx) = &mut self.rx
        {
            rx.skip(); // the old instances have received it
        }
        if self.rx.is_none() && !queues.is_empty() {
            self.look_again(cx); // they have let go
        }
    }

    fn queues(&self) -> Option<Queues> {
        let all = matches!(self.method, Method::Packet(..)) && self.queue.is_none();
        let queues = self.mine().into_iter().map(|queue| queue as usize);
        let queues = if all { Vec::new() } else { queues.collect() };
        (all || !queues.is_empty()).then(|| Queues { interface: self.interface.clone(), queues })
    }

    fn handlers(&self, h: &mut Handlers) {
        h.metric(&metric::DEVICE, |e: &mut FromDevice, _| e.interface.clone());
        h.count("reset_counts", |e: &mut FromDevice| &mut e.count).measures(&metric::RECEIVED);
        h.read("kernel_drops", |e: &mut FromDevice, cx| {
            e.note_losses(cx);
            e.missed
        })
        .merged(Merge::Sum)
        .measures(&MISSED);
        h.read("segmented", |e: &mut FromDevice, _| e.segmented).merged(Merge::Sum);
        h.read("encap", |e: &mut FromDevice, _| encap::name(e.linktype));
        h.read("mode", |e: &mut FromDevice, _| e.rx.as_ref().map_or(String::new(), |rx| rx.mode() + "\n"))
            .merged(Merge::Concatenate);
        if self.hardware.is_some() {
            hardware::handlers(h, Side::Receives, |e: &FromDevice| e.hardware.as_ref());
            h.read("active", |e: &mut FromDevice, _| {
                e.hardware.as_ref().is_none_or(|hardware| hardware.active)
            })
            .flagged(Flags::CHECKBOX);
            h.write("active", |e: &mut FromDevice, cx, text| {
                if let Some(hardware) = &mut e.hardware {
                    hardware.active = router::value(cx, text)?;
                }
                cx.tasks().schedule();
                Ok(())
            })
            .to_everywhere();
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;

    #[test]
    fn bad_arguments_are_refused() {
        for (arguments, error) in [
            ("lo, SNAPLEN 13", "SNAPLEN out of range"),
            ("lo, HEADROOM 9000", "HEADROOM out of range"),
            ("lo, METHOD FROG", "bad METHOD"),
            ("lo, BURST 0", "BURST out of range"),
            ("lo, ENCAP FROG", "bad encapsulation type"),
            ("nowhere0, BPF_FILTER arp", "nowhere0: "),
            ("lo, METHOD PCAP, BPF_FILTER arp", "BPF_FILTER is not supported"),
            ("nowhere0, METHOD LINUX, BPF_FILTER arp", "nowhere0: "),
            ("nowhere0, BPF_FILTER \"\"", "nowhere0: "),
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
